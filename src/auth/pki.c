/*
 * See pki.h.
 *
 * Every certificate is a pair of files, and the key comes first: a crash in between leaves a key
 * that the next start certifies. A renewal changes the certificate only, so that key and
 * certificate on the disk always belong together.
 */
#include "auth/pki.h"

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "auth/certificate.h"
#include "auth/kubeconfig.h"
#include "auth/private_file.h"
#include "auth/user.h"
#include "base/limits.h"
#include "base/vec.h"

#define DAY_MS (INT64_C(24) * 3600 * 1000)
static const int64_t ca_age_ms = 3653 * DAY_MS;
static const int64_t leaf_age_ms = 365 * DAY_MS;
static const int64_t renew_ms = 30 * DAY_MS;
/* Certificates begin a little in the past, for clients whose clock is late. */
static const int64_t backdate_ms = INT64_C(5) * 60 * 1000;

static const char *const own_hosts[] = {
    "localhost",
    "127.0.0.1",
    "::1",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
};
enum { OWN_HOSTS = sizeof own_hosts / sizeof own_hosts[0] };

/* A key and its certificate. */
struct pair {
    struct vd_signing_key *key;
    X509 *certificate;
};

static void pair_release(struct pair *pair)
{
    vd_signing_key_unref(pair->key);
    X509_free(pair->certificate);
    *pair = (struct pair){0};
}

struct work {
    const struct vd_pki_options *options;
    int64_t now_ms;
    VD_VEC(const char *) hosts;
    struct vd_buf path;
    struct pair ca;
};

const char *vd_pki_path(struct vd_buf *out, const char *folder, const char *file)
{
    vd_buf_reset(out);
    vd_buf_addf(out, "%s/pki/%s", folder, file);
    return vd_buf_text(out);
}

/* ---- keys ---- */

int vd_pki_load_key(struct vd_signing_key **out, const char *folder, const char *file,
                    struct vd_error *error)
{
    struct vd_buf path = {0}, pem = {0};
    vd_pki_path(&path, folder, file);
    int code = vd_private_file_read(&pem, vd_buf_text(&path), VD_PEM_LEN_MAX, error);
    if (!code) {
        struct vd_error why;
        code = vd_signing_key_from_pem(out, vd_buf_slice(&pem), &why);
        if (code)
            vd_error_set(error, why.code,
                         "%s: %s: restore it from a copy, or remove it to have a new one made, "
                         "which ends what the old one signed",
                         vd_buf_text(&path), why.text);
    }
    if (pem.p)
        OPENSSL_cleanse(pem.p, pem.n);
    vd_buf_release(&pem);
    vd_buf_release(&path);
    return code;
}

/* The key of the file, which is made when it is missing. */
static int key_ensure(struct work *w, const char *file, struct vd_signing_key **out, bool *made,
                      struct vd_error *error)
{
    int code = vd_pki_load_key(out, w->options->folder, file, error);
    if (code != VD_ERR_NOT_FOUND)
        return code;
    struct vd_signing_key *key = vd_signing_key_generate();
    struct vd_buf pem = {0};
    vd_signing_key_add_pem(key, &pem);
    code = vd_private_file_create(vd_pki_path(&w->path, w->options->folder, file),
                                  vd_buf_slice(&pem), VD_FILE_MODE_SECRET, error);
    OPENSSL_cleanse(pem.p, pem.n);
    vd_buf_release(&pem);
    if (code) {
        vd_signing_key_unref(key);
        return code;
    }
    *out = key;
    *made = true;
    return VD_OK;
}

/* ---- certificates ---- */

/* *out is NULL when there is no such file. */
static int certificate_load(struct work *w, const char *file, X509 **out, struct vd_error *error)
{
    struct vd_buf pem = {0};
    const char *path = vd_pki_path(&w->path, w->options->folder, file);
    int code = vd_private_file_read(&pem, path, VD_PEM_LEN_MAX, error);
    *out = NULL;
    if (code == VD_ERR_NOT_FOUND) {
        code = VD_OK;
    } else if (!code) {
        code = vd_certificate_from_pem(out, vd_buf_slice(&pem), NULL);
        if (code)
            vd_error_set(
                error, VD_ERR_INVALID,
                "%s holds no certificate in PEM form: restore it from a copy, or remove it "
                "to have a new one made",
                path);
    }
    vd_buf_release(&pem);
    return code;
}

static int certificate_store(struct work *w, const char *file, const X509 *certificate,
                             struct vd_error *error)
{
    struct vd_buf pem = {0};
    vd_certificate_add_pem(certificate, &pem);
    int code = vd_private_file_replace(vd_pki_path(&w->path, w->options->folder, file),
                                       vd_buf_slice(&pem), VD_FILE_MODE_PUBLIC, error);
    vd_buf_release(&pem);
    return code;
}

static bool fits(X509 *certificate, const struct vd_signing_key *key)
{
    bool same = X509_check_private_key(certificate, vd_signing_key_handle(key)) == 1;
    ERR_clear_error();
    return same;
}

/* The beginning of the name of every CA that is made here. */
#define CA_NAME "vedette-ca"

/* Whether this server made the certificate and renews it: it is signed by the key of the server's
 * CA, or names an earlier CA of the server as its issuer. */
static bool is_ours(X509 *certificate, X509 *ca)
{
    char issuer[64] = "";
    EVP_PKEY *key = X509_get0_pubkey(ca);
    bool ours = key && X509_verify(certificate, key) == 1;
    X509_NAME_get_text_by_NID(X509_get_issuer_name(certificate), NID_commonName, issuer,
                              sizeof issuer);
    ERR_clear_error();
    return ours || strncmp(issuer, CA_NAME " ", sizeof CA_NAME) == 0;
}

static bool is_issued_by(X509 *certificate, X509 *ca)
{
    EVP_PKEY *key = X509_get0_pubkey(ca);
    bool yes = key && X509_check_issued(ca, certificate) == X509_V_OK &&
               X509_verify(certificate, key) == 1;
    ERR_clear_error();
    return yes;
}

static int ca_make(struct work *w, struct vd_pki_state *state, struct vd_error *error)
{
    struct vd_buf name = {0};
    char stamp[VD_TIME_TEXT_MAX];
    /* Each new CA has a name of its own, so that a client that knows an old one and a new one can
     * tell them apart. */
    vd_buf_addf(&name, CA_NAME " %.*s", VD_FMT(vd_time_format(w->now_ms, stamp)));
    int code = vd_certificate_make(&w->ca.certificate,
                                   &(struct vd_certificate_spec){
                                       .use = VD_CERTIFICATE_CA,
                                       .common_name = vd_buf_text(&name),
                                       .begins_ms = w->now_ms - backdate_ms,
                                       .expires_ms = w->now_ms + ca_age_ms,
                                       .key = w->ca.key,
                                       .issuer_key = w->ca.key,
                                   },
                                   error);
    vd_buf_release(&name);
    if (!code)
        code = certificate_store(w, "ca.crt", w->ca.certificate, error);
    state->ca_made = !code;
    return code;
}

static int ca_check(struct work *w, struct vd_error *error)
{
    const char *path = vd_pki_path(&w->path, w->options->folder, "ca.crt");
    char stamp[VD_TIME_TEXT_MAX];
    int64_t expires_ms = vd_certificate_expires_ms(w->ca.certificate);
    if (w->ca.key && !fits(w->ca.certificate, w->ca.key))
        return vd_error_set(error, VD_ERR_INVALID,
                            "%s and ca.key do not belong together: restore the right one", path);
    if (w->now_ms >= expires_ms)
        return vd_error_set(error, VD_ERR_EXPIRED,
                            "the CA %s expired on %.10s: move the folder pki away, start again, "
                            "and give the clients the new kubeconfig",
                            path, vd_time_format(expires_ms, stamp).p);
    return VD_OK;
}

/* The CA. A ca.crt without its key is enough as long as nothing has to be signed. */
static int ca_ensure(struct work *w, struct vd_pki_state *state, struct vd_error *error)
{
    bool key_made = false;
    int code = certificate_load(w, "ca.crt", &w->ca.certificate, error);
    if (!code && w->ca.certificate) {
        code = vd_pki_load_key(&w->ca.key, w->options->folder, "ca.key", error);
        if (code == VD_ERR_NOT_FOUND)
            code = VD_OK;
        if (!code)
            code = ca_check(w, error);
    } else if (!code) {
        code = key_ensure(w, "ca.key", &w->ca.key, &key_made, error);
        if (!code)
            code = ca_make(w, state, error);
    }
    if (!code)
        state->ca_expires_ms = vd_certificate_expires_ms(w->ca.certificate);
    return code;
}

/* What makes a server's and an administrator's certificate different. */
struct leaf {
    const char *certificate_file, *key_file, *common_name, *organisation;
    enum vd_certificate_use use;
};

static const struct leaf server_leaf = {"server.crt", "server.key", "vedette", NULL,
                                        VD_CERTIFICATE_SERVER};
static const struct leaf admin_leaf = {"admin.crt", "admin.key", "admin", VD_GROUP_MASTERS,
                                       VD_CERTIFICATE_CLIENT};

static bool leaf_is_good(const struct work *w, const struct leaf *leaf, const struct pair *pair)
{
    if (!is_ours(pair->certificate, w->ca.certificate))
        return true; /* it was not made here: somebody else renews it */
    return is_issued_by(pair->certificate, w->ca.certificate) &&
           fits(pair->certificate, pair->key) &&
           w->now_ms < vd_certificate_expires_ms(pair->certificate) - renew_ms &&
           (leaf->use != VD_CERTIFICATE_SERVER ||
            vd_certificate_has_hosts(pair->certificate, w->hosts.p, w->hosts.n));
}

static int leaf_make(struct work *w, const struct leaf *leaf, struct pair *pair,
                     struct vd_error *error)
{
    if (!w->ca.key)
        return vd_error_set(error, VD_ERR_NOT_FOUND,
                            "%s/pki has no ca.key to sign %s with: put both files there, or give "
                            "the server a certificate of your own",
                            w->options->folder, leaf->certificate_file);
    bool server = leaf->use == VD_CERTIFICATE_SERVER;
    X509_free(pair->certificate);
    pair->certificate = NULL;
    int code = vd_certificate_make(&pair->certificate,
                                   &(struct vd_certificate_spec){
                                       .use = leaf->use,
                                       .common_name = leaf->common_name,
                                       .organisation = leaf->organisation,
                                       .hosts = server ? w->hosts.p : NULL,
                                       .hosts_n = server ? w->hosts.n : 0,
                                       .begins_ms = w->now_ms - backdate_ms,
                                       .expires_ms = w->now_ms + leaf_age_ms,
                                       .key = pair->key,
                                       .issuer = w->ca.certificate,
                                       .issuer_key = w->ca.key,
                                   },
                                   error);
    if (!code)
        code = certificate_store(w, leaf->certificate_file, pair->certificate, error);
    return code;
}

static int leaf_ensure(struct work *w, const struct leaf *leaf, bool *made, int64_t *expires_ms,
                       struct vd_error *error)
{
    struct pair pair = {0};
    bool key_made = false;
    int code = certificate_load(w, leaf->certificate_file, &pair.certificate, error);
    if (!code)
        code = key_ensure(w, leaf->key_file, &pair.key, &key_made, error);
    if (!code && pair.certificate && !is_ours(pair.certificate, w->ca.certificate) &&
        !fits(pair.certificate, pair.key))
        code = vd_error_set(error, VD_ERR_INVALID,
                            "%s/pki: %s and %s do not belong together: put the right key there, "
                            "or remove both",
                            w->options->folder, leaf->certificate_file, leaf->key_file);
    if (!code && (!pair.certificate || !leaf_is_good(w, leaf, &pair))) {
        code = leaf_make(w, leaf, &pair, error);
        *made = !code;
    }
    if (!code)
        *expires_ms = vd_certificate_expires_ms(pair.certificate);
    pair_release(&pair);
    return code;
}

/* ---- all of it ---- */

static bool same_host(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

static int collect_hosts(struct work *w, struct vd_error *error)
{
    for (size_t i = 0; i < OWN_HOSTS; i++)
        *VD_VEC_PUSH(&w->hosts) = own_hosts[i];
    for (size_t i = 0; i < w->options->hosts_n; i++) {
        const char *host = w->options->hosts[i];
        bool known = false;
        for (size_t k = 0; k < w->hosts.n; k++)
            known |= same_host(w->hosts.p[k], host);
        if (!vd_certificate_host_is_valid(host))
            return vd_error_set(error, VD_ERR_INVALID,
                                "%.100s can be no host of the server's certificate: give a DNS "
                                "name or an IP address",
                                host);
        if (!known)
            *VD_VEC_PUSH(&w->hosts) = host;
    }
    return VD_OK;
}

static int prepare(struct work *w, struct vd_pki_state *state, struct vd_error *error)
{
    struct vd_signing_key *sa = NULL;
    int code = collect_hosts(w, error);
    if (!code) {
        vd_buf_addf(&w->path, "%s/pki", w->options->folder);
        code = vd_private_folder_make(vd_buf_text(&w->path), error);
    }
    if (!code)
        code = key_ensure(w, "sa.key", &sa, &state->sa_made, error);
    if (!code)
        code = ca_ensure(w, state, error);
    if (!code && !w->options->skip_server)
        code = leaf_ensure(w, &server_leaf, &state->server_made, &state->server_expires_ms, error);
    if (!code)
        code = leaf_ensure(w, &admin_leaf, &state->admin_made, &state->admin_expires_ms, error);
    vd_signing_key_unref(sa);
    return code;
}

int vd_pki_prepare(const struct vd_pki_options *options, struct vd_pki_state *state,
                   struct vd_error *error)
{
    struct work w = {.options = options, .now_ms = vd_clock_wall_ms(options->clock)};
    struct vd_pki_state done = {0};
    int code = prepare(&w, &done, error);
    if (!code)
        *state = done;
    pair_release(&w.ca);
    VD_VEC_RELEASE(&w.hosts);
    vd_buf_release(&w.path);
    return code;
}

/* ---- the kubeconfig ---- */

static int read_pki(struct vd_buf *out, const char *folder, const char *file,
                    struct vd_error *error)
{
    struct vd_buf path = {0};
    int code = vd_private_file_read(out, vd_pki_path(&path, folder, file), VD_PEM_LEN_MAX, error);
    vd_buf_release(&path);
    return code;
}

static int write_if_changed(const char *folder, struct vd_slice text, struct vd_error *error)
{
    struct vd_buf path = {0}, now = {0};
    vd_buf_addf(&path, "%s/admin.kubeconfig", folder);
    int code = vd_private_file_read(&now, vd_buf_text(&path), VD_PEM_LEN_MAX, NULL);
    if (code || !vd_slice_eq(vd_buf_slice(&now), text))
        code = vd_private_file_replace(vd_buf_text(&path), text, VD_FILE_MODE_SECRET, error);
    if (now.p)
        OPENSSL_cleanse(now.p, now.n);
    vd_buf_release(&now);
    vd_buf_release(&path);
    return code;
}

int vd_pki_write_kubeconfig(const char *folder, const char *url, const char *token,
                            const char *ca_pem, struct vd_error *error)
{
    struct vd_buf ca = {0}, certificate = {0}, key = {0}, text = {0};
    int code = VD_OK;
    if (ca_pem)
        vd_buf_add_text(&ca, ca_pem);
    else
        code = read_pki(&ca, folder, "ca.crt", error);
    if (!code && !token)
        code = read_pki(&certificate, folder, "admin.crt", error);
    if (!code && !token)
        code = read_pki(&key, folder, "admin.key", error);
    if (!code) {
        vd_buf_add_text(&text, "# Written by vedette, and again when it starts: copy it before you "
                               "change it.\n");
        vd_kubeconfig_write(&text, &(struct vd_kubeconfig){
                                       .server = vd_slice_of(url),
                                       .ca_pem = vd_buf_slice(&ca),
                                       .user = VD_SLICE("admin"),
                                       .certificate_pem = vd_buf_slice(&certificate),
                                       .key_pem = vd_buf_slice(&key),
                                       .token = vd_slice_of(token),
                                   });
        code = write_if_changed(folder, vd_buf_slice(&text), error);
    }
    if (key.p)
        OPENSSL_cleanse(key.p, key.n);
    vd_buf_release(&ca);
    vd_buf_release(&certificate);
    vd_buf_release(&key);
    vd_buf_release(&text);
    return code;
}
