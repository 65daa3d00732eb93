/*
 * See lex.h.
 *
 * Strings come in eight spellings: either quote, one or three of them, raw (r"") or
 * not, and all of these as bytes (b""). Escapes are those of the cel-spec; in bytes
 * \x and \ooo are bytes, in strings code points.
 */
#include "cel/lex.h"

#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"

void vd_cel_lexer_init(struct vd_cel_lexer *lexer, struct vd_arena *arena, struct vd_slice text)
{
    *lexer = (struct vd_cel_lexer){arena, text.p, text.p + text.n, 0};
}

static char peek(const struct vd_cel_lexer *l, size_t ahead)
{
    return (size_t)(l->end - l->at) > ahead ? l->at[ahead] : 0;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Goes on to `to`, counting characters. */
static void advance(struct vd_cel_lexer *l, const char *to)
{
    for (; l->at < to; l->at++)
        l->position += ((unsigned char)*l->at & 0xc0) != 0x80;
}

static void skip_blanks(struct vd_cel_lexer *l)
{
    while (l->at < l->end) {
        if (strchr(" \t\r\n\f", *l->at) && *l->at) {
            advance(l, l->at + 1);
        } else if (*l->at == '/' && peek(l, 1) == '/') {
            const char *newline = memchr(l->at, '\n', (size_t)(l->end - l->at));
            advance(l, newline ? newline : l->end);
        } else {
            return;
        }
    }
}

static uint32_t hex_value(const char *p, size_t n)
{
    uint32_t value = 0;
    for (size_t i = 0; i < n; i++) {
        char c = p[i];
        value = value * 16 + (uint32_t)(is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return value;
}

static bool all_hex(const char *p, const char *end, size_t n)
{
    if ((size_t)(end - p) < n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!is_hex(p[i]))
            return false;
    return true;
}

static bool add_rune(struct vd_buf *out, uint32_t rune)
{
    char bytes[4];
    if (rune > 0x10ffff || (rune >= 0xd800 && rune < 0xe000))
        return false;
    vd_buf_add(out, bytes, vd_utf8_put(rune, bytes));
    return true;
}

/* One escape behind the backslash at p; its length, 0 if it is none. */
static size_t unescape(struct vd_buf *out, const char *p, const char *end, bool bytes)
{
    static const char names[] = "abfnrtv\\?\"'`", means[] = "\a\b\f\n\r\t\v\\?\"'`";
    if (p == end || !*p)
        return 0;
    const char *simple = strchr(names, *p);
    if (simple) {
        vd_buf_add_char(out, means[simple - names]);
        return 1;
    }
    size_t digits = *p == 'x' || *p == 'X' ? 2 : *p == 'u' ? 4 : *p == 'U' ? 8 : 0;
    uint32_t value;
    size_t used;
    if (digits) {
        if (!all_hex(p + 1, end, digits) || (bytes && digits > 2))
            return 0;
        value = hex_value(p + 1, digits);
        used = digits + 1;
    } else {
        if (end - p < 3 || p[0] < '0' || p[0] > '3' || p[1] < '0' || p[1] > '7' || p[2] < '0' ||
            p[2] > '7')
            return 0;
        value = (uint32_t)((p[0] - '0') * 64 + (p[1] - '0') * 8 + (p[2] - '0'));
        used = 3;
    }
    if (bytes) {
        vd_buf_add_char(out, (char)(unsigned char)value);
        return used;
    }
    return add_rune(out, value) ? used : 0;
}

static void decode(struct vd_cel_lexer *l, struct vd_cel_token *token, const char *p,
                   const char *end, bool raw)
{
    struct vd_buf out = {0};
    bool bytes = token->kind == VD_CEL_TOKEN_BYTES;
    if (raw || !memchr(p, '\\', (size_t)(end - p))) {
        token->value = vd_arena_copy(l->arena, vd_slice(p, (size_t)(end - p)));
        return;
    }
    while (p < end) {
        if (*p != '\\') {
            vd_buf_add_char(&out, *p++);
            continue;
        }
        size_t used = unescape(&out, p + 1, end, bytes);
        if (used == 0) {
            token->why = "unable to unescape string";
            break;
        }
        p += used + 1;
    }
    token->value = vd_arena_copy(l->arena, vd_buf_slice(&out));
    vd_buf_release(&out);
}

/* The string whose quote is at p; false if it does not end. */
static bool lex_string(struct vd_cel_lexer *l, struct vd_cel_token *token, const char *p, bool raw)
{
    const char *start = l->at;
    char quote = *p;
    bool triple = l->end - p >= 3 && p[1] == quote && p[2] == quote;
    size_t quotes = triple ? 3 : 1;
    const char *body = p + quotes;
    for (p = body; p < l->end; p++) {
        if (!triple && (*p == '\n' || *p == '\r'))
            return false;
        if (*p == '\\' && !raw) {
            p++;
            continue;
        }
        if (*p != quote || (triple && (l->end - p < 3 || p[1] != quote || p[2] != quote)))
            continue;
        decode(l, token, body, p, raw);
        advance(l, p + quotes);
        token->text = vd_slice(start, (size_t)(l->at - start));
        return true;
    }
    return false;
}

static void lex_number(struct vd_cel_lexer *l, struct vd_cel_token *token)
{
    const char *start = l->at, *p = l->at;
    token->kind = VD_CEL_TOKEN_INT;
    if (p[0] == '0' && l->end - p > 2 && p[1] == 'x' && is_hex(p[2])) {
        for (p += 2; p < l->end && is_hex(*p);)
            p++;
    } else {
        while (p < l->end && is_digit(*p))
            p++;
        if (l->end - p > 1 && *p == '.' && is_digit(p[1])) {
            token->kind = VD_CEL_TOKEN_DOUBLE;
            for (p++; p < l->end && is_digit(*p);)
                p++;
        }
        const char *e = p;
        if (e < l->end && (*e == 'e' || *e == 'E')) {
            e++;
            if (e < l->end && (*e == '+' || *e == '-'))
                e++;
            if (e < l->end && is_digit(*e)) {
                token->kind = VD_CEL_TOKEN_DOUBLE;
                for (p = e; p < l->end && is_digit(*p);)
                    p++;
            }
        }
    }
    token->text = vd_slice(start, (size_t)(p - start));
    if (token->kind == VD_CEL_TOKEN_INT && p < l->end && (*p == 'u' || *p == 'U')) {
        token->kind = VD_CEL_TOKEN_UINT;
        p++;
    }
    advance(l, p);
}

/* A string with its prefix letters, if there is one here. */
static bool try_string(struct vd_cel_lexer *l, struct vd_cel_token *token)
{
    bool raw = false, bytes = false;
    size_t n = 0;
    for (; n < 2 && peek(l, n); n++) {
        char c = peek(l, n);
        if ((c == 'r' || c == 'R') && !raw)
            raw = true;
        else if ((c == 'b' || c == 'B') && !bytes && !raw)
            bytes = true;
        else
            break;
    }
    if (peek(l, n) != '"' && peek(l, n) != '\'')
        return false;
    token->kind = bytes ? VD_CEL_TOKEN_BYTES : VD_CEL_TOKEN_STRING;
    if (!lex_string(l, token, l->at + n, raw)) {
        token->kind = VD_CEL_TOKEN_BAD;
        token->text = vd_slice(l->at, (size_t)(l->end - l->at));
        const char *newline = memchr(l->at, '\n', token->text.n);
        advance(l, newline ? newline : l->end);
    }
    return true;
}

static void lex_ident(struct vd_cel_lexer *l, struct vd_cel_token *token)
{
    const char *start = l->at, *p = l->at;
    while (p < l->end && (is_letter(*p) || is_digit(*p)))
        p++;
    token->kind = VD_CEL_TOKEN_IDENT;
    token->text = vd_slice(start, (size_t)(p - start));
    if (vd_slice_is(token->text, "in"))
        token->kind = VD_CEL_TOKEN_PUNCTUATION;
    advance(l, p);
}

static void lex_punctuation(struct vd_cel_lexer *l, struct vd_cel_token *token)
{
    static const char *const pairs[] = {"&&", "||", "==", "!=", "<=", ">="};
    size_t n = 1;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (peek(l, 0) == pairs[i][0] && peek(l, 1) == pairs[i][1])
            n = 2;
    bool known = n == 2 || (*l->at && strchr("[]{}().,-+*/%?:!<>", *l->at));
    if (!known)
        n = vd_utf8_len(l->at, l->end) ? vd_utf8_len(l->at, l->end) : 1;
    token->kind = known ? VD_CEL_TOKEN_PUNCTUATION : VD_CEL_TOKEN_BAD;
    token->text = vd_slice(l->at, n);
    advance(l, l->at + n);
}

struct vd_cel_token vd_cel_lex(struct vd_cel_lexer *l)
{
    skip_blanks(l);
    struct vd_cel_token token = {.kind = VD_CEL_TOKEN_END, .at = l->position};
    if (l->at == l->end) {
        token.text = VD_SLICE("<EOF>");
        return token;
    }
    char c = *l->at;
    if (is_digit(c) || (c == '.' && is_digit(peek(l, 1))))
        lex_number(l, &token);
    else if (try_string(l, &token))
        return token;
    else if (is_letter(c))
        lex_ident(l, &token);
    else
        lex_punctuation(l, &token);
    return token;
}
