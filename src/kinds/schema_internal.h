/*
 * The compiled form of a schema: what schema_*.c share.
 *
 * A node is small and its rare parts are behind pointers, since a server may
 * hold a thousand CRDs of a hundred nodes each. All nodes of a schema live in
 * its arena and never change after compiling.
 */
#ifndef VD_KINDS_SCHEMA_INTERNAL_H
#define VD_KINDS_SCHEMA_INTERNAL_H

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "base/pattern.h"
#include "base/refcount.h"
#include "base/vec.h"
#include "kinds/format.h"
#include "kinds/schema.h"

/* The types that a node accepts; none set: any. */
enum vd_schema_type {
    VD_TYPE_STRING = 1,
    VD_TYPE_INTEGER = 2,
    VD_TYPE_NUMBER = 4,
    VD_TYPE_BOOLEAN = 8,
    VD_TYPE_ARRAY = 16,
    VD_TYPE_OBJECT = 32,
};

enum vd_schema_flag {
    VD_SCHEMA_NULLABLE = 1,
    VD_SCHEMA_PRESERVE = 2,         /* x-kubernetes-preserve-unknown-fields */
    VD_SCHEMA_RESOURCE = 4,         /* the root of a kind, or an embedded resource */
    VD_SCHEMA_EMBEDDED = 8,         /* x-kubernetes-embedded-resource */
    VD_SCHEMA_CLOSED = 16,          /* additionalProperties: false */
    VD_SCHEMA_ANY_ADDITIONAL = 32,  /* additionalProperties: true */
    VD_SCHEMA_UNIQUE = 64,          /* uniqueItems */
    VD_SCHEMA_DEFAULTS_BELOW = 128, /* this node or one below it has a default */
    VD_SCHEMA_INT_OR_STRING = 256,
    VD_SCHEMA_ANYTHING = 512,     /* nothing to validate here or below */
    VD_SCHEMA_RULES_BELOW = 1024, /* this node or one below it has rules */
    VD_SCHEMA_ATOMIC_MAP = 2048,  /* x-kubernetes-map-type: atomic */
};

enum vd_list_type { VD_LIST_ATOMIC, VD_LIST_SET, VD_LIST_MAP };

/* The first and last bytes of a name, which are all of it up to 16 bytes, so that
 * comparing two names takes no loop and no call. */
struct vd_name_words {
    uint64_t head, tail;
};

struct vd_schema_property {
    struct vd_slice name;
    struct vd_name_words words;
    const struct vd_schema_node *node; /* NULL: required, but not described */
    bool required;
};

/* Bounds that are absent have their bit clear. */
enum vd_bound {
    VD_BOUND_MINIMUM = 1,
    VD_BOUND_MAXIMUM = 2,
    VD_BOUND_MULTIPLE_OF = 4,
    VD_BOUND_MIN_LENGTH = 8,
    VD_BOUND_MAX_LENGTH = 16,
    VD_BOUND_MIN_ITEMS = 32,
    VD_BOUND_MAX_ITEMS = 64,
    VD_BOUND_MIN_PROPERTIES = 128,
    VD_BOUND_MAX_PROPERTIES = 256,
};

/* A pattern; those of a schema that are alike are one. */
struct vd_schema_pattern {
    struct vd_slice text;
    _Atomic(struct vd_pattern *) compiled; /* NULL: not yet. Owned */
};

struct vd_schema_bounds {
    uint32_t set; /* enum vd_bound */
    bool exclusive_minimum, exclusive_maximum;
    double minimum, maximum, multiple_of;
    uint64_t min_length, max_length, min_items, max_items, min_properties, max_properties;
    struct vd_schema_pattern *pattern; /* NULL: none */
    const struct vd_json *values;      /* enum: an array, or NULL */
};

struct vd_schema_list {
    const struct vd_schema_node **p;
    size_t n;
};

struct vd_schema_compound {
    struct vd_schema_list all_of, any_of, one_of;
    const struct vd_schema_node * not ;
};

struct vd_schema_node {
    uint8_t types;      /* enum vd_schema_type */
    uint8_t format;     /* enum vd_format */
    uint8_t list_type;  /* enum vd_list_type: what is validated */
    uint8_t merge_type; /* enum vd_list_type: how server-side apply merges it */
    uint16_t flags;     /* enum vd_schema_flag */
    uint32_t property_count, required_count;
    uint32_t slot_mask; /* of `slots`: their number minus one */
    struct vd_schema_property *properties;
    uint16_t *slots; /* open addressing: index into properties plus one, 0 free */
    const struct vd_schema_node *additional;
    const struct vd_schema_node *items;
    const struct vd_schema_bounds *bounds;
    const struct vd_schema_compound *compound;
    const struct vd_json *map_keys; /* of a VD_LIST_MAP, validated or merged */
    const struct vd_json *fallback; /* the default, or NULL */
    uint64_t fallback_len; /* bytes of the default, with what the defaults below it add to it */
    uint64_t growth;       /* bytes that defaults add to an empty object here */
    uint16_t *defaulted;   /* the properties that have a default, by their index */
    uint32_t defaulted_count;
    const struct vd_json *source;
    const struct vd_schema_node *metadata; /* root of the ObjectMeta schema, or NULL */
    uint32_t rules; /* x-kubernetes-validations: their place in the book plus one, 0 none */
};

/* A node that has rules. */
struct vd_schema_ruled {
    const struct vd_json *source;
    bool resource;
};

/* The rules of a schema, compiled. */
struct vd_rule_book;

struct vd_schema {
    struct vd_refcount refs;
    struct vd_arena arena;
    struct vd_schema *metadata; /* a reference, or NULL */
    const struct vd_schema_node *root;
    VD_VEC(struct vd_schema_pattern *) patterns;
    VD_VEC(struct vd_schema_ruled) ruled;
    _Atomic(struct vd_rule_book *) *book; /* NULL in it: not compiled yet. Owned */
};

/* The pattern, ready for use. NULL: the effort does not allow it, or it is no pattern. */
const struct vd_pattern *vd_schema_pattern_get(struct vd_schema_pattern *pattern,
                                               struct vd_effort *effort);

/* The property of this name, or NULL. */
const struct vd_schema_property *vd_schema_find(const struct vd_schema_node *node,
                                                struct vd_slice name);

static inline struct vd_name_words vd_name_words(struct vd_slice name)
{
    struct vd_name_words words = {0, 0};
    uint32_t head = 0, tail = 0;
    if (name.n >= 8) {
        memcpy(&words.head, name.p, 8);
        memcpy(&words.tail, name.p + name.n - 8, 8);
    } else if (name.n >= 4) {
        memcpy(&head, name.p, 4);
        memcpy(&tail, name.p + name.n - 4, 4);
        words = (struct vd_name_words){head, tail};
    } else if (name.n > 0) { /* up to three bytes, however they fall */
        words.head = (unsigned char)name.p[0];
        words.tail = (uint64_t)(unsigned char)name.p[name.n / 2] << 8 |
                     (unsigned char)name.p[name.n - 1];
    }
    return words;
}

/* Where the search for a name starts in the slots. */
static inline uint32_t vd_name_words_hash(struct vd_name_words words, size_t n)
{
    uint64_t h = (words.head ^ (words.tail << 1 | words.tail >> 63)) + n;
    h *= 0x9e3779b97f4a7c15u;
    return (uint32_t)(h >> 40);
}

/* schema_default.c: fills in what a node whose children are complete knows of defaults. */
void vd_schema_note_defaults(struct vd_arena *arena, struct vd_schema_node *node);

/* schema_list.c: adds what breaks x-kubernetes-list-type of an array, or says
 * only whether something does when `out` is NULL. */
bool vd_schema_check_list(const struct vd_schema_node *node, const struct vd_json *array,
                          const struct vd_field_path *path, struct vd_violations *out);

/* Whether a list somewhere in the value breaks its x-kubernetes-list-type. */
bool vd_schema_has_bad_lists(const struct vd_schema_node *node, const struct vd_json *value);

/* Whether two values are the same; the order of a list of type map does not matter. */
bool vd_schema_same(const struct vd_schema_node *node, const struct vd_json *value,
                    const struct vd_json *old);

/* For each element of an array of type map, the element of `old` with the same keys or
 * NULL; to be freed. Takes n log n steps. */
const struct vd_json **vd_schema_correlate(const struct vd_schema_node *node,
                                           const struct vd_json *array, const struct vd_json *old);

/* Are two elements of the array equal? Takes n log n steps. */
bool vd_schema_has_twins(const struct vd_json *array);

#endif
