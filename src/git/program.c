/*
 * See program.h. The two runs at start are waited for with a deadline, before any loop runs; all
 * later ones go through net/process.h.
 */
#include "git/program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"

enum {
    ANSWER_MS_MAX = 5000, /* milliseconds that git has for telling its version */
    ANSWER_LEN_MAX = 4096 /* bytes of what it tells */
};

static bool is_program(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0 && S_ISREG(found.st_mode) && access(path, X_OK) == 0;
}

/* A relative folder of PATH is left out: what it means depends on where the server was started. */
char *vd_program_find(const char *search_path, const char *name)
{
    struct vd_slice rest = vd_slice_of(search_path ? search_path : ""), folder;
    struct vd_buf path = {0};
    while (vd_slice_cut(&rest, ':', &folder)) {
        if (!folder.n || folder.p[0] != '/')
            continue;
        vd_buf_reset(&path);
        vd_buf_addf(&path, "%.*s/%s", VD_FMT(folder), name);
        if (is_program(vd_buf_text(&path)))
            return vd_buf_take(&path, NULL);
    }
    vd_buf_release(&path);
    return NULL;
}

/* Reads until the end, the deadline or ANSWER_LEN_MAX. Gives whether the end was reached. */
static bool read_all(int fd, struct vd_buf *out)
{
    uint64_t until_ns = vd_clock_mono_ns(vd_clock_system()) + ANSWER_MS_MAX * UINT64_C(1000000);
    char piece[1024];
    while (out->n < ANSWER_LEN_MAX) {
        uint64_t now_ns = vd_clock_mono_ns(vd_clock_system());
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        int ready = now_ns < until_ns ? poll(&wait, 1, (int)((until_ns - now_ns) / 1000000) + 1)
                                      : 0;
        if (ready < 0 && errno == EINTR)
            continue;
        ssize_t n = ready > 0 ? read(fd, piece, sizeof piece) : -1;
        if (n <= 0)
            return n == 0;
        vd_buf_add(out, piece, (size_t)n);
    }
    return false;
}

static int spawn(const char *path, const char *option, int out, pid_t *pid)
{
    char *const argv[] = {vd_strdup(path), vd_strdup(option), NULL};
    char *const env[] = {vd_strdup("LC_ALL=C"), vd_strdup("GIT_CONFIG_NOSYSTEM=1"), NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out, 1);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    int failed = posix_spawn(pid, path, &actions, NULL, argv, env);
    posix_spawn_file_actions_destroy(&actions);
    free(argv[0]);
    free(argv[1]);
    free(env[0]);
    free(env[1]);
    return failed;
}

static int wait_for(pid_t pid, bool kill_it)
{
    int status = -1;
    if (kill_it)
        kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

/* What `path option` prints. */
static int ask(const char *path, const char *option, struct vd_buf *out, struct vd_error *error)
{
    int ends[2];
    pid_t pid = -1;
    if (pipe2(ends, O_CLOEXEC))
        return vd_error_set(error, VD_ERR_IO, "%s cannot be run: %s", path, strerror(errno));
    int failed = spawn(path, option, ends[1], &pid);
    close(ends[1]);
    bool whole = !failed && read_all(ends[0], out);
    close(ends[0]);
    int status = failed ? -1 : wait_for(pid, !whole);
    if (failed)
        return vd_error_set(error, VD_ERR_IO, "%s cannot be run: %s", path, strerror(failed));
    if (!whole || !WIFEXITED(status) || WEXITSTATUS(status))
        return vd_error_set(error, VD_ERR_IO, "%s %s does not answer: try it in a shell", path,
                            option);
    return VD_OK;
}

static bool cut_number(struct vd_slice *text, unsigned *out)
{
    size_t n = 0;
    uint64_t value;
    while (n < text->n && text->p[n] >= '0' && text->p[n] <= '9')
        n++;
    if (vd_slice_to_u64(vd_slice(text->p, n), &value) || value > 1000000)
        return false;
    *out = (unsigned)value;
    *text = vd_slice_from(*text, n);
    return true;
}

int vd_git_version_parse(struct vd_slice text, struct vd_git_version *out, struct vd_error *error)
{
    static const struct vd_slice prefix = VD_SLICE("git version ");
    struct vd_slice rest = vd_slice_from(text, prefix.n);
    if (!vd_slice_starts_with(text, prefix) || !cut_number(&rest, &out->major) ||
        !vd_slice_starts_with(rest, VD_SLICE(".")))
        return vd_error_set(error, VD_ERR_FORMAT, "\"%.*s\" names no version of git",
                            (int)(text.n < 80 ? text.n : 80), text.p);
    rest = vd_slice_from(rest, 1);
    if (!cut_number(&rest, &out->minor))
        return vd_error_set(error, VD_ERR_FORMAT, "\"%.*s\" names no version of git",
                            (int)(text.n < 80 ? text.n : 80), text.p);
    return VD_OK;
}

static int ask_version(struct vd_git_program *program, struct vd_error *error)
{
    struct vd_buf answer = {0};
    int code = ask(program->path, "--version", &answer, error);
    if (!code)
        code = vd_git_version_parse(vd_slice_trim(vd_buf_slice(&answer)), &program->version, error);
    vd_buf_release(&answer);
    if (code || vd_git_program_is(program, VD_GIT_MAJOR_MIN, VD_GIT_MINOR_MIN))
        return code;
    return vd_error_set(error, VD_ERR_FORMAT,
                        "%s is version %u.%u, and Git repositories need %d.%d or later: install a "
                        "newer git, or put its folder in front of PATH",
                        program->path, program->version.major, program->version.minor,
                        VD_GIT_MAJOR_MIN, VD_GIT_MINOR_MIN);
}

static int ask_exec_path(struct vd_git_program *program, struct vd_error *error)
{
    struct vd_buf answer = {0};
    int code = ask(program->path, "--exec-path", &answer, error);
    struct vd_slice folder = vd_slice_trim(vd_buf_slice(&answer));
    if (!code && (!folder.n || folder.p[0] != '/'))
        code = vd_error_set(error, VD_ERR_FORMAT, "%s --exec-path names no folder", program->path);
    if (!code) {
        struct vd_buf copy = {0};
        vd_buf_add_slice(&copy, folder);
        program->exec_path = vd_buf_take(&copy, NULL);
    }
    vd_buf_release(&answer);
    return code;
}

int vd_git_program_open(struct vd_git_program *program, const char *search_path,
                        struct vd_error *error)
{
    *program = (struct vd_git_program){.path = vd_program_find(search_path, "git")};
    if (!program->path)
        return vd_error_set(error, VD_ERR_NOT_FOUND,
                            "there is no git in the folders of PATH (%s): install git %d.%d or "
                            "later",
                            search_path ? search_path : "", VD_GIT_MAJOR_MIN, VD_GIT_MINOR_MIN);
    int code = ask_version(program, error);
    if (!code)
        code = ask_exec_path(program, error);
    if (code)
        vd_git_program_close(program);
    return code;
}

void vd_git_program_close(struct vd_git_program *program)
{
    free(program->path);
    free(program->exec_path);
    *program = (struct vd_git_program){0};
}
