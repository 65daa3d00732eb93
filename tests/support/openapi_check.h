/* What must be true of every OpenAPI document, of version 2 as of version 3. */
#ifndef VD_TESTS_OPENAPI_CHECK_H
#define VD_TESTS_OPENAPI_CHECK_H

#include "check.h"

#include "kinds/kind.h"
#include "json/document.h"

#define GVK_KEY VD_SLICE("x-kubernetes-group-version-kind")

/* Every $ref below `v` is prefix + the name of a schema. */
static inline void assert_references_resolve(const struct vd_json *v, const struct vd_json *schemas,
                                             const char *prefix)
{
    struct vd_slice ref = vd_json_text(vd_json_get(v, VD_SLICE("$ref")));
    if (ref.n && (!vd_slice_starts_with(ref, vd_slice_of(prefix)) ||
                  !vd_json_get(schemas, vd_slice_from(ref, strlen(prefix)))))
        fail_msg("%.*s leads nowhere", VD_FMT(ref));
    VD_JSON_EACH (child, v)
        assert_references_resolve(child, schemas, prefix);
}

static inline bool is_kind(const struct vd_json *gvk, const struct vd_kind *kind)
{
    return vd_slice_eq(vd_json_text(vd_json_get(gvk, VD_SLICE("group"))), kind->group) &&
           vd_slice_eq(vd_json_text(vd_json_get(gvk, VD_SLICE("version"))), kind->version) &&
           vd_slice_eq(vd_json_text(vd_json_get(gvk, VD_SLICE("kind"))), kind->kind);
}

/* How many schemas name this kind as theirs (x-kubernetes-group-version-kind). */
static inline size_t schemas_of_kind(const struct vd_json *schemas, const struct vd_kind *kind)
{
    size_t n = 0;
    VD_JSON_EACH (schema, schemas) {
        VD_JSON_EACH (gvk, vd_json_get(schema, GVK_KEY))
            n += is_kind(gvk, kind);
    }
    return n;
}

static inline size_t operations_of_kind(const struct vd_json *paths, const struct vd_kind *kind)
{
    size_t n = 0;
    VD_JSON_EACH (path, paths) {
        VD_JSON_EACH (operation, path)
            n += is_kind(vd_json_get(operation, GVK_KEY), kind);
    }
    return n;
}

static inline void assert_operation_ids_differ(struct vd_arena *a, const struct vd_json *paths)
{
    struct vd_json *seen = vd_json_object(a);
    VD_JSON_EACH (path, paths) {
        VD_JSON_EACH (operation, path) {
            struct vd_slice id = vd_json_text(vd_json_get(operation, VD_SLICE("operationId")));
            if (id.n && vd_json_set(a, seen, id, vd_json_null(a)))
                fail_msg("%.*s is there twice", VD_FMT(id));
        }
    }
    assert_true(vd_json_count(seen) > 0);
}

#endif
