/* See path_element.h. */
#include "kinds/path_element.h"

#include "json/escape.h"
#include "json/number.h"
#include "json/parse.h"
#include "json/write.h"

/* Keys of one item that are taken for keys at all. */
enum { KEYS_MAX = 32 };

/* ---- order ---- */

/* Numbers come first, then texts, then truths, then null. */
static int rank(const struct vd_json *v)
{
    switch ((enum vd_json_type)v->type) {
    case VD_JSON_NUMBER:
        return 0;
    case VD_JSON_STRING:
        return 1;
    case VD_JSON_BOOL:
        return 2;
    default:
        return 3;
    }
}

static int number_cmp(struct vd_slice a, struct vd_slice b)
{
    int64_t i = 0, j = 0;
    double x = 0, y = 0;
    if (vd_number_eq(a, b))
        return 0;
    if (vd_number_to_i64(a, &i) && vd_number_to_i64(b, &j))
        return i < j ? -1 : 1;
    if (vd_number_to_double(a, &x) && vd_number_to_double(b, &y) && (x < y || x > y))
        return x < y ? -1 : 1;
    return vd_slice_cmp(a, b);
}

static int scalar_cmp(const struct vd_json *a, const struct vd_json *b)
{
    int ours = rank(a), theirs = rank(b);
    if (ours != theirs)
        return ours < theirs ? -1 : 1;
    if (ours == 0)
        return number_cmp(vd_json_number_text(a), vd_json_number_text(b));
    if (ours == 1)
        return vd_slice_cmp(vd_json_text(a), vd_json_text(b));
    return (int)vd_json_truth(a) - (int)vd_json_truth(b);
}

static int keys_cmp(const struct vd_json *a, const struct vd_json *b)
{
    const struct vd_json *x = vd_json_first(a), *y = vd_json_first(b);
    for (; x && y; x = vd_json_next(x), y = vd_json_next(y)) {
        int c = vd_slice_cmp(vd_json_key(x), vd_json_key(y));
        if (!c)
            c = scalar_cmp(x, y);
        if (c)
            return c;
    }
    return (x != NULL) - (y != NULL);
}

int vd_path_element_cmp(const struct vd_path_element *a, const struct vd_path_element *b)
{
    if (a->type != b->type)
        return a->type < b->type ? -1 : 1;
    switch (a->type) {
    case VD_PATH_NAME:
        return a->name.p == b->name.p && a->name.n == b->name.n ? 0
                                                                : vd_slice_cmp(a->name, b->name);
    case VD_PATH_KEYS:
        return keys_cmp(a->value, b->value);
    case VD_PATH_VALUE:
        return scalar_cmp(a->value, b->value);
    default:
        return (a->index > b->index) - (a->index < b->index);
    }
}

/* Lists have a few keys at most, so that the plain way will do; whoever sends more gets
 * no further than KEYS_MAX. */
void vd_path_keys_sort(struct vd_json *keys)
{
    size_t n = vd_json_count(keys);
    for (size_t done = 0; done < n; done++) { /* the smallest of the rest goes to the end */
        struct vd_json *before = NULL, *least = vd_json_first(keys), *last = NULL;
        size_t left = n - done;
        for (struct vd_json *v = least; left > 0; left--, last = v, v = vd_json_next(v))
            if (vd_slice_cmp(vd_json_key(v), vd_json_key(least)) < 0) {
                least = v;
                before = last;
            }
        struct vd_slice key = vd_json_key(least);
        vd_json_remove_after(keys, before);
        vd_json_add_ref(keys, key, least);
    }
}

/* ---- the spelling of managedFields ---- */

/* A number as Go writes it: an integer without a fraction where it is one. */
static void write_scalar(struct vd_buf *out, const struct vd_json *v)
{
    int64_t whole;
    if (vd_json_is(v, VD_JSON_NUMBER) && vd_json_to_i64(v, &whole))
        vd_buf_addf(out, "%lld", (long long)whole);
    else
        vd_json_write(out, v);
}

void vd_path_element_write(struct vd_buf *out, const struct vd_path_element *e)
{
    switch (e->type) {
    case VD_PATH_NAME:
        vd_buf_add(out, "f:", 2);
        vd_buf_add_slice(out, e->name);
        break;
    case VD_PATH_KEYS:
        vd_buf_add(out, "k:{", 3);
        VD_JSON_EACH (key, e->value) {
            if (key != vd_json_first(e->value))
                vd_buf_add_char(out, ',');
            vd_escape_write(out, vd_json_key(key));
            vd_buf_add_char(out, ':');
            write_scalar(out, key);
        }
        vd_buf_add_char(out, '}');
        break;
    case VD_PATH_VALUE:
        vd_buf_add(out, "v:", 2);
        write_scalar(out, e->value);
        break;
    default:
        vd_buf_addf(out, "i:%llu", (unsigned long long)e->index);
        break;
    }
}

static bool are_scalars(const struct vd_json *keys)
{
    if (vd_json_count(keys) == 0 || vd_json_count(keys) > KEYS_MAX)
        return false;
    VD_JSON_EACH (key, keys)
        if (key->type >= VD_JSON_ARRAY)
            return false;
    return true;
}

bool vd_path_element_read(struct vd_arena *a, struct vd_slice text, struct vd_path_element *out)
{
    struct vd_json *value = NULL;
    uint64_t index = 0;
    if (text.n < 2 || text.p[1] != ':')
        return false;
    struct vd_slice rest = vd_slice_from(text, 2);
    switch (text.p[0]) {
    case 'f':
        *out = vd_path_name(rest);
        return true;
    case 'k':
        if (vd_json_parse_copy(a, rest, NULL, &value, NULL) || !vd_json_is(value, VD_JSON_OBJECT) ||
            !are_scalars(value))
            return false;
        vd_path_keys_sort(value);
        *out = (struct vd_path_element){.type = VD_PATH_KEYS, .value = value};
        return true;
    case 'v':
        if (vd_json_parse_copy(a, rest, NULL, &value, NULL) || value->type >= VD_JSON_ARRAY)
            return false;
        *out = (struct vd_path_element){.type = VD_PATH_VALUE, .value = value};
        return true;
    case 'i':
        if (vd_slice_to_u64(rest, &index) != 0)
            return false;
        *out = (struct vd_path_element){.type = VD_PATH_INDEX, .index = index};
        return true;
    default:
        return false;
    }
}

/* ---- the spelling of messages ---- */

void vd_path_element_show(struct vd_buf *out, const struct vd_path_element *e)
{
    switch (e->type) {
    case VD_PATH_NAME:
        vd_buf_add_char(out, '.');
        vd_buf_add_slice(out, e->name);
        break;
    case VD_PATH_KEYS:
        vd_buf_add_char(out, '[');
        VD_JSON_EACH (key, e->value) {
            if (key != vd_json_first(e->value))
                vd_buf_add_char(out, ',');
            vd_buf_add_slice(out, vd_json_key(key));
            vd_buf_add_char(out, '=');
            write_scalar(out, key);
        }
        vd_buf_add_char(out, ']');
        break;
    case VD_PATH_VALUE:
        vd_buf_add(out, "[=", 2);
        write_scalar(out, e->value);
        vd_buf_add_char(out, ']');
        break;
    default:
        vd_buf_addf(out, "[%llu]", (unsigned long long)e->index);
        break;
    }
}
