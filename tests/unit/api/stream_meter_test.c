/* What the metrics tell of a loop's streams, and when. */
#include "api/stream_meter.h"

#include "api/stream.h"
#include "metrics_check.h"

static void deliveries_are_told_at_the_end_of_the_turn(void **state)
{
    (void)state;
    struct vd_stream_meter m;
    struct vd_registry_stats stats = {.synced = 2, .revision = 7, .commit_ns = 1000};
    vd_stream_meter_init(&m, 3);
    m.live_n += 2;
    vd_stream_meter_turn(&m, &stats, 2001000);
    assert_true(metrics_have("watch_delivery_latency_seconds_count 2"));
    assert_true(metrics_have("watch_delivery_latency_seconds_sum 0.004"));
    assert_true(metrics_have("watch_watchers{loop=\"3\",state=\"synced\"} 2"));
    vd_stream_meter_turn(&m, &stats, 9000000);
    assert_true(metrics_have("watch_delivery_latency_seconds_count 2"));
    vd_stream_meters_set_lag(4, 10);
    assert_true(metrics_have("watch_lag_revisions{loop=\"3\"} 3"));
}

static void ends_are_counted_by_their_reason(void **state)
{
    (void)state;
    vd_stream_meter_ended(VD_STREAM_END_FORBIDDEN);
    vd_stream_meter_ended(VD_STREAM_END_UNREADABLE);
    vd_stream_meter_ended(VD_STREAM_END_BROKEN_OFF);
    assert_true(metrics_have("watch_ended_total{reason=\"forbidden\"} 1"));
    assert_true(metrics_have("watch_ended_total{reason=\"error\"} 2"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deliveries_are_told_at_the_end_of_the_turn),
        cmocka_unit_test(ends_are_counted_by_their_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
