/* src/base/pattern.cc: what matches, and what is no pattern. */
#include "base/pattern.h"

#include <string.h>

#include "check.h"

static bool matches(const char *pattern, const char *text, size_t n)
{
    char why[64] = "";
    struct vd_pattern *p = vd_pattern_new(pattern, strlen(pattern), why, sizeof why);
    if (!p)
        fail_msg("%s: %s", pattern, why);
    bool found = vd_pattern_matches(p, text, n);
    vd_pattern_free(p);
    return found;
}

static void patterns_match_anywhere_unless_anchored(void **state)
{
    (void)state;
    assert_true(matches("b", "abc", 3));
    assert_false(matches("^b", "abc", 3));
    assert_true(matches("", "", 0));
    assert_true(matches("^$", NULL, 0));
    assert_false(matches("^a$", "a\nb", 3));    /* one line, as in Go */
    assert_true(matches("^.$", "\xc3\xa4", 2)); /* characters, not bytes */
    assert_true(matches("^\\d+\\x00$", "12\0", 3));
    assert_true(matches("(?i)^HELLO$", "hello", 5));
}

static void repetitions_make_a_pattern_large(void **state)
{
    char why[64];
    struct vd_pattern *one = vd_pattern_new("[ab]c", 5, why, sizeof why);
    struct vd_pattern *many = vd_pattern_new("([ab]c){500}", 12, why, sizeof why);
    (void)state;
    assert_true(vd_pattern_size(one) > 0 && vd_pattern_size(one) < 20);
    assert_true(vd_pattern_size(many) >= 1000);
    vd_pattern_free(one);
    vd_pattern_free(many);
}

static void bad_patterns_are_explained(void **state)
{
    static const char *const bad[] = {"(", "a**", "[b-a]", "(?=a)", "\\1", "a{1001}", "\xff"};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char why[32] = "";
        assert_null(vd_pattern_new(bad[i], strlen(bad[i]), why, sizeof why));
        assert_true(why[0] && strlen(why) < sizeof why);
    }
    vd_pattern_free(NULL);
}

static void a_match_is_found_from_a_place_on(void **state)
{
    (void)state;
    char why[64];
    struct vd_pattern *p = vd_pattern_new("[0-9]+", 6, why, sizeof why);
    size_t at = 0, len = 0;
    assert_non_null(p);
    assert_true(vd_pattern_find(p, "ab12c345", 8, 0, &at, &len));
    assert_int_equal(at, 2);
    assert_int_equal(len, 2);
    assert_true(vd_pattern_find(p, "ab12c345", 8, 4, &at, &len));
    assert_int_equal(at, 5);
    assert_int_equal(len, 3);
    assert_false(vd_pattern_find(p, "ab12c345", 8, 8, &at, &len));
    vd_pattern_free(p);
    p = vd_pattern_new("^b", 2, why, sizeof why);
    assert_false(vd_pattern_find(p, "ab", 2, 1, &at, &len)); /* the text begins at its beginning */
    vd_pattern_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_match_anywhere_unless_anchored),
        cmocka_unit_test(a_match_is_found_from_a_place_on),
        cmocka_unit_test(repetitions_make_a_pattern_large),
        cmocka_unit_test(bad_patterns_are_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
