/* HTTP/2 clients that mean harm: what is cheap for them and dear for the server ends with a
 * GOAWAY, and others are served meanwhile. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "h2_client.h"
#include "net/http2.h"

enum { MANY = 4 * VD_HTTP2_NUISANCES_MAX };

static struct server server;
static struct h2 bad, good;

static const struct h2_options plain = {0};

static int setup(void **state)
{
    (void)state;
    server_init(&server, 1, NULL);
    server_start(&server);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    server_stop(&server);
    return 0;
}

/* Both are connected and have been served. */
static void begin(const struct h2_options *options)
{
    h2_open(&bad, &server, options);
    h2_open(&good, &server, &plain);
    h2_expect(&bad, h2_ask(&bad, "GET", "/echo", NULL), 200, "GET /echo ");
    h2_expect(&good, h2_ask(&good, "GET", "/echo", NULL), 200, "GET /echo ");
}

static void expect_calm(void)
{
    h2_expect(&good, h2_ask(&good, "GET", "/echo/2", NULL), 200, "GET /echo/2 ");
    h2_expect_goaway(&bad, NGHTTP2_ENHANCE_YOUR_CALM);
    h2_close(&bad);
    h2_close(&good);
    wait_for_connections(&server, 0);
    assert_int_equal(server.finished, server.handled);
}

/* Sends frames of one sort until there are many or the server has had enough. */
static void flood(uint8_t type, uint8_t flags, int32_t id, const void *payload, size_t n)
{
    for (int i = 0; i < MANY; i++)
        if (!h2_raw(&bad, type, flags, id, payload, n))
            return;
}

static void test_pings(void **state)
{
    (void)state;
    begin(&plain);
    flood(NGHTTP2_PING, 0, 0, "12345678", 8);
    expect_calm();
}

static void test_settings(void **state)
{
    (void)state;
    begin(&plain);
    flood(NGHTTP2_SETTINGS, 0, 0, NULL, 0);
    /* The client's nghttp2 would be puzzled by acknowledgements of what it did not send. */
    while (client_receive(&bad.io))
        ;
    const uint8_t *at = (const uint8_t *)bad.io.in.p, *end = at + bad.io.in.n;
    while (end - at >= 17 && at[3] != NGHTTP2_GOAWAY)
        at += 9 + (at[1] << 8 | at[2]);
    assert_true(end - at >= 17);
    bad.goaways_n = 1;
    bad.goaway_code = at[16];
    expect_calm();
}

/* The server has said that it does not look at these. */
static void test_priorities(void **state)
{
    (void)state;
    begin(&plain);
    flood(NGHTTP2_PRIORITY, 0, 1, "\0\0\0\0\20", 5);
    h2_expect(&good, h2_ask(&good, "GET", "/echo/2", NULL), 200, "GET /echo/2 ");
    h2_expect(&bad, h2_ask(&bad, "GET", "/echo/2", NULL), 200, "GET /echo/2 ");
    h2_close(&bad);
    h2_close(&good);
}

static void test_data_without_data(void **state)
{
    const char *headers[] = {":method", "POST",       ":scheme", "http", ":path",
                             "/echo",   ":authority", "h",       NULL};
    (void)state;
    begin(&plain);
    struct h2_stream *s = h2_ask_with(&bad, headers, NULL, true);
    flood(NGHTTP2_DATA, 0, s->id, NULL, 0);
    expect_calm();
}

static void test_data_of_padding(void **state)
{
    const char *headers[] = {":method", "POST",       ":scheme", "http", ":path",
                             "/echo",   ":authority", "h",       NULL};
    (void)state;
    begin(&plain);
    struct h2_stream *s = h2_ask_with(&bad, headers, NULL, true);
    flood(NGHTTP2_DATA, NGHTTP2_FLAG_PADDED, s->id, "\3\0\0\0", 4);
    expect_calm();
}

/* Requests that are taken back at once (CVE-2023-44487). */
static void test_rapid_reset(void **state)
{
    uint8_t block[64];
    size_t n = h2_pack(block, sizeof block, "/hold");
    (void)state;
    begin(&plain);
    for (int i = 0; i < MANY; i++) {
        int32_t id = 3 + 2 * i;
        if (!h2_raw(&bad, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_STREAM | NGHTTP2_FLAG_END_HEADERS, id,
                    block, n) ||
            !h2_raw(&bad, NGHTTP2_RST_STREAM, 0, id, "\0\0\0\10", 4))
            break;
    }
    expect_calm();
    assert_true(server.handled <= VD_HTTP2_NUISANCES_MAX + 10);
}

/* Having the server reset them instead: with a window of no size (CVE-2025-8671). */
static void test_resets_that_the_server_is_made_to_send(void **state)
{
    uint8_t block[64];
    size_t n = h2_pack(block, sizeof block, "/hold");
    (void)state;
    begin(&plain);
    for (int i = 0; i < MANY; i++) {
        int32_t id = 3 + 2 * i;
        if (!h2_raw(&bad, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_STREAM | NGHTTP2_FLAG_END_HEADERS, id,
                    block, n) ||
            !h2_raw(&bad, NGHTTP2_WINDOW_UPDATE, 0, id, "\0\0\0\0", 4))
            break;
    }
    h2_expect(&good, h2_ask(&good, "GET", "/echo/2", NULL), 200, "GET /echo/2 ");
    while (h2_pump(&bad))
        ;
    assert_true(bad.goaways_n > 0 && bad.goaway_code != NGHTTP2_NO_ERROR);
    h2_close(&bad);
    h2_close(&good);
    wait_for_connections(&server, 0);
    assert_true(server.handled <= VD_HTTP2_NUISANCES_MAX + 10);
}

/* More streams than were allowed, over and over. */
static void test_streams_above_the_limit(void **state)
{
    uint8_t block[64];
    size_t n = h2_pack(block, sizeof block, "/hold");
    (void)state;
    begin(&plain);
    for (int i = 0; i < MANY; i++)
        if (!h2_raw(&bad, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_STREAM | NGHTTP2_FLAG_END_HEADERS,
                    3 + 2 * i, block, n))
            break;
    h2_expect(&good, h2_ask(&good, "GET", "/echo/2", NULL), 200, "GET /echo/2 ");
    while (h2_pump(&bad))
        ;
    assert_true(bad.goaways_n > 0 && bad.goaway_code != NGHTTP2_NO_ERROR);
    assert_true(server.handled <= VD_HTTP2_STREAMS_DEFAULT + 3);
    h2_close(&bad);
    h2_close(&good);
    wait_for_connections(&server, 0);
    assert_int_equal(server.finished, server.handled);
}

/* Headers that never end, in pieces of some size or none. */
static void continuations(const void *piece, size_t piece_n)
{
    uint8_t block[64];
    size_t n = h2_pack(block, sizeof block, "/echo");
    begin(&plain);
    assert_true(h2_raw(&bad, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_STREAM, 3, block, n));
    for (int i = 0; i < 100000; i++)
        if (!h2_raw(&bad, NGHTTP2_CONTINUATION, 0, 3, piece, piece_n))
            break;
    h2_expect(&good, h2_ask(&good, "GET", "/echo/2", NULL), 200, "GET /echo/2 ");
    while (client_receive(&bad.io))
        ;
    h2_close(&bad);
    h2_close(&good);
    wait_for_connections(&server, 0);
    assert_int_equal(server.handled, 3);
}

static void test_continuations_of_nothing(void **state)
{
    (void)state;
    continuations(NULL, 0);
}

static void test_continuations_of_something(void **state)
{
    static const uint8_t header[] = {0, 1, 'a', 0}; /* "a", without a value */
    uint8_t piece[250 * sizeof header];
    (void)state;
    for (size_t i = 0; i < sizeof piece; i += sizeof header)
        memcpy(piece + i, header, sizeof header);
    continuations(piece, sizeof piece);
}

/* A few bytes that unpack to a great many (HPACK): one long header, kept in the table, and
 * then named over and over. */
static void test_headers_that_unpack_to_many(void **state)
{
    enum { VALUE = 4000, TIMES = 12000 };
    uint8_t *block = malloc(VALUE + TIMES + 100);
    (void)state;
    begin(&plain);
    size_t n = h2_pack(block, 64, "/echo");
    block[n++] = 0x40; /* a new name, to be kept */
    block[n++] = 1;
    block[n++] = 'a';
    block[n++] = 0x7f; /* a length of 4000: 127 and 3873 in sevens */
    block[n++] = (3873 & 127) | 128;
    block[n++] = 3873 >> 7;
    memset(block + n, 'v', VALUE);
    n += VALUE;
    memset(block + n, 0xbe, TIMES); /* the newest of the table */
    n += TIMES;
    assert_true(h2_raw(&bad, NGHTTP2_HEADERS, NGHTTP2_FLAG_END_STREAM | NGHTTP2_FLAG_END_HEADERS, 3,
                       block, n));
    struct h2_stream *s = &bad.streams[bad.streams_n++];
    *s = (struct h2_stream){.id = 3};
    h2_expect(&good, h2_ask(&good, "GET", "/echo/2", NULL), 200, "GET /echo/2 ");
    /* The client's nghttp2 knows nothing of that stream; what comes for it is an error. */
    while (client_receive(&bad.io))
        if (memmem(bad.io.in.p, bad.io.in.n, "too long", 8))
            break;
    assert_non_null(memmem(bad.io.in.p, bad.io.in.n, "too long", 8));
    h2_close(&bad);
    h2_close(&good);
    assert_int_equal(server.handled, 3);
    free(block);
}

/* A large answer, taken a byte at a time. */
static void test_a_window_of_single_bytes(void **state)
{
    (void)state;
    begin(&(struct h2_options){.window = 100, .no_updates = true});
    struct h2_stream *s = h2_ask(&bad, "GET", "/size/1000000", NULL);
    h2_expect_len(&bad, s, 100);
    /* Each is read before the next, or they would add up. */
    for (size_t n = 1; n < MANY && bad.goaways_n == 0; n++) {
        nghttp2_submit_window_update(bad.session, NGHTTP2_FLAG_NONE, s->id, 1);
        if (!h2_push(&bad))
            break;
        while (s->body.n < 100 + n && bad.goaways_n == 0)
            if (!h2_pump(&bad))
                break;
    }
    expect_calm();
}

static void test_garbage(void **state)
{
    (void)state;
    begin(&plain);
    for (int i = 0; i < 100; i++)
        if (!client_try_send(&bad.io, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 11))
            break;
    h2_expect(&good, h2_ask(&good, "GET", "/echo/2", NULL), 200, "GET /echo/2 ");
    while (h2_pump(&bad))
        ;
    assert_true(bad.goaways_n == 0 || bad.goaway_code != NGHTTP2_NO_ERROR);
    h2_close(&bad);
    h2_close(&good);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_pings),
        TEST(test_settings),
        TEST(test_priorities),
        TEST(test_data_without_data),
        TEST(test_data_of_padding),
        TEST(test_rapid_reset),
        TEST(test_resets_that_the_server_is_made_to_send),
        TEST(test_streams_above_the_limit),
        TEST(test_continuations_of_nothing),
        TEST(test_continuations_of_something),
        TEST(test_headers_that_unpack_to_many),
        TEST(test_a_window_of_single_bytes),
        TEST(test_garbage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
