/*
 * Defaults: what fills in a field has to be valid there, and to have no fields that
 * would be pruned at once. And defaults that fill in each other must not grow beyond what an
 * object may have.
 */
#include "kinds/schema_internal.h"
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

/* ---- growth ---- */

static bool is_too_long(uint64_t len)
{
    return len > VD_DEFAULTS_LEN_MAX;
}

/* The default, or all of an empty object here, is too long with what is filled in below. */
static void refuse_growth(const struct vd_schema_node *node, const struct vd_field_path *path,
                          struct vd_violations *out)
{
    struct vd_field_path at = vd_field_member(path, VD_SLICE("default"));
    bool own = node->fallback && is_too_long(node->fallback_len);
    vd_violations_add(out, VD_VIOLATION_INVALID, own ? &at : path,
                      own ? vd_shown_json(out, node->fallback) : VD_SLICE("{}"),
                      "has %s%llu bytes when the defaults below it are filled in, and defaults may "
                      "add %d bytes to an object: make the lists in the defaults shorter",
                      own ? "" : "at least ",
                      (unsigned long long)(own ? node->fallback_len : node->growth),
                      VD_DEFAULTS_LEN_MAX);
}

/* Names the innermost places where it is too much. True: there is one here or below. */
static bool check_growth(const struct vd_schema_node *node, const struct vd_field_path *path,
                         struct vd_violations *out)
{
    struct vd_field_path items = vd_field_member(path, VD_SLICE("items"));
    struct vd_field_path more = vd_field_member(path, VD_SLICE("additionalProperties"));
    struct vd_field_path up = vd_field_member(path, VD_SLICE("properties"));
    bool found = false;
    if (!(node->flags & VD_SCHEMA_DEFAULTS_BELOW))
        return false;
    if (node->items)
        found = check_growth(node->items, &items, out);
    if (node->additional)
        found |= check_growth(node->additional, &more, out);
    for (uint32_t i = 0; i < node->property_count; i++) {
        struct vd_field_path next = vd_field_key(&up, node->properties[i].name);
        if (node->properties[i].node)
            found |= check_growth(node->properties[i].node, &next, out);
    }
    if (!found && (is_too_long(node->growth) || is_too_long(node->fallback_len))) {
        refuse_growth(node, path, out);
        found = true;
    }
    return found;
}

void vd_structural_default_growth(const struct vd_schema *compiled,
                                  const struct vd_field_path *path, struct vd_violations *out)
{
    check_growth(compiled->root, path, out);
}
