/* src/auth/user_cache.c: a short memory, and never a longer one than promised. */
#include "auth/user_cache.h"

#include <stdio.h>

#include "check.h"

static struct vd_user *user_until(const char *name, int64_t expires_ms)
{
    return vd_user_new(&(struct vd_identity){
        .name = vd_slice_of(name), .method = VD_AUTH_TOKEN, .expires_ms = expires_ms});
}

static bool knows(struct vd_user_cache *cache, const char *token, int64_t now_ms)
{
    struct vd_user *user = vd_user_cache_get(cache, vd_slice_of(token), now_ms);
    vd_user_unref(user);
    return user != NULL;
}

static void an_answer_lives_as_long_as_it_may(void **state)
{
    (void)state;
    static const struct {
        int64_t expires_ms, asked_ms;
        bool known;
    } cases[] = {
        {0, 1000, true},  {0, 2999, true},    {0, 3000, false},    {0, 999, false},
        {0, 9000, false}, {1500, 1499, true}, {1500, 1500, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_user_cache *cache = vd_user_cache_new(4, 2000);
        struct vd_user *user = user_until("ann", cases[i].expires_ms);
        vd_user_cache_put(cache, VD_SLICE("token"), user, 1000);
        vd_user_unref(user);
        assert_false(knows(cache, "toke", cases[i].asked_ms));
        assert_int_equal(knows(cache, "token", cases[i].asked_ms), cases[i].known);
        /* Once too old, gone for good. */
        assert_int_equal(knows(cache, "token", 1000), cases[i].known);
        vd_user_cache_free(cache);
    }
}

static void the_oldest_goes_first(void **state)
{
    (void)state;
    struct vd_user_cache *cache = vd_user_cache_new(3, 1000);
    for (int i = 0; i < 5; i++) {
        char name[8];
        snprintf(name, sizeof name, "t%d", i);
        struct vd_user *user = user_until(name, 0);
        vd_user_cache_put(cache, vd_slice_of(name), user, i);
        vd_user_unref(user);
    }
    assert_false(knows(cache, "t0", 5));
    assert_false(knows(cache, "t1", 5));
    assert_true(knows(cache, "t2", 5) && knows(cache, "t3", 5) && knows(cache, "t4", 5));

    struct vd_user *other = user_until("other", 0);
    vd_user_cache_put(cache, VD_SLICE("t4"), other, 6); /* in place of the older answer */
    struct vd_user *got = vd_user_cache_get(cache, VD_SLICE("t4"), 6);
    assert_ptr_equal(got, other);
    vd_user_cache_clear(cache);
    assert_false(knows(cache, "t3", 6) || knows(cache, "t4", 6));
    assert_slice(got->is.name, "other"); /* whoever has a reference keeps it */
    vd_user_unref(got);
    vd_user_unref(other);
    vd_user_cache_free(cache);
    vd_user_cache_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_lives_as_long_as_it_may),
        cmocka_unit_test(the_oldest_goes_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
