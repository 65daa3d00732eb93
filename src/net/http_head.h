/*
 * The head of an HTTP/1.1 request: request line and headers.
 *
 *     struct vd_http_head head;
 *     vd_http_head_init(&head);
 *     for (;;) {
 *         read more bytes into buf;
 *         switch (vd_http_head_parse(&head, buf.p, buf.n)) { ... }
 *     }
 *
 * The parser is strict: what two programs could read in two ways is refused, so
 * that no request can be smuggled past a proxy in another. http_refusal.h has
 * the list of reasons. It does no I/O, allocates nothing, and looks at each byte
 * about once however the head arrives; the result does not depend on how it was
 * split.
 *
 * The parser keeps offsets, not pointers, so the buffer may grow and move
 * between calls. The slices that it gives are borrowed from the buffer of the
 * last call.
 */
#ifndef VD_NET_HTTP_HEAD_H
#define VD_NET_HTTP_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/limits.h"
#include "base/slice.h"
#include "net/http_refusal.h"

/* CONNECT is not among them: it is refused. */
enum vd_http_method {
    VD_HTTP_METHOD_OTHER, /* a valid method of another name */
    VD_HTTP_GET,
    VD_HTTP_HEAD,
    VD_HTTP_POST,
    VD_HTTP_PUT,
    VD_HTTP_PATCH,
    VD_HTTP_DELETE,
    VD_HTTP_OPTIONS,
    VD_HTTP_TRACE,
};

/* A part of the head, from its start. */
struct vd_http_part {
    uint32_t at;
    uint32_t n;
};

struct vd_http_header {
    uint32_t name_at;
    uint32_t value_at;
    uint16_t name_n;
    uint16_t value_n;
};

/* Members are read by anybody and written by the parser. Those of the first
 * group are good at any time, the others after VD_HTTP_DONE. */
struct vd_http_head {
    enum vd_http_refusal refusal; /* why, after VD_HTTP_REFUSED */
    bool done;

    size_t used;                /* bytes of the head; the body or the next request follows */
    enum vd_http_method method; /* see vd_http_head_method for the others */
    uint8_t minor;              /* 1 of HTTP/1.1, 0 of HTTP/1.0 */
    bool has_length;            /* Content-Length was given */
    bool chunked;               /* Transfer-Encoding: chunked; never with has_length */
    bool keep_alive;            /* the client wants to send another request afterwards */
    bool expect_continue;       /* it waits for "100 Continue" before it sends the body */
    bool upgrade;               /* the Upgrade header is meant: HTTP/1.1, Connection: upgrade */
    uint64_t length;            /* of the body; 0 when not given */
    size_t headers_n;

    /* The parser's own. */
    const char *p;    /* the buffer of the last call */
    size_t line_at;   /* start of the line that is being read */
    size_t scan_at;   /* everything before it has been looked at */
    unsigned seen;    /* the headers that may come once only, as bits */
    unsigned options; /* what the Connection headers say, as bits */
    bool blank_seen;
    bool in_headers;
    struct vd_http_part method_part, target_part;
    struct vd_http_part authority; /* of an absolute target; empty for a path */
    uint32_t host;                 /* index of the Host header */
    struct vd_http_header headers[VD_HTTP_HEADERS_MAX];
};

/* A head of which nothing is known yet. There is nothing to release. */
void vd_http_head_init(struct vd_http_head *h);

/*
 * `p` holds the `n` bytes received since the head's start: those of the last
 * call, and more. After DONE the first h->used of them are the head. After
 * REFUSED h->refusal says why; answer and close the connection. Both are final:
 * further calls return the same.
 */
enum vd_http_result vd_http_head_parse(struct vd_http_head *h, const char *p, size_t n) VD_MUST_USE;

/* The bytes are at `p` now; for a caller that moves them after DONE. */
static inline void vd_http_head_rebase(struct vd_http_head *h, const char *p)
{
    h->p = p;
}

/* The method as sent, for those that are not in the enum. Case matters. */
static inline struct vd_slice vd_http_head_method(const struct vd_http_head *h)
{
    return vd_slice(h->p + h->method_part.at, h->method_part.n);
}

/* Path and query, as sent; it starts with '/', or is "*" of an OPTIONS request.
 * Scheme and host of an absolute target are left out. See url.h. */
static inline struct vd_slice vd_http_head_target(const struct vd_http_head *h)
{
    return vd_slice(h->p + h->target_part.at, h->target_part.n);
}

static inline struct vd_slice vd_http_head_name(const struct vd_http_head *h, size_t i)
{
    return vd_slice(h->p + h->headers[i].name_at, h->headers[i].name_n);
}

/* Without white space at its ends; no control characters but tabs, and maybe no UTF-8. */
static inline struct vd_slice vd_http_head_value(const struct vd_http_head *h, size_t i)
{
    return vd_slice(h->p + h->headers[i].value_at, h->headers[i].value_n);
}

/* The value of the first header of this name, in any case of letters. */
bool vd_http_head_find(const struct vd_http_head *h, struct vd_slice name,
                       struct vd_slice *value) VD_MUST_USE;

/* Whether the client asks to go on with this protocol, say "websocket", on the connection:
 * the Upgrade header is meant, and names it, in any case of letters and with any version. */
bool vd_http_head_upgrades_to(const struct vd_http_head *h, struct vd_slice protocol);

/* The next header of this name from index *at on; start with 0. For headers that
 * may be repeated: while (vd_http_head_next(h, name, &at, &value)). */
bool vd_http_head_next(const struct vd_http_head *h, struct vd_slice name, size_t *at,
                       struct vd_slice *value) VD_MUST_USE;

#endif
