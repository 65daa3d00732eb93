/* See condition_rules.h. Both functions walk status beside its schema. */
#include "kinds/condition_rules.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "json/compare.h"
#include "json/key_index.h"

/* ---- which lists ---- */

static bool is_known(struct vd_slice field)
{
    static const char *const known[] = {"type",   "status",  "observedGeneration",
                                        "reason", "message", "lastTransitionTime"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (vd_slice_is(field, known[i]))
            return true;
    return false;
}

static bool is_text(const struct vd_json *properties, const char *name)
{
    return vd_slice_is(vd_json_text(vd_json_dig(properties, name, "type", NULL)), "string");
}

/* The one key of a list of type map, or empty. */
static struct vd_slice map_key(const struct vd_schema_node *node)
{
    const struct vd_json *source = vd_schema_source(node);
    const struct vd_json *keys = vd_json_get(source, VD_SLICE("x-kubernetes-list-map-keys"));
    struct vd_slice type = vd_json_text(vd_json_get(source, VD_SLICE("x-kubernetes-list-type")));
    return vd_slice_is(type, "map") && vd_json_count(keys) == 1 ? vd_json_text(vd_json_at(keys, 0))
                                                                : VD_SLICE("");
}

static bool is_standard(const struct vd_schema_node *node)
{
    if (!node || !vd_schema_items(node) || !vd_slice_is(map_key(node), "type"))
        return false;
    const struct vd_json *properties = vd_json_get(vd_schema_source(vd_schema_items(node)),
                                                   VD_SLICE("properties"));
    VD_JSON_EACH (property, properties) {
        if (!is_known(vd_json_key(property)))
            return false;
    }
    return is_text(properties, "type") && is_text(properties, "status");
}

static const struct vd_schema_node *status_node(const struct vd_kind *kind)
{
    return vd_schema_member(vd_schema_root(kind->schema), VD_SLICE("status"));
}

/* ---- times that stay ---- */

struct keyed {
    struct vd_slice key;
    size_t index;
    const struct vd_json *item;
};

/* The elements of a list that have the key, sorted by it. */
struct by_key {
    struct keyed *p;
    size_t n;
};

static int key_order(const void *a, const void *b)
{
    return vd_slice_cmp(((const struct keyed *)a)->key, ((const struct keyed *)b)->key);
}

/* Elements of one key in the order of the list. */
static int list_order(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    int by = vd_slice_cmp(x->key, y->key);
    return by ? by : (x->index > y->index) - (x->index < y->index);
}

static struct by_key by_key_new(const struct vd_json *list, struct vd_slice key)
{
    struct by_key all = {.p = vd_calloc(vd_json_count(list) + 1, sizeof *all.p)};
    size_t index = 0;
    VD_JSON_EACH (item, list) {
        struct vd_slice text = vd_json_text(vd_json_get(item, key));
        if (text.p)
            all.p[all.n++] = (struct keyed){text, index, item};
        index++;
    }
    qsort(all.p, all.n, sizeof *all.p, list_order);
    return all;
}

static const struct vd_json *by_key_find(const struct by_key *all, struct vd_slice key)
{
    struct keyed wanted = {.key = key};
    struct keyed *found = key.p && all->n
                              ? bsearch(&wanted, all->p, all->n, sizeof *all->p, key_order)
                              : NULL;
    return found ? found->item : NULL;
}

static void keep_time(struct vd_arena *arena, struct vd_json *condition, const struct vd_json *old)
{
    struct vd_slice field = VD_SLICE("lastTransitionTime");
    const struct vd_json *was = vd_json_get(old, field);
    if (was && vd_json_is(condition, VD_JSON_OBJECT) &&
        vd_json_eq(vd_json_get(old, VD_SLICE("status")),
                   vd_json_get(condition, VD_SLICE("status"))) &&
        !vd_json_eq(was, vd_json_get(condition, field)))
        vd_json_set(arena, condition, field, vd_json_copy(arena, was));
}

static void keep(const struct vd_schema_node *node, struct vd_arena *arena, struct vd_json *value,
                 const struct vd_json *old);

static void keep_in_list(const struct vd_schema_node *node, struct vd_arena *arena,
                         struct vd_json *list, const struct vd_json *old)
{
    struct vd_slice key = map_key(node);
    const struct vd_schema_node *items = vd_schema_items(node);
    if (!key.n || !items)
        return;
    bool standard = is_standard(node);
    struct by_key before = by_key_new(old, key);
    VD_JSON_EACH (item, list) {
        const struct vd_json *was = by_key_find(&before, vd_json_text(vd_json_get(item, key)));
        if (was && standard)
            keep_time(arena, item, was);
        else if (was)
            keep(items, arena, item, was);
    }
    free(before.p);
}

static void keep_in_object(const struct vd_schema_node *node, struct vd_arena *arena,
                           struct vd_json *object, const struct vd_json *old)
{
    struct vd_key_index before;
    if (!vd_json_is(old, VD_JSON_OBJECT))
        return;
    vd_key_index_init(&before, old);
    VD_JSON_EACH (member, object)
        keep(vd_schema_member(node, vd_json_key(member)), arena, member,
             vd_key_index_get(&before, vd_json_key(member)));
    vd_key_index_release(&before);
}

static void keep(const struct vd_schema_node *node, struct vd_arena *arena, struct vd_json *value,
                 const struct vd_json *old)
{
    if (!node || !old)
        return;
    if (vd_json_is(value, VD_JSON_ARRAY) && vd_json_is(old, VD_JSON_ARRAY)) {
        keep_in_list(node, arena, value, old);
    } else if (vd_json_is(value, VD_JSON_OBJECT)) {
        keep_in_object(node, arena, value, old);
    }
}

void vd_condition_rules_keep_times(const struct vd_kind *kind, struct vd_arena *arena,
                                   struct vd_json *object, const struct vd_json *old)
{
    keep(status_node(kind), arena, vd_json_get(object, VD_SLICE("status")),
         vd_json_get(old, VD_SLICE("status")));
}

/* ---- what is wrong ---- */

struct check {
    bool strict; /* status is True, False or Unknown, whatever the schema says */
    bool has_generation;
    int64_t generation;
    struct vd_violations *out;
    size_t before; /* violations that others have found */
};

/* Whether somebody has complained about the field already, in whatever words. */
static bool is_reported(const struct check *c, const struct vd_field_path *path)
{
    struct vd_buf text = {0};
    bool found = false;
    vd_field_path_write(&text, path, VD_FIELD_BRACKETS);
    for (size_t i = 0; !found && i < c->before; i++)
        found = vd_slice_eq(c->out->list.p[i].field, vd_buf_slice(&text));
    vd_buf_release(&text);
    return found;
}

static void check_generation(const struct check *c, const struct vd_json *object,
                             const struct vd_field_path *path)
{
    const struct vd_json *value = vd_json_get(object, VD_SLICE("observedGeneration"));
    struct vd_field_path at = vd_field_member(path, VD_SLICE("observedGeneration"));
    int64_t observed;
    if (c->has_generation && vd_json_to_i64(value, &observed) && observed > c->generation &&
        !is_reported(c, &at))
        vd_violations_add(c->out, VD_VIOLATION_INVALID, &at, vd_bad_value_json(c->out, value),
                          "must not be above metadata.generation, which is %lld",
                          (long long)c->generation);
}

static void check_condition(const struct check *c, const struct vd_json *condition,
                            const struct vd_field_path *path)
{
    const struct vd_json *value = vd_json_get(condition, VD_SLICE("status"));
    struct vd_slice status = vd_json_text(value);
    struct vd_field_path at = vd_field_member(path, VD_SLICE("status"));
    if (c->strict && status.p && !vd_slice_is(status, "True") && !vd_slice_is(status, "False") &&
        !vd_slice_is(status, "Unknown") && !is_reported(c, &at))
        vd_violations_add(c->out, VD_VIOLATION_NOT_SUPPORTED, &at, vd_bad_value_json(c->out, value),
                          "%s", "supported values: \"True\", \"False\", \"Unknown\"");
    check_generation(c, condition, path);
}

/* Those of a type that an earlier one has. */
static void check_unique(const struct check *c, const struct vd_json *list,
                         const struct vd_field_path *path)
{
    struct by_key all = by_key_new(list, VD_SLICE("type"));
    for (size_t i = 1; i < all.n; i++) {
        struct vd_field_path at = vd_field_element(path, all.p[i].index);
        if (vd_slice_eq(all.p[i].key, all.p[i - 1].key) && !is_reported(c, &at))
            vd_violations_add(c->out, VD_VIOLATION_DUPLICATE, &at,
                              vd_bad_value_text(c->out, all.p[i].key), "%s", "");
    }
    free(all.p);
}

static void check_value(const struct check *c, const struct vd_schema_node *node,
                        const struct vd_json *value, const struct vd_field_path *path)
{
    size_t index = 0;
    bool standard = is_standard(node);
    if (!node)
        return;
    if (vd_json_is(value, VD_JSON_OBJECT)) {
        VD_JSON_EACH (member, value) {
            struct vd_field_path at = vd_field_member(path, vd_json_key(member));
            check_value(c, vd_schema_member(node, vd_json_key(member)), member, &at);
        }
        return;
    }
    if (standard && vd_json_is(value, VD_JSON_ARRAY))
        check_unique(c, value, path);
    if (!vd_json_is(value, VD_JSON_ARRAY))
        return;
    VD_JSON_EACH (item, value) {
        struct vd_field_path at = vd_field_element(path, index++);
        if (standard)
            check_condition(c, item, &at);
        else
            check_value(c, vd_schema_items(node), item, &at);
    }
}

void vd_condition_rules_check(const struct vd_kind *kind, const struct vd_json *object,
                              struct vd_violations *out)
{
    struct check c = {.strict = kind->status_conditions_strict, .out = out, .before = out->list.n};
    struct vd_field_path path = vd_field_member(NULL, VD_SLICE("status"));
    const struct vd_schema_node *node = status_node(kind);
    const struct vd_json *status = vd_json_get(object, VD_SLICE("status"));
    c.has_generation = vd_json_to_i64(vd_json_dig(object, "metadata", "generation", NULL),
                                      &c.generation);
    if (node && is_standard(vd_schema_member(node, VD_SLICE("conditions"))))
        check_generation(&c, status, &path);
    check_value(&c, node, status, &path);
}
