/* See client.h. */
#include "client.h"

#include <openssl/crypto.h>
#include <stdlib.h>

#include "auth/private_file.h"
#include "base/base64.h"
#include "base/limits.h"
#include "json/parse.h"
#include "json/yaml_read.h"

enum { PAGE = 200 }; /* objects in one answer of a list */

/* ---- a kubeconfig ---- */

/* The member of the element of the list that has this name. */
static const struct vd_json *named(const struct vd_json *root, const char *list, const char *member,
                                   struct vd_slice name)
{
    VD_JSON_EACH (item, vd_json_get(root, vd_slice_of(list)))
        if (vd_slice_eq(vd_json_text(vd_json_get(item, VD_SLICE("name"))), name))
            return vd_json_get(item, vd_slice_of(member));
    return NULL;
}

/* The absolute path of a file that the kubeconfig names, which may be from its own folder. */
static void add_path(struct vd_buf *out, const struct vd_client *c, struct vd_slice path)
{
    struct vd_slice folder = vd_buf_slice(&c->kubeconfig);
    while (folder.n && folder.p[folder.n - 1] != '/')
        folder.n--;
    if (path.p[0] != '/')
        vd_buf_add_slice(out, folder);
    vd_buf_add_slice(out, path);
}

/* What stands in the file itself as `key`-data, or in another one that it names. */
static int read_part(struct vd_buf *out, struct vd_buf *file, const struct vd_client *c,
                     const struct vd_json *object, const char *key, struct vd_error *error)
{
    struct vd_buf data_key = {0};
    vd_buf_addf(&data_key, "%s-data", key);
    struct vd_slice data = vd_json_text(vd_json_get(object, vd_buf_slice(&data_key)));
    struct vd_slice path = vd_json_text(vd_json_get(object, vd_slice_of(key)));
    int code = VD_OK;
    vd_buf_release(&data_key);
    if (data.n && vd_base64_decode(out, data, VD_BASE64_STANDARD))
        code = vd_error_set(error, VD_ERR_INVALID, "%s: %s-data is no base64",
                            vd_buf_text(&c->kubeconfig), key);
    if (data.n || !path.n)
        return code;
    add_path(file, c, path);
    return vd_private_file_read(out, vd_buf_text(file), VD_PEM_LEN_MAX, error);
}

static int read_token(struct vd_client *c, const struct vd_json *user, struct vd_error *error)
{
    struct vd_slice token = vd_json_text(vd_json_get(user, VD_SLICE("token")));
    struct vd_slice file = vd_json_text(vd_json_get(user, VD_SLICE("tokenFile")));
    struct vd_buf text = {0};
    int code = VD_OK;
    if (!token.n && file.n) {
        add_path(&c->token_file, c, file);
        code = vd_private_file_read(&text, vd_buf_text(&c->token_file), VD_PEM_LEN_MAX, error);
        token = vd_buf_slice(&text);
    }
    if (!code)
        code = vd_http_peer_set_token(&c->peer, token, error);
    if (text.p)
        OPENSSL_cleanse(text.p, text.n);
    vd_buf_release(&text);
    return code;
}

static int use_kubeconfig(struct vd_client *c, const struct vd_json *root, struct vd_error *error)
{
    const char *path = vd_buf_text(&c->kubeconfig);
    struct vd_slice current = vd_json_text(vd_json_get(root, VD_SLICE("current-context")));
    const struct vd_json *context = named(root, "contexts", "context", current);
    const struct vd_json *cluster = named(root, "clusters", "cluster",
                                          vd_json_text(vd_json_get(context, VD_SLICE("cluster"))));
    const struct vd_json *user = named(root, "users", "user",
                                       vd_json_text(vd_json_get(context, VD_SLICE("user"))));
    struct vd_slice server = vd_json_text(vd_json_get(cluster, VD_SLICE("server")));
    struct vd_buf unused = {0};
    if (!server.n)
        return vd_error_set(error, VD_ERR_INVALID,
                            "%s has no server in its current context: is it a kubeconfig?", path);
    while (server.n && server.p[server.n - 1] == '/')
        server.n--;
    vd_buf_add_slice(&c->server, server);
    int code = read_part(&c->ca, &c->ca_file, c, cluster, "certificate-authority", error);
    if (!code)
        code = read_part(&c->certificate, &unused, c, user, "client-certificate", error);
    vd_buf_reset(&unused);
    if (!code)
        code = read_part(&c->key, &unused, c, user, "client-key", error);
    if (!code)
        code = vd_http_peer_set(&c->peer, server, vd_buf_slice(&c->ca), error);
    if (!code)
        code = read_token(c, user, error);
    if (!code && c->certificate.n && c->peer.context)
        code = vd_http_peer_use_certificate(&c->peer, vd_buf_slice(&c->certificate),
                                            vd_buf_slice(&c->key), error);
    vd_buf_release(&unused);
    return code;
}

static int open_kubeconfig(struct vd_client *c, const char *path, struct vd_error *error)
{
    struct vd_buf text = {0};
    struct vd_json *root = NULL;
    char *whole = realpath(path, NULL);
    if (!whole)
        return vd_error_set(error, VD_ERR_NOT_FOUND,
                            "there is no %s: name a kubeconfig with --kubeconfig, or the server's "
                            "data folder with --data",
                            path);
    vd_buf_add_text(&c->kubeconfig, whole);
    free(whole);
    int code = vd_private_file_read(&text, vd_buf_text(&c->kubeconfig), VD_PEM_LEN_MAX, error);
    struct vd_yaml_reader *reader = vd_yaml_reader_new(vd_buf_slice(&text), NULL);
    if (!code) {
        code = vd_yaml_reader_next(reader, &c->arena, &root, error);
        if (code)
            vd_error_prefix(error, "%s", vd_buf_text(&c->kubeconfig));
    }
    if (!code)
        code = use_kubeconfig(c, root, error);
    vd_yaml_reader_free(reader);
    if (text.p)
        OPENSSL_cleanse(text.p, text.n);
    vd_buf_release(&text);
    return code;
}

/* ---- which ---- */

static void set_absolute(struct vd_buf *out, const char *path)
{
    char *whole = path ? realpath(path, NULL) : NULL;
    if (whole)
        vd_buf_add_text(out, whole);
    free(whole);
}

/* Reads the token of a file, or of the environment. */
static int set_token(struct vd_client *c, const char *file, struct vd_error *error)
{
    const char *variable = getenv("VEDETTE_TOKEN");
    struct vd_buf token = {0};
    int code = VD_OK;
    if (file)
        code = vd_private_file_read(&token, file, VD_PEM_LEN_MAX, error);
    else if (variable)
        vd_buf_add_text(&token, variable);
    if (!code)
        code = vd_http_peer_set_token(&c->peer, vd_buf_slice(&token), error);
    if (token.p)
        OPENSSL_cleanse(token.p, token.n);
    vd_buf_release(&token);
    return code;
}

int vd_client_open_server(struct vd_client *client, const char *url, const char *token_file,
                          const char *ca_file, struct vd_error *error)
{
    struct vd_slice server = vd_slice_of(url);
    while (server.n && server.p[server.n - 1] == '/')
        server.n--;
    vd_buf_add_slice(&client->server, server);
    set_absolute(&client->ca_file, ca_file);
    set_absolute(&client->token_file, token_file);
    int code = ca_file ? vd_private_file_read(&client->ca, ca_file, VD_PEM_LEN_MAX, error) : VD_OK;
    if (!code)
        code = vd_http_peer_set(&client->peer, server, vd_buf_slice(&client->ca), error);
    return code ? code : set_token(client, token_file, error);
}

/* The file that the kubeconfig's copy of the authority is from, if the data folder is here. */
static void find_ca_file(struct vd_client *c, const char *data)
{
    struct vd_buf path = {0}, ca = {0};
    struct vd_error error;
    if (!c->ca.n || c->ca_file.n)
        return;
    vd_buf_addf(&path, "%s/pki/ca.crt", data);
    if (!vd_private_file_read(&ca, vd_buf_text(&path), VD_PEM_LEN_MAX, &error) &&
        vd_slice_eq(vd_slice_trim(vd_buf_slice(&ca)), vd_slice_trim(vd_buf_slice(&c->ca))))
        set_absolute(&c->ca_file, vd_buf_text(&path));
    vd_buf_release(&path);
    vd_buf_release(&ca);
}

/* The folder of the kubeconfig is the data folder, if it is the administrator's. */
static void find_ca_files(struct vd_client *c, const char *data)
{
    struct vd_buf folder = {0};
    add_path(&folder, c, VD_SLICE("."));
    find_ca_file(c, vd_buf_text(&folder));
    find_ca_file(c, data);
    vd_buf_release(&folder);
}

int vd_client_open_folder(struct vd_client *client, const char *folder, struct vd_error *error)
{
    struct vd_buf path = {0};
    vd_buf_addf(&path, "%s/admin.kubeconfig", folder);
    int code = open_kubeconfig(client, vd_buf_text(&path), error);
    if (code == VD_ERR_NOT_FOUND && !client->kubeconfig.n)
        vd_error_set(error, VD_ERR_NOT_FOUND,
                     "there is no %s: the server makes it when it starts with tls-listen",
                     vd_buf_text(&path));
    else if (code == VD_ERR_INVALID)
        vd_error_set(error, VD_ERR_INVALID,
                     "%s is not one that vedette has written: start the server again, which makes "
                     "it anew",
                     vd_buf_text(&path));
    vd_buf_release(&path);
    return code;
}

int vd_client_open(struct vd_client *client, const struct vd_option_value *values,
                   struct vd_error *error)
{
    const char *variable = getenv("KUBECONFIG");
    struct vd_buf path = {0};
    if (values[VD_CLIENT_SERVER].given)
        return vd_client_open_server(client, values[VD_CLIENT_SERVER].text,
                                     values[VD_CLIENT_TOKEN_FILE].text,
                                     values[VD_CLIENT_CA_FILE].text, error);
    if (values[VD_CLIENT_TOKEN_FILE].given || values[VD_CLIENT_CA_FILE].given)
        return vd_error_set(error, VD_ERR_INVALID,
                            "options '--token-file' and '--ca-file' go with '--server'");
    if (values[VD_CLIENT_KUBECONFIG].given)
        vd_buf_add_text(&path, values[VD_CLIENT_KUBECONFIG].text);
    else if (!values[VD_CLIENT_DATA].given && variable && *variable)
        vd_buf_add_text(&path, variable);
    else
        vd_buf_addf(&path, "%s/admin.kubeconfig", values[VD_CLIENT_DATA].text);
    int code = open_kubeconfig(client, vd_buf_text(&path), error);
    if (!code)
        find_ca_files(client, values[VD_CLIENT_DATA].text);
    vd_buf_release(&path);
    return code;
}

void vd_client_release(struct vd_client *client)
{
    struct vd_buf *const texts[] = {&client->server,  &client->kubeconfig, &client->ca,
                                    &client->ca_file, &client->token_file, &client->certificate,
                                    &client->key};
    if (client->key.p)
        OPENSSL_cleanse(client->key.p, client->key.n);
    if (client->peer.token.p)
        OPENSSL_cleanse(client->peer.token.p, client->peer.token.n);
    for (size_t i = 0; i < VD_COUNT(texts); i++)
        vd_buf_release(texts[i]);
    vd_http_peer_release(&client->peer);
    vd_arena_release(&client->arena);
}

/* ---- questions ---- */

/* The server does not accept the credential, or there is none. */
static int refuse_stranger(const struct vd_client *c, struct vd_error *error)
{
    const char *server = vd_buf_text(&c->server);
    if (c->kubeconfig.n)
        return vd_error_set(error, VD_ERR_FORBIDDEN,
                            "the server at %s does not know who asks: the credentials in %s are "
                            "not, or no longer, valid there; make new ones with 'vedette "
                            "kubeconfig'",
                            server, vd_buf_text(&c->kubeconfig));
    if (c->peer.token.n)
        return vd_error_set(error, VD_ERR_FORBIDDEN,
                            "the server at %s does not know who asks: the token in %s is not, or "
                            "no longer, valid there; make a new one with 'vedette token create'",
                            server,
                            c->token_file.n ? vd_buf_text(&c->token_file) : "VEDETTE_TOKEN");
    return vd_error_set(error, VD_ERR_FORBIDDEN,
                        "the server at %s does not know who asks: give a token with --token-file "
                        "or VEDETTE_TOKEN",
                        server);
}

static int refuse(const struct vd_client *c, const struct vd_json *answer, struct vd_error *error)
{
    struct vd_slice message = vd_json_text(vd_json_get(answer, VD_SLICE("message")));
    int code = c->status == 404   ? VD_ERR_NOT_FOUND
               : c->status == 409 ? VD_ERR_CONFLICT
               : c->status == 410 ? VD_ERR_EXPIRED
               : c->status == 403 ? VD_ERR_FORBIDDEN
                                  : VD_ERR_IO;
    if (c->status == 409 &&
        vd_slice_is(vd_json_text(vd_json_get(answer, VD_SLICE("reason"))), "AlreadyExists"))
        code = VD_ERR_EXISTS;
    if (c->status == 401)
        return refuse_stranger(c, error);
    if (message.n)
        return vd_error_set(error, code, "%.*s", VD_FMT(message));
    return vd_error_set(error, code, "the server at %s answered with %u", vd_buf_text(&c->server),
                        c->status);
}

/* Asks, and reads the answer's JSON into the arena. */
static int ask(struct vd_client *client, struct vd_arena *arena,
               const struct vd_http_question *question, struct vd_json **out,
               struct vd_error *error)
{
    struct vd_http_answer answer = {0};
    struct vd_json *document = NULL;
    int code = vd_http_ask(&client->peer, question, &answer, error);
    *out = NULL;
    client->status = code ? 0 : answer.status;
    if (!code) {
        bool good = answer.status >= 200 && answer.status < 300;
        int bad = vd_json_parse(arena, vd_arena_copy(arena, answer.body), NULL, &document, error);
        *out = bad ? NULL : document;
        code = good ? bad : refuse(client, *out, error);
    }
    vd_http_answer_release(&answer);
    return code;
}

int vd_client_ask(struct vd_client *client, const struct vd_http_question *question,
                  struct vd_json **out, struct vd_error *error)
{
    return ask(client, &client->arena, question, out, error);
}

int vd_client_get(struct vd_client *client, const char *path, struct vd_json **out,
                  struct vd_error *error)
{
    return vd_client_ask(client, &(struct vd_http_question){.method = "GET", .path = path}, out,
                         error);
}

/* ---- lists ---- */

static void add_page_path(struct vd_buf *out, const char *path, const char *labels,
                          struct vd_slice next)
{
    vd_buf_addf(out, "%s?limit=%d", path, PAGE);
    if (*labels) {
        vd_buf_add_text(out, "&labelSelector=");
        vd_http_add_encoded(out, vd_slice_of(labels));
    }
    if (next.n) {
        vd_buf_add_text(out, "&continue=");
        vd_http_add_encoded(out, next);
    }
}

int vd_client_list(struct vd_client *client, const char *path, const char *labels,
                   int (*each)(void *arg, struct vd_json *object, struct vd_error *error),
                   void *arg, struct vd_error *error)
{
    struct vd_buf page_path = {0}, next = {0};
    int code;
    do {
        struct vd_arena arena = {0};
        struct vd_json *page = NULL;
        vd_buf_reset(&page_path);
        add_page_path(&page_path, path, labels, vd_buf_slice(&next));
        code = ask(client, &arena,
                   &(struct vd_http_question){.method = "GET", .path = vd_buf_text(&page_path)},
                   &page, error);
        VD_JSON_EACH (item, vd_json_get(page, VD_SLICE("items")))
            if (!code)
                code = each(arg, item, error);
        vd_buf_reset(&next);
        vd_buf_add_slice(&next, vd_json_text(vd_json_dig(page, "metadata", "continue", NULL)));
        vd_arena_release(&arena);
    } while (!code && next.n);
    vd_buf_release(&page_path);
    vd_buf_release(&next);
    return code;
}
