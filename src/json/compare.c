/*
 * See compare.h. Two objects usually have their members in the same order, so
 * they are first walked side by side. Where the keys part, the rest of the one
 * is looked up in the other, which has as many members and no key twice.
 */
#include "json/compare.h"

#include "json/key_index.h"
#include "json/number.h"
#include "json/stable_hash.h"

static bool eq(const struct vd_json *a, const struct vd_json *b);

static bool eq_array(const struct vd_json *a, const struct vd_json *b)
{
    const struct vd_json *x = a->first, *y = b->first;
    for (; x && y; x = x->next, y = y->next) {
        if (!eq(x, y))
            return false;
    }
    return !x && !y;
}

static bool eq_object(const struct vd_json *a, const struct vd_json *b)
{
    const struct vd_json *x = a->first, *y = b->first;
    for (; x && y && vd_slice_eq(vd_json_key(x), vd_json_key(y)); x = x->next, y = y->next) {
        if (!eq(x, y))
            return false;
    }
    if (!x)
        return true;
    struct vd_key_index index;
    vd_key_index_init(&index, b);
    for (; x; x = x->next) {
        y = vd_key_index_get(&index, vd_json_key(x));
        if (!y || !eq(x, y))
            break;
    }
    vd_key_index_release(&index);
    return !x;
}

static bool eq(const struct vd_json *a, const struct vd_json *b)
{
    if (a->type != b->type)
        return false;
    switch ((enum vd_json_type)a->type) {
    case VD_JSON_NULL:
        return true;
    case VD_JSON_BOOL:
        return a->truth == b->truth;
    case VD_JSON_NUMBER:
        return vd_number_eq(vd_json_number_text(a), vd_json_number_text(b));
    case VD_JSON_STRING:
        return vd_slice_eq(vd_json_text(a), vd_json_text(b));
    case VD_JSON_ARRAY:
        return a->n == b->n && eq_array(a, b);
    case VD_JSON_OBJECT:
        return a->n == b->n && eq_object(a, b);
    }
    return false;
}

bool vd_json_eq(const struct vd_json *a, const struct vd_json *b)
{
    return a && b ? eq(a, b) : a == b;
}

uint64_t vd_json_hash(const struct vd_json *v)
{
    uint64_t state = vd_stable_hash_mix(0, v->type);
    switch ((enum vd_json_type)v->type) {
    case VD_JSON_NULL:
        break;
    case VD_JSON_BOOL:
        state = vd_stable_hash_mix(state, v->truth);
        break;
    case VD_JSON_NUMBER:
        state = vd_stable_hash_mix(state, vd_number_hash(vd_json_number_text(v)));
        break;
    case VD_JSON_STRING:
        state = vd_stable_hash_bytes(state, vd_json_text(v));
        break;
    case VD_JSON_ARRAY:
        VD_JSON_EACH (item, v)
            state = vd_stable_hash_mix(state, vd_json_hash(item));
        break;
    case VD_JSON_OBJECT: {
        uint64_t sum = 0; /* a sum does not depend on the order */
        VD_JSON_EACH (member, v)
            sum += vd_stable_hash_mix(vd_stable_hash_bytes(0, vd_json_key(member)),
                                      vd_json_hash(member));
        state = vd_stable_hash_mix(state, sum);
        break;
    }
    }
    return vd_stable_hash_mix(state, v->type >= VD_JSON_ARRAY ? v->n : 0);
}
