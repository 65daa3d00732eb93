/*
 * From a stored CustomResourceDefinition to kinds in the registry.
 */
#ifndef VD_API_DEFINITION_KIND_H
#define VD_API_DEFINITION_KIND_H

#include "base/attributes.h"
#include "base/error.h"
#include "kinds/kinds.h"
#include "store/store.h"
#include "json/document.h"

/* What of a definition its kinds are made of: its spec, with these names, and what of its metadata
 * they depend on. In the arena. */
struct vd_json *vd_definition_document(struct vd_arena *a, const struct vd_json *object,
                                       const struct vd_json *names);

/*
 * Makes the definition's kinds live under these names (status.acceptedNames), in the
 * place of what it was before; nothing happens if it is the same. `revision` is the store's:
 * whatever was written up to it may be as another schema wanted it, if there was one.
 * VD_ERR_INVALID and VD_ERR_EXISTS as vd_kinds_put().
 */
int vd_definition_register(struct vd_kinds *kinds, const struct vd_json *object,
                           const struct vd_json *names, uint64_t revision,
                           struct vd_error *error) VD_MUST_USE;

/* Takes the kinds of the definition of this name (plural.group) out, if it has any. */
void vd_definition_unregister(struct vd_kinds *kinds, struct vd_slice name);

/* Every definition of the store that was established: before anybody asks. One whose
 * kinds cannot be made is logged and left out. */
int vd_definition_register_all(struct vd_kinds *kinds, struct vd_store *store,
                               struct vd_error *error) VD_MUST_USE;

#endif
