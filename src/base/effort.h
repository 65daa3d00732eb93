/*
 * How much work a check may do before it gives up.
 *
 * A unit of work is one instruction of a pattern's program at one byte of text. It takes about
 * 10 ns in the worst case and far less in most. A check with `= {0}` may take
 * VD_CHECK_WORK_MAX units. A check with `on_loop` runs on an event loop: it may take
 * VD_CHECK_TURN_WORK_MAX units and compile nothing. A check that needs more is `over`: its caller
 * throws away what the check has found, and a loop gives the whole check to a worker.
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
    bool on_loop;
    bool over; /* more was needed than allowed */
};

/* Takes units. False: that was too much, and so is everything that is asked for afterwards. */
static inline bool vd_effort_spend(struct vd_effort *e, uint64_t units)
{
    uint64_t max = e->on_loop ? VD_CHECK_TURN_WORK_MAX : VD_CHECK_WORK_MAX;
    if (e->over || e->spent > max || units > max - e->spent)
        e->over = true;
    else
        e->spent += units;
    return !e->over;
}

/* To be asked before defaults add so many bytes to an object. */
static inline bool vd_effort_fill(struct vd_effort *e, uint64_t bytes)
{
    uint64_t max = e->on_loop ? VD_DEFAULTS_TURN_LEN_MAX : VD_DEFAULTS_LEN_MAX;
    if (e->over || e->filled > max || bytes > max - e->filled)
        e->over = true;
    else
        e->filled += bytes;
    return !e->over;
}

/* To be asked before anything is compiled: only afterwards one knows how large it was. */
static inline bool vd_effort_may_compile(struct vd_effort *e)
{
    e->over = e->over || e->on_loop;
    return !e->over;
}

/* To be asked before a pattern is matched against a text. */
static inline bool vd_effort_match(struct vd_effort *e, size_t pattern_size, size_t text_len)
{
    return vd_effort_spend(e, (uint64_t)pattern_size * (text_len + 1));
}

#endif
