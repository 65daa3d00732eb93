/* What http2.c, http2_request.c and http2_answer.c share. */
#ifndef VD_NET_HTTP2_INTERNAL_H
#define VD_NET_HTTP2_INTERNAL_H

#include <nghttp2/nghttp2.h>

#include "net/http2.h"
#include "net/protocol.h"

enum vd_stream_state {
    VD_STREAM_HEAD,   /* its headers are arriving */
    VD_STREAM_BODY,   /* its body is arriving */
    VD_STREAM_READY,  /* complete, or to be refused; waits for its turn */
    VD_STREAM_ANSWER, /* the handler has the request; the answer is not complete */
    VD_STREAM_SENT,   /* it is complete, or broken off; some of it may still have to leave */
};

/* One request and its answer. It lives as long as nghttp2's stream. */
struct vd_stream {
    struct vd_exchange exchange;
    struct vd_http2 *http2;
    int32_t id;
    enum vd_stream_state state;
    enum vd_http_refusal refusal; /* what is wrong with the request */
    bool streaming;
    bool head_only;
    bool has_ended;       /* nothing will be added to the output */
    bool await_drain;     /* `drained` is to be called */
    bool is_drained;      /* stands in the list of those to be told now */
    bool is_ready;        /* stands in the list of requests to be handled */
    bool is_asking;       /* stands in the list of those whose body nobody was asked about */
    bool admitting;       /* `admit` has the request; its body is not granted meanwhile */
    bool is_whole;        /* the body has ended meanwhile */
    bool progressed;      /* bytes have left since the deadline was set */
    bool has_body_listed; /* stands in the list of those whose body is to be given to its handler */
    bool lingers;         /* the answer has left; what comes of the request is not looked at */
    struct vd_intake *intake;
    size_t head_len;  /* bytes of the request's head that are kept */
    size_t body_len;  /* and of its body */
    size_t ungranted; /* bytes of it that the client was not yet given room for again */
    size_t withheld;  /* and of those the connection has no room for either */
    VD_VEC(struct vd_output) output;
    size_t output_first;
    size_t backlog;
    struct vd_account *account; /* whose backlog it is: the request's; NULL: nobody's */
    struct vd_timer deadline;
    struct vd_stream *prev, *next;             /* all of the connection */
    struct vd_stream *prev_ready, *next_ready; /* of one of the lists of struct vd_http2 */
    struct vd_stream *prev_body, *next_body;   /* while has_body_listed */
};

struct vd_stream_list {
    struct vd_stream *first, *last;
};

/* The headers of one request, as far as they have come. There is one at a time. */
struct vd_http2_block {
    struct vd_stream *stream; /* NULL: none is open */
    nghttp2_rcbuf *method, *path, *authority;
    bool has_line; /* the request line stands in the intake */
    bool is_trailer;
    size_t received; /* bytes that came while it was open, about */
};

struct vd_http2 {
    struct vd_connection *connection;
    nghttp2_session *session;
    struct vd_stream *streams, *streams_last; /* oldest first */
    size_t streams_n;
    struct vd_stream_list ready;            /* requests that wait for their turn */
    struct vd_stream_list asking;           /* requests whose body nobody was asked about yet */
    struct vd_stream_list drained;          /* streams whose backlog has left, and who asked */
    struct vd_stream *bodies, *bodies_last; /* whose bodies are to be given to their handlers */
    struct vd_http2_block block;
    struct vd_stream *uploader; /* who may send a body although there are many */
    size_t bodies_len;          /* of all streams */
    size_t heads_len;           /* likewise */
    size_t counted;             /* bytes that stand in the service's strangers_len */
    size_t answers_len;         /* of complete answers that are not sent yet */
    struct vd_bytes *chunk;     /* frames that are being written; while filling only */
    size_t chunk_from, chunk_at;
    bool greeted;    /* the client's settings have come */
    bool terminated; /* it ends with a GOAWAY that is not a friendly one */
    enum { VD_HTTP2_OPEN, VD_HTTP2_NOTICED, VD_HTTP2_LEAVING } drain;
    uint64_t nuisance_ns; /* see vd_http2_nuisance */
};

/* ---- http2.c ---- */

void vd_stream_list_add(struct vd_stream_list *list, struct vd_stream *s);
void vd_stream_list_remove(struct vd_stream_list *list, struct vd_stream *s);

/* Tells the client that no more requests are taken, lets the others finish, and then
 * closes. In two steps, so that none is lost that is on its way (RFC 9113, 6.8). */
void vd_http2_drain(struct vd_connection *c);

/* Ends the connection, with a GOAWAY; nothing more is read. */
void vd_http2_terminate(struct vd_http2 *h, uint32_t code);

/* Counts something that costs the client less than the server. Too many, and the
 * connection ends with GOAWAY. */
void vd_http2_nuisance(struct vd_http2 *h);

/* Ends the stream; the client is told why. */
void vd_stream_reset(struct vd_stream *s, uint32_t code);

void vd_stream_set_deadline(struct vd_stream *s, uint64_t ms);

/* ---- http2_request.c ---- */

/* nghttp2's callbacks; its documentation says when. */
int vd_http2_on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *arg);
int vd_http2_on_header(nghttp2_session *session, const nghttp2_frame *frame, nghttp2_rcbuf *name,
                       nghttp2_rcbuf *value, uint8_t flags, void *arg);
int vd_http2_on_invalid_header(nghttp2_session *session, const nghttp2_frame *frame,
                               nghttp2_rcbuf *name, nghttp2_rcbuf *value, uint8_t flags, void *arg);
int vd_http2_on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *data,
                     size_t len, void *arg);

/* Asks about the bodies of new requests. */
void vd_http2_ask(struct vd_http2 *h);

/* The headers are complete. */
void vd_http2_end_headers(struct vd_http2 *h, bool end_stream);
/* Gives the connection room for what it has sent of this stream. */
void vd_stream_release_withheld(struct vd_stream *s);
/* The body is complete. */
void vd_stream_end_body(struct vd_stream *s);
/* The answer has left, and the request is not complete. */
void vd_stream_linger(struct vd_stream *s);

/* The block that is open is of no more use. */
void vd_http2_block_release(struct vd_http2 *h);

/* Refuses the request in its turn. */
void vd_stream_refuse(struct vd_stream *s, enum vd_http_refusal why);

/* Hands requests that are complete to the service, as many as a turn may. */
void vd_http2_process(struct vd_http2 *h);

/* See protocol.h. */
void vd_http2_receive_body(struct vd_exchange *x);

void vd_stream_say_continue(struct vd_stream *s);

/* Frees the request's memory, which lets others upload. */
void vd_stream_forget_request(struct vd_stream *s);

/* ---- http2_body.c: bodies that are given to their handlers as they arrive ---- */

/* Into the list of those that are to be given, and out of it; again: no effect. */
void vd_http2_list_body(struct vd_stream *s);
void vd_http2_unlist_body(struct vd_stream *s);

/* Some more of it has come; in nghttp2's callback. */
void vd_http2_add_body(struct vd_stream *s, struct vd_slice data);

/* Gives the listed ones. Not in a callback of nghttp2. */
void vd_http2_give_bodies(struct vd_http2 *h);

/* See protocol.h. */
void vd_http2_read_body(struct vd_exchange *x);
void vd_http2_mark_body(struct vd_exchange *x);
void vd_http2_break_body(struct vd_exchange *x, enum vd_http_refusal why);

/* ---- http2_answer.c ---- */

/* See protocol.h. */
void vd_http2_respond(struct vd_exchange *x, const struct vd_response *response);
void vd_http2_stream(struct vd_exchange *x, const struct vd_response *response);
bool vd_http2_upgrade(struct vd_exchange *x, const struct vd_response *response);
void vd_http2_send(struct vd_exchange *x, struct vd_bytes *bytes);
void vd_http2_end(struct vd_exchange *x);
void vd_http2_abort(struct vd_exchange *x);
size_t vd_http2_backlog(const struct vd_exchange *x);
void vd_http2_await_drain(struct vd_exchange *x);
void vd_http2_forget_request(struct vd_exchange *x);

void vd_stream_release_output(struct vd_stream *s);

/* nghttp2's callback: a frame of data leaves. */
int vd_http2_send_data(nghttp2_session *session, nghttp2_frame *frame, const uint8_t *head,
                       size_t len, nghttp2_data_source *source, void *arg);

/* Moves frames from nghttp2 to the connection's output. False: it cannot go on. */
bool vd_http2_fill(struct vd_http2 *h);

#endif
