/* See scale_bounds.h. The paths of a definition are dots and names: .spec.replicas. */
#include "kinds/scale_bounds.h"

#include "json/compare.h"

static const struct vd_json *value_at(const struct vd_json *object, struct vd_slice path)
{
    struct vd_slice rest = vd_slice_from(path, 1), key;
    while (object && vd_slice_cut(&rest, '.', &key))
        object = vd_json_get(object, key);
    return object;
}

/* What Go calls the type of a value. */
static const char *type_of(const struct vd_json *value)
{
    int64_t number;
    switch ((enum vd_json_type)value->type) {
    case VD_JSON_STRING:
        return "string";
    case VD_JSON_NUMBER:
        return vd_json_to_i64(value, &number) ? "int64" : "float64";
    case VD_JSON_BOOL:
        return "bool";
    case VD_JSON_ARRAY:
        return "[]interface {}";
    case VD_JSON_OBJECT:
        return "map[string]interface {}";
    case VD_JSON_NULL:
        break;
    }
    return "<nil>";
}

static void check_type(const struct vd_json *value, struct vd_slice path, const char *shown,
                       const char *wanted, struct vd_violations *out)
{
    struct vd_buf detail = {0};
    struct vd_slice text = vd_json_is(value, VD_JSON_STRING) ? vd_json_text(value)
                                                             : vd_bad_value_json(out, value);
    vd_buf_addf(&detail, "%.*s accessor error: %.*s is of the type %s, expected %s", VD_FMT(path),
                VD_FMT(text), type_of(value), wanted);
    vd_violations_add_at(out, VD_VIOLATION_INVALID, path, vd_slice_of(shown),
                         vd_buf_slice(&detail));
    vd_buf_release(&detail);
}

static void check_number(const struct vd_json *object, const struct vd_json *old,
                         struct vd_slice path, struct vd_violations *out)
{
    const struct vd_json *value = value_at(object, path);
    int64_t number;
    if (!value || (old && vd_json_eq(value, value_at(old, path))))
        return;
    if (!vd_json_to_i64(value, &number))
        check_type(value, path, "0", "int64", out);
    else if (number < 0)
        vd_violations_add_at(out, VD_VIOLATION_INVALID, path, vd_bad_value_json(out, value),
                             VD_SLICE("should be a non-negative integer"));
    else if (number > INT32_MAX)
        vd_violations_add_at(out, VD_VIOLATION_INVALID, path, vd_bad_value_json(out, value),
                             VD_SLICE("should be less than or equal to 2147483647"));
}

void vd_scale_bounds_check(const struct vd_kind *kind, const struct vd_json *object,
                           const struct vd_json *old, struct vd_violations *out)
{
    if (!kind->has_scale)
        return;
    check_number(object, old, kind->scale.spec_replicas, out);
    check_number(object, old, kind->scale.status_replicas, out);
    struct vd_slice path = kind->scale.label_selector;
    const struct vd_json *selector = path.n ? value_at(object, path) : NULL;
    if (selector && !vd_json_is(selector, VD_JSON_STRING) &&
        !(old && vd_json_eq(selector, value_at(old, path))))
        check_type(selector, path, "\"\"", "string", out);
}
