/*
 * OpenAPI version 2 ("Swagger"): one document for everything.
 *
 * kubectl before 1.27 takes validation, dry runs and `explain` from it, and
 * newer ones still ask for it when they apply; they want it as protobuf, others
 * as JSON. It is made from the version 3 parts, less what version 2 cannot say.
 * Pure functions; any thread.
 */
#ifndef VD_KUBE_OPENAPI_V2_H
#define VD_KUBE_OPENAPI_V2_H

#include "base/arena.h"
#include "base/attributes.h"
#include "base/slice.h"
#include "kinds/kinds.h"
#include "json/document.h"

/* What to answer with; older clients ask with an @, which is no media type's. */
#define VD_OPENAPI_V2_PROTOBUF_TYPE "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"

/* The document of all listed kinds, made in the arena. It shares texts with the
 * set and must not outlive it. Write it with vd_json_write or
 * vd_openapi_proto_write. */
struct vd_json *vd_openapi_v2(struct vd_arena *a, const struct vd_kind_set *set,
                              struct vd_slice server_version) VD_MUST_USE;

#endif
