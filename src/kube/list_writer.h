/*
 * The three forms of a list - of objects, a Table, a PartialObjectMetadataList - written
 * in parts:
 *
 *     vd_list_writer_init(&w, call);
 *     vd_list_writer_head(&w, &out, &meta);
 *     vd_list_writer_add(&w, &out, event); ...
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
};

/* The call must outlive the writer. */
void vd_list_writer_init(struct vd_list_writer *w, const struct vd_call *call);
void vd_list_writer_release(struct vd_list_writer *w);

void vd_list_writer_head(struct vd_list_writer *w, struct vd_buf *out,
                         const struct vd_list_meta *meta);
void vd_list_writer_add(struct vd_list_writer *w, struct vd_buf *out, const struct vd_event *event);
/* The same with what is to be shown. */
void vd_list_writer_add_shown(struct vd_list_writer *w, struct vd_buf *out, struct vd_slice body);
void vd_list_writer_tail(struct vd_list_writer *w, struct vd_buf *out);

#endif
