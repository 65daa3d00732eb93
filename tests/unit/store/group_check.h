/*
 * What tests of proposals that share a commit use.
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
#include "check.h"
#include "fixture.h"
#include "store/store.h"

struct setting {
    char *folder; /* NULL: the memory engine */
    struct vd_store *store;
};

static inline int setup_memory(void **state)
{
    struct setting *t = calloc(1, sizeof *t);
    struct vd_error error;
    struct vd_store_options options = {.folder = t->folder};
    assert_ok(vd_store_open(&t->store, &options, &error), &error);
    *state = t;
    return 0;
}

static inline int setup_sqlite(void **state)
{
    struct setting *t = calloc(1, sizeof *t);
    struct vd_error error;
    t->folder = temp_folder_new();
    struct vd_store_options options = {.folder = t->folder};
    assert_ok(vd_store_open(&t->store, &options, &error), &error);
    *state = t;
    return 0;
}

static inline int teardown(void **state)
{
    struct setting *t = *state;
    vd_store_close(t->store);
    if (t->folder)
        temp_folder_remove(t->folder);
    free(t);
    return 0;
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
    vd_store_propose(store, &g->probe->proposal);
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
        vd_store_propose(t->store, &probes[i]->proposal);
    gate_open(&gate);
    for (size_t i = 0; i < n; i++)
        probe_wait(probes[i]);
    put(t->store, "things", "other", "flush", "x"); /* the gate's callback has returned */
    test_delete(t->store, "things", "other", "flush", NULL);
    gate_release(&gate);
}

static inline const char *value_now(struct setting *t, const char *name, char room[64])
{
    struct vd_event *event;
    struct vd_error error;
    struct vd_key key = test_key("things", "ns", name);
    int code = vd_store_get(t->store, &key, 0, &event, &error);
    if (code)
        return vd_code_name(code);
    body_value(event->body, room);
    vd_event_unref(event);
    return room;
}

#define assert_now(t, name, want)                                                                  \
    do {                                                                                           \
        char room_[64];                                                                            \
        assert_string_equal(value_now((t), (name), room_), (want));                                \
    } while (0)

/* A test on the memory engine and on SQLite. */
#define ON_BOTH(test)                                                                              \
    {#test " (memory)", test, setup_memory, teardown, NULL},                                       \
    {                                                                                              \
#test " (sqlite)", test, setup_sqlite, teardown, NULL                                      \
    }

#endif
