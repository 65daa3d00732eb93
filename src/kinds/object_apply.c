/* See object_apply.h. */
#include "kinds/object_apply.h"

#include <stdlib.h>

#include "kinds/object_merge.h"
#include "json/escape.h"
#include "json/parse.h"

struct applier {
    struct vd_arena *arena;
    struct vd_apply *apply;
    const struct vd_field_set *set;     /* the configuration's */
    const struct vd_field_set *managed; /* everybody's, the configuration's included */
};

static const struct vd_field_set *named(struct applier *x, const struct vd_field_set *set)
{
    return vd_fields_with_named(x->arena, x->apply->root, set);
}

/* ---- what is no longer applied ---- */

/*
 * Takes out what the manager applied last time and nobody owns any more. A described
 * object or list goes with the last owner of anything in it.
 *
 * Kubernetes takes out all that was the manager's, and then puts back in two rounds what
 * others own and what was never the manager's; this comes to the same.
 */
static struct vd_json *prune(struct applier *x, struct vd_json *merged,
                             const struct vd_field_set *last)
{
    struct vd_arena *a = x->arena;
    const struct vd_schema_node *root = x->apply->root;
    struct vd_path_element metadata = vd_path_name(VD_SLICE("metadata"));
    struct vd_field_level level = {.arena = a};
    if (!vd_field_set_difference(a, last, x->set))
        return merged;
    const struct vd_field_set *gone = vd_field_set_difference(a, named(x, last),
                                                              named(x, x->managed));
    vd_field_level_add(&level, &metadata, true, NULL); /* it has the name: it never goes */
    gone = vd_field_set_difference(a, gone, vd_field_level_set(&level));
    struct vd_json *object = vd_object_without(a, root, merged, gone);
    if (!vd_json_is(object, VD_JSON_OBJECT))
        object = vd_json_object(a);
    /* An object that was emptied is null now; if it is applied as {}, that is what it is. */
    return vd_object_merge(a, root, object, x->apply->config);
}

/* ---- conflicts ---- */

/* Of what client-side apply set and nobody has changed since, "kubectl" is the owner. */
static const struct vd_field_set *allowed_by_annotation(struct applier *x)
{
    const struct vd_apply *apply = x->apply;
    struct vd_json *annotations = vd_json_dig(apply->live, "metadata", "annotations", NULL);
    struct vd_slice text = vd_json_text(vd_json_get(annotations, VD_SLICE(VD_LAST_APPLIED)));
    struct vd_json *last = NULL;
    if (!vd_slice_is(apply->who.manager, "kubectl") || !text.n ||
        vd_json_parse_copy(x->arena, text, NULL, &last, NULL) ||
        !vd_json_is(last, VD_JSON_OBJECT) ||
        !vd_slice_eq(vd_json_text(vd_json_get(last, VD_SLICE("apiVersion"))),
                     apply->who.api_version))
        return NULL;
    struct vd_field_changes changes = vd_object_compare(x->arena, apply->root, last, apply->live);
    const struct vd_field_set *set = vd_object_fields(x->arena, apply->root, last);
    set = vd_field_set_difference(x->arena, set, changes.modified);
    set = vd_field_set_difference(x->arena, set, changes.added);
    return vd_field_set_difference(x->arena, set, changes.removed);
}

static struct vd_slice shown_manager(struct vd_arena *a, const struct vd_managed_entry *e)
{
    struct vd_buf out = {0};
    vd_escape_write(&out, e->manager);
    if (e->subresource.n) {
        vd_buf_add_text(&out, " with subresource ");
        vd_escape_write(&out, e->subresource);
    }
    if (!e->applied) {
        vd_buf_add_text(&out, " using ");
        vd_buf_add_slice(&out, e->api_version);
    }
    struct vd_slice text = vd_arena_copy(a, vd_buf_slice(&out));
    vd_buf_release(&out);
    return text;
}

static int by_manager(const void *a, const void *b)
{
    const struct vd_managed_entry *x = *(const struct vd_managed_entry *const *)a;
    const struct vd_managed_entry *y = *(const struct vd_managed_entry *const *)b;
    int c = vd_slice_cmp(x->manager, y->manager);
    if (!c)
        c = (int)y->applied - (int)x->applied;
    if (!c)
        c = vd_slice_cmp(x->api_version, y->api_version);
    return c ? c : vd_slice_cmp(x->subresource, y->subresource);
}

/* The conflict of each entry, side by side with the entries. */
static void list_conflicts(struct applier *x, const struct vd_field_set *const *sets)
{
    struct vd_apply *apply = x->apply;
    const struct vd_managed *m = apply->managed;
    struct vd_field_texts texts = {0};
    const struct vd_managed_entry **order = vd_arena_alloc(x->arena, m->n * sizeof *order);
    size_t managers = 0;
    for (size_t i = 0; i < m->n; i++)
        if (sets[i])
            order[managers++] = &m->p[i];
    qsort(order, managers, sizeof *order, by_manager);
    apply->conflicts = vd_arena_alloc(x->arena, VD_APPLY_CONFLICTS_MAX * sizeof *apply->conflicts);
    apply->conflicts_n = 0;
    for (size_t i = 0; i < managers; i++) {
        struct vd_slice manager = shown_manager(x->arena, order[i]);
        size_t before = texts.n;
        vd_field_set_texts(x->arena, sets[order[i] - m->p], &texts, VD_APPLY_CONFLICTS_MAX);
        for (size_t j = before; j < texts.n; j++)
            apply->conflicts[apply->conflicts_n++] = (struct vd_apply_conflict){manager,
                                                                                texts.p[j]};
    }
    VD_VEC_RELEASE(&texts);
}

struct vd_slice vd_apply_conflict_text(struct vd_arena *a, const struct vd_apply *apply)
{
    struct vd_buf out = {0};
    const struct vd_apply_conflict *c = apply->conflicts;
    size_t n = apply->conflicts_n;
    if (n == 1) {
        vd_buf_addf(&out, "Apply failed with 1 conflict: conflict with %.*s: %.*s",
                    VD_FMT(c->manager), VD_FMT(c->path));
    } else {
        vd_buf_addf(&out, "Apply failed with %zu conflicts: ", n);
        for (size_t i = 0; i < n; i++) {
            if (i == 0 || c[i].manager.p != c[i - 1].manager.p)
                vd_buf_addf(&out, "%sconflicts with %.*s:", i ? "\n" : "", VD_FMT(c[i].manager));
            vd_buf_addf(&out, "\n- %.*s", VD_FMT(c[i].path));
        }
    }
    struct vd_slice text = vd_arena_copy(a, vd_buf_slice(&out));
    vd_buf_release(&out);
    return text;
}

/* What everybody else would lose; true if that is allowed. */
static bool settle(struct applier *x, const struct vd_managed_entry *own,
                   const struct vd_field_set *taken, const struct vd_field_set **lost)
{
    struct vd_managed *m = x->apply->managed;
    const struct vd_field_set *allowed = NULL;
    bool conflict = false, asked = false;
    for (size_t i = 0; i < m->n; i++) {
        lost[i] = &m->p[i] == own ? NULL : vd_field_set_intersection(x->arena, m->p[i].set, taken);
        if (!lost[i] || x->apply->force)
            continue;
        if (!asked)
            allowed = allowed_by_annotation(x);
        asked = true;
        conflict |= vd_field_set_difference(x->arena, lost[i], allowed) != NULL;
    }
    if (!conflict)
        return true;
    for (size_t i = 0; i < m->n; i++)
        lost[i] = vd_field_set_difference(x->arena, lost[i], allowed);
    list_conflicts(x, lost);
    return false;
}

/* ---- applying ---- */

/* Reads all sets, in the form that the schema has now; gives the union of all but one. */
static const struct vd_field_set *read_all(struct applier *x, const struct vd_managed_entry *own)
{
    struct vd_managed *m = x->apply->managed;
    const struct vd_field_set *all = NULL;
    for (size_t i = 0; i < m->n; i++) {
        const struct vd_field_set *set = vd_managed_fields_of(m, &m->p[i]);
        vd_managed_set(m, &m->p[i], vd_fields_reconcile(x->arena, x->apply->root, set));
        if (&m->p[i] != own)
            all = vd_field_set_union(x->arena, all, m->p[i].set);
    }
    return all;
}

/* An object without a record: all that it has was there before. */
static void give_to_the_past(struct applier *x)
{
    const struct vd_apply *apply = x->apply;
    struct vd_managed_who who = apply->who;
    struct vd_json *nothing = vd_json_object(x->arena);
    vd_json_add_ref(nothing, VD_SLICE("metadata"), vd_json_object(x->arena));
    struct vd_field_changes changes = vd_object_compare(x->arena, apply->root, nothing,
                                                        apply->live);
    who.manager = VD_SLICE("before-first-apply");
    if (changes.added)
        vd_managed_set(apply->managed, vd_managed_add(apply->managed, &who, false), changes.added);
}

static void take_over(struct applier *x, struct vd_managed_entry *own,
                      const struct vd_field_set *const *lost,
                      const struct vd_field_changes *changes)
{
    struct vd_apply *apply = x->apply;
    struct vd_managed *m = apply->managed;
    for (size_t i = 0; i < m->n; i++) {
        const struct vd_field_set *set = m->p[i].set;
        if (&m->p[i] == own)
            continue;
        set = vd_field_set_difference(x->arena, set, lost[i]);
        set = vd_field_set_difference(x->arena, set, changes->removed);
        vd_managed_set(m, &m->p[i], set);
    }
    bool same = own && vd_field_set_eq(own->set, x->set);
    if (!own && x->set)
        own = vd_managed_add(m, &apply->who, true);
    if (own && !same)
        vd_managed_set(m, own, x->set);
    if (own && !vd_slice_eq(own->api_version, apply->who.api_version)) {
        own->api_version = apply->who.api_version;
        own->whole = VD_SLICE("");
        m->changed = true;
    }
    /* What changes nothing but the time changes nothing. */
    if (own && (apply->object_changed || m->changed))
        vd_managed_stamp(m, own, apply->who.time);
    vd_managed_tidy(m);
}

int vd_object_apply(struct vd_arena *a, struct vd_apply *apply)
{
    struct applier x = {.arena = a, .apply = apply};
    struct vd_managed *m = apply->managed;
    struct vd_json *nothing = vd_json_object(a);
    const struct vd_json *live = apply->live ? apply->live : nothing;
    if (apply->live && m->n == 0)
        give_to_the_past(&x);
    struct vd_managed_entry *own = vd_managed_find(m, &apply->who, true);
    const struct vd_field_set *others = read_all(&x, own);
    x.set = vd_object_fields(a, apply->root, apply->config);
    x.managed = vd_field_set_union(a, others, x.set);
    struct vd_json *object = vd_object_merge(a, apply->root, live, apply->config);
    if (own && own->set)
        object = prune(&x, object, own->set);
    struct vd_field_changes changes = vd_object_compare(a, apply->root, live, object);
    const struct vd_field_set **lost = vd_arena_alloc(a, (m->n + 1) * sizeof *lost);
    if (!settle(&x, own, vd_field_set_union(a, changes.modified, changes.added), lost))
        return VD_ERR_CONFLICT;
    apply->object = object;
    apply->object_changed = !vd_field_changes_none(&changes);
    take_over(&x, own, lost, &changes);
    return VD_OK;
}
