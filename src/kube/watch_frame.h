/*
 * The events of a watch as they are sent: which form its objects have, and how they are written
 * into an event frame.
 *
 *     {"type":"ADDED","object":{...}}\n
 *
 * An object that cannot be shown is an ERROR event that names it, behind which nothing comes; its
 * deletion is told with its name only. Where objects have to be decoded or searched and that takes
 * long, a worker's thread does it: see api/stream.h.
 */
#ifndef VD_KUBE_WATCH_FRAME_H
#define VD_KUBE_WATCH_FRAME_H

#include "api/stream.h"
#include "kinds/kind.h"
#include "kube/output.h"
#include "kube/status/status.h"
#include "kube/table/table.h"

/* How they are made: borrowed for the call. */
struct vd_watch_form {
    const struct vd_clock *clock;
    struct vd_kind *kind;
    const struct vd_kube_output *output;
    struct vd_table_writer *table; /* of a watch of Tables; else NULL */
};

/* Whether making these takes too long for the loop. */
bool vd_watch_frame_is_long(const struct vd_watch_form *form, const struct vd_deliveries *d);

/*
 * Makes the frame, with *out for its text, on any thread that has the form to itself. `on_loop`: on
 * an event loop, which gives up what takes long. `served`: the bodies are as they are to be shown
 * already. What defaults add to all of them ends at VD_DEFAULTS_FRAME_LEN_MAX.
 */
enum vd_frame_result vd_watch_frame_make(struct vd_event_frame *frame, struct vd_buf *out,
                                         const struct vd_watch_form *form,
                                         const struct vd_deliveries *d, bool served,
                                         bool on_loop) VD_MUST_USE;

/* A copy of the form, for a worker's thread. The columns of a Table, if any are to come, come in
 * the frame that it makes, and not in later ones. */
struct vd_stream_encoder *vd_watch_encoder_new(const struct vd_watch_form *form) VD_MUST_USE;

/* Adds an ERROR event. */
void vd_watch_frame_add_error(struct vd_buf *out, const struct vd_status *status);

#endif
