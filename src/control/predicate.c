/*
 * See predicate.h. The bytes of both versions were written by the same writer, so members that are
 * equal have equal bytes, and nothing needs to be decoded. A body whose members were stored in
 * another order by an older version of the server only leads to a run that finds nothing to do.
 */
#include "control/predicate.h"

#include "json/span.h"

/* Whether a member counts, of the object or of its metadata. In metadata some change with every
 * write, or say nothing about what is desired. */
static bool counts(const struct vd_predicate *p, bool in_metadata, struct vd_slice key)
{
    if (!in_metadata)
        return p->takes_status || !vd_slice_is(key, "status");
    return !vd_slice_is(key, "resourceVersion") && !vd_slice_is(key, "managedFields") &&
           !(p->ignores_labels && vd_slice_is(key, "labels")) &&
           !(p->ignores_annotations && vd_slice_is(key, "annotations"));
}

static bool next_member(const struct vd_predicate *p, bool in_metadata, struct vd_span_cursor *at,
                        struct vd_slice *key, struct vd_slice *value)
{
    while (vd_span_next(at, key, value))
        if (counts(p, in_metadata, *key))
            return true;
    return false;
}

/* Whether two versions of the object, or of its metadata, differ in a member that counts. */
static bool differs(const struct vd_predicate *p, bool in_metadata, struct vd_slice before,
                    struct vd_slice now)
{
    struct vd_span_cursor a, b;
    struct vd_slice keys[2], values[2];
    vd_span_open(&a, before);
    vd_span_open(&b, now);
    for (;;) {
        bool has_a = next_member(p, in_metadata, &a, &keys[0], &values[0]);
        bool has_b = next_member(p, in_metadata, &b, &keys[1], &values[1]);
        if (!has_a || !has_b)
            return has_a != has_b;
        if (!vd_slice_eq(keys[0], keys[1]))
            return true;
        bool is_metadata = !in_metadata && vd_slice_is(keys[0], "metadata");
        if (is_metadata ? differs(p, true, values[0], values[1])
                        : !vd_slice_eq(values[0], values[1]))
            return true;
    }
}

bool vd_predicate_holds(const struct vd_predicate *p, const struct vd_change *change)
{
    const struct vd_event *before = change->before, *now = change->now;
    if (!vd_event_is_live(before) || !vd_event_is_live(now) || !before->body || !now->body)
        return true;
    return differs(p, false, vd_body_slice(before->body), vd_body_slice(now->body));
}
