/* See remote_credentials.h. */
#include "git/remote_credentials.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/base64.h"
#include "base/limits.h"

static const char *const files[] = {"ca.crt", "key", "known_hosts"};

/* ---- the Secret ---- */

static int read_one(struct vd_buf *out, const struct vd_json *secret, const char *key,
                    struct vd_error *error)
{
    const struct vd_json *data = vd_json_get(secret, VD_SLICE("data"));
    struct vd_slice text = vd_json_text(vd_json_get(data, vd_slice_of(key)));
    if (!text.n)
        return VD_OK;
    if (text.n > VD_GIT_CREDENTIAL_LEN_MAX / 3 * 4)
        return vd_error_set(error, VD_ERR_INVALID, "%s of the Secret is longer than %d bytes", key,
                            VD_GIT_CREDENTIAL_LEN_MAX);
    if (vd_base64_decode(out, text, VD_BASE64_STANDARD))
        return vd_error_set(error, VD_ERR_INVALID, "%s of the Secret is not base64", key);
    return VD_OK;
}

/* It becomes a line of a header. */
static int check_line(struct vd_buf *text, const char *key, struct vd_error *error)
{
    while (text->n && (text->p[text->n - 1] == '\n' || text->p[text->n - 1] == '\r'))
        text->n--;
    for (size_t i = 0; i < text->n; i++)
        if ((unsigned char)text->p[i] < ' ' || text->p[i] == 127)
            return vd_error_set(error, VD_ERR_INVALID,
                                "%s of the Secret has control characters in it", key);
    return VD_OK;
}

int vd_remote_credentials_read(struct vd_remote_credentials *out, const struct vd_json *secret,
                               struct vd_error *error)
{
    const struct {
        const char *key;
        struct vd_buf *out;
        bool is_line;
    } all[] = {
        {"username", &out->username, true},
        {"password", &out->password, true},
        {"token", &out->token, true},
        {"ca.crt", &out->ca, false},
        {"ssh-privatekey", &out->ssh_key, false},
        {"known_hosts", &out->known_hosts, false},
    };
    int code = VD_OK;
    for (size_t i = 0; !code && i < sizeof all / sizeof *all; i++) {
        code = read_one(all[i].out, secret, all[i].key, error);
        if (!code && all[i].is_line)
            code = check_line(all[i].out, all[i].key, error);
    }
    return code;
}

/* ---- files ---- */

static void write_path(struct vd_buf *out, const char *folder, const char *name)
{
    vd_buf_addf(out, "%s/%s", folder, name);
}

static int write_file(const char *folder, const char *name, const struct vd_buf *text,
                      struct vd_error *error)
{
    struct vd_buf path = {0};
    bool written = false;
    if (!text->n)
        return VD_OK;
    write_path(&path, folder, name);
    int fd = open(vd_buf_text(&path), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0) {
        written = write(fd, text->p, text->n) == (ssize_t)text->n;
        if (written && text->p[text->n - 1] != '\n') /* ssh wants a line end behind a key */
            written = write(fd, "\n", 1) == 1;
        if (close(fd))
            written = false;
    }
    vd_buf_release(&path);
    if (written)
        return VD_OK;
    return vd_error_set(error, VD_ERR_IO, "the credentials cannot be written: %s", strerror(errno));
}

void vd_remote_credentials_sweep(const char *folder)
{
    struct vd_buf path = {0};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        vd_buf_reset(&path);
        write_path(&path, folder, files[i]);
        (void)unlink(vd_buf_text(&path));
    }
    (void)rmdir(folder);
    vd_buf_release(&path);
}

int vd_remote_credentials_open(struct vd_remote_credentials *c, enum vd_remote_scheme scheme,
                               const char *folder, struct vd_error *error)
{
    bool is_ssh = scheme == VD_REMOTE_SSH;
    if (!is_ssh && !c->ca.n)
        return VD_OK;
    if (is_ssh && (!c->ssh_key.n || !c->known_hosts.n))
        return vd_error_set(error, VD_ERR_INVALID,
                            "ssh needs ssh-privatekey and known_hosts in the Secret that "
                            "spec.remote.secretRef names");
    if (mkdir(folder, 0700))
        return vd_error_set(error, VD_ERR_IO, "the credentials cannot be written: %s",
                            strerror(errno));
    c->folder = vd_strdup(folder);
    int code = is_ssh ? write_file(folder, "key", &c->ssh_key, error)
                      : write_file(folder, "ca.crt", &c->ca, error);
    if (!code && is_ssh)
        code = write_file(folder, "known_hosts", &c->known_hosts, error);
    return code;
}

/* ---- git ---- */

/* git reads settings from its environment, too, where no other user sees them. */
static void give_header(const struct vd_remote_credentials *c, struct vd_git_command *command)
{
    struct vd_buf pair = {0}, header = {0};
    vd_buf_addf(&pair, "%.*s:", (int)c->username.n, c->username.n ? c->username.p : "");
    if (!c->username.n)
        vd_buf_reset(&pair), vd_buf_add_text(&pair, "x:");
    vd_buf_add_slice(&pair, vd_buf_slice(c->token.n ? &c->token : &c->password));
    vd_buf_add_text(&header, "Authorization: Basic ");
    vd_base64_encode(&header, vd_buf_slice(&pair), VD_BASE64_STANDARD);
    vd_git_command_add_env(command, "GIT_CONFIG_COUNT", VD_SLICE("1"));
    vd_git_command_add_env(command, "GIT_CONFIG_KEY_0", VD_SLICE("http.extraHeader"));
    vd_git_command_add_env(command, "GIT_CONFIG_VALUE_0", vd_buf_slice(&header));
    explicit_bzero(pair.p, pair.n);
    explicit_bzero(header.p, header.n);
    vd_buf_release(&pair);
    vd_buf_release(&header);
}

void vd_remote_credentials_give(const struct vd_remote_credentials *c, enum vd_remote_scheme scheme,
                                struct vd_git_command *command)
{
    if (scheme == VD_REMOTE_SSH) {
        vd_git_command_add_env(command, "VEDETTE_SSH_FOLDER", vd_slice_of(c->folder));
        return;
    }
    if (c->token.n || c->password.n)
        give_header(c, command);
    if (c->ca.n) {
        struct vd_buf path = {0};
        write_path(&path, c->folder, "ca.crt");
        vd_git_command_set(command, "http.sslCAInfo", vd_buf_text(&path));
        vd_buf_release(&path);
    }
}

static void wipe(struct vd_buf *text)
{
    if (text->p)
        explicit_bzero(text->p, text->n);
    vd_buf_release(text);
}

void vd_remote_credentials_release(struct vd_remote_credentials *c)
{
    if (c->folder)
        vd_remote_credentials_sweep(c->folder);
    free(c->folder);
    wipe(&c->username);
    wipe(&c->password);
    wipe(&c->token);
    wipe(&c->ca);
    wipe(&c->ssh_key);
    wipe(&c->known_hosts);
    *c = (struct vd_remote_credentials){0};
}
