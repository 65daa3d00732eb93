/*
 * What a scrape of the metrics shows: what is counted all the time (base/metrics.h), with what is
 * only looked at when somebody asks: the store, the process, how far the loops are behind.
 */
#ifndef VD_SERVER_METRICS_H
#define VD_SERVER_METRICS_H

#include <pthread.h>
#include <stddef.h>

#include "base/buf.h"
#include "net/account.h"
#include "store/store.h"

struct vd_metric;

struct vd_server_metrics {
    struct vd_store *store;
    const char *folder; /* with log.db; NULL: the store has no file. Borrowed */
    size_t loops_n;
    struct vd_accounts *accounts;
    struct vd_metric *logins, *failed_logins; /* counted by who asks for credentials */
    pthread_mutex_t lock; /* one scrape at a time: counters are brought up to date in steps */
};

/* Registers the families, so that they are seen at zero; the caller then sets the fields. `release`
 * is the program's version. Faces register their own. */
void vd_server_metrics_init(struct vd_server_metrics *metrics, const char *release);
void vd_server_metrics_release(struct vd_server_metrics *metrics);

/* Adds the text of a scrape. Any thread. */
void vd_server_metrics_write(struct vd_server_metrics *metrics, struct vd_buf *out);

/* Adds who uses what, as JSON. Any thread. */
void vd_server_metrics_usage(const struct vd_server_metrics *metrics, struct vd_buf *out);

#endif
