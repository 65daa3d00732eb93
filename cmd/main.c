/* The `vedette` program: finds the command, runs it, and makes sure that its
 * output arrived. */
#include <signal.h>
#include <string.h>

#include "help.h"
#include "hook.h"
#include "options.h"
#include "ssh.h"
#include "terminal.h"

/* The table of commands; groups have tables of their own (store.c). */
static const struct vd_command *const commands[] = {
    &vd_command_serve,      &vd_command_config,  &vd_command_store, &vd_command_token,
    &vd_command_kubeconfig, &vd_command_repo,    &vd_command_lint,  &vd_command_top,
    &vd_command_completion, &vd_command_version,
};

const struct vd_command vd_command_root = {
    .name = "vedette",
    .summary = "Vedette, a control plane in one binary.",
    .children = commands,
    .children_n = VD_COUNT(commands),
};

static enum vd_exit run(int argc, char **argv)
{
    struct vd_command_line line;
    struct vd_error error;
    if (argc > 0 && strcmp(argv[0], "--version") == 0)
        argv[0] += 2;
    if (vd_command_line_parse(&line, &vd_command_root, argc, argv, &error)) {
        vd_complain("%s", error.text);
        return VD_EXIT_USAGE;
    }
    if (line.help) {
        vd_help_print(&line.path);
        return VD_EXIT_OK;
    }
    return vd_command_path_end(&line.path)->run(line.values);
}

int main(int argc, char **argv)
{
    /* Writing to a closed pipe is then an error like any other, which is reported with a
     * sentence. */
    signal(SIGPIPE, SIG_IGN);
    const char *hook = vd_hook_of(argc > 0 ? argv[0] : NULL);
    if (hook)
        return vd_hook_run(hook);
    if (vd_is_ssh(argc > 0 ? argv[0] : NULL))
        return vd_ssh_run(argc, argv);
    return (int)vd_output_finish(run(argc - 1, argv + 1));
}
