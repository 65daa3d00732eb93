/* See new_token.h. */
#include "new_token.h"

#include "auth/token.h"
#include "base/clock.h"
#include "base/vec.h"

int vd_new_token(const char *folder, const struct vd_new_token *about, struct vd_buf *token,
                 struct vd_buf *id, struct vd_error *error)
{
    VD_VEC(struct vd_slice) groups = {0};
    struct vd_slice rest = vd_slice_of(about->groups ? about->groups : ""), group;
    while (about->groups && vd_slice_cut(&rest, ',', &group))
        *VD_VEC_PUSH(&groups) = group;
    int code = vd_token_create(
        folder,
        &(struct vd_token_spec){
            .user = vd_slice_of(about->user),
            .groups = groups.p,
            .groups_n = groups.n,
            .description = vd_slice_of(about->description ? about->description : ""),
            .lifetime_ms = about->lifetime_ms,
        },
        vd_clock_system(), token, id, error);
    VD_VEC_RELEASE(&groups);
    return code;
}
