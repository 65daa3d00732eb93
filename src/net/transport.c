/* See transport.h. */
#include "net/transport.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/limits.h"

enum {
    RECORD_MAX = 16384,        /* bytes of one TLS record */
    KEEPALIVE_INTERVAL_S = 15, /* seconds between two TCP probes */
    KEEPALIVE_PROBES = 4,      /* probes without an answer that end a connection */
};

void vd_transport_set_options(int fd)
{
    int on = 1, idle = VD_TCP_KEEPALIVE_S, interval = KEEPALIVE_INTERVAL_S;
    int probes = KEEPALIVE_PROBES, timeout = VD_TCP_USER_TIMEOUT_MS;
    int unsent = VD_TCP_UNSENT_LEN_MAX; /* what a slow reader makes wait, waits with us */
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout, sizeof timeout);
    setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof unsent);
}

bool vd_transport_open(struct vd_transport *t, int fd, SSL_CTX *tls)
{
    *t = (struct vd_transport){.fd = fd, .handshaken = !tls};
    if (!tls)
        return true;
    t->ssl = SSL_new(tls);
    if (!t->ssl || SSL_set_fd(t->ssl, fd) != 1)
        return false;
    SSL_set_accept_state(t->ssl);
    return true;
}

/* A close_notify, once, if the connection is still fit for it. */
static void say_goodbye(struct vd_transport *t)
{
    if (!t->handshaken || SSL_get_shutdown(t->ssl) & SSL_SENT_SHUTDOWN)
        return;
    SSL_shutdown(t->ssl);
    ERR_clear_error();
}

void vd_transport_finish(struct vd_transport *t)
{
    if (t->ssl)
        say_goodbye(t);
    shutdown(t->fd, SHUT_WR);
}

void vd_transport_spoil(struct vd_transport *t)
{
    struct linger now = {.l_onoff = 1};
    if (t->ssl)
        SSL_set_shutdown(t->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    setsockopt(t->fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
}

void vd_transport_close(struct vd_transport *t)
{
    if (t->ssl) {
        say_goodbye(t);
        SSL_free(t->ssl);
    }
    if (t->fd >= 0)
        close(t->fd);
    t->ssl = NULL;
    t->fd = -1;
}

/* Takes away what others have left in the thread's queue of errors: it would be taken for ours.
 * Looking costs a tenth of clearing, and there is hardly ever one. */
static void clear_errors(void)
{
    if (ERR_peek_error())
        ERR_clear_error();
}

/* What a result of OpenSSL means here. */
static int ssl_result(struct vd_transport *t, int rc)
{
    int reason = SSL_get_error(t->ssl, rc);
    t->wants_write = reason == SSL_ERROR_WANT_WRITE;
    if (reason == SSL_ERROR_WANT_READ || reason == SSL_ERROR_WANT_WRITE)
        return VD_TRANSPORT_AGAIN;
    ERR_clear_error();
    if (reason == SSL_ERROR_ZERO_RETURN)
        return 0;
    /* After a fatal error OpenSSL must not be asked to say goodbye. */
    SSL_set_shutdown(t->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    return VD_TRANSPORT_BROKEN;
}

/* Somebody speaks plain HTTP to a TLS listener: a sentence helps more than an alert. */
static void answer_in_plain(struct vd_transport *t)
{
    static const char answer[] =
        "HTTP/1.0 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\n"
        "Connection: close\r\n\r\n"
        "this port speaks TLS only: use https:// instead of http://\n";
    char unread[4096];
    if (send(t->fd, answer, sizeof answer - 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        return;
    shutdown(t->fd, SHUT_WR);
    /* Bytes left unread would make the kernel take the answer back. */
    while (recv(t->fd, unread, sizeof unread, MSG_DONTWAIT) == (ssize_t)sizeof unread)
        ;
}

int vd_transport_handshake(struct vd_transport *t)
{
    clear_errors();
    int rc = SSL_do_handshake(t->ssl);
    t->starved = rc != 1;
    if (rc == 1) {
        t->handshaken = true;
        t->wants_write = false;
        return 1;
    }
    if (ERR_GET_REASON(ERR_peek_error()) == SSL_R_HTTP_REQUEST)
        answer_in_plain(t);
    rc = ssl_result(t, rc);
    return rc == VD_TRANSPORT_AGAIN ? rc : VD_TRANSPORT_BROKEN;
}

bool vd_transport_speaks_http2(const struct vd_transport *t)
{
    const unsigned char *name = NULL;
    unsigned n = 0;
    if (t->ssl)
        SSL_get0_alpn_selected(t->ssl, &name, &n);
    return n == 2 && memcmp(name, "h2", 2) == 0;
}

ssize_t vd_transport_read(struct vd_transport *t, char *p, size_t n)
{
    if (t->ssl) {
        clear_errors();
        int rc = SSL_read(t->ssl, p, n > INT32_MAX ? INT32_MAX : (int)n);
        t->starved = rc <= 0;
        if (rc <= 0)
            return ssl_result(t, rc);
        t->wants_write = false;
        return rc;
    }
    ssize_t rc = recv(t->fd, p, n, 0);
    if (rc >= 0)
        return rc;
    return errno == EAGAIN || errno == EINTR ? VD_TRANSPORT_AGAIN : VD_TRANSPORT_BROKEN;
}

bool vd_transport_has_pending(const struct vd_transport *t)
{
    return t->ssl && !t->starved && SSL_has_pending(t->ssl);
}

bool vd_transport_discard(struct vd_transport *t, char *room, size_t n)
{
    ssize_t rc = recv(t->fd, room, n, 0);
    return rc > 0 || (rc < 0 && (errno == EAGAIN || errno == EINTR));
}

/* A large first piece goes as it is, but for what does not fill a record where more follows: that,
 * and small ones, are copied together. */
static ssize_t ssl_write(struct vd_transport *t, const struct iovec *pieces, int n, char *room,
                         size_t room_n)
{
    const char *from = pieces[0].iov_base;
    size_t len = pieces[0].iov_len;
    if (len >= RECORD_MAX && n > 1) {
        len -= len % RECORD_MAX;
    } else if (n > 1) {
        size_t cap = room_n < RECORD_MAX ? room_n : RECORD_MAX;
        len = 0;
        for (int i = 0; i < n && len < cap; i++) {
            size_t part = pieces[i].iov_len < cap - len ? pieces[i].iov_len : cap - len;
            memcpy(room + len, pieces[i].iov_base, part);
            len += part;
        }
        from = room;
    }
    clear_errors();
    int rc = SSL_write(t->ssl, from, len > INT32_MAX ? INT32_MAX : (int)len);
    if (rc <= 0)
        rc = ssl_result(t, rc);
    t->wants_write = false;
    return rc == 0 ? VD_TRANSPORT_BROKEN : rc;
}

ssize_t vd_transport_write(struct vd_transport *t, const struct iovec *pieces, int n, char *room,
                           size_t room_n)
{
    if (t->ssl)
        return ssl_write(t, pieces, n, room, room_n);
    struct msghdr message = {.msg_iov = (struct iovec *)(uintptr_t)pieces, .msg_iovlen = (size_t)n};
    ssize_t rc = sendmsg(t->fd, &message, MSG_NOSIGNAL);
    if (rc >= 0)
        return rc;
    return errno == EAGAIN || errno == EINTR ? VD_TRANSPORT_AGAIN : VD_TRANSPORT_BROKEN;
}
