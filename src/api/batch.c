/*
 * See batch.h.
 *
 * The members are made one after the other, the namespaces first, some in each turn of the loop.
 * One that a worker or a webhook has is waited for. When all are made, and none was refused, their
 * guards and wishes are one proposal; the guards come first, so that they are judged by what was
 * there before the batch.
 */
#include "api/batch.h"

#include <assert.h>
#include <stdlib.h>

#include "api/batch_internal.h"
#include "api/definitions.h"
#include "api/write/write_internal.h"
#include "base/container_of.h"
#include "kinds/deletion.h"

enum {
    TURN_MEMBERS = 16, /* that are made in one turn of the loop */
    ATTEMPTS_MAX = 20, /* at the whole batch */
};

static void finish(struct vd_write_batch *b, enum vd_batch_result result)
{
    b->result = result;
    b->done(b);
}

/* ---- what the batch would make ---- */

static bool is_namespace(const struct vd_write *w)
{
    return vd_slice_is(w->kind->resource, "namespaces");
}

enum vd_batch_namespace vd_write_batch_namespace(const struct vd_write_batch *b,
                                                 struct vd_slice name)
{
    for (size_t i = 0; i < b->namespaces.n; i++) {
        const struct vd_write *w = b->namespaces.p[i];
        if (!vd_slice_eq(w->name, name))
            continue;
        if (w->verb == VD_WRITE_DELETE)
            return VD_BATCH_NAMESPACE_DELETED;
        if (w->verb == VD_WRITE_CREATE || w->wish.when == VD_WHEN_ABSENT)
            return VD_BATCH_NAMESPACE_CREATED;
    }
    return VD_BATCH_NAMESPACE_KEPT;
}

/* ---- making the members ---- */

static void conclude(struct vd_write_batch *b);

static void step(struct vd_write_batch *b)
{
    b->in_step = true;
    for (size_t made = 0; b->next < b->n && !b->waits_for && !b->cancelled; made++) {
        if (made == TURN_MEMBERS) {
            b->in_step = false;
            vd_loop_post(b->l->loop, &b->task);
            return;
        }
        b->waits_for = b->order[b->next++];
        if (b->attempts)
            vd_write_try_again(b->waits_for);
        else
            vd_write_start(b->waits_for);
    }
    b->in_step = false;
    if (b->waits_for)
        return;
    if (b->cancelled)
        finish(b, VD_BATCH_CANCELLED);
    else
        conclude(b);
}

static void on_turn(struct vd_task *task)
{
    step(VD_CONTAINER_OF(task, struct vd_write_batch, task));
}

void vd_write_batch_take(struct vd_write_batch *b, struct vd_write *w)
{
    w->result = VD_WRITE_WITHHELD; /* until it is not */
    b->waits_for = NULL;
    if (!b->in_step)
        step(b);
}

void vd_write_batch_settled(struct vd_write_batch *b, struct vd_write *w)
{
    b->refused += w->result == VD_WRITE_REFUSED;
    b->waits_for = NULL;
    if (!b->in_step)
        step(b);
}

/* ---- what is wrong with them together ---- */

static void refuse(struct vd_write_batch *b, struct vd_write *w, struct vd_refusal refusal)
{
    b->refused += w->result != VD_WRITE_REFUSED;
    w->result = VD_WRITE_REFUSED;
    w->refusal = refusal;
}

static int by_key(const void *a, const void *b)
{
    const struct vd_key *x = &(*(struct vd_write *const *)a)->wish.key;
    const struct vd_key *y = &(*(struct vd_write *const *)b)->wish.key;
    int order = vd_slice_cmp(x->resource, y->resource);
    order = order ? order : vd_slice_cmp(x->namespace, y->namespace);
    return order ? order : vd_slice_cmp(x->name, y->name);
}

/* An object that two members change would be judged by what one of them has read. */
static void refuse_repeated(struct vd_write_batch *b)
{
    VD_VEC(struct vd_write *) list = {0};
    for (size_t i = 0; i < b->n; i++)
        if (b->members[i]->result == VD_WRITE_WITHHELD)
            *VD_VEC_PUSH(&list) = b->members[i];
    if (list.n)
        qsort(list.p, list.n, sizeof *list.p, by_key);
    for (size_t i = 1; i < list.n; i++)
        if (by_key(&list.p[i - 1], &list.p[i]) == 0)
            for (size_t k = i - 1; k <= i; k++)
                refuse(b, list.p[k],
                       (struct vd_refusal){
                           .reason = VD_REFUSED_BAD_REQUEST,
                           .text = VD_SLICE("the batch changes this object more than once")});
    VD_VEC_RELEASE(&list);
}

/* The store would say so of the first of them only. */
static void refuse_existing(struct vd_write_batch *b)
{
    for (size_t i = 0; i < b->n; i++) {
        struct vd_write *w = b->members[i];
        if (w->result == VD_WRITE_WITHHELD && w->wish.when == VD_WHEN_ABSENT && !w->makes_name &&
            !w->applied && vd_write_exists(w))
            refuse(b, w, vd_write_existing(w));
    }
}

/* ---- the proposal ---- */

static void add_wish(struct vd_write_batch *b, const struct vd_wish *wish, struct vd_write *w)
{
    *VD_VEC_PUSH(&b->wishes) = *wish;
    *VD_VEC_PUSH(&b->owners) = w;
    *VD_VEC_PUSH(&b->subjects) = (struct vd_wish_subject){w->kind, w->before};
}

/* Most members have the same guards: there are few different ones. */
static void add_guard(struct vd_write_batch *b, const struct vd_wish *guard, struct vd_write *w)
{
    for (size_t i = 0; i < b->wishes.n; i++) {
        const struct vd_wish *same = &b->wishes.p[i];
        if (same->revision == guard->revision &&
            vd_slice_eq(same->key.resource, guard->key.resource) &&
            vd_slice_eq(same->key.name, guard->key.name))
            return;
    }
    add_wish(b, guard, w);
}

static void gather(struct vd_write_batch *b)
{
    b->wishes.n = b->owners.n = b->subjects.n = 0;
    for (size_t i = 0; i < b->n; i++)
        for (size_t k = 0; k < b->members[i]->guard_count; k++)
            add_guard(b, &b->members[i]->wishes[k], b->members[i]);
    for (size_t i = 0; i < b->n; i++)
        add_wish(b, &b->members[i]->wish, b->members[i]);
}

/* What each member has come to, by what is stored now. */
static void tell_members(struct vd_write_batch *b, const struct vd_outcome *o)
{
    for (size_t i = 0; i < b->n; i++) {
        struct vd_write *w = b->members[i];
        struct vd_event *event = NULL;
        bool found = !vd_store_get(b->l->env->store, &w->wish.key, b->revision, &event, NULL);
        w->revision = found ? event->revision : b->revision;
        vd_event_unref(event);
        w->result = vd_write_result_of(w, o->changed && w->revision >= o->revision_first);
    }
}

/* Whoever has written definitions finds their kinds when it is told so: this is called again for
 * each of them. */
static void await_definitions(struct vd_task *task)
{
    struct vd_write_batch *b = VD_CONTAINER_OF(task, struct vd_write_batch, task);
    const struct vd_api_env *env = b->l->env;
    while (env->definitions && !b->cancelled && b->next < b->n) {
        const struct vd_write *w = b->members[b->next++];
        if (!vd_slice_eq(w->kind->resource, VD_DEFINITIONS))
            continue;
        vd_definitions_await(env->definitions, w->name, w->revision, b->l->loop, &b->task);
        return;
    }
    finish(b, b->cancelled ? VD_BATCH_CANCELLED : VD_BATCH_DONE);
}

static bool may_try_again(struct vd_write_batch *b, const struct vd_write *w, enum vd_code code)
{
    bool lost = code == VD_ERR_CONFLICT || code == VD_ERR_NOT_FOUND ||
                (code == VD_ERR_EXISTS && (w->applied || w->makes_name));
    return lost && !w->once && ++b->attempts < ATTEMPTS_MAX;
}

static void on_answered(struct vd_loop_proposal *p)
{
    struct vd_write_batch *b = VD_CONTAINER_OF(p, struct vd_write_batch, proposal);
    const struct vd_outcome *o = &p->outcome;
    if (b->cancelled) {
        finish(b, VD_BATCH_CANCELLED);
        return;
    }
    b->next = 0;
    if (!o->code) {
        b->revision = o->revision;
        b->changed = o->changed;
        tell_members(b, o);
        b->task.run = await_definitions;
        await_definitions(&b->task);
        return;
    }
    struct vd_write *w = b->owners.p[o->at < b->owners.n ? o->at : 0];
    if (may_try_again(b, w, o->code)) {
        step(b);
        return;
    }
    refuse(b, w, vd_write_refusal_of(w, o, o->at >= b->owners.n - b->n));
    finish(b, VD_BATCH_REFUSED);
}

/* Whether the store would take them. */
static bool check(struct vd_write_batch *b)
{
    struct vd_outcome o = {0};
    o.code = (enum vd_code)vd_proposal_check(&b->proposal.proposal, &o.at, &o.error);
    if (o.code) {
        struct vd_write *w = b->owners.p[o.at < b->owners.n ? o.at : 0];
        refuse(b, w, vd_write_refusal_of(w, &o, true));
    }
    return !o.code;
}

/* Each member was admitted for itself, when it was taken: all of them are. */
static struct vd_admitted *admit(struct vd_write_batch *b)
{
    struct vd_git_claim claim;
    struct vd_admission admission = {.store = b->l->env->store,
                                     .author = vd_write_author(b->members[0]->user),
                                     .subjects = b->subjects.p};
    return vd_admission_admit(&admission, &b->proposal.proposal, &b->arena, &claim);
}

/* All members are made. */
static void conclude(struct vd_write_batch *b)
{
    refuse_repeated(b);
    refuse_existing(b);
    if (!b->refused && b->n) {
        gather(b);
        b->proposal.proposal = (struct vd_proposal){.wishes = b->wishes.p, .n = b->wishes.n};
        b->proposal.done = on_answered;
        if (check(b) && !b->dry_run) {
            struct vd_admitted *admitted = admit(b);
            assert(admitted);
            vd_api_loop_propose(b->l, &b->proposal, admitted, false);
            return;
        }
    }
    for (size_t i = 0; b->dry_run && !b->refused && i < b->n; i++) {
        struct vd_write *w = b->members[i];
        w->revision = w->wish.revision;
        w->result = vd_write_result_of(w, !w->unchanged);
    }
    finish(b, b->refused ? VD_BATCH_REFUSED : VD_BATCH_DONE);
}

/* ---- life ---- */

void vd_write_batch_init(struct vd_write_batch *b, struct vd_write **members, size_t n)
{
    size_t at = 0;
    b->members = members;
    b->n = n;
    b->task.run = on_turn;
    b->order = vd_arena_alloc(&b->arena, (n + 1) * sizeof *b->order);
    for (size_t i = 0; i < n; i++) {
        assert(members[i]->user == members[0]->user);
        members[i]->batch = b;
        if (is_namespace(members[i])) {
            b->order[at++] = members[i];
            *VD_VEC_PUSH(&b->namespaces) = members[i];
        }
    }
    for (size_t i = 0; i < n; i++)
        if (!is_namespace(members[i]))
            b->order[at++] = members[i];
}

void vd_write_batch_start(struct vd_write_batch *b)
{
    step(b);
}

void vd_write_batch_cancel(struct vd_write_batch *b)
{
    b->cancelled = true;
    if (b->waits_for)
        vd_write_cancel(b->waits_for);
}

void vd_write_batch_release(struct vd_write_batch *b)
{
    VD_VEC_RELEASE(&b->namespaces);
    VD_VEC_RELEASE(&b->wishes);
    VD_VEC_RELEASE(&b->owners);
    VD_VEC_RELEASE(&b->subjects);
    vd_arena_release(&b->arena);
}
