/* src/base/heap.c: least key first, first come first served among equals. */
#include "base/heap.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/container_of.h"
#include "check.h"

struct job {
    int name;
    struct vd_heap_node node;
};

static void nodes_leave_by_key_and_then_by_arrival(void **state)
{
    (void)state;
    struct vd_heap heap = {0};
    struct job jobs[60] = {0};
    for (int i = 0; i < 60; i++) {
        jobs[i].name = i;
        vd_heap_push(&heap, &jobs[i].node, (uint64_t)(2 - i % 3));
    }
    for (int i = 0; i < 60; i++) {
        struct vd_heap_node *node = vd_heap_pop(&heap);
        /* key 0 first: names 2, 5, 8, ...; then 1, 4, ...; then 0, 3, ... */
        assert_int_equal(VD_CONTAINER_OF(node, struct job, node)->name, 2 - i / 20 + i % 20 * 3);
        assert_false(vd_heap_has(node));
    }
    assert_null(vd_heap_pop(&heap));
    vd_heap_release(&heap);
}

static void an_updated_node_queues_behind_its_new_equals(void **state)
{
    (void)state;
    struct vd_heap heap = {0};
    struct vd_heap_node a = {0}, b = {0}, c = {0};
    vd_heap_push(&heap, &a, 1);
    vd_heap_push(&heap, &b, 5);
    vd_heap_push(&heap, &c, 9);
    vd_heap_update(&heap, &a, 5);
    assert_ptr_equal(vd_heap_peek(&heap), &b);
    vd_heap_update(&heap, &c, 0);
    assert_ptr_equal(vd_heap_pop(&heap), &c);
    assert_ptr_equal(vd_heap_pop(&heap), &b);
    assert_ptr_equal(vd_heap_pop(&heap), &a);
    vd_heap_release(&heap);
}

static void released_nodes_can_be_pushed_again(void **state)
{
    (void)state;
    struct vd_heap heap = {0};
    struct vd_heap_node a = {0};
    vd_heap_push(&heap, &a, 1);
    vd_heap_release(&heap);
    assert_false(vd_heap_has(&a));
    vd_heap_push(&heap, &a, 2);
    assert_int_equal(vd_heap_count(&heap), 1);
    vd_heap_release(&heap);
}

enum { NODES = 500 };

/* The node that should be first, by looking at all of them. */
static struct vd_heap_node *least_of(struct vd_heap_node *nodes)
{
    struct vd_heap_node *least = NULL;
    for (size_t i = 0; i < NODES; i++) {
        struct vd_heap_node *node = &nodes[i];
        if (vd_heap_has(node) && (!least || node->key < least->key ||
                                  (node->key == least->key && node->order < least->order)))
            least = node;
    }
    return least;
}

static void behaves_like_a_search_for_the_least(void **state)
{
    (void)state;
    uint64_t seed;
    vd_random_bytes(&seed, sizeof seed);
    const char *given = getenv("VEDETTE_SEED");
    if (given)
        seed = strtoull(given, NULL, 10);
    print_message("# seed %llu (VEDETTE_SEED repeats it)\n", (unsigned long long)seed);
    struct vd_heap heap = {0};
    struct vd_heap_node nodes[NODES] = {0};
    for (int step = 0; step < 20000; step++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        struct vd_heap_node *node = &nodes[(seed >> 33) % NODES];
        uint64_t key = (seed >> 20) % 100;
        if (!vd_heap_has(node))
            vd_heap_push(&heap, node, key);
        else if (key % 3 == 0)
            vd_heap_update(&heap, node, key);
        else if (key % 3 == 1)
            vd_heap_remove(&heap, node);
        else
            vd_heap_pop(&heap); /* it was the one that peek showed */
        assert_ptr_equal(vd_heap_peek(&heap), least_of(nodes));
    }
    vd_heap_release(&heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_leave_by_key_and_then_by_arrival),
        cmocka_unit_test(an_updated_node_queues_behind_its_new_equals),
        cmocka_unit_test(released_nodes_can_be_pushed_again),
        cmocka_unit_test(behaves_like_a_search_for_the_least),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
