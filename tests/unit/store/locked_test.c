/* Another process has the log for longer than a write waits: the write fails, and later ones
 * succeed. */
#include <semaphore.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "fixture.h"
#include "store/store.h"

/* ---- the other process ---- */

struct holder {
    pid_t pid;
    int ask[2], answer[2];
};

/* The other process runs one statement for each byte that it is sent, and then sends the byte
 * back. */
static void hold(const struct holder *h, const char *folder)
{
    static const struct {
        char order;
        const char *sql;
    } statements[] = {{'L', "BEGIN IMMEDIATE"}, {'U', "ROLLBACK"}};
    char path[512], order;
    sqlite3 *db;
    snprintf(path, sizeof path, "%s/log.db", folder);
    if (sqlite3_open(path, &db) != SQLITE_OK)
        _exit(1);
    sqlite3_busy_timeout(db, 60000);
    while (read(h->ask[0], &order, 1) == 1) {
        for (size_t i = 0; i < 2; i++)
            if (order == statements[i].order &&
                sqlite3_exec(db, statements[i].sql, NULL, NULL, NULL) != SQLITE_OK)
                _exit(2);
        if (write(h->answer[1], &order, 1) != 1)
            _exit(3);
    }
    sqlite3_close(db);
    _exit(0);
}

static void holder_start(struct holder *h, const char *folder)
{
    assert_int_equal(pipe(h->ask), 0);
    assert_int_equal(pipe(h->answer), 0);
    h->pid = fork();
    assert_true(h->pid >= 0);
    if (h->pid == 0) {
        close(h->ask[1]);
        close(h->answer[0]);
        hold(h, folder);
    }
    close(h->ask[0]);
    close(h->answer[1]);
}

static void holder_do(struct holder *h, char order)
{
    char done = 0;
    assert_int_equal(write(h->ask[1], &order, 1), 1);
    assert_int_equal(read(h->answer[0], &done, 1), 1);
    assert_int_equal(done, order);
}

static void holder_stop(struct holder *h)
{
    int status = -1;
    close(h->ask[1]);
    assert_int_equal(waitpid(h->pid, &status, 0), h->pid);
    assert_int_equal(status, 0);
    close(h->answer[0]);
}

/* ---- the store ---- */

static struct vd_store *reopen_with(const char *folder, int busy_ms)
{
    struct vd_store *store = NULL;
    struct vd_error error;
    struct vd_folder where = {.path = folder, .busy_ms = busy_ms};
    struct vd_store_options options = {.window_events_max = 20};
    assert_ok(vd_store_open_in(&store, &where, &options, &error), &error);
    return store;
}

static struct vd_store *reopen(const char *folder)
{
    return reopen_with(folder, 50);
}

static int try_put(struct vd_store *store, const char *name, struct vd_outcome *outcome)
{
    struct vd_buf body = {0};
    struct vd_wish wish = {.key = test_key("things", "ns", name),
                           .body = test_body(&body, name, NULL, "v")};
    int code = vd_store_commit(store, &wish, 1, outcome);
    vd_buf_release(&body);
    return code;
}

static void a_lock_that_lasts_is_waited_out(void **state)
{
    char *folder = temp_folder_new();
    struct holder h;
    struct vd_outcome outcome;
    struct vd_health health;
    (void)state;
    vd_store_close(reopen(folder)); /* makes the file */
    holder_start(&h, folder);       /* forked before this process has threads */
    struct vd_store *store = reopen(folder);
    for (int round = 0; round < 5; round++) {
        char before[16], during[16];
        snprintf(before, sizeof before, "before-%d", round);
        snprintf(during, sizeof during, "during-%d", round);
        assert_int_equal(try_put(store, before, &outcome), VD_OK);
        uint64_t revision = outcome.revision;
        holder_do(&h, 'L');
        for (int i = 0; i < 3; i++) {
            assert_int_equal(try_put(store, during, &outcome), VD_ERR_LOCKED);
            assert_non_null(strstr(outcome.error.text, "locked"));
        }
        vd_store_health(store, &health);
        assert_true(health.locked && !health.read_only && !health.full);
        assert_int_equal(vd_store_revision(store), revision); /* reading goes on */
        holder_do(&h, 'U');
        assert_int_equal(try_put(store, during, &outcome), VD_OK);
        assert_true(outcome.changed && outcome.revision > revision);
        vd_store_health(store, &health);
        assert_true(!health.locked && !health.read_only && health.error.code == VD_OK);
        /* The compactor and the checkpoint meet it as well; see window_events_max. */
        for (int i = 0; i < 20; i++)
            put(store, "things", "other", "x", i % 2 ? "a" : "b");
    }
    vd_store_close(store);
    store = reopen(folder);
    assert_int_equal(vd_store_count(store, VD_SLICE("things")), 11);
    vd_store_close(store);
    holder_stop(&h);
    temp_folder_remove(folder);
}

static void note_answer(struct vd_proposal *proposal, const struct vd_outcome *outcome)
{
    sem_t *answered = proposal->arg;
    if (!outcome->code)
        sem_post(answered);
}

/* A proposer's own thread, which may be an event loop, must not wait for a lock: the writer's
 * thread does. */
static void who_proposes_here_does_not_wait(void **state)
{
    char *folder = temp_folder_new();
    struct holder h;
    struct vd_buf body = {0};
    sem_t answered;
    bool here = false;
    (void)state;
    sem_init(&answered, 0, 0);
    vd_store_close(reopen(folder));
    holder_start(&h, folder);
    struct vd_store *store = reopen_with(folder, 600000);
    for (int i = 0; !here; i++) { /* until the writer's thread waits for work */
        struct vd_wish wish = {.key = test_key("things", "ns", "x"),
                               .body = test_body(&body, "x", NULL, i % 2 ? "a" : "b")};
        struct vd_proposal p = {.wishes = &wish, .n = 1, .done = note_answer, .arg = &answered};
        here = vd_store_propose_here(store, vd_admitted_of(&p));
        sem_wait(&answered);
    }
    holder_do(&h, 'L');
    struct vd_wish wish = {.key = test_key("things", "ns", "x"),
                           .body = test_body(&body, "x", NULL, "last")};
    struct vd_proposal p = {.wishes = &wish, .n = 1, .done = note_answer, .arg = &answered};
    /* It returns at once, and not after the ten minutes that the writer's thread would wait. */
    assert_false(vd_store_propose_here(store, vd_admitted_of(&p)));
    assert_int_equal(sem_trywait(&answered), -1);
    holder_do(&h, 'U');
    sem_wait(&answered);
    struct vd_health health;
    vd_store_health(store, &health);
    assert_true(!health.locked && !health.read_only);
    vd_store_close(store);
    holder_stop(&h);
    vd_buf_release(&body);
    sem_destroy(&answered);
    temp_folder_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_proposes_here_does_not_wait),
        cmocka_unit_test(a_lock_that_lasts_is_waited_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
