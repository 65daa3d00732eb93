/* src/git/upkeep_measure.c: what a repository's folder says of its need of upkeep. */
#include "git/upkeep_measure.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"
#include "check.h"
#include "fixture.h"
#include "git/bare_repository.h"

#define UID "0f1e2d3c-4b5a-4697-8877-665544332211"

static char *root;

static int set_up(void **state)
{
    struct vd_error error;
    (void)state;
    root = temp_folder_new();
    return vd_bare_repository_make_root(root, "/bin/true", &error) ||
           vd_bare_repository_make(root, UID, VD_SLICE("main"), &error);
}

static int tear_down(void **state)
{
    (void)state;
    temp_folder_remove(root);
    return 0;
}

/* Makes packs, whose names begin so. */
static void add(const char *name, int n)
{
    char path[512];
    for (int i = 0; i < n; i++) {
        (void)snprintf(path, sizeof path, "%s/" UID ".git/%s%04d.pack", root, name, i);
        int fd = open(path, O_WRONLY | O_CREAT, 0600);
        assert_true(fd >= 0);
        close(fd);
    }
}

static struct vd_upkeep_measure measure(int64_t later_ms)
{
    struct vd_upkeep_measure m;
    vd_upkeep_measure_take(&m, root, UID, vd_clock_wall_ms(vd_clock_system()) + later_ms);
    return m;
}

static void one_pack_is_never_due(void **state)
{
    (void)state;
    assert_true(measure(0).exists);
    assert_false(measure(INT64_C(100) * VD_GIT_UPKEEP_AGE_MS).is_due);
    add("objects/pack/pack-", 1);
    struct vd_upkeep_measure m = measure(INT64_C(100) * VD_GIT_UPKEEP_AGE_MS);
    assert_int_equal(m.packs, 1);
    assert_false(m.is_untidy);
    assert_false(m.is_due);
}

static void a_few_are_due_after_some_time(void **state)
{
    (void)state;
    add("objects/pack/pack-", 2);
    assert_true(measure(0).is_untidy);
    assert_false(measure(0).is_due);
    assert_true(measure(VD_GIT_UPKEEP_AGE_MS + 1000).is_due);
    assert_false(measure(VD_GIT_UPKEEP_AGE_MS + 1000).is_large);
    vd_upkeep_measure_mark(root, UID);
    assert_false(measure(VD_GIT_UPKEEP_AGE_MS - 2000).is_due);
}

static void many_packs_are_due_at_once_but_not_those_that_are_kept(void **state)
{
    (void)state;
    char path[512];
    add("objects/pack/pack-", VD_GIT_UPKEEP_PACKS + 1);
    add("objects/pack/.tmp-7-pack-", 5);
    assert_int_equal(measure(0).packs, VD_GIT_UPKEEP_PACKS + 1);
    assert_true(measure(0).is_large);
    assert_true(measure(0).is_due);
    (void)snprintf(path, sizeof path, "%s/" UID ".git/objects/pack/pack-0000.keep", root);
    close(open(path, O_WRONLY | O_CREAT, 0600));
    assert_int_equal(measure(0).packs, VD_GIT_UPKEEP_PACKS);
    assert_false(measure(0).is_due);
}

static void objects_outside_of_packs_are_estimated(void **state)
{
    (void)state;
    char path[512];
    (void)snprintf(path, sizeof path, "%s/" UID ".git/objects/17", root);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_true(measure(0).is_untidy);
    for (int i = 0; i < 27; i++) {
        (void)snprintf(path, sizeof path, "%s/" UID ".git/objects/17/%038d", root, i);
        close(open(path, O_WRONLY | O_CREAT, 0600));
    }
    struct vd_upkeep_measure m = measure(0);
    assert_int_equal(m.loose, 27 * 256);
    assert_true(m.is_large);
}

static void a_folder_that_is_gone_is_told(void **state)
{
    (void)state;
    struct vd_error error;
    assert_int_equal(vd_bare_repository_remove(root, UID, &error), VD_OK);
    assert_false(measure(0).exists);
    assert_false(measure(0).is_due);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(one_pack_is_never_due),
        TEST(a_few_are_due_after_some_time),
        TEST(many_packs_are_due_at_once_but_not_those_that_are_kept),
        TEST(objects_outside_of_packs_are_estimated),
        TEST(a_folder_that_is_gone_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
