/* src/server/faces.c: the way in over HTTP, before a request is one of the Kubernetes face. */
#include "server/faces.h"

#include <stdio.h>
#include <stdlib.h>

#include "auth/token.h"
#include "check.h"
#include "fixture.h"
#include "net_client.h"
#include "server/credentials.h"

static struct {
    struct server server;
    struct vd_config config;
    char *folder;
    struct vd_store *store;
    struct vd_faces api;
} t;

static void finished(struct vd_http_service *service, struct vd_exchange *x)
{
    (void)service;
    vd_faces_finished(&t.api, x);
}

static int setup(void **state)
{
    struct vd_error error;
    (void)state;
    t.folder = temp_folder_new();
    vd_config_init(&t.config);
    t.config.data = t.folder;
    t.config.store = VD_CONFIG_STORE_MEMORY;
    assert_ok(vd_credentials_prepare(&t.config, &error), &error);
    assert_ok(vd_store_open_in(&t.store, NULL, NULL, &error), &error);
    server_init(&t.server, 1, NULL);
    struct vd_loop *loop = &t.server.loops[0];
    struct vd_http_service *service = &t.server.services[0];
    struct vd_turn_hook *flush = loop->hooks; /* what is sent in a turn comes last in it */
    loop->hooks = NULL;
    assert_ok(vd_faces_open(&t.api, t.store, &t.config, 1, loop, &error), &error);
    vd_faces_join(&t.api, 0, loop);
    vd_loop_hook(loop, flush);
    vd_faces_follow(&t.api, 0);
    vd_faces_serve(&t.api, service);
    service->finished = finished;
    server_start(&t.server);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    vd_faces_settle(&t.api);
    server_stop(&t.server);
    vd_faces_close(&t.api);
    vd_store_close(t.store);
    vd_config_release(&t.config);
    temp_folder_remove(t.folder);
    return 0;
}

/* A token of a user in this group. */
static void make_token(const char *user, const char *group, struct vd_buf *token)
{
    struct vd_error error;
    struct vd_buf id = {0};
    struct vd_slice groups[] = {vd_slice_of(group)};
    assert_ok(vd_token_create(t.folder,
                              &(struct vd_token_spec){
                                  .user = vd_slice_of(user), .groups = groups, .groups_n = 1},
                              vd_clock_system(), token, &id, &error),
              &error);
    vd_buf_release(&id);
}

/* A GET with these fields; its answer must have this status, and this text in head or body. */
static void expect(const char *target, const char *fields, unsigned status, const char *part)
{
    struct client c;
    struct answer a = {0};
    char request[2048];
    snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: x\r\n%s\r\n", target, fields);
    client_open(&c, &t.server);
    client_send(&c, request);
    client_answer(&c, &a, false);
    if (a.status != status ||
        (!strstr(vd_buf_text(&a.head), part) && !strstr(vd_buf_text(&a.body), part)))
        fail_msg("%s: %u: %s%s", target, a.status, vd_buf_text(&a.head), vd_buf_text(&a.body));
    answer_release(&a);
    client_close(&c);
}

static const char *bearer(char out[512], const struct vd_buf *token, const char *more)
{
    snprintf(out, 512, "Authorization: Bearer %s\r\n%s", vd_buf_text(token), more);
    return out;
}

static void who_is_not_known_gets_401_and_no_reason(void **state)
{
    (void)state;
    expect("/api/v1/namespaces", "", 401, "\"message\":\"Unauthorized\"");
    expect("/api/v1/namespaces", "", 401, "WWW-Authenticate: Bearer");
    expect("/api/v1/namespaces",
           "Authorization: Bearer vd_0000000000000000000000000000000000000000000\r\n", 401,
           "\"message\":\"Unauthorized\"");
    expect("/api/v1/namespaces", "Authorization: Basic YTpi\r\n", 401, "Unauthorized");
    expect("/nowhere", "", 401, "Unauthorized"); /* not even what is there */
}

static void who_is_known_is_asked_for_rights(void **state)
{
    struct vd_buf admin = {0}, user = {0};
    char fields[512];
    (void)state;
    make_token("root", "system:masters", &admin);
    make_token("ann", "dev", &user);
    expect("/api/v1/namespaces", bearer(fields, &admin, ""), 200, "\"kind\":\"NamespaceList\"");
    expect("/api/v1/namespaces", bearer(fields, &user, ""), 403,
           "User \\\"ann\\\" cannot list resource \\\"namespaces\\\"");
    vd_buf_release(&admin);
    vd_buf_release(&user);
}

static void speaking_for_others_is_a_right(void **state)
{
    struct vd_buf admin = {0}, user = {0};
    char fields[512];
    (void)state;
    make_token("root", "system:masters", &admin);
    make_token("ann", "dev", &user);
    expect("/api/v1/namespaces", bearer(fields, &admin, "Impersonate-User: bob\r\n"), 403,
           "User \\\"bob\\\" cannot list");
    expect("/api/v1/namespaces", bearer(fields, &user, "Impersonate-User: bob\r\n"), 403,
           "User \\\"ann\\\" cannot impersonate resource \\\"users\\\"");
    expect("/api/v1/namespaces", bearer(fields, &admin, "Impersonate-Group: dev\r\n"), 400,
           "\"reason\":\"BadRequest\"");
    vd_buf_release(&admin);
    vd_buf_release(&user);
}

static void what_cannot_be_read_is_answered_with_a_status(void **state)
{
    struct client c;
    struct answer a = {0};
    (void)state;
    client_open(&c, &t.server);
    client_send(&c, "GET /api HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n");
    client_answer(&c, &a, false);
    assert_int_equal(a.status, 400);
    assert_non_null(strstr(vd_buf_text(&a.body), "\"kind\":\"Status\""));
    assert_non_null(strstr(vd_buf_text(&a.body), "\"reason\":\"BadRequest\""));
    answer_release(&a);
    client_close(&c);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(who_is_not_known_gets_401_and_no_reason),
        TEST(who_is_known_is_asked_for_rights),
        TEST(speaking_for_others_is_a_right),
        TEST(what_cannot_be_read_is_answered_with_a_status),
    };
#undef TEST
    return cmocka_run_group_tests(tests, NULL, NULL);
}
