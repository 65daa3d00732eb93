/*
 * OpenAPI version 3: one document for each group and version, and an index.
 *
 *     /openapi/v3 {"paths":{"apis/G/V":{"serverRelativeURL":"/openapi/v3/..?hash=H"}}}
 *     /openapi/v3/api/v1            what can be asked of it, and the schemas
 *     /openapi/v3/apis/G/V
 *
 * kubectl reads from them whether the server knows dry runs and validates
 * fields, and what `explain` says. Pure functions; any thread.
 */
#ifndef VD_KUBE_OPENAPI_V3_H
#define VD_KUBE_OPENAPI_V3_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "base/buf.h"
#include "base/slice.h"
#include "kinds/kinds.h"
#include "json/document.h"

/* Adds paths and schemas of all listed kinds of a group and version to objects
 * of the arena. They share texts with the set. False if there are no such
 * kinds: nothing is added. */
bool vd_openapi_v3_add(struct vd_arena *a, struct vd_json *paths, struct vd_json *schemas,
                       const struct vd_kind_set *set, struct vd_slice group,
                       struct vd_slice version);

/* Adds the document of a group and version as JSON. `server_version` is for
 * people. False if there is none: nothing is added. */
bool vd_openapi_v3_write(struct vd_buf *out, const struct vd_kind_set *set, struct vd_slice group,
                         struct vd_slice version, struct vd_slice server_version) VD_MUST_USE;

/* Adds the index. For each document `hash_of` adds the hash that its address
 * carries, so that clients may keep it for as long as the address is the same. */
void vd_openapi_v3_write_index(struct vd_buf *out, const struct vd_kind_set *set,
                               void (*hash_of)(void *context, struct vd_slice group,
                                               struct vd_slice version, struct vd_buf *hash),
                               void *context);

/* Calls `each` for every group and version that has a document, in the order of
 * the set. */
void vd_openapi_v3_each(const struct vd_kind_set *set,
                        void (*each)(void *context, struct vd_slice group, struct vd_slice version),
                        void *context);

#endif
