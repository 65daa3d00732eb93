/*
 * Strings: the standard tests and cel-go's strings extension. Positions count
 * characters (code points), not bytes.
 */
#include <string.h>

#include "base/utf8.h"
#include "cel/program_internal.h"

static bool strings(const struct vd_cel_value *a, size_t from, size_t n)
{
    for (size_t i = from; i < n; i++)
        if (a[i].kind != VD_CEL_STRING)
            return false;
    return true;
}

/* The byte at which character `index` begins; the end for the count; else SIZE_MAX. */
static size_t byte_of(struct vd_slice s, int64_t index)
{
    size_t at = 0;
    if (index < 0)
        return SIZE_MAX;
    for (; index > 0 && at < s.n; index--)
        for (at++; at < s.n && ((unsigned char)s.p[at] & 0xc0) == 0x80;)
            at++;
    return index == 0 ? at : SIZE_MAX;
}

static int64_t rune_of(struct vd_slice s, size_t byte)
{
    struct vd_cel_value head = vd_cel_string(vd_slice(s.p, byte));
    return (int64_t)vd_cel_size(&head);
}

static size_t find_in(struct vd_slice s, size_t from, struct vd_slice part)
{
    const char *at = part.n == 0 ? s.p + from : memmem(s.p + from, s.n - from, part.p, part.n);
    return at ? (size_t)(at - s.p) : SIZE_MAX;
}

static struct vd_cel_value contains(struct vd_cel_run *run, const struct vd_cel_node *node,
                                    const struct vd_cel_value *a, size_t n)
{
    (void)run, (void)node;
    if (!strings(a, 0, n))
        return vd_cel_no_overload();
    return vd_cel_bool(find_in(a[0].s, 0, a[1].s) != SIZE_MAX);
}

static struct vd_cel_value starts_with(struct vd_cel_run *run, const struct vd_cel_node *node,
                                       const struct vd_cel_value *a, size_t n)
{
    (void)run, (void)node;
    return strings(a, 0, n) ? vd_cel_bool(vd_slice_starts_with(a[0].s, a[1].s))
                            : vd_cel_no_overload();
}

static struct vd_cel_value ends_with(struct vd_cel_run *run, const struct vd_cel_node *node,
                                     const struct vd_cel_value *a, size_t n)
{
    (void)run, (void)node;
    return strings(a, 0, n) ? vd_cel_bool(vd_slice_ends_with(a[0].s, a[1].s))
                            : vd_cel_no_overload();
}

static struct vd_cel_value index_error(struct vd_cel_run *run, int64_t index)
{
    return vd_cel_error(run, "index out of range: %lld", (long long)index);
}

static struct vd_cel_value char_at(struct vd_cel_run *run, const struct vd_cel_node *node,
                                   const struct vd_cel_value *a, size_t n)
{
    (void)node, (void)n;
    if (a->kind != VD_CEL_STRING || a[1].kind != VD_CEL_INT)
        return vd_cel_no_overload();
    size_t from = byte_of(a->s, a[1].i), to = byte_of(a->s, a[1].i + 1);
    if (from == SIZE_MAX)
        return index_error(run, a[1].i);
    return vd_cel_string(vd_slice(a->s.p + from, (to == SIZE_MAX ? a->s.n : to) - from));
}

/* indexOf and lastIndexOf; of a dyn this is the overload that was chosen. */
static struct vd_cel_value index_of(struct vd_cel_run *run, const struct vd_cel_node *node,
                                    const struct vd_cel_value *a, size_t n)
{
    bool last = node->name.p[0] == 'l';
    if (a->kind == VD_CEL_LIST)
        return vd_cel_list_index_of(run, node, a, n);
    if (!strings(a, 0, 2) || (n == 3 && a[2].kind != VD_CEL_INT))
        return vd_cel_no_overload();
    struct vd_slice s = a[0].s, part = a[1].s;
    size_t start = n == 3 ? byte_of(s, a[2].i) : last ? s.n : 0;
    if (start == SIZE_MAX || (n == 3 && part.n && start > s.n))
        return index_error(run, n == 3 ? a[2].i : 0);
    if (!last) {
        size_t at = find_in(s, start, part);
        return vd_cel_int(at == SIZE_MAX ? -1 : rune_of(s, at));
    }
    if (part.n > s.n)
        return vd_cel_int(-1);
    size_t at = start < s.n - part.n ? start : s.n - part.n;
    for (size_t left = at + 1; left > 0; left--)
        if (memcmp(s.p + left - 1, part.p, part.n) == 0)
            return vd_cel_int(rune_of(s, left - 1));
    return vd_cel_int(-1);
}

/* lowerAscii, upperAscii. */
static struct vd_cel_value change_case(struct vd_cel_run *run, const struct vd_cel_node *node,
                                       const struct vd_cel_value *a, size_t n)
{
    (void)n;
    bool lower = node->name.p[0] == 'l';
    if (a->kind != VD_CEL_STRING)
        return vd_cel_no_overload();
    char *p = vd_cel_alloc(run, a->s.n + 1);
    if (!p)
        return vd_cel_no_overload();
    for (size_t i = 0; i < a->s.n; i++) {
        char c = a->s.p[i];
        bool letter = lower ? c >= 'A' && c <= 'Z' : c >= 'a' && c <= 'z';
        p[i] = letter ? (char)(c ^ 0x20) : c;
    }
    return vd_cel_string(vd_slice(p, a->s.n));
}

static bool is_blank(uint32_t rune)
{
    return (rune >= 9 && rune <= 13) || rune == ' ' || rune == 0x85 || rune == 0xa0 ||
           rune == 0x1680 || (rune >= 0x2000 && rune <= 0x200a) || rune == 0x2028 ||
           rune == 0x2029 || rune == 0x202f || rune == 0x205f || rune == 0x3000;
}

static struct vd_cel_value trim(struct vd_cel_run *run, const struct vd_cel_node *node,
                                const struct vd_cel_value *a, size_t n)
{
    (void)run, (void)node, (void)n;
    if (a->kind != VD_CEL_STRING)
        return vd_cel_no_overload();
    struct vd_slice s = a->s;
    uint32_t rune = 0;
    size_t from = 0, end = 0;
    bool leading = true;
    for (size_t at = 0; at < s.n;) {
        size_t len = vd_utf8_read(vd_slice_from(s, at), &rune);
        at += len ? len : 1;
        if (!is_blank(rune)) {
            leading = false;
            end = at;
        } else if (leading)
            from = at;
    }
    return vd_cel_string(end > from ? vd_slice(s.p + from, end - from) : VD_SLICE(""));
}

static struct vd_cel_value reverse(struct vd_cel_run *run, const struct vd_cel_node *node,
                                   const struct vd_cel_value *a, size_t n)
{
    (void)node, (void)n;
    if (a->kind != VD_CEL_STRING)
        return vd_cel_no_overload();
    char *p = vd_cel_alloc(run, a->s.n + 1);
    size_t to = a->s.n;
    for (size_t at = 0; p && at < a->s.n;) {
        size_t len = vd_utf8_len(a->s.p + at, a->s.p + a->s.n);
        len = len ? len : 1;
        to -= len;
        memcpy(p + to, a->s.p + at, len);
        at += len;
    }
    return p ? vd_cel_string(vd_slice(p, a->s.n)) : vd_cel_no_overload();
}

static struct vd_cel_value substring(struct vd_cel_run *run, const struct vd_cel_node *node,
                                     const struct vd_cel_value *a, size_t n)
{
    (void)node;
    if (a->kind != VD_CEL_STRING || a[1].kind != VD_CEL_INT || (n == 3 && a[2].kind != VD_CEL_INT))
        return vd_cel_no_overload();
    size_t from = byte_of(a->s, a[1].i), to = n == 3 ? byte_of(a->s, a[2].i) : a->s.n;
    if (from == SIZE_MAX)
        return index_error(run, a[1].i);
    if (to == SIZE_MAX)
        return index_error(run, a[2].i);
    if (to < from)
        return vd_cel_error(run, "invalid substring range. start: %lld, end: %lld",
                            (long long)a[1].i, (long long)a[2].i);
    return vd_cel_string(vd_slice(a->s.p + from, to - from));
}

/* Stops a result that outgrows the run before it is made. */
static bool too_large(struct vd_cel_run *run, const struct vd_buf *out)
{
    if (out->n <= VD_CEL_MEMORY_MAX - run->memory)
        return false;
    run->cancelled = true;
    return true;
}

static struct vd_cel_value replace(struct vd_cel_run *run, const struct vd_cel_node *node,
                                   const struct vd_cel_value *a, size_t n)
{
    (void)node;
    if (!strings(a, 0, 3) || (n == 4 && a[3].kind != VD_CEL_INT))
        return vd_cel_no_overload();
    struct vd_slice s = a[0].s, what = a[1].s;
    int64_t left = n == 4 ? a[3].i : -1;
    struct vd_buf out = {0};
    size_t at = 0;
    while (left != 0 && at <= s.n && !too_large(run, &out)) {
        size_t found = find_in(s, at, what);
        if (found == SIZE_MAX)
            break;
        vd_buf_add(&out, s.p + at, found - at);
        vd_buf_add_slice(&out, a[2].s);
        at = found + what.n;
        left -= left > 0;
        if (what.n == 0) { /* between all characters, and at both ends */
            size_t len = at < s.n ? vd_utf8_len(s.p + at, s.p + s.n) : 1;
            if (at < s.n)
                vd_buf_add(&out, s.p + at, len ? len : 1);
            at += len ? len : 1;
        }
    }
    if (at < s.n)
        vd_buf_add(&out, s.p + at, s.n - at);
    return vd_cel_take_text(run, &out);
}

static struct vd_cel_value split(struct vd_cel_run *run, const struct vd_cel_node *node,
                                 const struct vd_cel_value *a, size_t n)
{
    (void)node;
    if (!strings(a, 0, 2) || (n == 3 && a[2].kind != VD_CEL_INT))
        return vd_cel_no_overload();
    struct vd_slice s = a[0].s, by = a[1].s;
    int64_t limit = n == 3 ? a[2].i : -1;
    size_t count = 1, used = 0;
    for (size_t at = 0; by.n && (at = find_in(s, at, by)) != SIZE_MAX; at += by.n)
        count++;
    if (by.n == 0)
        count = (size_t)vd_cel_size(&a[0]);
    if (limit >= 0 && count > (size_t)limit)
        count = (size_t)limit;
    struct vd_cel_value *p = vd_cel_alloc(run, (count + 1) * sizeof *p);
    size_t at = 0;
    for (; p && used + 1 < count; used++) {
        size_t len = by.n ? find_in(s, at, by) - at : vd_utf8_len(s.p + at, s.p + s.n);
        p[used] = vd_cel_string(vd_slice(s.p + at, len));
        at += len + by.n;
    }
    if (p && count > 0)
        p[used++] = vd_cel_string(vd_slice(s.p + at, s.n - at));
    return p ? vd_cel_list(run, p, used) : vd_cel_no_overload();
}

static struct vd_cel_value join(struct vd_cel_run *run, const struct vd_cel_node *node,
                                const struct vd_cel_value *a, size_t n)
{
    (void)node;
    struct vd_cel_iterator it;
    struct vd_cel_value item;
    struct vd_buf out = {0};
    bool first = true;
    if (a->kind != VD_CEL_LIST || !strings(a, 1, n) || !vd_cel_iterate(run, &it, a))
        return vd_cel_no_overload();
    for (; vd_cel_next(run, &it, &item, NULL) && !too_large(run, &out); first = false) {
        if (item.kind != VD_CEL_STRING) {
            vd_buf_release(&out);
            return vd_cel_no_overload();
        }
        if (!first && n == 2)
            vd_buf_add_slice(&out, a[1].s);
        vd_buf_add_slice(&out, item.s);
    }
    return vd_cel_take_text(run, &out);
}

static struct vd_cel_value quote(struct vd_cel_run *run, const struct vd_cel_node *node,
                                 const struct vd_cel_value *a, size_t n)
{
    (void)node, (void)n;
    static const char special[] = "\a\b\f\n\r\t\v\\\"", letters[] = "abfnrtv\\\"";
    struct vd_buf out = {0};
    if (a->kind != VD_CEL_STRING)
        return vd_cel_no_overload();
    vd_buf_add_char(&out, '"');
    for (size_t i = 0; i < a->s.n; i++) {
        const char *found = a->s.p[i] ? strchr(special, a->s.p[i]) : NULL;
        if (found)
            vd_buf_add_char(&out, '\\');
        vd_buf_add_char(&out, found ? letters[found - special] : a->s.p[i]);
    }
    vd_buf_add_char(&out, '"');
    return vd_cel_take_text(run, &out);
}

static const struct vd_cel_function table[] = {
    {"contains", ".ss>b", contains, VD_CEL_PRICE_CONTAINS},
    {"startsWith", ".ss>b", starts_with, VD_CEL_PRICE_PREFIX},
    {"endsWith", ".ss>b", ends_with, VD_CEL_PRICE_PREFIX},
    {"charAt", ".si>s", char_at, VD_CEL_PRICE_ONE},
    {"indexOf", ".ss>i", index_of, VD_CEL_PRICE_TRAVERSE},
    {"indexOf", ".ssi>i", index_of, VD_CEL_PRICE_TRAVERSE},
    {"lastIndexOf", ".ss>i", index_of, VD_CEL_PRICE_TRAVERSE},
    {"lastIndexOf", ".ssi>i", index_of, VD_CEL_PRICE_TRAVERSE},
    {"lowerAscii", ".s>s", change_case, VD_CEL_PRICE_SCAN_KEPT},
    {"upperAscii", ".s>s", change_case, VD_CEL_PRICE_SCAN_KEPT},
    {"trim", ".s>s", trim, VD_CEL_PRICE_SCAN_KEPT},
    {"reverse", ".s>s", reverse, VD_CEL_PRICE_SCAN_KEPT},
    {"substring", ".si>s", substring, VD_CEL_PRICE_SCAN_KEPT},
    {"substring", ".sii>s", substring, VD_CEL_PRICE_SCAN_KEPT},
    {"replace", ".sss>s", replace, VD_CEL_PRICE_REPLACE},
    {"replace", ".sssi>s", replace, VD_CEL_PRICE_REPLACE},
    {"split", ".ss>Ls", split, VD_CEL_PRICE_SPLIT},
    {"split", ".ssi>Ls", split, VD_CEL_PRICE_SPLIT},
    {"join", ".Ls>s", join, VD_CEL_PRICE_JOIN},
    {"join", ".Lss>s", join, VD_CEL_PRICE_JOIN},
    {"format", ".sL*>s", vd_cel_format, VD_CEL_PRICE_FORMAT},
    {"strings.quote", "s>s", quote, VD_CEL_PRICE_SCAN},
};

VD_CEL_LIBRARY(vd_cel_lib_strings, table);
