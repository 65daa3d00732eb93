/*
 * From openAPIV3Schema to the types that CEL checks rules against, with the sizes
 * that values can have: what Kubernetes calls declared types.
 *
 * A schema without a type (x-kubernetes-preserve-unknown-fields alone) has none, and
 * fields of it cannot be named. Sizes that the schema does not bound are bounded by
 * the largest request.
 */
#include <string.h>

#include "kinds/schema_rules.h"

enum {
    REQUEST_LEN_MAX = 3145728
}; /* bytes of a request, which bound what a schema leaves unbounded */

static struct vd_slice keyword(const struct vd_json *schema, const char *name)
{
    struct vd_slice text = vd_json_text(vd_json_get(schema, vd_slice_of(name)));
    return text.p ? text : vd_slice("", 0);
}

static bool truth(const struct vd_json *schema, const char *name)
{
    return vd_json_truth(vd_json_get(schema, vd_slice_of(name)));
}

/* A bound of the schema, or what is given. */
static uint64_t bound(const struct vd_json *schema, const char *name, uint64_t otherwise)
{
    uint64_t value;
    return vd_json_to_u64(vd_json_get(schema, vd_slice_of(name)), &value) ? value : otherwise;
}

static struct vd_cel_type *scalar(struct vd_arena *a, enum vd_cel_kind kind, uint64_t min_size,
                                  uint64_t max_elements)
{
    struct vd_cel_type *type = vd_cel_type_declare(a, kind);
    type->min_size = min_size;
    type->max_elements = max_elements;
    return type;
}

static uint64_t longest_value(const struct vd_json *values)
{
    uint64_t longest = 0;
    VD_JSON_EACH (value, values) {
        struct vd_slice text = vd_json_text(value);
        if (text.n > longest)
            longest = text.n;
    }
    return longest;
}

static struct vd_cel_type *string_type(struct vd_arena *a, const struct vd_json *schema)
{
    struct vd_slice format = keyword(schema, "format");
    const struct vd_json *values = vd_json_get(schema, VD_SLICE("enum"));
    if (vd_slice_is(format, "byte"))
        return scalar(a, VD_CEL_BYTES, 2, bound(schema, "maxLength", REQUEST_LEN_MAX - 2));
    if (vd_slice_is(format, "duration"))
        return scalar(a, VD_CEL_DURATION, 3, 32);
    if (vd_slice_is(format, "date") || vd_slice_is(format, "date-time")) {
        bool date = format.n == 4;
        struct vd_cel_type *type = scalar(a, VD_CEL_TIMESTAMP, date ? 12 : 21, date ? 12 : 32);
        type->date_only = date;
        return type;
    }
    uint64_t length = bound(schema, "maxLength", UINT64_MAX);
    if (length < UINT64_MAX / 4)
        return scalar(a, VD_CEL_STRING, 2, 4 * length); /* characters of up to four bytes */
    return scalar(a, VD_CEL_STRING, 2,
                  vd_json_count(values) ? longest_value(values) : REQUEST_LEN_MAX - 2);
}

static struct vd_cel_type *list_type(struct vd_arena *a, const struct vd_json *schema)
{
    const struct vd_json *items = vd_json_get(schema, VD_SLICE("items"));
    const struct vd_json *keys = vd_json_get(schema, VD_SLICE("x-kubernetes-list-map-keys"));
    struct vd_slice order = keyword(schema, "x-kubernetes-list-type");
    const struct vd_cel_type *item =
        items ? vd_schema_cel_type(a, items, truth(items, "x-kubernetes-embedded-resource")) : NULL;
    if (!item)
        return NULL;
    struct vd_cel_type *type = vd_cel_type_declare(a, VD_CEL_LIST);
    type->item = item;
    type->min_size = 2;
    type->max_elements = bound(schema, "maxItems", (REQUEST_LEN_MAX - 2) / (item->min_size + 1));
    type->list_type = vd_slice_is(order, "set")   ? VD_CEL_LIST_SET
                      : vd_slice_is(order, "map") ? VD_CEL_LIST_MAP
                                                  : VD_CEL_LIST_ATOMIC;
    type->map_keys = vd_arena_alloc(a, (vd_json_count(keys) + 1) * sizeof *type->map_keys);
    VD_JSON_EACH (key, keys)
        type->map_keys[type->map_key_count++] = vd_json_text(key);
    return type;
}

static struct vd_cel_type *map_type(struct vd_arena *a, const struct vd_json *schema,
                                    const struct vd_json *values)
{
    const struct vd_cel_type *item = vd_schema_cel_type(
        a, values, truth(values, "x-kubernetes-embedded-resource"));
    if (!item)
        return NULL;
    struct vd_cel_type *type = vd_cel_type_declare(a, VD_CEL_MAP);
    type->key = scalar(a, VD_CEL_STRING, 2, 0);
    type->item = item;
    type->min_size = 2;
    type->max_elements = bound(schema, "maxProperties",
                               (REQUEST_LEN_MAX - 2) / (item->min_size + 6));
    return type;
}

static bool is_required(const struct vd_json *schema, struct vd_slice name)
{
    VD_JSON_EACH (one, vd_json_get(schema, VD_SLICE("required"))) {
        if (vd_slice_eq(vd_json_text(one), name))
            return true;
    }
    return false;
}

static void add_field(struct vd_arena *a, struct vd_cel_type *object, struct vd_slice raw,
                      struct vd_cel_type *type)
{
    struct vd_slice name;
    if (type && vd_cel_escape(a, raw, &name))
        object->fields[object->field_count++] = (struct vd_cel_field){name, raw, type};
}

static bool has_field(const struct vd_cel_type *object, const char *name)
{
    return vd_cel_type_field(object, vd_slice_of(name)) != NULL;
}

/* What every resource has, said or not. */
static void add_resource_fields(struct vd_arena *a, struct vd_cel_type *object, bool metadata)
{
    static const char *const type_meta[] = {"apiVersion", "kind"};
    static const char *const object_meta[] = {"name", "generateName"};
    for (size_t i = 0; i < 2; i++) {
        const char *name = metadata ? object_meta[i] : type_meta[i];
        if (!has_field(object, name))
            add_field(a, object, vd_slice_of(name),
                      scalar(a, VD_CEL_STRING, 2, REQUEST_LEN_MAX - 2));
    }
}

static struct vd_cel_type *object_type(struct vd_arena *a, const struct vd_json *schema,
                                       bool resource, bool metadata)
{
    const struct vd_json *properties = vd_json_get(schema, VD_SLICE("properties"));
    struct vd_cel_type *type = vd_cel_type_declare(a, VD_CEL_OBJECT);
    type->min_size = 2;
    type->fields = vd_arena_alloc(a, (vd_json_count(properties) + 4) * sizeof *type->fields);
    VD_JSON_EACH (property, properties) {
        struct vd_slice name = vd_json_key(property);
        bool meta = resource && vd_slice_is(name, "metadata");
        struct vd_cel_type *found = meta ? object_type(a, property, false, true)
                                         : vd_schema_cel_type(
                                               a, property,
                                               truth(property, "x-kubernetes-embedded-resource"));
        add_field(a, type, name, found);
        if (found && is_required(schema, name) && !vd_json_get(property, VD_SLICE("default")))
            type->min_size += name.n + found->min_size + 4;
    }
    if (resource || metadata)
        add_resource_fields(a, type, metadata);
    if (resource && !has_field(type, "metadata"))
        add_field(a, type, VD_SLICE("metadata"), object_type(a, NULL, false, true));
    return type;
}

struct vd_cel_type *vd_schema_cel_type(struct vd_arena *a, const struct vd_json *schema,
                                       bool resource)
{
    struct vd_slice type = keyword(schema, "type");
    const struct vd_json *additional = vd_json_get(schema, VD_SLICE("additionalProperties"));
    if (truth(schema, "x-kubernetes-int-or-string")) {
        struct vd_cel_type *either = scalar(a, VD_CEL_DYN, 1, REQUEST_LEN_MAX - 2);
        either->int_or_string = true;
        return either;
    }
    if (vd_slice_is(type, "array"))
        return list_type(a, schema);
    if (vd_slice_is(type, "object"))
        return vd_json_is(additional, VD_JSON_OBJECT) && !resource
                   ? map_type(a, schema, additional)
                   : object_type(a, schema, resource, false);
    if (vd_slice_is(type, "string"))
        return string_type(a, schema);
    if (vd_slice_is(type, "boolean"))
        return scalar(a, VD_CEL_BOOL, 4, 0);
    if (vd_slice_is(type, "number"))
        return scalar(a, VD_CEL_DOUBLE, 1, 0);
    return vd_slice_is(type, "integer") ? scalar(a, VD_CEL_INT, 1, 0) : NULL;
}
