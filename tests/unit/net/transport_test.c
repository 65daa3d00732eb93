/* Connections under TLS. */
#include "net/transport.h"

#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "net_client.h"
#include "tls_files.h"

#define GET(target) "GET " target " HTTP/1.1\r\nHost: h\r\n\r\n"

static struct tls_files files;
static struct server server;
static SSL_CTX *anonymous;

static int setup_files(void **state)
{
    (void)state;
    tls_files_make(&files);
    anonymous = client_context(files.ca, NULL, NULL);
    return 0;
}

static int teardown_files(void **state)
{
    (void)state;
    SSL_CTX_free(anonymous);
    tls_files_remove(&files);
    return 0;
}

static void init_server(void)
{
    server_init(&server, 1,
                &(struct vd_tls_files){files.server, files.server_key, files.ca, false});
}

static int setup(void **state)
{
    (void)state;
    init_server();
    server_start(&server);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    server_stop(&server);
    return 0;
}

static void open_or_fail(struct client *c, SSL_CTX *context)
{
    assert_true(client_open_tls(c, &server, context));
}

static void test_requests_and_an_orderly_end(void **state)
{
    static const int versions[] = {TLS1_2_VERSION, TLS1_3_VERSION};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct client c;
        SSL_CTX_set_max_proto_version(anonymous, versions[i]);
        open_or_fail(&c, anonymous);
        assert_int_equal(SSL_version(c.ssl), versions[i]);
        client_send(&c, GET("/one") GET("/later"));
        client_expect_answer(&c, 200, "GET /one ");
        client_expect_answer(&c, 200, "GET /later ");
        client_send(&c, "GET /two HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
        client_expect_answer(&c, 200, "GET /two ");
        client_expect_end(&c); /* with a close_notify */
        client_close(&c);
    }
    SSL_CTX_set_max_proto_version(anonymous, 0);
    wait_for_connections(&server, 0);
}

static void test_old_versions_are_refused(void **state)
{
    struct client c;
    SSL_CTX *old = client_context(files.ca, NULL, NULL);
    (void)state;
    SSL_CTX_set_security_level(old, 0);
    SSL_CTX_set_min_proto_version(old, TLS1_VERSION);
    SSL_CTX_set_max_proto_version(old, TLS1_1_VERSION);
    assert_false(client_open_tls(&c, &server, old));
    client_close(&c);
    SSL_CTX_free(old);
    wait_for_connections(&server, 0);
}

static void test_a_client_certificate_says_who_it_is(void **state)
{
    struct client c;
    SSL_CTX *alice = client_context(files.ca, files.client, files.client_key);
    (void)state;
    open_or_fail(&c, alice);
    client_send(&c, GET("/who"));
    client_expect_answer(&c, 200, "/CN=alice/O=team");
    client_close(&c);
    SSL_CTX_free(alice);
    open_or_fail(&c, anonymous);
    client_send(&c, GET("/who"));
    client_expect_answer(&c, 200, "nobody");
    client_close(&c);
}

static void test_a_strangers_certificate_is_refused(void **state)
{
    struct client c;
    SSL_CTX *mallory = client_context(files.ca, files.stranger, files.stranger_key);
    (void)state;
    /* In TLS 1.3 the client is done before the server has looked. */
    if (client_open_tls(&c, &server, mallory)) {
        client_try_send(&c, GET("/who"), sizeof GET("/who") - 1);
        assert_string_equal(client_rest(&c), "");
        assert_true(c.broken);
    }
    client_close(&c);
    SSL_CTX_free(mallory);
    wait_for_connections(&server, 0);
    assert_int_equal(server.handled, 0);
}

static void test_plain_text_at_the_tls_door_is_told_so(void **state)
{
    struct client c;
    (void)state;
    client_open(&c, &server);
    client_send(&c, GET("/echo"));
    const char *answer = client_rest(&c);
    assert_true(c.ended);
    assert_memory_equal(answer, "HTTP/1.0 400 ", 13);
    assert_non_null(strstr(answer, "https://"));
    client_close(&c);
    client_open(&c, &server);
    client_send(&c, "this is neither HTTP nor TLS\r\n");
    assert_null(strstr(client_rest(&c), "HTTP"));
    client_close(&c);
    wait_for_connections(&server, 0);
    assert_int_equal(server.handled, 0);
}

static void test_alpn_chooses_what_both_speak_or_refuses(void **state)
{
    const struct {
        const char *offer;
        const char *chosen; /* NULL: no handshake */
    } cases[] = {
        {"\x08http/1.1\x02h2", "h2"}, /* the server's taste decides */
        {"\x02h2", "h2"},
        {"\x08http/1.1", "http/1.1"},
        {"\x06spdy/3", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct client c;
        SSL_CTX *context = client_context(files.ca, NULL, NULL);
        SSL_CTX_set_alpn_protos(context, (const unsigned char *)cases[i].offer,
                                (unsigned)strlen(cases[i].offer));
        assert_int_equal(client_open_tls(&c, &server, context), cases[i].chosen != NULL);
        const unsigned char *chosen = NULL;
        unsigned n = 0;
        SSL_get0_alpn_selected(c.ssl, &chosen, &n);
        assert_int_equal(n, cases[i].chosen ? strlen(cases[i].chosen) : 0);
        if (n)
            assert_memory_equal(chosen, cases[i].chosen, n);
        client_close(&c);
        SSL_CTX_free(context);
    }
}

static void test_renegotiation_is_refused(void **state)
{
    struct client c;
    SSL_CTX *context = client_context(files.ca, NULL, NULL);
    (void)state;
    SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION);
    open_or_fail(&c, context);
    client_send(&c, GET("/echo"));
    client_expect_answer(&c, 200, "GET /echo ");
    assert_int_equal(SSL_renegotiate(c.ssl), 1);
    assert_int_not_equal(SSL_do_handshake(c.ssl), 1);
    ERR_clear_error();
    client_close(&c);
    SSL_CTX_free(context);
    wait_for_connections(&server, 0);
}

static void test_key_updates_are_followed(void **state)
{
    struct client c;
    (void)state;
    open_or_fail(&c, anonymous);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(SSL_key_update(c.ssl, SSL_KEY_UPDATE_REQUESTED), 1);
        client_send(&c, GET("/echo"));
        client_expect_answer(&c, 200, "GET /echo ");
    }
    client_close(&c);
}

/* A ClientHello as it goes over the wire. */
static size_t client_hello(char *room, size_t cap)
{
    SSL *ssl = SSL_new(anonymous);
    BIO *out = BIO_new(BIO_s_mem());
    SSL_set_bio(ssl, BIO_new(BIO_s_mem()), out);
    SSL_connect(ssl);
    ERR_clear_error();
    int n = BIO_read(out, room, (int)cap);
    SSL_free(ssl);
    assert_true(n > 100);
    return (size_t)n;
}

static void test_handshakes_cut_anywhere(void **state)
{
    char hello[4096];
    size_t n = client_hello(hello, sizeof hello);
    (void)state;
    for (size_t i = 0; i <= n; i += 7) {
        struct client c;
        client_open(&c, &server);
        client_send_n(&c, hello, i);
        if (i % 2)
            client_vanish(&c);
        else
            client_close(&c);
    }
    wait_for_connections(&server, 0);
}

static void test_a_slow_handshake_is_ended(void **state)
{
    char hello[4096];
    size_t n = client_hello(hello, sizeof hello);
    struct client silent, half;
    (void)state;
    init_server();
    server.services[0].deadlines.handshake_ms = 20;
    server_start(&server);
    client_open(&silent, &server);
    client_open(&half, &server);
    client_send_n(&half, hello, n / 2);
    assert_string_equal(client_rest(&silent), "");
    assert_string_equal(client_rest(&half), "");
    wait_for_connections(&server, 0);
    client_close(&silent);
    client_close(&half);
}

static void get_backlog(struct server *s, void *arg)
{
    if (s->services[0].connections)
        *(size_t *)arg = s->services[0].connections->backlog;
}

/* Much more than the socket holds, in frames smaller than a record, read late. */
static void test_a_large_stream_with_a_slow_reader(void **state)
{
    enum { FRAMES = 2000 };
    struct client c;
    struct answer a;
    size_t backlog = 0;
    (void)state;
    open_or_fail(&c, anonymous);
    client_send(&c, GET("/pull/2000"));
    while (backlog == 0) /* until the sockets are full */
        on_loop(&server, get_backlog, &backlog);
    client_answer(&c, &a, false);
    assert_int_equal(a.body.n, (size_t)FRAMES * FRAME_LEN);
    for (size_t i = 0; i < a.body.n; i++) {
        size_t left = FRAMES - 1 - i / FRAME_LEN;
        if (a.body.p[i] != (char)('a' + (i % FRAME_LEN + left) % 26))
            fail_msg("byte %zu is wrong", i);
    }
    answer_release(&a);
    client_close(&c);
}

/* Frames of many sizes pile up and then leave, gathered into records. */
static void test_a_backlog_of_many_frames(void **state)
{
    static const size_t sizes[] = {1, 100, 5000, 16383, 16384, 16385, 100, 40000, 2};
    struct client c;
    struct answer a;
    struct vd_buf want = {0};
    (void)state;
    open_or_fail(&c, anonymous);
    client_send(&c, GET("/stream"));
    wait_for_held(&server, 1);
    for (int round = 0; round < 100; round++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            struct vd_buf payload = {0};
            for (size_t k = 0; k < sizes[i]; k++)
                vd_buf_add_char(&payload, (char)('a' + (k + i + (size_t)round) % 26));
            server_send_streams(&server, payload.p);
            vd_buf_add_slice(&want, vd_buf_slice(&payload));
            vd_buf_release(&payload);
        }
    }
    server_end_streams(&server);
    client_answer(&c, &a, false);
    assert_int_equal(a.body.n, want.n);
    assert_memory_equal(a.body.p, want.p, want.n);
    answer_release(&a);
    vd_buf_release(&want);
    client_close(&c);
}

static void get_events(struct server *s, void *arg)
{
    *(int *)arg = s->services[0].connections->events;
}

/* Waiting for a socket that takes bytes when there are none to send never ends. */
static void test_nothing_is_waited_for_once_a_blocked_write_is_through(void **state)
{
    struct client c;
    struct answer a;
    size_t backlog = 0;
    int events = 0;
    (void)state;
    open_or_fail(&c, anonymous);
    client_send(&c, GET("/size/20000000"));
    while (backlog == 0)
        on_loop(&server, get_backlog, &backlog);
    client_answer(&c, &a, false);
    assert_int_equal(a.body.n, 20000000);
    answer_release(&a);
    on_loop(&server, get_events, &events);
    assert_int_equal(events, UV_READABLE);
    client_close(&c);
}

static void leave_an_error(struct server *s, void *arg)
{
    (void)s;
    (void)arg;
    ERR_raise(ERR_LIB_USER, ERR_R_INTERNAL_ERROR);
}

static void test_errors_that_others_leave_behind_do_no_harm(void **state)
{
    struct client c;
    (void)state;
    open_or_fail(&c, anonymous);
    for (int i = 0; i < 5; i++) {
        on_loop(&server, leave_an_error, NULL);
        client_send(&c, GET("/echo"));
        client_expect_answer(&c, 200, "GET /echo ");
    }
    client_close(&c);
}

static void test_a_large_body_is_received(void **state)
{
    struct vd_buf body = {0}, want = {0};
    struct client c;
    (void)state;
    for (int i = 0; i < 2000000; i++)
        vd_buf_add_char(&body, (char)('a' + i % 26));
    vd_buf_add_text(&want, "POST /echo ");
    vd_buf_add(&want, body.p, body.n);
    open_or_fail(&c, anonymous);
    client_send(&c, "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 2000000\r\n\r\n");
    client_send_n(&c, body.p, body.n);
    client_expect_answer(&c, 200, want.p);
    client_close(&c);
    vd_buf_release(&body);
    vd_buf_release(&want);
}

/* OpenSSL writes in a way that raises SIGPIPE; the server must outlive it. */
static void test_clients_that_vanish_in_a_stream(void **state)
{
    (void)state;
    for (size_t i = 1; i <= 10; i++) {
        struct client c;
        open_or_fail(&c, anonymous);
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

static void test_a_half_closed_client_gets_its_answer(void **state)
{
    struct client c;
    (void)state;
    open_or_fail(&c, anonymous);
    client_send(&c, GET("/later"));
    client_finish(&c);
    client_expect_answer(&c, 200, "GET /later ");
    client_expect_end(&c);
    client_close(&c);
}

static void replace_certificate(struct server *s, void *arg)
{
    vd_http_listener_tls_set(&s->tls, arg);
}

static void test_a_new_certificate_is_for_new_connections(void **state)
{
    struct vd_error error = {0};
    struct client old, new;
    SSL_CTX *context = NULL, *trusting = client_context(files.stranger, NULL, NULL);
    (void)state;
    open_or_fail(&old, anonymous);
    assert_ok(vd_tls_load(&context,
                          &(struct vd_tls_files){files.stranger, files.stranger_key, NULL, false},
                          &error),
              &error);
    on_loop(&server, replace_certificate, context);
    client_send(&old, GET("/echo"));
    client_expect_answer(&old, 200, "GET /echo ");
    open_or_fail(&new, trusting);
    client_send(&new, GET("/echo"));
    client_expect_answer(&new, 200, "GET /echo ");
    client_close(&old);
    client_close(&new);
    SSL_CTX_free(trusting);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_requests_and_an_orderly_end),
        TEST(test_old_versions_are_refused),
        TEST(test_a_client_certificate_says_who_it_is),
        TEST(test_a_strangers_certificate_is_refused),
        TEST(test_plain_text_at_the_tls_door_is_told_so),
        TEST(test_alpn_chooses_what_both_speak_or_refuses),
        TEST(test_renegotiation_is_refused),
        TEST(test_key_updates_are_followed),
        TEST(test_handshakes_cut_anywhere),
        cmocka_unit_test_setup_teardown(test_a_slow_handshake_is_ended, NULL, teardown),
        TEST(test_a_large_stream_with_a_slow_reader),
        TEST(test_a_backlog_of_many_frames),
        TEST(test_nothing_is_waited_for_once_a_blocked_write_is_through),
        TEST(test_errors_that_others_leave_behind_do_no_harm),
        TEST(test_a_large_body_is_received),
        TEST(test_clients_that_vanish_in_a_stream),
        TEST(test_a_half_closed_client_gets_its_answer),
        TEST(test_a_new_certificate_is_for_new_connections),
    };
    return cmocka_run_group_tests(tests, setup_files, teardown_files);
}
