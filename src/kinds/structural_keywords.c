/*
 * The keywords of a schema, one by one and together: those that Kubernetes does not
 * support, x-kubernetes-list-type and its companions, x-kubernetes-validations as far
 * as they can be read without evaluating them.
 */
#include <string.h>

#include "base/limits.h"
#include "kinds/structural_internal.h"

/* What the walk knows of the place it is at. */
struct place {
    bool root;
    bool metadata;           /* inside apiVersion, kind or metadata of a resource */
    const char *no_defaults; /* why there may be no default here; NULL: there may */
};

static void walk(const struct vd_json *schema, const struct vd_field_path *path, struct place place,
                 struct vd_violations *out);

/* --- single keywords --- */

static void check_unsupported(const struct vd_json *schema, const struct vd_field_path *path,
                              struct vd_violations *out)
{
    static const struct {
        const char *keyword, *detail;
    } unsupported[] = {
        {"id", "id is not supported"},
        {"additionalItems", "additionalItems is not supported"},
        {"patternProperties", "patternProperties is not supported"},
        {"definitions", "definitions is not supported"},
        {"$defs", "$defs is not supported"},
        {"dependencies", "dependencies is not supported"},
        {"$ref", "$ref is not supported"},
    };
    for (size_t i = 0; i < sizeof unsupported / sizeof *unsupported; i++)
        if (vd_json_get(schema, vd_slice_of(unsupported[i].keyword)))
            vd_structural_forbid(out, path, vd_slice_of(unsupported[i].keyword),
                                 unsupported[i].detail);
    if (vd_json_is(vd_json_get(schema, VD_SLICE("items")), VD_JSON_ARRAY))
        vd_structural_forbid(out, path, VD_SLICE("items"),
                             "items must be a schema object and not an array");
    if (vd_keyword_truth(schema, VD_SLICE("uniqueItems")))
        vd_structural_forbid(out, path, VD_SLICE("uniqueItems"),
                             "uniqueItems cannot be set to true since the runtime complexity "
                             "becomes quadratic");
}

static void check_type(const struct vd_json *schema, const struct vd_field_path *path,
                       struct vd_violations *out)
{
    static const char *const types[] = {"array",  "boolean", "integer",
                                        "number", "object",  "string"};
    struct vd_slice type = vd_keyword_text(schema, VD_SLICE("type"));
    struct vd_field_path at = vd_field_member(path, VD_SLICE("type"));
    bool known = type.n == 0;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        known = known || vd_slice_is(type, types[i]);
    if (!known)
        vd_violations_add(out, VD_VIOLATION_NOT_SUPPORTED, &at, vd_bad_value_text(out, type), "%s",
                          "supported values: \"array\", \"boolean\", \"integer\", \"number\", "
                          "\"object\", \"string\"");
    if (vd_slice_is(type, "null"))
        vd_structural_forbid(out, path, VD_SLICE("type"),
                             "type cannot be set to null, use nullable as an alternative");
}

static void check_additional(const struct vd_json *schema, const struct vd_field_path *path,
                             struct vd_violations *out)
{
    const struct vd_json *additional = vd_json_get(schema, VD_SLICE("additionalProperties"));
    if (additional && !vd_json_truth(additional) &&
        vd_json_count(vd_json_get(schema, VD_SLICE("properties"))))
        vd_structural_forbid(out, path, VD_SLICE("additionalProperties"),
                             "additionalProperties and properties are mutual exclusive");
}

static void check_default(const struct vd_json *schema, const struct vd_field_path *path,
                          const struct place *place, struct vd_violations *out)
{
    const struct vd_json *value = vd_json_get(schema, VD_SLICE("default"));
    struct vd_buf detail = {0};
    if (!place->no_defaults || !value || vd_json_is(value, VD_JSON_NULL))
        return;
    vd_buf_addf(&detail, "must not be set %s", place->no_defaults);
    vd_structural_forbid(out, path, VD_SLICE("default"), vd_buf_text(&detail));
    vd_buf_release(&detail);
}

/* --- lists and maps --- */

/* `keyword` wants the schema to be of this type. */
static void want_type(const struct vd_json *schema, const struct vd_field_path *path,
                      const char *type, const char *detail, struct vd_violations *out)
{
    if (vd_has_type(schema, type))
        return;
    if (vd_keyword_text(schema, VD_SLICE("type")).n)
        vd_structural_refuse(out, schema, path, VD_SLICE("type"), detail);
    else
        vd_structural_require(out, path, VD_SLICE("type"), detail);
}

static void check_map_type(const struct vd_json *schema, const struct vd_field_path *path,
                           struct vd_violations *out)
{
    const struct vd_json *value = vd_json_get(schema, VD_X_MAP_TYPE);
    struct vd_field_path at = vd_field_member(path, VD_X_MAP_TYPE);
    struct vd_slice text = vd_json_text(value);
    if (!value)
        return;
    want_type(schema, path, "object", "must be object if x-kubernetes-map-type is specified", out);
    if (!vd_slice_is(text, "atomic") && !vd_slice_is(text, "granular"))
        vd_violations_add(out, VD_VIOLATION_NOT_SUPPORTED, &at, vd_bad_value_json(out, value), "%s",
                          "supported values: \"atomic\", \"granular\"");
}

/* The elements of a set are compared as a whole. */
static void check_set(const struct vd_json *schema, const struct vd_field_path *path,
                      struct vd_violations *out)
{
    static const char detail[] = "must be atomic as item of a list with x-kubernetes-list-type=set";
    const struct vd_json *items = vd_subschema(schema, VD_SLICE("items"));
    struct vd_field_path at = vd_field_member(path, VD_SLICE("items"));
    struct vd_slice list = vd_keyword_text(items, VD_X_LIST_TYPE);
    if (vd_has_type(items, "array") && list.n && !vd_slice_is(list, "atomic"))
        vd_structural_refuse(out, items, &at, VD_X_LIST_TYPE, detail);
    if (vd_has_type(items, "object") &&
        !vd_slice_is(vd_keyword_text(items, VD_X_MAP_TYPE), "atomic"))
        vd_structural_refuse(out, items, &at, VD_X_MAP_TYPE, detail);
}

static bool is_required(const struct vd_json *schema, struct vd_slice name)
{
    VD_JSON_EACH (item, vd_json_get(schema, VD_SLICE("required"))) {
        if (vd_slice_eq(vd_json_text(item), name))
            return true;
    }
    return false;
}

/* One name of x-kubernetes-list-map-keys. */
static void check_key(const struct vd_json *schema, const struct vd_json *key,
                      const struct vd_field_path *path, struct vd_violations *out)
{
    const struct vd_json *items = vd_subschema(schema, VD_SLICE("items"));
    const struct vd_json *keys = vd_json_get(schema, VD_X_LIST_KEYS);
    struct vd_slice name = vd_json_text(key);
    const struct vd_json *property = vd_json_get(vd_json_get(items, VD_SLICE("properties")), name);
    struct vd_field_path list = vd_field_member(path, VD_X_LIST_KEYS);
    struct vd_field_path at = vd_field_member(path, VD_SLICE("items"));
    struct vd_field_path up = vd_field_member(&at, VD_SLICE("properties"));
    struct vd_field_path place = vd_field_key(&up, name);
    if (!property)
        vd_violations_add(out, VD_VIOLATION_INVALID, &list, vd_bad_value_json(out, keys), "%s",
                          "entries must all be names of item properties");
    if (vd_has_type(property, "array") || vd_has_type(property, "object"))
        vd_structural_refuse(out, property, &place, VD_SLICE("type"),
                             "must be a scalar type if parent array's x-kubernetes-list-type is "
                             "map");
    for (const struct vd_json *other = vd_json_first(keys); other && other != key;
         other = vd_json_next(other))
        if (vd_slice_eq(vd_json_text(other), name))
            vd_violations_add(out, VD_VIOLATION_INVALID, &list, vd_bad_value_json(out, keys), "%s",
                              "must not contain duplicate entries");
    if (!property)
        return;
    if (!is_required(items, name) && !vd_json_get(property, VD_SLICE("default")))
        vd_structural_require(out, &place, VD_SLICE("default"),
                              "this property is in x-kubernetes-list-map-keys, so it must have a "
                              "default or be a required property");
    if (vd_keyword_truth(property, VD_SLICE("nullable")))
        vd_structural_forbid(out, &place, VD_SLICE("nullable"),
                             "this property is in x-kubernetes-list-map-keys, so it cannot be "
                             "nullable");
}

static void check_map(const struct vd_json *schema, const struct vd_field_path *path,
                      struct vd_violations *out)
{
    const struct vd_json *items = vd_json_get(schema, VD_SLICE("items"));
    const struct vd_json *keys = vd_json_get(schema, VD_X_LIST_KEYS);
    struct vd_field_path at = vd_field_member(path, VD_SLICE("items"));
    if (vd_json_count(keys) == 0)
        vd_structural_require(out, path, VD_X_LIST_KEYS,
                              "must not be empty if x-kubernetes-list-type is map");
    if (!items)
        vd_structural_require(out, path, VD_SLICE("items"),
                              "must have a schema if x-kubernetes-list-type is map");
    if (!vd_json_is(items, VD_JSON_OBJECT))
        return;
    if (!vd_has_type(items, "object")) {
        vd_structural_refuse(out, items, &at, VD_SLICE("type"),
                             "must be object if parent array's x-kubernetes-list-type is map");
        return;
    }
    if (vd_json_count(keys) > VD_LIST_KEYS_MAX) {
        struct vd_field_path list = vd_field_member(path, VD_X_LIST_KEYS);
        char digits[20];
        vd_violations_add(out, VD_VIOLATION_TOO_MANY, &list,
                          vd_slice(digits, vd_u64_digits(vd_json_count(keys), digits)),
                          "must have at most %d items", VD_LIST_KEYS_MAX);
        return;
    }
    VD_JSON_EACH (key, keys)
        check_key(schema, key, path, out);
}

static void check_list_type(const struct vd_json *schema, const struct vd_field_path *path,
                            struct vd_violations *out)
{
    static const char keys[] = "must be map if x-kubernetes-list-map-keys is non-empty";
    const struct vd_json *value = vd_json_get(schema, VD_X_LIST_TYPE);
    struct vd_field_path at = vd_field_member(path, VD_X_LIST_TYPE);
    struct vd_field_path items = vd_field_member(path, VD_SLICE("items"));
    struct vd_slice type = vd_json_text(value);
    bool map = vd_slice_is(type, "map"), set = vd_slice_is(type, "set");
    if (value)
        want_type(schema, path, "array", "must be array if x-kubernetes-list-type is specified",
                  out);
    if (value && !map && !set && !vd_slice_is(type, "atomic"))
        vd_violations_add(out, VD_VIOLATION_NOT_SUPPORTED, &at, vd_bad_value_json(out, value), "%s",
                          "supported values: \"atomic\", \"set\", \"map\"");
    if (vd_json_count(vd_json_get(schema, VD_X_LIST_KEYS)) && !map) {
        if (value)
            vd_structural_refuse(out, schema, path, VD_X_LIST_TYPE, keys);
        else
            vd_structural_require(out, path, VD_X_LIST_TYPE, keys);
    }
    if (set && vd_has_type(schema, "array"))
        check_set(schema, path, out);
    if (map)
        check_map(schema, path, out);
    if ((set || map) &&
        vd_keyword_truth(vd_json_get(schema, VD_SLICE("items")), VD_SLICE("nullable")))
        vd_structural_forbid(out, &items, VD_SLICE("nullable"),
                             map ? "cannot be nullable when x-kubernetes-list-type is map"
                                 : "cannot be nullable when x-kubernetes-list-type is set");
}

/* --- x-kubernetes-validations --- */

static bool has_line_break(struct vd_slice text)
{
    return text.n && (memchr(text.p, '\n', text.n) || memchr(text.p, '\r', text.n));
}

static void check_rule(const struct vd_json *rule, const struct vd_field_path *path,
                       struct vd_violations *out)
{
    struct vd_slice text = vd_slice_trim(vd_keyword_text(rule, VD_SLICE("rule")));
    struct vd_slice given = vd_keyword_text(rule, VD_SLICE("message"));
    struct vd_slice message = vd_slice_trim(given);
    struct vd_slice expression = vd_keyword_text(rule, VD_SLICE("messageExpression"));
    if (!text.n)
        vd_structural_require(out, path, VD_SLICE("rule"), "rule is not specified");
    else if (given.n && !message.n)
        vd_structural_refuse(out, rule, path, VD_SLICE("message"),
                             "message must be non-empty if specified");
    else if (has_line_break(message))
        vd_structural_refuse(out, rule, path, VD_SLICE("message"),
                             "message must not contain line breaks");
    else if (has_line_break(text) && !message.n)
        vd_structural_require(out, path, VD_SLICE("message"),
                              "message must be specified if rule contains line breaks");
    if (expression.n && !vd_slice_trim(expression).n)
        vd_structural_require(out, path, VD_SLICE("messageExpression"),
                              "messageExpression must be non-empty if specified");
}

static void check_rules(const struct vd_json *schema, const struct vd_field_path *path,
                        struct vd_violations *out)
{
    struct vd_field_path up = vd_field_member(path, VD_X_VALIDATIONS);
    size_t i = 0;
    VD_JSON_EACH (rule, vd_json_get(schema, VD_X_VALIDATIONS)) {
        struct vd_field_path at = vd_field_element(&up, i++);
        check_rule(rule, &at, out);
    }
}

/* --- the walk --- */

static bool is_metadata_field(struct vd_slice name)
{
    return vd_slice_is(name, "metadata") || vd_slice_is(name, "kind") ||
           vd_slice_is(name, "apiVersion");
}

static struct place place_of_property(const struct vd_json *schema, struct vd_slice name,
                                      struct place up)
{
    struct place place = {false, up.metadata, up.no_defaults};
    if ((!up.root && !vd_keyword_truth(schema, VD_X_EMBEDDED)) || !is_metadata_field(name))
        return place;
    place.metadata = true;
    if (up.root)
        place.no_defaults = vd_slice_is(name, "metadata") ? "in top-level metadata"
                            : vd_slice_is(name, "kind")   ? "in top-level kind"
                                                          : "in top-level apiVersion";
    return place;
}

static void walk_below(const struct vd_json *schema, const struct vd_field_path *path,
                       struct place place, struct vd_violations *out)
{
    static const char *const lists[] = {"allOf", "oneOf", "anyOf"};
    struct place below = {false, place.metadata, place.no_defaults};
    struct vd_field_path up = vd_field_member(path, VD_SLICE("properties"));
    const struct vd_json *additional = vd_subschema(schema, VD_SLICE("additionalProperties"));
    if (additional) {
        struct vd_field_path at = vd_field_member(path, VD_SLICE("additionalProperties"));
        struct place there = below;
        if (place.metadata)
            there.no_defaults = "inside additionalProperties applying to object metadata";
        walk(additional, &at, there, out);
    }
    VD_JSON_EACH (property, vd_subschema(schema, VD_SLICE("properties"))) {
        struct vd_field_path at = vd_field_key(&up, vd_json_key(property));
        walk(property, &at, place_of_property(schema, vd_json_key(property), place), out);
    }
    if (vd_subschema(schema, VD_SLICE("not"))) {
        struct vd_field_path at = vd_field_member(path, VD_SLICE("not"));
        walk(vd_subschema(schema, VD_SLICE("not")), &at, below, out);
    }
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        struct vd_field_path list = vd_field_member(path, vd_slice_of(lists[i]));
        size_t index = 0;
        VD_JSON_EACH (alternative, vd_json_get(schema, vd_slice_of(lists[i]))) {
            struct vd_field_path at = vd_field_element(&list, index++);
            walk(alternative, &at, below, out);
        }
    }
    if (vd_subschema(schema, VD_SLICE("items"))) {
        struct vd_field_path at = vd_field_member(path, VD_SLICE("items"));
        walk(vd_subschema(schema, VD_SLICE("items")), &at, below, out);
    }
}

static void walk(const struct vd_json *schema, const struct vd_field_path *path, struct place place,
                 struct vd_violations *out)
{
    check_type(schema, path, out);
    check_default(schema, path, &place, out);
    check_unsupported(schema, path, out);
    if (place.metadata && vd_keyword_truth(schema, VD_X_EMBEDDED))
        vd_structural_forbid(out, path, VD_X_EMBEDDED, "must not be used inside of resource meta");
    check_additional(schema, path, out);
    walk_below(schema, path, place, out);
    if (vd_json_is(vd_json_get(schema, VD_X_PRESERVE), VD_JSON_BOOL) &&
        !vd_keyword_truth(schema, VD_X_PRESERVE))
        vd_structural_refuse(out, schema, path, VD_X_PRESERVE, "must be true or undefined");
    check_map_type(schema, path, out);
    check_list_type(schema, path, out);
    check_rules(schema, path, out);
}

void vd_structural_keywords(const struct vd_json *schema, const struct vd_field_path *path,
                            struct vd_violations *out)
{
    walk(schema, path, (struct place){.root = true}, out);
}
