/*
 * ceiling: a server that answers the load generator and does nothing else, so that its figures are
 * the most that the kernel, TLS and the generator allow on this machine at this moment. It does not
 * parse, check or keep objects, makes nothing durable and authenticates nobody.
 *
 *   ceiling [CERT KEY]     on a free port of 127.0.0.1, which it prints
 *
 * It has one thread. Each PATCH adds a ready-made frame to one long stretch of memory, the log; a
 * watcher is an offset into it and is sent straight from there, up to SEND_MAX bytes at a time. All
 * that arrived in one turn is answered before watchers are sent to, so that they get it together.
 * Each POST adds its body to a ready-made list.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/vec.h"

enum { SEND_MAX = 16384, SENDS_PER_TURN = 8, EVENTS = 512, READ_MAX = 65536, PAD = 512 };

#define LOG_LEN  (UINT64_C(16) << 30) /* reserved, not used up */
#define LOG_MAX  (UINT64_C(1) << 24)  /* frames */
#define REVISION UINT64_C(1)          /* the revision before the first frame */

struct client {
    int fd;
    SSL *ssl;
    bool watching, blocked, gone;
    uint64_t offset; /* of a watcher, in the log */
    struct vd_buf in, out;
    size_t out_sent;
};

static char *log_bytes;
static uint64_t log_n, frames_n;
static uint64_t *frame_at;  /* where each frame of the log begins */
static struct vd_buf items; /* of the ready-made list */
static VD_VEC(struct client *) watchers;
static int epoll;
static SSL_CTX *context;

/* ---- bytes ---- */

/* Returns the bytes that were sent; 0: the socket takes none now; -1: the connection is broken. */
static ssize_t send_some(struct client *c, const char *p, size_t n)
{
    if (!c->ssl) {
        ssize_t sent = send(c->fd, p, n, MSG_NOSIGNAL);
        return sent >= 0 ? sent : errno == EAGAIN ? 0 : -1;
    }
    ERR_clear_error();
    int sent = SSL_write(c->ssl, p, (int)n);
    if (sent > 0)
        return sent;
    int why = SSL_get_error(c->ssl, sent);
    return why == SSL_ERROR_WANT_WRITE || why == SSL_ERROR_WANT_READ ? 0 : -1;
}

static ssize_t read_some(struct client *c, char *p, size_t n)
{
    if (!c->ssl) {
        ssize_t got = recv(c->fd, p, n, 0);
        return got > 0 ? got : got < 0 && errno == EAGAIN ? 0 : -1;
    }
    ERR_clear_error();
    int got = SSL_read(c->ssl, p, (int)n);
    if (got > 0)
        return got;
    int why = SSL_get_error(c->ssl, got);
    return why == SSL_ERROR_WANT_WRITE || why == SSL_ERROR_WANT_READ ? 0 : -1;
}

static void set_blocked(struct client *c, bool blocked)
{
    if (c->blocked == blocked)
        return;
    c->blocked = blocked;
    struct epoll_event event = {.events = EPOLLIN | (blocked ? (uint32_t)EPOLLOUT : 0),
                                .data.ptr = c};
    epoll_ctl(epoll, EPOLL_CTL_MOD, c->fd, &event);
}

/* What to send next: answers first, then what a watcher has not been sent of the log. */
static struct vd_slice next_bytes(const struct client *c)
{
    if (c->out_sent < c->out.n)
        return vd_slice(c->out.p + c->out_sent, c->out.n - c->out_sent);
    if (!c->watching)
        return VD_SLICE("");
    uint64_t left = log_n - c->offset;
    return vd_slice(log_bytes + c->offset, left < SEND_MAX ? (size_t)left : SEND_MAX);
}

static void flush(struct client *c)
{
    for (int i = 0; i < SENDS_PER_TURN; i++) {
        struct vd_slice bytes = next_bytes(c);
        ssize_t sent = bytes.n ? send_some(c, bytes.p, bytes.n) : 0;
        if (sent < 0)
            c->gone = true;
        if (sent <= 0) {
            set_blocked(c, bytes.n > 0 && !c->gone);
            return;
        }
        if (c->out.n == 0) {
            c->offset += (uint64_t)sent;
        } else if ((c->out_sent += (size_t)sent) == c->out.n) {
            vd_buf_reset(&c->out);
            c->out_sent = 0;
        }
    }
    set_blocked(c, true);
}

/* ---- answers ---- */

static uint64_t number_after(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

static void add_frame(const char *body)
{
    static char pad[PAD + 1];
    static struct vd_buf event;
    memset(pad, 'x', PAD);
    vd_buf_reset(&event);
    vd_buf_addf(&event,
                "{\"type\":\"MODIFIED\",\"object\":{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\","
                "\"metadata\":{\"name\":\"load-1\",\"namespace\":\"default\",\"uid\":"
                "\"00000000-0000-4000-8000-000000000000\",\"resourceVersion\":\"%llu\","
                "\"creationTimestamp\":\"2026-01-01T00:00:00Z\",\"labels\":{\"app\":\"load\"}},"
                "\"data\":{\"at\":\"%llu\",\"pad\":\"%s\"}}}\n",
                (unsigned long long)(REVISION + 1 + frames_n),
                (unsigned long long)number_after(body, "\"at\":\""), pad);
    if (frames_n == LOG_MAX || log_n + event.n + 64 > LOG_LEN) {
        fputs("ceiling: the log is full\n", stderr);
        exit(2);
    }
    frame_at[frames_n++] = log_n;
    log_n += (uint64_t)snprintf(log_bytes + log_n, 32, "%zx\r\n", event.n);
    memcpy(log_bytes + log_n, event.p, event.n);
    log_n += event.n;
    log_bytes[log_n++] = '\r';
    log_bytes[log_n++] = '\n';
}

static void begin_watch(struct client *c, const char *target)
{
    uint64_t revision = number_after(target, "resourceVersion=");
    uint64_t frame = revision < REVISION ? frames_n : revision - REVISION;
    c->offset = frame < frames_n ? frame_at[frame] : log_n;
    c->watching = true;
    *VD_VEC_PUSH(&watchers) = c;
    vd_buf_add_text(&c->out, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                             "Transfer-Encoding: chunked\r\n\r\n");
}

static void answer_list(struct client *c, bool page)
{
    struct vd_buf head = {0};
    size_t n = page ? 0 : items.n;
    vd_buf_addf(
        &head,
        "{\"kind\":\"List\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"%llu\"},"
        "\"items\":[",
        (unsigned long long)(REVISION + frames_n));
    vd_buf_addf(&c->out,
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
                head.n + n + 2);
    vd_buf_add_slice(&c->out, vd_buf_slice(&head));
    vd_buf_add(&c->out, items.p, n);
    vd_buf_add_text(&c->out, "]}");
    vd_buf_release(&head);
}

/* `head` is a request's text up to its body, ended with a NUL. */
static void answer(struct client *c, const char *head, struct vd_slice body)
{
    if (strncmp(head, "GET", 3) == 0 && strstr(head, "watch=1")) {
        begin_watch(c, head);
    } else if (strncmp(head, "GET", 3) == 0) {
        answer_list(c, strstr(head, "limit=1") != NULL);
    } else if (strncmp(head, "POST", 4) == 0) {
        vd_buf_add_text(&items, items.n ? "," : "");
        vd_buf_add_slice(&items, body);
        vd_buf_add_text(&c->out, "HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}");
    } else {
        add_frame(body.p);
        vd_buf_add_text(&c->out, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
    }
}

/* Answers the first request that was received. Returns its length, or 0 when it is not complete. */
static size_t take_request(struct client *c)
{
    vd_buf_text(&c->in);
    char *end = memmem(c->in.p, c->in.n, "\r\n\r\n", 4);
    if (!end)
        return 0;
    *end = 0;
    size_t head_n = (size_t)(end - c->in.p) + 4;
    size_t body_n = (size_t)number_after(c->in.p, "Content-Length: ");
    bool whole = head_n + body_n <= c->in.n;
    if (whole)
        answer(c, c->in.p, vd_slice(end + 4, body_n));
    *end = '\r';
    return whole ? head_n + body_n : 0;
}

static void read_client(struct client *c)
{
    static char room[READ_MAX];
    ssize_t n;
    while (!c->gone && (n = read_some(c, room, sizeof room)) != 0) {
        if (n < 0) {
            c->gone = true;
            return;
        }
        vd_buf_add(&c->in, room, (size_t)n);
        for (size_t used; (used = take_request(c)) > 0;) {
            memmove(c->in.p, c->in.p + used, c->in.n - used);
            c->in.n -= used;
        }
        if (!c->ssl && n < READ_MAX)
            return;
    }
}

/* ---- clients ---- */

static void accept_clients(int listener)
{
    int on = 1;
    for (int fd; (fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) {
        struct client *c = VD_NEW(struct client);
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        c->fd = fd;
        if (context) {
            c->ssl = SSL_new(context);
            SSL_set_fd(c->ssl, fd);
            SSL_set_accept_state(c->ssl);
        }
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
        epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
    }
}

static void client_free(struct client *c)
{
    for (size_t i = 0; c->watching && i < watchers.n; i++)
        if (watchers.p[i] == c) {
            watchers.p[i] = watchers.p[--watchers.n];
            break;
        }
    SSL_free(c->ssl);
    close(c->fd);
    vd_buf_release(&c->in);
    vd_buf_release(&c->out);
    free(c);
}

static void serve(int listener)
{
    struct epoll_event events[EVENTS];
    uint64_t before = frames_n;
    int n = epoll_wait(epoll, events, EVENTS, -1);
    for (int i = 0; i < n; i++) {
        struct client *c = events[i].data.ptr;
        if (!c) {
            accept_clients(listener);
            continue;
        }
        if (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR))
            read_client(c);
        if (!c->gone)
            flush(c);
        if (c->gone)
            client_free(c);
    }
    for (size_t i = frames_n > before ? watchers.n : 0; i-- > 0;) {
        struct client *c = watchers.p[i];
        if (!c->blocked)
            flush(c);
        if (c->gone)
            client_free(c);
    }
}

/* ---- starting ---- */

static void load_certificate(const char *cert, const char *key)
{
    context = SSL_CTX_new(TLS_server_method());
    if (SSL_CTX_use_certificate_chain_file(context, cert) != 1 ||
        SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1) {
        fprintf(stderr, "ceiling: %s or %s cannot be used\n", cert, key);
        exit(2);
    }
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                  SSL_MODE_RELEASE_BUFFERS);
}

static void *reserve(uint64_t n)
{
    void *p = mmap(NULL, (size_t)n, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) {
        perror("ceiling: mmap");
        exit(2);
    }
    return p;
}

static int listen_somewhere(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof at;
    if (fd < 0 || bind(fd, (const struct sockaddr *)&at, sizeof at) || listen(fd, 4096) ||
        getsockname(fd, (struct sockaddr *)&at, &n)) {
        perror("ceiling");
        exit(2);
    }
    printf("ready %s://127.0.0.1:%u\n", context ? "https" : "http", ntohs(at.sin_port));
    fflush(stdout);
    return fd;
}

int main(int argc, char **argv)
{
    struct rlimit limit;
    if (argc != 1 && argc != 3) {
        fputs("usage: ceiling [CERT KEY]\n", stderr);
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    if (argc == 3)
        load_certificate(argv[1], argv[2]);
    log_bytes = reserve(LOG_LEN);
    frame_at = reserve(LOG_MAX * sizeof *frame_at);
    epoll = epoll_create1(EPOLL_CLOEXEC);
    int listener = listen_somewhere();
    epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &(struct epoll_event){.events = EPOLLIN});
    for (;;)
        serve(listener);
}
