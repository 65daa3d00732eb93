/*
 * Meters: what is counted of requests and watches, by what they are about. What all faces count of
 * their streams is in api/stream_meter.h.
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

struct vd_meter;
struct vd_meters;

/* One sort of request. Empty: not about a resource that there is. */
struct vd_meter_labels {
    struct vd_slice verb; /* as metrics have it: "GET", "LIST", "POST", ... */
    struct vd_slice group;
    struct vd_slice version;
    struct vd_slice resource;
    struct vd_slice subresource;
};

/* The families, to be seen at zero. Once, before the loops start. */
void vd_meters_register(void);

struct vd_meters *vd_meters_new(void) VD_MUST_USE;
void vd_meters_free(struct vd_meters *meters); /* NULL allowed; the metrics stay */

/* The meter of a sort, good as long as the meters are. */
struct vd_meter *vd_meters_find(struct vd_meters *meters, const struct vd_meter_labels *labels);

/* A request was answered with this status; 0: its client left before. */
void vd_meter_answered(struct vd_meter *meter, unsigned status, uint64_t duration_ns);

/* A request was answered, whatever it was; `protocol` as the exchange has it. */
void vd_meters_count_protocol(struct vd_meters *meters, const char *protocol);

/* A watch begins, and ends; between the two its requests's meter stays the same. */
void vd_meter_watch_begun(struct vd_meter *meter);
void vd_meter_watch_ended(struct vd_meter *meter);

/* A watch was given n events. */
void vd_meter_delivered(struct vd_meter *meter, size_t n);

/* When the turn's bytes are with the sockets. */
void vd_meters_turn(struct vd_meters *meters);

#endif
