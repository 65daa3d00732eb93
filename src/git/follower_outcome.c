/* See follower.h: what came of a fetch and a sync. */
#include "base/limits.h"
#include "base/log.h"
#include "git/follow_audit.h"
#include "git/follower.h"
#include "git/status_error.h"
#include "kinds/condition.h"
#include "json/compare.h"

void vd_follower_hurry(struct vd_follower *w)
{
    uint64_t earliest_ns = w->begun_ns + VD_GIT_HURRY_MS * UINT64_C(1000000);
    if (w->due_ns > earliest_ns)
        w->due_ns = earliest_ns;
}

void vd_follower_rest(struct vd_follower *w, uint64_t pause_ms)
{
    struct vd_followers *f = w->followers;
    w->item.is_busy = false;
    w->due_ns = vd_follower_now_ns(f) + pause_ms * 1000000;
    if (w->hurries)
        vd_follower_hurry(w);
    vd_folder_use_end(&w->use);
    vd_user_unref(w->user);
    w->user = NULL;
    vd_arena_release(&w->arena);
    vd_repository_item_add(&f->items, &w->item);
}

static void audit(struct vd_follower *w, const char *reason)
{
    struct vd_followers *f = w->followers;
    vd_follow_audit(f->options.audit, &(struct vd_followed){
                                          .namespace = vd_repository_item_namespace(&w->item),
                                          .name = vd_repository_item_name(&w->item),
                                          .user = w->user,
                                          .url = w->fetch.url,
                                          .reason = reason,
                                          .message = vd_status_error_cut(vd_buf_slice(&w->message)),
                                          .duration_ns = vd_follower_now_ns(f) - w->begun_ns,
                                      });
}

void vd_follower_fail(struct vd_follower *w, const char *reason)
{
    if (w->is_given_up) { /* that is nothing to be told */
        vd_follower_rest(w, 0);
        return;
    }
    w->has_outcome = true;
    w->reason = reason;
    vd_log_warn("a remote repository cannot be followed",
                VD_F_SLICE("repository", vd_repository_item_key(&w->item)),
                VD_F_STR("reason", reason),
                VD_F_SLICE("message", vd_status_error_cut(vd_buf_slice(&w->message))));
    audit(w, reason);
    vd_follower_rest(w, vd_status_error_pause_ms(++w->failures));
}

void vd_follower_succeed(struct vd_follower *w)
{
    w->failures = 0;
    w->has_outcome = true;
    w->reason = NULL;
    audit(w, NULL);
    vd_follower_rest(w, vd_jittered_ms(w->interval_ms));
}

bool vd_follower_write_outcome(struct vd_follower *w, const struct vd_event *event,
                               const struct vd_json *object)
{
    struct vd_controller *c = w->followers->options.controller;
    struct vd_conditional_batch *batch = vd_conditional_batch_new(c, &w->item.item);
    struct vd_arena *a = vd_conditional_batch_arena(batch);
    struct vd_json *told = vd_json_clone(a, object);
    struct vd_slice message = vd_status_error_cut(vd_buf_slice(&w->message));
    vd_condition_set(
        a, told,
        &(struct vd_condition){.type = VD_SLICE("Synced"),
                               .status = w->reason ? VD_SLICE("False") : VD_SLICE("True"),
                               .reason = vd_slice_of(w->reason ? w->reason : "UpToDate"),
                               .message = w->reason ? message : VD_SLICE("")},
        vd_clock_wall_ms(c->env.clock));
    struct vd_json *status = vd_json_get(told, VD_SLICE("status"));
    if (w->reason)
        vd_json_set(a, status, VD_SLICE("lastError"), vd_json_string(a, message));
    else
        vd_json_remove(status, VD_SLICE("lastError"));
    bool differs = !vd_json_eq(told, object);
    if (differs)
        vd_conditional_batch_replace(batch, event, told);
    vd_conditional_batch_send(batch);
    return differs;
}
