/* See repository_items.h. */
#include "git/repository_items.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/container_of.h"
#include "git/repository.h"

static struct vd_repository_item *of(struct vd_controller_item *item)
{
    return VD_CONTAINER_OF(item, struct vd_repository_item, item);
}

static struct vd_repository_items *owner_of(const struct vd_repository_item *item)
{
    return VD_CONTAINER_OF(item->item.reconciler, struct vd_repository_items, reconciler);
}

static struct vd_slice key_of(const void *item)
{
    return vd_repository_item_key(item);
}

struct vd_slice vd_repository_item_namespace(const struct vd_repository_item *item)
{
    struct vd_slice rest = vd_repository_item_key(item), namespace = VD_SLICE("");
    vd_slice_cut(&rest, '/', &namespace);
    return namespace;
}

struct vd_slice vd_repository_item_name(const struct vd_repository_item *item)
{
    struct vd_slice rest = vd_repository_item_key(item), namespace;
    vd_slice_cut(&rest, '/', &namespace);
    return rest;
}

static void item_free(struct vd_repository_items *items, struct vd_repository_item *item)
{
    if (items->ops->let_go)
        items->ops->let_go(item);
    free(item->key);
    free(item);
}

static void reconcile(struct vd_controller_item *work)
{
    struct vd_repository_item *item = of(work);
    struct vd_repository_items *items = owner_of(item);
    struct vd_key key = {VD_SLICE(VD_REPOSITORY_RESOURCE), vd_repository_item_namespace(item),
                         vd_repository_item_name(item)};
    struct vd_arena arena = {0};
    struct vd_event *event = NULL;
    struct vd_json *object = NULL;
    if (item->is_busy)
        return;
    int code = vd_controller_read(items->controller, &key, &arena, &event, &object);
    item->is_gone = code == VD_ERR_NOT_FOUND;
    if (!code || item->is_gone)
        items->ops->reconcile(items, item, event, object);
    vd_event_unref(event);
    vd_arena_release(&arena);
}

static void settled(struct vd_controller_item *work)
{
    struct vd_repository_item *item = of(work);
    struct vd_repository_items *items = owner_of(item);
    if (!item->is_gone || item->is_busy)
        return;
    vd_hash_map_remove(&items->all, vd_repository_item_key(item));
    item_free(items, item);
}

struct vd_repository_item *vd_repository_items_find(struct vd_repository_items *items,
                                                    struct vd_slice key)
{
    return vd_hash_map_get(&items->all, key);
}

struct vd_repository_item *vd_repository_items_open(struct vd_repository_items *items,
                                                    struct vd_slice key)
{
    struct vd_repository_item *item = vd_repository_items_find(items, key);
    struct vd_buf copy = {0};
    if (item)
        return item;
    item = vd_calloc(1, items->record_len);
    item->item.reconciler = &items->reconciler;
    vd_buf_add_slice(&copy, key);
    item->key = vd_buf_take(&copy, &item->key_len);
    vd_hash_map_put(&items->all, item);
    return item;
}

void vd_repository_items_changed(struct vd_repository_items *items, const struct vd_change *change)
{
    const struct vd_entry *entry = change->now->entry;
    if (vd_slice_eq(vd_entry_resource(entry), VD_SLICE(VD_REPOSITORY_RESOURCE)))
        vd_repository_item_add(items, vd_repository_items_open(items, vd_entry_path(entry)));
}

void vd_repository_items_add_all(struct vd_repository_items *items)
{
    size_t at = 0;
    for (struct vd_repository_item *item; (item = vd_hash_map_next(&items->all, &at));)
        vd_repository_item_add(items, item);
}

void vd_repository_item_add(struct vd_repository_items *items, struct vd_repository_item *item)
{
    if (!items->controller->stopping)
        vd_controller_add(items->controller, &item->item);
}

void vd_repository_item_add_after(struct vd_repository_items *items,
                                  struct vd_repository_item *item, uint64_t delay_ms)
{
    struct vd_controller *c = items->controller;
    if (!c->stopping)
        vd_work_queue_add_after(&c->queue, &item->item.work,
                                vd_clock_mono_ns(c->env.clock) / 1000000, delay_ms);
}

void vd_repository_items_init(struct vd_repository_items *items)
{
    items->reconciler = (struct vd_reconciler){reconcile, settled};
    vd_hash_map_init(&items->all, key_of);
}

void vd_repository_items_release(struct vd_repository_items *items)
{
    size_t at = 0;
    for (struct vd_repository_item *item; (item = vd_hash_map_next(&items->all, &at));)
        item_free(items, item);
    vd_hash_map_release(&items->all);
}
