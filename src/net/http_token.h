/*
 * Tokens, the words of HTTP: method and header names, codings, media types.
 *
 * RFC 9110 section 5.6.2: letters, digits and !#$%&'*+-.^_`|~. Names made of
 * them are compared without regard to case, in ASCII whatever the locale.
 */
#ifndef VD_NET_HTTP_TOKEN_H
#define VD_NET_HTTP_TOKEN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/slice.h"

/* True at the characters of a token. */
extern const bool vd_http_token_chars[256];

static inline bool vd_http_token_has(char c)
{
    return vd_http_token_chars[(unsigned char)c];
}

static inline char vd_http_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* Whether the text is a token: one character or more, and all of them fit. */
bool vd_http_token_is(struct vd_slice text);

/* Equal but for the case of ASCII letters. */
bool vd_http_token_eq(struct vd_slice a, struct vd_slice b);

/* Without spaces and tabs at both ends: HTTP's optional white space. */
struct vd_slice vd_http_trim(struct vd_slice text);

/* Cuts the next element off a comma-separated list and trims it; empty ones are
 * passed over. False when none is left. Not for lists with quoted strings. */
bool vd_http_list_next(struct vd_slice *rest, struct vd_slice *element);

#endif
