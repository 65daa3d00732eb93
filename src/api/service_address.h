/*
 * The address behind a Service. Here a Service is a record that nothing gives an address to: it has
 * the one that somebody has written into it.
 */
#ifndef VD_API_SERVICE_ADDRESS_H
#define VD_API_SERVICE_ADDRESS_H

#include "base/attributes.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/slice.h"
#include "store/store.h"

/* Adds the name or address to connect to: spec.externalName of a Service of the type ExternalName,
 * else spec.clusterIP, else the first of spec.externalIPs. VD_ERR_NOT_FOUND: there is no such
 * Service, or it has none of them. Any thread. */
int vd_service_address(struct vd_store *store, struct vd_slice namespace, struct vd_slice name,
                       struct vd_buf *out, struct vd_error *error) VD_MUST_USE;

#endif
