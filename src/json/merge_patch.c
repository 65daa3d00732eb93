/*
 * See merge_patch.h. Members are found through a key_index, so that two large
 * objects do not cost the product of their sizes. The index needs an object
 * that holds still: a member to delete is only marked while it is in use.
 */
#include "json/merge_patch.h"

#include "json/key_index.h"

static void unlink_marked(struct vd_json *object)
{
    struct vd_json *before = NULL;
    for (struct vd_json *m = object->first, *next; m; m = next) {
        next = m->next;
        if (m->flags & VD_JSON_DROP) {
            m->flags &= (uint8_t)~VD_JSON_DROP;
            vd_json_remove_after(object, before);
        } else {
            before = m;
        }
    }
}

static void merge_members(struct vd_arena *a, struct vd_json *doc, const struct vd_json *patch)
{
    struct vd_key_index index;
    bool marked = false;
    /* A small object that a large patch fills would not stay small. */
    if (patch->n > VD_KEY_INDEX_MIN)
        vd_key_index_init_all(&index, doc);
    else
        vd_key_index_init(&index, doc);
    VD_JSON_EACH (change, patch) {
        struct vd_slice key = vd_json_key(change);
        struct vd_json *member = vd_key_index_get(&index, key);
        if (change->type == VD_JSON_NULL) {
            if (member)
                member->flags |= VD_JSON_DROP;
            marked |= member != NULL;
            continue;
        }
        if (!member) {
            member = vd_json_null(a);
            vd_json_add_ref(doc, key, member);
            member->flags |= change->flags & VD_JSON_PLAIN_KEY;
        }
        vd_json_merge_patch(a, member, change);
    }
    vd_key_index_release(&index);
    if (marked)
        unlink_marked(doc);
}

void vd_json_merge_patch(struct vd_arena *a, struct vd_json *doc, const struct vd_json *patch)
{
    if (patch->type != VD_JSON_OBJECT) {
        vd_json_assign(doc, vd_json_clone(a, patch));
        return;
    }
    if (doc->type != VD_JSON_OBJECT)
        vd_json_assign(doc, vd_json_object(a));
    merge_members(a, doc, patch);
}
