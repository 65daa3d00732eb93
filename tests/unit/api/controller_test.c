/* src/api/controller.c and conditional_batch.c: items that are reconciled until nothing is left. */
#include "controller_bench.h"

#include "api/conditional_batch.h"
#include "base/container_of.h"

#define CONFIG                                                                                     \
    "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"%s\","                 \
    "\"namespace\":\"default\"},\"data\":{\"n\":\"%d\"}}"

/* Counts a ConfigMap up to 5, with others who write it now and then. */
struct counter {
    struct vd_controller *controller;
    struct vd_informer_handler handler;
    struct vd_reconciler reconciler;
    struct vd_controller_item item;
    struct bench *bench;
    bool disturb; /* somebody writes while it is reconciled */
    _Atomic size_t runs, conflicts, settled;
    uv_sem_t rest;
};

static void put_config(struct bench *b, const char *name, int n)
{
    char text[256];
    snprintf(text, sizeof text, CONFIG, name, n);
    put_text(b, "configmaps", text);
}

static int number_of(const struct vd_json *object)
{
    uint64_t n = 0;
    assert_int_equal(vd_slice_to_u64(vd_json_text(vd_json_dig(object, "data", "n", NULL)), &n), 0);
    return (int)n;
}

static void reconcile(struct vd_controller_item *item)
{
    struct counter *c = VD_CONTAINER_OF(item->reconciler, struct counter, reconciler);
    struct vd_key key = {VD_SLICE("configmaps"), VD_SLICE("default"), VD_SLICE("count")};
    struct vd_conditional_batch *batch = vd_conditional_batch_new(c->controller, item);
    struct vd_arena *a = vd_conditional_batch_arena(batch);
    struct vd_event *event = NULL;
    struct vd_json *object = NULL;
    atomic_fetch_add(&c->runs, 1);
    atomic_fetch_add(&c->conflicts, item->code == VD_ERR_CONFLICT);
    int code = vd_controller_read(c->controller, &key, a, &event, &object);
    if (!code && number_of(object) < 5) {
        char digit[2] = {(char)('0' + number_of(object) + 1), 0};
        vd_json_set(a, vd_json_get(object, VD_SLICE("data")), VD_SLICE("n"),
                    vd_json_string(a, vd_slice_of(digit)));
        vd_conditional_batch_replace(batch, event, object);
    }
    if (!code && c->disturb) {
        c->disturb = false;
        put_config(c->bench, "count", 3);
    }
    vd_event_unref(event);
    vd_conditional_batch_send(batch);
}

static void settled(struct vd_controller_item *item)
{
    struct counter *c = VD_CONTAINER_OF(item->reconciler, struct counter, reconciler);
    assert_true(vd_controller_item_is_idle(item));
    if (atomic_fetch_add(&c->settled, 1) == 0)
        uv_sem_post(&c->rest);
}

static void on_changed(struct vd_informer_handler *handler, const struct vd_change *change)
{
    struct counter *c = VD_CONTAINER_OF(handler, struct counter, handler);
    if (vd_slice_is(vd_entry_name(change->now->entry), "count"))
        vd_controller_add(c->controller, &c->item);
}

static void counter_start(struct counter *c, struct bench *b, bool disturb)
{
    static const struct vd_informer_ops ops = {.changed = on_changed};
    *c = (struct counter){.controller = controller_new(b, "counter"),
                          .handler = {.ops = &ops},
                          .reconciler = {reconcile, settled},
                          .bench = b,
                          .disturb = disturb};
    c->item.reconciler = &c->reconciler;
    assert_int_equal(uv_sem_init(&c->rest, 0), 0);
    vd_informer_add_handler(&c->controller->informer, &c->handler);
    vd_controller_start(c->controller);
}

static void counter_stop(struct counter *c)
{
    vd_controller_stop(c->controller);
    uv_sem_destroy(&c->rest);
    free(c->controller);
}

static void an_item_is_reconciled_until_nothing_is_left(void **state)
{
    struct bench b;
    struct counter c;
    (void)state;
    bench_open(&b, 0);
    put_config(&b, "count", 0);
    counter_start(&c, &b, false);
    uv_sem_wait(&c.rest);
    assert_true(shows(&b, "configmaps", "default", "count", "\"n\":\"5\""));
    assert_true(atomic_load(&c.runs) >= 6); /* five batches, and one that found nothing to do */
    counter_stop(&c);
    bench_close(&b);
}

static void a_batch_holds_only_if_nothing_has_moved(void **state)
{
    struct bench b;
    struct counter c;
    (void)state;
    bench_open(&b, 0);
    put_config(&b, "count", 0);
    counter_start(&c, &b, true);
    uv_sem_wait(&c.rest);
    assert_true(shows(&b, "configmaps", "default", "count", "\"n\":\"5\""));
    assert_int_equal(atomic_load(&c.conflicts), 1);
    counter_stop(&c);
    bench_close(&b);
}

static void a_controller_can_be_stopped_at_any_time(void **state)
{
    struct bench b;
    struct counter c;
    (void)state;
    bench_open(&b, 0);
    for (int i = 0; i < 50; i++) {
        put_config(&b, "count", 0);
        counter_start(&c, &b, i % 2);
        for (int n = 0; n < i % 5; n++)
            put_config(&b, "other", n);
        counter_stop(&c);
    }
    counter_start(&c, &b, false);
    uv_sem_wait(&c.rest);
    assert_true(shows(&b, "configmaps", "default", "count", "\"n\":\"5\""));
    counter_stop(&c);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_item_is_reconciled_until_nothing_is_left),
        cmocka_unit_test(a_batch_holds_only_if_nothing_has_moved),
        cmocka_unit_test(a_controller_can_be_stopped_at_any_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
