/*
 * The program as git's ssh: main() calls this when it was called by the name "ssh", which is a link
 * beside the hooks. It is the real ssh with the options that a fetch of the server needs, which git
 * can pass on by way of a shell only.
 */
#ifndef VD_CMD_SSH_H
#define VD_CMD_SSH_H

#include <stdbool.h>

/* Whether a program of this name (argv[0]) is that. */
bool vd_is_ssh(const char *program);

/* Becomes ssh; returns an exit status only if that fails. */
int vd_ssh_run(int argc, char **argv);

#endif
