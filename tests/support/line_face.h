/*
 * A face in less than 150 lines: it lists, creates, patches status and watches with resume, through
 * src/api alone. Its wire is lines of text: "a\n" of a list, "ADDED a\n" of a watch.
 */
#ifndef VD_TESTS_LINE_FACE_H
#define VD_TESTS_LINE_FACE_H

#include "api/list.h"
#include "api/stream.h"
#include "api/write.h"
#include "api_fixture.h"
#include "base/container_of.h"

struct line_face {
    struct api_fixture *api;
    struct vd_buf list, watched; /* what the client has been sent */
    uint64_t listed, passed;     /* revisions of the list and of the last event, to watch from */
    _Atomic size_t done, events; /* verbs that were answered; events that were sent */
    enum vd_write_result result; /* of the last write */
    struct vd_listing listing;
    struct vd_api_stream stream;
    struct vd_write write;
    struct vd_arena arena; /* of the write */
};

/* ---- list ---- */

static int line_add(struct vd_listing *l, struct vd_buf *out, const struct vd_event *event,
                    struct vd_effort *effort, struct vd_error *error)
{
    (void)l, (void)effort, (void)error;
    vd_buf_addf(out, "%.*s\n", VD_FMT(vd_entry_name(event->entry)));
    return VD_OK;
}

static void line_next(struct vd_listing *l)
{
    struct vd_error error;
    enum vd_listing_state state = vd_listing_next(
        l, &VD_CONTAINER_OF(l, struct line_face, listing)->list, SIZE_MAX, &error);
    if (state == VD_LISTING_MORE)
        vd_listing_yield(l);
    else if (state != VD_LISTING_WAITS)
        vd_listing_close(l);
}

static void line_listed(struct vd_listing *l)
{
    VD_CONTAINER_OF(l, struct line_face, listing)->done++;
}

static int line_list(struct line_face *face, struct vd_filter *filter, struct vd_error *error)
{
    static const struct vd_listing_ops ops = {
        .add = line_add, .ready = line_next, .closed = line_listed};
    struct vd_listing_options o = {.ops = &ops, .kind = face->api->kind, .filter = filter};
    int code = vd_listing_open(&face->listing, &face->api->api, &o, error);
    vd_buf_reset(&face->list);
    face->listed = vd_listing_revision(&face->listing);
    if (!code)
        line_next(&face->listing);
    return code;
}

/* ---- create, and patch status ---- */

static bool line_make(struct vd_write *w, const struct vd_json *old, struct vd_json **out)
{
    *out = vd_write_pruned_copy(w, old);
    vd_json_set(w->arena, *out, VD_SLICE("status"), vd_json_clone(w->arena, w->document));
    return true;
}

static void line_written(struct vd_write *w)
{
    struct line_face *face = VD_CONTAINER_OF(w, struct line_face, write);
    face->result = w->result;
    vd_write_release(w);
    vd_buf_release(&w->body);
    face->done++;
}

/* Creates this object, or gives the one of this name another status. */
static void line_write(struct line_face *face, const char *name, const struct vd_json *document)
{
    static const struct vd_write_ops ops = {.make = line_make, .done = line_written};
    face->write = (struct vd_write){.l = &face->api->api,
                                    .ops = &ops,
                                    .arena = &face->arena,
                                    .user = face->api->user,
                                    .kinds = face->api->kinds,
                                    .kind = face->api->kind,
                                    .verb = name ? VD_WRITE_PATCH : VD_WRITE_CREATE,
                                    .part = name ? VD_PART_STATUS : VD_PART_OBJECT,
                                    .name = vd_slice_of(name ? name : ""),
                                    .document = document};
    vd_write_start(&face->write);
}

/* ---- watch ---- */

static enum vd_frame_result line_encode(struct vd_api_stream *s, struct vd_event_frame *frame,
                                        struct vd_buf *out, const struct vd_deliveries *d,
                                        bool served, bool on_loop)
{
    (void)s, (void)served, (void)on_loop;
    vd_event_frame_begin(frame, out);
    for (size_t i = 0; i < d->list.n; i++)
        vd_buf_addf(out, "%s %.*s\n", vd_delivery_name(d->list.p[i].type),
                    VD_FMT(vd_entry_name(d->list.p[i].event->entry)));
    vd_event_frame_end(frame);
    return VD_FRAME_GOOD;
}

static void line_send(struct vd_api_stream *s, const struct vd_event_frame *frame,
                      const struct vd_deliveries *d)
{
    struct line_face *face = VD_CONTAINER_OF(s, struct line_face, stream);
    for (size_t i = 0; i < frame->parts.n; i++)
        vd_buf_add(&face->watched, frame->parts.p[i]->data, frame->parts.p[i]->len);
    face->passed = d->upto;
    face->events += d->list.n;
}

static struct vd_access line_access(const struct vd_api_stream *s)
{
    const struct line_face *face = VD_CONTAINER_OF((uintptr_t)s, struct line_face, stream);
    return (struct vd_access){
        .user = face->api->user, .verb = VD_SLICE("watch"), .resource = s->kind->plural};
}

static void line_ended(struct vd_api_stream *s, const struct vd_stream_ending *ending)
{
    VD_CONTAINER_OF(s, struct line_face, stream)->done += ending->why != VD_STREAM_END_GONE;
}

static int line_watch(struct line_face *face, struct vd_filter *filter, uint64_t behind,
                      struct vd_error *error)
{
    static const struct vd_stream_ops ops = {
        .encode = line_encode, .send = line_send, .access = line_access, .ended = line_ended};
    struct vd_stream_options o = {.ops = &ops,
                                  .kind = face->api->kind,
                                  .filter = filter,
                                  .start = VD_STREAM_AT,
                                  .revision = behind};
    return vd_api_stream_open(&face->stream, &face->api->api, &o, error);
}

#endif
