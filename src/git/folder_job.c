/* See folder_job.h. */
#include "git/folder_job.h"

#include "base/container_of.h"
#include "base/log.h"
#include "git/bare_repository.h"
#include "git/leftovers.h"

static int compare_refs(struct vd_folder_job *job, struct vd_error *error)
{
    char is[VD_OBJECT_ID_TEXT_MAX];
    for (size_t i = 0; i < job->refs.n; i++) {
        struct vd_recorded_ref *ref = &job->refs.p[i];
        int code = vd_bare_repository_read_ref(job->root, job->uid, ref->ref, is, error);
        if (code)
            return code;
        ref->differs = !vd_slice_is(ref->commit, is);
    }
    return VD_OK;
}

static int make(struct vd_folder_job *job, struct vd_error *error)
{
    int code = vd_bare_repository_make(job->root, job->uid, job->branch, error);
    if (!code && job->cleans)
        code = vd_leftovers_remove(job->root, job->uid, error);
    if (!code)
        code = vd_bare_repository_refuse_direct(job->root, job->uid, error);
    if (!code)
        code = vd_bare_repository_set_head(job->root, job->uid, job->branch, error);
    return code ? code : compare_refs(job, error);
}

static bool is_known(const struct vd_folder_job *job, struct vd_slice uid)
{
    for (size_t i = 0; i < job->known.n; i++)
        if (vd_slice_eq(job->known.p[i], uid))
            return true;
    return false;
}

static void sweep_one(void *arg, struct vd_slice uid)
{
    struct vd_folder_job *job = arg;
    struct vd_uid parsed;
    struct vd_error error;
    char text[VD_UID_TEXT_MAX];
    if (is_known(job, uid) || !vd_uid_parse(uid, &parsed))
        return;
    vd_uid_format(parsed, text);
    if (vd_bare_repository_remove(job->root, text, &error)) {
        vd_log_warn("the folder of a repository that is gone could not be removed",
                    VD_F_STR("uid", text), VD_F_ERROR(&error));
        return;
    }
    job->removed++;
    vd_log_info("the folder of a repository that is gone was removed", VD_F_STR("uid", text));
}

static void run(struct vd_work *work)
{
    struct vd_folder_job *job = VD_CONTAINER_OF(work, struct vd_folder_job, work);
    struct vd_error error = {.code = VD_OK};
    int code = VD_OK;
    switch (job->task) {
    case VD_FOLDER_MAKE:
        code = make(job, &error);
        break;
    case VD_FOLDER_REMOVE:
        code = vd_bare_repository_remove(job->root, job->uid, &error);
        break;
    case VD_FOLDER_SWEEP:
        code = vd_bare_repository_list(job->root, sweep_one, job, &error);
        break;
    }
    job->error = error;
    job->error.code = (enum vd_code)code;
}

static void on_done(struct vd_work *work)
{
    struct vd_folder_job *job = VD_CONTAINER_OF(work, struct vd_folder_job, work);
    job->done(job);
}

void vd_folder_job_start(struct vd_folder_job *job, struct vd_loop *loop)
{
    job->work.run = run;
    job->work.done = on_done;
    vd_loop_work(loop, &job->work);
}

void vd_folder_job_release(struct vd_folder_job *job)
{
    VD_VEC_RELEASE(&job->refs);
    VD_VEC_RELEASE(&job->known);
    vd_arena_release(&job->arena);
    *job = (struct vd_folder_job){0};
}
