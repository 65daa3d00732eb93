/* See status_subresource.h. */
#include "kinds/status_subresource.h"

#include "json/compare.h"
#include "json/key_index.h"

static const struct vd_slice status_key = {"status", 6};
static const struct vd_slice metadata_key = {"metadata", 8};

/* Members that only `old` has, but for the one named `but`. */
static void fill(struct vd_arena *arena, struct vd_json *object, const struct vd_json *old,
                 struct vd_slice but)
{
    struct vd_key_index given;
    struct vd_json *more = vd_json_object(arena);
    vd_key_index_init(&given, object);
    VD_JSON_EACH (member, old) {
        struct vd_slice key = vd_json_key(member);
        if (!vd_slice_eq(key, but) && !vd_key_index_get(&given, key))
            vd_json_add(arena, more, key, vd_json_clone(arena, member));
    }
    vd_key_index_release(&given);
    while (vd_json_count(more)) {
        struct vd_slice key = vd_json_key(vd_json_first(more)); /* unlinking takes it away */
        vd_json_add_ref(object, key, vd_json_remove_after(more, NULL));
    }
}

void vd_status_subresource_fill(struct vd_arena *arena, struct vd_json *object,
                                const struct vd_json *old)
{
    struct vd_json *metadata = vd_json_get(object, metadata_key);
    fill(arena, object, old, status_key);
    /* A version that is left out says something: it is no precondition. */
    if (vd_json_is(metadata, VD_JSON_OBJECT))
        fill(arena, metadata, vd_json_get(old, metadata_key), VD_SLICE("resourceVersion"));
}

/* ---- the strict boundary ---- */

static void add_differences(const struct vd_json *now, const struct vd_json *was,
                            const struct vd_field_path *path, struct vd_violations *out);

/* Metadata is looked at field by field, and status is free. */
static bool is_apart(struct vd_slice key)
{
    return vd_slice_eq(key, metadata_key) || vd_slice_eq(key, status_key);
}

/* What differs between two objects; `top`: they are whole ones. */
static void add_members(const struct vd_json *now, const struct vd_json *was,
                        const struct vd_field_path *path, bool top, struct vd_violations *out)
{
    struct vd_key_index before, after;
    vd_key_index_init(&before, was);
    vd_key_index_init(&after, now);
    VD_JSON_EACH (member, now) {
        struct vd_slice key = vd_json_key(member);
        struct vd_field_path at = vd_field_member(path, key);
        if (!top || !is_apart(key))
            add_differences(member, vd_key_index_get(&before, key), &at, out);
    }
    VD_JSON_EACH (member, was) {
        struct vd_slice key = vd_json_key(member);
        struct vd_field_path at = vd_field_member(path, key);
        if ((!top || !is_apart(key)) && !vd_key_index_get(&after, key))
            add_differences(NULL, member, &at, out);
    }
    vd_key_index_release(&before);
    vd_key_index_release(&after);
}

static void add_elements(const struct vd_json *now, const struct vd_json *was,
                         const struct vd_field_path *path, struct vd_violations *out)
{
    const struct vd_json *other = vd_json_first(was);
    size_t index = 0;
    VD_JSON_EACH (item, now) {
        struct vd_field_path at = vd_field_element(path, index++);
        add_differences(item, other, &at, out);
        other = vd_json_next(other);
    }
}

/* The smallest parts that differ; lists of different lengths differ as a whole. */
static void add_differences(const struct vd_json *now, const struct vd_json *was,
                            const struct vd_field_path *path, struct vd_violations *out)
{
    if (vd_json_is(now, VD_JSON_OBJECT) && vd_json_is(was, VD_JSON_OBJECT))
        add_members(now, was, path, false, out);
    else if (vd_json_is(now, VD_JSON_ARRAY) && vd_json_is(was, VD_JSON_ARRAY) &&
             vd_json_count(now) == vd_json_count(was))
        add_elements(now, was, path, out);
    else if (!vd_json_eq(now, was))
        vd_violations_add(out, VD_VIOLATION_FORBIDDEN, path, vd_bad_value_nothing(), "%s",
                          "a write of status may not change anything else");
}

static void check_metadata(const struct vd_json *now, const struct vd_json *was,
                           struct vd_violations *out)
{
    static const char *const fields[] = {"annotations", "finalizers", "labels", "ownerReferences"};
    struct vd_field_path metadata = vd_field_member(NULL, metadata_key);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        struct vd_slice key = vd_slice_of(fields[i]);
        struct vd_field_path at = vd_field_member(&metadata, key);
        const struct vd_json *a = vd_json_get(now, key), *b = vd_json_get(was, key);
        if (vd_json_count(a) || vd_json_count(b)) /* empty is absent */
            add_differences(a, b, &at, out);
    }
}

bool vd_status_subresource_check(const struct vd_json *object, const struct vd_json *old,
                                 struct vd_violations *out)
{
    size_t before = out->list.n;
    check_metadata(vd_json_get(object, metadata_key), vd_json_get(old, metadata_key), out);
    add_members(object, old, NULL, true, out);
    return out->list.n == before;
}

/* ---- what a write keeps ---- */

/* What `from` has there, or the lack of it. */
static void take_over(struct vd_arena *arena, struct vd_json *into, const struct vd_json *from,
                      struct vd_slice key)
{
    const struct vd_json *value = vd_json_get(from, key);
    if (value)
        vd_json_set(arena, into, key, vd_json_clone(arena, value));
    else
        vd_json_remove(into, key);
}

/* What marks an object of a built-in kind, Kubernetes lets through. */
static void take_over_marks(struct vd_arena *arena, struct vd_json *into,
                            const struct vd_json *from)
{
    struct vd_json *metadata = vd_json_get(into, metadata_key);
    const struct vd_json *given = vd_json_get(from, metadata_key);
    if (!vd_json_is(metadata, VD_JSON_OBJECT) || !vd_json_is(given, VD_JSON_OBJECT))
        return;
    take_over(arena, metadata, given, VD_SLICE("labels"));
    take_over(arena, metadata, given, VD_SLICE("annotations"));
}

struct vd_json *vd_status_subresource_merge(const struct vd_kind *kind, struct vd_arena *arena,
                                            struct vd_json *object, const struct vd_json *old,
                                            bool at_status)
{
    if (!kind->has_status)
        return object;
    const struct vd_json *from = at_status ? object : old;
    struct vd_json *into = at_status ? vd_json_clone(arena, old) : object;
    take_over(arena, into, from, status_key);
    if (at_status && kind->native)
        take_over_marks(arena, into, object);
    return into;
}
