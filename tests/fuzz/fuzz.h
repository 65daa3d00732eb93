/* What a fuzz target defines: libFuzzer calls it, and so does replay.c. */
#ifndef VD_TESTS_FUZZ_H
#define VD_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

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

#endif
