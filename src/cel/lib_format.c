/*
 * "%s has %d items".format([name, n]): cel-go's string formatting.
 *
 * Clauses: %s %d %f %e %b %o %x %X %%, with a precision for %f and %e. A clause that
 * does not fit its argument is an error of the evaluation.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cel/program_internal.h"

enum {
    PRECISION_MAX = 1000, /* digits that a verb like %.3f may ask for */
    NEST_MAX = 64,        /* nesting of a list or map that is written */
};

/* A value inside %s: texts as they are, lists and maps in brackets. */
static bool write_any(struct vd_cel_run *run, struct vd_buf *out, const struct vd_cel_value *v,
                      unsigned depth);

static bool write_items(struct vd_cel_run *run, struct vd_buf *out, const struct vd_cel_value *v,
                        unsigned depth)
{
    struct vd_cel_iterator it;
    struct vd_cel_value item, value;
    bool map = v->kind != VD_CEL_LIST, first = true;
    if (!vd_cel_iterate(run, &it, v))
        return false;
    vd_buf_add_char(out, map ? '{' : '[');
    for (; vd_cel_next(run, &it, &item, map ? &value : NULL); first = false) {
        vd_buf_add_text(out, first ? "" : ", ");
        if (!write_any(run, out, &item, depth + 1) || out->n > VD_CEL_MEMORY_MAX)
            return false;
        if (map) {
            vd_buf_add_text(out, ": ");
            if (!write_any(run, out, &value, depth + 1))
                return false;
        }
    }
    vd_buf_add_char(out, map ? '}' : ']');
    return true;
}

static bool write_any(struct vd_cel_run *run, struct vd_buf *out, const struct vd_cel_value *v,
                      unsigned depth)
{
    if (depth > NEST_MAX)
        return false;
    switch ((enum vd_cel_kind)v->kind) {
    case VD_CEL_NULL:
        vd_buf_add_text(out, "null");
        return true;
    case VD_CEL_TYPE:
        vd_buf_add_text(out, vd_cel_kind_name((enum vd_cel_kind)v->type->kind));
        return true;
    case VD_CEL_BYTES:
        vd_buf_add_slice(out, v->s);
        return true;
    case VD_CEL_LIST:
    case VD_CEL_MAP:
        return write_items(run, out, v, depth);
    default:
        return vd_cel_to_text(out, v);
    }
}

static void write_bits(struct vd_buf *out, uint64_t value)
{
    char bits[64];
    size_t n = 0;
    do
        bits[n++] = (char)('0' + value % 2);
    while (value /= 2);
    while (n)
        vd_buf_add_char(out, bits[--n]);
}

/* %d %b %o %x %X of a whole number. */
static bool write_whole(struct vd_buf *out, const struct vd_cel_value *v, char verb)
{
    bool negative = v->kind == VD_CEL_INT && v->i < 0;
    uint64_t u = v->kind == VD_CEL_UINT ? v->u : negative ? 0 - (uint64_t)v->i : (uint64_t)v->i;
    if (v->kind == VD_CEL_BOOL && verb == 'b') {
        vd_buf_add_char(out, v->truth ? '1' : '0');
        return true;
    }
    if (v->kind != VD_CEL_INT && v->kind != VD_CEL_UINT)
        return false;
    if (negative)
        vd_buf_add_char(out, '-');
    if (verb == 'd')
        vd_buf_add_u64(out, u);
    else if (verb == 'o')
        vd_buf_addf(out, "%" PRIo64, u);
    else if (verb == 'x')
        vd_buf_addf(out, "%" PRIx64, u);
    else if (verb == 'X')
        vd_buf_addf(out, "%" PRIX64, u);
    else
        write_bits(out, u);
    return true;
}

static bool write_fraction(struct vd_buf *out, const struct vd_cel_value *v, char verb,
                           int precision)
{
    double d = v->kind == VD_CEL_DOUBLE ? v->d
               : v->kind == VD_CEL_INT  ? (double)v->i
               : v->kind == VD_CEL_UINT ? (double)v->u
                                        : (double)NAN;
    if (v->kind < VD_CEL_INT || v->kind > VD_CEL_DOUBLE)
        return false;
    if (isnan(d) || isinf(d))
        vd_buf_add_text(out, isnan(d) ? "NaN" : d > 0 ? "Infinity" : "-Infinity");
    else
        vd_buf_addf(out, verb == 'f' ? "%.*f" : "%.*e", precision, d);
    return true;
}

static bool write_hex(struct vd_buf *out, struct vd_slice s, bool upper)
{
    for (size_t i = 0; i < s.n; i++)
        vd_buf_addf(out, upper ? "%02X" : "%02x", (unsigned char)s.p[i]);
    return true;
}

static bool write_clause(struct vd_cel_run *run, struct vd_buf *out, const struct vd_cel_value *v,
                         char verb, int precision)
{
    switch (verb) {
    case 's':
        return write_any(run, out, v, 0);
    case 'f':
    case 'e':
        return write_fraction(out, v, verb, precision);
    case 'd':
        if (v->kind == VD_CEL_DOUBLE && (isnan(v->d) || isinf(v->d)))
            return write_fraction(out, v, 'f', precision);
        return write_whole(out, v, verb);
    case 'x':
    case 'X':
        if (v->kind == VD_CEL_STRING || v->kind == VD_CEL_BYTES)
            return write_hex(out, v->s, verb == 'X');
        return write_whole(out, v, verb);
    default:
        return write_whole(out, v, verb);
    }
}

/* The precision of a clause whose dot is at *at; the default without one. */
static bool take_precision(struct vd_slice s, size_t *at, int *precision)
{
    *precision = 6;
    if (*at >= s.n || s.p[*at] != '.')
        return true;
    *precision = 0;
    for (++*at; *at < s.n && s.p[*at] >= '0' && s.p[*at] <= '9'; ++*at) {
        *precision = *precision * 10 + (s.p[*at] - '0');
        if (*precision > PRECISION_MAX)
            return false;
    }
    return true;
}

/* Fills in the clauses; "" or what is wrong. */
static const char *fill(struct vd_cel_run *run, struct vd_buf *out, struct vd_slice s,
                        const struct vd_cel_list *args)
{
    size_t used = 0;
    for (size_t at = 0; at < s.n; at++) {
        int precision;
        if (s.p[at] != '%') {
            vd_buf_add_char(out, s.p[at]);
            continue;
        }
        if (++at < s.n && s.p[at] == '%') {
            vd_buf_add_char(out, '%');
            continue;
        }
        if (!take_precision(s, &at, &precision))
            return "precision is too large";
        if (at >= s.n)
            return "unexpected end of format string";
        if (!strchr("sdfebxXo", s.p[at]))
            return "unrecognized formatting clause";
        if (used >= args->n)
            return "index out of range";
        if (!write_clause(run, out, &args->p[used++], s.p[at], precision))
            return "error during formatting: argument does not fit the clause";
        if (out->n > VD_CEL_MEMORY_MAX)
            return "result is too large";
    }
    return "";
}

struct vd_cel_value vd_cel_format(struct vd_cel_run *run, const struct vd_cel_node *node,
                                  const struct vd_cel_value *a, size_t n)
{
    (void)node, (void)n;
    struct vd_cel_list args;
    struct vd_buf out = {0};
    if (a->kind != VD_CEL_STRING || a[1].kind != VD_CEL_LIST)
        return vd_cel_no_overload();
    if (!vd_cel_flatten(run, &a[1], &args))
        return vd_cel_no_overload();
    const char *wrong = fill(run, &out, a->s, &args);
    if (!*wrong)
        return vd_cel_take_text(run, &out);
    vd_buf_release(&out);
    return vd_cel_error(run, "%s", wrong);
}
