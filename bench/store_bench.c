/*
 * Opening and reading a store with 100,000 objects of 1 KB: memory, lists and replay.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "measure.h"
#include "store/snapshot.h"
#include "watch/cursor.h"

enum {
    OBJECTS = 100000,
    BODY_LEN = 1024,
    OVERHEAD_MAX = 250, /* bytes of memory that an object may cost beyond 1.3 times its body */
};

/* Runs `work` in a process of its own, so that only its memory is measured. */
static void in_child(void (*work)(const char *folder), const char *folder)
{
    fflush(stdout);
    pid_t pid = fork();
    int status = 0;
    if (pid == 0) {
        work(folder);
        exit(0);
    }
    waitpid(pid, &status, 0);
    if (status != 0)
        exit(2);
}

static void fill(const char *folder)
{
    double start = measure_now_s();
    struct vd_store *store = measure_open(folder, NULL);
    measure_fill(store, OBJECTS, BODY_LEN);
    measure_print("put in batches of 1,000", OBJECTS / (measure_now_s() - start), "/s", "");
    vd_store_close(store);
}

static void list_once(struct vd_store *store, size_t *objects, size_t *bytes)
{
    struct vd_snapshot snapshot;
    struct vd_event *events[512];
    struct vd_error error;
    size_t n;
    *objects = *bytes = 0;
    if (vd_snapshot_open(&snapshot, store, VD_SLICE("things"), VD_SLICE("default/"), 0,
                         VD_SLICE(""), &error))
        exit(2);
    while (!snapshot.done) {
        if (vd_snapshot_next(&snapshot, events, 512, &n, &error))
            exit(2);
        for (size_t i = 0; i < n; i++) {
            *bytes += events[i]->body->len;
            vd_event_unref(events[i]);
        }
        *objects += n;
    }
    vd_snapshot_release(&snapshot);
}

static void open_and_list(const char *folder)
{
    size_t empty = measure_resident(), objects, bytes;
    double start = measure_now_s();
    struct vd_store *store = measure_open(folder, NULL);
    double opened = measure_now_s() - start;
    size_t resident = measure_resident() - empty;
    list_once(store, &objects, &bytes);
    start = measure_now_s();
    int rounds = 10;
    for (int i = 0; i < rounds; i++)
        list_once(store, &objects, &bytes);
    double listed = (measure_now_s() - start) / rounds;
    double each = (double)resident / (double)objects, body = (double)bytes / (double)objects;
    char note[128];
    measure_target("open with 100,000 objects", opened * 1000, "ms", opened <= 1, "<= 1,000 ms");
    snprintf(note, sizeof note, "<= %.0f: 1.3 x %.0f of the body + %d", 1.3 * body + OVERHEAD_MAX,
             body, OVERHEAD_MAX);
    measure_target("memory an object", each, "bytes", each <= 1.3 * body + OVERHEAD_MAX, note);
    measure_print("memory an object beside its body", each - body, "bytes", "");
    measure_print("list of 100,000 objects", listed * 1000, "ms", "");
    measure_print("list, objects", (double)objects / listed, "/s", "");
    vd_store_close(store);
}

/* Events of a log that is in memory, through a cursor with a filter. */
static double replay(struct vd_store *store, struct vd_filter *filter, uint64_t from, size_t want)
{
    struct vd_cursor cursor;
    struct vd_deliveries deliveries = {0};
    struct vd_error error;
    size_t got = 0;
    double start = measure_now_s();
    if (vd_cursor_open_at(&cursor, store, filter, from, &error))
        exit(2);
    while (vd_cursor_is_behind(&cursor)) {
        if (vd_cursor_next(&cursor, &deliveries, 512, &error)) {
            fprintf(stderr, "bench: %s\n", error.text);
            exit(2);
        }
        got += deliveries.list.n;
    }
    double s = measure_now_s() - start;
    if (got != want) {
        fprintf(stderr, "bench: replayed %zu events, not %zu\n", got, want);
        exit(2);
    }
    vd_cursor_close(&cursor);
    vd_deliveries_release(&deliveries);
    return (double)got / s;
}

static void replay_all(const char *folder)
{
    struct vd_selector *selector = NULL;
    struct vd_error error;
    struct vd_filter_spec spec = {.resource = VD_SLICE("things")};
    struct vd_filter *all = vd_filter_new(&spec);
    if (vd_selector_parse(&spec.labels, VD_SLICE("app=bench"), &error))
        exit(2);
    selector = spec.labels;
    struct vd_filter *labelled = vd_filter_new(&spec);
    struct vd_store *store = measure_open(
        folder, &(struct vd_store_options){.tail_bytes_max = (size_t)1 << 30});
    uint64_t from = vd_store_revision(store) - OBJECTS;
    double rate = replay(store, all, from, OBJECTS);
    measure_target("replay from memory", rate, "/s", rate >= 1e6, ">= 1,000,000/s");
    measure_print("replay from memory, by label", replay(store, labelled, from, OBJECTS), "/s", "");
    vd_store_close(store);
    store = measure_open(folder, &(struct vd_store_options){.tail_events_max = 1});
    measure_print("replay from disk", replay(store, all, from, OBJECTS), "/s", "");
    vd_store_close(store);
    vd_filter_unref(all);
    vd_filter_unref(labelled);
    vd_selector_unref(selector);
}

int main(void)
{
    char *folder = measure_folder_new();
    printf("%d objects of %d bytes\n", OBJECTS, BODY_LEN);
    in_child(fill, folder);
    in_child(open_and_list, folder);
    in_child(replay_all, folder);
    measure_folder_remove(folder);
    return 0;
}
