/*
 * See garbage.h. The index (ownership.h) says whom a change may concern; what is
 * then done is decided on what the store says, and holds only if that is still so.
 *
 * An object is looked at when it comes, when its owners change, and when an owner
 * goes or begins to wait for it. An owner that waits is looked at when it begins to
 * and whenever a reference to it goes.
 */
#include "server/garbage.h"

#include <stdlib.h>

#include "api/conditional_batch.h"
#include "base/alloc.h"
#include "base/container_of.h"
#include "kinds/admission.h"
#include "kinds/deletion.h"
#include "kinds/object_meta.h"
#include "kinds/uid.h"
#include "server/ownership.h"
#include "json/parse.h"

enum { ORPHANS = 64 }; /* dependents that are freed of their owner by one batch */

struct vd_garbage {
    struct vd_controller *controller;
    struct vd_informer_handler handler;
    struct vd_reconciler owners, dependents;
    struct vd_ownership ownership;
};

/* ---- is it garbage? ---- */

enum standing {
    OWNER_SOLID,   /* it is there, or nobody can say */
    OWNER_GONE,    /* it is not there */
    OWNER_WAITING, /* it is being deleted and waits for its dependents */
};

static bool is_waiting_for(const struct vd_json *object, struct vd_slice finalizer)
{
    return vd_meta_is_deleting(object) && vd_meta_has_finalizer(object, finalizer);
}

static bool mentions(const struct vd_event *event, const char *text)
{
    return memmem(event->body->bytes, event->body->len, text, strlen(text)) != NULL;
}

/* That the owner waits counts once the index has seen it, and with it everything that
 * came before: its dependents are looked at again then. */
static enum standing look_up(struct vd_garbage *g, const struct vd_key *key, struct vd_uid uid)
{
    const struct vd_owner_node *node = vd_ownership_owner(&g->ownership, uid);
    struct vd_event *event = NULL;
    struct vd_arena arena = {0};
    struct vd_json *object = NULL;
    enum standing standing = OWNER_SOLID;
    int code = vd_controller_read(g->controller, key, NULL, &event, NULL);
    if (code)
        return code == VD_ERR_NOT_FOUND ? OWNER_GONE : OWNER_SOLID;
    if (!vd_uid_eq(event->uid, uid))
        standing = OWNER_GONE;
    else if (node && node->waiting &&
             vd_json_parse(&arena, vd_body_slice(event->body), NULL, &object, NULL) == VD_OK &&
             is_waiting_for(object, VD_FINALIZER_FOREGROUND))
        standing = OWNER_WAITING;
    vd_arena_release(&arena);
    vd_event_unref(event);
    return standing;
}

/* How the owner of an object in `namespace` stands. */
static enum standing judge_owner(struct vd_garbage *g, const struct vd_kind_set *kinds,
                                 struct vd_slice namespace, const struct vd_json *item)
{
    struct vd_owner owner = vd_owner_read(item);
    struct vd_slice version = owner.api_version, group = VD_SLICE("");
    if (!owner.uid.n)
        return OWNER_SOLID;
    struct vd_uid uid = vd_uid_of_text(owner.uid);
    struct vd_owner_node *node = vd_ownership_owner(&g->ownership, uid);
    if (node && node->gone)
        return OWNER_GONE;
    if (version.n && memchr(version.p, '/', version.n))
        vd_slice_cut(&version, '/', &group);
    const struct vd_kind *kind = vd_kind_set_kind(kinds, group, version, owner.kind);
    if (!kind || !kind->stored || (kind->namespaced && !namespace.n))
        return OWNER_SOLID;
    struct vd_key key = {kind->resource, kind->namespaced ? namespace : VD_SLICE(""), owner.name};
    return look_up(g, &key, uid);
}

struct verdict {
    size_t solid, gone, waiting;
};

/* Judges all owners; those that do not count any more are taken out of the list. */
static struct verdict judge(struct vd_garbage *g, struct vd_slice namespace, struct vd_json *owners)
{
    struct vd_kind_set *kinds = vd_kinds_snapshot(g->controller->env.kinds);
    struct verdict v = {0, 0, 0};
    struct vd_json *before = NULL;
    for (struct vd_json *item = vd_json_first(owners), *next; item; item = next) {
        next = vd_json_next(item);
        enum standing standing = judge_owner(g, kinds, namespace, item);
        v.solid += standing == OWNER_SOLID;
        v.gone += standing == OWNER_GONE;
        v.waiting += standing == OWNER_WAITING;
        if (standing == OWNER_SOLID)
            before = item;
        else
            vd_json_remove_after(owners, before);
    }
    vd_kind_set_unref(kinds);
    return v;
}

/* Whether one of the object's own dependents waits: then they would wait for each
 * other, and this one must not block its owners. */
static bool is_in_a_circle(struct vd_garbage *g, const struct vd_owner_node *node)
{
    for (const struct vd_owner_link *l = node ? node->links : NULL; l; l = l->next) {
        struct vd_event *event = NULL;
        if (vd_controller_read(g->controller, &l->dependent->key.key, NULL, &event, NULL))
            continue;
        struct vd_owner_node *other = vd_ownership_owner(&g->ownership, event->uid);
        vd_event_unref(event);
        if (other && other->waiting)
            return true;
    }
    return false;
}

static void unblock_owners(struct vd_arena *a, const struct vd_json *object)
{
    VD_JSON_EACH (item, vd_meta_owners(object))
        if (vd_json_get(item, VD_SLICE("blockOwnerDeletion")))
            vd_json_set(a, item, VD_SLICE("blockOwnerDeletion"), vd_json_bool(a, false));
}

/* Whoever may write ownerReferences must not be able to delete by them what only a push
 * deletes. */
static bool belongs_to_git(const struct vd_garbage *g, const struct vd_event *event)
{
    struct vd_kind_set *kinds = vd_kinds_snapshot(g->controller->env.kinds);
    const struct vd_kind *kind = vd_kind_set_stored(kinds, vd_entry_resource(event->entry));
    bool belongs = kind && vd_git_owns(kind, vd_body_slice(event->body));
    vd_kind_set_unref(kinds);
    return belongs;
}

/* `object` is as stored, `kept` with the owners that still count. */
static void collect(struct vd_garbage *g, struct vd_conditional_batch *batch,
                    const struct vd_event *event, struct vd_json *object, struct vd_json *kept)
{
    struct vd_json *owners = (struct vd_json *)(uintptr_t)vd_meta_owners(kept);
    struct verdict v = judge(g, vd_entry_namespace(event->entry), owners);
    if (v.gone + v.waiting && (v.solid || belongs_to_git(g, event))) {
        if (!v.solid)
            vd_json_remove(vd_json_get(kept, VD_SLICE("metadata")), VD_SLICE("ownerReferences"));
        vd_conditional_batch_replace(batch, event, kept);
    } else if (!v.solid && v.gone + v.waiting) {
        const struct vd_owner_node *node = vd_ownership_owner(&g->ownership, event->uid);
        bool foreground = v.waiting && node && node->links;
        if (foreground && is_in_a_circle(g, node))
            unblock_owners(vd_conditional_batch_arena(batch), object);
        vd_conditional_batch_delete(batch, event, object,
                                    foreground ? VD_SLICE("Foreground") : VD_SLICE(""));
    }
}

static void reconcile_dependent(struct vd_controller_item *item)
{
    struct vd_garbage *g = VD_CONTAINER_OF(item->reconciler, struct vd_garbage, dependents);
    struct vd_dependent *d = VD_CONTAINER_OF(item, struct vd_dependent, item);
    struct vd_conditional_batch *batch = vd_conditional_batch_new(g->controller, item);
    struct vd_arena *a = vd_conditional_batch_arena(batch);
    struct vd_event *event = NULL;
    struct vd_json *object = NULL;
    int code = vd_controller_read(g->controller, &d->key.key, a, &event, &object);
    if (!code && !vd_meta_is_deleting(object) && vd_json_count(vd_meta_owners(object)))
        collect(g, batch, event, object, vd_json_clone(a, object));
    vd_event_unref(event);
    vd_conditional_batch_send(batch);
    if (code == VD_ERR_NOT_FOUND) /* its deletion is still to come, or was missed */
        vd_ownership_relink(&g->ownership, g->controller, &d->key.key, NULL);
}

static void dependent_settled(struct vd_controller_item *item)
{
    struct vd_garbage *g = VD_CONTAINER_OF(item->reconciler, struct vd_garbage, dependents);
    vd_dependent_settle(&g->ownership, VD_CONTAINER_OF(item, struct vd_dependent, item));
}

/* ---- owners that wait ---- */

static void remove_owner(struct vd_json *object, struct vd_uid uid)
{
    struct vd_json *metadata = vd_json_get(object, VD_SLICE("metadata"));
    struct vd_json *owners = vd_json_get(metadata, VD_SLICE("ownerReferences")), *before = NULL;
    for (struct vd_json *item = vd_json_first(owners), *next; item; item = next) {
        struct vd_uid named;
        next = vd_json_next(item);
        if (vd_uid_parse(vd_owner_read(item).uid, &named) && vd_uid_eq(named, uid))
            vd_json_remove_after(owners, before);
        else
            before = item;
    }
    if (!vd_json_count(owners))
        vd_json_remove(metadata, VD_SLICE("ownerReferences"));
}

/* Takes the owner out of its dependents, some at a time. The index may still have
 * links that the store has no more: they go soon. */
static void orphan(struct vd_garbage *g, struct vd_conditional_batch *batch,
                   const struct vd_owner_node *owner)
{
    struct vd_arena *a = vd_conditional_batch_arena(batch);
    size_t n = 0;
    for (struct vd_owner_link *l = owner->links; l && n < ORPHANS; l = l->next, n++) {
        struct vd_event *event = NULL;
        struct vd_json *object = NULL;
        if (vd_controller_read(g->controller, &l->dependent->key.key, a, &event, &object))
            continue;
        size_t had = vd_json_count(vd_meta_owners(object));
        remove_owner(object, owner->uid);
        if (vd_json_count(vd_meta_owners(object)) < had)
            vd_conditional_batch_replace(batch, event, object);
        vd_event_unref(event);
    }
}

/* What the owner's finalizers ask for. */
static void serve_owner(struct vd_garbage *g, struct vd_conditional_batch *batch,
                        const struct vd_owner_node *owner, const struct vd_event *event,
                        struct vd_json *object)
{
    if (vd_meta_has_finalizer(object, VD_FINALIZER_ORPHAN)) {
        if (owner->links) {
            orphan(g, batch, owner);
            return;
        }
        vd_meta_remove_finalizer(object, VD_FINALIZER_ORPHAN);
        vd_conditional_batch_replace(batch, event, object);
    } else if (owner->blocking == 0) {
        vd_meta_remove_finalizer(object, VD_FINALIZER_FOREGROUND);
        vd_conditional_batch_replace(batch, event, object);
    }
}

static void reconcile_owner(struct vd_controller_item *item)
{
    struct vd_garbage *g = VD_CONTAINER_OF(item->reconciler, struct vd_garbage, owners);
    struct vd_owner_node *owner = VD_CONTAINER_OF(item, struct vd_owner_node, item);
    struct vd_conditional_batch *batch = vd_conditional_batch_new(g->controller, item);
    struct vd_event *event = NULL;
    struct vd_json *object = NULL;
    int code = VD_ERR_NOT_FOUND;
    if (owner->waiting)
        code = vd_controller_read(g->controller, &owner->key.key, vd_conditional_batch_arena(batch),
                                  &event, &object);
    owner->waiting = !code && vd_uid_eq(event->uid, owner->uid) &&
                     (is_waiting_for(object, VD_FINALIZER_FOREGROUND) ||
                      is_waiting_for(object, VD_FINALIZER_ORPHAN));
    if (owner->waiting)
        serve_owner(g, batch, owner, event, object);
    vd_event_unref(event);
    vd_conditional_batch_send(batch);
}

static void owner_settled(struct vd_controller_item *item)
{
    struct vd_garbage *g = VD_CONTAINER_OF(item->reconciler, struct vd_garbage, owners);
    vd_owner_settle(&g->ownership, VD_CONTAINER_OF(item, struct vd_owner_node, item));
}

/* ---- what the informer tells ---- */

static void queue_dependents(struct vd_garbage *g, const struct vd_owner_node *owner)
{
    for (struct vd_owner_link *l = owner->links; l; l = l->next)
        vd_controller_add(g->controller, &l->dependent->item);
}

static void take_deleted(struct vd_garbage *g, const struct vd_event *event,
                         const struct vd_key *key)
{
    vd_ownership_relink(&g->ownership, g->controller, key, NULL);
    struct vd_owner_node *owner = vd_ownership_owner(&g->ownership, event->uid);
    if (!owner)
        return;
    owner->gone = true;
    owner->waiting = false;
    queue_dependents(g, owner);
    vd_owner_settle(&g->ownership, owner);
}

/* The owner begins to wait, or is being looked at once more. */
static void take_waiting(struct vd_garbage *g, const struct vd_event *event,
                         const struct vd_key *key)
{
    struct vd_owner_node *owner = vd_ownership_open_owner(&g->ownership, event->uid);
    vd_owner_name(owner, key);
    if (!owner->waiting)
        queue_dependents(g, owner);
    owner->waiting = true;
    vd_controller_add(g->controller, &owner->item);
}

static void on_changed(struct vd_informer_handler *handler, const struct vd_change *change)
{
    struct vd_garbage *g = VD_CONTAINER_OF(handler, struct vd_garbage, handler);
    const struct vd_event *now = change->now;
    struct vd_key key = {vd_entry_resource(now->entry), vd_entry_namespace(now->entry),
                         vd_entry_name(now->entry)};
    struct vd_arena arena = {0};
    struct vd_json *object = NULL;
    if (!vd_event_is_live(now)) {
        take_deleted(g, now, &key);
        return;
    }
    /* Most objects own nothing and are not owned: they are not even parsed. */
    bool owned = mentions(now, "\"ownerReferences\"");
    bool waits = mentions(now, "\"deletionTimestamp\"");
    struct vd_dependent *d = NULL;
    if (!owned)
        vd_ownership_relink(&g->ownership, g->controller, &key, NULL);
    if ((owned || waits) &&
        vd_json_parse(&arena, vd_body_slice(now->body), NULL, &object, NULL) == VD_OK) {
        if (owned)
            d = vd_ownership_relink(&g->ownership, g->controller, &key, vd_meta_owners(object));
        if (is_waiting_for(object, VD_FINALIZER_FOREGROUND) ||
            is_waiting_for(object, VD_FINALIZER_ORPHAN))
            take_waiting(g, now, &key);
    }
    vd_arena_release(&arena);
    if (d)
        vd_controller_add(g->controller, &d->item);
}

/* What went while nobody looked is found out by looking at everything. */
static void on_synced(struct vd_informer_handler *handler)
{
    struct vd_garbage *g = VD_CONTAINER_OF(handler, struct vd_garbage, handler);
    size_t at = 0;
    for (struct vd_dependent *d; (d = vd_hash_map_next(&g->ownership.dependents, &at));)
        vd_controller_add(g->controller, &d->item);
    at = 0;
    for (struct vd_owner_node *o; (o = vd_hash_map_next(&g->ownership.owners, &at));)
        if (o->waiting)
            vd_controller_add(g->controller, &o->item);
}

/* ---- life cycle ---- */

struct vd_garbage *vd_garbage_new(struct vd_controller *controller)
{
    static const struct vd_informer_ops ops = {.changed = on_changed, .synced = on_synced};
    struct vd_garbage *g = VD_NEW(struct vd_garbage);
    g->controller = controller;
    g->handler.ops = &ops;
    g->owners = (struct vd_reconciler){reconcile_owner, owner_settled};
    g->dependents = (struct vd_reconciler){reconcile_dependent, dependent_settled};
    vd_ownership_init(&g->ownership, &g->owners, &g->dependents);
    vd_informer_add_handler(&controller->informer, &g->handler);
    return g;
}

void vd_garbage_free(struct vd_garbage *g)
{
    if (!g)
        return;
    vd_ownership_release(&g->ownership);
    free(g);
}
