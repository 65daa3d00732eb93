/*
 * A loop's part of the verbs. Every face on a loop shares it: the registry of the loop's watchers
 * and their streams, the queues in which its users take turns, and the proposals of the turn.
 *
 * What the requests of a turn want to write goes to the store's writer together, so that it shares
 * a sync; then the watchers are given what was written.
 *
 * All functions are called on the loop's thread.
 */
#ifndef VD_API_LOOP_H
#define VD_API_LOOP_H

#include "api/env.h"
#include "api/loop_proposal.h"
#include "api/stream_meter.h"
#include "api/streams.h"
#include "base/buf.h"
#include "base/heap.h"
#include "net/account.h"
#include "net/loop.h"
#include "net/turn_queue.h"
#include "net/worker_pool.h"
#include "store/proposal.h"
#include "watch/registry.h"

struct vd_api_loop {
    const struct vd_api_env *env;
    struct vd_loop *loop;
    struct vd_registry *registry;
    struct vd_turn_queue turn_queue;   /* users take turns */
    struct vd_turn_flow turn_flow;     /* of those without an account */
    struct vd_worker_pool worker_pool; /* and share the workers */
    struct vd_worker_flow worker_flow; /* of those without an account */
    struct vd_api_streams streams;
    struct vd_stream_meter stream_meter;
    /* Private: */
    struct vd_turn_hook hook;
    struct vd_turn_hook after;         /* tells the meter what has left */
    struct vd_buf frame;               /* where streams make the text of their frames */
    struct vd_admitted_list proposals; /* of this turn, for its end */
    size_t in_flight;                  /* proposals that have no answer yet */
    bool alone;                        /* whoever has proposed last is the loop's only client */
    size_t handovers;                  /* before the loop may commit a lone write itself again */
    uint64_t lone_sync_ns;             /* what those take */
    struct vd_timer hold;              /* looks at held events again */
    struct vd_heap revision_waits;     /* see revision_wait.h */
};

/* On the loop, or before it starts. The hook that this adds must come before the one that flushes
 * connections, so that a turn's events leave with it. */
void vd_api_loop_init(struct vd_api_loop *l, const struct vd_api_env *env, struct vd_loop *loop);

/* After the hook that flushes connections was added. */
void vd_api_loop_follow(struct vd_api_loop *l);

/* When the loop has stopped and nobody watches on it any more. */
void vd_api_loop_release(struct vd_api_loop *l);

/* Where the account's work waits for its turn on the loop, and for a worker; NULL: nobody's. */
static inline struct vd_turn_flow *vd_api_loop_turn_flow(struct vd_api_loop *l,
                                                         struct vd_account *account)
{
    return account ? vd_account_turn_flow(account, l->loop->index) : &l->turn_flow;
}

static inline struct vd_worker_flow *vd_api_loop_worker_flow(struct vd_api_loop *l,
                                                             struct vd_account *account)
{
    return account ? vd_account_worker_flow(account, l->loop->index) : &l->worker_flow;
}

/* Has the loop's turn propose this when it ends, together with the others'. `admitted` is its
 * proposal, as the admission gave it back. `alone`: the loop has no other client than the one that
 * this is for, so that it may wait for the disk itself. */
void vd_api_loop_propose(struct vd_api_loop *l, struct vd_loop_proposal *p,
                         struct vd_admitted *admitted, bool alone);

#endif
