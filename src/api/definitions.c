/*
 * See definitions.h. A controller with an item for each definition. Its reconciler first sees to
 * the registry, so that a kind is live before its status says so, then to the object.
 *
 * Deleting the objects of a kind is a scan of them as of one revision, in pieces; what has gone
 * since is counted off as the log tells of it, and what has come makes another scan necessary.
 */
#include "api/definitions.h"

#include <stdlib.h>

#include "api/conditional_batch.h"
#include "api/definition_kind.h"
#include "api/definition_names.h"
#include "base/alloc.h"
#include "base/container_of.h"
#include "base/hash_map.h"
#include "base/log.h"
#include "kinds/approval.h"
#include "kinds/condition.h"
#include "kinds/deletion.h"
#include "kinds/object_meta.h"
#include "json/compare.h"
#include "json/parse.h"

/* Somebody who waits for a definition to be as of a revision. */
struct waiter {
    struct vd_task arrive; /* on the controller's loop */
    struct vd_definitions *definitions;
    struct waiter *next;
    uint64_t revision;
    struct vd_loop *loop; /* of `task` */
    struct vd_task *task;
    size_t name_len;
    char name[];
};

struct definition {
    struct vd_controller_item item;
    struct vd_name_holder names;
    bool conflicted;   /* waits for names that others hold */
    bool gone;         /* the store has no such definition */
    uint64_t revision; /* of the version that was last seen to */
    enum { EMPTY_NOT, EMPTY_SCANNING, EMPTY_WAITING } emptying;
    struct vd_snapshot snapshot;
    uint64_t scan_revision;
    int64_t left; /* objects at scan_revision, as far as scanned, less those deleted since */
    bool again;   /* objects have come, or a deletion was refused */
    size_t name_len;
    char name[];
};

struct vd_definitions {
    struct vd_controller controller;
    struct vd_informer_handler handler;
    struct vd_reconciler reconciler;
    struct vd_hash_map all; /* by name */
    struct vd_name_claims claims;
    struct waiter *waiters;
    struct vd_slice listed; /* the kind of definitions */
};

static struct vd_definitions *definitions_of(const struct vd_controller_item *item)
{
    return VD_CONTAINER_OF(item->reconciler, struct vd_definitions, reconciler);
}

static struct vd_slice definition_name(const void *item)
{
    const struct definition *d = item;
    return vd_slice(d->name, d->name_len);
}

/* A definition's name is plural.group. */
static struct vd_slice definition_group(const struct definition *d)
{
    struct vd_slice rest = definition_name(d), plural;
    vd_slice_cut(&rest, '.', &plural);
    return rest;
}

static int64_t now_ms(const struct vd_definitions *ds)
{
    return vd_clock_wall_ms(ds->controller.env.clock);
}

/* ---- who waits ---- */

static struct vd_slice waiter_name(const struct waiter *w)
{
    return vd_slice(w->name, w->name_len);
}

/* Whether the registry shows the definition as of what is waited for. */
static bool is_shown(const struct vd_definitions *ds, const struct waiter *w)
{
    const struct vd_informer *informer = &ds->controller.informer;
    const struct definition *d = vd_hash_map_get(&ds->all, waiter_name(w));
    bool passed = vd_informer_is_synced(informer) && vd_informer_revision(informer) >= w->revision;
    if (!d || d->gone)
        return d || passed;
    return d->revision >= w->revision || (passed && !vd_work_item_is_pending(&d->item.work));
}

static void tell(struct waiter *w)
{
    vd_loop_post(w->loop, w->task);
    free(w);
}

/* Tells those who need not wait any more, or all. */
static void tell_waiters(struct vd_definitions *ds, bool all)
{
    struct waiter **at = &ds->waiters;
    while (*at) {
        struct waiter *w = *at;
        if (!all && !is_shown(ds, w)) {
            at = &w->next;
            continue;
        }
        *at = w->next;
        tell(w);
    }
}

/* ---- names ---- */

/* Names have become free: whoever wants some in that group may try again. */
static void reconsider(struct vd_definitions *ds, struct vd_slice group)
{
    size_t at = 0;
    for (struct definition *d; (d = vd_hash_map_next(&ds->all, &at));)
        if (d->conflicted && vd_slice_eq(definition_group(d), group))
            vd_controller_add(&ds->controller, &d->item);
}

static void hold_names(struct vd_definitions *ds, struct definition *d, const struct vd_json *names)
{
    if (vd_name_claims_hold(&ds->claims, &d->names, definition_group(d), names))
        reconsider(ds, definition_group(d));
}

/* ---- establishing ---- */

static void set_condition(struct vd_definitions *ds, struct vd_arena *a, struct vd_json *object,
                          const char *type, bool status, struct vd_slice reason,
                          struct vd_slice message)
{
    vd_condition_set(a, object,
                     &(struct vd_condition){.type = vd_slice_of(type),
                                            .status = status ? VD_SLICE("True") : VD_SLICE("False"),
                                            .reason = reason,
                                            .message = message},
                     now_ms(ds));
}

/* Whether Kubernetes' community has approved of a definition in its groups. */
static void set_approval(struct vd_definitions *ds, struct vd_arena *a, struct vd_json *object)
{
    static const char type[] = "KubernetesAPIApprovalPolicyConformant";
    struct vd_slice value, reason = VD_SLICE("ApprovedAnnotation");
    struct vd_buf message = {0};
    enum vd_approval state = vd_approval_of(object, &value);
    if (state == VD_APPROVAL_NOT_NEEDED) {
        vd_condition_remove(object, vd_slice_of(type));
        return;
    }
    if (state == VD_APPROVAL_GIVEN) {
        vd_buf_addf(&message, "approved in %.*s", VD_FMT(value));
    } else if (state == VD_APPROVAL_BYPASSED) {
        reason = VD_SLICE("UnapprovedAnnotation");
        vd_buf_addf(&message, "not approved: \"%.*s\"", VD_FMT(value));
    } else {
        reason = state == VD_APPROVAL_MISSING ? VD_SLICE("MissingAnnotation")
                                              : VD_SLICE("InvalidAnnotation");
        vd_buf_add_text(&message, vd_approval_advice(state));
    }
    set_condition(ds, a, object, type, state == VD_APPROVAL_GIVEN, reason, vd_buf_slice(&message));
    vd_buf_release(&message);
}

/* Objects up to this revision may have been written with the schema that was there before: whoever
 * wrote a newer one has not been answered yet. */
static uint64_t seen(struct vd_definitions *ds, const struct vd_event *event)
{
    uint64_t heard = vd_informer_heard(&ds->controller.informer);
    return heard > event->revision ? heard : event->revision;
}

/* Makes the kinds live, and says in the status what came of it. */
static void set_established(struct vd_definitions *ds, struct vd_arena *a,
                            const struct vd_event *event, struct vd_json *object,
                            const struct vd_name_verdict *verdict)
{
    struct vd_error error = {0};
    bool was = vd_condition_is_true(object, VD_SLICE("Established"));
    if (!was && !verdict->accepted) {
        set_condition(ds, a, object, "Established", false, VD_SLICE("NotAccepted"),
                      VD_SLICE("not all names are accepted"));
        return;
    }
    int code = vd_definition_register(ds->controller.env.kinds, object, verdict->names,
                                      seen(ds, event), &error);
    struct vd_slice why = vd_arena_copy(a, vd_slice_of(error.text));
    if (code == VD_ERR_INVALID) {
        vd_definition_unregister(ds->controller.env.kinds, vd_meta_name(object));
        set_condition(ds, a, object, "NonStructuralSchema", true, VD_SLICE("Violations"), why);
    } else {
        vd_condition_remove(object, VD_SLICE("NonStructuralSchema"));
    }
    if (code)
        set_condition(ds, a, object, "Established", false, VD_SLICE("NotAccepted"), why);
    else if (!was)
        set_condition(ds, a, object, "Established", true, VD_SLICE("InitialNamesAccepted"),
                      VD_SLICE("the initial names have been accepted"));
}

static void establish(struct vd_definitions *ds, struct definition *d,
                      struct vd_conditional_batch *batch, const struct vd_event *event,
                      struct vd_json *object)
{
    struct vd_arena *a = vd_conditional_batch_arena(batch);
    const struct vd_json *status = vd_json_get(object, VD_SLICE("status"));
    const struct vd_json *before = status ? vd_json_copy(a, status) : NULL;
    struct vd_name_verdict verdict = vd_name_claims_judge(
        &ds->claims, &d->names, definition_group(d), vd_json_dig(object, "spec", "names", NULL),
        vd_json_dig(object, "status", "acceptedNames", NULL), a);
    d->emptying = EMPTY_NOT;
    d->conflicted = !verdict.accepted;
    set_condition(ds, a, object, "NamesAccepted", verdict.accepted, verdict.reason,
                  verdict.message);
    set_established(ds, a, event, object, &verdict);
    set_approval(ds, a, object);
    vd_json_set(a, vd_json_get(object, VD_SLICE("status")), VD_SLICE("acceptedNames"),
                vd_json_clone(a, verdict.names));
    hold_names(ds, d, verdict.names);
    if (!vd_json_eq(before, vd_json_get(object, VD_SLICE("status"))))
        vd_conditional_batch_replace(batch, event, object);
}

/* ---- terminating ---- */

static void end_scan(struct definition *d)
{
    vd_snapshot_release(&d->snapshot);
    d->snapshot = (struct vd_snapshot){.done = true};
}

static int begin_scan(struct vd_definitions *ds, struct definition *d)
{
    end_scan(d);
    d->emptying = EMPTY_SCANNING;
    d->left = 0;
    d->again = false;
    int code = vd_snapshot_open(&d->snapshot, ds->controller.env.store, definition_name(d),
                                VD_SLICE(""), 0, VD_SLICE(""), NULL);
    d->scan_revision = d->snapshot.revision;
    return code;
}

/* Nothing is left: the finalizer goes, and the definition with its last one. */
static void finish(struct definition *d, struct vd_conditional_batch *batch,
                   const struct vd_event *event, struct vd_json *object)
{
    d->emptying = EMPTY_WAITING;
    d->left = 1; /* itself: other finalizers may keep it */
    if (vd_meta_remove_finalizer(object, VD_FINALIZER_DEFINITION))
        vd_conditional_batch_replace(batch, event, object);
}

/* A piece of the scan. False: it has failed and has to be done again. */
static bool scan(struct definition *d, struct vd_conditional_batch *batch)
{
    size_t n = 0;
    int code = vd_conditional_batch_delete_next(batch, &d->snapshot, &n, NULL);
    d->left += (int64_t)n;
    if (code == VD_ERR_CORRUPT)
        d->left++; /* somebody has to look at it; it keeps the definition until then */
    return !code || code == VD_ERR_CORRUPT;
}

static void empty(struct vd_definitions *ds, struct definition *d,
                  struct vd_conditional_batch *batch, const struct vd_event *event,
                  struct vd_json *object)
{
    d->again |= d->item.code != VD_OK;
    d->item.code = VD_OK;
    if (d->emptying == EMPTY_WAITING && d->left > 0 && !d->again)
        return;
    bool ok = d->emptying == EMPTY_SCANNING || begin_scan(ds, d) == VD_OK;
    if (ok && !d->snapshot.done)
        ok = scan(d, batch);
    if (!ok) {
        d->again = true; /* the window has passed the scan */
        d->emptying = EMPTY_WAITING;
    }
    if (vd_conditional_batch_count(batch)) /* runs again when that is done */
        return;
    bool done = ok && d->snapshot.done;
    if (done && d->left == 0 && !d->again) {
        finish(d, batch, event, object);
        return;
    }
    if (done)
        d->emptying = EMPTY_WAITING;
    if (!done || d->left <= 0 || d->again)
        vd_controller_add(&ds->controller, &d->item);
}

static void terminate(struct vd_definitions *ds, struct definition *d,
                      struct vd_conditional_batch *batch, const struct vd_event *event,
                      struct vd_json *object)
{
    struct vd_error error;
    if (vd_condition_is_true(object, VD_SLICE("Established")) &&
        vd_definition_register(ds->controller.env.kinds, object,
                               vd_json_dig(object, "status", "acceptedNames", NULL),
                               seen(ds, event), &error))
        vd_log_warn("a definition that is being deleted cannot be served", VD_F_ERROR(&error));
    if (vd_meta_has_finalizer(object, VD_FINALIZER_DEFINITION))
        empty(ds, d, batch, event, object);
}

/* ---- the item ---- */

static void definition_free(struct definition *d)
{
    end_scan(d);
    free(d);
}

static void forget(struct vd_definitions *ds, struct definition *d)
{
    d->gone = true;
    vd_definition_unregister(ds->controller.env.kinds, definition_name(d));
    hold_names(ds, d, NULL);
}

static void reconcile(struct vd_controller_item *item)
{
    struct vd_definitions *ds = definitions_of(item);
    struct definition *d = VD_CONTAINER_OF(item, struct definition, item);
    struct vd_key key = {VD_DEFINITIONS, VD_SLICE(""), definition_name(d)};
    struct vd_conditional_batch *batch = vd_conditional_batch_new(&ds->controller, item);
    struct vd_event *event = NULL;
    struct vd_json *object = NULL;
    int code = vd_controller_read(&ds->controller, &key, vd_conditional_batch_arena(batch), &event,
                                  &object);
    d->gone = false;
    if (!code && vd_meta_is_deleting(object))
        terminate(ds, d, batch, event, object);
    else if (!code)
        establish(ds, d, batch, event, object);
    if (!code)
        d->revision = event->revision;
    vd_event_unref(event);
    vd_conditional_batch_send(batch);
    if (code == VD_ERR_NOT_FOUND)
        forget(ds, d);
    tell_waiters(ds, false);
}

static void settled(struct vd_controller_item *item)
{
    struct definition *d = VD_CONTAINER_OF(item, struct definition, item);
    if (!d->gone)
        return;
    vd_hash_map_remove(&definitions_of(item)->all, definition_name(d));
    definition_free(d);
}

static struct definition *open_definition(struct vd_definitions *ds, struct vd_slice name)
{
    struct definition *d = vd_hash_map_get(&ds->all, name);
    if (d)
        return d;
    d = vd_calloc(1, sizeof *d + name.n);
    d->item.reconciler = &ds->reconciler;
    d->snapshot.done = true;
    d->name_len = name.n;
    memcpy(d->name, name.p, name.n);
    vd_hash_map_put(&ds->all, d);
    return d;
}

/* ---- what the informer tells ---- */

/* Names that were accepted before are held before anybody new asks for them. */
static void remember_names(struct vd_definitions *ds, struct definition *d,
                           const struct vd_event *event)
{
    struct vd_arena arena = {0};
    struct vd_json *object = NULL;
    if (event->body && !vd_json_parse(&arena, vd_body_slice(event->body), NULL, &object, NULL))
        vd_name_claims_hold(&ds->claims, &d->names, definition_group(d),
                            vd_json_dig(object, "status", "acceptedNames", NULL));
    vd_arena_release(&arena);
}

/* A definition that has gone unseen finds that out when it is reconciled. */
static void on_synced(struct vd_informer_handler *handler)
{
    struct vd_definitions *ds = VD_CONTAINER_OF(handler, struct vd_definitions, handler);
    size_t at = 0;
    for (struct definition *d; (d = vd_hash_map_next(&ds->all, &at));) {
        d->again = true; /* what was counted may have been missed */
        vd_controller_add(&ds->controller, &d->item);
    }
}

static void on_changed(struct vd_informer_handler *handler, const struct vd_change *change)
{
    struct vd_definitions *ds = VD_CONTAINER_OF(handler, struct vd_definitions, handler);
    const struct vd_event *now = change->now;
    struct vd_slice resource = vd_entry_resource(now->entry);
    if (vd_slice_eq(resource, VD_DEFINITIONS)) {
        struct definition *d = open_definition(ds, vd_entry_name(now->entry));
        if (!vd_informer_is_synced(&ds->controller.informer))
            remember_names(ds, d, now);
        vd_controller_add(&ds->controller, &d->item);
        return;
    }
    struct definition *d = vd_hash_map_get(&ds->all, resource);
    if (!d || d->emptying == EMPTY_NOT || now->revision <= d->scan_revision)
        return;
    d->left -= now->type == VD_EVENT_DELETED;
    d->again |= now->type == VD_EVENT_CREATED;
    if (d->emptying == EMPTY_WAITING && (d->left <= 0 || d->again))
        vd_controller_add(&ds->controller, &d->item);
}

static void on_passed(struct vd_informer_handler *handler, uint64_t revision, bool whole)
{
    (void)revision, (void)whole;
    tell_waiters(VD_CONTAINER_OF(handler, struct vd_definitions, handler), false);
}

/* ---- waiting ---- */

static void arrive(struct vd_task *task)
{
    struct waiter *w = VD_CONTAINER_OF(task, struct waiter, arrive);
    struct vd_definitions *ds = w->definitions;
    if (ds->controller.stopping || is_shown(ds, w)) {
        tell(w);
        return;
    }
    w->next = ds->waiters;
    ds->waiters = w;
    vd_controller_add(&ds->controller, &open_definition(ds, waiter_name(w))->item);
}

void vd_definitions_await(struct vd_definitions *ds, struct vd_slice name, uint64_t revision,
                          struct vd_loop *loop, struct vd_task *task)
{
    struct waiter *w = vd_calloc(1, sizeof *w + name.n);
    w->arrive.run = arrive;
    w->definitions = ds;
    w->revision = revision;
    w->loop = loop;
    w->task = task;
    w->name_len = name.n;
    memcpy(w->name, name.p, name.n);
    vd_loop_post(ds->controller.env.loop, &w->arrive);
}

/* ---- life cycle ---- */

struct vd_definitions *vd_definitions_start(const struct vd_controller_env *env)
{
    static const struct vd_informer_ops ops = {
        .changed = on_changed, .synced = on_synced, .passed = on_passed};
    struct vd_definitions *ds = VD_NEW(struct vd_definitions);
    vd_hash_map_init(&ds->all, definition_name);
    vd_name_claims_init(&ds->claims);
    ds->handler.ops = &ops;
    ds->reconciler = (struct vd_reconciler){reconcile, settled};
    ds->listed = VD_DEFINITIONS;
    vd_controller_init(&ds->controller, env,
                       &(struct vd_controller_options){"definitions", {&ds->listed, 1}});
    vd_informer_add_handler(&ds->controller.informer, &ds->handler);
    vd_controller_start(&ds->controller);
    return ds;
}

void vd_definitions_stop(struct vd_definitions *ds)
{
    size_t at = 0;
    if (!ds)
        return;
    vd_controller_stop(&ds->controller);
    tell_waiters(ds, true);
    for (struct definition *d; (d = vd_hash_map_next(&ds->all, &at));) {
        vd_name_claims_hold(&ds->claims, &d->names, definition_group(d), NULL);
        definition_free(d);
    }
    vd_hash_map_release(&ds->all);
    vd_name_claims_release(&ds->claims);
    free(ds);
}
