/* See tree_diff.h. */
#include "git/tree_diff.h"

#include "base/container_of.h"

static struct vd_tree_diff *of(struct vd_git_process *git)
{
    return VD_CONTAINER_OF(git, struct vd_tree_diff, git);
}

static void on_output(struct vd_git_process *git, struct vd_slice bytes)
{
    struct vd_tree_diff *d = of(git);
    if (!d->error.code && vd_tree_files_read(d->files, d->format, bytes, &d->error))
        vd_git_process_stop(git);
}

static void on_ended(struct vd_git_process *git, const struct vd_error *error)
{
    struct vd_tree_diff *d = of(git);
    if (!d->error.code && error)
        d->error = *error;
    if (!d->error.code)
        (void)!vd_tree_files_end(d->files, &d->error);
    d->ended(d, d->error.code ? &d->error : NULL);
}

static const struct vd_git_process_ops git_ops = {.output = on_output, .ended = on_ended};

int vd_tree_diff_start(struct vd_tree_diff *d, struct vd_loop *loop,
                       const struct vd_git_place *place, enum vd_tree_format format,
                       struct vd_slice old_commit, struct vd_slice new_commit,
                       struct vd_tree_files *files, struct vd_error *error)
{
    char old_text[80], new_text[80];
    snprintf(old_text, sizeof old_text, "%.*s^{tree}", VD_FMT(old_commit));
    snprintf(new_text, sizeof new_text, "%.*s^{tree}", VD_FMT(new_commit));
    const char *difference[] = {"diff-tree",   "-r",     "-z",     "--raw", "--no-renames",
                                "--no-abbrev", old_text, new_text, NULL};
    const char *list[] = {"ls-tree", "-r", "-z", format == VD_TREE_LIST_OLD ? old_text : new_text,
                          NULL};
    *d = (struct vd_tree_diff){.ended = d->ended, .files = files, .format = format};
    return vd_git_process_start(&d->git, loop, place, format == VD_TREE_DIFF ? difference : list,
                                &git_ops, error);
}

void vd_tree_diff_stop(struct vd_tree_diff *d)
{
    vd_git_process_stop(&d->git);
}
