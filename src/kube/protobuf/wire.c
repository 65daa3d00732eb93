/*
 * The reader of protobuf's wire format.
 *
 * A field is a varint, (number << 3 | wire type), and a payload: a varint, 4 or
 * 8 bytes with the lowest first, or a varint length and as many bytes. A varint
 * has 7 bits in a byte, the lowest first; the top bit says that more follow.
 *
 *     0a 02 76 31    field 1, 2 bytes: "v1"
 *     38 ac 02       field 7, varint: 300
 *
 * Every byte is looked at against `end` before it is read, and a length is
 * compared with what is left before it is used.
 */
#include "kube/protobuf/wire.h"

#include <stddef.h>

enum { VARINT_LEN_MAX = 10 }; /* bytes of a 64-bit number on the wire */

static const uint64_t NUMBER_MAX = (1u << 29) - 1;

/* Reads a varint at *at. NULL, or what is wrong; *at is then unchanged. */
static const char *read_varint(const char **at, const char *end, uint64_t *out)
{
    uint64_t value = 0;
    for (int i = 0; i < VARINT_LEN_MAX; i++) {
        if (*at + i == end)
            return "a number is cut off";
        uint8_t byte = (uint8_t)(*at)[i];
        if (i == VARINT_LEN_MAX - 1 && byte > 1)
            break;
        value |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte < 0x80) {
            *at += i + 1;
            *out = value;
            return NULL;
        }
    }
    return "a number has more than 64 bits";
}

static const char *read_fixed(const char **at, const char *end, size_t n, uint64_t *out)
{
    if ((size_t)(end - *at) < n)
        return "a number is cut off";
    uint64_t value = 0;
    for (size_t i = 0; i < n; i++)
        value |= (uint64_t)(uint8_t)(*at)[i] << (8 * i);
    *at += n;
    *out = value;
    return NULL;
}

static const char *read_bytes(const char **at, const char *end, struct vd_slice *out)
{
    uint64_t n;
    const char *problem = read_varint(at, end, &n);
    if (problem)
        return problem;
    if (n > (uint64_t)(end - *at))
        return "it is longer than what holds it";
    *out = vd_slice(*at, (size_t)n);
    *at += n;
    return NULL;
}

static const char *read_payload(const char **at, const char *end, struct vd_wire_field *field)
{
    switch (field->type) {
    case VD_WIRE_VARINT:
        return read_varint(at, end, &field->value);
    case VD_WIRE_FIXED64:
        return read_fixed(at, end, 8, &field->value);
    case VD_WIRE_BYTES:
        return read_bytes(at, end, &field->bytes);
    case VD_WIRE_FIXED32:
        return read_fixed(at, end, 4, &field->value);
    }
    return "its wire type is a group's or none at all";
}

bool vd_wire_next(struct vd_wire *wire, struct vd_wire_field *field)
{
    if (wire->problem || wire->at == wire->end)
        return false;
    const char *at = wire->at;
    uint64_t tag;
    wire->problem = read_varint(&at, wire->end, &tag);
    if (wire->problem)
        return false;
    if (tag >> 3 == 0 || tag >> 3 > NUMBER_MAX) {
        wire->problem = "its field number is out of range";
        return false;
    }
    *field = (struct vd_wire_field){.number = (uint32_t)(tag >> 3),
                                    .type = (enum vd_wire_type)(tag & 7),
                                    .at = wire->at,
                                    .bytes = vd_slice("", 0)};
    wire->problem = read_payload(&at, wire->end, field);
    if (wire->problem)
        return false;
    wire->at = at;
    return true;
}
