/*
 * JSON Merge Patch (RFC 7386): objects are merged, null deletes, all else
 * replaces.
 */
#ifndef VD_JSON_MERGE_PATCH_H
#define VD_JSON_MERGE_PATCH_H

#include "base/arena.h"
#include "json/document.h"

/*
 * Merges `patch` into `doc`. It cannot fail, and nests no deeper than the
 * deeper of the two. Members that stay keep their place; new ones come at the
 * end in the patch's order. New values come from the arena; their texts and
 * keys are shared with the patch, which is not changed.
 */
void vd_json_merge_patch(struct vd_arena *a, struct vd_json *doc, const struct vd_json *patch);

#endif
