/*
 * vedette token create
 *
 * The token itself is all that goes to stdout, so that a script can read it from there.
 */
#include <openssl/crypto.h>

#include "data_folder.h"
#include "new_token.h"
#include "terminal.h"

enum {
    OPTION_DATA,
    OPTION_USER,
    OPTION_GROUPS,
    OPTION_EXPIRES,
    OPTION_DESCRIPTION,
    OPTION_OUTPUT,
};

static const struct vd_option options[] = {
    [OPTION_DATA] = VD_OPTION_DATA_ENTRY("the server's data folder"),
    [OPTION_USER] = {.name = "user",
                     .value = "NAME",
                     .type = VD_OPTION_TEXT,
                     .required = true,
                     .help = "the user whom the token stands for"},
    [OPTION_GROUPS] = {.name = "groups",
                       .value = "LIST",
                       .type = VD_OPTION_TEXT,
                       .help = "the user's groups, with commas between them"},
    [OPTION_EXPIRES] = {.name = "expires",
                        .value = "TIME",
                        .type = VD_OPTION_DURATION,
                        .help = "how long the token is good: 8h, 30d; without it, until revoked"},
    [OPTION_DESCRIPTION] = {.name = "description",
                            .value = "TEXT",
                            .type = VD_OPTION_TEXT,
                            .help = "what the token is for, shown by 'token list'"},
    [OPTION_OUTPUT] = VD_OPTION_OUTPUT_ENTRY,
};

static void print_json(const struct vd_buf *token, const struct vd_buf *id, const char *user)
{
    struct vd_buf out = {0};
    vd_buf_add_text(&out, "{\"id\":");
    vd_json_add_text(&out, vd_buf_slice(id));
    vd_buf_add_text(&out, ",\"user\":");
    vd_json_add_text(&out, vd_slice_of(user));
    vd_buf_add_text(&out, ",\"token\":");
    vd_json_add_text(&out, vd_buf_slice(token));
    printf("%s}\n", vd_buf_text(&out));
    OPENSSL_cleanse(out.p, out.n);
    vd_buf_release(&out);
}

static int create(const struct vd_option_value *values, struct vd_buf *token, struct vd_buf *id,
                  struct vd_error *error)
{
    int code = vd_data_folder_exists(values[OPTION_DATA].text, error);
    if (!code)
        code = vd_new_token(
            values[OPTION_DATA].text,
            &(struct vd_new_token){.user = values[OPTION_USER].text,
                                   .groups = values[OPTION_GROUPS].text,
                                   .description = values[OPTION_DESCRIPTION].text,
                                   .lifetime_ms = (int64_t)values[OPTION_EXPIRES].number},
            token, id, error);
    return code;
}

static enum vd_exit run(const struct vd_option_value *values)
{
    struct vd_buf token = {0}, id = {0};
    struct vd_error error;
    if (values[OPTION_EXPIRES].given && !values[OPTION_EXPIRES].number) {
        vd_complain(
            "option '--expires' wants more than no time; run 'vedette token create --help'");
        return VD_EXIT_USAGE;
    }
    int code = create(values, &token, &id, &error);
    if (code)
        vd_complain("%s", error.text);
    else if (vd_option_is_json(&values[OPTION_OUTPUT]))
        print_json(&token, &id, values[OPTION_USER].text);
    else
        printf("%s\n", vd_buf_text(&token));
    if (token.p)
        OPENSSL_cleanse(token.p, token.n);
    vd_buf_release(&token);
    vd_buf_release(&id);
    return code ? VD_EXIT_FAILED : VD_EXIT_OK;
}

const struct vd_command vd_command_token_create = {
    .name = "create",
    .summary = "Make a token and print it; it cannot be shown again.",
    .details = "Only a hash of it is kept. A running server takes it up by itself. What its user\n"
               "may do is for roles to say: bind some to the user or to one of the groups.",
    .options = options,
    .options_n = VD_COUNT(options),
    .run = run,
};
