/*
 * How a flood affects other clients. One thread asks for /readyz without a credential, in turns on
 * a connection that is kept and on a new one; another reads and writes as a user. They are two
 * threads, so that neither waits for the other's answers. They run until --seconds are over or
 * SIGTERM.
 */
#include <pthread.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "load.h"

enum { PERIOD_MS = 2, DEADLINE_S = 60 };

struct vigil {
    struct latency kept, fresh, reads, writes;
    uint64_t served, refused; /* requests of the user */
    uint64_t failed;          /* requests of either thread that failed */
};

static void open_patiently(struct link *l)
{
    const struct timeval deadline = {.tv_sec = DEADLINE_S};
    link_open(l, false);
    setsockopt(l->fd, SOL_SOCKET, SO_RCVTIMEO, &deadline, sizeof deadline);
}

static bool ask_ready(struct link *l)
{
    return link_ask(l, VD_SLICE("GET /readyz HTTP/1.1\r\nHost: vigil\r\n\r\n"), NULL, NULL) == 200;
}

/* The time of a request on a new connection includes the time to connect. */
static void *watch_health(void *arg)
{
    struct vigil *v = arg;
    struct link kept, fresh;
    open_patiently(&kept);
    while (!load_stops_within(PERIOD_MS)) {
        uint64_t start_ns = load_now_ns();
        bool good = ask_ready(&kept);
        latency_add(&v->kept, load_now_ns() - start_ns);
        start_ns = load_now_ns();
        open_patiently(&fresh);
        good &= ask_ready(&fresh);
        latency_add(&v->fresh, load_now_ns() - start_ns);
        link_close(&fresh);
        v->failed += !good;
    }
    link_close(&kept);
    return NULL;
}

static void ask(struct vigil *v, struct link *l, struct vd_buf *request, struct latency *latency)
{
    uint64_t start_ns = load_now_ns();
    unsigned status = link_ask(l, vd_buf_slice(request), NULL, NULL);
    latency_add(latency, load_now_ns() - start_ns);
    v->served += status == 200;
    v->refused += status == 429;
    if (status != 200 && status != 429)
        load_die("the other user was answered with %u", status);
}

static void live(struct vigil *v)
{
    struct vd_buf path = {0}, body = {0}, request = {0};
    struct link l;
    open_patiently(&l);
    for (unsigned i = 0; !load_stops_within(PERIOD_MS); i++) {
        vd_buf_reset(&path);
        vd_buf_addf(&path, "%s/load-%u", load.path, i % load.objects);
        link_request_text(&request, "GET", vd_buf_text(&path), NULL, VD_SLICE(""));
        ask(v, &l, &request, &v->reads);
        vd_buf_reset(&body);
        vd_buf_addf(&body, "{\"data\":{\"at\":\"%llu\"}}", (unsigned long long)load_now_ns());
        link_request_text(&request, "PATCH", vd_buf_text(&path), "application/merge-patch+json",
                          vd_buf_slice(&body));
        ask(v, &l, &request, &v->writes);
    }
    link_close(&l);
    vd_buf_release(&path);
    vd_buf_release(&body);
    vd_buf_release(&request);
}

void mode_vigil(void)
{
    static struct vigil v;
    pthread_t health;
    load_stop_on_signal();
    puts("ready");
    fflush(stdout);
    pthread_create(&health, NULL, watch_health, &v);
    live(&v);
    pthread_join(health, NULL);
    printf("{\"mode\":\"vigil\",\"served\":%llu,\"refused\":%llu,\"failed\":%llu",
           (unsigned long long)v.served, (unsigned long long)v.refused,
           (unsigned long long)v.failed);
    latency_print("ready_ms", &v.kept);
    latency_print("fresh_ms", &v.fresh);
    latency_print("read_ms", &v.reads);
    latency_print("write_ms", &v.writes);
    printf(",\"right\":%s}\n", v.refused || v.failed ? "false" : "true");
}
