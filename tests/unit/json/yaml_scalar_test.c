/* src/json/yaml_scalar.c: Kubernetes' reading of YAML 1.1 scalars. */
#include "json/yaml_scalar.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "check.h"

/* A scalar as text that tells types apart: "int 5", "bool true", "str x". */
static void scalar_show(const struct vd_yaml_scalar *s, struct vd_buf *out)
{
    switch (s->type) {
    case VD_YAML_NULL:
        vd_buf_add_text(out, "null");
        break;
    case VD_YAML_BOOL:
        vd_buf_addf(out, "bool %s", s->truth ? "true" : "false");
        break;
    case VD_YAML_INT:
        vd_buf_addf(out, "int %" PRId64, s->integer);
        break;
    case VD_YAML_UINT:
        vd_buf_addf(out, "uint %" PRIu64, s->natural);
        break;
    case VD_YAML_FLOAT:
        vd_buf_addf(out, "float %.17g", s->real);
        break;
    case VD_YAML_STRING:
        vd_buf_addf(out, "str %.*s", VD_FMT(s->text));
        break;
    }
}

static void check_resolves(const char *text, const char *want)
{
    struct vd_buf got = {0};
    struct vd_yaml_scalar s = vd_yaml_scalar_resolve(vd_slice_of(text));
    scalar_show(&s, &got);
    if (strcmp(vd_buf_text(&got), want) != 0)
        fail_msg("%s: got \"%s\", want \"%s\"", text, vd_buf_text(&got), want);
    vd_buf_release(&got);
}

static void words_are_nulls_and_booleans_in_three_spellings(void **state)
{
    (void)state;
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL"};
    static const char *const trues[] = {"y",  "Y",  "yes",  "Yes",  "YES", "on",
                                        "On", "ON", "true", "True", "TRUE"};
    static const char *const falses[] = {"n",   "N",   "no",    "No",    "NO",   "off",
                                         "Off", "OFF", "false", "False", "FALSE"};
    static const char *const strings[] = {"nULL", "nuLL", "yEs",    "oN",     "tRUE", "oFF", "TRue",
                                          "~~",   "yess", "truely", "falsee", "Nil",  "none"};
    for (size_t i = 0; i < sizeof nulls / sizeof *nulls; i++)
        check_resolves(nulls[i], "null");
    for (size_t i = 0; i < sizeof trues / sizeof *trues; i++)
        check_resolves(trues[i], "bool true");
    for (size_t i = 0; i < sizeof falses / sizeof *falses; i++)
        check_resolves(falses[i], "bool false");
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) {
        char want[32];
        snprintf(want, sizeof want, "str %s", strings[i]);
        check_resolves(strings[i], want);
    }
}

static const struct {
    const char *text, *want;
} numbers[] = {
    {"0", "int 0"},
    {"-0", "int 0"},
    {"+0", "int 0"},
    {"00", "int 0"},
    {"685230", "int 685230"},
    {"+685_230", "int 685230"},
    {"1__0_", "int 10"},
    {"-12", "int -12"},
    {"02472256", "int 685230"},
    {"-017", "int -15"},
    {"0o17", "int 15"},
    {"0O17", "int 15"},
    {"0x_0A_74_AE", "int 685230"},
    {"0X1f", "int 31"},
    {"-0x10", "int -16"},
    {"0b1010_0111_0100_1010_1110", "int 685230"},
    {"-0b101010", "int -42"},
    {"9223372036854775807", "int 9223372036854775807"},
    {"-9223372036854775808", "int -9223372036854775808"},
    {"-0b1000000000000000000000000000000000000000000000000000000000000000",
     "int -9223372036854775808"},
    {"9223372036854775808", "uint 9223372036854775808"},
    {"18446744073709551615", "uint 18446744073709551615"},
    {"0xFFFFFFFFFFFFFFFF", "uint 18446744073709551615"},
    {"+9223372036854775808", "float 9.2233720368547758e+18"},
    {"18446744073709551616", "float 1.8446744073709552e+19"},
    {"-9223372036854775809", "float -9.2233720368547758e+18"},
    {"0x10000000000000000", "str 0x10000000000000000"},
    {"08", "float 8"},
    {"09.5", "float 9.5"},
    {"0777777777777777777777777", "float 7.7777777777777776e+23"},
    {"0.1", "float 0.10000000000000001"},
    {".5", "float 0.5"},
    {"-.5", "float -0.5"},
    {"+.5e1", "float 5"},
    {".5_0", "float 0.5"},
    {"1.", "float 1"},
    {"1e3", "float 1000"},
    {"1E+3", "float 1000"},
    {"123456e1", "float 1234560"},
    {"685.230_15e+03", "float 685230.15000000002"},
    {"-0.0", "float -0"},
    {"1e-999", "float 0"},
    {".inf", "float inf"},
    {"+.INF", "float inf"},
    {"-.Inf", "float -inf"},
    {".NaN", "float nan"},
    {".NAN", "float nan"},
    {"1e999", "str 1e999"},
    {"-1e999", "str -1e999"},
    {".", "str ."},
    {"..", "str .."},
    {".e3", "str .e3"},
    {"._5", "str ._5"},
    {"_1", "str _1"},
    {"+", "str +"},
    {"-", "str -"},
    {"-_", "str -_"},
    {"+-1", "str +-1"},
    {"0x", "str 0x"},
    {"0b2", "str 0b2"},
    {"0o8", "str 0o8"},
    {"0x1.8p1", "str 0x1.8p1"},
    {"1e", "str 1e"},
    {"1e+", "str 1e+"},
    {"1.2.3", "str 1.2.3"},
    {"10.0.0.1", "str 10.0.0.1"},
    {"1:30", "str 1:30"},
    {"190:20:30.15", "str 190:20:30.15"},
    {"2001-12-14", "str 2001-12-14"},
    {"2001-12-14T21:59:43Z", "str 2001-12-14T21:59:43Z"},
    {"inf", "str inf"},
    {"nan", "str nan"},
    {"Infinity", "str Infinity"},
    {"50cent_of_dollar", "str 50cent_of_dollar"},
    {"-b_c", "str -b_c"},
    {"100m", "str 100m"},
    {"<<", "str <<"},
    {"=", "str ="},
};

static void numbers_resolve_as_go_yaml_does(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        check_resolves(numbers[i].text, numbers[i].want);
}

static void numbers_may_be_longer_than_the_inline_buffer(void **state)
{
    (void)state;
    char text[400];
    memset(text, '0', sizeof text);
    memcpy(text + sizeof text - 4, "7.5", 4);
    check_resolves(text, "float 7.5");
    memset(text, '_', sizeof text);
    text[0] = '4';
    memcpy(text + sizeof text - 2, "2", 2);
    check_resolves(text, "int 42");
    memset(text, '9', sizeof text - 1);
    struct vd_yaml_scalar s = vd_yaml_scalar_resolve(vd_slice_of(text));
    assert_int_equal(s.type, VD_YAML_STRING); /* beyond a double */
}

static void nul_bytes_make_a_string(void **state)
{
    (void)state;
    assert_int_equal(vd_yaml_scalar_resolve(vd_slice("1\0", 2)).type, VD_YAML_STRING);
    assert_int_equal(vd_yaml_scalar_resolve(vd_slice("\0", 1)).type, VD_YAML_STRING);
    assert_int_equal(vd_yaml_scalar_resolve(vd_slice("~\0", 2)).type, VD_YAML_STRING);
    assert_false(vd_yaml_scalar_is_special(vd_slice("2001-01-01\0", 11)));
    assert_false(vd_yaml_scalar_is_special(vd_slice("\0", 1)));
}

#define CORE "tag:yaml.org,2002:"

static void explicit_tags_are_honoured(void **state)
{
    (void)state;
    static const struct {
        const char *tag, *text, *want, *says; /* exactly one of the last two */
    } cases[] = {
        {CORE "str", "12", "str 12", NULL},
        {CORE "str", "", "str ", NULL},
        {CORE "int", "0x10", "int 16", NULL},
        {CORE "int", "1.5", NULL, "the value is not a !!int"},
        {CORE "int", "x", NULL, "the value is not a !!int"},
        {CORE "float", "1", "float 1", NULL},
        {CORE "float", "18446744073709551615", "float 1.8446744073709552e+19", NULL},
        {CORE "float", "1.5", "float 1.5", NULL},
        {CORE "float", "1e999", "float inf", NULL},
        {CORE "float", "error", NULL, "the value is not a !!float"},
        {CORE "bool", "Yes", "bool true", NULL},
        {CORE "bool", "1", NULL, "is not a !!bool"},
        {CORE "null", "", "null", NULL},
        {CORE "null", "~", "null", NULL},
        {CORE "null", "x", NULL, "is not a !!null"},
        {CORE "timestamp", "2015-01-01", "str 2015-01-01", NULL},
        {CORE "timestamp", "today", NULL, "is not a !!timestamp"},
        {CORE "binary", "aGVsbG8=", "str hello", NULL},
        {CORE "binary", "aGVs\n bG8h\n", "str hello!", NULL},
        {CORE "binary", "", "str ", NULL},
        {CORE "binary", "gIGC", NULL, "not UTF-8"},
        {CORE "binary", "==", NULL, "not base64"},
        {CORE "binary", "aGVsbG8", NULL, "not base64"},
        {CORE "binary", "aG=sbG8=", NULL, "not base64"},
        {CORE "binary", "a===", NULL, "not base64"},
        {CORE "binary", "====", NULL, "not base64"},
        {CORE "binary", "aGV*", NULL, "not base64"},
        {CORE "binary", "7aCA", NULL, "not UTF-8"},     /* a surrogate */
        {CORE "binary", "wIA=", NULL, "not UTF-8"},     /* over-long */
        {CORE "binary", "9JCAgA==", NULL, "not UTF-8"}, /* beyond U+10FFFF */
        {CORE "binary", "8J+YgA==", "str \xF0\x9F\x98\x80", NULL},
        {CORE "set", "x", NULL, "the tag has no meaning"},
        {"!thing", "x", NULL, "the tag has no meaning"},
        {"str", "x", NULL, "the tag has no meaning"},
    };
    struct vd_arena arena = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_error error = {0};
        struct vd_yaml_scalar s;
        struct vd_buf got = {0};
        int code = vd_yaml_scalar_resolve_tagged(vd_slice_of(cases[i].tag),
                                                 vd_slice_of(cases[i].text), &arena, &s, &error);
        assert_int_equal(code, cases[i].want ? VD_OK : VD_ERR_INVALID);
        if (cases[i].want) {
            scalar_show(&s, &got);
            assert_string_equal(vd_buf_text(&got), cases[i].want);
        } else {
            assert_says(&error, cases[i].says);
        }
        vd_buf_release(&got);
    }
    vd_arena_release(&arena);
}

static void keys_become_text_as_in_kubernetes(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"a", "a"},
        {"y", "true"},
        {"off", "false"},
        {"0x1F", "31"},
        {"-5", "-5"},
        {"18446744073709551615", "18446744073709551615"},
        {"1.10", "1.1"},
        {"1.0", "1"},
        {"0.0", "0"},
        {"-0.0", "-0"},
        {"100000.0", "100000"},
        {"1e6", "1e+06"},
        {"1234567.5", "1.2345675e+06"},
        {"0.0001", "0.0001"},
        {"0.00001", "1e-05"},
        {"3.14159265358979", "3.1415927"},
        {"1e21", "1e+21"},
        {"16777216.0", "1.6777216e+07"},
        {"123456.7", "123456.7"},
        {".inf", ".inf"},
        {"-.inf", "-.inf"},
        {".nan", ".nan"},
        {"1e39", ".inf"},
        {"2001-12-14", "2001-12-14"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_error error = {0};
        struct vd_buf got = {0};
        struct vd_yaml_scalar s = vd_yaml_scalar_resolve(vd_slice_of(cases[i].text));
        assert_ok(vd_yaml_scalar_key(&s, &got, &error), &error);
        assert_string_equal(vd_buf_text(&got), cases[i].want);
        vd_buf_release(&got);
    }
    struct vd_error error = {0};
    struct vd_buf got = {0};
    struct vd_yaml_scalar null = vd_yaml_scalar_resolve(VD_SLICE("~"));
    assert_code(vd_yaml_scalar_key(&null, &got, &error), VD_ERR_INVALID);
    assert_says(&error, "null is not a key");
}

static const char *const special[] = {
    "",
    "~",
    "null",
    "y",
    "No",
    "OFF",
    "1",
    "-1",
    "+1",
    "1_000",
    "0x1F",
    "0o17",
    "017",
    "08",
    "1e999",
    ".5",
    "1.",
    "1e3",
    ".inf",
    "-.INF",
    ".NaN",
    "1:30",
    "12:30:45.5",
    "-1:2",
    "1_0:30",
    "2001-12-14",
    "2001-1-2",
    "2001-12-14 1:2:3",
    "2001-12-14t01:02:03Z",
    "<<",
    "=",
    "0x10000000000000000000000",
    "1_",
    "0x_",
    "-0b_",
    "0b1",
    "2001-12-14 \t 21:59",
};

static const char *const ordinary[] = {
    "a",
    "1.2.3",
    "10.0.0.1",
    "100m",
    "1Gi",
    "v1",
    "nope",
    "1:60:x",
    "a:b",
    "-x",
    ".x",
    "2001-12",
    "2001-12-14-x",
    "2001-12-14 x",
    "20011-12-14",
    "1:",
    ":1",
    "0xg",
    "0b2x",
    "e3",
    "<<<",
    "==",
    "1h",
    "12:3a",
    "0x",
    "0b",
    "2001-12-14Tea",
    "_1",
};

static void text_that_any_yaml_reader_takes_for_something_else_is_special(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        if (!vd_yaml_scalar_is_special(vd_slice_of(special[i])))
            fail_msg("\"%s\" should be special", special[i]);
    for (size_t i = 0; i < sizeof ordinary / sizeof *ordinary; i++)
        if (vd_yaml_scalar_is_special(vd_slice_of(ordinary[i])))
            fail_msg("\"%s\" should not be special", ordinary[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_nulls_and_booleans_in_three_spellings),
        cmocka_unit_test(numbers_resolve_as_go_yaml_does),
        cmocka_unit_test(numbers_may_be_longer_than_the_inline_buffer),
        cmocka_unit_test(nul_bytes_make_a_string),
        cmocka_unit_test(explicit_tags_are_honoured),
        cmocka_unit_test(keys_become_text_as_in_kubernetes),
        cmocka_unit_test(text_that_any_yaml_reader_takes_for_something_else_is_special),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
