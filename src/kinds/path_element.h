/*
 * One step of a field's path, as server-side apply knows it.
 *
 *     f:replicas              the member of an object
 *     k:{"name":"web"}        the item of a list of type map, by its keys
 *     v:"a.example/hold"      the item of a list of type set, by its value
 *     i:0                     the item of any other list, by its place
 *
 * The texts on the left are how steps are spelled in metadata.managedFields; in
 * messages they are .replicas, [name="web"], [="a.example/hold"] and [0].
 */
#ifndef VD_KINDS_PATH_ELEMENT_H
#define VD_KINDS_PATH_ELEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "base/buf.h"
#include "base/slice.h"
#include "json/document.h"

/* In the order in which steps are sorted. */
enum vd_path_element_type {
    VD_PATH_NAME,
    VD_PATH_KEYS,
    VD_PATH_VALUE,
    VD_PATH_INDEX,
};

/* What it points at is borrowed from whatever it was made of. */
struct vd_path_element {
    enum vd_path_element_type type;
    struct vd_slice name;        /* of a VD_PATH_NAME */
    const struct vd_json *value; /* keys: an object of scalars, members sorted; value: a scalar */
    uint64_t index;
};

static inline struct vd_path_element vd_path_name(struct vd_slice name)
{
    return (struct vd_path_element){.type = VD_PATH_NAME, .name = name};
}

/* Kubernetes' order: <0, 0, >0. Numbers are compared by value. */
int vd_path_element_cmp(const struct vd_path_element *a, const struct vd_path_element *b);

/* An object's members in the order that vd_path_element_cmp() counts on. */
void vd_path_keys_sort(struct vd_json *keys);

/* Adds the spelling of managedFields, `k:{"name":"web"}`. */
void vd_path_element_write(struct vd_buf *out, const struct vd_path_element *e);

/* Reads that spelling; what it needs comes from the arena, names are borrowed. False: it
 * is none, or one of a kind that is not known. */
bool vd_path_element_read(struct vd_arena *a, struct vd_slice text,
                          struct vd_path_element *out) VD_MUST_USE;

/* Adds the spelling of messages, `[name="web"]`. */
void vd_path_element_show(struct vd_buf *out, const struct vd_path_element *e);

#endif
