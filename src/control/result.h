/*
 * The result of a run: what a reconciler says when it has looked at an object.
 *
 * Beside its outcome it may carry what is to be written: a status, conditions, Events. These are
 * written before the run counts as finished; if they cannot be, the run has failed.
 */
#ifndef VD_CONTROL_RESULT_H
#define VD_CONTROL_RESULT_H

#include <stdint.h>

#include "base/slice.h"
#include "json/document.h"

enum vd_result_outcome {
    VD_RESULT_SUCCESS,
    VD_RESULT_REQUEUE,     /* it succeeded, and is to run again after `after_ms` */
    VD_RESULT_RETRY,       /* it failed, and is to be tried again after a pause */
    VD_RESULT_TERMINAL,    /* it failed, and trying again is of no use: the item is parked */
    VD_RESULT_INTERRUPTED, /* it came to no result for a reason that is not its own: it runs again,
                              and that is not an attempt */
    VD_RESULT_OUTCOMES
};

/* All is borrowed for the call that it is given to. */
struct vd_result {
    enum vd_result_outcome outcome;
    uint64_t after_ms; /* of REQUEUE; of RETRY: the pause that the reconciler asks for, 0: none */
    struct vd_slice message;          /* of RETRY and TERMINAL: why, for people */
    const struct vd_json *status;     /* members of the status to be; NULL: it stays */
    const struct vd_json *conditions; /* a list, merged by type; NULL: they stay */
    const struct vd_json *events;     /* a list of {type, reason, message}; NULL: none */
};

#endif
