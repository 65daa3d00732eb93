/*
 * /metrics: what is counted all the time (base/metrics.h), with what is only looked at
 * when somebody asks: the store, the process, how far the loops are behind.
 */
#ifndef VD_SERVER_METRICS_H
#define VD_SERVER_METRICS_H

#include <pthread.h>
#include <stddef.h>

#include "base/buf.h"
#include "net/account.h"
#include "store/store.h"

struct vd_metric;

struct vd_metrics_desk {
    struct vd_store *store;
    const char *folder; /* with log.db; NULL: the store has no file. Borrowed */
    size_t loops_n;
    struct vd_accounts *accounts;
    struct vd_metric *logins, *failed_logins; /* counted by who asks for credentials */
    pthread_mutex_t lock; /* one scrape at a time: counters are brought up to date in steps */
};

/* Registers all families, so that they are seen at zero; the caller then sets the
 * fields. */
void vd_metrics_desk_init(struct vd_metrics_desk *desk);
void vd_metrics_desk_release(struct vd_metrics_desk *desk);

/* Adds the text of a scrape; `arg` is the desk. Any thread. */
void vd_metrics_desk_write(void *arg, struct vd_buf *out);

/* Adds who uses what; `arg` is the desk. Any thread. */
void vd_metrics_desk_usage(void *arg, struct vd_buf *out);

#endif
