/*
 * src/kube/status/status.c and status_cause.c: bodies byte by byte, as kube-apiserver
 * was seen to send them.
 */
#include "kube/status/status.h"

#include "base/limits.h"
#include "base/utf8.h"
#include "json_check.h"

#define HEAD "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","

static const struct vd_status_target map = {{"", 0}, {"configmaps", 10}, {"a", 1}};
static const struct vd_status_target widget = {{"example.com", 11}, {"widgets", 7}, {"w1", 2}};

static void check_body(struct vd_status status, const char *want)
{
    struct vd_buf got = {0};
    vd_status_write(&got, &status);
    assert_slice(vd_buf_slice(&got), want);
    vd_buf_release(&got);
}

/* The code of the answer, in the body too. */
#define assert_status(status, want_code, want)                                                     \
    do {                                                                                           \
        struct vd_status status_ = (status);                                                       \
        assert_int_equal(status_.code, want_code);                                                 \
        check_body(status_, HEAD want ",\"code\":" #want_code "}");                                \
    } while (0)

static void answers_about_an_object(void **state)
{
    struct vd_arena *a = *state;
    struct vd_status_target z = {VD_SLICE(""), VD_SLICE("configmaps"), VD_SLICE("zzz")};
    assert_status(vd_status_not_found(a, &z), 404,
                  "\"message\":\"configmaps \\\"zzz\\\" not found\",\"reason\":\"NotFound\","
                  "\"details\":{\"name\":\"zzz\",\"kind\":\"configmaps\"}");
    assert_status(vd_status_not_found(a, &widget), 404,
                  "\"message\":\"widgets.example.com \\\"w1\\\" not found\","
                  "\"reason\":\"NotFound\",\"details\":{\"name\":\"w1\",\"group\":\"example.com\","
                  "\"kind\":\"widgets\"}");
    assert_status(vd_status_already_exists(a, &map, false), 409,
                  "\"message\":\"configmaps \\\"a\\\" already exists\","
                  "\"reason\":\"AlreadyExists\",\"details\":{\"name\":\"a\",\"kind\":"
                  "\"configmaps\"}");
    assert_status(vd_status_already_exists(a, &map, true), 409,
                  "\"message\":\"object is being deleted: configmaps \\\"a\\\" already exists\","
                  "\"reason\":\"AlreadyExists\",\"details\":{\"name\":\"a\",\"kind\":"
                  "\"configmaps\"}");
    assert_status(vd_status_name_not_generated(a, &map), 409,
                  "\"message\":\"configmaps \\\"a\\\" already exists, the server was not able to "
                  "generate a unique name for the object\",\"reason\":\"AlreadyExists\","
                  "\"details\":{\"name\":\"a\",\"kind\":\"configmaps\",\"retryAfterSeconds\":1}");
}

static void conflicts(void **state)
{
    struct vd_arena *a = *state;
    struct vd_status_target kind = {VD_SLICE(""), VD_SLICE("ConfigMap"), VD_SLICE("a")};
#define MODIFIED                                                                                   \
    "\"message\":\"Operation cannot be fulfilled on widgets.example.com \\\"w1\\\": "              \
    "the object has been modified; please apply your changes to the latest version "               \
    "and try again\",\"reason\":\"Conflict\",\"details\":{\"name\":\"w1\",\"group\":"              \
    "\"example.com\",\"kind\":\"widgets\""
    assert_status(vd_status_modified(a, &widget, 0), 409, MODIFIED "}");
    assert_status(vd_status_modified(a, &widget, UINT64_MAX), 409,
                  MODIFIED ",\"causes\":[{\"reason\":\"CurrentResourceVersion\",\"message\":"
                           "\"18446744073709551615\",\"field\":\"metadata.resourceVersion\"}]}");
    assert_status(vd_status_uid_differs(a, &map, VD_SLICE("/registry/configmaps/default/a"),
                                        VD_SLICE("x"), VD_SLICE("y")),
                  409,
                  "\"message\":\"Operation cannot be fulfilled on configmaps \\\"a\\\": "
                  "StorageError: invalid object, Code: 4, Key: /registry/configmaps/default/a, "
                  "ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in "
                  "precondition: x, UID in object meta: y\",\"reason\":\"Conflict\",\"details\":{"
                  "\"name\":\"a\",\"kind\":\"configmaps\"}");
    assert_status(vd_status_uid_precondition(a, &kind, VD_SLICE("U"), VD_SLICE("V")), 409,
                  "\"message\":\"Operation cannot be fulfilled on ConfigMap \\\"a\\\": the UID in "
                  "the precondition (U) does not match the UID in record (V). The object might "
                  "have been deleted and then recreated\",\"reason\":\"Conflict\",\"details\":{"
                  "\"name\":\"a\",\"kind\":\"ConfigMap\"}");
    assert_status(vd_status_version_precondition(a, &kind, VD_SLICE("1"), VD_SLICE("196")), 409,
                  "\"message\":\"Operation cannot be fulfilled on ConfigMap \\\"a\\\": the "
                  "ResourceVersion in the precondition (1) does not match the ResourceVersion in "
                  "record (196). The object might have been modified\",\"reason\":\"Conflict\","
                  "\"details\":{\"name\":\"a\",\"kind\":\"ConfigMap\"}");
    struct vd_status_cause cause = {VD_SLICE("FieldManagerConflict"),
                                    VD_SLICE("conflict with \"m1\""), VD_SLICE(".spec.color")};
    assert_status(vd_status_apply_conflict(a,
                                           VD_SLICE("Apply failed with 1 conflict: conflict with "
                                                    "\"m1\": .spec.color"),
                                           &cause, 1),
                  409,
                  "\"message\":\"Apply failed with 1 conflict: conflict with \\\"m1\\\": "
                  ".spec.color\",\"reason\":\"Conflict\",\"details\":{\"causes\":[{\"reason\":"
                  "\"FieldManagerConflict\",\"message\":\"conflict with \\\"m1\\\"\",\"field\":"
                  "\".spec.color\"}]}");
}

static void invalid_objects(void **state)
{
    struct vd_arena *a = *state;
    assert_status(vd_status_version_required(a, &widget), 422,
                  "\"message\":\"widgets.example.com \\\"w1\\\" is invalid: "
                  "metadata.resourceVersion: Invalid value: 0x0: must be specified for an "
                  "update\",\"reason\":\"Invalid\",\"details\":{\"name\":\"w1\",\"group\":"
                  "\"example.com\",\"kind\":\"widgets\",\"causes\":[{\"reason\":"
                  "\"FieldValueInvalid\",\"message\":\"Invalid value: 0x0: must be specified for "
                  "an update\",\"field\":\"metadata.resourceVersion\"}]}");
    struct vd_status_cause causes[] = {
        vd_cause_required(a, VD_SLICE("spec.color"), VD_SLICE("")),
        vd_cause_invalid(a, VD_SLICE("spec.size"), json_of(a, "70000"),
                         VD_SLICE("must be between 1 and 65535")),
        vd_cause_required(a, VD_SLICE("spec.color"), VD_SLICE("")),
    };
    assert_status(vd_status_invalid(a, &widget, causes, 3), 422,
                  "\"message\":\"widgets.example.com \\\"w1\\\" is invalid: [spec.color: Required "
                  "value, spec.size: Invalid value: 70000: must be between 1 and 65535]\","
                  "\"reason\":\"Invalid\",\"details\":{\"name\":\"w1\",\"group\":\"example.com\","
                  "\"kind\":\"widgets\",\"causes\":[{\"reason\":\"FieldValueRequired\",\"message\":"
                  "\"Required value\",\"field\":\"spec.color\"},{\"reason\":\"FieldValueInvalid\","
                  "\"message\":\"Invalid value: 70000: must be between 1 and 65535\",\"field\":"
                  "\"spec.size\"},{\"reason\":\"FieldValueRequired\",\"message\":\"Required "
                  "value\",\"field\":\"spec.color\"}]}");
    assert_status(vd_status_invalid(a, &map, NULL, 0), 422,
                  "\"message\":\"configmaps \\\"a\\\" is invalid\",\"reason\":\"Invalid\","
                  "\"details\":{\"name\":\"a\",\"kind\":\"configmaps\"}");
    assert_status(vd_status_unprocessable(a, VD_SLICE("test failed")), 422,
                  "\"message\":\"the server rejected our request due to an error in our "
                  "request\",\"reason\":\"Invalid\",\"details\":{\"causes\":[{\"message\":\"test "
                  "failed\"}]}");
    struct vd_status_cause many[VD_STATUS_CAUSES_MAX + 1];
    for (size_t i = 0; i <= VD_STATUS_CAUSES_MAX; i++)
        many[i] = causes[0];
    assert_int_equal(vd_status_invalid(a, &map, many, VD_STATUS_CAUSES_MAX + 1).causes_n,
                     VD_STATUS_CAUSES_MAX);
}

static void options_of_lists_and_watches(void **state)
{
    struct vd_arena *a = *state;
    static const struct vd_slice list_matches[] = {{"Exact", 5}, {"NotOlderThan", 12}, {"", 0}};
    struct vd_slice field = VD_SLICE("resourceVersionMatch");
    struct vd_status_cause cause = vd_cause_forbidden(
        a, field, VD_SLICE("resourceVersionMatch is forbidden unless resourceVersion is provided"));
    assert_status(vd_status_invalid_options(a, &cause, 1), 422,
                  "\"message\":\"ListOptions.meta.k8s.io \\\"\\\" is invalid: "
                  "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless "
                  "resourceVersion is provided\",\"reason\":\"Invalid\",\"details\":{\"group\":"
                  "\"meta.k8s.io\",\"kind\":\"ListOptions\",\"causes\":[{\"reason\":"
                  "\"FieldValueForbidden\",\"message\":\"Forbidden: resourceVersionMatch is "
                  "forbidden unless resourceVersion is provided\",\"field\":"
                  "\"resourceVersionMatch\"}]}");
    cause = vd_cause_unsupported(a, field, VD_SLICE("Foo"), list_matches, 3);
    assert_slice(cause.message,
                 "Unsupported value: \"Foo\": supported values: \"Exact\", \"NotOlderThan\", \"\"");
    assert_slice(cause.reason, "FieldValueNotSupported");
    cause = vd_cause_unsupported(a, field, VD_SLICE("Exact"), &list_matches[1], 1);
    assert_slice(cause.message, "Unsupported value: \"Exact\": supported values: \"NotOlderThan\"");
    cause = (struct vd_status_cause){.message = VD_SLICE("a\xff\"b")}; /* of a client */
    assert_status(vd_status_invalid_options(a, &cause, 1), 422,
                  "\"message\":\"ListOptions.meta.k8s.io \\\"\\\" is invalid: a\xef\xbf\xbd\\\"b\","
                  "\"reason\":\"Invalid\",\"details\":{\"group\":\"meta.k8s.io\",\"kind\":"
                  "\"ListOptions\",\"causes\":[{\"message\":\"a\xef\xbf\xbd\\\"b\"}]}");
}

static void causes_in_kubernetes_words(void **state)
{
    struct vd_arena *a = *state;
    struct vd_slice f = VD_SLICE("f");
    const struct {
        struct vd_status_cause cause;
        const char *reason, *message;
    } cases[] = {
        {vd_cause_required(a, f, VD_SLICE("a name")), "FieldValueRequired",
         "Required value: a name"},
        {vd_cause_invalid(a, f, NULL, VD_SLICE("no")), "FieldValueInvalid",
         "Invalid value: null: no"},
        {vd_cause_invalid(a, f, json_of(a, "\"x\\\"y\""), VD_SLICE("")), "FieldValueInvalid",
         "Invalid value: \"x\\\"y\""},
        {vd_cause_invalid_text(a, f, VD_SLICE("A_b\n"), VD_SLICE("no")), "FieldValueInvalid",
         "Invalid value: \"A_b\\n\": no"},
        {vd_cause_type_invalid(a, f, json_of(a, "{\"a\":1}"), VD_SLICE("must be a string")),
         "FieldValueTypeInvalid", "Invalid value: {\"a\":1}: must be a string"},
        {vd_cause_duplicate(a, f, json_of(a, "8")), "FieldValueDuplicate", "Duplicate value: 8"},
        {vd_cause_too_long(a, f, 63), "FieldValueTooLong",
         "Too long: may not be more than 63 bytes"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_slice(cases[i].cause.reason, cases[i].reason);
        assert_slice(cases[i].cause.message, cases[i].message);
        assert_slice(cases[i].cause.field, "f");
    }
}

static void answers_about_a_request(void **state)
{
    struct vd_arena *a = *state;
    assert_status(vd_status_bad_request(a, VD_SLICE("strconv.ParseInt: parsing \"abc\": invalid "
                                                    "syntax")),
                  400,
                  "\"message\":\"strconv.ParseInt: parsing \\\"abc\\\": invalid syntax\","
                  "\"reason\":\"BadRequest\"");
    assert_status(vd_status_name_differs(a, VD_SLICE("nope"), VD_SLICE("a")), 400,
                  "\"message\":\"the name of the object (nope) does not match the name on the URL "
                  "(a)\",\"reason\":\"BadRequest\"");
    assert_status(vd_status_namespace_differs(a), 400,
                  "\"message\":\"the namespace of the provided object does not match the "
                  "namespace sent on the request\",\"reason\":\"BadRequest\"");
    assert_status(
        vd_status_version_differs(a, VD_SLICE("example.com/v2"), VD_SLICE("example.com/v1")), 400,
        "\"message\":\"the API version in the data (example.com/v2) does not match the expected "
        "API version (example.com/v1)\",\"reason\":\"BadRequest\"");
    assert_status(vd_status_unauthorized(a, VD_SLICE("")), 401,
                  "\"message\":\"Unauthorized\",\"reason\":\"Unauthorized\"");
    assert_status(vd_status_method_not_allowed(a, &widget, VD_SLICE("delete")), 405,
                  "\"message\":\"delete is not supported on resources of kind "
                  "\\\"widgets.example.com\\\"\",\"reason\":\"MethodNotAllowed\",\"details\":{"
                  "\"group\":\"example.com\",\"kind\":\"widgets\"}");
    assert_status(vd_status_not_acceptable(a, VD_SLICE("application/json, application/yaml, "
                                                       "application/vnd.kubernetes.protobuf")),
                  406,
                  "\"message\":\"only the following media types are accepted: application/json, "
                  "application/yaml, application/vnd.kubernetes.protobuf\",\"reason\":"
                  "\"NotAcceptable\"");
    assert_status(
        vd_status_unsupported_media_type(
            a, VD_SLICE("application/json-patch+json, application/merge-patch+json, "
                        "application/apply-patch+yaml")),
        415,
        "\"message\":\"the body of the request was in an unknown format - accepted media types "
        "include: application/json-patch+json, application/merge-patch+json, "
        "application/apply-patch+yaml\",\"reason\":\"UnsupportedMediaType\"");
    assert_status(vd_status_too_large(a, VD_SLICE("limit is 3145728")), 413,
                  "\"message\":\"Request entity too large: limit is 3145728\",\"reason\":"
                  "\"RequestEntityTooLarge\"");
    assert_status(
        vd_status_precondition_required(a, &widget), 428,
        "\"message\":\"a write to the status of widgets.example.com \\\"w1\\\" needs "
        "metadata.resourceVersion: send the one of the object that the status was made "
        "from\",\"reason\":\"PreconditionRequired\",\"details\":{\"name\":\"w1\",\"group\":"
        "\"example.com\",\"kind\":\"widgets\",\"causes\":[{\"reason\":"
        "\"FieldValueRequired\",\"message\":\"Required value\",\"field\":"
        "\"metadata.resourceVersion\"}]}");
    assert_status(vd_status_too_many_requests(a, VD_SLICE("storage is (re)initializing"), 1), 429,
                  "\"message\":\"storage is (re)initializing\",\"reason\":\"TooManyRequests\","
                  "\"details\":{\"retryAfterSeconds\":1}");
}

#define OWNED "\"message\":\"widgets.example.com \\\"w1\\\" is forbidden: "
#define OF_WIDGET                                                                                  \
    "\",\"reason\":\"SpecOwnedByGit\",\"details\":{\"name\":\"w1\",\"group\":\"example.com\","     \
    "\"kind\":\"widgets\""

/* Of a kind that Git owns: where to push. */
static void what_belongs_to_git(void **state)
{
#define KIND OWNED "the spec of this kind belongs to Git: "
    struct vd_arena *a = *state;
    struct vd_git_claim claim = {.name = widget.name};
    assert_status(vd_status_owned_by_git(a, &widget, &claim, false), 403,
                  KIND "push it to a repository whose spec.scope names it" OF_WIDGET "}");
    assert_status(vd_status_owned_by_git(a, &widget, &claim, true), 403,
                  KIND "push it to a repository of its namespace" OF_WIDGET "}");
    claim.may_list = true;
    assert_status(vd_status_owned_by_git(a, &widget, &claim, true), 403,
                  KIND "create a Repository (git.vedette.dev/v1) in its namespace, and push it "
                       "there" OF_WIDGET "}");
    claim.repositories = VD_SLICE("a");
    assert_status(vd_status_owned_by_git(a, &widget, &claim, true), 403,
                  KIND "push it to the repository of its namespace: a" OF_WIDGET "}");
    claim.repositories = VD_SLICE("a, b");
    assert_status(vd_status_owned_by_git(a, &widget, &claim, true), 403,
                  KIND "push it to one of the repositories of its namespace: a, b" OF_WIDGET "}");
    claim.override = VD_SLICE("why");
    assert_status(
        vd_status_owned_by_git(a, &widget, &claim, true), 403,
        KIND "push it to one of the repositories of its namespace: a, b; the annotation "
             "vedette.dev/override needs the verb override on widgets.example.com" OF_WIDGET "}");
#undef KIND
}

static void an_object_that_belongs_to_git(void **state)
{
    struct vd_arena *a = *state;
    struct vd_git_claim claim = {.name = widget.name,
                                 .repository = VD_SLICE("shop/catalog"),
                                 .branch = VD_SLICE("main"),
                                 .path = VD_SLICE("a b.md"),
                                 .commit = VD_SLICE("0a1b")};
#define OBJECT                                                                                     \
    OWNED "its spec belongs to Git: repository shop/catalog, branch main, path a b.md, commit "    \
          "0a1b: push to change it"
#define CAUSES                                                                                     \
    OF_WIDGET ",\"causes\":["                                                                      \
              "{\"reason\":\"GitRepository\",\"message\":\"shop/catalog\",\"field\":"              \
              "\"metadata.annotations[vedette.dev/git-repository]\"},"                             \
              "{\"reason\":\"GitBranch\",\"message\":\"main\",\"field\":"                          \
              "\"metadata.annotations[vedette.dev/git-branch]\"},"                                 \
              "{\"reason\":\"GitPath\",\"message\":\"a b.md\",\"field\":"                          \
              "\"metadata.annotations[vedette.dev/git-path]\"},"                                   \
              "{\"reason\":\"GitCommit\",\"message\":\"0a1b\",\"field\":"                          \
              "\"metadata.annotations[vedette.dev/git-commit]\"}]}"
    assert_status(vd_status_owned_by_git(a, &widget, &claim, true), 403, OBJECT CAUSES);
    claim.may_override = true;
    assert_status(vd_status_owned_by_git(a, &widget, &claim, true), 403,
                  OBJECT "; in an emergency, set the annotation vedette.dev/override to the "
                         "reason, in the object that is written or before it is deleted" CAUSES);
    claim.is_one_of_many = true;
    assert_status(vd_status_owned_by_git(a, &widget, &claim, true), 403,
                  OBJECT "; an override is of one object by its name" CAUSES);
    claim.override = VD_SLICE("why");
    claim.moves_mark = true;
    assert_status(vd_status_owned_by_git(a, &widget, &claim, true), 403,
                  OBJECT "; an override cannot change the annotations vedette.dev/git-*" CAUSES);
#undef CAUSES
#undef OBJECT
}

static void refusals(void **state)
{
    struct vd_arena *a = *state;
    struct vd_status_target all = {VD_SLICE(""), VD_SLICE("configmaps"), VD_SLICE("")};
    struct vd_status_access access = {.user = VD_SLICE("system:anonymous"),
                                      .verb = VD_SLICE("list"),
                                      .target = all,
                                      .namespace = VD_SLICE("default")};
    assert_status(vd_status_access_denied(a, &access, VD_SLICE("")), 403,
                  "\"message\":\"configmaps is forbidden: User \\\"system:anonymous\\\" cannot "
                  "list resource \\\"configmaps\\\" in API group \\\"\\\" in the namespace "
                  "\\\"default\\\"\",\"reason\":\"Forbidden\",\"details\":{\"kind\":"
                  "\"configmaps\"}");
    access.target = widget;
    access.subresource = VD_SLICE("status");
    access.namespace = VD_SLICE("");
    access.verb = VD_SLICE("patch");
    assert_status(vd_status_access_denied(a, &access, VD_SLICE("expired")), 403,
                  "\"message\":\"widgets.example.com \\\"w1\\\" is forbidden: User "
                  "\\\"system:anonymous\\\" cannot patch resource \\\"widgets/status\\\" in API "
                  "group \\\"example.com\\\" at the cluster scope: expired\",\"reason\":"
                  "\"Forbidden\",\"details\":{\"name\":\"w1\",\"group\":\"example.com\",\"kind\":"
                  "\"widgets\"}");
    access.path = VD_SLICE("/metrics");
    access.verb = VD_SLICE("get");
    assert_status(vd_status_access_denied(a, &access, VD_SLICE("")), 403,
                  "\"message\":\"forbidden: User \\\"system:anonymous\\\" cannot get path "
                  "\\\"/metrics\\\"\",\"reason\":\"Forbidden\",\"details\":{}");
    assert_status(vd_status_namespace_terminating(a, &map, VD_SLICE("nsx")), 403,
                  "\"message\":\"configmaps \\\"a\\\" is forbidden: unable to create new content "
                  "in namespace nsx because it is being terminated\",\"reason\":\"Forbidden\","
                  "\"details\":{\"name\":\"a\",\"kind\":\"configmaps\",\"causes\":[{\"reason\":"
                  "\"NamespaceTerminating\",\"message\":\"namespace nsx is being terminated\","
                  "\"field\":\"metadata.namespace\"}]}");
}

static void answers_about_versions(void **state)
{
    struct vd_arena *a = *state;
    assert_status(vd_status_watch_expired(a, 1, 213), 410,
                  "\"message\":\"too old resource version: 1 (213)\",\"reason\":\"Expired\"");
    assert_status(vd_status_list_expired(a), 410,
                  "\"message\":\"The resourceVersion for the provided list is too old.\","
                  "\"reason\":\"Expired\"");
    assert_status(vd_status_gone(a, VD_SLICE("gone")), 410,
                  "\"message\":\"gone\",\"reason\":\"Gone\"");
    check_body(vd_status_continue_expired(a, VD_SLICE("dG9rZW4")),
               "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{\"continue\":"
               "\"dG9rZW4\"},\"status\":\"Failure\",\"message\":\"The provided continue parameter "
               "is too old to display a consistent list result. You can start a new list without "
               "the continue parameter, or use the continue token in this response to retrieve "
               "the remainder of the results. Continuing with the provided token results in an "
               "inconsistent list - objects that were created, modified, or deleted between the "
               "time the first chunk was returned and now may show up in the list.\",\"reason\":"
               "\"Expired\",\"code\":410}");
    assert_status(vd_status_version_too_large(
                      a, VD_SLICE("Too large resource version: 999999, current: 200")),
                  504,
                  "\"message\":\"Timeout: Too large resource version: 999999, current: 200\","
                  "\"reason\":\"Timeout\",\"details\":{\"causes\":[{\"reason\":"
                  "\"ResourceVersionTooLarge\",\"message\":\"Too large resource version\"}],"
                  "\"retryAfterSeconds\":1}");
}

static void faults_of_the_server(void **state)
{
    struct vd_arena *a = *state;
    assert_status(vd_status_internal_error(a, VD_SLICE("boom")), 500,
                  "\"message\":\"Internal error occurred: boom\",\"reason\":\"InternalError\","
                  "\"details\":{\"causes\":[{\"message\":\"boom\"}]}");
    assert_status(vd_status_unavailable(a, VD_SLICE("draining")), 503,
                  "\"message\":\"draining\",\"reason\":\"ServiceUnavailable\"");
    assert_status(vd_status_timeout(a, VD_SLICE("slow"), 0), 504,
                  "\"message\":\"Timeout: slow\",\"reason\":\"Timeout\",\"details\":{}");
    assert_status(vd_status_insufficient_storage(a, VD_SLICE("no room")), 507,
                  "\"message\":\"no room\",\"reason\":\"InsufficientStorage\"");
}

static void a_deletion_is_a_success(void **state)
{
    struct vd_status status = vd_status_deleted(*state, &widget, VD_SLICE("u-1"));
    assert_int_equal(status.code, 200);
    check_body(status, "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":"
                       "\"Success\",\"details\":{\"name\":\"w1\",\"group\":\"example.com\","
                       "\"kind\":\"widgets\",\"uid\":\"u-1\"}}");
}

static void every_code_has_an_answer(void **state)
{
    static const int want[VD_CODE_COUNT] = {
        [VD_ERR_INVALID] = 400,   [VD_ERR_LIMIT] = 413,    [VD_ERR_NOT_FOUND] = 404,
        [VD_ERR_EXISTS] = 409,    [VD_ERR_CONFLICT] = 409, [VD_ERR_EXPIRED] = 410,
        [VD_ERR_FUTURE] = 504,    [VD_ERR_FULL] = 507,     [VD_ERR_READ_ONLY] = 503,
        [VD_ERR_CORRUPT] = 500,   [VD_ERR_FORMAT] = 500,   [VD_ERR_LOCKED] = 503,
        [VD_ERR_MEMORY] = 503,    [VD_ERR_IO] = 500,       [VD_ERR_CLOSED] = 503,
        [VD_ERR_FORBIDDEN] = 403, [VD_ERR_BEHIND] = 500, /* it stays in the store */
    };
    for (int code = VD_OK + 1; code < VD_CODE_COUNT; code++) {
        struct vd_error error;
        vd_error_set(&error, (enum vd_code)code, "the sentence");
        struct vd_status status = vd_status_of_error(*state, &map, code, &error);
        assert_int_equal(status.code, want[code]);
        assert_true(status.reason.n && status.message.n && !status.success);
        if (code != VD_ERR_NOT_FOUND && code != VD_ERR_EXISTS && code != VD_ERR_CONFLICT)
            assert_true(vd_slice_ends_with(status.message, VD_SLICE("the sentence")));
        assert_true(vd_status_of_error(*state, &map, code, NULL).message.n > 0);
    }
}

/* Whatever a request holds, the body is JSON. */
static void strange_bytes_do_not_break_the_body(void **state)
{
    struct vd_arena *a = *state;
    struct vd_slice bytes = vd_slice("x\xff\0\"\n", 5);
    struct vd_status_target odd = {bytes, bytes, bytes};
    struct vd_status_access access = {bytes, bytes, VD_SLICE(""), odd, bytes, bytes};
    struct vd_status_cause cause = vd_cause_invalid_text(a, bytes, bytes, bytes);
    struct vd_status all[] = {
        vd_status_not_found(a, &odd),
        vd_status_invalid(a, &odd, &cause, 1),
        vd_status_access_denied(a, &access, bytes),
        vd_status_bad_request(a, bytes),
        vd_status_internal_error(a, bytes),
        vd_status_unprocessable(a, bytes),
        vd_status_namespace_terminating(a, &odd, bytes),
        vd_status_method_not_allowed(a, &odd, bytes),
        vd_status_uid_differs(a, &odd, bytes, bytes, bytes),
        vd_status_deleted(a, &odd, bytes),
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct vd_buf body = {0};
        struct vd_error error;
        struct vd_json *v;
        vd_status_write(&body, &all[i]);
        assert_true(vd_utf8_is_valid(vd_buf_slice(&body)));
        assert_ok(vd_json_parse(a, vd_buf_slice(&body), NULL, &v, &error), &error);
        vd_buf_release(&body);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        arena_test(answers_about_an_object),
        arena_test(conflicts),
        arena_test(invalid_objects),
        arena_test(options_of_lists_and_watches),
        arena_test(causes_in_kubernetes_words),
        arena_test(answers_about_a_request),
        arena_test(what_belongs_to_git),
        arena_test(an_object_that_belongs_to_git),
        arena_test(refusals),
        arena_test(answers_about_versions),
        arena_test(faults_of_the_server),
        arena_test(a_deletion_is_a_success),
        arena_test(every_code_has_an_answer),
        arena_test(strange_bytes_do_not_break_the_body),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
