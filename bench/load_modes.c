/* The modes fanout, idle, replay, list and write. Each prints one line of JSON. */
#include <pthread.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "load.h"

enum { SETTLE_MS = 1000, PATIENCE_MS = 3000 };

static double seconds_since(uint64_t start_ns)
{
    return (double)(load_now_ns() - start_ns) / 1e9;
}

static void print_latency(const char *name, const struct latency *l)
{
    printf(",\"%s\":{\"p50\":%.3f,\"p99\":%.3f,\"max\":%.3f}", name, latency_ms(l, 0.5),
           latency_ms(l, 0.99), (double)l->longest_ns / 1e6);
}

/* Prints what must hold for a figure to count: no watcher was cut off, no event is missing, and all
 * came in order. */
static void print_checks(const struct crowd *c, const struct crowd_count *count, uint64_t expected)
{
    bool right = !count->cut && !c->out_of_order && !c->others && count->least == expected &&
                 count->most == expected;
    printf(",\"events_expected\":%llu,\"events_least\":%llu,\"events_most\":%llu,"
           "\"out_of_order\":%llu,\"other_events\":%llu,\"cut\":%u,\"right\":%s",
           (unsigned long long)expected, (unsigned long long)count->least,
           (unsigned long long)count->most, (unsigned long long)c->out_of_order,
           (unsigned long long)c->others, count->cut, right ? "true" : "false");
}

void mode_fanout(void)
{
    struct crowd crowd = {0};
    struct writers writers = {0};
    struct latency write_latency = {0};
    struct crowd_count count;
    objects_create();
    crowd_open(&crowd, objects_revision());
    load_sleep_ms(SETTLE_MS);
    double cpu_s = server_cpu_s();
    uint64_t start_ns = load_now_ns();
    writers_start(&writers);
    load_sleep_ms((unsigned)(load.seconds * 1000));
    crowd_count(&crowd, &count);
    double s = seconds_since(start_ns), events = (double)count.events;
    double writes = (double)atomic_load(&writers.done);
    cpu_s = server_cpu_s() - cpu_s;
    writers_stop(&writers, &write_latency);
    crowd_wait(&crowd, atomic_load(&writers.done), PATIENCE_MS);
    double all_s = seconds_since(start_ns);
    crowd_count(&crowd, &count);
    crowd_close(&crowd);
    printf(
        "{\"mode\":\"fanout\",\"watchers\":%u,\"writers\":%u,\"events_per_s\":%.0f,"
        "\"writes_per_s\":%.0f,\"writes_failed\":%llu,\"drain_s\":%.2f,\"cpu_us_per_event\":%.3f,"
        "\"resident_kb\":%.0f",
        load.watchers, load.writers, events / s, writes / s,
        (unsigned long long)atomic_load(&writers.failed), all_s - s,
        events > 0 ? cpu_s * 1e6 / events : 0, server_resident_kb());
    print_latency("latency_ms", &crowd.latency);
    print_latency("write_ms", &write_latency);
    print_checks(&crowd, &count, atomic_load(&writers.done));
    puts("}");
}

void mode_idle(void)
{
    struct crowd crowd = {0};
    struct crowd_count count;
    uint64_t revision = objects_revision();
    double before_kb = server_resident_kb();
    crowd_open(&crowd, revision);
    load_sleep_ms((unsigned)(load.seconds * 1000));
    double after_kb = server_resident_kb();
    crowd_count(&crowd, &count);
    crowd_close(&crowd);
    printf("{\"mode\":\"idle\",\"watchers\":%u,\"kb_each\":%.2f,\"resident_kb\":[%.0f,%.0f]",
           load.watchers, (after_kb - before_kb) / load.watchers, before_kb, after_kb);
    print_checks(&crowd, &count, 0);
    puts("}");
}

void mode_replay(void)
{
    struct crowd crowd = {0};
    struct writers writers = {0};
    struct latency write_latency = {0};
    struct crowd_count count;
    objects_create();
    uint64_t revision = objects_revision();
    writers_start(&writers);
    while (atomic_load(&writers.done) + atomic_load(&writers.failed) < load.events)
        load_sleep_ms(5);
    writers_stop(&writers, &write_latency);
    uint64_t n = atomic_load(&writers.done);
    double cpu_s = server_cpu_s();
    uint64_t start_ns = load_now_ns();
    crowd_open(&crowd, revision);
    crowd_wait(&crowd, n, PATIENCE_MS);
    double s = seconds_since(start_ns);
    cpu_s = server_cpu_s() - cpu_s;
    crowd_count(&crowd, &count);
    crowd_close(&crowd);
    printf("{\"mode\":\"replay\",\"watchers\":%u,\"events_per_s\":%.0f,\"seconds\":%.3f,"
           "\"cpu_us_per_event\":%.3f",
           load.watchers, (double)count.events / s, s, cpu_s * 1e6 / (double)(count.events + 1));
    print_checks(&crowd, &count, n);
    puts("}");
}

struct lister {
    pthread_t thread;
    atomic_bool *stop;
    uint64_t bytes, lists;
    struct latency latency;
};

static void count_bytes(void *arg, struct vd_slice part)
{
    *(uint64_t *)arg += part.n;
}

static void *list_on(void *arg)
{
    struct lister *l = arg;
    struct vd_buf request = {0};
    struct link link;
    link_open(&link, false);
    link_request_text(&request, "GET", load.path, NULL, VD_SLICE(""));
    while (!atomic_load(l->stop)) {
        uint64_t start_ns = load_now_ns();
        unsigned status = link_ask(&link, vd_buf_slice(&request), count_bytes, &l->bytes);
        if (status != 200)
            load_die("a list was answered with %u", status);
        latency_add(&l->latency, load_now_ns() - start_ns);
        l->lists++;
    }
    link_close(&link);
    vd_buf_release(&request);
    return NULL;
}

void mode_list(void)
{
    struct lister *listers = vd_calloc(load.clients, sizeof *listers);
    struct latency latency = {0};
    atomic_bool stop = false;
    uint64_t bytes = 0, lists = 0;
    objects_create();
    double before_kb = server_resident_kb();
    uint64_t start_ns = load_now_ns();
    for (unsigned i = 0; i < load.clients; i++) {
        listers[i].stop = &stop;
        pthread_create(&listers[i].thread, NULL, list_on, &listers[i]);
    }
    load_sleep_ms((unsigned)(load.seconds * 1000));
    double during_kb = server_resident_kb();
    atomic_store(&stop, true);
    for (unsigned i = 0; i < load.clients; i++) {
        pthread_join(listers[i].thread, NULL);
        latency_merge(&latency, &listers[i].latency);
        bytes += listers[i].bytes;
        lists += listers[i].lists;
    }
    double s = seconds_since(start_ns);
    printf("{\"mode\":\"list\",\"objects\":%u,\"clients\":%u,\"lists_per_s\":%.1f,"
           "\"mb_per_s\":%.1f,\"resident_kb\":[%.0f,%.0f]",
           load.objects, load.clients, (double)lists / s, (double)bytes / s / 1e6, before_kb,
           during_kb);
    print_latency("list_ms", &latency);
    puts(",\"right\":true}");
    free(listers);
}

/* Watchers, if there are any, watch another namespace (--watch-path): a write must cost the
 * same. */
void mode_write(void)
{
    struct crowd crowd = {0};
    struct writers writers = {0};
    struct latency latency = {0};
    objects_create();
    if (load.watchers) {
        crowd_open(&crowd, objects_revision());
        load_sleep_ms(SETTLE_MS);
    }
    double cpu_s = server_cpu_s();
    uint64_t start_ns = load_now_ns();
    writers_start(&writers);
    load_sleep_ms((unsigned)(load.seconds * 1000));
    double s = seconds_since(start_ns), writes = (double)atomic_load(&writers.done);
    cpu_s = server_cpu_s() - cpu_s;
    writers_stop(&writers, &latency);
    struct crowd_count count = {0};
    if (load.watchers) {
        crowd_count(&crowd, &count);
        crowd_close(&crowd);
    }
    uint64_t failed = atomic_load(&writers.failed);
    printf("{\"mode\":\"write\",\"writers\":%u,\"writes_per_s\":%.0f,\"writes_failed\":%llu,"
           "\"cpu_us_per_write\":%.2f,\"bystanders\":%u",
           load.writers, writes / s, (unsigned long long)failed,
           writes > 0 ? cpu_s * 1e6 / writes : 0, load.watchers);
    print_latency("write_ms", &latency);
    printf(",\"cut\":%u,\"right\":%s}\n", count.cut,
           failed || count.cut || count.events ? "false" : "true");
}
