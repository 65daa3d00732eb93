/*
 * An OpenAPI version 2 document as protobuf: the message openapi.v2.Document
 * that kubectl reads.
 */
#ifndef VD_KUBE_OPENAPI_PROTO_H
#define VD_KUBE_OPENAPI_PROTO_H

#include "base/buf.h"
#include "json/document.h"

/* Adds the message for a document as openapi_v2.h makes it. What the message has
 * no field for is left out; extensions ("x-...") are kept. Any thread. */
void vd_openapi_proto_write(struct vd_buf *out, const struct vd_json *document);

#endif
