/* Answers that take time: streams, shared frames, back-pressure, and clients that leave. */
#include "net/exchange.h"

#include <string.h>

#include "check.h"
#include "net_client.h"

#define GET(target)     "GET " target " HTTP/1.1\r\nHost: h\r\n\r\n"
#define GET_1_0(target) "GET " target " HTTP/1.0\r\n\r\n"

static struct server server;

static int setup(void **state)
{
    (void)state;
    server_init(&server, 1, NULL);
    server_start(&server);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    server_stop(&server);
    return 0;
}

/* A client that asks for a stream and has read its head. */
static void open_stream(struct client *c, const char *request)
{
    client_open(c, &server);
    client_send(c, request);
    client_expect(c, "\r\n\r\n");
}

static void test_a_frame_is_shared_by_streams_of_both_kinds(void **state)
{
    struct client framed, plain;
    (void)state;
    open_stream(&framed, GET("/stream") GET("/echo/after"));
    open_stream(&plain, GET_1_0("/stream"));
    server_send_streams(&server, "one\n");
    server_send_streams(&server, "two and twenty\n");
    server_end_streams(&server);
    client_expect(&framed, "4\r\none\n\r\nf\r\ntwo and twenty\n\r\n0\r\n\r\n");
    client_expect_answer(&framed, 200, "GET /echo/after ");
    assert_string_equal(client_rest(&plain), "one\ntwo and twenty\n");
    assert_true(plain.ended);
    client_close(&framed);
    client_close(&plain);
    assert_int_equal(server.gone, 0);
}

/* Chunks of all sizes, to a client that reads them when they are all queued: the socket takes them
 * in parts that end anywhere. */
static void test_chunks_keep_their_lines(void **state)
{
    static const size_t sizes[] = {1, 15, 16, 255, 256, 4095, 4096, 16383, 16384, 70001, 300000, 2};
    enum { SIZES = sizeof sizes / sizeof *sizes, ROUNDS = 30 };
    struct vd_buf payload = {0}, want = {0};
    struct client c;
    (void)state;
    open_stream(&c, GET("/stream"));
    for (size_t i = 0; i < (size_t)ROUNDS * SIZES; i++) {
        vd_buf_reset(&payload);
        for (size_t n = 0; n < sizes[i % SIZES]; n++)
            vd_buf_add_char(&payload, (char)('a' + (n + i) % 26));
        vd_http_write_chunk(&want, vd_buf_slice(&payload));
        server_send_streams(&server, payload.p);
    }
    while (c.in.n < want.n)
        assert_true(client_receive(&c));
    assert_true(vd_slice_eq(vd_buf_slice(&c.in), vd_buf_slice(&want)));
    client_close(&c);
    vd_buf_release(&payload);
    vd_buf_release(&want);
}

static void test_an_aborted_stream_is_seen_as_incomplete(void **state)
{
    struct client framed, plain;
    (void)state;
    open_stream(&framed, GET("/stream"));
    open_stream(&plain, GET_1_0("/stream"));
    server_send_streams(&server, "one");
    client_expect(&framed, "one\r\n");
    client_expect(&plain, "one");
    server_abort_streams(&server);
    assert_null(strstr(client_rest(&framed), "0\r\n"));
    client_rest(&plain);
    assert_true(plain.broken); /* nothing else could tell */
    client_close(&framed);
    client_close(&plain);
    assert_int_equal(server.gone, 0);
    assert_int_equal(server.finished, 2);
}

static void test_an_abort_before_any_answer(void **state)
{
    struct client c;
    (void)state;
    client_open(&c, &server);
    client_send(&c, GET("/abort") GET("/echo"));
    assert_string_equal(client_rest(&c), "");
    client_close(&c);
    assert_int_equal(server.handled, 1);
}

static void test_a_stream_is_pulled_as_the_client_reads(void **state)
{
    enum { FRAMES = 2000 };
    struct client c;
    struct answer a;
    (void)state;
    client_open(&c, &server);
    client_send(&c, GET("/pull/2000"));
    wait_for(&server.handled, 1);
    (void)server_connections(&server);
    client_answer(&c, &a, false);
    assert_int_equal(a.body.n, (size_t)FRAMES * FRAME_LEN);
    for (size_t i = 0; i < a.body.n; i++) {
        size_t left = FRAMES - 1 - i / FRAME_LEN;
        if (a.body.p[i] != (char)('a' + (i % FRAME_LEN + left) % 26))
            fail_msg("byte %zu is wrong", i);
    }
    assert_int_equal(server.drained, FRAMES + 1);
    assert_true(server.backlog_max < 2 * FRAME_LEN);
    answer_release(&a);
    client_close(&c);
}

static void get_backlog(struct server *s, void *arg)
{
    *(size_t *)arg = vd_exchange_backlog(s->held[0]);
}

static void ask_for_drained(struct server *s, void *arg)
{
    (void)arg;
    vd_exchange_await_drain(s->held[0]);
}

static void get_events(struct server *s, void *arg)
{
    *(int *)arg = s->services[0].connections->events;
}

static void test_a_client_that_does_not_read_has_a_backlog(void **state)
{
    enum { LEN = 1000000, N = 20 };
    struct client c;
    size_t backlog = 0;
    struct vd_buf payload = {0};
    (void)state;
    for (int i = 0; i < LEN; i++)
        vd_buf_add_char(&payload, 'p');
    open_stream(&c, GET("/stream"));
    on_loop(&server, ask_for_drained, NULL); /* with none, it comes at once */
    wait_for(&server.drained, 1);
    for (int i = 0; i < N; i++)
        server_send_streams(&server, payload.p);
    on_loop(&server, ask_for_drained, NULL);
    on_loop(&server, get_backlog, &backlog);
    assert_true(backlog > 0);
    assert_int_equal(server.drained, 1);
    while (c.in.n < (size_t)N * (LEN + sizeof "f4240\r\n\r\n" - 1))
        assert_true(client_receive(&c));
    wait_for(&server.drained, 2);
    on_loop(&server, get_backlog, &backlog);
    assert_int_equal(backlog, 0);
    /* With nothing to send, waiting for a socket that takes bytes would never end. */
    int events = 0;
    on_loop(&server, get_events, &events);
    assert_int_equal(events, UV_READABLE);
    client_close(&c);
    vd_buf_release(&payload);
}

/* ---- clients that leave ---- */

static void test_gone_is_said_once(void **state)
{
    static const char *const requests[] = {GET("/hold"), GET("/stream"), GET_1_0("/stream"),
                                           GET("/stream") GET("/echo")};
    size_t gone = 0;
    (void)state;
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        for (int how = 0; how < 3; how++) {
            struct client c;
            client_open(&c, &server);
            client_send(&c, requests[i]);
            wait_for_held(&server, 1);
            if (how == 0)
                client_vanish(&c);
            else if (how == 1)
                client_close(&c);
            else
                client_finish(&c);
            if (i == 0 && how > 0) {
                /* Not a stream: its answer is still waited for, and may find nobody. */
                server_answer_held(&server, "x");
            } else {
                gone++;
            }
            wait_for(&server.gone, gone);
            wait_for_held(&server, 0);
            if (how == 2)
                client_close(&c);
            wait_for_connections(&server, 0);
        }
    }
    assert_int_equal(server.finished, server.handled);
}

static void test_gone_with_a_backlog(void **state)
{
    (void)state;
    for (size_t i = 1; i <= 10; i++) {
        struct client c;
        client_open(&c, &server);
        client_send(&c, GET("/pull/100000"));
        client_expect(&c, "\r\n\r\n");
        if (i % 2)
            client_vanish(&c);
        else
            client_close(&c);
        wait_for(&server.gone, i);
    }
    wait_for_connections(&server, 0);
}

/* What a client sends behind its request while the stream goes on is read up to a
 * bound; beyond it, the client must still be seen to leave. (Not if it sends so much
 * that its farewell does not fit into the window; then the next frame meets a reset.) */
static void test_gone_when_too_much_was_sent_ahead(void **state)
{
    struct client c;
    char junk[VD_HTTP_AHEAD_LEN_MAX + 1000];
    (void)state;
    memset(junk, 'j', sizeof junk);
    open_stream(&c, GET("/stream"));
    client_send_n(&c, junk, sizeof junk);
    server_send_streams(&server, "still here");
    client_expect(&c, "still here");
    client_close(&c);
    wait_for(&server.gone, 1);
    wait_for_connections(&server, 0);
}

static void test_requests_behind_a_stream_are_answered_after_it(void **state)
{
    struct client c;
    (void)state;
    open_stream(&c, GET("/stream") "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbo");
    server_send_streams(&server, "s");
    client_expect(&c, "s\r\n");
    client_send(&c, "dy" GET("/later"));
    server_end_streams(&server);
    client_expect(&c, "0\r\n\r\n");
    client_expect_answer(&c, 200, "POST /echo body");
    client_expect_answer(&c, 200, "GET /later ");
    client_close(&c);
}

/* In the flush, one stream's callback ends all the others. */
static void end_all(struct vd_exchange *x)
{
    struct server *s = x->connection->service->arg;
    s->drained++;
    while (s->held_n)
        vd_exchange_abort(s->held[--s->held_n]);
}

static const struct vd_exchange_ops end_all_ops = {.drained = end_all};

static void arm_end_all(struct server *s, void *arg)
{
    (void)arg;
    struct vd_buf frame = {0};
    vd_buf_add_text(&frame, "bye");
    struct vd_bytes *bytes = vd_bytes_take(&frame);
    for (size_t i = 0; i < s->held_n; i++) {
        vd_exchange_send(s->held[i], vd_bytes_ref(bytes));
        s->held[i]->ops = &end_all_ops;
        vd_exchange_await_drain(s->held[i]);
    }
    vd_bytes_unref(bytes);
}

static void test_a_callback_may_end_other_exchanges(void **state)
{
    enum { N = 10 };
    struct client c[N];
    (void)state;
    for (int i = 0; i < N; i++)
        open_stream(&c[i], GET("/stream"));
    wait_for_held(&server, N);
    on_loop(&server, arm_end_all, NULL);
    wait_for_connections(&server, 0);
    assert_int_equal(server.drained, 1);
    for (int i = 0; i < N; i++)
        client_close(&c[i]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_frame_is_shared_by_streams_of_both_kinds),
        TEST(test_chunks_keep_their_lines),
        TEST(test_an_aborted_stream_is_seen_as_incomplete),
        TEST(test_an_abort_before_any_answer),
        TEST(test_a_stream_is_pulled_as_the_client_reads),
        TEST(test_a_client_that_does_not_read_has_a_backlog),
        TEST(test_gone_is_said_once),
        TEST(test_gone_with_a_backlog),
        TEST(test_gone_when_too_much_was_sent_ahead),
        TEST(test_requests_behind_a_stream_are_answered_after_it),
        TEST(test_a_callback_may_end_other_exchanges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
