/*
 * The keys and certificates that a server runs with: given ones, or those that it
 * makes in DIR/pki (auth/pki.h). Blocking; for the main thread.
 */
#ifndef VD_SERVER_CREDENTIALS_H
#define VD_SERVER_CREDENTIALS_H

#include <openssl/ssl.h>

#include "base/buf.h"
#include "base/error.h"
#include "server/config.h"

/* Makes or renews what is missing or due; at start, on SIGHUP and once a day. The
 * data folder must exist. */
int vd_credentials_prepare(const struct vd_config *config, struct vd_error *error) VD_MUST_USE;

/* The TLS listener's context, from the files as they are now. Client certificates of
 * the server's own CA are always taken, so that the administrator's works. To be
 * freed with SSL_CTX_free. */
int vd_credentials_load(const struct vd_config *config, SSL_CTX **out,
                        struct vd_error *error) VD_MUST_USE;

/* Writes DIR/admin.kubeconfig for the TLS listener at this address, as bound. */
int vd_credentials_write_kubeconfig(const struct vd_config *config, const char *address,
                                    struct vd_error *error) VD_MUST_USE;

/* The CA that clients should trust, as PEM, added to *out. */
int vd_credentials_read_ca(const struct vd_config *config, struct vd_buf *out,
                           struct vd_error *error) VD_MUST_USE;

#endif
