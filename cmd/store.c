/* vedette store: tools for a server's data folder. */
#include "command.h"

static const struct vd_command *const commands[] = {
    &vd_command_store_backup,  &vd_command_store_compact, &vd_command_store_init,
    &vd_command_store_restore, &vd_command_store_stats,   &vd_command_store_verify,
};

const struct vd_command vd_command_store = {
    .name = "store",
    .summary = "Look after a server's data: back it up, restore, check, compact it.",
    .children = commands,
    .children_n = VD_COUNT(commands),
};
