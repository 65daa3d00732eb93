/*
 * YAML into documents, one after the other.
 *
 *     struct vd_yaml_reader *r = vd_yaml_reader_new(text, NULL);
 *     while (!(code = vd_yaml_reader_next(r, &arena, &document, &error)) && document)
 *         use(document);
 *     vd_yaml_reader_free(r);
 *
 * What Kubernetes reads, this reads alike (yaml_scalar.h), with these choices:
 * - A document without content (`---` twice, only comments) is skipped, as
 *   kubectl does; a document that says `null` is a null.
 * - Anchors, aliases and merge keys (`<<`) are expanded: the document is a
 *   tree. A merged member stands where the `<<` stood; a member of the map
 *   itself wins over it, and an earlier merged map over a later one.
 * - The same key twice is an error that names both lines, unless an option
 *   says otherwise.
 * - Keys that are integers, booleans or floats become text; others are errors.
 * - A number that is valid JSON keeps its text (1.50 stays 1.50, and a hundred
 *   digits stay a hundred digits, up to VD_JSON_NUMBER_LEN_MAX); one in another notation becomes
 * decimal. Infinities and not-a-number are errors.
 * - Tags other than YAML's own str, int, float, bool, null, timestamp, binary,
 *   map and seq are errors.
 * - The text is UTF-8; a byte order mark is skipped, UTF-16 is refused.
 *
 * Limits: VD_JSON_LEN_MAX for the text, and for the texts and keys of a
 * document after expansion; VD_YAML_NODES_MAX for its values after expansion;
 * VD_JSON_DEPTH_MAX; VD_YAML_FLOW_WORK_MAX; VD_YAML_DIRECTIVES_MAX. Passing one is VD_ERR_LIMIT;
 * every other mistake in the text is VD_ERR_INVALID.
 *
 * An error reads "line 3, column 5: spec.replicas: ...". It quotes keys, and never a value: the
 * document may be a Secret, and an unquoted password may look like an alias or a tag. No I/O; a
 * reader belongs to one thread at a time.
 */
#ifndef VD_JSON_YAML_READ_H
#define VD_JSON_YAML_READ_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "base/error.h"
#include "base/slice.h"
#include "json/document.h"
#include "json/yaml_position.h"

struct vd_yaml_reader;

/* What to do with a key that its map already has. When it is no error, the
 * first member's place and the last one's value remain, as in json/parse.h. */
enum vd_yaml_duplicates {
    VD_YAML_DUPLICATES_REJECT, /* fail with VD_ERR_INVALID */
    VD_YAML_DUPLICATES_REPORT, /* call `on_duplicate` each time that a key comes again, for the
                                * first VD_JSON_DUPLICATES_MAX of the document; inner maps come
                                * before the map that holds them */
    VD_YAML_DUPLICATES_LAST,   /* say nothing */
};

/* A key that its map already has; borrowed for the call. */
struct vd_yaml_duplicate {
    struct vd_slice path, key;
    struct vd_yaml_position at;       /* where the key stands again */
    struct vd_yaml_position value_at; /* where its value begins */
};

struct vd_yaml_options {
    bool positions;         /* remember where each value stands */
    uint32_t lines_skipped; /* lines of the file before the text, as with front matter */
    enum vd_yaml_duplicates duplicates;

    /* For VD_YAML_DUPLICATES_REPORT. */
    void (*on_duplicate)(void *context, const struct vd_yaml_duplicate *again);
    void *context;
};

/* The text is borrowed until the reader is freed. NULL options: all zero. */
struct vd_yaml_reader *vd_yaml_reader_new(struct vd_slice text,
                                          const struct vd_yaml_options *options) VD_MUST_USE;

/* NULL is fine. Documents stay: they are in their arenas. */
void vd_yaml_reader_free(struct vd_yaml_reader *r);

/*
 * The next document, made in the arena and independent of the text; NULL when
 * there is none left. After an error the reader only repeats it: what follows
 * a mistake cannot be trusted.
 */
int vd_yaml_reader_next(struct vd_yaml_reader *r, struct vd_arena *arena, struct vd_json **document,
                        struct vd_error *error) VD_MUST_USE;

/*
 * Where a value of the newest document stands: a member where its key does, an
 * element or a root where it begins, what came through an alias where it was
 * written. False without the option, and for values made elsewhere.
 */
bool vd_yaml_reader_position(struct vd_yaml_reader *r, const struct vd_json *value,
                             struct vd_yaml_position *out) VD_MUST_USE;

/* Where reading failed; {0, 0} if it has not, or not at one place. */
struct vd_yaml_position vd_yaml_reader_failed_at(const struct vd_yaml_reader *r);

/* A text that is exactly one document; none and several are VD_ERR_INVALID. */
int vd_yaml_read(struct vd_arena *arena, struct vd_slice text, struct vd_json **document,
                 struct vd_error *error) VD_MUST_USE;

/* The same with options, NULL for none. */
int vd_yaml_read_with(struct vd_arena *arena, struct vd_slice text,
                      const struct vd_yaml_options *options, struct vd_json **document,
                      struct vd_error *error) VD_MUST_USE;

#endif
