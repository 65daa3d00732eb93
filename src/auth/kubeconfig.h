/* A kubeconfig: what kubectl and the client libraries need to reach a server. */
#ifndef VD_AUTH_KUBECONFIG_H
#define VD_AUTH_KUBECONFIG_H

#include "base/buf.h"
#include "base/slice.h"

struct vd_kubeconfig {
    struct vd_slice server; /* https://127.0.0.1:6443 */
    struct vd_slice ca_pem; /* embedded in the file; empty: the client uses its system's CAs */
    struct vd_slice user;   /* its name in the file: "admin" */
    /* A credential: a client certificate with its key, or a bearer token. */
    struct vd_slice certificate_pem, key_pem;
    struct vd_slice token;
};

/* Adds the file's text: YAML, with cluster and context named "vedette". It holds
 * a secret: store it with mode 0600. */
void vd_kubeconfig_write(struct vd_buf *out, const struct vd_kubeconfig *config);

#endif
