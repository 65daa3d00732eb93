/*
 * What a request wants to do, which Kubernetes calls request attributes, and the sentences with
 * which a request is refused.
 */
#ifndef VD_AUTH_ACCESS_H
#define VD_AUTH_ACCESS_H

#include <stdbool.h>

#include "auth/user.h"
#include "base/buf.h"
#include "base/slice.h"

/*
 * All texts are borrowed. A request for a resource has `resource`; any other has `path`.
 *
 * `name` is the object's. A create has none (but for a create of a subresource).
 * For list, watch and deletecollection it is the value that the field selector
 * requires of metadata.name, so that a rule with resourceNames can allow
 * `get -w --field-selector metadata.name=x` and no more.
 */
struct vd_access {
    const struct vd_user *user;
    struct vd_slice verb;        /* get, list, watch, create, ...; for a path: get, post, ... */
    struct vd_slice group;       /* "" is the core group */
    struct vd_slice resource;    /* the plural: "configmaps" */
    struct vd_slice subresource; /* "status", or empty */
    struct vd_slice namespace;   /* the namespace; empty: the cluster or all namespaces */
    struct vd_slice name;
    struct vd_slice path; /* "/metrics" */
};

/* Adds `User "x" cannot get resource "configmaps" in API group "" in the
 * namespace "default"`, and `: reason` unless that is empty. */
void vd_access_add_refusal(struct vd_buf *out, const struct vd_access *access,
                           struct vd_slice reason);

/* Adds the whole message of Kubernetes' 403: `configmaps "a" is forbidden: ` (or
 * `forbidden: ` for a path) and the refusal. */
void vd_access_add_forbidden(struct vd_buf *out, const struct vd_access *access,
                             struct vd_slice reason);

/* Adds the text as Go's %q does, whole. */
void vd_quote_add(struct vd_buf *out, struct vd_slice text);

/* Adds a list as Go's %q does: ["a" "b"]. */
void vd_quote_add_list(struct vd_buf *out, const struct vd_slice *list, size_t n);

#endif
