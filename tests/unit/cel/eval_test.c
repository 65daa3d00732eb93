/* src/cel/eval.c, and with it the language: after the ideas of the cel-spec's conformance tests. */
#include "cel/program.h"

#include "cel_check.h"

static const char *const literals[] = {
    "true",
    "!false",
    "1 == 1",
    "-1 == 0 - 1",
    "0x1F == 31",
    "-0x1f == -31",
    "9223372036854775807 > 0",
    "-9223372036854775808 < 0",
    "18446744073709551615u > 0u",
    "0xFFu == 255u",
    "1.5 == 3.0 / 2.0",
    ".5 == 0.5",
    "1e3 == 1000.0",
    "1.5e-1 == 0.15",
    "-2.5 < 0.0",
    "'a' == \"a\"",
    "'''a''' == 'a'",
    "'''a'b''' == \"a'b\"",
    "\"\"\"line\nbreak\"\"\" == 'line\\nbreak'",
    "r'\\n' == '\\\\n'",
    "R\"\\d\" == '\\\\d'",
    "'\\x41' == 'A'",
    "'\\101' == 'A'",
    "'\\u00e4' == '\xc3\xa4'",
    "'\\U0001F431' == '\xf0\x9f\x90\xb1'",
    "'\\a\\b\\f\\n\\r\\t\\v\\\\\\?\\\"\\'\\`'.size() == 12",
    "b'abc' == bytes('abc')",
    "b'\\xff'.size() == 1",
    "b'\\303\\244' == bytes('\xc3\xa4')",
    "br'\\n'.size() == 2",
    "null == null",
    "[1, 2, 3].size() == 3",
    "[1, 2, 3,] == [1, 2, 3]",
    "[] == []",
    "{} == {}",
    "{'a': 1, 'b': 2}.size() == 2",
    "{'a': 1}.a == 1",
    "{1: 'x'}[1] == 'x'",
    "{true: 1}[true] == 1",
    "{1u: 2}[1u] == 2",
    "[[1], [2, 3]][1][0] == 2",
    "1 + 1 // a comment\n == 2",
};

static const char *const arithmetic[] = {
    "1 + 2 * 3 == 7",
    "(1 + 2) * 3 == 9",
    "7 / 2 == 3",
    "-7 / 2 == -3",
    "7 % 3 == 1",
    "-7 % 3 == -1",
    "2u * 3u == 6u",
    "7u % 4u == 3u",
    "1.0 + 0.5 == 1.5",
    "3.0 - 1.5 == 1.5",
    "1.0 / 0.0 == double('Infinity')",
    "-(-3) == 3",
    "- 5 + 10 == 5",
    "'a' + 'b' == 'ab'",
    "b'a' + b'b' == b'ab'",
    "[1] + [2, 3] == [1, 2, 3]",
    "([1] + [2] + [3])[2] == 3",
    "size([1, 2] + [3]) == 3",
    "([] + [1]).all(x, x == 1)",
    "10 - 3 - 2 == 5",
    "100 / 10 / 2 == 5",
};

static const char *const comparisons[] = {
    "1 < 2",
    "2 <= 2",
    "3 > 2u",
    "2u >= 2",
    "1 < 1.5",
    "1.5 > 1",
    "dyn(1) == dyn(1.0)",
    "dyn(1) == dyn(1u)",
    "dyn(1u) == dyn(1.0)",
    "dyn(1) != dyn(1.5)",
    "dyn(1) != dyn('1')",
    "-1 < 1u",
    "18446744073709551615u > -1",
    "9007199254740993 > 9007199254740992.0",
    "'a' < 'b'",
    "'abc' < 'abd'",
    "'a' < 'aa'",
    "b'a' < b'b'",
    "false < true",
    "!(double('NaN') == double('NaN'))",
    "!(double('NaN') < 1.0)",
    "[1, 2] == [1, 2]",
    "[1, 2] != [2, 1]",
    "[1.0, 2.0] == [1.0, 2.0]",
    "{'a': 1, 'b': 2} == {'b': 2, 'a': 1}",
    "{'a': 1} != {'a': 2}",
    "type(1) == int",
    "type(1u) == uint",
    "type(1.0) == double",
    "type('') == string",
    "type(b'') == bytes",
    "type(true) == bool",
    "type(null) == null_type",
    "type([]) == list",
    "type({}) == map",
    "type(type(1)) == type",
    "type(duration('1s')) == google.protobuf.Duration",
    "type(timestamp('2020-01-01T00:00:00Z')) == google.protobuf.Timestamp",
    "int != string",
};

static const char *const logic[] = {
    "true && true",
    "!(true && false)",
    "false || true",
    "true || 1 / 0 == 1",
    "1 / 0 == 1 || true",
    "!(false && 1 / 0 == 1)",
    "!(1 / 0 == 1 && false)",
    "true ? true : false",
    "(1 > 2 ? 'a' : 'b') == 'b'",
    "true ? 1 == 1 : 1 / 0 == 1",
    "false ? 1 / 0 == 1 : true",
    "1 == 2 ? false : 2 == 2 ? true : false",
    "true || false && false",
    "!true == false",
    "1 in [1, 2]",
    "!(3 in [1, 2])",
    "'a' in {'a': 1}",
    "!('b' in {'a': 1})",
    "1u in [1u]",
    "dyn(1.0) in [1, 2]",
};

static const char *const macros[] = {
    "has({'a': 1}.a)",
    "!has({'a': 1}.b)",
    "[1, 2, 3].all(x, x > 0)",
    "![1, 2, 3].all(x, x > 1)",
    "[].all(x, false)",
    "[1, 2, 3].exists(x, x == 2)",
    "![1, 2, 3].exists(x, x == 5)",
    "![].exists(x, true)",
    "[1, 2, 3].exists_one(x, x == 2)",
    "![1, 2, 2].exists_one(x, x == 2)",
    "[1, 2, 3].map(x, x * 2) == [2, 4, 6]",
    "[1, 2, 3].map(x, x > 1, x * 2) == [4, 6]",
    "[1, 2, 3].filter(x, x > 1) == [2, 3]",
    "{'a': 1, 'b': 2}.all(k, k in ['a', 'b'])",
    "{'a': 1, 'b': 2}.exists(k, k == 'b')",
    "{'a': 1}.map(k, k + '!') == ['a!']",
    "{'a': 1, 'b': 2}.filter(k, k > 'a') == ['b']",
    "[[1, 2], [3]].all(l, l.all(x, x > 0))",
    "[1, 2].all(x, [3, 4].all(y, x < y))",
    "[1, 2, 3].filter(x, x > 1).map(x, x * 10) == [20, 30]",
    "[0, 1].exists(x, 1 / x == 1)",
    "![0, 1].all(x, 1 / x > 1)",
    "[1, 2].all(i, v, v == i + 1)",
    "{'a': 1}.all(k, v, k == 'a' && v == 1)",
    "{'a': 1}.exists(k, v, v == 1)",
    "[5, 5].existsOne(i, v, i == 1)",
    "[1, 2].transformList(i, v, i * v) == [0, 2]",
    "[1, 2].transformList(i, v, v > 1, v) == [2]",
    "{'a': 1}.transformMap(k, v, v + 1) == {'a': 2}",
    "[1, 2, 3].map(x, [x, x]).size() == 3",
};

static const char *const conversions[] = {
    "int('42') == 42",
    "int('-7') == -7",
    "int(3.9) == 3",
    "int(-3.9) == -3",
    "int(7u) == 7",
    "int(timestamp('1970-01-01T00:01:00Z')) == 60",
    "uint(5) == 5u",
    "uint('9') == 9u",
    "uint(3.7) == 3u",
    "double(3) == 3.0",
    "double('2.5') == 2.5",
    "double(2u) == 2.0",
    "string(42) == '42'",
    "string(7u) == '7'",
    "string(true) == 'true'",
    "string(1.5) == '1.5'",
    "string(1000000.0) == '1e+06'",
    "string(0.1) == '0.1'",
    "string(-2.0) == '-2'",
    "string(123456.75) == '123456.75'",
    "string(b'abc') == 'abc'",
    "string(duration('90s')) == '90s'",
    "string(duration('1h1ms')) == '3600.001s'",
    "string(timestamp('2020-02-29T12:00:00.5Z')) == '2020-02-29T12:00:00.5Z'",
    "bytes('\xc3\xa4').size() == 2",
    "bool('true') && !bool('false')",
    "dyn('a') == 'a'",
    "size('\xc3\xa4\xc3\xb6') == 2",
    "b'ab'.size() == 2",
};

static void literals_mean_what_they_say(void **state)
{
    assert_true_rows(*state, literals, NULL);
}

static void arithmetic_follows_the_types(void **state)
{
    assert_true_rows(*state, arithmetic, NULL);
}

static void values_compare_by_value(void **state)
{
    assert_true_rows(*state, comparisons, NULL);
}

static void logic_passes_errors_over(void **state)
{
    assert_true_rows(*state, logic, NULL);
}

static void macros_walk_lists_and_maps(void **state)
{
    assert_true_rows(*state, macros, NULL);
}

static void values_convert(void **state)
{
    assert_true_rows(*state, conversions, NULL);
}

static void errors_say_what_happened(void **state)
{
    static const struct cel_case rows[] = {
        {"1 / 0 == 1", "division by zero"},
        {"1 % 0 == 1", "modulus by zero"},
        {"1u / 0u == 1u", "division by zero"},
        {"9223372036854775807 + 1 > 0", "integer overflow"},
        {"-9223372036854775808 - 1 > 0", "integer overflow"},
        {"-(-9223372036854775808) > 0", "integer overflow"},
        {"9223372036854775807 * 2 > 0", "integer overflow"},
        {"-9223372036854775808 / -1 > 0", "integer overflow"},
        {"0u - 1u > 0u", "unsigned integer overflow"},
        {"[1][1] == 1", "index out of bounds: 1"},
        {"[1][-1] == 1", "index out of bounds: -1"},
        {"{'a': 1}.b == 1", "no such key: b"},
        {"{'a': 1}['b'] == 1", "no such key: b"},
        {"int('x') == 1", "strconv.ParseInt"},
        {"int('9223372036854775808') == 1", "strconv.ParseInt"},
        {"int(1e30) == 1", "integer out of range"},
        {"uint(-1) == 1u", "unsigned integer out of range"},
        {"double('x') == 1.0", "strconv.ParseFloat"},
        {"bool('yes')", "strconv.ParseBool"},
        {"dyn(1) + dyn('a') == 1", "no such overload"},
        {"dyn(1) && true", "no such overload"},
        {"dyn('a') < dyn(1)", "no such overload"},
        {"!dyn(1)", "no such overload"},
        {"dyn(1).all(x, true)", "no such overload"},
        {"[1, 2].all(x, 1 / 0 == x)", "division by zero"},
        {"[0].map(x, 1 / x) == []", "division by zero"},
        {"[0].exists_one(x, 1 / x == 1)", "division by zero"},
        {"{'a': 1, 'a': 2}.a == 1", "Failed with repeated key"},
        {"string(b'\\xff') == ''", "invalid UTF-8 in bytes"},
        {"has(dyn(1).a)", "no such overload"},
        {"false || 1 / 0 == 1", "division by zero"},
        {"1 / 0 == 1 ? true : true", "division by zero"},
    };
    assert_error_rows(*state, rows, NULL);
}

#define DOCUMENT                                                                                   \
    "{\"name\":\"x\",\"n\":3,\"d\":1.5,\"big\":9007199254740993,\"t\":true,\"nothing\":null,"      \
    "\"list\":[1,2,3],\"map\":{\"a\":\"1\",\"b-c\":\"2\"},\"deep\":{\"er\":{\"est\":[{\"v\":7}]}}" \
    "}"

static void json_is_reached_as_values(void **state)
{
    static const char *const rows[] = {
        "self.name == 'x'",
        "self.n == 3",
        "self.n + 1 == 4",
        "self.d == 1.5",
        "self.big == 9007199254740993",
        "self.t",
        "self.nothing == null",
        "type(self.n) == int",
        "type(self.d) == double",
        "self.list == [1, 2, 3]",
        "self.list[2] == 3",
        "self.list.all(x, x > 0)",
        "size(self.list) == 3",
        "self.map['b-c'] == '2'",
        "self.map.a == '1'",
        "has(self.map.a) && !has(self.map.zzz)",
        "'a' in self.map",
        "self.map.all(k, self.map[k] != '')",
        "self.deep.er.est[0].v == 7",
        "self.deep == {'er': {'est': [{'v': 7}]}}",
        "self['name'] == 'x'",
        "self.list + [4] == [1, 2, 3, 4]",
        "self.?name.orValue('y') == 'x'",
        "self.?missing.orValue('y') == 'y'",
        "self.?deep.er.est[0].v == optional.of(7)",
        "self.list[?5] == optional.none()",
        "self.list[?1].value() == 2",
        "self.map[?'zz'].hasValue() == false",
        "[?self.?name, ?self.?missing] == ['x']",
        "{?'a': self.?missing, 'b': 1} == {'b': 1}",
        "self.?deep.optMap(d, has(d.er)).value()",
        "self.?missing.optMap(d, true).orValue(false) == false",
        "self.?deep.optFlatMap(d, d.?er).hasValue()",
        "optional.of(1).or(optional.of(2)).value() == 1",
        "optional.none().or(optional.of(2)).value() == 2",
        "!optional.ofNonZeroValue('').hasValue()",
        "optional.ofNonZeroValue('a').value() == 'a'",
    };
    assert_true_rows(*state, rows, DOCUMENT);
}

static void long_lists_stay_linear(void **state)
{
    struct vd_buf text = {0};
    vd_buf_add_text(&text, "{\"l\":[0");
    for (int i = 1; i < 20000; i++)
        vd_buf_addf(&text, ",%d", i);
    vd_buf_add_text(&text, "],\"m\":{\"k0\":0");
    for (int i = 1; i < 20000; i++)
        vd_buf_addf(&text, ",\"k%d\":%d", i, i);
    vd_buf_add_text(&text, "}}");
    static const char *const rows[] = {
        "self.l.all(i, self.l[i] == i)",
        "self.m.all(k, self.m[k] >= 0)",
        "self.l.all(i, self.l[i] == self.m['k' + string(i)])",
        "self.l == self.l",
        "self.m == self.m",
    };
    assert_true_rows(*state, rows, vd_buf_text(&text));
    vd_buf_release(&text);
}

static void a_run_ends_at_its_limits(void **state)
{
    struct vd_buf text = {0};
    uint64_t cost;
    vd_buf_add_text(&text, "{\"l\":[0");
    for (int i = 1; i < 2000; i++)
        vd_buf_addf(&text, ",%d", i);
    vd_buf_add_text(&text, "],\"s\":\"");
    for (int i = 0; i < 100000; i++)
        vd_buf_add_char(&text, 'a');
    vd_buf_add_text(&text, "\"}");
    static const char *const rows[] = {
        "self.l.all(x, self.l.all(y, x + y >= 0))",
        "self.s.replace('', self.s).size() > 0",
        "self.l.map(x, self.l).all(x, self.l.map(y, self.l) != [])",
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct vd_cel_value v = cel_eval(*state, rows[i], vd_buf_text(&text), &cost);
        assert_int_equal(v.kind, VD_CEL_ERROR);
        assert_slice(v.s, "operation cancelled: actual cost limit exceeded");
    }
    vd_buf_release(&text);
}

/* Costs are part of the contract with Kubernetes: figures that its own tests pin. */
static void costs_are_those_of_kubernetes(void **state)
{
    static const struct {
        const char *expression;
        uint64_t cost;
    } rows[] = {
        {"self.a == self.b", 5},
        {"type(self.a) == int", 4},
        {"double(5) < 10.0", 1},
        {"has(self.o.b)", 2},
        {"!has(self.o.zz)", 3},
        {"self.s.startsWith('Rook')", 4},
        {"self.s.matches('^[^0-9]*$')", 8},
        {"self.s.charAt(3) == 'k'", 4},
        {"self.s.indexOf('o') == 1", 4},
        {"self.s.replace(' ', 'x') == 'Rookxtakesx'", 7},
        {"self.s.split(' ') == ['Rook', 'takes', 'q']", 6},
        {"self.s.substring(5) == 'takes q'", 5},
        {"self.s in ['Pending', 'Available']", 2},
        {"1 in self.three", 5},
        {"self.three[0] in self.three", 8},
        {"!(0 in self.three)", 6},
        {"self.m.all(k, self.m[k] > 0)", 17},
        {"self.m.exists_one(k, self.m[k] == 2)", 14},
        {"size(self.m.filter(k, self.m[k] > 1)) == 1", 26},
        {"self.lm.all(m, m.k.startsWith('a'))", 21},
        {"self.lm.all(m, !has(m.v2) || m.v2 == 'z')", 21},
        {"self.lm.exists(m, m.k.endsWith('1'))", 13},
        {"self.lm.exists_one(m, m.k == 'a3')", 15},
        {"!self.lm.all(m, m.k.endsWith('1'))", 18},
        {"!self.lm.exists(m, m.v == 'x')", 25},
        {"size(self.lm.filter(m, m.k == 'a1')) == 1", 27},
        {"self.lm.map(m, m.v).exists(v, v == 'b1')", 55},
        {"self.lm.exists(m, has(m.v2) && m.v2 == 'z')", 21},
        {"self.lm.exists(m, m.v2 == 'z')", 24},
        {"!self.lm.all(m, m.v2 != 'z')", 22},
        {"self.array.all(e, e > 0)", 43},
        {"self.array.exists(e, e > 2)", 36},
        {"self.array.exists_one(e, e > 4)", 22},
        {"size(self.array.filter(e, e%2 == 0)) == 3", 68},
        {"self.array.map(e, e * 20).filter(e, e > 50).exists(e, e == 60)", 194},
    };
    static const char document[] =
        "{\"a\":1,\"b\":1,\"o\":{\"b\":1},\"s\":\"Rook takes q\",\"three\":[1,2,3],"
        "\"m\":{\"b\":1,\"d\":2},\"array\":[1,1,2,2,3,3,4,5],"
        "\"lm\":[{\"k\":\"a1\",\"v\":\"b1\"},{\"k\":\"a2\",\"v\":\"b2\"},"
        "{\"k\":\"a3\",\"v\":\"b3\",\"v2\":\"z\"}]}";
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t cost = 0;
        cel_eval(*state, rows[i].expression, document, &cost);
        if (cost != rows[i].cost)
            fail_msg("%s: cost %llu, want %llu", rows[i].expression, (unsigned long long)cost,
                     (unsigned long long)rows[i].cost);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        arena_test(literals_mean_what_they_say),   arena_test(arithmetic_follows_the_types),
        arena_test(values_compare_by_value),       arena_test(logic_passes_errors_over),
        arena_test(macros_walk_lists_and_maps),    arena_test(values_convert),
        arena_test(errors_say_what_happened),      arena_test(json_is_reached_as_values),
        arena_test(long_lists_stay_linear),        arena_test(a_run_ends_at_its_limits),
        arena_test(costs_are_those_of_kubernetes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
