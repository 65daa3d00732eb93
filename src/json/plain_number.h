/*
 * Numbers as clients expect them to be written.
 *
 * A Go program reads 15 into an int32, and neither 15.0 nor 15e0; it reads 1e999 into nothing
 * at all, and then gives up on the whole list that the number stands in. Kubernetes writes
 * numbers anew when it stores them; here they stay texts, so they are made plain on the way in.
 */
#ifndef VD_JSON_PLAIN_NUMBER_H
#define VD_JSON_PLAIN_NUMBER_H

#include "base/arena.h"
#include "base/error.h"
#include "json/document.h"

/* Whole numbers that an int64 can hold are written as such, wherever they stand in `v` (NULL
 * allowed). VD_ERR_INVALID: one is beyond the range of doubles. */
int vd_json_plain_numbers(struct vd_arena *a, struct vd_json *v,
                          struct vd_error *error) VD_MUST_USE;

#endif
