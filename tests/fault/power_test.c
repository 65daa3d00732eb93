/*
 * Power loss: several writers on the simulated disk, the power cut at a random
 * call, and a look at what is left. Over and over on the same disk.
 *
 * Every write carries its own number, so each row of the log tells which proposal
 * made it. What was acknowledged must be there with its revision and its bytes,
 * for good; what was not is there whole or not at all, and once seen stays.
 *
 * VEDETTE_RUNS sets the number of power losses, VEDETTE_SEED the choices; threads
 * make their own order, so a seed repeats a run only roughly.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "check.h"
#include "fixture.h"
#include "seed.h"
#include "sim_disk.h"
#include "store/folder.h"
#include "store/sqlite_engine.h"

enum { WRITERS = 3, KEYS = 9, BATCH_MAX = 4, CYCLES = 12, CRASHES = 200 };

enum fate {
    PENDING,  /* proposed; nobody knows */
    DONE,     /* acknowledged, or seen after a power loss: there for good */
    NOT_DONE, /* refused, or not there after a power loss */
};

struct write {
    enum fate fate;
    bool deletes;
    size_t n;
    size_t keys[BATCH_MAX];
    uint64_t first, last; /* revisions, once it is done */
    size_t seen;          /* rows of it in the log, while it is checked */
};

struct run {
    uint64_t seed;
    struct seed_rng rng;
    struct sim_disk *disk;
    struct vd_store *store;
    pthread_mutex_t lock; /* guards writes */
    VD_VEC(struct write) writes;
    _Atomic uint64_t visible, floor; /* the largest that anybody saw */
    uint64_t crashes, opened_in_vain;
};

#define assert_run(r, condition)                                                                   \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail_msg("%s; crash %llu, VEDETTE_SEED=%llu", #condition,                              \
                     (unsigned long long)(r)->crashes, (unsigned long long)(r)->seed);             \
    } while (0)

static void key_name(size_t key, char room[16])
{
    snprintf(room, 16, "k%zu", key);
}

/* ---- the writers ---- */

struct writer {
    struct run *run;
    struct seed_rng rng;
};

static size_t write_begin(struct run *r, const struct write *w)
{
    pthread_mutex_lock(&r->lock);
    *VD_VEC_PUSH(&r->writes) = *w;
    size_t id = r->writes.n - 1;
    pthread_mutex_unlock(&r->lock);
    return id;
}

static void write_end(struct run *r, size_t id, int code, const struct vd_outcome *o)
{
    pthread_mutex_lock(&r->lock);
    struct write *w = &r->writes.p[id];
    if (code == VD_OK) {
        w->fate = DONE;
        w->first = o->revision_first;
        w->last = o->revision;
    } else if (code == VD_ERR_NOT_FOUND || code == VD_ERR_FULL || code == VD_ERR_READ_ONLY) {
        w->fate = NOT_DONE;
    }
    pthread_mutex_unlock(&r->lock);
}

/* Fewer bytes at the front say which write it was, more behind fill pages. */
static struct vd_template body_of(struct vd_buf *room, size_t id, size_t at, size_t fill)
{
    char value[64];
    snprintf(value, sizeof value, "%zu.%zu", id, at);
    vd_buf_reset(room);
    vd_buf_addf(room, "{\"value\":\"%s\",\"resourceVersion\":\"", value);
    uint32_t hole = (uint32_t)room->n;
    vd_buf_add_text(room, "\",\"fill\":\"");
    for (size_t i = 0; i < fill; i++)
        vd_buf_add_char(room, (char)('a' + (id + at + i) % 26));
    vd_buf_add_text(room, "\"}");
    return (struct vd_template){vd_buf_slice(room), hole};
}

static int write_once(struct writer *me)
{
    struct run *r = me->run;
    struct write w = {.n = seed_once_in(&me->rng, 3) ? 2 + seed_below(&me->rng, 3) : 1};
    struct vd_wish wishes[BATCH_MAX];
    struct vd_buf bodies[BATCH_MAX] = {{0}};
    char names[BATCH_MAX][16];
    struct vd_outcome outcome;
    w.deletes = w.n == 1 && seed_once_in(&me->rng, 4);
    size_t first = seed_below(&me->rng, KEYS);
    for (size_t i = 0; i < w.n; i++)
        w.keys[i] = (first + i) % KEYS;
    size_t id = write_begin(r, &w);
    size_t fill = seed_once_in(&me->rng, 10) ? 9000 : seed_below(&me->rng, 300);
    for (size_t i = 0; i < w.n; i++) {
        key_name(w.keys[i], names[i]);
        wishes[i] = (struct vd_wish){.action = w.deletes ? VD_DELETE : VD_PUT,
                                     .key = test_key("things", "ns", names[i]),
                                     .body = body_of(&bodies[i], id, i, fill)};
    }
    int code = vd_store_commit(r->store, wishes, w.n, &outcome);
    write_end(r, id, code, &outcome);
    for (size_t i = 0; i < w.n; i++)
        vd_buf_release(&bodies[i]);
    return code == VD_ERR_NOT_FOUND ? VD_OK : code;
}

static void *write_until_it_fails(void *arg)
{
    struct writer *me = arg;
    struct run *r = me->run;
    for (int i = 0; i < 150 && !write_once(me); i++) {
        uint64_t seen = vd_store_revision(r->store), floor = vd_store_floor(r->store);
        for (uint64_t v = atomic_load(&r->visible);
             v < seen && !atomic_compare_exchange_weak(&r->visible, &v, seen);)
            continue;
        for (uint64_t f = atomic_load(&r->floor);
             f < floor && !atomic_compare_exchange_weak(&r->floor, &f, floor);)
            continue;
    }
    return NULL;
}

/* ---- looking at what is left ---- */

struct state { /* of a key, as the log adds up */
    uint64_t revision;
    bool live;
    size_t id, at; /* who wrote it, when it is live */
};

struct check {
    struct run *r;
    uint64_t floor, last;
    bool last_more;
    size_t open;            /* 1 + the write whose batch is being passed */
    struct state now[KEYS]; /* by the newest row of each */
    size_t rows;
    const char *wrong;
};

static struct write *write_at(struct run *r, uint64_t revision)
{
    for (size_t i = r->writes.n; i-- > 0;) {
        struct write *w = &r->writes.p[i];
        if (w->fate == DONE && w->first <= revision && revision <= w->last)
            return w;
    }
    return NULL;
}

/* A deletion has no bytes of its own: it is one that was pending on this key. */
static struct write *pending_deletion(struct run *r, size_t key)
{
    for (size_t i = 0; i < r->writes.n; i++) {
        struct write *w = &r->writes.p[i];
        if (w->fate == PENDING && w->deletes && w->keys[0] == key && !w->seen)
            return w;
    }
    return NULL;
}

static const char *check_row(struct check *c, const struct vd_row *row, size_t *id, size_t *at)
{
    struct run *r = c->r;
    size_t key = (size_t)(row->key.name.p[1] - '0');
    struct write *w = write_at(r, row->revision);
    if (row->damaged)
        return "a row is damaged";
    if (row->revision <= c->last)
        return "revisions do not grow";
    if (row->type == VD_EVENT_DELETED) {
        *at = 0;
        w = w ? w : pending_deletion(r, key);
        if (!w || !w->deletes || w->keys[0] != key || !c->now[key].live)
            return "nobody deleted this";
    } else {
        char text[64];
        snprintf(text, sizeof text, "%.*s", (int)(row->body.bytes.n < 63 ? row->body.bytes.n : 63),
                 row->body.bytes.p);
        if (sscanf(text, "{\"value\":\"%zu.%zu\"", id, at) != 2 || *id >= r->writes.n)
            return "a body is not what anybody wrote";
        if (w && w != &r->writes.p[*id])
            return "a revision was used twice";
        w = &r->writes.p[*id];
        if (w->fate == NOT_DONE || *at >= w->n || w->keys[*at] != key)
            return "what was refused is there";
        if (row->type != (c->now[key].live ? VD_EVENT_UPDATED : VD_EVENT_CREATED))
            return "created and updated are mixed up";
    }
    if (w->fate == DONE && w->first + *at != row->revision)
        return "a row has another revision than was acknowledged";
    if (row->more != (*at + 1 < w->n) || *at != w->seen)
        return "a batch is not whole";
    if (w->fate == PENDING) /* it happened: remember where */
        w->first = *at ? w->first : row->revision;
    w->last = w->fate == PENDING ? row->revision : w->last;
    w->seen++;
    *id = (size_t)(w - r->writes.p);
    return NULL;
}

static bool check_take(void *arg, const struct vd_row *row)
{
    struct check *c = arg;
    size_t key = (size_t)(row->key.name.p[1] - '0'), id = 0, at = 0;
    if (row->revision > c->floor) {
        uint64_t previous = c->now[key].revision;
        c->wrong = check_row(c, row, &id, &at);
        if (!c->wrong && row->previous != previous && (row->previous > c->floor || previous))
            c->wrong = "the chain of versions is broken";
        if (!c->wrong && c->last_more && row->revision != c->last + 1)
            c->wrong = "something stands inside a batch";
        c->last_more = row->more;
        c->rows++;
    } else { /* what is left at or below the floor is the object's state there */
        c->wrong = row->type == VD_EVENT_DELETED ? "a passed deletion is left" : NULL;
    }
    c->last = row->revision;
    c->now[key] = (struct state){row->revision, row->type != VD_EVENT_DELETED, id, at};
    return !c->wrong;
}

/* Every acknowledged row above the floor was met, and whole. */
static void check_writes(struct check *c)
{
    struct run *r = c->r;
    for (size_t i = 0; i < r->writes.n; i++) {
        struct write *w = &r->writes.p[i];
        if (w->fate == DONE)
            assert_run(r, w->seen == (w->first > c->floor ? w->n : 0));
        if (w->fate == PENDING) {
            assert_run(r, w->seen == 0 || w->seen == w->n);
            w->fate = w->seen ? DONE : NOT_DONE;
        }
        w->seen = 0;
    }
}

/* The store shows the state that its log adds up to. */
static void check_objects(struct check *c)
{
    struct run *r = c->r;
    for (size_t key = 0; key < KEYS; key++) {
        char name[16];
        struct vd_event *event;
        struct vd_error error;
        key_name(key, name);
        struct vd_key k = test_key("things", "ns", name);
        int code = vd_store_get(r->store, &k, 0, &event, &error);
        assert_run(r, code == (c->now[key].live ? VD_OK : VD_ERR_NOT_FOUND));
        if (code)
            continue;
        assert_run(r, event->revision == c->now[key].revision);
        vd_event_unref(event);
    }
    uint64_t newest = 0;
    for (size_t i = 0; i < r->writes.n; i++)
        if (r->writes.p[i].fate == DONE && r->writes.p[i].last > newest)
            newest = r->writes.p[i].last;
    assert_run(r, vd_store_revision(r->store) >= newest);
    assert_run(r, vd_store_revision(r->store) >= atomic_load(&r->visible));
    assert_run(r, vd_store_floor(r->store) >= atomic_load(&r->floor));
}

static void check_log(struct check *c)
{
    struct run *r = c->r;
    struct vd_engine *engine;
    struct vd_engine_state state;
    struct vd_error error;
    struct vd_sqlite_options options = {.folder = "data", .vfs = sim_disk_vfs(r->disk)};
    if (vd_sqlite_engine_open(&engine, &options, &state, &error))
        fail_msg("%s; VEDETTE_SEED=%llu", error.text, (unsigned long long)r->seed);
    c->floor = state.floor;
    struct vd_row_sink sink = {NULL, check_take, c};
    int code = engine->ops->read(engine, 0, UINT64_MAX, SIZE_MAX, &sink, &error);
    engine->ops->close(engine);
    if (code || c->wrong)
        fail_msg("revision %llu: %s; crash %llu, VEDETTE_SEED=%llu", (unsigned long long)c->last,
                 code ? error.text : c->wrong, (unsigned long long)r->crashes,
                 (unsigned long long)r->seed);
    assert_run(r, !c->last_more);
    assert_run(r, c->rows == state.revision - (state.floor > 1 ? state.floor : 1));
    check_writes(c);
}

/* ---- one life of the store, and its end ---- */

static int run_open(struct run *r)
{
    struct vd_error error;
    struct vd_folder folder = {
        .path = "data",
        .vfs = sim_disk_vfs(r->disk),
        .checkpoint_pages = (size_t)(5 + seed_below(&r->rng, 60)),
    };
    struct vd_store_options options = {
        .tail_events_max = 1 + seed_below(&r->rng, 50),
        .window_events_max = seed_once_in(&r->rng, 2) ? 20 + seed_below(&r->rng, 100) : 0,
    };
    return vd_store_open_in(&r->store, &folder, &options, &error);
}

static void cycle(struct run *r)
{
    struct sim_fault fault = {
        .op = seed_once_in(&r->rng, 4) ? SIM_ANY : SIM_CHANGE,
        .at = 1 + seed_below(&r->rng, seed_once_in(&r->rng, 3) ? 30 : 600),
        .how = seed_once_in(&r->rng, 2) ? SIM_CRASH_BEFORE : SIM_CRASH_AFTER,
        .crash = SIM_ANYHOW,
        .seed = seed_next(&r->rng),
    };
    sim_disk_fail(r->disk, fault);
    if (run_open(r) == VD_OK) {
        pthread_t threads[WRITERS];
        struct writer writers[WRITERS];
        for (size_t i = 0; i < WRITERS; i++) {
            writers[i] = (struct writer){r, {seed_next(&r->rng)}};
            assert_int_equal(pthread_create(&threads[i], NULL, write_until_it_fails, &writers[i]),
                             0);
        }
        for (size_t i = 0; i < WRITERS; i++)
            pthread_join(threads[i], NULL);
        vd_store_close(r->store);
    } else {
        r->opened_in_vain++;
    }
    sim_disk_crash(r->disk, SIM_ANYHOW, seed_next(&r->rng)); /* if it has not come yet */
    r->crashes++;
    sim_disk_heal(r->disk);
    sim_disk_power_on(r->disk);
    struct check c = {.r = r};
    check_log(&c);
    assert_run(r, run_open(r) == VD_OK);
    check_objects(&c);
    struct writer me = {r, {seed_next(&r->rng)}};
    assert_run(r, write_once(&me) == VD_OK); /* it takes writes again */
    vd_store_close(r->store);
}

static void run_disk(uint64_t seed, uint64_t cycles, const struct sim_config *config,
                     struct sim_losses *losses, uint64_t *in_vain)
{
    struct run r = {.seed = seed, .rng = {seed}, .disk = sim_disk_new(config)};
    pthread_mutex_init(&r.lock, NULL);
    for (uint64_t i = 0; i < cycles; i++)
        cycle(&r);
    struct sim_losses l = sim_disk_losses(r.disk);
    losses->kept += l.kept;
    losses->lost += l.lost;
    losses->torn += l.torn;
    losses->damaged += l.damaged;
    *in_vain += r.opened_in_vain;
    pthread_mutex_destroy(&r.lock);
    VD_VEC_RELEASE(&r.writes);
    sim_disk_free(r.disk);
}

static void run_crashes(const struct sim_config *config, uint64_t crashes,
                        struct sim_losses *losses)
{
    uint64_t seed = seed_of_run(), in_vain = 0;
    for (uint64_t done = 0; done < crashes; done += CYCLES)
        run_disk(seed + done / CYCLES, CYCLES, config, losses, &in_vain);
    /* The test met what it was written for. */
    assert_true(losses->kept > 0 && losses->lost > 0 && losses->torn > 0);
    assert_true(in_vain > 0);
}

static void nothing_acknowledged_is_lost(void **state)
{
    (void)state;
    struct sim_losses losses = {0};
    run_crashes(NULL, seed_runs("VEDETTE_RUNS", CRASHES), &losses);
}

/* A device that may turn whole sectors into garbage when the power goes. */
static void nor_on_the_weakest_device(void **state)
{
    (void)state;
    struct sim_losses losses = {0};
    struct sim_config weak = SIM_CONFIG_WEAK;
    run_crashes(&weak, seed_runs("VEDETTE_RUNS", CRASHES), &losses);
    assert_true(losses.damaged > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_acknowledged_is_lost),
        cmocka_unit_test(nor_on_the_weakest_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
