/*
 * src/net/http_body.c: where a body ends, and its bytes.
 *
 * Every input is read whole, byte by byte and in random pieces; all must agree.
 */
#include "net/http_body.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/limits.h"
#include "check.h"
#include "seed.h"

#define CHUNKED "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
#define TEXT(literal)                                                                              \
    {                                                                                              \
        literal, sizeof(literal) - 1                                                               \
    }

static void parse_head(struct vd_http_head *h, const char *text)
{
    vd_http_head_init(h);
    assert_int_equal(vd_http_head_parse(h, text, strlen(text)), VD_HTTP_DONE);
}

/* What reading says: the result, the reason, the body, and the bytes used. */
struct reading {
    enum vd_http_result result;
    enum vd_http_refusal refusal;
    struct vd_buf body;
    size_t used;
};

static struct reading read_pieces(const char *head, struct vd_slice text, uint64_t len_max,
                                  struct seed_rng *random, unsigned piece_max)
{
    struct vd_http_head h;
    struct vd_http_body b;
    struct reading r = {0};
    parse_head(&h, head);
    vd_http_body_init(&b, &h, len_max);
    size_t used, got;
    r.result = vd_http_body_read(&b, NULL, 0, &used, &got);
    for (size_t at = 0; at < text.n && r.result == VD_HTTP_MORE;) {
        size_t n = piece_max ? 1 + (unsigned)seed_below(random, piece_max) : text.n;
        n = n < text.n - at ? n : text.n - at;
        char *piece = vd_memdup(text.p + at, n);
        r.result = vd_http_body_read(&b, piece, n, &used, &got);
        assert_true(got <= used && used <= n);
        assert_true(r.result != VD_HTTP_MORE || used == n);
        /* What follows the body stays where it was. */
        assert_memory_equal(piece + used, text.p + at + used,
                            r.result == VD_HTTP_REFUSED ? 0 : n - used);
        vd_buf_add(&r.body, piece, got);
        r.used += used;
        at += n;
        free(piece);
    }
    if (r.result == VD_HTTP_DONE)
        assert_int_equal(b.total, r.body.n);
    r.refusal = b.refusal;
    return r;
}

/* Reads in every way and gives the body; released by the caller. */
static struct reading read_body(const char *head, struct vd_slice text, uint64_t len_max)
{
    static struct seed_rng random = {20261115};
    static const unsigned pieces[] = {1, 2, 5, 40};
    struct reading whole = read_pieces(head, text, len_max, &random, 0);
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        struct reading r = read_pieces(head, text, len_max, &random, pieces[i]);
        if (r.result != whole.result || r.refusal != whole.refusal)
            fail_msg("\"%.*s\" in pieces: %s, whole: %s", VD_FMT(text),
                     vd_http_refusal_text(r.refusal), vd_http_refusal_text(whole.refusal));
        if (r.result != VD_HTTP_REFUSED) {
            assert_int_equal(r.used, whole.used);
            assert_true(vd_slice_eq(vd_buf_slice(&r.body), vd_buf_slice(&whole.body)));
        }
        vd_buf_release(&r.body);
    }
    return whole;
}

static void chunks_are_joined(void **state)
{
    (void)state;
    static const struct {
        const char *text, *body, *rest;
    } cases[] = {
        {"0\r\n\r\n", "", ""},
        {"000\r\n\r\nGET", "", "GET"},
        {"4\r\nWiki\r\n6;x=y\r\npedia!\r\n0\r\n\r\nrest", "Wikipedia!", "rest"},
        {"a\r\n0123456789\r\nA\r\n0123456789\r\n0\r\n\r\n", "01234567890123456789", ""},
        {"0000000000000001\r\nx\r\n0\r\n\r\n", "x", ""},
        {"1;\r\nx\r\n0;a=b;c=\"d\"\r\n\r\n", "x", ""},
        {"2\r\n\r\n\r\n0\r\n\r\n", "\r\n", ""},
        {"1\r\nx\r\n0\r\nSum: 5\r\nx-y:\r\n\r\nz", "x", "z"},
        {"1\r\nx\r\n0\r\nA:\tb : c \r\n\r\n", "x", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct reading r = read_body(CHUNKED, vd_slice_of(cases[i].text), 1000);
        if (r.result != VD_HTTP_DONE)
            fail_msg("%s: %s", cases[i].text, vd_http_refusal_text(r.refusal));
        assert_string_equal(vd_buf_text(&r.body), cases[i].body);
        assert_string_equal(cases[i].text + r.used, cases[i].rest);
        vd_buf_release(&r.body);
    }
}

static void bad_chunks_are_refused(void **state)
{
    (void)state;
    static const struct {
        struct vd_slice text;
        enum vd_http_refusal why;
    } cases[] = {
        {TEXT("\r\n"), VD_HTTP_REFUSED_CHUNK_SIZE},
        {TEXT("\n"), VD_HTTP_REFUSED_CHUNK_SIZE},
        {TEXT(";x\r\n"), VD_HTTP_REFUSED_CHUNK_SIZE},
        {TEXT(" 1\r\n"), VD_HTTP_REFUSED_CHUNK_SIZE},
        {TEXT("1 \r\n"), VD_HTTP_REFUSED_CHUNK_SIZE},
        {TEXT("1\t\r\n"), VD_HTTP_REFUSED_CHUNK_SIZE},
        {TEXT("1 ;x\r\n"), VD_HTTP_REFUSED_CHUNK_SIZE},
        {TEXT("0x1\r\n"), VD_HTTP_REFUSED_CHUNK_SIZE},
        {TEXT("+1\r\n"), VD_HTTP_REFUSED_CHUNK_SIZE},
        {TEXT("-1\r\n"), VD_HTTP_REFUSED_CHUNK_SIZE},
        {TEXT("1_0\r\n"), VD_HTTP_REFUSED_CHUNK_SIZE},
        {TEXT("g\r\n"), VD_HTTP_REFUSED_CHUNK_SIZE},
        {TEXT("1\0\r\n"), VD_HTTP_REFUSED_CHUNK_SIZE},
        {TEXT("00000000000000001\r\n"), VD_HTTP_REFUSED_CHUNK_SIZE},
        {TEXT("10000000000000000\r\n"), VD_HTTP_REFUSED_CHUNK_SIZE},
        {TEXT("ffffffffffffffff\r\n"), VD_HTTP_REFUSED_BODY_LARGE},
        {TEXT("3e9\r\n"), VD_HTTP_REFUSED_BODY_LARGE},
        {TEXT("1\r\nx\r\n3e8\r\n"), VD_HTTP_REFUSED_BODY_LARGE},
        {TEXT("1\r\nx\r\nffffffffffffffff\r\n"), VD_HTTP_REFUSED_BODY_LARGE},
        {TEXT("1\nx\r\n0\r\n\r\n"), VD_HTTP_REFUSED_CHUNK_LINE},
        {TEXT("1\rx"), VD_HTTP_REFUSED_CHUNK_LINE},
        {TEXT("1\r\nxy\r\n"), VD_HTTP_REFUSED_CHUNK_LINE},
        {TEXT("1\r\nx\n0\r\n\r\n"), VD_HTTP_REFUSED_CHUNK_LINE},
        {TEXT("1\r\nx\r0\r\n\r\n"), VD_HTTP_REFUSED_CHUNK_LINE},
        {TEXT("1\r\nx0\r\n\r\n"), VD_HTTP_REFUSED_CHUNK_LINE},
        {TEXT("1;a\n"), VD_HTTP_REFUSED_CHUNK_EXTENSION},
        {TEXT("1;a\0\r\n"), VD_HTTP_REFUSED_CHUNK_EXTENSION},
        {TEXT("1;a\rb"), VD_HTTP_REFUSED_CHUNK_LINE},
        {TEXT("0\r\n\n"), VD_HTTP_REFUSED_TRAILER},
        {TEXT("0\r\n\rx"), VD_HTTP_REFUSED_TRAILER},
        {TEXT("0\r\nno colon\r\n\r\n"), VD_HTTP_REFUSED_TRAILER},
        {TEXT("0\r\nname\r\n\r\n"), VD_HTTP_REFUSED_TRAILER},
        {TEXT("0\r\n: x\r\n\r\n"), VD_HTTP_REFUSED_TRAILER},
        {TEXT("0\r\nA : x\r\n\r\n"), VD_HTTP_REFUSED_TRAILER},
        {TEXT("0\r\n A: x\r\n\r\n"), VD_HTTP_REFUSED_TRAILER},
        {TEXT("0\r\nA: x\n\r\n"), VD_HTTP_REFUSED_TRAILER},
        {TEXT("0\r\nA: x\ry\r\n"), VD_HTTP_REFUSED_TRAILER},
        {TEXT("0\r\nA: x\r\n y\r\n\r\n"), VD_HTTP_REFUSED_TRAILER},
        {TEXT("0\r\nA: \x7f\r\n\r\n"), VD_HTTP_REFUSED_TRAILER},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct reading r = read_body(CHUNKED, cases[i].text, 1000);
        if (r.result != VD_HTTP_REFUSED || r.refusal != cases[i].why)
            fail_msg("\"%.*s\": %d, %s", VD_FMT(cases[i].text), (int)r.result,
                     vd_http_refusal_text(r.refusal));
        vd_buf_release(&r.body);
    }
}

static void a_length_is_counted(void **state)
{
    (void)state;
    static const struct {
        const char *head, *text, *body;
        enum vd_http_result result;
    } cases[] = {
        {"GET / HTTP/1.0\r\n\r\n", "GET", "", VD_HTTP_DONE},
        {"GET / HTTP/1.0\r\nContent-Length: 0\r\n\r\n", "GET", "", VD_HTTP_DONE},
        {"PUT / HTTP/1.0\r\nContent-Length: 3\r\n\r\n", "abcGET", "abc", VD_HTTP_DONE},
        {"PUT / HTTP/1.0\r\nContent-Length: 3\r\n\r\n", "abc", "abc", VD_HTTP_DONE},
        {"PUT / HTTP/1.0\r\nContent-Length: 3\r\n\r\n", "ab", "ab", VD_HTTP_MORE},
        {"PUT / HTTP/1.0\r\nContent-Length: 3\r\n\r\n", "", "", VD_HTTP_MORE},
        {"PUT / HTTP/1.0\r\nContent-Length: 1001\r\n\r\n", "", "", VD_HTTP_REFUSED},
        {"PUT / HTTP/1.0\r\nContent-Length: 1001\r\n\r\n", "abc", "", VD_HTTP_REFUSED},
        {"PUT / HTTP/1.0\r\nContent-Length: 18446744073709551615\r\n\r\n", "", "", VD_HTTP_REFUSED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct reading r = read_body(cases[i].head, vd_slice_of(cases[i].text), 1000);
        assert_int_equal(r.result, cases[i].result);
        assert_string_equal(vd_buf_text(&r.body), cases[i].body);
        if (r.result == VD_HTTP_REFUSED)
            assert_int_equal(vd_http_refusal_status(r.refusal), 413);
        else
            assert_int_equal(r.used, r.body.n);
        vd_buf_release(&r.body);
    }
}

static void a_body_of_the_limit_fits(void **state)
{
    (void)state;
    struct reading r = read_body(CHUNKED, VD_SLICE("2\r\nab\r\n1\r\nc\r\n0\r\n\r\n"), 3);
    assert_int_equal(r.result, VD_HTTP_DONE);
    vd_buf_release(&r.body);
    r = read_body(CHUNKED, VD_SLICE("2\r\nab\r\n2\r\ncd\r\n0\r\n\r\n"), 3);
    assert_int_equal(r.refusal, VD_HTTP_REFUSED_BODY_LARGE);
    vd_buf_release(&r.body);
    r = read_body(CHUNKED, VD_SLICE("0\r\n\r\n"), 0);
    assert_int_equal(r.result, VD_HTTP_DONE);
    vd_buf_release(&r.body);
}

static void add_times(struct vd_buf *out, char c, size_t n)
{
    while (n--)
        vd_buf_add_char(out, c);
}

static void extensions_and_trailers_are_limited(void **state)
{
    (void)state;
    for (size_t over = 0; over < 2; over++) {
        struct vd_buf text = {0};
        /* Extensions count over all chunks. */
        vd_buf_add_text(&text, "1;abcd\r\nx\r\n0;");
        add_times(&text, 'e', VD_HTTP_CHUNK_EXT_LEN_MAX - 4 + over);
        vd_buf_add_text(&text, "\r\n\r\n");
        struct reading r = read_body(CHUNKED, vd_buf_slice(&text), 1000);
        assert_int_equal(r.refusal,
                         over ? VD_HTTP_REFUSED_CHUNK_EXTENSION : VD_HTTP_REFUSED_NOTHING);
        vd_buf_release(&r.body);

        vd_buf_reset(&text);
        vd_buf_add_text(&text, "0\r\nA:");
        add_times(&text, 't', VD_HTTP_TRAILER_LEN_MAX - 4 + over); /* "A:", CR and the last CR */
        vd_buf_add_text(&text, "\r\n\r\n");
        r = read_body(CHUNKED, vd_buf_slice(&text), 1000);
        assert_int_equal(r.refusal, over ? VD_HTTP_REFUSED_TRAILER_LONG : VD_HTTP_REFUSED_NOTHING);
        vd_buf_release(&r.body);
        vd_buf_release(&text);
    }
}

static void after_the_end_nothing_is_used(void **state)
{
    (void)state;
    struct vd_http_head h;
    struct vd_http_body b;
    char text[] = "0\r\n\r\nGET";
    size_t used, got;
    parse_head(&h, CHUNKED);
    vd_http_body_init(&b, &h, 10);
    assert_int_equal(vd_http_body_read(&b, text, 8, &used, &got), VD_HTTP_DONE);
    assert_int_equal(used, 5);
    assert_int_equal(vd_http_body_read(&b, text + 5, 3, &used, &got), VD_HTTP_DONE);
    assert_int_equal(used, 0);
    assert_string_equal(text + 5, "GET");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_are_joined),
        cmocka_unit_test(bad_chunks_are_refused),
        cmocka_unit_test(a_length_is_counted),
        cmocka_unit_test(a_body_of_the_limit_fits),
        cmocka_unit_test(extensions_and_trailers_are_limited),
        cmocka_unit_test(after_the_end_nothing_is_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
