/*
 * See key.h. OpenSSL writes ECDSA signatures as DER, JWS as r and s of 32 bytes
 * each; the two are converted here. OpenSSL's error queue is emptied after
 * every failure, since TLS on the same thread would trip over it.
 */
#include "auth/signing_key.h"

#include <assert.h>
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/sha.h>
#include <openssl/x509.h>

#include "base/alloc.h"
#include "base/base64.h"
#include "base/refcount.h"

enum { RSA_BITS_MIN = 2048, RSA_BITS_MAX = 8192, P256_HALF = 32 };

struct vd_signing_key {
    struct vd_refcount count;
    EVP_PKEY *handle;
    enum vd_signing_key_alg alg;
    bool is_private;
    struct vd_buf id;
};

static void make_id(struct vd_signing_key *key)
{
    unsigned char *der = NULL, hash[SHA256_DIGEST_LENGTH];
    int n = i2d_PUBKEY(key->handle, &der);
    assert(n > 0);
    SHA256(der, (size_t)n, hash);
    OPENSSL_free(der);
    vd_base64_encode(&key->id, vd_slice(hash, sizeof hash), VD_BASE64_URL);
}

static struct vd_signing_key *key_new(EVP_PKEY *taken, enum vd_signing_key_alg alg, bool is_private)
{
    struct vd_signing_key *key = VD_NEW(struct vd_signing_key);
    vd_refcount_init(&key->count);
    key->handle = taken;
    key->alg = alg;
    key->is_private = is_private;
    make_id(key);
    return key;
}

struct vd_signing_key *vd_signing_key_generate(void)
{
    EVP_PKEY *handle = EVP_EC_gen("P-256");
    assert(handle); /* fails only without memory or entropy */
    return key_new(handle, VD_KEY_ES256, true);
}

/* Never asks anybody for a passphrase. */
static int no_passphrase(char *out, int cap, int writing, void *arg)
{
    (void)out, (void)cap, (void)writing, (void)arg;
    return -1;
}

static EVP_PKEY *read_pem(struct vd_slice pem, bool is_private)
{
    BIO *bio = BIO_new_mem_buf(pem.p, (int)pem.n);
    EVP_PKEY *handle = is_private ? PEM_read_bio_PrivateKey(bio, NULL, no_passphrase, NULL)
                                  : PEM_read_bio_PUBKEY(bio, NULL, no_passphrase, NULL);
    BIO_free(bio);
    ERR_clear_error();
    return handle;
}

/* False when keys of this kind are not used. */
static bool find_alg(EVP_PKEY *handle, enum vd_signing_key_alg *alg)
{
    char group[32] = "";
    if (EVP_PKEY_is_a(handle, "RSA")) {
        *alg = VD_KEY_RS256;
        int bits = EVP_PKEY_get_bits(handle);
        return bits >= RSA_BITS_MIN && bits <= RSA_BITS_MAX;
    }
    *alg = VD_KEY_ES256;
    return EVP_PKEY_is_a(handle, "EC") &&
           EVP_PKEY_get_group_name(handle, group, sizeof group, NULL) == 1 &&
           (strcmp(group, "prime256v1") == 0 || strcmp(group, "P-256") == 0);
}

int vd_signing_key_from_pem(struct vd_signing_key **out, struct vd_slice pem,
                            struct vd_error *error)
{
    enum vd_signing_key_alg alg;
    bool is_private = true;
    EVP_PKEY *handle = read_pem(pem, true);
    if (!handle) {
        is_private = false;
        handle = read_pem(pem, false);
    }
    if (!handle)
        return vd_error_set(error, VD_ERR_INVALID,
                            "this is no key in PEM form, or it has a passphrase");
    if (!find_alg(handle, &alg)) {
        EVP_PKEY_free(handle);
        ERR_clear_error();
        return vd_error_set(error, VD_ERR_INVALID,
                            "only ECDSA keys on P-256 and RSA keys of %d to %d bits are used",
                            RSA_BITS_MIN, RSA_BITS_MAX);
    }
    *out = key_new(handle, alg, is_private);
    return VD_OK;
}

struct vd_signing_key *vd_signing_key_ref(struct vd_signing_key *key)
{
    vd_ref(&key->count);
    return key;
}

void vd_signing_key_unref(struct vd_signing_key *key)
{
    if (!key || !vd_unref(&key->count))
        return;
    EVP_PKEY_free(key->handle);
    vd_buf_release(&key->id);
    free(key);
}

enum vd_signing_key_alg vd_signing_key_alg(const struct vd_signing_key *key)
{
    return key->alg;
}

const char *vd_signing_key_alg_name(const struct vd_signing_key *key)
{
    return key->alg == VD_KEY_ES256 ? "ES256" : "RS256";
}

bool vd_signing_key_is_private(const struct vd_signing_key *key)
{
    return key->is_private;
}

struct vd_slice vd_signing_key_id(const struct vd_signing_key *key)
{
    return vd_buf_slice(&key->id);
}

struct evp_pkey_st *vd_signing_key_handle(const struct vd_signing_key *key)
{
    return key->handle;
}

void vd_signing_key_add_pem(const struct vd_signing_key *key, struct vd_buf *pem)
{
    BIO *bio = BIO_new(BIO_s_secmem());
    int ok = PEM_write_bio_PKCS8PrivateKey(bio, key->handle, NULL, NULL, 0, NULL, NULL);
    assert(key->is_private && ok == 1);
    char *text;
    long n = BIO_get_mem_data(bio, &text);
    vd_buf_add(pem, text, (size_t)n);
    BIO_free(bio);
}

/* ---- signatures ---- */

static void add_raw(const unsigned char *der, size_t n, struct vd_buf *signature)
{
    unsigned char raw[2 * P256_HALF];
    ECDSA_SIG *pair = d2i_ECDSA_SIG(NULL, &der, (long)n);
    assert(pair);
    int ok = BN_bn2binpad(ECDSA_SIG_get0_r(pair), raw, P256_HALF) > 0 &&
             BN_bn2binpad(ECDSA_SIG_get0_s(pair), raw + P256_HALF, P256_HALF) > 0;
    assert(ok);
    ECDSA_SIG_free(pair);
    vd_buf_add(signature, raw, sizeof raw);
}

int vd_signing_key_sign(const struct vd_signing_key *key, struct vd_slice text,
                        struct vd_buf *signature, struct vd_error *error)
{
    if (!key->is_private)
        return vd_error_set(error, VD_ERR_INVALID, "a public key cannot sign");
    unsigned char bytes[RSA_BITS_MAX / 8];
    size_t n = sizeof bytes;
    EVP_MD_CTX *md = EVP_MD_CTX_new();
    int ok = EVP_DigestSignInit(md, NULL, EVP_sha256(), NULL, key->handle) == 1 &&
             EVP_DigestSign(md, bytes, &n, (const unsigned char *)text.p, text.n) == 1;
    EVP_MD_CTX_free(md);
    if (!ok) {
        ERR_clear_error();
        return vd_error_set(error, VD_ERR_INVALID, "the key cannot sign");
    }
    if (key->alg == VD_KEY_ES256)
        add_raw(bytes, n, signature);
    else
        vd_buf_add(signature, bytes, n);
    return VD_OK;
}

/* The DER form of a raw ES256 signature, to be freed by OPENSSL_free; NULL if
 * it is none. */
static unsigned char *der_of(struct vd_slice raw, size_t *n)
{
    if (raw.n != (size_t)2 * P256_HALF)
        return NULL;
    const unsigned char *p = (const unsigned char *)raw.p;
    unsigned char *der = NULL;
    ECDSA_SIG *pair = ECDSA_SIG_new();
    BIGNUM *r = BN_bin2bn(p, P256_HALF, NULL), *s = BN_bin2bn(p + P256_HALF, P256_HALF, NULL);
    assert(pair && r && s);
    ECDSA_SIG_set0(pair, r, s);
    int len = i2d_ECDSA_SIG(pair, &der);
    ECDSA_SIG_free(pair);
    if (len <= 0)
        return NULL;
    *n = (size_t)len;
    return der;
}

bool vd_signing_key_verifies(const struct vd_signing_key *key, struct vd_slice text,
                             struct vd_slice signature)
{
    unsigned char *der = NULL;
    const unsigned char *bytes = (const unsigned char *)signature.p;
    size_t n = signature.n;
    if (key->alg == VD_KEY_ES256) {
        der = der_of(signature, &n);
        if (!der)
            return false;
        bytes = der;
    }
    EVP_MD_CTX *md = EVP_MD_CTX_new();
    bool ok = EVP_DigestVerifyInit(md, NULL, EVP_sha256(), NULL, key->handle) == 1 &&
              EVP_DigestVerify(md, bytes, n, (const unsigned char *)text.p, text.n) == 1;
    EVP_MD_CTX_free(md);
    OPENSSL_free(der);
    if (!ok)
        ERR_clear_error();
    return ok;
}
