/* See h2_client.h. */
#include "h2_client.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "check.h"

/* ---- what nghttp2 tells ---- */

static struct h2_stream *stream_of(struct h2 *h, int32_t id)
{
    for (size_t i = 0; i < h->streams_n; i++)
        if (h->streams[i].id == id)
            return &h->streams[i];
    return NULL;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_n, const uint8_t *value, size_t value_n, uint8_t flags, void *arg)
{
    struct h2_stream *s = stream_of(arg, frame->hd.stream_id);
    (void)session;
    (void)flags;
    if (!s)
        return 0;
    if (name_n == 7 && memcmp(name, ":status", 7) == 0) {
        unsigned status = (unsigned)strtoul((const char *)value, NULL, 10);
        *(status < 200 ? &s->interim : &s->status) = status;
    }
    vd_buf_addf(&s->head, "%.*s: %.*s\n", (int)name_n, (const char *)name, (int)value_n,
                (const char *)value);
    return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *data,
                   size_t n, void *arg)
{
    struct h2_stream *s = stream_of(arg, id);
    (void)session;
    (void)flags;
    if (s)
        vd_buf_add(&s->body, data, n);
    return 0;
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *arg)
{
    struct h2 *h = arg;
    struct h2_stream *s = stream_of(h, frame->hd.stream_id);
    (void)session;
    if (frame->hd.type == NGHTTP2_GOAWAY && h->goaways_n < H2_GOAWAYS_MAX) {
        h->goaway_last[h->goaways_n++] = frame->goaway.last_stream_id;
        h->goaway_code = frame->goaway.error_code;
    } else if (frame->hd.type == NGHTTP2_PING && frame->hd.flags & NGHTTP2_FLAG_ACK) {
        h->pings++;
    } else if ((frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS) && s) {
        s->ended |= (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    }
    return 0;
}

static int on_stream_close(nghttp2_session *session, int32_t id, uint32_t code, void *arg)
{
    struct h2_stream *s = stream_of(arg, id);
    (void)session;
    if (s) {
        s->closed = true;
        s->code = code;
    }
    return 0;
}

static ssize_t read_upload(nghttp2_session *session, int32_t id, uint8_t *room, size_t n,
                           uint32_t *flags, nghttp2_data_source *source, void *arg)
{
    struct h2_stream *s = source->ptr;
    (void)session;
    (void)id;
    (void)arg;
    if (!s->upload.p)
        return NGHTTP2_ERR_DEFERRED; /* the body is never sent */
    size_t part = s->upload.n < n ? s->upload.n : n;
    memcpy(room, s->upload.p, part);
    s->upload = vd_slice(s->upload.p + part, s->upload.n - part);
    if (s->upload.n == 0)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)part;
}

/* ---- life cycle ---- */

void h2_open(struct h2 *h, struct server *s, const struct h2_options *options)
{
    nghttp2_session_callbacks *callbacks = NULL;
    nghttp2_option *option = NULL;
    memset(h, 0, sizeof *h);
    if (options->tls) {
        SSL_CTX_set_alpn_protos(options->tls, (const unsigned char *)"\x02h2", 3);
        assert_true(client_open_tls(&h->io, s, options->tls));
    } else {
        client_open(&h->io, s);
    }
    int on = 1;
    setsockopt(h->io.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_option_new(&option);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
    nghttp2_option_set_no_auto_window_update(option, options->no_updates);
    nghttp2_option_set_no_http_messaging(option, options->unchecked);
    nghttp2_option_set_max_send_header_block_length(option, 1000000);
    assert_int_equal(nghttp2_session_client_new2(&h->session, callbacks, h, option), 0);
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_option_del(option);
    nghttp2_settings_entry window = {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, options->window};
    assert_int_equal(
        nghttp2_submit_settings(h->session, NGHTTP2_FLAG_NONE, &window, options->window ? 1 : 0),
        0);
    assert_true(h2_push(h));
}

void h2_close(struct h2 *h)
{
    for (size_t i = 0; i < h->streams_n; i++) {
        vd_buf_release(&h->streams[i].body);
        vd_buf_release(&h->streams[i].head);
    }
    nghttp2_session_del(h->session);
    client_close(&h->io);
}

/* ---- asking ---- */

bool h2_push(struct h2 *h)
{
    const uint8_t *p = NULL;
    ssize_t n;
    while ((n = nghttp2_session_mem_send(h->session, &p)) > 0)
        if (!client_try_send(&h->io, (const char *)p, (size_t)n))
            return false;
    return n == 0;
}

struct h2_stream *h2_ask_with(struct h2 *h, const char *const *headers, const char *body, bool open)
{
    nghttp2_nv list[256];
    size_t n = 0;
    for (; headers[2 * n]; n++) {
        assert_true(n < 256);
        const char *name = headers[2 * n], *value = headers[2 * n + 1];
        list[n] = (nghttp2_nv){.name = (uint8_t *)(uintptr_t)name,
                               .value = (uint8_t *)(uintptr_t)value,
                               .namelen = strlen(name),
                               .valuelen = strlen(value)};
    }
    assert_true(h->streams_n < H2_STREAMS_MAX);
    struct h2_stream *s = &h->streams[h->streams_n++];
    s->upload = body ? vd_slice_of(body) : (struct vd_slice){0};
    nghttp2_data_provider data = {.source.ptr = s, .read_callback = read_upload};
    s->id = nghttp2_submit_request(h->session, NULL, list, n, body || open ? &data : NULL, NULL);
    assert_true(s->id > 0);
    h2_push(h);
    return s;
}

struct h2_stream *h2_ask(struct h2 *h, const char *method, const char *path, const char *body)
{
    const char *headers[] = {":method", method,       ":scheme", "http", ":path",
                             path,      ":authority", "h",       NULL};
    return h2_ask_with(h, headers, body, false);
}

/* ---- receiving ---- */

bool h2_pump(struct h2 *h)
{
    if (!client_receive(&h->io))
        return false;
    ssize_t n = nghttp2_session_mem_recv(h->session, (const uint8_t *)h->io.in.p, h->io.in.n);
    assert_int_equal(n, h->io.in.n);
    vd_buf_reset(&h->io.in);
    h2_push(h); /* if it cannot be sent, there may still be something to read */
    return true;
}

static void pump(struct h2 *h, const struct h2_stream *s)
{
    if (!h2_pump(h))
        fail_msg("the server closed; stream %d has status %u and %zu bytes", s->id, s->status,
                 s->body.n);
}

void h2_expect(struct h2 *h, struct h2_stream *s, unsigned status, const char *body)
{
    while (!s->ended && !s->closed)
        pump(h, s);
    if (!s->ended || s->status != status || strcmp(vd_buf_text(&s->body), body) != 0)
        fail_msg("stream %d: got %u \"%.200s\", want %u \"%.200s\"; code %u", s->id, s->status,
                 vd_buf_text(&s->body), status, body, s->code);
}

void h2_expect_reset(struct h2 *h, struct h2_stream *s, uint32_t code)
{
    while (!s->closed)
        pump(h, s);
    if (s->code != code)
        fail_msg("stream %d: got code %u and status %u, want code %u", s->id, s->code, s->status,
                 code);
}

void h2_expect_len(struct h2 *h, struct h2_stream *s, size_t len)
{
    while (s->body.n < len)
        pump(h, s);
    assert_int_equal(s->body.n, len);
}

void h2_expect_goaway(struct h2 *h, uint32_t code)
{
    while (h2_pump(h))
        ;
    if (h->goaways_n == 0 || h->goaway_code != code)
        fail_msg("%zu GOAWAYs, the last with %u, want %u", h->goaways_n, h->goaway_code, code);
}

/* ---- raw ---- */

bool h2_raw(struct h2 *h, uint8_t type, uint8_t flags, int32_t id, const void *payload, size_t n)
{
    uint8_t head[9] = {
        (uint8_t)(n >> 16),  (uint8_t)(n >> 8),   (uint8_t)n,         type,       flags,
        (uint8_t)(id >> 24), (uint8_t)(id >> 16), (uint8_t)(id >> 8), (uint8_t)id};
    return client_try_send(&h->io, (const char *)head, sizeof head) &&
           (n == 0 || client_try_send(&h->io, payload, n));
}

static size_t pack_text(uint8_t *out, const char *text)
{
    size_t n = 0;
    for (; text[n]; n++)
        out[1 + n] = (uint8_t)text[n];
    assert_true(n < 127);
    out[0] = (uint8_t)n;
    return n + 1;
}

size_t h2_pack(uint8_t *out, size_t cap, const char *path)
{
    assert_true(cap >= strlen(path) + 16);
    size_t n = 0;
    out[n++] = 0x82; /* :method GET */
    out[n++] = 0x86; /* :scheme http */
    out[n++] = 0x04; /* :path, with a literal value, not put into the dynamic table */
    n += pack_text(out + n, path);
    out[n++] = 0x01; /* :authority */
    n += pack_text(out + n, "h");
    return n;
}
