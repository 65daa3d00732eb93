/* See fetch.h. One run of `git fetch`, and one of `git rev-parse`, which names the commit. */
#include "git/fetch.h"

#include <string.h>

#include "base/container_of.h"
#include "base/limits.h"
#include "git/command.h"

static void finish(struct vd_fetch *f)
{
    vd_buf_release(&f->said);
    vd_buf_release(&f->name);
    f->done(f);
}

static void fail(struct vd_fetch *f, const struct vd_error *error)
{
    f->error = *error;
    finish(f);
}

/* ---- the commit ---- */

static void on_name(struct vd_git_process *p, struct vd_slice bytes)
{
    struct vd_fetch *f = VD_CONTAINER_OF(p, struct vd_fetch, naming);
    if (f->name.n + bytes.n <= VD_OBJECT_ID_TEXT_MAX)
        vd_buf_add_slice(&f->name, bytes);
}

static void on_named(struct vd_git_process *p, const struct vd_error *error)
{
    struct vd_fetch *f = VD_CONTAINER_OF(p, struct vd_fetch, naming);
    struct vd_slice name = vd_slice_trim(vd_buf_slice(&f->name));
    struct vd_error odd;
    if (error) {
        fail(f, error);
        return;
    }
    if (!vd_object_id_is(name)) {
        (void)vd_error_set(&odd, VD_ERR_FORMAT, "git does not name the commit that was fetched");
        fail(f, &odd);
        return;
    }
    memcpy(f->commit, name.p, name.n);
    f->commit[name.n] = 0;
    finish(f);
}

static void start_naming(struct vd_fetch *f)
{
    static const char *const arguments[] = {"rev-parse", "--verify", "--quiet",
                                            VD_FETCH_REF "^{commit}", NULL};
    static const struct vd_git_process_ops ops = {.output = on_name, .ended = on_named};
    struct vd_error error;
    if (vd_git_process_start(&f->naming, f->loop, &f->place, arguments, &ops, &error))
        fail(f, &error);
}

/* ---- the fetch ---- */

static void on_errors(struct vd_process *p, struct vd_slice bytes)
{
    struct vd_fetch *f = p->arg;
    size_t room = VD_GIT_STDERR_LEN_MAX - f->said.n;
    vd_buf_add(&f->said, bytes.p, bytes.n < room ? bytes.n : room);
}

/* The line that says what is wrong: "fatal: ...", unless that only means what ssh has said in the
 * first one. Others may have written it: what is not printable is taken out. */
static struct vd_slice words(struct vd_fetch *f)
{
    struct vd_slice rest = vd_slice_trim(vd_buf_slice(&f->said)), line, first = rest;
    for (size_t i = 0; i < f->said.n; i++)
        if (f->said.p[i] != '\n' && ((unsigned char)f->said.p[i] < ' ' || f->said.p[i] == 127))
            f->said.p[i] = ' ';
    for (bool is_first = true; vd_slice_cut(&rest, '\n', &line); is_first = false) {
        if (is_first)
            first = line;
        if (vd_slice_starts_with(line, VD_SLICE("fatal: ")) &&
            !vd_slice_starts_with(line, VD_SLICE("fatal: Could not read from remote")))
            return vd_slice_from(line, 7);
    }
    return first.n ? first : VD_SLICE("git says nothing");
}

static void describe(struct vd_fetch *f, const struct vd_process_exit *exit, struct vd_error *error)
{
    struct vd_slice said = words(f);
    if (f->is_stopped || exit->is_stopped)
        (void)vd_error_set(error, VD_ERR_CLOSED, "the fetch was given up");
    else if (exit->timed_out)
        (void)vd_error_set(error, VD_ERR_LIMIT, "the fetch took longer than %d s",
                           VD_GIT_FETCH_MS / 1000);
    else if (exit->signal)
        (void)vd_error_set(error, VD_ERR_IO, "git fetch was ended by signal %d", exit->signal);
    else if (memmem(f->said.p, f->said.n, "index-pack died of signal", 25))
        (void)vd_error_set(error, VD_ERR_LIMIT, "what was fetched has more than %d bytes",
                           VD_GIT_FETCH_LEN_MAX);
    else
        (void)vd_error_set(error, VD_ERR_IO, "%.*s", VD_FMT(said));
}

static void on_exited(struct vd_process *p, const struct vd_process_exit *exit)
{
    struct vd_fetch *f = p->arg;
    struct vd_error error;
    vd_remote_credentials_release(&f->credentials);
    if (vd_process_succeeded(exit) && !f->is_stopped) {
        start_naming(f);
        return;
    }
    describe(f, exit, &error);
    f->is_interrupted = exit->signal || exit->timed_out || error.code == VD_ERR_LIMIT;
    fail(f, &error);
}

static void add_settings(struct vd_git_command *c, enum vd_remote_scheme scheme)
{
    struct vd_buf key = {0};
    vd_buf_addf(&key, "protocol.%s.allow", vd_remote_scheme_name(scheme));
    vd_git_command_set(c, vd_buf_text(&key), "always");
    vd_buf_release(&key);
    vd_git_command_set(c, "http.followRedirects", "false");
    vd_git_command_set(c, "http.sslVerify", "true");
    vd_git_command_set(c, "http.proxy", "");
    vd_git_command_set(c, "http.lowSpeedLimit", "100");
    vd_git_command_set(c, "http.lowSpeedTime", "60");
    vd_git_command_set(c, "core.askPass", "");
}

static void add_ssh(const struct vd_fetch *f, struct vd_git_command *c)
{
    vd_git_command_add_env(c, "GIT_SSH", vd_slice_of(f->ssh_launcher));
    vd_git_command_add_env(c, "GIT_SSH_VARIANT", VD_SLICE("ssh"));
    vd_git_command_add_env(c, "VEDETTE_SSH", vd_slice_of(f->ssh));
}

static void add_arguments(const struct vd_fetch *f, struct vd_git_command *c)
{
    static const char *const options[] = {"fetch",
                                          "--quiet",
                                          "--no-tags",
                                          "--no-recurse-submodules",
                                          "--no-write-fetch-head",
                                          "--no-auto-maintenance",
                                          "--no-show-forced-updates",
                                          "--"};
    struct vd_buf refspec = {0};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        vd_git_command_add(c, options[i]);
    vd_git_command_add(c, f->url);
    vd_buf_addf(&refspec, "+refs/heads/%s:%s", f->branch, VD_FETCH_REF);
    vd_git_command_add(c, vd_buf_text(&refspec));
    vd_buf_release(&refspec);
}

static int run(struct vd_fetch *f, struct vd_error *error)
{
    static const struct vd_process_ops ops = {.errors = on_errors, .exited = on_exited};
    struct vd_git_command c;
    vd_git_command_init(&c, f->place.program, f->place.folder);
    add_settings(&c, f->scheme);
    if (f->scheme == VD_REMOTE_SSH)
        add_ssh(f, &c);
    vd_remote_credentials_give(&f->credentials, f->scheme, &c);
    add_arguments(f, &c);
    f->process.arg = f;
    int code = vd_process_start(
        &f->process, f->loop,
        &(struct vd_process_options){.argv = vd_git_command_argv(&c),
                                     .env = vd_git_command_env(&c),
                                     .cwd = f->place.folder,
                                     .name = "fetch",
                                     .timeout_ms = VD_GIT_FETCH_MS,
                                     .memory_max = vd_git_memory_max(),
                                     .file_len_max = VD_GIT_FETCH_LEN_MAX,
                                     .files_max = VD_GIT_FILES_OPEN_MAX},
        &ops, error);
    if (!code)
        vd_process_close_input(&f->process);
    vd_git_command_release(&c);
    return code;
}

void vd_fetch_private_folder(struct vd_buf *out, const char *folder)
{
    vd_buf_addf(out, "%s/vedette-remote", folder);
}

void vd_fetch_start(struct vd_fetch *f)
{
    struct vd_error error;
    struct vd_buf folder = {0};
    int code = VD_OK;
    vd_fetch_private_folder(&folder, f->place.folder);
    vd_remote_credentials_sweep(vd_buf_text(&folder));
    if (f->scheme == VD_REMOTE_SSH && !f->ssh)
        code = vd_error_set(&error, VD_ERR_NOT_FOUND,
                            "there is no ssh in the folders of PATH of the server: install one");
    if (!code)
        code = vd_remote_credentials_open(&f->credentials, f->scheme, vd_buf_text(&folder), &error);
    vd_buf_release(&folder);
    if (!code)
        code = run(f, &error);
    if (code)
        fail(f, &error);
}

void vd_fetch_stop(struct vd_fetch *f)
{
    f->is_stopped = true;
    if (vd_process_is_running(&f->process))
        vd_process_kill(&f->process);
    else
        vd_git_process_stop(&f->naming);
}

void vd_fetch_release(struct vd_fetch *f)
{
    vd_remote_credentials_release(&f->credentials);
    vd_buf_release(&f->said);
    vd_buf_release(&f->name);
}
