/* src/base/refcount.h: exactly one holder is the last, also among threads. */
#include "base/refcount.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "check.h"
#include "death.h"

static void the_last_unref_is_told(void **state)
{
    (void)state;
    struct vd_refcount c;
    vd_refcount_init(&c);
    vd_ref(&c);
    vd_ref(&c);
    assert_false(vd_unref(&c));
    assert_false(vd_unref(&c));
    assert_true(vd_unref(&c));
}

static void unref_twice(void)
{
    struct vd_refcount c;
    vd_refcount_init(&c);
    if (vd_unref(&c))
        vd_unref(&c);
}

static void ref_after_the_end(void)
{
    struct vd_refcount c;
    vd_refcount_init(&c);
    if (vd_unref(&c))
        vd_ref(&c);
}

static void use_after_the_last_unref_is_an_assert(void **state)
{
    (void)state;
    assert_true(aborts_saying(unref_twice, "before > 0"));
    assert_true(aborts_saying(ref_after_the_end, "before > 0"));
}

enum { THREADS = 4, ROUNDS = 10000 };

struct shared {
    struct vd_refcount refs;
    unsigned written[THREADS]; /* each by its own thread, read by who frees */
};

struct holder {
    pthread_t thread;
    struct shared *shared;
    size_t index;
    bool freed;
};

static void *hold_and_drop(void *argument)
{
    struct holder *holder = argument;
    struct shared *shared = holder->shared;
    for (unsigned i = 0; i < ROUNDS; i++) {
        vd_ref(&shared->refs);
        shared->written[holder->index]++;
        if (vd_unref(&shared->refs))
            abort(); /* this thread still has its own reference */
    }
    if (!vd_unref(&shared->refs))
        return NULL;
    holder->freed = true;
    for (size_t t = 0; t < THREADS; t++)
        if (shared->written[t] != ROUNDS)
            abort(); /* the others' writes must be seen here */
    free(shared);
    return NULL;
}

static void of_many_threads_exactly_one_frees_and_sees_all_writes(void **state)
{
    (void)state;
    struct shared *shared = VD_NEW(struct shared);
    struct holder holders[THREADS] = {0};
    vd_refcount_init(&shared->refs);
    for (size_t t = 0; t < THREADS; t++) {
        vd_ref(&shared->refs);
        holders[t] = (struct holder){.shared = shared, .index = t};
        assert_int_equal(pthread_create(&holders[t].thread, NULL, hold_and_drop, &holders[t]), 0);
    }
    size_t freed = 0;
    if (vd_unref(&shared->refs)) {
        free(shared);
        freed++;
    }
    for (size_t t = 0; t < THREADS; t++) {
        pthread_join(holders[t].thread, NULL);
        freed += holders[t].freed;
    }
    assert_int_equal(freed, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_unref_is_told),
        cmocka_unit_test(use_after_the_last_unref_is_an_assert),
        cmocka_unit_test(of_many_threads_exactly_one_frees_and_sees_all_writes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
