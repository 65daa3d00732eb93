/* Connections whose exchange was upgraded: an echo protocol behind a 101. */
#include "net/connection.h"

#include <string.h>
#include <sys/socket.h>

#include "check.h"
#include "h2_client.h"
#include "net_client.h"
#include "tls_files.h"

#define UPGRADE "GET /upgrade HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n"

static struct server server;
static void (*handle_others)(struct vd_http_service *service, struct vd_exchange *x);
static _Atomic size_t received_n, gone_n, drained_n;

/* "quit" ends it, "break" breaks it off; anything else comes back. */
static void echo_received(struct vd_exchange *x, struct vd_slice bytes)
{
    received_n += bytes.n;
    if (vd_slice_is(bytes, "break")) {
        vd_exchange_abort(x);
        return;
    }
    vd_exchange_send(x, vd_bytes_copy(bytes));
    if (vd_slice_is(bytes, "quit"))
        vd_exchange_end(x);
    else
        vd_exchange_await_drain(x);
}

static void echo_drained(struct vd_exchange *x)
{
    (void)x;
    drained_n++;
}

static void echo_gone(struct vd_exchange *x)
{
    (void)x;
    gone_n++;
}

static const struct vd_upgrade_ops echo = {{echo_drained, echo_gone}, echo_received};

static void handle(struct vd_http_service *service, struct vd_exchange *x)
{
    static const struct vd_http_field to = {VD_SLICE("Upgrade"), VD_SLICE("echo")};
    if (!vd_slice_is(vd_http_head_target(x->head), "/upgrade")) {
        handle_others(service, x);
        return;
    }
    if (vd_exchange_upgrade(x, &(struct vd_response){.status = 101, .fields = &to, .fields_n = 1},
                            &echo))
        return;
    vd_exchange_respond(x, &(struct vd_response){.status = 426});
}

static void start(const struct vd_tls_files *tls)
{
    received_n = gone_n = drained_n = 0;
    server_init(&server, 1, tls);
    handle_others = server.route.handle;
    server.route.handle = handle;
    server_start(&server);
}

static int setup(void **state)
{
    (void)state;
    start(NULL);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    server_stop(&server);
    return 0;
}

static void open_echo(struct client *c)
{
    client_open(c, &server);
    client_send(c, UPGRADE);
    client_expect(c, "HTTP/1.1 101 Switching Protocols\r\n");
    client_expect(c, "Connection: Upgrade\r\nUpgrade: echo\r\n\r\n");
}

static void test_bytes_belong_to_the_new_protocol(void **state)
{
    struct client c;
    (void)state;
    open_echo(&c);
    client_send(&c, "GET / HTTP/1.1\r\n\r\n");
    client_expect(&c, "GET / HTTP/1.1\r\n\r\n");
    wait_for(&drained_n, 1);
    assert_int_equal(server.handled, 0);
    assert_int_equal(server.finished, 0);
    client_send(&c, "quit");
    assert_string_equal(client_rest(&c), "quit");
    assert_int_equal(server.finished, 1);
    assert_int_equal(server.last_status, 101);
    assert_int_equal(gone_n, 0);
    client_close(&c);
    wait_for_connections(&server, 0);
}

static void test_bytes_that_came_with_the_request_are_not_lost(void **state)
{
    struct client c;
    (void)state;
    client_open(&c, &server);
    client_send(&c, "GET /echo HTTP/1.1\r\nHost: h\r\n\r\n" UPGRADE "early");
    client_expect_answer(&c, 200, "GET /echo ");
    client_expect(&c, "Upgrade: echo\r\n\r\nearly");
    client_send(&c, "late");
    client_expect(&c, "late");
    client_close(&c);
    wait_for(&gone_n, 1);
}

static void test_the_owner_is_told_when_the_client_leaves(void **state)
{
    struct client vanishes, finishes;
    (void)state;
    open_echo(&vanishes);
    open_echo(&finishes);
    client_vanish(&vanishes);
    wait_for(&gone_n, 1);
    client_finish(&finishes);
    wait_for(&gone_n, 2);
    assert_string_equal(client_rest(&finishes), "");
    client_close(&finishes);
    wait_for_connections(&server, 0);
    assert_int_equal(server.finished, 2);
}

static void test_it_can_be_broken_off(void **state)
{
    struct client c;
    (void)state;
    open_echo(&c);
    client_send(&c, "break");
    while (client_receive(&c))
        ;
    client_close(&c);
    wait_for_connections(&server, 0);
    assert_int_equal(gone_n, 0);
    assert_int_equal(server.finished, 1);
}

static void get_events(struct server *s, void *arg)
{
    *(int *)arg = s->services[0].connections->events;
}

/* A client that sends and does not read is not read from after a while; it is again when it has
 * read what came back. */
static void test_who_does_not_read_is_not_read(void **state)
{
    enum { LEN = 65536, MOST = 64 * 1048576 };
    static char bytes[LEN];
    struct client c;
    size_t sent = 0, back = 0;
    int events = UV_READABLE;
    (void)state;
    memset(bytes, 'x', LEN);
    open_echo(&c);
    while (sent < MOST && events & UV_READABLE) {
        ssize_t n = send(c.fd, bytes, LEN, MSG_DONTWAIT | MSG_NOSIGNAL);
        sent += n > 0 ? (size_t)n : 0;
        on_loop(&server, get_events, &events);
    }
    assert_false(events & UV_READABLE);
    for (; back < sent; back += c.in.n) {
        vd_buf_reset(&c.in);
        assert_true(client_receive(&c));
    }
    assert_int_equal(received_n, sent);
    client_close(&c);
    wait_for(&gone_n, 1);
}

static void test_an_upgrade_under_tls(void **state)
{
    struct tls_files files;
    struct client c;
    (void)state;
    tls_files_make(&files);
    start(&(struct vd_tls_files){.certificate = files.server, .key = files.server_key});
    SSL_CTX *context = client_context(files.ca, NULL, NULL);
    assert_true(client_open_tls(&c, &server, context));
    client_send(&c, UPGRADE "early");
    client_expect(&c, "Upgrade: echo\r\n\r\nearly");
    client_send(&c, "quit");
    assert_string_equal(client_rest(&c), "quit");
    client_close(&c);
    SSL_CTX_free(context);
    server_stop(&server);
    tls_files_remove(&files);
}

static void test_http_1_0_cannot_be_upgraded(void **state)
{
    struct client c;
    (void)state;
    client_open(&c, &server);
    client_send(&c, "GET /upgrade HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    client_expect_answer(&c, 426, "");
    client_close(&c);
}

static void test_http2_cannot_be_upgraded(void **state)
{
    static struct h2 h;
    (void)state;
    h2_open(&h, &server, &(struct h2_options){0});
    h2_expect(&h, h2_ask(&h, "GET", "/upgrade", NULL), 426, "");
    h2_close(&h);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_bytes_belong_to_the_new_protocol),
        TEST(test_bytes_that_came_with_the_request_are_not_lost),
        TEST(test_the_owner_is_told_when_the_client_leaves),
        TEST(test_it_can_be_broken_off),
        TEST(test_who_does_not_read_is_not_read),
        cmocka_unit_test(test_an_upgrade_under_tls),
        TEST(test_http_1_0_cannot_be_upgraded),
        TEST(test_http2_cannot_be_upgraded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
