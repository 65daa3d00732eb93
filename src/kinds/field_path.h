/*
 * The path of a field inside an object, as errors name it: spec.ports[0].name.
 *
 * A path is a chain of parts on the callers' stacks, each pointing to the one
 * before it. Walking a document makes no text; only an error does.
 *
 *     struct vd_field_path spec = vd_field_member(NULL, VD_SLICE("spec"));
 *     struct vd_field_path ports = vd_field_member(&spec, VD_SLICE("ports"));
 *     struct vd_field_path first = vd_field_element(&ports, 0);
 */
#ifndef VD_KINDS_FIELD_PATH_H
#define VD_KINDS_FIELD_PATH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/slice.h"

enum vd_field_part {
    VD_FIELD_MEMBER,  /* .key, of a known field */
    VD_FIELD_KEY,     /* a key that users choose, as in labels */
    VD_FIELD_ELEMENT, /* [index] */
};

/* All pointers are borrowed while the path is used. NULL is the root. */
struct vd_field_path {
    const struct vd_field_path *up;
    struct vd_slice key;
    size_t index;
    enum vd_field_part part;
};

static inline struct vd_field_path vd_field_member(const struct vd_field_path *up,
                                                   struct vd_slice key)
{
    return (struct vd_field_path){up, key, 0, VD_FIELD_MEMBER};
}

static inline struct vd_field_path vd_field_key(const struct vd_field_path *up, struct vd_slice key)
{
    return (struct vd_field_path){up, key, 0, VD_FIELD_KEY};
}

static inline struct vd_field_path vd_field_element(const struct vd_field_path *up, size_t index)
{
    return (struct vd_field_path){up, vd_slice("", 0), index, VD_FIELD_ELEMENT};
}

/* Kubernetes has two ways to write a user's key, and clients have seen both. */
enum vd_field_style {
    VD_FIELD_DOTTED,   /* data.key: schema errors, unknown fields */
    VD_FIELD_BRACKETS, /* data[key]: everything else */
};

/* Adds the path; nothing for the root. Bytes past VD_FIELD_PATH_LEN_MAX are
 * left out at the front. */
void vd_field_path_write(struct vd_buf *out, const struct vd_field_path *path,
                         enum vd_field_style style);

#endif
