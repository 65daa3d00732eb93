/* See field_manager.h. */
#include "kube/field_manager.h"

#include "base/human_time.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "kube/offload.h"

/* ---- who ---- */

/* The text up to the first slash, without what cannot be printed. */
static struct vd_slice from_user_agent(struct vd_call *call)
{
    struct vd_slice agent = vd_call_user_agent(call), text = VD_SLICE("");
    if (!agent.p)
        return VD_SLICE("unknown");
    vd_slice_cut(&agent, '/', &text);
    char *copy = vd_arena_alloc(&call->arena, text.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++)
        if ((unsigned char)text.p[i] >= 0x20 && text.p[i] != 0x7f)
            copy[n++] = text.p[i];
    struct vd_slice name = vd_utf8_cut(vd_slice(copy, n), VD_FIELD_MANAGER_LEN_MAX);
    return name.n && vd_utf8_is_valid(name) ? name : VD_SLICE("unknown");
}

struct vd_managed_who vd_call_manager(struct vd_call *call)
{
    struct vd_managed_who who = {.api_version = call->kind->api_version,
                                 .subresource = call->target.subresource};
    char text[VD_RFC3339_MAX];
    who.time = vd_arena_copy(&call->arena,
                             vd_rfc3339_format(vd_clock_wall_ms(call->kube->clock), text));
    if (!vd_url_query_find(&call->query, VD_SLICE("fieldManager"), &who.manager) || !who.manager.n)
        who.manager = from_user_agent(call);
    return who;
}

static bool is_printable(struct vd_slice text)
{
    for (size_t i = 0; i < text.n; i++)
        if ((unsigned char)text.p[i] < 0x20 || text.p[i] == 0x7f)
            return false;
    return vd_utf8_is_valid(text);
}

bool vd_call_check_manager(struct vd_call *call, bool apply)
{
    struct vd_slice name = VD_SLICE(""), force;
    struct vd_status_cause cause = {.field = VD_SLICE("fieldManager")};
    if (!vd_url_query_find(&call->query, VD_SLICE("fieldManager"), &name))
        name = VD_SLICE("");
    if (apply && !name.n)
        cause = vd_cause_required(&call->arena, cause.field,
                                  VD_SLICE("is required for apply patch"));
    else if (name.n > VD_FIELD_MANAGER_LEN_MAX)
        cause = (struct vd_status_cause){VD_SLICE("FieldValueTooLong"),
                                         VD_SLICE("Too long: may not be more than 128 bytes"),
                                         cause.field};
    else if (!is_printable(name))
        cause = (struct vd_status_cause){
            VD_SLICE("FieldValueInvalid"),
            VD_SLICE("Invalid value: should only contain printable characters"), cause.field};
    else if (!apply && call->target.verb == VD_VERB_PATCH &&
             vd_url_query_find(&call->query, VD_SLICE("force"), &force))
        cause = (struct vd_status_cause){
            VD_SLICE("FieldValueForbidden"),
            VD_SLICE("Forbidden: may not be specified for non-apply patch"), VD_SLICE("force")};
    else
        return true;
    struct vd_status_target about = {
        .group = VD_SLICE("meta.k8s.io"),
        .plural = call->target.verb == VD_VERB_PATCH    ? VD_SLICE("PatchOptions")
                  : call->target.verb == VD_VERB_UPDATE ? VD_SLICE("UpdateOptions")
                                                        : VD_SLICE("CreateOptions")};
    struct vd_status status = vd_status_invalid(&call->arena, &about, &cause, 1);
    vd_call_reply_status(call, &status);
    return false;
}

/* ---- what ---- */

bool vd_call_track(struct vd_call *call, const struct vd_json *old, const struct vd_json *object,
                   const struct vd_json *given)
{
    struct vd_field_tracking tracking;
    vd_field_tracking_begin(&tracking, &call->arena, call->kind, old, object, call->managed,
                            call->target.subresource.n ? NULL : given);
    if (vd_field_tracking_needs_manager(&tracking)) {
        struct vd_managed_who who = vd_call_manager(call);
        vd_managed_update(&tracking.record, &who, &tracking.changes);
    }
    return vd_field_tracking_end(&tracking, &call->managed);
}
