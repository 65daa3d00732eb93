/* src/api/loop.c: a loop commits the writes of its only client itself, and only those. */
#include "face_check.h"

#include <time.h>

#define OBJECT "/api/v1/namespaces/a/configmaps/c"

static uint64_t groups_here(void)
{
    struct vd_store_stats stats;
    vd_store_stats(face.store, &stats);
    return stats.groups_here;
}

/* One more request on this connection, which must be answered with 200. */
static void ask_on(struct client *c, const char *method, const char *target, const char *body)
{
    struct answer a = {0};
    char request[512];
    snprintf(request, sizeof request,
             "%s %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/merge-patch+json\r\n"
             "Content-Length: %zu\r\n\r\n%s",
             method, target, strlen(body), body);
    client_send(c, request);
    client_answer(c, &a, false);
    if (a.status != 200)
        fail_msg("%s %s: %u: %s", method, target, a.status, vd_buf_text(&a.body));
    answer_release(&a);
}

static void write_on(struct client *c, unsigned n)
{
    char body[64];
    snprintf(body, sizeof body, "{\"data\":{\"n\":\"%u\"}}", n);
    ask_on(c, "PATCH", OBJECT, body);
}

static void a_client_alone_is_written_by_the_loop(void **state)
{
    struct client c;
    (void)state;
    put_config("a", "c", "web", "");
    client_open(&c, &face.server);
    for (unsigned i = 0; i < 100; i++)
        write_on(&c, i);
    assert_in_range(groups_here(), 1, 100);
    struct answer a = face_ask("GET", OBJECT, "", "", 200);
    assert_non_null(strstr(vd_buf_text(&a.body), "\"n\":\"99\""));
    answer_release(&a);
    client_close(&c);
}

/* Whoever is connected may ask for something, and must not wait for a disk that stalls. */
static void another_connection_keeps_it_from_that(void **state)
{
    struct client c, reader;
    (void)state;
    put_config("a", "c", "web", "");
    client_open(&reader, &face.server);
    ask_on(&reader, "GET", OBJECT, "");
    client_open(&c, &face.server);
    for (unsigned i = 0; i < 100; i++)
        write_on(&c, i);
    assert_int_equal(groups_here(), 0);
    client_close(&c);
    client_close(&reader);
}

/* Listeners are told as a part of a commit: a slow one is like a slow disk. */
static void dawdle(struct vd_subscriber *listener, struct vd_commit *commit)
{
    struct timespec pause = {.tv_nsec = 20 * 1000 * 1000};
    (void)listener;
    (void)commit;
    nanosleep(&pause, NULL);
}

static void a_slow_disk_does_not_hold_the_loop(void **state)
{
    struct client c;
    struct vd_subscriber slow = {.committed = dawdle};
    (void)state;
    put_config("a", "c", "web", "");
    vd_store_subscribe(face.store, &slow);
    client_open(&c, &face.server);
    for (unsigned i = 0; i < 60; i++)
        write_on(&c, i);
    vd_store_unsubscribe(face.store, &slow);
    assert_in_range(groups_here(), 0, 2);
    client_close(&c);
}

/* Whether the loop commits or the thread: who watches from a revision gets every event in order. */
static void watches_hear_of_each(void **state)
{
    struct client c, watch;
    char path[128];
    (void)state;
    put_config("a", "c", "web", "");
    uint64_t revision = vd_store_revision(face.store);
    client_open(&c, &face.server);
    for (unsigned i = 0; i < 50; i++)
        write_on(&c, i);
    assert_true(groups_here() > 0);
    snprintf(path, sizeof path, "/api/v1/configmaps?watch=1&timeoutSeconds=60&resourceVersion=%llu",
             (unsigned long long)revision);
    client_open(&watch, &face.server);
    face_send(&watch, "GET", path, "", "");
    while (!watch.in.n || !strstr(vd_buf_text(&watch.in), "\"MODIFIED\""))
        assert_true(client_receive(&watch));
    for (unsigned i = 50; i < 100; i++)
        write_on(&c, i);
    const char *at = vd_buf_text(&watch.in);
    for (unsigned i = 0; i < 100; i++) {
        char value[16];
        size_t from = (size_t)(at - watch.in.p);
        snprintf(value, sizeof value, "\"n\":\"%u\"", i);
        while (!strstr(watch.in.p + from, value))
            assert_true(client_receive(&watch));
        at = strstr(watch.in.p + from, value);
    }
    assert_null(strstr(at + 1, "\"MODIFIED\""));
    client_close(&c);
    client_vanish(&watch);
    wait_for_connections(&face.server, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_client_alone_is_written_by_the_loop, open_face,
                                        close_face),
        cmocka_unit_test_setup_teardown(another_connection_keeps_it_from_that, open_face,
                                        close_face),
        cmocka_unit_test_setup_teardown(a_slow_disk_does_not_hold_the_loop, open_face, close_face),
        cmocka_unit_test_setup_teardown(watches_hear_of_each, open_face, close_face),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
