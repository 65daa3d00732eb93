/*
 * See push.h. This file carries messages between the loops and knows which hook speaks; what is
 * done with them is in push_validate.c and push_admit.c.
 *
 * Bytes go from the exchange's loop to loop 0 as they come, and are taken apart there. A push is
 * freed when both loops have let go of it and no message is on its way.
 */
#include "git/push.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/container_of.h"
#include "base/limits.h"
#include "git/bare_repository.h"
#include "git/push_internal.h"
#include "git/upkeep.h"

/* ---- life ---- */

static void unref(struct vd_push *p)
{
    if (!vd_unref(&p->refs))
        return;
    vd_user_unref(p->user);
    free(p->folder);
    vd_buf_release(&p->input);
    VD_VEC_RELEASE(&p->commands);
    VD_VEC_RELEASE(&p->validated);
    vd_arena_release(&p->arena);
    free(p);
}

/* Loop 0 lets go. */
static void drop(struct vd_push *p)
{
    struct vd_pushes *pushes = p->pushes;
    if (p->prev)
        p->prev->next = p->next;
    else
        pushes->first = p->next;
    if (p->next)
        p->next->prev = p->prev;
    pushes->counted -= p->is_counted;
    vd_upkeep_look(pushes->all->upkeep, p->uid);
    vd_branch_admission_release(&p->branches);
    unref(p);
}

void vd_push_rest(struct vd_push *p)
{
    p->is_busy = false;
    if (p->is_gone)
        drop(p);
}

/* ---- messages between the loops ---- */

struct message {
    struct vd_task task;
    struct vd_push *push; /* a reference */
    struct vd_buf bytes;
};

static void post(struct vd_push *p, struct vd_loop *loop, void (*run)(struct vd_task *task),
                 struct vd_slice bytes)
{
    struct message *m = vd_calloc(1, sizeof *m);
    vd_ref(&p->refs);
    *m = (struct message){.task = {.run = run}, .push = p};
    vd_buf_add_slice(&m->bytes, bytes);
    vd_loop_post(loop, &m->task);
}

static struct vd_push *open_message(struct vd_task *task, struct message **m)
{
    *m = VD_CONTAINER_OF(task, struct message, task);
    return (*m)->push;
}

static void close_message(struct message *m)
{
    vd_buf_release(&m->bytes);
    unref(m->push);
    free(m);
}

/* On the exchange's loop. */
static void on_answer(struct vd_task *task)
{
    struct message *m;
    struct vd_push *p = open_message(task, &m);
    if (!p->is_ended)
        p->send(p->arg, vd_buf_slice(&m->bytes));
    close_message(m);
}

/* ---- answers ---- */

static void post_answer(struct vd_push *p, struct vd_slice text, const char *status,
                        struct vd_buf *out)
{
    if (text.n)
        vd_hook_message_write(out, VD_HOOK_TEXT, text);
    vd_hook_message_write(out, VD_HOOK_EXIT, vd_slice_of(status));
    post(p, p->loop, on_answer, vd_buf_slice(out));
    vd_buf_release(out);
}

void vd_push_answer(struct vd_push *p, struct vd_slice text, bool ok)
{
    struct vd_buf out = {0};
    p->phase = ok ? VD_PUSH_VALIDATED : VD_PUSH_OVER;
    post_answer(p, text, ok ? "0" : "1", &out);
}

void vd_push_report(struct vd_push *p, struct vd_slice text, const char *reason)
{
    struct vd_buf out = {0}, line = {0};
    p->phase = VD_PUSH_OVER;
    for (size_t i = 0; i < p->commands.n; i++) {
        vd_buf_reset(&line);
        vd_buf_addf(&line, "%s %.*s%s%s", reason ? "ng" : "ok", VD_FMT(p->commands.p[i].ref),
                    reason ? " " : "", reason ? reason : "");
        vd_hook_message_write(&out, VD_HOOK_REPORT, vd_buf_slice(&line));
    }
    vd_buf_release(&line);
    post_answer(p, text, "0", &out);
}

/* ---- what the hooks say, on loop 0 ---- */

/* The hooks are this program: what they say wrongly is a mistake of ours, or a limit. */
static void refuse(struct vd_push *p, const char *text)
{
    vd_push_count("failed");
    vd_push_answer(p, vd_slice_of(text), false);
}

static void take_begin(struct vd_push *p, struct vd_slice payload)
{
    struct vd_hook_begin begin;
    if (!vd_hook_begin_read(vd_arena_copy(&p->arena, payload), &begin)) {
        refuse(p, "the server does not understand the hook\n");
        return;
    }
    p->begin = begin;
    p->is_proc = vd_slice_is(begin.hook, "proc-receive");
    p->commands.n = 0;
}

static void take_command(struct vd_push *p, struct vd_slice payload)
{
    struct vd_ref_command command;
    if (p->commands.n >= VD_PUSH_REFS_MAX)
        refuse(p, "the push is about too many refs; push some of them at a time\n");
    else if (!vd_ref_command_read(vd_arena_copy(&p->arena, payload), &command))
        refuse(p, "the server does not understand a ref of this push\n");
    else
        *VD_VEC_PUSH(&p->commands) = command;
}

/* Options that are not ours are for others to understand. */
static void take_option(struct vd_push *p, struct vd_slice payload)
{
    p->adopts |= vd_slice_is(payload, VD_PUSH_OPTION_ADOPT);
}

static void take_ready(struct vd_push *p)
{
    enum vd_push_phase expected = p->is_proc ? VD_PUSH_VALIDATED : VD_PUSH_IDLE;
    if (p->pushes->is_stopped)
        refuse(p, "the server stops; push again in a moment\n");
    else if (p->phase != expected)
        refuse(p, "the server did not expect this hook\n");
    else if (p->is_proc)
        vd_push_admit(p);
    else
        vd_push_validate(p);
}

static void take(struct vd_push *p, const struct vd_hook_message *m)
{
    if (p->phase == VD_PUSH_OVER)
        return;
    if (m->type == VD_HOOK_BEGIN)
        take_begin(p, m->payload);
    else if (m->type == VD_HOOK_COMMAND)
        take_command(p, m->payload);
    else if (m->type == VD_HOOK_OPTION)
        take_option(p, m->payload);
    else if (m->type == VD_HOOK_READY)
        take_ready(p);
}

static void on_bytes(struct vd_task *task)
{
    struct message *m;
    struct vd_push *p = open_message(task, &m);
    struct vd_hook_message message;
    p->input_len += m->bytes.n;
    vd_buf_add_slice(&p->input, vd_buf_slice(&m->bytes));
    struct vd_slice rest = vd_buf_slice(&p->input);
    enum vd_hook_result result = VD_HOOK_MORE;
    if (p->input_len > (size_t)4 * VD_PUSH_COMMANDS_LEN_MAX)
        rest = VD_SLICE(""), result = VD_HOOK_BAD;
    while (rest.n && (result = vd_hook_message_read(rest, &message)) == VD_HOOK_DONE) {
        rest = vd_slice_from(rest, message.len);
        take(p, &message);
    }
    if (result == VD_HOOK_BAD && p->phase != VD_PUSH_OVER)
        refuse(p, "the server does not understand the hook\n");
    struct vd_buf kept = {0};
    if (result == VD_HOOK_MORE)
        vd_buf_add_slice(&kept, rest);
    vd_buf_release(&p->input);
    p->input = kept;
    close_message(m);
}

static void on_begin(struct vd_task *task)
{
    struct message *m;
    struct vd_push *p = open_message(task, &m);
    p->next = p->pushes->first;
    if (p->next)
        p->next->prev = p;
    p->pushes->first = p;
    close_message(m);
}

static void on_end(struct vd_task *task)
{
    struct message *m;
    struct vd_push *p = open_message(task, &m);
    p->is_gone = p->branches.is_cancelled = true;
    if (p->phase == VD_PUSH_VALIDATING)
        vd_branch_admission_stop(&p->branches);
    if (!p->is_busy)
        drop(p);
    close_message(m);
}

/* ---- for the exchange ---- */

struct vd_push *vd_push_begin(struct vd_pushes *pushes, const struct vd_push_options *options)
{
    struct vd_push *p = vd_calloc(1, sizeof *p);
    struct vd_buf folder = {0};
    vd_refcount_init(&p->refs);
    vd_ref(&p->refs); /* loop 0's */
    p->pushes = pushes;
    p->loop = options->loop;
    p->send = options->send;
    p->give_up = options->give_up;
    p->arg = options->arg;
    p->namespace = vd_arena_copy(&p->arena, options->namespace);
    p->name = vd_arena_copy(&p->arena, options->name);
    p->uid = vd_arena_copy(&p->arena, options->uid);
    p->user = vd_user_ref(options->user);
    p->begun_ns = vd_clock_mono_ns(vd_clock_system());
    vd_bare_repository_path(&folder, pushes->all->root, p->uid.p);
    p->folder = vd_buf_take(&folder, &(size_t){0});
    post(p, pushes->all->l->loop, on_begin, VD_SLICE(""));
    return p;
}

void vd_push_channel(struct vd_push *push, struct vd_slice bytes)
{
    post(push, push->pushes->all->l->loop, on_bytes, bytes);
}

void vd_push_end(struct vd_push *push)
{
    push->is_ended = true;
    post(push, push->pushes->all->l->loop, on_end, VD_SLICE(""));
    unref(push);
}

/* ---- all pushes ---- */

struct vd_pushes *vd_pushes_new(struct vd_admissions *all)
{
    struct vd_pushes *pushes = vd_calloc(1, sizeof *pushes);
    pushes->all = all;
    pushes->quarantines.pushes = pushes;
    return pushes;
}

void vd_pushes_stop(struct vd_pushes *pushes)
{
    pushes->is_stopped = true;
    for (struct vd_push *p = pushes->first; p; p = p->next)
        if (p->phase == VD_PUSH_VALIDATING)
            vd_branch_admission_stop(&p->branches);
    vd_quarantines_stop(&pushes->quarantines);
}

void vd_pushes_free(struct vd_pushes *pushes)
{
    if (!pushes)
        return;
    vd_quarantines_release(&pushes->quarantines);
    free(pushes);
}

/* On the exchange's loop. */
static void on_given_up(struct vd_task *task)
{
    struct message *m;
    struct vd_push *p = open_message(task, &m);
    if (!p->is_ended)
        p->give_up(p->arg);
    close_message(m);
}

void vd_pushes_give_up(struct vd_pushes *pushes, struct vd_slice uid)
{
    for (struct vd_push *p = pushes->first; p; p = p->next) {
        if (p->is_given_up || p->phase >= VD_PUSH_ADMITTING || !vd_slice_eq(p->uid, uid))
            continue;
        p->is_given_up = true;
        post(p, p->loop, on_given_up, VD_SLICE(""));
    }
}

bool vd_pushes_use_before(const struct vd_pushes *pushes, struct vd_slice uid, uint64_t before_ns)
{
    for (const struct vd_push *p = pushes->first; p; p = p->next)
        if (vd_slice_eq(p->uid, uid) && p->begun_ns < before_ns)
            return true;
    return false;
}

bool vd_pushes_use(const struct vd_pushes *pushes, struct vd_slice uid)
{
    return vd_pushes_use_before(pushes, uid, UINT64_MAX);
}

void vd_pushes_killed(struct vd_pushes *pushes, struct vd_slice uid)
{
    vd_quarantines_abandon(&pushes->quarantines, uid);
}
