/*
 * The three forms of a list - of objects, a Table, a PartialObjectMetadataList - written
 * in parts:
 *
 *     vd_list_writer_init(&w, call);
 *     vd_list_writer_head(&w, &out, &meta);
 *     code = vd_list_writer_add(&w, &out, event, &effort, &error); ...
 *     vd_list_writer_tail(&w, &out);
 *     vd_list_writer_release(&w);
 *
 * A head that says how the list goes on is written after the items, into a buffer of
 * its own.
 */
#ifndef VD_KUBE_LIST_WRITER_H
#define VD_KUBE_LIST_WRITER_H

#include "kube/call.h"
#include "kube/list_meta.h"

struct vd_list_writer {
    const struct vd_call *call;
    struct vd_table *columns; /* a reference; NULL: not needed */
    struct vd_table_writer table;
    struct vd_partial_list partial;
    struct vd_arena scratch;
    struct vd_buf room; /* for bodies of another version */
    bool started;       /* a comma comes before the next item */
    bool as_stored;     /* leave objects as their schema was when they were written */
    uint64_t worked;    /* bytes of bodies that were decoded or searched; the caller's to reset */
};

/* The call must outlive the writer. */
void vd_list_writer_init(struct vd_list_writer *w, const struct vd_call *call);
void vd_list_writer_release(struct vd_list_writer *w);

void vd_list_writer_head(struct vd_list_writer *w, struct vd_buf *out,
                         const struct vd_list_meta *meta);
/* Adds an item, or nothing and VD_ERR_LIMIT: it cannot be shown, or, with an effort that is
 * in_turn, not here; see served_form.h. */
int vd_list_writer_add(struct vd_list_writer *w, struct vd_buf *out, const struct vd_event *event,
                       struct vd_effort *effort, struct vd_error *error) VD_MUST_USE;
/* The same with what is to be shown. */
void vd_list_writer_add_served(struct vd_list_writer *w, struct vd_buf *out, struct vd_slice body);
void vd_list_writer_tail(struct vd_list_writer *w, struct vd_buf *out);

#endif
