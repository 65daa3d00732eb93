/*
 * vedette serve
 *
 * A mistake in the configuration counts as a mistake of usage: exit status 2, like a wrong option,
 * whether it stands in the file, the environment or the command line.
 */
#include "server/server.h"

#include "server_options.h"
#include "terminal.h"

static enum vd_exit run(const struct vd_option_value *values)
{
    struct vd_config config;
    struct vd_error error;
    enum vd_exit status = VD_EXIT_OK;
    if (vd_server_options_load(values, &config, &error))
        status = VD_EXIT_USAGE;
    else if (vd_server_run(&config, &error))
        status = VD_EXIT_FAILED;
    if (status != VD_EXIT_OK)
        vd_complain("%s", error.text);
    vd_config_release(&config);
    return status;
}

const struct vd_command vd_command_serve = {
    .name = "serve",
    .summary = "Run the server.",
    .details =
        "It says 'ready' with its URLs once it serves, and logs to stderr. The first start\n"
        "makes keys, certificates and DIR/admin.kubeconfig. SIGTERM and SIGINT stop it when\n"
        "requests in progress are answered; SIGHUP loads the certificates again. Each option\n"
        "can also be set in the file, and in the environment: VEDETTE_LISTEN for --listen.",
    .options = vd_server_options,
    .options_n = VD_SERVER_OPTIONS_N,
    .prepare = vd_server_options_prepare,
    .run = run,
};
