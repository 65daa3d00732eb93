/* vedette config: what a server would run with. */
#include "command.h"

static const struct vd_command *const commands[] = {
    &vd_command_config_check,
    &vd_command_config_print,
};

const struct vd_command vd_command_config = {
    .name = "config",
    .summary = "Check and show the server's configuration.",
    .children = commands,
    .children_n = VD_COUNT(commands),
};
