/* See read.h. */
#include "api/read.h"

int vd_api_authorize(const struct vd_api_env *env, const struct vd_access *access,
                     struct vd_error *error)
{
    struct vd_buf reason = {0}, text = {0};
    int code = VD_OK;
    if (!vd_gatekeeper_allows(env->gatekeeper, access, &reason)) {
        vd_access_add_refusal(&text, access, vd_buf_slice(&reason));
        code = vd_error_set(error, VD_ERR_FORBIDDEN, "%s", vd_buf_text(&text));
    }
    vd_buf_release(&reason);
    vd_buf_release(&text);
    return code;
}

int vd_api_check_revision(const struct vd_api_env *env, uint64_t revision, struct vd_error *error)
{
    return vd_store_check_revision(env->store, revision, error) == VD_ERR_FUTURE ? VD_ERR_FUTURE
                                                                                 : VD_OK;
}

uint64_t vd_api_revision(const struct vd_api_env *env)
{
    return vd_store_revision(env->store);
}

int vd_api_get(const struct vd_api_env *env, const struct vd_key *key, uint64_t not_older,
               struct vd_event **out, struct vd_error *error)
{
    int code = not_older ? vd_api_check_revision(env, not_older, error) : VD_OK;
    return code ? code : vd_store_get(env->store, key, 0, out, error);
}

/* ---- filters ---- */

/* Kubernetes' words: kinds that have a list of their own say it in another way. */
static int unknown_field(const struct vd_kind *kind, struct vd_slice field, struct vd_error *error)
{
    return vd_error_set(error, VD_ERR_INVALID,
                        kind->native && !kind->selectable_count
                            ? "\"%.*s\" is not a known field selector: only \"metadata.name\", "
                              "\"metadata.namespace\""
                            : "field label not supported: %.*s",
                        VD_FMT(field));
}

/* Whether the field is in what is stored what it is in this version. Fields of a version that only
 * a webhook can make are not there. */
static bool is_as_stored(const struct vd_kind *kind, struct vd_slice field)
{
    return !kind->webhook || kind->storage_version ||
           vd_slice_starts_with(field, VD_SLICE("metadata."));
}

/* Checks the fields and finds where they are in what is stored. *out is one reference: to the
 * selector itself where every field is where its name says, else to one that asks there; then
 * `lookup` is another, too. */
static int find_fields(const struct vd_selection *s, struct vd_arena *arena,
                       struct vd_field_selector **out, vd_field_lookup_fn **lookup,
                       struct vd_error *error)
{
    size_t n = 0;
    bool moved = false;
    if (!s->fields)
        return VD_OK;
    const struct vd_field_requirement *r = vd_field_selector_requirements(s->fields, &n);
    struct vd_slice *stored = vd_arena_alloc(arena, (n + 1) * sizeof *stored);
    for (size_t i = 0; i < n; i++) {
        if (!vd_kind_selectable(s->kind, r[i].field, &stored[i]))
            return unknown_field(s->kind, r[i].field, error);
        if (!is_as_stored(s->kind, r[i].field))
            return vd_error_set(error, VD_ERR_INVALID,
                                "field label not supported: %.*s: a webhook converts objects to "
                                "this version; select by fields in the version that is stored",
                                VD_FMT(r[i].field));
        moved |= !vd_slice_eq(r[i].field, stored[i]);
    }
    if (!moved) {
        *out = vd_field_selector_ref(s->fields);
        return VD_OK;
    }
    *lookup = vd_attributes_first_field;
    return vd_field_selector_rename(out, s->fields, stored, error);
}

int vd_api_filter(struct vd_filter **out, const struct vd_selection *s, struct vd_arena *arena,
                  struct vd_error *error)
{
    struct vd_field_selector *fields = NULL;
    vd_field_lookup_fn *lookup = NULL;
    int code = find_fields(s, arena, &fields, &lookup, error);
    if (code)
        return code;
    struct vd_filter_spec spec = {
        .resource = s->kind->resource,
        .namespace = s->kind->namespaced ? s->namespace : VD_SLICE(""),
        .name = s->name,
        .labels = s->labels,
        .fields = fields,
        .field = lookup,
        .format = s->format,
        .dialect = s->kind->converts ? s->kind->api_version : VD_SLICE(""),
    };
    struct vd_slice name;
    if (s->fields && !spec.name.n &&
        vd_field_selector_requires(s->fields, VD_SLICE("metadata.name"), &name))
        spec.name = name;
    *out = vd_filter_new(&spec);
    vd_field_selector_unref(fields);
    return VD_OK;
}
