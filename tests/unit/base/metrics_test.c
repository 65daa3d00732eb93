/* src/base/metrics.c: the text form, children on demand, and the lint. */
#include "base/metrics.h"

#include <stdio.h>

#include "check.h"
#include "death.h"

static void assert_text(struct vd_metric_family *family, const char *want)
{
    struct vd_buf out = {0};
    vd_metric_family_write(family, &out);
    assert_string_equal(vd_buf_text(&out), want);
    vd_buf_release(&out);
}

static void a_family_without_labels_shows_at_zero_and_counts(void **state)
{
    (void)state;
    static struct vd_metric_family plain = VD_COUNTER_FAMILY("plain_total",
                                                             "Plain \\ things.\nTwo.");
    assert_text(&plain, "# HELP plain_total Plain \\\\ things.\\nTwo.\n"
                        "# TYPE plain_total counter\n"
                        "plain_total 0\n");
    vd_counter_add(vd_metric_only(&plain), UINT64_MAX);
    assert_text(&plain, "# HELP plain_total Plain \\\\ things.\\nTwo.\n"
                        "# TYPE plain_total counter\n"
                        "plain_total 18446744073709551615\n");
}

static void each_combination_of_label_values_is_a_metric(void **state)
{
    (void)state;
    static struct vd_metric_family depth = VD_GAUGE_FAMILY("depth", "Depth of a queue.", "name",
                                                           "shard");
    vd_gauge_set(VD_METRIC(&depth, "a", "b"), 7);
    vd_gauge_add(VD_METRIC(&depth, "ab", ""), -3);
    vd_gauge_add(VD_METRIC(&depth, "a", "b"), 1);
    assert_ptr_equal(VD_METRIC(&depth, "a", "b"), VD_METRIC(&depth, "a", "b"));
    assert_int_equal(vd_metric_value(VD_METRIC(&depth, "a", "b")), 8);
    assert_text(&depth, "# HELP depth Depth of a queue.\n"
                        "# TYPE depth gauge\n"
                        "depth{name=\"a\",shard=\"b\"} 8\n"
                        "depth{name=\"ab\",shard=\"\"} -3\n");
}

static void label_values_are_escaped_and_always_utf8(void **state)
{
    (void)state;
    static struct vd_metric_family odd = VD_COUNTER_FAMILY("odd_total", "Odd.", "v");
    vd_counter_add(VD_METRIC(&odd, "\"q\" \\ \n \xc3\xbc \xff"), 1);
    char longer[VD_METRIC_LABEL_LEN_MAX + 2], cut[VD_METRIC_LABEL_LEN_MAX + 1];
    memset(longer, 'x', sizeof longer);
    memset(cut, 'x', sizeof cut);
    longer[sizeof longer - 1] = cut[sizeof cut - 1] = 0;
    assert_ptr_equal(VD_METRIC(&odd, longer), VD_METRIC(&odd, cut));
    struct vd_buf want = {0};
    vd_buf_addf(&want,
                "# HELP odd_total Odd.\n# TYPE odd_total counter\n"
                "odd_total{v=\"\\\"q\\\" \\\\ \\n \xc3\xbc ?\"} 1\n"
                "odd_total{v=\"%s\"} 0\n",
                cut);
    assert_text(&odd, vd_buf_text(&want));
    vd_buf_release(&want);
}

static const uint64_t bounds[] = {1000000, 5000000, 1000000000, 0};

static void histograms_print_exact_cumulative_buckets(void **state)
{
    (void)state;
    static struct vd_metric_family wait = VD_HISTOGRAM_FAMILY("wait_seconds", "Waiting.", bounds,
                                                              1e9, "verb");
    struct vd_metric *get = VD_METRIC(&wait, "get");
    static const uint64_t values[] = {0, 1000000, 1000001, 5000000, 5000001, 2000000000};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        vd_histogram_observe(get, values[i]);
    assert_text(&wait, "# HELP wait_seconds Waiting.\n"
                       "# TYPE wait_seconds histogram\n"
                       "wait_seconds_bucket{verb=\"get\",le=\"0.001\"} 2\n"
                       "wait_seconds_bucket{verb=\"get\",le=\"0.005\"} 4\n"
                       "wait_seconds_bucket{verb=\"get\",le=\"1\"} 5\n"
                       "wait_seconds_bucket{verb=\"get\",le=\"+Inf\"} 6\n"
                       "wait_seconds_sum{verb=\"get\"} 2.012000002\n"
                       "wait_seconds_count{verb=\"get\"} 6\n");
    assert_int_equal(vd_metric_value(get), 6);
    assert_in_range(vd_metric_quantile(get, 0.5), 1000001, 1000001 * 9 / 8);

    static struct vd_metric_family size = VD_HISTOGRAM_FAMILY("size_bytes", "Sizes.", bounds, 1);
    vd_histogram_observe(vd_metric_only(&size), 3);
    assert_text(&size, "# HELP size_bytes Sizes.\n"
                       "# TYPE size_bytes histogram\n"
                       "size_bytes_bucket{le=\"1000000\"} 1\n"
                       "size_bytes_bucket{le=\"5000000\"} 1\n"
                       "size_bytes_bucket{le=\"1000000000\"} 1\n"
                       "size_bytes_bucket{le=\"+Inf\"} 1\n"
                       "size_bytes_sum 3\n"
                       "size_bytes_count 1\n");
}

static void combinations_beyond_the_limit_share_other(void **state)
{
    (void)state;
    static struct vd_metric_family many = VD_COUNTER_FAMILY("many_total", "Many.", "a", "b");
    struct vd_metric *first = VD_METRIC(&many, "0", "x");
    for (unsigned i = 0; i < VD_METRIC_CHILDREN_MAX + 50; i++) {
        char a[16];
        snprintf(a, sizeof a, "%u", i);
        vd_counter_add(VD_METRIC(&many, a, "x"), 1);
    }
    assert_ptr_equal(VD_METRIC(&many, "0", "x"), first);
    assert_int_equal(vd_metric_value(VD_METRIC(&many, "never seen", "x")), 50);
    struct vd_buf out = {0};
    vd_metric_family_write(&many, &out);
    assert_non_null(strstr(vd_buf_text(&out), "many_total{a=\"other\",b=\"other\"} 50\n"));
    assert_non_null(strstr(vd_buf_text(&out), "many_total{a=\"999\",b=\"x\"} 1\n"));
    assert_null(strstr(vd_buf_text(&out), "many_total{a=\"1000\""));
    vd_buf_release(&out);
}

static void the_registry_prints_all_families_by_name(void **state)
{
    (void)state;
    static struct vd_metric_family z = VD_GAUGE_FAMILY("zz", "Last.");
    static struct vd_metric_family a = VD_GAUGE_FAMILY("aa", "First.");
    vd_metric_register(&z);
    vd_metric_register(&a);
    vd_metric_register(&a);
    struct vd_buf out = {0};
    vd_metrics_write(&out);
    assert_true(vd_slice_starts_with(vd_buf_slice(&out), VD_SLICE("# HELP aa First.\n")));
    assert_true(vd_slice_ends_with(vd_buf_slice(&out), VD_SLICE("# TYPE zz gauge\nzz 0\n")));
    vd_buf_release(&out);
}

static struct vd_metric_family shared = VD_COUNTER_FAMILY("shared_total", "Shared.", "i");

static void *count_many(void *unused)
{
    (void)unused;
    for (unsigned i = 0; i < 4000; i++) {
        char value[16];
        snprintf(value, sizeof value, "%u", i % 40);
        vd_counter_add(VD_METRIC(&shared, value), 1);
    }
    return NULL;
}

static void threads_share_children_and_lose_no_count(void **state)
{
    (void)state;
    pthread_t threads[4];
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, count_many, NULL), 0);
    struct vd_buf out = {0};
    vd_metrics_write(&out); /* a scrape in between */
    vd_buf_release(&out);
    for (size_t i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < 40; i++) {
        char value[16];
        snprintf(value, sizeof value, "%u", i);
        assert_int_equal(vd_metric_value(VD_METRIC(&shared, value)), 400);
    }
}

/* ---- the lint ---- */

#define WRONG(test, ...)                                                                           \
    static void test(void)                                                                         \
    {                                                                                              \
        static struct vd_metric_family family = __VA_ARGS__;                                       \
        vd_metric_register(&family);                                                               \
    }

static const uint64_t unordered[] = {2, 1, 0};
WRONG(name_with_dash, VD_GAUGE_FAMILY("a-b", "Help."))
WRONG(name_with_digit_first, VD_GAUGE_FAMILY("1a", "Help."))
WRONG(no_help, VD_GAUGE_FAMILY("a", ""))
WRONG(counter_without_total, VD_COUNTER_FAMILY("a", "Help."))
WRONG(gauge_with_total, VD_GAUGE_FAMILY("a_total", "Help."))
WRONG(reserved_suffix, VD_GAUGE_FAMILY("a_count", "Help."))
WRONG(label_with_dash, VD_GAUGE_FAMILY("a", "Help.", "b-c"))
WRONG(label_of_prometheus, VD_GAUGE_FAMILY("a", "Help.", "__b"))
WRONG(label_twice, VD_GAUGE_FAMILY("a", "Help.", "b", "b"))
WRONG(label_le, VD_HISTOGRAM_FAMILY("a", "Help.", bounds, 1, "le"))
WRONG(bounds_descend, VD_HISTOGRAM_FAMILY("a", "Help.", unordered, 1))
WRONG(name_taken, VD_GAUGE_FAMILY("aa", "Help."))

static void too_few_values(void)
{
    static struct vd_metric_family family = VD_GAUGE_FAMILY("a", "Help.", "b", "c");
    VD_METRIC(&family, "x");
}

static void wrong_kind(void)
{
    static struct vd_metric_family family = VD_GAUGE_FAMILY("a", "Help.");
    vd_counter_add(vd_metric_only(&family), 1);
}

static void mistakes_in_a_definition_are_asserts(void **state)
{
    (void)state;
    static const struct {
        void (*run)(void);
        const char *says;
    } cases[] = {
        {name_with_dash, "metric name"},
        {name_with_digit_first, "metric name"},
        {no_help, "without help"},
        {counter_without_total, "_total"},
        {gauge_with_total, "_total"},
        {reserved_suffix, "_count"},
        {label_with_dash, "label name"},
        {label_of_prometheus, "Prometheus' own"},
        {label_twice, "label given twice"},
        {label_le, "label le"},
        {bounds_descend, "bounds ascend"},
        {name_taken, "two metrics with one name"},
        {too_few_values, "as many values as labels"},
        {wrong_kind, "VD_METRIC_COUNTER"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (!aborts_saying(cases[i].run, cases[i].says))
            fail_msg("no assert about \"%s\" (case %zu)", cases[i].says, i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_family_without_labels_shows_at_zero_and_counts),
        cmocka_unit_test(each_combination_of_label_values_is_a_metric),
        cmocka_unit_test(label_values_are_escaped_and_always_utf8),
        cmocka_unit_test(histograms_print_exact_cumulative_buckets),
        cmocka_unit_test(combinations_beyond_the_limit_share_other),
        cmocka_unit_test(the_registry_prints_all_families_by_name),
        cmocka_unit_test(threads_share_children_and_lose_no_count),
        cmocka_unit_test(mistakes_in_a_definition_are_asserts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
