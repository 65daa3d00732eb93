/* src/store/group.c and writer.c: proposals that share a commit. */
#include "group_check.h"

#include "base/container_of.h"

/* ---- what queued up is one group, judged in order ---- */

static void what_is_proposed_together_shares_one_commit(void **state)
{
    struct setting *t = *state;
    enum { N = 50 };
    struct probe *probes[N];
    struct vd_store_stats before, after;
    struct vd_admitted_list all = {0};
    for (size_t i = 0; i < N; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%zu", i);
        probes[i] = probe_new();
        probe_wish(probes[i], i == 1 ? "" : "x", VD_WHEN_ANY, name);
        vd_admitted_list_add(&all, vd_admitted_of(&probes[i]->proposal));
    }
    vd_store_stats(t->store, &before);
    vd_store_propose_all(t->store, &all); /* the writer is idle */
    for (size_t i = 0; i < N; i++) {
        probe_wait(probes[i]);
        assert_int_equal(probes[i]->outcome.code, i == 1 ? VD_ERR_INVALID : VD_OK);
        assert_int_equal(probes[i]->outcome.changed, i != 1);
        if (i > 2)
            assert_true(probes[i]->outcome.revision > probes[i - 1]->outcome.revision);
    }
    vd_store_stats(t->store, &after);
    assert_int_equal(after.groups - before.groups, 1);
    assert_int_equal(after.commits - before.commits, N - 1);
    assert_now(t, "x", "n49");
    for (size_t i = 0; i < N; i++)
        probe_free(probes[i]);
}

enum { NONE = -1, START = -2 }; /* which revision is reported: none, the first write's */

/* One proposal with one wish about "x", in a group of all the lines. */
struct line {
    const char *value; /* NULL: delete */
    enum vd_when when;
    bool at_start; /* for VD_WHEN_REVISION: the revision of the first write; else a wrong one */
    int code;
    bool changed;
    int about; /* the line whose revision is reported if this one changes nothing */
};

static void run_lines(struct setting *t, const char *start, const struct line *lines, size_t n,
                      const char *end)
{
    struct probe *probes[16];
    uint64_t first = start ? put(t->store, "things", "ns", "x", start) : 0;
    for (size_t i = 0; i < n; i++) {
        probes[i] = probe_new();
        struct vd_wish *w = probe_wish(probes[i], "x", lines[i].when, lines[i].value);
        w->revision = lines[i].at_start ? first : 1;
    }
    run_as_one_group(t, probes, n);
    for (size_t i = 0; i < n; i++) {
        const struct vd_outcome *o = &probes[i]->outcome;
        int about = lines[i].about;
        uint64_t want = about == NONE    ? 0
                        : about == START ? first
                                         : probes[about]->outcome.revision;
        if ((int)o->code != lines[i].code || o->changed != lines[i].changed)
            fail_msg("line %zu: %s, changed %d: %s", i, vd_code_name((int)o->code), o->changed,
                     o->error.text);
        if (!o->changed && o->revision != want)
            fail_msg("line %zu: revision %llu, want %llu", i, (unsigned long long)o->revision,
                     (unsigned long long)want);
        if (o->code == VD_OK)
            assert_int_equal(o->revision_first, o->revision);
        if (o->code)
            assert_int_equal(o->error.code, o->code);
    }
    assert_now(t, "x", end);
    for (size_t i = 0; i < n; i++)
        probe_free(probes[i]);
}

#define RUN_LINES(t, start, lines, end)                                                            \
    run_lines(t, start, lines, sizeof lines / sizeof *lines, end)

static void each_is_judged_by_what_the_ones_before_leave(void **state)
{
    static const struct line from_nothing[] = {
        {"a", VD_WHEN_PRESENT, false, VD_ERR_NOT_FOUND, false, NONE},
        {"a", VD_WHEN_REVISION, true, VD_ERR_NOT_FOUND, false, NONE},
        {NULL, VD_WHEN_ANY, false, VD_ERR_NOT_FOUND, false, NONE},
        {"a", VD_WHEN_ABSENT, false, VD_OK, true, 0}, /* 3 */
        {"b", VD_WHEN_ABSENT, false, VD_ERR_EXISTS, false, 3},
        {"a", VD_WHEN_ANY, false, VD_OK, false, 3},
        {"b", VD_WHEN_PRESENT, false, VD_OK, true, 0}, /* 6 */
        {"a", VD_WHEN_ABSENT, false, VD_ERR_EXISTS, false, 6},
        {"c", VD_WHEN_REVISION, false, VD_ERR_CONFLICT, false, 6},
        {"b", VD_WHEN_PRESENT, false, VD_OK, false, 6},
    };
    RUN_LINES(*state, NULL, from_nothing, "b");
}

static void a_known_revision_wins_once(void **state)
{
    static const struct line lines[] = {
        {"s", VD_WHEN_REVISION, true, VD_OK, false, START},
        {"z", VD_WHEN_REVISION, false, VD_ERR_CONFLICT, false, START},
        {"z", VD_WHEN_ABSENT, false, VD_ERR_EXISTS, false, START},
        {"a", VD_WHEN_REVISION, true, VD_OK, true, 0}, /* 3 */
        {"b", VD_WHEN_REVISION, true, VD_ERR_CONFLICT, false, 3},
        {NULL, VD_WHEN_REVISION, true, VD_ERR_CONFLICT, false, 3},
        {"s", VD_WHEN_ANY, false, VD_OK, true, 0}, /* the bytes of before: a change */
        {"a", VD_WHEN_ABSENT, false, VD_ERR_EXISTS, false, 6},
    };
    RUN_LINES(*state, "s", lines, "s");
}

static void a_deletion_in_the_group_leaves_nothing(void **state)
{
    static const struct line lines[] = {
        {NULL, VD_WHEN_REVISION, true, VD_OK, true, 0},
        {NULL, VD_WHEN_ANY, false, VD_ERR_NOT_FOUND, false, NONE},
        {"a", VD_WHEN_PRESENT, false, VD_ERR_NOT_FOUND, false, NONE},
        {"a", VD_WHEN_REVISION, true, VD_ERR_NOT_FOUND, false, NONE},
        {"s", VD_WHEN_ABSENT, false, VD_OK, true, 0}, /* 4: the same bytes, but a new object */
        {NULL, VD_WHEN_PRESENT, false, VD_OK, true, 0},
        {NULL, VD_WHEN_PRESENT, false, VD_ERR_NOT_FOUND, false, NONE},
    };
    RUN_LINES(*state, "s", lines, "not-found");
}

/* The log of the group reads back like any other. */
static void a_group_is_in_the_log_like_single_writes(void **state)
{
    struct setting *t = *state;
    uint64_t start = put(t->store, "things", "ns", "x", "s");
    static const char *const values[] = {"a", NULL, "b", "c", NULL, "d"};
    static const int types[] = {2, 3, 1, 2, 3, 1};
    struct probe *probes[6];
    for (size_t i = 0; i < 6; i++) {
        probes[i] = probe_new();
        probe_wish(probes[i], "x", VD_WHEN_ANY, values[i]);
    }
    run_as_one_group(t, probes, 6);
    struct vd_stretch stretch = {0};
    struct vd_error error;
    assert_ok(vd_store_read(t->store, VD_SLICE("things"), start, 6, &stretch, &error), &error);
    assert_int_equal(stretch.changes.n, 6);
    uint64_t previous = start;
    const char *before = "s";
    for (size_t i = 0; i < 6; i++) {
        char room[64];
        const struct vd_change *c = &stretch.changes.p[i];
        assert_int_equal(c->now->type, types[i]);
        assert_int_equal(c->now->previous, previous);
        assert_false(c->now->more);
        assert_string_equal(body_value(c->now->body, room), values[i] ? values[i] : before);
        if (types[i] == VD_EVENT_CREATED)
            assert_null(c->before);
        else
            assert_string_equal(body_value(c->before->body, room), before);
        before = values[i];
        previous = c->now->revision;
    }
    vd_stretch_release(&stretch);
    for (size_t i = 0; i < 6; i++)
        probe_free(probes[i]);
}

/* ---- batches ---- */

static void a_batch_may_hold_a_key_twice(void **state)
{
    struct setting *t = *state;
    struct probe *p = probe_new();
    probe_wish(p, "x", VD_WHEN_ABSENT, "a");
    probe_wish(p, "x", VD_WHEN_PRESENT, "b");
    probe_wish(p, "x", VD_WHEN_ANY, "b"); /* true already */
    probe_wish(p, "x", VD_WHEN_ANY, NULL);
    probe_wish(p, "x", VD_WHEN_ABSENT, "c");
    run_as_one_group(t, &p, 1);
    assert_int_equal(p->outcome.code, VD_OK);
    assert_int_equal(p->outcome.revision - p->outcome.revision_first, 3);
    struct vd_stretch stretch = {0};
    struct vd_error error;
    assert_ok(vd_store_read(t->store, VD_SLICE("things"), p->outcome.revision_first - 1, 4,
                            &stretch, &error),
              &error);
    static const int types[] = {VD_EVENT_CREATED, VD_EVENT_UPDATED, VD_EVENT_DELETED,
                                VD_EVENT_CREATED};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(stretch.changes.p[i].now->type, types[i]);
        assert_int_equal(stretch.changes.p[i].now->more, i < 3);
    }
    assert_now(t, "x", "c");
    vd_stretch_release(&stretch);
    probe_free(p);
}

/* A refused batch leaves no trace for the proposals after it in the group. */
static void a_refused_batch_is_as_if_it_had_not_been(void **state)
{
    struct setting *t = *state;
    uint64_t old = put(t->store, "things", "ns", "old", "s");
    struct probe *probes[4];
    for (size_t i = 0; i < 4; i++)
        probes[i] = probe_new();
    probe_wish(probes[0], "x", VD_WHEN_ABSENT, "first");
    struct probe *refused = probes[1];
    probe_wish(refused, "x", VD_WHEN_PRESENT, "batch");
    probe_wish(refused, "y", VD_WHEN_ABSENT, "batch");
    probe_wish(refused, "old", VD_WHEN_ANY, NULL);
    probe_wish(refused, "y", VD_WHEN_ANY, "batch2");
    probe_wish(refused, "z", VD_WHEN_PRESENT, "batch");
    probe_wish(probes[2], "y", VD_WHEN_PRESENT, "after");
    probe_wish(probes[3], "x", VD_WHEN_ABSENT, "after");
    run_as_one_group(t, probes, 4);
    assert_int_equal(refused->outcome.code, VD_ERR_NOT_FOUND);
    assert_int_equal(refused->outcome.at, 4);
    assert_int_equal(refused->outcome.revision, 0);
    assert_int_equal(probes[2]->outcome.code, VD_ERR_NOT_FOUND);
    assert_int_equal(probes[3]->outcome.code, VD_ERR_EXISTS);
    assert_int_equal(probes[3]->outcome.revision, probes[0]->outcome.revision);
    assert_now(t, "x", "first");
    assert_now(t, "y", "not-found");
    assert_now(t, "old", "s");
    struct vd_key key = test_key("things", "ns", "old");
    struct vd_event *event;
    assert_ok(vd_store_get(t->store, &key, 0, &event, NULL), &refused->outcome.error);
    assert_int_equal(event->revision, old);
    vd_event_unref(event);
    for (size_t i = 0; i < 4; i++)
        probe_free(probes[i]);
}

/* A batch may be refused because of what it did to an object itself: the revision that is reported
 * is the one from before the batch. */
static void a_batch_refused_by_itself_tells_the_revision_that_stays(void **state)
{
    struct setting *t = *state;
    uint64_t start = put(t->store, "things", "ns", "x", "s");
    static const struct {
        const char *first; /* what the batch does to x before it fails */
        enum vd_when when;
        const char *second;
        int code;
    } cases[] = {
        {"a", VD_WHEN_ABSENT, "b", VD_ERR_EXISTS},
        {"a", VD_WHEN_REVISION, "b", VD_ERR_CONFLICT},
        {NULL, VD_WHEN_PRESENT, "b", VD_ERR_NOT_FOUND},
        {NULL, VD_WHEN_ANY, NULL, VD_ERR_NOT_FOUND},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct probe *p[2] = {probe_new(), probe_new()};
        probe_wish(p[0], "x", VD_WHEN_ANY, cases[i].first);
        probe_wish(p[0], "x", cases[i].when, cases[i].second);
        probe_wish(p[1], "x", VD_WHEN_ANY,
                   i % 2 ? "odd" : "even"); /* takes the dropped row's place */
        run_as_one_group(t, p, 2);
        assert_code((int)p[0]->outcome.code, cases[i].code);
        assert_int_equal(p[0]->outcome.at, 1);
        assert_int_equal(p[0]->outcome.revision, start);
        start = p[1]->outcome.revision;
        probe_free(p[0]);
        probe_free(p[1]);
    }
    /* The same where the row that stays is one of the group. */
    struct probe *p[2] = {probe_new(), probe_new()};
    probe_wish(p[0], "x", VD_WHEN_ANY, "staged");
    probe_wish(p[1], "x", VD_WHEN_ANY, "batch");
    probe_wish(p[1], "x", VD_WHEN_ABSENT, "batch");
    run_as_one_group(t, p, 2);
    assert_int_equal(p[1]->outcome.code, VD_ERR_EXISTS);
    assert_int_equal(p[1]->outcome.revision, p[0]->outcome.revision);
    probe_free(p[0]);
    probe_free(p[1]);
}

static void a_batch_that_changes_nothing_says_so(void **state)
{
    struct setting *t = *state;
    put(t->store, "things", "ns", "x", "a");
    uint64_t y = put(t->store, "things", "ns", "y", "b"), newest = vd_store_revision(t->store);
    struct probe *p = probe_new();
    probe_wish(p, "x", VD_WHEN_PRESENT, "a");
    probe_wish(p, "y", VD_WHEN_ANY, "b");
    vd_store_propose(t->store, vd_admitted_of(&p->proposal));
    probe_wait(p);
    assert_int_equal(p->outcome.code, VD_OK);
    assert_false(p->outcome.changed);
    assert_int_equal(p->outcome.revision, y);
    assert_int_equal(vd_store_revision(t->store), newest);
    probe_free(p);
}

/* ---- uids ---- */

static void uids_tell_lives_apart(void **state)
{
    struct setting *t = *state;
    const struct vd_uid one = {{1}}, two = {{2}}, none = {{0}};
    const struct {
        const char *value;
        struct vd_uid uid, expect;
        enum vd_when when;
        int code;
        bool changed;
    } steps[] = {
        {"a", one, two, VD_WHEN_ANY, VD_ERR_NOT_FOUND, false}, /* expecting one needs an object */
        {"a", one, none, VD_WHEN_ABSENT, VD_OK, true},
        {"b", none, two, VD_WHEN_ANY, VD_ERR_CONFLICT, false},
        {"b", none, one, VD_WHEN_ANY, VD_OK, true}, /* keeps the uid */
        {"b", one, one, VD_WHEN_ANY, VD_OK, false},
        {"b", none, none, VD_WHEN_ANY, VD_OK, false},
        {"c", none, two, VD_WHEN_PRESENT, VD_ERR_CONFLICT, false},
        {"c", none, one, VD_WHEN_ABSENT, VD_ERR_EXISTS, false},
        {NULL, none, two, VD_WHEN_ANY, VD_ERR_CONFLICT, false},
        {NULL, none, one, VD_WHEN_ANY, VD_OK, true},
        {"c", two, none, VD_WHEN_ANY, VD_OK, true}, /* a new life */
        {NULL, none, one, VD_WHEN_ANY, VD_ERR_CONFLICT, false},
        {"c", two, two, VD_WHEN_ANY, VD_OK, false},
    };
    enum { N = sizeof steps / sizeof *steps };
    for (int grouped = 0; grouped < 2; grouped++) { /* one by one, and all in one group */
        struct probe *probes[N];
        for (size_t i = 0; i < N; i++) {
            probes[i] = probe_new();
            struct vd_wish *w = probe_wish(probes[i], grouped ? "g" : "s", steps[i].when,
                                           steps[i].value);
            w->uid = steps[i].uid;
            w->expect_uid = steps[i].expect;
            if (!grouped) {
                vd_store_propose(t->store, vd_admitted_of(&probes[i]->proposal));
                probe_wait(probes[i]);
            }
        }
        if (grouped)
            run_as_one_group(t, probes, N);
        for (size_t i = 0; i < N; i++) {
            const struct vd_outcome *o = &probes[i]->outcome;
            if ((int)o->code != steps[i].code || o->changed != steps[i].changed)
                fail_msg("step %zu: %s, changed %d", i, vd_code_name((int)o->code), o->changed);
            if (o->code == VD_ERR_CONFLICT)
                assert_says(&o->error, "another uid");
            probe_free(probes[i]);
        }
        struct vd_key key = test_key("things", "ns", grouped ? "g" : "s");
        struct vd_event *event;
        struct vd_error error;
        assert_ok(vd_store_get(t->store, &key, 0, &event, &error), &error);
        assert_true(vd_uid_eq(event->uid, two));
        vd_event_unref(event);
    }
}

/* ---- limits, and proposals that are refused before they are queued ---- */

static void proposals_that_cannot_be_are_refused_at_once(void **state)
{
    struct setting *t = *state;
    struct vd_outcome o;
    struct vd_wish *many = vd_calloc(VD_BATCH_CHANGES_MAX + 1, sizeof *many);
    char *big = vd_calloc(1, VD_BODY_LEN_MAX + 1);
    for (size_t i = 0; i <= VD_BATCH_CHANGES_MAX; i++)
        many[i] = (struct vd_wish){
            .action = VD_PUT, .key = test_key("things", "ns", "x"), .body = {VD_SLICE("ab"), 1}};
    assert_code(vd_store_commit(t->store, many, 0, &o), VD_ERR_INVALID);
    assert_code(vd_store_commit(t->store, many, VD_BATCH_CHANGES_MAX + 1, &o), VD_ERR_LIMIT);
    assert_says(&o.error, "32769");
    struct vd_wish *w = &many[1];
    w->body.bytes = vd_slice(big, VD_BODY_LEN_MAX + 1);
    assert_code(vd_store_commit(t->store, many, 2, &o), VD_ERR_LIMIT);
    assert_int_equal(o.at, 1);
    w->body.bytes = VD_SLICE("");
    assert_code(vd_store_commit(t->store, many, 2, &o), VD_ERR_INVALID);
    w->body = (struct vd_template){VD_SLICE("ab"), 2};
    assert_code(vd_store_commit(t->store, many, 2, &o), VD_ERR_INVALID);
    w->body.hole = UINT32_MAX;
    assert_code(vd_store_commit(t->store, many, 2, &o), VD_ERR_INVALID);
    w->body.hole = 1;
    w->key.name = VD_SLICE("a/b");
    assert_code(vd_store_commit(t->store, many, 2, &o), VD_ERR_INVALID);
    for (size_t i = 0; i < 100; i++) /* each is small enough, but together they are too large */
        many[i] = (struct vd_wish){.action = VD_PUT,
                                   .key = test_key("things", "ns", "x"),
                                   .body = {vd_slice(big, VD_BODY_LEN_MAX), 1}};
    assert_code(vd_store_commit(t->store, many, 100, &o), VD_ERR_LIMIT);
    assert_int_equal(vd_store_revision(t->store), 1);
    assert_code(vd_store_commit(t->store, many, 1, &o), VD_OK); /* the largest body there may be */
    free(many);
    free(big);
}

static void the_largest_batch_goes_through(void **state)
{
    struct setting *t = *state;
    struct vd_outcome o;
    struct vd_wish *many = vd_calloc(VD_BATCH_CHANGES_MAX, sizeof *many);
    char(*names)[8] = vd_calloc(VD_BATCH_CHANGES_MAX, sizeof *names);
    for (size_t i = 0; i < VD_BATCH_CHANGES_MAX; i++) {
        snprintf(names[i], sizeof names[i], "n%zu", i);
        many[i] = (struct vd_wish){.action = VD_PUT,
                                   .key = test_key("things", "ns", names[i]),
                                   .body = {VD_SLICE("ab"), 1}};
    }
    assert_code(vd_store_commit(t->store, many, VD_BATCH_CHANGES_MAX, &o), VD_OK);
    assert_int_equal(vd_store_count(t->store, VD_SLICE("things")), VD_BATCH_CHANGES_MAX);
    assert_int_equal(o.revision, vd_store_revision(t->store));
    free(many);
    free(names);
}

static void count_done(struct vd_proposal *proposal, const struct vd_outcome *outcome)
{
    _Atomic size_t *counts = proposal->arg;
    atomic_fetch_add(&counts[outcome->code], 1);
}

static void the_queue_is_bounded(void **state)
{
    struct setting *t = *state;
    struct gate gate;
    _Atomic size_t counts[VD_CODE_COUNT] = {0};
    struct vd_wish wish = {.action = VD_DELETE, .key = test_key("things", "ns", "none")};
    struct vd_proposal *all = vd_calloc(VD_QUEUE_PROPOSALS_MAX + 3, sizeof *all);
    struct vd_admitted_list list = {0};
    gate_shut(&gate, t->store);
    for (size_t i = 0; i < VD_QUEUE_PROPOSALS_MAX + 3; i++) {
        all[i] = (struct vd_proposal){.wishes = &wish, .n = 1, .done = count_done, .arg = counts};
        vd_admitted_list_add(&list, vd_admitted_of(&all[i]));
    }
    vd_store_propose_all(t->store, &list);
    assert_int_equal(atomic_load(&counts[VD_ERR_LIMIT]), 3); /* answered at once */
    gate_open(&gate);
    while (atomic_load(&counts[VD_ERR_NOT_FOUND]) < VD_QUEUE_PROPOSALS_MAX)
        sched_yield();
    put(t->store, "things", "ns", "x", "works again");
    assert_int_equal(atomic_load(&counts[VD_ERR_NOT_FOUND]), VD_QUEUE_PROPOSALS_MAX);
    gate_release(&gate);
    free(all);
}

/* ---- done, and the end ---- */

struct chain {
    struct vd_store *store;
    struct probe *next;
};

static void propose_next(struct vd_proposal *proposal, const struct vd_outcome *outcome)
{
    struct chain *c = proposal->arg;
    (void)outcome;
    vd_store_propose(c->store, vd_admitted_of(&c->next->proposal));
}

static void done_may_propose(void **state)
{
    struct setting *t = *state;
    struct probe *first = probe_new(), *second = probe_new();
    struct chain chain = {t->store, second};
    probe_wish(first, "x", VD_WHEN_ANY, "a");
    probe_wish(second, "x", VD_WHEN_PRESENT, "b");
    first->proposal.done = propose_next;
    first->proposal.arg = &chain;
    vd_store_propose(t->store, vd_admitted_of(&first->proposal));
    probe_wait(second);
    assert_int_equal(second->outcome.code, VD_OK);
    assert_now(t, "x", "b");
    probe_free(first);
    probe_free(second);
}

static void *open_gate_later(void *arg)
{
    struct timespec pause = {.tv_nsec = 20 * 1000 * 1000};
    /* Makes it likely, but not certain, that the store is closing by then. */
    nanosleep(&pause, NULL);
    gate_open(arg);
    return NULL;
}

/* All that was accepted is finished; what comes later is refused, not lost. */
static void closing_answers_everyone(void **state)
{
    struct setting *t = *state;
    enum { N = 20 };
    struct gate gate;
    struct probe *probes[N], *late = probe_new();
    struct chain chain = {t->store, late};
    gate_shut(&gate, t->store);
    for (size_t i = 0; i < N; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%zu", i);
        probes[i] = probe_new();
        probe_wish(probes[i], "x", VD_WHEN_ANY, name);
        if (i == N - 1) {
            probes[i]->proposal.done = propose_next;
            probes[i]->proposal.arg = &chain;
        }
        vd_store_propose(t->store, vd_admitted_of(&probes[i]->proposal));
    }
    probe_wish(late, "x", VD_WHEN_ANY, "late");
    pthread_t opener;
    assert_int_equal(pthread_create(&opener, NULL, open_gate_later, &gate), 0);
    vd_store_close(t->store);
    t->store = NULL;
    pthread_join(opener, NULL);
    for (size_t i = 0; i < N; i++) {
        if (i < N - 1) {
            probe_wait(probes[i]);
            assert_int_equal(probes[i]->outcome.code, VD_OK);
        }
        probe_free(probes[i]);
    }
    probe_wait(late);
    assert_true(late->outcome.code == VD_ERR_CLOSED || late->outcome.code == VD_OK);
    probe_free(late);
    gate_release(&gate);
}

enum { THREADS = 4, WRITES = 200 };

static void *write_many(void *arg)
{
    struct vd_store *store = arg;
    for (int i = 0; i < WRITES; i++) {
        char name[16], value[16];
        snprintf(name, sizeof name, "n%d", i % 5);
        snprintf(value, sizeof value, "v%d", i);
        if (i % 7 == 6)
            test_delete(store, "things", "ns", name, NULL);
        else
            test_put(store, "things", "ns", name, NULL, value, NULL);
    }
    return NULL;
}

struct heard {
    struct vd_subscriber subscriber;
    uint64_t last;
    size_t changes;
    bool gap;
};

static void hear(struct vd_subscriber *subscriber, struct vd_commit *commit)
{
    struct heard *h = VD_CONTAINER_OF(subscriber, struct heard, subscriber);
    h->gap |= commit->after != h->last || commit->n == 0;
    for (size_t i = 0; i < commit->n; i++) {
        h->gap |= commit->changes[i].now->revision <= h->last;
        h->last = commit->changes[i].now->revision;
    }
    h->gap |= commit->revision != h->last;
    h->changes += commit->n;
}

/* A subscriber is told of every change of every writer once and in order. */
static void subscribers_hear_every_commit_in_order(void **state)
{
    struct setting *t = *state;
    struct heard heard = {.subscriber = {.committed = hear}};
    pthread_t threads[THREADS];
    heard.last = vd_store_subscribe(t->store, &heard.subscriber);
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_many, t->store), 0);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    vd_store_unsubscribe(t->store, &heard.subscriber);
    struct vd_store_stats stats;
    vd_store_stats(t->store, &stats);
    assert_false(heard.gap);
    assert_int_equal(heard.changes, stats.commits);
    assert_int_equal(heard.last, stats.revision);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(what_is_proposed_together_shares_one_commit),
        ON_BOTH(each_is_judged_by_what_the_ones_before_leave),
        ON_BOTH(a_known_revision_wins_once),
        ON_BOTH(a_deletion_in_the_group_leaves_nothing),
        ON_BOTH(a_group_is_in_the_log_like_single_writes),
        ON_BOTH(a_batch_may_hold_a_key_twice),
        ON_BOTH(a_refused_batch_is_as_if_it_had_not_been),
        ON_BOTH(a_batch_refused_by_itself_tells_the_revision_that_stays),
        ON_BOTH(a_batch_that_changes_nothing_says_so),
        ON_BOTH(uids_tell_lives_apart),
        ON_BOTH(proposals_that_cannot_be_are_refused_at_once),
        ON_BOTH(the_largest_batch_goes_through),
        ON_BOTH(the_queue_is_bounded),
        ON_BOTH(done_may_propose),
        ON_BOTH(closing_answers_everyone),
        ON_BOTH(subscribers_hear_every_commit_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
