/* See transfer.h. */
#include "git/transfer_internal.h"

#include <stdlib.h>

#include "auth/user.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/container_of.h"
#include "base/limits.h"
#include "base/log.h"
#include "git/answer.h"
#include "git/bare_repository.h"
#include "git/command.h"

enum { READY_LOOK_MS = 20 }; /* between two looks whether a repository is ready */

void vd_transfer_end_push(struct vd_transfer *t)
{
    if (t->push)
        vd_push_end(t->push);
    t->push = NULL;
}

void vd_transfer_free(struct vd_transfer *t)
{
    vd_transfer_end_push(t);
    vd_slot_give_back(&t->slot);
    vd_user_unref(t->user);
    vd_inflate_release(&t->inflate);
    vd_buf_release(&t->said);
    vd_arena_release(&t->arena);
    free(t);
}

void vd_transfer_refuse(struct vd_transfer *t, unsigned status, const char *text)
{
    struct vd_exchange *x = t->x;
    t->x = NULL;
    x->ops = NULL;
    vd_git_answer(x, status, text);
}

void vd_transfer_end_git(struct vd_transfer *t)
{
    vd_transfer_end_push(t);
    vd_process_end(&t->process);
}

/* ---- pushes ---- */

/* The hooks of receive-pack speak to the server. */
static void on_channel(struct vd_process *p, struct vd_slice bytes)
{
    struct vd_transfer *t = p->arg;
    vd_transfer_unpacked(t);
    if (t->push)
        vd_push_channel(t->push, bytes);
}

static void send_to_hooks(void *arg, struct vd_slice bytes)
{
    struct vd_transfer *t = arg;
    vd_process_send_channel(&t->process, bytes);
}

bool vd_transfer_is_push(const struct vd_transfer *t)
{
    return t->request.service == VD_GIT_RECEIVE_PACK && !t->request.advertises;
}

/* The repository is deleted. */
static void give_up(void *arg)
{
    struct vd_transfer *t = arg;
    struct vd_exchange *x = t->x;
    if (x && !t->has_answered) {
        vd_transfer_refuse(t, 503, "the repository is being deleted");
    } else if (x) {
        t->x = NULL;
        vd_exchange_abort(x);
    }
    vd_transfer_end_git(t);
}

static void begin_push(struct vd_transfer *t)
{
    t->push = vd_push_begin(t->git->pushes, &(struct vd_push_options){.loop = t->loop,
                                                                      .namespace = t->namespace,
                                                                      .name = t->name,
                                                                      .uid = t->uid,
                                                                      .user = t->user,
                                                                      .send = send_to_hooks,
                                                                      .give_up = give_up,
                                                                      .arg = t});
}

/* ---- the process ---- */

static void add_settings(struct vd_transfer *t, struct vd_git_command *command)
{
    if (t->request.version)
        vd_git_command_add_env(command, "GIT_PROTOCOL",
                               t->request.version == 2 ? VD_SLICE("version=2")
                                                       : VD_SLICE("version=1"));
    if (t->request.service != VD_GIT_RECEIVE_PACK)
        return;
    vd_git_command_set(command, "core.hooksPath", t->git->hooks);
    vd_git_command_set(command, "receive.procReceiveRefs", "refs/");
    vd_git_command_set(command, "receive.advertisePushOptions", "true");
    vd_git_command_set(command, "receive.denyDeleteCurrent", "ignore");
    vd_git_command_set_u64(command, "receive.maxInputSize", t->pack_len_max);
}

static int start_process(struct vd_transfer *t, struct vd_error *error)
{
    static const struct vd_process_ops ops = {.output = vd_transfer_output,
                                              .errors = vd_transfer_errors,
                                              .channel = on_channel,
                                              .drained = vd_transfer_feed,
                                              .exited = vd_transfer_exited};
    struct vd_git_command command;
    struct vd_buf folder = {0};
    vd_bare_repository_path(&folder, t->git->root, t->uid.p);
    vd_git_command_init(&command, &t->git->program, vd_buf_text(&folder));
    add_settings(t, &command);
    vd_git_command_add(&command, vd_git_service_name(t->request.service));
    vd_git_command_add(&command, "--stateless-rpc");
    if (t->request.advertises)
        vd_git_command_add(&command, "--advertise-refs");
    vd_git_command_add(&command, vd_buf_text(&folder));
    t->process.arg = t;
    int code = vd_process_start(
        &t->process, t->loop,
        &(struct vd_process_options){.argv = vd_git_command_argv(&command),
                                     .env = vd_git_command_env(&command),
                                     .name = vd_git_service_name(t->request.service),
                                     .has_channel = vd_transfer_is_push(t),
                                     .timeout_ms = VD_GIT_TIMEOUT_MS,
                                     .idle_timeout_ms = VD_GIT_IDLE_MS,
                                     .memory_max = vd_git_memory_max(),
                                     .cpu_s_max = VD_GIT_CPU_S,
                                     .files_max = VD_GIT_FILES_OPEN_MAX},
        &ops, error);
    vd_git_command_release(&command);
    vd_buf_release(&folder);
    return code;
}

static void left_running(struct vd_exchange *x)
{
    struct vd_transfer *t = x->arg;
    t->x = NULL;
    vd_transfer_end_git(t);
}

static void run(struct vd_transfer *t)
{
    static const struct vd_exchange_ops running = {.drained = vd_transfer_client_drained,
                                                   .gone = left_running};
    struct vd_error error;
    if (vd_transfer_check_room(t, &error)) {
        vd_transfer_refuse(t, 507, error.text);
        vd_transfer_free(t);
        return;
    }
    if (vd_transfer_is_push(t))
        begin_push(t);
    if (start_process(t, &error)) {
        vd_log_error("git could not be started", VD_F_ERROR(&error));
        vd_transfer_refuse(t, vd_code_passes(error.code) || error.code == VD_ERR_LIMIT ? 503 : 500,
                           "git could not be started: the server's log says why");
        vd_transfer_free(t);
        return;
    }
    t->x->ops = &running;
    if (t->request.advertises) {
        vd_process_close_input(&t->process);
        return;
    }
    vd_transfer_read_body(t);
}

/* ---- waiting ---- */

/* A slot may be granted while this is on its way: then that frees it. */
static void left_waiting(struct vd_exchange *x)
{
    struct vd_transfer *t = x->arg;
    t->x = NULL;
    vd_timer_stop(t->loop, &t->timer);
    if (t->slot.state == VD_SLOT_NONE || vd_slot_cancel(&t->slot))
        vd_transfer_free(t);
}

static void on_granted(struct vd_slot *slot)
{
    struct vd_transfer *t = VD_CONTAINER_OF(slot, struct vd_transfer, slot);
    vd_timer_stop(t->loop, &t->timer);
    if (t->x)
        run(t);
    else
        vd_transfer_free(t);
}

static void on_waited(struct vd_timer *timer)
{
    struct vd_transfer *t = VD_CONTAINER_OF(timer, struct vd_transfer, timer);
    if (!vd_slot_cancel(&t->slot))
        return; /* it was granted just now */
    vd_transfer_refuse(t, 503, "the server has too much to do for git: try again in a while");
    vd_transfer_free(t);
}

static void take_slot(struct vd_transfer *t)
{
    t->slot.loop = t->loop;
    t->slot.granted = on_granted;
    t->timer.fire = on_waited;
    switch (vd_slot_take(&t->git->slots, &t->slot, t->user->is.name)) {
    case VD_SLOT_NOW:
        run(t);
        return;
    case VD_SLOT_LATER:
        vd_timer_set(t->loop, &t->timer, VD_GIT_WAIT_MS);
        return;
    case VD_SLOT_REFUSED:
        vd_transfer_refuse(t, 503, "too many wait for git already: try again in a while");
        vd_transfer_free(t);
    }
}

static bool is_ready(struct vd_transfer *t)
{
    return vd_repositories_is_ready(t->git->repositories, t->namespace, t->name, t->uid);
}

static void look_for_repository(struct vd_timer *timer)
{
    struct vd_transfer *t = VD_CONTAINER_OF(timer, struct vd_transfer, timer);
    if (is_ready(t)) {
        take_slot(t);
    } else if (vd_clock_mono_ns(vd_clock_system()) >= t->ready_until_ns) {
        vd_transfer_refuse(t, 503,
                           "the repository is not ready: its condition Ready says why "
                           "(kubectl get repositories -o yaml)");
        vd_transfer_free(t);
    } else {
        vd_timer_set(t->loop, &t->timer, READY_LOOK_MS);
    }
}

void vd_transfer_start(struct vd_git *git, struct vd_exchange *x,
                       const struct vd_git_request *request, const struct vd_repository *repository)
{
    static const struct vd_exchange_ops waiting = {.gone = left_waiting};
    struct vd_transfer *t = VD_NEW(struct vd_transfer);
    t->git = git;
    t->x = x;
    t->loop = x->loop;
    t->request = *request;
    t->namespace = vd_arena_copy(&t->arena, repository->namespace);
    t->name = vd_arena_copy(&t->arena, repository->name);
    t->uid = vd_arena_copy(&t->arena, vd_slice_of(repository->uid));
    t->request.namespace = t->namespace;
    t->request.name = t->name;
    t->pack_len_max = repository->pack_len_max;
    t->user = vd_user_ref(x->user);
    t->timer.fire = look_for_repository;
    t->ready_until_ns = vd_clock_mono_ns(vd_clock_system()) + VD_GIT_READY_MS * UINT64_C(1000000);
    x->ops = &waiting;
    x->arg = t;
    look_for_repository(&t->timer);
}
