/*
 * The life cycle of namespaces.
 *
 * A live namespace has its ServiceAccount `default` and, if the server has a CA, the
 * ConfigMap `kube-root-ca.crt`; they come back when they are deleted, the ConfigMap
 * also when it is changed. One that is being deleted is emptied, and goes when
 * nothing is left in it and no finalizer keeps it.
 */
#ifndef VD_SERVER_NAMESPACES_H
#define VD_SERVER_NAMESPACES_H

#include "api/controller.h"

struct vd_namespaces;

/* Adds them to a controller that has not been started. `ca_pem` is copied; empty: there is no such
 * ConfigMap. */
struct vd_namespaces *vd_namespaces_new(struct vd_controller *controller,
                                        struct vd_slice ca_pem) VD_MUST_USE;

/* When the controller has been stopped. NULL allowed. */
void vd_namespaces_free(struct vd_namespaces *namespaces);

#endif
