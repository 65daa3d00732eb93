/* src/cel/lib_strings.c, lib_format.c and lib_regex.c. */
#include "cel_check.h"

static const char *const strings[] = {
    "'hello'.contains('ell')",
    "'hello'.contains('')",
    "!'hello'.contains('x')",
    "'hello'.startsWith('he')",
    "'hello'.endsWith('lo')",
    "!'h'.endsWith('hh')",
    "'hello'.charAt(1) == 'e'",
    "'hello'.charAt(5) == ''",
    "'\xc3\xa4\xc3\xb6'.charAt(1) == '\xc3\xb6'",
    "'hello mellow'.indexOf('') == 0",
    "'hello mellow'.indexOf('ello') == 1",
    "'hello mellow'.indexOf('jello') == -1",
    "'hello mellow'.indexOf('ello', 2) == 7",
    "'\xc3\xa4.c'.indexOf('c') == 2",
    "'hello mellow'.lastIndexOf('ello') == 7",
    "'hello mellow'.lastIndexOf('ello', 6) == 1",
    "'hello mellow'.lastIndexOf('x') == -1",
    "'HeLLo \xc3\x84'.lowerAscii() == 'hello \xc3\x84'",
    "'HeLLo \xc3\xa4'.upperAscii() == 'HELLO \xc3\xa4'",
    "'  a b \\n\\t'.trim() == 'a b'",
    "'   '.trim() == ''",
    "'\\u2003a\\u3000'.trim() == 'a'",
    "'abc'.reverse() == 'cba'",
    "'\xc3\xa4x'.reverse() == 'x\xc3\xa4'",
    "'tacocat'.substring(4) == 'cat'",
    "'tacocat'.substring(0, 4) == 'taco'",
    "'tacocat'.substring(7) == ''",
    "'\xc3\xa4\xc3\xb6\xc3\xbc'.substring(1, 2) == '\xc3\xb6'",
    "'hello hello'.replace('he', 'we') == 'wello wello'",
    "'hello hello'.replace('he', 'we', 1) == 'wello hello'",
    "'hello'.replace('l', '') == 'heo'",
    "'ab'.replace('', '-') == '-a-b-'",
    "'ab'.replace('', '-', 2) == '-a-b'",
    "'ab'.replace('x', 'y') == 'ab'",
    "'hello hello'.replace('he', 'we', 0) == 'hello hello'",
    "'a b c'.split(' ') == ['a', 'b', 'c']",
    "'a b c'.split(' ', 2) == ['a', 'b c']",
    "'a b c'.split(' ', 0) == []",
    "'a b c'.split(' ', 1) == ['a b c']",
    "'a b c'.split(' ', -1) == ['a', 'b', 'c']",
    "'abc'.split('') == ['a', 'b', 'c']",
    "''.split(',') == ['']",
    "',a,'.split(',') == ['', 'a', '']",
    "['a', 'b'].join() == 'ab'",
    "['a', 'b', 'c'].join(', ') == 'a, b, c'",
    "[].join('x') == ''",
    "strings.quote('a\"b\\n') == '\"a\\\\\"b\\\\n\"'",
};

static const char *const formats[] = {
    "'%s'.format(['x']) == 'x'",
    "'%s and %s'.format(['a', 'b']) == 'a and b'",
    "'%d%%'.format([5]) == '5%'",
    "'%d'.format([-5]) == '-5'",
    "'%d'.format([5u]) == '5'",
    "'%.2f'.format([1.239]) == '1.24'",
    "'%f'.format([1.5]) == '1.500000'",
    "'%.1f'.format([2]) == '2.0'",
    "'%.3e'.format([1234.5]) == '1.234e+03' || '%.3e'.format([1234.5]) == '1.235e+03'",
    "'%b'.format([5]) == '101'",
    "'%b'.format([true]) == '1'",
    "'%x'.format([255]) == 'ff'",
    "'%X'.format([255]) == 'FF'",
    "'%x'.format(['ab']) == '6162'",
    "'%o'.format([8]) == '10'",
    "'%s'.format([[1, 'a', true]]) == '[1, a, true]'",
    "'%s'.format([{'a': 1}]) == '{a: 1}'",
    "'%s'.format([null]) == 'null'",
    "'%s'.format([1.5]) == '1.5'",
    "'%s'.format([duration('1h')]) == '3600s'",
    "'%s'.format([timestamp('2020-01-01T00:00:00Z')]) == '2020-01-01T00:00:00Z'",
    "'%s'.format([int]) == 'int'",
    "'no clause'.format([]) == 'no clause'",
};

static const char *const regexes[] = {
    "'abc'.matches('^a.c$')",
    "matches('abc', 'b')",
    "!'abc'.matches('^b')",
    "'a1b22'.find('[0-9]+') == '1'",
    "'abc'.find('x') == ''",
    "'a1b22'.findAll('[0-9]+') == ['1', '22']",
    "'a1b22c3'.findAll('[0-9]+', 2) == ['1', '22']",
    "'abc'.findAll('x') == []",
    "'abc'.findAll('') == ['', '', '', '']",
    "'aab'.findAll('a*') == ['aa', '']",
    "'abc'.matches(dyn('a') + 'b')",
    "'\xc3\xa4\xc3\xa4'.find('.$') == '\xc3\xa4'",
};

static void strings_are_changed_and_searched(void **state)
{
    assert_true_rows(*state, strings, NULL);
}

static void values_are_formatted(void **state)
{
    assert_true_rows(*state, formats, NULL);
}

static void regular_expressions_match(void **state)
{
    assert_true_rows(*state, regexes, NULL);
}

static void misuse_is_an_error(void **state)
{
    static const struct cel_case rows[] = {
        {"'abc'.charAt(4) == ''", "index out of range: 4"},
        {"'abc'.charAt(-1) == ''", "index out of range: -1"},
        {"'abc'.substring(4) == ''", "index out of range: 4"},
        {"'abc'.substring(2, 1) == ''", "invalid substring range. start: 2, end: 1"},
        {"'abc'.substring(0, 9) == ''", "index out of range: 9"},
        {"'abc'.indexOf('a', 9) == 0", "index out of range: 9"},
        {"'%d'.format(['a']) == ''", "error during formatting"},
        {"'%s'.format([]) == ''", "index out of range"},
        {"'%q'.format([1]) == ''", "unrecognized formatting clause"},
        {"'%'.format([1]) == ''", "unexpected end of format string"},
        {"'%.99999f'.format([1.0]) == ''", "precision is too large"},
        {"'a'.matches(dyn('['))", "error parsing regexp"},
        {"dyn(1).contains('a')", "no such overload"},
        {"[dyn(1)].join() == ''", "no such overload"},
    };
    assert_error_rows(*state, rows, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        arena_test(strings_are_changed_and_searched),
        arena_test(values_are_formatted),
        arena_test(regular_expressions_match),
        arena_test(misuse_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
