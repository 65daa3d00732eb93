/* Whether the user of a write may make it. */
#include "api/write/write_internal.h"

bool vd_write_check_rights(struct vd_write *w, const char *verb)
{
    struct vd_refusal refusal = {
        .reason = VD_REFUSED_NOT_ALLOWED,
        .access = {.user = w->user,
                   .verb = vd_slice_of(verb),
                   .group = w->kind->group,
                   .resource = w->kind->plural,
                   .subresource = vd_write_subresource(w),
                   .namespace = w->namespace,
                   .name = w->name},
    };
    struct vd_buf reason = {0};
    bool allowed = vd_gatekeeper_allows(w->l->env->gatekeeper, &refusal.access, &reason);
    refusal.text = vd_arena_copy(w->arena, vd_buf_slice(&reason));
    vd_buf_release(&reason);
    return allowed || vd_write_refuse(w, &refusal);
}
