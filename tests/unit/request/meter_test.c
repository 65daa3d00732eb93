/* Meters: what they add to the metrics, and when. */
#include "request/meter.h"

#include "metrics_check.h"

static const struct vd_meter_labels lists = {
    .verb = VD_SLICE("LIST"), .version = VD_SLICE("v1"), .resource = VD_SLICE("meters")};
static const struct vd_meter_labels watches = {
    .verb = VD_SLICE("WATCH"), .version = VD_SLICE("v1"), .resource = VD_SLICE("meters")};

#define LABELS(verb)                                                                               \
    "verb=\"" verb "\",group=\"\",version=\"v1\",resource=\"meters\",subresource=\"\""

static void requests_are_counted_by_their_code(void **state)
{
    (void)state;
    struct vd_meters *m = vd_meters_new();
    struct vd_meter *meter = vd_meters_find(m, &lists);
    vd_meter_answered(meter, 200, 1000);
    vd_meter_answered(meter, 200, 1000);
    vd_meter_answered(meter, 0, 1000);
    assert_true(metrics_have("apiserver_request_total{" LABELS("LIST") ",code=\"200\"} 2"));
    assert_true(metrics_have("apiserver_request_total{" LABELS("LIST") ",code=\"499\"} 1"));
    assert_true(metrics_have("apiserver_request_duration_seconds_count{" LABELS("LIST") "} 3"));
    vd_meters_free(m);
}

static void more_codes_than_are_kept_are_still_counted(void **state)
{
    (void)state;
    struct vd_meters *m = vd_meters_new();
    struct vd_meter_labels labels = lists;
    labels.verb = VD_SLICE("PUT");
    for (unsigned round = 0; round < 2; round++)
        for (unsigned status = 400; status < 420; status++)
            vd_meter_answered(vd_meters_find(m, &labels), status, 1);
    assert_true(metrics_have("apiserver_request_total{" LABELS("PUT") ",code=\"400\"} 2"));
    assert_true(metrics_have("apiserver_request_total{" LABELS("PUT") ",code=\"419\"} 2"));
    vd_meters_free(m);
}

static void deliveries_are_told_at_the_end_of_the_turn(void **state)
{
    (void)state;
    struct vd_meters *m = vd_meters_new();
    struct vd_meter *meter = vd_meters_find(m, &watches);
    vd_meter_watch_begun(meter);
    vd_meter_watch_begun(meter);
    assert_true(metrics_have("apiserver_longrunning_requests{" LABELS("WATCH") "} 2"));
    vd_meter_delivered(meter, 3);
    vd_meter_delivered(meter, 3);
    vd_meter_delivered(meter, 10);
    vd_meters_turn(m);
    assert_true(metrics_have(
        "apiserver_watch_events_total{group=\"\",version=\"v1\",resource=\"meters\"} 16"));
    vd_meter_watch_ended(meter);
    vd_meter_watch_ended(meter);
    assert_true(metrics_have("apiserver_longrunning_requests{" LABELS("WATCH") "} 0"));
    vd_meters_free(m);
}

static void a_flood_of_sorts_shares_one_meter(void **state)
{
    (void)state;
    struct vd_meters *m = vd_meters_new();
    struct vd_meter *last = NULL;
    for (int i = 0; i < VD_METRIC_CHILDREN_MAX + 2; i++) {
        char name[32];
        snprintf(name, sizeof name, "flood%d", i);
        struct vd_meter_labels labels = {.verb = VD_SLICE("GET"), .resource = vd_slice_of(name)};
        struct vd_meter *meter = vd_meters_find(m, &labels);
        assert_ptr_equal(vd_meters_find(m, &labels), meter);
        assert_true(i < VD_METRIC_CHILDREN_MAX + 1 ? meter != last : meter == last);
        last = meter;
    }
    vd_meters_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_counted_by_their_code),
        cmocka_unit_test(more_codes_than_are_kept_are_still_counted),
        cmocka_unit_test(deliveries_are_told_at_the_end_of_the_turn),
        cmocka_unit_test(a_flood_of_sorts_shares_one_meter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
