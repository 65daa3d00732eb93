/*
 * Followers: Repositories with spec.remote, which are fetched (git/fetch.h) and synced
 * (git/sync.h) again and again, instead of being pushed to.
 *
 * The next fetch follows after spec.remote.interval, or up to a quarter of it earlier by chance. A
 * fetch that has failed is tried again after a pause that doubles from failure to failure. Whatever
 * fails, the last good state stays; the Repository says why in status.lastError and in its
 * condition Synced:
 *
 *     True   UpToDate          the objects are those of the remote's commit
 *     False  FetchFailed       git could not fetch: the network, credentials, a missing branch
 *     False  ManifestsInvalid  the commit was refused as a push of it would be
 *     False  AdmissionFailed   git or the store has failed, or a limit was passed
 *     False  Forbidden         the ServiceAccount may not write some object, or does not exist, or
 *                              the server's policy forbids the URL
 *
 * The writes are those of the ServiceAccount that spec.remote.serviceAccountName names.
 *
 * All on the controller's loop, which is loop 0, but for vd_followers_hurry().
 */
#ifndef VD_GIT_FOLLOWERS_H
#define VD_GIT_FOLLOWERS_H

#include "api/controller.h"
#include "base/attributes.h"
#include "git/branch_admission.h"
#include "git/remote_url.h"
#include "git/repositories.h"

struct vd_audit;
struct vd_followers;

/* All borrowed. */
struct vd_followers_options {
    struct vd_controller *controller; /* that has not been started */
    struct vd_admissions *all;
    struct vd_repositories *repositories;
    struct vd_remote_policy policy;
    struct vd_audit *audit;   /* gets an event of each fetch; or NULL */
    const char *ssh;          /* the ssh program; NULL: there is none */
    const char *ssh_launcher; /* a link to this program, by the name "ssh" */
};

struct vd_followers *vd_followers_new(const struct vd_followers_options *options) VD_MUST_USE;

/* On loop 0, before it is stopped: fetches and syncs are given up. */
void vd_followers_stop(struct vd_followers *followers);

/* When the controller and the loop have stopped. NULL allowed. */
void vd_followers_free(struct vd_followers *followers);

/* The remote of the Repository "namespace/name" has changed: it is fetched at once, but not more
 * often than every VD_GIT_HURRY_MS. Any thread. */
void vd_followers_hurry(struct vd_followers *followers, struct vd_slice key);

#endif
