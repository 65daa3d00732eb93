/*
 * See path_pattern.h.
 *
 * A pattern becomes a row of states, one for each thing that it wants, and a last one that accepts.
 * A match keeps the set of states that the bytes so far can have led to, as bits. A byte moves the
 * states that take it one further (`takes`) and leaves those where they are that take any number
 * (`stays`); then states that may take nothing at all are passed.
 *
 *     LITERAL, SET   take one byte
 *     ANY            takes the first byte of a character, with a TAIL behind it
 *     TAIL           takes the other bytes of a character, may be skipped
 *     STAR           takes bytes but for '/', may be skipped
 *     ALL            takes every byte, may be skipped: a "**" at the end
 *     PARTS, WITHIN  a "**" with its '/': PARTS takes nothing and leads behind both, or into
 * WITHIN, which takes bytes up to and with any '/'
 */
#include "git/path_pattern.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/limits.h"

enum { WORDS = 4, STATES_MAX = 64 * WORDS };

struct states {
    uint64_t w[WORDS];
};

/* What a byte is to states that take any number of them. */
enum byte_class { SLASH, TAIL_BYTE, OTHER, CLASS_COUNT };

struct vd_path_pattern {
    size_t n; /* states before the last one, which accepts */
    struct states takes[256];
    struct states stays[CLASS_COUNT];
    struct states stars, tails, parts; /* that may take nothing */
};

static enum byte_class class_of(unsigned char c)
{
    return c == '/' ? SLASH : (c & 0xc0) == 0x80 ? TAIL_BYTE : OTHER;
}

static void add(struct states *s, size_t state)
{
    s->w[state / 64] |= (uint64_t)1 << state % 64;
}

static bool has(const struct states *s, size_t state)
{
    return s->w[state / 64] >> state % 64 & 1;
}

/* Adds to `s` the states that stand `steps` (1 or 2) behind those of `s` that are in `from`. */
static void pass(struct states *s, const struct states *from, unsigned steps)
{
    uint64_t carry = 0;
    for (size_t i = 0; i < WORDS; i++) {
        uint64_t moved = s->w[i] & from->w[i];
        s->w[i] |= moved << steps | carry;
        carry = moved >> (64 - steps);
    }
}

/* Passes what may take nothing. A PARTS may stand before a STAR, and so may a TAIL. */
static void skip(const struct vd_path_pattern *p, struct states *s)
{
    pass(s, &p->parts, 2);
    pass(s, &p->parts, 1);
    pass(s, &p->tails, 1);
    pass(s, &p->stars, 1);
}

/* --- matching --- */

/* The states after byte `c`; false if there are none. */
static bool advance(const struct vd_path_pattern *p, struct states *s, unsigned char c)
{
    const struct states *takes = &p->takes[c], *stays = &p->stays[class_of(c)];
    uint64_t carry = 0, any = 0;
    for (size_t i = 0; i < WORDS; i++) {
        uint64_t moved = s->w[i] & takes->w[i];
        s->w[i] = (moved << 1 | carry) | (s->w[i] & stays->w[i]);
        carry = moved >> 63;
        any |= s->w[i];
    }
    return any != 0;
}

bool vd_path_pattern_matches(const struct vd_path_pattern *p, struct vd_slice path)
{
    struct states s = {0};
    add(&s, 0);
    skip(p, &s);
    for (size_t i = 0; i < path.n; i++) {
        if (!advance(p, &s, (unsigned char)path.p[i]))
            return false;
        skip(p, &s);
    }
    return has(&s, p->n);
}

/* --- compiling --- */

static void stay_for(struct vd_path_pattern *p, bool slash)
{
    add(&p->stays[OTHER], p->n);
    add(&p->stays[TAIL_BYTE], p->n);
    if (slash)
        add(&p->stays[SLASH], p->n);
}

static void add_literal(struct vd_path_pattern *p, char c)
{
    add(&p->takes[(unsigned char)c], p->n++);
}

static void add_tail(struct vd_path_pattern *p)
{
    add(&p->stays[TAIL_BYTE], p->n);
    add(&p->tails, p->n++);
}

static void add_any(struct vd_path_pattern *p)
{
    for (unsigned c = 0; c < 256; c++)
        if (class_of((unsigned char)c) == OTHER)
            add(&p->takes[c], p->n);
    p->n++;
    add_tail(p);
}

static void add_star(struct vd_path_pattern *p, bool all)
{
    stay_for(p, all);
    add(&p->stars, p->n++);
}

static void add_parts(struct vd_path_pattern *p)
{
    add(&p->parts, p->n++);
    stay_for(p, true);
    add(&p->takes['/'], p->n++);
}

/* Reads one character of a set, escaped or not. */
static bool read_member(struct vd_slice text, size_t *at, unsigned char *c)
{
    if (*at < text.n && text.p[*at] == '\\')
        ++*at;
    if (*at >= text.n)
        return false;
    *c = (unsigned char)text.p[(*at)++];
    return true;
}

/* Reads the set whose '[' stands before `at`; gives the place behind its ']'. */
static int add_set(struct vd_path_pattern *p, struct vd_slice text, size_t *at,
                   struct vd_error *error)
{
    bool members[128] = {false}, first = true;
    bool other = *at < text.n && (text.p[*at] == '!' || text.p[*at] == '^');
    *at += other;
    for (; *at < text.n && (first || text.p[*at] != ']'); first = false) {
        unsigned char from, to;
        if (!read_member(text, at, &from))
            break;
        to = from;
        if (*at + 1 < text.n && text.p[*at] == '-' && text.p[*at + 1] != ']') {
            ++*at;
            if (!read_member(text, at, &to))
                break;
        }
        if (from >= 128 || to >= 128 || from > to)
            return vd_error_set(error, VD_ERR_INVALID,
                                "a set in [] holds ASCII characters and rising ranges only");
        for (unsigned c = from; c <= to; c++)
            members[c] = true;
    }
    if (*at >= text.n)
        return vd_error_set(error, VD_ERR_INVALID, "a [ has no ]; write \\[ for the character");
    ++*at;
    for (unsigned c = 0; c < 256; c++)
        if (class_of((unsigned char)c) == OTHER && (c < 128 ? members[c] != other : other))
            add(&p->takes[c], p->n);
    p->n++;
    if (other)
        add_tail(p);
    return VD_OK;
}

/* Adds one part of the path, without slashes, which is no "**". */
static int add_part(struct vd_path_pattern *p, struct vd_slice part, struct vd_error *error)
{
    int code = VD_OK;
    for (size_t i = 0; !code && i < part.n;) {
        char c = part.p[i++];
        if (p->n > STATES_MAX - 3)
            return vd_error_set(error, VD_ERR_LIMIT, "the pattern is too long");
        if (c == '*' && i < part.n && part.p[i] == '*')
            return vd_error_set(error, VD_ERR_INVALID,
                                "** stands alone between two slashes; inside a name write *");
        if (c == '*')
            add_star(p, false);
        else if (c == '?')
            add_any(p);
        else if (c == '[')
            code = add_set(p, part, &i, error);
        else if (c == '\\' && i == part.n)
            return vd_error_set(error, VD_ERR_INVALID, "nothing stands behind the last \\");
        else
            add_literal(p, c == '\\' ? part.p[i++] : c);
    }
    return code;
}

static int compile(struct vd_path_pattern *p, struct vd_slice text, struct vd_error *error)
{
    struct vd_slice rest = text, part;
    bool folder = vd_slice_ends_with(text, VD_SLICE("/")), after_parts = false;
    if (folder)
        rest.n--;
    while (vd_slice_cut(&rest, '/', &part)) {
        bool last = rest.p == NULL, repeated = after_parts;
        if (!part.n)
            return vd_error_set(error, VD_ERR_INVALID,
                                "it has an empty part; a pattern begins with a name, not with /");
        if (p->n > STATES_MAX - 4)
            return vd_error_set(error, VD_ERR_LIMIT, "the pattern is too long");
        after_parts = vd_slice_is(part, "**");
        if (after_parts) {
            if (last)
                add_star(p, true);
            else if (!repeated)
                add_parts(p);
            continue;
        }
        int code = add_part(p, part, error);
        if (code)
            return code;
        if (!last || folder)
            add_literal(p, '/');
        if (last && folder)
            add_star(p, true);
    }
    return VD_OK;
}

int vd_path_pattern_new(struct vd_path_pattern **out, struct vd_slice text, struct vd_error *error)
{
    if (!text.n)
        return vd_error_set(error, VD_ERR_INVALID, "the pattern is empty");
    if (text.n > VD_PATH_PATTERN_LEN_MAX)
        return vd_error_set(error, VD_ERR_LIMIT, "the pattern is longer than %d bytes",
                            VD_PATH_PATTERN_LEN_MAX);
    struct vd_path_pattern *p = VD_NEW(struct vd_path_pattern);
    int code = compile(p, text, error);
    if (code)
        vd_path_pattern_free(p);
    else
        *out = p;
    return code;
}

void vd_path_pattern_free(struct vd_path_pattern *p)
{
    free(p);
}

void vd_path_patterns_release(struct vd_path_patterns *p)
{
    for (size_t i = 0; i < p->list.n; i++)
        vd_path_pattern_free(p->list.p[i]);
    VD_VEC_RELEASE(&p->list);
}

bool vd_path_patterns_match(const struct vd_path_patterns *p, struct vd_slice path)
{
    for (size_t i = 0; i < p->list.n; i++)
        if (vd_path_pattern_matches(p->list.p[i], path))
            return true;
    return false;
}
