/*
 * The anchors of a YAML document: what its aliases stand for.
 *
 * An anchor is known from the start of its node and open until its end, so a
 * node that contains itself is told from an anchor that does not exist. A name
 * may be given again and then means the newer node. `= {0}` is empty.
 */
#ifndef VD_JSON_YAML_ANCHOR_H
#define VD_JSON_YAML_ANCHOR_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/slice.h"
#include "json/document.h"

struct vd_yaml_anchor {
    struct vd_slice name;
    struct vd_json *value;
    bool open; /* its node has not ended */
};

struct vd_yaml_anchors {
    struct vd_arena arena;
    void *tree; /* tsearch's, of struct vd_yaml_anchor by name */
};

/* Frees all and leaves an empty set. */
void vd_yaml_anchors_release(struct vd_yaml_anchors *anchors);

/* Forgets all anchors: a new document begins. */
void vd_yaml_anchors_clear(struct vd_yaml_anchors *anchors);

/* From here on the name (copied; NULL is none) means `value`. */
void vd_yaml_anchors_set(struct vd_yaml_anchors *anchors, const char *name, struct vd_json *value,
                         bool open);

/* The node of `value`, set under this name (NULL is none), has ended. */
void vd_yaml_anchors_close(struct vd_yaml_anchors *anchors, const char *name,
                           const struct vd_json *value);

/* The anchor, borrowed until the set changes; NULL if there is none. */
const struct vd_yaml_anchor *vd_yaml_anchors_find(const struct vd_yaml_anchors *anchors,
                                                  const char *name);

#endif
