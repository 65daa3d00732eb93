/*
 * Schemas as OpenAPI documents publish them: components.schemas of version 3.
 *
 *     io.k8s.api.core.v1.ConfigMap        of Kubernetes' own kinds
 *     com.example.v1.Widget               of all others: the group, reversed
 *     io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta and so on: what all share
 *
 * Values are made in the arena but share texts with the kinds, so they must not
 * outlive the set. Any thread, one arena each.
 */
#ifndef VD_KUBE_OPENAPI_SCHEMA_H
#define VD_KUBE_OPENAPI_SCHEMA_H

#include "base/arena.h"
#include "base/slice.h"
#include "kinds/kind.h"
#include "json/document.h"

#define VD_OPENAPI_META           "io.k8s.apimachinery.pkg.apis.meta.v1."
#define VD_OPENAPI_OBJECT_META    VD_OPENAPI_META "ObjectMeta"
#define VD_OPENAPI_LIST_META      VD_OPENAPI_META "ListMeta"
#define VD_OPENAPI_STATUS         VD_OPENAPI_META "Status"
#define VD_OPENAPI_DELETE_OPTIONS VD_OPENAPI_META "DeleteOptions"
#define VD_OPENAPI_PATCH          VD_OPENAPI_META "Patch"
#define VD_OPENAPI_WATCH_EVENT    VD_OPENAPI_META "WatchEvent"
#define VD_OPENAPI_SCALE          "io.k8s.api.autoscaling.v1.Scale"

/* The name of the schema of `word`: the kind, or its list kind. */
struct vd_slice vd_openapi_schema_name(struct vd_arena *a, const struct vd_kind *kind,
                                       struct vd_slice word);

/* {"$ref":"#/components/schemas/NAME"} */
struct vd_json *vd_openapi_ref(struct vd_arena *a, struct vd_slice name);

/* {"group":..,"version":..,"kind":..} */
struct vd_json *vd_openapi_gvk(struct vd_arena *a, struct vd_slice group, struct vd_slice version,
                               struct vd_slice kind);

/* Adds the schema of the kind and, if it can be listed, that of its list, unless
 * they are there. */
void vd_openapi_add_kind(struct vd_arena *a, struct vd_json *schemas, const struct vd_kind *kind);

/* Adds those that all kinds share. `metadata` is the JSON of ObjectMeta's
 * schema; NULL stands for any object. */
void vd_openapi_add_shared(struct vd_arena *a, struct vd_json *schemas,
                           const struct vd_json *metadata);

/* Adds that of the events of a watch. */
void vd_openapi_add_watch_event(struct vd_arena *a, struct vd_json *schemas);

/* Adds that of Scale. */
void vd_openapi_add_scale(struct vd_arena *a, struct vd_json *schemas);

#endif
