/* TLS contexts: which files make one, and what is said of those that do not. */
#include "net/tls.h"

#include <openssl/err.h>
#include <string.h>

#include "check.h"
#include "tls_files.h"

static struct tls_files files;

static int setup(void **state)
{
    (void)state;
    tls_files_make(&files);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    tls_files_remove(&files);
    return 0;
}

static void test_good_files_make_a_context(void **state)
{
    struct vd_error error = {0};
    SSL_CTX *context = NULL;
    (void)state;
    struct vd_tls_files plain = {.certificate = files.server, .key = files.server_key};
    assert_ok(vd_tls_load(&context, &plain, &error), &error);
    assert_int_equal(SSL_CTX_get_verify_mode(context), SSL_VERIFY_NONE);
    SSL_CTX_free(context);
    struct vd_tls_files asking = {files.server, files.server_key, files.ca, false};
    assert_ok(vd_tls_load(&context, &asking, &error), &error);
    assert_int_equal(SSL_CTX_get_verify_mode(context), SSL_VERIFY_PEER);
    SSL_CTX_free(context);
}

/* Both sides step on, each with what the other has sent, until they agree or one has had enough. */
static const char *agree(SSL *server, SSL *client)
{
    BIO *to_client = BIO_new(BIO_s_mem()), *to_server = BIO_new(BIO_s_mem());
    BIO_up_ref(to_client);
    BIO_up_ref(to_server);
    SSL_set_bio(server, to_server, to_client);
    SSL_set_bio(client, to_client, to_server);
    SSL_set_accept_state(server);
    SSL_set_connect_state(client);
    for (int i = 0; i < 10; i++) {
        int theirs = SSL_do_handshake(client), ours = SSL_do_handshake(server);
        if (theirs == 1 && ours == 1)
            return SSL_get_cipher_name(server);
    }
    return "none";
}

static void test_ciphers_are_few_and_ours_come_first(void **state)
{
    static const struct {
        int version;
        const char *suites; /* of TLS 1.3; NULL: the library's */
        const char *list;   /* of TLS 1.2 */
        const char *agreed;
    } cases[] = {
        {TLS1_3_VERSION, NULL, "DEFAULT", "TLS_AES_128_GCM_SHA256"},
        {TLS1_3_VERSION, "TLS_AES_256_GCM_SHA384", "DEFAULT", "TLS_AES_256_GCM_SHA384"},
        {TLS1_3_VERSION, "TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256", "DEFAULT",
         "TLS_CHACHA20_POLY1305_SHA256"},
        {TLS1_2_VERSION, NULL, "DEFAULT", "ECDHE-ECDSA-AES128-GCM-SHA256"},
        {TLS1_2_VERSION, NULL, "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-ECDSA-AES128-GCM-SHA256",
         "ECDHE-ECDSA-CHACHA20-POLY1305"},
        {TLS1_2_VERSION, NULL, "ECDHE-ECDSA-AES128-SHA", "none"}, /* CBC */
        {TLS1_2_VERSION, NULL, "AES128-GCM-SHA256", "none"},      /* no forward secrecy */
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_error error = {0};
        SSL_CTX *ours = NULL, *theirs = SSL_CTX_new(TLS_client_method());
        struct vd_tls_files plain = {.certificate = files.server, .key = files.server_key};
        assert_ok(vd_tls_load(&ours, &plain, &error), &error);
        SSL_CTX_set_max_proto_version(theirs, cases[i].version);
        assert_int_equal(SSL_CTX_set_cipher_list(theirs, cases[i].list), 1);
        if (cases[i].suites)
            assert_int_equal(SSL_CTX_set_ciphersuites(theirs, cases[i].suites), 1);
        SSL *server = SSL_new(ours), *client = SSL_new(theirs);
        assert_string_equal(agree(server, client), cases[i].agreed);
        SSL_free(server);
        SSL_free(client);
        SSL_CTX_free(ours);
        SSL_CTX_free(theirs);
        ERR_clear_error();
    }
}

static void test_bad_files_are_named_with_the_reason(void **state)
{
    const struct {
        struct vd_tls_files files;
        const char *what, *file, *reason;
    } cases[] = {
        {{"/nowhere/a.pem", files.server_key, NULL, false},
         "the certificate ",
         "/nowhere/a.pem",
         "No such file"},
        {{files.garbage, files.server_key, NULL, false}, "the certificate ", files.garbage, ": "},
        {{files.server_key, files.server_key, NULL, false},
         "the certificate ",
         files.server_key,
         "it holds no certificate in PEM form"},
        {{files.server, "/nowhere/a.key", NULL, false},
         "the key ",
         "/nowhere/a.key",
         "No such file"},
        {{files.server, files.client_key, NULL, false},
         "the key ",
         files.client_key,
         "do not belong together"},
        {{files.server, files.garbage, NULL, false}, "the key ", files.garbage, ": "},
        {{files.server, files.locked_key, NULL, false}, "the key ", files.locked_key, "password"},
        {{files.server, files.server_key, "/nowhere/ca.pem", false},
         "the client CA ",
         "/nowhere/ca.pem",
         "No such file"},
        {{files.server, files.server_key, files.garbage, false},
         "the client CA ",
         files.garbage,
         ": "},
        {{files.server, files.server_key, files.server_key, false},
         "the client CA ",
         files.server_key,
         ": "},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_error error = {0};
        SSL_CTX *context = (SSL_CTX *)&files;
        ERR_raise(ERR_LIB_USER, ERR_R_INTERNAL_ERROR); /* somebody else's, left behind */
        assert_code(vd_tls_load(&context, &cases[i].files, &error), VD_ERR_INVALID);
        assert_ptr_equal(context, &files);
        assert_says(&error, cases[i].what);
        assert_says(&error, cases[i].file);
        assert_says(&error, cases[i].reason);
        if (strstr(error.text, "unknown reason") || strstr(error.text, "internal"))
            fail_msg("no reason: %s", error.text);
        assert_int_equal(ERR_peek_error(), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_files_make_a_context),
        cmocka_unit_test(test_ciphers_are_few_and_ours_come_first),
        cmocka_unit_test(test_bad_files_are_named_with_the_reason),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
