/* What a fuzz target defines: libFuzzer calls it, and so does replay.c. */
#ifndef VD_TESTS_FUZZ_H
#define VD_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/slice.h"

/* Runs the code under test on one input. Returns 0, and ends the process when a promise is broken.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A promise of the code under test. Unlike assert it says nothing about the target's own bugs. */
#define FUZZ_CHECK(condition)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #condition);                \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* Many inputs are two texts with a zero byte between them. False: there is none, and all of it is
 * the first; the second is left as it is. */
static inline bool fuzz_split(const uint8_t *data, size_t size, struct vd_slice *first,
                              struct vd_slice *second)
{
    struct vd_slice rest = size ? vd_slice(data, size) : VD_SLICE("");
    bool two = vd_slice_cut(&rest, 0, first) && rest.p;
    if (two)
        *second = rest;
    return two;
}

#endif
