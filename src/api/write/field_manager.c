/* Who a write is by, and the record of it in metadata.managedFields. */
#include "kube/field_manager.h"
#include "api/write/write_internal.h"
#include "base/human_time.h"

struct vd_managed_who vd_write_manager(struct vd_write *w)
{
    char text[VD_RFC3339_MAX];
    struct vd_slice time = vd_rfc3339_format(vd_clock_wall_ms(w->l->env->clock), text);
    return (struct vd_managed_who){.manager = w->manager,
                                   .api_version = w->kind->api_version,
                                   .subresource = vd_write_subresource(w),
                                   .time = vd_arena_copy(w->arena, time)};
}

bool vd_write_track(struct vd_write *w, const struct vd_json *old, const struct vd_json *object,
                    const struct vd_json *given)
{
    struct vd_managed_who who = vd_write_manager(w);
    return vd_track(w->arena, w->kind, &who, old, object, w->part == VD_PART_OBJECT ? given : NULL,
                    &w->managed);
}
