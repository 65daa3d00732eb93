/* Creates that race with other writes. */
#include "face_check.h"

#include <semaphore.h>

#include "kinds/deletion.h"
#include "json/parse.h"

static void put_namespace(const char *name, const char *more, uint64_t *revision)
{
    char text[512], uid[VD_UID_TEXT_MAX];
    struct vd_wish wish = {.key = test_key("namespaces", "", name), .uid = vd_uid_generate()};
    struct vd_outcome outcome;
    snprintf(text, sizeof text,
             "{\"kind\":\"Namespace\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"%s\","
             "\"uid\":\"%.*s\"%s,\"resourceVersion\":\"\"}}",
             name, VD_FMT(vd_uid_format(wish.uid, uid)), more);
    wish.body = (struct vd_template){vd_slice_of(text), (uint32_t)(strlen(text) - 3)};
    assert_ok(vd_store_commit(face.store, &wish, 1, &outcome), &outcome.error);
    *revision = outcome.revision;
}

/* A proposal whose answer holds the writer, so that what is proposed meanwhile is judged
 * behind what stands in `change`. */
struct gate {
    struct vd_wish wish, change;
    struct vd_proposal proposal, changing;
    sem_t entered, open;
};

static void hold(struct vd_proposal *p, const struct vd_outcome *outcome)
{
    struct gate *g = p->arg;
    (void)outcome;
    sem_post(&g->entered);
    sem_wait(&g->open);
}

static void changed(struct vd_proposal *p, const struct vd_outcome *outcome)
{
    (void)p;
    assert_int_equal(outcome->code, VD_OK);
}

/* The writer is held, and the change is the first thing that it will do. */
static void gate_shut(struct gate *g)
{
    sem_init(&g->entered, 0, 0);
    sem_init(&g->open, 0, 0);
    g->wish = (struct vd_wish){.action = VD_CHECK, .key = test_key("namespaces", "", "none")};
    g->proposal = (struct vd_proposal){&g->wish, 1, hold, g, NULL};
    g->changing = (struct vd_proposal){&g->change, 1, changed, g, NULL};
    vd_store_propose(face.store, vd_admitted_of(&g->proposal));
    sem_wait(&g->entered);
    vd_store_propose(face.store, vd_admitted_of(&g->changing));
}

/* Sends a create, which looks at what is there, before the change at the gate is made. */
static struct answer ask_through(struct gate *g, const char *path, const char *body)
{
    struct client c;
    struct answer a = {0};
    size_t handled = atomic_load(&face.handled);
    gate_shut(g);
    client_open(&c, &face.server);
    face_send(&c, "POST", path, "", body);
    wait_for(&face.handled, handled + 1); /* it has looked, and its proposal is queued */
    sem_post(&g->open);
    client_answer(&c, &a, false);
    client_close(&c);
    sem_destroy(&g->entered);
    sem_destroy(&g->open);
    return a;
}

/* The create has looked at the namespace, which lived; what happens to it before the
 * create is written decides. */
static void the_namespace_of_a_create_must_stay_as_it_was(void **state)
{
    static const struct {
        const char *namespace; /* what becomes of it; NULL: it goes */
        unsigned status;
        const char *says;
    } cases[] = {
        {",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"", 403, "because it is being terminated"},
        {NULL, 404, "namespaces \\\"home\\\" not found"},
        {",\"labels\":{\"a\":\"b\"}", 201, "\"name\":\"late\""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gate g = {0};
        char text[512];
        uint64_t revision;
        put_namespace("home", "", &revision);
        g.change = (struct vd_wish){.action = VD_DELETE, .key = test_key("namespaces", "", "home")};
        if (cases[i].namespace) {
            snprintf(text, sizeof text,
                     "{\"kind\":\"Namespace\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":"
                     "\"home\"%s,\"resourceVersion\":\"\"}}",
                     cases[i].namespace);
            g.change.action = VD_PUT;
            g.change.body = (struct vd_template){vd_slice_of(text), (uint32_t)(strlen(text) - 3)};
        }
        struct answer a = ask_through(
            &g, "/api/v1/namespaces/home/configmaps",
            "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"late\"}}");
        assert_int_equal(a.status, cases[i].status);
        assert_non_null(strstr(vd_buf_text(&a.body), cases[i].says));
        assert_int_equal(vd_store_count(face.store, VD_SLICE("configmaps")), a.status == 201);
        answer_release(&a);
    }
}

/* ---- custom kinds ---- */

#define THINGS "things.example.com"

/* The stored definition, with more metadata, as a template; in `text`. */
static struct vd_template definition(char text[1024], struct vd_uid uid, const char *more)
{
    char digits[VD_UID_TEXT_MAX];
    snprintf(
        text, 1024,
        "{\"kind\":\"CustomResourceDefinition\",\"apiVersion\":\"apiextensions.k8s.io/v1\","
        "\"spec\":{\"group\":\"example.com\",\"scope\":\"Cluster\",\"names\":{\"kind\":\"Thing\","
        "\"plural\":\"things\"},\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":true}]}"
        ",\"metadata\":{\"name\":\"" THINGS "\",\"uid\":\"%.*s\"%s,\"resourceVersion\":\"\"}}",
        VD_FMT(vd_uid_format(uid, digits)), more);
    return (struct vd_template){vd_slice_of(text), (uint32_t)(strlen(text) - 3)};
}

static void put_definition(struct vd_uid uid)
{
    char text[1024];
    struct vd_arena arena = {0};
    struct vd_json *document = NULL;
    struct vd_error error = {0};
    struct vd_outcome outcome;
    struct vd_wish wish = {.key = {VD_DEFINITIONS, VD_SLICE(""), VD_SLICE(THINGS)}, .uid = uid};
    wish.body = definition(text, uid, "");
    assert_ok(vd_store_commit(face.store, &wish, 1, &outcome), &outcome.error);
    assert_ok(vd_json_parse(&arena, vd_slice_of(text), NULL, &document, &error), &error);
    assert_ok(vd_kinds_put(face.env.kinds, document, false, &error), &error);
    vd_arena_release(&arena);
}

static void the_definition_of_a_create_must_stay_as_it_was(void **state)
{
    static const struct {
        const char *definition; /* what becomes of it; NULL: it goes */
        unsigned status;
        const char *says;
    } cases[] = {
        {",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"", 405,
         "create not allowed while custom resource definition is terminating"},
        {NULL, 404, "404 page not found"},
        {",\"labels\":{\"a\":\"b\"}", 201, "\"name\":\"late\""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct gate g = {0};
        char text[1024];
        struct vd_uid uid = vd_uid_generate();
        put_definition(uid);
        g.change = (struct vd_wish){.action = VD_DELETE,
                                    .key = {VD_DEFINITIONS, VD_SLICE(""), VD_SLICE(THINGS)}};
        if (cases[i].definition) {
            g.change.action = VD_PUT;
            g.change.uid = uid;
            g.change.body = definition(text, uid, cases[i].definition);
        }
        struct answer a = ask_through(&g, "/apis/example.com/v1/things",
                                      "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Thing\","
                                      "\"metadata\":{\"name\":\"late\"}}");
        if (a.status != cases[i].status || !strstr(vd_buf_text(&a.body), cases[i].says))
            fail_msg("%zu: %u %s", i, a.status, vd_buf_text(&a.body));
        assert_int_equal(vd_store_count(face.store, VD_SLICE(THINGS)), a.status == 201);
        answer_release(&a);
    }
}

/* The kind that a request has found may be of a definition that has been replaced since. */
static void another_definition_is_not_the_kinds(void **state)
{
    char text[1024];
    struct vd_uid other = vd_uid_generate();
    struct vd_wish wish = {.key = {VD_DEFINITIONS, VD_SLICE(""), VD_SLICE(THINGS)}, .uid = other};
    struct vd_outcome outcome;
    (void)state;
    put_definition(vd_uid_generate());
    wish.action = VD_DELETE;
    assert_ok(vd_store_commit(face.store, &wish, 1, &outcome), &outcome.error);
    wish.action = VD_PUT;
    wish.body = definition(text, other, "");
    assert_ok(vd_store_commit(face.store, &wish, 1, &outcome), &outcome.error);
    struct answer a = face_ask(
        "POST", "/apis/example.com/v1/things", "",
        "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Thing\",\"metadata\":{"
        "\"name\":\"late\"}}",
        404);
    answer_release(&a);
    assert_int_equal(vd_store_count(face.store, VD_SLICE(THINGS)), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_namespace_of_a_create_must_stay_as_it_was, open_face,
                                        close_face),
        cmocka_unit_test_setup_teardown(the_definition_of_a_create_must_stay_as_it_was, open_face,
                                        close_face),
        cmocka_unit_test_setup_teardown(another_definition_is_not_the_kinds, open_face, close_face),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
