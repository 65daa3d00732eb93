/* See http_ask.h. */
#include "http_ask.h"

#include <ctype.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

enum {
    ANSWER_LEN_MAX = 1 << 26, /* bytes of an answer */
    PATIENCE_S = 20,          /* seconds that a send or receive may take */
};

/* ---- whom ---- */

/* Trusts the certificates of the PEM; false if there is none in it. */
static bool trust(SSL_CTX *context, struct vd_slice pem)
{
    X509_STORE *store = SSL_CTX_get_cert_store(context);
    BIO *bio = BIO_new_mem_buf(pem.p, (int)pem.n);
    size_t count = 0;
    for (X509 *certificate; (certificate = PEM_read_bio_X509(bio, NULL, NULL, NULL));) {
        count += X509_STORE_add_cert(store, certificate) == 1;
        X509_free(certificate);
    }
    ERR_clear_error(); /* the end of the text is one */
    BIO_free(bio);
    return count > 0;
}

int vd_http_peer_set(struct vd_http_peer *peer, struct vd_slice url, struct vd_slice ca,
                     struct vd_error *error)
{
    struct vd_slice rest = url;
    bool tls = vd_slice_starts_with(rest, VD_SLICE("https://"));
    if (!tls && !vd_slice_starts_with(rest, VD_SLICE("http://")))
        return vd_error_set(error, VD_ERR_INVALID,
                            "%.*s is no URL of http or https: write https://HOST:PORT",
                            VD_FMT(url));
    rest = vd_slice_from(rest, tls ? 8 : 7);
    if (vd_slice_ends_with(rest, VD_SLICE("/")))
        rest.n--;
    if (!rest.n || memchr(rest.p, '/', rest.n))
        return vd_error_set(error, VD_ERR_INVALID, "%.*s has a path: write https://HOST:PORT alone",
                            VD_FMT(url));
    vd_buf_add_slice(&peer->address, rest);
    const char *bracket = memchr(rest.p, ']', rest.n);
    if (!strchr(bracket ? bracket : vd_buf_text(&peer->address), ':'))
        vd_buf_add_text(&peer->address, tls ? ":443" : ":80");
    if (!tls)
        return VD_OK;
    peer->context = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_verify(peer->context, SSL_VERIFY_PEER, NULL);
    if (!ca.n && SSL_CTX_set_default_verify_paths(peer->context) != 1)
        return vd_error_set(error, VD_ERR_INVALID, "the system has no certificates of authorities");
    if (ca.n && !trust(peer->context, ca))
        return vd_error_set(error, VD_ERR_INVALID, "there is no certificate of an authority in it");
    return VD_OK;
}

int vd_http_peer_use_certificate(struct vd_http_peer *peer, struct vd_slice certificate,
                                 struct vd_slice key, struct vd_error *error)
{
    BIO *key_bio = BIO_new_mem_buf(key.p, (int)key.n);
    BIO *bio = BIO_new_mem_buf(certificate.p, (int)certificate.n);
    EVP_PKEY *private_key = PEM_read_bio_PrivateKey(key_bio, NULL, NULL, NULL);
    X509 *x509 = PEM_read_bio_X509(bio, NULL, NULL, NULL);
    bool good = private_key && x509 && SSL_CTX_use_certificate(peer->context, x509) == 1 &&
                SSL_CTX_use_PrivateKey(peer->context, private_key) == 1;
    BIO_free(key_bio);
    BIO_free(bio);
    EVP_PKEY_free(private_key);
    X509_free(x509);
    return good ? VD_OK
                : vd_error_set(error, VD_ERR_INVALID,
                               "the client certificate and its key in the kubeconfig are no good");
}

int vd_http_peer_set_token(struct vd_http_peer *peer, struct vd_slice token, struct vd_error *error)
{
    token = vd_slice_trim(token);
    for (size_t i = 0; i < token.n; i++)
        if (!isgraph((unsigned char)token.p[i]))
            return vd_error_set(error, VD_ERR_INVALID, "the token is not one word");
    vd_buf_add_slice(&peer->token, token);
    return VD_OK;
}

void vd_http_peer_release(struct vd_http_peer *peer)
{
    SSL_CTX_free(peer->context);
    vd_buf_release(&peer->address);
    vd_buf_release(&peer->token);
    *peer = (struct vd_http_peer){0};
}

/* ---- the connection ---- */

/* "127.0.0.1:6443" without its port and brackets. */
static const char *host_of(struct vd_buf *out, const char *address)
{
    const char *colon = strrchr(address, ':');
    size_t n = colon ? (size_t)(colon - address) : strlen(address);
    bool bracketed = n > 1 && address[0] == '[';
    vd_buf_add(out, address + bracketed, n - (bracketed ? 2 : 0));
    return vd_buf_text(out);
}

/* The peer must show a certificate of this name or address. */
static void expect_host(SSL *ssl, const char *address)
{
    struct vd_buf host = {0};
    X509_VERIFY_PARAM *param = SSL_get0_param(ssl);
    if (X509_VERIFY_PARAM_set1_ip_asc(param, host_of(&host, address)) != 1) {
        X509_VERIFY_PARAM_set1_host(param, host.p, host.n);
        SSL_set_tlsext_host_name(ssl, host.p);
    }
    vd_buf_release(&host);
}

/* Nobody answers, or somebody whose certificate is not one to trust. */
static int refuse_link(const struct vd_http_peer *peer, const SSL *ssl, struct vd_error *error)
{
    const char *address = vd_buf_text(&peer->address);
    long verdict = ssl ? SSL_get_verify_result(ssl) : X509_V_OK;
    if (verdict != X509_V_OK)
        return vd_error_set(error, VD_ERR_IO,
                            "the certificate of https://%s is not trusted (%s): name its authority "
                            "with --ca-file, or in the kubeconfig",
                            address, X509_verify_cert_error_string(verdict));
    return vd_error_set(error, VD_ERR_IO, "no server answers at %s://%s: is it running there?",
                        peer->context ? "https" : "http", address);
}

static BIO *open_link(const struct vd_http_peer *peer, struct vd_error *error)
{
    struct timeval patience = {.tv_sec = PATIENCE_S};
    const char *address = vd_buf_text(&peer->address);
    SSL *ssl = NULL;
    int fd = -1;
    BIO *bio = peer->context ? BIO_new_ssl_connect(peer->context) : BIO_new_connect(address);
    if (peer->context) {
        BIO_get_ssl(bio, &ssl);
        BIO_set_conn_hostname(bio, (char *)(uintptr_t)address); /* the macro casts as well */
        expect_host(ssl, address);
    }
    if (BIO_do_connect(bio) <= 0) {
        (void)refuse_link(peer, ssl, error);
        BIO_free_all(bio);
        return NULL;
    }
    if (BIO_get_fd(bio, &fd) >= 0) {
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    }
    return bio;
}

/* ---- question and answer ---- */

void vd_http_add_encoded(struct vd_buf *out, struct vd_slice text)
{
    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];
        if (isalnum(c) || strchr("-._~", c))
            vd_buf_add_char(out, (char)c);
        else
            vd_buf_addf(out, "%%%02X", c);
    }
}

static void write_question(struct vd_buf *out, const struct vd_http_peer *peer,
                           const struct vd_http_question *q)
{
    vd_buf_addf(out, "%s %s HTTP/1.0\r\nHost: %s\r\nAccept: application/json\r\n", q->method,
                q->path, vd_buf_text(&peer->address));
    if (peer->token.n)
        vd_buf_addf(out, "Authorization: Bearer %s\r\n", vd_buf_text(&peer->token));
    if (q->content_type)
        vd_buf_addf(out, "Content-Type: %s\r\nContent-Length: %zu\r\n", q->content_type, q->body.n);
    vd_buf_add_text(out, "\r\n");
    if (q->content_type)
        vd_buf_add_slice(out, q->body);
}

static bool exchange(BIO *bio, const struct vd_buf *request, struct vd_buf *answer)
{
    char room[16384];
    bool good = BIO_write(bio, request->p, (int)request->n) == (int)request->n;
    for (int n; good && (n = BIO_read(bio, room, sizeof room)) > 0;) {
        vd_buf_add(answer, room, (size_t)n);
        good = answer->n <= ANSWER_LEN_MAX;
    }
    return good && answer->n;
}

static int read_answer(struct vd_http_answer *answer, struct vd_error *error)
{
    struct vd_slice bytes = vd_buf_slice(&answer->bytes);
    const char *end = memmem(bytes.p, bytes.n, "\r\n\r\n", 4);
    uint64_t status = 0;
    if (!end || bytes.n < 12 || vd_slice_to_u64(vd_slice(bytes.p + 9, 3), &status))
        return vd_error_set(error, VD_ERR_IO, "the server's answer was cut off");
    answer->status = (unsigned)status;
    answer->body = vd_slice_from(bytes, (size_t)(end + 4 - bytes.p));
    return VD_OK;
}

int vd_http_ask(const struct vd_http_peer *peer, const struct vd_http_question *question,
                struct vd_http_answer *answer, struct vd_error *error)
{
    struct vd_buf request = {0};
    int code = VD_OK;
    BIO *bio = open_link(peer, error);
    write_question(&request, peer, question);
    if (!bio)
        code = VD_ERR_IO;
    else if (!exchange(bio, &request, &answer->bytes))
        code = refuse_link(peer, NULL, error);
    else
        code = read_answer(answer, error);
    BIO_free_all(bio);
    vd_buf_release(&request);
    return code;
}

void vd_http_answer_release(struct vd_http_answer *answer)
{
    vd_buf_release(&answer->bytes);
    *answer = (struct vd_http_answer){0};
}
