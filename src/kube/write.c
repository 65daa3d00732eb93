/* create, update and apply: the request's body as the document that a write needs, and who the
 * request is by. */
#include "base/limits.h"
#include "base/utf8.h"
#include "kube/call_write.h"
#include "kube/decode.h"
#include "kube/offload.h"
#include "kube/scale.h"

/* ---- field managers ---- */

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

struct vd_slice vd_call_manager(struct vd_call *call)
{
    struct vd_slice name;
    if (vd_url_query_find(&call->query, VD_SLICE("fieldManager"), &name) && name.n)
        return name;
    return from_user_agent(call);
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
    struct vd_status_target status_target = {
        .group = VD_SLICE("meta.k8s.io"),
        .plural = call->target.verb == VD_VERB_PATCH    ? VD_SLICE("PatchOptions")
                  : call->target.verb == VD_VERB_UPDATE ? VD_SLICE("UpdateOptions")
                                                        : VD_SLICE("CreateOptions")};
    struct vd_status status = vd_status_invalid(&call->arena, &status_target, &cause, 1);
    vd_call_reply_status(call, &status);
    return false;
}

/* ---- the verbs ---- */

static bool read_body(struct vd_write *w, struct vd_json **out)
{
    return vd_call_decode(vd_call_of(w), false, out);
}

void vd_call_create(struct vd_call *call)
{
    static const struct vd_write_ops ops = VD_CALL_WRITE_OPS(.read = read_body);
    if (vd_call_check_manager(call, false))
        vd_call_write(call, VD_WRITE_CREATE, &ops);
}

void vd_call_update(struct vd_call *call)
{
    static const struct vd_write_ops ops = VD_CALL_WRITE_OPS(.read = read_body);
    if (vd_call_check_manager(call, false))
        vd_call_write(call, VD_WRITE_UPDATE, &ops);
}

static bool read_config(struct vd_write *w, struct vd_json **out)
{
    struct vd_call *call = vd_call_of(w);
    return vd_call_decode_config(call, out) && (!call->scales || vd_scale_config(call, *out, out));
}

void vd_call_apply(struct vd_call *call)
{
    static const struct vd_write_ops ops = VD_CALL_WRITE_OPS(.read = read_config);
    if (vd_call_check_manager(call, true))
        vd_call_write(call, VD_WRITE_APPLY, &ops);
}
