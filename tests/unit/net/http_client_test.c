/* src/net/http_client.c with http_url.c and http_answer.c: whole answers, and every way in which
 * there is none. */
#include "net/http_client.h"

#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/limits.h"
#include "check.h"
#include "net/http_answer.h"
#include "net/http_url.h"
#include "net_server.h"
#include "tls_files.h"

/* ---- URLs ---- */

static void test_urls(void **state)
{
    static const struct {
        const char *url, *host, *target;
        unsigned port; /* 0: refused */
        bool tls, local;
    } cases[] = {
        {"https://a.example", "a.example", "", 443, true, false},
        {"HTTP://a.example/x?y=1", "a.example", "/x?y=1", 80, false, false},
        {"http://127.9.9.9:8080/", "127.9.9.9", "/", 8080, false, true},
        {"http://[::1]:99/a", "::1", "/a", 99, false, true},
        {"http://LocalHost/a", "LocalHost", "/a", 80, false, true},
        {"http://localhost.evil.example/", "localhost.evil.example", "/", 80, false, false},
        {"http://127.0.0.1.evil.example/", "127.0.0.1.evil.example", "/", 80, false, false},
        {"http://user@127.0.0.1/", NULL, NULL, 0, false, false},
        {"http://127.0.0.1#@evil/", NULL, NULL, 0, false, false},
        {"http://127.0.0.1:0/", NULL, NULL, 0, false, false},
        {"http://127.0.0.1:65536/", NULL, NULL, 0, false, false},
        {"http://127.0.0.1:/", NULL, NULL, 0, false, false},
        {"http://[::1/", NULL, NULL, 0, false, false},
        {"http://[a]/", NULL, NULL, 0, false, false},
        {"http://a.example?x", NULL, NULL, 0, false, false},
        {"http://a.example/x y", NULL, NULL, 0, false, false},
        {"http://a.example/\r\nX: y", NULL, NULL, 0, false, false},
        {"http://", NULL, NULL, 0, false, false},
        {"ftp://a.example/", NULL, NULL, 0, false, false},
        {"file:///etc/passwd", NULL, NULL, 0, false, false},
        {"", NULL, NULL, 0, false, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_http_url url;
        int code = vd_http_url_parse(&url, vd_slice_of(cases[i].url), NULL);
        if ((code == VD_OK) != (cases[i].port != 0))
            fail_msg("%s: %d", cases[i].url, code);
        if (code)
            continue;
        assert_slice(url.host, cases[i].host);
        assert_slice(url.target, cases[i].target);
        assert_int_equal(url.port, cases[i].port);
        assert_int_equal(url.tls, cases[i].tls);
        assert_int_equal(vd_http_url_is_local(&url), cases[i].local);
    }
}

/* ---- heads ---- */

static void test_heads_of_answers(void **state)
{
    static const struct {
        const char *text;
        int rc;
        unsigned status;
        bool has_length, chunked;
    } cases[] = {
        {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 1, 200, true, false},
        {"HTTP/1.0 404\r\nTransfer-Encoding: Chunked\r\n\r\n", 1, 404, false, true},
        {"HTTP/1.1 204 No Content\r\n\r\n", 1, 204, false, false},
        {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n", 1, 200, true, false},
        {"HTTP/1.1 200 OK\r\nContent-Le", 0, 0, false, false},
        {"", 0, 0, false, false},
        {"HTTP/2 200 OK\r\n\r\n", -1, 0, false, false},
        {"HTTP/1.1 99 OK\r\n\r\n", -1, 0, false, false},
        {"HTTP/1.1 2000 OK\r\n\r\n", -1, 0, false, false},
        {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n", -1, 0, false, false},
        {"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", -1, 0, false, false},
        {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", -1, 0, false,
         false},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", -1, 0, false, false},
        {"HTTP/1.1 200 OK\r\n folded\r\n\r\n", -1, 0, false, false},
        {"HTTP/1.1 200 OK\r\nnonsense\r\n\r\n", -1, 0, false, false},
        {"HTTP/1.1 200 OK\nA: b\r\n\r\n", -1, 0, false, false},
        {"HTTP/1.1 200 OK\r\nA: b\x01\r\n\r\n", -1, 0, false, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_http_answer_head head;
        int rc = vd_http_answer_parse(&head, vd_slice_of(cases[i].text), NULL);
        if (rc != cases[i].rc)
            fail_msg("%s: %d", cases[i].text, rc);
        if (rc != 1)
            continue;
        assert_int_equal(head.status, cases[i].status);
        assert_int_equal(head.has_length, cases[i].has_length);
        assert_int_equal(head.chunked, cases[i].chunked);
    }
}

/* ---- requests ---- */

struct asking {
    struct server *server;
    struct vd_http_client_request request;
    struct vd_http_client *client;
    sem_t done;
    unsigned status; /* 0: no answer */
    size_t body_len;
    char body[64];
    struct vd_error error;
};

static void have_answer(void *arg, const struct vd_http_client_answer *answer,
                        const struct vd_error *error)
{
    struct asking *a = arg;
    if (answer) {
        a->status = answer->status;
        a->body_len = answer->body.n;
        snprintf(a->body, sizeof a->body, "%.*s", VD_FMT(answer->body));
    } else {
        a->error = *error;
    }
    sem_post(&a->done);
}

static void begin(struct server *s, void *arg)
{
    struct asking *a = arg;
    a->client = vd_http_client_start(&s->loops[0], &a->request);
}

static void begin_and_stop(struct server *s, void *arg)
{
    begin(s, arg);
    vd_http_client_stop(((struct asking *)arg)->client);
}

static void stop(struct server *s, void *arg)
{
    (void)s;
    vd_http_client_stop(((struct asking *)arg)->client);
}

/* Asks the server itself, on its own loop. */
static void ask(struct asking *a, struct server *s, const char *scheme, const char *path,
                SSL_CTX *tls)
{
    static char url[256];
    snprintf(url, sizeof url, "%s://%s%s", scheme, s->listener.address, path);
    *a = (struct asking){.server = s,
                         .request = {.url = vd_slice_of(url),
                                     .tls = tls,
                                     .timeout_ms = (uint64_t)TEST_DEADLINE_S * 1000,
                                     .len_max = 100000,
                                     .done = have_answer,
                                     .arg = a}};
    sem_init(&a->done, 0, 0);
}

static void wait_for_answer(struct asking *a)
{
    on_loop(a->server, begin, a);
    while (sem_wait(&a->done))
        ;
}

static void test_answers_come_whole(void **state)
{
    struct server s;
    struct asking a;
    (void)state;
    server_init(&s, 1, NULL);
    server_start(&s);
    ask(&a, &s, "http", "/echo/x?y=z", NULL);
    wait_for_answer(&a);
    assert_int_equal(a.status, 200);
    assert_string_equal(a.body, "GET /echo/x?y=z ");
    ask(&a, &s, "http", "/echo", NULL);
    a.request.method = VD_SLICE("POST");
    a.request.body = VD_SLICE("hello");
    wait_for_answer(&a);
    assert_string_equal(a.body, "POST /echo hello");
    ask(&a, &s, "http", "/echo/via", NULL);
    char elsewhere[64]; /* a name that nobody knows */
    snprintf(elsewhere, sizeof elsewhere, "http://converter.hooks.invalid%s/echo/via",
             strrchr(s.listener.address, ':'));
    a.request.url = vd_slice_of(elsewhere);
    a.request.via = VD_SLICE("127.0.0.1");
    wait_for_answer(&a);
    assert_string_equal(a.body, "GET /echo/via ");
    ask(&a, &s, "http", "/size/99999", NULL);
    wait_for_answer(&a);
    assert_int_equal(a.body_len, 99999);
    ask(&a, &s, "http", "/pull/5", NULL); /* chunked */
    wait_for_answer(&a);
    assert_int_equal(a.body_len, 5 * FRAME_LEN);
    ask(&a, &s, "http", "/status/302", NULL); /* not followed */
    wait_for_answer(&a);
    assert_int_equal(a.status, 302);
    ask(&a, &s, "http", "/status/204", NULL);
    wait_for_answer(&a);
    assert_int_equal(a.status, 204);
    server_stop(&s);
}

static void test_bounds_are_kept(void **state)
{
    struct server s;
    struct asking a;
    (void)state;
    server_init(&s, 1, NULL);
    server_start(&s);
    ask(&a, &s, "http", "/size/100001", NULL);
    wait_for_answer(&a);
    assert_int_equal(a.status, 0);
    assert_says(&a.error, "too long");
    ask(&a, &s, "http", "/pull/11", NULL);
    wait_for_answer(&a);
    assert_says(&a.error, "too long");
    ask(&a, &s, "http", "/hold", NULL);
    a.request.timeout_ms = 50;
    wait_for_answer(&a);
    assert_says(&a.error, "in time");
    ask(&a, &s, "http", "/abort", NULL);
    wait_for_answer(&a);
    assert_says(&a.error, "closed the connection");
    a.request.url = VD_SLICE("nonsense");
    wait_for_answer(&a);
    assert_says(&a.error, "URL");
    a.request.url = VD_SLICE("https://127.0.0.1/"); /* and no context */
    wait_for_answer(&a);
    assert_says(&a.error, "URL");
    server_stop(&s);
}

static void test_one_can_be_stopped(void **state)
{
    struct server s;
    struct asking a, b;
    (void)state;
    server_init(&s, 1, NULL);
    server_start(&s);
    ask(&a, &s, "http", "/hold", NULL);
    on_loop(&s, begin_and_stop, &a);
    ask(&b, &s, "http", "/stream", NULL);
    on_loop(&s, begin, &b);
    wait_for(&s.handled, 1);
    on_loop(&s, stop, &b);
    wait_for(&s.gone, 1);
    assert_int_equal(sem_trywait(&a.done), -1);
    assert_int_equal(sem_trywait(&b.done), -1);
    server_stop(&s);
}

/* Its first address may be ::1, where nobody listens: then the next is tried. */
static void test_names_are_looked_up(void **state)
{
    struct server s;
    struct asking a;
    char url[128];
    (void)state;
    server_init(&s, 1, NULL);
    server_start(&s);
    ask(&a, &s, "http", "/echo", NULL);
    snprintf(url, sizeof url, "http://localhost:%s/echo", strrchr(s.listener.address, ':') + 1);
    a.request.url = vd_slice_of(url);
    wait_for_answer(&a);
    assert_int_equal(a.status, 200);
    a.request.url = VD_SLICE("http://no-such-name.invalid/");
    a.status = 0;
    wait_for_answer(&a);
    assert_int_equal(a.status, 0);
    assert_says(&a.error, "could not be looked up");
    on_loop(&s, begin_and_stop, &a);
    server_stop(&s);
}

static void test_nobody_listens(void **state)
{
    struct server s, dead;
    struct asking a;
    (void)state;
    server_init(&dead, 1, NULL);
    server_start(&dead);
    ask(&a, &dead, "http", "/echo", NULL);
    server_stop(&dead);
    server_init(&s, 1, NULL);
    server_start(&s);
    a.server = &s;
    wait_for_answer(&a);
    assert_says(&a.error, "could not be reached");
    server_stop(&s);
}

static void read_file(struct vd_buf *out, const char *path)
{
    char piece[4096];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    for (size_t n; (n = fread(piece, 1, sizeof piece, file));)
        vd_buf_add(out, piece, n);
    fclose(file);
}

static void test_certificates_must_be_good(void **state)
{
    struct tls_files files;
    struct vd_buf pem = {0}, stranger = {0};
    struct vd_error error = {0};
    SSL_CTX *good = NULL, *bad = NULL;
    struct server s;
    struct asking a;
    (void)state;
    tls_files_make(&files);
    read_file(&pem, files.ca);
    read_file(&stranger, files.stranger);
    assert_ok(vd_tls_load_client(&good, vd_buf_slice(&pem), &error), &error);
    assert_ok(vd_tls_load_client(&bad, vd_buf_slice(&stranger), &error), &error);
    SSL_CTX *none = NULL;
    assert_code(vd_tls_load_client(&none, VD_SLICE("garbage"), &error), VD_ERR_INVALID);
    server_init(&s, 1,
                &(struct vd_tls_files){.certificate = files.server, .key = files.server_key});
    server_start(&s);
    ask(&a, &s, "https", "/echo", good);
    wait_for_answer(&a);
    assert_int_equal(a.status, 200);
    ask(&a, &s, "https", "/echo", bad);
    wait_for_answer(&a);
    assert_int_equal(a.status, 0);
    assert_says(&a.error, "no TLS with the server");
    char other[128]; /* the same server under a name that is not in the certificate */
    snprintf(other, sizeof other, "https://127.0.0.2:%s/echo",
             strrchr(s.listener.address, ':') + 1);
    ask(&a, &s, "https", "/echo", good);
    a.request.url = vd_slice_of(other);
    wait_for_answer(&a);
    assert_int_equal(a.status, 0);
    ask(&a, &s, "http", "/echo", NULL); /* plain, to a TLS door */
    wait_for_answer(&a);
    assert_int_equal(a.status, 400);
    server_stop(&s);
    SSL_CTX_free(good);
    SSL_CTX_free(bad);
    vd_buf_release(&pem);
    vd_buf_release(&stranger);
    tls_files_remove(&files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_urls),
        cmocka_unit_test(test_heads_of_answers),
        cmocka_unit_test(test_answers_come_whole),
        cmocka_unit_test(test_bounds_are_kept),
        cmocka_unit_test(test_one_can_be_stopped),
        cmocka_unit_test(test_names_are_looked_up),
        cmocka_unit_test(test_nobody_listens),
        cmocka_unit_test(test_certificates_must_be_good),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
