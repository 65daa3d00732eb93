/*
 * The server's own keys and certificates, in DIR/pki.
 *
 *     ca.crt      ca.key       the CA, 10 years, made once
 *     server.crt  server.key   the TLS listener's, 1 year
 *     admin.crt   admin.key    the administrator's (CN=admin, O=system:masters), 1 year
 *     sa.key                   signs ServiceAccount tokens, made once
 *
 * Files that exist are kept: keys always, and certificates that another CA has signed. A
 * certificate of our CA is renewed, with the same key, when it has less than 30 days left, names
 * other hosts than wanted, or does not fit its key or the CA. Keys have mode 0600, certificates
 * 0644, the folder 0700. Every file appears whole or not at all, in an order in which the next
 * start can go on after a crash. The functions block on files; the server calls them at start and
 * then once a day.
 */
#ifndef VD_AUTH_PKI_H
#define VD_AUTH_PKI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "auth/signing_key.h"
#include "base/attributes.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"

struct vd_pki_options {
    const char *folder; /* the data folder; it must exist */
    /* Names and addresses of the server besides localhost, 127.0.0.1, ::1 and
     * the kubernetes.default.svc family. */
    const char *const *hosts;
    size_t hosts_n;
    bool skip_server; /* the TLS listener has a certificate from elsewhere */
    const struct vd_clock *clock;
};

/* What vd_pki_prepare did and found. */
struct vd_pki_state {
    bool ca_made;
    bool server_made; /* made or renewed: the TLS listener has to load it again */
    bool admin_made;
    bool sa_made;
    int64_t ca_expires_ms;
    int64_t server_expires_ms; /* 0 when it was skipped */
    int64_t admin_expires_ms;
};

/* Makes or renews what is missing or due. The error names the file. */
int vd_pki_prepare(const struct vd_pki_options *options, struct vd_pki_state *state,
                   struct vd_error *error) VD_MUST_USE;

/* "FOLDER/pki/FILE" into `out`, which is emptied first. */
const char *vd_pki_path(struct vd_buf *out, const char *folder, const char *file);

/* The key of DIR/pki/FILE: "sa.key". */
int vd_pki_load_key(struct vd_signing_key **out, const char *folder, const char *file,
                    struct vd_error *error) VD_MUST_USE;

/*
 * Writes DIR/admin.kubeconfig (mode 0600) for the server at this URL, with the
 * CA embedded and the administrator's certificate; or with `token`, if it is
 * not NULL, instead of the certificate. `ca_pem` replaces our CA if not NULL,
 * for a TLS listener with a certificate from elsewhere. Nothing is written when
 * the file has this very text already.
 */
int vd_pki_write_kubeconfig(const char *folder, const char *url, const char *token,
                            const char *ca_pem, struct vd_error *error) VD_MUST_USE;

#endif
