/*
 * The Kubernetes face: REST over the store.
 *
 * The server has one `struct vd_kube` and, on each loop, one `struct vd_kube_loop`
 * with that loop's watchers. It gives every request to vd_kube_handle() once it
 * knows who is asking.
 */
#ifndef VD_KUBE_KUBE_H
#define VD_KUBE_KUBE_H

#include "api/loop.h"
#include "auth/access.h"
#include "auth/rbac.h"
#include "auth/service_account.h"
#include "auth/user.h"
#include "kinds/registry.h"
#include "kube/discovery/documents.h"
#include "kube/meter.h"
#include "kube/table/tables.h"
#include "net/exchange.h"
#include "store/store.h"
#include "watch/registry.h"

struct vd_audit;
struct vd_call;
struct vd_converter;
struct vd_gzip;

struct vd_kube_options {
    uint64_t bookmark_ms;    /* about how often a watch that wants them gets a bookmark */
    uint64_t watch_min_s;    /* a watch without timeoutSeconds ends between this ... */
    uint64_t watch_max_s;    /* ... and this */
    const char *git_version; /* what /version says: "v1.32.4+vedette.0.1.0" */
    bool access_log;         /* what requests the log may name when they end */
};

struct vd_kube {
    struct vd_store *store;
    struct vd_kinds *kinds;
    const struct vd_clock *clock;
    /* A name for metadata.generateName, in the arena; NULL: vd_generated_name_make(). */
    struct vd_slice (*make_name)(struct vd_arena *a, struct vd_slice base);
    struct vd_kube_options options;
    /* May the user do this? Fills *reason (for people) when not. */
    bool (*allowed)(void *arg, const struct vd_access *access, struct vd_buf *reason);
    /* A number, never 0, that changes when an answer of `allowed` or `stands` may have
     * changed for another reason than time. */
    uint64_t (*rights_version)(void *arg);
    /* Whether the credential that the user came with is still good. */
    bool (*stands)(void *arg, const struct vd_user *user);
    /* The rules of this moment, with a reference: for reviews. */
    struct vd_rbac *(*rbac)(void *arg);
    /* Whose token this is; a reference in *out. */
    int (*identify)(void *arg, struct vd_slice token, struct vd_user **out, struct vd_error *error);
    void *arg; /* of the functions above */
    /* Posts the task to the loop when the registry shows the definition of this name as of
     * the revision. NULL: nobody has to wait for that. */
    void (*await_definition)(void *definitions, struct vd_slice name, uint64_t revision,
                             struct vd_loop *loop, struct vd_task *task);
    void *definitions;
    /* Adds who uses what, as JSON; NULL: nobody counts. With the argument of metrics. */
    void (*usage)(void *arg, struct vd_buf *out);
    /* Adds what /metrics shows, with its own argument; NULL: there is none. */
    void (*metrics)(void *arg, struct vd_buf *out);
    void *metrics_arg;
    /* Adds the paths that are served beside the face, a line each; NULL: there are none. */
    void (*other_paths)(struct vd_buf *out);
    struct vd_audit *audit;         /* NULL: nothing is audited; see audit.h */
    struct vd_converter *converter; /* asks conversion webhooks; NULL: none are asked */
    struct vd_tables *tables;
    struct vd_documents *documents;             /* discovery and OpenAPI */
    const struct vd_service_accounts *accounts; /* issues tokens; NULL: none are */
};

/* One loop's part of the face. */
struct vd_kube_loop {
    struct vd_kube *kube;
    struct vd_api_loop *api; /* shared with the other faces on the loop */
    struct vd_loop *loop;
    struct vd_buf frame;   /* scratch for frames */
    struct vd_buf piece;   /* scratch for what goes into them compressed */
    struct vd_gzip *gzip;  /* NULL until somebody wants it */
    struct vd_buf written; /* scratch for an object that was written, ... */
    struct vd_buf answer;  /* ... and for the answer that shows one */
    struct vd_call *spare; /* calls for the next requests, with their memory */
    size_t spare_n;
    struct vd_watch *watches;
    size_t watches_n;
    struct vd_meters *meters;
    struct vd_turn_hook after; /* tells the meters what has left */
    struct vd_timer recheck;   /* set while there are watches */
    struct vd_watch *starved;  /* watches that wait for room in their users' queues ... */
    struct vd_timer starving;  /* ... and are to look for it then */
    struct vd_watch *recheck_at;
    uint64_t recheck_version;
};

/* On the loop, or before it starts. */
void vd_kube_loop_init(struct vd_kube_loop *l, struct vd_kube *kube, struct vd_api_loop *api);
void vd_kube_loop_release(struct vd_kube_loop *l);

/* The part of it that is in watch.c. */
void vd_kube_loop_init_watches(struct vd_kube_loop *l);

/* After the hook that flushes connections was added. */
void vd_kube_loop_follow(struct vd_kube_loop *l);

/* For the service's `finished`: counts the request, logs it if that is wanted, and
 * lets go of its record. */
void vd_kube_finished(struct vd_kube_loop *l, struct vd_exchange *x, bool log);

/* Answers a request, now or later. A reference to the user is taken. */
void vd_kube_handle(struct vd_kube_loop *l, struct vd_exchange *x, struct vd_user *user);

/* Ends all watches of the loop, in order, spread over `spread_ms`. */
void vd_kube_loop_drain(struct vd_kube_loop *l, uint64_t spread_ms);

#endif
