/*
 * A connection: a transport on a loop that speaks HTTP/1.1, one exchange after
 * the other, or HTTP/2, many at a time, or what an exchange was upgraded to (protocol.h).
 * It never moves to another loop.
 *
 * A client that has shut down its side of the connection still gets the answers to
 * what it has asked, but a stream to it ends: nobody could tell it from one that
 * has left.
 */
#ifndef VD_NET_CONNECTION_H
#define VD_NET_CONNECTION_H

#include "base/vec.h"
#include "net/exchange.h"
#include "net/http_body.h"
#include "net/peer.h"
#include "net/route.h"
#include "net/transport.h"
#include "net/upload.h"

struct vd_http2;
struct vd_http_service;
struct vd_protocol;
struct vd_ticket;
struct vd_turn_queue;

enum vd_connection_state {
    VD_CONNECTION_HANDSHAKE,
    VD_CONNECTION_IDLE,     /* waiting for a request's first byte */
    VD_CONNECTION_HEAD,     /* reading a head */
    VD_CONNECTION_BODY,     /* reading a body */
    VD_CONNECTION_ANSWER,   /* the handler has the request; the answer is not complete */
    VD_CONNECTION_STREAMS,  /* it speaks HTTP/2, whose streams have their own states */
    VD_CONNECTION_UPGRADED, /* its bytes belong to whoever has upgraded its exchange */
    VD_CONNECTION_CLOSING,  /* only the backlog is still to be sent */
    VD_CONNECTION_LINGER,   /* all is sent; a close now could take it back from the client */
    VD_CONNECTION_CLOSED,
};

/* Bytes that wait to be sent. They stay in memory, all of them, until the last has been sent, and
 * that is how long they are charged for: see vd_output_charge(). */
struct vd_output {
    struct vd_bytes *bytes; /* a reference */
    size_t from, end;       /* what is still to be sent of it */
    size_t charge;
    /* Of bytes that are a chunk of HTTP/1.1: how much is still to be sent of the line before them
     * and of the line end behind them; else 0. The line is made when it is sent. */
    unsigned char line_len, tail_len;
};

/* What only a request in progress needs; an idle or streaming connection has none.
 * `bytes` holds the head, then the decoded body, then what has not been looked at. It stays
 * where it is while the request is answered, for whoever has borrowed head and body; what
 * arrives meanwhile goes into `later`. */
struct vd_intake {
    struct vd_http_head head;
    const struct vd_route *route; /* when the head is whole */
    struct vd_http_body framing;
    struct vd_buf bytes, later;
    size_t body_end; /* of the decoded body */
    size_t next_at;  /* where the next request starts */
    size_t counted;  /* bytes that stand in the service's strangers_len */
    struct vd_upload upload;
};

struct vd_connection {
    struct vd_loop *loop;
    struct vd_http_service *service;
    const struct vd_protocol *protocol; /* see protocol.h */
    struct vd_transport transport;
    uv_poll_t poll;
    int events; /* that poll is set for */
    enum vd_connection_state state;
    bool fresh; /* plain, and not yet known to speak the one protocol or the other */
    bool keep_alive;
    bool streaming;
    bool chunked; /* the stream is framed; HTTP/1.0 clients get plain bytes and a close */
    bool head_only;
    bool await_drain;
    bool is_dirty;    /* stands in the service's list of connections to flush */
    bool processing;  /* the loop over received bytes is running further up the stack */
    bool admitting;   /* `admit` has the request; its body is not read meanwhile */
    bool paused;      /* received requests wait: their turn comes when output has left */
    bool peer_done;   /* the client has sent its last byte, and it was read */
    bool eof_pending; /* the client has ended its side; bytes before the end are still unread */
    bool progressed;  /* bytes have left since the deadline was set */
    bool has_user;    /* a request of it was charged to a user: it is no stranger */
    bool handshake_queued;         /* a step of its handshake waits for its turn */
    unsigned char handshake_steps; /* steps that its handshake has had; 2: or more */
    struct vd_peer peer;
    struct vd_intake *intake;
    struct vd_exchange exchange;
    struct vd_memo memo;        /* the handler's: who the client is, for its next requests */
    struct vd_http2 *http2;     /* while STREAMS; else NULL */
    struct vd_ticket *ticket;   /* what it has sent waits for its turn; else NULL */
    struct vd_account *account; /* whose bytes are queued: the last request's; NULL: nobody's */
    unsigned char rank;         /* enum vd_rank, of the same */
    struct vd_timer deadline;
    VD_VEC(struct vd_output) output;
    size_t output_first;
    size_t backlog;
    /* Its neighbours in the service's list of connections to flush (`dirty`) or, while
     * `handshake_queued`, in the queue of handshakes. It must not be in both. */
    struct vd_connection *prev_queued, *next_queued;
    struct vd_connection *prev, *next; /* of those known, or of strangers */
};

/* How long a client may take, in milliseconds; see limits.h. */
struct vd_http_deadlines {
    uint64_t handshake_ms;
    uint64_t head_ms;      /* from a request's first byte */
    uint64_t body_ms;      /* from the head's end */
    uint64_t body_idle_ms; /* for any byte of a body that is read as it arrives */
    uint64_t idle_ms;      /* between requests */
    uint64_t send_ms;      /* for taking any byte of a complete answer */
    uint64_t linger_ms;    /* for closing after the last answer */
};

/*
 * What all HTTP connections of one loop share. `routes` say who answers what; see route.h.
 * `authenticate` finds out who sends a request and sets the exchange's user and account, now or on
 * the user's turn; it then calls vd_route_admit(), with the head of a request whose body has not
 * come or is large, or else vd_route_handle(); or it refuses the request. NULL: nobody asks.
 * `finished` is called when an answer is complete or broken off, before `gone`, and after that of
 * the route; head is NULL then if the request was refused or forgotten.
 */
struct vd_http_service {
    struct vd_loop *loop;
    const struct vd_route_table *routes; /* borrowed */
    void (*authenticate)(struct vd_http_service *service, struct vd_exchange *x, bool is_head);
    void *authenticator;                                                      /* its argument */
    void (*finished)(struct vd_http_service *service, struct vd_exchange *x); /* for the log */
    void *arg;
    uint32_t streams_max; /* of one HTTP/2 connection; 0: HTTP/1.1 only */
    struct vd_http_deadlines deadlines;
    bool draining;                    /* answers close their connections */
    struct vd_turn_queue *turn_queue; /* for those known; NULL: nobody waits */
    size_t strangers_max; /* of which nobody knows who they are, before the oldest ends; 0: any */
    size_t strangers_len_max; /* bytes of requests that nobody was asked about yet; 0: any */
    /* Private: */
    size_t strangers_len;
    struct vd_http_date date;
    struct vd_turn_hook flush_hook;
    struct vd_connection *dirty, *dirty_last;
    size_t dirty_n;
    struct vd_connection *connections;                /* those known */
    struct vd_connection *strangers, *strangers_last; /* the others, the newest first */
    size_t count, strangers_n;
    struct vd_connection *handshakes_first, *handshakes_last;
    unsigned handshakes;     /* steps of this turn */
    struct vd_intake *spare; /* for the next request; none when there are no connections */
};

/* Sets everything to its default and adds the hook that sends to the loop; the
 * caller then sets `routes` and what else it likes. Nothing to release. */
void vd_http_service_init(struct vd_http_service *service, struct vd_loop *loop);

/* Takes over an accepted socket. `tls` NULL: plain; a reference is taken. */
void vd_connection_accept(struct vd_http_service *service, int fd, SSL_CTX *tls);

/* Closes idle connections now and lets the others finish their answers; streams are ended by their
 * routes, spread over so long. Connections that come afterwards are served, one request each. */
void vd_http_service_drain(struct vd_http_service *service, uint64_t spread_ms);

/* Closes everything at once; what has an answer to give is told `gone`. */
void vd_http_service_close_all(struct vd_http_service *service);

/* The client's verified certificate, or NULL. To be freed with X509_free. */
X509 *vd_connection_certificate(const struct vd_connection *connection);

#endif
