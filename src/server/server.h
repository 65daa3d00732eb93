/* The server: a store, its listeners and loops, from start to stop. */
#ifndef VD_SERVER_SERVER_H
#define VD_SERVER_SERVER_H

#include "base/error.h"
#include "server/config.h"

/*
 * Runs a server until it is told to stop by SIGTERM or SIGINT, and drains it. The
 * line "ready URL..." on stdout says that it serves. SIGHUP loads the certificates
 * again. Takes these signals over for the whole process: call it once, on the main
 * thread, before other threads exist. The configuration is borrowed.
 */
int vd_server_run(const struct vd_config *config, struct vd_error *error) VD_MUST_USE;

#endif
