/* See server_status.h. */
#include "kinds/server_status.h"

#include "kinds/deletion.h"
#include "json/compare.h"

static bool has_fields(const struct vd_kind *kind)
{
    return vd_slice_eq(kind->resource, VD_REPOSITORIES);
}

static bool is_same(const struct vd_json *a, const struct vd_json *b)
{
    return a && b ? vd_json_eq(a, b) : a == b;
}

bool vd_server_status_check(const struct vd_kind *kind, const struct vd_json *object,
                            const struct vd_json *old, struct vd_violations *out)
{
    static const char *const fields[] = {"branches",  "lastAdmission", "resources",
                                         "lastReset", "drift",         "cascadesElsewhere"};
    const struct vd_json *now = vd_json_get(object, VD_SLICE("status"));
    const struct vd_json *was = vd_json_get(old, VD_SLICE("status"));
    bool ok = true;
    if (!has_fields(kind))
        return true;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        struct vd_slice key = vd_slice_of(fields[i]);
        struct vd_field_path status = vd_field_member(NULL, VD_SLICE("status"));
        struct vd_field_path path = vd_field_member(&status, key);
        if (is_same(vd_json_get(now, key), vd_json_get(was, key)))
            continue;
        vd_violations_add(out, VD_VIOLATION_FORBIDDEN, &path, vd_bad_value_nothing(),
                          "only the server writes this field: leave it as it was read");
        ok = false;
    }
    return ok;
}
