/* src/base/utf8.c: strict UTF-8, at its edges. */
#include "base/utf8.h"

#include <string.h>

#include "check.h"

static void only_well_formed_sequences_are_valid(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        bool valid;
    } cases[] = {
        {"", true},
        {"plain ascii, more than eight bytes", true},
        {"\x7f", true},
        {"\xc2\x80", true},         /* U+0080 */
        {"\xdf\xbf", true},         /* U+07FF */
        {"\xe0\xa0\x80", true},     /* U+0800 */
        {"\xed\x9f\xbf", true},     /* U+D7FF */
        {"\xee\x80\x80", true},     /* U+E000 */
        {"\xef\xbf\xbf", true},     /* U+FFFF */
        {"\xf0\x90\x80\x80", true}, /* U+10000 */
        {"\xf4\x8f\xbf\xbf", true}, /* U+10FFFF */
        {"12345678\xc3\xa4", true},
        {"\x80", false}, /* a tail alone */
        {"\xbf", false},
        {"\xc0\x80", false},         /* overlong NUL */
        {"\xc1\xbf", false},         /* overlong U+007F */
        {"\xe0\x9f\xbf", false},     /* overlong U+07FF */
        {"\xf0\x8f\xbf\xbf", false}, /* overlong U+FFFF */
        {"\xed\xa0\x80", false},     /* U+D800, a surrogate */
        {"\xed\xbf\xbf", false},     /* U+DFFF */
        {"\xf4\x90\x80\x80", false}, /* U+110000 */
        {"\xf5\x80\x80\x80", false},
        {"\xf8\x88\x80\x80\x80", false},
        {"\xfe", false},
        {"\xff", false},
        {"\xc2", false}, /* cut short */
        {"\xe1\x80", false},
        {"\xf1\x80\x80", false},
        {"\xc2\x41", false}, /* a head without its tail */
        {"\xe1\x80\x41", false},
        {"\xf1\x80\x80\x41", false},
        {"12345678\xff", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (vd_utf8_is_valid(vd_slice_of(cases[i].bytes)) != cases[i].valid)
            fail_msg("case %zu is wrong", i);
    }
}

static void every_character_round_trips(void **state)
{
    (void)state;
    for (uint32_t code = 0; code <= 0x10ffff; code++) {
        if (code == 0xd800)
            code = 0xe000;
        char out[4];
        size_t n = vd_utf8_put(code, out);
        assert_int_equal(vd_utf8_len(out, out + n), n);
        assert_true(n == 1 || vd_utf8_len(out, out + n - 1) == 0);
    }
}

static void a_cut_never_splits_a_character(void **state)
{
    (void)state;
    struct vd_slice text = VD_SLICE("a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
    static const size_t want[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 10};
    for (size_t n = 0; n < 12; n++)
        assert_int_equal(vd_utf8_cut(text, n).n, want[n]);
}

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
        cmocka_unit_test(only_well_formed_sequences_are_valid),
        cmocka_unit_test(every_character_round_trips),
        cmocka_unit_test(a_cut_never_splits_a_character),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
