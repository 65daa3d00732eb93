/* See follow_metrics.h. */
#include "git/follow_metrics.h"

#include "base/metrics.h"

static struct vd_metric_family fetches = VD_COUNTER_FAMILY(
    "vedette_git_fetches_total", "Fetches of remote repositories by result: good, failed.",
    "result");
static struct vd_metric_family seconds = VD_HISTOGRAM_FAMILY(
    "vedette_git_fetch_seconds", "How long fetches of remote repositories take.",
    vd_metric_latency_bounds_ns, 1e9);
static struct vd_metric_family oldest = VD_GAUGE_FAMILY(
    "vedette_git_oldest_fetch_timestamp_seconds",
    "When the repository that lags most behind its remote was last fetched with success; time() "
    "minus this is the lag. 0: none was fetched.");
static struct vd_metric_family webhooks = VD_COUNTER_FAMILY(
    "vedette_git_webhooks_total",
    "Calls of webhooks by what became of them: accepted, refused, replayed, limited.", "result");

static struct vd_metric_family drifted = VD_GAUGE_FAMILY(
    "vedette_git_drifted_objects",
    "Objects that somebody has overridden and that Git has not written again.");

void vd_follow_metrics_register(void)
{
    vd_metric_register(&drifted);
    vd_metric_register(&fetches);
    vd_metric_register(&seconds);
    vd_metric_register(&oldest);
    vd_metric_register(&webhooks);
}

void vd_follow_count_fetch(bool good, uint64_t duration_ns)
{
    vd_counter_add(VD_METRIC(&fetches, good ? "good" : "failed"), 1);
    vd_histogram_observe(vd_metric_only(&seconds), duration_ns);
}

void vd_follow_tell_oldest(int64_t wall_ms)
{
    vd_gauge_set(vd_metric_only(&oldest), wall_ms / 1000);
}

void vd_follow_count_webhook(const char *result)
{
    vd_counter_add(VD_METRIC(&webhooks, result), 1);
}

void vd_follow_tell_drifted(size_t objects)
{
    vd_gauge_set(vd_metric_only(&drifted), (int64_t)objects);
}
