/*
 * The store on a disk that fails: every call of a fixed workload fails once, in
 * every way there is. Whatever fails, each proposal is answered once; what was
 * answered with success is there after the power was lost; after a failed write
 * or sync nothing is acknowledged or synced any more; and a full disk is a state
 * that passes.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "fixture.h"
#include "seed.h"
#include "sim_disk.h"
#include "store/folder.h"
#include "store/health.h"
#include "store/log_read.h"
#include "store/snapshot.h"
#include "store/sqlite_engine.h"

enum { KEYS = 4, ROUNDS = 12 };

/* What was acknowledged last for each key: a value, "" deleted or never there. */
struct ledger {
    char value[KEYS][32];
    char maybe[KEYS][32]; /* what a write that failed would have left */
    uint64_t revision;    /* the newest that was acknowledged */
    uint64_t floor;
    size_t acked, failed, full;
    bool dead;                   /* a write failed for good */
    uint64_t syncs_when_it_died; /* calls of sync by then */
};

struct run {
    struct sim_disk *disk;
    struct vd_store *store;
    struct ledger ledger;
    struct vd_error error;
    const char *what; /* for messages */
    uint64_t n;
};

#define assert_run(r, condition)                                                                   \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail_msg("%s, call %llu: %s (%s)", (r)->what, (unsigned long long)(r)->n, #condition,  \
                     (r)->error.text);                                                             \
    } while (0)

static int run_open(struct run *r)
{
    struct vd_folder folder = {
        .path = "data", .vfs = sim_disk_vfs(r->disk), .checkpoint_pages = 10};
    struct vd_store_options options = {.tail_events_max = 1, .manual_compaction = true};
    return vd_store_open_in(&r->store, &folder, &options, &r->error);
}

static const char *const names[KEYS] = {"a", "b", "c", "d"};

/* A commit's answer, checked against what may be answered by now. */
static void note(struct run *r, int code, const struct vd_outcome *outcome)
{
    struct ledger *l = &r->ledger;
    struct vd_health health;
    vd_store_health(r->store, &health);
    r->error = outcome->error;
    switch (code) {
    case VD_OK:
        assert_run(r, !l->dead);
        assert_run(r, outcome->revision > l->revision || !outcome->changed);
        assert_run(r, !health.full); /* but what came after the answer may have failed by now */
        l->revision = outcome->changed ? outcome->revision : l->revision;
        l->acked++;
        break;
    case VD_ERR_FULL:
        assert_run(r, !l->dead && !health.read_only && health.full);
        assert_run(r, health.error.code == VD_ERR_FULL);
        l->full++;
        break;
    case VD_ERR_READ_ONLY:
        assert_run(r, health.read_only);
        assert_run(r, strstr(outcome->error.text, health.error.text));
        break;
    case VD_ERR_IO:
        assert_run(r, !l->dead && health.read_only && health.error.text[0]);
        break;
    default:
        fail_msg("%s, call %llu: %s: %s", r->what, (unsigned long long)r->n, vd_code_name(code),
                 outcome->error.text);
    }
    l->failed += code != VD_OK;
    if (health.read_only && !l->dead) {
        l->dead = true;
        l->syncs_when_it_died = sim_disk_calls(r->disk, SIM_SYNC);
    }
}

/* What the answer says of an object. Only a write that failed for good may yet turn
 * out to have happened. */
static void settle(struct run *r, int code, size_t key, const char *value)
{
    if (code == VD_OK)
        snprintf(r->ledger.value[key], 32, "%s", value);
    else if (code == VD_ERR_IO)
        snprintf(r->ledger.maybe[key], 32, "%s", *value ? value : "-");
}

/* One object put, or deleted when value is "". */
static void write_one(struct run *r, size_t key, const char *value)
{
    struct vd_outcome outcome;
    int code = *value ? test_put(r->store, "things", "ns", names[key], NULL, value, &outcome)
                      : test_delete(r->store, "things", "ns", names[key], &outcome);
    if (code == VD_ERR_NOT_FOUND) { /* a deletion after a write that did not happen */
        assert_run(r, !*r->ledger.value[key]);
        return;
    }
    note(r, code, &outcome);
    settle(r, code, key, value);
}

/* Two objects in one batch, with bodies large enough to need several pages. */
static void write_two(struct run *r, const char *value)
{
    struct vd_buf bodies[2] = {{0}};
    struct vd_wish wishes[2];
    struct vd_outcome outcome;
    char labels[3000];
    memset(labels, ' ', sizeof labels - 1);
    labels[sizeof labels - 1] = 0;
    for (size_t i = 0; i < 2; i++)
        wishes[i] = (struct vd_wish){.action = VD_PUT,
                                     .key = test_key("things", "ns", names[2 + i]),
                                     .body = test_body(&bodies[i], names[2 + i], labels, value)};
    int code = vd_store_commit(r->store, wishes, 2, &outcome);
    note(r, code, &outcome);
    for (size_t i = 0; i < 2; i++) {
        settle(r, code, 2 + i, value);
        vd_buf_release(&bodies[i]);
    }
}

/* Objects are read from memory: no disk can fail that. */
static void check_objects(struct run *r)
{
    for (size_t i = 0; i < KEYS; i++) {
        struct vd_key key = test_key("things", "ns", names[i]);
        struct vd_event *event;
        char room[64];
        int code = vd_store_get(r->store, &key, 0, &event, &r->error);
        assert_run(r, code == (*r->ledger.value[i] ? VD_OK : VD_ERR_NOT_FOUND));
        if (code)
            continue;
        assert_run(r, strcmp(body_value(event->body, room), r->ledger.value[i]) == 0);
        vd_event_unref(event);
    }
}

/* The log, most of it from the engine. False when a call of it failed. */
static bool read_log(struct run *r)
{
    struct vd_stretch stretch = {0};
    uint64_t after = vd_store_floor(r->store) + 1;
    int code = VD_OK;
    while (!code && after < vd_store_revision(r->store)) {
        code = vd_store_read(r->store, VD_SLICE(""), after, 5, &stretch, &r->error);
        assert_run(r, code == VD_OK || code == VD_ERR_IO);
        assert_run(r, code || stretch.upto > after);
        after = stretch.upto;
    }
    vd_stretch_release(&stretch);
    return code == VD_OK;
}

/* Puts, deletes, batches, history, compactions and checkpoints. */
static void workload(struct run *r)
{
    for (int i = 0; i < ROUNDS; i++) {
        char value[32];
        snprintf(value, sizeof value, "v%d", i);
        write_one(r, 0, value);
        write_one(r, 1, i % 3 == 2 ? "" : value);
        write_two(r, value);
        check_objects(r);
        if (i % 4 == 1)
            read_log(r);
        if (i % 4 != 3)
            continue;
        uint64_t floor = vd_store_floor(r->store);
        int code = vd_store_compact(r->store, vd_store_revision(r->store) - 4, &r->error);
        assert_run(r, code == VD_OK || code == VD_ERR_IO || code == VD_ERR_FULL ||
                          code == VD_ERR_READ_ONLY);
        assert_run(r, !code || r->error.text[strlen("could not compact the log: ")]);
        assert_run(r, vd_store_floor(r->store) >= floor);
        struct vd_health health;
        vd_store_health(r->store, &health);
        if (health.read_only && !r->ledger.dead) {
            r->ledger.dead = true;
            r->ledger.syncs_when_it_died = sim_disk_calls(r->disk, SIM_SYNC);
        }
    }
    r->ledger.floor = vd_store_floor(r->store);
}

/* After the power is back all that was acknowledged is there, and what was not is
 * there whole or not at all. */
static void check_after_power_loss(struct run *r, uint64_t seed)
{
    sim_disk_heal(r->disk);
    sim_disk_crash(r->disk, SIM_ANYHOW, seed);
    sim_disk_power_on(r->disk);
    assert_run(r, run_open(r) == VD_OK);
    assert_run(r, vd_store_revision(r->store) >= r->ledger.revision);
    assert_run(r, vd_store_floor(r->store) >= r->ledger.floor);
    char got[KEYS][64] = {{0}};
    for (size_t i = 0; i < KEYS; i++) {
        struct vd_key key = test_key("things", "ns", names[i]);
        struct vd_event *event;
        int code = vd_store_get(r->store, &key, 0, &event, &r->error);
        assert_run(r, code == VD_OK || code == VD_ERR_NOT_FOUND);
        if (!code) {
            body_value(event->body, got[i]);
            vd_event_unref(event);
        }
        const char *maybe = strcmp(r->ledger.maybe[i], "-") == 0 ? "" : r->ledger.maybe[i];
        bool is_acked = strcmp(got[i], r->ledger.value[i]) == 0;
        assert_run(r, is_acked || (*r->ledger.maybe[i] && strcmp(got[i], maybe) == 0));
    }
    assert_run(r, strcmp(got[2], got[3]) == 0); /* always written together */
    assert_run(r, read_log(r));
    assert_run(r, put(r->store, "things", "ns", "again", "1") > r->ledger.revision);
    vd_store_close(r->store);
    r->store = NULL;
}

/* One run with one fault; false when the workload is over before it comes. */
static bool run_with_fault(const char *what, struct sim_fault fault)
{
    struct run r = {.disk = sim_disk_new(NULL), .what = what, .n = fault.at};
    bool is_sync = fault.op == SIM_SYNC, is_full = fault.how != SIM_EIO && !is_sync;
    sim_disk_fail(r.disk, fault);
    int code = run_open(&r);
    if (!code) {
        workload(&r);
        bool hit = sim_disk_hits(r.disk) > 0;
        if (is_full && (fault.op & SIM_WRITE)) {
            assert_run(&r, !r.ledger.dead);
            if (hit && fault.count == SIM_FOREVER) {
                check_objects(&r);
                assert_run(&r, read_log(&r));
            }
            sim_disk_heal(r.disk); /* room again, and nobody restarts anything */
            write_one(&r, 0, "room");
            assert_run(&r, strcmp(r.ledger.value[0], "room") == 0);
        } else if (hit && fault.op == SIM_WRITE) {
            assert_run(&r, r.ledger.dead);
        }
        uint64_t syncs = sim_disk_calls(r.disk, SIM_SYNC);
        if (hit && is_sync) {
            assert_run(&r, r.ledger.dead);
            assert_run(&r, syncs == r.ledger.syncs_when_it_died);
        }
        vd_store_close(r.store);
        if (r.ledger.dead && (is_sync || fault.op == SIM_WRITE))
            assert_run(&r, sim_disk_calls(r.disk, SIM_SYNC) == r.ledger.syncs_when_it_died);
    } else {
        assert_run(&r, code == VD_ERR_IO || code == VD_ERR_FULL);
        assert_run(&r, r.error.text[0]);
    }
    bool came = code || sim_disk_hits(r.disk) > 0 || is_full;
    uint64_t calls = sim_disk_calls(r.disk, fault.op);
    check_after_power_loss(&r, fault.at);
    sim_disk_free(r.disk);
    return came && calls >= fault.at;
}

static void fail_every_call(const char *what, struct sim_fault fault, uint64_t stride)
{
    uint64_t n = 0;
    for (fault.at = 1; run_with_fault(what, fault); fault.at += stride)
        n++;
    assert_true(n > 10);
}

static void a_write_that_fails(void **state)
{
    (void)state;
    fail_every_call("write, EIO", (struct sim_fault){.op = SIM_WRITE, .how = SIM_EIO}, 1);
}

static void a_write_that_finds_no_room(void **state)
{
    (void)state;
    fail_every_call("write, ENOSPC", (struct sim_fault){.op = SIM_WRITE, .how = SIM_ENOSPC}, 1);
    fail_every_call("write, ENOSPC for long",
                    (struct sim_fault){.op = SIM_WRITE, .how = SIM_ENOSPC, .count = SIM_FOREVER},
                    3);
}

static void a_write_that_is_cut_short(void **state)
{
    (void)state;
    fail_every_call("write, short", (struct sim_fault){.op = SIM_WRITE, .how = SIM_SHORT_WRITE}, 1);
}

static void a_sync_that_fails(void **state)
{
    (void)state;
    fail_every_call("sync, EIO", (struct sim_fault){.op = SIM_SYNC, .how = SIM_EIO}, 1);
    fail_every_call("sync, EIO, forgets",
                    (struct sim_fault){.op = SIM_SYNC, .how = SIM_EIO, .drops_unsynced = true}, 1);
    fail_every_call("sync, ENOSPC", (struct sim_fault){.op = SIM_SYNC, .how = SIM_ENOSPC}, 1);
}

static void a_read_that_fails(void **state)
{
    (void)state;
    fail_every_call("read, EIO", (struct sim_fault){.op = SIM_READ, .how = SIM_EIO}, 1);
}

static void other_calls_that_fail(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        unsigned op;
        uint64_t stride;
    } calls[] = {{"shared memory", SIM_SHM, 1},
                 {"file size", SIM_SIZE, 1},
                 {"access", SIM_ACCESS, 1},
                 {"lock", SIM_LOCK, 1}};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        struct sim_fault fault = {.op = calls[i].op, .how = SIM_EIO};
        for (fault.at = 1; run_with_fault(calls[i].what, fault); fault.at += calls[i].stride)
            continue;
    }
    struct sim_fault open = {.op = SIM_OPEN | SIM_TRUNCATE | SIM_DELETE, .how = SIM_EIO};
    for (open.at = 1; run_with_fault("open, truncate, delete", open); open.at++)
        continue;
}

/* ---- a full disk ---- */

/* The disk has this much room and no more: writing stops, and goes on once there
 * is room, whatever was cut short by then. */
static void a_full_disk_passes(void **state)
{
    (void)state;
    for (uint64_t room = 20000; room < 120000; room += 7013) {
        struct run r = {.disk = sim_disk_new(NULL), .what = "full disk", .n = room};
        assert_run(&r, run_open(&r) == VD_OK);
        sim_disk_space(r.disk, room);
        workload(&r);
        assert_run(&r, r.ledger.full > 0 && !r.ledger.dead);
        check_objects(&r);
        assert_run(&r, read_log(&r));
        sim_disk_space(r.disk, SIM_SPACE_UNLIMITED);
        write_one(&r, 0, "room");
        assert_run(&r, strcmp(r.ledger.value[0], "room") == 0);
        struct vd_health health;
        vd_store_health(r.store, &health);
        assert_run(&r, !health.full && health.error.code == VD_OK);
        workload(&r);
        vd_store_close(r.store);
        check_after_power_loss(&r, room);
        sim_disk_free(r.disk);
    }
}

/* ---- what is not asked for is not read ---- */

static bool wants_none(void *arg, const struct vd_row *head)
{
    *(size_t *)arg += head->body_len;
    return false;
}

static bool take_any(void *arg, const struct vd_row *row)
{
    *(size_t *)arg += row->body.bytes.n;
    return true;
}

static void bodies_that_nobody_wants_stay_on_the_disk(void **state)
{
    (void)state;
    enum { ROWS = 20, BYTES = 200000 };
    struct sim_disk *disk = sim_disk_new(NULL);
    struct vd_sqlite_options options = {.folder = "data", .vfs = sim_disk_vfs(disk)};
    struct vd_engine *engine;
    struct vd_engine_state engine_state;
    struct vd_error error;
    char *body = calloc(1, BYTES);
    assert_ok(vd_sqlite_engine_open(&engine, &options, &engine_state, &error), &error);
    uint64_t newest = engine_state.revision;
    for (int i = 0; i < ROWS; i++) {
        struct vd_row row = {.type = VD_EVENT_CREATED,
                             .key = test_key("things", "ns", "x"),
                             .body = {vd_slice(body, BYTES), 0},
                             .body_len = BYTES};
        struct vd_engine_commit how = {.head = newest};
        assert_ok(engine->ops->commit(engine, how, &row, 1, &error), &error);
        newest = row.revision;
    }
    size_t heads = 0, bodies = 0;
    uint64_t before = sim_disk_calls(disk, SIM_READ);
    struct vd_row_sink sink = {wants_none, take_any, &heads};
    assert_ok(engine->ops->read(engine, 0, UINT64_MAX, ROWS, &sink, &error), &error);
    uint64_t between = sim_disk_calls(disk, SIM_READ);
    sink = (struct vd_row_sink){NULL, take_any, &bodies};
    assert_ok(engine->ops->read(engine, 0, UINT64_MAX, ROWS, &sink, &error), &error);
    uint64_t after = sim_disk_calls(disk, SIM_READ);
    assert_int_equal(heads, ROWS * BYTES);
    assert_int_equal(bodies, ROWS * BYTES);
    assert_true(after - between > ROWS * BYTES / 5000);
    assert_true(between - before < 5 * ROWS);
    engine->ops->close(engine);
    free(body);
    sim_disk_free(disk);
}

/* ---- the write-ahead log's length ---- */

/* Commits until the engine would make the WAL's file longer. */
static void fill_wal(struct vd_engine *engine)
{
    static char body[20000];
    struct vd_error error;
    struct vd_engine_state state;
    assert_ok(engine->ops->state(engine, &state, &error), &error);
    uint64_t newest = state.revision;
    for (int i = 0; i < 40; i++) {
        struct vd_row row = {.type = VD_EVENT_CREATED,
                             .key = test_key("things", "ns", "x"),
                             .body = {vd_slice(body, sizeof body), 0},
                             .body_len = sizeof body};
        struct vd_engine_commit how = {.head = newest};
        assert_ok(engine->ops->commit(engine, how, &row, 1, &error), &error);
        newest = row.revision;
    }
}

static void the_wal_is_made_longer_under_the_write_lock_only(void **state)
{
    struct sim_disk *disk = sim_disk_new(NULL);
    struct vd_sqlite_options options = {.folder = "data", .vfs = sim_disk_vfs(disk)};
    struct vd_engine *engine;
    struct vd_engine_state engine_state;
    struct vd_error error;
    sqlite3 *other = NULL;
    (void)state;
    assert_ok(vd_sqlite_engine_open(&engine, &options, &engine_state, &error), &error);
    fill_wal(engine);
    assert_int_equal(sqlite3_open_v2("data/log.db", &other, SQLITE_OPEN_READWRITE, options.vfs), 0);
    assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    int64_t size = sim_disk_size(disk, "data/log.db-wal");
    assert_ok(engine->ops->tidy(engine, &error), &error);
    assert_int_equal(sim_disk_size(disk, "data/log.db-wal"), size);
    assert_int_equal(sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(other);
    assert_ok(engine->ops->tidy(engine, &error), &error);
    assert_true(sim_disk_size(disk, "data/log.db-wal") >= size + (1 << 19));
    fill_wal(engine);
    engine->ops->close(engine);
    sim_disk_free(disk);
}

/* ---- a group that fails ---- */

struct probe {
    struct vd_proposal proposal;
    struct vd_outcome outcome;
    int calls;
    sem_t answered;
};

static void probe_done(struct vd_proposal *proposal, const struct vd_outcome *outcome)
{
    struct probe *p = proposal->arg;
    p->outcome = *outcome;
    p->calls++;
    sem_post(&p->answered);
}

struct gate {
    struct vd_proposal proposal;
    sem_t entered, open;
};

static void gate_done(struct vd_proposal *proposal, const struct vd_outcome *outcome)
{
    struct gate *g = proposal->arg;
    (void)outcome;
    sem_post(&g->entered);
    sem_wait(&g->open);
}

/* Whoever was judged by a row that did not come to be hears that it did not. */
static void who_leans_on_a_failed_commit_fails_with_it(void **state)
{
    (void)state;
    enum { N = 6 };
    struct run r = {.disk = sim_disk_new(NULL), .what = "group"};
    struct vd_buf a = {0}, b = {0}, c = {0};
    assert_run(&r, run_open(&r) == VD_OK);
    put(r.store, "things", "ns", "old", "same");
    struct vd_key key_a = test_key("things", "ns", "a"), key_old = test_key("things", "ns", "old");
    struct vd_template body_a = test_body(&a, "a", NULL, "1"),
                       body_old = test_body(&b, "old", NULL, "same"),
                       body_new = test_body(&c, "old", NULL, "new");
    const struct vd_wish creates = {.action = VD_PUT, .key = key_a, .body = body_a};
    const struct vd_wish is_absent = {
        .action = VD_PUT, .when = VD_WHEN_ABSENT, .key = key_a, .body = body_a};
    const struct vd_wish unchanged = {.action = VD_PUT, .key = key_old, .body = body_old};
    const struct vd_wish conflicts = {.action = VD_PUT,
                                      .when = VD_WHEN_REVISION,
                                      .revision = 1,
                                      .key = key_old,
                                      .body = body_new};
    const struct vd_wish both[] = {creates, unchanged};
    const struct {
        const struct vd_wish *wishes;
        size_t n;
        int code;
    } lines[N] = {
        {&creates, 1, VD_ERR_FULL},       {&is_absent, 1, VD_ERR_FULL},
        {both, 2, VD_ERR_FULL}, /* true already, but only by the first */
        {&creates, 1, VD_ERR_FULL},       {&unchanged, 1, VD_OK},
        {&conflicts, 1, VD_ERR_CONFLICT},
    };
    struct probe probes[N];
    struct gate gate = {.proposal = {.wishes = &unchanged, .n = 1, .done = gate_done}};
    gate.proposal.arg = &gate;
    sem_init(&gate.entered, 0, 0);
    sem_init(&gate.open, 0, 0);
    vd_store_propose(r.store, vd_admitted_of(&gate.proposal));
    sem_wait(&gate.entered);
    sim_disk_fail(r.disk, (struct sim_fault){.op = SIM_WRITE, .at = 1, .how = SIM_ENOSPC});
    for (size_t i = 0; i < N; i++) {
        probes[i] = (struct probe){
            .proposal = {
                .wishes = lines[i].wishes, .n = lines[i].n, .done = probe_done, .arg = &probes[i]}};
        sem_init(&probes[i].answered, 0, 0);
        vd_store_propose(r.store, vd_admitted_of(&probes[i].proposal));
    }
    sem_post(&gate.open);
    for (size_t i = 0; i < N; i++) {
        sem_wait(&probes[i].answered);
        assert_int_equal(probes[i].calls, 1);
        if ((int)probes[i].outcome.code != lines[i].code)
            fail_msg("line %zu: %s", i, vd_code_name((int)probes[i].outcome.code));
    }
    assert_int_equal(sim_disk_hits(r.disk), 1);
    struct vd_outcome outcome;
    assert_code(vd_store_commit(r.store, &is_absent, 1, &outcome), VD_OK);
    vd_store_close(r.store);
    for (size_t i = 0; i < N; i++)
        sem_destroy(&probes[i].answered);
    vd_buf_release(&a);
    vd_buf_release(&b);
    vd_buf_release(&c);
    sim_disk_free(r.disk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_write_that_fails),
        cmocka_unit_test(a_write_that_finds_no_room),
        cmocka_unit_test(a_write_that_is_cut_short),
        cmocka_unit_test(a_sync_that_fails),
        cmocka_unit_test(a_read_that_fails),
        cmocka_unit_test(other_calls_that_fail),
        cmocka_unit_test(a_full_disk_passes),
        cmocka_unit_test(bodies_that_nobody_wants_stay_on_the_disk),
        cmocka_unit_test(the_wal_is_made_longer_under_the_write_lock_only),
        cmocka_unit_test(who_leans_on_a_failed_commit_fails_with_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
