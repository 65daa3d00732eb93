/*
 * A bundle: one HTTP/2 connection with many watches. It uses nghttp2, with windows as large as
 * those of Go's client, 4 MiB a stream, which nghttp2 keeps open by itself.
 */
#include <nghttp2/nghttp2.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "load.h"

enum { STREAM_WINDOW = 4 << 20, CONNECTION_WINDOW = 1 << 30, READS_PER_EVENT = 64 };

struct bundle {
    struct link link;
    nghttp2_session *session;
    const struct bundle_ops *ops;
};

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *data,
                   size_t n, void *arg)
{
    struct bundle *b = arg;
    void *watch = nghttp2_session_get_stream_user_data(session, id);
    (void)flags;
    if (watch)
        b->ops->part(watch, vd_slice((const char *)data, n));
    return 0;
}

static int on_close(nghttp2_session *session, int32_t id, uint32_t code, void *arg)
{
    struct bundle *b = arg;
    void *watch = nghttp2_session_get_stream_user_data(session, id);
    (void)code;
    if (watch)
        b->ops->cut(watch);
    return 0;
}

static bool push(struct bundle *b)
{
    const uint8_t *p = NULL;
    ssize_t n;
    while ((n = nghttp2_session_mem_send(b->session, &p)) > 0)
        if (!link_send(&b->link, vd_slice((const char *)p, (size_t)n)))
            return false;
    return n == 0;
}

struct bundle *bundle_open(const struct bundle_ops *ops)
{
    struct bundle *b = VD_NEW(struct bundle);
    nghttp2_session_callbacks *callbacks = NULL;
    const nghttp2_settings_entry window = {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, STREAM_WINDOW};
    b->ops = ops;
    link_open(&b->link, true);
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
    nghttp2_session_client_new(&b->session, callbacks, b);
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_submit_settings(b->session, NGHTTP2_FLAG_NONE, &window, 1);
    nghttp2_session_set_local_window_size(b->session, NGHTTP2_FLAG_NONE, 0, CONNECTION_WINDOW);
    return b;
}

static nghttp2_nv field(const char *name, const char *value)
{
    return (nghttp2_nv){.name = (uint8_t *)(uintptr_t)name,
                        .value = (uint8_t *)(uintptr_t)value,
                        .namelen = strlen(name),
                        .valuelen = strlen(value)};
}

void bundle_watch(struct bundle *b, const char *path, void *watch)
{
    struct vd_buf authority = {0}, bearer = {0};
    vd_buf_addf(&authority, "%s:%u", load.host, load.port);
    vd_buf_addf(&bearer, "Bearer %s", load.token ? load.token : "");
    const nghttp2_nv fields[] = {
        field(":method", "GET"),
        field(":scheme", load.tls ? "https" : "http"),
        field(":authority", vd_buf_text(&authority)),
        field(":path", path),
        field("accept", "application/json"),
        field("authorization", vd_buf_text(&bearer)), /* last: left out without a token */
    };
    size_t n = sizeof fields / sizeof *fields - (load.token == NULL);
    if (nghttp2_submit_request(b->session, NULL, fields, n, NULL, watch) < 0)
        load_die("a watch could not be asked for");
    vd_buf_release(&authority);
    vd_buf_release(&bearer);
}

int bundle_start(struct bundle *b)
{
    if (!push(b))
        load_die("watches could not be asked for");
    link_set_nonblocking(&b->link);
    return b->link.fd;
}

bool bundle_read(struct bundle *b, char *room, size_t n)
{
    for (int i = 0; b->link.ssl || i < READS_PER_EVENT; i++) {
        ssize_t got = link_receive(&b->link, room, n);
        if (got == LINK_AGAIN)
            break;
        if (got <= 0 || nghttp2_session_mem_recv(b->session, (uint8_t *)room, (size_t)got) < 0)
            return false;
    }
    return push(b);
}

void bundle_close(struct bundle *b)
{
    nghttp2_session_del(b->session);
    link_close(&b->link);
    free(b);
}
