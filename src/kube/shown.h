/*
 * Stored bytes as a version of their kind shows them.
 *
 * Objects are stored in one version. The others differ in apiVersion, and, where two
 * built-in groups share a storage, in the names of some top-level fields. So bytes are
 * copied in pieces, and nothing is decoded.
 */
#ifndef VD_KUBE_SHOWN_H
#define VD_KUBE_SHOWN_H

#include "base/buf.h"
#include "base/slice.h"
#include "kinds/kind.h"

/* The body in the kind's form: itself where that is so already, else in *room, which is
 * reset. */
struct vd_slice vd_shown_body(const struct vd_kind *kind, struct vd_slice body,
                              struct vd_buf *room);

#endif
