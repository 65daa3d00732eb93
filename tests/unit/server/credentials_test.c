/* src/server/credentials.c: the server's keys and certificates, as the configuration wants them. */
#include "server/credentials.h"

#include "../auth/folder_check.h"
#include "server/config.h"

static struct vd_config config_in(const char *folder)
{
    struct vd_config config;
    vd_config_init(&config);
    config.data = folder;
    config.tls_listen = "127.0.0.1:0";
    return config;
}

static void what_is_missing_is_made_and_what_is_there_stays(void **state)
{
    struct vd_error error;
    struct vd_buf ca = {0};
    SSL_CTX *context = NULL;
    struct vd_config config = config_in(*state);
    assert_ok(vd_credentials_prepare(&config, &error), &error);
    assert_int_equal(mode_of(*state, "pki/server.key"), 0600);
    assert_int_equal(mode_of(*state, "pki/admin.key"), 0600);
    char *before = text_of(*state, "pki/sa.key");
    assert_ok(vd_credentials_prepare(&config, &error), &error);
    char *after = text_of(*state, "pki/sa.key");
    assert_string_equal(before, after);
    assert_ok(vd_credentials_load(&config, &context, &error), &error);
    assert_non_null(context);
    assert_ok(vd_credentials_read_ca(&config, &ca, &error), &error);
    assert_non_null(strstr(vd_buf_text(&ca), "BEGIN CERTIFICATE"));
    SSL_CTX_free(context);
    vd_buf_release(&ca);
    free(before);
    free(after);
    vd_config_release(&config);
}

static void a_kubeconfig_has_an_address_that_can_be_reached(void **state)
{
    static const struct {
        const char *bound, *server;
    } cases[] = {
        {"127.0.0.1:6443", "server: https://127.0.0.1:6443\n"},
        {"0.0.0.0:6443", "server: https://127.0.0.1:6443\n"},
        {"[::]:6443", "server: https://[::1]:6443\n"},
        {"[2001:db8::1]:6443", "server: https://[2001:db8::1]:6443\n"},
    };
    struct vd_error error;
    struct vd_config config = config_in(*state);
    assert_ok(vd_credentials_prepare(&config, &error), &error);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_ok(vd_credentials_write_kubeconfig(&config, cases[i].bound, &error), &error);
        char *text = text_of(*state, "admin.kubeconfig");
        if (!strstr(text, cases[i].server))
            fail_msg("%s: %s", cases[i].bound, text);
        free(text);
    }
    vd_config_release(&config);
}

static void files_that_are_no_good_are_named_with_their_setting(void **state)
{
    struct vd_error error;
    struct vd_buf path = {0}, ca = {0};
    SSL_CTX *context = NULL;
    struct vd_config config = config_in(*state);
    assert_ok(vd_credentials_prepare(&config, &error), &error);
    write_text(*state, "wrong.pem", "no certificate\n");
    const char *wrong = path_in(&path, *state, "wrong.pem");
    config.client_ca = wrong;
    assert_code(vd_credentials_prepare(&config, &error), VD_ERR_INVALID);
    assert_says(&error, "client-ca: ");
    assert_says(&error, "wrong.pem holds no certificate");
    config.client_ca = NULL;
    config.tls_ca = wrong;
    assert_code(vd_credentials_read_ca(&config, &ca, &error), VD_ERR_INVALID);
    assert_says(&error, "tls-ca: ");
    config.tls_cert = config.tls_key = wrong;
    assert_true(vd_credentials_load(&config, &context, &error) != VD_OK);
    assert_says(&error, "tls-cert and tls-key: ");
    assert_null(context);
    vd_buf_release(&path);
    vd_buf_release(&ca);
    vd_config_release(&config);
}

/* The administrators of both are taken. */
static void a_given_client_ca_stands_beside_our_own(void **state)
{
    struct vd_error error;
    struct vd_buf path = {0};
    SSL_CTX *context = NULL;
    struct vd_config config = config_in(*state);
    assert_ok(vd_credentials_prepare(&config, &error), &error);
    char *own = text_of(*state, "pki/ca.crt");
    write_text(*state, "given.crt", own);
    config.client_ca = path_in(&path, *state, "given.crt");
    assert_ok(vd_credentials_prepare(&config, &error), &error);
    char *both = text_of(*state, "pki/client-ca.crt");
    assert_int_equal(strlen(both), 2 * strlen(own));
    assert_ok(vd_credentials_load(&config, &context, &error), &error);
    SSL_CTX_free(context);
    free(own);
    free(both);
    vd_buf_release(&path);
    vd_config_release(&config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        folder_test(what_is_missing_is_made_and_what_is_there_stays),
        folder_test(a_kubeconfig_has_an_address_that_can_be_reached),
        folder_test(files_that_are_no_good_are_named_with_their_setting),
        folder_test(a_given_client_ca_stands_beside_our_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
