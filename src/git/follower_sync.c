/* See follower.h: the commit that was fetched is admitted as a push of it would be. */
#include "auth/service_account.h"
#include "git/follower.h"

enum { STALE_MS = 50 }; /* before a sync is tried again that somebody was faster than */

static void on_synced(struct vd_sync *s)
{
    struct vd_follower *w = VD_CONTAINER_OF(s, struct vd_follower, sync);
    enum vd_branch_result result = s->result;
    bool is_forbidden = vd_sync_is_forbidden(s);
    vd_buf_reset(&w->message);
    vd_sync_write_text(&w->message, s);
    vd_sync_release(s);
    if (result == VD_BRANCH_GOOD || result == VD_BRANCH_BEHIND)
        vd_follower_succeed(w);
    else if (result == VD_BRANCH_STALE)
        vd_follower_rest(w, STALE_MS);
    else
        vd_follower_fail(w, is_forbidden                  ? "Forbidden"
                            : result == VD_BRANCH_REFUSED ? "ManifestsInvalid"
                                                          : "AdmissionFailed");
}

/* The user that a ServiceAccount is; NULL: there is none. */
static struct vd_user *account_user(struct vd_follower *w, struct vd_slice namespace)
{
    struct vd_controller *c = w->followers->options.controller;
    struct vd_key key = {VD_SLICE("serviceaccounts"), namespace, w->account};
    struct vd_event *event = NULL;
    struct vd_buf name = {0}, group = {0};
    struct vd_user *user = NULL;
    char uid[VD_UID_TEXT_MAX];
    if (!vd_key_check(&key, NULL) && !vd_controller_read(c, &key, &w->arena, &event, NULL)) {
        vd_service_account_user_name(&name, namespace, w->account);
        vd_buf_addf(&group, "system:serviceaccounts:%.*s", VD_FMT(namespace));
        const struct vd_slice groups[] = {VD_SLICE("system:serviceaccounts"), vd_buf_slice(&group)};
        user = vd_user_new(&(struct vd_identity){.name = vd_buf_slice(&name),
                                                 .uid = vd_uid_format(event->uid, uid),
                                                 .groups = groups,
                                                 .groups_n = 2,
                                                 .method = VD_AUTH_SERVICE_ACCOUNT});
    }
    vd_event_unref(event);
    vd_buf_release(&name);
    vd_buf_release(&group);
    return user;
}

void vd_follower_sync(struct vd_follower *w)
{
    struct vd_followers *f = w->followers;
    struct vd_slice namespace = vd_repository_item_namespace(&w->item);
    w->user = account_user(w, namespace);
    if (!w->user) {
        vd_buf_reset(&w->message);
        vd_buf_addf(&w->message,
                    "there is no ServiceAccount %.*s in the namespace %.*s, with whose rights the "
                    "objects are written (spec.remote.serviceAccountName)",
                    VD_FMT(w->account), VD_FMT(namespace));
        vd_follower_fail(w, "Forbidden");
        return;
    }
    w->sync = (struct vd_sync){
        .all = f->options.all,
        .namespace = namespace,
        .name = vd_repository_item_name(&w->item),
        .uid = vd_slice_of(w->uid),
        .user = w->user,
        .branch = w->branch,
        .commit = vd_arena_copy(&w->arena, vd_slice_of(w->fetch.commit)),
        .done = on_synced,
    };
    vd_sync_start(&w->sync);
}
