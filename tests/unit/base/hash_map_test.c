/* src/base/hash_map.c: against a plain table of flags, with runs, gaps and shrinking. */
#include "base/hash_map.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "check.h"

enum { ITEMS = 5000 };

struct item {
    char key[24];
    bool present; /* the model */
    unsigned seen;
};

static struct vd_slice item_key(const void *p)
{
    return vd_slice_of(((const struct item *)p)->key);
}

static struct item *items_new(void)
{
    struct item *items = vd_calloc(ITEMS, sizeof *items);
    for (unsigned i = 0; i < ITEMS; i++)
        snprintf(items[i].key, sizeof items[i].key, "default/wload-%u", i);
    return items;
}

static void assert_holds_just_those_present(const struct vd_hash_map *map, struct item *items)
{
    size_t at = 0, count = 0;
    for (size_t i = 0; i < ITEMS; i++)
        items[i].seen = 0;
    for (struct item *item; (item = vd_hash_map_next(map, &at)); count++)
        assert_int_equal(item->seen++, 0);
    assert_int_equal(count, vd_hash_map_count(map));
    for (size_t i = 0; i < ITEMS; i++) {
        assert_int_equal(items[i].seen, items[i].present);
        assert_ptr_equal(vd_hash_map_get(map, item_key(&items[i])),
                         items[i].present ? &items[i] : NULL);
    }
}

static void behaves_like_a_table_of_flags(void **state)
{
    (void)state;
    uint64_t seed;
    vd_random_bytes(&seed, sizeof seed);
    const char *given = getenv("VEDETTE_SEED");
    if (given)
        seed = strtoull(given, NULL, 10);
    print_message("# seed %llu (VEDETTE_SEED repeats it)\n", (unsigned long long)seed);
    struct item *items = items_new();
    struct vd_hash_map map;
    vd_hash_map_init(&map, item_key);
    static const unsigned puts_percent[] = {90, 50, 20, 70, 5};
    for (size_t step = 0; step < 100000; step++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        struct item *item = &items[(seed >> 33) % ITEMS];
        if ((seed >> 20) % 100 < puts_percent[step / 20000]) {
            assert_ptr_equal(vd_hash_map_put(&map, item), item->present ? item : NULL);
            item->present = true;
        } else {
            assert_ptr_equal(vd_hash_map_remove(&map, item_key(item)), item->present ? item : NULL);
            item->present = false;
        }
        if (step % 5000 == 0)
            assert_holds_just_those_present(&map, items);
    }
    assert_holds_just_those_present(&map, items);
    vd_hash_map_release(&map);
    free(items);
}

static void an_empty_map_has_nothing(void **state)
{
    (void)state;
    struct vd_hash_map map;
    vd_hash_map_init(&map, item_key);
    size_t at = 0;
    assert_null(vd_hash_map_get(&map, VD_SLICE("a")));
    assert_null(vd_hash_map_remove(&map, VD_SLICE("a")));
    assert_null(vd_hash_map_next(&map, &at));
    vd_hash_map_release(&map);
}

static void put_replaces_the_item_with_an_equal_key(void **state)
{
    (void)state;
    struct item first = {.key = "a"}, second = {.key = "a"};
    struct vd_hash_map map;
    vd_hash_map_init(&map, item_key);
    assert_null(vd_hash_map_put(&map, &first));
    assert_ptr_equal(vd_hash_map_put(&map, &second), &first);
    assert_ptr_equal(vd_hash_map_get(&map, VD_SLICE("a")), &second);
    assert_int_equal(vd_hash_map_count(&map), 1);
    vd_hash_map_release(&map);
}

static void the_table_shrinks_with_the_count_and_does_not_grow_by_churn(void **state)
{
    (void)state;
    struct item *items = items_new();
    struct vd_hash_map map;
    vd_hash_map_init(&map, item_key);
    for (size_t i = 0; i < ITEMS; i++)
        vd_hash_map_put(&map, &items[i]);
    for (size_t i = 10; i < ITEMS; i++)
        vd_hash_map_remove(&map, item_key(&items[i]));
    size_t slots = map.slots;
    assert_true(slots <= 128);
    for (size_t i = 10; i < ITEMS; i++) {
        vd_hash_map_put(&map, &items[i]);
        vd_hash_map_remove(&map, item_key(&items[i]));
    }
    assert_true(map.slots <= slots);
    vd_hash_map_release(&map);
    free(items);
}

static void the_hash_depends_on_every_byte_and_the_length(void **state)
{
    (void)state;
    char bytes[40] = {0};
    for (size_t n = 0; n < sizeof bytes; n++) {
        assert_true(vd_hash_bytes(bytes, n) == vd_hash_bytes(bytes, n));
        assert_true(vd_hash_bytes(bytes, n) != vd_hash_bytes(bytes, n + 1));
        uint64_t before = vd_hash_bytes(bytes, sizeof bytes);
        bytes[n] = 1;
        assert_true(vd_hash_bytes(bytes, sizeof bytes) != before);
        bytes[n] = 0;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(behaves_like_a_table_of_flags),
        cmocka_unit_test(an_empty_map_has_nothing),
        cmocka_unit_test(put_replaces_the_item_with_an_equal_key),
        cmocka_unit_test(the_table_shrinks_with_the_count_and_does_not_grow_by_churn),
        cmocka_unit_test(the_hash_depends_on_every_byte_and_the_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
