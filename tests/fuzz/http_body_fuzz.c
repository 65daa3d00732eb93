/*
 * Chunked bodies from arbitrary bytes, against a decoder that is written another
 * way: it has the whole text and looks for line ends.
 *
 * The first byte is the length of the pieces in which the rest arrives, the
 * second the limit of the body, in steps of 4 bytes.
 */
#include "fuzz.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/limits.h"
#include "net/http_body.h"
#include "net/http_token.h"

static bool is_clean(struct vd_slice text)
{
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];
        if ((c < 0x20 && c != '\t') || c == 0x7f)
            return false;
    }
    return true;
}

/* Cuts a line that ends with CR LF off *rest. */
static bool model_line(struct vd_slice *rest, struct vd_slice *line)
{
    const char *end = rest->n ? memmem(rest->p, rest->n, "\r\n", 2) : NULL;
    if (!end)
        return false;
    *line = vd_slice(rest->p, (size_t)(end - rest->p));
    *rest = vd_slice_from(*rest, line->n + 2);
    return true;
}

static bool model_size(struct vd_slice line, size_t *extensions, uint64_t *size)
{
    size_t n = 0;
    *size = 0;
    for (; n < line.n && n < 17 && isxdigit((unsigned char)line.p[n]); n++) {
        char digit[2] = {line.p[n], 0};
        *size = *size * 16 + strtoul(digit, NULL, 16);
    }
    if (n == 0 || n > 16)
        return false;
    if (n == line.n)
        return true;
    *extensions += line.n - n - 1;
    return line.p[n] == ';' && is_clean(line) && *extensions <= VD_HTTP_CHUNK_EXT_LEN_MAX;
}

static bool model_trailer(struct vd_slice *rest)
{
    struct vd_slice line;
    size_t total = 0;
    while (model_line(rest, &line)) {
        total += line.n + 1; /* LFs are not counted */
        if (total > VD_HTTP_TRAILER_LEN_MAX)
            return false;
        if (line.n == 0)
            return true;
        const char *colon = memchr(line.p, ':', line.n);
        if (!colon || !vd_http_token_is(vd_slice(line.p, (size_t)(colon - line.p))) ||
            !is_clean(line))
            return false;
    }
    return false;
}

/* Whether the text starts with a complete, valid body. */
static bool model_decode(struct vd_slice text, uint64_t len_max, struct vd_buf *body, size_t *used)
{
    struct vd_slice rest = text, line;
    size_t extensions = 0;
    uint64_t size;
    while (model_line(&rest, &line) && model_size(line, &extensions, &size)) {
        if (size > len_max - body->n)
            return false;
        if (size == 0) {
            bool ok = model_trailer(&rest);
            *used = text.n - rest.n;
            return ok;
        }
        if (rest.n < size + 2 || memcmp(rest.p + size, "\r\n", 2) != 0)
            return false;
        vd_buf_add(body, rest.p, (size_t)size);
        rest = vd_slice_from(rest, (size_t)size + 2);
    }
    return false;
}

static enum vd_http_result decode(struct vd_slice text, uint64_t len_max, size_t piece,
                                  struct vd_buf *body, size_t *used)
{
    struct vd_http_head head;
    struct vd_http_body b;
    enum vd_http_result result = VD_HTTP_MORE;
    vd_http_head_init(&head);
    head.done = head.chunked = true;
    vd_http_body_init(&b, &head, len_max);
    *used = 0;
    for (size_t at = 0; at < text.n && result == VD_HTTP_MORE;) {
        size_t n = text.n - at < piece ? text.n - at : piece, taken, got;
        char *p = vd_memdup(text.p + at, n);
        result = vd_http_body_read(&b, p, n, &taken, &got);
        FUZZ_CHECK(got <= taken && taken <= n);
        FUZZ_CHECK(result != VD_HTTP_MORE || taken == n);
        vd_buf_add(body, p, got);
        *used += taken;
        at += n;
        free(p);
    }
    FUZZ_CHECK((result == VD_HTTP_REFUSED) == (b.refusal != VD_HTTP_REFUSED_NOTHING));
    FUZZ_CHECK(body->n <= len_max);
    return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3)
        return 0;
    struct vd_slice text = vd_slice(data + 2, size - 2);
    size_t piece = (size_t)data[0] + 1;
    uint64_t len_max = (uint64_t)data[1] * 4;
    struct vd_buf model = {0}, whole = {0}, pieces = {0};
    size_t model_used = 0, whole_used, pieces_used;
    bool good = model_decode(text, len_max, &model, &model_used);
    enum vd_http_result result = decode(text, len_max, text.n, &whole, &whole_used);
    FUZZ_CHECK((result == VD_HTTP_DONE) == good);
    FUZZ_CHECK(decode(text, len_max, piece, &pieces, &pieces_used) == result);
    if (good) {
        FUZZ_CHECK(whole_used == model_used && pieces_used == model_used);
        FUZZ_CHECK(vd_slice_eq(vd_buf_slice(&whole), vd_buf_slice(&model)));
        FUZZ_CHECK(vd_slice_eq(vd_buf_slice(&pieces), vd_buf_slice(&model)));
    }
    vd_buf_release(&model);
    vd_buf_release(&whole);
    vd_buf_release(&pieces);
    return 0;
}
