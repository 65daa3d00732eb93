/*
 * See access_rules.h. Either the rules read on in the log, from `revision`, or a load is under way:
 * a second policy is filled from a snapshot of one revision, kind by kind, and takes the place of
 * the first when it is complete.
 */
#include "server/access_rules.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/hash_map.h"
#include "base/log.h"
#include "base/metrics.h"
#include "store/log_read.h"
#include "store/snapshot.h"
#include "json/parse.h"

enum {
    STEP_EVENTS = 256,
    RETRY_MS_MIN = 100, /* after a load that failed; twice as long after the next, ... */
    RETRY_MS_MAX = 10000,
};

static struct vd_metric_family left_out_now = VD_GAUGE_FAMILY(
    "rbac_left_out_objects", "Roles and bindings that grant nothing because they cannot be read.");
static struct vd_metric_family failures_total = VD_COUNTER_FAMILY(
    "rbac_load_failures_total", "Times that the rules of access could not be loaded again.");

/* The kinds that rules are made of, as they are stored. */
static const struct {
    struct vd_slice kind;
    struct vd_slice storage_key;
} sources[] = {
    {{"ClusterRole", 11}, {"clusterroles.rbac.authorization.k8s.io", 38}},
    {{"Role", 4}, {"roles.rbac.authorization.k8s.io", 31}},
    {{"ClusterRoleBinding", 18}, {"clusterrolebindings.rbac.authorization.k8s.io", 45}},
    {{"RoleBinding", 11}, {"rolebindings.rbac.authorization.k8s.io", 38}},
};
enum { SOURCES = sizeof sources / sizeof *sources };

/* The objects as of one revision. */
struct rules {
    struct vd_policy *policy;
    struct vd_hash_map left_out; /* of struct left_out: those that cannot be read */
    uint64_t revision;
};

struct left_out {
    struct vd_buf key; /* storage key, blank, path */
};

struct vd_access_rules {
    struct vd_access_rules_options options;
    struct rules rules; /* the loop's: what is in force is made from them */
    bool dirty;         /* and they have changed since */
    bool behind;        /* the last step left something of the log */
    bool loading;       /* `fresh` is being filled, from: */
    struct rules fresh;
    size_t source;
    struct vd_snapshot snapshot; /* of that source; not open: no store */
    uint64_t retry_ms;
    struct vd_timer retry;
    struct vd_task task;
    _Atomic bool posted;
    _Atomic uint64_t heard_after; /* the revision before a commit that was heard of; 0: none was
                                     since the last step began */
    _Atomic bool current;
    _Atomic size_t left_out_n;
    pthread_mutex_t lock; /* guards rbac; held for a reference only */
    struct vd_rbac *rbac;
};

static struct vd_slice left_out_key(const void *item)
{
    return vd_buf_slice(&((const struct left_out *)item)->key);
}

static void left_out_free(struct left_out *item)
{
    if (!item)
        return;
    vd_buf_release(&item->key);
    free(item);
}

static void rules_init(struct rules *r)
{
    *r = (struct rules){.policy = vd_policy_new()};
    vd_hash_map_init(&r->left_out, left_out_key);
}

static void rules_release(struct rules *r)
{
    size_t at = 0;
    for (struct left_out *item; (item = vd_hash_map_next(&r->left_out, &at));)
        left_out_free(item);
    vd_hash_map_release(&r->left_out);
    vd_policy_free(r->policy);
}

/* ---- objects ---- */

static const struct vd_slice *source_kind(struct vd_slice storage_key)
{
    for (size_t i = 0; i < SOURCES; i++)
        if (vd_slice_eq(sources[i].storage_key, storage_key))
            return &sources[i].kind;
    return NULL;
}

/* Notes whether the object is left out. */
static void note_left_out(struct rules *r, struct vd_slice storage_key, struct vd_slice path,
                          bool left_out)
{
    struct left_out *item = VD_NEW(struct left_out);
    vd_buf_addf(&item->key, "%.*s %.*s", VD_FMT(storage_key), VD_FMT(path));
    if (left_out) {
        left_out_free(vd_hash_map_put(&r->left_out, item));
    } else {
        left_out_free(vd_hash_map_remove(&r->left_out, left_out_key(item)));
        left_out_free(item);
    }
}

static int put_object(struct rules *r, const struct vd_event *event, struct vd_error *error)
{
    struct vd_arena arena = {0};
    struct vd_json *object = NULL;
    int code = vd_json_parse(&arena, vd_body_slice(event->body), NULL, &object, error);
    if (!code)
        code = vd_policy_put(r->policy, object, error);
    vd_arena_release(&arena);
    return code;
}

/* Takes in what the object is now. False: it concerns no rules. */
static bool take_object(struct rules *r, const struct vd_event *event)
{
    struct vd_slice storage_key = vd_entry_kind(event->entry);
    const struct vd_slice *kind = source_kind(storage_key);
    struct vd_slice space = vd_entry_space(event->entry), name = vd_entry_name(event->entry);
    struct vd_error error;
    if (!kind)
        return false;
    bool live = vd_event_is_live(event);
    int code = live ? put_object(r, event, &error) : VD_OK;
    if (!live || code) /* also what it was before grants nothing any more */
        vd_policy_remove(r->policy, *kind, space, name);
    if (code)
        vd_log_warn("a role or binding grants nothing because it cannot be read",
                    VD_F_SLICE("kind", *kind), VD_F_SLICE("namespace", space),
                    VD_F_SLICE("name", name), VD_F_U64("revision", event->revision),
                    VD_F_ERROR(&error));
    note_left_out(r, storage_key, vd_entry_path(event->entry), code != VD_OK);
    return true;
}

/* ---- what is in force ---- */

static void publish(struct vd_access_rules *rules)
{
    struct vd_rbac *fresh = vd_policy_snapshot(rules->rules.policy);
    pthread_mutex_lock(&rules->lock);
    struct vd_rbac *old = rules->rbac;
    rules->rbac = fresh;
    pthread_mutex_unlock(&rules->lock);
    vd_rbac_unref(old);
    rules->dirty = false;
    size_t left_out = vd_hash_map_count(&rules->rules.left_out);
    atomic_store(&rules->left_out_n, left_out);
    vd_gauge_set(vd_metric_only(&left_out_now), (int64_t)left_out);
    rules->options.changed(rules->options.arg);
}

struct vd_rbac *vd_access_rules_now(struct vd_access_rules *rules)
{
    pthread_mutex_lock(&rules->lock);
    struct vd_rbac *rbac = vd_rbac_ref(rules->rbac);
    pthread_mutex_unlock(&rules->lock);
    return rbac;
}

bool vd_access_rules_are_current(const struct vd_access_rules *rules)
{
    return atomic_load(&rules->current);
}

size_t vd_access_rules_left_out(const struct vd_access_rules *rules)
{
    return atomic_load(&rules->left_out_n);
}

/* ---- loading ---- */

static void begin_load(struct vd_access_rules *rules)
{
    rules_init(&rules->fresh);
    rules->fresh.revision = vd_store_revision(rules->options.store);
    rules->source = 0;
    rules->loading = true;
}

static void close_source(struct vd_access_rules *rules)
{
    vd_snapshot_release(&rules->snapshot);
    rules->snapshot = (struct vd_snapshot){0};
}

/* The next objects of the source. One whose bytes are damaged is passed. */
static int load_piece(struct vd_access_rules *rules, struct vd_error *error)
{
    struct vd_slice storage_key = sources[rules->source].storage_key;
    struct vd_event *events[STEP_EVENTS];
    size_t n = 0;
    int code = VD_OK;
    if (!rules->snapshot.store)
        code = vd_snapshot_open(&rules->snapshot, rules->options.store, storage_key, VD_SLICE(""),
                                rules->fresh.revision, VD_SLICE(""), error);
    if (!code)
        code = vd_snapshot_next(&rules->snapshot, events, STEP_EVENTS, &n, error);
    if (code == VD_ERR_CORRUPT) {
        vd_log_error("a role or binding is damaged, and grants nothing", VD_F_ERROR(error));
        note_left_out(&rules->fresh, storage_key, vd_buf_slice(&rules->snapshot.after), true);
        return VD_OK;
    }
    for (size_t i = 0; !code && i < n; i++) {
        take_object(&rules->fresh, events[i]);
        vd_event_unref(events[i]);
    }
    return code;
}

static void end_load(struct vd_access_rules *rules)
{
    rules_release(&rules->rules);
    rules->rules = rules->fresh;
    rules->loading = false;
    rules->retry_ms = 0;
    if (!atomic_exchange(&rules->current, true))
        vd_log_info("the rules of access were loaded again",
                    VD_F_U64("revision", rules->rules.revision));
    publish(rules);
}

/* What was loaded is thrown away; what is in force stays. */
static void give_up_load(struct vd_access_rules *rules)
{
    close_source(rules);
    rules_release(&rules->fresh);
    rules->loading = false;
}

/* A piece of the load. */
static int load_on(struct vd_access_rules *rules, struct vd_error *error)
{
    int code = load_piece(rules, error);
    if (code) {
        give_up_load(rules);
        return code;
    }
    if (rules->snapshot.done) {
        close_source(rules);
        rules->source++;
    }
    if (rules->source == SOURCES)
        end_load(rules);
    return VD_OK;
}

int vd_access_rules_load(struct vd_access_rules *rules, struct vd_error *error)
{
    int code = VD_OK;
    begin_load(rules);
    while (!code && rules->loading)
        code = load_on(rules, error);
    return code;
}

/* ---- following ---- */

/* Loads again after a while, longer each time. */
static void failed(struct vd_access_rules *rules, const struct vd_error *error)
{
    rules->retry_ms = rules->retry_ms ? 2 * rules->retry_ms : RETRY_MS_MIN;
    if (rules->retry_ms > RETRY_MS_MAX)
        rules->retry_ms = RETRY_MS_MAX;
    atomic_store(&rules->current, false);
    vd_counter_add(vd_metric_only(&failures_total), 1);
    vd_log_error("the rules of access could not be loaded again; the old ones stay in force",
                 VD_F_U64("revision", rules->rules.revision), VD_F_U64("retry_ms", rules->retry_ms),
                 VD_F_ERROR(error));
    vd_timer_set(rules->options.loop, &rules->retry, rules->retry_ms);
}

/* Nothing lies between the rules and the first commit that was heard of since they were at the
 * log's end: however long that stretch is, it need not be read. */
static void skip_silence(struct vd_access_rules *rules)
{
    uint64_t after = atomic_exchange(&rules->heard_after, 0);
    if (!rules->behind && after > rules->rules.revision)
        rules->rules.revision = after;
}

/* A stretch of the log. Half of an atomic batch is not put in force. */
static void read_on(struct vd_access_rules *rules)
{
    struct vd_stretch stretch = {0};
    struct vd_error error;
    skip_silence(rules);
    int code = vd_store_read(rules->options.store, VD_SLICE(""), rules->rules.revision, STEP_EVENTS,
                             &stretch, &error);
    if (code) { /* too far behind, or damage */
        begin_load(rules);
    } else {
        for (size_t i = 0; i < stretch.changes.n; i++)
            rules->dirty |= take_object(&rules->rules, stretch.changes.p[i].now);
        rules->rules.revision = stretch.upto;
        if (rules->dirty && stretch.whole)
            publish(rules);
    }
    vd_stretch_release(&stretch);
}

bool vd_access_rules_step(struct vd_access_rules *rules)
{
    struct vd_error error;
    if (!rules->loading && !atomic_load(&rules->current)) /* it has failed, and its time has come */
        begin_load(rules);
    if (!rules->loading)
        read_on(rules);
    else if (load_on(rules, &error)) {
        failed(rules, &error);
        return false;
    }
    rules->behind = rules->rules.revision < vd_store_revision(rules->options.store);
    return rules->loading || rules->behind;
}

static void step_and_post(struct vd_access_rules *rules)
{
    if (vd_access_rules_step(rules) && !atomic_exchange(&rules->posted, true))
        vd_loop_post(rules->options.loop, &rules->task);
}

static void on_task(struct vd_task *task)
{
    struct vd_access_rules *rules = VD_HEAP_OWNER(task, struct vd_access_rules, task);
    atomic_store(&rules->posted, false);
    if (!vd_timer_is_set(&rules->retry)) /* or it will see to it */
        step_and_post(rules);
}

static void on_retry(struct vd_timer *timer)
{
    step_and_post(VD_HEAP_OWNER(timer, struct vd_access_rules, retry));
}

void vd_access_rules_hear(struct vd_access_rules *rules, struct vd_slice kind, uint64_t after)
{
    uint64_t none = 0;
    if (!source_kind(kind))
        return;
    atomic_compare_exchange_strong(&rules->heard_after, &none, after);
    if (!atomic_exchange(&rules->posted, true))
        vd_loop_post(rules->options.loop, &rules->task);
}

/* ---- life cycle ---- */

struct vd_access_rules *vd_access_rules_new(const struct vd_access_rules_options *options)
{
    struct vd_access_rules *rules = VD_NEW(struct vd_access_rules);
    rules->options = *options;
    rules_init(&rules->rules);
    rules->rbac = vd_policy_snapshot(rules->rules.policy);
    rules->task.run = on_task;
    rules->retry.fire = on_retry;
    atomic_init(&rules->current, true);
    pthread_mutex_init(&rules->lock, NULL);
    vd_metric_register(&left_out_now);
    vd_metric_register(&failures_total);
    return rules;
}

void vd_access_rules_free(struct vd_access_rules *rules)
{
    if (!rules)
        return;
    vd_timer_stop(rules->options.loop, &rules->retry);
    if (rules->loading)
        give_up_load(rules);
    rules_release(&rules->rules);
    vd_rbac_unref(rules->rbac);
    pthread_mutex_destroy(&rules->lock);
    free(rules);
}
