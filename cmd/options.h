/* The command line: which command, with which options. */
#ifndef VD_CMD_OPTIONS_H
#define VD_CMD_OPTIONS_H

#include "base/error.h"
#include "command.h"

enum {
    VD_OPTIONS_MAX = 64, /* options that one command may have */
    VD_COMMAND_DEPTH_MAX = 4,
};

/* The words that lead to a command, the root's own first. */
struct vd_command_path {
    const struct vd_command *at[VD_COMMAND_DEPTH_MAX];
    size_t n;
};

static inline const struct vd_command *vd_command_path_end(const struct vd_command_path *path)
{
    return path->at[path->n - 1];
}

struct vd_command_line {
    struct vd_command_path path;
    struct vd_option_value values[VD_OPTIONS_MAX];
    bool help; /* help was asked for, or a command with sub-commands was given without one */
};

/*
 * Reads the words after the program's name. VD_ERR_INVALID with a sentence that names the wrong
 * word and says what to do; line->path is then the path up to where it was understood. The values
 * borrow from argv.
 */
int vd_command_line_parse(struct vd_command_line *line, const struct vd_command *root, int argc,
                          char **argv, struct vd_error *error) VD_MUST_USE;

#endif
