/* src/git/remote_url.c: which remotes may be followed. */
#include "git/remote_url.h"

#include "check.h"

static void urls_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text, *user, *host, *port, *path;
        enum vd_remote_scheme scheme;
    } good[] = {
        {"https://example.com/a.git", "", "example.com", "", "/a.git", VD_REMOTE_HTTPS},
        {"http://127.0.0.1:8080/a/b.git", "", "127.0.0.1", "8080", "/a/b.git", VD_REMOTE_HTTP},
        {"ssh://git@host_1:22/~x/y", "git", "host_1", "22", "/~x/y", VD_REMOTE_SSH},
        {"https://[::1]:443/x", "", "::1", "443", "/x", VD_REMOTE_HTTPS},
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct vd_remote_url url;
        struct vd_error error;
        assert_int_equal(vd_remote_url_read(&url, vd_slice_of(good[i].text), &error), VD_OK);
        assert_int_equal(url.scheme, good[i].scheme);
        assert_slice(url.user, good[i].user);
        assert_slice(url.host, good[i].host);
        assert_slice(url.port, good[i].port);
        assert_slice(url.path, good[i].path);
    }
}

static void other_forms_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "/etc",
        "file:///etc",
        "ext::sh -c touch% x",
        "git://example.com/a",
        "HTTPS://example.com/a",
        "git@example.com:a.git",
        "https://",
        "https:///a",
        "https://example.com",
        "https://example.com/",
        "https://me:secret@example.com/a",
        "https://me@example.com/a",
        "https://example.com:0/a",
        "https://example.com:65536/a",
        "https://example.com:/a",
        "https://example.com:x/a",
        "https://-oProxyCommand=x/a",
        "ssh://-oProxyCommand=x/a",
        "ssh://-x@host/a",
        "ssh://a@b@c/a",
        "https://example.com/a b",
        "https://example.com/a\n",
        "https://exa\tmple.com/a",
        "https://[::1/a",
        "https://[::1]x/a",
        "https://[-x]/a",
        "https://ex ample/a",
        "https://ex%61mple/a",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct vd_remote_url url;
        struct vd_error error;
        if (vd_remote_url_read(&url, vd_slice_of(bad[i]), &error) != VD_ERR_INVALID)
            fail_msg("\"%s\" is taken", bad[i]);
    }
}

static bool allows(const char *words, const char *text)
{
    struct vd_remote_policy policy = {0};
    struct vd_remote_url url;
    struct vd_error error;
    struct vd_slice rest = vd_slice_of(words), word;
    while (vd_slice_cut(&rest, ',', &word))
        assert_int_equal(vd_remote_policy_add(&policy, word, &error), VD_OK);
    assert_int_equal(vd_remote_url_read(&url, vd_slice_of(text), &error), VD_OK);
    int code = vd_remote_url_check(&url, &policy, &error);
    if (code)
        assert_int_equal(code, VD_ERR_FORBIDDEN);
    return code == VD_OK;
}

static void the_policy_decides(void **state)
{
    (void)state;
    static const char usual[] = "https,ssh,http-loopback";
    struct vd_remote_policy policy = {0};
    struct vd_error error;
    assert_true(allows(usual, "https://example.com/a"));
    assert_true(allows(usual, "ssh://example.com/a"));
    assert_true(allows(usual, "http://127.0.0.1/a"));
    assert_true(allows(usual, "http://127.9.9.9:80/a"));
    assert_true(allows(usual, "http://localhost:8080/a"));
    assert_true(allows(usual, "http://[::1]/a"));
    assert_false(allows(usual, "http://example.com/a"));
    assert_false(allows(usual, "http://127.0.0.1.example.com/a"));
    assert_false(allows(usual, "http://localhost.example.com/a"));
    assert_false(allows(usual, "http://10.0.0.1/a"));
    assert_true(allows("http", "http://example.com/a"));
    assert_false(allows("http", "https://example.com/a"));
    assert_false(allows("https", "http://127.0.0.1/a"));
    assert_int_equal(vd_remote_policy_add(&policy, VD_SLICE("file"), &error), VD_ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(urls_are_read),
        cmocka_unit_test(other_forms_are_refused),
        cmocka_unit_test(the_policy_decides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
