/* src/git/path_pattern.c: which paths a pattern matches, and how long that takes. */
#include "git/path_pattern.h"

#include <time.h>

#include "base/buf.h"
#include "base/limits.h"
#include "check.h"

static struct vd_path_pattern *pattern_of(const char *text)
{
    struct vd_path_pattern *p = NULL;
    struct vd_error error = {0};
    if (vd_path_pattern_new(&p, vd_slice_of(text), &error))
        fail_msg("%s: %s", text, error.text);
    return p;
}

static void check_matches(const char *text, const char *path, bool want)
{
    struct vd_path_pattern *p = pattern_of(text);
    if (vd_path_pattern_matches(p, vd_slice_of(path)) != want)
        fail_msg("%s %s %s", text, want ? "should match" : "should not match", path);
    vd_path_pattern_free(p);
}

static void patterns_match_whole_paths(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *path;
        bool want;
    } cases[] = {
        {"a.md", "a.md", true},
        {"a.md", "b/a.md", false},
        {"a.md", "a.md.md", false},
        {"a", "a/b", false},
        {"*.md", "a.md", true},
        {"*.md", ".md", true},
        {"*.md", "b/a.md", false},
        {"*", "", true},
        {"a*b*c", "abc", true},
        {"a*b*c", "aXbYcZc", true},
        {"a*b*c", "aXbY", false},
        {"products/*.md", "products/x.md", true},
        {"products/*.md", "products/deep/x.md", false},
        {"products/", "products/x.md", true},
        {"products/", "products/deep/er/x.md", true},
        {"products/", "products", false},
        {"products/", "products2/x.md", false},
        {"**", "a/b/c", true},
        {"**/x.md", "x.md", true},
        {"**/x.md", "a/x.md", true},
        {"**/x.md", "a/b/c/x.md", true},
        {"**/x.md", "a/bx.md", false},
        {"a/**/b", "a/b", true},
        {"a/**/b", "a/x/y/b", true},
        {"a/**/b", "ab", false},
        {"a/**/b", "a/xb", false},
        {"a/**/*.md", "a/x.md", true},
        {"a/**/*.md", "a/b/c/x.md", true},
        {"a/**/*.md", "a/b/c/x.yaml", false},
        {"a/**", "a/b/c", true},
        {"a/**", "a", false},
        {"**/**/a", "a", true},
        {"**/**/a", "x/y/a", true},
        {"**/drafts/", "drafts/x", true},
        {"**/drafts/", "a/b/drafts/c/x", true},
        {"**/drafts/", "a/xdrafts/x", false},
        {"**/a/**/b/*", "a/b/c", true},
        {"**/a/**/b/*", "x/a/y/a/z/b/c", true},
        {"**/a/**/b/*", "x/a/y/z/c", false},
        {"?", "a", true},
        {"?", "\xC3\xA9", true}, /* one character of two bytes */
        {"?", "ab", false},
        {"?", "/", false},
        {"?*?", "ab", true},
        {"?*?", "a", false},
        {"v[0-9].[!x]", "v1.a", true},
        {"v[0-9].[!x]", "v1.x", false},
        {"v[0-9].[^x]", "v1.\xE2\x82\xAC", true},
        {"v[0-9].[!x]", "vx.a", false},
        {"[]a]", "]", true},
        {"[a\\]b]", "]", true},
        {"[a-]", "-", true},
        {"[!a]", "/", false},
        {"\\*", "*", true},
        {"\\*", "a", false},
        {"release/*", "release/1.0", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_matches(cases[i].pattern, cases[i].path, cases[i].want);
}

static void wrong_patterns_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "is empty"},           {"/a", "an empty part"}, {"a//b", "an empty part"},
        {"a/**b", "stands alone"},  {"a**", "stands alone"}, {"[abc", "has no ]"},
        {"a\\", "behind the last"}, {"[z-a]", "rising"},     {"[\xC3\xA9]", "ASCII"},
        {"/", "an empty part"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_path_pattern *p = NULL;
        struct vd_error error = {0};
        int code = vd_path_pattern_new(&p, vd_slice_of(cases[i].text), &error);
        if (code != VD_ERR_INVALID || !strstr(error.text, cases[i].says))
            fail_msg("%s: got \"%s\"", cases[i].text, error.text);
    }
}

static void long_patterns_are_refused(void **state)
{
    (void)state;
    char text[VD_PATH_PATTERN_LEN_MAX + 1];
    struct vd_path_pattern *p = NULL;
    struct vd_error error = {0};
    memset(text, 'a', sizeof text);
    assert_int_equal(vd_path_pattern_new(&p, vd_slice(text, sizeof text), &error), VD_ERR_LIMIT);
    assert_int_equal(vd_path_pattern_new(&p, vd_slice(text, sizeof text - 5), &error), VD_OK);
    assert_true(vd_path_pattern_matches(p, vd_slice(text, sizeof text - 5)));
    assert_false(vd_path_pattern_matches(p, vd_slice(text, sizeof text - 6)));
    vd_path_pattern_free(p);
    memset(text, '?', sizeof text);
    assert_int_equal(vd_path_pattern_new(&p, vd_slice(text, sizeof text - 1), &error),
                     VD_ERR_LIMIT);
}

/* A backtracking matcher would not come back from this. */
static void a_match_is_linear(void **state)
{
    (void)state;
    struct vd_buf pattern = {0}, path = {0};
    while (pattern.n < 240)
        vd_buf_add_text(&pattern, pattern.n % 40 == 0 ? "**/" : "a*a/");
    vd_buf_add_text(&pattern, "b");
    while (path.n < 4000)
        vd_buf_add_text(&path, "aaaaaaaa/");
    struct vd_path_pattern *p = pattern_of(vd_buf_text(&pattern));
    clock_t begin = clock();
    for (int i = 0; i < 100; i++)
        assert_false(vd_path_pattern_matches(p, vd_buf_slice(&path)));
    assert_true(clock() - begin < 2 * CLOCKS_PER_SEC);
    vd_path_pattern_free(p);
    vd_buf_release(&pattern);
    vd_buf_release(&path);
}

/* The plain definition of a pattern, slow and short, for patterns of * ** ? and letters. */
static bool model(const char *p, const char *s)
{
    if (!*p)
        return !*s;
    if (p[0] == '*' && p[1] == '*' && p[2] == '/') {
        for (const char *t = s;;) {
            if (model(p + 3, t))
                return true;
            t = strchr(t, '/');
            if (!t++)
                return false;
        }
    }
    if (p[0] == '*' && p[1] == '*')
        return true;
    if (p[0] == '*')
        return model(p + 1, s) || (*s && *s != '/' && model(p, s + 1));
    return *s && (p[0] == '?' ? *s != '/' : *s == *p) && model(p + 1, s + 1);
}

static void check_against_model(const char *text, const char *path)
{
    struct vd_path_pattern *p = NULL;
    if (text[strlen(text) - 1] == '/' || strstr(text, "**/**") ||
        vd_path_pattern_new(&p, vd_slice_of(text), NULL))
        return;
    if (vd_path_pattern_matches(p, vd_slice_of(path)) != model(text, path))
        fail_msg("%s on %s: should be %d", text, path, model(text, path));
    vd_path_pattern_free(p);
}

static unsigned next_random(unsigned *seed)
{
    *seed = *seed * 1103515245u + 12345u;
    return *seed >> 16;
}

static void random_patterns_agree_with_the_definition(void **state)
{
    (void)state;
    static const char *const pieces[] = {"a", "b", "*", "?", "/", "/**/", "a"};
    static const char letters[] = "aab/";
    unsigned seed = 7;
    for (int round = 0; round < 20000; round++) {
        char path[16] = "";
        struct vd_buf text = {0};
        size_t n = 1 + next_random(&seed) % 6, m = next_random(&seed) % 10;
        for (size_t i = 0; i < n; i++)
            vd_buf_add_text(&text, pieces[next_random(&seed) % 7]);
        for (size_t i = 0; i < m; i++)
            path[i] = letters[next_random(&seed) % 4];
        check_against_model(vd_buf_text(&text), path);
        vd_buf_release(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_match_whole_paths),
        cmocka_unit_test(wrong_patterns_are_named),
        cmocka_unit_test(long_patterns_are_refused),
        cmocka_unit_test(a_match_is_linear),
        cmocka_unit_test(random_patterns_agree_with_the_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
