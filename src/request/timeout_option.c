/* See timeout_option.h. The sentences are those of Kubernetes and of Go. */
#include "request/timeout_option.h"

#include "base/buf.h"
#include "cel/value.h"
#include "watch/excerpt.h"

enum { SHOWN_LEN_MAX = 80 }; /* bytes of a wrong value that the error shows */

static size_t count_digits(struct vd_slice s)
{
    size_t n = 0;
    while (n < s.n && s.p[n] >= '0' && s.p[n] <= '9')
        n++;
    return n;
}

static bool is_unit(struct vd_slice unit)
{
    struct vd_buf one = {0};
    int64_t nanoseconds;
    vd_buf_addf(&one, "1%.*s", VD_FMT(unit));
    bool good = vd_cel_duration_parse(vd_buf_slice(&one), &nanoseconds);
    vd_buf_release(&one);
    return good;
}

/* What Go says is wrong with it; the unit that it does not know goes to *unit. */
static const char *duration_fault(struct vd_slice s, struct vd_slice *unit)
{
    if (s.n && (s.p[0] == '-' || s.p[0] == '+'))
        s = vd_slice_from(s, 1);
    while (s.n) {
        size_t digits = count_digits(s), n = 0;
        s = vd_slice_from(s, digits);
        if (s.n && s.p[0] == '.') {
            s = vd_slice_from(s, 1);
            size_t behind = count_digits(s);
            digits += behind;
            s = vd_slice_from(s, behind);
        }
        if (digits == 0)
            break;
        while (n < s.n && s.p[n] != '.' && (s.p[n] < '0' || s.p[n] > '9'))
            n++;
        *unit = vd_slice(s.p, n);
        if (n == 0)
            return "missing unit in";
        if (!is_unit(*unit))
            return "unknown unit";
        *unit = VD_SLICE("");
        s = vd_slice_from(s, n);
    }
    return "invalid";
}

int vd_timeout_option_check(const struct vd_url_query *query, struct vd_error *error)
{
    struct vd_slice text, unit = VD_SLICE("");
    struct vd_buf why = {0};
    int64_t nanoseconds;
    if (!vd_url_query_find(query, VD_SLICE("timeout"), &text) || text.n == 0 ||
        vd_cel_duration_parse(text, &nanoseconds))
        return VD_OK;
    vd_buf_addf(&why, "%s ", duration_fault(text, &unit));
    if (unit.n) {
        vd_excerpt_add_quoted(&why, unit, SHOWN_LEN_MAX);
        vd_buf_add_text(&why, " in ");
    }
    vd_buf_add_text(&why, "duration ");
    vd_excerpt_add_quoted(&why, text, SHOWN_LEN_MAX);
    int code = vd_error_set(error, VD_ERR_INVALID,
                            "invalid timeout specified in the request URL - time: %s",
                            vd_buf_text(&why));
    vd_buf_release(&why);
    return code;
}
