/*
 * The program as a hook of git: main() calls this when the name that it was called by is that of a
 * hook, "pre-receive" or "proc-receive". Links with these names stand in the hooks folder of the
 * server's repositories.
 */
#ifndef VD_CMD_HOOK_H
#define VD_CMD_HOOK_H

#include <stdbool.h>

/* The hook that a program of this name (argv[0]) is, or NULL. */
const char *vd_hook_of(const char *program);

/* Runs the hook and gives the exit status: 0, or 1 if the push is refused. */
int vd_hook_run(const char *hook);

#endif
