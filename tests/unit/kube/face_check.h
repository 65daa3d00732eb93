/* What tests of the Kubernetes face over HTTP share: a store in memory, one loop, and
 * ways to ask. */
#ifndef VD_TESTS_FACE_CHECK_H
#define VD_TESTS_FACE_CHECK_H

#include "check.h"

#include <stdio.h>
#include <stdlib.h>

#include "fixture.h"
#include "gatekeeper_fixture.h"
#include "kinds/builtin.h"
#include "kinds/uid.h"
#include "kube/call.h"
#include "net_client.h"
#include "request/request.h"

static struct {
    struct server server;
    struct vd_store *store;
    struct vd_kube kube;
    struct vd_api_env env;
    struct vd_api_loop api_loop;
    struct vd_request_loop requests;
    struct vd_kube_loop loop;
    struct vd_user *user;
    _Atomic size_t handled; /* requests that have been looked at */
} face;

static size_t narrow_window_events; /* of the next face's store; 0: the default */

static inline void handle(struct vd_http_service *service, struct vd_exchange *x)
{
    (void)service;
    vd_kube_handle(&face.loop, x, face.user);
    atomic_fetch_add(&face.handled, 1);
}

static inline void finished(struct vd_http_service *service, struct vd_exchange *x)
{
    (void)service;
    vd_request_finished(&face.requests, x);
}

static inline int open_face(void **state)
{
    struct vd_error error;
    (void)state;
    atomic_store(&face.handled, 0);
    assert_ok(vd_store_open_in(
                  &face.store, NULL,
                  &(struct vd_store_options){.window_events_max = narrow_window_events}, &error),
              &error);
    face.env = (struct vd_api_env){.store = face.store,
                                   .kinds = vd_kinds_new_builtin(),
                                   .clock = vd_clock_system(),
                                   .gatekeeper = gatekeeper_for_all("\"*\"")};
    face.kube = (struct vd_kube){
        .env = &face.env, .options = {.bookmark_ms = 60000}, .tables = vd_tables_new()};
    face.user = vd_user_new(
        &(struct vd_identity){.name = VD_SLICE("tester"), .method = VD_AUTH_CERTIFICATE});
    server_init(&face.server, 1, NULL);
    /* What the face does in a turn comes before what is flushed in it. */
    struct vd_loop *loop = &face.server.loops[0];
    struct vd_turn_hook *flush = loop->hooks;
    loop->hooks = NULL;
    face.requests = (struct vd_request_loop){
        .loop = loop, .clock = face.env.clock, .gatekeeper = face.env.gatekeeper};
    vd_api_loop_init(&face.api_loop, &face.env, loop);
    vd_request_loop_init(&face.requests);
    vd_kube_loop_init(&face.loop, &face.kube, &face.api_loop, &face.requests);
    vd_loop_hook(loop, flush);
    face.server.route.handle = handle;
    face.server.services[0].finished = finished;
    server_start(&face.server);
    return 0;
}

static inline int close_face(void **state)
{
    (void)state;
    server_stop(&face.server);
    vd_kube_loop_release(&face.loop);
    vd_request_loop_release(&face.requests);
    vd_api_loop_release(&face.api_loop);
    vd_user_unref(face.user);
    vd_gatekeeper_free(face.env.gatekeeper);
    vd_tables_free(face.kube.tables);
    vd_kinds_free(face.env.kinds);
    vd_store_close(face.store);
    return 0;
}

static inline void put_config(const char *namespace, const char *name, const char *label,
                              const char *finalizers)
{
    char text[512], uid[VD_UID_TEXT_MAX];
    struct vd_wish wish = {.key = test_key("configmaps", namespace, name),
                           .uid = vd_uid_generate()};
    struct vd_outcome outcome;
    snprintf(text, sizeof text,
             "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"%s\","
             "\"namespace\":\"%s\",\"uid\":\"%.*s\",\"labels\":{\"app\":\"%s\"},\"finalizers\":[%s]"
             ",\"resourceVersion\":\"\"}}",
             name, namespace, VD_FMT(vd_uid_format(wish.uid, uid)), label, finalizers);
    wish.body = (struct vd_template){vd_slice_of(text), (uint32_t)(strlen(text) - 3)};
    assert_ok(vd_store_commit(face.store, &wish, 1, &outcome), &outcome.error);
}

/* Sends a request with these further fields ("Accept: a/b\r\n"). */
static inline void face_send(struct client *c, const char *method, const char *target,
                             const char *fields, const char *body)
{
    char request[2048];
    snprintf(request, sizeof request,
             "%s %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n%s"
             "Content-Length: %zu\r\n\r\n%s",
             method, target, fields, strlen(body), body);
    client_send(c, request);
}

/* The answer to a request, which the caller releases; it must have this status. */
static inline struct answer face_ask(const char *method, const char *target, const char *fields,
                                     const char *body, unsigned status)
{
    struct client c;
    struct answer a = {0};
    client_open(&c, &face.server);
    face_send(&c, method, target, fields, body);
    client_answer(&c, &a, false);
    if (a.status != status)
        fail_msg("%s %s: %u: %s", method, target, a.status, vd_buf_text(&a.body));
    client_close(&c);
    return a;
}

#endif
