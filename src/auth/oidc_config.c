/* The file of issuers; see oidc.h. */
#include <assert.h>
#include <openssl/sha.h>
#include <stdlib.h>

#include "auth/manifest.h"
#include "auth/oidc.h"
#include "auth/private_file.h"
#include "auth/service_account.h"
#include "base/alloc.h"
#include "base/base64.h"
#include "base/limits.h"
#include "base/quantity.h"
#include "net/http_url.h"
#include "json/write.h"

enum {
    SKEW_MS_DEFAULT =
        10000,            /* milliseconds that clocks may differ, unless the file says otherwise */
    SKEW_MS_MAX = 600000, /* the most that the file may allow */
};

struct reading {
    struct vd_manifest *m;
    struct vd_oidc_config *config;
    struct vd_oidc_issuer *issuer;
};

static struct vd_slice keep(struct reading *r, struct vd_slice text)
{
    return vd_arena_copy(&r->config->arena, text);
}

bool vd_oidc_url_is_safe(struct vd_slice url)
{
    struct vd_http_url parts;
    return !vd_http_url_parse(&parts, url, NULL) && (parts.tls || vd_http_url_is_local(&parts));
}

static struct vd_slice read_url(struct reading *r, const struct vd_json *object, const char *name)
{
    struct vd_slice url = vd_manifest_text(r->m, object, name);
    if (url.n && !vd_oidc_url_is_safe(url))
        vd_manifest_fail(r->m, vd_json_get(object, vd_slice_of(name)),
                         "%s wants an https:// URL (http:// only for a loopback address)", name);
    return keep(r, url);
}

/* ---- parts of an issuer ---- */

static void read_ca(struct reading *r, const struct vd_json *issuer)
{
    struct vd_slice pem = vd_manifest_text(r->m, issuer, "certificateAuthority");
    struct vd_slice file = vd_manifest_text(r->m, issuer, "certificateAuthorityFile");
    struct vd_buf text = {0};
    struct vd_error why;
    if (pem.n && file.n)
        vd_manifest_fail(r->m, issuer,
                         "certificateAuthority and certificateAuthorityFile exclude "
                         "each other");
    else if (file.n && vd_private_file_read(&text, keep(r, file).p, VD_PEM_LEN_MAX, &why))
        vd_manifest_fail(r->m, issuer, "%s", why.text);
    r->issuer->ca_pem = keep(r, file.n ? vd_buf_slice(&text) : pem);
    vd_buf_release(&text);
}

static void read_source(struct reading *r, const struct vd_json *issuer)
{
    struct vd_oidc_issuer *i = r->issuer;
    struct vd_slice named = read_url(r, issuer, "discoveryURL");
    i->jwks_file = keep(r, vd_manifest_text(r->m, issuer, "jwksFile"));
    i->jwks_url = read_url(r, issuer, "jwksURL");
    if ((i->jwks_file.n > 0) + (i->jwks_url.n > 0) + (named.n > 0) > 1)
        vd_manifest_fail(r->m, issuer, "jwksFile, jwksURL and discoveryURL exclude each other");
    if (i->jwks_file.n || i->jwks_url.n)
        return;
    struct vd_buf url = {0};
    struct vd_slice base = i->url;
    if (base.n && base.p[base.n - 1] == '/')
        base.n--;
    vd_buf_add_slice(&url, base);
    vd_buf_add_text(&url, "/.well-known/openid-configuration");
    i->discovery_url = named.n ? named : keep(r, vd_buf_slice(&url));
    vd_buf_release(&url);
}

static void read_issuer(struct reading *r, const struct vd_json *jwt)
{
    static const char *const fields[] = {"url",
                                         "discoveryURL",
                                         "certificateAuthority",
                                         "certificateAuthorityFile",
                                         "audiences",
                                         "audienceMatchPolicy",
                                         "jwksFile",
                                         "jwksURL",
                                         NULL};
    const struct vd_json *issuer = vd_manifest_object(r->m, jwt, "issuer");
    struct vd_oidc_issuer *i = r->issuer;
    if (!issuer) {
        vd_manifest_fail(r->m, jwt, "wants an issuer");
        return;
    }
    vd_manifest_fields(r->m, issuer, fields);
    i->url = read_url(r, issuer, "url");
    if (!i->url.n)
        vd_manifest_fail(r->m, issuer, "the issuer wants a url");
    if (vd_oidc_config_find(r->config, i->url))
        vd_manifest_fail(r->m, issuer, "the issuer %.*s is there twice", VD_FMT(i->url));
    if (vd_slice_is(i->url, VD_SERVICE_ACCOUNT_ISSUER_DEFAULT))
        vd_manifest_fail(r->m, issuer,
                         "the issuer %.*s is this server: nobody else may speak for it",
                         VD_FMT(i->url));
    i->audiences = vd_manifest_texts(r->m, issuer, "audiences", &r->config->arena, &i->audiences_n);
    if (!i->audiences_n)
        vd_manifest_fail(r->m, issuer,
                         "the issuer wants at least one of audiences: without, a "
                         "token for anybody else's service would be good here");
    struct vd_slice match = vd_manifest_text(r->m, issuer, "audienceMatchPolicy");
    if (match.n && !vd_slice_is(match, "MatchAny"))
        vd_manifest_fail(r->m, issuer, "audienceMatchPolicy wants MatchAny");
    read_ca(r, issuer);
    read_source(r, issuer);
}

/* Reads a claim and the prefix for its value; the prefix must be given, even if it is "". */
static void read_mapping(struct reading *r, const struct vd_json *mappings, const char *name,
                         struct vd_slice *claim, struct vd_slice *prefix)
{
    static const char *const fields[] = {"claim", "prefix", NULL};
    static const char *const uid_fields[] = {"claim", NULL};
    const struct vd_json *mapping = vd_manifest_object(r->m, mappings, name);
    if (!mapping)
        return;
    vd_manifest_fields(r->m, mapping, prefix ? fields : uid_fields);
    *claim = keep(r, vd_manifest_text(r->m, mapping, "claim"));
    if (!claim->n)
        vd_manifest_fail(r->m, mapping, "%s wants a claim; expressions are not supported", name);
    if (!prefix)
        return;
    if (!vd_json_get(mapping, VD_SLICE("prefix")))
        vd_manifest_fail(r->m, mapping, "%s wants a prefix, which may be empty", name);
    *prefix = keep(r, vd_manifest_text(r->m, mapping, "prefix"));
    if (vd_slice_starts_with(*prefix, VD_SLICE("system:")))
        vd_manifest_fail(r->m, mapping, "names that begin with system: are the server's own");
}

static void read_mappings(struct reading *r, const struct vd_json *jwt)
{
    static const char *const fields[] = {"username", "groups", "uid", NULL};
    const struct vd_json *mappings = vd_manifest_object(r->m, jwt, "claimMappings");
    struct vd_oidc_issuer *i = r->issuer;
    assert(i);
    if (mappings)
        vd_manifest_fields(r->m, mappings, fields);
    read_mapping(r, mappings, "username", &i->username_claim, &i->username_prefix);
    read_mapping(r, mappings, "groups", &i->groups_claim, &i->groups_prefix);
    read_mapping(r, mappings, "uid", &i->uid_claim, NULL);
    if (!i->username_claim.n)
        vd_manifest_fail(r->m, jwt, "claimMappings wants a username with a claim");
}

static void read_rules(struct reading *r, const struct vd_json *jwt)
{
    static const char *const fields[] = {"claim", "requiredValue", NULL};
    const struct vd_json *rules = vd_manifest_list(r->m, jwt, "claimValidationRules");
    struct vd_required_claim *required = vd_arena_alloc(&r->config->arena,
                                                        vd_json_count(rules) * sizeof *required);
    r->issuer->required = required;
    VD_JSON_EACH (rule, rules) {
        vd_manifest_fields(r->m, rule, fields);
        struct vd_required_claim *to = &required[r->issuer->required_n++];
        to->claim = keep(r, vd_manifest_text(r->m, rule, "claim"));
        to->value = keep(r, vd_manifest_text(r->m, rule, "requiredValue"));
        if (!to->claim.n)
            vd_manifest_fail(r->m, rule, "a rule wants a claim; expressions are not supported");
    }
}

static void read_skew(struct reading *r, const struct vd_json *jwt)
{
    struct vd_slice text = vd_manifest_text(r->m, jwt, "clockSkew");
    uint64_t skew_ms = SKEW_MS_DEFAULT;
    if (text.n && (vd_duration_parse(text, &skew_ms) || skew_ms > SKEW_MS_MAX))
        vd_manifest_fail(r->m, jwt, "clockSkew wants a time of at most 10m, such as 30s");
    r->issuer->skew_ms = (int64_t)skew_ms;
}

/* ---- the whole ---- */

static void make_fingerprint(struct reading *r, const struct vd_json *jwt)
{
    unsigned char hash[SHA256_DIGEST_LENGTH];
    struct vd_buf text = {0}, name = {0};
    vd_json_write(&text, jwt);
    vd_buf_add_slice(&text, r->issuer->ca_pem);
    SHA256((const unsigned char *)text.p, text.n, hash);
    vd_base64_encode(&name, vd_slice(hash, sizeof hash), VD_BASE64_URL);
    r->issuer->fingerprint = keep(r, vd_buf_slice(&name));
    vd_buf_release(&text);
    vd_buf_release(&name);
}

static void read_config(struct reading *r)
{
    static const char *const roots[] = {"apiVersion", "kind", "jwt", NULL};
    static const char *const fields[] = {"issuer", "claimValidationRules", "claimMappings",
                                         "clockSkew", NULL};
    vd_manifest_expect(r->m, "apiserver.config.k8s.io", "AuthenticationConfiguration");
    vd_manifest_fields(r->m, r->m->root, roots);
    const struct vd_json *list = vd_manifest_list(r->m, r->m->root, "jwt");
    if (vd_json_count(list) > VD_ISSUERS_MAX)
        vd_manifest_fail(r->m, list, "more than %d issuers", VD_ISSUERS_MAX);
    r->config->issuers = vd_arena_alloc(&r->config->arena,
                                        vd_json_count(list) * sizeof *r->config->issuers);
    VD_JSON_EACH (jwt, list) {
        struct vd_oidc_issuer issuer = {0};
        r->issuer = &issuer;
        vd_manifest_fields(r->m, jwt, fields);
        read_issuer(r, jwt);
        read_mappings(r, jwt);
        read_rules(r, jwt);
        read_skew(r, jwt);
        if (r->m->code)
            return;
        make_fingerprint(r, jwt);
        r->config->issuers[r->config->n++] = issuer;
    }
}

static int finish(struct vd_manifest *m, struct vd_oidc_config **out)
{
    struct vd_oidc_config *config = VD_NEW(struct vd_oidc_config);
    vd_refcount_init(&config->count);
    if (!m->code)
        read_config(&(struct reading){.m = m, .config = config});
    int code = vd_manifest_close(m);
    if (!code)
        *out = vd_oidc_config_ref(config);
    vd_oidc_config_unref(config);
    return code;
}

int vd_oidc_config_load(struct vd_oidc_config **out, const char *path, struct vd_error *error)
{
    struct vd_manifest m;
    if (vd_manifest_open(&m, path, error)) {
        vd_error_prefix(error, "the authentication configuration");
        return vd_manifest_close(&m);
    }
    return finish(&m, out);
}

int vd_oidc_config_parse(struct vd_oidc_config **out, const char *name, struct vd_slice text,
                         struct vd_error *error)
{
    struct vd_manifest m;
    if (vd_manifest_parse(&m, name, text, error))
        return vd_manifest_close(&m);
    return finish(&m, out);
}

struct vd_oidc_config *vd_oidc_config_ref(struct vd_oidc_config *config)
{
    vd_ref(&config->count);
    return config;
}

void vd_oidc_config_unref(struct vd_oidc_config *config)
{
    if (!config || !vd_unref(&config->count))
        return;
    vd_arena_release(&config->arena);
    free(config);
}

const struct vd_oidc_issuer *vd_oidc_config_find(const struct vd_oidc_config *config,
                                                 struct vd_slice url)
{
    for (size_t i = 0; i < config->n; i++)
        if (vd_slice_eq(config->issuers[i].url, url))
            return &config->issuers[i];
    return NULL;
}
