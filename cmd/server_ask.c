/*
 * See server_ask.h. Each request has a connection of its own and uses HTTP/1.0, so that the answer
 * ends with the connection.
 */
#include "server_ask.h"

#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "admin_kubeconfig.h"
#include "base/buf.h"
#include "json/parse.h"

enum {
    ANSWER_LEN_MAX = 1 << 24, /* bytes of an answer */
    PATIENCE_S = 20,          /* seconds that a send or receive may take */
};

/* ---- TLS ---- */

static X509 *read_certificate(const struct vd_buf *pem)
{
    BIO *bio = BIO_new_mem_buf(pem->p, (int)pem->n);
    X509 *certificate = bio ? PEM_read_bio_X509(bio, NULL, NULL, NULL) : NULL;
    BIO_free(bio);
    return certificate;
}

static bool use_credentials(SSL_CTX *context, const struct vd_admin_kubeconfig *d)
{
    BIO *bio = BIO_new_mem_buf(d->key.p, (int)d->key.n);
    EVP_PKEY *key = bio ? PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL) : NULL;
    X509 *certificate = read_certificate(&d->certificate);
    X509 *ca = d->ca.n ? read_certificate(&d->ca) : NULL;
    bool good = key && certificate && SSL_CTX_use_certificate(context, certificate) == 1 &&
                SSL_CTX_use_PrivateKey(context, key) == 1;
    if (good && ca)
        good = X509_STORE_add_cert(SSL_CTX_get_cert_store(context), ca) == 1;
    else if (good)
        good = SSL_CTX_set_default_verify_paths(context) == 1;
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    BIO_free(bio);
    EVP_PKEY_free(key);
    X509_free(certificate);
    X509_free(ca);
    return good;
}

/* "127.0.0.1:6443" without its port and brackets. */
static const char *host_of(struct vd_buf *out, const char *address)
{
    const char *colon = strrchr(address, ':');
    size_t n = colon ? (size_t)(colon - address) : strlen(address);
    bool bracketed = n > 1 && address[0] == '[';
    vd_buf_add(out, address + bracketed, n - (bracketed ? 2 : 0));
    return vd_buf_text(out);
}

static BIO *open_link(SSL_CTX *context, const char *address)
{
    struct timeval patience = {.tv_sec = PATIENCE_S};
    struct vd_buf host = {0};
    SSL *ssl = NULL;
    int fd = -1;
    BIO *bio = BIO_new_ssl_connect(context);
    BIO_get_ssl(bio, &ssl);
    BIO_set_conn_hostname(bio, (char *)(uintptr_t)address); /* the macro casts as well */
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host_of(&host, address));
    vd_buf_release(&host);
    if (BIO_do_connect(bio) <= 0) {
        BIO_free_all(bio);
        return NULL;
    }
    if (BIO_get_fd(bio, &fd) >= 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    return bio;
}

/* ---- the question ---- */

static bool exchange(BIO *bio, const char *address, const char *path, struct vd_buf *answer)
{
    struct vd_buf request = {0};
    char room[16384];
    vd_buf_addf(&request, "GET %s HTTP/1.0\r\nHost: %s\r\nAccept: application/json\r\n\r\n", path,
                address);
    bool good = BIO_write(bio, request.p, (int)request.n) == (int)request.n;
    for (int n; good && (n = BIO_read(bio, room, sizeof room)) > 0;) {
        vd_buf_add(answer, room, (size_t)n);
        good = answer->n <= ANSWER_LEN_MAX;
    }
    vd_buf_release(&request);
    return good && answer->n;
}

static int read_answer(struct vd_arena *arena, struct vd_slice answer, struct vd_json **out,
                       struct vd_error *error)
{
    const char *end = memmem(answer.p, answer.n, "\r\n\r\n", 4);
    if (!end || answer.n < 12)
        return vd_error_set(error, VD_ERR_IO, "the server's answer was cut off");
    if (memcmp(answer.p + 9, "200", 3) != 0)
        return vd_error_set(error, VD_ERR_IO, "the server answered with %.3s", answer.p + 9);
    struct vd_slice body = vd_slice_from(answer, (size_t)(end + 4 - answer.p));
    return vd_json_parse(arena, vd_arena_copy(arena, body), NULL, out, error);
}

int vd_server_ask(struct vd_arena *arena, const char *folder, const char *path,
                  struct vd_json **out, struct vd_error *error)
{
    struct vd_admin_kubeconfig door = {0};
    struct vd_buf answer = {0}, address = {0};
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    BIO *bio = NULL;
    int code = vd_admin_kubeconfig_read(&door, arena, folder, error);
    if (code)
        goto out;
    vd_buf_add_slice(&address, vd_slice_from(door.server, sizeof "https://" - 1));
    if (!use_credentials(context, &door)) {
        code = vd_error_set(error, VD_ERR_INVALID,
                            "the credentials in %s/admin.kubeconfig are no "
                            "good",
                            folder);
        goto out;
    }
    bio = open_link(context, vd_buf_text(&address));
    if (!bio || !exchange(bio, vd_buf_text(&address), path, &answer))
        code = vd_error_set(error, VD_ERR_IO,
                            "no server answers at https://%s: is it running on %s?",
                            vd_buf_text(&address), folder);
    else
        code = read_answer(arena, vd_buf_slice(&answer), out, error);
out:
    BIO_free_all(bio);
    SSL_CTX_free(context);
    vd_admin_kubeconfig_release(&door);
    vd_buf_release(&answer);
    vd_buf_release(&address);
    return code;
}
