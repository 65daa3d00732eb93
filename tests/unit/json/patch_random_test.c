/*
 * JSON Patch and JSON Merge Patch against models, on random documents and patches.
 *
 * The models are the RFCs' texts, written to be read and not to be fast: they never
 * change a value but build a new document for each step, and they read pointers by
 * themselves. They share nothing with the real ones but the document type.
 */
#include <stdio.h>

#include "json_check.h"
#include "seed.h"
#include "json/compare.h"
#include "json/merge_patch.h"
#include "json/patch.h"

enum { ROUNDS = 20000, DEPTH = 3, MEMBERS = 4, OPERATIONS = 4 };

/* ---- random documents ---- */

static struct vd_slice random_key(struct seed_rng *rng)
{
    static const char *const keys[] = {"a", "b", "c/d", "e~f", "", "0", "1", "-", "g~1h"};
    return vd_slice_of(keys[seed_below(rng, sizeof keys / sizeof *keys)]);
}

static struct vd_json *random_scalar(struct vd_arena *a, struct seed_rng *rng)
{
    switch (seed_below(rng, 5)) {
    case 0:
        return vd_json_null(a);
    case 1:
        return vd_json_bool(a, seed_once_in(rng, 2));
    case 2:
        return vd_json_number(a, vd_slice_of(seed_once_in(rng, 2) ? "1" : "1.0"));
    default:
        return vd_json_i64(a, (int64_t)seed_below(rng, 4));
    }
}

static struct vd_json *random_value(struct vd_arena *a, struct seed_rng *rng, unsigned depth)
{
    uint64_t n = seed_below(rng, MEMBERS + 1);
    if (!depth || seed_once_in(rng, 4))
        return random_scalar(a, rng);
    if (seed_once_in(rng, 3)) {
        struct vd_json *array = vd_json_array(a);
        while (n--)
            vd_json_append(array, random_value(a, rng, depth - 1));
        return array;
    }
    struct vd_json *object = vd_json_object(a);
    while (n--)
        vd_json_set(a, object, random_key(rng), random_value(a, rng, depth - 1));
    return object;
}

/* ---- the model of a merge patch: RFC 7386, section 2 ---- */

static struct vd_json *model_merge(struct vd_arena *a, const struct vd_json *target,
                                   const struct vd_json *patch)
{
    if (!vd_json_is(patch, VD_JSON_OBJECT))
        return vd_json_copy(a, patch);
    struct vd_json *result = vd_json_object(a);
    if (vd_json_is(target, VD_JSON_OBJECT))
        VD_JSON_EACH (member, target)
            if (!vd_json_get(patch, vd_json_key(member)))
                vd_json_add(a, result, vd_json_key(member), vd_json_copy(a, member));
    VD_JSON_EACH (member, patch) {
        const struct vd_json *before = vd_json_get(target, vd_json_key(member));
        if (!vd_json_is(member, VD_JSON_NULL))
            vd_json_add(a, result, vd_json_key(member), model_merge(a, before, member));
    }
    return result;
}

/* ---- the model of a patch: RFC 6902 ---- */

/* The first token of a pointer, decoded, and the rest. False: there is none. */
static bool model_token(struct vd_arena *a, struct vd_slice *pointer, struct vd_slice *token)
{
    struct vd_buf text = {0};
    if (!pointer->n)
        return false;
    assert_true(pointer->p[0] == '/');
    size_t i = 1;
    for (; i < pointer->n && pointer->p[i] != '/'; i++) {
        char c = pointer->p[i];
        if (c == '~' && i + 1 < pointer->n)
            c = pointer->p[++i] == '1' ? '/' : '~';
        vd_buf_add_char(&text, c);
    }
    *token = vd_arena_copy(a, vd_buf_slice(&text));
    *pointer = vd_slice_from(*pointer, i);
    vd_buf_release(&text);
    return true;
}

/* An index without leading zeros, below `end`. */
static bool model_index(struct vd_slice token, size_t end, size_t *index)
{
    uint64_t number;
    if (token.n == 0 || (token.n > 1 && token.p[0] == '0') ||
        vd_slice_to_u64(token, &number) != 0 || number >= end)
        return false;
    *index = (size_t)number;
    return true;
}

static const struct vd_json *model_find(struct vd_arena *a, const struct vd_json *v,
                                        struct vd_slice pointer)
{
    struct vd_slice token;
    size_t index;
    while (v && model_token(a, &pointer, &token)) {
        if (vd_json_is(v, VD_JSON_OBJECT))
            v = vd_json_get(v, token);
        else if (vd_json_is(v, VD_JSON_ARRAY) && model_index(token, vd_json_count(v), &index))
            v = vd_json_at(v, index);
        else
            v = NULL;
    }
    return v;
}

enum edit { ADD, REMOVE, REPLACE };

static struct vd_json *model_edit(struct vd_arena *a, const struct vd_json *v,
                                  struct vd_slice pointer, enum edit edit,
                                  const struct vd_json *value);

/* The array with the change at or below one element; NULL: it does not apply. */
static struct vd_json *model_edit_array(struct vd_arena *a, const struct vd_json *v,
                                        struct vd_slice token, struct vd_slice rest, enum edit edit,
                                        const struct vd_json *value)
{
    struct vd_json *result = vd_json_array(a);
    size_t n = vd_json_count(v), at, i = 0;
    bool inserts = !rest.n && edit == ADD;
    if (inserts && vd_slice_is(token, "-"))
        at = n;
    else if (!model_index(token, n + inserts, &at))
        return NULL;
    VD_JSON_EACH (item, v) {
        if (inserts && i == at)
            vd_json_append(result, vd_json_copy(a, value));
        struct vd_json *changed = i != at || inserts ? vd_json_copy(a, item)
                                  : !rest.n          ? NULL
                                                     : model_edit(a, item, rest, edit, value);
        if (!changed && rest.n)
            return NULL;
        if (!changed && edit == REPLACE)
            changed = vd_json_copy(a, value);
        if (changed)
            vd_json_append(result, changed);
        i++;
    }
    if (inserts && at == n)
        vd_json_append(result, vd_json_copy(a, value));
    return result;
}

static struct vd_json *model_edit_object(struct vd_arena *a, const struct vd_json *v,
                                         struct vd_slice token, struct vd_slice rest,
                                         enum edit edit, const struct vd_json *value)
{
    struct vd_json *result = vd_json_object(a);
    const struct vd_json *member = vd_json_get(v, token);
    if (!member && (rest.n || edit != ADD))
        return NULL;
    VD_JSON_EACH (other, v)
        if (other != member)
            vd_json_add(a, result, vd_json_key(other), vd_json_copy(a, other));
    struct vd_json *changed = rest.n ? model_edit(a, member, rest, edit, value)
                                     : (edit == REMOVE ? NULL : vd_json_copy(a, value));
    if (rest.n && !changed)
        return NULL;
    if (changed)
        vd_json_add(a, result, token, changed);
    return result;
}

static struct vd_json *model_edit(struct vd_arena *a, const struct vd_json *v,
                                  struct vd_slice pointer, enum edit edit,
                                  const struct vd_json *value)
{
    struct vd_slice token;
    if (!model_token(a, &pointer, &token))
        return edit == REMOVE ? NULL : vd_json_copy(a, value); /* the document stays one */
    if (vd_json_is(v, VD_JSON_ARRAY))
        return model_edit_array(a, v, token, pointer, edit, value);
    if (vd_json_is(v, VD_JSON_OBJECT))
        return model_edit_object(a, v, token, pointer, edit, value);
    return NULL;
}

static struct vd_json *model_move(struct vd_arena *a, struct vd_json *doc, struct vd_slice from,
                                  struct vd_slice path)
{
    const struct vd_json *value = model_find(a, doc, from);
    bool inside = vd_slice_starts_with(path, from) && path.n > from.n && path.p[from.n] == '/';
    if (!value || inside)
        return NULL;
    if (vd_slice_eq(from, path))
        return doc;
    /* The whole document is moved nowhere else; what is moved there replaces it. */
    struct vd_json *without = model_edit(a, doc, from, REMOVE, NULL);
    return without ? model_edit(a, without, path, ADD, value) : NULL;
}

/* The document after one operation; NULL: it does not apply. */
static struct vd_json *model_step(struct vd_arena *a, struct vd_json *doc,
                                  const struct vd_json *operation)
{
    struct vd_slice op = vd_json_text(vd_json_get(operation, VD_SLICE("op")));
    struct vd_slice path = vd_json_text(vd_json_get(operation, VD_SLICE("path")));
    struct vd_slice from = vd_json_text(vd_json_get(operation, VD_SLICE("from")));
    const struct vd_json *value = vd_json_get(operation, VD_SLICE("value"));
    if (vd_slice_is(op, "add"))
        return model_edit(a, doc, path, ADD, value);
    if (vd_slice_is(op, "remove"))
        return model_edit(a, doc, path, REMOVE, NULL);
    if (vd_slice_is(op, "replace"))
        return model_edit(a, doc, path, REPLACE, value);
    if (vd_slice_is(op, "move"))
        return model_move(a, doc, from, path);
    if (vd_slice_is(op, "copy")) {
        const struct vd_json *found = model_find(a, doc, from);
        return found ? model_edit(a, doc, path, ADD, found) : NULL;
    }
    const struct vd_json *found = model_find(a, doc, path);
    return found && vd_json_eq(found, value) ? doc : NULL;
}

static struct vd_json *model_patch(struct vd_arena *a, const struct vd_json *doc,
                                   const struct vd_json *patch)
{
    struct vd_json *result = vd_json_copy(a, doc);
    VD_JSON_EACH (operation, patch) {
        if (result)
            result = model_step(a, result, operation);
    }
    return result;
}

/* ---- random patches ---- */

static void add_token(struct vd_buf *out, struct vd_slice token)
{
    vd_buf_add_char(out, '/');
    for (size_t i = 0; i < token.n; i++) {
        if (token.p[i] == '/')
            vd_buf_add_text(out, "~1");
        else if (token.p[i] == '~')
            vd_buf_add_text(out, "~0");
        else
            vd_buf_add_char(out, token.p[i]);
    }
}

static const struct vd_json *add_step(struct vd_buf *out, const struct vd_json *v,
                                      struct seed_rng *rng)
{
    size_t n = vd_json_count(v);
    const struct vd_json *child = n ? vd_json_at(v, (size_t)seed_below(rng, n)) : NULL;
    if (seed_once_in(rng, 5)) { /* anywhere */
        static const char *const odd[] = {"01", "9", "-1", "+0", "1e0", "a"};
        add_token(out, seed_once_in(rng, 2)
                           ? random_key(rng)
                           : vd_slice_of(odd[seed_below(rng, sizeof odd / sizeof *odd)]));
        return NULL;
    }
    if (vd_json_is(v, VD_JSON_OBJECT) && child) {
        add_token(out, vd_json_key(child));
    } else if (vd_json_is(v, VD_JSON_ARRAY)) {
        size_t index = (size_t)seed_below(rng, n + 1);
        vd_buf_addf(out, "/%zu", index);
        child = vd_json_at(v, index);
    } else {
        add_token(out, random_key(rng));
    }
    return child;
}

/* Mostly a place in the document. */
static struct vd_json *random_pointer(struct vd_arena *a, const struct vd_json *doc,
                                      struct seed_rng *rng)
{
    struct vd_buf text = {0};
    const struct vd_json *v = doc;
    while (v && (v == doc ? !seed_once_in(rng, 30) : !seed_once_in(rng, 3)))
        v = add_step(&text, v, rng);
    struct vd_json *pointer = vd_json_string(a, vd_buf_slice(&text));
    vd_buf_release(&text);
    return pointer;
}

static struct vd_json *random_operation(struct vd_arena *a, const struct vd_json *doc,
                                        struct seed_rng *rng)
{
    static const char *const names[] = {"add", "remove", "replace", "move", "copy", "test"};
    struct vd_json *operation = vd_json_object(a);
    const char *name = names[seed_below(rng, 6)];
    struct vd_json *path = random_pointer(a, doc, rng);
    const struct vd_json *found = model_find(a, doc, vd_json_text(path));
    bool right = *name == 't' && found && !seed_once_in(rng, 4); /* a test that holds */
    vd_json_add(a, operation, VD_SLICE("op"), vd_json_string(a, vd_slice_of(name)));
    vd_json_add(a, operation, VD_SLICE("path"), path);
    vd_json_add(a, operation, VD_SLICE("from"), random_pointer(a, doc, rng));
    vd_json_add(a, operation, VD_SLICE("value"),
                right ? vd_json_copy(a, found) : random_value(a, rng, 2));
    return operation;
}

static struct vd_json *random_patch(struct vd_arena *a, const struct vd_json *doc,
                                    struct seed_rng *rng)
{
    struct vd_json *patch = vd_json_array(a);
    for (uint64_t n = seed_below(rng, OPERATIONS + 1); n; n--) {
        struct vd_json *operation = random_operation(a, doc, rng);
        vd_json_append(patch, operation);
        struct vd_json *next = model_step(a, vd_json_copy(a, doc), operation);
        if (next)
            doc = next;
    }
    return patch;
}

/* ---- the comparison ---- */

static void fail_with(const char *what, uint64_t seed, const struct vd_json *doc,
                      const struct vd_json *patch, const struct vd_json *got,
                      const struct vd_json *want)
{
    const struct vd_json *all[] = {doc, patch, got, want};
    struct vd_buf texts[4] = {{0}};
    for (size_t i = 0; i < 4; i++) {
        if (all[i])
            vd_json_write(&texts[i], all[i]);
        else
            vd_buf_add_text(&texts[i], "a failure");
    }
    fail_msg("%s, VEDETTE_SEED=%llu: %s\npatch %s\ngot   %s\nwant  %s", what,
             (unsigned long long)seed, vd_buf_text(&texts[0]), vd_buf_text(&texts[1]),
             vd_buf_text(&texts[2]), vd_buf_text(&texts[3]));
}

static void merge_patches_do_what_the_rfc_says(void **state)
{
    struct vd_arena *a = *state;
    uint64_t seed = seed_of_run();
    struct seed_rng rng = {seed};
    for (size_t i = 0; i < ROUNDS; i++) {
        vd_arena_reset(a);
        struct vd_json *doc = random_value(a, &rng, DEPTH);
        struct vd_json *patch = random_value(a, &rng, DEPTH);
        struct vd_json *want = model_merge(a, doc, patch), *got = vd_json_copy(a, doc);
        struct vd_json *patch_before = vd_json_copy(a, patch);
        vd_json_merge_patch(a, got, patch);
        if (!vd_json_eq(got, want) || !vd_json_eq(patch, patch_before))
            fail_with("merge patch", seed, doc, patch_before, got, want);
    }
}

static void patches_do_what_the_rfc_says(void **state)
{
    struct vd_arena *a = *state;
    uint64_t seed = seed_of_run();
    struct seed_rng rng = {seed};
    size_t applied = 0, refused = 0;
    for (size_t i = 0; i < ROUNDS; i++) {
        struct vd_error error;
        vd_arena_reset(a);
        struct vd_json *doc = random_value(a, &rng, DEPTH);
        struct vd_json *patch = random_patch(a, doc, &rng);
        struct vd_json *want = model_patch(a, doc, patch), *got = vd_json_copy(a, doc);
        struct vd_json *patch_before = vd_json_copy(a, patch);
        int code = vd_json_patch(a, got, patch, &error);
        if ((code == VD_OK) != (want != NULL))
            fail_with("patch", seed, doc, patch, code ? NULL : got, want);
        if (!vd_json_eq(got, want ? want : doc) || !vd_json_eq(patch, patch_before))
            fail_with("patch", seed, doc, patch, got, want);
        applied += code == VD_OK;
        refused += code != VD_OK;
    }
    assert_true(applied > ROUNDS / 5 && refused > ROUNDS / 5); /* both are tried */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        arena_test(merge_patches_do_what_the_rfc_says),
        arena_test(patches_do_what_the_rfc_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
