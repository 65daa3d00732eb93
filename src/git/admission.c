/* See admission.h. */
#include "git/admission.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/container_of.h"
#include "git/admission_write.h"
#include "git/refusal_lines.h"

enum { LOOKS_MAX = 20 }; /* for referrers, when others change objects of their kinds meanwhile */

static void look_for_referrers(struct vd_git_admission *a);

static void finish(struct vd_git_admission *a, enum vd_git_admission_result result)
{
    a->result = result;
    a->done(a);
}

/* ---- the batch ---- */

/* What was wrong with the members. True: the Repository is not what it was. */
static bool report_members(struct vd_git_admission *a)
{
    bool stale = false;
    for (size_t i = 0; i < a->writes_n; i++) {
        struct vd_git_write *w = &a->writes[i];
        bool refused = w->write.result == VD_WRITE_REFUSED;
        if (!w->operation)
            stale = refused && w->is_claimed;
        if (!w->operation && refused && !stale)
            vd_git_report_add(a->report, VD_GIT_ERROR, VD_SLICE(""), (struct vd_yaml_position){0},
                              VD_SLICE(""), "the Repository's status cannot be written: %.*s",
                              VD_FMT(w->write.refusal.text));
        if (!w->operation)
            continue;
        if (refused && w->is_claimed)
            vd_git_manifest_refuse(w->operation->source->manifest, VD_SLICE("metadata.name"),
                                   a->report,
                                   "somebody else has created or deleted this object meanwhile; "
                                   "push again");
        else if (refused && w->is_out_of_scope)
            vd_git_manifest_refuse(w->operation->source->manifest, w->operation->scope_field,
                                   a->report, "%.*s", VD_FMT(w->operation->scope_text));
        else if (refused)
            vd_refusal_lines_add(a->report, w->operation, &w->write.refusal);
        if (a->dry_run)
            vd_refusal_lines_add_warnings(a->report, w->operation, &w->write);
    }
    return stale;
}

/* The revisions of the resources: the Repository's own event comes behind them, but that deleted
 * namespaces and definitions are last. */
static void note_revisions(struct vd_git_admission *a)
{
    const struct vd_write *status = &a->writes[a->writes_n - 1].write;
    size_t changed = a->push.created + a->push.updated + a->push.deleted;
    if (!changed)
        return;
    a->revision_first = a->batch.revision_first;
    a->revision_last = a->batch.revision - (status->revision == a->batch.revision);
}

static void conclude(struct vd_git_admission *a)
{
    bool done = a->batch.result == VD_BATCH_DONE;
    if (done && !(a->dry_run && vd_git_report_has_errors(a->report)))
        finish(a, VD_GIT_ADMITTED);
    else
        finish(a, a->is_stale ? VD_GIT_STALE : VD_GIT_REFUSED);
}

/* On a worker's thread: to find the places of many mistakes, files are read again. */
static void make_report(struct vd_pool_item *item)
{
    struct vd_git_admission *a = VD_CONTAINER_OF(item, struct vd_git_admission, reporting);
    a->is_stale = report_members(a);
}

static void on_reported(struct vd_pool_item *item)
{
    conclude(VD_CONTAINER_OF(item, struct vd_git_admission, reporting));
}

/* Somebody may have written an object that refers to what is deleted. */
static void look_again(struct vd_git_admission *a)
{
    if (a->looks < LOOKS_MAX) {
        look_for_referrers(a);
        return;
    }
    (void)vd_error_set(&a->error, VD_ERR_CONFLICT,
                       "objects of kinds that can refer to what is deleted change all the time; "
                       "push again in a moment");
    finish(a, VD_GIT_FAILED);
}

static void on_batch(struct vd_write_batch *batch)
{
    struct vd_git_admission *a = VD_CONTAINER_OF(batch, struct vd_git_admission, batch);
    if (batch->result == VD_BATCH_OUTDATED) {
        look_again(a);
        return;
    }
    if (batch->result == VD_BATCH_DONE && !a->dry_run) {
        note_revisions(a);
        conclude(a);
        return;
    }
    a->reporting.run = make_report;
    a->reporting.done = on_reported;
    vd_worker_pool_add(&a->l->worker_pool, a->l->loop, &a->l->worker_flow, &a->reporting);
}

static void start_batch(struct vd_git_admission *a)
{
    size_t n = a->plan.operations.n;
    a->writes_n = n + 1;
    a->writes = vd_calloc(a->writes_n, sizeof *a->writes);
    a->members = vd_calloc(a->writes_n, sizeof(struct vd_write *));
    for (size_t i = 0; i <= n; i++) {
        vd_git_write_init(&a->writes[i], a, i < n ? &a->plan.operations.p[i] : NULL);
        a->members[i] = &a->writes[i].write;
    }
    a->batch = (struct vd_write_batch){.l = a->l,
                                       .dry_run = a->dry_run,
                                       .done = on_batch,
                                       .conditions = a->referrers.seen.p,
                                       .conditions_n = a->referrers.seen.n};
    a->has_batch = true;
    vd_write_batch_init(&a->batch, a->members, a->writes_n);
    vd_write_batch_start(&a->batch);
}

/* ---- the plan ---- */

static void on_referrers(struct vd_referrers *r)
{
    struct vd_git_admission *a = VD_CONTAINER_OF(r, struct vd_git_admission, referrers);
    if (r->error.code) {
        a->error = r->error;
        finish(a, VD_GIT_FAILED);
    } else if (!a->dry_run && vd_git_report_has_errors(a->report)) {
        finish(a, VD_GIT_REFUSED);
    } else if (a->has_batch) {
        a->batch.conditions = r->seen.p;
        a->batch.conditions_n = r->seen.n;
        vd_write_batch_restart(&a->batch);
    } else {
        start_batch(a);
    }
}

static void look_for_referrers(struct vd_git_admission *a)
{
    a->looks++;
    VD_VEC_RELEASE(&a->referrers.seen);
    a->referrers = (struct vd_referrers){
        .l = a->l,
        .kinds = a->kinds->set,
        .plan = &a->plan,
        .report = a->report,
        .done = on_referrers,
    };
    vd_referrers_start(&a->referrers);
}

/* On a worker's thread. */
static void make_plan(struct vd_pool_item *item)
{
    struct vd_git_admission *a = VD_CONTAINER_OF(item, struct vd_git_admission, planning);
    const struct vd_api_env *env = a->l->env;
    if (vd_stored_repository(env, a->namespace, a->name, a->uid, &a->arena, &a->repository,
                             &a->error))
        return;
    if (!a->kinds->set)
        vd_manifest_kinds_find(a->kinds, env, a->changes, a->namespace);
    a->stored = (struct vd_stored_objects){.env = env, .kinds = a->kinds->set};
    a->plan.namespace = a->namespace;
    a->plan.name = a->name;
    a->plan.namespaces = a->repository.namespaces;
    a->plan.cluster_scoped = a->repository.cluster_scoped;
    a->plan.adopts = a->adopts;
    a->plan.find = vd_stored_object_find;
    a->plan.arg = &a->stored;
    (void)vd_plan_make(&a->plan, a->kinds->old_list.p, a->kinds->old_list.n, a->kinds->new_list.p,
                       a->kinds->new_list.n, a->report);
}

static void on_planned(struct vd_pool_item *item)
{
    struct vd_git_admission *a = VD_CONTAINER_OF(item, struct vd_git_admission, planning);
    if (a->error.code) {
        finish(a, VD_GIT_FAILED);
        return;
    }
    look_for_referrers(a);
}

void vd_git_admission_start(struct vd_git_admission *a)
{
    struct vd_buf mark = {0};
    vd_buf_addf(&mark, "%.*s/%.*s", VD_FMT(a->namespace), VD_FMT(a->name));
    a->mark = vd_arena_copy(&a->arena, vd_buf_slice(&mark));
    vd_buf_release(&mark);
    a->push = (struct vd_admitted_push){
        .branches = a->branches,
        .branches_n = a->branches_n,
        .is_whole = a->is_whole,
        .reset = a->reset,
        .user = a->user->is.name,
        .wall_ms = vd_clock_wall_ms(a->l->env->clock),
    };
    a->planning.run = make_plan;
    a->planning.done = on_planned;
    vd_worker_pool_add(&a->l->worker_pool, a->l->loop, &a->l->worker_flow, &a->planning);
}

void vd_git_admission_release(struct vd_git_admission *a)
{
    if (a->has_batch)
        vd_write_batch_release(&a->batch);
    for (size_t i = 0; i < a->writes_n; i++)
        vd_write_release(&a->writes[i].write);
    free(a->writes);
    free(a->members);
    VD_VEC_RELEASE(&a->referrers.seen);
    vd_plan_release(&a->plan);
    vd_arena_release(&a->arena);
}

void vd_git_admission_write_text(struct vd_buf *out, const struct vd_git_admission *a)
{
    size_t changed = a->push.created + a->push.updated + a->push.deleted;
    if (!changed) {
        vd_buf_add_text(out, "no resources changed");
        return;
    }
    vd_buf_addf(out, "admitted %zu resource%s at resourceVersion %llu", changed,
                changed == 1 ? "" : "s", (unsigned long long)a->revision_first);
    if (a->revision_last != a->revision_first)
        vd_buf_addf(out, "..%llu", (unsigned long long)a->revision_last);
}
