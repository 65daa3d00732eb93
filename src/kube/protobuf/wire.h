/*
 * Protobuf's wire format: a run of numbered fields, without their meaning.
 *
 *     struct vd_wire wire = vd_wire_of(bytes);
 *     struct vd_wire_field field;
 *     while (vd_wire_next(&wire, &field))
 *         use(field.number, field.value);
 *     if (wire.problem)
 *         complain(wire.problem, wire.at);
 *
 * Field numbers run from 1 to 2^29 - 1. Groups, which no Kubernetes message
 * has, are refused.
 */
#ifndef VD_KUBE_PROTOBUF_WIRE_H
#define VD_KUBE_PROTOBUF_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/slice.h"

enum vd_wire_type {
    VD_WIRE_VARINT = 0,
    VD_WIRE_FIXED64 = 1,
    VD_WIRE_BYTES = 2,
    VD_WIRE_FIXED32 = 5,
};

struct vd_wire {
    const char *at; /* the next field, or the one that is broken */
    const char *end;
    const char *problem; /* NULL, or what is wrong with the field */
};

struct vd_wire_field {
    uint32_t number;
    enum vd_wire_type type;
    const char *at;        /* the field's first byte */
    uint64_t value;        /* of a varint or a fixed number; else 0 */
    struct vd_slice bytes; /* of VD_WIRE_BYTES, borrowed from the input; else empty */
};

static inline struct vd_wire vd_wire_of(struct vd_slice bytes)
{
    return (struct vd_wire){.at = bytes.p, .end = bytes.p + bytes.n};
}

/* Reads a field. False at the end, and at a broken field: wire->problem then
 * says what is wrong with it, and stays. */
bool vd_wire_next(struct vd_wire *wire, struct vd_wire_field *field) VD_MUST_USE;

#endif
