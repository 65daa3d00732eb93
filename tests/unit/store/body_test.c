/* src/store/body.h: the revision's digits go into the hole and nowhere else. */
#include "store/body.h"

#include "check.h"

#define TEMPLATE(literal, at) ((struct vd_template){VD_SLICE(literal), (at)})

static void the_digits_stand_in_the_hole(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        uint32_t hole;
        uint64_t revision;
        const char *want;
    } cases[] = {
        {"{\"v\":\"\"}", 6, 17, "{\"v\":\"17\"}"},
        {"{\"v\":\"\"}", 6, 1, "{\"v\":\"1\"}"},
        {"{\"v\":\"\"}", 6, UINT64_MAX, "{\"v\":\"18446744073709551615\"}"},
        {"ab", 1, 12, "a12b"},
        {"ab", 2, 12, "ab12"}, /* at the very end */
        {"ab", 0, 12, "ab"},   /* no hole */
        {"", 0, 12, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_template from = {vd_slice_of(cases[i].bytes), cases[i].hole};
        struct vd_body *body = vd_body_new(from, cases[i].revision);
        assert_slice(vd_body_slice(body), cases[i].want);
        assert_true(vd_body_is_made_from(body, from));
        vd_body_unref(body);
    }
}

static void restamping_changes_the_digits_only(void **state)
{
    (void)state;
    static const struct {
        uint64_t from, to;
        const char *want;
    } cases[] = {
        {9, 10, "{\"v\":\"10\",\"9\":9}"},
        {1000, 7, "{\"v\":\"7\",\"9\":9}"},
        {5, 5, "{\"v\":\"5\",\"9\":9}"},
        {1, UINT64_MAX, "{\"v\":\"18446744073709551615\",\"9\":9}"},
    };
    struct vd_template from = TEMPLATE("{\"v\":\"\",\"9\":9}", 6);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_body *body = vd_body_new(from, cases[i].from);
        struct vd_body *again = vd_body_restamp(body, cases[i].to);
        assert_slice(vd_body_slice(again), cases[i].want);
        assert_true(vd_body_is_made_from(again, from));
        vd_body_unref(body);
        vd_body_unref(again);
    }
    struct vd_body *plain = vd_body_new(TEMPLATE("plain", 0), 3);
    struct vd_body *same = vd_body_restamp(plain, 4);
    assert_slice(vd_body_slice(same), "plain");
    vd_body_unref(plain);
    vd_body_unref(same);
}

static void a_body_knows_its_template_whatever_the_revision(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        uint32_t hole;
        bool same;
    } cases[] = {
        {"a\"\"b", 2, true},    {"a\"\"b", 1, false}, /* the hole is elsewhere */
        {"a\"\"b", 3, false},   {"a\"\"b", 0, false},
        {"a\"\"c", 2, false}, /* a byte after the hole differs */
        {"x\"\"b", 2, false}, /* a byte before the hole differs */
        {"a\"\"bb", 2, false},  {"a\"\"", 2, false},
        {"a\"17\"b", 0, false}, /* the same bytes, but without a hole */
        {"a\"17\"b", 2, false}, {"", 0, false},
    };
    struct vd_body *body = vd_body_new(TEMPLATE("a\"\"b", 2), 17);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_template from = {vd_slice_of(cases[i].bytes), cases[i].hole};
        if (vd_body_is_made_from(body, from) != cases[i].same)
            fail_msg("case %zu", i);
    }
    vd_body_unref(body);
}

static void bytes_are_copied_and_may_be_anything(void **state)
{
    (void)state;
    char bytes[] = {'a', 0, 'b', (char)0xff, '"'};
    struct vd_body *body = vd_body_new((struct vd_template){vd_slice(bytes, 5), 2}, 42);
    memset(bytes, 'z', sizeof bytes);
    assert_int_equal(body->len, 7);
    assert_memory_equal(body->bytes,
                        "a\0"
                        "42b\xff\"",
                        7);
    struct vd_body *other = vd_body_ref(body);
    vd_body_unref(body);
    assert_int_equal(other->bytes[0], 'a');
    vd_body_unref(other);
    vd_body_unref(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_digits_stand_in_the_hole),
        cmocka_unit_test(restamping_changes_the_digits_only),
        cmocka_unit_test(a_body_knows_its_template_whatever_the_revision),
        cmocka_unit_test(bytes_are_copied_and_may_be_anything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
