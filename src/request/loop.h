/*
 * A loop's part of what is noted of requests: its meters, the limit of its access log, and its
 * compressor. Every face on a loop shares it, so that a request is counted, logged and audited in
 * the same way whichever face answers it; request.h has the functions.
 *
 * All on the loop's thread, but for vd_request_loop_init() and vd_request_loop_release().
 */
#ifndef VD_REQUEST_LOOP_H
#define VD_REQUEST_LOOP_H

#include "auth/gatekeeper.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/log_rate.h"
#include "net/loop.h"
#include "request/meter.h"

struct vd_audit;
struct vd_gzip;

struct vd_request_loop {
    /* Set by whoever initialises it: */
    struct vd_loop *loop;
    const struct vd_clock *clock;
    struct vd_gatekeeper *gatekeeper; /* says who may see a page */
    struct vd_audit *audit;           /* NULL: nothing is audited; see audit.h */
    bool access_log;                  /* a line is logged for every request when it ends */
    /* Private: */
    struct vd_meters *meters;
    struct vd_log_rate refusals; /* lines of the access log about 401 and 429 */
    struct vd_gzip *gzip;        /* NULL until an answer is compressed; see gzip.h */
    struct vd_buf piece;         /* scratch memory for what was compressed */
    struct vd_turn_hook after;   /* tells the metrics what the turn's watches have been sent */
};

/* Before the loop starts. */
void vd_request_loop_init(struct vd_request_loop *l);

/* After the hook that flushes connections was added to the loop. */
void vd_request_loop_follow(struct vd_request_loop *l);

/* When the loop has stopped and no exchange is left on it. */
void vd_request_loop_release(struct vd_request_loop *l);

#endif
