/*
 * A small HTTP server inside a test, on a free port of 127.0.0.1, and what it does:
 *
 *   /echo...      200 with "METHOD TARGET BODY"
 *   /size/N       200 with N bytes of 'x', shared
 *   /status/N     that status, with a body where it may have one
 *   /hold         nothing, until server_answer_held()
 *   /later        like /echo, from a task that is posted
 *   /stream       a stream, which the test feeds: server_send_streams()
 *   /pull/N       a stream of N frames of FRAME_LEN bytes, each when the last has left
 *   /abort        no answer: vd_exchange_abort()
 *   /who          the client certificate's subject
 */
#ifndef VD_TESTS_NET_SERVER_H
#define VD_TESTS_NET_SERVER_H

#include <semaphore.h>
#include <stdatomic.h>

#include "net/listener.h"
#include "net/tls.h"

enum { SERVER_LOOPS_MAX = 4, SERVER_HELD_MAX = 4096, FRAME_LEN = 10000, TEST_DEADLINE_S = 60 };

struct server {
    struct vd_loop loops[SERVER_LOOPS_MAX];
    struct vd_http_service services[SERVER_LOOPS_MAX];
    struct vd_route route; /* of all paths */
    struct vd_route_table routes;
    size_t loops_n;
    struct vd_http_listener listener;
    struct vd_http_listener_tls tls;
    /* Used on the first loop only; a test reads them through on_loop(): */
    struct vd_exchange *held[SERVER_HELD_MAX];
    size_t held_n;
    size_t backlog_max; /* the largest backlog of a stream of /pull */
    /* Counted on all loops: */
    _Atomic size_t handled, gone, drained, finished;
    _Atomic size_t sent; /* bytes of all answers that are finished */
    _Atomic unsigned last_status;
};

/* `tls` NULL: plain. Deadlines and the like can be changed between init and start. */
void server_init(struct server *s, size_t loops, const struct vd_tls_files *tls);
void server_start(struct server *s);
void server_stop(struct server *s);

/* Runs something on the first loop, and waits until it has. */
void on_loop(struct server *s, void (*run)(struct server *s, void *arg), void *arg);

/* Waits until the counter has this value; fails the test after a while. */
void wait_for(const _Atomic size_t *counter, size_t value);
size_t server_connections(struct server *s); /* the number that are open on all loops */
size_t server_connections_of(struct server *s, size_t loop);
void wait_for_connections(struct server *s, size_t n);
void wait_for_held(struct server *s, size_t n);

/* These act on all held exchanges, or on all streams: */
void server_answer_held(struct server *s, const char *body);
void server_send_streams(struct server *s, const char *payload); /* one frame, shared */
void server_end_streams(struct server *s);
void server_abort_streams(struct server *s);

#endif
