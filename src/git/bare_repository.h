/*
 * The folder of a bare repository: made, cleaned, pointed at a branch, read and removed.
 *
 * A folder is `<root>/<uid of the Repository>.git`. It is made beside its place and then moved
 * there, and it is moved away before it is removed: so it is whole or not there, whenever the
 * server dies.
 *
 *     <uid>.git       the repository
 *     <uid>.new       one that is being made; without a meaning after a restart
 *     <uid>.gone      one that is being removed; likewise
 *     hooks/          the hooks of all of them, and the ssh of fetches: links to this program
 *
 * All functions touch the disk and wait for it: for a thread that may. While the folder is removed,
 * no git process may use it.
 */
#ifndef VD_GIT_BARE_REPOSITORY_H
#define VD_GIT_BARE_REPOSITORY_H

#include "base/attributes.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/slice.h"

enum { VD_OBJECT_ID_TEXT_MAX = 65 }; /* bytes of an object's name, with its NUL */

/* Makes the root if it is not there, and the hooks in it, which are links to `program`. */
int vd_bare_repository_make_root(const char *root, const char *program,
                                 struct vd_error *error) VD_MUST_USE;

/* Adds the folder's path. */
void vd_bare_repository_path(struct vd_buf *out, const char *root, const char *uid);

/* Makes the repository, with HEAD at the branch, unless it is there. */
int vd_bare_repository_make(const char *root, const char *uid, struct vd_slice branch,
                            struct vd_error *error) VD_MUST_USE;

/* Points HEAD at the branch, which need not exist. Nothing is written if it is there already. */
int vd_bare_repository_set_head(const char *root, const char *uid, struct vd_slice branch,
                                struct vd_error *error) VD_MUST_USE;

/* Has pushes refused that go straight into the folder and past the server. Nothing is written if
 * that is so already. */
int vd_bare_repository_refuse_direct(const char *root, const char *uid,
                                     struct vd_error *error) VD_MUST_USE;

/* Removes it. That it is not there is no error. */
int vd_bare_repository_remove(const char *root, const char *uid,
                              struct vd_error *error) VD_MUST_USE;

/* The object that a ref names, "refs/heads/main", as text; empty: there is no such ref. */
int vd_bare_repository_read_ref(const char *root, const char *uid, struct vd_slice ref,
                                char out[VD_OBJECT_ID_TEXT_MAX],
                                struct vd_error *error) VD_MUST_USE;

/* Calls `each` with the uid of every repository in the root, after removing what was only being
 * made or removed. `arg` is handed on. */
int vd_bare_repository_list(const char *root, void (*each)(void *arg, struct vd_slice uid),
                            void *arg, struct vd_error *error) VD_MUST_USE;

#endif
