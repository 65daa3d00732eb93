/* Connections over real sockets: requests in, answers out, and how it ends. */
#include "net/connection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "net_client.h"

#define GET(target) "GET " target " HTTP/1.1\r\nHost: h\r\n\r\n"

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

/* ---- requests ---- */

static void test_many_requests_on_one_connection(void **state)
{
    struct client c;
    (void)state;
    client_open(&c, &server);
    for (int i = 0; i < 100; i++) {
        client_send(&c, GET("/echo"));
        client_expect_answer(&c, 200, "GET /echo ");
    }
    assert_int_equal(server.handled, 100);
    assert_int_equal(server_connections(&server), 1);
    client_close(&c);
    wait_for_connections(&server, 0);
}

/* Requests of all shapes, and what must come back. */
static const struct {
    const char *request, *answer;
} shapes[] = {
    {GET("/a"), "GET /a "},
    {"\r\n" GET("/b"), "GET /b "},
    {"POST /c HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello", "POST /c hello"},
    {"PUT /d HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
     "3\r\nabc\r\n5;x=y\r\ndefgh\r\n0\r\nTrailer: t\r\n\r\n",
     "PUT /d abcdefgh"},
    {"POST /e HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n", "POST /e "},
    {"PATCH /f HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "PATCH /f "},
    {"DELETE /later HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nxy", "DELETE /later xy"},
    {GET("/g"), "GET /g "},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static void all_shapes(struct vd_buf *out)
{
    for (size_t i = 0; i < SHAPES; i++)
        vd_buf_add_text(out, shapes[i].request);
}

static void expect_shapes(struct client *c)
{
    for (size_t i = 0; i < SHAPES; i++)
        client_expect_answer(c, 200, shapes[i].answer);
}

static void test_pipelined_requests_split_anywhere(void **state)
{
    struct vd_buf text = {0};
    struct client c;
    (void)state;
    all_shapes(&text);
    client_open(&c, &server);
    for (size_t split = 0; split <= text.n; split++) {
        client_send_n(&c, text.p, split);
        (void)server_connections(&server); /* a turn or two: the parts arrive apart */
        client_send_n(&c, text.p + split, text.n - split);
        expect_shapes(&c);
    }
    client_close(&c);
    vd_buf_release(&text);
}

static void test_pipelined_requests_byte_by_byte(void **state)
{
    struct vd_buf text = {0};
    struct client c;
    (void)state;
    all_shapes(&text);
    client_open(&c, &server);
    for (size_t i = 0; i < text.n; i++) {
        client_send_n(&c, text.p + i, 1);
        (void)server_connections(&server);
    }
    expect_shapes(&c);
    client_close(&c);
    vd_buf_release(&text);
}

struct ahead {
    size_t n;         /* bytes that were read after the request that is held */
    bool is_borrowed; /* its head and body are where it has them */
};

static void look_ahead(struct server *s, void *arg)
{
    struct ahead *ahead = arg;
    const struct vd_exchange *x = s->held[0];
    const struct vd_intake *in = x->connection->intake;
    ahead->n = in->bytes.n - in->next_at + in->later.n;
    ahead->is_borrowed = vd_http_head_method(x->head).p == in->bytes.p &&
                         x->body.p == in->bytes.p + x->head->used;
}

/* Whoever answers later reads head and body again, and other requests have come by then. */
static void test_a_request_stays_where_it_is_until_its_answer(void **state)
{
    enum { LATER = 500 };
    struct vd_buf text = {0};
    struct ahead ahead = {0};
    struct client c;
    (void)state;
    client_open(&c, &server);
    client_send(&c, "POST /hold HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello");
    wait_for(&server.handled, 1);
    for (int i = 0; i < LATER; i++)
        vd_buf_addf(&text, "GET /echo/%d HTTP/1.1\r\nHost: h\r\n\r\n", i);
    client_send_n(&c, text.p, text.n);
    while (ahead.n < text.n)
        on_loop(&server, look_ahead, &ahead);
    assert_true(ahead.is_borrowed);
    server_answer_held(&server, "at last");
    client_expect_answer(&c, 200, "at last");
    for (int i = 0; i < LATER; i++) {
        char want[32];
        snprintf(want, sizeof want, "GET /echo/%d ", i);
        client_expect_answer(&c, 200, want);
    }
    client_close(&c);
    vd_buf_release(&text);
}

static void test_a_thousand_requests_in_one_piece(void **state)
{
    enum { N = 1000 };
    struct vd_buf text = {0};
    struct client c;
    (void)state;
    for (int i = 0; i < N; i++)
        vd_buf_addf(&text, "GET /echo/%d HTTP/1.1\r\nHost: h\r\n\r\n", i);
    client_open(&c, &server);
    client_send_n(&c, text.p, text.n);
    for (int i = 0; i < N; i++) {
        char want[32];
        snprintf(want, sizeof want, "GET /echo/%d ", i);
        client_expect_answer(&c, 200, want);
    }
    client_close(&c);
    vd_buf_release(&text);
}

static void largest_backlog(struct server *s, void *arg)
{
    size_t *max = arg;
    for (struct vd_connection *c = s->services[0].connections; c; c = c->next)
        *max = c->backlog > *max ? c->backlog : *max;
}

/* 300 requests of 1 MB each, of which nothing is read at first. */
static void test_requests_wait_while_answers_are_not_read(void **state)
{
    enum { N = 300, LEN = 1000000 };
    struct client c;
    size_t backlog = 0;
    (void)state;
    client_open(&c, &server);
    for (int i = 0; i < N; i++)
        client_send(&c, GET("/size/1000000"));
    client_send(&c, GET("/echo"));
    wait_for_connections(&server, 1);
    for (int i = 0; i < 50; i++)
        on_loop(&server, largest_backlog, &backlog);
    assert_true(server.handled < N / 2);
    assert_true(backlog < 3 * LEN);
    for (int i = 0; i < N; i++) {
        struct answer a;
        client_answer(&c, &a, false);
        assert_int_equal(a.body.n, LEN);
        answer_release(&a);
    }
    client_expect_answer(&c, 200, "GET /echo ");
    client_close(&c);
}

static void test_head_has_no_body_but_its_length(void **state)
{
    struct client c;
    struct answer a;
    (void)state;
    client_open(&c, &server);
    client_send(&c, "HEAD /size/1234 HTTP/1.1\r\nHost: h\r\n\r\n");
    client_answer(&c, &a, true);
    assert_non_null(strstr(a.head.p, "\r\nContent-Length: 1234\r\n"));
    answer_release(&a);
    client_send(&c, "HEAD /pull/3 HTTP/1.1\r\nHost: h\r\n\r\n");
    client_answer(&c, &a, true);
    assert_true(a.chunked);
    answer_release(&a);
    client_send(&c, GET("/echo"));
    client_expect_answer(&c, 200, "GET /echo ");
    client_close(&c);
}

static void test_answers_that_cannot_have_a_body(void **state)
{
    struct client c;
    struct answer a;
    (void)state;
    client_open(&c, &server);
    for (int status = 204; status <= 304; status += 100) {
        char request[64];
        snprintf(request, sizeof request, "GET /status/%d HTTP/1.1\r\nHost: h\r\n\r\n", status);
        client_send(&c, request);
        client_answer(&c, &a, true);
        assert_int_equal(a.status, status);
        assert_null(strstr(a.head.p, "Content-Length"));
        answer_release(&a);
    }
    client_send(&c, GET("/status/404"));
    client_expect_answer(&c, 404, "so it is");
    client_close(&c);
}

static void test_http_1_0_closes_unless_asked_not_to(void **state)
{
    struct client c;
    struct answer a;
    (void)state;
    client_open(&c, &server);
    client_send(&c, "GET /echo HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    client_answer(&c, &a, false);
    assert_non_null(strstr(a.head.p, "\r\nConnection: keep-alive\r\n"));
    answer_release(&a);
    client_send(&c, "GET /echo HTTP/1.0\r\n\r\n" GET("/not-this"));
    client_answer(&c, &a, false);
    assert_true(a.closes);
    answer_release(&a);
    client_expect_end(&c);
    client_close(&c);
    assert_int_equal(server.handled, 2);
}

static void test_connection_close_closes_after_the_answer(void **state)
{
    struct client c;
    struct answer a;
    (void)state;
    client_open(&c, &server);
    client_send(&c, "GET /size/3000000 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    client_answer(&c, &a, false);
    assert_true(a.closes);
    assert_int_equal(a.body.n, 3000000);
    answer_release(&a);
    client_expect_end(&c);
    client_close(&c);
    wait_for_connections(&server, 0);
}

/* ---- Expect: 100-continue ---- */

#define EXPECTING(length)                                                                          \
    "POST /echo HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: " length "\r\n\r\n"

static void test_continue_is_said_to_who_waits(void **state)
{
    struct client c;
    (void)state;
    client_open(&c, &server);
    client_send(&c, EXPECTING("5"));
    client_expect(&c, "HTTP/1.1 100 Continue\r\n\r\n");
    client_send(&c, "hello");
    client_expect_answer(&c, 200, "POST /echo hello");
    client_send(&c, EXPECTING("5") "again"); /* who did not wait is not told */
    client_expect_answer(&c, 200, "POST /echo again");
    client_send(&c, EXPECTING("0")); /* and there is nothing to wait for */
    client_expect_answer(&c, 200, "POST /echo ");
    client_send(&c, EXPECTING("99999999"));
    struct answer a;
    client_answer(&c, &a, false);
    assert_int_equal(a.status, 413);
    answer_release(&a);
    client_expect_end(&c);
    client_close(&c);
}

/* ---- bad input ---- */

static void test_malformed_requests_are_answered_once_and_closed(void **state)
{
    static const struct {
        const char *request;
        unsigned status;
    } cases[] = {
        {"GET / HTTP/1.1\r\n\r\n", 400},
        {"GET / HTTP/1.1\nHost: h\n\n", 400},
        {"GET  / HTTP/1.1\r\nHost: h\r\n\r\n", 400},
        {"\x16\x03\x01\x02 a TLS hello", 400},
        {"GET / HTTP/2.0\r\nHost: h\r\n\r\n", 505},
        {"CONNECT h:80 HTTP/1.1\r\nHost: h\r\n\r\n", 501},
        {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
         400},
        {"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc", 400},
        {"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\n\r\n", 501},
        {"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nZ\r\n", 400},
        {"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n", 400},
        {"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\n", 413},
        {"GET / HTTP/1.1\r\nHost: h\r\nExpect: a-miracle\r\n\r\n", 417},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct client c;
        struct answer a;
        client_open(&c, &server);
        client_send(&c, "HEAD /echo HTTP/1.1\r\nHost: h\r\n\r\n"); /* a good one first */
        client_answer(&c, &a, true);
        answer_release(&a);
        client_send(&c, cases[i].request);
        client_try_send(&c, GET("/smuggled"), sizeof GET("/smuggled") - 1);
        client_answer(&c, &a, false);
        if (a.status != cases[i].status || !a.closes || a.body.n == 0)
            fail_msg("%s: %u %s", cases[i].request, a.status, vd_buf_text(&a.head));
        answer_release(&a);
        client_expect_end(&c);
        client_close(&c);
    }
    assert_int_equal(server.handled, sizeof cases / sizeof *cases);
    assert_int_equal(server.finished, 2 * sizeof cases / sizeof *cases);
}

static void refuse_in_json(struct vd_http_service *service, struct vd_exchange *x,
                           const struct vd_route_refusal *refusal)
{
    struct vd_buf text = {0};
    (void)service;
    vd_buf_addf(&text, "{\"code\":%u,\"long\":%d}", refusal->status, strlen(refusal->why) > 10);
    vd_exchange_respond(x, &(struct vd_response){.status = refusal->status,
                                                 .content_type = VD_SLICE("application/json"),
                                                 .body = vd_buf_slice(&text)});
    vd_buf_release(&text);
}

static void test_the_service_may_word_its_refusals(void **state)
{
    struct client c;
    (void)state;
    server_init(&server, 1, NULL);
    server.route.refuse = refuse_in_json;
    server_start(&server);
    client_open(&c, &server);
    client_send(&c, "nonsense\r\n\r\n");
    client_expect_answer(&c, 400, "{\"code\":400,\"long\":1}");
    client_expect_end(&c);
    client_close(&c);
}

/* The client sends all of it before it reads: the answer must survive. */
static void test_a_body_too_large_is_refused_and_the_answer_arrives(void **state)
{
    enum { LEN = 8000000 };
    char *body = calloc(1, LEN);
    (void)state;
    for (int chunked = 0; chunked < 2; chunked++) {
        struct client c;
        struct answer a;
        client_open(&c, &server);
        client_send(&c, chunked ? "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
                                  "7a1200\r\n"
                                : "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 8000000\r\n\r\n");
        client_try_send(&c, body, LEN);
        client_answer(&c, &a, false);
        assert_int_equal(a.status, 413);
        assert_true(a.closes);
        answer_release(&a);
        client_expect_end(&c);
        client_close(&c);
    }
    assert_int_equal(server.handled, 0);
    free(body);
}

static void test_a_body_of_the_largest_size_is_taken(void **state)
{
    struct vd_buf body = {0}, want = {0};
    struct client c;
    (void)state;
    for (int i = 0; i < VD_BODY_LEN_MAX; i++)
        vd_buf_add_char(&body, (char)('a' + i % 26));
    vd_buf_add_text(&want, "POST /later ");
    vd_buf_add(&want, body.p, body.n);
    client_open(&c, &server);
    for (int i = 0; i < 2; i++) {
        client_send(&c, "POST /later HTTP/1.1\r\nHost: h\r\nContent-Length: 3145728\r\n\r\n");
        client_send_n(&c, body.p, body.n);
        client_expect_answer(&c, 200, want.p);
    }
    client_close(&c);
    vd_buf_release(&body);
    vd_buf_release(&want);
}

/* ---- slow clients ---- */

static void start_impatient(void)
{
    server_init(&server, 1, NULL);
    server.services[0].deadlines = (struct vd_http_deadlines){
        .handshake_ms = 20,
        .head_ms = 20,
        .body_ms = 20,
        .idle_ms = 20,
        .send_ms = 20,
        .linger_ms = 20,
    };
    server_start(&server);
}

static void test_slow_requests_get_408(void **state)
{
    static const char *const parts[] = {
        "G",
        "GET / HTTP/1.1\r\nHost: h\r\n",
        "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhell",
        "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n",
        (GET("/echo") "G"),
    };
    (void)state;
    start_impatient();
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct client c;
        struct answer a;
        client_open(&c, &server);
        client_send(&c, parts[i]);
        if (strstr(parts[i], "/echo"))
            client_expect_answer(&c, 200, "GET /echo ");
        client_answer(&c, &a, false);
        assert_int_equal(a.status, 408);
        assert_true(a.closes);
        answer_release(&a);
        client_expect_end(&c);
        wait_for_connections(&server, 0); /* though the client does not close */
        client_close(&c);
    }
}

static void test_idle_connections_are_closed(void **state)
{
    struct client fresh, used;
    (void)state;
    start_impatient();
    client_open(&fresh, &server);
    client_open(&used, &server);
    client_send(&used, GET("/echo"));
    client_expect_answer(&used, 200, "GET /echo ");
    client_expect_end(&used);
    client_expect_end(&fresh);
    client_close(&used);
    client_close(&fresh);
}

static void test_a_held_request_has_no_deadline(void **state)
{
    struct client held, other;
    (void)state;
    start_impatient();
    client_open(&held, &server);
    client_send(&held, GET("/hold"));
    wait_for_held(&server, 1);
    client_open(&other, &server);
    client_expect_end(&other); /* a deadline later */
    server_answer_held(&server, "at last");
    client_expect_answer(&held, 200, "at last");
    client_close(&held);
    client_close(&other);
}

static void test_a_client_that_does_not_read_is_closed(void **state)
{
    struct client c;
    (void)state;
    start_impatient();
    client_open(&c, &server);
    client_send(&c, GET("/size/50000000"));
    wait_for(&server.handled, 1);
    wait_for_connections(&server, 0);
    client_rest(&c);
    assert_true(c.in.n < 50000000);
    client_close(&c);
}

/* Slower than the deadline as a whole, but it reads. */
static void test_a_client_that_reads_slowly_gets_all(void **state)
{
    enum { LEN = 30000000 };
    (void)state;
    for (int closes = 0; closes < 2; closes++) {
        struct client c;
        server_init(&server, 1, NULL);
        server.services[0].deadlines.send_ms = server.services[0].deadlines.idle_ms = 300;
        server_start(&server);
        client_open(&c, &server);
        client_send(&c, closes
                            ? "GET /size/30000000 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
                            : GET("/size/30000000"));
        uint64_t start_ns = vd_clock_mono_ns(vd_clock_system());
        size_t got = 0;
        while (got < LEN) {
            if (!client_receive(&c))
                fail_msg("cut after %zu bytes", got);
            got += c.in.n;
            vd_buf_reset(&c.in);
            /* Evenly over about a second. */
            while (vd_clock_mono_ns(vd_clock_system()) - start_ns < got * 33)
                ;
        }
        client_close(&c);
        if (!closes)
            server_stop(&server);
    }
}

/* ---- half-closed and vanished clients ---- */

static void test_a_half_closed_client_gets_its_answers(void **state)
{
    static const char *const requests[] = {
        GET("/one") GET("/two"),
        GET("/later/one") GET("/later/two"),
        GET("/one") "GET /two HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
        GET("/one") GET("/two") "GET /thr",
    };
    (void)state;
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        struct client c;
        bool later = strstr(requests[i], "later");
        client_open(&c, &server);
        client_send(&c, requests[i]);
        client_finish(&c);
        client_expect_answer(&c, 200, later ? "GET /later/one " : "GET /one ");
        client_expect_answer(&c, 200, later ? "GET /later/two " : "GET /two ");
        client_expect_end(&c);
        client_close(&c);
        wait_for_connections(&server, 0);
    }
}

static void test_a_half_closed_client_gets_a_held_answer_to_a_large_body(void **state)
{
    struct vd_buf request = {0};
    struct client c;
    (void)state;
    vd_buf_add_text(&request, "POST /hold HTTP/1.1\r\nHost: h\r\nContent-Length: 200000\r\n\r\n");
    for (int i = 0; i < 200000; i++)
        vd_buf_add_char(&request, 'b');
    for (int i = 0; i < 4000; i++) /* more than is read ahead */
        vd_buf_add_text(&request, GET("/echo/behind"));
    client_open(&c, &server);
    client_send_n(&c, request.p, request.n);
    client_finish(&c);
    wait_for_held(&server, 1);
    server_answer_held(&server, "here");
    client_expect_answer(&c, 200, "here");
    for (int i = 0; i < 4000; i++)
        client_expect_answer(&c, 200, "GET /echo/behind ");
    client_expect_end(&c);
    client_close(&c);
    vd_buf_release(&request);
}

static void test_a_half_closed_client_reads_a_large_last_answer(void **state)
{
    struct client c;
    struct answer a;
    (void)state;
    client_open(&c, &server);
    client_send(&c, "GET /size/20000000 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    wait_for(&server.finished, 1);
    client_finish(&c);
    (void)server_connections(&server);
    client_answer(&c, &a, false);
    assert_int_equal(a.body.n, 20000000);
    answer_release(&a);
    client_expect_end(&c);
    client_close(&c);
}

static void test_clients_that_vanish_at_any_byte(void **state)
{
    struct vd_buf text = {0};
    (void)state;
    all_shapes(&text);
    for (size_t n = 0; n < text.n; n += 3) {
        struct client c;
        client_open(&c, &server);
        client_send_n(&c, text.p, n);
        if (n % 2)
            client_vanish(&c);
        else
            client_close(&c);
    }
    wait_for_connections(&server, 0);
    vd_buf_release(&text);
}

/* ---- the end ---- */

static void drain(struct server *s, void *arg)
{
    (void)arg;
    vd_http_service_drain(&s->services[0], 0);
}

static void test_draining_ends_idle_ones_and_lets_answers_out(void **state)
{
    struct client idle, holding, slow, late;
    struct answer a;
    (void)state;
    client_open(&idle, &server);
    client_send(&idle, GET("/echo"));
    client_expect_answer(&idle, 200, "GET /echo ");
    client_open(&holding, &server);
    client_send(&holding, GET("/hold") GET("/not-this"));
    wait_for_held(&server, 1);
    client_open(&slow, &server); /* an answer is complete, but not sent */
    client_send(&slow, GET("/size/20000000"));
    wait_for(&server.finished, 2);
    on_loop(&server, drain, NULL);
    client_expect_end(&idle);
    client_answer(&slow, &a, false);
    assert_int_equal(a.body.n, 20000000);
    answer_release(&a);
    client_expect_end(&slow);
    server_answer_held(&server, "done");
    client_answer(&holding, &a, false);
    assert_true(a.closes);
    answer_release(&a);
    client_expect_end(&holding);
    client_open(&late, &server);
    client_send(&late, GET("/echo"));
    client_answer(&late, &a, false);
    assert_true(a.closes);
    answer_release(&a);
    client_expect_end(&late);
    client_close(&idle);
    client_close(&holding);
    client_close(&slow);
    client_close(&late);
    wait_for_connections(&server, 0);
    assert_int_equal(server.handled, 4);
}

static void close_everything(struct server *s, void *arg)
{
    (void)arg;
    vd_http_service_close_all(&s->services[0]);
}

static void test_close_all_tells_who_was_answering(void **state)
{
    enum { N = 20 };
    struct client c[N];
    (void)state;
    for (int i = 0; i < N; i++) {
        client_open(&c[i], &server);
        client_send(&c[i], i % 2 ? GET("/hold") : GET("/stream"));
    }
    wait_for_held(&server, N);
    on_loop(&server, close_everything, NULL);
    assert_int_equal(server.gone, N);
    assert_int_equal(server_connections(&server), 0);
    for (int i = 0; i < N; i++) {
        client_rest(&c[i]);
        client_close(&c[i]);
    }
}

static void test_the_log_knows_how_much_was_sent(void **state)
{
    struct client c;
    (void)state;
    client_open(&c, &server);
    client_send(&c, GET("/size/100000"));
    client_expect(&c, "\r\n\r\n");
    wait_for(&server.finished, 1);
    assert_in_range(server.sent, 100000, 100400);
    assert_int_equal(server.last_status, 200);
    client_close(&c);
}

#define TEST(name)     cmocka_unit_test_setup_teardown(name, setup, teardown)
#define TEST_OWN(name) cmocka_unit_test_setup_teardown(name, NULL, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_many_requests_on_one_connection),
        TEST(test_pipelined_requests_split_anywhere),
        TEST(test_pipelined_requests_byte_by_byte),
        TEST(test_a_request_stays_where_it_is_until_its_answer),
        TEST(test_a_thousand_requests_in_one_piece),
        TEST(test_requests_wait_while_answers_are_not_read),
        TEST(test_head_has_no_body_but_its_length),
        TEST(test_answers_that_cannot_have_a_body),
        TEST(test_http_1_0_closes_unless_asked_not_to),
        TEST(test_connection_close_closes_after_the_answer),
        TEST(test_continue_is_said_to_who_waits),
        TEST(test_malformed_requests_are_answered_once_and_closed),
        TEST_OWN(test_the_service_may_word_its_refusals),
        TEST(test_a_body_too_large_is_refused_and_the_answer_arrives),
        TEST(test_a_body_of_the_largest_size_is_taken),
        TEST_OWN(test_slow_requests_get_408),
        TEST_OWN(test_idle_connections_are_closed),
        TEST_OWN(test_a_held_request_has_no_deadline),
        TEST_OWN(test_a_client_that_does_not_read_is_closed),
        TEST_OWN(test_a_client_that_reads_slowly_gets_all),
        TEST(test_a_half_closed_client_gets_its_answers),
        TEST(test_a_half_closed_client_gets_a_held_answer_to_a_large_body),
        TEST(test_a_half_closed_client_reads_a_large_last_answer),
        TEST(test_clients_that_vanish_at_any_byte),
        TEST(test_draining_ends_idle_ones_and_lets_answers_out),
        TEST(test_close_all_tells_who_was_answering),
        TEST(test_the_log_knows_how_much_was_sent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
