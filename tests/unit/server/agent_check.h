/* What tests of the server's agents share. */
#ifndef VD_TESTS_AGENT_CHECK_H
#define VD_TESTS_AGENT_CHECK_H

#include "loop_bench.h"
#include "server/agent.h"

/* The options of an agent on the bench's loop. */
#define bench_options(b)                                                                           \
    (&(struct vd_agent_options){                                                                   \
        .store = (b)->store, .kinds = (b)->kinds, .clock = vd_clock_system(), .loop = &(b)->loop})

#endif
