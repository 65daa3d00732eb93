/*
 * Request heads from arbitrary bytes.
 *
 * Properties: the result does not depend on how the bytes arrive; what was
 * accepted has CR LF at the end of each line and no other control character but
 * tabs, and ends at its first empty line; what was read, written plainly, is
 * read the same again; a refusal has an error's status.
 */
#include "fuzz.h"

#include <string.h>

#include "base/buf.h"
#include "net/http_head.h"
#include "net/http_token.h"

static enum vd_http_result parse_pieces(struct vd_http_head *h, struct vd_slice text, size_t piece)
{
    enum vd_http_result result = VD_HTTP_MORE;
    vd_http_head_init(h);
    for (size_t n = 0; n < text.n && result == VD_HTTP_MORE;) {
        n = text.n - n < piece ? text.n : n + piece;
        result = vd_http_head_parse(h, text.p, n);
    }
    return result;
}

/* What the head means, without where it stood. */
static void check_meaning(const struct vd_http_head *a, const struct vd_http_head *b)
{
    FUZZ_CHECK(a->method == b->method && a->minor == b->minor);
    FUZZ_CHECK(vd_slice_eq(vd_http_head_method(a), vd_http_head_method(b)));
    FUZZ_CHECK(vd_slice_eq(vd_http_head_target(a), vd_http_head_target(b)));
    FUZZ_CHECK(a->has_length == b->has_length && a->length == b->length);
    FUZZ_CHECK(a->chunked == b->chunked && a->keep_alive == b->keep_alive);
    FUZZ_CHECK(a->expect_continue == b->expect_continue && a->upgrade == b->upgrade);
    FUZZ_CHECK(a->headers_n == b->headers_n);
    for (size_t i = 0; i < a->headers_n; i++) {
        FUZZ_CHECK(vd_slice_eq(vd_http_head_name(a, i), vd_http_head_name(b, i)));
        FUZZ_CHECK(vd_slice_eq(vd_http_head_value(a, i), vd_http_head_value(b, i)));
    }
}

static void check_lines(struct vd_slice head)
{
    size_t start = vd_slice_starts_with(head, VD_SLICE("\r\n")) ? 2 : 0;
    const char *end = memmem(head.p + start, head.n - start, "\r\n\r\n", 4);
    FUZZ_CHECK(end == head.p + head.n - 4);
    for (size_t i = 0; i < head.n; i++) {
        unsigned char c = (unsigned char)head.p[i];
        if (c == '\r')
            FUZZ_CHECK(i + 1 < head.n && head.p[i + 1] == '\n');
        else if (c == '\n')
            FUZZ_CHECK(i > 0 && head.p[i - 1] == '\r');
        else
            FUZZ_CHECK((c >= 0x20 || c == '\t') && c != 0x7f);
    }
}

/* The request in the plainest way of writing it. */
static void write_plainly(struct vd_buf *out, const struct vd_http_head *h)
{
    struct vd_slice method = vd_http_head_method(h), target = vd_http_head_target(h);
    vd_buf_addf(out, "%.*s %.*s HTTP/1.%d\r\n", VD_FMT(method), VD_FMT(target), h->minor);
    for (size_t i = 0; i < h->headers_n; i++) {
        vd_buf_add_slice(out, vd_http_head_name(h, i));
        vd_buf_add_char(out, ':');
        vd_buf_add_slice(out, vd_http_head_value(h, i));
        vd_buf_add_text(out, "\r\n");
    }
    vd_buf_add_text(out, "\r\n");
}

static void check_accepted(const struct vd_http_head *h, struct vd_slice text)
{
    FUZZ_CHECK(h->used <= text.n && h->used <= VD_HTTP_HEAD_LEN_MAX);
    check_lines(vd_slice(text.p, h->used));
    FUZZ_CHECK(!(h->chunked && h->has_length));
    FUZZ_CHECK(!(h->chunked && h->minor == 0));
    struct vd_slice target = vd_http_head_target(h);
    FUZZ_CHECK(target.p[0] == '/' ||
               (h->method == VD_HTTP_OPTIONS && vd_slice_eq(target, VD_SLICE("*"))));
    for (size_t i = 0; i < h->headers_n; i++) {
        struct vd_slice value = vd_http_head_value(h, i);
        FUZZ_CHECK(vd_http_token_is(vd_http_head_name(h, i)));
        FUZZ_CHECK(vd_http_trim(value).n == value.n);
    }
    struct vd_http_head again;
    struct vd_buf plain = {0};
    write_plainly(&plain, h);
    vd_http_head_init(&again);
    FUZZ_CHECK(vd_http_head_parse(&again, plain.p, plain.n) == VD_HTTP_DONE);
    FUZZ_CHECK(again.used == plain.n && plain.n <= h->used);
    check_meaning(h, &again);
    vd_buf_release(&plain);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vd_slice text = vd_slice(data, size);
    struct vd_http_head whole, pieces;
    vd_http_head_init(&whole);
    enum vd_http_result result = vd_http_head_parse(&whole, text.p, text.n);
    FUZZ_CHECK((result == VD_HTTP_REFUSED) == (whole.refusal != VD_HTTP_REFUSED_NOTHING));
    for (size_t piece = 1; piece <= 19; piece += 6) {
        FUZZ_CHECK(parse_pieces(&pieces, text, piece) == result);
        FUZZ_CHECK(pieces.refusal == whole.refusal);
        if (result == VD_HTTP_DONE) {
            FUZZ_CHECK(pieces.used == whole.used);
            check_meaning(&whole, &pieces);
        }
    }
    if (result == VD_HTTP_DONE)
        check_accepted(&whole, text);
    if (result == VD_HTTP_REFUSED)
        FUZZ_CHECK(vd_http_refusal_status(whole.refusal) >= 400);
    return 0;
}
