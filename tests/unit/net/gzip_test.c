/* gzip: what comes out decodes to what went in, in any pieces, and when it must. */
#include "net/gzip.h"

#include <string.h>

#include "check.h"
#include "seed.h"

/* Decodes with zlib. True: the stream is complete, and nothing follows it. */
static bool decode(struct vd_slice packed, struct vd_buf *out)
{
    z_stream z = {0};
    int rc = inflateInit2(&z, 15 + 16);
    assert_int_equal(rc, Z_OK);
    z.next_in = (unsigned char *)(uintptr_t)packed.p;
    z.avail_in = (unsigned)packed.n;
    do {
        vd_buf_reserve(out, 65536);
        z.next_out = (unsigned char *)out->p + out->n;
        z.avail_out = 65536;
        rc = inflate(&z, Z_NO_FLUSH);
        out->n += 65536 - z.avail_out;
        assert_true(rc == Z_OK || rc == Z_STREAM_END || rc == Z_BUF_ERROR);
    } while (rc == Z_OK && (z.avail_in || z.avail_out == 0));
    bool whole = rc == Z_STREAM_END && z.avail_in == 0;
    inflateEnd(&z);
    return whole;
}

static void add_objects(struct vd_buf *out, int n)
{
    for (int i = 0; i < n; i++)
        vd_buf_addf(out,
                    "{\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"o-%d\",\"uid\":\"%08x\","
                    "\"resourceVersion\":\"%d\"},\"data\":{\"key\":\"value-%d\"}},",
                    i, (unsigned)i * 2654435761u, 1000 + i, i % 7);
}

static void add_noise(struct vd_buf *out, size_t n)
{
    struct seed_rng r = {7};
    for (size_t i = 0; i < n; i++)
        vd_buf_add_char(out, (char)(unsigned)seed_below(&r, 256));
}

static void assert_same(struct vd_slice packed, const struct vd_buf *want)
{
    struct vd_buf got = {0};
    assert_true(decode(packed, &got));
    assert_int_equal(got.n, want->n);
    if (want->n)
        assert_memory_equal(got.p, want->p, want->n);
    vd_buf_release(&got);
}

static void test_whole_bodies(void **state)
{
    struct vd_buf bodies[4] = {{0}};
    (void)state;
    vd_buf_add_text(&bodies[1], "x");
    add_objects(&bodies[2], 5000);
    add_noise(&bodies[3], 300000);
    for (size_t i = 0; i < 4; i++) {
        for (int level = 1; level <= 9; level++) {
            struct vd_buf packed = {0};
            vd_gzip_whole(vd_buf_slice(&bodies[i]), level, &packed);
            assert_same(vd_buf_slice(&packed), &bodies[i]);
            if (i == 2)
                assert_true(packed.n * 5 < bodies[i].n);
            assert_true(packed.n < bodies[i].n + bodies[i].n / 1000 + 64);
            vd_buf_release(&packed);
        }
        vd_buf_release(&bodies[i]);
    }
}

static void test_output_is_added_to_what_is_there(void **state)
{
    struct vd_buf out = {0}, want = {0};
    (void)state;
    vd_buf_add_text(&out, "head");
    vd_buf_add_text(&want, "body");
    vd_gzip_whole(vd_buf_slice(&want), 1, &out);
    assert_memory_equal(out.p, "head", 4);
    assert_same(vd_slice(out.p + 4, out.n - 4), &want);
    vd_buf_release(&out);
    vd_buf_release(&want);
}

static void test_pieces_of_any_size(void **state)
{
    struct seed_rng r = {3};
    struct vd_buf body = {0}, packed = {0};
    struct vd_gzip g;
    (void)state;
    add_objects(&body, 2000);
    add_noise(&body, 50000);
    vd_gzip_init(&g, 4);
    for (int round = 0; round < 20; round++) {
        vd_buf_reset(&packed);
        for (size_t at = 0; at < body.n;) {
            size_t part = (unsigned)seed_below(&r, 1 + (unsigned)seed_below(&r, 20000));
            part = part < body.n - at ? part : body.n - at;
            vd_gzip_add(&g, vd_slice(body.p + at, part), &packed);
            at += part;
            if (seed_once_in(&r, 10))
                vd_gzip_flush(&g, &packed);
        }
        vd_gzip_end(&g, &packed);
        assert_same(vd_buf_slice(&packed), &body);
        vd_gzip_reset(&g);
    }
    vd_gzip_release(&g);
    vd_buf_release(&body);
    vd_buf_release(&packed);
}

static void test_a_flush_makes_all_of_it_readable(void **state)
{
    struct vd_buf packed = {0}, want = {0};
    struct vd_gzip g;
    (void)state;
    vd_gzip_init(&g, 1);
    for (int i = 0; i < 50; i++) {
        size_t before = want.n;
        add_objects(&want, 1 + i);
        vd_gzip_add(&g, vd_slice(want.p + before, want.n - before), &packed);
        vd_gzip_flush(&g, &packed);
        vd_gzip_flush(&g, &packed); /* does no harm */
        struct vd_buf got = {0};
        assert_false(decode(vd_buf_slice(&packed), &got));
        assert_int_equal(got.n, want.n);
        assert_memory_equal(got.p, want.p, want.n);
        vd_buf_release(&got);
    }
    vd_gzip_release(&g); /* before its end */
    vd_buf_release(&packed);
    vd_buf_release(&want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_bodies),
        cmocka_unit_test(test_output_is_added_to_what_is_there),
        cmocka_unit_test(test_pieces_of_any_size),
        cmocka_unit_test(test_a_flush_makes_all_of_it_readable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
