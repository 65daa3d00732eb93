/*
 * The fields in which two objects differ; see object_fields.h.
 *
 * Most objects that are compared differ in one place, have their members in one order
 * and share their texts, since one is a patched clone of the other: then the walk goes
 * through both in step, and a text costs the comparison of two pointers.
 */
#include "kinds/field_shape.h"
#include "kinds/object_fields.h"
#include "json/compare.h"
#include "json/key_index.h"

struct walk {
    struct vd_arena *arena;
};

/* Below a value, what differs; of the value itself, how. */
struct differ {
    bool added, modified, removed;
    struct vd_field_changes below;
};

/* The differing steps of one level. */
struct levels {
    struct vd_field_level added, modified, removed;
};

static struct differ compare(struct walk *w, const struct vd_schema_node *node,
                             const struct vd_json *l, const struct vd_json *r, struct vd_slice name,
                             unsigned depth);

static struct levels levels_of(struct walk *w)
{
    struct vd_field_level level = {.arena = w->arena};
    return (struct levels){level, level, level};
}

static void add(struct levels *levels, const struct vd_path_element *at, const struct differ *d)
{
    vd_field_level_add(&levels->added, at, d->added, d->below.added);
    vd_field_level_add(&levels->modified, at, d->modified, d->below.modified);
    vd_field_level_add(&levels->removed, at, d->removed, d->below.removed);
}

static struct vd_field_changes sealed(struct levels *levels)
{
    return (struct vd_field_changes){vd_field_level_set(&levels->added),
                                     vd_field_level_set(&levels->modified),
                                     vd_field_level_set(&levels->removed)};
}

static bool is_same(const struct vd_json *l, const struct vd_json *r)
{
    if (l->type == VD_JSON_STRING && r->type == VD_JSON_STRING && l->text_p == r->text_p)
        return l->n == r->n;
    return vd_json_eq(l, r);
}

/* A value that changes hands as a whole. */
static struct differ compare_leaf(const struct vd_json *l, const struct vd_json *r)
{
    struct differ d = {0};
    if (!l)
        d.added = true;
    else if (!r)
        d.removed = true;
    else
        d.modified = !is_same(l, r);
    return d;
}

/* ---- members ---- */

struct members {
    struct walk *walk;
    const struct vd_schema_node *node;
    struct vd_slice name;
    unsigned depth;
    struct levels levels;
};

static void compare_member(struct members *m, const struct vd_json *l, const struct vd_json *r)
{
    bool named;
    struct vd_slice key = vd_json_key(l ? l : r);
    if (m->depth < 2 && vd_field_is_untracked(m->name, key))
        return;
    if (l && r && l->type < VD_JSON_ARRAY && r->type < VD_JSON_ARRAY && is_same(l, r))
        return;
    const struct vd_schema_node *child = vd_field_member_node(m->node, key, &named);
    struct differ d = compare(m->walk, child, l, r, key, m->depth + 1);
    if (m->depth == 0 && vd_slice_is(key, "metadata"))
        d.added = d.modified = d.removed = false;
    struct vd_path_element at = vd_path_name(key);
    add(&m->levels, &at, &d);
}

/* From where the members of the two are no longer in one order. */
static void compare_rest(struct members *m, const struct vd_json *l, const struct vd_json *r,
                         const struct vd_json *x, const struct vd_json *y)
{
    struct vd_key_index ours, theirs;
    vd_key_index_init(&ours, l);
    vd_key_index_init(&theirs, r);
    for (; x; x = vd_json_next(x))
        compare_member(m, x, vd_key_index_get(&theirs, vd_json_key(x)));
    for (; y; y = vd_json_next(y))
        if (!vd_key_index_get(&ours, vd_json_key(y)))
            compare_member(m, NULL, y);
    vd_key_index_release(&ours);
    vd_key_index_release(&theirs);
}

static struct vd_field_changes compare_members(struct walk *w, const struct vd_schema_node *node,
                                               const struct vd_json *l, const struct vd_json *r,
                                               struct vd_slice name, unsigned depth)
{
    struct members m = {w, node, name, depth, levels_of(w)};
    const struct vd_json *x = vd_json_is(l, VD_JSON_OBJECT) ? vd_json_first(l) : NULL;
    const struct vd_json *y = vd_json_is(r, VD_JSON_OBJECT) ? vd_json_first(r) : NULL;
    for (; x && y && vd_slice_eq(vd_json_key(x), vd_json_key(y));
         x = vd_json_next(x), y = vd_json_next(y))
        compare_member(&m, x, y);
    if (!y)
        for (; x; x = vd_json_next(x))
            compare_member(&m, x, NULL);
    else if (!x)
        for (; y; y = vd_json_next(y))
            compare_member(&m, NULL, y);
    else
        compare_rest(&m, l, r, x, y);
    return sealed(&m.levels);
}

/* ---- items ---- */

static void compare_item(struct walk *w, const struct vd_schema_node *node, struct levels *levels,
                         const struct vd_path_element *at, const struct vd_json *l,
                         const struct vd_json *r)
{
    struct differ d = compare(w, node->items, l, r, VD_SLICE("[]"), 2);
    add(levels, at, &d);
}

/* The number of sorted items from `i` on that have one step. */
static size_t run_of(const struct vd_field_item *sorted, size_t n, size_t i)
{
    size_t j = i;
    while (j < n && vd_path_element_cmp(&sorted[i].at, &sorted[j].at) == 0)
        j++;
    return j - i;
}

static bool same_run(const struct vd_field_item *x, size_t nx, const struct vd_field_item *y,
                     size_t ny)
{
    bool same = nx == ny;
    for (size_t i = 0; same && i < nx; i++)
        same = vd_json_eq(x[i].item, y[i].item);
    return same;
}

/* Items of one step: one on each side at most, if the list is what it should be.
 * Several are taken as one field. */
static void compare_run(struct walk *w, const struct vd_schema_node *node, struct levels *levels,
                        const struct vd_field_item *x, size_t nx, const struct vd_field_item *y,
                        size_t ny)
{
    const struct vd_path_element *at = nx ? &x->at : &y->at;
    struct differ d = {0};
    if (nx <= 1 && ny <= 1) {
        compare_item(w, node, levels, at, nx ? x->item : NULL, ny ? y->item : NULL);
        return;
    }
    if (nx > 1 && ny > 1) {
        d.modified = !same_run(x, nx, y, ny);
    } else if (nx > 1) {
        if (ny)
            compare_item(w, node, levels, at, NULL, y->item);
        d.removed = true;
    } else {
        if (nx)
            compare_item(w, node, levels, at, x->item, NULL);
        d.added = true;
    }
    add(levels, at, &d);
}

static bool in_step(const struct vd_field_item *x, const struct vd_field_item *y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (vd_path_element_cmp(&x[i].at, &y[i].at) != 0)
            return false;
    return true;
}

static struct vd_field_changes compare_items(struct walk *w, const struct vd_schema_node *node,
                                             const struct vd_json *l, const struct vd_json *r)
{
    struct levels levels = levels_of(w);
    size_t nx = vd_json_is(l, VD_JSON_ARRAY) ? vd_json_count(l) : 0;
    size_t ny = vd_json_is(r, VD_JSON_ARRAY) ? vd_json_count(r) : 0;
    struct vd_field_item *x, *y;
    if (nx && nx == ny && vd_json_eq(l, r))
        return (struct vd_field_changes){0};
    struct vd_field_item *ours = vd_field_items(w->arena, node, nx ? l : NULL, &x);
    struct vd_field_item *theirs = vd_field_items(w->arena, node, ny ? r : NULL, &y);
    if (nx == ny && in_step(ours, theirs, nx)) {
        for (size_t i = 0; i < nx; i++)
            compare_item(w, node, &levels, &ours[i].at, ours[i].item, theirs[i].item);
        return sealed(&levels);
    }
    for (size_t i = 0, j = 0; i < nx || j < ny;) {
        int c = i == nx ? 1 : j == ny ? -1 : vd_path_element_cmp(&x[i].at, &y[j].at);
        size_t n = c <= 0 ? run_of(x, nx, i) : 0, m = c >= 0 ? run_of(y, ny, j) : 0;
        compare_run(w, node, &levels, &x[i], n, &y[j], m);
        i += n;
        j += m;
    }
    return sealed(&levels);
}

/* ---- values ---- */

/* `self`: the value's own step is settled, since it is a leaf. */
static struct differ compare_as(struct walk *w, enum vd_field_shape shape,
                                const struct vd_schema_node *node, const struct vd_json *l,
                                const struct vd_json *r, struct vd_slice name, unsigned depth)
{
    bool empty = (!l || l->type < VD_JSON_ARRAY || vd_json_count(l) == 0) &&
                 (!r || r->type < VD_JSON_ARRAY || vd_json_count(r) == 0);
    if (shape == VD_SHAPE_LEAF || empty) /* null, {} and nothing are told apart */
        return compare_leaf(l, r);
    struct differ d = {.added = !l, .removed = !r};
    d.below = shape == VD_SHAPE_MAP ? compare_members(w, node, l, r, name, depth)
                                    : compare_items(w, node, l, r);
    return d;
}

static struct differ compare(struct walk *w, const struct vd_schema_node *node,
                             const struct vd_json *l, const struct vd_json *r, struct vd_slice name,
                             unsigned depth)
{
    enum vd_field_shape was = vd_field_shape(node, l ? l : r);
    enum vd_field_shape is = vd_field_shape(node, r ? r : l);
    if (was == is)
        return compare_as(w, is, node, l, r, name, depth);
    /* Another shape: what it had is gone, and what it has is new. */
    struct differ old = compare_as(w, was, node, l, r, name, depth);
    struct differ new = compare_as(w, is, node, l, r, name, depth);
    return (struct differ){
        .added = old.added || new.added,
        .modified = old.modified || new.modified,
        .removed = old.removed || new.removed,
        .below = {vd_field_set_union(w->arena, old.below.added, new.below.added),
                  vd_field_set_union(w->arena, old.below.modified, new.below.modified),
                  vd_field_set_union(w->arena, old.below.removed, new.below.removed)},
    };
}

struct vd_field_changes vd_object_compare(struct vd_arena *a, const struct vd_schema_node *root,
                                          const struct vd_json *old, const struct vd_json *object)
{
    struct walk w = {a};
    return compare(&w, root, old, object, VD_SLICE(""), 0).below;
}
