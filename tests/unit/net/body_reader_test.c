/* Bodies that are read as they arrive, over HTTP/1.1 and HTTP/2, plain and through TLS. */
#include "net/body_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "body_face.h"
#include "check.h"
#include "h2_client.h"
#include "net/account.h"
#include "tls_files.h"

#define HEAD(target) "POST " target " HTTP/1.1\r\nHost: h\r\n"
#define LENGTH(n)    "Content-Length: " n "\r\n\r\n"
#define CHUNKED      "Transfer-Encoding: chunked\r\n\r\n"

enum { BODY_LEN_MAX = 64 * 1024 * 1024, LARGE_LEN = 8 * 1024 * 1024 };

static struct server server;
static struct body_face face;

static int setup_with(const struct vd_tls_files *tls)
{
    server_init(&server, 1, tls);
    body_face_init(&face, BODY_LEN_MAX);
    vd_route_table_add(&server.routes, &face.route);
    return 0;
}

static int setup(void **state)
{
    (void)state;
    setup_with(NULL);
    server_start(&server);
    return 0;
}

/* Before the server starts, a test changes it. */
static int setup_stopped(void **state)
{
    (void)state;
    return setup_with(NULL);
}

static int teardown(void **state)
{
    (void)state;
    server_stop(&server);
    assert_int_equal(face.held_n, 0);
    return 0;
}

static void release_held(struct server *s, void *arg)
{
    (void)s, (void)arg;
    body_face_release(&face);
}

static char *large_body(size_t n)
{
    char *body = vd_malloc(n + 1);
    for (size_t i = 0; i < n; i++)
        body[i] = (char)('a' + (i * 7 + i / 1000) % 26);
    body[n] = 0;
    return body;
}

/* Sends a body in chunks of several lengths. */
static void send_chunked(struct client *c, const char *body, size_t n)
{
    for (size_t at = 0, part = 1; at < n; at += part, part = part * 3 % 9973 + 1) {
        char line[32];
        part = n - at < part ? n - at : part;
        snprintf(line, sizeof line, "%zx\r\n", part);
        client_send(c, line);
        client_send_n(c, body + at, part);
        client_send(c, "\r\n");
    }
    client_send(c, "0\r\n\r\n");
}

/* ---- HTTP/1.1 ---- */

static void test_bodies_of_any_framing(void **state)
{
    (void)state;
    struct client c;
    client_open(&c, &server);
    client_send(&c, HEAD("/up/count") LENGTH("5") "hello");
    client_expect_answer(&c, 200, "5 bytes");
    client_send(&c, HEAD("/up/count") CHUNKED "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n");
    client_expect_answer(&c, 200, "11 bytes");
    client_send(&c, HEAD("/up/count") LENGTH("0"));
    client_expect_answer(&c, 200, "0 bytes");
    client_send(&c, "GET /up/count HTTP/1.1\r\nHost: h\r\n\r\n");
    client_expect_answer(&c, 200, "0 bytes");
    client_send(&c, HEAD("/up/count") CHUNKED "0\r\n\r\n");
    client_expect_answer(&c, 200, "0 bytes");
    assert_int_equal(face.ends, 5);
    client_close(&c);
}

static void test_a_body_comes_byte_by_byte(void **state)
{
    (void)state;
    static const char text[] = HEAD("/up/echo") CHUNKED
        "3\r\nabc\r\n4;x=y\r\ndefg\r\n0\r\na: b\r\n\r\n";
    struct client c;
    client_open(&c, &server);
    for (size_t i = 0; i + 1 < sizeof text; i++)
        client_send_n(&c, text + i, 1);
    client_expect_answer(&c, 200, "abcdefg");
    client_close(&c);
}

/* The connection is kept, and what came behind the body is not lost. */
static void test_requests_behind_a_body(void **state)
{
    (void)state;
    struct client c;
    client_open(&c, &server);
    client_send(&c, HEAD("/up/count") LENGTH("3") "abc" HEAD("/up/echo") CHUNKED
                "2\r\nde\r\n0\r\n\r\n"
                "GET /echo/1 HTTP/1.1\r\nHost: h\r\n\r\n" HEAD("/up/count") LENGTH("4") "f");
    client_expect_answer(&c, 200, "3 bytes");
    client_expect_answer(&c, 200, "de");
    client_expect_answer(&c, 200, "GET /echo/1 ");
    client_send(&c, "ghiGET /echo/2 HTTP/1.1\r\nHost: h\r\n\r\n");
    client_expect_answer(&c, 200, "4 bytes");
    client_expect_answer(&c, 200, "GET /echo/2 ");
    client_close(&c);
}

static void test_a_client_that_expects_to_be_told(void **state)
{
    (void)state;
    struct client c;
    client_open(&c, &server);
    client_send(&c, HEAD("/up/hold") "Expect: 100-continue\r\n" LENGTH("5"));
    wait_for(&face.handled, 1);
    assert_int_equal(c.in.n, 0);
    on_loop(&server, release_held, NULL);
    client_expect(&c, "HTTP/1.1 100 Continue\r\n\r\n");
    client_send(&c, "hello");
    client_expect_answer(&c, 200, "5 bytes");
    /* Who does not wait is not told. */
    client_send(&c, HEAD("/up/count") "Expect: 100-continue\r\n" LENGTH("5") "hello");
    client_expect_answer(&c, 200, "5 bytes");
    /* It is refused without having sent anything. */
    client_send(&c, HEAD("/up/refuse") "Expect: 100-continue\r\n" LENGTH("5"));
    client_expect_answer(&c, 403, "no");
    client_expect_end(&c);
    client_close(&c);
}

/* The socket is not read while nobody takes the body, so the client cannot send on. */
static void test_a_paused_body_is_not_read(void **state)
{
    (void)state;
    struct client c;
    char *body = large_body(LARGE_LEN);
    client_open(&c, &server);
    for (int i = 0; i < 2; i++) {
        const char *target = i ? "hold" : "pause";
        char head[128];
        snprintf(head, sizeof head, "POST /up/%s HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n",
                 target, LARGE_LEN);
        client_send(&c, head);
        size_t sent = 0;
        while (sent < LARGE_LEN) { /* until the kernel's buffers are full */
            ssize_t n = send(c.fd, body + sent, LARGE_LEN - sent, MSG_DONTWAIT);
            if (n < 0)
                break;
            sent += (size_t)n;
        }
        wait_for(&face.handled, (size_t)i + 1);
        assert_true(sent < LARGE_LEN);
        assert_int_equal(face.got, (size_t)i * LARGE_LEN);
        on_loop(&server, release_held, NULL);
        client_send_n(&c, body + sent, LARGE_LEN - sent);
        client_expect_answer(&c, 200, "8388608 bytes");
    }
    assert_true(face.piece_max <= VD_LOOP_SCRATCH_LEN);
    free(body);
    client_close(&c);
}

static void test_early_answers(void **state)
{
    (void)state;
    struct client c;
    client_open(&c, &server);
    /* All of the body has come: the connection is good for more. */
    client_send(&c, HEAD("/up/refuse") LENGTH("5") "hello");
    client_expect_answer(&c, 403, "no");
    client_send(&c, HEAD("/up/refuse") CHUNKED "1\r\na\r\n0\r\n\r\n");
    client_expect_answer(&c, 403, "no");
    client_send(&c, HEAD("/up/first") LENGTH("5") "hello");
    client_expect_answer(&c, 409, "enough");
    client_send(&c, HEAD("/up/short") LENGTH("5") "hello" HEAD("/up/count") LENGTH("1") "a");
    client_expect_answer(&c, 200, "enough");
    client_expect_answer(&c, 200, "1 bytes");
    client_close(&c);
    /* Else it ends with the answer, which gets through although the client sends on. */
    static const char *const targets[] = {"refuse", "first", "short"};
    for (size_t i = 0; i < 3; i++) {
        struct answer a;
        char head[128], zeros[65536] = {0};
        snprintf(head, sizeof head,
                 "POST /up/%s HTTP/1.1\r\nHost: h\r\nContent-Length: 600000\r\n\r\n", targets[i]);
        client_open(&c, &server);
        client_send(&c, head);
        for (int k = 0; k < 3; k++)
            client_try_send(&c, zeros, sizeof zeros);
        client_answer(&c, &a, false);
        assert_int_equal(a.status, i == 0 ? 403 : i == 1 ? 409 : 200);
        assert_true(a.closes || i == 2);
        client_expect_end(&c);
        answer_release(&a);
        client_close(&c);
    }
    client_open(&c, &server);
    client_send(&c, HEAD("/up/abort") LENGTH("50") "hello");
    assert_string_equal(client_rest(&c), "");
    client_close(&c);
    assert_int_equal(face.gone, 0);
}

static void test_bodies_that_are_cut(void **state)
{
    (void)state;
    static const char *const texts[] = {
        HEAD("/up/count") LENGTH("10") "hello",    HEAD("/up/count") LENGTH("10"),
        HEAD("/up/echo") CHUNKED "5\r\nhello\r\n", HEAD("/up/cat") CHUNKED "5\r\nhello\r\n0\r\n",
        HEAD("/up/hold") LENGTH("10") "hello",     HEAD("/up/pause") LENGTH("10") "hello",
    };
    struct client c;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        client_open(&c, &server);
        client_send(&c, texts[i]);
        wait_for(&face.handled, 2 * i + 1);
        client_finish(&c); /* says that it is done ... */
        on_loop(&server, release_held, NULL);
        wait_for(&face.gone, 2 * i + 1);
        client_close(&c);
        client_open(&c, &server);
        client_send(&c, texts[i]);
        wait_for(&face.handled, 2 * i + 2);
        client_vanish(&c); /* ... or is gone */
        on_loop(&server, release_held, NULL);
        wait_for(&face.gone, 2 * i + 2);
    }
    assert_int_equal(face.ends, 0);
    wait_for_connections(&server, 0);
    wait_for(&face.exits, 2);
}

/* A client that has sent all and says so gets its answer, streamed or not. */
static void test_a_client_that_has_said_all(void **state)
{
    (void)state;
    static const char *const targets[] = {"count", "echo", "cat", "pause"};
    for (size_t i = 0; i < 4; i++) {
        struct client c;
        char head[128];
        snprintf(head, sizeof head,
                 "POST /up/%s HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello", targets[i]);
        client_open(&c, &server);
        client_send(&c, head);
        client_finish(&c);
        wait_for(&face.handled, i + 1);
        on_loop(&server, release_held, NULL);
        client_expect_answer(&c, 200, i % 3 == 0 ? "5 bytes" : "hello");
        client_close(&c);
    }
}

static void test_bodies_that_lie(void **state)
{
    (void)state;
    struct client c;
    static const char *const bad[] = {
        HEAD("/up/count") CHUNKED "5\r\nhello!\r\n",
        HEAD("/up/count") CHUNKED "xyz\r\n",
        HEAD("/up/count") CHUNKED "ffffffffffffffffff\r\n",
        HEAD("/up/hold") CHUNKED "5\r\nhelloX",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct answer a;
        client_open(&c, &server);
        client_send(&c, bad[i]);
        wait_for(&face.handled, i + 1);
        on_loop(&server, release_held, NULL);
        client_answer(&c, &a, false);
        assert_int_equal(a.status, 400);
        assert_true(a.closes);
        client_expect_end(&c);
        answer_release(&a);
        client_close(&c);
        wait_for(&face.gone, i + 1);
    }
    /* The answer has begun: it is broken off. */
    client_open(&c, &server);
    client_send(&c, HEAD("/up/echo") CHUNKED "5\r\nhello\r\n");
    client_expect(&c, "hello\r\n");
    client_send(&c, "nonsense\r\n");
    assert_string_equal(client_rest(&c), "");
    client_close(&c);
}

static void test_bodies_that_are_too_large(void **state)
{
    (void)state;
    face.route.body_len_max = 1000;
    server_start(&server);
    struct client c;
    client_open(&c, &server);
    client_send(&c, HEAD("/up/count") LENGTH("1001")); /* at once, by its length */
    client_expect(&c, "HTTP/1.1 413 ");
    client_close(&c);
    assert_int_equal(face.handled, 0);
    client_open(&c, &server);
    client_send(&c, HEAD("/up/count") CHUNKED "3e8\r\n");
    char *body = large_body(1000);
    client_send_n(&c, body, 1000);
    client_send(&c, "\r\n1\r\na\r\n0\r\n\r\n");
    client_expect(&c, "HTTP/1.1 413 ");
    client_close(&c);
    wait_for(&face.gone, 1);
    client_open(&c, &server);
    client_send(&c, HEAD("/up/count") LENGTH("1000"));
    client_send_n(&c, body, 1000);
    client_expect_answer(&c, 200, "1000 bytes");
    client_close(&c);
    struct h2 *h = VD_NEW(struct h2);
    h2_open(h, &server, &(struct h2_options){0});
    struct h2_stream *s = h2_ask(h, "POST", "/up/count", body);
    h2_expect(h, s, 200, "1000 bytes");
    free(body);
    body = large_body(100000);
    s = h2_ask(h, "POST", "/up/count", body);
    while (!s->status && h2_pump(h))
        ;
    assert_int_equal(s->status, 413);
    h2_close(h);
    free(h);
    free(body);
    wait_for(&face.gone, 2);
}

static void test_a_body_without_a_limit(void **state)
{
    (void)state;
    face.route.body_len_max = 0;
    server_start(&server);
    struct client c;
    client_open(&c, &server);
    client_send(&c, HEAD("/up/count") LENGTH("5") "hello");
    client_expect_answer(&c, 200, "5 bytes");
    client_send(&c, HEAD("/up/count") CHUNKED "5\r\nhello\r\n0\r\n\r\n");
    client_expect_answer(&c, 200, "5 bytes");
    client_close(&c);
}

/* A client that does not send on is refused; one that is not asked to may wait. */
static void test_a_body_that_stops(void **state)
{
    (void)state;
    server.services[0].deadlines.body_idle_ms = 300;
    server_start(&server);
    struct client slow, held, dribble;
    client_open(&held, &server);
    client_send(&held, HEAD("/up/pause") LENGTH("10") "hello");
    client_open(&slow, &server);
    client_send(&slow, HEAD("/up/count") LENGTH("10") "hello");
    client_open(&dribble, &server);
    client_send(&dribble, HEAD("/up/count") LENGTH("10"));
    for (int i = 0; i < 10; i++) { /* longer than the timeout in all */
        nanosleep(&(struct timespec){.tv_nsec = 60000000}, NULL);
        client_send(&dribble, "x");
    }
    client_expect_answer(&dribble, 200, "10 bytes");
    client_expect(&slow, "HTTP/1.1 408 ");
    wait_for(&face.gone, 1);
    on_loop(&server, release_held, NULL);
    client_send(&held, "world");
    client_expect_answer(&held, 200, "10 bytes");
    /* The same over HTTP/2. */
    struct h2 *h = VD_NEW(struct h2);
    h2_open(h, &server, &(struct h2_options){0});
    static const char *const headers[] = {":method", "POST",       ":path", "/up/count", ":scheme",
                                          "http",    ":authority", "h",     NULL};
    struct h2_stream *s = h2_ask_with(h, headers, NULL, true);
    while (!s->status && h2_pump(h))
        ;
    assert_int_equal(s->status, 408);
    h2_close(h);
    free(h);
    wait_for(&face.gone, 2);
    client_close(&slow);
    client_close(&held);
    client_close(&dribble);
}

/* ---- HTTP/2 ---- */

static void test_bodies_over_http2(void **state)
{
    (void)state;
    struct h2 *h = VD_NEW(struct h2);
    char *body = large_body(LARGE_LEN);
    h2_open(h, &server, &(struct h2_options){0});
    h2_expect(h, h2_ask(h, "POST", "/up/count", "hello"), 200, "5 bytes");
    h2_expect(h, h2_ask(h, "POST", "/up/count", ""), 200, "0 bytes");
    h2_expect(h, h2_ask(h, "GET", "/up/count", NULL), 200, "0 bytes");
    h2_expect(h, h2_ask(h, "POST", "/up/count", body), 200, "8388608 bytes");
    h2_expect(h, h2_ask(h, "POST", "/up/echo", body), 200, body);
    h2_expect(h, h2_ask(h, "POST", "/up/cat", body), 200, body);
    assert_true(face.piece_max <= VD_HTTP_BODY_BUFFER_LEN);
    h2_close(h);
    free(h);
    free(body);
}

/* Streams whose bodies nobody takes hold no more than a window each, and nobody else up. */
static void test_other_streams_go_on(void **state)
{
    (void)state;
    enum { HELD = 40 };
    struct h2 *h = VD_NEW(struct h2);
    struct h2_stream *held[HELD];
    char *body = large_body(LARGE_LEN);
    h2_open(h, &server, &(struct h2_options){0});
    for (int i = 0; i < HELD; i++)
        held[i] = h2_ask(h, "POST", "/up/pause", body);
    struct h2_stream *one = h2_ask(h, "POST", "/up/count", body);
    h2_expect(h, one, 200, "8388608 bytes");
    h2_expect(h, h2_ask(h, "POST", "/echo", "x"), 200, "POST /echo x");
    assert_int_equal(face.got, LARGE_LEN);
    for (int i = 0; i < HELD; i++)
        assert_true(LARGE_LEN - held[i]->upload.n <= VD_HTTP_BODY_BUFFER_LEN);
    on_loop(&server, release_held, NULL);
    for (int i = 0; i < HELD; i++)
        h2_expect(h, held[i], 200, "8388608 bytes");
    h2_close(h);
    free(h);
    free(body);
}

static void test_early_answers_over_http2(void **state)
{
    (void)state;
    struct h2 *h = VD_NEW(struct h2);
    char *body = large_body(LARGE_LEN);
    h2_open(h, &server, &(struct h2_options){0});
    h2_expect(h, h2_ask(h, "POST", "/up/refuse", body), 403, "no");
    h2_expect(h, h2_ask(h, "POST", "/up/first", body), 409, "enough");
    h2_expect(h, h2_ask(h, "POST", "/up/short", body), 200, "enough");
    h2_expect_reset(h, h2_ask(h, "POST", "/up/abort", body), NGHTTP2_INTERNAL_ERROR);
    h2_expect(h, h2_ask(h, "POST", "/up/count", "hello"), 200, "5 bytes");
    assert_int_equal(face.gone, 0);
    h2_close(h);
    free(h);
    free(body);
}

static void test_resets_over_http2(void **state)
{
    (void)state;
    static const char *const targets[] = {"/up/count", "/up/cat", "/up/hold", "/up/pause"};
    struct h2 *h = VD_NEW(struct h2);
    h2_open(h, &server, &(struct h2_options){0});
    for (size_t i = 0; i < 4; i++) {
        const char *const headers[] = {":method", "POST",       ":path", targets[i], ":scheme",
                                       "http",    ":authority", "h",     NULL};
        struct h2_stream *s = h2_ask_with(h, headers, NULL, true);
        h2_push(h);
        wait_for(&face.handled, i + 1);
        nghttp2_submit_rst_stream(h->session, NGHTTP2_FLAG_NONE, s->id, NGHTTP2_CANCEL);
        h2_push(h);
        wait_for(&face.gone, i + 1);
    }
    wait_for(&face.exits, 1);
    h2_expect(h, h2_ask(h, "POST", "/up/count", "hello"), 200, "5 bytes");
    h2_ask(h, "POST", "/up/pause", "hello");
    h2_push(h);
    wait_for(&face.handled, 6);
    h2_close(h); /* the whole connection */
    free(h);
    wait_for(&face.gone, 5);
}

/* ---- TLS ---- */

static void test_bodies_through_tls(void **state)
{
    (void)state;
    struct tls_files files;
    tls_files_make(&files);
    setup_with(&(struct vd_tls_files){.certificate = files.server, .key = files.server_key});
    server_start(&server);
    SSL_CTX *context = client_context(files.ca, NULL, NULL);
    struct client c;
    char *body = large_body(LARGE_LEN), head[128];
    assert_true(client_open_tls(&c, &server, context));
    snprintf(head, sizeof head, "POST /up/count HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n",
             LARGE_LEN);
    client_send(&c, head);
    client_send_n(&c, body, LARGE_LEN);
    client_expect_answer(&c, 200, "8388608 bytes");
    client_send(&c, HEAD("/up/count") CHUNKED);
    send_chunked(&c, body, LARGE_LEN);
    client_expect_answer(&c, 200, "8388608 bytes");
    client_send(&c, HEAD("/up/pause") LENGTH("30000"));
    client_send_n(&c, body, 30000);
    wait_for(&face.handled, 3);
    on_loop(&server, release_held, NULL);
    client_expect_answer(&c, 200, "30000 bytes");
    client_close(&c);
    struct h2 *h = VD_NEW(struct h2);
    h2_open(h, &server, &(struct h2_options){.tls = context});
    h2_expect(h, h2_ask(h, "POST", "/up/echo", body), 200, body);
    h2_close(h);
    free(h);
    free(body);
    SSL_CTX_free(context);
    tls_files_remove(&files);
    server_stop(&server);
}

/* ---- who it is ---- */

static struct vd_accounts accounts;
static _Atomic size_t asked;

/* As the server's: who has no key is a stranger, and others have an account. */
static void authenticate(struct vd_http_service *service, struct vd_exchange *x, bool is_head)
{
    struct vd_slice who;
    (void)service;
    asked++;
    assert_false(is_head); /* nobody is asked about a body that its handler reads */
    if (!vd_http_head_find(x->head, VD_SLICE("authorization"), &who)) {
        vd_route_refuse(x, &(struct vd_route_refusal){.status = 401, .why = "who are you?"});
        return;
    }
    struct vd_account *account = vd_accounts_get(&accounts, who);
    vd_connection_belongs_to(x->connection, account, VD_RANK_ORDINARY);
    bool good = !vd_exchange_charge(x, account, VD_RANK_ORDINARY) &&
                (!x->reader || !vd_upload_reserve(x->upload, account, VD_RANK_ORDINARY,
                                                  vd_upload_reader_len(x->head)));
    vd_account_unref(account);
    if (good)
        vd_route_handle(x);
    else
        vd_route_refuse(x, &(struct vd_route_refusal){.status = 429, .why = "too many"});
}

static void finished(struct vd_http_service *service, struct vd_exchange *x)
{
    (void)service;
    vd_exchange_discharge(x);
}

static void test_strangers_send_no_body(void **state)
{
    (void)state;
    vd_accounts_init(&accounts,
                     &(struct vd_account_limits){.user_requests = 100,
                                                 .requests = 1000,
                                                 .user_queued_bytes = 1 << 30,
                                                 .queued_bytes = 1 << 30,
                                                 .user_body_bytes = 5 * VD_HTTP_BODY_BUFFER_LEN,
                                                 .body_bytes = 1 << 30},
                     1);
    asked = 0;
    server.services[0].authenticate = authenticate;
    server.services[0].finished = finished;
    server_start(&server);
    struct client c[3];
    client_open(&c[0], &server);
    client_send(&c[0], HEAD("/up/count") "Expect: 100-continue\r\n" LENGTH("1000000"));
    client_expect(&c[0], "HTTP/1.1 401 "); /* and no 100 before it */
    client_close(&c[0]);
    assert_int_equal(face.handled, 0);
    /* Each of a user's readers has a buffer, and there is room for two. */
    for (int i = 0; i < 3; i++) {
        client_open(&c[i], &server);
        client_send(&c[i], HEAD("/up/pause") "Authorization: alice\r\n" LENGTH("1000") "x");
        wait_for(&asked, (size_t)i + 2);
    }
    client_expect(&c[2], "HTTP/1.1 429 ");
    wait_for(&face.handled, 2);
    client_vanish(&c[0]);
    wait_for(&face.gone, 1);
    client_close(&c[2]);
    client_open(&c[2], &server);
    client_send(&c[2], HEAD("/up/count") "Authorization: alice\r\n" LENGTH("3") "abc");
    client_expect_answer(&c[2], 200, "3 bytes");
    client_vanish(&c[1]);
    wait_for(&face.gone, 2);
    client_close(&c[2]);
    wait_for_connections(&server, 0);
    struct vd_account *alice = vd_accounts_get(&accounts, VD_SLICE("alice"));
    assert_int_equal(alice->body_bytes, 0);
    assert_int_equal(alice->requests, 0);
    vd_account_unref(alice);
    server_stop(&server);
    vd_accounts_release(&accounts);
}

/* ---- the end of the server ---- */

static void drain_all(struct server *s, void *arg)
{
    (void)arg;
    vd_http_service_drain(&s->services[0], 0);
}

/* A body that has begun may be finished; the connection ends with its answer. */
static void test_draining(void **state)
{
    (void)state;
    struct client c;
    struct h2 *h = VD_NEW(struct h2);
    client_open(&c, &server);
    client_send(&c, HEAD("/up/count") LENGTH("10") "hello");
    h2_open(h, &server, &(struct h2_options){0});
    struct h2_stream *s = h2_ask(h, "POST", "/up/pause", "hello");
    h2_push(h);
    wait_for(&face.handled, 2);
    on_loop(&server, drain_all, NULL);
    client_send(&c, "world");
    struct answer a;
    client_answer(&c, &a, false);
    assert_int_equal(a.status, 200);
    assert_true(a.closes);
    answer_release(&a);
    client_expect_end(&c);
    client_close(&c);
    on_loop(&server, release_held, NULL);
    h2_expect(h, s, 200, "5 bytes");
    h2_close(h);
    free(h);
    wait_for_connections(&server, 0);
}

/* Everything is closed while processes run and bodies wait. */
static void test_the_server_stops_meanwhile(void **state)
{
    (void)state;
    struct client c[3];
    static const char *const targets[] = {HEAD("/up/cat") LENGTH("10") "hello",
                                          HEAD("/up/echo") LENGTH("10") "hello",
                                          HEAD("/up/pause") LENGTH("10") "hello"};
    for (size_t i = 0; i < 3; i++) {
        client_open(&c[i], &server);
        client_send(&c[i], targets[i]);
        wait_for(&face.handled, i + 1);
    }
    server_stop(&server);
    assert_int_equal(face.gone, 3);
    assert_int_equal(face.exits, 1);
    for (size_t i = 0; i < 3; i++)
        client_close(&c[i]);
}

#define TEST(name)         cmocka_unit_test_setup_teardown(name, setup, teardown)
#define TEST_STOPPED(name) cmocka_unit_test_setup_teardown(name, setup_stopped, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_bodies_of_any_framing),
        TEST(test_a_body_comes_byte_by_byte),
        TEST(test_requests_behind_a_body),
        TEST(test_a_client_that_expects_to_be_told),
        TEST(test_a_paused_body_is_not_read),
        TEST(test_early_answers),
        TEST(test_bodies_that_are_cut),
        TEST(test_a_client_that_has_said_all),
        TEST(test_bodies_that_lie),
        TEST_STOPPED(test_bodies_that_are_too_large),
        TEST_STOPPED(test_a_body_without_a_limit),
        TEST_STOPPED(test_a_body_that_stops),
        TEST(test_bodies_over_http2),
        TEST(test_other_streams_go_on),
        TEST(test_early_answers_over_http2),
        TEST(test_resets_over_http2),
        cmocka_unit_test(test_bodies_through_tls),
        cmocka_unit_test_setup(test_strangers_send_no_body, setup_stopped),
        TEST(test_draining),
        cmocka_unit_test_setup(test_the_server_stops_meanwhile, setup),
    };
    return cmocka_run_group_tests_name("body_reader", tests, NULL, NULL);
}
