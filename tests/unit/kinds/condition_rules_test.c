/* The rules for conditions, wherever in status they stand. */
#include "json_check.h"
#include "kinds/condition_rules.h"
#include "widget_kinds.h"
#include "json/compare.h"

/* A list of conditions by the standard, as one line. */
#define CONDITIONS                                                                                 \
    "conditions: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [type], "  \
    "items: {type: object, properties: {type: {type: string}, status: {type: string}, "            \
    "reason: {type: string}, message: {type: string}, observedGeneration: {type: integer}, "       \
    "lastTransitionTime: {type: string}}}}\n"

/* A list at the top, one in the elements of a map by name, one in those of a list that
 * is none, and two that are not the standard. */
/* clang-format off */
static const char KIND[] =
    CLUSTER_KIND_YAML("Thing", "things")
    "        properties:\n"
    "          status:\n"
    "            type: object\n"
    "            properties:\n"
    "              observedGeneration: {type: integer}\n"
    "              " CONDITIONS
    "              doors:\n"
    "                type: array\n"
    "                x-kubernetes-list-type: map\n"
    "                x-kubernetes-list-map-keys: [name]\n"
    "                items:\n"
    "                  type: object\n"
    "                  properties:\n"
    "                    name: {type: string}\n"
    "                    " CONDITIONS
    "              parents:\n"
    "                type: array\n"
    "                items:\n"
    "                  type: object\n"
    "                  properties:\n"
    "                    " CONDITIONS
    "              loose:\n"
    "                type: array\n"
    "                items:\n"
    "                  type: object\n"
    "                  properties: {type: {type: string}, status: {type: string}}\n"
    "              odd:\n"
    "                type: array\n"
    "                x-kubernetes-list-type: map\n"
    "                x-kubernetes-list-map-keys: [type]\n"
    "                items:\n"
    "                  type: object\n"
    "                  properties:\n"
    "                    type: {type: string}\n"
    "                    status: {type: string}\n"
    "                    weight: {type: integer}\n";
/* clang-format on */

struct thing {
    struct vd_kinds *kinds;
    struct vd_kind_set *set;
    const struct vd_kind *kind;
};

/* What the kind's definition says of conditions, beside its schema. */
#define STRICT "metadata: {annotations: {vedette.dev/status-conditions: strict}}\n"

static struct thing thing_new(const char *annotations)
{
    struct thing t = {.kinds = vd_kinds_new(NULL)};
    struct vd_buf yaml = {0};
    vd_buf_addf(&yaml, "%s%s", annotations, KIND);
    put_kind(t.kinds, vd_buf_text(&yaml), false);
    vd_buf_release(&yaml);
    t.set = vd_kinds_snapshot(t.kinds);
    t.kind = vd_kind_set_resource(t.set, VD_SLICE("example.com"), VD_SLICE("v1"),
                                  VD_SLICE("things"));
    assert_non_null(t.kind);
    return t;
}

static void thing_free(struct thing *t)
{
    vd_kind_set_unref(t->set);
    vd_kinds_free(t->kinds);
}

/* An object with this status, of generation 3. */
static struct vd_json *object_of(struct vd_arena *a, const char *status)
{
    struct vd_json *object = json_of(a, "{\"metadata\":{\"generation\":3}}");
    vd_json_set(a, object, VD_SLICE("status"), json_of(a, status));
    return object;
}

static void what_is_wrong_is_named(void **state)
{
    static const struct {
        const char *status;
        const char *wrong; /* "field: message", joined as Kubernetes does */
    } cases[] = {
        {"{}", ""},
        {"{\"conditions\":[]}", ""},
        {"{\"conditions\":[{\"type\":\"A\",\"status\":\"True\",\"observedGeneration\":3},"
         "{\"type\":\"B\",\"status\":\"False\"},{\"type\":\"C\",\"status\":\"Unknown\"}]}",
         ""},
        {"{\"conditions\":[{\"type\":\"A\",\"status\":\"true\"}]}",
         "status.conditions[0].status: Unsupported value: \"true\": supported values: \"True\", "
         "\"False\", \"Unknown\""},
        {"{\"conditions\":[{\"type\":\"A\",\"status\":\"\"}]}",
         "status.conditions[0].status: Unsupported value: \"\": supported values: \"True\", "
         "\"False\", \"Unknown\""},
        {"{\"conditions\":[{\"type\":\"A\",\"status\":\"True\"},{\"type\":\"B\",\"status\":"
         "\"True\"},{\"type\":\"A\",\"status\":\"False\"}]}",
         "status.conditions[2]: Duplicate value: \"A\""},
        {"{\"conditions\":[{\"type\":\"A\",\"status\":\"True\",\"observedGeneration\":4}]}",
         "status.conditions[0].observedGeneration: Invalid value: 4: must not be above "
         "metadata.generation, which is 3"},
        {"{\"observedGeneration\":4}",
         "status.observedGeneration: Invalid value: 4: must not be above metadata.generation, "
         "which is 3"},
        {"{\"observedGeneration\":3}", ""},
        {"{\"doors\":[{\"name\":\"x\"},{\"name\":\"y\",\"conditions\":[{\"type\":\"A\","
         "\"status\":\"no\"}]}]}",
         "status.doors[1].conditions[0].status: Unsupported value: \"no\": supported values: "
         "\"True\", \"False\", \"Unknown\""},
        {"{\"parents\":[{\"conditions\":[{\"type\":\"A\",\"status\":\"True\","
         "\"observedGeneration\":9}]}]}",
         "status.parents[0].conditions[0].observedGeneration: Invalid value: 9: must not be above "
         "metadata.generation, which is 3"},
        {"{\"loose\":[{\"type\":\"A\",\"status\":\"no\"},{\"type\":\"A\"}]}", ""},
        {"{\"odd\":[{\"type\":\"A\",\"status\":\"no\"}]}", ""},
        {"{\"conditions\":[7,null,{\"type\":7,\"status\":7,\"observedGeneration\":\"x\"}]}", ""},
        {"{\"conditions\":{\"type\":\"A\",\"status\":\"no\"}}", ""},
        {"[]", ""},
    };
    struct vd_arena *a = *state;
    struct thing t = thing_new(STRICT);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_violations violations = {0};
        struct vd_buf text = {0};
        vd_condition_rules_check(t.kind, object_of(a, cases[i].status), &violations);
        if (vd_violations_any(&violations))
            vd_violations_write(&text, &violations);
        assert_slice(vd_buf_slice(&text), cases[i].wrong);
        vd_buf_release(&text);
        vd_violations_release(&violations);
    }
    thing_free(&t);
}

static void without_the_annotation_the_schema_says_what_a_status_may_be(void **state)
{
    struct vd_arena *a = *state;
    struct thing t = thing_new("");
    struct vd_violations violations = {0};
    struct vd_buf text = {0};
    vd_condition_rules_check(t.kind,
                             object_of(a,
                                       "{\"conditions\":[{\"type\":\"A\",\"status\":\"Degraded\"},"
                                       "{\"type\":\"B\",\"status\":\"\"}]}"),
                             &violations);
    assert_false(vd_violations_any(&violations));
    vd_condition_rules_check(t.kind,
                             object_of(a,
                                       "{\"conditions\":[{\"type\":\"A\",\"status\":\"Degraded\","
                                       "\"observedGeneration\":4},{\"type\":\"A\"}]}"),
                             &violations);
    vd_violations_write(&text, &violations);
    assert_slice(vd_buf_slice(&text),
                 "[status.conditions[1]: Duplicate value: \"A\", "
                 "status.conditions[0].observedGeneration: Invalid value: 4: must not be above "
                 "metadata.generation, which is 3]");
    vd_buf_release(&text);
    vd_violations_release(&violations);
    thing_free(&t);
}

static void nothing_is_said_twice(void **state)
{
    struct vd_arena *a = *state;
    struct thing t = thing_new(STRICT);
    struct vd_violations violations = {0};
    struct vd_json *object = object_of(a, "{\"conditions\":[{\"type\":\"A\",\"status\":\"True\"},"
                                          "{\"type\":\"A\",\"status\":\"True\"}]}");
    assert_false(vd_schema_validate(t.kind->schema, object, &violations));
    assert_int_equal(violations.list.n, 1);
    vd_condition_rules_check(t.kind, object, &violations);
    assert_int_equal(violations.list.n, 1);
    vd_violations_release(&violations);
    thing_free(&t);
}

static void an_object_without_generation_has_none_to_compare_with(void **state)
{
    struct vd_arena *a = *state;
    struct thing t = thing_new(STRICT);
    struct vd_violations violations = {0};
    vd_condition_rules_check(
        t.kind, json_of(a, "{\"metadata\":{},\"status\":{\"observedGeneration\":9}}"), &violations);
    assert_false(vd_violations_any(&violations));
    vd_violations_release(&violations);
    thing_free(&t);
}

static void times_stay_while_the_status_does(void **state)
{
    static const struct {
        const char *was, *sent, *becomes; /* NULL: as sent */
    } cases[] = {
        {"{\"conditions\":[{\"type\":\"A\",\"status\":\"True\",\"lastTransitionTime\":\"t1\"}]}",
         "{\"conditions\":[{\"type\":\"A\",\"status\":\"True\",\"lastTransitionTime\":\"t2\"}]}",
         "{\"conditions\":[{\"type\":\"A\",\"status\":\"True\",\"lastTransitionTime\":\"t1\"}]}"},
        {"{\"conditions\":[{\"type\":\"A\",\"status\":\"True\",\"lastTransitionTime\":\"t1\"}]}",
         "{\"conditions\":[{\"type\":\"A\",\"status\":\"True\",\"reason\":\"R\"}]}",
         "{\"conditions\":[{\"type\":\"A\",\"status\":\"True\",\"reason\":\"R\","
         "\"lastTransitionTime\":\"t1\"}]}"},
        {"{\"conditions\":[{\"type\":\"A\",\"status\":\"True\",\"lastTransitionTime\":\"t1\"}]}",
         "{\"conditions\":[{\"type\":\"A\",\"status\":\"False\",\"lastTransitionTime\":\"t2\"}]}",
         NULL},
        {"{\"conditions\":[{\"type\":\"A\",\"status\":\"True\"}]}",
         "{\"conditions\":[{\"type\":\"A\",\"status\":\"True\",\"lastTransitionTime\":\"t2\"}]}",
         NULL},
        {"{\"conditions\":[{\"type\":\"A\",\"status\":\"True\",\"lastTransitionTime\":\"t1\"},"
         "{\"type\":\"B\",\"status\":\"True\",\"lastTransitionTime\":\"t2\"}]}",
         "{\"conditions\":[{\"type\":\"C\",\"status\":\"True\",\"lastTransitionTime\":\"t3\"},"
         "{\"type\":\"B\",\"status\":\"True\",\"lastTransitionTime\":\"t3\"},"
         "{\"type\":\"A\",\"status\":\"False\",\"lastTransitionTime\":\"t3\"}]}",
         "{\"conditions\":[{\"type\":\"C\",\"status\":\"True\",\"lastTransitionTime\":\"t3\"},"
         "{\"type\":\"B\",\"status\":\"True\",\"lastTransitionTime\":\"t2\"},"
         "{\"type\":\"A\",\"status\":\"False\",\"lastTransitionTime\":\"t3\"}]}"},
        {"{\"doors\":[{\"name\":\"x\",\"conditions\":[{\"type\":\"A\",\"status\":\"True\","
         "\"lastTransitionTime\":\"t1\"}]}]}",
         "{\"doors\":[{\"name\":\"y\",\"conditions\":[{\"type\":\"A\",\"status\":\"True\","
         "\"lastTransitionTime\":\"t2\"}]},{\"name\":\"x\",\"conditions\":[{\"type\":\"A\","
         "\"status\":\"True\",\"lastTransitionTime\":\"t2\"}]}]}",
         "{\"doors\":[{\"name\":\"y\",\"conditions\":[{\"type\":\"A\",\"status\":\"True\","
         "\"lastTransitionTime\":\"t2\"}]},{\"name\":\"x\",\"conditions\":[{\"type\":\"A\","
         "\"status\":\"True\",\"lastTransitionTime\":\"t1\"}]}]}"},
        {"{\"odd\":[{\"type\":\"A\",\"status\":\"True\",\"lastTransitionTime\":\"t1\"}]}",
         "{\"odd\":[{\"type\":\"A\",\"status\":\"True\",\"lastTransitionTime\":\"t2\"}]}", NULL},
        {"{\"conditions\":[7,{\"type\":\"A\",\"lastTransitionTime\":\"t1\"}]}",
         "{\"conditions\":[null,7,{\"type\":[]}]}", NULL},
        {"{\"conditions\":7}", "{\"conditions\":[{\"type\":\"A\"}]}", NULL},
        {"[]", "{\"conditions\":[{\"type\":\"A\",\"status\":\"True\"}]}", NULL},
    };
    struct vd_arena *a = *state;
    struct thing t = thing_new(STRICT);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_json *object = object_of(a, cases[i].sent);
        vd_condition_rules_keep_times(t.kind, a, object, object_of(a, cases[i].was));
        assert_json(vd_json_get(object, VD_SLICE("status")),
                    cases[i].becomes ? cases[i].becomes : cases[i].sent);
    }
    thing_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        arena_test(what_is_wrong_is_named),
        arena_test(without_the_annotation_the_schema_says_what_a_status_may_be),
        arena_test(nothing_is_said_twice),
        arena_test(an_object_without_generation_has_none_to_compare_with),
        arena_test(times_stay_while_the_status_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
