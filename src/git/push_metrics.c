/* What is counted of pushes. */
#include "git/push_metrics.h"
#include "base/metrics.h"

static struct vd_metric_family pushes = VD_COUNTER_FAMILY(
    "vedette_git_pushes_total",
    "Pushes by what became of them: admitted, refused (by validation), stale "
    "(somebody else was faster), failed.",
    "result");
static struct vd_metric_family seconds = VD_HISTOGRAM_FAMILY(
    "vedette_git_push_step_seconds",
    "How long the steps of a push or a sync take: validation, admission.",
    vd_metric_latency_bounds_ns, 1e9, "step");
static struct vd_metric_family resources = VD_COUNTER_FAMILY(
    "vedette_git_admitted_resources_total",
    "Objects that pushes and syncs have changed, by what was done.", "change");

void vd_push_count(const char *result)
{
    vd_counter_add(VD_METRIC(&pushes, result), 1);
}

void vd_branch_admission_observe(const struct vd_branch_admission *b, const char *step)
{
    const struct vd_clock *clock = b->all->l->env->clock;
    vd_histogram_observe(VD_METRIC(&seconds, step), vd_clock_mono_ns(clock) - b->started_ns);
}

void vd_push_count_resources(const struct vd_admitted_push *push)
{
    vd_counter_add(VD_METRIC(&resources, "created"), push->created);
    vd_counter_add(VD_METRIC(&resources, "updated"), push->updated);
    vd_counter_add(VD_METRIC(&resources, "deleted"), push->deleted);
}
