/* See git_process.h. */
#include "git/git_process.h"

#include "base/container_of.h"
#include "git/command.h"

enum { ERRORS_LEN_MAX = 400 }; /* of what git says: the beginning tells */

static struct vd_git_process *of(struct vd_process *process)
{
    return VD_CONTAINER_OF(process, struct vd_git_process, process);
}

static void on_output(struct vd_process *process, struct vd_slice bytes)
{
    struct vd_git_process *p = of(process);
    if (!p->stopped && p->ops->output)
        p->ops->output(p, bytes);
}

static void on_errors(struct vd_process *process, struct vd_slice bytes)
{
    struct vd_git_process *p = of(process);
    size_t room = ERRORS_LEN_MAX - p->errors.n;
    vd_buf_add(&p->errors, bytes.p, bytes.n < room ? bytes.n : room);
}

/* The first line of what git has said, without "fatal: ". */
static struct vd_slice words(const struct vd_git_process *p)
{
    struct vd_slice rest = vd_buf_slice(&p->errors), line;
    if (!vd_slice_cut(&rest, '\n', &line) || !line.n)
        return VD_SLICE("it says nothing");
    return vd_slice_starts_with(line, VD_SLICE("fatal: ")) ? vd_slice_from(line, 7) : line;
}

static void describe(const struct vd_git_process *p, const struct vd_process_exit *exit,
                     struct vd_error *error)
{
    struct vd_slice said = words(p);
    if (p->stopped || exit->is_stopped)
        (void)vd_error_set(error, VD_ERR_CLOSED, "git %s was stopped", p->command);
    else if (exit->timed_out)
        (void)vd_error_set(error, VD_ERR_LIMIT, "git %s took longer than %d s", p->command,
                           VD_PUSH_GIT_MS / 1000);
    else if (exit->signal)
        (void)vd_error_set(error, VD_ERR_IO, "git %s was ended by signal %d", p->command,
                           exit->signal);
    else
        (void)vd_error_set(error, VD_ERR_IO, "git %s: %.*s", p->command, VD_FMT(said));
}

static void on_exited(struct vd_process *process, const struct vd_process_exit *exit)
{
    struct vd_git_process *p = of(process);
    struct vd_error error = {0};
    bool good = vd_process_succeeded(exit) && !p->stopped && !exit->is_cut;
    if (!good)
        describe(p, exit, &error);
    vd_buf_release(&p->errors);
    p->ops->ended(p, good ? NULL : &error);
}

static const struct vd_process_ops process_ops = {
    .output = on_output,
    .errors = on_errors,
    .exited = on_exited,
};

int vd_git_process_start(struct vd_git_process *p, struct vd_loop *loop,
                         const struct vd_git_place *place, const char *const *arguments,
                         const struct vd_git_process_ops *ops, struct vd_error *error)
{
    struct vd_git_command c;
    *p = (struct vd_git_process){.ops = ops, .command = arguments[0]};
    vd_git_command_init(&c, place->program, place->folder);
    for (size_t i = 0; arguments[i]; i++)
        vd_git_command_add(&c, arguments[i]);
    if (place->objects.n) {
        vd_git_command_add_env(&c, "GIT_OBJECT_DIRECTORY", place->objects);
        vd_git_command_add_env(&c, "GIT_ALTERNATE_OBJECT_DIRECTORIES", place->alternates);
    }
    struct vd_process_options options = {
        .argv = vd_git_command_argv(&c),
        .env = vd_git_command_env(&c),
        .cwd = place->folder,
        .name = arguments[0],
        .timeout_ms = VD_PUSH_GIT_MS,
        .memory_max = vd_git_memory_max(),
        .cpu_s_max = VD_GIT_CPU_S,
    };
    int rc = vd_process_start(&p->process, loop, &options, &process_ops, error);
    vd_git_command_release(&c);
    return rc;
}

void vd_git_process_stop(struct vd_git_process *p)
{
    if (p->stopped || !vd_git_process_is_running(p))
        return;
    p->stopped = true;
    vd_process_kill(&p->process);
}
