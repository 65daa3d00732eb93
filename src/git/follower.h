/*
 * What the files of the followers share (git/followers.h). There is one record for each Repository;
 * at most one fetch or sync of it is under way (`is_busy` of its item). What came of the last one
 * is kept in the record until the status says it.
 *
 *     followers.c          all of them: when each is fetched
 *     follower_fetch.c     the fetch of one, with what its spec says
 *     follower_sync.c      the sync behind it, with the rights of a ServiceAccount
 *     follower_outcome.c   what came of it: the next try, and the status
 *
 * All on the controller's loop.
 */
#ifndef VD_GIT_FOLLOWER_H
#define VD_GIT_FOLLOWER_H

#include "base/container_of.h"
#include "git/fetch.h"
#include "git/followers.h"
#include "git/process_slots.h"
#include "git/repository.h"
#include "git/repository_items.h"
#include "git/sync.h"

struct vd_followers {
    struct vd_followers_options options;
    struct vd_repository_items items;
    struct vd_informer_handler handler;
    struct vd_process_slots slots; /* of fetches; its users are the namespaces */
    bool is_stopped;
};

struct vd_follower {
    struct vd_repository_item item;
    struct vd_followers *followers;
    bool is_followed;   /* it has a remote */
    bool is_fetching;   /* and else syncing, while it is busy */
    bool is_given_up;   /* what is under way was stopped by the server itself */
    int64_t generation; /* of the spec that was last tried */
    uint64_t due_ns;    /* when it is fetched */
    uint64_t begun_ns;  /* when that was last begun */
    bool hurries;       /* somebody has asked for a fetch since that */
    unsigned failures;  /* in a row */
    unsigned gave_way;  /* so many of the last fetches, in a row, to others that waited */
    struct vd_slot slot;
    int64_t good_ms; /* wall clock of the last fetch that has succeeded; 0: none has */
    /* The outcome, until the status says it: */
    bool has_outcome;
    const char *reason; /* NULL: all is well */
    struct vd_buf message;
    /* What is under way: */
    struct vd_arena arena;
    char uid[VD_UID_TEXT_MAX];
    struct vd_slice branch, account;
    uint64_t interval_ms;
    struct vd_folder_use use;
    struct vd_fetch fetch;
    struct vd_user *user;
    struct vd_sync sync;
};

static inline struct vd_follower *vd_follower_of(struct vd_repository_item *item)
{
    return VD_CONTAINER_OF(item, struct vd_follower, item);
}

static inline uint64_t vd_follower_now_ns(const struct vd_followers *f)
{
    return vd_clock_mono_ns(f->options.controller->env.clock);
}

/* ---- follower_fetch.c ---- */

/* Fetches the remote that the Repository names, and then syncs its objects, if the store does not
 * have the remote's commit already. */
void vd_follower_fetch(struct vd_follower *w, const struct vd_repository *repository);

/* ---- follower_sync.c ---- */

/* The commit that was fetched becomes objects. */
void vd_follower_sync(struct vd_follower *w);

/* ---- follower_outcome.c ---- */

/* It is fetched as soon as it may. */
void vd_follower_hurry(struct vd_follower *w);

/* Nothing is under way any more: it is fetched after the pause. */
void vd_follower_rest(struct vd_follower *w, uint64_t pause_ms);

/* It has failed for this reason, which is that of the condition Synced; w->message says more. */
void vd_follower_fail(struct vd_follower *w, const char *reason);

void vd_follower_succeed(struct vd_follower *w);

/* Writes the outcome to the Repository's status. True: it was sent. */
bool vd_follower_write_outcome(struct vd_follower *w, const struct vd_event *event,
                               const struct vd_json *object);

#endif
