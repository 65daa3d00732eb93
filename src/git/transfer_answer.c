/* The way of git's answer to the client, and what becomes of a transfer when git ends; see
 * transfer.h. */
#include "base/limits.h"
#include "base/log.h"
#include "git/answer.h"
#include "git/transfer_internal.h"

static void begin_answer(struct vd_transfer *t)
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

void vd_transfer_send(struct vd_transfer *t, struct vd_slice bytes)
{
    if (!t->has_answered)
        begin_answer(t);
    vd_exchange_send(t->x, vd_bytes_copy(bytes));
}

void vd_transfer_output(struct vd_process *p, struct vd_slice bytes)
{
    struct vd_transfer *t = p->arg;
    if (!t->x || t->is_broken)
        return;
    vd_transfer_send(t, bytes);
    if (vd_transfer_is_push(t))
        vd_transfer_follow_packets(t, bytes);
    if (vd_exchange_backlog(t->x) < VD_GIT_BACKLOG_LEN_MAX)
        return;
    vd_process_pause(p);
    vd_exchange_await_drain(t->x);
}

void vd_transfer_client_drained(struct vd_exchange *x)
{
    struct vd_transfer *t = x->arg;
    vd_process_resume(&t->process);
}

void vd_transfer_errors(struct vd_process *p, struct vd_slice bytes)
{
    struct vd_transfer *t = p->arg;
    size_t room = VD_GIT_STDERR_LEN_MAX - t->said.n;
    vd_buf_add(&t->said, bytes.p, bytes.n < room ? bytes.n : room);
}

static void log_failure(const struct vd_transfer *t, const struct vd_process_exit *exit)
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
static void end_answer(struct vd_transfer *t, const struct vd_process_exit *exit)
{
    struct vd_exchange *x = t->x;
    bool is_whole = t->is_broken || (exit->status >= 0 && !exit->timed_out && !exit->is_cut);
    if (!t->has_answered && !vd_process_succeeded(exit)) {
        vd_transfer_refuse(t, exit->timed_out ? 504 : 500,
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
static bool must_discard(const struct vd_transfer *t, const struct vd_process_exit *exit)
{
    bool is_whole = t->is_broken || (exit->status >= 0 && !exit->timed_out);
    return t->x && t->x->stream && t->has_answered && is_whole && !exit->is_stopped &&
           !t->request.advertises && !t->body_has_ended;
}

void vd_transfer_exited(struct vd_process *p, const struct vd_process_exit *exit)
{
    struct vd_transfer *t = p->arg;
    vd_timer_stop(t->loop, &t->timer);
    log_failure(t, exit);
    if (vd_transfer_is_push(t) && exit->status < 0 && !exit->is_stopped)
        vd_pushes_killed(t->git->pushes, t->uid);
    if (must_discard(t, exit)) {
        vd_transfer_discard(t);
        return;
    }
    if (t->x)
        end_answer(t, exit);
    vd_transfer_free(t);
}
