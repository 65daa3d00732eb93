/*
 * What a request's path asks for, in Kubernetes' terms.
 *
 *     /api/v1/namespaces/default/configmaps/a        resource configmaps, name a
 *     /apis/G/V/namespaces/ns/widgets/w/status       subresource status
 *     /api/v1/watch/namespaces/ns/configmaps/a       the old way to watch
 *     /healthz, /apis, /openapi/v3/...               not a resource: only a path
 *
 * The same terms are what authorization rules speak of.
 */
#ifndef VD_KUBE_TARGET_H
#define VD_KUBE_TARGET_H

#include "kinds/kind.h"
#include "net/http_head.h"
#include "net/url.h"

struct vd_target {
    struct vd_slice path; /* as sent, without the query */
    struct vd_url_path segments;
    bool is_resource;
    bool old_watch;        /* /watch/ in the path */
    bool in_namespace;     /* namespaces/NS/ stands before the resource */
    enum vd_verb verb;     /* 0: the method is none that resources have */
    struct vd_slice group; /* empty: the core group */
    struct vd_slice version;
    struct vd_slice resource; /* plural */
    struct vd_slice subresource;
    struct vd_slice namespace; /* the namespace; empty: cluster-scoped, or all namespaces */
    struct vd_slice name;
};

/*
 * Reads path and method. `watch` is what the query says of it. Names are borrowed
 * from the path or the arena. VD_ERR_INVALID for a malformed path.
 */
int vd_target_parse(struct vd_target *out, struct vd_arena *arena, enum vd_http_method method,
                    struct vd_slice path, bool watch, struct vd_error *error) VD_MUST_USE;

#endif
