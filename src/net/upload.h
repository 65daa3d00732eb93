/*
 * An upload: the body of a request, from the end of the head until the request's memory is freed.
 *
 * A body is not read before somebody has looked at the head (the service's `authenticate`, and then
 * the route's `admit`): who sends it must be known, and there must be room for all of it, which is
 * reserved at once. What is reserved is charged to the user's account and to the book of all
 * accounts; so uploads that have begun can always be finished, and no number of them takes more
 * memory than the limits say. A request that came whole with its first read and is small needs none
 * of this.
 *
 * All on the loop's thread; the counters are atomic.
 */
#ifndef VD_NET_UPLOAD_H
#define VD_NET_UPLOAD_H

#include "net/account.h"

/* What the handler found out, kept until somebody frees it. */
struct vd_memo {
    void *what; /* NULL: nothing yet */
    void (*free)(void *what);
};

/* Zeroed, nothing is reserved. */
struct vd_upload {
    bool is_admitted;           /* the body may be read */
    struct vd_memo client;      /* the handler's: who sends it, for when it has come */
    struct vd_account *account; /* a reference: whose `len` is; NULL: nothing is reserved */
    size_t len;
};

/* The most that the request can take: head and body, or the most that a body may have where the
 * head does not tell. */
size_t vd_upload_len(const struct vd_http_head *head, uint64_t body_len_max);

/* The most that a request takes whose body its handler reads as it arrives: its head, the read
 * buffer and what waits for a program that the handler gives it to. */
size_t vd_upload_reader_len(const struct vd_http_head *head);

/* Reserves so many bytes; on refusal nothing, and it is counted. */
enum vd_account_limit vd_upload_reserve(struct vd_upload *upload, struct vd_account *account,
                                        enum vd_rank rank, size_t len) VD_MUST_USE;

/* Gives back what is reserved and frees the memo. */
void vd_upload_release(struct vd_upload *upload);

#endif
