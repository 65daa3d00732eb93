/* See git.h: how the face is opened, joined to the loops, stopped and closed. */
#include "git/service.h"

#include <assert.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/container_of.h"
#include "base/limits.h"
#include "base/log.h"
#include "git/bare_repository.h"
#include "git/meter.h"
#include "git/smart_http_route.h"
#include "git/webhook_route.h"

enum { STOP_MS_MAX = 2000 }; /* that a server which stops waits for git processes */

static char *joined(const char *folder, const char *name)
{
    struct vd_buf path = {0};
    vd_buf_addf(&path, "%s/%s", folder, name);
    return vd_buf_take(&path, NULL);
}

/* The folder by its absolute path: git processes run elsewhere. */
static int open_root(struct vd_git *git, const char *data, struct vd_error *error)
{
    char program[4096];
    char *whole = realpath(data, NULL);
    if (!whole)
        return vd_error_set(error, VD_ERR_IO, "%s: the data folder cannot be found", data);
    git->root = joined(whole, "git");
    git->hooks = joined(git->root, "hooks");
    git->ssh_launcher = joined(git->hooks, "ssh");
    free(whole);
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    if (n <= 0)
        return vd_error_set(error, VD_ERR_IO,
                            "/proc/self/exe cannot be read: the hooks of repositories are links to "
                            "this program, and need /proc");
    program[n] = 0;
    return vd_bare_repository_make_root(git->root, program, error);
}

static int read_policy(struct vd_remote_policy *out, const char *const *schemes, size_t n,
                       struct vd_error *error)
{
    int code = VD_OK;
    for (size_t i = 0; !code && i < n; i++)
        code = vd_remote_policy_add(out, vd_slice_of(schemes[i]), error);
    return code;
}

int vd_git_check_schemes(const char *const *schemes, size_t n, struct vd_error *error)
{
    return read_policy(&(struct vd_remote_policy){0}, schemes, n, error);
}

int vd_git_open(struct vd_git **out, const struct vd_git_options *options, struct vd_error *error)
{
    struct vd_git *git = VD_NEW(struct vd_git);
    git->env = options->env;
    git->loops_n = options->loops_n;
    git->request_loops = vd_calloc(options->loops_n, sizeof *git->request_loops);
    vd_process_slots_init(&git->slots,
                          &(struct vd_slot_limits){VD_GIT_PROCESSES_MAX, VD_GIT_USER_PROCESSES_MAX,
                                                   VD_GIT_WAITING_MAX, VD_GIT_USER_WAITING_MAX},
                          vd_git_meter_processes);
    vd_webhooks_init(&git->webhooks);
    vd_git_meter_register();
    git->ssh = vd_program_find(options->search_path, "ssh");
    git->has_program = !vd_git_program_open(&git->program, options->search_path, &git->missing);
    if (git->has_program)
        vd_log_debug("git was found", VD_F_STR("path", git->program.path),
                     VD_F_U64("major", git->program.version.major),
                     VD_F_U64("minor", git->program.version.minor));
    else
        vd_log_warn("Git repositories are not served", VD_F_ERROR(&git->missing));
    int code = read_policy(&git->policy, options->remote_schemes, options->remote_schemes_n, error);
    if (!code)
        code = open_root(git, options->data, error);
    if (code) {
        vd_git_close(git);
        return code;
    }
    *out = git;
    return VD_OK;
}

void vd_git_add_routes(struct vd_git *git, struct vd_route_table *routes)
{
    vd_smart_http_route_add(git, routes);
    vd_webhook_route_add(git, routes);
}

static void on_refs_behind(void *arg, struct vd_slice namespace, struct vd_slice name)
{
    struct vd_git *git = arg;
    vd_repositories_recover(git->repositories, namespace, name);
}

static bool is_pushed(void *arg, struct vd_slice uid)
{
    const struct vd_git *git = arg;
    return git->pushes && vd_pushes_use(git->pushes, uid);
}

/* Who asks wants the folder for itself. */
static bool is_used(void *arg, struct vd_slice uid)
{
    const struct vd_git *git = arg;
    vd_upkeep_give_way(git->upkeep, uid);
    return is_pushed(arg, uid) || vd_folder_is_used(&git->admissions.uses, uid);
}

static void evict(void *arg, struct vd_slice uid)
{
    const struct vd_git *git = arg;
    if (git->pushes)
        vd_pushes_give_up(git->pushes, uid);
}

static void on_made(void *arg, struct vd_slice uid)
{
    const struct vd_git *git = arg;
    vd_upkeep_look(git->upkeep, uid);
}

void vd_git_join(struct vd_git *git, struct vd_api_loop *api, struct vd_request_loop *requests)
{
    git->request_loops[requests->loop->index] = requests;
    if (requests->loop->index)
        return;
    git->first = requests->loop;
    git->admissions = (struct vd_admissions){.l = api,
                                             .program = &git->program,
                                             .root = git->root,
                                             .refs_behind = on_refs_behind,
                                             .arg = git};
    if (!git->has_program)
        return;
    git->upkeep = vd_upkeep_new(&(struct vd_upkeep_options){.loop = git->first,
                                                            .program = &git->program,
                                                            .root = git->root,
                                                            .uses = &git->admissions.uses,
                                                            .is_pushed = is_pushed,
                                                            .arg = git});
    git->admissions.upkeep = git->upkeep;
    git->pushes = vd_pushes_new(&git->admissions);
}

void vd_git_follow(struct vd_git *git, struct vd_controller *controller)
{
    git->repositories = vd_repositories_new(
        &(struct vd_repositories_options){.controller = controller,
                                          .program = git->has_program ? &git->program : NULL,
                                          .missing = git->missing.text,
                                          .root = git->root,
                                          .is_used = is_used,
                                          .evict = evict,
                                          .made = on_made,
                                          .arg = git});
    git->drift = vd_drift_new(controller);
    if (!git->has_program)
        return;
    git->resets = vd_resets_new(controller, &git->admissions, git->repositories);
    git->followers = vd_followers_new(
        &(struct vd_followers_options){.controller = controller,
                                       .all = &git->admissions,
                                       .repositories = git->repositories,
                                       .policy = git->policy,
                                       .audit = git->request_loops[0]->audit,
                                       .ssh = git->ssh,
                                       .ssh_launcher = git->ssh_launcher});
}

/* A task of loop 0. */
struct stopping {
    struct vd_task task;
    struct vd_git *git;
    uv_sem_t done;
};

static void stop_pushes(struct vd_task *task)
{
    struct stopping *s = VD_CONTAINER_OF(task, struct stopping, task);
    if (s->git->pushes)
        vd_pushes_stop(s->git->pushes);
    if (s->git->resets)
        vd_resets_stop(s->git->resets);
    if (s->git->followers)
        vd_followers_stop(s->git->followers);
    vd_upkeep_stop(s->git->upkeep);
    uv_sem_post(&s->done);
}

void vd_git_stop(struct vd_git *git)
{
    struct stopping s = {.task.run = stop_pushes, .git = git};
    int rc = uv_sem_init(&s.done, 0);
    assert(rc == 0);
    (void)rc;
    vd_loop_post(git->first, &s.task);
    uv_sem_wait(&s.done);
    uv_sem_destroy(&s.done);
    if (!vd_process_slots_wait(&git->slots, STOP_MS_MAX))
        vd_log_warn("git processes that do not end are left to the end of their loops");
}

void vd_git_close(struct vd_git *git)
{
    if (!git)
        return;
    vd_resets_free(git->resets);
    vd_followers_free(git->followers);
    vd_webhooks_release(&git->webhooks);
    vd_drift_free(git->drift);
    vd_repositories_free(git->repositories);
    vd_pushes_free(git->pushes);
    vd_upkeep_free(git->upkeep);
    vd_process_slots_release(&git->slots);
    vd_git_program_close(&git->program);
    free(git->request_loops);
    free(git->root);
    free(git->hooks);
    free(git->ssh);
    free(git->ssh_launcher);
    free(git);
}
