/* See crash_worker.h. */
#include "crash_worker.h"

#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/container_of.h"
#include "fixture.h"
#include "seed.h"
#include "watch/registry.h"

enum { BATCH_MAX = 4 };

void crash_plan_init(struct crash_plan *plan)
{
    static const struct want wants[CRASH_WATCHERS] = {
        {.resource = "alphas"},
        {.resource = "betas"},
        {.resource = "alphas", .namespace = "n1"},
        {.resource = "betas", .color = "red"},
        {.resource = "alphas", .namespace = "n2", .name = "a"},
        {.resource = "alphas", .color = "blue"},
    };
    *plan = (struct crash_plan){0};
    memcpy(plan->want, wants, sizeof wants);
}

void crash_plan_write(const struct crash_plan *plan, const char *folder, char *path, size_t cap)
{
    snprintf(path, cap, "%s.plan", folder);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(plan, sizeof *plan, 1, file) != 1 || fclose(file) != 0)
        abort();
}

static void crash_plan_read(struct crash_plan *plan, const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file || fread(plan, sizeof *plan, 1, file) != 1 || fclose(file) != 0 || unlink(path) != 0)
        abort();
}

const struct vd_store_options crash_store_options = {
    .window_events_max = 1500,
    .tail_events_max = 100,
};

struct vd_folder crash_folder(const char *path)
{
    return (struct vd_folder){.path = path, .checkpoint_pages = 20};
}

struct worker {
    struct vd_store *store;
    struct vd_registry *registry;
    int fd;
    struct crash_plan plan;
    pthread_mutex_t wake_lock;
    pthread_cond_t wake;
    bool awake;
};

struct writer {
    struct worker *worker;
    struct seed_rng random;
    unsigned id, writes;
};

struct spectator {
    struct vd_watcher watcher; /* first */
    struct worker *worker;
    uint8_t id;
    bool in_snapshot;
};

static void say(struct worker *w, const struct crash_word *words, size_t n)
{
    if (write(w->fd, words, n * sizeof *words) != (ssize_t)(n * sizeof *words))
        _exit(1); /* the parent has gone */
}

/* ---- writers ---- */

static void choose_wish(struct writer *w, struct vd_wish *wish, struct vd_buf *body,
                        struct fact *fact)
{
    static const char *const resources[] = {"alphas", "betas"}, *const namespaces[] = {"n1", "n2"};
    static const char *const labels[] = {NULL, "\"color\":\"red\"", "\"color\":\"blue\""};
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
    const char *resource = resources[(unsigned)seed_below(&w->random, 2)];
    const char *namespace = namespaces[(unsigned)seed_below(&w->random, 2)];
    const char *name = names[(unsigned)seed_below(&w->random, 10)];
    memset(fact, 0, sizeof *fact);
    snprintf(fact->resource, WORD_MAX, "%s", resource);
    snprintf(fact->path, WORD_MAX, "%s/%s", namespace, name);
    snprintf(fact->value, WORD_MAX, "%u-%u-%x", w->id, ++w->writes,
             (unsigned)(w->worker->plan.seed & 0xffffffff));
    *wish = (struct vd_wish){.key = test_key(resource, namespace, name)};
    if (seed_once_in(&w->random, 4)) {
        wish->action = VD_DELETE;
        fact->type = VD_EVENT_DELETED;
    } else {
        wish->body = test_body(body, name, labels[(unsigned)seed_below(&w->random, 3)],
                               fact->value);
    }
}

static void *write_on(void *arg)
{
    struct writer *w = arg;
    struct vd_wish wishes[BATCH_MAX];
    struct vd_buf bodies[BATCH_MAX] = {{0}};
    struct crash_word words[BATCH_MAX];
    for (;;) {
        size_t n = seed_once_in(&w->random, 3) ? 1 + (unsigned)seed_below(&w->random, BATCH_MAX)
                                               : 1;
        struct vd_outcome outcome;
        memset(words, 0, sizeof words);
        for (size_t i = 0; i < n; i++)
            choose_wish(w, &wishes[i], &bodies[i], &words[i].fact);
        if (vd_store_commit(w->worker->store, wishes, n, &outcome))
            continue; /* refused: something to delete was not there */
        for (size_t i = 0; i < n; i++) {
            words[i].says = CRASH_ACKNOWLEDGED;
            words[i].fact.revision = outcome.revision_first + i;
        }
        say(w->worker, words, n);
    }
    return NULL;
}

/* ---- watchers ---- */

static enum vd_take deliver(struct vd_watcher *watcher, const struct vd_deliveries *d,
                            struct vd_shared **shared)
{
    (void)shared;
    struct spectator *s = VD_CONTAINER_OF(watcher, struct spectator, watcher);
    struct crash_word word = {.says = CRASH_SHOWN, .watcher = s->id, .flag = !s->in_snapshot};
    for (size_t i = 0; i < d->list.n; i++) {
        word.sight = sight_of(&d->list.p[i]);
        say(s->worker, &word, 1);
    }
    if (d->snapshot_end)
        s->in_snapshot = false;
    struct crash_word passed = {
        .says = CRASH_PASSED, .watcher = s->id, .revision = d->upto, .flag = d->whole};
    if (!s->in_snapshot)
        say(s->worker, &passed, 1);
    return VD_TAKE_MORE;
}

static void start_spectator(struct spectator *s);

static void ended(struct vd_watcher *watcher, const struct vd_error *error)
{
    struct spectator *s = VD_CONTAINER_OF(watcher, struct spectator, watcher);
    if (error->code != VD_ERR_EXPIRED) {
        fprintf(stderr, "watcher %d ended: %s\n", s->id, error->text);
        _exit(1);
    }
    struct crash_word word = {.says = CRASH_EXPIRED, .watcher = s->id};
    say(s->worker, &word, 1);
    vd_cursor_close(&watcher->cursor);
    s->worker->plan.resume[s->id] = 0;
    start_spectator(s);
}

static const struct vd_watcher_ops spectator_ops = {.deliver = deliver, .ended = ended};

static void start_spectator(struct spectator *s)
{
    struct worker *w = s->worker;
    struct vd_filter *filter = want_filter(&w->plan.want[s->id]);
    struct vd_error error;
    uint64_t resume = w->plan.resume[s->id];
    int code = VD_OK;
    struct crash_word word = {.says = CRASH_BEGAN, .watcher = s->id, .revision = resume};
    if (resume) {
        code = vd_cursor_open_at(&s->watcher.cursor, w->store, filter, resume, &error);
        if (code == VD_ERR_EXPIRED) {
            struct crash_word expired = {.says = CRASH_EXPIRED, .watcher = s->id};
            say(w, &word, 1);
            say(w, &expired, 1);
            resume = 0;
        }
    }
    if (!resume) {
        code = vd_cursor_open_snapshot(&s->watcher.cursor, w->store, filter, &error);
        word.revision = s->watcher.cursor.revision;
        word.flag = true;
    }
    if (code) {
        fprintf(stderr, "watcher %d: %s\n", s->id, error.text);
        _exit(1);
    }
    say(w, &word, 1);
    s->in_snapshot = word.flag;
    s->watcher.ops = &spectator_ops;
    vd_registry_add(w->registry, &s->watcher);
    vd_filter_unref(filter);
}

static void wake_loop(void *arg)
{
    struct worker *w = arg;
    pthread_mutex_lock(&w->wake_lock);
    w->awake = true;
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->wake_lock);
}

static void loop(struct worker *w)
{
    for (;;) {
        if (vd_registry_turn(w->registry, 100))
            continue;
        pthread_mutex_lock(&w->wake_lock);
        while (!w->awake)
            pthread_cond_wait(&w->wake, &w->wake_lock);
        w->awake = false;
        pthread_mutex_unlock(&w->wake_lock);
    }
}

int crash_worker_run(const char *folder, const char *plan, const char *fd)
{
    static struct worker w;
    static struct writer writers[CRASH_WRITERS];
    static struct spectator spectators[CRASH_WATCHERS];
    struct vd_error error;
    uint64_t number;
    if (vd_slice_to_u64(vd_slice_of(fd), &number) != 0)
        return 2;
    w.fd = (int)number;
    pthread_mutex_init(&w.wake_lock, NULL);
    pthread_cond_init(&w.wake, NULL);
    crash_plan_read(&w.plan, plan);
    struct vd_folder where = crash_folder(folder);
    if (vd_store_open_in(&w.store, &where, &crash_store_options, &error)) {
        fprintf(stderr, "worker: %s\n", error.text);
        return 1;
    }
    w.registry = vd_registry_new(w.store, wake_loop, &w);
    for (unsigned i = 0; i < CRASH_WATCHERS; i++) {
        spectators[i].worker = &w;
        spectators[i].id = (uint8_t)i;
        if (!w.plan.away[i])
            start_spectator(&spectators[i]);
    }
    for (unsigned i = 0; i < CRASH_WRITERS; i++) {
        pthread_t thread;
        writers[i] = (struct writer){&w, {w.plan.seed + i}, i, 0};
        if (pthread_create(&thread, NULL, write_on, &writers[i]) != 0)
            return 1;
    }
    loop(&w);
    return 0;
}
