/* The option `timeout`: durations are taken, and for all else there are Go's words. */
#include "request/timeout_option.h"

#include "check.h"

static struct vd_url_query query_of(struct vd_arena *a, const char *text)
{
    struct vd_url_query query;
    struct vd_error error;
    assert_ok(vd_url_query_parse(&query, a, vd_slice_of(text), &error), &error);
    return query;
}

static void timeouts_are_durations(void **state)
{
    (void)state;
    static const struct {
        const char *query;
        const char *why; /* behind "... the request URL - time: "; NULL: it is one */
    } cases[] = {
        {"", NULL},
        {"timeout=", NULL},
        {"timeout=32s", NULL},
        {"timeout=0", NULL},
        {"timeout=-1.5h2m.5ms", NULL},
        {"timeout=10%c2%b5s", NULL},
        {"timeout=abc", "invalid duration \"abc\""},
        {"timeout=-", "invalid duration \"-\""},
        {"timeout=.s", "invalid duration \".s\""},
        {"timeout=30", "missing unit in duration \"30\""},
        {"timeout=1m30", "missing unit in duration \"1m30\""},
        {"timeout=1.2.3s", "missing unit in duration \"1.2.3s\""},
        {"timeout=2d", "unknown unit \"d\" in duration \"2d\""},
        {"timeout=1h2 m", "unknown unit \" m\" in duration \"1h2 m\""},
        {"timeout=9999999h", "invalid duration \"9999999h\""},
        {"timeout=%22%0a", "invalid duration \"\\\"\\n\""},
    };
    static const char head[] = "invalid timeout specified in the request URL - time: ";
    struct vd_arena a = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_url_query query = query_of(&a, cases[i].query);
        struct vd_error error = {0};
        int code = vd_timeout_option_check(&query, &error);
        if (!cases[i].why) {
            assert_ok(code, &error);
            continue;
        }
        assert_int_equal(code, VD_ERR_INVALID);
        assert_memory_equal(error.text, head, sizeof head - 1);
        assert_string_equal(error.text + sizeof head - 1, cases[i].why);
    }
    vd_arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timeouts_are_durations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
