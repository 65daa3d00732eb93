/*
 * Metrics, and their Prometheus text form (version 0.0.4).
 *
 * A family is a static object of the module that owns it, with its name, help
 * and labels in one place; a metric is one combination of label values:
 *
 *     static struct vd_metric_family requests =
 *         VD_COUNTER_FAMILY("vedette_requests_total", "Requests answered.", "verb", "code");
 *     vd_counter_add(VD_METRIC(&requests, verb, "200"), 1);
 *
 * A family without labels has one metric, vd_metric_only(&family). Families
 * register themselves at first use; register one early to show it at zero.
 * Metrics live as long as the process: pointers to them may be kept, and on hot
 * paths should be, since finding one by its labels takes a lock and a hash.
 * Beyond VD_METRIC_CHILDREN_MAX combinations, all new ones share a metric whose
 * labels are all "other".
 *
 * All functions are thread-safe; updates are relaxed atomics. Names, labels
 * and kinds are the program's own, so a wrong one is an assert.
 */
#ifndef VD_BASE_METRICS_H
#define VD_BASE_METRICS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/hash_map.h"
#include "base/limits.h"

enum vd_metric_kind { VD_METRIC_COUNTER, VD_METRIC_GAUGE, VD_METRIC_HISTOGRAM };

struct vd_metric;

struct vd_metric_family {
    const char *name;
    const char *help;
    const char *labels[VD_METRIC_LABELS_MAX + 1]; /* NULL after the last */
    /* Histograms only: the `le` buckets to print, ascending, in the unit that
     * is observed and 0 after the last; and how many of that unit make one of
     * the printed unit: 1e9 for nanoseconds that are shown as seconds. */
    const uint64_t *bounds;
    double per_unit;
    enum vd_metric_kind kind;

    /* The rest belongs to metrics.c. `lock` guards it, but for `registered`. */
    atomic_bool registered;
    pthread_rwlock_t lock;
    size_t label_count;
    size_t bound_count;
    struct vd_hash_map by_labels;
    struct vd_metric *first; /* in order of creation */
    struct vd_metric *last;
    struct vd_metric *other; /* for what is beyond the limit; made when needed */
    struct vd_metric_family *next;
};

#define VD_METRIC_FAMILY_(kind_, name_, help_, bounds_, per_unit_, ...)                            \
    {                                                                                              \
        .name = (name_), .help = (help_), .kind = (kind_), .labels = {__VA_ARGS__},                \
        .bounds = (bounds_), .per_unit = (per_unit_), .lock = PTHREAD_RWLOCK_INITIALIZER,          \
    }

/* (name, help, label names...); the name of a counter ends in _total. */
#define VD_COUNTER_FAMILY(name, ...) VD_COUNTER_FAMILY_(name, __VA_ARGS__, NULL)
#define VD_COUNTER_FAMILY_(name, help, ...)                                                        \
    VD_METRIC_FAMILY_(VD_METRIC_COUNTER, name, help, NULL, 1, __VA_ARGS__)

/* (name, help, label names...) */
#define VD_GAUGE_FAMILY(name, ...) VD_GAUGE_FAMILY_(name, __VA_ARGS__, NULL)
#define VD_GAUGE_FAMILY_(name, help, ...)                                                          \
    VD_METRIC_FAMILY_(VD_METRIC_GAUGE, name, help, NULL, 1, __VA_ARGS__)

/* (name, help, bounds, per_unit, label names...): see the fields above. */
#define VD_HISTOGRAM_FAMILY(name, help, bounds, ...)                                               \
    VD_HISTOGRAM_FAMILY_(name, help, bounds, __VA_ARGS__, NULL)
#define VD_HISTOGRAM_FAMILY_(name, help, bounds, per_unit, ...)                                    \
    VD_METRIC_FAMILY_(VD_METRIC_HISTOGRAM, name, help, bounds, per_unit, __VA_ARGS__)

/* Bounds for latencies in nanoseconds, 100 us to 60 s; per_unit is 1e9. */
extern const uint64_t vd_metric_latency_bounds_ns[];

/* Makes the family part of the output, and its only metric if it has no
 * labels. Registering it again has no effect. */
void vd_metric_register(struct vd_metric_family *family);

/* The metric with these label values, made when it is new; as many values as
 * the family has labels. The values are copied. */
#define VD_METRIC(family, ...)                                                                     \
    vd_metric_of((family), (const char *const[]){__VA_ARGS__},                                     \
                 sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))
struct vd_metric *vd_metric_of(struct vd_metric_family *family, const char *const *values,
                               size_t count);

/* The metric of a family without labels. */
struct vd_metric *vd_metric_only(struct vd_metric_family *family);

void vd_counter_add(struct vd_metric *counter, uint64_t n);
void vd_gauge_set(struct vd_metric *gauge, int64_t value);
void vd_gauge_add(struct vd_metric *gauge, int64_t n);
void vd_histogram_observe(struct vd_metric *histogram, uint64_t value);
void vd_histogram_observe_n(struct vd_metric *histogram, uint64_t value, uint64_t n); /* n times */

/* The value of a counter or gauge, or the number of values of a histogram. */
int64_t vd_metric_value(const struct vd_metric *metric);

/* A quantile, in the unit that is observed; see vd_histogram_quantile. */
uint64_t vd_metric_quantile(const struct vd_metric *histogram, double q);

/* Appends one family, or all registered ones in order of their names. */
void vd_metric_family_write(struct vd_metric_family *family, struct vd_buf *out);
void vd_metrics_write(struct vd_buf *out);

#endif
