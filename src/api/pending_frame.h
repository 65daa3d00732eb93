/*
 * Deliveries of a stream that cannot be sent at once: a webhook has to convert them, or to encode
 * them takes so long that a worker's thread makes the frame.
 *
 * The stream that is given the deliveries first makes the pending frame. The other streams of its
 * group find it in the place that the registry has for what they share, and wait for it, too. They
 * have taken the deliveries and take no more until then, so that each stream keeps its order. When
 * the webhook has answered, or the worker is done, vd_stream_frame_ready() is called for all that
 * still wait; behind a webhook the first of them encodes the bytes, and all send these.
 *
 * The frame holds references to the deliveries, which come from a piece of bounded length, and goes
 * with the last that waits. All is on one loop; the worker has the deliveries and what it makes of
 * them, and nothing else.
 */
#ifndef VD_API_PENDING_FRAME_H
#define VD_API_PENDING_FRAME_H

#include "api/conversion.h"
#include "api/event_frame.h"
#include "api/stream.h"
#include "watch/registry.h"

struct vd_frame_order;

struct vd_pending_frame {
    struct vd_shared shared;         /* first */
    struct vd_deliveries deliveries; /* when it is done, with the bodies that are shown */
    bool done;
    int code;                     /* when it is done: VD_OK, or ... */
    struct vd_error error;        /* ... why it could not be converted */
    struct vd_event_frame frame;  /* without parts: nobody has made it yet */
    bool broken;                  /* when it is made: its last event is an error */
    struct vd_frame_order *order; /* of one that a worker makes; else NULL */
    struct vd_api_stream *first;  /* who waits */
    /* Who has asked for it: its bodies count as bytes that wait for its user. NULL: nobody. */
    struct vd_api_stream *holder;
    int64_t held;
};

/* Whether a webhook has to convert some of them. */
bool vd_pending_frame_is_needed(const struct vd_kind *kind, const struct vd_deliveries *deliveries);

/* Has them converted for the stream: one reference. */
struct vd_pending_frame *vd_pending_frame_convert(
    struct vd_api_stream *stream, const struct vd_deliveries *deliveries) VD_MUST_USE;

/* Has a worker encode them for the stream, whose account pays for the work: one reference. */
struct vd_pending_frame *vd_pending_frame_order(struct vd_api_stream *stream,
                                                const struct vd_deliveries *deliveries) VD_MUST_USE;

/* The pending frame that is shared; NULL: nothing is, or something else. */
struct vd_pending_frame *vd_pending_frame_of(struct vd_shared *shared);

/* Of one that is not done. The stream takes a reference. */
void vd_pending_frame_wait(struct vd_pending_frame *frame, struct vd_api_stream *stream);

/* The stream waits no longer, if it does, and nothing is held for it. */
void vd_pending_frame_leave(struct vd_api_stream *stream);

/* In stream.c: the frame, borrowed for the call, is done. The stream does not wait any more. */
void vd_stream_frame_ready(struct vd_api_stream *stream, struct vd_pending_frame *frame);

#endif
