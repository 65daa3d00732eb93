/*
 * Meters: what is counted of requests and watches, by what they ask for. What the metrics
 * tell of all streams of a loop together is in api/stream_meter.h.
 *
 * A loop has one `struct vd_meters`, and in it a meter for each sort of request: a verb of a
 * resource. A meter keeps pointers to its metrics, so that counting needs neither a lock nor the
 * label values. The events that watches are sent are counted on the loop and added to the metrics
 * once in a turn, since one commit may reach thousands of watches.
 *
 * Label values are verbs of the program and resources of kinds that exist; a face gives none that a
 * client has made up. Beyond VD_METRIC_CHILDREN_MAX sorts, all further requests share one meter.
 *
 * All on the loop's thread.
 */
#ifndef VD_REQUEST_METER_H
#define VD_REQUEST_METER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/slice.h"

struct vd_meter;
struct vd_meters;

/* One sort of request. All but the verb are empty if it is for no resource that exists. */
struct vd_meter_labels {
    struct vd_slice verb; /* as metrics have it: "GET", "LIST", "POST", ... */
    struct vd_slice group;
    struct vd_slice version;
    struct vd_slice resource;
    struct vd_slice subresource;
};

/* Registers the metrics, so that they are shown before the first request is counted. Once, before
 * the loops start. */
void vd_meters_register(void);

struct vd_meters *vd_meters_new(void) VD_MUST_USE;
void vd_meters_free(struct vd_meters *meters); /* NULL allowed; the metrics stay */

/* The meter of a sort of request. It lives as long as the meters. */
struct vd_meter *vd_meters_find(struct vd_meters *meters, const struct vd_meter_labels *labels);

/* A request was answered with this status; 0: its client left before the answer. */
void vd_meter_answered(struct vd_meter *meter, unsigned status, uint64_t duration_ns);

/* A request was answered, whatever it was; `protocol` as the exchange has it. */
void vd_meters_count_protocol(struct vd_meters *meters, const char *protocol);

/* A watch begins, and ends. */
void vd_meter_watch_begun(struct vd_meter *meter);
void vd_meter_watch_ended(struct vd_meter *meter);

/* A watch was sent n events. */
void vd_meter_delivered(struct vd_meter *meter, size_t n);

/* At the end of a turn, when its bytes have been given to the sockets: adds the events that were
 * sent in it to the metrics. */
void vd_meters_turn(struct vd_meters *meters);

#endif
