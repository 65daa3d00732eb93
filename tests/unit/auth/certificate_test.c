/* src/auth/certificate.c and certificate_make.c: whom a certificate stands for. */
#include "auth/certificate.h"

#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "check.h"

#define NOW  INT64_C(1794735590000)
#define YEAR (INT64_C(365) * 86400000)

static X509 *make(const struct vd_signing_key *key, struct vd_certificate_spec spec)
{
    struct vd_error error = {0};
    X509 *certificate = NULL;
    spec.key = key;
    spec.begins_ms = NOW;
    if (!spec.expires_ms)
        spec.expires_ms = NOW + YEAR;
    if (!spec.issuer_key)
        spec.issuer_key = key;
    assert_ok(vd_certificate_make(&certificate, &spec, &error), &error);
    return certificate;
}

static void names_become_the_user(void **state)
{
    (void)state;
    struct vd_signing_key *key = vd_signing_key_generate();
    X509 *x = make(key, (struct vd_certificate_spec){.use = VD_CERTIFICATE_CLIENT,
                                                     .common_name = "Änne",
                                                     .organisation = "system:masters"});
    unsigned char *der = NULL;
    int n = i2d_X509(x, &der);
    struct vd_error error = {0};
    struct vd_user *user, *again;
    assert_ok(vd_certificate_user(x, &user, &error), &error);
    assert_slice(user->is.name, "Änne");
    assert_int_equal(user->is.groups_n, 2);
    assert_slice(user->is.groups[0], "system:masters");
    assert_slice(user->is.groups[1], "system:authenticated");
    assert_true(vd_user_is_master(user));
    assert_int_equal(user->is.expires_ms, NOW + YEAR);
    assert_int_equal(user->is.method, VD_AUTH_CERTIFICATE);
    assert_int_equal(user->is.credential_id.n, 11 + 64);
    assert_ok(vd_certificate_user_der(vd_slice(der, (size_t)n), &again, &error), &error);
    assert_true(vd_user_eq(user, again));
    assert_code(vd_certificate_user_der(vd_slice(der, (size_t)n - 1), &user, &error),
                VD_ERR_INVALID);
    vd_user_unref(user);
    vd_user_unref(again);
    OPENSSL_free(der);
    X509_free(x);
    vd_signing_key_unref(key);
}

/* A subject made by hand: each entry is "CN=..." or "O=...", of `n` bytes. */
static X509 *with_subject(const struct vd_slice *entries, size_t n)
{
    X509 *x = X509_new();
    X509_NAME *name = X509_NAME_new();
    for (size_t i = 0; i < n; i++) {
        bool cn = entries[i].p[0] == 'C';
        size_t skip = cn ? 3 : 2;
        X509_NAME_add_entry_by_txt(name, cn ? "CN" : "O", V_ASN1_UTF8STRING,
                                   (const unsigned char *)entries[i].p + skip,
                                   (int)(entries[i].n - skip), -1, 0);
    }
    X509_set_subject_name(x, name);
    X509_NAME_free(name);
    ASN1_TIME_set(X509_getm_notAfter(x), (time_t)(NOW / 1000));
    return x;
}

static void odd_subjects(void **state)
{
    (void)state;
    static const struct {
        struct vd_slice entries[4];
        size_t n;
        const char *name; /* NULL: refused */
        size_t groups_n;
    } cases[] = {
        {{VD_SLICE("CN=a")}, 1, "a", 1},
        {{VD_SLICE("CN=a"), VD_SLICE("CN=b")}, 2, "b", 1},
        {{VD_SLICE("O=g"), VD_SLICE("CN=a"), VD_SLICE("O=h"), VD_SLICE("O=g")}, 4, "a", 3},
        {{VD_SLICE("O=g")}, 1, NULL, 0},
        {{VD_SLICE("CN=a\0b")}, 1, NULL, 0},
        {{VD_SLICE("CN=a"), VD_SLICE("O=system:masters\0x")}, 2, NULL, 0},
        {{VD_SLICE("CN=\xff\xfe")}, 1, NULL, 0},
        {{{0}}, 0, NULL, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        X509 *x = with_subject(cases[i].entries, cases[i].n);
        struct vd_error error = {0};
        struct vd_user *user = NULL;
        int code = vd_certificate_user(x, &user, &error);
        assert_int_equal(code, cases[i].name ? VD_OK : VD_ERR_INVALID);
        if (user) {
            assert_slice(user->is.name, cases[i].name);
            assert_int_equal(user->is.groups_n, cases[i].groups_n);
        }
        vd_user_unref(user);
        X509_free(x);
    }
}

static void chains_verify_and_purposes_hold(void **state)
{
    (void)state;
    struct vd_signing_key *ca_key = vd_signing_key_generate(), *key = vd_signing_key_generate();
    static const char *const hosts[] = {"localhost", "::1", "*.example.com"};
    X509 *ca = make(ca_key, (struct vd_certificate_spec){.use = VD_CERTIFICATE_CA,
                                                         .common_name = "ca",
                                                         .expires_ms = NOW + 2 * YEAR});
    X509 *server = make(key, (struct vd_certificate_spec){.use = VD_CERTIFICATE_SERVER,
                                                          .common_name = "s",
                                                          .hosts = hosts,
                                                          .hosts_n = 3,
                                                          .expires_ms = NOW + 9 * YEAR,
                                                          .issuer = ca,
                                                          .issuer_key = ca_key});
    static const struct {
        int purpose;
        int64_t at_ms;
        bool good;
    } cases[] = {
        {X509_PURPOSE_SSL_SERVER, NOW + YEAR, true},
        {X509_PURPOSE_SSL_CLIENT, NOW + YEAR, false},
        {X509_PURPOSE_SSL_SERVER, NOW - 1000, false},
        {X509_PURPOSE_SSL_SERVER, NOW + 3 * YEAR, false}, /* not longer than its CA */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        X509_STORE *store = X509_STORE_new();
        X509_STORE_CTX *context = X509_STORE_CTX_new();
        X509_STORE_add_cert(store, ca);
        X509_STORE_CTX_init(context, store, server, NULL);
        X509_STORE_CTX_set_purpose(context, cases[i].purpose);
        X509_VERIFY_PARAM_set_time(X509_STORE_CTX_get0_param(context),
                                   (time_t)(cases[i].at_ms / 1000));
        assert_int_equal(X509_verify_cert(context) == 1, cases[i].good);
        X509_STORE_CTX_free(context);
        X509_STORE_free(store);
    }
    assert_int_equal(vd_certificate_expires_ms(server), NOW + 2 * YEAR);
    assert_int_equal(X509_check_host(server, "localhost", 0, 0, NULL), 1);
    assert_int_equal(X509_check_host(server, "a.example.com", 0, 0, NULL), 1);
    assert_int_equal(X509_check_ip_asc(server, "::1", 0), 1);
    assert_int_equal(X509_check_ip_asc(server, "127.0.0.1", 0), 0);
    assert_true(vd_certificate_has_hosts(server, hosts, 3));
    assert_false(vd_certificate_has_hosts(server, hosts, 2));
    assert_false(vd_certificate_has_hosts(server, (const char *[]){"localhost", "::1", "x"}, 3));
    assert_false(vd_certificate_has_hosts(ca, hosts, 3));
    X509_free(server);
    X509_free(ca);
    vd_signing_key_unref(ca_key);
    vd_signing_key_unref(key);
}

static void hosts_are_names_or_addresses(void **state)
{
    (void)state;
    static const struct {
        const char *host;
        bool valid;
    } cases[] = {
        {"localhost", true}, {"a.b-c.d", true},     {"10.0.0.1", true}, {"fe80::1", true},
        {"*.a.b", true},     {"_x.example", true},  {"", false},        {".", false},
        {"a..b", false},     {"a.", false},         {"-a", false},      {"a-", false},
        {"a b", false},      {"a,DNS:evil", false}, {"*", false},       {"a.*.b", false},
        {"::1%lo", false},   {"https://a", false},  {"a:80", false},    {"\xc3\xa9.de", false},
        {"a\nb", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (vd_certificate_host_is_valid(cases[i].host) != cases[i].valid)
            fail_msg("\"%s\"", cases[i].host);
    struct vd_signing_key *key = vd_signing_key_generate();
    struct vd_error error = {0};
    X509 *x = NULL;
    assert_code(vd_certificate_make(&x,
                                    &(struct vd_certificate_spec){.use = VD_CERTIFICATE_SERVER,
                                                                  .common_name = "s",
                                                                  .hosts = &cases[13].host,
                                                                  .hosts_n = 1,
                                                                  .key = key,
                                                                  .issuer_key = key},
                                    &error),
                VD_ERR_INVALID);
    assert_says(&error, "a,DNS:evil");
    assert_code(vd_certificate_from_pem(&x, VD_SLICE("rubbish"), &error), VD_ERR_INVALID);
    vd_signing_key_unref(key);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_become_the_user),
        cmocka_unit_test(odd_subjects),
        cmocka_unit_test(chains_verify_and_purposes_hold),
        cmocka_unit_test(hosts_are_names_or_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
