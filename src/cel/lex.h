/* Tokens of CEL. Internal to parse.c. */
#ifndef VD_CEL_LEX_H
#define VD_CEL_LEX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/slice.h"

enum vd_cel_token_kind {
    VD_CEL_TOKEN_END,
    VD_CEL_TOKEN_BAD, /* `text` holds characters that are no token */
    VD_CEL_TOKEN_IDENT,
    VD_CEL_TOKEN_INT,
    VD_CEL_TOKEN_UINT,
    VD_CEL_TOKEN_DOUBLE,
    VD_CEL_TOKEN_STRING, /* decoded in `value` */
    VD_CEL_TOKEN_BYTES,
    VD_CEL_TOKEN_PUNCTUATION, /* one or two characters, or the word "in" */
};

struct vd_cel_token {
    enum vd_cel_token_kind kind;
    struct vd_slice text;
    struct vd_slice value;
    const char *why; /* of a string whose escapes are wrong; else NULL */
    uint32_t at;     /* characters before it */
};

struct vd_cel_lexer {
    struct vd_arena *arena;
    const char *at, *end;
    uint32_t position; /* characters before `at` */
};

void vd_cel_lexer_init(struct vd_cel_lexer *lexer, struct vd_arena *arena, struct vd_slice text);

/* The next token. After the last one, every call gives VD_CEL_TOKEN_END. */
struct vd_cel_token vd_cel_lex(struct vd_cel_lexer *lexer);

#endif
