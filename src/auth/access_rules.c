/*
 * See access_rules.h. While the informer lists, a second set of rules (`fresh`) is filled, and
 * takes the place of the first (`rules`) when the list is complete. While the informer follows the
 * log, the first set is changed. The snapshot that is in force is made from it after each piece of
 * the log that changed it, unless the piece ends inside an atomic batch.
 */
#include "auth/access_rules.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/container_of.h"
#include "base/hash_map.h"
#include "base/log.h"
#include "base/metrics.h"
#include "json/parse.h"

static struct vd_metric_family left_out_now = VD_GAUGE_FAMILY(
    "rbac_left_out_objects", "Roles and bindings that grant nothing because they cannot be read.");
static struct vd_metric_family failures_total = VD_COUNTER_FAMILY(
    "rbac_load_failures_total", "Times that the rules of access could not be loaded again.");

/* The resources whose objects rules are made of, and below their kinds. */
static const struct vd_slice resources[] = {
    {"clusterroles.rbac.authorization.k8s.io", 38},
    {"roles.rbac.authorization.k8s.io", 31},
    {"clusterrolebindings.rbac.authorization.k8s.io", 45},
    {"rolebindings.rbac.authorization.k8s.io", 38},
};
enum { SOURCES = sizeof resources / sizeof *resources };
static const struct vd_slice kinds[SOURCES] = {
    {"ClusterRole", 11}, {"Role", 4}, {"ClusterRoleBinding", 18}, {"RoleBinding", 11}};

/* The rules of the objects that were told of. */
struct rules {
    struct vd_policy *policy;
    struct vd_hash_map left_out; /* of struct left_out: the objects that cannot be read */
};

struct left_out {
    struct vd_buf key; /* resource, blank, path */
};

struct vd_access_rules {
    struct vd_access_rules_options options;
    struct vd_informer informer;
    struct vd_informer_handler handler;
    struct rules rules; /* used by the loop only: the snapshot in force is made from them */
    bool dirty;         /* they have changed since that snapshot was made */
    bool listing;       /* `fresh` is being filled */
    struct rules fresh;
    struct vd_error error; /* of the last list that failed */
    struct vd_timer retry;
    struct vd_task task;
    _Atomic bool posted;
    _Atomic bool current;
    _Atomic size_t left_out_n;
    pthread_mutex_t lock; /* guards rbac; held for a reference only */
    struct vd_rbac *rbac;
};

static struct vd_access_rules *rules_of(struct vd_informer_handler *handler)
{
    return VD_CONTAINER_OF(handler, struct vd_access_rules, handler);
}

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

static struct vd_slice kind_of(struct vd_slice resource)
{
    size_t i = 0;
    while (i < SOURCES - 1 && !vd_slice_eq(resources[i], resource))
        i++;
    return kinds[i];
}

/* Notes whether the object is left out. */
static void note_left_out(struct rules *r, struct vd_slice resource, struct vd_slice path,
                          bool left_out)
{
    struct left_out *item = VD_NEW(struct left_out);
    vd_buf_addf(&item->key, "%.*s %.*s", VD_FMT(resource), VD_FMT(path));
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

/* Takes the present state of an object into the rules. */
static void take_object(struct vd_access_rules *rules, struct rules *r,
                        const struct vd_event *event)
{
    struct vd_slice resource = vd_entry_resource(event->entry), kind = kind_of(resource);
    struct vd_slice namespace = vd_entry_namespace(event->entry),
                    name = vd_entry_name(event->entry);
    struct vd_error error;
    bool live = vd_event_is_live(event);
    int code = live ? put_object(r, event, &error) : VD_OK;
    if (!live || code) /* an earlier version of it must not grant anything any more */
        vd_policy_remove(r->policy, kind, namespace, name);
    if (code) {
        vd_error_prefix(&error, "revision %llu, %.*s \"%.*s\"", (unsigned long long)event->revision,
                        VD_FMT(kind), VD_FMT(vd_entry_path(event->entry)));
        vd_informer_report(&rules->informer, &error);
    }
    note_left_out(r, resource, vd_entry_path(event->entry), code != VD_OK);
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

/* ---- what the informer tells ---- */

/* Throws away what was listed so far; the rules in force stay. */
static void give_up_list(struct vd_access_rules *rules)
{
    if (rules->listing)
        rules_release(&rules->fresh);
    rules->listing = false;
}

static void on_listing(struct vd_informer_handler *handler)
{
    struct vd_access_rules *rules = rules_of(handler);
    rules_init(&rules->fresh);
    rules->listing = true;
}

static void on_changed(struct vd_informer_handler *handler, const struct vd_change *change)
{
    struct vd_access_rules *rules = rules_of(handler);
    take_object(rules, rules->listing ? &rules->fresh : &rules->rules, change->now);
    rules->dirty = true;
}

static void on_damaged(struct vd_informer_handler *handler, const struct vd_key *key)
{
    struct vd_access_rules *rules = rules_of(handler);
    struct vd_path room;
    note_left_out(&rules->fresh, key->resource, vd_key_path(&room, key), true);
}

static void on_synced(struct vd_informer_handler *handler)
{
    struct vd_access_rules *rules = rules_of(handler);
    rules_release(&rules->rules);
    rules->rules = rules->fresh;
    rules->listing = false;
    if (!atomic_exchange(&rules->current, true))
        vd_log_info("the rules of access were loaded again",
                    VD_F_U64("revision", vd_informer_revision(&rules->informer)));
    publish(rules);
}

/* Rules are not put in force while only a part of an atomic batch was told. */
static void on_passed(struct vd_informer_handler *handler, uint64_t revision, bool whole)
{
    struct vd_access_rules *rules = rules_of(handler);
    (void)revision;
    if (rules->dirty && whole)
        publish(rules);
}

static void on_failed(struct vd_informer_handler *handler, const struct vd_error *error,
                      uint64_t retry_ms)
{
    struct vd_access_rules *rules = rules_of(handler);
    give_up_list(rules);
    rules->error = *error;
    atomic_store(&rules->current, false);
    vd_counter_add(vd_metric_only(&failures_total), 1);
    vd_log_error("the rules of access could not be loaded again; the old ones stay in force",
                 VD_F_U64("retry_ms", retry_ms), VD_F_ERROR(error));
}

/* ---- on the loop ---- */

static void post(void *arg)
{
    struct vd_access_rules *rules = arg;
    if (!atomic_exchange(&rules->posted, true))
        vd_loop_post(rules->options.loop, &rules->task);
}

bool vd_access_rules_step(struct vd_access_rules *rules)
{
    uint64_t after_ms = vd_informer_turn(&rules->informer);
    if (after_ms && after_ms != VD_INFORMER_IDLE)
        vd_timer_set(rules->options.loop, &rules->retry, after_ms);
    return after_ms == 0;
}

static void on_task(struct vd_task *task)
{
    struct vd_access_rules *rules = VD_CONTAINER_OF(task, struct vd_access_rules, task);
    atomic_store(&rules->posted, false);
    if (!vd_timer_is_set(&rules->retry) && /* else the timer will do it */
        vd_access_rules_step(rules))
        post(rules);
}

static void on_retry(struct vd_timer *timer)
{
    struct vd_access_rules *rules = VD_CONTAINER_OF(timer, struct vd_access_rules, retry);
    if (vd_access_rules_step(rules))
        post(rules);
}

/* ---- life cycle ---- */

static const struct vd_informer_ops ops = {
    .listing = on_listing,
    .changed = on_changed,
    .damaged = on_damaged,
    .synced = on_synced,
    .passed = on_passed,
    .failed = on_failed,
};

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
    rules->handler.ops = &ops;
    vd_informer_init(&rules->informer,
                     &(struct vd_informer_options){
                         .store = options->store,
                         .name = "rbac",
                         .listed = {resources, SOURCES},
                         .followed = {resources, SOURCES},
                         .damage_text = "a role or binding is damaged, and grants nothing",
                         .wake = post,
                         .arg = rules});
    vd_informer_add_handler(&rules->informer, &rules->handler);
    return rules;
}

void vd_access_rules_add_handler(struct vd_access_rules *rules, struct vd_informer_handler *handler)
{
    vd_informer_add_handler(&rules->informer, handler);
}

int vd_access_rules_load(struct vd_access_rules *rules, struct vd_error *error)
{
    uint64_t after_ms = 0;
    vd_informer_start(&rules->informer);
    while (!after_ms && !vd_informer_is_synced(&rules->informer))
        after_ms = vd_informer_turn(&rules->informer);
    if (after_ms && error)
        *error = rules->error;
    return after_ms ? (int)rules->error.code : VD_OK;
}

void vd_access_rules_free(struct vd_access_rules *rules)
{
    if (!rules)
        return;
    vd_informer_stop(&rules->informer);
    vd_timer_stop(rules->options.loop, &rules->retry);
    give_up_list(rules);
    rules_release(&rules->rules);
    vd_rbac_unref(rules->rbac);
    pthread_mutex_destroy(&rules->lock);
    free(rules);
}
