/* Reading on in the log from a revision: what a cursor does. */
#ifndef VD_STORE_LOG_READ_H
#define VD_STORE_LOG_READ_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "store/event.h"

struct vd_store;

/* A stretch of the log, as a cursor reads it. `= {0}` is empty. */
struct vd_stretch {
    VD_VEC(struct vd_change) changes;
    uint64_t upto; /* everything up to here was passed */
    bool whole;    /* `upto` is not inside an atomic batch */
};

void vd_stretch_reset(struct vd_stretch *stretch); /* drops the references, keeps the memory */
void vd_stretch_release(struct vd_stretch *stretch);

/*
 * Reads on from `after`: up to `max` events of a resource (empty: of all), each with the version
 * that it replaced, into *stretch, which is reset first. Passes a bounded piece of the log, which
 * ends with the event whose body fills VD_READ_STEP_BYTES; there may be more when stretch->upto is
 * less than the newest revision. VD_ERR_EXPIRED at or below the floor. A future `after` reads
 * nothing and stays where it is.
 *
 * VD_ERR_CORRUPT when the next event's bytes are damaged: no cursor can pass it. The version that
 * an event replaced or deleted may be damaged: `before` is then marked so and has no body, nor has
 * the deletion.
 */
int vd_store_read(struct vd_store *store, struct vd_slice resource, uint64_t after, size_t max,
                  struct vd_stretch *stretch, struct vd_error *error) VD_MUST_USE;

/* vd_store_read(), but not beyond `upto`, which must be where an atomic batch ends:
 * a revision that was the newest once. */
int vd_store_read_upto(struct vd_store *store, struct vd_slice resource, uint64_t after,
                       uint64_t upto, size_t max, struct vd_stretch *stretch,
                       struct vd_error *error) VD_MUST_USE;

#endif
