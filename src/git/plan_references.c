/* What objects of a plan refer to; see plan.h. */
#include "git/plan_internal.h"

struct vd_plan_object *vd_plan_object_meant(const struct vd_plan *plan,
                                            const struct vd_reference *reference)
{
    struct vd_plan_identity identity = {reference->field->group, reference->field->kind,
                                        reference->namespace, reference->name};
    struct vd_plan_object *object = vd_plan_object_find(plan, &identity);
    if (object || !identity.namespace.n)
        return object;
    identity.namespace = VD_SLICE("");
    return vd_plan_object_find(plan, &identity);
}

/* Whether the old manifest of the object referred to the same one there. */
static bool is_new(struct vd_plan *plan, const struct vd_plan_object *object,
                   const struct vd_reference *reference)
{
    struct vd_references before = {0};
    bool found = false;
    if (!object->old_manifest)
        return true;
    vd_references_of(object->old_manifest->kind, object->old_manifest->manifest->document,
                     object->identity.namespace, &plan->arena, &before);
    for (size_t i = 0; i < before.list.n && !found; i++)
        found = before.list.p[i].field == reference->field &&
                vd_slice_eq(before.list.p[i].namespace, reference->namespace) &&
                vd_slice_eq(before.list.p[i].name, reference->name);
    vd_references_release(&before);
    return !found;
}

static bool is_being_deleted(struct vd_plan *plan, const struct vd_plan_object *known,
                             const struct vd_reference *reference)
{
    struct vd_plan_identity identity = {reference->field->group, reference->field->kind,
                                        reference->namespace, reference->name};
    struct vd_plan_stored stored = {0};
    if (known)
        return known->stored.deleting;
    plan->find(plan, &identity, &stored);
    return stored.exists && stored.deleting;
}

void vd_plan_check_references(struct vd_plan *plan, struct vd_plan_object *object)
{
    const struct vd_git_manifest *m = object->new_manifest->manifest;
    for (size_t i = 0; i < object->references.list.n; i++) {
        const struct vd_reference *r = &object->references.list.p[i];
        const struct vd_plan_object *other = vd_plan_object_meant(plan, r);
        if (other == object && r->field->blocks_deletion)
            vd_git_manifest_refuse(m, r->path, plan->report, "refers to the object itself");
        else if (other && other->is_deleted && r->field->blocks_deletion)
            vd_git_manifest_refuse(m, r->path, plan->report,
                                   "refers to %.*s %.*s, which this push deletes",
                                   VD_FMT(r->field->kind), VD_FMT(r->name));
        else if (is_being_deleted(plan, other, r) && is_new(plan, object, r))
            vd_git_manifest_refuse(m, r->path, plan->report,
                                   "refers to %.*s %.*s, which is being deleted",
                                   VD_FMT(r->field->kind), VD_FMT(r->name));
        else
            continue;
        object->is_wrong = true;
    }
}
