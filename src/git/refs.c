/* See refs.h. git answers "start: ok", "prepare: ok" and "commit: ok", a line each; it removes its
 * locks when it reads "abort", or when its input ends. */
#include "git/refs.h"

#include <string.h>

#include "base/container_of.h"

enum { SAID_LEN_MAX = 4096 };

static struct vd_refs *of(struct vd_git_process *git)
{
    return VD_CONTAINER_OF(git, struct vd_refs, git);
}

static void on_output(struct vd_git_process *git, struct vd_slice bytes)
{
    static const char prepared[] = "prepare: ok\n";
    struct vd_refs *r = of(git);
    if (r->is_prepared || r->is_aborted || r->said.n > SAID_LEN_MAX)
        return;
    vd_buf_add_slice(&r->said, bytes);
    if (!memmem(r->said.p, r->said.n, prepared, sizeof prepared - 1))
        return;
    r->is_prepared = true;
    r->prepared(r);
}

static void on_ended(struct vd_git_process *git, const struct vd_error *error)
{
    struct vd_refs *r = of(git);
    struct vd_error aborted;
    if (!error && r->is_aborted) {
        (void)vd_error_set(&aborted, VD_ERR_CLOSED, "the refs stay as they are");
        error = &aborted;
    }
    vd_buf_release(&r->said);
    r->ended(r, error);
}

static const struct vd_git_process_ops git_ops = {.output = on_output, .ended = on_ended};

int vd_refs_prepare(struct vd_refs *r, struct vd_loop *loop, const struct vd_git_place *place,
                    const struct vd_ref_command *commands, size_t n, struct vd_error *error)
{
    static const char *const arguments[] = {"update-ref", "--stdin", "-z", NULL};
    struct vd_buf text = {0};
    *r = (struct vd_refs){.prepared = r->prepared, .ended = r->ended};
    int rc = vd_git_process_start(&r->git, loop, place, arguments, &git_ops, error);
    if (!rc) {
        vd_ref_commands_write_prepare(&text, commands, n);
        vd_process_write(&r->git.process, vd_buf_slice(&text));
    }
    vd_buf_release(&text);
    return rc;
}

static void finish(struct vd_refs *r, const char *command)
{
    vd_process_write(&r->git.process, vd_slice(command, strlen(command) + 1));
    vd_process_close_input(&r->git.process);
}

void vd_refs_commit(struct vd_refs *r)
{
    finish(r, "commit");
}

void vd_refs_abort(struct vd_refs *r)
{
    r->is_aborted = true;
    finish(r, "abort");
}
