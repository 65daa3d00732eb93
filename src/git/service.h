/*
 * What the parts of the Git face share. One for the server; immutable once the loops run, but for
 * the slots and the repositories, which have locks of their own.
 */
#ifndef VD_GIT_SERVICE_H
#define VD_GIT_SERVICE_H

#include "api/env.h"
#include "git/branch_admission.h"
#include "git/drift.h"
#include "git/followers.h"
#include "git/git.h"
#include "git/process_slots.h"
#include "git/program.h"
#include "git/push.h"
#include "git/repositories.h"
#include "git/resets.h"
#include "git/smart_http.h"
#include "git/upkeep.h"
#include "git/webhook.h"
#include "net/route.h"
#include "request/loop.h"

struct vd_git {
    const struct vd_api_env *env;
    struct vd_git_program program;
    bool has_program;
    struct vd_error missing; /* why there is none */
    char *root;              /* the folder of the repositories */
    char *hooks;             /* the folder of their hooks */
    struct vd_repositories *repositories;
    struct vd_admissions admissions;
    struct vd_pushes *pushes;       /* NULL: there is no program */
    struct vd_upkeep *upkeep;       /* likewise */
    struct vd_resets *resets;       /* likewise */
    struct vd_followers *followers; /* likewise */
    struct vd_remote_policy policy; /* of the URLs that are followed */
    char *ssh, *ssh_launcher;       /* the ssh program, or NULL; and what git calls for it */
    struct vd_webhooks webhooks;
    struct vd_route webhook_route;
    struct vd_drift *drift;
    struct vd_process_slots slots;
    struct vd_route route;
    struct vd_request_loop **request_loops; /* one for each loop */
    struct vd_loop *first;                  /* loop 0 */
    size_t loops_n;
};

static inline struct vd_request_loop *vd_git_requests(const struct vd_git *git,
                                                      const struct vd_exchange *x)
{
    return git->request_loops[x->loop->index];
}

#endif
