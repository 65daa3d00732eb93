/*
 * The served form: stored bytes as clients of one version of their kind see them.
 *
 * Objects are stored in one version. The others differ in apiVersion, and, where two
 * built-in groups share a storage, in the names of some top-level fields. So bytes are
 * copied in pieces, and nothing is decoded.
 *
 * The exception are objects that were last written before their kind's schema changed, or maybe
 * through a version with another one: they are decoded, pruned, given the defaults of the version
 * that they are stored in and encoded again, each time they are shown.
 *
 * What only a webhook can convert is not shown here: see conversion.h.
 */
#ifndef VD_KINDS_SERVED_FORM_H
#define VD_KINDS_SERVED_FORM_H

#include "base/buf.h"
#include "base/slice.h"
#include "kinds/object.h"
#include "store/event.h"

/* Whether the bytes say that they are of the kind's version. */
bool vd_served_form_is_of_version(const struct vd_kind *kind, struct vd_slice body);

/* Whether the body, which was written at a revision, is in the kind's form already. */
bool vd_served_form_is_as_stored(const struct vd_kind *kind, struct vd_slice body,
                                 uint64_t written);

/*
 * The body, which was written at a revision (or VD_WRITTEN_NOW), in the kind's form: itself where
 * that is so already, else in *room, which is reset. VD_ERR_LIMIT, which names the object: the
 * defaults of its kind would make it too large. With an effort that is in_turn, and then over,
 * that takes only too long for an event loop: ask again elsewhere.
 */
int vd_served_form_make(const struct vd_kind *kind, struct vd_slice body, uint64_t written,
                        struct vd_buf *room, struct vd_effort *effort, struct vd_slice *out,
                        struct vd_error *error) VD_MUST_USE;

/* When the body of an event was written: what a deletion shows is older than itself. `leaves`: it
 * shows the version before it, as of an object that leaves a filter. */
static inline uint64_t vd_served_form_written(const struct vd_event *event, bool leaves)
{
    return leaves || event->type == VD_EVENT_DELETED ? event->previous : event->revision;
}

#endif
