/* See net_server.h. */
#include "net_server.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/container_of.h"
#include "check.h"

#define TEXT_PLAIN VD_SLICE("text/plain")

/* ---- the handler ---- */

static struct server *server_of(struct vd_exchange *x)
{
    return x->connection->service->arg;
}

static void respond(struct vd_exchange *x, unsigned status, struct vd_slice body)
{
    vd_exchange_respond(
        x, &(struct vd_response){.status = status, .content_type = TEXT_PLAIN, .body = body});
}

static void answer_echo(struct vd_exchange *x)
{
    struct vd_buf text = {0};
    vd_buf_add_slice(&text, vd_http_head_method(x->head));
    vd_buf_add_char(&text, ' ');
    vd_buf_add_slice(&text, vd_http_head_target(x->head));
    vd_buf_add_char(&text, ' ');
    vd_buf_add_slice(&text, x->body);
    respond(x, 200, vd_buf_slice(&text));
    vd_buf_release(&text);
}

static void answer_size(struct vd_exchange *x, size_t n)
{
    struct vd_bytes *bytes = vd_bytes_new(n);
    memset(bytes->data, 'x', n);
    vd_exchange_respond(
        x, &(struct vd_response){.status = 200, .content_type = TEXT_PLAIN, .shared = bytes});
}

static void answer_who(struct vd_exchange *x)
{
    char name[256] = "nobody";
    X509 *certificate = vd_connection_certificate(x->connection);
    if (certificate)
        X509_NAME_oneline(X509_get_subject_name(certificate), name, sizeof name);
    X509_free(certificate);
    respond(x, 200, vd_slice_of(name));
}

static void held_gone(struct vd_exchange *x)
{
    struct server *s = server_of(x);
    for (size_t i = 0; i < s->held_n; i++) {
        if (s->held[i] == x)
            s->held[i--] = s->held[--s->held_n];
    }
    s->gone++;
}

static void held_drained(struct vd_exchange *x)
{
    server_of(x)->drained++;
}

static const struct vd_exchange_ops held_ops = {.drained = held_drained, .gone = held_gone};

static void hold(struct vd_exchange *x)
{
    struct server *s = server_of(x);
    if (s->held_n == SERVER_HELD_MAX)
        abort();
    s->held[s->held_n++] = x;
    x->ops = &held_ops;
}

struct later {
    struct vd_task task;
    struct vd_exchange *x;
};

static void answer_later(struct vd_task *task)
{
    struct later *later = VD_CONTAINER_OF(task, struct later, task);
    if (later->x)
        answer_echo(later->x);
    free(later);
}

/* The client has left while the task is on its way: the task will have nobody to answer. */
static void later_gone(struct vd_exchange *x)
{
    struct later *later = x->arg;
    later->x = NULL;
    server_of(x)->gone++;
}

static const struct vd_exchange_ops later_ops = {.gone = later_gone};

struct pull {
    size_t left;
};

static void pull_more(struct vd_exchange *x)
{
    struct server *s = server_of(x);
    struct pull *pull = x->arg;
    struct vd_buf frame = {0};
    s->drained++;
    if (pull->left == 0) {
        free(pull);
        vd_exchange_end(x);
        return;
    }
    pull->left--;
    for (size_t i = 0; i < FRAME_LEN; i++)
        vd_buf_add_char(&frame, (char)('a' + (i + pull->left) % 26));
    vd_exchange_send(x, vd_bytes_take(&frame));
    if (vd_exchange_backlog(x) > s->backlog_max)
        s->backlog_max = vd_exchange_backlog(x);
    vd_exchange_await_drain(x);
}

static void pull_gone(struct vd_exchange *x)
{
    free(x->arg);
    server_of(x)->gone++;
}

static const struct vd_exchange_ops pull_ops = {.drained = pull_more, .gone = pull_gone};

static void start_pull(struct vd_exchange *x, size_t n)
{
    struct pull *pull = VD_NEW(struct pull);
    pull->left = n;
    x->arg = pull;
    x->ops = &pull_ops;
    vd_exchange_stream(x, &(struct vd_response){.status = 200, .content_type = TEXT_PLAIN});
    vd_exchange_await_drain(x);
}

static size_t number_after(struct vd_slice target, const char *prefix)
{
    uint64_t n = 0;
    size_t skip = strlen(prefix);
    if (vd_slice_to_u64(vd_slice(target.p + skip, target.n - skip), &n) != 0)
        abort();
    return n;
}

static bool starts(struct vd_slice text, const char *prefix)
{
    size_t n = strlen(prefix);
    return text.n >= n && memcmp(text.p, prefix, n) == 0;
}

static void handle(struct vd_http_service *service, struct vd_exchange *x)
{
    struct server *s = service->arg;
    struct vd_slice target = vd_http_head_target(x->head);
    s->handled++;
    if (starts(target, "/size/")) {
        answer_size(x, number_after(target, "/size/"));
    } else if (starts(target, "/status/")) {
        respond(x, (unsigned)number_after(target, "/status/"), VD_SLICE("so it is"));
    } else if (starts(target, "/hold")) {
        hold(x);
    } else if (starts(target, "/later")) {
        struct later *later = VD_NEW(struct later);
        *later = (struct later){.task.run = answer_later, .x = x};
        x->ops = &later_ops;
        x->arg = later;
        vd_loop_post(x->loop, &later->task);
    } else if (starts(target, "/stream")) {
        vd_exchange_stream(x, &(struct vd_response){.status = 200, .content_type = TEXT_PLAIN});
        vd_exchange_forget_request(x);
        hold(x);
    } else if (starts(target, "/pull/")) {
        start_pull(x, number_after(target, "/pull/"));
    } else if (starts(target, "/abort")) {
        vd_exchange_abort(x);
    } else if (starts(target, "/who")) {
        answer_who(x);
    } else {
        answer_echo(x);
    }
}

static void finished(struct vd_http_service *service, struct vd_exchange *x)
{
    struct server *s = service->arg;
    s->last_status = x->status;
    s->sent += x->sent_len;
    s->finished++;
}

/* ---- life cycle ---- */

void server_init(struct server *s, size_t loops, const struct vd_tls_files *tls)
{
    struct vd_error error = {0};
    memset(s, 0, sizeof *s);
    s->loops_n = loops;
    s->route = (struct vd_route){.body_len_max = VD_BODY_LEN_MAX, .handle = handle};
    vd_route_table_add(&s->routes, &s->route);
    for (size_t i = 0; i < loops; i++) {
        assert_ok(vd_loop_init(&s->loops[i], i, &error), &error);
        vd_http_service_init(&s->services[i], &s->loops[i]);
        s->services[i].routes = &s->routes;
        s->services[i].finished = finished;
        s->services[i].arg = s;
    }
    assert_ok(vd_http_listener_bind(&s->listener, "127.0.0.1:0", &error), &error);
    s->listener.loop = &s->loops[0];
    s->listener.services = s->services;
    s->listener.services_n = loops;
    if (tls) {
        pthread_mutex_init(&s->tls.lock, NULL);
        assert_ok(vd_tls_load(&s->tls.context, tls, &error), &error);
        s->listener.tls = &s->tls;
    }
}

void server_start(struct server *s)
{
    struct vd_error error = {0};
    sigset_t pipe;
    assert_ok(vd_http_listener_open(&s->listener, &error), &error);
    /* The loops' threads must not depend on SIGPIPE being blocked; the test's clients need it
     * blocked. */
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_UNBLOCK, &pipe, NULL);
    for (size_t i = 0; i < s->loops_n; i++)
        assert_ok(vd_loop_start(&s->loops[i], &error), &error);
    pthread_sigmask(SIG_BLOCK, &pipe, NULL);
}

struct call {
    struct vd_task task;
    struct server *server;
    void (*run)(struct server *s, void *arg);
    void *arg;
    sem_t done;
};

static void run_call(struct vd_task *task)
{
    struct call *call = VD_CONTAINER_OF(task, struct call, task);
    call->run(call->server, call->arg);
    sem_post(&call->done);
}

static void on_loop_n(struct server *s, size_t i, void (*run)(struct server *s, void *arg),
                      void *arg)
{
    struct call call = {.task.run = run_call, .server = s, .run = run, .arg = arg};
    sem_init(&call.done, 0, 0);
    vd_loop_post(&s->loops[i], &call.task);
    while (sem_wait(&call.done) != 0)
        ;
    sem_destroy(&call.done);
}

void on_loop(struct server *s, void (*run)(struct server *s, void *arg), void *arg)
{
    on_loop_n(s, 0, run, arg);
}

static void close_listener(struct server *s, void *arg)
{
    (void)arg;
    vd_http_listener_close(&s->listener);
}

static void close_all(struct server *s, void *arg)
{
    vd_http_service_close_all(arg);
    (void)s;
}

void server_stop(struct server *s)
{
    on_loop(s, close_listener, NULL);
    for (size_t i = 0; i < s->loops_n; i++)
        on_loop_n(s, i, close_all, &s->services[i]);
    for (size_t i = 0; i < s->loops_n; i++) {
        vd_loop_stop(&s->loops[i]);
        vd_loop_release(&s->loops[i]);
    }
    vd_route_table_release(&s->routes);
    if (s->listener.tls) {
        vd_http_listener_tls_set(&s->tls, NULL);
        pthread_mutex_destroy(&s->tls.lock);
    }
}

/* ---- waiting ---- */

static bool time_is_up(uint64_t start_ns)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return vd_clock_mono_ns(vd_clock_system()) - start_ns > TEST_DEADLINE_S * UINT64_C(1000000000);
}

void wait_for(const _Atomic size_t *counter, size_t value)
{
    uint64_t start_ns = vd_clock_mono_ns(vd_clock_system());
    while (*counter != value) {
        if (time_is_up(start_ns))
            fail_msg("waited for %zu, still %zu", value, *counter);
    }
}

struct count {
    size_t loop, n;
};

static void count_connections(struct server *s, void *arg)
{
    struct count *count = arg;
    count->n = s->services[count->loop].count;
}

size_t server_connections_of(struct server *s, size_t loop)
{
    struct count count = {.loop = loop};
    on_loop_n(s, loop, count_connections, &count);
    return count.n;
}

size_t server_connections(struct server *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->loops_n; i++)
        n += server_connections_of(s, i);
    return n;
}

void wait_for_connections(struct server *s, size_t n)
{
    uint64_t start_ns = vd_clock_mono_ns(vd_clock_system());
    while (server_connections(s) != n) {
        if (time_is_up(start_ns))
            fail_msg("waited for %zu connections, still %zu", n, server_connections(s));
    }
}

static void get_held(struct server *s, void *arg)
{
    *(size_t *)arg = s->held_n;
}

void wait_for_held(struct server *s, size_t n)
{
    uint64_t start_ns = vd_clock_mono_ns(vd_clock_system());
    size_t held = 0;
    for (on_loop(s, get_held, &held); held != n; on_loop(s, get_held, &held)) {
        if (time_is_up(start_ns))
            fail_msg("waited for %zu held exchanges, still %zu", n, held);
    }
}

/* ---- on held exchanges ---- */

static void answer_held(struct server *s, void *arg)
{
    size_t n = s->held_n;
    s->held_n = 0; /* set first, as an answer may lead to the next request, which is then held */
    struct vd_exchange *held[64];
    assert_true(n <= 64);
    memcpy(held, s->held, n * sizeof *held);
    for (size_t i = 0; i < n; i++)
        respond(held[i], 200, vd_slice_of(arg));
}

void server_answer_held(struct server *s, const char *body)
{
    on_loop(s, answer_held, (void *)(uintptr_t)body);
}

static void send_streams(struct server *s, void *arg)
{
    struct vd_buf frame = {0};
    vd_buf_add_text(&frame, arg);
    struct vd_bytes *bytes = vd_bytes_take(&frame);
    for (size_t i = 0; i < s->held_n; i++)
        vd_exchange_send(s->held[i], vd_bytes_ref(bytes));
    vd_bytes_unref(bytes);
}

void server_send_streams(struct server *s, const char *payload)
{
    on_loop(s, send_streams, (void *)(uintptr_t)payload);
}

static void end_streams(struct server *s, void *arg)
{
    bool in_order = arg == NULL;
    while (s->held_n) {
        struct vd_exchange *x = s->held[--s->held_n];
        if (in_order)
            vd_exchange_end(x);
        else
            vd_exchange_abort(x);
    }
}

void server_end_streams(struct server *s)
{
    on_loop(s, end_streams, NULL);
}

void server_abort_streams(struct server *s)
{
    on_loop(s, end_streams, s);
}
