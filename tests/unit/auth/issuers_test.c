/* src/auth/issuers.c: tokens of issuers elsewhere, whose keys are in a file. What is fetched over
 * HTTP is tried from the outside, by tests/api/oidc_test.sh. */
#include "auth/issuers.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "auth/issuer_document.h"
#include "auth/jwt.h"
#include "folder_check.h"
#include "json/document.h"

#define NOW    INT64_C(1794735590123)
#define HEAD   "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthenticationConfiguration\n"
#define ISSUER "https://issuer.example"

enum { DEADLINE_S = 60 };

struct setting {
    char *folder;
    struct vd_buf file;
    struct vd_signing_key *key;
    struct vd_loop loop;
    struct vd_issuers *issuers;
    pthread_mutex_t lock; /* guards changes */
    pthread_cond_t told;
    unsigned changes;
};

static void changed(void *arg)
{
    struct setting *t = arg;
    pthread_mutex_lock(&t->lock);
    t->changes++;
    pthread_cond_signal(&t->told);
    pthread_mutex_unlock(&t->lock);
}

/* Waits until there were so many changes. */
static void await_changes(struct setting *t, unsigned n)
{
    struct timespec deadline;
    int rc = 0;
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += DEADLINE_S;
    pthread_mutex_lock(&t->lock);
    while (t->changes < n && rc == 0)
        rc = pthread_cond_timedwait(&t->told, &t->lock, &deadline);
    pthread_mutex_unlock(&t->lock);
    assert_int_equal(rc, 0);
}

/* The file of issuers: one, for this audience. */
static void write_issuers(struct setting *t, const char *audience)
{
    struct vd_buf text = {0};
    vd_buf_addf(&text,
                HEAD "jwt:\n- issuer:\n    url: " ISSUER "\n    audiences: [%s]\n"
                     "    jwksFile: %s/keys.json\n"
                     "  claimMappings: {username: {claim: sub, prefix: \"ex:\"}}\n",
                audience, t->folder);
    write_text(t->folder, "issuers.yaml", vd_buf_text(&text));
    vd_buf_release(&text);
}

/* The JWK set of a key, as a server that signs with it serves it. */
static void write_keys(struct vd_buf *out, struct vd_signing_key *key)
{
    struct vd_service_accounts *accounts = NULL;
    struct vd_error error;
    assert_ok(
        vd_service_accounts_new(
            &accounts, &(struct vd_service_accounts_options){.keys = &key, .keys_n = 1}, &error),
        &error);
    vd_issuer_keys_write(out, accounts);
    vd_service_accounts_free(accounts);
}

static int setup(void **state)
{
    struct setting *t = calloc(1, sizeof *t);
    struct vd_error error;
    struct vd_buf keys = {0};
    t->folder = temp_folder_new();
    t->key = vd_signing_key_generate();
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->told, NULL);
    write_keys(&keys, t->key);
    write_text(t->folder, "keys.json", vd_buf_text(&keys));
    write_issuers(t, "us");
    path_in(&t->file, t->folder, "issuers.yaml");
    assert_ok(vd_loop_init(&t->loop, 0, &error), &error);
    assert_ok(vd_loop_start(&t->loop, &error), &error);
    assert_ok(vd_issuers_new(&t->issuers,
                             &(struct vd_issuers_options){.file = vd_buf_text(&t->file),
                                                          .loop = &t->loop,
                                                          .clock = vd_clock_system(),
                                                          .changed = changed,
                                                          .arg = t},
                             &error),
              &error);
    vd_buf_release(&keys);
    *state = t;
    return 0;
}

static int teardown(void **state)
{
    struct setting *t = *state;
    vd_issuers_stop(t->issuers);
    vd_loop_stop(&t->loop);
    vd_loop_release(&t->loop);
    vd_issuers_free(t->issuers);
    vd_signing_key_unref(t->key);
    vd_buf_release(&t->file);
    pthread_cond_destroy(&t->told);
    pthread_mutex_destroy(&t->lock);
    temp_folder_remove(t->folder);
    free(t);
    return 0;
}

/* What the token of this issuer, with this key, is to the issuers. */
static int authenticate(struct setting *t, const char *issuer, struct vd_signing_key *key,
                        struct vd_user **user, struct vd_error *error)
{
    struct vd_arena a = {0};
    struct vd_buf token = {0};
    struct vd_json *claims = vd_json_object(&a);
    vd_json_add_ref(claims, VD_SLICE("iss"), vd_json_string(&a, vd_slice_of(issuer)));
    vd_json_add_ref(claims, VD_SLICE("aud"), vd_json_string(&a, VD_SLICE("us")));
    vd_json_add_ref(claims, VD_SLICE("sub"), vd_json_string(&a, VD_SLICE("ann")));
    vd_json_add_ref(claims, VD_SLICE("exp"), vd_json_i64(&a, NOW / 1000 + 600));
    assert_ok(vd_jwt_sign(&token, key, claims, error), error);
    int code = vd_issuers_authenticate(t->issuers, vd_buf_slice(&token), NOW, user, error);
    vd_buf_release(&token);
    vd_arena_release(&a);
    return code;
}

static void a_token_is_good_once_its_key_is_known(void **state)
{
    struct setting *t = *state;
    struct vd_user *user = NULL;
    struct vd_error error;
    assert_code(authenticate(t, ISSUER, t->key, &user, &error), VD_ERR_INVALID);
    assert_says(&error, "not known yet");
    vd_issuers_start(t->issuers);
    await_changes(t, 1);
    assert_ok(authenticate(t, ISSUER, t->key, &user, &error), &error);
    assert_slice(user->is.name, "ex:ann");
    assert_int_equal(user->is.method, VD_AUTH_OIDC);
    assert_true(vd_issuers_is_valid(t->issuers, user));
    vd_user_unref(user);
}

static void strangers_are_told_apart(void **state)
{
    struct setting *t = *state;
    struct vd_user *user = NULL;
    struct vd_error error;
    struct vd_signing_key *other = vd_signing_key_generate();
    vd_issuers_start(t->issuers);
    await_changes(t, 1);
    assert_code(authenticate(t, "https://elsewhere.example", t->key, &user, &error),
                VD_ERR_NOT_FOUND);
    assert_code(authenticate(t, ISSUER, other, &user, &error), VD_ERR_INVALID);
    assert_true(vd_issuers_authenticate(t->issuers, VD_SLICE("no.token"), NOW, &user, &error));
    assert_null(user);
    vd_signing_key_unref(other);
}

static void a_reload_ends_what_is_no_longer_in_the_file(void **state)
{
    struct setting *t = *state;
    struct vd_user *user = NULL;
    struct vd_error error;
    vd_issuers_start(t->issuers);
    await_changes(t, 1);
    assert_ok(authenticate(t, ISSUER, t->key, &user, &error), &error);
    write_text(t->folder, "issuers.yaml", HEAD "jwt: [{}]\n");
    assert_code(vd_issuers_reload(t->issuers, &error), VD_ERR_INVALID);
    assert_true(vd_issuers_is_valid(t->issuers, user)); /* all is as before */
    write_issuers(t, "others");
    assert_ok(vd_issuers_reload(t->issuers, &error), &error);
    await_changes(t, 3); /* the file, and the keys of what is another issuer now */
    assert_false(vd_issuers_is_valid(t->issuers, user));
    vd_user_unref(user);
    user = NULL;
    assert_true(authenticate(t, ISSUER, t->key, &user, &error) != VD_OK);
    assert_null(user);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_token_is_good_once_its_key_is_known),
        TEST(strangers_are_told_apart),
        TEST(a_reload_ends_what_is_no_longer_in_the_file),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
