/*
 * The reader of a request's body that is given to a handler as it arrives; see exchange.h.
 *
 * A protocol makes one when the head of such a request has come, adds the body's bytes to it as
 * they come, and has them given when nothing else of the protocol is at work. It lets no more come
 * than VD_HTTP_BODY_BUFFER_LEN before they are given. The reader sees to the idle timeout.
 *
 * For src/net only. All on the loop's thread.
 */
#ifndef VD_NET_BODY_READER_H
#define VD_NET_BODY_READER_H

#include "base/buf.h"
#include "net/exchange.h"
#include "net/http_refusal.h"

struct vd_body_reader {
    struct vd_exchange *x;
    const struct vd_body_ops *ops; /* NULL: nobody reads it yet */
    struct vd_buf bytes;           /* of the body, that have come and were not given */
    uint64_t total;                /* that have come; of HTTP/2, where no decoder counts them */
    enum vd_http_refusal refusal;  /* what is wrong with it; the protocol's */
    bool is_paused;
    bool is_whole;  /* its last byte has come */
    bool is_told;   /* `end` has been called */
    bool is_giving; /* a call of `ops` is further up the stack */
    bool is_freed;  /* since then */
    struct vd_timer idle;
};

/* Sets x->reader. */
struct vd_body_reader *vd_body_reader_new(struct vd_exchange *x);

/* Frees x->reader, if there is one, also from inside a call of its ops. */
void vd_body_reader_free(struct vd_exchange *x);

/* How long a body may be, by its route. */
uint64_t vd_body_reader_len_max(const struct vd_route *route);

/* Whether the protocol should let more of it come. */
static inline bool vd_body_reader_is_hungry(const struct vd_body_reader *r)
{
    return r->ops && !r->is_paused && !r->is_whole && r->bytes.n == 0;
}

/* Gives what has come, and the end, unless it is paused. True: the exchange still reads; *given is
 * the number of bytes that were given. False: it has ended, and the reader with it. */
bool vd_body_reader_give(struct vd_body_reader *r, size_t *given) VD_MUST_USE;

/* The body is wrong, too long or too slow: the handler is told `gone`, and the client gets a
 * refusal, if it was not answered yet. The exchange has ended then. */
void vd_body_reader_break(struct vd_body_reader *r, enum vd_http_refusal why);

#endif
