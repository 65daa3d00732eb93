/* See api_resource.h. */
#include "api_resource.h"

#include <string.h>
#include <strings.h>

static bool is_word(struct vd_slice text, struct vd_slice word)
{
    return text.n && text.n == word.n && strncasecmp(text.p, word.p, word.n) == 0;
}

static bool is_called(const struct vd_json *resource, struct vd_slice word)
{
    static const char *const names[] = {"name", "singularName", "kind"};
    for (size_t i = 0; i < VD_COUNT(names); i++)
        if (is_word(vd_json_text(vd_json_get(resource, vd_slice_of(names[i]))), word))
            return true;
    VD_JSON_EACH (name, vd_json_get(resource, VD_SLICE("shortNames")))
        if (is_word(vd_json_text(name), word))
            return true;
    return false;
}

/* Looks through one version of a group; *found says whether it is there. */
static int look(struct vd_client *client, struct vd_slice api_version, struct vd_slice word,
                struct vd_api_resource *out, bool *found, struct vd_error *error)
{
    struct vd_buf path = {0};
    struct vd_json *list = NULL;
    bool is_core = !memchr(api_version.p, '/', api_version.n);
    vd_buf_addf(&path, "/%s/%.*s", is_core ? "api" : "apis", VD_FMT(api_version));
    int code = vd_client_get(client, vd_buf_text(&path), &list, error);
    vd_buf_release(&path);
    if (code)
        return code;
    VD_JSON_EACH (resource, vd_json_get(list, VD_SLICE("resources"))) {
        struct vd_slice plural = vd_json_text(vd_json_get(resource, VD_SLICE("name")));
        if (!plural.n || memchr(plural.p, '/', plural.n) || !is_called(resource, word))
            continue;
        *out = (struct vd_api_resource){
            .api_version = api_version,
            .kind = vd_json_text(vd_json_get(resource, VD_SLICE("kind"))),
            .plural = plural,
            .namespaced = vd_json_truth(vd_json_get(resource, VD_SLICE("namespaced"))),
        };
        *found = true;
        break;
    }
    return VD_OK;
}

int vd_api_resource_find(struct vd_client *client, const char *word, struct vd_api_resource *out,
                         struct vd_error *error)
{
    const char *dot = strchr(word, '.');
    struct vd_slice group = vd_slice_of(dot ? dot + 1 : "");
    struct vd_slice name = dot ? vd_slice(word, (size_t)(dot - word)) : vd_slice_of(word);
    struct vd_json *groups = NULL;
    bool found = false;
    int code = VD_OK;
    if (!dot)
        code = look(client, VD_SLICE("v1"), name, out, &found, error);
    if (!code && !found)
        code = vd_client_get(client, "/apis", &groups, error);
    VD_JSON_EACH (item, vd_json_get(groups, VD_SLICE("groups"))) {
        struct vd_slice here = vd_json_text(vd_json_get(item, VD_SLICE("name")));
        struct vd_slice version = vd_json_text(
            vd_json_dig(item, "preferredVersion", "groupVersion", NULL));
        if (!code && !found && (!dot || vd_slice_eq(here, group)))
            code = look(client, version, name, out, &found, error);
    }
    if (!code && !found)
        code = vd_error_set(error, VD_ERR_NOT_FOUND,
                            "the server has no resource '%s': see 'kubectl api-resources'", word);
    return code;
}

void vd_api_resource_add_path(struct vd_buf *out, const struct vd_api_resource *resource,
                              struct vd_slice namespace)
{
    bool is_core = !memchr(resource->api_version.p, '/', resource->api_version.n);
    vd_buf_addf(out, "/%s/%.*s/", is_core ? "api" : "apis", VD_FMT(resource->api_version));
    if (resource->namespaced) {
        vd_buf_add_text(out, "namespaces/");
        vd_http_add_encoded(out, namespace);
        vd_buf_add_char(out, '/');
    }
    vd_buf_add_slice(out, resource->plural);
}
