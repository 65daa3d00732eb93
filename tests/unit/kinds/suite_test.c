/*
 * src/kinds/schema_validate.c against the JSON Schema Test Suite, where Debian's package of it is
 * installed: the files of draft 4 whose keywords CRDs have too. Schemas that use more than a CRD
 * may (references, lists of types...) are refused by the compiler and left out.
 */
#include <stdio.h>
#include <stdlib.h>

#include "json_check.h"
#include "kinds/schema.h"

#define SUITE "/usr/share/json-schema-test-suite/tests/draft4/"

static bool read_whole(const char *path, struct vd_buf *out)
{
    FILE *file = fopen(path, "rb");
    char chunk[4096];
    size_t n;
    if (!file)
        return false;
    while ((n = fread(chunk, 1, sizeof chunk, file)) > 0)
        vd_buf_add(out, chunk, n);
    fclose(file);
    return true;
}

struct tally {
    size_t passed, refused;
};

static void run_group(const struct vd_json *group, const char *file, struct tally *tally)
{
    struct vd_error error = {0};
    struct vd_schema *schema = NULL;
    struct vd_slice name = vd_json_text(vd_json_get(group, VD_SLICE("description")));
    if (vd_schema_new(&schema, vd_json_get(group, VD_SLICE("schema")), NULL, &error) != VD_OK) {
        tally->refused++;
        return;
    }
    VD_JSON_EACH (test, vd_json_get(group, VD_SLICE("tests"))) {
        struct vd_violations violations = {0};
        struct vd_slice what = vd_json_text(vd_json_get(test, VD_SLICE("description")));
        bool want = vd_json_truth(vd_json_get(test, VD_SLICE("valid")));
        bool got = vd_schema_validate(schema, vd_json_get(test, VD_SLICE("data")), &violations);
        if (got != want)
            fail_msg("%s: %.*s: %.*s: got %d, want %d", file, VD_FMT(name), VD_FMT(what), got,
                     want);
        tally->passed++;
        vd_violations_release(&violations);
    }
    vd_schema_unref(schema);
}

static void shared_keywords_mean_the_same(void **state)
{
    static const char *const files[] = {
        "additionalProperties",
        "allOf",
        "anyOf",
        "enum",
        "items",
        "maxItems",
        "maxLength",
        "maxProperties",
        "maximum",
        "minItems",
        "minLength",
        "minProperties",
        "minimum",
        "multipleOf",
        "not",
        "oneOf",
        "pattern",
        "properties",
        "required",
        "type",
        "uniqueItems",
        "default",
    };
    struct tally tally = {0};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[256];
        struct vd_buf text = {0};
        struct vd_json *groups = NULL;
        struct vd_error error = {0};
        snprintf(path, sizeof path, SUITE "%s.json", files[i]);
        if (!read_whole(path, &text)) {
            print_message("%s is not there; install json-schema-test-suite to run it\n", path);
            skip();
        }
        assert_ok(vd_json_parse_copy(*state, vd_buf_slice(&text), NULL, &groups, &error), &error);
        VD_JSON_EACH (group, groups)
            run_group(group, files[i], &tally);
        vd_buf_release(&text);
    }
    print_message("%zu cases agree, %zu schemas are none of a CRD\n", tally.passed, tally.refused);
    assert_true(tally.passed > 150);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        arena_test(shared_keywords_mean_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
