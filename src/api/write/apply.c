/*
 * Server-side apply. The rules are in kinds/object_apply.h. An object that is not there is created,
 * for which one needs the right to create. Of a part of the object only that part of the
 * configuration counts.
 */
#include "kinds/object_apply.h"

#include "api/write/write_internal.h"
#include "base/limits.h"
#include "kinds/object.h"
#include "kinds/object_merge.h"
#include "kinds/object_meta.h"
#include "json/merge_patch.h"
#include "json/write.h"

static bool refuse_bad(struct vd_write *w, const char *text)
{
    return vd_write_refuse_text(w, VD_REFUSED_BAD_REQUEST, vd_slice_of(text));
}

/* ---- the configuration ---- */

/* The name must be the one that is meant, and is filled in if it is not said. */
static bool check_name(struct vd_write *w, struct vd_json *config)
{
    struct vd_slice name = vd_meta_name(config);
    if (name.n && !vd_slice_eq(name, w->name))
        return vd_write_refuse(w, &(struct vd_refusal){.reason = VD_REFUSED_NAME_DIFFERS,
                                                       .is = vd_arena_copy(w->arena, name),
                                                       .wanted = w->name});
    vd_meta_set_name(w->arena, config, w->name);
    return true;
}

static bool check_type(struct vd_write *w, struct vd_json *config)
{
    struct vd_slice version = vd_json_text(vd_json_get(config, VD_SLICE("apiVersion")));
    struct vd_slice kind = vd_json_text(vd_json_get(config, VD_SLICE("kind")));
    struct vd_error error;
    vd_meta_fill_texts(config);
    if (!vd_slice_eq(kind, w->kind->kind) || !vd_slice_eq(version, w->kind->api_version)) {
        bool grouped = version.n && memchr(version.p, '/', version.n);
        vd_error_set(&error, VD_ERR_INVALID, "invalid object type: %s%.*s, Kind=%.*s",
                     grouped ? "" : "/", VD_FMT(version), VD_FMT(kind));
    } else if (!vd_meta_check(config, &error)) {
        return true;
    }
    return refuse_bad(w, error.text);
}

/* What the schema does not know, or a list that cannot be merged. */
static bool check_schema(struct vd_write *w, const struct vd_json *config)
{
    struct vd_error error;
    if (!vd_apply_check(w->arena, vd_schema_root(w->kind->schema), config, &error))
        return true;
    struct vd_slice namespace = w->kind->namespaced ? w->namespace : VD_SLICE("");
    vd_error_prefix(&error, "failed to create typed patch object (%.*s/%.*s; %s%.*s, Kind=%.*s)",
                    VD_FMT(namespace), VD_FMT(w->name), w->kind->group.n ? "" : "/",
                    VD_FMT(w->kind->api_version), VD_FMT(w->kind->kind));
    return refuse_bad(w, error.text);
}

/* Keeps what the part that is written may have. Of the status subresource that is status, and the
 * labels and annotations of a built-in kind; of the object it is everything but status. */
static void keep_part(struct vd_write *w, struct vd_json *config)
{
    static const char *const let_in[] = {"name",   "namespace",  "uid", "resourceVersion",
                                         "labels", "annotations"};
    size_t n = sizeof let_in / sizeof *let_in - (w->kind->native ? 0 : 2);
    struct vd_json *metadata = vd_json_get(config, VD_SLICE("metadata"));
    struct vd_json *kept = vd_json_object(w->arena), *before = NULL;
    if (!vd_write_is_at_status(w)) {
        if (w->kind->has_status)
            vd_json_remove(config, VD_SLICE("status"));
        return;
    }
    for (size_t i = 0; i < n; i++) {
        struct vd_json *value = vd_json_remove(metadata, vd_slice_of(let_in[i]));
        if (value)
            vd_json_add_ref(kept, vd_slice_of(let_in[i]), value);
    }
    vd_json_set(w->arena, config, VD_SLICE("metadata"), kept);
    for (struct vd_json *member = vd_json_first(config), *next; member; member = next) {
        struct vd_slice key = vd_json_key(member);
        next = vd_json_next(member);
        if (vd_slice_is(key, "apiVersion") || vd_slice_is(key, "kind") ||
            vd_slice_is(key, "metadata") || vd_slice_is(key, "status"))
            before = member;
        else
            vd_json_remove_after(config, before);
    }
}

/* Where the boundary is strict, a configuration may say what is there already, and no more. */
static bool check_rest(struct vd_write *w, const struct vd_json *config, const struct vd_json *live)
{
    if (!w->kind->status_boundary_strict || w->part == VD_PART_SCALE)
        return true;
    struct vd_json *object = vd_json_clone(w->arena, live);
    vd_json_merge_patch(w->arena, object, config);
    if (!vd_write_prepare(w, object, false, NULL))
        return false;
    vd_meta_drop_empty(object);
    return vd_write_check_boundary(w, object, live);
}

/* Keys that are repeated: refused, or warned of, as the write wants it. */
static bool check_strict(struct vd_write *w)
{
    struct vd_buf text = {0};
    if (w->validation != VD_FIELDS_STRICT || w->warnings.n == 0)
        return true;
    vd_buf_add_text(&text, "error strict decoding YAML: error converting YAML to JSON: ");
    vd_write_join_warnings(w, &text);
    struct vd_slice all = vd_arena_copy(w->arena, vd_buf_slice(&text));
    vd_buf_release(&text);
    return refuse_bad(w, all.p);
}

static bool read_config(struct vd_write *w, struct vd_json **out)
{
    if (!vd_write_read_sent(w, out) || !check_type(w, *out))
        return false;
    struct vd_json *managed = vd_json_dig(*out, "metadata", "managedFields", NULL);
    if (managed && !vd_json_is(managed, VD_JSON_NULL))
        return refuse_bad(w, "metadata.managedFields must be nil");
    if (managed)
        vd_json_remove(vd_json_get(*out, VD_SLICE("metadata")), VD_SLICE("managedFields"));
    return check_name(w, *out) && check_schema(w, *out) && check_strict(w);
}

/* ---- applying ---- */

/* Client-side apply of the same manager goes on from what is applied here, unless that is too long
 * for an annotation: then it begins anew. */
static void note_last_applied(struct vd_write *w, const struct vd_apply *apply)
{
    struct vd_slice key = VD_SLICE(VD_LAST_APPLIED), before;
    struct vd_buf text = {0};
    if (!vd_slice_is(apply->who.manager, "kubectl") ||
        !vd_meta_annotation(apply->object, key, &before) || !before.n)
        return;
    struct vd_json *config = vd_json_clone(w->arena, apply->config);
    vd_meta_remove_annotation(config, key);
    vd_json_write(&text, config);
    vd_buf_add_char(&text, '\n');
    vd_meta_set_annotation(w->arena, apply->object, key, vd_buf_slice(&text));
    vd_buf_release(&text);
    if (vd_meta_annotations_len(vd_meta_annotations(apply->object)) > VD_ANNOTATIONS_LEN_MAX)
        vd_meta_remove_annotation(apply->object, key);
}

/* The object that results, and w->managed. NULL: others have fields that it would change. */
static struct vd_json *applied(struct vd_write *w, const struct vd_json *live,
                               const struct vd_json *config)
{
    struct vd_managed managed;
    struct vd_buf record = {0};
    vd_managed_read(&managed, w->arena, live ? w->managed : VD_SLICE(""));
    struct vd_apply apply = {
        .root = vd_schema_root(w->kind->schema),
        .live = live,
        .config = config,
        .who = vd_write_manager(w),
        .force = w->force,
        .managed = &managed,
    };
    w->applied = true;
    if (vd_object_apply(w->arena, &apply)) {
        vd_write_refuse(w, &(struct vd_refusal){.reason = VD_REFUSED_APPLY_CONFLICT,
                                                .text = vd_apply_conflict_text(w->arena, &apply),
                                                .conflicts = apply.conflicts,
                                                .conflicts_n = apply.conflicts_n});
        return NULL;
    }
    note_last_applied(w, &apply);
    if (managed.changed || !live) {
        vd_managed_write(&record, &managed);
        w->managed = vd_arena_copy(w->arena, vd_buf_slice(&record));
        vd_buf_release(&record);
    }
    return apply.object;
}

/* A configuration that means an object which is not there. */
static bool means_none(struct vd_write *w, const struct vd_json *config)
{
    struct vd_slice uid = vd_meta_text(config, VD_SLICE("uid"));
    if (uid.n)
        return vd_write_refuse(w, &(struct vd_refusal){.reason = VD_REFUSED_NO_OBJECT_OF_UID,
                                                       .wanted = vd_arena_copy(w->arena, uid)});
    if (w->part != VD_PART_OBJECT)
        return vd_write_refuse_for(w, VD_REFUSED_NOT_FOUND);
    return !vd_meta_resource_version(config).n || vd_write_refuse_for(w, VD_REFUSED_CONFLICT);
}

/* To create by an apply one must be allowed to create. */
static void create(struct vd_write *w, struct vd_json *config)
{
    if (!means_none(w, config) || !vd_write_check_rights(w, "create"))
        return;
    if (w->kind->terminating) {
        vd_write_refuse_for(w, VD_REFUSED_KIND_TERMINATING);
        return;
    }
    struct vd_json *object = applied(w, NULL, config);
    if (object)
        vd_write_create_object(w, object);
}

void vd_write_apply(struct vd_write *w)
{
    struct vd_json *config = NULL, *live = NULL;
    struct vd_event *event = NULL;
    struct vd_key key = vd_write_key(w);
    if (!read_config(w, &config))
        return;
    int code = vd_store_get(w->l->env->store, &key, 0, &event, NULL);
    vd_event_unref(event);
    if (code == VD_ERR_NOT_FOUND) {
        keep_part(w, config);
        create(w, config);
        return;
    }
    if (!vd_write_read_current(w, &live) || !check_rest(w, config, live))
        return;
    keep_part(w, config);
    struct vd_slice version = vd_meta_resource_version(config);
    struct vd_json *object = applied(w, vd_write_pruned_copy(w, live), config);
    if (!object)
        return;
    /* The version counts only if the configuration says it. */
    vd_meta_set_resource_version(w->arena, object, version);
    vd_write_put_version(w, live, object);
}
