/*
 * A JSON document in memory: values that keep their order and their text.
 *
 *     struct vd_json *pod = vd_json_object(&arena);
 *     vd_json_add(&arena, pod, VD_SLICE("kind"), vd_json_string(&arena, name));
 *     VD_JSON_EACH (item, vd_json_dig(pod, "spec", "containers", NULL))
 *         use(vd_json_text(vd_json_get(item, VD_SLICE("image"))));
 *
 * Invariants
 * - Every value lives in an arena and goes with it; nothing is freed alone.
 * - A value is in at most one container at a time (adding it to a second one
 *   is a bug and asserts). A value that was removed may be added again.
 * - The address of a value is stable: adding or removing neighbours moves
 *   nothing.
 * - Object members keep the order in which they were added, and keys are
 *   unique, unless a caller of vd_json_add gave it a key that was there.
 * - Texts and keys are valid UTF-8 (they may hold NULs), decoded, immutable,
 *   and borrowed: from the arena, or from what the maker promised to keep.
 * - A number keeps the text it was written with, which is valid JSON.
 * - No document nests deeper than VD_JSON_DEPTH_MAX. The parser and the
 *   patches enforce it; any other builder has to. (A scalar nests 0 deep, an
 *   empty array 1.) Walks over a document may therefore recurse.
 *
 * Reading changes nothing, so threads may share a document that nobody
 * changes. Reading functions accept NULL where they take a value and then
 * find nothing, so that look-ups can be chained.
 */
#ifndef VD_JSON_DOCUMENT_H
#define VD_JSON_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "base/slice.h"

enum vd_json_type {
    VD_JSON_NULL,
    VD_JSON_BOOL,
    VD_JSON_NUMBER,
    VD_JSON_STRING,
    VD_JSON_ARRAY,
    VD_JSON_OBJECT,
};

/* What the maker of a value knows about it; for the files of src/json. */
enum vd_json_flags {
    VD_JSON_LINKED = 1,     /* is in a container */
    VD_JSON_PLAIN_TEXT = 2, /* the text is ASCII that needs no escapes */
    VD_JSON_PLAIN_KEY = 4,  /* the key is ASCII that needs no escapes */
    VD_JSON_DROP = 8,       /* about to be unlinked by the function that set it */
    VD_JSON_REPEAT = 16,    /* the second member of its key, while the parser sorts that out */
};

/* The fields are for the files of src/json; others use the functions below. */
struct vd_json {
    uint8_t type;  /* enum vd_json_type */
    uint8_t flags; /* enum vd_json_flags */
    bool truth;    /* of a VD_JSON_BOOL */
    uint8_t spare;
    uint32_t key_n; /* the key, while this is an object's member */
    const char *key_p;
    struct vd_json *next; /* sibling */
    union {
        const char *text_p;    /* string (decoded), number (as written) */
        struct vd_json *first; /* array, object */
    };
    struct vd_json *last; /* array, object; NULL when empty */
    size_t n;             /* bytes of the text, or number of children */
};

/* --- reading --- */

static inline bool vd_json_is(const struct vd_json *v, enum vd_json_type type)
{
    return v && v->type == type;
}

/* "null", "boolean", "number", "string", "array" or "object", for messages. */
const char *vd_json_type_name(const struct vd_json *v);

/* The key under which the value is a member of an object; else empty. */
static inline struct vd_slice vd_json_key(const struct vd_json *v)
{
    return vd_slice(v->key_p, v->key_n);
}

/* The number of elements or members; 0 for anything else. */
static inline size_t vd_json_count(const struct vd_json *v)
{
    return v && v->type >= VD_JSON_ARRAY ? v->n : 0;
}

/* The first element or member, or NULL. */
static inline struct vd_json *vd_json_first(const struct vd_json *v)
{
    return v && v->type >= VD_JSON_ARRAY ? v->first : NULL;
}

/* The sibling behind `v`, or NULL. */
static inline struct vd_json *vd_json_next(const struct vd_json *v)
{
    return v->next;
}

/* For each element or member, in order; none if `container` is no container.
 * The loop's value must not be removed inside the body: see
 * vd_json_remove_after. */
#define VD_JSON_EACH(item, container)                                                              \
    for (struct vd_json *item = vd_json_first(container); item; item = vd_json_next(item))

/* The member named `key`, or NULL; NULL too if `v` is no object. Linear. */
struct vd_json *vd_json_get(const struct vd_json *v, struct vd_slice key);

/* vd_json_get from key to key: vd_json_dig(pod, "metadata", "name", NULL). */
struct vd_json *vd_json_dig(const struct vd_json *v, const char *key, ...)
    __attribute__((sentinel));

/* The element at `index`, or NULL; NULL too if `v` is no array. Linear. */
struct vd_json *vd_json_at(const struct vd_json *v, size_t index);

/* The bytes of a string. For anything else p is NULL and n is 0. */
static inline struct vd_slice vd_json_text(const struct vd_json *v)
{
    return vd_json_is(v, VD_JSON_STRING) ? vd_slice(v->text_p, v->n) : vd_slice(NULL, 0);
}

/* True for the boolean true only. */
static inline bool vd_json_truth(const struct vd_json *v)
{
    return vd_json_is(v, VD_JSON_BOOL) && v->truth;
}

/* The text of a number, as it was written. For anything else p is NULL. */
static inline struct vd_slice vd_json_number_text(const struct vd_json *v)
{
    return vd_json_is(v, VD_JSON_NUMBER) ? vd_slice(v->text_p, v->n) : vd_slice(NULL, 0);
}

/*
 * The value of a number, if it is exactly one of the type: 1.0 and 10e-1 are
 * the int64 1, 1.5 is none. False for other types. number.h has more.
 */
bool vd_json_to_i64(const struct vd_json *v, int64_t *out) VD_MUST_USE;
bool vd_json_to_u64(const struct vd_json *v, uint64_t *out) VD_MUST_USE;

/* The nearest double; false if `v` is no number or beyond a double's range. */
bool vd_json_to_double(const struct vd_json *v, double *out) VD_MUST_USE;

/* How deep the value nests; stops counting past VD_JSON_DEPTH_MAX. */
size_t vd_json_depth(const struct vd_json *v);

/* --- building: new values, in no container yet --- */

struct vd_json *vd_json_null(struct vd_arena *a);
struct vd_json *vd_json_bool(struct vd_arena *a, bool truth);
struct vd_json *vd_json_i64(struct vd_arena *a, int64_t value);
struct vd_json *vd_json_u64(struct vd_arena *a, uint64_t value);

/* The shortest text that reads back as `value`, which must be finite. */
struct vd_json *vd_json_double(struct vd_arena *a, double value);

/* A number by its text, which must be valid (vd_number_is_valid) and is copied. */
struct vd_json *vd_json_number(struct vd_arena *a, struct vd_slice text);

/* A string; the text, which must be valid UTF-8, is copied. */
struct vd_json *vd_json_string(struct vd_arena *a, struct vd_slice text);

/* The same, but the text is borrowed for as long as the value is used. */
struct vd_json *vd_json_string_ref(struct vd_arena *a, struct vd_slice text);

/* A value by its JSON, which is borrowed and not looked into: for a document that is
 * about to be written. Readers take it for a number. */
struct vd_json *vd_json_raw(struct vd_arena *a, struct vd_slice json);

struct vd_json *vd_json_array(struct vd_arena *a);
struct vd_json *vd_json_object(struct vd_arena *a);

/* A copy of the value and all below it, keys and texts too. It has no key. */
struct vd_json *vd_json_copy(struct vd_arena *a, const struct vd_json *v);

/* The same, but keys and texts are shared with the original. */
struct vd_json *vd_json_clone(struct vd_arena *a, const struct vd_json *v);

/* --- changing objects --- */

/* Puts `value` under `key` (copied): in the place of the member that has this
 * key, which is given back, or at the end (NULL is given back). Linear. */
struct vd_json *vd_json_set(struct vd_arena *a, struct vd_json *object, struct vd_slice key,
                            struct vd_json *value);

/* Appends a member whose key the object does not have; constant time. The key
 * is copied. */
void vd_json_add(struct vd_arena *a, struct vd_json *object, struct vd_slice key,
                 struct vd_json *value);

/* vd_json_add with a key that is borrowed, as literals can be. */
void vd_json_add_ref(struct vd_json *object, struct vd_slice key, struct vd_json *value);

/* Takes the member out and gives it; NULL if there is none. Linear. */
struct vd_json *vd_json_remove(struct vd_json *object, struct vd_slice key);

/* --- changing arrays --- */

/* Appends; constant time. */
void vd_json_append(struct vd_json *array, struct vd_json *value);

/* Puts `value` before the element at `index` <= count. Linear. */
void vd_json_insert(struct vd_json *array, size_t index, struct vd_json *value);

/* Takes the element out and gives it; NULL if there is none. Linear. */
struct vd_json *vd_json_remove_at(struct vd_json *array, size_t index);

/* --- changing either --- */

/* Takes out the child behind `before` (NULL: the first one) and gives it, or
 * NULL if there is none. Constant time: for loops that prune. */
struct vd_json *vd_json_remove_after(struct vd_json *container, struct vd_json *before);

/* `v` becomes what `value` is, in the place and under the key it has. `value`,
 * which must be in no container, becomes null: its children have moved. */
void vd_json_assign(struct vd_json *v, struct vd_json *value);

/* A null becomes the empty string, in the place and under the key it has. */
void vd_json_make_text(struct vd_json *null);

#endif
