/* src/json/yaml_read.c and yaml_node.c: YAML texts to documents, and errors with their place. */
#include "json/yaml_read.h"

#include <stdio.h>
#include <time.h>

#include "base/alloc.h"
#include "base/limits.h"
#include "check.h"
#include "json/write.h"

/* Reads all documents as JSON, one a line. Gives the code of the end. */
static int read_all(struct vd_slice text, const struct vd_yaml_options *options, struct vd_buf *out,
                    struct vd_error *error)
{
    struct vd_arena arena = {0};
    struct vd_json *document = NULL;
    struct vd_yaml_reader *r = vd_yaml_reader_new(text, options);
    int code;
    while (!(code = vd_yaml_reader_next(r, &arena, &document, error)) && document) {
        if (out->n)
            vd_buf_add_char(out, '\n');
        vd_json_write(out, document);
    }
    vd_yaml_reader_free(r);
    vd_arena_release(&arena);
    return code;
}

static void check_reads(const char *text, const char *want)
{
    struct vd_buf got = {0};
    struct vd_error error = {0};
    int code = read_all(vd_slice_of(text), NULL, &got, &error);
    if (code)
        fail_msg("%s\n%s", text, error.text);
    if (strcmp(vd_buf_text(&got), want) != 0)
        fail_msg("%s\ngot  %s\nwant %s", text, vd_buf_text(&got), want);
    vd_buf_release(&got);
}

static void check_fails(struct vd_slice text, int want, const char *says)
{
    struct vd_buf got = {0};
    struct vd_error error = {0};
    int code = read_all(text, NULL, &got, &error);
    if (code != want || !strstr(error.text, says))
        fail_msg("%.*s\ngot %s \"%s\", want \"%s\"", (int)(text.n < 200 ? text.n : 200), text.p,
                 vd_code_name(code), error.text, says);
    vd_buf_release(&got);
}

struct text_case {
    const char *text, *want;
};

static void check_cases(const struct text_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++)
        check_reads(cases[i].text, cases[i].want);
}

static void scalars_take_their_json_types(void **state)
{
    (void)state;
    static const struct text_case cases[] = {
        {"a: 1\nb: yes\nc: ~\nd:\ne: x\n",
         "{\"a\":1,\"b\":true,\"c\":null,\"d\":null,\"e\":\"x\"}"},
        {"[0x1F, 0o17, 017, 0b11, 1_000, +5, .5, 5., 08]", "[31,15,15,3,1000,5,0.5,5,8]"},
        {"['1', \"yes\", !!str 1, !!str yes, ! x]", "[\"1\",\"yes\",\"1\",\"yes\",\"x\"]"},
        {"[!!int '7', !!float 1, !!bool 'no', !!null '', !!binary aGk=]",
         "[7,1,false,null,\"hi\"]"},
        {"a: |\n  1\n  2\nb: >-\n  x\n  y\nc: |-\n  true\n",
         "{\"a\":\"1\\n2\\n\",\"b\":\"x y\",\"c\":\"true\"}"},
        {"when: 2001-12-14\nat: 12:30:45\n", "{\"when\":\"2001-12-14\",\"at\":\"12:30:45\"}"},
        {"\"\\0\\x07\\u00e9\\U0001F600\"", "\"\\u0000\\u0007\xC3\xA9\xF0\x9F\x98\x80\""},
        {"%TAG !y! tag:yaml.org,2002:\n---\nv: !y!int '1'", "{\"v\":1}"},
        {"\xEF\xBB\xBFv: 1", "{\"v\":1}"},
        {"{\"json\": [1, {\"is\": \"yaml\"}], \"e\": 1e3}",
         "{\"json\":[1,{\"is\":\"yaml\"}],\"e\":1e3}"},
        {"!!map {a: !!seq [1]}", "{\"a\":[1]}"},
        {"- {}\n- []\n- [[]]\n- {a: {}}", "[{},[],[[]],{\"a\":{}}]"},
        {"a:\n- 1\n- b: 2\n  c: 3\n", "{\"a\":[1,{\"b\":2,\"c\":3}]}"},
        {"? a\n: b\n? c\n", "{\"a\":\"b\",\"c\":null}"},
        {"[a: 1, b]", "[{\"a\":1},\"b\"]"},
    };
    check_cases(cases, sizeof cases / sizeof *cases);
}

static void numbers_that_are_json_keep_their_text(void **state)
{
    (void)state;
    static const struct text_case cases[] = {
        {"[1.50, 1E5, -0, -0.0]", "[1.50,1E5,-0,-0.0]"},
        {"123456789012345678901234567890", "123456789012345678901234567890"},
        {"[1_0.5, 18446744073709551615, -.5e1]", "[10.5,18446744073709551615,-5]"},
        {"[1e999, !!float 1e999]", "[\"1e999\",1e999]"},
    };
    check_cases(cases, sizeof cases / sizeof *cases);
}

static void keys_become_text(void **state)
{
    (void)state;
    static const struct text_case cases[] = {
        {"1: a\n0x10: b\nyes: c\n1.50: d\n'~': e\n",
         "{\"1\":\"a\",\"16\":\"b\",\"true\":\"c\",\"1.5\":\"d\",\"~\":\"e\"}"},
        {"&k key: 1\nother: *k\n*k : 2\n", NULL},
        {"- &k key\n- {*k : 1}\n- &n 1.50\n- {*n : x}\n- &b on\n- {*b : z}",
         "[\"key\",{\"key\":1},1.50,{\"1.5\":\"x\"},true,{\"true\":\"z\"}]"},
        {"'': empty", "{\"\":\"empty\"}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (cases[i].want)
            check_reads(cases[i].text, cases[i].want);
        else
            check_fails(vd_slice_of(cases[i].text), VD_ERR_INVALID, "already on line 1");
    }
}

static void streams_give_one_document_at_a_time(void **state)
{
    (void)state;
    static const struct text_case cases[] = {
        {"", ""},
        {"# nothing\n", ""},
        {"---\n---\n# still nothing\n---\n", ""},
        {"a: 1\n---\nb: 2\n", "{\"a\":1}\n{\"b\":2}"},
        {"---\n---\na: 1\n---\n# gap\n---\n- 2\n...\n---\nx\n", "{\"a\":1}\n[2]\n\"x\""},
        {"--- null\n--- ~\n--- ''\n", "null\nnull\n\"\""},
        {"%YAML 1.1\n---\na: 1\n...\n%YAML 1.2\n---\nb: 2\n", "{\"a\":1}\n{\"b\":2}"},
    };
    check_cases(cases, sizeof cases / sizeof *cases);
    check_fails(VD_SLICE("a: &x 1\n---\nb: *x\n"), VD_ERR_INVALID,
                "line 3, column 4: b: the alias");
}

static void aliases_are_expanded(void **state)
{
    (void)state;
    static const struct text_case cases[] = {
        {"a: &x {k: [1]}\nb: *x\nc: [*x, *x]\n",
         "{\"a\":{\"k\":[1]},\"b\":{\"k\":[1]},\"c\":[{\"k\":[1]},{\"k\":[1]}]}"},
        {"a: &x 1\nb: &x 2\nc: *x\n", "{\"a\":1,\"b\":2,\"c\":2}"},
        {"a: &x [&x 1, *x]\nb: *x\n", "{\"a\":[1,1],\"b\":1}"},
        {"a: &x\nb: *x\n", "{\"a\":null,\"b\":null}"},
        {"&root {a: 1}", "{\"a\":1}"},
    };
    check_cases(cases, sizeof cases / sizeof *cases);
}

static void merge_keys_add_what_the_map_does_not_have(void **state)
{
    (void)state;
    static const struct text_case cases[] = {
        {"- &a {x: 1, y: 2}\n- {<<: *a, x: 9}\n- {x: 9, <<: *a}\n",
         "[{\"x\":1,\"true\":2},{\"true\":2,\"x\":9},{\"x\":9,\"true\":2}]"},
        {"- &a {r: 10}\n- &b {p: 0, r: 1}\n- {<<: [*a, *b], l: z}\n",
         "[{\"r\":10},{\"p\":0,\"r\":1},{\"r\":10,\"p\":0,\"l\":\"z\"}]"},
        {"<<: {a: 1, b: {c: 2}}\nd: 3\n", "{\"a\":1,\"b\":{\"c\":2},\"d\":3}"},
        {"<<: [{a: 1}, {a: 2, b: 2}]\n", "{\"a\":1,\"b\":2}"},
        {"<<: {a: 1}\n<<: {a: 2, b: 2}\n", "{\"a\":1,\"b\":2}"},
        {"- &a {x: 1}\n- &b {<<: *a, z: 2}\n- {<<: *b}\n",
         "[{\"x\":1},{\"x\":1,\"z\":2},{\"x\":1,\"z\":2}]"},
        {"'<<': {a: 1}\n", "{\"<<\":{\"a\":1}}"},
        {"!!merge '<<': {a: 1}\n", "{\"a\":1}"},
        {"<<: []\na: <<\n", "{\"a\":\"<<\"}"},
        {"<<: {}\n", "{}"},
    };
    check_cases(cases, sizeof cases / sizeof *cases);
}

static void mistakes_name_line_column_and_path(void **state)
{
    (void)state;
    static const struct text_case cases[] = {
        {"a: [1,\n",
         "line 2, column 1: a[1]: did not find expected node content, while parsing a flow node"},
        {"a: 1\nb: [1\nc: 2\n", "line 3, column 2: b[1]: did not find expected ',' or ']', while "
                                "parsing a flow sequence that began on line 2"},
        {"a:\n- b: *,", "line 2, column 7: a[0].b: did not find expected alphabetic"},
        {"a:\n  b: 1\n c: 2\n", "line 3, column 2: "},
        {"a: b: c\n", "line 1, column 5: mapping values are not allowed in this context"},
        {"x: 'open\n", "line 2, column 1: "},
        {"spec:\n  list:\n  - ok\n  - name: .inf\n",
         "line 4, column 11: spec.list[1].name: JSON has no such number; quote it"},
        {"a: .NaN", "line 1, column 4: a: JSON has no such number"},
        {"a: !!int x", "line 1, column 4: a: the value is not a !!int"},
        {"a: !thing x", "line 1, column 4: a: the tag has no meaning in JSON"},
        {"a: !!set {x, z}", "line 1, column 4: a: the tag has no meaning"},
        {"a: !point [1]", "line 1, column 4: a: the tag has no meaning"},
        {"a: !!str [1]", "line 1, column 4: a: the tag has no meaning"},
        {"a: *b\n", "line 1, column 4: a: the alias has no anchor before it"},
        {"b: *a\na: &a {c: 1}", "the alias has no anchor before it"},
        {"a: &a\n  b: *a\n", "line 2, column 6: a.b: the alias stands inside its own anchor"},
        {"&a [*a]", "line 1, column 5: [0]: the alias stands inside its own anchor"},
        {"a: &a {<<: *a}", "a.<<: the alias stands inside its own anchor"},
        {"a: 1\nb: 2\na: 3\n", "line 3, column 1: the key \"a\" is already on line 1; remove one"},
        {"s:\n  t: {x: 1,\n    x: 2}\n",
         "line 3, column 5: s.t: the key \"x\" is already on line 2"},
        {"9: 1\n'9': 2\n", "line 2, column 1: the key \"9\" is already on line 1"},
        {"yes: 1\nno: 2\non: 3\n", "the key \"true\" is already on line 1"},
        {"null: 1", "line 1, column 1: null is not a key"},
        {"{[1]: 2}", "line 1, column 2: a key is a scalar, not a list"},
        {"{{a: 1}: 2}", "line 1, column 2: a key is a scalar, not a map"},
        {"- &a [1]\n- {*a : 1}", "line 2, column 4: [1]: a key is a scalar, not an array"},
        {"a: {{{ .Values.x }}: y}", "a key is a scalar, not a map"},
        {"a:\n  <<: 5\n", "line 2, column 7: a.<<: << takes a map or a list of maps, not a number"},
        {"<<: [1]", "<< takes a map or a list of maps, not a number"},
        {"- &l [{a: 1}]\n- <<: *l\n", "<< takes a map or a list of maps, not an array"},
        {"<<:\n", "<< takes a map or a list of maps, not a null"},
        {"a: 1\n---\nb: \x01\n", "line 3, column 4: control characters are not allowed; write an"},
        {"a: \xC3\xA9 \xFF\n", "line 1, column 6: invalid leading UTF-8 octet; the text must be"},
        {"a: \xED\xA0\x80\n", "the text must be UTF-8"},
        {"a: \"\\ud800\"\n", "line 1, column 7: a: found invalid Unicode character escape code"},
        {"\xFF\xFEv\0:\0", "the YAML text is UTF-16; save it as UTF-8"},
        {"%FOO\n", "line 1, column 5: found unknown directive name"},
        {"%YAML 3.0\n---\na: 1\n", "found incompatible YAML document"},
        {"a: @x", "found character that cannot start any token"},
        {"a:\n\t- b", "line 2, column 1: a: a tab cannot indent YAML; use spaces"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_fails(vd_slice_of(cases[i].text), VD_ERR_INVALID, cases[i].want);
}

static void an_error_is_repeated_and_known_by_its_place(void **state)
{
    (void)state;
    struct vd_arena arena = {0};
    struct vd_error error = {0}, again = {0};
    struct vd_json *document = NULL;
    const struct vd_yaml_options options = {.lines_skipped = 10};
    struct vd_yaml_reader *r = vd_yaml_reader_new(VD_SLICE("a: 1\n---\nb: *x\n---\nc: 1\n"),
                                                  &options);
    assert_ok(vd_yaml_reader_next(r, &arena, &document, &error), &error);
    assert_int_equal(vd_yaml_reader_failed_at(r).line, 0);
    assert_code(vd_yaml_reader_next(r, &arena, &document, &error), VD_ERR_INVALID);
    assert_code(vd_yaml_reader_next(r, &arena, &document, &again), VD_ERR_INVALID);
    assert_string_equal(error.text, again.text);
    assert_says(&error, "line 13, column 4: b: ");
    assert_int_equal(vd_yaml_reader_failed_at(r).line, 13);
    assert_int_equal(vd_yaml_reader_failed_at(r).column, 4);
    vd_yaml_reader_free(r);
    vd_arena_release(&arena);
}

/* `depth` containers around nothing, closed. */
static void nest(struct vd_buf *out, size_t depth, const char *open, const char *close)
{
    for (size_t i = 0; i < depth; i++)
        vd_buf_add_text(out, open);
    for (size_t i = 0; i < depth; i++)
        vd_buf_add_text(out, close);
}

static void nesting_is_limited(void **state)
{
    (void)state;
    struct vd_buf text = {0}, got = {0};
    struct vd_error error = {0};
    nest(&text, VD_JSON_DEPTH_MAX, "[", "]");
    assert_ok(read_all(vd_buf_slice(&text), NULL, &got, &error), &error);
    vd_buf_reset(&text);
    nest(&text, VD_JSON_DEPTH_MAX + 1, "[", "]");
    check_fails(vd_buf_slice(&text), VD_ERR_LIMIT, "nests deeper than 512");
    vd_buf_reset(&text);
    nest(&text, VD_JSON_DEPTH_MAX + 1, "{a: ", "}");
    check_fails(vd_buf_slice(&text), VD_ERR_LIMIT, "nests deeper than 512");
    vd_buf_reset(&text);
    nest(&text, 200000, "- ", ""); /* no recursion in libyaml either */
    check_fails(vd_buf_slice(&text), VD_ERR_LIMIT, "nests deeper than 512");
    vd_buf_reset(&text); /* 300 deep, then the same inside itself again */
    vd_buf_add_text(&text, "- &x ");
    nest(&text, 300, "[", "]");
    vd_buf_add_text(&text, "\n- ");
    for (size_t i = 0; i < 300; i++)
        vd_buf_add_char(&text, '[');
    vd_buf_add_text(&text, "*x");
    for (size_t i = 0; i < 300; i++)
        vd_buf_add_char(&text, ']');
    check_fails(vd_buf_slice(&text), VD_ERR_LIMIT, "nests deeper than 512");
    vd_buf_release(&text);
    vd_buf_release(&got);
}

static void alias_bombs_fail_quickly(void **state)
{
    (void)state;
    struct vd_buf text = {0};
    vd_buf_add_text(&text, "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for (int i = 1; i < 30; i++) {
        vd_buf_addf(&text, "a%d: &a%d [", i, i);
        for (int j = 0; j < 10; j++)
            vd_buf_addf(&text, "*a%d, ", i - 1);
        vd_buf_add_text(&text, "]\n");
    }
    clock_t start = clock();
    check_fails(vd_buf_slice(&text), VD_ERR_LIMIT,
                "the document has more than 1000000 values with its aliases expanded");
    assert_true(clock() - start < 5 * CLOCKS_PER_SEC);

    /* Merged maps, where few candidates survive. */
    vd_buf_reset(&text);
    vd_buf_add_text(&text, "- &m {");
    for (int i = 0; i < 2000; i++)
        vd_buf_addf(&text, "k%d: 1, ", i);
    vd_buf_add_text(&text, "}\n- <<: &l [*m]\n");
    for (int i = 0; i < 1000; i++)
        vd_buf_add_text(&text, "  <<: *m\n");
    check_fails(vd_buf_slice(&text), VD_ERR_LIMIT, "more than 1000000 values");

    /* Few values, much text. */
    vd_buf_reset(&text);
    vd_buf_add_text(&text, "- &t ");
    for (int i = 0; i < 300000; i++)
        vd_buf_add_char(&text, 'x');
    for (int i = 0; i < 1000; i++)
        vd_buf_add_text(&text, "\n- *t");
    check_fails(vd_buf_slice(&text), VD_ERR_LIMIT, "more than 268435456 bytes of text");
    vd_buf_release(&text);
}

static void many_values_deep_inside_brackets_are_refused(void **state)
{
    (void)state;
    struct vd_buf text = {0}, got = {0};
    struct vd_error error = {0};
    for (int i = 0; i < 500; i++)
        vd_buf_add_char(&text, '[');
    for (int i = 0; i < 100000; i++)
        vd_buf_add_text(&text, "[],");
    check_fails(vd_buf_slice(&text), VD_ERR_LIMIT, "too many values deep inside [] and {}");
    vd_buf_reset(&text);
    for (int i = 0; i < 100000; i++)
        vd_buf_add_text(&text, "- {a: [{b: [1]}]}\n");
    assert_ok(read_all(vd_buf_slice(&text), NULL, &got, &error), &error);
    vd_buf_release(&text);
    vd_buf_release(&got);
}

static void long_texts_and_many_directives_are_refused(void **state)
{
    (void)state;
    check_fails(vd_slice("", (size_t)VD_JSON_LEN_MAX + 1), VD_ERR_LIMIT,
                "longer than 268435456 bytes");
    struct vd_buf text = {0};
    for (int i = 0; i < 100000; i++)
        vd_buf_addf(&text, "%%TAG !t%d! tag:x,2000:\n", i);
    vd_buf_add_text(&text, "---\na: 1\n");
    check_fails(vd_buf_slice(&text), VD_ERR_LIMIT, "more than 1000 %TAG directives");
    vd_buf_release(&text);
}

static void maps_with_many_keys_are_not_slow(void **state)
{
    (void)state;
    struct vd_buf text = {0}, got = {0};
    struct vd_error error = {0};
    for (int i = 0; i < 200000; i++)
        vd_buf_addf(&text, "k%d: &a%d 1\n", i, i);
    clock_t start = clock();
    assert_ok(read_all(vd_buf_slice(&text), NULL, &got, &error), &error);
    vd_buf_add_text(&text, "k100000: again\n");
    check_fails(vd_buf_slice(&text), VD_ERR_INVALID,
                "the key \"k100000\" is already on line 100001");
    assert_true(clock() - start < 20 * CLOCKS_PER_SEC);
    vd_buf_release(&text);
    vd_buf_release(&got);
}

struct report {
    struct vd_buf text;
};

static void on_duplicate(void *context, const struct vd_yaml_duplicate *again)
{
    struct report *report = context;
    vd_buf_addf(&report->text, "%.*s (%.*s) at %u:%u, its value on %u; ", VD_FMT(again->path),
                VD_FMT(again->key), again->at.line, again->at.column, again->value_at.line);
}

static void duplicates_can_be_reported_or_ignored(void **state)
{
    (void)state;
    const struct vd_slice text = VD_SLICE(
        "s:\n  a: 1\n  b: 2\n  a: 3\n  a:\n    c: 4\n<<: {s: 5}\n");
    const char *want = "{\"s\":{\"a\":{\"c\":4},\"b\":2}}";
    struct report report = {0};
    struct vd_buf got = {0};
    struct vd_error error = {0};
    struct vd_yaml_options options = {.duplicates = VD_YAML_DUPLICATES_LAST};
    assert_ok(read_all(text, &options, &got, &error), &error);
    assert_string_equal(vd_buf_text(&got), want);
    options = (struct vd_yaml_options){
        .duplicates = VD_YAML_DUPLICATES_REPORT, .on_duplicate = on_duplicate, .context = &report};
    vd_buf_reset(&got);
    assert_ok(read_all(text, &options, &got, &error), &error);
    assert_string_equal(vd_buf_text(&got), want);
    assert_string_equal(vd_buf_text(&report.text),
                        "s.a (a) at 4:3, its value on 4; s.a (a) at 5:3, its value on 6; ");
    vd_buf_release(&report.text);
    vd_buf_release(&got);
}

static void no_more_duplicates_are_reported_than_the_limit(void **state)
{
    (void)state;
    struct report report = {0};
    struct vd_buf text = {0}, got = {0};
    struct vd_error error = {0};
    const struct vd_yaml_options options = {
        .duplicates = VD_YAML_DUPLICATES_REPORT, .on_duplicate = on_duplicate, .context = &report};
    size_t reports = 0;
    for (int i = 0; i < 2 * (VD_JSON_DUPLICATES_MAX + 50); i++)
        vd_buf_addf(&text, "k%d: 1\n", i / 2);
    assert_ok(read_all(vd_buf_slice(&text), &options, &got, &error), &error);
    for (size_t i = 0; i < report.text.n; i++)
        reports += report.text.p[i] == ';';
    assert_int_equal(reports, VD_JSON_DUPLICATES_MAX);
    vd_buf_release(&report.text);
    vd_buf_release(&text);
    vd_buf_release(&got);
}

static void long_numbers_are_refused(void **state)
{
    (void)state;
    struct vd_buf text = {0}, got = {0};
    struct vd_error error = {0};
    vd_buf_add_text(&text, "0.");
    while (text.n < VD_JSON_NUMBER_LEN_MAX)
        vd_buf_add_char(&text, '1');
    assert_ok(read_all(vd_buf_slice(&text), NULL, &got, &error), &error);
    assert_true(vd_slice_eq(vd_buf_slice(&got), vd_buf_slice(&text)));
    vd_buf_add_char(&text, '1');
    check_fails(vd_buf_slice(&text), VD_ERR_LIMIT,
                "line 1, column 1: a number is longer than 1024 characters; quote it");
    vd_buf_release(&text);
    vd_buf_release(&got);
}

static void check_position(struct vd_yaml_reader *r, const struct vd_json *value, uint32_t line,
                           uint32_t column)
{
    struct vd_yaml_position at = {0};
    assert_true(vd_yaml_reader_position(r, value, &at));
    assert_int_equal(at.line, line);
    assert_int_equal(at.column, column);
}

static void positions_lead_back_to_the_text(void **state)
{
    (void)state;
    struct vd_arena arena = {0};
    struct vd_error error = {0};
    struct vd_json *d = NULL;
    const struct vd_yaml_options options = {.positions = true, .lines_skipped = 1};
    struct vd_yaml_reader *r = vd_yaml_reader_new(VD_SLICE("base: &b\n"             /* line 2 */
                                                           "  x: 1\n"               /* 3 */
                                                           "spec:\n"                /* 4 */
                                                           "  <<: *b\n"             /* 5 */
                                                           "  list:\n"              /* 6 */
                                                           "  - one\n"              /* 7 */
                                                           "  - *b\n"               /* 8 */
                                                           "  '\xC3\xA9': {z: 2}\n" /* 9 */
                                                           "---\n"
                                                           "- 5\n"),
                                                  &options);
    assert_ok(vd_yaml_reader_next(r, &arena, &d, &error), &error);
    struct vd_json *list = vd_json_dig(d, "spec", "list", NULL), *first = d;
    check_position(r, d, 2, 1);
    check_position(r, vd_json_dig(d, "base", NULL), 2, 1);
    check_position(r, vd_json_dig(d, "base", "x", NULL), 3, 3);
    check_position(r, vd_json_dig(d, "spec", "x", NULL), 3, 3); /* merged: where it is written */
    check_position(r, list, 6, 3);
    check_position(r, vd_json_at(list, 0), 7, 5);
    check_position(r, vd_json_at(list, 1), 8, 5);
    check_position(r, vd_json_dig(vd_json_at(list, 1), "x", NULL), 3, 3);
    check_position(r, vd_json_dig(d, "spec", "\xC3\xA9", "z", NULL), 9, 9);
    assert_ok(vd_yaml_reader_next(r, &arena, &d, &error), &error);
    check_position(r, d, 11, 1);
    check_position(r, vd_json_at(d, 0), 11, 3);
    struct vd_yaml_position at;
    assert_false(vd_yaml_reader_position(r, first, &at)); /* of the document before */
    assert_false(vd_yaml_reader_position(r, NULL, &at));
    vd_yaml_reader_free(r);
    vd_arena_release(&arena);
}

static void without_the_option_there_are_no_positions(void **state)
{
    (void)state;
    struct vd_arena arena = {0};
    struct vd_error error = {0};
    struct vd_yaml_position at;
    struct vd_json *d = NULL;
    struct vd_yaml_reader *r = vd_yaml_reader_new(VD_SLICE("a: 1"), NULL);
    assert_ok(vd_yaml_reader_next(r, &arena, &d, &error), &error);
    assert_false(vd_yaml_reader_position(r, d, &at));
    vd_yaml_reader_free(r);
    vd_arena_release(&arena);
}

static void reading_one_wants_exactly_one(void **state)
{
    (void)state;
    struct vd_arena arena = {0};
    struct vd_error error = {0};
    struct vd_json *d = NULL;
    assert_ok(vd_yaml_read(&arena, VD_SLICE("---\n---\na: 1\n---\n"), &d, &error), &error);
    assert_int_equal(vd_json_count(d), 1);
    assert_code(vd_yaml_read(&arena, VD_SLICE("# none"), &d, &error), VD_ERR_INVALID);
    assert_says(&error, "no document");
    assert_code(vd_yaml_read(&arena, VD_SLICE("a: 1\n---\nb: 1"), &d, &error), VD_ERR_INVALID);
    assert_says(&error, "several documents");
    assert_code(vd_yaml_read(&arena, VD_SLICE("a: 1\n---\nb: ["), &d, NULL), VD_ERR_INVALID);
    assert_code(vd_yaml_read(&arena, vd_slice(NULL, 0), &d, &error), VD_ERR_INVALID);
    vd_arena_release(&arena);
}

static void documents_outlive_the_text_and_the_reader(void **state)
{
    (void)state;
    struct vd_arena arena = {0};
    struct vd_error error = {0};
    struct vd_json *d = NULL;
    char *text = vd_strdup("key: [value, 15, !!binary aGk=]\n");
    assert_ok(vd_yaml_read(&arena, vd_slice_of(text), &d, &error), &error);
    memset(text, 'x', strlen(text));
    free(text);
    struct vd_buf got = {0};
    vd_json_write(&got, d);
    assert_string_equal(vd_buf_text(&got), "{\"key\":[\"value\",15,\"hi\"]}");
    vd_buf_release(&got);
    vd_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scalars_take_their_json_types),
        cmocka_unit_test(numbers_that_are_json_keep_their_text),
        cmocka_unit_test(keys_become_text),
        cmocka_unit_test(streams_give_one_document_at_a_time),
        cmocka_unit_test(aliases_are_expanded),
        cmocka_unit_test(merge_keys_add_what_the_map_does_not_have),
        cmocka_unit_test(mistakes_name_line_column_and_path),
        cmocka_unit_test(an_error_is_repeated_and_known_by_its_place),
        cmocka_unit_test(nesting_is_limited),
        cmocka_unit_test(alias_bombs_fail_quickly),
        cmocka_unit_test(many_values_deep_inside_brackets_are_refused),
        cmocka_unit_test(long_texts_and_many_directives_are_refused),
        cmocka_unit_test(maps_with_many_keys_are_not_slow),
        cmocka_unit_test(duplicates_can_be_reported_or_ignored),
        cmocka_unit_test(no_more_duplicates_are_reported_than_the_limit),
        cmocka_unit_test(long_numbers_are_refused),
        cmocka_unit_test(positions_lead_back_to_the_text),
        cmocka_unit_test(without_the_option_there_are_no_positions),
        cmocka_unit_test(reading_one_wants_exactly_one),
        cmocka_unit_test(documents_outlive_the_text_and_the_reader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
