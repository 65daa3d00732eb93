/* src/watch/label.c and excerpt.c: which labels are valid, and the sentences for those that are
 * not. */
#include "watch/label.h"

#include "check.h"
#include "watch/excerpt.h"

/* Valid texts of 63 and 253 bytes, to which a test can append one more. */
#define NAME_63     "a23456789-b23456789-c23456789-d23456789-e23456789-f23456789-g23"
#define LABEL_50    "a23456789-b23456789-c23456789-d23456789-e23456789"
#define PREFIX_253  LABEL_50 "." LABEL_50 "." LABEL_50 "." LABEL_50 "." LABEL_50 ".xyz"
#define NAME_RULE   "name part must consist of alphanumeric characters, '-', '_' or '.', and must "
#define PREFIX_RULE "prefix part a lowercase RFC 1123 subdomain must consist of lower case "

static void keys_are_qualified_names(void **state)
{
    (void)state;
    static const struct {
        const char *key, *wrong; /* NULL: nothing */
    } cases[] = {
        {"a", NULL},
        {"A", NULL},
        {"7", NULL},
        {"in", NULL},
        {"a.b_c-d", NULL},
        {"a--__..b", NULL},
        {NAME_63, NULL},
        {"example.com/a", NULL},
        {"a-b.c--d.e/F", NULL},
        {"1/2", NULL},
        {PREFIX_253 "/" NAME_63, NULL},
        {"", "name part must be non-empty; name part must consist"},
        {NAME_63 "x", "name part must be no more than 63 characters"},
        {"-a", NAME_RULE},
        {"a-", NAME_RULE},
        {"_a", NAME_RULE},
        {"a.", NAME_RULE},
        {"a b", NAME_RULE},
        {"a:b", NAME_RULE},
        {"\xc3\xa9", NAME_RULE},
        {"/a", "prefix part must be non-empty"},
        {"x/", "name part must be non-empty; name part must consist"},
        {"/", "prefix part must be non-empty; name part must be non-empty"},
        {"a/b/c", "a qualified name must consist of"},
        {"a//b", "a qualified name must consist of"},
        {"Foo/a", PREFIX_RULE},
        {"a_b/c", PREFIX_RULE},
        {"-a/c", PREFIX_RULE},
        {"a-/c", PREFIX_RULE},
        {"a..b/c", PREFIX_RULE},
        {".a/c", PREFIX_RULE},
        {"a./c", PREFIX_RULE},
        {"a.-b/c", PREFIX_RULE},
        {"a-.b/c", PREFIX_RULE},
        {PREFIX_253 "x/a", "prefix part must be no more than 253 characters"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_buf why = {0};
        bool ok = vd_label_key_check(vd_slice_of(cases[i].key), &why);
        if (ok != !cases[i].wrong || ok != (why.n == 0) ||
            (!ok && !vd_slice_starts_with(vd_buf_slice(&why), vd_slice_of(cases[i].wrong))))
            fail_msg("\"%s\": got \"%s\"", cases[i].key, vd_buf_text(&why));
        assert_int_equal(vd_label_key_check(vd_slice_of(cases[i].key), NULL), ok);
        vd_buf_release(&why);
    }
}

static void values_are_names_or_empty(void **state)
{
    (void)state;
    static const struct {
        const char *value, *wrong; /* NULL: nothing */
    } cases[] = {
        {"", NULL},
        {"a", NULL},
        {"Some.Value_with-3", NULL},
        {NAME_63, NULL},
        {NAME_63 "x", "must be no more than 63 characters"},
        {NAME_63 "-", "must be no more than 63 characters; a valid label must be an empty"},
        {"-a", "a valid label must be an empty string or consist of alphanumeric"},
        {"a-", "a valid label must be an empty string or consist of alphanumeric"},
        {"a/b", "a valid label must be an empty string or consist of alphanumeric"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_buf why = {0};
        bool ok = vd_label_value_check(vd_slice_of(cases[i].value), &why);
        if (ok != !cases[i].wrong || ok != (why.n == 0) ||
            (!ok && !vd_slice_starts_with(vd_buf_slice(&why), vd_slice_of(cases[i].wrong))))
            fail_msg("\"%s\": got \"%s\"", cases[i].value, vd_buf_text(&why));
        vd_buf_release(&why);
    }
}

static void sentences_are_kubernetes_own(void **state)
{
    (void)state;
    struct vd_buf why = {0};
    assert_false(vd_label_key_check(VD_SLICE("Foo/x"), &why));
    assert_string_equal(
        vd_buf_text(&why),
        "prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
        "characters, '-' or '.', and must start and end with an alphanumeric character (e.g. "
        "'example.com', regex used for validation is "
        "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')");
    vd_buf_reset(&why);
    assert_false(vd_label_key_check(VD_SLICE("a/b/c"), &why));
    assert_string_equal(
        vd_buf_text(&why),
        "a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start "
        "and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', "
        "regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional "
        "DNS subdomain prefix and '/' (e.g. 'example.com/MyName')");
    vd_buf_reset(&why);
    assert_false(vd_label_value_check(VD_SLICE("-"), &why));
    assert_string_equal(
        vd_buf_text(&why),
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
        "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or "
        "'my_value',  or '12345', regex used for validation is "
        "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')");
    vd_buf_release(&why);
}

static void excerpts_are_short_and_utf8(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t n;
        const char *plain, *quoted;
    } cases[] = {
        {"", 0, "", "\"\""},
        {"12345678", 8, "12345678", "\"12345678\""},
        {"123456789", 9, "12345678...", "\"12345678...\""},
        {"1234567\xc3\xa9", 9, "1234567...", "\"1234567...\""},
        {"\xc3\xa9\xe2\x82\xac", 5, "\xc3\xa9\xe2\x82\xac", "\"\xc3\xa9\xe2\x82\xac\""},
        {"\xf0\x9f\x9a\x80", 4, "\xf0\x9f\x9a\x80", "\"\xf0\x9f\x9a\x80\""},
        {"a\xff", 2, "a\xef\xbf\xbd", "\"a\\xff\""},
        {"\xc3", 1, "\xef\xbf\xbd", "\"\\xc3\""},
        {"\xc0\x80", 2, "\xef\xbf\xbd\xef\xbf\xbd", "\"\\xc0\\x80\""},
        {"\xed\xa0\x80", 3, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", "\"\\xed\\xa0\\x80\""},
        {"a\0b", 3,
         "a\xef\xbf\xbd"
         "b",
         "\"a\\x00b\""},
        {"\"\\\n\x01\x7f", 5, "\"\\\n\x01\x7f", "\"\\\"\\\\\\n\\x01\\x7f\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_buf plain = {0}, quoted = {0};
        vd_excerpt_add(&plain, vd_slice(cases[i].text, cases[i].n), 8);
        vd_excerpt_add_quoted(&quoted, vd_slice(cases[i].text, cases[i].n), 8);
        assert_string_equal(vd_buf_text(&plain), cases[i].plain);
        assert_string_equal(vd_buf_text(&quoted), cases[i].quoted);
        vd_buf_release(&plain);
        vd_buf_release(&quoted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_qualified_names),
        cmocka_unit_test(values_are_names_or_empty),
        cmocka_unit_test(sentences_are_kubernetes_own),
        cmocka_unit_test(excerpts_are_short_and_utf8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
