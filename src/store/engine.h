/*
 * A store engine keeps the log's rows safe. Nothing else: preconditions, the
 * index, the window's policy and the watchers are above it.
 *
 * Obligations of an implementation, checked by tests/unit/store/engine_test.c
 * on every one of them:
 *
 * - commit() makes all rows durable, or none. When it returns VD_OK they survive
 *   kill -9 and power loss. When it returns VD_ERR_FULL or VD_ERR_LOCKED (another
 *   process has had the log for too long) nothing was written and the engine can be
 *   asked again. So it can after VD_ERR_MEMORY: nobody sees the rows, and the next commit
 *   replaces them, but if the process dies before it, the next open may find them, whole.
 *   After any other error the outcome is unknown
 *   until the next open; the store above stops writing.
 * - commit() assigns the revisions. They grow from row to row and from commit to
 *   commit and are never used twice, but they need not be dense, and nobody may
 *   guess one before it is assigned.
 * - An error names no path: clients are told of it.
 * - commit(), compact(), tidy() and probe() come from one thread. read() and get() come
 *   from any thread, at any time, and see whole commits only.
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
#include "store/event.h"

/* One row of the log. Slices are borrowed: until the callback returns when a
 * row is read, until commit() returns when one is written. */
struct vd_row {
    uint64_t revision;
    uint64_t previous;
    size_t previous_row; /* commit: 1 + the place in this commit of the row that this one
                            replaces; then the engine sets `previous`. 0: it is set already */
    int64_t time_ms;
    enum vd_event_type type;
    bool more;
    bool damaged; /* read: the body's checksum is wrong, and the body is not given */
    uint32_t body_len;
    struct vd_key key;
    struct vd_uid uid;
    struct vd_template body; /* empty for a deletion, whose body is the version's before */
};

/* Where rows are read to. `wants` sees the row without its body and says whether
 * to fetch it; NULL wants all. `take` returns false to stop. */
struct vd_row_sink {
    bool (*wants)(void *arg, const struct vd_row *head);
    bool (*take)(void *arg, const struct vd_row *row);
    void *arg;
};

/* What an engine knows at once when it is opened. */
struct vd_engine_state {
    uint64_t revision; /* newest, or the one that the next will follow */
    uint64_t floor;    /* cursors at or below it are expired */
};

struct vd_engine_stats {
    uint64_t rows;
    uint64_t file_bytes; /* on disk, with what is not yet folded into the main file */
    uint64_t free_bytes; /* of those, room that deleted rows have left for new ones */
};

struct vd_engine {
    const struct vd_engine_ops *ops; /* the implementation's fields follow */
};

struct vd_engine_ops {
    const char *name;

    void (*close)(struct vd_engine *engine);

    /* All rows, newest first. */
    int (*load)(struct vd_engine *engine, const struct vd_row_sink *sink, struct vd_error *error);

    int (*commit)(struct vd_engine *engine, struct vd_row *rows, size_t n, struct vd_error *error);

    /* Whether commits wait for another process that has the log, as they do at first. */
    void (*be_patient)(struct vd_engine *engine, bool patient);

    /* Rows with after < revision <= upto, oldest first, at most rows_max of them. */
    int (*read)(struct vd_engine *engine, uint64_t after, uint64_t upto, size_t rows_max,
                const struct vd_row_sink *sink, struct vd_error *error);

    /* The row of one revision; VD_ERR_NOT_FOUND when it is gone. */
    int (*get)(struct vd_engine *engine, uint64_t revision, const struct vd_row_sink *sink,
               struct vd_error *error);

    /* Removes these rows and moves the floor, together and durably. After an error
     * reads find the rows as before, whatever the next open finds. */
    int (*compact)(struct vd_engine *engine, const uint64_t *dead, size_t n, uint64_t floor,
                   struct vd_error *error);

    /* Housekeeping that can wait until writers were answered; does a bounded piece. */
    int (*tidy)(struct vd_engine *engine, struct vd_error *error);

    /* Writes as a commit does, durably, and changes nothing: whether the next commit would find
     * room. The errors are those of commit(). */
    int (*probe)(struct vd_engine *engine, struct vd_error *error);

    int (*stats)(struct vd_engine *engine, struct vd_engine_stats *out, struct vd_error *error);
};

/* Keeps everything in this process's memory: for tests and scratch servers. */
int vd_memory_engine_open(struct vd_engine **out, struct vd_engine_state *state,
                          struct vd_error *error) VD_MUST_USE;

struct vd_sqlite_options {
    const char *folder;      /* must exist; the log is folder/log.db */
    const char *vfs;         /* an SQLite VFS, NULL for the system's own; tests put a faulty disk
                                there */
    size_t checkpoint_pages; /* pages of the write-ahead log after which it is folded into the
                                main file; 0: VD_CHECKPOINT_PAGES_DEFAULT */
    int busy_ms;             /* how long another process may have the log; 0: VD_LOG_BUSY_MS */
    bool must_exist;         /* the log is not made: there was one */
};

/* Keeps the log in an SQLite file. */
int vd_sqlite_engine_open(struct vd_engine **out, const struct vd_sqlite_options *options,
                          struct vd_engine_state *state, struct vd_error *error) VD_MUST_USE;

#endif
