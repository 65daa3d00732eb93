/* fieldValidation over HTTP, for every kind of body and every mode; what else is warned of; and dry
 * runs, which say what a write would. */
#include "face_check.h"

#include "backtick.h"
#include "base/limits.h"
#include "json_check.h"
#include "widget_kinds.h"

#define KIND                                                                                       \
    CLUSTER_KIND_YAML("Jar", "jars")                                                               \
    "        properties:\n"                                                                        \
    "          spec:\n"                                                                            \
    "            type: object\n"                                                                   \
    "            properties:\n"                                                                    \
    "              color: {type: string}\n"                                                        \
    "              count: {type: integer, format: int32}\n"                                        \
    "          status: {type: object, properties: {note: {type: string}}}\n"

#define JARS      "/apis/example.com/v1/jars"
#define JAR       JARS "/j"
#define HEAD(n)   "`apiVersion`:`example.com/v1`,`kind`:`Jar`,`metadata`:{`name`:`" n "`}"
#define MANAGED   "fieldManager=m"
#define YAML_HEAD "apiVersion: example.com/v1\nkind: Jar\nmetadata:\n  name: cup\n"

static int open_jars(void **state)
{
    open_face(state);
    put_kind(face.env.kinds, KIND, false);
    return arena_setup(state);
}

static int close_jars(void **state)
{
    arena_teardown(state);
    return close_face(state);
}

/* Sends it; `type` is the Content-Type. */
static struct answer send_as(struct vd_arena *arena, const char *method, const char *type,
                             const char *target, const char *body)
{
    struct client c;
    struct answer a = {0};
    struct vd_buf request = {0};
    const char *text = backtick(arena, body);
    client_open(&c, &face.server);
    vd_buf_addf(&request,
                "%s %s HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: %zu\r\n\r\n%s",
                method, target, type, strlen(text), text);
    client_send(&c, vd_buf_text(&request));
    client_answer(&c, &a, false);
    vd_buf_release(&request);
    client_close(&c);
    return a;
}

/* The texts of all Warning fields, each in brackets. */
static void add_warnings(struct vd_buf *out, const struct answer *a)
{
    const char *at = vd_buf_text(&a->head), *end;
    while ((at = strcasestr(at, "\r\nwarning: 299 - \"")) != NULL) {
        at += strlen("\r\nwarning: 299 - \"");
        end = strstr(at, "\"\r\n");
        assert_non_null(end);
        vd_buf_add_char(out, '[');
        for (; at < end; at++)
            if (*at != '\\')
                vd_buf_add_char(out, *at);
        vd_buf_add_char(out, ']');
    }
}

static struct vd_json *document_of(struct vd_arena *arena, const struct answer *a)
{
    struct vd_json *document = NULL;
    assert_int_equal(vd_json_parse_copy(arena, vd_buf_slice(&a->body), NULL, &document, NULL), 0);
    return document;
}

/* The answer has this status; its message, or its warnings, are `says`. Gives the document. */
static struct vd_json *says(struct vd_arena *arena, const char *method, const char *type,
                            const char *target, const char *body, unsigned status, const char *says)
{
    struct answer a = send_as(arena, method, type, target, body);
    struct vd_buf got = {0};
    struct vd_json *document = document_of(arena, &a);
    if (a.status >= 400)
        vd_buf_add_slice(&got, vd_json_text(vd_json_get(document, VD_SLICE("message"))));
    else
        add_warnings(&got, &a);
    const char *want = backtick(arena, says);
    if (a.status != status || strcmp(vd_buf_text(&got), want) != 0)
        fail_msg("%s %s %s: %u: got\n%s\nwant\n%s", method, target, body, a.status,
                 vd_buf_text(&got), want);
    vd_buf_release(&got);
    answer_release(&a);
    return document;
}

#define STRICT  "Jar in version `v1` cannot be handled as a Jar: strict decoding error: "
#define PATCHED " `` is invalid: patch: Invalid value: "
#define JSON    "application/json"
#define YAML    "application/yaml"
#define MERGE   "application/merge-patch+json"
#define JSONP   "application/json-patch+json"
#define APPLY   "application/apply-patch+yaml"

/* Each body in each mode. The object that is patched is there. */
static void every_body_in_every_mode(void **state)
{
    static const struct {
        const char *method, *type, *target, *body;
        unsigned strict;
        const char *error; /* the end of the message, for Strict */
        const char *warns;
    } cases[] = {
        {"POST", JSON, JARS "?dryRun=All&", "{" HEAD("n") ",`spec`:{`color`:`a`,`color`:`b`}}", 400,
         STRICT "duplicate field `spec.color`", "[duplicate field `spec.color`]"},
        {"POST", JSON, JARS "?dryRun=All&", "{" HEAD("n") ",`status`:{`note`:`x`,`oops`:1}}", 400,
         STRICT "unknown field `status.oops`", "[unknown field `status.oops`]"},
        {"POST", YAML, JARS "?dryRun=All&",
         YAML_HEAD "spec:\n  color: a\n  color: b\n  oops: 1\n  color: c\n", 400,
         STRICT "yaml: unmarshal errors:\n  line 7: key `color` already set in map\n  line 9: key "
                "`color` already set in map, unknown field `spec.oops`",
         "[line 7: key `color` already set in map][line 9: key `color` already set in map][unknown "
         "field `spec.oops`]"},
        {"POST", YAML, JARS "?dryRun=All&", YAML_HEAD "spec:\n  color: a\nspec:\n  color: b\n", 400,
         STRICT "yaml: unmarshal errors:\n  line 8: key `spec` already set in map",
         "[line 8: key `spec` already set in map]"},
        {"PATCH", MERGE, JAR "?dryRun=All&", "{`spec`:{`color`:`a`,`color`:`b`,`oops`:1}}", 422,
         ": strict decoding error: duplicate field `spec.color`, unknown field `spec.oops`",
         "[duplicate field `spec.color`][unknown field `spec.oops`]"},
        {"PATCH", JSONP, JAR "?dryRun=All&",
         "[{`op`:`add`,`path`:`/spec/color`,`path`:`/spec/color`,`value`:`b`,`foo`:1}]", 422,
         ": strict decoding error: json patch duplicate field `[0].path`, json patch unknown field "
         "`[0].foo`",
         "[json patch duplicate field `[0].path`][json patch unknown field `[0].foo`]"},
        {"PATCH", APPLY, JAR "?dryRun=All&" MANAGED "&force=1&",
         "{" HEAD("j") ",\n`spec`:{`color`:`a`,\n`color`:`b`}}", 400,
         "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  "
         "line 3: key `color` already set in map",
         "[line 3: key `color` already set in map]"},
        {"PATCH", APPLY, JAR "?dryRun=All&" MANAGED "&force=1&",
         "apiVersion: example.com/v1\nkind: Jar\nspec:\n  color: a\n  color: b\n", 400,
         "error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  "
         "line 5: key `color` already set in map",
         "[line 5: key `color` already set in map]"},
    };
    struct vd_arena *a = *state;
    says(a, "POST", JSON, JARS, "{" HEAD("j") ",`spec`:{`color`:`r`}}", 201, "");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char target[256];
        bool creates = cases[i].method[1] == 'O';
        snprintf(target, sizeof target, "%sfieldValidation=Strict", cases[i].target);
        struct answer answer = send_as(a, cases[i].method, cases[i].type, target, cases[i].body);
        struct vd_slice message = vd_json_text(
            vd_json_get(document_of(a, &answer), VD_SLICE("message")));
        struct vd_slice end = vd_slice_of(backtick(a, cases[i].error));
        if (answer.status != cases[i].strict || !vd_slice_ends_with(message, end) ||
            (cases[i].strict == 422 &&
             !vd_slice_starts_with(message, vd_slice_of(backtick(a, PATCHED)))))
            fail_msg("%s: %u: %.*s", cases[i].body, answer.status, VD_FMT(message));
        answer_release(&answer);
        snprintf(target, sizeof target, "%sfieldValidation=Warn", cases[i].target);
        says(a, cases[i].method, cases[i].type, target, cases[i].body, creates ? 201 : 200,
             cases[i].warns);
        says(a, cases[i].method, cases[i].type, cases[i].target, cases[i].body, creates ? 201 : 200,
             cases[i].warns);
        snprintf(target, sizeof target, "%sfieldValidation=Ignore", cases[i].target);
        says(a, cases[i].method, cases[i].type, target, cases[i].body, creates ? 201 : 200, "");
    }
}

static void the_last_of_repeated_keys_counts(void **state)
{
    struct vd_arena *a = *state;
    struct vd_json *object = says(a, "POST", YAML, JARS "?fieldValidation=Ignore",
                                  YAML_HEAD "spec:\n  color: a\n  color: b\n", 201, "");
    assert_json(vd_json_get(object, VD_SLICE("spec")), "{\"color\":\"b\"}");
    object = says(a, "POST", "", JARS, "{" HEAD("e") "}", 201,
                  ""); /* no Content-Type to speak of */
    assert_null(vd_json_get(object, VD_SLICE("status")));
}

static void patches_that_nobody_can_read_are_400(void **state)
{
    static const struct {
        const char *type, *open, *close;
    } cases[] = {
        {MERGE, "{`spec`:", "}"},
        {JSONP, "[{`op`:`add`,`path`:`/spec/color`,`value`:", "}]"},
    };
    struct vd_arena *a = *state;
    says(a, "POST", JSON, JARS, "{" HEAD("j") "}", 201, "");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_buf body = {0};
        vd_buf_add_text(&body, cases[i].open);
        for (int n = 0; n < VD_JSON_DEPTH_MAX; n++)
            vd_buf_add_text(&body, "[");
        for (int n = 0; n < VD_JSON_DEPTH_MAX; n++)
            vd_buf_add_text(&body, "]");
        vd_buf_add_text(&body, cases[i].close);
        struct answer answer = send_as(a, "PATCH", cases[i].type, JAR, vd_buf_text(&body));
        assert_int_equal(answer.status, 400);
        answer_release(&answer);
        vd_buf_release(&body);
    }
}

#define OWNER(uid, more)                                                                           \
    "{`apiVersion`:`/v1`,`kind`:`ConfigMap`,`name`:`c`,`uid`:`" uid "`" more "}"
#define OWNED(n, owners)                                                                           \
    "{`apiVersion`:`example.com/v1`,`kind`:`Jar`,`metadata`:{`name`:`" n                           \
    "`,`ownerReferences`:[" owners "]}}"

static void owners_that_are_repeated_go(void **state)
{
    static const char tail[] = "; API server dedups owner references in 1.20+, and may reject such "
                               "requests as early as 1.24; please fix your requests; duplicate "
                               "UID(s) observed: ";
    struct vd_arena *a = *state;
    char text[512];
    snprintf(text, sizeof text, "[.metadata.ownerReferences contains duplicate entries%su, u]",
             tail);
    const char *twice = OWNED("o", OWNER("u", "") "," OWNER("v", "") "," OWNER("u", "") "," OWNER(
                                       "u", ",`controller`:true") "," OWNER("u", ""));
    struct vd_json *object = says(a, "POST", JSON, JARS "?fieldValidation=Strict", twice, 201,
                                  text);
    assert_int_equal(vd_json_count(vd_json_dig(object, "metadata", "ownerReferences", NULL)), 3);
    snprintf(text, sizeof text,
             "[.metadata.ownerReferences contains duplicate entries after mutating admission "
             "happens%su]",
             tail);
    object = says(a, "PATCH", MERGE, JARS "/o",
                  "{`metadata`:{`ownerReferences`:[" OWNER("u", "") "," OWNER("u", "") "]}}", 200,
                  text);
    assert_int_equal(vd_json_count(vd_json_dig(object, "metadata", "ownerReferences", NULL)), 1);
}

static void owners_have_a_version(void **state)
{
    static const char *const bad[] = {"", "/", "apps/", "a/b/c"};
    struct vd_arena *a = *state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char body[512], want[512];
        snprintf(body, sizeof body,
                 OWNED("o", "{`apiVersion`:`%s`,`kind`:`K`,`name`:`c`,`uid`:`u`}"), bad[i]);
        snprintf(want, sizeof want,
                 "Jar.example.com `o` is invalid: metadata.ownerReferences.apiVersion: Invalid "
                 "value: `%s`: version must not be empty",
                 bad[i]);
        says(a, "POST", JSON, JARS, body, 422, want);
    }
}

static void finalizers_of_nobody_are_warned_of(void **state)
{
    struct vd_arena *a = *state;
    says(a, "POST", JSON, JARS "?fieldValidation=Strict",
         "{`apiVersion`:`example.com/v1`,`kind`:`Jar`,`metadata`:{`name`:`j`,`finalizers`:[`mine`,"
         "`orphan`,`example.com/held`]}}",
         201,
         "[metadata.finalizers: `mine`: prefer a domain-qualified finalizer name including a path "
         "(/) to avoid accidental conflicts with other finalizer writers]");
    says(a, "PATCH", MERGE, JAR, "{`metadata`:{`labels`:{`a`:`b`}}}", 200, "");
    says(a, "PATCH", JSONP, JAR, "[{`op`:`add`,`path`:`/metadata/finalizers/-`,`value`:`x.y`}]",
         200,
         "[metadata.finalizers: `x.y`: prefer a domain-qualified finalizer name including a path "
         "(/) to avoid accidental conflicts with other finalizer writers]");
    says(a, "POST", JSON, "/api/v1/namespaces",
         "{`metadata`:{`name`:`n`,`finalizers`:[`example.com/x`]}}", 201, "");
}

/* The kind of a custom object is checked with its other fields, its version before. */
static void an_object_of_another_kind(void **state)
{
    struct vd_arena *a = *state;
    says(a, "POST", JSON, JARS,
         "{`apiVersion`:`example.com/v1`,`kind`:`Cup`,`metadata`:{`name`:`c`}}", 422,
         "Cup.example.com `c` is invalid: kind: Invalid value: `Cup`: must be Jar");
    says(a, "POST", JSON, JARS,
         "{`apiVersion`:`example.com/v2`,`kind`:`Jar`,`metadata`:{`name`:`c`}}", 400,
         "the API version in the data (example.com/v2) does not match the expected API version "
         "(example.com/v1)");
    says(a, "POST", JSON, JARS, "{" HEAD("j") "}", 201, "");
    says(a, "PATCH", MERGE, JAR, "{`kind`:`Cup`}", 422,
         "Cup.example.com `j` is invalid: kind: Invalid value: `Cup`: must be Jar");
    says(a, "PATCH", MERGE, JAR, "{`apiVersion`:`example.com/v2`}", 422,
         "Jar.example.com `j` is invalid: apiVersion: Invalid value: `example.com/v2`: must be "
         "example.com/v1");
    says(a, "PATCH", APPLY, JAR "?" MANAGED,
         "{`apiVersion`:`example.com/v1`,`kind`:`Cup`,`metadata`:{`name`:`j`}}", 400,
         "invalid object type: example.com/v1, Kind=Cup");
}

static void a_dry_run_says_what_a_write_would(void **state)
{
    struct vd_arena *a = *state;
    struct vd_json *object = says(a, "POST", JSON, JARS "?dryRun=All", "{" HEAD("j") "}", 201, "");
    assert_null(vd_json_dig(object, "metadata", "resourceVersion", NULL));
    assert_non_null(vd_json_dig(object, "metadata", "uid", NULL));
    object = says(a, "PATCH", APPLY, JAR "?dryRun=All&" MANAGED, "{" HEAD("j") "}", 201, "");
    assert_null(vd_json_dig(object, "metadata", "resourceVersion", NULL));
    object = says(a, "POST", JSON, JARS, "{" HEAD("j") "}", 201, "");
    struct vd_slice version = vd_json_text(
        vd_json_dig(object, "metadata", "resourceVersion", NULL));
    says(a, "POST", JSON, JARS "?dryRun=All", "{" HEAD("j") "}", 409,
         "jars.example.com `j` already exists");
    says(a, "POST", JSON, JARS, "{" HEAD("other") "}", 201, "");
    object = says(a, "PATCH", MERGE, JAR "?dryRun=All", "{`spec`:{`color`:`x`}}", 200, "");
    assert_true(vd_slice_eq(vd_json_text(vd_json_dig(object, "metadata", "resourceVersion", NULL)),
                            version));
}

/* What is stored may be larger than what was sent: by its metadata and its managers. */
static void a_dry_run_knows_what_is_too_large(void **state)
{
    struct vd_arena *a = *state;
    struct vd_buf body = {0};
    vd_buf_add_text(&body, "{" HEAD("large") ",`spec`:{`color`:`");
    while (body.n < VD_BODY_LEN_MAX - 3)
        vd_buf_add_char(&body, 'x');
    vd_buf_add_text(&body, "`}}");
    struct answer real = send_as(a, "POST", JSON, JARS, vd_buf_text(&body));
    struct answer dry = send_as(a, "POST", JSON, JARS "?dryRun=All", vd_buf_text(&body));
    assert_int_equal(real.status, 413);
    assert_int_equal(dry.status, 413);
    assert_string_equal(vd_buf_text(&dry.body), vd_buf_text(&real.body));
    answer_release(&real);
    answer_release(&dry);
    vd_buf_release(&body);
}

/* ---- names ---- */

static _Atomic unsigned names_made;
static unsigned names_taken; /* so many of them are "web-taken" */

static struct vd_slice make_name(struct vd_arena *a, struct vd_slice base)
{
    struct vd_buf name = {0};
    vd_buf_addf(&name, "%.*s%s", VD_FMT(base),
                atomic_fetch_add(&names_made, 1) < names_taken ? "taken" : "free");
    struct vd_slice text = vd_arena_copy(a, vd_buf_slice(&name));
    vd_buf_release(&name);
    return text;
}

static void a_name_that_is_taken_is_made_again(void **state)
{
    static const char body[] = "{`apiVersion`:`example.com/v1`,`kind`:`Jar`,`metadata`:{"
                               "`generateName`:`web-`}}";
    static const char *const targets[] = {JARS "?dryRun=All", JARS};
    struct vd_arena *a = *state;
    face.env.make_name = make_name;
    says(a, "POST", JSON, JARS, "{" HEAD("web-taken") "}", 201, "");
    for (size_t i = 0; i < 2; i++) {
        names_made = 0;
        names_taken = 7;
        struct vd_json *object = says(a, "POST", JSON, targets[i], body, 201, "");
        assert_true(
            vd_slice_is(vd_json_text(vd_json_dig(object, "metadata", "name", NULL)), "web-free"));
        names_made = 0;
        names_taken = 8;
        says(a, "POST", JSON, targets[i], body, 409,
             "jars.example.com `web-taken` already exists, the server was not able to generate a "
             "unique name for the object");
        assert_int_equal(names_made, 8);
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, open_jars, close_jars)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_body_in_every_mode),
        TEST(the_last_of_repeated_keys_counts),
        TEST(patches_that_nobody_can_read_are_400),
        TEST(owners_that_are_repeated_go),
        TEST(owners_have_a_version),
        TEST(finalizers_of_nobody_are_warned_of),
        TEST(an_object_of_another_kind),
        TEST(a_dry_run_says_what_a_write_would),
        TEST(a_dry_run_knows_what_is_too_large),
        TEST(a_name_that_is_taken_is_made_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
