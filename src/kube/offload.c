/* See offload.h. */
#include "kube/offload.h"

#include "base/container_of.h"
#include "net/account.h"
#include "request/audit.h"

struct vd_offload {
    struct vd_pool_item order;
    struct vd_account *account; /* whose order it is, with a reference; NULL: nobody's */
    struct vd_call *call;
    void (*work)(struct vd_call *call);
    /* The answer, in the call's arena but for its body: */
    unsigned status;
    unsigned retry_after_s;
    struct vd_slice content_type;
    struct vd_buf body;
    /* For the audit log: */
    struct vd_slice object;         /* empty: the answer shows none */
    bool has_status;                /* the answer is a Status, ... */
    struct vd_audit_answer audited; /* ... which says this */
};

/* ---- the request ---- */

struct vd_slice vd_call_body(const struct vd_call *call)
{
    if (call->request.copied)
        return call->request.body;
    return call->x ? call->x->body : VD_SLICE("");
}

static struct vd_slice header(const struct vd_call *call, const char *name)
{
    struct vd_slice value;
    bool found = call->x && call->x->head &&
                 vd_http_head_find(call->x->head, vd_slice_of(name), &value);
    return found ? value : vd_slice(NULL, 0);
}

/* What is not there is not there afterwards. */
static struct vd_slice copy_text(struct vd_call *call, struct vd_slice text)
{
    return text.p ? vd_arena_copy(&call->arena, text) : text;
}

struct vd_slice vd_call_content_type(const struct vd_call *call)
{
    return call->request.copied ? call->request.content_type : header(call, "content-type");
}

struct vd_slice vd_call_user_agent(const struct vd_call *call)
{
    return call->request.copied ? call->request.user_agent : header(call, "user-agent");
}

/* Whether a worker can have it: it is known what to do there, and no webhook answers to it. */
static bool may_leave(const struct vd_call *call)
{
    return !call->away && call->redo && !(call->kind && call->kind->webhook);
}

struct vd_effort vd_call_effort(const struct vd_call *call)
{
    return (struct vd_effort){.on_loop = may_leave(call)};
}

bool vd_call_is_too_long_here(const struct vd_call *call, size_t len)
{
    return may_leave(call) && len > VD_TURN_OBJECT_LEN_MAX;
}

/* The request's bytes go when the client does; they are kept once, not twice. */
void vd_call_copy_request(struct vd_call *call)
{
    if (call->request.copied)
        return;
    call->request.content_type = copy_text(call, vd_call_content_type(call));
    call->request.user_agent = copy_text(call, vd_call_user_agent(call));
    call->request.body = vd_arena_copy(&call->arena, call->x->body);
    call->request.copied = true;
    if (call->x->body.n)
        vd_exchange_forget_request(call->x);
}

/* ---- there ---- */

static void run(struct vd_pool_item *order)
{
    struct vd_call *call = VD_CONTAINER_OF(order, struct vd_offload, order)->call;
    call->away->work(call);
}

void vd_call_keep_answer(struct vd_call *call, unsigned status, struct vd_slice content_type,
                         struct vd_slice body, unsigned retry_after_s)
{
    struct vd_offload *o = call->away;
    o->status = status;
    o->content_type = vd_arena_copy(&call->arena, content_type);
    o->retry_after_s = retry_after_s;
    vd_buf_reset(&o->body);
    vd_buf_add_slice(&o->body, body);
}

void vd_call_keep_object(struct vd_call *call, struct vd_slice json)
{
    call->away->object = vd_arena_copy(&call->arena, json);
}

void vd_call_keep_status(struct vd_call *call, const struct vd_audit_answer *answer)
{
    struct vd_offload *o = call->away;
    o->has_status = true;
    o->audited = (struct vd_audit_answer){.success = answer->success,
                                          .reason = vd_arena_copy(&call->arena, answer->reason),
                                          .message = vd_arena_copy(&call->arena, answer->message),
                                          .json = vd_arena_copy(&call->arena, answer->json)};
}

/* ---- and back ---- */

static void end(struct vd_offload *o)
{
    vd_account_unref(o->account);
    o->account = NULL;
}

static void on_gone(struct vd_exchange *x)
{
    struct vd_offload *o = x->arg;
    o->call->x = NULL;
    if (!vd_pool_item_cancel(&o->order))
        return;
    end(o);
    vd_call_free(o->call);
}

static void on_drained(struct vd_exchange *x)
{
    (void)x;
}

static const struct vd_exchange_ops waiting = {on_drained, on_gone};

static void give_answer(struct vd_call *call, const struct vd_offload *o)
{
    struct vd_buf body = o->body; /* the rest of it goes with the call */
    if (o->has_status)
        vd_audit_answer(vd_request_log_audit(call->x), &o->audited);
    else if (o->object.n)
        vd_audit_object(vd_request_log_audit(call->x), o->object);
    vd_call_reply_kept(call, o->status, o->content_type, vd_buf_slice(&body), o->retry_after_s);
    vd_buf_release(&body);
}

static void done(struct vd_pool_item *order)
{
    struct vd_offload *o = VD_CONTAINER_OF(order, struct vd_offload, order);
    struct vd_call *call = o->call;
    end(o);
    call->away = NULL;
    if (!call->x) {
        vd_buf_release(&o->body);
        vd_call_free(call);
        return;
    }
    call->x->ops = NULL;
    if (call->target.verb == VD_VERB_GET && vd_exchange_is_full(call->x)) {
        vd_buf_release(
            &o->body); /* others came while it was made; a write is answered all the same */
        vd_account_refuse(call->x->account, VD_LIMIT_USER_QUEUED);
        vd_call_reply_too_many(call);
    } else {
        give_answer(call, o);
    }
}

void vd_call_offload(struct vd_call *call, void (*work)(struct vd_call *call))
{
    struct vd_kube_loop *l = call->l;
    struct vd_account *account = call->x->account;
    struct vd_offload *o = vd_arena_alloc(&call->arena, sizeof *o);
    *o = (struct vd_offload){
        .order = {.run = run, .done = done},
        .account = account ? vd_account_ref(account) : NULL,
        .call = call,
        .work = work,
    };
    vd_call_copy_request(call);
    call->away = o;
    call->x->ops = &waiting;
    call->x->arg = o;
    vd_worker_pool_add(&l->api->worker_pool, l->loop,
                       account ? vd_account_worker_flow(account, l->loop->index)
                               : &l->api->worker_flow,
                       &o->order);
}
