/*
 * Field selectors: see field_selector.h.
 *
 * The text is cut into terms at commas that no backslash precedes, and a term
 * at its first operator. Empty terms are skipped, as Kubernetes does, and so is
 * a term that names neither a field nor a value ("=").
 *
 * A value that unescapes without an error is already escaped the one way there
 * is, so the canonical form of a term is the term itself with `=` for `==`. The
 * finished selector is one heap block:
 *
 *     struct vd_field_selector | requirements | canonical text | unescaped values
 *
 * where only values that had escapes are written a second time; all other
 * slices point into the canonical text. Invariant: the terms of the canonical
 * text are in byte order, with no two alike.
 */
#include "watch/field_selector.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/refcount.h"
#include "base/vec.h"
#include "watch/excerpt.h"

struct vd_field_selector {
    struct vd_refcount refs;
    size_t n;
    struct vd_slice text;
    struct vd_field_requirement requirements[];
};

/* A term in its canonical form; field and value are parts of text. */
struct term {
    struct vd_slice text;
    struct vd_slice field;
    struct vd_slice value; /* with its escapes */
    bool negated;
};

struct parser {
    struct vd_slice text;
    VD_VEC(struct vd_slice) raw; /* terms as they were given */
    VD_VEC(struct term) terms;
    struct vd_buf canonical; /* what the terms point into */
    struct vd_error *error;
};

/* Cuts the text before the next unescaped comma off the front of *rest. */
static struct vd_slice cut_term(struct vd_slice *rest)
{
    size_t n = 0;
    while (n < rest->n && rest->p[n] != ',')
        n += rest->p[n] == '\\' ? 2 : 1;
    n = n < rest->n ? n : rest->n; /* a backslash may be the last byte */
    struct vd_slice term = vd_slice(rest->p, n);
    *rest = vd_slice_from(*rest, n + 1);
    return term;
}

static int by_bytes(const void *a, const void *b)
{
    return vd_slice_cmp(*(const struct vd_slice *)a, *(const struct vd_slice *)b);
}

/* Kubernetes looks at the terms in this order, which decides whose error a
 * selector with several of them gets. */
static int split_terms(struct parser *p)
{
    struct vd_slice rest = p->text;
    while (rest.n > 0) {
        struct vd_slice term = cut_term(&rest);
        if (term.n == 0)
            continue;
        if (p->raw.n == VD_SELECTOR_TERMS_MAX)
            return vd_error_set(p->error, VD_ERR_LIMIT,
                                "field selector has more than %d requirements; use fewer",
                                VD_SELECTOR_TERMS_MAX);
        *VD_VEC_PUSH(&p->raw) = term;
    }
    if (p->raw.n > 1)
        qsort(p->raw.p, p->raw.n, sizeof *p->raw.p, by_bytes);
    return VD_OK;
}

/* What an error shows of the selector and of the term in it that is wrong. */
enum { SHOWN_LEN_MAX = 200 };

static int bad_term(struct parser *p, struct vd_slice term)
{
    struct vd_buf text = {0};
    vd_buf_add_text(&text, "invalid selector: '");
    vd_excerpt_add(&text, p->text, SHOWN_LEN_MAX);
    vd_buf_add_text(&text, "'; can't understand '");
    vd_excerpt_add(&text, term, SHOWN_LEN_MAX);
    int code = vd_error_set(p->error, VD_ERR_INVALID, "%s'", vd_buf_text(&text));
    vd_buf_release(&text);
    return code;
}

/* `escape` starts at the backslash; the character after it is shown whole. */
static int bad_escape(struct parser *p, struct vd_slice escape)
{
    size_t n = escape.n < 2 ? escape.n : 2;
    while (n < escape.n && ((unsigned char)escape.p[n] & 0xc0) == 0x80)
        n++;
    struct vd_buf shown = {0};
    vd_excerpt_add(&shown, vd_slice(escape.p, n), SHOWN_LEN_MAX);
    int code = vd_error_set(p->error, VD_ERR_INVALID,
                            "invalid field selector: invalid escape sequence: %s",
                            vd_buf_text(&shown));
    vd_buf_release(&shown);
    return code;
}

static bool is_escapable(char c)
{
    return c == '\\' || c == ',' || c == '=';
}

static int check_escapes(struct parser *p, struct vd_slice value)
{
    for (size_t i = 0; i < value.n; i++) {
        if (value.p[i] == '=') /* Kubernetes names the character by its number */
            return vd_error_set(p->error, VD_ERR_INVALID,
                                "invalid field selector: unescaped character in value: %d", '=');
        if (value.p[i] != '\\')
            continue;
        if (i + 1 == value.n || !is_escapable(value.p[i + 1]))
            return bad_escape(p, vd_slice_from(value, i));
        i++;
    }
    return VD_OK;
}

/* Parses one term and adds it to the terms in its canonical form. */
static int parse_term(struct parser *p, struct vd_slice raw)
{
    const char *equals = memchr(raw.p, '=', raw.n);
    if (!equals)
        return bad_term(p, raw);
    size_t field_n = (size_t)(equals - raw.p), value_at = field_n + 1;
    bool negated = field_n > 0 && raw.p[field_n - 1] == '!';
    if (negated)
        field_n--;
    else if (value_at < raw.n && raw.p[value_at] == '=')
        value_at++;

    struct vd_slice value = vd_slice_from(raw, value_at);
    int code = check_escapes(p, value);
    if (code != VD_OK || (field_n == 0 && value.n == 0))
        return code;

    size_t start = p->canonical.n, before_value = field_n + (negated ? 2 : 1);
    vd_buf_add(&p->canonical, raw.p, before_value);
    vd_buf_add_slice(&p->canonical, value);
    struct vd_slice text = vd_slice(p->canonical.p + start, p->canonical.n - start);
    *VD_VEC_PUSH(&p->terms) = (struct term){
        .text = text,
        .field = vd_slice(text.p, field_n),
        .value = vd_slice_from(text, before_value),
        .negated = negated,
    };
    return VD_OK;
}

static int parse_terms(struct parser *p)
{
    /* No term grows on its way to the canonical form, so this is room for all of them and the
     * slices into the buffer stay valid. */
    vd_buf_reserve(&p->canonical, p->text.n);
    for (size_t i = 0; i < p->raw.n; i++) {
        int code = parse_term(p, p->raw.p[i]);
        if (code != VD_OK)
            return code;
    }
    return VD_OK;
}

static int by_text(const void *a, const void *b)
{
    return vd_slice_cmp(((const struct term *)a)->text, ((const struct term *)b)->text);
}

static void sort_terms(struct parser *p)
{
    struct term *terms = p->terms.p;
    size_t kept = 0;
    if (p->terms.n > 1)
        qsort(terms, p->terms.n, sizeof *terms, by_text);
    for (size_t i = 0; i < p->terms.n; i++)
        if (kept == 0 || by_text(&terms[kept - 1], &terms[i]) != 0)
            terms[kept++] = terms[i];
    p->terms.n = kept;
}

/* The value without its escapes: itself when it has none, else written at *at. */
static struct vd_slice unescape(struct vd_slice value, char **at)
{
    if (value.n == 0 || !memchr(value.p, '\\', value.n))
        return value;
    char *start = *at;
    for (size_t i = 0; i < value.n; i++) {
        if (value.p[i] == '\\')
            i++;
        *(*at)++ = value.p[i];
    }
    return vd_slice(start, (size_t)(*at - start));
}

static struct vd_field_selector *build(const struct parser *p)
{
    size_t n = p->terms.n, requirements_size = n * sizeof(struct vd_field_requirement);
    size_t text_n = n ? n - 1 : 0; /* without the comma after the last term */
    for (size_t i = 0; i < n; i++)
        text_n += p->terms.p[i].text.n;

    /* Unescaped values are never longer than the text: twice is enough. */
    struct vd_field_selector *s = vd_malloc(sizeof *s + requirements_size + 2 * text_n);
    char *text = (char *)s->requirements + requirements_size;
    char *at = text, *unescaped_at = text + text_n;
    vd_refcount_init(&s->refs);
    s->n = n;
    s->text = vd_slice(text, text_n);
    for (size_t i = 0; i < n; i++) {
        const struct term *t = &p->terms.p[i];
        if (i > 0)
            *at++ = ',';
        memcpy(at, t->text.p, t->text.n);
        s->requirements[i] = (struct vd_field_requirement){
            .field = vd_slice(at, t->field.n),
            .value = unescape(vd_slice(at + t->text.n - t->value.n, t->value.n), &unescaped_at),
            .negated = t->negated,
        };
        at += t->text.n;
    }
    return s;
}

int vd_field_selector_parse(struct vd_field_selector **out, struct vd_slice text,
                            struct vd_error *error)
{
    if (text.n > VD_SELECTOR_LEN_MAX)
        return vd_error_set(error, VD_ERR_LIMIT,
                            "field selector is %zu bytes long; at most %d are allowed", text.n,
                            VD_SELECTOR_LEN_MAX);
    struct parser p = {.text = text, .error = error};
    int code = split_terms(&p);
    if (code == VD_OK)
        code = parse_terms(&p);
    if (code == VD_OK) {
        sort_terms(&p);
        *out = build(&p);
    }
    vd_buf_release(&p.canonical);
    VD_VEC_RELEASE(&p.terms);
    VD_VEC_RELEASE(&p.raw);
    return code;
}

static void add_escaped(struct vd_buf *out, struct vd_slice value)
{
    for (size_t i = 0; i < value.n; i++) {
        if (is_escapable(value.p[i]))
            vd_buf_add_char(out, '\\');
        vd_buf_add_char(out, value.p[i]);
    }
}

int vd_field_selector_rename(struct vd_field_selector **out, const struct vd_field_selector *s,
                             const struct vd_slice *fields, struct vd_error *error)
{
    struct vd_buf text = {0};
    for (size_t i = 0; i < s->n; i++) {
        vd_buf_addf(&text, "%s%.*s%s", i ? "," : "", VD_FMT(fields[i]),
                    s->requirements[i].negated ? "!=" : "=");
        add_escaped(&text, s->requirements[i].value);
    }
    int code = vd_field_selector_parse(out, vd_buf_slice(&text), error);
    vd_buf_release(&text);
    return code;
}

struct vd_field_selector *vd_field_selector_ref(struct vd_field_selector *s)
{
    vd_ref(&s->refs);
    return s;
}

void vd_field_selector_unref(struct vd_field_selector *s)
{
    if (s && vd_unref(&s->refs))
        free(s);
}

bool vd_field_selector_matches(const struct vd_field_selector *s, vd_field_lookup_fn *lookup,
                               const void *fields)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct vd_field_requirement *r = &s->requirements[i];
        struct vd_slice value = {"", 0};
        if (!lookup(fields, r->field, &value))
            value = vd_slice("", 0);
        if (vd_slice_eq(value, r->value) == r->negated)
            return false;
    }
    return true;
}

struct vd_slice vd_field_selector_text(const struct vd_field_selector *s)
{
    return s->text;
}

bool vd_field_selector_is_everything(const struct vd_field_selector *s)
{
    return s->n == 0;
}

const struct vd_field_requirement *vd_field_selector_requirements(const struct vd_field_selector *s,
                                                                  size_t *n)
{
    *n = s->n;
    return s->requirements;
}

bool vd_field_selector_requires(const struct vd_field_selector *s, struct vd_slice field,
                                struct vd_slice *value)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct vd_field_requirement *r = &s->requirements[i];
        if (!r->negated && vd_slice_eq(r->field, field)) {
            *value = r->value;
            return true;
        }
    }
    return false;
}
