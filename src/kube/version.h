/*
 * /version: which Kubernetes this server speaks like.
 *
 * Clients decide by major and minor what they may use, and warn when they are
 * more than one minor version away. No I/O; any thread.
 */
#ifndef VD_KUBE_VERSION_H
#define VD_KUBE_VERSION_H

#include "base/attributes.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/slice.h"

/* Borrowed for the call. */
struct vd_version_info {
    struct vd_slice kubernetes; /* "v1.32.4"; "v1.32.4+vedette-1.0" says more to people */
    struct vd_slice commit;     /* of this program; may be empty */
    struct vd_slice build_date; /* "2026-01-02T03:04:05Z"; may be empty */
};

/* Adds the JSON document, without a newline. VD_ERR_INVALID when the version is
 * not vMAJOR.MINOR.PATCH with perhaps a suffix behind - or +. */
int vd_version_write(struct vd_buf *out, const struct vd_version_info *info,
                     struct vd_error *error) VD_MUST_USE;

#endif
