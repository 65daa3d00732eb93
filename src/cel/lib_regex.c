/*
 * matches(), find(), findAll(). A pattern that is written in the expression was
 * compiled with it; another is compiled for the call, whose cost pays for it.
 */
#include <string.h>

#include "cel/program_internal.h"

/* Whether the effort allows this match. The price of a call does not: it is blind to repetitions.
 */
static struct vd_pattern *compile(struct vd_cel_run *run, struct vd_slice text,
                                  struct vd_cel_value *error)
{
    char why[128];
    *error = vd_cel_no_overload();
    if (run->effort && !vd_effort_may_compile(run->effort)) {
        run->cancelled = true;
        return NULL;
    }
    struct vd_pattern *made = vd_pattern_new(text.p, text.n, why, sizeof why);
    if (!made)
        *error = vd_cel_error(run, "error parsing regexp: %s", why);
    else if (run->effort)
        vd_effort_spend(run->effort, VD_EFFORT_COMPILE * (uint64_t)vd_pattern_size(made));
    return made;
}

/* The pattern of a call, if it may meet this text; *made is to be freed. */
static const struct vd_pattern *pattern_of(struct vd_cel_run *run, const struct vd_cel_node *node,
                                           const struct vd_cel_value *a, struct vd_pattern **made,
                                           struct vd_cel_value *error)
{
    *made = node->pattern ? NULL : compile(run, a[1].s, error);
    const struct vd_pattern *pattern = node->pattern ? node->pattern : *made;
    if (pattern && run->effort &&
        !vd_effort_match(run->effort, vd_pattern_size(pattern), a[0].s.n)) {
        run->cancelled = true;
        *error = vd_cel_no_overload();
        return NULL;
    }
    return pattern;
}

static struct vd_cel_value matches(struct vd_cel_run *run, const struct vd_cel_node *node,
                                   const struct vd_cel_value *a, size_t n)
{
    (void)n;
    struct vd_pattern *made;
    struct vd_cel_value out;
    if (a[0].kind != VD_CEL_STRING || a[1].kind != VD_CEL_STRING)
        return vd_cel_no_overload();
    const struct vd_pattern *pattern = pattern_of(run, node, a, &made, &out);
    if (pattern)
        out = vd_cel_bool(vd_pattern_matches(pattern, a[0].s.p, a[0].s.n));
    vd_pattern_free(made);
    return out;
}

static struct vd_cel_value find(struct vd_cel_run *run, const struct vd_cel_node *node,
                                const struct vd_cel_value *a, size_t n)
{
    (void)n;
    struct vd_pattern *made;
    struct vd_cel_value out;
    size_t at = 0, len = 0;
    if (a[0].kind != VD_CEL_STRING || a[1].kind != VD_CEL_STRING)
        return vd_cel_no_overload();
    const struct vd_pattern *pattern = pattern_of(run, node, a, &made, &out);
    if (pattern && !vd_pattern_find(pattern, a[0].s.p, a[0].s.n, 0, &at, &len))
        at = len = 0;
    if (pattern)
        out = vd_cel_string(vd_slice(a[0].s.p + at, len));
    vd_pattern_free(made);
    return out;
}

/* All matches that do not overlap, at most `limit`. */
static struct vd_cel_value collect(struct vd_cel_run *run, const struct vd_pattern *pattern,
                                   struct vd_slice s, size_t limit)
{
    size_t n = 0, cap = 0, from = 0, at, len;
    struct vd_cel_value *p = NULL;
    bool after_match = false;
    while (n < limit && from <= s.n && vd_pattern_find(pattern, s.p, s.n, from, &at, &len)) {
        bool adjacent = len == 0 && after_match && at == from; /* Go does not count it */
        if (!adjacent && n == cap) {
            struct vd_cel_value *grown = vd_cel_alloc(run, (cap = cap ? 2 * cap : 8) * sizeof *p);
            if (!grown)
                return vd_cel_no_overload();
            if (n)
                memcpy(grown, p, n * sizeof *p);
            p = grown;
        }
        if (!adjacent)
            p[n++] = vd_cel_string(vd_slice(s.p + at, len));
        after_match = len > 0;
        from = at + len;
        if (len == 0) /* on to the next character */
            for (from++; from < s.n && ((unsigned char)s.p[from] & 0xc0) == 0x80;)
                from++;
    }
    return vd_cel_list(run, p, n);
}

static struct vd_cel_value find_all(struct vd_cel_run *run, const struct vd_cel_node *node,
                                    const struct vd_cel_value *a, size_t n)
{
    struct vd_pattern *made;
    struct vd_cel_value out;
    if (a[0].kind != VD_CEL_STRING || a[1].kind != VD_CEL_STRING ||
        (n == 3 && a[2].kind != VD_CEL_INT))
        return vd_cel_no_overload();
    size_t limit = n == 3 && a[2].i >= 0 ? (size_t)a[2].i : SIZE_MAX;
    const struct vd_pattern *pattern = pattern_of(run, node, a, &made, &out);
    if (pattern)
        out = collect(run, pattern, a[0].s, limit);
    vd_pattern_free(made);
    return out;
}

static const struct vd_cel_function table[] = {
    {"matches", "ss>b", matches, VD_CEL_PRICE_MATCHES},
    {"matches", ".ss>b", matches, VD_CEL_PRICE_MATCHES},
    {"find", ".ss>s", find, VD_CEL_PRICE_FIND},
    {"findAll", ".ss>Ls", find_all, VD_CEL_PRICE_FIND},
    {"findAll", ".ssi>Ls", find_all, VD_CEL_PRICE_FIND},
};

VD_CEL_LIBRARY(vd_cel_lib_regex, table);
