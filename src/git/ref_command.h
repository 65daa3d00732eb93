/*
 * What a push wants of one ref: "<old> <new> <name>", as git's hooks are told.
 *
 * Pure functions; any thread.
 */
#ifndef VD_GIT_REF_COMMAND_H
#define VD_GIT_REF_COMMAND_H

#include <stdbool.h>

#include "base/attributes.h"
#include "base/buf.h"
#include "base/slice.h"

struct vd_ref_command {
    struct vd_slice before; /* the object that the ref has; all zeros: it does not exist */
    struct vd_slice after;  /* the one that it gets; all zeros: it is deleted */
    struct vd_slice ref;    /* "refs/heads/main" */
};

/* Whether the text is the name of an object: 40 or 64 small hexadecimal digits. */
bool vd_object_id_is(struct vd_slice text);

/* Whether it is the name that means no object: zeros only, or nothing at all. */
bool vd_object_id_is_none(struct vd_slice id);

/* False: the text is no command. The slices are in it. A ref's name has no control characters and
 * no spaces: git has refused those. */
bool vd_ref_command_read(struct vd_slice text, struct vd_ref_command *out) VD_MUST_USE;

/* The branch "main" of "refs/heads/main"; false: the ref is no branch. */
bool vd_ref_branch(struct vd_slice ref, struct vd_slice *branch);

bool vd_ref_is_tag(struct vd_slice ref);

/* Adds what `git update-ref --stdin -z` reads to lock all the refs and to compare what they have:
 * "start", one line for each, "prepare". The program then waits for "commit" or "abort". */
void vd_ref_commands_write_prepare(struct vd_buf *out, const struct vd_ref_command *commands,
                                   size_t n);

#endif
