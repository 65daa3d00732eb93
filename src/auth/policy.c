/* See rbac.h, struct vd_policy: the decoded roles and bindings by kind, namespace and name. */
#include <stdlib.h>

#include "auth/rbac.h"
#include "auth/rbac_internal.h"
#include "base/alloc.h"

static const char *const kinds[] = {"Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"};
enum { ROLE, CLUSTER_ROLE, ROLE_BINDING, CLUSTER_ROLE_BINDING, KINDS };

struct vd_policy {
    struct vd_hash_map objects; /* of struct vd_policy_object */
};

static struct vd_slice key_of(const void *item)
{
    return vd_buf_slice(&((const struct vd_policy_object *)item)->key);
}

/* "kind/namespace/name": none of the three can have a slash in it. */
static void write_key(struct vd_buf *out, struct vd_slice kind, struct vd_slice namespace,
                      struct vd_slice name)
{
    vd_buf_addf(out, "%.*s/%.*s/%.*s", VD_FMT(kind), VD_FMT(namespace), VD_FMT(name));
}

static void object_free(struct vd_policy_object *object)
{
    if (!object)
        return;
    vd_role_unref(object->role);
    vd_binding_unref(object->binding);
    vd_buf_release(&object->key);
    free(object);
}

struct vd_policy *vd_policy_new(void)
{
    struct vd_policy *policy = VD_NEW(struct vd_policy);
    vd_hash_map_init(&policy->objects, key_of);
    return policy;
}

void vd_policy_free(struct vd_policy *policy)
{
    if (!policy)
        return;
    size_t at = 0;
    for (struct vd_policy_object *o; (o = vd_hash_map_next(&policy->objects, &at));)
        object_free(o);
    vd_hash_map_release(&policy->objects);
    free(policy);
}

static unsigned kind_of(struct vd_slice kind)
{
    unsigned i = 0;
    while (i < KINDS && !vd_slice_is(kind, kinds[i]))
        i++;
    return i;
}

static int decode(struct vd_policy_object *out, unsigned kind, const struct vd_json *object,
                  struct vd_slice namespace, struct vd_error *error)
{
    bool cluster = kind == CLUSTER_ROLE || kind == CLUSTER_ROLE_BINDING;
    if (cluster == (namespace.n > 0))
        return vd_error_set(error, VD_ERR_INVALID, "a %s %s a namespace", kinds[kind],
                            cluster ? "cannot have" : "must have");
    return kind == ROLE || kind == CLUSTER_ROLE
               ? vd_role_from_json(&out->role, object, error)
               : vd_binding_from_json(&out->binding, object, error);
}

int vd_policy_put(struct vd_policy *policy, const struct vd_json *object, struct vd_error *error)
{
    struct vd_slice kind = vd_json_text(vd_json_get(object, VD_SLICE("kind")));
    struct vd_slice namespace = vd_json_text(vd_json_dig(object, "metadata", "namespace", NULL));
    struct vd_slice name = vd_json_text(vd_json_dig(object, "metadata", "name", NULL));
    unsigned number = kind_of(kind);
    if (number == KINDS)
        return vd_error_set(error, VD_ERR_INVALID, "this is no role and no binding");
    struct vd_policy_object *made = VD_NEW(struct vd_policy_object);
    write_key(&made->key, kind, namespace, name);
    int code = decode(made, number, object, namespace, error);
    if (code) {
        vd_error_prefix(error, "%s %.*s", kinds[number], VD_FMT(name));
        object_free(vd_hash_map_remove(&policy->objects, key_of(made)));
        object_free(made);
        return code;
    }
    object_free(vd_hash_map_put(&policy->objects, made));
    return VD_OK;
}

bool vd_policy_remove(struct vd_policy *policy, struct vd_slice kind, struct vd_slice namespace,
                      struct vd_slice name)
{
    struct vd_buf key = {0};
    write_key(&key, kind, namespace, name);
    struct vd_policy_object *object = vd_hash_map_remove(&policy->objects, vd_buf_slice(&key));
    vd_buf_release(&key);
    object_free(object);
    return object != NULL;
}

struct vd_rbac *vd_policy_snapshot(const struct vd_policy *policy)
{
    return vd_rbac_build(&policy->objects);
}
