/* HTTP/2: requests and answers, streams side by side, windows, time-outs, and the end. */
#include "net/http2.h"

#include <string.h>

#include "check.h"
#include "h2_client.h"
#include "tls_files.h"

static struct tls_files files;
static struct server server;
static struct h2 one, two;

static const struct h2_options plain = {0};

static int setup_files(void **state)
{
    (void)state;
    tls_files_make(&files);
    return 0;
}

static int teardown_files(void **state)
{
    (void)state;
    tls_files_remove(&files);
    return 0;
}

static int setup(void **state)
{
    (void)state;
    server_init(&server, 1, NULL);
    server_start(&server);
    return 0;
}

/* The test starts it. */
static int setup_late(void **state)
{
    (void)state;
    server_init(&server, 1, NULL);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    server_stop(&server);
    return 0;
}

/* ---- requests ---- */

static void ask_everything(const struct h2_options *options)
{
    h2_open(&one, &server, options);
    h2_expect(&one, h2_ask(&one, "GET", "/echo?a=b", NULL), 200, "GET /echo?a=b ");
    h2_expect(&one, h2_ask(&one, "POST", "/echo", "a body"), 200, "POST /echo a body");
    h2_expect(&one, h2_ask(&one, "PUT", "/echo", ""), 200, "PUT /echo ");
    h2_expect(&one, h2_ask(&one, "DELETE", "/later", NULL), 200, "DELETE /later ");
    h2_expect(&one, h2_ask(&one, "BREW", "/echo", NULL), 200, "BREW /echo ");
    struct h2_stream *head = h2_ask(&one, "HEAD", "/size/12345", NULL);
    h2_expect(&one, head, 200, "");
    assert_non_null(strstr(vd_buf_text(&head->head), "content-length: 12345\n"));
    assert_non_null(strstr(vd_buf_text(&head->head), "content-type: text/plain\n"));
    assert_non_null(strstr(vd_buf_text(&head->head), "\ndate: "));
    struct h2_stream *bare = h2_ask(&one, "GET", "/status/204", NULL);
    h2_expect(&one, bare, 204, "");
    assert_null(strstr(vd_buf_text(&bare->head), "content-length"));
    h2_expect(&one, h2_ask(&one, "GET", "/status/404", NULL), 404, "so it is");
    h2_expect_len(&one, h2_ask(&one, "GET", "/size/5000000", NULL), 5000000);
    h2_close(&one);
    wait_for_connections(&server, 0);
    assert_int_equal(server.finished, 9);
    assert_int_equal(server.gone, 0);
}

static void test_requests_of_all_sorts_in_plain(void **state)
{
    (void)state;
    ask_everything(&plain);
}

static void test_requests_of_all_sorts_under_tls(void **state)
{
    (void)state;
    SSL_CTX *context = client_context(files.ca, files.client, files.client_key);
    server_init(&server, 1,
                &(struct vd_tls_files){files.server, files.server_key, files.ca, false});
    server_start(&server);
    ask_everything(&(struct h2_options){.tls = context});
    h2_open(&one, &server, &(struct h2_options){.tls = context});
    h2_expect(&one, h2_ask(&one, "GET", "/who", NULL), 200, "/CN=alice/O=team");
    h2_close(&one);
    SSL_CTX_free(context);
}

static void test_many_requests_at_a_time(void **state)
{
    enum { N = 1000 };
    char path[32];
    (void)state;
    h2_open(&one, &server, &plain);
    for (int i = 0; i < N; i++) {
        snprintf(path, sizeof path, "/later/%d", i);
        h2_ask(&one, "GET", path, NULL); /* those above the server's limit wait in the client */
    }
    for (int i = N - 1; i >= 0; i--) {
        char body[48];
        snprintf(body, sizeof body, "GET /later/%d ", i);
        h2_expect(&one, &one.streams[i], 200, body);
    }
    assert_int_equal(server.handled, N);
    h2_close(&one);
}

static void test_the_preface_may_come_in_pieces(void **state)
{
    struct client c;
    (void)state;
    client_open(&c, &server);
    for (size_t i = 0; i < NGHTTP2_CLIENT_MAGIC_LEN; i++)
        client_send_n(&c, &NGHTTP2_CLIENT_MAGIC[i], 1);
    client_send_n(&c, "\0\0\0\4\0\0\0\0\0", 9); /* settings */
    while (c.in.n < 9 || c.in.p[3] != NGHTTP2_SETTINGS)
        assert_true(client_receive(&c));
    client_close(&c);
}

static void test_what_only_begins_like_the_preface(void **state)
{
    struct client c;
    (void)state;
    client_open(&c, &server);
    client_send(&c, "PRI");
    client_send(&c, "NT / HTTP/1.1\r\nHost: h\r\n\r\n");
    client_expect_answer(&c, 200, "PRINT / ");
    /* It is known by now what is spoken here. */
    client_send(&c, NGHTTP2_CLIENT_MAGIC);
    client_expect(&c, "HTTP/1.1 505 ");
    client_close(&c);
}

static void test_a_server_without_http_2(void **state)
{
    struct client c;
    (void)state;
    server.services[0].streams_max = 0;
    server_start(&server);
    client_open(&c, &server);
    client_send(&c, NGHTTP2_CLIENT_MAGIC);
    client_expect(&c, "HTTP/1.1 505 ");
    client_close(&c);
}

/* ---- what is refused ---- */

#define GET_H ":method", "GET", ":scheme", "http", ":path", "/echo"

static void test_requests_that_are_refused(void **state)
{
    char *longest = test_malloc(20001);
    char *target = test_malloc(VD_HTTP_TARGET_LEN_MAX + 2);
    memset(longest, 'v', 20000);
    longest[20000] = 0;
    memset(target, '/', VD_HTTP_TARGET_LEN_MAX + 1);
    target[VD_HTTP_TARGET_LEN_MAX + 1] = 0;
    const struct {
        unsigned status;
        uint32_t code;
        const char *headers[24];
    } cases[] = {
        {200, 0, {GET_H, ":authority", "h", "te", "trailers"}},
        {200, 0, {GET_H, ":authority", "h", "host", "H"}},
        {200, 0, {GET_H, "host", "h"}},
        {400, 0, {GET_H, ":authority", "h", "host", "i"}},
        {400, 0, {GET_H, ":authority", "u@h"}},
        {400, 0, {GET_H, ":authority", "h", "authorization", "a", "authorization", "b"}},
        {400, 0, {GET_H, ":authority", "h", "content-type", "a", "content-type", "b"}},
        {400, 0, {GET_H, ":authority", "h", "x-a", "a\tb\001"}},
        {400, 0, {GET_H, ":authority", "h", "x a", "b"}},
        {417, 0, {GET_H, ":authority", "h", "expect", "the-worst"}},
        {431, 0, {GET_H, ":authority", "h", "x-a", longest}},
        {431,
         0,
         {GET_H, ":authority", "h", "a", longest + 5000, "b", longest + 5000, "c", longest + 5000,
          "d", longest + 5000, "e", longest + 5000}},
        {414, 0, {":method", "GET", ":scheme", "http", ":path", target, ":authority", "h"}},
        {400, 0, {":method", "GET", ":scheme", "http", ":path", "/a#b", ":authority", "h"}},
        {501, 0, {":method", "CONNECT", ":authority", "h"}},
        {0, NGHTTP2_PROTOCOL_ERROR, {":method", "GET", ":scheme", "http", ":authority", "h"}},
        {0, NGHTTP2_PROTOCOL_ERROR, {":method", "GET", ":scheme", "http", ":path", "x"}},
        {0, NGHTTP2_PROTOCOL_ERROR, {GET_H, ":authority", "h", "connection", "close"}},
        {0, NGHTTP2_PROTOCOL_ERROR, {GET_H, ":authority", "h", "transfer-encoding", "chunked"}},
        {0, NGHTTP2_PROTOCOL_ERROR, {GET_H, ":authority", "h", "upgrade", "websocket"}},
        {0, NGHTTP2_PROTOCOL_ERROR, {GET_H, ":authority", "h", "te", "gzip"}},
        {0, NGHTTP2_PROTOCOL_ERROR, {GET_H, ":authority", "h", "content-length", "7"}},
        {0, NGHTTP2_PROTOCOL_ERROR, {GET_H, ":authority", "h", "content-length", "-0"}},
        {0, NGHTTP2_PROTOCOL_ERROR, {GET_H}},
        {0, NGHTTP2_PROTOCOL_ERROR, {GET_H, "x", "y", ":authority", "h"}},
        {0, NGHTTP2_PROTOCOL_ERROR, {GET_H, ":authority", "h", ":path", "/again"}},
    };
    (void)state;
    h2_open(&one, &server, &(struct h2_options){.unchecked = true});
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct h2_stream *s = h2_ask_with(&one, cases[i].headers, NULL, false);
        while (!s->closed)
            assert_true(h2_pump(&one));
        if (s->status != cases[i].status || s->code != cases[i].code)
            fail_msg("case %zu: status %u, code %u", i, s->status, s->code);
    }
    h2_close(&one);
    test_free(longest);
    test_free(target);
}

static void test_too_many_headers(void **state)
{
    const char *headers[2 * VD_HTTP_HEADERS_MAX + 16] = {GET_H, ":authority", "h"};
    (void)state;
    h2_open(&one, &server, &plain);
    for (size_t n = 0; n < VD_HTTP_HEADERS_MAX - 1; n++) { /* and Host */
        headers[8 + 2 * n] = "x";
        headers[9 + 2 * n] = "y";
    }
    h2_expect(&one, h2_ask_with(&one, headers, NULL, false), 200, "GET /echo ");
    headers[8 + 2 * (VD_HTTP_HEADERS_MAX - 1)] = "x";
    headers[9 + 2 * (VD_HTTP_HEADERS_MAX - 1)] = "y";
    struct h2_stream *s = h2_ask_with(&one, headers, NULL, false);
    while (!s->closed)
        assert_true(h2_pump(&one));
    assert_int_equal(s->status, 431);
    h2_close(&one);
}

/* ---- bodies ---- */

static void test_a_body_that_is_too_large(void **state)
{
    char body[200];
    (void)state;
    memset(body, 'b', sizeof body);
    body[100] = 0;
    server.route.body_len_max = 100;
    server.services[0].deadlines.linger_ms = 20;
    server_start(&server);
    h2_open(&one, &server, &plain);
    struct h2_stream *s = h2_ask(&one, "POST", "/status/200", body);
    h2_expect(&one, s, 200, "so it is");
    body[100] = 'b';
    body[101] = 0;
    s = h2_ask(&one, "POST", "/echo", body);
    while (!s->closed)
        assert_true(h2_pump(&one));
    assert_int_equal(s->status, 413);
    /* Known from the head, and nothing more is wanted of it. */
    const char *headers[] = {":method",    "POST", ":scheme",        "http", ":path", "/echo",
                             ":authority", "h",    "content-length", "101",  NULL};
    s = h2_ask_with(&one, headers, NULL, true);
    h2_expect_reset(&one, s, NGHTTP2_NO_ERROR);
    assert_int_equal(s->status, 413);
    h2_expect(&one, h2_ask(&one, "GET", "/echo", NULL), 200, "GET /echo ");
    assert_int_equal(server.handled, 2);
    h2_close(&one);
}

/* A client that looks at the answer when it has sent everything finds it, whatever there was to
 * send; and nobody tells it to stop. */
static void test_a_body_that_is_too_large_may_be_sent(void **state)
{
    enum { LEN = 4000000 };
    char *body = test_malloc(LEN + 1);
    (void)state;
    memset(body, 'b', LEN);
    body[LEN] = 0;
    server.route.body_len_max = 100;
    server.services[0].deadlines.linger_ms = 600000;
    server_start(&server);
    h2_open(&one, &server, &plain);
    for (int known = 0; known < 2; known++) {
        const char *headers[] = {":method",    "POST", ":scheme", "http",    ":path", "/echo",
                                 ":authority", "h",    NULL,      "4000000", NULL};
        headers[8] = known ? "content-length" : NULL;
        struct h2_stream *s = h2_ask_with(&one, headers, body, false);
        while (!s->closed)
            assert_true(h2_pump(&one));
        assert_int_equal(s->status, 413);
        assert_true(s->ended);
        assert_int_equal(s->upload.n, 0);
    }
    h2_expect(&one, h2_ask(&one, "GET", "/echo", NULL), 200, "GET /echo ");
    h2_close(&one);
    test_free(body);
}

static void test_expect_continue(void **state)
{
    const char *headers[] = {":method",    "POST", ":scheme", "http",         ":path", "/echo",
                             ":authority", "h",    "expect",  "100-continue", NULL};
    (void)state;
    h2_open(&one, &server, &plain);
    struct h2_stream *s = h2_ask_with(&one, headers, "go on", false);
    h2_expect(&one, s, 200, "POST /echo go on");
    assert_int_equal(s->interim, 100);
    h2_close(&one);
}

/* More than the connection may hold at a time; each gets through. */
static void test_many_large_bodies(void **state)
{
    enum { N = 40, LEN = 1000000 };
    char *body = test_malloc(LEN + 1);
    (void)state;
    memset(body, 'b', LEN);
    body[LEN] = 0;
    h2_open(&one, &server, &plain);
    for (int i = 0; i < N; i++)
        h2_ask(&one, "POST", "/status/201", body);
    for (int i = 0; i < N; i++)
        h2_expect(&one, &one.streams[i], 201, "so it is");
    h2_close(&one);
    test_free(body);
}

/* ---- streams ---- */

/* Waits until the answer's head is there. */
static struct h2_stream *open_stream(struct h2 *h, const char *path)
{
    struct h2_stream *s = h2_ask(h, "GET", path, NULL);
    while (!s->status)
        assert_true(h2_pump(h));
    return s;
}

static void test_a_frame_is_shared_by_streams(void **state)
{
    struct client old;
    (void)state;
    h2_open(&one, &server, &plain);
    for (int i = 0; i < 100; i++)
        open_stream(&one, "/stream");
    client_open(&old, &server);
    client_send(&old, "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n");
    client_expect(&old, "\r\n\r\n");
    server_send_streams(&server, "one\n");
    server_send_streams(&server, "two and twenty\n");
    server_end_streams(&server);
    for (int i = 0; i < 100; i++)
        h2_expect(&one, &one.streams[i], 200, "one\ntwo and twenty\n");
    client_expect(&old, "4\r\none\n\r\nf\r\ntwo and twenty\n\r\n0\r\n\r\n");
    client_close(&old);
    h2_close(&one);
    assert_int_equal(server.gone, 0);
}

static void test_an_abort_is_its_streams_only(void **state)
{
    (void)state;
    h2_open(&one, &server, &plain);
    struct h2_stream *kept = h2_ask(&one, "GET", "/hold", NULL);
    wait_for_held(&server, 1);
    h2_expect_reset(&one, h2_ask(&one, "GET", "/abort", NULL), NGHTTP2_INTERNAL_ERROR);
    server_answer_held(&server, "still here");
    h2_expect(&one, kept, 200, "still here");
    struct h2_stream *s = open_stream(&one, "/stream");
    server_send_streams(&server, "half of ");
    h2_expect_len(&one, s, 8);
    server_abort_streams(&server);
    h2_expect_reset(&one, s, NGHTTP2_INTERNAL_ERROR);
    assert_false(s->ended);
    h2_close(&one);
    assert_int_equal(server.gone, 0);
}

static void test_clients_that_leave(void **state)
{
    (void)state;
    h2_open(&one, &server, &plain);
    struct h2_stream *s = open_stream(&one, "/stream");
    open_stream(&one, "/stream");
    h2_ask(&one, "GET", "/hold", NULL);
    wait_for_held(&server, 3);
    nghttp2_submit_rst_stream(one.session, NGHTTP2_FLAG_NONE, s->id, NGHTTP2_CANCEL);
    assert_true(h2_push(&one));
    wait_for(&server.gone, 1);
    h2_expect(&one, h2_ask(&one, "GET", "/echo", NULL), 200, "GET /echo ");
    h2_close(&one);
    wait_for(&server.gone, 3);
    wait_for_connections(&server, 0);
    assert_int_equal(server.finished, 4);
    /* And without a word. */
    h2_open(&one, &server, &plain);
    open_stream(&one, "/stream");
    client_vanish(&one.io);
    wait_for(&server.gone, 4);
    h2_close(&one);
}

static void test_a_stream_is_pulled_through_small_windows(void **state)
{
    enum { FRAMES = 200 };
    (void)state;
    h2_open(&one, &server, &(struct h2_options){.window = 1000});
    struct h2_stream *s = h2_ask(&one, "GET", "/pull/200", NULL);
    h2_expect_len(&one, s, (size_t)FRAMES * FRAME_LEN);
    for (size_t i = 0; i < s->body.n; i++) {
        size_t left = FRAMES - 1 - i / FRAME_LEN;
        if (s->body.p[i] != (char)('a' + (i % FRAME_LEN + left) % 26))
            fail_msg("byte %zu is wrong", i);
    }
    while (!s->closed)
        assert_true(h2_pump(&one));
    assert_true(s->ended);
    assert_int_equal(server.drained, FRAMES + 1);
    assert_true(server.backlog_max < (size_t)2 * FRAME_LEN);
    h2_close(&one);
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

/* A stream whose window is closed has a backlog; the others go on. */
static void test_a_stream_that_is_not_read_holds_up_nobody(void **state)
{
    enum { LEN = 50000 };
    char payload[LEN + 1];
    size_t backlog = 0;
    (void)state;
    memset(payload, 'p', LEN);
    payload[LEN] = 0;
    h2_open(&one, &server, &(struct h2_options){.window = 1000, .no_updates = true});
    nghttp2_session_set_local_window_size(one.session, NGHTTP2_FLAG_NONE, 0, 100000000);
    struct h2_stream *stuck = open_stream(&one, "/stream");
    struct h2_stream *read = open_stream(&one, "/stream");
    nghttp2_submit_window_update(one.session, NGHTTP2_FLAG_NONE, read->id, 100000000);
    assert_true(h2_push(&one));
    on_loop(&server, ask_for_drained, NULL); /* with no backlog it comes at once */
    wait_for(&server.drained, 1);
    for (int i = 0; i < 20; i++)
        server_send_streams(&server, payload);
    on_loop(&server, ask_for_drained, NULL);
    h2_expect_len(&one, read, (size_t)20 * LEN);
    h2_expect(&one, h2_ask(&one, "GET", "/echo", NULL), 200, "GET /echo ");
    assert_int_equal(stuck->body.n, 1000);
    on_loop(&server, get_backlog, &backlog);
    assert_int_equal(backlog, 20 * LEN - 1000);
    assert_int_equal(server.drained, 1);
    nghttp2_submit_window_update(one.session, NGHTTP2_FLAG_NONE, stuck->id, 100000000);
    assert_true(h2_push(&one));
    h2_expect_len(&one, stuck, (size_t)20 * LEN);
    wait_for(&server.drained, 2);
    on_loop(&server, get_backlog, &backlog);
    assert_int_equal(backlog, 0);
    h2_close(&one);
}

/* An event comes through while a large answer is on its way. */
static void test_streams_take_turns(void **state)
{
    enum { LEN = 50000000 };
    (void)state;
    h2_open(&one, &server, &(struct h2_options){.window = 2 * LEN});
    nghttp2_session_set_local_window_size(one.session, NGHTTP2_FLAG_NONE, 0, 2 * LEN);
    struct h2_stream *large = h2_ask(&one, "GET", "/size/50000000", NULL);
    struct h2_stream *events = open_stream(&one, "/stream");
    server_send_streams(&server, "now");
    h2_expect_len(&one, events, 3);
    assert_false(large->ended);
    h2_expect_len(&one, large, LEN);
    h2_close(&one);
}

/* Answers that nobody reads are not made without end. */
static void test_answers_that_are_not_read_hold_up_requests(void **state)
{
    enum { N = 100, LEN = 1000000 };
    (void)state;
    h2_open(&one, &server, &(struct h2_options){.no_updates = true});
    for (int i = 0; i < N; i++)
        h2_ask(&one, "GET", "/size/1000000", NULL);
    wait_for(&server.handled, VD_HTTP2_ANSWERS_LEN_MAX / LEN + 1);
    h2_open(&two, &server, &plain);
    h2_expect(&two, h2_ask(&two, "GET", "/echo", NULL), 200, "GET /echo ");
    assert_int_equal(server.handled, VD_HTTP2_ANSWERS_LEN_MAX / LEN + 2);
    nghttp2_submit_window_update(one.session, NGHTTP2_FLAG_NONE, 0, N * LEN);
    for (int i = 0; i < N; i++)
        nghttp2_submit_window_update(one.session, NGHTTP2_FLAG_NONE, one.streams[i].id, LEN);
    assert_true(h2_push(&one));
    for (int i = 0; i < N; i++)
        h2_expect_len(&one, &one.streams[i], LEN);
    h2_close(&one);
    h2_close(&two);
}

/* ---- time ---- */

static void test_clients_that_are_slow(void **state)
{
    (void)state;
    server.services[0].deadlines.body_ms = 50;
    server.services[0].deadlines.send_ms = 50;
    server_start(&server);
    const char *headers[] = {":method", "POST",       ":scheme", "http", ":path",
                             "/echo",   ":authority", "h",       NULL};
    h2_open(&one, &server, &(struct h2_options){.window = 10, .no_updates = true});
    struct h2_stream *body = h2_ask_with(&one, headers, NULL, true);
    nghttp2_submit_window_update(one.session, NGHTTP2_FLAG_NONE, body->id, 1000);
    h2_expect_reset(&one, body, NGHTTP2_NO_ERROR);
    assert_int_equal(body->status, 408);
    h2_expect_reset(&one, h2_ask(&one, "GET", "/size/100000", NULL), NGHTTP2_CANCEL);
    struct h2_stream *stream = open_stream(&one, "/stream"); /* which has all the time it wants */
    server_send_streams(&server, "0123456789 and more");
    h2_expect_reset(&one, h2_ask(&one, "GET", "/size/100000", NULL), NGHTTP2_CANCEL);
    assert_false(stream->closed);
    h2_close(&one);
}

static void test_connections_that_say_nothing(void **state)
{
    (void)state;
    server.services[0].deadlines.head_ms = 50;
    server_start(&server);
    struct client c;
    client_open(&c, &server);
    client_send(&c, NGHTTP2_CLIENT_MAGIC); /* and no settings */
    client_rest(&c);
    client_close(&c);
    /* Headers that do not end. */
    uint8_t block[64];
    size_t n = h2_pack(block, sizeof block, "/echo");
    h2_open(&one, &server, &plain);
    h2_expect(&one, h2_ask(&one, "GET", "/echo", NULL), 200, "GET /echo ");
    assert_true(h2_raw(&one, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_STREAM, 3, block, n));
    h2_expect_goaway(&one, NGHTTP2_ENHANCE_YOUR_CALM);
    h2_close(&one);
    assert_int_equal(server.handled, 1);
}

static void test_an_idle_connection_is_closed_with_a_goodbye(void **state)
{
    (void)state;
    server.services[0].deadlines.idle_ms = 50;
    server_start(&server);
    h2_open(&one, &server, &plain);
    h2_expect(&one, h2_ask(&one, "GET", "/echo", NULL), 200, "GET /echo ");
    h2_ask(&one, "GET", "/hold", NULL);
    wait_for_held(&server, 1);
    h2_open(&two, &server, &plain);
    h2_expect_goaway(&two, NGHTTP2_NO_ERROR);
    h2_close(&two);
    wait_for_connections(&server, 1); /* the busy one stays */
    server_answer_held(&server, "");
    h2_expect_goaway(&one, NGHTTP2_NO_ERROR);
    h2_close(&one);
}

/* ---- the end ---- */

static void drain(struct server *s, void *arg)
{
    (void)arg;
    vd_http_service_drain(&s->services[0], 0);
}

static void test_a_drain_loses_no_request(void **state)
{
    (void)state;
    h2_open(&one, &server, &plain);
    struct h2_stream *held = h2_ask(&one, "GET", "/hold", NULL);
    wait_for_held(&server, 1);
    h2_open(&two, &server, &plain); /* speaks HTTP/2 by now, and has nothing more to do */
    h2_expect(&two, h2_ask(&two, "GET", "/echo/early", NULL), 200, "GET /echo/early ");
    on_loop(&server, drain, NULL);
    /* Sent before anything of the drain was read. */
    struct h2_stream *crossing = h2_ask(&one, "GET", "/echo/late", NULL);
    h2_expect(&one, crossing, 200, "GET /echo/late ");
    h2_expect(&two, h2_ask(&two, "GET", "/echo/late", NULL), 200, "GET /echo/late ");
    h2_expect_goaway(&two, NGHTTP2_NO_ERROR);
    while (one.goaways_n < 2)
        assert_true(h2_pump(&one));
    assert_int_equal(one.goaway_last[0], INT32_MAX);
    assert_int_equal(one.goaway_last[1], crossing->id);
    /* Whoever did not listen is not answered, and told so: it can ask somebody else. */
    uint8_t block[64];
    size_t n = h2_pack(block, sizeof block, "/echo/too-late");
    assert_true(h2_raw(&one, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_STREAM | NGHTTP2_FLAG_END_HEADERS,
                       crossing->id + 2, block, n));
    server_answer_held(&server, "finished");
    h2_expect(&one, held, 200, "finished");
    h2_expect_goaway(&one, NGHTTP2_NO_ERROR);
    assert_int_equal(server.handled, 4);
    h2_close(&one);
    h2_close(&two);
}

int main(void)
{
#define TEST(name)      cmocka_unit_test_setup_teardown(name, setup, teardown)
#define TEST_LATE(name) cmocka_unit_test_setup_teardown(name, setup_late, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_requests_of_all_sorts_in_plain),
        cmocka_unit_test_teardown(test_requests_of_all_sorts_under_tls, teardown),
        TEST(test_many_requests_at_a_time),
        TEST(test_the_preface_may_come_in_pieces),
        TEST(test_what_only_begins_like_the_preface),
        TEST_LATE(test_a_server_without_http_2),
        TEST(test_requests_that_are_refused),
        TEST(test_too_many_headers),
        TEST_LATE(test_a_body_that_is_too_large),
        TEST_LATE(test_a_body_that_is_too_large_may_be_sent),
        TEST(test_expect_continue),
        TEST(test_many_large_bodies),
        TEST(test_a_frame_is_shared_by_streams),
        TEST(test_an_abort_is_its_streams_only),
        TEST(test_clients_that_leave),
        TEST(test_a_stream_is_pulled_through_small_windows),
        TEST(test_a_stream_that_is_not_read_holds_up_nobody),
        TEST(test_streams_take_turns),
        TEST(test_answers_that_are_not_read_hold_up_requests),
        TEST_LATE(test_clients_that_are_slow),
        TEST_LATE(test_connections_that_say_nothing),
        TEST_LATE(test_an_idle_connection_is_closed_with_a_goodbye),
        TEST(test_a_drain_loses_no_request),
    };
    return cmocka_run_group_tests(tests, setup_files, teardown_files);
}
