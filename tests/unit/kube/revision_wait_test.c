/* Reads at a resourceVersion that is to come. */
#include "face_check.h"

static const char list[] = "/api/v1/namespaces/a/configmaps";
static const char one[] = "/api/v1/namespaces/a/configmaps/c";

static int open_patient(void **state)
{
    int rc = open_face(state);
    face.env.version_wait_ms = 60000; /* longer than any test */
    return rc;
}

static int open_hasty(void **state)
{
    int rc = open_face(state);
    face.env.version_wait_ms = 20;
    return rc;
}

/* Sends a GET about the revision after the newest, and waits until it has been taken up. */
static void ask_for_next(struct client *c, const char *path, const char *query)
{
    char target[256];
    size_t handled = atomic_load(&face.handled);
    snprintf(target, sizeof target, "%s?resourceVersion=%llu%s", path,
             (unsigned long long)vd_store_revision(face.store) + 1, query);
    client_open(c, &face.server);
    face_send(c, "GET", target, "", "");
    wait_for(&face.handled, handled + 1);
}

static const struct {
    const char *path, *query, *shows;
} reads[] = {
    {one, "", "\"app\":\"new\""},
    {list, "", "\"app\":\"new\""},
    {list, "&resourceVersionMatch=NotOlderThan", "\"app\":\"new\""},
    {list, "&resourceVersionMatch=Exact", "\"app\":\"new\""},
    {list, "&limit=1", "\"app\":\"new\""},
};
enum { READS = sizeof reads / sizeof *reads };

static void what_comes_in_time_is_answered(void **state)
{
    (void)state;
    for (size_t i = 0; i < READS; i++) {
        struct client c;
        struct answer a = {0};
        put_config("a", "c", "old", "");
        ask_for_next(&c, reads[i].path, reads[i].query);
        put_config("a", "c", "new", "");
        client_answer(&c, &a, false);
        assert_int_equal(a.status, 200);
        if (!strstr(vd_buf_text(&a.body), reads[i].shows))
            fail_msg("%s%s: %s", reads[i].path, reads[i].query, vd_buf_text(&a.body));
        answer_release(&a);
        client_close(&c);
    }
}

static void what_does_not_is_504(void **state)
{
    char want[512];
    (void)state;
    put_config("a", "c", "old", "");
    snprintf(want, sizeof want,
             "\"message\":\"Timeout: Too large resource version: %llu, current: %llu\","
             "\"reason\":\"Timeout\",\"details\":{\"causes\":[{\"reason\":"
             "\"ResourceVersionTooLarge\",\"message\":\"Too large resource version\"}],"
             "\"retryAfterSeconds\":1},\"code\":504}",
             (unsigned long long)vd_store_revision(face.store) + 1,
             (unsigned long long)vd_store_revision(face.store));
    for (size_t i = 0; i < READS; i++) {
        struct client c;
        struct answer a = {0};
        ask_for_next(&c, reads[i].path, reads[i].query);
        client_answer(&c, &a, false);
        assert_int_equal(a.status, 504);
        assert_non_null(strstr(vd_buf_text(&a.head), "Retry-After: 1\r\n"));
        if (!strstr(vd_buf_text(&a.body), want))
            fail_msg("%s", vd_buf_text(&a.body));
        answer_release(&a);
        client_close(&c);
    }
}

/* Ones further ahead wait longer; each goes on with its own revision. */
static void each_waits_for_its_own(void **state)
{
    enum { N = 20 };
    struct client clients[N];
    uint64_t newest;
    (void)state;
    put_config("a", "c", "old", "");
    newest = vd_store_revision(face.store);
    for (size_t i = 0; i < N; i++) {
        char target[128];
        size_t ahead = (i * 7) % N + 1;
        snprintf(target, sizeof target, "%s?resourceVersion=%llu", one,
                 (unsigned long long)newest + ahead);
        client_open(&clients[ahead - 1], &face.server);
        face_send(&clients[ahead - 1], "GET", target, "", "");
    }
    wait_for(&face.handled, N);
    for (size_t i = 0; i < N; i++) {
        char label[16];
        struct answer a = {0};
        snprintf(label, sizeof label, "v%zu", i);
        put_config("a", "c", label, "");
        client_answer(&clients[i], &a, false);
        assert_int_equal(a.status, 200);
        assert_non_null(strstr(vd_buf_text(&a.body), label));
        answer_release(&a);
        client_close(&clients[i]);
    }
}

static void count_waiting(struct server *s, void *arg)
{
    (void)s;
    *(size_t *)arg = vd_heap_count(&face.api_loop.revision_waits);
}

static void who_leaves_is_forgotten(void **state)
{
    struct client c;
    size_t waiting = 0;
    (void)state;
    ask_for_next(&c, list, "");
    on_loop(&face.server, count_waiting, &waiting);
    assert_int_equal(waiting, 1);
    client_vanish(&c);
    wait_for_connections(&face.server, 0);
    on_loop(&face.server, count_waiting, &waiting);
    assert_int_equal(waiting, 0);
    put_config("a", "c", "new", "");
}

static const char initial[] = "&watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
                              "&allowWatchBookmarks=true&timeoutSeconds=60";

static void a_watch_with_initial_events_waits_too(void **state)
{
    struct client c;
    (void)state;
    put_config("a", "c", "old", "");
    ask_for_next(&c, list, initial);
    put_config("a", "c", "new", "");
    client_expect(&c, "\"app\":\"new\"");
    client_expect(&c, "\"k8s.io/initial-events-end\":\"true\"");
    client_vanish(&c);
    wait_for_connections(&face.server, 0);
}

static void and_is_told_inside_the_stream(void **state)
{
    struct client c;
    struct answer a = {0};
    (void)state;
    put_config("a", "c", "old", "");
    ask_for_next(&c, list, initial);
    client_answer(&c, &a, false);
    assert_int_equal(a.status, 200);
    assert_non_null(strstr(vd_buf_text(&a.body), "{\"type\":\"ERROR\",\"object\":{"));
    assert_non_null(strstr(vd_buf_text(&a.body), "\"reason\":\"ResourceVersionTooLarge\""));
    answer_release(&a);
    client_close(&c);
}

static void what_is_no_version_is_refused(void **state)
{
    static const char *const targets[] = {"/api/v1/namespaces/a/configmaps/c?resourceVersion=abc",
                                          "/api/v1/namespaces/a/configmaps?resourceVersion=abc"};
    (void)state;
    put_config("a", "c", "old", "");
    for (size_t i = 0; i < 2; i++) {
        struct answer a = face_ask("GET", targets[i], "", "", 400);
        assert_non_null(strstr(vd_buf_text(&a.body), "Invalid value: \\\"abc\\\""));
        answer_release(&a);
    }
    struct answer a = face_ask("GET", "/api/v1/namespaces/a/configmaps/c?resourceVersion=0", "", "",
                               200);
    answer_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_comes_in_time_is_answered, open_patient, close_face),
        cmocka_unit_test_setup_teardown(what_does_not_is_504, open_hasty, close_face),
        cmocka_unit_test_setup_teardown(each_waits_for_its_own, open_patient, close_face),
        cmocka_unit_test_setup_teardown(who_leaves_is_forgotten, open_patient, close_face),
        cmocka_unit_test_setup_teardown(a_watch_with_initial_events_waits_too, open_patient,
                                        close_face),
        cmocka_unit_test_setup_teardown(and_is_told_inside_the_stream, open_hasty, close_face),
        cmocka_unit_test_setup_teardown(what_is_no_version_is_refused, open_patient, close_face),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
