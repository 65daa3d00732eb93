/*
 * See validation.h. What a worker makes anyway (offload.h) is checked there. A definition always
 * goes to a worker: its patterns and rules are compiled to be looked at. Another object is checked
 * on the loop, with little effort; what is given up there - a pattern on a long text, a pattern or
 * a rule that nobody has compiled yet - a worker does from the beginning. Users share the workers:
 * see workshop.h.
 *
 * While a worker has it, the call is nobody else's: its exchange may end, and all that the worker
 * reads is in the call's arena.
 */
#include "kube/validation.h"

#include "kinds/condition_rules.h"
#include "kinds/deletion.h"
#include "kinds/object.h"
#include "kinds/object_meta.h"
#include "kube/object_check.h"
#include "kube/offload.h"
#include "net/account.h"

struct validation {
    struct vd_order order;
    struct vd_account *account; /* whose order it is, with a reference; NULL: nobody's */
    struct vd_call *call;
    struct vd_json *object;
    const struct vd_json *old;
    void (*then)(struct vd_call *call, struct vd_json *object);
    struct vd_violations violations;
    bool ok;
};

void vd_call_reply_invalid(struct vd_call *call, const struct vd_kind *kind,
                           const struct vd_json *object, const struct vd_violations *violations)
{
    size_t n = violations->list.n;
    struct vd_status_cause *causes = vd_arena_alloc(&call->arena, n * sizeof *causes);
    for (size_t i = 0; i < n; i++) {
        const struct vd_violation *v = &violations->list.p[i];
        causes[i] = (struct vd_status_cause){
            .reason = vd_slice_of(vd_violation_reason(v->type)),
            .message = vd_arena_copy(&call->arena, v->message),
            .field = vd_arena_copy(&call->arena, v->field),
        };
    }
    struct vd_status_target about = vd_call_about(call);
    about.plural = kind->kind;
    about.name = vd_meta_name(object);
    struct vd_status status = vd_status_invalid(&call->arena, &about, causes, n);
    vd_call_reply_status(call, &status);
}

/* Answers if something is wrong. Releases the violations. */
static bool conclude(struct vd_call *call, const struct vd_kind *kind, const struct vd_json *object,
                     struct vd_violations *violations, bool ok)
{
    for (size_t i = 0; i < violations->passed.n; i++)
        vd_call_warn(call, "%.*s: %.*s", VD_FMT(violations->passed.p[i].field),
                     VD_FMT(violations->passed.p[i].message));
    if (vd_call_is_at_status(call)) {
        vd_condition_rules_check(kind, object, violations);
        ok = ok && !vd_violations_any(violations);
    }
    if (!ok)
        vd_call_reply_invalid(call, kind, object, violations);
    vd_violations_release(violations);
    return ok;
}

/* ---- elsewhere ---- */

static void on_gone(struct vd_exchange *x)
{
    struct validation *v = x->arg;
    v->call->x = NULL;
    if (!vd_order_cancel(&v->order))
        return;
    vd_account_unref(v->account);
    vd_call_free(v->call);
}

static void on_drained(struct vd_exchange *x)
{
    (void)x;
}

static const struct vd_exchange_ops waiting = {on_drained, on_gone};

/* On a worker's thread. */
static void run(struct vd_order *order)
{
    struct validation *v = (struct validation *)order;
    v->ok = vd_object_validate(v->call->kind, v->object, v->old, &v->violations);
}

static void done(struct vd_order *order)
{
    struct validation *v = (struct validation *)order;
    struct vd_call *call = v->call;
    struct vd_violations violations = v->violations; /* an answer ends the call, and `v` with it */
    vd_account_unref(v->account);
    if (!call->x) {
        vd_violations_release(&violations);
        vd_call_free(call);
        return;
    }
    call->x->ops = NULL;
    if (conclude(call, call->kind, v->object, &violations, v->ok))
        v->then(call, v->object);
}

static void let_check(struct vd_call *call, const struct vd_json *object, const struct vd_json *old,
                      void (*then)(struct vd_call *call, struct vd_json *object))
{
    struct vd_kube_loop *l = call->l;
    struct vd_account *account = call->x->account;
    struct validation *v = vd_arena_alloc(&call->arena, sizeof *v);
    *v = (struct validation){
        .order = {.run = run, .done = done},
        .account = account ? vd_account_ref(account) : NULL,
        .call = call,
        .object = vd_json_copy(&call->arena, object), /* its texts may be the request's */
        .old = old,
        .then = then,
    };
    call->x->ops = &waiting;
    call->x->arg = v;
    vd_workshop_order(&l->api->workshop, l->loop,
                      account ? vd_account_place(account, l->loop->index) : &l->api->place,
                      &v->order);
}

/* ---- here ---- */

void vd_call_validate(struct vd_call *call, struct vd_json *object, const struct vd_json *old,
                      void (*then)(struct vd_call *call, struct vd_json *object))
{
    struct vd_violations violations = {.effort = {.in_turn = !call->away}};
    if (!call->away && vd_slice_eq(call->kind->storage_key, VD_DEFINITIONS)) {
        let_check(call, object, old, then);
        return;
    }
    bool ok = vd_object_validate(call->kind, object, old, &violations);
    if (violations.effort.over && !call->away) {
        vd_violations_release(&violations);
        let_check(call, object, old, then);
    } else if (conclude(call, call->kind, object, &violations, ok)) {
        then(call, object);
    }
}

bool vd_call_check_valid(struct vd_call *call, const struct vd_kind *kind,
                         const struct vd_json *object)
{
    struct vd_violations violations = {0};
    bool ok = vd_object_validate(kind, object, NULL, &violations);
    return conclude(call, kind, object, &violations, ok);
}
