/* See hosted_repository.h: one Repository, and which step is next for it. */
#include "git/hosted_repository.h"
#include "git/lost_contents.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/log.h"
#include "kinds/object_meta.h"

/* ---- life ---- */

struct vd_hosted *vd_hosted_new(struct vd_repositories *r, struct vd_slice key)
{
    struct vd_hosted *h = vd_calloc(1, sizeof *h + key.n);
    h->item.reconciler = &r->reconciler;
    h->key_len = key.n;
    memcpy(h->key, key.p, key.n);
    return h;
}

void vd_hosted_free(struct vd_hosted *h)
{
    vd_folder_job_release(&h->job);
    vd_owned_objects_release(&h->owned);
    free(h->branch);
    free(h);
}

/* ---- steps ---- */

void vd_hosted_set_ready(struct vd_hosted *h, bool ready)
{
    struct vd_repositories *r = vd_hosted_owner(h);
    if (h->is_ready == ready)
        return;
    pthread_mutex_lock(&r->lock);
    h->is_ready = ready;
    pthread_mutex_unlock(&r->lock);
}

void vd_hosted_add(struct vd_hosted *h)
{
    struct vd_controller *c = vd_hosted_controller(h);
    if (!c->stopping)
        vd_controller_add(c, &h->item);
}

void vd_hosted_add_after(struct vd_hosted *h, uint64_t delay_ms)
{
    struct vd_controller *c = vd_hosted_controller(h);
    vd_work_queue_add_after(&c->queue, &h->item.work, vd_clock_mono_ns(c->env.clock) / 1000000,
                            delay_ms);
}

void vd_hosted_reset(struct vd_hosted *h)
{
    vd_hosted_set_ready(h, false);
    free(h->branch);
    h->branch = NULL;
    h->uid[0] = 0;
    h->is_told = h->is_made = h->is_cleaned = h->is_recovered = false;
    h->is_emptied = h->is_removed = false;
    h->error = (struct vd_error){.code = VD_OK};
    vd_owned_objects_release(&h->owned);
}

/* ---- the item ---- */

static void add_finalizer(struct vd_hosted *h, const struct vd_event *event, struct vd_json *object)
{
    struct vd_conditional_batch *batch = vd_conditional_batch_new(vd_hosted_controller(h),
                                                                  &h->item);
    vd_meta_add_finalizer(vd_conditional_batch_arena(batch), object,
                          VD_SLICE(VD_REPOSITORY_FINALIZER));
    vd_conditional_batch_replace(batch, event, object);
    vd_conditional_batch_send(batch);
}

/* What has failed is told once, and then tried again after a while. */
static bool tells_failure(struct vd_hosted *h, const struct vd_repository *repository,
                          const struct vd_event *event, const struct vd_json *object)
{
    if (h->error.code == VD_OK || h->is_told)
        return false;
    h->is_told = true;
    vd_log_warn("a repository is not as it should be", VD_F_SLICE("repository", vd_hosted_key(h)),
                VD_F_ERROR(&h->error));
    if (h->is_made) {
        struct vd_buf text = {0};
        bool is_lost = vd_contents_are_lost(&h->error);
        if (is_lost)
            vd_contents_lost_write(&text, repository);
        vd_hosted_set_ready(h, true); /* what is there can be cloned, and a push may mend it */
        vd_hosted_report(
            h, event, object,
            &(struct vd_hosted_state){.ready = true,
                                      .knows_synced = !repository->remote,
                                      .reason = is_lost ? "ContentsLost" : "RefsBehind",
                                      .message = is_lost ? vd_buf_text(&text) : h->error.text});
        vd_buf_release(&text);
    } else {
        vd_hosted_report_failure(h, event, object, "FolderFailed", h->error.text);
    }
    vd_hosted_add_after(h, VD_HOSTED_RETRY_MS);
    return true;
}

static void serve(struct vd_hosted *h, const struct vd_repository *repository,
                  const struct vd_event *event, struct vd_json *object)
{
    bool is_current = h->branch && vd_slice_is(repository->default_branch, h->branch);
    if (!vd_meta_has_finalizer(object, VD_SLICE(VD_REPOSITORY_FINALIZER))) {
        add_finalizer(h, event, object);
    } else if (tells_failure(h, repository, event, object)) {
        return;
    } else if (!h->is_made || !h->is_recovered || !is_current) {
        if (vd_hosted_is_used(h))
            vd_hosted_add_after(h, VD_HOSTED_USED_MS);
        else
            vd_hosted_make_folder(h, repository);
    } else {
        vd_hosted_set_ready(h, true);
        vd_hosted_report(h, event, object,
                         &(struct vd_hosted_state){
                             .ready = true, .synced = true, .knows_synced = !repository->remote});
    }
}

/* The object of the folder is gone, or is another one of the same name. */
static void forget(struct vd_hosted *h)
{
    vd_hosted_set_ready(h, false);
    if (!h->uid[0] || h->is_removed) {
        vd_hosted_reset(h);
    } else if (!vd_hosted_must_wait(h)) {
        h->is_emptied = false;
        vd_hosted_remove_folder(h);
    }
}

static void look_at(struct vd_hosted *h, const struct vd_event *event, struct vd_json *object)
{
    const struct vd_repositories_options *options = &vd_hosted_owner(h)->options;
    struct vd_repository repository;
    struct vd_error error;
    int code = vd_repository_read(&repository, object, &error);
    if (h->uid[0] && strcmp(h->uid, repository.uid) != 0) {
        forget(h);
        if (h->uid[0])
            return;
    }
    memcpy(h->uid, repository.uid, sizeof h->uid);
    if (repository.is_deleting) {
        vd_hosted_delete_step(h, &repository, event, object);
    } else if (!options->program) {
        vd_hosted_report_failure(h, event, object, "NoGit", options->missing);
    } else if (code) {
        vd_hosted_set_ready(h, false);
        vd_hosted_report_failure(h, event, object, "Invalid", error.text);
    } else {
        serve(h, &repository, event, object);
    }
}

static struct vd_key key_of(const struct vd_hosted *h)
{
    struct vd_key key = {.resource = VD_SLICE(VD_REPOSITORY_RESOURCE)};
    key.name = vd_hosted_key(h);
    vd_slice_cut(&key.name, '/', &key.namespace);
    return key;
}

void vd_hosted_reconcile(struct vd_controller_item *item)
{
    struct vd_hosted *h = VD_CONTAINER_OF(item, struct vd_hosted, item);
    struct vd_key key = key_of(h);
    struct vd_arena arena = {0};
    struct vd_event *event = NULL;
    struct vd_json *object = NULL;
    if (!vd_hosted_owner(h)->is_swept || h->is_busy)
        return;
    int code = vd_controller_read(vd_hosted_controller(h), &key, &arena, &event, &object);
    h->is_gone = false;
    if (!code) {
        look_at(h, event, object);
    } else if (code == VD_ERR_NOT_FOUND) {
        forget(h);
        h->is_gone = !h->uid[0];
    }
    vd_event_unref(event);
    vd_arena_release(&arena);
}
