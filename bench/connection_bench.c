/*
 * What a connection costs in memory while nothing happens on it: plain and under
 * TLS, waiting for a request and as a stream. The clients are a child process, so
 * that only the server's side is counted.
 */
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure.h"
#include "net/tls.h"
#include "net_client.h"
#include "tls_files.h"

enum { CONNECTIONS = 2000, WARM_UP = 200 };

static struct server server;

/* The child process: opens some connections, waits for a byte from the parent, opens the others,
 * and ends when the parent closes its side of the socket. */
static void run_clients(int control, const char *request, const char *ca)
{
    SSL_CTX *context = ca ? client_context(ca, NULL, NULL) : NULL;
    char word;
    if (recv(control, server.listener.address, sizeof server.listener.address, 0) <= 0)
        _exit(1);
    for (int i = 0; i < WARM_UP + CONNECTIONS; i++) {
        struct client c;
        if (context && !client_open_tls(&c, &server, context))
            _exit(2);
        if (!context)
            client_open(&c, &server);
        client_send(&c, request);
        client_expect(&c, "\r\n\r\n");
        vd_buf_release(&c.in);
        if (i + 1 == WARM_UP && (send(control, "w", 1, 0) != 1 || recv(control, &word, 1, 0) != 1))
            _exit(3);
    }
    if (send(control, "d", 1, 0) != 1)
        _exit(4);
    while (recv(control, &word, 1, 0) > 0)
        ;
    _exit(0);
}

static void measure(const char *what, const char *request, const struct tls_files *tls,
                    double target)
{
    int control[2];
    char word, note[64];
    struct vd_tls_files files = {0};
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, control))
        exit(2);
    pid_t child = fork();
    if (child == 0) {
        close(control[1]);
        run_clients(control[0], request, tls ? tls->ca : NULL);
    }
    close(control[0]);
    if (tls)
        files = (struct vd_tls_files){
            .certificate = tls->server, .key = tls->server_key, .client_ca = tls->ca};
    server_init(&server, 1, tls ? &files : NULL);
    server_start(&server);
    if (send(control[1], server.listener.address, sizeof server.listener.address, 0) < 0 ||
        recv(control[1], &word, 1, 0) != 1)
        exit(3);
    /* Waits for a turn of the loop, so that what the last one frees is freed. */
    (void)server_connections(&server);
    size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    if (send(control[1], "g", 1, 0) != 1 || recv(control[1], &word, 1, 0) != 1)
        exit(4);
    if (server_connections(&server) != WARM_UP + CONNECTIONS)
        exit(5);
    double bytes = (double)(mallinfo2().uordblks + mallinfo2().hblkhd - before) / CONNECTIONS;
    snprintf(note, sizeof note, "<= %.0f B", target);
    measure_target(what, bytes, "B", bytes <= target, note);
    close(control[1]);
    waitpid(child, NULL, 0);
    server_stop(&server);
}

int main(void)
{
    struct tls_files tls;
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    tls_files_make(&tls);
    measure_print("struct vd_connection", (double)sizeof(struct vd_connection), "B", "");
    measure("idle connection", "GET /echo HTTP/1.1\r\nHost: h\r\n\r\n", NULL, 1024);
    measure("idle stream", "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n", NULL, 1024);
    measure("idle connection, TLS", "GET /echo HTTP/1.1\r\nHost: h\r\n\r\n", &tls, 16384);
    measure("idle stream, TLS", "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n", &tls, 16384);
    tls_files_remove(&tls);
    return 0;
}
