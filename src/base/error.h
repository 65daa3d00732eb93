/*
 * Errors: a code for programs and one sentence for people.
 *
 * A function that can fail returns an `enum vd_code` as int (0 is success) and
 * takes a `struct vd_error *` last, which it fills when it fails. The sentence
 * names the thing, the place and the way out; the face that talks to the user
 * turns it into a Status, a GraphQL error or a line on stderr. NULL is a valid
 * error pointer: the text is then dropped.
 */
#ifndef VD_BASE_ERROR_H
#define VD_BASE_ERROR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"

/* clang-format off */
#define VD_CODES(X)                                                                        \
    X(VD_OK,            "ok")            /* it worked */                                    \
    X(VD_ERR_INVALID,   "invalid")       /* the caller's input is wrong */                  \
    X(VD_ERR_LIMIT,     "limit")         /* a bound of limits.h was passed */               \
    X(VD_ERR_NOT_FOUND, "not-found")     /* there is no such thing */                       \
    X(VD_ERR_EXISTS,    "exists")        /* must-not-exist, but it does */                  \
    X(VD_ERR_CONFLICT,  "conflict")      /* a precondition on revision or uid failed */     \
    X(VD_ERR_EXPIRED,   "expired")       /* at or below the floor of the window */          \
    X(VD_ERR_FUTURE,    "future")        /* beyond the newest revision */                   \
    X(VD_ERR_FULL,      "full")          /* no room on the disk; goes away by itself */     \
    X(VD_ERR_READ_ONLY, "read-only")     /* writing has failed and stays off */             \
    X(VD_ERR_CORRUPT,   "corrupt")       /* bytes on disk are not what was written */       \
    X(VD_ERR_FORMAT,    "format")        /* a foreign file, or a newer format */            \
    X(VD_ERR_LOCKED,    "locked")        /* another process has it */                       \
    X(VD_ERR_BEHIND,    "behind")        /* others have written meanwhile; stays in the store */ \
    X(VD_ERR_MEMORY,    "memory")        /* a library had no memory; goes away by itself */ \
    X(VD_ERR_IO,        "io")            /* the operating system refused */                 \
    X(VD_ERR_CLOSED,    "closed")        /* the thing is being shut down */                 \
    X(VD_ERR_FORBIDDEN, "forbidden")     /* the user may not */
/* clang-format on */

enum vd_code {
#define VD_CODE_ENUM(name, text) name,
    VD_CODES(VD_CODE_ENUM)
#undef VD_CODE_ENUM
        VD_CODE_COUNT
};

enum { VD_ERROR_TEXT_MAX = 512 }; /* bytes of the sentence, with its NUL */

struct vd_error {
    enum vd_code code;
    char text[VD_ERROR_TEXT_MAX];
};

/* Whether the reason of a failure goes away by itself, so that the same may be tried again. */
static inline bool vd_code_passes(int code)
{
    return code == VD_ERR_FULL || code == VD_ERR_LOCKED || code == VD_ERR_MEMORY;
}

/* The short name of a code, for logs and metrics: "not-found". */
const char *vd_code_name(int code);

/* Fills *error (NULL allowed) and returns `code`, so that one can write
 * `return vd_error_set(error, VD_ERR_LIMIT, "...")`. Long text is cut. */
int vd_error_set(struct vd_error *error, enum vd_code code, const char *format, ...)
    VD_PRINTF(3, 4);

#ifdef __clang_analyzer__
/* The analyser does not look into error.c. This tells it that the call returns its code, so that
 * it does not follow paths on which a failed call succeeds. */
#define vd_error_set(error, code, ...) (vd_error_set((error), (code), __VA_ARGS__), (int)(code))
#endif

/* Puts "context: " in front of the text, on the way up. */
void vd_error_prefix(struct vd_error *error, const char *format, ...) VD_PRINTF(2, 3);

#endif
