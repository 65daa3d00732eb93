/* Which known word a mistyped one is taken for. */
#include "check.h"

#include "base/near_miss.h"

static void the_nearest_word_is_found(void **state)
{
    static const char *const words[] = {"listen", "tls-listen", "log.level", "window.age"};
    static const struct {
        const char *typed;
        const char *best;
    } cases[] = {
        {"lisen", "listen"},          {"lsiten", "listen"}, {"tls-lisen", "tls-listen"},
        {"log.levle", "log.level"},   {"xyzzy", NULL},      {"", NULL},
        {"window.aeg", "window.age"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_near_miss near = vd_near_miss(cases[i].typed);
        for (size_t k = 0; k < sizeof words / sizeof *words; k++)
            vd_near_miss_try(&near, words[k]);
        if (!cases[i].best)
            assert_null(near.best);
        else {
            assert_non_null(near.best);
            assert_string_equal(near.best, cases[i].best);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nearest_word_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
