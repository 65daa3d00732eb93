/* src/control/exec_message.c: what is said between the manager and a program. */
#include "check.h"

#include "base/buf.h"
#include "control/exec_message.h"

static void what_the_manager_says(void **state)
{
    struct vd_buf out = {0};
    (void)state;
    vd_exec_write_hello(&out, &(struct vd_exec_hello){.controller = VD_SLICE("c\"1"),
                                                      .api_version = VD_SLICE("example.com/v1"),
                                                      .kind = VD_SLICE("Widget"),
                                                      .resource = VD_SLICE("widgets.example.com")});
    vd_exec_write_reconcile(&out, &(struct vd_exec_reconcile){.id = 7,
                                                              .namespace = VD_SLICE("shop"),
                                                              .name = VD_SLICE("a"),
                                                              .object = VD_SLICE("{\"x\":1}"),
                                                              .attempt = 2,
                                                              .deadline_ms = 1000});
    vd_exec_write_reconcile(&out, &(struct vd_exec_reconcile){.id = 8, .name = VD_SLICE("b")});
    vd_exec_write_cancel(&out, 7);
    vd_exec_write_shutdown(&out);
    assert_string_equal(
        vd_buf_text(&out),
        "{\"type\":\"hello\",\"protocol\":1,\"controller\":\"c\\\"1\",\"apiVersion\":\"example.com/"
        "v1\",\"kind\":\"Widget\",\"resource\":\"widgets.example.com\"}\n"
        "{\"type\":\"reconcile\",\"id\":7,\"key\":{\"namespace\":\"shop\",\"name\":\"a\"},"
        "\"attempt\":2,\"deadline\":\"1970-01-01T00:00:01.000000Z\",\"object\":{\"x\":1}}\n"
        "{\"type\":\"reconcile\",\"id\":8,\"key\":{\"namespace\":\"\",\"name\":\"b\"},"
        "\"attempt\":0,\"object\":null}\n"
        "{\"type\":\"cancel\",\"id\":7}\n"
        "{\"type\":\"shutdown\"}\n");
    vd_buf_release(&out);
}

/* Reads a line that is good; the arena is the caller's. */
static struct vd_exec_message read_line(struct vd_arena *arena, const char *line)
{
    struct vd_exec_message message;
    struct vd_error error;
    assert_ok(vd_exec_read(arena, vd_slice_of(line), &message, &error), &error);
    return message;
}

static void what_the_program_says(void **state)
{
    struct vd_arena arena = {0};
    (void)state;
    struct vd_exec_message m = read_line(&arena, "{\"type\":\"hello\",\"protocol\":1}");
    assert_int_equal(m.type, VD_EXEC_HELLO);
    assert_int_equal(m.protocol, 1);
    assert_int_equal(m.parallel, 1);
    m = read_line(&arena, "{\"type\":\"hello\",\"protocol\":2,\"parallel\":64,\"more\":1}");
    assert_int_equal(m.parallel, 64);
    m = read_line(&arena, "{\"type\":\"log\",\"level\":\"warn\",\"message\":\"hm\"}");
    assert_int_equal(m.type, VD_EXEC_LOG);
    assert_true(vd_slice_is(m.text, "hm"));
    m = read_line(&arena, "{\"type\":\"result\",\"id\":7}");
    assert_int_equal(m.type, VD_EXEC_RESULT);
    assert_int_equal(m.id, 7);
    assert_int_equal(m.result.outcome, VD_RESULT_SUCCESS);
    assert_null(m.result.status);
    m = read_line(&arena, "{\"type\":\"result\",\"id\":7,\"status\":{\"a\":1},\"conditions\":[{}],"
                          "\"events\":[],\"error\":null}");
    assert_int_equal(m.result.outcome, VD_RESULT_SUCCESS);
    assert_non_null(m.result.status);
    assert_non_null(m.result.conditions);
    m = read_line(&arena, "{\"type\":\"result\",\"id\":7,\"requeueAfter\":\"1m30s\"}");
    assert_int_equal(m.result.outcome, VD_RESULT_REQUEUE);
    assert_int_equal(m.result.after_ms, 90000);
    m = read_line(&arena, "{\"type\":\"result\",\"id\":7,\"requeueAfter\":0.25}");
    assert_int_equal(m.result.after_ms, 250);
    m = read_line(
        &arena,
        "{\"type\":\"result\",\"id\":7,\"error\":\"oh\",\"retryAfter\":2,\"terminal\":false}");
    assert_int_equal(m.result.outcome, VD_RESULT_RETRY);
    assert_int_equal(m.result.after_ms, 2000);
    assert_true(vd_slice_is(m.result.message, "oh"));
    m = read_line(&arena, "{\"type\":\"result\",\"id\":7,\"error\":\"oh\",\"terminal\":true}");
    assert_int_equal(m.result.outcome, VD_RESULT_TERMINAL);
    vd_arena_release(&arena);
}

static void what_is_no_message_is_named(void **state)
{
    static const char *const wrong[][2] = {
        {"", "end"},
        {"hello", "1"},
        {"[]", "type"},
        {"{}", "type"},
        {"{\"type\":\"bye\"}", "type"},
        {"{\"type\":\"hello\"}", "protocol"},
        {"{\"type\":\"hello\",\"protocol\":1,\"parallel\":0}", "parallel"},
        {"{\"type\":\"hello\",\"protocol\":1,\"parallel\":5000}", "parallel"},
        {"{\"type\":\"result\"}", "id"},
        {"{\"type\":\"result\",\"id\":-1}", "id"},
        {"{\"type\":\"result\",\"id\":\"7\"}", "id"},
        {"{\"type\":\"result\",\"id\":7,\"status\":[]}", "status"},
        {"{\"type\":\"result\",\"id\":7,\"conditions\":{}}", "conditions"},
        {"{\"type\":\"result\",\"id\":7,\"events\":{}}", "events"},
        {"{\"type\":\"result\",\"id\":7,\"error\":{}}", "error"},
        {"{\"type\":\"result\",\"id\":7,\"error\":\"x\",\"terminal\":1}", "terminal"},
        {"{\"type\":\"result\",\"id\":7,\"requeueAfter\":-1}", "requeueAfter"},
        {"{\"type\":\"result\",\"id\":7,\"requeueAfter\":\"soon\"}", "requeueAfter"},
        {"{\"type\":\"result\",\"id\":7,\"requeueAfter\":1e99}", "requeueAfter"},
        {"{\"type\":\"result\",\"id\":7,\"retryAfter\":true}", "retryAfter"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct vd_arena arena = {0};
        struct vd_exec_message message;
        struct vd_error error = {0};
        assert_int_not_equal(vd_exec_read(&arena, vd_slice_of(wrong[i][0]), &message, &error),
                             VD_OK);
        if (!strstr(error.text, wrong[i][1]))
            fail_msg("%s: %s", wrong[i][0], error.text);
        vd_arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_manager_says),
        cmocka_unit_test(what_the_program_says),
        cmocka_unit_test(what_is_no_message_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
