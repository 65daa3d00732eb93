/*
 * See signing_key.h. OpenSSL writes ECDSA signatures as DER, JWS as r and s of the curve's length
 * each; the two are converted here. OpenSSL's error queue is emptied after every failure, since TLS
 * on the same thread would take what is left there for its own errors.
 */
#include "auth/signing_key.h"

#include <assert.h>
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/sha.h>
#include <openssl/x509.h>

#include "base/alloc.h"
#include "base/base64.h"
#include "base/refcount.h"

enum {
    RSA_BITS_MIN = 2048, /* bits of the shortest RSA key that is accepted */
    RSA_BITS_MAX = 8192, /* bits of the longest */
    HALF_MAX = 66,       /* bytes of half a signature, as ES512 has */
};

static const struct {
    const char *name;
    const char *type;                /* of the key, as OpenSSL has it */
    const char *curve, *other_curve; /* the two names of its curve in OpenSSL */
    const EVP_MD *(*hash)(void);     /* NULL: the algorithm has its own hash */
    size_t half;                     /* bytes of r and of s; 0: the signature is not of that form */
    bool pss;
} algs[VD_KEY_ALGS] = {
    [VD_KEY_ES256] = {"ES256", "EC", "prime256v1", "P-256", EVP_sha256, 32, false},
    [VD_KEY_ES384] = {"ES384", "EC", "secp384r1", "P-384", EVP_sha384, 48, false},
    [VD_KEY_ES512] = {"ES512", "EC", "secp521r1", "P-521", EVP_sha512, HALF_MAX, false},
    [VD_KEY_RS256] = {"RS256", "RSA", NULL, NULL, EVP_sha256, 0, false},
    [VD_KEY_RS384] = {"RS384", "RSA", NULL, NULL, EVP_sha384, 0, false},
    [VD_KEY_RS512] = {"RS512", "RSA", NULL, NULL, EVP_sha512, 0, false},
    [VD_KEY_PS256] = {"PS256", "RSA", NULL, NULL, EVP_sha256, 0, true},
    [VD_KEY_PS384] = {"PS384", "RSA", NULL, NULL, EVP_sha384, 0, true},
    [VD_KEY_PS512] = {"PS512", "RSA", NULL, NULL, EVP_sha512, 0, true},
    [VD_KEY_EDDSA] = {"EdDSA", "ED25519", NULL, NULL, NULL, 0, false},
};

const char *vd_key_alg_name(enum vd_signing_key_alg alg)
{
    return algs[alg].name;
}

enum vd_signing_key_alg vd_key_alg_find(struct vd_slice name)
{
    enum vd_signing_key_alg alg = (enum vd_signing_key_alg)0;
    while (alg < VD_KEY_ALGS && !vd_slice_is(name, algs[alg].name))
        alg++;
    return alg;
}

struct vd_signing_key {
    struct vd_refcount count;
    EVP_PKEY *handle;
    enum vd_signing_key_alg alg;
    bool is_private;
    struct vd_buf id;
    struct vd_buf thumbprint;
};

static void make_thumbprint(struct vd_signing_key *key)
{
    unsigned char *der = NULL, hash[SHA256_DIGEST_LENGTH];
    int n = i2d_PUBKEY(key->handle, &der);
    assert(n > 0);
    SHA256(der, (size_t)n, hash);
    OPENSSL_free(der);
    vd_base64_encode(&key->thumbprint, vd_slice(hash, sizeof hash), VD_BASE64_URL);
}

static struct vd_signing_key *key_new(EVP_PKEY *taken, enum vd_signing_key_alg alg, bool is_private)
{
    struct vd_signing_key *key = VD_NEW(struct vd_signing_key);
    vd_refcount_init(&key->count);
    key->handle = taken;
    key->alg = alg;
    key->is_private = is_private;
    make_thumbprint(key);
    vd_buf_add_slice(&key->id, vd_buf_slice(&key->thumbprint));
    return key;
}

struct vd_signing_key *vd_signing_key_generate(void)
{
    EVP_PKEY *handle = EVP_EC_gen("P-256");
    assert(handle); /* fails only without memory or entropy */
    return key_new(handle, VD_KEY_ES256, true);
}

/* OpenSSL's callback for a passphrase: there is none, and nobody is asked. */
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

/* Whether the algorithm is for such a key, and the key strong enough. */
static bool fits(EVP_PKEY *handle, enum vd_signing_key_alg alg)
{
    char group[32] = "";
    if (!EVP_PKEY_is_a(handle, algs[alg].type))
        return false;
    if (algs[alg].curve)
        return EVP_PKEY_get_group_name(handle, group, sizeof group, NULL) == 1 &&
               (strcmp(group, algs[alg].curve) == 0 || strcmp(group, algs[alg].other_curve) == 0);
    int bits = EVP_PKEY_get_bits(handle);
    return alg == VD_KEY_EDDSA || (bits >= RSA_BITS_MIN && bits <= RSA_BITS_MAX);
}

/* False when keys of this kind are not used for signing here. */
static bool find_alg(EVP_PKEY *handle, enum vd_signing_key_alg *alg)
{
    *alg = EVP_PKEY_is_a(handle, "RSA") ? VD_KEY_RS256 : VD_KEY_ES256;
    return fits(handle, *alg);
}

int vd_signing_key_adopt(struct vd_signing_key **out, EVP_PKEY *handle, enum vd_signing_key_alg alg,
                         struct vd_slice id, struct vd_error *error)
{
    if (!fits(handle, alg)) {
        ERR_clear_error();
        return vd_error_set(error, VD_ERR_INVALID, "the key is too weak or not one for %s",
                            algs[alg].name);
    }
    *out = key_new(handle, alg, false);
    vd_buf_reset(&(*out)->id);
    vd_buf_add_slice(&(*out)->id, id);
    return VD_OK;
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
    vd_buf_release(&key->thumbprint);
    free(key);
}

enum vd_signing_key_alg vd_signing_key_alg(const struct vd_signing_key *key)
{
    return key->alg;
}

const char *vd_signing_key_alg_name(const struct vd_signing_key *key)
{
    return algs[key->alg].name;
}

bool vd_signing_key_is_private(const struct vd_signing_key *key)
{
    return key->is_private;
}

struct vd_slice vd_signing_key_id(const struct vd_signing_key *key)
{
    return vd_buf_slice(&key->id);
}

struct vd_slice vd_signing_key_thumbprint(const struct vd_signing_key *key)
{
    return vd_buf_slice(&key->thumbprint);
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

static void add_raw(const unsigned char *der, size_t n, size_t half, struct vd_buf *signature)
{
    unsigned char raw[2 * HALF_MAX];
    ECDSA_SIG *pair = d2i_ECDSA_SIG(NULL, &der, (long)n);
    assert(pair);
    int ok = BN_bn2binpad(ECDSA_SIG_get0_r(pair), raw, (int)half) > 0 &&
             BN_bn2binpad(ECDSA_SIG_get0_s(pair), raw + half, (int)half) > 0;
    assert(ok);
    ECDSA_SIG_free(pair);
    vd_buf_add(signature, raw, 2 * half);
}

static bool set_padding(EVP_PKEY_CTX *context, enum vd_signing_key_alg alg)
{
    return !algs[alg].pss ||
           (EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) == 1 &&
            EVP_PKEY_CTX_set_rsa_pss_saltlen(context, RSA_PSS_SALTLEN_DIGEST) == 1);
}

static const EVP_MD *hash_of(const struct vd_signing_key *key)
{
    return algs[key->alg].hash ? algs[key->alg].hash() : NULL;
}

int vd_signing_key_sign(const struct vd_signing_key *key, struct vd_slice text,
                        struct vd_buf *signature, struct vd_error *error)
{
    if (!key->is_private)
        return vd_error_set(error, VD_ERR_INVALID, "a public key cannot sign");
    unsigned char bytes[RSA_BITS_MAX / 8];
    size_t n = sizeof bytes;
    EVP_MD_CTX *md = EVP_MD_CTX_new();
    EVP_PKEY_CTX *context = NULL;
    int ok = EVP_DigestSignInit(md, &context, hash_of(key), NULL, key->handle) == 1 &&
             set_padding(context, key->alg) &&
             EVP_DigestSign(md, bytes, &n, (const unsigned char *)text.p, text.n) == 1;
    EVP_MD_CTX_free(md);
    if (!ok) {
        ERR_clear_error();
        return vd_error_set(error, VD_ERR_INVALID, "the key cannot sign");
    }
    if (algs[key->alg].half)
        add_raw(bytes, n, algs[key->alg].half, signature);
    else
        vd_buf_add(signature, bytes, n);
    return VD_OK;
}

/* The DER form of a raw ECDSA signature, to be freed by OPENSSL_free; NULL if
 * it is none. */
static unsigned char *der_of(struct vd_slice raw, size_t half, size_t *n)
{
    if (raw.n != 2 * half)
        return NULL;
    const unsigned char *p = (const unsigned char *)raw.p;
    unsigned char *der = NULL;
    ECDSA_SIG *pair = ECDSA_SIG_new();
    BIGNUM *r = BN_bin2bn(p, (int)half, NULL), *s = BN_bin2bn(p + half, (int)half, NULL);
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
    if (algs[key->alg].half) {
        der = der_of(signature, algs[key->alg].half, &n);
        if (!der)
            return false;
        bytes = der;
    }
    EVP_MD_CTX *md = EVP_MD_CTX_new();
    EVP_PKEY_CTX *context = NULL;
    bool ok = EVP_DigestVerifyInit(md, &context, hash_of(key), NULL, key->handle) == 1 &&
              set_padding(context, key->alg) &&
              EVP_DigestVerify(md, bytes, n, (const unsigned char *)text.p, text.n) == 1;
    EVP_MD_CTX_free(md);
    OPENSSL_free(der);
    if (!ok)
        ERR_clear_error();
    return ok;
}
