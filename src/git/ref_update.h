/*
 * Moves refs of a repository, all or none, by one `git update-ref --stdin`.
 *
 *     vd_ref_update_init(&u, program);
 *     vd_ref_update_add(&u, VD_SLICE("refs/heads/main"), commit);
 *     vd_ref_update_start(&u, loop, folder, &error)        `done` follows if it returned VD_OK
 *     vd_ref_update_release(&u);                           in `done`, or later
 *
 * Git itself checks that the objects exist. What a ref was before does not matter: the store has
 * decided what it is to be. All on the loop's thread.
 */
#ifndef VD_GIT_REF_UPDATE_H
#define VD_GIT_REF_UPDATE_H

#include "base/buf.h"
#include "git/program.h"
#include "net/process.h"

struct vd_ref_update {
    const struct vd_git_program *program;
    void (*done)(struct vd_ref_update *u); /* the caller's; error.code says what became of it */
    void *arg;
    struct vd_error error;
    /* Private: */
    size_t refs_n;
    struct vd_buf input;
    struct vd_buf said; /* on stderr; its beginning */
    struct vd_process process;
};

void vd_ref_update_init(struct vd_ref_update *u, const struct vd_git_program *program);
void vd_ref_update_release(struct vd_ref_update *u);

/* An empty commit deletes the ref. Both texts are valid: they come from nobody but git. */
void vd_ref_update_add(struct vd_ref_update *u, struct vd_slice ref, struct vd_slice commit);

int vd_ref_update_start(struct vd_ref_update *u, struct vd_loop *loop, const char *folder,
                        struct vd_error *error) VD_MUST_USE;

#endif
