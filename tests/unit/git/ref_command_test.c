/* src/git/ref_command.c: what a push wants of a ref. */
#include "git/ref_command.h"

#include "check.h"

#define ID   "0123456789abcdef0123456789abcdef01234567"
#define ZERO "0000000000000000000000000000000000000000"
#define LONG ID "0123456789abcdef01234567"

static void commands_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool good;
    } cases[] = {
        {ID " " ZERO " refs/heads/main", true},
        {LONG " " LONG " refs/tags/v1", true},
        {ID " " ZERO " refs/heads/\xc3\xa4", true},
        {"", false},
        {ID, false},
        {ID " " ID, false},
        {ID " " ID " ", false},
        {ID " " ID " HEAD", false},
        {ID " " LONG " refs/heads/main", false},
        {ID "  " ID " refs/heads/main", false},
        {ID " " ID " refs/heads/a b", false},
        {ID " " ID " refs/heads/a\n", false},
        {"0123456789ABCDEF0123456789abcdef01234567 " ID " refs/heads/main", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_ref_command c;
        assert_int_equal(vd_ref_command_read(vd_slice_of(cases[i].text), &c), cases[i].good);
    }
    struct vd_ref_command c;
    assert_true(vd_ref_command_read(VD_SLICE(ID " " ZERO " refs/heads/main"), &c));
    assert_slice(c.before, ID);
    assert_slice(c.after, ZERO);
    assert_slice(c.ref, "refs/heads/main");
}

static void refs_have_a_meaning(void **state)
{
    (void)state;
    struct vd_slice branch;
    assert_true(vd_ref_branch(VD_SLICE("refs/heads/release/1"), &branch));
    assert_slice(branch, "release/1");
    assert_false(vd_ref_branch(VD_SLICE("refs/heads/"), &branch));
    assert_false(vd_ref_branch(VD_SLICE("refs/tags/v1"), &branch));
    assert_true(vd_ref_is_tag(VD_SLICE("refs/tags/v1")));
    assert_false(vd_ref_is_tag(VD_SLICE("refs/heads/main")));
    assert_true(vd_object_id_is_none(VD_SLICE(ZERO)));
    assert_true(vd_object_id_is_none(VD_SLICE("")));
    assert_false(vd_object_id_is_none(VD_SLICE(ID)));
}

static void all_refs_are_one_transaction(void **state)
{
    (void)state;
    const struct vd_ref_command commands[] = {
        {VD_SLICE(ZERO), VD_SLICE(ID), VD_SLICE("refs/heads/a")},
        {VD_SLICE(ID), VD_SLICE(ZERO), VD_SLICE("refs/heads/b")},
        {VD_SLICE(ZERO), VD_SLICE(ZERO), VD_SLICE("refs/heads/c")},
    };
    static const char want[] = "start\0"
                               "update refs/heads/a\0" ID "\0" ZERO "\0"
                               "update refs/heads/b\0" ZERO "\0" ID "\0"
                               "prepare";
    struct vd_buf out = {0};
    vd_ref_commands_write_prepare(&out, commands, 3);
    assert_int_equal(out.n, sizeof want);
    assert_memory_equal(out.p, want, sizeof want);
    vd_buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_are_read),
        cmocka_unit_test(refs_have_a_meaning),
        cmocka_unit_test(all_refs_are_one_transaction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
