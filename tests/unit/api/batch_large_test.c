/* src/api/batch.h: thousands of members, whoever else looks or writes meanwhile. */
#include "batch_trial.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <time.h>

#include "base/limits.h"
#include "fixture.h"
#include "kinds/git_ownership.h"
#include "shared_log.h"
#include "store/snapshot.h"
#include "watch/cursor.h"

static struct vd_memory_log *shared; /* NULL: the store has a log of its own */
static char *folder;

static int open_memory(void **state)
{
    return open_setting(state);
}

static int open_sqlite(void **state)
{
    struct vd_store *store = NULL;
    struct vd_error error;
    folder = temp_folder_new();
    assert_ok(vd_store_open_in(&store, &(struct vd_folder){.path = folder}, NULL, &error), &error);
    return open_setting_on(state, store);
}

/* Others may write to the same log, and revisions have gaps. */
static int open_shared(void **state)
{
    shared = vd_memory_log_new(SHARED_STRIDE);
    return open_setting_on(state, shared_store_open(shared, NULL));
}

static int close_any(void **state)
{
    close_setting(state);
    if (shared)
        vd_memory_log_unref(shared);
    if (folder)
        temp_folder_remove(folder);
    shared = NULL;
    folder = NULL;
    return 0;
}

/* ---- many members ---- */

struct many {
    struct vd_write_batch b;
    struct vd_write *writes;
    struct vd_write **list;
    char (*names)[16];
    size_t n;
    struct vd_task task;
};

static struct {
    int version;         /* of what the members are made of */
    size_t filling;      /* bytes of an object, about */
    _Atomic size_t made; /* calls of `make` */
    size_t cancel_at;    /* that call cancels the batch; 0: none */
    struct vd_task cancel;
    struct vd_write_batch *cancelled;
} making;

static void cancel(struct vd_task *task)
{
    (void)task;
    vd_write_batch_cancel(making.cancelled);
}

/* An object as a manifest has it; the even ones change with the version. */
static bool make_large(struct vd_write *w, const struct vd_json *old, struct vd_json **out)
{
    struct vd_buf text = {0};
    struct vd_error error;
    bool even = (w->name.p[w->name.n - 1] - '0') % 2 == 0;
    (void)old;
    vd_buf_addf(&text,
                "{\"metadata\":{\"name\":\"%.*s\",\"labels\":{\"app\":\"a\"},\"annotations\":{"
                "\"vedette.dev/git-repository\":\"room/shop\",\"vedette.dev/git-commit\":"
                "\"%d\"}},\"data\":{\"version\":\"%d\"",
                VD_FMT(w->name), making.version, even ? making.version : 1);
    for (size_t i = 0; text.n < making.filling; i++)
        vd_buf_addf(&text, ",\"key-%zu\":\"%060zu\"", i, i);
    vd_buf_add_text(&text, "}}");
    assert_ok(vd_json_parse_copy(w->arena, vd_buf_slice(&text), NULL, out, &error), &error);
    vd_buf_release(&text);
    if (++making.made == making.cancel_at) {
        making.cancel.run = cancel;
        vd_loop_post(&setting.loop, &making.cancel);
    }
    return true;
}

static const struct vd_write_ops large_ops = {.make = make_large};

static void many_init(struct many *m, enum vd_write_verb verb, size_t n)
{
    static const struct vd_slice ignored[] = {{VD_GIT_COMMIT, sizeof VD_GIT_COMMIT - 1}};
    *m = (struct many){.n = n};
    m->writes = vd_calloc(n, sizeof *m->writes);
    m->list = vd_calloc(n, sizeof(struct vd_write *));
    m->names = vd_calloc(n, sizeof *m->names);
    for (size_t i = 0; i < n; i++) {
        snprintf(m->names[i], sizeof *m->names, "m-%05zu", i);
        m->list[i] = &m->writes[i];
        m->writes[i] = (struct vd_write){
            .l = &setting.api,
            .ops = &large_ops,
            .user = setting.user,
            .author = VD_AUTHOR_GIT,
            .kinds = setting.set,
            .kind = vd_kind_set_resource(setting.set, VD_SLICE(""), VD_SLICE("v1"),
                                         VD_SLICE("configmaps")),
            .verb = verb,
            .namespace = VD_SLICE("room"),
            .name = vd_slice_of(m->names[i]),
            .manager = VD_SLICE("vedette-git"),
            .annotations_ignored = ignored,
            .annotations_ignored_n = 1,
        };
    }
    m->b = (struct vd_write_batch){.l = &setting.api, .done = on_batch};
}

static void start_many(struct vd_task *task)
{
    struct many *m = VD_CONTAINER_OF(task, struct many, task);
    vd_write_batch_start(&m->b);
}

static void many_start(struct many *m)
{
    vd_write_batch_init(&m->b, m->list, m->n);
    m->task.run = start_many;
    vd_loop_post(&setting.loop, &m->task);
}

static enum vd_batch_result many_perform(struct many *m)
{
    many_start(m);
    wait_for_done();
    return m->b.result;
}

/* It must be done; else the first that was refused says why. */
static void many_expect_done(struct many *m, enum vd_batch_result result)
{
    for (size_t i = 0; result == VD_BATCH_REFUSED && i < m->n; i++) {
        const struct vd_refusal *r = &m->writes[i].refusal;
        if (m->writes[i].result != VD_WRITE_REFUSED)
            continue;
        fail_msg("%zu of %zu were refused; %zu: reason %d, %.*s %.*s", m->b.refused, m->n, i,
                 (int)r->reason, VD_FMT(r->text),
                 VD_FMT(r->violations_n ? r->violations[0].message : VD_SLICE("")));
    }
    assert_int_equal(result, VD_BATCH_DONE);
}

static void many_release(struct many *m)
{
    vd_write_batch_release(&m->b);
    for (size_t i = 0; i < m->n; i++)
        vd_write_release(&m->writes[i]);
    free(m->writes);
    free(m->list);
    free(m->names);
}

/* ---- turns ---- */

/* Somebody else on the loop: how long it waits for its turn at most. */
static struct {
    struct vd_task task;
    uint64_t last_ns, longest_ns; /* of the loop's processor time: others may have the processor */
    uint64_t last_wall_ns, longest_wall_ns;
    size_t turns;
    atomic_bool stop;
} probe;

static uint64_t thread_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void probe_turn(struct vd_task *task)
{
    uint64_t now_ns = thread_ns(), wall_ns = vd_clock_mono_ns(vd_clock_system());
    uint64_t took_ns = probe.last_ns ? now_ns - probe.last_ns : 0;
    uint64_t took_wall_ns = probe.last_wall_ns ? wall_ns - probe.last_wall_ns : 0;
    probe.longest_ns = took_ns > probe.longest_ns ? took_ns : probe.longest_ns;
    if (took_wall_ns > probe.longest_wall_ns)
        probe.longest_wall_ns = took_wall_ns;
    probe.last_ns = now_ns;
    probe.last_wall_ns = wall_ns;
    probe.turns++;
    if (!probe.stop)
        vd_loop_post(&setting.loop, task);
    else
        sem_post(&setting.done);
}

static enum vd_batch_result perform_probed(struct many *m, const char *what)
{
    struct rusage usage;
    probe.last_ns = probe.longest_ns = probe.turns = 0;
    probe.last_wall_ns = probe.longest_wall_ns = 0;
    probe.stop = false;
    probe.task.run = probe_turn;
    uint64_t start_ns = vd_clock_mono_ns(vd_clock_system());
    vd_loop_post(&setting.loop, &probe.task);
    enum vd_batch_result result = many_perform(m);
    uint64_t took_ns = vd_clock_mono_ns(vd_clock_system()) - start_ns;
    probe.stop = true;
    wait_for_done();
    getrusage(RUSAGE_SELF, &usage);
    print_message("# %s: %zu members in %.0f ms; %zu turns, the longest %.1f ms of work, %.1f ms "
                  "in all; %ld MB\n",
                  what, m->n, (double)took_ns / 1e6, probe.turns, (double)probe.longest_ns / 1e6,
                  (double)probe.longest_wall_ns / 1e6, usage.ru_maxrss / 1024);
    return result;
}

/* ---- all of it ---- */

static void write_all(size_t n)
{
    struct many m;
    making.filling = 1000;
    making.version = 1;
    many_init(&m, VD_WRITE_REPLACE, n);
    many_expect_done(&m, perform_probed(&m, "create"));
    assert_int_equal(m.b.counts[VD_WRITE_CREATED], n);
    assert_int_equal(m.writes[0].revision, m.b.revision_first);
    assert_int_equal(m.writes[n - 1].revision, m.b.revision);
    for (size_t i = 1; i < n; i++)
        assert_true(m.writes[i - 1].revision < m.writes[i].revision);
    many_release(&m);
    making.version = 2;
    many_init(&m, VD_WRITE_REPLACE, n);
    many_expect_done(&m, perform_probed(&m, "replace"));
    assert_int_equal(m.b.counts[VD_WRITE_UPDATED], n / 2);
    assert_int_equal(m.b.counts[VD_WRITE_UNCHANGED], n / 2);
    for (size_t i = 0; i < n; i++) {
        struct vd_key key = {VD_SLICE("configmaps"), VD_SLICE("room"), m.writes[i].name};
        struct vd_event *event = NULL;
        assert_int_equal(m.writes[i].result, i % 2 ? VD_WRITE_UNCHANGED : VD_WRITE_UPDATED);
        assert_int_equal(vd_store_get(setting.store, &key, 0, &event, NULL), VD_OK);
        assert_int_equal(event->revision, m.writes[i].revision);
        vd_event_unref(event);
    }
    many_release(&m);
    many_init(&m, VD_WRITE_DELETE, n);
    many_expect_done(&m, perform_probed(&m, "delete"));
    assert_int_equal(m.b.counts[VD_WRITE_DELETED], n);
    assert_int_equal(vd_store_count(setting.store, VD_SLICE("configmaps")), 0);
    many_release(&m);
}

static void each_is_told_its_revision(void **state)
{
    (void)state;
    write_all(5000);
}

static void twenty_thousand_are_told_their_revisions(void **state)
{
    (void)state;
    write_all(20000);
}

/* ---- nobody sees half of it ---- */

enum { SEEN = 5000 };

static struct {
    pthread_t thread;
    atomic_bool stop;
    size_t lists, bookmarks; /* that were looked at */
    size_t events;           /* that the watcher was given */
    const char *wrong;
} onlooker;

static size_t list_len(void)
{
    struct vd_snapshot snapshot;
    size_t n = 0;
    if (vd_snapshot_open(&snapshot, setting.store, VD_SLICE("configmaps"), VD_SLICE("room/"), 0,
                         VD_SLICE(""), NULL))
        return SIZE_MAX;
    int code = vd_snapshot_remaining(&snapshot, &n, NULL);
    vd_snapshot_release(&snapshot);
    return code ? SIZE_MAX : n;
}

static void *look_on(void *arg)
{
    struct vd_deliveries deliveries = {0};
    struct vd_cursor *cursor = arg;
    bool stop;
    do {
        stop = onlooker.stop;
        size_t n = list_len();
        if (n != 0 && n != SEEN)
            onlooker.wrong = "a list shows a part of the batch";
        onlooker.lists++;
        if (vd_cursor_next(cursor, &deliveries, 64, NULL))
            onlooker.wrong = "the watcher cannot go on";
        onlooker.events += deliveries.list.n;
        if (deliveries.whole && onlooker.events % SEEN)
            onlooker.wrong = "a bookmark falls into the batch";
        onlooker.bookmarks += deliveries.whole;
    } while (!onlooker.wrong && (!stop || vd_cursor_is_behind(cursor)));
    vd_deliveries_release(&deliveries);
    return NULL;
}

static void nobody_sees_half_of_it(void **state)
{
    struct vd_cursor cursor;
    struct many m;
    (void)state;
    struct vd_filter *filter = vd_filter_new(
        &(struct vd_filter_spec){.resource = VD_SLICE("configmaps")});
    vd_cursor_open_now(&cursor, setting.store, filter);
    making.filling = 200;
    making.version = 1;
    onlooker.stop = false;
    onlooker.wrong = NULL;
    onlooker.lists = onlooker.bookmarks = onlooker.events = 0;
    assert_int_equal(pthread_create(&onlooker.thread, NULL, look_on, &cursor), 0);
    many_init(&m, VD_WRITE_REPLACE, SEEN);
    many_expect_done(&m, many_perform(&m));
    many_release(&m);
    many_init(&m, VD_WRITE_DELETE, SEEN);
    many_expect_done(&m, many_perform(&m));
    many_release(&m);
    onlooker.stop = true;
    pthread_join(onlooker.thread, NULL);
    assert_string_equal(onlooker.wrong ? onlooker.wrong : "", "");
    assert_int_equal(onlooker.events, 2 * SEEN);
    assert_true(onlooker.lists > 0 && onlooker.bookmarks > 0);
    vd_cursor_close(&cursor);
    vd_filter_unref(filter);
}

/* ---- others write meanwhile ---- */

static struct {
    struct vd_store *store; /* another process over the same log */
    unsigned left;          /* so often it is faster than the batch */
    size_t calls;
} rival;

/* Replaces the first object, which is found in the rival's own view of the log. */
static void rival_writes(void)
{
    struct vd_outcome outcome;
    static const char body[] = "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{"
                               "\"name\":\"m-00000\",\"namespace\":\"room\","
                               "\"resourceVersion\":\"\",\"labels\":{\"by\":\"%08u\"}}}";
    char text[sizeof body + 8];
    snprintf(text, sizeof text, body, rival.left);
    const char *hole = strstr(text, "Version\":\"\",") + 10;
    struct vd_wish wish = {.action = VD_PUT,
                           .key = {VD_SLICE("configmaps"), VD_SLICE("room"), VD_SLICE("m-00000")},
                           .uid = {{1}},
                           .body = {vd_slice_of(text), (uint32_t)(hole - text)}};
    assert_int_equal(vd_store_commit(rival.store, &wish, 1, &outcome), VD_OK);
}

/* Is made last, and again whenever the batch is: by then all else has been read. */
static bool make_last(struct vd_write *w, const struct vd_json *old, struct vd_json **out)
{
    rival.calls++;
    if (rival.left) {
        rival_writes();
        rival.left--;
    }
    *out = vd_write_pruned_copy(w, old);
    vd_meta_set_resource_version(w->arena, *out, VD_SLICE(""));
    return true;
}

/* A batch whose last member makes the rival write. */
static void race_init(struct many *m, size_t n, unsigned faster)
{
    static const struct vd_write_ops last_ops = {.make = make_last};
    many_init(m, VD_WRITE_REPLACE, n);
    struct vd_write *last = &m->writes[n - 1];
    last->verb = VD_WRITE_PATCH;
    last->part = VD_PART_STATUS;
    last->ops = &last_ops;
    last->name = VD_SLICE("g");
    last->kind = vd_kind_set_resource(setting.set, VD_SLICE("example.com"), VD_SLICE("v1"),
                                      VD_SLICE("gadgets"));
    rival.left = faster;
    rival.calls = 0;
    making.version = 1;
    making.filling = 100;
    making.made = 0;
}

static void only_what_is_stale_is_made_again(void **state)
{
    enum { N = 500 };
    struct many m;
    (void)state;
    write_it(VD_WRITE_CREATE, "gadgets", "", "{\"metadata\":{\"name\":\"g\"}}", VD_WRITE_CREATED);
    rival.store = shared_store_open(shared, NULL);
    race_init(&m, N, 5);
    many_expect_done(&m, many_perform(&m));
    assert_int_equal(rival.left, 0);
    assert_int_equal(rival.calls, 6);
    assert_int_equal(making.made, N - 1 + 5); /* the first was made five times more */
    assert_int_equal(m.b.counts[VD_WRITE_CREATED], N - 2);
    assert_int_equal(m.b.counts[VD_WRITE_UPDATED], 1);
    assert_int_equal(m.writes[0].result, VD_WRITE_UPDATED);
    for (size_t i = 1; i < N - 1; i++)
        assert_true(m.writes[i - 1].revision < m.writes[i].revision);
    many_release(&m);
    vd_store_close(rival.store);
}

/* Somebody who is always faster does not hold it for ever. */
static void attempts_are_bounded(void **state)
{
    enum { N = 10 };
    struct many m;
    (void)state;
    write_it(VD_WRITE_CREATE, "gadgets", "", "{\"metadata\":{\"name\":\"g\"}}", VD_WRITE_CREATED);
    rival.store = shared_store_open(shared, NULL);
    race_init(&m, N, 1000);
    assert_int_equal(many_perform(&m), VD_BATCH_REFUSED);
    assert_int_equal(m.b.refused, 1);
    assert_int_equal(m.writes[0].refusal.reason, VD_REFUSED_CONFLICT);
    assert_int_equal(m.writes[1].result, VD_WRITE_WITHHELD);
    assert_int_equal(list_len(), 1);
    many_release(&m);
    vd_store_close(rival.store);
}

/* ---- it ends early ---- */

static void it_is_cancelled_in_the_middle(void **state)
{
    struct many m;
    (void)state;
    making.filling = 100;
    for (size_t at = 1; at < 4000; at += 1333) { /* not at the last: then all may be proposed */
        uint64_t revision = vd_store_revision(setting.store);
        making.made = 0;
        making.cancel_at = at;
        making.cancelled = &m.b;
        many_init(&m, VD_WRITE_REPLACE, 4000);
        assert_int_equal(many_perform(&m), VD_BATCH_CANCELLED);
        assert_int_equal(vd_store_revision(setting.store), revision);
        many_release(&m);
    }
    making.cancel_at = 0;
}

static void a_dry_run_writes_nothing(void **state)
{
    struct many m;
    (void)state;
    uint64_t revision = vd_store_revision(setting.store);
    making.filling = 100;
    many_init(&m, VD_WRITE_REPLACE, 3000);
    m.b.dry_run = true;
    many_expect_done(&m, many_perform(&m));
    assert_int_equal(m.b.counts[VD_WRITE_CREATED], 3000);
    assert_int_equal(m.writes[2999].result, VD_WRITE_CREATED);
    assert_int_equal(vd_store_revision(setting.store), revision);
    many_release(&m);
}

static void too_many_members_are_refused(void **state)
{
    struct many m;
    (void)state;
    making.filling = 100;
    making.made = 0;
    many_init(&m, VD_WRITE_REPLACE, VD_BATCH_CHANGES_MAX + 1);
    assert_int_equal(many_perform(&m), VD_BATCH_REFUSED);
    assert_int_equal(m.writes[VD_BATCH_CHANGES_MAX].refusal.reason, VD_REFUSED_TOO_LARGE);
    assert_int_equal(making.made, 0);
    many_release(&m);
    /* The condition on the namespace counts as one. */
    many_init(&m, VD_WRITE_REPLACE, VD_BATCH_CHANGES_MAX);
    m.b.dry_run = true;
    assert_int_equal(many_perform(&m), VD_BATCH_REFUSED);
    assert_int_equal(m.b.refused, 1);
    many_release(&m);
}

/* Workers make these. */
static void too_many_bytes_are_refused(void **state)
{
    enum { LEN = 900000, N = VD_BATCH_BYTES_MAX / LEN + 2 };
    struct many m;
    (void)state;
    making.filling = LEN;
    many_init(&m, VD_WRITE_REPLACE, N);
    for (size_t i = 0; i < N; i++)
        m.writes[i].len = LEN;
    m.b.dry_run = true;
    assert_int_equal(many_perform(&m), VD_BATCH_REFUSED);
    assert_true(m.b.refused > 0 && m.b.refused < N / 2);
    assert_int_equal(m.writes[N - 1].refusal.reason, VD_REFUSED_TOO_LARGE);
    assert_int_equal(m.writes[0].result, VD_WRITE_WITHHELD);
    many_release(&m);
}

#define on(engine, test)                                                                           \
    {                                                                                              \
#test " (" #engine ")", test, open_##engine, close_any, NULL                               \
    }

int main(void)
{
    /* clang-format off */
    const struct CMUnitTest tests[] = {
        on(memory, each_is_told_its_revision),
        on(shared, each_is_told_its_revision),
        on(sqlite, each_is_told_its_revision),
        on(memory, twenty_thousand_are_told_their_revisions),
        on(memory, nobody_sees_half_of_it),
        on(shared, nobody_sees_half_of_it),
        on(sqlite, nobody_sees_half_of_it),
        on(shared, only_what_is_stale_is_made_again),
        on(shared, attempts_are_bounded),
        on(memory, it_is_cancelled_in_the_middle),
        on(memory, a_dry_run_writes_nothing),
        on(memory, too_many_members_are_refused),
        on(memory, too_many_bytes_are_refused),
    };
    /* clang-format on */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
