/*
 * What the parts of the load generator share. load.c is the program; each other part is one noun: a
 * link (a connection), a reply, the crowd of watchers, the writers, latencies. An error ends the
 * program with a sentence.
 */
#ifndef VD_BENCH_LOAD_H
#define VD_BENCH_LOAD_H

#include <openssl/ssl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct load_options {
    char host[64]; /* an IPv4 address */
    uint16_t port;
    bool tls;
    const char *token, *cert, *key;
    const char *path;       /* of the collection that is written and listed */
    const char *watch_path; /* of the one that is watched, when it is another */
    const char *kind, *api_version;
    unsigned watchers, writers, clients, objects, size, events, check_every;
    unsigned requests, ahead; /* of a flood: the number of requests, and how many a connection sends
                                 before it waits */
    unsigned receive_buffer;  /* bytes of a socket's receive buffer; 0: the kernel's default */
    unsigned bundles; /* HTTP/2 connections that the watchers share; 0: HTTP/1.1, one each */
    int pid;          /* the server's, 0: unknown */
    double seconds;
};

extern struct load_options load;

uint64_t load_now_ns(void);
void load_sleep_ms(unsigned ms);

/* A run ends by SIGTERM, or after load.seconds. */
void load_stop_on_signal(void); /* once, before the others */
bool load_stops_within(unsigned ms);
void load_await_stop(void);

_Noreturn void load_die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- latency ---- */

enum { LATENCY_BUCKETS = 64 * 16 };

/* A histogram of microseconds with 16 buckets for each doubling. */
struct latency {
    uint64_t n, longest_ns;
    uint64_t counts[LATENCY_BUCKETS];
};

void latency_add(struct latency *l, uint64_t ns);
void latency_merge(struct latency *into, const struct latency *from);
double latency_ms(const struct latency *l, double quantile);
void latency_print(const char *name, const struct latency *l); /* ,"name":{...} */

/* ---- reply ---- */

enum reply_phase {
    REPLY_HEAD,
    REPLY_CHUNK_SIZE,
    REPLY_CHUNK,
    REPLY_CHUNK_END,
    REPLY_WHOLE,
    REPLY_DONE
};

/* Reads one HTTP/1.1 response as its bytes come in; {0} is ready for one. */
struct reply {
    enum reply_phase phase;
    unsigned status;
    bool chunked, retry_after;
    uint64_t left; /* of the body or of the chunk */
    char line[120];
    unsigned line_n;
};

typedef void (*reply_sink)(void *arg, struct vd_slice part);

/* Returns how many bytes are left after the end of the response. */
size_t reply_feed(struct reply *r, struct vd_slice bytes, reply_sink sink, void *arg);

/* ---- link ---- */

struct link {
    int fd;
    SSL *ssl;
};

enum { LINK_AGAIN = -2, LINK_BROKEN = -1 };

void link_setup(void); /* once, before the first */
void link_open(struct link *l, bool http2);
void link_close(struct link *l);
void link_set_nonblocking(struct link *l);
bool link_send(struct link *l, struct vd_slice bytes);

/* Returns the bytes that were read, 0 at the end, or one of the two codes above. */
ssize_t link_receive(struct link *l, char *room, size_t n);

/* Puts a request together; without a body, content_type is NULL. */
void link_request_text(struct vd_buf *out, const char *method, const char *path,
                       const char *content_type, struct vd_slice body);

/* Sends `request` and reads its answer through `sink`, which may be NULL. Returns the status; 0:
 * the connection broke. */
unsigned link_ask(struct link *l, struct vd_slice request, reply_sink sink, void *arg);

/* ---- bundle ---- */

struct bundle_ops {
    void (*part)(void *watch, struct vd_slice part); /* called with a part of a watch's answer */
    void (*cut)(void *watch);                        /* called when a watch has ended */
};

/* A bundle is opened, then its watches are added, then it is started, which returns the descriptor
 * to wait for. */
struct bundle *bundle_open(const struct bundle_ops *ops);
void bundle_watch(struct bundle *b, const char *path, void *watch);
int bundle_start(struct bundle *b);
bool bundle_read(struct bundle *b, char *room, size_t n); /* false: it has broken */
void bundle_close(struct bundle *b);

/* ---- objects ---- */

void objects_create(void);
uint64_t objects_revision(void); /* the collection's resourceVersion */

/* ---- writers ---- */

struct writers {
    struct writer *each;
    atomic_bool stop;
    atomic_ullong done, failed;
};

void writers_start(struct writers *w);
void writers_stop(struct writers *w, struct latency *latency);

/* ---- crowd ---- */

struct crowd {
    struct watcher *each;
    struct bundle **bundles;
    pthread_t thread;
    int epoll;
    atomic_bool stop;
    struct latency latency; /* from before a write was sent until its event was read */
    uint64_t out_of_order, others;
};

struct crowd_count {
    uint64_t events, least, most;
    unsigned cut;
};

void crowd_open(struct crowd *c, uint64_t revision);
void crowd_close(struct crowd *c); /* stops reading; the figures stay */
void crowd_count(const struct crowd *c, struct crowd_count *out);

/* Waits until every watcher has `n` events, or none has come for `patience_ms`. */
void crowd_wait(const struct crowd *c, uint64_t n, unsigned patience_ms);

/* ---- modes ---- */

void mode_fanout(void);
void mode_idle(void);
void mode_replay(void);
void mode_list(void);
void mode_write(void);
void mode_definitions(void);
void mode_greedy(void);
void mode_pulse(void);
void mode_requests(void);
void mode_resets(void);
void mode_slow(void);
void mode_vigil(void);

double server_cpu_s(void);
double server_resident_kb(void);

#endif
