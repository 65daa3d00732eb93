/* See deletion.h. */
#include "kinds/deletion.h"

#include "kinds/condition.h"
#include "kinds/object_meta.h"

void vd_deletion_propagate(struct vd_arena *a, struct vd_json *object, struct vd_slice policy)
{
    if (vd_slice_is(policy, "Foreground"))
        vd_meta_add_finalizer(a, object, VD_FINALIZER_FOREGROUND);
    else if (vd_slice_is(policy, "Orphan"))
        vd_meta_add_finalizer(a, object, VD_FINALIZER_ORPHAN);
}

/* A definition waits for its objects to go, even if it has not been told to. */
static bool is_definition(struct vd_slice storage_key)
{
    return vd_slice_eq(storage_key, VD_DEFINITIONS);
}

bool vd_deletion_waits(const struct vd_json *object, struct vd_slice storage_key)
{
    if (is_definition(storage_key) && !vd_meta_is_deleting(object))
        return true;
    return vd_json_count(vd_meta_finalizers(object)) > 0 ||
           (vd_slice_is(storage_key, "namespaces") &&
            vd_json_count(vd_json_dig(object, "spec", "finalizers", NULL)) > 0);
}

/* From now on no object of the kind can be made. */
static void mark_definition(struct vd_arena *a, struct vd_json *object, int64_t now_ms)
{
    vd_meta_add_finalizer(a, object, VD_FINALIZER_DEFINITION);
    vd_condition_set(a, object,
                     &(struct vd_condition){
                         .type = VD_SLICE("Terminating"),
                         .status = VD_SLICE("True"),
                         .reason = VD_SLICE("InstanceDeletionPending"),
                         .message = VD_SLICE("CustomResourceDefinition marked for deletion; "
                                             "CustomResource deletion will begin soon"),
                     },
                     now_ms);
}

void vd_deletion_mark(struct vd_arena *a, struct vd_json *object, struct vd_slice storage_key,
                      int64_t now_ms)
{
    if (is_definition(storage_key) && !vd_meta_is_deleting(object))
        mark_definition(a, object, now_ms);
    if (!vd_meta_is_deleting(object)) {
        vd_meta_set_deletion(a, object, now_ms, 0);
        if (vd_meta_generation(object) > 0)
            vd_meta_set_generation(a, object, vd_meta_generation(object) + 1);
    }
    struct vd_json *status = vd_json_get(object, VD_SLICE("status"));
    if (vd_slice_is(storage_key, "namespaces") && vd_json_is(status, VD_JSON_OBJECT))
        vd_json_set(a, status, VD_SLICE("phase"), vd_json_string_ref(a, VD_SLICE("Terminating")));
}
