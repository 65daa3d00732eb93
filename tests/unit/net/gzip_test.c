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

/* A stream of one part. */
static void add_whole(struct vd_slice data, int level, struct vd_buf *out)
{
    struct vd_gzip g;
    vd_gzip_init(&g, level);
    vd_gzip_add(&g, &(struct vd_gzip_stream){0}, data, true, out);
    vd_gzip_release(&g);
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
            add_whole(vd_buf_slice(&bodies[i]), level, &packed);
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
    add_whole(vd_buf_slice(&want), 1, &out);
    assert_memory_equal(out.p, "head", 4);
    assert_same(vd_slice(out.p + 4, out.n - 4), &want);
    vd_buf_release(&out);
    vd_buf_release(&want);
}

/* One compressor, several streams in turns, parts of any size. */
static void test_streams_share_a_compressor(void **state)
{
    enum { STREAMS = 5 };
    struct seed_rng r = {3};
    struct vd_buf body = {0}, packed[STREAMS] = {{0}};
    struct vd_gzip g;
    (void)state;
    add_objects(&body, 2000);
    add_noise(&body, 50000);
    vd_gzip_init(&g, 4);
    for (int round = 0; round < 10; round++) {
        struct vd_gzip_stream streams[STREAMS] = {{0}};
        size_t at[STREAMS] = {0}, open = STREAMS;
        bool ended[STREAMS] = {false};
        for (size_t i = 0; i < STREAMS; i++)
            vd_buf_reset(&packed[i]);
        while (open) {
            size_t i = (size_t)seed_below(&r, STREAMS);
            if (ended[i])
                continue;
            size_t part = (size_t)seed_below(&r, 1 + seed_below(&r, 60000));
            part = part < body.n - at[i] ? part : body.n - at[i];
            size_t before = packed[i].n;
            ended[i] = at[i] + part == body.n;
            vd_gzip_add(&g, &streams[i], vd_slice(body.p + at[i], part), ended[i], &packed[i]);
            assert_true(packed[i].n > before);
            at[i] += part;
            open -= ended[i];
        }
        for (size_t i = 0; i < STREAMS; i++)
            assert_same(vd_buf_slice(&packed[i]), &body);
    }
    vd_gzip_release(&g);
    vd_buf_release(&body);
    for (size_t i = 0; i < STREAMS; i++)
        vd_buf_release(&packed[i]);
}

static void test_what_was_added_can_be_read(void **state)
{
    struct vd_buf packed = {0}, want = {0};
    struct vd_gzip_stream s = {0};
    struct vd_gzip g;
    (void)state;
    vd_gzip_init(&g, 1);
    for (int i = 0; i < 50; i++) {
        size_t before = want.n;
        add_objects(&want, i);
        vd_gzip_add(&g, &s, vd_slice(want.p + before, want.n - before), false, &packed);
        struct vd_buf got = {0};
        assert_false(decode(vd_buf_slice(&packed), &got));
        assert_int_equal(got.n, want.n);
        if (want.n)
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
        cmocka_unit_test(test_streams_share_a_compressor),
        cmocka_unit_test(test_what_was_added_can_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
