/* See structural.h: the order of the checks, and those of the structure itself. */
#include "kinds/structural.h"

#include "kinds/schema.h"
#include "kinds/structural_internal.h"

enum level { ROOT, ITEM, FIELD };

/* What a small pattern counts: matching takes memory whatever its size. */
enum { PATTERN_SIZE_MIN = 256 };

void vd_structural_forbid(struct vd_violations *out, const struct vd_field_path *path,
                          struct vd_slice keyword, const char *detail)
{
    struct vd_field_path at = vd_field_member(path, keyword);
    vd_violations_add(out, VD_VIOLATION_FORBIDDEN, &at, vd_bad_value_nothing(), "%s", detail);
}

void vd_structural_require(struct vd_violations *out, const struct vd_field_path *path,
                           struct vd_slice keyword, const char *detail)
{
    struct vd_field_path at = vd_field_member(path, keyword);
    vd_violations_add(out, VD_VIOLATION_REQUIRED, &at, vd_bad_value_nothing(), "%s", detail);
}

void vd_structural_refuse(struct vd_violations *out, const struct vd_json *schema,
                          const struct vd_field_path *path, struct vd_slice keyword,
                          const char *detail)
{
    struct vd_field_path at = vd_field_member(path, keyword);
    const struct vd_json *value = vd_json_get(schema, keyword);
    vd_violations_add(out, VD_VIOLATION_INVALID, &at,
                      value ? vd_bad_value_json(out, value) : VD_SLICE("\"\""), "%s", detail);
}

void vd_structural_count_patterns(struct vd_violations *out, const struct vd_field_path *path,
                                  size_t size)
{
    bool was_over = out->effort.pattern_size > VD_DEFINITION_PATTERNS_SIZE_MAX;
    out->effort.pattern_size += size > PATTERN_SIZE_MIN || !size ? size : PATTERN_SIZE_MIN;
    if (!was_over && out->effort.pattern_size > VD_DEFINITION_PATTERNS_SIZE_MAX)
        vd_violations_add(out, VD_VIOLATION_FORBIDDEN, path, vd_bad_value_nothing(),
                          "with this one the regular expressions of the definition compile to more "
                          "than %d instructions: repetitions like {1,1000} and classes like \\p{L} "
                          "take many",
                          VD_DEFINITION_PATTERNS_SIZE_MAX);
}

/* --- types --- */

static void check_type(const struct vd_json *schema, enum level level,
                       const struct vd_field_path *path, struct vd_violations *out)
{
    static const char *const details[] = {
        [ROOT] = "must not be empty at the root",
        [ITEM] = "must not be empty for specified array items",
        [FIELD] = "must not be empty for specified object fields",
    };
    static const char embedded[] = "must be object if x-kubernetes-embedded-resource is true";
    bool none = vd_keyword_text(schema, VD_SLICE("type")).n == 0;
    if (vd_keyword_truth(schema, VD_X_EMBEDDED) && !vd_has_type(schema, "object")) {
        if (none)
            vd_structural_require(out, path, VD_SLICE("type"), embedded);
        else
            vd_structural_refuse(out, schema, path, VD_SLICE("type"), embedded);
    } else if (none && !vd_keyword_truth(schema, VD_X_INT_OR_STRING) &&
               !vd_keyword_truth(schema, VD_X_PRESERVE)) {
        vd_structural_require(out, path, VD_SLICE("type"), details[level]);
    }
    if (level == ROOT && !none && !vd_has_type(schema, "object"))
        vd_structural_refuse(out, schema, path, VD_SLICE("type"), "must be object at the root");
}

static void check_extensions(const struct vd_json *schema, const struct vd_field_path *path,
                             struct vd_violations *out)
{
    static const char detail[] = "must be false if x-kubernetes-int-or-string is true";
    if (!vd_keyword_truth(schema, VD_X_INT_OR_STRING))
        return;
    if (vd_keyword_truth(schema, VD_X_PRESERVE))
        vd_structural_refuse(out, schema, path, VD_X_PRESERVE, detail);
    if (vd_keyword_truth(schema, VD_X_EMBEDDED))
        vd_structural_refuse(out, schema, path, VD_X_EMBEDDED, detail);
}

/* --- metadata --- */

/* Only the names may be restricted, since the server knows the rest. */
static bool restricts_names_only(const struct vd_json *metadata)
{
    VD_JSON_EACH (keyword, metadata) {
        struct vd_slice name = vd_json_key(keyword);
        if (!vd_slice_is(name, "type") && !vd_slice_is(name, "properties") &&
            !vd_slice_is(name, "default"))
            return false;
    }
    VD_JSON_EACH (property, vd_json_get(metadata, VD_SLICE("properties"))) {
        struct vd_slice name = vd_json_key(property);
        if (!vd_slice_is(name, "name") && !vd_slice_is(name, "generateName"))
            return false;
    }
    return true;
}

static void check_metadata(const struct vd_json *properties, enum level level, bool resource,
                           const struct vd_field_path *up, struct vd_violations *out)
{
    static const char *const texts[] = {"kind", "apiVersion"};
    for (size_t i = 0; resource && i < 2; i++) {
        const struct vd_json *property = vd_json_get(properties, vd_slice_of(texts[i]));
        struct vd_field_path path = vd_field_key(up, vd_slice_of(texts[i]));
        if (property && !vd_has_type(property, "string"))
            vd_structural_refuse(out, property, &path, VD_SLICE("type"), "must be string");
    }
    const struct vd_json *metadata = vd_json_get(properties, VD_SLICE("metadata"));
    struct vd_field_path path = vd_field_key(up, VD_SLICE("metadata"));
    if (!metadata)
        return;
    if (resource && !vd_has_type(metadata, "object"))
        vd_structural_refuse(out, metadata, &path, VD_SLICE("type"), "must be object");
    if (level == ROOT && !restricts_names_only(metadata))
        vd_violations_add(out, VD_VIOLATION_FORBIDDEN, &path, vd_bad_value_nothing(), "%s",
                          "must not specify anything other than name and generateName, but "
                          "metadata is implicitly specified");
}

/* --- the walk --- */

static void check_structure(const struct vd_json *schema, enum level level,
                            const struct vd_field_path *path, struct vd_violations *out);

static void check_additional(const struct vd_json *schema, enum level level,
                             const struct vd_field_path *path, struct vd_violations *out)
{
    static const struct vd_slice keyword = {"additionalProperties", 20};
    struct vd_field_path at = vd_field_member(path, keyword);
    if (!vd_json_get(schema, keyword))
        return;
    if (level == ROOT)
        vd_structural_forbid(out, path, keyword, "must not be used at the root");
    if (vd_keyword_truth(schema, VD_X_EMBEDDED))
        vd_structural_forbid(out, path, keyword,
                             "must not be used if x-kubernetes-embedded-resource is set");
    if (vd_subschema(schema, keyword))
        check_structure(vd_subschema(schema, keyword), FIELD, &at, out);
}

static void check_structure(const struct vd_json *schema, enum level level,
                            const struct vd_field_path *path, struct vd_violations *out)
{
    const struct vd_json *properties = vd_subschema(schema, VD_SLICE("properties"));
    bool embedded = vd_keyword_truth(schema, VD_X_EMBEDDED);
    struct vd_field_path items = vd_field_member(path, VD_SLICE("items"));
    struct vd_field_path up = vd_field_member(path, VD_SLICE("properties"));
    if (!vd_json_is(schema, VD_JSON_OBJECT)) {
        vd_violations_add(out, VD_VIOLATION_TYPE_INVALID, path, vd_bad_value_json(out, schema),
                          "%s", "a schema must be an object");
        return;
    }
    if (vd_has_type(schema, "array") && !vd_json_get(schema, VD_SLICE("items")))
        vd_structural_require(out, path, VD_SLICE("items"), "must be specified");
    if (vd_subschema(schema, VD_SLICE("items")))
        check_structure(vd_subschema(schema, VD_SLICE("items")), ITEM, &items, out);
    VD_JSON_EACH (property, properties) {
        struct vd_field_path at = vd_field_key(&up, vd_json_key(property));
        check_structure(property, FIELD, &at, out);
    }
    check_additional(schema, level, path, out);
    check_extensions(schema, path, out);
    vd_structural_nested(schema, path, out);
    check_type(schema, level, path, out);
    check_metadata(properties, level, level == ROOT || embedded, &up, out);
    if (embedded && !vd_keyword_truth(schema, VD_X_PRESERVE) && vd_json_count(properties) == 0)
        vd_structural_require(out, path, VD_SLICE("properties"),
                              "must not be empty if x-kubernetes-embedded-resource is true without "
                              "x-kubernetes-preserve-unknown-fields");
}

/* --- the whole --- */

/* With a status of its own, the schema has to fall into parts. */
static void check_root(const struct vd_json *schema, const struct vd_field_path *up, bool status,
                       struct vd_violations *out)
{
    static const char *const not_allowed[] = {"nullable",
                                              "default",
                                              "additionalProperties",
                                              "allOf",
                                              "anyOf",
                                              "oneOf",
                                              "not",
                                              "enum",
                                              "maxProperties",
                                              "minProperties",
                                              "x-kubernetes-embedded-resource",
                                              "x-kubernetes-int-or-string",
                                              "x-kubernetes-list-type",
                                              "x-kubernetes-map-type"};
    for (size_t i = 0; status && i < sizeof not_allowed / sizeof *not_allowed; i++) {
        if (!vd_json_get(schema, vd_slice_of(not_allowed[i])))
            continue;
        struct vd_field_path at = vd_field_member(up, VD_SLICE("openAPIV3Schema"));
        vd_violations_add(
            out, VD_VIOLATION_INVALID, &at, vd_bad_value_json(out, schema), "%s",
            "only [Description Type Format Title Maximum ExclusiveMaximum Minimum "
            "ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf "
            "Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations] "
            "fields are allowed at the root of the schema if the status subresource is enabled");
        break;
    }
    if (vd_keyword_truth(schema, VD_SLICE("nullable")))
        vd_structural_forbid(out, up, VD_SLICE("openAPIV3Schema.nullable"),
                             "nullable cannot be true at the root");
}

/* What is left to the compiler of schemas: keywords of the wrong type, and how long defaults
 * become. */
static void check_compiles(const struct vd_json *schema, const struct vd_field_path *up,
                           const struct vd_field_path *path, struct vd_violations *out)
{
    struct vd_schema *compiled = NULL;
    struct vd_error error = {0};
    struct vd_schema_options options = {.resource = true, .borrow = true, .lazy = true};
    if (vd_schema_new(&compiled, schema, &options, &error))
        vd_violations_add(out, VD_VIOLATION_INVALID, up, VD_SLICE("\"\""),
                          "error building validator: %s", error.text);
    else
        vd_structural_default_growth(compiled, path, out);
    vd_schema_unref(compiled);
}

void vd_structural_check(const struct vd_json *schema, const struct vd_field_path *up, bool status,
                         struct vd_violations *out)
{
    struct vd_field_path path = vd_field_member(up, VD_SLICE("openAPIV3Schema"));
    size_t before = out->list.n;
    check_root(schema, up, status, out);
    size_t structure = out->list.n;
    check_structure(schema, ROOT, &path, out);
    vd_structural_complete(schema, &path, out);
    if (out->list.n == structure && out->dropped == 0)
        vd_structural_defaults(schema, &path, out);
    vd_structural_keywords(schema, &path, out);
    if (out->list.n == before && out->dropped == 0)
        vd_structural_rules(schema, &path, out);
    if (out->list.n == before && out->dropped == 0)
        vd_structural_default_rules(schema, &path, out);
    if (out->list.n == before && out->dropped == 0)
        check_compiles(schema, up, &path, out);
}
