/* See oidc.h: which user a token's claims name. */
#include "auth/oidc.h"

#include "base/limits.h"
#include "json/parse.h"

/* ---- discovery ---- */

int vd_oidc_discover(const struct vd_oidc_issuer *issuer, struct vd_slice document,
                     struct vd_arena *arena, struct vd_slice *jwks_url, struct vd_error *error)
{
    struct vd_json_options strict = {.depth_max = VD_JWT_DEPTH_MAX,
                                     .len_max = VD_JWKS_LEN_MAX,
                                     .duplicates = VD_JSON_DUPLICATES_REJECT};
    struct vd_arena scratch = {0};
    struct vd_json *root = NULL;
    int code = vd_json_parse(&scratch, document, &strict, &root, error);
    struct vd_slice said = vd_json_text(vd_json_get(root, VD_SLICE("issuer")));
    struct vd_slice url = vd_json_text(vd_json_get(root, VD_SLICE("jwks_uri")));
    if (!code && !vd_slice_eq(said, issuer->url))
        code = vd_error_set(error, VD_ERR_INVALID,
                            "the discovery document is that of another issuer: '%.*s'",
                            (int)(said.n < 200 ? said.n : 200), said.p ? said.p : "");
    if (!code && (!url.n || !vd_oidc_url_is_safe(url)))
        code = vd_error_set(error, VD_ERR_INVALID,
                            "the discovery document's jwks_uri is missing or not https://");
    if (!code)
        *jwks_url = vd_arena_copy(arena, url);
    vd_arena_release(&scratch);
    return code;
}

/* ---- claims ---- */

struct bearer {
    const struct vd_oidc_issuer *issuer;
    const struct vd_json *claims;
    struct vd_arena arena;
    struct vd_error *error;
};

static struct vd_slice join(struct vd_arena *arena, struct vd_slice prefix, struct vd_slice text)
{
    char *p = vd_arena_alloc(arena, prefix.n + text.n + 1);
    if (prefix.n)
        memcpy(p, prefix.p, prefix.n);
    if (text.n)
        memcpy(p + prefix.n, text.p, text.n);
    return vd_slice(p, prefix.n + text.n);
}

static int check_required(struct bearer *b)
{
    for (size_t i = 0; i < b->issuer->required_n; i++) {
        const struct vd_required_claim *r = &b->issuer->required[i];
        const struct vd_json *value = vd_json_get(b->claims, r->claim);
        if (!vd_json_is(value, VD_JSON_STRING) || !vd_slice_eq(vd_json_text(value), r->value))
            return vd_error_set(b->error, VD_ERR_INVALID,
                                "the token's claim %.*s is not what it has to be",
                                VD_FMT(r->claim));
    }
    return VD_OK;
}

static int find_name(struct bearer *b, struct vd_slice *name)
{
    const struct vd_oidc_issuer *issuer = b->issuer;
    struct vd_slice text = vd_json_text(vd_json_get(b->claims, issuer->username_claim));
    const struct vd_json *verified = vd_json_get(b->claims, VD_SLICE("email_verified"));
    if (!text.n)
        return vd_error_set(b->error, VD_ERR_INVALID,
                            "the token's claim %.*s, which names its user, is missing or no text",
                            VD_FMT(issuer->username_claim));
    /* An address that the issuer has not verified may belong to somebody else. */
    if (vd_slice_is(issuer->username_claim, "email") && verified && !vd_json_truth(verified))
        return vd_error_set(b->error, VD_ERR_INVALID, "the token's email is not verified");
    *name = join(&b->arena, issuer->username_prefix, text);
    if (name->n > VD_USER_NAME_LEN_MAX)
        return vd_error_set(b->error, VD_ERR_LIMIT, "the token's user name is too long");
    if (vd_slice_starts_with(*name, VD_SLICE("system:")))
        return vd_error_set(b->error, VD_ERR_INVALID,
                            "the token names a user whose name begins with system:");
    return VD_OK;
}

static int add_group(struct bearer *b, const struct vd_json *value, struct vd_slice *groups,
                     size_t *n)
{
    if (!vd_json_is(value, VD_JSON_STRING))
        return vd_error_set(b->error, VD_ERR_INVALID, "the token's groups are not texts");
    struct vd_slice group = join(&b->arena, b->issuer->groups_prefix, vd_json_text(value));
    if (group.n > VD_USER_NAME_LEN_MAX)
        return vd_error_set(b->error, VD_ERR_LIMIT, "a group of the token is too long");
    if (group.n && !vd_slice_starts_with(group, VD_SLICE("system:")))
        groups[(*n)++] = group;
    return VD_OK;
}

static int find_groups(struct bearer *b, struct vd_identity *who)
{
    const struct vd_json *claim = b->issuer->groups_claim.n
                                      ? vd_json_get(b->claims, b->issuer->groups_claim)
                                      : NULL;
    size_t most = vd_json_is(claim, VD_JSON_ARRAY) ? vd_json_count(claim) : 1;
    int code = VD_OK;
    if (!claim || vd_json_is(claim, VD_JSON_NULL))
        return VD_OK;
    if (most > VD_USER_GROUPS_MAX)
        return vd_error_set(b->error, VD_ERR_LIMIT, "the token has more than %d groups",
                            VD_USER_GROUPS_MAX);
    struct vd_slice *groups = vd_arena_alloc(&b->arena, most * sizeof *groups);
    who->groups = groups;
    if (!vd_json_is(claim, VD_JSON_ARRAY))
        return add_group(b, claim, groups, &who->groups_n);
    VD_JSON_EACH (value, claim)
        if (!code)
            code = add_group(b, value, groups, &who->groups_n);
    return code;
}

static int find_uid(struct bearer *b, struct vd_identity *who)
{
    if (!b->issuer->uid_claim.n)
        return VD_OK;
    who->uid = vd_json_text(vd_json_get(b->claims, b->issuer->uid_claim));
    return who->uid.n ? VD_OK
                      : vd_error_set(b->error, VD_ERR_INVALID,
                                     "the token's claim %.*s, its user's uid, is missing",
                                     VD_FMT(b->issuer->uid_claim));
}

/* The issuer and key that vouch for the user: "FINGERPRINT THUMBPRINT". */
static struct vd_slice signer_of(struct vd_arena *arena, const struct vd_oidc_issuer *issuer,
                                 const struct vd_signing_key *key)
{
    struct vd_slice front = join(arena, issuer->fingerprint, VD_SLICE(" "));
    return join(arena, front, vd_signing_key_thumbprint(key));
}

int vd_oidc_authenticate(const struct vd_oidc_issuer *issuer, const struct vd_key_set *keys,
                         struct vd_jwt *jwt, int64_t now_ms, struct vd_user **out,
                         struct vd_error *error)
{
    struct vd_jwt_expected expected = {.keys = keys->keys,
                                       .keys_n = keys->n,
                                       .issuer = issuer->url,
                                       .audiences = issuer->audiences,
                                       .audiences_n = issuer->audiences_n,
                                       .now_ms = now_ms,
                                       .skew_ms = issuer->skew_ms};
    int code = vd_jwt_verify(jwt, &expected, error);
    if (code)
        return code;
    struct bearer b = {.issuer = issuer, .claims = jwt->claims, .error = error};
    /* The token was accepted within the allowed difference of clocks, so the user and its streams
     * expire that much later, too. */
    struct vd_identity who = {.method = VD_AUTH_OIDC,
                              .expires_ms = jwt->expires_ms + issuer->skew_ms,
                              .signer = signer_of(&b.arena, issuer, jwt->key)};
    code = check_required(&b);
    if (!code)
        code = find_name(&b, &who.name);
    if (!code)
        code = find_groups(&b, &who);
    if (!code)
        code = find_uid(&b, &who);
    if (!code && jwt->id.n)
        who.credential_id = join(&b.arena, VD_SLICE("JTI="), jwt->id);
    if (!code)
        *out = vd_user_new(&who);
    vd_arena_release(&b.arena);
    return code;
}

bool vd_oidc_user_is_valid(const struct vd_oidc_issuer *issuer, const struct vd_key_set *keys,
                           const struct vd_user *user)
{
    struct vd_slice rest = user->is.signer, fingerprint;
    if (!rest.n || !vd_slice_cut(&rest, ' ', &fingerprint) ||
        !vd_slice_eq(fingerprint, issuer->fingerprint))
        return false;
    for (size_t i = 0; i < keys->n; i++)
        if (vd_slice_eq(vd_signing_key_thumbprint(keys->keys[i]), rest))
            return true;
    return false;
}
