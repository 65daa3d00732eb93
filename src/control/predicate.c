/*
 * See predicate.h. The bytes of both versions were written by the same writer, so members that are
 * equal have equal bytes, and nothing needs to be decoded. A body whose members were stored in
 * another order by an older version of the server only leads to a run that finds nothing to do.
 */
#include "control/predicate.h"

#include "json/span.h"

/* Members of metadata that change with every write, or say nothing about what is desired. */
static bool is_passed_over(const struct vd_predicate *p, struct vd_slice key)
{
    return vd_slice_is(key, "resourceVersion") || vd_slice_is(key, "managedFields") ||
           (p->ignores_labels && vd_slice_is(key, "labels")) ||
           (p->ignores_annotations && vd_slice_is(key, "annotations"));
}

static bool metadata_member(const struct vd_predicate *p, struct vd_span_cursor *at,
                            struct vd_slice *key, struct vd_slice *value)
{
    while (vd_span_next(at, key, value))
        if (!is_passed_over(p, *key))
            return true;
    return false;
}

static bool metadata_differs(const struct vd_predicate *p, struct vd_slice before,
                             struct vd_slice now)
{
    struct vd_span_cursor a, b;
    struct vd_slice keys[2], values[2];
    vd_span_open(&a, before);
    vd_span_open(&b, now);
    for (;;) {
        bool has_a = metadata_member(p, &a, &keys[0], &values[0]);
        bool has_b = metadata_member(p, &b, &keys[1], &values[1]);
        if (!has_a || !has_b)
            return has_a != has_b;
        if (!vd_slice_eq(keys[0], keys[1]) || !vd_slice_eq(values[0], values[1]))
            return true;
    }
}

static bool object_member(const struct vd_predicate *p, struct vd_span_cursor *at,
                          struct vd_slice *key, struct vd_slice *value)
{
    while (vd_span_next(at, key, value))
        if (p->takes_status || !vd_slice_is(*key, "status"))
            return true;
    return false;
}

static bool object_differs(const struct vd_predicate *p, struct vd_slice before,
                           struct vd_slice now)
{
    struct vd_span_cursor a, b;
    struct vd_slice keys[2], values[2];
    vd_span_open(&a, before);
    vd_span_open(&b, now);
    for (;;) {
        bool has_a = object_member(p, &a, &keys[0], &values[0]);
        bool has_b = object_member(p, &b, &keys[1], &values[1]);
        if (!has_a || !has_b)
            return has_a != has_b;
        if (!vd_slice_eq(keys[0], keys[1]))
            return true;
        bool differs = vd_slice_is(keys[0], "metadata") ? metadata_differs(p, values[0], values[1])
                                                        : !vd_slice_eq(values[0], values[1]);
        if (differs)
            return true;
    }
}

bool vd_predicate_holds(const struct vd_predicate *p, const struct vd_change *change)
{
    const struct vd_event *before = change->before, *now = change->now;
    if (!vd_event_is_live(before) || !vd_event_is_live(now) || !before->body || !now->body)
        return true;
    return object_differs(p, vd_body_slice(before->body), vd_body_slice(now->body));
}
