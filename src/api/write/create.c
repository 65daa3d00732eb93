/* create: from a document to a new object. */
#include "api/write/write_internal.h"
#include "kinds/generated_name.h"
#include "kinds/object.h"
#include "kinds/object_meta.h"
#include "kinds/uid.h"

/* What only the server says of a new object. */
static void stamp_new(struct vd_write *w, struct vd_json *object)
{
    static const char *const not_yours[] = {"selfLink", "deletionTimestamp", "managedFields",
                                            "deletionGracePeriodSeconds", "generation"};
    struct vd_arena *a = w->arena;
    struct vd_json *metadata = vd_json_get(object, VD_SLICE("metadata"));
    for (size_t i = 0; metadata && i < sizeof not_yours / sizeof *not_yours; i++)
        vd_json_remove(metadata, vd_slice_of(not_yours[i]));
    vd_meta_set_uid(a, object, vd_uid_generate());
    vd_meta_set_creation_timestamp(a, object, vd_clock_wall_ms(w->l->env->clock));
    vd_meta_set_resource_version(a, object, VD_SLICE(""));
    if (w->kind->counts_generation)
        vd_meta_set_generation(a, object, 1);
}

static void make_name(struct vd_write *w, struct vd_json *object)
{
    struct vd_slice base = vd_meta_generate_name(object);
    w->makes_name = !vd_meta_name(object).n && base.n;
    if (w->makes_name)
        vd_meta_set_name(w->arena, object,
                         w->l->env->make_name ? w->l->env->make_name(w->arena, base)
                                              : vd_generated_name_make(w->arena, base));
}

/* A new namespace is active, and is emptied before it goes. */
static void furnish_namespace(struct vd_write *w, struct vd_json *object)
{
    struct vd_arena *a = w->arena;
    if (!vd_slice_is(w->kind->resource, "namespaces"))
        return;
    struct vd_json *spec = vd_json_object(a), *finalizers = vd_json_array(a);
    struct vd_json *status = vd_json_object(a);
    vd_json_append(finalizers, vd_json_string_ref(a, VD_SLICE("kubernetes")));
    vd_json_add_ref(spec, VD_SLICE("finalizers"), finalizers);
    vd_json_add_ref(status, VD_SLICE("phase"), vd_json_string_ref(a, VD_SLICE("Active")));
    vd_json_set(a, object, VD_SLICE("spec"), spec);
    vd_json_set(a, object, VD_SLICE("status"), status);
    vd_meta_set_label(a, object, VD_SLICE("kubernetes.io/metadata.name"), vd_meta_name(object));
}

/* Proposes a new object with which nothing is wrong. */
static void create_valid(struct vd_write *w, struct vd_json *object)
{
    if (!vd_write_check_escalation(w, object, true))
        return;
    if (w->verb == VD_WRITE_CREATE)
        w->name = vd_arena_copy(w->arena, vd_meta_name(object));
    w->wish = (struct vd_wish){.when = VD_WHEN_ABSENT, .key = vd_write_key(w)};
    vd_write_store(w, object);
}

/* A new object has no status but the server's. Fields that the client has set in it and that the
 * schema does not know are told all the same. */
static void drop_status(struct vd_write *w, struct vd_json *object, struct vd_pruned *pruned)
{
    struct vd_json *alone = vd_json_object(w->arena);
    struct vd_json *status = w->kind->has_status ? vd_json_remove(object, VD_SLICE("status"))
                                                 : NULL;
    if (!status || w->kind->preserve_unknown)
        return;
    vd_json_add_ref(alone, VD_SLICE("status"), status);
    vd_schema_prune(w->kind->schema, alone, pruned);
}

void vd_write_create_object(struct vd_write *w, struct vd_json *object)
{
    struct vd_pruned pruned = vd_write_nulls(w);
    w->guard_count = 0;
    if (!vd_write_check_kind(w, w->kind, object) || !vd_write_check_namespace_named(w, object) ||
        !vd_write_check_namespace(w) || !vd_write_check_definition(w))
        return;
    if (vd_meta_resource_version(object).n) {
        vd_write_refuse_text(
            w, VD_REFUSED_BAD_REQUEST,
            VD_SLICE("resourceVersion should not be set on objects to be created"));
        return;
    }
    drop_status(w, object, &pruned);
    bool ok = vd_write_prepare(w, object, true, &pruned);
    if (ok) {
        vd_meta_drop_empty(object);
        ok = vd_write_check_fields(w, w->kind, &pruned, object);
    }
    vd_pruned_release(&pruned);
    if (!ok)
        return;
    vd_write_drop_repeated_owners(w, object);
    vd_write_warn_of_finalizers(w, object, NULL);
    make_name(w, object);
    stamp_new(w, object);
    furnish_namespace(w, object);
    if (!w->applied)
        vd_write_track(w, NULL, object, NULL);
    if (w->verb == VD_WRITE_REPLACE && !vd_write_stamp(w, object))
        return;
    if (vd_write_check_follower(w, object, NULL))
        vd_write_validate(w, object, NULL, create_valid);
}

void vd_write_create(struct vd_write *w)
{
    struct vd_json *object = NULL;
    if (vd_write_read_sent(w, &object))
        vd_write_create_object(w, object);
}
