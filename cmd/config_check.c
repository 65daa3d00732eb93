/* vedette config check: checks the file, and the files that it names for issuers and auditing,
 * without the environment and options. It reports all mistakes that it can find, not only the
 * first. */
#include "auth/audit_policy.h"
#include "auth/oidc.h"
#include "server/config.h"
#include "terminal.h"

enum { OPTION_FILE, OPTION_CONFIG };

static const struct vd_option options[] = {
    [OPTION_FILE] = {.name = "file",
                     .value = "FILE",
                     .type = VD_OPTION_TEXT,
                     .operand = true,
                     .help = "the configuration, vedette.yaml(5)"},
    [OPTION_CONFIG] = {.name = "config",
                       .value = "FILE",
                       .type = VD_OPTION_TEXT,
                       .help = "the same, as 'vedette serve' has it"},
};

/* Says what is wrong with the files that the configuration names. Returns how many of them are
 * wrong. */
static size_t check_named_files(const struct vd_config *config)
{
    struct vd_audit_policy *policy = NULL;
    struct vd_oidc_config *issuers = NULL;
    struct vd_error error;
    size_t wrong = 0;
    if (config->audit_policy && vd_audit_policy_load(&policy, config->audit_policy, &error)) {
        vd_complain("%s", error.text);
        wrong++;
    }
    if (config->authentication_config &&
        vd_oidc_config_load(&issuers, config->authentication_config, &error)) {
        vd_complain("%s", error.text);
        wrong++;
    }
    vd_audit_policy_unref(policy);
    vd_oidc_config_unref(issuers);
    return wrong;
}

static enum vd_exit check(const char *file)
{
    struct vd_config config;
    vd_config_init(&config);
    size_t wrong = vd_config_load_all(&config, &(struct vd_config_origins){.file = file});
    for (size_t i = 0; i < config.warnings.n; i++)
        vd_complain("warning: %s", config.warnings.p[i]);
    for (size_t i = 0; i < config.errors.n; i++)
        vd_complain("%s", config.errors.p[i]);
    wrong += check_named_files(&config);
    if (!wrong)
        printf("%s is good\n", file);
    vd_config_release(&config);
    return wrong ? VD_EXIT_FAILED : VD_EXIT_OK;
}

static enum vd_exit run(const struct vd_option_value *values)
{
    if (values[OPTION_FILE].given == values[OPTION_CONFIG].given) {
        vd_complain("%s; run 'vedette config check --help'",
                    values[OPTION_FILE].given ? "FILE is given twice" : "FILE is missing");
        return VD_EXIT_USAGE;
    }
    return check(values[values[OPTION_FILE].given ? OPTION_FILE : OPTION_CONFIG].text);
}

const struct vd_command vd_command_config_check = {
    .name = "check",
    .summary = "Check a configuration file, without the environment.",
    .details = "Tells every mistake with its line and column, also in the files that it names for\n"
               "issuers and the audit policy.",
    .options = options,
    .options_n = VD_COUNT(options),
    .run = run,
};
