/*
 * The envelope around a Kubernetes protobuf message.
 *
 * The bytes 6b 38 73 00 ("k8s" and a NUL), then runtime.Unknown:
 *
 *     1 TypeMeta {1 apiVersion; 2 kind}   2 raw   3 contentEncoding   4 contentType
 *
 * All are length-delimited, in any order. Fields of other numbers are skipped.
 */
#include "kube/protobuf/envelope.h"

#include "base/limits.h"
#include "base/utf8.h"
#include "kube/protobuf/wire.h"

static const char MAGIC[4] = {'k', '8', 's', 0};

bool vd_protobuf_is_kubernetes(struct vd_slice body)
{
    return vd_slice_starts_with(body, vd_slice(MAGIC, sizeof MAGIC));
}

static int envelope_fail(struct vd_slice body, const char *at, const char *what,
                         struct vd_error *error)
{
    return vd_error_set(error, VD_ERR_INVALID, "the protobuf body's envelope, at byte %zu: %s",
                        (size_t)(at - body.p), what);
}

/* Reads `bytes` into parts[number - 1], of which there are `count` (NULL: not
 * wanted). A part that comes again replaces the earlier one. */
static int envelope_parts(struct vd_slice body, struct vd_slice bytes, struct vd_slice *parts[],
                          size_t count, struct vd_error *error)
{
    struct vd_wire in = vd_wire_of(bytes);
    struct vd_wire_field wire;
    while (vd_wire_next(&in, &wire)) {
        if (wire.number > count)
            continue;
        if (wire.type != VD_WIRE_BYTES)
            return envelope_fail(body, wire.at, "a field has a wire type other than 2", error);
        *parts[wire.number - 1] = wire.bytes;
    }
    return in.problem ? envelope_fail(body, in.at, in.problem, error) : VD_OK;
}

int vd_protobuf_envelope_read(struct vd_slice body, struct vd_protobuf_envelope *out,
                              struct vd_error *error)
{
    if (!vd_protobuf_is_kubernetes(body))
        return envelope_fail(body, body.p, "the first bytes are not \"k8s\" and a NUL", error);
    if (body.n > VD_BODY_LEN_MAX)
        return vd_error_set(error, VD_ERR_LIMIT, "the protobuf body has %zu bytes, at most %d may",
                            body.n, VD_BODY_LEN_MAX);
    const struct vd_slice none = vd_slice("", 0);
    struct vd_slice type_meta = none;
    struct vd_protobuf_envelope e = {none, none, none, none, none};
    struct vd_slice *parts[] = {&type_meta, &e.raw, &e.content_encoding, &e.content_type};
    struct vd_slice *type_parts[] = {&e.api_version, &e.kind};
    int code = envelope_parts(body, vd_slice_from(body, sizeof MAGIC), parts, 4, error);
    if (!code)
        code = envelope_parts(body, type_meta, type_parts, 2, error);
    if (code)
        return code;
    const struct vd_slice texts[] = {e.api_version, e.kind, e.content_encoding, e.content_type};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (!vd_utf8_is_valid(texts[i]))
            return envelope_fail(body, texts[i].p, "a string is not valid UTF-8", error);
    *out = e;
    return VD_OK;
}
