/* src/auth/gatekeeper.c: whose credential is good, and for how long. */
#include "check.h"

#include "auth/gatekeeper.h"
#include "auth/pki.h"
#include "auth/token.h"
#include "fixture.h"
#include "gatekeeper_fixture.h"
#include "kinds/uid.h"
#include "loop_bench.h"

#define NOW INT64_C(1794735590123)

struct setting {
    struct bench bench;
    char *folder;
    struct test_clock clock;
    struct vd_gatekeeper *gatekeeper;
};

static void setting_open(struct setting *t, bool with_folder)
{
    struct vd_error error;
    struct vd_pki_state pki;
    *t = (struct setting){.folder = temp_folder_new()};
    bench_open(&t->bench, 0);
    test_clock_init(&t->clock, NOW);
    if (with_folder)
        assert_ok(
            vd_pki_prepare(&(struct vd_pki_options){.folder = t->folder, .clock = &t->clock.clock},
                           &pki, &error),
            &error);
    assert_ok(
        vd_gatekeeper_new(&t->gatekeeper,
                          &(struct vd_gatekeeper_options){.store = t->bench.store,
                                                          .folder = with_folder ? t->folder : NULL,
                                                          .loop = &t->bench.loop,
                                                          .loops_n = 1,
                                                          .clock = &t->clock.clock},
                          &error),
        &error);
    assert_ok(vd_gatekeeper_start(t->gatekeeper, &error), &error);
}

static void setting_close(struct setting *t)
{
    bench_stop(&t->bench);
    vd_gatekeeper_free(t->gatekeeper);
    bench_release(&t->bench);
    temp_folder_remove(t->folder);
}

/* Writes an object with a new uid, whose text is put into `uid`. */
static void put_new(struct setting *t, const char *kind, const char *resource, const char *name,
                    const char *labels, char uid[VD_UID_TEXT_MAX])
{
    char text[512];
    vd_uid_format(vd_uid_generate(), uid);
    snprintf(text, sizeof text,
             "{\"apiVersion\":\"v1\",\"kind\":\"%s\",\"metadata\":{\"name\":\"%s\",\"namespace\":"
             "\"team\",\"labels\":{%s},\"uid\":\"%s\"}}",
             kind, name, labels, uid);
    put_text(&t->bench, resource, text);
}

/* A token of the account team/robot, bound to the Secret of this name unless it is NULL. */
static void issue(struct setting *t, const char *uid, const char *secret, const char *secret_uid,
                  struct vd_buf *token)
{
    struct vd_error error;
    int64_t expires_ms;
    struct vd_token_request request = {.namespace = VD_SLICE("team"),
                                       .name = VD_SLICE("robot"),
                                       .uid = vd_slice_of(uid),
                                       .now_ms = NOW};
    if (secret)
        request.bound = (struct vd_bound_object){.resource = VD_SLICE("secrets"),
                                                 .namespace = VD_SLICE("team"),
                                                 .name = vd_slice_of(secret),
                                                 .uid = vd_slice_of(secret_uid)};
    vd_buf_reset(token);
    assert_ok(vd_service_account_issue(vd_gatekeeper_accounts(t->gatekeeper), &request, token,
                                       &expires_ms, &error),
              &error);
}

/* The user of a good token, or NULL. */
static struct vd_user *user_of(struct setting *t, struct vd_slice token)
{
    struct vd_user *user = NULL;
    struct vd_error error;
    return vd_gatekeeper_identify_token(t->gatekeeper, token, &user, &error) ? NULL : user;
}

static bool is_good(struct setting *t, struct vd_slice token)
{
    struct vd_user *user = user_of(t, token);
    vd_user_unref(user);
    return user != NULL;
}

static void an_account_s_token_ends_with_the_account(void **state)
{
    struct setting t;
    struct vd_buf token = {0};
    char uid[VD_UID_TEXT_MAX], other[VD_UID_TEXT_MAX], labels[128];
    (void)state;
    setting_open(&t, true);
    put_new(&t, "ServiceAccount", "serviceaccounts", "robot", "", uid);
    issue(&t, uid, NULL, NULL, &token);
    struct vd_user *user = user_of(&t, vd_buf_slice(&token));
    assert_non_null(user);
    assert_slice(user->is.name, "system:serviceaccount:team:robot");
    assert_true(vd_gatekeeper_is_valid(t.gatekeeper, user));
    uint64_t version = vd_gatekeeper_version(t.gatekeeper);

    assert_int_equal(remove_object(&t.bench, "serviceaccounts", "team", "robot"), VD_OK);
    assert_false(is_good(&t, vd_buf_slice(&token)));
    assert_false(vd_gatekeeper_is_valid(t.gatekeeper, user));
    assert_true(vd_gatekeeper_version(t.gatekeeper) > version);

    /* One of the same name is another, whatever its labels say. */
    snprintf(labels, sizeof labels, "\"uid\":\"%s\"", uid);
    put_new(&t, "ServiceAccount", "serviceaccounts", "robot", labels, other);
    assert_false(is_good(&t, vd_buf_slice(&token)));
    assert_false(vd_gatekeeper_is_valid(t.gatekeeper, user));
    issue(&t, other, NULL, NULL, &token);
    assert_true(is_good(&t, vd_buf_slice(&token)));
    vd_user_unref(user);
    vd_buf_release(&token);
    setting_close(&t);
}

static void a_bound_token_ends_with_the_secret(void **state)
{
    struct setting t;
    struct vd_buf token = {0};
    char account[VD_UID_TEXT_MAX], uid[VD_UID_TEXT_MAX], other[VD_UID_TEXT_MAX], labels[128];
    (void)state;
    setting_open(&t, true);
    put_new(&t, "ServiceAccount", "serviceaccounts", "robot", "", account);
    put_new(&t, "Secret", "secrets", "bond", "", uid);
    issue(&t, account, "bond", uid, &token);
    struct vd_user *user = user_of(&t, vd_buf_slice(&token));
    assert_non_null(user);
    assert_true(vd_gatekeeper_is_valid(t.gatekeeper, user));
    assert_int_equal(remove_object(&t.bench, "secrets", "team", "bond"), VD_OK);
    assert_false(is_good(&t, vd_buf_slice(&token)));
    snprintf(labels, sizeof labels, "\"uid\":\"%s\"", uid);
    put_new(&t, "Secret", "secrets", "bond", labels, other);
    assert_false(is_good(&t, vd_buf_slice(&token)));
    assert_false(vd_gatekeeper_is_valid(t.gatekeeper, user));
    vd_user_unref(user);
    vd_buf_release(&token);
    setting_close(&t);
}

/* A uid that is none is nobody's, though its text may be in the object. */
static void a_token_whose_uid_is_no_uid_is_refused(void **state)
{
    struct setting t;
    struct vd_buf token = {0};
    char uid[VD_UID_TEXT_MAX];
    (void)state;
    setting_open(&t, true);
    put_new(&t, "ServiceAccount", "serviceaccounts", "robot", "\"uid\":\"any\"", uid);
    issue(&t, "any", NULL, NULL, &token);
    assert_false(is_good(&t, vd_buf_slice(&token)));
    vd_buf_release(&token);
    setting_close(&t);
}

static void a_token_has_an_end(void **state)
{
    struct setting t;
    struct vd_buf token = {0};
    char uid[VD_UID_TEXT_MAX];
    (void)state;
    setting_open(&t, true);
    put_new(&t, "ServiceAccount", "serviceaccounts", "robot", "", uid);
    issue(&t, uid, NULL, NULL, &token);
    struct vd_user *user = user_of(&t, vd_buf_slice(&token));
    assert_non_null(user);
    test_clock_advance_ms(&t.clock, 2 * 3600 * 1000);
    assert_false(is_good(&t, vd_buf_slice(&token)));
    assert_false(vd_gatekeeper_is_valid(t.gatekeeper, user));
    vd_user_unref(user);
    vd_buf_release(&token);
    setting_close(&t);
}

/* Makes a token of DIR/tokens. */
static void create_token(struct setting *t, const char *user, struct vd_buf *token,
                         struct vd_buf *id)
{
    struct vd_error error;
    assert_ok(vd_token_create(
                  t->folder,
                  &(struct vd_token_spec){.user = vd_slice_of(user), .lifetime_ms = 3600 * 1000},
                  &t->clock.clock, token, id, &error),
              &error);
}

static void a_token_of_the_file_is_good_at_once_and_until_it_is_revoked(void **state)
{
    struct setting t;
    struct vd_buf token = {0}, id = {0};
    struct vd_error error;
    (void)state;
    setting_open(&t, true);
    assert_false(is_good(&t, VD_SLICE("vd_0000000000000000000000000000000000000000000")));
    create_token(&t, "ann", &token, &id);
    struct vd_user *user = user_of(&t, vd_buf_slice(&token));
    assert_non_null(user);
    assert_slice(user->is.name, "ann");
    assert_true(vd_gatekeeper_is_valid(t.gatekeeper, user));
    uint64_t version = vd_gatekeeper_version(t.gatekeeper);
    assert_ok(vd_token_revoke(t.folder, vd_buf_slice(&id), &t.clock.clock, &error), &error);
    test_clock_advance_ms(&t.clock, 1000); /* the file is looked at about once a second */
    assert_true(vd_gatekeeper_version(t.gatekeeper) > version);
    assert_false(is_good(&t, vd_buf_slice(&token)));
    assert_false(vd_gatekeeper_is_valid(t.gatekeeper, user));
    vd_user_unref(user);
    vd_buf_release(&token);
    vd_buf_release(&id);
    setting_close(&t);
}

static void without_a_folder_there_are_no_tokens(void **state)
{
    struct setting t;
    (void)state;
    setting_open(&t, false);
    assert_null(vd_gatekeeper_accounts(t.gatekeeper));
    assert_null(vd_gatekeeper_issuers(t.gatekeeper));
    assert_false(is_good(&t, VD_SLICE("vd_0000000000000000000000000000000000000000000")));
    assert_false(is_good(&t, VD_SLICE("a.b.c")));
    setting_close(&t);
}

static bool may(struct vd_gatekeeper *gatekeeper, const struct vd_user *user, const char *verb)
{
    struct vd_buf reason = {0};
    struct vd_access access = {
        .user = user, .verb = vd_slice_of(verb), .resource = VD_SLICE("configmaps")};
    bool allowed = vd_gatekeeper_allows(gatekeeper, &access, &reason);
    vd_buf_release(&reason);
    return allowed;
}

static void fixed_rules_are_in_force_until_others_are_given(void **state)
{
    struct vd_gatekeeper *g = gatekeeper_for_all("\"get\"");
    struct vd_rbac *others = rules_for_all("\"list\"");
    struct vd_user *user = NULL, *ann = vd_user_new(&(struct vd_identity){
                                     .name = VD_SLICE("ann"), .method = VD_AUTH_CERTIFICATE});
    (void)state;
    uint64_t version = vd_gatekeeper_version(g);
    assert_int_not_equal(version, 0);
    assert_true(may(g, ann, "get"));
    assert_false(may(g, ann, "list"));
    assert_true(vd_gatekeeper_is_valid(g, ann));
    assert_true(vd_gatekeeper_is_current(g));
    assert_int_not_equal(vd_gatekeeper_identify_token(g, VD_SLICE("a.b.c"), &user, NULL), VD_OK);
    vd_gatekeeper_fix(g, others);
    assert_false(may(g, ann, "get"));
    assert_true(may(g, ann, "list"));
    assert_int_not_equal(vd_gatekeeper_version(g), version);
    vd_rbac_unref(others);
    vd_user_unref(ann);
    vd_gatekeeper_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_account_s_token_ends_with_the_account),
        cmocka_unit_test(a_bound_token_ends_with_the_secret),
        cmocka_unit_test(a_token_whose_uid_is_no_uid_is_refused),
        cmocka_unit_test(a_token_has_an_end),
        cmocka_unit_test(a_token_of_the_file_is_good_at_once_and_until_it_is_revoked),
        cmocka_unit_test(without_a_folder_there_are_no_tokens),
        cmocka_unit_test(fixed_rules_are_in_force_until_others_are_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
