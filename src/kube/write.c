/*
 * create and update: from a document to an event.
 *
 * An update reads the object, makes the new one from it, and proposes that (proposal.c).
 */
#include "kube/write.h"

#include "kinds/condition_rules.h"
#include "kinds/deletion.h"
#include "kinds/generated_name.h"
#include "kinds/object.h"
#include "kinds/object_meta.h"
#include "kinds/rules.h"
#include "kinds/status_subresource.h"
#include "kinds/uid.h"
#include "kube/decode.h"
#include "kube/escalation_check.h"
#include "kube/field_manager.h"
#include "kube/metadata_notice.h"
#include "kube/object_check.h"
#include "kube/offload.h"
#include "kube/proposal.h"
#include "kube/validation.h"
#include "json/compare.h"
#include "json/key_index.h"

/* ---- create ---- */

/* What only the server says of a new object. */
static void stamp_new(struct vd_call *call, struct vd_json *object)
{
    static const char *const not_yours[] = {"selfLink", "deletionTimestamp", "managedFields",
                                            "deletionGracePeriodSeconds", "generation"};
    struct vd_arena *a = &call->arena;
    struct vd_json *metadata = vd_json_get(object, VD_SLICE("metadata"));
    for (size_t i = 0; metadata && i < sizeof not_yours / sizeof *not_yours; i++)
        vd_json_remove(metadata, vd_slice_of(not_yours[i]));
    vd_meta_set_uid(a, object, vd_uid_generate());
    vd_meta_set_creation_timestamp(a, object, vd_clock_wall_ms(call->kube->clock));
    vd_meta_set_resource_version(a, object, VD_SLICE(""));
    if (call->kind->counts_generation)
        vd_meta_set_generation(a, object, 1);
}

static void make_name(struct vd_call *call, struct vd_json *object)
{
    struct vd_slice base = vd_meta_generate_name(object);
    call->makes_name = !vd_meta_name(object).n && base.n;
    if (call->makes_name)
        vd_meta_set_name(&call->arena, object,
                         call->kube->make_name ? call->kube->make_name(&call->arena, base)
                                               : vd_generated_name_make(&call->arena, base));
}

/* A new namespace is active, and is emptied before it goes. */
static void furnish_namespace(struct vd_call *call, struct vd_json *object)
{
    struct vd_arena *a = &call->arena;
    if (!vd_slice_is(call->kind->storage_key, "namespaces"))
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
static void create_valid(struct vd_call *call, struct vd_json *object)
{
    if (!vd_call_check_escalation(call, object, true))
        return;
    call->target.name = vd_arena_copy(&call->arena, vd_meta_name(object));
    call->wish = (struct vd_wish){.when = VD_WHEN_ABSENT, .key = vd_call_key(call)};
    call->success = 201;
    vd_call_store(call, object);
}

static void create(struct vd_call *call)
{
    struct vd_json *object = NULL;
    if (vd_call_check_manager(call, false) && vd_call_decode(call, false, &object))
        vd_call_create_object(call, object);
}

void vd_call_create(struct vd_call *call)
{
    call->write = vd_call_create;
    vd_call_run(call, create);
}

/* What a request's nulls are: an applied configuration of a custom kind is not read by its schema,
 * so that nulls in it are refused where the schema does not allow them. */
static struct vd_pruned nulls_of(const struct vd_call *call)
{
    return (struct vd_pruned){.keeps_nulls = call->applied && !call->kind->builtin,
                              .empty_texts = call->kind->builtin};
}

/* A new object has no status but the server's. Fields that the client has set in it and that the
 * schema does not know are told all the same. */
static void drop_status(struct vd_call *call, struct vd_json *object, struct vd_pruned *pruned)
{
    struct vd_json *alone = vd_json_object(&call->arena);
    struct vd_json *status = call->kind->has_status ? vd_json_remove(object, VD_SLICE("status"))
                                                    : NULL;
    if (!status || call->kind->preserve_unknown)
        return;
    vd_json_add_ref(alone, VD_SLICE("status"), status);
    vd_schema_prune(call->kind->schema, alone, pruned);
}

void vd_call_create_object(struct vd_call *call, struct vd_json *object)
{
    struct vd_pruned pruned = nulls_of(call);
    call->guard_count = 0;
    if (!vd_call_check_kind(call, call->kind, object) || !vd_call_check_space(call, object) ||
        !vd_call_check_namespace(call) || !vd_call_check_definition(call))
        return;
    if (vd_meta_resource_version(object).n) {
        struct vd_status status = vd_status_bad_request(
            &call->arena, VD_SLICE("resourceVersion should not be set on objects to be created"));
        vd_call_reply_status(call, &status);
        return;
    }
    drop_status(call, object, &pruned);
    bool ok = vd_call_prepare(call, object, true, &pruned);
    if (ok) {
        vd_meta_drop_empty(object);
        ok = vd_call_check_fields(call, call->kind, &pruned, object);
    }
    vd_pruned_release(&pruned);
    if (!ok)
        return;
    vd_call_drop_repeated_owners(call, object);
    vd_call_warn_of_finalizers(call, object, NULL);
    make_name(call, object);
    stamp_new(call, object);
    furnish_namespace(call, object);
    if (!call->applied)
        vd_call_track(call, NULL, object, NULL);
    vd_call_validate(call, object, NULL, create_valid);
}

/* ---- update ---- */

/* What an update cannot change: identity, birth and the end of an object. */
static void keep_metadata(struct vd_call *call, const struct vd_json *old, struct vd_json *object)
{
    struct vd_json *metadata = vd_json_get(object, VD_SLICE("metadata"));
    vd_json_remove(metadata, VD_SLICE("selfLink"));
    vd_meta_inherit(&call->arena, object, old);
    vd_meta_set_resource_version(&call->arena, object, VD_SLICE(""));
}

/* A namespace's spec has a door of its own: its finalizers see to it that it is emptied
 * before it goes. */
static struct vd_json *through_finalize(struct vd_call *call, const struct vd_json *old,
                                        struct vd_json *object)
{
    if (!vd_slice_is(call->kind->storage_key, "namespaces"))
        return object;
    bool at_door = vd_slice_is(call->target.subresource, "finalize");
    struct vd_json *into = at_door ? vd_json_clone(&call->arena, old) : object;
    const struct vd_json *spec = vd_json_get(at_door ? object : old, VD_SLICE("spec"));
    if (spec)
        vd_json_set(&call->arena, into, VD_SLICE("spec"), vd_json_clone(&call->arena, spec));
    else
        vd_json_remove(into, VD_SLICE("spec"));
    return into;
}

static bool counts(const struct vd_kind *kind, const struct vd_json *member)
{
    struct vd_slice key = vd_json_key(member);
    return !vd_slice_is(key, "metadata") && !(kind->has_status && vd_slice_is(key, "status"));
}

/* Whether two versions of an object differ in nothing but metadata and status. Objects have few
 * members at the top, and are large below: nothing is copied. */
static bool is_same_content(const struct vd_kind *kind, const struct vd_json *old,
                            const struct vd_json *object)
{
    size_t was = 0, is = 0;
    struct vd_key_index index;
    bool same = true;
    VD_JSON_EACH (member, old)
        was += counts(kind, member);
    vd_key_index_init(&index, old);
    for (struct vd_json *member = vd_json_first(object); same && member;
         member = vd_json_next(member)) {
        if (!counts(kind, member))
            continue;
        const struct vd_json *before = vd_key_index_get(&index, vd_json_key(member));
        same = before && vd_json_eq(before, member);
        is++;
    }
    vd_key_index_release(&index);
    return same && was == is;
}

/* Anything but metadata and status counts as a new generation. */
static void count_generation(struct vd_call *call, const struct vd_json *old,
                             struct vd_json *object)
{
    if (!call->kind->counts_generation || vd_call_is_at_status(call))
        return;
    if (!is_same_content(call->kind, old, object))
        vd_meta_set_generation(&call->arena, object, vd_meta_generation(old) + 1);
}

/* The version and uid that the client says it means. False: answered. */
static bool check_preconditions(struct vd_call *call, const struct vd_json *object, bool is_put)
{
    struct vd_slice version = vd_meta_resource_version(object);
    struct vd_slice uid = vd_meta_text(object, VD_SLICE("uid"));
    struct vd_status_target about = vd_call_about(call);
    struct vd_status status;
    char current[VD_UID_TEXT_MAX];
    struct vd_slice ours = vd_uid_format(call->wish.expect_uid, current);
    uint64_t revision = 0;
    if (uid.n && !vd_slice_eq(uid, ours)) {
        status = vd_status_uid_differs(&call->arena, &about, call->target.path, uid, ours);
    } else if (version.n && vd_slice_to_u64(version, &revision) != 0) {
        status = vd_status_bad_request(
            &call->arena, VD_SLICE("metadata.resourceVersion is not a number: leave it as it was "
                                   "read, or out"));
    } else if (version.n && revision && revision != call->wish.revision) {
        status = vd_status_modified(&call->arena, &about, call->wish.revision);
    } else if (vd_call_is_at_status(call) && !revision && !call->version_tested &&
               call->kind->status_needs_version) {
        status = vd_status_precondition_required(&call->arena, &about);
    } else if (is_put && !revision && !call->kind->unconditional_update) {
        about.plural = call->kind->kind;
        status = vd_status_version_required(&call->arena, &about);
    } else {
        if (revision)
            call->write = NULL; /* it means this one, not any newer */
        return true;
    }
    vd_call_reply_status(call, &status);
    return false;
}

/* Brings the record up to date. What changes nothing but times in the record is written as it
 * was, whatever the order in which it came: then there is no event. An apply cannot see that
 * itself, since defaults are filled in behind it, and one inside an atomic map makes its
 * configuration differ from what is stored. */
static struct vd_json *track(struct vd_call *call, const struct vd_json *old,
                             struct vd_json *object, const struct vd_json *managed)
{
    bool changed = !call->applied && vd_call_track(call, old, object, managed);
    call->unchanged = false;
    if (changed || !vd_managed_is_same(&call->arena, call->managed_before, call->managed))
        return object;
    struct vd_json *same = vd_json_clone(&call->arena, old);
    vd_meta_set_resource_version(&call->arena, same, VD_SLICE(""));
    if (!vd_json_eq(same, object))
        return object;
    call->managed = call->managed_before;
    /* With its version, which stays where it stands among the members. */
    call->unchanged = true;
    return vd_json_clone(&call->arena, old);
}

/* Proposes a new version with which nothing is wrong. */
static void write_valid(struct vd_call *call, struct vd_json *object)
{
    if (!vd_call_check_escalation(call, object, false))
        return;
    call->success = 200;
    call->finishes = vd_deletion_is_finished(object, call->kind->storage_key);
    vd_call_store(call, object);
}

void vd_call_write_new(struct vd_call *call, const struct vd_json *old, struct vd_json *object,
                       bool is_put)
{
    struct vd_pruned pruned = nulls_of(call);
    if (!vd_call_check_kind(call, call->kind, object) || !vd_call_check_space(call, object))
        return;
    struct vd_json *managed = vd_json_remove(vd_json_get(object, VD_SLICE("metadata")),
                                             VD_SLICE("managedFields"));
    if (!vd_slice_eq(vd_meta_name(object), call->target.name)) {
        struct vd_status status = vd_status_name_differs(&call->arena, vd_meta_name(object),
                                                         call->target.name);
        vd_call_reply_status(call, &status);
        return;
    }
    if (is_put && vd_call_is_at_status(call))
        vd_status_subresource_fill(&call->arena, object, old);
    /* A strict request that is refused is shown what was wrong with it. */
    const struct vd_json *sent = call->validation == VD_FIELDS_STRICT
                                     ? vd_json_clone(&call->arena, object)
                                     : object;
    bool ok = vd_call_prepare(call, object, false, &pruned);
    if (ok) {
        vd_meta_drop_empty(object);
        ok = vd_call_check_fields(call, call->kind, &pruned, sent);
    }
    vd_pruned_release(&pruned);
    if (!ok || !check_preconditions(call, object, is_put) ||
        !vd_call_check_boundary(call, object, old))
        return;
    vd_call_drop_repeated_owners(call, object);
    keep_metadata(call, old, object);
    object = vd_status_subresource_merge(call->kind, &call->arena, object, old,
                                         vd_call_is_at_status(call));
    object = through_finalize(call, old, object);
    if (!vd_call_is_at_status(call))
        vd_rules_settle(call->kind, &call->arena, object);
    if (vd_call_is_at_status(call))
        vd_condition_rules_keep_times(call->kind, &call->arena, object, old);
    count_generation(call, old, object);
    vd_call_warn_of_finalizers(call, object, old);
    object = track(call, old, object, managed);
    vd_call_validate(call, object, old, write_valid);
}

static void update(struct vd_call *call)
{
    struct vd_json *object = NULL, *old = NULL;
    if (vd_call_check_manager(call, false) && vd_call_decode(call, false, &object) &&
        vd_call_read_current(call, &old))
        vd_call_write_new(call, old, object, true);
}

void vd_call_update(struct vd_call *call)
{
    call->write = vd_call_update;
    vd_call_run(call, update);
}

struct vd_json *vd_call_known(struct vd_call *call, const struct vd_json *old)
{
    struct vd_json *known = vd_json_clone(&call->arena, old);
    if (!call->kind->builtin && !call->kind->preserve_unknown)
        vd_schema_prune(call->kind->schema, known, NULL);
    return known;
}
