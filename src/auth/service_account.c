/* See service_account.h. jwt.c checks the signature and the times; here are Kubernetes' claims, and
 * the check that the objects that they name still exist. */
#include "auth/service_account.h"

#include "auth/jwt.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/vec.h"

static const int64_t expiry_max_s = INT64_C(1) << 32;

/* How many milliseconds the clocks of servers that share a key may differ. */
enum { SKEW_MS = 10000 };

struct vd_service_accounts {
    struct vd_arena arena;
    struct vd_slice issuer;
    VD_VEC(struct vd_signing_key *) keys;
    VD_VEC(struct vd_slice) audiences;
    bool (*exists)(void *arg, const struct vd_bound_object *object);
    void *arg;
};

int vd_service_accounts_new(struct vd_service_accounts **out,
                            const struct vd_service_accounts_options *options,
                            struct vd_error *error)
{
    if (!options->keys_n || !vd_signing_key_is_private(options->keys[0]))
        return vd_error_set(error, VD_ERR_INVALID,
                            "ServiceAccount tokens need a private key to sign with");
    struct vd_service_accounts *s = VD_NEW(struct vd_service_accounts);
    s->issuer = vd_arena_copy(&s->arena, options->issuer.n
                                             ? options->issuer
                                             : VD_SLICE(VD_SERVICE_ACCOUNT_ISSUER_DEFAULT));
    for (size_t i = 0; i < options->keys_n; i++)
        *VD_VEC_PUSH(&s->keys) = vd_signing_key_ref(options->keys[i]);
    for (size_t i = 0; i < options->audiences_n; i++)
        *VD_VEC_PUSH(&s->audiences) = vd_arena_copy(&s->arena, options->audiences[i]);
    if (!options->audiences_n)
        *VD_VEC_PUSH(&s->audiences) = s->issuer;
    s->exists = options->exists;
    s->arg = options->arg;
    *out = s;
    return VD_OK;
}

void vd_service_accounts_free(struct vd_service_accounts *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->keys.n; i++)
        vd_signing_key_unref(s->keys.p[i]);
    VD_VEC_RELEASE(&s->keys);
    VD_VEC_RELEASE(&s->audiences);
    vd_arena_release(&s->arena);
    free(s);
}

struct vd_slice vd_service_accounts_issuer(const struct vd_service_accounts *s)
{
    return s->issuer;
}

struct vd_signing_key *const *vd_service_accounts_keys(const struct vd_service_accounts *s,
                                                       size_t *n)
{
    *n = s->keys.n;
    return s->keys.p;
}

void vd_service_account_user_name(struct vd_buf *out, struct vd_slice namespace,
                                  struct vd_slice name)
{
    vd_buf_addf(out, "system:serviceaccount:%.*s:%.*s", VD_FMT(namespace), VD_FMT(name));
}

/* The objects besides its account that a token can be bound to. */
static const struct bound_kind {
    const char *resource, *claim, *name_extra, *uid_extra;
} bound_kinds[] = {
    {"pods", "pod", "authentication.kubernetes.io/pod-name",
     "authentication.kubernetes.io/pod-uid"},
    {"secrets", "secret", NULL, NULL},
    {"nodes", "node", "authentication.kubernetes.io/node-name",
     "authentication.kubernetes.io/node-uid"},
};
enum { BOUND_KINDS = sizeof bound_kinds / sizeof bound_kinds[0] };

/* ---- issuing ---- */

static struct vd_json *reference(struct vd_arena *a, struct vd_slice name, struct vd_slice uid)
{
    struct vd_json *ref = vd_json_object(a);
    vd_json_add_ref(ref, VD_SLICE("name"), vd_json_string(a, name));
    vd_json_add_ref(ref, VD_SLICE("uid"), vd_json_string(a, uid));
    return ref;
}

static int add_private_claims(struct vd_arena *a, struct vd_json *claims,
                              const struct vd_token_request *request, struct vd_error *error)
{
    struct vd_json *private = vd_json_object(a);
    const struct vd_bound_object *bound = &request->bound;
    vd_json_add_ref(private, VD_SLICE("namespace"), vd_json_string(a, request->namespace));
    bool known = !bound->resource.n;
    for (size_t i = 0; i < BOUND_KINDS; i++) {
        if (!vd_slice_is(bound->resource, bound_kinds[i].resource))
            continue;
        known = true;
        vd_json_add_ref(private, vd_slice_of(bound_kinds[i].claim),
                        reference(a, bound->name, bound->uid));
    }
    if (!known)
        return vd_error_set(error, VD_ERR_INVALID,
                            "a token can be bound to a Pod, a Secret or a Node, not to %.*s",
                            VD_FMT(bound->resource));
    vd_json_add_ref(private, VD_SLICE("serviceaccount"), reference(a, request->name, request->uid));
    vd_json_add_ref(claims, VD_SLICE("kubernetes.io"), private);
    return VD_OK;
}

/* A random uuid (RFC 4122, version 4). */
static struct vd_json *new_id(struct vd_arena *a)
{
    unsigned char r[16];
    struct vd_buf text = {0};
    vd_random_bytes(r, sizeof r);
    r[6] = (unsigned char)((r[6] & 0x0f) | 0x40);
    r[8] = (unsigned char)((r[8] & 0x3f) | 0x80);
    for (size_t i = 0; i < sizeof r; i++)
        vd_buf_addf(&text, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", r[i]);
    struct vd_json *id = vd_json_string(a, vd_buf_slice(&text));
    vd_buf_release(&text);
    return id;
}

static int make_claims(struct vd_arena *a, const struct vd_service_accounts *accounts,
                       const struct vd_token_request *request, int64_t now_s, int64_t expiry_s,
                       struct vd_json **out, struct vd_error *error)
{
    struct vd_json *claims = vd_json_object(a), *audiences = vd_json_array(a);
    const struct vd_slice *list = request->audiences_n ? request->audiences : accounts->audiences.p;
    size_t n = request->audiences_n ? request->audiences_n : accounts->audiences.n;
    struct vd_buf subject = {0};
    for (size_t i = 0; i < n; i++)
        vd_json_append(audiences, vd_json_string(a, list[i]));
    vd_service_account_user_name(&subject, request->namespace, request->name);
    vd_json_add_ref(claims, VD_SLICE("aud"), audiences);
    vd_json_add_ref(claims, VD_SLICE("exp"), vd_json_i64(a, now_s + expiry_s));
    vd_json_add_ref(claims, VD_SLICE("iat"), vd_json_i64(a, now_s));
    vd_json_add_ref(claims, VD_SLICE("iss"), vd_json_string(a, accounts->issuer));
    vd_json_add_ref(claims, VD_SLICE("jti"), new_id(a));
    int code = add_private_claims(a, claims, request, error);
    vd_json_add_ref(claims, VD_SLICE("nbf"), vd_json_i64(a, now_s));
    vd_json_add_ref(claims, VD_SLICE("sub"), vd_json_string(a, vd_buf_slice(&subject)));
    vd_buf_release(&subject);
    *out = claims;
    return code;
}

int vd_service_account_issue(const struct vd_service_accounts *accounts,
                             const struct vd_token_request *request, struct vd_buf *token,
                             int64_t *expires_ms, struct vd_error *error)
{
    int64_t expiry_s = request->expiry_s ? request->expiry_s : VD_SERVICE_ACCOUNT_EXPIRY_DEFAULT_S;
    int64_t now_s = request->now_ms / 1000;
    if (expiry_s < VD_SERVICE_ACCOUNT_EXPIRY_MIN_S)
        return vd_error_set(error, VD_ERR_INVALID,
                            "may not specify a duration less than 10 minutes");
    if (expiry_s > expiry_max_s)
        return vd_error_set(error, VD_ERR_INVALID,
                            "may not specify a duration larger than 2^32 seconds");
    struct vd_arena arena = {0};
    struct vd_json *claims;
    int code = make_claims(&arena, accounts, request, now_s, expiry_s, &claims, error);
    if (!code)
        code = vd_jwt_sign(token, accounts->keys.p[0], claims, error);
    if (!code)
        *expires_ms = (now_s + expiry_s) * 1000;
    vd_arena_release(&arena);
    return code;
}

/* ---- verifying ---- */

static int read_reference(const struct vd_json *ref, struct vd_bound_object *object,
                          struct vd_error *error)
{
    object->name = vd_json_text(vd_json_get(ref, VD_SLICE("name")));
    object->uid = vd_json_text(vd_json_get(ref, VD_SLICE("uid")));
    if (object->name.n && object->uid.n)
        return VD_OK;
    return vd_error_set(error, VD_ERR_INVALID,
                        "the token's claims do not name a ServiceAccount and its objects");
}

static int check_exists(const struct vd_service_accounts *accounts,
                        const struct vd_bound_object *object, struct vd_error *error)
{
    if (accounts->exists(accounts->arg, object))
        return VD_OK;
    return vd_error_set(error, VD_ERR_INVALID,
                        "the token ended with the object that it was bound to (%.*s)",
                        VD_FMT(object->resource));
}

struct holder {
    struct vd_bound_object account;
    struct vd_bound_object bound; /* no resource: the account alone */
    struct vd_user_extra extra[2];
    struct vd_slice extra_values[2];
    size_t extra_n;
};

static void add_extra(struct holder *holder, const char *key, struct vd_slice value)
{
    if (!key)
        return;
    size_t at = holder->extra_n++;
    holder->extra_values[at] = value;
    holder->extra[at] = (struct vd_user_extra){vd_slice_of(key), &holder->extra_values[at], 1};
}

static int check_bound(const struct vd_service_accounts *accounts, const struct vd_json *private,
                       struct holder *holder, struct vd_error *error)
{
    bool any = false;
    for (size_t i = 0; i < BOUND_KINDS; i++) {
        const struct vd_json *ref = vd_json_get(private, vd_slice_of(bound_kinds[i].claim));
        struct vd_bound_object object = {.resource = vd_slice_of(bound_kinds[i].resource)};
        if (!ref)
            continue;
        if (any)
            return vd_error_set(error, VD_ERR_INVALID, "the token is bound to several objects");
        any = true;
        if (!vd_slice_is(object.resource, "nodes"))
            object.namespace = holder->account.namespace;
        int code = read_reference(ref, &object, error);
        if (!code)
            code = check_exists(accounts, &object, error);
        if (code)
            return code;
        holder->bound = object;
        add_extra(holder, bound_kinds[i].name_extra, object.name);
        add_extra(holder, bound_kinds[i].uid_extra, object.uid);
    }
    return VD_OK;
}

static int check_holder(const struct vd_service_accounts *accounts, const struct vd_jwt *jwt,
                        struct holder *holder, struct vd_error *error)
{
    const struct vd_json *private = vd_json_get(jwt->claims, VD_SLICE("kubernetes.io"));
    struct vd_buf subject = {0};
    *holder = (struct holder){.account.resource = VD_SLICE("serviceaccounts")};
    holder->account.namespace = vd_json_text(vd_json_get(private, VD_SLICE("namespace")));
    int code = read_reference(vd_json_get(private, VD_SLICE("serviceaccount")), &holder->account,
                              error);
    if (code)
        return code;
    vd_service_account_user_name(&subject, holder->account.namespace, holder->account.name);
    if (!holder->account.namespace.n || !vd_slice_eq(vd_buf_slice(&subject), jwt->subject))
        code = vd_error_set(error, VD_ERR_INVALID,
                            "the token's subject is not the ServiceAccount of its claims");
    vd_buf_release(&subject);
    if (!code)
        code = check_exists(accounts, &holder->account, error);
    if (!code)
        code = check_bound(accounts, private, holder, error);
    return code;
}

static struct vd_user *user_of(const struct vd_jwt *jwt, const struct holder *holder)
{
    struct vd_buf namespace_group = {0}, credential = {0};
    vd_buf_addf(&namespace_group, "system:serviceaccounts:%.*s", VD_FMT(holder->account.namespace));
    if (jwt->id.n)
        vd_buf_addf(&credential, "JTI=%.*s", VD_FMT(jwt->id));
    struct vd_slice groups[] = {VD_SLICE("system:serviceaccounts"), vd_buf_slice(&namespace_group)};
    struct vd_user *user = vd_user_new(&(struct vd_identity){
        .name = jwt->subject,
        .uid = holder->account.uid,
        .groups = groups,
        .groups_n = 2,
        .extra = holder->extra,
        .extra_n = holder->extra_n,
        .method = VD_AUTH_SERVICE_ACCOUNT,
        .expires_ms = jwt->expires_ms,
        .credential_id = vd_buf_slice(&credential),
        .bound = holder->bound,
    });
    vd_buf_release(&namespace_group);
    vd_buf_release(&credential);
    return user;
}

int vd_service_account_authenticate(const struct vd_service_accounts *accounts,
                                    struct vd_slice token, const struct vd_slice *audiences,
                                    size_t audiences_n, int64_t now_ms, struct vd_user **out,
                                    struct vd_error *error)
{
    struct vd_arena arena = {0};
    struct vd_jwt jwt;
    struct holder holder;
    struct vd_jwt_expected expected = {
        .keys = accounts->keys.p,
        .keys_n = accounts->keys.n,
        .issuer = accounts->issuer,
        .audiences = audiences_n ? audiences : accounts->audiences.p,
        .audiences_n = audiences_n ? audiences_n : accounts->audiences.n,
        .now_ms = now_ms,
        .skew_ms = SKEW_MS,
    };
    int code = vd_jwt_parse(&jwt, &arena, token, error);
    if (!code)
        code = vd_jwt_verify(&jwt, &expected, error);
    if (!code)
        code = check_holder(accounts, &jwt, &holder, error);
    if (!code)
        *out = user_of(&jwt, &holder);
    vd_arena_release(&arena);
    return code;
}
