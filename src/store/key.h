/*
 * The name of an object: resource, namespace, name.
 *
 * `resource` names the collection as plural.group: "configmaps" in the core
 * group, "widgets.example.com". `namespace` is empty for a cluster-scoped
 * object. The *path* "namespace/name" orders the objects of a resource, byte by
 * byte, exactly as Kubernetes orders its lists.
 */
#ifndef VD_STORE_KEY_H
#define VD_STORE_KEY_H

#include "base/error.h"
#include "base/limits.h"
#include "base/slice.h"

struct vd_key {
    struct vd_slice resource;
    struct vd_slice namespace;
    struct vd_slice name;
};

enum { VD_UID_LEN = 16 }; /* bytes of a uid */

/* The identity of one life of an object; all zeros means none was given. */
struct vd_uid {
    uint8_t bytes[VD_UID_LEN];
};

static inline bool vd_uid_eq(struct vd_uid a, struct vd_uid b)
{
    return memcmp(a.bytes, b.bytes, VD_UID_LEN) == 0;
}

static inline bool vd_uid_is_none(struct vd_uid a)
{
    return vd_uid_eq(a, (struct vd_uid){{0}});
}

/* VD_ERR_INVALID or VD_ERR_LIMIT with the reason when the key cannot be one:
 * an empty resource or name, a part that is too long or holds '/' or a control
 * character. What the parts may look like beyond that is the kind's business. */
int vd_key_check(const struct vd_key *key, struct vd_error *error) VD_MUST_USE;

/* Room for any path. */
struct vd_path {
    char bytes[VD_NAMESPACE_LEN_MAX + 1 + VD_NAME_LEN_MAX];
};

/* The path of a key that passed vd_key_check(), borrowed from *room. */
struct vd_slice vd_key_path(struct vd_path *room, const struct vd_key *key);

#endif
