/* See cascade.h. */
#include "api/cascade.h"

#include "api/object_scan.h"
#include "kinds/deletion.h"
#include "kinds/git_ownership.h"
#include "kinds/object_meta.h"

enum {
    STEP_OBJECTS = 16, /* that are held at a time */
    ATTEMPTS_MAX = 8,  /* when the window passes the scan */
};

/* ---- whether there is anything to ask ---- */

/* Only a rule for all groups and all resources allows what is asked for "*". */
static bool may_delete_everything(const struct vd_api_env *env, const struct vd_user *user)
{
    struct vd_buf reason = {0};
    struct vd_access access = {.user = user,
                               .verb = VD_SLICE("delete"),
                               .group = VD_SLICE("*"),
                               .resource = VD_SLICE("*")};
    bool allowed = vd_gatekeeper_allows(env->gatekeeper, &access, &reason);
    vd_buf_release(&reason);
    return allowed;
}

/* The count decides only before the deletion has begun: later the server may have found more. */
static bool may_own(const struct vd_json *object)
{
    int64_t owned = 0;
    return vd_meta_is_deleting(object) ||
           (vd_json_to_i64(vd_json_dig(object, "status", "resources", NULL), &owned) && owned > 0);
}

enum vd_cascade vd_cascade_of(const struct vd_api_env *env, const struct vd_user *user,
                              struct vd_slice resource, const struct vd_json *object)
{
    struct vd_slice policy = vd_json_text(vd_json_dig(object, "spec", "deletionPolicy", NULL));
    if (!vd_slice_eq(resource, VD_REPOSITORIES) || !vd_slice_is(policy, "Cascade") ||
        vd_deletion_cascades_elsewhere(object) || !may_own(object))
        return VD_CASCADE_NONE;
    return may_delete_everything(env, user) ? VD_CASCADE_ALLOWED : VD_CASCADE_UNKNOWN;
}

/* ---- the scan ---- */

struct check {
    const struct vd_api_env *env;
    const struct vd_user *user;
    const struct vd_slice *repositories;
    size_t n;
    struct vd_kind_set *kinds;
    struct vd_buf allowed; /* "resource/namespace": all objects there may be deleted */
    struct vd_buf place;   /* of the object that is looked at, likewise */
    struct vd_error *error;
};

/* The Repository that the object belongs to without being in its namespace; or nothing. */
static struct vd_slice owner_elsewhere(const struct check *c, const struct vd_event *event)
{
    struct vd_slice owner, namespace, rest;
    if (!event->body || !vd_git_find_owner(vd_body_slice(event->body), &owner))
        return VD_SLICE("");
    rest = owner;
    if (vd_slice_cut(&rest, '/', &namespace) &&
        vd_slice_eq(namespace, vd_entry_namespace(event->entry)))
        return VD_SLICE("");
    for (size_t i = 0; i < c->n; i++)
        if (vd_slice_eq(c->repositories[i], owner))
            return owner;
    return VD_SLICE("");
}

static bool is_allowed(struct check *c, const struct vd_access *access)
{
    struct vd_buf reason = {0};
    bool allowed = vd_gatekeeper_allows(c->env->gatekeeper, access, &reason);
    vd_buf_release(&reason);
    return allowed;
}

/* Objects come sorted by resource and namespace, so that the last place is worth remembering. */
static int check_object(struct check *c, const struct vd_event *event, struct vd_slice repository)
{
    const struct vd_entry *entry = event->entry;
    const struct vd_kind *kind = vd_kind_set_stored(c->kinds, vd_entry_resource(entry));
    bool is_namespace = vd_slice_is(vd_entry_resource(entry), "namespaces");
    vd_buf_reset(&c->place);
    vd_buf_addf(&c->place, "%.*s/%.*s", VD_FMT(vd_entry_resource(entry)),
                VD_FMT(vd_entry_namespace(entry)));
    if (!kind || vd_slice_eq(vd_buf_slice(&c->place), vd_buf_slice(&c->allowed)))
        return VD_OK;
    struct vd_access access = {.user = c->user,
                               .verb = VD_SLICE("delete"),
                               .group = kind->group,
                               .resource = kind->plural,
                               .namespace = vd_entry_namespace(entry)};
    if (is_allowed(c, &access)) {
        vd_buf_reset(&c->allowed);
        vd_buf_add_slice(&c->allowed, vd_buf_slice(&c->place));
        return VD_OK;
    }
    access.name = vd_entry_name(entry);
    if (is_namespace)
        access.namespace = access.name; /* as in api/write/rights.c */
    if (is_allowed(c, &access))
        return VD_OK;
    return vd_error_set(
        c->error, VD_ERR_FORBIDDEN,
        "Repository %.*s owns %.*s \"%.*s\"%s%.*s, which would be deleted with it: user \"%.*s\" "
        "needs the verb \"delete\" on that object, too, or set spec.deletionPolicy to Refuse and "
        "push a commit that removes it",
        VD_FMT(repository), VD_FMT(kind->resource), VD_FMT(access.name),
        kind->namespaced ? " of the namespace " : " of no namespace",
        kind->namespaced ? (int)access.namespace.n : 0, access.namespace.p,
        VD_FMT(c->user->is.name));
}

static int look_at(struct check *c, struct vd_event *const *events, size_t n)
{
    int code = VD_OK;
    for (size_t i = 0; i < n; i++) {
        struct vd_slice repository = owner_elsewhere(c, events[i]);
        if (!code && repository.n)
            code = check_object(c, events[i], repository);
        vd_event_unref(events[i]);
    }
    return code;
}

static int scan_once(struct check *c)
{
    struct vd_object_scan scan = {0};
    int code = VD_OK;
    vd_object_scan_begin(&scan, c->env->store, c->env->kinds);
    while (!code && !scan.done) {
        struct vd_event *events[STEP_OBJECTS];
        size_t n = 0;
        code = vd_object_scan_next(&scan, events, STEP_OBJECTS, &n, c->error);
        if (code == VD_ERR_CORRUPT)
            code = VD_OK; /* what cannot be read is not deleted, either */
        if (!code)
            code = look_at(c, events, n);
    }
    vd_object_scan_end(&scan);
    return code;
}

int vd_cascade_check(const struct vd_api_env *env, const struct vd_user *user,
                     const struct vd_slice *repositories, size_t n, struct vd_error *error)
{
    struct check c = {.env = env,
                      .user = user,
                      .repositories = repositories,
                      .n = n,
                      .kinds = vd_kinds_snapshot(env->kinds),
                      .error = error};
    int code = VD_ERR_EXPIRED;
    for (unsigned i = 0; code == VD_ERR_EXPIRED && i < ATTEMPTS_MAX; i++)
        code = scan_once(&c);
    if (code == VD_ERR_EXPIRED)
        code = vd_error_set(error, VD_ERR_LOCKED,
                            "so much is written at the moment that the objects of the Repository "
                            "cannot be looked through: try again");
    vd_kind_set_unref(c.kinds);
    vd_buf_release(&c.allowed);
    vd_buf_release(&c.place);
    return code;
}
