/* Nobody gives away rights that they do not have: writes of roles and bindings. The rules are in
 * auth/escalation.h. A write that changes nothing gives nothing away. */
#include "auth/escalation.h"

#include "api/batch/batch_internal.h"
#include "api/write/write_internal.h"
#include "auth/role.h"
#include "kinds/object_meta.h"

static enum vd_escalation judge_role(const struct vd_write *w, const struct vd_rbac *rbac,
                                     const struct vd_json *object, bool creating,
                                     struct vd_buf *why)
{
    struct vd_role *role = NULL;
    struct vd_error error;
    if (vd_role_from_json(&role, object, &error)) {
        vd_buf_add_text(why, error.text);
        return VD_ESCALATION_REFUSED;
    }
    enum vd_escalation verdict = VD_ESCALATION_NONE;
    if (!w->unchanged)
        verdict = vd_escalation_by_role(rbac, w->user, role, creating, why);
    if (w->member)
        vd_batch_put_role(w->member, role);
    vd_role_unref(role);
    return verdict;
}

/* By the role as it will be, if the same batch writes that. Where it does so in vain, the batch is
 * refused for that. */
static enum vd_escalation judge_bound(const struct vd_write *w, const struct vd_rbac *rbac,
                                      const struct vd_binding *binding, struct vd_buf *why)
{
    const struct vd_batch_role *written = w->member ? vd_batch_find_role(w->member, binding) : NULL;
    if (!written)
        return vd_escalation_by_binding(rbac, w->user, binding, why);
    if (written->put && !written->role)
        return VD_ESCALATION_NONE;
    return vd_escalation_by_binding_to(rbac, w->user, binding, written->role, why);
}

static enum vd_escalation judge_binding(const struct vd_write *w, const struct vd_rbac *rbac,
                                        const struct vd_json *object, struct vd_buf *why)
{
    struct vd_binding *binding = NULL;
    struct vd_error error;
    if (vd_binding_from_json(&binding, object, &error)) {
        vd_buf_add_text(why, error.text);
        return VD_ESCALATION_REFUSED;
    }
    enum vd_escalation verdict = judge_bound(w, rbac, binding, why);
    vd_binding_unref(binding);
    return verdict;
}

static bool is_one_of(struct vd_slice key, const char *a, const char *b)
{
    return vd_slice_is(key, a) || vd_slice_is(key, b);
}

bool vd_write_check_escalation(struct vd_write *w, const struct vd_json *object, bool creating)
{
    struct vd_slice key = w->kind->resource;
    bool role = is_one_of(key, "roles.rbac.authorization.k8s.io",
                          "clusterroles.rbac.authorization.k8s.io");
    bool binding = is_one_of(key, "rolebindings.rbac.authorization.k8s.io",
                             "clusterrolebindings.rbac.authorization.k8s.io");
    if (!role && !(binding && !w->unchanged))
        return true;
    struct vd_buf why = {0};
    struct vd_rbac *rbac = vd_gatekeeper_rbac(w->l->env->gatekeeper);
    enum vd_escalation verdict = role ? judge_role(w, rbac, object, creating, &why)
                                      : judge_binding(w, rbac, object, &why);
    vd_rbac_unref(rbac);
    struct vd_slice text = vd_arena_copy(w->arena, vd_buf_slice(&why));
    vd_buf_release(&why);
    if (verdict == VD_ESCALATION_NONE)
        return true;
    return vd_write_refuse(
        w,
        &(struct vd_refusal){.reason = verdict == VD_ESCALATION_NO_ROLE ? VD_REFUSED_ROLE_NOT_FOUND
                                                                        : VD_REFUSED_FORBIDDEN,
                             .text = text,
                             .name = vd_arena_copy(w->arena, vd_meta_name(object))});
}
