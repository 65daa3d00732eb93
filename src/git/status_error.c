/* See status_error.h. */
#include "git/status_error.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/utf8.h"

struct vd_slice vd_status_error_cut(struct vd_slice text)
{
    return vd_utf8_cut(vd_slice_trim(text), VD_GIT_STATUS_ERROR_LEN_MAX);
}

bool vd_status_error_write(struct vd_controller *controller, struct vd_controller_item *item,
                           const struct vd_event *event, const struct vd_json *object,
                           struct vd_slice text)
{
    struct vd_slice cut = vd_status_error_cut(text);
    if (vd_slice_eq(vd_json_text(vd_json_dig(object, "status", "lastError", NULL)), cut))
        return false;
    struct vd_conditional_batch *batch = vd_conditional_batch_new(controller, item);
    struct vd_arena *a = vd_conditional_batch_arena(batch);
    struct vd_json *told = vd_json_clone(a, object);
    struct vd_json *status = vd_json_get(told, VD_SLICE("status"));
    if (!vd_json_is(status, VD_JSON_OBJECT)) {
        status = vd_json_object(a);
        vd_json_set(a, told, VD_SLICE("status"), status);
    }
    vd_json_set(a, status, VD_SLICE("lastError"), vd_json_string(a, cut));
    vd_conditional_batch_replace(batch, event, told);
    vd_conditional_batch_send(batch);
    return true;
}

uint64_t vd_jittered_ms(uint64_t pause_ms)
{
    uint32_t chance;
    vd_random_bytes(&chance, sizeof chance);
    return pause_ms - pause_ms / 4 * chance / UINT32_MAX;
}

uint64_t vd_status_error_pause_ms(unsigned failures)
{
    uint64_t pause_ms = VD_GIT_RETRY_MS_MIN;
    for (unsigned i = 1; i < failures && pause_ms < VD_GIT_RETRY_MS_MAX; i++)
        pause_ms *= 2;
    if (pause_ms > VD_GIT_RETRY_MS_MAX)
        pause_ms = VD_GIT_RETRY_MS_MAX;
    return vd_jittered_ms(pause_ms);
}
