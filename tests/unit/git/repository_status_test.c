/* src/git/repository_status.c: what a push leaves in its Repository. */
#include "git/repository_status.h"

#include "check.h"
#include "json/parse.h"
#include "json/write.h"

#define A "1111111111111111111111111111111111111111"
#define B "2222222222222222222222222222222222222222"

static struct vd_json *read_text(struct vd_arena *arena, const char *text)
{
    struct vd_json *document;
    struct vd_error error;
    assert_ok(vd_json_parse_copy(arena, vd_slice_of(text), NULL, &document, &error), &error);
    return document;
}

static void assert_json(const struct vd_json *value, const char *want)
{
    struct vd_buf text = {0};
    vd_json_write(&text, value);
    assert_string_equal(vd_buf_text(&text), want);
    vd_buf_release(&text);
}

static void a_push_is_recorded(void **state)
{
    (void)state;
    struct vd_arena arena = {0};
    struct vd_json *r = read_text(
        &arena, "{\"status\":{\"branches\":[{\"name\":\"main\",\"commit\":\"" A "\"}],"
                "\"resources\":5,\"lastError\":\"x\",\"observedGeneration\":1}}");
    const struct vd_admitted_branch branches[] = {
        {VD_SLICE("main"), VD_SLICE(A), VD_SLICE(B)},
        {VD_SLICE("next"), VD_SLICE(""), VD_SLICE(A)},
    };
    struct vd_admitted_push push = {.branches = branches,
                                    .branches_n = 2,
                                    .user = VD_SLICE("ann"),
                                    .created = 3,
                                    .updated = 2,
                                    .deleted = 1,
                                    .unchanged = 4};
    assert_true(vd_repository_status_is_as_before(r, &push));
    vd_repository_status_admit(&arena, r, &push);
    assert_false(vd_repository_status_is_as_before(r, &push));
    assert_json(r, "{\"status\":{\"branches\":[{\"name\":\"main\",\"commit\":\"" B "\"},"
                   "{\"name\":\"next\",\"commit\":\"" A "\"}],\"resources\":7,"
                   "\"observedGeneration\":1,\"lastAdmission\":{\"branch\":\"main\",\"commit\":"
                   "\"" B "\",\"user\":\"ann\",\"time\":\"1970-01-01T00:00:00.000Z\","
                   "\"created\":3,\"updated\":2,\"deleted\":1,\"unchanged\":4}}}");
    vd_arena_release(&arena);
}

static void the_first_push_is_recorded(void **state)
{
    (void)state;
    struct vd_arena arena = {0};
    struct vd_json *r = read_text(&arena, "{}");
    const struct vd_admitted_branch branch = {VD_SLICE("main"), VD_SLICE(""), VD_SLICE(A)};
    struct vd_admitted_push push = {.branches = &branch, .branches_n = 1, .deleted = 1};
    assert_true(vd_repository_status_is_as_before(r, &push));
    vd_repository_status_admit(&arena, r, &push);
    assert_json(vd_json_dig(r, "status", "branches", NULL),
                "[{\"name\":\"main\",\"commit\":\"" A "\"}]");
    assert_json(vd_json_dig(r, "status", "resources", NULL), "0");
    vd_arena_release(&arena);
}

/* A deleted branch is recorded until its ref is gone. */
static void a_settled_push_forgets_deleted_branches(void **state)
{
    (void)state;
    struct vd_arena arena = {0};
    struct vd_json *r = read_text(
        &arena, "{\"status\":{\"branches\":[{\"name\":\"a\",\"commit\":\"" A "\"},"
                "{\"name\":\"b\",\"commit\":\"" B "\"}],\"lastAdmission\":{}}}");
    const struct vd_admitted_branch branch = {VD_SLICE("a"), VD_SLICE(A), VD_SLICE("")};
    struct vd_admitted_push push = {.branches = &branch, .branches_n = 1};
    vd_repository_status_admit(&arena, r, &push);
    assert_json(vd_json_dig(r, "status", "branches", NULL),
                "[{\"name\":\"a\",\"commit\":\"\"},{\"name\":\"b\",\"commit\":\"" B "\"}]");
    vd_repository_status_settle(&arena, r, 42, 44);
    assert_json(vd_json_dig(r, "status", "branches", NULL),
                "[{\"name\":\"b\",\"commit\":\"" B "\"}]");
    assert_json(vd_json_dig(r, "status", "lastAdmission", "firstResourceVersion", NULL), "\"42\"");
    assert_json(vd_json_dig(r, "status", "lastAdmission", "lastResourceVersion", NULL), "\"44\"");
    vd_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_push_is_recorded),
        cmocka_unit_test(the_first_push_is_recorded),
        cmocka_unit_test(a_settled_push_forgets_deleted_branches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
