/*
 * A group: the proposals that share one transaction and one sync.
 *
 * Each proposal is *judged* against the state that the ones before it leave, as if they had been
 * committed already: entry->staged leads from an object to its newest row in the group. An accepted
 * proposal adds rows. Then the engine commits all rows at once, the index makes them visible at
 * once, the subscribers are told of them, and every proposal is answered.
 *
 * Other processes may have written to the log since the proposals were judged. Then the engine
 * answers *behind*: the writer takes their changes in, and all proposals of the group are judged
 * again, a bounded number of times. A commit that succeeds shows that no other process had written.
 * A group that writes nothing asks the engine instead, so that no proposal is refused because of a
 * state that is out of date.
 *
 * Revisions do not exist before the engine has committed. A proposal that was
 * refused, or changed nothing, because of a row of this same group therefore
 * learns the revision to report only afterwards (member.outcome_row), and fails with
 * the group if the commit fails (member.depends).
 */
#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/failpoint.h"
#include "base/limits.h"
#include "store/store_internal.h"

enum {
    KEPT_MAX = 128, /* rows and members that a group keeps memory for */
    FEW = 16,       /* rows whose events need no memory of their own until they are published */
};

struct member {
    struct vd_proposal *proposal;
    size_t rows_from;
    size_t rows_n;
    size_t outcome_row; /* 1 + the row whose revision the outcome reports; 0: the outcome reports a
                           committed version's */
    bool depends;       /* it was judged against a row of this group that another proposal added */
    struct vd_outcome outcome;
};

/* The vectors keep their memory for the next group. */
struct vd_group {
    struct vd_store *store;
    bool patient; /* a commit waits while another process has the log */
    VD_VEC(struct vd_row) rows;
    VD_VEC(struct vd_entry *) entries; /* entries.p[i] is the entry of rows.p[i] */
    VD_VEC(struct member) members;
};

/* An object's state as a proposal finds it: the newest row of the group, or else the newest
 * committed event. */
struct state {
    bool present;
    size_t row; /* 1 + the row that it comes from; 0: from a committed event */
    uint64_t revision;
    struct vd_uid uid;
};

static struct vd_row *row_at(const struct vd_group *g, size_t at)
{
    assert(at < g->rows.n);
    return &g->rows.p[at];
}

static struct state state_of(const struct vd_group *g, const struct vd_entry *entry)
{
    if (entry->staged) {
        const struct vd_row *row = row_at(g, entry->staged - 1);
        return (struct state){row->type != VD_EVENT_DELETED, entry->staged, 0, row->uid};
    }
    const struct vd_event *event = vd_entry_live(entry);
    if (!event)
        return (struct state){0};
    return (struct state){true, 0, event->revision, event->uid};
}

/* Whether the object already is what the wish wants it to be. */
static bool is_true_already(const struct vd_group *g, const struct vd_entry *entry,
                            struct state state, const struct vd_wish *wish)
{
    if (wish->action != VD_PUT || !state.present ||
        (!vd_uid_is_none(wish->uid) && !vd_uid_eq(wish->uid, state.uid)))
        return false;
    if (!state.row)
        return entry->newest->body && vd_body_is_made_from(entry->newest->body, wish->body);
    const struct vd_template *body = &row_at(g, state.row - 1)->body;
    return body->hole == wish->body.hole && vd_slice_eq(body->bytes, wish->body.bytes);
}

/* VD_OK, or the code that the wish's precondition fails with. */
static enum vd_code precondition(const struct vd_wish *wish, struct state state)
{
    bool must_exist = wish->action == VD_DELETE || wish->when == VD_WHEN_PRESENT ||
                      wish->when == VD_WHEN_REVISION || !vd_uid_is_none(wish->expect_uid);
    if (wish->when == VD_WHEN_ABSENT && state.present)
        return VD_ERR_EXISTS;
    if (must_exist && !state.present)
        return VD_ERR_NOT_FOUND;
    if (!vd_uid_is_none(wish->expect_uid) && !vd_uid_eq(wish->expect_uid, state.uid))
        return VD_ERR_CONFLICT;
    if (wish->when == VD_WHEN_REVISION && (state.row || wish->revision != state.revision))
        return VD_ERR_CONFLICT;
    return VD_OK;
}

static void say_why(struct vd_outcome *outcome, const struct vd_wish *wish, struct state state)
{
    const struct vd_key *key = &wish->key;
    const char *slash = key->namespace.n ? "/" : "";
    switch (outcome->code) {
    case VD_ERR_EXISTS:
        vd_error_set(&outcome->error, VD_ERR_EXISTS, "%.*s \"%.*s%s%.*s\" already exists",
                     VD_FMT(key->resource), VD_FMT(key->namespace), slash, VD_FMT(key->name));
        break;
    case VD_ERR_NOT_FOUND:
        vd_error_set(&outcome->error, VD_ERR_NOT_FOUND, "%.*s \"%.*s%s%.*s\" not found",
                     VD_FMT(key->resource), VD_FMT(key->namespace), slash, VD_FMT(key->name));
        break;
    default:
        vd_error_set(&outcome->error, VD_ERR_CONFLICT,
                     "%.*s \"%.*s%s%.*s\" %s: read it again and retry", VD_FMT(key->resource),
                     VD_FMT(key->namespace), slash, VD_FMT(key->name),
                     !vd_uid_is_none(wish->expect_uid) && !vd_uid_eq(wish->expect_uid, state.uid)
                         ? "has another uid: it was deleted and created again"
                         : "has been modified");
    }
}

static void add_row(struct vd_group *g, struct vd_entry *entry, struct state state,
                    const struct vd_wish *wish)
{
    bool is_put = wish->action == VD_PUT;
    const struct vd_event *newest = entry->newest; /* may be a deletion */
    *VD_VEC_PUSH(&g->entries) = entry;
    *VD_VEC_PUSH(&g->rows) = (struct vd_row){
        .previous = newest ? newest->revision : 0,
        .previous_row = entry->staged,
        .type = !is_put         ? VD_EVENT_DELETED
                : state.present ? VD_EVENT_UPDATED
                                : VD_EVENT_CREATED,
        .more = true,
        .key = wish->key,
        .uid = is_put && !vd_uid_is_none(wish->uid) ? wish->uid : state.uid,
        .body = is_put ? wish->body : (struct vd_template){.hole = 0},
        .body_len = is_put ? (uint32_t)wish->body.bytes.n : 0,
    };
    entry->staged = g->rows.n;
}

/* Takes back the newest row; `staged` of its entry is again the object's row before that one. */
static void drop_row(struct vd_group *g)
{
    struct vd_entry *entry = g->entries.p[--g->entries.n];
    entry->staged = g->rows.p[--g->rows.n].previous_row;
    vd_index_unstage(&g->store->index, entry);
}

/* Judges a condition on all objects of a resource: by the newest event of the resource, and by the
 * rows that the proposals before this one have added. */
static bool judge_resource(const struct vd_group *g, struct member *m, size_t at)
{
    const struct vd_wish *wish = &m->proposal->wishes[at];
    const struct vd_slice resource = wish->key.resource;
    const struct vd_collection *c = vd_index_collection(&g->store->index, resource);
    bool changed = c && c->revision > wish->revision;
    for (size_t i = 0; !changed && i < m->rows_from; i++)
        changed = m->depends = vd_slice_eq(g->rows.p[i].key.resource, resource);
    if (!changed)
        return true;
    m->outcome.code = VD_ERR_CONFLICT;
    m->outcome.at = at;
    vd_error_set(&m->outcome.error, VD_ERR_CONFLICT, "objects of %.*s have changed meanwhile",
                 VD_FMT(resource));
    return false;
}

/* Judges one wish; false when the proposal fails with it. */
static bool judge_wish(struct vd_group *g, struct member *m, size_t at)
{
    const struct vd_wish *wish = &m->proposal->wishes[at];
    if (wish->when == VD_WHEN_RESOURCE_UNCHANGED)
        return judge_resource(g, m, at);
    struct vd_entry *entry = vd_index_stage(&g->store->index, &wish->key);
    struct state state = state_of(g, entry);
    enum vd_code code = precondition(wish, state);
    m->depends |= state.row > 0 && state.row <= m->rows_from;
    if (!code && wish->action == VD_CHECK) {
        vd_index_unstage(&g->store->index, entry);
        return true;
    }
    if (!code && !is_true_already(g, entry, state, wish)) {
        add_row(g, entry, state, wish);
        return true;
    }
    m->outcome_row = state.row;
    m->outcome.revision = state.revision;
    if (!code)
        return true;
    m->outcome.code = code;
    m->outcome.at = at;
    say_why(&m->outcome, wish, state);
    return false;
}

/* Takes back the rows of a refused proposal. The outcome reports the object as it is without those
 * rows, since one of them may be the reason for the refusal. */
static void take_back(struct vd_group *g, struct member *m)
{
    struct vd_index *index = &g->store->index;
    const struct vd_wish *wish = &m->proposal->wishes[m->outcome.at];
    while (g->rows.n > m->rows_from)
        drop_row(g);
    if (wish->when == VD_WHEN_RESOURCE_UNCHANGED)
        return;
    struct vd_entry *entry = vd_index_stage(index, &wish->key);
    struct state state = state_of(g, entry);
    m->outcome_row = state.present ? state.row : 0;
    m->outcome.revision = state.revision;
    vd_index_unstage(index, entry);
}

static void judge(struct vd_group *g, struct vd_proposal *proposal)
{
    struct member *m = VD_VEC_PUSH(&g->members);
    *m = (struct member){.proposal = proposal, .rows_from = g->rows.n};
    for (size_t i = 0; i < proposal->n; i++)
        if (!judge_wish(g, m, i))
            break;
    if (m->outcome.code)
        take_back(g, m);
    m->rows_n = g->rows.n - m->rows_from;
    if (m->rows_n)
        row_at(g, g->rows.n - 1)->more = false;
}

/* The event of a committed row. The body of a deletion is that of the version that it deletes. */
static struct vd_event *row_event(const struct vd_group *g, struct vd_event *const *events,
                                  size_t at)
{
    const struct vd_row *row = row_at(g, at);
    struct vd_event *event = vd_event_from_row(g->entries.p[at], row);
    if (row->type == VD_EVENT_DELETED)
        vd_event_set_deleted(event, row->previous_row ? events[row->previous_row - 1]
                                                      : g->entries.p[at]->newest);
    return event;
}

static void publish(struct vd_group *g)
{
    size_t n = g->rows.n;
    struct vd_event *few[FEW];
    struct vd_event **events = n <= FEW ? few : vd_malloc(n * sizeof(struct vd_event *));
    for (size_t i = 0; i < n; i++)
        events[i] = row_event(g, events, i);
    for (size_t i = 0; i < n; i++)
        g->entries.p[i]->staged = 0;
    vd_store_publish(g->store, events, n);
    if (events != few)
        free(events);
}

static void set_times(struct vd_group *g)
{
    int64_t now_ms = vd_clock_wall_ms(g->store->options.clock);
    if (now_ms > g->store->time_ms)
        g->store->time_ms = now_ms;
    for (size_t i = 0; i < g->rows.n; i++)
        g->rows.p[i].time_ms = g->store->time_ms;
}

/* Takes back all rows, so that nothing of what was judged stays in the index. */
static void take_back_all(struct vd_group *g)
{
    while (g->rows.n)
        drop_row(g);
}

/* Sets this error as the outcome of the proposals that wanted to write something or were judged
 * against rows of other proposals. `all`: of every proposal, as it is unknown whether they were
 * judged against the newest state of the log. */
static void refuse(struct vd_group *g, const struct vd_error *error, bool all)
{
    for (size_t i = 0; i < g->members.n; i++) {
        struct member *m = &g->members.p[i];
        if (all || m->rows_n || m->depends)
            m->outcome = (struct vd_outcome){.code = error->code, .error = *error};
        m->rows_n = m->outcome_row = 0;
    }
    take_back_all(g);
}

static int commit(struct vd_group *g, struct vd_error *error)
{
    struct vd_store *store = g->store;
    struct vd_engine_commit how = {.head = store->index.revision, .patient = g->patient};
    set_times(g);
    int code = store->engine->ops->commit(store->engine, how, g->rows.p, g->rows.n, error);
    if (code)
        return code;
    if (vd_store_is_hindered(store))
        vd_store_hinder(store, NULL);
    VD_FAILPOINT("store.before_apply");
    publish(g);
    atomic_fetch_add_explicit(&store->commits, g->rows.n, memory_order_relaxed);
    atomic_fetch_add_explicit(&store->groups, 1, memory_order_relaxed);
    return VD_OK;
}

/* For a group that writes nothing: VD_OK if it was judged against the newest state of the log,
 * VD_ERR_BEHIND if other processes have written since. */
static int confirm(struct vd_group *g, struct vd_error *error)
{
    struct vd_engine *engine = g->store->engine;
    struct vd_engine_state state;
    int code = engine->shared ? engine->ops->state(engine, &state, error) : VD_OK;
    if (code || !engine->shared || state.revision == g->store->index.revision)
        return code;
    return vd_error_set(error, VD_ERR_BEHIND, "others have written to the log");
}

static int attempt(struct vd_group *g, struct vd_proposal *first, struct vd_error *error)
{
    for (struct vd_proposal *p = first, *next; p; p = next) {
        next = p->next;
        judge(g, p);
    }
    return g->rows.n ? commit(g, error) : confirm(g, error);
}

/* Other processes were faster: takes their changes in and tries again, at most
 * VD_COMMIT_ATTEMPTS_MAX times in all. */
static int attempt_again(struct vd_group *g, struct vd_proposal *first, struct vd_error *error)
{
    int code = VD_ERR_BEHIND;
    for (int i = 1; code == VD_ERR_BEHIND && i < VD_COMMIT_ATTEMPTS_MAX; i++) {
        atomic_fetch_add_explicit(&g->store->behind, 1, memory_order_relaxed);
        take_back_all(g);
        code = vd_intake_all(g->store, error);
        if (code)
            return code;
        g->members.n = 0;
        code = attempt(g, first, error);
    }
    return code;
}

/* The group was not written: updates the store's health and gives the error to the proposals that
 * it concerns. */
static void fail(struct vd_group *g, int code, struct vd_error *error)
{
    if (code == VD_ERR_BEHIND) {
        vd_error_set(error, VD_ERR_LOCKED,
                     "other processes wrote to the log each time that this was tried: retry");
        refuse(g, error, true);
        return;
    }
    if (vd_code_passes(code))
        vd_store_hinder(g->store, error);
    else if (code != VD_ERR_READ_ONLY) /* the store is read-only already */
        vd_store_fail(g->store, error);
    refuse(g, error, g->rows.n == 0);
}

static void answer(struct vd_group *g, struct member *m)
{
    struct vd_outcome *outcome = &m->outcome;
    if (m->rows_n) {
        outcome->changed = true;
        outcome->revision_first = row_at(g, m->rows_from)->revision;
        outcome->revision = row_at(g, m->rows_from + m->rows_n - 1)->revision;
    } else if (m->outcome_row) {
        outcome->revision = row_at(g, m->outcome_row - 1)->revision;
    }
    if (outcome->code)
        atomic_fetch_add_explicit(&g->store->refused, 1, memory_order_relaxed);
    else if (!outcome->changed)
        outcome->revision_first = outcome->revision;
    m->proposal->done(m->proposal, outcome);
}

static void release(struct vd_group *g)
{
    VD_VEC_RELEASE(&g->rows);
    VD_VEC_RELEASE(&g->entries);
    VD_VEC_RELEASE(&g->members);
}

/* Empties the group for the next one, and keeps no more memory than most groups need. */
static void clear(struct vd_group *g)
{
    if (g->members.cap > KEPT_MAX || g->rows.cap > KEPT_MAX)
        release(g);
    g->rows.n = g->entries.n = g->members.n = 0;
}

bool vd_group_run(struct vd_store *store, struct vd_proposal *first, bool patient)
{
    struct vd_group *g = store->group;
    struct vd_error error;
    g->patient = patient;
    int code = attempt(g, first, &error);
    bool postponed = !patient && (code == VD_ERR_LOCKED || code == VD_ERR_BEHIND);
    if (code == VD_ERR_BEHIND && patient)
        code = attempt_again(g, first, &error);
    if (postponed)
        take_back_all(g);
    else if (code)
        fail(g, code, &error);
    VD_FAILPOINT("store.before_answer");
    for (size_t i = 0; !postponed && i < g->members.n; i++)
        answer(g, &g->members.p[i]);
    VD_FAILPOINT("store.after_answer");
    clear(g);
    return !postponed;
}

struct vd_group *vd_group_new(struct vd_store *store)
{
    struct vd_group *g = VD_NEW(struct vd_group);
    g->store = store;
    return g;
}

void vd_group_free(struct vd_group *g)
{
    release(g);
    free(g);
}
