/* src/kinds/field_set.c, field_set_json.c and path_element.c. */
#include "kinds/field_set.h"

#include "backtick.h"
#include "json_check.h"

static const struct vd_field_set *set_of(struct vd_arena *a, const char *text)
{
    const struct vd_field_set *set = NULL;
    assert_true(vd_field_set_read(a, vd_slice_of(backtick(a, text)), &set));
    return set;
}

static void assert_set(struct vd_arena *a, const struct vd_field_set *set, const char *want)
{
    struct vd_buf got = {0};
    vd_field_set_write(&got, set);
    assert_string_equal(vd_buf_text(&got), backtick(a, want));
    vd_buf_release(&got);
}

/* Order, dots, escapes, unknown steps. */
static void reads_and_writes_fields_v1(void **state)
{
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"{}", "{}"},
        {"{`f:a`:{}}", "{`f:a`:{}}"},
        {"{`f:b`:{},`f:a`:{}}", "{`f:a`:{},`f:b`:{}}"},
        {"{`f:a`:{`f:b`:{},`.`:{}}}", "{`f:a`:{`.`:{},`f:b`:{}}}"},
        {"{`f:a`:{`.`:{}}}", "{`f:a`:{}}"},
        {"{`f:a`:{`f:b`:{}},`f:a`:{`f:c`:{}}}", "{`f:a`:{`f:b`:{},`f:c`:{}}}"},
        {" { `f:a` : { } } ", "{`f:a`:{}}"},
        /* names, keys, values, places */
        {"{`i:12`:{},`v:\\`x\\``:{},`k:{\\`b\\`:1,\\`a\\`:\\`y\\`}`:{},`f:z`:{},`i:3`:{}}",
         "{`f:z`:{},`k:{\\`a\\`:\\`y\\`,\\`b\\`:1}`:{},`v:\\`x\\``:{},`i:3`:{},`i:12`:{}}"},
        /* numbers by value, before texts, before truths, before null */
        {"{`v:null`:{},`v:true`:{},`v:false`:{},`v:\\`1\\``:{},`v:10`:{},`v:9`:{},`v:1.0`:{}}",
         "{`v:1`:{},`v:9`:{},`v:10`:{},`v:\\`1\\``:{},`v:false`:{},`v:true`:{},`v:null`:{}}"},
        {"{`k:{\\`p\\`:80}`:{},`k:{\\`p\\`:8}`:{}}", "{`k:{\\`p\\`:8}`:{},`k:{\\`p\\`:80}`:{}}"},
        /* what is not known is passed over */
        {"{`x:1`:{},`f:a`:{`y`:{}},`k:[1]`:{},`v:{}`:{},`i:-1`:{}}", "{`f:a`:{}}"},
        {"{`f:`:{}}", "{`f:`:{}}"},
    };
    (void)state;
    struct vd_arena a = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct vd_field_set *set = NULL;
        if (!vd_field_set_read(&a, vd_slice_of(backtick(&a, cases[i].in)), &set))
            fail_msg("not read: %s", cases[i].in);
        assert_set(&a, set, cases[i].out);
    }
    vd_arena_release(&a);
}

static void refuses_what_is_no_object(void **state)
{
    static const char *const cases[] = {"",          "[]",         "1",        "`a`",
                                        "{`f:a`:1}", "{`f:a`:[]}", "{`f:a`:{}"};
    (void)state;
    struct vd_arena a = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct vd_field_set *set = NULL;
        if (vd_field_set_read(&a, vd_slice_of(backtick(&a, cases[i])), &set))
            fail_msg("read: %s", cases[i]);
    }
    vd_arena_release(&a);
}

#define X "{`f:a`:{},`f:b`:{`.`:{},`f:c`:{}},`f:d`:{`f:e`:{}}}"
#define Y "{`f:b`:{`f:c`:{},`f:x`:{}},`f:d`:{},`f:y`:{}}"

static void has_the_operations_of_sets(void **state)
{
    (void)state;
    struct vd_arena a = {0};
    const struct vd_field_set *x = set_of(&a, X), *y = set_of(&a, Y);
    assert_set(&a, vd_field_set_union(&a, x, y),
               "{`f:a`:{},`f:b`:{`.`:{},`f:c`:{},`f:x`:{}},`f:d`:{`.`:{},`f:e`:{}},`f:y`:{}}");
    assert_set(&a, vd_field_set_intersection(&a, x, y), "{`f:b`:{`f:c`:{}}}");
    assert_set(&a, vd_field_set_difference(&a, x, y), "{`f:a`:{},`f:b`:{},`f:d`:{`f:e`:{}}}");
    assert_set(&a, vd_field_set_difference(&a, y, x), "{`f:b`:{`f:x`:{}},`f:d`:{},`f:y`:{}}");
    assert_null(vd_field_set_difference(&a, x, set_of(&a, X)));
    assert_true(vd_field_set_eq(x, set_of(&a, X)));
    assert_false(vd_field_set_eq(x, y));
    assert_int_equal(vd_field_set_count(x), 4);
    vd_arena_release(&a);
}

/* What does not change is the same pointer: callers see it without comparing. */
static void gives_back_what_it_was_given(void **state)
{
    (void)state;
    struct vd_arena a = {0};
    const struct vd_field_set *x = set_of(&a, X), *part = set_of(&a, "{`f:b`:{`f:c`:{}}}");
    const struct vd_field_set *other = set_of(&a, "{`f:b`:{`f:q`:{}},`f:d`:{}}");
    assert_ptr_equal(vd_field_set_union(&a, x, part), x);
    assert_ptr_equal(vd_field_set_union(&a, NULL, x), x);
    assert_ptr_equal(vd_field_set_union(&a, x, NULL), x);
    assert_ptr_equal(vd_field_set_difference(&a, x, other), x);
    assert_ptr_equal(vd_field_set_intersection(&a, part, x), part);
    assert_null(vd_field_set_intersection(&a, x, other));
    vd_arena_release(&a);
}

static void finds_how_much_of_a_set_stands_in_bytes(void **state)
{
    static const struct {
        const char *json, *set;
        enum vd_field_overlap want;
    } cases[] = {
        {X, "{`f:a`:{}}", VD_OVERLAP_ALL},
        {X, "{`f:b`:{}}", VD_OVERLAP_ALL},
        {X, "{`f:b`:{`.`:{},`f:c`:{}}}", VD_OVERLAP_ALL},
        {X, "{`f:b`:{`f:c`:{},`f:x`:{}}}", VD_OVERLAP_SOME},
        {X, "{`f:d`:{}}", VD_OVERLAP_NONE},
        {X, "{`f:d`:{`.`:{},`f:e`:{}}}", VD_OVERLAP_SOME},
        {X, "{`f:q`:{`f:e`:{}}}", VD_OVERLAP_NONE},
        {X, "{`f:a`:{`f:e`:{}}}", VD_OVERLAP_NONE},
        {"{`k:{\\`n\\`:\\`a\\`}`:{`.`:{},`f:n`:{}}}", "{`k:{\\`n\\`:\\`a\\`}`:{`f:n`:{}}}",
         VD_OVERLAP_ALL},
        {"{`v:\\`a\\``:{}}", "{`v:\\`a\\``:{}}", VD_OVERLAP_ALL},
        {"{`v:\\`a\\``:{}}", "{`v:\\`b\\``:{}}", VD_OVERLAP_NONE},
        {"{`f:a\\\\b\\n`:{}}", "{`f:a\\\\b\\n`:{}}", VD_OVERLAP_ALL},
    };
    (void)state;
    struct vd_arena a = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_slice json = vd_slice_of(backtick(&a, cases[i].json));
        if (vd_field_set_overlap(json, set_of(&a, cases[i].set)) != cases[i].want)
            fail_msg("case %zu: %s in %s", i, cases[i].set, cases[i].json);
    }
    vd_arena_release(&a);
}

static void shows_paths_as_kubernetes_does(void **state)
{
    static const char *const want[] = {
        ".a", ".l", ".l[name=\"x\",port=80]", ".l[=\"v\"]", ".l[3]", ".l[name=\"x\",port=80].a.b/c",
    };
    (void)state;
    struct vd_arena a = {0};
    struct vd_field_texts texts = {0};
    const struct vd_field_set *set = set_of(
        &a, "{`f:l`:{`.`:{},`k:{\\`port\\`:80,\\`name\\`:\\`x\\`}`:{`.`:{},`f:a.b/c`:{}},"
            "`v:\\`v\\``:{},`i:3`:{}},`f:a`:{}}");
    vd_field_set_texts(&a, set, &texts, 100);
    assert_int_equal(texts.n, sizeof want / sizeof *want);
    for (size_t i = 0; i < texts.n; i++)
        assert_string_equal(texts.p[i].p, want[i]);
    texts.n = 0;
    vd_field_set_texts(&a, set, &texts, 2);
    assert_int_equal(texts.n, 2);
    VD_VEC_RELEASE(&texts);
    vd_arena_release(&a);
}

static void finds_members(void **state)
{
    (void)state;
    struct vd_arena a = {0};
    const struct vd_field_set *x = set_of(&a, X);
    struct vd_path_element path[] = {vd_path_name(VD_SLICE("b")), vd_path_name(VD_SLICE("c"))};
    struct vd_path_element other[] = {vd_path_name(VD_SLICE("d")), vd_path_name(VD_SLICE("z"))};
    assert_true(vd_field_set_has(x, path, 2));
    assert_true(vd_field_set_has(x, path, 1));
    assert_false(vd_field_set_has(x, other, 1));
    assert_false(vd_field_set_has(x, other, 2));
    assert_false(vd_field_set_has(NULL, path, 1));
    vd_arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_and_writes_fields_v1),
        cmocka_unit_test(refuses_what_is_no_object),
        cmocka_unit_test(has_the_operations_of_sets),
        cmocka_unit_test(gives_back_what_it_was_given),
        cmocka_unit_test(finds_how_much_of_a_set_stands_in_bytes),
        cmocka_unit_test(shows_paths_as_kubernetes_does),
        cmocka_unit_test(finds_members),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
