/*
 * Finding the next interesting byte of a JSON text, 16 bytes at a time.
 *
 * SSE2 is part of every x86-64, so it is used without asking the CPU; other
 * machines take the byte loops. No function reads at or past `end`.
 */
#ifndef VD_JSON_SCAN_H
#define VD_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"

#ifdef __SSE2__
#include <emmintrin.h>

static inline __m128i vd_scan_load(const char *at)
{
    return _mm_loadu_si128((const __m128i *)(const void *)at);
}

static inline __m128i vd_scan_eq(__m128i bytes, char c)
{
    return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c));
}

static inline unsigned vd_scan_bits(__m128i matches)
{
    return (unsigned)_mm_movemask_epi8(matches);
}
#endif

/* A byte at which the plain part of a string stops: the closing quote, a
 * backslash, a control character, or the start of a non-ASCII character. */
static inline bool vd_scan_is_special(char c)
{
    unsigned char u = (unsigned char)c;
    return u < 0x20 || u >= 0x80 || c == '"' || c == '\\';
}

/* The first special byte from `at` on, or `end`. */
static inline const char *vd_scan_string(const char *at, const char *end)
{
#ifdef __SSE2__
    for (; VD_LIKELY(end - at >= 16); at += 16) {
        __m128i x = vd_scan_load(at);
        /* Compared as signed bytes, 0x80 and up are below 0x20 as well. */
        __m128i low = _mm_cmplt_epi8(x, _mm_set1_epi8(0x20));
        __m128i mark = _mm_or_si128(vd_scan_eq(x, '"'), vd_scan_eq(x, '\\'));
        unsigned bits = vd_scan_bits(_mm_or_si128(low, mark));
        if (bits)
            return at + __builtin_ctz(bits);
    }
#endif
    while (at < end && !vd_scan_is_special(*at))
        at++;
    return at;
}

static inline bool vd_scan_is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* The first byte from `at` on that is no blank, or `end`: for runs of blanks. */
static inline const char *vd_scan_blank_run(const char *at, const char *end)
{
#ifdef __SSE2__
    for (; end - at >= 16; at += 16) {
        __m128i x = vd_scan_load(at);
        __m128i line = _mm_or_si128(vd_scan_eq(x, '\n'), vd_scan_eq(x, '\r'));
        __m128i gap = _mm_or_si128(vd_scan_eq(x, ' '), vd_scan_eq(x, '\t'));
        unsigned bits = vd_scan_bits(_mm_or_si128(line, gap)) ^ 0xffffu;
        if (bits)
            return at + __builtin_ctz(bits);
    }
#endif
    while (at < end && vd_scan_is_blank(*at))
        at++;
    return at;
}

/* The same, made for texts in which most places have no blank, or one. */
static inline const char *vd_scan_blank(const char *at, const char *end)
{
    if (VD_LIKELY(at < end && (unsigned char)*at > ' '))
        return at;
    if (end - at >= 2 && *at == ' ' && (unsigned char)at[1] > ' ')
        return at + 1;
    return vd_scan_blank_run(at, end);
}

#endif
