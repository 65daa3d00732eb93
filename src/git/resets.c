/* See resets.h. */
#include "git/resets.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/container_of.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/utf8.h"
#include "git/repository_items.h"
#include "git/status_error.h"
#include "git/sync.h"
#include "kinds/object_meta.h"
#include "json/compare.h"

enum {
    READY_MS = 300, /* before it is looked again whether the repository is ready */
    STALE_MS = 50   /* before one is tried again that somebody was faster than */
};

/* What status.lastAdmission.user says of a reset. A user of this name has no rights by it. */
#define RESET_USER "system:vedette:git"

struct vd_resets {
    struct vd_repository_items items;
    struct vd_informer_handler handler;
    struct vd_admissions *all;
    struct vd_repositories *repositories;
    struct vd_user *user; /* the server itself */
    bool is_stopped;
};

struct reset {
    struct vd_repository_item item;
    struct vd_resets *resets;
    struct vd_sync sync;
    char uid[VD_UID_TEXT_MAX];
    struct vd_buf wanted;  /* the text of the annotation that the sync is for */
    struct vd_buf failure; /* why it has failed; empty: it has not */
    unsigned failures;     /* in a row */
    uint64_t retry_ns;     /* when it is tried again */
};

static struct reset *of(struct vd_repository_item *item)
{
    return VD_CONTAINER_OF(item, struct reset, item);
}

/* The text that a Repository asks for; empty: it asks for nothing. */
static struct vd_slice wanted_of(const struct vd_json *object)
{
    struct vd_slice text = VD_SLICE("");
    (void)vd_meta_annotation(object, VD_SLICE(VD_GIT_RESET), &text);
    return vd_utf8_cut(text, VD_GIT_RESET_LEN_MAX);
}

static bool is_done(const struct vd_json *object, struct vd_slice wanted)
{
    const struct vd_json *last = vd_json_dig(object, "status", "lastReset", NULL);
    return !wanted.n || vd_slice_eq(vd_json_text(last), wanted);
}

/* ---- the sync ---- */

static void on_synced(struct vd_sync *s)
{
    struct reset *r = VD_CONTAINER_OF(s, struct reset, sync);
    struct vd_resets *resets = r->resets;
    uint64_t pause_ms = 0;
    r->item.is_busy = false;
    vd_buf_reset(&r->failure);
    if (s->result == VD_BRANCH_STALE || resets->is_stopped) {
        pause_ms = STALE_MS;
    } else if (s->result != VD_BRANCH_GOOD && s->result != VD_BRANCH_BEHIND) {
        vd_buf_add_text(&r->failure, "the reset has failed: ");
        vd_sync_write_text(&r->failure, s);
        vd_log_warn("a repository could not be reset",
                    VD_F_SLICE("repository", vd_repository_item_key(&r->item)),
                    VD_F_SLICE("reason", vd_status_error_cut(vd_buf_slice(&r->failure))));
        pause_ms = vd_status_error_pause_ms(++r->failures);
    } else {
        r->failures = 0;
    }
    vd_sync_release(s);
    r->retry_ns = vd_clock_mono_ns(resets->items.controller->env.clock) + pause_ms * 1000000;
    vd_repository_item_add(&resets->items, &r->item);
}

static void start(struct vd_resets *resets, struct reset *r)
{
    r->item.is_busy = true;
    r->resets = resets;
    r->sync = (struct vd_sync){
        .all = resets->all,
        .namespace = vd_repository_item_namespace(&r->item),
        .name = vd_repository_item_name(&r->item),
        .uid = vd_slice_of(r->uid),
        .user = resets->user,
        .reset = vd_buf_slice(&r->wanted),
        .done = on_synced,
    };
    vd_sync_start(&r->sync);
}

/* ---- the item ---- */

static bool has_commits(const struct vd_repository *repository)
{
    VD_JSON_EACH (item, repository->recorded)
        if (vd_json_text(vd_json_get(item, VD_SLICE("commit"))).n)
            return true;
    return false;
}

/* Nothing was ever admitted: there is nothing to write again. */
static void note_done(struct vd_repository_items *items, struct reset *r,
                      const struct vd_event *event, struct vd_json *object)
{
    struct vd_conditional_batch *batch = vd_conditional_batch_new(items->controller, &r->item.item);
    struct vd_arena *a = vd_conditional_batch_arena(batch);
    struct vd_json *status = vd_json_get(object, VD_SLICE("status"));
    if (!vd_json_is(status, VD_JSON_OBJECT)) {
        status = vd_json_object(a);
        vd_json_set(a, object, VD_SLICE("status"), status);
    }
    vd_json_set(a, status, VD_SLICE("lastReset"), vd_json_string(a, vd_buf_slice(&r->wanted)));
    vd_conditional_batch_replace(batch, event, object);
    vd_conditional_batch_send(batch);
}

static void proceed(struct vd_repository_items *items, struct reset *r,
                    const struct vd_repository *repository, const struct vd_event *event,
                    struct vd_json *object)
{
    struct vd_resets *resets = VD_CONTAINER_OF(items, struct vd_resets, items);
    uint64_t now_ns = vd_clock_mono_ns(items->controller->env.clock);
    if (resets->is_stopped)
        return;
    if (now_ns < r->retry_ns)
        vd_repository_item_add_after(items, &r->item, (r->retry_ns - now_ns) / 1000000 + 1);
    else if (!has_commits(repository))
        note_done(items, r, event, object);
    else if (!vd_repositories_is_ready(resets->repositories, repository->namespace,
                                       repository->name, vd_slice_of(repository->uid)))
        vd_repository_item_add_after(items, &r->item, READY_MS);
    else
        start(resets, r);
}

static void reconcile(struct vd_repository_items *items, struct vd_repository_item *item,
                      const struct vd_event *event, struct vd_json *object)
{
    struct reset *r = of(item);
    struct vd_repository repository;
    struct vd_error error;
    struct vd_slice wanted = object ? wanted_of(object) : VD_SLICE("");
    if (!object || is_done(object, wanted) || vd_repository_read(&repository, object, &error) ||
        repository.is_deleting) {
        vd_buf_release(&r->wanted);
        vd_buf_release(&r->failure);
        r->failures = 0;
        return;
    }
    if (!vd_slice_eq(wanted, vd_buf_slice(&r->wanted))) {
        vd_buf_reset(&r->wanted);
        vd_buf_add_slice(&r->wanted, wanted);
        r->failures = 0;
        r->retry_ns = 0;
    }
    memcpy(r->uid, repository.uid, sizeof r->uid);
    if (r->failure.n && vd_status_error_write(items->controller, &item->item, event, object,
                                              vd_buf_slice(&r->failure)))
        return;
    proceed(items, r, &repository, event, object);
}

static void release(struct vd_repository_item *item)
{
    struct reset *r = of(item);
    vd_buf_release(&r->wanted);
    vd_buf_release(&r->failure);
}

static void on_changed(struct vd_informer_handler *handler, const struct vd_change *change)
{
    struct vd_resets *resets = VD_CONTAINER_OF(handler, struct vd_resets, handler);
    vd_repository_items_changed(&resets->items, change);
}

/* ---- life ---- */

struct vd_resets *vd_resets_new(struct vd_controller *controller, struct vd_admissions *all,
                                struct vd_repositories *repositories)
{
    static const struct vd_informer_ops informer_ops = {.changed = on_changed};
    static const struct vd_repository_items_ops ops = {reconcile, release};
    static const struct vd_slice masters = {VD_GROUP_MASTERS, sizeof VD_GROUP_MASTERS - 1};
    struct vd_resets *resets = VD_NEW(struct vd_resets);
    resets->items.controller = controller;
    resets->items.ops = &ops;
    resets->items.record_len = sizeof(struct reset);
    vd_repository_items_init(&resets->items);
    resets->all = all;
    resets->repositories = repositories;
    resets->user = vd_user_new(&(struct vd_identity){.name = VD_SLICE(RESET_USER),
                                                     .groups = &masters,
                                                     .groups_n = 1,
                                                     .method = VD_AUTH_CERTIFICATE});
    resets->handler.ops = &informer_ops;
    vd_informer_add_handler(&controller->informer, &resets->handler);
    return resets;
}

void vd_resets_stop(struct vd_resets *resets)
{
    size_t at = 0;
    resets->is_stopped = true;
    for (struct vd_repository_item *item; (item = vd_hash_map_next(&resets->items.all, &at));)
        if (item->is_busy)
            vd_sync_stop(&of(item)->sync);
}

void vd_resets_free(struct vd_resets *resets)
{
    if (!resets)
        return;
    vd_repository_items_release(&resets->items);
    vd_user_unref(resets->user);
    free(resets);
}
