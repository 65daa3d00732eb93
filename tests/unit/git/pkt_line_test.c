/* src/git/pkt_line.c: git's packets. */
#include "git/pkt_line.h"

#include "check.h"

static void packets_are_read(void **state)
{
    (void)state;
    static const struct {
        struct vd_slice bytes;
        enum vd_pkt_line_result result;
        const char *payload;
        size_t len;
    } cases[] = {
        {{"0009hello", 9}, VD_PKT_LINE_DONE, "hello", 9},
        {{"000ahello\nmore", 14}, VD_PKT_LINE_DONE, "hello", 10},
        {{"000Ahello\n", 10}, VD_PKT_LINE_DONE, "hello", 10},
        {{"0004", 4}, VD_PKT_LINE_DONE, "", 4},
        {{"0000", 4}, VD_PKT_LINE_DONE, "", 4},
        {{"", 0}, VD_PKT_LINE_MORE, NULL, 0},
        {{"000", 3}, VD_PKT_LINE_MORE, NULL, 0},
        {{"0009hell", 8}, VD_PKT_LINE_MORE, NULL, 0},
        {{"0001", 4}, VD_PKT_LINE_BAD, NULL, 0},
        {{"0003", 4}, VD_PKT_LINE_BAD, NULL, 0},
        {{"00x", 3}, VD_PKT_LINE_BAD, NULL, 0},
        {{"ffff", 4}, VD_PKT_LINE_BAD, NULL, 0},
        {{"fff0", 4}, VD_PKT_LINE_MORE, NULL, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_pkt_line line;
        assert_int_equal(vd_pkt_line_read(cases[i].bytes, &line), cases[i].result);
        if (cases[i].result != VD_PKT_LINE_DONE)
            continue;
        assert_slice(line.payload, cases[i].payload);
        assert_int_equal(line.len, cases[i].len);
        assert_int_equal(line.flush, vd_slice_is(cases[i].bytes, "0000"));
    }
}

static void what_is_written_can_be_read(void **state)
{
    (void)state;
    struct vd_buf out = {0};
    struct vd_pkt_line line;
    char *large = malloc(VD_PKT_LINE_PAYLOAD_MAX + 10);
    assert_non_null(large);
    memset(large, 'x', VD_PKT_LINE_PAYLOAD_MAX + 10);
    vd_pkt_line_write(&out, VD_SLICE("ok refs/heads/main"));
    vd_pkt_line_write_flush(&out);
    assert_slice(vd_buf_slice(&out), "0016ok refs/heads/main0000");
    vd_buf_reset(&out);
    vd_pkt_line_write(&out, vd_slice(large, VD_PKT_LINE_PAYLOAD_MAX + 10));
    assert_int_equal(vd_pkt_line_read(vd_buf_slice(&out), &line), VD_PKT_LINE_DONE);
    assert_int_equal(line.payload.n, VD_PKT_LINE_PAYLOAD_MAX);
    assert_int_equal(line.len, out.n);
    free(large);
    vd_buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packets_are_read),
        cmocka_unit_test(what_is_written_can_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
