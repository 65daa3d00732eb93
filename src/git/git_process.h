/*
 * A run of git for the server itself: git reads or writes a repository, and what it prints is
 * handed on. How it ends becomes an error with git's own words.
 *
 *     vd_git_process_start(p, loop, &place, (const char *[]){"ls-tree", ..., NULL}, &ops, &error);
 *     ...  ops->output(p, bytes)
 *     ...  ops->ended(p, NULL)       once, and last: it has succeeded; else the error
 *
 * On the loop.
 */
#ifndef VD_GIT_GIT_PROCESS_H
#define VD_GIT_GIT_PROCESS_H

#include "base/attributes.h"
#include "base/buf.h"
#include "base/error.h"
#include "git/program.h"
#include "net/process.h"

/* A repository, and where its objects are. Borrowed by whoever is given one. */
struct vd_git_place {
    const struct vd_git_program *program;
    const char *folder;      /* of the bare repository */
    struct vd_slice objects; /* GIT_OBJECT_DIRECTORY, while objects are in quarantine; or empty */
    struct vd_slice alternates; /* GIT_ALTERNATE_OBJECT_DIRECTORIES, likewise */
};

struct vd_git_process;

struct vd_git_process_ops {
    void (*output)(struct vd_git_process *p, struct vd_slice bytes); /* borrowed; may be NULL */
    void (*ended)(struct vd_git_process *p, const struct vd_error *error);
};

struct vd_git_process {
    const struct vd_git_process_ops *ops;
    struct vd_process process;
    /* Private: */
    struct vd_buf errors; /* what it has said on stderr, cut */
    const char *command;  /* "ls-tree" */
    bool stopped;
};

/* Starts `git <arguments>`; the list ends with a NULL. On failure `ended` is not called. */
int vd_git_process_start(struct vd_git_process *p, struct vd_loop *loop,
                         const struct vd_git_place *place, const char *const *arguments,
                         const struct vd_git_process_ops *ops, struct vd_error *error) VD_MUST_USE;

static inline bool vd_git_process_is_running(const struct vd_git_process *p)
{
    return vd_process_is_running(&p->process);
}

/* Kills it: no output comes any more, and `ended` comes with VD_ERR_CLOSED. */
void vd_git_process_stop(struct vd_git_process *p);

#endif
