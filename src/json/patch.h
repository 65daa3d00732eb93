/*
 * JSON Patch (RFC 6902), with the limits that Kubernetes sets.
 *
 * Messages are close to those of Kubernetes, so that people find them.
 */
#ifndef VD_JSON_PATCH_H
#define VD_JSON_PATCH_H

#include "base/arena.h"
#include "base/attributes.h"
#include "base/error.h"
#include "base/slice.h"
#include "json/document.h"
#include "json/parse.h"

/*
 * Parses the text of a patch and looks at its shape: an array of objects. Borrows
 * `text` as vd_json_parse does. The options may be NULL and say what becomes of duplicate
 * keys; their lengths do not count. VD_ERR_INVALID, also for a text that is nested too deep;
 * VD_ERR_LIMIT beyond VD_JSON_PATCH_LEN_MAX bytes or VD_JSON_PATCH_OPS_MAX operations.
 */
int vd_json_patch_parse(struct vd_arena *a, struct vd_slice text,
                        const struct vd_json_options *options, struct vd_json **out,
                        struct vd_error *error) VD_MUST_USE;

/* Calls `unknown` with the place ("[0].foo", borrowed for the call) of each member of an operation
 * that none can have. */
void vd_json_patch_unknown(const struct vd_json *patch,
                           void (*unknown)(void *context, struct vd_slice place), void *context);

/*
 * Applies all operations to `doc`, or none: after a failure it is as it was.
 * New values come from the arena; their texts are shared with the patch, which
 * is not changed and may be applied again.
 *
 * VD_ERR_INVALID: an operation is malformed or does not apply; the sentence has
 * its number (from 0), its kind and path. VD_ERR_LIMIT: the result would be
 * nested too deep, its copies too large, or the work too long.
 */
int vd_json_patch(struct vd_arena *a, struct vd_json *doc, const struct vd_json *patch,
                  struct vd_error *error) VD_MUST_USE;

#endif
