/*
 * The messages of Kubernetes' protobuf bodies, as tables.
 *
 * A field stands in its message's table in the order of Kubernetes' JSON, under
 * its JSON name. Field numbers never change, and what a newer client adds is
 * skipped by the decoder, so the tables age well. All of it is const.
 *
 * Invariants (a unit test walks the tables)
 * - A message has at most VD_PROTOBUF_FIELDS_MAX fields; numbers and names are
 *   unique in it.
 * - Repeated fields are strings or messages, and maps have string keys, so
 *   there is no packed form.
 * - The message of a kind is an object without members "kind" and "apiVersion".
 * - A message that is no object is followed, on any way down, by an object or
 *   by nothing: a walk that counts objects ends.
 */
#ifndef VD_KUBE_PROTOBUF_SCHEMA_H
#define VD_KUBE_PROTOBUF_SCHEMA_H

#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"

enum { VD_PROTOBUF_FIELDS_MAX = 44 };

enum vd_protobuf_type {
    VD_PROTOBUF_BOOL,
    VD_PROTOBUF_INT32,
    VD_PROTOBUF_INT64,
    VD_PROTOBUF_DOUBLE,
    VD_PROTOBUF_STRING,
    VD_PROTOBUF_BYTES, /* base64 in JSON */
    VD_PROTOBUF_MESSAGE,
};

enum vd_protobuf_shape {
    VD_PROTOBUF_ONE,
    VD_PROTOBUF_MANY, /* an array */
    VD_PROTOBUF_MAP,  /* an object: repeated {1 key; 2 value} */
};

/* What JSON has of a field that is not on the wire, or is zero there. Clients
 * write most fields even if they are zero; JSON's rules are those of Go's tags. */
enum vd_protobuf_presence {
    VD_PROTOBUF_NONZERO, /* nothing, absent or zero (a value, omitempty) */
    VD_PROTOBUF_PRESENT, /* nothing if absent; zero is shown (a pointer, omitempty) */
    VD_PROTOBUF_ALWAYS,  /* zero (a value without omitempty, any struct): "", 0, false,
                          * null for arrays and maps, an empty message */
    VD_PROTOBUF_OR_NULL, /* null if absent; zero is shown (a pointer without omitempty) */
};

/* What a message is in JSON. */
enum vd_protobuf_form {
    VD_PROTOBUF_AS_OBJECT,
    VD_PROTOBUF_AS_LIST,          /* the array that its only field is, empty if absent */
    VD_PROTOBUF_AS_CHOICE,        /* its first field that is there, else the last one's absence */
    VD_PROTOBUF_AS_TIME,          /* {seconds, nanos}: RFC 3339 in seconds; null if empty */
    VD_PROTOBUF_AS_MICRO_TIME,    /* the same in microseconds */
    VD_PROTOBUF_AS_RAW,           /* {bytes}: the JSON that they hold; null if empty */
    VD_PROTOBUF_AS_INT_OR_STRING, /* {type, int, string} */
};

struct vd_protobuf_message;

struct vd_protobuf_field {
    uint8_t number;
    uint8_t type;                              /* enum vd_protobuf_type; of a map: its values' */
    uint8_t shape;                             /* enum vd_protobuf_shape */
    uint8_t presence;                          /* enum vd_protobuf_presence */
    struct vd_slice key;                       /* in JSON */
    const struct vd_protobuf_message *message; /* of VD_PROTOBUF_MESSAGE */
};

struct vd_protobuf_message {
    const char *name; /* Kubernetes' */
    enum vd_protobuf_form form;
    size_t field_count;
    const struct vd_protobuf_field *fields; /* NULL if there are none */
};

/* A kind that a body may hold. */
struct vd_protobuf_kind {
    const char *api_version; /* NULL: any; the options kinds are in every group */
    const char *kind;
    const struct vd_protobuf_message *message;
};

const struct vd_protobuf_kind *vd_protobuf_kinds(size_t *count);

/* The message of a kind, or NULL. */
const struct vd_protobuf_message *vd_protobuf_message_find(struct vd_slice api_version,
                                                           struct vd_slice kind);

/* The field with this number, or NULL. */
const struct vd_protobuf_field *vd_protobuf_field_find(const struct vd_protobuf_message *message,
                                                       uint32_t number);

#endif
