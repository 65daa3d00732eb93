/*
 * Accounts: what each user holds of the server, and how much that may be.
 *
 * There is one account for each user name, in one book for all loops. An account counts
 * requests in flight, open watches, bytes that wait to be sent and bytes of requests that
 * are received; all are atomic, since a user's connections are on all loops. It also has the user's
 * flows on each loop, for its turns (turn_queue.h) and for the workers (worker_pool.h), which that
 * loop alone touches.
 *
 * Life. The book owns its accounts and finds them by name under a lock. A connection
 * keeps the account of its last request, so the lock is taken once for a connection, not
 * for a request. An account that nobody refers to stays, for its counters, until there
 * are more than VD_ACCOUNTS_MAX.
 *
 * Charging. An exchange is charged when its request is accepted
 * (vd_exchange_charge), turns into a watch when it becomes one, and is discharged when
 * its answer is complete or its client gone (vd_exchange_discharge, from the service's
 * `finished`, which is called for every exchange, once). Bytes are charged to the
 * account of the connection as they are queued, and discharged when they are no longer held
 * (vd_output_charge). Over HTTP/2 they wait with their stream first, and are
 * charged to the account of its request for so long.
 *
 * Rank. Ordinary users may take three quarters of what there is in total; the rest is
 * reserved for the system's own traffic and for administrators, who are not bound by the
 * limits of single users either.
 */
#ifndef VD_NET_ACCOUNT_H
#define VD_NET_ACCOUNT_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/hash_map.h"
#include "base/limits.h"
#include "net/exchange.h"
#include "net/turn_queue.h"
#include "net/worker_pool.h"

enum vd_rank {
    VD_RANK_ORDINARY,
    VD_RANK_SYSTEM, /* may use what is reserved */
    VD_RANK_ADMIN,  /* and is not bound by the limits of one user */
};

/* What may be refused, and why. */
enum vd_account_limit {
    VD_LIMIT_NONE,
    VD_LIMIT_USER_REQUESTS,
    VD_LIMIT_REQUESTS,
    VD_LIMIT_USER_WATCHES,
    VD_LIMIT_WATCHES,
    VD_LIMIT_USER_QUEUED,
    VD_LIMIT_USER_BODIES,
    VD_LIMIT_BODIES,
    VD_LIMITS_N,
};

/* "user-requests": as the settings are called, without their group. */
const char *vd_account_limit_name(enum vd_account_limit limit);

struct vd_account_limits {
    uint64_t user_requests, user_watches, user_queued_bytes; /* of one user */
    uint64_t requests, watches, queued_bytes;                /* of all together */
    uint64_t user_body_bytes, body_bytes; /* of one user, and of all; see upload.h */
};

struct vd_accounts;

enum { VD_ACCOUNT_NUMBERS = 5 }; /* that are told of an account */

/* What a user has on one loop, which that loop alone touches. */
struct vd_account_loop {
    struct vd_turn_flow turn_flow;
    struct vd_worker_flow worker_flow;
};

struct vd_account {
    struct vd_accounts *book;
    _Atomic uint32_t refs; /* grows under the book's lock only */
    _Atomic int64_t requests;
    _Atomic int64_t watches;
    _Atomic int64_t queued_bytes;
    _Atomic int64_t body_bytes; /* reserved for bodies of requests */
    _Atomic uint64_t requests_total;
    _Atomic uint64_t refused_total;
    struct vd_slice name;
    /* Under the book's lock: */
    uint64_t idle_ns;                 /* since when nobody is known to refer to it; 0: not */
    bool has_metrics, is_named;       /* it has been told of, by its own name */
    int64_t told[VD_ACCOUNT_NUMBERS]; /* what has been told */
    struct vd_account_loop loops[];   /* one for each; the name stands behind them */
};

struct vd_accounts {
    struct vd_account_limits limits;
    size_t loops_n;
    struct vd_account *strangers; /* who has not said who he is, or not truly */
    _Atomic int64_t requests;
    _Atomic int64_t watches;
    _Atomic int64_t queued_bytes;
    _Atomic int64_t body_bytes;
    pthread_mutex_t lock; /* guards what follows; held for a look-up, or a walk for the metrics */
    struct vd_hash_map by_name;
    size_t named_n; /* accounts that have had metrics of their own; likewise */
};

void vd_accounts_init(struct vd_accounts *book, const struct vd_account_limits *limits,
                      size_t loops_n);

/* When all connections are closed and freed. */
void vd_accounts_release(struct vd_accounts *book);

/* The account of a user, with a reference. Any thread. Beyond VD_ACCOUNTS_MAX that are
 * in use, users share one account. */
struct vd_account *vd_accounts_get(struct vd_accounts *book, struct vd_slice name) VD_MUST_USE;
struct vd_account *vd_account_ref(struct vd_account *account);
void vd_account_unref(struct vd_account *account); /* NULL allowed */

static inline struct vd_turn_flow *vd_account_turn_flow(struct vd_account *account,
                                                        size_t loop_index)
{
    return &account->loops[loop_index].turn_flow;
}

static inline struct vd_worker_flow *vd_account_worker_flow(struct vd_account *account,
                                                            size_t loop_index)
{
    return &account->loops[loop_index].worker_flow;
}

/* ---- exchanges; on their loop ---- */

/* Charges a request to an account, which it then refers to, in place of what it was
 * charged to before. What is refused is charged to nothing, and counted. */
enum vd_account_limit vd_exchange_charge(struct vd_exchange *x, struct vd_account *account,
                                         enum vd_rank rank) VD_MUST_USE;

/* Counts a refusal for a reason that the caller has seen. */
void vd_account_refuse(struct vd_account *account, enum vd_account_limit limit);

/* Turns a charged request into a watch. If it is refused, it stays a request. An exchange
 * that was never charged is free. */
enum vd_account_limit vd_exchange_charge_watch(struct vd_exchange *x) VD_MUST_USE;

/* It is over. Does nothing to one that is not charged. */
void vd_exchange_discharge(struct vd_exchange *x);

/* Whether so much waits for the user that no more should be queued for a stream that does not
 * read: his other streams read what this one would make wait. Then his lists are refused,
 * and a stream of which he has taken nothing for VD_HTTP_SEND_MS is broken off. */
bool vd_exchange_is_over(const struct vd_exchange *x);

/* Whether so much waits for the user, or for all, that nothing more may be queued, whoever reads:
 * twice as much as makes the user one who is over, or as much as there may be in all and more.
 * Then all his requests are refused. */
bool vd_exchange_is_full(const struct vd_exchange *x);

/* The same of an account, for what is sent in no exchange of its own. NULL: neither. */
bool vd_account_is_over(const struct vd_account *account, enum vd_rank rank);
bool vd_account_is_full(const struct vd_account *account, enum vd_rank rank);

/* So many bytes more, or less, are held for the exchange that are not in its output: a page that
 * is being gathered, a body that is being compressed. They count as those that wait to be sent,
 * until the exchange is discharged. */
void vd_exchange_hold(struct vd_exchange *x, int64_t n);

/* The connection's bytes are this account's from now on; NULL: nobody's. */
void vd_connection_belongs_to(struct vd_connection *connection, struct vd_account *account,
                              enum vd_rank rank);

/* So many bytes more, or less, are queued. NULL allowed. */
static inline void vd_account_queue(struct vd_account *account, int64_t n)
{
    if (!account)
        return;
    atomic_fetch_add_explicit(&account->queued_bytes, n, memory_order_relaxed);
    atomic_fetch_add_explicit(&account->book->queued_bytes, n, memory_order_relaxed);
}

/* ---- who uses what ---- */

/* Registers the families of metrics. */
void vd_accounts_register(void);

/* Brings the metrics up to date. One thread at a time. */
void vd_accounts_measure(struct vd_accounts *book);

/* Adds {"users":[{"user":..,"requests":..},...]}, those who hold most first. */
void vd_accounts_write(struct vd_accounts *book, struct vd_buf *out);

#endif
