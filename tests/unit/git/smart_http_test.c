/* src/git/smart_http.c: requests of git clients, and how answers begin. */
#include "git/smart_http.h"

#include "check.h"

/* Reads the request that these lines are the head of. */
static enum vd_smart_http_status read_head(struct vd_git_request *out, const char *line,
                                           const char *headers, struct vd_error *error)
{
    static struct vd_buf text; /* the request borrows from it */
    static struct vd_http_head head;
    vd_buf_reset(&text);
    vd_buf_addf(&text, "%s HTTP/1.1\r\nHost: x\r\n%s\r\n", line, headers);
    vd_http_head_init(&head);
    assert_int_equal(vd_http_head_parse(&head, text.p, text.n), VD_HTTP_DONE);
    return vd_smart_http_read(out, &head, error);
}

static void paths_of_repositories_are_known_and_no_others(void **state)
{
    (void)state;
    static const char *const good[] = {"/shop/catalog.git",           "/shop/catalog.git/",
                                       "/shop/catalog.git/info/refs", "/a/b.c.git/HEAD",
                                       "/a/b.git/objects/pack/x",     "/openapi/x.git/info/refs"};
    static const char *const bad[] = {"",
                                      "/",
                                      "/shop",
                                      "/shop/",
                                      "/shop/catalog",
                                      "/shop/.git/info/refs",
                                      "//catalog.git/info/refs",
                                      "/api/v1.git/info/refs",
                                      "/apis/x.git/info/refs",
                                      "/metrics/x.git",
                                      "/a/b/c.git/info/refs",
                                      "/api/v1/namespaces/default/configmaps/x.git",
                                      "shop/catalog.git"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(vd_smart_http_has_path(vd_slice_of(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(vd_smart_http_has_path(vd_slice_of(bad[i])));
}

static void a_path_without_its_suffix_is_told(void **state)
{
    (void)state;
    static const struct vd_slice query = VD_SLICE("service=git-upload-pack");
    struct vd_git_request r;
    struct vd_error error;
    assert_true(vd_smart_http_lacks_suffix(VD_SLICE("/shop/catalog/info/refs"), query));
    assert_false(vd_smart_http_lacks_suffix(VD_SLICE("/shop/catalog.git/info/refs"), query));
    assert_false(vd_smart_http_lacks_suffix(VD_SLICE("/shop/catalog/info/refs"), VD_SLICE("")));
    assert_false(vd_smart_http_lacks_suffix(VD_SLICE("/api/v1/info/refs"), query));
    assert_false(vd_smart_http_lacks_suffix(VD_SLICE("/a/b/c/info/refs"), query));
    assert_false(vd_smart_http_lacks_suffix(VD_SLICE("/shop//info/refs"), query));
    assert_false(vd_smart_http_lacks_suffix(VD_SLICE(""), query));
    assert_int_equal(
        read_head(&r, "GET /shop/catalog/info/refs?service=git-upload-pack", "", &error),
        VD_SMART_HTTP_NOT_FOUND);
    assert_true(r.lacks_suffix);
    assert_non_null(strstr(error.text, "/shop/catalog.git"));
}

static void the_four_requests_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *line, *headers;
        enum vd_git_service service;
        bool advertises;
        const char *type, *begin;
    } cases[] = {
        {"GET /shop/catalog.git/info/refs?service=git-upload-pack", "", VD_GIT_UPLOAD_PACK, true,
         "application/x-git-upload-pack-advertisement", "001e# service=git-upload-pack\n0000"},
        {"GET /shop/catalog.git/info/refs?x=y&service=git-receive-pack", "", VD_GIT_RECEIVE_PACK,
         true, "application/x-git-receive-pack-advertisement",
         "001f# service=git-receive-pack\n0000"},
        {"POST /shop/catalog.git/git-upload-pack",
         "Content-Type: application/x-git-upload-pack-request\r\n", VD_GIT_UPLOAD_PACK, false,
         "application/x-git-upload-pack-result", ""},
        {"POST /shop/catalog.git/git-receive-pack",
         "Content-Type: application/x-git-receive-pack-request\r\n", VD_GIT_RECEIVE_PACK, false,
         "application/x-git-receive-pack-result", ""},
    };
    struct vd_git_request r;
    struct vd_error error;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_buf begin = {0};
        assert_int_equal(read_head(&r, cases[i].line, cases[i].headers, &error), VD_SMART_HTTP_OK);
        assert_slice(r.namespace, "shop");
        assert_slice(r.name, "catalog");
        assert_int_equal(r.service, cases[i].service);
        assert_int_equal(r.advertises, cases[i].advertises);
        assert_slice(vd_smart_http_type(&r), cases[i].type);
        vd_smart_http_begin(&begin, &r);
        assert_slice(vd_buf_slice(&begin), cases[i].begin);
        vd_buf_release(&begin);
    }
}

static void the_version_of_the_protocol_is_the_highest_that_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        unsigned version;
    } cases[] = {{"", 0},
                 {"Git-Protocol: version=2\r\n", 2},
                 {"Git-Protocol: version=1\r\n", 1},
                 {"Git-Protocol: version=1:version=2:other=x\r\n", 2},
                 {"Git-Protocol: version=3\r\n", 0},
                 {"Git-Protocol: version=22\r\n", 0},
                 {"Git-Protocol: version=2;rm -rf\r\n", 0},
                 {"Git-Protocol: version=\r\n", 0}};
    struct vd_git_request r;
    struct vd_error error;
    struct vd_buf begin = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(read_head(&r, "GET /a/b.git/info/refs?service=git-upload-pack",
                                   cases[i].header, &error),
                         VD_SMART_HTTP_OK);
        assert_int_equal(r.version, cases[i].version);
    }
    assert_int_equal(read_head(&r, "GET /a/b.git/info/refs?service=git-upload-pack",
                               "Git-Protocol: version=2\r\n", &error),
                     VD_SMART_HTTP_OK);
    vd_smart_http_begin(&begin, &r);
    assert_int_equal(begin.n, 0);
    assert_int_equal(read_head(&r, "GET /a/b.git/info/refs?service=git-receive-pack",
                               "Git-Protocol: version=2\r\n", &error),
                     VD_SMART_HTTP_OK);
    assert_int_equal(r.version, 0);
}

static void a_compressed_body_is_noticed(void **state)
{
    (void)state;
    struct vd_git_request r;
    struct vd_error error;
#define POST "POST /a/b.git/git-upload-pack"
#define TYPE "Content-Type: application/x-git-upload-pack-request\r\n"
    assert_int_equal(read_head(&r, POST, TYPE "Content-Encoding: gzip\r\n", &error),
                     VD_SMART_HTTP_OK);
    assert_true(r.is_gzip);
    assert_int_equal(read_head(&r, POST, TYPE "Content-Encoding: identity\r\n", &error),
                     VD_SMART_HTTP_OK);
    assert_false(r.is_gzip);
    assert_int_equal(read_head(&r, POST, TYPE "Content-Encoding: br\r\n", &error),
                     VD_SMART_HTTP_TYPE);
}

static void what_is_refused_is_told_why(void **state)
{
    (void)state;
    static const struct {
        const char *line, *headers;
        enum vd_smart_http_status status;
        const char *says;
    } cases[] = {
        {"GET /a/b.git/info/refs", "", VD_SMART_HTTP_FORBIDDEN, "dumb HTTP protocol"},
        {"GET /a/b.git/info/refs?service=git-upload-archive", "", VD_SMART_HTTP_FORBIDDEN,
         "no service \"git-upload-archive\""},
        {"POST /a/b.git/info/refs?service=git-upload-pack", "", VD_SMART_HTTP_METHOD, "GET only"},
        {"HEAD /a/b.git/info/refs?service=git-upload-pack", "", VD_SMART_HTTP_METHOD, "GET only"},
        {"GET /a/b.git/git-upload-pack", "", VD_SMART_HTTP_METHOD, "POST only"},
        {"POST /a/b.git/git-upload-pack", "", VD_SMART_HTTP_TYPE,
         "must be application/x-git-upload-pack-request"},
        {"POST /a/b.git/git-receive-pack", TYPE, VD_SMART_HTTP_TYPE,
         "must be application/x-git-receive-pack-request"},
        {"GET /a/b.git", "", VD_SMART_HTTP_NOT_FOUND, "git clone"},
        {"GET /a/b.git/HEAD", "", VD_SMART_HTTP_NOT_FOUND, "dumb"},
        {"GET /a/b.git/objects/info/packs", "", VD_SMART_HTTP_NOT_FOUND, "dumb"},
        {"GET /a/b.git/config", "", VD_SMART_HTTP_NOT_FOUND, "nothing at this path"},
        {"GET /a/b.git/../c.git/HEAD", "", VD_SMART_HTTP_NOT_FOUND, "nothing at this path"},
    };
    struct vd_git_request r;
    struct vd_error error;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(read_head(&r, cases[i].line, cases[i].headers, &error), cases[i].status);
        assert_non_null(strstr(error.text, cases[i].says));
        assert_slice(r.name, "b");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_of_repositories_are_known_and_no_others),
        cmocka_unit_test(a_path_without_its_suffix_is_told),
        cmocka_unit_test(the_four_requests_are_read),
        cmocka_unit_test(the_version_of_the_protocol_is_the_highest_that_is_named),
        cmocka_unit_test(a_compressed_body_is_noticed),
        cmocka_unit_test(what_is_refused_is_told_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
