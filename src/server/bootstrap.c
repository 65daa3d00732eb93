/* See bootstrap.h. */
#include "server/bootstrap.h"

#include <assert.h>

#include "auth/default_roles.h"
#include "kinds/field_tracking.h"
#include "kinds/object_meta.h"
#include "kinds/uid.h"
#include "store/admitted.h"
#include "json/parse.h"
#include "json/revision_hole.h"

/* The Service that clients find their server by. */
static const char service[] =
    "{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"metadata\":{\"name\":\"kubernetes\","
    "\"namespace\":\"default\",\"labels\":{\"component\":\"apiserver\",\"provider\":"
    "\"kubernetes\"}},\"spec\":{\"type\":\"ClusterIP\",\"clusterIP\":\"10.96.0.1\",\"clusterIPs\":"
    "[\"10.96.0.1\"],\"ports\":[{\"name\":\"https\",\"port\":443,\"protocol\":\"TCP\","
    "\"targetPort\":6443}],\"sessionAffinity\":\"None\"},\"status\":{\"loadBalancer\":{}}}";

/* Namespaces, and what is in them. */
static const char *const documents[] = {
    "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"default\",\"labels\":"
    "{\"kubernetes.io/metadata.name\":\"default\"}},\"spec\":{\"finalizers\":[\"kubernetes\"]},"
    "\"status\":{\"phase\":\"Active\"}}",
    "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"kube-system\","
    "\"labels\":{\"kubernetes.io/metadata.name\":\"kube-system\"}},\"spec\":{\"finalizers\":"
    "[\"kubernetes\"]},\"status\":{\"phase\":\"Active\"}}",
    "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"kube-public\","
    "\"labels\":{\"kubernetes.io/metadata.name\":\"kube-public\"}},\"spec\":{\"finalizers\":"
    "[\"kubernetes\"]},\"status\":{\"phase\":\"Active\"}}",
    "{\"apiVersion\":\"v1\",\"kind\":\"ServiceAccount\",\"metadata\":{\"name\":\"default\","
    "\"namespace\":\"default\"}}",
    service,
};

/* Splits "group/version" of an apiVersion. */
static void split_version(struct vd_slice api_version, struct vd_slice *group,
                          struct vd_slice *version)
{
    *version = api_version;
    *group = VD_SLICE("");
    if (api_version.n && memchr(api_version.p, '/', api_version.n))
        vd_slice_cut(version, '/', group);
}

static int create(struct vd_store *store, const struct vd_kind_set *set, struct vd_arena *arena,
                  struct vd_json *object, int64_t now_ms, struct vd_error *error)
{
    struct vd_slice group, version;
    split_version(vd_json_text(vd_json_get(object, VD_SLICE("apiVersion"))), &group, &version);
    const struct vd_kind *kind = vd_kind_set_kind(
        set, group, version, vd_json_text(vd_json_get(object, VD_SLICE("kind"))));
    if (!kind)
        return vd_error_set(error, VD_ERR_INVALID, "a default object has an unknown kind");
    vd_meta_set_uid(arena, object, vd_uid_generate());
    vd_meta_set_creation_timestamp(arena, object, now_ms);
    vd_field_tracking_server(arena, kind, NULL, object, now_ms);
    struct vd_buf body = {0};
    size_t hole = 0;
    struct vd_outcome outcome;
    int code = vd_revision_hole_write(&body, object, &hole, error);
    struct vd_wish wish = {
        .when = VD_WHEN_ABSENT,
        .key = {kind->resource, vd_meta_namespace(object), vd_meta_name(object)},
        .uid = vd_meta_uid(object),
        .body = {vd_buf_slice(&body), (uint32_t)hole},
    };
    if (!code)
        code = vd_store_commit(store, &wish, 1, &outcome);
    if (code && code != VD_ERR_EXISTS && error)
        *error = outcome.error;
    vd_buf_release(&body);
    return code == VD_ERR_EXISTS ? VD_OK : code;
}

int vd_bootstrap(struct vd_store *store, struct vd_kinds *kinds, const struct vd_clock *clock,
                 struct vd_error *error)
{
    struct vd_kind_set *set = vd_kinds_snapshot(kinds);
    struct vd_arena arena = {0};
    int64_t now_ms = vd_clock_wall_ms(clock);
    int code = VD_OK;
    for (size_t i = 0; !code && i < sizeof documents / sizeof *documents; i++) {
        struct vd_json *object = NULL;
        code = vd_json_parse(&arena, vd_slice_of(documents[i]), NULL, &object, error);
        if (!code)
            code = create(store, set, &arena, object, now_ms, error);
    }
    struct vd_json *roles = vd_default_roles(&arena);
    for (struct vd_json *role = vd_json_first(roles); !code && role; role = vd_json_next(role))
        code = create(store, set, &arena, role, now_ms, error);
    vd_arena_release(&arena);
    vd_kind_set_unref(set);
    return code;
}

struct vd_json *vd_bootstrap_service(struct vd_arena *arena)
{
    struct vd_json *object = NULL;
    int code = vd_json_parse(arena, vd_slice_of(service), NULL, &object, NULL);
    assert(!code);
    (void)code;
    return object;
}
