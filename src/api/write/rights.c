/* Whether the user of a write may make it. */
#include "api/write/write_internal.h"

/* Rules see a namespace in itself, and what is in no namespace in none: there, the rules of any
 * namespace would open it. */
static struct vd_slice namespace_of(const struct vd_write *w)
{
    if (vd_slice_is(w->kind->resource, "namespaces"))
        return w->name;
    return w->kind->namespaced ? w->namespace : VD_SLICE("");
}

bool vd_write_check_rights(struct vd_write *w, const char *verb)
{
    struct vd_refusal refusal = {
        .reason = VD_REFUSED_NOT_ALLOWED,
        .access = {.user = w->user,
                   .verb = vd_slice_of(verb),
                   .group = w->kind->group,
                   .resource = w->kind->plural,
                   .subresource = vd_write_subresource(w),
                   .namespace = namespace_of(w),
                   .name = w->name},
    };
    struct vd_buf reason = {0};
    bool allowed = vd_gatekeeper_allows(w->l->env->gatekeeper, &refusal.access, &reason);
    refusal.text = vd_arena_copy(w->arena, vd_buf_slice(&reason));
    vd_buf_release(&reason);
    return allowed || vd_write_refuse(w, &refusal);
}
