/* How process.c starts a program: uv_spawn(), the limits of its resources, and what went wrong. */
#ifndef VD_NET_PROCESS_START_H
#define VD_NET_PROCESS_START_H

#include "net/process.h"

/* As vd_process_start(), of which it is a part. uv->data stays as it is; the handle is to be closed
 * in any case. */
int vd_process_spawn(uv_process_t *uv, struct vd_loop *loop, const struct vd_process_options *o,
                     uv_stdio_container_t *stdio, int stdio_n, uv_exit_cb exited,
                     struct vd_error *error) VD_MUST_USE;

#endif
