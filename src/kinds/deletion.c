/* See deletion.h. */
#include "kinds/deletion.h"

#include "kinds/condition.h"
#include "kinds/object.h"
#include "kinds/object_meta.h"
#include "store/collection.h"
#include "json/revision_hole.h"

static void propagate(struct vd_arena *a, struct vd_json *object, struct vd_slice policy)
{
    if (vd_slice_is(policy, "Foreground"))
        vd_meta_add_finalizer(a, object, VD_FINALIZER_FOREGROUND);
    else if (vd_slice_is(policy, "Orphan"))
        vd_meta_add_finalizer(a, object, VD_FINALIZER_ORPHAN);
}

static bool is_definition(struct vd_slice resource)
{
    return vd_slice_eq(resource, VD_DEFINITIONS);
}

static bool is_repository(struct vd_slice resource)
{
    return vd_slice_eq(resource, VD_REPOSITORIES);
}

int vd_deletion_check(const struct vd_json *object, struct vd_slice resource,
                      struct vd_error *error)
{
    int64_t owned = 0;
    if (!is_repository(resource) || vd_meta_is_deleting(object) ||
        !vd_json_to_i64(vd_json_dig(object, "status", "resources", NULL), &owned) || owned <= 0)
        return VD_OK;
    struct vd_slice policy = vd_json_text(vd_json_dig(object, "spec", "deletionPolicy", NULL));
    if (vd_slice_is(policy, "Cascade"))
        return VD_OK;
    return vd_error_set(error, VD_ERR_CONFLICT,
                        "repository \"%.*s\" owns %lld resource%s and cannot be deleted: set "
                        "spec.deletionPolicy to Cascade, or push a commit that removes them",
                        VD_FMT(vd_meta_name(object)), (long long)owned, owned == 1 ? "" : "s");
}

bool vd_deletion_waits(const struct vd_json *object, struct vd_slice resource)
{
    /* Definitions and repositories wait for their objects to go, even if they have not been told
     * to. */
    if ((is_definition(resource) || is_repository(resource)) && !vd_meta_is_deleting(object))
        return true;
    return vd_json_count(vd_meta_finalizers(object)) > 0 ||
           (vd_slice_is(resource, "namespaces") &&
            vd_json_count(vd_json_dig(object, "spec", "finalizers", NULL)) > 0);
}

bool vd_deletion_is_finished(const struct vd_json *object, struct vd_slice resource)
{
    return vd_meta_is_deleting(object) && !vd_deletion_waits(object, resource);
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

bool vd_deletion_cascades_elsewhere(const struct vd_json *object)
{
    return vd_json_truth(vd_json_dig(object, "status", "cascadesElsewhere", NULL));
}

static void record_cascade(struct vd_arena *a, struct vd_json *object)
{
    struct vd_json *status = vd_json_get(object, VD_SLICE("status"));
    if (!vd_json_is(status, VD_JSON_OBJECT)) {
        status = vd_json_object(a);
        vd_json_set(a, object, VD_SLICE("status"), status);
    }
    vd_json_set(a, status, VD_SLICE("cascadesElsewhere"), vd_json_bool(a, true));
}

static void mark(struct vd_arena *a, struct vd_json *object, struct vd_slice resource,
                 int64_t now_ms)
{
    if (is_definition(resource) && !vd_meta_is_deleting(object))
        mark_definition(a, object, now_ms);
    if (is_repository(resource) && !vd_meta_is_deleting(object))
        vd_meta_add_finalizer(a, object, VD_FINALIZER_REPOSITORY);
    if (!vd_meta_is_deleting(object)) {
        vd_meta_set_deletion(a, object, now_ms, 0);
        if (vd_meta_generation(object) > 0)
            vd_meta_set_generation(a, object, vd_meta_generation(object) + 1);
    }
    struct vd_json *status = vd_json_get(object, VD_SLICE("status"));
    if (vd_slice_is(resource, "namespaces") && vd_json_is(status, VD_JSON_OBJECT))
        vd_json_set(a, status, VD_SLICE("phase"), vd_json_string_ref(a, VD_SLICE("Terminating")));
}

enum vd_deletion_step vd_deletion_begin(const struct vd_deletion *deletion, struct vd_arena *a,
                                        struct vd_json *object)
{
    propagate(a, object, deletion->policy);
    if (!vd_deletion_waits(object, deletion->resource))
        return VD_DELETION_REMOVE;
    mark(a, object, deletion->resource, vd_clock_wall_ms(deletion->clock));
    if (deletion->cascades_elsewhere && is_repository(deletion->resource))
        record_cascade(a, object);
    return VD_DELETION_MARK;
}

/* Makes the wish one that puts the object. */
static int put(struct vd_wish *wish, const struct vd_json *object, struct vd_arena *arena,
               struct vd_error *error)
{
    struct vd_buf body = {0};
    size_t hole = 0;
    int code = vd_revision_hole_write(&body, object, &hole, error);
    if (!code) {
        wish->action = VD_PUT;
        wish->body = (struct vd_template){vd_arena_copy(arena, vd_buf_slice(&body)),
                                          (uint32_t)hole};
    }
    vd_buf_release(&body);
    return code;
}

int vd_deletion_wish(const struct vd_deletion *deletion, const struct vd_event *event,
                     struct vd_json *object, struct vd_arena *scratch, struct vd_arena *arena,
                     enum vd_deletion_step *step, struct vd_wish *wish, struct vd_error *error)
{
    *step = VD_DELETION_NOTHING;
    if (vd_meta_is_deleting(object))
        return VD_OK;
    *wish = (struct vd_wish){.action = VD_DELETE,
                             .when = VD_WHEN_REVISION,
                             .revision = event->revision,
                             .expect_uid = event->uid,
                             .uid = event->uid,
                             .key = {vd_entry_resource(event->entry),
                                     vd_entry_namespace(event->entry),
                                     vd_entry_name(event->entry)}};
    *step = vd_deletion_begin(deletion, scratch, object);
    if (*step == VD_DELETION_REMOVE)
        return VD_OK;
    if (deletion->kind && vd_object_must_catch_up(deletion->kind, event->revision))
        vd_object_catch_up_or_stay(deletion->kind, scratch, object);
    return put(wish, object, arena, error);
}
