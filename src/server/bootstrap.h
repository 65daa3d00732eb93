/* What is in every store: the namespaces and roles that clients expect. */
#ifndef VD_SERVER_BOOTSTRAP_H
#define VD_SERVER_BOOTSTRAP_H

#include "kinds/kinds.h"
#include "store/store.h"

/* Creates what is missing; leaves what is there. */
int vd_bootstrap(struct vd_store *store, struct vd_kinds *kinds, const struct vd_clock *clock,
                 struct vd_error *error) VD_MUST_USE;

/* A new document of the Service that clients find their server by, default/kubernetes. */
struct vd_json *vd_bootstrap_service(struct vd_arena *arena);

#endif
