/*
 * Are two documents the same thing?
 *
 * Objects are sets of members: their order does not matter. Arrays are
 * sequences. Numbers are compared by value, exactly (number.h); strings by
 * their bytes, without Unicode normalisation.
 */
#ifndef VD_JSON_COMPARE_H
#define VD_JSON_COMPARE_H

#include <stdbool.h>
#include <stdint.h>

#include "json/document.h"

/* NULL is equal to NULL only. */
bool vd_json_eq(const struct vd_json *a, const struct vd_json *b);

/* A hash that equal documents share, in every run and on every machine, so that it
 * may be stored. It has no secret: whoever chooses documents can choose collisions. */
uint64_t vd_json_hash(const struct vd_json *v);

#endif
