/* See process_start.h. */
#include "net/process_start.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOWEST_PRIORITY = 19 }; /* as nice(2) counts; the disk's follows from it */

/* ---- what went wrong ---- */

static int not_found(const struct vd_process_options *o, struct vd_error *error)
{
    if (access(o->argv[0], F_OK) != 0)
        return vd_error_set(error, VD_ERR_NOT_FOUND, "there is no program %s", o->argv[0]);
    if (o->cwd && access(o->cwd, F_OK) != 0)
        return vd_error_set(error, VD_ERR_NOT_FOUND, "could not start %s: there is no folder %s",
                            o->argv[0], o->cwd);
    return vd_error_set(error, VD_ERR_NOT_FOUND,
                        "could not start %s: the interpreter that it names does not exist",
                        o->argv[0]);
}

static int failure(const struct vd_process_options *o, int rc, struct vd_error *error)
{
    const char *program = o->argv[0];
    switch (rc) {
    case UV_ENOENT:
    case UV_ENOTDIR:
        return not_found(o, error);
    case UV_EACCES:
    case UV_EPERM:
        return vd_error_set(error, VD_ERR_FORBIDDEN,
                            "could not start %s: the server may not run it, or not in the folder "
                            "%s",
                            program, o->cwd ? o->cwd : "/");
    case UV_EAGAIN:
        return vd_error_set(error, VD_ERR_LIMIT,
                            "could not start %s: the server's user has as many processes as the "
                            "system allows (ulimit -u, TasksMax of systemd)",
                            program);
    case UV_EMFILE:
    case UV_ENFILE:
        return vd_error_set(error, VD_ERR_LIMIT,
                            "could not start %s: the server has as many descriptors as the system "
                            "allows (ulimit -n, LimitNOFILE of systemd)",
                            program);
    case UV_ENOMEM:
        return vd_error_set(error, VD_ERR_MEMORY, "could not start %s: no memory", program);
    default:
        return vd_error_set(error, VD_ERR_IO, "could not start %s: %s", program, uv_strerror(rc));
    }
}

/* ---- limits ---- */

/* No more than this, and never more than the server itself may have. */
static int set_limit(pid_t pid, __rlimit_resource_t resource, uint64_t max)
{
    struct rlimit now;
    if (prlimit(pid, resource, NULL, &now) != 0)
        return errno;
    rlim_t hard = max < now.rlim_max ? max : now.rlim_max;
    struct rlimit wanted = {.rlim_cur = hard, .rlim_max = hard};
    return prlimit(pid, resource, &wanted, NULL) == 0 ? 0 : errno;
}

/* 0, or errno. One that has ended already needs none. */
static int set_limits(pid_t pid, const struct vd_process_options *o)
{
    const struct {
        __rlimit_resource_t resource;
        uint64_t max;
        bool is_set;
    } limits[] = {
        {RLIMIT_CORE, 0, true},
        {RLIMIT_AS, o->memory_max, o->memory_max > 0},
        {RLIMIT_CPU, o->cpu_s_max, o->cpu_s_max > 0},
        {RLIMIT_FSIZE, o->file_len_max, o->file_len_max > 0},
        {RLIMIT_NOFILE, o->files_max, o->files_max > 0},
    };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        int rc = limits[i].is_set ? set_limit(pid, limits[i].resource, limits[i].max) : 0;
        if (rc)
            return rc == ESRCH ? 0 : rc;
    }
    return 0;
}

/* ---- starting ---- */

int vd_process_spawn(uv_process_t *uv, struct vd_loop *loop, const struct vd_process_options *o,
                     uv_stdio_container_t *stdio, int stdio_n, uv_exit_cb exited,
                     struct vd_error *error)
{
    static char *const no_env[] = {NULL}; /* libuv takes NULL for the server's own */
    const uv_process_options_t options = {
        .exit_cb = exited,
        .file = o->argv[0],
        .args = (char **)(uintptr_t)o->argv,
        .env = (char **)(uintptr_t)(o->env ? (const void *)o->env : (const void *)no_env),
        .cwd = o->cwd ? o->cwd : "/",
        .flags = UV_PROCESS_DETACHED, /* a session of its own */
        .stdio_count = stdio_n,
        .stdio = stdio,
    };
    int rc = uv_spawn(&loop->uv, uv, &options);
    if (rc)
        return failure(o, rc, error);
    if (o->is_background) /* who may not, or is too late, only gets its work done sooner */
        (void)setpriority(PRIO_PGRP, (id_t)uv->pid, LOWEST_PRIORITY);
    rc = set_limits(uv->pid, o);
    if (!rc)
        return VD_OK;
    kill(-uv->pid, SIGKILL);
    waitpid(uv->pid, NULL, 0); /* the caller closes the handle, so libuv will not */
    return vd_error_set(error, VD_ERR_IO, "could not limit the resources of %s: %s", o->argv[0],
                        strerror(rc));
}
