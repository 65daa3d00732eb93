/*
 * Request targets: path segments and query parameters, decoded.
 *
 * Decoding is strict: a '%' without two hexadecimal digits is an error, and so
 * is an escaped NUL. Segments are decoded after the path is cut at its slashes,
 * so an escape never makes a new segment; what could still mean another path - an
 * escaped slash, "." and "..", an empty segment - is refused instead of cleaned up.
 *
 * Decoded text may be no UTF-8. It is borrowed from the input when it has no
 * escapes, and otherwise from the arena: keep both as long as the results.
 */
#ifndef VD_NET_URL_H
#define VD_NET_URL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/slice.h"

/* A target's part before the first '?' and what follows it, empty when there is none. */
void vd_url_split(struct vd_slice target, struct vd_slice *path, struct vd_slice *query);

enum vd_url_part {
    VD_URL_PATH,  /* '+' is a plus */
    VD_URL_QUERY, /* '+' is a space */
};

/* Undoes percent-encoding. VD_ERR_INVALID for a bad escape or a NUL. */
int vd_url_decode(struct vd_arena *a, struct vd_slice text, enum vd_url_part part,
                  struct vd_slice *out, struct vd_error *error) VD_MUST_USE;

/* Adds the text with everything but letters, digits and -._~ percent-encoded:
 * good for a path segment and for a query's keys and values. */
void vd_url_encode(struct vd_buf *out, struct vd_slice text);

/* "/api/v1/pods" has three segments; "/" has none. */
struct vd_url_path {
    size_t n;
    bool slash_end; /* the path ends with a slash; "/" does */
    struct vd_slice segments[VD_URL_SEGMENTS_MAX];
};

/* Cuts and decodes a path, which starts with a slash. VD_ERR_INVALID as said
 * above, VD_ERR_LIMIT past VD_URL_SEGMENTS_MAX. */
int vd_url_path_parse(struct vd_url_path *out, struct vd_arena *a, struct vd_slice path,
                      struct vd_error *error) VD_MUST_USE;

struct vd_url_param {
    struct vd_slice key;
    struct vd_slice value; /* empty for "key" and for "key=" */
};

/* The parameters in their order, repeated ones too. */
struct vd_url_query {
    size_t n;
    struct vd_url_param *params; /* in the arena */
};

/* Cuts a query at '&' and decodes keys and values; "&&" is one '&'.
 * VD_ERR_INVALID for a bad escape, VD_ERR_LIMIT past VD_URL_PARAMS_MAX. */
int vd_url_query_parse(struct vd_url_query *out, struct vd_arena *a, struct vd_slice query,
                       struct vd_error *error) VD_MUST_USE;

/* The value of the first parameter with this key. */
bool vd_url_query_find(const struct vd_url_query *q, struct vd_slice key,
                       struct vd_slice *value) VD_MUST_USE;

/* The next value of this key from index *at on; start with 0. */
bool vd_url_query_next(const struct vd_url_query *q, struct vd_slice key, size_t *at,
                       struct vd_slice *value) VD_MUST_USE;

#endif
