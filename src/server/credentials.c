/* See credentials.h. DIR/pki/client-ca.crt, when there is a client-ca, is our CA and
 * that one in one file, because OpenSSL takes one. */
#include "server/credentials.h"

#include <string.h>

#include "auth/certificate.h"
#include "auth/pki.h"
#include "auth/private_file.h"
#include "base/limits.h"
#include "base/log.h"
#include "net/tls.h"

/* The host of "HOST:PORT", without brackets. */
static struct vd_slice host_of(const char *address)
{
    struct vd_slice host = vd_slice_of(address);
    host.n = (size_t)(strrchr(address, ':') - address);
    if (host.n > 1 && host.p[0] == '[')
        host = vd_slice(host.p + 1, host.n - 2);
    return host;
}

static bool is_any_host(struct vd_slice host)
{
    return vd_slice_is(host, "0.0.0.0") || vd_slice_is(host, "::");
}

/* Adds the file of this setting, which must hold a certificate: one that is found to hold none
 * when clients come is found too late. */
static int read_given_ca(struct vd_buf *out, const char *setting, const char *path,
                         struct vd_error *error)
{
    size_t before = out->n;
    X509 *certificate = NULL;
    int code = vd_private_file_read(out, path, VD_PEM_LEN_MAX, error);
    if (!code &&
        vd_certificate_from_pem(&certificate, vd_slice_from(vd_buf_slice(out), before), NULL))
        code = vd_error_set(error, VD_ERR_INVALID,
                            "%s holds no certificate in PEM form; give the CA's", path);
    X509_free(certificate);
    if (code)
        vd_error_prefix(error, "%s", setting);
    return code;
}

/* Our CA and the given one, into one file. */
static int write_client_cas(const struct vd_config *config, struct vd_error *error)
{
    struct vd_buf path = {0}, pem = {0};
    int code = vd_private_file_read(&pem, vd_pki_path(&path, config->data, "ca.crt"),
                                    VD_PEM_LEN_MAX, error);
    if (!code)
        code = read_given_ca(&pem, "client-ca", config->client_ca, error);
    if (!code)
        code = vd_private_file_replace(vd_pki_path(&path, config->data, "client-ca.crt"),
                                       vd_buf_slice(&pem), VD_FILE_MODE_PUBLIC, error);
    vd_buf_release(&path);
    vd_buf_release(&pem);
    return code;
}

int vd_credentials_prepare(const struct vd_config *config, struct vd_error *error)
{
    VD_VEC(const char *) hosts = {0};
    struct vd_buf own = {0};
    struct vd_pki_state state;
    for (size_t i = 0; i < config->tls_hosts.n; i++)
        *VD_VEC_PUSH(&hosts) = config->tls_hosts.items[i];
    if (config->tls_listen && !is_any_host(host_of(config->tls_listen))) {
        vd_buf_add_slice(&own, host_of(config->tls_listen));
        *VD_VEC_PUSH(&hosts) = vd_buf_text(&own);
    }
    int code = vd_pki_prepare(&(struct vd_pki_options){.folder = config->data,
                                                       .hosts = hosts.p,
                                                       .hosts_n = hosts.n,
                                                       .skip_server = config->tls_cert != NULL,
                                                       .clock = vd_clock_system()},
                              &state, error);
    if (!code && config->client_ca)
        code = write_client_cas(config, error);
    VD_VEC_RELEASE(&hosts);
    vd_buf_release(&own);
    return code;
}

/* Clients refuse what has ended, and their complaint says little. */
static void warn_if_expired(const SSL_CTX *context, const char *file)
{
    const X509 *certificate = SSL_CTX_get0_certificate(context);
    if (vd_certificate_expires_ms(certificate) <= vd_clock_wall_ms(vd_clock_system()))
        vd_log_warn("the certificate of tls-cert has expired: clients will refuse it; replace the "
                    "file and send SIGHUP",
                    VD_F_STR("file", file));
}

int vd_credentials_load(const struct vd_config *config, SSL_CTX **out, struct vd_error *error)
{
    struct vd_buf certificate = {0}, key = {0}, client_ca = {0};
    const char *folder = config->data;
    struct vd_tls_files files = {
        .certificate = config->tls_cert ? config->tls_cert
                                        : vd_pki_path(&certificate, folder, "server.crt"),
        .key = config->tls_key ? config->tls_key : vd_pki_path(&key, folder, "server.key"),
        .client_ca = vd_pki_path(&client_ca, folder,
                                 config->client_ca ? "client-ca.crt" : "ca.crt"),
        .http1_only = config->http2_streams == 0,
    };
    int code = vd_tls_load(out, &files, error);
    if (code && config->tls_cert)
        vd_error_prefix(error, "tls-cert and tls-key");
    else if (!code && config->tls_cert)
        warn_if_expired(*out, config->tls_cert);
    vd_buf_release(&certificate);
    vd_buf_release(&key);
    vd_buf_release(&client_ca);
    return code;
}

int vd_credentials_write_kubeconfig(const struct vd_config *config, const char *address,
                                    struct vd_error *error)
{
    struct vd_slice host = host_of(address);
    struct vd_buf url = {0}, ca = {0};
    int code = VD_OK;
    if (is_any_host(host))
        vd_buf_addf(&url, "https://%s%s", vd_slice_is(host, "::") ? "[::1]" : "127.0.0.1",
                    strrchr(address, ':'));
    else
        vd_buf_addf(&url, "https://%s", address);
    if (config->tls_ca)
        code = read_given_ca(&ca, "tls-ca", config->tls_ca, error);
    if (!code)
        code = vd_pki_write_kubeconfig(config->data, vd_buf_text(&url), NULL,
                                       config->tls_cert ? vd_buf_text(&ca) : NULL, error);
    vd_buf_release(&url);
    vd_buf_release(&ca);
    return code;
}

int vd_credentials_read_ca(const struct vd_config *config, struct vd_buf *out,
                           struct vd_error *error)
{
    struct vd_buf path = {0};
    int code = config->tls_ca
                   ? read_given_ca(out, "tls-ca", config->tls_ca, error)
                   : vd_private_file_read(out, vd_pki_path(&path, config->data, "ca.crt"),
                                          VD_PEM_LEN_MAX, error);
    vd_buf_release(&path);
    return code;
}
