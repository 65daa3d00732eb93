/*
 * See tls.h. Sessions are resumed by stateless tickets only, so that a thousand
 * idle connections keep no cache; buffers are given back while a connection is
 * idle (SSL_MODE_RELEASE_BUFFERS), which is most of what an idle watch would cost.
 */
#include "net/tls.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/errno_advice.h"

const char *vd_tls_reason(char *room, size_t cap)
{
    unsigned long code = ERR_peek_error();
    const char *reason = code && ERR_SYSTEM_ERROR(code) ? strerror(ERR_GET_REASON(code))
                         : code                         ? ERR_reason_error_string(code)
                                                        : NULL;
    snprintf(room, cap, "%s", reason ? reason : "unknown reason");
    ERR_clear_error();
    return room;
}

/* The same with what to do about it; `wanted` is what the file should hold. */
static const char *file_reason(const char *wanted, char *room, size_t cap)
{
    unsigned long code = ERR_peek_error();
    if (code && ERR_SYSTEM_ERROR(code))
        snprintf(room, cap, "%s%s", strerror(ERR_GET_REASON(code)),
                 vd_errno_advice(ERR_GET_REASON(code)));
    else if (ERR_GET_REASON(code) == PEM_R_NO_START_LINE ||
             ERR_GET_LIB(code) == ERR_LIB_OSSL_DECODER)
        snprintf(room, cap, "it holds no %s in PEM form that can be read", wanted);
    else if (ERR_GET_LIB(code) == ERR_LIB_X509 &&
             (ERR_GET_REASON(code) == X509_R_KEY_VALUES_MISMATCH ||
              ERR_GET_REASON(code) == X509_R_KEY_TYPE_MISMATCH))
        snprintf(room, cap, "they do not belong together; give the %s it was made for", wanted);
    else
        return vd_tls_reason(room, cap);
    ERR_clear_error();
    return room;
}

static int fail(SSL_CTX *context, const char *what, const char *file, struct vd_error *error)
{
    char reason[128];
    SSL_CTX_free(context);
    return vd_error_set(error, VD_ERR_INVALID, "could not use the %s %s: %s", what, file,
                        file_reason("certificate", reason, sizeof reason));
}

/* A key with a password is refused: OpenSSL would ask at the terminal, and wait. */
static int note_password(char *room, int cap, int for_writing, void *arg)
{
    (void)room;
    (void)cap;
    (void)for_writing;
    *(bool *)arg = true;
    return -1;
}

static int load_key(SSL_CTX *context, const struct vd_tls_files *files, struct vd_error *error)
{
    bool locked = false;
    SSL_CTX_set_default_passwd_cb(context, note_password);
    SSL_CTX_set_default_passwd_cb_userdata(context, &locked);
    bool ok = SSL_CTX_use_PrivateKey_file(context, files->key, SSL_FILETYPE_PEM) == 1 &&
              SSL_CTX_check_private_key(context) == 1;
    SSL_CTX_set_default_passwd_cb_userdata(context, NULL);
    if (ok)
        return VD_OK;
    char reason[128];
    file_reason("key", reason, sizeof reason);
    return vd_error_set(
        error, VD_ERR_INVALID, "could not use the key %s for the certificate %s: %s", files->key,
        files->certificate, locked ? "it has a password; give one without" : reason);
}

static int choose_protocol(SSL *ssl, const unsigned char **out, unsigned char *out_len,
                           const unsigned char *offered, unsigned offered_len, void *arg)
{
    static const unsigned char both[] = "\x02h2\x08http/1.1";
    const unsigned char *ours = both;
    unsigned ours_len = sizeof both - 1;
    unsigned char *chosen = NULL;
    (void)ssl;
    if (arg) { /* HTTP/1.1 only */
        ours += 3;
        ours_len -= 3;
    }
    if (SSL_select_next_proto(&chosen, out_len, ours, ours_len, offered, offered_len) !=
        OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL; /* RFC 7301: both sides must mean the same */
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
}

/*
 * AES with 128 bits first, as Go and browsers have it: what it protects is as safe with it, and
 * encryption is most of the work of sending. Clients without AES in hardware say so by asking
 * for ChaCha20 first, and get it. In TLS 1.2 nothing without forward secrecy and authenticated
 * encryption.
 */
static bool set_ciphers(SSL_CTX *context)
{
    return SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:"
                                             "TLS_CHACHA20_POLY1305_SHA256") == 1 &&
           SSL_CTX_set_cipher_list(context, "ECDHE+AES128+AESGCM:ECDHE+AES256+AESGCM:"
                                            "ECDHE+CHACHA20") == 1;
}

static void set_options(SSL_CTX *context, bool http1_only)
{
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                  SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_read_ahead(context, 1); /* one read for a record, not two */
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                     SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA |
                                     SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_session_id_context(context, (const unsigned char *)"vedette", 7);
    SSL_CTX_set_alpn_select_cb(context, choose_protocol, http1_only ? context : NULL);
}

int vd_tls_load(SSL_CTX **out, const struct vd_tls_files *files, struct vd_error *error)
{
    ERR_clear_error();
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    if (!context || !set_ciphers(context))
        return fail(context, "TLS library", "OpenSSL", error);
    set_options(context, files->http1_only);
    if (SSL_CTX_use_certificate_chain_file(context, files->certificate) != 1)
        return fail(context, "certificate", files->certificate, error);
    int code = load_key(context, files, error);
    if (code) {
        SSL_CTX_free(context);
        return code;
    }
    if (files->client_ca) {
        STACK_OF(X509_NAME) *names = SSL_load_client_CA_file(files->client_ca);
        if (!names || SSL_CTX_load_verify_locations(context, files->client_ca, NULL) != 1) {
            sk_X509_NAME_pop_free(names, X509_NAME_free);
            return fail(context, "client CA", files->client_ca, error);
        }
        SSL_CTX_set_client_CA_list(context, names);
        /* Whoever comes with a certificate must have it from that CA; whoever comes
         * with none is asked for a token later. */
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    }
    *out = context;
    return VD_OK;
}

/* ---- clients ---- */

/* Every certificate of the text; false when there is none, or one cannot be read. */
static bool trust(SSL_CTX *context, struct vd_slice pem)
{
    X509_STORE *store = SSL_CTX_get_cert_store(context);
    BIO *bio = BIO_new_mem_buf(pem.p, (int)pem.n);
    X509 *certificate;
    size_t n = 0;
    bool good = true;
    while (good && (certificate = PEM_read_bio_X509(bio, NULL, NULL, NULL))) {
        good = X509_STORE_add_cert(store, certificate) == 1;
        X509_free(certificate);
        n++;
    }
    good = good && n && ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
    BIO_free(bio);
    if (good)
        ERR_clear_error();
    return good;
}

int vd_tls_load_client(SSL_CTX **out, struct vd_slice ca_pem, struct vd_error *error)
{
    ERR_clear_error();
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    if (!context)
        return fail(context, "TLS library", "OpenSSL", error);
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                  SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    if (ca_pem.n ? !trust(context, ca_pem) : SSL_CTX_set_default_verify_paths(context) != 1)
        return fail(context, "CA certificates", ca_pem.n ? "that were given" : "of the system",
                    error);
    *out = context;
    return VD_OK;
}
