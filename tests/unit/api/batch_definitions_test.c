/* src/api/batch.h and src/api/definition_plan.h: definitions, and objects of the kinds that they
 * define, in one batch. */
#include "batch_trial.h"

#include "api/definition_plan.h"
#include "api/definitions.h"
#include "kinds/deletion.h"

#define GROUP "x.io"
#define V1(schema)                                                                                 \
    "{\"name\":\"v1\",\"served\":true,\"storage\":true,\"schema\":{\"openAPIV3Schema\":" schema "}}"
#define SIZED                                                                                      \
    "{\"type\":\"object\",\"properties\":{\"spec\":{\"type\":\"object\",\"properties\":{\"size\":" \
    "{\"type\":\"integer\",\"maximum\":9}}}}}"
#define COLORED                                                                                    \
    "{\"type\":\"object\",\"properties\":{\"spec\":{\"type\":\"object\",\"properties\":{"          \
    "\"color\":"                                                                                   \
    "{\"type\":\"string\",\"default\":\"red\"}}}}}"
#define NAMED_DEFINITION(plural, kind, more, versions)                                             \
    "{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\","           \
    "\"metadata\":{\"name\":\"" plural "." GROUP "\"},\"spec\":{\"group\":\"" GROUP "\","          \
    "\"scope\":\"Namespaced\",\"names\":{\"plural\":\"" plural "\",\"kind\":\"" kind "\"" more     \
    "},\"versions\":[" versions "]}}"
#define COGS(versions) NAMED_DEFINITION("cogs", "Cog", "", versions)

static int open_world(void **state)
{
    open_setting(state);
    setting.env.definitions = vd_definitions_start(&(struct vd_controller_env){
        .store = setting.store,
        .kinds = setting.kinds,
        .clock = vd_clock_system(),
        .loop = &setting.loop,
    });
    return 0;
}

static int close_world(void **state)
{
    vd_definitions_stop(setting.env.definitions);
    return close_setting(state);
}

/* The kinds of the batch are those that there are now, ... */
static void plan_anew(void)
{
    vd_kind_set_unref(setting.set);
    setting.set = vd_kinds_snapshot(setting.kinds);
}

/* ... and those of this definition, which is a member; or it cannot be. */
static int plan(struct vd_arena *a, const char *definition, struct vd_error *error)
{
    return vd_definition_plan(&setting.env, &setting.set, json_of(a, definition), NULL, error);
}

static void add_definition(struct batch_trial *t, const char *name, const char *definition)
{
    add_of(t, definition ? VD_WRITE_REPLACE : VD_WRITE_DELETE, "apiextensions.k8s.io",
           "customresourcedefinitions", name, definition);
}

static void add_cog(struct batch_trial *t, const char *name, const char *document)
{
    add_of(t, document ? VD_WRITE_REPLACE : VD_WRITE_DELETE, GROUP, "cogs", name, document);
}

static const struct vd_kind *live(const char *plural)
{
    struct vd_kind_set *set = vd_kinds_snapshot(setting.kinds);
    const struct vd_kind *kind = vd_kind_set_resource(set, VD_SLICE(GROUP), VD_SLICE("v1"),
                                                      vd_slice_of(plural));
    vd_kind_set_unref(set); /* the registry has it, while nobody changes it */
    return kind;
}

static void create_cogs(struct vd_arena *a, struct batch_trial *t)
{
    struct vd_error error;
    assert_ok(plan(a, COGS(V1(SIZED)), &error), &error);
    add_cog(t, "one", "{\"metadata\":{\"name\":\"one\"},\"spec\":{\"size\":1,\"lost\":1}}");
    add_definition(t, "cogs." GROUP, COGS(V1(SIZED)));
    assert_int_equal(perform_batch(t), VD_BATCH_DONE);
    for (size_t i = 0; i < 2; i++)
        expect(t->members.p[i], VD_WRITE_CREATED);
}

static struct vd_json *stored_cog(struct vd_arena *a, const char *name)
{
    struct vd_key key = {VD_SLICE("cogs." GROUP), VD_SLICE("room"), vd_slice_of(name)};
    struct vd_event *event = NULL;
    struct vd_json *object = NULL;
    struct vd_error error;
    assert_ok(vd_store_get(setting.store, &key, 0, &event, &error), &error);
    assert_ok(vd_json_parse_copy(a, vd_body_slice(event->body), NULL, &object, &error), &error);
    vd_event_unref(event);
    return object;
}

static void a_definition_comes_with_its_objects(void **state)
{
    static struct batch_trial t;
    struct vd_arena *a = *state;
    assert_null(live("cogs"));
    create_cogs(a, &t);
    assert_non_null(live("cogs")); /* the registry has it when the batch is done */
    assert_true(t.members.p[1]->w.revision < t.members.p[0]->w.revision);
    assert_json(vd_json_get(stored_cog(a, "one"), VD_SLICE("spec")), "{\"size\":1}");
    release_batch(&t);
    /* By the kind of the registry it is an object like others. */
    plan_anew();
    add_cog(&t, "one", "{\"metadata\":{\"name\":\"one\"},\"spec\":{\"size\":1}}");
    add_cog(&t, "two", "{\"metadata\":{\"name\":\"two\"},\"spec\":{\"size\":2}}");
    assert_int_equal(perform_batch(&t), VD_BATCH_DONE);
    expect(t.members.p[0], VD_WRITE_UNCHANGED);
    expect(t.members.p[1], VD_WRITE_CREATED);
    release_batch(&t);
}

static void a_schema_changes_with_its_objects(void **state)
{
    static struct batch_trial t;
    struct vd_arena *a = *state;
    struct vd_error error;
    create_cogs(a, &t);
    release_batch(&t);
    plan_anew();
    assert_ok(plan(a, COGS(V1(COLORED)), &error), &error);
    add_definition(&t, "cogs." GROUP, COGS(V1(COLORED)));
    add_cog(&t, "one", "{\"metadata\":{\"name\":\"one\"},\"spec\":{\"size\":10}}");
    add_cog(&t, "two", "{\"metadata\":{\"name\":\"two\"},\"spec\":{\"color\":\"blue\"}}");
    assert_int_equal(perform_batch(&t), VD_BATCH_DONE);
    expect(t.members.p[0], VD_WRITE_UPDATED);
    expect(t.members.p[1], VD_WRITE_UPDATED);
    expect(t.members.p[2], VD_WRITE_CREATED);
    assert_json(vd_json_get(stored_cog(a, "one"), VD_SLICE("spec")), "{\"color\":\"red\"}");
    assert_json(vd_json_get(stored_cog(a, "two"), VD_SLICE("spec")), "{\"color\":\"blue\"}");
    release_batch(&t);
    const struct vd_json *document = live("cogs")->document;
    assert_non_null(vd_json_dig(vd_json_first(vd_json_dig(document, "spec", "versions", NULL)),
                                "schema", "openAPIV3Schema", "properties", "spec", "properties",
                                "color", NULL));
}

static void violations_go_by_the_new_schema(void **state)
{
    static struct batch_trial t;
    struct vd_arena *a = *state;
    struct vd_error error;
    uint64_t revision = vd_store_revision(setting.store);
    assert_ok(plan(a, COGS(V1(SIZED)), &error), &error);
    add_cog(&t, "one", "{\"metadata\":{\"name\":\"one\"},\"spec\":{\"size\":10}}");
    add_definition(&t, "cogs." GROUP, COGS(V1(SIZED)));
    assert_int_equal(perform_batch(&t), VD_BATCH_REFUSED);
    expect_refusal(t.members.p[0], VD_REFUSED_INVALID);
    expect(t.members.p[1], VD_WRITE_WITHHELD);
    release_batch(&t);
    assert_int_equal(vd_store_revision(setting.store), revision);
    assert_null(live("cogs"));
    /* So does a dry run, which nobody's registry shows. */
    t.b.dry_run = true;
    add_cog(&t, "one", "{\"metadata\":{\"name\":\"one\"},\"spec\":{\"size\":1}}");
    add_definition(&t, "cogs." GROUP, COGS(V1(SIZED)));
    assert_int_equal(perform_batch(&t), VD_BATCH_DONE);
    assert_int_equal(vd_store_revision(setting.store), revision);
    assert_null(live("cogs"));
    release_batch(&t);
}

static void a_definition_goes_behind_its_objects(void **state)
{
    static struct batch_trial t;
    struct vd_arena *a = *state;
    struct vd_error error;
    create_cogs(a, &t);
    release_batch(&t);
    plan_anew();
    add_definition(&t, "cogs." GROUP, NULL);
    add_cog(&t, "one", NULL);
    add_cog(&t, "two", "{\"metadata\":{\"name\":\"two\"},\"spec\":{\"size\":2}}");
    assert_int_equal(perform_batch(&t), VD_BATCH_REFUSED);
    expect_refusal(t.members.p[2], VD_REFUSED_KIND_TERMINATING);
    assert_int_equal(t.b.refused, 1);
    release_batch(&t);
    add_definition(&t, "cogs." GROUP, NULL);
    add_cog(&t, "one", NULL);
    assert_int_equal(perform_batch(&t), VD_BATCH_DONE);
    expect(t.members.p[0], VD_WRITE_MARKED);
    expect(t.members.p[1], VD_WRITE_DELETED);
    assert_true(t.members.p[1]->w.revision < t.members.p[0]->w.revision);
    release_batch(&t);
    /* Nothing keeps it, so that it goes; until then it cannot come back. */
    for (int i = 0; live("cogs") && i < 10000; i++) {
        plan_anew();
        int code = plan(a, COGS(V1(SIZED)), &error);
        assert_true(code == VD_ERR_LOCKED || code == VD_OK);
        usleep(1000);
    }
    assert_null(live("cogs"));
    plan_anew();
    assert_ok(plan(a, COGS(V1(SIZED)), &error), &error);
}

static void names_that_others_have_are_refused(void **state)
{
    static const struct {
        const char *definition, *text;
    } wrong[] = {
        {NAMED_DEFINITION("pins", "Cog", "", V1(SIZED)),
         "the kind Cog of x.io/v1 is already that of cogs.x.io"},
        {NAMED_DEFINITION("pins", "Pin", ",\"singular\":\"cogs\"", V1(SIZED)),
         "the names of the definition \"pins.x.io\" are not accepted (SingularConflict): "
         "\"cogs\" is already in use"},
        {NAMED_DEFINITION("pins", "Pin", ",\"shortNames\":[\"cog\"]", V1(SIZED)),
         "the names of the definition \"pins.x.io\" are not accepted (ShortNamesConflict): "
         "\"cog\" is already in use"},
        {NAMED_DEFINITION("pins", "Pin", ",\"listKind\":\"CogList\"", V1(SIZED)),
         "the names of the definition \"pins.x.io\" are not accepted (ListKindConflict): "
         "\"CogList\" is already in use"},
    };
    struct vd_arena *a = *state;
    struct vd_error error;
    assert_ok(plan(a, COGS(V1(SIZED)), &error), &error);
    struct vd_kind_set *set = setting.set;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(plan(a, wrong[i].definition, &error), VD_ERR_EXISTS);
        assert_string_equal(error.text, wrong[i].text);
        assert_ptr_equal(setting.set, set);
    }
    assert_ok(plan(a, COGS(V1(COLORED)), &error), &error); /* its own names are no others' */
    assert_ok(plan(a, NAMED_DEFINITION("pins", "Pin", "", V1(SIZED)), &error), &error);
}

static void what_is_no_definition_is_explained(void **state)
{
    static const char *const wrong[] = {
        "[]",
        "{\"metadata\":[],\"spec\":{\"versions\":7}}",
        "{}",
        "{\"metadata\":{\"name\":\"a.b\"}}",
        "{\"metadata\":{\"name\":\"a.b\"},\"spec\":7}",
        COGS(""),
        COGS(V1("{\"type\":\"object\",\"properties\":{\"spec\":{\"type\":\"thing\"}}}")),
    };
    struct vd_arena *a = *state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct vd_violations violations = {0};
        struct vd_error error = {0};
        struct vd_kind_set *set = setting.set;
        int code = vd_definition_plan(&setting.env, &setting.set, json_of(a, wrong[i]), &violations,
                                      &error);
        if (code != VD_ERR_INVALID)
            fail_msg("%s: %d, %s", wrong[i], code, error.text);
        assert_true(error.text[0]);
        assert_true(i < 2 || vd_violations_any(&violations));
        assert_ptr_equal(setting.set, set);
        vd_violations_release(&violations);
    }
}

#define definition_test(f) cmocka_unit_test_setup_teardown(f, open_world, close_world)

int main(void)
{
    const struct CMUnitTest tests[] = {
        definition_test(a_definition_comes_with_its_objects),
        definition_test(a_schema_changes_with_its_objects),
        definition_test(violations_go_by_the_new_schema),
        definition_test(a_definition_goes_behind_its_objects),
        definition_test(names_that_others_have_are_refused),
        definition_test(what_is_no_definition_is_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
