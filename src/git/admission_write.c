/* See admission_write.h. `make` and `stamp` may be called by a worker's thread: they look at the
 * write and at what the admission does not change any more. */
#include "git/admission_write.h"

#include "base/clock.h"
#include "base/container_of.h"
#include "kinds/condition.h"
#include "kinds/git_ownership.h"
#include "kinds/object_meta.h"

static struct vd_git_write *of(struct vd_write *write)
{
    return VD_CONTAINER_OF(write, struct vd_git_write, write);
}

/* ---- objects ---- */

/* Whether the object is still what the plan has taken it for. */
static bool is_ours(const struct vd_git_write *w, const struct vd_json *old)
{
    struct vd_slice repository = VD_SLICE("");
    if (!old)
        return w->operation->action != VD_PLAN_ADOPT;
    (void)vd_meta_annotation(old, VD_SLICE(VD_GIT_REPOSITORY), &repository);
    if (w->operation->action == VD_PLAN_ADOPT)
        return !repository.n;
    return w->operation->action != VD_PLAN_CREATE && vd_slice_eq(repository, w->admission->mark);
}

static bool make_object(struct vd_write *write, const struct vd_json *old, struct vd_json **out)
{
    struct vd_git_write *w = of(write);
    const struct vd_plan_manifest *source = w->operation->source;
    w->is_out_of_scope = false;
    w->is_claimed = !is_ours(w, old);
    if (w->is_claimed)
        return false;
    vd_meta_set_annotation(write->arena, *out, VD_SLICE(VD_GIT_REPOSITORY), w->admission->mark);
    vd_meta_set_annotation(write->arena, *out, VD_SLICE(VD_GIT_BRANCH), source->branch);
    vd_meta_set_annotation(write->arena, *out, VD_SLICE(VD_GIT_PATH),
                           source->manifest->source.path);
    return true;
}

static bool status_has(const struct vd_kind *kind, struct vd_slice field)
{
    const struct vd_schema_node *status = NULL;
    if (kind->has_status && kind->schema)
        status = vd_schema_member(vd_schema_root(kind->schema), VD_SLICE("status"));
    const struct vd_json *properties = status ? vd_json_get(vd_schema_source(status),
                                                            VD_SLICE("properties"))
                                              : NULL;
    return vd_json_get(properties, field) != NULL;
}

/* Of a kind whose status has them: the revision, "main@sha1:1111...", and the condition
 * AdmissionAccepted, both as GitStore writes them. The rest of the status belongs to controllers
 * and stays as it is. */
static void stamp_status(struct vd_write *write, struct vd_json *object)
{
    struct vd_git_write *w = of(write);
    struct vd_buf text = {0};
    vd_buf_addf(&text, "%.*s@%s:%.*s", VD_FMT(w->operation->source->branch),
                w->commit.n > 40 ? "sha256" : "sha1", VD_FMT(w->commit));
    struct vd_json *status = vd_json_get(object, VD_SLICE("status"));
    if (!vd_json_is(status, VD_JSON_OBJECT)) {
        status = vd_json_object(write->arena);
        vd_json_set(write->arena, object, VD_SLICE("status"), status);
    }
    vd_json_set(write->arena, status, VD_SLICE("lastAppliedRevision"),
                vd_json_string(write->arena, vd_buf_slice(&text)));
    vd_buf_release(&text);
    if (status_has(write->kind, VD_SLICE("conditions")))
        vd_condition_set(write->arena, object,
                         &(struct vd_condition){.type = VD_SLICE("AdmissionAccepted"),
                                                .status = VD_SLICE("True"),
                                                .reason = VD_SLICE("AdmittedByHookPipeline")},
                         vd_clock_wall_ms(w->admission->l->env->clock));
}

static bool stamp_object(struct vd_write *write, struct vd_json *object)
{
    struct vd_git_write *w = of(write);
    w->is_out_of_scope = w->operation->scope_text.n > 0;
    if (w->is_out_of_scope)
        return false;
    vd_meta_set_annotation(write->arena, object, VD_SLICE(VD_GIT_COMMIT), w->commit);
    if (status_has(write->kind, VD_SLICE("lastAppliedRevision")))
        stamp_status(write, object);
    return true;
}

static const struct vd_write_ops object_ops = {.make = make_object, .stamp = stamp_object};
static const struct vd_write_ops deletion_ops = {0};

/* ---- the Repository ---- */

static bool make_status(struct vd_write *write, const struct vd_json *old, struct vd_json **out)
{
    struct vd_git_write *w = of(write);
    struct vd_git_admission *a = w->admission;
    const size_t *counts = a->batch.counts;
    char uid[VD_UID_TEXT_MAX];
    w->is_claimed = !vd_slice_eq(vd_uid_format(vd_meta_uid(old), uid), a->uid) ||
                    vd_meta_is_deleting(old) || !vd_repository_status_is_as_before(old, &a->push);
    if (w->is_claimed)
        return false;
    a->push.created = counts[VD_WRITE_CREATED];
    a->push.updated = counts[VD_WRITE_UPDATED];
    a->push.deleted = counts[VD_WRITE_DELETED] + counts[VD_WRITE_MARKED];
    a->push.adopted = vd_plan_count(&a->plan, VD_PLAN_ADOPT);
    a->push.unchanged = counts[VD_WRITE_UNCHANGED] + counts[VD_WRITE_ABSENT];
    a->push.resources = counts[VD_WRITE_CREATED] + counts[VD_WRITE_UPDATED] +
                        counts[VD_WRITE_UNCHANGED];
    *out = vd_write_pruned_copy(write, old);
    vd_repository_status_admit(write->arena, *out, &a->push);
    write->version_tested = true;
    return true;
}

static const struct vd_write_ops status_ops = {.make = make_status};

/* ---- */

static struct vd_slice commit_of(const struct vd_git_admission *a, struct vd_slice branch)
{
    for (size_t i = 0; i < a->branches_n; i++)
        if (vd_slice_eq(a->branches[i].name, branch))
            return a->branches[i].after;
    return VD_SLICE("");
}

static void init_operation(struct vd_git_write *w, const struct vd_plan_operation *o)
{
    static const struct vd_slice ignored[] = {{VD_GIT_COMMIT, sizeof VD_GIT_COMMIT - 1}};
    const struct vd_git_manifest *m = o->source->manifest;
    struct vd_write *write = &w->write;
    bool deletes = o->action == VD_PLAN_DELETE;
    w->commit = commit_of(w->admission, o->source->branch);
    write->ops = deletes ? &deletion_ops : &object_ops;
    write->kind = o->source->kind;
    write->verb = deletes ? VD_WRITE_DELETE : VD_WRITE_REPLACE;
    write->namespace = write->kind->namespaced ? m->namespace : VD_SLICE("");
    write->name = m->name;
    write->document = deletes ? NULL : m->document;
    write->len = m->source.text.n;
    write->checks_rights = o->is_foreign || o->action == VD_PLAN_ADOPT;
    write->may_be_absent = deletes;
    write->annotations_ignored = ignored;
    write->annotations_ignored_n = 1;
    if (deletes)
        write->preconditions.uid = o->uid;
    else
        write->preconditions.uid = vd_slice(NULL, 0);
}

static void init_status(struct vd_git_write *w)
{
    struct vd_write *write = &w->write;
    write->ops = &status_ops;
    write->kind = vd_kind_set_resource(w->admission->kinds->set, VD_SLICE(VD_GIT_GROUP),
                                       VD_SLICE("v1"), VD_SLICE("repositories"));
    write->verb = VD_WRITE_PATCH;
    write->part = VD_PART_STATUS;
    write->namespace = w->admission->namespace;
    write->name = w->admission->name;
}

void vd_git_write_init(struct vd_git_write *w, struct vd_git_admission *a,
                       const struct vd_plan_operation *operation)
{
    *w = (struct vd_git_write){.admission = a, .operation = operation};
    w->write.l = a->l;
    w->write.user = a->user;
    w->write.author = VD_AUTHOR_GIT;
    w->write.kinds = a->kinds->set;
    w->write.manager = VD_SLICE("vedette-git");
    w->write.validation = VD_FIELDS_WARN;
    if (operation)
        init_operation(w, operation);
    else
        init_status(w);
}
