/*
 * See metrics.h. What the store tells is a table: a family for each number. The store
 * counts by itself, so its counters are set from what it says, not added to here.
 */
#include "server/metrics.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/stream_meter.h"
#include "base/metrics.h"
#include "store/health.h"

/* What a scrape finds. */
struct look {
    struct vd_store_stats stats;
    uint64_t read_only, full, damaged;
    uint64_t file_bytes;
    uint64_t resident_bytes;
};

/* clang-format off */
#define GAUGE(name, help)   VD_GAUGE_FAMILY(name, help)
#define COUNTER(name, help) VD_COUNTER_FAMILY(name, help)
#define AT(field)           offsetof(struct look, field)
static struct {
    struct vd_metric_family family;
    size_t at; /* of the number in struct look */
} numbers[] = {
    {GAUGE("store_revision",
      "Newest revision."),
     AT(stats.revision)},
    {GAUGE("store_floor_revision",
      "Cursors at or below it are expired."),
     AT(stats.floor)},
    {GAUGE("store_window_events",
      "Events that a watch can be resumed from."),
     AT(stats.window_events)},
    {GAUGE("store_tail_events",
      "Of those, the ones in memory."),
     AT(stats.tail_events)},
    {GAUGE("store_tail_bytes",
      "Bytes of bodies that only those in memory still need."),
     AT(stats.tail_bytes)},
    {GAUGE("store_objects",
      "Objects that exist."),
     AT(stats.objects)},
    {GAUGE("store_kinds",
      "Kinds that have or had objects."),
     AT(stats.resources)},
    {COUNTER("store_commits_total",
      "Changes committed since the start."),
     AT(stats.commits)},
    {COUNTER("store_groups_total",
      "Group commits: each is one sync of the disk."),
     AT(stats.groups)},
    {COUNTER("store_groups_by_proposer_total",
      "Of those, the ones that an event loop synced itself, for its only client."),
     AT(stats.groups_here)},
    {COUNTER("store_refused_total",
      "Proposals refused since the start."),
     AT(stats.refused)},
    {COUNTER("store_compacted_rows_total",
      "Rows taken out of the log since the start."),
     AT(stats.compacted_rows)},
    {GAUGE("store_read_only",
      "1: a write failed, and none is accepted until a restart."),
     AT(read_only)},
    {GAUGE("store_full",
      "1: the last write found no room on the disk."),
     AT(full)},
    {GAUGE("store_damaged_versions",
      "Versions whose bytes were damaged when the store was opened."),
     AT(damaged)},
    {GAUGE("store_file_bytes",
      "Bytes of the log on disk, write-ahead log included."),
     AT(file_bytes)},
    {GAUGE("process_resident_memory_bytes",
      "Resident memory."),
     AT(resident_bytes)},
};
/* clang-format on */
enum { NUMBERS = sizeof numbers / sizeof *numbers };

static struct vd_metric_family build_info = VD_GAUGE_FAMILY(
    "vedette_build_info", "Always 1; the labels say what runs.", "version", "compiler");

static struct vd_metric_family attempts = VD_COUNTER_FAMILY(
    "authentication_attempts_total", "Requests, by whether their credential was good.", "result");

static uint64_t file_bytes(const char *folder)
{
    static const char *const names[] = {"log.db", "log.db-wal"};
    uint64_t sum = 0;
    struct stat st;
    int dir = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    for (size_t i = 0; dir >= 0 && i < sizeof names / sizeof *names; i++)
        if (fstatat(dir, names[i], &st, 0) == 0)
            sum += (uint64_t)st.st_size;
    if (dir >= 0)
        close(dir);
    return sum;
}

/* 0 where /proc does not say. */
static uint64_t resident_bytes(void)
{
    char line[256] = "";
    uint64_t pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    struct vd_slice rest = vd_slice_of(f && fgets(line, sizeof line, f) ? line : ""), word;
    if (f)
        fclose(f);
    /* The second number; the first is the size of all that is mapped. */
    if (!vd_slice_cut(&rest, ' ', &word) || !vd_slice_cut(&rest, ' ', &word) ||
        vd_slice_to_u64(word, &pages) != 0)
        return 0;
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void look_at(struct look *look, const struct vd_server_metrics *m)
{
    struct vd_health health;
    *look = (struct look){0};
    vd_store_stats(m->store, &look->stats);
    vd_store_health(m->store, &health);
    look->read_only = health.read_only;
    look->full = health.full;
    look->damaged = health.damaged;
    look->file_bytes = file_bytes(m->folder);
    look->resident_bytes = resident_bytes();
}

void vd_server_metrics_init(struct vd_server_metrics *m, const char *release)
{
    *m = (struct vd_server_metrics){0};
    pthread_mutex_init(&m->lock, NULL);
    vd_stream_meters_register();
    vd_accounts_register();
    m->logins = VD_METRIC(&attempts, "success");
    m->failed_logins = VD_METRIC(&attempts, "failure");
    for (size_t i = 0; i < NUMBERS; i++)
        vd_metric_register(&numbers[i].family);
    vd_gauge_set(VD_METRIC(&build_info, release, __VERSION__), 1);
}

void vd_server_metrics_release(struct vd_server_metrics *m)
{
    pthread_mutex_destroy(&m->lock);
}

void vd_server_metrics_write(struct vd_server_metrics *m, struct vd_buf *out)
{
    struct look look;
    pthread_mutex_lock(&m->lock);
    look_at(&look, m);
    for (size_t i = 0; i < NUMBERS; i++) {
        struct vd_metric *metric = vd_metric_only(&numbers[i].family);
        uint64_t value = *(const uint64_t *)(const void *)((const char *)&look + numbers[i].at);
        if (numbers[i].family.kind == VD_METRIC_GAUGE)
            vd_gauge_set(metric, (int64_t)value);
        else
            vd_counter_add(metric, value - (uint64_t)vd_metric_value(metric));
    }
    vd_stream_meters_set_lag(m->loops_n, look.stats.revision);
    vd_accounts_measure(m->accounts);
    vd_metrics_write(out);
    pthread_mutex_unlock(&m->lock);
}

void vd_server_metrics_usage(const struct vd_server_metrics *m, struct vd_buf *out)
{
    vd_accounts_write(m->accounts, out);
}
