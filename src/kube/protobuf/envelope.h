/*
 * What a Kubernetes protobuf body says about itself: apiVersion, kind and where
 * the message is. All functions are pure.
 */
#ifndef VD_KUBE_PROTOBUF_ENVELOPE_H
#define VD_KUBE_PROTOBUF_ENVELOPE_H

#include <stdbool.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/slice.h"

/* Does the body begin as Kubernetes' protobuf bodies do ("k8s" and a NUL)? */
bool vd_protobuf_is_kubernetes(struct vd_slice body);

/* The envelope. Every part is borrowed from the body, and empty when it is not
 * there; the texts are valid UTF-8. */
struct vd_protobuf_envelope {
    struct vd_slice api_version;
    struct vd_slice kind;
    struct vd_slice raw; /* the message */
    struct vd_slice content_encoding;
    struct vd_slice content_type;
};

/* VD_ERR_INVALID: the body is no such envelope. VD_ERR_LIMIT: it is longer than
 * VD_BODY_LEN_MAX. */
int vd_protobuf_envelope_read(struct vd_slice body, struct vd_protobuf_envelope *out,
                              struct vd_error *error) VD_MUST_USE;

#endif
