/*
 * Durable writes: one, 16 and 256 writers, each waiting for its answer before it
 * writes again, beside what the disk and plain SQLite do in the same run. The
 * figures are taken in turns, because a shared machine's disk changes by the second.
 *
 *   put_bench [parts]      with `parts` it prints only two numbers: the writes a second of plain
 *                          SQLite and of the store with one writer
 */
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "measure.h"

enum {
    ROUNDS = 5,
    BODY_LEN = 1024,
    LOOPS = 2, /* threads that drive many writers, as a server's event loops do */
};

static const double ROUND_S = 0.7;

static double raw_sync(const char *folder)
{
    struct vd_buf path = {0};
    char page[4096] = {1};
    size_t n = 0;
    vd_buf_addf(&path, "%s/raw", folder);
    int fd = open(vd_buf_text(&path), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    double start = measure_now_s();
    while (measure_now_s() - start < ROUND_S) {
        if (pwrite(fd, page, sizeof page, (off_t)(n * sizeof page)) < 0 || fdatasync(fd) != 0)
            exit(2);
        n++;
    }
    double rate = (double)n / (measure_now_s() - start);
    close(fd);
    unlink(vd_buf_text(&path));
    vd_buf_release(&path);
    return rate;
}

/* One INSERT in each transaction, with SQLite's defaults for everything but WAL mode and
 * synchronous=FULL. */
static double raw_sqlite(const char *folder)
{
    struct vd_buf path = {0}, room = {0};
    sqlite3 *db = NULL;
    sqlite3_stmt *insert = NULL;
    size_t n = 0;
    vd_buf_addf(&path, "%s/raw.db", folder);
    sqlite3_open(vd_buf_text(&path), &db);
    sqlite3_exec(db,
                 "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE IF NOT EXISTS "
                 "log(revision INTEGER PRIMARY KEY, kind, namespace, name, uid, type, previous,"
                 " body, crc)",
                 NULL, NULL, NULL);
    sqlite3_prepare_v2(db, "INSERT INTO log VALUES(NULL,'things','default','o-1','u',1,0,?,0)", -1,
                       &insert, NULL);
    struct vd_template body = measure_body(&room, "o-1", 1, BODY_LEN);
    double start = measure_now_s();
    while (measure_now_s() - start < ROUND_S) {
        sqlite3_bind_blob(insert, 1, body.bytes.p, (int)body.bytes.n, SQLITE_STATIC);
        if (sqlite3_step(insert) != SQLITE_DONE)
            exit(2);
        sqlite3_reset(insert);
        n++;
    }
    double rate = (double)n / (measure_now_s() - start);
    sqlite3_finalize(insert);
    sqlite3_close(db);
    vd_buf_release(&path);
    vd_buf_release(&room);
    return rate;
}

static double one_writer(struct vd_store *store)
{
    struct vd_buf room = {0};
    size_t n = 0;
    double start = measure_now_s();
    while (measure_now_s() - start < ROUND_S) {
        struct vd_outcome outcome;
        struct vd_wish wish = {
            .key = {VD_SLICE("things"), VD_SLICE("default"), VD_SLICE("o-1")},
            .body = measure_body(&room, "o-1", (uint64_t)(start * 1e6) + n, BODY_LEN),
        };
        if (vd_store_commit(store, &wish, 1, &outcome))
            exit(2);
        n++;
    }
    vd_buf_release(&room);
    return (double)n / (measure_now_s() - start);
}

/* ---- many writers on a few loops ---- */

struct loop {
    pthread_t thread;
    pthread_mutex_t lock; /* guards answered */
    pthread_cond_t filled;
    struct vd_proposal *answered; /* writers whose last write was answered */
    struct vd_store *store;
    size_t writers, from;
    size_t written;
};

struct writer {
    struct vd_proposal proposal;
    struct vd_wish wish;
    struct vd_buf room;
    struct loop *loop;
    uint64_t n;
    char name[24];
};

static void answered(struct vd_proposal *p, const struct vd_outcome *outcome)
{
    struct loop *loop = ((struct writer *)p->arg)->loop;
    if (outcome->code)
        exit(2);
    pthread_mutex_lock(&loop->lock);
    p->next = loop->answered;
    loop->answered = p;
    if (!p->next)
        pthread_cond_signal(&loop->filled);
    pthread_mutex_unlock(&loop->lock);
}

static void write_next(struct writer *w)
{
    w->wish.body = measure_body(&w->room, w->name, ++w->n, BODY_LEN);
    vd_store_propose(w->loop->store, vd_admitted_of(&w->proposal));
}

static struct vd_proposal *wait_for_answers(struct loop *loop)
{
    pthread_mutex_lock(&loop->lock);
    while (!loop->answered)
        pthread_cond_wait(&loop->filled, &loop->lock);
    struct vd_proposal *list = loop->answered;
    loop->answered = NULL;
    pthread_mutex_unlock(&loop->lock);
    return list;
}

static void *drive(void *arg)
{
    struct loop *loop = arg;
    struct writer *writers = vd_calloc(loop->writers, sizeof *writers);
    size_t in_flight = loop->writers;
    double start = measure_now_s();
    for (size_t i = 0; i < loop->writers; i++) {
        struct writer *w = &writers[i];
        w->loop = loop;
        w->n = (uint64_t)(start * 1e6);
        snprintf(w->name, sizeof w->name, "o-%zu", loop->from + i);
        w->wish.key = (struct vd_key){VD_SLICE("things"), VD_SLICE("default"),
                                      vd_slice_of(w->name)};
        w->proposal = (struct vd_proposal){&w->wish, 1, answered, w, NULL};
        write_next(w);
    }
    while (in_flight) {
        bool go_on = measure_now_s() - start < ROUND_S;
        for (struct vd_proposal *p = wait_for_answers(loop), *next; p; p = next) {
            next = p->next;
            loop->written++;
            if (go_on)
                write_next(p->arg);
            else
                in_flight--;
        }
    }
    for (size_t i = 0; i < loop->writers; i++)
        vd_buf_release(&writers[i].room);
    free(writers);
    return NULL;
}

static double many_writers(struct vd_store *store, size_t writers)
{
    struct loop loops[LOOPS] = {{0}};
    size_t written = 0;
    double start = measure_now_s();
    for (size_t i = 0; i < LOOPS; i++) {
        loops[i].store = store;
        loops[i].writers = writers / LOOPS;
        loops[i].from = i * writers;
        pthread_mutex_init(&loops[i].lock, NULL);
        pthread_cond_init(&loops[i].filled, NULL);
        pthread_create(&loops[i].thread, NULL, drive, &loops[i]);
    }
    for (size_t i = 0; i < LOOPS; i++) {
        pthread_join(loops[i].thread, NULL);
        written += loops[i].written;
    }
    return (double)written / (measure_now_s() - start);
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *figures)
{
    qsort(figures, ROUNDS, sizeof *figures, by_size);
    return figures[ROUNDS / 2];
}

/* For server_bench.sh, which compares the server with these: prints the writes a second of plain
 * SQLite and of the store with one writer. */
static int parts(void)
{
    char *folder = measure_folder_new();
    struct vd_store *store = measure_open(folder, NULL);
    double sqlite[ROUNDS], one[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        sqlite[i] = raw_sqlite(folder);
        one[i] = one_writer(store);
    }
    vd_store_close(store);
    measure_folder_remove(folder);
    printf("%.0f %.0f\n", median(sqlite), median(one));
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "parts") == 0)
        return parts();
    char *folder = measure_folder_new();
    struct vd_store *store = measure_open(folder, NULL);
    double sync[ROUNDS], sqlite[ROUNDS], one[ROUNDS], few[ROUNDS], many[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        sync[i] = raw_sync(folder);
        sqlite[i] = raw_sqlite(folder);
        one[i] = one_writer(store);
        few[i] = many_writers(store, 16);
        many[i] = many_writers(store, 256);
    }
    vd_store_close(store);
    measure_folder_remove(folder);
    double s = median(sync), q = median(sqlite), w = median(one), m = median(many);
    char note[128];
    printf("durable writes of %d bytes, medians of %d rounds\n", BODY_LEN, ROUNDS);
    measure_print("raw fdatasync of 4 KiB", s, "/s", "");
    measure_print("raw SQLite, a transaction each", q, "/s", "");
    snprintf(note, sizeof note, ">= 0.7 x fdatasync or >= 0.9 x SQLite (is %.2f and %.2f)", w / s,
             w / q);
    measure_target("store, 1 writer", w, "/s", w >= 0.7 * s || w >= 0.9 * q, note);
    measure_print("store, 16 writers", median(few), "/s", "");
    measure_target("store, 256 writers", m, "/s", m >= 60000, ">= 60,000/s");
    return 0;
}
