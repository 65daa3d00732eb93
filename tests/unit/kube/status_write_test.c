/* Writes of status over HTTP: what they change, what they leave alone, and what they
 * must say. */
#include "face_check.h"

#include "json_check.h"
#include "widget_kinds.h"
#include "json/compare.h"

#define SCHEMA                                                                                     \
    "    subresources: {status: {}}\n"                                                             \
    "    schema:\n"                                                                                \
    "      openAPIV3Schema:\n"                                                                     \
    "        type: object\n"                                                                       \
    "        properties:\n"                                                                        \
    "          spec:\n"                                                                            \
    "            type: object\n"                                                                   \
    "            default: {size: 1}\n"                                                             \
    "            properties:\n"                                                                    \
    "              color: {type: string, default: red}\n"                                          \
    "              size: {type: integer}\n"                                                        \
    "              parts: {type: array, items: {type: string}}\n"                                  \
    "          status:\n"                                                                          \
    "            type: object\n"                                                                   \
    "            properties:\n"                                                                    \
    "              note: {type: string}\n"                                                         \
    "              observedGeneration: {type: integer}\n"                                          \
    "              conditions:\n"                                                                  \
    "                type: array\n"                                                                \
    "                x-kubernetes-list-type: map\n"                                                \
    "                x-kubernetes-list-map-keys: [type]\n"                                         \
    "                items:\n"                                                                     \
    "                  type: object\n"                                                             \
    "                  required: [type, status]\n"                                                 \
    "                  properties:\n"                                                              \
    "                    type: {type: string}\n"                                                   \
    "                    status: {type: string}\n"                                                 \
    "                    reason: {type: string}\n"                                                 \
    "                    message: {type: string}\n"                                                \
    "                    observedGeneration: {type: integer}\n"                                    \
    "                    lastTransitionTime: {type: string, format: date-time}\n"

#define KIND(annotations, kind, plural)                                                            \
    "metadata: {annotations: {" annotations "}}\n"                                                 \
    "spec:\n"                                                                                      \
    "  group: example.com\n"                                                                       \
    "  scope: Cluster\n"                                                                           \
    "  names: {kind: " kind ", plural: " plural ", singular: " plural "x}\n"                       \
    "  versions:\n"                                                                                \
    "  - name: v1\n"                                                                               \
    "    served: true\n"                                                                           \
    "    storage: true\n" SCHEMA

#define PATH "/apis/example.com/v1/"

static int open_kinds(void **state)
{
    open_face(state);
    put_kind(face.env.kinds, KIND("", "Loose", "looses"), false);
    put_kind(face.env.kinds, KIND("vedette.dev/status-boundary: strict", "Strict", "stricts"),
             false);
    put_kind(face.env.kinds,
             KIND("vedette.dev/status-precondition: required", "Versioned", "versioneds"), false);
    put_kind(face.env.kinds, KIND("vedette.dev/status-conditions: strict", "Firm", "firms"), false);
    return arena_setup(state);
}

static int close_kinds(void **state)
{
    arena_teardown(state);
    return close_face(state);
}

/* PUT, or a patch of one of three kinds. */
enum how { PUT, MERGE, JSON };

static struct vd_json *ask(struct vd_arena *a, const char *method, const char *type,
                           const char *target, const char *body, unsigned status)
{
    struct client c;
    struct answer answer = {0};
    struct vd_buf request = {0};
    client_open(&c, &face.server);
    vd_buf_addf(&request,
                "%s %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/%s\r\n"
                "Content-Length: %zu\r\n\r\n%s",
                method, target, type, strlen(body), body);
    client_send(&c, vd_buf_text(&request));
    client_answer(&c, &answer, false);
    if (answer.status != status)
        fail_msg("%s %s %s: %u: %s", method, target, body, answer.status,
                 vd_buf_text(&answer.body));
    struct vd_slice text = vd_arena_copy(a, vd_buf_slice(&answer.body));
    struct vd_json *document = NULL;
    struct vd_error error;
    assert_ok(vd_json_parse(a, text, NULL, &document, &error), &error);
    answer_release(&answer);
    vd_buf_release(&request);
    client_close(&c);
    return document;
}

static struct vd_json *write_to(struct vd_arena *a, enum how how, const char *target,
                                const char *body, unsigned status)
{
    static const char *const types[] = {"json", "merge-patch+json", "json-patch+json"};
    return ask(a, how == PUT ? "PUT" : "PATCH", types[how], target, body, status);
}

static struct vd_json *read_from(struct vd_arena *a, const char *target)
{
    return ask(a, "GET", "json", target, "", 200);
}

/* An object named `name`, whose status has been written once. */
static void make(struct vd_arena *a, const char *kind, const char *plural, const char *name)
{
    char path[128], body[512];
    snprintf(path, sizeof path, PATH "%s", plural);
    snprintf(body, sizeof body,
             "{\"apiVersion\":\"example.com/v1\",\"kind\":\"%s\",\"metadata\":{\"name\":\"%s\","
             "\"labels\":{\"app\":\"a\"},\"annotations\":{\"n\":\"1\"},\"finalizers\":[\"e.x/f\"]},"
             "\"spec\":{\"color\":\"red\",\"size\":3,\"parts\":[\"a\",\"b\"]},"
             "\"status\":{\"note\":\"of the client\"}}",
             kind, name);
    struct vd_json *made = ask(a, "POST", "json", path, body, 201);
    assert_null(vd_json_get(made, VD_SLICE("status")));
    snprintf(path, sizeof path, PATH "%s/%s/status", plural, name);
    snprintf(body, sizeof body,
             "{\"metadata\":{\"resourceVersion\":\"%.*s\"},\"status\":{\"note\":\"first\"}}",
             VD_FMT(vd_json_text(vd_json_dig(made, "metadata", "resourceVersion", NULL))));
    write_to(a, MERGE, path, body, 200);
}

static struct vd_slice version_of(const struct vd_json *object)
{
    return vd_json_text(vd_json_dig(object, "metadata", "resourceVersion", NULL));
}

/* The object without what a write of status may change; it is not used any more. */
static struct vd_json *rest_of(struct vd_json *object)
{
    vd_json_remove(object, VD_SLICE("status"));
    vd_json_remove(vd_json_get(object, VD_SLICE("metadata")), VD_SLICE("resourceVersion"));
    vd_json_remove(vd_json_get(object, VD_SLICE("metadata")), VD_SLICE("managedFields"));
    return object;
}

/* Bodies that say more than status: each is a write through the status door. `%s` is the
 * object's version. The fields are those that a strict kind names. */
static const struct {
    enum how how;
    const char *body;
    const char *fields[4];
} beyond[] = {
    {PUT,
     "{\"metadata\":{\"name\":\"o\",\"resourceVersion\":\"%s\"},\"status\":{\"note\":\"n\"}}",
     {0}},
    {PUT,
     "{\"metadata\":{\"name\":\"o\",\"resourceVersion\":\"%s\",\"labels\":{\"app\":\"b\"}},"
     "\"spec\":{\"color\":\"blue\",\"size\":3,\"parts\":[\"a\",\"c\"]},\"status\":{\"note\":\"n\"}"
     "}",
     {"metadata.labels.app", "spec.color", "spec.parts[1]"}},
    {PUT,
     "{\"metadata\":{\"name\":\"o\",\"resourceVersion\":\"%s\",\"finalizers\":[]},"
     "\"spec\":{},\"status\":{\"note\":\"n\"}}",
     {"metadata.finalizers", "spec.size", "spec.parts"}},
    {MERGE,
     "{\"spec\":{\"size\":4,\"parts\":null},\"status\":{\"note\":\"n\"}}",
     {"spec.size", "spec.parts"}},
    {MERGE, "{\"spec\":null,\"status\":{\"note\":\"n\"}}", {"spec.size", "spec.parts"}},
    {MERGE,
     "{\"metadata\":{\"labels\":null,\"annotations\":{\"n\":\"2\",\"m\":\"1\"}},"
     "\"status\":{\"note\":\"n\"}}",
     {"metadata.annotations.n", "metadata.annotations.m", "metadata.labels"}},
    {MERGE,
     "{\"metadata\":{\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\","
     "\"name\":\"x\",\"uid\":\"7b4c3a52-3c8e-4f0e-8a55-0a1b2c3d4e5f\"}]},"
     "\"status\":{\"note\":\"n\"}}",
     {"metadata.ownerReferences"}},
    {MERGE,
     "{\"metadata\":{\"generation\":9,\"deletionTimestamp\":\"2020-01-01T00:00:00Z\","
     "\"creationTimestamp\":null},\"status\":{\"note\":\"n\"}}",
     {0}},
    {JSON,
     "[{\"op\":\"replace\",\"path\":\"/spec/color\",\"value\":\"blue\"},"
     "{\"op\":\"add\",\"path\":\"/spec/parts/-\",\"value\":\"c\"},"
     "{\"op\":\"replace\",\"path\":\"/status\",\"value\":{\"note\":\"n\"}}]",
     {"spec.color", "spec.parts"}},
    {JSON,
     "[{\"op\":\"move\",\"from\":\"/metadata/finalizers\",\"path\":\"/spec/parts\"},"
     "{\"op\":\"replace\",\"path\":\"/status/note\",\"value\":\"n\"}]",
     {"metadata.finalizers", "spec.parts"}},
    {JSON, "[{\"op\":\"replace\",\"path\":\"/status/note\",\"value\":\"n\"}]", {0}},
};

/* The body with the version in it. */
static const char *filled(struct vd_arena *a, const char *body, struct vd_slice version)
{
    struct vd_buf text = {0};
    const char *at = strstr(body, "%s");
    if (!at)
        return body;
    vd_buf_addf(&text, "%.*s%.*s%s", (int)(at - body), body, VD_FMT(version), at + 2);
    vd_buf_add_char(&text, '\0');
    struct vd_slice copy = vd_arena_copy(a, vd_buf_slice(&text));
    vd_buf_release(&text);
    return copy.p;
}

static void only_status_comes_through(void **state)
{
    struct vd_arena *a = *state;
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
        make(a, "Loose", "looses", "o");
        struct vd_json *before = read_from(a, PATH "looses/o");
        uint64_t revision = vd_store_revision(face.store);
        struct vd_json *after = write_to(a, beyond[i].how, PATH "looses/o/status",
                                         filled(a, beyond[i].body, version_of(before)), 200);
        assert_slice(vd_json_text(vd_json_dig(after, "status", "note", NULL)), "n");
        assert_int_equal(vd_store_revision(face.store), revision + 1);
        assert_true(vd_json_eq(after, read_from(a, PATH "looses/o")));
        assert_true(vd_json_eq(rest_of(before), rest_of(after)));
        write_to(a, MERGE, PATH "looses/o", "{\"metadata\":{\"finalizers\":null}}", 200);
        ask(a, "DELETE", "json", PATH "looses/o", "", 200);
    }
}

static void a_strict_kind_names_what_else_was_touched(void **state)
{
    struct vd_arena *a = *state;
    make(a, "Strict", "stricts", "o");
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
        size_t n = 0;
        struct vd_json *before = read_from(a, PATH "stricts/o");
        const char *body = filled(a, beyond[i].body, version_of(before));
        while (n < 4 && beyond[i].fields[n])
            n++;
        struct vd_json *answer = write_to(a, beyond[i].how, PATH "stricts/o/status", body,
                                          n ? 422 : 200);
        if (!n) {
            write_to(a, MERGE, PATH "stricts/o/status", "{\"status\":{\"note\":\"first\"}}", 200);
            continue;
        }
        assert_slice(vd_json_text(vd_json_get(answer, VD_SLICE("reason"))), "Invalid");
        struct vd_json *causes = vd_json_dig(answer, "details", "causes", NULL);
        assert_int_equal(vd_json_count(causes), n);
        for (size_t k = 0; k < n; k++) {
            struct vd_json *cause = vd_json_at(causes, k);
            assert_slice(vd_json_text(vd_json_get(cause, VD_SLICE("reason"))),
                         "FieldValueForbidden");
            assert_slice(vd_json_text(vd_json_get(cause, VD_SLICE("field"))), beyond[i].fields[k]);
        }
        assert_true(vd_json_eq(before, read_from(a, PATH "stricts/o")));
    }
}

static void the_main_door_leaves_status_alone(void **state)
{
    struct vd_arena *a = *state;
    static const struct {
        enum how how;
        const char *body;
        int64_t generation; /* 1 before */
    } cases[] = {
        {PUT,
         "{\"metadata\":{\"name\":\"o\",\"resourceVersion\":\"%s\"},\"spec\":{\"color\":\"red\","
         "\"size\":3,\"parts\":[\"a\",\"b\"]},\"status\":{\"note\":\"n\"}}",
         1},
        {PUT, "{\"metadata\":{\"name\":\"o\",\"resourceVersion\":\"%s\"},\"spec\":{\"size\":4}}",
         2},
        {MERGE, "{\"status\":null}", 1},
        {MERGE, "{\"status\":{\"note\":\"n\"},\"spec\":{\"size\":5}}", 2},
        {JSON, "[{\"op\":\"remove\",\"path\":\"/status/note\"}]", 1},
        {JSON, "[{\"op\":\"add\",\"path\":\"/status\",\"value\":7}]", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make(a, "Loose", "looses", "o");
        struct vd_json *before = read_from(a, PATH "looses/o");
        const char *body = filled(a, cases[i].body, version_of(before));
        struct vd_json *after = write_to(a, cases[i].how, PATH "looses/o", body, 200);
        int64_t generation = 0;
        assert_json(vd_json_get(after, VD_SLICE("status")), "{\"note\":\"first\"}");
        assert_true(
            vd_json_to_i64(vd_json_dig(after, "metadata", "generation", NULL), &generation));
        assert_int_equal(generation, cases[i].generation);
        write_to(a, MERGE, PATH "looses/o", "{\"metadata\":{\"finalizers\":null}}", 200);
        ask(a, "DELETE", "json", PATH "looses/o", "", 200);
    }
}

/* ---- versions ---- */

static void a_kind_can_demand_the_version(void **state)
{
    struct vd_arena *a = *state;
    static const struct {
        enum how how;
        const char *body;
        unsigned versioned, loose; /* what comes of it */
    } cases[] = {
        {PUT, "{\"metadata\":{\"name\":\"o\",\"resourceVersion\":\"%s\"},\"status\":{}}", 200, 200},
        {PUT, "{\"metadata\":{\"name\":\"o\"},\"status\":{}}", 428, 422},
        {PUT, "{\"metadata\":{\"name\":\"o\",\"resourceVersion\":\"0\"},\"status\":{}}", 428, 422},
        {PUT, "{\"metadata\":{\"name\":\"o\",\"resourceVersion\":\"1\"},\"status\":{}}", 409, 409},
        {PUT, "{\"metadata\":{\"name\":\"o\",\"resourceVersion\":\"x\"},\"status\":{}}", 400, 400},
        {MERGE, "{\"status\":{\"note\":\"m\"}}", 428, 200},
        {MERGE, "{\"metadata\":{\"resourceVersion\":\"%s\"},\"status\":{}}", 200, 200},
        {MERGE, "{\"metadata\":{\"resourceVersion\":\"1\"},\"status\":{}}", 409, 409},
        {MERGE, "{\"metadata\":{\"resourceVersion\":null},\"status\":{}}", 428, 200},
        {JSON, "[{\"op\":\"add\",\"path\":\"/status/note\",\"value\":\"j\"}]", 428, 200},
        {JSON,
         "[{\"op\":\"test\",\"path\":\"/metadata/resourceVersion\",\"value\":\"%s\"},"
         "{\"op\":\"add\",\"path\":\"/status/note\",\"value\":\"t\"}]",
         200, 200},
        {JSON,
         "[{\"op\":\"test\",\"path\":\"/metadata/resourceVersion\",\"value\":\"1\"},"
         "{\"op\":\"add\",\"path\":\"/status/note\",\"value\":\"t\"}]",
         422, 422},
        {JSON,
         "[{\"op\":\"replace\",\"path\":\"/metadata/resourceVersion\",\"value\":\"%s\"},"
         "{\"op\":\"add\",\"path\":\"/status/note\",\"value\":\"r\"}]",
         200, 200},
        {JSON, "[{\"op\":\"replace\",\"path\":\"/metadata/resourceVersion\",\"value\":\"1\"}]", 409,
         409},
    };
    make(a, "Versioned", "versioneds", "o");
    make(a, "Loose", "looses", "o");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_slice version = version_of(read_from(a, PATH "versioneds/o"));
        struct vd_json *answer = write_to(a, cases[i].how, PATH "versioneds/o/status",
                                          filled(a, cases[i].body, version), cases[i].versioned);
        if (cases[i].versioned == 428)
            assert_slice(vd_json_text(vd_json_get(answer, VD_SLICE("reason"))),
                         "PreconditionRequired");
        version = version_of(read_from(a, PATH "looses/o"));
        write_to(a, cases[i].how, PATH "looses/o/status", filled(a, cases[i].body, version),
                 cases[i].loose);
    }
    /* The main door has no such demand. */
    write_to(a, MERGE, PATH "versioneds/o", "{\"spec\":{\"size\":7}}", 200);
}

static void a_conflict_names_the_current_version(void **state)
{
    struct vd_arena *a = *state;
    static const struct {
        enum how how;
        const char *path, *body;
    } cases[] = {
        {PUT, PATH "looses/o/status",
         "{\"metadata\":{\"name\":\"o\",\"resourceVersion\":\"2\"},\"status\":{}}"},
        {PUT, PATH "looses/o", "{\"metadata\":{\"name\":\"o\",\"resourceVersion\":\"2\"}}"},
        {MERGE, PATH "looses/o/status",
         "{\"metadata\":{\"resourceVersion\":\"99\"},\"status\":{\"note\":\"first\"}}"},
        {JSON, PATH "looses/o/status",
         "[{\"op\":\"replace\",\"path\":\"/metadata/resourceVersion\",\"value\":\"1\"}]"},
    };
    make(a, "Loose", "looses", "o");
    struct vd_slice version = version_of(read_from(a, PATH "looses/o"));
    struct vd_json *first = NULL;
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        struct vd_json *answer = write_to(a, cases[i / 2].how, cases[i / 2].path, cases[i / 2].body,
                                          409);
        struct vd_json *cause = vd_json_at(vd_json_dig(answer, "details", "causes", NULL), 0);
        assert_slice(vd_json_text(vd_json_get(cause, VD_SLICE("reason"))),
                     "CurrentResourceVersion");
        assert_slice(vd_json_text(vd_json_get(cause, VD_SLICE("field"))),
                     "metadata.resourceVersion");
        assert_true(vd_slice_eq(vd_json_text(vd_json_get(cause, VD_SLICE("message"))), version));
        assert_true(!first || vd_json_eq(first, answer));
        first = answer;
    }
}

static void a_write_that_changes_nothing_makes_no_event(void **state)
{
    struct vd_arena *a = *state;
    static const struct {
        enum how how;
        const char *body;
    } cases[] = {
        {PUT, "{\"metadata\":{\"name\":\"o\",\"resourceVersion\":\"%s\",\"labels\":{\"x\":\"y\"}},"
              "\"spec\":{\"size\":99},\"status\":{\"note\":\"first\"}}"},
        {MERGE, "{\"status\":{\"note\":\"first\"}}"},
        {MERGE, "{\"metadata\":{\"labels\":{\"x\":\"y\"}}}"},
        {MERGE, "{}"},
        {JSON, "[]"},
        {JSON, "[{\"op\":\"replace\",\"path\":\"/spec/size\",\"value\":1}]"},
    };
    make(a, "Loose", "looses", "o");
    struct vd_json *before = read_from(a, PATH "looses/o");
    uint64_t revision = vd_store_revision(face.store);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_json *after = write_to(a, cases[i].how, PATH "looses/o/status",
                                         filled(a, cases[i].body, version_of(before)), 200);
        assert_true(vd_json_eq(before, after));
    }
    assert_int_equal(vd_store_revision(face.store), revision);
}

static const char DEFINITION[] =
    "{\"metadata\":{\"name\":\"os.example.org\"},\"spec\":{\"group\":\"example.org\","
    "\"scope\":\"Cluster\",\"names\":{\"kind\":\"O\",\"plural\":\"os\"},\"versions\":"
    "[{\"name\":\"v1\",\"served\":true,\"storage\":true,\"schema\":"
    "{\"openAPIV3Schema\":{\"type\":\"object\"}}}]}}";

static void conditions_are_checked_at_the_status_door(void **state)
{
    struct vd_arena *a = *state;
    make(a, "Firm", "firms", "o");
    write_to(a, MERGE, PATH "firms/o/status",
             "{\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\","
             "\"lastTransitionTime\":\"2026-01-01T00:00:00Z\",\"observedGeneration\":1}]}}",
             200);
    uint64_t revision = vd_store_revision(face.store);
    write_to(a, MERGE, PATH "firms/o/status",
             "{\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\","
             "\"lastTransitionTime\":\"2026-02-02T00:00:00Z\",\"observedGeneration\":1}]}}",
             200);
    assert_int_equal(vd_store_revision(face.store), revision); /* the time was kept */
    struct vd_json *answer = write_to(
        a, MERGE, PATH "firms/o/status",
        "{\"status\":{\"observedGeneration\":3,\"conditions\":["
        "{\"type\":\"Ready\",\"status\":\"Maybe\"},"
        "{\"type\":\"Ready\",\"status\":\"True\",\"observedGeneration\":2}]}}",
        422);
    static const char *const fields[] = {"status.conditions[1]", "status.observedGeneration",
                                         "status.conditions[0].status",
                                         "status.conditions[1].observedGeneration"};
    struct vd_json *causes = vd_json_dig(answer, "details", "causes", NULL);
    assert_int_equal(vd_json_count(causes), 4);
    for (size_t i = 0; i < 4; i++)
        assert_slice(vd_json_text(vd_json_get(vd_json_at(causes, i), VD_SLICE("field"))),
                     fields[i]);
}

static void a_condition_may_be_what_its_schema_says(void **state)
{
    struct vd_arena *a = *state;
    make(a, "Loose", "looses", "o");
    write_to(a, MERGE, PATH "looses/o/status",
             "{\"status\":{\"conditions\":[{\"type\":\"Available\",\"status\":\"Degraded\"}]}}",
             200);
    ask(a, "POST", "json", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", DEFINITION,
        201);
    write_to(a, MERGE,
             "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/os.example.org/status",
             "{\"status\":{\"conditions\":[{\"type\":\"Mine\",\"status\":\"\"}]}}", 200);
}

/* With the answer to the write that moves the storage, and not some time after it. */
static void the_new_storage_version_is_among_those_stored(void **state)
{
    struct vd_arena *a = *state;
    static const char crds[] = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    static const char one[] = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"
                              "os.example.org";
    ask(a, "POST", "json", crds, DEFINITION, 201);
    struct vd_json *after = ask(
        a, "PATCH", "json-patch+json", one,
        "[{\"op\":\"replace\",\"path\":\"/spec/versions/0/storage\",\"value\":false},"
        "{\"op\":\"add\",\"path\":\"/spec/versions/-\",\"value\":{\"name\":\"v2\","
        "\"served\":true,\"storage\":true,\"schema\":{\"openAPIV3Schema\":"
        "{\"type\":\"object\"}}}}]",
        200);
    assert_json(vd_json_dig(after, "status", "storedVersions", NULL), "[\"v1\",\"v2\"]");
    char door[128];
    snprintf(door, sizeof door, "%s/status", one);
    struct vd_json *refused = write_to(a, MERGE, door, "{\"status\":{\"storedVersions\":[\"v1\"]}}",
                                       422);
    struct vd_json *cause = vd_json_first(vd_json_dig(refused, "details", "causes", NULL));
    assert_slice(vd_json_text(vd_json_get(cause, VD_SLICE("field"))), "status.storedVersions");
    after = write_to(a, MERGE, door, "{\"status\":{\"storedVersions\":[\"v2\"]}}", 200);
    assert_json(vd_json_dig(after, "status", "storedVersions", NULL), "[\"v2\"]");
}

/* Kubernetes lets whoever reports on a built-in object mark it, too. */
static void labels_and_annotations_of_builtin_kinds_come_through(void **state)
{
    struct vd_arena *a = *state;
    static const char *const targets[] = {
        "/api/v1/namespaces/room", "/api/v1/namespaces/room/services/s",
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/os.example.org"};
    ask(a, "POST", "json", "/api/v1/namespaces", "{\"metadata\":{\"name\":\"room\"}}", 201);
    ask(a, "POST", "json", "/api/v1/namespaces/room/services",
        "{\"metadata\":{\"name\":\"s\"},\"spec\":{\"ports\":[{\"port\":80}]}}", 201);
    ask(a, "POST", "json", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", DEFINITION,
        201);
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        char door[128];
        snprintf(door, sizeof door, "%s/status", targets[i]);
        struct vd_json *after = write_to(a, MERGE, door,
                                         "{\"metadata\":{\"labels\":{\"l\":\"1\"},"
                                         "\"annotations\":{\"n\":\"2\"},"
                                         "\"finalizers\":[\"e.x/f\"]}}",
                                         200);
        assert_slice(vd_json_text(vd_json_dig(after, "metadata", "labels", "l", NULL)), "1");
        assert_slice(vd_json_text(vd_json_dig(after, "metadata", "annotations", "n", NULL)), "2");
        assert_null(vd_json_dig(after, "metadata", "finalizers", NULL));
        after = write_to(a, MERGE, door, "{\"metadata\":{\"annotations\":null}}", 200);
        assert_null(vd_json_dig(after, "metadata", "annotations", NULL));
        assert_slice(vd_json_text(vd_json_dig(after, "metadata", "labels", "l", NULL)), "1");
    }
    struct vd_json *applied = ask(
        a, "PATCH", "apply-patch+yaml", "/api/v1/namespaces/room/status?fieldManager=m",
        "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"labels\":"
        "{\"m\":\"3\"},\"finalizers\":[\"e.x/f\"]}}",
        200);
    assert_slice(vd_json_text(vd_json_dig(applied, "metadata", "labels", "m", NULL)), "3");
    assert_null(vd_json_dig(applied, "metadata", "finalizers", NULL));
}

static void builtin_kinds_have_the_same_doors(void **state)
{
    struct vd_arena *a = *state;
    struct vd_json *made = ask(a, "POST", "json", "/api/v1/namespaces",
                               "{\"metadata\":{\"name\":\"room\"},\"status\":{\"phase\":\"Odd\"}}",
                               201);
    assert_slice(vd_json_text(vd_json_dig(made, "status", "phase", NULL)), "Active");
    ask(a, "POST", "json", "/api/v1/namespaces/room/services",
        "{\"metadata\":{\"name\":\"s\"},\"spec\":{\"ports\":[{\"port\":80}]},"
        "\"status\":{\"loadBalancer\":{\"ingress\":[{\"ip\":\"10.0.0.1\"}]}}}",
        201);
    struct vd_json *before = read_from(a, "/api/v1/namespaces/room/services/s");
    assert_json(vd_json_get(before, VD_SLICE("status")), "{\"loadBalancer\":{}}");
    struct vd_json *after = ask(
        a, "PATCH", "strategic-merge-patch+json", "/api/v1/namespaces/room/services/s/status",
        "{\"spec\":{\"ports\":[{\"port\":81}]},"
        "\"status\":{\"loadBalancer\":{\"ingress\":[{\"ip\":\"10.0.0.2\"}]}}}",
        200);
    assert_json(vd_json_get(after, VD_SLICE("status")),
                "{\"loadBalancer\":{\"ingress\":[{\"ip\":\"10.0.0.2\"}]}}");
    assert_true(vd_json_eq(rest_of(before), rest_of(after)));
}

#define face_test(f) cmocka_unit_test_setup_teardown(f, open_kinds, close_kinds)

int main(void)
{
    const struct CMUnitTest tests[] = {
        face_test(only_status_comes_through),
        face_test(a_strict_kind_names_what_else_was_touched),
        face_test(the_main_door_leaves_status_alone),
        face_test(a_kind_can_demand_the_version),
        face_test(a_conflict_names_the_current_version),
        face_test(a_write_that_changes_nothing_makes_no_event),
        face_test(conditions_are_checked_at_the_status_door),
        face_test(a_condition_may_be_what_its_schema_says),
        face_test(the_new_storage_version_is_among_those_stored),
        face_test(labels_and_annotations_of_builtin_kinds_come_through),
        face_test(builtin_kinds_have_the_same_doors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
