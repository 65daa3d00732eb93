/*
 * The rules for label keys and values, in Kubernetes' words.
 *
 * A key is a qualified name: an optional DNS subdomain and '/', then a name of
 * at most 63 bytes. A value is empty or such a name. All functions are
 * thread-safe.
 */
#ifndef VD_WATCH_LABEL_H
#define VD_WATCH_LABEL_H

#include <stdbool.h>

#include "base/attributes.h"
#include "base/buf.h"
#include "base/slice.h"

/*
 * True when the key or value follows the rules. If not, everything that is
 * wrong with it is added to *why (NULL allowed) as Kubernetes says it, several
 * sentences joined by "; ".
 */
bool vd_label_key_check(struct vd_slice key, struct vd_buf *why) VD_MUST_USE;
bool vd_label_value_check(struct vd_slice value, struct vd_buf *why) VD_MUST_USE;

#endif
