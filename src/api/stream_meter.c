/*
 * See stream_meter.h.
 *
 * watch_delivery_latency_seconds counts every delivery of a commit to a stream, with the age of the
 * oldest commit of the turn at the turn's end: a bit more than what most of them took, never less.
 */
#include "api/stream_meter.h"

#include <stdio.h>

#include "api/stream.h"
#include "base/metrics.h"

static struct vd_metric_family latency = VD_HISTOGRAM_FAMILY(
    "watch_delivery_latency_seconds",
    "From a commit to the hand-over of its events to the sockets.", vd_metric_latency_bounds_ns,
    1e9);
static struct vd_metric_family resumes = VD_COUNTER_FAMILY(
    "watch_resume_total", "Watches that began at a resourceVersion of the client's.", "result");
static struct vd_metric_family ends = VD_COUNTER_FAMILY("watch_ended_total",
                                                        "Watches that have ended.", "reason");
static struct vd_metric_family watchers = VD_GAUGE_FAMILY(
    "watch_watchers",
    "Watches by state: synced, unsynced (reading the log), parked (the client "
    "does not read), ahead (waiting for their revision).",
    "loop", "state");
static struct vd_metric_family revisions = VD_GAUGE_FAMILY(
    "watch_revision", "Revision that all synced watches of a loop have been given.", "loop");
static struct vd_metric_family lags = VD_GAUGE_FAMILY(
    "watch_lag_revisions", "Newest revision of the store minus watch_revision.", "loop");
static struct vd_metric_family overruns = VD_COUNTER_FAMILY(
    "watch_inbox_overruns_total",
    "Times that a loop fell so far behind that its watches had to read the log again.", "loop");

static const char *const end_names[] = {
#define END_NAME(name, text) [VD_STREAM_END_##name] = text,
    VD_STREAM_ENDS(END_NAME)
#undef END_NAME
};
static const char *const resume_names[] = {"ok", "expired", "future"};

static const char *loop_name(char out[24], size_t index)
{
    snprintf(out, 24, "%zu", index);
    return out;
}

void vd_stream_meters_register(void)
{
    struct vd_metric_family *const all[] = {&latency, &resumes,  &ends,     &overruns,
                                            &lags,    &watchers, &revisions};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        vd_metric_register(all[i]);
    for (size_t i = 0; i < sizeof resume_names / sizeof *resume_names; i++)
        VD_METRIC(&resumes, resume_names[i]);
    for (size_t i = 0; i < sizeof end_names / sizeof *end_names; i++)
        VD_METRIC(&ends, end_names[i]);
}

void vd_stream_meter_init(struct vd_stream_meter *m, size_t loop_index)
{
    static const char *const states[VD_STREAM_STATES] = {"synced", "unsynced", "parked", "ahead"};
    char name[24];
    loop_name(name, loop_index);
    *m = (struct vd_stream_meter){0};
    for (size_t i = 0; i < VD_STREAM_STATES; i++)
        m->watchers[i] = VD_METRIC(&watchers, name, states[i]);
    m->revision = VD_METRIC(&revisions, name);
    m->overruns = VD_METRIC(&overruns, name);
    m->latency = vd_metric_only(&latency);
}

void vd_stream_meter_turn(struct vd_stream_meter *m, const struct vd_registry_stats *stats,
                          uint64_t now_ns)
{
    const size_t counts[VD_STREAM_STATES] = {stats->synced, stats->unsynced, stats->parked,
                                             stats->ahead};
    for (size_t i = 0; i < VD_STREAM_STATES; i++)
        vd_gauge_set(m->watchers[i], (int64_t)counts[i]);
    vd_gauge_set(m->revision, (int64_t)stats->revision);
    vd_counter_add(m->overruns, stats->overruns - m->overruns_told);
    m->overruns_told = stats->overruns;
    if (m->live_n)
        vd_histogram_observe_n(
            m->latency, now_ns > stats->commit_ns ? now_ns - stats->commit_ns : 0, m->live_n);
    m->live_n = 0;
}

void vd_stream_meter_ended(enum vd_stream_end why)
{
    vd_counter_add(VD_METRIC(&ends, end_names[why]), 1);
}

void vd_stream_meter_resumed(enum vd_resume result)
{
    vd_counter_add(VD_METRIC(&resumes, resume_names[result]), 1);
}

void vd_stream_meters_set_lag(size_t loops_n, uint64_t newest)
{
    char name[24];
    for (size_t i = 0; i < loops_n; i++) {
        int64_t reached = vd_metric_value(VD_METRIC(&revisions, loop_name(name, i)));
        int64_t lag = (int64_t)newest - reached;
        vd_gauge_set(VD_METRIC(&lags, name), lag > 0 ? lag : 0);
    }
}
