/*
 * The registry of metrics and its text form.
 *
 * Families form one list, sorted by name. A family keeps its metrics in a
 * hash map keyed by their label values joined with NULs, and in a list in the
 * order they were made, which is the order they are printed in. Neither
 * families nor metrics are ever removed, so a pointer once given stays good
 * and an update needs no lock.
 *
 * A histogram counts twice: in a log-linear histogram that answers quantiles
 * to 1/8, and in one exact counter for each printed `le` bound, since those
 * round decimal bounds fall inside the log-linear buckets.
 *
 * Lock order: registry_lock, then a family's lock.
 */
#include "base/metrics.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/histogram.h"
#include "base/utf8.h"

const uint64_t vd_metric_latency_bounds_ns[] = {
    100000,     250000,      500000,      1000000,     2500000,   5000000,    10000000,
    25000000,   50000000,    100000000,   250000000,   500000000, 1000000000, 2500000000,
    5000000000, 10000000000, 30000000000, 60000000000, 0,
};

struct vd_metric {
    struct vd_metric_family *family;
    struct vd_metric *next;
    char *key; /* the label values, each with a NUL behind it */
    size_t key_len;
    char *labels; /* as printed: verb="get",code="200" */
    _Atomic int64_t value;
    struct vd_histogram *histogram; /* of a histogram only */
    _Atomic uint64_t up_to[];       /* values in each printed bucket alone; the last is +Inf */
};

static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER; /* guards the list */
static struct vd_metric_family *registry;

/* ---- the lint: names are the program's own, so these end in asserts ---- */

static bool is_name(const char *name, const char *also)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    size_t n = 0;
    if (!*name || (*name >= '0' && *name <= '9'))
        return false;
    for (; name[n]; n++)
        if (!strchr(letters, name[n]) && !strchr(also, name[n]))
            return false;
    return true;
}

static bool ends_with(const char *text, const char *suffix)
{
    return vd_slice_ends_with(vd_slice_of(text), vd_slice_of(suffix));
}

static void check_labels(const struct vd_metric_family *f)
{
    for (size_t i = 0; i < f->label_count; i++) {
        assert(is_name(f->labels[i], "0123456789") && "label name");
        assert(strncmp(f->labels[i], "__", 2) != 0 && "labels with __ are Prometheus' own");
        assert((f->kind != VD_METRIC_HISTOGRAM || strcmp(f->labels[i], "le") != 0) &&
               "histograms make the label le themselves");
        for (size_t j = 0; j < i; j++)
            assert(strcmp(f->labels[i], f->labels[j]) != 0 && "label given twice");
    }
}

static void check_family(const struct vd_metric_family *f)
{
    assert(is_name(f->name, "0123456789:") && "metric name");
    assert(f->help[0] && "metric without help");
    assert((f->kind == VD_METRIC_COUNTER) == ends_with(f->name, "_total") &&
           "counters, and only they, end in _total");
    assert(!ends_with(f->name, "_bucket") && !ends_with(f->name, "_sum") &&
           !ends_with(f->name, "_count") && "histograms make these names themselves");
    assert((f->kind == VD_METRIC_HISTOGRAM) == (f->bound_count > 0) && "bounds of a histogram");
    assert((f->bounds || f->bound_count == 0) && "bounds without their number");
    for (size_t i = 1; i < f->bound_count; i++)
        assert(f->bounds[i - 1] < f->bounds[i] && "bounds ascend");
    assert(f->per_unit > 0 && "per_unit");
    check_labels(f);
}

/* ---- families and their metrics ---- */

static struct vd_slice metric_key(const void *item)
{
    const struct vd_metric *metric = item;
    return vd_slice(metric->key, metric->key_len);
}

/* Adds a label's value with what the text form asks to be escaped. Bytes that
 * are no UTF-8 would make the whole scrape fail, so they become '?'. */
static void add_escaped(struct vd_buf *out, struct vd_slice text, bool quotes)
{
    while (text.n) {
        uint32_t rune;
        size_t n = vd_utf8_read(text, &rune);
        if (n == 0)
            vd_buf_add_char(out, '?');
        else if (text.p[0] == '\n')
            vd_buf_add_text(out, "\\n");
        else if (text.p[0] == '\\' || (quotes && text.p[0] == '"'))
            vd_buf_addf(out, "\\%c", text.p[0]);
        else
            vd_buf_add(out, text.p, n);
        text = vd_slice_from(text, n ? n : 1);
    }
}

/* Bytes of the label values of one metric, each with its separator. */
enum { KEY_LEN_MAX = VD_METRIC_LABELS_MAX * (VD_METRIC_LABEL_LEN_MAX + 1) };

static struct vd_slice join_values(char out[KEY_LEN_MAX], const char *const *values, size_t count)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        size_t value_n = strnlen(values[i], VD_METRIC_LABEL_LEN_MAX);
        memcpy(out + n, values[i], value_n);
        n += value_n;
        out[n++] = 0;
    }
    return vd_slice(out, n);
}

/* Makes a metric and adds it to the family's list; the family's lock is held
 * for writing. The key's bytes are copied. */
static struct vd_metric *metric_new(struct vd_metric_family *f, struct vd_slice key)
{
    bool histogram = f->kind == VD_METRIC_HISTOGRAM;
    size_t up_to = histogram ? f->bound_count + 1 : 0;
    struct vd_metric *metric = vd_calloc(1, sizeof *metric + up_to * sizeof *metric->up_to);
    struct vd_buf labels = {0};
    struct vd_slice rest = key, value;
    for (size_t i = 0; i < f->label_count && vd_slice_cut(&rest, 0, &value); i++) {
        vd_buf_addf(&labels, "%s%s=\"", i ? "," : "", f->labels[i]);
        add_escaped(&labels, value, true);
        vd_buf_add_char(&labels, '"');
    }
    metric->family = f;
    metric->key = vd_memdup(key.p, key.n);
    metric->key_len = key.n;
    metric->labels = vd_buf_take(&labels, NULL);
    metric->histogram = histogram ? VD_NEW(struct vd_histogram) : NULL;
    if (f->last)
        f->last->next = metric;
    else
        f->first = metric;
    f->last = metric;
    return metric;
}

/* What all combinations beyond the limit share; the lock is held for writing. */
static struct vd_metric *metric_other(struct vd_metric_family *f)
{
    if (f->other)
        return f->other;
    const char *values[VD_METRIC_LABELS_MAX];
    char joined[KEY_LEN_MAX];
    for (size_t i = 0; i < f->label_count; i++)
        values[i] = "other";
    struct vd_slice key = join_values(joined, values, f->label_count);
    f->other = vd_hash_map_get(&f->by_labels, key);
    if (!f->other)
        f->other = metric_new(f, key);
    return f->other;
}

static void family_init(struct vd_metric_family *f)
{
    while (f->labels[f->label_count])
        f->label_count++;
    while (f->bounds && f->bounds[f->bound_count])
        f->bound_count++;
    assert(f->label_count <= VD_METRIC_LABELS_MAX && f->bound_count <= VD_METRIC_BOUNDS_MAX);
    check_family(f);
    vd_hash_map_init(&f->by_labels, metric_key);
    if (f->label_count == 0)
        metric_new(f, vd_slice("", 0));
}

void vd_metric_register(struct vd_metric_family *family)
{
    if (atomic_load_explicit(&family->registered, memory_order_acquire))
        return;
    pthread_mutex_lock(&registry_lock);
    if (!atomic_load_explicit(&family->registered, memory_order_relaxed)) {
        family_init(family);
        struct vd_metric_family **at = &registry;
        while (*at && strcmp((*at)->name, family->name) < 0)
            at = &(*at)->next;
        assert(!(*at && strcmp((*at)->name, family->name) == 0) && "two metrics with one name");
        family->next = *at;
        *at = family;
        atomic_store_explicit(&family->registered, true, memory_order_release);
    }
    pthread_mutex_unlock(&registry_lock);
}

struct vd_metric *vd_metric_of(struct vd_metric_family *family, const char *const *values,
                               size_t count)
{
    vd_metric_register(family);
    assert(count == family->label_count && "as many values as labels");
    char joined[KEY_LEN_MAX];
    struct vd_slice key = join_values(joined, values, count);
    pthread_rwlock_rdlock(&family->lock);
    struct vd_metric *metric = vd_hash_map_get(&family->by_labels, key);
    pthread_rwlock_unlock(&family->lock);
    if (metric)
        return metric;
    pthread_rwlock_wrlock(&family->lock);
    metric = vd_hash_map_get(&family->by_labels, key); /* another was faster? */
    if (!metric && vd_hash_map_count(&family->by_labels) >= VD_METRIC_CHILDREN_MAX) {
        metric = metric_other(family);
    } else if (!metric) {
        metric = metric_new(family, key);
        vd_hash_map_put(&family->by_labels, metric);
    }
    pthread_rwlock_unlock(&family->lock);
    return metric;
}

struct vd_metric *vd_metric_only(struct vd_metric_family *family)
{
    vd_metric_register(family);
    assert(family->label_count == 0 && "a family with labels has many metrics");
    return family->first;
}

/* ---- values ---- */

void vd_counter_add(struct vd_metric *counter, uint64_t n)
{
    assert(counter->family->kind == VD_METRIC_COUNTER);
    atomic_fetch_add_explicit(&counter->value, (int64_t)n, memory_order_relaxed);
}

void vd_gauge_set(struct vd_metric *gauge, int64_t value)
{
    assert(gauge->family->kind == VD_METRIC_GAUGE);
    atomic_store_explicit(&gauge->value, value, memory_order_relaxed);
}

void vd_gauge_add(struct vd_metric *gauge, int64_t n)
{
    assert(gauge->family->kind == VD_METRIC_GAUGE);
    atomic_fetch_add_explicit(&gauge->value, n, memory_order_relaxed);
}

void vd_histogram_observe(struct vd_metric *histogram, uint64_t value)
{
    vd_histogram_observe_n(histogram, value, 1);
}

void vd_histogram_observe_n(struct vd_metric *histogram, uint64_t value, uint64_t n)
{
    const struct vd_metric_family *f = histogram->family;
    assert(f->kind == VD_METRIC_HISTOGRAM);
    size_t low = 0, high = f->bound_count; /* the first bound that is not less */
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (f->bounds[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    atomic_fetch_add_explicit(&histogram->up_to[low], n, memory_order_relaxed);
    vd_histogram_add_n(histogram->histogram, value, n);
}

int64_t vd_metric_value(const struct vd_metric *metric)
{
    if (metric->family->kind == VD_METRIC_HISTOGRAM)
        return (int64_t)vd_histogram_count(metric->histogram);
    return atomic_load_explicit(&metric->value, memory_order_relaxed);
}

uint64_t vd_metric_quantile(const struct vd_metric *histogram, double q)
{
    assert(histogram->family->kind == VD_METRIC_HISTOGRAM);
    return vd_histogram_quantile(histogram->histogram, q);
}

/* ---- the text form ---- */

static void write_histogram(const struct vd_metric *metric, struct vd_buf *out)
{
    const struct vd_metric_family *f = metric->family;
    const char *comma = metric->labels[0] ? "," : "";
    uint64_t total = 0;
    for (size_t i = 0; i <= f->bound_count; i++) {
        total += atomic_load_explicit(&metric->up_to[i], memory_order_relaxed);
        vd_buf_addf(out, "%s_bucket{%s%sle=\"", f->name, metric->labels, comma);
        if (i < f->bound_count)
            vd_buf_addf(out, "%.15g", (double)f->bounds[i] / f->per_unit);
        else
            vd_buf_add_text(out, "+Inf");
        vd_buf_addf(out, "\"} %llu\n", (unsigned long long)total);
    }
    const char *open = metric->labels[0] ? "{" : "", *close = metric->labels[0] ? "}" : "";
    uint64_t sum = atomic_load_explicit(&metric->histogram->sum, memory_order_relaxed);
    vd_buf_addf(out, "%s_sum%s%s%s %.15g\n", f->name, open, metric->labels, close,
                (double)sum / f->per_unit);
    vd_buf_addf(out, "%s_count%s%s%s %llu\n", f->name, open, metric->labels, close,
                (unsigned long long)total);
}

static void write_value(const struct vd_metric *metric, struct vd_buf *out)
{
    const char *open = metric->labels[0] ? "{" : "", *close = metric->labels[0] ? "}" : "";
    vd_buf_addf(out, "%s%s%s%s ", metric->family->name, open, metric->labels, close);
    if (metric->family->kind == VD_METRIC_COUNTER) /* all 64 bits, not a sign */
        vd_buf_add_u64(out, (uint64_t)vd_metric_value(metric));
    else
        vd_buf_addf(out, "%lld", (long long)vd_metric_value(metric));
    vd_buf_add_char(out, '\n');
}

void vd_metric_family_write(struct vd_metric_family *family, struct vd_buf *out)
{
    static const char *const kinds[] = {"counter", "gauge", "histogram"};
    vd_metric_register(family);
    vd_buf_addf(out, "# HELP %s ", family->name);
    add_escaped(out, vd_slice_of(family->help), false);
    vd_buf_addf(out, "\n# TYPE %s %s\n", family->name, kinds[family->kind]);
    pthread_rwlock_rdlock(&family->lock);
    for (const struct vd_metric *metric = family->first; metric; metric = metric->next) {
        if (family->kind == VD_METRIC_HISTOGRAM)
            write_histogram(metric, out);
        else
            write_value(metric, out);
    }
    pthread_rwlock_unlock(&family->lock);
}

void vd_metrics_write(struct vd_buf *out)
{
    pthread_mutex_lock(&registry_lock);
    for (struct vd_metric_family *family = registry; family; family = family->next)
        vd_metric_family_write(family, out);
    pthread_mutex_unlock(&registry_lock);
}
