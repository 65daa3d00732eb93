/* src/kinds/pattern.cc: what matches, and what is no pattern. */
#include "kinds/pattern.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_match_anywhere_unless_anchored),
        cmocka_unit_test(bad_patterns_are_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
