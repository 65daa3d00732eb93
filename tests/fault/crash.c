/*
 * kill -9, again and again.
 *
 *     crash --cycles N [--seed S]     N cycles in a new folder; ends with a summary
 *
 * Each cycle starts a worker (this program again) that opens the store and lets
 * writers and watchers loose on it. The worker tells everything through a pipe,
 * the moment it happens: "this was acknowledged", "this watcher was shown that".
 * It is then killed, at a random moment or at one of the named failpoints around
 * a durable step. The parent, which has heard every word up to the end, opens the
 * store, reads on in the log, and checks the guarantees by name: nothing that was
 * acknowledged or shown is lost or different, no revision is used twice, batches
 * are whole, and each watcher goes on in the next worker where this one's last
 * word left it.
 */
#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/failpoint.h"
#include "crash_worker.h"
#include "fixture.h"
#include "guarantees.h"
#include "seed.h"

enum {
    LIFE_WORDS_MAX = 600,      /* a worker is killed when it has said so many, or fewer */
    LIFE_MS_MAX = 20000,       /* a worker that is so slow is killed all the same */
    FAILPOINT_PASSES_MAX = 10, /* the n-th pass of a failpoint that kills */
    FACTS_KEPT_MAX = 100000,
    ALL_REACHED_CYCLES = 200, /* enough to have been at every failpoint */
    AWAY_ODDS = 20,           /* one in so many cycles a watcher goes away ... */
    AWAY_CYCLES = 8,          /* ... for so many, on average */
};

static const char *const failpoints[] = {
#define FAILPOINT(name) name,
    VD_FAILPOINT_NAMES(FAILPOINT)
#undef FAILPOINT
};
enum { FAILPOINTS = sizeof failpoints / sizeof *failpoints };

struct test {
    char *folder;
    struct seed_rng random;
    struct history history;
    struct stream streams[CRASH_WATCHERS]; /* of this cycle */
    struct crash_plan plan;                /* for the next worker */
    VD_VEC(struct fact) acknowledged;
    uint64_t revision; /* newest after the last cycle */
    size_t cycles, acks, sights, expiries, breaches;
    size_t failpoint_next, failpoint_kills[FAILPOINTS];
    bool ended_by_itself; /* the last worker died before it was killed */
};

static size_t breach_count(struct test *t, bool bad, const char *what)
{
    if (bad)
        fprintf(stderr, "BREACH: cycle %zu: %s\n", t->cycles, what);
    return bad;
}

/* ---- the worker's words ---- */

static void hear(struct test *t, const struct crash_word *word)
{
    struct stream *stream = &t->streams[word->watcher];
    switch (word->says) {
    case CRASH_ACKNOWLEDGED:
        *VD_VEC_PUSH(&t->acknowledged) = word->fact;
        t->acks++;
        break;
    case CRASH_BEGAN:
        stream_begin(stream, word->flag, word->revision);
        break;
    case CRASH_SHOWN:
        stream_see(stream, word->sight, word->flag);
        if (word->flag) /* a client that has seen an event has passed it */
            stream_pass(stream, word->sight.revision);
        t->sights++;
        break;
    case CRASH_PASSED:
        stream_pass(stream, word->revision);
        if (word->flag)
            stream_bookmark(stream, word->revision);
        break;
    case CRASH_EXPIRED:
        stream->segments.p[stream->segments.n - 1].expired = true;
        t->expiries++;
        break;
    }
}

/* Listens until the pipe ends. Kills the worker after so many words; time plays no
 * part in it, so that a slow machine sees the same test. */
static void listen_to(struct test *t, int fd, pid_t worker, size_t words_max)
{
    struct crash_word words[64];
    size_t have = 0, heard = 0;
    uint64_t end_ns = vd_clock_mono_ns(vd_clock_system()) + LIFE_MS_MAX * (uint64_t)1000000;
    bool killed = false;
    for (;;) {
        uint64_t now_ns = vd_clock_mono_ns(vd_clock_system());
        if (!killed && (heard >= words_max || now_ns >= end_ns)) {
            kill(worker, SIGKILL);
            killed = true;
        }
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int wait_ms = killed ? -1 : (int)((end_ns - now_ns) / 1000000u) + 1;
        if (poll(&p, 1, wait_ms) <= 0)
            continue;
        ssize_t n = read(fd, (char *)words + have, sizeof words - have);
        if (n <= 0)
            break;
        have += (size_t)n;
        size_t whole = have / sizeof *words;
        for (size_t i = 0; i < whole; i++)
            hear(t, &words[i]);
        heard += whole;
        have -= whole * sizeof *words;
        memmove(words, &words[whole], have);
    }
    t->ended_by_itself = !killed;
}

/* ---- after the kill ---- */

/* Reads what the log has gained, and that is all there is behind the last cycle. */
static void read_on(struct test *t, struct vd_store *store)
{
    struct vd_stretch stretch = {0};
    struct vd_error error;
    uint64_t after = t->revision;
    bool more = false;
    while (after < vd_store_revision(store)) {
        if (vd_store_read(store, VD_SLICE(""), after, 1000, &stretch, &error)) {
            t->breaches += breach_count(t, true, error.text);
            break;
        }
        for (size_t i = 0; i < stretch.changes.n; i++) {
            history_add(&t->history, fact_of(stretch.changes.p[i].now));
            more = stretch.changes.p[i].now->more;
        }
        after = stretch.upto;
    }
    t->breaches += breach_count(t, more, "the log ends inside an atomic batch");
    vd_stretch_release(&stretch);
}

/* Keeps the memory of long runs in bounds: old facts concern nobody any more. */
static void forget_old_facts(struct test *t)
{
    size_t n = t->history.facts.n;
    if (n < FACTS_KEPT_MAX)
        return;
    size_t cut = n / 2;
    memmove(t->history.facts.p, &t->history.facts.p[cut], (n - cut) * sizeof(struct fact));
    t->history.facts.n = n - cut;
    for (size_t i = 0; i < t->history.facts.n; i++) {
        struct fact *fact = &t->history.facts.p[i];
        fact->before = fact->before > cut ? fact->before - cut : 0;
    }
}

/* The next worker's watcher goes on where this one's last word left it. */
static void plan_next(struct test *t, int i)
{
    struct stream *stream = &t->streams[i];
    const struct segment *last = stream->segments.n ? &stream->segments.p[stream->segments.n - 1]
                                                    : NULL;
    if (last) {
        bool known = !last->expired && last->upto >= last->from;
        t->plan.resume[i] = known ? last->upto : 0;
    }
    if (seed_once_in(&t->random, 20))
        t->plan.resume[i] = 0; /* a new client */
    /* Some stay away long enough to fall out of the window. */
    if (seed_once_in(&t->random, t->plan.away[i] ? AWAY_CYCLES : AWAY_ODDS))
        t->plan.away[i] = !t->plan.away[i];
    stream_release(stream);
    *stream = (struct stream){.id = i, .want = t->plan.want[i]};
}

static void examine(struct test *t)
{
    struct vd_store *store = NULL;
    struct vd_error error;
    struct vd_store_options options = crash_store_options;
    struct vd_folder folder = crash_folder(t->folder);
    options.tail_events_max = 1 + (unsigned)seed_below(&t->random, 1000);
    if (vd_store_open_in(&store, &folder, &options, &error)) {
        t->breaches += breach_count(t, true, error.text);
        return;
    }
    t->breaches += breach_count(t, vd_store_revision(store) < t->revision, "revisions went back");
    read_on(t, store);
    t->revision = vd_store_revision(store);
    t->breaches += check_durable(&t->history, t->acknowledged.p, t->acknowledged.n);
    t->breaches += check_state(&t->history, store);
    for (int i = 0; i < CRASH_WATCHERS; i++)
        t->breaches += check_stream(&t->history, &t->streams[i]);
    vd_store_close(store);
}

/* ---- a cycle ---- */

static pid_t start_worker(struct test *t, const char *program, int fds[2], const char *failpoint)
{
    char point[64] = "", plan[128], fd[16];
    crash_plan_write(&t->plan, t->folder, plan, sizeof plan);
    snprintf(fd, sizeof fd, "%d", fds[1]);
    if (failpoint)
        snprintf(point, sizeof point, "%s:%u", failpoint,
                 1 + (unsigned)seed_below(&t->random, FAILPOINT_PASSES_MAX));
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    close(fds[0]);
    setenv("VEDETTE_FAILPOINT", point, 1);
    execl(program, program, "--worker", t->folder, plan, fd, (char *)NULL);
    _exit(127);
}

/* Half of the cycles end at a failpoint, each in its turn. */
static void cycle(struct test *t, const char *program)
{
    int fds[2], status = 0;
    bool at_failpoint = t->cycles % 2;
    size_t point = at_failpoint ? t->failpoint_next++ % FAILPOINTS : 0;
    t->acknowledged.n = 0;
    t->plan.seed = seed_next(&t->random);
    if (pipe(fds) != 0)
        abort();
    pid_t worker = start_worker(t, program, fds, at_failpoint ? failpoints[point] : NULL);
    close(fds[1]);
    listen_to(t, fds[0], worker,
              at_failpoint ? SIZE_MAX : (unsigned)seed_below(&t->random, LIFE_WORDS_MAX));
    close(fds[0]);
    waitpid(worker, &status, 0);
    t->failpoint_kills[point] += at_failpoint && t->ended_by_itself;
    t->breaches += breach_count(t, !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL,
                                "the worker ended by itself");
    t->cycles++;
    examine(t);
    for (int i = 0; i < CRASH_WATCHERS; i++)
        plan_next(t, i);
    forget_old_facts(t);
}

/* False when the run was too quiet to show anything. */
static bool summarise(const struct test *t, uint64_t seed)
{
    size_t kills = 0, unreached = 0;
    for (size_t i = 0; i < FAILPOINTS; i++) {
        kills += t->failpoint_kills[i];
        unreached += t->failpoint_kills[i] == 0;
        printf("killed %4zu times at %s\n", t->failpoint_kills[i], failpoints[i]);
    }
    printf("killed %4zu times at a random moment\n", t->cycles - kills);
    printf("%zu cycles (seed %llu), %zu acknowledged writes, %zu deliveries, %zu expired cursors, "
           "revision %llu: %zu violations\n",
           t->cycles, (unsigned long long)seed, t->acks, t->sights, t->expiries,
           (unsigned long long)t->revision, t->breaches);
    if (t->cycles >= ALL_REACHED_CYCLES && unreached)
        printf("%zu failpoints were never reached\n", unreached);
    return t->acks >= t->cycles && t->sights >= t->cycles &&
           (t->cycles < ALL_REACHED_CYCLES || !unreached);
}

/* Fills the window, so that compaction is never far away and a cycle ends before the
 * window has moved past what it wrote. */
static void fill_window(struct test *t)
{
    struct vd_store *store = NULL;
    struct vd_error error;
    struct vd_store_options options = crash_store_options;
    struct vd_folder folder = crash_folder(t->folder);
    if (vd_store_open_in(&store, &folder, &options, &error)) {
        fprintf(stderr, "%s\n", error.text);
        abort();
    }
    for (size_t i = 0; i < options.window_events_max; i++) {
        char value[WORD_MAX];
        snprintf(value, sizeof value, "fill-%zu", i);
        put(store, i % 2 ? "alphas" : "betas", "n1", "a", value);
    }
    read_on(t, store);
    t->revision = vd_store_revision(store);
    vd_store_close(store);
}

static int run(const char *program, size_t cycles, uint64_t seed)
{
    struct test t = {.folder = temp_folder_new(), .random = {seed}, .revision = 1};
    crash_plan_init(&t.plan);
    for (int i = 0; i < CRASH_WATCHERS; i++)
        t.streams[i] = (struct stream){.id = i, .want = t.plan.want[i]};
    fill_window(&t);
    while (t.cycles < cycles && !t.breaches) {
        cycle(&t, program);
        if (isatty(2) && (t.cycles % 10 == 0 || t.cycles == cycles))
            fprintf(stderr, "\r%zu of %zu cycles", t.cycles, cycles);
    }
    if (isatty(2))
        fputc('\n', stderr);
    bool bad = !summarise(&t, seed) || t.breaches;
    for (int i = 0; i < CRASH_WATCHERS; i++)
        stream_release(&t.streams[i]);
    history_release(&t.history);
    VD_VEC_RELEASE(&t.acknowledged);
    if (bad)
        printf("the store is kept in %s\n", t.folder);
    else
        temp_folder_remove(t.folder);
    return bad;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"cycles", required_argument, NULL, 'n'}, {"seed", required_argument, NULL, 's'}, {0}};
    uint64_t cycles = 200, seed = seed_of_run();
    if (argc == 5 && strcmp(argv[1], "--worker") == 0)
        return crash_worker_run(argv[2], argv[3], argv[4]);
    for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        uint64_t *number = o == 'n' ? &cycles : o == 's' ? &seed : NULL;
        if (!number || vd_slice_to_u64(vd_slice_of(optarg), number) != 0) {
            fprintf(stderr, "usage: crash [--cycles N] [--seed S]\n");
            return 2;
        }
    }
    return run(argv[0], cycles, seed);
}
