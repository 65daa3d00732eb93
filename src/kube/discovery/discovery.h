/*
 * Discovery: the documents that tell clients which kinds there are.
 *
 *     /api                 APIVersions
 *     /apis                APIGroupList
 *     /apis/G              APIGroup
 *     /api/v1, /apis/G/V   APIResourceList
 *     /api, /apis          APIGroupDiscoveryList, when the client asks for it
 *
 * Kinds that are not served do not appear, nor do groups and versions without a
 * served one. Pure functions: they add one JSON document without a newline to
 * `out`. Any thread.
 */
#ifndef VD_KUBE_DISCOVERY_DISCOVERY_H
#define VD_KUBE_DISCOVERY_DISCOVERY_H

#include <stdbool.h>

#include "base/attributes.h"
#include "base/buf.h"
#include "base/slice.h"
#include "kinds/kinds.h"

/* The exact texts: some client-go versions compare them byte for byte. */
#define VD_DISCOVERY_V2_TYPE "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
#define VD_DISCOVERY_V2BETA1_TYPE                                                                  \
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"

/* /api */
void vd_discovery_write_versions(struct vd_buf *out);

/* /apis */
void vd_discovery_write_groups(struct vd_buf *out, const struct vd_kind_set *set);

/* /apis/G. False if there is no such group: nothing is added. */
bool vd_discovery_write_group(struct vd_buf *out, const struct vd_kind_set *set,
                              struct vd_slice group) VD_MUST_USE;

/* /apis/G/V; with an empty group, /api/V. False if there is no such version:
 * nothing is added. /api/v1 is always there. */
bool vd_discovery_write_resources(struct vd_buf *out, const struct vd_kind_set *set,
                                  struct vd_slice group, struct vd_slice version) VD_MUST_USE;

/* What to aggregate: the core group for /api, all others for /apis; in v2, or
 * in the form of Kubernetes 1.26 to 1.29. */
struct vd_discovery_aggregate {
    bool core;
    bool v2beta1;
};
void vd_discovery_write_aggregate(struct vd_buf *out, const struct vd_kind_set *set,
                                  struct vd_discovery_aggregate what);

#endif
