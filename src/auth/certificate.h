/*
 * X.509 certificates: which user a client's certificate names, and making the server's own.
 *
 * TLS checks whether a certificate may be trusted (its chain, times and purpose) when it accepts
 * one; here it is only read.
 */
#ifndef VD_AUTH_CERTIFICATE_H
#define VD_AUTH_CERTIFICATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "auth/signing_key.h"
#include "auth/user.h"
#include "base/attributes.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/slice.h"

struct x509_st;

/*
 * The user of a client certificate that was verified: the common name is the
 * name, the organisations are the groups, and the credential id is
 * "X509SHA256=" with the hash of its DER. One reference for the caller.
 * VD_ERR_INVALID: no common name, or a name that is no text.
 */
int vd_certificate_user(struct x509_st *certificate, struct vd_user **out,
                        struct vd_error *error) VD_MUST_USE;

/* The same from DER. */
int vd_certificate_user_der(struct vd_slice der, struct vd_user **out,
                            struct vd_error *error) VD_MUST_USE;

/* The first certificate of a PEM text, to be freed by X509_free. */
int vd_certificate_from_pem(struct x509_st **out, struct vd_slice pem,
                            struct vd_error *error) VD_MUST_USE;

/* When the certificate expires, in milliseconds of the wall clock. */
int64_t vd_certificate_expires_ms(const struct x509_st *certificate);

/* ---- making ---- */

enum vd_certificate_use {
    VD_CERTIFICATE_CA,
    VD_CERTIFICATE_SERVER,
    VD_CERTIFICATE_CLIENT,
};

struct vd_certificate_spec {
    enum vd_certificate_use use;
    const char *common_name;
    const char *organisation; /* NULL: none */
    const char *const *hosts; /* names and addresses of a server */
    size_t hosts_n;
    int64_t begins_ms, expires_ms;    /* it is made to expire no later than its issuer */
    const struct vd_signing_key *key; /* whose public half is certified */
    struct x509_st *issuer;           /* NULL: it signs itself */
    const struct vd_signing_key *issuer_key;
};

/* VD_ERR_INVALID: a host that is neither a DNS name nor an address. The result
 * is to be freed by X509_free. */
int vd_certificate_make(struct x509_st **out, const struct vd_certificate_spec *spec,
                        struct vd_error *error) VD_MUST_USE;

void vd_certificate_add_pem(const struct x509_st *certificate, struct vd_buf *pem);

/* Whether a server's certificate names exactly these hosts, each once. */
bool vd_certificate_has_hosts(struct x509_st *certificate, const char *const *hosts, size_t n);

/* Whether the text can be a host of a certificate: an IPv4 or IPv6 address, or
 * a DNS name, which may start with "*.". */
bool vd_certificate_host_is_valid(const char *host);

#endif
