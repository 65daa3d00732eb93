/* src/auth/oidc.c, oidc_config.c and jwk.c: files of issuers, keys, discovery. What tokens make of
 * their bearers is tried from the outside, by tests/api/oidc_test.sh. */
#include "auth/oidc.h"

#include "base/limits.h"
#include "check.h"

#define HEAD   "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\n"
#define USER   "  claimMappings: {username: {claim: sub, prefix: \"\"}}\n"
#define ISSUER "jwt:\n- issuer:\n    url: https://a.example\n    audiences: [x]\n"

static void test_a_file_has_issuers(void **state)
{
    struct vd_oidc_config *config = NULL;
    struct vd_error error = {0};
    (void)state;
    assert_ok(vd_oidc_config_parse(&config, "i.yaml",
                                   VD_SLICE(HEAD ISSUER USER
                                            "  clockSkew: 30s\n"
                                            "- issuer:\n    url: http://127.0.0.1:99/b/\n"
                                            "    audiences: [x, z]\n" USER),
                                   &error),
              &error);
    assert_int_equal(config->n, 2);
    const struct vd_oidc_issuer *a = vd_oidc_config_find(config, VD_SLICE("https://a.example"));
    assert_non_null(a);
    assert_slice(a->discovery_url, "https://a.example/.well-known/openid-configuration");
    assert_int_equal(a->skew_ms, 30000);
    const struct vd_oidc_issuer *b = &config->issuers[1];
    assert_slice(b->discovery_url, "http://127.0.0.1:99/b/.well-known/openid-configuration");
    assert_int_equal(b->skew_ms, 10000);
    assert_int_equal(b->audiences_n, 2);
    assert_false(vd_slice_eq(a->fingerprint, b->fingerprint));
    assert_null(vd_oidc_config_find(config, VD_SLICE("https://a.example/")));
    vd_oidc_config_unref(config);
}

static void test_mistakes_of_a_file_have_their_place(void **state)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {HEAD "jwt: [{}]", "i.yaml:3:7: wants an issuer"},
        {HEAD "jwt:\n- issuer: {url: http://a.example, audiences: [x]}\n" USER, "https:// URL"},
        {HEAD "jwt:\n- issuer: {url: \"https://u:p@a.example\", audiences: [x]}\n" USER,
         "https:// URL"},
        {HEAD "jwt:\n- issuer: {url: https://a.example}\n" USER, "at least one of audiences"},
        {HEAD "jwt:\n- issuer: {audiences: [x]}\n" USER, "wants a url"},
        {HEAD ISSUER "", "claimMappings wants a username"},
        {HEAD ISSUER "  claimMappings: {username: {claim: sub}}\n", "username wants a prefix"},
        {HEAD ISSUER "  claimMappings: {username: {expression: claims.sub}}\n", "'expression'"},
        {HEAD ISSUER "  claimMappings: {username: {claim: sub, prefix: \"system:\"}}\n",
         "the server's own"},
        {HEAD ISSUER USER "  clockSkew: 1h\n", "clockSkew wants a time of at most 10m"},
        {HEAD ISSUER USER "  claimValidationRules: [{requiredValue: a}]\n", "wants a claim"},
        {HEAD ISSUER "    jwksFile: a\n    jwksURL: https://b.example\n" USER,
         "exclude each other"},
        {HEAD ISSUER "    audienceMatchPolicy: MatchAll\n" USER, "wants MatchAny"},
        {HEAD ISSUER "    certificateAuthorityFile: /nowhere/ca.pem\n" USER, "/nowhere/ca.pem"},
        {HEAD ISSUER USER "- issuer: {url: https://a.example, audiences: [x]}\n" USER,
         "is there twice"},
        {HEAD "jwt:\n- issuer: {url: \"https://kubernetes.default.svc.cluster.local\", "
              "audiences: [x]}\n" USER,
         "is this server"},
        {HEAD "anonymous: {enabled: true}\n", "there is no field 'anonymous'"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_oidc_config *config = NULL;
        struct vd_error error = {0};
        int code = vd_oidc_config_parse(&config, "i.yaml", vd_slice_of(cases[i].text), &error);
        if (code == VD_OK || !strstr(error.text, cases[i].says))
            fail_msg("%s: %s", cases[i].text, error.text);
        assert_null(config);
    }
}

/* The example of RFC 7517, appendix A.1, and that of RFC 8037, appendix A.2. */
#define EC_KEY                                                                                     \
    "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4\","     \
    "\"y\":\"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM\",\"kid\":\"1\"}"
#define ED_KEY                                                                                     \
    "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo\","  \
    "\"kid\":\"2\"}"

static void test_keys_say_their_algorithm(void **state)
{
    struct vd_key_set *set = NULL, *again = NULL, *less = NULL;
    struct vd_error error = {0};
    (void)state;
    struct vd_slice text = VD_SLICE("{\"keys\":[" EC_KEY "," ED_KEY ",{\"kty\":\"oct\"},7]}");
    assert_ok(vd_key_set_parse(&set, text, &error), &error);
    assert_ok(vd_key_set_parse(&again, text, &error), &error);
    assert_ok(vd_key_set_parse(&less, VD_SLICE("{\"keys\":[" EC_KEY "]}"), &error), &error);
    assert_int_equal(set->n, 2);
    assert_int_equal(set->skipped, 2);
    assert_string_equal(vd_signing_key_alg_name(set->keys[0]), "ES256");
    assert_string_equal(vd_signing_key_alg_name(set->keys[1]), "EdDSA");
    assert_true(vd_key_set_has_id(set, VD_SLICE("2")));
    assert_false(vd_key_set_has_id(set, VD_SLICE("")));
    assert_true(vd_key_set_eq(set, again));
    assert_false(vd_key_set_eq(set, less));
    vd_key_set_unref(set);
    vd_key_set_unref(again);
    vd_key_set_unref(less);
}

static void test_what_is_no_set_of_keys(void **state)
{
    static const char *const texts[] = {
        "",
        "[]",
        "{}",
        "{\"keys\":{}}",
        "{\"keys\":[]}",
        "{\"keys\":[],\"keys\":[]}",
        "{\"keys\":[{\"kty\":\"RSA\",\"n\":\"AQAB\",\"e\":\"AQAB\"}]}",
        "{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"AA\",\"y\":\"AA\"}]}",
        /* not on the curve */
        ("{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\","
         "\"x\":\"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4\","
         "\"y\":\"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4\"}]}"),
        ("{\"keys\":[{\"kty\":\"OKP\",\"crv\":\"X25519\","
         "\"x\":\"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo\"}]}"),
    };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct vd_key_set *set = NULL;
        struct vd_error error = {0};
        if (vd_key_set_parse(&set, vd_slice_of(texts[i]), &error) == VD_OK)
            fail_msg("taken: %s", texts[i]);
    }
}

static void test_discovery_speaks_for_its_issuer_only(void **state)
{
    static const struct {
        const char *text;
        const char *url; /* NULL: refused */
    } cases[] = {
        {"{\"issuer\":\"https://a.example\",\"jwks_uri\":\"https://k.example/keys\"}",
         "https://k.example/keys"},
        {"{\"issuer\":\"https://a.example/\",\"jwks_uri\":\"https://k.example/keys\"}", NULL},
        {"{\"jwks_uri\":\"https://k.example/keys\"}", NULL},
        {"{\"issuer\":\"https://a.example\"}", NULL},
        {"{\"issuer\":\"https://a.example\",\"jwks_uri\":\"http://k.example/keys\"}", NULL},
        {"{\"issuer\":\"https://a.example\",\"jwks_uri\":\"file:///etc/passwd\"}", NULL},
        {"{\"issuer\":\"https://a.example\",\"jwks_uri\":7}", NULL},
        {"nonsense", NULL},
    };
    struct vd_oidc_issuer issuer = {.url = VD_SLICE("https://a.example")};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_arena arena = {0};
        struct vd_slice url = {0};
        int code = vd_oidc_discover(&issuer, vd_slice_of(cases[i].text), &arena, &url, NULL);
        assert_int_equal(code == VD_OK, cases[i].url != NULL);
        if (cases[i].url)
            assert_slice(url, cases[i].url);
        vd_arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_file_has_issuers),
        cmocka_unit_test(test_mistakes_of_a_file_have_their_place),
        cmocka_unit_test(test_keys_say_their_algorithm),
        cmocka_unit_test(test_what_is_no_set_of_keys),
        cmocka_unit_test(test_discovery_speaks_for_its_issuer_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
