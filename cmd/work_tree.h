/*
 * The files of a work tree of Git, as Git would see them: .git is skipped, symbolic links are not
 * followed, and a folder with a .git of its own is a submodule, which is named but not entered.
 */
#ifndef VD_CMD_WORK_TREE_H
#define VD_CMD_WORK_TREE_H

#include <stdint.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/slice.h"
#include "base/vec.h"

struct vd_work_tree_entry {
    struct vd_slice path; /* from the root, with '/' */
    uint32_t mode;        /* as in Git's trees: 0100644, 0120000 or 0160000 */
    uint64_t len;         /* of a regular file */
};

/* What could not be looked at. */
struct vd_work_tree_problem {
    struct vd_slice path;
    const char *reason; /* of strerror() */
};

/* Closed by vd_work_tree_close(). */
struct vd_work_tree {
    int fd;
    VD_VEC(struct vd_work_tree_entry) entries; /* in the order of their paths' bytes */
    VD_VEC(struct vd_work_tree_problem) problems;
    struct vd_arena arena;
};

/* Walks through the folder. Blocking. A folder inside it that cannot be read is a problem of the
 * tree; VD_ERR_IO if the folder itself cannot be. */
int vd_work_tree_open(struct vd_work_tree *t, const char *folder,
                      struct vd_error *error) VD_MUST_USE;

void vd_work_tree_close(struct vd_work_tree *t);

/* Adds the bytes of a regular file to *out, at most `len_max` and one more. Blocking. NULL if it
 * worked, else the reason. */
const char *vd_work_tree_read(const struct vd_work_tree *t, struct vd_slice path, size_t len_max,
                              struct vd_buf *out) VD_MUST_USE;

#endif
