/* The inflater: what gzip packed comes back, in pieces that are bounded, and nothing else does. */
#include "net/inflate.h"

#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "net/gzip.h"

static void pack(struct vd_slice data, struct vd_buf *out)
{
    struct vd_gzip g;
    struct vd_gzip_stream s = {0};
    vd_gzip_init(&g, 6);
    vd_gzip_add(&g, &s, data, true, out);
    vd_gzip_release(&g);
}

/* Unpacks `packed`, given `step` bytes at a time; the result of the last call. */
static enum vd_inflate_result unpack(struct vd_slice packed, size_t step, uint64_t len_max,
                                     struct vd_buf *out, const char **why)
{
    struct vd_inflate i;
    struct vd_slice piece;
    enum vd_inflate_result result = VD_INFLATE_HUNGRY;
    vd_inflate_init(&i, len_max);
    for (size_t at = 0; at < packed.n && result != VD_INFLATE_BROKEN; at += step) {
        vd_inflate_add(&i, vd_slice(packed.p + at, packed.n - at < step ? packed.n - at : step));
        while ((result = vd_inflate_next(&i, &piece)) == VD_INFLATE_PIECE) {
            assert_true(piece.n > 0 && piece.n <= VD_INFLATE_PIECE_LEN);
            vd_buf_add_slice(out, piece);
        }
    }
    assert_int_equal(vd_inflate_next(&i, &piece), result); /* and so it stays */
    static char text[128];
    snprintf(text, sizeof text, "%s", vd_inflate_is_too_long(&i) ? "too long" : vd_inflate_why(&i));
    *why = text;
    vd_inflate_release(&i);
    return result;
}

static void test_a_round_trip_at_any_pace(void **state)
{
    (void)state;
    struct vd_buf data = {0}, packed = {0};
    const char *why;
    for (int i = 0; i < 20000; i++)
        vd_buf_addf(&data, "line %d of %d\n", i * 7919 % 10007, i);
    pack(vd_buf_slice(&data), &packed);
    const size_t steps[] = {1, 2, 17, 1000, 65536, packed.n};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct vd_buf out = {0};
        assert_int_equal(unpack(vd_buf_slice(&packed), steps[i], data.n, &out, &why),
                         VD_INFLATE_END);
        assert_int_equal(out.n, data.n);
        assert_memory_equal(out.p, data.p, data.n);
        vd_buf_release(&out);
    }
    vd_buf_release(&data);
    vd_buf_release(&packed);
}

/* 16 MB of nothing come in 16 KB: whoever takes them decides when. */
static void test_a_bomb_is_taken_piece_by_piece(void **state)
{
    (void)state;
    enum { LEN = 16 * 1024 * 1024 };
    struct vd_buf packed = {0};
    struct vd_inflate i;
    struct vd_slice piece;
    char *zeros = calloc(1, LEN);
    assert_non_null(zeros);
    pack(vd_slice(zeros, LEN), &packed);
    free(zeros);
    assert_true(packed.n < 30000);
    vd_inflate_init(&i, 0);
    vd_inflate_add(&i, vd_buf_slice(&packed));
    size_t total = 0, pieces = 0;
    for (; vd_inflate_next(&i, &piece) == VD_INFLATE_PIECE; pieces++)
        total += piece.n;
    assert_int_equal(vd_inflate_next(&i, &piece), VD_INFLATE_END);
    assert_int_equal(total, LEN);
    assert_true(pieces >= LEN / VD_INFLATE_PIECE_LEN);
    vd_inflate_release(&i);
    struct vd_buf out = {0};
    const char *why;
    assert_int_equal(unpack(vd_buf_slice(&packed), 1000, LEN - 1, &out, &why), VD_INFLATE_BROKEN);
    assert_string_equal(why, "too long");
    assert_true(out.n < LEN);
    vd_buf_release(&out);
    vd_buf_release(&packed);
}

static void expect_broken(struct vd_slice packed, enum vd_inflate_result wanted, const char *says)
{
    struct vd_buf out = {0};
    const char *why = "";
    assert_int_equal(unpack(packed, 7, 0, &out, &why), wanted);
    if (!strstr(why, says))
        fail_msg("\"%s\" does not say \"%s\"", why, says);
    vd_buf_release(&out);
}

static void test_damage_is_named(void **state)
{
    (void)state;
    struct vd_buf packed = {0};
    pack(VD_SLICE("some words, and some words again"), &packed);
    expect_broken(VD_SLICE("0014command=ls-refs"), VD_INFLATE_BROKEN, "not gzip");
    expect_broken(VD_SLICE(""), VD_INFLATE_HUNGRY, "cut");
    expect_broken(vd_slice(packed.p, packed.n - 1), VD_INFLATE_HUNGRY, "cut");
    expect_broken(vd_slice(packed.p, 5), VD_INFLATE_HUNGRY, "cut");
    packed.p[packed.n - 1] ^= 1;
    expect_broken(vd_buf_slice(&packed), VD_INFLATE_BROKEN, "incorrect length check");
    packed.p[packed.n - 1] ^= 1;
    packed.p[packed.n - 5] ^= 1;
    expect_broken(vd_buf_slice(&packed), VD_INFLATE_BROKEN, "incorrect data check");
    packed.p[packed.n - 5] ^= 1;
    vd_buf_add_text(&packed, "x");
    expect_broken(vd_buf_slice(&packed), VD_INFLATE_BROKEN, "behind the end");
    vd_buf_release(&packed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_round_trip_at_any_pace),
        cmocka_unit_test(test_a_bomb_is_taken_piece_by_piece),
        cmocka_unit_test(test_damage_is_named),
    };
    return cmocka_run_group_tests_name("inflate", tests, NULL, NULL);
}
