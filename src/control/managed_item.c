/* See managed_internal.h: the keys that a controller knows something about. */
#include <stdlib.h>

#include "base/alloc.h"
#include "control/managed_internal.h"
#include "json/span.h"

struct vd_slice vd_managed_item_namespace(const struct vd_managed_item *item)
{
    return vd_slice(item->path, item->namespace_len);
}

struct vd_slice vd_managed_item_name(const struct vd_managed_item *item)
{
    return vd_slice(item->path + item->namespace_len + 1, item->len - item->namespace_len - 1);
}

struct vd_managed_item *vd_managed_item_find(struct vd_managed *c, struct vd_slice namespace,
                                             struct vd_slice name)
{
    char path[VD_NAMESPACE_LEN_MAX + 1 + VD_NAME_LEN_MAX];
    if (namespace.n + 1 + name.n > sizeof path)
        return NULL;
    memcpy(path, namespace.p, namespace.n);
    path[namespace.n] = '/';
    memcpy(path + namespace.n + 1, name.p, name.n);
    return vd_hash_map_get(&c->items, vd_slice(path, namespace.n + 1 + name.n));
}

struct vd_managed_item *vd_managed_item_get(struct vd_managed *c, struct vd_slice namespace,
                                            struct vd_slice name)
{
    struct vd_managed_item *item = vd_managed_item_find(c, namespace, name);
    if (item)
        return item;
    size_t len = namespace.n + 1 + name.n;
    item = vd_calloc(1, sizeof *item + len);
    item->namespace_len = namespace.n;
    item->len = len;
    memcpy(item->path, namespace.p, namespace.n);
    item->path[namespace.n] = '/';
    memcpy(item->path + namespace.n + 1, name.p, name.n);
    vd_hash_map_put(&c->items, item);
    return item;
}

void vd_managed_item_note(struct vd_managed *c, struct vd_managed_item *item)
{
    if (item->is_dirty || !c->options.ops || !c->options.ops->dirty)
        return; /* or there are no checkpoints */
    item->is_dirty = true;
    *VD_VEC_PUSH(&c->dirty) = item;
    if (c->dirty.n == 1)
        c->options.ops->dirty(c);
}

void vd_managed_item_free(struct vd_managed_item *item)
{
    vd_entry_unref(item->entry);
    free(item);
}

/* Frees the item if nothing is known of it that counts. */
static void settle(struct vd_managed *c, struct vd_managed_item *item)
{
    if (!vd_work_item_is_idle(&item->work) || item->is_parked || item->is_recorded ||
        item->is_dirty)
        return;
    vd_hash_map_remove(&c->items, vd_slice(item->path, item->len));
    vd_managed_item_free(item);
}

void vd_managed_item_finish(struct vd_managed *c, struct vd_managed_item *item)
{
    vd_event_unref(item->object);
    item->object = NULL;
    vd_work_queue_done(&c->queue, &item->work);
    c->ended_ms = vd_managed_now_ms(c);
    bool is_pending = !vd_work_item_is_idle(&item->work);
    if (is_pending != item->is_recorded)
        vd_managed_item_note(c, item);
    settle(c, item);
    vd_managed_post(c);
}

void vd_managed_item_unpark(struct vd_managed *c, struct vd_managed_item *item)
{
    item->is_parked = false;
    c->parked--;
    vd_work_queue_forget(&item->work);
    if (c->options.ops && c->options.ops->unpark)
        c->options.ops->unpark(c, item);
}

int64_t vd_managed_generation(const struct vd_event *object)
{
    static const struct vd_slice path[] = {{"metadata", 8}, {"generation", 10}};
    struct vd_slice text;
    uint64_t generation;
    if (!object || !object->body || !vd_span_find(vd_body_slice(object->body), path, 2, &text) ||
        vd_slice_to_u64(text, &generation) != 0)
        return 0;
    return (int64_t)generation;
}

bool vd_managed_item_is_stale(const struct vd_managed_item *item, const struct vd_event *object,
                              int64_t generation)
{
    if (!object || !vd_uid_eq(object->uid, item->uid))
        return true;
    return generation ? generation != item->generation : object->revision != item->revision;
}

uint64_t vd_managed_take_delta(struct vd_managed *c,
                               void (*each)(void *arg, struct vd_slice namespace,
                                            struct vd_slice name, bool is_pending),
                               void *arg)
{
    for (size_t i = 0; i < c->dirty.n; i++) {
        struct vd_managed_item *item = c->dirty.p[i];
        bool is_pending = !vd_work_item_is_idle(&item->work);
        item->is_dirty = false;
        if (is_pending != item->is_recorded)
            each(arg, vd_managed_item_namespace(item), vd_managed_item_name(item), is_pending);
        item->is_recorded = is_pending;
        settle(c, item);
    }
    c->dirty.n = 0;
    return c->passed;
}
