/* vedette config check: the file, with those that it names for issuers and auditing, without
 * environment and options. */
#include "auth/audit_policy.h"
#include "auth/oidc.h"
#include "server/config.h"
#include "terminal.h"

enum { OPTION_FILE };

static const struct vd_option options[] = {
    [OPTION_FILE] = {.name = "file",
                     .value = "FILE",
                     .type = VD_OPTION_TEXT,
                     .required = true,
                     .operand = true,
                     .help = "the configuration, vedette.yaml(5)"},
};

static int check_named_files(const struct vd_config *config, struct vd_error *error)
{
    struct vd_audit_policy *policy = NULL;
    struct vd_oidc_config *issuers = NULL;
    int code = VD_OK;
    if (config->audit_policy)
        code = vd_audit_policy_load(&policy, config->audit_policy, error);
    if (!code && config->authentication_config)
        code = vd_oidc_config_load(&issuers, config->authentication_config, error);
    vd_audit_policy_unref(policy);
    vd_oidc_config_unref(issuers);
    return code;
}

static enum vd_exit run(const struct vd_option_value *values)
{
    const char *file = values[OPTION_FILE].text;
    struct vd_config config;
    struct vd_error error;
    vd_config_init(&config);
    int code = vd_config_load(&config, &(struct vd_config_origins){.file = file}, &error);
    if (!code)
        code = check_named_files(&config, &error);
    for (size_t i = 0; i < config.warnings.n; i++)
        vd_complain("warning: %s", config.warnings.p[i]);
    if (code)
        vd_complain("%s", error.text);
    else
        printf("%s is good\n", file);
    vd_config_release(&config);
    return code ? VD_EXIT_FAILED : VD_EXIT_OK;
}

const struct vd_command vd_command_config_check = {
    .name = "check",
    .summary = "Check a configuration file, without the environment.",
    .options = options,
    .options_n = VD_COUNT(options),
    .run = run,
};
