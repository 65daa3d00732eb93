/* vedette config print: what `vedette serve` would run with, given the same options
 * and environment. */
#include "server_options.h"
#include "terminal.h"

static enum vd_exit run(const struct vd_option_value *values)
{
    struct vd_config config;
    struct vd_error error;
    struct vd_buf out = {0};
    int code = vd_server_options_load(values, &config, &error);
    for (size_t i = 0; i < config.warnings.n; i++)
        vd_complain("warning: %s", config.warnings.p[i]);
    if (code)
        vd_complain("%s", error.text);
    else {
        vd_config_write(&config, &out);
        fputs(vd_buf_text(&out), stdout);
    }
    vd_buf_release(&out);
    vd_config_release(&config);
    return code ? VD_EXIT_USAGE : VD_EXIT_OK;
}

const struct vd_command vd_command_config_print = {
    .name = "print",
    .summary = "Show every setting with its value and where that comes from.",
    .details = "Takes the options of 'vedette serve' and prints the YAML file that would do the\n"
               "same as options, environment and file together.",
    .options = vd_server_options,
    .options_n = VD_SERVER_OPTIONS_N,
    .prepare = vd_server_options_prepare,
    .run = run,
};
