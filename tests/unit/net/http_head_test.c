/*
 * src/net/http_head.c: request heads, good and bad.
 *
 * Every input is parsed whole, byte by byte and in random pieces, each time in
 * memory of exactly its length that moves between calls; all must agree.
 */
#include "net/http_head.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "check.h"
#include "seed.h"

/* An input, which may hold NULs. */
#define TEXT(literal)                                                                              \
    {                                                                                              \
        literal, sizeof(literal) - 1                                                               \
    }

#define GET  "GET / HTTP/1.1\r\n"
#define HOST "Host: h\r\n"

/* Everything that a parse says, as text. */
static void describe(struct vd_buf *out, const struct vd_http_head *h, enum vd_http_result result)
{
    vd_buf_addf(out, "%d/%d:", (int)result, (int)h->refusal);
    if (result != VD_HTTP_DONE)
        return;
    struct vd_slice method = vd_http_head_method(h), target = vd_http_head_target(h);
    vd_buf_addf(out, "used=%zu %d(%.*s) %.*s 1.%d%s%s%s%s length=%llu\n", h->used, (int)h->method,
                VD_FMT(method), VD_FMT(target), h->minor, h->keep_alive ? " keep" : "",
                h->chunked ? " chunked" : "", h->expect_continue ? " expect" : "",
                h->upgrade ? " upgrade" : "", h->has_length ? (unsigned long long)h->length : 0);
    for (size_t i = 0; i < h->headers_n; i++) {
        struct vd_slice name = vd_http_head_name(h, i), value = vd_http_head_value(h, i);
        vd_buf_addf(out, "[%.*s]=[%.*s]\n", VD_FMT(name), VD_FMT(value));
    }
}

/* Parses in pieces of 1 to `piece_max` bytes. */
static enum vd_http_result parse_pieces(struct vd_http_head *h, struct vd_slice text,
                                        struct seed_rng *random, unsigned piece_max, char **kept)
{
    enum vd_http_result result = VD_HTTP_MORE;
    vd_http_head_init(h);
    for (size_t n = 0; n < text.n && result == VD_HTTP_MORE;) {
        n += 1 + (unsigned)seed_below(random, piece_max);
        n = n < text.n ? n : text.n;
        char *moved = vd_memdup(text.p, n);
        result = vd_http_head_parse(h, moved, n);
        free(*kept);
        *kept = moved;
    }
    return result;
}

static void check_pieces(struct vd_slice text, const struct vd_buf *want)
{
    static struct seed_rng random = {20261115};
    static const unsigned pieces[] = {1, 3, 20, 200};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        struct vd_http_head h;
        struct vd_buf got = {0};
        char *kept = NULL;
        if (text.n > 4096 && pieces[i] < 200)
            continue;
        describe(&got, &h, parse_pieces(&h, text, &random, pieces[i], &kept));
        if (strcmp(vd_buf_text(&got), vd_buf_text(want)) != 0)
            fail_msg("\"%.*s\" in pieces: %s, whole: %s", VD_FMT(text), vd_buf_text(&got),
                     vd_buf_text(want));
        vd_buf_release(&got);
        free(kept);
    }
}

/* In two pieces, cut at each of the last bytes, where limits are near. */
static void check_cuts(struct vd_slice text, const struct vd_buf *want)
{
    for (size_t back = 1; back <= 40 && back <= text.n; back++) {
        struct vd_http_head h;
        struct vd_buf got = {0};
        vd_http_head_init(&h);
        enum vd_http_result result = vd_http_head_parse(&h, text.p, text.n - back);
        if (result == VD_HTTP_MORE)
            result = vd_http_head_parse(&h, text.p, text.n);
        describe(&got, &h, result);
        assert_string_equal(vd_buf_text(&got), vd_buf_text(want));
        vd_buf_release(&got);
    }
}

/* Parses `text` in every way. The head's slices are into `text`. */
static enum vd_http_result parse(struct vd_http_head *h, struct vd_slice text)
{
    struct vd_buf said = {0};
    vd_http_head_init(h);
    enum vd_http_result result = vd_http_head_parse(h, text.p, text.n);
    assert_int_equal(vd_http_head_parse(h, text.p, text.n), result);
    describe(&said, h, result);
    check_pieces(text, &said);
    check_cuts(text, &said);
    vd_buf_release(&said);
    return result;
}

static const struct {
    struct vd_slice text;
    enum vd_http_refusal why;
    unsigned status;
} bad_requests[] = {
    /* lines */
    {TEXT("\r\n\r\n" GET HOST "\r\n"), VD_HTTP_REFUSED_BLANK_LINES, 400},
    {TEXT("\n" GET HOST "\r\n"), VD_HTTP_REFUSED_BARE_LF, 400},
    {TEXT("\r" GET HOST "\r\n"), VD_HTTP_REFUSED_BARE_CR, 400},
    {TEXT(" " GET HOST "\r\n"), VD_HTTP_REFUSED_METHOD, 400},
    {TEXT("\t" GET HOST "\r\n"), VD_HTTP_REFUSED_METHOD, 400},
    {TEXT("GET / HTTP/1.1\n" HOST "\r\n"), VD_HTTP_REFUSED_BARE_LF, 400},
    {TEXT("GET / HTTP/1.1\r" HOST "\r\n"), VD_HTTP_REFUSED_BARE_CR, 400},
    {TEXT(GET "Host: h\n\r\n"), VD_HTTP_REFUSED_BARE_LF, 400},
    {TEXT(GET "Host: h\n\n"), VD_HTTP_REFUSED_BARE_LF, 400},
    {TEXT(GET HOST "\n"), VD_HTTP_REFUSED_BARE_LF, 400},
    {TEXT(GET HOST "\rX"), VD_HTTP_REFUSED_BARE_CR, 400},
    {TEXT(GET HOST "\r\r\n"), VD_HTTP_REFUSED_BARE_CR, 400},
    {TEXT(GET HOST "A: b\rC: d\r\n\r\n"), VD_HTTP_REFUSED_BARE_CR, 400},
    {TEXT(GET HOST "A: b\r\r\n\r\n"), VD_HTTP_REFUSED_BARE_CR, 400},
    {TEXT(GET HOST "A: b\nC: d\r\n\r\n"), VD_HTTP_REFUSED_BARE_LF, 400},
    /* control characters */
    {TEXT("\0"), VD_HTTP_REFUSED_CONTROL, 400},
    {TEXT("\x16\x03\x01\x02"), VD_HTTP_REFUSED_CONTROL, 400}, /* TLS on the plain door */
    {TEXT("GE\0T / HTTP/1.1\r\n"), VD_HTTP_REFUSED_CONTROL, 400},
    {TEXT("GET /\0 HTTP/1.1\r\n"), VD_HTTP_REFUSED_CONTROL, 400},
    {TEXT("GET /\x7f HTTP/1.1\r\n"), VD_HTTP_REFUSED_CONTROL, 400},
    {TEXT(GET "Ho\0st: h\r\n\r\n"), VD_HTTP_REFUSED_CONTROL, 400},
    {TEXT(GET HOST "A: b\0c\r\n\r\n"), VD_HTTP_REFUSED_CONTROL, 400},
    {TEXT(GET HOST "A: \x1b[31m\r\n\r\n"), VD_HTTP_REFUSED_CONTROL, 400},
    {TEXT(GET HOST "A: \x7f\r\n\r\n"), VD_HTTP_REFUSED_CONTROL, 400},
    {TEXT(GET HOST "A: \x0b\r\n\r\n"), VD_HTTP_REFUSED_CONTROL, 400},
    {TEXT(GET HOST "A\x0c: x\r\n\r\n"), VD_HTTP_REFUSED_CONTROL, 400},
    /* methods */
    {TEXT("/ HTTP/1.1\r\n"), VD_HTTP_REFUSED_METHOD, 400},
    {TEXT("GET\r\n"), VD_HTTP_REFUSED_METHOD, 400},
    {TEXT("GET\t/ HTTP/1.1\r\n"), VD_HTTP_REFUSED_METHOD, 400},
    {TEXT("G(T / HTTP/1.1\r\n"), VD_HTTP_REFUSED_METHOD, 400},
    {TEXT("G\xc3\x89T / HTTP/1.1\r\n"), VD_HTTP_REFUSED_METHOD, 400},
    {TEXT("GET: / HTTP/1.1\r\n"), VD_HTTP_REFUSED_METHOD, 400},
    {TEXT("ABCDEFGHIJABCDEFGHIJABCDEFGHIJABC / HTTP/1.1\r\n"), VD_HTTP_REFUSED_METHOD_LONG, 501},
    {TEXT("CONNECT h:443 HTTP/1.1\r\n"), VD_HTTP_REFUSED_CONNECT, 501},
    {TEXT("CONNECT / HTTP/1.1\r\n"), VD_HTTP_REFUSED_CONNECT, 501},
    /* targets */
    {TEXT("GET  / HTTP/1.1\r\n"), VD_HTTP_REFUSED_TARGET_CHARACTER, 400},
    {TEXT("GET \r\n"), VD_HTTP_REFUSED_TARGET_CHARACTER, 400},
    {TEXT("GET /a#b HTTP/1.1\r\n"), VD_HTTP_REFUSED_TARGET_CHARACTER, 400},
    {TEXT("GET /\xc3\xa9 HTTP/1.1\r\n"), VD_HTTP_REFUSED_TARGET_CHARACTER, 400},
    {TEXT("GET /0123456789abcdef\xff HTTP/1.1\r\n"), VD_HTTP_REFUSED_TARGET_CHARACTER, 400},
    {TEXT("GET /a\tb HTTP/1.1\r\n"), VD_HTTP_REFUSED_TARGET_CHARACTER, 400},
    {TEXT("GET * HTTP/1.1\r\n"), VD_HTTP_REFUSED_TARGET_FORM, 400},
    {TEXT("OPTIONS ** HTTP/1.1\r\n"), VD_HTTP_REFUSED_TARGET_FORM, 400},
    {TEXT("GET api/v1 HTTP/1.1\r\n"), VD_HTTP_REFUSED_TARGET_FORM, 400},
    {TEXT("GET ?watch=1 HTTP/1.1\r\n"), VD_HTTP_REFUSED_TARGET_FORM, 400},
    {TEXT("GET h:443 HTTP/1.1\r\n"), VD_HTTP_REFUSED_TARGET_FORM, 400},
    {TEXT("GET http:/// HTTP/1.1\r\n"), VD_HTTP_REFUSED_TARGET_FORM, 400},
    {TEXT("GET http:// HTTP/1.1\r\n"), VD_HTTP_REFUSED_TARGET_FORM, 400},
    {TEXT("GET http:/h/ HTTP/1.1\r\n"), VD_HTTP_REFUSED_TARGET_FORM, 400},
    {TEXT("GET http://h?x HTTP/1.1\r\n"), VD_HTTP_REFUSED_TARGET_FORM, 400},
    {TEXT("GET http://u:p@h/ HTTP/1.1\r\n"), VD_HTTP_REFUSED_TARGET_FORM, 400},
    {TEXT("GET ftp://h/ HTTP/1.1\r\n"), VD_HTTP_REFUSED_TARGET_FORM, 400},
    {TEXT("GET file:///etc/passwd HTTP/1.1\r\n"), VD_HTTP_REFUSED_TARGET_FORM, 400},
    /* versions */
    {TEXT("GET /\r\n"), VD_HTTP_REFUSED_VERSION_SYNTAX, 400}, /* HTTP/0.9 */
    {TEXT("GET / \r\n"), VD_HTTP_REFUSED_VERSION_SYNTAX, 400},
    {TEXT("GET / HTTP/1.1 \r\n"), VD_HTTP_REFUSED_VERSION_SYNTAX, 400},
    {TEXT("GET /  HTTP/1.1\r\n"), VD_HTTP_REFUSED_VERSION_SYNTAX, 400},
    {TEXT("GET / x HTTP/1.1\r\n"), VD_HTTP_REFUSED_VERSION_SYNTAX, 400},
    {TEXT("GET / http/1.1\r\n"), VD_HTTP_REFUSED_VERSION_SYNTAX, 400},
    {TEXT("GET / HTTP/1\r\n"), VD_HTTP_REFUSED_VERSION_SYNTAX, 400},
    {TEXT("GET / HTTP/1.10\r\n"), VD_HTTP_REFUSED_VERSION_SYNTAX, 400},
    {TEXT("GET / HTTP/1,1\r\n"), VD_HTTP_REFUSED_VERSION_SYNTAX, 400},
    {TEXT("GET / HTTPS/1.1\r\n"), VD_HTTP_REFUSED_VERSION_SYNTAX, 400},
    {TEXT("GET / HTTP/1.2\r\n"), VD_HTTP_REFUSED_VERSION, 505},
    {TEXT("GET / HTTP/2.0\r\n"), VD_HTTP_REFUSED_VERSION, 505},
    {TEXT("GET / HTTP/0.9\r\n"), VD_HTTP_REFUSED_VERSION, 505},
    {TEXT("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), VD_HTTP_REFUSED_VERSION, 505},
};

static void refusals_have_a_reason(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_requests / sizeof *bad_requests; i++) {
        struct vd_http_head h;
        enum vd_http_result result = parse(&h, bad_requests[i].text);
        if (result != VD_HTTP_REFUSED || h.refusal != bad_requests[i].why)
            fail_msg("\"%.*s\": %d, %s", VD_FMT(bad_requests[i].text), (int)result,
                     vd_http_refusal_text(h.refusal));
        assert_int_equal(vd_http_refusal_status(h.refusal), bad_requests[i].status);
    }
}

static const struct {
    struct vd_slice headers; /* after a good request line */
    enum vd_http_refusal why;
} bad_headers[] = {
    {TEXT(" Host: h\r\n\r\n"), VD_HTTP_REFUSED_FOLD},
    {TEXT(HOST "A: b\r\n c\r\n\r\n"), VD_HTTP_REFUSED_FOLD},
    {TEXT(HOST "A: b\r\n\tc\r\n\r\n"), VD_HTTP_REFUSED_FOLD},
    {TEXT(HOST " \r\n\r\n"), VD_HTTP_REFUSED_FOLD},
    {TEXT(": h\r\n\r\n"), VD_HTTP_REFUSED_NAME},
    {TEXT("Host : h\r\n\r\n"), VD_HTTP_REFUSED_NAME_SPACE},
    {TEXT("Host\t: h\r\n\r\n"), VD_HTTP_REFUSED_NAME_SPACE},
    {TEXT(HOST "Content-Length : 5\r\n\r\n"), VD_HTTP_REFUSED_NAME_SPACE},
    {TEXT(HOST "Transfer-Encoding : chunked\r\n\r\n"), VD_HTTP_REFUSED_NAME_SPACE},
    {TEXT("Ho st: h\r\n\r\n"), VD_HTTP_REFUSED_NAME_SPACE},
    {TEXT("Host\r\n\r\n"), VD_HTTP_REFUSED_NO_COLON},
    {TEXT("a-name-that-is-longer-than-sixteen\r\n\r\n"), VD_HTTP_REFUSED_NO_COLON},
    {TEXT("H(ost): h\r\n\r\n"), VD_HTTP_REFUSED_NAME},
    {TEXT("H\xc3\xb6st: h\r\n\r\n"), VD_HTTP_REFUSED_NAME},
    {TEXT("Host;: h\r\n\r\n"), VD_HTTP_REFUSED_NAME},
    {TEXT("\"Host\": h\r\n\r\n"), VD_HTTP_REFUSED_NAME},
    {TEXT("Ho[st: h\r\n\r\n"), VD_HTTP_REFUSED_NAME},
    {TEXT("Ho@st: h\r\n\r\n"), VD_HTTP_REFUSED_NAME},
    {TEXT("Ho{st: h\r\n\r\n"), VD_HTTP_REFUSED_NAME},
    /* Host */
    {TEXT("\r\n"), VD_HTTP_REFUSED_HOST_MISSING},
    {TEXT("A: b\r\n\r\n"), VD_HTTP_REFUSED_HOST_MISSING},
    {TEXT("Host:\r\n\r\n"), VD_HTTP_REFUSED_HOST},
    {TEXT("Host: \t\r\n\r\n"), VD_HTTP_REFUSED_HOST},
    {TEXT("Host: a b\r\n\r\n"), VD_HTTP_REFUSED_HOST},
    {TEXT("Host: a/b\r\n\r\n"), VD_HTTP_REFUSED_HOST},
    {TEXT("Host: u@h\r\n\r\n"), VD_HTTP_REFUSED_HOST},
    {TEXT("Host: h\\x\r\n\r\n"), VD_HTTP_REFUSED_HOST},
    {TEXT("Host: \xc3\xa9\r\n\r\n"), VD_HTTP_REFUSED_HOST},
    {TEXT(HOST HOST "\r\n"), VD_HTTP_REFUSED_REPEATED},
    {TEXT(HOST "hOST: i\r\n\r\n"), VD_HTTP_REFUSED_REPEATED},
    {TEXT(HOST "Authorization: a\r\nauthorization: b\r\n\r\n"), VD_HTTP_REFUSED_REPEATED},
    {TEXT(HOST "Content-Type: a/b\r\ncontent-type: a/b\r\n\r\n"), VD_HTTP_REFUSED_REPEATED},
    /* Content-Length */
    {TEXT(HOST "Content-Length: 5\r\nContent-Length: 5\r\n\r\n"), VD_HTTP_REFUSED_REPEATED},
    {TEXT(HOST "Content-Length: 5\r\nCONTENT-LENGTH: 6\r\n\r\n"), VD_HTTP_REFUSED_REPEATED},
    {TEXT(HOST "Content-Length:\r\n\r\n"), VD_HTTP_REFUSED_LENGTH},
    {TEXT(HOST "Content-Length: +5\r\n\r\n"), VD_HTTP_REFUSED_LENGTH},
    {TEXT(HOST "Content-Length: -5\r\n\r\n"), VD_HTTP_REFUSED_LENGTH},
    {TEXT(HOST "Content-Length: 5,5\r\n\r\n"), VD_HTTP_REFUSED_LENGTH},
    {TEXT(HOST "Content-Length: 5, 5\r\n\r\n"), VD_HTTP_REFUSED_LENGTH},
    {TEXT(HOST "Content-Length: 0x5\r\n\r\n"), VD_HTTP_REFUSED_LENGTH},
    {TEXT(HOST "Content-Length: 5a\r\n\r\n"), VD_HTTP_REFUSED_LENGTH},
    {TEXT(HOST "Content-Length: a5\r\n\r\n"), VD_HTTP_REFUSED_LENGTH},
    {TEXT(HOST "Content-Length: 5 5\r\n\r\n"), VD_HTTP_REFUSED_LENGTH},
    {TEXT(HOST "Content-Length: 5;\r\n\r\n"), VD_HTTP_REFUSED_LENGTH},
    {TEXT(HOST "Content-Length: 5.0\r\n\r\n"), VD_HTTP_REFUSED_LENGTH},
    {TEXT(HOST "Content-Length: 1e3\r\n\r\n"), VD_HTTP_REFUSED_LENGTH},
    {TEXT(HOST "Content-Length: \"5\"\r\n\r\n"), VD_HTTP_REFUSED_LENGTH},
    {TEXT(HOST "Content-Length: 007\r\n\r\n"), VD_HTTP_REFUSED_LENGTH},
    {TEXT(HOST "Content-Length: 5\xa0\r\n\r\n"), VD_HTTP_REFUSED_LENGTH},
    {TEXT(HOST "Content-Length: 18446744073709551616\r\n\r\n"), VD_HTTP_REFUSED_LENGTH_LARGE},
    {TEXT(HOST "Content-Length: 99999999999999999999999\r\n\r\n"), VD_HTTP_REFUSED_LENGTH_LARGE},
    /* Transfer-Encoding */
    {TEXT(HOST "Transfer-Encoding: identity\r\n\r\n"), VD_HTTP_REFUSED_CODING},
    {TEXT(HOST "Transfer-Encoding: gzip, chunked\r\n\r\n"), VD_HTTP_REFUSED_CODING},
    {TEXT(HOST "Transfer-Encoding: chunked, identity\r\n\r\n"), VD_HTTP_REFUSED_CODING},
    {TEXT(HOST "Transfer-Encoding: chunked, chunked\r\n\r\n"), VD_HTTP_REFUSED_CODING},
    {TEXT(HOST "Transfer-Encoding: xchunked\r\n\r\n"), VD_HTTP_REFUSED_CODING},
    {TEXT(HOST "Transfer-Encoding: chunkedx\r\n\r\n"), VD_HTTP_REFUSED_CODING},
    {TEXT(HOST "Transfer-Encoding: Chunked\r\n\r\n"), VD_HTTP_REFUSED_CODING},
    {TEXT(HOST "Transfer-Encoding: chunked;q=1\r\n\r\n"), VD_HTTP_REFUSED_CODING},
    {TEXT(HOST "Transfer-Encoding: \"chunked\"\r\n\r\n"), VD_HTTP_REFUSED_CODING},
    {TEXT(HOST "Transfer-Encoding: ,chunked\r\n\r\n"), VD_HTTP_REFUSED_CODING},
    {TEXT(HOST "Transfer-Encoding:\r\n\r\n"), VD_HTTP_REFUSED_CODING},
    {TEXT(HOST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n"),
     VD_HTTP_REFUSED_REPEATED},
    {TEXT(HOST "Transfer-Encoding: chunked\r\ntransfer-encoding: x\r\n\r\n"),
     VD_HTTP_REFUSED_REPEATED},
    {TEXT(HOST "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"), VD_HTTP_REFUSED_FRAMING},
    {TEXT(HOST "Transfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n"), VD_HTTP_REFUSED_FRAMING},
    {TEXT(HOST "Expect: 200-ok\r\n\r\n"), VD_HTTP_REFUSED_EXPECT},
};

static void bad_headers_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_headers / sizeof *bad_headers; i++) {
        struct vd_http_head h;
        struct vd_buf text = {0};
        vd_buf_add_text(&text, GET);
        vd_buf_add_slice(&text, bad_headers[i].headers);
        enum vd_http_result result = parse(&h, vd_buf_slice(&text));
        if (result != VD_HTTP_REFUSED || h.refusal != bad_headers[i].why)
            fail_msg("\"%s\": %d, %s", vd_buf_text(&text), (int)result,
                     vd_http_refusal_text(h.refusal));
        vd_buf_release(&text);
    }
}

static void request_lines_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *line, *name, *target;
        enum vd_http_method method;
        int minor;
    } cases[] = {
        {"GET / HTTP/1.1", "GET", "/", VD_HTTP_GET, 1},
        {"HEAD /a HTTP/1.0", "HEAD", "/a", VD_HTTP_HEAD, 0},
        {"POST /a?b=c HTTP/1.1", "POST", "/a?b=c", VD_HTTP_POST, 1},
        {"PUT /%2f HTTP/1.1", "PUT", "/%2f", VD_HTTP_PUT, 1},
        {"PATCH //a HTTP/1.1", "PATCH", "//a", VD_HTTP_PATCH, 1},
        {"DELETE /a{}|^\"<>\\` HTTP/1.1", "DELETE", "/a{}|^\"<>\\`", VD_HTTP_DELETE, 1},
        {"OPTIONS * HTTP/1.1", "OPTIONS", "*", VD_HTTP_OPTIONS, 1},
        {"OPTIONS /x HTTP/1.1", "OPTIONS", "/x", VD_HTTP_OPTIONS, 1},
        {"TRACE /0123456789abcdef0123456789abcdef HTTP/1.1", "TRACE",
         "/0123456789abcdef0123456789abcdef", VD_HTTP_TRACE, 1},
        {"get / HTTP/1.1", "get", "/", VD_HTTP_METHOD_OTHER, 1},
        {"PROPFIND / HTTP/1.1", "PROPFIND", "/", VD_HTTP_METHOD_OTHER, 1},
        {"M-SEARCH!#$%&'*+.^_`|~ / HTTP/1.1", "M-SEARCH!#$%&'*+.^_`|~", "/", VD_HTTP_METHOD_OTHER,
         1},
        {"GET http://h HTTP/1.1", "GET", "/", VD_HTTP_GET, 1},
        {"GET http://h/ HTTP/1.1", "GET", "/", VD_HTTP_GET, 1},
        {"GET HTTP://H/a?b HTTP/1.1", "GET", "/a?b", VD_HTTP_GET, 1},
        {"GET https://h/a/http://b HTTP/1.1", "GET", "/a/http://b", VD_HTTP_GET, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_http_head h;
        struct vd_buf text = {0};
        vd_buf_addf(&text, "%s\r\nHost: h\r\n\r\nrest", cases[i].line);
        if (parse(&h, vd_buf_slice(&text)) != VD_HTTP_DONE)
            fail_msg("%s: %s", cases[i].line, vd_http_refusal_text(h.refusal));
        assert_int_equal(h.method, cases[i].method);
        assert_slice(vd_http_head_method(&h), cases[i].name);
        assert_slice(vd_http_head_target(&h), cases[i].target);
        assert_int_equal(h.minor, cases[i].minor);
        assert_int_equal(h.used, text.n - 4);
        vd_buf_release(&text);
    }
}

static void absolute_targets_agree_with_the_host(void **state)
{
    (void)state;
    static const struct {
        const char *authority, *host;
        bool good;
    } cases[] = {
        {"h", "h", true},       {"H.example", "h.EXAMPLE", true},
        {"h:80", "h:80", true}, {"[::1]:1", "[::1]:1", true},
        {"h", "i", false},      {"h:80", "h", false},
        {"h", "h.", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_http_head h;
        struct vd_buf text = {0};
        vd_buf_addf(&text, "GET http://%s/x HTTP/1.1\r\nHost: %s\r\n\r\n", cases[i].authority,
                    cases[i].host);
        enum vd_http_result result = parse(&h, vd_buf_slice(&text));
        assert_int_equal(result, cases[i].good ? VD_HTTP_DONE : VD_HTTP_REFUSED);
        assert_int_equal(h.refusal,
                         cases[i].good ? VD_HTTP_REFUSED_NOTHING : VD_HTTP_REFUSED_HOST_DIFFERS);
        vd_buf_release(&text);
    }
}

static void headers_decide_what_follows(void **state)
{
    (void)state;
    static const struct {
        const char *text; /* the version's last digit and the headers */
        bool keep, chunked, expect, upgrade, has_length;
        uint64_t length;
    } cases[] = {
        {"1\r\nHost: h", true, false, false, false, false, 0},
        {"0\r\nHost: h", false, false, false, false, false, 0},
        {"0\r\nA: b", false, false, false, false, false, 0},
        {"1\r\nHost: h\r\nConnection: close", false, false, false, false, false, 0},
        {"1\r\nHost: h\r\nConnection: foo , CLOSE", false, false, false, false, false, 0},
        {"1\r\nHost: h\r\nConnection: keep-alive\r\nConnection: close", false, false, false, false,
         false, 0},
        {"1\r\nHost: h\r\nConnection: closed", true, false, false, false, false, 0},
        {"1\r\nHost: h\r\nConnection:", true, false, false, false, false, 0},
        {"0\r\nHost: h\r\nConnection: Keep-Alive", true, false, false, false, false, 0},
        {"0\r\nHost: h\r\nConnection: keep-alive, close", false, false, false, false, false, 0},
        {"1\r\nHost: h\r\nContent-Length: 0", true, false, false, false, true, 0},
        {"1\r\nHost: h\r\ncontent-length:5", true, false, false, false, true, 5},
        {"1\r\nHost: h\r\nContent-Length: \t 18446744073709551615 \t", true, false, false, false,
         true, UINT64_MAX},
        {"1\r\nHost: h\r\nTRANSFER-ENCODING:\tchunked ", true, true, false, false, false, 0},
        {"1\r\nHost: h\r\nExpect: 100-Continue\r\nContent-Length: 3", true, false, true, false,
         true, 3},
        {"0\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3", false, false, false, false,
         true, 3},
        {"1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade", true, false, false, true,
         false, 0},
        {"1\r\nHost: h\r\nConnection: keep-alive, upgrade\r\nUpgrade: h2c", true, false, false,
         true, false, 0},
        {"1\r\nHost: h\r\nUpgrade: websocket", true, false, false, false, false, 0},
        {"1\r\nHost: h\r\nConnection: upgrade", true, false, false, false, false, 0},
        {"0\r\nHost: h\r\nUpgrade: x\r\nConnection: upgrade", false, false, false, false, false, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_http_head h;
        struct vd_buf text = {0};
        vd_buf_addf(&text, "POST / HTTP/1.%s\r\n\r\n", cases[i].text);
        if (parse(&h, vd_buf_slice(&text)) != VD_HTTP_DONE)
            fail_msg("%s: %s", cases[i].text, vd_http_refusal_text(h.refusal));
        if (h.keep_alive != cases[i].keep || h.chunked != cases[i].chunked ||
            h.expect_continue != cases[i].expect || h.upgrade != cases[i].upgrade ||
            h.has_length != cases[i].has_length || h.length != cases[i].length)
            fail_msg("%s: keep %d chunked %d expect %d upgrade %d length %d %llu", cases[i].text,
                     h.keep_alive, h.chunked, h.expect_continue, h.upgrade, h.has_length,
                     (unsigned long long)h.length);
        vd_buf_release(&text);
    }
}

static void transfer_encoding_is_refused_in_http_1_0(void **state)
{
    (void)state;
    struct vd_http_head h;
    assert_int_equal(
        parse(&h, VD_SLICE("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")),
        VD_HTTP_REFUSED);
    assert_int_equal(h.refusal, VD_HTTP_REFUSED_CODING_OLD);
}

static void headers_are_found_by_name(void **state)
{
    (void)state;
    struct vd_http_head h;
    struct vd_slice value;
    size_t at = 0;
    assert_int_equal(parse(&h, VD_SLICE("\r\n" GET HOST "Accept:a\r\nX-Empty:\r\nX_1.2~:  b\tc \r\n"
                                        "ACCEPT:\t d:e \r\nX-Utf8: \xc3\xa9\xff\r\n\r\n")),
                     VD_HTTP_DONE);
    assert_int_equal(h.headers_n, 6);
    assert_true(vd_http_head_find(&h, VD_SLICE("accept"), &value));
    assert_slice(value, "a");
    assert_true(vd_http_head_next(&h, VD_SLICE("Accept"), &at, &value));
    assert_slice(value, "a");
    assert_true(vd_http_head_next(&h, VD_SLICE("Accept"), &at, &value));
    assert_slice(value, "d:e");
    assert_false(vd_http_head_next(&h, VD_SLICE("Accept"), &at, &value));
    assert_true(vd_http_head_find(&h, VD_SLICE("x-empty"), &value));
    assert_slice(value, "");
    assert_true(vd_http_head_find(&h, VD_SLICE("x_1.2~"), &value));
    assert_slice(value, "b\tc");
    assert_true(vd_http_head_find(&h, VD_SLICE("x-utf8"), &value));
    assert_slice(value, "\xc3\xa9\xff");
    assert_false(vd_http_head_find(&h, VD_SLICE("accep"), &value));
    assert_false(vd_http_head_find(&h, VD_SLICE("x_1.2^"), &value));
}

static void pipelined_requests_are_told_apart(void **state)
{
    (void)state;
    struct vd_http_head h;
    struct vd_slice text = VD_SLICE("GET /1 HTTP/1.1\r\nHost: h\r\n\r\n"
                                    "GET /2 HTTP/1.1\r\nHost: h\r\nA: b\r\n\r\n"
                                    "\r\nGET /3 HTTP/1.1\r\nHost: h\r\n\r\nGET /4");
    static const char *const targets[] = {"/1", "/2", "/3"};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(parse(&h, text), VD_HTTP_DONE);
        assert_slice(vd_http_head_target(&h), targets[i]);
        text = vd_slice_from(text, h.used);
    }
    assert_int_equal(parse(&h, text), VD_HTTP_MORE);
    assert_slice(text, "GET /4");
}

static void a_refusal_does_not_wait_for_the_line(void **state)
{
    (void)state;
    struct vd_http_head h;
    vd_http_head_init(&h);
    assert_int_equal(vd_http_head_parse(&h, NULL, 0), VD_HTTP_MORE);
    assert_int_equal(vd_http_head_parse(&h, "GET /\x01", 6), VD_HTTP_REFUSED);
    assert_int_equal(vd_http_head_parse(&h, "GET / HTTP/1.1\r\n", 16), VD_HTTP_REFUSED);
    assert_int_equal(h.refusal, VD_HTTP_REFUSED_CONTROL);
}

/* n bytes 'a' between two texts. */
static void add_padded(struct vd_buf *out, const char *before, size_t n, const char *after)
{
    vd_buf_add_text(out, before);
    for (size_t i = 0; i < n; i++)
        vd_buf_add_char(out, 'a');
    vd_buf_add_text(out, after);
}

static void lengths_are_limited(void **state)
{
    (void)state;
    enum { TARGET = VD_HTTP_TARGET_LEN_MAX, HEADER = VD_HTTP_HEADER_LEN_MAX };
    static const struct {
        const char *before;
        size_t n;
        const char *after;
        enum vd_http_refusal why;
    } cases[] = {
        {"GET /", TARGET - 1, " HTTP/1.1\r\nHost: h\r\n\r\n", VD_HTTP_REFUSED_NOTHING},
        {"GET /", TARGET, " HTTP/1.1\r\nHost: h\r\n\r\n", VD_HTTP_REFUSED_TARGET_LONG},
        {"GET /", TARGET + 100, " HTTP/1.1\r\n", VD_HTTP_REFUSED_TARGET_LONG},
        {"GET /", TARGET + 100, "", VD_HTTP_REFUSED_TARGET_LONG},
        {"GET /", TARGET + 100, "\x01", VD_HTTP_REFUSED_TARGET_LONG},
        {"", TARGET + 100, " /", VD_HTTP_REFUSED_TARGET_LONG},
        {"", VD_HTTP_METHOD_LEN_MAX, " / HTTP/1.1\r\nHost: h\r\n\r\n", VD_HTTP_REFUSED_NOTHING},
        {"", VD_HTTP_METHOD_LEN_MAX + 1, " / HTTP/1.1\r\n", VD_HTTP_REFUSED_METHOD_LONG},
        {GET HOST "A: ", HEADER - 3, "\r\n\r\n", VD_HTTP_REFUSED_NOTHING},
        {GET HOST "A: ", HEADER - 2, "\r\n\r\n", VD_HTTP_REFUSED_HEADER_LONG},
        {GET HOST "A: ", HEADER - 2, "", VD_HTTP_REFUSED_HEADER_LONG},
        {GET HOST, HEADER - 2, ": b\r\n\r\n", VD_HTTP_REFUSED_HEADER_LONG},
        {GET HOST, HEADER - 2, ":b\r\n\r\n", VD_HTTP_REFUSED_NOTHING},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_http_head h;
        struct vd_buf text = {0};
        add_padded(&text, cases[i].before, cases[i].n, cases[i].after);
        enum vd_http_result result = parse(&h, vd_buf_slice(&text));
        if (h.refusal != cases[i].why || (result == VD_HTTP_DONE) != !cases[i].why)
            fail_msg("case %zu: %d, %s", i, (int)result, vd_http_refusal_text(h.refusal));
        vd_buf_release(&text);
    }
}

static void headers_are_counted(void **state)
{
    (void)state;
    for (size_t extra = VD_HTTP_HEADERS_MAX - 2; extra <= VD_HTTP_HEADERS_MAX; extra++) {
        struct vd_http_head h;
        struct vd_buf text = {0};
        vd_buf_add_text(&text, GET HOST);
        for (size_t i = 0; i < extra; i++)
            vd_buf_add_text(&text, "A:b\r\n");
        vd_buf_add_text(&text, "\r\n");
        bool fits = extra + 1 <= VD_HTTP_HEADERS_MAX;
        assert_int_equal(parse(&h, vd_buf_slice(&text)), fits ? VD_HTTP_DONE : VD_HTTP_REFUSED);
        assert_int_equal(h.refusal, fits ? VD_HTTP_REFUSED_NOTHING : VD_HTTP_REFUSED_HEADERS_MANY);
        vd_buf_release(&text);
    }
}

/* A head of exactly `n` bytes, in headers of 8,192 bytes and one that fills up. */
static void make_head(struct vd_buf *out, size_t n)
{
    vd_buf_add_text(out, GET HOST);
    while (n - out->n > 8192 + 16)
        add_padded(out, "A: ", 8192 - 5, "\r\n");
    add_padded(out, "A: ", n - out->n - 7, "\r\n\r\n");
    assert_int_equal(out->n, n);
}

static void the_whole_head_is_limited(void **state)
{
    (void)state;
    for (size_t n = VD_HTTP_HEAD_LEN_MAX - 2; n <= VD_HTTP_HEAD_LEN_MAX + 3; n++) {
        struct vd_http_head h;
        struct vd_buf text = {0};
        make_head(&text, n);
        bool fits = n <= VD_HTTP_HEAD_LEN_MAX;
        assert_int_equal(parse(&h, vd_buf_slice(&text)), fits ? VD_HTTP_DONE : VD_HTTP_REFUSED);
        assert_int_equal(h.refusal, fits ? VD_HTTP_REFUSED_NOTHING : VD_HTTP_REFUSED_HEAD_LONG);
        vd_buf_release(&text);
    }
}

static void every_refusal_has_an_error_status(void **state)
{
    (void)state;
    for (int i = VD_HTTP_REFUSED_NOTHING + 1; i < VD_HTTP_REFUSAL_COUNT; i++) {
        unsigned status = vd_http_refusal_status((enum vd_http_refusal)i);
        assert_true(status >= 400 && status <= 505);
        assert_true(strlen(vd_http_refusal_text((enum vd_http_refusal)i)) > 20);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refusals_have_a_reason),
        cmocka_unit_test(bad_headers_are_refused),
        cmocka_unit_test(request_lines_are_read),
        cmocka_unit_test(absolute_targets_agree_with_the_host),
        cmocka_unit_test(headers_decide_what_follows),
        cmocka_unit_test(transfer_encoding_is_refused_in_http_1_0),
        cmocka_unit_test(headers_are_found_by_name),
        cmocka_unit_test(pipelined_requests_are_told_apart),
        cmocka_unit_test(a_refusal_does_not_wait_for_the_line),
        cmocka_unit_test(lengths_are_limited),
        cmocka_unit_test(headers_are_counted),
        cmocka_unit_test(the_whole_head_is_limited),
        cmocka_unit_test(every_refusal_has_an_error_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
