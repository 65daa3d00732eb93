/*
 * Routes: how a change finds the groups it may concern.
 *
 * A group is in one bucket, whose route is what every object that matches the filter must have: a
 * resource, a namespace, a name, and a label with its value if the selector requires one. A change
 * is looked up in the buckets that its object may belong to, as it is now or was before. It is
 * counted which combinations occur (the *shapes*), so that only those are looked up: usually one or
 * two hash look-ups, whatever the number of watchers.
 *
 *     shape   route (parts end with a NUL)
 *     1       "configmaps\0" "\0" "\0"
 *     3       "configmaps\0" "default\0" "\0"
 *     7       "configmaps\0" "default\0" "a\0"
 *     11      "configmaps\0" "default\0" "\0" "app\0" "web"
 */
#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "watch/registry_internal.h"

enum shape {
    SHAPE_RESOURCE = 1,
    SHAPE_NAMESPACE = 2,
    SHAPE_NAME = 4,
    SHAPE_LABEL = 8,
};

struct vd_bucket {
    unsigned shape;
    VD_VEC(struct vd_watch_group *) groups;
    size_t route_len;
    char route[];
};

static struct vd_slice bucket_key(const void *item)
{
    const struct vd_bucket *bucket = item;
    return vd_slice(bucket->route, bucket->route_len);
}

static struct vd_slice group_key(const void *item)
{
    return ((const struct vd_watch_group *)item)->filter->identity;
}

void vd_routes_init(struct vd_registry *r)
{
    vd_hash_map_init(&r->groups, group_key);
    vd_hash_map_init(&r->buckets, bucket_key);
}

void vd_routes_release(struct vd_registry *r)
{
    assert(vd_hash_map_count(&r->groups) == 0 && vd_hash_map_count(&r->buckets) == 0);
    vd_hash_map_release(&r->groups);
    vd_hash_map_release(&r->buckets);
    vd_buf_release(&r->route);
    vd_attributes_release(&r->now);
    vd_attributes_release(&r->before);
}

static void add_part(struct vd_buf *route, bool present, struct vd_slice part)
{
    if (present)
        vd_buf_add_slice(route, part);
    vd_buf_add_char(route, 0);
}

/* The route of a shape, for these values; the label may be NULL. */
static struct vd_slice build_route(struct vd_buf *route, unsigned shape, const struct vd_key *key,
                                   const struct vd_label *label)
{
    vd_buf_reset(route);
    vd_buf_add_char(route, (char)shape);
    add_part(route, shape & SHAPE_RESOURCE, key->resource);
    add_part(route, shape & SHAPE_NAMESPACE, key->namespace);
    add_part(route, shape & SHAPE_NAME, key->name);
    if (label) {
        add_part(route, true, label->key);
        add_part(route, true, label->value);
    }
    return vd_buf_slice(route);
}

/* ---- groups and buckets ---- */

static struct vd_bucket *bucket_for(struct vd_registry *r, const struct vd_filter_spec *spec)
{
    struct vd_label label;
    unsigned shape = (spec->resource.n ? SHAPE_RESOURCE : 0) |
                     (spec->namespace.n ? SHAPE_NAMESPACE : 0) | (spec->name.n ? SHAPE_NAME : 0);
    /* With a name the bucket is small already; a label would only add look-ups. */
    if (!spec->name.n && spec->labels &&
        vd_selector_requires(spec->labels, &label.key, &label.value))
        shape |= SHAPE_LABEL;
    struct vd_key key = {spec->resource, spec->namespace, spec->name};
    struct vd_slice route = build_route(&r->route, shape, &key,
                                        shape & SHAPE_LABEL ? &label : NULL);
    struct vd_bucket *bucket = vd_hash_map_get(&r->buckets, route);
    if (bucket)
        return bucket;
    bucket = vd_calloc(1, sizeof *bucket + route.n);
    bucket->shape = shape;
    bucket->route_len = route.n;
    memcpy(bucket->route, route.p, route.n);
    vd_hash_map_put(&r->buckets, bucket);
    r->shapes[shape]++;
    return bucket;
}

struct vd_watch_group *vd_watch_group_join(struct vd_registry *r, struct vd_filter *filter)
{
    struct vd_watch_group *group = vd_hash_map_get(&r->groups, filter->identity);
    if (!group) {
        group = VD_NEW(struct vd_watch_group);
        group->registry = r;
        group->filter = vd_filter_ref(filter);
        group->bucket = bucket_for(r, &filter->spec);
        group->at = group->bucket->groups.n;
        *VD_VEC_PUSH(&group->bucket->groups) = group;
        vd_hash_map_put(&r->groups, group);
    }
    group->members++;
    return group;
}

static void bucket_leave(struct vd_registry *r, struct vd_watch_group *group)
{
    struct vd_bucket *bucket = group->bucket;
    struct vd_watch_group *last = bucket->groups.p[--bucket->groups.n];
    bucket->groups.p[group->at] = last;
    last->at = group->at;
    if (bucket->groups.n)
        return;
    r->shapes[bucket->shape]--;
    vd_hash_map_remove(&r->buckets, bucket_key(bucket));
    VD_VEC_RELEASE(&bucket->groups);
    free(bucket);
}

void vd_watch_group_leave(struct vd_watch_group *group)
{
    if (--group->members)
        return;
    assert(!group->is_touched && !group->synced.n);
    vd_hash_map_remove(&group->registry->groups, group->filter->identity);
    bucket_leave(group->registry, group);
    VD_VEC_RELEASE(&group->synced);
    vd_deliveries_release(&group->pending);
    vd_filter_unref(group->filter);
    free(group);
}

/* ---- a change on its way ---- */

static size_t judge_bucket(struct vd_registry *r, const struct vd_bucket *bucket,
                           const struct vd_change *change)
{
    size_t added = 0;
    for (size_t i = 0; bucket && i < bucket->groups.n; i++) {
        struct vd_watch_group *g = bucket->groups.p[i];
        if (!g->synced.n || !vd_filter_judge(g->filter, change, &r->now, &r->before, &g->pending))
            continue;
        added++;
        if (!g->is_touched) {
            g->is_touched = true;
            g->next_touched = r->touched;
            r->touched = g;
            g->members++; /* keeps the group until it is served, even if its last watcher leaves */
        }
    }
    return added;
}

static size_t follow(struct vd_registry *r, unsigned shape, const struct vd_key *key,
                     const struct vd_label *label, const struct vd_change *change)
{
    struct vd_slice route = build_route(&r->route, shape, key, label);
    return judge_bucket(r, vd_hash_map_get(&r->buckets, route), change);
}

static bool has_label(const struct vd_label *labels, size_t n, const struct vd_label *label)
{
    for (size_t i = 0; i < n; i++)
        if (vd_slice_eq(labels[i].key, label->key) && vd_slice_eq(labels[i].value, label->value))
            return true;
    return false;
}

/* Looks up each label that the object has or had, once. */
static size_t follow_labels(struct vd_registry *r, unsigned shape, const struct vd_key *key,
                            const struct vd_change *change)
{
    size_t added = 0, now_n, before_n;
    const struct vd_label *now = vd_attributes_labels(&r->now, &now_n);
    const struct vd_label *before = vd_attributes_labels(&r->before, &before_n);
    for (size_t i = 0; i < now_n; i++)
        if (!has_label(now, i, &now[i]))
            added += follow(r, shape, key, &now[i], change);
    for (size_t i = 0; i < before_n; i++)
        if (!has_label(now, now_n, &before[i]) && !has_label(before, i, &before[i]))
            added += follow(r, shape, key, &before[i], change);
    return added;
}

/* The labels of a damaged version are unknown: every group whose route has a label judges the
 * change. */
static size_t follow_all_labels(struct vd_registry *r, const struct vd_change *change)
{
    size_t added = 0, at = 0;
    for (struct vd_bucket *bucket; (bucket = vd_hash_map_next(&r->buckets, &at));)
        if (bucket->shape & SHAPE_LABEL)
            added += judge_bucket(r, bucket, change);
    return added;
}

size_t vd_route(struct vd_registry *r, const struct vd_change *change)
{
    const struct vd_entry *entry = change->now->entry;
    struct vd_key key = {vd_entry_resource(entry), vd_entry_namespace(entry), vd_entry_name(entry)};
    bool labels_unknown = change->before && change->before->damaged;
    size_t added = 0;
    vd_attributes_set(&r->now, vd_event_is_live(change->now) ? change->now : NULL);
    vd_attributes_set(&r->before, change->before);
    for (unsigned shape = 0; shape < VD_ROUTE_SHAPES; shape++) {
        if (!r->shapes[shape])
            continue;
        if (!(shape & SHAPE_LABEL))
            added += follow(r, shape, &key, NULL, change);
        else if (!labels_unknown)
            added += follow_labels(r, shape, &key, change);
    }
    return labels_unknown ? added + follow_all_labels(r, change) : added;
}
