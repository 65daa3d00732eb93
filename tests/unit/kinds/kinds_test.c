/* src/kinds/kind.c, registry.c, builtin.c, version.c: what a definition says, and who finds it. */
#include "kinds/kinds.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "json_check.h"
#include "kinds/builtin.h"
#include "kinds/builtin_files.h"

#define WIDGET_SPEC(extra)                                                                         \
    "\"spec\":{\"group\":\"example.com\",\"scope\":\"Namespaced\",\"names\":{\"kind\":\"Widget\"," \
    "\"plural\":\"widgets\",\"shortNames\":[\"wd\"],\"categories\":[\"all\"]},\"versions\":["      \
    "{\"name\":\"v1\",\"served\":true,\"storage\":true" extra "},"                                 \
    "{\"name\":\"v2\",\"served\":true,\"storage\":false},"                                         \
    "{\"name\":\"v1beta1\",\"served\":false,\"storage\":false,\"deprecated\":true}]}"
#define WIDGET "{" WIDGET_SPEC("") "}"

static const struct vd_kind *find(const struct vd_kind_set *set, const char *group,
                                  const char *version, const char *plural)
{
    return vd_kind_set_resource(set, vd_slice_of(group), vd_slice_of(version), vd_slice_of(plural));
}

static void built_in_kinds_are_there(void **state)
{
    static const struct {
        const char *group, *plural, *kind, *key, *columns;
        bool namespaced, stored, has_status, served;
    } want[] = {
        {"", "namespaces", "Namespace", "namespaces", "Status Age ", false, true, true, true},
        {"", "configmaps", "ConfigMap", "configmaps", "Data Age ", true, true, false, true},
        {"", "secrets", "Secret", "secrets", "Type Data Age ", true, true, false, true},
        {"", "serviceaccounts", "ServiceAccount", "serviceaccounts", "Secrets Age ", true, true,
         false, true},
        {"", "services", "Service", "services",
         "Type Cluster-IP External-IP Port(s) Age Selector+ ", true, true, true, true},
        {"", "events", "Event", "events",
         "Last Seen Type Reason Object Subobject+ Source+ Message First Seen+ Count+ Name+ ", true,
         true, false, true},
        {"events.k8s.io", "events", "Event", "events",
         "Last Seen Type Reason Object Subobject+ Source+ Message First Seen+ Count+ Name+ ", true,
         true, false, true},
        {"coordination.k8s.io", "leases", "Lease", "leases.coordination.k8s.io", "Holder Age ",
         true, true, false, true},
        {"rbac.authorization.k8s.io", "roles", "Role", "roles.rbac.authorization.k8s.io",
         "Created At ", true, true, false, true},
        {"rbac.authorization.k8s.io", "clusterrolebindings", "ClusterRoleBinding",
         "clusterrolebindings.rbac.authorization.k8s.io",
         "Role Age Users+ Groups+ ServiceAccounts+ ", false, true, false, true},
        {"authorization.k8s.io", "selfsubjectaccessreviews", "SelfSubjectAccessReview",
         "selfsubjectaccessreviews.authorization.k8s.io", "Age ", false, false, false, true},
        {"apiextensions.k8s.io", "customresourcedefinitions", "CustomResourceDefinition",
         "customresourcedefinitions.apiextensions.k8s.io", "Created At ", false, true, true, true},
    };
    (void)state;
    struct vd_kinds *kinds = vd_kinds_new_builtin();
    struct vd_kind_set *set = vd_kinds_snapshot(kinds);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        const struct vd_kind *kind = find(set, want[i].group, "v1", want[i].plural);
        struct vd_buf columns = {0};
        assert_non_null(kind);
        assert_slice(kind->kind, want[i].kind);
        assert_slice(kind->resource, want[i].key);
        assert_int_equal(kind->namespaced, want[i].namespaced);
        assert_int_equal(kind->stored, want[i].stored);
        assert_int_equal(kind->has_status, want[i].has_status);
        assert_int_equal(kind->served, want[i].served);
        assert_true(kind->builtin);
        for (size_t c = 0; c < kind->column_count; c++)
            vd_buf_addf(&columns, "%.*s%s ", VD_FMT(kind->columns[c].name),
                        kind->columns[c].priority ? "+" : "");
        assert_slice(vd_buf_slice(&columns), want[i].columns);
        vd_buf_release(&columns);
    }
    vd_kind_set_unref(set);
    vd_kinds_free(kinds);
}

/* `kubectl explain` has something to say of every field. */
static void assert_described(const struct vd_json *schema, const char *file, const char *name)
{
    const struct vd_json *properties = vd_json_get(schema, VD_SLICE("properties"));
    VD_JSON_EACH (property, properties) {
        bool named = vd_json_text(vd_json_get(property, VD_SLICE("description"))).n > 0 ||
                     vd_slice_is(vd_slice_of(name), "acceptedNames") ||
                     vd_slice_is(vd_slice_of(name), "loadBalancer");
        char key[64];
        snprintf(key, sizeof key, "%.*s", VD_FMT(vd_json_key(property)));
        if (!named)
            fail_msg("%s: %s.%s has no description", file, name, key);
        assert_described(property, file, key);
        assert_described(vd_json_get(property, VD_SLICE("items")), file, key);
    }
}

static void built_in_fields_are_described(void **state)
{
    (void)state;
    struct vd_kinds *kinds = vd_kinds_new_builtin();
    struct vd_kind_set *set = vd_kinds_snapshot(kinds);
    size_t n;
    struct vd_kind *const *all = vd_kind_set_all(set, &n);
    assert_int_equal(n, vd_builtin_file_count - 1);
    for (size_t i = 0; i < n; i++) {
        const struct vd_json *schema = vd_schema_source(vd_schema_root(all[i]->schema));
        char name[64];
        snprintf(name, sizeof name, "%.*s", VD_FMT(all[i]->kind));
        assert_true(vd_json_text(vd_json_get(schema, VD_SLICE("description"))).n > 0);
        assert_described(schema, name, "");
    }
    vd_kind_set_unref(set);
    vd_kinds_free(kinds);
}

static void details_are_read(void **state)
{
    (void)state;
    struct vd_kinds *kinds = vd_kinds_new_builtin();
    struct vd_kind_set *set = vd_kinds_snapshot(kinds);
    const struct vd_kind *secret = find(set, "", "v1", "secrets");
    const struct vd_kind *event = find(set, "", "v1", "events");
    struct vd_slice path;
    assert_true(vd_kind_selectable(secret, VD_SLICE("type"), &path));
    assert_slice(path, "type");
    assert_true(vd_kind_selectable(secret, VD_SLICE("metadata.name"), &path));
    assert_true(vd_kind_selectable(event, VD_SLICE("source"), &path));
    assert_slice(path, "source.component|reportingComponent");
    assert_true(vd_kind_selectable(event, VD_SLICE("involvedObject.uid"), &path));
    assert_slice(path, "involvedObject.uid");
    const struct vd_kind *newer = find(set, "events.k8s.io", "v1", "events");
    assert_true(vd_kind_selectable(newer, VD_SLICE("regarding.uid"), &path));
    assert_slice(path, "involvedObject.uid");
    assert_true(vd_kind_selectable(newer, VD_SLICE("reportingController"), &path));
    assert_slice(path, "reportingComponent");
    assert_true(vd_kind_selectable(newer, VD_SLICE("source"), &path));
    assert_slice(path, "source.component|reportingComponent");
    assert_false(vd_kind_selectable(newer, VD_SLICE("involvedObject.uid"), &path));
    assert_false(vd_kind_selectable(event, VD_SLICE("regarding.uid"), &path));
    assert_false(vd_kind_selectable(secret, VD_SLICE("data.k"), &path));
    assert_int_equal(secret->columns[1].cell, VD_CELL_COUNT);
    assert_slice(secret->columns[1].paths[0], ".data");
    assert_int_equal(find(set, "", "v1", "namespaces")->name_rule, VD_NAME_LABEL);
    assert_int_equal(find(set, "", "v1", "namespaces")->verbs & VD_VERB_DELETECOLLECTION, 0);
    assert_int_equal(secret->verbs, VD_VERB_ALL);
    assert_false(event->name_column);
    assert_true(secret->unconditional_update);
    assert_false(find(set, "coordination.k8s.io", "v1", "leases")->unconditional_update);
    /* The body of a subresource is no resource. */
    assert_null(find(set, "authentication.k8s.io", "v1", "tokenrequests"));
    const struct vd_kind *request = vd_kind_set_kind(set, VD_SLICE("authentication.k8s.io"),
                                                     VD_SLICE("v1"), VD_SLICE("TokenRequest"));
    assert_slice(request->subresource, "serviceaccounts/token");
    /* Strategic merges find their keys. */
    const struct vd_schema_node *owners = vd_schema_member(
        vd_schema_member(vd_schema_root(secret->schema), VD_SLICE("metadata")),
        VD_SLICE("ownerReferences"));
    assert_slice(vd_schema_patch_strategy(owners).merge_key, "uid");
    vd_kind_set_unref(set);
    vd_kinds_free(kinds);
}

static void a_definition_gives_a_kind_for_each_version(void **state)
{
    struct vd_error error = {0};
    struct vd_kinds *kinds = vd_kinds_new(NULL);
    assert_ok(vd_kinds_put(kinds, json_of(*state, WIDGET), false, &error), &error);
    struct vd_kind_set *set = vd_kinds_snapshot(kinds);
    size_t n;
    struct vd_kind *const *all = vd_kind_set_all(set, &n);
    assert_int_equal(n, 3);
    assert_slice(all[0]->version, "v2");
    assert_slice(all[1]->version, "v1");
    assert_slice(all[2]->version, "v1beta1");
    assert_slice(all[1]->list_kind, "WidgetList");
    assert_slice(all[1]->singular, "widget");
    assert_slice(all[1]->resource, "widgets.example.com");
    assert_slice(all[1]->api_version, "example.com/v1");
    assert_slice(all[1]->short_names[0], "wd");
    assert_slice(all[1]->categories[0], "all");
    assert_slice(all[1]->columns[0].name, "Age");
    assert_slice(all[2]->deprecation_warning,
                 "example.com/v1beta1 Widget is deprecated; use example.com/v2 Widget");
    assert_false(all[2]->served);
    assert_ptr_equal(vd_kind_set_stored(set, VD_SLICE("widgets.example.com")), all[1]);
    assert_null(find(set, "example.com", "v3", "widgets"));
    assert_null(vd_kind_set_kind(set, VD_SLICE("example.com"), VD_SLICE("v1"), VD_SLICE("Gadget")));
    vd_kind_set_unref(set);
    vd_kinds_free(kinds);
}

/* leases.coordination.k8s.io, say, in one version. */
static int put_in(struct vd_kinds *kinds, struct vd_arena *a, const char *group,
                  const char *version, const char *plural, struct vd_error *error)
{
    struct vd_buf text = {0};
    vd_buf_addf(&text,
                "{\"spec\":{\"group\":\"%s\",\"scope\":\"Cluster\",\"names\":{\"kind\":\"Mine\","
                "\"plural\":\"%s\"},\"versions\":[{\"name\":\"%s\",\"served\":true,"
                "\"storage\":true}]}}",
                group, plural, version);
    int code = vd_kinds_put(kinds, json_of(a, vd_buf_text(&text)), false, error);
    vd_buf_release(&text);
    return code;
}

/* As in Kubernetes, where another server answers for them. */
static void only_built_in_kinds_are_served_in_their_versions(void **state)
{
    struct vd_error error = {0};
    struct vd_kinds *kinds = vd_kinds_new_builtin();
    static const char group[] = "coordination.k8s.io";
    assert_ok(put_in(kinds, *state, group, "v1", "mines", &error), &error);
    assert_ok(put_in(kinds, *state, group, "v7", "others", &error), &error);
    assert_code(put_in(kinds, *state, group, "v7", "leases", &error), VD_ERR_EXISTS);
    assert_code(put_in(kinds, *state, "events.k8s.io", "v7", "events", &error), VD_ERR_EXISTS);
    struct vd_kind_set *set = vd_kinds_snapshot(kinds);
    assert_false(find(set, group, "v1", "mines")->served);
    assert_true(find(set, group, "v7", "others")->served);
    assert_true(find(set, group, "v1", "leases")->served);
    assert_true(find(set, "events.k8s.io", "v1", "events")->served);
    vd_kind_set_unref(set);
    vd_kinds_free(kinds);
}

static void changes_leave_readers_alone(void **state)
{
    struct vd_error error = {0};
    struct vd_kinds *kinds = vd_kinds_new(NULL);
    assert_ok(vd_kinds_put(kinds, json_of(*state, WIDGET), false, &error), &error);
    struct vd_kind_set *before = vd_kinds_snapshot(kinds);
    uint64_t generation = vd_kinds_generation(kinds);
    assert_int_equal(vd_kind_set_generation(before), generation);
    assert_code(vd_kinds_remove(kinds, VD_SLICE("example.com"), VD_SLICE("gadgets"), &error),
                VD_ERR_NOT_FOUND);
    assert_int_equal(vd_kinds_generation(kinds), generation);
    assert_ok(vd_kinds_remove(kinds, VD_SLICE("example.com"), VD_SLICE("widgets"), &error), &error);
    assert_int_equal(vd_kinds_generation(kinds), generation + 1);
    struct vd_kind_set *after = vd_kinds_snapshot(kinds);
    assert_null(find(after, "example.com", "v1", "widgets"));
    vd_kind_set_unref(after);
    vd_kinds_free(kinds);
    const struct vd_kind *kind = find(before, "example.com", "v1", "widgets");
    assert_slice(kind->kind, "Widget");
    vd_kind_set_unref(before);
}

/* Whoever may make a definition must not reach another kind's objects with it. */
/* Up to when objects may be as another schema wanted them: only of versions that change. */
static void a_schema_that_stays_keeps_its_date(void **state)
{
#define AT(revision, uid, v1, v2)                                                                  \
    "{\"metadata\":{\"resourceVersion\":\"" revision "\",\"uid\":\"" uid                           \
    "\"},\"spec\":{\"group\":\"example.com\",\"scope\":\"Cluster\",\"names\":{\"kind\":\"Thing\"," \
    "\"plural\":\"things\"},\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":true,"      \
    "\"schema\":{\"openAPIV3Schema\":" v1 "}},{\"name\":\"v2\",\"served\":true,\"schema\":{"       \
    "\"openAPIV3Schema\":" v2 "}}]}}"
    static const struct {
        const char *document;
        uint64_t v1, v2;
    } rows[] = {
        {AT("10", "a", "{}", "{}"), 10, 10},
        {AT("20", "a", "{}", "{\"type\":\"object\"}"), 10, 20},
        {AT("30", "a", "{}", "{\"type\":\"object\"}"), 10, 20},
        {AT("40", "a", "{\"type\":\"object\"}", "{\"type\":\"object\"}"), 40, 20},
        {AT("50", "b", "{\"type\":\"object\"}", "{\"type\":\"object\"}"), 50, 50},
    };
    struct vd_kinds *kinds = vd_kinds_new(NULL);
    struct vd_error error;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_ok(vd_kinds_put(kinds, json_of(*state, rows[i].document), false, &error), &error);
        struct vd_kind_set *set = vd_kinds_snapshot(kinds);
        assert_int_equal(find(set, "example.com", "v1", "things")->schema_since, rows[i].v1);
        assert_int_equal(find(set, "example.com", "v2", "things")->schema_since, rows[i].v2);
        vd_kind_set_unref(set);
    }
    vd_kinds_free(kinds);
}

static void annotations_of_built_in_kinds_do_nothing_for_others(void **state)
{
    static const char document[] =
        "{\"metadata\":{\"annotations\":{\"vedette.dev/storage\":\"secrets\","
        "\"vedette.dev/verbs\":\"get fly\",\"vedette.dev/subresource\":\"secrets/peek\","
        "\"vedette.dev/status-boundary\":\"strict\"}}," WIDGET_SPEC("") "}";
    struct vd_kinds *kinds = vd_kinds_new_builtin();
    struct vd_error error;
    assert_ok(vd_kinds_put(kinds, json_of(*state, document), false, &error), &error);
    struct vd_kind_set *set = vd_kinds_snapshot(kinds);
    const struct vd_kind *kind = find(set, "example.com", "v1", "widgets");
    assert_slice(kind->resource, "widgets.example.com");
    assert_int_equal(kind->verbs, VD_VERB_ALL);
    assert_int_equal(kind->subresource.n, 0);
    assert_true(kind->status_boundary_strict);
    vd_kind_set_unref(set);
    vd_kinds_free(kinds);
}

static void bad_definitions_are_refused(void **state)
{
    static const struct {
        const char *document, *says;
        int code;
    } cases[] = {
        {"{}", "no versions", VD_ERR_INVALID},
        {"{\"spec\":{\"names\":{\"plural\":\"ws\"},\"scope\":\"Cluster\",\"versions\":[{\"name\":"
         "\"v1\"}]}}",
         "lacks \"kind\"", VD_ERR_INVALID},
        {"{\"spec\":{\"names\":{\"plural\":\"ws\",\"kind\":\"W\"},\"versions\":[{\"name\":\"v1\"}]}"
         "}",
         "spec.scope must be", VD_ERR_INVALID},
        {"{\"metadata\":{\"annotations\":{\"vedette.dev/spec-owner\":\"me\"}}," WIDGET_SPEC("") "}",
         "spec-owner must be", VD_ERR_INVALID},
        {"{" WIDGET_SPEC(",\"schema\":{\"openAPIV3Schema\":{\"type\":\"thing\"}}") "}",
         "widgets.example.com: schema: type must be", VD_ERR_INVALID},
        {"{" WIDGET_SPEC(",\"additionalPrinterColumns\":[{\"name\":\"A\",\"type\":\"date\"}]") "}",
         "lacks \"jsonPath\"", VD_ERR_INVALID},
        {"{" WIDGET_SPEC(",\"selectableFields\":[{\"jsonPath\":\"a\"}]") "}",
         "must start with a '.'", VD_ERR_INVALID},
        {"{\"spec\":{\"group\":\"\",\"scope\":\"Namespaced\",\"names\":{\"kind\":\"ConfigMap\","
         "\"plural\":\"configmaps\"},\"versions\":[{\"name\":\"v1\"}]}}",
         "configmaps is built in", VD_ERR_EXISTS},
        {"{\"spec\":{\"group\":\"\",\"scope\":\"Namespaced\",\"names\":{\"kind\":\"ConfigMap\","
         "\"plural\":\"cms\"},\"versions\":[{\"name\":\"v1\"}]}}",
         "the kind ConfigMap of v1 is already that of configmaps", VD_ERR_EXISTS},
    };
    struct vd_kinds *kinds = vd_kinds_new_builtin();
    uint64_t generation = vd_kinds_generation(kinds);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_error error = {0};
        assert_code(vd_kinds_put(kinds, json_of(*state, cases[i].document), false, &error),
                    cases[i].code);
        assert_says(&error, cases[i].says);
    }
    assert_int_equal(vd_kinds_generation(kinds), generation);
    vd_kinds_free(kinds);
}

static void versions_have_kubernetes_order(void **state)
{
    static const char *const order[] = {"v10",     "v2",        "v1",        "v11beta2", "v10beta3",
                                        "v3beta1", "v12alpha1", "v11alpha2", "foo1",     "foo10"};
    (void)state;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        for (size_t j = 0; j < sizeof order / sizeof *order; j++) {
            int got = vd_version_cmp(vd_slice_of(order[i]), vd_slice_of(order[j]));
            assert_int_equal((got > 0) - (got < 0), (i > j) - (i < j));
        }
    }
}

struct race {
    struct vd_kinds *kinds;
    atomic_bool done, went_back, not_found;
};

static void *read_all_the_time(void *context)
{
    struct race *race = context;
    uint64_t last = 0;
    while (!atomic_load(&race->done)) {
        struct vd_kind_set *set = vd_kinds_snapshot(race->kinds);
        size_t n;
        struct vd_kind *const *all = vd_kind_set_all(set, &n);
        if (vd_kind_set_generation(set) < last)
            atomic_store(&race->went_back, true);
        last = vd_kind_set_generation(set);
        for (size_t i = 0; i < n; i++)
            if (vd_kind_set_resource(set, all[i]->group, all[i]->version, all[i]->plural) != all[i])
                atomic_store(&race->not_found, true);
        vd_kind_set_unref(set);
    }
    return NULL;
}

static void readers_and_writers_share_the_registry(void **state)
{
    enum { READERS = 3, CHANGES = 300 };
    struct race race = {.kinds = vd_kinds_new(NULL)};
    struct vd_json *document = json_of(*state, WIDGET);
    struct vd_error error = {0};
    pthread_t readers[READERS];
    for (int i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, read_all_the_time, &race), 0);
    for (int i = 0; i < CHANGES; i++) {
        assert_ok(vd_kinds_put(race.kinds, document, false, &error), &error);
        if (i % 3 == 0)
            assert_ok(
                vd_kinds_remove(race.kinds, VD_SLICE("example.com"), VD_SLICE("widgets"), &error),
                &error);
    }
    atomic_store(&race.done, true);
    for (int i = 0; i < READERS; i++)
        pthread_join(readers[i], NULL);
    assert_false(atomic_load(&race.went_back));
    assert_false(atomic_load(&race.not_found));
    vd_kinds_free(race.kinds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(built_in_kinds_are_there),
        cmocka_unit_test(built_in_fields_are_described),
        cmocka_unit_test(details_are_read),
        arena_test(a_definition_gives_a_kind_for_each_version),
        arena_test(only_built_in_kinds_are_served_in_their_versions),
        arena_test(changes_leave_readers_alone),
        arena_test(a_schema_that_stays_keeps_its_date),
        arena_test(annotations_of_built_in_kinds_do_nothing_for_others),
        arena_test(bad_definitions_are_refused),
        cmocka_unit_test(versions_have_kubernetes_order),
        arena_test(readers_and_writers_share_the_registry),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
