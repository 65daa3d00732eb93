/*
 * The network layer by itself: small requests on connections that are kept alive, and frames that
 * are sent to many streams. Clients and loop share one process and this machine's cores, so the
 * loop's own time is shown beside what the clock says.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "measure.h"
#include "net/gzip.h"
#include "net_server.h"

enum { CLIENTS = 64, REQUESTS = 300000, STREAMS = 1000, ROUNDS = 300, FRAME = 500 };

static struct server server;
static const char request[] = "GET /echo HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n"
                              "User-Agent: bench\r\nAccept: application/json\r\n\r\n";

static void get_cpu(struct server *s, void *arg)
{
    struct timespec now;
    (void)s;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    *(double *)arg = (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double loop_cpu_s(void)
{
    double s = 0;
    on_loop(&server, get_cpu, &s);
    return s;
}

/* A socket whose other end is a connection of the server. */
static void accept_fd(struct server *s, void *arg)
{
    vd_connection_accept(&s->services[0], *(int *)arg, NULL);
}

static int connect_pair(int epoll)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends))
        exit(2);
    on_loop(&server, accept_fd, &ends[1]);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = ends[0]};
    epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event);
    return ends[0];
}

static void say(int fd, const char *text)
{
    if (send(fd, text, strlen(text), MSG_NOSIGNAL) < 0)
        exit(3);
}

static size_t drain(int fd)
{
    static char room[65536];
    ssize_t n = recv(fd, room, sizeof room, 0);
    return n > 0 ? (size_t)n : 0;
}

static void measure_requests(void)
{
    struct epoll_event events[CLIENTS];
    int fds[CLIENTS], epoll = epoll_create1(0);
    size_t done = 0;
    for (int i = 0; i < CLIENTS; i++)
        fds[i] = connect_pair(epoll);
    double cpu = loop_cpu_s(), start = measure_now_s();
    for (int i = 0; i < CLIENTS; i++)
        say(fds[i], request);
    while (done < REQUESTS) {
        int n = epoll_wait(epoll, events, CLIENTS, -1);
        for (int i = 0; i < n; i++) {
            done += drain(events[i].data.fd) > 0; /* an answer is small enough to come whole */
            say(events[i].data.fd, request);
        }
    }
    double wall = measure_now_s() - start;
    cpu = loop_cpu_s() - cpu;
    measure_print("small requests, 64 connections", REQUESTS / wall, "/s", "");
    measure_print("  of the loop's own time", cpu / REQUESTS * 1e9, "ns each", "");
    for (int i = 0; i < CLIENTS; i++)
        close(fds[i]);
    close(epoll);
}

static void measure_fan_out(void)
{
    struct epoll_event events[STREAMS];
    int fds[STREAMS], epoll = epoll_create1(0);
    char payload[FRAME + 1];
    memset(payload, 'f', FRAME);
    payload[FRAME] = 0;
    for (int i = 0; i < STREAMS; i++) {
        fds[i] = connect_pair(epoll);
        say(fds[i], "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n");
    }
    wait_for_held(&server, STREAMS);
    (void)server_connections(&server);
    for (int i = 0; i < STREAMS; i++)
        drain(fds[i]);
    double cpu = loop_cpu_s(), start = measure_now_s();
    for (int round = 0; round < ROUNDS; round++) {
        size_t want = (size_t)STREAMS * ((size_t)FRAME + vd_http_chunk_line_len(FRAME) + 2);
        server_send_streams(&server, payload);
        while (want > 0) {
            int n = epoll_wait(epoll, events, STREAMS, -1);
            for (int i = 0; i < n; i++)
                want -= drain(events[i].data.fd);
        }
    }
    double wall = measure_now_s() - start, frames = (double)STREAMS * ROUNDS;
    cpu = loop_cpu_s() - cpu;
    measure_print("frames to 1,000 streams", frames / wall, "/s", "");
    measure_print("  of the loop's own time", cpu / frames * 1e9, "ns each", "");
    for (int i = 0; i < STREAMS; i++)
        close(fds[i]);
    close(epoll);
}

static void measure_gzip(void)
{
    struct vd_buf list = {0}, packed = {0}, body = {0};
    for (unsigned i = 0; i < 2000; i++) {
        char name[32];
        snprintf(name, sizeof name, "o-%u", i);
        struct vd_template t = measure_body(&body, name, (uint64_t)i * 2654435761u, 1000);
        vd_buf_add_slice(&list, t.bytes);
        vd_buf_add_char(&list, ',');
    }
    for (int level = 1; level <= 4; level++) {
        char what[64], note[64];
        vd_buf_reset(&packed);
        double start = measure_now_s();
        struct vd_gzip g;
        vd_gzip_init(&g, level);
        vd_gzip_add(&g, &(struct vd_gzip_stream){0}, vd_buf_slice(&list), true, &packed);
        vd_gzip_release(&g);
        double s = measure_now_s() - start;
        snprintf(what, sizeof what, "gzip of a list, level %d", level);
        snprintf(note, sizeof note, "to %.1f %%", 100.0 * (double)packed.n / (double)list.n);
        measure_print(what, (double)list.n / s / 1e6, "MB/s", note);
    }
    vd_buf_release(&list);
    vd_buf_release(&packed);
    vd_buf_release(&body);
}

int main(void)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    server_init(&server, 1, NULL);
    server_start(&server);
    measure_requests();
    measure_fan_out();
    server_stop(&server);
    measure_gzip();
    return 0;
}
