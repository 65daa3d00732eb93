/* See query_option.h. The sentences are those of Kubernetes and of Go. */
#include "kube/query_option.h"

#include <strings.h>

#include "watch/excerpt.h"

enum { SHOWN_LEN_MAX = 80 }; /* bytes of a wrong value that the error shows */

bool vd_query_flag(const struct vd_url_query *query, struct vd_slice key, bool *out)
{
    struct vd_slice value;
    *out = false;
    if (!vd_url_query_find(query, key, &value))
        return false;
    *out = !vd_slice_is(value, "0") &&
           !(value.n == 5 && strncasecmp(value.p, "false", value.n) == 0);
    return true;
}

static int not_a_number(struct vd_slice text, const char *why, struct vd_error *error)
{
    struct vd_buf shown = {0};
    vd_excerpt_add_quoted(&shown, text, SHOWN_LEN_MAX);
    int code = vd_error_set(error, VD_ERR_INVALID, "strconv.ParseInt: parsing %s: %s",
                            vd_buf_text(&shown), why);
    vd_buf_release(&shown);
    return code;
}

int vd_query_number(const struct vd_url_query *query, struct vd_slice key, bool *given,
                    int64_t *out, struct vd_error *error)
{
    struct vd_slice text;
    *given = vd_url_query_find(query, key, &text);
    *out = 0;
    if (!*given)
        return VD_OK;
    bool negative = text.n && text.p[0] == '-';
    uint64_t number, number_max = (uint64_t)INT64_MAX + negative;
    struct vd_slice digits = vd_slice_from(text, negative || (text.n && text.p[0] == '+'));
    bool good = digits.n > 0;
    for (size_t i = 0; i < digits.n; i++)
        good = good && digits.p[i] >= '0' && digits.p[i] <= '9';
    if (!good)
        return not_a_number(text, "invalid syntax", error);
    while (digits.n > 1 && digits.p[0] == '0')
        digits = vd_slice_from(digits, 1);
    if (vd_slice_to_u64(digits, &number) != 0 || number > number_max)
        return not_a_number(text, "value out of range", error);
    *out = negative ? (int64_t)(0 - number) : (int64_t)number;
    return VD_OK;
}
