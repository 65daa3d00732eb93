/*
 * The store against a naive model: random writes and batches with random
 * preconditions, compactions, reopenings, and reads of every kind at random
 * revisions, on every engine and with tails so small that most history comes
 * from the engine. VEDETTE_SEED repeats a run.
 */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "fixture.h"
#include "seed.h"
#include "shared_log.h"
#include "store/snapshot.h"

enum { WISHES_MAX = 5, STEPS = 120 };

static const char *const resources[] = {"things", "others", "nodes"};
static const char *const paths[] = {"a/x", "a/y", "a-b/x", "ab/x", "/x", "/y"};
static const char *const prefixes[] = {"", "a/", "a", "a-b/", "ab/", "/", "zz/", "a/x"};
static const size_t tails[] = {1, 2, 5, 20, 0};

#define PICK(rng, table) ((table)[seed_below((rng), sizeof(table) / sizeof *(table))])

struct run {
    struct seed_rng rng;
    uint64_t seed;
    char *folder;              /* NULL: the memory engine */
    struct vd_memory_log *log; /* shared by two stores; NULL: only one store uses it */
    unsigned stride;           /* of its revisions */
    struct vd_store *store;
    struct vd_store *other; /* over the same log; NULL: there is none */
    struct model model;
    struct vd_buf want, got;
    unsigned writes; /* counts writes, so that values differ */
};

#define assert_run(r, condition)                                                                   \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail_msg("%s; VEDETTE_SEED=%llu", #condition, (unsigned long long)(r)->seed);          \
    } while (0)

static void assert_same_text(struct run *r, const char *what)
{
    if (strcmp(vd_buf_text(&r->want), vd_buf_text(&r->got)) != 0)
        fail_msg("%s:\n got  %s\n want %s\nVEDETTE_SEED=%llu", what, vd_buf_text(&r->got),
                 vd_buf_text(&r->want), (unsigned long long)r->seed);
    vd_buf_reset(&r->want);
    vd_buf_reset(&r->got);
}

static void run_open(struct run *r)
{
    struct vd_error error;
    struct vd_store_options options = {.manual_compaction = true};
    options.tail_events_max = PICK(&r->rng, tails);
    options.tail_bytes_max = seed_once_in(&r->rng, 3) ? seed_below(&r->rng, 400) : 0;
    if (r->log)
        r->store = shared_store_open(r->log, &options);
    else
        assert_ok(
            vd_store_open_in(&r->store, &(struct vd_folder){.path = r->folder}, &options, &error),
            &error);
    assert_run(r, vd_store_revision(r->store) == model_newest(&r->model));
    assert_run(r, vd_store_floor(r->store) == r->model.floor);
}

/* Waits until both stores have seen everything that either has done. */
static void settle(struct run *r)
{
    if (!r->log)
        return;
    shared_store_await(r->store, model_newest(&r->model), r->model.floor);
    shared_store_await(r->other, model_newest(&r->model), r->model.floor);
}

/* One of the two stores, without waiting for what the other has done. */
static struct vd_store *either(struct run *r)
{
    return r->log && seed_once_in(&r->rng, 2) ? r->other : r->store;
}

static void compact(struct run *r, uint64_t target)
{
    struct vd_error error;
    assert_ok(vd_store_compact(either(r), target, &error), &error);
    model_compact(&r->model, target);
    settle(r);
}

/* ---- writing ---- */

/* The outcome that the model expects of a wish, and its effect on the model. */
static int model_wish(struct run *r, const struct vd_wish *w, const char *resource,
                      const char *path, const char *value, uint64_t *revision, uint64_t newest,
                      uint64_t next)
{
    const struct model_version *v = model_at(&r->model, resource, path, UINT64_MAX);
    *revision = v ? v->revision : 0;
    if (w->when == VD_WHEN_ABSENT && v)
        return VD_ERR_EXISTS;
    if (!v && (!value || w->when == VD_WHEN_PRESENT || w->when == VD_WHEN_REVISION))
        return VD_ERR_NOT_FOUND;
    if (w->when == VD_WHEN_REVISION && (w->revision != v->revision || v->revision > newest))
        return VD_ERR_CONFLICT; /* a version that the batch itself has made has no revision yet */
    if (value && v && strcmp(v->value, value) == 0)
        return VD_OK;
    model_add(&r->model, next, resource, path, value, true);
    return VD_OK;
}

static void write_batch(struct run *r)
{
    size_t n = seed_once_in(&r->rng, 3) ? 1 + seed_below(&r->rng, WISHES_MAX) : 1;
    struct vd_wish wishes[WISHES_MAX];
    struct vd_buf bodies[WISHES_MAX] = {{0}};
    size_t versions = r->model.versions.n, at = 0;
    uint64_t newest = model_newest(&r->model), next = newest, revision = 0;
    int code = VD_OK;
    for (size_t i = 0; i < n; i++) {
        const char *resource = PICK(&r->rng, resources), *path = PICK(&r->rng, paths);
        const char *slash = strchr(path, '/');
        char value[32];
        snprintf(value, sizeof value, "v%u", ++r->writes);
        const struct model_version *v = model_at(&r->model, resource, path, UINT64_MAX);
        if (v && seed_once_in(&r->rng, 8))
            snprintf(value, sizeof value, "%s", v->value);
        bool deletes = seed_once_in(&r->rng, 3);
        wishes[i] = (struct vd_wish){
            .action = deletes ? VD_DELETE : VD_PUT,
            .when = seed_once_in(&r->rng, 2) ? VD_WHEN_ANY : (enum vd_when)seed_below(&r->rng, 4),
            .revision = v && !seed_once_in(&r->rng, 4) ? v->revision : 1,
            .key = {vd_slice_of(resource), vd_slice(path, (size_t)(slash - path)),
                    vd_slice_of(slash + 1)},
            .body = test_body(&bodies[i], slash + 1, NULL, value),
        };
        if (code)
            continue;
        at = i;
        size_t before = r->model.versions.n;
        uint64_t about;
        uint64_t following = vd_memory_log_next(r->stride, next);
        code = model_wish(r, &wishes[i], resource, path, deletes ? NULL : value, &about, newest,
                          following);
        if (r->model.versions.n > before)
            next = following;
        revision = r->model.versions.n > before ? next : about;
    }
    bool refused = code != VD_OK;
    if (refused) {
        char resource[16], path[32];
        const struct vd_key *key = &wishes[at].key;
        snprintf(resource, sizeof resource, "%.*s", VD_FMT(key->resource));
        snprintf(path, sizeof path, "%.*s/%.*s", VD_FMT(key->namespace), VD_FMT(key->name));
        r->model.versions.n = versions;
        const struct model_version *v = model_at(&r->model, resource, path, UINT64_MAX);
        revision = v ? v->revision : 0;
    }
    bool changed = r->model.versions.n > versions;
    if (changed) {
        r->model.versions.p[r->model.versions.n - 1].more = false;
        revision = next;
    }
    struct vd_outcome o;
    struct vd_store *store = either(r);
    int got = vd_store_commit(store, wishes, n, &o);
    assert_run(r, got == code);
    assert_run(r, o.changed == changed);
    assert_run(r, o.revision == revision);
    assert_run(r, !refused || o.at == at);
    assert_run(r, !changed || o.revision_first == r->model.versions.p[versions].revision);
    /* A writer sees what it has written. */
    assert_run(r, vd_store_revision(store) == model_newest(&r->model));
    for (size_t i = 0; i < n; i++)
        vd_buf_release(&bodies[i]);
}

/* ---- reading ---- */

/* Mostly a revision that can be read at; sometimes 0, an expired or a future one. */
static uint64_t pick_revision(struct run *r)
{
    return seed_below(&r->rng, model_newest(&r->model) + 3);
}

static int place_of(const struct run *r, uint64_t revision)
{
    return revision > model_newest(&r->model) ? VD_ERR_FUTURE
           : revision <= r->model.floor       ? VD_ERR_EXPIRED
                                              : VD_OK;
}

static void read_object(struct run *r)
{
    const char *resource = PICK(&r->rng, resources), *path = PICK(&r->rng, paths);
    const char *slash = strchr(path, '/');
    struct vd_key key = {vd_slice_of(resource), vd_slice(path, (size_t)(slash - path)),
                         vd_slice_of(slash + 1)};
    uint64_t revision = pick_revision(r), at = revision ? revision : model_newest(&r->model);
    const struct model_version *v = model_at(&r->model, resource, path, at);
    int want = place_of(r, at) ? place_of(r, at) : v ? VD_OK : VD_ERR_NOT_FOUND;
    struct vd_event *event;
    struct vd_error error;
    int code = vd_store_get(r->store, &key, revision, &event, &error);
    assert_run(r, code == want);
    if (code)
        return;
    vd_buf_addf(&r->want, "%s=%s@%llu ", v->path, v->value, (unsigned long long)v->revision);
    model_show_object(&r->got, event);
    vd_event_unref(event);
    assert_same_text(r, "get");
}

/* Pages through a list, with writes and compactions between the pages. */
static void read_list(struct run *r)
{
    const char *resource = PICK(&r->rng, resources), *prefix = PICK(&r->rng, prefixes);
    const char *after = seed_once_in(&r->rng, 3) ? PICK(&r->rng, paths) : "";
    uint64_t revision = pick_revision(r);
    struct vd_snapshot s;
    struct vd_error error;
    int code = vd_snapshot_open(&s, r->store, vd_slice_of(resource), vd_slice_of(prefix), revision,
                                vd_slice_of(after), &error);
    assert_run(r, code == place_of(r, revision ? revision : model_newest(&r->model)));
    if (code)
        return;
    assert_run(r, s.revision ==
                      model_batch_end(&r->model, revision ? revision : model_newest(&r->model)));
    size_t total = model_list(&r->model, resource, prefix, after, s.revision, &r->want), seen = 0;
    while (!s.done && !code) {
        struct vd_event *events[4];
        size_t n, left;
        bool expired = s.revision <= r->model.floor;
        code = vd_snapshot_remaining(&s, &left, &error);
        assert_run(r, code == (expired ? VD_ERR_EXPIRED : VD_OK));
        assert_run(r, code || left == total - seen);
        code = vd_snapshot_next(&s, events, 1 + seed_below(&r->rng, 4), &n, &error);
        assert_run(r, code == (expired ? VD_ERR_EXPIRED : VD_OK));
        for (size_t i = 0; !code && i < n; i++, seen++) {
            model_show_object(&r->got, events[i]);
            vd_event_unref(events[i]);
        }
        if (seed_once_in(&r->rng, 2))
            write_batch(r);
        if (seed_once_in(&r->rng, 12)) {
            settle(r); /* what is compacted depends on what has been seen */
            compact(r, pick_revision(r));
        }
        settle(r);
    }
    if (!code)
        assert_same_text(r, "list");
    vd_buf_reset(&r->want);
    vd_buf_reset(&r->got);
    vd_snapshot_release(&s);
}

static void read_log(struct run *r)
{
    const char *resource = seed_once_in(&r->rng, 3) ? "" : PICK(&r->rng, resources);
    uint64_t after = pick_revision(r), newest = model_newest(&r->model);
    struct vd_stretch stretch = {0};
    struct vd_error error;
    int code = VD_OK;
    if (after > newest || after <= r->model.floor) {
        code = vd_store_read(r->store, vd_slice_of(resource), after, 4, &stretch, &error);
        assert_run(r, code == (after > newest ? VD_OK : VD_ERR_EXPIRED));
        assert_run(r, code || (stretch.upto == after && stretch.changes.n == 0));
        vd_stretch_release(&stretch);
        return;
    }
    model_log(&r->model, resource, after, newest, &r->want);
    while (after < newest) {
        size_t max = 1 + seed_below(&r->rng, 6);
        assert_ok(vd_store_read(r->store, vd_slice_of(resource), after, max, &stretch, &error),
                  &error);
        assert_run(r, stretch.changes.n <= max && stretch.upto > after && stretch.upto <= newest);
        assert_run(r, !stretch.whole || model_batch_end(&r->model, stretch.upto) == stretch.upto);
        assert_run(r, stretch.upto < newest || stretch.whole);
        for (size_t i = 0; i < stretch.changes.n; i++)
            model_show_change(&r->got, &stretch.changes.p[i]);
        after = stretch.upto;
    }
    assert_same_text(r, "log");
    vd_stretch_release(&stretch);
}

static void check_counts(struct run *r)
{
    for (size_t i = 0; i < sizeof resources / sizeof *resources; i++) {
        size_t n = model_list(&r->model, resources[i], "", "", UINT64_MAX, &r->want);
        assert_run(r, vd_store_count(r->store, vd_slice_of(resources[i])) == n);
    }
    vd_buf_reset(&r->want);
    struct vd_store_stats stats;
    vd_store_stats(r->store, &stats);
    size_t behind = 0;
    for (size_t i = 0; i < r->model.versions.n; i++)
        behind += r->model.versions.p[i].revision > r->model.floor;
    assert_run(r, stats.window_events == behind);
    assert_run(r, stats.floor <= stats.tail_floor && stats.tail_floor <= stats.revision);
}

static void step(struct run *r)
{
    uint64_t dice = seed_below(&r->rng, 100);
    if (dice >= 55)
        settle(r);
    if (dice < 55) {
        write_batch(r);
    } else if (dice < 68) {
        read_object(r);
    } else if (dice < 80) {
        read_list(r);
    } else if (dice < 92) {
        read_log(r);
    } else if (dice < 95) {
        settle(r);
        compact(r, pick_revision(r));
        assert_run(r, vd_store_floor(r->store) == r->model.floor);
    } else if (dice < 98 && (r->folder || r->log)) {
        vd_store_close(r->store);
        run_open(r);
    } else {
        check_counts(r);
    }
}

enum where { IN_MEMORY, IN_FOLDER, SHARED };

static void run_random(enum where where, uint64_t runs)
{
    uint64_t seed = seed_of_run();
    runs = seed_runs("VEDETTE_RUNS", runs);
    for (uint64_t i = 0; i < runs; i++) {
        struct run r = {.rng = {seed + i}, .seed = seed + i};
        r.folder = where == IN_FOLDER ? temp_folder_new() : NULL;
        r.stride = where == SHARED ? (unsigned)(r.seed % SHARED_STRIDE) : 0;
        r.log = where == SHARED ? vd_memory_log_new(r.stride) : NULL;
        model_init(&r.model, 1);
        if (r.log)
            r.other = shared_store_open(r.log,
                                        &(struct vd_store_options){.manual_compaction = true});
        run_open(&r);
        for (int j = 0; j < STEPS; j++)
            step(&r);
        vd_store_close(r.store);
        vd_store_close(r.other);
        vd_memory_log_unref(r.log);
        if (r.folder)
            temp_folder_remove(r.folder);
        model_release(&r.model);
        vd_buf_release(&r.want);
        vd_buf_release(&r.got);
    }
}

static void random_use_on_memory(void **state)
{
    (void)state;
    run_random(IN_MEMORY, 150);
}

static void random_use_on_sqlite(void **state)
{
    (void)state;
    run_random(IN_FOLDER, 12);
}

/* Two stores over one log with gaps between its revisions: each write goes to one of them, whatever
 * that one has seen of the other's writes, and reads see the writes of both. */
static void random_use_of_two_stores_over_one_log(void **state)
{
    (void)state;
    run_random(SHARED, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_use_on_memory),
        cmocka_unit_test(random_use_on_sqlite),
        cmocka_unit_test(random_use_of_two_stores_over_one_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
