/*
 * Objects of a repository, read through one `git cat-file --batch-command`.
 *
 *     vd_blobs_start(b, loop, &place, &ops, &error);
 *     vd_blobs_ask(b, name, VD_BLOB_INFO);        an object's name, or "<commit>:<path>"
 *     vd_blobs_ask(b, name, VD_BLOB_CONTENTS);
 *     vd_blobs_flush(b);
 *     ...  ops->answer(b, &answer)                one for each, in the order of the questions
 *     ...  ops->settled(b)                        all were answered: ask more, or close
 *     vd_blobs_close(b);
 *     ...  ops->ended(b, NULL)                    once, and last; an error: git has failed
 *
 * Contents are held one object at a time: who asks for them has asked for their length before, and
 * bounds it. On the loop.
 */
#ifndef VD_GIT_BLOBS_H
#define VD_GIT_BLOBS_H

#include "base/vec.h"
#include "git/git_process.h"
#include "git/object_answer.h"

enum vd_blob_question { VD_BLOB_INFO, VD_BLOB_CONTENTS };

struct vd_blobs;

struct vd_blobs_ops {
    void (*answer)(struct vd_blobs *b, const struct vd_object_answer *answer); /* borrowed */
    void (*settled)(struct vd_blobs *b);
    void (*ended)(struct vd_blobs *b, const struct vd_error *error);
};

struct vd_blobs {
    const struct vd_blobs_ops *ops;
    uint64_t len_max; /* of an object's contents; one that is longer is a failure of git */
    /* Private: */
    struct vd_git_process git;
    struct vd_buf asks; /* not written yet */
    struct vd_buf held; /* the beginning of an answer */
    VD_VEC(uint8_t) questions;
    size_t answered;
    bool closed;
    struct vd_error error;
};

int vd_blobs_start(struct vd_blobs *b, struct vd_loop *loop, const struct vd_git_place *place,
                   const struct vd_blobs_ops *ops, struct vd_error *error) VD_MUST_USE;

/* `name` has no line end. */
void vd_blobs_ask(struct vd_blobs *b, struct vd_slice name, enum vd_blob_question question);

/* Has git answer what was asked. `settled` is called even if nothing was, but not from here. */
void vd_blobs_flush(struct vd_blobs *b);

/* No more questions: git ends, and so does this. From `settled`, or at any time to give up. */
void vd_blobs_close(struct vd_blobs *b);

#endif
