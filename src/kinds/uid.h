/*
 * The uid of an object, made and as text. The type is in store/key.h.
 */
#ifndef VD_KINDS_UID_H
#define VD_KINDS_UID_H

#include <stdbool.h>

#include "base/attributes.h"
#include "base/slice.h"
#include "store/key.h"

enum { VD_UID_TEXT_LEN = 36, VD_UID_TEXT_MAX = VD_UID_TEXT_LEN + 1 };

/* A new random uid (RFC 9562, version 4). Any thread. */
struct vd_uid vd_uid_generate(void);

/* "0f1e2d3c-4b5a-4697-8877-665544332211", and a NUL behind it. */
struct vd_slice vd_uid_format(struct vd_uid uid, char out[VD_UID_TEXT_MAX]);

/* The text of any uid, whatever its version, in either case; false if it is
 * none. */
bool vd_uid_parse(struct vd_slice text, struct vd_uid *out) VD_MUST_USE;

/* The uid of a text that somebody else wrote. To Kubernetes it may be any text; one that is not in
 * the form of a uid names nobody here, and gets a uid of its own that no object has. */
struct vd_uid vd_uid_of_text(struct vd_slice text);

#endif
