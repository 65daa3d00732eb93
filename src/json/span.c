/*
 * See span.h. Most of the work is to get past values that nobody asked for.
 * An object or array is passed in blocks of 64 bytes: a bit for each quote,
 * bracket and backslash; the running parity of the quotes tells which brackets
 * are inside strings; and a block that has fewer closing brackets than there
 * are levels open is passed by counting alone.
 */
#include "json/span.h"

#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "json/escape.h"
#include "json/scan.h"

enum { BLOCK = 64 }; /* bytes that one step of the scan looks at */

/* Bit i stands for byte i of a block. */
struct block {
    uint64_t quote, backslash, open, close;
};

static struct block block_classify(const char *at)
{
    struct block b = {0};
#ifdef __SSE2__
    for (unsigned i = 0; i < BLOCK; i += 16) {
        __m128i x = vd_scan_load(at + i);
        /* '[' and '{', ']' and '}' differ in one bit; nothing else joins them. */
        __m128i folded = _mm_or_si128(x, _mm_set1_epi8(0x20));
        b.quote |= (uint64_t)vd_scan_bits(vd_scan_eq(x, '"')) << i;
        b.backslash |= (uint64_t)vd_scan_bits(vd_scan_eq(x, '\\')) << i;
        b.open |= (uint64_t)vd_scan_bits(vd_scan_eq(folded, '{')) << i;
        b.close |= (uint64_t)vd_scan_bits(vd_scan_eq(folded, '}')) << i;
    }
#else
    for (unsigned i = 0; i < BLOCK; i++) {
        char c = at[i], folded = (char)(c | 0x20);
        b.quote |= (uint64_t)(c == '"') << i;
        b.backslash |= (uint64_t)(c == '\\') << i;
        b.open |= (uint64_t)(folded == '{') << i;
        b.close |= (uint64_t)(folded == '}') << i;
    }
#endif
    return b;
}

/* Bits of the bytes that a backslash escapes. *carry: the last byte of the
 * block before was such a backslash; it is set for the next block. */
static uint64_t escaped_bits(uint64_t backslash, bool *carry)
{
    uint64_t escaped = *carry;
    *carry = false;
    backslash &= ~escaped;
    while (backslash) {
        uint64_t lowest = backslash & (0 - backslash);
        if (lowest >> 63)
            *carry = true;
        escaped |= lowest << 1;
        backslash &= ~(lowest | lowest << 1);
    }
    return escaped;
}

/* Bit i is the parity of the bits up to i: set from an opening quote up to the
 * byte before the closing one. */
static uint64_t parity_up_to(uint64_t bits)
{
    for (unsigned shift = 1; shift < 64; shift *= 2)
        bits ^= bits << shift;
    return bits;
}

/* The bit at which the depth falls to 0, given brackets outside strings. */
static int find_end(uint64_t open, uint64_t close, size_t *depth)
{
    for (uint64_t both = open | close; both; both &= both - 1) {
        uint64_t lowest = both & (0 - both);
        if (lowest & open)
            (*depth)++;
        else if (--*depth == 0)
            return __builtin_ctzll(both);
    }
    return -1;
}

/* Past the object or array at `at`, or NULL if it does not end. The kinds of
 * the brackets are not matched. */
static const char *skip_container(const char *at, const char *end)
{
    size_t depth = 0;
    uint64_t in_string = 0; /* all ones while a string goes on */
    bool carry = false;
    for (; at < end; at += BLOCK) {
        char last[BLOCK];
        const char *bytes = at;
        if (end - at < BLOCK) {
            memset(last, ' ', sizeof last);
            memcpy(last, at, (size_t)(end - at));
            bytes = last;
        }
        struct block b = block_classify(bytes);
        if (VD_UNLIKELY(b.backslash || carry))
            b.quote &= ~escaped_bits(b.backslash, &carry);
        uint64_t strings = parity_up_to(b.quote) ^ in_string;
        in_string = 0 - (strings >> 63);
        uint64_t open = b.open & ~strings, close = b.close & ~strings;
        size_t closing = (size_t)__builtin_popcountll(close);
        if (closing < depth) {
            depth += (size_t)__builtin_popcountll(open) - closing;
            continue;
        }
        int bit = find_end(open, close, &depth);
        if (bit >= 0)
            return at + bit + 1;
    }
    return NULL;
}

/* Past the closing quote of the string whose inside starts at `at`, or NULL.
 * *escapes: there was a backslash in it. */
static inline const char *skip_string(const char *at, const char *end, bool *escapes)
{
    *escapes = false;
    while ((at = vd_scan_string(at, end)) < end) {
        if (*at == '"')
            return at + 1;
        if (*at == '\\') {
            *escapes = true;
            if (++at == end)
                return NULL;
        }
        at++;
    }
    return NULL;
}

/* Past the value at `at`, or NULL. */
static const char *skip_value(const char *at, const char *end)
{
    bool escapes;
    if (at >= end)
        return NULL;
    if (*at == '"')
        return skip_string(at + 1, end, &escapes);
    if (*at == '{' && end - at > 1 && at[1] == '}') /* managedFields are full of them */
        return at + 2;
    if (*at == '{' || *at == '[')
        return skip_container(at, end);
    const char *from = at;
    while (at < end && *at != ',' && *at != '}' && *at != ']' && !vd_scan_is_blank(*at))
        at++;
    return at > from ? at : NULL;
}

void vd_span_open(struct vd_span_cursor *c, struct vd_slice value)
{
    *c = (struct vd_span_cursor){0};
    if (value.n == 0)
        return;
    const char *end = value.p + value.n, *at = vd_scan_blank(value.p, end);
    if (at >= end || (*at != '{' && *at != '['))
        return;
    c->object = *at == '{';
    c->at = vd_scan_blank(at + 1, end);
    c->end = end;
}

static bool finish(struct vd_span_cursor *c, bool broken)
{
    c->at = c->end = NULL;
    c->broken = broken;
    return false;
}

/* What stands between the quotes of a key. */
struct raw_key {
    struct vd_slice raw;
    bool escapes;
};

/* Goes to the value of the next child and gives its key. */
static bool next_value(struct vd_span_cursor *c, struct raw_key *key)
{
    const char *at = c->at, *end = c->end;
    *key = (struct raw_key){.raw = vd_slice("", 0)};
    if (!at)
        return false;
    if (at >= end || *at == (c->object ? '}' : ']'))
        return finish(c, at >= end);
    if (c->object) {
        const char *from = at + 1;
        if (*at != '"' || !(at = skip_string(from, end, &key->escapes)))
            return finish(c, true);
        key->raw = vd_slice(from, (size_t)(at - 1 - from));
        at = vd_scan_blank(at, end);
        if (at >= end || *at != ':')
            return finish(c, true);
        at = vd_scan_blank(at + 1, end);
    }
    c->at = at;
    return true;
}

/* Goes past the value, to the next child, and gives the value. */
static bool pass_value(struct vd_span_cursor *c, struct vd_slice *value)
{
    const char *from = c->at, *end = c->end, *at = skip_value(from, end);
    if (!at)
        return finish(c, true);
    *value = vd_slice(from, (size_t)(at - from));
    at = vd_scan_blank(at, end);
    if (at < end && *at == ',')
        at = vd_scan_blank(at + 1, end);
    c->at = at;
    return true;
}

bool vd_span_next(struct vd_span_cursor *c, struct vd_slice *key, struct vd_slice *value)
{
    struct raw_key found;
    if (!next_value(c, &found) || !pass_value(c, value))
        return false;
    *key = found.raw;
    return true;
}

static bool escaped_key_is(struct vd_slice raw, struct vd_slice key)
{
    if (raw.n < key.n || raw.n / 6 > key.n) /* an escape is 2 to 6 bytes long */
        return false;
    struct vd_arena scratch = {0};
    struct vd_slice decoded;
    bool same = vd_span_decode(&scratch, raw, &decoded) && vd_slice_eq(decoded, key);
    vd_arena_release(&scratch);
    return same;
}

bool vd_span_key_is(struct vd_slice raw, struct vd_slice key)
{
    if (raw.n == 0 || !memchr(raw.p, '\\', raw.n))
        return vd_slice_eq(raw, key);
    return escaped_key_is(raw, key);
}

/* Goes to the value of the member `key`. */
static bool seek_member(struct vd_span_cursor *c, struct vd_slice key)
{
    struct raw_key found;
    struct vd_slice passed;
    while (next_value(c, &found)) {
        if (VD_UNLIKELY(found.escapes) ? escaped_key_is(found.raw, key)
                                       : vd_slice_eq(found.raw, key))
            return true;
        if (!pass_value(c, &passed))
            return false;
    }
    return false;
}

bool vd_span_find(struct vd_slice json, const struct vd_slice *keys, size_t n,
                  struct vd_slice *value)
{
    struct vd_span_cursor c;
    if (n == 0) {
        *value = json;
        return true;
    }
    /* To look into a value one need not know where it ends. */
    for (size_t i = 0; i < n; i++) {
        vd_span_open(&c, json);
        if (!c.object || !seek_member(&c, keys[i]))
            return false;
        json = vd_slice(c.at, (size_t)(c.end - c.at));
    }
    return pass_value(&c, value);
}

bool vd_span_seek(struct vd_slice json, struct vd_slice key, struct vd_slice *rest)
{
    struct vd_span_cursor c;
    vd_span_open(&c, json);
    if (!c.object || !seek_member(&c, key))
        return false;
    *rest = vd_slice(c.at, (size_t)(c.end - c.at));
    return true;
}

bool vd_span_get(struct vd_slice json, struct vd_slice key, struct vd_slice *value)
{
    return vd_span_find(json, &key, 1, value);
}

bool vd_span_decode(struct vd_arena *a, struct vd_slice raw, struct vd_slice *out)
{
    const char *at = raw.n ? memchr(raw.p, '\\', raw.n) : NULL, *end = raw.p + raw.n;
    if (!at) {
        *out = raw;
        return true;
    }
    while (at) {
        size_t n = vd_escape_len(at, end);
        if (n == 0)
            return false;
        at = memchr(at + n, '\\', (size_t)(end - at) - n);
    }
    char *decoded = vd_arena_alloc(a, raw.n);
    *out = vd_slice(decoded, vd_escape_decode(raw, decoded));
    return true;
}

bool vd_span_text(struct vd_arena *a, struct vd_slice value, struct vd_slice *out)
{
    if (value.n < 2 || value.p[0] != '"' || value.p[value.n - 1] != '"')
        return false;
    return vd_span_decode(a, vd_slice(value.p + 1, value.n - 2), out);
}
