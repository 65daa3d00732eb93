/*
 * See fetch.h. The steps of a fetch, each of which begins when the one before has ended:
 *
 *     a worker makes the quarantine
 *     `git fetch` writes into it, while it is watched
 *     `git rev-parse` names the commit that has come
 *     a worker moves what has come into the repository
 *     `git update-ref` sets VD_FETCH_REF
 *
 * When one of them fails, a worker removes the quarantine, and that is the end.
 */
#include "git/fetch.h"

#include <string.h>

#include "base/clock.h"
#include "base/container_of.h"
#include "base/limits.h"
#include "base/log.h"
#include "git/command.h"
#include "git/disk_room.h"
#include "git/fetch_quarantine.h"

enum { LOOK_MS = 100 }; /* from one look at a fetch that runs to the next one */

static void finish(struct vd_fetch *f)
{
    vd_buf_release(&f->said);
    vd_buf_release(&f->name);
    f->done(f);
}

/* ---- the disk ---- */

static void start_work(struct vd_fetch *f, void (*run)(struct vd_work *work),
                       void (*done)(struct vd_work *work))
{
    f->work.run = run;
    f->work.done = done;
    f->work_error = (struct vd_error){.code = VD_OK};
    vd_loop_work(f->loop, &f->work);
}

static void run_removing(struct vd_work *work)
{
    struct vd_fetch *f = VD_CONTAINER_OF(work, struct vd_fetch, work);
    (void)!vd_fetch_quarantine_remove(f->place.folder, &f->work_error);
}

static void on_removed(struct vd_work *work)
{
    struct vd_fetch *f = VD_CONTAINER_OF(work, struct vd_fetch, work);
    if (f->work_error.code)
        vd_log_warn("what a failed fetch has brought could not be removed; the next one removes it",
                    VD_F_ERROR(&f->work_error));
    finish(f);
}

/* What has come is removed. The next server does that for one that stops. */
static void fail(struct vd_fetch *f, const struct vd_error *error)
{
    f->error = *error;
    if (vd_loop_is_stopping(f->loop))
        finish(f);
    else
        start_work(f, run_removing, on_removed);
}

/* True: it was given up meanwhile, and ends here. */
static bool ends_early(struct vd_fetch *f)
{
    struct vd_error error;
    if (!f->is_stopped)
        return false;
    (void)vd_error_set(&error, VD_ERR_CLOSED, "the fetch was given up");
    fail(f, &error);
    return true;
}

/* ---- the ref ---- */

static void on_moved(struct vd_git_process *p, const struct vd_error *error)
{
    struct vd_fetch *f = VD_CONTAINER_OF(p, struct vd_fetch, helper);
    f->is_interrupted = error != NULL;
    if (error)
        fail(f, error);
    else
        finish(f);
}

static void on_admitted(struct vd_work *work)
{
    struct vd_fetch *f = VD_CONTAINER_OF(work, struct vd_fetch, work);
    const char *const arguments[] = {"update-ref", VD_FETCH_REF, f->commit, NULL};
    static const struct vd_git_process_ops ops = {.ended = on_moved};
    struct vd_git_place place = {.program = f->place.program, .folder = f->place.folder};
    struct vd_error error;
    if (ends_early(f))
        return;
    if (f->work_error.code)
        fail(f, &f->work_error);
    else if (vd_git_process_start(&f->helper, f->loop, &place, arguments, &ops, &error))
        fail(f, &error);
}

static void run_admitting(struct vd_work *work)
{
    struct vd_fetch *f = VD_CONTAINER_OF(work, struct vd_fetch, work);
    (void)!vd_fetch_quarantine_admit(f->place.folder, &f->work_error);
}

/* ---- the commit ---- */

static void on_name(struct vd_git_process *p, struct vd_slice bytes)
{
    struct vd_fetch *f = VD_CONTAINER_OF(p, struct vd_fetch, helper);
    if (f->name.n + bytes.n <= VD_OBJECT_ID_TEXT_MAX)
        vd_buf_add_slice(&f->name, bytes);
}

static void on_named(struct vd_git_process *p, const struct vd_error *error)
{
    struct vd_fetch *f = VD_CONTAINER_OF(p, struct vd_fetch, helper);
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
    start_work(f, run_admitting, on_admitted);
}

static void start_naming(struct vd_fetch *f)
{
    static const char *const arguments[] = {"rev-parse", "--verify", "--quiet",
                                            "FETCH_HEAD^{commit}", NULL};
    static const struct vd_git_process_ops ops = {.output = on_name, .ended = on_named};
    struct vd_buf objects = {0}, alternates = {0};
    struct vd_git_place place = f->place;
    struct vd_error error;
    vd_fetch_quarantine_path(&objects, f->place.folder);
    vd_fetch_quarantine_alternates(&alternates, f->place.folder);
    place.objects = vd_buf_slice(&objects);
    place.alternates = vd_buf_slice(&alternates);
    if (vd_git_process_start(&f->helper, f->loop, &place, arguments, &ops, &error))
        fail(f, &error);
    vd_buf_release(&objects);
    vd_buf_release(&alternates);
}

/* ---- the fetch ---- */

static void on_errors(struct vd_process *p, struct vd_slice bytes)
{
    struct vd_fetch *f = p->arg;
    size_t room = VD_GIT_STDERR_LEN_MAX - f->said.n;
    vd_buf_add(&f->said, bytes.p, bytes.n < room ? bytes.n : room);
}

static void on_exited(struct vd_process *p, const struct vd_process_exit *exit)
{
    struct vd_fetch *f = p->arg;
    struct vd_error error;
    vd_timer_stop(f->loop, &f->timer);
    vd_remote_credentials_release(&f->credentials);
    if (vd_process_succeeded(exit) && !f->is_stopped) {
        start_naming(f);
        return;
    }
    if (f->cause.code)
        error = f->cause;
    else
        vd_fetch_describe(f, exit, &error);
    fail(f, &error);
}

static uint64_t now_ms(void)
{
    return vd_clock_mono_ns(vd_clock_system()) / 1000000;
}

static void start_span(struct vd_fetch *f, uint64_t len)
{
    f->span_ms = now_ms();
    f->span_len = len;
}

/* Whether it was slow in the last span of time that is over. */
static bool is_slow(struct vd_fetch *f)
{
    uint64_t ms = now_ms() - f->span_ms;
    if (ms >= f->slow_ms) {
        uint64_t len = vd_fetch_quarantine_len(f->place.folder);
        uint64_t brought = len > f->span_len ? len - f->span_len : 0;
        f->is_slow = brought < ms * VD_GIT_FETCH_SPEED_MIN / 1000;
        start_span(f, len);
    }
    return f->is_slow;
}

static bool gives_way(struct vd_fetch *f)
{
    f->gave_way = f->is_wanted && is_slow(f) && f->is_wanted(f);
    if (f->gave_way)
        (void)vd_error_set(&f->cause, VD_ERR_LIMIT,
                           "the fetch gave way to others that wait, since the remote has sent less "
                           "than %d bytes a second for %d s",
                           VD_GIT_FETCH_SPEED_MIN, (int)(f->slow_ms / 1000));
    return f->gave_way;
}

/* While git fetches: whether it leaves room on the disk, and whether others may wait for it. */
static void look(struct vd_timer *timer)
{
    struct vd_fetch *f = VD_CONTAINER_OF(timer, struct vd_fetch, timer);
    struct vd_disk_room room = vd_disk_room(f->place.folder);
    if (vd_disk_room_check(&room, &f->cause) || gives_way(f))
        vd_process_kill(&f->process);
    else
        vd_timer_set(f->loop, &f->timer, LOOK_MS);
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

static void add_quarantine(const struct vd_fetch *f, struct vd_git_command *c)
{
    struct vd_buf text = {0};
    vd_fetch_quarantine_path(&text, f->place.folder);
    vd_git_command_add_env(c, "GIT_OBJECT_DIRECTORY", vd_buf_slice(&text));
    vd_buf_reset(&text);
    vd_fetch_quarantine_alternates(&text, f->place.folder);
    vd_git_command_add_env(c, "GIT_ALTERNATE_OBJECT_DIRECTORIES", vd_buf_slice(&text));
    vd_buf_release(&text);
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
                                          "--no-auto-maintenance",
                                          "--no-show-forced-updates",
                                          "--"};
    struct vd_buf refspec = {0};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        vd_git_command_add(c, options[i]);
    vd_git_command_add(c, f->url);
    vd_buf_addf(&refspec, "refs/heads/%s", f->branch);
    vd_git_command_add(c, vd_buf_text(&refspec));
    vd_buf_release(&refspec);
}

static int run(struct vd_fetch *f, struct vd_error *error)
{
    static const struct vd_process_ops ops = {.errors = on_errors, .exited = on_exited};
    struct vd_git_command c;
    struct vd_disk_room room = vd_disk_room(f->place.folder);
    if (vd_disk_room_check(&room, error))
        return error->code;
    f->pack_len_max = vd_disk_room_left(&room);
    if (f->pack_len_max > VD_GIT_FETCH_LEN_MAX)
        f->pack_len_max = VD_GIT_FETCH_LEN_MAX;
    vd_git_command_init(&c, f->place.program, f->place.folder);
    add_settings(&c, f->scheme);
    add_quarantine(f, &c);
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
                                     .memory_max = vd_git_fetch_memory_max(),
                                     .cpu_s_max = VD_GIT_CPU_S,
                                     .file_len_max = f->pack_len_max,
                                     .files_max = VD_GIT_FILES_OPEN_MAX},
        &ops, error);
    if (!code) {
        vd_process_close_input(&f->process);
        f->timer.fire = look;
        start_span(f, 0);
        vd_timer_set(f->loop, &f->timer, LOOK_MS);
    }
    vd_git_command_release(&c);
    return code;
}

void vd_fetch_private_folder(struct vd_buf *out, const char *folder)
{
    vd_buf_addf(out, "%s/vedette-remote", folder);
}

static void run_making(struct vd_work *work)
{
    struct vd_fetch *f = VD_CONTAINER_OF(work, struct vd_fetch, work);
    (void)!vd_fetch_quarantine_make(f->place.folder, &f->work_error);
}

static void on_made(struct vd_work *work)
{
    struct vd_fetch *f = VD_CONTAINER_OF(work, struct vd_fetch, work);
    if (ends_early(f))
        return;
    if (f->work_error.code || run(f, &f->work_error))
        fail(f, &f->work_error);
}

void vd_fetch_start(struct vd_fetch *f)
{
    struct vd_buf folder = {0};
    int code = VD_OK;
    vd_fetch_private_folder(&folder, f->place.folder);
    vd_remote_credentials_sweep(vd_buf_text(&folder));
    if (f->scheme == VD_REMOTE_SSH && !f->ssh)
        code = vd_error_set(&f->error, VD_ERR_NOT_FOUND,
                            "there is no ssh in the folders of PATH of the server: install one");
    if (!code)
        code = vd_remote_credentials_open(&f->credentials, f->scheme, vd_buf_text(&folder),
                                          &f->error);
    vd_buf_release(&folder);
    if (code)
        finish(f);
    else
        start_work(f, run_making, on_made);
}

void vd_fetch_stop(struct vd_fetch *f)
{
    f->is_stopped = true;
    if (vd_process_is_running(&f->process))
        vd_process_kill(&f->process);
    else
        vd_git_process_stop(&f->helper);
}

void vd_fetch_release(struct vd_fetch *f)
{
    vd_remote_credentials_release(&f->credentials);
    vd_buf_release(&f->said);
    vd_buf_release(&f->name);
}
