/* See impersonation.h. */
#include "auth/impersonation.h"

#include <string.h>
#include <strings.h>

#include "base/utf8.h"
#include "base/vec.h"
#include "net/url.h"

#define ACCOUNT_PREFIX VD_SLICE("system:serviceaccount:")
#define ACCOUNT_GROUP  VD_SLICE("system:serviceaccounts")

/* ---- headers ---- */

static int check_text(struct vd_slice text, struct vd_error *error)
{
    if (text.n > VD_USER_NAME_LEN_MAX || !vd_utf8_is_valid(text))
        return vd_error_set(error, VD_ERR_INVALID,
                            "an Impersonate header is no UTF-8, or longer than %d bytes",
                            VD_USER_NAME_LEN_MAX);
    return VD_OK;
}

/* The key of "Impersonate-Extra-KEY": in lower case, with percent-encoding decoded. */
static int extra_key(struct vd_arena *a, struct vd_slice name, struct vd_slice *out,
                     struct vd_error *error)
{
    char *small = vd_arena_alloc(a, name.n + 1);
    for (size_t i = 0; i < name.n; i++)
        small[i] = name.p[i] >= 'A' && name.p[i] <= 'Z' ? (char)(name.p[i] + 32) : name.p[i];
    int code = vd_url_decode(a, vd_slice(small, name.n), VD_URL_PATH, out, error);
    return code ? code : check_text(*out, error);
}

struct extras {
    VD_VEC(struct vd_user_extra) list;
};

static void add_extra(struct vd_arena *a, struct extras *e, struct vd_slice key,
                      struct vd_slice value)
{
    struct vd_user_extra *extra = NULL;
    for (size_t i = 0; i < e->list.n && !extra; i++)
        if (vd_slice_eq(e->list.p[i].key, key))
            extra = &e->list.p[i];
    if (!extra) {
        extra = VD_VEC_PUSH(&e->list);
        *extra = (struct vd_user_extra){.key = key};
    }
    struct vd_slice *values = vd_arena_alloc(a, (extra->values_n + 1) * sizeof *values);
    if (extra->values_n)
        memcpy(values, extra->values, extra->values_n * sizeof *values);
    values[extra->values_n++] = value;
    extra->values = values;
}

static int read_extras(struct vd_identity *out, struct vd_arena *a, const struct vd_http_head *head,
                       struct vd_error *error)
{
    static const char prefix[] = "impersonate-extra-";
    struct extras extras = {0};
    struct vd_slice key;
    int code = VD_OK;
    for (size_t i = 0; !code && i < head->headers_n; i++) {
        struct vd_slice name = vd_http_head_name(head, i);
        if (name.n < sizeof prefix || strncasecmp(name.p, prefix, sizeof prefix - 1) != 0)
            continue;
        struct vd_slice value = vd_arena_copy(a, vd_http_head_value(head, i));
        code = extra_key(a, vd_slice_from(name, sizeof prefix - 1), &key, error);
        if (!code)
            code = check_text(value, error);
        if (!code)
            add_extra(a, &extras, key, value);
    }
    struct vd_user_extra *list = vd_arena_alloc(a, extras.list.n * sizeof *list);
    if (extras.list.n)
        memcpy(list, extras.list.p, extras.list.n * sizeof *list);
    out->extra = list;
    out->extra_n = extras.list.n;
    VD_VEC_RELEASE(&extras.list);
    return code;
}

int vd_impersonation_read(struct vd_identity *out, struct vd_arena *a,
                          const struct vd_http_head *head, struct vd_error *error)
{
    struct vd_slice value, *groups = vd_arena_alloc(a, head->headers_n * sizeof *groups);
    struct vd_identity who = {.groups = groups};
    size_t at = 0;
    if (vd_http_head_find(head, VD_SLICE("impersonate-user"), &value))
        who.name = vd_arena_copy(a, value);
    if (vd_http_head_find(head, VD_SLICE("impersonate-uid"), &value))
        who.uid = vd_arena_copy(a, value);
    int code = check_text(who.name, error);
    if (!code)
        code = check_text(who.uid, error);
    while (!code && vd_http_head_next(head, VD_SLICE("impersonate-group"), &at, &value)) {
        groups[who.groups_n++] = vd_arena_copy(a, value);
        code = check_text(value, error);
    }
    if (!code)
        code = read_extras(&who, a, head, error);
    if (!code && !who.name.n && (who.uid.n || who.groups_n || who.extra_n))
        code = vd_error_set(
            error, VD_ERR_INVALID,
            "a group, uid or extra is impersonated without a user: Impersonate-User "
            "is missing");
    if (!code)
        *out = who;
    return code;
}

/* ---- rights ---- */

/* Splits "system:serviceaccount:NS:NAME". */
static bool is_account(struct vd_slice user, struct vd_slice *namespace, struct vd_slice *name)
{
    if (!vd_slice_starts_with(user, ACCOUNT_PREFIX))
        return false;
    *name = vd_slice_from(user, ACCOUNT_PREFIX.n);
    return vd_slice_cut(name, ':', namespace) && namespace->n && name->n &&
           !memchr(name->p, ':', name->n);
}

struct asking {
    const struct vd_rbac *rbac;
    struct vd_access *access;
    struct vd_buf *reason;
};

static bool may(const struct asking *a, struct vd_access access)
{
    access.user = a->access->user;
    access.verb = VD_SLICE("impersonate");
    *a->access = access;
    vd_buf_reset(a->reason);
    return vd_rbac_decide(a->rbac, a->access, a->reason);
}

static bool may_be_user(const struct asking *a, struct vd_slice user)
{
    struct vd_slice namespace, name;
    if (is_account(user, &namespace, &name))
        return may(a, (struct vd_access){.resource = VD_SLICE("serviceaccounts"),
                                         .namespace = namespace,
                                         .name = name});
    return may(a, (struct vd_access){.resource = VD_SLICE("users"), .name = user});
}

static bool may_have_extra(const struct asking *a, const struct vd_user_extra *extra)
{
    for (size_t i = 0; i < extra->values_n; i++)
        if (!may(a, (struct vd_access){.group = VD_SLICE("authentication.k8s.io"),
                                       .resource = VD_SLICE("userextras"),
                                       .subresource = extra->key,
                                       .name = extra->values[i]}))
            return false;
    return true;
}

bool vd_impersonation_allowed(const struct vd_rbac *rbac, const struct vd_user *by,
                              const struct vd_identity *who, struct vd_access *refused,
                              struct vd_buf *reason)
{
    struct asking a = {rbac, refused, reason};
    *refused = (struct vd_access){.user = by};
    if (!may_be_user(&a, who->name))
        return false;
    for (size_t i = 0; i < who->groups_n; i++)
        if (!may(&a, (struct vd_access){.resource = VD_SLICE("groups"), .name = who->groups[i]}))
            return false;
    for (size_t i = 0; i < who->extra_n; i++)
        if (!may_have_extra(&a, &who->extra[i]))
            return false;
    return !who->uid.n || may(&a, (struct vd_access){.group = VD_SLICE("authentication.k8s.io"),
                                                     .resource = VD_SLICE("uids"),
                                                     .name = who->uid});
}

/* ---- the user ---- */

static bool has_group(const struct vd_identity *who, struct vd_slice group)
{
    for (size_t i = 0; i < who->groups_n; i++)
        if (vd_slice_eq(who->groups[i], group))
            return true;
    return false;
}

struct vd_user *vd_impersonation_user(struct vd_user *by, const struct vd_identity *who,
                                      struct vd_arena *arena)
{
    struct vd_identity is = *who;
    struct vd_slice namespace, name;
    struct vd_slice *groups = vd_arena_alloc(arena, (who->groups_n + 2) * sizeof *groups);
    bool nobody = vd_slice_is(who->name, VD_USER_ANONYMOUS);
    size_t n = 0;
    for (; n < who->groups_n; n++)
        groups[n] = who->groups[n];
    if (!n && is_account(who->name, &namespace, &name)) {
        struct vd_buf group = {0};
        vd_buf_addf(&group, "system:serviceaccounts:%.*s", VD_FMT(namespace));
        groups[n++] = ACCOUNT_GROUP;
        groups[n++] = vd_arena_copy(arena, vd_buf_slice(&group));
        vd_buf_release(&group);
    }
    if (nobody && !has_group(who, VD_SLICE(VD_GROUP_UNAUTHENTICATED)))
        groups[n++] = VD_SLICE(VD_GROUP_UNAUTHENTICATED);
    nobody |= has_group(who, VD_SLICE(VD_GROUP_UNAUTHENTICATED));
    is.groups = groups;
    is.groups_n = n;
    is.method = nobody ? VD_AUTH_ANONYMOUS : VD_AUTH_IMPERSONATION;
    is.impersonator = by;
    is.expires_ms = by->is.expires_ms;
    return vd_user_new(&is);
}

/* The groups that vd_impersonation_user() adds to a user need no right. */
bool vd_impersonation_is_valid(const struct vd_rbac *rbac, const struct vd_user *user)
{
    struct vd_arena arena = {0};
    struct vd_slice *groups = vd_arena_alloc(&arena, user->is.groups_n * sizeof *groups);
    struct vd_identity who = user->is;
    struct vd_access refused;
    struct vd_buf reason = {0};
    who.groups = groups;
    who.groups_n = 0;
    for (size_t i = 0; i < user->is.groups_n; i++) {
        struct vd_slice group = user->is.groups[i];
        if (!vd_slice_starts_with(group, ACCOUNT_GROUP) &&
            !vd_slice_is(group, VD_GROUP_AUTHENTICATED) &&
            !vd_slice_is(group, VD_GROUP_UNAUTHENTICATED))
            groups[who.groups_n++] = group;
    }
    bool valid = vd_impersonation_allowed(rbac, user->is.impersonator, &who, &refused, &reason);
    vd_buf_release(&reason);
    vd_arena_release(&arena);
    return valid;
}
