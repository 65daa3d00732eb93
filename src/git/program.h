/*
 * The git program: where it is, and whether it is new enough.
 *
 * It is looked for once, when the server starts, in the folders of PATH, and asked for its version
 * and for the folder of its helpers. From then on it is called by its absolute path, with an
 * environment of its own (git/command.h): what the server's environment says later does not matter.
 */
#ifndef VD_GIT_PROGRAM_H
#define VD_GIT_PROGRAM_H

#include "base/attributes.h"
#include "base/error.h"
#include "base/slice.h"

enum {
    VD_GIT_MAJOR_MIN = 2, /* the oldest version that is used: ... */
    VD_GIT_MINOR_MIN = 36 /* ... hooks of the kind proc-receive, and cat-file --batch-command */
};

struct vd_git_version {
    unsigned major, minor;
};

/* `= {0}` is none. Immutable once it is open, and shared by all loops. */
struct vd_git_program {
    char *path;      /* of git itself, absolute */
    char *exec_path; /* the folder of its helpers */
    struct vd_git_version version;
};

/*
 * Finds git in the folders of `search_path`, which is a value of PATH; NULL: none. Runs it twice
 * and waits for it. VD_ERR_NOT_FOUND: it is in none of them; VD_ERR_FORMAT: it is too old;
 * VD_ERR_IO: it does not run.
 */
int vd_git_program_open(struct vd_git_program *program, const char *search_path,
                        struct vd_error *error) VD_MUST_USE;
void vd_git_program_close(struct vd_git_program *program);

/* The version in "git version 2.39.5 (some build)"; VD_ERR_FORMAT if there is none. */
int vd_git_version_parse(struct vd_slice text, struct vd_git_version *out,
                         struct vd_error *error) VD_MUST_USE;

/* Whether it is this version or a later one. */
static inline bool vd_git_program_is(const struct vd_git_program *program, unsigned major,
                                     unsigned minor)
{
    return program->version.major > major ||
           (program->version.major == major && program->version.minor >= minor);
}

/* The path of a program in the folders of a PATH, for the caller to free; NULL: there is none. */
char *vd_program_find(const char *search_path, const char *name) VD_MUST_USE;

#endif
