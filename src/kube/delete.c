/* delete: the request's DeleteOptions, and the write that they ask for. */
#include "kube/call_write.h"
#include "kube/decode.h"
#include "kube/delete_options.h"
#include "kube/query_option.h"

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
        call->write.dry_run = true;
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
    if (!vd_call_decode(call, true, &options)) {
        vd_call_reply_status(call, call->refused);
        return false;
    }
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

/* A text that the client demands; an empty one is a demand that nothing meets. */
static struct vd_slice demanded(struct vd_call *call, const struct vd_json *text)
{
    if (!vd_json_is(text, VD_JSON_STRING))
        return vd_slice(NULL, 0);
    struct vd_slice copy = vd_arena_copy(&call->arena, vd_json_text(text));
    return copy.n ? copy : VD_SLICE("");
}

void vd_call_delete(struct vd_call *call)
{
    static const struct vd_write_ops ops = VD_CALL_WRITE_OPS(.read = NULL);
    struct vd_json *options = NULL;
    if (!vd_call_delete_options(call, &options))
        return;
    const struct vd_json *p = vd_json_get(options, VD_SLICE("preconditions"));
    call->write.preconditions = (struct vd_write_preconditions){
        .uid = demanded(call, vd_json_get(p, VD_SLICE("uid"))),
        .version = demanded(call, vd_json_get(p, VD_SLICE("resourceVersion"))),
    };
    call->write.propagation = vd_arena_copy(&call->arena, vd_call_propagation(call, options));
    vd_call_write(call, VD_WRITE_DELETE, &ops);
}
