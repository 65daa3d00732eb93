/*
 * Fields of a status that only the server writes.
 *
 * The server acts by what they say: the refs of a bare repository are set to status.branches of its
 * Repository, and a reset is done once because status.lastReset names it. Whoever could write these
 * fields would move the refs, or make the server tell what has not happened. The rest of such a
 * status is free, as that of any other kind.
 */
#ifndef VD_KINDS_SERVER_STATUS_H
#define VD_KINDS_SERVER_STATUS_H

#include <stdbool.h>

#include "base/attributes.h"
#include "kinds/kind.h"
#include "kinds/violation.h"
#include "json/document.h"

/* Whether all of them are the same in both versions of an object, as in any object of a kind that
 * has none; what differs is added to *out by its name. */
bool vd_server_status_check(const struct vd_kind *kind, const struct vd_json *object,
                            const struct vd_json *old, struct vd_violations *out) VD_MUST_USE;

#endif
