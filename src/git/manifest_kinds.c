/* See manifest_kinds.h. */
#include "git/manifest_kinds.h"

#include "api/definition_plan.h"

/* What the functions below share. */
struct search {
    struct vd_manifest_kinds *k;
    const struct vd_api_env *env;
    struct vd_changes *changes;
    struct vd_slice namespace;
    VD_VEC(struct vd_slice) refused; /* groups of definitions that cannot be written */
};

/* ---- definitions of the push ---- */

static bool is_definition(const struct vd_git_manifest *m)
{
    return vd_slice_is(m->group, "apiextensions.k8s.io") &&
           vd_slice_is(m->kind, "CustomResourceDefinition");
}

/* What is wrong with the definition itself is found when it is tried out. */
static void define(struct search *s, const struct vd_git_manifest *m)
{
    struct vd_violations violations = {0};
    struct vd_error error;
    int rc = vd_definition_plan(s->env, &s->k->set, m->document, &violations, &error);
    if (rc == VD_ERR_EXISTS || rc == VD_ERR_LOCKED)
        vd_git_manifest_refuse(m, VD_SLICE("spec.names"), &s->changes->report, "%s", error.text);
    if (rc)
        *VD_VEC_PUSH(&s->refused) = vd_json_text(vd_json_dig(m->document, "spec", "group", NULL));
    vd_violations_release(&violations);
}

static void define_all(struct search *s)
{
    for (size_t i = 0; i < s->changes->branches_n; i++) {
        const struct vd_git_manifests *list = &s->changes->branches[i].after.manifests;
        for (size_t k = 0; k < list->list.n; k++)
            if (is_definition(&list->list.p[k]))
                define(s, &list->list.p[k]);
    }
}

/* ---- one manifest ---- */

const struct vd_kind *vd_manifest_kind_meant(const struct vd_kind_set *set,
                                             const struct vd_git_manifest *m)
{
    size_t n;
    struct vd_kind *const *all = vd_kind_set_all(set, &n);
    const struct vd_kind *found = NULL;
    for (size_t i = 0; i < n; i++)
        if (vd_slice_eq(all[i]->kind, m->kind) && all[i]->served && all[i]->stored &&
            (!found || vd_slice_eq(all[i]->group, m->group)))
            found = all[i];
    return found;
}

static void refuse_unknown(struct search *s, const struct vd_git_manifest *m)
{
    struct vd_git_report *report = &s->changes->report;
    const struct vd_kind *meant = vd_manifest_kind_meant(s->k->set, m);
    for (size_t i = 0; i < s->refused.n; i++)
        if (vd_slice_eq(s->refused.p[i], m->group)) {
            vd_git_manifest_refuse(m, VD_SLICE("kind"), report,
                                   "the definition of this kind is refused, too");
            return;
        }
    if (meant)
        vd_git_manifest_refuse(m, VD_SLICE("apiVersion"), report,
                               "there is no kind %.*s in %.*s; did you mean %.*s?", VD_FMT(m->kind),
                               VD_FMT(m->api_version), VD_FMT(meant->api_version));
    else
        vd_git_manifest_refuse(m, VD_SLICE("kind"), report,
                               "there is no kind %.*s in %.*s; its CustomResourceDefinition may be "
                               "in the same push",
                               VD_FMT(m->kind), VD_FMT(m->api_version));
}

static const struct vd_kind *find_kind(struct search *s, const struct vd_git_manifest *m,
                                       bool is_new)
{
    const struct vd_kind *kind = vd_kind_set_kind(s->k->set, m->group, m->version, m->kind);
    bool written = kind && kind->stored && kind->served && !kind->subresource.n &&
                   kind->verbs & VD_VERB_CREATE;
    if (!is_new && !written) { /* what is deleted may be of a version that is not served now */
        kind = vd_manifest_kind_meant(s->k->set, m);
        return kind && vd_slice_eq(kind->group, m->group) ? kind : NULL;
    }
    if (written)
        return kind;
    if (!kind || !kind->served)
        refuse_unknown(s, m);
    else
        vd_git_manifest_refuse(m, VD_SLICE("kind"), &s->changes->report,
                               "objects of kind %.*s cannot be written", VD_FMT(m->kind));
    return NULL;
}

static void add_side(struct search *s, struct vd_branch_change *branch, bool is_new)
{
    struct vd_branch_side *side = is_new ? &branch->after : &branch->before;
    struct vd_git_report ignored = {0};
    for (size_t i = 0; i < side->manifests.list.n; i++) {
        struct vd_git_manifest *m = &side->manifests.list.p[i];
        const struct vd_kind *kind = find_kind(s, m, is_new);
        struct vd_plan_manifest made = {m, kind, branch->name};
        if (!kind || !vd_git_manifest_complete(m, kind, s->namespace, &s->changes->arena,
                                               is_new ? &s->changes->report : &ignored))
            continue;
        if (is_new)
            *VD_VEC_PUSH(&s->k->new_list) = made;
        else
            *VD_VEC_PUSH(&s->k->old_list) = made;
    }
    vd_git_report_release(&ignored);
}

void vd_manifest_kinds_find(struct vd_manifest_kinds *k, const struct vd_api_env *env,
                            struct vd_changes *changes, struct vd_slice namespace)
{
    struct search s = {.k = k, .env = env, .changes = changes, .namespace = namespace};
    k->set = vd_kinds_snapshot(env->kinds);
    define_all(&s);
    for (size_t i = 0; i < changes->branches_n; i++) {
        add_side(&s, &changes->branches[i], false);
        add_side(&s, &changes->branches[i], true);
    }
    VD_VEC_RELEASE(&s.refused);
}

void vd_manifest_kinds_release(struct vd_manifest_kinds *k)
{
    VD_VEC_RELEASE(&k->old_list);
    VD_VEC_RELEASE(&k->new_list);
    vd_kind_set_unref(k->set);
    k->set = NULL;
}
