/* Checks that are too much for a loop: a worker does them, and the answers are the same. */
#include "face_check.h"

#include "json/yaml_read.h"

#define HEAVY "[ab]*a[ab]{1000}c"

static const char THING[] =
    "spec:\n"
    "  group: example.com\n"
    "  scope: Cluster\n"
    "  names: {kind: Thing, plural: things}\n"
    "  versions:\n"
    "  - name: v1\n"
    "    served: true\n"
    "    storage: true\n"
    "    schema:\n"
    "      openAPIV3Schema:\n"
    "        type: object\n"
    "        properties:\n"
    "          a: {type: string, pattern: \"^x+$\"}\n"
    "          h: {type: string, pattern: \"" HEAVY "\"}\n"
    "        x-kubernetes-validations:\n"
    "        - {rule: \"!has(self.a) || self.a != 'xx'\", message: not xx}\n";

static void put_things(void)
{
    struct vd_arena arena = {0};
    struct vd_json *document = NULL;
    struct vd_error error = {0};
    assert_ok(vd_yaml_read(&arena, vd_slice_of(THING), &document, &error), &error);
    assert_ok(vd_kinds_put(face.env.kinds, document, false, &error), &error);
    vd_arena_release(&arena);
}

/* Creates a Thing with these members; the answer has this status and says this. */
static void assert_create(const char *name, const char *members, unsigned status, const char *says)
{
    char body[512];
    snprintf(body, sizeof body,
             "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Thing\",\"metadata\":{\"name\":\"%s\"}"
             "%s}",
             name, members);
    struct answer a = face_ask("POST", "/apis/example.com/v1/things", "", body, status);
    if (!strstr(vd_buf_text(&a.body), says))
        fail_msg("%s", vd_buf_text(&a.body));
    answer_release(&a);
}

static void the_first_and_the_next_are_told_the_same(void **state)
{
    (void)state;
    put_things();
    for (int i = 0; i < 3; i++) { /* what the first has compiled serves the others on the loop */
        char name[16];
        snprintf(name, sizeof name, "t%d", i);
        assert_create(name, ",\"a\":\"x\"", 201, "\"a\":\"x\"");
        assert_create("bad", ",\"a\":\"y\"", 422, "should match '^x+$'");
        assert_create("bad", ",\"a\":\"xx\"", 422, "not xx");
        assert_create("bad", ",\"h\":\"b\"", 422, "should match '" HEAVY "'");
    }
    assert_create("t0", ",\"a\":\"x\"", 409, "already exists");
    struct answer a = face_ask("PUT", "/apis/example.com/v1/things/t0", "",
                               "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Thing\",\"metadata\":"
                               "{\"name\":\"t0\"}}",
                               422);
    assert_non_null(strstr(vd_buf_text(&a.body), "must be specified for an update"));
    answer_release(&a);
}

static void a_definition_is_checked_by_a_worker(void **state)
{
    static const char form[] =
        "{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\","
        "\"metadata\":{\"name\":\"boxes.example.com\"},\"spec\":{\"group\":\"example.com\","
        "\"scope\":\"Cluster\",\"names\":{\"plural\":\"boxes\",\"kind\":\"Box\"},\"versions\":[{"
        "\"name\":\"v1\",\"served\":true,\"storage\":true,\"schema\":{\"openAPIV3Schema\":{"
        "\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\",\"pattern\":\"%s\"}}}}}]}}";
    static const char path[] = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    char body[1024];
    (void)state;
    snprintf(body, sizeof body, form, "(");
    struct answer a = face_ask("POST", path, "", body, 422);
    assert_non_null(strstr(vd_buf_text(&a.body), "must be a valid regular expression"));
    answer_release(&a);
    snprintf(body, sizeof body, form, "^a$");
    a = face_ask("POST", path, "", body, 201);
    answer_release(&a);
}

/* The answer ends a call whose arena has grown far beyond what is kept of it. */
static void large_objects_are_refused_as_well(void **state)
{
    struct vd_buf body = {0}, request = {0};
    struct client c;
    struct answer a = {0};
    (void)state;
    put_things();
    vd_buf_add_text(&body, "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Thing\",\"metadata\":{"
                           "\"name\":\"t\"},\"h\":\"");
    for (int i = 0; i < 200000; i++)
        vd_buf_add_char(&body, "ab"[i % 2]);
    vd_buf_add_text(&body, "\"}");
    vd_buf_addf(&request,
                "POST /apis/example.com/v1/things HTTP/1.1\r\nHost: x\r\nContent-Type: "
                "application/json\r\nContent-Length: %zu\r\n\r\n%s",
                body.n, vd_buf_text(&body));
    client_open(&c, &face.server);
    client_send(&c, vd_buf_text(&request));
    client_answer(&c, &a, false);
    assert_int_equal(a.status, 422);
    assert_non_null(strstr(vd_buf_text(&a.body), "h in body should match"));
    answer_release(&a);
    client_close(&c);
    vd_buf_release(&body);
    vd_buf_release(&request);
}

/* A client that does not wait: the worker's result is nobody's, and nothing is stored twice. */
static void clients_may_leave(void **state)
{
    (void)state;
    put_things();
    for (size_t i = 0; i < 50; i++) {
        struct client c;
        client_open(&c, &face.server);
        face_send(&c, "POST", "/apis/example.com/v1/things", "",
                  "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Thing\",\"metadata\":{\"name\":"
                  "\"t\"},\"h\":\"bbb\"}");
        wait_for(&face.handled, i + 1);
        client_close(&c);
        if (i % 10 == 9) /* a new set of kinds, for which nothing is compiled */
            put_things();
    }
    assert_int_equal(vd_store_count(face.store, VD_SLICE("things.example.com")), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_first_and_the_next_are_told_the_same, open_face,
                                        close_face),
        cmocka_unit_test_setup_teardown(a_definition_is_checked_by_a_worker, open_face, close_face),
        cmocka_unit_test_setup_teardown(large_objects_are_refused_as_well, open_face, close_face),
        cmocka_unit_test_setup_teardown(clients_may_leave, open_face, close_face),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
