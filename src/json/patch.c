/*
 * JSON Patch. The operations work on a clone (nodes only; texts are shared),
 * whose content the document takes over at the end: all or nothing.
 *
 * A patch of 3 MiB must not cost minutes. What could multiply is bounded: the
 * bytes that copies add, the depth of what is put in, and the values passed on
 * the way (`steps`), since members and elements are looked up by walking.
 */
#include "json/patch.h"

#include <assert.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "json/compare.h"
#include "json/parse.h"
#include "json/pointer.h"

struct patcher {
    struct vd_arena *arena;  /* of the document */
    struct vd_arena scratch; /* of one operation */
    struct vd_json *root;    /* the clone */
    size_t steps;
    size_t copied; /* bytes that copies have added */
    struct vd_error *error;
};

/* One operation, taken apart. */
struct operation {
    struct vd_pointer path;
    struct vd_pointer from;      /* move, copy */
    const struct vd_json *value; /* add, replace, test */
};

/* The text of a pointer, cut to what fits a sentence. */
#define SHOWN(pointer) VD_FMT(vd_utf8_cut((pointer).text, 160))

static struct vd_json *walk(struct patcher *p, const struct vd_pointer *pointer, size_t n)
{
    struct vd_json *v = p->root;
    for (size_t i = 0; i < n && v; i++) {
        p->steps += vd_json_count(v);
        v = vd_pointer_step(v, pointer->tokens[i]);
    }
    return v;
}

/* The container in which the last token of the pointer is to be found. */
static struct vd_json *walk_to_parent(struct patcher *p, const struct vd_pointer *pointer)
{
    struct vd_json *parent = walk(p, pointer, pointer->n - 1);
    if (!parent || parent->type < VD_JSON_ARRAY)
        return NULL;
    p->steps += parent->n;
    return parent;
}

/* How deep `v` nests; adds its values to the steps and its bytes to *size. */
static size_t weigh(struct patcher *p, const struct vd_json *v, size_t *size)
{
    p->steps++;
    *size += v->key_p ? v->key_n + 3 : 0;
    if (v->type < VD_JSON_ARRAY) {
        *size += v->type <= VD_JSON_BOOL ? 5 : v->n + 2;
        return 0;
    }
    size_t deepest = 0;
    *size += 2 + v->n;
    VD_JSON_EACH (item, v) {
        size_t depth = weigh(p, item, size);
        deepest = depth > deepest ? depth : deepest;
    }
    return deepest + 1;
}

static int put_element(struct patcher *p, const char *kind, const struct vd_pointer *path,
                       struct vd_json *array, struct vd_json *value)
{
    struct vd_slice token = path->tokens[path->n - 1];
    size_t index;
    if (vd_slice_is(token, "-")) {
        vd_json_append(array, value);
        return VD_OK;
    }
    if (!vd_pointer_index(token, &index))
        return vd_error_set(p->error, VD_ERR_INVALID,
                            "error in %s for path: '%.*s': value was not a proper array index: "
                            "'%.*s'",
                            kind, SHOWN(*path), VD_FMT(vd_utf8_cut(token, 64)));
    if (index > array->n)
        return vd_error_set(p->error, VD_ERR_INVALID,
                            "error in %s for path: '%.*s': Unable to access invalid index: %zu: "
                            "invalid index referenced",
                            kind, SHOWN(*path), index);
    vd_json_insert(array, index, value);
    return VD_OK;
}

/* Puts `value`, which nests `depth` deep, where an add would. */
static int put(struct patcher *p, const char *kind, const struct vd_pointer *path,
               struct vd_json *value, size_t depth)
{
    if (path->n + depth > VD_JSON_DEPTH_MAX)
        return vd_error_set(p->error, VD_ERR_LIMIT,
                            "error in %s for path: '%.*s': the result would be nested more than "
                            "%d deep",
                            kind, SHOWN(*path), VD_JSON_DEPTH_MAX);
    if (path->n == 0) {
        vd_json_assign(p->root, value);
        return VD_OK;
    }
    struct vd_json *parent = walk_to_parent(p, path);
    if (!parent)
        return vd_error_set(p->error, VD_ERR_INVALID,
                            "%s operation does not apply: doc is missing path: \"%.*s\": missing "
                            "value",
                            kind, SHOWN(*path));
    if (parent->type == VD_JSON_ARRAY)
        return put_element(p, kind, path, parent, value);
    vd_json_set(p->arena, parent, path->tokens[path->n - 1], value);
    return VD_OK;
}

/* Takes the value at `path`, which must be there, out of its container. */
static struct vd_json *take(struct patcher *p, const struct vd_pointer *path)
{
    struct vd_json *parent = walk_to_parent(p, path);
    struct vd_slice token = path->tokens[path->n - 1];
    size_t index;
    if (!parent)
        return NULL;
    if (parent->type == VD_JSON_OBJECT)
        return vd_json_remove(parent, token);
    return vd_pointer_index(token, &index) ? vd_json_remove_at(parent, index) : NULL;
}

static int apply_add(struct patcher *p, const struct operation *op)
{
    size_t size = 0;
    struct vd_json *value = vd_json_clone(p->arena, op->value);
    return put(p, "add", &op->path, value, weigh(p, value, &size));
}

static int apply_remove(struct patcher *p, const struct operation *op)
{
    if (op->path.n == 0)
        return vd_error_set(p->error, VD_ERR_INVALID,
                            "remove operation does not apply: the whole document cannot be "
                            "removed");
    if (!take(p, &op->path))
        return vd_error_set(p->error, VD_ERR_INVALID,
                            "remove operation does not apply: doc is missing path: \"%.*s\": "
                            "missing value",
                            SHOWN(op->path));
    return VD_OK;
}

static int apply_replace(struct patcher *p, const struct operation *op)
{
    size_t size = 0;
    struct vd_json *old = walk(p, &op->path, op->path.n);
    if (!old)
        return vd_error_set(p->error, VD_ERR_INVALID,
                            "replace operation does not apply: doc is missing path: %.*s: missing "
                            "value",
                            SHOWN(op->path));
    struct vd_json *value = vd_json_clone(p->arena, op->value);
    if (op->path.n + weigh(p, value, &size) > VD_JSON_DEPTH_MAX)
        return vd_error_set(p->error, VD_ERR_LIMIT,
                            "error in replace for path: '%.*s': the result would be nested more "
                            "than %d deep",
                            SHOWN(op->path), VD_JSON_DEPTH_MAX);
    vd_json_assign(old, value);
    return VD_OK;
}

/* Does `path` lead to the value at `from` or into it? */
static bool is_inside(const struct vd_pointer *path, const struct vd_pointer *from)
{
    if (path->n < from->n)
        return false;
    for (size_t i = 0; i < from->n; i++) {
        if (!vd_slice_eq(path->tokens[i], from->tokens[i]))
            return false;
    }
    return true;
}

static int fail_from(struct patcher *p, const char *kind, const struct operation *op)
{
    return vd_error_set(p->error, VD_ERR_INVALID,
                        "%s operation does not apply: doc is missing from path: %.*s: missing "
                        "value",
                        kind, SHOWN(op->from));
}

static int apply_move(struct patcher *p, const struct operation *op)
{
    struct vd_json *value = walk(p, &op->from, op->from.n);
    size_t size = 0;
    if (!value)
        return fail_from(p, "move", op);
    if (is_inside(&op->path, &op->from)) {
        if (op->path.n == op->from.n)
            return VD_OK;
        return vd_error_set(p->error, VD_ERR_INVALID,
                            "move operation does not apply: %.*s lies inside the value to move",
                            SHOWN(op->path));
    }
    value = take(p, &op->from);
    assert(value); /* walk has found it */
    return put(p, "move", &op->path, value, weigh(p, value, &size));
}

static int apply_copy(struct patcher *p, const struct operation *op)
{
    struct vd_json *value = walk(p, &op->from, op->from.n);
    if (!value)
        return fail_from(p, "copy", op);
    size_t depth = weigh(p, value, &p->copied);
    if (p->copied > VD_JSON_PATCH_LEN_MAX)
        return vd_error_set(p->error, VD_ERR_LIMIT,
                            "Unable to complete the copy, the accumulated size increase of copy "
                            "is %zu, exceeding the limit %d",
                            p->copied, VD_JSON_PATCH_LEN_MAX);
    return put(p, "copy", &op->path, vd_json_clone(p->arena, value), depth);
}

static int apply_test(struct patcher *p, const struct operation *op)
{
    struct vd_json *value = walk(p, &op->path, op->path.n);
    if (!value)
        return vd_error_set(p->error, VD_ERR_INVALID,
                            "test operation does not apply: is missing path: %.*s: missing value",
                            SHOWN(op->path));
    /* Bounded by the patch's own size: a larger value differs early. */
    if (!vd_json_eq(value, op->value))
        return vd_error_set(p->error, VD_ERR_INVALID, "testing value %.*s failed: test failed",
                            SHOWN(op->path));
    return VD_OK;
}

static const struct kind {
    const char *name;
    bool needs_from, needs_value;
    int (*apply)(struct patcher *p, const struct operation *op);
} kinds[] = {
    {"add", false, true, apply_add},         {"remove", false, false, apply_remove},
    {"replace", false, true, apply_replace}, {"move", true, false, apply_move},
    {"copy", true, false, apply_copy},       {"test", false, true, apply_test},
};

static const struct kind *find_kind(struct vd_slice name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (vd_slice_is(name, kinds[i].name))
            return &kinds[i];
    }
    return NULL;
}

/* Reads the pointer in the member `name`. */
static int read_pointer(struct patcher *p, const struct vd_json *item, const char *name,
                        struct vd_pointer *out)
{
    const struct vd_json *text = vd_json_get(item, vd_slice_of(name));
    if (!vd_json_is(text, VD_JSON_STRING))
        return vd_error_set(p->error, VD_ERR_INVALID, "the operation needs a string in \"%s\"",
                            name);
    int code = vd_pointer_parse(&p->scratch, vd_json_text(text), out, p->error);
    if (code != VD_OK)
        vd_error_prefix(p->error, "\"%s\"", name);
    return code;
}

static int apply_item(struct patcher *p, const struct vd_json *item, const struct kind *kind)
{
    struct operation op = {.value = vd_json_get(item, VD_SLICE("value"))};
    int code = read_pointer(p, item, "path", &op.path);
    if (code == VD_OK && kind->needs_from)
        code = read_pointer(p, item, "from", &op.from);
    if (code != VD_OK)
        return code;
    if (kind->needs_value && !op.value)
        return vd_error_set(p->error, VD_ERR_INVALID, "the operation needs a \"value\"");
    code = kind->apply(p, &op);
    if (code == VD_OK && p->steps > VD_JSON_PATCH_STEPS_MAX)
        code = vd_error_set(p->error, VD_ERR_LIMIT,
                            "the patch takes too long on this document; split it");
    return code;
}

static int apply_all(struct patcher *p, const struct vd_json *patch)
{
    size_t number = 0;
    VD_JSON_EACH (item, patch) {
        struct vd_slice name = vd_json_text(vd_json_get(item, VD_SLICE("op")));
        const struct kind *kind = find_kind(name);
        if (!kind)
            return vd_error_set(p->error, VD_ERR_INVALID,
                                "patch operation %zu: Unexpected kind: %.*s", number,
                                VD_FMT(vd_utf8_cut(name, 64)));
        vd_arena_reset(&p->scratch);
        int code = apply_item(p, item, kind);
        if (code != VD_OK) {
            vd_error_prefix(p->error, "patch operation %zu (%s)", number, kind->name);
            return code;
        }
        number++;
    }
    return VD_OK;
}

static int check_shape(const struct vd_json *patch, struct vd_error *error)
{
    if (!vd_json_is(patch, VD_JSON_ARRAY))
        return vd_error_set(error, VD_ERR_INVALID,
                            "a JSON patch has to be an array of operations, not %s",
                            vd_json_type_name(patch));
    if (patch->n > VD_JSON_PATCH_OPS_MAX)
        return vd_error_set(error, VD_ERR_LIMIT,
                            "The allowed maximum operations in a JSON patch is %d, got %zu",
                            VD_JSON_PATCH_OPS_MAX, patch->n);
    VD_JSON_EACH (item, patch) {
        if (item->type != VD_JSON_OBJECT)
            return vd_error_set(error, VD_ERR_INVALID,
                                "an operation of a JSON patch has to be an object, not %s",
                                vd_json_type_name(item));
    }
    return VD_OK;
}

int vd_json_patch_parse(struct vd_arena *a, struct vd_slice text,
                        const struct vd_json_options *options, struct vd_json **out,
                        struct vd_error *error)
{
    struct vd_json_options own = options ? *options : (struct vd_json_options){0};
    struct vd_json *patch;
    own.len_max = VD_JSON_PATCH_LEN_MAX;
    int code = vd_json_parse(a, text, &own, &patch, error);
    if (code == VD_ERR_LIMIT && text.n <= VD_JSON_PATCH_LEN_MAX)
        return VD_ERR_INVALID;
    if (code == VD_OK)
        code = check_shape(patch, error);
    if (code == VD_OK)
        *out = patch;
    return code;
}

void vd_json_patch_unknown(const struct vd_json *patch,
                           void (*unknown)(void *context, struct vd_slice place), void *context)
{
    static const char *const known[] = {"op", "path", "from", "value"};
    size_t number = 0;
    VD_JSON_EACH (item, patch) {
        VD_JSON_EACH (member, item) {
            bool found = false;
            for (size_t i = 0; i < sizeof known / sizeof *known && !found; i++)
                found = vd_slice_is(vd_json_key(member), known[i]);
            if (found)
                continue;
            struct vd_buf place = {0};
            vd_buf_addf(&place, "[%zu].%.*s", number,
                        VD_FMT(vd_utf8_cut(vd_json_key(member), 160)));
            unknown(context, vd_buf_slice(&place));
            vd_buf_release(&place);
        }
        number++;
    }
}

int vd_json_patch(struct vd_arena *a, struct vd_json *doc, const struct vd_json *patch,
                  struct vd_error *error)
{
    int code = check_shape(patch, error);
    if (code != VD_OK)
        return code;
    struct patcher p = {.arena = a, .error = error};
    p.root = vd_json_clone(a, doc);
    code = apply_all(&p, patch);
    if (code == VD_OK)
        vd_json_assign(doc, p.root);
    vd_arena_release(&p.scratch);
    return code;
}
