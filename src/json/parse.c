/*
 * The parser: one pass over the bytes, no recursion, one arena node a value.
 *
 * A node is linked into its container before its value is read, so at any time
 * the open containers (the frames) and the last child of each spell the path
 * of the place, and errors can name it although nothing is kept for them.
 *
 * Strings are scanned 16 bytes at a time. One without escapes is a slice of
 * the input; only one with escapes is decoded into the arena.
 *
 * Duplicate keys. For the first keys of an object a 64-bit filter says "surely
 * new" or "look": then the members so far are compared. Past VD_KEY_INDEX_MIN
 * members nothing is compared until the object closes; then a hash table tells.
 * An object that has, or may have, a repeated key is resolved by sorting, so
 * the cost is at most n log n however many keys there are and whoever chose
 * them.
 */
#include "json/parse.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/container_of.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "json/escape.h"
#include "json/key_index.h"
#include "json/scan.h"

/* An open container. */
struct frame {
    struct vd_json *container;
    struct vd_json **tail; /* where the next child is linked */
    uint64_t seen;         /* filter of the keys so far */
    bool repeated;         /* some key has come twice */
};

struct parser {
    struct vd_arena *arena;
    const char *start;
    const char *end;
    const struct vd_json_options *options;
    struct vd_error *error;
    int code;                                   /* of the failure */
    size_t reported;                            /* duplicate keys */
    struct frame *top;                          /* the innermost frame; == frames: none */
    struct frame *limit;                        /* the last frame that may be used */
    struct frame frames[VD_JSON_DEPTH_MAX + 1]; /* frames[0] holds the document */
};

/* The value that the path of an error names: the innermost container, or its last child. */
enum path_end { PATH_OF_CONTAINER, PATH_OF_CHILD };

/* --- errors --- */

/* Adds ".key" or "[3]" for the last child of `container`. */
static void path_add_child(struct vd_buf *path, const struct vd_json *container,
                           const struct vd_json *child)
{
    if (container->type == VD_JSON_ARRAY) {
        vd_buf_addf(path, "[%zu]", container->n - 1);
        return;
    }
    if (path->n)
        vd_buf_add_char(path, '.');
    vd_buf_add_slice(path, vd_json_key(child));
}

/* The child that was linked last: the one whose `next` is the tail. */
static struct vd_json *frame_child(const struct frame *f)
{
    return VD_CONTAINER_OF(f->tail, struct vd_json, next);
}

/* The path of the innermost container, or of its last child. */
static void path_of(const struct parser *p, enum path_end end_at, struct vd_buf *path)
{
    for (const struct frame *f = p->frames + 1; f <= p->top; f++) {
        if (f < p->top || (end_at == PATH_OF_CHILD && f->container->n))
            path_add_child(path, f->container, frame_child(f));
    }
}

/* Errors end up in logs and terminals: no control character of a key may. */
static void hide_controls(char *text)
{
    for (; *text; text++) {
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            *text = '?';
    }
}

/* Copies the path, or its end if it is too long, cut between characters. */
static void where_set_path(struct vd_json_where *where, struct vd_slice path)
{
    size_t room = sizeof where->path - 1, skip = 0;
    if (path.n > room) {
        skip = path.n - (room - 3);
        while (skip < path.n && ((unsigned char)path.p[skip] & 0xc0) == 0x80)
            skip++;
    }
    struct vd_slice kept = vd_slice_from(path, skip);
    snprintf(where->path, sizeof where->path, "%s%.*s", skip ? "..." : "", VD_FMT(kept));
    hide_controls(where->path);
}

static void where_set(const struct parser *p, const char *at, enum path_end end_at,
                      struct vd_json_where *where)
{
    *where = (struct vd_json_where){.offset = (size_t)(at - p->start), .line = 1, .column = 1};
    for (const char *c = p->start; c < at; c++) {
        if (*c == '\n') {
            where->line++;
            where->column = 1;
        } else if (((unsigned char)*c & 0xc0) != 0x80) {
            where->column++;
        }
    }
    struct vd_buf path = {0};
    path_of(p, end_at, &path);
    where_set_path(where, vd_buf_slice(&path));
    vd_buf_release(&path);
}

/* Records the failure at `at`; gives NULL for the caller to return. */
static const char *fail(struct parser *p, enum vd_code code, const char *at, enum path_end end_at,
                        const char *what)
{
    struct vd_json_where where;
    where_set(p, at, end_at, &where);
    if (p->options->where)
        *p->options->where = where;
    p->code = vd_error_set(p->error, code, "JSON line %zu, column %zu%s%s: %s", where.line,
                           where.column, where.path[0] ? ", at " : "", where.path, what);
    return NULL;
}

/* Fails with `expected` and what is there instead. */
static const char *fail_expected(struct parser *p, const char *at, enum path_end end_at,
                                 const char *expected)
{
    char what[128];
    unsigned char c = at < p->end ? (unsigned char)*at : 0;
    if (at >= p->end)
        snprintf(what, sizeof what, "expected %s, but the text ends", expected);
    else if (c >= 0x20 && c < 0x7f)
        snprintf(what, sizeof what, "expected %s, found '%c'", expected, c);
    else
        snprintf(what, sizeof what, "expected %s, found byte 0x%02x", expected, c);
    return fail(p, VD_ERR_INVALID, at, end_at, what);
}

/* --- scalars: each gives the place behind the value, or NULL --- */

/* What the inside of a string turned out to be. */
struct text {
    const char *p;
    size_t n;
    bool plain; /* ASCII without escapes */
};

static const char *fail_in_string(struct parser *p, const char *at, enum path_end end_at)
{
    if (at >= p->end)
        return fail(p, VD_ERR_INVALID, at, end_at, "the text ends inside a string");
    if (*at == '\\')
        return fail(p, VD_ERR_INVALID, at, end_at, "not an escape that JSON has");
    if ((unsigned char)*at < 0x20)
        return fail(p, VD_ERR_INVALID, at, end_at,
                    "a control character in a string has to be written as an escape");
    return fail(p, VD_ERR_INVALID, at, end_at, "the bytes are not UTF-8");
}

/* The rest of a string that has escapes or non-ASCII bytes: `at` is at the
 * first of them, `from` at the first byte of the string. */
static const char *read_text_slow(struct parser *p, const char *from, const char *at,
                                  enum path_end end_at, struct text *out)
{
    bool escapes = false;
    while (at < p->end && *at != '"') {
        size_t n = 0;
        if (*at == '\\') {
            n = vd_escape_len(at, p->end);
            escapes = true;
        } else if ((unsigned char)*at >= 0x80) {
            n = vd_utf8_len(at, p->end);
        }
        if (n == 0)
            return fail_in_string(p, at, end_at);
        at = vd_scan_string(at + n, p->end);
    }
    if (at >= p->end)
        return fail_in_string(p, at, end_at);
    *out = (struct text){.p = from, .n = (size_t)(at - from)};
    if (escapes) {
        char *decoded = vd_arena_alloc(p->arena, out->n);
        out->n = vd_escape_decode(vd_slice(from, out->n), decoded);
        out->p = decoded;
    }
    return at + 1;
}

/* A string; `at` is behind its opening quote. */
static inline const char *read_text(struct parser *p, const char *at, enum path_end end_at,
                                    struct text *out)
{
    const char *stop = vd_scan_string(at, p->end);
    if (VD_UNLIKELY(stop == p->end || *stop != '"'))
        return read_text_slow(p, at, stop, end_at, out);
    *out = (struct text){.p = at, .n = (size_t)(stop - at), .plain = true};
    return stop + 1;
}

static inline const char *skip_digits(const char *at, const char *end)
{
    while (at < end && (unsigned char)(*at - '0') < 10)
        at++;
    return at;
}

/* The fraction and exponent of a number, from '.' or 'e' on. */
static const char *read_fraction(struct parser *p, const char *at)
{
    if (at < p->end && *at == '.') {
        const char *digits = at + 1;
        at = skip_digits(digits, p->end);
        if (at == digits)
            return fail_expected(p, at, PATH_OF_CHILD, "a digit after the decimal point");
    }
    if (at < p->end && (*at == 'e' || *at == 'E')) {
        at++;
        if (at < p->end && (*at == '+' || *at == '-'))
            at++;
        const char *digits = at;
        at = skip_digits(digits, p->end);
        if (at == digits)
            return fail_expected(p, at, PATH_OF_CHILD, "a digit in the exponent");
    }
    return at;
}

static inline const char *read_number(struct parser *p, const char *at, struct vd_json *v)
{
    const char *from = at;
    at += *at == '-';
    const char *digits = at;
    at = skip_digits(at, p->end);
    if (VD_UNLIKELY(at == digits))
        return fail_expected(p, at, PATH_OF_CHILD, "a digit after '-'");
    if (VD_UNLIKELY(*digits == '0' && at - digits > 1))
        return fail(p, VD_ERR_INVALID, digits, PATH_OF_CHILD, "a number has no leading zeros");
    if (at < p->end && (*at == '.' || (*at | 0x20) == 'e')) {
        at = read_fraction(p, at);
        if (!at)
            return NULL;
    }
    if (VD_UNLIKELY(at - from > VD_JSON_NUMBER_LEN_MAX))
        return fail(p, VD_ERR_LIMIT, from, PATH_OF_CHILD, "a number of too many digits");
    v->type = VD_JSON_NUMBER;
    v->text_p = from;
    v->n = (size_t)(at - from);
    return at;
}

static const char *read_word(struct parser *p, const char *at, struct vd_json *v)
{
    static const struct {
        char text[6];
        uint8_t n, type;
        bool truth;
    } words[] = {
        {"true", 4, VD_JSON_BOOL, true},
        {"false", 5, VD_JSON_BOOL, false},
        {"null", 4, VD_JSON_NULL, false},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (p->end - at >= words[i].n && memcmp(at, words[i].text, words[i].n) == 0) {
            v->type = words[i].type;
            v->truth = words[i].truth;
            return at + words[i].n;
        }
    }
    return fail_expected(p, at, PATH_OF_CHILD, "a value");
}

/* --- duplicate keys --- */

/* The bit that stands for a key in a frame's filter. */
static inline uint64_t key_bit(struct text key)
{
    if (key.n == 0)
        return 1;
    unsigned char first = (unsigned char)key.p[0], middle = (unsigned char)key.p[key.n / 2],
                  last = (unsigned char)key.p[key.n - 1];
    return UINT64_C(1) << ((first ^ middle * 5u ^ last * 11u ^ key.n * 3u) & 63);
}

static bool has_key(const struct vd_json *object, struct text key)
{
    for (const struct vd_json *m = object->first; m; m = m->next) {
        /* Keys of one length tend to differ at the end, if anywhere. */
        if (m->key_n == key.n && (key.n == 0 || (m->key_p[key.n - 1] == key.p[key.n - 1] &&
                                                 memcmp(m->key_p, key.p, key.n) == 0)))
            return true;
    }
    return false;
}

static const char *fail_duplicate(struct parser *p, const char *at, struct vd_slice key)
{
    char what[160];
    key = vd_utf8_cut(key, 100);
    snprintf(what, sizeof what, "the key \"%.*s\" is there twice", VD_FMT(key));
    hide_controls(what);
    return fail(p, VD_ERR_INVALID, at, PATH_OF_CONTAINER, what);
}

static void report_duplicate(struct parser *p, struct vd_json *member)
{
    struct vd_buf path = {0};
    /* Each report costs the length of its path: their number has to be bounded. */
    if (p->reported++ >= VD_JSON_DUPLICATES_MAX)
        return;
    path_of(p, PATH_OF_CONTAINER, &path);
    path_add_child(&path, p->top->container, member);
    p->options->on_duplicate(p->options->context, vd_buf_slice(&path));
    vd_buf_release(&path);
}

/* Marks all members but the first of each key, and gives the first one the
 * value of the last. Returns the first repeated member of the object. */
static struct vd_json *mark_duplicates(struct vd_json *object)
{
    struct vd_key_index index;
    vd_key_index_init_all(&index, object);
    struct vd_json *found = NULL;
    size_t found_place = SIZE_MAX;
    for (size_t i = 0, run; i < index.n; i = run) {
        struct vd_json *first = index.p[i].member;
        for (run = i + 1; run < index.n; run++) {
            struct vd_json *m = index.p[run].member;
            if (index.p[run].hash != index.p[i].hash ||
                !vd_slice_eq(vd_json_key(m), vd_json_key(first)))
                break;
            m->flags |= run == i + 1 ? VD_JSON_DROP | VD_JSON_REPEAT : VD_JSON_DROP;
            if (index.p[run].place < found_place) {
                found_place = index.p[run].place;
                found = m;
            }
        }
        if (run > i + 1) {
            struct vd_json last = *index.p[run - 1].member;
            last.flags &= (uint8_t)~VD_JSON_LINKED;
            vd_json_assign(first, &last);
        }
    }
    vd_key_index_release(&index);
    return found;
}

/* Keeps one member of each key in the object that has just closed. */
static bool resolve_duplicates(struct parser *p, const char *at)
{
    struct vd_json *object = p->top->container;
    if (!p->top->repeated && !vd_key_index_may_repeat(object))
        return true;
    struct vd_json *found = mark_duplicates(object);
    if (!found)
        return true;
    if (p->options->duplicates == VD_JSON_DUPLICATES_REJECT) {
        bool borrowed = found->key_p >= p->start && found->key_p < p->end;
        fail_duplicate(p, borrowed ? found->key_p - 1 : at, vd_json_key(found));
        return false;
    }
    struct vd_json *before = NULL;
    for (struct vd_json *m = object->first, *next; m; m = next) {
        next = m->next;
        if (p->options->duplicates == VD_JSON_DUPLICATES_REPORT && (m->flags & VD_JSON_REPEAT))
            report_duplicate(p, m);
        if (m->flags & VD_JSON_DROP)
            vd_json_remove_after(object, before);
        else
            before = m;
    }
    return true;
}

/* --- containers --- */

/* A new last child of the innermost container. */
static inline struct vd_json *add_child(struct parser *p)
{
    struct vd_json *v = vd_arena_alloc(p->arena, sizeof *v);
    *v = (struct vd_json){.flags = VD_JSON_LINKED};
    struct frame *f = p->top;
    *f->tail = v;
    f->tail = &v->next;
    f->container->n++;
    return v;
}

/* The key and colon of a member; makes the member. `at` is at the key. */
static inline const char *read_key(struct parser *p, const char *at, struct vd_json **member)
{
    struct text key;
    if (VD_UNLIKELY(at >= p->end || *at != '"'))
        return fail_expected(p, at, PATH_OF_CONTAINER,
                             p->top->container->n ? "a key in quotes" : "a key in quotes or '}'");
    const char *from = at;
    at = read_text(p, at + 1, PATH_OF_CONTAINER, &key);
    if (VD_UNLIKELY(!at))
        return NULL;
    struct frame *f = p->top;
    uint64_t bit = key_bit(key);
    if (VD_UNLIKELY(f->seen & bit) && f->container->n <= VD_KEY_INDEX_MIN && !f->repeated) {
        f->repeated = has_key(f->container, key);
        if (f->repeated && p->options->duplicates == VD_JSON_DUPLICATES_REJECT)
            return fail_duplicate(p, from, vd_slice(key.p, key.n));
    }
    f->seen |= bit;
    struct vd_json *v = *member = add_child(p);
    v->key_p = key.p;
    v->key_n = (uint32_t)key.n;
    v->flags |= key.plain ? VD_JSON_PLAIN_KEY : 0;
    at = vd_scan_blank(at, p->end);
    if (VD_UNLIKELY(at >= p->end || *at != ':'))
        return fail_expected(p, at, PATH_OF_CHILD, "':' after the key");
    return vd_scan_blank(at + 1, p->end);
}

/* The innermost container ends behind `at`. */
static inline const char *close_container(struct parser *p, const char *at)
{
    struct frame *f = p->top;
    if (f->container->n) {
        f->container->last = frame_child(f);
        if (f->container->type == VD_JSON_OBJECT &&
            VD_UNLIKELY(f->repeated || f->container->n > VD_KEY_INDEX_MIN) &&
            !resolve_duplicates(p, at))
            return NULL;
    }
    p->top--;
    return at + 1;
}

static const char *fail_depth(struct parser *p, const char *at)
{
    char what[96];
    snprintf(what, sizeof what, "nested more than %zu deep", (size_t)(p->limit - p->frames));
    return fail(p, VD_ERR_LIMIT, at, PATH_OF_CHILD, what);
}

/*
 * `v` is an array or object that opens at `at`. Gives the place of its first
 * value, for which *child is made; or, if it is empty, the place behind it and
 * NULL in *child.
 */
static inline const char *open_container(struct parser *p, const char *at, struct vd_json *v,
                                         struct vd_json **child)
{
    bool object = *at == '{';
    if (VD_UNLIKELY(p->top == p->limit))
        return fail_depth(p, at);
    v->type = object ? VD_JSON_OBJECT : VD_JSON_ARRAY;
    *++p->top = (struct frame){.container = v, .tail = &v->first};
    at = vd_scan_blank(at + 1, p->end);
    if (at < p->end && *at == (object ? '}' : ']')) {
        *child = NULL;
        return close_container(p, at);
    }
    if (object)
        return read_key(p, at, child);
    *child = add_child(p);
    return at;
}

/*
 * What follows a value: closes containers as long as they end here, then makes
 * the next *child and gives the place of its value. *child is NULL when the
 * document is complete.
 */
static inline const char *after_value(struct parser *p, const char *at, struct vd_json **child)
{
    for (;;) {
        *child = NULL;
        if (p->top == p->frames)
            return at;
        bool object = p->top->container->type == VD_JSON_OBJECT;
        at = vd_scan_blank(at, p->end);
        char c = at < p->end ? *at : 0;
        if (c == ',') {
            at = vd_scan_blank(at + 1, p->end);
            if (object)
                return read_key(p, at, child);
            if (at < p->end && *at == ']')
                return fail_expected(p, at, PATH_OF_CONTAINER, "a value after ','");
            *child = add_child(p);
            return at;
        }
        if (c != (object ? '}' : ']'))
            return fail_expected(p, at, PATH_OF_CONTAINER, object ? "',' or '}'" : "',' or ']'");
        at = close_container(p, at);
        if (!at)
            return NULL;
    }
}

static inline const char *read_string(struct parser *p, const char *at, struct vd_json *v)
{
    struct text text;
    at = read_text(p, at + 1, PATH_OF_CHILD, &text);
    if (!at)
        return NULL;
    v->type = VD_JSON_STRING;
    v->flags |= text.plain ? VD_JSON_PLAIN_TEXT : 0;
    v->text_p = text.p;
    v->n = text.n;
    return at;
}

/* Reads the value at `at` into `v`, and everything behind it. */
static const char *read_document(struct parser *p, const char *at, struct vd_json *v)
{
    while (v) {
        char c = at < p->end ? *at : 0;
        struct vd_json *child = NULL;
        if (c == '"') {
            at = read_string(p, at, v);
        } else if (c == '{' || c == '[') {
            at = open_container(p, at, v, &child);
        } else if (c == '-' || (unsigned char)(c - '0') < 10) {
            at = read_number(p, at, v);
        } else {
            at = read_word(p, at, v);
        }
        if (!at)
            return NULL;
        if (!child) {
            at = after_value(p, at, &child);
            if (!at)
                return NULL;
        }
        v = child;
    }
    return at;
}

/* --- the whole --- */

static const char *read_all(struct parser *p, struct vd_json *root)
{
    if (p->end - p->start >= 3 && memcmp(p->start, "\xef\xbb\xbf", 3) == 0)
        return fail(p, VD_ERR_INVALID, p->start, PATH_OF_CONTAINER,
                    "the text starts with a byte order mark; remove it");
    const char *at = vd_scan_blank(p->start, p->end);
    at = read_document(p, at, root);
    if (!at)
        return NULL;
    at = vd_scan_blank(at, p->end);
    if (at < p->end)
        return fail_expected(p, at, PATH_OF_CONTAINER, "nothing behind the document");
    return at;
}

static size_t bound(size_t wanted, size_t max)
{
    return wanted && wanted < max ? wanted : max;
}

int vd_json_parse(struct vd_arena *a, struct vd_slice text, const struct vd_json_options *options,
                  struct vd_json **out, struct vd_error *error)
{
    static const struct vd_json_options defaults = {0};
    options = options ? options : &defaults;
    assert(options->duplicates != VD_JSON_DUPLICATES_REPORT || options->on_duplicate);
    size_t len_max = bound(options->len_max, VD_JSON_LEN_MAX);
    if (text.n > len_max) {
        if (options->where)
            *options->where = (struct vd_json_where){.line = 1, .column = 1};
        return vd_error_set(error, VD_ERR_LIMIT,
                            "the JSON text has %zu bytes; at most %zu are allowed", text.n,
                            len_max);
    }
    struct parser p;
    p.arena = a;
    p.start = text.n ? text.p : "";
    p.end = p.start + text.n;
    p.options = options;
    p.error = error;
    p.code = VD_OK;
    p.reported = 0;
    p.top = p.frames;
    p.limit = p.frames + bound(options->depth_max, VD_JSON_DEPTH_MAX);
    struct vd_json *root = vd_arena_alloc(a, sizeof *root);
    *root = (struct vd_json){0};
    if (!read_all(&p, root))
        return p.code;
    *out = root;
    return VD_OK;
}

int vd_json_parse_copy(struct vd_arena *a, struct vd_slice text,
                       const struct vd_json_options *options, struct vd_json **out,
                       struct vd_error *error)
{
    if (text.n <= bound(options ? options->len_max : 0, VD_JSON_LEN_MAX))
        text = vd_arena_copy(a, text);
    return vd_json_parse(a, text, options, out, error);
}
