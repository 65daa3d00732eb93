/*
 * The values of CEL, as evaluation sees them.
 *
 * A value is small and passed by copy; what is larger lies in the run's arena or in
 * the JSON document that is looked at. JSON is never converted as a whole: a member
 * becomes a value when an expression reaches it, by the type that its schema
 * declares.
 *
 * An error is a value too (VD_CEL_ERROR), because && and || may pass it over.
 */
#ifndef VD_CEL_VALUE_H
#define VD_CEL_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"
#include "cel/type.h"
#include "json/document.h"

struct vd_cel_run;

/* How a list or a map is held. */
enum vd_cel_form {
    VD_CEL_ARRAY,  /* values of the arena */
    VD_CEL_JSON,   /* a JSON array or object */
    VD_CEL_CONCAT, /* one list behind another; lists only */
};

struct vd_cel_time {
    int64_t seconds; /* since 1970 */
    int32_t nanos;   /* 0 to 999,999,999 */
};

struct vd_cel_value {
    uint8_t kind;                   /* enum vd_cel_kind */
    uint8_t form;                   /* enum vd_cel_form, of a list or a map */
    const struct vd_cel_type *decl; /* what a schema says of the list, map or object, or NULL */
    union {
        bool truth;
        int64_t i; /* int; nanoseconds of a duration */
        uint64_t u;
        double d;
        struct vd_slice s;       /* string, bytes; the message of an error */
        struct vd_cel_time time; /* timestamp */
        const struct vd_cel_type *type;
        const struct vd_json *json;         /* VD_CEL_JSON; objects */
        const struct vd_cel_list *list;     /* VD_CEL_ARRAY */
        const struct vd_cel_concat *concat; /* VD_CEL_CONCAT */
        const struct vd_cel_map *map;       /* VD_CEL_ARRAY */
        const struct vd_cel_value *some;    /* of an optional; NULL: none */
        const struct vd_cel_url *url;
        const struct vd_cel_address *address; /* IP, CIDR */
        const struct vd_cel_quantity *quantity;
        const char *format; /* the name of a named format, a literal */
    };
};

struct vd_cel_list {
    size_t n;
    struct vd_cel_value *p;
};

struct vd_cel_concat {
    struct vd_cel_value left, right;
    size_t n;
};

struct vd_cel_map {
    size_t n;
    struct vd_cel_value *keys;
    struct vd_cel_value *values;
};

static inline struct vd_cel_value vd_cel_bool(bool truth)
{
    return (struct vd_cel_value){.kind = VD_CEL_BOOL, .truth = truth};
}

static inline struct vd_cel_value vd_cel_int(int64_t i)
{
    return (struct vd_cel_value){.kind = VD_CEL_INT, .i = i};
}

static inline struct vd_cel_value vd_cel_uint(uint64_t u)
{
    return (struct vd_cel_value){.kind = VD_CEL_UINT, .u = u};
}

static inline struct vd_cel_value vd_cel_double(double d)
{
    return (struct vd_cel_value){.kind = VD_CEL_DOUBLE, .d = d};
}

static inline struct vd_cel_value vd_cel_string(struct vd_slice s)
{
    return (struct vd_cel_value){.kind = VD_CEL_STRING, .s = s};
}

static inline struct vd_cel_value vd_cel_bytes(struct vd_slice s)
{
    return (struct vd_cel_value){.kind = VD_CEL_BYTES, .s = s};
}

static inline struct vd_cel_value vd_cel_duration(int64_t nanoseconds)
{
    return (struct vd_cel_value){.kind = VD_CEL_DURATION, .i = nanoseconds};
}

/* "1h2m3.5s", as Go reads it, in nanoseconds; false: no duration, or out of range. */
bool vd_cel_duration_parse(struct vd_slice text, int64_t *out);

static inline struct vd_cel_value vd_cel_timestamp(struct vd_cel_time time)
{
    return (struct vd_cel_value){.kind = VD_CEL_TIMESTAMP, .time = time};
}

static inline struct vd_cel_value vd_cel_null(void)
{
    return (struct vd_cel_value){.kind = VD_CEL_NULL};
}

static inline bool vd_cel_is(const struct vd_cel_value *v, enum vd_cel_kind kind)
{
    return v->kind == kind;
}

/* Memory of the run's arena, counted; NULL when the run has had its share, and it is
 * then cancelled. */
void *vd_cel_alloc(struct vd_cel_run *run, size_t size);

/* An error with this message; the run's to keep. */
struct vd_cel_value vd_cel_error(struct vd_cel_run *run, const char *format, ...) VD_PRINTF(2, 3);

/* "no such overload": the arguments do not fit the function. */
struct vd_cel_value vd_cel_no_overload(void);

/* A list of n values that the arena holds. */
struct vd_cel_value vd_cel_list(struct vd_cel_run *run, struct vd_cel_value *p, size_t n);

struct vd_cel_value vd_cel_some(struct vd_cel_run *run, struct vd_cel_value value);
struct vd_cel_value vd_cel_none(void);

/* The JSON as a value of the declared type; NULL type: by what the JSON is. */
struct vd_cel_value vd_cel_of_json(struct vd_cel_run *run, const struct vd_json *json,
                                   const struct vd_cel_type *type);

/* Items, entries, characters, bytes: what size() says; 1 for anything else. */
uint64_t vd_cel_size(const struct vd_cel_value *v);

/* Is a value of the kind that size() takes? */
bool vd_cel_is_sized(const struct vd_cel_value *v);

/* The item at `index` < size of a list. */
struct vd_cel_value vd_cel_list_at(struct vd_cel_run *run, const struct vd_cel_value *list,
                                   uint64_t index);

/* The entry of a map or the member of an object; false: there is none. */
bool vd_cel_lookup(struct vd_cel_run *run, const struct vd_cel_value *map,
                   const struct vd_cel_value *key, struct vd_cel_value *out);

/* The member of a JSON object as a value of this type; false: there is none. */
bool vd_cel_member(struct vd_cel_run *run, const struct vd_json *object, struct vd_slice key,
                   const struct vd_cel_type *type, struct vd_cel_value *out);

/* All items of a list as an array of the arena. False: the run was cancelled. */
bool vd_cel_flatten(struct vd_cel_run *run, const struct vd_cel_value *list,
                    struct vd_cel_list *out);

/* One step through a list's items, a map's keys or an object's members. */
struct vd_cel_iterator {
    const struct vd_cel_value *range;
    const struct vd_json *at;
    struct vd_cel_list flat;
    size_t next;
};
bool vd_cel_iterate(struct vd_cel_run *run, struct vd_cel_iterator *it,
                    const struct vd_cel_value *range);
/* `value` may be NULL: the entry behind the key, of maps. */
bool vd_cel_next(struct vd_cel_run *run, struct vd_cel_iterator *it, struct vd_cel_value *item,
                 struct vd_cel_value *value);

/* CEL's ==. Values of different types differ, but numbers compare by value. */
bool vd_cel_equal(struct vd_cel_run *run, const struct vd_cel_value *a,
                  const struct vd_cel_value *b);

/* Are two items of a set or a list of type map the same one: equal, or in their keys? */
bool vd_cel_same_item(struct vd_cel_run *run, const struct vd_cel_type *list,
                      const struct vd_cel_value *a, const struct vd_cel_value *b);

/* Order of numbers, strings, bytes, bools, times. False: there is none between
 * these (or one is not a number). */
bool vd_cel_compare(const struct vd_cel_value *a, const struct vd_cel_value *b, int *order);

#endif
