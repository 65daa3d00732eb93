/*
 * See account.h. Counting is by relaxed atomics: a limit may be passed by as many as
 * there are loops for a moment, which is what a limit of hundreds can bear.
 */
#include "net/account.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/vec.h"
#include "net/account_internal.h"
#include "net/connection_internal.h"
#include "net/output.h"

enum {
    RESERVE = 4,    /* one part of so many is not for ordinary users */
    FAIR_SHARE = 16 /* of the total queue, that a user may have when it is full */
};

#define IDLE_NS UINT64_C(10000000000)

static const char *const limit_names[VD_LIMITS_N] = {
    [VD_LIMIT_NONE] = "",
    [VD_LIMIT_USER_REQUESTS] = "user-requests",
    [VD_LIMIT_REQUESTS] = "requests",
    [VD_LIMIT_USER_WATCHES] = "user-watches",
    [VD_LIMIT_WATCHES] = "watches",
    [VD_LIMIT_USER_QUEUED] = "user-queued-bytes",
    [VD_LIMIT_USER_BODIES] = "user-body-bytes",
    [VD_LIMIT_BODIES] = "body-bytes",
};

const char *vd_account_limit_name(enum vd_account_limit limit)
{
    return limit_names[limit];
}

/* ---- the book ---- */

static struct vd_slice account_name(const void *item)
{
    return ((const struct vd_account *)item)->name;
}

static struct vd_account *account_new(struct vd_accounts *book, struct vd_slice name)
{
    size_t loops_len = book->loops_n * sizeof(struct vd_account_loop);
    struct vd_account *a = vd_calloc(1, sizeof *a + loops_len + name.n);
    char *text = (char *)a->loops + loops_len;
    memcpy(text, name.p, name.n);
    a->book = book;
    a->name = vd_slice(text, name.n);
    atomic_init(&a->refs, 1);
    vd_hash_map_put(&book->by_name, a);
    return a;
}

void vd_accounts_init(struct vd_accounts *book, const struct vd_account_limits *limits,
                      size_t loops_n)
{
    *book = (struct vd_accounts){.limits = *limits, .loops_n = loops_n};
    pthread_mutex_init(&book->lock, NULL);
    vd_hash_map_init(&book->by_name, account_name);
    book->strangers = account_new(book, VD_SLICE("system:unauthenticated"));
}

void vd_accounts_release(struct vd_accounts *book)
{
    size_t at = 0;
    if (!book->strangers)
        return;
    for (struct vd_account *a; (a = vd_hash_map_next(&book->by_name, &at));)
        free(a);
    vd_hash_map_release(&book->by_name);
    pthread_mutex_destroy(&book->lock);
    *book = (struct vd_accounts){0};
}

/* Makes room by forgetting those that nobody has referred to for a while: a loop may still
 * be at work in the flow of one that was just let go. */
static void forget_idle(struct vd_accounts *book)
{
    VD_VEC(struct vd_account *) idle = {0};
    uint64_t now_ns = vd_clock_mono_ns(vd_clock_system());
    size_t at = 0;
    vd_accounts_measure_locked(book); /* what they have counted is not lost */
    for (struct vd_account *a; (a = vd_hash_map_next(&book->by_name, &at));)
        if (atomic_load(&a->refs))
            a->idle_ns = 0;
        else if (!a->idle_ns)
            a->idle_ns = now_ns;
        else if (now_ns - a->idle_ns >= IDLE_NS)
            *VD_VEC_PUSH(&idle) = a;
    for (size_t i = 0; i < idle.n; i++) {
        vd_hash_map_remove(&book->by_name, idle.p[i]->name);
        free(idle.p[i]);
    }
    VD_VEC_RELEASE(&idle);
}

struct vd_account *vd_accounts_get(struct vd_accounts *book, struct vd_slice name)
{
    pthread_mutex_lock(&book->lock);
    struct vd_account *a = vd_hash_map_get(&book->by_name, name);
    if (!a && vd_hash_map_count(&book->by_name) >= VD_ACCOUNTS_MAX)
        forget_idle(book);
    if (!a && vd_hash_map_count(&book->by_name) >= VD_ACCOUNTS_MAX) {
        name = VD_SLICE("other");
        a = vd_hash_map_get(&book->by_name, name);
    }
    if (a) {
        atomic_fetch_add(&a->refs, 1);
        a->idle_ns = 0;
    } else {
        a = account_new(book, name);
    }
    pthread_mutex_unlock(&book->lock);
    return a;
}

struct vd_account *vd_account_ref(struct vd_account *a)
{
    uint32_t before = atomic_fetch_add(&a->refs, 1);
    assert(before > 0);
    (void)before;
    return a;
}

void vd_account_unref(struct vd_account *a)
{
    if (!a)
        return;
    uint32_t before = atomic_fetch_sub(&a->refs, 1);
    assert(before > 0);
    (void)before;
}

/* ---- exchanges ---- */

static int64_t add(_Atomic int64_t *counter, int64_t n)
{
    return atomic_fetch_add_explicit(counter, n, memory_order_relaxed) + n;
}

static int64_t get(const _Atomic int64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

void vd_account_refuse(struct vd_account *a, enum vd_account_limit limit)
{
    atomic_fetch_add_explicit(&a->refused_total, 1, memory_order_relaxed);
    vd_account_count_refusal(limit);
}

/* What of a total is there for this rank. */
static int64_t room(uint64_t total, enum vd_rank rank)
{
    return (int64_t)(rank == VD_RANK_ORDINARY ? total - total / RESERVE : total);
}

void vd_exchange_hold(struct vd_exchange *x, int64_t n)
{
    if (!x->account)
        return;
    x->held += n;
    vd_account_queue(x->account, n);
}

static bool is_over(const struct vd_account *a, enum vd_rank rank)
{
    const struct vd_account_limits *limits = &a->book->limits;
    int64_t own = get(&a->queued_bytes), total = (int64_t)limits->queued_bytes;
    return (rank != VD_RANK_ADMIN && own >= (int64_t)limits->user_queued_bytes) ||
           (own >= total / FAIR_SHARE && get(&a->book->queued_bytes) >= total);
}

static bool is_full(const struct vd_account *a, enum vd_rank rank)
{
    const struct vd_account_limits *limits = &a->book->limits;
    int64_t own = get(&a->queued_bytes), total = (int64_t)limits->queued_bytes;
    int64_t beyond = rank == VD_RANK_ORDINARY ? total / RESERVE : 2 * (total / RESERVE);
    return (rank != VD_RANK_ADMIN && own / 2 >= (int64_t)limits->user_queued_bytes) ||
           get(&a->book->queued_bytes) >= total + beyond;
}

enum vd_account_limit vd_exchange_charge(struct vd_exchange *x, struct vd_account *a,
                                         enum vd_rank rank)
{
    const struct vd_account_limits *limits = &a->book->limits;
    if (x->account == a && !x->is_watch && !is_full(a, rank)) {
        x->rank = (unsigned char)rank;
        return VD_LIMIT_NONE;
    }
    vd_exchange_discharge(x);
    int64_t own = add(&a->requests, 1), all = add(&a->book->requests, 1);
    enum vd_account_limit limit = VD_LIMIT_NONE;
    if (rank != VD_RANK_ADMIN && own > (int64_t)limits->user_requests)
        limit = VD_LIMIT_USER_REQUESTS;
    else if (all > room(limits->requests, rank))
        limit = VD_LIMIT_REQUESTS;
    else if (is_full(a, rank)) /* the answer would have to wait, too */
        limit = VD_LIMIT_USER_QUEUED;
    if (limit) {
        add(&a->requests, -1);
        add(&a->book->requests, -1);
        vd_account_refuse(a, limit);
        return limit;
    }
    atomic_fetch_add_explicit(&a->requests_total, 1, memory_order_relaxed);
    x->account = vd_account_ref(a);
    x->rank = (unsigned char)rank;
    x->is_watch = false;
    return VD_LIMIT_NONE;
}

enum vd_account_limit vd_exchange_charge_watch(struct vd_exchange *x)
{
    struct vd_account *a = x->account;
    if (!a || x->is_watch)
        return VD_LIMIT_NONE;
    const struct vd_account_limits *limits = &a->book->limits;
    int64_t own = add(&a->watches, 1), all = add(&a->book->watches, 1);
    enum vd_account_limit limit = VD_LIMIT_NONE;
    if (x->rank != VD_RANK_ADMIN && own > (int64_t)limits->user_watches)
        limit = VD_LIMIT_USER_WATCHES;
    else if (all > room(limits->watches, (enum vd_rank)x->rank))
        limit = VD_LIMIT_WATCHES;
    if (limit) {
        add(&a->watches, -1);
        add(&a->book->watches, -1);
        vd_account_refuse(a, limit);
        return limit;
    }
    add(&a->requests, -1);
    add(&a->book->requests, -1);
    x->is_watch = true;
    return VD_LIMIT_NONE;
}

void vd_exchange_discharge(struct vd_exchange *x)
{
    struct vd_account *a = x->account;
    if (!a)
        return;
    add(x->is_watch ? &a->watches : &a->requests, -1);
    add(x->is_watch ? &a->book->watches : &a->book->requests, -1);
    vd_exchange_hold(x, -x->held);
    x->account = NULL;
    vd_account_unref(a);
}

bool vd_account_is_over(const struct vd_account *a, enum vd_rank rank)
{
    return a && is_over(a, rank);
}

bool vd_account_is_full(const struct vd_account *a, enum vd_rank rank)
{
    return a && is_full(a, rank);
}

bool vd_exchange_is_over(const struct vd_exchange *x)
{
    return vd_account_is_over(x->account, (enum vd_rank)x->rank);
}

bool vd_exchange_is_full(const struct vd_exchange *x)
{
    return vd_account_is_full(x->account, (enum vd_rank)x->rank);
}

void vd_connection_belongs_to(struct vd_connection *c, struct vd_account *a, enum vd_rank rank)
{
    c->rank = (unsigned char)rank;
    if (a)
        vd_connection_set_has_user(c);
    if (c->account == a)
        return;
    vd_output_recharge(c, a);
    vd_account_unref(c->account);
    c->account = a ? vd_account_ref(a) : NULL;
}
