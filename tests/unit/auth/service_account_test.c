/* src/auth/service_account.c: what TokenRequest issues is what authenticates. */
#include "auth/service_account.h"

#include <string.h>

#include "auth/jwt.h"
#include "base/alloc.h"
#include "json_check.h"

#define NOW INT64_C(1794735590123)

/* The objects that exist: "resource/namespace/name/uid" each. */
struct world {
    const char *objects[4];
};

static bool exists(void *arg, const struct vd_bound_object *o)
{
    const struct world *world = arg;
    char text[256];
    snprintf(text, sizeof text, "%.*s/%.*s/%.*s/%.*s", VD_FMT(o->resource), VD_FMT(o->namespace),
             VD_FMT(o->name), VD_FMT(o->uid));
    for (size_t i = 0; i < 4 && world->objects[i]; i++)
        if (strcmp(world->objects[i], text) == 0)
            return true;
    return false;
}

static struct vd_service_accounts *accounts_new(struct vd_signing_key *key, struct world *world)
{
    struct vd_service_accounts *accounts = NULL;
    struct vd_error error = {0};
    assert_ok(
        vd_service_accounts_new(&accounts,
                                &(struct vd_service_accounts_options){
                                    .keys = &key, .keys_n = 1, .exists = exists, .arg = world},
                                &error),
        &error);
    return accounts;
}

static const struct vd_token_request builder = {.namespace = VD_SLICE("team"),
                                                .name = VD_SLICE("builder"),
                                                .uid = VD_SLICE("u1"),
                                                .now_ms = NOW};

static void a_token_is_its_account(void **state)
{
    (void)state;
    struct world world = {{"serviceaccounts/team/builder/u1"}};
    struct vd_signing_key *key = vd_signing_key_generate();
    struct vd_service_accounts *accounts = accounts_new(key, &world);
    struct vd_buf token = {0};
    struct vd_error error = {0};
    struct vd_user *user = NULL;
    int64_t expires_ms = 0;
    assert_ok(vd_service_account_issue(accounts, &builder, &token, &expires_ms, &error), &error);
    assert_int_equal(expires_ms, NOW / 1000 * 1000 + 3600000);
    assert_ok(vd_service_account_authenticate(accounts, vd_buf_slice(&token), NULL, 0, NOW, &user,
                                              &error),
              &error);
    assert_slice(user->is.name, "system:serviceaccount:team:builder");
    assert_slice(user->is.uid, "u1");
    assert_int_equal(user->is.groups_n, 3);
    assert_slice(user->is.groups[0], "system:serviceaccounts");
    assert_slice(user->is.groups[1], "system:serviceaccounts:team");
    assert_slice(user->is.groups[2], "system:authenticated");
    assert_int_equal(user->is.expires_ms, expires_ms);
    assert_int_equal(user->is.method, VD_AUTH_SERVICE_ACCOUNT);
    assert_int_equal(user->is.extra_n, 1);
    assert_slice(user->is.extra[0].key, "authentication.kubernetes.io/credential-id");
    assert_int_equal(user->is.credential_id.n, 4 + 36);
    vd_user_unref(user);
    vd_service_accounts_free(accounts);
    vd_signing_key_unref(key);
    vd_buf_release(&token);
}

static void the_claims_are_those_of_kubernetes(void **state)
{
    struct world world = {{"serviceaccounts/team/builder/u1"}};
    struct vd_signing_key *key = vd_signing_key_generate();
    struct vd_service_accounts *accounts = accounts_new(key, &world);
    struct vd_token_request request = builder;
    struct vd_slice audiences[] = {VD_SLICE("vault"), VD_SLICE("other")};
    struct vd_buf token = {0};
    struct vd_error error = {0};
    struct vd_jwt jwt;
    int64_t expires_ms;
    request.audiences = audiences;
    request.audiences_n = 2;
    request.expiry_s = 600;
    request.bound = (struct vd_bound_object){
        .resource = VD_SLICE("pods"), .name = VD_SLICE("p"), .uid = VD_SLICE("pu")};
    assert_ok(vd_service_account_issue(accounts, &request, &token, &expires_ms, &error), &error);
    assert_ok(vd_jwt_parse(&jwt, *state, vd_buf_slice(&token), &error), &error);
    struct vd_jwt_expected expected = {.keys = &key,
                                       .keys_n = 1,
                                       .issuer = VD_SLICE(VD_SERVICE_ACCOUNT_ISSUER_DEFAULT),
                                       .audiences = audiences,
                                       .audiences_n = 1,
                                       .now_ms = NOW};
    assert_ok(vd_jwt_verify(&jwt, &expected, &error), &error);
    struct vd_buf want = {0};
    vd_buf_addf(&want,
                "{\"aud\":[\"vault\",\"other\"],\"exp\":1794736190,\"iat\":1794735590,"
                "\"iss\":\"https://kubernetes.default.svc.cluster.local\",\"jti\":\"%.*s\","
                "\"kubernetes.io\":{\"namespace\":\"team\",\"pod\":{\"name\":\"p\",\"uid\":\"pu\"},"
                "\"serviceaccount\":{\"name\":\"builder\",\"uid\":\"u1\"}},\"nbf\":1794735590,"
                "\"sub\":\"system:serviceaccount:team:builder\"}",
                VD_FMT(jwt.id));
    assert_json(jwt.claims, vd_buf_text(&want));
    vd_buf_release(&want);
    vd_buf_release(&token);
    vd_service_accounts_free(accounts);
    vd_signing_key_unref(key);
}

static void a_token_ends_with_what_it_is_bound_to(void **state)
{
    (void)state;
#define ACCOUNT "serviceaccounts/team/builder/u1"
    static const struct {
        const char *resource; /* bound to b with uid v; "": to nothing */
        struct world world;
        int code;
    } cases[] = {
        {"", {{ACCOUNT}}, VD_OK},
        {"", {{"serviceaccounts/team/builder/u2"}}, VD_ERR_INVALID},
        {"", {{"serviceaccounts/other/builder/u1"}}, VD_ERR_INVALID},
        {"", {{NULL}}, VD_ERR_INVALID},
        {"secrets", {{ACCOUNT, "secrets/team/b/v"}}, VD_OK},
        {"secrets", {{ACCOUNT}}, VD_ERR_INVALID},
        {"secrets", {{ACCOUNT, "secrets/team/b/w"}}, VD_ERR_INVALID},
        {"secrets", {{"secrets/team/b/v"}}, VD_ERR_INVALID},
        {"pods", {{ACCOUNT, "pods/team/b/v"}}, VD_OK},
        {"pods", {{ACCOUNT, "secrets/team/b/v"}}, VD_ERR_INVALID},
        {"nodes", {{ACCOUNT, "nodes//b/v"}}, VD_OK},
        {"nodes", {{ACCOUNT, "nodes/team/b/v"}}, VD_ERR_INVALID},
    };
    struct vd_signing_key *key = vd_signing_key_generate();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world world = cases[i].world;
        struct vd_service_accounts *accounts = accounts_new(key, &world);
        struct vd_token_request request = builder;
        struct vd_buf token = {0};
        struct vd_error error = {0};
        struct vd_user *user = NULL;
        int64_t expires_ms;
        request.bound = (struct vd_bound_object){.resource = vd_slice_of(cases[i].resource),
                                                 .name = VD_SLICE("b"),
                                                 .uid = VD_SLICE("v")};
        assert_ok(vd_service_account_issue(accounts, &request, &token, &expires_ms, &error),
                  &error);
        assert_code(vd_service_account_authenticate(accounts, vd_buf_slice(&token), NULL, 0, NOW,
                                                    &user, &error),
                    cases[i].code);
        if (!cases[i].code && strcmp(cases[i].resource, "pods") == 0) {
            assert_slice(user->is.extra[0].key, "authentication.kubernetes.io/pod-name");
            assert_slice(user->is.extra[0].values[0], "b");
            assert_slice(user->is.extra[1].values[0], "v");
        }
        vd_user_unref(user);
        vd_buf_release(&token);
        vd_service_accounts_free(accounts);
    }
    vd_signing_key_unref(key);
}

static void requests_out_of_bounds_are_refused(void **state)
{
    (void)state;
    static const struct {
        int64_t expiry_s;
        const char *resource, *says; /* NULL: fine */
    } cases[] = {
        {0, "", NULL},
        {600, "", NULL},
        {599, "", "less than 10 minutes"},
        {-1, "", "less than 10 minutes"},
        {INT64_C(4294967296), "", NULL},
        {INT64_C(4294967297), "", "larger than 2^32 seconds"},
        {600, "configmaps", "not to configmaps"},
    };
    struct world world = {{NULL}};
    struct vd_signing_key *key = vd_signing_key_generate();
    struct vd_service_accounts *accounts = accounts_new(key, &world);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_token_request request = builder;
        struct vd_buf token = {0};
        struct vd_error error = {0};
        int64_t expires_ms;
        request.expiry_s = cases[i].expiry_s;
        request.bound.resource = vd_slice_of(cases[i].resource);
        int code = vd_service_account_issue(accounts, &request, &token, &expires_ms, &error);
        assert_int_equal(code, cases[i].says ? VD_ERR_INVALID : VD_OK);
        assert_int_equal(token.n > 0, code == VD_OK);
        if (cases[i].says)
            assert_says(&error, cases[i].says);
        vd_buf_release(&token);
    }
    vd_service_accounts_free(accounts);
    vd_signing_key_unref(key);
}

static void audiences_and_times_are_kept(void **state)
{
    (void)state;
    struct world world = {{ACCOUNT}};
    struct vd_signing_key *key = vd_signing_key_generate();
    struct vd_service_accounts *accounts = accounts_new(key, &world);
    struct vd_slice vault = VD_SLICE("vault");
    struct vd_token_request for_vault = builder;
    struct vd_buf token = {0};
    struct vd_error error = {0};
    struct vd_user *user = NULL;
    int64_t end;
    for_vault.audiences = &vault;
    for_vault.audiences_n = 1;
    assert_ok(vd_service_account_issue(accounts, &for_vault, &token, &end, &error), &error);
    struct vd_slice text = vd_buf_slice(&token);
    assert_code(vd_service_account_authenticate(accounts, text, NULL, 0, NOW, &user, &error),
                VD_ERR_INVALID);
    assert_says(&error, "audience");
    assert_ok(vd_service_account_authenticate(accounts, text, &vault, 1, NOW, &user, &error),
              &error);
    vd_user_unref(user);
    assert_code(
        vd_service_account_authenticate(accounts, text, &vault, 1, end + 10000, &user, &error),
        VD_ERR_EXPIRED);
    assert_code(
        vd_service_account_authenticate(accounts, text, &vault, 1, NOW - 11000, &user, &error),
        VD_ERR_INVALID);
    vd_service_accounts_free(accounts);
    vd_signing_key_unref(key);
    vd_buf_release(&token);
}

/* Signed by the right key, but not what this server issues. */
static void inconsistent_claims_are_refused(void **state)
{
#define ISS_AUD                                                                                    \
    "\"iss\":\"https://kubernetes.default.svc.cluster.local\","                                    \
    "\"aud\":\"https://kubernetes.default.svc.cluster.local\",\"exp\":1794736190,"
#define SUB "\"sub\":\"system:serviceaccount:team:builder\""
    static const struct {
        const char *claims;
        int code;
    } cases[] = {
        {"{" ISS_AUD SUB ",\"kubernetes.io\":{\"namespace\":\"team\",\"serviceaccount\":"
         "{\"name\":\"builder\",\"uid\":\"u1\"}}}",
         VD_OK},
        {"{" ISS_AUD
         "\"sub\":\"system:serviceaccount:team:other\",\"kubernetes.io\":{\"namespace\":"
         "\"team\",\"serviceaccount\":{\"name\":\"builder\",\"uid\":\"u1\"}}}",
         VD_ERR_INVALID},
        {"{" ISS_AUD "\"sub\":\"admin\",\"kubernetes.io\":{\"namespace\":\"team\","
         "\"serviceaccount\":{\"name\":\"builder\",\"uid\":\"u1\"}}}",
         VD_ERR_INVALID},
        {"{" ISS_AUD SUB "}", VD_ERR_INVALID},
        {"{" ISS_AUD SUB ",\"kubernetes.io\":{\"namespace\":\"team\",\"serviceaccount\":"
         "{\"name\":\"builder\"}}}",
         VD_ERR_INVALID},
        {"{" ISS_AUD SUB ",\"kubernetes.io\":{\"serviceaccount\":{\"name\":\"builder\","
         "\"uid\":\"u1\"}}}",
         VD_ERR_INVALID},
        {"{" ISS_AUD SUB ",\"kubernetes.io\":{\"namespace\":\"team\",\"pod\":{},\"serviceaccount\":"
         "{\"name\":\"builder\",\"uid\":\"u1\"}}}",
         VD_ERR_INVALID},
        {"{\"iss\":\"https://elsewhere\",\"exp\":1794736190}", VD_ERR_NOT_FOUND},
    };
    struct world world = {{ACCOUNT}};
    struct vd_signing_key *key = vd_signing_key_generate();
    struct vd_service_accounts *accounts = accounts_new(key, &world);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_buf token = {0};
        struct vd_error error = {0};
        struct vd_user *user = NULL;
        assert_ok(vd_jwt_sign(&token, key, json_of(*state, cases[i].claims), &error), &error);
        int code = vd_service_account_authenticate(accounts, vd_buf_slice(&token), NULL, 0, NOW,
                                                   &user, &error);
        if (code != cases[i].code)
            fail_msg("%s: got %s: %s", cases[i].claims, vd_code_name(code), error.text);
        vd_user_unref(user);
        vd_buf_release(&token);
    }
    vd_service_accounts_free(accounts);
    vd_signing_key_unref(key);
}

static void keys_can_be_rotated(void **state)
{
    (void)state;
    struct world world = {{ACCOUNT}};
    struct vd_signing_key *old = vd_signing_key_generate(), *fresh = vd_signing_key_generate();
    struct vd_signing_key *both[] = {fresh, old};
    struct vd_service_accounts *before = accounts_new(old, &world), *after = NULL, *none = NULL;
    struct vd_service_accounts *only_fresh = accounts_new(fresh, &world);
    struct vd_error error = {0};
    struct vd_buf token = {0};
    struct vd_user *user = NULL;
    int64_t end;
    struct vd_service_accounts_options options = {
        .keys = both, .keys_n = 2, .exists = exists, .arg = &world};
    assert_ok(vd_service_accounts_new(&after, &options, &error), &error);
    assert_ok(vd_service_account_issue(before, &builder, &token, &end, &error), &error);
    assert_ok(
        vd_service_account_authenticate(after, vd_buf_slice(&token), NULL, 0, NOW, &user, &error),
        &error);
    vd_user_unref(user);
    assert_code(vd_service_account_authenticate(only_fresh, vd_buf_slice(&token), NULL, 0, NOW,
                                                &user, &error),
                VD_ERR_INVALID);
    options.keys_n = 0;
    assert_code(vd_service_accounts_new(&none, &options, &error), VD_ERR_INVALID);
    vd_service_accounts_free(before);
    vd_service_accounts_free(after);
    vd_service_accounts_free(only_fresh);
    vd_service_accounts_free(NULL);
    vd_signing_key_unref(old);
    vd_signing_key_unref(fresh);
    vd_buf_release(&token);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_token_is_its_account),
        arena_test(the_claims_are_those_of_kubernetes),
        cmocka_unit_test(a_token_ends_with_what_it_is_bound_to),
        cmocka_unit_test(requests_out_of_bounds_are_refused),
        cmocka_unit_test(audiences_and_times_are_kept),
        arena_test(inconsistent_claims_are_refused),
        cmocka_unit_test(keys_can_be_rotated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
