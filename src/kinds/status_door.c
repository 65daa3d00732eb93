/* See status_door.h. */
#include "kinds/status_door.h"

#include "json/compare.h"

static const struct vd_slice status_key = {"status", 6};
static const struct vd_slice metadata_key = {"metadata", 8};

/* Members that only `old` has, but for the one named `but`. */
static void fill(struct vd_arena *arena, struct vd_json *object, const struct vd_json *old,
                 struct vd_slice but)
{
    VD_JSON_EACH (member, old) {
        struct vd_slice key = vd_json_key(member);
        if (!vd_slice_eq(key, but) && !vd_json_get(object, key))
            vd_json_add(arena, object, key, vd_json_clone(arena, member));
    }
}

void vd_status_door_fill(struct vd_arena *arena, struct vd_json *object, const struct vd_json *old)
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

static void add_members(const struct vd_json *now, const struct vd_json *was,
                        const struct vd_field_path *path, struct vd_violations *out)
{
    VD_JSON_EACH (member, now) {
        struct vd_field_path at = vd_field_member(path, vd_json_key(member));
        add_differences(member, vd_json_get(was, vd_json_key(member)), &at, out);
    }
    VD_JSON_EACH (member, was) {
        struct vd_field_path at = vd_field_member(path, vd_json_key(member));
        if (!vd_json_get(now, vd_json_key(member)))
            add_differences(NULL, member, &at, out);
    }
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
        add_members(now, was, path, out);
    else if (vd_json_is(now, VD_JSON_ARRAY) && vd_json_is(was, VD_JSON_ARRAY) &&
             vd_json_count(now) == vd_json_count(was))
        add_elements(now, was, path, out);
    else if (!vd_json_eq(now, was))
        vd_violations_add(out, VD_VIOLATION_FORBIDDEN, path, vd_shown_nothing(), "%s",
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

bool vd_status_door_check(const struct vd_json *object, const struct vd_json *old,
                          struct vd_violations *out)
{
    size_t before = out->list.n;
    check_metadata(vd_json_get(object, metadata_key), vd_json_get(old, metadata_key), out);
    VD_JSON_EACH (member, object) {
        struct vd_slice key = vd_json_key(member);
        struct vd_field_path at = vd_field_member(NULL, key);
        if (!vd_slice_eq(key, metadata_key) && !vd_slice_eq(key, status_key))
            add_differences(member, vd_json_get(old, key), &at, out);
    }
    VD_JSON_EACH (member, old) {
        struct vd_slice key = vd_json_key(member);
        struct vd_field_path at = vd_field_member(NULL, key);
        if (!vd_json_get(object, key) && !vd_slice_eq(key, status_key))
            add_differences(NULL, member, &at, out);
    }
    return out->list.n == before;
}

/* ---- through the door ---- */

struct vd_json *vd_status_door_pass(const struct vd_kind *kind, struct vd_arena *arena,
                                    struct vd_json *object, const struct vd_json *old,
                                    bool at_status)
{
    if (!kind->has_status)
        return object;
    const struct vd_json *from = at_status ? object : old;
    struct vd_json *into = at_status ? vd_json_clone(arena, old) : object;
    const struct vd_json *value = vd_json_get(from, status_key);
    if (value)
        vd_json_set(arena, into, status_key, vd_json_clone(arena, value));
    else
        vd_json_remove(into, status_key);
    return into;
}
