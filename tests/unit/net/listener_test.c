/* Listeners: addresses, dealing out, and running out of descriptors. */
#include "net/listener.h"

#include <dirent.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "net_client.h"

#define GET(target) "GET " target " HTTP/1.1\r\nHost: h\r\n\r\n"

static struct server server;

static void test_addresses_that_can_be_bound(void **state)
{
    static const struct {
        const char *address, *starts;
        bool loopback;
    } cases[] = {
        {"127.0.0.1:0", "127.0.0.1:", true}, {"localhost:0", "127.0.0.1:", true},
        {"0.0.0.0:0", "0.0.0.0:", false},    {"[::1]:0", "[::1]:", true},
        {"[::]:0", "[::]:", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_http_listener listener = {0};
        struct vd_error error = {0};
        assert_int_equal(vd_address_is_loopback(cases[i].address), cases[i].loopback);
        int code = vd_http_listener_bind(&listener, cases[i].address, &error);
        if (code == VD_ERR_IO && cases[i].address[0] == '[')
            continue; /* no IPv6 here */
        assert_ok(code, &error);
        assert_memory_equal(listener.address, cases[i].starts, strlen(cases[i].starts));
        assert_string_not_equal(listener.address + strlen(cases[i].starts), "0");
        vd_http_listener_close(&listener); /* never opened */
    }
}

static void test_addresses_that_cannot(void **state)
{
    static const char *const bad[] = {
        "",  "127.0.0.1",       ":80",           "127.0.0.1:",    "127.0.0.1:65536", "127.0.0.1:-1",
        "x", "example.org:443", "[127.0.0.1:80", "1.2.3:80",      "127.0.0.1:80 ",   "[::1:80",
        ":", "127.0.0.1:http",  "[]:80",         "127.0.0.1::80",
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct vd_http_listener listener = {0};
        struct vd_error error = {0};
        if (vd_http_listener_bind(&listener, bad[i], &error) != VD_ERR_INVALID)
            fail_msg("\"%s\": %s", bad[i], error.text);
        assert_says(&error, "is not an address");
        assert_false(vd_address_is_loopback(bad[i]));
        vd_http_listener_close(&listener);
    }
}

static void test_a_port_in_use_is_said(void **state)
{
    struct vd_http_listener first = {0}, second = {0};
    struct vd_error error = {0};
    (void)state;
    assert_ok(vd_http_listener_bind(&first, "127.0.0.1:0", &error), &error);
    assert_code(vd_http_listener_bind(&second, first.address, &error), VD_ERR_IO);
    assert_says(&error, first.address);
    assert_says(&error, "choose another port");
    vd_http_listener_close(&first);
}

static void test_connections_are_dealt_out_evenly(void **state)
{
    enum { N = 30 };
    struct client c[N];
    (void)state;
    server_init(&server, 3, NULL);
    server_start(&server);
    for (int i = 0; i < N; i++) {
        client_open(&c[i], &server);
        client_send(&c[i], GET("/later"));
    }
    for (int i = 0; i < N; i++)
        client_expect_answer(&c[i], 200, "GET /later ");
    assert_int_equal(server_connections(&server), N);
    size_t counts[3];
    for (size_t i = 0; i < 3; i++)
        counts[i] = server_connections_of(&server, i);
    for (int i = 0; i < N; i++)
        client_close(&c[i]);
    server_stop(&server);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(counts[i], N / 3);
}

static size_t open_descriptors(void)
{
    size_t n = 0;
    DIR *folder = opendir("/proc/self/fd");
    assert_non_null(folder);
    while (readdir(folder))
        n++;
    closedir(folder);
    return n;
}

static void get_accepted(struct server *s, void *arg)
{
    *(size_t *)arg = s->listener.turn;
}

/* A connection counts when it is accepted, which may be after its client has left. */
static void come_and_go(int n)
{
    size_t accepted = 0, before = 0;
    on_loop(&server, get_accepted, &before);
    for (int i = 0; i < n; i++) {
        struct client c;
        client_open(&c, &server);
        switch (i % 4) {
        case 0:
            client_send(&c, GET("/echo"));
            client_expect_answer(&c, 200, "GET /echo ");
            break;
        case 1:
            client_send(&c, GET("/pull/100000"));
            break;
        case 2:
            client_send(&c, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9000\r\n\r\nstart");
            break;
        default:
            break;
        }
        client_close(&c);
    }
    while (accepted < before + (size_t)n)
        on_loop(&server, get_accepted, &accepted);
    wait_for_connections(&server, 0);
}

static void test_thousands_come_and_go_and_nothing_stays(void **state)
{
    (void)state;
    server_init(&server, 2, NULL);
    server_start(&server);
    come_and_go(2000);
    size_t descriptors = open_descriptors(), grown = 0;
    /* What allocator caches hold counts as used, and varies with who came when; what
     * leaks grows every time. 0 under a sanitizer, which looks itself. */
    for (int tries = 0; tries < 5; tries++) {
        size_t memory = mallinfo2().uordblks;
        come_and_go(2000);
        size_t now = mallinfo2().uordblks;
        grown = now > memory ? now - memory : 0;
        if (grown <= 2000 * 75)
            break;
    }
    assert_int_equal(open_descriptors(), descriptors);
    server_stop(&server);
    if (grown > 2000 * 75)
        fail_msg("%zu bytes more, every time", grown);
}

/* A server with few descriptors, in a child as its limits are its own. It writes
 * its address, and ends when the other side of the socket is closed. */
static void serve_with_descriptors(int control, int n)
{
    struct rlimit limit;
    char byte;
    server_init(&server, 2, NULL);
    server_start(&server);
    int next = dup(0);
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = (rlim_t)next + (rlim_t)n;
    close(next);
    setrlimit(RLIMIT_NOFILE, &limit);
    if (send(control, server.listener.address, sizeof server.listener.address, 0) < 0)
        _exit(3);
    while (recv(control, &byte, 1, 0) > 0)
        ;
    server_stop(&server);
    _exit(server.handled > 0 ? 0 : 4);
}

static bool is_served(struct client *c)
{
    vd_buf_reset(&c->in);
    client_try_send(c, GET("/echo"), sizeof GET("/echo") - 1);
    return client_receive(c);
}

static void check_turned_away(void)
{
    enum { N = 64, FREE = 10 };
    struct client first, c[N];
    size_t served = 0;
    client_open(&first, &server);
    assert_true(is_served(&first));
    for (int i = 0; i < N; i++)
        client_open(&c[i], &server);
    for (int i = 0; i < N; i++)
        served += is_served(&c[i]); /* or closed; one left hanging fails */
    assert_in_range(served, 1, FREE);
    assert_true(is_served(&first)); /* who was there was not troubled */
    for (int i = 0; i < N; i++)
        client_close(&c[i]);
    /* Accepting resumes when there is room again. */
    bool again = false;
    for (int i = 0; i < 10000 && !again; i++) {
        client_open(&c[0], &server);
        again = is_served(&c[0]);
        client_close(&c[0]);
    }
    assert_true(again);
    client_close(&first);
}

static void test_clients_are_turned_away_when_descriptors_run_out(void **state)
{
    int control[2], status = -1;
    (void)state;
    memset(&server, 0, sizeof server);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, control), 0);
    pid_t child = fork();
    if (child == 0) {
        close(control[0]);
        serve_with_descriptors(control[1], 10);
    }
    close(control[1]);
    assert_true(recv(control[0], server.listener.address, sizeof server.listener.address, 0) > 0);
    check_turned_away();
    close(control[0]);
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addresses_that_can_be_bound),
        cmocka_unit_test(test_addresses_that_cannot),
        cmocka_unit_test(test_a_port_in_use_is_said),
        cmocka_unit_test(test_connections_are_dealt_out_evenly),
        cmocka_unit_test(test_thousands_come_and_go_and_nothing_stays),
        cmocka_unit_test(test_clients_are_turned_away_when_descriptors_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
