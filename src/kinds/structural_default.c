/*
 * Defaults: what fills in a field has to be valid there, and to have no fields that
 * would be pruned at once.
 */
#include "kinds/schema_rules.h"
#include "kinds/structural_internal.h"

/* The violations of a default under the path of the default. */
static void add_under(const struct vd_violations *found, const struct vd_field_path *path,
                      struct vd_violations *out)
{
    struct vd_buf field = {0};
    for (size_t i = 0; i < found->list.n; i++) {
        const struct vd_violation *v = &found->list.p[i];
        struct vd_slice message = v->message, words;
        vd_buf_reset(&field);
        vd_field_path_write(&field, path, VD_FIELD_BRACKETS);
        if (!vd_slice_is(v->field, "<nil>"))
            vd_buf_addf(&field, ".%.*s", VD_FMT(v->field));
        /* The words come first again. */
        if (!vd_slice_cut(&message, ':', &words))
            message = VD_SLICE("");
        vd_violations_add_at(out, v->type, vd_buf_slice(&field), vd_shown_nothing(),
                             vd_slice_trim(message));
    }
    vd_buf_release(&field);
}

static void check_default(const struct vd_json *schema, const struct vd_json *value,
                          const struct vd_field_path *path, struct vd_violations *out)
{
    struct vd_schema *compiled = NULL;
    struct vd_violations found = {.effort = out->effort};
    struct vd_pruned pruned = {0};
    struct vd_arena arena = {0};
    struct vd_schema_options options = {.borrow = true, .lazy = true};
    if (vd_schema_new(&compiled, schema, &options, NULL))
        return; /* said elsewhere */
    struct vd_json *copy = vd_json_copy(&arena, value);
    vd_schema_prune(compiled, copy, &pruned);
    if (pruned.paths.n)
        vd_violations_add(out, VD_VIOLATION_INVALID, path, vd_shown_json(out, value), "%s",
                          "must not have unknown fields");
    if (!vd_schema_validate(compiled, value, &found))
        add_under(&found, path, out);
    out->effort = found.effort;
    vd_schema_unref(compiled);
    vd_violations_release(&found);
    vd_pruned_release(&pruned);
    vd_arena_release(&arena);
}

/* A default as it is written, not yet filled in by those below it, follows the rules. */
static void check_default_rules(const struct vd_json *schema, const struct vd_json *value,
                                const struct vd_field_path *path, struct vd_violations *out)
{
    struct vd_schema *compiled = NULL;
    struct vd_violations found = {.effort = out->effort};
    struct vd_schema_options options = {.borrow = true, .lazy = true};
    if (vd_schema_new(&compiled, schema, &options, NULL))
        return;
    if (!vd_schema_check_rules(compiled, value, NULL, &found))
        add_under(&found, path, out);
    out->effort = found.effort;
    vd_schema_unref(compiled);
    vd_violations_release(&found);
}

typedef void (*check_of_default)(const struct vd_json *schema, const struct vd_json *value,
                                 const struct vd_field_path *path, struct vd_violations *out);

static void walk(const struct vd_json *schema, const struct vd_field_path *path,
                 check_of_default check, struct vd_violations *out)
{
    const struct vd_json *value = vd_json_get(schema, VD_SLICE("default"));
    const struct vd_json *items = vd_subschema(schema, VD_SLICE("items"));
    struct vd_field_path at = vd_field_member(path, VD_SLICE("default"));
    struct vd_field_path below = vd_field_member(path, VD_SLICE("items"));
    struct vd_field_path up = vd_field_member(path, VD_SLICE("properties"));
    if (value && !vd_json_is(value, VD_JSON_NULL))
        check(schema, value, &at, out);
    if (items)
        walk(items, &below, check, out);
    VD_JSON_EACH (property, vd_subschema(schema, VD_SLICE("properties"))) {
        struct vd_field_path next = vd_field_key(&up, vd_json_key(property));
        walk(property, &next, check, out);
    }
}

void vd_structural_defaults(const struct vd_json *schema, const struct vd_field_path *path,
                            struct vd_violations *out)
{
    walk(schema, path, check_default, out);
}

void vd_structural_default_rules(const struct vd_json *schema, const struct vd_field_path *path,
                                 struct vd_violations *out)
{
    walk(schema, path, check_default_rules, out);
}
