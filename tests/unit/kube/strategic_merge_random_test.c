/*
 * src/kube/patch/strategic_merge.c against a model, on random documents and patches.
 *
 * The model follows the description of the format step by step: it changes its
 * copy of the live map in place, searches lists from end to end, sorts by
 * comparing places, and throws the document away when a step fails. It shares
 * nothing with the real one but the rules: the first letter of a field's name
 * says what it is.
 *
 *   l  a list of maps, merged by "k"      a  a map that is replaced
 *   s  a list of strings, merged          m  a map
 *   r  a list that is replaced            x  a scalar
 */
#include <stdio.h>

#include "json_check.h"
#include "merge_letters.h"
#include "seed.h"
#include "json/compare.h"

enum { ROUNDS = 20000, DEPTH = 3, ITEMS = 5 };

/* --- the model --- */

struct model {
    struct vd_arena *a;
    bool failed;
};

static struct vd_json *model_map(struct model *m, struct vd_json *live, struct vd_json *patch);

static struct vd_json *refuse(struct model *m, struct vd_json *v)
{
    m->failed = true;
    return v;
}

static void discard_nulls(struct vd_json *v)
{
    struct vd_json *before = NULL;
    for (struct vd_json *i = vd_json_first(v), *next; i; i = next) {
        next = vd_json_next(i);
        if (vd_json_is(v, VD_JSON_OBJECT) && vd_json_is(i, VD_JSON_NULL)) {
            vd_json_remove_after(v, before);
            continue;
        }
        discard_nulls(i);
        before = i;
    }
}

/* False if the value itself is a directive. */
static bool remove_directives(struct vd_json *v)
{
    if (vd_json_get(v, VD_SLICE("$patch")))
        return false;
    struct vd_json *before = NULL;
    for (struct vd_json *i = vd_json_first(v), *next; i; i = next) {
        next = vd_json_next(i);
        bool named = vd_json_is(v, VD_JSON_OBJECT) && vd_json_key(i).n &&
                     vd_json_key(i).p[0] == '$';
        if (named || !remove_directives(i))
            vd_json_remove_after(v, before);
        else
            before = i;
    }
    return true;
}

static struct vd_json *cleaned(struct model *m, const struct vd_json *v)
{
    struct vd_json *copy = vd_json_copy(m->a, v);
    discard_nulls(copy);
    return remove_directives(copy) ? copy : NULL;
}

static const struct vd_json *key_of(const struct vd_json *item, const char *key)
{
    return *key ? vd_json_get(item, vd_slice_of(key)) : item;
}

static bool has_key(const struct vd_json *item, const char *key)
{
    const struct vd_json *v = key_of(item, key);
    return vd_json_is(v, VD_JSON_STRING) || vd_json_is(v, VD_JSON_NUMBER) ||
           vd_json_is(v, VD_JSON_BOOL);
}

static long place_in(const struct vd_json *list, const struct vd_json *item, const char *key)
{
    long place = 0;
    VD_JSON_EACH (other, list) {
        if (vd_json_eq(key_of(other, key), key_of(item, key)))
            return place;
        place++;
    }
    return -1;
}

/* Sorts by the places in `order`: insertion, so equal ones stay. */
static struct vd_json *sorted_by(struct model *m, const struct vd_json *list,
                                 const struct vd_json *order, const char *key)
{
    struct vd_json *out = vd_json_array(m->a);
    VD_JSON_EACH (item, list) {
        size_t at = vd_json_count(out);
        while (at && place_in(order, vd_json_at(out, at - 1), key) > place_in(order, item, key))
            at--;
        vd_json_insert(out, at, vd_json_copy(m->a, item));
    }
    return out;
}

static struct vd_json *normalized(struct model *m, const struct vd_json *merged,
                                  const struct vd_json *by, const struct vd_json *live,
                                  const char *key)
{
    struct vd_json *mine = vd_json_array(m->a), *theirs = vd_json_array(m->a);
    VD_JSON_EACH (item, merged)
        vd_json_append(place_in(by, item, key) >= 0 ? mine : theirs, vd_json_copy(m->a, item));
    mine = sorted_by(m, mine, by, key);
    struct vd_json *out = vd_json_array(m->a);
    while (vd_json_count(mine) || vd_json_count(theirs)) {
        bool left = !vd_json_count(mine);
        if (vd_json_count(mine) && vd_json_count(theirs)) {
            long l = place_in(live, vd_json_first(theirs), key);
            long r = place_in(live, vd_json_first(mine), key);
            left = l >= 0 && r >= 0 && l < r;
        }
        vd_json_append(out, vd_json_remove_at(left ? theirs : mine, 0));
    }
    return out;
}

/* 's' scalars of one type, 'm' maps, 0 empty, '!' neither */
static char elements(const struct vd_json *a, const struct vd_json *b)
{
    char kind = 0;
    const char *type = NULL;
    const struct vd_json *lists[] = {a, b};
    for (int i = 0; i < 2; i++)
        VD_JSON_EACH (item, lists[i]) {
            if (type && strcmp(type, vd_json_type_name(item)) != 0)
                return '!';
            type = vd_json_type_name(item);
            if (vd_json_is(item, VD_JSON_ARRAY) || vd_json_is(item, VD_JSON_NULL))
                return '!';
            kind = vd_json_is(item, VD_JSON_OBJECT) ? 'm' : 's';
        }
    return kind;
}

static struct vd_json *unique(struct model *m, const struct vd_json *a, const struct vd_json *b)
{
    struct vd_json *out = vd_json_array(m->a);
    const struct vd_json *lists[] = {a, b};
    for (int i = 0; i < 2; i++)
        VD_JSON_EACH (item, lists[i])
            if (place_in(out, item, "") < 0)
                vd_json_append(out, vd_json_copy(m->a, item));
    return out;
}

static struct vd_json *model_maps(struct model *m, struct vd_json *live, struct vd_json *patch)
{
    struct vd_json *plain = vd_json_array(m->a);
    bool replace = false;
    VD_JSON_EACH (item, patch) {
        const struct vd_json *directive = vd_json_get(item, VD_SLICE("$patch"));
        if (directive && vd_slice_is(vd_json_text(directive), "replace")) {
            replace = true;
            continue;
        }
        if ((directive && !vd_slice_is(vd_json_text(directive), "delete")) || !has_key(item, "k"))
            return refuse(m, live);
        if (!directive)
            vd_json_append(plain, vd_json_copy(m->a, item));
        for (long at; directive && (at = place_in(live, item, "k")) >= 0;)
            vd_json_remove_at(live, (size_t)at);
    }
    if (replace)
        return cleaned(m, plain);
    VD_JSON_EACH (item, live)
        if (!has_key(item, "k"))
            return refuse(m, live);
    struct vd_json *merged = vd_json_copy(m->a, live);
    VD_JSON_EACH (item, plain) {
        long at = place_in(merged, item, "k");
        if (at < 0) {
            vd_json_append(merged, cleaned(m, item));
            continue;
        }
        struct vd_json *old = vd_json_remove_at(merged, (size_t)at);
        vd_json_insert(merged, (size_t)at, model_map(m, old, vd_json_copy(m->a, item)));
    }
    return m->failed ? live : normalized(m, merged, plain, live, "k");
}

static struct vd_json *model_list(struct model *m, struct vd_json *live, struct vd_json *patch,
                                  char letter)
{
    if (letter != 'l' && letter != 's')
        return cleaned(m, patch);
    char kind = elements(live, patch);
    if (kind == '!' || (kind == 'm' && letter == 's') || (kind == 's' && letter == 'l'))
        return refuse(m, live);
    if (!kind)
        return live;
    return kind == 'm' ? model_maps(m, live, patch)
                       : normalized(m, unique(m, live, patch), patch, live, "");
}

static bool order_holds(const struct vd_json *patch, const struct vd_json *order, const char *key)
{
    size_t at = 0;
    if (!vd_json_count(order) || !vd_json_count(patch))
        return true;
    VD_JSON_EACH (item, order)
        if (!has_key(item, key))
            return false;
    VD_JSON_EACH (item, patch) {
        if (*key && !vd_json_is(item, VD_JSON_OBJECT))
            return false;
        if (vd_json_get(item, VD_SLICE("$patch")))
            continue;
        while (at < vd_json_count(order) &&
               !vd_json_eq(key_of(vd_json_at(order, at), key), key_of(item, key)))
            at++;
        if (at++ >= vd_json_count(order))
            return false;
    }
    return true;
}

static void model_order(struct model *m, struct vd_json *live, struct vd_json *patch,
                        struct vd_slice field, const struct vd_json *order)
{
    struct vd_json *old = vd_json_get(live, field), *added = vd_json_get(patch, field), *merged;
    const char *key = field.p[0] == 'l' ? "k" : "";
    const struct vd_json *lists[] = {order, old, added};
    for (int i = 0; i < 3; i++)
        if (lists[i] && !vd_json_is(lists[i], VD_JSON_ARRAY))
            m->failed = true;
    if (m->failed || (!old && !added))
        return;
    if (added && !order_holds(added, order, key)) {
        m->failed = true;
        return;
    }
    struct vd_json *before = old ? vd_json_copy(m->a, old) : NULL;
    if (old && added)
        merged = model_list(m, vd_json_copy(m->a, old), added, field.p[0]);
    else
        merged = old ? vd_json_copy(m->a, old) : cleaned(m, added);
    const struct vd_json *checked[] = {merged, order, before};
    for (int i = 0; i < 3; i++)
        VD_JSON_EACH (item, checked[i])
            if (!has_key(item, key))
                m->failed = true;
    if (m->failed)
        return;
    vd_json_set(m->a, live, field, normalized(m, merged, order, before, key));
    vd_json_remove(patch, field);
}

static bool retain(struct vd_json *live, const struct vd_json *patch)
{
    const struct vd_json *keys = vd_json_get(patch, VD_SLICE("$retainKeys"));
    if (!keys)
        return true;
    if (!vd_json_is(keys, VD_JSON_ARRAY))
        return false;
    VD_JSON_EACH (key, keys)
        if (!vd_json_is(key, VD_JSON_STRING))
            return false;
    VD_JSON_EACH (member, patch) {
        bool listed = vd_json_is(member, VD_JSON_NULL) || vd_json_key(member).p[0] == '$';
        VD_JSON_EACH (key, keys)
            listed |= vd_slice_eq(vd_json_text(key), vd_json_key(member));
        if (!listed)
            return false;
    }
    struct vd_json *before = NULL;
    for (struct vd_json *member = vd_json_first(live), *next; member; member = next) {
        next = vd_json_next(member);
        bool listed = false;
        VD_JSON_EACH (key, keys)
            listed |= vd_slice_eq(vd_json_text(key), vd_json_key(member));
        if (listed)
            before = member;
        else
            vd_json_remove_after(live, before);
    }
    return true;
}

static void model_member(struct model *m, struct vd_json *live, struct vd_json *change)
{
    struct vd_slice key = vd_json_key(change);
    struct vd_json *old = vd_json_remove(live, key), *value;
    if (vd_json_is(change, VD_JSON_NULL))
        return;
    if (vd_json_is(old, VD_JSON_OBJECT) && vd_json_is(change, VD_JSON_OBJECT) && key.p[0] != 'a')
        value = model_map(m, old, vd_json_copy(m->a, change));
    else if (vd_json_is(old, VD_JSON_ARRAY) && vd_json_is(change, VD_JSON_ARRAY))
        value = model_list(m, old, vd_json_copy(m->a, change), key.p[0]);
    else
        value = cleaned(m, change);
    if (value)
        vd_json_add(m->a, live, key, vd_json_copy(m->a, value));
}

static void model_removal(struct model *m, struct vd_json *live, struct vd_slice field,
                          const struct vd_json *removed)
{
    struct vd_json *list = vd_json_get(live, field);
    if (!vd_json_is(removed, VD_JSON_ARRAY)) {
        m->failed = true;
        return;
    }
    if (!vd_json_is(list, VD_JSON_ARRAY))
        return;
    char kind = elements(list, removed);
    if (kind == '!' || kind == 'm')
        m->failed = true;
    VD_JSON_EACH (item, removed)
        for (long at; !m->failed && (at = place_in(list, item, "")) >= 0;)
            vd_json_remove_at(list, (size_t)at);
}

static struct vd_json *model_map(struct model *m, struct vd_json *live, struct vd_json *patch)
{
    static const struct vd_slice order = {"$setElementOrder/", 17};
    static const struct vd_slice removal = {"$deleteFromPrimitiveList/", 25};
    struct vd_json *directive = vd_json_remove(patch, VD_SLICE("$patch"));
    if (directive && vd_slice_is(vd_json_text(directive), "replace"))
        return cleaned(m, patch);
    if (directive && vd_slice_is(vd_json_text(directive), "delete"))
        return vd_json_object(m->a);
    if (directive || !retain(live, patch))
        return refuse(m, live);
    struct vd_json *all = vd_json_copy(m->a, patch);
    VD_JSON_EACH (change, all)
        if (vd_slice_starts_with(vd_json_key(change), order))
            model_order(m, live, patch, vd_slice_from(vd_json_key(change), order.n), change);
    VD_JSON_EACH (change, patch)
        if (vd_json_key(change).p[0] != '$')
            model_member(m, live, change);
    VD_JSON_EACH (change, patch)
        if (vd_slice_starts_with(vd_json_key(change), removal))
            model_removal(m, live, vd_slice_from(vd_json_key(change), removal.n), change);
    return live;
}

/* --- random documents --- */

struct maker {
    struct vd_arena *a;
    struct seed_rng r;
    bool patch;
};

static struct vd_json *make_map(struct maker *g, int depth);

static struct vd_json *make_text(struct maker *g)
{
    char text[2] = {(char)('a' + (unsigned)seed_below(&g->r, 6)), 0};
    return vd_json_string(g->a, vd_slice_of(text));
}

static struct vd_json *make_item(struct maker *g, char letter, int depth)
{
    if (seed_once_in(&g->r, 200))
        return vd_json_null(g->a);
    if (letter == 's' || (letter == 'r' && seed_once_in(&g->r, 2)))
        return seed_once_in(&g->r, 100) ? vd_json_i64(g->a, 1) : make_text(g);
    struct vd_json *map = make_map(g, depth);
    if (!seed_once_in(&g->r, 150))
        vd_json_set(g->a, map, VD_SLICE("k"), make_text(g));
    return map;
}

static struct vd_json *make_list(struct maker *g, char letter, int depth)
{
    struct vd_json *list = vd_json_array(g->a);
    for (unsigned n = (unsigned)seed_below(&g->r, ITEMS); n; n--)
        vd_json_append(list, make_item(g, letter, depth));
    return list;
}

static struct vd_json *make_value(struct maker *g, char letter, int depth)
{
    if (seed_once_in(&g->r, 30))
        letter = "lsramx"[(unsigned)seed_below(&g->r, 6)];
    if (g->patch && seed_once_in(&g->r, 12))
        return vd_json_null(g->a);
    if (letter == 'l' || letter == 's' || letter == 'r')
        return make_list(g, letter, depth - 1);
    if (letter == 'x')
        return vd_json_i64(g->a, (unsigned)seed_below(&g->r, 5));
    return make_map(g, depth - 1);
}

/* An order that the patch's list keeps to, with a few more items; or any. */
static struct vd_json *make_order(struct maker *g, const struct vd_json *list, char letter)
{
    struct vd_json *order = vd_json_array(g->a);
    if (seed_once_in(&g->r, 10))
        return make_list(g, letter, 0);
    VD_JSON_EACH (item, list) {
        if (vd_json_get(item, VD_SLICE("$patch")))
            continue;
        struct vd_json *entry = vd_json_copy(g->a, item);
        if (vd_json_get(item, VD_SLICE("k"))) {
            entry = vd_json_object(g->a);
            vd_json_add(g->a, entry, VD_SLICE("k"),
                        vd_json_copy(g->a, vd_json_get(item, VD_SLICE("k"))));
        }
        vd_json_append(order, entry);
    }
    for (unsigned n = (unsigned)seed_below(&g->r, 3); n; n--) {
        struct vd_json *entry = make_text(g);
        if (letter == 'l') {
            struct vd_json *map = vd_json_object(g->a);
            vd_json_add(g->a, map, VD_SLICE("k"), entry);
            entry = map;
        }
        vd_json_insert(order, (unsigned)seed_below(&g->r, (unsigned)vd_json_count(order) + 1),
                       entry);
    }
    return order;
}

static void add_directives(struct maker *g, struct vd_json *map, const char *field)
{
    char key[64];
    if (field[0] == 'l' || field[0] == 's') {
        if (seed_once_in(&g->r, 3)) {
            snprintf(key, sizeof key, "$setElementOrder/%s", field);
            vd_json_set(g->a, map, vd_slice_of(key),
                        make_order(g, vd_json_get(map, vd_slice_of(field)), field[0]));
        }
        if (field[0] == 's' && seed_once_in(&g->r, 3)) {
            snprintf(key, sizeof key, "$deleteFromPrimitiveList/%s", field);
            vd_json_set(g->a, map, vd_slice_of(key), make_list(g, 's', 0));
        }
    }
}

static void add_map_directives(struct maker *g, struct vd_json *map)
{
    static const char *const what[] = {"replace", "delete", "delete", "merge", "bogus"};
    if (seed_once_in(&g->r, 12))
        vd_json_set(
            g->a, map, VD_SLICE("$patch"),
            vd_json_string(
                g->a, vd_slice_of(what[seed_once_in(&g->r, 15) ? (unsigned)seed_below(&g->r, 5)
                                                               : (unsigned)seed_below(&g->r, 3)])));
    if (seed_once_in(&g->r, 12)) {
        struct vd_json *keys = vd_json_array(g->a);
        VD_JSON_EACH (member, map)
            if (!seed_once_in(&g->r, 20))
                vd_json_append(keys, vd_json_string(g->a, vd_json_key(member)));
        vd_json_append(keys, vd_json_string(g->a, VD_SLICE("s1")));
        vd_json_set(g->a, map, VD_SLICE("$retainKeys"), keys);
    }
}

static struct vd_json *make_map(struct maker *g, int depth)
{
    static const char *const fields[] = {"l1", "l2", "s1", "s2", "a1", "m1", "m2", "r1", "x1"};
    struct vd_json *map = vd_json_object(g->a);
    for (unsigned n = depth > 0 ? (unsigned)seed_below(&g->r, 6) : 0; n; n--) {
        const char *field = fields[(unsigned)seed_below(&g->r, 9)];
        if (!seed_once_in(&g->r, 8))
            vd_json_set(g->a, map, vd_slice_of(field), make_value(g, field[0], depth));
        if (g->patch)
            add_directives(g, map, field);
    }
    if (g->patch && depth < DEPTH)
        add_map_directives(g, map);
    return map;
}

static void disagree(uint64_t seed, const char *why, const struct vd_json *doc,
                     const struct vd_json *patch, const struct vd_json *got,
                     const struct vd_json *want)
{
    struct vd_buf text[4] = {0};
    const struct vd_json *values[] = {doc, patch, got, want};
    for (int i = 0; i < 4; i++)
        vd_json_write(&text[i], values[i]);
    fail_msg("VEDETTE_SEED=%llu: %s\n  doc   %s\n  patch %s\n  got   %s\n  model %s",
             (unsigned long long)seed, why, vd_buf_text(&text[0]), vd_buf_text(&text[1]),
             vd_buf_text(&text[2]), vd_buf_text(&text[3]));
}

static void it_agrees_with_the_model(void **state)
{
    (void)state;
    uint64_t seed = seed_of_run();
    struct seed_rng rounds = {seed};
    size_t failures = 0;
    for (int i = 0; i < ROUNDS; i++) {
        struct vd_arena arena = {0};
        struct maker maker = {&arena, {seed_next(&rounds)}, false};
        struct vd_json *before = make_map(&maker, DEPTH), *doc = vd_json_copy(&arena, before);
        maker.patch = true;
        struct vd_json *patch = make_map(&maker, DEPTH), *same = vd_json_copy(&arena, patch);
        struct model model = {&arena, false};
        struct vd_json *want = model_map(&model, vd_json_copy(&arena, before),
                                         vd_json_copy(&arena, patch));
        struct vd_error error = {0};
        int code = vd_strategic_merge(&arena, doc, patch, &letter_rules, "any", &error);
        failures += code != VD_OK;
        if ((code != VD_OK) != model.failed)
            disagree(seed, code ? error.text : "only the model fails", before, patch, doc, want);
        if (!vd_json_eq(doc, code ? before : want))
            disagree(seed, "the results differ", before, patch, doc, want);
        assert_true(vd_json_eq(patch, same));
        vd_arena_release(&arena);
    }
    /* Both outcomes have to be common, or the test says nothing. */
    assert_in_range(failures, ROUNDS / 50, ROUNDS / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_agrees_with_the_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
