/* See admin_kubeconfig.h. */
#include "admin_kubeconfig.h"

#include <openssl/crypto.h>

#include "auth/private_file.h"
#include "base/base64.h"
#include "base/limits.h"
#include "json/document.h"
#include "json/yaml_read.h"

void vd_admin_kubeconfig_release(struct vd_admin_kubeconfig *config)
{
    if (config->key.p)
        OPENSSL_cleanse(config->key.p, config->key.n);
    vd_buf_release(&config->ca);
    vd_buf_release(&config->certificate);
    vd_buf_release(&config->key);
}

/* The member `member` of the only element of the list `list`. */
static const struct vd_json *only(const struct vd_json *root, const char *list, const char *member)
{
    const struct vd_json *items = vd_json_get(root, vd_slice_of(list));
    const struct vd_json *first = items && vd_json_is(items, VD_JSON_ARRAY) ? vd_json_at(items, 0)
                                                                            : NULL;
    return first ? vd_json_get(first, vd_slice_of(member)) : NULL;
}

static int read_data(struct vd_buf *out, const struct vd_json *object, const char *key)
{
    struct vd_slice text = object ? vd_json_text(vd_json_get(object, vd_slice_of(key)))
                                  : VD_SLICE("");
    return vd_base64_decode(out, text, VD_BASE64_STANDARD);
}

int vd_admin_kubeconfig_read(struct vd_admin_kubeconfig *config, struct vd_arena *arena,
                             const char *folder, struct vd_error *error)
{
    struct vd_buf path = {0}, text = {0};
    struct vd_json *root = NULL;
    vd_buf_addf(&path, "%s/admin.kubeconfig", folder);
    int code = vd_private_file_read(&text, vd_buf_text(&path), VD_PEM_LEN_MAX, error);
    if (code == VD_ERR_NOT_FOUND)
        vd_error_set(error, VD_ERR_NOT_FOUND,
                     "there is no %s: the server makes it when it starts with tls-listen",
                     vd_buf_text(&path));
    struct vd_yaml_reader *reader = vd_yaml_reader_new(vd_buf_slice(&text), NULL);
    if (!code)
        code = vd_yaml_reader_next(reader, arena, &root, error);
    if (!code) {
        const struct vd_json *cluster = only(root, "clusters", "cluster");
        const struct vd_json *user = only(root, "users", "user");
        config->server = cluster ? vd_json_text(vd_json_get(cluster, VD_SLICE("server")))
                                 : VD_SLICE("");
        if (!vd_slice_starts_with(config->server, VD_SLICE("https://")) ||
            read_data(&config->ca, cluster, "certificate-authority-data") ||
            read_data(&config->certificate, user, "client-certificate-data") ||
            read_data(&config->key, user, "client-key-data"))
            code = vd_error_set(
                error, VD_ERR_INVALID,
                "%s is not one that vedette has written: start the server again, which "
                "makes it anew",
                vd_buf_text(&path));
    }
    vd_yaml_reader_free(reader);
    vd_buf_release(&path);
    vd_buf_release(&text);
    return code;
}
