/*
 * The strict JSON parser (RFC 8259).
 *
 *     struct vd_json *doc;
 *     int code = vd_json_parse(&arena, bytes, NULL, &doc, &error);
 *
 * Refused, beyond what the grammar refuses: a byte order mark, bytes that are
 * not UTF-8, more nesting or bytes than the limits allow, and numbers of more
 * than VD_JSON_NUMBER_LEN_MAX digits (shorter ones are kept as text, whatever
 * their value). As in Go (and so in Kubernetes) a \u escape of half a surrogate
 * pair is read as U+FFFD, and of members with the same key the last one counts,
 * unless the options say otherwise.
 */
#ifndef VD_JSON_PARSE_H
#define VD_JSON_PARSE_H

#include <stddef.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "base/error.h"
#include "base/slice.h"
#include "json/document.h"

/* What to do with a key that its object already has. In the document the first
 * member's place and the last one's value remain. */
enum vd_json_duplicates {
    VD_JSON_DUPLICATES_LAST,   /* say nothing */
    VD_JSON_DUPLICATES_REPORT, /* call `on_duplicate` once for each such key, for the
                                * first VD_JSON_DUPLICATES_MAX of the document */
    VD_JSON_DUPLICATES_REJECT, /* fail with VD_ERR_INVALID */
};

enum { VD_JSON_PATH_MAX = 256 }; /* bytes of a path in an error, with its NUL */

/*
 * Where something is. `path` is written as Kubernetes writes it,
 * "spec.containers[0].name"; the document itself is "". Keys stand in it as
 * they are, so it is for people. A long path loses its beginning ("...").
 */
struct vd_json_where {
    size_t offset; /* bytes before the place */
    size_t line;   /* from 1 */
    size_t column; /* in characters, from 1 */
    char path[VD_JSON_PATH_MAX];
};

struct vd_json_options {
    size_t depth_max; /* 0: VD_JSON_DEPTH_MAX, which is also the most */
    size_t len_max;   /* 0: VD_JSON_LEN_MAX, which is also the most */
    enum vd_json_duplicates duplicates;

    /* For VD_JSON_DUPLICATES_REPORT: `path` is the key's, borrowed for the
     * call. Inner objects come before the object that holds them. */
    void (*on_duplicate)(void *context, struct vd_slice path);
    void *context;

    /* If not NULL, says on failure where it was. */
    struct vd_json_where *where;
};

/*
 * Parses the whole of `text`. Values live in the arena; strings without
 * escapes and numbers are borrowed from `text`, which has to stay as it is for
 * as long as the document is used. Options may be NULL.
 *
 * VD_ERR_INVALID: not JSON (or a duplicate key, if asked). VD_ERR_LIMIT: too
 * deep or too long, or a number is. The sentence has line, column and path. After a failure
 * the arena holds some memory that nobody can use, until it is reset.
 */
int vd_json_parse(struct vd_arena *a, struct vd_slice text, const struct vd_json_options *options,
                  struct vd_json **out, struct vd_error *error) VD_MUST_USE;

/* The same on a copy of `text` that the arena owns. */
int vd_json_parse_copy(struct vd_arena *a, struct vd_slice text,
                       const struct vd_json_options *options, struct vd_json **out,
                       struct vd_error *error) VD_MUST_USE;

#endif
