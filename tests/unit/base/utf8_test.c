/* src/base/utf8.c: what is a character and what is not, at every boundary. */
#include "base/utf8.h"

#include "check.h"

static void characters_are_read_at_every_boundary(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t n; /* 0: not a character */
        uint32_t rune;
    } cases[] = {
        {"a", 1, 'a'},
        {"\x7f", 1, 0x7f},
        {"\xc2\x80", 2, 0x80},
        {"\xdf\xbf", 2, 0x7ff},
        {"\xe0\xa0\x80", 3, 0x800},
        {"\xed\x9f\xbf", 3, 0xd7ff},
        {"\xee\x80\x80", 3, 0xe000},
        {"\xef\xbf\xbf", 3, 0xffff},
        {"\xf0\x90\x80\x80", 4, 0x10000},
        {"\xf4\x8f\xbf\xbf", 4, 0x10ffff},
        {"\x80", 0, 0},             /* nothing to continue */
        {"\xc0\x80", 0, 0},         /* overlong */
        {"\xc1\xbf", 0, 0},         /* overlong */
        {"\xe0\x9f\xbf", 0, 0},     /* overlong */
        {"\xf0\x8f\xbf\xbf", 0, 0}, /* overlong */
        {"\xed\xa0\x80", 0, 0},     /* a surrogate */
        {"\xed\xbf\xbf", 0, 0},     /* a surrogate */
        {"\xf4\x90\x80\x80", 0, 0}, /* beyond Unicode */
        {"\xf5\x80\x80\x80", 0, 0}, /* beyond Unicode */
        {"\xff", 0, 0},
        {"\xc3", 0, 0},         /* cut short */
        {"\xe2\x82", 0, 0},     /* cut short */
        {"\xf0\x9f\x98", 0, 0}, /* cut short */
        {"\xc3g", 0, 0},        /* not continued */
        {"\xe2\x82g", 0, 0},    /* not continued */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t rune = 0;
        assert_int_equal(vd_utf8_read(vd_slice_of(cases[i].text), &rune), cases[i].n);
        assert_int_equal(rune, cases[i].rune);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(characters_are_read_at_every_boundary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
