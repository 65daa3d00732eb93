/* src/kube/version.c: /version. */
#include "kube/version.h"

#include "json_check.h"

static void the_version_is_taken_apart(void **state)
{
    static const struct {
        const char *kubernetes, *major, *minor;
    } cases[] = {
        {"v1.32.4", "1", "32"},
        {"v1.33.0-rc.1", "1", "33"},
        {"v1.9.10+vedette-0.1", "1", "9"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_buf out = {0};
        struct vd_error error = {0};
        struct vd_version_info info = {.kubernetes = vd_slice_of(cases[i].kubernetes),
                                       .commit = VD_SLICE("abc"),
                                       .build_date = VD_SLICE("2026-01-02T03:04:05Z")};
        assert_ok(vd_version_write(&out, &info, &error), &error);
        struct vd_json *v = json_of(*state, vd_buf_text(&out));
        assert_slice(vd_json_text(vd_json_dig(v, "major", NULL)), cases[i].major);
        assert_slice(vd_json_text(vd_json_dig(v, "minor", NULL)), cases[i].minor);
        assert_slice(vd_json_text(vd_json_dig(v, "gitVersion", NULL)), cases[i].kubernetes);
        assert_slice(vd_json_text(vd_json_dig(v, "gitCommit", NULL)), "abc");
        assert_slice(vd_json_text(vd_json_dig(v, "buildDate", NULL)), "2026-01-02T03:04:05Z");
        vd_arena_reset(*state);
        vd_buf_release(&out);
    }
}

/* The Python client refuses a VersionInfo that lacks one of them. */
static void members_that_clients_demand_are_texts(void **state)
{
    static const char *const keys[] = {"major",     "minor",     "gitVersion",
                                       "gitCommit", "buildDate", "goVersion",
                                       "compiler",  "platform",  "gitTreeState"};
    struct vd_buf out = {0};
    struct vd_error error = {0};
    struct vd_version_info info = {VD_SLICE("v1.32.4"), VD_SLICE(""), VD_SLICE("")};
    assert_ok(vd_version_write(&out, &info, &error), &error);
    struct vd_json *v = json_of(*state, vd_buf_text(&out));
    assert_int_equal(vd_json_count(v), sizeof keys / sizeof *keys);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        assert_true(vd_json_is(vd_json_get(v, vd_slice_of(keys[i])), VD_JSON_STRING));
    vd_arena_reset(*state);
    vd_buf_release(&out);
}

static void what_is_no_version_is_refused(void **state)
{
    static const char *const cases[] = {"", "1.32.4", "v1.32", "v1", "v.1.2", "v1.32.4x", "vx.1.2"};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_buf out = {0};
        struct vd_error error = {0};
        struct vd_version_info info = {.kubernetes = vd_slice_of(cases[i])};
        assert_code(vd_version_write(&out, &info, &error), VD_ERR_INVALID);
        assert_says(&error, "v1.32.4");
        assert_int_equal(out.n, 0);
        vd_buf_release(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        arena_test(the_version_is_taken_apart),
        arena_test(members_that_clients_demand_are_texts),
        cmocka_unit_test(what_is_no_version_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
