/* See net_client.h. */
#include "net_client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"

/* ---- life cycle ---- */

void client_open(struct client *c, struct server *s)
{
    struct timeval deadline = {.tv_sec = TEST_DEADLINE_S};
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    address.sin_port = htons((uint16_t)strtoul(strrchr(s->listener.address, ':') + 1, NULL, 10));
    *c = (struct client){.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    assert_true(c->fd >= 0);
    setsockopt(c->fd, SOL_SOCKET, SO_RCVTIMEO, &deadline, sizeof deadline);
    setsockopt(c->fd, SOL_SOCKET, SO_SNDTIMEO, &deadline, sizeof deadline);
    assert_int_equal(connect(c->fd, (struct sockaddr *)&address, sizeof address), 0);
}

bool client_open_tls(struct client *c, struct server *s, SSL_CTX *context)
{
    client_open(c, s);
    c->ssl = SSL_new(context);
    SSL_set_fd(c->ssl, c->fd);
    bool ok = SSL_connect(c->ssl) == 1;
    ERR_clear_error();
    return ok;
}

SSL_CTX *client_context(const char *ca, const char *certificate, const char *key)
{
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    assert_int_equal(SSL_CTX_load_verify_locations(context, ca, NULL), 1);
    if (certificate) {
        assert_int_equal(SSL_CTX_use_certificate_chain_file(context, certificate), 1);
        assert_int_equal(SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM), 1);
    }
    return context;
}

void client_close(struct client *c)
{
    SSL_free(c->ssl);
    if (c->fd >= 0)
        close(c->fd);
    vd_buf_release(&c->in);
    *c = (struct client){.fd = -1};
}

void client_vanish(struct client *c)
{
    struct linger now = {.l_onoff = 1};
    setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    client_close(c);
}

void client_finish(struct client *c)
{
    if (c->ssl)
        SSL_shutdown(c->ssl);
    else
        assert_int_equal(shutdown(c->fd, SHUT_WR), 0);
}

/* ---- bytes ---- */

bool client_try_send(struct client *c, const char *p, size_t n)
{
    while (n) {
        ssize_t sent = c->ssl ? SSL_write(c->ssl, p, (int)n) : send(c->fd, p, n, MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        p += sent;
        n -= (size_t)sent;
    }
    return true;
}

void client_send_n(struct client *c, const char *p, size_t n)
{
    if (!client_try_send(c, p, n))
        fail_msg("could not send %zu bytes: %s", n, strerror(errno));
}

void client_send(struct client *c, const char *text)
{
    client_send_n(c, text, strlen(text));
}

bool client_receive(struct client *c)
{
    char room[65536];
    if (c->ended || c->broken)
        return false;
    ssize_t n = c->ssl ? SSL_read(c->ssl, room, sizeof room) : recv(c->fd, room, sizeof room, 0);
    if (n > 0) {
        vd_buf_add(&c->in, room, (size_t)n);
        return true;
    }
    if (n < 0 && !c->ssl && errno == EAGAIN)
        fail_msg("nothing came in %d s; so far \"%s\"", TEST_DEADLINE_S, vd_buf_text(&c->in));
    c->ended = c->ssl ? SSL_get_error(c->ssl, (int)n) == SSL_ERROR_ZERO_RETURN : n == 0;
    c->broken = !c->ended;
    ERR_clear_error();
    return false;
}

static void take(struct client *c, size_t n)
{
    memmove(c->in.p, c->in.p + n, c->in.n - n);
    c->in.n -= n;
    c->in.p[c->in.n] = 0;
}

/* Receives until the text has come. Returns where it ends. */
static size_t receive_past(struct client *c, const char *text, size_t from)
{
    size_t n = strlen(text);
    for (;;) {
        const char *at = c->in.n >= from + n ? memmem(c->in.p + from, c->in.n - from, text, n)
                                             : NULL;
        if (at)
            return (size_t)(at - c->in.p) + n;
        if (!client_receive(c))
            fail_msg("the server closed before \"%s\", after \"%s\"", text, vd_buf_text(&c->in));
    }
}

static void receive_n(struct client *c, size_t n)
{
    while (c->in.n < n) {
        if (!client_receive(c))
            fail_msg("the server closed after %zu of %zu bytes", c->in.n, n);
    }
}

void client_expect(struct client *c, const char *text)
{
    take(c, receive_past(c, text, 0));
}

const char *client_rest(struct client *c)
{
    while (client_receive(c))
        ;
    return vd_buf_text(&c->in);
}

/* ---- answers ---- */

static bool head_has(const struct answer *a, const char *line)
{
    return strstr(vd_buf_text(&a->head), line) != NULL;
}

static void take_chunks(struct client *c, struct answer *a)
{
    for (;;) {
        size_t line = receive_past(c, "\r\n", 0);
        size_t n = strtoul(c->in.p, NULL, 16);
        receive_n(c, line + n + 2);
        vd_buf_add(&a->body, c->in.p + line, n);
        assert_memory_equal(c->in.p + line + n, "\r\n", 2);
        take(c, line + n + 2);
        if (n == 0)
            return;
    }
}

void client_answer(struct client *c, struct answer *a, bool bodiless)
{
    *a = (struct answer){0};
    size_t end = receive_past(c, "\r\n\r\n", 0);
    vd_buf_add(&a->head, c->in.p, end);
    take(c, end);
    assert_memory_equal(a->head.p, "HTTP/1.1 ", 9);
    a->status = (unsigned)strtoul(a->head.p + 9, NULL, 10);
    a->closes = head_has(a, "\r\nConnection: close\r\n");
    a->chunked = head_has(a, "\r\nTransfer-Encoding: chunked\r\n");
    const char *length = strstr(a->head.p, "\r\nContent-Length: ");
    if (bodiless)
        return;
    if (a->chunked) {
        take_chunks(c, a);
        return;
    }
    assert_non_null(length);
    size_t n = strtoul(length + 18, NULL, 10);
    receive_n(c, n);
    vd_buf_add(&a->body, c->in.p, n);
    take(c, n);
}

void answer_release(struct answer *a)
{
    vd_buf_release(&a->head);
    vd_buf_release(&a->body);
}

void client_expect_answer(struct client *c, unsigned status, const char *body)
{
    struct answer a;
    client_answer(c, &a, false);
    if (a.status != status || strcmp(vd_buf_text(&a.body), body) != 0)
        fail_msg("got %u \"%.200s\", want %u \"%s\"", a.status, vd_buf_text(&a.body), status, body);
    answer_release(&a);
}

void client_expect_end(struct client *c)
{
    const char *rest = client_rest(c);
    if (*rest || c->broken)
        fail_msg("%s after \"%s\"", c->broken ? "reset" : "closed", rest);
}
