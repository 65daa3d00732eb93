/* See issuer_document.h. Members stand in the order in which Kubernetes writes them. Only the
 * public numbers of a key are read. */
#include "auth/issuer_document.h"

#include <assert.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>

#include "base/base64.h"
#include "json/escape.h"

enum {
    P256_LEN = 32,         /* bytes of a coordinate on the curve P-256 */
    NUMBER_LEN_MAX = 1024, /* bytes of an RSA modulus or exponent */
};

static void add_member(struct vd_buf *out, const char *key, struct vd_slice text)
{
    vd_buf_addf(out, "\"%s\":", key);
    vd_escape_write(out, text);
}

/* Adds a number of the key in base64url: as `len` bytes, or, if `len` is 0, as many bytes as it
 * has. */
static void add_number(struct vd_buf *out, const char *key, EVP_PKEY *handle, const char *param,
                       int len)
{
    unsigned char bytes[NUMBER_LEN_MAX];
    struct vd_buf text = {0};
    BIGNUM *number = NULL;
    int code = EVP_PKEY_get_bn_param(handle, param, &number);
    assert(code == 1 && BN_num_bytes(number) <= NUMBER_LEN_MAX);
    len = BN_bn2binpad(number, bytes, len ? len : BN_num_bytes(number));
    assert(len > 0);
    vd_base64_encode(&text, vd_slice(bytes, (size_t)len), VD_BASE64_URL);
    vd_buf_add_char(out, ',');
    add_member(out, key, vd_buf_slice(&text));
    vd_buf_release(&text);
    BN_free(number);
}

static void add_key(struct vd_buf *out, const struct vd_signing_key *key)
{
    EVP_PKEY *handle = vd_signing_key_handle(key);
    bool rsa = EVP_PKEY_is_a(handle, "RSA");
    assert(rsa || vd_signing_key_alg(key) == VD_KEY_ES256);
    vd_buf_addf(out, "{\"use\":\"sig\",\"kty\":\"%s\",", rsa ? "RSA" : "EC");
    add_member(out, "kid", vd_signing_key_id(key));
    vd_buf_addf(out, "%s,\"alg\":\"%s\"", rsa ? "" : ",\"crv\":\"P-256\"",
                vd_signing_key_alg_name(key));
    if (rsa) {
        add_number(out, "n", handle, OSSL_PKEY_PARAM_RSA_N, 0);
        add_number(out, "e", handle, OSSL_PKEY_PARAM_RSA_E, 0);
    } else {
        add_number(out, "x", handle, OSSL_PKEY_PARAM_EC_PUB_X, P256_LEN);
        add_number(out, "y", handle, OSSL_PKEY_PARAM_EC_PUB_Y, P256_LEN);
    }
    vd_buf_add_char(out, '}');
}

void vd_issuer_keys_write(struct vd_buf *out, const struct vd_service_accounts *accounts)
{
    size_t n;
    struct vd_signing_key *const *keys = vd_service_accounts_keys(accounts, &n);
    vd_buf_add_text(out, "{\"keys\":[");
    for (size_t i = 0; i < n; i++) {
        if (i)
            vd_buf_add_char(out, ',');
        add_key(out, keys[i]);
    }
    vd_buf_add_text(out, "]}");
}

/* Each algorithm once. */
static void add_algs(struct vd_buf *out, const struct vd_service_accounts *accounts)
{
    size_t n;
    struct vd_signing_key *const *keys = vd_service_accounts_keys(accounts, &n);
    bool first = true;
    for (int alg = 0; alg < VD_KEY_ALGS; alg++) {
        bool used = false;
        for (size_t i = 0; i < n; i++)
            used |= vd_signing_key_alg(keys[i]) == (enum vd_signing_key_alg)alg;
        if (used)
            vd_buf_addf(out, "%s\"%s\"", first ? "" : ",",
                        vd_key_alg_name((enum vd_signing_key_alg)alg));
        first = first && !used;
    }
}

void vd_issuer_configuration_write(struct vd_buf *out, const struct vd_service_accounts *accounts,
                                   struct vd_slice keys_url)
{
    vd_buf_add_char(out, '{');
    add_member(out, "issuer", vd_service_accounts_issuer(accounts));
    vd_buf_add_char(out, ',');
    add_member(out, "jwks_uri", keys_url);
    vd_buf_add_text(out, ",\"response_types_supported\":[\"id_token\"],"
                         "\"subject_types_supported\":[\"public\"],"
                         "\"id_token_signing_alg_values_supported\":[");
    add_algs(out, accounts);
    vd_buf_add_text(out, "]}");
}
