/*
 * vedette repo credential: a credential helper of git (gitcredentials(7)).
 *
 * git writes what it asks for to standard input, a line `key=value` each, up to an empty line, and
 * reads the answer likewise. It is told the token as the password; the user name does not matter to
 * the server. There is nothing to store or to erase, and git wants other operations passed over.
 *
 * The token is for one server. If git asks for another protocol, host or port, or names none, there
 * is no answer, and git asks its other helpers or the user. The path does not matter: a server has
 * one token for all of its repositories.
 */
#include <string.h>
#include <strings.h>

#include "net/http_url.h"
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

enum { LINE_LEN_MAX = 4096 }; /* of a line of the question; a longer one is passed over */

/* What git asks for. Empty: git did not say. */
struct question {
    struct vd_buf protocol; /* "https" */
    struct vd_buf host;     /* "127.0.0.1:6443" */
};

static void read_line(struct question *q, struct vd_slice line)
{
    struct vd_slice key;
    struct vd_buf *value = NULL;
    if (!memchr(line.p, '=', line.n) || !vd_slice_cut(&line, '=', &key))
        return;
    if (vd_slice_is(key, "protocol"))
        value = &q->protocol;
    else if (vd_slice_is(key, "host"))
        value = &q->host;
    if (!value)
        return;
    vd_buf_reset(value);
    vd_buf_add_slice(value, line);
}

static void read_question(struct question *q)
{
    char bytes[LINE_LEN_MAX];
    bool begins = true; /* the bytes are the beginning of a line */
    while (fgets(bytes, sizeof bytes, stdin) && !(begins && bytes[0] == '\n')) {
        struct vd_slice line = vd_slice_of(bytes);
        bool ends = line.n && line.p[line.n - 1] == '\n';
        if (begins && ends)
            read_line(q, vd_slice(line.p, line.n - 1));
        begins = ends;
    }
}

/* Whether git asks for the token of this server. */
static bool is_for(const struct question *q, const struct vd_client *client)
{
    struct vd_http_url asked, server;
    struct vd_error error;
    struct vd_buf url = {0};
    vd_buf_add_slice(&url, vd_buf_slice(&q->protocol));
    vd_buf_add_text(&url, "://");
    vd_buf_add_slice(&url, vd_buf_slice(&q->host));
    bool is = !vd_http_url_parse(&asked, vd_buf_slice(&url), &error) &&
              !vd_http_url_parse(&server, vd_buf_slice(&client->server), &error) &&
              !asked.target.n && asked.tls == server.tls && asked.port == server.port &&
              asked.host.n == server.host.n &&
              strncasecmp(asked.host.p, server.host.p, server.host.n) == 0;
    vd_buf_release(&url);
    return is;
}

static enum vd_exit get(const struct question *q, const struct vd_option_value *values)
{
    struct vd_client client = {0};
    enum vd_exit status;
    if (!vd_repo_open(&client, NULL, NULL, values, &status)) {
        vd_client_release(&client);
        return status;
    }
    if (!is_for(q, &client)) {
        status = VD_EXIT_OK;
    } else if (client.peer.token.n) {
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
    struct question question = {0};
    enum vd_exit status = VD_EXIT_OK;
    read_question(&question);
    if (strcmp(values[OPTION_OPERATION].text, "get") == 0)
        status = get(&question, &values[OPTION_CLIENT]);
    vd_buf_release(&question.protocol);
    vd_buf_release(&question.host);
    return status;
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
