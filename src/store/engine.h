/*
 * A store engine keeps the log's rows safe. Nothing else: preconditions, the
 * index, the window's policy and the watchers are above it.
 *
 * Several processes may have one log open at a time, each with an engine and a store of its own.
 * Such a log is *shared*; `others` are the processes beside the one that an engine belongs to.
 *
 * Obligations of an implementation, checked by tests/unit/store/engine_test.c and
 * engine_others_test.c on every one of them:
 *
 * - commit() makes all rows durable, or none. When it returns VD_OK they survive
 *   kill -9 and power loss. When it returns VD_ERR_FULL or VD_ERR_LOCKED (another
 *   process has had the log for too long, or the database cannot be reached) nothing was
 *   written and the engine can be asked again. So it can after VD_ERR_MEMORY, and after a
 *   VD_ERR_FULL that SQLite met when it extended the index of its write-ahead log: nobody sees the
 *   rows, and the next commit replaces them, but if the process dies before it, the next open may
 *   find them, whole. After any other error the outcome is unknown until the next open; the store
 *   above stops writing. An engine that talks to a server finds out itself what became of a commit
 *   whose answer was lost.
 * - The committer names the head: the newest revision that it has seen. If that is not the newest
 *   of the log, commit() answers VD_ERR_BEHIND, and nothing was written. The committer then asks
 *   state() for the newest revision, and read() for the rows in between. It may find that others
 *   were faster again.
 * - commit() assigns the revisions. They grow from row to row and from commit to
 *   commit and are never used twice, but they need not be dense, neither between commits nor
 *   within one, and nobody may guess one before it is assigned.
 * - compact() names the floor that the caller has seen. If the log's floor is another one,
 *   compact() answers VD_ERR_BEHIND and changes nothing.
 * - state() gives the newest revision, which is always the end of a commit, and the floor, both as
 *   they are at one moment. It also counts the rows that the floor has passed; what others have
 *   compacted is counted, too.
 * - The engine of a shared log calls `wake` after others have committed or have moved the floor,
 *   from any thread, soon but not at once. One call may stand for many commits, a call may have no
 *   reason, and one that is lost is made up for: the store also asks state() from time to time.
 *   When close() has returned, no call is under way and none comes.
 * - In a shared log read() and history() answer VD_ERR_EXPIRED when the floor is above `after` at
 *   the moment of reading, as rows above `after` may then be missing. (In a log of one process the
 *   store knows by itself where the floor is.)
 * - An error names no path and no address: clients are told of it.
 * - commit(), compact(), state(), tidy() and probe() come from one thread at a time, the writer.
 *   read(), history() and get() come from any thread, at any time, and see whole commits only.
 * - A row whose bytes are not what was written is never handed out as if it
 *   were: a wrong body is marked `damaged`, a wrong head ends the call with
 *   VD_ERR_CORRUPT. Either names the revision.
 */
#ifndef VD_STORE_ENGINE_H
#define VD_STORE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "store/row.h"

/* The log as it stands at one moment. */
struct vd_engine_state {
    uint64_t revision; /* newest, or the one that the next will follow */
    uint64_t floor;    /* cursors at or below it are expired */
    uint64_t passed;   /* rows that the floor has passed, counted from an arbitrary start: only the
                          difference between two states has a meaning */
};

/* How a commit is made. */
struct vd_engine_commit {
    uint64_t head; /* the newest revision that the committer has seen */
    bool patient;  /* whether the commit waits for another process that has the log; if not, that is
                      VD_ERR_LOCKED at once */
};

/* What a compaction does. */
struct vd_compaction {
    const uint64_t *dead; /* the rows to remove; those that are gone already are ignored */
    size_t n;
    uint64_t floor_seen; /* the floor as the caller has seen it */
    uint64_t floor;      /* the new floor */
    size_t passed; /* how many rows are between the two floors, whether they are removed or stay */
};

struct vd_engine_stats {
    uint64_t rows;
    uint64_t file_bytes; /* on disk, with what has not been checkpointed into the main file */
    uint64_t free_bytes; /* of those, room that deleted rows have left for new ones */
};

struct vd_engine {
    const struct vd_engine_ops *ops;
    const char *where; /* for the log's lines: the folder or the address; "": neither */
    bool shared;       /* other processes commit to the same log */
    bool thread_only;  /* a commit may take long: only the writer's thread makes one, never a
                          proposer's own thread, which may be an event loop */
    /* The implementation's fields follow. */
};

struct vd_engine_ops {
    const char *name;

    void (*close)(struct vd_engine *engine);

    /* All rows, newest first, and the state of the log at that moment, which is set before the
     * first row is given. */
    int (*load)(struct vd_engine *engine, const struct vd_row_sink *sink,
                struct vd_engine_state *state, struct vd_error *error);

    int (*commit)(struct vd_engine *engine, struct vd_engine_commit how, struct vd_row *rows,
                  size_t n, struct vd_error *error);

    int (*state)(struct vd_engine *engine, struct vd_engine_state *state, struct vd_error *error);

    /* Sets the function that the engine of a shared log calls when others have committed or
     * compacted. It is set once, before the first commit. NULL in an engine whose logs are never
     * shared. */
    void (*on_others)(struct vd_engine *engine, void (*wake)(void *arg), void *arg);

    /* Rows with after < revision <= upto, oldest first, at most rows_max of them. */
    int (*read)(struct vd_engine *engine, uint64_t after, uint64_t upto, size_t rows_max,
                const struct vd_row_sink *sink, struct vd_error *error);

    /* The same rows, but of one resource (empty: of all), each with the version that it replaced,
     * in one query. rows_max also counts the rows of other resources that are passed. */
    int (*history)(struct vd_engine *engine, struct vd_slice resource, uint64_t after,
                   uint64_t upto, size_t rows_max, const struct vd_history_sink *sink,
                   struct vd_error *error);

    /* The newest row at or below a revision; VD_ERR_NOT_FOUND when there is none. */
    int (*get)(struct vd_engine *engine, uint64_t revision, const struct vd_row_sink *sink,
               struct vd_error *error);

    /* Removes rows and moves the floor, together and durably. After an error, reads still find the
     * rows, even if the next open does not. */
    int (*compact)(struct vd_engine *engine, const struct vd_compaction *what,
                   struct vd_error *error);

    /* Does a bounded piece of housekeeping; it can wait until the proposers have been answered. */
    int (*tidy)(struct vd_engine *engine, struct vd_error *error);

    /* Finds out whether the next commit would find room: writes durably, like a commit that does
     * not wait for other processes, but changes nothing. The errors are those of commit(). */
    int (*probe)(struct vd_engine *engine, struct vd_error *error);

    int (*stats)(struct vd_engine *engine, struct vd_engine_stats *out, struct vd_error *error);
};

#endif
