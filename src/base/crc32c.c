/*
 * CRC-32C, eight bytes at a time.
 *
 * x86-64 with SSE 4.2 and aarch64 with the crc extension have an instruction
 * for exactly this polynomial. Both take three cycles for eight bytes, which
 * is faster than the rows arrive; interleaving several streams to hide that
 * latency is not worth its tables. Other machines use eight tables of 256
 * entries ("slicing by 8"): entry t[k][b] is the effect of byte b followed by
 * k zero bytes.
 */
#include "base/crc32c.h"

#include <pthread.h>
#include <string.h>

enum { SLICES = 8 }; /* bytes, and tables, of one step */
#define POLYNOMIAL_REVERSED 0x82F63B78u

static uint32_t tables[SLICES][256];
static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

static void tables_fill(void)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ (crc & 1 ? POLYNOMIAL_REVERSED : 0);
        tables[0][byte] = crc;
    }
    for (uint32_t byte = 0; byte < 256; byte++)
        for (int k = 1; k < SLICES; k++)
            tables[k][byte] = (tables[k - 1][byte] >> 8) ^ tables[0][tables[k - 1][byte] & 0xff];
}

static uint64_t load_u64_le(const unsigned char *p)
{
    uint64_t value;
    memcpy(&value, p, sizeof value);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value = __builtin_bswap64(value);
#endif
    return value;
}

uint32_t vd_crc32c_portable(uint32_t crc, const void *p, size_t n)
{
    pthread_once(&tables_once, tables_fill);
    const unsigned char *at = p;
    crc = ~crc;
    for (; n >= 8; at += 8, n -= 8) {
        uint64_t word = load_u64_le(at) ^ crc;
        crc = 0;
        for (int k = 0; k < SLICES; k++)
            crc ^= tables[SLICES - 1 - k][(word >> (8 * k)) & 0xff];
    }
    for (; n; at++, n--)
        crc = (crc >> 8) ^ tables[0][(crc ^ *at) & 0xff];
    return ~crc;
}

#if defined(__x86_64__)

__attribute__((target("sse4.2"))) static uint32_t crc32c_sse42(uint32_t crc,
                                                               const unsigned char *at, size_t n)
{
    uint64_t wide = ~crc;
    for (; n >= 8; at += 8, n -= 8)
        wide = __builtin_ia32_crc32di(wide, load_u64_le(at));
    crc = (uint32_t)wide;
    for (; n; at++, n--)
        crc = __builtin_ia32_crc32qi(crc, *at);
    return ~crc;
}

uint32_t vd_crc32c(uint32_t crc, const void *p, size_t n)
{
    if (__builtin_cpu_supports("sse4.2"))
        return crc32c_sse42(crc, p, n);
    return vd_crc32c_portable(crc, p, n);
}

#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32)

#include <arm_acle.h>

uint32_t vd_crc32c(uint32_t crc, const void *p, size_t n)
{
    const unsigned char *at = p;
    crc = ~crc;
    for (; n >= 8; at += 8, n -= 8)
        crc = __crc32cd(crc, load_u64_le(at));
    for (; n; at++, n--)
        crc = __crc32cb(crc, *at);
    return ~crc;
}

#else

uint32_t vd_crc32c(uint32_t crc, const void *p, size_t n)
{
    return vd_crc32c_portable(crc, p, n);
}

#endif
