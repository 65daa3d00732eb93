/* src/git/repository.c: a Repository's spec and status. */
#include "git/repository.h"

#include "base/limits.h"
#include "check.h"
#include "json/parse.h"

static int read_text(const char *text, struct vd_arena *arena, struct vd_repository *out,
                     struct vd_error *error)
{
    struct vd_json *object = NULL;
    assert_int_equal(vd_json_parse(arena, vd_slice_of(text), NULL, &object, error), VD_OK);
    return vd_repository_read(out, object, error);
}

static void what_is_left_out_has_its_default(void **state)
{
    (void)state;
    struct vd_arena arena = {0};
    struct vd_repository r;
    struct vd_error error;
    struct vd_slice commit;
    assert_int_equal(
        read_text("{\"metadata\":{\"namespace\":\"shop\",\"name\":\"catalog\",\"generation\":1,"
                  "\"uid\":\"0f1e2d3c-4b5a-4697-8877-665544332211\"}}",
                  &arena, &r, &error),
        VD_OK);
    assert_slice(r.namespace, "shop");
    assert_slice(r.name, "catalog");
    assert_string_equal(r.uid, "0f1e2d3c-4b5a-4697-8877-665544332211");
    assert_slice(r.default_branch, "main");
    assert_null(r.branches);
    assert_int_equal(r.visibility, VD_VISIBILITY_PRIVATE);
    assert_true(r.pack_len_max == VD_GIT_PACK_LEN_DEFAULT);
    assert_false(r.cascades);
    assert_false(r.is_deleting);
    assert_null(r.remote);
    assert_false(vd_repository_commit(&r, VD_SLICE("main"), &commit));
    vd_arena_release(&arena);
}

static void spec_and_status_are_read(void **state)
{
    (void)state;
    struct vd_arena arena = {0};
    struct vd_repository r;
    struct vd_error error;
    struct vd_slice commit;
    assert_int_equal(
        read_text(
            "{\"metadata\":{\"namespace\":\"shop\",\"name\":\"catalog\",\"generation\":4,"
            "\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"},"
            "\"spec\":{\"defaultBranch\":\"trunk\",\"branches\":[\"trunk\",\"release/*\"],"
            "\"visibility\":\"public\",\"limits\":{\"packBytes\":5,\"files\":7},"
            "\"scope\":{\"namespaces\":[\"b\"]},\"deletionPolicy\":\"Cascade\","
            "\"remote\":{\"url\":\"https://x\"}},"
            "\"status\":{\"resources\":3,\"branches\":[{\"name\":\"trunk\",\"commit\":\"abc\"},"
            "{\"name\":\"old\",\"commit\":\"\"}]}}",
            &arena, &r, &error),
        VD_OK);
    assert_int_equal(r.generation, 4);
    assert_true(r.is_deleting);
    assert_slice(r.default_branch, "trunk");
    assert_int_equal(vd_json_count(r.branches), 2);
    assert_int_equal(r.visibility, VD_VISIBILITY_PUBLIC);
    assert_true(r.pack_len_max == 5);
    assert_true(r.file_len_max == VD_GIT_FILE_LEN_DEFAULT);
    assert_true(r.files_max == 7);
    assert_int_equal(vd_json_count(r.namespaces), 1);
    assert_true(r.cascades);
    assert_non_null(r.remote);
    assert_true(r.resources == 3);
    assert_true(vd_repository_commit(&r, VD_SLICE("trunk"), &commit));
    assert_slice(commit, "abc");
    assert_true(vd_repository_commit(&r, VD_SLICE("old"), &commit));
    assert_slice(commit, "");
    assert_false(vd_repository_commit(&r, VD_SLICE("other"), &commit));
    vd_arena_release(&arena);
}

static void what_cannot_be_served_is_refused(void **state)
{
    (void)state;
    struct vd_arena arena = {0};
    struct vd_repository r;
    struct vd_error error;
    assert_int_equal(read_text("{\"metadata\":{\"namespace\":\"a\",\"name\":\"b\"},"
                               "\"spec\":{\"defaultBranch\":\"../x\"}}",
                               &arena, &r, &error),
                     VD_ERR_INVALID);
    assert_non_null(strstr(error.text, "spec.defaultBranch"));
    assert_int_equal(
        read_text("{\"metadata\":{\"namespace\":\"apis\",\"name\":\"b\"}}", &arena, &r, &error),
        VD_ERR_INVALID);
    assert_non_null(strstr(error.text, "/apis"));
    vd_arena_release(&arena);
}

static void names_of_branches_follow_gits_rules(void **state)
{
    (void)state;
    static const char *const good[] = {"main", "release/1.0", "a-b_c", "a@b", "f\xc3\xbc", "a.b"};
    static const char *const bad[] = {"",     "-x",   "a..b",   "a b",  "a~",   "a^",
                                      "a:b",  "a?",   "a*",     "a[",   "a\\",  "/a",
                                      "a/",   "a//b", ".a",     "a/.b", "a.",   "@",
                                      "HEAD", "a@{b", "a.lock", "a\nb", "\x7f", "a.lock/b"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_true(vd_branch_name_is_valid(vd_slice_of(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(vd_branch_name_is_valid(vd_slice_of(bad[i])));
    assert_false(vd_branch_name_is_valid(VD_SLICE("f\xfc"))); /* the status is JSON */
    char name[VD_BRANCH_LEN_MAX + 1];
    memset(name, 'a', sizeof name);
    assert_true(vd_branch_name_is_valid(vd_slice(name, VD_BRANCH_LEN_MAX)));
    assert_false(vd_branch_name_is_valid(vd_slice(name, VD_BRANCH_LEN_MAX + 1)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_left_out_has_its_default),
        cmocka_unit_test(spec_and_status_are_read),
        cmocka_unit_test(what_cannot_be_served_is_refused),
        cmocka_unit_test(names_of_branches_follow_gits_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
