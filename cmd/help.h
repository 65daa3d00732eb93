/* Help texts, written from the tables of commands and options. */
#ifndef VD_CMD_HELP_H
#define VD_CMD_HELP_H

#include "options.h"

/* Prints the help of the command that the path leads to on stdout. */
void vd_help_print(const struct vd_command_path *path);

#endif
