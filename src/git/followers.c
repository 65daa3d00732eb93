/* See followers.h. What is done for each of them is in follower.h. */
#include "git/followers.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/limits.h"
#include "git/follow_metrics.h"
#include "git/follower.h"
#include "kinds/object_meta.h"
#include "json/parse.h"

enum { READY_MS = 300 }; /* before it is looked again whether the repository is ready */

/* ---- the item ---- */

static void forget(struct vd_follower *w)
{
    w->is_followed = false;
    w->has_outcome = false;
    w->failures = 0;
    w->due_ns = 0;
    w->generation = 0;
    w->good_ms = 0;
    w->reason = NULL;
    vd_buf_release(&w->message);
}

static void tell_oldest(struct vd_followers *f)
{
    size_t at = 0;
    int64_t oldest_ms = 0;
    for (struct vd_repository_item *i; (i = vd_hash_map_next(&f->items.all, &at));) {
        const struct vd_follower *w = vd_follower_of(i);
        if (w->is_followed && w->good_ms && (!oldest_ms || w->good_ms < oldest_ms))
            oldest_ms = w->good_ms;
    }
    vd_follow_tell_oldest(oldest_ms);
}

static void on_granted(struct vd_slot *slot)
{
    struct vd_follower *w = VD_CONTAINER_OF(slot, struct vd_follower, slot);
    w->item.is_busy = false;
    if (w->followers->is_stopped)
        vd_slot_give_back(slot);
    vd_repository_item_add(&w->followers->items, &w->item);
}

/* Takes a slot, or waits for one: until it comes, the item is not reconciled. */
static bool takes_slot(struct vd_follower *w)
{
    struct vd_followers *f = w->followers;
    if (w->slot.state == VD_SLOT_TAKEN)
        return true;
    w->slot.loop = f->options.controller->env.loop;
    w->slot.granted = on_granted;
    w->item.is_busy = vd_slot_take(&f->slots, &w->slot, vd_repository_item_namespace(&w->item)) !=
                      VD_SLOT_NOW;
    return !w->item.is_busy;
}

/* It does not wait for a slot any more. One that is about to come is given back when it has. */
static void stop_waiting(struct vd_follower *w)
{
    if (w->slot.state == VD_SLOT_WAITING && vd_slot_cancel(&w->slot)) {
        w->item.is_busy = false;
        vd_repository_item_add(&w->followers->items, &w->item);
    }
}

static void proceed(struct vd_follower *w, const struct vd_repository *repository)
{
    struct vd_followers *f = w->followers;
    uint64_t now_ns = vd_follower_now_ns(f);
    if (w->generation && w->generation != repository->generation)
        w->due_ns = 0, w->failures = 0;
    bool is_due = !f->is_stopped && now_ns >= w->due_ns;
    bool is_ready = is_due &&
                    vd_repositories_is_ready(f->options.repositories, repository->namespace,
                                             repository->name, vd_slice_of(repository->uid));
    if (!is_ready)
        vd_slot_give_back(&w->slot);
    if (f->is_stopped)
        return;
    if (!is_due)
        vd_repository_item_add_after(&f->items, &w->item, (w->due_ns - now_ns) / 1000000 + 1);
    else if (!is_ready)
        vd_repository_item_add_after(&f->items, &w->item, READY_MS);
    else if (takes_slot(w))
        vd_follower_fetch(w, repository);
}

static void reconcile(struct vd_repository_items *items, struct vd_repository_item *item,
                      const struct vd_event *event, struct vd_json *object)
{
    struct vd_follower *w = vd_follower_of(item);
    struct vd_repository repository;
    struct vd_error error;
    w->followers = VD_CONTAINER_OF(items, struct vd_followers, items);
    bool follows = object && !vd_repository_read(&repository, object, &error) &&
                   repository.remote && !repository.is_deleting;
    if (!follows)
        vd_slot_give_back(&w->slot);
    if (!follows && w->is_followed)
        forget(w);
    w->is_followed = follows;
    tell_oldest(w->followers);
    if (!follows || (w->has_outcome && vd_follower_write_outcome(w, event, object)))
        return;
    w->has_outcome = false;
    proceed(w, &repository);
}

static void release(struct vd_repository_item *item)
{
    struct vd_follower *w = vd_follower_of(item);
    vd_slot_give_back(&w->slot);
    vd_buf_release(&w->message);
    vd_arena_release(&w->arena);
    vd_user_unref(w->user);
}

static void give_up(struct vd_follower *w)
{
    w->is_given_up = true;
    if (w->is_fetching)
        vd_fetch_stop(&w->fetch);
    else
        vd_sync_stop(&w->sync);
}

/* A fetch may take long, and so may waiting for its turn. The fetch is stopped when it is for a
 * spec that does not hold any more; the spec of one that waits is read when its turn comes. */
static void look_at_busy(struct vd_follower *w, const struct vd_event *event)
{
    struct vd_arena arena = {0};
    struct vd_json *object;
    bool is_gone = event->type == VD_EVENT_DELETED || !event->body ||
                   vd_json_parse_copy(&arena, vd_body_slice(event->body), NULL, &object, NULL) ||
                   vd_meta_is_deleting(object);
    if (w->is_fetching && (is_gone || vd_meta_generation(object) != w->generation))
        give_up(w);
    else if (is_gone)
        stop_waiting(w);
    vd_arena_release(&arena);
}

static void on_changed(struct vd_informer_handler *handler, const struct vd_change *change)
{
    struct vd_followers *f = VD_CONTAINER_OF(handler, struct vd_followers, handler);
    const struct vd_entry *entry = change->now->entry;
    vd_repository_items_changed(&f->items, change);
    if (!vd_slice_eq(vd_entry_resource(entry), VD_SLICE(VD_REPOSITORY_RESOURCE)))
        return;
    struct vd_repository_item *item = vd_repository_items_find(&f->items, vd_entry_path(entry));
    if (item && item->is_busy)
        look_at_busy(vd_follower_of(item), change->now);
}

/* ---- haste ---- */

struct haste {
    struct vd_task task;
    struct vd_followers *followers;
    struct vd_buf key;
};

static void on_haste(struct vd_task *task)
{
    struct haste *h = VD_CONTAINER_OF(task, struct haste, task);
    struct vd_followers *f = h->followers;
    struct vd_repository_item *item = vd_repository_items_find(&f->items, vd_buf_slice(&h->key));
    if (item && vd_follower_of(item)->is_followed) {
        vd_follower_of(item)->hurries = true;
        vd_follower_hurry(vd_follower_of(item));
        vd_repository_item_add(&f->items, item);
    }
    vd_buf_release(&h->key);
    free(h);
}

void vd_followers_hurry(struct vd_followers *f, struct vd_slice key)
{
    struct haste *h = VD_NEW(struct haste);
    h->task.run = on_haste;
    h->followers = f;
    vd_buf_add_slice(&h->key, key);
    vd_loop_post(f->options.controller->env.loop, &h->task);
}

/* ---- life ---- */

struct vd_followers *vd_followers_new(const struct vd_followers_options *options)
{
    static const struct vd_informer_ops informer_ops = {.changed = on_changed};
    static const struct vd_repository_items_ops ops = {reconcile, release};
    struct vd_followers *f = VD_NEW(struct vd_followers);
    f->options = *options;
    f->items.controller = options->controller;
    f->items.ops = &ops;
    f->items.record_len = sizeof(struct vd_follower);
    vd_repository_items_init(&f->items);
    vd_process_slots_init(&f->slots,
                          &(struct vd_slot_limits){.max = VD_GIT_FETCHES_MAX,
                                                   .user_max = VD_GIT_NAMESPACE_FETCHES_MAX,
                                                   .waiting_max = SIZE_MAX,
                                                   .user_waiting_max = SIZE_MAX},
                          NULL);
    f->handler.ops = &informer_ops;
    vd_informer_add_handler(&options->controller->informer, &f->handler);
    return f;
}

void vd_followers_stop(struct vd_followers *f)
{
    size_t at = 0;
    f->is_stopped = true;
    for (struct vd_repository_item *item; (item = vd_hash_map_next(&f->items.all, &at));) {
        struct vd_follower *w = vd_follower_of(item);
        if (w->slot.state == VD_SLOT_WAITING)
            stop_waiting(w);
        else if (item->is_busy && w->slot.state != VD_SLOT_GRANTED)
            give_up(w);
    }
}

void vd_followers_free(struct vd_followers *f)
{
    if (!f)
        return;
    vd_repository_items_release(&f->items);
    vd_process_slots_release(&f->slots);
    free(f);
}
