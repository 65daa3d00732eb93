/* DIR/admin.kubeconfig, which the server writes: the server's URL, its CA, and the administrator's
 * credentials. */
#ifndef VD_CMD_ADMIN_KUBECONFIG_H
#define VD_CMD_ADMIN_KUBECONFIG_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/slice.h"

struct vd_admin_kubeconfig {
    struct vd_slice server; /* "https://127.0.0.1:6443", in the arena */
    struct vd_buf ca;       /* PEM; empty: a CA that the system trusts */
    struct vd_buf certificate, key;
};

/* *config must be zero, and must be released even after an error. VD_ERR_NOT_FOUND: there is no
 * such file, as the server has never had a TLS listener. */
int vd_admin_kubeconfig_read(struct vd_admin_kubeconfig *config, struct vd_arena *arena,
                             const char *folder, struct vd_error *error) VD_MUST_USE;
void vd_admin_kubeconfig_release(struct vd_admin_kubeconfig *config);

#endif
