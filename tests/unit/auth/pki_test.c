/* src/auth/pki.c and kubeconfig.c: the first start makes everything, later ones
 * keep it, and certificates are renewed in time. */
#include "auth/pki.h"

#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <string.h>
#include <unistd.h>

#include "auth/certificate.h"
#include "base/arena.h"
#include "base/base64.h"
#include "folder_check.h"
#include "json/yaml_read.h"

#define NOW INT64_C(1794735590000)
#define DAY INT64_C(86400000)

static struct vd_pki_state prepare_at(const char *folder, int64_t now_ms, const char *host)
{
    struct test_clock clock;
    struct vd_pki_state state = {0};
    struct vd_error error = {0};
    test_clock_init(&clock, now_ms);
    assert_ok(vd_pki_prepare(&(struct vd_pki_options){.folder = folder,
                                                      .hosts = &host,
                                                      .hosts_n = host ? 1 : 0,
                                                      .clock = &clock.clock},
                             &state, &error),
              &error);
    return state;
}

static int prepare_fails(const char *folder, int64_t now_ms, const char *host,
                         struct vd_error *error)
{
    struct test_clock clock;
    struct vd_pki_state state = {0};
    test_clock_init(&clock, now_ms);
    return vd_pki_prepare(
        &(struct vd_pki_options){
            .folder = folder, .hosts = &host, .hosts_n = host ? 1 : 0, .clock = &clock.clock},
        &state, error);
}

static X509 *certificate_of(const char *folder, const char *file)
{
    struct vd_error error = {0};
    X509 *x = NULL;
    char *pem = text_of(folder, file);
    assert_ok(vd_certificate_from_pem(&x, vd_slice_of(pem), &error), &error);
    free(pem);
    return x;
}

static void the_first_start_makes_everything(void **folder)
{
    struct vd_pki_state state = prepare_at(*folder, NOW, "vedette.example");
    assert_true(state.ca_made && state.server_made && state.admin_made && state.sa_made);
    assert_int_equal(state.ca_expires_ms, NOW + 3653 * DAY);
    assert_int_equal(state.server_expires_ms, NOW + 365 * DAY);
    static const struct {
        const char *file;
        int mode;
    } files[] = {
        {"pki", 0700},
        {"pki/ca.crt", 0644},
        {"pki/ca.key", 0600},
        {"pki/server.crt", 0644},
        {"pki/server.key", 0600},
        {"pki/admin.crt", 0644},
        {"pki/admin.key", 0600},
        {"pki/sa.key", 0600},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        assert_int_equal(mode_of(*folder, files[i].file), files[i].mode);

    X509 *ca = certificate_of(*folder, "pki/ca.crt");
    X509 *server = certificate_of(*folder, "pki/server.crt");
    assert_int_equal(X509_verify(server, X509_get0_pubkey(ca)), 1);
    assert_int_equal(X509_check_ca(ca), 1);
    assert_int_equal(X509_check_ca(server), 0);
    static const char *const names[] = {"localhost", "kubernetes", "kubernetes.default",
                                        "kubernetes.default.svc", "vedette.example"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(X509_check_host(server, names[i], 0, 0, NULL), 1);
    assert_int_equal(X509_check_ip_asc(server, "127.0.0.1", 0), 1);
    assert_int_equal(X509_check_ip_asc(server, "::1", 0), 1);
    X509_free(ca);
    X509_free(server);

    X509 *admin = certificate_of(*folder, "pki/admin.crt");
    struct vd_error error = {0};
    struct vd_user *user;
    assert_ok(vd_certificate_user(admin, &user, &error), &error);
    assert_slice(user->is.name, "admin");
    assert_true(vd_user_is_master(user));
    vd_user_unref(user);
    X509_free(admin);
}

static const char *const all_files[] = {"pki/ca.crt",     "pki/ca.key",    "pki/server.crt",
                                        "pki/server.key", "pki/admin.crt", "pki/admin.key",
                                        "pki/sa.key"};
enum { FILES = sizeof all_files / sizeof *all_files };

/* Which files differ from before, as a text of their numbers. */
static const char *changed(const char *folder, char *before[FILES], char out[FILES + 1])
{
    size_t n = 0;
    for (size_t i = 0; i < FILES; i++) {
        char *now = text_of(folder, all_files[i]);
        if (before[i] && strcmp(now, before[i]) != 0)
            out[n++] = (char)('0' + i);
        free(before[i]);
        before[i] = now;
    }
    out[n] = 0;
    return out;
}

static void later_starts_renew_only_what_is_due(void **folder)
{
    static const struct {
        int64_t day;
        const char *host, *changed;
    } steps[] = {
        {0, NULL, ""},    {1, NULL, ""},           {334, NULL, ""},        {336, NULL, "24"},
        {337, NULL, ""},  {338, "a.example", "2"}, {339, "a.example", ""}, {340, "10.1.2.3", "2"},
        {341, NULL, "2"}, {800, NULL, "24"},       {3600, NULL, "24"},
    };
    char *before[FILES] = {0}, room[FILES + 1];
    prepare_at(*folder, NOW, NULL);
    changed(*folder, before, room);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct vd_pki_state state = prepare_at(*folder, NOW + steps[i].day * DAY, steps[i].host);
        const char *got = changed(*folder, before, room);
        if (strcmp(got, steps[i].changed) != 0)
            fail_msg("day %d: changed %s, want %s", (int)steps[i].day, got, steps[i].changed);
        assert_int_equal(state.server_made, strchr(got, '2') != NULL);
        assert_int_equal(state.admin_made, strchr(got, '4') != NULL);
        assert_false(state.ca_made || state.sa_made);
        assert_true(state.server_expires_ms <= NOW + 3653 * DAY); /* not beyond the CA's */
    }
    struct vd_error error = {0};
    assert_code(prepare_fails(*folder, NOW + 3653 * DAY, NULL, &error), VD_ERR_EXPIRED);
    assert_says(&error, "move the folder pki away");
    for (size_t i = 0; i < FILES; i++)
        free(before[i]);
}

/* A crash between any two files: the next start completes the rest. */
static void missing_files_are_made_again(void **folder)
{
    static const struct {
        const char *file;
        const char *changed;
    } cases[] = {
        {"pki/server.crt", "2"}, {"pki/server.key", "23"}, {"pki/admin.crt", "4"},
        {"pki/admin.key", "45"}, {"pki/sa.key", "6"},
    };
    char *before[FILES] = {0}, room[FILES + 1];
    struct vd_buf path = {0};
    prepare_at(*folder, NOW, NULL);
    changed(*folder, before, room);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(unlink(path_in(&path, *folder, cases[i].file)), 0);
        prepare_at(*folder, NOW, NULL);
        assert_string_equal(changed(*folder, before, room), cases[i].changed);
    }
    /* With another CA, whether it has the old key or a new one, all is signed anew. */
    assert_int_equal(unlink(path_in(&path, *folder, "pki/ca.crt")), 0);
    assert_true(prepare_at(*folder, NOW + 1000, NULL).ca_made);
    assert_string_equal(changed(*folder, before, room), "024");
    assert_int_equal(unlink(path_in(&path, *folder, "pki/ca.crt")), 0);
    assert_int_equal(unlink(path_in(&path, *folder, "pki/ca.key")), 0);
    assert_true(prepare_at(*folder, NOW + 2000, NULL).ca_made);
    assert_string_equal(changed(*folder, before, room), "0124");
    for (size_t i = 0; i < FILES; i++)
        free(before[i]);
    vd_buf_release(&path);
}

/* A server's key and certificate from a CA of somebody else. */
static void make_foreign(struct vd_buf *certificate_pem, struct vd_buf *key_pem)
{
    static const char *const host = "old.example";
    struct vd_signing_key *ca_key = vd_signing_key_generate(), *key = vd_signing_key_generate();
    struct vd_certificate_spec spec = {.use = VD_CERTIFICATE_CA,
                                       .common_name = "Example Corp",
                                       .begins_ms = NOW,
                                       .expires_ms = NOW + 365 * DAY,
                                       .key = ca_key,
                                       .issuer_key = ca_key};
    struct vd_error error = {0};
    X509 *ca = NULL, *server = NULL;
    assert_ok(vd_certificate_make(&ca, &spec, &error), &error);
    spec.use = VD_CERTIFICATE_SERVER;
    spec.hosts = &host;
    spec.hosts_n = 1;
    spec.key = key;
    spec.issuer = ca;
    assert_ok(vd_certificate_make(&server, &spec, &error), &error);
    vd_certificate_add_pem(server, certificate_pem);
    vd_signing_key_add_pem(key, key_pem);
    X509_free(ca);
    X509_free(server);
    vd_signing_key_unref(ca_key);
    vd_signing_key_unref(key);
}

static void others_certificates_are_kept(void **folder)
{
    struct vd_buf foreign = {0}, foreign_key = {0}, path = {0};
    struct vd_error error = {0};
    char *before[FILES] = {0}, room[FILES + 1];
    make_foreign(&foreign, &foreign_key);
    prepare_at(*folder, NOW, NULL);
    const char *certificate = vd_buf_text(&foreign), *key = vd_buf_text(&foreign_key);
    write_text(*folder, "pki/server.crt", certificate);
    assert_code(prepare_fails(*folder, NOW, NULL, &error), VD_ERR_INVALID);
    assert_says(&error, "server.crt and server.key do not belong together");
    write_text(*folder, "pki/server.key", key);
    changed(*folder, before, room);
    prepare_at(*folder, NOW + 364 * DAY, "new.example");
    assert_string_equal(changed(*folder, before, room), "4");

    write_text(*folder, "pki/ca.key", key);
    assert_code(prepare_fails(*folder, NOW, NULL, &error), VD_ERR_INVALID);
    assert_says(&error, "ca.crt and ca.key do not belong together");
    assert_int_equal(unlink(path_in(&path, *folder, "pki/ca.key")), 0);
    prepare_at(*folder, NOW + 364 * DAY, NULL); /* nothing has to be signed */
    assert_int_equal(unlink(path_in(&path, *folder, "pki/admin.crt")), 0);
    assert_code(prepare_fails(*folder, NOW, NULL, &error), VD_ERR_NOT_FOUND);
    assert_says(&error, "no ca.key to sign admin.crt with");
    write_text(*folder, "pki/ca.crt", "rubbish");
    assert_code(prepare_fails(*folder, NOW, NULL, &error), VD_ERR_INVALID);
    assert_says(&error, "pki/ca.crt holds no certificate in PEM form: restore it");
    for (size_t i = 0; i < FILES; i++)
        free(before[i]);
    vd_buf_release(&foreign);
    vd_buf_release(&foreign_key);
    vd_buf_release(&path);
}

static void wrong_options_are_refused(void **folder)
{
    struct vd_error error = {0};
    struct vd_buf path = {0};
    assert_code(prepare_fails(*folder, NOW, "a,b", &error), VD_ERR_INVALID);
    assert_int_equal(mode_of(*folder, "pki"), -1);
    assert_code(prepare_fails(path_in(&path, *folder, "none"), NOW, NULL, &error),
                VD_ERR_NOT_FOUND);
    write_text(*folder, "file", "");
    assert_code(prepare_fails(path_in(&path, *folder, "file"), NOW, NULL, &error), VD_ERR_IO);
    struct test_clock clock;
    struct vd_pki_state state;
    test_clock_init(&clock, NOW);
    struct vd_pki_options options = {.folder = *folder, .skip_server = true, .clock = &clock.clock};
    assert_ok(vd_pki_prepare(&options, &state, &error), &error);
    assert_int_equal(mode_of(*folder, "pki/server.crt"), -1);
    assert_int_equal(state.server_expires_ms, 0);
    vd_buf_release(&path);
}

/* The text of a list's first entry: doc.LIST[0].ENTRY.KEY. */
static struct vd_slice entry(const struct vd_json *doc, const char *list, const char *name,
                             const char *key)
{
    const struct vd_json *first = vd_json_at(vd_json_get(doc, vd_slice_of(list)), 0);
    return vd_json_text(vd_json_dig(first, name, key, NULL));
}

static void the_kubeconfig_has_all_that_kubectl_needs(void **folder)
{
    static const char *const data[][3] = {
        {"clusters", "cluster", "certificate-authority-data"},
        {"users", "user", "client-certificate-data"},
        {"users", "user", "client-key-data"},
    };
    static const char *const files[] = {"pki/ca.crt", "pki/admin.crt", "pki/admin.key"};
    struct vd_arena arena = {0};
    struct vd_error error = {0};
    struct vd_json *doc = NULL;
    prepare_at(*folder, NOW, NULL);
    assert_ok(vd_pki_write_kubeconfig(*folder, "https://127.0.0.1:6443", NULL, NULL, &error),
              &error);
    assert_int_equal(mode_of(*folder, "admin.kubeconfig"), 0600);
    char *text = text_of(*folder, "admin.kubeconfig");
    assert_ok(vd_yaml_read(&arena, vd_slice_of(text), &doc, &error), &error);
    assert_slice(vd_json_text(vd_json_get(doc, VD_SLICE("kind"))), "Config");
    assert_slice(vd_json_text(vd_json_get(doc, VD_SLICE("current-context"))), "vedette");
    assert_slice(entry(doc, "clusters", "cluster", "server"), "https://127.0.0.1:6443");
    assert_slice(entry(doc, "contexts", "context", "cluster"), "vedette");
    assert_slice(entry(doc, "contexts", "context", "user"), "admin");
    for (size_t i = 0; i < 3; i++) {
        struct vd_buf bytes = {0};
        struct vd_slice value = entry(doc, data[i][0], data[i][1], data[i][2]);
        char *want = text_of(*folder, files[i]);
        assert_int_equal(vd_base64_decode(&bytes, value, VD_BASE64_STANDARD), 0);
        assert_slice(vd_buf_slice(&bytes), want);
        free(want);
        vd_buf_release(&bytes);
    }
    vd_arena_release(&arena);
    free(text);
}

static void the_kubeconfig_follows_the_server(void **folder)
{
    struct vd_arena arena = {0};
    struct vd_error error = {0};
    struct vd_json *doc = NULL;
    struct vd_buf path = {0};
    struct stat first, second;
    prepare_at(*folder, NOW, NULL);
    path_in(&path, *folder, "admin.kubeconfig");
    assert_ok(vd_pki_write_kubeconfig(*folder, "https://a:1", NULL, NULL, &error), &error);
    assert_int_equal(stat(vd_buf_text(&path), &first), 0);
    assert_ok(vd_pki_write_kubeconfig(*folder, "https://a:1", NULL, NULL, &error), &error);
    assert_int_equal(stat(vd_buf_text(&path), &second), 0);
    assert_true(first.st_ino == second.st_ino); /* the same text is not written again */
    assert_ok(vd_pki_write_kubeconfig(*folder, "https://a:2", "vd_x", "CA", &error), &error);
    char *text = text_of(*folder, "admin.kubeconfig");
    assert_ok(vd_yaml_read(&arena, vd_slice_of(text), &doc, &error), &error);
    assert_slice(entry(doc, "clusters", "cluster", "server"), "https://a:2");
    assert_slice(entry(doc, "clusters", "cluster", "certificate-authority-data"), "Q0E=");
    assert_slice(entry(doc, "users", "user", "token"), "vd_x");
    assert_slice(entry(doc, "users", "user", "client-key-data"), "");
    vd_arena_release(&arena);
    vd_buf_release(&path);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        folder_test(the_first_start_makes_everything),
        folder_test(later_starts_renew_only_what_is_due),
        folder_test(missing_files_are_made_again),
        folder_test(others_certificates_are_kept),
        folder_test(wrong_options_are_refused),
        folder_test(the_kubeconfig_has_all_that_kubectl_needs),
        folder_test(the_kubeconfig_follows_the_server),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
