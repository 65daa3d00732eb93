/* Asks the server that runs on a data folder, as its administrator. */
#ifndef VD_CMD_SERVER_ASK_H
#define VD_CMD_SERVER_ASK_H

#include "base/arena.h"
#include "base/error.h"
#include "json/document.h"

/*
 * The JSON document at a path of the server's API, in the arena. The address and the credentials
 * are those of admin.kubeconfig. VD_ERR_IO: the server does not answer, or its answer cannot be
 * read.
 */
int vd_server_ask(struct vd_arena *arena, const char *folder, const char *path,
                  struct vd_json **out, struct vd_error *error) VD_MUST_USE;

#endif
