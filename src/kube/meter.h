/*
 * Meters: what is counted of requests and watches.
 *
 * A loop has one `struct vd_meters`, and in it a meter for each sort of request: a
 * verb of a resource. A meter keeps pointers to its metrics, so that counting needs
 * neither a lock nor the label values. What watches deliver is counted on the loop
 * and told to the metrics once a turn, since one commit may reach thousands.
 *
 * Label values are the program's own verbs and the kinds that exist. A client cannot
 * make one up, and beyond VD_METRIC_CHILDREN_MAX sorts the rest share one meter.
 *
 * All on the loop's thread.
 */
#ifndef VD_KUBE_METER_H
#define VD_KUBE_METER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/slice.h"
#include "watch/registry.h"

struct vd_meter;
struct vd_meters;

/* One sort of request. Empty: not about a resource that there is. */
struct vd_meter_sort {
    struct vd_slice verb; /* as metrics have it: "GET", "LIST", "POST", ... */
    struct vd_slice group;
    struct vd_slice version;
    struct vd_slice resource;
    struct vd_slice subresource;
};

/* Why a watch has ended. */
/* clang-format off */
#define VD_WATCH_ENDS(X)                                                                           \
    X(TIMEOUT,    "timeout")      /* its time was up, or the server stops */                       \
    X(GONE,       "gone")         /* the client has left */                                        \
    X(KIND,       "kind")         /* its kind is no longer served */                               \
    X(EXPIRED,    "expired")      /* its cursor fell out of the window */                          \
    X(FORBIDDEN,  "forbidden")    /* its right was taken away */                                   \
    X(CREDENTIAL, "unauthorized") /* its credential has expired or was revoked */                  \
    X(ERROR,      "error")
/* clang-format on */

enum vd_watch_end {
#define VD_WATCH_END_ENUM(name, text) VD_WATCH_END_##name,
    VD_WATCH_ENDS(VD_WATCH_END_ENUM)
#undef VD_WATCH_END_ENUM
};

/* What became of a cursor that a client came back with. */
enum vd_resume { VD_RESUME_OK, VD_RESUME_EXPIRED, VD_RESUME_FUTURE };

/* The families, to be seen at zero. Once, before the loops start. */
void vd_meters_register(void);

struct vd_meters *vd_meters_new(size_t loop_index) VD_MUST_USE;
void vd_meters_free(struct vd_meters *meters); /* NULL allowed; the metrics stay */

/* The meter of a sort, good as long as the meters are. */
struct vd_meter *vd_meters_find(struct vd_meters *meters, const struct vd_meter_sort *sort);

/* A request was answered with this status; 0: its client left before. */
void vd_meter_answered(struct vd_meter *meter, unsigned status, uint64_t duration_ns);

/* A request was answered, whatever it was; `protocol` as the exchange has it. */
void vd_meters_count_protocol(struct vd_meters *meters, const char *protocol);

/* A watch begins, and ends; between the two its requests's meter stays the same. */
void vd_meter_watch_begun(struct vd_meter *meter);
void vd_meter_watch_ended(struct vd_meter *meter, enum vd_watch_end why);
void vd_meter_resumed(enum vd_resume result);

/* A watch was given n events; `live`: of a commit, as it came. */
void vd_meter_delivered(struct vd_meter *meter, size_t n, bool live);

/* When the turn's bytes are with the sockets; `now_ns` by the monotonic clock, if the
 * turn has served a commit. */
void vd_meters_turn(struct vd_meters *meters, const struct vd_registry_stats *stats,
                    uint64_t now_ns);

/* For a scrape, on any thread: sets how far each of the n loops is behind the newest
 * revision. */
void vd_meters_set_lag(size_t loops_n, uint64_t newest);

#endif
