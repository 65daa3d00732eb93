/* src/git/remote_credentials.c: what a Secret has for a remote, and where it is put. */
#include "git/remote_credentials.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "check.h"
#include "json/parse.h"

struct setting {
    struct vd_arena arena;
    struct vd_remote_credentials c;
    char root[64], folder[80];
};

static int set_up(void **state)
{
    struct setting *s = calloc(1, sizeof *s);
    snprintf(s->root, sizeof s->root, "/tmp/vedette-credentials.XXXXXX");
    assert_non_null(mkdtemp(s->root));
    snprintf(s->folder, sizeof s->folder, "%s/private", s->root);
    *state = s;
    return 0;
}

static int tear_down(void **state)
{
    struct setting *s = *state;
    vd_remote_credentials_release(&s->c);
    vd_arena_release(&s->arena);
    int code = rmdir(s->root); /* nothing is left in it */
    free(s);
    return code;
}

static int read_secret(struct setting *s, const char *data, struct vd_error *error)
{
    struct vd_buf text = {0};
    struct vd_json *secret = NULL;
    vd_buf_addf(&text, "{\"data\":{%s}}", data);
    assert_int_equal(vd_json_parse_copy(&s->arena, vd_buf_slice(&text), NULL, &secret, NULL), 0);
    vd_buf_release(&text);
    return vd_remote_credentials_read(&s->c, secret, error);
}

static unsigned mode_of(const char *path)
{
    struct stat found;
    return stat(path, &found) ? 0 : found.st_mode & 0777;
}

static const char *find(const char *const *list, const char *prefix)
{
    for (; *list; list++)
        if (strncmp(*list, prefix, strlen(prefix)) == 0)
            return *list;
    return NULL;
}

static void a_password_is_a_header_of_the_environment(void **state)
{
    struct setting *s = *state;
    struct vd_git_program program = {.path = (char[]){"/usr/bin/git"},
                                     .exec_path = (char[]){"/usr/lib/git-core"}};
    struct vd_git_command command;
    struct vd_error error;
    assert_int_equal(read_secret(s, "\"username\":\"bWU=\",\"password\":\"c2VjcmV0Cg==\"", &error),
                     0);
    assert_int_equal(vd_remote_credentials_open(&s->c, VD_REMOTE_HTTPS, s->folder, &error), 0);
    assert_int_equal(mode_of(s->folder), 0);
    vd_git_command_init(&command, &program, NULL);
    vd_remote_credentials_give(&s->c, VD_REMOTE_HTTPS, &command);
    /* me:secret */
    assert_string_equal(find(vd_git_command_env(&command), "GIT_CONFIG_VALUE_0="),
                        "GIT_CONFIG_VALUE_0=Authorization: Basic bWU6c2VjcmV0");
    for (const char *const *argument = vd_git_command_argv(&command); *argument; argument++)
        assert_null(strstr(*argument, "bWU6c2VjcmV0"));
    vd_git_command_release(&command);
}

static void files_are_private_and_go(void **state)
{
    struct setting *s = *state;
    struct vd_error error;
    char path[120];
    assert_int_equal(
        read_secret(s, "\"ssh-privatekey\":\"a2V5\",\"known_hosts\":\"aG9zdA==\"", &error), 0);
    assert_int_equal(vd_remote_credentials_open(&s->c, VD_REMOTE_SSH, s->folder, &error), 0);
    assert_int_equal(mode_of(s->folder), 0700);
    snprintf(path, sizeof path, "%s/key", s->folder);
    assert_int_equal(mode_of(path), 0600);
    snprintf(path, sizeof path, "%s/known_hosts", s->folder);
    assert_int_equal(mode_of(path), 0600);
    vd_remote_credentials_release(&s->c);
    assert_int_equal(mode_of(s->folder), 0);
}

static void what_a_killed_server_left_is_swept(void **state)
{
    struct setting *s = *state;
    struct vd_error error;
    assert_int_equal(read_secret(s, "\"ca.crt\":\"Y2E=\"", &error), 0);
    assert_int_equal(vd_remote_credentials_open(&s->c, VD_REMOTE_HTTPS, s->folder, &error), 0);
    vd_remote_credentials_sweep(s->folder);
    assert_int_equal(mode_of(s->folder), 0);
}

static void ssh_needs_both(void **state)
{
    struct setting *s = *state;
    struct vd_error error;
    assert_int_equal(read_secret(s, "\"ssh-privatekey\":\"a2V5\"", &error), 0);
    assert_int_equal(vd_remote_credentials_open(&s->c, VD_REMOTE_SSH, s->folder, &error),
                     VD_ERR_INVALID);
    assert_non_null(strstr(error.text, "known_hosts"));
}

static void odd_secrets_are_refused(void **state)
{
    struct setting *s = *state;
    struct vd_error error;
    struct vd_buf large = {0};
    assert_int_equal(read_secret(s, "\"token\":\"*\"", &error), VD_ERR_INVALID);
    vd_remote_credentials_release(&s->c);
    /* "a\nX: y": no second header */
    assert_int_equal(read_secret(s, "\"token\":\"YQpYOiB5\"", &error), VD_ERR_INVALID);
    vd_remote_credentials_release(&s->c);
    vd_buf_add_text(&large, "\"token\":\"");
    for (size_t i = 0; i < VD_GIT_CREDENTIAL_LEN_MAX / 3 + 1; i++)
        vd_buf_add_text(&large, "YWFh");
    vd_buf_add_char(&large, '"');
    assert_int_equal(read_secret(s, vd_buf_text(&large), &error), VD_ERR_INVALID);
    vd_buf_release(&large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_password_is_a_header_of_the_environment, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(files_are_private_and_go, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_a_killed_server_left_is_swept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(ssh_needs_both, set_up, tear_down),
        cmocka_unit_test_setup_teardown(odd_secrets_are_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
