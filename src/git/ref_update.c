/* See ref_update.h. */
#include "git/ref_update.h"

#include "base/container_of.h"
#include "base/limits.h"
#include "git/command.h"

enum {
    UPDATE_MS_MAX = 60000, /* milliseconds that moving refs may take ... */
    REF_MS_MAX = 20        /* ... and these for each of them, whose file has to be on the disk */
};

void vd_ref_update_init(struct vd_ref_update *u, const struct vd_git_program *program)
{
    *u = (struct vd_ref_update){.program = program};
}

void vd_ref_update_release(struct vd_ref_update *u)
{
    vd_buf_release(&u->input);
    vd_buf_release(&u->said);
}

void vd_ref_update_add(struct vd_ref_update *u, struct vd_slice ref, struct vd_slice commit)
{
    u->refs_n++;
    if (commit.n)
        vd_buf_addf(&u->input, "update %.*s %.*s\n", VD_FMT(ref), VD_FMT(commit));
    else
        vd_buf_addf(&u->input, "delete %.*s\n", VD_FMT(ref));
}

static void on_errors(struct vd_process *p, struct vd_slice bytes)
{
    struct vd_ref_update *u = p->arg;
    size_t room = VD_GIT_STDERR_LEN_MAX - u->said.n;
    vd_buf_add(&u->said, bytes.p, bytes.n < room ? bytes.n : room);
}

static void on_exited(struct vd_process *p, const struct vd_process_exit *exit)
{
    struct vd_ref_update *u = p->arg;
    struct vd_slice said = vd_slice_trim(vd_buf_slice(&u->said));
    if (!vd_process_succeeded(exit))
        vd_error_set(&u->error, exit->is_stopped ? VD_ERR_CLOSED : VD_ERR_IO,
                     "git update-ref has failed: %.*s", said.n ? (int)said.n : 12,
                     said.n ? said.p : "it was ended");
    u->done(u);
}

int vd_ref_update_start(struct vd_ref_update *u, struct vd_loop *loop, const char *folder,
                        struct vd_error *error)
{
    static const struct vd_process_ops ops = {.errors = on_errors, .exited = on_exited};
    struct vd_git_command command;
    vd_git_command_init(&command, u->program, folder);
    vd_git_command_add(&command, "update-ref");
    vd_git_command_add(&command, "--no-deref");
    vd_git_command_add(&command, "--stdin");
    u->process.arg = u;
    u->error = (struct vd_error){.code = VD_OK};
    int code = vd_process_start(
        &u->process, loop,
        &(struct vd_process_options){.argv = vd_git_command_argv(&command),
                                     .env = vd_git_command_env(&command),
                                     .name = "update-ref",
                                     .timeout_ms = UPDATE_MS_MAX + u->refs_n * REF_MS_MAX,
                                     .memory_max = vd_git_memory_max(),
                                     .files_max = VD_GIT_FILES_OPEN_MAX},
        &ops, error);
    vd_git_command_release(&command);
    if (code)
        return code;
    vd_process_write(&u->process, vd_buf_slice(&u->input));
    vd_process_close_input(&u->process);
    return VD_OK;
}
