/* See object.h. */
#include "kinds/object.h"

#include "kinds/object_meta_rules.h"
#include "kinds/rules.h"
#include "kinds/scale_bounds.h"
#include "kinds/schema_rules.h"

static int refuse_growth(const struct vd_kind *kind, const struct vd_json *object,
                         struct vd_error *error)
{
    const struct vd_json *metadata = vd_json_get(object, VD_SLICE("metadata"));
    struct vd_slice name = vd_json_text(vd_json_get(metadata, VD_SLICE("name")));
    struct vd_slice namespace = vd_json_text(vd_json_get(metadata, VD_SLICE("namespace")));
    return vd_error_set(error, VD_ERR_LIMIT,
                        "the defaults of %.*s would add more than %d bytes to \"%.*s%s%.*s\": "
                        "make the object's lists or the definition's defaults shorter",
                        VD_FMT(kind->resource), VD_DEFAULTS_LEN_MAX, VD_FMT(namespace),
                        namespace.n ? "/" : "", VD_FMT(name));
}

/* By the schema of the kind, or of another of its versions. */
static int fit(const struct vd_kind *kind, const struct vd_schema *schema, struct vd_arena *arena,
               struct vd_json *object, struct vd_pruned *pruned, struct vd_effort *effort,
               struct vd_error *error)
{
    if (!kind->preserve_unknown)
        vd_schema_prune(schema, object, pruned);
    if (!vd_schema_default(schema, arena, object, effort))
        return refuse_growth(kind, object, error);
    return VD_OK;
}

void vd_object_prune(const struct vd_kind *kind, struct vd_json *object)
{
    if (!kind->preserve_unknown)
        vd_schema_prune(kind->schema, object, NULL);
}

int vd_object_catch_up(const struct vd_kind *kind, struct vd_arena *arena, struct vd_json *object,
                       struct vd_effort *effort, struct vd_error *error)
{
    struct vd_slice version = vd_json_text(vd_json_get(object, VD_SLICE("apiVersion")));
    const struct vd_schema *written = vd_kind_schema_of(kind, version);
    int code = fit(kind, written, arena, object, NULL, effort, error);
    if (!code && written != kind->schema)
        vd_object_prune(kind, object);
    return code;
}

void vd_object_catch_up_or_stay(const struct vd_kind *kind, struct vd_arena *arena,
                                struct vd_json *object)
{
    struct vd_effort effort = {0};
    struct vd_json *tried = vd_json_clone(arena, object);
    if (!vd_object_catch_up(kind, arena, tried, &effort, NULL))
        vd_json_assign(object, tried);
}

int vd_object_prepare(const struct vd_kind *kind, struct vd_arena *arena, struct vd_json *object,
                      bool create, struct vd_pruned *pruned, struct vd_effort *effort,
                      struct vd_error *error)
{
    int code = fit(kind, kind->schema, arena, object, pruned, effort, error);
    if (!code)
        vd_kind_rules_prepare(kind, arena, object, create);
    return code;
}

bool vd_object_validate(const struct vd_kind *kind, const struct vd_json *object,
                        const struct vd_json *old, struct vd_violations *out)
{
    size_t before = out->list.n;
    if (kind->stored) {
        vd_meta_rules_check(kind, object, out);
        if (old)
            vd_meta_rules_check_update(object, old, out);
    }
    size_t schema = out->list.n;
    out->hides_values = kind->hides_values;
    vd_schema_validate_change(kind->schema, object, kind->native ? NULL : old, out);
    if (vd_schema_may_check_rules(out, schema))
        vd_schema_check_rules(kind->schema, object, old, out);
    else if (vd_schema_has_rules(kind->schema))
        vd_violations_add_at(out, VD_VIOLATION_INVALID, VD_SLICE("<nil>"), VD_SLICE("null"),
                             VD_SLICE("some validation rules were not checked because the object "
                                      "was invalid; correct the existing errors to complete "
                                      "validation"));
    vd_scale_bounds_check(kind, object, old, out);
    out->hides_values = false; /* rules show names alone */
    vd_kind_rules_check(kind, object, old, out);
    if (out->effort.over && out->list.n == before)
        vd_violations_add_at(out, VD_VIOLATION_INVALID, VD_SLICE("<nil>"), VD_SLICE("\"\""),
                             VD_SLICE("its patterns and rules take more work to check than one "
                                      "object may: shorter texts and simpler patterns help"));
    return out->list.n == before && out->dropped == 0;
}

/* Takes the member out and puts it back under another key, at the end. */
static void rename_member(struct vd_arena *arena, struct vd_json *object, struct vd_slice key,
                          struct vd_slice other)
{
    struct vd_json *member = vd_json_remove(object, key);
    if (member)
        vd_json_set(arena, object, other, member);
}

void vd_object_convert(const struct vd_kind *from, const struct vd_kind *to, struct vd_arena *arena,
                       struct vd_json *object)
{
    for (size_t i = 0; from != to && i < from->storage_field_count; i++)
        rename_member(arena, object, from->storage_fields[i].here, from->storage_fields[i].there);
    for (size_t i = 0; from != to && i < to->storage_field_count; i++)
        rename_member(arena, object, to->storage_fields[i].there, to->storage_fields[i].here);
    struct vd_json *version = vd_json_get(object, VD_SLICE("apiVersion"));
    if (version && !vd_slice_eq(vd_json_text(version), to->api_version))
        vd_json_assign(version, vd_json_string(arena, to->api_version));
}
