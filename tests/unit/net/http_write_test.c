/* src/net/http_write.c: the heads of answers, their dates, and chunks. */
#include "net/http_write.h"

#include "check.h"
#include "death.h"

/* A clock that a test sets; the member is first, so that it is the clock too. */
struct held_clock {
    struct vd_clock clock;
    int64_t ms;
};

static int64_t held_wall_ms(const struct vd_clock *clock)
{
    return ((const struct held_clock *)(const void *)clock)->ms;
}

static struct held_clock hold(int64_t ms)
{
    return (struct held_clock){{.wall_ms = held_wall_ms}, ms};
}

static const int64_t example_ms = 784111777000; /* the RFC's own example */

#define DATE "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"

static void heads_are_written(void **state)
{
    (void)state;
    static const struct vd_http_field fields[] = {
        {VD_SLICE("X-A"), VD_SLICE("b \t c")},
        {VD_SLICE("Warning"), VD_SLICE("")},
    };
    static const struct {
        struct vd_http_answer answer;
        const char *text;
    } cases[] = {
        {{.status = 200, .content_type = VD_SLICE("application/json"), .length = 1234567},
         "HTTP/1.1 200 OK\r\n" DATE
         "Content-Type: application/json\r\nContent-Length: 1234567\r\n\r\n"},
        {{.status = 404}, "HTTP/1.1 404 Not Found\r\n" DATE "Content-Length: 0\r\n\r\n"},
        {{.status = 200, .framing = VD_HTTP_FRAMING_CHUNKED},
         "HTTP/1.1 200 OK\r\n" DATE "Transfer-Encoding: chunked\r\n\r\n"},
        {{.status = 200, .framing = VD_HTTP_FRAMING_CLOSE},
         "HTTP/1.1 200 OK\r\n" DATE "Connection: close\r\n\r\n"},
        {{.status = 431, .persistence = VD_HTTP_PERSIST_CLOSE},
         "HTTP/1.1 431 Request Header Fields Too Large\r\n" DATE
         "Content-Length: 0\r\nConnection: close\r\n\r\n"},
        {{.status = 200, .persistence = VD_HTTP_PERSIST_KEEP},
         "HTTP/1.1 200 OK\r\n" DATE "Content-Length: 0\r\nConnection: keep-alive\r\n\r\n"},
        {{.status = 204, .framing = VD_HTTP_FRAMING_NONE, .fields = fields, .fields_n = 2},
         "HTTP/1.1 204 No Content\r\n" DATE "X-A: b \t c\r\nWarning: \r\n\r\n"},
        {{.status = 299}, "HTTP/1.1 299 \r\n" DATE "Content-Length: 0\r\n\r\n"},
    };
    struct held_clock clock = hold(example_ms);
    struct vd_http_date date;
    vd_http_date_init(&date, &clock.clock);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_buf out = {0};
        vd_http_write_head(&out, &date, &cases[i].answer);
        assert_string_equal(vd_buf_text(&out), cases[i].text);
        vd_buf_release(&out);
    }
}

static void dates_follow_the_clock(void **state)
{
    (void)state;
    static const struct {
        int64_t ms;
        const char *text;
    } cases[] = {
        {0, "Thu, 01 Jan 1970 00:00:00 GMT"},
        {-1, "Wed, 31 Dec 1969 23:59:59 GMT"},
        {example_ms, "Sun, 06 Nov 1994 08:49:37 GMT"},
        {example_ms + 999, "Sun, 06 Nov 1994 08:49:37 GMT"},
        {example_ms + 1000, "Sun, 06 Nov 1994 08:49:38 GMT"},
        {1709164800000, "Thu, 29 Feb 2024 00:00:00 GMT"},
        {example_ms, "Sun, 06 Nov 1994 08:49:37 GMT"}, /* and back */
        {253402300799999, "Fri, 31 Dec 9999 23:59:59 GMT"},
        {253402300800000, "Thu, 01 Jan 1970 00:00:00 GMT"},
        {INT64_MIN, "Thu, 01 Jan 1970 00:00:00 GMT"},
    };
    struct held_clock clock = hold(0);
    struct vd_http_date date;
    vd_http_date_init(&date, &clock.clock);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        clock.ms = cases[i].ms;
        assert_slice(vd_http_date_text(&date), cases[i].text);
        assert_slice(vd_http_date_text(&date), cases[i].text);
    }
}

static void chunks_are_framed(void **state)
{
    (void)state;
    static const struct {
        uint64_t n;
        const char *line;
    } cases[] = {
        {1, "1\r\n"},
        {15, "f\r\n"},
        {16, "10\r\n"},
        {255, "ff\r\n"},
        {4096, "1000\r\n"},
        {0xdeadbeef, "deadbeef\r\n"},
        {UINT64_MAX, "ffffffffffffffff\r\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[VD_HTTP_CHUNK_LINE_MAX];
        assert_slice(vd_http_chunk_line(cases[i].n, line), cases[i].line);
    }
    struct vd_buf out = {0};
    vd_http_write_chunk(&out, VD_SLICE("hello"));
    vd_http_write_chunk(&out, VD_SLICE(""));
    vd_buf_add_slice(&out, VD_HTTP_CHUNK_LAST);
    assert_string_equal(vd_buf_text(&out), "5\r\nhello\r\n0\r\n\r\n");
    vd_buf_release(&out);
}

static void values_that_break_out_are_unsafe(void **state)
{
    (void)state;
    assert_true(vd_http_value_is_safe(VD_SLICE("")));
    assert_true(vd_http_value_is_safe(VD_SLICE("a \t\"b\" \xc3\xa9")));
    static const struct vd_slice unsafe[] = {
        VD_SLICE("a\r\nSet-Cookie: x"),
        VD_SLICE("a\n"),
        VD_SLICE("\r"),
        VD_SLICE("a\0b"),
        VD_SLICE("\x7f"),
        VD_SLICE("\x1b[m"),
        VD_SLICE(" a"),
        VD_SLICE("a\t"),
    };
    for (size_t i = 0; i < sizeof unsafe / sizeof *unsafe; i++)
        assert_false(vd_http_value_is_safe(unsafe[i]));
}

static void write_answer(struct vd_http_answer answer)
{
    struct vd_buf out = {0};
    struct vd_http_date date;
    vd_http_date_init(&date, vd_clock_system());
    vd_http_write_head(&out, &date, &answer);
    vd_buf_release(&out);
}

static void write_field(struct vd_slice name, struct vd_slice value)
{
    struct vd_http_field field = {name, value};
    write_answer((struct vd_http_answer){.status = 200, .fields = &field, .fields_n = 1});
}

static void inject_in_value(void)
{
    write_field(VD_SLICE("Location"), VD_SLICE("/\r\nSet-Cookie: a=b"));
}

static void inject_in_name(void)
{
    write_field(VD_SLICE("A: b\r\nC"), VD_SLICE("d"));
}

static void inject_in_content_type(void)
{
    write_answer((struct vd_http_answer){.status = 200, .content_type = VD_SLICE("a/b\r\nC: d")});
}

static void frame_twice(void)
{
    write_field(VD_SLICE("content-length"), VD_SLICE("5"));
}

static void frame_what_has_no_body(void)
{
    write_answer((struct vd_http_answer){.status = 304});
}

static void write_no_status(void)
{
    write_answer((struct vd_http_answer){.status = 0});
}

static void bugs_of_the_caller_assert(void **state)
{
    (void)state;
    assert_true(aborts_saying(inject_in_value, "vd_http_value_is_safe"));
    assert_true(aborts_saying(inject_in_name, "vd_http_token_is"));
    assert_true(aborts_saying(inject_in_content_type, "vd_http_value_is_safe"));
    assert_true(aborts_saying(frame_twice, "is_framing"));
    assert_true(aborts_saying(frame_what_has_no_body, "VD_HTTP_FRAMING_NONE"));
    assert_true(aborts_saying(write_no_status, "status >= 100"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heads_are_written),
        cmocka_unit_test(dates_follow_the_clock),
        cmocka_unit_test(chunks_are_framed),
        cmocka_unit_test(values_that_break_out_are_unsafe),
        cmocka_unit_test(bugs_of_the_caller_assert),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
