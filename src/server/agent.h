/*
 * An agent: a part of the server that follows the log and acts on what it sees.
 *
 * It is given every object once, then every change, and keeps from that what it
 * needs. What may have to be done is a *job*, queued as often as one likes: when its
 * turn comes, it looks at the store, sends at most one *errand* there - changes that
 * hold only if nothing has moved since it looked - and is run again when the errand
 * has been answered, until it finds nothing left to do. So a conflict needs no
 * special care, nor does a restart, nor a burst of events about one thing.
 *
 * All of it happens on one loop, in small pieces; no function here waits, but for
 * vd_agent_stop().
 */
#ifndef VD_SERVER_AGENT_H
#define VD_SERVER_AGENT_H

#include "base/arena.h"
#include "kinds/registry.h"
#include "net/loop.h"
#include "server/remains.h"
#include "store/commit.h"
#include "store/log_read.h"
#include "store/snapshot.h"
#include "store/store.h"
#include "json/document.h"

struct vd_agent;

struct vd_agent_options {
    struct vd_store *store;
    struct vd_kinds *kinds;
    const struct vd_clock *clock;
    struct vd_loop *loop;
    struct vd_slice load_only; /* a storage key: only its objects are given when loading, though
                                  changes of all kinds are. Empty: all. A constant */
};

struct vd_agent_ops {
    /* The objects of this moment are about to be given, all of them: at the start,
     * and when the log could not be followed. What is not given is not there. */
    void (*loading)(struct vd_agent *agent);
    /* An object (`before` is NULL), or a change. Borrowed for the call. */
    void (*take)(struct vd_agent *agent, const struct vd_change *change);
    /* All have been given. Jobs are run from now on. */
    void (*loaded)(struct vd_agent *agent);
};

/* Embedded in whatever it is about, which must stay while the job is not idle. */
struct vd_job {
    void (*run)(struct vd_agent *agent, struct vd_job *job); /* may free an idle job */
    struct vd_job *next;
    enum { VD_JOB_IDLE, VD_JOB_QUEUED, VD_JOB_BUSY } state;
    enum vd_code code; /* of its last errand */
};

struct vd_job_queue {
    struct vd_job *first, **end;
};

struct vd_agent {
    struct vd_agent_options options;
    const struct vd_agent_ops *ops;
    /* Private: */
    struct vd_subscriber listener;
    struct vd_task turn;
    _Atomic bool turn_posted;
    struct vd_kind_set *kinds; /* while loading */
    size_t kind_at;
    struct vd_snapshot snapshot;
    bool loaded;
    uint64_t revision; /* everything up to here was given */
    struct vd_stretch stretch;
    struct vd_job_queue queue; /* to be run */
    struct vd_job_queue later; /* the store could not: after a pause */
    struct vd_timer pause;
    size_t busy; /* errands on their way */
    struct vd_task stop;
    bool stopping, quiet;
    uv_sem_t stopped;
};

/* Before the loop starts or while it runs, from any thread. The ops are called on
 * the loop. */
void vd_agent_start(struct vd_agent *agent, const struct vd_agent_options *options,
                    const struct vd_agent_ops *ops);

/* While the loop runs, from another thread: waits until the agent has come to rest
 * and nothing of it is called any more. The store must still be open. */
void vd_agent_stop(struct vd_agent *agent);

/* ---- on the loop ---- */

/* The job will be run, once. */
void vd_agent_queue(struct vd_agent *agent, struct vd_job *job);

/* The stored kinds, one by one: kinds in several groups or versions come once. */
const struct vd_kind *vd_agent_next_kind(const struct vd_kind_set *set, size_t *at);

/* The newest version of an object: a reference, and the document in the arena if
 * asked for. VD_ERR_NOT_FOUND, VD_ERR_CORRUPT. */
int vd_agent_read(struct vd_agent *agent, const struct vd_key *key, struct vd_arena *arena,
                  struct vd_event **out, struct vd_json **object) VD_MUST_USE;

/* Changes that a job wants, all or none. */
struct vd_errand;

struct vd_errand *vd_errand_new(struct vd_agent *agent, struct vd_job *job) VD_MUST_USE;

/* For documents that are changed on their way. */
struct vd_arena *vd_errand_arena(struct vd_errand *errand);

size_t vd_errand_count(const struct vd_errand *errand);

/* A new object, which gets a uid and a time. */
void vd_errand_create(struct vd_errand *errand, struct vd_slice storage_key,
                      struct vd_json *object);

/* The object instead of this version. One that was waiting for the finalizer that
 * has been taken off is deleted. */
void vd_errand_replace(struct vd_errand *errand, const struct vd_event *event,
                       const struct vd_json *object);

/* Deletes this version, or marks it if it has finalizers; `policy` as in
 * struct vd_deletion. One that is marked already is left alone. The object is
 * the version's document and may have been changed. */
void vd_errand_delete(struct vd_errand *errand, const struct vd_event *event,
                      struct vd_json *object, struct vd_slice policy);

/* Only while this version is the newest; one at most. */
void vd_errand_require(struct vd_errand *errand, const struct vd_event *event);

/* Deletes the newest versions of the next few objects of the snapshot, as above; *n is
 * how many there were. Those that stay for their finalizers are counted in `remains`, if it is
 * not NULL. The error is the snapshot's. */
int vd_errand_delete_next(struct vd_errand *errand, struct vd_snapshot *snapshot, size_t *n,
                          struct vd_remains *remains) VD_MUST_USE;

/* Takes the errand over. One without changes is only freed, and the job is done. */
void vd_errand_send(struct vd_errand *errand);

#endif
