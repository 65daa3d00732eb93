/*
 * The lists of a strategic merge patch.
 *
 * Items are told apart by their identity: the value of the merge key in a list
 * of maps, the item itself in a list of scalars. An identity is a scalar. To
 * find items by it, a list is indexed: its identities sorted, equal ones by
 * place, so that nothing here costs the product of two lists' lengths.
 *
 * A merged list is two runs, interleaved. `mine` are the items that the patch
 * names, in the patch's order; `theirs` are the other live items, in live order.
 * The head of `theirs` goes first if the live list has both heads and has it
 * first, otherwise the head of `mine` does.
 */
#include <stdlib.h>

#include "base/vec.h"
#include "kube/patch/strategic_merge_internal.h"
#include "json/number.h"

static const size_t NOWHERE = SIZE_MAX;

struct entry {
    const struct vd_json *identity;
    uint64_t hash; /* of a number */
    size_t place;
};

struct list_index {
    VD_VEC(struct entry) entries; /* by identity, then by place */
};

/* An item on its way into the merged list. */
struct item {
    const struct vd_json *identity;
    struct vd_json *value;
    size_t live_place; /* of the first live item with this identity, or NOWHERE */
    size_t wanted;     /* place in the patch or the order, if it is there */
    size_t tie;        /* what decides between items that want the same place */
};

struct items {
    VD_VEC(struct item) list;
};

/* --- identities --- */

static const struct vd_json *identity_of(const struct vd_json *item, struct vd_slice key)
{
    return key.n ? vd_json_get(item, key) : item;
}

static int rank_of(const struct vd_json *v)
{
    return vd_json_is(v, VD_JSON_BOOL)     ? 0
           : vd_json_is(v, VD_JSON_NUMBER) ? 1
           : vd_json_is(v, VD_JSON_STRING) ? 2
                                           : 3;
}

static bool same_identity(const struct vd_json *a, const struct vd_json *b)
{
    int rank = rank_of(a);
    if (rank != rank_of(b))
        return false;
    if (rank == 1)
        return vd_number_eq(vd_json_number_text(a), vd_json_number_text(b));
    return rank == 0 ? vd_json_truth(a) == vd_json_truth(b)
                     : vd_slice_eq(vd_json_text(a), vd_json_text(b));
}

/* Equal identities compare equal; so do different numbers with the same hash. */
static int compare_identities(const struct entry *a, const struct entry *b)
{
    int rank = rank_of(a->identity), other = rank_of(b->identity);
    if (rank != other)
        return rank < other ? -1 : 1;
    if (rank == 1)
        return (a->hash > b->hash) - (a->hash < b->hash);
    if (rank == 0)
        return (int)vd_json_truth(a->identity) - (int)vd_json_truth(b->identity);
    return vd_slice_cmp(vd_json_text(a->identity), vd_json_text(b->identity));
}

static int compare_entries(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int c = compare_identities(x, y);
    return c ? c : (x->place > y->place) - (x->place < y->place);
}

static struct entry entry_of(const struct vd_json *identity, size_t place)
{
    struct vd_slice number = vd_json_number_text(identity);
    return (struct entry){identity, number.p ? vd_number_hash(number) : 0, place};
}

static void index_add(struct list_index *index, const struct vd_json *identity)
{
    struct entry entry = entry_of(identity, index->entries.n);
    *VD_VEC_PUSH(&index->entries) = entry;
}

static void index_sort(struct list_index *index)
{
    if (index->entries.n)
        qsort(index->entries.p, index->entries.n, sizeof *index->entries.p, compare_entries);
}

/* The place of the first item with this identity, or NOWHERE. */
static size_t index_find(const struct list_index *index, const struct vd_json *identity)
{
    struct entry wanted = entry_of(identity, 0);
    size_t low = 0, high = index->entries.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_entries(&index->entries.p[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < index->entries.n; low++) {
        const struct entry *e = &index->entries.p[low];
        if (compare_identities(e, &wanted) != 0)
            break;
        if (same_identity(e->identity, identity))
            return e->place;
    }
    return NOWHERE;
}

static void index_release(struct list_index *index)
{
    VD_VEC_RELEASE(&index->entries);
}

/* Has every item an identity? With a merge key the items must be maps. */
static int check_identities(struct vd_merger *m, const struct vd_json *list, struct vd_slice key)
{
    VD_JSON_EACH (item, list) {
        if (key.n && !vd_json_is(item, VD_JSON_OBJECT))
            return vd_merge_fail_type(m, "map[string]interface {}", item);
        const struct vd_json *identity = identity_of(item, key);
        if (key.n && (!identity || vd_json_is(identity, VD_JSON_NULL)))
            return vd_merge_fail_key(m, item, key);
        if (rank_of(identity) > 2)
            return vd_merge_fail_type(m, "string", identity);
    }
    return VD_OK;
}

/* Indexes a list whose items all have an identity. */
static void index_list(struct list_index *index, const struct vd_json *list, struct vd_slice key)
{
    VD_JSON_EACH (item, list)
        index_add(index, identity_of(item, key));
    index_sort(index);
}

/* --- what a merged list may hold --- */

static int check_element(struct vd_merger *m, const struct vd_json *first,
                         const struct vd_json *item)
{
    if (vd_json_is(item, VD_JSON_ARRAY))
        return vd_merge_fail(m, "lists of lists are not supported");
    if (vd_json_is(item, VD_JSON_NULL))
        return vd_merge_fail_type(m, "string", item);
    bool maps = vd_json_is(first, VD_JSON_OBJECT);
    if (maps != vd_json_is(item, VD_JSON_OBJECT) || (!maps && rank_of(first) != rank_of(item)))
        return vd_merge_fail(m, "list element types are not identical");
    return VD_OK;
}

/* All elements of both lists are maps, or scalars of one type. */
static int check_elements(struct vd_merger *m, const struct vd_json *live,
                          const struct vd_json *patch, bool *maps)
{
    const struct vd_json *first = vd_json_first(live) ? vd_json_first(live) : vd_json_first(patch);
    int code = VD_OK;
    VD_JSON_EACH (item, live)
        if (!code)
            code = check_element(m, first, item);
    VD_JSON_EACH (item, patch)
        if (!code)
            code = check_element(m, first, item);
    *maps = vd_json_is(first, VD_JSON_OBJECT);
    return code;
}

/* --- merging --- */

static int compare_items(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    int c = (x->wanted > y->wanted) - (x->wanted < y->wanted);
    return c ? c : (x->tie > y->tie) - (x->tie < y->tie);
}

static void items_sort(struct items *items)
{
    if (items->list.n)
        qsort(items->list.p, items->list.n, sizeof *items->list.p, compare_items);
}

static void interleave(const struct items *theirs, const struct items *mine, struct vd_json *out)
{
    size_t i = 0, j = 0;
    while (i < theirs->list.n || j < mine->list.n) {
        bool first = j == mine->list.n;
        if (i < theirs->list.n && !first) {
            size_t a = theirs->list.p[i].live_place, b = mine->list.p[j].live_place;
            first = a != NOWHERE && b != NOWHERE && a < b;
        }
        vd_json_append(out, first ? theirs->list.p[i++].value : mine->list.p[j++].value);
    }
}

static struct vd_json *merge_scalars(struct vd_merger *m, const struct vd_json *live,
                                     const struct vd_json *patch)
{
    struct list_index in_live = {0}, in_patch = {0};
    struct items theirs = {0}, mine = {0};
    struct vd_json *out = vd_json_array(m->arena);
    size_t place = 0;
    index_list(&in_live, live, VD_SLICE(""));
    index_list(&in_patch, patch, VD_SLICE(""));
    VD_JSON_EACH (item, live) { /* a set: only the first of equals */
        if (index_find(&in_live, item) == place && index_find(&in_patch, item) == NOWHERE)
            *VD_VEC_PUSH(&theirs.list) = (struct item){item, vd_json_clone(m->arena, item), place,
                                                       0, 0};
        place++;
    }
    place = 0;
    VD_JSON_EACH (item, patch)
        if (index_find(&in_patch, item) == place++)
            *VD_VEC_PUSH(&mine.list) = (struct item){item, vd_json_clone(m->arena, item),
                                                     index_find(&in_live, item), 0, 0};
    interleave(&theirs, &mine, out);
    index_release(&in_live);
    index_release(&in_patch);
    VD_VEC_RELEASE(&theirs.list);
    VD_VEC_RELEASE(&mine.list);
    return out;
}

/* A patch of maps, its items sorted by what they say. */
struct plan {
    VD_VEC(const struct vd_json *) kept;  /* live items that are not deleted */
    VD_VEC(const struct vd_json *) plain; /* patch items without directive */
    struct list_index deleted;
    bool replace;
};

static void plan_release(struct plan *plan)
{
    VD_VEC_RELEASE(&plan->kept);
    VD_VEC_RELEASE(&plan->plain);
    index_release(&plan->deleted);
}

static int plan_patch_item(struct vd_merger *m, struct plan *plan, const struct vd_json *item,
                           struct vd_slice key)
{
    const struct vd_json *directive = vd_merge_directive(item);
    const struct vd_json *identity = identity_of(item, key);
    struct vd_slice what = vd_json_text(directive);
    if (directive && vd_slice_is(what, "replace")) {
        plan->replace = true;
        return VD_OK;
    }
    if (directive && vd_slice_is(what, "merge"))
        return vd_merge_fail(m, "merging lists cannot yet be specified in the patch");
    if (directive && !vd_slice_is(what, "delete"))
        return vd_merge_fail_directive(m, directive, item);
    if (!identity || vd_json_is(identity, VD_JSON_NULL))
        return vd_merge_fail_key(m, item, key);
    if (rank_of(identity) > 2)
        return vd_merge_fail_type(m, "string", identity);
    if (directive)
        index_add(&plan->deleted, identity);
    else
        *VD_VEC_PUSH(&plan->plain) = item;
    return VD_OK;
}

static int plan_maps(struct vd_merger *m, const struct vd_json *live, const struct vd_json *patch,
                     struct vd_slice key, struct plan *plan)
{
    int code = VD_OK;
    VD_JSON_EACH (item, patch)
        if (!code)
            code = plan_patch_item(m, plan, item, key);
    if (code || plan->replace)
        return code;
    if ((code = check_identities(m, live, key)))
        return code;
    index_sort(&plan->deleted);
    VD_JSON_EACH (item, live)
        if (index_find(&plan->deleted, identity_of(item, key)) == NOWHERE)
            *VD_VEC_PUSH(&plan->kept) = item;
    return VD_OK;
}

/* Where the items of the patch go: into a live one, or into the first plain one
 * of their identity, which is then new. */
struct tables {
    struct list_index in_kept, in_plain;
    struct items kept;  /* as plan->kept; value NULL until it is merged or copied */
    struct items added; /* as plan->plain; value NULL unless it is new */
};

static void tables_release(struct tables *t)
{
    index_release(&t->in_kept);
    index_release(&t->in_plain);
    VD_VEC_RELEASE(&t->kept.list);
    VD_VEC_RELEASE(&t->added.list);
}

static void tables_init(struct tables *t, const struct plan *plan, struct vd_slice key)
{
    for (size_t i = 0; i < plan->kept.n; i++)
        index_add(&t->in_kept, identity_of(plan->kept.p[i], key));
    for (size_t i = 0; i < plan->plain.n; i++)
        index_add(&t->in_plain, identity_of(plan->plain.p[i], key));
    index_sort(&t->in_kept);
    index_sort(&t->in_plain);
    for (size_t i = 0; i < plan->kept.n; i++) {
        const struct vd_json *identity = identity_of(plan->kept.p[i], key);
        size_t place = index_find(&t->in_kept, identity);
        *VD_VEC_PUSH(&t->kept.list) = (struct item){identity, NULL, place, 0, 0};
    }
    for (size_t i = 0; i < plan->plain.n; i++)
        *VD_VEC_PUSH(&t->added.list) = (struct item){identity_of(plan->plain.p[i], key), NULL,
                                                     NOWHERE, 0, 0};
}

static int merge_item(struct vd_merger *m, const struct plan *plan, struct tables *t, size_t i,
                      const void *node)
{
    const struct vd_json *patch = plan->plain.p[i], *identity = t->added.list.p[i].identity;
    size_t place = index_find(&t->in_kept, identity);
    if (place != NOWHERE) {
        struct item *item = &t->kept.list.p[place];
        return vd_merge_map(m, item->value ? item->value : plan->kept.p[place], patch, node,
                            &item->value);
    }
    struct item *item = &t->added.list.p[index_find(&t->in_plain, identity)];
    if (item->value)
        return vd_merge_map(m, item->value, patch, node, &item->value);
    item->value = vd_merge_clean(m, patch);
    return VD_OK;
}

/* The two runs. Of several live items with the same identity, which only a
 * broken list has, all are the patch's, in their own order. */
static void collect_runs(struct vd_merger *m, const struct plan *plan, struct tables *t,
                         struct items *theirs, struct items *mine)
{
    for (size_t i = 0; i < t->kept.list.n; i++) {
        struct item *item = &t->kept.list.p[i];
        if (!item->value)
            item->value = vd_json_clone(m->arena, plan->kept.p[i]);
        item->wanted = index_find(&t->in_plain, item->identity);
        item->tie = i;
        struct items *run = item->wanted == NOWHERE ? theirs : mine;
        *VD_VEC_PUSH(&run->list) = *item;
    }
    for (size_t i = 0; i < t->added.list.n; i++) {
        t->added.list.p[i].wanted = i;
        if (t->added.list.p[i].value)
            *VD_VEC_PUSH(&mine->list) = t->added.list.p[i];
    }
    items_sort(mine);
}

static int merge_planned(struct vd_merger *m, const struct plan *plan,
                         const struct vd_merge_field *field, struct vd_json *out)
{
    struct tables tables = {0};
    struct items theirs = {0}, mine = {0};
    int code = VD_OK;
    tables_init(&tables, plan, field->key);
    for (size_t i = 0; i < plan->plain.n && !code; i++)
        code = merge_item(m, plan, &tables, i, field->node);
    if (!code) {
        collect_runs(m, plan, &tables, &theirs, &mine);
        interleave(&theirs, &mine, out);
    }
    tables_release(&tables);
    VD_VEC_RELEASE(&theirs.list);
    VD_VEC_RELEASE(&mine.list);
    return code;
}

static int merge_maps(struct vd_merger *m, const struct vd_json *live, const struct vd_json *patch,
                      const struct vd_merge_field *field, struct vd_json **out)
{
    struct plan plan = {0};
    struct vd_json *list = vd_json_array(m->arena);
    int code = plan_maps(m, live, patch, field->key, &plan);
    if (!code && plan.replace)
        for (size_t i = 0; i < plan.plain.n; i++)
            vd_json_append(list, vd_merge_clean(m, plan.plain.p[i]));
    else if (!code)
        code = merge_planned(m, &plan, field, list);
    if (!code)
        *out = list;
    plan_release(&plan);
    return code;
}

int vd_merge_list(struct vd_merger *m, const struct vd_json *live, const struct vd_json *patch,
                  const struct vd_merge_field *field, struct vd_json **out)
{
    bool maps;
    if (field->strategy != VD_MERGE_LIST) {
        *out = vd_merge_clean(m, patch);
        return VD_OK;
    }
    int code = check_elements(m, live, patch, &maps);
    if (code)
        return code;
    if (maps && !field->key.n)
        return vd_merge_fail(m, "cannot merge lists without merge key");
    if (maps)
        return merge_maps(m, live, patch, field, out);
    if (field->key.n && vd_json_count(live) + vd_json_count(patch))
        return vd_merge_fail_type(m, "map[string]interface {}",
                                  vd_json_count(live) ? vd_json_first(live) : vd_json_first(patch));
    *out = merge_scalars(m, live, patch);
    return VD_OK;
}

/* --- directives --- */

int vd_merge_list_check_order(struct vd_merger *m, const struct vd_json *patch,
                              const struct vd_json *order, struct vd_slice key)
{
    if (!vd_json_count(order) || !vd_json_count(patch))
        return VD_OK;
    int code = check_identities(m, order, key);
    const struct vd_json *next = vd_json_first(order);
    VD_JSON_EACH (item, patch) {
        if (code)
            break;
        if (key.n && !vd_json_is(item, VD_JSON_OBJECT))
            return vd_merge_fail_type(m, "map[string]interface {}", item);
        if (vd_merge_directive(item))
            continue;
        const struct vd_json *identity = identity_of(item, key);
        if (!identity)
            return vd_merge_fail_key(m, item, key);
        while (next && !same_identity(identity_of(next, key), identity))
            next = vd_json_next(next);
        if (!next)
            return vd_merge_fail_order(m, patch, order);
        next = vd_json_next(next);
    }
    return code;
}

int vd_merge_list_reorder(struct vd_merger *m, struct vd_json *list, const struct vd_json *order,
                          const struct vd_json *live, struct vd_slice key)
{
    struct list_index in_order = {0}, in_live = {0};
    struct items theirs = {0}, mine = {0};
    int code = check_identities(m, list, key);
    if (!code)
        code = check_identities(m, order, key);
    if (!code && live)
        code = check_identities(m, live, key);
    if (code)
        return code;
    index_list(&in_order, order, key);
    index_list(&in_live, live, key);
    size_t place = 0;
    for (struct vd_json *v; (v = vd_json_remove_after(list, NULL));) {
        const struct vd_json *identity = identity_of(v, key);
        struct item item = {identity, v, index_find(&in_live, identity),
                            index_find(&in_order, identity), place++};
        struct items *run = item.wanted == NOWHERE ? &theirs : &mine;
        *VD_VEC_PUSH(&run->list) = item;
    }
    items_sort(&mine);
    interleave(&theirs, &mine, list);
    index_release(&in_order);
    index_release(&in_live);
    VD_VEC_RELEASE(&theirs.list);
    VD_VEC_RELEASE(&mine.list);
    return VD_OK;
}

int vd_merge_list_subtract(struct vd_merger *m, struct vd_json *list, const struct vd_json *removed)
{
    struct list_index index = {0};
    bool maps;
    int code = check_elements(m, list, removed, &maps);
    if (code || (!vd_json_count(list) && !vd_json_count(removed)))
        return code;
    if (maps)
        return vd_merge_fail(m, "invalid patch format of primitive list");
    index_list(&index, removed, VD_SLICE(""));
    struct vd_json *before = NULL;
    for (struct vd_json *v = vd_json_first(list), *next; v; v = next) {
        next = vd_json_next(v);
        if (index_find(&index, v) == NOWHERE)
            before = v;
        else
            vd_json_remove_after(list, before);
    }
    index_release(&index);
    return VD_OK;
}
