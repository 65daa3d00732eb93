/*
 * One record for each Repository, for a part of the server's controller that looks after all of
 * them: it is made when the informer tells of the Repository, is reconciled with what the store
 * has, and is freed when the store has none.
 *
 * The owner's record begins with a struct vd_repository_item. All on the controller's loop.
 */
#ifndef VD_GIT_REPOSITORY_ITEMS_H
#define VD_GIT_REPOSITORY_ITEMS_H

#include "api/conditional_batch.h"
#include "api/controller.h"
#include "base/hash_map.h"

struct vd_repository_items;

struct vd_repository_item {
    struct vd_controller_item item;
    /* Something is under way for it that is no batch: it is neither reconciled nor freed. Whoever
     * sets it clears it, and adds the item. */
    bool is_busy;
    /* Private: */
    bool is_gone;
    size_t key_len;
    char *key; /* "namespace/name" */
};

struct vd_repository_items_ops {
    /* The newest version, or NULL for both: there is none. */
    void (*reconcile)(struct vd_repository_items *items, struct vd_repository_item *item,
                      const struct vd_event *event, struct vd_json *object);
    void (*let_go)(struct vd_repository_item *item); /* of what the owner has added; may be NULL */
};

struct vd_repository_items {
    struct vd_controller *controller;
    const struct vd_repository_items_ops *ops;
    size_t record_len; /* bytes of the owner's record */
    /* Private: */
    struct vd_reconciler reconciler;
    struct vd_hash_map all; /* by key */
};

/* The owner has set what is not private. */
void vd_repository_items_init(struct vd_repository_items *items);

/* When the controller has stopped. */
void vd_repository_items_release(struct vd_repository_items *items);

/* The record of the Repository "namespace/name", made if there is none; the caller adds it. */
struct vd_repository_item *vd_repository_items_open(struct vd_repository_items *items,
                                                    struct vd_slice key);
/* The same, or NULL. */
struct vd_repository_item *vd_repository_items_find(struct vd_repository_items *items,
                                                    struct vd_slice key);

/* For the informer: adds the item, if the change is one of a Repository. */
void vd_repository_items_changed(struct vd_repository_items *items, const struct vd_change *change);

void vd_repository_items_add_all(struct vd_repository_items *items);

/* Has it reconciled, now or after a while. A controller that stops takes none. */
void vd_repository_item_add(struct vd_repository_items *items, struct vd_repository_item *item);
void vd_repository_item_add_after(struct vd_repository_items *items,
                                  struct vd_repository_item *item, uint64_t delay_ms);

static inline struct vd_slice vd_repository_item_key(const struct vd_repository_item *item)
{
    return vd_slice(item->key, item->key_len);
}

struct vd_slice vd_repository_item_namespace(const struct vd_repository_item *item);
struct vd_slice vd_repository_item_name(const struct vd_repository_item *item);

#endif
