/* A resource of a server by the word that people have for it: "configmaps", "cm", "ConfigMap",
 * "products.catalog.gitstore.dev". */
#ifndef VD_CMD_API_RESOURCE_H
#define VD_CMD_API_RESOURCE_H

#include "client.h"

/* The texts are in the client's arena. */
struct vd_api_resource {
    struct vd_slice api_version; /* "v1", "catalog.gitstore.dev/v1beta1" */
    struct vd_slice kind;
    struct vd_slice plural;
    bool namespaced;
};

/* Asks the server for its resources. Those of the core come first, then the groups in the server's
 * order, each in the version that it prefers. VD_ERR_NOT_FOUND: there is none of this name. */
int vd_api_resource_find(struct vd_client *client, const char *word, struct vd_api_resource *out,
                         struct vd_error *error) VD_MUST_USE;

/* Adds the path of its collection. */
void vd_api_resource_add_path(struct vd_buf *out, const struct vd_api_resource *resource,
                              struct vd_slice namespace);

#endif
