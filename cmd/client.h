/*
 * A client of a server: whom a command asks, and as whom.
 *
 *     struct vd_client client = {0};
 *     code = vd_client_open(&client, &values[OPTION_CLIENT], &error);
 *     code = vd_client_get(&client, "/apis", &document, &error);
 *     vd_client_release(&client);
 *
 * That is said by --server with --token-file and --ca-file, or by a kubeconfig: --kubeconfig, the
 * variable KUBECONFIG, or admin.kubeconfig of the data folder. Blocking.
 */
#ifndef VD_CMD_CLIENT_H
#define VD_CMD_CLIENT_H

#include "base/arena.h"
#include "command.h"
#include "http_ask.h"
#include "json/document.h"

/* The options, in the order of VD_CLIENT_OPTIONS, which stand one behind the other in a table. */
enum {
    VD_CLIENT_KUBECONFIG,
    VD_CLIENT_DATA,
    VD_CLIENT_SERVER,
    VD_CLIENT_TOKEN_FILE,
    VD_CLIENT_CA_FILE,
    VD_CLIENT_OPTIONS_N
};

/* clang-format off */
#define VD_CLIENT_OPTIONS                                                                          \
    {.name = "kubeconfig", .value = "FILE", .type = VD_OPTION_TEXT,                                \
     .help = "where the server is and who asks; KUBECONFIG or DIR/admin.kubeconfig unless given"}, \
    VD_OPTION_DATA_ENTRY("the server's data folder, for its admin.kubeconfig"),                    \
    {.name = "server", .value = "URL", .type = VD_OPTION_TEXT,                                     \
     .help = "ask this server, and read no kubeconfig"},                                           \
    {.name = "token-file", .value = "FILE", .type = VD_OPTION_TEXT,                                \
     .help = "the token for --server; VEDETTE_TOKEN unless given"},                                \
    {.name = "ca-file", .value = "FILE", .type = VD_OPTION_TEXT,                                   \
     .help = "the authority of --server; those of the system unless given"}
/* clang-format on */

/* `= {0}` is none. */
struct vd_client {
    struct vd_http_peer peer;       /* with the token, if there is one */
    struct vd_arena arena;          /* of all that was answered */
    struct vd_buf server;           /* "https://127.0.0.1:6443" */
    struct vd_buf kubeconfig;       /* the absolute path; empty: there is none */
    struct vd_buf ca;               /* PEM; empty: the system's */
    struct vd_buf ca_file;          /* the absolute path of a file that has it; empty: none */
    struct vd_buf token_file;       /* the absolute path; empty: none */
    struct vd_buf certificate, key; /* PEM; empty: none */
    unsigned status;                /* of the last answer, such as 404; 0: there was none */
};

/* The values are those of VD_CLIENT_OPTIONS. */
int vd_client_open(struct vd_client *client, const struct vd_option_value *values,
                   struct vd_error *error) VD_MUST_USE;

/* The administrator of the server on a data folder, as its admin.kubeconfig says.
 * VD_ERR_NOT_FOUND: the folder has none. */
int vd_client_open_folder(struct vd_client *client, const char *folder,
                          struct vd_error *error) VD_MUST_USE;

/* The server of a URL, with the file of a token (NULL: the variable VEDETTE_TOKEN, or none) and the
 * file of an authority's certificate (NULL: the system's). VD_ERR_INVALID: one of them is wrong. */
int vd_client_open_server(struct vd_client *client, const char *url, const char *token_file,
                          const char *ca_file, struct vd_error *error) VD_MUST_USE;

void vd_client_release(struct vd_client *client);

/* Asks, and reads the answer's JSON. An answer that is no success is an error with the server's own
 * words: VD_ERR_NOT_FOUND, VD_ERR_EXISTS, VD_ERR_CONFLICT, VD_ERR_EXPIRED, VD_ERR_FORBIDDEN, else
 * VD_ERR_IO. *out is then the Status, or NULL if the answer is no JSON. */
int vd_client_ask(struct vd_client *client, const struct vd_http_question *question,
                  struct vd_json **out, struct vd_error *error) VD_MUST_USE;
int vd_client_get(struct vd_client *client, const char *path, struct vd_json **out,
                  struct vd_error *error) VD_MUST_USE;

/* Reads all objects of a collection that have these labels (empty: all of it), page by page, and
 * calls `each` with every one of them. An object lives until `each` returns. A result of `each`
 * that is not VD_OK ends the list and is returned. */
int vd_client_list(struct vd_client *client, const char *path, const char *labels,
                   int (*each)(void *arg, struct vd_json *object, struct vd_error *error),
                   void *arg, struct vd_error *error) VD_MUST_USE;

#endif
