/* What Git owns, over HTTP: every verb that could change it, by users who have all rights. What the
 * Git pipeline writes is written in the process. */
#include "face_check.h"

#include "git_author.h"
#include "widget_kinds.h"

/* clang-format off */
static const char OWNED[] =
    "metadata: {annotations: {vedette.dev/spec-owner: git}}\n"
    CLUSTER_KIND_YAML("Owned", "owneds")
    "        x-kubernetes-preserve-unknown-fields: true\n";
/* clang-format on */

#define OWNEDS "/apis/example.com/v1/owneds"
#define MAPS   "/api/v1/namespaces/room/configmaps"
#define MARK                                                                                       \
    "\"annotations\":{\"vedette.dev/git-repository\":\"shop/catalog\","                            \
    "\"vedette.dev/git-path\":\"a/o.md\",\"vedette.dev/git-commit\":\"0a1b2c\"}"

/* Both have all rights. The second sounds as if it were the Git pipeline: no name and no group
 * makes anybody that. */
static struct vd_user *users[2];

static int open_world(void **state)
{
    static const struct vd_slice group = {"system:vedette:git", 18};
    open_face(state);
    put_kind(face.env.kinds, OWNED, false);
    users[0] = face.user;
    users[1] = vd_user_new(&(struct vd_identity){
        .name = group, .groups = &group, .groups_n = 1, .method = VD_AUTH_CERTIFICATE});
    return arena_setup(state);
}

static int close_world(void **state)
{
    arena_teardown(state);
    face.user = users[0];
    vd_user_unref(users[1]);
    return close_face(state);
}

struct question {
    const char *method, *type, *target, *body;
};

/* Nobody else is asking, so the user can be changed between two questions. */
static struct vd_json *ask(struct vd_arena *a, struct vd_user *user, const struct question *q,
                           unsigned status)
{
    struct client c;
    struct answer answer = {0};
    struct vd_buf request = {0};
    struct vd_json *document = NULL;
    struct vd_error error;
    face.user = user;
    client_open(&c, &face.server);
    vd_buf_addf(&request,
                "%s %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/%s\r\n"
                "Content-Length: %zu\r\n\r\n%s",
                q->method, q->target, q->type, strlen(q->body), q->body);
    client_send(&c, vd_buf_text(&request));
    client_answer(&c, &answer, false);
    if (answer.status != status)
        fail_msg("%s %s %s: %u: %s", q->method, q->target, q->body, answer.status,
                 vd_buf_text(&answer.body));
    assert_ok(vd_json_parse_copy(a, vd_buf_slice(&answer.body), NULL, &document, &error), &error);
    answer_release(&answer);
    vd_buf_release(&request);
    client_close(&c);
    return document;
}

static struct vd_slice cause(const struct vd_json *status, size_t i, const char *field)
{
    const struct vd_json *causes = vd_json_dig(status, "details", "causes", NULL);
    return vd_json_text(vd_json_get(vd_json_at(causes, i), vd_slice_of(field)));
}

/* Refused to both users, also as a dry run, and nothing has changed. */
static void assert_refused(struct vd_arena *a, const struct question *q, bool marked)
{
    char target[256];
    uint64_t revision = vd_store_revision(face.store);
    struct question dry = *q;
    snprintf(target, sizeof target, "%s?dryRun=All", q->target);
    dry.target = target;
    for (int i = 0; i < 4; i++) {
        struct vd_json *status = ask(a, users[i / 2], i % 2 ? &dry : q, 403);
        assert_slice(vd_json_text(vd_json_get(status, VD_SLICE("reason"))), "SpecOwnedByGit");
        assert_slice(vd_json_text(vd_json_dig(status, "details", "name", NULL)), "o");
        if (marked) {
            assert_slice(cause(status, 0, "reason"), "GitRepository");
            assert_slice(cause(status, 0, "message"), "shop/catalog");
            assert_slice(cause(status, 1, "reason"), "GitPath");
            assert_slice(cause(status, 1, "message"), "a/o.md");
            assert_slice(cause(status, 2, "reason"), "GitCommit");
            assert_slice(cause(status, 2, "message"), "0a1b2c");
        }
    }
    assert_int_equal(vd_store_revision(face.store), revision);
}

/* Makes the Owned o of the document, or deletes it. */
static void git_writes_owned(const char *document, enum vd_write_result result)
{
    write_as_git(VD_SLICE("example.com"), VD_SLICE("v1"), "owneds", "o", document, result);
}

static void an_owned_kind_is_changed_by_the_pipeline(void **state)
{
    static const struct question make = {"POST", "json", OWNEDS,
                                         "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Owned\","
                                         "\"metadata\":{\"name\":\"o\"},\"spec\":{\"a\":1}}"};
    static const struct question refused[] = {
        {"PUT", "json", OWNEDS "/o",
         "{\"metadata\":{\"name\":\"o\",\"resourceVersion\":\"%s\"},\"spec\":{\"a\":2}}"},
        {"PATCH", "merge-patch+json", OWNEDS "/o", "{\"spec\":{\"b\":1}}"},
        {"PATCH", "merge-patch+json", OWNEDS "/o", "{\"metadata\":{\"labels\":{\"a\":\"b\"}}}"},
        {"PATCH", "json-patch+json", OWNEDS "/o", "[{\"op\":\"remove\",\"path\":\"/spec\"}]"},
        {"PATCH", "json-patch+json", OWNEDS "/o",
         "[{\"op\":\"add\",\"path\":\"/metadata/annotations\",\"value\":{\"a\":\"b\"}}]"},
        {"DELETE", "json", OWNEDS "/o", ""},
        {"DELETE", "json", OWNEDS, ""},
    };
    static const struct question allowed[] = {
        {"PATCH", "merge-patch+json", OWNEDS "/o/status",
         "{\"spec\":{\"a\":9},\"status\":{\"s\":1}}"},
        {"PATCH", "merge-patch+json", OWNEDS "/o",
         "{\"metadata\":{\"finalizers\":[\"e.x/f\"]},\"status\":{\"s\":2}}"},
        {"PATCH", "merge-patch+json", OWNEDS "/o", "{\"spec\":{\"a\":1}}"},
    };
    struct vd_arena *a = *state;
    assert_refused(a, &make, false);
    git_writes_owned(make.body, VD_WRITE_CREATED);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct question q = refused[i];
        char body[256];
        struct vd_json *now = ask(a, users[0], &(struct question){"GET", "json", OWNEDS "/o", ""},
                                  200);
        const char *at = strstr(q.body, "%s");
        if (at) {
            struct vd_slice version = vd_json_text(
                vd_json_dig(now, "metadata", "resourceVersion", NULL));
            snprintf(body, sizeof body, "%.*s%.*s%s", (int)(at - q.body), q.body, VD_FMT(version),
                     at + 2);
            q.body = body;
        }
        assert_refused(a, &q, false);
    }
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
        ask(a, users[0], &allowed[i], 200);
    git_writes_owned("{\"metadata\":{\"name\":\"o\"},\"spec\":{\"a\":1,\"b\":1}}",
                     VD_WRITE_UPDATED);
    struct vd_json *now = ask(a, users[0], &(struct question){"GET", "json", OWNEDS "/o", ""}, 200);
    assert_json(vd_json_get(now, VD_SLICE("spec")), "{\"a\":1,\"b\":1}");
    assert_json(vd_json_get(now, VD_SLICE("status")), "{\"s\":1}");
    /* The pipeline deletes; whoever has the finalizer ends it. */
    git_writes_owned(NULL, VD_WRITE_MARKED);
    ask(a, users[0],
        &(struct question){"PATCH", "merge-patch+json", OWNEDS "/o",
                           "{\"metadata\":{\"finalizers\":null}}"},
        200);
    ask(a, users[0], &(struct question){"GET", "json", OWNEDS "/o", ""}, 404);
}

static void a_marked_object_of_any_kind_is_changed_by_the_pipeline(void **state)
{
    static const struct question make = {
        "POST", "json", MAPS, "{\"metadata\":{\"name\":\"o\"," MARK "},\"data\":{\"a\":\"1\"}}"};
    static const struct question refused[] = {
        {"PUT", "json", MAPS "/o", "{\"metadata\":{\"name\":\"o\"},\"data\":{\"a\":\"1\"}}"},
        {"PUT", "json", MAPS "/o",
         "{\"metadata\":{\"name\":\"o\"," MARK "},\"data\":{\"a\":\"2\"}}"},
        {"PATCH", "merge-patch+json", MAPS "/o", "{\"data\":null}"},
        {"PATCH", "strategic-merge-patch+json", MAPS "/o", "{\"data\":{\"b\":\"1\"}}"},
        {"PATCH", "json-patch+json", MAPS "/o",
         "[{\"op\":\"remove\",\"path\":\"/metadata/annotations/vedette.dev~1git-repository\"}]"},
        {"DELETE", "json", MAPS "/o", ""},
        {"DELETE", "json", MAPS, ""},
    };
    struct vd_arena *a = *state;
    ask(a, users[0],
        &(struct question){"POST", "json", "/api/v1/namespaces",
                           "{\"metadata\":{\"name\":\"room\"}}"},
        201);
    assert_refused(a, &make, true);
    write_as_git(VD_SLICE(""), VD_SLICE("v1"), "configmaps", "o", make.body, VD_WRITE_CREATED);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        assert_refused(a, &refused[i], true);
    ask(a, users[0],
        &(struct question){"PATCH", "merge-patch+json", MAPS "/o",
                           "{\"metadata\":{\"finalizers\":[\"e.x/f\"]}}"},
        200);
    /* A neighbour without the mark is anybody's, and cannot be marked by them. */
    ask(a, users[0], &(struct question){"POST", "json", MAPS, "{\"metadata\":{\"name\":\"p\"}}"},
        201);
    ask(a, users[0],
        &(struct question){"PATCH", "merge-patch+json", MAPS "/p", "{\"metadata\":{" MARK "}}"},
        403);
    ask(a, users[0], &(struct question){"DELETE", "json", MAPS "/p", ""}, 200);
}

#define world_test(f) cmocka_unit_test_setup_teardown(f, open_world, close_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        world_test(an_owned_kind_is_changed_by_the_pipeline),
        world_test(a_marked_object_of_any_kind_is_changed_by_the_pipeline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
