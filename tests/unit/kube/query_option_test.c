/* Options of a query: what Kubernetes takes, and the words for what it does not. */
#include "check.h"

#include "kube/list_options.h"
#include "kube/query_option.h"

static struct vd_url_query query_of(struct vd_arena *a, const char *text)
{
    struct vd_url_query query;
    struct vd_error error;
    assert_ok(vd_url_query_parse(&query, a, vd_slice_of(text), &error), &error);
    return query;
}

static void every_word_but_two_is_a_yes(void **state)
{
    (void)state;
    static const struct {
        const char *query;
        bool given, truth;
    } cases[] = {
        {"", false, false},           {"wait=true", false, false},      {"watch", true, true},
        {"watch=", true, true},       {"watch=1", true, true},          {"watch=True", true, true},
        {"watch=no", true, true},     {"watch=00", true, true},         {"watch=0", true, false},
        {"watch=False", true, false}, {"watch=0&watch=1", true, false},
    };
    struct vd_arena a = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_url_query query = query_of(&a, cases[i].query);
        bool truth, given = vd_query_flag(&query, VD_SLICE("watch"), &truth);
        if (given != cases[i].given || truth != cases[i].truth)
            fail_msg("%s: %d %d", cases[i].query, given, truth);
    }
    vd_arena_release(&a);
}

static void numbers_are_those_of_go(void **state)
{
    (void)state;
    static const struct {
        const char *query;
        bool given;
        int64_t number;
        const char *why; /* NULL: it is one */
    } cases[] = {
        {"", false, 0, NULL},
        {"n=0", true, 0, NULL},
        {"n=-1", true, -1, NULL},
        {"n=%2b007", true, 7, NULL},
        {"n=9223372036854775807", true, INT64_MAX, NULL},
        {"n=-9223372036854775808", true, INT64_MIN, NULL},
        {"n=9223372036854775808", false, 0,
         "strconv.ParseInt: parsing \"9223372036854775808\": value out of range"},
        {"n=-9223372036854775809", false, 0,
         "strconv.ParseInt: parsing \"-9223372036854775809\": value out of range"},
        {"n=99999999999999999999999", false, 0,
         "strconv.ParseInt: parsing \"99999999999999999999999\": value out of range"},
        {"n", false, 0, "strconv.ParseInt: parsing \"\": invalid syntax"},
        {"n=-", false, 0, "strconv.ParseInt: parsing \"-\": invalid syntax"},
        {"n=abc", false, 0, "strconv.ParseInt: parsing \"abc\": invalid syntax"},
        {"n=1.5", false, 0, "strconv.ParseInt: parsing \"1.5\": invalid syntax"},
        {"n=%22", false, 0, "strconv.ParseInt: parsing \"\\\"\": invalid syntax"},
    };
    struct vd_arena a = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_url_query query = query_of(&a, cases[i].query);
        struct vd_error error = {0};
        bool given;
        int64_t number;
        int code = vd_query_number(&query, VD_SLICE("n"), &given, &number, &error);
        if (cases[i].why) {
            assert_int_equal(code, VD_ERR_INVALID);
            assert_string_equal(error.text, cases[i].why);
        } else {
            assert_ok(code, &error);
            assert_int_equal(given, cases[i].given);
            assert_int_equal(number, cases[i].number);
        }
    }
    vd_arena_release(&a);
}

static void versions_are_numbers(void **state)
{
    (void)state;
#define BAD(text, why)                                                                             \
    "invalid resource version: resourceVersion: Invalid value: \"" text                            \
    "\": strconv.ParseUint: parsing \"" text "\": " why
    static const struct {
        const char *query, *why;
    } cases[] = {
        {"resourceVersion=18446744073709551615", NULL},
        {"resourceVersion=18446744073709551616", BAD("18446744073709551616", "value out of range")},
        {"resourceVersion=1x", BAD("1x", "invalid syntax")},
        {"resourceVersion=-1", BAD("-1", "invalid syntax")},
    };
#undef BAD
    struct vd_arena a = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_url_query query = query_of(&a, cases[i].query);
        struct vd_error error = {0};
        bool given;
        uint64_t version;
        int code = vd_version_parse(&query, &given, &version, &error);
        if (cases[i].why)
            assert_string_equal(error.text, cases[i].why);
        assert_int_equal(code, cases[i].why ? VD_ERR_INVALID : VD_OK);
    }
    vd_arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_word_but_two_is_a_yes),
        cmocka_unit_test(numbers_are_those_of_go),
        cmocka_unit_test(versions_are_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
