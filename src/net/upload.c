/* See upload.h. */
#include "net/upload.h"

#include <assert.h>

enum { RESERVE = 4 }; /* one part of so many is not for ordinary users; see account.h */

size_t vd_upload_len(const struct vd_http_head *head, uint64_t body_len_max)
{
    return head->used + (size_t)(head->has_length ? head->length : body_len_max);
}

size_t vd_upload_reader_len(const struct vd_http_head *head)
{
    return head->used + VD_HTTP_BODY_BUFFER_LEN + VD_PROCESS_BACKLOG_MAX;
}

static int64_t add(_Atomic int64_t *counter, int64_t n)
{
    return atomic_fetch_add_explicit(counter, n, memory_order_relaxed) + n;
}

enum vd_account_limit vd_upload_reserve(struct vd_upload *u, struct vd_account *a,
                                        enum vd_rank rank, size_t len)
{
    const struct vd_account_limits *limits = &a->book->limits;
    assert(!u->account);
    uint64_t total = limits->body_bytes;
    uint64_t room = rank == VD_RANK_ORDINARY ? total - total / RESERVE : total;
    int64_t own = add(&a->body_bytes, (int64_t)len);
    int64_t all = add(&a->book->body_bytes, (int64_t)len);
    enum vd_account_limit limit = VD_LIMIT_NONE;
    if (rank != VD_RANK_ADMIN && own > (int64_t)limits->user_body_bytes)
        limit = VD_LIMIT_USER_BODIES;
    else if (all > (int64_t)room)
        limit = VD_LIMIT_BODIES;
    if (limit) {
        add(&a->body_bytes, -(int64_t)len);
        add(&a->book->body_bytes, -(int64_t)len);
        vd_account_refuse(a, limit);
        return limit;
    }
    u->account = vd_account_ref(a);
    u->len = len;
    return VD_LIMIT_NONE;
}

void vd_upload_release(struct vd_upload *u)
{
    if (u->account) {
        add(&u->account->body_bytes, -(int64_t)u->len);
        add(&u->account->book->body_bytes, -(int64_t)u->len);
        vd_account_unref(u->account);
    }
    if (u->client.what)
        u->client.free(u->client.what);
    *u = (struct vd_upload){0};
}
