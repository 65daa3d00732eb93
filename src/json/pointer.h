/*
 * JSON pointers (RFC 6901): "/spec/containers/0/image", "" for the document.
 */
#ifndef VD_JSON_POINTER_H
#define VD_JSON_POINTER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/slice.h"
#include "json/document.h"

/* A pointer taken apart. The tokens are decoded, borrowed from the text or
 * from the arena that vd_pointer_parse was given. */
struct vd_pointer {
    struct vd_slice text;
    struct vd_slice *tokens;
    size_t n;
};

/* VD_ERR_INVALID if the text is neither empty nor starts with '/', or has a
 * '~' that is not "~0" or "~1"; VD_ERR_LIMIT if it has more parts than a
 * document has levels. */
int vd_pointer_parse(struct vd_arena *a, struct vd_slice text, struct vd_pointer *out,
                     struct vd_error *error) VD_MUST_USE;

/* The value the first `n` tokens lead to from `v`, or NULL. */
struct vd_json *vd_pointer_walk(const struct vd_pointer *pointer, size_t n, struct vd_json *v);

/* The child of `v` that a token names, or NULL. */
struct vd_json *vd_pointer_step(const struct vd_json *v, struct vd_slice token);

/* Is the token an index, "0" or digits without a leading zero? "-" is none. */
bool vd_pointer_index(struct vd_slice token, size_t *index) VD_MUST_USE;

/* Adds "/" and the key in its escaped form: for making pointers. */
void vd_pointer_add(struct vd_buf *out, struct vd_slice key);

/* The value that the text points to, or NULL if there is none or the text is no
 * pointer. `v` is the whole document. */
struct vd_json *vd_json_point(struct vd_json *v, struct vd_slice text);

#endif
