/*
 * What the files of the controller of repositories share (git/repositories.h). There is one
 * `struct vd_hosted` for each Repository, with an item that brings its folder and its status to
 * what the object asks for, one step at a time. A step that takes a worker or a git process sets
 * `is_busy`; when it is done, the item is added again.
 *
 *     repositories.c        all of them: the informer, folders of nobody, what others ask
 *     hosted_repository.c   one of them: which step is next
 *     hosted_folder.c       its folder and refs
 *     hosted_deletion.c     how it goes
 *     hosted_status.c       what its conditions say
 *
 * All on the controller's loop.
 */
#ifndef VD_GIT_HOSTED_REPOSITORY_H
#define VD_GIT_HOSTED_REPOSITORY_H

#include <pthread.h>

#include "api/conditional_batch.h"
#include "base/container_of.h"
#include "base/hash_map.h"
#include "git/folder_job.h"
#include "git/owned_objects.h"
#include "git/ref_update.h"
#include "git/repositories.h"
#include "git/repository.h"

enum {
    VD_HOSTED_RETRY_MS = 5000, /* before what has failed is tried again */
    VD_HOSTED_USED_MS = 200    /* before it is looked again whether a push is over */
};

struct vd_hosted {
    struct vd_controller_item item;
    struct vd_folder_job job;
    struct vd_ref_update update;
    struct vd_owned_objects owned;
    struct vd_error error;     /* why the last step has failed; code 0: it has not */
    char uid[VD_UID_TEXT_MAX]; /* whose folder all of this is about; "": none yet */
    char *branch;              /* where HEAD is; NULL: not known */
    bool is_busy;              /* a worker or a git process is at work */
    bool is_told;              /* the failure has been reported, and it is waited */
    bool is_made, is_cleaned, is_recovered;
    bool is_emptied, is_removed; /* while it is being deleted */
    bool is_ready;               /* under the lock */
    bool is_gone;                /* the store has no such object, and no folder is left */
    size_t key_len;
    char key[]; /* "namespace/name" */
};

struct vd_repositories {
    struct vd_repositories_options options;
    struct vd_informer_handler handler;
    struct vd_reconciler reconciler;
    struct vd_folder_job sweep;
    bool is_sweeping, is_swept;
    bool is_incomplete;     /* a Repository cannot be read: nobody knows whose folders there are */
    pthread_mutex_t lock;   /* guards `all` against readers on other loops, and is_ready */
    struct vd_hash_map all; /* by key; changed by the controller's loop alone */
};

static inline struct vd_slice vd_hosted_key(const struct vd_hosted *h)
{
    return vd_slice(h->key, h->key_len);
}

static inline struct vd_repositories *vd_hosted_owner(const struct vd_hosted *h)
{
    return VD_CONTAINER_OF(h->item.reconciler, struct vd_repositories, reconciler);
}

static inline struct vd_controller *vd_hosted_controller(const struct vd_hosted *h)
{
    return vd_hosted_owner(h)->options.controller;
}

/* ---- hosted_repository.c ---- */

struct vd_hosted *vd_hosted_new(struct vd_repositories *r, struct vd_slice key) VD_MUST_USE;
void vd_hosted_free(struct vd_hosted *h);

void vd_hosted_set_ready(struct vd_hosted *h, bool ready);

/* Has it reconciled, now or after a while. A controller that stops takes no items. */
void vd_hosted_add(struct vd_hosted *h);
void vd_hosted_add_after(struct vd_hosted *h, uint64_t delay_ms);

/* Nothing is known of a folder any more. */
void vd_hosted_reset(struct vd_hosted *h);

void vd_hosted_reconcile(struct vd_controller_item *item);

/* ---- hosted_status.c ---- */

struct vd_hosted_state {
    bool ready, synced;
    bool knows_synced; /* else that condition is left as it is */
    const char *reason, *message;
};

/* Writes the conditions, if that is not what the object says already. */
void vd_hosted_report(struct vd_hosted *h, const struct vd_event *event,
                      const struct vd_json *object, const struct vd_hosted_state *what);

/* It is neither ready nor known to be synced. */
void vd_hosted_report_failure(struct vd_hosted *h, const struct vd_event *event,
                              const struct vd_json *object, const char *reason,
                              const char *message);

/* ---- hosted_folder.c ---- */

/* Whether somebody's git process writes into the folder. */
bool vd_hosted_is_used(const struct vd_hosted *h);

/* Of one whose folder is to go. True: somebody works in it still, who was told to end; it is looked
 * again after a while. */
bool vd_hosted_must_wait(struct vd_hosted *h);

/* Makes the folder, or brings it up to date with the object: HEAD, and refs if they have to be
 * recovered. */
void vd_hosted_make_folder(struct vd_hosted *h, const struct vd_repository *repository);

/* Removes it. A removal that has failed is tried again after a while. */
void vd_hosted_remove_folder(struct vd_hosted *h);

/* ---- hosted_deletion.c ---- */

/* The next step of one whose object is being deleted: its objects go, its folder, its finalizer. */
void vd_hosted_delete_step(struct vd_hosted *h, const struct vd_repository *repository,
                           const struct vd_event *event, struct vd_json *object);

#endif
