/* src/json/plain_number.c: numbers as every client can read them. */
#include "json/plain_number.h"

#include "json_check.h"

static void whole_numbers_are_written_as_such(void **state)
{
    static const char *const cases[][2] = {
        {"15", "15"},
        {"15.0", "15"},
        {"1e2", "100"},
        {"-2.50e1", "-25"},
        {"1.5", "1.5"},
        {"9223372036854775807.0", "9223372036854775807"},
        {"9223372036854775808", "9223372036854775808"},
        {"1e19", "1e19"},
        {"1e-999", "1e-999"},
        {"{\"a\":[{\"b\":1.0},\"1.0\",null,true],\"c\":{\"d\":2e0}}",
         "{\"a\":[{\"b\":1},\"1.0\",null,true],\"c\":{\"d\":2}}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_json *doc = json_of(*state, cases[i][0]);
        struct vd_error error;
        assert_ok(vd_json_plain_numbers(*state, doc, &error), &error);
        assert_json(doc, cases[i][1]);
    }
}

static void numbers_that_nobody_can_hold_are_refused(void **state)
{
    static const char *const cases[] = {"1e999", "-1e999", "[{\"a\":1e400}]",
                                        "1E400000000000000000000"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_error error;
        assert_code(vd_json_plain_numbers(*state, json_of(*state, cases[i]), &error),
                    VD_ERR_INVALID);
        assert_says(&error, "beyond the range of doubles");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        arena_test(whole_numbers_are_written_as_such),
        arena_test(numbers_that_nobody_can_hold_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
