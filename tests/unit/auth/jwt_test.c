/* src/auth/jwt.c and key.c: good tokens pass, and the known attacks do not. */
#include "auth/jwt.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>

#include "base/base64.h"
#include "base/limits.h"
#include "json_check.h"

#define NOW         INT64_C(1794735590000)
#define ISSUER      "https://issuer.example"
#define GOOD_HEADER "{\"alg\":\"ES256\"}"
#define GOOD_CLAIMS                                                                                \
    "{\"iss\":\"" ISSUER "\",\"aud\":[\"x\",\"api\"],\"exp\":1794735600,\"nbf\":1794735590,"       \
    "\"iat\":1794735590,\"sub\":\"s\",\"jti\":\"j\"}"

static struct vd_signing_key *key, *other_key, *rsa_key;

static struct vd_signing_key *make_rsa(void)
{
    EVP_PKEY *handle = EVP_RSA_gen(2048);
    BIO *bio = BIO_new(BIO_s_mem());
    char *text;
    struct vd_error error = {0};
    struct vd_signing_key *made = NULL;
    PEM_write_bio_PKCS8PrivateKey(bio, handle, NULL, NULL, 0, NULL, NULL);
    long n = BIO_get_mem_data(bio, &text);
    assert_ok(vd_signing_key_from_pem(&made, vd_slice(text, (size_t)n), &error), &error);
    BIO_free(bio);
    EVP_PKEY_free(handle);
    return made;
}

static int make_keys(void **state)
{
    (void)state;
    key = vd_signing_key_generate();
    other_key = vd_signing_key_generate();
    rsa_key = make_rsa();
    return 0;
}

static int free_keys(void **state)
{
    (void)state;
    vd_signing_key_unref(key);
    vd_signing_key_unref(other_key);
    vd_signing_key_unref(rsa_key);
    return 0;
}

/* header.claims, signed by the key, whatever they say. */
static void forge(struct vd_buf *out, const char *header, const char *claims,
                  const struct vd_signing_key *by)
{
    struct vd_buf signature = {0};
    struct vd_error error = {0};
    vd_buf_reset(out);
    vd_base64_encode(out, vd_slice_of(header), VD_BASE64_URL);
    vd_buf_add_char(out, '.');
    vd_base64_encode(out, vd_slice_of(claims), VD_BASE64_URL);
    assert_ok(vd_signing_key_sign(by, vd_buf_slice(out), &signature, &error), &error);
    vd_buf_add_char(out, '.');
    vd_base64_encode(out, vd_buf_slice(&signature), VD_BASE64_URL);
    vd_buf_release(&signature);
}

static int verify_at(struct vd_slice token, int64_t now_ms, struct vd_error *error)
{
    struct vd_arena arena = {0};
    struct vd_jwt jwt;
    struct vd_slice audience = VD_SLICE("api");
    struct vd_jwt_expected expected = {.keys = (struct vd_signing_key *[]){key},
                                       .keys_n = 1,
                                       .issuer = VD_SLICE(ISSUER),
                                       .audiences = &audience,
                                       .audiences_n = 1,
                                       .now_ms = now_ms,
                                       .skew_ms = 5000};
    int code = vd_jwt_parse(&jwt, &arena, token, error);
    if (!code) {
        assert_null(jwt.claims);
        code = vd_jwt_verify(&jwt, &expected, error);
        assert_int_equal(jwt.claims != NULL, code == VD_OK);
    }
    if (!code) {
        assert_true(vd_jwt_has_audience(&jwt, audience));
        assert_false(vd_jwt_has_audience(&jwt, VD_SLICE("nobody")));
    }
    vd_arena_release(&arena);
    return code;
}

static void signed_claims_come_back(void **state)
{
    const struct vd_signing_key *keys[] = {key, rsa_key};
    for (size_t i = 0; i < 2; i++) {
        struct vd_buf token = {0};
        struct vd_error error = {0};
        struct vd_jwt jwt;
        struct vd_slice audience = VD_SLICE("api");
        struct vd_signing_key *ring[] = {other_key, rsa_key, key};
        assert_ok(vd_jwt_sign(&token, keys[i], json_of(*state, GOOD_CLAIMS), &error), &error);
        assert_ok(vd_jwt_parse(&jwt, *state, vd_buf_slice(&token), &error), &error);
        assert_slice(vd_jwt_issuer_unverified(&jwt), ISSUER);
        assert_ok(vd_jwt_verify(&jwt,
                                &(struct vd_jwt_expected){.keys = ring,
                                                          .keys_n = 3,
                                                          .issuer = VD_SLICE(ISSUER),
                                                          .audiences = &audience,
                                                          .audiences_n = 1,
                                                          .now_ms = NOW},
                                &error),
                  &error);
        assert_json(jwt.claims, GOOD_CLAIMS);
        assert_slice(jwt.subject, "s");
        assert_slice(jwt.id, "j");
        assert_int_equal(jwt.expires_ms, INT64_C(1794735600000));
        assert_int_equal(jwt.issued_ms, NOW);
        vd_buf_release(&token);
    }
}

/* Correctly signed, but the header or the claims are wrong. */
static void wrong_headers_and_claims_are_refused(void **state)
{
    (void)state;
#define CLAIMS(times) "{\"iss\":\"" ISSUER "\",\"aud\":\"api\"," times "}"
    static const struct {
        const char *header, *claims;
        int code;
    } cases[] = {
        {GOOD_HEADER, GOOD_CLAIMS, VD_OK},
        {GOOD_HEADER, CLAIMS("\"exp\":1794735600"), VD_OK},
        {GOOD_HEADER, CLAIMS("\"exp\":1794735600.75"), VD_OK},
        {GOOD_HEADER, CLAIMS("\"exp\":1.7947356e9"), VD_OK},
        {"{\"alg\":\"ES256\",\"typ\":\"JWT\",\"jku\":\"https://evil\"}", GOOD_CLAIMS, VD_OK},
        /* the header */
        {"{\"alg\":\"none\"}", GOOD_CLAIMS, VD_ERR_INVALID},
        {"{\"alg\":\"None\"}", GOOD_CLAIMS, VD_ERR_INVALID},
        {"{\"alg\":\"es256\"}", GOOD_CLAIMS, VD_ERR_INVALID},
        {"{\"alg\":\"HS256\"}", GOOD_CLAIMS, VD_ERR_INVALID},
        {"{\"alg\":\"RS256\"}", GOOD_CLAIMS, VD_ERR_INVALID},
        {"{\"alg\":[\"ES256\"]}", GOOD_CLAIMS, VD_ERR_INVALID},
        {"{\"alg\":\"ES256\",\"alg\":\"ES256\"}", GOOD_CLAIMS, VD_ERR_INVALID},
        {"{\"alg\":\"ES256\",\"crit\":[]}", GOOD_CLAIMS, VD_ERR_INVALID},
        {"{\"alg\":\"ES256\",\"kid\":\"../../dev/null\"}", GOOD_CLAIMS, VD_ERR_INVALID},
        {"{\"alg\":\"ES256\",\"kid\":7}", GOOD_CLAIMS, VD_ERR_INVALID},
        {"{}", GOOD_CLAIMS, VD_ERR_INVALID},
        {"[]", GOOD_CLAIMS, VD_ERR_INVALID},
        {"", GOOD_CLAIMS, VD_ERR_INVALID},
        /* issuer and audience */
        {GOOD_HEADER, "{\"aud\":\"api\",\"exp\":1794735600}", VD_ERR_NOT_FOUND},
        {GOOD_HEADER, "{\"iss\":\"https://issuer.example/\",\"aud\":\"api\",\"exp\":1794735600}",
         VD_ERR_NOT_FOUND},
        {GOOD_HEADER, "{\"iss\":[\"" ISSUER "\"],\"aud\":\"api\",\"exp\":1794735600}",
         VD_ERR_INVALID},
        {GOOD_HEADER, "{\"iss\":\"" ISSUER "\",\"exp\":1794735600}", VD_ERR_INVALID},
        {GOOD_HEADER, "{\"iss\":\"" ISSUER "\",\"aud\":\"ap\",\"exp\":1794735600}", VD_ERR_INVALID},
        {GOOD_HEADER, "{\"iss\":\"" ISSUER "\",\"aud\":[],\"exp\":1794735600}", VD_ERR_INVALID},
        {GOOD_HEADER, "{\"iss\":\"" ISSUER "\",\"aud\":{\"api\":1},\"exp\":1794735600}",
         VD_ERR_INVALID},
        {GOOD_HEADER, "{\"iss\":\"" ISSUER "\",\"aud\":\"x\",\"aud\":\"api\",\"exp\":1794735600}",
         VD_ERR_INVALID},
        /* times */
        {GOOD_HEADER, CLAIMS("\"sub\":\"s\""), VD_ERR_INVALID},
        {GOOD_HEADER, CLAIMS("\"exp\":1794735585"), VD_ERR_EXPIRED},
        {GOOD_HEADER, CLAIMS("\"exp\":1794735586"), VD_OK},
        {GOOD_HEADER, CLAIMS("\"exp\":0"), VD_ERR_EXPIRED},
        {GOOD_HEADER, CLAIMS("\"exp\":-1"), VD_ERR_INVALID},
        {GOOD_HEADER, CLAIMS("\"exp\":\"1794735600\""), VD_ERR_INVALID},
        {GOOD_HEADER, CLAIMS("\"exp\":null"), VD_ERR_INVALID},
        {GOOD_HEADER, CLAIMS("\"exp\":9223372036854775807"), VD_ERR_INVALID},
        {GOOD_HEADER, CLAIMS("\"exp\":1e300"), VD_ERR_INVALID},
        {GOOD_HEADER, CLAIMS("\"exp\":1e999"), VD_ERR_INVALID},
        {GOOD_HEADER, CLAIMS("\"exp\":253402300800"), VD_ERR_INVALID},
        {GOOD_HEADER, CLAIMS("\"exp\":253402300799"), VD_OK},
        {GOOD_HEADER, CLAIMS("\"exp\":1794735600,\"nbf\":1794735595"), VD_OK},
        {GOOD_HEADER, CLAIMS("\"exp\":1794735600,\"nbf\":1794735596"), VD_ERR_INVALID},
        {GOOD_HEADER, CLAIMS("\"exp\":1794735600,\"iat\":1794735596"), VD_ERR_INVALID},
        {GOOD_HEADER, CLAIMS("\"exp\":1794735600,\"sub\":1"), VD_ERR_INVALID},
        /* the claims' form */
        {GOOD_HEADER, "[]", VD_ERR_INVALID},
        {GOOD_HEADER, "{", VD_ERR_INVALID},
        {GOOD_HEADER, CLAIMS("\"exp\":1794735600,\"exp\":1794735600"), VD_ERR_INVALID},
        {GOOD_HEADER, CLAIMS("\"exp\":1794735600,\"a\":{\"b\":1,\"b\":2}"), VD_ERR_INVALID},
        {GOOD_HEADER, CLAIMS("\"exp\":1794735600,\"a\":[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]"),
         VD_ERR_INVALID},
    };
    struct vd_buf token = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_error error = {0};
        forge(&token, cases[i].header, cases[i].claims, key);
        int code = verify_at(vd_buf_slice(&token), NOW, &error);
        if (code != cases[i].code)
            fail_msg("%s %s: got %s (%s)", cases[i].header, cases[i].claims, vd_code_name(code),
                     error.text);
        assert_int_equal(error.text[0] != 0, code != VD_OK);
    }
    vd_buf_release(&token);
}

/* HS256 with the public key's PEM or DER as the secret: the classic confusion. */
static void a_public_key_is_no_secret(void **state)
{
    (void)state;
    BIO *bio = BIO_new(BIO_s_mem());
    unsigned char *der = NULL;
    char *pem;
    PEM_write_bio_PUBKEY(bio, vd_signing_key_handle(key));
    long pem_n = BIO_get_mem_data(bio, &pem);
    int der_n = i2d_PUBKEY(vd_signing_key_handle(key), &der);
    const struct vd_slice secrets[] = {vd_slice(pem, (size_t)pem_n), vd_slice(der, (size_t)der_n),
                                       VD_SLICE("")};
    static const char *const headers[] = {"{\"alg\":\"HS256\"}", GOOD_HEADER};
    for (size_t i = 0; i < 6; i++) {
        struct vd_buf token = {0};
        struct vd_error error = {0};
        unsigned char mac[32];
        unsigned n = sizeof mac;
        vd_base64_encode(&token, vd_slice_of(headers[i % 2]), VD_BASE64_URL);
        vd_buf_add_char(&token, '.');
        vd_base64_encode(&token, VD_SLICE(GOOD_CLAIMS), VD_BASE64_URL);
        HMAC(EVP_sha256(), secrets[i / 2].p, (int)secrets[i / 2].n, (const unsigned char *)token.p,
             token.n, mac, &n);
        vd_buf_add_char(&token, '.');
        vd_base64_encode(&token, vd_slice(mac, n), VD_BASE64_URL);
        assert_code(verify_at(vd_buf_slice(&token), NOW, &error), VD_ERR_INVALID);
        vd_buf_release(&token);
    }
    OPENSSL_free(der);
    BIO_free(bio);
}

static void wrong_signatures_are_refused(void **state)
{
    (void)state;
    struct vd_buf token = {0}, changed = {0};
    struct vd_error error = {0};
    forge(&token, GOOD_HEADER, GOOD_CLAIMS, other_key);
    assert_code(verify_at(vd_buf_slice(&token), NOW, &error), VD_ERR_INVALID);
    assert_says(&error, "signature");
    forge(&token, "{\"alg\":\"RS256\"}", GOOD_CLAIMS, rsa_key);
    assert_code(verify_at(vd_buf_slice(&token), NOW, &error), VD_ERR_INVALID);

    /* Any other character anywhere breaks it. */
    forge(&token, GOOD_HEADER, GOOD_CLAIMS, key);
    assert_ok(verify_at(vd_buf_slice(&token), NOW, &error), &error);
    for (size_t i = 0; i < token.n; i++) {
        vd_buf_reset(&changed);
        vd_buf_add_slice(&changed, vd_buf_slice(&token));
        changed.p[i] = token.p[i] == 'A' ? 'B' : 'A';
        assert_int_not_equal(verify_at(vd_buf_slice(&changed), NOW, &error), VD_OK);
    }
    vd_buf_release(&token);
    vd_buf_release(&changed);
}

static void wrong_forms_are_refused(void **state)
{
    (void)state;
    struct vd_buf good = {0}, token = {0}, der = {0};
    struct vd_error error = {0};
    forge(&good, GOOD_HEADER, GOOD_CLAIMS, key);
    static const struct {
        const char *before, *after;
        size_t cut;
    } cases[] = {
        {" ", "", 0}, {"", " ", 0}, {"", "\n", 0}, {"", "=", 0},     {"", "==", 0},
        {"", ".", 0}, {".", "", 0}, {"", ".x", 0}, {"", "A", 0},     {"", "AAAA", 0},
        {"", "", 1},  {"", "", 86}, {"", "", 87},  {"", "AAAA", 86},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        vd_buf_reset(&token);
        vd_buf_add_text(&token, cases[i].before);
        vd_buf_add(&token, good.p, good.n - cases[i].cut);
        vd_buf_add_text(&token, cases[i].after);
        if (verify_at(vd_buf_slice(&token), NOW, &error) != VD_ERR_INVALID)
            fail_msg("\"%s\" + token - %zu + \"%s\" was accepted", cases[i].before, cases[i].cut,
                     cases[i].after);
    }
    static const char *const texts[] = {"", ".", "..", "...", "a.b.c", "e30.e30.", "e30.e30"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_code(verify_at(vd_slice_of(texts[i]), NOW, &error), VD_ERR_INVALID);

    /* All zero: r and s are out of range; ancient verifiers accepted it. */
    vd_buf_reset(&token);
    vd_buf_add(&token, good.p, good.n - 86);
    for (int i = 0; i < 86; i++)
        vd_buf_add_char(&token, 'A');
    assert_code(verify_at(vd_buf_slice(&token), NOW, &error), VD_ERR_INVALID);

    vd_buf_reset(&token);
    for (int i = 0; i <= VD_JWT_LEN_MAX; i++)
        vd_buf_add_char(&token, 'A');
    assert_code(verify_at(vd_buf_slice(&token), NOW, &error), VD_ERR_LIMIT);
    vd_buf_release(&good);
    vd_buf_release(&token);
    vd_buf_release(&der);
}

static void keys_come_back_from_pem(void **state)
{
    (void)state;
    struct vd_buf pem = {0}, signature = {0};
    struct vd_error error = {0};
    struct vd_signing_key *again = NULL, *public = NULL, *bad = NULL;
    vd_signing_key_add_pem(key, &pem);
    assert_ok(vd_signing_key_from_pem(&again, vd_buf_slice(&pem), &error), &error);
    assert_true(vd_slice_eq(vd_signing_key_id(key), vd_signing_key_id(again)));
    assert_int_equal(vd_signing_key_id(key).n, 43);
    assert_false(vd_slice_eq(vd_signing_key_id(key), vd_signing_key_id(other_key)));
    assert_ok(vd_signing_key_sign(again, VD_SLICE("text"), &signature, &error), &error);
    assert_int_equal(signature.n, 64);

    BIO *bio = BIO_new(BIO_s_mem());
    char *text;
    PEM_write_bio_PUBKEY(bio, vd_signing_key_handle(key));
    long n = BIO_get_mem_data(bio, &text);
    assert_ok(vd_signing_key_from_pem(&public, vd_slice(text, (size_t)n), &error), &error);
    BIO_free(bio);
    assert_false(vd_signing_key_is_private(public));
    assert_true(vd_signing_key_verifies(public, VD_SLICE("text"), vd_buf_slice(&signature)));
    assert_false(vd_signing_key_verifies(public, VD_SLICE("texT"), vd_buf_slice(&signature)));
    assert_code(vd_signing_key_sign(public, VD_SLICE("text"), &signature, &error), VD_ERR_INVALID);
    assert_code(vd_signing_key_from_pem(&bad, VD_SLICE("rubbish"), &error), VD_ERR_INVALID);
    assert_code(vd_signing_key_from_pem(&bad, VD_SLICE(""), &error), VD_ERR_INVALID);
    vd_signing_key_unref(again);
    vd_signing_key_unref(public);
    vd_buf_release(&pem);
    vd_buf_release(&signature);
}

static void weak_and_foreign_keys_are_refused(void **state)
{
    (void)state;
    EVP_PKEY *handles[] = {EVP_RSA_gen(1024), EVP_EC_gen("P-384"),
                           EVP_PKEY_Q_keygen(NULL, NULL, "ED25519")};
    for (size_t i = 0; i < 3; i++) {
        BIO *bio = BIO_new(BIO_s_mem());
        struct vd_error error = {0};
        struct vd_signing_key *bad = NULL;
        char *text;
        PEM_write_bio_PKCS8PrivateKey(bio, handles[i], NULL, NULL, 0, NULL, NULL);
        long n = BIO_get_mem_data(bio, &text);
        assert_code(vd_signing_key_from_pem(&bad, vd_slice(text, (size_t)n), &error),
                    VD_ERR_INVALID);
        assert_says(&error, "P-256");
        BIO_free(bio);
        EVP_PKEY_free(handles[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        arena_test(signed_claims_come_back),
        cmocka_unit_test(wrong_headers_and_claims_are_refused),
        cmocka_unit_test(a_public_key_is_no_secret),
        cmocka_unit_test(wrong_signatures_are_refused),
        cmocka_unit_test(wrong_forms_are_refused),
        cmocka_unit_test(keys_come_back_from_pem),
        cmocka_unit_test(weak_and_foreign_keys_are_refused),
    };
    return cmocka_run_group_tests(tests, make_keys, free_keys);
}
