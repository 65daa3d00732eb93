/* src/base/ordered_map.c: against a sorted array, and what the header promises of memory. */
#include "base/ordered_map.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "check.h"

struct item {
    size_t n;
    char key[64];
};

static struct vd_slice item_key(const void *p)
{
    const struct item *item = p;
    return vd_slice(item->key, item->n);
}

static uint64_t random_state;

static uint32_t random_below(uint32_t n)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random_state >> 33) % n);
}

/* ---- ways to make keys, each hard in its own way ---- */

static void key_numbered(struct item *item, uint32_t span)
{
    item->n = (size_t)snprintf(item->key, sizeof item->key, "default/wload-%u", random_below(span));
}

static void key_long_alike(struct item *item, uint32_t span)
{
    item->n = (size_t)snprintf(item->key, sizeof item->key, "%s/same-all-the-way-%07u-tail",
                               random_below(9) ? "deployments.apps" : "pods", random_below(span));
}

/* Few letters, with NULs and 0xff, any length: zero padding must not confuse. */
static void key_tricky(struct item *item, uint32_t span)
{
    (void)span;
    static const char letters[] = {0, 0, 0, 'a', '\xff'};
    item->n = random_below(12);
    for (size_t i = 0; i < item->n; i++)
        item->key[i] = letters[random_below(sizeof letters)];
}

typedef void (*key_maker)(struct item *item, uint32_t span);

/* ---- the model: a sorted array ---- */

enum { MODEL_MAX = 4096 };

struct model {
    struct item *items[MODEL_MAX];
    size_t n;
};

/* The index of the first item with a key not less than `key`. */
static size_t model_seek(const struct model *model, struct vd_slice key)
{
    size_t low = 0, high = model->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (vd_slice_cmp(item_key(model->items[middle]), key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The item with this key, if it is where model_seek says. */
static struct item *model_at(const struct model *model, size_t at, struct vd_slice key)
{
    bool here = at < model->n && vd_slice_eq(item_key(model->items[at]), key);
    return here ? model->items[at] : NULL;
}

static struct item *model_get(const struct model *model, struct vd_slice key)
{
    return model_at(model, model_seek(model, key), key);
}

static struct item *model_put(struct model *model, struct item *item)
{
    size_t at = model_seek(model, item_key(item));
    struct item *old = model_at(model, at, item_key(item));
    if (!old) {
        memmove(&model->items[at + 1], &model->items[at], (model->n - at) * sizeof item);
        model->n++;
    }
    model->items[at] = item;
    return old;
}

static struct item *model_remove(struct model *model, struct vd_slice key)
{
    size_t at = model_seek(model, key);
    struct item *old = model_at(model, at, key);
    if (old) {
        model->n--;
        memmove(&model->items[at], &model->items[at + 1], (model->n - at) * sizeof old);
    }
    return old;
}

static void assert_same_from(const struct vd_ordered_map *map, const struct model *model,
                             struct vd_slice key, size_t max)
{
    struct vd_ordered_map_cursor c = vd_ordered_map_seek(map, key);
    for (size_t at = model_seek(model, key); max--; at++, vd_ordered_map_next(&c)) {
        assert_ptr_equal(vd_ordered_map_item(&c), at < model->n ? model->items[at] : NULL);
        if (at >= model->n)
            break;
    }
}

/* One random step on both; the share of puts swings, so that both grow and shrink. */
static void model_step(struct vd_ordered_map *map, struct model *model, key_maker make,
                       uint32_t span, uint32_t puts_percent)
{
    struct item *item = VD_NEW(struct item);
    make(item, span);
    struct vd_slice key = item_key(item);
    assert_ptr_equal(vd_ordered_map_get(map, key), model_get(model, key));
    assert_same_from(map, model, key, 3);
    if (random_below(100) < puts_percent && model->n < MODEL_MAX) {
        struct item *old = model_put(model, item);
        assert_ptr_equal(vd_ordered_map_put(map, item), old);
        free(old);
    } else {
        struct item *old = model_remove(model, key);
        assert_ptr_equal(vd_ordered_map_remove(map, key), old);
        free(old);
        free(item);
    }
    assert_int_equal(vd_ordered_map_count(map), model->n);
}

static void model_run(uint64_t seed, key_maker make, uint32_t span)
{
    random_state = seed;
    struct vd_ordered_map map;
    vd_ordered_map_init(&map, item_key);
    struct model *model = VD_NEW(struct model);
    static const uint32_t puts_percent[] = {90, 50, 10, 60, 95, 2};
    for (size_t phase = 0; phase < sizeof puts_percent / sizeof *puts_percent; phase++)
        for (size_t i = 0; i < 4000; i++) {
            model_step(&map, model, make, span, puts_percent[phase]);
            if (i % 64 == 0)
                vd_ordered_map_check(&map);
        }
    assert_same_from(&map, model, vd_slice("", 0), SIZE_MAX);
    while (model->n) {
        struct item *item = model->items[random_below((uint32_t)model->n)];
        model_remove(model, item_key(item));
        assert_ptr_equal(vd_ordered_map_remove(&map, item_key(item)), item);
        free(item);
        if (model->n % 16 == 0)
            vd_ordered_map_check(&map);
    }
    assert_null(map.root);
    assert_int_equal(map.bytes, 0);
    vd_ordered_map_release(&map);
    free(model);
}

static void behaves_like_a_sorted_array(void **state)
{
    (void)state;
    static const struct {
        key_maker make;
        uint32_t span;
    } cases[] = {
        {key_numbered, 3000}, {key_numbered, 100},    {key_long_alike, 4000},
        {key_tricky, 0},      {key_long_alike, 9999},
    };
    uint64_t seed;
    vd_random_bytes(&seed, sizeof seed);
    const char *given = getenv("VEDETTE_SEED");
    if (given)
        seed = strtoull(given, NULL, 10);
    print_message("# seed %llu (VEDETTE_SEED repeats it)\n", (unsigned long long)seed);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        model_run(seed + i, cases[i].make, cases[i].span);
}

/* ---- memory and fill ---- */

enum { MANY = 100000 };

/* MANY items in ascending order of their keys. */
static struct item *many_items(void)
{
    struct item *items = vd_calloc(MANY, sizeof *items);
    for (uint32_t i = 0; i < MANY; i++)
        items[i].n = (size_t)snprintf(items[i].key, sizeof items[i].key, "default/wload-%06u", i);
    return items;
}

static void shuffle(uint32_t *order, uint32_t n)
{
    random_state = 42;
    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    for (uint32_t i = n - 1; i > 0; i--) {
        uint32_t j = random_below(i + 1), swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
}

static void ascending_inserts_fill_the_leaves(void **state)
{
    (void)state;
    struct item *items = many_items();
    struct vd_ordered_map map;
    vd_ordered_map_init(&map, item_key);
    for (size_t i = 0; i < MANY; i++)
        assert_null(vd_ordered_map_put(&map, &items[i]));
    vd_ordered_map_check(&map);
    /* A full entry is 12 bytes; 13.4 is 90 % of that with the inner nodes. */
    assert_true(map.bytes * 10 <= (size_t)134 * MANY);
    vd_ordered_map_release(&map);
    assert_int_equal(map.bytes, 0);
    free(items);
}

/* Twenty namespaces, each with names in ascending order, in turn. */
static void ascending_runs_inside_the_map_leave_no_half_full_leaves(void **state)
{
    (void)state;
    struct item *items = vd_calloc(MANY, sizeof *items);
    struct vd_ordered_map map;
    vd_ordered_map_init(&map, item_key);
    for (unsigned i = 0; i < MANY; i++) {
        items[i].n = (size_t)snprintf(items[i].key, sizeof items[i].key,
                                      "namespace-%02u/wload-%05u", i % 20, i / 20);
        assert_null(vd_ordered_map_put(&map, &items[i]));
    }
    vd_ordered_map_check(&map);
    assert_true(map.bytes <= (size_t)18 * MANY); /* half-full leaves would need 25 bytes */
    vd_ordered_map_release(&map);
    free(items);
}

static void memory_follows_the_count_under_random_inserts_and_removes(void **state)
{
    (void)state;
    struct item *items = many_items();
    uint32_t *order = vd_calloc(MANY, sizeof *order);
    shuffle(order, MANY);
    struct vd_ordered_map map;
    vd_ordered_map_init(&map, item_key);
    for (size_t i = 0; i < MANY; i++)
        vd_ordered_map_put(&map, &items[order[i]]);
    vd_ordered_map_check(&map);
    assert_true(map.bytes <= (size_t)24 * MANY);
    for (size_t i = 0; i < MANY * 9 / 10; i++)
        assert_non_null(vd_ordered_map_remove(&map, item_key(&items[order[i]])));
    vd_ordered_map_check(&map);
    assert_true(map.bytes <= (size_t)40 * MANY / 10);
    vd_ordered_map_release(&map);
    free(order);
    free(items);
}

static void descending_and_sliding_use_stays_sound(void **state)
{
    (void)state;
    struct item *items = many_items();
    struct vd_ordered_map map;
    vd_ordered_map_init(&map, item_key);
    for (size_t i = 3000; i-- > 0;)
        vd_ordered_map_put(&map, &items[i]);
    vd_ordered_map_check(&map);
    for (size_t i = 3000; i < 20000; i++) { /* a queue: in at the end, out at the front */
        vd_ordered_map_put(&map, &items[i]);
        struct vd_ordered_map_cursor c = vd_ordered_map_seek(&map, vd_slice("", 0));
        struct item *first = vd_ordered_map_item(&c);
        assert_ptr_equal(first, &items[i - 3000]);
        assert_ptr_equal(vd_ordered_map_remove(&map, item_key(first)), first);
        if (i % 100 == 0)
            vd_ordered_map_check(&map);
    }
    assert_true(map.bytes <= (size_t)24 * 3000);
    vd_ordered_map_release(&map);
    free(items);
}

/* ---- the rest of the contract ---- */

static void an_empty_map_has_nothing(void **state)
{
    (void)state;
    struct vd_ordered_map map;
    vd_ordered_map_init(&map, item_key);
    struct vd_ordered_map_cursor c = vd_ordered_map_seek(&map, VD_SLICE("a"));
    assert_null(vd_ordered_map_item(&c));
    vd_ordered_map_next(&c);
    assert_null(vd_ordered_map_item(&c));
    assert_null(vd_ordered_map_get(&map, VD_SLICE("")));
    assert_null(vd_ordered_map_remove(&map, VD_SLICE("")));
    vd_ordered_map_check(&map);
    vd_ordered_map_release(&map);
}

static void a_replaced_item_is_not_looked_at_again(void **state)
{
    (void)state;
    struct vd_ordered_map map;
    vd_ordered_map_init(&map, item_key);
    for (int round = 0; round < 2; round++)
        for (unsigned i = 0; i < 5000; i++) {
            struct item *item = VD_NEW(struct item);
            item->n = (size_t)snprintf(item->key, sizeof item->key, "k%04u", i);
            free(vd_ordered_map_put(&map, item)); /* separators pointed at some of these */
        }
    vd_ordered_map_check(&map);
    assert_int_equal(vd_ordered_map_count(&map), 5000);
    struct vd_ordered_map_cursor c = vd_ordered_map_seek(&map, VD_SLICE(""));
    for (; vd_ordered_map_item(&c); vd_ordered_map_next(&c))
        free(vd_ordered_map_item(&c));
    vd_ordered_map_release(&map);
}

static void *read_all(void *argument)
{
    const struct vd_ordered_map *map = argument;
    uintptr_t seen = 0;
    for (int round = 0; round < 3; round++) {
        struct vd_ordered_map_cursor c = vd_ordered_map_seek(map, VD_SLICE(""));
        for (struct item *item; (item = vd_ordered_map_item(&c)); vd_ordered_map_next(&c))
            seen += vd_ordered_map_get(map, item_key(item)) == item;
    }
    return (void *)seen;
}

static void many_threads_may_read_at_once(void **state)
{
    (void)state;
    enum { ITEMS = 5000 };
    struct item *items = many_items();
    struct vd_ordered_map map;
    vd_ordered_map_init(&map, item_key);
    for (size_t i = 0; i < ITEMS; i++)
        vd_ordered_map_put(&map, &items[i]);
    pthread_t threads[4];
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_all, &map), 0);
    for (size_t i = 0; i < 4; i++) {
        void *seen;
        pthread_join(threads[i], &seen);
        assert_int_equal((uintptr_t)seen, 3 * ITEMS);
    }
    vd_ordered_map_release(&map);
    free(items);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(behaves_like_a_sorted_array),
        cmocka_unit_test(ascending_inserts_fill_the_leaves),
        cmocka_unit_test(ascending_runs_inside_the_map_leave_no_half_full_leaves),
        cmocka_unit_test(memory_follows_the_count_under_random_inserts_and_removes),
        cmocka_unit_test(descending_and_sliding_use_stays_sound),
        cmocka_unit_test(an_empty_map_has_nothing),
        cmocka_unit_test(a_replaced_item_is_not_looked_at_again),
        cmocka_unit_test(many_threads_may_read_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
