/*
 * An exchange: one request and its answer.
 *
 * The handler of its route is called on the loop when a request has arrived whole. It
 * answers at once, or later, or with a stream:
 *
 *   vd_exchange_respond()   the whole answer
 *   vd_exchange_stream()    a head; then vd_exchange_send() ..., vd_exchange_end()
 *
 * Whoever answers later sets `ops` and `arg`: `gone` tells it that the client has
 * left and that the exchange must not be touched any more. Nothing here says how
 * the bytes travel: it is the same over HTTP/1.1 and HTTP/2.
 *
 * Streamed bodies. Where the route says `streams_body`, its handler is called when the head has
 * come, `body` is empty, and the handler reads the body as it arrives:
 *
 *   vd_exchange_read_body()     from now on `piece` is called, and at last `end`
 *   vd_exchange_pause_body()    no more of it, until vd_exchange_resume_body()
 *
 * No more of it is kept than one read buffer, VD_HTTP_BODY_BUFFER_LEN: a client whose body is
 * paused cannot send on, while other exchanges of an HTTP/2 connection go on. The answer may begin
 * and end at any time. If it ends before the body does, the rest of the body is of no interest:
 * over HTTP/1.1 the connection ends with the answer unless all of the body has come, over HTTP/2
 * the client may send on for VD_HTTP_LINGER_MS.
 *
 * A body that breaks - the client leaves, the framing is wrong, it is larger than the route allows,
 * nothing of it comes for VD_HTTP_BODY_IDLE_MS - ends the exchange with `gone`. If no answer was
 * begun, the client gets one by the route's `refuse` (400, 413 or 408) behind the face's back.
 *
 * All on the loop's thread.
 */
#ifndef VD_NET_EXCHANGE_H
#define VD_NET_EXCHANGE_H

#include "base/bytes.h"
#include "net/http_head.h"
#include "net/http_write.h"
#include "net/loop.h"

struct vd_account;
struct vd_body_reader;
struct vd_connection;
struct vd_exchange;
struct vd_route;
struct vd_stream;
struct vd_upload;
struct vd_user;

struct vd_exchange_ops {
    /* A stream's backlog has been sent; asked for by vd_exchange_await_drain(). */
    void (*drained)(struct vd_exchange *x);
    /* The client has left before the answer was complete. Last call. */
    void (*gone)(struct vd_exchange *x);
};

/* Of an exchange whose body is read as it arrives. The calls come from the loop and never from
 * inside vd_exchange_read_body() or vd_exchange_resume_body(). Each may answer, end or abort the
 * exchange, and then no further one comes. */
struct vd_body_ops {
    /* The next bytes, borrowed for the call; at least one. */
    void (*piece)(struct vd_exchange *x, struct vd_slice bytes);
    /* The body is complete. Not while it is paused. */
    void (*end)(struct vd_exchange *x);
};

/* Of an exchange that was upgraded. */
struct vd_upgrade_ops {
    struct vd_exchange_ops exchange; /* first */
    /* Bytes have come, borrowed for the call. */
    void (*received)(struct vd_exchange *x, struct vd_slice bytes);
};

struct vd_exchange {
    struct vd_connection *connection;
    struct vd_stream *stream; /* of HTTP/2 whose exchange it is; NULL: the connection's own */
    struct vd_loop *loop;
    const struct vd_http_head *head; /* good until the answer is complete, or forgotten */
    struct vd_slice body;            /* likewise */
    struct vd_upload *upload;        /* likewise; NULL: nobody was asked before the body came */
    struct vd_body_reader *reader;   /* of a body that is read as it arrives; NULL: it has come */
    const struct vd_route *route;    /* that it belongs to; see route.h */
    /* Who sends the request, or in whose name it is sent; NULL: nobody was asked. Whoever has set
     * it sees to the reference; this layer does not look into it. */
    struct vd_user *user;
    bool user_is_borrowed; /* the upload has the reference; likewise */
    const struct vd_exchange_ops *ops;
    void *arg;
    void *request_info; /* the handler's, until the service's `finished`, which lets go of it */
    /* One more header of the answer, whoever gives it; borrowed until then. NULL: none. */
    const struct vd_http_field *stamp;
    uint64_t start_ns; /* when the request was complete; its head, where the body is streamed */
    /* See account.h: */
    struct vd_account *account; /* that it is charged to; NULL: to none */
    unsigned char rank;         /* enum vd_rank */
    bool is_watch;              /* and as what */
    int64_t held;               /* bytes that it holds beside its output */
    /* For logs and metrics: */
    unsigned status;
    const char *protocol; /* "HTTP/1.1", say; constant */
    uint64_t sent_len;    /* bytes of the answer, head included, that were given to be sent */
};

/* An answer. Slices are borrowed for the call. */
struct vd_response {
    unsigned status;
    struct vd_slice content_type;       /* empty: no body is described */
    const struct vd_http_field *fields; /* further headers */
    size_t fields_n;
    struct vd_slice body;
    struct vd_bytes *shared; /* not NULL: sent before the body; the reference is taken over */
    bool close;              /* and then no more on this connection */
};

void vd_exchange_respond(struct vd_exchange *x, const struct vd_response *response);

/* Instead of an answer, by whom the route's `admit` asks: the body is to be read. The exchange
 * comes back to `handle` when it has arrived; until then it must not be touched. */
void vd_exchange_receive(struct vd_exchange *x);

/* In `handle` of a route that streams bodies, or later, once: the body is to be given to `ops`,
 * borrowed until the exchange ends. Sends 100 Continue if the client waits for it. Works for
 * requests without a body, too: then only `end` is called. x->ops must be set, for `gone`. */
void vd_exchange_read_body(struct vd_exchange *x, const struct vd_body_ops *ops);

/* After vd_exchange_read_body(); also when the body has ended. Calls do not add up. */
void vd_exchange_pause_body(struct vd_exchange *x);
void vd_exchange_resume_body(struct vd_exchange *x);

/* The head of a streamed answer; `response` has no body. */
void vd_exchange_stream(struct vd_exchange *x, const struct vd_response *response);

/*
 * Answers 101, with the headers of `response` but for Connection: from then on all bytes of the
 * connection belong to the exchange's owner. Those that come are given to `received`, from the end
 * of the turn on; those that vd_exchange_send() is given are sent as they are; vd_exchange_end()
 * and vd_exchange_abort() end the connection. The request is forgotten, and `ops`, borrowed for as
 * long as the exchange lives, become the exchange's.
 *
 * False: this cannot be done - over HTTP/2 and HTTP/1.0, or while the server stops - and the
 * exchange is still to be answered.
 */
bool vd_exchange_upgrade(struct vd_exchange *x, const struct vd_response *response,
                         const struct vd_upgrade_ops *ops) VD_MUST_USE;

/* Bytes of a streamed answer. The reference is taken over, and any number of exchanges may send
 * the same bytes: what the protocol puts around them is not part of them. They are sent at the end
 * of the turn. */
void vd_exchange_send(struct vd_exchange *x, struct vd_bytes *bytes);

/* Ends a streamed answer. */
void vd_exchange_end(struct vd_exchange *x);

/* Breaks an answer off: the client sees an incomplete one. `gone` is not called, and
 * the exchange must not be touched any more. */
void vd_exchange_abort(struct vd_exchange *x);

/* Whether its connection is the only one of its loop. */
bool vd_exchange_is_alone(const struct vd_exchange *x);

/* Bytes that are waiting to be sent. */
size_t vd_exchange_backlog(const struct vd_exchange *x);

/* ops->drained is called once, at the end of the turn in which the backlog has
 * been sent: of this one, when there is none. */
void vd_exchange_await_drain(struct vd_exchange *x);

/* Frees the request's memory: a stream that lives for hours does not need it. Does nothing while a
 * body is read as it arrives. */
void vd_exchange_forget_request(struct vd_exchange *x);

#endif
