/* src/store/writer.c: who the writer is: its thread, or the proposer of a lone proposal. */
#include "group_check.h"

struct witness {
    struct probe *probe;
    pthread_t thread; /* the thread that called `done` */
};

static void note_thread(struct vd_proposal *proposal, const struct vd_outcome *outcome)
{
    struct witness *w = proposal->arg;
    w->thread = pthread_self();
    proposal->arg = w->probe;
    probe_done(proposal, outcome);
}

static uint64_t groups_here(struct setting *t)
{
    struct vd_store_stats stats;
    vd_store_stats(t->store, &stats);
    return stats.groups_here;
}

/* Waits until the writer's thread waits for work, which it does some time after its last answer. */
static void wait_for_rest(struct setting *t)
{
    unsigned n = 0;
    for (uint64_t before = groups_here(t); groups_here(t) == before;) {
        struct probe *p = probe_new();
        char value[16];
        snprintf(value, sizeof value, "%u", n++);
        probe_wish(p, "rest", VD_WHEN_ANY, value);
        vd_store_propose_here(t->store, vd_admitted_of(&p->proposal));
        probe_wait(p);
        probe_free(p);
    }
}

static void a_proposer_commits_when_nobody_writes(void **state)
{
    struct setting *t = *state;
    struct witness w = {.probe = probe_new()};
    wait_for_rest(t);
    uint64_t before = groups_here(t);
    probe_wish(w.probe, "x", VD_WHEN_ANY, "a");
    w.probe->proposal.done = note_thread;
    w.probe->proposal.arg = &w;
    assert_true(vd_store_propose_here(t->store, vd_admitted_of(&w.probe->proposal)));
    /* The answer came before the function returned. */
    assert_int_equal(atomic_load(&w.probe->calls), 1);
    assert_true(pthread_equal(w.thread, pthread_self()));
    assert_int_equal(w.probe->outcome.code, VD_OK);
    assert_true(w.probe->outcome.changed);
    assert_int_equal(w.probe->outcome.revision, vd_store_revision(t->store));
    assert_int_equal(groups_here(t), before + 1);
    assert_now(t, "x", "a");
    probe_free(w.probe);
}

static void a_busy_writer_is_handed_the_proposal(void **state)
{
    struct setting *t = *state;
    struct gate gate;
    struct probe *p = probe_new();
    gate_shut(&gate, t->store);
    uint64_t before = groups_here(t);
    probe_wish(p, "x", VD_WHEN_ANY, "a");
    assert_false(vd_store_propose_here(t->store, vd_admitted_of(&p->proposal)));
    assert_int_equal(atomic_load(&p->calls), 0);
    gate_open(&gate);
    probe_wait(p);
    assert_now(t, "x", "a");
    assert_int_equal(groups_here(t), before);
    gate_release(&gate);
    probe_free(p);
}

/* A proposal that no store takes is refused at once, whoever is the writer. */
static void an_unfit_proposal_is_refused_here(void **state)
{
    struct setting *t = *state;
    struct probe *p = probe_new();
    assert_true(vd_store_propose_here(t->store, vd_admitted_of(&p->proposal))); /* it is empty */
    probe_wait(p);
    assert_int_equal(p->outcome.code, VD_ERR_INVALID);
    probe_free(p);
}

/* The thread does the housekeeping: after 64 groups of proposers it gets one. */
static void the_thread_has_its_turn(void **state)
{
    struct setting *t = *state;
    enum { WRITES = 500 };
    size_t handed = 0, in_a_row = 0, longest = 0;
    wait_for_rest(t);
    for (size_t i = 0; i < WRITES; i++) {
        struct probe *p = probe_new();
        char value[16];
        snprintf(value, sizeof value, "%zu", i);
        probe_wish(p, "x", VD_WHEN_ANY, value);
        bool here = vd_store_propose_here(t->store, vd_admitted_of(&p->proposal));
        probe_wait(p);
        assert_int_equal(p->outcome.code, VD_OK);
        handed += !here;
        in_a_row = here ? in_a_row + 1 : 0;
        longest = in_a_row > longest ? in_a_row : longest;
        probe_free(p);
    }
    assert_true(handed >= WRITES / 65);
    assert_in_range(longest, 1, 64);
    assert_now(t, "x", "499");
}

/* ---- many at once ---- */

enum { THREADS = 4, EACH = 300 };

struct crowd {
    struct setting *t;
    size_t number;
    size_t writes;
};

/* Half of the threads hand their proposals over, half commit them themselves if they can. */
static void *write_many(void *arg)
{
    struct crowd *c = arg;
    char name[16], value[16];
    snprintf(name, sizeof name, "own%zu", c->number);
    for (size_t i = 0; i < c->writes; i++) {
        struct probe *p = probe_new();
        snprintf(value, sizeof value, "%zu", i);
        probe_wish(p, name, i ? VD_WHEN_PRESENT : VD_WHEN_ABSENT, value);
        if (c->number % 2)
            vd_store_propose_here(c->t->store, vd_admitted_of(&p->proposal));
        else
            vd_store_propose(c->t->store, vd_admitted_of(&p->proposal));
        sem_wait(&p->answered);
        bool good = p->outcome.code == VD_OK && p->outcome.changed;
        probe_free(p);
        if (!good)
            return arg;
    }
    return NULL;
}

/* There is one writer from the first moment on, when the writer's thread may not even have
 * begun. */
static void a_store_that_was_just_opened_has_one_writer(void **state)
{
    struct setting *t = *state;
    for (int i = 0; i < 50; i++) {
        struct crowd crowd[2] = {{t, (size_t)i * 4 + 1, 3}, {t, (size_t)i * 4 + 3, 3}};
        pthread_t threads[2];
        setting_open(t, (struct vd_store_options){0});
        uint64_t before = vd_store_revision(t->store);
        for (size_t j = 0; j < 2; j++)
            assert_int_equal(pthread_create(&threads[j], NULL, write_many, &crowd[j]), 0);
        for (size_t j = 0; j < 2; j++) {
            void *failed = NULL;
            pthread_join(threads[j], &failed);
            assert_null(failed);
        }
        assert_int_equal(vd_store_revision(t->store), before + 6);
    }
}

static void there_is_one_writer_at_a_time(void **state)
{
    struct setting *t = *state;
    uint64_t before = vd_store_revision(t->store);
    struct crowd crowd[THREADS];
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        crowd[i] = (struct crowd){t, i, EACH};
        assert_int_equal(pthread_create(&threads[i], NULL, write_many, &crowd[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        void *failed = NULL;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    assert_int_equal(vd_store_revision(t->store), before + THREADS * EACH);
    for (size_t i = 0; i < THREADS; i++) {
        char name[16];
        snprintf(name, sizeof name, "own%zu", i);
        assert_now(t, name, "299");
    }
}

/* Only the thread compacts: proposers that commit themselves must not keep it from doing so. */
static void compaction_comes_in_between(void **state)
{
    struct setting *t = *state;
    struct crowd crowd = {t, 1, EACH};
    pthread_t thread;
    struct vd_error error;
    assert_int_equal(pthread_create(&thread, NULL, write_many, &crowd), 0);
    for (int i = 0; i < 20; i++)
        assert_ok(vd_store_compact(t->store, vd_store_revision(t->store), &error), &error);
    void *failed = NULL;
    pthread_join(thread, &failed);
    assert_null(failed);
    assert_now(t, "own1", "299");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON_BOTH(a_proposer_commits_when_nobody_writes),
        ON_BOTH(a_store_that_was_just_opened_has_one_writer),
        ON_BOTH(a_busy_writer_is_handed_the_proposal),
        ON_BOTH(an_unfit_proposal_is_refused_here),
        ON_BOTH(the_thread_has_its_turn),
        ON_BOTH(there_is_one_writer_at_a_time),
        ON_BOTH(compaction_comes_in_between),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
