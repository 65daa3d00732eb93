/* Who a write is by, and the record of it in metadata.managedFields. */
#include "api/write/write_internal.h"
#include "base/human_time.h"
#include "kinds/field_tracking.h"

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
    struct vd_field_tracking tracking;
    vd_field_tracking_begin(&tracking, w->arena, w->kind, old, object, w->managed,
                            w->part == VD_PART_OBJECT ? given : NULL);
    if (vd_field_tracking_needs_manager(&tracking)) {
        struct vd_managed_who who = vd_write_manager(w);
        vd_managed_update(&tracking.record, &who, &tracking.changes);
    }
    return vd_field_tracking_end(&tracking, &w->managed);
}
