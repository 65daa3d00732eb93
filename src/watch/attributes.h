/*
 * An object's attributes: its labels and fields, as selectors ask for them.
 *
 * They are read from the body's bytes when they are first needed and then kept, so that a thousand
 * selectors share one reading. This is the one file of the watch layer that looks into JSON.
 */
#ifndef VD_WATCH_ATTRIBUTES_H
#define VD_WATCH_ATTRIBUTES_H

#include "base/arena.h"
#include "base/vec.h"
#include "store/event.h"

struct vd_label {
    struct vd_slice key;
    struct vd_slice value;
};

/* `= {0}` is empty. Belongs to one thread. */
struct vd_attributes {
    const struct vd_event *event; /* borrowed */
    bool labels_read;
    VD_VEC(struct vd_label) labels;
    struct vd_arena arena; /* for what had to be decoded */
};

/* Looks at another event's object from now on; NULL: at none, which has no
 * attributes. The event is borrowed until the next set. */
void vd_attributes_set(struct vd_attributes *attributes, const struct vd_event *event);
void vd_attributes_release(struct vd_attributes *attributes);

/* Reads metadata.labels, once. */
const struct vd_label *vd_attributes_labels(struct vd_attributes *attributes, size_t *n);

/* A vd_label_lookup_fn over attributes whose labels have been read. */
bool vd_attributes_label(const void *attributes, struct vd_slice key, struct vd_slice *value);

/*
 * A vd_field_lookup_fn: the text of the value at a dotted path. metadata.name and
 * metadata.namespace come from the key. Numbers, true and false are given as they are written; a
 * value that is missing, null, an object or an array counts as absent.
 */
bool vd_attributes_field(const void *attributes, struct vd_slice field, struct vd_slice *value);

/* The same for "a.b|c": the first of these paths whose text is not empty. */
bool vd_attributes_first_field(const void *attributes, struct vd_slice fields,
                               struct vd_slice *value);

#endif
