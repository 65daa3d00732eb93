/* See process_report.h. */
#include "net/process_report.h"

#include <stdio.h>
#include <string.h>

#include "base/metrics.h"

static struct vd_metric_family running = VD_GAUGE_FAMILY("vedette_processes_running",
                                                         "Programs that run for the server.");
static struct vd_metric_family processes = VD_COUNTER_FAMILY(
    "vedette_processes_total",
    "Programs that have run for the server, by how they ended: ok, failed, signal, timeout, "
    "killed, stopped, or not-started.",
    "program", "result");

void vd_process_report_start(struct vd_process_report *report, const struct vd_process_options *o)
{
    const char *slash = strrchr(o->argv[0], '/');
    snprintf(report->program, sizeof report->program, "%s%s%s", slash + 1, o->name ? " " : "",
             o->name ? o->name : "");
    vd_gauge_add(vd_metric_only(&running), 1);
}

static void end(const struct vd_process_report *report, const char *result)
{
    vd_gauge_add(vd_metric_only(&running), -1);
    vd_counter_add(VD_METRIC(&processes, report->program, result), 1);
}

void vd_process_report_failure(struct vd_process_report *report)
{
    end(report, "not-started");
}

void vd_process_report_end(struct vd_process_report *report, const struct vd_process_exit *exit)
{
    end(report, exit->is_stopped  ? "stopped"
                : exit->timed_out ? "timeout"
                : exit->is_killed ? "killed"
                : exit->signal    ? "signal"
                : exit->status    ? "failed"
                                  : "ok");
}
