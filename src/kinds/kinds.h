/*
 * The registry of kinds: which exist now.
 *
 * A reader takes a set, an immutable snapshot of all kinds, looks things up in it
 * and lets it go; kinds it found live at least as long as the set. Writers put
 * whole definitions in or out, which makes a new set; readers of the old one are
 * not disturbed. The generation grows with every change, so that what was made
 * from a set (discovery documents, OpenAPI) knows when it is old.
 *
 * All functions on struct vd_kinds are thread-safe.
 *
 *     struct vd_kind_set *set = vd_kinds_snapshot(kinds);
 *     const struct vd_kind *kind = vd_kind_set_resource(set, group, version, plural);
 *     ...
 *     vd_kind_set_unref(set);
 */
#ifndef VD_KINDS_KINDS_H
#define VD_KINDS_KINDS_H

#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"
#include "base/error.h"
#include "base/slice.h"
#include "kinds/kind.h"
#include "kinds/schema.h"
#include "json/document.h"

struct vd_kinds;
struct vd_kind_set;

/* A registry with no kinds. `metadata` is the schema of ObjectMeta; a reference
 * is taken, NULL is allowed. */
struct vd_kinds *vd_kinds_new(struct vd_schema *metadata) VD_MUST_USE;

/* NULL is harmless. Sets and kinds that are still referenced stay. */
void vd_kinds_free(struct vd_kinds *kinds);

/*
 * Puts every version of a CRD document in, in place of all versions of the same
 * group and plural. Versions that are not served are in the set, marked so. Fails
 * whole: VD_ERR_INVALID with the reason; VD_ERR_EXISTS if a built-in kind has the
 * name, or another definition has the kind.
 */
int vd_kinds_put(struct vd_kinds *kinds, const struct vd_json *document, bool builtin,
                 struct vd_error *error) VD_MUST_USE;

/* Takes all versions out; VD_ERR_NOT_FOUND if there are none. */
int vd_kinds_remove(struct vd_kinds *kinds, struct vd_slice group, struct vd_slice plural,
                    struct vd_error *error) VD_MUST_USE;

/* How often the registry changed. */
uint64_t vd_kinds_generation(const struct vd_kinds *kinds);

/* The schema of ObjectMeta, borrowed; may be NULL. */
struct vd_schema *vd_kinds_metadata(const struct vd_kinds *kinds);

/* --- sets --- */

/* The kinds of this moment: one reference. */
struct vd_kind_set *vd_kinds_snapshot(struct vd_kinds *kinds) VD_MUST_USE;

struct vd_kind_set *vd_kind_set_ref(struct vd_kind_set *set);
void vd_kind_set_unref(struct vd_kind_set *set);

uint64_t vd_kind_set_generation(const struct vd_kind_set *set);

/* A set as vd_kinds_put() would make it of this one and the CRD document of a custom kind: one
 * reference. Nobody else sees it. Fails as that does. */
int vd_kind_set_with(struct vd_kind_set **out, const struct vd_kind_set *set,
                     const struct vd_json *document, struct vd_schema *metadata,
                     struct vd_error *error) VD_MUST_USE;

/* All kinds, ordered for discovery: by group (the core group first), newest
 * version first, then by plural. Bodies of subresources (`subresource` is not
 * empty) and what is not served are among them. Borrowed from the set. */
struct vd_kind *const *vd_kind_set_all(const struct vd_kind_set *set, size_t *n);

/* The kind of a path /apis/group/version/plural, or NULL. Also finds those that are
 * not served: look at `served`. Bodies of subresources are found by kind only. */
const struct vd_kind *vd_kind_set_resource(const struct vd_kind_set *set, struct vd_slice group,
                                           struct vd_slice version, struct vd_slice plural);

/* The kind that an object's apiVersion and kind name, or NULL. */
const struct vd_kind *vd_kind_set_kind(const struct vd_kind_set *set, struct vd_slice group,
                                       struct vd_slice version, struct vd_slice kind);

/* The kind whose objects are stored under a key, in its storage version; or NULL. */
const struct vd_kind *vd_kind_set_stored(const struct vd_kind_set *set, struct vd_slice resource);

#endif
