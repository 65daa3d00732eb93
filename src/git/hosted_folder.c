/* See hosted_repository.h: the folder of a Repository, on which a worker's thread works, and its
 * refs, which a git process moves. */
#include <stdlib.h>

#include "base/log.h"
#include "git/bare_repository.h"
#include "git/hosted_repository.h"
#include "git/meter.h"

static void on_refs_moved(struct vd_ref_update *update)
{
    struct vd_hosted *h = update->arg;
    h->is_busy = false;
    h->error = update->error;
    h->is_recovered = update->error.code == VD_OK;
    vd_ref_update_release(update);
    vd_hosted_add(h);
}

/* Sets the refs that are not as the store records them. */
static void move_refs(struct vd_hosted *h)
{
    struct vd_repositories *r = vd_hosted_owner(h);
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
    vd_log_info("refs are set to what the store records",
                VD_F_SLICE("repository", vd_hosted_key(h)), VD_F_U64("refs", n));
    vd_bare_repository_path(&folder, r->options.root, h->uid);
    h->is_busy = !vd_ref_update_start(&h->update, r->options.controller->env.loop,
                                      vd_buf_text(&folder), &h->error);
    if (!h->is_busy)
        vd_ref_update_release(&h->update);
    vd_buf_release(&folder);
}

static void on_job_done(struct vd_folder_job *job)
{
    struct vd_hosted *h = VD_CONTAINER_OF(job, struct vd_hosted, job);
    bool good = job->error.code == VD_OK;
    h->is_busy = false;
    h->error = job->error;
    if (good && job->task == VD_FOLDER_REMOVE) {
        bool deleted = h->is_emptied; /* else the object has another folder by now, or is gone */
        if (deleted)
            h->is_removed = true;
        else
            vd_hosted_reset(h);
    } else if (good) {
        struct vd_buf branch = {0};
        vd_buf_add_slice(&branch, job->branch);
        free(h->branch);
        h->branch = vd_buf_take(&branch, NULL);
        h->is_made = h->is_cleaned = true;
        if (vd_hosted_owner(h)->options.made)
            vd_hosted_owner(h)->options.made(vd_hosted_owner(h)->options.arg, vd_slice_of(h->uid));
        if (!h->is_recovered && !vd_hosted_controller(h)->stopping)
            move_refs(h);
    }
    vd_folder_job_release(job);
    vd_hosted_add(h);
}

static void start_job(struct vd_hosted *h, enum vd_folder_task task)
{
    h->is_busy = true;
    h->is_told = false;
    h->job.task = task;
    h->job.root = vd_hosted_owner(h)->options.root;
    h->job.done = on_job_done;
    memcpy(h->job.uid, h->uid, sizeof h->job.uid);
    vd_folder_job_start(&h->job, vd_hosted_controller(h)->env.loop);
}

void vd_hosted_remove_folder(struct vd_hosted *h)
{
    if (h->error.code == VD_OK || h->is_told) {
        start_job(h, VD_FOLDER_REMOVE);
        return;
    }
    h->is_told = true;
    vd_log_warn("the folder of a repository could not be removed",
                VD_F_SLICE("repository", vd_hosted_key(h)), VD_F_ERROR(&h->error));
    vd_hosted_add_after(h, VD_HOSTED_RETRY_MS);
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

void vd_hosted_make_folder(struct vd_hosted *h, const struct vd_repository *repository)
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

bool vd_hosted_is_used(const struct vd_hosted *h)
{
    const struct vd_repositories_options *o = &vd_hosted_owner(h)->options;
    return o->is_used && o->is_used(o->arg, vd_slice_of(h->uid));
}

bool vd_hosted_must_wait(struct vd_hosted *h)
{
    const struct vd_repositories_options *o = &vd_hosted_owner(h)->options;
    if (!vd_hosted_is_used(h))
        return false;
    if (o->evict)
        o->evict(o->arg, vd_slice_of(h->uid));
    vd_hosted_add_after(h, VD_HOSTED_USED_MS);
    return true;
}
