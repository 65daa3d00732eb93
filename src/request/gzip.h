/*
 * Answers that are sent compressed: those of more than VD_GZIP_BODY_LEN_MIN bytes, to clients that
 * allow it, as Kubernetes does. Streams of events are never compressed: events are small, and the
 * same bytes go to many clients at once.
 */
#ifndef VD_REQUEST_GZIP_H
#define VD_REQUEST_GZIP_H

#include "net/exchange.h"
#include "net/gzip.h"
#include "request/loop.h"

/* Whether the client allows that the answer is compressed. False for an exchange whose request has
 * been forgotten, and for methods other than GET. */
bool vd_request_takes_gzip(const struct vd_exchange *x);

/* The headers that an answer has because it is compressed. */
enum { VD_GZIP_FIELDS = 2 };
extern const struct vd_http_field vd_gzip_fields[VD_GZIP_FIELDS];

/* The loop's compressor, which any number of answers share in turns. */
struct vd_gzip *vd_request_gzip(struct vd_request_loop *l);
void vd_request_gzip_release(struct vd_request_loop *l);

/* Answers with the response's body, compressed piece by piece, so that no turn of the loop spends
 * long on it. The response's fields have vd_gzip_fields among them; its body is copied. */
void vd_request_respond_gzipped(struct vd_request_loop *l, struct vd_exchange *x,
                                const struct vd_response *response);

#endif
