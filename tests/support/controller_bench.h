/* What tests of controllers share. */
#ifndef VD_TESTS_CONTROLLER_BENCH_H
#define VD_TESTS_CONTROLLER_BENCH_H

#include "api/controller.h"
#include "base/alloc.h"
#include "loop_bench.h"

/* What a controller on the bench's loop works on. */
#define bench_env(b)                                                                               \
    (&(struct vd_controller_env){                                                                  \
        .store = (b)->store, .kinds = (b)->kinds, .clock = vd_clock_system(), .loop = &(b)->loop})

/* A controller on the bench's loop that is started when its parts have been added. */
static inline struct vd_controller *controller_new(struct bench *b, const char *name)
{
    struct vd_controller *controller = VD_NEW(struct vd_controller);
    vd_controller_init(controller, bench_env(b), &(struct vd_controller_options){.name = name});
    return controller;
}

#endif
