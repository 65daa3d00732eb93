/*
 * Who uses what: accounts as metrics, and as a document for `vedette top`.
 *
 * An account counts for itself; what has come since the last look is added to its
 * metrics when somebody looks. The first VD_ACCOUNT_METRICS_MAX users have metrics of
 * their own, all others share those of "other", so that the number of users does not
 * make the number of series. The document has no such bound: it names those who hold
 * most.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/metrics.h"
#include "base/vec.h"
#include "net/account_internal.h"
#include "json/escape.h"

enum { USERS_SHOWN = 200 }; /* users that the report names */

enum number { REQUESTS, WATCHES, QUEUED, TOTAL, REFUSED };

static struct vd_metric_family families[VD_ACCOUNT_NUMBERS] = {
    [REQUESTS] = VD_GAUGE_FAMILY("user_requests_in_flight",
                                 "Requests of a user that are being answered, or wait for it.",
                                 "user"),
    [WATCHES] = VD_GAUGE_FAMILY("user_watches", "Open watches of a user.", "user"),
    [QUEUED] = VD_GAUGE_FAMILY("user_queued_bytes", "Bytes that wait for a user to read them.",
                               "user"),
    [TOTAL] = VD_COUNTER_FAMILY("user_requests_total", "Requests of a user that were accepted.",
                                "user"),
    [REFUSED] = VD_COUNTER_FAMILY("user_refused_total",
                                  "Requests of a user that were answered with 429.", "user"),
};
static struct vd_metric_family rejected = VD_COUNTER_FAMILY(
    "apiserver_flowcontrol_rejected_requests_total", "Requests answered with 429, by the limit.",
    "reason");

static const char *const keys[VD_ACCOUNT_NUMBERS] = {"requests", "watches", "queuedBytes",
                                                     "requestsTotal", "refusedTotal"};

void vd_accounts_register(void)
{
    for (size_t i = 0; i < VD_ACCOUNT_NUMBERS; i++)
        vd_metric_register(&families[i]);
    vd_metric_register(&rejected);
    for (size_t i = VD_LIMIT_NONE + 1; i < VD_LIMITS_N; i++)
        VD_METRIC(&rejected, vd_account_limit_name((enum vd_account_limit)i));
}

void vd_account_count_refusal(enum vd_account_limit limit)
{
    vd_counter_add(VD_METRIC(&rejected, vd_account_limit_name(limit)), 1);
}

/* In the order of the enum. A count may be caught between two steps of another loop:
 * less than nothing is nothing. */
static void read_numbers(const struct vd_account *a, int64_t out[VD_ACCOUNT_NUMBERS])
{
    out[REQUESTS] = atomic_load(&a->requests);
    out[WATCHES] = atomic_load(&a->watches);
    out[QUEUED] = atomic_load(&a->queued_bytes);
    out[TOTAL] = (int64_t)atomic_load(&a->requests_total);
    out[REFUSED] = (int64_t)atomic_load(&a->refused_total);
    for (size_t i = 0; i < VD_ACCOUNT_NUMBERS; i++)
        if (out[i] < 0)
            out[i] = 0;
}

/* ---- metrics ---- */

static void measure_account(struct vd_accounts *book, struct vd_account *a)
{
    int64_t now[VD_ACCOUNT_NUMBERS];
    struct vd_buf name = {0};
    if (!a->has_metrics) {
        a->has_metrics = true;
        a->is_named = book->named_n < VD_ACCOUNT_METRICS_MAX;
        book->named_n += a->is_named;
    }
    vd_buf_add_slice(&name, a->is_named ? a->name : VD_SLICE("other"));
    const char *user = vd_buf_text(&name);
    read_numbers(a, now);
    for (size_t i = 0; i < VD_ACCOUNT_NUMBERS; i++) {
        struct vd_metric *metric = VD_METRIC(&families[i], user);
        int64_t more = now[i] - a->told[i];
        if (families[i].kind == VD_METRIC_GAUGE)
            vd_gauge_add(metric, more);
        else
            vd_counter_add(metric, (uint64_t)more);
        a->told[i] = now[i];
    }
    vd_buf_release(&name);
}

void vd_accounts_measure_locked(struct vd_accounts *book)
{
    size_t at = 0;
    for (struct vd_account *a; (a = vd_hash_map_next(&book->by_name, &at));)
        measure_account(book, a);
}

void vd_accounts_measure(struct vd_accounts *book)
{
    pthread_mutex_lock(&book->lock);
    vd_accounts_measure_locked(book);
    pthread_mutex_unlock(&book->lock);
}

/* ---- the document ---- */

struct row {
    struct vd_account *account; /* a reference */
    int64_t numbers[VD_ACCOUNT_NUMBERS];
};

/* Who holds more comes first: by bytes, watches, requests, then by what there was. */
static int compare(const void *a, const void *b)
{
    static const enum number order[] = {QUEUED, WATCHES, REQUESTS, REFUSED, TOTAL};
    const struct row *x = a, *y = b;
    for (size_t i = 0; i < VD_ACCOUNT_NUMBERS; i++) {
        int64_t left = x->numbers[order[i]], right = y->numbers[order[i]];
        if (left != right)
            return left < right ? 1 : -1;
    }
    return vd_slice_cmp(x->account->name, y->account->name);
}

static void add_row(struct vd_buf *out, const struct row *row)
{
    vd_buf_add_text(out, "{\"user\":");
    vd_escape_write(out, row->account->name);
    for (size_t i = 0; i < VD_ACCOUNT_NUMBERS; i++)
        vd_buf_addf(out, ",\"%s\":%lld", keys[i], (long long)row->numbers[i]);
    vd_buf_add_char(out, '}');
}

void vd_accounts_write(struct vd_accounts *book, struct vd_buf *out)
{
    VD_VEC(struct row) rows = {0};
    size_t at = 0;
    pthread_mutex_lock(&book->lock);
    for (struct vd_account *a; (a = vd_hash_map_next(&book->by_name, &at));) {
        struct row *row = VD_VEC_PUSH(&rows);
        atomic_fetch_add(&a->refs, 1);
        row->account = a;
        read_numbers(a, row->numbers);
    }
    pthread_mutex_unlock(&book->lock);
    if (rows.n > 1)
        qsort(rows.p, rows.n, sizeof *rows.p, compare);
    vd_buf_add_text(out, "{\"users\":[");
    for (size_t i = 0; i < rows.n && i < USERS_SHOWN; i++) {
        vd_buf_add_text(out, i ? "," : "");
        add_row(out, &rows.p[i]);
    }
    vd_buf_addf(out, "],\"more\":%zu}\n", rows.n > USERS_SHOWN ? rows.n - USERS_SHOWN : 0);
    for (size_t i = 0; i < rows.n; i++)
        vd_account_unref(rows.p[i].account);
    VD_VEC_RELEASE(&rows);
}
