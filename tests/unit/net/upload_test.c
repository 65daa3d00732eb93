/* Uploads: no body is read before somebody has looked at the head, and what is reserved is bounded.
 */
#include "net/upload.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "net/connection.h"
#include "net_client.h"

#define POST(target, length) "POST " target " HTTP/1.1\r\nHost: h\r\nContent-Length: " length "\r\n"

static struct server server;
static _Atomic size_t asked;
static _Atomic size_t freed;
static struct vd_exchange *waiting; /* the loop's */

/* ---- heads ---- */

static void free_client(void *what)
{
    free(what);
    freed++;
}

static void left(struct vd_exchange *x)
{
    (void)x;
    waiting = NULL;
    server.gone++;
}

static void let_in(struct vd_exchange *x)
{
    x->upload->client = (struct vd_memo){malloc(1), free_client};
    vd_exchange_receive(x);
}

/* /no is refused, /wait is asked about later, everything else is wanted. */
static void admit(struct vd_http_service *service, struct vd_exchange *x)
{
    static const struct vd_exchange_ops ops = {.gone = left};
    struct vd_slice target = vd_http_head_target(x->head);
    (void)service;
    asked++;
    if (vd_slice_is(target, "/no")) {
        vd_exchange_respond(x, &(struct vd_response){.status = 401, .body = VD_SLICE("no")});
    } else if (vd_slice_is(target, "/wait")) {
        x->ops = &ops;
        waiting = x;
    } else {
        let_in(x);
    }
}

static int setup(void **state)
{
    (void)state;
    asked = freed = 0;
    waiting = NULL;
    server_init(&server, 1, NULL);
    server.route.admit = admit;
    server_start(&server);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    server_stop(&server);
    return 0;
}

static void test_a_small_request_in_one_piece_is_not_asked_about(void **state)
{
    struct client c;
    (void)state;
    client_open(&c, &server);
    client_send(&c, POST("/no", "5") "\r\nhello");
    client_expect_answer(&c, 200, "POST /no hello");
    client_close(&c);
    assert_int_equal(asked, 0);
}

static void test_a_body_that_is_not_wanted_is_answered_before_it_comes(void **state)
{
    enum { LEN = 3000000 };
    char *body = calloc(1, LEN);
    struct client c;
    (void)state;
    for (int sends = 0; sends < 2; sends++) {
        client_open(&c, &server);
        client_send(&c, POST("/no", "3000000") "\r\n");
        if (sends)
            client_try_send(&c, body, LEN);
        client_expect_answer(&c, 401, "no");
        client_expect_end(&c);
        client_close(&c);
    }
    assert_int_equal(asked, 2);
    assert_int_equal(server.handled, 0);
    free(body);
}

static void test_continue_is_said_when_it_is_wanted(void **state)
{
    struct client c;
    (void)state;
    client_open(&c, &server);
    client_send(&c, POST("/yes", "5") "Expect: 100-continue\r\n\r\n");
    client_expect(&c, "HTTP/1.1 100 Continue\r\n\r\n");
    client_send(&c, "hello");
    client_expect_answer(&c, 200, "POST /yes hello");
    client_send(&c, POST("/no", "5") "Expect: 100-continue\r\n\r\n");
    client_expect_answer(&c, 401, "no");
    client_expect_end(&c);
    client_close(&c);
    assert_int_equal(asked, 2);
    assert_int_equal(freed, 1);
}

static void held_len(struct server *s, void *arg)
{
    const struct vd_connection *c = s->services[0].connections;
    *(size_t *)arg = c && c->intake ? c->intake->bytes.n + c->intake->later.n : 0;
}

static void decide(struct server *s, void *arg)
{
    (void)s;
    (void)arg;
    if (waiting)
        let_in(waiting);
}

static void is_waiting(struct server *s, void *arg)
{
    (void)s;
    *(bool *)arg = waiting != NULL;
}

/* Nothing is read while nobody has decided; then all of it arrives, and once. */
static void test_nothing_is_read_until_it_is_decided(void **state)
{
    enum { LEN = 2000000 };
    struct vd_buf body = {0}, want = {0};
    struct client c;
    size_t held = 0;
    bool waits = false;
    (void)state;
    for (int i = 0; i < LEN; i++)
        vd_buf_add_char(&body, (char)('a' + i % 26));
    vd_buf_add_text(&want, "POST /wait ");
    vd_buf_add_slice(&want, vd_buf_slice(&body));
    client_open(&c, &server);
    client_send(&c, POST("/wait", "2000000") "\r\n");
    while (!waits)
        on_loop(&server, is_waiting, &waits);
    client_send_n(&c, body.p, 10000);
    for (int turn = 0; turn < 10; turn++)
        on_loop(&server, held_len, &held);
    assert_true(held < 100);
    on_loop(&server, decide, NULL);
    client_send_n(&c, body.p + 10000, body.n - 10000);
    client_expect_answer(&c, 200, want.p);
    client_close(&c);
    wait_for_connections(&server, 0);
    assert_int_equal(asked, 1);
    assert_int_equal(freed, 1);
    vd_buf_release(&body);
    vd_buf_release(&want);
}

static void test_who_leaves_meanwhile_leaves_nothing(void **state)
{
    struct client c;
    bool waits = false;
    (void)state;
    client_open(&c, &server);
    client_send(&c, POST("/wait", "20000") "\r\n");
    while (!waits)
        on_loop(&server, is_waiting, &waits);
    client_vanish(&c);
    on_loop(&server, decide, NULL); /* it is noticed now, if it was not before */
    wait_for_connections(&server, 0);
    size_t before = freed;
    client_open(&c, &server);
    client_send(&c, POST("/yes", "20000") "\r\nhello");
    wait_for(&asked, 2);
    client_vanish(&c);
    wait_for(&freed, before + 1);
}

/* ---- reservations ---- */

static void test_what_is_reserved_is_bounded(void **state)
{
    struct vd_accounts book;
    struct vd_upload u[4] = {{0}};
    (void)state;
    vd_accounts_init(&book,
                     &(struct vd_account_limits){.user_body_bytes = 1000, .body_bytes = 2000}, 1);
    struct vd_account *a = vd_accounts_get(&book, VD_SLICE("ann"));
    struct vd_account *b = vd_accounts_get(&book, VD_SLICE("bob"));
    assert_int_equal(vd_upload_reserve(&u[0], a, VD_RANK_ORDINARY, 600), VD_LIMIT_NONE);
    assert_int_equal(vd_upload_reserve(&u[1], a, VD_RANK_ORDINARY, 401), VD_LIMIT_USER_BODIES);
    assert_int_equal(vd_upload_reserve(&u[1], a, VD_RANK_ORDINARY, 400), VD_LIMIT_NONE);
    /* Three quarters are for everybody, the rest for the system. */
    assert_int_equal(vd_upload_reserve(&u[2], b, VD_RANK_ORDINARY, 501), VD_LIMIT_BODIES);
    assert_int_equal(vd_upload_reserve(&u[2], b, VD_RANK_SYSTEM, 501), VD_LIMIT_NONE);
    assert_int_equal(vd_upload_reserve(&u[3], b, VD_RANK_ADMIN, 500), VD_LIMIT_BODIES);
    assert_int_equal(vd_upload_reserve(&u[3], b, VD_RANK_ADMIN, 499), VD_LIMIT_NONE);
    for (size_t i = 0; i < 4; i++)
        vd_upload_release(&u[i]);
    assert_int_equal(book.body_bytes, 0);
    assert_int_equal(a->body_bytes, 0);
    vd_account_unref(a);
    vd_account_unref(b);
    vd_accounts_release(&book);
}

static void test_a_head_that_does_not_tell_reserves_the_most(void **state)
{
    struct vd_http_head head = {.used = 100, .has_length = true, .length = 50};
    (void)state;
    assert_int_equal(vd_upload_len(&head, 1000), 150);
    head = (struct vd_http_head){.used = 100, .chunked = true};
    assert_int_equal(vd_upload_len(&head, 1000), 1100);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_small_request_in_one_piece_is_not_asked_about),
        TEST(test_a_body_that_is_not_wanted_is_answered_before_it_comes),
        TEST(test_continue_is_said_when_it_is_wanted),
        TEST(test_nothing_is_read_until_it_is_decided),
        TEST(test_who_leaves_meanwhile_leaves_nothing),
        cmocka_unit_test(test_what_is_reserved_is_bounded),
        cmocka_unit_test(test_a_head_that_does_not_tell_reserves_the_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
