/*
 * The rules of CustomResourceDefinitions, in Kubernetes' words; those of their schemas
 * are in structural.c.
 *
 * Kubernetes keeps what all versions have in common in one place of its own, and its
 * messages say so: the schema of a definition whose versions have one and the same is
 * spec.validation, and not spec.versions[0].schema. The same goes for subresources,
 * columns and selectable fields.
 */
#include <ctype.h>
#include <string.h>

#include "base/limits.h"
#include "kinds/approval.h"
#include "kinds/name.h"
#include "kinds/object_meta.h"
#include "kinds/references.h"
#include "kinds/rules_internal.h"
#include "kinds/structural.h"
#include "json/compare.h"

enum {
    WARNING_LEN_MAX = 256, /* bytes of a deprecation warning */
    SELECTABLE_MAX = 8,    /* selectable fields of a version */
};

/* --- what is filled in --- */

static struct vd_json *lowered(struct vd_arena *a, struct vd_slice text)
{
    struct vd_buf small = {0};
    for (size_t i = 0; i < text.n; i++)
        vd_buf_add_char(&small, (char)tolower((unsigned char)text.p[i]));
    struct vd_json *value = vd_json_string(a, vd_buf_slice(&small));
    vd_buf_release(&small);
    return value;
}

static void fill_names(struct vd_arena *a, struct vd_json *names)
{
    struct vd_slice kind = vd_kind_rule_text(names, "kind");
    if (!vd_json_is(names, VD_JSON_OBJECT) || !kind.n)
        return;
    if (!vd_kind_rule_text(names, "singular").n)
        vd_json_set(a, names, VD_SLICE("singular"), lowered(a, kind));
    if (!vd_kind_rule_text(names, "listKind").n) {
        struct vd_buf list = {0};
        vd_buf_addf(&list, "%.*sList", VD_FMT(kind));
        vd_json_set(a, names, VD_SLICE("listKind"), vd_json_string(a, vd_buf_slice(&list)));
        vd_buf_release(&list);
    }
}

static struct vd_slice storage_version(const struct vd_json *spec)
{
    VD_JSON_EACH (version, vd_json_get(spec, VD_SLICE("versions"))) {
        if (vd_json_truth(vd_json_get(version, VD_SLICE("storage"))))
            return vd_kind_rule_text(version, "name");
    }
    return VD_SLICE("");
}

/* What a new definition's status says until its names have been looked at. */
static struct vd_json *first_status(struct vd_arena *a, const struct vd_json *spec)
{
    struct vd_json *status = vd_json_object(a), *names = vd_json_object(a);
    struct vd_json *stored = vd_json_array(a);
    vd_json_append(stored, vd_json_string(a, storage_version(spec)));
    vd_json_add_ref(names, VD_SLICE("plural"), vd_json_string_ref(a, VD_SLICE("")));
    vd_json_add_ref(names, VD_SLICE("kind"), vd_json_string_ref(a, VD_SLICE("")));
    vd_json_add_ref(status, VD_SLICE("conditions"), vd_json_array(a));
    vd_json_add_ref(status, VD_SLICE("acceptedNames"), names);
    vd_json_add_ref(status, VD_SLICE("storedVersions"), stored);
    return status;
}

void vd_rule_definition_prepare(struct vd_arena *arena, struct vd_json *object, bool create)
{
    struct vd_json *spec = vd_json_get(object, VD_SLICE("spec"));
    struct vd_json *conversion = vd_json_get(spec, VD_SLICE("conversion"));
    fill_names(arena, vd_json_get(spec, VD_SLICE("names")));
    if (vd_json_is(conversion, VD_JSON_OBJECT) && !vd_kind_rule_text(conversion, "strategy").n)
        vd_json_set(arena, conversion, VD_SLICE("strategy"),
                    vd_json_string_ref(arena, VD_SLICE("None")));
    if (create)
        vd_json_set(arena, object, VD_SLICE("status"), first_status(arena, spec));
}

static bool has_text(const struct vd_json *list, struct vd_slice text)
{
    VD_JSON_EACH (item, list) {
        if (vd_slice_eq(vd_json_text(item), text))
            return true;
    }
    return false;
}

/* Versions in which objects may be stored: the one of today joins them. */
void vd_rule_definition_settle(struct vd_arena *arena, struct vd_json *object)
{
    struct vd_json *status = vd_json_get(object, VD_SLICE("status"));
    struct vd_json *stored = vd_json_get(status, VD_SLICE("storedVersions"));
    struct vd_slice name = storage_version(vd_json_get(object, VD_SLICE("spec")));
    if (!vd_json_is(status, VD_JSON_OBJECT) || !name.n)
        return;
    if (!vd_json_is(stored, VD_JSON_ARRAY)) {
        stored = vd_json_array(arena);
        vd_json_set(arena, status, VD_SLICE("storedVersions"), stored);
    }
    if (!has_text(stored, name))
        vd_json_append(stored, vd_json_string(arena, name));
}

/* --- names --- */

static void add_invalid(struct vd_violations *out, const struct vd_field_path *path,
                        struct vd_slice value, const char *detail)
{
    vd_violations_add(out, VD_VIOLATION_INVALID, path, vd_bad_value_text(out, value), "%s", detail);
}

static void check_label(const struct vd_field_path *path, struct vd_slice name, struct vd_slice as,
                        const char *lead, enum vd_name_rule rule, struct vd_violations *out)
{
    struct vd_name_faults faults;
    struct vd_buf why = {0};
    if (vd_name_check(rule, name, &faults))
        return;
    vd_buf_add_text(&why, lead);
    for (size_t i = 0; i < faults.n; i++)
        vd_buf_addf(&why, "%s%s", i ? "," : "", faults.p[i]);
    add_invalid(out, path, as, vd_buf_text(&why));
    vd_buf_release(&why);
}

static void check_labels(const struct vd_field_path *up, const struct vd_json *names,
                         const char *field, struct vd_violations *out)
{
    struct vd_field_path list = vd_field_member(up, vd_slice_of(field));
    size_t i = 0;
    VD_JSON_EACH (item, vd_json_get(names, vd_slice_of(field))) {
        struct vd_field_path path = vd_field_element(&list, i++);
        struct vd_slice name = vd_json_text(item);
        check_label(&path, name.p ? name : VD_SLICE(""), name, "", VD_NAME_DNS1035, out);
    }
}

/* A kind is a label but for its capitals. */
static void check_kind_name(const struct vd_field_path *path, struct vd_slice kind,
                            struct vd_violations *out)
{
    struct vd_buf small = {0};
    for (size_t i = 0; i < kind.n; i++)
        vd_buf_add_char(&small, (char)tolower((unsigned char)kind.p[i]));
    check_label(path, vd_buf_slice(&small), kind,
                "may have mixed case, but should otherwise match: ", VD_NAME_DNS1035, out);
    vd_buf_release(&small);
}

static void check_names(const struct vd_json *names, const struct vd_field_path *up,
                        struct vd_violations *out)
{
    static const char *const fields[] = {"plural", "singular", "kind", "listKind"};
    struct vd_slice kind = vd_kind_rule_text(names, "kind");
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        struct vd_field_path path = vd_field_member(up, vd_slice_of(fields[i]));
        struct vd_slice name = vd_kind_rule_text(names, fields[i]);
        if (!name.n)
            vd_kind_rule_add(out, VD_VIOLATION_REQUIRED, &path, "");
        else if (i < 2)
            check_label(&path, name, name, "", VD_NAME_DNS1035, out);
        else
            check_kind_name(&path, name, out);
    }
    check_labels(up, names, "shortNames", out);
    if (kind.n && vd_slice_eq(kind, vd_kind_rule_text(names, "listKind"))) {
        struct vd_field_path path = vd_field_member(up, VD_SLICE("listKind"));
        add_invalid(out, &path, kind, "kind and listKind may not be the same");
    }
    check_labels(up, names, "categories", out);
}

static void check_group(const struct vd_json *spec, const struct vd_field_path *up,
                        struct vd_violations *out)
{
    struct vd_field_path path = vd_field_member(up, VD_SLICE("group"));
    struct vd_slice group = vd_kind_rule_text(spec, "group");
    if (!group.n)
        vd_kind_rule_add(out, VD_VIOLATION_REQUIRED, &path, "");
    else if (!vd_name_check(VD_NAME_SUBDOMAIN, group, NULL))
        check_label(&path, group, group, "", VD_NAME_SUBDOMAIN, out);
    else if (!memchr(group.p, '.', group.n))
        add_invalid(out, &path, group, "should be a domain with at least one dot");
}

static void check_name(const struct vd_json *object, struct vd_violations *out)
{
    const struct vd_json *spec = vd_json_get(object, VD_SLICE("spec"));
    struct vd_slice name = vd_kind_rule_text(vd_json_get(object, VD_SLICE("metadata")), "name");
    struct vd_field_path up = vd_field_member(NULL, VD_SLICE("metadata"));
    struct vd_field_path path = vd_field_member(&up, VD_SLICE("name"));
    struct vd_buf wanted = {0};
    vd_buf_addf(&wanted, "%.*s.%.*s",
                VD_FMT(vd_kind_rule_text(vd_json_get(spec, VD_SLICE("names")), "plural")),
                VD_FMT(vd_kind_rule_text(spec, "group")));
    if (name.n && !vd_slice_eq(name, vd_buf_slice(&wanted)))
        add_invalid(out, &path, name, "must be spec.names.plural+\".\"+spec.group");
    vd_buf_release(&wanted);
}

/* Groups that belong to Kubernetes' community need its word; an update may leave that as it was. */
static void check_approval(const struct vd_json *object, const struct vd_json *old,
                           struct vd_violations *out)
{
    struct vd_field_path metadata = vd_field_member(NULL, VD_SLICE("metadata"));
    struct vd_field_path up = vd_field_member(&metadata, VD_SLICE("annotations"));
    struct vd_field_path path = vd_field_key(&up, VD_SLICE(VD_APPROVAL_ANNOTATION));
    struct vd_slice value, before;
    enum vd_approval state = vd_approval_of(object, &value);
    if (old && vd_approval_of(old, &before) == state)
        return;
    if (state == VD_APPROVAL_MISSING)
        vd_kind_rule_add(out, VD_VIOLATION_REQUIRED, &path, vd_approval_advice(state));
    else if (state == VD_APPROVAL_INVALID)
        add_invalid(out, &path, value, vd_approval_advice(state));
}

static void check_references(const struct vd_field_path *up, struct vd_slice text,
                             struct vd_violations *out)
{
    struct vd_field_path path = vd_field_key(up, VD_SLICE(VD_REFERENCES_ANNOTATION));
    struct vd_reference_field *fields;
    struct vd_arena scratch = {0};
    struct vd_error error;
    size_t n;
    if (vd_reference_fields_parse(&scratch, text, &fields, &n, &error))
        add_invalid(out, &path, text, error.text);
    vd_arena_release(&scratch);
}

/* Our own annotations that a kind is read with. */
static void check_annotations(const struct vd_json *object, struct vd_violations *out)
{
    static const struct {
        const char *key, *values[2], *listed;
    } known[] = {
        {"vedette.dev/spec-owner", {"api", "git"}, "\"api\", \"git\""},
        {"vedette.dev/status-precondition", {"required", ""}, "\"required\""},
        {"vedette.dev/status-boundary", {"strict", ""}, "\"strict\""},
        {"vedette.dev/status-conditions", {"strict", ""}, "\"strict\""},
        {"vedette.dev/values", {"hidden", ""}, "\"hidden\""},
    };
    const struct vd_json *annotations = vd_meta_annotations(object);
    struct vd_field_path metadata = vd_field_member(NULL, VD_SLICE("metadata"));
    struct vd_field_path up = vd_field_member(&metadata, VD_SLICE("annotations"));
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct vd_slice value = vd_kind_rule_text(annotations, known[i].key);
        struct vd_field_path path = vd_field_key(&up, vd_slice_of(known[i].key));
        if (value.n && !vd_slice_is(value, known[i].values[0]) &&
            !vd_slice_is(value, known[i].values[1]))
            vd_violations_add(out, VD_VIOLATION_NOT_SUPPORTED, &path, vd_bad_value_text(out, value),
                              "supported values: %s", known[i].listed);
    }
    check_references(&up, vd_kind_rule_text(annotations, VD_REFERENCES_ANNOTATION), out);
}

/* --- parts of versions --- */

static bool is_path(const struct vd_field_path *at, struct vd_slice path, struct vd_violations *out)
{
    if (path.n && path.p[0] == '.')
        return true;
    if (path.n)
        add_invalid(out, at, path, "must be a simple json path starting with .");
    else
        vd_kind_rule_add(out, VD_VIOLATION_REQUIRED, at, "");
    return false;
}

static bool is_among(struct vd_slice text, const char *list)
{
    struct vd_slice rest = vd_slice_of(list), word;
    while (vd_slice_cut(&rest, ',', &word))
        if (vd_slice_eq(word, text))
            return true;
    return false;
}

static void check_column(const struct vd_json *column, const struct vd_field_path *up,
                         struct vd_violations *out)
{
    static const char types[] = "boolean,date,integer,number,string";
    static const char formats[] = "byte,date,date-time,double,float,int32,int64,password";
    struct vd_field_path name = vd_field_member(up, VD_SLICE("name"));
    struct vd_field_path type = vd_field_member(up, VD_SLICE("type"));
    struct vd_field_path format = vd_field_member(up, VD_SLICE("format"));
    struct vd_field_path path = vd_field_member(up, VD_SLICE("JSONPath"));
    struct vd_slice given = vd_kind_rule_text(column, "type");
    if (!vd_kind_rule_text(column, "name").n)
        vd_kind_rule_add(out, VD_VIOLATION_REQUIRED, &name, "");
    if (!given.n)
        vd_violations_add(out, VD_VIOLATION_REQUIRED, &type, vd_bad_value_nothing(),
                          "must be one of %s", types);
    else if (!is_among(given, types))
        vd_violations_add(out, VD_VIOLATION_INVALID, &type, vd_bad_value_text(out, given),
                          "must be one of %s", types);
    given = vd_kind_rule_text(column, "format");
    if (given.n && !is_among(given, formats))
        vd_violations_add(out, VD_VIOLATION_INVALID, &format, vd_bad_value_text(out, given),
                          "must be one of %s", formats);
    is_path(&path, vd_kind_rule_text(column, "jsonPath"), out);
}

static void check_columns(const struct vd_json *columns, const struct vd_field_path *path,
                          struct vd_violations *out)
{
    size_t i = 0;
    VD_JSON_EACH (column, columns) {
        struct vd_field_path at = vd_field_element(path, i++);
        check_column(column, &at, out);
    }
}

static void check_subresources(const struct vd_json *subresources, const struct vd_field_path *path,
                               struct vd_violations *out)
{
    static const struct {
        const char *field, *name, *under, *or_under, *detail;
    } paths[] = {
        {"specReplicasPath", "scale.specReplicasPath", ".spec.", ".spec.",
         "should be a json path under .spec"},
        {"statusReplicasPath", "scale.statusReplicasPath", ".status.", ".status.",
         "should be a json path under .status"},
        {"labelSelectorPath", "scale.labelSelectorPath", ".spec.", ".status.",
         "should be a json path under either .spec or .status"},
    };
    const struct vd_json *scale = vd_json_get(subresources, VD_SLICE("scale"));
    for (size_t i = 0; vd_json_is(scale, VD_JSON_OBJECT) && i < 3; i++) {
        struct vd_field_path at = vd_field_member(path, vd_slice_of(paths[i].name));
        struct vd_slice given = vd_kind_rule_text(scale, paths[i].field);
        bool optional = i == 2;
        if ((optional && !given.n) || !is_path(&at, given, out))
            continue;
        if (!vd_slice_starts_with(given, vd_slice_of(paths[i].under)) &&
            !vd_slice_starts_with(given, vd_slice_of(paths[i].or_under)))
            add_invalid(out, &at, given, paths[i].detail);
    }
}

/* The schema of ".spec.color" under the whole object's; NULL: there is no such field. */
static const struct vd_json *schema_at(const struct vd_json *schema, struct vd_slice path)
{
    struct vd_slice rest = vd_slice_from(path, 1), key;
    while (schema && vd_slice_cut(&rest, '.', &key))
        schema = vd_json_get(vd_json_get(schema, VD_SLICE("properties")), key);
    return schema;
}

static void check_selectable_field(const struct vd_json *schema, struct vd_slice path,
                                   const struct vd_field_path *at, struct vd_violations *out)
{
    const struct vd_json *found = path.n > 1 && path.p[0] == '.' ? schema_at(schema, path) : NULL;
    if (!path.n) {
        vd_kind_rule_add(out, VD_VIOLATION_REQUIRED, at, "");
        return;
    }
    if (vd_slice_is(path, ".metadata") || vd_slice_starts_with(path, VD_SLICE(".metadata."))) {
        add_invalid(out, at, path, "must not point to fields in metadata");
        return;
    }
    if (!found)
        add_invalid(out, at, path, "is an invalid path: does not refer to a valid field");
    else if (!is_among(vd_kind_rule_text(found, "type"), "string,boolean,integer"))
        add_invalid(out, at, path,
                    "must point to a field of type string, boolean or integer. Enum string fields "
                    "and strings with formats are allowed.");
}

/* False: there are more, which is said. */
static bool check_count(const struct vd_json *list, int max, const struct vd_field_path *path,
                        struct vd_violations *out)
{
    char digits[20];
    if (vd_json_count(list) <= (size_t)max)
        return true;
    vd_violations_add(out, VD_VIOLATION_TOO_MANY, path,
                      vd_slice(digits, vd_u64_digits(vd_json_count(list), digits)),
                      "must have at most %d items", max);
    return false;
}

static void check_selectable(const struct vd_json *fields, const struct vd_json *schema,
                             const struct vd_field_path *path, struct vd_violations *out)
{
    size_t i = 0;
    if (!check_count(fields, SELECTABLE_MAX, path, out))
        return;
    VD_JSON_EACH (field, fields) {
        struct vd_field_path up = vd_field_element(path, i++);
        struct vd_field_path at = vd_field_member(&up, VD_SLICE("jsonPath"));
        struct vd_slice text = vd_kind_rule_text(field, "jsonPath");
        check_selectable_field(schema, text, &at, out);
        for (const struct vd_json *other = vd_json_first(fields); other != field;
             other = vd_json_next(other)) {
            if (text.n && vd_slice_eq(vd_kind_rule_text(other, "jsonPath"), text)) {
                vd_violations_add(out, VD_VIOLATION_DUPLICATE, &at, vd_bad_value_text(out, text),
                                  "%s", "");
                break;
            }
        }
    }
}

static void check_deprecation(const struct vd_json *version, const struct vd_field_path *up,
                              struct vd_violations *out)
{
    const struct vd_json *warning = vd_json_get(version, VD_SLICE("deprecationWarning"));
    struct vd_field_path path = vd_field_member(up, VD_SLICE("deprecationWarning"));
    struct vd_slice text = vd_json_text(warning);
    if (!vd_json_is(warning, VD_JSON_STRING))
        return;
    if (!vd_json_truth(vd_json_get(version, VD_SLICE("deprecated")))) {
        add_invalid(out, &path, text, "can only be set for deprecated versions");
        return;
    }
    if (text.n > WARNING_LEN_MAX)
        add_invalid(out, &path, text, "must be <= 256 characters long");
    if (text.n == 0)
        add_invalid(out, &path, text, "must not be an empty string");
    for (size_t i = 0; i < text.n; i++) {
        if ((unsigned char)text.p[i] >= 0x20 && text.p[i] != 0x7f)
            continue;
        vd_violations_add(out, VD_VIOLATION_INVALID, &path, vd_bad_value_text(out, text),
                          "must only contain printable UTF-8 characters; non-printable character "
                          "found at index %zu",
                          i);
        return;
    }
}

/* --- versions --- */

/* The four things that versions can have in common. */
enum shared { SCHEMA, SUBRESOURCES, COLUMNS, SELECTABLE };

static const struct {
    const char *field;  /* in a version */
    const char *common; /* in spec */
} shared[] = {
    [SCHEMA] = {"schema", "validation"},
    [SUBRESOURCES] = {"subresources", "subresources"},
    [COLUMNS] = {"additionalPrinterColumns", "additionalPrinterColumns"},
    [SELECTABLE] = {"selectableFields", "selectableFields"},
};

static bool is_common(const struct vd_json *versions, enum shared what)
{
    struct vd_slice field = vd_slice_of(shared[what].field);
    const struct vd_json *first = vd_json_get(vd_json_first(versions), field);
    VD_JSON_EACH (version, versions) {
        if (!vd_json_eq(vd_json_get(version, field), first))
            return false;
    }
    return true;
}

static bool has_status(const struct vd_json *version)
{
    return vd_json_dig(version, "subresources", "status", NULL) != NULL;
}

static bool any_has_status(const struct vd_json *versions)
{
    VD_JSON_EACH (version, versions) {
        if (has_status(version))
            return true;
    }
    return false;
}

static void check_shared(const struct vd_json *version, enum shared what, bool status,
                         const struct vd_field_path *path, struct vd_violations *out)
{
    const struct vd_json *value = vd_json_get(version, vd_slice_of(shared[what].field));
    const struct vd_json *schema = vd_json_dig(version, "schema", "openAPIV3Schema", NULL);
    switch (what) {
    case SCHEMA:
        if (schema)
            vd_structural_check(schema, path, status, out);
        break;
    case SUBRESOURCES:
        check_subresources(value, path, out);
        break;
    case COLUMNS:
        check_columns(value, path, out);
        break;
    case SELECTABLE:
        check_selectable(value, schema, path, out);
        break;
    }
}

/* What the versions share is looked at once, the rest in each of them. */
static void check_parts(const struct vd_json *versions, const struct vd_field_path *spec,
                        struct vd_violations *out)
{
    struct vd_field_path list = vd_field_member(spec, VD_SLICE("versions"));
    for (int what = SCHEMA; what <= SELECTABLE; what++) {
        if (is_common(versions, (enum shared)what)) {
            struct vd_field_path path = vd_field_member(spec, vd_slice_of(shared[what].common));
            if (vd_json_first(versions))
                check_shared(vd_json_first(versions), (enum shared)what, any_has_status(versions),
                             &path, out);
            continue;
        }
        size_t i = 0;
        VD_JSON_EACH (version, versions) {
            struct vd_field_path up = vd_field_element(&list, i++);
            struct vd_field_path path = vd_field_member(&up, vd_slice_of(shared[what].field));
            check_shared(version, (enum shared)what, has_status(version), &path, out);
        }
    }
}

static bool name_is_taken(const struct vd_json *versions, const struct vd_json *version)
{
    for (const struct vd_json *other = vd_json_first(versions); other != version;
         other = vd_json_next(other))
        if (vd_slice_eq(vd_kind_rule_text(other, "name"), vd_kind_rule_text(version, "name")))
            return true;
    return false;
}

static void check_versions(const struct vd_json *versions, const struct vd_field_path *spec,
                           struct vd_violations *out)
{
    struct vd_field_path list = vd_field_member(spec, VD_SLICE("versions"));
    size_t i = 0, storage = 0;
    bool unique = true;
    if (!check_count(versions, VD_DEFINITION_VERSIONS_MAX, &list, out))
        return;
    VD_JSON_EACH (version, versions) {
        struct vd_field_path up = vd_field_element(&list, i++);
        struct vd_field_path name = vd_field_member(&up, VD_SLICE("name"));
        struct vd_field_path schema = vd_field_member(&up, VD_SLICE("schema"));
        struct vd_field_path openapi = vd_field_member(&schema, VD_SLICE("openAPIV3Schema"));
        struct vd_slice text = vd_kind_rule_text(version, "name");
        storage += vd_json_truth(vd_json_get(version, VD_SLICE("storage")));
        unique = unique && !name_is_taken(versions, version);
        if (!vd_json_is(vd_json_dig(version, "schema", "openAPIV3Schema", NULL), VD_JSON_OBJECT))
            vd_kind_rule_add(out, VD_VIOLATION_REQUIRED, &openapi, "schemas are required");
        check_label(&name, text, text, "", VD_NAME_DNS1035, out);
        check_deprecation(version, &up, out);
    }
    struct vd_slice shown = VD_SLICE("null");
    if (versions && (!unique || storage != 1))
        shown = vd_bad_value_json(out, versions);
    if (!unique)
        vd_violations_add(out, VD_VIOLATION_INVALID, &list, shown, "%s",
                          "must contain unique version names");
    if (storage != 1)
        vd_violations_add(out, VD_VIOLATION_INVALID, &list, shown, "%s",
                          "must have exactly one version marked as storage version");
    check_parts(versions, spec, out);
}

/* --- the rest of spec --- */

static void check_scope(const struct vd_json *spec, const struct vd_field_path *up,
                        struct vd_violations *out)
{
    struct vd_field_path path = vd_field_member(up, VD_SLICE("scope"));
    struct vd_slice scope = vd_kind_rule_text(spec, "scope");
    if (!scope.n)
        vd_kind_rule_add(out, VD_VIOLATION_REQUIRED, &path, "");
    else if (!is_among(scope, "Cluster,Namespaced"))
        vd_violations_add(out, VD_VIOLATION_NOT_SUPPORTED, &path, vd_bad_value_text(out, scope),
                          "%s", "supported values: \"Cluster\", \"Namespaced\"");
}

static void check_spec(const struct vd_json *spec, struct vd_violations *out)
{
    struct vd_field_path path = vd_field_member(NULL, VD_SLICE("spec"));
    struct vd_field_path names = vd_field_member(&path, VD_SLICE("names"));
    struct vd_field_path preserve = vd_field_member(&path, VD_SLICE("preserveUnknownFields"));
    check_group(spec, &path, out);
    check_scope(spec, &path, out);
    if (vd_json_truth(vd_json_get(spec, VD_SLICE("preserveUnknownFields"))))
        vd_violations_add(out, VD_VIOLATION_INVALID, &preserve, VD_SLICE("true"), "%s",
                          "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in "
                          "spec.versions[*].schema instead");
    check_versions(vd_json_get(spec, VD_SLICE("versions")), &path, out);
    check_names(vd_json_get(spec, VD_SLICE("names")), &names, out);
    vd_kind_rule_conversion_check(spec, &path, out);
}

/* --- updates --- */

static bool is_established(const struct vd_json *object)
{
    VD_JSON_EACH (condition, vd_json_dig(object, "status", "conditions", NULL)) {
        if (vd_slice_is(vd_kind_rule_text(condition, "type"), "Established"))
            return vd_slice_is(vd_kind_rule_text(condition, "status"), "True");
    }
    return false;
}

static void check_same(const struct vd_json *now, const struct vd_json *before, const char *field,
                       const struct vd_field_path *up, struct vd_violations *out)
{
    struct vd_field_path path = vd_field_member(up, vd_slice_of(field));
    struct vd_slice value = vd_kind_rule_text(now, field);
    if (!vd_slice_eq(value, vd_kind_rule_text(before, field)))
        add_invalid(out, &path, value, "field is immutable");
}

static void check_update(const struct vd_json *object, const struct vd_json *old,
                         struct vd_violations *out)
{
    const struct vd_json *is = vd_json_get(object, VD_SLICE("spec"));
    const struct vd_json *was = vd_json_get(old, VD_SLICE("spec"));
    const struct vd_json *names = vd_json_get(is, VD_SLICE("names"));
    const struct vd_json *old_names = vd_json_get(was, VD_SLICE("names"));
    struct vd_field_path spec = vd_field_member(NULL, VD_SLICE("spec"));
    struct vd_field_path up = vd_field_member(&spec, VD_SLICE("names"));
    if (is_established(old)) {
        check_same(is, was, "scope", &spec, out);
        check_same(names, old_names, "kind", &up, out);
    }
    check_same(is, was, "group", &spec, out);
    check_same(names, old_names, "plural", &up, out);
}

/* The version that objects are stored in is one of those in which they may be. */
static void check_storage_version(const struct vd_json *versions, const struct vd_json *stored,
                                  const struct vd_field_path *list, struct vd_violations *out)
{
    VD_JSON_EACH (version, versions) {
        struct vd_slice name = vd_kind_rule_text(version, "name");
        if (vd_json_truth(vd_json_get(version, VD_SLICE("storage"))) && !has_text(stored, name))
            vd_violations_add(out, VD_VIOLATION_INVALID, list, vd_bad_value_json(out, version),
                              "must have the storage version %.*s", VD_FMT(name));
    }
}

/* A version in which objects may still be stored has to stay. */
static void check_stored_versions(const struct vd_json *object, struct vd_violations *out)
{
    const struct vd_json *stored = vd_json_dig(object, "status", "storedVersions", NULL);
    const struct vd_json *versions = vd_json_dig(object, "spec", "versions", NULL);
    struct vd_field_path up = vd_field_member(NULL, VD_SLICE("status"));
    struct vd_field_path list = vd_field_member(&up, VD_SLICE("storedVersions"));
    size_t i = 0;
    if (vd_json_count(stored) == 0)
        vd_violations_add(out, VD_VIOLATION_INVALID, &list, VD_SLICE("null"), "%s",
                          "must have at least one stored version");
    else
        check_storage_version(versions, stored, &list, out);
    VD_JSON_EACH (item, stored) {
        struct vd_field_path path = vd_field_element(&list, i++);
        struct vd_slice name = vd_json_text(item);
        bool found = false;
        VD_JSON_EACH (version, versions)
            found = found || vd_slice_eq(vd_kind_rule_text(version, "name"), name);
        if (!found)
            vd_violations_add(
                out, VD_VIOLATION_INVALID, &path, vd_bad_value_text(out, name),
                "missing from spec.versions; %.*s was previously a storage version, and must "
                "remain "
                "in spec.versions until a storage migration ensures no data remains persisted in "
                "%.*s and removes %.*s from status.storedVersions",
                VD_FMT(name), VD_FMT(name), VD_FMT(name));
    }
}

void vd_rule_definition_check(const struct vd_json *object, const struct vd_json *old,
                              struct vd_violations *out)
{
    check_name(object, out);
    check_spec(vd_json_get(object, VD_SLICE("spec")), out);
    if (old) {
        check_update(object, old, out);
        check_stored_versions(object, out);
    }
    check_approval(object, old, out);
    check_annotations(object, out);
}
