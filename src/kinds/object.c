/* See object.h. */
#include "kinds/object.h"

#include "kinds/metadata.h"
#include "kinds/rules.h"

void vd_object_prepare(const struct vd_kind *kind, struct vd_arena *arena, struct vd_json *object,
                       bool create, struct vd_pruned *pruned)
{
    if (!kind->preserve_unknown)
        vd_schema_prune(kind->schema, object, pruned);
    vd_schema_default(kind->schema, arena, object);
    vd_rules_prepare(kind, arena, object, create);
}

bool vd_object_validate(const struct vd_kind *kind, const struct vd_json *object,
                        const struct vd_json *old, struct vd_violations *out)
{
    size_t before = out->list.n;
    if (kind->stored) {
        vd_metadata_check(kind, object, out);
        if (old)
            vd_metadata_check_update(object, old, out);
    }
    vd_schema_validate(kind->schema, object, out);
    vd_rules_check(kind, object, old, out);
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
