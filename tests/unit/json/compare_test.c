/* src/json/compare.c and key_index.c: equality, hashes, look-ups. */
#include "json/compare.h"

#include "json_check.h"
#include "json/key_index.h"
#include "json/stable_hash.h"

static void equal_documents_have_equal_hashes(void **state)
{
    /* Documents of one line are equal, those of different lines are not. */
    static const char *const groups[][3] = {
        {"null"},
        {"true"},
        {"false"},
        {"0", "-0", "0.0"},
        {"1", "1.0", "10e-1"},
        {"\"\""},
        {"\"1\"", "\"\\u0031\""},
        {"[]", "[ ]"},
        {"{}", " {}"},
        {"[[]]"},
        {"[{}]"},
        {"[1,2]", "[1.0,2e0]"},
        {"[2,1]"},
        {"[1,2,2]"},
        {"[[1],2]"},
        {"[1,[2]]"},
        {"{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1.0}"},
        {"{\"a\":2,\"b\":1}"},
        {"{\"a\":1}"},
        {"{\"a\":1,\"c\":2}"},
        {"{\"a\":null}"},
        {"{\"b\":null}"},
        {"{\"a\":{\"b\":[1,{\"x\":1,\"y\":2}]}}", "{\"a\":{\"b\":[1,{\"y\":2,\"x\":1}]}}"},
        {"{\"a\":{\"b\":[1,{\"x\":2,\"y\":1}]}}"},
    };
    size_t count = sizeof groups / sizeof *groups;
    for (size_t i = 0; i < count * 3; i++) {
        for (size_t j = 0; j < count * 3; j++) {
            const char *a = groups[i / 3][i % 3], *b = groups[j / 3][j % 3];
            if (!a || !b)
                continue;
            struct vd_json *x = json_of(*state, a), *y = json_of(*state, b);
            if (vd_json_eq(x, y) != (i / 3 == j / 3))
                fail_msg("%s and %s: wrong", a, b);
            if ((vd_json_hash(x) == vd_json_hash(y)) != (i / 3 == j / 3))
                fail_msg("%s and %s: wrong hashes", a, b);
        }
    }
    assert_true(vd_json_eq(NULL, NULL));
    assert_false(vd_json_eq(NULL, json_of(*state, "null")));
}

/* Stored hashes have to be found again by the next version. */
static void the_hash_never_changes(void **state)
{
    assert_true(vd_stable_hash_bytes(0, VD_SLICE("")) == UINT64_C(0xd0bd7ff386ad0729));
    assert_true(vd_json_hash(json_of(*state, "{\"a\":[1,true,null,\"text longer than 8\"]}")) ==
                UINT64_C(0xd472556786ada837));
}

/* {"k0":0,...} forwards or backwards. */
static struct vd_json *make_large(struct vd_arena *a, size_t count, bool backwards)
{
    struct vd_json *o = vd_json_object(a);
    for (size_t i = 0; i < count; i++) {
        char key[32];
        size_t number = backwards ? count - 1 - i : i;
        snprintf(key, sizeof key, "k%zu", number);
        vd_json_add(a, o, vd_slice_of(key), vd_json_u64(a, number));
    }
    return o;
}

static void large_objects_compare_in_any_order(void **state)
{
    struct vd_arena *a = *state;
    for (size_t count = 31; count < 200000; count = count < 34 ? count + 1 : count * 60) {
        struct vd_json *x = make_large(a, count, false), *y = make_large(a, count, true);
        assert_true(vd_json_eq(x, y));
        assert_true(vd_json_hash(x) == vd_json_hash(y));
        vd_json_assign(vd_json_get(y, VD_SLICE("k3")), vd_json_null(a));
        assert_false(vd_json_eq(x, y));
    }
}

static void an_index_finds_every_key(void **state)
{
    struct vd_arena *a = *state;
    for (size_t count = 0; count < 100; count++) {
        struct vd_json *o = make_large(a, count, false);
        struct vd_key_index index;
        if (count % 2)
            vd_key_index_init(&index, o);
        else
            vd_key_index_init_all(&index, o);
        VD_JSON_EACH (member, o)
            assert_ptr_equal(vd_key_index_get(&index, vd_json_key(member)), member);
        assert_null(vd_key_index_get(&index, VD_SLICE("")));
        assert_null(vd_key_index_get(&index, VD_SLICE("k100")));
        vd_key_index_release(&index);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        arena_test(equal_documents_have_equal_hashes),
        arena_test(the_hash_never_changes),
        arena_test(large_objects_compare_in_any_order),
        arena_test(an_index_finds_every_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
