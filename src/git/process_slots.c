/* See process_slots.h. */
#include "git/process_slots.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/container_of.h"

struct vd_slot_user {
    size_t taken, waiting;
    size_t name_len;
    char name[];
};

static struct vd_slice user_name(const void *item)
{
    const struct vd_slot_user *user = item;
    return vd_slice(user->name, user->name_len);
}

static struct vd_slot_user *open_user(struct vd_process_slots *s, struct vd_slice name)
{
    struct vd_slot_user *user = vd_hash_map_get(&s->users, name);
    if (user)
        return user;
    user = vd_calloc(1, sizeof *user + name.n);
    user->name_len = name.n;
    memcpy(user->name, name.p, name.n);
    vd_hash_map_put(&s->users, user);
    return user;
}

static void close_user(struct vd_process_slots *s, struct vd_slot_user *user)
{
    if (user->taken || user->waiting)
        return;
    vd_hash_map_remove(&s->users, user_name(user));
    free(user);
}

static void tell(const struct vd_process_slots *s)
{
    if (s->measure)
        s->measure(s->taken, s->waiting);
}

static bool is_free(const struct vd_process_slots *s, const struct vd_slot_user *user)
{
    return s->taken < s->limits.max && user->taken < s->limits.user_max;
}

static void count_taken(struct vd_slot *slot)
{
    slot->slots->taken++;
    slot->user->taken++;
}

static void queue(struct vd_process_slots *s, struct vd_slot *slot)
{
    slot->state = VD_SLOT_WAITING;
    slot->prev = s->last;
    slot->next = NULL;
    *(s->last ? &s->last->next : &s->first) = slot;
    s->last = slot;
    s->waiting++;
    slot->user->waiting++;
}

static void unqueue(struct vd_process_slots *s, struct vd_slot *slot)
{
    *(slot->prev ? &slot->prev->next : &s->first) = slot->next;
    *(slot->next ? &slot->next->prev : &s->last) = slot->prev;
    slot->prev = slot->next = NULL;
    s->waiting--;
    slot->user->waiting--;
}

static void on_granted(struct vd_task *task)
{
    struct vd_slot *slot = VD_CONTAINER_OF(task, struct vd_slot, task);
    slot->state = VD_SLOT_TAKEN;
    slot->granted(slot);
}

/* Under the lock. */
static void grant_next(struct vd_process_slots *s)
{
    struct vd_slot *slot = NULL;
    for (struct vd_slot *w = s->first; w; w = w->next)
        if (is_free(s, w->user) && (!slot || w->user->taken < slot->user->taken))
            slot = w;
    if (!slot)
        return;
    unqueue(s, slot);
    count_taken(slot);
    slot->state = VD_SLOT_GRANTED;
    slot->task.run = on_granted;
    vd_loop_post(slot->loop, &slot->task);
}

enum vd_slot_result vd_slot_take(struct vd_process_slots *s, struct vd_slot *slot,
                                 struct vd_slice name)
{
    enum vd_slot_result result = VD_SLOT_REFUSED;
    assert(slot->state == VD_SLOT_NONE);
    pthread_mutex_lock(&s->lock);
    slot->slots = s;
    slot->user = open_user(s, name);
    if (is_free(s, slot->user)) {
        count_taken(slot);
        slot->state = VD_SLOT_TAKEN;
        result = VD_SLOT_NOW;
    } else if (s->waiting < s->limits.waiting_max &&
               slot->user->waiting < s->limits.user_waiting_max) {
        queue(s, slot);
        result = VD_SLOT_LATER;
    } else {
        close_user(s, slot->user);
    }
    tell(s);
    pthread_mutex_unlock(&s->lock);
    return result;
}

bool vd_slot_cancel(struct vd_slot *slot)
{
    struct vd_process_slots *s = slot->slots;
    pthread_mutex_lock(&s->lock);
    bool waits = slot->state == VD_SLOT_WAITING;
    if (waits) {
        unqueue(s, slot);
        slot->state = VD_SLOT_NONE;
        close_user(s, slot->user);
        tell(s);
    }
    pthread_mutex_unlock(&s->lock);
    return waits;
}

bool vd_slot_is_wanted(struct vd_slot *slot)
{
    struct vd_process_slots *s = slot->slots;
    bool wanted = false;
    if (slot->state != VD_SLOT_TAKEN)
        return false;
    pthread_mutex_lock(&s->lock);
    for (const struct vd_slot *w = s->first; w && !wanted; w = w->next)
        wanted = w->user == slot->user || w->user->taken < s->limits.user_max;
    pthread_mutex_unlock(&s->lock);
    return wanted;
}

void vd_slot_give_back(struct vd_slot *slot)
{
    struct vd_process_slots *s = slot->slots;
    if (slot->state != VD_SLOT_TAKEN)
        return;
    pthread_mutex_lock(&s->lock);
    s->taken--;
    slot->user->taken--;
    slot->state = VD_SLOT_NONE;
    close_user(s, slot->user);
    grant_next(s);
    if (!s->taken)
        pthread_cond_broadcast(&s->free);
    tell(s);
    pthread_mutex_unlock(&s->lock);
}

void vd_process_slots_init(struct vd_process_slots *s, const struct vd_slot_limits *limits,
                           void (*measure)(size_t taken, size_t waiting))
{
    *s = (struct vd_process_slots){.limits = *limits, .measure = measure};
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->free, NULL);
    vd_hash_map_init(&s->users, user_name);
    tell(s);
}

void vd_process_slots_release(struct vd_process_slots *s)
{
    assert(!s->taken && !s->waiting);
    vd_hash_map_release(&s->users);
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->free);
}

bool vd_process_slots_wait(struct vd_process_slots *s, uint64_t timeout_ms)
{
    int64_t until_ms = vd_clock_wall_ms(vd_clock_system()) + (int64_t)timeout_ms;
    struct timespec until = {.tv_sec = until_ms / 1000, .tv_nsec = until_ms % 1000 * 1000000};
    pthread_mutex_lock(&s->lock);
    while (s->taken && pthread_cond_timedwait(&s->free, &s->lock, &until) == 0)
        ;
    bool good = !s->taken;
    pthread_mutex_unlock(&s->lock);
    return good;
}
