/*
 * Answers that are sent compressed: large ones, to clients that allow it, as Kubernetes
 * does. Never watches: their events are small, shared between clients, and due at once.
 */
#ifndef VD_KUBE_GZIP_H
#define VD_KUBE_GZIP_H

#include "kube/call.h"
#include "net/gzip.h"

/* Whether an answer to this call may be compressed, if it is large enough. */
bool vd_call_takes_gzip(const struct vd_call *call);

/* The headers that say so. */
enum { VD_GZIP_FIELDS = 2 };
extern const struct vd_http_field vd_gzip_fields[VD_GZIP_FIELDS];

/* The loop's compressor. */
struct vd_gzip *vd_kube_loop_gzip(struct vd_kube_loop *l);
void vd_kube_loop_gzip_release(struct vd_kube_loop *l);

/* Answers with a body, piece by piece, so that no turn compresses much; ends the call.
 * The fields come with vd_gzip_fields in them; the body is copied. */
void vd_call_reply_gzipped(struct vd_call *call, const struct vd_response *response);

#endif
