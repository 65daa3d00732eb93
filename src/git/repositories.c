/* See repositories.h. What is done for each of them is in hosted_repository.h. */
#include "git/repositories.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/log.h"
#include "git/hosted_repository.h"

/* ---- all of them ---- */

static struct vd_slice hosted_key(const void *item)
{
    return vd_hosted_key(item);
}

static void settled(struct vd_controller_item *item)
{
    struct vd_hosted *h = VD_CONTAINER_OF(item, struct vd_hosted, item);
    struct vd_repositories *r = vd_hosted_owner(h);
    if (!h->is_gone)
        return;
    pthread_mutex_lock(&r->lock);
    vd_hash_map_remove(&r->all, vd_hosted_key(h));
    pthread_mutex_unlock(&r->lock);
    vd_hosted_free(h);
}

static struct vd_hosted *open_hosted(struct vd_repositories *r, struct vd_slice key)
{
    struct vd_hosted *h = vd_hash_map_get(&r->all, key);
    if (h)
        return h;
    h = vd_hosted_new(r, key);
    pthread_mutex_lock(&r->lock);
    vd_hash_map_put(&r->all, h);
    pthread_mutex_unlock(&r->lock);
    return h;
}

/* ---- folders of nobody ---- */

static void add_all(struct vd_repositories *r)
{
    size_t at = 0;
    for (struct vd_hosted *h; (h = vd_hash_map_next(&r->all, &at));)
        vd_hosted_add(h);
}

static void on_swept(struct vd_folder_job *job)
{
    struct vd_repositories *r = VD_CONTAINER_OF(job, struct vd_repositories, sweep);
    if (job->error.code)
        vd_log_warn("the folders of repositories could not be looked through",
                    VD_F_ERROR(&job->error));
    vd_folder_job_release(job);
    r->is_swept = true;
    add_all(r);
}

/* Until it is done no folder is made, which it would take for nobody's. */
static void start_sweep(struct vd_repositories *r)
{
    size_t at = 0;
    r->is_sweeping = true;
    r->sweep = (struct vd_folder_job){
        .task = VD_FOLDER_SWEEP, .root = r->options.root, .done = on_swept};
    for (struct vd_hosted *h; (h = vd_hash_map_next(&r->all, &at));)
        *VD_VEC_PUSH(&r->sweep.known) = vd_arena_copy(&r->sweep.arena, vd_slice_of(h->uid));
    vd_folder_job_start(&r->sweep, r->options.controller->env.loop);
}

/* ---- what the informer tells ---- */

static void on_changed(struct vd_informer_handler *handler, const struct vd_change *change)
{
    struct vd_repositories *r = VD_CONTAINER_OF(handler, struct vd_repositories, handler);
    const struct vd_entry *entry = change->now->entry;
    if (!vd_slice_eq(vd_entry_resource(entry), VD_SLICE(VD_REPOSITORY_RESOURCE)))
        return;
    struct vd_hosted *h = open_hosted(r, vd_entry_path(entry));
    if (!r->is_sweeping) /* the sweep has to know whose folders there are */
        vd_uid_format(change->now->uid, h->uid);
    vd_hosted_add(h);
}

static void on_damaged(struct vd_informer_handler *handler, const struct vd_key *key)
{
    struct vd_repositories *r = VD_CONTAINER_OF(handler, struct vd_repositories, handler);
    r->is_incomplete |= vd_slice_eq(key->resource, VD_SLICE(VD_REPOSITORY_RESOURCE));
}

static void on_synced(struct vd_informer_handler *handler)
{
    struct vd_repositories *r = VD_CONTAINER_OF(handler, struct vd_repositories, handler);
    if (r->is_incomplete && !r->is_sweeping)
        r->is_sweeping = r->is_swept = true;
    if (r->is_sweeping)
        add_all(r);
    else
        start_sweep(r);
}

/* ---- for others ---- */

bool vd_repositories_is_ready(struct vd_repositories *r, struct vd_slice namespace,
                              struct vd_slice name, struct vd_slice uid)
{
    struct vd_path room;
    struct vd_key key = {VD_SLICE(VD_REPOSITORY_RESOURCE), namespace, name};
    if (vd_key_check(&key, NULL))
        return false;
    struct vd_slice path = vd_key_path(&room, &key);
    pthread_mutex_lock(&r->lock);
    const struct vd_hosted *h = vd_hash_map_get(&r->all, path);
    bool ready = h && h->is_ready && vd_slice_is(uid, h->uid);
    pthread_mutex_unlock(&r->lock);
    return ready;
}

void vd_repositories_recover(struct vd_repositories *r, struct vd_slice namespace,
                             struct vd_slice name)
{
    struct vd_path room;
    struct vd_key key = {VD_SLICE(VD_REPOSITORY_RESOURCE), namespace, name};
    struct vd_hosted *h = vd_hash_map_get(&r->all, vd_key_path(&room, &key));
    if (!h)
        return;
    /* Who comes now waits until it is ready again: a push under way keeps the folder in use. */
    h->is_cleaned = h->is_recovered = false;
    vd_hosted_set_ready(h, false);
    vd_hosted_add(h);
}

struct vd_repositories *vd_repositories_new(const struct vd_repositories_options *options)
{
    static const struct vd_informer_ops ops = {
        .changed = on_changed, .damaged = on_damaged, .synced = on_synced};
    struct vd_repositories *r = VD_NEW(struct vd_repositories);
    r->options = *options;
    r->handler.ops = &ops;
    r->reconciler = (struct vd_reconciler){vd_hosted_reconcile, settled};
    pthread_mutex_init(&r->lock, NULL);
    vd_hash_map_init(&r->all, hosted_key);
    vd_informer_add_handler(&options->controller->informer, &r->handler);
    return r;
}

void vd_repositories_free(struct vd_repositories *r)
{
    size_t at = 0;
    if (!r)
        return;
    for (struct vd_hosted *h; (h = vd_hash_map_next(&r->all, &at));)
        vd_hosted_free(h);
    vd_hash_map_release(&r->all);
    pthread_mutex_destroy(&r->lock);
    free(r);
}
