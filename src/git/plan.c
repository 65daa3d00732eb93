/* See plan.h. */
#include "git/plan.h"

#include "git/plan_internal.h"
#include "git/repository.h"

/* ---- objects by identity ---- */

static struct vd_slice object_key(const void *item)
{
    return ((const struct vd_plan_object *)item)->key;
}

static void write_key(struct vd_buf *out, const struct vd_plan_identity *identity)
{
    const struct vd_slice parts[] = {identity->group, identity->kind, identity->namespace,
                                     identity->name};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        vd_buf_add_slice(out, parts[i]);
        vd_buf_add_char(out, 0);
    }
}

struct vd_plan_object *vd_plan_object_find(const struct vd_plan *plan,
                                           const struct vd_plan_identity *identity)
{
    struct vd_buf key = {0};
    write_key(&key, identity);
    struct vd_plan_object *object = vd_hash_map_get(&plan->objects, vd_buf_slice(&key));
    vd_buf_release(&key);
    return object;
}

static struct vd_plan_identity identity_of(const struct vd_plan_manifest *m)
{
    return (struct vd_plan_identity){m->kind->group, m->kind->kind, m->manifest->namespace,
                                     m->manifest->name};
}

static struct vd_plan_object *object_of(struct vd_plan *plan, const struct vd_plan_manifest *m)
{
    struct vd_plan_identity identity = identity_of(m);
    struct vd_buf key = {0};
    write_key(&key, &identity);
    struct vd_plan_object *object = vd_hash_map_get(&plan->objects, vd_buf_slice(&key));
    if (!object) {
        object = vd_arena_alloc(&plan->arena, sizeof *object);
        *object = (struct vd_plan_object){.key = vd_arena_copy(&plan->arena, vd_buf_slice(&key)),
                                          .identity = identity};
        plan->find(plan, &identity, &object->stored);
        vd_hash_map_put(&plan->objects, object);
    }
    vd_buf_release(&key);
    return object;
}

/* ---- what is refused ---- */

static void refuse_new(struct vd_plan *plan, struct vd_plan_object *o, const char *field,
                       const char *format, ...) VD_PRINTF(4, 5);

static void refuse_new(struct vd_plan *plan, struct vd_plan_object *o, const char *field,
                       const char *format, ...)
{
    struct vd_buf text = {0};
    va_list arguments;
    va_start(arguments, format);
    vd_buf_vaddf(&text, format, arguments);
    va_end(arguments);
    vd_git_manifest_refuse(o->new_manifest->manifest, vd_slice_of(field), plan->report, "%s",
                           vd_buf_text(&text));
    vd_buf_release(&text);
    o->is_wrong = true;
}

static bool has_text(const struct vd_json *list, struct vd_slice text)
{
    VD_JSON_EACH (item, list)
        if (vd_slice_eq(vd_json_text(item), text))
            return true;
    return false;
}

/* NULL if the repository may write the object; else which field is wrong, and *text says why. */
static const char *scope_refusal(const struct vd_plan *plan, const struct vd_plan_object *o,
                                 const struct vd_kind *kind, struct vd_buf *text)
{
    if (!kind->namespaced && !has_text(plan->cluster_scoped, kind->resource)) {
        vd_buf_addf(text,
                    "a %.*s belongs to no namespace: this repository may write it only if "
                    "spec.scope.clusterScoped of Repository %.*s names %.*s",
                    VD_FMT(kind->kind), VD_FMT(plan->repository), VD_FMT(kind->resource));
        return "kind";
    }
    if (kind->namespaced && !vd_slice_eq(o->identity.namespace, plan->namespace) &&
        !has_text(plan->namespaces, o->identity.namespace)) {
        vd_buf_addf(text,
                    "this repository writes namespace %.*s: it may write others only if "
                    "spec.scope.namespaces of Repository %.*s names %.*s",
                    VD_FMT(plan->namespace), VD_FMT(plan->repository),
                    VD_FMT(o->identity.namespace));
        return "metadata.namespace";
    }
    return NULL;
}

static bool is_own_repository(const struct vd_plan *plan, const struct vd_plan_object *o)
{
    return vd_slice_is(o->identity.group, VD_GIT_GROUP) &&
           vd_slice_is(o->identity.kind, "Repository") &&
           vd_slice_eq(o->identity.namespace, plan->namespace) &&
           vd_slice_eq(o->identity.name, plan->name);
}

/* Whether the object that the store has is from a file that this push has changed: then that file
 * does not describe it any more, or describes it now. */
static bool is_let_go(const struct vd_plan_object *o)
{
    return o->old_manifest && vd_slice_eq(o->old_manifest->branch, o->stored.branch);
}

static void check_stored(struct vd_plan *plan, struct vd_plan_object *o)
{
    const struct vd_plan_stored *s = &o->stored;
    const struct vd_plan_manifest *m = o->new_manifest;
    bool ours = vd_slice_eq(s->repository, plan->repository);
    bool same_branch = ours && vd_slice_eq(s->branch, m->branch);
    bool same_path = same_branch && vd_slice_eq(s->path, m->manifest->source.path);
    if (!s->exists)
        o->action = VD_PLAN_CREATE;
    else if (!s->repository.n && !plan->adopts)
        refuse_new(plan, o, "metadata.name",
                   "there is such an object already, and it belongs to the API; `vedette repo "
                   "adopt` takes it into the repository");
    else if (s->repository.n && !ours)
        refuse_new(plan, o, "metadata.name",
                   "the object belongs to repository %.*s, which has it from %.*s",
                   VD_FMT(s->repository), VD_FMT(s->path));
    else if (s->deleting)
        refuse_new(plan, o, "metadata.name",
                   "the object is being deleted and waits for its finalizers (%.*s); push again "
                   "when it is gone",
                   VD_FMT(s->finalizers));
    else if (!s->repository.n)
        o->action = VD_PLAN_ADOPT;
    else if (!same_branch && !is_let_go(o))
        refuse_new(plan, o, "metadata.name",
                   "the object belongs to branch %.*s, which has it from %.*s", VD_FMT(s->branch),
                   VD_FMT(s->path));
    else if (!same_path && !is_let_go(o))
        refuse_new(plan, o, "metadata.name", "%.*s describes the same object; remove one of them",
                   VD_FMT(s->path));
    else
        o->action = same_path ? VD_PLAN_REPLACE : VD_PLAN_MOVE;
}

/* ---- the two sides ---- */

static void add_new(struct vd_plan *plan, struct vd_plan_objects *list,
                    const struct vd_plan_manifest *m)
{
    struct vd_plan_object *o = object_of(plan, m);
    if (o->new_manifest) {
        const struct vd_git_manifest *first = o->new_manifest->manifest;
        if (!o->name_line)
            o->name_line = vd_git_manifest_position(first, VD_SLICE("metadata.name")).line;
        vd_git_manifest_refuse(
            m->manifest, VD_SLICE("metadata.name"), plan->report,
            "%.*s:%zu%s%.*s describes the same object; remove one of them",
            VD_FMT(first->source.path), (size_t)o->name_line,
            vd_slice_eq(o->new_manifest->branch, m->branch) ? "" : " of branch ",
            vd_slice_eq(o->new_manifest->branch, m->branch) ? 0 : (int)o->new_manifest->branch.n,
            o->new_manifest->branch.p);
        return;
    }
    o->new_manifest = m;
    *VD_VEC_PUSH(list) = o;
}

/* Whether the store has the object from the very file that describes it. */
static bool is_in_place(const struct vd_plan *plan, const struct vd_plan_object *o)
{
    const struct vd_plan_manifest *m = o->new_manifest;
    return o->stored.exists && vd_slice_eq(o->stored.repository, plan->repository) &&
           vd_slice_eq(o->stored.branch, m->branch) &&
           vd_slice_eq(o->stored.path, m->manifest->source.path);
}

static void check_new(struct vd_plan *plan, struct vd_plan_object *o)
{
    const struct vd_kind *kind = o->new_manifest->kind;
    struct vd_buf text = {0};
    const char *field = scope_refusal(plan, o, kind, &text);
    if (field && is_in_place(plan, o)) {
        o->scope_field = vd_slice_of(field);
        o->scope_text = vd_arena_copy(&plan->arena, vd_buf_slice(&text));
        check_stored(plan, o);
    } else if (field) {
        refuse_new(plan, o, field, "%s", vd_buf_text(&text));
    } else if (is_own_repository(plan, o)) {
        refuse_new(plan, o, "metadata.name", "a repository cannot describe itself");
    } else {
        check_stored(plan, o);
    }
    vd_buf_release(&text);
    o->is_foreign = !kind->namespaced || !vd_slice_eq(o->identity.namespace, plan->namespace);
    vd_references_of(kind, o->new_manifest->manifest->document, o->identity.namespace, &plan->arena,
                     &o->references);
}

/* Only old manifests describe it. */
static void check_gone(struct vd_plan *plan, struct vd_plan_objects *list, struct vd_plan_object *o)
{
    const struct vd_plan_stored *s = &o->stored;
    const struct vd_plan_manifest *m = o->old_manifest;
    struct vd_buf text = {0};
    if (!s->exists || s->deleting || o->is_deleted ||
        !vd_slice_eq(s->repository, plan->repository) || !vd_slice_eq(s->branch, m->branch))
        return;
    o->action = VD_PLAN_DELETE;
    o->is_deleted = true;
    o->is_foreign = !m->kind->namespaced || !vd_slice_eq(o->identity.namespace, plan->namespace);
    if (scope_refusal(plan, o, m->kind, &text)) {
        vd_git_report_add(plan->report, VD_GIT_ERROR, m->manifest->source.path,
                          (struct vd_yaml_position){0}, VD_SLICE(""), "%.*s %.*s: %s",
                          VD_FMT(o->identity.kind), VD_FMT(o->identity.name), vd_buf_text(&text));
        o->is_wrong = true;
    }
    vd_buf_release(&text);
    vd_references_of(m->kind, m->manifest->document, o->identity.namespace, &plan->arena,
                     &o->references);
    *VD_VEC_PUSH(list) = o;
}

static void add_operations(struct vd_plan *plan, const struct vd_plan_objects *list)
{
    for (size_t i = 0; i < list->n; i++) {
        const struct vd_plan_object *o = list->p[i];
        if (!o->is_wrong)
            *VD_VEC_PUSH(&plan->operations) = (struct vd_plan_operation){
                .action = o->action,
                .source = o->is_deleted ? o->old_manifest : o->new_manifest,
                .uid = o->stored.uid,
                .is_foreign = o->is_foreign,
                .scope_text = o->scope_text,
                .scope_field = o->scope_field,
            };
    }
}

bool vd_plan_make(struct vd_plan *plan, const struct vd_plan_manifest *old_list, size_t old_n,
                  const struct vd_plan_manifest *new_list, size_t new_n,
                  struct vd_git_report *report)
{
    struct vd_plan_objects put = {0}, gone = {0};
    struct vd_buf name = {0};
    size_t errors = report->found[VD_GIT_ERROR];
    vd_hash_map_init(&plan->objects, object_key);
    vd_buf_addf(&name, "%.*s/%.*s", VD_FMT(plan->namespace), VD_FMT(plan->name));
    plan->repository = vd_arena_copy(&plan->arena, vd_buf_slice(&name));
    plan->report = report;
    for (size_t i = 0; i < old_n; i++) {
        struct vd_plan_object *o = object_of(plan, &old_list[i]);
        /* The one that the store has it from is the one that counts. */
        if (!o->old_manifest || vd_slice_eq(old_list[i].branch, o->stored.branch))
            o->old_manifest = &old_list[i];
    }
    for (size_t i = 0; i < new_n; i++)
        add_new(plan, &put, &new_list[i]);
    for (size_t i = 0; i < put.n; i++)
        check_new(plan, put.p[i]);
    for (size_t i = 0; i < old_n; i++) {
        struct vd_plan_object *o = object_of(plan, &old_list[i]);
        if (!o->new_manifest)
            check_gone(plan, &gone, o);
    }
    for (size_t i = 0; i < put.n; i++)
        vd_plan_check_references(plan, put.p[i]);
    vd_plan_order(plan, &put);
    vd_plan_order(plan, &gone);
    add_operations(plan, &put);
    add_operations(plan, &gone);
    VD_VEC_RELEASE(&put);
    VD_VEC_RELEASE(&gone);
    vd_buf_release(&name);
    return report->found[VD_GIT_ERROR] == errors;
}

/* ---- questions ---- */

bool vd_plan_deletes(const struct vd_plan *plan, const struct vd_plan_identity *identity,
                     const struct vd_plan_manifest **source)
{
    const struct vd_plan_object *o = vd_plan_object_find(plan, identity);
    if (!o || !o->is_deleted)
        return false;
    if (source)
        *source = o->old_manifest;
    return true;
}

bool vd_plan_has(const struct vd_plan *plan, const struct vd_plan_identity *identity)
{
    const struct vd_plan_object *o = vd_plan_object_find(plan, identity);
    return o && (o->is_deleted || o->new_manifest);
}

size_t vd_plan_count(const struct vd_plan *plan, enum vd_plan_action action)
{
    size_t n = 0;
    for (size_t i = 0; i < plan->operations.n; i++)
        n += plan->operations.p[i].action == action;
    return n;
}

void vd_plan_refuse_deletion(struct vd_plan *plan, const struct vd_plan_manifest *source,
                             struct vd_slice referrer, struct vd_git_report *report)
{
    struct vd_plan_object *o = object_of(plan, source);
    if (o->is_wrong)
        return; /* the first one is named */
    o->is_wrong = true;
    vd_git_report_add(report, VD_GIT_ERROR, source->manifest->source.path,
                      (struct vd_yaml_position){0}, VD_SLICE(""),
                      "%.*s %.*s cannot be deleted: %.*s refers to it", VD_FMT(o->identity.kind),
                      VD_FMT(o->identity.name), VD_FMT(referrer));
}

void vd_plan_release(struct vd_plan *plan)
{
    size_t at = 0;
    for (struct vd_plan_object *o; (o = vd_hash_map_next(&plan->objects, &at));) {
        vd_references_release(&o->references);
        VD_VEC_RELEASE(&o->next);
    }
    vd_hash_map_release(&plan->objects);
    VD_VEC_RELEASE(&plan->operations);
    vd_arena_release(&plan->arena);
}
