/* src/git/tree_files.c: the files in which commits differ, from what git prints. */
#include "git/tree_files.h"

#include "base/limits.h"
#include "check.h"

#define A    "1111111111111111111111111111111111111111"
#define B    "2222222222222222222222222222222222222222"
#define ZERO "0000000000000000000000000000000000000000"

#define BYTES(literal) VD_SLICE(literal)

/* A changed file, a new one with an odd name, one that went, a symbolic link, a submodule. */
static const char difference[] = ":100644 100755 " A " " B " M\0a/b.yaml\0"
                                 ":000000 100644 " ZERO " " A " A\0new \"file\"\n.md\0"
                                 ":100644 000000 " A " " ZERO " D\0old.yaml\0"
                                 ":000000 120000 " ZERO " " A " A\0link\0"
                                 ":160000 160000 " A " " B " M\0module\0";

static void check_difference(const struct vd_tree_files *t)
{
    assert_int_equal(t->old_files.n, 3);
    assert_int_equal(t->new_files.n, 4);
    assert_slice(t->old_files.p[0].path, "a/b.yaml");
    assert_slice(t->old_files.p[0].id, A);
    assert_slice(t->new_files.p[0].id, B);
    assert_slice(t->new_files.p[1].path, "new \"file\"\n.md");
    assert_slice(t->old_files.p[1].path, "old.yaml");
    assert_int_equal(t->new_files.p[1].type, VD_FILE_REGULAR);
    assert_int_equal(t->new_files.p[2].type, VD_FILE_SYMLINK);
    assert_int_equal(t->new_files.p[3].type, VD_FILE_SUBMODULE);
}

static void differences_are_read_in_any_pieces(void **state)
{
    (void)state;
    struct vd_error error;
    for (size_t piece = 1; piece < sizeof difference; piece++) {
        struct vd_tree_files t = {.files_max = 4};
        for (size_t at = 0; at < sizeof difference - 1; at += piece) {
            size_t n = sizeof difference - 1 - at < piece ? sizeof difference - 1 - at : piece;
            assert_ok(vd_tree_files_read(&t, VD_TREE_DIFF, vd_slice(difference + at, n), &error),
                      &error);
        }
        assert_ok(vd_tree_files_end(&t, &error), &error);
        check_difference(&t);
        vd_tree_files_release(&t);
    }
}

static void lists_are_read(void **state)
{
    (void)state;
    struct vd_error error;
    struct vd_tree_files t = {.files_max = 10};
    assert_ok(vd_tree_files_read(&t, VD_TREE_LIST_OLD, BYTES("100644 blob " A "\ta\tb\0"), &error),
              &error);
    assert_ok(vd_tree_files_end(&t, &error), &error);
    assert_ok(vd_tree_files_read(&t, VD_TREE_LIST_NEW,
                                 BYTES("100644 blob " A "\tc\0"
                                       "160000 commit " B "\td\0"),
                                 &error),
              &error);
    assert_int_equal(t.old_files.n, 1);
    assert_slice(t.old_files.p[0].path, "a\tb");
    assert_int_equal(t.new_files.n, 2);
    assert_int_equal(t.new_files.p[1].type, VD_FILE_SUBMODULE);
    vd_tree_files_release(&t);
}

static bool is_yaml(const struct vd_tree_files *t, bool is_new, struct vd_slice path)
{
    (void)t;
    return is_new && vd_slice_ends_with(path, VD_SLICE(".yaml"));
}

static void only_wanted_files_are_kept(void **state)
{
    (void)state;
    struct vd_error error;
    struct vd_tree_files t = {.files_max = 1, .takes = is_yaml};
    assert_ok(
        vd_tree_files_read(&t, VD_TREE_DIFF, vd_slice(difference, sizeof difference - 1), &error),
        &error);
    assert_int_equal(t.old_files.n, 0);
    assert_int_equal(t.new_files.n, 1);
    assert_slice(t.new_files.p[0].path, "a/b.yaml");
    vd_tree_files_release(&t);
}

static void limits_hold(void **state)
{
    (void)state;
    struct vd_error error;
    struct vd_tree_files few = {.files_max = 3};
    assert_code(
        vd_tree_files_read(&few, VD_TREE_DIFF, vd_slice(difference, sizeof difference - 1), &error),
        VD_ERR_LIMIT);
    assert_non_null(strstr(error.text, "spec.limits.files"));
    vd_tree_files_release(&few);
    struct vd_buf text = {0};
    vd_buf_add_text(&text, "100644 blob " A "\t");
    for (size_t i = 0; i <= VD_GIT_PATH_LEN_MAX; i++)
        vd_buf_add_char(&text, 'p');
    struct vd_tree_files closed = {.files_max = 6}, open = {.files_max = 6};
    vd_buf_add_char(&text, 0);
    assert_code(vd_tree_files_read(&closed, VD_TREE_LIST_NEW, vd_buf_slice(&text), &error),
                VD_ERR_LIMIT);
    text.n--;
    for (size_t i = 0; i < 256; i++)
        vd_buf_add_char(&text, 'p');
    assert_code(vd_tree_files_read(&open, VD_TREE_LIST_NEW, vd_buf_slice(&text), &error),
                VD_ERR_LIMIT);
    vd_tree_files_release(&closed);
    vd_tree_files_release(&open);
    vd_buf_release(&text);
}

static void other_texts_are_refused(void **state)
{
    (void)state;
    static const struct {
        enum vd_tree_format format;
        struct vd_slice text;
    } cases[] = {
        {VD_TREE_DIFF, BYTES("100644 100755 " A " " B " M\0a\0")},
        {VD_TREE_DIFF, BYTES(":100644 100755 " A " M\0a\0")},
        {VD_TREE_DIFF, BYTES(":100644 1 " A " " B " M\0a\0")},
        {VD_TREE_DIFF, BYTES(":100644 100644 1 2 M\0a\0")},
        {VD_TREE_DIFF, BYTES("\0\0")},
        {VD_TREE_LIST_NEW, BYTES("100644 blob " A " a\0")},
        {VD_TREE_LIST_NEW, BYTES("100644 blob " A "\t\0")},
        {VD_TREE_LIST_NEW, BYTES("\0")},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_tree_files t = {.files_max = 10};
        struct vd_error error;
        assert_code(vd_tree_files_read(&t, cases[i].format, cases[i].text, &error), VD_ERR_FORMAT);
        vd_tree_files_release(&t);
    }
    struct vd_tree_files t = {.files_max = 10};
    struct vd_error error;
    assert_ok(vd_tree_files_read(&t, VD_TREE_DIFF, BYTES(":100644"), &error), &error);
    assert_code(vd_tree_files_end(&t, &error), VD_ERR_FORMAT);
    vd_tree_files_release(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(differences_are_read_in_any_pieces),
        cmocka_unit_test(lists_are_read),
        cmocka_unit_test(only_wanted_files_are_kept),
        cmocka_unit_test(limits_hold),
        cmocka_unit_test(other_texts_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
