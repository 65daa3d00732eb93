/*
 * The document model: nodes of 48 bytes, linked to their next sibling.
 *
 * Why linked siblings and not vectors: the parser can append a node the moment
 * it has read it, in one pass and without a scratch stack that is copied when
 * a container closes; insertion and removal in the middle cost nothing; and a
 * node's address never changes, so code that defaults, prunes and merges may
 * hold pointers while it edits. Nodes come from the arena one after the other,
 * so a walk in document order is a walk through memory. The price is that
 * access by key or index is linear. That is faster than hashing for the
 * objects of this program (a dozen keys); what has to look up many keys of a
 * large object builds a key_index for the time of its work.
 *
 * A container's `n` is its number of children, and `last` its tail, so that
 * appending and counting are constant. While a value is in no container its
 * `next` is NULL and it has no key.
 */
#include "json/document.h"

#include <assert.h>
#include <stdarg.h>

#include "base/limits.h"
#include "json/number.h"

static struct vd_json *node_new(struct vd_arena *a, enum vd_json_type type)
{
    struct vd_json *v = vd_arena_alloc(a, sizeof *v);
    *v = (struct vd_json){.type = (uint8_t)type};
    return v;
}

static struct vd_json *node_new_text(struct vd_arena *a, enum vd_json_type type, struct vd_slice s)
{
    struct vd_json *v = node_new(a, type);
    v->text_p = s.p;
    v->n = s.n;
    return v;
}

const char *vd_json_type_name(const struct vd_json *v)
{
    static const char *const names[] = {
        [VD_JSON_NULL] = "null",     [VD_JSON_BOOL] = "boolean", [VD_JSON_NUMBER] = "number",
        [VD_JSON_STRING] = "string", [VD_JSON_ARRAY] = "array",  [VD_JSON_OBJECT] = "object",
    };
    return v ? names[v->type] : "nothing";
}

struct vd_json *vd_json_get(const struct vd_json *v, struct vd_slice key)
{
    if (!vd_json_is(v, VD_JSON_OBJECT))
        return NULL;
    for (struct vd_json *m = v->first; m; m = m->next) {
        if (m->key_n == key.n && (key.n == 0 || memcmp(m->key_p, key.p, key.n) == 0))
            return m;
    }
    return NULL;
}

struct vd_json *vd_json_dig(const struct vd_json *v, const char *key, ...)
{
    va_list keys;
    va_start(keys, key);
    struct vd_json *found = NULL;
    for (; key; key = va_arg(keys, const char *)) {
        found = vd_json_get(v, vd_slice_of(key));
        v = found;
    }
    va_end(keys);
    return found;
}

struct vd_json *vd_json_at(const struct vd_json *v, size_t index)
{
    if (!vd_json_is(v, VD_JSON_ARRAY) || index >= v->n)
        return NULL;
    if (index == v->n - 1)
        return v->last;
    struct vd_json *item = v->first;
    while (index--)
        item = item->next;
    return item;
}

bool vd_json_to_i64(const struct vd_json *v, int64_t *out)
{
    return vd_json_is(v, VD_JSON_NUMBER) && vd_number_to_i64(vd_json_number_text(v), out);
}

bool vd_json_to_u64(const struct vd_json *v, uint64_t *out)
{
    return vd_json_is(v, VD_JSON_NUMBER) && vd_number_to_u64(vd_json_number_text(v), out);
}

bool vd_json_to_double(const struct vd_json *v, double *out)
{
    return vd_json_is(v, VD_JSON_NUMBER) && vd_number_to_double(vd_json_number_text(v), out);
}

static size_t depth_up_to(const struct vd_json *v, size_t max)
{
    if (!v || v->type < VD_JSON_ARRAY)
        return 0;
    if (max == 0)
        return 1;
    size_t deepest = 0;
    for (const struct vd_json *item = v->first; item; item = item->next) {
        size_t depth = depth_up_to(item, max - 1);
        if (depth > deepest)
            deepest = depth;
    }
    return deepest + 1;
}

size_t vd_json_depth(const struct vd_json *v)
{
    return depth_up_to(v, VD_JSON_DEPTH_MAX);
}

struct vd_json *vd_json_null(struct vd_arena *a)
{
    return node_new(a, VD_JSON_NULL);
}

struct vd_json *vd_json_bool(struct vd_arena *a, bool truth)
{
    struct vd_json *v = node_new(a, VD_JSON_BOOL);
    v->truth = truth;
    return v;
}

struct vd_json *vd_json_i64(struct vd_arena *a, int64_t value)
{
    char text[21] = "-";
    size_t sign = value < 0;
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    size_t n = sign + vd_u64_digits(magnitude, text + sign);
    return node_new_text(a, VD_JSON_NUMBER, vd_arena_copy(a, vd_slice(text, n)));
}

struct vd_json *vd_json_u64(struct vd_arena *a, uint64_t value)
{
    char text[20];
    size_t n = vd_u64_digits(value, text);
    return node_new_text(a, VD_JSON_NUMBER, vd_arena_copy(a, vd_slice(text, n)));
}

struct vd_json *vd_json_double(struct vd_arena *a, double value)
{
    char text[VD_NUMBER_TEXT_MAX];
    size_t n = vd_number_format(value, text);
    return node_new_text(a, VD_JSON_NUMBER, vd_arena_copy(a, vd_slice(text, n)));
}

struct vd_json *vd_json_number(struct vd_arena *a, struct vd_slice text)
{
    assert(vd_number_is_valid(text));
    return node_new_text(a, VD_JSON_NUMBER, vd_arena_copy(a, text));
}

struct vd_json *vd_json_string(struct vd_arena *a, struct vd_slice text)
{
    return node_new_text(a, VD_JSON_STRING, vd_arena_copy(a, text));
}

struct vd_json *vd_json_string_ref(struct vd_arena *a, struct vd_slice text)
{
    return node_new_text(a, VD_JSON_STRING, text);
}

struct vd_json *vd_json_raw(struct vd_arena *a, struct vd_slice json)
{
    return node_new_text(a, VD_JSON_NUMBER, json);
}

struct vd_json *vd_json_array(struct vd_arena *a)
{
    return node_new(a, VD_JSON_ARRAY);
}

struct vd_json *vd_json_object(struct vd_arena *a)
{
    return node_new(a, VD_JSON_OBJECT);
}

/* Links `v` behind `before` (NULL: as the first child). */
static void link_after(struct vd_json *container, struct vd_json *before, struct vd_json *v)
{
    assert(!(v->flags & VD_JSON_LINKED) && v != container);
    struct vd_json **slot = before ? &before->next : &container->first;
    v->next = *slot;
    *slot = v;
    if (!v->next)
        container->last = v;
    v->flags |= VD_JSON_LINKED;
    container->n++;
}

static struct vd_json *unlink_after(struct vd_json *container, struct vd_json *before)
{
    struct vd_json **slot = before ? &before->next : &container->first;
    struct vd_json *v = *slot;
    if (!v)
        return NULL;
    *slot = v->next;
    if (container->last == v)
        container->last = before;
    container->n--;
    v->next = NULL;
    v->key_p = NULL;
    v->key_n = 0;
    v->flags &= (uint8_t) ~(VD_JSON_LINKED | VD_JSON_PLAIN_KEY);
    return v;
}

static void set_key(struct vd_json *v, struct vd_slice key)
{
    assert(key.n <= UINT32_MAX);
    v->key_p = key.p;
    v->key_n = (uint32_t)key.n;
}

/* The member named `key` or NULL, and the member before it (NULL if none). */
static struct vd_json *find_member(const struct vd_json *object, struct vd_slice key,
                                   struct vd_json **before)
{
    *before = NULL;
    for (struct vd_json *m = object->first; m; *before = m, m = m->next) {
        if (vd_slice_eq(vd_json_key(m), key))
            return m;
    }
    return NULL;
}

struct vd_json *vd_json_set(struct vd_arena *a, struct vd_json *object, struct vd_slice key,
                            struct vd_json *value)
{
    assert(object->type == VD_JSON_OBJECT);
    struct vd_json *before;
    struct vd_json *old = find_member(object, key, &before);
    if (!old) {
        vd_json_add(a, object, key, value);
        return NULL;
    }
    struct vd_slice old_key = vd_json_key(old);
    unlink_after(object, before);
    link_after(object, before, value);
    set_key(value, old_key);
    return old;
}

void vd_json_add_ref(struct vd_json *object, struct vd_slice key, struct vd_json *value)
{
    assert(object->type == VD_JSON_OBJECT);
    link_after(object, object->last, value);
    set_key(value, key);
}

void vd_json_add(struct vd_arena *a, struct vd_json *object, struct vd_slice key,
                 struct vd_json *value)
{
    vd_json_add_ref(object, vd_arena_copy(a, key), value);
}

struct vd_json *vd_json_remove(struct vd_json *object, struct vd_slice key)
{
    struct vd_json *before;
    if (!vd_json_is(object, VD_JSON_OBJECT) || !find_member(object, key, &before))
        return NULL;
    return unlink_after(object, before);
}

void vd_json_append(struct vd_json *array, struct vd_json *value)
{
    assert(array->type == VD_JSON_ARRAY);
    link_after(array, array->last, value);
}

void vd_json_insert(struct vd_json *array, size_t index, struct vd_json *value)
{
    assert(array->type == VD_JSON_ARRAY && index <= array->n);
    link_after(array, index ? vd_json_at(array, index - 1) : NULL, value);
}

struct vd_json *vd_json_remove_at(struct vd_json *array, size_t index)
{
    if (!vd_json_is(array, VD_JSON_ARRAY) || index >= array->n)
        return NULL;
    return unlink_after(array, index ? vd_json_at(array, index - 1) : NULL);
}

struct vd_json *vd_json_remove_after(struct vd_json *container, struct vd_json *before)
{
    assert(container->type >= VD_JSON_ARRAY);
    return unlink_after(container, before);
}

void vd_json_assign(struct vd_json *v, struct vd_json *value)
{
    assert(v != value && !(value->flags & VD_JSON_LINKED));
    v->type = value->type;
    v->truth = value->truth;
    v->flags = (uint8_t)((v->flags & ~VD_JSON_PLAIN_TEXT) | (value->flags & VD_JSON_PLAIN_TEXT));
    v->first = value->first; /* or text_p: they share their place */
    v->last = value->last;
    v->n = value->n;
    *value = (struct vd_json){.type = VD_JSON_NULL};
}

/* A copy of `v` and all below; `own` says whether texts and keys are copied. */
static struct vd_json *copy_tree(struct vd_arena *a, const struct vd_json *v, bool own)
{
    struct vd_json *copy = vd_arena_alloc(a, sizeof *copy);
    *copy = *v;
    copy->next = NULL;
    copy->flags &= VD_JSON_PLAIN_TEXT;
    copy->key_p = NULL;
    copy->key_n = 0;
    if (v->type < VD_JSON_ARRAY) {
        if (own && v->n)
            copy->text_p = vd_arena_copy(a, vd_slice(v->text_p, v->n)).p;
        return copy;
    }
    copy->first = copy->last = NULL;
    copy->n = 0;
    for (const struct vd_json *item = v->first; item; item = item->next) {
        struct vd_json *child = copy_tree(a, item, own);
        link_after(copy, copy->last, child);
        if (v->type == VD_JSON_OBJECT) {
            set_key(child, own ? vd_arena_copy(a, vd_json_key(item)) : vd_json_key(item));
            child->flags |= item->flags & VD_JSON_PLAIN_KEY;
        }
    }
    return copy;
}

struct vd_json *vd_json_copy(struct vd_arena *a, const struct vd_json *v)
{
    return copy_tree(a, v, true);
}

struct vd_json *vd_json_clone(struct vd_arena *a, const struct vd_json *v)
{
    return copy_tree(a, v, false);
}

void vd_json_make_text(struct vd_json *null)
{
    assert(null->type == VD_JSON_NULL);
    null->type = VD_JSON_STRING;
    null->flags |= VD_JSON_PLAIN_TEXT;
    null->text_p = "";
    null->n = 0;
}
