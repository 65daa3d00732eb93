/*
 * vedette kubeconfig
 *
 * The credential is a token and no certificate, since a token can be revoked. Where the file cannot
 * be written, the token that was made for it is revoked again.
 */
#include "auth/kubeconfig.h"

#include <openssl/crypto.h>
#include <string.h>
#include <sys/stat.h>

#include "auth/private_file.h"
#include "auth/token.h"
#include "base/clock.h"
#include "client.h"
#include "data_folder.h"
#include "new_token.h"
#include "terminal.h"

enum {
    OPTION_DATA,
    OPTION_USER,
    OPTION_GROUPS,
    OPTION_EXPIRES,
    OPTION_SERVER,
    OPTION_OUTPUT,
    OPTION_FORCE,
};

static const struct vd_option options[] = {
    [OPTION_DATA] = VD_OPTION_DATA_ENTRY("the server's data folder"),
    [OPTION_USER] = {.name = "user",
                     .value = "NAME",
                     .type = VD_OPTION_TEXT,
                     .required = true,
                     .help = "the user whom it is for"},
    [OPTION_GROUPS] = {.name = "groups",
                       .value = "LIST",
                       .type = VD_OPTION_TEXT,
                       .help = "the user's groups, with commas between them"},
    [OPTION_EXPIRES] = {.name = "expires",
                        .value = "TIME",
                        .type = VD_OPTION_DURATION,
                        .help = "how long it is good: 8h, 30d; without it, until revoked"},
    [OPTION_SERVER] = {.name = "server",
                       .value = "URL",
                       .type = VD_OPTION_TEXT,
                       .help = "where the server is reached; else as in DIR/admin.kubeconfig"},
    [OPTION_OUTPUT] = {.name = "output",
                       .value = "FILE",
                       .type = VD_OPTION_TEXT,
                       .help = "the file to write, with mode 0600; else standard output"},
    [OPTION_FORCE] = {.name = "force", .help = "replace FILE when it exists"},
};

static int put(const struct vd_option_value *values, struct vd_slice text, struct vd_error *error)
{
    const char *file = values[OPTION_OUTPUT].text;
    if (!values[OPTION_OUTPUT].given) {
        printf("%.*s", VD_FMT(text));
        return VD_OK;
    }
    if (values[OPTION_FORCE].given)
        return vd_private_file_replace(file, text, VD_FILE_MODE_SECRET, error);
    int code = vd_private_file_create(file, text, VD_FILE_MODE_SECRET, error);
    if (code == VD_ERR_EXISTS)
        vd_error_set(error, VD_ERR_EXISTS,
                     "%s exists: name another file, or replace it with --force", file);
    return code;
}

static int create(const struct vd_option_value *values, struct vd_error *error)
{
    const char *folder = values[OPTION_DATA].text;
    struct vd_client admin = {0};
    struct vd_buf token = {0}, id = {0}, text = {0};
    int code = vd_data_folder_exists(folder, error);
    if (!code)
        code = vd_client_open_folder(&admin, folder, error);
    if (!code)
        code = vd_new_token(
            folder,
            &(struct vd_new_token){.user = values[OPTION_USER].text,
                                   .groups = values[OPTION_GROUPS].text,
                                   .description = "kubeconfig",
                                   .lifetime_ms = (int64_t)values[OPTION_EXPIRES].number},
            &token, &id, error);
    if (!code) {
        vd_buf_addf(&text, "# Written by 'vedette kubeconfig'; its token has the id %s.\n",
                    vd_buf_text(&id));
        vd_kubeconfig_write(&text, &(struct vd_kubeconfig){
                                       .server = values[OPTION_SERVER].given
                                                     ? vd_slice_of(values[OPTION_SERVER].text)
                                                     : vd_buf_slice(&admin.server),
                                       .ca_pem = vd_buf_slice(&admin.ca),
                                       .user = vd_slice_of(values[OPTION_USER].text),
                                       .token = vd_buf_slice(&token),
                                   });
        code = put(values, vd_buf_slice(&text), error);
        if (code && vd_token_revoke(folder, vd_buf_slice(&id), vd_clock_system(), NULL))
            vd_complain("the token %s, made for it, could not be revoked", vd_buf_text(&id));
    }
    if (token.p)
        OPENSSL_cleanse(token.p, token.n);
    if (text.p)
        OPENSSL_cleanse(text.p, text.n);
    vd_buf_release(&token);
    vd_buf_release(&id);
    vd_buf_release(&text);
    vd_client_release(&admin);
    return code;
}

/* Checks what the tables of options cannot say of values. False: the mistake has been printed. */
static bool check(const struct vd_option_value *values)
{
    const char *wrong = NULL;
    if (values[OPTION_EXPIRES].given && !values[OPTION_EXPIRES].number)
        wrong = "option '--expires' wants more than no time";
    else if (values[OPTION_SERVER].given &&
             strncmp(values[OPTION_SERVER].text, "https://", sizeof "https://" - 1) != 0)
        wrong = "option '--server' wants a URL such as https://vedette.example:6443, since clients "
                "send credentials over HTTPS only";
    if (wrong)
        vd_complain("%s; run 'vedette kubeconfig --help'", wrong);
    return !wrong;
}

static enum vd_exit run(const struct vd_option_value *values)
{
    struct vd_error error;
    if (!check(values))
        return VD_EXIT_USAGE;
    int code = create(values, &error);
    if (code)
        vd_complain("%s", error.text);
    return code ? VD_EXIT_FAILED : VD_EXIT_OK;
}

const struct vd_command vd_command_kubeconfig = {
    .name = "kubeconfig",
    .summary = "Make a kubeconfig for a user, with a token of its own.",
    .details = "What the user may do is for roles to say: bind some to the user or to one of the\n"
               "groups. 'vedette token list' shows the token, and 'vedette token revoke' ends it.",
    .options = options,
    .options_n = VD_COUNT(options),
    .run = run,
};
