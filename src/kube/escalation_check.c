/* See escalation_check.h; the rules are in auth/escalation.h. */
#include "kube/escalation_check.h"

#include "auth/escalation.h"
#include "auth/role.h"
#include "kinds/object_meta.h"

static enum vd_escalation judge_role(const struct vd_call *call, const struct vd_rbac *rbac,
                                     const struct vd_json *object, bool creating,
                                     struct vd_buf *why)
{
    struct vd_role *role = NULL;
    struct vd_error error;
    if (vd_role_from_json(&role, object, &error)) {
        vd_buf_add_text(why, error.text);
        return VD_ESCALATION_REFUSED;
    }
    enum vd_escalation verdict = vd_escalation_by_role(rbac, call->user, role, creating, why);
    vd_role_unref(role);
    return verdict;
}

static enum vd_escalation judge_binding(const struct vd_call *call, const struct vd_rbac *rbac,
                                        const struct vd_json *object, struct vd_buf *why)
{
    struct vd_binding *binding = NULL;
    struct vd_error error;
    if (vd_binding_from_json(&binding, object, &error)) {
        vd_buf_add_text(why, error.text);
        return VD_ESCALATION_REFUSED;
    }
    enum vd_escalation verdict = vd_escalation_by_binding(rbac, call->user, binding, why);
    vd_binding_unref(binding);
    return verdict;
}

static bool is_one_of(struct vd_slice key, const char *a, const char *b)
{
    return vd_slice_is(key, a) || vd_slice_is(key, b);
}

bool vd_call_check_escalation(struct vd_call *call, const struct vd_json *object, bool creating)
{
    struct vd_slice key = call->kind->storage_key;
    bool role = is_one_of(key, "roles.rbac.authorization.k8s.io",
                          "clusterroles.rbac.authorization.k8s.io");
    bool binding = is_one_of(key, "rolebindings.rbac.authorization.k8s.io",
                             "clusterrolebindings.rbac.authorization.k8s.io");
    if (!role && !binding)
        return true;
    struct vd_buf why = {0};
    struct vd_rbac *rbac = vd_gatekeeper_rbac(call->kube->gatekeeper);
    enum vd_escalation verdict = role ? judge_role(call, rbac, object, creating, &why)
                                      : judge_binding(call, rbac, object, &why);
    vd_rbac_unref(rbac);
    struct vd_slice text = vd_arena_copy(&call->arena, vd_buf_slice(&why));
    vd_buf_release(&why);
    if (verdict == VD_ESCALATION_NONE)
        return true;
    struct vd_status_target about = vd_call_about(call);
    about.name = vd_meta_name(object);
    struct vd_status status = vd_status_forbidden(&call->arena, &about, text);
    if (verdict == VD_ESCALATION_NO_ROLE) {
        status = vd_status_not_found(&call->arena, &about);
        status.message = text;
    }
    vd_call_reply_status(call, &status);
    return false;
}
