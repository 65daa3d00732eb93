/*
 * The files in which two commits differ, or all files of one: what git's `diff-tree` and `ls-tree`
 * print becomes two lists, the files of the old commit and those of the new one. A file that was
 * changed is in both, a new one in the second only.
 *
 *     git diff-tree -r -z --raw --no-renames --no-abbrev OLD NEW
 *         :100644 100755 1111... 2222... M\0path\0
 *     git ls-tree -r -z NEW
 *         100644 blob 1111...\tpath\0
 *
 * The bytes come in pieces, as a pipe has them. Only what is needed of a record is kept, and no
 * more than `files_max` files with paths of at most VD_GIT_PATH_LEN_MAX bytes.
 */
#ifndef VD_GIT_TREE_FILES_H
#define VD_GIT_TREE_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/slice.h"
#include "base/vec.h"

enum vd_file_type {
    VD_FILE_REGULAR,
    VD_FILE_SYMLINK,
    VD_FILE_SUBMODULE,
};

struct vd_tree_file {
    struct vd_slice path;
    struct vd_slice id; /* of the blob; of a submodule, the commit */
    enum vd_file_type type;
};

enum vd_tree_format {
    VD_TREE_DIFF,     /* what diff-tree prints */
    VD_TREE_LIST_OLD, /* what ls-tree prints, of the old commit */
    VD_TREE_LIST_NEW,
};

struct vd_tree_file_list {
    VD_VEC(struct vd_tree_file);
};

/* `= {0}` with files_max is an empty one. */
struct vd_tree_files {
    size_t files_max; /* of each list */
    /* Whether a file of this path is wanted, in the list of the new commit or in that of the old
     * one. NULL: every file is. */
    bool (*takes)(const struct vd_tree_files *t, bool is_new, struct vd_slice path);
    void *arg;
    struct vd_tree_file_list old_files, new_files;
    /* Private: */
    struct vd_arena arena;
    struct vd_buf held; /* the beginning of a record whose end has not come */
};

/* Takes the next piece. VD_ERR_LIMIT: there are too many files, or a path is too long;
 * VD_ERR_FORMAT: git does not print this. Afterwards nothing more can be read. */
int vd_tree_files_read(struct vd_tree_files *t, enum vd_tree_format format, struct vd_slice bytes,
                       struct vd_error *error) VD_MUST_USE;

/* The program has ended: VD_ERR_FORMAT if a record is not complete. Another one may follow. */
int vd_tree_files_end(struct vd_tree_files *t, struct vd_error *error) VD_MUST_USE;

void vd_tree_files_release(struct vd_tree_files *t);

#endif
