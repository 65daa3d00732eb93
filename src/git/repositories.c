/*
 * See repositories.h. There is one `struct hosted` for each Repository, with an item that brings
 * its folder and its status to what the object asks for, one step at a time. A step that takes a
 * worker or a git process sets `is_busy`; when it is done, the item is added again.
 */
#include "git/repositories.h"

#include <pthread.h>
#include <stdlib.h>

#include "api/conditional_batch.h"
#include "base/alloc.h"
#include "base/container_of.h"
#include "base/hash_map.h"
#include "base/log.h"
#include "git/bare_repository.h"
#include "git/folder_job.h"
#include "git/lost_contents.h"
#include "git/meter.h"
#include "git/owned_objects.h"
#include "git/ref_update.h"
#include "git/repository.h"
#include "kinds/condition.h"
#include "kinds/object_meta.h"
#include "json/compare.h"

enum {
    RETRY_MS = 5000,  /* before what has failed is tried again */
    RESCAN_MS = 1000, /* before it is looked again whether objects are left */
    USED_MS = 200     /* before it is looked again whether a push is over */
};

struct hosted {
    struct vd_controller_item item;
    struct vd_folder_job job;
    struct vd_ref_update update;
    struct vd_owned_objects owned;
    struct vd_error error;     /* why the last step has failed; code 0: it has not */
    char uid[VD_UID_TEXT_MAX]; /* whose folder all of this is about; "": none yet */
    char *branch;              /* where HEAD is; NULL: not known */
    bool is_busy;              /* a worker or a git process is at work */
    bool is_told;              /* the failure has been reported, and it is waited */
    bool is_made, is_cleaned, is_recovered;
    bool is_emptied, is_removed; /* while it is being deleted */
    bool is_ready;               /* under the lock */
    bool is_gone;                /* the store has no such object, and no folder is left */
    size_t key_len;
    char key[]; /* "namespace/name" */
};

struct vd_repositories {
    struct vd_repositories_options options;
    struct vd_informer_handler handler;
    struct vd_reconciler reconciler;
    struct vd_folder_job sweep;
    bool is_sweeping, is_swept;
    bool is_incomplete;     /* a Repository cannot be read: nobody knows whose folders there are */
    pthread_mutex_t lock;   /* guards `all` against readers on other loops, and is_ready */
    struct vd_hash_map all; /* by key; changed by the controller's loop alone */
};

static struct vd_slice hosted_key(const void *item)
{
    const struct hosted *h = item;
    return vd_slice(h->key, h->key_len);
}

static struct vd_repositories *owner_of(const struct hosted *h)
{
    return VD_CONTAINER_OF(h->item.reconciler, struct vd_repositories, reconciler);
}

static struct vd_controller *controller_of(const struct hosted *h)
{
    return owner_of(h)->options.controller;
}

static void set_ready(struct hosted *h, bool ready)
{
    struct vd_repositories *r = owner_of(h);
    if (h->is_ready == ready)
        return;
    pthread_mutex_lock(&r->lock);
    h->is_ready = ready;
    pthread_mutex_unlock(&r->lock);
}

/* A controller that stops takes no items. */
static void add(struct hosted *h)
{
    struct vd_controller *c = controller_of(h);
    if (!c->stopping)
        vd_controller_add(c, &h->item);
}

static void add_after(struct hosted *h, uint64_t delay_ms)
{
    struct vd_controller *c = controller_of(h);
    vd_work_queue_add_after(&c->queue, &h->item.work, vd_clock_mono_ns(c->env.clock) / 1000000,
                            delay_ms);
}

/* Nothing is known of a folder any more. */
static void reset(struct hosted *h)
{
    set_ready(h, false);
    free(h->branch);
    h->branch = NULL;
    h->uid[0] = 0;
    h->is_told = h->is_made = h->is_cleaned = h->is_recovered = false;
    h->is_emptied = h->is_removed = false;
    h->error = (struct vd_error){.code = VD_OK};
    vd_owned_objects_release(&h->owned);
}

/* ---- what the status says ---- */

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

struct report {
    bool ready, synced;
    bool knows_synced; /* else that condition is left as it is */
    const char *reason, *message;
};

/* Writes the conditions, if that is not what the object says already. */
static void report(struct hosted *h, const struct vd_event *event, const struct vd_json *object,
                   const struct report *what)
{
    struct vd_controller *c = controller_of(h);
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

static void report_failure(struct hosted *h, const struct vd_event *event,
                           const struct vd_json *object, const char *reason, const char *message)
{
    report(h, event, object, &(struct report){.reason = reason, .message = message});
}

/* ---- the folder ---- */

static void on_refs_moved(struct vd_ref_update *update)
{
    struct hosted *h = update->arg;
    h->is_busy = false;
    h->error = update->error;
    h->is_recovered = update->error.code == VD_OK;
    vd_ref_update_release(update);
    add(h);
}

/* Sets the refs that are not as the store records them. */
static void move_refs(struct hosted *h)
{
    struct vd_repositories *r = owner_of(h);
    struct vd_buf folder = {0};
    size_t n = 0;
    vd_ref_update_init(&h->update, r->options.program);
    h->update.done = on_refs_moved;
    h->update.arg = h;
    for (size_t i = 0; i < h->job.refs.n; i++) {
        const struct vd_recorded_ref *ref = &h->job.refs.p[i];
        if (!ref->differs)
            continue;
        vd_ref_update_add(&h->update, ref->ref, ref->commit);
        n++;
    }
    h->is_recovered = n == 0;
    if (n == 0)
        return;
    vd_git_meter_recovered(n);
    vd_log_info("refs are set to what the store records", VD_F_SLICE("repository", hosted_key(h)),
                VD_F_U64("refs", n));
    vd_bare_repository_path(&folder, r->options.root, h->uid);
    h->is_busy = !vd_ref_update_start(&h->update, r->options.controller->env.loop,
                                      vd_buf_text(&folder), &h->error);
    if (!h->is_busy)
        vd_ref_update_release(&h->update);
    vd_buf_release(&folder);
}

static void on_job_done(struct vd_folder_job *job)
{
    struct hosted *h = VD_CONTAINER_OF(job, struct hosted, job);
    bool good = job->error.code == VD_OK;
    h->is_busy = false;
    h->error = job->error;
    if (good && job->task == VD_FOLDER_REMOVE) {
        bool deleted = h->is_emptied; /* else the object has another folder by now, or is gone */
        if (deleted)
            h->is_removed = true;
        else
            reset(h);
    } else if (good) {
        struct vd_buf branch = {0};
        vd_buf_add_slice(&branch, job->branch);
        free(h->branch);
        h->branch = vd_buf_take(&branch, NULL);
        h->is_made = h->is_cleaned = true;
        if (owner_of(h)->options.made)
            owner_of(h)->options.made(owner_of(h)->options.arg, vd_slice_of(h->uid));
        if (!h->is_recovered && !controller_of(h)->stopping)
            move_refs(h);
    }
    vd_folder_job_release(job);
    add(h);
}

static void start_job(struct hosted *h, enum vd_folder_task task)
{
    h->is_busy = true;
    h->is_told = false;
    h->job.task = task;
    h->job.root = owner_of(h)->options.root;
    h->job.done = on_job_done;
    memcpy(h->job.uid, h->uid, sizeof h->job.uid);
    vd_folder_job_start(&h->job, controller_of(h)->env.loop);
}

/* One that has failed is tried again after a while. */
static void start_removing(struct hosted *h)
{
    if (h->error.code == VD_OK || h->is_told) {
        start_job(h, VD_FOLDER_REMOVE);
        return;
    }
    h->is_told = true;
    vd_log_warn("the folder of a repository could not be removed",
                VD_F_SLICE("repository", hosted_key(h)), VD_F_ERROR(&h->error));
    add_after(h, RETRY_MS);
}

static void add_ref(struct vd_folder_job *job, struct vd_slice branch, struct vd_slice commit)
{
    struct vd_buf ref = {0};
    if (!vd_branch_name_is_valid(branch))
        return;
    vd_buf_addf(&ref, "refs/heads/%.*s", VD_FMT(branch));
    *VD_VEC_PUSH(&job->refs) = (struct vd_recorded_ref){
        .ref = vd_arena_copy(&job->arena, vd_buf_slice(&ref)),
        .commit = vd_arena_copy(&job->arena, commit)};
    vd_buf_release(&ref);
}

static void start_making(struct hosted *h, const struct vd_repository *repository)
{
    vd_folder_job_release(&h->job);
    h->job.branch = vd_arena_copy(&h->job.arena, repository->default_branch);
    h->job.cleans = !h->is_cleaned;
    if (!h->is_recovered)
        VD_JSON_EACH (item, repository->recorded)
            add_ref(&h->job, vd_json_text(vd_json_get(item, VD_SLICE("name"))),
                    vd_json_text(vd_json_get(item, VD_SLICE("commit"))));
    start_job(h, VD_FOLDER_MAKE);
}

static bool is_used(const struct hosted *h)
{
    const struct vd_repositories_options *o = &owner_of(h)->options;
    return o->is_used && o->is_used(o->arg, vd_slice_of(h->uid));
}

/* ---- deletion ---- */

/* True: somebody works in the folder still, who was told to end; it is looked again. */
static bool must_wait(struct hosted *h)
{
    const struct vd_repositories_options *o = &owner_of(h)->options;
    if (!is_used(h))
        return false;
    if (o->evict)
        o->evict(o->arg, vd_slice_of(h->uid));
    add_after(h, USED_MS);
    return true;
}

static void remove_finalizer(struct hosted *h, const struct vd_event *event, struct vd_json *object)
{
    struct vd_conditional_batch *batch = vd_conditional_batch_new(controller_of(h), &h->item);
    if (vd_meta_remove_finalizer(object, VD_SLICE(VD_REPOSITORY_FINALIZER)))
        vd_conditional_batch_replace(batch, event, object);
    vd_conditional_batch_send(batch);
}

static void report_owned(struct hosted *h, const struct vd_repository *repository,
                         const struct vd_event *event, const struct vd_json *object)
{
    struct vd_buf text = {0};
    vd_buf_addf(&text, "it is being deleted and still owns %zu objects", h->owned.found);
    vd_buf_add_text(&text, repository->cascades
                               ? ", which wait for their finalizers"
                               : ": delete their manifests, or set spec.deletionPolicy: Cascade");
    report_failure(h, event, object, "OwnsObjects", vd_buf_text(&text));
    vd_buf_release(&text);
}

/* True: nothing is left. */
static bool empty(struct hosted *h, const struct vd_repository *repository,
                  const struct vd_event *event, const struct vd_json *object)
{
    struct vd_controller *c = controller_of(h);
    struct vd_conditional_batch *batch = vd_conditional_batch_new(c, &h->item);
    vd_conditional_batch_require(batch, event); /* the policy may have changed meanwhile */
    enum vd_owned_step step = vd_owned_objects_step(&h->owned, c, hosted_key(h), batch,
                                                    repository->cascades);
    bool sent = vd_conditional_batch_count(batch) > 0;
    vd_conditional_batch_send(batch);
    if (step == VD_OWNED_NONE)
        return true;
    if (sent)
        return false;
    if (step == VD_OWNED_MORE || (repository->cascades && !h->owned.staying)) {
        vd_controller_add(c, &h->item);
        return false;
    }
    report_owned(h, repository, event, object);
    add_after(h, RESCAN_MS);
    return false;
}

static void delete_step(struct hosted *h, const struct vd_repository *repository,
                        const struct vd_event *event, struct vd_json *object)
{
    set_ready(h, false);
    if (!vd_meta_has_finalizer(object, VD_SLICE(VD_REPOSITORY_FINALIZER)))
        return;
    if (!h->is_emptied && !empty(h, repository, event, object))
        return;
    h->is_emptied = true;
    if (h->is_removed)
        remove_finalizer(h, event, object);
    else if (!must_wait(h))
        start_removing(h);
}

/* ---- the item ---- */

static void add_finalizer(struct hosted *h, const struct vd_event *event, struct vd_json *object)
{
    struct vd_conditional_batch *batch = vd_conditional_batch_new(controller_of(h), &h->item);
    vd_meta_add_finalizer(vd_conditional_batch_arena(batch), object,
                          VD_SLICE(VD_REPOSITORY_FINALIZER));
    vd_conditional_batch_replace(batch, event, object);
    vd_conditional_batch_send(batch);
}

/* What has failed is told once, and then tried again after a while. */
static bool tells_failure(struct hosted *h, const struct vd_repository *repository,
                          const struct vd_event *event, const struct vd_json *object)
{
    if (h->error.code == VD_OK || h->is_told)
        return false;
    h->is_told = true;
    vd_log_warn("a repository is not as it should be", VD_F_SLICE("repository", hosted_key(h)),
                VD_F_ERROR(&h->error));
    if (h->is_made) {
        struct vd_buf text = {0};
        bool is_lost = vd_contents_are_lost(&h->error);
        if (is_lost)
            vd_contents_lost_write(&text, repository);
        set_ready(h, true); /* what is there can be cloned, and a push may mend it */
        report(h, event, object,
               &(struct report){.ready = true,
                                .knows_synced = !repository->remote,
                                .reason = is_lost ? "ContentsLost" : "RefsBehind",
                                .message = is_lost ? vd_buf_text(&text) : h->error.text});
        vd_buf_release(&text);
    } else {
        report_failure(h, event, object, "FolderFailed", h->error.text);
    }
    add_after(h, RETRY_MS);
    return true;
}

static void serve(struct hosted *h, const struct vd_repository *repository,
                  const struct vd_event *event, struct vd_json *object)
{
    bool is_current = h->branch && vd_slice_is(repository->default_branch, h->branch);
    if (!vd_meta_has_finalizer(object, VD_SLICE(VD_REPOSITORY_FINALIZER))) {
        add_finalizer(h, event, object);
    } else if (tells_failure(h, repository, event, object)) {
        return;
    } else if (!h->is_made || !h->is_recovered || !is_current) {
        if (is_used(h))
            add_after(h, USED_MS);
        else
            start_making(h, repository);
    } else {
        set_ready(h, true);
        report(
            h, event, object,
            &(struct report){.ready = true, .synced = true, .knows_synced = !repository->remote});
    }
}

/* The object of the folder is gone, or is another one of the same name. */
static void forget(struct hosted *h)
{
    set_ready(h, false);
    if (!h->uid[0] || h->is_removed) {
        reset(h);
    } else if (!must_wait(h)) {
        h->is_emptied = false;
        start_removing(h);
    }
}

static void look_at(struct hosted *h, const struct vd_event *event, struct vd_json *object)
{
    const struct vd_repositories_options *options = &owner_of(h)->options;
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
        delete_step(h, &repository, event, object);
    } else if (!options->program) {
        report_failure(h, event, object, "NoGit", options->missing);
    } else if (code) {
        set_ready(h, false);
        report_failure(h, event, object, "Invalid", error.text);
    } else {
        serve(h, &repository, event, object);
    }
}

static struct vd_key key_of(const struct hosted *h)
{
    struct vd_key key = {.resource = VD_SLICE(VD_REPOSITORY_RESOURCE)};
    key.name = hosted_key(h);
    vd_slice_cut(&key.name, '/', &key.namespace);
    return key;
}

static void reconcile(struct vd_controller_item *item)
{
    struct hosted *h = VD_CONTAINER_OF(item, struct hosted, item);
    struct vd_key key = key_of(h);
    struct vd_arena arena = {0};
    struct vd_event *event = NULL;
    struct vd_json *object = NULL;
    if (!owner_of(h)->is_swept || h->is_busy)
        return;
    int code = vd_controller_read(controller_of(h), &key, &arena, &event, &object);
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

static void hosted_free(struct hosted *h)
{
    vd_folder_job_release(&h->job);
    vd_owned_objects_release(&h->owned);
    free(h->branch);
    free(h);
}

static void settled(struct vd_controller_item *item)
{
    struct hosted *h = VD_CONTAINER_OF(item, struct hosted, item);
    struct vd_repositories *r = owner_of(h);
    if (!h->is_gone)
        return;
    pthread_mutex_lock(&r->lock);
    vd_hash_map_remove(&r->all, hosted_key(h));
    pthread_mutex_unlock(&r->lock);
    hosted_free(h);
}

static struct hosted *open_hosted(struct vd_repositories *r, struct vd_slice key)
{
    struct hosted *h = vd_hash_map_get(&r->all, key);
    if (h)
        return h;
    h = vd_calloc(1, sizeof *h + key.n);
    h->item.reconciler = &r->reconciler;
    h->key_len = key.n;
    memcpy(h->key, key.p, key.n);
    pthread_mutex_lock(&r->lock);
    vd_hash_map_put(&r->all, h);
    pthread_mutex_unlock(&r->lock);
    return h;
}

/* ---- folders of nobody ---- */

static void add_all(struct vd_repositories *r)
{
    size_t at = 0;
    for (struct hosted *h; (h = vd_hash_map_next(&r->all, &at));)
        add(h);
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
    for (struct hosted *h; (h = vd_hash_map_next(&r->all, &at));)
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
    struct hosted *h = open_hosted(r, vd_entry_path(entry));
    if (!r->is_sweeping) /* the sweep has to know whose folders there are */
        vd_uid_format(change->now->uid, h->uid);
    add(h);
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
    const struct hosted *h = vd_hash_map_get(&r->all, path);
    bool ready = h && h->is_ready && vd_slice_is(uid, h->uid);
    pthread_mutex_unlock(&r->lock);
    return ready;
}

void vd_repositories_recover(struct vd_repositories *r, struct vd_slice namespace,
                             struct vd_slice name)
{
    struct vd_path room;
    struct vd_key key = {VD_SLICE(VD_REPOSITORY_RESOURCE), namespace, name};
    struct hosted *h = vd_hash_map_get(&r->all, vd_key_path(&room, &key));
    if (!h)
        return;
    /* Who comes now waits until it is ready again: a push under way keeps the folder in use. */
    h->is_cleaned = h->is_recovered = false;
    set_ready(h, false);
    add(h);
}

struct vd_repositories *vd_repositories_new(const struct vd_repositories_options *options)
{
    static const struct vd_informer_ops ops = {
        .changed = on_changed, .damaged = on_damaged, .synced = on_synced};
    struct vd_repositories *r = VD_NEW(struct vd_repositories);
    r->options = *options;
    r->handler.ops = &ops;
    r->reconciler = (struct vd_reconciler){reconcile, settled};
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
    for (struct hosted *h; (h = vd_hash_map_next(&r->all, &at));)
        hosted_free(h);
    vd_hash_map_release(&r->all);
    pthread_mutex_destroy(&r->lock);
    free(r);
}
