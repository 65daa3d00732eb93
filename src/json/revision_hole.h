/*
 * Stored bodies with a hole where metadata.resourceVersion goes.
 *
 * A revision is known only when its change is committed, long after the body
 * was written as bytes. So the body is prepared with an empty value
 *
 *     {"kind":"Pod","metadata":{"name":"web-0","resourceVersion":""},...}
 *                                                                ^ hole
 *
 * and the digits are spliced in at `hole` without another look at the rest.
 */
#ifndef VD_JSON_REVISION_HOLE_H
#define VD_JSON_REVISION_HOLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/slice.h"
#include "json/document.h"

/*
 * Writes the object, which must have an object "metadata", with an empty
 * metadata.resourceVersion: in the place of the one it has, or as the last member of
 * metadata. *hole is the offset in `out` between the two quotes. VD_ERR_INVALID if there is
 * no metadata object; `out` and *hole are then as they were.
 */
int vd_revision_hole_write(struct vd_buf *out, const struct vd_json *object, size_t *hole,
                           struct vd_error *error) VD_MUST_USE;

/* Adds to `out` the template with the decimal revision in the hole. */
void vd_revision_hole_fill(struct vd_buf *out, struct vd_slice template, size_t hole,
                           uint64_t revision);

#endif
