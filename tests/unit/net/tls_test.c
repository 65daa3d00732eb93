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
        cmocka_unit_test(test_bad_files_are_named_with_the_reason),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
