/* src/base/log_line.c: one event is one valid line, whatever the values hold. */
#include "base/log_line.h"

#include <stdio.h>

#include "base/log.h"
#include "base/utf8.h"
#include "check.h"

/* A whole line, for comparing. */
static const char *line_of(enum vd_log_format format, const struct vd_log_field *fields)
{
    static struct vd_log_line line;
    static char whole[VD_LOG_LINE_MAX + 1];
    vd_log_line_format(&line, format, 0, VD_LOG_INFO, "m", fields);
    memcpy(whole, line.p, line.n);
    size_t n = line.n + vd_log_line_end(whole + line.n, format, 0);
    assert_true(n <= VD_LOG_LINE_MAX);
    whole[n] = 0;
    return whole;
}

static void every_kind_of_field_has_its_form(void **state)
{
    (void)state;
    struct vd_error error;
    vd_error_set(&error, VD_ERR_IO, "no room");
    const char *token = "hunter2", *none = NULL;
    const struct vd_log_field fields[] = {
        VD_F_STR("text", "a"),
        VD_F_STR("none", none),
        VD_F_SLICE("slice", vd_slice("abc", 2)),
        VD_F_U64("big", UINT64_MAX),
        VD_F_I64("small", INT64_MIN),
        VD_F_BOOL("yes", true),
        VD_F_BOOL("no", false),
        VD_F_ERROR(&error),
        VD_F_SECRET("token", token),
        VD_F_END,
    };
    assert_string_equal(line_of(VD_LOG_LOGFMT, fields),
                        "time=1970-01-01T00:00:00.000Z level=info msg=m text=a none=\"\" slice=ab "
                        "big=18446744073709551615 small=-9223372036854775808 yes=true no=false "
                        "error=\"no room\" token=[redacted]\n");
    assert_string_equal(
        line_of(VD_LOG_JSON, fields),
        "{\"time\":\"1970-01-01T00:00:00.000Z\",\"level\":\"info\",\"msg\":\"m\",\"text\":\"a\","
        "\"none\":\"\",\"slice\":\"ab\",\"big\":18446744073709551615,"
        "\"small\":-9223372036854775808,\"yes\":true,\"no\":false,\"error\":\"no room\","
        "\"token\":\"[redacted]\"}\n");
}

static const char *text_of(enum vd_log_format format, enum vd_log_level level, const char *message,
                           const struct vd_log_field *fields)
{
    static struct vd_log_line line;
    static char whole[VD_LOG_LINE_MAX + 1];
    vd_log_line_format(&line, format, 11 * 3600 * 1000 + 62000, level, message, fields);
    memcpy(whole, line.p, line.n);
    whole[line.n + vd_log_line_end(whole + line.n, format, 0)] = 0;
    return whole;
}

static void lines_for_people_are_short(void **state)
{
    const struct vd_log_field some[] = {VD_F_U64("revision", 7), VD_F_STR("a", "b c"), VD_F_END};
    const struct vd_log_field wrong[] = {VD_F_STR("file", "x"), VD_F_STR("error", "no \"a\"\nroom"),
                                         VD_F_END};
    (void)state;
    setenv("TZ", "UTC", 1);
    tzset();
    assert_string_equal(text_of(VD_LOG_TEXT, VD_LOG_INFO, "stopped", &VD_F_END),
                        "11:01:02 stopped\n");
    assert_string_equal(text_of(VD_LOG_TEXT, VD_LOG_INFO, "ready", some),
                        "11:01:02 ready  revision=7 a=\"b c\"\n");
    assert_string_equal(text_of(VD_LOG_TEXT, VD_LOG_WARN, "not written", wrong),
                        "11:01:02 warning: not written: no \"a\"\\nroom  file=x\n");
    assert_string_equal(text_of(VD_LOG_TEXT, VD_LOG_ERROR, "broken", &VD_F_END),
                        "11:01:02 error: broken\n");
}

static void colour_shows_problems(void **state)
{
    const struct vd_log_field some[] = {VD_F_STR("file", "x\033[2J"), VD_F_END};
    (void)state;
    setenv("TZ", "UTC", 1);
    tzset();
    assert_string_equal(text_of(VD_LOG_COLOUR, VD_LOG_INFO, "ready", &VD_F_END),
                        "11:01:02 \033[1mready\033[0m\n");
    assert_string_equal(
        text_of(VD_LOG_COLOUR, VD_LOG_ERROR, "broken", some),
        "11:01:02 \033[1;31merror: \033[0mbroken \033[2m file=\"x\\u001b[2J\"\033[0m\n");
}

static void values_are_escaped_so_that_a_line_stays_one_line(void **state)
{
    (void)state;
    static const struct {
        const char *value, *logfmt, *json;
    } cases[] = {
        {"plain-1/2", "plain-1/2", "\"plain-1/2\""},
        {"", "\"\"", "\"\""},
        {"two words", "\"two words\"", "\"two words\""},
        {"a=b", "\"a=b\"", "\"a=b\""},
        {"say \"x\"", "\"say \\\"x\\\"\"", "\"say \\\"x\\\"\""},
        {"c:\\", "\"c:\\\\\"", "\"c:\\\\\""},
        {"1\n2\r\t", "\"1\\n2\\r\\t\"", "\"1\\n2\\r\\t\""},
        {"\x1b[31m\x7f", "\"\\u001b[31m\\u007f\"", "\"\\u001b[31m\\u007f\""},
        {"gr\xc3\xbc\xc3\x9f", "\"gr\xc3\xbc\xc3\x9f\"", "\"gr\xc3\xbc\xc3\x9f\""},
        {"\xf0\x9f\x98\x80", "\"\xf0\x9f\x98\x80\"", "\"\xf0\x9f\x98\x80\""},
        {"\xc2\x85", "\"\\u0085\"", "\"\\u0085\""},
        {"\xe2\x80\xa8", "\"\\u2028\"", "\"\\u2028\""},
        {"\xff", "\"\\xff\"", "\"\\ufffd\""},
        {"\xc3", "\"\\xc3\"", "\"\\ufffd\""},
        {"\xed\xa0\x80", "\"\\xed\\xa0\\x80\"", "\"\\ufffd\\ufffd\\ufffd\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct vd_log_field fields[] = {VD_F_STR("v", cases[i].value), VD_F_END};
        char want[256];
        snprintf(want, sizeof want, "time=1970-01-01T00:00:00.000Z level=info msg=m v=%s\n",
                 cases[i].logfmt);
        assert_string_equal(line_of(VD_LOG_LOGFMT, fields), want);
        snprintf(want, sizeof want,
                 "{\"time\":\"1970-01-01T00:00:00.000Z\",\"level\":\"info\",\"msg\":\"m\","
                 "\"v\":%s}\n",
                 cases[i].json);
        assert_string_equal(line_of(VD_LOG_JSON, fields), want);
    }
}

static void levels_have_their_names(void **state)
{
    (void)state;
    static const struct {
        enum vd_log_level level;
        const char *name;
    } cases[] = {
        {VD_LOG_DEBUG, "level=debug "},
        {VD_LOG_INFO, "level=info "},
        {VD_LOG_WARN, "level=warn "},
        {VD_LOG_ERROR, "level=error "},
    };
    for (size_t i = 0; i < 4; i++) {
        struct vd_log_line line;
        vd_log_line_format(&line, VD_LOG_LOGFMT, 0, cases[i].level, "m", &VD_F_END);
        line.p[line.n] = 0;
        assert_non_null(strstr(line.p, cases[i].name));
    }
}

static bool is_utf8(struct vd_slice text)
{
    uint32_t rune;
    for (size_t n; text.n; text = vd_slice_from(text, n)) {
        n = vd_utf8_read(text, &rune);
        if (!n)
            return false;
    }
    return true;
}

/* At every length around the limit, in each format, with wide characters and escapes. */
static void long_lines_are_cut_at_a_whole_character_and_say_so(void **state)
{
    (void)state;
    static const char *const units[] = {"x", "\n", "\xe2\x82\xac", "\x01", "\xff"};
    static char value[3 * VD_LOG_LINE_MAX];
    for (size_t u = 0; u < sizeof units / sizeof *units; u++)
        for (size_t pad = 0; pad < 8; pad++) {
            size_t n = 0, unit_n = strlen(units[u]);
            for (; n < pad; n++)
                value[n] = 'p';
            for (; n + unit_n < sizeof value; n += unit_n)
                memcpy(value + n, units[u], unit_n);
            const struct vd_log_field fields[] = {VD_F_SLICE("v", vd_slice(value, n)),
                                                  VD_F_U64("after", 7), VD_F_END};
            const char *logfmt = line_of(VD_LOG_LOGFMT, fields);
            assert_true(vd_slice_ends_with(vd_slice_of(logfmt), VD_SLICE("\" cut=true\n")));
            assert_true(strlen(logfmt) > VD_LOG_LINE_MAX - 128);
            assert_true(is_utf8(vd_slice_of(logfmt)));
            const char *json = line_of(VD_LOG_JSON, fields);
            assert_true(vd_slice_ends_with(vd_slice_of(json), VD_SLICE("\",\"cut\":true}\n")));
            assert_true(is_utf8(vd_slice_of(json)));
            assert_null(strstr(json, "after"));
            const char *text = line_of(VD_LOG_COLOUR, fields);
            assert_true(vd_slice_ends_with(vd_slice_of(text), VD_SLICE("\" cut=true\033[0m\n")));
            assert_true(is_utf8(vd_slice_of(text)));
        }
}

static void too_many_fields_are_cut_between_two_of_them(void **state)
{
    (void)state;
    struct vd_log_field fields[1001];
    for (size_t i = 0; i < 1000; i++)
        fields[i] = VD_F_U64("number", UINT64_MAX);
    fields[1000] = VD_F_END;
    const char *json = line_of(VD_LOG_JSON, fields);
    assert_true(vd_slice_ends_with(vd_slice_of(json),
                                   VD_SLICE("\"number\":18446744073709551615,\"cut\":true}\n")));
}

static void the_end_of_a_line_carries_what_was_dropped(void **state)
{
    (void)state;
    char end[VD_LOG_LINE_END_MAX];
    assert_slice(vd_slice(end, vd_log_line_end(end, VD_LOG_LOGFMT, 0)), "\n");
    assert_slice(vd_slice(end, vd_log_line_end(end, VD_LOG_JSON, 0)), "}\n");
    assert_slice(vd_slice(end, vd_log_line_end(end, VD_LOG_LOGFMT, 12)), " dropped=12\n");
    assert_slice(vd_slice(end, vd_log_line_end(end, VD_LOG_JSON, UINT64_MAX)),
                 ",\"dropped\":18446744073709551615}\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_field_has_its_form),
        cmocka_unit_test(lines_for_people_are_short),
        cmocka_unit_test(colour_shows_problems),
        cmocka_unit_test(values_are_escaped_so_that_a_line_stays_one_line),
        cmocka_unit_test(levels_have_their_names),
        cmocka_unit_test(long_lines_are_cut_at_a_whole_character_and_say_so),
        cmocka_unit_test(too_many_fields_are_cut_between_two_of_them),
        cmocka_unit_test(the_end_of_a_line_carries_what_was_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
