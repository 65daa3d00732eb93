/*
 * The Git face: repositories that are hosted in the data folder and served by Git's smart HTTP
 * protocol at /<namespace>/<name>.git, by the git program.
 *
 *     vd_git_open(&git, &options, &error);
 *     vd_git_add_routes(git, &routes);
 *     vd_git_join(git, &api_loops[i], &request_loops[i]);     for each loop
 *     vd_git_follow(git, &controller);              before the loops run
 *     ...                                           the loops run
 *     vd_git_stop(git);                             when no request comes any more
 *     vd_git_close(git);                            when the loops have stopped
 *
 * If there is no git program that can be used, the face is open all the same: its paths answer 503
 * with the reason, Repository objects say it in their condition Ready, and the log has a warning.
 */
#ifndef VD_GIT_GIT_H
#define VD_GIT_GIT_H

#include <stddef.h>

#include "base/attributes.h"
#include "base/error.h"

struct vd_api_env;
struct vd_api_loop;
struct vd_controller;
struct vd_git;
struct vd_request_loop;
struct vd_route_table;

struct vd_git_options {
    const struct vd_api_env *env; /* borrowed for as long as the face is open */
    const char *data;             /* the data folder; the repositories are in its folder git/ */
    const char *search_path;      /* where git is looked for: a value of PATH */
    /* Schemes of the remotes that may be followed, as git/remote_url.h has them; borrowed for the
     * call. */
    const char *const *remote_schemes;
    size_t remote_schemes_n;
    size_t loops_n;
};

/* VD_ERR_INVALID: one of the schemes is none. Any thread. */
int vd_git_check_schemes(const char *const *schemes, size_t n, struct vd_error *error) VD_MUST_USE;

/* The error is of the data folder, or of the schemes. */
int vd_git_open(struct vd_git **out, const struct vd_git_options *options,
                struct vd_error *error) VD_MUST_USE;

/* Before the loops start. */
void vd_git_add_routes(struct vd_git *git, struct vd_route_table *routes);

/* The face's part on one loop; before it starts. */
void vd_git_join(struct vd_git *git, struct vd_api_loop *api, struct vd_request_loop *requests);

/* Has the controller, which is on loop 0 and not started, look after the repositories. Before the
 * loops start. */
void vd_git_follow(struct vd_git *git, struct vd_controller *controller);

/* While the loops run, from another thread, when all exchanges have ended: pushes that have not
 * come to their batch are given up, and git processes are waited for, for a while. */
void vd_git_stop(struct vd_git *git);

/* When the controller has stopped, and then the loops. NULL allowed. */
void vd_git_close(struct vd_git *git);

#endif
