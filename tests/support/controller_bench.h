/* What tests of controllers share. */
#ifndef VD_TESTS_CONTROLLER_BENCH_H
#define VD_TESTS_CONTROLLER_BENCH_H

#include "api/controller.h"
#include "loop_bench.h"

/* What a controller on the bench's loop works on. */
#define bench_env(b)                                                                               \
    (&(struct vd_controller_env){                                                                  \
        .store = (b)->store, .kinds = (b)->kinds, .clock = vd_clock_system(), .loop = &(b)->loop})

#endif
