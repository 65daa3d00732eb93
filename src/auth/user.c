/* See user.h. A user and all its texts are one arena, freed with the last
 * reference. */
#include "auth/user.h"

#include "base/alloc.h"

const char *vd_auth_method_name(enum vd_auth_method method)
{
    static const char *const names[] = {
        [VD_AUTH_ANONYMOUS] = "anonymous",
        [VD_AUTH_TOKEN] = "token",
        [VD_AUTH_SERVICE_ACCOUNT] = "service-account",
        [VD_AUTH_CERTIFICATE] = "certificate",
        [VD_AUTH_OIDC] = "oidc",
        [VD_AUTH_IMPERSONATION] = "impersonation",
    };
    return names[method];
}

static bool has(const struct vd_slice *list, size_t n, struct vd_slice item)
{
    for (size_t i = 0; i < n; i++)
        if (vd_slice_eq(list[i], item))
            return true;
    return false;
}

static void copy_groups(struct vd_user *user, const struct vd_identity *from)
{
    struct vd_arena *a = &user->arena;
    struct vd_slice *groups = vd_arena_alloc(a, (from->groups_n + 1) * sizeof *groups);
    size_t n = 0;
    for (size_t i = 0; i < from->groups_n; i++)
        if (!has(groups, n, from->groups[i]))
            groups[n++] = vd_arena_copy(a, from->groups[i]);
    if (from->method != VD_AUTH_ANONYMOUS && !has(groups, n, VD_SLICE(VD_GROUP_AUTHENTICATED)))
        groups[n++] = VD_SLICE(VD_GROUP_AUTHENTICATED);
    user->is.groups = groups;
    user->is.groups_n = n;
    user->masters = has(groups, n, VD_SLICE(VD_GROUP_MASTERS));
}

static struct vd_user_extra copy_extra(struct vd_arena *a, const struct vd_user_extra *from)
{
    struct vd_slice *values = vd_arena_alloc(a, from->values_n * sizeof *values);
    for (size_t i = 0; i < from->values_n; i++)
        values[i] = vd_arena_copy(a, from->values[i]);
    return (struct vd_user_extra){vd_arena_copy(a, from->key), values, from->values_n};
}

static void copy_extras(struct vd_user *user, const struct vd_identity *from)
{
    struct vd_arena *a = &user->arena;
    struct vd_user_extra *extra = vd_arena_alloc(a, (from->extra_n + 1) * sizeof *extra);
    size_t n = 0;
    for (size_t i = 0; i < from->extra_n; i++)
        extra[n++] = copy_extra(a, &from->extra[i]);
    if (user->is.credential_id.n)
        extra[n++] = (struct vd_user_extra){VD_SLICE(VD_EXTRA_CREDENTIAL_ID),
                                            &user->is.credential_id, 1};
    user->is.extra = extra;
    user->is.extra_n = n;
}

static void copy_bound(struct vd_user *user)
{
    struct vd_bound_object *b = &user->is.bound;
    struct vd_slice *const parts[] = {&b->resource, &b->namespace, &b->name, &b->uid};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        *parts[i] = vd_arena_copy(&user->arena, *parts[i]);
}

struct vd_user *vd_user_new(const struct vd_identity *identity)
{
    struct vd_user *user = VD_NEW(struct vd_user);
    vd_refcount_init(&user->count);
    user->is = *identity;
    user->is.name = vd_arena_copy(&user->arena, identity->name);
    user->is.uid = vd_arena_copy(&user->arena, identity->uid);
    user->is.credential_id = vd_arena_copy(&user->arena, identity->credential_id);
    user->is.signer = vd_arena_copy(&user->arena, identity->signer);
    if (identity->impersonator)
        vd_user_ref(identity->impersonator);
    copy_bound(user);
    copy_groups(user, identity);
    copy_extras(user, identity);
    return user;
}

struct vd_user *vd_user_new_anonymous(void)
{
    struct vd_slice group = VD_SLICE(VD_GROUP_UNAUTHENTICATED);
    return vd_user_new(&(struct vd_identity){
        .name = VD_SLICE(VD_USER_ANONYMOUS),
        .groups = &group,
        .groups_n = 1,
        .method = VD_AUTH_ANONYMOUS,
    });
}

struct vd_user *vd_user_ref(struct vd_user *user)
{
    vd_ref(&user->count);
    return user;
}

void vd_user_unref(struct vd_user *user)
{
    if (!user || !vd_unref(&user->count))
        return;
    vd_user_unref(user->is.impersonator);
    vd_arena_release(&user->arena);
    free(user);
}

bool vd_user_in_group(const struct vd_user *user, struct vd_slice group)
{
    return has(user->is.groups, user->is.groups_n, group);
}

static bool lists_eq(const struct vd_slice *a, size_t a_n, const struct vd_slice *b, size_t b_n)
{
    if (a_n != b_n)
        return false;
    for (size_t i = 0; i < a_n; i++)
        if (!vd_slice_eq(a[i], b[i]))
            return false;
    return true;
}

bool vd_user_eq(const struct vd_user *a, const struct vd_user *b)
{
    const struct vd_identity *x = &a->is, *y = &b->is;
    if (!vd_slice_eq(x->name, y->name) || !vd_slice_eq(x->uid, y->uid) ||
        !lists_eq(x->groups, x->groups_n, y->groups, y->groups_n) || x->extra_n != y->extra_n)
        return false;
    for (size_t i = 0; i < x->extra_n; i++) {
        const struct vd_user_extra *e = &x->extra[i], *f = &y->extra[i];
        if (!vd_slice_eq(e->key, f->key) ||
            !lists_eq(e->values, e->values_n, f->values, f->values_n))
            return false;
    }
    return true;
}
