/* See event_frame.h. */
#include "api/event_frame.h"

enum { SHARED_LEN_MIN = 16384 }; /* below it, copying costs less than three pieces to send */

void vd_event_frame_begin(struct vd_event_frame *frame, struct vd_buf *out)
{
    *frame = (struct vd_event_frame){.out = out};
    vd_buf_reset(out);
}

static void close_part(struct vd_event_frame *frame)
{
    if (frame->out->n)
        *VD_VEC_PUSH(&frame->parts) = vd_bytes_copy(vd_buf_slice(frame->out));
    vd_buf_reset(frame->out);
}

void vd_event_frame_add_object(struct vd_event_frame *frame, struct vd_body *body,
                               struct vd_slice served)
{
    if (served.p != body->bytes || served.n < SHARED_LEN_MIN) {
        vd_buf_add_slice(frame->out, served);
        return;
    }
    close_part(frame);
    *VD_VEC_PUSH(&frame->parts) = vd_body_bytes(body);
}

void vd_event_frame_end(struct vd_event_frame *frame)
{
    close_part(frame);
    frame->out = NULL;
}

void vd_event_frame_release(struct vd_event_frame *frame)
{
    for (size_t i = 0; i < frame->parts.n; i++)
        vd_bytes_unref(frame->parts.p[i]);
    VD_VEC_RELEASE(&frame->parts);
}
