/* See gc_run.h. */
#include "git/gc_run.h"

#include "base/clock.h"
#include "base/container_of.h"
#include "base/limits.h"
#include "base/log.h"
#include "git/command.h"
#include "git/disk_room.h"

enum { KILL_MS = 10000 }; /* that git has to end when it is told to */

static uint64_t now_ns(void)
{
    return vd_clock_mono_ns(vd_clock_system());
}

/* ---- its end ---- */

static void tell_failure(const struct vd_gc_run *r, const struct vd_process_exit *exit)
{
    vd_log_warn(r->is_late ? "git gc took too long" : "git gc has failed", VD_F_STR("uid", r->uid),
                VD_F_I64("status", exit->status), VD_F_I64("signal", exit->signal),
                VD_F_SLICE("stderr", vd_slice_trim(vd_buf_slice(&r->said))));
}

static void on_exited(struct vd_process *p, const struct vd_process_exit *exit)
{
    struct vd_gc_run *r = p->arg;
    vd_timer_stop(r->loop, &r->limit);
    r->duration_ns = now_ns() - r->begun_ns;
    r->result = vd_process_succeeded(exit)    ? VD_GC_GOOD
                : exit->is_stopped            ? VD_GC_STOPPED
                : r->is_ending && !r->is_late ? VD_GC_ENDED
                                              : VD_GC_FAILED;
    if (r->result == VD_GC_FAILED)
        tell_failure(r, exit);
    vd_buf_release(&r->said);
    r->done(r);
}

static void on_errors(struct vd_process *p, struct vd_slice bytes)
{
    struct vd_gc_run *r = p->arg;
    size_t room = VD_GIT_STDERR_LEN_MAX - r->said.n;
    vd_buf_add(&r->said, bytes.p, bytes.n < room ? bytes.n : room);
}

/* git removes some of its files when it is asked to end, and none when it is killed. */
void vd_gc_run_end(struct vd_gc_run *r)
{
    if (r->is_ending || !vd_gc_run_is_running(r))
        return;
    r->is_ending = true;
    vd_process_terminate(&r->process);
    vd_timer_set(r->loop, &r->limit, KILL_MS);
}

static void on_limit(struct vd_timer *timer)
{
    struct vd_gc_run *r = VD_CONTAINER_OF(timer, struct vd_gc_run, limit);
    if (r->is_ending) {
        vd_process_kill(&r->process);
        return;
    }
    r->is_late = true;
    vd_gc_run_end(r);
}

/* ---- its beginning ---- */

/* No other gc runs here: a lock that says so is an old one (--force). */
static void add_arguments(const struct vd_gc_run *r, struct vd_git_command *c)
{
    struct vd_buf prune = {0};
    vd_buf_addf(&prune, "--prune=%d.seconds.ago", VD_GIT_UPKEEP_GRACE_S);
    if (r->keeps_refs)
        vd_git_command_set(c, "gc.packRefs", "false");
    vd_git_command_set(c, "gc.cruftPacks", "true");
    vd_git_command_set(c, "repack.updateServerInfo", "false");
    vd_git_command_add(c, "gc");
    vd_git_command_add(c, "--quiet");
    vd_git_command_add(c, "--force");
    vd_git_command_add(c, vd_buf_text(&prune));
    vd_buf_release(&prune);
}

int vd_gc_run_start(struct vd_gc_run *r, struct vd_error *error)
{
    static const struct vd_process_ops ops = {.errors = on_errors, .exited = on_exited};
    struct vd_disk_room room = vd_disk_room(r->folder);
    struct vd_git_command c;
    if (vd_disk_room_check(&room, error))
        return error->code;
    vd_git_command_init(&c, r->program, r->folder);
    add_arguments(r, &c);
    r->process.arg = r;
    r->begun_ns = now_ns();
    int code = vd_process_start(
        &r->process, r->loop,
        &(struct vd_process_options){.argv = vd_git_command_argv(&c),
                                     .env = vd_git_command_env(&c),
                                     .cwd = r->folder, /* leftovers.c knows it by that */
                                     .name = "gc",
                                     .is_background = true,
                                     .memory_max = vd_git_memory_max(),
                                     .file_len_max = vd_disk_room_left(&room),
                                     .files_max = VD_GIT_FILES_OPEN_MAX},
        &ops, error);
    vd_git_command_release(&c);
    if (code)
        return code;
    vd_process_close_input(&r->process);
    r->limit.fire = on_limit;
    vd_timer_set(r->loop, &r->limit, VD_GIT_UPKEEP_MS);
    return VD_OK;
}
