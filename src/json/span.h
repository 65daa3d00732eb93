/*
 * Values inside the bytes of a document, found without building one.
 *
 * For bytes that Vedette wrote itself: bodies in the store, of which a face
 * wants the name, the labels or the spec. The bytes are not validated: of
 * garbage the functions find nothing or something, but they never read
 * outside it. Of members with the same key the first one is found.
 *
 *     struct vd_span_cursor c;
 *     vd_span_open(&c, labels);
 *     while (vd_span_next(&c, &key, &value)) ...
 */
#ifndef VD_JSON_SPAN_H
#define VD_JSON_SPAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "base/slice.h"

/* A place between the members of an object or the elements of an array. */
struct vd_span_cursor {
    const char *at;
    const char *end;
    bool object;
    bool broken; /* the bytes turned out to be no JSON */
};

/* Starts at the first child of the object or array that `value` is. If it is
 * neither, there are no children. */
void vd_span_open(struct vd_span_cursor *c, struct vd_slice value);

/*
 * The next child; false when there is none, or when the bytes are broken. The
 * slices lie in the bytes: `value` is the whole value, with its quotes if it
 * is a string; `key` is what stands between the quotes, raw (empty in arrays).
 */
bool vd_span_next(struct vd_span_cursor *c, struct vd_slice *key, struct vd_slice *value);

/* The value that the keys (decoded, like those of a document) lead to. */
bool vd_span_find(struct vd_slice json, const struct vd_slice *keys, size_t n,
                  struct vd_slice *value) VD_MUST_USE;

/* vd_span_find for the member `key` of the object `json`. */
bool vd_span_get(struct vd_slice json, struct vd_slice key, struct vd_slice *value) VD_MUST_USE;

/* The bytes from the value of the member `key` on, to the end of `json`. This does not look for
 * the end of the value, which is not needed to look into it. */
bool vd_span_seek(struct vd_slice json, struct vd_slice key, struct vd_slice *rest) VD_MUST_USE;

/* Does the raw key spell `key`? */
bool vd_span_key_is(struct vd_slice raw, struct vd_slice key);

/* Decodes what stands between quotes. Without escapes the result is `raw`
 * itself; else it comes from the arena. False: an escape is malformed. */
bool vd_span_decode(struct vd_arena *a, struct vd_slice raw, struct vd_slice *out) VD_MUST_USE;

/* The text of a value that is a string; false if it is none. */
bool vd_span_text(struct vd_arena *a, struct vd_slice value, struct vd_slice *out) VD_MUST_USE;

#endif
