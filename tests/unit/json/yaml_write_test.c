/* src/json/yaml_write.c: what people see, and that it reads back as it was. */
#include "json/yaml_write.h"

#include <stdio.h>

#include "base/limits.h"
#include "check.h"
#include "json/compare.h"
#include "json/parse.h"
#include "json/write.h"
#include "json/yaml_read.h"

static void check_round_trip(const struct vd_json *v, const char *where)
{
    struct vd_arena arena = {0};
    struct vd_buf text = {0};
    struct vd_error error = {0};
    struct vd_json *back = NULL;
    vd_yaml_write(&text, v);
    int code = vd_yaml_read(&arena, vd_buf_slice(&text), &back, &error);
    if (code || !vd_json_eq(v, back)) {
        struct vd_buf want = {0}, got = {0};
        vd_json_write(&want, v);
        if (!code)
            vd_json_write(&got, back);
        fail_msg("%s\n%s\n%s\nwant %s\ngot  %s", where, error.text, vd_buf_text(&text),
                 vd_buf_text(&want), vd_buf_text(&got));
    }
    vd_buf_release(&text);
    vd_arena_release(&arena);
}

static void check_writes(const char *json, const char *want)
{
    struct vd_arena arena = {0};
    struct vd_error error = {0};
    struct vd_json *v = NULL;
    struct vd_buf got = {0};
    assert_ok(vd_json_parse(&arena, vd_slice_of(json), NULL, &v, &error), &error);
    vd_yaml_write(&got, v);
    if (strcmp(vd_buf_text(&got), want) != 0)
        fail_msg("%s\ngot\n%s\nwant\n%s", json, vd_buf_text(&got), want);
    check_round_trip(v, json);
    vd_buf_release(&got);
    vd_arena_release(&arena);
}

struct write_case {
    const char *json, *want;
};

static void check_cases(const struct write_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++)
        check_writes(cases[i].json, cases[i].want);
}

static void containers_are_blocks_as_kubectl_prints_them(void **state)
{
    (void)state;
    static const struct write_case cases[] = {
        {"{}", "{}\n"},
        {"[]", "[]\n"},
        {"{\"b\":1,\"a\":{\"c\":[],\"d\":{}}}", "b: 1\na:\n  c: []\n  d: {}\n"},
        {"{\"l\":[1,[2,[3]],{\"x\":1,\"y\":[4]},[]]}",
         "l:\n- 1\n- - 2\n  - - 3\n- x: 1\n  \"y\":\n  - 4\n- []\n"},
        {"[[[1],2],{\"a\":{\"b\":1}}]", "- - - 1\n  - 2\n- a:\n    b: 1\n"},
        {"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\",\"labels\":"
         "{\"app.kubernetes.io/name\":\"x\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":"
         "\"nginx:1.25\",\"args\":[\"--v=2\",\"-f\"],\"ports\":[{\"containerPort\":80}]}]}}",
         "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  labels:\n"
         "    app.kubernetes.io/name: x\nspec:\n  containers:\n  - name: c\n"
         "    image: nginx:1.25\n    args:\n    - --v=2\n    - -f\n    ports:\n"
         "    - containerPort: 80\n"},
    };
    check_cases(cases, sizeof cases / sizeof *cases);
}

static void scalars_are_bare_unless_that_changes_them(void **state)
{
    (void)state;
    static const struct write_case cases[] = {
        {"null", "null\n"},
        {"true", "true\n"},
        {"1.50", "1.50\n"},
        {"-0", "-0\n"},
        {"1e999", "!!float 1e999\n"},
        {"123456789012345678901234567890", "123456789012345678901234567890\n"},
        {"\"plain text, with [brackets] {and} 'quotes'\"",
         "plain text, with [brackets] {and} 'quotes'\n"},
        {"\"10.0.0.1\"", "10.0.0.1\n"},
        {"\"100m\"", "100m\n"},
        {"\"a:b\"", "a:b\n"},
        {"\"a#b\"", "a#b\n"},
        {"\"-x\"", "-x\n"},
        {"\"?x\"", "?x\n"},
        {"\":x\"", ":x\n"},
        {"\"\xC3\xA9t\xC3\xA9\"", "\xC3\xA9t\xC3\xA9\n"},
        {"\"\"", "\"\"\n"},
        {"\"yes\"", "\"yes\"\n"},
        {"\"n\"", "\"n\"\n"},
        {"\"null\"", "\"null\"\n"},
        {"\"1\"", "\"1\"\n"},
        {"\"0x1F\"", "\"0x1F\"\n"},
        {"\"1_0\"", "\"1_0\"\n"},
        {"\"1e999\"", "\"1e999\"\n"},
        {"\"12:30\"", "\"12:30\"\n"},
        {"\"2001-12-14\"", "\"2001-12-14\"\n"},
        {"\"2020-01-01T00:00:00Z\"", "\"2020-01-01T00:00:00Z\"\n"},
        {"\"<<\"", "\"<<\"\n"},
        {"\"=\"", "\"=\"\n"},
        {"\" a\"", "' a'\n"},
        {"\"a \"", "'a '\n"},
        {"\" \"", "' '\n"},
        {"\"a: b\"", "'a: b'\n"},
        {"\"a:\"", "'a:'\n"},
        {"\"a #b\"", "'a #b'\n"},
        {"\"#a\"", "'#a'\n"},
        {"\"*a's\"", "'*a''s'\n"},
        {"\"-\"", "'-'\n"},
        {"\"- a\"", "'- a'\n"},
        {"\"--- a\"", "'--- a'\n"},
        {"\"...\"", "'...'\n"},
        {"\"%a\"", "'%a'\n"},
        {"\"@a\"", "'@a'\n"},
        {"\"`a`\"", "'`a`'\n"},
        {"\"{a}\"", "'{a}'\n"},
        {"\"[a\"", "'[a'\n"},
        {"\"!a\"", "'!a'\n"},
        {"\"'a'\"", "'''a'''\n"},
        {"\"\\\"a\\\"\"", "'\"a\"'\n"},
        {"\"a\\tb\"", "\"a\\tb\"\n"},
        {"\"a\\r\"", "\"a\\r\"\n"},
        {"\"\\u0000\\u0007\\u007f\\u0085\"", "\"\\x00\\x07\\x7F\\x85\"\n"},
        {"\"\\u2028\\u2029\\ufeff\\uffff\"", "\"\\u2028\\u2029\\uFEFF\\uFFFF\"\n"},
        {"\"\\ud83f\\udfff \\\\ \\\" \xF0\x9F\x98\x80\"",
         "\"\\U0001FFFF \\\\ \\\" \xF0\x9F\x98\x80\"\n"},
    };
    check_cases(cases, sizeof cases / sizeof *cases);
}

static void keys_are_quoted_by_the_same_rules(void **state)
{
    (void)state;
    static const struct write_case cases[] = {
        {"{\"\":1}", "\"\": 1\n"},           {"{\"on\":1}", "\"on\": 1\n"},
        {"{\"12\":1}", "\"12\": 1\n"},       {"{\"<<\":{\"a\":1}}", "\"<<\":\n  a: 1\n"},
        {"{\"a b\":1}", "a b: 1\n"},         {"{\"a: b\":1}", "'a: b': 1\n"},
        {"{\"a\\nb\":1}", "\"a\\nb\": 1\n"}, {"{\"tls.crt\":1,\"a/b\":2}", "tls.crt: 1\na/b: 2\n"},
    };
    check_cases(cases, sizeof cases / sizeof *cases);
}

static void text_of_several_lines_is_a_literal_block(void **state)
{
    (void)state;
    static const struct write_case cases[] = {
        {"\"a\\nb\"", "|-\n  a\n  b\n"},
        {"{\"a\":\"x\\n\"}", "a: |\n  x\n"},
        {"{\"a\":\"x\\ny\",\"b\":1}", "a: |-\n  x\n  y\nb: 1\n"},
        {"{\"a\":\"x\\n\\n\\n\",\"b\":1}", "a: |+\n  x\n\n\nb: 1\n"},
        {"[\"x\\n  y\\n\"]", "- |\n  x\n    y\n"},
        {"{\"a\":[{\"b\":\"x\\ny\\n\"},[\"p\\nq\"]]}",
         "a:\n- b: |\n    x\n    y\n- - |-\n    p\n    q\n"},
        {"{\"a\":\" x\\ny\"}", "a: |2-\n   x\n  y\n"},
        {"{\"a\":\"\\nx\\n\"}", "a: |2\n\n  x\n"},
        {"{\"a\":\"\\tx\\ny\\tz\\n\"}", "a: |2\n  \tx\n  y\tz\n"},
        {"[[\" x\\n\"]]", "- - |2\n     x\n"},
        {"{\"a\":\"x \\n\\n   \\ny\"}", "a: |-\n  x \n\n     \n  y\n"},
        {"{\"a\":\"# x\\n--- y\\nz: 1\\n\"}", "a: |\n  # x\n  --- y\n  z: 1\n"},
        {"{\"a\":\"\\n\"}", "a: \"\\n\"\n"},
        {"{\"a\":\"x\\n \"}", "a: \"x\\n \"\n"},
        {"{\"a\":\"x\\n\\t\\n\"}", "a: \"x\\n\\t\\n\"\n"},
        {"{\"a\":\"x\\r\\ny\"}", "a: \"x\\r\\ny\"\n"},
        {"{\"a\":\"x\\n\\u2028y\"}", "a: \"x\\n\\u2028y\"\n"},
    };
    check_cases(cases, sizeof cases / sizeof *cases);
}

static void long_keys_are_explicit(void **state)
{
    (void)state;
    struct vd_arena arena = {0};
    struct vd_buf key = {0};
    for (size_t n = 990; n < 1040; n++) {
        vd_buf_reset(&key);
        for (size_t i = 0; i < n; i++)
            vd_buf_add_char(&key, 'k');
        struct vd_json *object = vd_json_object(&arena), *list = vd_json_array(&arena);
        struct vd_json *inner = vd_json_object(&arena);
        vd_json_add(&arena, inner, vd_buf_slice(&key), vd_json_i64(&arena, 1));
        vd_json_append(list, inner);
        vd_json_append(list, vd_json_string(&arena, VD_SLICE("x\ny")));
        vd_json_add(&arena, object, vd_buf_slice(&key), list);
        vd_buf_add_char(&key, '\n');
        vd_json_add(&arena, object, vd_buf_slice(&key), vd_json_copy(&arena, inner));
        vd_buf_add_char(&key, '\n');
        vd_json_add(&arena, object, vd_buf_slice(&key), vd_json_string(&arena, VD_SLICE("a\nb\n")));
        check_round_trip(object, "long keys");
    }
    vd_buf_release(&key);
    vd_arena_release(&arena);
}

static void the_deepest_document_round_trips(void **state)
{
    (void)state;
    struct vd_arena arena = {0};
    for (int kind = 0; kind < 3; kind++) {
        struct vd_json *v = vd_json_string(&arena, VD_SLICE(" a\nb"));
        for (int i = 0; i < VD_JSON_DEPTH_MAX; i++) {
            bool map = kind == 2 ? i % 2 : kind;
            struct vd_json *outer = map ? vd_json_object(&arena) : vd_json_array(&arena);
            if (map)
                vd_json_add_ref(outer, VD_SLICE("k"), v);
            else
                vd_json_append(outer, v);
            v = outer;
        }
        check_round_trip(v, "deep");
    }
    vd_arena_release(&arena);
}

/* --- random documents --- */

static uint64_t seed_next(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static size_t below(uint64_t *seed, size_t n)
{
    return (size_t)(seed_next(seed) >> 11) % n;
}

/* Pieces that mean something to YAML, alone or next to each other. */
static const char *const pieces[] = {
    " ",
    " ",
    "\n",
    "\n",
    "\t",
    ":",
    ": ",
    "#",
    " #",
    "-",
    "- ",
    "---",
    "...",
    "?",
    "? ",
    "|",
    "|-",
    ">",
    "|2",
    "'",
    "\"",
    "\\",
    "{",
    "}",
    "[",
    "]",
    ",",
    "&a",
    "*a",
    "!",
    "!!",
    "%",
    "@",
    "`",
    "=",
    "<<",
    "~",
    "null",
    "yes",
    "n",
    "1",
    "0",
    "x",
    "e",
    ".",
    "+",
    "_",
    ":30",
    "2001-12-14",
    "\r",
    "\r\n",
    "a",
    "b",
    "true",
    ".inf",
    "0x",
    "word",
    "\x7F",
    "\xC2\x85",
    "\xE2\x80\xA8",
    "T1:",
    "Z",
    "\x01",
    "\xEF\xBB\xBF",
    "\xC3\xA9",
    "\xC2\xA0",
    "\xE2\x80\xA9",
    "\xEF\xBF\xBF",
    "\xF0\x9F\x98\x80",
    "\xF0\x9F\xBF\xBF",
    "%TAG",
    "%YAML",
};

static struct vd_slice random_text(uint64_t *seed, struct vd_buf *out)
{
    vd_buf_reset(out);
    for (size_t n = below(seed, 7); n; n--) {
        if (below(seed, 40) == 0)
            vd_buf_add_char(out, 0);
        vd_buf_add_text(out, pieces[below(seed, sizeof pieces / sizeof *pieces)]);
    }
    return vd_buf_slice(out);
}

static struct vd_json *random_leaf(uint64_t *seed, struct vd_arena *arena, struct vd_buf *scratch)
{
    static const char *const numbers[] = {
        "0",     "-0",        "1",      "-17",
        "1.5",   "1e5",       "1E-7",   "9223372036854775808",
        "1e400", "-1.0e+999", "0.1000", "123456789012345678901234567890.5"};
    switch (below(seed, 8)) {
    case 0:
        return vd_json_null(arena);
    case 1:
        return vd_json_bool(arena, below(seed, 2));
    case 2:
        return vd_json_number(arena,
                              vd_slice_of(numbers[below(seed, sizeof numbers / sizeof *numbers)]));
    default:
        return vd_json_string(arena, random_text(seed, scratch));
    }
}

static struct vd_json *random_value(uint64_t *seed, struct vd_arena *arena, struct vd_buf *scratch,
                                    int depth)
{
    if (depth == 0 || below(seed, 3) == 0)
        return random_leaf(seed, arena, scratch);
    bool map = below(seed, 2);
    struct vd_json *v = map ? vd_json_object(arena) : vd_json_array(arena);
    for (size_t n = below(seed, 5); n; n--) {
        struct vd_json *child = random_value(seed, arena, scratch, depth - 1);
        if (map)
            (void)vd_json_set(arena, v, random_text(seed, scratch), child);
        else
            vd_json_append(v, child);
    }
    return v;
}

static void random_documents_round_trip(void **state)
{
    (void)state;
    struct vd_arena arena = {0};
    struct vd_buf scratch = {0};
    for (uint64_t first = 1; first <= 20000; first++) {
        uint64_t seed = first * 0x9E3779B97F4A7C15u;
        char where[32];
        snprintf(where, sizeof where, "seed %llu", (unsigned long long)first);
        vd_arena_reset(&arena);
        check_round_trip(random_value(&seed, &arena, &scratch, 5), where);
    }
    vd_buf_release(&scratch);
    vd_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(containers_are_blocks_as_kubectl_prints_them),
        cmocka_unit_test(scalars_are_bare_unless_that_changes_them),
        cmocka_unit_test(keys_are_quoted_by_the_same_rules),
        cmocka_unit_test(text_of_several_lines_is_a_literal_block),
        cmocka_unit_test(long_keys_are_explicit),
        cmocka_unit_test(the_deepest_document_round_trips),
        cmocka_unit_test(random_documents_round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
