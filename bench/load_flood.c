/*
 * Floods of one user over HTTP/1.1: the most that a client can do to keep others from being served.
 *
 *   requests   sends --requests requests over --clients connections, --ahead of them before the
 *              first answer, and more until --seconds are over or SIGTERM. Prints "ready" when
 *              every connection has had an answer, and at the end how many answers were good.
 *   slow       opens --watchers watches all at once and never reads them. Prints "ready" when
 *              each is answered, and after --seconds or SIGTERM how many are still open.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/alloc.h"
#include "load.h"

enum { ROOM = 256 * 1024, EVENTS = 256, WAIT_MS = 20, FIRST_READ = 4096 };

static void say_ready(void)
{
    puts("ready");
    fflush(stdout);
}

static void await_bytes(int epoll, int fd, void *what)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = what};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event))
        load_die("a connection could not be waited for: %s", strerror(errno));
}

/* ---- requests ---- */

struct asker {
    struct link link;
    struct reply reply;
    struct vd_buf request;
    bool answered;
};

struct answers {
    uint64_t sent, good, refused, odd;
    unsigned odd_status; /* status of the last answer that was neither good nor a refusal */
    unsigned began;      /* connections that have had an answer */
};

static uint64_t total(const struct answers *a)
{
    return a->good + a->refused + a->odd;
}

static void ask(struct asker *one, struct answers *all)
{
    if (all->sent >= load.requests && load_stops_within(0))
        return;
    all->sent++;
    if (!link_send(&one->link, vd_buf_slice(&one->request)))
        load_die("a connection of the flood was cut");
}

static void count(struct asker *one, struct answers *all)
{
    const struct reply *r = &one->reply;
    if (r->status == 200)
        all->good++;
    else if (r->status == 429 && r->retry_after)
        all->refused++;
    else
        all->odd++, all->odd_status = r->status;
    all->began += !one->answered;
    one->answered = true;
    one->reply = (struct reply){0};
    ask(one, all);
}

static void take_answers(struct asker *one, struct answers *all, char *room)
{
    for (ssize_t n; (n = link_receive(&one->link, room, ROOM)) != LINK_AGAIN;) {
        if (n <= 0)
            load_die("a connection of the flood was cut");
        for (struct vd_slice rest = vd_slice(room, (size_t)n); rest.n;) {
            rest = vd_slice_from(rest, rest.n - reply_feed(&one->reply, rest, NULL, NULL));
            if (one->reply.phase == REPLY_DONE)
                count(one, all);
        }
    }
}

static void open_asker(struct asker *one, unsigned i, int epoll)
{
    struct vd_buf path = {0};
    vd_buf_addf(&path, "%s/load-%u", load.path, i % load.objects);
    link_request_text(&one->request, "GET", vd_buf_text(&path), NULL, VD_SLICE(""));
    link_open(&one->link, false);
    link_set_nonblocking(&one->link);
    await_bytes(epoll, one->link.fd, one);
    vd_buf_release(&path);
}

void mode_requests(void)
{
    struct asker *each = vd_calloc(load.clients + 1, sizeof *each);
    struct answers all = {0};
    struct epoll_event events[EVENTS];
    char *room = vd_malloc(ROOM);
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    load_stop_on_signal();
    for (unsigned i = 0; i < load.clients; i++)
        open_asker(&each[i], i, epoll);
    uint64_t start_ns = load_now_ns();
    for (unsigned i = 0; i < load.clients; i++)
        for (unsigned k = 0; k < load.ahead; k++)
            ask(&each[i], &all);
    for (bool ready = false; total(&all) < all.sent;) {
        int n = epoll_wait(epoll, events, EVENTS, WAIT_MS);
        for (int i = 0; i < n; i++)
            take_answers(events[i].data.ptr, &all, room);
        if (!ready && all.began == load.clients) {
            say_ready();
            ready = true;
        }
    }
    double seconds = (double)(load_now_ns() - start_ns) / 1e9;
    printf("{\"mode\":\"requests\",\"clients\":%u,\"answers\":%llu,\"good\":%llu,"
           "\"refused\":%llu,\"odd\":%llu,\"odd_status\":%u,\"answers_per_s\":%.0f,\"right\":%s}\n",
           load.clients, (unsigned long long)total(&all), (unsigned long long)all.good,
           (unsigned long long)all.refused, (unsigned long long)all.odd, all.odd_status,
           (double)total(&all) / seconds, all.odd ? "false" : "true");
    for (unsigned i = 0; i < load.clients; i++) {
        link_close(&each[i].link);
        vd_buf_release(&each[i].request);
    }
    free(each);
    free(room);
    close(epoll);
}

/* ---- slow watches ---- */

struct slow {
    struct link link;
    bool open;
};

/* Reads the head of the answer, which shows that the watch is open, and then no more. Returns
 * whether the head has come. */
static bool take_head(struct slow *one, int epoll, unsigned *refused)
{
    char room[FIRST_READ];
    ssize_t n = link_receive(&one->link, room, sizeof room);
    if (n == LINK_AGAIN)
        return false;
    if (n < 12)
        load_die("a watch was cut");
    one->open = memcmp(room, "HTTP/1.1 200", 12) == 0;
    *refused += !one->open;
    epoll_ctl(epoll, EPOLL_CTL_DEL, one->link.fd, NULL);
    return true;
}

static unsigned count_open(const struct slow *each)
{
    unsigned n = 0;
    for (unsigned i = 0; i < load.watchers; i++) {
        struct pollfd state = {.fd = each[i].link.fd, .events = POLLRDHUP};
        bool stands = poll(&state, 1, 0) == 0;
        n += each[i].open && stands;
    }
    return n;
}

void mode_slow(void)
{
    struct slow *each = vd_calloc(load.watchers + 1, sizeof *each);
    struct vd_buf path = {0}, request = {0};
    struct epoll_event events[EVENTS];
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    unsigned refused = 0, answered = 0;
    load_stop_on_signal();
    vd_buf_addf(&path, "%s?watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan",
                load.path);
    link_request_text(&request, "GET", vd_buf_text(&path), NULL, VD_SLICE(""));
    for (unsigned i = 0; i < load.watchers; i++) {
        link_open(&each[i].link, false);
        if (!link_send(&each[i].link, vd_buf_slice(&request)))
            load_die("a watch was not asked for");
        link_set_nonblocking(&each[i].link);
        await_bytes(epoll, each[i].link.fd, &each[i]);
    }
    while (answered < load.watchers) {
        int n = epoll_wait(epoll, events, EVENTS, WAIT_MS);
        for (int i = 0; i < n; i++)
            answered += take_head(events[i].data.ptr, epoll, &refused);
    }
    say_ready();
    load_await_stop();
    unsigned open = count_open(each);
    printf("{\"mode\":\"slow\",\"watchers\":%u,\"refused\":%u,\"open\":%u,\"right\":%s}\n",
           load.watchers, refused, open, open + refused == load.watchers ? "true" : "false");
    for (unsigned i = 0; i < load.watchers; i++)
        link_close(&each[i].link);
    free(each);
    close(epoll);
    vd_buf_release(&path);
    vd_buf_release(&request);
}
