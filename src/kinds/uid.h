/*
 * The text of uids, and names that the server makes up.
 */
#ifndef VD_KINDS_UID_H
#define VD_KINDS_UID_H

#include <stdbool.h>

#include "base/arena.h"
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

/* How much of metadata.generateName is kept, so that with the suffix the name
 * has at most 63 bytes. */
enum { VD_NAME_BASE_LEN_MAX = 58, VD_NAME_SUFFIX_LEN = 5 };

/* The base, cut, and five random letters and digits: "web-x7k2p". In the arena.
 * That the name is free is for the store to say. */
struct vd_slice vd_name_generate(struct vd_arena *a, struct vd_slice base);

#endif
