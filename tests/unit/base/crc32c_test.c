/* src/base/crc32c.c: the standard's values, chaining, and both ways agreeing. */
#include "base/crc32c.h"

#include <string.h>

#include "check.h"

typedef uint32_t (*crc_function)(uint32_t crc, const void *p, size_t n);
static const crc_function both[] = {vd_crc32c, vd_crc32c_portable};

static void fill(unsigned char *p, size_t n)
{
    uint32_t x = 1;
    for (size_t i = 0; i < n; i++) {
        x = x * 1664525u + 1013904223u;
        p[i] = (unsigned char)(x >> 24);
    }
}

/* The test vectors of RFC 3720 (iSCSI), appendix B.4, and the usual check value. */
static void known_texts_have_their_published_checksums(void **state)
{
    (void)state;
    unsigned char zeros[32] = {0}, ones[32], up[32], down[32];
    memset(ones, 0xff, sizeof ones);
    for (unsigned char i = 0; i < 32; i++) {
        up[i] = i;
        down[i] = (unsigned char)(31 - i);
    }
    const struct {
        const void *p;
        size_t n;
        uint32_t crc;
    } cases[] = {
        {"", 0, 0},
        {"123456789", 9, 0xE3069283u},
        {zeros, 32, 0x8A9136AAu},
        {ones, 32, 0x62A8AB43u},
        {up, 32, 0x46DD794Eu},
        {down, 32, 0x113FDB5Cu},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t f = 0; f < 2; f++)
            assert_int_equal(both[f](0, cases[i].p, cases[i].n), cases[i].crc);
}

static void hardware_and_tables_agree_at_every_length_and_alignment(void **state)
{
    (void)state;
    unsigned char bytes[128];
    fill(bytes, sizeof bytes);
    for (size_t from = 0; from < 16; from++)
        for (size_t n = 0; n <= sizeof bytes - from; n++)
            assert_int_equal(vd_crc32c(7, bytes + from, n), vd_crc32c_portable(7, bytes + from, n));
}

static void pieces_chain_to_the_checksum_of_the_whole(void **state)
{
    (void)state;
    unsigned char bytes[100];
    fill(bytes, sizeof bytes);
    for (size_t f = 0; f < 2; f++) {
        uint32_t whole = both[f](0, bytes, sizeof bytes);
        for (size_t cut = 0; cut <= sizeof bytes; cut++)
            assert_int_equal(both[f](both[f](0, bytes, cut), bytes + cut, sizeof bytes - cut),
                             whole);
    }
}

static void one_flipped_bit_changes_the_checksum(void **state)
{
    (void)state;
    unsigned char bytes[64];
    fill(bytes, sizeof bytes);
    uint32_t whole = vd_crc32c(0, bytes, sizeof bytes);
    for (size_t bit = 0; bit < 8 * sizeof bytes; bit++) {
        bytes[bit / 8] = (unsigned char)(bytes[bit / 8] ^ (1u << bit % 8));
        assert_int_not_equal(vd_crc32c(0, bytes, sizeof bytes), whole);
        bytes[bit / 8] = (unsigned char)(bytes[bit / 8] ^ (1u << bit % 8));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_texts_have_their_published_checksums),
        cmocka_unit_test(hardware_and_tables_agree_at_every_length_and_alignment),
        cmocka_unit_test(pieces_chain_to_the_checksum_of_the_whole),
        cmocka_unit_test(one_flipped_bit_changes_the_checksum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
