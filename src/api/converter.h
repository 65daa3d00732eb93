/*
 * The converter: asks conversion webhooks on behalf of everybody, once for each object and version.
 *
 * It lives on one loop. Conversions (conversion.h) come to it from all loops as messages and go
 * back as such, so that it needs no lock. What is wanted of an object is named by
 *
 *     definition, its generation, wanted version, revision of the object
 *
 * Whoever wants what is on its way already waits for it; what has been converted is kept for the
 * next, up to VD_CONVERSION_CACHE_LEN_MAX bytes, the longest unused goes first. So a thousand
 * watches of a version cost one conversion of each event. What nobody else can want - an object
 * that is about to be written - has no name and is not kept.
 *
 * The objects of one conversion that are new go into calls (converter_call.h) of
 * VD_CONVERSION_OBJECTS_MAX objects and VD_CONVERSION_REQUEST_LEN_MAX bytes. A call is about one
 * conversion's objects alone: when the webhook refuses it because of one of them, only that
 * conversion fails, and others that were waiting for the rest ask again for themselves. Calls wait
 * in their definition's queue; VD_CONVERSION_HOOK_CALLS_MAX of a definition and
 * VD_CONVERSION_CALLS_MAX in all are under way at a time. Nothing of a failure is kept.
 *
 * A conversion fails whole, with the first failure of its calls: the webhook cannot be reached,
 * does not answer within VD_CONVERSION_TIMEOUT_MS, or answers what conversion_review.h does not
 * take; or its calls have waited longer than that for their turn.
 */
#ifndef VD_API_CONVERTER_H
#define VD_API_CONVERTER_H

#include "api/conversion.h"
#include "base/attributes.h"
#include "base/clock.h"
#include "kinds/kinds.h"
#include "net/loop.h"
#include "store/store.h"

struct vd_converter;

struct vd_converter_options {
    struct vd_loop *loop; /* where it lives */
    struct vd_store *store;
    struct vd_kinds *kinds;
    const struct vd_clock *clock;
};

struct vd_converter *vd_converter_new(const struct vd_converter_options *options) VD_MUST_USE;

/* From the main thread, while all loops run and no more is asked: what is under way fails. NULL is
 * fine. */
void vd_converter_stop(struct vd_converter *converter);

/* When its loop has been stopped, or has never run. NULL is fine. */
void vd_converter_free(struct vd_converter *converter);

/* From any loop: the conversion's task is posted to its loop when it is done. */
void vd_converter_ask(struct vd_converter *converter, struct vd_conversion *conversion);

#endif
