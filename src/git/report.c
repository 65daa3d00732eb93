/*
 * See report.h.
 *
 * Errors and warnings have limits of their own, so that many warnings cannot crowd out an error. A
 * finding that comes when a limit is reached is counted and not kept: files come in the order of
 * their paths, so what is kept is the beginning of the whole report.
 */
#include "git/report.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "json/document.h"
#include "json/write.h"

const char *vd_git_severity_name(enum vd_git_severity severity)
{
    return severity == VD_GIT_ERROR ? "error" : "warning";
}

void vd_git_report_release(struct vd_git_report *r)
{
    VD_VEC_RELEASE(&r->findings);
    vd_arena_release(&r->arena);
    *r = (struct vd_git_report){0};
}

/* --- adding --- */

static struct vd_slice join(struct vd_arena *a, struct vd_slice prefix, struct vd_slice path)
{
    if (!prefix.n || !path.n)
        return vd_arena_copy(a, path);
    struct vd_buf text = {0};
    vd_buf_add_slice(&text, prefix);
    vd_buf_add_slice(&text, path);
    struct vd_slice joined = vd_arena_copy(a, vd_buf_slice(&text));
    vd_buf_release(&text);
    return joined;
}

static size_t kept_max(const struct vd_git_report *r)
{
    return r->kept_max ? r->kept_max : VD_GIT_FINDINGS_MAX;
}

bool vd_git_report_is_full(const struct vd_git_report *r)
{
    return r->kept[VD_GIT_ERROR] >= kept_max(r);
}

void vd_git_report_add_text(struct vd_git_report *r, enum vd_git_severity severity,
                            struct vd_slice path, struct vd_yaml_position at, struct vd_slice field,
                            struct vd_slice reason)
{
    if (r->takes && !r->takes(r->takes_arg, path))
        return;
    path = vd_utf8_cut(path, VD_GIT_PATH_LEN_MAX);
    field = vd_utf8_cut(field, VD_FIELD_PATH_LEN_MAX);
    reason = vd_utf8_cut(reason, VD_GIT_REASON_LEN_MAX);
    size_t bytes = r->prefix.n + path.n + field.n + reason.n + sizeof(struct vd_git_finding);
    size_t order = r->found[VD_GIT_ERROR] + r->found[VD_GIT_WARNING];
    r->found[severity]++;
    if (r->kept[severity] >= kept_max(r) || r->bytes[severity] + bytes > VD_GIT_REPORT_LEN_MAX)
        return;
    r->kept[severity]++;
    r->bytes[severity] += bytes;
    *VD_VEC_PUSH(&r->findings) = (struct vd_git_finding){
        .severity = severity,
        .path = join(&r->arena, r->prefix, path),
        .at = at,
        .field = vd_arena_copy(&r->arena, field),
        .reason = vd_arena_copy(&r->arena, reason),
        .order = order,
    };
}

void vd_git_report_add(struct vd_git_report *r, enum vd_git_severity severity, struct vd_slice path,
                       struct vd_yaml_position at, struct vd_slice field, const char *format, ...)
{
    struct vd_buf reason = {0};
    va_list arguments;
    va_start(arguments, format);
    vd_buf_vaddf(&reason, format, arguments);
    va_end(arguments);
    vd_git_report_add_text(r, severity, path, at, field, vd_buf_slice(&reason));
    vd_buf_release(&reason);
}

/* --- order --- */

static int compare_numbers(size_t a, size_t b)
{
    return (a > b) - (a < b);
}

static int finding_cmp(const void *a, const void *b)
{
    const struct vd_git_finding *x = a, *y = b;
    int c = vd_slice_cmp(x->path, y->path);
    if (!c)
        c = compare_numbers(x->at.line, y->at.line);
    if (!c)
        c = compare_numbers(x->at.column, y->at.column);
    return c ? c : compare_numbers(x->order, y->order);
}

void vd_git_report_sort(struct vd_git_report *r)
{
    if (r->findings.n > 1)
        qsort(r->findings.p, r->findings.n, sizeof *r->findings.p, finding_cmp);
}

/* --- text --- */

/* Characters that a terminal acts upon, or that make it show text in another order. */
static bool is_hidden(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x202a && c <= 0x202e) ||
           (c >= 0x2066 && c <= 0x2069);
}

/* Adds the first character of the text, as an escape if a terminal should not get it. Gives its
 * bytes. */
static size_t add_shown_character(struct vd_buf *out, struct vd_slice text)
{
    uint32_t c = 0;
    size_t n = vd_utf8_len(text.p, text.p + text.n);
    if (n)
        vd_utf8_read(vd_slice(text.p, n), &c);
    if (!n)
        vd_buf_addf(out, "\\x%02x", (unsigned char)text.p[0]);
    else if (c == '\n' || c == '\t')
        vd_buf_add_text(out, c == '\n' ? "\\n" : "\\t");
    else if (is_hidden(c))
        vd_buf_addf(out, "\\u%04x", c);
    else
        vd_buf_add(out, text.p, n);
    return n ? n : 1;
}

/* Adds the text with escapes for what a terminal should not get. */
static void add_shown(struct vd_buf *out, struct vd_slice text)
{
    while (text.n)
        text = vd_slice_from(text, add_shown_character(out, text));
}

/* Adds "field: reason". */
static void add_message(struct vd_buf *out, const struct vd_git_finding *f)
{
    if (f->field.n) {
        add_shown(out, f->field);
        vd_buf_add_text(out, ": ");
    }
    add_shown(out, f->reason);
}

/* Adds "and 3 more errors", or nothing. */
static void add_left_out(struct vd_buf *out, const struct vd_git_report *r,
                         enum vd_git_severity severity, const char *before)
{
    size_t n = vd_git_report_left_out(r, severity);
    if (n)
        vd_buf_addf(out, "%sand %zu more %s%s\n", before, n, vd_git_severity_name(severity),
                    n == 1 ? "" : "s");
}

void vd_git_report_write_text(struct vd_buf *out, const struct vd_git_report *r)
{
    for (size_t i = 0; i < r->findings.n; i++) {
        const struct vd_git_finding *f = &r->findings.p[i];
        add_shown(out, f->path);
        if (f->at.line)
            vd_buf_addf(out, ":%u:%u", f->at.line, f->at.column);
        if (f->path.n)
            vd_buf_add_text(out, ": ");
        if (f->severity == VD_GIT_WARNING)
            vd_buf_add_text(out, "warning: ");
        add_message(out, f);
        vd_buf_add_char(out, '\n');
    }
    add_left_out(out, r, VD_GIT_ERROR, "");
    add_left_out(out, r, VD_GIT_WARNING, "");
}

/* --- JSON --- */

/* A string of the text; of one that is not UTF-8, as it is shown to people. */
static struct vd_json *text_value(struct vd_arena *a, struct vd_slice text)
{
    if (vd_utf8_is_valid(text))
        return vd_json_string_ref(a, text);
    struct vd_buf shown = {0};
    add_shown(&shown, text);
    struct vd_json *value = vd_json_string(a, vd_buf_slice(&shown));
    vd_buf_release(&shown);
    return value;
}

static struct vd_json *finding_value(struct vd_arena *a, const struct vd_git_finding *f)
{
    struct vd_json *o = vd_json_object(a);
    vd_json_add_ref(o, VD_SLICE("path"), text_value(a, f->path));
    vd_json_add_ref(o, VD_SLICE("line"), vd_json_u64(a, f->at.line));
    vd_json_add_ref(o, VD_SLICE("column"), vd_json_u64(a, f->at.column));
    vd_json_add_ref(o, VD_SLICE("field"), text_value(a, f->field));
    vd_json_add_ref(o, VD_SLICE("reason"), text_value(a, f->reason));
    vd_json_add_ref(o, VD_SLICE("severity"),
                    vd_json_string(a, vd_slice_of(vd_git_severity_name(f->severity))));
    return o;
}

void vd_git_report_write_json(struct vd_buf *out, const struct vd_git_report *r)
{
    struct vd_arena a = {0};
    struct vd_json *root = vd_json_object(&a), *findings = vd_json_array(&a);
    vd_json_add_ref(root, VD_SLICE("errors"), vd_json_u64(&a, r->found[VD_GIT_ERROR]));
    vd_json_add_ref(root, VD_SLICE("warnings"), vd_json_u64(&a, r->found[VD_GIT_WARNING]));
    for (size_t i = 0; i < r->findings.n; i++)
        vd_json_append(findings, finding_value(&a, &r->findings.p[i]));
    vd_json_add_ref(root, VD_SLICE("findings"), findings);
    vd_json_write_pretty(out, root, 2);
    vd_buf_add_char(out, '\n');
    vd_arena_release(&a);
}

/* --- GitHub --- */

/* Adds the text in the encoding of workflow commands; in a property ':' and ',' are encoded too.
 * What a terminal should not get is escaped as in text: people read the log of a workflow there. */
static void add_encoded(struct vd_buf *out, struct vd_slice text, bool property)
{
    while (text.n) {
        unsigned char c = (unsigned char)text.p[0];
        size_t n = 1;
        if (c == '%' || c == '\r' || c == '\n' || (property && (c == ':' || c == ',')))
            vd_buf_addf(out, "%%%02X", c);
        else
            n = add_shown_character(out, text);
        text = vd_slice_from(text, n);
    }
}

void vd_git_report_write_github(struct vd_buf *out, const struct vd_git_report *r)
{
    struct vd_buf message = {0};
    for (size_t i = 0; i < r->findings.n; i++) {
        const struct vd_git_finding *f = &r->findings.p[i];
        vd_buf_addf(out, "::%s file=", vd_git_severity_name(f->severity));
        add_encoded(out, f->path, true);
        if (f->at.line)
            vd_buf_addf(out, ",line=%u,col=%u", f->at.line, f->at.column);
        vd_buf_add_text(out, "::");
        vd_buf_reset(&message);
        add_message(&message, f);
        add_encoded(out, vd_buf_slice(&message), false);
        vd_buf_add_char(out, '\n');
    }
    vd_buf_release(&message);
    add_left_out(out, r, VD_GIT_ERROR, "::error::");
    add_left_out(out, r, VD_GIT_WARNING, "::warning::");
}
