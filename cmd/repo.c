/* vedette repo: Git repositories of a server. */
#include "command.h"

static const struct vd_command *const commands[] = {
    &vd_command_repo_create,     &vd_command_repo_list,  &vd_command_repo_status,
    &vd_command_repo_log,        &vd_command_repo_adopt, &vd_command_repo_reset,
    &vd_command_repo_credential,
};

const struct vd_command vd_command_repo = {
    .name = "repo",
    .summary = "Create, show, fill and reset Git repositories of a server.",
    .children = commands,
    .children_n = VD_COUNT(commands),
};
