/* See git_claim.h. */
#include "api/git_claim.h"

#include "base/buf.h"
#include "kinds/deletion.h"
#include "store/collection.h"
#include "store/snapshot.h"

enum { NAMED_MAX = 5 }; /* repositories that a refusal names */

static bool is_allowed(const struct vd_api_env *env, const struct vd_access *access)
{
    struct vd_buf reason = {0};
    bool allowed = vd_gatekeeper_allows(env->gatekeeper, access, &reason);
    vd_buf_release(&reason);
    return allowed;
}

/* As for any other verb: rules see a namespace in itself, and what is in no namespace in none. */
static bool may_override(const struct vd_git_claim *claim, const struct vd_api_env *env,
                         const struct vd_user *user, const struct vd_kind *kind,
                         struct vd_slice namespace)
{
    bool is_namespace = vd_slice_is(kind->resource, "namespaces");
    return is_allowed(env, &(struct vd_access){.user = user,
                                               .verb = VD_VERB_OVERRIDE,
                                               .group = kind->group,
                                               .resource = kind->plural,
                                               .namespace = is_namespace       ? claim->name
                                                            : kind->namespaced ? namespace
                                                                               : VD_SLICE(""),
                                               .name = claim->name});
}

static bool may_list(const struct vd_api_env *env, const struct vd_user *user,
                     struct vd_slice namespace)
{
    return is_allowed(env, &(struct vd_access){.user = user,
                                               .verb = VD_SLICE("list"),
                                               .group = VD_SLICE("git.vedette.dev"),
                                               .resource = VD_SLICE("repositories"),
                                               .namespace = namespace});
}

/* The names of the first repositories of the namespace. */
static struct vd_slice repositories_of(const struct vd_api_env *env, struct vd_slice namespace,
                                       struct vd_arena *arena)
{
    struct vd_event *events[NAMED_MAX];
    struct vd_snapshot snapshot = {0};
    struct vd_buf prefix = {0}, names = {0};
    size_t n = 0;
    vd_buf_addf(&prefix, "%.*s/", VD_FMT(namespace));
    if (vd_snapshot_open(&snapshot, env->store, VD_REPOSITORIES, vd_buf_slice(&prefix), 0,
                         VD_SLICE(""), NULL) ||
        vd_snapshot_next(&snapshot, events, NAMED_MAX, &n, NULL))
        n = 0;
    for (size_t i = 0; i < n; i++) {
        vd_buf_addf(&names, "%s%.*s", i ? ", " : "", VD_FMT(vd_entry_name(events[i]->entry)));
        vd_event_unref(events[i]);
    }
    struct vd_slice list = vd_arena_copy(arena, vd_buf_slice(&names));
    vd_snapshot_release(&snapshot);
    vd_buf_release(&prefix);
    vd_buf_release(&names);
    return list;
}

void vd_git_claim_complete(struct vd_git_claim *claim, const struct vd_api_env *env,
                           const struct vd_user *user, const struct vd_kind *kind,
                           struct vd_slice namespace, struct vd_arena *arena)
{
    claim->may_override = may_override(claim, env, user, kind, namespace);
    if (claim->repository.n || !kind->namespaced || !namespace.n)
        return;
    claim->may_list = may_list(env, user, namespace);
    if (claim->may_list)
        claim->repositories = repositories_of(env, namespace, arena);
}
