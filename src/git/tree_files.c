/* See tree_files.h. A record of ls-tree is one text that ends with a zero byte; one of diff-tree is
 * two of them, the second of which is the path. */
#include "git/tree_files.h"

#include <string.h>

#include "base/limits.h"
#include "git/ref_command.h"

static int bad_record(struct vd_error *error)
{
    return vd_error_set(error, VD_ERR_FORMAT,
                        "the list of files that git printed cannot be read; is git newer than "
                        "this server?");
}

/* "100644": whether it names a file, and of which type. */
static bool read_mode(struct vd_slice mode, enum vd_file_type *type)
{
    if (vd_slice_is(mode, "120000"))
        *type = VD_FILE_SYMLINK;
    else if (vd_slice_is(mode, "160000"))
        *type = VD_FILE_SUBMODULE;
    else if (mode.n == 6 && vd_slice_starts_with(mode, VD_SLICE("100")))
        *type = VD_FILE_REGULAR;
    else
        return false;
    return true;
}

static int add_file(struct vd_tree_files *t, struct vd_tree_file_list *list, struct vd_slice mode,
                    struct vd_slice id, struct vd_slice path, struct vd_error *error)
{
    enum vd_file_type type;
    if (!read_mode(mode, &type) || !vd_object_id_is(id) || !path.n)
        return bad_record(error);
    if (path.n > VD_GIT_PATH_LEN_MAX)
        return vd_error_set(error, VD_ERR_LIMIT, "the path %.64s... has more than %d bytes", path.p,
                            VD_GIT_PATH_LEN_MAX);
    if (t->takes && !t->takes(t, list == &t->new_files, path))
        return 0;
    if (list->n >= t->files_max)
        return vd_error_set(
            error, VD_ERR_LIMIT,
            "more than %zu files are changed; push them in several pushes, or raise "
            "spec.limits.files of the Repository",
            t->files_max);
    *VD_VEC_PUSH(list) = (struct vd_tree_file){
        .path = vd_arena_copy(&t->arena, path),
        .id = vd_arena_copy(&t->arena, id),
        .type = type,
    };
    return 0;
}

/* ":100644 100755 1111 2222 M" and the path. */
static int read_difference(struct vd_tree_files *t, struct vd_slice head, struct vd_slice path,
                           struct vd_error *error)
{
    struct vd_slice part[5], rest = vd_slice_from(head, 1);
    if (!head.n || head.p[0] != ':')
        return bad_record(error);
    for (size_t i = 0; i < 5; i++)
        if (!vd_slice_cut(&rest, ' ', &part[i]))
            return bad_record(error);
    int rc = 0;
    if (!vd_slice_is(part[0], "000000"))
        rc = add_file(t, &t->old_files, part[0], part[2], path, error);
    if (!rc && !vd_slice_is(part[1], "000000"))
        rc = add_file(t, &t->new_files, part[1], part[3], path, error);
    return rc;
}

/* "100644 blob 1111\tpath". */
static int read_listed(struct vd_tree_files *t, struct vd_tree_file_list *list,
                       struct vd_slice record, struct vd_error *error)
{
    struct vd_slice mode, type, head, path = record, rest;
    if (!vd_slice_cut(&path, '\t', &head) || !path.p)
        return bad_record(error);
    rest = head;
    if (!vd_slice_cut(&rest, ' ', &mode) || !vd_slice_cut(&rest, ' ', &type) || !rest.p)
        return bad_record(error);
    return add_file(t, list, mode, rest, path, error);
}

/* Reads the record with which the bytes begin, if all of it is there: *used is its length. */
static int read_record(struct vd_tree_files *t, enum vd_tree_format format, struct vd_slice bytes,
                       size_t *used, struct vd_error *error)
{
    const char *end = bytes.n ? memchr(bytes.p, 0, bytes.n) : NULL;
    *used = 0;
    if (!end)
        return 0;
    struct vd_slice head = vd_slice(bytes.p, (size_t)(end - bytes.p));
    if (format != VD_TREE_DIFF) {
        *used = head.n + 1;
        return read_listed(t, format == VD_TREE_LIST_OLD ? &t->old_files : &t->new_files, head,
                           error);
    }
    struct vd_slice rest = vd_slice_from(bytes, head.n + 1);
    end = rest.n ? memchr(rest.p, 0, rest.n) : NULL;
    if (!end)
        return 0;
    struct vd_slice path = vd_slice(rest.p, (size_t)(end - rest.p));
    *used = head.n + path.n + 2;
    return read_difference(t, head, path, error);
}

int vd_tree_files_read(struct vd_tree_files *t, enum vd_tree_format format, struct vd_slice bytes,
                       struct vd_error *error)
{
    vd_buf_add_slice(&t->held, bytes);
    struct vd_slice rest = vd_buf_slice(&t->held);
    for (size_t used = 1; used; rest = vd_slice_from(rest, used)) {
        int rc = read_record(t, format, rest, &used, error);
        if (rc)
            return rc;
    }
    if (rest.n > VD_GIT_PATH_LEN_MAX + 256)
        return vd_error_set(error, VD_ERR_LIMIT, "a path has more than %d bytes",
                            VD_GIT_PATH_LEN_MAX);
    memmove(t->held.p ? t->held.p : (char[1]){0}, rest.p, rest.n);
    t->held.n = rest.n;
    return 0;
}

int vd_tree_files_end(struct vd_tree_files *t, struct vd_error *error)
{
    return t->held.n ? bad_record(error) : 0;
}

void vd_tree_files_release(struct vd_tree_files *t)
{
    VD_VEC_RELEASE(&t->old_files);
    VD_VEC_RELEASE(&t->new_files);
    vd_buf_release(&t->held);
    vd_arena_release(&t->arena);
}
