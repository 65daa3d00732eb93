/*
 * What is done to the folders of repositories on a worker's thread, for the controller of
 * repositories: it prepares a job, starts it, and is told on the loop when it is done.
 */
#ifndef VD_GIT_FOLDER_JOB_H
#define VD_GIT_FOLDER_JOB_H

#include "base/arena.h"
#include "base/vec.h"
#include "kinds/uid.h"
#include "net/loop.h"

enum vd_folder_task {
    VD_FOLDER_MAKE,   /* makes it, or brings it up to date */
    VD_FOLDER_REMOVE, /* removes it */
    VD_FOLDER_SWEEP,  /* removes all that are not in `known` */
};

/* What the store records of a branch; an empty commit: there is no such ref. */
struct vd_recorded_ref {
    struct vd_slice ref, commit;
    bool differs; /* the repository has something else */
};

struct vd_folder_job {
    enum vd_folder_task task;
    const char *root; /* borrowed */
    char uid[VD_UID_TEXT_MAX];
    struct vd_slice branch;              /* of MAKE: where HEAD is to be */
    bool cleans;                         /* of MAKE: removes what interrupted processes have left */
    VD_VEC(struct vd_recorded_ref) refs; /* of MAKE: are compared */
    VD_VEC(struct vd_slice) known;       /* of SWEEP: uids */
    size_t removed;                      /* by SWEEP */
    struct vd_error error;               /* what became of it */
    void (*done)(struct vd_folder_job *job);
    struct vd_arena arena; /* for the texts */
    struct vd_work work;
};

/* On the loop. The job must stay where it is until `done`. */
void vd_folder_job_start(struct vd_folder_job *job, struct vd_loop *loop);

/* Frees what a job holds, and leaves an empty one. */
void vd_folder_job_release(struct vd_folder_job *job);

#endif
