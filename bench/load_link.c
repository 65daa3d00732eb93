/* A connection to the server, plain or TLS, and requests on it: see load.h. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <sys/socket.h>
#include <unistd.h>

#include "load.h"

enum { ROOM = 256 * 1024 };

static SSL_CTX *context;

/* The server runs on this machine and was started for the benchmark: its certificate is not
 * verified. */
void link_setup(void)
{
    if (!load.tls)
        return;
    context = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_verify(context, SSL_VERIFY_NONE, NULL);
    SSL_CTX_set_read_ahead(context, 1);
    if (load.cert && SSL_CTX_use_certificate_chain_file(context, load.cert) != 1)
        load_die("%s has no certificate that can be used", load.cert);
    if (load.key && SSL_CTX_use_PrivateKey_file(context, load.key, SSL_FILETYPE_PEM) != 1)
        load_die("%s has no key that can be used", load.key);
}

void link_open(struct link *l, bool http2)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(load.port)};
    int on = 1;
    inet_pton(AF_INET, load.host, &to.sin_addr);
    l->ssl = NULL;
    l->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int len = (int)load.receive_buffer;
    if (len)
        setsockopt(l->fd, SOL_SOCKET, SO_RCVBUF, &len, sizeof len);
    if (l->fd < 0 || connect(l->fd, (const struct sockaddr *)&to, sizeof to))
        load_die("no connection to %s:%u: %s", load.host, load.port, strerror(errno));
    setsockopt(l->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (!load.tls)
        return;
    l->ssl = SSL_new(context);
    SSL_set_fd(l->ssl, l->fd);
    if (http2)
        SSL_set_alpn_protos(l->ssl, (const unsigned char *)"\x02h2", 3);
    if (SSL_connect(l->ssl) != 1)
        load_die("no TLS with %s:%u", load.host, load.port);
}

void link_close(struct link *l)
{
    SSL_free(l->ssl);
    close(l->fd);
    *l = (struct link){.fd = -1};
}

void link_set_nonblocking(struct link *l)
{
    fcntl(l->fd, F_SETFL, O_NONBLOCK);
}

bool link_send(struct link *l, struct vd_slice bytes)
{
    while (bytes.n > 0) {
        ssize_t n = l->ssl ? SSL_write(l->ssl, bytes.p, (int)bytes.n)
                           : send(l->fd, bytes.p, bytes.n, MSG_NOSIGNAL);
        if (n <= 0)
            return false;
        bytes = vd_slice_from(bytes, (size_t)n);
    }
    return true;
}

ssize_t link_receive(struct link *l, char *room, size_t n)
{
    if (!l->ssl) {
        ssize_t got = recv(l->fd, room, n, 0);
        if (got >= 0)
            return got;
        return errno == EAGAIN ? LINK_AGAIN : LINK_BROKEN;
    }
    ERR_clear_error();
    int got = SSL_read(l->ssl, room, (int)n);
    if (got > 0)
        return got;
    int why = SSL_get_error(l->ssl, got);
    if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE)
        return LINK_AGAIN;
    return why == SSL_ERROR_ZERO_RETURN ? 0 : LINK_BROKEN;
}

void link_request_text(struct vd_buf *out, const char *method, const char *path,
                       const char *content_type, struct vd_slice body)
{
    vd_buf_reset(out);
    vd_buf_addf(out, "%s %s HTTP/1.1\r\nHost: %s:%u\r\nAccept: application/json\r\n", method, path,
                load.host, load.port);
    if (load.token)
        vd_buf_addf(out, "Authorization: Bearer %s\r\n", load.token);
    if (content_type)
        vd_buf_addf(out, "Content-Type: %s\r\nContent-Length: %zu\r\n", content_type, body.n);
    vd_buf_add_text(out, "\r\n");
    vd_buf_add_slice(out, body);
}

unsigned link_ask(struct link *l, struct vd_slice request, reply_sink sink, void *arg)
{
    static _Thread_local char room[ROOM];
    struct reply reply = {0};
    if (!link_send(l, request))
        return 0;
    while (reply.phase != REPLY_DONE) {
        ssize_t n = link_receive(l, room, sizeof room);
        if (n <= 0)
            return 0;
        reply_feed(&reply, vd_slice(room, (size_t)n), sink, arg);
    }
    return reply.status;
}
