/* src/watch/informer.c: every object is told once, then every change, whatever happens to the
 * log. */
#include "check.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/container_of.h"
#include "base/metrics.h"
#include "seed.h"
#include "store/folder.h"
#include "watch/informer.h"
#include "watch_fixture.h"

enum { DEADLINE_S = 60 };

/* A store, and an informer whose handler writes down what it is told:
 *
 *   [        a list begins
 *   +x=one   an object of the list
 *   ]        the list is complete
 *   x=one    a change
 *   -x       a deletion
 *   !x       a damaged object
 *   ?x       a deletion that was missed
 *   /        changes have been passed, and the last ends its batch
 *   E        a list has failed
 */
struct setting {
    char *folder; /* NULL: the store is in memory */
    struct vd_store *store;
    struct vd_informer informer;
    struct vd_informer_handler handler;
    struct vd_buf told;
    bool listing;
    size_t changes, changes_max; /* changes of a turn, and the most of any turn */
    uint64_t passed;             /* the last revision that was told as passed */
    _Atomic size_t wakes, commits;
};

static struct setting *setting_of(struct vd_informer_handler *handler)
{
    return VD_CONTAINER_OF(handler, struct setting, handler);
}

static void on_listing(struct vd_informer_handler *h)
{
    struct setting *t = setting_of(h);
    t->listing = true;
    vd_buf_add_text(&t->told, "[ ");
}

static void on_changed(struct vd_informer_handler *h, const struct vd_change *change)
{
    struct setting *t = setting_of(h);
    char room[64];
    struct vd_slice name = vd_entry_name(change->now->entry);
    t->changes++;
    if (!vd_event_is_live(change->now)) {
        vd_buf_addf(&t->told, "-%.*s ", VD_FMT(name));
        return;
    }
    assert_true(t->listing ? !change->before : true);
    vd_buf_addf(&t->told, "%s%.*s=%s ", t->listing ? "+" : "", VD_FMT(name),
                body_value(change->now->body, room));
}

static void on_damaged(struct vd_informer_handler *h, const struct vd_key *key)
{
    vd_buf_addf(&setting_of(h)->told, "!%.*s ", VD_FMT(key->name));
}

static void on_deletion_missed(struct vd_informer_handler *h, const struct vd_key *key)
{
    struct setting *t = setting_of(h);
    assert_true(key->resource.n > 0);
    t->changes++;
    vd_buf_addf(&t->told, "?%.*s ", VD_FMT(key->name));
}

static void on_synced(struct vd_informer_handler *h)
{
    struct setting *t = setting_of(h);
    t->listing = false;
    vd_buf_add_text(&t->told, "] ");
}

static void on_passed(struct vd_informer_handler *h, uint64_t revision, bool whole)
{
    struct setting *t = setting_of(h);
    assert_true(revision >= t->passed);
    char last = t->told.n > 1 ? t->told.p[t->told.n - 2] : '/';
    if (whole && revision > t->passed && last != '/' && last != ']')
        vd_buf_add_text(&t->told, "/ ");
    t->passed = revision;
}

static void on_failed(struct vd_informer_handler *h, const struct vd_error *error,
                      uint64_t retry_ms)
{
    assert_int_equal(error->code, VD_ERR_EXPIRED);
    assert_true(retry_ms > 0);
    vd_buf_add_text(&setting_of(h)->told, "E ");
}

static void on_committed(struct vd_informer_handler *h, const struct vd_commit *commit)
{
    atomic_fetch_add(&setting_of(h)->commits, commit->n);
}

static const struct vd_informer_ops ops = {
    .listing = on_listing,
    .changed = on_changed,
    .damaged = on_damaged,
    .deletion_missed = on_deletion_missed,
    .synced = on_synced,
    .passed = on_passed,
    .failed = on_failed,
    .committed = on_committed,
};

static void wake(void *arg)
{
    atomic_fetch_add(&((struct setting *)arg)->wakes, 1);
}

static void store_open(struct setting *t)
{
    struct vd_error error;
    struct vd_store_options options = {.manual_compaction = true,
                                       .tail_events_max = t->folder ? 4 : 0};
    struct vd_folder folder = {.path = t->folder};
    assert_ok(vd_store_open_in(&t->store, &folder, &options, &error), &error);
}

static void begin(struct setting *t, const struct vd_informer_options *with)
{
    struct vd_informer_options options = *with;
    options.store = t->store;
    options.name = "test";
    options.wake = wake;
    options.arg = t;
    t->handler.ops = &ops;
    vd_informer_init(&t->informer, &options);
    vd_informer_add_handler(&t->informer, &t->handler);
    vd_informer_start(&t->informer);
}

static int setup_in(void **state, char *folder)
{
    struct setting *t = calloc(1, sizeof *t);
    t->folder = folder;
    store_open(t);
    *state = t;
    return 0;
}

static int setup(void **state)
{
    return setup_in(state, NULL);
}

static int setup_on_disk(void **state)
{
    return setup_in(state, temp_folder_new());
}

static int teardown(void **state)
{
    struct setting *t = *state;
    vd_informer_stop(&t->informer);
    vd_store_close(t->store);
    vd_buf_release(&t->told);
    if (t->folder)
        temp_folder_remove(t->folder);
    free(t);
    return 0;
}

static uint64_t turn(struct setting *t)
{
    t->changes = 0;
    uint64_t after_ms = vd_informer_turn(&t->informer);
    if (t->changes > t->changes_max)
        t->changes_max = t->changes;
    return after_ms;
}

/* Turns as long as there is something to do at once. Returns what the last turn returned. */
static uint64_t turn_on(struct setting *t)
{
    uint64_t after_ms;
    for (int i = 0; (after_ms = turn(t)) == 0; i++)
        assert_true(i < 100000);
    return after_ms;
}

#define assert_told(t, text)                                                                       \
    do {                                                                                           \
        assert_string_equal(vd_buf_text(&(t)->told), text);                                        \
        vd_buf_reset(&(t)->told);                                                                  \
    } while (0)

static const struct vd_slice some[] = {{"apples", 6}, {"pears", 5}};
static const struct vd_informer_resources fruit = {some, 2};
static const struct vd_informer_resources apples = {some, 1};

static void objects_come_once_then_changes_in_order(void **state)
{
    struct setting *t = *state;
    put(t->store, "apples", "n", "b", "one");
    put(t->store, "apples", "n", "a", "one");
    put(t->store, "apples", "n", "a", "two");
    begin(t, &(struct vd_informer_options){.listed = apples});
    assert_false(vd_informer_is_synced(&t->informer));
    assert_true(turn_on(t) == VD_INFORMER_IDLE);
    assert_told(t, "[ +a=two +b=one ] ");
    assert_true(vd_informer_is_synced(&t->informer));
    uint64_t first = put(t->store, "apples", "n", "a", "three");
    put(t->store, "pears", "n", "p", "one");
    uint64_t last = del(t->store, "apples", "n", "b");
    assert_int_equal(atomic_load(&t->wakes), 3);
    assert_int_equal(atomic_load(&t->commits), 3);
    assert_int_equal(vd_informer_heard(&t->informer), last);
    assert_true(vd_informer_revision(&t->informer) < first);
    assert_true(turn_on(t) == VD_INFORMER_IDLE);
    assert_told(t, "a=three p=one -b / ");
    assert_int_equal(vd_informer_revision(&t->informer), last);
    assert_true(turn_on(t) == VD_INFORMER_IDLE);
    assert_told(t, "");
}

static void without_a_list_of_kinds_all_are_listed(void **state)
{
    struct setting *t = *state;
    begin(t, &(struct vd_informer_options){0});
    assert_true(turn_on(t) == VD_INFORMER_IDLE); /* there are no objects yet */
    assert_told(t, "[ ] ");
    vd_informer_stop(&t->informer);
    put(t->store, "pears", "n", "p", "one");
    put(t->store, "apples", "n", "a", "one");
    begin(t, &(struct vd_informer_options){0});
    assert_true(turn_on(t) == VD_INFORMER_IDLE);
    const char *told = vd_buf_text(&t->told);
    assert_non_null(strstr(told, "+p=one "));
    assert_non_null(strstr(told, "+a=one "));
}

static void other_kinds_do_not_wake_it_and_are_skipped(void **state)
{
    struct setting *t = *state;
    put(t->store, "stones", "n", "s", "one");
    begin(t, &(struct vd_informer_options){.listed = fruit, .followed = fruit});
    assert_true(turn_on(t) == VD_INFORMER_IDLE);
    for (int i = 0; i < 3000; i++)
        put(t->store, "stones", "n", "s", i % 2 ? "a" : "b");
    assert_int_equal(atomic_load(&t->wakes), 0);
    put(t->store, "pears", "n", "p", "one");
    put(t->store, "stones", "n", "s", "c");
    put(t->store, "apples", "n", "a", "one");
    assert_int_equal(atomic_load(&t->wakes), 2);
    assert_true(turn(t) == VD_INFORMER_IDLE); /* the long stretch is not read */
    assert_told(t, "[ ] p=one a=one / ");
}

static void several_handlers_are_told_the_same(void **state)
{
    struct setting *t = *state;
    struct setting other = {.handler = {.ops = &ops}};
    put(t->store, "apples", "n", "a", "one");
    t->handler.ops = &ops;
    vd_informer_init(&t->informer, &(struct vd_informer_options){
                                       .store = t->store, .name = "test", .wake = wake, .arg = t});
    vd_informer_add_handler(&t->informer, &t->handler);
    vd_informer_add_handler(&t->informer, &other.handler);
    vd_informer_start(&t->informer);
    turn_on(t);
    put(t->store, "apples", "n", "a", "two");
    turn_on(t);
    assert_told(t, "[ +a=one ] a=two / ");
    assert_string_equal(vd_buf_text(&other.told), "[ +a=one ] a=two / ");
    vd_buf_release(&other.told);
}

/* Moves the floor above the informer's revision. */
static void fall_behind(struct setting *t)
{
    struct vd_error error;
    put(t->store, "stones", "n", "s", "x");
    assert_ok(vd_store_compact(t->store, vd_store_revision(t->store), &error), &error);
}

static void a_new_list_tells_of_deletions_that_were_missed(void **state)
{
    struct setting *t = *state;
    put(t->store, "apples", "n", "a", "one");
    put(t->store, "apples", "n", "b", "one");
    put(t->store, "pears", "n", "c", "one");
    begin(t, &(struct vd_informer_options){.listed = fruit, .keeps_keys = true});
    turn_on(t);
    assert_told(t, "[ +a=one +b=one +c=one ] ");
    put(t->store, "apples", "n", "d", "one");
    del(t->store, "apples", "n", "b");
    turn_on(t);
    assert_told(t, "d=one -b / ");
    del(t->store, "apples", "n", "a");
    put(t->store, "pears", "n", "c", "two");
    put(t->store, "pears", "n", "e", "one");
    del(t->store, "apples", "n", "d");
    put(t->store, "apples", "n", "d", "again");
    fall_behind(t);
    assert_true(turn_on(t) == VD_INFORMER_IDLE);
    assert_told(t, "[ +d=again +c=two +e=one ?a ] ");
    del(t->store, "pears", "n", "c");
    turn_on(t);
    assert_told(t, "-c / ");
}

static void a_list_that_fails_is_begun_again_after_a_pause(void **state)
{
    struct setting *t = *state;
    char name[16];
    for (int i = 0; i < 600; i++) {
        snprintf(name, sizeof name, "a%03d", i);
        put(t->store, "apples", "n", name, "one");
    }
    begin(t, &(struct vd_informer_options){.listed = apples});
    uint64_t pauses[3];
    for (int i = 0; i < 3; i++) {
        assert_int_equal(turn(t), 0); /* the first piece */
        vd_buf_reset(&t->told);
        put(t->store, "apples", "n", "a000", i % 2 ? "one" : "two");
        fall_behind(t);
        pauses[i] = turn(t);
        assert_told(t, "E ");
        assert_false(vd_informer_is_synced(&t->informer));
    }
    assert_int_equal(pauses[0], VD_INFORMER_RETRY_MS_MIN);
    assert_int_equal(pauses[1], 2 * pauses[0]);
    assert_int_equal(pauses[2], 4 * pauses[0]);
    assert_true(turn_on(t) == VD_INFORMER_IDLE);
    assert_true(vd_informer_is_synced(&t->informer));
}

static void a_turn_is_a_bounded_piece(void **state)
{
    struct setting *t = *state;
    char name[16];
    for (int i = 0; i < 1500; i++) {
        snprintf(name, sizeof name, "a%04d", i);
        put(t->store, "apples", "n", name, "one");
    }
    begin(t, &(struct vd_informer_options){.listed = apples, .keeps_keys = true});
    turn_on(t);
    for (int i = 0; i < 1500; i++) {
        snprintf(name, sizeof name, "a%04d", i);
        del(t->store, "apples", "n", name);
    }
    assert_int_equal(turn(t), 0);
    assert_true(turn_on(t) == VD_INFORMER_IDLE);
    assert_true(t->changes_max <= 256);
    for (int i = 0; i < 1500; i++) {
        snprintf(name, sizeof name, "b%04d", i);
        put(t->store, "apples", "n", name, "one");
    }
    turn_on(t);
    for (int i = 0; i < 1500; i++) {
        snprintf(name, sizeof name, "b%04d", i);
        del(t->store, "apples", "n", name);
    }
    fall_behind(t);
    vd_buf_reset(&t->told);
    turn_on(t);
    size_t missed = 0;
    for (const char *at = vd_buf_text(&t->told); (at = strchr(at, '?')); at++)
        missed++;
    assert_int_equal(missed, 1500);
    assert_true(t->changes_max <= VD_SCAN_STEP_ROWS);
}

static void a_batch_is_passed_whole(void **state)
{
    struct setting *t = *state;
    struct test_change changes[300];
    char names[300][8];
    begin(t, &(struct vd_informer_options){.listed = apples});
    turn_on(t);
    vd_buf_reset(&t->told);
    for (int i = 0; i < 300; i++) {
        snprintf(names[i], sizeof names[i], "a%03d", i);
        changes[i] = (struct test_change){"apples", "n", names[i], NULL, "one"};
    }
    uint64_t last = put_batch(t->store, changes, 300);
    assert_int_equal(turn(t), 0);
    /* A part of the batch was told, and `whole` is not set. */
    assert_null(strchr(vd_buf_text(&t->told), '/'));
    assert_true(turn(t) == VD_INFORMER_IDLE);
    assert_non_null(strchr(vd_buf_text(&t->told), '/'));
    assert_int_equal(vd_informer_revision(&t->informer), last);
}

/* Flips a bit of a body in the file, without the store. */
static void damage(struct setting *t, const char *value)
{
    struct vd_buf path = {0}, bytes = {0}, mark = {0};
    char room[65536];
    vd_store_close(t->store);
    vd_buf_addf(&path, "%s/log.db", t->folder);
    int fd = open(vd_buf_text(&path), O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    for (ssize_t n; (n = read(fd, room, sizeof room)) > 0;)
        vd_buf_add(&bytes, room, (size_t)n);
    vd_buf_addf(&mark, "\"value\":\"%s\"", value);
    const char *at = memmem(bytes.p, bytes.n, mark.p, mark.n);
    assert_non_null(at);
    assert_int_equal(pwrite(fd, "X", 1, at - bytes.p + 10), 1);
    close(fd);
    vd_buf_release(&path);
    vd_buf_release(&bytes);
    vd_buf_release(&mark);
    store_open(t);
}

/* The value of the metric for this informer. */
static unsigned long damaged_total(void)
{
    static const char line[] = "vedette_informer_damaged_objects_total{informer=\"test\"} ";
    struct vd_buf text = {0};
    vd_metrics_write(&text);
    const char *at = strstr(vd_buf_text(&text), line);
    unsigned long value = at ? strtoul(at + sizeof line - 1, NULL, 10) : 0;
    vd_buf_release(&text);
    return value;
}

static void a_damaged_object_is_skipped_and_counted(void **state)
{
    struct setting *t = *state;
    put(t->store, "apples", "n", "a", "one");
    put(t->store, "apples", "n", "b", "victim");
    put(t->store, "pears", "n", "c", "one");
    damage(t, "victim");
    unsigned long before = damaged_total();
    begin(t, &(struct vd_informer_options){.listed = fruit, .keeps_keys = true});
    assert_true(turn_on(t) == VD_INFORMER_IDLE);
    assert_told(t, "[ +a=one !b +c=one ] ");
    assert_int_equal(damaged_total(), before + 1);
    put(t->store, "apples", "n", "b", "healed");
    turn_on(t);
    assert_told(t, "b=healed / ");
}

static void damage_in_the_log_makes_it_list_again(void **state)
{
    struct setting *t = *state;
    put(t->store, "apples", "n", "a", "one");
    uint64_t from = put(t->store, "apples", "n", "b", "one");
    put(t->store, "apples", "n", "b", "victim");
    for (int i = 0; i < 10; i++) /* so that it leaves the tail */
        put(t->store, "pears", "n", "c", i % 2 ? "one" : "two");
    put(t->store, "apples", "n", "b", "three");
    damage(t, "victim");
    begin(t, &(struct vd_informer_options){.listed = fruit});
    turn_on(t);
    vd_buf_reset(&t->told);
    t->informer.revision = t->passed = from; /* as if the informer had not passed the damage yet */
    assert_true(turn_on(t) == VD_INFORMER_IDLE);
    assert_told(t, "[ +a=one +b=three +c=one ] ");
}

/* ---- threads ---- */

/* A follower on a thread of its own, as a loop would be. */
struct follower {
    struct vd_informer informer;
    struct vd_informer_handler handler;
    pthread_mutex_t lock; /* guards the next four */
    pthread_cond_t woken, moved;
    bool due, stopping;
    size_t told; /* `changes` after the last turn */
    size_t changes;
    uint64_t revision;
};

static void follower_changed(struct vd_informer_handler *h, const struct vd_change *change)
{
    struct follower *f = VD_CONTAINER_OF(h, struct follower, handler);
    assert_true(change->now->revision > f->revision || !vd_informer_is_synced(&f->informer));
    if (vd_informer_is_synced(&f->informer))
        f->revision = change->now->revision;
    f->changes++;
}

static void follower_wake(void *arg)
{
    struct follower *f = arg;
    pthread_mutex_lock(&f->lock);
    f->due = true;
    pthread_cond_signal(&f->woken);
    pthread_mutex_unlock(&f->lock);
}

static void *follow(void *arg)
{
    struct follower *f = arg;
    uint64_t after_ms = 0;
    for (;;) {
        pthread_mutex_lock(&f->lock);
        f->told = f->changes;
        pthread_cond_signal(&f->moved);
        while (after_ms && !f->due && !f->stopping)
            pthread_cond_wait(&f->woken, &f->lock);
        bool stop = f->stopping;
        f->due = false;
        pthread_mutex_unlock(&f->lock);
        if (stop)
            return NULL;
        after_ms = vd_informer_turn(&f->informer);
    }
}

struct writer {
    struct vd_store *store;
    const char *resource, *other;
    unsigned id;
};

enum { WRITERS = 4, WRITES = 300 };

static void *write_many(void *arg)
{
    struct writer *w = arg;
    char name[32];
    for (int i = 0; i < WRITES; i++) {
        snprintf(name, sizeof name, "w%u-%d", w->id, i);
        put(w->store, i % 3 ? w->resource : w->other, "n", name, "one");
    }
    return NULL;
}

/* A follower that sleeps when the last commit comes is woken: all changes arrive, each once. */
static void follow_writers(struct setting *t, struct vd_informer_resources resources,
                           const char *resource, const char *other, size_t wanted)
{
    static const struct vd_informer_ops follower_ops = {.changed = follower_changed};
    struct follower f = {.handler = {.ops = &follower_ops}};
    struct writer writers[WRITERS];
    pthread_t threads[WRITERS], thread;
    pthread_mutex_init(&f.lock, NULL);
    pthread_cond_init(&f.woken, NULL);
    pthread_cond_init(&f.moved, NULL);
    vd_informer_init(&f.informer, &(struct vd_informer_options){.store = t->store,
                                                                .name = "follower",
                                                                .listed = resources,
                                                                .followed = resources,
                                                                .wake = follower_wake,
                                                                .arg = &f});
    vd_informer_add_handler(&f.informer, &f.handler);
    vd_informer_start(&f.informer);
    assert_int_equal(pthread_create(&thread, NULL, follow, &f), 0);
    for (unsigned i = 0; i < WRITERS; i++) {
        writers[i] = (struct writer){t->store, resource, other, i};
        assert_int_equal(pthread_create(&threads[i], NULL, write_many, &writers[i]), 0);
    }
    for (unsigned i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
    struct timespec deadline;
    int rc = 0;
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += DEADLINE_S;
    pthread_mutex_lock(&f.lock);
    while (f.told < wanted && rc == 0)
        rc = pthread_cond_timedwait(&f.moved, &f.lock, &deadline);
    f.stopping = true;
    pthread_cond_signal(&f.woken);
    pthread_mutex_unlock(&f.lock);
    pthread_join(thread, NULL);
    assert_int_equal(f.changes, wanted);
    assert_int_equal(vd_informer_revision(&f.informer) >= vd_informer_heard(&f.informer), true);
    vd_informer_stop(&f.informer);
    pthread_mutex_destroy(&f.lock);
    pthread_cond_destroy(&f.woken);
    pthread_cond_destroy(&f.moved);
}

/* The first objects of each resource are created while the informer lists. */
static void no_change_is_lost_under_threads(void **state)
{
    struct setting *t = *state;
    char resource[16], other[16];
    begin(t, &(struct vd_informer_options){0});
    for (size_t round = 0; round < 5; round++) {
        snprintf(resource, sizeof resource, "kind-%zu", round);
        snprintf(other, sizeof other, "other-%zu", round);
        follow_writers(t, (struct vd_informer_resources){0}, resource, other,
                       (round + 1) * WRITERS * WRITES);
    }
    turn_on(t);
}

static void no_change_of_some_kinds_is_lost_under_threads(void **state)
{
    struct setting *t = *state;
    begin(t, &(struct vd_informer_options){0});
    follow_writers(t, apples, "apples", "stones", (size_t)WRITERS * (WRITES - (WRITES + 2) / 3));
    turn_on(t);
}

int main(void)
{
#define TEST(name)         cmocka_unit_test_setup_teardown(name, setup, teardown)
#define TEST_ON_DISK(name) cmocka_unit_test_setup_teardown(name, setup_on_disk, teardown)
    const struct CMUnitTest tests[] = {
        TEST(objects_come_once_then_changes_in_order),
        TEST(without_a_list_of_kinds_all_are_listed),
        TEST(other_kinds_do_not_wake_it_and_are_skipped),
        TEST(several_handlers_are_told_the_same),
        TEST(a_new_list_tells_of_deletions_that_were_missed),
        TEST(a_list_that_fails_is_begun_again_after_a_pause),
        TEST(a_turn_is_a_bounded_piece),
        TEST(a_batch_is_passed_whole),
        TEST_ON_DISK(a_damaged_object_is_skipped_and_counted),
        TEST_ON_DISK(damage_in_the_log_makes_it_list_again),
        TEST(no_change_is_lost_under_threads),
        TEST(no_change_of_some_kinds_is_lost_under_threads),
    };
#undef TEST
#undef TEST_ON_DISK
    return cmocka_run_group_tests(tests, NULL, NULL);
}
