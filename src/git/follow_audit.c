/* See follow_audit.h. */
#include "git/follow_audit.h"

#include <string.h>

#include "git/repository.h"

static unsigned status_of(const char *reason)
{
    static const struct {
        const char *reason;
        unsigned status;
    } known[] = {
        {"FetchFailed", 502},
        {"Forbidden", 403},
        {"ManifestsInvalid", 422},
    };
    if (!reason)
        return 200;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(reason, known[i].reason) == 0)
            return known[i].status;
    return 500;
}

void vd_follow_audit(struct vd_audit *audit, const struct vd_followed *f)
{
    struct vd_buf uri = {0}, message = {0};
    if (!audit)
        return;
    struct vd_user *user = f->user ? vd_user_ref(f->user)
                                   : vd_user_new(&(struct vd_identity){
                                         .name = VD_SLICE("system:vedette:git")});
    struct vd_access access = {.user = user,
                               .verb = VD_SLICE("update"),
                               .group = VD_SLICE(VD_GIT_GROUP),
                               .resource = VD_SLICE("repositories"),
                               .subresource = VD_SLICE("contents"),
                               .namespace = f->namespace,
                               .name = f->name};
    vd_buf_addf(&uri, "/%.*s/%.*s.git", VD_FMT(f->namespace), VD_FMT(f->name));
    if (f->url)
        vd_buf_addf(&message, "%s: ", f->url);
    vd_buf_add_slice(&message, f->message.n ? f->message : VD_SLICE("up to date"));
    vd_audit_act(audit, &(struct vd_audit_act){
                            .access = &access,
                            .api_version = VD_SLICE("v1"),
                            .uri = vd_buf_slice(&uri),
                            .agent = VD_SLICE("vedette-git"),
                            .duration_ns = f->duration_ns,
                            .status = status_of(f->reason),
                            .answer = {.success = !f->reason,
                                       .reason = vd_slice_of(f->reason ? f->reason : ""),
                                       .message = vd_buf_slice(&message)},
                        });
    vd_user_unref(user);
    vd_buf_release(&uri);
    vd_buf_release(&message);
}
