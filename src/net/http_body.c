/*
 * See http_body.h.
 *
 * Chunked, by example: "4\r\nWiki\r\n6;x=y\r\npedia!\r\n0\r\nSome: trailer\r\n\r\n".
 *
 * The framing is read by a state machine, a byte at a time; runs of data are
 * moved whole. A chunk's size is checked against the limit when its line ends,
 * before any of its data comes.
 */
#include "net/http_body.h"

#include <assert.h>
#include <string.h>

#include "base/limits.h"
#include "net/http_token.h"

enum { CHUNK_DIGITS_MAX = 16 }; /* hexadecimal digits of a chunk's length */

_Static_assert(VD_HTTP_CHUNK_EXT_LEN_MAX < UINT16_MAX, "extensions are counted in 16 bits");
_Static_assert(VD_HTTP_TRAILER_LEN_MAX < UINT16_MAX, "the trailer is counted in 16 bits");

enum state {
    STATE_LENGTH,    /* `left` bytes, and nothing around them */
    STATE_SIZE,      /* digits of a chunk's size */
    STATE_EXTENSION, /* from the ';' to the CR */
    STATE_SIZE_LF,   /* the LF of the size's line */
    STATE_DATA,      /* `left` bytes of the chunk */
    STATE_DATA_CR,   /* the CR LF behind it */
    STATE_DATA_LF,
    STATE_TRAILER_START, /* the first byte of a line of the trailer, or its last CR */
    STATE_TRAILER_NAME,  /* until the colon */
    STATE_TRAILER_VALUE, /* until the CR */
    STATE_TRAILER_LF,    /* the LF of such a line */
    STATE_LAST_LF,       /* the LF of the empty line */
    STATE_DONE,
};

void vd_http_body_init(struct vd_http_body *b, const struct vd_http_head *head, uint64_t len_max)
{
    assert(head->done);
    *b = (struct vd_http_body){.len_max = len_max};
    if (head->chunked) {
        b->state = STATE_SIZE;
        return;
    }
    b->left = head->length;
    b->state = b->left ? STATE_LENGTH : STATE_DONE;
    if (b->left > len_max)
        b->refusal = VD_HTTP_REFUSED_BODY_LARGE;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = vd_http_lower(c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool is_control(char c)
{
    unsigned char u = (unsigned char)c;
    return (u < 0x20 && c != '\t') || u == 0x7f;
}

static enum vd_http_refusal read_size(struct vd_http_body *b, char c)
{
    int digit = hex_value(c);
    if (digit >= 0) {
        if (b->digits++ == CHUNK_DIGITS_MAX)
            return VD_HTTP_REFUSED_CHUNK_SIZE;
        b->left = b->left << 4 | (uint64_t)digit;
        return VD_HTTP_REFUSED_NOTHING;
    }
    if (b->digits == 0 || (c != '\r' && c != ';' && c != '\n'))
        return VD_HTTP_REFUSED_CHUNK_SIZE;
    if (c == '\n')
        return VD_HTTP_REFUSED_CHUNK_LINE;
    b->state = c == ';' ? STATE_EXTENSION : STATE_SIZE_LF;
    return VD_HTTP_REFUSED_NOTHING;
}

static enum vd_http_refusal read_extension(struct vd_http_body *b, char c)
{
    if (c == '\r') {
        b->state = STATE_SIZE_LF;
        return VD_HTTP_REFUSED_NOTHING;
    }
    if (is_control(c) || b->extensions++ == VD_HTTP_CHUNK_EXT_LEN_MAX)
        return VD_HTTP_REFUSED_CHUNK_EXTENSION;
    return VD_HTTP_REFUSED_NOTHING;
}

/* The line of a chunk's size is complete. */
static enum vd_http_refusal start_chunk(struct vd_http_body *b)
{
    b->digits = 0;
    if (b->left > b->len_max - b->total)
        return VD_HTTP_REFUSED_BODY_LARGE;
    b->state = b->left ? STATE_DATA : STATE_TRAILER_START;
    return VD_HTTP_REFUSED_NOTHING;
}

static enum vd_http_refusal read_trailer(struct vd_http_body *b, char c)
{
    if (b->trailer++ == VD_HTTP_TRAILER_LEN_MAX)
        return VD_HTTP_REFUSED_TRAILER_LONG;
    if (b->state == STATE_TRAILER_START && c == '\r') {
        b->state = STATE_LAST_LF;
    } else if (b->state == STATE_TRAILER_VALUE) {
        if (c == '\r')
            b->state = STATE_TRAILER_LF;
        else if (is_control(c))
            return VD_HTTP_REFUSED_TRAILER;
    } else if (b->state == STATE_TRAILER_NAME && c == ':') {
        b->state = STATE_TRAILER_VALUE;
    } else if (vd_http_token_has(c)) {
        b->state = STATE_TRAILER_NAME;
    } else {
        return VD_HTTP_REFUSED_TRAILER;
    }
    return VD_HTTP_REFUSED_NOTHING;
}

/* A byte that must be this one; then the state is `next`. */
static enum vd_http_refusal expect(struct vd_http_body *b, char c, char wanted, enum state next,
                                   enum vd_http_refusal why)
{
    b->state = (uint8_t)next;
    return c == wanted ? VD_HTTP_REFUSED_NOTHING : why;
}

/* One byte of framing. */
static enum vd_http_refusal step(struct vd_http_body *b, char c)
{
    switch ((enum state)b->state) {
    case STATE_SIZE:
        return read_size(b, c);
    case STATE_EXTENSION:
        return read_extension(b, c);
    case STATE_SIZE_LF:
        return c == '\n' ? start_chunk(b) : VD_HTTP_REFUSED_CHUNK_LINE;
    case STATE_DATA_CR:
        return expect(b, c, '\r', STATE_DATA_LF, VD_HTTP_REFUSED_CHUNK_LINE);
    case STATE_DATA_LF:
        return expect(b, c, '\n', STATE_SIZE, VD_HTTP_REFUSED_CHUNK_LINE);
    case STATE_TRAILER_START:
    case STATE_TRAILER_NAME:
    case STATE_TRAILER_VALUE:
        return read_trailer(b, c);
    case STATE_TRAILER_LF:
        return expect(b, c, '\n', STATE_TRAILER_START, VD_HTTP_REFUSED_TRAILER);
    case STATE_LAST_LF:
        return expect(b, c, '\n', STATE_DONE, VD_HTTP_REFUSED_TRAILER);
    case STATE_LENGTH:
    case STATE_DATA:
    case STATE_DONE:
        break; /* no framing in these */
    }
    assert(false);
    return VD_HTTP_REFUSED_NOTHING;
}

/* A run of the body's bytes: as many of the `n` at `from` as belong to it. */
static size_t take_data(struct vd_http_body *b, char *to, const char *from, size_t n)
{
    size_t run = b->left < n ? (size_t)b->left : n;
    if (to != from)
        memmove(to, from, run);
    b->left -= run;
    b->total += run;
    if (b->left == 0)
        b->state = b->state == STATE_LENGTH ? STATE_DONE : STATE_DATA_CR;
    return run;
}

enum vd_http_result vd_http_body_read(struct vd_http_body *b, char *p, size_t n, size_t *used,
                                      size_t *got)
{
    size_t at = 0, kept = 0;
    *used = *got = 0;
    while (!b->refusal && b->state != STATE_DONE && at < n) {
        if (b->state == STATE_LENGTH || b->state == STATE_DATA) {
            size_t run = take_data(b, p + kept, p + at, n - at);
            at += run;
            kept += run;
        } else {
            b->refusal = step(b, p[at++]);
        }
    }
    if (b->refusal)
        return VD_HTTP_REFUSED;
    *used = at;
    *got = kept;
    return b->state == STATE_DONE ? VD_HTTP_DONE : VD_HTTP_MORE;
}
