/* vedette token revoke */
#include "auth/token.h"
#include "base/clock.h"
#include "data_folder.h"
#include "terminal.h"

enum { OPTION_DATA, OPTION_ID, OPTION_OUTPUT };

static const struct vd_option options[] = {
    [OPTION_DATA] = VD_OPTION_DATA_ENTRY("the server's data folder"),
    [OPTION_ID] = {.name = "id",
                   .value = "ID",
                   .type = VD_OPTION_TEXT,
                   .required = true,
                   .help = "the token's id, as 'token list' shows it"},
    [OPTION_OUTPUT] = VD_OPTION_OUTPUT_ENTRY,
};

static enum vd_exit run(const struct vd_option_value *values)
{
    const char *folder = values[OPTION_DATA].text;
    struct vd_slice id = vd_slice_of(values[OPTION_ID].text);
    struct vd_error error;
    int code = vd_data_folder_exists(folder, &error);
    if (!code)
        code = vd_token_revoke(folder, id, vd_clock_system(), &error);
    if (code) {
        vd_complain("%s", error.text);
        return VD_EXIT_FAILED;
    }
    if (vd_option_is_json(&values[OPTION_OUTPUT]))
        printf("{\"revoked\":\"%.*s\"}\n", VD_FMT(id));
    else
        printf("revoked %.*s\n", VD_FMT(id));
    return VD_EXIT_OK;
}

const struct vd_command vd_command_token_revoke = {
    .name = "revoke",
    .summary = "End a token; a running server refuses it within seconds.",
    .options = options,
    .options_n = VD_COUNT(options),
    .run = run,
};
