/* See kubeconfig.h. */
#include "auth/kubeconfig.h"

#include "base/arena.h"
#include "base/base64.h"
#include "json/document.h"
#include "json/yaml_write.h"

static void add_text(struct vd_arena *a, struct vd_json *object, const char *key,
                     struct vd_slice text)
{
    vd_json_add_ref(object, vd_slice_of(key), vd_json_string(a, text));
}

/* A member with the text in base64, or none if it is empty. */
static void add_data(struct vd_arena *a, struct vd_json *object, const char *key,
                     struct vd_slice bytes)
{
    struct vd_buf text = {0};
    if (!bytes.n)
        return;
    vd_base64_encode(&text, bytes, VD_BASE64_STANDARD);
    add_text(a, object, key, vd_buf_slice(&text));
    vd_buf_release(&text);
}

/* {"name": name, key: value} as the only element of the member `list`. */
static void add_named(struct vd_arena *a, struct vd_json *root, const char *list,
                      struct vd_slice name, const char *key, struct vd_json *value)
{
    struct vd_json *entry = vd_json_object(a), *array = vd_json_array(a);
    add_text(a, entry, "name", name);
    vd_json_add_ref(entry, vd_slice_of(key), value);
    vd_json_append(array, entry);
    vd_json_add_ref(root, vd_slice_of(list), array);
}

void vd_kubeconfig_write(struct vd_buf *out, const struct vd_kubeconfig *config)
{
    struct vd_arena arena = {0}, *a = &arena;
    struct vd_slice name = VD_SLICE("vedette");
    struct vd_json *root = vd_json_object(a), *cluster = vd_json_object(a);
    struct vd_json *context = vd_json_object(a), *user = vd_json_object(a);
    add_data(a, cluster, "certificate-authority-data", config->ca_pem);
    add_text(a, cluster, "server", config->server);
    add_text(a, context, "cluster", name);
    add_text(a, context, "user", config->user);
    add_data(a, user, "client-certificate-data", config->certificate_pem);
    add_data(a, user, "client-key-data", config->key_pem);
    if (config->token.n)
        add_text(a, user, "token", config->token);

    add_text(a, root, "apiVersion", VD_SLICE("v1"));
    add_text(a, root, "kind", VD_SLICE("Config"));
    add_named(a, root, "clusters", name, "cluster", cluster);
    add_named(a, root, "contexts", name, "context", context);
    add_text(a, root, "current-context", name);
    add_named(a, root, "users", config->user, "user", user);
    vd_yaml_write(out, root);
    vd_arena_release(a);
}
