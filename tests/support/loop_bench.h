/* What tests of informers and controllers on a loop share: a store in memory, a loop that runs, and
 * functions that write objects and wait until the store has the expected state. */
#ifndef VD_TESTS_LOOP_BENCH_H
#define VD_TESTS_LOOP_BENCH_H

#include "check.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/buf.h"
#include "base/container_of.h"
#include "kinds/builtin.h"
#include "kinds/object_meta.h"
#include "net/loop.h"
#include "store/admitted.h"
#include "store/commit.h"
#include "store/folder.h"
#include "json/parse.h"
#include "json/revision_hole.h"
#include "json/write.h"

enum { DEADLINE_S = 60 };

struct bench {
    struct vd_store *store;
    struct vd_kinds *kinds;
    struct vd_loop loop;
    struct vd_subscriber listener;
    pthread_mutex_t lock; /* guards commits */
    pthread_cond_t told;
    uint64_t commits;
};

static inline void bench_heard(struct vd_subscriber *listener, struct vd_commit *commit)
{
    struct bench *b = VD_CONTAINER_OF(listener, struct bench, listener);
    (void)commit;
    pthread_mutex_lock(&b->lock);
    b->commits++;
    pthread_cond_signal(&b->told);
    pthread_mutex_unlock(&b->lock);
}

static inline void bench_open(struct bench *b, size_t window_events_max)
{
    struct vd_error error;
    *b = (struct bench){.listener = {.committed = bench_heard}};
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->told, NULL);
    struct vd_store_options options = {.window_events_max = window_events_max};
    assert_ok(vd_store_open_in(&b->store, NULL, &options, &error), &error);
    b->kinds = vd_kinds_new_builtin();
    assert_ok(vd_loop_init(&b->loop, 0, &error), &error);
    assert_ok(vd_loop_start(&b->loop, &error), &error);
    vd_store_subscribe(b->store, &b->listener);
}

/* Ends the loop; then what uses it can be freed, before the store is closed. */
static inline void bench_stop(struct bench *b)
{
    vd_store_unsubscribe(b->store, &b->listener);
    vd_loop_stop(&b->loop);
}

static inline void bench_release(struct bench *b)
{
    vd_loop_release(&b->loop);
    vd_store_close(b->store);
    vd_kinds_free(b->kinds);
    pthread_cond_destroy(&b->told);
    pthread_mutex_destroy(&b->lock);
}

static inline void bench_close(struct bench *b)
{
    bench_stop(b);
    bench_release(b);
}

/* Writes the object of this JSON text, whether it exists or not. */
static inline void put_text(struct bench *b, const char *kind, const char *text)
{
    struct vd_arena arena = {0};
    struct vd_buf body = {0};
    struct vd_json *object = NULL;
    struct vd_error error;
    size_t hole = 0;
    assert_ok(vd_json_parse(&arena, vd_slice_of(text), NULL, &object, &error), &error);
    assert_ok(vd_revision_hole_write(&body, object, &hole, &error), &error);
    struct vd_wish wish = {
        .action = VD_PUT,
        .when = VD_WHEN_ANY,
        .key = {vd_slice_of(kind), vd_meta_namespace(object), vd_meta_name(object)},
        .uid = vd_meta_uid(object),
        .body = {vd_buf_slice(&body), (uint32_t)hole}};
    struct vd_outcome outcome;
    assert_ok(vd_store_commit(b->store, &wish, 1, &outcome), &outcome.error);
    vd_buf_release(&body);
    vd_arena_release(&arena);
}

static inline int remove_object(struct bench *b, const char *kind, const char *namespace,
                                const char *name)
{
    struct vd_wish wish = {.action = VD_DELETE,
                           .when = VD_WHEN_ANY,
                           .key = {vd_slice_of(kind), vd_slice_of(namespace), vd_slice_of(name)}};
    struct vd_outcome outcome;
    return vd_store_commit(b->store, &wish, 1, &outcome);
}

/* Whether the object's text contains `part`; with NULL, whether the object exists. */
static inline bool shows(struct bench *b, const char *kind, const char *namespace, const char *name,
                         const char *part)
{
    struct vd_key key = {vd_slice_of(kind), vd_slice_of(namespace), vd_slice_of(name)};
    struct vd_event *event = NULL;
    if (vd_store_get(b->store, &key, 0, &event, NULL))
        return false;
    bool found = !part || memmem(event->body->bytes, event->body->len, part, strlen(part));
    vd_event_unref(event);
    return found;
}

static inline bool absent(struct bench *b, const char *kind, const char *namespace,
                          const char *name)
{
    return !shows(b, kind, namespace, name, NULL);
}

/* Waits until the number of commits differs from *seen, which is then updated; false when the
 * deadline is over. */
static inline bool bench_wait(struct bench *b, uint64_t *seen, const struct timespec *deadline)
{
    int rc = 0;
    pthread_mutex_lock(&b->lock);
    while (b->commits == *seen && rc == 0)
        rc = pthread_cond_timedwait(&b->told, &b->lock, deadline);
    *seen = b->commits;
    pthread_mutex_unlock(&b->lock);
    return rc == 0;
}

/* Evaluates the condition after every commit until it is true; fails the test after DEADLINE_S. */
#define await(b, condition)                                                                        \
    do {                                                                                           \
        struct timespec deadline_;                                                                 \
        clock_gettime(CLOCK_REALTIME, &deadline_);                                                 \
        deadline_.tv_sec += DEADLINE_S;                                                            \
        uint64_t seen_ = 0;                                                                        \
        bool in_time_ = true;                                                                      \
        while (in_time_ && !(condition))                                                           \
            in_time_ = bench_wait((b), &seen_, &deadline_);                                        \
        if (!(condition))                                                                          \
            fail_msg("not in time: %s", #condition);                                               \
    } while (0)

#endif
