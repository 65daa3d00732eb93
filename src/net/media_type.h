/*
 * Media types: what a body is (Content-Type) and what a client takes (Accept).
 *
 *     application/json;as=Table;v=v1;g=meta.k8s.io,application/json;q=0.9
 *
 * Types, subtypes and parameter names are compared without regard to case.
 * Slices are borrowed from the header's text.
 */
#ifndef VD_NET_MEDIA_TYPE_H
#define VD_NET_MEDIA_TYPE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/slice.h"

enum { VD_QUALITY_MAX = 1000 }; /* the quality q=1, in thousandths */

struct vd_media_type {
    struct vd_slice type;    /* "application"; "*" only in Accept */
    struct vd_slice subtype; /* "json"; "*" only in Accept */
    struct vd_slice params;  /* as sent, from the first ';' on; valid */
    unsigned quality;        /* in thousandths; 0 means "do not send me this" */
};

/* Parses a Content-Type. VD_ERR_INVALID when it is none. */
int vd_media_type_parse(struct vd_media_type *out, struct vd_slice text,
                        struct vd_error *error) VD_MUST_USE;

/* Whether it is type/subtype exactly, whatever its parameters. */
bool vd_media_type_is(const struct vd_media_type *m, struct vd_slice type, struct vd_slice subtype);

/* The same, where "*" of `m` stands for anything. */
bool vd_media_type_takes(const struct vd_media_type *m, struct vd_slice type,
                         struct vd_slice subtype);

/* The value of the first parameter of this name. It is borrowed from the
 * header's text, or from the arena when it was a quoted string with escapes. */
bool vd_media_type_param(const struct vd_media_type *m, struct vd_slice name, struct vd_arena *a,
                         struct vd_slice *value) VD_MUST_USE;

/*
 * What a client accepts, best first: by quality, then named types before those
 * with "*" (as Kubernetes' servers do), then in the order sent.
 */
struct vd_accept {
    size_t n;
    struct vd_media_type ranges[VD_ACCEPT_RANGES_MAX];
};

static inline void vd_accept_init(struct vd_accept *accept)
{
    accept->n = 0;
}

/* Adds the ranges of one Accept header. What is no range is passed over, as
 * clients in use send some: "*" alone is read as any type. VD_ERR_LIMIT past
 * VD_ACCEPT_RANGES_MAX; the ranges before are kept then. */
int vd_accept_add(struct vd_accept *accept, struct vd_slice text,
                  struct vd_error *error) VD_MUST_USE;

/* How much the client wants type/subtype, in thousandths: the quality of the
 * most specific range that takes it; 0 when none does. A client that sent no
 * Accept takes anything. */
unsigned vd_accept_quality(const struct vd_accept *accept, struct vd_slice type,
                           struct vd_slice subtype);

/* Whether the value of an Accept-Encoding header allows gzip. */
bool vd_accept_encoding_gzip(struct vd_slice text);

#endif
