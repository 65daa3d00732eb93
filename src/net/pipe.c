/* See pipe.h. */
#include "net/pipe.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/container_of.h"

static uv_stream_t *stream_of(struct vd_pipe *pipe)
{
    return (uv_stream_t *)&pipe->uv;
}

void vd_pipe_init(struct vd_pipe *pipe, struct vd_loop *loop, const struct vd_pipe_ops *ops)
{
    *pipe = (struct vd_pipe){.loop = loop, .ops = ops, .is_open = true};
    uv_pipe_init(&loop->uv, &pipe->uv, 0); /* cannot fail: no descriptor is made yet */
    pipe->uv.data = pipe;
}

static void on_close(uv_handle_t *handle)
{
    struct vd_pipe *pipe = handle->data;
    pipe->ops->closed(pipe);
}

void vd_pipe_close(struct vd_pipe *pipe)
{
    if (!pipe->is_open)
        return;
    pipe->is_open = false;
    uv_close((uv_handle_t *)&pipe->uv, on_close);
}

/* ---- writing ---- */

/* Bytes that libuv has still to write. */
struct request {
    uv_write_t uv;
    char bytes[];
};

static void break_writing(struct vd_pipe *pipe)
{
    pipe->is_broken = true;
    if (pipe->closes)
        vd_pipe_close(pipe);
}

static void tell_drained(struct vd_pipe *pipe)
{
    if (!pipe->waits)
        return;
    pipe->waits = false;
    if (pipe->closes)
        vd_pipe_close(pipe);
    pipe->ops->drained(pipe);
}

static void on_written(uv_write_t *uv, int status)
{
    struct vd_pipe *pipe = uv->data;
    free(VD_CONTAINER_OF(uv, struct request, uv));
    if (status < 0)
        break_writing(pipe);
    if (status < 0 || vd_pipe_backlog(pipe) == 0)
        tell_drained(pipe);
}

void vd_pipe_write(struct vd_pipe *pipe, struct vd_slice bytes)
{
    if (!pipe->is_open || pipe->is_broken || pipe->closes)
        return;
    uv_buf_t buf = uv_buf_init((char *)(uintptr_t)bytes.p, (unsigned)bytes.n);
    int n = vd_pipe_backlog(pipe) ? UV_EAGAIN : uv_try_write(stream_of(pipe), &buf, 1);
    if (n < 0 && n != UV_EAGAIN) {
        break_writing(pipe);
        return;
    }
    size_t taken = n > 0 ? (size_t)n : 0, left = bytes.n - taken;
    if (!left)
        return;
    struct request *r = vd_malloc(sizeof *r + left);
    memcpy(r->bytes, bytes.p + taken, left);
    r->uv.data = pipe;
    buf = uv_buf_init(r->bytes, (unsigned)left);
    if (uv_write(&r->uv, stream_of(pipe), &buf, 1, on_written)) {
        free(r);
        break_writing(pipe);
        return;
    }
    pipe->waits = true;
}

void vd_pipe_close_behind(struct vd_pipe *pipe)
{
    pipe->closes = true;
    if (!pipe->waits)
        vd_pipe_close(pipe);
}

size_t vd_pipe_backlog(const struct vd_pipe *pipe)
{
    if (!pipe->is_open || pipe->is_broken)
        return 0;
    return uv_stream_get_write_queue_size((const uv_stream_t *)&pipe->uv);
}

/* ---- reading ---- */

/* What comes is given on at once, so that all pipes of a loop can share its scratch memory. */
static void give_room(uv_handle_t *handle, size_t wanted, uv_buf_t *room)
{
    struct vd_pipe *pipe = handle->data;
    (void)wanted;
    *room = uv_buf_init(pipe->loop->scratch, VD_LOOP_SCRATCH_LEN);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *room)
{
    struct vd_pipe *pipe = stream->data;
    if (n > 0) {
        pipe->ops->received(pipe, vd_slice(room->base, (size_t)n));
    } else if (n < 0) { /* the other side is closed, or, for a socket, closed with unread bytes */
        uv_read_stop(stream);
        pipe->ops->ended(pipe);
    }
}

void vd_pipe_read_start(struct vd_pipe *pipe)
{
    if (pipe->is_open)
        uv_read_start(stream_of(pipe), give_room, on_read);
}

void vd_pipe_read_stop(struct vd_pipe *pipe)
{
    if (pipe->is_open)
        uv_read_stop(stream_of(pipe));
}
