/*
 * See yaml_scalar.h.
 *
 * Words (null, booleans, infinities) are one table. Numbers are tried in
 * go-yaml v2's order: the underscores go away wherever they stand, then an
 * integer in Go's syntax with a base prefix, then a float by a stricter
 * grammar than strtod's. The order shows: `08` is no octal number, so it is
 * the float 8; an octal number that does not fit is read again as a decimal
 * float. That is odd, and it is what Kubernetes does with the same file.
 */
#include "json/yaml_scalar.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/utf8.h"

#define TAG_PREFIX "tag:yaml.org,2002:"

enum {
    NUMBER_LEN_INLINE = 64 /* longer numbers are copied on the heap */
};

static const struct word {
    const char *lower;
    enum vd_yaml_type type;
    double value; /* of a boolean: 0 or 1 */
} words[] = {
    {"", VD_YAML_NULL, 0},
    {"~", VD_YAML_NULL, 0},
    {"null", VD_YAML_NULL, 0},
    {"y", VD_YAML_BOOL, 1},
    {"yes", VD_YAML_BOOL, 1},
    {"true", VD_YAML_BOOL, 1},
    {"on", VD_YAML_BOOL, 1},
    {"n", VD_YAML_BOOL, 0},
    {"no", VD_YAML_BOOL, 0},
    {"false", VD_YAML_BOOL, 0},
    {"off", VD_YAML_BOOL, 0},
    {".nan", VD_YAML_FLOAT, (double)NAN},
    {".inf", VD_YAML_FLOAT, (double)INFINITY},
    {"+.inf", VD_YAML_FLOAT, (double)INFINITY},
    {"-.inf", VD_YAML_FLOAT, (double)-INFINITY},
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static char to_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Whether `text` is `lower` written lower, UPPER or Title (".NaN" is the one
 * exception to the last). */
static bool word_matches(struct vd_slice text, const char *lower)
{
    if (text.n != strlen(lower))
        return false;
    size_t letters = 0, uppers = 0;
    bool first_upper = false;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (to_lower(c) != lower[i])
            return false;
        if (lower[i] < 'a' || lower[i] > 'z')
            continue;
        bool upper = c != lower[i];
        if (letters++ == 0)
            first_upper = upper;
        uppers += upper;
    }
    if (strcmp(lower, ".nan") == 0)
        return uppers == 0 || uppers == 3 || vd_slice_is(text, ".NaN");
    return uppers == 0 || uppers == letters || (uppers == 1 && first_upper);
}

static const struct word *word_find(struct vd_slice text)
{
    if (text.n > 5) /* the longest are "false" and "-.inf" */
        return NULL;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (word_matches(text, words[i].lower))
            return &words[i];
    return NULL;
}

enum fit { FIT_NONE, FIT_INT, FIT_UINT, FIT_OVERFLOW };

/* The digit's value in the base, or -1. */
static int digit_value(char c, unsigned base)
{
    int value = is_digit(c) ? c - '0' : to_lower(c) >= 'a' ? to_lower(c) - 'a' + 10 : -1;
    return value >= 0 && value < (int)base ? value : -1;
}

/* Takes a base prefix off the front. A leading zero means octal. */
static unsigned base_cut(struct vd_slice *digits)
{
    if (digits->n < 2 || digits->p[0] != '0')
        return 10;
    char letter = to_lower(digits->p[1]);
    unsigned base = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 0;
    *digits = vd_slice_from(*digits, base ? 2 : 1);
    return base ? base : 8;
}

/* An integer as Go's ParseInt and ParseUint with base 0 read it. */
static enum fit integer_parse(struct vd_slice text, struct vd_yaml_scalar *out)
{
    bool minus = text.n && text.p[0] == '-';
    bool sign = minus || (text.n && text.p[0] == '+');
    struct vd_slice digits = vd_slice_from(text, sign);
    unsigned base = base_cut(&digits);
    uint64_t value = 0;
    bool overflow = false;
    if (digits.n == 0)
        return FIT_NONE;
    for (size_t i = 0; i < digits.n; i++) {
        int digit = digit_value(digits.p[i], base);
        if (digit < 0)
            return FIT_NONE;
        overflow |= __builtin_mul_overflow(value, (uint64_t)base, &value);
        overflow |= __builtin_add_overflow(value, (uint64_t)digit, &value);
    }
    if (overflow)
        return FIT_OVERFLOW;
    if (value <= (uint64_t)INT64_MAX + minus) {
        int64_t integer = minus ? (int64_t)(0 - value) : (int64_t)value;
        *out = (struct vd_yaml_scalar){.type = VD_YAML_INT, .integer = integer};
        return FIT_INT;
    }
    if (sign)
        return FIT_OVERFLOW;
    *out = (struct vd_yaml_scalar){.type = VD_YAML_UINT, .natural = value};
    return FIT_UINT;
}

/* [-+]? ( '.' digit+ | digit+ ('.' digit*)? ) ([eE] [-+]? digit+)? */
static bool is_float(struct vd_slice text)
{
    size_t i = 0, whole = 0, part = 0, exponent = 0;
    if (i < text.n && (text.p[i] == '-' || text.p[i] == '+'))
        i++;
    for (; i < text.n && is_digit(text.p[i]); i++)
        whole++;
    if (i < text.n && text.p[i] == '.')
        for (i++; i < text.n && is_digit(text.p[i]); i++)
            part++;
    if (whole + part == 0)
        return false;
    if (i == text.n)
        return true;
    if (to_lower(text.p[i++]) != 'e')
        return false;
    if (i < text.n && (text.p[i] == '-' || text.p[i] == '+'))
        i++;
    for (; i < text.n && is_digit(text.p[i]); i++)
        exponent++;
    return exponent > 0 && i == text.n;
}

/* Every `_` of a number that starts with a dot stands between two digits. */
static bool underscores_separate(struct vd_slice text)
{
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] != '_')
            continue;
        bool before = i > 0 && is_digit(text.p[i - 1]);
        bool after = i + 1 < text.n && is_digit(text.p[i + 1]);
        if (!before || !after)
            return false;
    }
    return true;
}

/* Could be a number at all: keeps long text from being copied. */
static bool is_number_alphabet(struct vd_slice text)
{
    if (text.n == 0 || !(is_digit(text.p[0]) || strchr("+-.", text.p[0])) || text.p[0] == 0)
        return false;
    for (size_t i = 0; i < text.n; i++)
        if (digit_value(text.p[i], 16) < 0 && (!strchr("+-._xXoO", text.p[i]) || text.p[i] == 0))
            return false;
    return true;
}

/* `text` without underscores and with a NUL, into `inlined` or the heap. */
static char *number_strip(struct vd_slice text, char *inlined, size_t *n)
{
    char *plain = text.n < NUMBER_LEN_INLINE ? inlined : vd_malloc(text.n + 1);
    *n = 0;
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] != '_')
            plain[(*n)++] = text.p[i];
    plain[*n] = 0;
    return plain;
}

static bool number_parse(struct vd_slice text, struct vd_yaml_scalar *out)
{
    char inlined[NUMBER_LEN_INLINE];
    size_t n;
    bool found = false;
    if (!is_number_alphabet(text) || (text.p[0] == '.' && !underscores_separate(text)))
        return false;
    char *plain = number_strip(text, inlined, &n);
    struct vd_slice stripped = vd_slice(plain, n);
    enum fit fit = text.p[0] == '.' ? FIT_NONE : integer_parse(stripped, out);
    if (fit == FIT_INT || fit == FIT_UINT) {
        found = true;
    } else if (is_float(stripped)) {
        double real = strtod(plain, NULL);
        found = !isinf(real);
        if (found)
            *out = (struct vd_yaml_scalar){.type = VD_YAML_FLOAT, .real = real};
    }
    if (plain != inlined)
        free(plain);
    return found;
}

struct vd_yaml_scalar vd_yaml_scalar_resolve(struct vd_slice text)
{
    struct vd_yaml_scalar scalar = {.type = VD_YAML_STRING, .text = text};
    const struct word *word = word_find(text);
    if (!word) {
        (void)number_parse(text, &scalar);
        return scalar;
    }
    scalar = (struct vd_yaml_scalar){.type = word->type};
    if (word->type == VD_YAML_BOOL)
        scalar.truth = word->value != 0;
    else if (word->type == VD_YAML_FLOAT)
        scalar.real = word->value;
    return scalar;
}

/* How many digits stand at `at`, at most `max`. */
static size_t digits_at(struct vd_slice text, size_t at, size_t max)
{
    size_t n = 0;
    while (n < max && at + n < text.n && is_digit(text.p[at + n]))
        n++;
    return n;
}

/* 2001-12-14, 2001-1-2, and either followed by T, t or blanks and a time. */
static bool is_timestamp(struct vd_slice text)
{
    size_t i = 4, n;
    if (digits_at(text, 0, 5) != 4)
        return false;
    for (int field = 0; field < 2; field++, i += n) {
        if (i >= text.n || text.p[i++] != '-')
            return false;
        n = digits_at(text, i, 2);
        if (n == 0)
            return false;
    }
    if (i == text.n)
        return true;
    if (!strchr("Tt \t", text.p[i]) || text.p[i] == 0)
        return false;
    for (i++; i < text.n && (text.p[i] == ' ' || text.p[i] == '\t'); i++)
        continue;
    n = digits_at(text, i, 2);
    return n > 0 && i + n < text.n && text.p[i + n] == ':';
}

/* 190:20:30 and 190:20:30.15, which YAML 1.1 reads in base 60. */
static bool is_base60(struct vd_slice text)
{
    size_t i = text.n && (text.p[0] == '-' || text.p[0] == '+'), groups = 0;
    if (digits_at(text, i, 1) == 0)
        return false;
    while (i < text.n && (is_digit(text.p[i]) || text.p[i] == '_'))
        i++;
    while (i < text.n && text.p[i] == ':') {
        size_t n = digits_at(text, i + 1, 2);
        if (n == 0)
            return false;
        i += 1 + n;
        groups++;
    }
    if (groups && i < text.n && text.p[i] == '.')
        for (i++; i < text.n && (is_digit(text.p[i]) || text.p[i] == '_'); i++)
            continue;
    return groups && i == text.n;
}

/* A number for somebody, even if it is too large or malformed for us. */
static bool is_number_like(struct vd_slice text)
{
    char inlined[NUMBER_LEN_INLINE];
    size_t n;
    struct vd_yaml_scalar unused;
    if (!is_number_alphabet(text))
        return false;
    char *plain = number_strip(text, inlined, &n);
    struct vd_slice stripped = vd_slice(plain, n);
    struct vd_slice digits = vd_slice_from(stripped, text.p[0] == '-' || text.p[0] == '+');
    /* YAML 1.1's pattern takes 0x_ for a number. */
    bool bare = n < text.n && base_cut(&digits) != 10 && digits.n == 0;
    bool like = bare || is_float(stripped) || integer_parse(stripped, &unused) != FIT_NONE;
    if (plain != inlined)
        free(plain);
    return like;
}

bool vd_yaml_scalar_is_special(struct vd_slice text)
{
    return word_find(text) || vd_slice_is(text, "<<") || vd_slice_is(text, "=") ||
           is_number_like(text) || is_base60(text) || is_timestamp(text);
}

static int base64_value(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    return is_digit(c) ? c - '0' + 52 : c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Standard base64 with padding; blanks and line breaks do not count. */
static bool base64_decode(struct vd_slice text, struct vd_arena *arena, struct vd_slice *out)
{
    char *bytes = vd_arena_alloc(arena, text.n / 4 * 3 + 4);
    size_t n = 0, symbols = 0, padding = 0;
    uint32_t group = 0;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
            continue;
        int value = c == '=' ? 0 : base64_value(c);
        if (value < 0 || (padding && c != '='))
            return false;
        padding += c == '=';
        group = group << 6 | (uint32_t)value;
        if (++symbols % 4)
            continue;
        for (int shift = 16; shift >= 0; shift -= 8)
            bytes[n++] = (char)(group >> shift & 0xFF);
        group = 0;
    }
    if (symbols % 4 || padding > 2)
        return false;
    *out = vd_slice(bytes, n - padding);
    return true;
}

/* The bytes of !!binary as a string. Kubernetes would put U+FFFD in the place
 * of what is no text; losing a user's bytes in silence is worse than an error. */
static int binary_resolve(struct vd_slice text, struct vd_arena *arena, struct vd_yaml_scalar *out,
                          struct vd_error *error)
{
    struct vd_slice bytes;
    if (!base64_decode(text, arena, &bytes))
        return vd_error_set(error, VD_ERR_INVALID, "the value tagged !!binary is not base64");
    if (!vd_utf8_is_valid(bytes))
        return vd_error_set(error, VD_ERR_INVALID,
                            "!!binary holds bytes that are not UTF-8 text, which JSON cannot "
                            "carry; write the base64 as a string, without the tag");
    *out = (struct vd_yaml_scalar){.type = VD_YAML_STRING, .text = bytes};
    return VD_OK;
}

/* Whether what the text resolves to is what the tag's name says; a number
 * under !!float is made one. */
static bool tag_accepts(const char *name, struct vd_slice text, struct vd_yaml_scalar *scalar)
{
    enum vd_yaml_type type = scalar->type;
    if (strcmp(name, "null") == 0)
        return type == VD_YAML_NULL;
    if (strcmp(name, "bool") == 0)
        return type == VD_YAML_BOOL;
    if (strcmp(name, "int") == 0)
        return type == VD_YAML_INT || type == VD_YAML_UINT;
    if (strcmp(name, "timestamp") == 0)
        return is_timestamp(text);
    assert(strcmp(name, "float") == 0);
    if (type == VD_YAML_INT || type == VD_YAML_UINT) {
        double real = type == VD_YAML_INT ? (double)scalar->integer : (double)scalar->natural;
        *scalar = (struct vd_yaml_scalar){.type = VD_YAML_FLOAT, .real = real};
    } else if (type == VD_YAML_STRING && is_float(text)) {
        double real = text.p[0] == '-' ? (double)-INFINITY : (double)INFINITY;
        *scalar = (struct vd_yaml_scalar){.type = VD_YAML_FLOAT, .real = real};
    }
    return scalar->type == VD_YAML_FLOAT;
}

int vd_yaml_scalar_resolve_tagged(struct vd_slice tag, struct vd_slice text, struct vd_arena *arena,
                                  struct vd_yaml_scalar *out, struct vd_error *error)
{
    static const char *const names[] = {"null", "bool", "int", "float", "timestamp"};
    struct vd_slice name = vd_slice_starts_with(tag, VD_SLICE(TAG_PREFIX))
                               ? vd_slice_from(tag, sizeof TAG_PREFIX - 1)
                               : vd_slice("", 0);
    if (vd_slice_is(name, "str")) {
        *out = (struct vd_yaml_scalar){.type = VD_YAML_STRING, .text = text};
        return VD_OK;
    }
    if (vd_slice_is(name, "binary"))
        return binary_resolve(text, arena, out, error);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!vd_slice_is(name, names[i]))
            continue;
        struct vd_yaml_scalar scalar = vd_yaml_scalar_resolve(text);
        if (!tag_accepts(names[i], text, &scalar))
            return vd_error_set(error, VD_ERR_INVALID, "the value is not a !!%s", names[i]);
        *out = scalar;
        return VD_OK;
    }
    return vd_yaml_tag_unknown(error);
}

int vd_yaml_tag_unknown(struct vd_error *error)
{
    return vd_error_set(
        error, VD_ERR_INVALID,
        "the tag has no meaning in JSON; remove it, or write the value in quotes if "
        "it is a text that begins with !");
}

/*
 * A float as Go's FormatFloat(value, 'g', -1, 32) prints it: the fewest digits
 * that give the same 32-bit float, with an exponent below 1e-4 and from 1e6.
 */
static void key_add_float(struct vd_buf *out, double value)
{
    char text[32];
    int digits = 0;
    float single = (float)value;
    if (isnan(single) || isinf(single)) {
        vd_buf_add_text(out, isnan(single) ? ".nan" : single < 0 ? "-.inf" : ".inf");
        return;
    }
    do
        snprintf(text, sizeof text, "%.*e", digits, (double)single);
    while (digits++ < 9 && strtof(text, NULL) != single);
    int exponent = (int)strtol(strchr(text, 'e') + 1, NULL, 10);
    if (exponent >= -4 && exponent < 6) {
        int decimals = digits - 1 - exponent;
        snprintf(text, sizeof text, "%.*f", decimals > 0 ? decimals : 0, (double)single);
    }
    vd_buf_add_text(out, text);
}

int vd_yaml_scalar_key(const struct vd_yaml_scalar *scalar, struct vd_buf *out,
                       struct vd_error *error)
{
    switch (scalar->type) {
    case VD_YAML_NULL:
        return vd_error_set(error, VD_ERR_INVALID, "null is not a key; quote it to mean the text");
    case VD_YAML_BOOL:
        vd_buf_add_text(out, scalar->truth ? "true" : "false");
        break;
    case VD_YAML_INT:
        vd_buf_addf(out, "%" PRId64, scalar->integer);
        break;
    case VD_YAML_UINT:
        vd_buf_add_u64(out, scalar->natural);
        break;
    case VD_YAML_FLOAT:
        key_add_float(out, scalar->real);
        break;
    case VD_YAML_STRING:
        vd_buf_add_slice(out, scalar->text);
        break;
    }
    return VD_OK;
}
