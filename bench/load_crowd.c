/*
 * The crowd of watchers, read by one thread. Every watcher's events are counted;
 * one in `check_every` is also looked into: its versions must grow, and the time in
 * its objects says how long their writes took to come here. To look into all would
 * measure this program and not the server.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "base/alloc.h"
#include "load.h"

enum { ROOM = 256 * 1024, EVENTS = 256, WAIT_MS = 20, READS_PER_EVENT = 8 };

struct watcher {
    struct link link;
    struct reply reply;
    struct crowd *crowd;
    _Atomic uint64_t events;
    _Atomic bool cut;
    bool checked;
    uint64_t revision;  /* of the last event */
    struct vd_buf line; /* of a checked watcher: an event that is not complete yet */
};

/* The number in a member's text, 0 when there is none. */
static uint64_t number_after(const char *text, const char *member)
{
    const char *at = strstr(text, member);
    return at ? strtoull(at + strlen(member), NULL, 10) : 0;
}

static void look_into(struct watcher *w)
{
    struct crowd *c = w->crowd;
    const char *text = vd_buf_text(&w->line);
    if (strstr(text, "\"type\":\"ERROR\"") || strstr(text, "\"type\":\"BOOKMARK\"")) {
        c->others++;
        return;
    }
    uint64_t revision = number_after(text, "\"resourceVersion\":\"");
    if (revision <= w->revision)
        c->out_of_order++;
    w->revision = revision;
    uint64_t sent_ns = number_after(text, "\"at\":\""), now_ns = load_now_ns();
    if (sent_ns && sent_ns < now_ns)
        latency_add(&c->latency, now_ns - sent_ns);
}

static void take_part(void *arg, struct vd_slice part)
{
    struct watcher *w = arg;
    uint64_t events = 0;
    for (const char *end; (end = memchr(part.p, '\n', part.n));) {
        size_t n = (size_t)(end - part.p);
        events++;
        if (w->checked) {
            vd_buf_add(&w->line, part.p, n);
            look_into(w);
            vd_buf_reset(&w->line);
        }
        part = vd_slice_from(part, n + 1);
    }
    if (w->checked && part.n)
        vd_buf_add_slice(&w->line, part);
    if (events)
        atomic_fetch_add_explicit(&w->events, events, memory_order_relaxed);
}

static void drop(struct watcher *w)
{
    atomic_store(&w->cut, true);
    epoll_ctl(w->crowd->epoll, EPOLL_CTL_DEL, w->link.fd, NULL);
}

static void cut_watch(void *arg)
{
    struct watcher *w = arg;
    atomic_store(&w->cut, true);
}

static const struct bundle_ops bundle_ops = {take_part, cut_watch};

static void read_watcher(struct watcher *w, char *room)
{
    for (int i = 0; i < READS_PER_EVENT; i++) {
        ssize_t n = link_receive(&w->link, room, ROOM);
        if (n == LINK_AGAIN)
            return;
        if (n > 0)
            reply_feed(&w->reply, vd_slice(room, (size_t)n), take_part, w);
        if (n <= 0 || w->reply.phase == REPLY_DONE || w->reply.status > 200) {
            drop(w);
            return;
        }
        if (!w->link.ssl && n < ROOM)
            return;
        /* epoll does not see what OpenSSL has read ahead, so under TLS everything is read. */
        i -= w->link.ssl != NULL;
    }
}

static void *read_on(void *arg)
{
    struct crowd *c = arg;
    struct epoll_event events[EVENTS];
    char *room = vd_malloc(ROOM);
    while (!atomic_load(&c->stop)) {
        int n = epoll_wait(c->epoll, events, EVENTS, WAIT_MS);
        for (int i = 0; i < n; i++) {
            if (!load.bundles)
                read_watcher(events[i].data.ptr, room);
            else if (!bundle_read(events[i].data.ptr, room, ROOM))
                load_die("a connection of HTTP/2 has ended");
        }
    }
    free(room);
    return NULL;
}

static void open_watcher(struct crowd *c, struct watcher *w, struct vd_slice request)
{
    link_open(&w->link, false);
    if (!link_send(&w->link, request))
        load_die("a watch could not be asked for");
    link_set_nonblocking(&w->link);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = w};
    epoll_ctl(c->epoll, EPOLL_CTL_ADD, w->link.fd, &event);
}

/* The connections get their watchers in turn. */
static void open_bundles(struct crowd *c, const char *path)
{
    c->bundles = vd_calloc(load.bundles, sizeof(struct bundle *));
    for (unsigned i = 0; i < load.bundles; i++) {
        c->bundles[i] = bundle_open(&bundle_ops);
        for (unsigned k = i; k < load.watchers; k += load.bundles)
            bundle_watch(c->bundles[i], path, &c->each[k]);
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = c->bundles[i]};
        epoll_ctl(c->epoll, EPOLL_CTL_ADD, bundle_start(c->bundles[i]), &event);
    }
}

void crowd_open(struct crowd *c, uint64_t revision)
{
    struct vd_buf path = {0}, request = {0};
    c->epoll = epoll_create1(EPOLL_CLOEXEC);
    c->each = vd_calloc(load.watchers, sizeof *c->each);
    vd_buf_addf(&path, "%s?watch=1&resourceVersion=%llu",
                load.watch_path ? load.watch_path : load.path, (unsigned long long)revision);
    link_request_text(&request, "GET", vd_buf_text(&path), NULL, VD_SLICE(""));
    for (unsigned i = 0; i < load.watchers; i++) {
        c->each[i].checked = i % load.check_every == 0;
        c->each[i].crowd = c;
        if (!load.bundles)
            open_watcher(c, &c->each[i], vd_buf_slice(&request));
    }
    if (load.bundles)
        open_bundles(c, vd_buf_text(&path));
    vd_buf_release(&path);
    vd_buf_release(&request);
    pthread_create(&c->thread, NULL, read_on, c);
}

void crowd_close(struct crowd *c)
{
    atomic_store(&c->stop, true);
    pthread_join(c->thread, NULL);
    for (unsigned i = 0; i < load.watchers; i++) {
        if (!load.bundles)
            link_close(&c->each[i].link);
        vd_buf_release(&c->each[i].line);
    }
    for (unsigned i = 0; i < load.bundles; i++)
        bundle_close(c->bundles[i]);
    free(c->bundles);
}

void crowd_count(const struct crowd *c, struct crowd_count *out)
{
    *out = (struct crowd_count){.least = load.watchers ? UINT64_MAX : 0};
    for (unsigned i = 0; i < load.watchers; i++) {
        uint64_t n = atomic_load_explicit(&c->each[i].events, memory_order_relaxed);
        out->events += n;
        out->least = n < out->least ? n : out->least;
        out->most = n > out->most ? n : out->most;
        out->cut += atomic_load(&c->each[i].cut);
    }
}

void crowd_wait(const struct crowd *c, uint64_t n, unsigned patience_ms)
{
    struct crowd_count count;
    uint64_t before = 0, since_ns = load_now_ns();
    for (;;) {
        crowd_count(c, &count);
        if (count.least >= n)
            return;
        if (count.events != before)
            since_ns = load_now_ns();
        before = count.events;
        if (load_now_ns() - since_ns > patience_ms * UINT64_C(1000000))
            return;
        load_sleep_ms(1);
    }
}
