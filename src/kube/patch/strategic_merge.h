/*
 * Kubernetes' strategic merge patch: a merge patch that knows, from the kind's
 * schema, which lists are sets or tables.
 *
 * Maps are merged member by member and null deletes, as in a merge patch. A
 * list is replaced, unless its rules say that it is merged: a list of maps by
 * one of their fields (the merge key), a list of scalars as a set. A patch may
 * hold directives:
 *
 *   "$patch": "replace" | "delete"      in a map: it becomes the rest of the patch, or
 *                                       empty; in an item of a merged list: the whole
 *                                       list is replaced, or the item deleted
 *   "$retainKeys": ["a", "b"]           the map loses all other members
 *   "$setElementOrder/f": [...]         the order of the merged list f
 *   "$deleteFromPrimitiveList/f": [...] values that the list f loses
 *
 * The semantics are those of kube-apiserver 1.36, with these differences, all of
 * them where Kubernetes relies on decoding the result into Go's types:
 * - No null (but as an element of a list) and no directive ever reaches the
 *   result. In a value that is new, a map with "$patch" is left out.
 * - An order for an empty list is fine, and a null is no merge key.
 * - What would panic there (merge keys that are maps or lists, lists with nulls)
 *   is an error.
 *
 * A merged list keeps the relative order of the live items and of the patch's
 * items; where the live list does not say how the two interleave, the patch's
 * item comes first.
 *
 * The strategy "retainKeys" of a schema matters to who makes patches. Whoever
 * applies them obeys the directive wherever it stands, so rules do not name it.
 */
#ifndef VD_KUBE_PATCH_STRATEGIC_MERGE_H
#define VD_KUBE_PATCH_STRATEGIC_MERGE_H

#include "base/arena.h"
#include "base/attributes.h"
#include "base/error.h"
#include "base/slice.h"
#include "json/document.h"

enum vd_merge_strategy {
    VD_MERGE_DEFAULT, /* maps are merged, lists replaced */
    VD_MERGE_REPLACE, /* maps are replaced as well */
    VD_MERGE_LIST,    /* lists are merged too */
};

/* How one field is merged. */
struct vd_merge_field {
    enum vd_merge_strategy strategy;
    struct vd_slice key; /* VD_MERGE_LIST: the merge key; empty for a list of scalars */
    const void *node;    /* describes the field's value, or the elements if it is a list */
};

/*
 * The source of the rules: x-kubernetes-patch-strategy and -merge-key of a
 * schema, or a table. `node` is what stands for an object in that source; NULL
 * is an object of which nothing is known, for which `field` is not called.
 */
struct vd_merge_rules {
    struct vd_merge_field (*field)(const void *node, struct vd_slice name);
    bool hides_values; /* sentences about what is wrong show no part of the documents */
};

/*
 * Merges `patch` into `doc`, whole or not at all: after a failure `doc` is as it
 * was. `rules` may be NULL: then `root` is too, and no list is merged. Members
 * that stay keep their place; new ones come at the end in the patch's order.
 * New values come from the arena; their texts and keys are shared with the patch
 * and the old document. The patch is not changed. The result nests no deeper
 * than the deeper of the two, and the work is n log n in their sizes.
 *
 * VD_ERR_INVALID: one of them is no object, or the patch cannot be applied; the
 * sentence is Kubernetes' own with the path of the place in front.
 */
int vd_strategic_merge(struct vd_arena *a, struct vd_json *doc, const struct vd_json *patch,
                       const struct vd_merge_rules *rules, const void *root,
                       struct vd_error *error) VD_MUST_USE;

#endif
