/*
 * What tests of proposals that share a group use.
 *
 * A gate holds the writer in the callback of a first proposal, so that what is
 * proposed meanwhile queues up and becomes one group.
 */
#ifndef VD_TESTS_GROUP_CHECK_H
#define VD_TESTS_GROUP_CHECK_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "setting.h"

static inline int setup_memory(void **state)
{
    return setting_new(state, false, 0, (struct vd_store_options){0});
}

static inline int setup_sqlite(void **state)
{
    return setting_new(state, true, 0, (struct vd_store_options){0});
}

/* ---- probes: proposals that note their answer ---- */

enum { WISHES_MAX = 8 };

struct probe {
    struct vd_proposal proposal;
    struct vd_wish wishes[WISHES_MAX];
    struct vd_buf bodies[WISHES_MAX];
    struct vd_outcome outcome;
    _Atomic int calls;
    sem_t answered;
};

static inline void probe_done(struct vd_proposal *proposal, const struct vd_outcome *outcome)
{
    struct probe *p = proposal->arg;
    p->outcome = *outcome;
    atomic_fetch_add(&p->calls, 1);
    sem_post(&p->answered);
}

static inline struct probe *probe_new(void)
{
    struct probe *p = VD_NEW(struct probe);
    p->proposal = (struct vd_proposal){.wishes = p->wishes, .done = probe_done, .arg = p};
    sem_init(&p->answered, 0, 0);
    return p;
}

static inline void probe_free(struct probe *p)
{
    for (size_t i = 0; i < WISHES_MAX; i++)
        vd_buf_release(&p->bodies[i]);
    sem_destroy(&p->answered);
    free(p);
}

/* One more wish; value NULL is a deletion. */
static inline struct vd_wish *probe_wish(struct probe *p, const char *name, enum vd_when when,
                                         const char *value)
{
    size_t i = p->proposal.n++;
    p->wishes[i] = (struct vd_wish){
        .action = value ? VD_PUT : VD_DELETE,
        .when = when,
        .key = test_key("things", "ns", name),
        .body = value ? test_body(&p->bodies[i], name, NULL, value)
                      : (struct vd_template){.hole = 0},
    };
    return &p->wishes[i];
}

static inline void probe_wait(struct probe *p)
{
    sem_wait(&p->answered);
    assert_int_equal(atomic_load(&p->calls), 1);
}

/* ---- the gate ---- */

struct gate {
    struct probe *probe;
    sem_t entered, open;
};

static inline void gate_done(struct vd_proposal *proposal, const struct vd_outcome *outcome)
{
    struct gate *g = proposal->arg;
    (void)outcome;
    sem_post(&g->entered);
    sem_wait(&g->open);
}

/* Returns with the writer held inside the gate. */
static inline void gate_shut(struct gate *g, struct vd_store *store)
{
    g->probe = probe_new();
    sem_init(&g->entered, 0, 0);
    sem_init(&g->open, 0, 0);
    g->probe->proposal.done = gate_done;
    g->probe->proposal.arg = g;
    probe_wish(g->probe, "gate", VD_WHEN_PRESENT, NULL); /* refused: makes no event */
    vd_store_propose(store, vd_admitted_of(&g->probe->proposal));
    sem_wait(&g->entered);
}

static inline void gate_open(struct gate *g)
{
    sem_post(&g->open);
}

static inline void gate_release(struct gate *g)
{
    probe_free(g->probe);
    sem_destroy(&g->entered);
    sem_destroy(&g->open);
}

/* Proposes all while the writer is held, lets it go, and waits for all. */
static inline void run_as_one_group(struct setting *t, struct probe **probes, size_t n)
{
    struct gate gate;
    gate_shut(&gate, t->store);
    for (size_t i = 0; i < n; i++)
        vd_store_propose(t->store, vd_admitted_of(&probes[i]->proposal));
    gate_open(&gate);
    for (size_t i = 0; i < n; i++)
        probe_wait(probes[i]);
    /* When this is answered, the gate's callback has returned. */
    put(t->store, "things", "other", "flush", "x");
    test_delete(t->store, "things", "other", "flush", NULL);
    gate_release(&gate);
}

#define assert_now(t, name, want)                                                                  \
    do {                                                                                           \
        char room_[64];                                                                            \
        assert_string_equal(value_at((t), (name), 0, room_), (want));                              \
    } while (0)

#endif
