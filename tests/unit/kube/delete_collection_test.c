/* deletecollection over HTTP, on a store in memory. */
#include "face_check.h"

/* Sends the request and gives the answer's body, which is the caller's. */
static char *ask(const char *target, const char *body, unsigned status)
{
    struct answer a = face_ask("DELETE", target, "", body, status);
    char *text = vd_strdup(vd_buf_text(&a.body));
    answer_release(&a);
    return text;
}

static size_t configs(void)
{
    return vd_store_count(face.store, VD_SLICE("configmaps"));
}

static size_t items(const char *list)
{
    size_t n = 0;
    for (const char *p = list; (p = strstr(p, "\"kind\":\"ConfigMap\"")); p++)
        n++;
    assert_non_null(strstr(list, "\"kind\":\"ConfigMapList\""));
    return n;
}

static bool shows(const char *namespace, const char *name, const char *part)
{
    struct vd_key key = test_key("configmaps", namespace, name);
    struct vd_event *event = NULL;
    if (vd_store_get(face.store, &key, 0, &event, NULL))
        return false;
    bool found = memmem(event->body->bytes, event->body->len, part, strlen(part)) != NULL;
    vd_event_unref(event);
    return found;
}

/* More than one piece, in one namespace of two. */
static void fill(void)
{
    char name[32];
    for (int i = 0; i < 150; i++) {
        snprintf(name, sizeof name, "c-%03d", i);
        put_config("a", name, i % 3 ? "web" : "db", "");
    }
    put_config("b", "other", "web", "");
}

static void everything_in_a_namespace_goes(void **state)
{
    (void)state;
    fill();
    char *list = ask("/api/v1/namespaces/a/configmaps", "", 200);
    assert_int_equal(items(list), 150);
    assert_int_equal(configs(), 1);
    free(list);
}

static void selectors_and_limits_are_obeyed(void **state)
{
    static const struct {
        const char *target;
        size_t deleted;
        bool more;
    } cases[] = {
        {"/api/v1/namespaces/a/configmaps?labelSelector=app%3Ddb", 50, false},
        {"/api/v1/namespaces/a/configmaps?fieldSelector=metadata.name%3Dc-007", 1, false},
        {"/api/v1/namespaces/a/configmaps?labelSelector=app%3Dnone", 0, false},
        {"/api/v1/namespaces/a/configmaps?limit=10", 10, true},
        {"/api/v1/namespaces/a/configmaps", 150, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fill();
        char *list = ask(cases[i].target, "", 200);
        assert_int_equal(items(list), cases[i].deleted);
        assert_int_equal(configs(), 151 - cases[i].deleted);
        assert_int_equal(strstr(list, "\"continue\":\"") != NULL, cases[i].more);
        free(list);
    }
    free(ask("/api/v1/configmaps", "", 405)); /* one namespace at a time */
}

static void the_answer_has_the_form_that_is_asked_for(void **state)
{
    static const struct {
        const char *accept, *kind, *item;
    } cases[] = {
        {"application/json;as=Table;v=v1;g=meta.k8s.io", "\"kind\":\"Table\"",
         "{\"cells\":[\"c-007\","},
        {"application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
         "\"kind\":\"PartialObjectMetadataList\"", "\"name\":\"c-007\""},
        {"application/yaml", "kind: ConfigMapList", "name: c-007"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char fields[128];
        fill();
        snprintf(fields, sizeof fields, "Accept: %s\r\n", cases[i].accept);
        struct answer a = face_ask("DELETE", "/api/v1/namespaces/a/configmaps", fields, "", 200);
        assert_non_null(strstr(vd_buf_text(&a.body), cases[i].kind));
        assert_non_null(strstr(vd_buf_text(&a.body), cases[i].item));
        assert_int_equal(configs(), 1);
        answer_release(&a);
    }
}

static void a_dry_run_changes_nothing(void **state)
{
    (void)state;
    fill();
    uint64_t before = vd_store_revision(face.store);
    char *list = ask("/api/v1/namespaces/a/configmaps?dryRun=All", "", 200);
    assert_int_equal(items(list), 150);
    free(list);
    list = ask("/api/v1/namespaces/a/configmaps",
               "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\",\"dryRun\":[\"All\"]}", 200);
    assert_int_equal(items(list), 150);
    free(list);
    free(ask("/api/v1/namespaces/b/configmaps/other", "{\"dryRun\":[\"All\"]}", 200));
    assert_int_equal(vd_store_revision(face.store), before);
}

static void finalizers_and_propagation_only_mark(void **state)
{
    (void)state;
    put_config("a", "held", "web", "\"example.com/hold\"");
    put_config("a", "loose", "web", "");
    char *list = ask("/api/v1/namespaces/a/configmaps", "", 200);
    assert_int_equal(items(list), 2);
    free(list);
    assert_int_equal(configs(), 1);
    assert_true(shows("a", "held", "deletionTimestamp"));
    uint64_t before = vd_store_revision(face.store);
    free(ask("/api/v1/namespaces/a/configmaps", "", 200)); /* once is enough */
    assert_int_equal(vd_store_revision(face.store), before);
    put_config("b", "owner", "web", "");
    free(ask("/api/v1/namespaces/b/configmaps", "{\"propagationPolicy\":\"Foreground\"}", 200));
    assert_true(shows("b", "owner", "foregroundDeletion"));
}

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    fill();
    free(ask("/api/v1/namespaces/a/configmaps", "{\"preconditions\":{\"uid\":\"x\"}}", 400));
    free(ask("/api/v1/namespaces/a/configmaps?fieldSelector=data.x%3Dy", "", 400));
    free(ask("/api/v1/namespaces/a/configmaps?labelSelector=%21%21", "", 400));
    free(ask("/api/v1/namespaces/a/configmaps", "{", 400));
    assert_int_equal(configs(), 151);
}

/* The window is so small that the deletions themselves push it past where they began. */
static int open_narrow_face(void **state)
{
    narrow_window_events = 20;
    int code = open_face(state);
    narrow_window_events = 0;
    return code;
}

static void more_objects_than_the_window_holds_go(void **state)
{
    (void)state;
    fill();
    char *list = ask("/api/v1/namespaces/a/configmaps", "", 200);
    assert_true(vd_store_floor(face.store) > 151);
    assert_int_equal(items(list), 150);
    assert_int_equal(configs(), 1);
    free(list);
}

static void pages_go_on_though_the_window_has_passed_the_first(void **state)
{
    char target[512] = "/api/v1/namespaces/a/configmaps?limit=70";
    size_t deleted = 0, pages = 0;
    (void)state;
    fill();
    for (bool more = true; more; pages++) {
        char *list = ask(target, "", 200);
        deleted += items(list);
        const char *token = strstr(list, "\"continue\":\"");
        more = token != NULL;
        if (more)
            snprintf(target, sizeof target,
                     "/api/v1/namespaces/a/configmaps?limit=70&continue=%.*s",
                     (int)strcspn(token + 12, "\""), token + 12);
        free(list);
    }
    assert_int_equal(deleted, 150);
    assert_int_equal(pages, 3);
    assert_int_equal(configs(), 1);
}

static void what_is_created_meanwhile_stays(void **state)
{
    char target[512];
    (void)state;
    fill();
    char *list = ask("/api/v1/namespaces/a/configmaps?limit=100", "", 200);
    const char *token = strstr(list, "\"continue\":\"");
    assert_non_null(token);
    snprintf(target, sizeof target, "/api/v1/namespaces/a/configmaps?continue=%.*s",
             (int)strcspn(token + 12, "\""), token + 12);
    free(list);
    put_config("a", "z-new", "web", "");
    free(ask(target, "", 200));
    assert_int_equal(configs(), 2);
    assert_true(shows("a", "z-new", "z-new"));
}

/* Objects of 100 KB each: their sum is at the limit, or past it. */
static void put_large(int n)
{
    enum { LEN = 100000 };
    static char text[LEN + 512];
    for (int i = 0; i < n; i++) {
        struct vd_outcome outcome;
        char name[16];
        snprintf(name, sizeof name, "large-%03d", i);
        int head = snprintf(
            text, sizeof text,
            "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":"
            "\"%s\",\"namespace\":\"a\",\"resourceVersion\":\"\"},\"data\":{\"x\":\"",
            name);
        size_t hole = (size_t)(strstr(text, "\"},\"data") - text);
        memset(text + head, 'x', LEN);
        snprintf(text + head + LEN, sizeof text - (size_t)head - LEN, "\"}}");
        struct vd_wish wish = {.key = test_key("configmaps", "a", name),
                               .uid = vd_uid_generate(),
                               .body = {vd_slice_of(text), (uint32_t)hole}};
        assert_ok(vd_store_commit(face.store, &wish, 1, &outcome), &outcome.error);
    }
}

static void the_answer_is_bounded_by_bytes(void **state)
{
    (void)state;
    int n = VD_CLEARED_BYTES_MAX / 100200;
    put_large(n);
    char *list = ask("/api/v1/namespaces/a/configmaps", "", 200);
    assert_int_equal(items(list), n);
    free(list);
    put_large(n + 1);
    list = ask("/api/v1/namespaces/a/configmaps", "", 200);
    char number[32];
    snprintf(number, sizeof number, "\"message\":\"%d configmaps were deleted", n + 1);
    assert_non_null(strstr(list, "\"status\":\"Success\""));
    assert_non_null(strstr(list, number));
    assert_int_equal(configs(), 0);
    free(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(everything_in_a_namespace_goes, open_face, close_face),
        cmocka_unit_test_setup_teardown(selectors_and_limits_are_obeyed, open_face, close_face),
        cmocka_unit_test_setup_teardown(the_answer_has_the_form_that_is_asked_for, open_face,
                                        close_face),
        cmocka_unit_test_setup_teardown(a_dry_run_changes_nothing, open_face, close_face),
        cmocka_unit_test_setup_teardown(finalizers_and_propagation_only_mark, open_face,
                                        close_face),
        cmocka_unit_test_setup_teardown(what_makes_no_sense_is_refused, open_face, close_face),
        cmocka_unit_test_setup_teardown(more_objects_than_the_window_holds_go, open_narrow_face,
                                        close_face),
        cmocka_unit_test_setup_teardown(pages_go_on_though_the_window_has_passed_the_first,
                                        open_narrow_face, close_face),
        cmocka_unit_test_setup_teardown(what_is_created_meanwhile_stays, open_face, close_face),
        cmocka_unit_test_setup_teardown(the_answer_is_bounded_by_bytes, open_face, close_face),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
