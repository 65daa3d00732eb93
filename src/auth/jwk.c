/*
 * See jwk.h. OpenSSL takes the numbers as parameters; what it makes of them is a public key, since
 * private parts of a document are not looked at.
 */
#include "auth/jwk.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>

#include "base/alloc.h"
#include "base/base64.h"
#include "base/limits.h"
#include "json/parse.h"

enum {
    ED25519_LEN = 32,       /* bytes of an Ed25519 public key */
    POINT_HALF_MAX = 66,    /* bytes of a coordinate, as P-521 has */
    MODULUS_LEN_MAX = 1024, /* bytes of an RSA modulus */
    EXPONENT_LEN_MAX = 8,   /* bytes of an RSA exponent */
};

/* ---- parts ---- */

static struct vd_slice text_of(const struct vd_json *jwk, const char *name)
{
    struct vd_slice text = vd_json_text(vd_json_get(jwk, vd_slice_of(name)));
    return text.p ? text : VD_SLICE("");
}

/* The bytes of a member in base64url, at most `max` of them. */
static bool bytes_of(const struct vd_json *jwk, const char *name, size_t max, struct vd_buf *out)
{
    struct vd_slice text = text_of(jwk, name);
    vd_buf_reset(out);
    return text.n && text.n <= 2 * max && !vd_base64_decode(out, text, VD_BASE64_URL) &&
           out->n <= max;
}

static EVP_PKEY *from_params(const char *type, OSSL_PARAM_BLD *builder)
{
    EVP_PKEY *handle = NULL;
    OSSL_PARAM *params = OSSL_PARAM_BLD_to_param(builder);
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
    if (!params || !context || EVP_PKEY_fromdata_init(context) != 1 ||
        EVP_PKEY_fromdata(context, &handle, EVP_PKEY_PUBLIC_KEY, params) != 1)
        handle = NULL;
    EVP_PKEY_CTX_free(context);
    OSSL_PARAM_free(params);
    ERR_clear_error();
    return handle;
}

/* ---- kinds of keys: NULL when the document is no such key ---- */

static EVP_PKEY *read_rsa(const struct vd_json *jwk)
{
    struct vd_buf n = {0}, e = {0};
    EVP_PKEY *handle = NULL;
    if (bytes_of(jwk, "n", MODULUS_LEN_MAX, &n) && bytes_of(jwk, "e", EXPONENT_LEN_MAX, &e)) {
        OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
        BIGNUM *modulus = BN_bin2bn((const unsigned char *)n.p, (int)n.n, NULL);
        BIGNUM *exponent = BN_bin2bn((const unsigned char *)e.p, (int)e.n, NULL);
        /* With an exponent of 1 anybody could make a signature that verifies. */
        if (BN_is_odd(exponent) && !BN_is_one(exponent) &&
            OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, modulus) == 1 &&
            OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, exponent) == 1)
            handle = from_params("RSA", builder);
        BN_free(modulus);
        BN_free(exponent);
        OSSL_PARAM_BLD_free(builder);
    }
    vd_buf_release(&n);
    vd_buf_release(&e);
    return handle;
}

static const struct curve {
    const char *name, *group;
    size_t half;
    enum vd_signing_key_alg alg;
} curves[] = {
    {"P-256", "prime256v1", 32, VD_KEY_ES256},
    {"P-384", "secp384r1", 48, VD_KEY_ES384},
    {"P-521", "secp521r1", POINT_HALF_MAX, VD_KEY_ES512},
};

static const struct curve *find_curve(struct vd_slice name)
{
    for (size_t i = 0; i < sizeof curves / sizeof *curves; i++)
        if (vd_slice_is(name, curves[i].name))
            return &curves[i];
    return NULL;
}

/* OpenSSL refuses a point that is not on the curve. */
static EVP_PKEY *read_ec(const struct vd_json *jwk, const struct curve *curve)
{
    struct vd_buf x = {0}, y = {0};
    EVP_PKEY *handle = NULL;
    if (curve && bytes_of(jwk, "x", curve->half, &x) && bytes_of(jwk, "y", curve->half, &y) &&
        x.n == curve->half && y.n == curve->half) {
        unsigned char point[1 + 2 * POINT_HALF_MAX] = {POINT_CONVERSION_UNCOMPRESSED};
        memcpy(point + 1, x.p, x.n);
        memcpy(point + 1 + x.n, y.p, y.n);
        OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
        if (OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME, curve->group, 0) ==
                1 &&
            OSSL_PARAM_BLD_push_octet_string(builder, OSSL_PKEY_PARAM_PUB_KEY, point,
                                             1 + 2 * curve->half) == 1)
            handle = from_params("EC", builder);
        OSSL_PARAM_BLD_free(builder);
    }
    vd_buf_release(&x);
    vd_buf_release(&y);
    return handle;
}

static EVP_PKEY *read_okp(const struct vd_json *jwk)
{
    struct vd_buf x = {0};
    EVP_PKEY *handle = NULL;
    if (vd_slice_is(text_of(jwk, "crv"), "Ed25519") && bytes_of(jwk, "x", ED25519_LEN, &x) &&
        x.n == ED25519_LEN)
        handle = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, (const unsigned char *)x.p,
                                             x.n);
    ERR_clear_error();
    vd_buf_release(&x);
    return handle;
}

/* A key without `use` and `key_ops` may be used for signatures; otherwise these must allow it. */
static bool is_for_signatures(const struct vd_json *jwk)
{
    const struct vd_json *use = vd_json_get(jwk, VD_SLICE("use"));
    const struct vd_json *ops = vd_json_get(jwk, VD_SLICE("key_ops"));
    if (use && !vd_slice_is(vd_json_text(use), "sig"))
        return false;
    VD_JSON_EACH (op, ops)
        if (vd_slice_is(vd_json_text(op), "verify"))
            return true;
    return !ops;
}

/* NULL: the key cannot be used here. */
static struct vd_signing_key *read_key(const struct vd_json *jwk)
{
    struct vd_slice kty = text_of(jwk, "kty");
    const struct vd_json *said = vd_json_get(jwk, VD_SLICE("alg"));
    const struct curve *curve = NULL;
    enum vd_signing_key_alg alg;
    EVP_PKEY *handle = NULL;
    struct vd_signing_key *key = NULL;
    if (!vd_json_is(jwk, VD_JSON_OBJECT) || !is_for_signatures(jwk))
        return NULL;
    if (vd_slice_is(kty, "RSA")) {
        handle = read_rsa(jwk);
        alg = VD_KEY_RS256;
    } else if (vd_slice_is(kty, "EC")) {
        curve = find_curve(text_of(jwk, "crv"));
        handle = read_ec(jwk, curve);
        alg = curve ? curve->alg : VD_KEY_ES256;
    } else {
        handle = vd_slice_is(kty, "OKP") ? read_okp(jwk) : NULL;
        alg = VD_KEY_EDDSA;
    }
    if (said)
        alg = vd_key_alg_find(vd_json_is(said, VD_JSON_STRING) ? vd_json_text(said) : VD_SLICE(""));
    if (handle &&
        (alg == VD_KEY_ALGS || vd_signing_key_adopt(&key, handle, alg, text_of(jwk, "kid"), NULL)))
        EVP_PKEY_free(handle);
    return key;
}

/* ---- sets ---- */

int vd_key_set_parse(struct vd_key_set **out, struct vd_slice text, struct vd_error *error)
{
    struct vd_json_options strict = {.depth_max = VD_JWT_DEPTH_MAX,
                                     .len_max = VD_JWKS_LEN_MAX,
                                     .duplicates = VD_JSON_DUPLICATES_REJECT};
    struct vd_arena arena = {0};
    struct vd_json *document = NULL;
    struct vd_key_set *set = NULL;
    int code = vd_json_parse(&arena, text, &strict, &document, error);
    const struct vd_json *keys = code ? NULL : vd_json_get(document, VD_SLICE("keys"));
    if (!code && !vd_json_is(keys, VD_JSON_ARRAY))
        code = vd_error_set(error, VD_ERR_INVALID, "this is no JWK set: it has no list 'keys'");
    else if (!code && vd_json_count(keys) > VD_JWKS_KEYS_MAX)
        code = vd_error_set(error, VD_ERR_LIMIT, "the JWK set has more than %d keys",
                            VD_JWKS_KEYS_MAX);
    if (code)
        goto out;
    set = VD_NEW(struct vd_key_set);
    vd_refcount_init(&set->count);
    set->keys = vd_calloc(vd_json_count(keys) + 1, sizeof(struct vd_signing_key *));
    VD_JSON_EACH (jwk, keys) {
        struct vd_signing_key *key = read_key(jwk);
        if (key)
            set->keys[set->n++] = key;
        else
            set->skipped++;
    }
    if (set->n)
        *out = vd_key_set_ref(set);
    else
        code = vd_error_set(error, VD_ERR_INVALID,
                            "the JWK set has no key that signatures could be checked with");
out:
    vd_key_set_unref(set);
    vd_arena_release(&arena);
    return code;
}

struct vd_key_set *vd_key_set_ref(struct vd_key_set *set)
{
    vd_ref(&set->count);
    return set;
}

void vd_key_set_unref(struct vd_key_set *set)
{
    if (!set || !vd_unref(&set->count))
        return;
    for (size_t i = 0; i < set->n; i++)
        vd_signing_key_unref(set->keys[i]);
    free(set->keys);
    free(set);
}

bool vd_key_set_has_id(const struct vd_key_set *set, struct vd_slice id)
{
    for (size_t i = 0; i < set->n; i++)
        if (vd_slice_eq(vd_signing_key_id(set->keys[i]), id))
            return true;
    return false;
}

bool vd_key_set_eq(const struct vd_key_set *a, const struct vd_key_set *b)
{
    bool same = a->n == b->n;
    for (size_t i = 0; same && i < a->n; i++)
        same = vd_signing_key_alg(a->keys[i]) == vd_signing_key_alg(b->keys[i]) &&
               vd_slice_eq(vd_signing_key_id(a->keys[i]), vd_signing_key_id(b->keys[i])) &&
               vd_slice_eq(vd_signing_key_thumbprint(a->keys[i]),
                           vd_signing_key_thumbprint(b->keys[i]));
    return same;
}
