/* Schemas that put off what takes long: patterns and rules that are compiled when needed, by
 * whoever may, and checks that give up. */
#include "kinds/schema.h"

#include <pthread.h>
#include <string.h>

#include "base/limits.h"
#include "base/pattern.h"
#include "json_check.h"
#include "kinds/schema_rules.h"

#define OBJECT(properties) "{\"type\":\"object\",\"properties\":{" properties "}}"
#define HEAVY              "[ab]*a[ab]{1000}c"

static struct vd_schema *lazy_schema(struct vd_arena *a, const char *text)
{
    struct vd_error error = {0};
    struct vd_schema *schema;
    struct vd_schema_options options = {.lazy = true};
    assert_ok(vd_schema_new(&schema, json_of(a, text), &options, &error), &error);
    return schema;
}

/* What a check with this effort says; "over" if it has given up on a loop. */
static void assert_said(struct vd_arena *a, struct vd_schema *schema, const char *object,
                        bool on_loop, const char *want)
{
    struct vd_violations v = {.effort = {.on_loop = on_loop}};
    struct vd_buf text = {0};
    bool ok = vd_schema_validate(schema, json_of(a, object), &v) &&
              vd_schema_check_rules(schema, json_of(a, object), NULL, &v);
    if (v.effort.over && on_loop)
        vd_buf_add_text(&text, "over");
    else
        vd_violations_write(&text, &v);
    assert_string_equal(vd_buf_text(&text), want);
    assert_int_equal(ok, *want == '\0');
    vd_buf_release(&text);
    vd_violations_release(&v);
}

static void a_pattern_is_compiled_by_who_may(void **state)
{
    struct vd_schema *schema = lazy_schema(
        *state, OBJECT("\"a\":{\"type\":\"string\",\"pattern\":\"^x+$\"},"
                       "\"b\":{\"type\":\"string\",\"pattern\":\"^x+$\"}"));
    assert_said(*state, schema, "{}", true, "");
    assert_said(*state, schema, "{\"a\":\"x\"}", true, "over");
    assert_said(*state, schema, "{\"a\":\"x\"}", false, "");
    assert_said(*state, schema, "{\"a\":\"x\"}", true, "");
    assert_said(*state, schema, "{\"b\":\"y\"}", true, /* the same, so it is compiled as well */
                "b: Invalid value: \"y\": b in body should match '^x+$'");
    vd_schema_unref(schema);
}

static void rules_are_compiled_by_who_may(void **state)
{
    struct vd_schema *schema = lazy_schema(
        *state, OBJECT("\"a\":{\"type\":\"string\",\"x-kubernetes-validations\":[{\"rule\":"
                       "\"self != 'x'\",\"message\":\"no x\"}]},\"b\":{\"type\":\"string\"}"));
    assert_said(*state, schema, "{\"a\":\"y\"}", true, "over");
    assert_said(*state, schema, "{\"a\":\"x\"}", false, "a: Invalid value: \"string\": no x");
    assert_said(*state, schema, "{\"a\":\"y\"}", true, "");
    vd_schema_unref(schema);
}

/* A rule whose pattern is the object's compiles it each time. */
static void patterns_of_objects_are_compiled_by_who_may(void **state)
{
    struct vd_schema *schema = lazy_schema(
        *state, "{\"type\":\"object\",\"x-kubernetes-validations\":[{\"rule\":"
                "\"self.a.matches(self.p)\",\"message\":\"no match\"}],\"properties\":{\"a\":{"
                "\"type\":\"string\"},\"p\":{\"type\":\"string\"}}}");
    assert_said(*state, schema, "{\"a\":\"y\",\"p\":\"y\"}", false, "");
    assert_said(*state, schema, "{\"a\":\"y\",\"p\":\"y\"}", true, "over");
    assert_said(*state, schema, "{\"a\":\"y\",\"p\":\"z\"}", false,
                "<nil>: Invalid value: \"object\": no match");
    vd_schema_unref(schema);
}

static void add_object(struct vd_buf *out, size_t len)
{
    vd_buf_add_text(out, "{\"a\":\"");
    for (size_t i = 0; i < len; i++)
        vd_buf_add_char(out, 'a');
    vd_buf_add_text(out, "\"}");
}

static void a_text_can_be_too_long_for_its_pattern(void **state)
{
    char why[64];
    struct vd_pattern *pattern = vd_pattern_new(HEAVY, strlen(HEAVY), why, sizeof why);
    size_t size = vd_pattern_size(pattern);
    struct vd_schema *schema = lazy_schema(
        *state, OBJECT("\"a\":{\"type\":\"string\",\"pattern\":\"" HEAVY "\"}"));
    struct vd_buf object = {0}, text = {0};
    struct vd_violations v = {0};
    vd_pattern_free(pattern);
    assert_said(*state, schema, "{\"a\":\"b\"}", false,
                "a: Invalid value: \"b\": a in body should match '" HEAVY "'");
    add_object(&object, VD_CHECK_TURN_WORK_MAX / size + 1);
    assert_said(*state, schema, vd_buf_text(&object), true, "over");
    vd_buf_reset(&object);
    add_object(&object, VD_CHECK_WORK_MAX / size + 1);
    assert_false(vd_schema_validate(schema, json_of(*state, vd_buf_text(&object)), &v));
    assert_true(v.effort.over);
    vd_violations_write(&text, &v);
    assert_non_null(strstr(vd_buf_text(&text), "a in body is too long to be compared with"));
    vd_buf_release(&object);
    vd_buf_release(&text);
    vd_violations_release(&v);
    vd_schema_unref(schema);
}

/* ---- many at once ---- */

enum { THREADS = 4 };

static void *ask(void *arg)
{
    struct vd_arena a = {0};
    struct vd_violations v = {0};
    const struct vd_json *object = json_of(&a, "{\"a\":\"x\",\"b\":\"y\"}");
    bool ok = vd_schema_validate(arg, object, &v) && vd_schema_check_rules(arg, object, NULL, &v);
    vd_violations_release(&v);
    vd_arena_release(&a);
    return ok ? arg : NULL;
}

static void threads_that_compile_at_once_agree(void **state)
{
    for (int round = 0; round < 50; round++) {
        pthread_t threads[THREADS];
        struct vd_schema *schema = lazy_schema(
            *state,
            OBJECT("\"a\":{\"type\":\"string\",\"pattern\":\"^x+$\"},\"b\":{\"type\":"
                   "\"string\",\"x-kubernetes-validations\":[{\"rule\":\"self == 'y'\"}]}"));
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, ask, schema), 0);
        for (int i = 0; i < THREADS; i++) {
            void *said = NULL;
            pthread_join(threads[i], &said);
            assert_ptr_equal(said, schema);
        }
        vd_schema_unref(schema);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        arena_test(a_pattern_is_compiled_by_who_may),
        arena_test(rules_are_compiled_by_who_may),
        arena_test(patterns_of_objects_are_compiled_by_who_may),
        arena_test(a_text_can_be_too_long_for_its_pattern),
        arena_test(threads_that_compile_at_once_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
