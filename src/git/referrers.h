/*
 * Objects in the store that refer to what a plan deletes, by a field that blocks the deletion
 * (kinds/references.h).
 *
 *     struct vd_referrers r = {.l = loop, .kinds = set, .plan = &plan, .report = &report,
 *                              .done = f};
 *     vd_referrers_start(&r);
 *     ...  r.done(&r)            once, maybe from inside vd_referrers_start()
 *
 * Each object that is found becomes an error in the report.
 *
 * Only objects of kinds with such fields are looked at, and only if the plan deletes objects that
 * the fields can mean; those that the plan writes or deletes itself are the plan's own business. On
 * the loop.
 */
#ifndef VD_GIT_REFERRERS_H
#define VD_GIT_REFERRERS_H

#include "api/batch.h"
#include "api/list.h"
#include "git/plan.h"

struct vd_referrers {
    /* ---- the caller's; borrowed until `done` ---- */
    struct vd_api_loop *l;
    struct vd_kind_set *kinds;
    struct vd_plan *plan;
    struct vd_git_report *report;
    void (*done)(struct vd_referrers *r);
    /* ---- the outcome ---- */
    struct vd_error error; /* code 0: all were looked at */
    /* Which kinds were looked at, and as of which revision: if one of their objects has changed
     * since, there may be others that refer to what is deleted. The caller releases it. */
    VD_VEC(struct vd_batch_condition) seen;
    /* ---- private ---- */
    size_t kind_at;
    const struct vd_kind *kind; /* that is being listed */
    struct vd_listing listing;
    struct vd_arena scratch;
    struct vd_buf unused;
};

void vd_referrers_start(struct vd_referrers *r);

#endif
