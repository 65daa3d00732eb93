/* Server-side apply and the record of managers, over HTTP: src/kube/apply.c and
 * field_manager.c. */
#include "face_check.h"

#include "backtick.h"
#include "base/limits.h"
#include "json_check.h"
#include "widget_kinds.h"
#include "json/compare.h"

#define KIND                                                                                       \
    "spec:\n"                                                                                      \
    "  group: example.com\n"                                                                       \
    "  scope: Cluster\n"                                                                           \
    "  names: {kind: Thing, plural: things, singular: thing}\n"                                    \
    "  versions:\n"                                                                                \
    "  - name: v1\n"                                                                               \
    "    served: true\n"                                                                           \
    "    storage: true\n"                                                                          \
    "    subresources:\n"                                                                          \
    "      status: {}\n"                                                                           \
    "      scale: {specReplicasPath: .spec.size, statusReplicasPath: .status.size}\n"              \
    "    schema:\n"                                                                                \
    "      openAPIV3Schema:\n"                                                                     \
    "        type: object\n"                                                                       \
    "        properties:\n"                                                                        \
    "          spec:\n"                                                                            \
    "            type: object\n"                                                                   \
    "            properties:\n"                                                                    \
    "              color: {type: string}\n"                                                        \
    "              size: {type: integer, default: 1}\n"                                            \
    "              parts:\n"                                                                       \
    "                type: array\n"                                                                \
    "                x-kubernetes-list-type: map\n"                                                \
    "                x-kubernetes-list-map-keys: [name]\n"                                         \
    "                items:\n"                                                                     \
    "                  type: object\n"                                                             \
    "                  required: [name]\n"                                                         \
    "                  properties: {name: {type: string}, weight: {type: integer}}\n"              \
    "              box:\n"                                                                         \
    "                type: object\n"                                                               \
    "                properties:\n"                                                                \
    "                  lid: {type: string}\n"                                                      \
    "                  tags: {type: array, x-kubernetes-list-type: set, items: {type: string}}\n"  \
    "          status: {type: object, properties: {note: {type: string}, ok: {type: boolean}}}\n"

/* What has defaults inside, and what may be null. */
#define JAR_KIND                                                                                   \
    CLUSTER_KIND_YAML("Jar", "jars")                                                               \
    "        properties:\n"                                                                        \
    "          spec:\n"                                                                            \
    "            type: object\n"                                                                   \
    "            properties:\n"                                                                    \
    "              color: {type: string}\n"                                                        \
    "              size: {type: integer, default: 1}\n"                                            \
    "              note: {type: string, nullable: true, default: none}\n"                          \
    "              tags: {type: object, additionalProperties: {type: string}}\n"                   \
    "              shade:\n"                                                                       \
    "                type: object\n"                                                               \
    "                x-kubernetes-map-type: atomic\n"                                              \
    "                properties: {hue: {type: string}, depth: {type: integer, default: 3}}\n"      \
    "              cover:\n"                                                                       \
    "                type: object\n"                                                               \
    "                nullable: true\n"                                                             \
    "                properties: {cloth: {type: string}}\n"

#define JARS      "/apis/example.com/v1/jars"
#define JAR       JARS "/j"
#define JAR_HEAD  "`apiVersion`:`example.com/v1`,`kind`:`Jar`,`metadata`:{`name`:`j`}"
#define JAR_OF(s) "{" JAR_HEAD ",`spec`:{" s "}}"

#define THINGS       "/apis/example.com/v1/things"
#define THING        THINGS "/t"
#define TYPE         "`apiVersion`:`example.com/v1`,`kind`:`Thing`,`metadata`:{`name`:`t`}"
#define CONFIG(rest) "{" TYPE "," rest "}"

/* Gives the testers all rights, or all but that to create. */
static void may_create(bool may)
{
    struct vd_rbac *rules = rules_for_all(
        may ? "\"*\"" : "\"get\",\"list\",\"watch\",\"update\",\"patch\",\"delete\"");
    vd_gatekeeper_fix(face.env.gatekeeper, rules);
    vd_rbac_unref(rules);
}

/* Each look at the clock is a second later than the one before. */
static _Atomic int64_t seconds;

static int64_t ticking_ms(const struct vd_clock *clock)
{
    (void)clock;
    return (1800000000 + atomic_fetch_add(&seconds, 1)) * 1000;
}

static uint64_t real_ns(const struct vd_clock *clock)
{
    (void)clock;
    return vd_clock_mono_ns(vd_clock_system());
}

static const struct vd_clock ticking = {ticking_ms, real_ns, NULL};

static int open_things(void **state)
{
    open_face(state);
    face.env.clock = &ticking;
    put_kind(face.env.kinds, KIND, false);
    put_kind(face.env.kinds, JAR_KIND, false);
    return arena_setup(state);
}

static int close_things(void **state)
{
    arena_teardown(state);
    return close_face(state);
}

/* `agent` is the User-Agent, NULL for none. */
static struct vd_json *ask(struct vd_arena *a, const char *method, const char *type,
                           const char *target, const char *agent, const char *body, unsigned status)
{
    struct client c;
    struct answer answer = {0};
    struct vd_buf request = {0};
    const char *json = backtick(a, body);
    client_open(&c, &face.server);
    vd_buf_addf(&request, "%s %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/%s\r\n", method,
                target, type);
    if (agent)
        vd_buf_addf(&request, "User-Agent: %s\r\n", agent);
    vd_buf_addf(&request, "Content-Length: %zu\r\n\r\n%s", strlen(json), json);
    client_send(&c, vd_buf_text(&request));
    client_answer(&c, &answer, false);
    if (answer.status != status)
        fail_msg("%s %s %s: %u: %s", method, target, body, answer.status,
                 vd_buf_text(&answer.body));
    struct vd_json *document = NULL;
    assert_int_equal(vd_json_parse_copy(a, vd_buf_slice(&answer.body), NULL, &document, NULL), 0);
    answer_release(&answer);
    vd_buf_release(&request);
    client_close(&c);
    return document;
}

static struct vd_json *apply(struct vd_arena *a, const char *target, const char *body,
                             unsigned status)
{
    return ask(a, "PATCH", "apply-patch+yaml", target, "test/1", body, status);
}

static struct vd_json *merge(struct vd_arena *a, const char *target, const char *agent,
                             const char *body)
{
    return ask(a, "PATCH", "merge-patch+json", target, agent, body, 200);
}

static struct vd_json *get(struct vd_arena *a)
{
    return ask(a, "GET", "json", THING, NULL, "", 200);
}

static struct vd_slice version_of(const struct vd_json *object)
{
    return vd_json_text(vd_json_dig(object, "metadata", "resourceVersion", NULL));
}

static void assert_message(const struct vd_json *status, const char *want)
{
    struct vd_slice text = vd_json_text(vd_json_get(status, VD_SLICE("message")));
    if (!vd_slice_is(text, want))
        fail_msg("got %.*s\nwant %s", VD_FMT(text), want);
}

/* "manager operation subresource fields" a line, in the order of the list. */
static void assert_managers(struct vd_arena *a, const struct vd_json *object, const char *want)
{
    static const char *const parts[] = {"manager", "operation", "subresource"};
    struct vd_buf got = {0};
    VD_JSON_EACH (entry, vd_json_dig(object, "metadata", "managedFields", NULL)) {
        vd_buf_add_text(&got, got.n ? "\n" : "");
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
            struct vd_slice text = vd_json_text(vd_json_get(entry, vd_slice_of(parts[i])));
            vd_buf_addf(&got, "%.*s%s", VD_FMT(text), text.n ? " " : "");
        }
        assert_true(
            vd_slice_is(vd_json_text(vd_json_get(entry, VD_SLICE("fieldsType"))), "FieldsV1"));
        assert_int_equal(vd_json_text(vd_json_get(entry, VD_SLICE("time"))).n, 20);
        vd_json_write(&got, vd_json_get(entry, VD_SLICE("fieldsV1")));
    }
    if (strcmp(vd_buf_text(&got), backtick(a, want)) != 0)
        fail_msg("got\n%s\nwant\n%s", vd_buf_text(&got), want);
    vd_buf_release(&got);
}

static void applies_creates_and_conflicts(void **state)
{
    struct vd_arena *a = *state;
    struct vd_json *object = apply(a, THING "?fieldManager=m1",
                                   CONFIG("`spec`:{`color`:`red`,`parts`:[{`name`:`x`}]}"), 201);
    assert_managers(a, object,
                    "m1 Apply {`f:spec`:{`f:color`:{},`f:parts`:{`k:{\\`name\\`:\\`x\\`}`:{`.`:{},"
                    "`f:name`:{}}}}}");
    /* A default is nobody's. */
    assert_int_equal(vd_json_count(vd_json_get(object, VD_SLICE("spec"))), 3);
    object = apply(a, THING "?fieldManager=m2",
                   CONFIG("`spec`:{`color`:`blue`,`parts`:[{`name`:`y`}]}"), 409);
    assert_message(object, "Apply failed with 1 conflict: conflict with \"m1\": .spec.color");
    struct vd_json *cause = vd_json_first(vd_json_dig(object, "details", "causes", NULL));
    assert_true(
        vd_slice_is(vd_json_text(vd_json_get(cause, VD_SLICE("reason"))), "FieldManagerConflict"));
    assert_true(
        vd_slice_is(vd_json_text(vd_json_get(cause, VD_SLICE("message"))), "conflict with \"m1\""));
    assert_true(vd_slice_is(vd_json_text(vd_json_get(cause, VD_SLICE("field"))), ".spec.color"));
    assert_true(vd_slice_is(vd_json_text(vd_json_get(object, VD_SLICE("reason"))), "Conflict"));
    object = apply(a, THING "?fieldManager=m2&force=true",
                   CONFIG("`spec`:{`color`:`blue`,`parts`:[{`name`:`y`}]}"), 200);
    assert_managers(
        a, object,
        "m1 Apply {`f:spec`:{`f:parts`:{`k:{\\`name\\`:\\`x\\`}`:{`.`:{},`f:name`:{}}}}}"
        "\nm2 Apply {`f:spec`:{`f:color`:{},`f:parts`:{`k:{\\`name\\`:\\`y\\`}`:{`.`:{},"
        "`f:name`:{}}}}}");
    assert_int_equal(vd_json_count(vd_json_dig(object, "spec", "parts", NULL)), 2);
    /* YAML too; what is no longer applied goes. */
    object = apply(a, THING "?fieldManager=m2",
                   "apiVersion: example.com/v1\nkind: Thing\nspec: {color: blue}\n", 200);
    assert_int_equal(vd_json_count(vd_json_dig(object, "spec", "parts", NULL)), 1);
}

static void an_apply_that_changes_nothing_is_no_write(void **state)
{
    struct vd_arena *a = *state;
    const char *config = CONFIG("`spec`:{`color`:`red`}");
    struct vd_slice first = version_of(apply(a, THING "?fieldManager=m", config, 201));
    assert_true(vd_slice_eq(version_of(apply(a, THING "?fieldManager=m", config, 200)), first));
    /* Somebody who agrees changes the record, though not the object. */
    struct vd_json *object = apply(a, THING "?fieldManager=n", config, 200);
    assert_false(vd_slice_eq(version_of(object), first));
    assert_true(vd_slice_eq(version_of(merge(a, THING, "u/1", "{`spec`:{`color`:`red`}}")),
                            version_of(object)));
    /* The same members in another order. */
    object = get(a);
    struct vd_buf put = {0};
    vd_buf_addf(&put,
                "{`spec`:{`size`:1,`color`:`red`},`kind`:`Thing`,`apiVersion`:`example.com/v1`,"
                "`metadata`:{`resourceVersion`:`%.*s`,`name`:`t`}}",
                VD_FMT(version_of(object)));
    assert_true(vd_slice_eq(version_of(ask(a, "PUT", "json", THING, "u/1", vd_buf_text(&put), 200)),
                            version_of(object)));
    vd_buf_release(&put);
    /* A dry run applies and keeps nothing. */
    object = apply(a, THING "?fieldManager=m&dryRun=All&force=1", CONFIG("`spec`:{`color`:`b`}"),
                   200);
    assert_true(vd_slice_is(vd_json_text(vd_json_dig(object, "spec", "color", NULL)), "b"));
    assert_true(vd_slice_is(vd_json_text(vd_json_dig(get(a), "spec", "color", NULL)), "red"));
}

static void every_write_has_its_manager(void **state)
{
    struct vd_arena *a = *state;
    struct vd_json *object = ask(a, "POST", "json", THINGS, "kubectl/v1.32 (linux)",
                                 CONFIG("`spec`:{`color`:`red`},`status`:{`note`:`no`}"), 201);
    assert_managers(a, object, "kubectl Update {`f:spec`:{`.`:{},`f:color`:{},`f:size`:{}}}");
    object = merge(a, THING "?fieldManager=painter", "x/1", "{`spec`:{`color`:`blue`}}");
    assert_managers(a, object,
                    "kubectl Update {`f:spec`:{`.`:{},`f:size`:{}}}\n"
                    "painter Update {`f:spec`:{`f:color`:{}}}");
    object = merge(a, THING "/status", NULL, "{`status`:{`note`:`n`},`spec`:{`color`:`ignored`}}");
    assert_managers(a, object,
                    "kubectl Update {`f:spec`:{`.`:{},`f:size`:{}}}\n"
                    "painter Update {`f:spec`:{`f:color`:{}}}\n"
                    "unknown Update status {`f:status`:{`.`:{},`f:note`:{}}}");
    object = apply(a, THING "/status?fieldManager=s",
                   CONFIG("`spec`:{`color`:`ignored`},`status`:{`note`:`n`,`ok`:true}"), 200);
    assert_managers(a, object,
                    "s Apply status {`f:status`:{`f:note`:{},`f:ok`:{}}}\n"
                    "kubectl Update {`f:spec`:{`.`:{},`f:size`:{}}}\n"
                    "painter Update {`f:spec`:{`f:color`:{}}}\n"
                    "unknown Update status {`f:status`:{`.`:{},`f:note`:{}}}");
    object = apply(a, THING "/status?fieldManager=s2", CONFIG("`status`:{`note`:`m`}"), 409);
    assert_message(object, "Apply failed with 2 conflicts: conflicts with \"s\" with subresource "
                           "\"status\":\n- .status.note\nconflicts with \"unknown\" with "
                           "subresource \"status\" using example.com/v1:\n- .status.note");
    assert_true(vd_slice_is(vd_json_text(vd_json_dig(get(a), "spec", "color", NULL)), "blue"));
}

static void applies_to_scale(void **state)
{
    struct vd_arena *a = *state;
    const char *three = "{`apiVersion`:`autoscaling/v1`,`kind`:`Scale`,`metadata`:{`name`:`t`},"
                        "`spec`:{`replicas`:3}}";
    apply(a, THING "/scale?fieldManager=s", three, 404);
    ask(a, "POST", "json", THINGS, "u/1", CONFIG("`spec`:{`color`:`red`}"), 201);
    struct vd_json *answer = apply(a, THING "/scale?fieldManager=s", three, 409);
    assert_message(answer, "Apply failed with 1 conflict: conflict with \"u\" using "
                           "example.com/v1: .spec.size");
    answer = apply(a, THING "/scale?fieldManager=s&force=true", three, 200);
    assert_true(vd_slice_is(vd_json_text(vd_json_get(answer, VD_SLICE("kind"))), "Scale"));
    assert_managers(a, get(a),
                    "s Apply scale {`f:spec`:{`f:size`:{}}}\n"
                    "u Update {`f:spec`:{`.`:{},`f:color`:{}}}");
    merge(a, THING "/scale", "v/1", "{`spec`:{`replicas`:4}}");
    assert_managers(a, get(a),
                    "u Update {`f:spec`:{`.`:{},`f:color`:{}}}\n"
                    "v Update scale {`f:spec`:{`f:size`:{}}}");
    apply(a, THING "/scale?fieldManager=s", CONFIG("`spec`:{`size`:1}"), 400);
}

static void the_record_can_be_edited_and_wiped(void **state)
{
    struct vd_arena *a = *state;
    ask(a, "POST", "json", THINGS, "u/1", CONFIG("`spec`:{`color`:`red`}"), 201);
    struct vd_json *object = ask(
        a, "PATCH", "json-patch+json", THING, "u/1",
        "[{`op`:`replace`,`path`:`/metadata/managedFields`,`value`:[{`manager`:`x`,`operation`:"
        "`Apply`,`apiVersion`:`example.com/v1`,`fieldsType`:`FieldsV1`,`time`:"
        "`2020-01-01T00:00:00Z`,`fieldsV1`:{`f:spec`:{`f:size`:{},`f:color`:{}}}}]}]",
        200);
    assert_managers(a, object, "x Apply {`f:spec`:{`f:color`:{},`f:size`:{}}}");
    /* What cannot be read, or is not there, changes nothing. */
    object = merge(a, THING, "u/1", "{`metadata`:{`managedFields`:[{`manager`:`y`}]}}");
    assert_managers(a, object, "x Apply {`f:spec`:{`f:color`:{},`f:size`:{}}}");
    object = ask(a, "PATCH", "json-patch+json", THING, "u/1",
                 "[{`op`:`remove`,`path`:`/metadata/managedFields`}]", 200);
    assert_managers(a, object, "x Apply {`f:spec`:{`f:color`:{},`f:size`:{}}}");
    object = merge(a, THING "/status", "u/1", "{`metadata`:{`managedFields`:[]}}");
    assert_managers(a, object, "x Apply {`f:spec`:{`f:color`:{},`f:size`:{}}}");
    object = merge(a, THING, "u/1", "{`metadata`:{`managedFields`:[{}]}}");
    assert_managers(a, object, "");
    /* Without a record none is begun, but by an apply. */
    object = merge(a, THING, "u/1", "{`spec`:{`size`:2}}");
    assert_managers(a, object, "");
    object = apply(a, THING "?fieldManager=m", CONFIG("`spec`:{`size`:3}"), 409);
    assert_message(object, "Apply failed with 1 conflict: conflict with \"before-first-apply\" "
                           "using example.com/v1: .spec.size");
}

static void says_what_is_wrong(void **state)
{
    static const struct {
        const char *target, *body;
        unsigned status;
        const char *message;
    } cases[] = {
        {THING, CONFIG("`spec`:{}"), 422,
         "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for "
         "apply patch"},
        {THING "?fieldManager=m", "{" TYPE "", 400, NULL},
        {THING "?fieldManager=m", "[]", 400, NULL},
        {THING "?fieldManager=m", "{`kind`:`Thing`}", 400, "invalid object type: /, Kind=Thing"},
        {THING "?fieldManager=m", "{`apiVersion`:`example.com/v2`,`kind`:`Thing`}", 400,
         "invalid object type: example.com/v2, Kind=Thing"},
        {THING "?fieldManager=m",
         "{`apiVersion`:`example.com/v1`,`kind`:`Thing`,`metadata`:{`name`:`other`}}", 400,
         "the name of the object (other) does not match the name on the URL (t)"},
        {THING "?fieldManager=m",
         "{`apiVersion`:`example.com/v1`,`kind`:`Thing`,`metadata`:{`managedFields`:[]}}", 400,
         "metadata.managedFields must be nil"},
        {THING "?fieldManager=m", CONFIG("`spec`:{`colour`:`red`}"), 400,
         "failed to create typed patch object (/t; example.com/v1, Kind=Thing): .spec.colour: "
         "field "
         "not declared in schema"},
        {THING "?fieldManager=m&fieldValidation=Strict", CONFIG("`spec`:{`size`:1,`size`:2}"), 400,
         "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  "
         "line "
         "1: key \"size\" already set in map"},
        {THING "?fieldManager=m", CONFIG("`spec`:{`size`:`big`}"), 422, NULL},
        {THING "?fieldManager=m",
         "{`apiVersion`:`example.com/v1`,`kind`:`Thing`,`metadata`:{`uid`:`u`}}", 409,
         "Operation cannot be fulfilled on things.example.com \"t\": uid mismatch: the provided "
         "object specified uid u, and no existing object was found"},
        {THING "?fieldManager=m",
         "{`apiVersion`:`example.com/v1`,`kind`:`Thing`,`metadata`:{`resourceVersion`:`5`}}", 409,
         NULL},
        {THING "/status?fieldManager=m", CONFIG("`status`:{}"), 404, NULL},
    };
    struct vd_arena *a = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_json *answer = apply(a, cases[i].target, cases[i].body, cases[i].status);
        if (cases[i].message)
            assert_message(answer, cases[i].message);
    }
    may_create(false);
    apply(a, THING "?fieldManager=m", CONFIG("`spec`:{}"), 403);
    may_create(true);
    struct vd_slice version = version_of(
        apply(a, THING "?fieldManager=m", CONFIG("`spec`:{`size`:5}"), 201));
    may_create(false); /* it is there: no right to create is needed */
    apply(a, THING "?fieldManager=m", CONFIG("`spec`:{`size`:6}"), 200);
    struct vd_buf stale = {0};
    vd_buf_addf(&stale,
                "{`apiVersion`:`example.com/v1`,`kind`:`Thing`,`metadata`:"
                "{`resourceVersion`:`%.*s`},`spec`:{`size`:7}}",
                VD_FMT(version));
    apply(a, THING "?fieldManager=m", vd_buf_text(&stale), 409);
    vd_buf_release(&stale);
    ask(a, "PATCH", "merge-patch+json", THING "?force=true", "u/1", "{}", 422);
}

/* Where Kubernetes' library takes them out: docs/apply.md, Differences from Kubernetes. */
static void what_is_empty_stays(void **state)
{
    static const char one[] = THING "?fieldManager=one";
    struct vd_arena *a = *state;
    apply(a, one, CONFIG("`spec`:{`parts`:[{`name`:`a`}],`box`:{`lid`:`x`}}"), 201);
    struct vd_json *object = apply(a, one, CONFIG("`spec`:{`parts`:[],`box`:{}}"), 200);
    assert_json(vd_json_get(object, VD_SLICE("spec")), "{\"box\":{},\"size\":1,\"parts\":[]}");
    apply(a, one, CONFIG("`spec`:{`color`:`red`,`box`:{`lid`:`x`}}"), 200);
    merge(a, THING "?fieldManager=two", "x/1", "{`spec`:{`box`:{`tags`:[]},`parts`:null}}");
    object = apply(a, one, CONFIG("`spec`:{`color`:`red`}"), 200);
    assert_json(vd_json_get(object, VD_SLICE("spec")),
                "{\"box\":{\"tags\":[]},\"size\":1,\"color\":\"red\"}");
    assert_managers(a, object,
                    "one Apply {`f:spec`:{`f:color`:{}}}\n"
                    "two Update {`f:spec`:{`f:box`:{`f:tags`:{}}}}");
}

/* client-side apply, and then kubectl's first apply at the server */
static void kubectl_comes_from_client_side_apply(void **state)
{
    struct vd_arena *a = *state;
    ask(a, "POST", "json", THINGS "?fieldManager=kubectl-client-side-apply", "kubectl/1",
        "{`apiVersion`:`example.com/v1`,`kind`:`Thing`,`metadata`:{`name`:`t`,`annotations`:{"
        "`kubectl.kubernetes.io/last-applied-configuration`:`{\\`apiVersion\\`:\\`example.com/"
        "v1\\`,"
        "\\`spec\\`:{\\`color\\`:\\`red\\`}}`}},`spec`:{`color`:`red`,`size`:2}}",
        201);
    struct vd_json *object = apply(a, THING "?fieldManager=kubectl",
                                   CONFIG("`spec`:{`color`:`blue`,`size`:3}"), 409);
    assert_message(object, "Apply failed with 1 conflict: conflict with "
                           "\"kubectl-client-side-apply\" using example.com/v1: .spec.size");
    object = apply(a, THING "?fieldManager=kubectl", CONFIG("`spec`:{`color`:`blue`}"), 200);
    struct vd_slice last = vd_json_text(
        vd_json_dig(object, "metadata", "annotations",
                    "kubectl.kubernetes.io/last-applied-configuration", NULL));
    assert_true(last.p && memmem(last.p, last.n, "\"color\":\"blue\"", 14));
}

/* Defaults are filled in behind an apply: inside an atomic map they make a configuration
 * differ from what is stored, each time. */
static void a_default_in_an_atomic_map_is_no_change(void **state)
{
    struct vd_arena *a = *state;
    const char *config = JAR_OF("`shade`:{`hue`:`blue`}");
    struct vd_json *first = apply(a, JAR "?fieldManager=m", config, 201);
    assert_json(vd_json_dig(first, "spec", "shade", NULL), "{\"hue\":\"blue\",\"depth\":3}");
    for (int i = 0; i < 3; i++) {
        struct vd_json *again = apply(a, JAR "?fieldManager=m", config, 200);
        assert_true(vd_json_eq(again, first)); /* with its version and times */
    }
    struct vd_json *other = apply(a, JAR "?fieldManager=m", JAR_OF("`shade`:{`hue`:`red`}"), 200);
    assert_false(vd_slice_eq(version_of(other), version_of(first)));
}

static void nulls_in_a_configuration(void **state)
{
    static const char one[] = JAR "?fieldManager=one";
    struct vd_arena *a = *state;
    /* A null is a value where the schema allows it, and a default's place where it does not. */
    struct vd_json *object = apply(a, one, JAR_OF("`note`:null,`size`:null,`cover`:null"), 201);
    assert_json(vd_json_get(object, VD_SLICE("spec")), "{\"note\":null,\"size\":1,\"cover\":null}");
    assert_managers(a, object, "one Apply {`f:spec`:{`f:cover`:{},`f:note`:{},`f:size`:{}}}");
    struct vd_slice first = version_of(object);
    object = apply(a, one, JAR_OF("`note`:null,`size`:null,`cover`:null"), 200);
    assert_true(vd_slice_eq(version_of(object), first));
    /* Anywhere else it is refused. */
    object = apply(a, one, JAR_OF("`color`:null"), 422);
    assert_message(object, "Jar.example.com \"j\" is invalid: spec.color: Invalid value: \"null\": "
                           "spec.color in body must be of type string: \"null\"");
    object = apply(a, one, JAR_OF("`tags`:{`x`:null}"), 422);
    assert_message(object, "Jar.example.com \"j\" is invalid: spec.tags.x: Invalid value: "
                           "\"null\": spec.tags.x in body must be of type string: \"null\"");
    apply(a, one, "{" JAR_HEAD ",`spec`:null}", 422);
    /* Metadata is read into fields: there nulls are nothing, or an empty text. */
    object = apply(a, one,
                   "{`apiVersion`:`example.com/v1`,`kind`:`Jar`,`metadata`:{`name`:`j`,"
                   "`creationTimestamp`:null,`finalizers`:null,`labels`:{`x`:null}},`spec`:{}}",
                   200);
    assert_json(vd_json_dig(object, "metadata", "labels", NULL), "{\"x\":\"\"}");
    /* What the manager had in a map goes with it. */
    apply(a, one, JAR_OF("`cover`:{`cloth`:`silk`}"), 200);
    object = apply(a, one, JAR_OF("`cover`:null"), 200);
    assert_json(vd_json_dig(object, "spec", "cover", NULL), "null");
    /* Other writes are read by the schema, which takes such nulls out. */
    object = ask(a, "POST", "json", JARS, "u/1",
                 "{`apiVersion`:`example.com/v1`,`kind`:`Jar`,`metadata`:{`name`:`k`},`spec`:"
                 "{`color`:null,`tags`:{`x`:null}}}",
                 201);
    assert_json(vd_json_get(object, VD_SLICE("spec")),
                "{\"tags\":{},\"size\":1,\"note\":\"none\"}");
}

static void nulls_in_built_in_kinds(void **state)
{
    struct vd_arena *a = *state;
    const char *text = "{`apiVersion`:`v1`,`kind`:`ConfigMap`,`metadata`:{`name`:`c`,"
                       "`annotations`:{`n`:null}},`data`:{`a`:null,`b`:`x`},`immutable`:null}";
    ask(a, "POST", "json", "/api/v1/namespaces", "u/1", "{`metadata`:{`name`:`n`}}", 201);
    struct vd_json *object = ask(a, "POST", "json", "/api/v1/namespaces/n/configmaps", "u/1", text,
                                 201);
    assert_json(vd_json_get(object, VD_SLICE("data")), "{\"a\":\"\",\"b\":\"x\"}");
    assert_json(vd_json_dig(object, "metadata", "annotations", NULL), "{\"n\":\"\"}");
    object = apply(a, "/api/v1/namespaces/n/configmaps/c?fieldManager=m&force=1", text, 200);
    struct vd_slice first = version_of(object);
    object = apply(a, "/api/v1/namespaces/n/configmaps/c?fieldManager=m&force=1", text, 200);
    assert_true(vd_slice_eq(version_of(object), first));
    assert_json(vd_json_get(object, VD_SLICE("data")), "{\"a\":\"\",\"b\":\"x\"}");
}

/* What does not fit into the annotation any more takes it out, instead of being refused. */
static void a_large_object_forgets_client_side_apply(void **state)
{
    struct vd_arena *a = *state;
    struct vd_buf config = {0};
    ask(a, "POST", "json", JARS "?fieldManager=kubectl-client-side-apply", "kubectl/1",
        "{`apiVersion`:`example.com/v1`,`kind`:`Jar`,`metadata`:{`name`:`j`,`annotations`:{`kept`:"
        "`y`,`kubectl.kubernetes.io/last-applied-configuration`:`{\\`apiVersion\\`:"
        "\\`example.com/v1\\`,\\`spec\\`:{\\`color\\`:\\`red\\`}}`}},`spec`:{`color`:`red`}}",
        201);
    vd_buf_add_text(&config, "{" JAR_HEAD ",`spec`:{`color`:`");
    for (size_t i = 0; i < VD_ANNOTATIONS_LEN_MAX; i++)
        vd_buf_add_char(&config, 'x');
    vd_buf_add_text(&config, "`}}");
    struct vd_json *object = apply(a, JAR "?fieldManager=kubectl", vd_buf_text(&config), 200);
    assert_json(vd_json_dig(object, "metadata", "annotations", NULL), "{\"kept\":\"y\"}");
    vd_buf_release(&config);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, open_things, close_things)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(applies_creates_and_conflicts),
        TEST(an_apply_that_changes_nothing_is_no_write),
        TEST(every_write_has_its_manager),
        TEST(applies_to_scale),
        TEST(the_record_can_be_edited_and_wiped),
        TEST(says_what_is_wrong),
        TEST(kubectl_comes_from_client_side_apply),
        TEST(what_is_empty_stays),
        TEST(a_default_in_an_atomic_map_is_no_change),
        TEST(nulls_in_a_configuration),
        TEST(nulls_in_built_in_kinds),
        TEST(a_large_object_forgets_client_side_apply),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
