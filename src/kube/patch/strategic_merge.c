/*
 * See strategic_merge.h. Maps and directives; lists are in merge_list.c.
 *
 * The members of a patch are first taken apart into changes, one for each field
 * of the live map that they speak of: "f", "$setElementOrder/f" and
 * "$deleteFromPrimitiveList/f" are one change of f. They are sorted by field, so
 * that a pass over the live members finds each one's change by bisection; the
 * changes that no live member used are then added in the patch's order. Go's
 * random order of members, on which Kubernetes' result may depend, becomes one
 * order here: within a change the list is merged, then ordered, then reduced.
 *
 * The live document is never touched, so a failure needs no undoing.
 */
#include <stdlib.h>

#include "base/buf.h"
#include "base/vec.h"
#include "kinds/violation.h"
#include "kube/patch/strategic_merge_internal.h"
#include "watch/excerpt.h"
#include "json/write.h"

static const struct vd_slice patch_name = {"$patch", 6};
static const struct vd_slice retain_name = {"$retainKeys", 11};
static const struct vd_slice order_prefix = {"$setElementOrder", 16};
static const struct vd_slice removal_prefix = {"$deleteFromPrimitiveList", 24};

/* What a sentence shows, so that all of it fits: bytes of a value, fields of a
 * path and bytes of each. */
enum { SHOWN_MAX = 120, PATH_FIELDS_MAX = 6, PATH_FIELD_LEN_MAX = 24 };

struct change {
    struct vd_slice field;
    size_t place;                  /* of the first of its members in the patch */
    const struct vd_json *value;   /* NULL: only directives */
    const struct vd_json *order;   /* or NULL */
    const struct vd_json *removal; /* or NULL */
    bool used;
};

struct changes {
    VD_VEC(struct change) list;     /* by field */
    VD_VEC(struct vd_slice) retain; /* sorted; if `retaining` */
    bool retaining;
};

/* --- errors --- */

/* The names of the fields down to here; of a long way, the last ones. */
static void add_path(struct vd_buf *out, const struct vd_merge_path *step)
{
    const struct vd_merge_path *shown[PATH_FIELDS_MAX];
    size_t n = 0;
    for (; step && n < PATH_FIELDS_MAX; step = step->up)
        shown[n++] = step;
    if (step)
        vd_buf_add_text(out, "...");
    while (n--) {
        vd_excerpt_add(out, shown[n]->field, PATH_FIELD_LEN_MAX);
        vd_buf_add_text(out, n ? "." : ": ");
    }
}

int vd_merge_fail(struct vd_merger *m, const char *text)
{
    struct vd_buf path = {0};
    add_path(&path, m->path);
    int code = vd_error_set(m->error, VD_ERR_INVALID, "%s%s", vd_buf_text(&path), text);
    vd_buf_release(&path);
    return code;
}

/* vd_merge_fail with a text that is then released. */
static int fail_saying(struct vd_merger *m, struct vd_buf *text)
{
    int code = vd_merge_fail(m, vd_buf_text(text));
    vd_buf_release(text);
    return code;
}

static void show(const struct vd_merger *m, struct vd_buf *out, const struct vd_json *v)
{
    struct vd_buf text = {0};
    if (m->rules && m->rules->hides_values) {
        vd_buf_add_text(out, VD_HIDDEN_VALUE);
        return;
    }
    vd_json_write(&text, v);
    vd_excerpt_add(out, vd_buf_slice(&text), SHOWN_MAX);
    vd_buf_release(&text);
}

/* The name of the type that holds such a value in Kubernetes. */
static const char *go_type(const struct vd_json *v)
{
    static const char *const names[] = {
        [VD_JSON_NULL] = "<nil>",           [VD_JSON_BOOL] = "bool",
        [VD_JSON_NUMBER] = "number",        [VD_JSON_STRING] = "string",
        [VD_JSON_ARRAY] = "[]interface {}", [VD_JSON_OBJECT] = "map[string]interface {}",
    };
    for (int type = VD_JSON_NULL; type < VD_JSON_OBJECT; type++)
        if (vd_json_is(v, (enum vd_json_type)type))
            return names[type];
    return names[VD_JSON_OBJECT];
}

int vd_merge_fail_type(struct vd_merger *m, const char *expected, const struct vd_json *got)
{
    struct vd_buf text = {0};
    vd_buf_addf(&text, "expected a %s, but received a %s", expected, go_type(got));
    return fail_saying(m, &text);
}

int vd_merge_fail_key(struct vd_merger *m, const struct vd_json *map, struct vd_slice key)
{
    struct vd_buf text = {0};
    vd_buf_add_text(&text, "map: ");
    show(m, &text, map);
    vd_buf_addf(&text, " does not contain declared merge key: %.*s", VD_FMT(key));
    return fail_saying(m, &text);
}

int vd_merge_fail_directive(struct vd_merger *m, const struct vd_json *directive,
                            const struct vd_json *map)
{
    struct vd_buf text = {0};
    vd_buf_add_text(&text, "unknown patch type: ");
    if (vd_json_is(directive, VD_JSON_STRING))
        vd_excerpt_add(&text, vd_json_text(directive), SHOWN_MAX);
    else
        show(m, &text, directive);
    vd_buf_add_text(&text, " in map: ");
    show(m, &text, map);
    return fail_saying(m, &text);
}

int vd_merge_fail_order(struct vd_merger *m, const struct vd_json *patch,
                        const struct vd_json *order)
{
    struct vd_buf text = {0};
    vd_buf_add_text(&text, "the order in patch list:\n");
    show(m, &text, patch);
    vd_buf_add_text(&text, "\n doesn't match $setElementOrder list:\n");
    show(m, &text, order);
    return fail_saying(m, &text);
}

/* --- taking a patch apart --- */

const struct vd_json *vd_merge_directive(const struct vd_json *map)
{
    return vd_json_get(map, patch_name);
}

static int compare_slices(const void *a, const void *b)
{
    return vd_slice_cmp(*(const struct vd_slice *)a, *(const struct vd_slice *)b);
}

static int compare_fields(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    int c = vd_slice_cmp(x->field, y->field);
    return c ? c : (x->place > y->place) - (x->place < y->place);
}

static int compare_places(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    return (x->place > y->place) - (x->place < y->place);
}

/* The field of "$prefix/field"; false if the key is not of that form. */
static bool field_behind(struct vd_slice key, struct vd_slice prefix, struct vd_slice *field)
{
    *field = vd_slice_from(key, prefix.n + 1);
    return key.n > prefix.n && key.p[prefix.n] == '/';
}

static int read_member(struct vd_merger *m, const struct vd_json *member, struct change *c)
{
    struct vd_slice key = vd_json_key(member);
    if (vd_slice_starts_with(key, order_prefix)) {
        if (!vd_json_is(member, VD_JSON_ARRAY))
            return vd_merge_fail_type(m, "[]interface {}", member);
        if (!field_behind(key, order_prefix, &c->field))
            return vd_merge_fail(m, "invalid patch format of setElementOrder list");
        c->order = member;
    } else if (vd_slice_starts_with(key, removal_prefix)) {
        if (!field_behind(key, removal_prefix, &c->field) || !vd_json_is(member, VD_JSON_ARRAY))
            return vd_merge_fail(m, "invalid patch format of primitive list");
        c->removal = member;
    } else {
        c->field = key;
        c->value = member;
    }
    return VD_OK;
}

/* Joins the changes of the same field, which sorting has put side by side. */
static void join_changes(struct changes *changes)
{
    size_t n = 0;
    for (size_t i = 0; i < changes->list.n; i++) {
        struct change *c = &changes->list.p[i], *last = n ? &changes->list.p[n - 1] : NULL;
        if (!last || !vd_slice_eq(last->field, c->field)) {
            changes->list.p[n++] = *c;
            continue;
        }
        last->value = c->value ? c->value : last->value;
        last->order = c->order ? c->order : last->order;
        last->removal = c->removal ? c->removal : last->removal;
    }
    changes->list.n = n;
}

static bool is_retained(const struct changes *changes, struct vd_slice key)
{
    return !changes->retaining ||
           (changes->retain.n &&
            bsearch(&key, changes->retain.p, changes->retain.n, sizeof key, compare_slices));
}

/* "$retainKeys" has to name every field that the patch sets. */
static int read_retained(struct vd_merger *m, const struct vd_json *keys, struct changes *changes)
{
    static const char bad[] = "invalid patch format of retainKeys";
    if (!vd_json_is(keys, VD_JSON_ARRAY))
        return vd_merge_fail(m, bad);
    changes->retaining = true;
    VD_JSON_EACH (key, keys) {
        if (!vd_json_is(key, VD_JSON_STRING))
            return vd_merge_fail(m, bad);
        *VD_VEC_PUSH(&changes->retain) = vd_json_text(key);
    }
    if (changes->retain.n)
        qsort(changes->retain.p, changes->retain.n, sizeof *changes->retain.p, compare_slices);
    for (size_t i = 0; i < changes->list.n; i++) {
        const struct change *c = &changes->list.p[i];
        if (c->value && !vd_json_is(c->value, VD_JSON_NULL) && !is_retained(changes, c->field))
            return vd_merge_fail(m, bad);
    }
    return VD_OK;
}

static int read_changes(struct vd_merger *m, const struct vd_json *patch, struct changes *changes)
{
    const struct vd_json *retained = NULL;
    size_t place = 0;
    VD_JSON_EACH (member, patch) {
        if (vd_slice_eq(vd_json_key(member), retain_name)) {
            retained = member;
            continue;
        }
        struct change c = {.place = place++};
        int code = read_member(m, member, &c);
        if (code)
            return code;
        *VD_VEC_PUSH(&changes->list) = c;
    }
    if (changes->list.n)
        qsort(changes->list.p, changes->list.n, sizeof *changes->list.p, compare_fields);
    join_changes(changes);
    return retained ? read_retained(m, retained, changes) : VD_OK;
}

static struct change *find_change(struct changes *changes, struct vd_slice field)
{
    size_t low = 0, high = changes->list.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int c = vd_slice_cmp(changes->list.p[middle].field, field);
        if (c == 0)
            return &changes->list.p[middle];
        if (c < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* --- applying it --- */

static bool is_directive(struct vd_slice key)
{
    return vd_slice_eq(key, retain_name) || vd_slice_eq(key, patch_name) ||
           vd_slice_starts_with(key, order_prefix) || vd_slice_starts_with(key, removal_prefix);
}

static void add_clean_members(struct vd_merger *m, struct vd_json *out, const struct vd_json *map)
{
    VD_JSON_EACH (member, map) {
        struct vd_slice key = vd_json_key(member);
        if (vd_json_is(member, VD_JSON_NULL) || is_directive(key))
            continue;
        struct vd_json *value = vd_merge_clean(m, member);
        if (value)
            vd_json_add_ref(out, key, value);
    }
}

struct vd_json *vd_merge_clean(struct vd_merger *m, const struct vd_json *patch)
{
    if (vd_merge_directive(patch))
        return NULL;
    if (vd_json_is(patch, VD_JSON_OBJECT)) {
        struct vd_json *map = vd_json_object(m->arena);
        add_clean_members(m, map, patch);
        return map;
    }
    if (!vd_json_is(patch, VD_JSON_ARRAY))
        return vd_json_clone(m->arena, patch);
    struct vd_json *list = vd_json_array(m->arena);
    VD_JSON_EACH (item, patch) {
        struct vd_json *value = vd_merge_clean(m, item);
        if (value)
            vd_json_append(list, value);
    }
    return list;
}

/* The list of a field that has an order; NULL if neither side has the list. */
static int merge_ordered(struct vd_merger *m, const struct vd_json *live, const struct change *c,
                         const struct vd_merge_field *field, struct vd_json **out)
{
    int code;
    *out = NULL;
    if (live && !vd_json_is(live, VD_JSON_ARRAY))
        return vd_merge_fail_type(m, "[]interface {}", live);
    if (c->value && !vd_json_is(c->value, VD_JSON_ARRAY))
        return vd_merge_fail_type(m, "[]interface {}", c->value);
    if (c->value && (code = vd_merge_list_check_order(m, c->value, c->order, field->key)))
        return code;
    if (live && c->value) {
        if ((code = vd_merge_list(m, live, c->value, field, out)))
            return code;
    } else if (live) {
        *out = vd_json_clone(m->arena, live);
    } else if (c->value) {
        *out = vd_merge_clean(m, c->value);
    }
    return *out ? vd_merge_list_reorder(m, *out, c->order, live, field->key) : VD_OK;
}

/* The field's value with the patch's in it; NULL if the field is to go. */
static int merge_value(struct vd_merger *m, const struct vd_json *live, const struct vd_json *patch,
                       const struct vd_merge_field *field, struct vd_json **out)
{
    *out = NULL;
    if (vd_json_is(patch, VD_JSON_NULL))
        return VD_OK;
    if (vd_json_is(live, VD_JSON_OBJECT) && vd_json_is(patch, VD_JSON_OBJECT) &&
        field->strategy != VD_MERGE_REPLACE)
        return vd_merge_map(m, live, patch, field->node, out);
    if (vd_json_is(live, VD_JSON_ARRAY) && vd_json_is(patch, VD_JSON_ARRAY))
        return vd_merge_list(m, live, patch, field, out);
    *out = vd_merge_clean(m, patch);
    return VD_OK;
}

/* One field; `live` is NULL if it is new, *out if it does not remain. */
static int merge_field(struct vd_merger *m, const struct vd_json *live, const struct change *c,
                       const void *node, struct vd_json **out)
{
    struct vd_merge_path step = {m->path, c->field};
    struct vd_merge_field field = {0};
    if (m->rules && node)
        field = m->rules->field(node, c->field);
    m->path = &step;
    int code = VD_OK;
    if (c->order)
        code = merge_ordered(m, live, c, &field, out);
    else if (c->value)
        code = merge_value(m, live, c->value, &field, out);
    else
        *out = live ? vd_json_clone(m->arena, live) : NULL;
    if (!code && c->removal && vd_json_is(*out, VD_JSON_ARRAY))
        code = vd_merge_list_subtract(m, *out, c->removal);
    m->path = step.up;
    return code;
}

static int merge_members(struct vd_merger *m, const struct vd_json *live, struct changes *changes,
                         const void *node, struct vd_json *out)
{
    VD_JSON_EACH (member, live) {
        struct vd_slice key = vd_json_key(member);
        if (!is_retained(changes, key))
            continue;
        struct change *c = find_change(changes, key);
        struct vd_json *value = NULL;
        if (c)
            c->used = true;
        int code = c ? merge_field(m, member, c, node, &value) : VD_OK;
        if (code)
            return code;
        if (!c)
            value = vd_json_clone(m->arena, member);
        if (value)
            vd_json_add_ref(out, key, value);
    }
    if (changes->list.n)
        qsort(changes->list.p, changes->list.n, sizeof *changes->list.p, compare_places);
    for (size_t i = 0; i < changes->list.n; i++) {
        struct change *c = &changes->list.p[i];
        struct vd_json *value = NULL;
        int code = c->used ? VD_OK : merge_field(m, NULL, c, node, &value);
        if (code)
            return code;
        if (value)
            vd_json_add_ref(out, c->field, value);
    }
    return VD_OK;
}

int vd_merge_map(struct vd_merger *m, const struct vd_json *live, const struct vd_json *patch,
                 const void *node, struct vd_json **out)
{
    struct vd_json *map = vd_json_object(m->arena);
    const struct vd_json *directive = vd_merge_directive(patch);
    if (directive) {
        if (vd_slice_is(vd_json_text(directive), "replace"))
            add_clean_members(m, map, patch);
        else if (!vd_slice_is(vd_json_text(directive), "delete"))
            return vd_merge_fail_directive(m, directive, patch);
        *out = map;
        return VD_OK;
    }
    struct changes changes = {0};
    int code = read_changes(m, patch, &changes);
    if (!code)
        code = merge_members(m, live, &changes, node, map);
    if (!code)
        *out = map;
    VD_VEC_RELEASE(&changes.list);
    VD_VEC_RELEASE(&changes.retain);
    return code;
}

int vd_strategic_merge(struct vd_arena *a, struct vd_json *doc, const struct vd_json *patch,
                       const struct vd_merge_rules *rules, const void *root, struct vd_error *error)
{
    struct vd_merger m = {.arena = a, .rules = rules, .error = error};
    struct vd_json *merged;
    if (!vd_json_is(doc, VD_JSON_OBJECT) || !vd_json_is(patch, VD_JSON_OBJECT))
        return vd_error_set(error, VD_ERR_INVALID,
                            "invalid JSON document: a strategic merge patch is an object, and is "
                            "applied to one");
    int code = vd_merge_map(&m, doc, patch, root, &merged);
    if (code)
        vd_error_prefix(error, "strategic merge patch");
    else
        vd_json_assign(doc, merged);
    return code;
}
