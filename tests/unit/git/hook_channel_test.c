/* src/git/hook_channel.c: messages between hooks and the server. */
#include "git/hook_channel.h"

#include "base/limits.h"
#include "check.h"

static void messages_are_read(void **state)
{
    (void)state;
    struct vd_buf out = {0};
    struct vd_hook_message m;
    vd_hook_message_write(&out, VD_HOOK_EXIT, VD_SLICE("0"));
    assert_int_equal(out.n, 6);
    assert_memory_equal(out.p, "\0\0\0\1x0", 6);
    for (size_t n = 0; n < out.n; n++)
        assert_int_equal(vd_hook_message_read(vd_slice(out.p, n), &m), VD_HOOK_MORE);
    assert_int_equal(vd_hook_message_read(vd_buf_slice(&out), &m), VD_HOOK_DONE);
    assert_int_equal(m.type, VD_HOOK_EXIT);
    assert_slice(m.payload, "0");
    assert_int_equal(m.len, 6);
    vd_buf_release(&out);
}

static void what_is_no_message_is_refused(void **state)
{
    (void)state;
    static const struct vd_slice cases[] = {
        {"\0\0\0\1\0z", 6}, /* no type */
        {"\0\0\0\1qz", 6},  /* an unknown one */
        {"\0\1\0\1tz", 6},  /* too long, by one byte */
        {"\377\377\377\377t", 5},
    };
    struct vd_hook_message m;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(vd_hook_message_read(cases[i], &m), VD_HOOK_BAD);
    assert_int_equal(vd_hook_message_read(vd_slice("\0\1\0\0tz", 6), &m), VD_HOOK_MORE);
}

/* A report may be as long as it likes; anything else is cut, so that it can be read. */
static void a_long_text_becomes_several_messages(void **state)
{
    (void)state;
    struct vd_buf text = {0}, out = {0}, got = {0};
    struct vd_hook_message m;
    for (size_t i = 0; i < (size_t)VD_HOOK_MESSAGE_LEN_MAX * 2 + 7; i++)
        vd_buf_add_char(&text, (char)('a' + i % 26));
    vd_hook_message_write(&out, VD_HOOK_TEXT, vd_buf_slice(&text));
    size_t count = 0;
    for (struct vd_slice rest = vd_buf_slice(&out); rest.n; rest = vd_slice_from(rest, m.len)) {
        assert_int_equal(vd_hook_message_read(rest, &m), VD_HOOK_DONE);
        vd_buf_add_slice(&got, m.payload);
        count++;
    }
    assert_int_equal(count, 3);
    assert_true(vd_slice_eq(vd_buf_slice(&got), vd_buf_slice(&text)));
    vd_buf_reset(&out);
    vd_hook_message_write(&out, VD_HOOK_REPORT, vd_buf_slice(&text));
    assert_int_equal(vd_hook_message_read(vd_buf_slice(&out), &m), VD_HOOK_DONE);
    assert_int_equal(m.len, out.n);
    assert_int_equal(m.payload.n, VD_HOOK_MESSAGE_LEN_MAX);
    vd_buf_release(&text);
    vd_buf_release(&out);
    vd_buf_release(&got);
}

static void beginnings_go_there_and_back(void **state)
{
    (void)state;
    struct vd_hook_begin begin = {VD_SLICE("pre-receive"), VD_SLICE("/q/objects"), VD_SLICE("/o"),
                                  VD_SLICE("/q")};
    struct vd_hook_begin got;
    struct vd_hook_message m;
    struct vd_buf out = {0};
    vd_hook_begin_write(&out, &begin);
    assert_int_equal(vd_hook_message_read(vd_buf_slice(&out), &m), VD_HOOK_DONE);
    assert_int_equal(m.type, VD_HOOK_BEGIN);
    assert_true(vd_hook_begin_read(m.payload, &got));
    assert_slice(got.hook, "pre-receive");
    assert_slice(got.objects, "/q/objects");
    assert_slice(got.alternates, "/o");
    assert_slice(got.quarantine, "/q");
    assert_true(vd_hook_begin_read(vd_slice("proc-receive\0\0\0", 15), &got));
    assert_slice(got.quarantine, "");
    assert_false(vd_hook_begin_read(VD_SLICE(""), &got));
    assert_false(vd_hook_begin_read(vd_slice("a\0b\0c", 5), &got));
    assert_false(vd_hook_begin_read(vd_slice("a\0b\0c\0d\0e", 9), &got));
    vd_buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_are_read),
        cmocka_unit_test(what_is_no_message_is_refused),
        cmocka_unit_test(a_long_text_becomes_several_messages),
        cmocka_unit_test(beginnings_go_there_and_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
