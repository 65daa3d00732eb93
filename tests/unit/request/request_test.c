/* What is noted of requests, for a face that this test makes up, and for pages. */
#include "request/request.h"

#include <stdio.h>
#include <stdlib.h>

#include "fixture.h"
#include "gatekeeper_fixture.h"
#include "metrics_check.h"
#include "net/route.h"
#include "net_client.h"
#include "request/page.h"
#include "json/parse.h"

#define HOST      " HTTP/1.1\r\nHost: h\r\nAudit-Id: mine\r\n"
#define GET(path) "GET " path HOST "\r\n"

enum { LARGE_LEN = 200000 };

static struct {
    struct server server;
    struct vd_request_loop loop;
    struct vd_user *user;
    char *folder;
    char log[256]; /* the audit log's file */
} test;

/* ---- a face ---- */

static void answer(struct vd_exchange *x, unsigned status, const char *text)
{
    vd_exchange_respond(x, &(struct vd_response){.status = status, .body = vd_slice_of(text)});
}

/* A face whose requests are all for the thing that the path names. */
static void handle_thing(struct vd_http_service *service, struct vd_exchange *x)
{
    struct vd_arena arena = {0};
    struct vd_buf reason = {0};
    struct vd_json *document = NULL;
    struct vd_request request = {
        .x = x,
        .user = x->user,
        .access = {.user = x->user,
                   .verb = vd_request_verb(x->head->method),
                   .group = VD_SLICE("example.com"),
                   .resource = VD_SLICE("things"),
                   .name = vd_slice_from(vd_http_head_target(x->head), sizeof "/things")},
        .api_version = VD_SLICE("v7"),
        .labels = {.verb = VD_SLICE("ASK"), .resource = VD_SLICE("things")}};
    (void)service;
    const struct vd_request_log *log = vd_request_begin(&test.loop, &request);
    if (vd_audit_wants_body(log->audit) && !vd_json_parse(&arena, x->body, NULL, &document, NULL))
        vd_audit_body(log->audit, document);
    bool allowed = vd_request_authorize(&test.loop, log, &reason);
    if (!allowed)
        vd_audit_answer(log->audit, &(struct vd_audit_answer){.reason = VD_SLICE("Never"),
                                                              .message = VD_SLICE("not you")});
    else
        vd_audit_object(log->audit, VD_SLICE("{\"thing\":1}"));
    answer(x, allowed ? 200 : 403, allowed ? "a thing" : "no");
    vd_arena_release(&arena);
    vd_buf_release(&reason);
}

static void handle_page(struct vd_http_service *service, struct vd_exchange *x)
{
    struct vd_buf text = {0};
    (void)service;
    if (!vd_page_begin(&test.loop, x))
        return;
    for (size_t i = 0; i < (x->route->arg ? LARGE_LEN : 1); i++)
        vd_buf_add_char(&text, 'p');
    vd_page_end(&test.loop, x, VD_SLICE("text/plain"), vd_buf_slice(&text));
    vd_buf_release(&text);
}

static void handle_all(struct vd_http_service *service, struct vd_exchange *x)
{
    (void)service;
    answer(x, 200, "all");
}

static void refuse_all(struct vd_http_service *service, struct vd_exchange *x,
                       const struct vd_route_refusal *refusal)
{
    struct vd_buf text = {0};
    (void)service;
    if (refusal->access)
        vd_access_add_refusal(&text, refusal->access, vd_slice_of(refusal->why));
    else
        vd_buf_add_text(&text, "refused");
    answer(x, refusal->status, vd_buf_text(&text));
    vd_buf_release(&text);
}

static const struct vd_route routes[] = {
    {.prefix = VD_SLICE("/things"), .body_len_max = 1000, .handle = handle_thing},
    {.prefix = VD_SLICE("/page"), .body_len_max = 1000, .handle = handle_page},
    {.prefix = VD_SLICE("/large"), .body_len_max = 1000, .handle = handle_page, .arg = &test},
};

static void authenticate(struct vd_http_service *service, struct vd_exchange *x, bool is_head)
{
    (void)service;
    x->user = test.user;
    if (is_head)
        vd_route_admit(x);
    else
        vd_route_handle(x);
}

static void finished(struct vd_http_service *service, struct vd_exchange *x)
{
    (void)service;
    vd_request_finished(&test.loop, x);
    test.server.finished++;
}

/* ---- life cycle ---- */

static struct vd_audit *open_audit(void)
{
    struct vd_audit *audit = NULL;
    struct vd_error error;
    char policy[256];
    snprintf(policy, sizeof policy, "%s/policy.yaml", test.folder);
    snprintf(test.log, sizeof test.log, "%s/audit.log", test.folder);
    FILE *file = fopen(policy, "w");
    assert_non_null(file);
    fputs("{apiVersion: audit.k8s.io/v1, kind: Policy, rules: [{level: RequestResponse}]}", file);
    fclose(file);
    assert_ok(vd_audit_open(&audit,
                            &(struct vd_audit_options){.log = test.log,
                                                       .policy = policy,
                                                       .mode = VD_AUDIT_BLOCKING,
                                                       .clock = vd_clock_system()},
                            &error),
              &error);
    return audit;
}

static int setup(void **state)
{
    (void)state;
    test.folder = temp_folder_new();
    test.user = vd_user_new(
        &(struct vd_identity){.name = VD_SLICE("ann"), .method = VD_AUTH_CERTIFICATE});
    server_init(&test.server, 1, NULL);
    test.server.route.handle = handle_all;
    test.server.route.refuse = refuse_all;
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++)
        vd_route_table_add(&test.server.routes, &routes[i]);
    test.loop = (struct vd_request_loop){.loop = &test.server.loops[0],
                                         .clock = vd_clock_system(),
                                         .gatekeeper = gatekeeper_for_all("\"get\""),
                                         .audit = open_audit()};
    vd_request_loop_init(&test.loop);
    vd_request_loop_follow(&test.loop);
    test.server.services[0].authenticate = authenticate;
    test.server.services[0].finished = finished;
    server_start(&test.server);
    return 0;
}

/* Stops the server, so that the audit log is whole. */
static void stop(void)
{
    if (!test.loop.loop)
        return;
    server_stop(&test.server);
    vd_request_loop_release(&test.loop);
    vd_gatekeeper_free(test.loop.gatekeeper);
    vd_audit_close(test.loop.audit);
    test.loop.loop = NULL;
}

static int teardown(void **state)
{
    (void)state;
    stop();
    vd_user_unref(test.user);
    temp_folder_remove(test.folder);
    return 0;
}

/* ---- asking ---- */

/* The answer's head and body must have these texts. */
static void ask(const char *request, unsigned status, const char *head, const char *body)
{
    struct client c;
    struct answer a = {0};
    client_open(&c, &test.server);
    client_send(&c, request);
    client_answer(&c, &a, false);
    if (a.status != status || !strstr(vd_buf_text(&a.head), head) ||
        strcmp(vd_buf_text(&a.body), body) != 0)
        fail_msg("%u %s %.300s", a.status, vd_buf_text(&a.head), vd_buf_text(&a.body));
    answer_release(&a);
    client_close(&c);
}

/* How many events of the audit log have all of the texts; at the end of a test. */
static size_t events_with(const char *a, const char *b, const char *c)
{
    char *line = NULL;
    size_t cap = 0, n = 0;
    stop();
    FILE *file = fopen(test.log, "r");
    assert_non_null(file);
    while (getline(&line, &cap, file) > 0)
        n += strstr(line, a) && strstr(line, b) && strstr(line, c);
    free(line);
    fclose(file);
    return n;
}

#define COMPLETE "\"stage\":\"ResponseComplete\""

static void a_page_is_shown_to_whoever_may_see_its_path(void **state)
{
    (void)state;
    ask(GET("/page"), 200, "Cache-Control: no-cache, private\r\nAudit-Id: mine", "p");
    ask(GET("/page/?x=1"), 200, "text/plain", "p");
    assert_int_equal(events_with(COMPLETE, "\"username\":\"ann\"",
                                 "\"responseStatus\":{\"metadata\":{},\"code\":200}"),
                     2);
    assert_int_equal(events_with("\"auditID\":\"mine\"", "\"RequestReceived\"", "/page"), 2);
    assert_true(metrics_have("apiserver_request_total{verb=\"GET\",group=\"\",version=\"\","
                             "resource=\"\",subresource=\"\",code=\"200\"} 2"));
}

static void a_page_is_refused_in_the_words_of_a_shorter_prefix(void **state)
{
    (void)state;
    ask("POST /page" HOST "Content-Length: 0\r\n\r\n", 403, "Audit-Id: mine",
        "User \"ann\" cannot post path \"/page\"");
    ask(GET("/page?%zz"), 400, "Audit-Id: mine", "refused");
    ask(GET("/page?timeout=soon"), 400, "Audit-Id: mine", "refused");
    assert_int_equal(
        events_with(COMPLETE, "\"verb\":\"post\"", "\"authorization.k8s.io/decision\":\"forbid\""),
        1);
    assert_int_equal(events_with(COMPLETE, "\"verb\":\"get\"", "\"code\":400"), 2);
}

static void what_is_below_a_page_is_passed_on(void **state)
{
    (void)state;
    ask(GET("/page/more"), 200, "", "all");
    ask(GET("/pages"), 200, "", "all");
    assert_int_equal(events_with("", "", ""), 0);
}

static void a_large_page_is_compressed_for_whoever_takes_that(void **state)
{
    struct client c;
    struct answer a = {0};
    (void)state;
    client_open(&c, &test.server);
    client_send(&c, "GET /large" HOST "Accept-Encoding: gzip\r\n\r\n" GET("/large"));
    client_answer(&c, &a, false);
    assert_non_null(strstr(vd_buf_text(&a.head), "Content-Encoding: gzip"));
    assert_in_range(a.body.n, 20, LARGE_LEN / 10);
    answer_release(&a);
    a = (struct answer){0};
    client_answer(&c, &a, false);
    assert_null(strstr(vd_buf_text(&a.head), "Content-Encoding"));
    assert_int_equal(a.body.n, LARGE_LEN);
    answer_release(&a);
    client_close(&c);
}

static void a_face_describes_its_requests(void **state)
{
    (void)state;
    ask("GET /things/one" HOST "Content-Length: 9\r\n\r\n{\"old\":1}", 200, "Audit-Id: mine",
        "a thing");
    ask("PUT /things/two" HOST "Content-Length: 4\r\n\r\n{bad", 403, "Audit-Id: mine", "no");
    assert_int_equal(events_with("\"objectRef\":{\"resource\":\"things\",\"name\":\"one\","
                                 "\"apiGroup\":\"example.com\",\"apiVersion\":\"v7\"}",
                                 "\"requestObject\":{\"old\":1}",
                                 "\"responseObject\":{\"thing\":1}"),
                     1);
    assert_int_equal(
        events_with("\"name\":\"two\"", "\"message\":\"not you\"", "\"status\":\"Failure\""), 1);
    assert_int_equal(events_with("\"name\":\"two\"", "requestObject", ""), 0);
    assert_true(metrics_have("apiserver_request_total{verb=\"ASK\",group=\"\",version=\"\","
                             "resource=\"things\",subresource=\"\",code=\"403\"} 1"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_page_is_shown_to_whoever_may_see_its_path),
        TEST(a_page_is_refused_in_the_words_of_a_shorter_prefix),
        TEST(what_is_below_a_page_is_passed_on),
        TEST(a_large_page_is_compressed_for_whoever_takes_that),
        TEST(a_face_describes_its_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
