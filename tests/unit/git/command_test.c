/* src/git/command.c: what git is called with. */
#include "git/command.h"

#include <stdlib.h>

#include "base/buf.h"
#include "check.h"

static struct vd_buf joined(const char *const *list)
{
    struct vd_buf out = {0};
    for (; *list; list++)
        vd_buf_addf(&out, "%s\n", *list);
    return out;
}

static bool has(const char *const *list, const char *text)
{
    for (; *list; list++)
        if (strcmp(*list, text) == 0)
            return true;
    return false;
}

/* A program that need not exist. */
static struct vd_git_program program(unsigned minor)
{
    static char path[] = "/bin/git", exec[] = "/lib/git";
    return (struct vd_git_program){path, exec, {2, minor}};
}

static void settings_come_before_the_arguments(void **state)
{
    (void)state;
    struct vd_git_program git = program(39);
    struct vd_git_command c;
    vd_git_command_init(&c, &git, "/data/git/x.git");
    vd_git_command_set_u64(&c, "receive.maxInputSize", 1000);
    vd_git_command_add(&c, "receive-pack");
    vd_git_command_add(&c, "/data/git/x.git");
    const char *const *argv = vd_git_command_argv(&c);
    assert_string_equal(argv[0], "/bin/git");
    assert_string_equal(argv[1], "-c");
    assert_true(has(argv, "gc.auto=0"));
    assert_true(has(argv, "safe.directory=/data/git/x.git"));
    assert_string_equal(c.argv.p[c.argv.n - 4], "-c");
    assert_string_equal(c.argv.p[c.argv.n - 3], "receive.maxInputSize=1000");
    assert_string_equal(c.argv.p[c.argv.n - 2], "receive-pack");
    assert_string_equal(c.argv.p[c.argv.n - 1], "/data/git/x.git");
    assert_null(argv[c.argv.n]);
    vd_git_command_release(&c);
}

static void the_environment_is_whole_and_none_of_the_servers(void **state)
{
    (void)state;
    struct vd_git_program git = program(39);
    struct vd_git_command c;
    setenv("GIT_SSH_COMMAND", "from the server", 1);
    vd_git_command_init(&c, &git, "/r");
    vd_git_command_add_env(&c, "GIT_PROTOCOL", VD_SLICE("version=2"));
    const char *const *env = vd_git_command_env(&c);
    struct vd_buf all = joined(env);
    assert_true(has(env, "PATH=/lib/git"));
    assert_true(has(env, "LC_ALL=C"));
    assert_true(has(env, "GIT_CONFIG_NOSYSTEM=1"));
    assert_true(has(env, "GIT_CONFIG_GLOBAL=/dev/null"));
    assert_true(has(env, "GIT_TERMINAL_PROMPT=0"));
    assert_true(has(env, "GIT_DIR=/r"));
    assert_true(has(env, "GIT_PROTOCOL=version=2"));
    assert_null(strstr(vd_buf_text(&all), "HOME="));
    assert_null(strstr(vd_buf_text(&all), "from the server"));
    vd_buf_release(&all);
    vd_git_command_release(&c);
    unsetenv("GIT_SSH_COMMAND");
}

static void each_version_gets_the_settings_that_it_knows(void **state)
{
    (void)state;
    struct vd_git_program old = program(31), new = program(39);
    struct vd_git_command c;
    vd_git_command_init(&c, &old, NULL);
    assert_true(has(vd_git_command_argv(&c), "core.fsyncObjectFiles=true"));
    assert_false(has(vd_git_command_argv(&c), "core.fsync=all"));
    assert_false(has(vd_git_command_env(&c), "GIT_DIR="));
    vd_git_command_release(&c);
    vd_git_command_init(&c, &new, NULL);
    assert_false(has(vd_git_command_argv(&c), "core.fsyncObjectFiles=true"));
    assert_true(has(vd_git_command_argv(&c), "core.fsync=all"));
    vd_git_command_release(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_come_before_the_arguments),
        cmocka_unit_test(the_environment_is_whole_and_none_of_the_servers),
        cmocka_unit_test(each_version_gets_the_settings_that_it_knows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
