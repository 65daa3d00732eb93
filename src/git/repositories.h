/*
 * The repositories of the server: a controller that makes what Repository objects ask for.
 *
 * For each object there is a folder with a bare repository (git/bare_repository.h), whose HEAD is
 * at the default branch. The object says in its conditions how that stands:
 *
 *     Ready    it can be cloned and pushed to
 *     Synced   its refs are those that status.branches records; of a repository that follows a
 *              remote it is written by whoever follows
 *
 * At start, and whenever a push could not move its refs, a repository is *recovered* before it is
 * ready: what interrupted git processes have left is removed, and each branch that the status
 * records is set to its commit. The status is the truth, as it was written together with the
 * objects.
 *
 * A Repository that is deleted has a finalizer. Its objects go first, if its deletionPolicy says
 * so; while it owns some and does not, it waits. Then the folder goes, then the finalizer. Folders
 * that belong to no object are removed once, after the first list.
 *
 * All on the controller's loop, but for vd_repositories_is_ready(). Files are worked on by workers'
 * threads.
 */
#ifndef VD_GIT_REPOSITORIES_H
#define VD_GIT_REPOSITORIES_H

#include "api/controller.h"
#include "git/program.h"

struct vd_repositories;

struct vd_repositories_options {
    struct vd_controller *controller;     /* that has not been started */
    const struct vd_git_program *program; /* NULL: there is no git, and none is ready */
    const char *missing;                  /* then, why; else NULL */
    const char *root;                     /* the folder of the folders */
    /* Whether somebody's git process writes into the folder with this uid: it is left alone then.
     * NULL: nobody's does. */
    bool (*is_used)(void *arg, struct vd_slice uid);
    /* The repository is deleted: who uses it is to end. NULL: nobody does. */
    void (*evict)(void *arg, struct vd_slice uid);
    void (*made)(void *arg, struct vd_slice uid); /* the folder is there; may be NULL */
    void *arg;
};

/* Adds them to the controller. Texts are borrowed. */
struct vd_repositories *vd_repositories_new(const struct vd_repositories_options *options)
    VD_MUST_USE;

/* When the controller has been stopped and its loop has nothing of theirs any more. NULL allowed.
 */
void vd_repositories_free(struct vd_repositories *repositories);

/* Whether the folder of the Repository with this uid can be used. Any thread. */
bool vd_repositories_is_ready(struct vd_repositories *repositories, struct vd_slice namespace,
                              struct vd_slice name, struct vd_slice uid);

/* The refs of the repository are not those of its status, or locks were left behind: it is
 * recovered. */
void vd_repositories_recover(struct vd_repositories *repositories, struct vd_slice namespace,
                             struct vd_slice name);

#endif
