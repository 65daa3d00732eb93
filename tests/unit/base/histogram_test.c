/* src/base/histogram.c: buckets without gaps, and quantiles within 1/8. */
#include "base/histogram.h"

#include <pthread.h>

#include "check.h"

static void buckets_cover_all_values_without_gap_or_overlap(void **state)
{
    (void)state;
    for (size_t i = 0; i < VD_HISTOGRAM_BUCKETS; i++) {
        uint64_t max = vd_histogram_bucket_max(i);
        assert_int_equal(vd_histogram_bucket(max), i);
        if (i + 1 < VD_HISTOGRAM_BUCKETS)
            assert_int_equal(vd_histogram_bucket(max + 1), i + 1);
        else
            assert_true(max == UINT64_MAX);
    }
}

static void a_bucket_is_at_most_an_eighth_of_its_values_wide(void **state)
{
    (void)state;
    for (size_t i = 8; i < VD_HISTOGRAM_BUCKETS; i++) {
        uint64_t least = vd_histogram_bucket_max(i - 1) + 1;
        assert_true(vd_histogram_bucket_max(i) - least < (least + 7) / 8);
    }
}

static void quantiles_are_the_upper_end_of_their_bucket(void **state)
{
    (void)state;
    struct vd_histogram h = {0};
    assert_int_equal(vd_histogram_quantile(&h, 0.5), 0);
    for (uint64_t v = 1; v <= 1000; v++)
        vd_histogram_add(&h, v);
    static const struct {
        double q;
        uint64_t exact;
    } cases[] = {{0, 1}, {0.001, 1}, {0.5, 500}, {0.9, 900}, {0.99, 990}, {1, 1000}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(vd_histogram_quantile(&h, cases[i].q),
                         vd_histogram_bucket_max(vd_histogram_bucket(cases[i].exact)));
    assert_int_equal(vd_histogram_count(&h), 1000);
    assert_int_equal(h.sum, 500500);
}

static void *add_many(void *h)
{
    for (uint64_t v = 0; v < 10000; v++)
        vd_histogram_add(h, v);
    return NULL;
}

static void no_value_of_many_threads_is_lost(void **state)
{
    (void)state;
    struct vd_histogram h = {0};
    pthread_t threads[4];
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, add_many, &h), 0);
    for (size_t i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(vd_histogram_count(&h), 40000);
    assert_int_equal(h.sum, 4u * 9999 * 10000 / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buckets_cover_all_values_without_gap_or_overlap),
        cmocka_unit_test(a_bucket_is_at_most_an_eighth_of_its_values_wide),
        cmocka_unit_test(quantiles_are_the_upper_end_of_their_bucket),
        cmocka_unit_test(no_value_of_many_threads_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
