/*
 * See definition_plan.h. The kinds are made as api/definitions.h makes them when the definition has
 * been written and its names are accepted. Which names others hold is taken from the set.
 */
#include "api/definition_plan.h"

#include "api/definition_kind.h"
#include "api/definition_names.h"
#include "kinds/deletion.h"
#include "kinds/object.h"
#include "kinds/object_meta.h"
#include "kinds/uid.h"
#include "json/span.h"

#define DEFINITION_GROUP "apiextensions.k8s.io"

static struct vd_slice group_of(const struct vd_json *definition)
{
    return vd_json_text(vd_json_dig(definition, "spec", "group", NULL));
}

/* ---- names ---- */

/* Has each definition of the group but this one hold its names. */
static struct vd_name_holder *hold_others(struct vd_arena *a, struct vd_name_claims *claims,
                                          const struct vd_kind_set *set,
                                          const struct vd_json *definition)
{
    size_t n;
    struct vd_slice group = group_of(definition);
    struct vd_kind *const *all = vd_kind_set_all(set, &n);
    struct vd_name_holder *holders = vd_arena_alloc(a, (n + 1) * sizeof *holders);
    for (size_t i = 0; i < n; i++) {
        holders[i] = (struct vd_name_holder){0};
        if (all[i]->builtin || !all[i]->storage_version || !vd_slice_eq(all[i]->group, group) ||
            vd_slice_eq(all[i]->resource, vd_meta_name(definition)))
            continue;
        vd_name_claims_hold(claims, &holders[i], group,
                            vd_json_dig(all[i]->document, "spec", "names", NULL));
    }
    return holders;
}

static int check_names(struct vd_arena *a, const struct vd_kind_set *set,
                       const struct vd_json *definition, struct vd_error *error)
{
    size_t n;
    struct vd_name_claims claims;
    struct vd_name_holder self = {0};
    vd_name_claims_init(&claims);
    struct vd_name_holder *holders = hold_others(a, &claims, set, definition);
    struct vd_name_verdict verdict = vd_name_claims_judge(
        &claims, &self, group_of(definition), vd_json_dig(definition, "spec", "names", NULL), NULL,
        a);
    (void)vd_kind_set_all(set, &n);
    for (size_t i = 0; i < n; i++)
        vd_name_claims_hold(&claims, &holders[i], group_of(definition), NULL);
    vd_name_claims_release(&claims);
    if (verdict.accepted)
        return VD_OK;
    return vd_error_set(
        error, VD_ERR_EXISTS, "the names of the definition \"%.*s\" are not accepted (%.*s): %.*s",
        VD_FMT(vd_meta_name(definition)), VD_FMT(verdict.reason), VD_FMT(verdict.message));
}

/* ---- the definition ---- */

/* The definition as it would be stored, in the arena. */
static int prepare(struct vd_arena *a, const struct vd_kind *kind, struct vd_json *definition,
                   struct vd_error *error)
{
    struct vd_effort effort = {0};
    return vd_object_prepare(kind, a, definition, true, NULL, &effort, error);
}

/* What the stored definition, if there is one, says of the kinds: whose they are, and that there
 * may be objects as another schema wanted them. */
static int inherit(const struct vd_api_env *env, struct vd_arena *a, struct vd_json *definition,
                   struct vd_error *error)
{
    static const struct vd_slice path[] = {{"metadata", 8}, {"deletionTimestamp", 17}};
    struct vd_slice name = vd_meta_name(definition), time;
    struct vd_key key = {VD_DEFINITIONS, VD_SLICE(""), name};
    struct vd_event *event = NULL;
    vd_meta_set_uid(a, definition, (struct vd_uid){{0}});
    if (vd_store_get(env->store, &key, 0, &event, NULL))
        return VD_OK;
    bool deleting = vd_span_find(vd_body_slice(event->body), path, 2, &time);
    vd_meta_set_uid(a, definition, event->uid);
    vd_event_unref(event);
    if (deleting)
        return vd_error_set(error, VD_ERR_LOCKED,
                            "the definition \"%.*s\" is being deleted: wait until it has gone",
                            VD_FMT(name));
    return VD_OK;
}

/* What the kinds are made of. */
static struct vd_json *document_of(const struct vd_api_env *env, struct vd_arena *a,
                                   const struct vd_json *definition)
{
    struct vd_json *document = vd_definition_document(
        a, definition, vd_json_dig(definition, "spec", "names", NULL));
    char digits[20];
    uint64_t revision = vd_store_revision(env->store);
    if (!vd_uid_is_none(vd_meta_uid(definition)))
        vd_meta_set_resource_version(a, document,
                                     vd_slice(digits, vd_u64_digits(revision, digits)));
    return document;
}

/* All that is wrong with a definition of which no kind can be made. */
static void explain(const struct vd_kind *kind, const struct vd_json *definition,
                    struct vd_violations *violations)
{
    if (violations)
        (void)vd_object_validate(kind, definition, NULL, violations);
}

static int plan(const struct vd_api_env *env, struct vd_arena *a, const struct vd_kind *kind,
                struct vd_kind_set **set, struct vd_json *definition, struct vd_error *error)
{
    struct vd_kind_set *planned = NULL;
    int code = prepare(a, kind, definition, error);
    if (!code)
        code = inherit(env, a, definition, error);
    if (!code && !vd_json_is(vd_json_get(definition, VD_SLICE("spec")), VD_JSON_OBJECT))
        code = vd_error_set(error, VD_ERR_INVALID, "the definition has no spec");
    if (!code)
        code = vd_kind_set_with(&planned, *set, document_of(env, a, definition),
                                vd_kinds_metadata(env->kinds), error);
    if (!code)
        code = check_names(a, *set, definition, error);
    if (code) {
        vd_kind_set_unref(planned);
        return code;
    }
    vd_kind_set_unref(*set);
    *set = planned;
    return VD_OK;
}

int vd_definition_plan(const struct vd_api_env *env, struct vd_kind_set **set,
                       const struct vd_json *definition, struct vd_violations *violations,
                       struct vd_error *error)
{
    struct vd_arena arena = {0};
    const struct vd_kind *kind = vd_kind_set_kind(*set, VD_SLICE(DEFINITION_GROUP), VD_SLICE("v1"),
                                                  VD_SLICE("CustomResourceDefinition"));
    struct vd_json *copy = vd_json_copy(&arena, definition);
    int code = vd_meta_check(copy, error);
    if (!code) {
        code = plan(env, &arena, kind, set, copy, error);
        if (code == VD_ERR_INVALID)
            explain(kind, copy, violations);
    }
    vd_arena_release(&arena);
    return code;
}
