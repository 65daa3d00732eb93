/*
 * Between strategic_merge.c, which merges maps, and merge_list.c, which merges
 * lists. The two call each other once for each level of the documents, which
 * bounds the recursion by VD_JSON_DEPTH_MAX.
 *
 * Nothing changes in place: each function makes a new value in the arena from
 * the live one and the patch, which it only reads, and shares their texts.
 */
#ifndef VD_KUBE_PATCH_STRATEGIC_MERGE_INTERNAL_H
#define VD_KUBE_PATCH_STRATEGIC_MERGE_INTERNAL_H

#include <stdbool.h>

#include "kube/patch/strategic_merge.h"

/* A field that is being merged: the way from the root to here, for messages. */
struct vd_merge_path {
    const struct vd_merge_path *up;
    struct vd_slice field;
};

struct vd_merger {
    struct vd_arena *arena;
    const struct vd_merge_rules *rules;
    const struct vd_merge_path *path;
    struct vd_error *error;
};

/* --- strategic_merge.c --- */

/* The live map with the patch merged into it. */
int vd_merge_map(struct vd_merger *m, const struct vd_json *live, const struct vd_json *patch,
                 const void *node, struct vd_json **out) VD_MUST_USE;

/* A copy of a part of the patch without nulls and directives, or NULL if all of
 * it is a directive. */
struct vd_json *vd_merge_clean(struct vd_merger *m, const struct vd_json *patch);

/* "$patch" of a map, or NULL. */
const struct vd_json *vd_merge_directive(const struct vd_json *map);

/* --- errors: Kubernetes' sentences; all give VD_ERR_INVALID --- */

int vd_merge_fail(struct vd_merger *m, const char *text);
int vd_merge_fail_type(struct vd_merger *m, const char *expected, const struct vd_json *got);
int vd_merge_fail_key(struct vd_merger *m, const struct vd_json *map, struct vd_slice key);
int vd_merge_fail_directive(struct vd_merger *m, const struct vd_json *directive,
                            const struct vd_json *map);
int vd_merge_fail_order(struct vd_merger *m, const struct vd_json *patch,
                        const struct vd_json *order);

/* --- merge_list.c: all lists are arrays --- */

/* The live list with the patch merged into it, by the rules of its field. */
int vd_merge_list(struct vd_merger *m, const struct vd_json *live, const struct vd_json *patch,
                  const struct vd_merge_field *field, struct vd_json **out) VD_MUST_USE;

/* Are the patch's items in `order`, and in that order? */
int vd_merge_list_check_order(struct vd_merger *m, const struct vd_json *patch,
                              const struct vd_json *order, struct vd_slice key) VD_MUST_USE;

/* Puts the items of `list`, which is in no container yet, into the order. */
int vd_merge_list_reorder(struct vd_merger *m, struct vd_json *list, const struct vd_json *order,
                          const struct vd_json *live, struct vd_slice key) VD_MUST_USE;

/* Takes the values in `removed` out of `list`, which is in no container yet. */
int vd_merge_list_subtract(struct vd_merger *m, struct vd_json *list,
                           const struct vd_json *removed) VD_MUST_USE;

#endif
