/*
 * Defaults: what fills in a field has to be valid there, and to have no fields that
 * would be pruned at once. Those of apiVersion, kind and metadata of a resource, and below them,
 * are tried in a resource instead: what metadata may have, no definition says. And defaults that
 * fill in each other must not grow beyond what an object may have.
 */
#include "kinds/embedded.h"
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
        vd_violations_add_at(out, v->type, vd_buf_slice(&field), vd_bad_value_nothing(),
                             vd_slice_trim(message));
    }
    vd_buf_release(&field);
}

/* Where a schema stands in apiVersion, kind or metadata of a resource; NULL: not there. */
struct identity {
    const struct identity *up; /* NULL: in the resource itself */
    struct vd_slice key;       /* empty: an element of a list */
};

static bool is_identity(struct vd_slice key)
{
    return vd_slice_is(key, "apiVersion") || vd_slice_is(key, "kind") ||
           vd_slice_is(key, "metadata");
}

/* A resource that has nothing but the value, at its place. */
static struct vd_json *resource_with(struct vd_arena *a, const struct identity *place,
                                     const struct vd_json *value)
{
    struct vd_json *made = vd_json_copy(a, value);
    for (; place; place = place->up) {
        struct vd_json *parent = place->key.n ? vd_json_object(a) : vd_json_array(a);
        if (place->key.n)
            vd_json_add(a, parent, place->key, made);
        else
            vd_json_append(parent, made);
        made = parent;
    }
    if (!vd_json_get(made, VD_SLICE("apiVersion")))
        vd_json_add(a, made, VD_SLICE("apiVersion"), vd_json_string(a, VD_SLICE("validation/v1")));
    if (!vd_json_get(made, VD_SLICE("kind")))
        vd_json_add(a, made, VD_SLICE("kind"), vd_json_string(a, VD_SLICE("Validation")));
    return made;
}

static bool check_identity(const struct identity *place, const struct vd_json *value,
                           const struct vd_field_path *path, struct vd_violations *out)
{
    struct vd_arena arena = {0};
    struct vd_violations found = {0};
    struct vd_buf why = {0};
    bool ok = vd_embedded_check(resource_with(&arena, place, value), NULL, &found);
    if (!ok) {
        vd_violations_write(&why, &found);
        vd_violations_add(out, VD_VIOLATION_INVALID, path, vd_bad_value_json(out, value),
                          "must result in valid metadata: %s", vd_buf_text(&why));
    }
    vd_buf_release(&why);
    vd_violations_release(&found);
    vd_arena_release(&arena);
    return ok;
}

static void check_default(const struct vd_json *schema, const struct vd_json *value,
                          const struct identity *place, const struct vd_field_path *path,
                          struct vd_violations *out)
{
    struct vd_schema *compiled = NULL;
    struct vd_violations found = {.effort = out->effort};
    struct vd_pruned pruned = {0};
    struct vd_arena arena = {0};
    struct vd_schema_options options = {.borrow = true, .lazy = true};
    if (vd_schema_new(&compiled, schema, &options, NULL))
        return; /* said elsewhere */
    if (!place)
        vd_schema_prune(compiled, vd_json_copy(&arena, value), &pruned);
    if (pruned.paths.n)
        vd_violations_add(out, VD_VIOLATION_INVALID, path, vd_bad_value_json(out, value), "%s",
                          "must not have unknown fields");
    if ((!place || check_identity(place, value, path, out)) &&
        !vd_schema_validate(compiled, value, &found))
        add_under(&found, path, out);
    out->effort = found.effort;
    vd_schema_unref(compiled);
    vd_violations_release(&found);
    vd_pruned_release(&pruned);
    vd_arena_release(&arena);
}

/* A default as it is written, not yet filled in by those below it, follows the rules. */
static void check_default_rules(const struct vd_json *schema, const struct vd_json *value,
                                const struct identity *place, const struct vd_field_path *path,
                                struct vd_violations *out)
{
    (void)place;
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
                                 const struct identity *place, const struct vd_field_path *path,
                                 struct vd_violations *out);

static void walk(const struct vd_json *schema, const struct identity *place,
                 const struct vd_field_path *path, check_of_default check,
                 struct vd_violations *out)
{
    const struct vd_json *value = vd_json_get(schema, VD_SLICE("default"));
    const struct vd_json *items = vd_subschema(schema, VD_SLICE("items"));
    struct vd_field_path at = vd_field_member(path, VD_SLICE("default"));
    struct vd_field_path below = vd_field_member(path, VD_SLICE("items"));
    struct vd_field_path up = vd_field_member(path, VD_SLICE("properties"));
    bool resource = vd_keyword_truth(schema, VD_X_EMBEDDED);
    struct identity inside = {.up = resource ? NULL : place};
    if (value && !vd_json_is(value, VD_JSON_NULL))
        check(schema, value, resource ? NULL : place, &at, out);
    if (items)
        walk(items, inside.up ? &inside : NULL, &below, check, out);
    VD_JSON_EACH (property, vd_subschema(schema, VD_SLICE("properties"))) {
        struct vd_field_path next = vd_field_key(&up, vd_json_key(property));
        inside.key = vd_json_key(property);
        bool identity = inside.up || (resource && is_identity(inside.key));
        walk(property, identity ? &inside : NULL, &next, check, out);
    }
}

/* The root is a resource, whether it says so or not. */
static void walk_root(const struct vd_json *schema, const struct vd_field_path *path,
                      check_of_default check, struct vd_violations *out)
{
    const struct vd_json *value = vd_json_get(schema, VD_SLICE("default"));
    struct vd_field_path at = vd_field_member(path, VD_SLICE("default"));
    struct vd_field_path up = vd_field_member(path, VD_SLICE("properties"));
    if (value && !vd_json_is(value, VD_JSON_NULL))
        check(schema, value, NULL, &at, out);
    VD_JSON_EACH (property, vd_subschema(schema, VD_SLICE("properties"))) {
        struct vd_field_path next = vd_field_key(&up, vd_json_key(property));
        struct identity inside = {.key = vd_json_key(property)};
        walk(property, is_identity(inside.key) ? &inside : NULL, &next, check, out);
    }
}

void vd_structural_defaults(const struct vd_json *schema, const struct vd_field_path *path,
                            struct vd_violations *out)
{
    walk_root(schema, path, check_default, out);
}

void vd_structural_default_rules(const struct vd_json *schema, const struct vd_field_path *path,
                                 struct vd_violations *out)
{
    walk_root(schema, path, check_default_rules, out);
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
                      own ? vd_bad_value_json(out, node->fallback) : VD_SLICE("{}"),
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
