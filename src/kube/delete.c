/*
 * delete: at once, or, when finalizers have a say, by marking the object and
 * waiting until the last of them is taken off.
 */
#include "kinds/deletion.h"
#include "kinds/object_meta.h"
#include "kinds/uid.h"
#include "kube/decode.h"
#include "kube/proposal.h"
#include "kube/query_option.h"
#include "kube/write.h"

/* What the client demands of the object; an empty text is a demand that nothing meets. False: the
 * call has been answered. */
static bool check_preconditions(struct vd_call *call, const struct vd_json *options)
{
    const struct vd_json *p = vd_json_get(options, VD_SLICE("preconditions"));
    const struct vd_json *uid = vd_json_get(p, VD_SLICE("uid"));
    const struct vd_json *version = vd_json_get(p, VD_SLICE("resourceVersion"));
    struct vd_status_target about = vd_call_about(call);
    struct vd_status status;
    char ours[VD_UID_TEXT_MAX], digits[20];
    struct vd_slice current = vd_slice(digits, vd_u64_digits(call->wish.revision, digits));
    about.plural = call->kind->kind;
    struct vd_slice mine = vd_uid_format(call->wish.expect_uid, ours);
    if (vd_json_is(uid, VD_JSON_STRING) && !vd_slice_eq(vd_json_text(uid), mine))
        status = vd_status_uid_precondition(&call->arena, &about, vd_json_text(uid), mine);
    else if (vd_json_is(version, VD_JSON_STRING) && !vd_slice_eq(vd_json_text(version), current))
        status = vd_status_version_precondition(&call->arena, &about, vd_json_text(version),
                                                current);
    else
        return true;
    vd_call_reply_status(call, &status);
    return false;
}

/* Whether the body is DeleteOptions. What would be passed over otherwise is looked at: a
 * deletion that was meant as a trial must not happen. */
static bool check_options_kind(struct vd_call *call, const struct vd_json *options)
{
    struct vd_slice kind = vd_json_text(vd_json_get(options, VD_SLICE("kind")));
    const struct vd_json *trial = vd_json_get(options, VD_SLICE("dryRun"));
    bool listed = !trial || trial->type == VD_JSON_ARRAY || trial->type == VD_JSON_NULL;
    if (vd_json_is(options, VD_JSON_OBJECT) && listed &&
        (!kind.n || vd_slice_is(kind, "DeleteOptions")))
        return true;
    struct vd_status status = vd_status_bad_request(
        &call->arena, VD_SLICE("the body of a deletion must be DeleteOptions, or be left out"));
    vd_call_reply_status(call, &status);
    return false;
}

static bool check_dry_run(struct vd_call *call, const struct vd_json *options)
{
    VD_JSON_EACH (item, vd_json_get(options, VD_SLICE("dryRun"))) {
        if (!vd_call_check_dry_run(call, vd_json_text(item)))
            return false;
        call->dry_run = true;
    }
    return true;
}

static bool check_propagation(struct vd_call *call, const struct vd_json *options)
{
    static const struct vd_slice known[] = {
        {"Background", 10}, {"Foreground", 10}, {"Orphan", 6}, {"nil", 3}};
    enum { KNOWN = sizeof known / sizeof *known };
    struct vd_slice field = VD_SLICE("propagationPolicy");
    struct vd_slice policy = vd_call_propagation(call, options);
    bool twice = vd_json_text(vd_json_get(options, field)).n &&
                 vd_json_get(options, VD_SLICE("orphanDependents"));
    for (size_t i = 0; !twice && i + 1 < KNOWN; i++)
        if (!policy.n || vd_slice_eq(policy, known[i]))
            return true;
    vd_call_reply_option(
        call, twice ? vd_cause_invalid_text(
                          &call->arena, field, policy,
                          VD_SLICE("orphanDependents and deletionPropagation cannot be both set"))
                    : vd_cause_unsupported(&call->arena, field, policy, known, KNOWN));
    return false;
}

static void add_text(struct vd_call *call, struct vd_json *object, struct vd_slice key)
{
    struct vd_slice value;
    if (vd_url_query_find(&call->query, key, &value) && value.n)
        vd_json_set(&call->arena, object, key, vd_json_string(&call->arena, value));
}

/* The options of a request without a body, as far as its query has them. `resourceVersion` is one
 * of the list where many are deleted. NULL: the call has been answered. */
static struct vd_json *options_of_query(struct vd_call *call)
{
    struct vd_arena *a = &call->arena;
    struct vd_json *options = vd_json_object(a);
    struct vd_slice orphan = VD_SLICE("orphanDependents");
    struct vd_error error;
    bool given, truth;
    int64_t seconds;
    int code = vd_query_number(&call->query, VD_SLICE("gracePeriodSeconds"), &given, &seconds,
                               &error);
    if (code) {
        vd_call_reply_options(call, code, &error);
        return NULL;
    }
    add_text(call, options, VD_SLICE("propagationPolicy"));
    if (vd_query_flag(&call->query, orphan, &truth))
        vd_json_set(a, options, orphan, vd_json_bool(a, truth));
    if (call->target.verb == VD_VERB_DELETE) {
        struct vd_json *preconditions = vd_json_object(a);
        vd_json_set(a, options, VD_SLICE("preconditions"), preconditions);
        add_text(call, preconditions, VD_SLICE("uid"));
        add_text(call, preconditions, VD_SLICE("resourceVersion"));
    }
    return options;
}

bool vd_call_delete_options(struct vd_call *call, struct vd_json **out)
{
    struct vd_json *options = NULL;
    if (!vd_call_decode(call, true, &options))
        return false;
    if (!options)
        options = options_of_query(call);
    if (!options || !check_options_kind(call, options) || !check_dry_run(call, options) ||
        !check_propagation(call, options))
        return false;
    *out = options;
    return true;
}

struct vd_slice vd_call_propagation(const struct vd_call *call, const struct vd_json *options)
{
    struct vd_slice policy = vd_json_text(vd_json_get(options, VD_SLICE("propagationPolicy")));
    struct vd_slice given;
    if (!policy.n && vd_url_query_find(&call->query, VD_SLICE("propagationPolicy"), &given))
        policy = given;
    if (!policy.n && vd_json_truth(vd_json_get(options, VD_SLICE("orphanDependents"))))
        policy = VD_SLICE("Orphan");
    return policy;
}

/* The namespaces that clients and the server itself count on stay, as in Kubernetes. False: the
 * call has been answered. */
static bool check_stays(struct vd_call *call)
{
    static const char *const stays[] = {"default", "kube-system", "kube-public"};
    struct vd_status_target about = vd_call_about(call);
    bool found = false;
    for (size_t i = 0; i < sizeof stays / sizeof *stays; i++)
        found |= vd_slice_is(call->target.name, stays[i]);
    if (!found || !vd_slice_is(call->kind->storage_key, "namespaces"))
        return true;
    struct vd_status status = vd_status_forbidden(&call->arena, &about,
                                                  VD_SLICE("this namespace may not be deleted"));
    vd_call_reply_status(call, &status);
    return false;
}

void vd_call_delete(struct vd_call *call)
{
    struct vd_json *options = NULL, *object = NULL;
    call->write = vd_call_delete;
    call->deletes = false;                 /* as an earlier attempt may have meant to */
    call->as_stored = call->kind->webhook; /* no webhook is needed to see an object go */
    if (!vd_call_delete_options(call, &options) || !check_stays(call) ||
        !vd_call_read_current(call, &object) || !check_preconditions(call, options))
        return;
    struct vd_deletion deletion = {.storage_key = call->kind->storage_key,
                                   .policy = vd_call_propagation(call, options),
                                   .clock = call->kube->clock};
    if (vd_deletion_begin(&deletion, &call->arena, object) == VD_DELETION_MARK) {
        call->success = 200;
        vd_call_store(call, object);
        return;
    }
    call->wish.action = VD_DELETE;
    call->wish.body = (struct vd_template){.hole = 0};
    call->deletes = true;
    vd_call_propose(call);
}
