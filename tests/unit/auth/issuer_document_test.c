/* src/auth/issuer_document.c: the keys that are published are the public halves of those that
 * sign, of both kinds. */
#include "auth/issuer_document.h"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include "auth/jwk.h"
#include "json_check.h"

static bool nothing_exists(void *arg, const struct vd_bound_object *object)
{
    (void)arg, (void)object;
    return false;
}

static struct vd_signing_key *rsa_key(void)
{
    struct vd_signing_key *key = NULL;
    struct vd_error error;
    char *pem = NULL;
    EVP_PKEY *handle = EVP_RSA_gen(2048);
    BIO *bio = BIO_new(BIO_s_mem());
    assert_int_equal(PEM_write_bio_PrivateKey(bio, handle, NULL, NULL, 0, NULL, NULL), 1);
    long n = BIO_get_mem_data(bio, &pem);
    assert_ok(vd_signing_key_from_pem(&key, vd_slice(pem, (size_t)n), &error), &error);
    BIO_free(bio);
    EVP_PKEY_free(handle);
    return key;
}

static struct vd_service_accounts *accounts_of(struct vd_signing_key *const keys[], size_t n)
{
    struct vd_service_accounts *accounts = NULL;
    struct vd_error error;
    assert_ok(vd_service_accounts_new(&accounts,
                                      &(struct vd_service_accounts_options){
                                          .issuer = VD_SLICE("https://issuer.example"),
                                          .keys = keys,
                                          .keys_n = n,
                                          .exists = nothing_exists},
                                      &error),
              &error);
    return accounts;
}

/* A round for a coordinate or two that begin with zeros: they keep their length. */
enum { ROUNDS = 600 };

static void published_keys_verify_what_ours_sign(void **state)
{
    (void)state;
    struct vd_signing_key *rsa = rsa_key();
    for (size_t i = 0; i < ROUNDS; i++) {
        struct vd_signing_key *keys[] = {vd_signing_key_generate(), rsa};
        struct vd_service_accounts *accounts = accounts_of(keys, 2);
        struct vd_key_set *set = NULL;
        struct vd_buf json = {0};
        struct vd_error error;
        vd_issuer_keys_write(&json, accounts);
        assert_ok(vd_key_set_parse(&set, vd_buf_slice(&json), &error), &error);
        assert_int_equal(set->n, 2);
        assert_int_equal(set->skipped, 0);
        for (size_t k = 0; k < 2; k++) {
            assert_true(vd_slice_eq(vd_signing_key_id(set->keys[k]), vd_signing_key_id(keys[k])));
            assert_true(vd_slice_eq(vd_signing_key_thumbprint(set->keys[k]),
                                    vd_signing_key_thumbprint(keys[k])));
            assert_int_equal(vd_signing_key_alg(set->keys[k]), vd_signing_key_alg(keys[k]));
            assert_false(vd_signing_key_is_private(set->keys[k]));
        }
        vd_key_set_unref(set);
        vd_buf_release(&json);
        vd_service_accounts_free(accounts);
        vd_signing_key_unref(keys[0]);
    }
    vd_signing_key_unref(rsa);
}

static void a_key_shows_its_public_members_only(void **state)
{
    (void)state;
    struct vd_arena a = {0};
    struct vd_signing_key *keys[] = {vd_signing_key_generate(), rsa_key()};
    struct vd_service_accounts *accounts = accounts_of(keys, 2);
    static const char *const members[2][8] = {
        {"use", "kty", "kid", "crv", "alg", "x", "y", NULL},
        {"use", "kty", "kid", "alg", "n", "e", NULL},
    };
    struct vd_buf json = {0};
    vd_issuer_keys_write(&json, accounts);
    const struct vd_json *list = vd_json_get(json_of(&a, vd_buf_text(&json)), VD_SLICE("keys"));
    for (size_t k = 0; k < 2; k++) {
        size_t n = 0;
        for (; members[k][n]; n++)
            assert_true(
                vd_json_text(vd_json_get(vd_json_at(list, k), vd_slice_of(members[k][n]))).n > 0);
        assert_int_equal(vd_json_count(vd_json_at(list, k)), n);
        vd_signing_key_unref(keys[k]);
    }
    vd_service_accounts_free(accounts);
    vd_buf_release(&json);
    vd_arena_release(&a);
}

static void the_configuration_names_issuer_keys_and_algorithms(void **state)
{
    (void)state;
    struct vd_signing_key *keys[] = {vd_signing_key_generate(), rsa_key(),
                                     vd_signing_key_generate()};
    struct vd_service_accounts *accounts = accounts_of(keys, 3);
    struct vd_buf json = {0};
    vd_issuer_configuration_write(&json, accounts, VD_SLICE("https://a\"b/openid/v1/jwks"));
    assert_string_equal(vd_buf_text(&json),
                        "{\"issuer\":\"https://issuer.example\","
                        "\"jwks_uri\":\"https://a\\\"b/openid/v1/jwks\","
                        "\"response_types_supported\":[\"id_token\"],"
                        "\"subject_types_supported\":[\"public\"],"
                        "\"id_token_signing_alg_values_supported\":[\"ES256\",\"RS256\"]}");
    for (size_t i = 0; i < 3; i++)
        vd_signing_key_unref(keys[i]);
    vd_service_accounts_free(accounts);
    vd_buf_release(&json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_keys_verify_what_ours_sign),
        cmocka_unit_test(a_key_shows_its_public_members_only),
        cmocka_unit_test(the_configuration_names_issuer_keys_and_algorithms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
