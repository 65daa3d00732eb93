/* Routes: the longest prefix wins, and each route has its own limit, words and callbacks. */
#include "net/route.h"

#include "check.h"
#include "h2_client.h"
#include "net_client.h"

#define HOST             " HTTP/1.1\r\nHost: h\r\n"
#define GET(target)      "GET " target HOST "\r\n"
#define POST(target, n)  "POST " target HOST "Content-Length: " n "\r\n\r\n"
#define BODY_OF_9        "123456789"
#define NAME(text)       ((void *)(uintptr_t)(text))
#define STRANGER(target) "GET " target HOST "From: nobody\r\n\r\n"

static struct server server;
static char user; /* stands for one: the layer does not look into it */
static _Atomic size_t asked, finished_n, drained_n;

/* Says which route it was, and whether there was a user. */
static void handle(struct vd_http_service *service, struct vd_exchange *x)
{
    struct vd_buf text = {0};
    (void)service;
    vd_buf_addf(&text, "%s %s", (const char *)x->route->arg, x->user ? "known" : "unknown");
    vd_exchange_respond(x, &(struct vd_response){.status = 200, .body = vd_buf_slice(&text)});
    vd_buf_release(&text);
}

/* Has no answer but at /passing/own. */
static void handle_some(struct vd_http_service *service, struct vd_exchange *x)
{
    if (vd_slice_is(vd_http_head_target(x->head), "/passing/own"))
        handle(service, x);
    else
        vd_route_pass_handle(x);
}

static void refuse(struct vd_http_service *service, struct vd_exchange *x,
                   const struct vd_route_refusal *refusal)
{
    (void)service;
    assert_true(refusal->is_of_user == (x->head != NULL));
    vd_exchange_respond(
        x, &(struct vd_response){.status = refusal->status, .body = VD_SLICE("in its own words")});
}

/* Has words of its own for those who are not known, and for nothing else. */
static void refuse_strangers(struct vd_http_service *service, struct vd_exchange *x,
                             const struct vd_route_refusal *refusal)
{
    if (refusal->status == 401)
        refuse(service, x, refusal);
    else
        vd_route_pass_refusal(x, refusal);
}

static void refuse_for_all(struct vd_http_service *service, struct vd_exchange *x,
                           const struct vd_route_refusal *refusal)
{
    struct vd_buf text = {0};
    (void)service;
    vd_buf_addf(&text, "%s: %s", (const char *)x->route->arg, refusal->why);
    vd_exchange_respond(
        x, &(struct vd_response){.status = refusal->status, .body = vd_buf_slice(&text)});
    vd_buf_release(&text);
}

static void finished(struct vd_http_service *service, struct vd_exchange *x)
{
    (void)service;
    (void)x;
    finished_n++;
}

static void drain(struct vd_http_service *service, const struct vd_route *route, uint64_t spread_ms)
{
    (void)service;
    assert_string_equal(route->arg, "passing");
    drained_n += spread_ms;
}

static void list_two(const struct vd_route *route, struct vd_buf *out)
{
    (void)route;
    vd_buf_add_text(out, "/open/one\n/open/two\n");
}

static const struct vd_route routes[] = {
    {.prefix = VD_SLICE("/a"),
     .body_len_max = 8,
     .handle = handle,
     .refuse = refuse,
     .arg = NAME("a")},
    {.prefix = VD_SLICE("/a/b"),
     .body_len_max = 100,
     .handle = handle,
     .finished = finished,
     .arg = NAME("a/b")},
    {.prefix = VD_SLICE("/"), .body_len_max = 100, .handle = handle, .arg = NAME("root")},
    {.prefix = VD_SLICE("/open"),
     .body_len_max = 100,
     .is_open = true,
     .handle = handle,
     .list = list_two,
     .arg = NAME("open")},
    {.prefix = VD_SLICE("/passing"),
     .body_len_max = 100,
     .handle = handle_some,
     .drain = drain,
     .arg = NAME("passing")},
    {.prefix = VD_SLICE("/strict"),
     .body_len_max = 8,
     .handle = handle,
     .refuse = refuse_strangers,
     .arg = NAME("strict")},
    {.prefix = VD_SLICE("/strict/er"), .body_len_max = 8, .handle = handle, .arg = NAME("er")},
    {.prefix = VD_SLICE("/passing/open"),
     .body_len_max = 100,
     .is_open = true,
     .handle = handle_some,
     .arg = NAME("never")},
};

static void authenticate(struct vd_http_service *service, struct vd_exchange *x, bool is_head)
{
    struct vd_slice from;
    assert_ptr_equal(service->authenticator, &user);
    asked++;
    if (vd_http_head_find(x->head, VD_SLICE("from"), &from)) {
        vd_route_refuse(x,
                        &(struct vd_route_refusal){.status = 401, .why = "no", .is_of_user = true});
        return;
    }
    x->user = (struct vd_user *)(void *)&user;
    if (is_head)
        vd_route_admit(x);
    else
        vd_route_handle(x);
}

static int open_server(bool has_words)
{
    asked = finished_n = drained_n = 0;
    server_init(&server, 1, NULL);
    server.route.handle = handle;
    server.route.refuse = has_words ? refuse_for_all : NULL;
    server.route.arg = NAME("all");
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++)
        vd_route_table_add(&server.routes, &routes[i]);
    server.services[0].authenticate = authenticate;
    server.services[0].authenticator = &user;
    server_start(&server);
    return 0;
}

static int setup(void **state)
{
    (void)state;
    return open_server(false);
}

static int setup_with_words(void **state)
{
    (void)state;
    return open_server(true);
}

static int teardown(void **state)
{
    (void)state;
    server_stop(&server);
    return 0;
}

static const struct {
    const char *path, *answer;
} paths[] = {
    {"/", "root known"},       {"/?x=/a", "root known"},
    {"//", "all known"},       {"/a", "a known"},
    {"/a/", "a known"},        {"/a?b", "a known"},
    {"/ab", "all known"},      {"/a/b", "a/b known"},
    {"/a/bc", "a known"},      {"/a/b/c", "a/b known"},
    {"/A", "all known"},       {"/z", "all known"},
    {"/open", "open unknown"}, {"/open/x", "open unknown"},
    {"/opens", "all known"},   {"/passing/own", "passing known"},
    {"/passing", "all known"}, {"/passing/open", "all known"},
};

enum { PATHS = sizeof paths / sizeof *paths, OPEN_PATHS = 2 };

static void test_the_longest_prefix_wins(void **state)
{
    static struct h2 h;
    struct client c;
    (void)state;
    client_open(&c, &server);
    h2_open(&h, &server, &(struct h2_options){0});
    for (size_t i = 0; i < PATHS; i++) {
        struct vd_buf request = {0};
        vd_buf_addf(&request, "GET %s" HOST "\r\n", paths[i].path);
        client_send(&c, request.p);
        client_expect_answer(&c, 200, paths[i].answer);
        h2_expect(&h, h2_ask(&h, "GET", paths[i].path, NULL), 200, paths[i].answer);
        vd_buf_release(&request);
    }
    /* Who passes a request on does not have it asked about twice. */
    assert_int_equal(asked, 2 * (PATHS - OPEN_PATHS));
    client_close(&c);
    h2_close(&h);
}

static void test_each_route_has_its_limit_and_its_words(void **state)
{
    static struct h2 h;
    struct client c;
    (void)state;
    client_open(&c, &server);
    client_send(&c, POST("/a/b", "9") BODY_OF_9 POST("/a", "8") "12345678");
    client_expect_answer(&c, 200, "a/b known");
    client_expect_answer(&c, 200, "a known");
    client_send(&c, POST("/a", "9") BODY_OF_9);
    client_expect_answer(&c, 413, "in its own words");
    client_expect_end(&c);
    client_close(&c);
    h2_open(&h, &server, &(struct h2_options){0});
    h2_expect(&h, h2_ask(&h, "POST", "/a/b", BODY_OF_9), 200, "a/b known");
    h2_expect(&h, h2_ask(&h, "POST", "/a", BODY_OF_9), 413, "in its own words");
    h2_close(&h);
}

static void test_what_cannot_be_read_is_refused_by_the_route_of_all_paths(void **state)
{
    struct client c;
    (void)state;
    client_open(&c, &server);
    client_send(&c, "nonsense\r\n\r\n");
    client_expect(&c, "HTTP/1.1 400 ");
    client_expect(&c, "text/plain");
    client_close(&c);
    assert_int_equal(asked, 0);
}

static void test_who_is_not_known_is_refused_in_the_words_of_the_route(void **state)
{
    struct client c;
    (void)state;
    client_open(&c, &server);
    client_send(&c, STRANGER("/a") STRANGER("/") STRANGER("/open"));
    client_expect_answer(&c, 401, "in its own words");
    client_expect_answer(&c, 401, "no\n"); /* nobody at all has words for it */
    client_expect_answer(&c, 200, "open unknown");
    client_close(&c);
}

static void test_a_route_without_words_takes_those_of_the_next_shorter_prefix(void **state)
{
    static struct h2 h;
    struct client c;
    (void)state;
    client_open(&c, &server);
    client_send(&c, STRANGER("/a/b") STRANGER("/") STRANGER("/passing") STRANGER("/strict"));
    client_expect_answer(&c, 401, "in its own words"); /* those of /a */
    client_expect_answer(&c, 401, "all: no");
    client_expect_answer(&c, 401, "all: no");
    client_expect_answer(&c, 401, "in its own words");
    assert_int_equal(finished_n, 0); /* what /a has refused was no longer a request of /a/b */
    client_close(&c);
    /* There is no head any more when a body is too long; /strict passes it on. */
    for (size_t i = 0; i < 2; i++) {
        client_open(&c, &server);
        client_send(&c, i ? POST("/strict", "9") BODY_OF_9 : POST("/strict/er", "9") BODY_OF_9);
        client_expect(&c, "HTTP/1.1 413 ");
        client_expect(&c, "all: ");
        client_close(&c);
    }
    h2_open(&h, &server, &(struct h2_options){0});
    h2_expect(&h, h2_ask(&h, "GET", "/strict", NULL), 200, "strict known");
    h2_close(&h);
}

static void drain_service(struct server *s, void *arg)
{
    (void)arg;
    vd_http_service_drain(&s->services[0], 7);
}

static void test_routes_hear_of_ends(void **state)
{
    struct client c;
    (void)state;
    client_open(&c, &server);
    client_send(&c, GET("/a/b") GET("/a"));
    client_expect_answer(&c, 200, "a/b known");
    client_expect_answer(&c, 200, "a known");
    assert_int_equal(finished_n, 1);
    assert_int_equal(server.finished, 2);
    client_close(&c);
    on_loop(&server, drain_service, NULL);
    assert_int_equal(drained_n, 7);
}

static void test_a_list_of_paths(void **state)
{
    struct vd_buf list = {0};
    (void)state;
    vd_route_table_list(&server.routes, &list);
    assert_string_equal(
        vd_buf_text(&list),
        "/passing/open\n/strict/er\n/passing\n/strict\n/open/one\n/open/two\n/a/b\n/a\n");
    vd_buf_release(&list);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_the_longest_prefix_wins),
        TEST(test_each_route_has_its_limit_and_its_words),
        TEST(test_what_cannot_be_read_is_refused_by_the_route_of_all_paths),
        TEST(test_who_is_not_known_is_refused_in_the_words_of_the_route),
        cmocka_unit_test_setup_teardown(
            test_a_route_without_words_takes_those_of_the_next_shorter_prefix, setup_with_words,
            teardown),
        TEST(test_routes_hear_of_ends),
        TEST(test_a_list_of_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
