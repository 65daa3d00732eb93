/*
 * What stands under allOf, anyOf, oneOf and not: it may restrict values, and say nothing
 * about which fields there are.
 */
#include "base/pattern.h"
#include "kinds/structural_internal.h"
#include "json/key_index.h"

static void check_values(const struct vd_json *schema, bool skip_any_of, bool skip_first_any_of,
                         const struct vd_field_path *path, struct vd_violations *out);

/* anyOf: [{type: integer}, {type: string}], the one way to name types there. */
static bool is_int_or_string(const struct vd_json *any_of)
{
    const struct vd_json *first = vd_json_first(any_of);
    return vd_json_count(any_of) == 2 && vd_json_count(first) == 1 &&
           vd_has_type(first, "integer") && vd_json_count(vd_json_next(first)) == 1 &&
           vd_has_type(vd_json_next(first), "string");
}

static void check_forbidden(const struct vd_json *schema, const struct vd_field_path *path,
                            struct vd_violations *out)
{
    static const struct {
        const char *keyword, *detail;
        enum { ANY, TEXT, TRUTH, LIST } sort; /* what counts as being there */
    } forbidden[] = {
        {"type", "must be empty to be structural", TEXT},
        {"additionalProperties", "must be undefined to be structural", ANY},
        {"default", "must be undefined to be structural", ANY},
        {"title", "must be empty to be structural", TEXT},
        {"description", "must be empty to be structural", TEXT},
        {"nullable", "must be false to be structural", TRUTH},
        {"externalDocs", "must be undefined to be structural", ANY},
        {"x-kubernetes-preserve-unknown-fields", "must be false to be structural", TRUTH},
        {"x-kubernetes-embedded-resource", "must be false to be structural", TRUTH},
        {"x-kubernetes-int-or-string", "must be false to be structural", TRUTH},
        {"x-kubernetes-list-map-keys", "must be empty to be structural", LIST},
        {"x-kubernetes-list-type", "must be undefined to be structural", ANY},
        {"x-kubernetes-map-type", "must be undefined to be structural", ANY},
        {"x-kubernetes-validations", "must be empty to be structural", LIST},
    };
    for (size_t i = 0; i < sizeof forbidden / sizeof *forbidden; i++) {
        struct vd_slice keyword = vd_slice_of(forbidden[i].keyword);
        const struct vd_json *value = vd_json_get(schema, keyword);
        bool there = value && !vd_json_is(value, VD_JSON_NULL);
        if (there && forbidden[i].sort == TEXT)
            there = vd_json_text(value).n > 0;
        else if (there && forbidden[i].sort == TRUTH)
            there = vd_json_truth(value);
        else if (there && forbidden[i].sort == LIST)
            there = vd_json_count(value) > 0;
        if (there)
            vd_structural_forbid(out, path, keyword, forbidden[i].detail);
    }
}

static void check_nested(const struct vd_json *schema, bool skip_any_of,
                         const struct vd_field_path *path, struct vd_violations *out)
{
    struct vd_field_path items = vd_field_member(path, VD_SLICE("items"));
    struct vd_field_path up = vd_field_member(path, VD_SLICE("properties"));
    const struct vd_json *properties = vd_subschema(schema, VD_SLICE("properties"));
    check_values(schema, skip_any_of, false, path, out);
    if (vd_subschema(schema, VD_SLICE("items")))
        check_nested(vd_subschema(schema, VD_SLICE("items")), false, &items, out);
    VD_JSON_EACH (property, properties) {
        struct vd_field_path at = vd_field_key(&up, vd_json_key(property));
        check_nested(property, false, &at, out);
    }
    check_forbidden(schema, path, out);
    if (vd_json_get(properties, VD_SLICE("metadata"))) {
        struct vd_field_path at = vd_field_key(&up, VD_SLICE("metadata"));
        vd_violations_add(out, VD_VIOLATION_FORBIDDEN, &at, vd_bad_value_nothing(), "%s",
                          "must not be specified in a nested context");
    }
}

static void check_list(const struct vd_json *schema, const char *keyword, bool skip_first_any_of,
                       const struct vd_field_path *path, struct vd_violations *out)
{
    struct vd_field_path up = vd_field_member(path, vd_slice_of(keyword));
    size_t i = 0;
    VD_JSON_EACH (alternative, vd_json_get(schema, vd_slice_of(keyword))) {
        struct vd_field_path at = vd_field_element(&up, i);
        check_nested(alternative, skip_first_any_of && i == 0, &at, out);
        i++;
    }
}

static void check_pattern(const struct vd_json *schema, const struct vd_field_path *path,
                          struct vd_violations *out)
{
    struct vd_slice text = vd_keyword_text(schema, VD_SLICE("pattern"));
    struct vd_field_path at = vd_field_member(path, VD_SLICE("pattern"));
    char why[256];
    if (!text.n || out->effort.pattern_size > VD_DEFINITION_PATTERNS_SIZE_MAX)
        return;
    struct vd_pattern *pattern = vd_pattern_new(text.p, text.n, why, sizeof why);
    if (!pattern)
        vd_violations_add(out, VD_VIOLATION_INVALID, &at, vd_bad_value_text(out, text),
                          "must be a valid regular expression, but isn't: %s", why);
    else
        vd_structural_count_patterns(out, &at, vd_pattern_size(pattern));
    vd_pattern_free(pattern);
}

static void check_values(const struct vd_json *schema, bool skip_any_of, bool skip_first_any_of,
                         const struct vd_field_path *path, struct vd_violations *out)
{
    struct vd_field_path at = vd_field_member(path, VD_SLICE("not"));
    if (!skip_any_of)
        check_list(schema, "anyOf", false, path, out);
    check_list(schema, "allOf", skip_first_any_of, path, out);
    check_list(schema, "oneOf", false, path, out);
    if (vd_subschema(schema, VD_SLICE("not")))
        check_nested(vd_subschema(schema, VD_SLICE("not")), false, &at, out);
    check_pattern(schema, path, out);
}

void vd_structural_nested(const struct vd_json *schema, const struct vd_field_path *path,
                          struct vd_violations *out)
{
    const struct vd_json *first = vd_json_first(vd_json_get(schema, VD_SLICE("allOf")));
    check_values(schema, is_int_or_string(vd_json_get(schema, VD_SLICE("anyOf"))),
                 is_int_or_string(vd_json_get(first, VD_SLICE("anyOf"))), path, out);
}

/* --- completeness --- */

static void complete_values(const struct vd_json *values, const struct vd_json *schema,
                            const struct vd_field_path *there, const struct vd_field_path *here,
                            struct vd_violations *out);

static void add_missing(const struct vd_field_path *there, const struct vd_field_path *here,
                        struct vd_violations *out)
{
    struct vd_buf place = {0};
    vd_field_path_write(&place, here, VD_FIELD_BRACKETS);
    vd_violations_add(out, VD_VIOLATION_REQUIRED, there, vd_bad_value_nothing(),
                      "because it is defined in %s", vd_buf_text(&place));
    vd_buf_release(&place);
}

/* `values`, at `here`, speaks of what `schema`, at `there`, has to define. */
static void complete_nested(const struct vd_json *values, const struct vd_json *schema,
                            const struct vd_field_path *there, const struct vd_field_path *here,
                            struct vd_violations *out)
{
    if (!values)
        return;
    if (!schema) {
        add_missing(there, here, out);
        return;
    }
    struct vd_field_path there_items = vd_field_member(there, VD_SLICE("items"));
    struct vd_field_path here_items = vd_field_member(here, VD_SLICE("items"));
    struct vd_field_path there_up = vd_field_member(there, VD_SLICE("properties"));
    struct vd_field_path here_up = vd_field_member(here, VD_SLICE("properties"));
    complete_values(values, schema, there, here, out);
    complete_nested(vd_subschema(values, VD_SLICE("items")),
                    vd_subschema(schema, VD_SLICE("items")), &there_items, &here_items, out);
    struct vd_key_index defined;
    vd_key_index_init(&defined, vd_json_get(schema, VD_SLICE("properties")));
    VD_JSON_EACH (property, vd_subschema(values, VD_SLICE("properties"))) {
        struct vd_field_path there_at = vd_field_key(&there_up, vd_json_key(property));
        struct vd_field_path here_at = vd_field_key(&here_up, vd_json_key(property));
        const struct vd_json *found = vd_key_index_get(&defined, vd_json_key(property));
        complete_nested(property, vd_json_is(found, VD_JSON_OBJECT) ? found : NULL, &there_at,
                        &here_at, out);
    }
    vd_key_index_release(&defined);
}

static void complete_values(const struct vd_json *values, const struct vd_json *schema,
                            const struct vd_field_path *there, const struct vd_field_path *here,
                            struct vd_violations *out)
{
    static const char *const lists[] = {"allOf", "anyOf", "oneOf"};
    struct vd_field_path not = vd_field_member(here, VD_SLICE("not"));
    complete_nested(vd_subschema(values, VD_SLICE("not")), schema, there, &not, out);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        struct vd_field_path up = vd_field_member(here, vd_slice_of(lists[i]));
        size_t index = 0;
        VD_JSON_EACH (alternative, vd_json_get(values, vd_slice_of(lists[i]))) {
            struct vd_field_path at = vd_field_element(&up, index++);
            complete_nested(alternative, schema, there, &at, out);
        }
    }
}

void vd_structural_complete(const struct vd_json *schema, const struct vd_field_path *path,
                            struct vd_violations *out)
{
    complete_values(schema, schema, path, path, out);
}
