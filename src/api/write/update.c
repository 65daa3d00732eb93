/* update: a new version of an object, all of which was sent, or which was made of the old one. */
#include "api/write/write_internal.h"
#include "kinds/condition_rules.h"
#include "kinds/deletion.h"
#include "kinds/object.h"
#include "kinds/object_meta.h"
#include "kinds/rules.h"
#include "kinds/server_status.h"
#include "kinds/status_subresource.h"
#include "kinds/uid.h"
#include "json/compare.h"
#include "json/key_index.h"

/* What an update cannot change: identity, birth and the end of an object. */
static void keep_metadata(struct vd_write *w, const struct vd_json *old, struct vd_json *object)
{
    struct vd_json *metadata = vd_json_get(object, VD_SLICE("metadata"));
    vd_json_remove(metadata, VD_SLICE("selfLink"));
    vd_meta_inherit(w->arena, object, old);
    vd_meta_set_resource_version(w->arena, object, VD_SLICE(""));
}

/* A namespace's spec is written through the subresource `finalize` alone: the finalizers in it see
 * to it that the namespace is emptied before it goes. */
static struct vd_json *through_finalize(struct vd_write *w, const struct vd_json *old,
                                        struct vd_json *object)
{
    if (!vd_slice_is(w->kind->resource, "namespaces"))
        return object;
    bool at_subresource = w->part == VD_PART_FINALIZE;
    struct vd_json *into = at_subresource ? vd_json_clone(w->arena, old) : object;
    const struct vd_json *spec = vd_json_get(at_subresource ? object : old, VD_SLICE("spec"));
    if (spec)
        vd_json_set(w->arena, into, VD_SLICE("spec"), vd_json_clone(w->arena, spec));
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
static void count_generation(struct vd_write *w, const struct vd_json *old, struct vd_json *object)
{
    if (!w->kind->counts_generation || vd_write_is_at_status(w))
        return;
    if (!is_same_content(w->kind, old, object))
        vd_meta_set_generation(w->arena, object, vd_meta_generation(old) + 1);
}

/* A whole object was sent, and not a Scale, which may leave the version out. */
static bool is_put(const struct vd_write *w)
{
    return w->verb == VD_WRITE_UPDATE && w->part != VD_PART_SCALE;
}

/* The version and uid that the client says it means. */
static bool check_preconditions(struct vd_write *w, const struct vd_json *object)
{
    struct vd_slice version = vd_meta_resource_version(object);
    struct vd_slice uid = vd_meta_text(object, VD_SLICE("uid"));
    char current[VD_UID_TEXT_MAX];
    struct vd_slice ours = uid.n ? vd_uid_format(w->wish.expect_uid, current) : uid;
    uint64_t revision = 0;
    if (!vd_slice_eq(uid, ours))
        return vd_write_refuse(w, &(struct vd_refusal){.reason = VD_REFUSED_UID_DIFFERS,
                                                       .is = vd_arena_copy(w->arena, ours),
                                                       .wanted = vd_arena_copy(w->arena, uid)});
    if (version.n && vd_slice_to_u64(version, &revision) != 0)
        return vd_write_refuse_text(
            w, VD_REFUSED_BAD_REQUEST,
            VD_SLICE("metadata.resourceVersion is not a number: leave it as it was read, or out"));
    if (version.n && revision && revision != w->wish.revision)
        return vd_write_refuse(
            w, &(struct vd_refusal){.reason = VD_REFUSED_CONFLICT, .current = w->wish.revision});
    if (vd_write_is_at_status(w) && !revision && !w->version_tested &&
        w->kind->status_needs_version)
        return vd_write_refuse_for(w, VD_REFUSED_STATUS_VERSION_REQUIRED);
    if (is_put(w) && !revision && !w->kind->unconditional_update)
        return vd_write_refuse_for(w, VD_REFUSED_VERSION_REQUIRED);
    w->once |= revision != 0; /* it means this one, not any newer */
    return true;
}

/* What only the server writes of a status, nobody else changes. */
static bool check_server_status(struct vd_write *w, const struct vd_json *old,
                                const struct vd_json *object)
{
    struct vd_violations violations = {0};
    if (!vd_write_is_at_status(w) || w->author != VD_AUTHOR_API)
        return true;
    bool ok = vd_server_status_check(w->kind, object, old, &violations);
    if (!ok)
        vd_write_refuse_invalid(w, w->kind->kind, object, &violations);
    vd_violations_release(&violations);
    return ok;
}

/* Brings the record up to date. What changes nothing but times in the record is written as it
 * was, whatever the order in which it came: then there is no event. An apply cannot see that
 * itself, since defaults are filled in behind it, and one inside an atomic map makes its
 * configuration differ from what is stored. */
static struct vd_json *track(struct vd_write *w, const struct vd_json *old, struct vd_json *object,
                             const struct vd_json *managed)
{
    bool changed = !w->applied && vd_write_track(w, old, object, managed);
    w->unchanged = false;
    if (changed || !vd_managed_is_same(w->arena, w->managed_before, w->managed))
        return object;
    struct vd_json *same = vd_json_clone(w->arena, old);
    vd_meta_set_resource_version(w->arena, same, VD_SLICE(""));
    if (!vd_json_eq(same, object))
        return object;
    w->managed = w->managed_before;
    /* With its version, which stays where it stands among the members. */
    w->unchanged = true;
    return vd_json_clone(w->arena, old);
}

/* Proposes a new version with which nothing is wrong. */
static void write_valid(struct vd_write *w, struct vd_json *object)
{
    if (!vd_write_check_escalation(w, object, false))
        return;
    w->finishes = vd_deletion_is_finished(object, w->kind->resource);
    vd_write_store(w, object);
}

void vd_write_put_version(struct vd_write *w, const struct vd_json *old, struct vd_json *object)
{
    struct vd_pruned pruned = vd_write_nulls(w);
    if (!vd_write_check_kind(w, w->kind, object) || !vd_write_check_namespace_named(w, object))
        return;
    struct vd_json *managed = vd_json_remove(vd_json_get(object, VD_SLICE("metadata")),
                                             VD_SLICE("managedFields"));
    if (!vd_slice_eq(vd_meta_name(object), w->name)) {
        vd_write_refuse(w, &(struct vd_refusal){.reason = VD_REFUSED_NAME_DIFFERS,
                                                .is = vd_arena_copy(w->arena, vd_meta_name(object)),
                                                .wanted = w->name});
        return;
    }
    if (is_put(w) && vd_write_is_at_status(w))
        vd_status_subresource_fill(w->arena, object, old);
    /* A strict request that is refused is shown what was wrong with it. */
    const struct vd_json *sent = w->validation == VD_FIELDS_STRICT ? vd_json_clone(w->arena, object)
                                                                   : object;
    bool ok = vd_write_prepare(w, object, false, &pruned);
    if (ok) {
        vd_meta_drop_empty(object);
        ok = vd_write_check_fields(w, w->kind, &pruned, sent);
    }
    vd_pruned_release(&pruned);
    if (!ok || !check_preconditions(w, object) || !vd_write_check_boundary(w, object, old))
        return;
    vd_write_drop_repeated_owners(w, object);
    keep_metadata(w, old, object);
    object = vd_status_subresource_merge(w->kind, w->arena, object, old, vd_write_is_at_status(w));
    object = through_finalize(w, old, object);
    if (!check_server_status(w, old, object))
        return;
    if (!vd_write_is_at_status(w))
        vd_kind_rules_settle(w->kind, w->arena, object);
    if (vd_write_is_at_status(w))
        vd_condition_rules_keep_times(w->kind, w->arena, object, old);
    count_generation(w, old, object);
    if (w->verb == VD_WRITE_REPLACE)
        vd_write_ignore_annotations(w, old, object);
    vd_write_warn_of_finalizers(w, object, old);
    object = track(w, old, object, managed);
    if (w->verb == VD_WRITE_REPLACE && !w->unchanged && !vd_write_allow_replacement(w, object))
        return;
    if (vd_write_check_follower(w, object, old))
        vd_write_validate(w, object, old, write_valid);
}

void vd_write_update(struct vd_write *w)
{
    struct vd_json *object = NULL, *old = NULL;
    if (!vd_write_read_sent(w, &object) || !vd_write_read_current(w, &old))
        return;
    if (w->ops->make && !w->ops->make(w, old, &object))
        vd_write_refuse_for(w, VD_REFUSED_BY_CALLER);
    else
        vd_write_put_version(w, old, object);
}

struct vd_json *vd_write_pruned_copy(struct vd_write *w, const struct vd_json *old)
{
    struct vd_json *known = vd_json_clone(w->arena, old);
    if (!w->kind->native && !w->kind->preserve_unknown)
        vd_schema_prune(w->kind->schema, known, NULL);
    return known;
}
