/*
 * An event frame: the wire bytes of some deliveries, made once for all streams that send them.
 *
 * A face writes the text of a frame in its encoding. Small objects are copied into the frame, one
 * behind the other, so that many leave as one piece. A large one is not: the frame refers to the
 * stored body, and so do the frames of other streams, however many there are and whenever they come
 * to it.
 *
 * A frame and the bytes in it belong to one loop. A worker's thread may make it for that loop.
 */
#ifndef VD_API_EVENT_FRAME_H
#define VD_API_EVENT_FRAME_H

#include "base/bytes.h"
#include "base/vec.h"
#include "store/body.h"

struct vd_event_frame {
    VD_VEC(struct vd_bytes *) parts; /* references: text, and bodies of the store */
    struct vd_buf *out;              /* borrowed: where text is added while the frame is made */
};

/* What became of encoding deliveries. */
enum vd_frame_result {
    VD_FRAME_GOOD,
    VD_FRAME_BROKEN,   /* an object cannot be shown; the frame's last event says so */
    VD_FRAME_TOO_LONG, /* to be made on the loop: there is none, and the encoding is as it was */
};

/* Starts a frame, of which all text is added to *out. */
void vd_event_frame_begin(struct vd_event_frame *frame, struct vd_buf *out);

/* Adds an object: `served` is what is shown of it. If that is the whole body, and it is large, the
 * frame gets a reference to it. */
void vd_event_frame_add_object(struct vd_event_frame *frame, struct vd_body *body,
                               struct vd_slice served);

/* Ends it; *out is empty again. */
void vd_event_frame_end(struct vd_event_frame *frame);

void vd_event_frame_release(struct vd_event_frame *frame);

#endif
