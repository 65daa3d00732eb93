/* src/git/positions.c: where the fields of a document stand. */
#include "git/positions.h"

#include <time.h>

#include "base/buf.h"
#include "check.h"

static const char yaml_text[] = "---\n"
                                "apiVersion: v1\n"
                                "metadata:\n"
                                "  name: a\n"
                                "  annotations:\n"
                                "    example.com/x.y: z\n"
                                "    example.com: z\n"
                                "spec:\n"
                                "  media:\n"
                                "  - fileRef:\n"
                                "      name: b\n"
                                "  - fileRef: {name: c}\n";

static const char json_text[] =
    " {\"apiVersion\": \"v1\",\n"
    "  \"metadata\": {\n"
    "    \"annotations\": {\"example.com/x.y\": \"\\u00e9\", \"e\": 1}},\n"
    "  \"spec\": {\"media\": [{}, {\"fileRef\": {\"name\": 7}}]}}";

static const char list_text[] = "kind: List\n"
                                "items:\n"
                                "- spec: {a: 1}\n"
                                "- spec: {b: 1}\n";

static void check_find(const char *text, enum vd_git_syntax syntax, unsigned item,
                       const char *field, unsigned line, unsigned column)
{
    struct vd_git_source source = {.text = vd_slice_of(text),
                                   .syntax = syntax,
                                   .from = {11, 1}, /* ten lines of the file stand before it */
                                   .item = item};
    struct vd_git_positions *p = vd_git_positions_new(&source);
    struct vd_yaml_position at = field[0] == '/' ? vd_git_positions_point(p, vd_slice_of(field))
                                                 : vd_git_positions_find(p, vd_slice_of(field));
    if (at.line != line + 10 || at.column != column)
        fail_msg("%s is at %u:%u, want %u:%u", field, at.line - 10, at.column, line, column);
    vd_git_positions_free(p);
}

struct position_case {
    const char *field;
    unsigned line, column;
};

static void yaml_fields_stand_where_their_keys_do(void **state)
{
    (void)state;
    static const struct position_case cases[] = {
        {"", 2, 1},
        {"apiVersion", 2, 1},
        {"metadata.name", 4, 3},
        {"metadata.annotations[example.com/x.y]", 6, 5},
        {"metadata.annotations.example.com/x.y", 6, 5},
        {"metadata.annotations.example.com", 7, 5},
        {"spec.media[0].fileRef.name", 11, 7},
        {"spec.media[1].fileRef.name", 12, 15},
        {"spec.media[1]", 12, 5},
        {"/spec/media/1/fileRef/name", 12, 15},
        {"/metadata/annotations/example.com~1x.y", 6, 5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_find(yaml_text, VD_GIT_YAML, 0, cases[i].field, cases[i].line, cases[i].column);
}

static void a_missing_field_has_the_place_of_its_parent(void **state)
{
    (void)state;
    static const struct position_case cases[] = {
        {"metadata.namespace", 3, 1},
        {"spec.media[2].x", 9, 3},
        {"status.x", 2, 1},
        {"spec.media[0].url.x", 10, 5},
        {"[", 2, 1},
        {"spec.media[x]", 9, 3},
        {"/spec/nothing/here", 8, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_find(yaml_text, VD_GIT_YAML, 0, cases[i].field, cases[i].line, cases[i].column);
}

static void json_fields_stand_where_their_keys_do(void **state)
{
    (void)state;
    static const struct position_case cases[] = {
        {"", 1, 2},
        {"apiVersion", 1, 3},
        {"metadata.annotations[example.com/x.y]", 3, 21},
        {"metadata.annotations[e]", 3, 50},
        {"spec.media[1].fileRef.name", 4, 39},
        {"spec.media[1].fileRef.nothing", 4, 27},
        {"/spec/media/1", 4, 26},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_find(json_text, VD_GIT_JSON, 0, cases[i].field, cases[i].line, cases[i].column);
}

static void items_of_lists_have_fields(void **state)
{
    (void)state;
    check_find(list_text, VD_GIT_YAML, 1, "spec.a", 3, 10);
    check_find(list_text, VD_GIT_YAML, 2, "spec.b", 4, 10);
    check_find(list_text, VD_GIT_YAML, 2, "spec.a", 4, 3);
    check_find(list_text, VD_GIT_YAML, 2, "", 4, 3);
    check_find("{\"kind\": \"List\", \"items\": [{},\n {\"a\": 1}]}", VD_GIT_JSON, 2, "a", 2, 3);
}

static void what_cannot_be_read_has_a_beginning(void **state)
{
    (void)state;
    check_find("a: [", VD_GIT_YAML, 0, "a", 1, 1);
    check_find("{\"a\"", VD_GIT_JSON, 0, "a", 1, 1);
}

/* 500 mistakes at the end of a large document. */
static void many_questions_are_bounded(void **state)
{
    (void)state;
    struct vd_buf text = {0};
    vd_buf_add_text(&text, "{\"a\": {");
    for (int i = 0; i < 200000; i++)
        vd_buf_addf(&text, "\"k%d\": %d,\n", i, i);
    vd_buf_add_text(&text, "\"z\": 1}}");
    struct vd_git_source source = {
        .text = vd_buf_slice(&text), .syntax = VD_GIT_JSON, .from = {1, 1}};
    struct vd_git_positions *p = vd_git_positions_new(&source);
    clock_t begin = clock();
    assert_int_equal(vd_git_positions_find(p, VD_SLICE("a.z")).line, 200001);
    for (int i = 0; i < 2000; i++)
        assert_true(vd_git_positions_find(p, VD_SLICE("a.z")).line > 0);
    assert_true(clock() - begin < 5 * CLOCKS_PER_SEC);
    vd_git_positions_free(p);
    vd_buf_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(yaml_fields_stand_where_their_keys_do),
        cmocka_unit_test(a_missing_field_has_the_place_of_its_parent),
        cmocka_unit_test(json_fields_stand_where_their_keys_do),
        cmocka_unit_test(items_of_lists_have_fields),
        cmocka_unit_test(what_cannot_be_read_has_a_beginning),
        cmocka_unit_test(many_questions_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
