/* See version.h. Go and its compiler are in the document because client
 * libraries demand the members; they say what this program is instead. */
#include "kube/version.h"

#include <stdbool.h>

#include "json/escape.h"

/* Digits at the front of *rest move to *number. */
static bool cut_number(struct vd_slice *rest, struct vd_slice *number)
{
    size_t n = 0;
    while (n < rest->n && rest->p[n] >= '0' && rest->p[n] <= '9')
        n++;
    *number = vd_slice(rest->p, n);
    *rest = vd_slice_from(*rest, n);
    return n > 0;
}

static bool cut_char(struct vd_slice *rest, char c)
{
    if (!rest->n || rest->p[0] != c)
        return false;
    *rest = vd_slice_from(*rest, 1);
    return true;
}

static bool split(struct vd_slice text, struct vd_slice *major, struct vd_slice *minor)
{
    struct vd_slice patch;
    return cut_char(&text, 'v') && cut_number(&text, major) && cut_char(&text, '.') &&
           cut_number(&text, minor) && cut_char(&text, '.') && cut_number(&text, &patch) &&
           (!text.n || text.p[0] == '-' || text.p[0] == '+');
}

static void add_member(struct vd_buf *out, const char *key, struct vd_slice text)
{
    vd_buf_addf(out, "\"%s\":", key);
    vd_escape_write(out, text);
    vd_buf_add_char(out, ',');
}

int vd_version_write(struct vd_buf *out, const struct vd_version_info *info, struct vd_error *error)
{
    struct vd_slice major, minor;
    if (!split(info->kubernetes, &major, &minor))
        return vd_error_set(error, VD_ERR_INVALID,
                            "the Kubernetes version \"%.*s\" is not one: write it like v1.32.4",
                            VD_FMT(info->kubernetes));
    vd_buf_add_char(out, '{');
    add_member(out, "major", major);
    add_member(out, "minor", minor);
    add_member(out, "gitVersion", info->kubernetes);
    add_member(out, "gitCommit", info->commit);
    add_member(out, "gitTreeState", VD_SLICE("clean"));
    add_member(out, "buildDate", info->build_date);
    add_member(out, "goVersion", VD_SLICE("none"));
#ifdef __clang__
    add_member(out, "compiler", VD_SLICE("clang"));
#else
    add_member(out, "compiler", VD_SLICE("gcc"));
#endif
#if defined __x86_64__
    vd_buf_add_text(out, "\"platform\":\"linux/amd64\"}");
#elif defined __aarch64__
    vd_buf_add_text(out, "\"platform\":\"linux/arm64\"}");
#else
    vd_buf_add_text(out, "\"platform\":\"linux/unknown\"}");
#endif
    return VD_OK;
}
