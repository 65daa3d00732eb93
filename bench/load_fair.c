/*
 * How one user slows another down.
 *
 *   greedy   opens --watchers watches that it never reads, and keeps --clients connections
 *            busy, half of them with single objects and half with lists. Prints "ready" when
 *            all are open, and goes on for --seconds or until SIGTERM.
 *   pulse    reads and writes one object after the other, a hundred times a second on one
 *            connection each, and says how long that took.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "base/alloc.h"
#include "load.h"

enum { ROOM = 256 * 1024, EVENTS = 64, WAIT_MS = 20, PULSE_MS = 4, FIRST_READ = 4096 };

/* ---- greedy ---- */

struct busy {
    struct link link;
    struct reply reply;
    struct vd_buf request;
    uint64_t answers, refused;
};

/* Reads the head of the answer, which shows that the watch is open, and then no more. */
static void open_slow_watch(struct link *l)
{
    struct vd_buf path = {0}, request = {0};
    char room[FIRST_READ];
    vd_buf_addf(&path, "%s?watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan",
                load.watch_path ? load.watch_path : load.path);
    link_request_text(&request, "GET", vd_buf_text(&path), NULL, VD_SLICE(""));
    link_open(l, false);
    if (!link_send(l, vd_buf_slice(&request)) || link_receive(l, room, sizeof room) <= 0)
        load_die("a watch was not opened");
    if (strncmp(room, "HTTP/1.1 200", 12) != 0)
        load_die("a watch was answered with %.12s", room);
    vd_buf_release(&path);
    vd_buf_release(&request);
}

static void busy_open(struct busy *b, unsigned i, int epoll)
{
    struct vd_buf path = {0};
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = b};
    vd_buf_add_text(&path, load.path);
    if (i % 2)
        vd_buf_addf(&path, "/load-%u", i % load.objects);
    link_request_text(&b->request, "GET", vd_buf_text(&path), NULL, VD_SLICE(""));
    link_open(&b->link, false);
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, b->link.fd, &event) ||
        !link_send(&b->link, vd_buf_slice(&b->request)))
        load_die("a connection could not be used: %s", strerror(errno));
    link_set_nonblocking(&b->link);
    vd_buf_release(&path);
}

static void busy_read(struct busy *b, char *room)
{
    for (ssize_t n; (n = link_receive(&b->link, room, ROOM)) != LINK_AGAIN;) {
        if (n <= 0)
            load_die("a busy connection was cut");
        reply_feed(&b->reply, vd_slice(room, (size_t)n), NULL, NULL);
        if (b->reply.phase != REPLY_DONE)
            continue;
        b->answers++;
        b->refused += b->reply.status == 429;
        b->reply = (struct reply){0};
        if (!link_send(&b->link, vd_buf_slice(&b->request)))
            load_die("a busy connection was cut");
    }
}

void mode_greedy(void)
{
    struct link *watches = vd_calloc(load.watchers + 1, sizeof *watches);
    struct busy *busy = vd_calloc(load.clients + 1, sizeof *busy);
    char *room = vd_malloc(ROOM);
    struct epoll_event events[EVENTS];
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    uint64_t answers = 0, refused = 0;
    for (unsigned i = 0; i < load.watchers; i++)
        open_slow_watch(&watches[i]);
    for (unsigned i = 0; i < load.clients; i++)
        busy_open(&busy[i], i, epoll);
    puts("ready");
    fflush(stdout);
    uint64_t start_ns = load_now_ns();
    load_stop_on_signal();
    while (!load_stops_within(0)) {
        int n = epoll_wait(epoll, events, EVENTS, WAIT_MS);
        for (int i = 0; i < n; i++)
            busy_read(events[i].data.ptr, room);
    }
    for (unsigned i = 0; i < load.clients; i++) {
        answers += busy[i].answers;
        refused += busy[i].refused;
    }
    printf("{\"mode\":\"greedy\",\"watchers\":%u,\"clients\":%u,\"answers_per_s\":%.0f,"
           "\"refused\":%llu,\"right\":true}\n",
           load.watchers, load.clients,
           (double)answers / ((double)(load_now_ns() - start_ns) / 1e9),
           (unsigned long long)refused);
}

/* ---- pulse ---- */

static void pulse(struct link *l, struct vd_buf *request, struct latency *latency, uint64_t *failed)
{
    uint64_t start_ns = load_now_ns();
    unsigned status = link_ask(l, vd_buf_slice(request), NULL, NULL);
    if (status == 200)
        latency_add(latency, load_now_ns() - start_ns);
    else
        ++*failed;
    if (status == 0)
        load_die("the connection was cut");
}

void mode_pulse(void)
{
    static struct latency reads, writes;
    struct vd_buf path = {0}, body = {0}, request = {0};
    struct link reader, writer;
    uint64_t failed = 0;
    link_open(&reader, false);
    link_open(&writer, false);
    uint64_t next_ns = load_now_ns(), end_ns = next_ns + (uint64_t)(load.seconds * 1e9);
    for (unsigned i = 0; next_ns < end_ns; i++, next_ns += PULSE_MS * UINT64_C(1000000)) {
        uint64_t now_ns = load_now_ns();
        if (next_ns > now_ns)
            load_sleep_ms((unsigned)((next_ns - now_ns) / 1000000));
        else
            next_ns = now_ns; /* it is late, and does not send faster to catch up */
        vd_buf_reset(&path);
        vd_buf_addf(&path, "%s/load-%u", load.path, i % load.objects);
        link_request_text(&request, "GET", vd_buf_text(&path), NULL, VD_SLICE(""));
        pulse(&reader, &request, &reads, &failed);
        vd_buf_reset(&body);
        vd_buf_addf(&body, "{\"data\":{\"at\":\"%llu\"}}", (unsigned long long)load_now_ns());
        link_request_text(&request, "PATCH", vd_buf_text(&path), "application/merge-patch+json",
                          vd_buf_slice(&body));
        pulse(&writer, &request, &writes, &failed);
    }
    printf("{\"mode\":\"pulse\",\"failed\":%llu", (unsigned long long)failed);
    latency_print("read_ms", &reads);
    latency_print("write_ms", &writes);
    printf(",\"right\":%s}\n", failed ? "false" : "true");
    vd_buf_release(&path);
    vd_buf_release(&body);
    vd_buf_release(&request);
    link_close(&reader);
    link_close(&writer);
}
