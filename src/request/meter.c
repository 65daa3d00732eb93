/* See meter.h. The families are named as Kubernetes names them, where it has them. */
#include "request/meter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/hash_map.h"
#include "base/metrics.h"

enum {
    CODES_KEPT = 8,    /* status codes of a meter that are counted without a look-up */
    CLIENT_LEFT = 499, /* the code of a request whose client left before the answer */
};

static struct vd_metric_family requests = VD_COUNTER_FAMILY(
    "apiserver_request_total", "Requests answered; code 499: the client left before.", "verb",
    "group", "version", "resource", "subresource", "code");
static struct vd_metric_family durations = VD_HISTOGRAM_FAMILY(
    "apiserver_request_duration_seconds",
    "Time from a whole request to its whole answer; watches are left out.",
    vd_metric_latency_bounds_ns, 1e9, "verb", "group", "version", "resource", "subresource");
static struct vd_metric_family protocols = VD_COUNTER_FAMILY(
    "http_requests_total", "Requests answered, by the protocol that they came in.", "protocol");
static struct vd_metric_family running = VD_GAUGE_FAMILY("apiserver_longrunning_requests",
                                                         "Watches that are open.", "verb", "group",
                                                         "version", "resource", "subresource");
static struct vd_metric_family events = VD_COUNTER_FAMILY(
    "apiserver_watch_events_total", "Events given to watches.", "group", "version", "resource");

enum { PROTOCOLS = 3 }; /* entries of protocol_names */
static const char *const protocol_names[PROTOCOLS] = {"HTTP/1.0", "HTTP/1.1", "HTTP/2.0"};

struct vd_meter {
    struct vd_meters *meters;
    const char *labels[5]; /* verb, group, version, resource, subresource: into text */
    struct vd_metric *duration, *running, *events;
    struct {
        unsigned status;
        struct vd_metric *count;
    } codes[CODES_KEPT];
    size_t codes_n;
    uint64_t events_n; /* of this turn */
    bool is_watch;
    bool is_dirty; /* stands in the list of meters with such */
    struct vd_meter *next_dirty;
    size_t key_len;
    char text[]; /* the labels, a NUL after each: the key */
};

struct vd_meters {
    struct vd_hash_map by_sort;
    struct vd_meter *other; /* for sorts beyond the limit */
    struct vd_meter *dirty;
    struct vd_buf key;
    struct vd_metric *protocols[PROTOCOLS];
};

void vd_meters_register(void)
{
    struct vd_metric_family *const all[] = {&requests, &durations, &running, &events, &protocols};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        vd_metric_register(all[i]);
}

static struct vd_slice meter_key(const void *item)
{
    const struct vd_meter *m = item;
    return vd_slice(m->text, m->key_len);
}

struct vd_meters *vd_meters_new(void)
{
    struct vd_meters *m = VD_NEW(struct vd_meters);
    vd_hash_map_init(&m->by_sort, meter_key);
    for (size_t i = 0; i < PROTOCOLS; i++)
        m->protocols[i] = VD_METRIC(&protocols, protocol_names[i]);
    return m;
}

void vd_meters_free(struct vd_meters *m)
{
    if (!m)
        return;
    size_t at = 0;
    for (struct vd_meter *meter; (meter = vd_hash_map_next(&m->by_sort, &at));)
        free(meter);
    free(m->other);
    vd_hash_map_release(&m->by_sort);
    vd_buf_release(&m->key);
    free(m);
}

static struct vd_meter *meter_new(struct vd_meters *m, struct vd_slice key)
{
    struct vd_meter *meter = vd_calloc(1, sizeof *meter + key.n);
    meter->meters = m;
    meter->key_len = key.n;
    memcpy(meter->text, key.p, key.n);
    const char *p = meter->text;
    for (size_t i = 0; i < 5; i++, p += strlen(p) + 1)
        meter->labels[i] = p;
    meter->is_watch = strcmp(meter->labels[0], "WATCH") == 0;
    if (!meter->is_watch)
        meter->duration = vd_metric_of(&durations, meter->labels, 5);
    return meter;
}

struct vd_meter *vd_meters_find(struct vd_meters *m, const struct vd_meter_labels *s)
{
    const struct vd_slice parts[] = {s->verb, s->group, s->version, s->resource, s->subresource};
    vd_buf_reset(&m->key);
    for (size_t i = 0; i < 5; i++) {
        vd_buf_add_slice(&m->key, parts[i]);
        vd_buf_add_char(&m->key, '\0');
    }
    struct vd_meter *meter = vd_hash_map_get(&m->by_sort, vd_buf_slice(&m->key));
    if (meter)
        return meter;
    if (vd_hash_map_count(&m->by_sort) >= VD_METRIC_CHILDREN_MAX) {
        if (!m->other)
            m->other = meter_new(m, VD_SLICE("other\0other\0other\0other\0other\0"));
        return m->other;
    }
    meter = meter_new(m, vd_buf_slice(&m->key));
    vd_hash_map_put(&m->by_sort, meter);
    return meter;
}

static struct vd_metric *count_of(struct vd_meter *m, unsigned status)
{
    for (size_t i = 0; i < m->codes_n; i++)
        if (m->codes[i].status == status)
            return m->codes[i].count;
    char code[16];
    snprintf(code, sizeof code, "%u", status);
    struct vd_metric *count = VD_METRIC(&requests, m->labels[0], m->labels[1], m->labels[2],
                                        m->labels[3], m->labels[4], code);
    if (m->codes_n < CODES_KEPT) {
        m->codes[m->codes_n].status = status;
        m->codes[m->codes_n++].count = count;
    }
    return count;
}

void vd_meter_answered(struct vd_meter *m, unsigned status, uint64_t duration_ns)
{
    vd_counter_add(count_of(m, status ? status : CLIENT_LEFT), 1);
    if (!m->is_watch) /* what watches take is up to their clients */
        vd_histogram_observe(m->duration, duration_ns);
}

void vd_meters_count_protocol(struct vd_meters *m, const char *protocol)
{
    for (size_t i = 0; i < PROTOCOLS; i++)
        if (strcmp(protocol, protocol_names[i]) == 0)
            vd_counter_add(m->protocols[i], 1);
}

/* ---- watches ---- */

void vd_meter_watch_begun(struct vd_meter *m)
{
    if (!m->running) {
        m->running = vd_metric_of(&running, m->labels, 5);
        m->events = VD_METRIC(&events, m->labels[1], m->labels[2], m->labels[3]);
    }
    vd_gauge_add(m->running, 1);
}

void vd_meter_watch_ended(struct vd_meter *m)
{
    vd_gauge_add(m->running, -1);
}

void vd_meter_delivered(struct vd_meter *m, size_t n)
{
    m->events_n += n;
    if (m->is_dirty)
        return;
    m->is_dirty = true;
    m->next_dirty = m->meters->dirty;
    m->meters->dirty = m;
}

void vd_meters_turn(struct vd_meters *m)
{
    for (struct vd_meter *meter; (meter = m->dirty);) {
        m->dirty = meter->next_dirty;
        meter->is_dirty = false;
        vd_counter_add(meter->events, meter->events_n);
        meter->events_n = 0;
    }
}
