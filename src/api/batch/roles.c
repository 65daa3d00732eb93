/* The roles that a batch writes: a binding of the same batch is judged by them. */
#include "api/batch/batch_internal.h"

#define CLUSTER_ROLES "clusterroles." VD_RBAC_GROUP
#define ROLES         "roles." VD_RBAC_GROUP

static bool is_role(const struct vd_write *w)
{
    return vd_slice_is(w->kind->resource, ROLES) || vd_slice_is(w->kind->resource, CLUSTER_ROLES);
}

void vd_batch_expect_role(struct vd_batch_member *m)
{
    struct vd_batch_state *s = m->state;
    const struct vd_write *w = m->write;
    if (!is_role(w))
        return;
    struct vd_batch_role *role = vd_arena_alloc(&s->arena, sizeof *role);
    *role = (struct vd_batch_role){
        .key = vd_batch_key(&s->arena, w->kind->resource,
                            w->kind->namespaced ? w->namespace : VD_SLICE(""),
                            vd_batch_member_name(m)),
        .put = w->verb != VD_WRITE_DELETE};
    vd_hash_map_put(&s->roles, role);
}

static struct vd_batch_role *find(const struct vd_batch_state *s, bool cluster_role,
                                  struct vd_slice namespace, struct vd_slice name)
{
    struct vd_buf key = {0};
    vd_buf_addf(&key, "%s%c%.*s%c%.*s", cluster_role ? CLUSTER_ROLES : ROLES, 0,
                VD_FMT(cluster_role ? VD_SLICE("") : namespace), 0, VD_FMT(name));
    struct vd_batch_role *role = vd_hash_map_get(&s->roles, vd_buf_slice(&key));
    vd_buf_release(&key);
    return role;
}

void vd_batch_put_role(struct vd_batch_member *m, struct vd_role *role)
{
    struct vd_batch_role *known = find(m->state, !role->namespace.n, role->namespace, role->name);
    if (!known) /* it was created under a name that was not known before */
        return;
    vd_role_unref(known->role);
    known->role = vd_role_ref(role);
}

const struct vd_batch_role *vd_batch_find_role(const struct vd_batch_member *m,
                                               const struct vd_binding *binding)
{
    return find(m->state, binding->to_cluster_role, binding->namespace, binding->role_name);
}

void vd_batch_release_roles(struct vd_batch_state *s)
{
    size_t at = 0;
    for (struct vd_batch_role *role; (role = vd_hash_map_next(&s->roles, &at));)
        vd_role_unref(role->role);
    vd_hash_map_release(&s->roles);
}
