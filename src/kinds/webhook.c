/* See webhook.h. */
#include "kinds/webhook.h"

enum { PORT_DEFAULT = 443 }; /* the port of a webhook's Service that names none */

static struct vd_slice text_of(const struct vd_json *object, const char *key)
{
    struct vd_slice text = vd_json_text(vd_json_get(object, vd_slice_of(key)));
    return text.p ? text : VD_SLICE("");
}

/* The first version in the list that this server speaks. */
static struct vd_slice review_version(const struct vd_json *webhook)
{
    VD_JSON_EACH (item, vd_json_get(webhook, VD_SLICE("conversionReviewVersions"))) {
        struct vd_slice version = vd_json_text(item);
        if (vd_slice_is(version, "v1") || vd_slice_is(version, "v1beta1"))
            return version;
    }
    return VD_SLICE("");
}

int vd_webhook_read(struct vd_webhook *out, const struct vd_kind *kind, struct vd_error *error)
{
    const struct vd_json *webhook = vd_json_dig(kind->document, "spec", "conversion", "webhook",
                                                NULL);
    const struct vd_json *config = vd_json_get(webhook, VD_SLICE("clientConfig"));
    const struct vd_json *service = vd_json_get(config, VD_SLICE("service"));
    uint64_t port = PORT_DEFAULT;
    *out = (struct vd_webhook){
        .url = text_of(config, "url"),
        .namespace = text_of(service, "namespace"),
        .name = text_of(service, "name"),
        .path = text_of(service, "path"),
        .ca_bundle = text_of(config, "caBundle"),
        .review_version = review_version(webhook),
    };
    const struct vd_json *number = vd_json_get(service, VD_SLICE("port"));
    if (number && (!vd_json_to_u64(number, &port) || !port || port > UINT16_MAX))
        return vd_error_set(error, VD_ERR_INVALID, "its Service has no good port");
    out->port = (uint16_t)port;
    if (!out->review_version.n)
        return vd_error_set(error, VD_ERR_INVALID, "no supported conversion review versions");
    if (!out->url.n && (!out->name.n || !out->namespace.n))
        return vd_error_set(error, VD_ERR_INVALID,
                            "the definition names neither the URL nor the Service of a webhook");
    return VD_OK;
}
