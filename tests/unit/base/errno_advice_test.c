/* What is advised when the operating system refuses. */
#include "check.h"

#include <errno.h>
#include <string.h>

#include "base/errno_advice.h"

static void what_can_be_mended_has_advice(void **state)
{
    static const struct {
        int number;
        const char *part;
    } cases[] = {
        {ENOENT, "check the path"}, {ENOTDIR, "not a folder"}, {EISDIR, "name a file"},
        {EACCES, "the right"},      {EROFS, "can be written"}, {ENOSPC, "make room"},
        {EMFILE, "ulimit"},         {ELOOP, "link"},           {EADDRINUSE, "another port"},
        {EADDRNOTAVAIL, "0.0.0.0"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text = vd_errno_advice(cases[i].number);
        assert_memory_equal(text, ": ", 2);
        assert_non_null(strstr(text, cases[i].part));
    }
}

static void the_rest_has_none(void **state)
{
    (void)state;
    assert_string_equal(vd_errno_advice(EIO), "");
    assert_string_equal(vd_errno_advice(0), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_can_be_mended_has_advice),
        cmocka_unit_test(the_rest_has_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
