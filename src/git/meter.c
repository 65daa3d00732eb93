/* See meter.h. */
#include "git/meter.h"

#include <stdio.h>

#include "base/metrics.h"

static struct vd_metric_family requests = VD_COUNTER_FAMILY(
    "vedette_git_requests_total", "Requests of git clients, by what they are for and the answer.",
    "service", "code");
static struct vd_metric_family seconds = VD_HISTOGRAM_FAMILY(
    "vedette_git_request_seconds", "How long requests of git clients took.",
    vd_metric_latency_bounds_ns, 1e9, "service");
static struct vd_metric_family bytes = VD_COUNTER_FAMILY(
    "vedette_git_bytes_total", "Bytes of bodies that git clients have sent and were sent.",
    "service", "direction");
static struct vd_metric_family processes = VD_GAUGE_FAMILY(
    "vedette_git_processes", "Git processes that serve clones, fetches and pushes.");
static struct vd_metric_family waits = VD_GAUGE_FAMILY("vedette_git_processes_waiting",
                                                       "Requests that wait for a git process.");
static struct vd_metric_family recovered = VD_COUNTER_FAMILY(
    "vedette_git_recovered_refs_total",
    "Refs that were set to what the store records, after an interrupted push.");
static struct vd_metric_family upkeeps = VD_COUNTER_FAMILY(
    "vedette_git_upkeeps_total",
    "Runs of git gc by what became of them: good, failed, stopped (the folder was needed).",
    "result");
static struct vd_metric_family upkeep_seconds = VD_HISTOGRAM_FAMILY(
    "vedette_git_upkeep_seconds", "How long runs of git gc take.", vd_metric_latency_bounds_ns,
    1e9);

void vd_git_meter_register(void)
{
    vd_metric_register(&upkeeps);
    vd_metric_register(&upkeep_seconds);
    vd_metric_register(&requests);
    vd_metric_register(&seconds);
    vd_metric_register(&bytes);
    vd_metric_register(&processes);
    vd_metric_register(&waits);
    vd_metric_register(&recovered);
}

void vd_git_meter_answered(enum vd_git_service service, unsigned status, uint64_t duration_ns,
                           uint64_t sent)
{
    const char *name = vd_git_service_name(service);
    char code[16];
    snprintf(code, sizeof code, "%u", status);
    vd_counter_add(VD_METRIC(&requests, name, code), 1);
    vd_histogram_observe(VD_METRIC(&seconds, name), duration_ns);
    vd_counter_add(VD_METRIC(&bytes, name, "sent"), sent);
}

void vd_git_meter_received(enum vd_git_service service, uint64_t received)
{
    vd_counter_add(VD_METRIC(&bytes, vd_git_service_name(service), "received"), received);
}

void vd_git_meter_processes(size_t running, size_t waiting)
{
    vd_gauge_set(vd_metric_only(&processes), (int64_t)running);
    vd_gauge_set(vd_metric_only(&waits), (int64_t)waiting);
}

void vd_git_meter_recovered(size_t refs)
{
    vd_counter_add(vd_metric_only(&recovered), refs);
}

void vd_git_meter_upkeep(const char *result, uint64_t duration_ns)
{
    vd_counter_add(VD_METRIC(&upkeeps, result), 1);
    vd_histogram_observe(vd_metric_only(&upkeep_seconds), duration_ns);
}
