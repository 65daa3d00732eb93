/* replace: an object is made, whether there is one of its name or not. */
#include "api/write/write_internal.h"
#include "kinds/object_meta.h"
#include "json/compare.h"

/* Names the finalizers that the object waits for. */
static bool refuse_deleting(struct vd_write *w, const struct vd_json *old)
{
    struct vd_buf text = {0};
    vd_buf_add_text(&text, "it is being deleted");
    const char *before = " and waits for its finalizers ";
    VD_JSON_EACH (name, vd_meta_finalizers(old)) {
        vd_buf_addf(&text, "%s%.*s", before, VD_FMT(vd_json_text(name)));
        before = ", ";
    }
    struct vd_slice kept = vd_arena_copy(w->arena, vd_buf_slice(&text));
    vd_buf_release(&text);
    return vd_write_refuse(
        w, &(struct vd_refusal){.reason = VD_REFUSED_EXISTS, .deleting = true, .text = kept});
}

/* What `from` has there, or the lack of it. */
static void take_over(struct vd_write *w, struct vd_json *into, const struct vd_json *from,
                      struct vd_slice key)
{
    const struct vd_json *value = vd_json_get(from, key);
    if (value)
        vd_json_set(w->arena, into, key, vd_json_clone(w->arena, value));
    else
        vd_json_remove(into, key);
}

/* What is not the maker's to say of an object that is there. What an update keeps anyway, it keeps
 * later. */
static void keep(struct vd_write *w, const struct vd_json *old, struct vd_json *object)
{
    static const char *const not_said[] = {"uid", "resourceVersion", "managedFields"};
    struct vd_json *metadata = vd_json_get(object, VD_SLICE("metadata"));
    const struct vd_json *before = vd_json_get(old, VD_SLICE("metadata"));
    if (!vd_json_is(metadata, VD_JSON_OBJECT))
        return;
    for (size_t i = 0; i < sizeof not_said / sizeof *not_said; i++)
        vd_json_remove(metadata, vd_slice_of(not_said[i]));
    take_over(w, metadata, before, VD_SLICE("finalizers"));
    take_over(w, metadata, before, VD_SLICE("ownerReferences"));
    if (!w->kind->has_status)
        take_over(w, object, old, VD_SLICE("status"));
}

/* ---- whether it is a change ---- */

/* Gives the object's annotations of these names the other's values, or the lack of them. */
static void set_ignored(struct vd_write *w, struct vd_json *object, const struct vd_slice *values,
                        const bool *there)
{
    for (size_t i = 0; i < w->annotations_ignored_n; i++)
        if (there[i])
            vd_meta_set_annotation(w->arena, object, w->annotations_ignored[i], values[i]);
        else
            vd_meta_remove_annotation(object, w->annotations_ignored[i]);
}

static void get_ignored(const struct vd_write *w, const struct vd_json *object,
                        struct vd_slice *values, bool *there)
{
    for (size_t i = 0; i < w->annotations_ignored_n; i++)
        there[i] = vd_meta_annotation(object, w->annotations_ignored[i], &values[i]);
}

void vd_write_ignore_annotations(struct vd_write *w, const struct vd_json *old,
                                 struct vd_json *object)
{
    size_t n = w->annotations_ignored_n;
    if (!n)
        return;
    struct vd_slice *values = vd_arena_alloc(w->arena, 2 * n * sizeof *values);
    bool *there = vd_arena_alloc(w->arena, 2 * n * sizeof *there);
    get_ignored(w, old, values, there);
    get_ignored(w, object, values + n, there + n);
    struct vd_json *same = vd_json_clone(w->arena, old);
    vd_meta_set_resource_version(w->arena, same, VD_SLICE(""));
    set_ignored(w, object, values, there);
    if (!vd_json_eq(same, object))
        set_ignored(w, object, values + n, there + n);
}

/* ---- what a change needs ---- */

bool vd_write_stamp(struct vd_write *w, struct vd_json *object)
{
    return !w->ops->stamp || w->ops->stamp(w, object) ||
           vd_write_refuse_for(w, VD_REFUSED_BY_CALLER);
}

bool vd_write_allow_replacement(struct vd_write *w, struct vd_json *object)
{
    return (!w->checks_rights || vd_write_check_rights(w, "update")) && vd_write_stamp(w, object);
}

/* ---- the verb ---- */

static void create(struct vd_write *w, struct vd_json *object)
{
    if (w->part != VD_PART_OBJECT) {
        vd_write_refuse_for(w, VD_REFUSED_NOT_FOUND);
        return;
    }
    if (w->kind->terminating) {
        vd_write_refuse_for(w, VD_REFUSED_KIND_TERMINATING);
        return;
    }
    if (!vd_slice_eq(vd_meta_name(object), w->name)) {
        vd_write_refuse(w, &(struct vd_refusal){.reason = VD_REFUSED_NAME_DIFFERS,
                                                .is = vd_arena_copy(w->arena, vd_meta_name(object)),
                                                .wanted = w->name});
        return;
    }
    vd_write_create_object(w, object);
}

void vd_write_replace(struct vd_write *w)
{
    struct vd_json *object = NULL, *old = NULL;
    if (!vd_write_read_sent(w, &object) || !vd_write_read_current(w, &old) ||
        (!old && w->checks_rights && !vd_write_check_rights(w, "create")))
        return;
    if (old &&
        (!vd_write_check_places(w) || (vd_meta_is_deleting(old) && !refuse_deleting(w, old))))
        return;
    if (w->ops->make && !w->ops->make(w, old, &object)) {
        vd_write_refuse_for(w, VD_REFUSED_BY_CALLER);
    } else if (!old) {
        create(w, object);
    } else {
        keep(w, old, object);
        vd_write_put_version(w, old, object);
    }
}
