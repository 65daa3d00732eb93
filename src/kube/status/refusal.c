/* See refusal.h. The reasons are a table: those whose Status is a text alone, and those that need
 * more of the refusal. */
#include "kube/status/refusal.h"

#include <assert.h>

#include "kube/call.h"

/* What a Status is made of. */
struct refused {
    struct vd_arena *arena;
    const struct vd_write *w;
    const struct vd_refusal *why;
    struct vd_slice path, verb; /* of the request */
    struct vd_status_target status_target;
};

/* ---- what was sent ---- */

static struct vd_status name_differs(const struct refused *r)
{
    return vd_status_name_differs(r->arena, r->why->is, r->why->wanted);
}

static struct vd_status namespace_differs(const struct refused *r)
{
    return vd_status_namespace_differs(r->arena);
}

static struct vd_status api_version_differs(const struct refused *r)
{
    return vd_status_version_differs(r->arena, r->why->is, r->why->wanted);
}

static struct vd_status invalid(const struct refused *r)
{
    size_t n = r->why->violations_n;
    struct vd_status_cause *causes = vd_arena_alloc(r->arena, n * sizeof *causes);
    for (size_t i = 0; i < n; i++) {
        const struct vd_violation *v = &r->why->violations[i];
        causes[i] = (struct vd_status_cause){.reason = vd_slice_of(vd_violation_reason(v->type)),
                                             .message = v->message,
                                             .field = v->field};
    }
    struct vd_status_target status_target = {0}; /* of what a patch has made */
    if (r->why->kind.n)
        status_target = (struct vd_status_target){r->status_target.group, r->why->kind,
                                                  r->why->name};
    return vd_status_invalid(r->arena, &status_target, causes, n);
}

/* ---- what the user may not ---- */

static struct vd_status forbidden(const struct refused *r)
{
    struct vd_status_target status_target = r->status_target;
    status_target.name = r->why->name;
    return vd_status_forbidden(r->arena, &status_target, r->why->text);
}

static struct vd_status not_allowed(const struct refused *r)
{
    return vd_access_status(r->arena, &r->why->access, r->why->text);
}

static struct vd_status owned_by_git(const struct refused *r)
{
    struct vd_status_target status_target = r->status_target;
    status_target.name = r->why->claim.name;
    return vd_status_owned_by_git(r->arena, &status_target, &r->why->claim, r->w->kind->namespaced);
}

/* ---- what is not there, or going ---- */

static struct vd_status not_found(const struct refused *r)
{
    return vd_status_not_found(r->arena, &r->status_target);
}

static struct vd_status namespace_not_found(const struct refused *r)
{
    struct vd_status_target status_target = {.plural = VD_SLICE("namespaces"),
                                             .name = r->why->name};
    return vd_status_not_found(r->arena, &status_target);
}

static struct vd_status role_not_found(const struct refused *r)
{
    struct vd_status_target status_target = r->status_target;
    status_target.name = r->why->name;
    struct vd_status status = vd_status_not_found(r->arena, &status_target);
    status.message = r->why->text;
    return status;
}

static struct vd_status namespace_terminating(const struct refused *r)
{
    return vd_status_namespace_terminating(r->arena, &r->status_target, r->why->name);
}

struct vd_status vd_status_kind_terminating(struct vd_arena *a,
                                            const struct vd_status_target *target,
                                            struct vd_slice verb)
{
    struct vd_status status = vd_status_method_not_allowed(a, target, verb);
    status.message = VD_SLICE("create not allowed while custom resource definition is "
                              "terminating");
    return status;
}

static struct vd_status kind_terminating(const struct refused *r)
{
    return vd_status_kind_terminating(r->arena, &r->status_target, r->verb);
}

/* ---- what is there ---- */

static struct vd_status exists(const struct refused *r)
{
    return vd_status_already_exists(r->arena, &r->status_target, r->why->deleting);
}

static struct vd_status name_not_made(const struct refused *r)
{
    return vd_status_name_not_generated(r->arena, &r->status_target);
}

/* ---- another object, or another version ---- */

static struct vd_status conflict(const struct refused *r)
{
    return vd_status_modified(r->arena, &r->status_target, r->why->current);
}

static struct vd_status uid_differs(const struct refused *r)
{
    return vd_status_uid_differs(r->arena, &r->status_target, r->path, r->why->wanted, r->why->is);
}

/* Some answers name the kind where others name the resource. */
static struct vd_status_target about_kind(const struct refused *r)
{
    return (struct vd_status_target){r->status_target.group, r->w->kind->kind,
                                     r->status_target.name};
}

static struct vd_status uid_precondition(const struct refused *r)
{
    struct vd_status_target status_target = about_kind(r);
    return vd_status_uid_precondition(r->arena, &status_target, r->why->wanted, r->why->is);
}

static struct vd_status version_precondition(const struct refused *r)
{
    struct vd_status_target status_target = about_kind(r);
    return vd_status_version_precondition(r->arena, &status_target, r->why->wanted, r->why->is);
}

static struct vd_status no_object_of_uid(const struct refused *r)
{
    struct vd_buf why = {0};
    vd_buf_addf(&why,
                "uid mismatch: the provided object specified uid %.*s, and no existing object was "
                "found",
                VD_FMT(r->why->wanted));
    struct vd_status status = vd_status_conflict(r->arena, &r->status_target, vd_buf_slice(&why));
    vd_buf_release(&why);
    return status;
}

static struct vd_status version_required(const struct refused *r)
{
    struct vd_status_target status_target = about_kind(r);
    return vd_status_version_required(r->arena, &status_target);
}

static struct vd_status status_version_required(const struct refused *r)
{
    return vd_status_precondition_required(r->arena, &r->status_target);
}

static struct vd_status in_use(const struct refused *r)
{
    return vd_status_conflict(r->arena, &r->status_target, r->why->text);
}

static struct vd_status apply_conflict(const struct refused *r)
{
    struct vd_arena *a = r->arena;
    size_t n = r->why->conflicts_n;
    struct vd_status_cause *causes = vd_arena_alloc(a, n * sizeof *causes);
    for (size_t i = 0; i < n; i++) {
        struct vd_buf text = {0};
        vd_buf_addf(&text, "conflict with %.*s", VD_FMT(r->why->conflicts[i].manager));
        causes[i] = (struct vd_status_cause){VD_SLICE("FieldManagerConflict"),
                                             vd_arena_copy(a, vd_buf_slice(&text)),
                                             r->why->conflicts[i].path};
        vd_buf_release(&text);
    }
    return vd_status_apply_conflict(a, r->why->text, causes, n);
}

static struct vd_status conversion_failed(const struct refused *r)
{
    struct vd_error error;
    vd_error_set(&error, VD_ERR_IO, "%.*s", VD_FMT(r->why->text));
    return vd_status_conversion_failed(r->arena, &error);
}

/* ---- the table ---- */

static const struct {
    struct vd_status (*of_text)(struct vd_arena *a, struct vd_slice text);
    struct vd_status (*of)(const struct refused *r);
} reasons[VD_REFUSAL_REASONS] = {
    [VD_REFUSED_BAD_REQUEST] = {.of_text = vd_status_bad_request},
    [VD_REFUSED_NAME_DIFFERS] = {.of = name_differs},
    [VD_REFUSED_NAMESPACE_DIFFERS] = {.of = namespace_differs},
    [VD_REFUSED_API_VERSION_DIFFERS] = {.of = api_version_differs},
    [VD_REFUSED_INVALID] = {.of = invalid},
    [VD_REFUSED_TOO_LARGE] = {.of_text = vd_status_too_large},
    [VD_REFUSED_FORBIDDEN] = {.of = forbidden},
    [VD_REFUSED_NOT_ALLOWED] = {.of = not_allowed},
    [VD_REFUSED_OWNED_BY_GIT] = {.of = owned_by_git},
    [VD_REFUSED_NOT_FOUND] = {.of = not_found},
    [VD_REFUSED_NAMESPACE_NOT_FOUND] = {.of = namespace_not_found},
    [VD_REFUSED_ROLE_NOT_FOUND] = {.of = role_not_found},
    [VD_REFUSED_NAMESPACE_TERMINATING] = {.of = namespace_terminating},
    [VD_REFUSED_KIND_TERMINATING] = {.of = kind_terminating},
    [VD_REFUSED_IN_USE] = {.of = in_use},
    [VD_REFUSED_EXISTS] = {.of = exists},
    [VD_REFUSED_NAME_NOT_MADE] = {.of = name_not_made},
    [VD_REFUSED_CONFLICT] = {.of = conflict},
    [VD_REFUSED_UID_DIFFERS] = {.of = uid_differs},
    [VD_REFUSED_UID_PRECONDITION] = {.of = uid_precondition},
    [VD_REFUSED_VERSION_PRECONDITION] = {.of = version_precondition},
    [VD_REFUSED_NO_OBJECT_OF_UID] = {.of = no_object_of_uid},
    [VD_REFUSED_VERSION_REQUIRED] = {.of = version_required},
    [VD_REFUSED_STATUS_VERSION_REQUIRED] = {.of = status_version_required},
    [VD_REFUSED_APPLY_CONFLICT] = {.of = apply_conflict},
    [VD_REFUSED_CONVERSION_FAILED] = {.of = conversion_failed},
    [VD_REFUSED_EXPIRED] = {.of_text = vd_status_expired},
    [VD_REFUSED_FUTURE] = {.of_text = vd_status_version_too_large},
    [VD_REFUSED_NO_SPACE] = {.of_text = vd_status_insufficient_storage},
    [VD_REFUSED_READ_ONLY] = {.of_text = vd_status_unavailable},
    [VD_REFUSED_UNAVAILABLE] = {.of_text = vd_status_unavailable},
    [VD_REFUSED_FAILED] = {.of_text = vd_status_internal_error},
};

struct vd_status vd_status_of_refusal(const struct vd_write *w, struct vd_slice path,
                                      struct vd_slice verb)
{
    const struct vd_refusal *why = &w->refusal;
    struct refused r = {
        .arena = w->arena,
        .w = w,
        .why = why,
        .path = path,
        .verb = verb,
        .status_target = {.group = w->kind->group, .plural = w->kind->plural, .name = w->name},
    };
    assert(reasons[why->reason].of || reasons[why->reason].of_text);
    return reasons[why->reason].of ? reasons[why->reason].of(&r)
                                   : reasons[why->reason].of_text(w->arena, why->text);
}
