/*
 * The bytes of a watch's events: HTTP chunk and all.
 *
 *     {"type":"ADDED","object":{...}}\n
 *
 * They are made at once, or, where objects have to be decoded or searched and that takes long, by a
 * worker's thread: whoever wants to send them then waits until `ready`. An object that cannot be
 * shown is an ERROR event that names it, behind which nothing comes; its deletion is told with its
 * name only.
 */
#ifndef VD_KUBE_WATCH_FRAME_H
#define VD_KUBE_WATCH_FRAME_H

#include "base/vec.h"
#include "kinds/kind.h"
#include "kube/kube.h"
#include "kube/output.h"
#include "kube/status.h"
#include "kube/table.h"
#include "net/workshop.h"
#include "watch/registry.h"

struct vd_account;
struct vd_watch;

/* How they are made: borrowed for the call. */
struct vd_watch_form {
    struct vd_kube_loop *l;
    struct vd_kind *kind;
    const struct vd_kube_output *output;
    struct vd_table_writer *table; /* of a watch of Tables; else NULL */
};

struct vd_watch_frame {
    struct vd_shared shared; /* first: a group shares it */
    struct vd_bytes *bytes;  /* NULL: a worker makes them */
    bool broken;             /* the last event is an error */
    /* For those who wait: */
    VD_VEC(struct vd_watch *) waiting; /* NULL in it: one who has left */
    uint64_t initial_end;              /* a bookmark of this revision is to follow; 0: none */
    void (*ready)(
        struct vd_watch_frame *frame); /* on the loop, once, when a worker has made them */
    /* Private: what the worker has. */
    struct vd_order order;
    struct vd_bytes *made; /* and has made; `bytes` are the loop's */
    bool made_broken;
    struct vd_account *account;
    struct vd_watch_form form;
    struct vd_kube_output output;
    struct vd_table *columns;
    struct vd_table_writer table;
    struct vd_deliveries deliveries;
};

/* Whether making these takes too long for the loop. */
bool vd_watch_frame_is_long(const struct vd_watch_form *form, const struct vd_deliveries *d);

/* Makes them, here. */
struct vd_bytes *vd_watch_frame_make(const struct vd_watch_form *form,
                                     const struct vd_deliveries *d, bool *broken) VD_MUST_USE;

/* One reference: made, or ordered if that takes long. `account` pays the work; NULL: nobody. */
struct vd_watch_frame *vd_watch_frame_new(const struct vd_watch_form *form,
                                          const struct vd_deliveries *d, struct vd_account *account,
                                          void (*ready)(struct vd_watch_frame *frame)) VD_MUST_USE;

static inline struct vd_watch_frame *vd_watch_frame_ref(struct vd_watch_frame *frame)
{
    vd_ref(&frame->shared.refs);
    return frame;
}

/* Adds one object in the form that was asked for, or nothing: VD_ERR_LIMIT names the object, which
 * has become too large. */
int vd_watch_frame_add_object(struct vd_buf *out, const struct vd_watch_form *form,
                              struct vd_slice body, uint64_t written,
                              struct vd_error *error) VD_MUST_USE;

/* Adds an ERROR event. */
void vd_watch_frame_add_error(struct vd_buf *out, const struct vd_status *status);

#endif
