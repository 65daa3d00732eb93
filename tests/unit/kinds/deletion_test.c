/* What being deleted does to an object, and what is proposed for it. */
#include "check.h"

#include "fixture.h"
#include "json_check.h"
#include "kinds/deletion.h"

#define MARK       "\"deletionTimestamp\":\"1970-01-01T00:00:05Z\",\"deletionGracePeriodSeconds\":0"
#define FINALIZERS "\"finalizers\":[\"e.x/f\"]"

static struct vd_deletion deletion_of(const char *resource, const char *policy,
                                      struct test_clock *clock)
{
    test_clock_init(clock, 5000);
    return (struct vd_deletion){
        .resource = vd_slice_of(resource), .policy = vd_slice_of(policy), .clock = &clock->clock};
}

static void marking_is_a_new_generation_once(void **state)
{
    static const struct {
        const char *object, *kind, *want;
    } cases[] = {
        {"{\"metadata\":{\"generation\":3," FINALIZERS "}}", "widgets.example.com",
         "{\"metadata\":{\"generation\":4," FINALIZERS "," MARK "}}"},
        /* Kinds that do not count do not begin to. */
        {"{\"metadata\":{" FINALIZERS "}}", "configmaps",
         "{\"metadata\":{" FINALIZERS "," MARK "}}"},
        {"{\"metadata\":{},\"spec\":{\"finalizers\":[\"kubernetes\"]},\"status\":{\"phase\":"
         "\"Active\"}}",
         "namespaces",
         "{\"metadata\":{" MARK "},\"spec\":{\"finalizers\":[\"kubernetes\"]},\"status\":{"
         "\"phase\":\"Terminating\"}}"},
    };
    struct vd_arena *a = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_json *object = json_of(a, cases[i].object);
        struct test_clock clock;
        struct vd_deletion deletion = deletion_of(cases[i].kind, "", &clock);
        for (int again = 0; again < 2; again++) {
            assert_int_equal(vd_deletion_begin(&deletion, a, object), VD_DELETION_MARK);
            assert_json(object, cases[i].want);
            test_clock_advance_ms(&clock, 60000);
        }
    }
}

#define DEFINITIONS "customresourcedefinitions.apiextensions.k8s.io"

/* The whole rule: who keeps an object from going at once, and with whom it goes. */
static void finalizers_keep_an_object(void **state)
{
    static const struct {
        const char *kind, *policy, *object;
        enum vd_deletion_step step;
        const char *finalizer; /* that it has afterwards; NULL: none was added */
        bool finished;         /* if it is put as it is now, it goes */
    } cases[] = {
        {"configmaps", "", "{\"metadata\":{}}", VD_DELETION_REMOVE, NULL, false},
        {"configmaps", "Background", "{\"metadata\":{}}", VD_DELETION_REMOVE, NULL, false},
        {"configmaps", "Foreground", "{\"metadata\":{}}", VD_DELETION_MARK, "foregroundDeletion",
         false},
        {"configmaps", "Orphan", "{\"metadata\":{}}", VD_DELETION_MARK, "orphan", false},
        {"configmaps", "", "{\"metadata\":{" FINALIZERS "}}", VD_DELETION_MARK, NULL, false},
        {"configmaps", "", "{\"metadata\":{" MARK "}}", VD_DELETION_REMOVE, NULL, true},
        {"configmaps", "", "{\"metadata\":{" FINALIZERS "," MARK "}}", VD_DELETION_MARK, NULL,
         false},
        {"namespaces", "", "{\"metadata\":{},\"spec\":{\"finalizers\":[\"kubernetes\"]}}",
         VD_DELETION_MARK, NULL, false},
        {"namespaces", "", "{\"metadata\":{" MARK "},\"spec\":{\"finalizers\":[\"kubernetes\"]}}",
         VD_DELETION_MARK, NULL, false},
        {"namespaces", "", "{\"metadata\":{" MARK "},\"spec\":{\"finalizers\":[]}}",
         VD_DELETION_REMOVE, NULL, true},
        /* What another kind calls so in its spec is none of ours. */
        {"jars.example.com", "", "{\"metadata\":{},\"spec\":{\"finalizers\":[\"x\"]}}",
         VD_DELETION_REMOVE, NULL, false},
        {"jars.example.com", "", "{\"metadata\":{" MARK "},\"spec\":{\"finalizers\":[\"x\"]}}",
         VD_DELETION_REMOVE, NULL, true},
        /* Its objects go before a definition does. */
        {DEFINITIONS, "", "{\"metadata\":{}}", VD_DELETION_MARK,
         "customresourcecleanup.apiextensions.k8s.io", false},
        {DEFINITIONS, "", "{\"metadata\":{" MARK "}}", VD_DELETION_REMOVE, NULL, true},
    };
    struct vd_arena *a = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_json *object = json_of(a, cases[i].object);
        struct test_clock clock;
        struct vd_deletion deletion = deletion_of(cases[i].kind, cases[i].policy, &clock);
        assert_int_equal(vd_deletion_is_finished(object, deletion.resource), cases[i].finished);
        if (vd_deletion_begin(&deletion, a, object) != cases[i].step)
            fail_msg("%s: %s", cases[i].kind, cases[i].object);
        if (cases[i].finalizer)
            assert_string_equal(
                vd_json_text(vd_json_at(vd_json_dig(object, "metadata", "finalizers", NULL), 0)).p,
                cases[i].finalizer);
        assert_int_equal(vd_json_dig(object, "metadata", "deletionTimestamp", NULL) != NULL,
                         cases[i].step == VD_DELETION_MARK || cases[i].finished);
    }
}

/* A wish for what is stored holds for that very version, and what was marked is left alone. */
static void a_wish_is_about_the_version_that_was_read(void **state)
{
    struct vd_arena *a = *state;
    struct vd_store *store = NULL;
    struct vd_error error;
    struct vd_event *event = NULL;
    struct vd_wish wish;
    enum vd_deletion_step step;
    struct test_clock clock;
    struct vd_deletion deletion = deletion_of("configmaps", "", &clock);
    assert_ok(vd_store_open_in(&store, NULL, NULL, &error), &error);
    uint64_t revision = put(store, "configmaps", "ns", "c", "x");
    struct vd_key key = test_key("configmaps", "ns", "c");
    assert_ok(vd_store_get(store, &key, 0, &event, &error), &error);
    struct vd_json *object = json_of(a, "{\"metadata\":{\"name\":\"c\"}}");
    assert_ok(vd_deletion_wish(&deletion, event, object, a, a, &step, &wish, &error), &error);
    assert_int_equal(step, VD_DELETION_REMOVE);
    assert_int_equal(wish.action, VD_DELETE);
    assert_int_equal(wish.when, VD_WHEN_REVISION);
    assert_int_equal(wish.revision, revision);
    assert_slice(wish.key.name, "c");
    deletion.policy = VD_SLICE("Orphan");
    assert_ok(vd_deletion_wish(&deletion, event, object, a, a, &step, &wish, &error), &error);
    assert_int_equal(step, VD_DELETION_MARK);
    assert_int_equal(wish.action, VD_PUT);
    assert_int_equal(wish.revision, revision);
    assert_slice(wish.body.bytes, "{\"metadata\":{\"name\":\"c\",\"finalizers\":[\"orphan\"]," MARK
                                  ",\"resourceVersion\":\"\"}}");
    assert_ok(vd_deletion_wish(&deletion, event, object, a, a, &step, &wish, &error), &error);
    assert_int_equal(step, VD_DELETION_NOTHING);
    vd_event_unref(event);
    vd_store_close(store);
}

#define REPOSITORY(more) "{\"metadata\":{\"name\":\"r\"" more "}"

static void a_repository_stays_while_it_owns_objects(void **state)
{
    static const struct {
        const char *resource, *object, *want; /* NULL: it may go */
    } cases[] = {
        {"repositories.git.vedette.dev", REPOSITORY("}"), NULL},
        {"repositories.git.vedette.dev", REPOSITORY("},\"status\":{\"resources\":0}"), NULL},
        {"repositories.git.vedette.dev", REPOSITORY("},\"status\":{\"resources\":12}"),
         "repository \"r\" owns 12 resources and cannot be deleted: set spec.deletionPolicy to "
         "Cascade, or push a commit that removes them"},
        {"repositories.git.vedette.dev",
         REPOSITORY("},\"spec\":{\"deletionPolicy\":\"Refuse\"},\"status\":{\"resources\":1}"),
         "repository \"r\" owns 1 resource and cannot be deleted: set spec.deletionPolicy to "
         "Cascade, or push a commit that removes them"},
        {"repositories.git.vedette.dev",
         REPOSITORY("},\"spec\":{\"deletionPolicy\":\"Cascade\"},\"status\":{\"resources\":1}"),
         NULL},
        {"repositories.git.vedette.dev", REPOSITORY("," MARK "},\"status\":{\"resources\":1}"),
         NULL},
        {"widgets.example.com", REPOSITORY("},\"status\":{\"resources\":12}"), NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_error error = {0};
        int code = vd_deletion_check(json_of(*state, cases[i].object),
                                     vd_slice_of(cases[i].resource), &error);
        assert_int_equal(code, cases[i].want ? VD_ERR_CONFLICT : VD_OK);
        if (cases[i].want)
            assert_string_equal(error.text, cases[i].want);
    }
}

static void a_repository_waits_for_the_server(void **state)
{
    struct vd_arena *a = *state;
    struct test_clock clock;
    struct vd_deletion deletion = deletion_of("repositories.git.vedette.dev", "", &clock);
    struct vd_json *object = json_of(a, REPOSITORY("}"));
    assert_int_equal(vd_deletion_begin(&deletion, a, object), VD_DELETION_MARK);
    assert_json(object, REPOSITORY(",\"finalizers\":[\"git.vedette.dev/repository\"]," MARK "}"));
    assert_false(vd_deletion_is_finished(object, deletion.resource));
    object = json_of(a, REPOSITORY("," MARK "}"));
    assert_true(vd_deletion_is_finished(object, deletion.resource));
}

/* Also of one that was deleted before, by somebody who had no such right. */
static void a_cascade_beyond_the_namespace_is_recorded(void **state)
{
    struct vd_arena *a = *state;
    struct test_clock clock;
    struct vd_deletion deletion = deletion_of("repositories.git.vedette.dev", "", &clock);
    struct vd_json *object = json_of(a, REPOSITORY("}"));
    assert_int_equal(vd_deletion_begin(&deletion, a, object), VD_DELETION_MARK);
    assert_false(vd_deletion_cascades_elsewhere(object));
    deletion.cascades_elsewhere = true;
    assert_int_equal(vd_deletion_begin(&deletion, a, object), VD_DELETION_MARK);
    assert_true(vd_deletion_cascades_elsewhere(object));
    assert_json(object, REPOSITORY(",\"finalizers\":[\"git.vedette.dev/repository\"]," MARK
                                   "},\"status\":{\"cascadesElsewhere\":true}"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        arena_test(marking_is_a_new_generation_once),
        arena_test(finalizers_keep_an_object),
        arena_test(a_wish_is_about_the_version_that_was_read),
        arena_test(a_repository_stays_while_it_owns_objects),
        arena_test(a_repository_waits_for_the_server),
        arena_test(a_cascade_beyond_the_namespace_is_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
