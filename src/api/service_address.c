/* See service_address.h. */
#include "api/service_address.h"

#include <arpa/inet.h>

#include "json/document.h"
#include "json/parse.h"

static bool is_address(struct vd_slice text)
{
    char room[INET6_ADDRSTRLEN], binary[sizeof(struct in6_addr)];
    if (!text.n || text.n >= sizeof room)
        return false;
    memcpy(room, text.p, text.n);
    room[text.n] = 0;
    return inet_pton(AF_INET, room, binary) == 1 || inet_pton(AF_INET6, room, binary) == 1;
}

static struct vd_slice find(const struct vd_json *spec)
{
    struct vd_slice type = vd_json_text(vd_json_get(spec, VD_SLICE("type")));
    if (vd_slice_is(type, "ExternalName"))
        return vd_json_text(vd_json_get(spec, VD_SLICE("externalName")));
    struct vd_slice address = vd_json_text(vd_json_get(spec, VD_SLICE("clusterIP")));
    if (is_address(address))
        return address;
    address = vd_json_text(vd_json_at(vd_json_get(spec, VD_SLICE("externalIPs")), 0));
    return is_address(address) ? address : VD_SLICE("");
}

int vd_service_address(struct vd_store *store, struct vd_slice namespace, struct vd_slice name,
                       struct vd_buf *out, struct vd_error *error)
{
    struct vd_key key = {VD_SLICE("services"), namespace, name};
    struct vd_event *event = NULL;
    struct vd_arena arena = {0};
    struct vd_json *service = NULL;
    int code = vd_store_get(store, &key, 0, &event, error);
    if (code == VD_ERR_NOT_FOUND)
        vd_error_set(error, VD_ERR_NOT_FOUND, "service \"%.*s\" not found", VD_FMT(name));
    if (!code)
        code = vd_json_parse(&arena, vd_body_slice(event->body), NULL, &service, error);
    if (!code) {
        struct vd_slice address = find(vd_json_get(service, VD_SLICE("spec")));
        vd_buf_add_slice(out, address);
        if (!address.n)
            code = vd_error_set(error, VD_ERR_NOT_FOUND,
                                "service \"%.*s\" in namespace \"%.*s\" has no address: give it a "
                                "spec.clusterIP, spec.externalIPs or spec.externalName",
                                VD_FMT(name), VD_FMT(namespace));
    }
    vd_arena_release(&arena);
    vd_event_unref(event);
    return code;
}
