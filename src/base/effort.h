/*
 * How much work a check may do before it gives up.
 *
 * A unit is one instruction of a pattern's program at one byte of text: about 10 ns when a match
 * goes badly, far less as a rule. `= {0}` may do a good deal. A check on an event loop is
 * `in_turn`: it may do little, and compile nothing; when that does not do, it is `over`, what it
 * has found is worth nothing, and somebody who has the time does all of it again.
 */
#ifndef VD_BASE_EFFORT_H
#define VD_BASE_EFFORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"

enum {
    VD_EFFORT_COMPILE = 64, /* units for compiling a pattern's instruction or a rule's byte */
    VD_EFFORT_CEL = 4,      /* units for one unit of CEL's own cost */
};

struct vd_effort {
    uint64_t spent;
    uint64_t pattern_size; /* instructions of the patterns of a definition that is checked */
    uint64_t rules;        /* and its rules */
    uint64_t filled;       /* bytes that defaults have added to an object */
    bool in_turn;
    bool over; /* more was needed than allowed */
};

/* False: that is too much, and so is all that comes behind it. */
static inline bool vd_effort_spend(struct vd_effort *e, uint64_t units)
{
    uint64_t max = e->in_turn ? VD_CHECK_TURN_WORK_MAX : VD_CHECK_WORK_MAX;
    if (e->over || e->spent > max || units > max - e->spent)
        e->over = true;
    else
        e->spent += units;
    return !e->over;
}

/* Before defaults add so many bytes to an object. */
static inline bool vd_effort_fill(struct vd_effort *e, uint64_t bytes)
{
    uint64_t max = e->in_turn ? VD_DEFAULTS_TURN_LEN_MAX : VD_DEFAULTS_LEN_MAX;
    if (e->over || e->filled > max || bytes > max - e->filled)
        e->over = true;
    else
        e->filled += bytes;
    return !e->over;
}

/* Before something is compiled, however small it is: that shows only afterwards. */
static inline bool vd_effort_may_compile(struct vd_effort *e)
{
    e->over = e->over || e->in_turn;
    return !e->over;
}

/* Before a pattern meets a text. */
static inline bool vd_effort_match(struct vd_effort *e, size_t pattern_size, size_t text_len)
{
    return vd_effort_spend(e, (uint64_t)pattern_size * (text_len + 1));
}

#endif
