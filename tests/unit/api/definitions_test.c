/* src/api/definitions.c, definition_kind.c and definition_names.c: definitions that come,
 * change, want each other's names, and go. */
#include "controller_bench.h"

#include "api/definition_kind.h"
#include "api/definitions.h"
#include "base/container_of.h"

#define DEFINITIONS "customresourcedefinitions.apiextensions.k8s.io"
#define UID         "\"uid\":\"0f1e2d3c-4b5a-4697-8877-6655443322%02d\""
#define SCHEMA      "{\"openAPIV3Schema\":{\"type\":\"object\"}}"
#define TRUE(type)  "\"type\":\"" type "\",\"status\":\"True\""

struct definition {
    const char *plural, *kind, *more; /* of the names */
    const char *meta;                 /* after the name */
    const char *schema;
    int uid;
};

static void put_definition(struct bench *b, struct definition d)
{
    char text[2048];
    snprintf(
        text, sizeof text,
        "{\"metadata\":{\"name\":\"%s.x.io\",\"generation\":1," UID "%s},\"spec\":{\"group\":"
        "\"x.io\",\"scope\":\"Namespaced\",\"names\":{\"plural\":\"%s\",\"singular\":\"%s-one\","
        "\"kind\":\"%s\",\"listKind\":\"%sList\"%s},\"versions\":[{\"name\":\"v1\",\"served\":"
        "true,\"storage\":true,\"schema\":%s}]},\"status\":{\"storedVersions\":[\"v1\"]}}",
        d.plural, d.uid, d.meta ? d.meta : "", d.plural, d.plural, d.kind, d.kind,
        d.more ? d.more : "", d.schema ? d.schema : SCHEMA);
    put_text(b, DEFINITIONS, text);
}

static void put_object(struct bench *b, const char *name, const char *meta)
{
    char text[512];
    snprintf(text, sizeof text,
             "{\"apiVersion\":\"x.io/v1\",\"kind\":\"Cog\",\"metadata\":{\"name\":\"%s\","
             "\"namespace\":\"default\"%s}}",
             name, meta);
    put_text(b, "cogs.x.io", text);
}

/* The kind of x.io/v1 with this plural, by its name; "" if there is none. */
static bool serves(struct bench *b, const char *plural, const char *kind_name)
{
    struct vd_kind_set *set = vd_kinds_snapshot(b->kinds);
    const struct vd_kind *kind = vd_kind_set_resource(set, VD_SLICE("x.io"), VD_SLICE("v1"),
                                                      vd_slice_of(plural));
    bool same = kind ? vd_slice_is(kind->kind, kind_name) : kind_name[0] == 0;
    vd_kind_set_unref(set);
    return same;
}

static bool is_established(struct bench *b, const char *name)
{
    return shows(b, DEFINITIONS, "", name, TRUE("Established"));
}

/* The registry follows the log by itself: this waits until it has, for one definition. */
struct arrival {
    struct vd_task task;
    uv_sem_t sem;
};

static void arrived(struct vd_task *task)
{
    uv_sem_post(&VD_CONTAINER_OF(task, struct arrival, task)->sem);
}

static void await_registry(struct bench *b, struct vd_definitions *ds, const char *name)
{
    struct arrival arrival = {.task.run = arrived};
    assert_int_equal(uv_sem_init(&arrival.sem, 0), 0);
    vd_definitions_await(ds, vd_slice_of(name), vd_store_revision(b->store), &b->loop,
                         &arrival.task);
    uv_sem_wait(&arrival.sem);
    uv_sem_destroy(&arrival.sem);
}

static void a_definition_becomes_a_kind(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 0);
    put_definition(&b, (struct definition){.plural = "cogs", .kind = "Cog"});
    struct vd_definitions *ds = vd_definitions_start(bench_env(&b));
    await(&b, is_established(&b, "cogs.x.io"));
    assert_true(serves(&b, "cogs", "Cog"));
    assert_true(shows(&b, DEFINITIONS, "", "cogs.x.io", TRUE("NamesAccepted")));
    assert_true(shows(&b, DEFINITIONS, "", "cogs.x.io", "\"acceptedNames\":{\"plural\":\"cogs\""));
    put_definition(&b, (struct definition){.plural = "pins", .kind = "Pin", .uid = 1});
    await(&b, is_established(&b, "pins.x.io"));
    assert_true(serves(&b, "pins", "Pin"));
    assert_int_equal(remove_object(&b, DEFINITIONS, "", "pins.x.io"), VD_OK);
    await_registry(&b, ds, "pins.x.io");
    assert_true(serves(&b, "pins", ""));
    vd_definitions_stop(ds);
    vd_definitions_stop(NULL);
    bench_close(&b);
}

static void put_config(struct bench *b, const char *name)
{
    char text[256];
    snprintf(text, sizeof text,
             "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"%s\","
             "\"namespace\":\"default\"}}",
             name);
    put_text(b, "configmaps", text);
}

/* Revisions are not dense and a definition's own need not be the one that is waited for: what
 * counts is that the log was passed. */
static void whoever_waits_is_told_when_the_log_was_passed(void **state)
{
    struct bench b;
    struct arrival arrival = {.task.run = arrived};
    (void)state;
    bench_open(&b, 0);
    assert_int_equal(uv_sem_init(&arrival.sem, 0), 0);
    put_definition(&b, (struct definition){.plural = "cogs", .kind = "Cog"});
    struct vd_definitions *ds = vd_definitions_start(bench_env(&b));
    await(&b, is_established(&b, "cogs.x.io"));
    put_config(&b, "a"); /* is newer than the definition */
    await_registry(&b, ds, "cogs.x.io");
    await_registry(&b, ds, "nobody.x.io");
    vd_definitions_await(ds, VD_SLICE("cogs.x.io"), vd_store_revision(b.store) + 2, &b.loop,
                         &arrival.task);
    put_config(&b, "b");
    await_registry(&b, ds, "cogs.x.io"); /* comes behind the other on the loop */
    assert_int_not_equal(uv_sem_trywait(&arrival.sem), 0);
    put_config(&b, "c");
    uv_sem_wait(&arrival.sem);
    uv_sem_destroy(&arrival.sem);
    vd_definitions_stop(ds);
    bench_close(&b);
}

/* A definition in a group of Kubernetes' community, with this annotation. */
static void put_protected(struct bench *b, const char *annotation)
{
    char text[1024];
    snprintf(text, sizeof text,
             "{\"metadata\":{\"name\":\"cogs.x.k8s.io\",\"generation\":1," UID
             ",\"annotations\":{\"api-approved.kubernetes.io\":\"%s\"}},\"spec\":{\"group\":"
             "\"x.k8s.io\",\"scope\":\"Cluster\",\"names\":{\"plural\":\"cogs\",\"singular\":"
             "\"cog\",\"kind\":\"Cog\",\"listKind\":\"CogList\"},\"versions\":[{\"name\":\"v1\","
             "\"served\":true,\"storage\":true,\"schema\":" SCHEMA "}]},\"status\":"
             "{\"storedVersions\":[\"v1\"]}}",
             0, annotation);
    put_text(b, DEFINITIONS, text);
}

static bool says(struct bench *b, const char *text)
{
    return shows(b, DEFINITIONS, "", "cogs.x.k8s.io", text);
}

static void approval_is_told(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 0);
    struct vd_definitions *ds = vd_definitions_start(bench_env(&b));
    put_protected(&b, "https://github.com/kubernetes/kubernetes/pull/1");
    await(&b, says(&b, TRUE("KubernetesAPIApprovalPolicyConformant")));
    assert_true(says(&b, "approved in https://github.com/kubernetes/kubernetes/pull/1"));
    assert_true(says(&b, "\"ApprovedAnnotation\""));
    put_protected(&b, "unapproved, an experiment");
    await(&b, says(&b, "not approved: \\\"unapproved, an experiment\\\""));
    assert_true(
        says(&b, "\"type\":\"KubernetesAPIApprovalPolicyConformant\",\"status\":\"False\""));
    put_protected(&b, "https:nowhere");
    await(&b, says(&b, "\"InvalidAnnotation\""));
    put_protected(&b, "");
    await(&b, says(&b, "\"MissingAnnotation\""));
    put_definition(&b, (struct definition){.plural = "pins", .kind = "Pin", .uid = 1});
    await(&b, is_established(&b, "pins.x.io"));
    assert_false(shows(&b, DEFINITIONS, "", "pins.x.io", "Conformant"));
    vd_definitions_stop(ds);
    bench_close(&b);
}

static void whoever_waits_finds_the_kind(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 0);
    struct vd_definitions *ds = vd_definitions_start(bench_env(&b));
    for (int i = 0; i < 20; i++) {
        char plural[16], name[32];
        snprintf(plural, sizeof plural, "cogs%d", i);
        snprintf(name, sizeof name, "%s.x.io", plural);
        put_definition(&b, (struct definition){.plural = plural, .kind = plural, .uid = i});
        await_registry(&b, ds, name);
        assert_true(serves(&b, plural, plural));
    }
    vd_definitions_stop(ds);
    bench_close(&b);
}

static void names_are_whose_they_were_first(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 0);
    struct vd_definitions *ds = vd_definitions_start(bench_env(&b));
    put_definition(&b, (struct definition){
                           .plural = "cogs", .kind = "Cog", .more = ",\"shortNames\":[\"c\"]"});
    await(&b, is_established(&b, "cogs.x.io"));
    put_definition(&b, (struct definition){.plural = "pins", .kind = "Cog", .uid = 1});
    await(&b, shows(&b, DEFINITIONS, "", "pins.x.io", "\"ListKindConflict\""));
    put_definition(
        &b, (struct definition){
                .plural = "rods", .kind = "Rod", .more = ",\"shortNames\":[\"c\"]", .uid = 2});
    await(&b, shows(&b, DEFINITIONS, "", "rods.x.io", "\\\"c\\\" is already in use"));
    assert_true(serves(&b, "pins", ""));
    assert_true(serves(&b, "rods", ""));
    assert_true(shows(&b, DEFINITIONS, "", "rods.x.io", "\"NotAccepted\""));
    assert_int_equal(remove_object(&b, DEFINITIONS, "", "cogs.x.io"), VD_OK);
    await(&b, is_established(&b, "pins.x.io") && is_established(&b, "rods.x.io"));
    assert_true(serves(&b, "pins", "Cog"));
    assert_true(serves(&b, "rods", "Rod"));
    vd_definitions_stop(ds);
    bench_close(&b);
}

#define GOING                                                                                      \
    ",\"deletionTimestamp\":\"2026-11-15T10:00:00Z\",\"finalizers\":["                             \
    "\"customresourcecleanup.apiextensions.k8s.io\"]"

static void its_objects_go_before_a_definition(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 0);
    struct vd_definitions *ds = vd_definitions_start(bench_env(&b));
    put_definition(&b, (struct definition){.plural = "cogs", .kind = "Cog"});
    await(&b, is_established(&b, "cogs.x.io"));
    for (int i = 0; i < 200; i++) {
        char name[16];
        snprintf(name, sizeof name, "cog-%d", i);
        put_object(&b, name, "");
    }
    put_object(&b, "held", ",\"finalizers\":[\"x.io/hold\"]");
    put_definition(&b, (struct definition){.plural = "cogs", .kind = "Cog", .meta = GOING});
    await(&b, absent(&b, "cogs.x.io", "default", "cog-199") &&
                  shows(&b, "cogs.x.io", "default", "held", "deletionTimestamp"));
    assert_true(shows(&b, DEFINITIONS, "", "cogs.x.io", NULL));
    put_object(&b, "late", "");
    await(&b, absent(&b, "cogs.x.io", "default", "late"));
    assert_int_equal(remove_object(&b, "cogs.x.io", "default", "held"), VD_OK);
    await(&b, absent(&b, DEFINITIONS, "", "cogs.x.io"));
    await_registry(&b, ds, "cogs.x.io");
    assert_true(serves(&b, "cogs", ""));
    vd_definitions_stop(ds);
    bench_close(&b);
}

static void a_schema_that_cannot_be_is_named(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 0);
    struct vd_definitions *ds = vd_definitions_start(bench_env(&b));
    put_definition(&b,
                   (struct definition){.plural = "cogs",
                                       .kind = "Cog",
                                       .schema = "{\"openAPIV3Schema\":{\"$ref\":\"elsewhere\"}}"});
    await(&b, shows(&b, DEFINITIONS, "", "cogs.x.io", TRUE("NonStructuralSchema")));
    assert_false(is_established(&b, "cogs.x.io"));
    assert_true(serves(&b, "cogs", ""));
    put_definition(&b, (struct definition){.plural = "cogs", .kind = "Cog"});
    await(&b, is_established(&b, "cogs.x.io"));
    assert_false(shows(&b, DEFINITIONS, "", "cogs.x.io", "NonStructuralSchema"));
    vd_definitions_stop(ds);
    bench_close(&b);
}

/* What was established is there before anything runs; what was not has to be looked at. */
static void established_kinds_are_there_at_the_start(void **state)
{
    struct bench b;
    struct vd_error error;
    (void)state;
    bench_open(&b, 0);
    put_definition(&b, (struct definition){.plural = "cogs", .kind = "Cog"});
    struct vd_definitions *ds = vd_definitions_start(bench_env(&b));
    await(&b, is_established(&b, "cogs.x.io"));
    vd_definitions_stop(ds);
    put_definition(&b, (struct definition){.plural = "pins", .kind = "Pin", .uid = 1});
    vd_kinds_free(b.kinds);
    b.kinds = vd_kinds_new_builtin();
    assert_ok(vd_definition_register_all(b.kinds, b.store, &error), &error);
    assert_true(serves(&b, "cogs", "Cog"));
    assert_true(serves(&b, "pins", ""));
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_definition_becomes_a_kind),
        cmocka_unit_test(approval_is_told),
        cmocka_unit_test(whoever_waits_finds_the_kind),
        cmocka_unit_test(whoever_waits_is_told_when_the_log_was_passed),
        cmocka_unit_test(names_are_whose_they_were_first),
        cmocka_unit_test(its_objects_go_before_a_definition),
        cmocka_unit_test(a_schema_that_cannot_be_is_named),
        cmocka_unit_test(established_kinds_are_there_at_the_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
