/*
 * See status.h. A Status is written as Go writes metav1.Status:
 *
 *   {"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",
 *    "message":"configmaps \"a\" not found","reason":"NotFound",
 *    "details":{"name":"a","kind":"configmaps"},"code":404}
 *
 * Members that are empty are left out, but metadata and, where there is one, an
 * empty details.
 */
#include "kube/status/status.h"

#include <assert.h>
#include <string.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "watch/excerpt.h"
#include "json/escape.h"

/* --- writing --- */

static void add_member(struct vd_buf *out, const char *key, struct vd_slice text, bool *first)
{
    if (!text.n)
        return;
    if (!*first)
        vd_buf_add_char(out, ',');
    *first = false;
    vd_buf_addf(out, "\"%s\":", key);
    if (vd_utf8_is_valid(text)) {
        vd_escape_write(out, text);
        return;
    }
    /* A sentence may quote what somebody sent. */
    struct vd_buf clean = {0};
    vd_excerpt_add(&clean, text, SIZE_MAX);
    vd_escape_write(out, vd_buf_slice(&clean));
    vd_buf_release(&clean);
}

static void add_causes(struct vd_buf *out, const struct vd_status *status)
{
    for (size_t i = 0; i < status->causes_n; i++) {
        const struct vd_status_cause *cause = &status->causes[i];
        bool first = true;
        vd_buf_add_text(out, i ? ",{" : "{");
        add_member(out, "reason", cause->reason, &first);
        add_member(out, "message", cause->message, &first);
        add_member(out, "field", cause->field, &first);
        vd_buf_add_char(out, '}');
    }
}

static void add_details(struct vd_buf *out, const struct vd_status *status)
{
    bool first = true;
    vd_buf_add_text(out, ",\"details\":{");
    add_member(out, "name", status->name, &first);
    add_member(out, "group", status->group, &first);
    add_member(out, "kind", status->kind, &first);
    add_member(out, "uid", status->uid, &first);
    if (status->causes_n) {
        vd_buf_add_text(out, first ? "\"causes\":[" : ",\"causes\":[");
        add_causes(out, status);
        vd_buf_add_char(out, ']');
        first = false;
    }
    if (status->retry_after_s)
        vd_buf_addf(out, "%s\"retryAfterSeconds\":%d", first ? "" : ",", status->retry_after_s);
    vd_buf_add_char(out, '}');
}

void vd_status_write(struct vd_buf *out, const struct vd_status *status)
{
    bool first = true;
    vd_buf_add_text(out, "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{");
    add_member(out, "continue", status->continue_token, &first);
    vd_buf_addf(out, "},\"status\":\"%s\"", status->success ? "Success" : "Failure");
    first = false;
    add_member(out, "message", status->message, &first);
    add_member(out, "reason", status->reason, &first);
    if (status->has_details)
        add_details(out, status);
    if (!status->success)
        vd_buf_addf(out, ",\"code\":%d", status->code);
    vd_buf_add_char(out, '}');
}

/* --- parts of messages --- */

static void add_text(struct vd_buf *out, struct vd_slice text)
{
    vd_excerpt_add(out, text, SIZE_MAX);
}

static void add_quoted(struct vd_buf *out, struct vd_slice text)
{
    vd_excerpt_add_quoted(out, text, SIZE_MAX);
}

/* plural.group */
static void add_resource(struct vd_buf *out, const struct vd_status_target *target)
{
    add_text(out, target->plural);
    if (target->group.n) {
        vd_buf_add_char(out, '.');
        add_text(out, target->group);
    }
}

/* plural.group "name" */
static void add_target(struct vd_buf *out, const struct vd_status_target *target)
{
    add_resource(out, target);
    vd_buf_add_char(out, ' ');
    add_quoted(out, target->name);
}

/* The message leaves the buffer for the arena. */
static struct vd_status failure(struct vd_arena *a, int code, const char *reason,
                                struct vd_buf *message)
{
    struct vd_status status = {.code = code, .reason = vd_slice_of(reason)};
    status.message = vd_arena_copy(a, vd_buf_slice(message));
    vd_buf_release(message);
    return status;
}

/* The text itself if it is UTF-8, else a copy that is. */
static struct vd_slice as_utf8(struct vd_arena *a, struct vd_slice text)
{
    if (vd_utf8_is_valid(text))
        return text;
    struct vd_buf clean = {0};
    add_text(&clean, text);
    struct vd_slice copy = vd_arena_copy(a, vd_buf_slice(&clean));
    vd_buf_release(&clean);
    return copy;
}

static struct vd_status status_target(struct vd_arena *a, struct vd_status status,
                                      const struct vd_status_target *target)
{
    status.has_details = true;
    status.name = as_utf8(a, target->name);
    status.group = as_utf8(a, target->group);
    status.kind = as_utf8(a, target->plural);
    return status;
}

/* Failures whose message is a prefix and what the caller says. */
static struct vd_status plain(struct vd_arena *a, int code, const char *reason, const char *prefix,
                              struct vd_slice text)
{
    struct vd_buf message = {0};
    vd_buf_add_text(&message, prefix);
    add_text(&message, text);
    return failure(a, code, reason, &message);
}

static const struct vd_status_cause *one_cause(struct vd_arena *a, struct vd_status_cause cause)
{
    struct vd_status_cause *copy = vd_arena_alloc(a, sizeof *copy);
    *copy = cause;
    return copy;
}

/* --- about an object --- */

struct vd_status vd_status_deleted(struct vd_arena *a, const struct vd_status_target *target,
                                   struct vd_slice uid)
{
    struct vd_status status = status_target(a, (struct vd_status){.code = 200, .success = true},
                                            target);
    status.uid = as_utf8(a, uid);
    return status;
}

struct vd_status vd_status_not_found(struct vd_arena *a, const struct vd_status_target *target)
{
    struct vd_buf message = {0};
    add_target(&message, target);
    vd_buf_add_text(&message, " not found");
    return status_target(a, failure(a, 404, "NotFound", &message), target);
}

struct vd_status vd_status_no_resource(struct vd_arena *a)
{
    struct vd_status status = plain(a, 404, "NotFound", "",
                                    VD_SLICE("the server could not find the requested resource"));
    status.has_details = true;
    return status;
}

struct vd_status vd_status_already_exists(struct vd_arena *a, const struct vd_status_target *target,
                                          bool deleting)
{
    struct vd_buf message = {0};
    if (deleting)
        vd_buf_add_text(&message, "object is being deleted: ");
    add_target(&message, target);
    vd_buf_add_text(&message, " already exists");
    return status_target(a, failure(a, 409, "AlreadyExists", &message), target);
}

struct vd_status vd_status_name_not_generated(struct vd_arena *a,
                                              const struct vd_status_target *target)
{
    struct vd_buf message = {0};
    add_target(&message, target);
    vd_buf_add_text(&message, " already exists, the server was not able to generate a unique name "
                              "for the object");
    struct vd_status status = status_target(a, failure(a, 409, "AlreadyExists", &message), target);
    status.retry_after_s = 1;
    return status;
}

struct vd_status vd_status_conflict(struct vd_arena *a, const struct vd_status_target *target,
                                    struct vd_slice why)
{
    struct vd_buf message = {0};
    vd_buf_add_text(&message, "Operation cannot be fulfilled on ");
    add_target(&message, target);
    vd_buf_add_text(&message, ": ");
    add_text(&message, why);
    return status_target(a, failure(a, 409, "Conflict", &message), target);
}

struct vd_status vd_status_modified(struct vd_arena *a, const struct vd_status_target *target,
                                    uint64_t current)
{
    struct vd_status status = vd_status_conflict(
        a, target,
        VD_SLICE("the object has been modified; please apply your changes to the latest version "
                 "and try again"));
    char digits[20];
    struct vd_status_cause cause = {
        VD_SLICE("CurrentResourceVersion"),
        vd_arena_copy(a, vd_slice(digits, vd_u64_digits(current, digits))),
        VD_SLICE("metadata.resourceVersion")};
    if (current) {
        status.causes = one_cause(a, cause);
        status.causes_n = 1;
    }
    return status;
}

/* A conflict whose reason has two values in it: before, wanted, between, actual, after. */
static struct vd_status conflict_of_two(struct vd_arena *a, const struct vd_status_target *target,
                                        const char *const words[3], struct vd_slice wanted,
                                        struct vd_slice actual)
{
    struct vd_buf why = {0};
    vd_buf_add_text(&why, words[0]);
    vd_buf_add_slice(&why, wanted);
    vd_buf_add_text(&why, words[1]);
    vd_buf_add_slice(&why, actual);
    vd_buf_add_text(&why, words[2]);
    struct vd_status status = vd_status_conflict(a, target, vd_buf_slice(&why));
    vd_buf_release(&why);
    return status;
}

struct vd_status vd_status_uid_differs(struct vd_arena *a, const struct vd_status_target *target,
                                       struct vd_slice key, struct vd_slice wanted,
                                       struct vd_slice actual)
{
    struct vd_buf before = {0};
    vd_buf_add_text(&before, "StorageError: invalid object, Code: 4, Key: ");
    add_text(&before, key);
    vd_buf_add_text(&before, ", ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID "
                             "in precondition: ");
    const char *const words[] = {vd_buf_text(&before), ", UID in object meta: ", ""};
    struct vd_status status = conflict_of_two(a, target, words, wanted, actual);
    vd_buf_release(&before);
    return status;
}

struct vd_status vd_status_uid_precondition(struct vd_arena *a,
                                            const struct vd_status_target *target,
                                            struct vd_slice wanted, struct vd_slice actual)
{
    static const char *const words[] = {"the UID in the precondition (",
                                        ") does not match the UID in record (",
                                        "). The object might have been deleted and then recreated"};
    return conflict_of_two(a, target, words, wanted, actual);
}

struct vd_status vd_status_version_precondition(struct vd_arena *a,
                                                const struct vd_status_target *target,
                                                struct vd_slice wanted, struct vd_slice actual)
{
    static const char *const words[] = {"the ResourceVersion in the precondition (",
                                        ") does not match the ResourceVersion in record (",
                                        "). The object might have been modified"};
    return conflict_of_two(a, target, words, wanted, actual);
}

struct vd_status vd_status_apply_conflict(struct vd_arena *a, struct vd_slice message,
                                          const struct vd_status_cause *causes, size_t n)
{
    struct vd_status status = plain(a, 409, "Conflict", "", message);
    status.has_details = true;
    status.causes = causes;
    status.causes_n = n;
    return status;
}

/* --- what is invalid --- */

static bool same_cause(const struct vd_status_cause *a, const struct vd_status_cause *b)
{
    return vd_slice_eq(a->field, b->field) && vd_slice_eq(a->message, b->message);
}

/* "field: message", of several "[one, two]"; what was said is not said again. */
static void add_sentences(struct vd_buf *out, const struct vd_status_cause *causes, size_t n)
{
    struct vd_buf list = {0};
    size_t said = 0;
    for (size_t i = 0; i < n; i++) {
        size_t before = 0;
        while (before < i && !same_cause(&causes[before], &causes[i]))
            before++;
        if (before < i)
            continue;
        vd_buf_add_text(&list, said++ ? ", " : "");
        add_text(&list, causes[i].field);
        vd_buf_add_text(&list, causes[i].field.n ? ": " : "");
        add_text(&list, causes[i].message);
    }
    vd_buf_add_text(out, said > 1 ? ": [" : ": ");
    vd_buf_add_slice(out, vd_buf_slice(&list));
    vd_buf_add_text(out, said > 1 ? "]" : "");
    vd_buf_release(&list);
}

struct vd_status vd_status_invalid(struct vd_arena *a, const struct vd_status_target *target,
                                   const struct vd_status_cause *causes, size_t n)
{
    struct vd_buf message = {0};
    n = n < VD_STATUS_CAUSES_MAX ? n : VD_STATUS_CAUSES_MAX;
    add_target(&message, target);
    vd_buf_add_text(&message, " is invalid");
    if (n)
        add_sentences(&message, causes, n);
    struct vd_status status = status_target(a, failure(a, 422, "Invalid", &message), target);
    status.causes = causes;
    status.causes_n = n;
    return status;
}

struct vd_status vd_status_version_required(struct vd_arena *a,
                                            const struct vd_status_target *target)
{
    static const struct vd_status_cause cause = {
        {"FieldValueInvalid", 17},
        {"Invalid value: 0x0: must be specified for an update", 51},
        {"metadata.resourceVersion", 24}};
    return vd_status_invalid(a, target, &cause, 1);
}

struct vd_status vd_status_invalid_options(struct vd_arena *a, const struct vd_status_cause *causes,
                                           size_t n)
{
    struct vd_status_target options = {VD_SLICE("meta.k8s.io"), VD_SLICE("ListOptions"),
                                       VD_SLICE("")};
    return vd_status_invalid(a, &options, causes, n);
}

struct vd_status vd_status_unprocessable(struct vd_arena *a, struct vd_slice why)
{
    struct vd_status status = plain(
        a, 422, "Invalid", "the server rejected our request due to an error in our request",
        VD_SLICE(""));
    status.has_details = true;
    if (why.n) {
        struct vd_status_cause cause = {.message = as_utf8(a, why)};
        status.causes = one_cause(a, cause);
        status.causes_n = 1;
    }
    return status;
}

/* --- about a request --- */

struct vd_status vd_status_bad_request(struct vd_arena *a, struct vd_slice message)
{
    return plain(a, 400, "BadRequest", "", message);
}

struct vd_status vd_status_name_differs(struct vd_arena *a, struct vd_slice in_body,
                                        struct vd_slice in_url)
{
    struct vd_buf message = {0};
    vd_buf_add_text(&message, "the name of the object (");
    add_text(&message, in_body);
    vd_buf_add_text(&message, ") does not match the name on the URL (");
    add_text(&message, in_url);
    vd_buf_add_text(&message, ")");
    return failure(a, 400, "BadRequest", &message);
}

struct vd_status vd_status_namespace_differs(struct vd_arena *a)
{
    return vd_status_bad_request(a, VD_SLICE("the namespace of the provided object does not match "
                                             "the namespace sent on the request"));
}

struct vd_status vd_status_version_differs(struct vd_arena *a, struct vd_slice in_body,
                                           struct vd_slice in_url)
{
    struct vd_buf message = {0};
    vd_buf_add_text(&message, "the API version in the data (");
    add_text(&message, in_body);
    vd_buf_add_text(&message, ") does not match the expected API version (");
    add_text(&message, in_url);
    vd_buf_add_text(&message, ")");
    return failure(a, 400, "BadRequest", &message);
}

struct vd_status vd_status_unauthorized(struct vd_arena *a, struct vd_slice message)
{
    return plain(a, 401, "Unauthorized", "", message.n ? message : VD_SLICE("Unauthorized"));
}

struct vd_status vd_status_forbidden(struct vd_arena *a, const struct vd_status_target *target,
                                     struct vd_slice why)
{
    struct vd_buf message = {0};
    if (target->plural.n && target->name.n)
        add_target(&message, target);
    else
        add_resource(&message, target);
    vd_buf_add_text(&message, message.n ? " is forbidden: " : "forbidden: ");
    add_text(&message, why);
    return status_target(a, failure(a, 403, "Forbidden", &message), target);
}

static void add_access(struct vd_buf *out, const struct vd_status_access *access)
{
    vd_buf_add_text(out, "User ");
    add_quoted(out, access->user);
    vd_buf_add_text(out, " cannot ");
    add_text(out, access->verb);
    if (access->path.n) {
        vd_buf_add_text(out, " path ");
        add_quoted(out, access->path);
        return;
    }
    struct vd_buf resource = {0};
    vd_buf_add_slice(&resource, access->target.plural);
    if (access->subresource.n) {
        vd_buf_add_char(&resource, '/');
        vd_buf_add_slice(&resource, access->subresource);
    }
    vd_buf_add_text(out, " resource ");
    add_quoted(out, vd_buf_slice(&resource));
    vd_buf_release(&resource);
    vd_buf_add_text(out, " in API group ");
    add_quoted(out, access->target.group);
    if (access->namespace.n) {
        vd_buf_add_text(out, " in the namespace ");
        add_quoted(out, access->namespace);
    } else {
        vd_buf_add_text(out, " at the cluster scope");
    }
}

struct vd_status vd_status_access_denied(struct vd_arena *a, const struct vd_status_access *access,
                                         struct vd_slice why)
{
    static const struct vd_status_target none = {{"", 0}, {"", 0}, {"", 0}};
    struct vd_buf text = {0};
    add_access(&text, access);
    if (why.n) {
        vd_buf_add_text(&text, ": ");
        add_text(&text, why);
    }
    struct vd_status status = vd_status_forbidden(a, access->path.n ? &none : &access->target,
                                                  vd_buf_slice(&text));
    vd_buf_release(&text);
    return status;
}

/* Where to push what has no mark. */
static void add_repositories(struct vd_buf *out, const struct vd_git_claim *claim, bool namespaced)
{
    bool several = claim->repositories.n &&
                   memchr(claim->repositories.p, ',', claim->repositories.n) != NULL;
    if (!namespaced)
        vd_buf_add_text(out, "push it to a repository whose spec.scope names it");
    else if (!claim->may_list)
        vd_buf_add_text(out, "push it to a repository of its namespace");
    else if (!claim->repositories.n)
        vd_buf_add_text(out, "create a Repository (git.vedette.dev/v1) in its namespace, and push "
                             "it there");
    else
        vd_buf_addf(out, "push it to %s of its namespace: %.*s",
                    several ? "one of the repositories" : "the repository",
                    VD_FMT(claim->repositories));
}

/* What there is to know of the way around. */
static void add_override(struct vd_buf *out, const struct vd_git_claim *claim,
                         const struct vd_status_target *target)
{
    if (claim->moves_mark && (claim->override.n || claim->may_override)) {
        vd_buf_add_text(out, "; an override cannot change the annotations vedette.dev/git-*");
    } else if (claim->may_override && claim->is_one_of_many) {
        vd_buf_add_text(out, "; an override is of one object by its name");
    } else if (claim->may_override) {
        vd_buf_add_text(out, "; in an emergency, set the annotation " VD_GIT_OVERRIDE
                             " to the reason, in the object that is written or before it is "
                             "deleted");
    } else if (claim->override.n) {
        vd_buf_addf(out, "; the annotation " VD_GIT_OVERRIDE " needs the verb override on %.*s",
                    VD_FMT(target->plural));
        if (target->group.n)
            vd_buf_addf(out, ".%.*s", VD_FMT(target->group));
    }
}

struct vd_status vd_status_owned_by_git(struct vd_arena *a, const struct vd_status_target *target,
                                        const struct vd_git_claim *claim, bool namespaced)
{
    const struct {
        const char *word, *reason, *field;
        struct vd_slice value;
    } parts[] = {
        {"repository", "GitRepository", VD_GIT_REPOSITORY, claim->repository},
        {"branch", "GitBranch", VD_GIT_BRANCH, claim->branch},
        {"path", "GitPath", VD_GIT_PATH, claim->path},
        {"commit", "GitCommit", VD_GIT_COMMIT, claim->commit},
    };
    struct vd_buf text = {0}, field = {0};
    struct vd_status_cause *causes = vd_arena_alloc(a,
                                                    sizeof parts / sizeof *parts * sizeof *causes);
    size_t n = 0;
    vd_buf_add_text(&text, claim->repository.n ? "its spec belongs to Git:"
                                               : "the spec of this kind belongs to Git: ");
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!claim->repository.n || !parts[i].value.n)
            continue;
        vd_buf_reset(&field);
        vd_buf_addf(&field, "metadata.annotations[%s]", parts[i].field);
        causes[n++] = (struct vd_status_cause){vd_slice_of(parts[i].reason), parts[i].value,
                                               vd_arena_copy(a, vd_buf_slice(&field))};
        vd_buf_addf(&text, "%s %s ", n > 1 ? "," : "", parts[i].word);
        vd_buf_add_slice(&text, parts[i].value);
    }
    if (n)
        vd_buf_add_text(&text, ": push to change it");
    else
        add_repositories(&text, claim, namespaced);
    add_override(&text, claim, target);
    struct vd_status status = vd_status_forbidden(a, target, vd_buf_slice(&text));
    status.reason = VD_SLICE("SpecOwnedByGit");
    status.causes = causes;
    status.causes_n = n;
    vd_buf_release(&text);
    vd_buf_release(&field);
    return status;
}

struct vd_status vd_status_namespace_terminating(struct vd_arena *a,
                                                 const struct vd_status_target *target,
                                                 struct vd_slice namespace)
{
    struct vd_buf text = {0};
    vd_buf_add_text(&text, "unable to create new content in namespace ");
    vd_buf_add_slice(&text, namespace);
    vd_buf_add_text(&text, " because it is being terminated");
    struct vd_status status = vd_status_forbidden(a, target, vd_buf_slice(&text));
    vd_buf_reset(&text);
    vd_buf_add_text(&text, "namespace ");
    add_text(&text, namespace);
    vd_buf_add_text(&text, " is being terminated");
    struct vd_status_cause cause = {VD_SLICE("NamespaceTerminating"),
                                    vd_arena_copy(a, vd_buf_slice(&text)),
                                    VD_SLICE("metadata.namespace")};
    vd_buf_release(&text);
    status.causes = one_cause(a, cause);
    status.causes_n = 1;
    return status;
}

struct vd_status vd_status_method_not_allowed(struct vd_arena *a,
                                              const struct vd_status_target *target,
                                              struct vd_slice action)
{
    struct vd_status_target resource = {target->group, target->plural, VD_SLICE("")};
    struct vd_buf name = {0}, message = {0};
    add_resource(&name, target);
    add_text(&message, action);
    vd_buf_add_text(&message, " is not supported on resources of kind ");
    add_quoted(&message, vd_buf_slice(&name));
    vd_buf_release(&name);
    return status_target(a, failure(a, 405, "MethodNotAllowed", &message), &resource);
}

struct vd_status vd_status_not_acceptable(struct vd_arena *a, struct vd_slice accepted)
{
    return plain(a, 406, "NotAcceptable",
                 "only the following media types are accepted: ", accepted);
}

struct vd_status vd_status_unsupported_media_type(struct vd_arena *a, struct vd_slice accepted)
{
    return plain(
        a, 415, "UnsupportedMediaType",
        "the body of the request was in an unknown format - accepted media types include: ",
        accepted);
}

struct vd_status vd_status_too_large(struct vd_arena *a, struct vd_slice message)
{
    return plain(a, 413, "RequestEntityTooLarge", "Request entity too large: ", message);
}

struct vd_status vd_status_precondition_required(struct vd_arena *a,
                                                 const struct vd_status_target *target)
{
    struct vd_buf message = {0};
    vd_buf_add_text(&message, "a write to the status of ");
    add_target(&message, target);
    vd_buf_add_text(&message,
                    " needs metadata.resourceVersion: send the one of the object that the "
                    "status was made from");
    struct vd_status_cause cause = vd_cause_required(a, VD_SLICE("metadata.resourceVersion"),
                                                     VD_SLICE(""));
    struct vd_status status = status_target(a, failure(a, 428, "PreconditionRequired", &message),
                                            target);
    status.causes = one_cause(a, cause);
    status.causes_n = 1;
    return status;
}

static struct vd_status retry(struct vd_status status, int retry_after_s)
{
    status.has_details = true;
    status.retry_after_s = retry_after_s;
    return status;
}

struct vd_status vd_status_too_many_requests(struct vd_arena *a, struct vd_slice message,
                                             int retry_after_s)
{
    return retry(plain(a, 429, "TooManyRequests", "", message), retry_after_s);
}

struct vd_status vd_status_over_limit(struct vd_arena *a)
{
    return vd_status_too_many_requests(a, VD_SLICE("Too many requests, please try again later."),
                                       1);
}

/* --- versions --- */

struct vd_status vd_status_expired(struct vd_arena *a, struct vd_slice message)
{
    return plain(a, 410, "Expired", "", message);
}

struct vd_status vd_status_gone(struct vd_arena *a, struct vd_slice message)
{
    return plain(a, 410, "Gone", "", message);
}

struct vd_status vd_status_watch_expired(struct vd_arena *a, uint64_t wanted, uint64_t oldest)
{
    struct vd_buf message = {0};
    vd_buf_add_text(&message, "too old resource version: ");
    vd_buf_add_u64(&message, wanted);
    vd_buf_add_text(&message, " (");
    vd_buf_add_u64(&message, oldest);
    vd_buf_add_text(&message, ")");
    return failure(a, 410, "Expired", &message);
}

struct vd_status vd_status_list_expired(struct vd_arena *a)
{
    return vd_status_expired(a, VD_SLICE("The resourceVersion for the provided list is too old."));
}

struct vd_status vd_status_continue_expired(struct vd_arena *a, struct vd_slice fresh_token)
{
    struct vd_status status = vd_status_expired(
        a, VD_SLICE("The provided continue parameter is too old to display a consistent list "
                    "result. You can start a new list without the continue parameter, or use the "
                    "continue token in this response to retrieve the remainder of the results. "
                    "Continuing with the provided token results in an inconsistent list - objects "
                    "that were created, modified, or deleted between the time the first chunk was "
                    "returned and now may show up in the list."));
    status.continue_token = fresh_token;
    return status;
}

struct vd_status vd_status_version_too_large(struct vd_arena *a, struct vd_slice text)
{
    static const struct vd_status_cause cause = {
        {"ResourceVersionTooLarge", 23}, {"Too large resource version", 26}, {"", 0}};
    struct vd_status status = vd_status_timeout(a, text, 1);
    status.causes = &cause;
    status.causes_n = 1;
    return status;
}

/* --- the server's fault --- */

struct vd_status vd_status_internal_error(struct vd_arena *a, struct vd_slice message)
{
    static const char prefix[] = "Internal error occurred: ";
    struct vd_status status = plain(a, 500, "InternalError", prefix, message);
    struct vd_status_cause cause = {.message = vd_slice_from(status.message, sizeof prefix - 1)};
    status.has_details = true;
    status.causes = one_cause(a, cause);
    status.causes_n = 1;
    return status;
}

struct vd_status vd_status_conversion_failed(struct vd_arena *a, const struct vd_error *error)
{
    return plain(a, 500, "", "", vd_slice_of(error->text));
}

struct vd_status vd_status_unavailable(struct vd_arena *a, struct vd_slice message)
{
    return plain(a, 503, "ServiceUnavailable", "", message);
}

struct vd_status vd_status_insufficient_storage(struct vd_arena *a, struct vd_slice message)
{
    return plain(a, 507, "InsufficientStorage", "", message);
}

struct vd_status vd_status_timeout(struct vd_arena *a, struct vd_slice message, int retry_after_s)
{
    return retry(plain(a, 504, "Timeout", "Timeout: ", message), retry_after_s);
}

struct vd_status vd_status_of_error(struct vd_arena *a, const struct vd_status_target *target,
                                    int code, const struct vd_error *error)
{
    assert(code != VD_OK);
    struct vd_slice text = vd_slice_of(error && error->text[0] ? error->text : vd_code_name(code));
    switch (code) {
    case VD_ERR_INVALID:
        return vd_status_bad_request(a, text);
    case VD_ERR_LIMIT:
        return vd_status_too_large(a, text);
    case VD_ERR_NOT_FOUND:
        return vd_status_not_found(a, target);
    case VD_ERR_EXISTS:
        return vd_status_already_exists(a, target, false);
    case VD_ERR_CONFLICT:
        return vd_status_modified(a, target, 0);
    case VD_ERR_EXPIRED:
        return vd_status_expired(a, text);
    case VD_ERR_FUTURE:
        return vd_status_version_too_large(a, text);
    case VD_ERR_FORBIDDEN:
        return vd_status_forbidden(a, target, text);
    case VD_ERR_FULL:
        return vd_status_insufficient_storage(a, text);
    case VD_ERR_READ_ONLY:
    case VD_ERR_LOCKED:
    case VD_ERR_MEMORY:
    case VD_ERR_CLOSED:
        return vd_status_unavailable(a, text);
    default:
        return vd_status_internal_error(a, text);
    }
}
