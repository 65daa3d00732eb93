/* src/kinds/schema_default.c: what defaults may add to an object, in bytes and in memory. What
 * they add is in schema_test.c. */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "json_check.h"
#include "kinds/schema_internal.h"
#include "kinds/structural.h"
#include "json/write.h"

enum { ARENA_MAX = 16 << 20 }; /* what an object of a few megabytes may take of it */

static struct vd_schema *schema_of(struct vd_arena *a, const char *text)
{
    struct vd_error error = {0};
    struct vd_schema *schema = NULL;
    assert_ok(vd_schema_new(&schema, json_of(a, text), NULL, &error), &error);
    return schema;
}

/* `before`, then `one` so many times with commas, then `after`; in the arena. */
static const char *many(struct vd_arena *a, const char *before, const char *one, size_t n,
                        const char *after)
{
    struct vd_buf text = {0};
    vd_buf_add_text(&text, before);
    for (size_t i = 0; i < n; i++)
        vd_buf_addf(&text, "%s%s", i ? "," : "", one);
    vd_buf_add_text(&text, after);
    const char *copy = vd_arena_copy(a, vd_buf_slice(&text)).p;
    vd_buf_release(&text);
    return copy;
}

/* A text of so many bytes, quoted. */
static const char *long_text(struct vd_arena *a, size_t n)
{
    char *text = vd_arena_alloc(a, n + 3);
    memset(text + 1, 'x', n);
    text[0] = text[n + 1] = '"';
    text[n + 2] = '\0';
    return text;
}

/* Lists in lists, each with a default of a hundred empty objects. */
static const char *nest(struct vd_arena *a, int depth)
{
    const char *schema = "{\"type\":\"object\",\"properties\":{\"x\":{\"type\":\"string\","
                         "\"default\":\"y\"}}}";
    for (int i = 0; i < depth; i++) {
        struct vd_buf text = {0};
        vd_buf_addf(&text,
                    "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"array\",%s,\"items\":%s"
                    "}}}",
                    many(a, "\"default\":[", "{}", 100, "]"), schema);
        schema = vd_arena_copy(a, vd_buf_slice(&text)).p;
        vd_buf_release(&text);
    }
    return schema;
}

static bool fills(const struct vd_schema *schema, struct vd_arena *arena, struct vd_json *value,
                  bool on_loop, uint64_t *filled)
{
    struct vd_effort effort = {.on_loop = on_loop};
    bool ok = vd_schema_default(schema, arena, value, &effort);
    assert_int_equal(ok, !effort.over);
    if (filled)
        *filled = effort.filled;
    return ok;
}

/* What is paid for is what is added: no less, and at most a byte for each member more. */
static void the_bytes_that_are_added_are_counted(void **state)
{
    static const struct {
        const char *schema, *value;
    } rows[] = {
        {"{\"properties\":{\"a\":{\"default\":1}}}", "{\"b\":2}"},
        {"{\"properties\":{\"a\":{\"default\":{},\"properties\":{\"b\":{\"default\":[1,2]}}}}}",
         "{\"c\":1}"},
        {"{\"items\":{\"properties\":{\"a\":{\"default\":\"x\"}}}}", "[{\"b\":1},{\"a\":2},null]"},
        {"{\"properties\":{\"a\":{\"default\":[{},{\"b\":3}],\"items\":{\"properties\":{\"b\":{"
         "\"default\":{\"c\":null},\"properties\":{\"c\":{\"type\":\"string\",\"default\":\"z\"}}}}"
         "}}}}",
         "{\"q\":0}"},
        {"{\"additionalProperties\":{\"properties\":{\"a\":{\"default\":7}}}}",
         "{\"k\":{\"b\":1},\"l\":{\"a\":1}}"},
    };
    struct vd_arena a = {0};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct vd_schema *schema = schema_of(&a, rows[i].schema);
        struct vd_json *value = json_of(&a, rows[i].value);
        struct vd_buf text = {0};
        uint64_t filled;
        assert_true(fills(schema, &a, value, false, &filled));
        vd_json_write(&text, value);
        size_t added = text.n - strlen(rows[i].value);
        if (filled < added || filled > added + 16)
            fail_msg("%s: %zu bytes were added, %llu counted", vd_buf_text(&text), added,
                     (unsigned long long)filled);
        vd_buf_release(&text);
        vd_schema_unref(schema);
    }
    vd_arena_release(&a);
}

/* One default of a megabyte for each of twenty thousand items. */
static void a_default_of_items_is_not_copied_without_bound(void **state)
{
    struct vd_arena a = {0}, work = {0};
    struct vd_buf text = {0};
    (void)state;
    vd_buf_addf(&text, "{\"items\":{\"properties\":{\"t\":{\"default\":%s}}}}",
                long_text(&a, 1000000));
    struct vd_schema *schema = schema_of(&a, vd_buf_text(&text));
    assert_true(fills(schema, &work, json_of(&a, "[{},{},{}]"), false, NULL));
    assert_false(fills(schema, &work, json_of(&a, "[{},{},{},{}]"), false, NULL));
    assert_false(fills(schema, &work, json_of(&a, many(&a, "[", "{}", 20000, "]")), false, NULL));
    assert_false(fills(schema, &work, json_of(&a, "[{}]"), true, NULL)); /* not in a turn */
    assert_in_range(work.total, 0, ARENA_MAX);
    vd_buf_release(&text);
    vd_schema_unref(schema);
    vd_arena_release(&a);
    vd_arena_release(&work);
}

/* An empty object, and defaults that fill in each other: nothing is copied before it is clear that
 * all of it fits. */
static void nested_defaults_do_not_multiply_without_bound(void **state)
{
    struct vd_arena a = {0}, work = {0};
    (void)state;
    struct vd_schema *schema = schema_of(&a, nest(&a, 4));
    assert_false(fills(schema, &work, json_of(&a, "{}"), false, NULL));
    assert_int_equal(work.total, 0);
    vd_schema_unref(schema);
    schema = schema_of(&a, nest(&a, 2));
    assert_true(fills(schema, &work, json_of(&a, "{}"), false, NULL));
    vd_schema_unref(schema);
    /* So many levels that the product wraps around. */
    schema = schema_of(&a, nest(&a, 12));
    assert_true(schema->root->growth > VD_DEFAULTS_LEN_MAX);
    assert_false(fills(schema, &work, json_of(&a, "{}"), false, NULL));
    vd_schema_unref(schema);
    vd_arena_release(&a);
    vd_arena_release(&work);
}

/* Nulls that are replaced are paid for, too. */
static void nulls_are_replaced_within_bounds(void **state)
{
    struct vd_arena a = {0}, work = {0};
    struct vd_buf text = {0};
    (void)state;
    vd_buf_addf(&text, "{\"items\":{\"default\":%s}}", long_text(&a, 100000));
    struct vd_schema *schema = schema_of(&a, vd_buf_text(&text));
    assert_true(fills(schema, &work, json_of(&a, "[null,null]"), false, NULL));
    assert_false(fills(schema, &work, json_of(&a, many(&a, "[", "null", 1000, "]")), false, NULL));
    assert_in_range(work.total, 0, ARENA_MAX);
    vd_buf_release(&text);
    vd_schema_unref(schema);
    vd_arena_release(&a);
    vd_arena_release(&work);
}

/* The limit, and one byte more. */
static void the_limit_is_a_limit(void **state)
{
    struct vd_arena a = {0};
    (void)state;
    for (size_t more = 0; more < 2; more++) {
        struct vd_buf text = {0};
        size_t frame = strlen("\"t\":,") + 2; /* the quotes of the value */
        vd_buf_addf(&text, "{\"properties\":{\"t\":{\"default\":%s}}}",
                    long_text(&a, VD_DEFAULTS_LEN_MAX - frame + more));
        struct vd_schema *schema = schema_of(&a, vd_buf_text(&text));
        assert_int_equal(fills(schema, &a, json_of(&a, "{}"), false, NULL), more == 0);
        vd_schema_unref(schema);
        vd_buf_release(&text);
    }
    vd_arena_release(&a);
}

/* A definition is refused where an empty object, wherever it may stand, cannot be filled in. */
static void a_definition_whose_defaults_multiply_is_refused(void **state)
{
    static const struct {
        const char *form;
        int depth;
        const char *field; /* NULL: it is good */
    } rows[] = {
        {"{\"type\":\"object\",\"properties\":{\"spec\":%s}}", 2, NULL},
        {"{\"type\":\"object\",\"properties\":{\"spec\":%s}}", 4,
         "s.openAPIV3Schema.properties[spec].properties[a].items.properties[a].default"},
        {"{\"type\":\"object\",\"properties\":{\"m\":{\"type\":\"object\",\"additionalProperties\":"
         "%s}}}",
         3, "s.openAPIV3Schema.properties[m].additionalProperties.properties[a].default"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct vd_arena a = {0};
        struct vd_buf text = {0};
        struct vd_violations violations = {0};
        struct vd_field_path up = vd_field_member(NULL, VD_SLICE("s"));
        const char *inner = nest(&a, rows[i].depth);
        const char *at = strstr(rows[i].form, "%s");
        vd_buf_add(&text, rows[i].form, (size_t)(at - rows[i].form));
        vd_buf_addf(&text, "%s%s", inner, at + 2);
        vd_structural_check(json_of(&a, vd_buf_text(&text)), &up, false, &violations);
        assert_int_equal(violations.list.n, rows[i].field ? 1 : 0);
        if (rows[i].field) {
            assert_slice(violations.list.p[0].field, rows[i].field);
            assert_non_null(memmem(violations.list.p[0].message.p, violations.list.p[0].message.n,
                                   "3145728", 7));
        }
        vd_violations_release(&violations);
        vd_buf_release(&text);
        vd_arena_release(&a);
    }
}

/* A node with thousands of properties, of which one has a default, costs an object one look-up. */
static void properties_without_a_default_cost_nothing(void **state)
{
    struct vd_arena a = {0};
    struct vd_buf text = {0};
    (void)state;
    vd_buf_add_text(&text, "{\"items\":{\"properties\":{");
    for (int i = 0; i < 50000; i++)
        vd_buf_addf(&text, "\"p%d\":{},", i);
    vd_buf_add_text(&text, "\"d\":{\"default\":1}}}}");
    struct vd_schema *schema = schema_of(&a, vd_buf_text(&text));
    assert_int_equal(schema->root->items->defaulted_count, 1);
    /* Ten billion look-ups would not come to an end here. */
    assert_true(fills(schema, &a, json_of(&a, many(&a, "[", "{}", 200000, "]")), false, NULL));
    vd_schema_unref(schema);
    vd_buf_release(&text);
    vd_arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bytes_that_are_added_are_counted),
        cmocka_unit_test(a_default_of_items_is_not_copied_without_bound),
        cmocka_unit_test(nested_defaults_do_not_multiply_without_bound),
        cmocka_unit_test(nulls_are_replaced_within_bounds),
        cmocka_unit_test(the_limit_is_a_limit),
        cmocka_unit_test(a_definition_whose_defaults_multiply_is_refused),
        cmocka_unit_test(properties_without_a_default_cost_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
