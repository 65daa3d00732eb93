/*
 * vedette repo credential: a credential helper of git (gitcredentials(7)).
 *
 * git writes what it asks for to standard input, a line `key=value` each, up to an empty line, and
 * reads the answer likewise. It is told the token as the password; the user name does not matter to
 * the server. There is nothing to store or to erase, and git wants other operations passed over.
 */
#include <string.h>

#include "repo_client.h"
#include "terminal.h"

enum { OPTION_OPERATION, OPTION_CLIENT };

static const struct vd_option options[] = {
    [OPTION_OPERATION] = {.name = "operation",
                          .value = "OPERATION",
                          .type = VD_OPTION_TEXT,
                          .required = true,
                          .operand = true,
                          .choices = "get store erase",
                          .help = "what git wants: get, store or erase"},
    [OPTION_CLIENT] = VD_CLIENT_OPTIONS,
};

static void read_question(void)
{
    char line[4096];
    while (fgets(line, sizeof line, stdin) && line[0] != '\n')
        continue;
}

static enum vd_exit get(const struct vd_option_value *values)
{
    struct vd_client client = {0};
    enum vd_exit status;
    if (!vd_repo_open(&client, NULL, NULL, values, &status)) {
        vd_client_release(&client);
        return status;
    }
    if (client.peer.token.n) {
        printf("username=vedette\npassword=%s\n", vd_buf_text(&client.peer.token));
    } else if (client.kubeconfig.n) {
        vd_complain(
            "%s has no token, which git needs as a password: make a kubeconfig that has one "
            "with 'vedette kubeconfig --user NAME --groups LIST --output FILE'",
            vd_buf_text(&client.kubeconfig));
        status = VD_EXIT_FAILED;
    } else {
        vd_complain("there is no token: name a file with --token-file, or set VEDETTE_TOKEN");
        status = VD_EXIT_FAILED;
    }
    vd_client_release(&client);
    return status;
}

static enum vd_exit run(const struct vd_option_value *values)
{
    const char *operation = values[OPTION_OPERATION].text;
    read_question();
    return strcmp(operation, "get") == 0 ? get(&values[OPTION_CLIENT]) : VD_EXIT_OK;
}

const struct vd_command vd_command_repo_credential = {
    .name = "credential",
    .summary = "Tell git the token of a kubeconfig: a credential helper.",
    .details = "git config --global credential.URL.helper \\\n"
               "    '!vedette repo credential --kubeconfig FILE'",
    .options = options,
    .options_n = VD_COUNT(options),
    .run = run,
};
