/*
 * A connection of HTTP/2 that is sent arbitrary frames.
 *
 * The input is what follows the preface and the client's settings, on a socket pair with a
 * loop that turns on this thread. Properties: nothing waits or asserts; every request that
 * was handled is finished, once; when the client has gone, so have its connection and its
 * exchanges; what the server sends is whole frames.
 */
#include "fuzz.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "net/connection.h"

enum { TURNS_MAX = 64, BIG_LEN = 200000 };

static struct vd_loop loop;
static struct vd_http_service service;
static size_t handled, finished, held;

static void on_gone(struct vd_exchange *x)
{
    (void)x;
    held--;
}

static void on_drained(struct vd_exchange *x)
{
    struct vd_buf frame = {0};
    vd_buf_add_text(&frame, "the last of it");
    vd_exchange_send(x, vd_bytes_take(&frame));
    x->ops = NULL;
    held--;
    vd_exchange_end(x);
}

static const struct vd_exchange_ops ops = {on_drained, on_gone};

static void hold(struct vd_exchange *x)
{
    x->ops = &ops;
    held++;
}

static void start_stream(struct vd_exchange *x)
{
    struct vd_buf frame = {0};
    vd_exchange_stream(x, &(struct vd_response){.status = 200, .content_type = VD_SLICE("a/b")});
    vd_exchange_forget_request(x);
    vd_buf_add_text(&frame, "some of it");
    vd_exchange_send(x, vd_bytes_take(&frame));
    hold(x);
    vd_exchange_await_drain(x);
}

static void handle(struct vd_http_service *s, struct vd_exchange *x)
{
    struct vd_slice target = vd_http_head_target(x->head);
    (void)s;
    handled++;
    FUZZ_CHECK(target.n > 0);
    switch (target.n > 1 ? target.p[1] : 0) {
    case 'h':
        hold(x);
        break;
    case 's':
        start_stream(x);
        break;
    case 'a':
        vd_exchange_abort(x);
        break;
    case 'b': {
        struct vd_bytes *big = vd_bytes_new(BIG_LEN);
        memset(big->data, 'b', BIG_LEN);
        vd_exchange_respond(x, &(struct vd_response){.status = 200, .shared = big});
        break;
    }
    default:
        vd_exchange_respond(x, &(struct vd_response){.status = 200, .body = x->body});
    }
}

static void on_finished(struct vd_http_service *s, struct vd_exchange *x)
{
    (void)s;
    FUZZ_CHECK(x->stream);
    finished++;
}

static void start(void)
{
    FUZZ_CHECK(vd_loop_init(&loop, 0, NULL) == 0);
    vd_http_service_init(&service, &loop);
    static const struct vd_route route = {.body_len_max = 100000, .handle = handle};
    static struct vd_route_table routes;
    vd_route_table_add(&routes, &route);
    service.routes = &routes;
    service.finished = on_finished;
    service.streams_max = 20;
}

/* Reads what the server has sent. */
static bool receive(int fd, struct vd_buf *in)
{
    char room[65536];
    ssize_t n = recv(fd, room, sizeof room, MSG_DONTWAIT);
    if (n > 0)
        vd_buf_add(in, room, (size_t)n);
    return n > 0;
}

/* What came is frames, whole but for the last. */
static void check_frames(const struct vd_buf *in)
{
    const unsigned char *at = (const unsigned char *)in->p;
    for (size_t left = in->n; left >= 9;) {
        size_t n = 9 + ((size_t)at[0] << 16 | (size_t)at[1] << 8 | at[2]);
        FUZZ_CHECK(n <= 9 + 16384 && at[3] <= 9);
        if (n > left)
            break;
        at += n;
        left -= n;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char hello[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0";
    struct vd_buf in = {0};
    int pair[2];
    if (!service.loop)
        start();
    FUZZ_CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    fcntl(pair[0], F_SETFL, O_NONBLOCK);
    vd_connection_accept(&service, pair[0], NULL);
    send(pair[1], hello, sizeof hello - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (size)
        send(pair[1], data, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    for (int i = 0; i < TURNS_MAX; i++) {
        uv_run(&loop.uv, UV_RUN_NOWAIT);
        if (!receive(pair[1], &in) && i > 3)
            break;
    }
    close(pair[1]);
    for (int i = 0; i < TURNS_MAX && service.count; i++)
        uv_run(&loop.uv, UV_RUN_NOWAIT);
    FUZZ_CHECK(service.count == 0 && held == 0);
    FUZZ_CHECK(handled <= finished); /* and those that were refused */
    check_frames(&in);
    vd_buf_release(&in);
    return 0;
}
