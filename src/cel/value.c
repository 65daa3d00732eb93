/*
 * See value.h. JSON becomes values here, and values are compared.
 *
 * Arrays and objects of a document are linked lists. A look-up by index or key in a
 * large one builds an index of it, kept by the run for as long as others do not push
 * it out, so that a rule which walks a list by index stays linear.
 */
#include "cel/value.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/base64.h"
#include "base/utf8.h"
#include "cel/program_internal.h"
#include "json/compare.h"
#include "json/number.h"

enum {
    SMALL_CONTAINER_MAX = 32, /* items of a container that is searched without an index */
    COMPARE_DEPTH_MAX = 600,  /* nesting of values that are compared; deeper is an error */
};

void *vd_cel_alloc(struct vd_cel_run *run, size_t size)
{
    if (size > VD_CEL_MEMORY_MAX - run->memory) {
        run->cancelled = true;
        return NULL;
    }
    run->memory += size;
    return vd_arena_alloc(run->arena, size);
}

struct vd_cel_value vd_cel_error(struct vd_cel_run *run, const char *format, ...)
{
    struct vd_buf text = {0};
    va_list arguments;
    va_start(arguments, format);
    vd_buf_vaddf(&text, format, arguments);
    va_end(arguments);
    struct vd_cel_value v = {.kind = VD_CEL_ERROR, .s = VD_SLICE("out of memory")};
    char *p = vd_cel_alloc(run, text.n + 1);
    if (p) {
        memcpy(p, vd_buf_text(&text), text.n + 1);
        v.s = vd_slice(p, text.n);
    }
    vd_buf_release(&text);
    return v;
}

struct vd_cel_value vd_cel_no_overload(void)
{
    return (struct vd_cel_value){.kind = VD_CEL_ERROR, .s = VD_SLICE("no such overload")};
}

struct vd_cel_value vd_cel_list(struct vd_cel_run *run, struct vd_cel_value *p, size_t n)
{
    struct vd_cel_list *list = vd_cel_alloc(run, sizeof *list);
    if (!list)
        return vd_cel_no_overload();
    *list = (struct vd_cel_list){n, p};
    return (struct vd_cel_value){.kind = VD_CEL_LIST, .list = list};
}

struct vd_cel_value vd_cel_some(struct vd_cel_run *run, struct vd_cel_value value)
{
    if (value.kind == VD_CEL_ERROR)
        return value;
    struct vd_cel_value *kept = vd_cel_alloc(run, sizeof *kept);
    if (!kept)
        return vd_cel_no_overload();
    *kept = value;
    return (struct vd_cel_value){.kind = VD_CEL_OPTIONAL, .some = kept};
}

struct vd_cel_value vd_cel_none(void)
{
    return (struct vd_cel_value){.kind = VD_CEL_OPTIONAL};
}

/* ---- from JSON ---- */

static struct vd_cel_value number_of(struct vd_cel_run *run, const struct vd_json *json,
                                     enum vd_cel_kind kind)
{
    int64_t i;
    double d;
    bool whole = vd_number_classify(vd_json_number_text(json)) != VD_NUMBER_DOUBLE;
    if ((kind == VD_CEL_INT || (kind == VD_CEL_DYN && whole)) && vd_json_to_i64(json, &i))
        return vd_cel_int(i);
    if (kind != VD_CEL_INT && vd_json_to_double(json, &d))
        return vd_cel_double(d);
    return vd_cel_error(run, "invalid data, expected %s", kind == VD_CEL_INT ? "int" : "double");
}

static struct vd_cel_value bytes_of(struct vd_cel_run *run, struct vd_slice text)
{
    struct vd_buf out = {0};
    if (vd_base64_decode(&out, text, VD_BASE64_STANDARD) != 0) {
        vd_buf_release(&out);
        return vd_cel_error(run, "invalid byte formatted string: illegal base64 data");
    }
    struct vd_cel_value v = vd_cel_take_text(run, &out);
    if (v.kind == VD_CEL_STRING)
        v.kind = VD_CEL_BYTES;
    return v;
}

static struct vd_cel_value text_of(struct vd_cel_run *run, struct vd_slice text,
                                   const struct vd_cel_type *type)
{
    struct vd_cel_time time;
    int64_t nanoseconds;
    switch ((enum vd_cel_kind)type->kind) {
    case VD_CEL_BYTES:
        return bytes_of(run, text);
    case VD_CEL_TIMESTAMP:
        if (vd_cel_time_parse(text, type->date_only, &time))
            return vd_cel_timestamp(time);
        return vd_cel_error(run, "invalid %s format", type->date_only ? "date" : "date-time");
    case VD_CEL_DURATION:
        if (vd_cel_duration_words(text, &nanoseconds))
            return vd_cel_duration(nanoseconds);
        return vd_cel_error(run, "invalid duration format");
    default:
        return vd_cel_string(text);
    }
}

struct vd_cel_value vd_cel_of_json(struct vd_cel_run *run, const struct vd_json *json,
                                   const struct vd_cel_type *type)
{
    if (!type)
        type = vd_cel_type_of(VD_CEL_DYN);
    struct vd_cel_value v = {.form = VD_CEL_JSON, .decl = type, .json = json};
    bool dyn = type->kind == VD_CEL_DYN;
    switch ((enum vd_json_type)json->type) {
    case VD_JSON_NULL:
        return vd_cel_null();
    case VD_JSON_BOOL:
        if (dyn || type->kind == VD_CEL_BOOL)
            return vd_cel_bool(vd_json_truth(json));
        break;
    case VD_JSON_NUMBER:
        if (dyn || type->kind == VD_CEL_INT || type->kind == VD_CEL_DOUBLE)
            return number_of(run, json, (enum vd_cel_kind)type->kind);
        break;
    case VD_JSON_STRING:
        if (dyn || (type->kind >= VD_CEL_STRING && type->kind <= VD_CEL_DURATION))
            return text_of(run, vd_json_text(json), type);
        break;
    case VD_JSON_ARRAY:
        v.kind = VD_CEL_LIST;
        if (dyn || type->kind == VD_CEL_LIST)
            return v;
        break;
    case VD_JSON_OBJECT:
        v.kind = type->kind == VD_CEL_OBJECT ? VD_CEL_OBJECT : VD_CEL_MAP;
        if (dyn || type->kind == VD_CEL_MAP || type->kind == VD_CEL_OBJECT)
            return v;
        break;
    }
    return vd_cel_error(run, "invalid data, expected %s, got %s",
                        vd_cel_kind_name((enum vd_cel_kind)type->kind), vd_json_type_name(json));
}

/* ---- look-ups ---- */

static struct vd_cel_cached *cached(struct vd_cel_run *run, const struct vd_json *json)
{
    for (size_t i = 0; i < VD_CEL_CACHE_SLOTS; i++)
        if (run->cache[i].json == json)
            return &run->cache[i];
    struct vd_cel_cached *c = &run->cache[run->cache_next++ % VD_CEL_CACHE_SLOTS];
    free(c->items);
    if (c->json)
        vd_key_index_release(&c->keys);
    *c = (struct vd_cel_cached){.json = json};
    if (vd_json_is(json, VD_JSON_ARRAY)) {
        size_t n = 0;
        c->items = vd_calloc(vd_json_count(json), sizeof *c->items);
        VD_JSON_EACH (item, json)
            c->items[n++] = item;
    } else {
        vd_key_index_init(&c->keys, json);
    }
    run->steps += vd_json_count(json);
    if (run->steps > VD_CEL_STEPS_MAX)
        run->cancelled = true;
    return c;
}

void vd_cel_run_release(struct vd_cel_run *run)
{
    for (size_t i = 0; i < VD_CEL_CACHE_SLOTS; i++) {
        free(run->cache[i].items);
        if (run->cache[i].json)
            vd_key_index_release(&run->cache[i].keys);
        run->cache[i] = (struct vd_cel_cached){0};
    }
}

static const struct vd_json *member(struct vd_cel_run *run, const struct vd_json *json,
                                    struct vd_slice key)
{
    if (vd_json_count(json) <= SMALL_CONTAINER_MAX)
        return vd_json_get(json, key);
    return vd_key_index_get(&cached(run, json)->keys, key);
}

bool vd_cel_member(struct vd_cel_run *run, const struct vd_json *object, struct vd_slice key,
                   const struct vd_cel_type *type, struct vd_cel_value *out)
{
    const struct vd_json *found = member(run, object, key);
    if (found)
        *out = vd_cel_of_json(run, found, type);
    return found != NULL;
}

static const struct vd_cel_type *item_type(const struct vd_cel_value *v)
{
    return v->decl ? v->decl->item : NULL;
}

static struct vd_cel_value json_at(struct vd_cel_run *run, const struct vd_cel_value *list,
                                   uint64_t index)
{
    const struct vd_json *item = index <= SMALL_CONTAINER_MAX
                                     ? vd_json_at(list->json, (size_t)index)
                                     : cached(run, list->json)->items[index];
    return vd_cel_of_json(run, item, item_type(list));
}

struct vd_cel_value vd_cel_list_at(struct vd_cel_run *run, const struct vd_cel_value *list,
                                   uint64_t index)
{
    while (list->form == VD_CEL_CONCAT) {
        uint64_t left = vd_cel_size(&list->concat->left);
        if (index < left) {
            list = &list->concat->left;
        } else {
            index -= left;
            list = &list->concat->right;
        }
    }
    return list->form == VD_CEL_JSON ? json_at(run, list, index) : list->list->p[index];
}

bool vd_cel_lookup(struct vd_cel_run *run, const struct vd_cel_value *map,
                   const struct vd_cel_value *key, struct vd_cel_value *out)
{
    if (map->form == VD_CEL_JSON) {
        const struct vd_json *found = key->kind == VD_CEL_STRING ? member(run, map->json, key->s)
                                                                 : NULL;
        if (!found)
            return false;
        const struct vd_cel_type *type = item_type(map);
        if (map->kind == VD_CEL_OBJECT) {
            type = NULL;
            for (size_t i = 0; i < map->decl->field_count && !type; i++)
                if (vd_slice_eq(map->decl->fields[i].raw, key->s))
                    type = map->decl->fields[i].type;
            if (!type)
                return false;
        }
        *out = vd_cel_of_json(run, found, type);
        return true;
    }
    for (size_t i = 0; i < map->map->n; i++) {
        if (vd_cel_equal(run, &map->map->keys[i], key)) {
            *out = map->map->values[i];
            return true;
        }
    }
    return false;
}

/* ---- sizes and iteration ---- */

static uint64_t rune_count(struct vd_slice s)
{
    uint64_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        n += ((unsigned char)s.p[i] & 0xc0) != 0x80;
    return n;
}

bool vd_cel_is_sized(const struct vd_cel_value *v)
{
    return v->kind == VD_CEL_STRING || v->kind == VD_CEL_BYTES || v->kind == VD_CEL_LIST ||
           v->kind == VD_CEL_MAP || v->kind == VD_CEL_OBJECT;
}

uint64_t vd_cel_size(const struct vd_cel_value *v)
{
    switch ((enum vd_cel_kind)v->kind) {
    case VD_CEL_STRING:
        return rune_count(v->s);
    case VD_CEL_BYTES:
        return v->s.n;
    case VD_CEL_LIST:
        return v->form == VD_CEL_JSON    ? vd_json_count(v->json)
               : v->form == VD_CEL_ARRAY ? v->list->n
                                         : v->concat->n;
    case VD_CEL_MAP:
        return v->form == VD_CEL_JSON ? vd_json_count(v->json) : v->map->n;
    case VD_CEL_OBJECT:
        return vd_json_count(v->json);
    case VD_CEL_IP:
    case VD_CEL_CIDR:
        return vd_cel_address_size(v);
    default:
        return 1;
    }
}

static void flatten_into(struct vd_cel_run *run, const struct vd_cel_value *list,
                         struct vd_cel_list *out)
{
    if (list->form == VD_CEL_CONCAT) {
        flatten_into(run, &list->concat->left, out);
        flatten_into(run, &list->concat->right, out);
    } else if (list->form == VD_CEL_JSON) {
        VD_JSON_EACH (item, list->json)
            out->p[out->n++] = vd_cel_of_json(run, item, item_type(list));
    } else {
        memcpy(out->p + out->n, list->list->p, list->list->n * sizeof *out->p);
        out->n += list->list->n;
    }
}

bool vd_cel_flatten(struct vd_cel_run *run, const struct vd_cel_value *list,
                    struct vd_cel_list *out)
{
    *out = (struct vd_cel_list){0, NULL};
    if (list->form == VD_CEL_ARRAY) {
        *out = *list->list;
        return true;
    }
    out->p = vd_cel_alloc(run, (vd_cel_size(list) + 1) * sizeof *out->p);
    if (out->p)
        flatten_into(run, list, out);
    return out->p && !run->cancelled;
}

bool vd_cel_iterate(struct vd_cel_run *run, struct vd_cel_iterator *it,
                    const struct vd_cel_value *range)
{
    *it = (struct vd_cel_iterator){.range = range};
    if (range->kind != VD_CEL_LIST && range->kind != VD_CEL_MAP && range->kind != VD_CEL_OBJECT)
        return false;
    if (range->form == VD_CEL_JSON)
        it->at = vd_json_first(range->json);
    else if (range->kind == VD_CEL_LIST)
        return vd_cel_flatten(run, range, &it->flat);
    return true;
}

bool vd_cel_next(struct vd_cel_run *run, struct vd_cel_iterator *it, struct vd_cel_value *item,
                 struct vd_cel_value *value)
{
    const struct vd_cel_value *range = it->range;
    bool list = range->kind == VD_CEL_LIST;
    size_t index = it->next++;
    if (range->form == VD_CEL_JSON) {
        const struct vd_json *at = it->at;
        if (!at)
            return false;
        it->at = vd_json_next(at);
        *item = list ? vd_cel_of_json(run, at, item_type(range)) : vd_cel_string(vd_json_key(at));
        if (value && !list && !vd_cel_lookup(run, range, item, value))
            *value = vd_cel_null();
    } else if (list) {
        if (index >= it->flat.n)
            return false;
        *item = it->flat.p[index];
    } else {
        if (index >= range->map->n)
            return false;
        *item = range->map->keys[index];
        if (value)
            *value = range->map->values[index];
    }
    if (value && list) {
        *value = *item;
        *item = vd_cel_int((int64_t)index);
    }
    return true;
}

/* ---- comparing ---- */

static bool is_number(const struct vd_cel_value *v)
{
    return v->kind >= VD_CEL_INT && v->kind <= VD_CEL_DOUBLE;
}

static int order_int_double(int64_t i, double d)
{
    if (d >= 9223372036854775808.0)
        return -1;
    if (d < -9223372036854775808.0)
        return 1;
    int64_t whole = (int64_t)d;
    if (i != whole)
        return i < whole ? -1 : 1;
    double rest = d - (double)whole;
    return (rest < 0) - (rest > 0);
}

static int order_uint_double(uint64_t u, double d)
{
    if (d >= 18446744073709551616.0)
        return -1;
    if (d < 0)
        return 1;
    uint64_t whole = (uint64_t)d;
    if (u != whole)
        return u < whole ? -1 : 1;
    return d > (double)whole ? -1 : 0;
}

static bool compare_numbers(const struct vd_cel_value *a, const struct vd_cel_value *b, int *order)
{
    if ((a->kind == VD_CEL_DOUBLE && isnan(a->d)) || (b->kind == VD_CEL_DOUBLE && isnan(b->d)))
        return false;
    if (a->kind == b->kind)
        *order = a->kind == VD_CEL_INT    ? (a->i > b->i) - (a->i < b->i)
                 : a->kind == VD_CEL_UINT ? (a->u > b->u) - (a->u < b->u)
                                          : (a->d > b->d) - (a->d < b->d);
    else if (a->kind == VD_CEL_INT && b->kind == VD_CEL_UINT)
        *order = a->i < 0 ? -1 : ((uint64_t)a->i > b->u) - ((uint64_t)a->i < b->u);
    else if (a->kind == VD_CEL_INT)
        *order = order_int_double(a->i, b->d);
    else if (a->kind == VD_CEL_UINT && b->kind == VD_CEL_DOUBLE)
        *order = order_uint_double(a->u, b->d);
    else {
        int reverse = 0;
        if (!compare_numbers(b, a, &reverse))
            return false;
        *order = -reverse;
    }
    return true;
}

bool vd_cel_compare(const struct vd_cel_value *a, const struct vd_cel_value *b, int *order)
{
    if (is_number(a) && is_number(b))
        return compare_numbers(a, b, order);
    if (a->kind != b->kind)
        return false;
    switch ((enum vd_cel_kind)a->kind) {
    case VD_CEL_BOOL:
        *order = a->truth - b->truth;
        return true;
    case VD_CEL_STRING:
    case VD_CEL_BYTES:
        *order = vd_slice_cmp(a->s, b->s);
        return true;
    case VD_CEL_DURATION:
        *order = (a->i > b->i) - (a->i < b->i);
        return true;
    case VD_CEL_TIMESTAMP:
        *order = (a->time.seconds > b->time.seconds) - (a->time.seconds < b->time.seconds);
        if (*order == 0)
            *order = (a->time.nanos > b->time.nanos) - (a->time.nanos < b->time.nanos);
        return true;
    default:
        return false;
    }
}

static bool equal(struct vd_cel_run *run, const struct vd_cel_value *a,
                  const struct vd_cel_value *b, unsigned depth);

/* Do two elements of a list of type map have the same keys? */
static bool same_keys(struct vd_cel_run *run, const struct vd_cel_type *type,
                      const struct vd_cel_value *a, const struct vd_cel_value *b, unsigned depth)
{
    for (size_t i = 0; i < type->map_key_count; i++) {
        struct vd_cel_value key = vd_cel_string(type->map_keys[i]), x, y;
        bool has_x = vd_cel_is_sized(a) && a->kind >= VD_CEL_MAP && vd_cel_lookup(run, a, &key, &x);
        bool has_y = vd_cel_is_sized(b) && b->kind >= VD_CEL_MAP && vd_cel_lookup(run, b, &key, &y);
        if (has_x != has_y || (has_x && !equal(run, &x, &y, depth + 1)))
            return false;
    }
    return true;
}

/* Lists whose order means nothing: each item has its equal (or that of its keys). */
static bool equal_unordered(struct vd_cel_run *run, const struct vd_cel_value *a,
                            const struct vd_cel_value *b, const struct vd_cel_type *type,
                            unsigned depth)
{
    struct vd_cel_list x, y;
    if (!vd_cel_flatten(run, a, &x) || !vd_cel_flatten(run, b, &y))
        return false;
    for (size_t i = 0; i < x.n; i++) {
        bool found = false;
        for (size_t k = 0; k < y.n && !found && !run->cancelled; k++) {
            size_t at = (i + k) % y.n; /* most lists have their items in the same order */
            found = type->list_type == VD_CEL_LIST_MAP
                        ? same_keys(run, type, &x.p[i], &y.p[at], depth) &&
                              equal(run, &x.p[i], &y.p[at], depth + 1)
                        : equal(run, &x.p[i], &y.p[at], depth + 1);
        }
        if (!found)
            return false;
    }
    return true;
}

static const struct vd_cel_type *unordered(const struct vd_cel_value *a,
                                           const struct vd_cel_value *b)
{
    if (a->decl && a->decl->list_type != VD_CEL_LIST_ATOMIC)
        return a->decl;
    return b->decl && b->decl->list_type != VD_CEL_LIST_ATOMIC ? b->decl : NULL;
}

static bool equal_lists(struct vd_cel_run *run, const struct vd_cel_value *a,
                        const struct vd_cel_value *b, unsigned depth)
{
    struct vd_cel_iterator x, y;
    struct vd_cel_value one, two;
    if (vd_cel_size(a) != vd_cel_size(b))
        return false;
    const struct vd_cel_type *type = unordered(a, b);
    if (type)
        return equal_unordered(run, a, b, type, depth);
    if (!vd_cel_iterate(run, &x, a) || !vd_cel_iterate(run, &y, b))
        return false;
    while (vd_cel_next(run, &x, &one, NULL) && vd_cel_next(run, &y, &two, NULL))
        if (!equal(run, &one, &two, depth + 1))
            return false;
    return true;
}

static bool equal_maps(struct vd_cel_run *run, const struct vd_cel_value *a,
                       const struct vd_cel_value *b, unsigned depth)
{
    struct vd_cel_iterator it;
    struct vd_cel_value key, one, two;
    if (vd_cel_size(a) != vd_cel_size(b) || !vd_cel_iterate(run, &it, a))
        return false;
    while (vd_cel_next(run, &it, &key, NULL)) {
        if (!vd_cel_lookup(run, a, &key, &one) || !vd_cel_lookup(run, b, &key, &two) ||
            !equal(run, &one, &two, depth + 1))
            return false;
    }
    return true;
}

/* Members that the schema does not know count too. */
static bool equal_objects(struct vd_cel_run *run, const struct vd_cel_value *a,
                          const struct vd_cel_value *b, unsigned depth)
{
    if (a->json == b->json)
        return true;
    if (vd_json_count(a->json) != vd_json_count(b->json))
        return false;
    VD_JSON_EACH (one, a->json) {
        struct vd_cel_value key = vd_cel_string(vd_json_key(one)), x, y;
        const struct vd_json *two = member(run, b->json, vd_json_key(one));
        if (!two)
            return false;
        bool known = vd_cel_lookup(run, a, &key, &x) && vd_cel_lookup(run, b, &key, &y);
        if (known ? !equal(run, &x, &y, depth + 1) : !vd_json_eq(one, two))
            return false;
    }
    return true;
}

static bool equal_optionals(struct vd_cel_run *run, const struct vd_cel_value *a,
                            const struct vd_cel_value *b, unsigned depth)
{
    if (!a->some || !b->some)
        return a->some == b->some;
    return equal(run, a->some, b->some, depth + 1);
}

static bool equal(struct vd_cel_run *run, const struct vd_cel_value *a,
                  const struct vd_cel_value *b, unsigned depth)
{
    int order;
    if (++run->steps > VD_CEL_STEPS_MAX || depth > COMPARE_DEPTH_MAX)
        run->cancelled = true;
    if (run->cancelled)
        return false;
    if (is_number(a) && is_number(b))
        return compare_numbers(a, b, &order) && order == 0;
    if (a->kind >= VD_CEL_MAP && b->kind >= VD_CEL_MAP && a->kind <= VD_CEL_OBJECT &&
        b->kind <= VD_CEL_OBJECT)
        return a->kind == VD_CEL_OBJECT && b->kind == VD_CEL_OBJECT
                   ? equal_objects(run, a, b, depth)
                   : equal_maps(run, a, b, depth);
    if (a->kind != b->kind)
        return false;
    switch ((enum vd_cel_kind)a->kind) {
    case VD_CEL_NULL:
        return true;
    case VD_CEL_LIST:
        return equal_lists(run, a, b, depth);
    case VD_CEL_OPTIONAL:
        return equal_optionals(run, a, b, depth);
    case VD_CEL_TYPE:
        return a->type->kind == b->type->kind;
    case VD_CEL_URL:
        return vd_cel_url_equal(a, b);
    case VD_CEL_IP:
    case VD_CEL_CIDR:
        return vd_cel_address_equal(a, b);
    case VD_CEL_QUANTITY:
        return vd_cel_quantity_equal(a, b);
    case VD_CEL_FORMAT:
        return a->format == b->format;
    default:
        return vd_cel_compare(a, b, &order) && order == 0;
    }
}

bool vd_cel_equal(struct vd_cel_run *run, const struct vd_cel_value *a,
                  const struct vd_cel_value *b)
{
    return equal(run, a, b, 0);
}

bool vd_cel_same_item(struct vd_cel_run *run, const struct vd_cel_type *list,
                      const struct vd_cel_value *a, const struct vd_cel_value *b)
{
    return list->list_type == VD_CEL_LIST_MAP ? same_keys(run, list, a, b, 0) : equal(run, a, b, 0);
}
