/* See transfer.h. */
#include "git/transfer.h"

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
#include "git/meter.h"
#include "git/push.h"
#include "net/inflate.h"
#include "net/process.h"

enum { READY_LOOK_MS = 20 }; /* between two looks whether a repository is ready */

struct transfer {
    struct vd_git *git;
    struct vd_exchange *x; /* NULL: the client has left */
    struct vd_git_request request;
    struct vd_slice namespace, name, uid; /* of the Repository */
    uint64_t pack_len_max;
    struct vd_user *user; /* a reference */
    struct vd_arena arena;
    struct vd_loop *loop;
    struct vd_timer timer;   /* while it waits for the repository or for a slot */
    uint64_t ready_until_ns; /* when it stops waiting for the repository */
    struct vd_slot slot;
    struct vd_process process;
    struct vd_push *push;      /* of receive-pack; NULL: it is none, or over */
    struct vd_inflate inflate; /* of a compressed body */
    struct vd_buf said;        /* on stderr; its beginning */
    bool body_has_ended;
    bool has_answered;  /* the head of the answer was sent */
    bool is_discarding; /* git has ended before the body has */
    uint64_t discarded; /* bytes of it */
};

static void end_push(struct transfer *t)
{
    if (t->push)
        vd_push_end(t->push);
    t->push = NULL;
}

static void transfer_free(struct transfer *t)
{
    end_push(t);
    vd_slot_give_back(&t->slot);
    vd_user_unref(t->user);
    vd_inflate_release(&t->inflate);
    vd_buf_release(&t->said);
    vd_arena_release(&t->arena);
    free(t);
}

/* Answers with a sentence; before anything was sent. The exchange is not touched any more. */
static void refuse(struct transfer *t, unsigned status, const char *text)
{
    struct vd_exchange *x = t->x;
    t->x = NULL;
    x->ops = NULL;
    vd_git_answer(x, status, text);
}

/* ---- the body of the request ---- */

/* Nobody waits for git any more. It removes what it has received of a push when its input ends:
 * were it killed at once, that would stay until the server starts again, and a client could fill
 * the disk. */
static void end_git(struct transfer *t)
{
    end_push(t);
    vd_process_end(&t->process);
}

/* What is wrong with the body is known before git is: it is told, and git is ended. */
static void refuse_body(struct transfer *t)
{
    unsigned status = vd_inflate_is_too_long(&t->inflate) ? 413 : 400;
    if (t->x && !t->has_answered) {
        refuse(t, status, vd_inflate_why(&t->inflate));
    } else if (t->x) {
        struct vd_exchange *x = t->x;
        t->x = NULL;
        vd_exchange_abort(x);
    }
    end_git(t);
}

/* Unpacks as much as git takes. */
static void unpack(struct transfer *t)
{
    struct vd_slice bytes;
    enum vd_inflate_result result = VD_INFLATE_PIECE;
    while (result == VD_INFLATE_PIECE && !vd_process_is_full(&t->process)) {
        result = vd_inflate_next(&t->inflate, &bytes);
        if (result == VD_INFLATE_PIECE)
            vd_process_write(&t->process, bytes);
    }
    if (result == VD_INFLATE_BROKEN || (result == VD_INFLATE_HUNGRY && t->body_has_ended))
        refuse_body(t);
    else if (result == VD_INFLATE_END && t->body_has_ended)
        vd_process_close_input(&t->process);
    else if (t->x && result == VD_INFLATE_PIECE)
        vd_exchange_pause_body(t->x);
    else if (t->x)
        vd_exchange_resume_body(t->x);
}

/* The answer, which was whole, ends with the body. A body that does not end is broken off: the
 * client has read by then what git says. */
static void end_discarding(struct transfer *t)
{
    if (t->body_has_ended)
        vd_exchange_end(t->x);
    else
        vd_exchange_abort(t->x);
    transfer_free(t);
}

static void on_piece(struct vd_exchange *x, struct vd_slice bytes)
{
    struct transfer *t = x->arg;
    vd_git_meter_received(t->request.service, bytes.n);
    if (t->is_discarding) {
        t->discarded += bytes.n;
        if (t->discarded >= VD_GIT_DISCARD_LEN_MAX)
            end_discarding(t);
        return;
    }
    if (t->request.is_gzip) {
        vd_inflate_add(&t->inflate, bytes);
        unpack(t);
        return;
    }
    vd_process_write(&t->process, bytes);
    if (vd_process_is_full(&t->process))
        vd_exchange_pause_body(x);
}

static void on_body_end(struct vd_exchange *x)
{
    struct transfer *t = x->arg;
    t->body_has_ended = true;
    if (t->is_discarding)
        end_discarding(t);
    else if (t->request.is_gzip)
        unpack(t);
    else
        vd_process_close_input(&t->process);
}

static void on_process_drained(struct vd_process *p)
{
    struct transfer *t = p->arg;
    if (t->request.is_gzip)
        unpack(t);
    else if (t->x)
        vd_exchange_resume_body(t->x);
}

/* ---- the answer ---- */

static void begin_answer(struct transfer *t)
{
    struct vd_buf text = {0};
    t->has_answered = true;
    vd_exchange_stream(t->x, &(struct vd_response){.status = 200,
                                                   .content_type = vd_smart_http_type(&t->request),
                                                   .fields = vd_git_no_cache,
                                                   .fields_n = VD_GIT_NO_CACHE});
    vd_smart_http_begin(&text, &t->request);
    if (text.n)
        vd_exchange_send(t->x, vd_bytes_take(&text));
    vd_buf_release(&text);
}

static void on_output(struct vd_process *p, struct vd_slice bytes)
{
    struct transfer *t = p->arg;
    if (!t->x)
        return;
    if (!t->has_answered)
        begin_answer(t);
    vd_exchange_send(t->x, vd_bytes_copy(bytes));
    if (vd_exchange_backlog(t->x) < VD_GIT_BACKLOG_LEN_MAX)
        return;
    vd_process_pause(p);
    vd_exchange_await_drain(t->x);
}

static void on_client_drained(struct vd_exchange *x)
{
    struct transfer *t = x->arg;
    vd_process_resume(&t->process);
}

static void on_errors(struct vd_process *p, struct vd_slice bytes)
{
    struct transfer *t = p->arg;
    size_t room = VD_GIT_STDERR_LEN_MAX - t->said.n;
    vd_buf_add(&t->said, bytes.p, bytes.n < room ? bytes.n : room);
}

static void log_failure(const struct transfer *t, const struct vd_process_exit *exit)
{
    if (exit->is_killed || exit->is_stopped || (vd_process_succeeded(exit) && !t->said.n))
        return;
    vd_log_warn(exit->timed_out ? "a git process took too long" : "a git process has complained",
                VD_F_STR("service", vd_git_service_name(t->request.service)),
                VD_F_SLICE("namespace", t->namespace), VD_F_SLICE("repository", t->name),
                VD_F_I64("status", exit->status), VD_F_I64("signal", exit->signal),
                VD_F_SLICE("stderr", vd_slice_trim(vd_buf_slice(&t->said))));
}

/* Git has ended by itself: what it has said is whole, also if it was an error. */
static void end_answer(struct transfer *t, const struct vd_process_exit *exit)
{
    struct vd_exchange *x = t->x;
    bool is_whole = exit->status >= 0 && !exit->timed_out && !exit->is_cut;
    if (!t->has_answered && !vd_process_succeeded(exit)) {
        refuse(t, exit->timed_out ? 504 : 500,
               exit->timed_out ? "git took too long: try again, or fetch less at a time"
                               : "git could not answer: the server's log says why");
        return;
    }
    if (!t->has_answered)
        begin_answer(t);
    t->x = NULL;
    if (is_whole)
        vd_exchange_end(x);
    else
        vd_exchange_abort(x);
}

/* Git may refuse a push before it has all of it. Over HTTP/2, clients that have the whole answer
 * and cannot send on may wait forever: the rest of the body is read and dropped, up to a bound. */
static bool must_discard(const struct transfer *t, const struct vd_process_exit *exit)
{
    return t->x && t->x->stream && t->has_answered && exit->status >= 0 && !exit->timed_out &&
           !exit->is_stopped && !t->request.advertises && !t->body_has_ended;
}

static void left_discarding(struct vd_exchange *x)
{
    transfer_free(x->arg);
}

static void discard(struct transfer *t)
{
    static const struct vd_exchange_ops discarding = {.gone = left_discarding};
    t->is_discarding = true;
    t->x->ops = &discarding;
    end_push(t);
    vd_slot_give_back(&t->slot);
    vd_exchange_resume_body(t->x);
}

static void on_exited(struct vd_process *p, const struct vd_process_exit *exit)
{
    struct transfer *t = p->arg;
    log_failure(t, exit);
    if (must_discard(t, exit)) {
        discard(t);
        return;
    }
    if (t->x)
        end_answer(t, exit);
    transfer_free(t);
}

/* ---- pushes ---- */

/* The hooks of receive-pack speak to the server. */
static void on_channel(struct vd_process *p, struct vd_slice bytes)
{
    struct transfer *t = p->arg;
    if (t->push)
        vd_push_channel(t->push, bytes);
}

static void send_to_hooks(void *arg, struct vd_slice bytes)
{
    struct transfer *t = arg;
    vd_process_send_channel(&t->process, bytes);
}

static bool is_push(const struct transfer *t)
{
    return t->request.service == VD_GIT_RECEIVE_PACK && !t->request.advertises;
}

static void begin_push(struct transfer *t)
{
    t->push = vd_push_begin(t->git->pushes, &(struct vd_push_options){.loop = t->loop,
                                                                      .namespace = t->namespace,
                                                                      .name = t->name,
                                                                      .uid = t->uid,
                                                                      .user = t->user,
                                                                      .send = send_to_hooks,
                                                                      .arg = t});
}

/* ---- the process ---- */

static void add_settings(struct transfer *t, struct vd_git_command *command)
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

static int start_process(struct transfer *t, struct vd_error *error)
{
    static const struct vd_process_ops ops = {.output = on_output,
                                              .errors = on_errors,
                                              .channel = on_channel,
                                              .drained = on_process_drained,
                                              .exited = on_exited};
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
                                     .has_channel = is_push(t),
                                     .timeout_ms = VD_GIT_TIMEOUT_MS,
                                     .idle_timeout_ms = VD_GIT_IDLE_MS,
                                     .memory_max = vd_git_memory_max(),
                                     .files_max = VD_GIT_FILES_OPEN_MAX},
        &ops, error);
    vd_git_command_release(&command);
    vd_buf_release(&folder);
    return code;
}

static void left_running(struct vd_exchange *x)
{
    struct transfer *t = x->arg;
    t->x = NULL;
    end_git(t);
}

static void run(struct transfer *t)
{
    static const struct vd_exchange_ops running = {.drained = on_client_drained,
                                                   .gone = left_running};
    static const struct vd_body_ops body = {.piece = on_piece, .end = on_body_end};
    struct vd_error error;
    if (is_push(t))
        begin_push(t);
    if (start_process(t, &error)) {
        vd_log_error("git could not be started", VD_F_ERROR(&error));
        refuse(t, vd_code_passes(error.code) || error.code == VD_ERR_LIMIT ? 503 : 500,
               "git could not be started: the server's log says why");
        transfer_free(t);
        return;
    }
    t->x->ops = &running;
    if (t->request.advertises) {
        vd_process_close_input(&t->process);
        return;
    }
    if (t->request.is_gzip)
        vd_inflate_init(&t->inflate, 0);
    vd_exchange_read_body(t->x, &body);
}

/* ---- waiting ---- */

/* A slot may be granted while this is on its way: then that frees it. */
static void left_waiting(struct vd_exchange *x)
{
    struct transfer *t = x->arg;
    t->x = NULL;
    vd_timer_stop(t->loop, &t->timer);
    if (t->slot.state == VD_SLOT_NONE || vd_slot_cancel(&t->slot))
        transfer_free(t);
}

static void on_granted(struct vd_slot *slot)
{
    struct transfer *t = VD_CONTAINER_OF(slot, struct transfer, slot);
    vd_timer_stop(t->loop, &t->timer);
    if (t->x)
        run(t);
    else
        transfer_free(t);
}

static void on_waited(struct vd_timer *timer)
{
    struct transfer *t = VD_CONTAINER_OF(timer, struct transfer, timer);
    if (!vd_slot_cancel(&t->slot))
        return; /* it was granted just now */
    refuse(t, 503, "the server has too much to do for git: try again in a while");
    transfer_free(t);
}

static void take_slot(struct transfer *t)
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
        refuse(t, 503, "too many wait for git already: try again in a while");
        transfer_free(t);
    }
}

static bool is_ready(struct transfer *t)
{
    return vd_repositories_is_ready(t->git->repositories, t->namespace, t->name, t->uid);
}

static void look_for_repository(struct vd_timer *timer)
{
    struct transfer *t = VD_CONTAINER_OF(timer, struct transfer, timer);
    if (is_ready(t)) {
        take_slot(t);
    } else if (vd_clock_mono_ns(vd_clock_system()) >= t->ready_until_ns) {
        refuse(t, 503,
               "the repository is not ready: its condition Ready says why "
               "(kubectl get repositories -o yaml)");
        transfer_free(t);
    } else {
        vd_timer_set(t->loop, &t->timer, READY_LOOK_MS);
    }
}

void vd_transfer_start(struct vd_git *git, struct vd_exchange *x,
                       const struct vd_git_request *request, const struct vd_repository *repository)
{
    static const struct vd_exchange_ops waiting = {.gone = left_waiting};
    struct transfer *t = VD_NEW(struct transfer);
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
