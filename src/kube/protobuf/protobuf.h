/*
 * Kubernetes' protobuf bodies, read as the JSON that the same client would send.
 *
 *     if (vd_protobuf_is_kubernetes(body))
 *         code = vd_protobuf_decode(&arena, body, NULL, &document, &error);
 *
 * Typed Kubernetes clients since 1.32 send built-in kinds as
 * application/vnd.kubernetes.protobuf and know no other way. Such a body is four
 * bytes and an envelope (runtime.Unknown) that names apiVersion and kind and
 * holds the message; protobuf_schema.h has the messages. Answers may be JSON, so
 * nothing here encodes.
 *
 * The document has the members, the order, the nulls and the empty objects that
 * Kubernetes' own JSON encoder writes: "metadata":{"creationTimestamp":null}.
 * One thing protobuf cannot say: an empty list is an absent one.
 */
#ifndef VD_KUBE_PROTOBUF_PROTOBUF_H
#define VD_KUBE_PROTOBUF_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "base/error.h"
#include "base/slice.h"
#include "kube/protobuf/envelope.h"
#include "json/document.h"

/* A field that no table has: a newer client's, or a mistake. */
struct vd_protobuf_unknown {
    const char *message; /* the name of the message that holds it */
    uint32_t number;     /* the field's */
    size_t offset;       /* bytes of the body before it */
};

struct vd_protobuf_options {
    /* What the body is if its envelope does not say; may be empty. */
    struct vd_slice api_version;
    struct vd_slice kind;

    /* Unknown fields are skipped, as protobuf does. If not NULL, `unknown_count`
     * is set to their number (also on failure: of those met so far), and
     * `on_unknown` is called for the first VD_PROTOBUF_UNKNOWN_MAX of them;
     * `unknown` is borrowed for the call. */
    size_t *unknown_count;
    void (*on_unknown)(void *context, const struct vd_protobuf_unknown *unknown);
    void *context;
};

/*
 * Decodes the whole body. Values live in the arena; strings and keys are
 * borrowed from `body`, which has to stay as it is for as long as the document
 * is used. Options may be NULL.
 *
 * VD_ERR_INVALID: the bytes are not what the tables say, or the content's type
 * or encoding is another. VD_ERR_NOT_FOUND: no table for this apiVersion and
 * kind. VD_ERR_LIMIT: too long, too deep or too many values. The sentence names
 * message, field and byte. After a failure the arena holds some memory that
 * nobody can use, until it is reset.
 */
int vd_protobuf_decode(struct vd_arena *a, struct vd_slice body,
                       const struct vd_protobuf_options *options, struct vd_json **out,
                       struct vd_error *error) VD_MUST_USE;

#endif
