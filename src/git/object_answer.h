/*
 * What `git cat-file --batch-command --buffer` answers: for each "info NAME" one line, for each
 * "contents NAME" the same line, the bytes of the object and a line end.
 *
 *     1111... blob 12\n                     info
 *     1111... blob 12\nhello, world\n       contents
 *     main:README.md missing\n              there is no such object
 *
 * The bytes come in pieces, as a pipe has them; the largest object that was asked for is held in
 * memory once, so whoever asks for contents has asked for their length before.
 */
#ifndef VD_GIT_OBJECT_ANSWER_H
#define VD_GIT_OBJECT_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/slice.h"

struct vd_object_answer {
    bool found;
    struct vd_slice id;       /* empty unless it was found */
    struct vd_slice type;     /* "blob", "tree", "commit", "tag" */
    uint64_t len;             /* of its contents */
    struct vd_slice contents; /* if they were asked for */
};

/* Reads the answer with which the bytes begin. *used is its length, 0 if not all of it is there.
 * The slices are in the bytes. VD_ERR_FORMAT: git does not print this; VD_ERR_LIMIT: the contents
 * are longer than `len_max`. */
int vd_object_answer_read(struct vd_slice bytes, bool contents, uint64_t len_max,
                          struct vd_object_answer *out, size_t *used,
                          struct vd_error *error) VD_MUST_USE;

#endif
