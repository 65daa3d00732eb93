/*
 * CRC-32C (Castagnoli), the checksum of every stored row.
 *
 * The result is the standard one: "123456789" gives 0xE3069283. Start with 0
 * and feed the last result back to go on with more bytes:
 * vd_crc32c(vd_crc32c(0, a), b) is the checksum of a and b in a row.
 */
#ifndef VD_BASE_CRC32C_H
#define VD_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Uses the processor's instruction where it has one. Thread-safe. */
uint32_t vd_crc32c(uint32_t crc, const void *p, size_t n);

/* The same by tables alone, on any machine; public so that a test compares. */
uint32_t vd_crc32c_portable(uint32_t crc, const void *p, size_t n);

#endif
