/*
 * Writing HTTP/1.1 answers: the head, and the framing of chunked bodies.
 *
 * Everything goes into a buffer of the caller; nothing here can fail. What comes
 * from a client must not reach a header unchecked: names and values that could
 * break out of their line are a bug of the caller, and assert.
 */
#ifndef VD_NET_HTTP_WRITE_H
#define VD_NET_HTTP_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/slice.h"

/* The Date header's value, formatted once a second. One per thread. */
struct vd_http_date {
    const struct vd_clock *clock;
    int64_t second;
    char text[30]; /* Sun, 06 Nov 1994 08:49:37 GMT */
};

/* `clock` is borrowed while the date is used. */
void vd_http_date_init(struct vd_http_date *date, const struct vd_clock *clock);

/* The time now, borrowed until the next call. */
struct vd_slice vd_http_date_text(struct vd_http_date *date);

struct vd_http_field {
    struct vd_slice name;
    struct vd_slice value;
};

enum vd_http_framing {
    VD_HTTP_FRAMING_LENGTH,  /* Content-Length: `length` */
    VD_HTTP_FRAMING_CHUNKED, /* not for HTTP/1.0 clients */
    VD_HTTP_FRAMING_CLOSE,   /* until the connection closes, which is announced */
    VD_HTTP_FRAMING_NONE,    /* no body can follow: 1xx, 204 and 304 */
};

enum vd_http_persistence {
    VD_HTTP_PERSIST_DEFAULT, /* say nothing: HTTP/1.1 keeps the connection */
    VD_HTTP_PERSIST_KEEP,    /* Connection: keep-alive, for HTTP/1.0 clients that asked */
    VD_HTTP_PERSIST_CLOSE,   /* Connection: close */
    VD_HTTP_PERSIST_UPGRADE, /* Connection: Upgrade, of a 101 */
};

struct vd_http_answer {
    unsigned status;              /* 100 .. 599 */
    struct vd_slice content_type; /* empty: none */
    enum vd_http_framing framing;
    uint64_t length;
    enum vd_http_persistence persistence;
    const struct vd_http_field *fields; /* further headers; none of those above */
    size_t fields_n;
    const struct vd_http_field *stamp; /* and one more; NULL: none */
};

/* Adds the whole head, with a Date, to `out`. */
void vd_http_write_head(struct vd_buf *out, struct vd_http_date *date,
                        const struct vd_http_answer *answer);

/* The reason phrase of a status, "Not Found"; empty when it has none. */
struct vd_slice vd_http_reason(unsigned status);

/* Whether the text may be a header's value: no control characters but tabs, and
 * no white space at its ends. */
bool vd_http_value_is_safe(struct vd_slice value);

/* The interim answer to Expect: 100-continue. */
#define VD_HTTP_CONTINUE VD_SLICE("HTTP/1.1 100 Continue\r\n\r\n")

/* A chunk is its line, `n` bytes of data, and VD_HTTP_CHUNK_END; n is not 0. */
enum { VD_HTTP_CHUNK_LINE_MAX = 18 };
static inline unsigned char vd_http_chunk_line_len(uint64_t n)
{
    return (unsigned char)((67 - (unsigned)__builtin_clzll(n | 1)) / 4 + 2);
}
struct vd_slice vd_http_chunk_line(uint64_t n, char out[VD_HTTP_CHUNK_LINE_MAX]);
#define VD_HTTP_CHUNK_END VD_SLICE("\r\n")

/* What ends a chunked body. */
#define VD_HTTP_CHUNK_LAST VD_SLICE("0\r\n\r\n")

/* Adds one chunk; no data adds nothing, as an empty chunk would end the body. */
void vd_http_write_chunk(struct vd_buf *out, struct vd_slice data);

#endif
