/*
 * See jsonpath.h. A path is an array of steps; each takes a value to some of its
 * children, so evaluation goes down the document as far as it is deep, and no
 * value is looked at twice by one step. The steps inside a test only pick
 * single children, which keeps a test as cheap as its path is long.
 */
#include "kube/table/jsonpath.h"

#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "watch/excerpt.h"
#include "json/number.h"
#include "json/span.h"

enum step_kind { STEP_FIELD, STEP_INDEX, STEP_ALL, STEP_FILTER };
enum operator{ OP_EXISTS, OP_EQ, OP_NE, OP_LT, OP_LE, OP_GT, OP_GE };

struct step {
    enum step_kind kind;
    struct vd_slice name; /* STEP_FIELD */
    int64_t index;        /* STEP_INDEX; negative: from the end */
    struct test *test;    /* STEP_FILTER */
};

struct test {
    struct step *steps; /* fields and indexes */
    size_t n;
    enum operator op;
    enum vd_json_type type; /* of the literal: string, number or boolean */
    struct vd_slice text;   /* string or number */
    bool truth;
};

struct vd_jsonpath {
    struct vd_slice text;
    struct step *steps;
    size_t n;
    struct vd_slice *keys; /* of the fields, if the path is plain; else NULL */
};

/* --- compiling --- */

struct parser {
    struct vd_arena *arena;
    struct vd_slice text;
    size_t at;
    size_t end; /* before the closing brace */
    struct vd_error *error;
};

struct steps {
    VD_VEC(struct step) list;
};

static int refuse(struct parser *p, const char *why)
{
    struct vd_buf shown = {0};
    vd_excerpt_add_quoted(&shown, p->text, 120);
    int code = vd_error_set(p->error, VD_ERR_INVALID, "JSONPath %s, at byte %zu: %s",
                            vd_buf_text(&shown), p->at, why);
    vd_buf_release(&shown);
    return code;
}

/* The byte to be read next, or 0 at the end. (A NUL in the text is refused.) */
static char peek(const struct parser *p)
{
    return p->at < p->end ? p->text.p[p->at] : 0;
}

static bool skip(struct parser *p, const char *what)
{
    struct vd_slice rest = vd_slice(p->text.p + p->at, p->end - p->at);
    if (!vd_slice_starts_with(rest, vd_slice_of(what)))
        return false;
    p->at += strlen(what);
    return true;
}

static void skip_blanks(struct parser *p)
{
    while (peek(p) == ' ' || peek(p) == '\t')
        p->at++;
}

/* Reads up to a byte of `stops`; a backslash takes the next byte as it is. The
 * name is part of the text, or of the arena if it had backslashes. */
static int read_name(struct parser *p, const char *stops, struct vd_slice *out)
{
    size_t start = p->at, escapes = 0;
    for (; p->at < p->end && !strchr(stops, peek(p)); p->at++) {
        if (peek(p) != '\\')
            continue;
        if (++p->at == p->end)
            return refuse(p, "there is nothing behind the backslash");
        escapes++;
    }
    *out = vd_slice(p->text.p + start, p->at - start);
    if (!escapes)
        return VD_OK;
    char *name = vd_arena_alloc(p->arena, out->n);
    size_t n = 0;
    for (size_t i = 0; i < out->n; i++) {
        i += out->p[i] == '\\';
        name[n++] = out->p[i];
    }
    *out = vd_slice(name, n);
    return VD_OK;
}

static int read_field(struct parser *p, struct step *step)
{
    size_t start = p->at;
    if (peek(p) == '.')
        return refuse(p, "recursive descent (..) is not supported; name the fields");
    int code = read_name(p, " \t\r\n.,[]$@{}()=!<>", &step->name);
    if (code)
        return code;
    if (step->name.n == 0)
        return refuse(p, "the name of a field is missing");
    bool star = vd_slice_is(vd_slice(p->text.p + start, p->at - start), "*");
    step->kind = star ? STEP_ALL : STEP_FIELD;
    return VD_OK;
}

static int read_index(struct parser *p, struct step *step)
{
    size_t start = p->at;
    while (peek(p) == '-' || (peek(p) >= '0' && peek(p) <= '9'))
        p->at++;
    struct vd_slice digits = vd_slice(p->text.p + start, p->at - start);
    bool negative = vd_slice_starts_with(digits, VD_SLICE("-"));
    uint64_t index;
    if (vd_slice_to_u64(vd_slice_from(digits, negative), &index) != 0 || index > INT32_MAX)
        return refuse(p, "expected an index, '*', a quoted name or a test in the brackets");
    step->kind = STEP_INDEX;
    step->index = negative ? -(int64_t)index : (int64_t)index;
    return VD_OK;
}

static int read_quoted(struct parser *p, struct vd_slice *out)
{
    char stops[2] = {peek(p), 0};
    p->at++;
    int code = read_name(p, stops, out);
    if (code)
        return code;
    if (p->at == p->end)
        return refuse(p, "the quotes are not closed");
    p->at++;
    return VD_OK;
}

static int read_literal(struct parser *p, struct test *test)
{
    if (peek(p) == '"' || peek(p) == '\'') {
        test->type = VD_JSON_STRING;
        return read_quoted(p, &test->text);
    }
    if (skip(p, "true") || skip(p, "false")) {
        test->type = VD_JSON_BOOL;
        test->truth = p->text.p[p->at - 2] == 'u';
        return VD_OK;
    }
    size_t start = p->at;
    while (peek(p) && strchr("+-.0123456789eE", peek(p)))
        p->at++;
    test->type = VD_JSON_NUMBER;
    test->text = vd_slice(p->text.p + start, p->at - start);
    if (test->text.n > VD_JSON_NUMBER_LEN_MAX || !vd_number_is_valid(test->text))
        return refuse(p, "expected a quoted string, a number, true or false to compare with");
    return VD_OK;
}

static int read_operator(struct parser *p, struct test *test)
{
    static const struct {
        const char *text;
        enum operator op;
    } operators[] = {
        {"==", OP_EQ}, {"!=", OP_NE}, {"<=", OP_LE}, {">=", OP_GE}, {"<", OP_LT}, {">", OP_GT},
    };
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        if (skip(p, operators[i].text)) {
            test->op = operators[i].op;
            skip_blanks(p);
            return read_literal(p, test);
        }
    }
    return refuse(p, "expected ==, !=, <, <=, > or >=");
}

static int read_steps(struct parser *p, bool inside, struct step **steps, size_t *n);

/* Behind "[?(". */
static int read_filter(struct parser *p, struct step *step)
{
    struct test *test = vd_arena_alloc(p->arena, sizeof *test);
    *test = (struct test){.op = OP_EXISTS};
    step->kind = STEP_FILTER;
    step->test = test;
    skip_blanks(p);
    if (!skip(p, "@"))
        return refuse(p, "a test starts with @");
    int code = read_steps(p, true, &test->steps, &test->n);
    if (code)
        return code;
    skip_blanks(p);
    if (peek(p) != ')' && (code = read_operator(p, test)))
        return code;
    skip_blanks(p);
    return skip(p, ")") ? VD_OK : refuse(p, "the test is not closed by )]");
}

static int read_brackets(struct parser *p, bool inside, struct step *step)
{
    int code = VD_OK;
    if (peek(p) == '\'' || peek(p) == '"') {
        step->kind = STEP_FIELD;
        code = read_quoted(p, &step->name);
    } else if (inside) {
        code = read_index(p, step);
    } else if (skip(p, "?(")) {
        code = read_filter(p, step);
    } else if (skip(p, "*")) {
        step->kind = STEP_ALL;
    } else {
        code = read_index(p, step);
    }
    if (code)
        return code;
    if (peek(p) == ',' || peek(p) == ':')
        return refuse(p, "unions and slices are not supported; use one index or [*]");
    return skip(p, "]") ? VD_OK : refuse(p, "the bracket is not closed by ]");
}

/* Steps up to the end or, inside a test, to what is none. */
static int read_steps(struct parser *p, bool inside, struct step **steps, size_t *n)
{
    struct steps read = {0};
    int code = VD_OK;
    while (!code && (peek(p) == '.' || peek(p) == '[')) {
        struct step step = {0};
        code = skip(p, ".") ? read_field(p, &step) : (p->at++, read_brackets(p, inside, &step));
        if (!code && inside && step.kind == STEP_ALL)
            code = refuse(p, "a test looks at one value; use a name or an index");
        if (!code)
            *VD_VEC_PUSH(&read.list) = step;
    }
    *n = read.list.n;
    *steps = vd_arena_alloc(p->arena, read.list.n * sizeof **steps);
    if (!code && *n)
        memcpy(*steps, read.list.p, *n * sizeof **steps);
    VD_VEC_RELEASE(&read.list);
    return code;
}

static int read_path(struct parser *p, struct vd_jsonpath *path)
{
    skip_blanks(p);
    if (skip(p, "{")) {
        if (p->end - p->at == 0 || p->text.p[p->end - 1] != '}')
            return refuse(p, "the brace is not closed");
        p->end--;
        skip_blanks(p);
    }
    skip(p, "$");
    if (peek(p) != '.' && peek(p) != '[')
        return refuse(p, "a path starts with a dot, like .spec.color");
    if (p->end - p->at == 1 && peek(p) == '.') {
        p->at++; /* the document itself */
        return VD_OK;
    }
    int code = read_steps(p, false, &path->steps, &path->n);
    skip_blanks(p);
    if (!code && p->at != p->end)
        code = refuse(p, "expected . or [ or the end");
    return code;
}

static void note_keys(struct vd_arena *a, struct vd_jsonpath *path)
{
    for (size_t i = 0; i < path->n; i++)
        if (path->steps[i].kind != STEP_FIELD)
            return;
    path->keys = vd_arena_alloc(a, path->n * sizeof *path->keys);
    for (size_t i = 0; i < path->n; i++)
        path->keys[i] = path->steps[i].name;
}

int vd_jsonpath_compile(struct vd_arena *a, struct vd_slice text, const struct vd_jsonpath **out,
                        struct vd_error *error)
{
    if (text.n > VD_JSONPATH_LEN_MAX)
        return vd_error_set(error, VD_ERR_LIMIT, "a JSONPath has at most %d bytes, not %zu",
                            VD_JSONPATH_LEN_MAX, text.n);
    struct vd_jsonpath *path = vd_arena_alloc(a, sizeof *path);
    *path = (struct vd_jsonpath){.text = vd_arena_copy(a, vd_slice_trim(text))};
    struct parser p = {a, path->text, 0, path->text.n, error};
    if (!vd_utf8_is_valid(path->text) || (path->text.n && memchr(path->text.p, 0, path->text.n)))
        return refuse(&p, "it is not UTF-8, or holds a NUL");
    int code = read_path(&p, path);
    if (code)
        return code;
    note_keys(a, path);
    *out = path;
    return VD_OK;
}

struct vd_slice vd_jsonpath_text(const struct vd_jsonpath *path)
{
    return path->text;
}

/* --- evaluating --- */

/* The one child that a field or index step leads to, or NULL. */
static const struct vd_json *step_to(const struct step *step, const struct vd_json *v)
{
    if (step->kind == STEP_FIELD)
        return vd_json_get(v, step->name);
    int64_t count = (int64_t)vd_json_count(v);
    int64_t index = step->index < 0 ? step->index + count : step->index;
    return index < 0 ? NULL : vd_json_at(v, (size_t)index);
}

/* <0, 0, >0; false if the two cannot be compared. */
static bool compare(const struct test *test, const struct vd_json *v, int *result)
{
    if (!vd_json_is(v, test->type))
        return false;
    if (test->type == VD_JSON_STRING) {
        *result = vd_slice_cmp(vd_json_text(v), test->text);
        return true;
    }
    if (test->type == VD_JSON_BOOL) {
        *result = (int)vd_json_truth(v) - (int)test->truth;
        return true;
    }
    double a, b;
    if (vd_number_eq(vd_json_number_text(v), test->text)) {
        *result = 0;
        return true;
    }
    if (!vd_json_to_double(v, &a) || !vd_number_to_double(test->text, &b))
        return false;
    *result = a < b ? -1 : 1; /* not equal, though perhaps as doubles */
    return true;
}

static bool passes(const struct test *test, const struct vd_json *v)
{
    for (size_t i = 0; i < test->n && v; i++)
        v = step_to(&test->steps[i], v);
    int result;
    if (!v || test->op == OP_EXISTS)
        return v != NULL;
    if (!compare(test, v, &result))
        return test->op == OP_NE;
    switch (test->op) {
    case OP_EQ:
        return result == 0;
    case OP_NE:
        return result != 0;
    case OP_LT:
        return result < 0;
    case OP_LE:
        return result <= 0;
    case OP_GT:
        return result > 0;
    default:
        return result >= 0;
    }
}

struct walk {
    const struct vd_jsonpath *path;
    bool (*each)(void *context, const struct vd_json *value);
    void *context;
};

/* `at` steps lead to `v`. The recursion ends with the path, and goes no deeper
 * than the document. */
static bool walk(const struct walk *w, size_t at, const struct vd_json *v)
{
    const struct step *step = NULL;
    for (; v && at < w->path->n; at++) {
        step = &w->path->steps[at];
        if (step->kind >= STEP_ALL)
            break;
        v = step_to(step, v);
    }
    if (!v)
        return true;
    if (at == w->path->n)
        return w->each(w->context, v);
    if (step->kind == STEP_FILTER && !vd_json_is(v, VD_JSON_ARRAY))
        return true;
    VD_JSON_EACH (child, v)
        if ((step->kind == STEP_ALL || passes(step->test, child)) && !walk(w, at + 1, child))
            return false;
    return true;
}

bool vd_jsonpath_each(const struct vd_jsonpath *path, const struct vd_json *doc,
                      bool (*each)(void *context, const struct vd_json *value), void *context)
{
    struct walk w = {path, each, context};
    return walk(&w, 0, doc);
}

static bool keep_first(void *context, const struct vd_json *value)
{
    const struct vd_json **first = context;
    *first = value;
    return false;
}

const struct vd_json *vd_jsonpath_first(const struct vd_jsonpath *path, const struct vd_json *doc)
{
    const struct vd_json *first = NULL;
    vd_jsonpath_each(path, doc, keep_first, &first);
    return first;
}

bool vd_jsonpath_is_plain(const struct vd_jsonpath *path)
{
    return path->keys != NULL;
}

bool vd_jsonpath_span(const struct vd_jsonpath *path, struct vd_slice json, struct vd_slice *value)
{
    return path->keys && vd_span_find(json, path->keys, path->n, value);
}
