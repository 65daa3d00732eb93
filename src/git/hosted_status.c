/* See hosted_repository.h: the conditions of a Repository. */
#include "git/hosted_repository.h"
#include "kinds/condition.h"
#include "kinds/object_meta.h"
#include "json/compare.h"

static void set_condition(struct vd_arena *a, struct vd_json *object, const char *type, bool holds,
                          const char *reason, const char *message, int64_t now_ms)
{
    vd_condition_set(a, object,
                     &(struct vd_condition){.type = vd_slice_of(type),
                                            .status = vd_slice_of(holds ? "True" : "False"),
                                            .reason = vd_slice_of(reason),
                                            .message = vd_slice_of(message)},
                     now_ms);
}

void vd_hosted_report(struct vd_hosted *h, const struct vd_event *event,
                      const struct vd_json *object, const struct vd_hosted_state *what)
{
    struct vd_controller *c = vd_hosted_controller(h);
    struct vd_conditional_batch *batch = vd_conditional_batch_new(c, &h->item);
    struct vd_arena *a = vd_conditional_batch_arena(batch);
    struct vd_json *told = vd_json_clone(a, object);
    int64_t now_ms = vd_clock_wall_ms(c->env.clock);
    set_condition(a, told, "Ready", what->ready, what->ready ? "Served" : what->reason,
                  what->ready ? "" : what->message, now_ms);
    if (what->knows_synced)
        set_condition(a, told, "Synced", what->synced, what->synced ? "RefsAgree" : what->reason,
                      what->synced ? "" : what->message, now_ms);
    vd_json_set(a, vd_json_get(told, VD_SLICE("status")), VD_SLICE("observedGeneration"),
                vd_json_i64(a, vd_meta_generation(object)));
    if (!vd_json_eq(told, object))
        vd_conditional_batch_replace(batch, event, told);
    vd_conditional_batch_send(batch);
}

void vd_hosted_report_failure(struct vd_hosted *h, const struct vd_event *event,
                              const struct vd_json *object, const char *reason, const char *message)
{
    vd_hosted_report(h, event, object,
                     &(struct vd_hosted_state){.reason = reason, .message = message});
}
