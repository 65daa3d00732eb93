/*
 * A set of fields: paths into objects of one kind, as server-side apply counts them.
 *
 *     {"f:data":{".":{},"f:color":{}}}       .data itself, and .data.color
 *
 * A set is a tree of steps (path_element.h). A step is a member - its path is in the
 * set -, or leads to members below it, or both. In JSON a member that has others below it
 * has a "." to say so; one that has none is {}.
 *
 * NULL is the empty set, and no set is empty but NULL. Sets are immutable, live in an
 * arena and share their parts: every operation gives back its first argument where that
 * is the result, so that "nothing has changed" is a comparison of pointers.
 *
 * Steps stand in Kubernetes' order, at every level; operations are linear merges.
 */
#ifndef VD_KINDS_FIELD_SET_H
#define VD_KINDS_FIELD_SET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "base/buf.h"
#include "base/slice.h"
#include "base/vec.h"
#include "kinds/path_element.h"

struct vd_field_set;

struct vd_field_node {
    struct vd_path_element at;
    bool member;
    const struct vd_field_set *below;
};

struct vd_field_set {
    size_t n;
    struct vd_field_node *p; /* sorted, no two alike; each a member or with something below */
};

/* ---- making ---- */

/* Collects the steps of one level, in any order. */
struct vd_field_level {
    struct vd_arena *arena;
    struct vd_field_node *p;
    size_t n, cap;
    bool unsorted;
};

/* Does nothing for a step that is no member and has nothing below it. */
void vd_field_level_add(struct vd_field_level *level, const struct vd_path_element *at, bool member,
                        const struct vd_field_set *below);

/* The level as a set; steps that were added twice become one. */
const struct vd_field_set *vd_field_level_set(struct vd_field_level *level);

/* ---- JSON: FieldsV1 ---- */

/*
 * Reads FieldsV1, an object; what the set needs comes from the arena, but names may be
 * borrowed from `json`. As in Kubernetes, steps of an unknown kind are passed over.
 * False: it is no JSON object of JSON objects.
 */
bool vd_field_set_read(struct vd_arena *a, struct vd_slice json,
                       const struct vd_field_set **out) VD_MUST_USE;

/* Adds the set as FieldsV1. */
void vd_field_set_write(struct vd_buf *out, const struct vd_field_set *set);

/* How much of a set stands in some FieldsV1 that vd_field_set_write() made, found without
 * reading it as a set. */
enum vd_field_overlap {
    VD_OVERLAP_NONE, /* not one member */
    VD_OVERLAP_SOME,
    VD_OVERLAP_ALL, /* each member */
};
enum vd_field_overlap vd_field_set_overlap(struct vd_slice json, const struct vd_field_set *set);

/* ---- looking ---- */

/* The step, or NULL. */
const struct vd_field_node *vd_field_set_find(const struct vd_field_set *set,
                                              const struct vd_path_element *at);

/* Is the path of n steps a member? */
bool vd_field_set_has(const struct vd_field_set *set, const struct vd_path_element *path, size_t n);

bool vd_field_set_eq(const struct vd_field_set *a, const struct vd_field_set *b);

/* The members as texts for people, ".spec.ports[port=80]", in Kubernetes' order: those
 * of a level before what is below it. At most `max` are added. */
struct vd_field_texts {
    VD_VEC(struct vd_slice);
};
void vd_field_set_texts(struct vd_arena *a, const struct vd_field_set *set,
                        struct vd_field_texts *out, size_t max);

/* How many members. */
size_t vd_field_set_count(const struct vd_field_set *set);

/* ---- operations: members count one by one, not what is below them ---- */

const struct vd_field_set *vd_field_set_union(struct vd_arena *a, const struct vd_field_set *x,
                                              const struct vd_field_set *y);
const struct vd_field_set *vd_field_set_difference(struct vd_arena *a, const struct vd_field_set *x,
                                                   const struct vd_field_set *y);
const struct vd_field_set *vd_field_set_intersection(struct vd_arena *a,
                                                     const struct vd_field_set *x,
                                                     const struct vd_field_set *y);

#endif
