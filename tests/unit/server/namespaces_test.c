#include "controller_bench.h"

#include "server/namespaces.h"

/* The part that is tested, on a controller of its own. */
struct started {
    struct vd_controller *controller;
    struct vd_namespaces *part;
};

static struct started start(struct bench *b, struct vd_slice ca_pem)
{
    struct started s = {.controller = controller_new(b, "namespaces")};
    s.part = vd_namespaces_new(s.controller, ca_pem);
    vd_controller_start(s.controller);
    return s;
}

static void stop(struct started s)
{
    vd_controller_stop(s.controller);
    vd_namespaces_free(s.part);
    free(s.controller);
}

#define PEM VD_SLICE("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n")

static void put_namespace(struct bench *b, const char *name, const char *more, const char *spec)
{
    char text[512];
    snprintf(text, sizeof text,
             "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"%s\"%s},"
             "\"spec\":{\"finalizers\":[%s]},\"status\":{\"phase\":\"Active\"}}",
             name, more, spec);
    put_text(b, "namespaces", text);
}

static void terminate(struct bench *b, const char *name, const char *more)
{
    char with[256];
    snprintf(with, sizeof with, ",\"deletionTimestamp\":\"2026-11-15T10:00:00Z\"%s", more);
    put_namespace(b, name, with, "\"kubernetes\"");
}

static void put_config(struct bench *b, const char *namespace, const char *name, const char *more)
{
    char text[512];
    snprintf(text, sizeof text,
             "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"%s\","
             "\"namespace\":\"%s\"%s}}",
             name, namespace, more);
    put_text(b, "configmaps", text);
}

static bool furnished(struct bench *b, const char *name)
{
    return shows(b, "serviceaccounts", name, "default", "\"uid\":") &&
           shows(b, "configmaps", name, "kube-root-ca.crt", "BEGIN CERTIFICATE");
}

static void a_namespace_is_furnished_whenever_something_is_missing(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 0);
    put_namespace(&b, "before", "", "\"kubernetes\"");
    struct started n = start(&b, PEM);
    await(&b, furnished(&b, "before"));
    put_namespace(&b, "after", "", "\"kubernetes\"");
    await(&b, furnished(&b, "after"));
    assert_int_equal(remove_object(&b, "serviceaccounts", "after", "default"), VD_OK);
    await(&b, furnished(&b, "after"));
    assert_int_equal(remove_object(&b, "configmaps", "before", "kube-root-ca.crt"), VD_OK);
    await(&b, furnished(&b, "before"));
    put_config(&b, "before", "kube-root-ca.crt", "");
    await(&b, furnished(&b, "before"));
    stop(n);
    bench_close(&b);
}

static void the_servers_service_comes_back(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 0);
    put_namespace(&b, "default", "", "\"kubernetes\"");
    put_namespace(&b, "other", "", "\"kubernetes\"");
    struct started n = start(&b, PEM);
    await(&b, shows(&b, "services", "default", "kubernetes", "\"port\":443"));
    assert_int_equal(remove_object(&b, "services", "default", "kubernetes"), VD_OK);
    await(&b, shows(&b, "services", "default", "kubernetes", "\"uid\":"));
    await(&b, furnished(&b, "other"));
    assert_true(absent(&b, "services", "other", "kubernetes"));
    stop(n);
    bench_close(&b);
}

static void without_a_ca_there_is_no_certificate(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 0);
    struct started n = start(&b, VD_SLICE(""));
    put_namespace(&b, "a", "", "\"kubernetes\"");
    await(&b, shows(&b, "serviceaccounts", "a", "default", NULL));
    assert_true(absent(&b, "configmaps", "a", "kube-root-ca.crt"));
    stop(n);
    bench_close(&b);
}

static void a_deleted_namespace_is_emptied_and_goes(void **state)
{
    enum { OBJECTS = 300 };
    struct bench b;
    char name[32];
    (void)state;
    bench_open(&b, 0);
    struct started n = start(&b, PEM);
    put_namespace(&b, "a", "", "\"kubernetes\"");
    put_namespace(&b, "a2", "", "\"kubernetes\"");
    await(&b, furnished(&b, "a") && furnished(&b, "a2"));
    for (int i = 0; i < OBJECTS; i++) {
        snprintf(name, sizeof name, "c-%d", i);
        put_config(&b, "a", name, "");
    }
    put_config(&b, "a2", "stays", "");
    terminate(&b, "a", "");
    await(&b, absent(&b, "namespaces", "", "a"));
    assert_int_equal(vd_store_count(b.store, VD_SLICE("configmaps")), 2);
    assert_int_equal(vd_store_count(b.store, VD_SLICE("serviceaccounts")), 1);
    assert_true(shows(&b, "configmaps", "a2", "stays", NULL));
    stop(n);
    bench_close(&b);
}

static void finalizers_of_objects_are_waited_for(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 0);
    put_namespace(&b, "a", "", "\"kubernetes\"");
    put_config(&b, "a", "held", ",\"finalizers\":[\"example.com/hold\"]");
    put_config(&b, "a", "held2", ",\"finalizers\":[\"example.com/hold\"]");
    put_config(&b, "a", "loose", "");
    terminate(&b, "a", "");
    struct started n = start(&b, PEM);
    await(&b, shows(&b, "configmaps", "a", "held", "deletionTimestamp") &&
                  shows(&b, "configmaps", "a", "held2", "deletionTimestamp") &&
                  absent(&b, "configmaps", "a", "loose"));
    await(&b, shows(&b, "namespaces", "", "a",
                    "Some resources are remaining: configmaps. has 2 resource instances\"") &&
                  shows(&b, "namespaces", "", "a",
                        "finalizers remaining: example.com/hold in 2 resource instances\""));
    assert_int_equal(remove_object(&b, "configmaps", "a", "held"), VD_OK);
    /* Another namespace's turn comes behind this one's. */
    put_namespace(&b, "z", "", "\"kubernetes\"");
    await(&b, furnished(&b, "z"));
    assert_true(shows(&b, "namespaces", "", "a", NULL));
    /* One that slipped in is emptied, too. */
    put_config(&b, "a", "late", "");
    await(&b, absent(&b, "configmaps", "a", "late"));
    await(&b, shows(&b, "namespaces", "", "a", "configmaps. has 1 resource instances\""));
    assert_int_equal(remove_object(&b, "configmaps", "a", "held2"), VD_OK);
    await(&b, absent(&b, "namespaces", "", "a"));
    stop(n);
    bench_close(&b);
}

static void finalizers_of_the_namespace_keep_it_when_it_is_empty(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 0);
    put_config(&b, "a", "c", "");
    terminate(&b, "a", ",\"finalizers\":[\"example.com/mine\"]");
    struct started n = start(&b, PEM);
    await(&b, shows(&b, "namespaces", "", "a", "\"spec\":{\"finalizers\":[]}"));
    assert_true(absent(&b, "configmaps", "a", "c"));
    assert_true(shows(&b, "namespaces", "", "a", "example.com/mine"));
    stop(n);
    bench_close(&b);
}

static void what_keeps_a_namespace_is_told_and_told_again_when_it_is_gone(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 0);
    put_config(&b, "a", "x", ",\"finalizers\":[\"example.com/hold\",\"example.com/too\"]");
    terminate(&b, "a", ",\"finalizers\":[\"example.com/mine\"]");
    struct started n = start(&b, PEM);
    await(&b, shows(&b, "namespaces", "", "a",
                    "example.com/hold in 1 resource instances, "
                    "example.com/too in 1 resource instances\""));
    assert_true(shows(&b, "namespaces", "", "a", "\"reason\":\"SomeFinalizersRemain\""));
    /* Who asks again is told the same, and nothing is written. */
    uint64_t revision = vd_store_revision(b.store);
    stop(n);
    n = start(&b, PEM);
    put_namespace(&b, "z", "", "\"kubernetes\"");
    await(&b, furnished(&b, "z"));
    assert_int_equal(vd_store_revision(b.store), revision + 3); /* z, and what z has */
    assert_int_equal(remove_object(&b, "configmaps", "a", "x"), VD_OK);
    await(&b, shows(&b, "namespaces", "", "a", "\"spec\":{\"finalizers\":[]}"));
    assert_true(shows(&b, "namespaces", "", "a", "All content successfully removed"));
    assert_true(shows(&b, "namespaces", "", "a", "\"reason\":\"ContentHasNoFinalizers\""));
    stop(n);
    bench_close(&b);
}

static void a_restart_goes_on_where_it_was(void **state)
{
    struct bench b;
    char name[32];
    (void)state;
    bench_open(&b, 0);
    for (int i = 0; i < 200; i++) {
        snprintf(name, sizeof name, "c-%d", i);
        put_config(&b, "a", name, "");
    }
    terminate(&b, "a", "");
    for (int i = 0; i < 20; i++) /* stopped at any moment, it leaves nothing behind */
        stop(start(&b, PEM));
    struct started n = start(&b, PEM);
    await(&b, absent(&b, "namespaces", "", "a"));
    assert_int_equal(vd_store_count(b.store, VD_SLICE("configmaps")), 0);
    stop(n);
    bench_close(&b);
}

/* Somebody keeps changing what is to be deleted, in a window of a few events. */
static void bursts_and_conflicts_are_survived(void **state)
{
    struct bench b;
    char name[32], more[64];
    (void)state;
    bench_open(&b, 64);
    struct started n = start(&b, PEM);
    put_namespace(&b, "a", "", "\"kubernetes\"");
    await(&b, furnished(&b, "a"));
    terminate(&b, "a", "");
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "c-%d", i % 7);
        snprintf(more, sizeof more, ",\"labels\":{\"turn\":\"%d\"}", i);
        put_config(&b, "a", name, more);
        put_config(&b, "b", name, more);
    }
    terminate(&b, "a", ""); /* it may have gone in between */
    await(&b, absent(&b, "namespaces", "", "a"));
    assert_int_equal(vd_store_count(b.store, VD_SLICE("configmaps")), 7);
    stop(n);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_namespace_is_furnished_whenever_something_is_missing),
        cmocka_unit_test(the_servers_service_comes_back),
        cmocka_unit_test(without_a_ca_there_is_no_certificate),
        cmocka_unit_test(a_deleted_namespace_is_emptied_and_goes),
        cmocka_unit_test(finalizers_of_objects_are_waited_for),
        cmocka_unit_test(finalizers_of_the_namespace_keep_it_when_it_is_empty),
        cmocka_unit_test(what_keeps_a_namespace_is_told_and_told_again_when_it_is_gone),
        cmocka_unit_test(a_restart_goes_on_where_it_was),
        cmocka_unit_test(bursts_and_conflicts_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
