/*
 * A server with the routes of body_face.h, for clients from outside:
 *
 *     body_server
 *
 * Prints "ready http://127.0.0.1:PORT https://127.0.0.1:PORT CA" and serves until SIGTERM; then it
 * stops in order, and fails if anything was left behind.
 */
#include <signal.h>
#include <stdio.h>

#include "body_face.h"
#include "check.h"
#include "net_server.h"
#include "tls_files.h"

static struct server plain, secure;
static struct body_face face;

static void start(struct server *s, const struct vd_tls_files *tls)
{
    server_init(s, 1, tls);
    vd_route_table_add(&s->routes, &face.route);
    server_start(s);
}

int main(void)
{
    struct tls_files files;
    sigset_t signals;
    int signal = 0;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGCHLD); /* is the loops' */
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    sigdelset(&signals, SIGCHLD);
    tls_files_make(&files);
    body_face_init(&face, 0);
    start(&plain, NULL);
    start(&secure, &(struct vd_tls_files){.certificate = files.server, .key = files.server_key});
    printf("ready http://%s https://%s %s\n", plain.listener.address, secure.listener.address,
           files.ca);
    fflush(stdout);
    sigwait(&signals, &signal);
    server_stop(&plain);
    server_stop(&secure);
    tls_files_remove(&files);
    return 0;
}
