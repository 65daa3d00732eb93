/* src/kube/discovery/discovery.c, subresource.c: which kinds there are, in Kubernetes' words. */
#include "kube/discovery/discovery.h"

#include "json_check.h"
#include "kinds/builtin.h"
#include "kube/subresource.h"
#include "widget_kinds.h"

#define ALL_VERBS                                                                                  \
    "\"verbs\":[\"create\",\"delete\",\"deletecollection\",\"get\",\"list\",\"patch\",\"update\"," \
    "\"watch\"]"
#define SUB_VERBS "\"verbs\":[\"get\",\"patch\",\"update\"]"
#define GV(v)     "{\"groupVersion\":\"example.com/" v "\",\"version\":\"" v "\"}"
#define WIDGETS_GROUP                                                                              \
    "\"name\":\"example.com\",\"versions\":[" GV("v2") "," GV("v1") "],\"preferredVersion\":" GV(  \
        "v2")

struct tiny {
    struct vd_kinds *kinds;
    struct vd_kind_set *set;
    struct vd_buf out;
};

static struct tiny tiny_open(void)
{
    struct tiny t = {.kinds = widget_kinds()};
    t.set = vd_kinds_snapshot(t.kinds);
    return t;
}

static void tiny_close(struct tiny *t)
{
    vd_kind_set_unref(t->set);
    vd_kinds_free(t->kinds);
    vd_buf_release(&t->out);
}

static void groups_name_their_versions_newest_first(void **state)
{
    (void)state;
    struct tiny t = tiny_open();
    vd_discovery_write_versions(&t.out);
    assert_slice(vd_buf_slice(&t.out), "{\"kind\":\"APIVersions\",\"versions\":[\"v1\"],"
                                       "\"serverAddressByClientCIDRs\":[]}");
    vd_buf_reset(&t.out);
    vd_discovery_write_groups(&t.out, t.set);
    assert_slice(vd_buf_slice(&t.out), "{\"kind\":\"APIGroupList\",\"apiVersion\":\"v1\","
                                       "\"groups\":[{" WIDGETS_GROUP "}]}");
    vd_buf_reset(&t.out);
    assert_true(vd_discovery_write_group(&t.out, t.set, VD_SLICE("example.com")));
    assert_slice(vd_buf_slice(&t.out),
                 "{\"kind\":\"APIGroup\",\"apiVersion\":\"v1\"," WIDGETS_GROUP "}");
    tiny_close(&t);
}

static void resources_come_with_their_subresources(void **state)
{
    (void)state;
    struct tiny t = tiny_open();
    assert_true(
        vd_discovery_write_resources(&t.out, t.set, VD_SLICE("example.com"), VD_SLICE("v1")));
    assert_slice(
        vd_buf_slice(&t.out),
        "{\"kind\":\"APIResourceList\",\"apiVersion\":\"v1\",\"groupVersion\":\"example.com/v1\","
        "\"resources\":["
        "{\"name\":\"widgets\",\"singularName\":\"widget\",\"namespaced\":true,\"kind\":"
        "\"Widget\"," ALL_VERBS ",\"shortNames\":[\"wd\"],\"categories\":[\"all\"],"
        "\"storageVersionHash\":\"gIwvi5rymmg=\"},"
        "{\"name\":\"widgets/status\",\"singularName\":\"\",\"namespaced\":true,"
        "\"kind\":\"Widget\"," SUB_VERBS "},"
        "{\"name\":\"widgets/scale\",\"singularName\":\"\",\"namespaced\":true,"
        "\"group\":\"autoscaling\",\"version\":\"v1\",\"kind\":\"Scale\"," SUB_VERBS "}]}");
    vd_buf_reset(&t.out);
    assert_true(vd_discovery_write_resources(&t.out, t.set, VD_SLICE(""), VD_SLICE("v1")));
    assert_slice(vd_buf_slice(&t.out),
                 "{\"kind\":\"APIResourceList\",\"groupVersion\":\"v1\",\"resources\":["
                 "{\"name\":\"namespaces\",\"singularName\":\"namespace\",\"namespaced\":false,"
                 "\"kind\":\"Namespace\"," ALL_VERBS ",\"storageVersionHash\":\"Q3oi5N2YM8M=\"},"
                 "{\"name\":\"namespaces/finalize\",\"singularName\":\"\",\"namespaced\":false,"
                 "\"kind\":\"Namespace\",\"verbs\":[\"update\"]}]}");
    tiny_close(&t);
}

/* v2 is stored as v1, so clients can see that they are one. */
static void versions_of_one_storage_have_one_hash(void **state)
{
    (void)state;
    struct tiny t = tiny_open();
    assert_true(
        vd_discovery_write_resources(&t.out, t.set, VD_SLICE("example.com"), VD_SLICE("v2")));
    assert_non_null(strstr(vd_buf_text(&t.out), "\"storageVersionHash\":\"gIwvi5rymmg=\""));
    tiny_close(&t);
}

static void what_is_not_there_adds_nothing(void **state)
{
    static const struct {
        const char *group, *version;
    } cases[] = {{"example.com", "v3alpha1"}, {"example.com", "v9"}, {"other", "v1"}, {"", "v2"}};
    (void)state;
    struct tiny t = tiny_open();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_false(vd_discovery_write_resources(&t.out, t.set, vd_slice_of(cases[i].group),
                                                  vd_slice_of(cases[i].version)));
    assert_false(vd_discovery_write_group(&t.out, t.set, VD_SLICE("other")));
    assert_false(vd_discovery_write_group(&t.out, t.set, VD_SLICE("")));
    assert_int_equal(t.out.n, 0);
    tiny_close(&t);
}

static void an_empty_registry_still_has_the_core_version(void **state)
{
    (void)state;
    struct vd_kinds *kinds = vd_kinds_new(NULL);
    struct vd_kind_set *set = vd_kinds_snapshot(kinds);
    struct vd_buf out = {0};
    assert_true(vd_discovery_write_resources(&out, set, VD_SLICE(""), VD_SLICE("v1")));
    assert_slice(vd_buf_slice(&out),
                 "{\"kind\":\"APIResourceList\",\"groupVersion\":\"v1\",\"resources\":[]}");
    vd_buf_reset(&out);
    vd_discovery_write_groups(&out, set);
    assert_slice(vd_buf_slice(&out),
                 "{\"kind\":\"APIGroupList\",\"apiVersion\":\"v1\",\"groups\":[]}");
    vd_buf_release(&out);
    vd_kind_set_unref(set);
    vd_kinds_free(kinds);
}

#define WIDGET_KIND(v) "{\"group\":\"example.com\",\"version\":\"" v "\",\"kind\":\"Widget\"}"
#define WIDGET_RESOURCE(v)                                                                         \
    "{\"resource\":\"widgets\",\"responseKind\":" WIDGET_KIND(                                     \
        v) ",\"scope\":\"Namespaced\","                                                            \
           "\"singularResource\":\"widget\"," ALL_VERBS                                            \
           ",\"shortNames\":[\"wd\"],\"categories\":[\"all\"]"

static void aggregated_lists_hold_everything(void **state)
{
    (void)state;
    struct tiny t = tiny_open();
    vd_discovery_write_aggregate(&t.out, t.set, (struct vd_discovery_aggregate){.core = false});
    assert_slice(
        vd_buf_slice(&t.out),
        "{\"kind\":\"APIGroupDiscoveryList\",\"apiVersion\":\"apidiscovery.k8s.io/v2\","
        "\"metadata\":{},\"items\":[{\"metadata\":{\"name\":\"example.com\"},\"versions\":["
        "{\"version\":\"v2\",\"resources\":[" WIDGET_RESOURCE(
            "v2") "}],\"freshness\":\"Current\"},"
                  "{\"version\":\"v1\",\"resources\":[" WIDGET_RESOURCE(
                      "v1") ",\"subresources\":["
                            "{\"subresource\":\"status\",\"responseKind\":" WIDGET_KIND(
                                "v1") "," SUB_VERBS "},"
                                      "{\"subresource\":\"scale\",\"responseKind\":{\"group\":"
                                      "\"autoscaling\",\"version\":\"v1\",\"kind\":\"Scale\"}"
                                      "," SUB_VERBS "}]}],\"freshness\":\"Current\"}]}]}");
    vd_buf_reset(&t.out);
    vd_discovery_write_aggregate(&t.out, t.set,
                                 (struct vd_discovery_aggregate){.core = true, .v2beta1 = true});
    assert_slice(
        vd_buf_slice(&t.out),
        "{\"kind\":\"APIGroupDiscoveryList\",\"apiVersion\":\"apidiscovery.k8s.io/v2beta1\","
        "\"metadata\":{},\"items\":[{\"metadata\":{},\"versions\":[{\"version\":\"v1\","
        "\"resources\":[{\"resource\":\"namespaces\",\"responseKind\":{\"group\":\"\","
        "\"version\":\"v1\",\"kind\":\"Namespace\"},\"scope\":\"Cluster\","
        "\"singularResource\":\"namespace\"," ALL_VERBS ",\"subresources\":["
        "{\"subresource\":\"finalize\",\"responseKind\":{\"group\":\"\",\"version\":\"v1\","
        "\"kind\":\"Namespace\"},\"verbs\":[\"update\"]}]}],\"freshness\":\"Current\"}]}]}");
    tiny_close(&t);
}

/* How often the list of the kind's version names it. */
static size_t times_listed(struct vd_arena *a, const struct vd_kind_set *set,
                           const struct vd_kind *kind)
{
    struct vd_buf out = {0};
    size_t n = 0;
    bool found = vd_discovery_write_resources(&out, set, kind->group, kind->version);
    struct vd_json *list = found ? json_of(a, vd_buf_text(&out)) : NULL;
    VD_JSON_EACH (resource, vd_json_get(list, VD_SLICE("resources")))
        n += vd_slice_eq(vd_json_text(vd_json_get(resource, VD_SLICE("name"))), kind->plural);
    vd_arena_reset(a);
    vd_buf_release(&out);
    return n;
}

static void every_served_built_in_kind_appears_once(void **state)
{
    size_t n, listed = 0;
    struct vd_kinds *kinds = vd_kinds_new_builtin();
    struct vd_kind_set *set = vd_kinds_snapshot(kinds);
    struct vd_kind *const *all = vd_kind_set_all(set, &n);
    for (size_t i = 0; i < n; i++) {
        listed += vd_kind_is_listed(all[i]);
        assert_int_equal(times_listed(*state, set, all[i]), vd_kind_is_listed(all[i]));
    }
    assert_true(listed > 10);
    vd_kind_set_unref(set);
    vd_kinds_free(kinds);
}

static void known_built_ins_are_as_kubernetes_has_them(void **state)
{
    static const char *const parts[] = {
        "{\"name\":\"configmaps\",\"singularName\":\"configmap\",\"namespaced\":true,"
        "\"kind\":\"ConfigMap\"," ALL_VERBS
        ",\"shortNames\":[\"cm\"],\"storageVersionHash\":\"qFsyl6wFWjQ=\"}",
        "{\"name\":\"serviceaccounts/token\",\"singularName\":\"\",\"namespaced\":true,"
        "\"group\":\"authentication.k8s.io\",\"version\":\"v1\",\"kind\":\"TokenRequest\","
        "\"verbs\":[\"create\"]}",
        "{\"name\":\"namespaces/status\",\"singularName\":\"\",\"namespaced\":false,"
        "\"kind\":\"Namespace\"," SUB_VERBS "}",
    };
    (void)state;
    struct vd_kinds *kinds = vd_kinds_new_builtin();
    struct vd_kind_set *set = vd_kinds_snapshot(kinds);
    struct vd_buf out = {0};
    assert_true(vd_discovery_write_resources(&out, set, VD_SLICE(""), VD_SLICE("v1")));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (!strstr(vd_buf_text(&out), parts[i]))
            fail_msg("%s is not in %s", parts[i], vd_buf_text(&out));
    }
    vd_buf_release(&out);
    vd_kind_set_unref(set);
    vd_kinds_free(kinds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_name_their_versions_newest_first),
        cmocka_unit_test(resources_come_with_their_subresources),
        cmocka_unit_test(versions_of_one_storage_have_one_hash),
        cmocka_unit_test(what_is_not_there_adds_nothing),
        cmocka_unit_test(an_empty_registry_still_has_the_core_version),
        cmocka_unit_test(aggregated_lists_hold_everything),
        arena_test(every_served_built_in_kind_appears_once),
        cmocka_unit_test(known_built_ins_are_as_kubernetes_has_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
