/* See embedded.h. */
#include "kinds/embedded.h"

#include <ctype.h>
#include <string.h>

#include "kinds/name.h"
#include "kinds/object_meta_rules.h"

/* The text of a field that has to be there. False: it is not, which is said. */
static bool needed_text(const struct vd_json *resource, const char *key,
                        const struct vd_field_path *path, struct vd_slice *text,
                        struct vd_violations *out)
{
    const struct vd_json *value = vd_json_get(resource, vd_slice_of(key));
    *text = vd_json_text(value);
    if (value && !vd_json_is(value, VD_JSON_STRING))
        vd_violations_add(out, VD_VIOLATION_INVALID, path, vd_bad_value_json(out, value), "%s",
                          "must be a string");
    else if (!text->n)
        vd_violations_add(out, VD_VIOLATION_REQUIRED, path, vd_bad_value_nothing(), "%s",
                          "must not be empty");
    else
        return true;
    return false;
}

/* "v1" or "group/v1". */
static void check_version(struct vd_slice text, const struct vd_field_path *path,
                          struct vd_violations *out)
{
    const char *slash = memchr(text.p, '/', text.n);
    if (slash && memchr(slash + 1, '/', (size_t)(text.p + text.n - slash - 1)))
        vd_violations_add(out, VD_VIOLATION_INVALID, path, vd_bad_value_text(out, text),
                          "unexpected GroupVersion string: %.*s", VD_FMT(text));
}

/* A kind is a label but for its capitals. */
static void check_kind(struct vd_slice kind, const struct vd_field_path *path,
                       struct vd_violations *out)
{
    struct vd_buf small = {0}, why = {0};
    struct vd_name_faults faults;
    for (size_t i = 0; i < kind.n; i++)
        vd_buf_add_char(&small, (char)tolower((unsigned char)kind.p[i]));
    if (!vd_name_check(VD_NAME_DNS1035, vd_buf_slice(&small), &faults)) {
        for (size_t i = 0; i < faults.n; i++)
            vd_buf_addf(&why, "%s%s", i ? "," : "", faults.p[i]);
        vd_violations_add(out, VD_VIOLATION_INVALID, path, vd_bad_value_text(out, kind),
                          "may have mixed case, but should otherwise match: %s", vd_buf_text(&why));
    }
    vd_buf_release(&small);
    vd_buf_release(&why);
}

bool vd_embedded_check(const struct vd_json *resource, const struct vd_field_path *path,
                       struct vd_violations *out)
{
    struct vd_field_path version = vd_field_member(path, VD_SLICE("apiVersion"));
    struct vd_field_path kind = vd_field_member(path, VD_SLICE("kind"));
    size_t before = out->list.n, dropped = out->dropped;
    struct vd_slice text;
    if (needed_text(resource, "apiVersion", &version, &text, out))
        check_version(text, &version, out);
    if (needed_text(resource, "kind", &kind, &text, out))
        check_kind(text, &kind, out);
    vd_meta_rules_check_embedded(resource, path, out);
    return out->list.n == before && out->dropped == dropped;
}
