/*
 * The server's end of a pipe to a process: a libuv stream whose writes are copied and never block.
 *
 * For process.c. All on the loop's thread.
 */
#ifndef VD_NET_PIPE_H
#define VD_NET_PIPE_H

#include <stdbool.h>
#include <stddef.h>
#include <uv.h>

#include "base/slice.h"
#include "net/loop.h"

struct vd_pipe;

struct vd_pipe_ops {
    void (*received)(struct vd_pipe *pipe, struct vd_slice bytes); /* borrowed */
    void (*ended)(struct vd_pipe *pipe);   /* nothing more will be received; it is still open */
    void (*drained)(struct vd_pipe *pipe); /* nothing that was written waits any more */
    void (*closed)(struct vd_pipe *pipe);  /* its memory is free; last call */
};

struct vd_pipe {
    uv_pipe_t uv;
    struct vd_loop *loop;
    const struct vd_pipe_ops *ops;
    bool is_open;
    bool is_broken; /* nobody reads what is written */
    bool waits;     /* `drained` is to be called */
    bool closes;    /* behind what is still to be written */
};

/* For uv_spawn(), which connects it; afterwards it must be closed. */
void vd_pipe_init(struct vd_pipe *pipe, struct vd_loop *loop, const struct vd_pipe_ops *ops);
void vd_pipe_close(struct vd_pipe *pipe); /* again: no effect */

void vd_pipe_write(struct vd_pipe *pipe, struct vd_slice bytes);
void vd_pipe_close_behind(struct vd_pipe *pipe); /* what was written is sent before */
size_t vd_pipe_backlog(const struct vd_pipe *pipe);

void vd_pipe_read_start(struct vd_pipe *pipe);
void vd_pipe_read_stop(struct vd_pipe *pipe);

#endif
