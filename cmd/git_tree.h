/*
 * A work tree of one's own: a temporary folder in which the user's git clones a repository of the
 * server, commits to it and pushes.
 *
 *     struct vd_git_tree tree;
 *     code = vd_git_tree_open(&tree, &client, &error);
 *     code = vd_git_tree_run(&tree, (const char *const[]){"clone", url, "work", NULL}, &error);
 *     vd_git_tree_close(&tree);
 *
 * git runs in the folder, with the user's own settings and environment, and with the client's
 * credentials: a token as a header, which git is told by its environment and not by its command
 * line, or a certificate, in files that only the user reads. What git says goes to standard error.
 * Blocking.
 */
#ifndef VD_CMD_GIT_TREE_H
#define VD_CMD_GIT_TREE_H

#include "base/vec.h"
#include "client.h"

struct vd_git_tree {
    struct vd_buf folder; /* the temporary one */
    VD_VEC(char *) added; /* variables of git's environment, beside the user's */
    unsigned settings;    /* of git's, that are given by variables */
};

/* *tree must be closed even after an error. */
int vd_git_tree_open(struct vd_git_tree *tree, const struct vd_client *client,
                     struct vd_error *error) VD_MUST_USE;

/* Gives git a variable. */
void vd_git_tree_set(struct vd_git_tree *tree, const char *name, struct vd_slice value);

/* Runs git with these arguments, the last of which is NULL. VD_ERR_IO: it has failed, and has said
 * why. */
int vd_git_tree_run(const struct vd_git_tree *tree, const char *const *arguments,
                    struct vd_error *error) VD_MUST_USE;

/* Writes a file, and the folders that it needs. The path is relative to the folder. VD_ERR_EXISTS:
 * there is such a file. */
int vd_git_tree_write(const struct vd_git_tree *tree, const char *path, struct vd_slice text,
                      struct vd_error *error) VD_MUST_USE;

/* Removes the folder. */
void vd_git_tree_close(struct vd_git_tree *tree);

#endif
