/*
 * TLS contexts: the server's certificate, which can be replaced while it runs.
 *
 * A context is shared by connections by reference; OpenSSL counts them. New
 * connections get the newest one, old ones keep theirs.
 */
#ifndef VD_NET_TLS_H
#define VD_NET_TLS_H

#include <openssl/ssl.h>
#include <stdbool.h>

#include "base/error.h"
#include "base/slice.h"

struct vd_tls_files {
    const char *certificate; /* PEM, with the chain */
    const char *key;
    const char *client_ca; /* PEM: whom client certificates must come from; NULL: none asked */
    bool http1_only;       /* HTTP/2 is not offered (ALPN) */
};

/* A server context: TLS 1.2 and up; a client certificate is asked for but not
 * demanded. The error names the file. To be freed with SSL_CTX_free. */
int vd_tls_load(SSL_CTX **out, const struct vd_tls_files *files,
                struct vd_error *error) VD_MUST_USE;

/* A client context: TLS 1.2 and up; the server must have a certificate from one of the CAs of this
 * PEM text, or of the system's where it is empty. Whom it must name is said for each connection. */
int vd_tls_load_client(SSL_CTX **out, struct vd_slice ca_pem, struct vd_error *error) VD_MUST_USE;

/* OpenSSL's oldest error, the root of the others, as text for messages; clears the
 * queue. */
const char *vd_tls_reason(char *room, size_t cap);

#endif
