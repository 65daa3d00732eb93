/*
 * A face whose routes read bodies as they arrive:
 *
 *   /up/count      reads all of it, then 200 with "N bytes"
 *   /up/echo       sends it back as it comes, and no faster than the client reads
 *   /up/cat        the same through a process, cat
 *   /up/hold       reads nothing until body_face_release()
 *   /up/pause      reads, but has paused before the first byte, until body_face_release()
 *   /up/refuse     403 at once, without a look at the body
 *   /up/first      409 when the first bytes have come
 *   /up/short      a streamed answer that ends when the first bytes have come
 *   /up/abort      breaks off when the first bytes have come
 */
#ifndef VD_TESTS_BODY_FACE_H
#define VD_TESTS_BODY_FACE_H

#include <stdatomic.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/container_of.h"
#include "net/connection.h"
#include "net/process.h"

enum { BODY_FACE_BACKLOG = 262144, BODY_FACE_HELD_MAX = 64 };

struct body_face {
    struct vd_route route;
    /* Of all exchanges: */
    _Atomic size_t handled, ends, gone, exits, got;
    _Atomic size_t piece_max, backlog_max; /* the largest of all */
    /* On one loop only: */
    struct body_job *held[BODY_FACE_HELD_MAX];
    size_t held_n;
};

struct body_job {
    struct body_face *face;
    struct vd_exchange *x; /* NULL: the client has left */
    struct vd_process process;
    struct vd_slice mode; /* of a constant */
    uint64_t got;
};

static inline void body_note_max(_Atomic size_t *max, size_t n)
{
    size_t old = *max;
    while (n > old && !atomic_compare_exchange_weak(max, &old, n))
        ;
}

static inline void body_respond(struct body_job *job, unsigned status, const char *text)
{
    struct vd_exchange *x = job->x;
    free(job);
    vd_exchange_respond(x, &(struct vd_response){.status = status,
                                                 .content_type = VD_SLICE("text/plain"),
                                                 .body = vd_slice_of(text)});
}

/* ---- through a process ---- */

static inline void body_cat_output(struct vd_process *p, struct vd_slice bytes)
{
    struct body_job *job = VD_CONTAINER_OF(p, struct body_job, process);
    vd_exchange_send(job->x, vd_bytes_copy(bytes));
    body_note_max(&job->face->backlog_max, vd_exchange_backlog(job->x));
    if (vd_exchange_backlog(job->x) > BODY_FACE_BACKLOG) {
        vd_process_pause(p);
        vd_exchange_await_drain(job->x);
    }
}

static inline void body_cat_drained(struct vd_process *p)
{
    vd_exchange_resume_body(VD_CONTAINER_OF(p, struct body_job, process)->x);
}

static inline void body_cat_exited(struct vd_process *p, const struct vd_process_exit *exit)
{
    struct body_job *job = VD_CONTAINER_OF(p, struct body_job, process);
    struct vd_exchange *x = job->x;
    job->face->exits++;
    free(job);
    if (x && vd_process_succeeded(exit))
        vd_exchange_end(x);
    else if (x)
        vd_exchange_abort(x);
}

static inline void body_start_cat(struct body_job *job)
{
    static const char *const argv[] = {"/bin/cat", NULL};
    static const struct vd_process_ops ops = {
        .output = body_cat_output, .drained = body_cat_drained, .exited = body_cat_exited};
    struct vd_process_options o = {.argv = argv, .idle_timeout_ms = 60000};
    struct vd_error error;
    if (vd_process_start(&job->process, job->x->loop, &o, &ops, &error) != VD_OK)
        abort();
}

/* ---- exchanges ---- */

static inline void body_gone(struct vd_exchange *x)
{
    struct body_job *job = x->arg;
    job->x = NULL;
    job->face->gone++;
    for (size_t i = 0; i < job->face->held_n; i++)
        if (job->face->held[i] == job)
            job->face->held[i--] = job->face->held[--job->face->held_n];
    if (vd_process_is_running(&job->process))
        vd_process_kill(&job->process); /* and frees the job when it has ended */
    else
        free(job);
}

static inline void body_drained(struct vd_exchange *x)
{
    struct body_job *job = x->arg;
    if (vd_process_is_running(&job->process))
        vd_process_resume(&job->process);
    else
        vd_exchange_resume_body(x);
}

static inline void body_echo(struct body_job *job, struct vd_slice bytes)
{
    vd_exchange_send(job->x, vd_bytes_copy(bytes));
    body_note_max(&job->face->backlog_max, vd_exchange_backlog(job->x));
    if (vd_exchange_backlog(job->x) > BODY_FACE_BACKLOG) {
        vd_exchange_pause_body(job->x);
        vd_exchange_await_drain(job->x);
    }
}

static inline void body_piece(struct vd_exchange *x, struct vd_slice bytes)
{
    struct body_job *job = x->arg;
    job->got += bytes.n;
    job->face->got += bytes.n;
    body_note_max(&job->face->piece_max, bytes.n);
    if (vd_slice_is(job->mode, "echo")) {
        body_echo(job, bytes);
    } else if (vd_slice_is(job->mode, "cat")) {
        vd_process_write(&job->process, bytes);
        if (vd_process_is_full(&job->process))
            vd_exchange_pause_body(x);
    } else if (vd_slice_is(job->mode, "first")) {
        body_respond(job, 409, "enough");
    } else if (vd_slice_is(job->mode, "short")) {
        free(job);
        vd_exchange_stream(x, &(struct vd_response){.status = 200});
        vd_exchange_send(x, vd_bytes_copy(VD_SLICE("enough")));
        vd_exchange_end(x);
    } else if (vd_slice_is(job->mode, "abort")) {
        free(job);
        vd_exchange_abort(x);
    }
}

static inline void body_end(struct vd_exchange *x)
{
    struct body_job *job = x->arg;
    job->face->ends++;
    if (vd_slice_is(job->mode, "echo")) {
        free(job);
        vd_exchange_end(x);
    } else if (vd_slice_is(job->mode, "cat")) {
        vd_process_close_input(&job->process);
    } else {
        char text[64];
        snprintf(text, sizeof text, "%llu bytes", (unsigned long long)job->got);
        body_respond(job, 200, text);
    }
}

static const struct vd_body_ops body_ops = {.piece = body_piece, .end = body_end};
static const struct vd_exchange_ops body_exchange_ops = {.drained = body_drained,
                                                         .gone = body_gone};

static inline struct vd_slice body_mode(struct vd_slice target)
{
    static const char *const modes[] = {"count",  "echo",  "cat",   "hold", "pause",
                                        "refuse", "first", "short", "abort"};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        struct vd_slice mode = vd_slice_of(modes[i]);
        if (target.n >= 4 + mode.n && memcmp(target.p + 4, mode.p, mode.n) == 0)
            return mode;
    }
    return VD_SLICE("refuse");
}

static inline void body_handle(struct vd_http_service *service, struct vd_exchange *x)
{
    struct body_face *face = x->route->arg;
    struct body_job *job = VD_NEW(struct body_job);
    (void)service;
    *job = (struct body_job){.face = face, .x = x, .mode = body_mode(vd_http_head_target(x->head))};
    x->ops = &body_exchange_ops;
    x->arg = job;
    face->handled++;
    if (vd_slice_is(job->mode, "refuse")) {
        body_respond(job, 403, "no");
        return;
    }
    if (vd_slice_is(job->mode, "hold") || vd_slice_is(job->mode, "pause")) {
        if (face->held_n == BODY_FACE_HELD_MAX)
            abort();
        face->held[face->held_n++] = job;
    }
    if (vd_slice_is(job->mode, "hold"))
        return;
    if (vd_slice_is(job->mode, "echo") || vd_slice_is(job->mode, "cat"))
        vd_exchange_stream(x, &(struct vd_response){.status = 200});
    if (vd_slice_is(job->mode, "cat"))
        body_start_cat(job);
    vd_exchange_read_body(x, &body_ops);
    if (vd_slice_is(job->mode, "pause"))
        vd_exchange_pause_body(x);
}

/* Lets those that are held go on; they count. On the loop. */
static inline void body_face_release(struct body_face *face)
{
    size_t n = face->held_n;
    face->held_n = 0;
    for (size_t i = 0; i < n; i++) {
        struct body_job *job = face->held[i];
        if (vd_slice_is(job->mode, "hold"))
            vd_exchange_read_body(job->x, &body_ops);
        else
            vd_exchange_resume_body(job->x);
    }
}

static inline void body_face_init(struct body_face *face, uint64_t body_len_max)
{
    *face = (struct body_face){.route = {.prefix = VD_SLICE("/up"),
                                         .body_len_max = body_len_max,
                                         .streams_body = true,
                                         .handle = body_handle}};
    face->route.arg = face;
}

#endif
