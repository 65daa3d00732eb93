/*
 * See drift.h. There is one `struct vd_overridden` for each such object, found by what the store
 * calls it, and one item for each Repository, which writes the status.
 *
 * Nearly all objects are not overridden: a change of one costs a search for the annotation's name
 * in its bytes, and a look into a table that is nearly always empty.
 */
#include "git/drift.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/container_of.h"
#include "git/drift_status.h"
#include "git/follow_metrics.h"
#include "git/repository_items.h"
#include "kinds/condition.h"
#include "kinds/git_ownership.h"
#include "kinds/object_meta.h"
#include "kinds/uid.h"
#include "json/parse.h"

/* The Event about an override that was told of last: the object itself comes next. */
struct last_event {
    struct vd_uid object;
    char *user; /* NULL: there is none */
};

struct vd_drift {
    struct vd_repository_items items;
    struct vd_informer_handler handler;
    struct vd_hash_map objects;
    struct last_event last;
    uint64_t lists;
    bool is_synced;
};

static struct vd_slice overridden_key(const void *item)
{
    return vd_overridden_key(item);
}

static void overridden_free(struct vd_overridden *o)
{
    free(o->key);
    free(o->repository);
    free(o->user);
    free(o);
}

static char *text_of(struct vd_slice text)
{
    struct vd_buf copy = {0};
    vd_buf_add_slice(&copy, text);
    return vd_buf_take(&copy, NULL);
}

static void add_repository(struct vd_drift *d, const char *key)
{
    struct vd_slice text = vd_slice_of(key);
    if (memchr(text.p, '/', text.n))
        vd_repository_item_add(&d->items, vd_repository_items_open(&d->items, text));
}

/* ---- the objects ---- */

static void remove_object(struct vd_drift *d, struct vd_overridden *o)
{
    vd_hash_map_remove(&d->objects, overridden_key(o));
    vd_follow_tell_drifted(vd_hash_map_count(&d->objects));
    add_repository(d, o->repository);
    overridden_free(o);
}

static void write_key(struct vd_buf *out, const struct vd_entry *entry)
{
    vd_buf_add_slice(out, vd_entry_resource(entry));
    vd_buf_add_char(out, '/');
    vd_buf_add_slice(out, vd_entry_path(entry));
}

static struct vd_overridden *find_object(struct vd_drift *d, const struct vd_entry *entry)
{
    struct vd_buf key = {0};
    if (!vd_hash_map_count(&d->objects))
        return NULL;
    write_key(&key, entry);
    struct vd_overridden *o = vd_hash_map_get(&d->objects, vd_buf_slice(&key));
    vd_buf_release(&key);
    return o;
}

static struct vd_overridden *new_object(const struct vd_entry *entry, struct vd_slice repository)
{
    struct vd_overridden *o = VD_NEW(struct vd_overridden);
    struct vd_buf key = {0};
    write_key(&key, entry);
    o->key = vd_buf_take(&key, &o->key_len);
    o->resource = vd_slice(o->key, vd_entry_resource(entry).n);
    o->path = vd_slice_from(vd_slice(o->key, o->key_len), o->resource.n + 1);
    o->repository = text_of(repository);
    return o;
}

static void put_object(struct vd_drift *d, const struct vd_event *event, struct vd_slice repository)
{
    struct vd_overridden *o = find_object(d, event->entry);
    if (o && !vd_slice_is(repository, o->repository)) {
        remove_object(d, o);
        o = NULL;
    }
    if (!o) {
        o = new_object(event->entry, repository);
        vd_hash_map_put(&d->objects, o);
        vd_follow_tell_drifted(vd_hash_map_count(&d->objects));
        o->time_ms = event->time_ms;
    }
    if (d->last.user && vd_uid_eq(d->last.object, event->uid)) {
        free(o->user);
        o->user = d->last.user;
        o->time_ms = event->time_ms;
        d->last.user = NULL;
    }
    o->list = d->lists;
    add_repository(d, o->repository);
}

/* Whether the text stands in the object's bytes. */
static bool has_text(const struct vd_event *event, const char *text)
{
    return event->body && memmem(event->body->bytes, event->body->len, text, strlen(text));
}

/* The repository of an object that was overridden, in the arena. */
static bool is_overridden(const struct vd_event *event, struct vd_arena *arena,
                          struct vd_slice *repository)
{
    struct vd_json *object;
    struct vd_slice reason;
    if (event->type == VD_EVENT_DELETED || !has_text(event, VD_GIT_OVERRIDE) ||
        vd_json_parse_copy(arena, vd_body_slice(event->body), NULL, &object, NULL))
        return false;
    return vd_meta_annotation(object, VD_SLICE(VD_GIT_OVERRIDE), &reason) &&
           vd_meta_annotation(object, VD_SLICE(VD_GIT_REPOSITORY), repository);
}

static void forget_event(struct vd_drift *d)
{
    free(d->last.user);
    d->last.user = NULL;
}

/* api/write/override.c proposes such an Event right before the object, in one batch: an Event that
 * somebody has written alone does not count. */
static void note_event(struct vd_drift *d, const struct vd_event *event)
{
    struct vd_arena arena = {0};
    struct vd_json *object;
    struct vd_slice user;
    forget_event(d);
    if (event->more && has_text(event, VD_GIT_OVERRIDE_USER) &&
        !vd_json_parse_copy(&arena, vd_body_slice(event->body), NULL, &object, NULL) &&
        vd_meta_annotation(object, VD_SLICE(VD_GIT_OVERRIDE_USER), &user) &&
        vd_uid_parse(vd_json_text(vd_json_dig(object, "involvedObject", "uid", NULL)),
                     &d->last.object))
        d->last.user = text_of(user);
    vd_arena_release(&arena);
}

/* ---- what the informer tells ---- */

static void on_changed(struct vd_informer_handler *handler, const struct vd_change *change)
{
    struct vd_drift *d = VD_CONTAINER_OF(handler, struct vd_drift, handler);
    const struct vd_event *event = change->now;
    struct vd_arena arena = {0};
    struct vd_slice repository;
    if (vd_slice_is(vd_entry_resource(event->entry), "events")) {
        note_event(d, event);
        return;
    }
    vd_repository_items_changed(&d->items, change);
    if (is_overridden(event, &arena, &repository)) {
        put_object(d, event, repository);
    } else {
        struct vd_overridden *o = find_object(d, event->entry);
        if (o)
            remove_object(d, o);
    }
    forget_event(d);
    vd_arena_release(&arena);
}

static void on_listing(struct vd_informer_handler *handler)
{
    struct vd_drift *d = VD_CONTAINER_OF(handler, struct vd_drift, handler);
    d->lists++;
    d->is_synced = false;
}

static void on_synced(struct vd_informer_handler *handler)
{
    struct vd_drift *d = VD_CONTAINER_OF(handler, struct vd_drift, handler);
    VD_VEC(struct vd_overridden *) missed = {0};
    size_t at = 0;
    for (struct vd_overridden *o; (o = vd_hash_map_next(&d->objects, &at));)
        if (o->list != d->lists)
            *VD_VEC_PUSH(&missed) = o;
    for (size_t i = 0; i < missed.n; i++)
        remove_object(d, missed.p[i]);
    VD_VEC_RELEASE(&missed);
    d->is_synced = true;
    vd_repository_items_add_all(&d->items);
}

/* ---- the item ---- */

/* A Repository that has never drifted has no such condition. */
static void reconcile(struct vd_repository_items *items, struct vd_repository_item *item,
                      const struct vd_event *event, struct vd_json *object)
{
    struct vd_drift *d = VD_CONTAINER_OF(items, struct vd_drift, items);
    struct vd_overridden_list list = {0};
    size_t at = 0;
    if (!object || !d->is_synced)
        return;
    for (struct vd_overridden *o; (o = vd_hash_map_next(&d->objects, &at));)
        if (vd_slice_is(vd_repository_item_key(item), o->repository))
            *VD_VEC_PUSH(&list) = o;
    if (list.n || vd_condition_is_true(object, VD_SLICE("Drifted")))
        vd_drift_write_status(d->items.controller, item, event, object, &list);
    VD_VEC_RELEASE(&list);
}

/* ---- life ---- */

struct vd_drift *vd_drift_new(struct vd_controller *controller)
{
    static const struct vd_informer_ops informer_ops = {
        .listing = on_listing, .changed = on_changed, .synced = on_synced};
    static const struct vd_repository_items_ops ops = {.reconcile = reconcile};
    struct vd_drift *d = VD_NEW(struct vd_drift);
    d->items.controller = controller;
    d->items.ops = &ops;
    d->items.record_len = sizeof(struct vd_repository_item);
    vd_repository_items_init(&d->items);
    vd_hash_map_init(&d->objects, overridden_key);
    vd_follow_metrics_register();
    d->handler.ops = &informer_ops;
    vd_informer_add_handler(&controller->informer, &d->handler);
    return d;
}

void vd_drift_free(struct vd_drift *d)
{
    size_t at = 0;
    if (!d)
        return;
    for (struct vd_overridden *o; (o = vd_hash_map_next(&d->objects, &at));)
        overridden_free(o);
    vd_hash_map_release(&d->objects);
    vd_repository_items_release(&d->items);
    forget_event(d);
    free(d);
}
