/* src/git/documents.c: the documents of a file, each with its place. */
#include "git/documents.h"

#include "base/limits.h"
#include "check.h"
#include "json/write.h"

/* The documents of a file as lines "line item json", then the report. */
static void check_documents(struct vd_slice text, enum vd_git_syntax syntax, const char *want)
{
    struct vd_git_documents d;
    struct vd_git_document document;
    struct vd_git_report report = {0};
    struct vd_arena arena = {0};
    struct vd_buf out = {0};
    vd_git_documents_open(&d, VD_SLICE("f"), text, syntax, (struct vd_yaml_position){1, 1});
    while (vd_git_documents_next(&d, &arena, &document, &report)) {
        vd_buf_addf(&out, "%u %u ", document.source.from.line, document.source.item);
        vd_json_write(&out, document.value);
        vd_buf_add_char(&out, '\n');
    }
    assert_false(vd_git_documents_next(&d, &arena, &document, &report));
    vd_git_report_sort(&report);
    vd_git_report_write_text(&out, &report);
    if (strcmp(vd_buf_text(&out), want) != 0)
        fail_msg("%.*s\ngot  %s\nwant %s", VD_FMT(text), vd_buf_text(&out), want);
    vd_buf_release(&out);
    vd_git_report_release(&report);
    vd_arena_release(&arena);
}

static void yaml_is_cut_at_markers(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"", ""},
        {"# nothing\n", ""},
        {"a: 1\n", "1 0 {\"a\":1}\n"},
        {"a: 1", "1 0 {\"a\":1}\n"},
        {"---\na: 1\n---\nb: 2\n", "1 0 {\"a\":1}\n3 0 {\"b\":2}\n"},
        {"a: 1\n---\n---\n# c\n---\nb: 2\n---\n", "1 0 {\"a\":1}\n5 0 {\"b\":2}\n"},
        {"---\n---\n---", ""},
        {"--- {a: 1}\n--- # x\nb: 2", "1 0 {\"a\":1}\n2 0 {\"b\":2}\n"},
        {"a: 1\n...\nb: 2\n...\n", "1 0 {\"a\":1}\n3 0 {\"b\":2}\n"},
        {"a: 1\n...", "1 0 {\"a\":1}\n"},
        {"%YAML 1.1\n---\na: 1\n...\n# x\n%YAML 1.1\n---\nb: 2\n",
         "1 0 {\"a\":1}\n5 0 {\"b\":2}\n"},
        {"%TAG ! tag:yaml.org,2002:\n---\na: !str 1\n", "1 0 {\"a\":\"1\"}\n"},
        {"a: |\n  ---\n  ...\nb: 1\n", "1 0 {\"a\":\"---\\n...\\n\",\"b\":1}\n"},
        {"\xEF\xBB\xBF"
         "a: 1\n",
         "1 0 {\"a\":1}\n"},
        {"a: 1\r\n---\r\nb: 2\r\n", "1 0 {\"a\":1}\n2 0 {\"b\":2}\n"},
        {"null\n--- ~\n", "1 0 null\n2 0 null\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_documents(vd_slice_of(cases[i].text), VD_GIT_YAML, cases[i].want);
}

static void a_mistake_does_not_hide_the_others(void **state)
{
    (void)state;
    check_documents(
        VD_SLICE("a: [1\n---\nb: 2\n---\nc: \"x\n---\nd: {\n"), VD_GIT_YAML,
        "2 0 {\"b\":2}\n"
        "f:2:1: a[1]: did not find expected ',' or ']', while parsing a flow sequence that "
        "began on line 1\n"
        "f:6:1: c: found unexpected end of stream, while scanning a quoted scalar that "
        "began on line 5\n"
        "f:8:1: d: did not find expected node content, while parsing a flow node\n");
}

static void keys_that_come_twice_are_all_named(void **state)
{
    (void)state;
    check_documents(VD_SLICE("a: 1\nb: {c: 1, c: 2}\na: 2\n---\nd: 1\nd: 1\n"), VD_GIT_YAML,
                    "f:2:11: b.c: the key is already there; remove one of them\n"
                    "f:3:1: a: the key is already there; remove one of them\n"
                    "f:6:1: d: the key is already there; remove one of them\n");
}

static void other_line_separators_do_not_smuggle_documents(void **state)
{
    (void)state;
    check_documents(VD_SLICE("a: 1\r---\rb: 2\n"), VD_GIT_YAML,
                    "f:1:1: a document marker stands behind a line separator that is no line "
                    "feed\n");
}

static void json_files_hold_any_number_of_values(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"", ""},
        {" \n", ""},
        {"{\"a\": 1}\n", "1 0 {\"a\":1}\n"},
        {"{\"a\": \"}{\\\"\"}\n\n{\"b\": [1, 2]}{}",
         "1 0 {\"a\":\"}{\\\"\"}\n3 0 {\"b\":[1,2]}\n3 0 {}\n"},
        {"7", "1 0 7\n"},
        {"{\"a\": 1,}\n{\"b\": 1}", "2 0 {\"b\":1}\nf:1:9: expected a key in quotes, found '}'\n"},
        {"{}\n {\"a\": 1, \"a\": 2}", "1 0 {}\nf:2:11: the key \"a\" is there twice\n"},
        {"{} {\"a\": x}", "1 0 {}\nf:1:10: expected a value, found 'x'\n"},
        {"\xEF\xBB\xBF{}", "1 0 {}\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_documents(vd_slice_of(cases[i].text), VD_GIT_JSON, cases[i].want);
}

static void lists_are_taken_apart(void **state)
{
    (void)state;
    check_documents(VD_SLICE("apiVersion: v1\nkind: List\nitems:\n- {kind: A}\n- {kind: B}\n"
                             "---\nkind: C\n"),
                    VD_GIT_YAML,
                    "1 1 {\"kind\":\"A\"}\n1 2 {\"kind\":\"B\"}\n6 0 {\"kind\":\"C\"}\n");
    check_documents(VD_SLICE("{\"apiVersion\":\"v1\",\"kind\":\"ConfigMapList\",\"items\":[{}]}"),
                    VD_GIT_JSON, "1 1 {\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\"}\n");
    check_documents(VD_SLICE("kind: PriceList\nmetadata: {name: a}\nitems: []\n"), VD_GIT_YAML,
                    "1 0 {\"kind\":\"PriceList\",\"metadata\":{\"name\":\"a\"},\"items\":[]}\n");
    check_documents(VD_SLICE("kind: List\nitems: []\n"), VD_GIT_YAML, "");
}

static void too_many_documents_are_refused(void **state)
{
    (void)state;
    struct vd_buf text = {0};
    for (int i = 0; i <= VD_GIT_FILE_DOCUMENTS_MAX; i++)
        vd_buf_add_text(&text, "---\n");
    check_documents(vd_buf_slice(&text), VD_GIT_YAML,
                    "f:10001:1: the file has more than 10000 documents; split it\n");
    vd_buf_release(&text);
}

static void alias_bombs_are_bounded(void **state)
{
    (void)state;
    struct vd_git_documents d;
    struct vd_git_document document;
    struct vd_git_report report = {0};
    struct vd_arena arena = {0};
    struct vd_buf text = {0};
    vd_buf_add_text(&text, "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
    for (int i = 1; i < 12; i++)
        vd_buf_addf(&text, "a%d: &a%d [*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d]\n", i, i, i - 1,
                    i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1);
    vd_git_documents_open(&d, VD_SLICE("f"), vd_buf_slice(&text), VD_GIT_YAML,
                          (struct vd_yaml_position){1, 1});
    assert_false(vd_git_documents_next(&d, &arena, &document, &report));
    assert_int_equal(report.found[VD_GIT_ERROR], 1);
    assert_non_null(strstr(report.findings.p[0].reason.p, "aliases expanded"));
    assert_true(report.findings.p[0].at.line > 1);
    vd_buf_release(&text);
    vd_git_report_release(&report);
    vd_arena_release(&arena);
}

/* Each document is within its own limits, but all of them are not. */
static void many_alias_bombs_are_bounded(void **state)
{
    (void)state;
    struct vd_git_documents d;
    struct vd_git_document document;
    struct vd_git_report report = {0};
    struct vd_arena arena = {0};
    struct vd_buf text = {0};
    size_t count = 0;
    for (int i = 0; i < 1000; i++)
        vd_buf_add_text(&text, "---\na: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a]\n"
                               "c: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c]\n"
                               "e: [*d,*d,*d,*d,*d,*d,*d,*d]\n");
    vd_git_documents_open(&d, VD_SLICE("f"), vd_buf_slice(&text), VD_GIT_YAML,
                          (struct vd_yaml_position){1, 1});
    while (vd_git_documents_next(&d, &arena, &document, &report))
        count++;
    assert_true(count > 1 && count < 100);
    assert_int_equal(report.found[VD_GIT_ERROR], 1);
    assert_non_null(strstr(report.findings.p[0].reason.p, "bytes of memory"));
    assert_true(arena.total < 2 * VD_GIT_FILE_MEMORY_MAX);
    vd_buf_release(&text);
    vd_git_report_release(&report);
    vd_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(yaml_is_cut_at_markers),
        cmocka_unit_test(a_mistake_does_not_hide_the_others),
        cmocka_unit_test(keys_that_come_twice_are_all_named),
        cmocka_unit_test(other_line_separators_do_not_smuggle_documents),
        cmocka_unit_test(json_files_hold_any_number_of_values),
        cmocka_unit_test(lists_are_taken_apart),
        cmocka_unit_test(too_many_documents_are_refused),
        cmocka_unit_test(alias_bombs_are_bounded),
        cmocka_unit_test(many_alias_bombs_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
