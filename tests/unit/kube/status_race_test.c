/*
 * Many writers of few statuses, over HTTP on two loops and a store on disk.
 *
 * A writer keeps what it last saw of each object. It counts one up in the status of one
 * of them and says which version it saw; if it was too late, it looks again and tries
 * once more. Afterwards the acknowledged writes of each object must make one chain from
 * its first version to its last: one winner for each version, none lost, and every loser
 * was told a version of that chain that is newer than its own.
 *
 * VEDETTE_STATUS_WRITES says how many writes are tried (`make races`: many).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "fixture.h"
#include "gatekeeper_fixture.h"
#include "json_check.h"
#include "kube/call.h"
#include "net_client.h"
#include "request/request.h"
#include "seed.h"
#include "widget_kinds.h"

enum { WRITERS = 16, OBJECTS = 100, LOOPS = 2, WRITES = 4000 };

#define PATH "/apis/example.com/v1/counters"

/* clang-format off */
static const char COUNTER[] =
    "metadata:\n"
    "  annotations:\n"
    "    vedette.dev/status-precondition: required\n"
    "    vedette.dev/status-boundary: strict\n"
    CLUSTER_KIND_YAML("Counter", "counters")
    "        properties:\n"
    "          spec:\n"
    "            type: object\n"
    "            properties: {size: {type: integer}}\n"
    "          status:\n"
    "            type: object\n"
    "            properties:\n"
    "              count: {type: integer}\n"
    "              writer: {type: integer}\n";
/* clang-format on */

/* What a writer was told: of a win, the version that it made. */
struct told {
    uint64_t sent, version;
    int64_t count; /* of a win */
    unsigned object;
    bool won;
};

struct view {
    uint64_t version;
    int64_t count;
};

struct writer {
    pthread_t thread;
    unsigned id;
    uint64_t left;
    struct seed_rng rng;
    struct client client;
    struct view views[OBJECTS];
    VD_VEC(struct told) told;
    struct vd_arena arena;
};

static struct {
    struct server server;
    char *folder;
    struct vd_store *store;
    struct vd_kube kube;
    struct vd_api_env env;
    struct vd_api_loop api_loops[LOOPS];
    struct vd_request_loop requests[LOOPS];
    struct vd_kube_loop loops[LOOPS];
    struct vd_user *user;
} face;

static struct vd_kube_loop *loop_of(struct vd_http_service *service)
{
    return &face.loops[service - face.server.services];
}

static void handle(struct vd_http_service *service, struct vd_exchange *x)
{
    vd_kube_handle(loop_of(service), x, face.user);
}

static void finished(struct vd_http_service *service, struct vd_exchange *x)
{
    vd_request_finished(loop_of(service)->requests, x);
}

static int open_face(void **state)
{
    struct vd_error error;
    (void)state;
    face.folder = temp_folder_new();
    assert_ok(vd_store_open_in(&face.store, &(struct vd_folder){.path = face.folder}, NULL, &error),
              &error);
    face.env = (struct vd_api_env){.store = face.store,
                                   .kinds = vd_kinds_new(NULL),
                                   .clock = vd_clock_system(),
                                   .gatekeeper = gatekeeper_for_all("\"*\"")};
    face.kube = (struct vd_kube){.env = &face.env, .tables = vd_tables_new()};
    put_kind(face.env.kinds, COUNTER, false);
    face.user = vd_user_new(
        &(struct vd_identity){.name = VD_SLICE("tester"), .method = VD_AUTH_CERTIFICATE});
    server_init(&face.server, LOOPS, NULL);
    face.server.route.handle = handle;
    for (size_t i = 0; i < LOOPS; i++) {
        vd_api_loop_init(&face.api_loops[i], &face.env, &face.server.loops[i]);
        face.requests[i] = (struct vd_request_loop){.loop = &face.server.loops[i],
                                                    .clock = face.env.clock,
                                                    .gatekeeper = face.env.gatekeeper};
        vd_request_loop_init(&face.requests[i]);
        vd_kube_loop_init(&face.loops[i], &face.kube, &face.api_loops[i], &face.requests[i]);
        face.server.services[i].finished = finished;
    }
    server_start(&face.server);
    return 0;
}

static int close_face(void **state)
{
    (void)state;
    server_stop(&face.server);
    for (size_t i = 0; i < LOOPS; i++) {
        vd_kube_loop_release(&face.loops[i]);
        vd_request_loop_release(&face.requests[i]);
        vd_api_loop_release(&face.api_loops[i]);
    }
    vd_user_unref(face.user);
    vd_gatekeeper_free(face.env.gatekeeper);
    vd_tables_free(face.kube.tables);
    vd_kinds_free(face.env.kinds);
    vd_store_close(face.store);
    temp_folder_remove(face.folder);
    return 0;
}

/* ---- one writer ---- */

/* The answer's document, in the writer's arena until the next question. */
static struct vd_json *ask(struct writer *w, const char *method, const char *type,
                           const char *target, const char *body, unsigned *status)
{
    struct answer answer = {0};
    struct vd_buf request = {0};
    struct vd_json *document = NULL;
    struct vd_error error;
    vd_buf_addf(&request,
                "%s %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/%s\r\n"
                "Content-Length: %zu\r\n\r\n%s",
                method, target, type, strlen(body), body);
    client_send(&w->client, vd_buf_text(&request));
    client_answer(&w->client, &answer, false);
    vd_arena_reset(&w->arena);
    assert_ok(vd_json_parse_copy(&w->arena, vd_buf_slice(&answer.body), NULL, &document, &error),
              &error);
    *status = answer.status;
    answer_release(&answer);
    vd_buf_release(&request);
    return document;
}

static uint64_t number_of(const struct vd_json *text)
{
    uint64_t number = 0;
    assert_int_equal(vd_slice_to_u64(vd_json_text(text), &number), 0);
    return number;
}

static void take_view(struct writer *w, unsigned object, const struct vd_json *document)
{
    int64_t generation = 0;
    struct view *view = &w->views[object];
    view->version = number_of(vd_json_dig(document, "metadata", "resourceVersion", NULL));
    if (!vd_json_to_i64(vd_json_dig(document, "status", "count", NULL), &view->count))
        view->count = 0;
    assert_true(vd_json_to_i64(vd_json_dig(document, "metadata", "generation", NULL), &generation));
    assert_int_equal(generation, 1);
}

static void look(struct writer *w, unsigned object)
{
    char target[128];
    unsigned status;
    snprintf(target, sizeof target, PATH "/c%u", object);
    struct vd_json *document = ask(w, "GET", "json", target, "", &status);
    assert_int_equal(status, 200);
    take_view(w, object, document);
}

/* One write by what was last seen. True: it won. */
static bool try_write(struct writer *w, unsigned object)
{
    char target[128], body[256];
    unsigned status;
    bool put = seed_once_in(&w->rng, 2);
    struct told told = {.sent = w->views[object].version, .object = object};
    snprintf(target, sizeof target, PATH "/c%u/status", object);
    snprintf(body, sizeof body,
             "{\"metadata\":{\"name\":\"c%u\",\"resourceVersion\":\"%llu\"},"
             "\"status\":{\"count\":%lld,\"writer\":%u}}",
             object, (unsigned long long)told.sent, (long long)w->views[object].count + 1, w->id);
    struct vd_json *answer = ask(w, put ? "PUT" : "PATCH", put ? "json" : "merge-patch+json",
                                 target, body, &status);
    told.won = status == 200;
    if (told.won) {
        take_view(w, object, answer);
        told.version = w->views[object].version;
        told.count = w->views[object].count;
    } else {
        assert_int_equal(status, 409);
        struct vd_json *cause = vd_json_at(vd_json_dig(answer, "details", "causes", NULL), 0);
        assert_slice(vd_json_text(vd_json_get(cause, VD_SLICE("reason"))),
                     "CurrentResourceVersion");
        told.version = number_of(vd_json_get(cause, VD_SLICE("message")));
    }
    *VD_VEC_PUSH(&w->told) = told;
    w->left--;
    return told.won;
}

static void *write_on(void *arg)
{
    struct writer *w = arg;
    client_open(&w->client, &face.server);
    for (unsigned i = 0; i < OBJECTS; i++)
        look(w, i);
    while (w->left) {
        unsigned object = (unsigned)seed_below(&w->rng, OBJECTS);
        if (!try_write(w, object))
            look(w, object);
        if (w->left && seed_once_in(&w->rng, 2))
            try_write(w, object);
    }
    client_close(&w->client);
    return NULL;
}

/* ---- the judgement ---- */

struct history {
    VD_VEC(struct told) told;
};

static int by_version(const void *a, const void *b)
{
    const struct told *x = a, *y = b;
    return (x->version > y->version) - (x->version < y->version);
}

static bool is_made(const struct history *wins, uint64_t first, uint64_t version)
{
    struct told wanted = {.version = version};
    return version == first || (wins->told.n && bsearch(&wanted, wins->told.p, wins->told.n,
                                                        sizeof wanted, by_version));
}

/* The wins of an object are a chain, and the losers were told links of it. */
static void judge(struct history *wins, const struct history *losses, uint64_t first)
{
    if (wins->told.n)
        qsort(wins->told.p, wins->told.n, sizeof *wins->told.p, by_version);
    uint64_t version = first;
    for (size_t i = 0; i < wins->told.n; i++) {
        assert_int_equal(wins->told.p[i].sent, version);
        assert_int_equal(wins->told.p[i].count, i + 1);
        version = wins->told.p[i].version;
    }
    for (size_t i = 0; i < losses->told.n; i++) {
        assert_true(losses->told.p[i].version > losses->told.p[i].sent);
        assert_true(is_made(wins, first, losses->told.p[i].version));
    }
}

/* What is stored is the last link, with the spec that it was born with. */
static void judge_stored(struct writer *w, unsigned object, const struct history *wins)
{
    char target[128];
    unsigned status;
    int64_t n = -1;
    snprintf(target, sizeof target, PATH "/c%u", object);
    struct vd_json *document = ask(w, "GET", "json", target, "", &status);
    take_view(w, object, document);
    assert_true(vd_json_to_i64(vd_json_dig(document, "spec", "size", NULL), &n));
    assert_int_equal(n, object);
    assert_int_equal(w->views[object].count, wins->told.n);
}

static void one_winner_for_each_version(void **state)
{
    static struct writer writers[WRITERS];
    uint64_t first[OBJECTS], seed = seed_of_run();
    uint64_t writes = seed_runs("VEDETTE_STATUS_WRITES", WRITES);
    struct writer maker = {.id = 0};
    size_t won = 0, lost = 0;
    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    client_open(&maker.client, &face.server);
    for (unsigned i = 0; i < OBJECTS; i++) {
        char body[256];
        unsigned status;
        snprintf(body, sizeof body,
                 "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Counter\",\"metadata\":{\"name\":"
                 "\"c%u\"},\"spec\":{\"size\":%u}}",
                 i, i);
        struct vd_json *made = ask(&maker, "POST", "json", PATH, body, &status);
        assert_int_equal(status, 201);
        first[i] = number_of(vd_json_dig(made, "metadata", "resourceVersion", NULL));
    }
    uint64_t revision = vd_store_revision(face.store);
    for (unsigned i = 0; i < WRITERS; i++) {
        writers[i].id = i;
        writers[i].left = writes / WRITERS;
        writers[i].rng.state = seed + i;
        assert_int_equal(pthread_create(&writers[i].thread, NULL, write_on, &writers[i]), 0);
    }
    for (size_t i = 0; i < WRITERS; i++)
        pthread_join(writers[i].thread, NULL);
    for (unsigned object = 0; object < OBJECTS; object++) {
        struct history wins = {0}, losses = {0};
        for (size_t i = 0; i < WRITERS; i++)
            for (size_t k = 0; k < writers[i].told.n; k++)
                if (writers[i].told.p[k].object == object)
                    *VD_VEC_PUSH(writers[i].told.p[k].won ? &wins.told
                                                          : &losses.told) = writers[i].told.p[k];
        judge(&wins, &losses, first[object]);
        judge_stored(&maker, object, &wins);
        won += wins.told.n;
        lost += losses.told.n;
        VD_VEC_RELEASE(&wins.told);
        VD_VEC_RELEASE(&losses.told);
    }
    print_message("%zu writes won, %zu lost\n", won, lost);
    assert_int_equal(won + lost, writes / WRITERS * WRITERS);
    assert_int_equal(vd_store_revision(face.store), revision + won); /* one event each */
    assert_true(won > 0 && lost > 0);
    for (size_t i = 0; i < WRITERS; i++) {
        VD_VEC_RELEASE(&writers[i].told);
        vd_arena_release(&writers[i].arena);
    }
    client_close(&maker.client);
    vd_arena_release(&maker.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_winner_for_each_version, open_face, close_face),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
