/* src/kinds/object_fields.c, object_compare.c, object_merge.c and field_shape.c: what a
 * schema makes of objects. */
#include "kinds/object_fields.h"

#include "apply_schema.h"
#include "backtick.h"
#include "json_check.h"
#include "kinds/object_merge.h"
#include "json/compare.h"

static void assert_set(struct vd_arena *a, const struct vd_field_set *set, const char *want,
                       const char *about)
{
    struct vd_buf got = {0};
    vd_field_set_write(&got, set);
    if (strcmp(vd_buf_text(&got), backtick(a, want)) != 0)
        fail_msg("%s\n got %s\nwant %s", about, vd_buf_text(&got), backtick(a, want));
    vd_buf_release(&got);
}

static void knows_the_fields_of_an_object(void **state)
{
    static const struct {
        const char *object, *want;
    } cases[] = {
        {"{}", "{}"},
        /* identity is nobody's */
        {"{`apiVersion`:`v1`,`kind`:`K`,`metadata`:{`name`:`n`,`namespace`:`s`,`uid`:`u`,"
         "`resourceVersion`:`1`,`generation`:1,`creationTimestamp`:`t`,`managedFields`:[],"
         "`generateName`:`g`}}",
         "{`f:metadata`:{`f:generateName`:{}}}"},
        /* a described object is no field, unless it is empty; a member of a free map is */
        {"{`spec`:{`a`:1}}", "{`f:spec`:{`f:a`:{}}}"},
        {"{`spec`:{}}", "{`f:spec`:{}}"},
        {"{`spec`:null}", "{`f:spec`:{}}"},
        {"{`spec`:{`map`:{`x`:{`y`:1},`z`:2}}}",
         "{`f:spec`:{`f:map`:{`f:x`:{`.`:{},`f:y`:{}},`f:z`:{}}}}"},
        {"{`metadata`:{`labels`:{`a`:`b`}}}", "{`f:metadata`:{`f:labels`:{`f:a`:{}}}}"},
        {"{`metadata`:{`finalizers`:[`b`,`a`]}}",
         "{`f:metadata`:{`f:finalizers`:{`v:\\`a\\``:{},`v:\\`b\\``:{}}}}"},
        {"{`metadata`:{`ownerReferences`:[{`uid`:`u`,`name`:`n`}]}}",
         "{`f:metadata`:{`f:ownerReferences`:{`k:{\\`uid\\`:\\`u\\`}`:{}}}}"},
        /* atomic lists and objects are one field */
        {"{`spec`:{`list`:[1,{`a`:1}],`whole`:{`a`:1}}}", "{`f:spec`:{`f:list`:{},`f:whole`:{}}}"},
        /* lists that are merged: by value, by keys, by keys with defaults */
        {"{`spec`:{`set`:[`y`,`x`]}}", "{`f:spec`:{`f:set`:{`v:\\`x\\``:{},`v:\\`y\\``:{}}}}"},
        {"{`spec`:{`ports`:[{`port`:80,`name`:`web`},{`port`:53,`protocol`:`UDP`}]}}",
         "{`f:spec`:{`f:ports`:{"
         "`k:{\\`port\\`:53,\\`protocol\\`:\\`UDP\\`}`:{`.`:{},`f:port`:{},`f:protocol`:{}},"
         "`k:{\\`port\\`:80,\\`protocol\\`:\\`TCP\\`}`:{`.`:{},`f:name`:{},`f:port`:{}}}}}"},
        {"{`spec`:{`set`:[],`ports`:[]}}", "{}"},
        {"{`spec`:{`ports`:[{`name`:`keyless`}]}}",
         "{`f:spec`:{`f:ports`:{`i:0`:{`.`:{},`f:name`:{}}}}}"},
        /* where nothing is known, objects have fields and lists are one */
        {"{`any`:{`a`:[1],`b`:{`c`:1}}}", "{`f:any`:{`f:a`:{},`f:b`:{`.`:{},`f:c`:{}}}}"},
        {"{`unknown`:{`a`:1}}", "{`f:unknown`:{`.`:{},`f:a`:{}}}"},
    };
    (void)state;
    struct vd_arena a = {0};
    struct vd_schema *schema = apply_schema();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_json *object = json_of(&a, backtick(&a, cases[i].object));
        assert_set(&a, vd_object_fields(&a, vd_schema_root(schema), object), cases[i].want,
                   cases[i].object);
    }
    vd_schema_unref(schema);
    vd_arena_release(&a);
}

static void compares_objects(void **state)
{
    static const struct {
        const char *old, *new, *added, *modified, *removed;
    } cases[] = {
        {"{}", "{}", "{}", "{}", "{}"},
        {"{`spec`:{`a`:1}}", "{`spec`:{`a`:1}}", "{}", "{}", "{}"},
        {"{`spec`:{`a`:1}}", "{`spec`:{`a`:1.0}}", "{}", "{}", "{}"},
        {"{`spec`:{`a`:1}}", "{`spec`:{`a`:2}}", "{}", "{`f:spec`:{`f:a`:{}}}", "{}"},
        {"{`metadata`:{`name`:`n`,`generation`:1}}", "{`metadata`:{`name`:`m`,`generation`:2}}",
         "{}", "{}", "{}"},
        /* what is new is added itself, and all below it */
        {"{}", "{`spec`:{`a`:1,`map`:{`x`:1}},`metadata`:{`labels`:{`l`:`1`}}}",
         "{`f:metadata`:{`f:labels`:{`.`:{},`f:l`:{}}},"
         "`f:spec`:{`.`:{},`f:a`:{},`f:map`:{`.`:{},`f:x`:{}}}}",
         "{}", "{}"},
        {"{`spec`:{`a`:1,`map`:{`x`:1}}}", "{}", "{}", "{}",
         "{`f:spec`:{`.`:{},`f:a`:{},`f:map`:{`.`:{},`f:x`:{}}}}"},
        {"{`spec`:{`map`:{`x`:1}}}", "{`spec`:{`map`:{}}}", "{}", "{}",
         "{`f:spec`:{`f:map`:{`f:x`:{}}}}"},
        {"{`spec`:{}}", "{}", "{}", "{}", "{`f:spec`:{}}"},
        {"{`spec`:{}}", "{`spec`:null}", "{}", "{`f:spec`:{}}", "{}"},
        /* members in another order, and some gone and some new among them */
        {"{`spec`:{`map`:{`a`:1,`b`:2,`c`:3}}}", "{`spec`:{`map`:{`c`:4,`d`:1,`b`:2}}}",
         "{`f:spec`:{`f:map`:{`f:d`:{}}}}", "{`f:spec`:{`f:map`:{`f:c`:{}}}}",
         "{`f:spec`:{`f:map`:{`f:a`:{}}}}"},
        /* lists */
        {"{`spec`:{`list`:[1]}}", "{`spec`:{`list`:[2]}}", "{}", "{`f:spec`:{`f:list`:{}}}", "{}"},
        {"{`spec`:{`set`:[`a`,`b`]}}", "{`spec`:{`set`:[`b`,`c`]}}",
         "{`f:spec`:{`f:set`:{`v:\\`c\\``:{}}}}", "{}", "{`f:spec`:{`f:set`:{`v:\\`a\\``:{}}}}"},
        {"{`spec`:{`set`:[`a`,`b`]}}", "{`spec`:{`set`:[`b`,`a`]}}", "{}", "{}", "{}"},
        {"{`spec`:{`ports`:[{`port`:1,`name`:`x`},{`port`:2}]}}",
         "{`spec`:{`ports`:[{`port`:2,`name`:`y`},{`port`:1,`name`:`z`}]}}",
         "{`f:spec`:{`f:ports`:{`k:{\\`port\\`:2,\\`protocol\\`:\\`TCP\\`}`:{`f:name`:{}}}}}",
         "{`f:spec`:{`f:ports`:{`k:{\\`port\\`:1,\\`protocol\\`:\\`TCP\\`}`:{`f:name`:{}}}}}",
         "{}"},
        {"{`spec`:{`set`:[`a`,`a`]}}", "{`spec`:{`set`:[`a`]}}",
         "{`f:spec`:{`f:set`:{`v:\\`a\\``:{}}}}", "{}", "{`f:spec`:{`f:set`:{`v:\\`a\\``:{}}}}"},
        {"{`spec`:{`set`:[]}}", "{`spec`:{`set`:[`a`]}}", "{`f:spec`:{`f:set`:{`v:\\`a\\``:{}}}}",
         "{}", "{}"},
        /* another shape altogether */
        {"{`any`:{`a`:1}}", "{`any`:[1]}", "{}", "{`f:any`:{}}", "{`f:any`:{`f:a`:{}}}"},
        {"{`any`:`text`}", "{`any`:{`a`:1}}", "{`f:any`:{`f:a`:{}}}", "{`f:any`:{}}", "{}"},
    };
    (void)state;
    struct vd_arena a = {0};
    struct vd_schema *schema = apply_schema();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_json *old = json_of(&a, backtick(&a, cases[i].old));
        struct vd_json *new = json_of(&a, backtick(&a, cases[i].new));
        struct vd_field_changes c = vd_object_compare(&a, vd_schema_root(schema), old, new);
        assert_set(&a, c.added, cases[i].added, cases[i].new);
        assert_set(&a, c.modified, cases[i].modified, cases[i].new);
        assert_set(&a, c.removed, cases[i].removed, cases[i].new);
    }
    vd_schema_unref(schema);
    vd_arena_release(&a);
}

static void assert_document(struct vd_arena *a, const struct vd_json *got, const char *want)
{
    struct vd_buf text = {0};
    vd_json_write(&text, got);
    assert_string_equal(vd_buf_text(&text), backtick(a, want));
    vd_buf_release(&text);
}

#define SET(items) "{`spec`:{`set`:[" items "]}}"

static void merges_a_configuration(void **state)
{
    static const struct {
        const char *live, *config, *want;
    } cases[] = {
        {"{`spec`:{`a`:1,`b`:2}}", "{`spec`:{`a`:3}}", "{`spec`:{`a`:3,`b`:2}}"},
        {"{}", "{`spec`:{`a`:3}}", "{`spec`:{`a`:3}}"},
        {"{`spec`:{`map`:{`x`:1}}}", "{`spec`:{`map`:{`y`:2}}}", "{`spec`:{`map`:{`x`:1,`y`:2}}}"},
        {"{`spec`:{`map`:{`x`:1}}}", "{`spec`:{`map`:{}}}", "{`spec`:{`map`:{`x`:1}}}"},
        {"{`spec`:{`map`:{`x`:1}}}", "{`spec`:{`map`:null}}", "{`spec`:{`map`:{`x`:1}}}"},
        {"{`spec`:{`a`:1}}", "{`spec`:{`a`:null}}", "{`spec`:{`a`:null}}"},
        {"{`spec`:{`whole`:{`x`:1}}}", "{`spec`:{`whole`:{`y`:1}}}", "{`spec`:{`whole`:{`y`:1}}}"},
        {"{`spec`:{`list`:[1,2]}}", "{`spec`:{`list`:[3]}}", "{`spec`:{`list`:[3]}}"},
        {"{`any`:{`a`:1}}", "{`any`:[1]}", "{`any`:[1]}"},
        /* the order of lists */
        {SET("`a`,`b`"), SET("`b`,`a`"), SET("`b`,`a`")},
        {SET("`a`,`b`,`c`"), SET("`c`,`a`"), SET("`b`,`c`,`a`")},
        {SET("`a`,`b`"), SET("`x`,`b`,`y`"), SET("`a`,`x`,`b`,`y`")},
        {SET("`a`,`b`,`c`"), SET("`c`"), SET("`a`,`b`,`c`")},
        {SET("`a`,`b`"), SET("`c`"), SET("`a`,`b`,`c`")},
        {SET("`a`,`b`,`c`,`d`"), SET("`d`,`b`"), SET("`a`,`c`,`d`,`b`")},
        {"{`spec`:{`ports`:[{`port`:1,`name`:`x`}]}}",
         "{`spec`:{`ports`:[{`port`:2},{`port`:1,`extra`:`e`}]}}",
         "{`spec`:{`ports`:[{`port`:2},{`port`:1,`name`:`x`,`extra`:`e`}]}}"},
    };
    (void)state;
    struct vd_arena a = {0};
    struct vd_schema *schema = apply_schema();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_json *live = json_of(&a, backtick(&a, cases[i].live));
        struct vd_json *config = json_of(&a, backtick(&a, cases[i].config));
        assert_document(&a, vd_object_merge(&a, vd_schema_root(schema), live, config),
                        cases[i].want);
        assert_document(&a, live, cases[i].live);
    }
    vd_schema_unref(schema);
    vd_arena_release(&a);
}

static void takes_fields_out(void **state)
{
    static const struct {
        const char *object, *set, *want;
    } cases[] = {
        {"{`spec`:{`a`:1,`b`:2}}", "{`f:spec`:{`f:a`:{}}}", "{`spec`:{`b`:2}}"},
        {"{`spec`:{`a`:1}}", "{`f:spec`:{`f:a`:{}}}", "{`spec`:null}"},
        {"{`spec`:{`a`:1},`x`:1}", "{`f:spec`:{}}", "{`x`:1}"},
        {SET("`a`,`b`"), "{`f:spec`:{`f:set`:{`v:\\`a\\``:{}}}}", SET("`b`")},
        {"{`spec`:{`ports`:[{`port`:1,`name`:`x`},{`port`:2}]}}",
         "{`f:spec`:{`f:ports`:{`k:{\\`port\\`:1,\\`protocol\\`:\\`TCP\\`}`:{`f:name`:{}},"
         "`k:{\\`port\\`:2,\\`protocol\\`:\\`TCP\\`}`:{}}}}",
         "{`spec`:{`ports`:[{`port`:1}]}}"},
        {"{`spec`:{`whole`:{`x`:1}}}", "{`f:spec`:{`f:whole`:{`f:x`:{}}}}",
         "{`spec`:{`whole`:{`x`:1}}}"},
    };
    (void)state;
    struct vd_arena a = {0};
    struct vd_schema *schema = apply_schema();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_json *object = json_of(&a, backtick(&a, cases[i].object));
        const struct vd_field_set *set = NULL;
        assert_true(vd_field_set_read(&a, vd_slice_of(backtick(&a, cases[i].set)), &set));
        assert_document(&a, vd_object_without(&a, vd_schema_root(schema), object, set),
                        cases[i].want);
    }
    vd_schema_unref(schema);
    vd_arena_release(&a);
}

static void checks_a_configuration(void **state)
{
    static const struct {
        const char *config, *want;
    } cases[] = {
        {"{`spec`:{`a`:1,`map`:{`x`:{`y`:1}}},`any`:{`z`:1}}", ""},
        {"{`apiVersion`:`v1`,`kind`:`K`,`metadata`:{`name`:`n`}}", ""},
        {"{`spec`:{`nope`:1}}", ".spec.nope: field not declared in schema"},
        {"{`metadata`:{`nope`:1}}", ".metadata.nope: field not declared in schema"},
        {"{`spec`:{`ports`:[{`port`:80,`nope`:1}]}}",
         ".spec.ports[port=80,protocol=\"TCP\"].nope: field not declared in schema"},
        {"{`spec`:{`ports`:[{`name`:`x`}]}}",
         ".spec.ports: element 0: associative list with keys has an element that omits key field "
         "\"port\" (and doesn't have default value)"},
        {"{`spec`:{`ports`:[1]}}",
         ".spec.ports: associative list with keys may not have non-map elements"},
        {"{`spec`:{`set`:[[]]}}",
         ".spec.set: associative list without keys has an element that is no scalar"},
        {"{`spec`:{`set`:[`a`,`b`,`a`]}}", ".spec.set: duplicate entries for key [=\"a\"]"},
        {"{`spec`:{`ports`:[{`port`:1},{`port`:1,`protocol`:`TCP`}]}}",
         ".spec.ports: duplicate entries for key [port=1,protocol=\"TCP\"]"},
    };
    (void)state;
    struct vd_arena a = {0};
    struct vd_schema *schema = apply_schema();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_error error = {0};
        struct vd_json *config = json_of(&a, backtick(&a, cases[i].config));
        int code = vd_apply_check(&a, vd_schema_root(schema), config, &error);
        assert_int_equal(code, cases[i].want[0] ? VD_ERR_INVALID : VD_OK);
        assert_string_equal(error.text, cases[i].want);
    }
    vd_schema_unref(schema);
    vd_arena_release(&a);
}

static void follows_a_schema_that_changes(void **state)
{
    static const struct {
        const char *set, *reconciled, *named;
    } cases[] = {
        {"{`f:spec`:{`f:whole`:{`f:x`:{}},`f:list`:{`i:0`:{}},`f:a`:{`f:b`:{}}}}",
         "{`f:spec`:{`f:a`:{},`f:list`:{},`f:whole`:{}}}",
         "{`f:spec`:{`.`:{},`f:a`:{},`f:list`:{},`f:whole`:{}}}"},
        {"{`f:spec`:{`f:map`:{`f:x`:{`f:y`:{}}}}}", "{`f:spec`:{`f:map`:{`f:x`:{`f:y`:{}}}}}",
         "{`f:spec`:{`.`:{},`f:map`:{`.`:{},`f:x`:{`f:y`:{}}}}}"},
        {"{`f:spec`:{`f:ports`:{`k:{\\`port\\`:1,\\`protocol\\`:\\`TCP\\`}`:{`f:name`:{}}}}}",
         "{`f:spec`:{`f:ports`:{`k:{\\`port\\`:1,\\`protocol\\`:\\`TCP\\`}`:{`f:name`:{}}}}}",
         "{`f:spec`:{`.`:{},`f:ports`:{`.`:{},`k:{\\`port\\`:1,\\`protocol\\`:\\`TCP\\`}`:"
         "{`f:name`:{}}}}}"},
    };
    (void)state;
    struct vd_arena a = {0};
    struct vd_schema *schema = apply_schema();
    const struct vd_schema_node *root = vd_schema_root(schema);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct vd_field_set *set = NULL;
        assert_true(vd_field_set_read(&a, vd_slice_of(backtick(&a, cases[i].set)), &set));
        set = vd_fields_reconcile(&a, root, set);
        assert_set(&a, set, cases[i].reconciled, cases[i].set);
        assert_ptr_equal(vd_fields_reconcile(&a, root, set), set);
        assert_set(&a, vd_fields_with_named(&a, root, set), cases[i].named, cases[i].set);
    }
    vd_schema_unref(schema);
    vd_arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_the_fields_of_an_object),
        cmocka_unit_test(compares_objects),
        cmocka_unit_test(merges_a_configuration),
        cmocka_unit_test(takes_fields_out),
        cmocka_unit_test(checks_a_configuration),
        cmocka_unit_test(follows_a_schema_that_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
