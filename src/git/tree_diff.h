/*
 * The files in which two commits of a repository differ, or all files of both, asked of git.
 *
 *     vd_tree_diff_start(d, loop, &place, VD_TREE_DIFF, old, new, &files, &error);
 *     ...  d->ended(d, NULL)         once, and last: `files` has them (git/tree_files.h)
 *
 * On the loop.
 */
#ifndef VD_GIT_TREE_DIFF_H
#define VD_GIT_TREE_DIFF_H

#include "git/git_process.h"
#include "git/tree_files.h"

struct vd_tree_diff {
    void (*ended)(struct vd_tree_diff *d, const struct vd_error *error);
    /* Private: */
    struct vd_git_process git;
    struct vd_tree_files *files;
    enum vd_tree_format format;
    struct vd_error error;
};

/* Asks for the difference (VD_TREE_DIFF), or for the files of one commit: `old` for
 * VD_TREE_LIST_OLD, `new` for VD_TREE_LIST_NEW. The caller has set `ended`. Files are added to
 * *files, which is borrowed until then. On failure `ended` is not called. */
int vd_tree_diff_start(struct vd_tree_diff *d, struct vd_loop *loop,
                       const struct vd_git_place *place, enum vd_tree_format format,
                       struct vd_slice old_commit, struct vd_slice new_commit,
                       struct vd_tree_files *files, struct vd_error *error) VD_MUST_USE;

/* Gives up: `ended` comes, with an error. */
void vd_tree_diff_stop(struct vd_tree_diff *d);

#endif
