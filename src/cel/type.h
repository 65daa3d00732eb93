/*
 * The types of CEL: what the checker knows of a value before there is one.
 *
 * Simple types are one constant each. Lists, maps, objects and optionals are made
 * in an arena. A type that was declared by a schema also says how large its values
 * may get, which is what static cost estimates are made of; a type that an
 * expression gave rise to does not.
 *
 * Types are immutable once made; any number of threads may read them.
 */
#ifndef VD_CEL_TYPE_H
#define VD_CEL_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/slice.h"

enum vd_cel_kind {
    VD_CEL_DYN,
    VD_CEL_NULL,
    VD_CEL_BOOL,
    VD_CEL_INT,
    VD_CEL_UINT,
    VD_CEL_DOUBLE,
    VD_CEL_STRING,
    VD_CEL_BYTES,
    VD_CEL_TIMESTAMP,
    VD_CEL_DURATION,
    VD_CEL_TYPE,
    VD_CEL_LIST,
    VD_CEL_MAP,
    VD_CEL_OBJECT,
    VD_CEL_OPTIONAL,
    VD_CEL_URL,
    VD_CEL_IP,
    VD_CEL_CIDR,
    VD_CEL_QUANTITY,
    VD_CEL_FORMAT,
    VD_CEL_PARAM, /* in signatures only */
    VD_CEL_ERROR, /* a value that is an error; the type of what did not check */
};

/* How lists of a declared type are compared and joined. */
enum vd_cel_list_type { VD_CEL_LIST_ATOMIC, VD_CEL_LIST_SET, VD_CEL_LIST_MAP };

struct vd_cel_field {
    struct vd_slice name; /* as expressions call it, escaped */
    struct vd_slice raw;  /* as the JSON member is called */
    struct vd_cel_type *type;
};

struct vd_cel_type {
    uint8_t kind;                   /* enum vd_cel_kind */
    uint8_t list_type;              /* enum vd_cel_list_type, of a list */
    bool declared;                  /* by a schema: max_elements means something */
    bool date_only;                 /* of a timestamp: the JSON is a date without a time */
    bool int_or_string;             /* of a dyn: the JSON is one of the two */
    uint8_t param;                  /* of a VD_CEL_PARAM: which */
    const struct vd_cel_type *key;  /* of a map */
    const struct vd_cel_type *item; /* of a list, map, optional or type */
    struct vd_cel_field *fields;    /* of an object */
    size_t field_count;
    struct vd_slice *map_keys; /* of a VD_CEL_LIST_MAP, as JSON members */
    size_t map_key_count;
    uint64_t max_elements; /* most characters, items or entries, of a declared type */
    uint64_t min_size;     /* fewest bytes of its JSON, of a declared type */
};

/* The one type of a kind without parameters; for LIST, MAP, OPTIONAL and TYPE the
 * one whose parameters are dyn. */
const struct vd_cel_type *vd_cel_type_of(enum vd_cel_kind kind);

const struct vd_cel_type *vd_cel_list_of(struct vd_arena *a, const struct vd_cel_type *item);
const struct vd_cel_type *vd_cel_map_of(struct vd_arena *a, const struct vd_cel_type *key,
                                        const struct vd_cel_type *item);
const struct vd_cel_type *vd_cel_optional_of(struct vd_arena *a, const struct vd_cel_type *item);
const struct vd_cel_type *vd_cel_type_type(struct vd_arena *a, const struct vd_cel_type *item);

/* A new type of this kind to be filled in by the caller: declared, and zero but
 * for the kind. */
struct vd_cel_type *vd_cel_type_declare(struct vd_arena *a, enum vd_cel_kind kind);

/* The field with this escaped name, or NULL. */
const struct vd_cel_field *vd_cel_type_field(const struct vd_cel_type *object,
                                             struct vd_slice name);

/* "list(int)", "map(string, dyn)", as error messages write it. */
void vd_cel_type_write(struct vd_buf *out, const struct vd_cel_type *type);

/* The name of a kind as a type's value shows it: "google.protobuf.Timestamp". */
const char *vd_cel_kind_name(enum vd_cel_kind kind);

/*
 * How expressions call the JSON member `raw`: "a-b" is "a__dash__b", "in" is
 * "__in__". False if there is no way to call it.
 */
bool vd_cel_escape(struct vd_arena *a, struct vd_slice raw, struct vd_slice *out);

#endif
