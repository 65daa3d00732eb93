/*
 * JSON numbers as texts: what they are worth, exactly.
 *
 * A number may have any number of digits. Nothing here rounds, but for
 * vd_number_to_double. All functions are pure.
 */
#ifndef VD_JSON_NUMBER_H
#define VD_JSON_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/slice.h"

/* How the text would be held: as encoding/json of Go decides for Kubernetes. */
enum vd_number_class {
    VD_NUMBER_I64,    /* no fraction, no exponent, fits int64 */
    VD_NUMBER_U64,    /* the same, fits only uint64 */
    VD_NUMBER_DOUBLE, /* anything else */
};

/* Is the whole text a number by RFC 8259? No blanks, no "+", no "01", no "1.". */
bool vd_number_is_valid(struct vd_slice text);

/* The functions below take a text for which vd_number_is_valid is true. */

enum vd_number_class vd_number_classify(struct vd_slice text);

/* True if the value is exactly an int64 (uint64), however it is written. */
bool vd_number_to_i64(struct vd_slice text, int64_t *out) VD_MUST_USE;
bool vd_number_to_u64(struct vd_slice text, uint64_t *out) VD_MUST_USE;

/* The nearest double; false if the value is beyond the range of doubles. */
bool vd_number_to_double(struct vd_slice text, double *out) VD_MUST_USE;

enum { VD_NUMBER_TEXT_MAX = 32 }; /* bytes of any double as text */

/* Writes the shortest text that reads back as the finite `value`; gives the
 * number of bytes. */
size_t vd_number_format(double value, char out[VD_NUMBER_TEXT_MAX]);

/*
 * Equality by value: 1, 1.0 and 10e-1 are equal, -0 equals 0, and 2^64 + 1 is
 * not 2^64. Exponents beyond 10^15 in size are not evaluated: such numbers are
 * equal only when written alike (unless they are zero).
 */
bool vd_number_eq(struct vd_slice a, struct vd_slice b);

/* A hash that equal numbers share, in every run and on every machine. */
uint64_t vd_number_hash(struct vd_slice text);

#endif
