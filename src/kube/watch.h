/* A watch request as it lives: a watcher in its loop's registry that writes what
 * it is given to an exchange. */
#ifndef VD_KUBE_WATCH_H
#define VD_KUBE_WATCH_H

#include "kube/call.h"
#include "kube/list_options.h"

/* Starts the stream for a call whose rights have been checked; the call's memory is
 * given up. Answers with a Status instead when the options are wrong. */
void vd_watch_start(struct vd_call *call);

#endif
