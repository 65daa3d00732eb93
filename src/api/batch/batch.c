/*
 * See api/batch.h.
 *
 * A batch goes through its phases, some of it in each turn of the loop. The members are made one
 * after the other, in three passes: bindings come behind the roles that they may name, and writes
 * of a status behind all that their `make` may want to count. A member that a worker or a webhook
 * has is waited for. When all are made, and none was refused, they are proposed.
 *
 * If the store refuses them because somebody else was faster, the phases from the making on begin
 * again; then only those are made of which there is another version by now.
 */
#include "api/batch.h"

#include <assert.h>
#include <stdlib.h>

#include "api/batch/batch_internal.h"
#include "api/definitions.h"
#include "api/write/write_internal.h"
#include "base/alloc.h"
#include "base/container_of.h"
#include "base/limits.h"

enum {
    TURN_US = 2000,           /* that a turn of the loop is at work, about */
    ATTEMPTS_MAX = 20,        /* at the whole batch */
    PASSES = 3,               /* of making */
    SCRATCH_LEN_MAX = 4 << 20 /* bytes that are kept for the next member */
};

static void step(struct vd_batch_state *s);

static void finish(struct vd_batch_state *s, enum vd_batch_result result)
{
    s->b->result = result;
    s->b->done(s->b);
}

static void enter(struct vd_batch_state *s, enum vd_batch_phase phase)
{
    s->phase = phase;
    s->next = 0;
}

bool vd_batch_turn_is_over(struct vd_batch_state *s)
{
    return vd_clock_mono_ns(s->b->l->env->clock) - s->turn_ns > TURN_US * UINT64_C(1000);
}

/* ---- making the members ---- */

static unsigned pass_of(const struct vd_write *w)
{
    if (w->part == VD_PART_STATUS)
        return 2;
    return vd_slice_is(w->kind->group, VD_RBAC_GROUP) &&
           (vd_slice_is(w->kind->plural, "rolebindings") ||
            vd_slice_is(w->kind->plural, "clusterrolebindings"));
}

/* A status may tell of what the other members come to, which may be something else now. */
static bool is_to_be_made(const struct vd_batch_member *m)
{
    return !m->made || m->write->part == VD_PART_STATUS || vd_batch_is_stale(m);
}

static void make(struct vd_batch_state *s, struct vd_batch_member *m)
{
    struct vd_write *w = m->write;
    vd_batch_drop(m);
    if (s->scratch.total > SCRATCH_LEN_MAX)
        vd_arena_release(&s->scratch);
    vd_arena_reset(&s->scratch);
    w->arena = &s->scratch;
    w->body = s->body;
    s->body = (struct vd_buf){0};
    w->refusal = (struct vd_refusal){0};
    s->making = m;
    if (s->attempts)
        vd_write_try_again(w);
    else
        vd_write_start(w);
}

/* False: the turn is over, or a member is waited for. */
static bool make_members(struct vd_batch_state *s)
{
    for (; s->pass < PASSES; s->pass++, s->next = 0)
        while (s->next < s->n) {
            if (s->cancelled)
                return true; /* that is looked at next */
            if (vd_batch_turn_is_over(s))
                return false;
            struct vd_batch_member *m = s->sequence[s->next++];
            if (pass_of(m->write) == s->pass && is_to_be_made(m))
                make(s, m);
            if (s->making)
                return false;
        }
    return true;
}

/* The member is not being made any more. */
static void go_on(struct vd_batch_state *s)
{
    s->making = NULL;
    if (!s->in_step)
        step(s);
}

void vd_batch_take(struct vd_batch_member *m)
{
    vd_batch_keep(m);
    go_on(m->state);
}

void vd_batch_settled(struct vd_batch_member *m)
{
    vd_batch_keep_refusal(m);
    go_on(m->state);
}

/* ---- the proposal ---- */

static bool may_try_again(struct vd_batch_state *s, const struct vd_write *w, enum vd_code code)
{
    bool lost = code == VD_ERR_CONFLICT || code == VD_ERR_NOT_FOUND ||
                (code == VD_ERR_EXISTS && w->verb != VD_WRITE_CREATE) ||
                (code == VD_ERR_EXISTS && w->makes_name);
    return lost && !w->once && ++s->attempts < ATTEMPTS_MAX;
}

static void make_again(struct vd_batch_state *s)
{
    s->pass = 0;
    enter(s, VD_PHASE_MAKE);
    step(s);
}

static void on_answered(struct vd_loop_proposal *p)
{
    struct vd_batch_state *s = VD_CONTAINER_OF(p, struct vd_batch_state, proposal);
    const struct vd_outcome *o = &p->outcome;
    if (s->cancelled) {
        finish(s, VD_BATCH_CANCELLED);
        return;
    }
    if (!o->code) {
        s->b->changed = o->changed;
        s->b->revision_first = s->revision = o->changed ? o->revision_first : 0;
        s->b->revision = o->changed ? o->revision : 0;
        enter(s, VD_PHASE_TELL);
        step(s);
        return;
    }
    if (o->code == VD_ERR_CONFLICT && o->at < s->b->conditions_n) {
        finish(s, VD_BATCH_OUTDATED);
        return;
    }
    struct vd_batch_member *m = s->owners.p[o->at < s->owners.n ? o->at : 0];
    if (may_try_again(s, m->write, o->code)) {
        make_again(s);
        return;
    }
    struct vd_refusal refusal = vd_write_refusal_of(m->write, o, o->at >= s->guards_n);
    vd_batch_refuse(m, &refusal);
    finish(s, VD_BATCH_REFUSED);
}

/* Each member was admitted for itself, when it was made: all of them are. */
static void propose(struct vd_batch_state *s)
{
    const struct vd_write *first = s->members[0].write;
    struct vd_git_claim claim;
    struct vd_admission admission = {
        .store = s->b->l->env->store, .author = first->author, .subjects = s->subjects.p};
    s->proposal.proposal = (struct vd_proposal){.wishes = s->wishes.p, .n = s->wishes.n};
    s->proposal.done = on_answered;
    struct vd_admitted *admitted = vd_admission_admit(&admission, &s->proposal.proposal, &s->arena,
                                                      &claim);
    assert(admitted);
    vd_api_loop_propose(s->b->l, &s->proposal, admitted, false);
}

/* True: the batch has more members, with their guards, than a proposal has wishes. */
static bool is_too_long(struct vd_batch_state *s, size_t n, struct vd_batch_member *one_too_many)
{
    struct vd_error error;
    if (n <= VD_BATCH_CHANGES_MAX)
        return false;
    vd_error_set(&error, VD_ERR_LIMIT,
                 "the batch has %zu changes, with the conditions on namespaces and definitions; at "
                 "most %d are allowed: split it",
                 n, VD_BATCH_CHANGES_MAX);
    vd_batch_refuse(one_too_many, &(struct vd_refusal){.reason = VD_REFUSED_TOO_LARGE,
                                                       .text = vd_slice_of(error.text)});
    finish(s, VD_BATCH_REFUSED);
    return true;
}

/* ---- the end ---- */

/* Whoever has written definitions finds their kinds when it is told so: this is called again for
 * each of them. */
static void await_definitions(struct vd_batch_state *s)
{
    const struct vd_api_env *env = s->b->l->env;
    while (env->definitions && !s->b->dry_run && s->next < s->definitions.n) {
        const struct vd_write *w = s->definitions.p[s->next++]->write;
        if (w->wish.action == VD_CHECK)
            continue;
        vd_definitions_await(env->definitions, w->name, w->revision, s->b->l->loop, &s->task);
        return;
    }
    finish(s, VD_BATCH_DONE);
}

/* ---- the phases ---- */

/* What follows when a phase is done. False: the batch is over, or waits for its next task. */
static bool follow(struct vd_batch_state *s)
{
    switch (s->phase) {
    case VD_PHASE_PLACES:
        enter(s, VD_PHASE_LINK);
        return true;
    case VD_PHASE_LINK:
        enter(s, VD_PHASE_ARRANGE);
        return true;
    case VD_PHASE_ARRANGE:
        assert(s->sequence_n == s->n);
        enter(s, VD_PHASE_MAKE);
        return true;
    case VD_PHASE_MAKE:
        if (s->b->refused || !s->n) {
            finish(s, s->b->refused ? VD_BATCH_REFUSED : VD_BATCH_DONE);
            return false;
        }
        s->wishes.n = s->owners.n = s->subjects.n = s->rows = 0;
        vd_hash_map_release(&s->guards);
        vd_arena_reset(&s->scratch);
        vd_batch_add_conditions(s);
        enter(s, VD_PHASE_GUARDS);
        return true;
    case VD_PHASE_GUARDS:
        if (is_too_long(s, s->wishes.n + s->n, s->sequence[s->n - 1]))
            return false;
        enter(s, VD_PHASE_WISHES);
        return true;
    case VD_PHASE_WISHES:
        s->b->changed = s->rows > 0;
        if (!s->b->dry_run) {
            propose(s);
            return false;
        }
        enter(s, VD_PHASE_TELL);
        return true;
    default: /* VD_PHASE_TELL */
        enter(s, VD_PHASE_AWAIT);
        await_definitions(s);
        return false;
    }
}

/* Goes on with the phases until the turn is over, or something is waited for. */
static void step(struct vd_batch_state *s)
{
    static bool (*const phases[])(struct vd_batch_state * s) = {
        [VD_PHASE_PLACES] = vd_batch_find_places,
        [VD_PHASE_LINK] = vd_batch_link,
        [VD_PHASE_ARRANGE] = vd_batch_arrange,
        [VD_PHASE_MAKE] = make_members,
        [VD_PHASE_GUARDS] = vd_batch_gather_guards,
        [VD_PHASE_WISHES] = vd_batch_gather_wishes,
        [VD_PHASE_TELL] = vd_batch_tell,
    };
    s->turn_ns = vd_clock_mono_ns(s->b->l->env->clock);
    do {
        if (s->cancelled) {
            finish(s, VD_BATCH_CANCELLED);
            return;
        }
        s->in_step = true;
        bool done = phases[s->phase](s);
        s->in_step = false;
        if (s->making)
            return;
        if (!done) {
            vd_loop_post(s->b->l->loop, &s->task);
            return;
        }
    } while (s->cancelled || follow(s));
}

static void on_turn(struct vd_task *task)
{
    struct vd_batch_state *s = VD_CONTAINER_OF(task, struct vd_batch_state, task);
    if (s->phase == VD_PHASE_AWAIT && !s->cancelled)
        await_definitions(s);
    else
        step(s);
}

/* ---- life ---- */

static struct vd_slice place_key(const void *item)
{
    return ((const struct vd_batch_place *)item)->key;
}

static struct vd_slice role_key(const void *item)
{
    return ((const struct vd_batch_role *)item)->key;
}

static struct vd_slice member_key(const void *item)
{
    return ((const struct vd_batch_member *)item)->key;
}

void vd_write_batch_init(struct vd_write_batch *b, struct vd_write **members, size_t n)
{
    struct vd_batch_state *s = VD_NEW(struct vd_batch_state);
    b->state = s;
    s->b = b;
    s->n = n;
    s->task.run = on_turn;
    s->members = vd_calloc(n + 1, sizeof *s->members);
    s->sequence = vd_calloc(n + 1, sizeof *s->sequence);
    vd_hash_map_init(&s->places, place_key);
    vd_hash_map_init(&s->roles, role_key);
    vd_hash_map_init(&s->keys, member_key);
    vd_batch_init_guards(s);
    for (size_t i = 0; i < n; i++) {
        assert(members[i]->user == members[0]->user && members[i]->author == members[0]->author);
        s->members[i] = (struct vd_batch_member){.write = members[i], .state = s, .at = i};
        members[i]->member = &s->members[i];
        members[i]->arena = &s->arena;
        members[i]->result = VD_WRITE_WITHHELD;
    }
}

void vd_write_batch_start(struct vd_write_batch *b)
{
    struct vd_batch_state *s = b->state;
    if (!is_too_long(s, s->n, &s->members[s->n ? s->n - 1 : 0]))
        step(s);
}

void vd_write_batch_restart(struct vd_write_batch *b)
{
    assert(b->result == VD_BATCH_OUTDATED);
    b->state->attempts++;
    make_again(b->state);
}

void vd_write_batch_cancel(struct vd_write_batch *b)
{
    struct vd_batch_state *s = b->state;
    s->cancelled = true;
    if (s->making)
        vd_write_cancel(s->making->write);
}

void vd_write_batch_release(struct vd_write_batch *b)
{
    struct vd_batch_state *s = b->state;
    if (!s)
        return;
    for (size_t i = 0; i < s->n; i++) {
        vd_batch_drop(&s->members[i]);
        s->members[i].write->arena = NULL;
        s->members[i].write->member = NULL;
    }
    vd_batch_release_roles(s);
    vd_hash_map_release(&s->places);
    vd_hash_map_release(&s->keys);
    vd_hash_map_release(&s->guards);
    VD_VEC_RELEASE(&s->definitions);
    VD_VEC_RELEASE(&s->wishes);
    VD_VEC_RELEASE(&s->owners);
    VD_VEC_RELEASE(&s->subjects);
    vd_buf_release(&s->body);
    vd_arena_release(&s->scratch);
    vd_arena_release(&s->arena);
    free(s->members);
    free(s->sequence);
    free(s);
    b->state = NULL;
}
