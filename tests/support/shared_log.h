/*
 * Stores over one memory log, for tests of several processes over one database. Each store has an
 * engine of its own, revisions have gaps, and nothing is committed on a proposer's thread.
 */
#ifndef VD_TESTS_SHARED_LOG_H
#define VD_TESTS_SHARED_LOG_H

#include <unistd.h>

#include "check.h"
#include "store/commit.h"
#include "store/memory_engine.h"
#include "store/store.h"

enum { SHARED_STRIDE = 7 };

static inline struct vd_store *shared_store_open_with(const struct vd_memory_options *how,
                                                      const struct vd_store_options *options)
{
    struct vd_engine *engine = NULL;
    struct vd_engine_state state;
    struct vd_store *store = NULL;
    struct vd_error error;
    assert_ok(vd_memory_engine_open(&engine, how, &state, &error), &error);
    assert_ok(vd_store_open(&store, engine, options, &error), &error);
    return store;
}

/* Opens a store on the log. */
static inline struct vd_store *shared_store_open(struct vd_memory_log *log,
                                                 const struct vd_store_options *options)
{
    return shared_store_open_with(&(struct vd_memory_options){.log = log, .thread_only = true},
                                  options);
}

static inline void nothing_committed(struct vd_subscriber *subscriber, struct vd_commit *commit)
{
    (void)subscriber;
    (void)commit;
}

/* Waits until a store has taken in everything up to a revision and a floor, and has told its
 * subscribers. */
static inline void shared_store_await(struct vd_store *store, uint64_t revision, uint64_t floor)
{
    for (int i = 0; vd_store_revision(store) < revision || vd_store_floor(store) < floor; i++) {
        assert_true(i < 100000); /* 10 s */
        usleep(100);
    }
    struct vd_subscriber barrier = {.committed = nothing_committed};
    vd_store_subscribe(store, &barrier);
    vd_store_unsubscribe(store, &barrier);
}

#endif
