/* vedette token: bearer tokens for people and programs. */
#include "command.h"

static const struct vd_command *const commands[] = {
    &vd_command_token_create,
    &vd_command_token_list,
    &vd_command_token_revoke,
};

const struct vd_command vd_command_token = {
    .name = "token",
    .summary = "Make, list and revoke bearer tokens.",
    .children = commands,
    .children_n = VD_COUNT(commands),
};
