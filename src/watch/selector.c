/*
 * Label selectors: see selector.h.
 *
 * The text is read by a lexer with one token of lookahead and a recursive
 * descent parser:
 *
 *     selector    = [ requirement { "," requirement } ]
 *     requirement = "!" key | key [ ( "in" | "notin" ) "(" values ")" ]
 *                 | key ( "=" | "==" | "!=" | ">" | "<" ) [ value ]
 *
 * Keys and values are runs of bytes that are neither blanks nor operators, and
 * `in` and `notin` are operators only where one is due, so `in in (in)` is
 * fine. An absent value is the empty string: `a=`, `a in ()`, `a in (,b)`. The
 * grammar's odd corners are Kubernetes' own, since a client that works there
 * must work here; `a in (b,,)`, for one, is refused and `a in (b,)` is not.
 *
 * One difference: Kubernetes takes a NUL for the end of the text and so drops the requirements
 * after it. Here it is a byte like others, which no key and no value may have, so the selector is
 * refused rather than widened.
 *
 * The parser makes drafts whose slices point into the caller's text. They are
 * sorted, freed of repetitions and written into one heap block:
 *
 *     struct vd_selector | requirements | values | canonical text
 *
 * All slices of the finished selector point into its own canonical text.
 * Invariants: requirements are sorted by key, then operator, then values, with
 * no two alike; the values of each are sorted, with no two alike.
 */
#include "watch/selector.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/refcount.h"
#include "base/vec.h"
#include "watch/excerpt.h"
#include "watch/label.h"

enum op {
    OP_NONE,
    OP_EXISTS,
    OP_NOT_EXISTS,
    OP_EQUALS,
    OP_DOUBLE_EQUALS, /* kept apart from OP_EQUALS only because it is written differently */
    OP_NOT_EQUALS,
    OP_IN,
    OP_NOT_IN,
    OP_GREATER,
    OP_LESS,
};

/* How an operator is written, and what comes around its values. */
static const struct {
    struct vd_slice before_key, after_key, after_values;
} OP_TEXT[] = {
    [OP_EXISTS] = {{"", 0}, {"", 0}, {"", 0}},
    [OP_NOT_EXISTS] = {{"!", 1}, {"", 0}, {"", 0}},
    [OP_EQUALS] = {{"", 0}, {"=", 1}, {"", 0}},
    [OP_DOUBLE_EQUALS] = {{"", 0}, {"==", 2}, {"", 0}},
    [OP_NOT_EQUALS] = {{"", 0}, {"!=", 2}, {"", 0}},
    [OP_IN] = {{"", 0}, {" in (", 5}, {")", 1}},
    [OP_NOT_IN] = {{"", 0}, {" notin (", 8}, {")", 1}},
    [OP_GREATER] = {{"", 0}, {">", 1}, {"", 0}},
    [OP_LESS] = {{"", 0}, {"<", 1}, {"", 0}},
};

struct requirement {
    struct vd_slice key;
    enum op op;
    uint32_t values_at; /* its values are a range of the selector's values */
    uint32_t values_n;
    int64_t bound; /* the value of OP_GREATER and OP_LESS as a number */
};

struct vd_selector {
    struct vd_refcount refs;
    uint32_t n;
    struct vd_slice text;
    const struct vd_slice *values;
    struct requirement requirements[];
};

/* ---- tokens ---- */

enum token_kind {
    TOKEN_WORD, /* a key or a value; also `in` and `notin` */
    TOKEN_END,
    TOKEN_OPEN,
    TOKEN_CLOSE,
    TOKEN_COMMA,
    TOKEN_NOT,
    TOKEN_EQUALS,
    TOKEN_DOUBLE_EQUALS,
    TOKEN_NOT_EQUALS,
    TOKEN_GREATER,
    TOKEN_LESS,
};

struct token {
    enum token_kind kind;
    struct vd_slice text;
};

struct parser {
    struct vd_slice rest; /* what the lexer has not read yet */
    struct token next;    /* the token that take() gives */
    VD_VEC(struct requirement) requirements;
    VD_VEC(struct vd_slice) values;
    struct vd_error *error;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* The kind of a symbol of one byte; TOKEN_WORD for any other byte. */
static enum token_kind symbol_kind(char c)
{
    static const unsigned char kinds[256] = {
        ['('] = TOKEN_OPEN,   [')'] = TOKEN_CLOSE,   [','] = TOKEN_COMMA, ['!'] = TOKEN_NOT,
        ['='] = TOKEN_EQUALS, ['>'] = TOKEN_GREATER, ['<'] = TOKEN_LESS,
    };
    return kinds[(unsigned char)c];
}

static struct token lex(struct vd_slice *rest)
{
    while (rest->n > 0 && is_blank(*rest->p))
        *rest = vd_slice_from(*rest, 1);
    if (rest->n == 0)
        return (struct token){TOKEN_END, vd_slice("", 0)};

    struct token t = {symbol_kind(*rest->p), vd_slice(rest->p, 1)};
    if (t.kind == TOKEN_WORD) {
        while (t.text.n < rest->n && !is_blank(rest->p[t.text.n]) &&
               symbol_kind(rest->p[t.text.n]) == TOKEN_WORD)
            t.text.n++;
    } else if ((t.kind == TOKEN_EQUALS || t.kind == TOKEN_NOT) && rest->n > 1 &&
               rest->p[1] == '=') {
        t.kind = t.kind == TOKEN_EQUALS ? TOKEN_DOUBLE_EQUALS : TOKEN_NOT_EQUALS;
        t.text.n = 2;
    }
    *rest = vd_slice_from(*rest, t.text.n);
    return t;
}

/* Gives the next token and moves past it. */
static struct token take(struct parser *p)
{
    struct token t = p->next;
    p->next = lex(&p->rest);
    return t;
}

/* ---- errors ---- */

/* What an error shows of a word: all of it, unless it is so long that the reason after it would not
 * fit. */
enum { SHOWN_LEN_MAX = 120 };

static int unexpected(struct parser *p, struct token found, const char *expected)
{
    struct vd_buf shown = {0};
    vd_excerpt_add(&shown, found.text, SHOWN_LEN_MAX);
    int code = vd_error_set(p->error, VD_ERR_INVALID, "found '%s'%s", vd_buf_text(&shown),
                            expected);
    vd_buf_release(&shown);
    return code;
}

static int too_many(struct parser *p, const char *what)
{
    return vd_error_set(p->error, VD_ERR_LIMIT,
                        "label selector has more than %d %s; select by a label that the objects "
                        "have in common instead",
                        VD_SELECTOR_TERMS_MAX, what);
}

static int check_key(struct parser *p, struct vd_slice key)
{
    struct vd_buf why = {0}, quoted = {0};
    int code = VD_OK;
    if (!vd_label_key_check(key, &why)) {
        vd_excerpt_add_quoted(&quoted, key, SHOWN_LEN_MAX);
        code = vd_error_set(p->error, VD_ERR_INVALID, "<nil>: Invalid value: %s: %s",
                            vd_buf_text(&quoted), vd_buf_text(&why));
    }
    vd_buf_release(&quoted);
    vd_buf_release(&why);
    return code;
}

/* ---- values ---- */

/* A decimal number as Go's ParseInt takes it: a sign and leading zeros are fine. */
static bool to_i64(struct vd_slice s, int64_t *out)
{
    bool negative = s.n > 0 && *s.p == '-';
    int64_t value = 0;
    if (s.n > 0 && (*s.p == '-' || *s.p == '+'))
        s = vd_slice_from(s, 1);
    if (s.n == 0)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
        int digit = negative ? '0' - s.p[i] : s.p[i] - '0';
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, digit, &value))
            return false;
    }
    *out = value;
    return true;
}

static int by_bytes(const void *a, const void *b)
{
    return vd_slice_cmp(*(const struct vd_slice *)a, *(const struct vd_slice *)b);
}

/* Sorts the values of the newest requirement and drops repetitions. */
static void sort_values(struct parser *p, struct requirement *r)
{
    struct vd_slice *values = &p->values.p[r->values_at];
    uint32_t kept = 0;
    if (r->values_n > 1)
        qsort(values, r->values_n, sizeof *values, by_bytes);
    for (uint32_t i = 0; i < r->values_n; i++)
        if (kept == 0 || !vd_slice_eq(values[kept - 1], values[i]))
            values[kept++] = values[i];
    r->values_n = kept;
    p->values.n = r->values_at + kept;
}

/* Adds what is wrong with one value to *all, the text of all complaints, and
 * gives how many there were. */
static size_t complain_of_value(struct requirement *r, uint32_t index, struct vd_slice value,
                                struct vd_buf *all)
{
    struct vd_buf why = {0};
    size_t found = 0;
    if ((r->op == OP_GREATER || r->op == OP_LESS) && !to_i64(value, &r->bound)) {
        vd_buf_addf(all, "%svalues[%u]: Invalid value: ", all->n ? ", " : "", index);
        vd_excerpt_add_quoted(all, value, SHOWN_LEN_MAX);
        vd_buf_add_text(all, ": for 'Gt', 'Lt' operators, the value must be an integer");
        found++;
    }
    if (!vd_label_value_check(value, &why)) {
        vd_buf_addf(all, "%svalues[%u][%.*s]: Invalid value: ", all->n ? ", " : "", index,
                    VD_FMT(r->key));
        vd_excerpt_add_quoted(all, value, SHOWN_LEN_MAX);
        vd_buf_addf(all, ": %s", vd_buf_text(&why));
        found++;
    }
    vd_buf_release(&why);
    return found;
}

/* Checks the sorted values; Kubernetes names them by their position in sorted order, too. */
static int check_values(struct parser *p, struct requirement *r)
{
    struct vd_buf all = {0};
    size_t found = 0;
    int code = VD_OK;
    for (uint32_t i = 0; i < r->values_n && all.n < VD_ERROR_TEXT_MAX; i++)
        found += complain_of_value(r, i, p->values.p[r->values_at + i], &all);
    if (found > 0)
        code = vd_error_set(p->error, VD_ERR_INVALID, found > 1 ? "[%s]" : "%s", vd_buf_text(&all));
    vd_buf_release(&all);
    return code;
}

/* ---- grammar ---- */

static int add_value(struct parser *p, struct requirement *r, struct vd_slice value)
{
    if (r->values_n == VD_SELECTOR_TERMS_MAX)
        return too_many(p, "values in one requirement");
    *VD_VEC_PUSH(&p->values) = value;
    r->values_n++;
    return VD_OK;
}

static int add_empty_value(struct parser *p, struct requirement *r)
{
    return add_value(p, r, vd_slice("", 0));
}

/*
 * The list after "(", up to and without ")". An absent value between or beside commas is the empty
 * string. Two commas in a row are taken together, and then a value or a third comma must follow:
 * Kubernetes does the same.
 */
static int parse_value_list(struct parser *p, struct requirement *r)
{
    for (;;) {
        struct token t = take(p);
        bool word = t.kind == TOKEN_WORD;
        if (!word && t.kind != TOKEN_COMMA)
            return unexpected(p, t, ", expected: ',', or identifier");

        bool close = p->next.kind == TOKEN_CLOSE, comma = p->next.kind == TOKEN_COMMA;
        if (word || r->values_n == 0 || close || comma) {
            int code = add_value(p, r, word ? t.text : vd_slice("", 0));
            if (code != VD_OK)
                return code;
        }
        if (close)
            return VD_OK;
        if (word && !comma)
            return unexpected(p, p->next, ", expected: ',' or ')'");
        if (!word && comma)
            take(p);
    }
}

static int parse_value_set(struct parser *p, struct requirement *r)
{
    struct token open = take(p);
    if (open.kind != TOKEN_OPEN)
        return unexpected(p, open, " expected: '('");
    int code;
    if (p->next.kind == TOKEN_CLOSE)
        code = add_empty_value(p, r);
    else if (p->next.kind == TOKEN_WORD || p->next.kind == TOKEN_COMMA)
        code = parse_value_list(p, r);
    else
        code = unexpected(p, p->next, ", expected: ',', ')' or identifier");
    if (code == VD_OK)
        take(p); /* the ")" */
    return code;
}

static int parse_exact_value(struct parser *p, struct requirement *r)
{
    if (p->next.kind == TOKEN_END || p->next.kind == TOKEN_COMMA)
        return add_empty_value(p, r);
    struct token t = take(p);
    if (t.kind != TOKEN_WORD)
        return unexpected(p, t, ", expected: identifier");
    return add_value(p, r, t.text);
}

static enum op token_op(struct token t)
{
    static const enum op ops[] = {
        [TOKEN_EQUALS] = OP_EQUALS,
        [TOKEN_DOUBLE_EQUALS] = OP_DOUBLE_EQUALS,
        [TOKEN_NOT_EQUALS] = OP_NOT_EQUALS,
        [TOKEN_GREATER] = OP_GREATER,
        [TOKEN_LESS] = OP_LESS,
    };
    if (t.kind != TOKEN_WORD)
        return ops[t.kind];
    return vd_slice_is(t.text, "in") ? OP_IN : vd_slice_is(t.text, "notin") ? OP_NOT_IN : OP_NONE;
}

static int parse_requirement(struct parser *p, struct requirement *r)
{
    struct token t = take(p);
    if (t.kind == TOKEN_NOT) {
        r->op = OP_NOT_EXISTS;
        t = take(p);
    }
    if (t.kind != TOKEN_WORD)
        return unexpected(p, t, ", expected: identifier");
    r->key = t.text;
    int code = check_key(p, r->key);
    if (code != VD_OK || r->op == OP_NOT_EXISTS)
        return code;
    if (p->next.kind == TOKEN_END || p->next.kind == TOKEN_COMMA) {
        r->op = OP_EXISTS;
        return VD_OK;
    }
    t = take(p);
    r->op = token_op(t);
    if (r->op == OP_NONE)
        return unexpected(p, t, ", expected: in, notin, =, ==, !=, gt, lt");
    bool set = r->op == OP_IN || r->op == OP_NOT_IN;
    code = set ? parse_value_set(p, r) : parse_exact_value(p, r);
    if (code != VD_OK)
        return code;
    sort_values(p, r);
    return check_values(p, r);
}

static int parse_selector(struct parser *p)
{
    if (p->next.kind == TOKEN_END)
        return VD_OK;
    if (p->next.kind != TOKEN_WORD && p->next.kind != TOKEN_NOT)
        return unexpected(p, p->next, ", expected: !, identifier, or 'end of string'");
    for (;;) {
        if (p->requirements.n == VD_SELECTOR_TERMS_MAX)
            return too_many(p, "requirements");
        struct requirement *r = VD_VEC_PUSH(&p->requirements);
        *r = (struct requirement){.op = OP_NONE, .values_at = (uint32_t)p->values.n};
        int code = parse_requirement(p, r);
        if (code == VD_ERR_INVALID)
            vd_error_prefix(p->error, "unable to parse requirement");
        if (code != VD_OK)
            return code;

        struct token t = take(p);
        if (t.kind == TOKEN_END)
            return VD_OK;
        if (t.kind != TOKEN_COMMA)
            return unexpected(p, t, ", expected: ',' or 'end of string'");
        if (p->next.kind != TOKEN_WORD && p->next.kind != TOKEN_NOT)
            return unexpected(p, p->next, ", expected: identifier after ','");
    }
}

/* ---- from drafts to the finished selector ---- */

/* The order of the canonical text; `context` is the array of values that values_at is an index
 * of. */
static int by_key(const void *left, const void *right, void *context)
{
    const struct requirement *a = left, *b = right;
    const struct vd_slice *values = context;
    int c = vd_slice_cmp(a->key, b->key);
    if (c == 0)
        c = (int)a->op - (int)b->op;
    for (uint32_t i = 0; c == 0 && i < a->values_n && i < b->values_n; i++)
        c = vd_slice_cmp(values[a->values_at + i], values[b->values_at + i]);
    return c ? c : (a->values_n > b->values_n) - (a->values_n < b->values_n);
}

static void sort_requirements(struct parser *p)
{
    struct requirement *all = p->requirements.p;
    size_t kept = 0;
    if (p->requirements.n > 1)
        qsort_r(all, p->requirements.n, sizeof *all, by_key, p->values.p);
    for (size_t i = 0; i < p->requirements.n; i++)
        if (kept == 0 || by_key(&all[kept - 1], &all[i], p->values.p) != 0)
            all[kept++] = all[i];
    p->requirements.n = kept;
}

/* Adds `s` to the text at *at and gives the copy. */
static struct vd_slice put(char **at, struct vd_slice s)
{
    struct vd_slice copy = vd_slice(*at, s.n);
    if (s.n > 0)
        memcpy(*at, s.p, s.n);
    *at += s.n;
    return copy;
}

/* Writes requirement *r at *at. Its slices, and those of its values in
 * values[], which pointed into the parsed text, then point into the copy. */
static void put_requirement(char **at, struct requirement *r, struct vd_slice *values)
{
    put(at, OP_TEXT[r->op].before_key);
    r->key = put(at, r->key);
    put(at, OP_TEXT[r->op].after_key);
    for (uint32_t i = 0; i < r->values_n; i++) {
        if (i > 0)
            put(at, VD_SLICE(","));
        values[r->values_at + i] = put(at, values[r->values_at + i]);
    }
    put(at, OP_TEXT[r->op].after_values);
}

/* The most bytes that the canonical text may have; exact but for the values of
 * requirements that were dropped. */
static size_t text_len_max(const struct parser *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->requirements.n; i++) {
        const struct requirement *r = &p->requirements.p[i];
        n += 1 + OP_TEXT[r->op].before_key.n + r->key.n + OP_TEXT[r->op].after_key.n +
             OP_TEXT[r->op].after_values.n;
    }
    for (size_t i = 0; i < p->values.n; i++)
        n += 1 + p->values.p[i].n;
    return n;
}

static struct vd_selector *build(const struct parser *p)
{
    size_t requirements_size = p->requirements.n * sizeof(struct requirement);
    size_t values_size = p->values.n * sizeof(struct vd_slice);
    struct vd_selector *s = vd_malloc(sizeof *s + requirements_size + values_size +
                                      text_len_max(p));
    struct vd_slice *values = (struct vd_slice *)((char *)s->requirements + requirements_size);
    char *text = (char *)values + values_size, *at = text;

    vd_refcount_init(&s->refs);
    s->n = (uint32_t)p->requirements.n;
    s->values = values;
    if (requirements_size > 0)
        memcpy(s->requirements, p->requirements.p, requirements_size);
    if (values_size > 0)
        memcpy(values, p->values.p, values_size);
    for (uint32_t i = 0; i < s->n; i++) {
        if (i > 0)
            put(&at, VD_SLICE(","));
        put_requirement(&at, &s->requirements[i], values);
    }
    s->text = vd_slice(text, (size_t)(at - text));
    return s;
}

int vd_selector_parse(struct vd_selector **out, struct vd_slice text, struct vd_error *error)
{
    if (text.n > VD_SELECTOR_LEN_MAX)
        return vd_error_set(error, VD_ERR_LIMIT,
                            "label selector is %zu bytes long; at most %d are allowed", text.n,
                            VD_SELECTOR_LEN_MAX);
    struct parser p = {.rest = text, .error = error};
    take(&p); /* fills p.next */
    int code = parse_selector(&p);
    if (code == VD_OK) {
        sort_requirements(&p);
        *out = build(&p);
    }
    VD_VEC_RELEASE(&p.values);
    VD_VEC_RELEASE(&p.requirements);
    return code;
}

struct vd_selector *vd_selector_ref(struct vd_selector *s)
{
    vd_ref(&s->refs);
    return s;
}

void vd_selector_unref(struct vd_selector *s)
{
    if (s && vd_unref(&s->refs))
        free(s);
}

struct vd_slice vd_selector_text(const struct vd_selector *s)
{
    return s->text;
}

bool vd_selector_requires(const struct vd_selector *s, struct vd_slice *key, struct vd_slice *value)
{
    for (uint32_t i = 0; i < s->n; i++) {
        const struct requirement *r = &s->requirements[i];
        bool equality = r->op == OP_EQUALS || r->op == OP_DOUBLE_EQUALS || r->op == OP_IN;
        if (!equality || r->values_n != 1)
            continue;
        *key = r->key;
        *value = s->values[r->values_at];
        return true;
    }
    return false;
}

bool vd_selector_is_everything(const struct vd_selector *s)
{
    return s->n == 0;
}

/* ---- matching ---- */

static bool has_value(const struct vd_selector *s, const struct requirement *r,
                      struct vd_slice value)
{
    const struct vd_slice *values = s->values + r->values_at;
    if (r->values_n == 1) /* nearly always */
        return vd_slice_eq(*values, value);
    return bsearch(&value, values, r->values_n, sizeof *values, by_bytes) != NULL;
}

static bool requirement_holds(const struct vd_selector *s, const struct requirement *r,
                              bool present, struct vd_slice value)
{
    int64_t number;
    switch (r->op) {
    case OP_EXISTS:
        return present;
    case OP_NOT_EXISTS:
        return !present;
    case OP_EQUALS:
    case OP_DOUBLE_EQUALS:
    case OP_IN:
        return present && has_value(s, r, value);
    case OP_NOT_EQUALS:
    case OP_NOT_IN:
        return !present || !has_value(s, r, value);
    case OP_GREATER:
        return present && to_i64(value, &number) && number > r->bound;
    case OP_LESS:
        return present && to_i64(value, &number) && number < r->bound;
    case OP_NONE:
        break;
    }
    assert(r->op != OP_NONE); /* a finished requirement has an operator */
    return false;
}

bool vd_selector_matches(const struct vd_selector *s, vd_label_lookup_fn *lookup,
                         const void *labels)
{
    for (uint32_t i = 0; i < s->n; i++) {
        const struct requirement *r = &s->requirements[i];
        struct vd_slice value = {"", 0};
        bool present = lookup(labels, r->key, &value);
        if (!requirement_holds(s, r, present, value))
            return false;
    }
    return true;
}
