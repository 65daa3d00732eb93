/* src/kube/patch/strategic_merge.c: the known cases by table, atomicity, size. */
#include "kube/patch/strategic_merge.h"

#include <stdio.h>
#include <unistd.h>

#include "json_check.h"
#include "json/compare.h"

/* A schema as a table: the fields of an object, ended by one without a name. */
struct node {
    const char *name;
    enum vd_merge_strategy strategy;
    const char *key;
    const struct node *fields;
};

static struct vd_merge_field node_field(const void *node, struct vd_slice name)
{
    for (const struct node *f = node; f->name; f++)
        if (vd_slice_is(name, f->name))
            return (struct vd_merge_field){f->strategy, vd_slice_of(f->key), f->fields};
    return (struct vd_merge_field){0};
}

static const struct vd_merge_rules rules = {.field = node_field};

static const struct node port[] = {{.name = NULL}};
static const struct node variable[] = {{.name = NULL}};
static const struct node container[] = {
    {"ports", VD_MERGE_LIST, "containerPort", port},
    {"env", VD_MERGE_LIST, "name", variable},
    {"resources", VD_MERGE_DEFAULT, NULL, NULL},
    {.name = NULL},
};
static const struct node spec[] = {
    {"containers", VD_MERGE_LIST, "name", container},
    {"selector", VD_MERGE_REPLACE, NULL, NULL},
    {"tolerations", VD_MERGE_DEFAULT, NULL, NULL},
    {"keyless", VD_MERGE_LIST, NULL, NULL},
    {.name = NULL},
};
static const struct node metadata[] = {
    {"finalizers", VD_MERGE_LIST, NULL, NULL},
    {"ownerReferences", VD_MERGE_LIST, "uid", NULL},
    {.name = NULL},
};
static const struct node pod[] = {
    {"metadata", VD_MERGE_DEFAULT, NULL, metadata},
    {"spec", VD_MERGE_DEFAULT, NULL, spec},
    {.name = NULL},
};

/* Texts of cases use ' for " to stay readable. */
static struct vd_json *parse(struct vd_arena *a, const char *text)
{
    char *copy = vd_arena_alloc(a, strlen(text) + 1);
    for (size_t i = 0; i <= strlen(text); i++)
        copy[i] = text[i];
    for (char *c = copy; *c; c++)
        if (*c == '\'')
            *c = '"';
    return json_of(a, copy);
}

struct merge_case {
    const char *doc, *patch, *want;
};

static void check_cases(struct vd_arena *a, const struct merge_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct vd_error error = {0};
        struct vd_json *doc = parse(a, cases[i].doc), *patch = parse(a, cases[i].patch);
        if (vd_strategic_merge(a, doc, patch, &rules, pod, &error) != VD_OK)
            fail_msg("%s + %s: %s", cases[i].doc, cases[i].patch, error.text);
        struct vd_buf got = {0}, want = {0};
        vd_json_write(&got, doc);
        vd_json_write(&want, parse(a, cases[i].want));
        if (!vd_slice_eq(vd_buf_slice(&got), vd_buf_slice(&want)))
            fail_msg("%s + %s:\n  got %s\n want %s", cases[i].doc, cases[i].patch,
                     vd_buf_text(&got), vd_buf_text(&want));
        vd_buf_release(&got);
        vd_buf_release(&want);
        assert_true(vd_json_eq(patch, parse(a, cases[i].patch)));
    }
}

#define CHECK(state, cases) check_cases(state, cases, sizeof(cases) / sizeof *(cases))

static void maps_merge_as_in_a_merge_patch(void **state)
{
    static const struct merge_case cases[] = {
        {"{}", "{}", "{}"},
        {"{'a':1}", "{'b':2}", "{'a':1,'b':2}"},
        {"{'a':1,'b':2}", "{'a':null,'c':null}", "{'b':2}"},
        {"{'a':{'b':1,'c':2}}", "{'a':{'b':3,'d':{'e':4}}}", "{'a':{'b':3,'c':2,'d':{'e':4}}}"},
        {"{'a':{'b':1}}", "{'a':'x'}", "{'a':'x'}"},
        {"{'a':'x'}", "{'a':{'b':1,'c':null}}", "{'a':{'b':1}}"},
        {"{'a':[1,2]}", "{'a':[3]}", "{'a':[3]}"},
        {"{}", "{'a':{'b':null,'c':[{'d':null},null]}}", "{'a':{'c':[{},null]}}"},
        {"{'spec':{'selector':{'a':1}}}", "{'spec':{'selector':{'b':2}}}",
         "{'spec':{'selector':{'b':2}}}"},
        {"{'x':null,'y':1}", "{'y':2}", "{'x':null,'y':2}"},
    };
    CHECK(*state, cases);
}

static void patch_directives_of_maps(void **state)
{
    static const struct merge_case cases[] = {
        {"{'a':{'b':1,'c':2}}", "{'a':{'$patch':'replace','d':3}}", "{'a':{'d':3}}"},
        {"{'a':{'b':1}}", "{'a':{'$patch':'delete','d':3}}", "{'a':{}}"},
        {"{'b':1}", "{'$patch':'replace','d':3,'e':null}", "{'d':3}"},
        {"{'b':1}", "{'$patch':'delete'}", "{}"},
        /* In a value that is new the map with the directive is not there. */
        {"{}", "{'a':{'$patch':'replace','b':1}}", "{}"},
        {"{'a':1}", "{'a':{'$patch':'delete'},'c':2}", "{'c':2}"},
        {"{}",
         "{'spec':{'$setElementOrder/containers':[{'name':'a'}],'containers':[{'name':'a'}]}}",
         "{'spec':{'containers':[{'name':'a'}]}}"},
        {"{}", "{'a':{'b':{'$retainKeys':['c'],'c':1,'$deleteFromPrimitiveList/d':[1]}}}",
         "{'a':{'b':{'c':1}}}"},
    };
    CHECK(*state, cases);
}

static void retain_keys_clears_the_others(void **state)
{
    static const struct merge_case cases[] = {
        {"{'a':{'b':1,'c':2,'d':3}}", "{'a':{'$retainKeys':['b','e'],'e':4}}",
         "{'a':{'b':1,'e':4}}"},
        {"{'a':{'b':{'x':1},'c':2}}", "{'a':{'$retainKeys':['b'],'b':{'y':2}}}",
         "{'a':{'b':{'x':1,'y':2}}}"},
        {"{'a':1,'b':2}", "{'$retainKeys':[]}", "{}"},
        {"{'a':1,'b':2}", "{'$retainKeys':['a'],'b':null}", "{'a':1}"},
        {"{'spec':{'containers':[{'name':'x','image':'i','command':'c'}]}}",
         "{'spec':{'containers':[{'name':'x','$retainKeys':['name','image'],'image':'j'}]}}",
         "{'spec':{'containers':[{'name':'x','image':'j'}]}}"},
    };
    CHECK(*state, cases);
}

static void lists_of_maps_merge_by_their_key(void **state)
{
    static const struct merge_case cases[] = {
        {"{'spec':{'containers':[{'name':'a','image':'1'},{'name':'b','image':'2'}]}}",
         "{'spec':{'containers':[{'name':'b','image':'3'}]}}",
         "{'spec':{'containers':[{'name':'a','image':'1'},{'name':'b','image':'3'}]}}"},
        /* What is new comes before what only the server has. */
        {"{'spec':{'containers':[{'name':'a'}]}}", "{'spec':{'containers':[{'name':'b'}]}}",
         "{'spec':{'containers':[{'name':'b'},{'name':'a'}]}}"},
        {"{'spec':{'containers':[{'name':'a'},{'name':'b'},{'name':'c'}]}}",
         "{'spec':{'containers':[{'name':'b','$patch':'delete'}]}}",
         "{'spec':{'containers':[{'name':'a'},{'name':'c'}]}}"},
        {"{'spec':{'containers':[{'name':'a'}]}}",
         "{'spec':{'containers':[{'name':'b','$patch':'delete'}]}}",
         "{'spec':{'containers':[{'name':'a'}]}}"},
        {"{'spec':{'containers':[{'name':'a','image':'1'}]}}",
         "{'spec':{'containers':[{'$patch':'replace'},{'name':'b'},{'name':'c','x':null}]}}",
         "{'spec':{'containers':[{'name':'b'},{'name':'c'}]}}"},
        {"{'spec':{'containers':[{'name':'a'}]}}", "{'spec':{'containers':[{'$patch':'replace'}]}}",
         "{'spec':{'containers':[]}}"},
        {"{'spec':{'containers':[]}}", "{'spec':{'containers':[]}}", "{'spec':{'containers':[]}}"},
        /* Keys may be numbers, equal by value. */
        {"{'spec':{'containers':[{'name':'a','ports':[{'containerPort':80,'p':'x'}]}]}}",
         "{'spec':{'containers':[{'name':'a','ports':[{'containerPort':80.0,'q':'y'}]}]}}",
         "{'spec':{'containers':[{'name':'a','ports':[{'containerPort':80.0,'p':'x','q':'y'}]}]}}"},
        /* An item twice in the patch is merged twice. */
        {"{'spec':{'containers':[]}}",
         "{'spec':{'containers':[{'name':'a','x':1},{'name':'a','y':2}]}}",
         "{'spec':{'containers':[{'name':'a','x':1,'y':2}]}}"},
        /* Twice in the live list: the first is changed, both remain. */
        {"{'spec':{'containers':[{'name':'a'},{'name':'b'},{'name':'a'}]}}",
         "{'spec':{'containers':[{'name':'a','x':1}]}}",
         "{'spec':{'containers':[{'name':'a','x':1},{'name':'a'},{'name':'b'}]}}"},
        {"{'metadata':{'ownerReferences':[{'uid':'1','name':'n'}]}}",
         "{'metadata':{'ownerReferences':[{'uid':'1','$patch':'delete'},{'uid':'2'}]}}",
         "{'metadata':{'ownerReferences':[{'uid':'2'}]}}"},
        {"{'spec':{'tolerations':[{'key':'a'},{'key':'b'}]}}",
         "{'spec':{'tolerations':[{'key':'c'}]}}", "{'spec':{'tolerations':[{'key':'c'}]}}"},
    };
    CHECK(*state, cases);
}

static void lists_of_scalars_merge_as_sets(void **state)
{
    static const struct merge_case cases[] = {
        {"{'metadata':{'finalizers':['a','b']}}", "{'metadata':{'finalizers':['b','c']}}",
         "{'metadata':{'finalizers':['a','b','c']}}"},
        {"{'metadata':{'finalizers':['a','b','a']}}", "{'metadata':{'finalizers':['c','c']}}",
         "{'metadata':{'finalizers':['c','a','b']}}"},
        {"{'metadata':{'finalizers':['a','b','c']}}",
         "{'metadata':{'$deleteFromPrimitiveList/finalizers':['b','z']}}",
         "{'metadata':{'finalizers':['a','c']}}"},
        {"{'metadata':{'finalizers':['a']}}",
         "{'metadata':{'$deleteFromPrimitiveList/finalizers':['a']}}",
         "{'metadata':{'finalizers':[]}}"},
        {"{'metadata':{'finalizers':['a','b']}}",
         "{'metadata':{'$deleteFromPrimitiveList/finalizers':['a'],'finalizers':['c']}}",
         "{'metadata':{'finalizers':['c','b']}}"},
        {"{'metadata':{}}", "{'metadata':{'$deleteFromPrimitiveList/finalizers':['a']}}",
         "{'metadata':{}}"},
        {"{'metadata':{'finalizers':'x'}}",
         "{'metadata':{'$deleteFromPrimitiveList/finalizers':['a']}}",
         "{'metadata':{'finalizers':'x'}}"},
        /* Also of a list that is otherwise replaced. */
        {"{'a':[1,2.0,3]}", "{'$deleteFromPrimitiveList/a':[2,3]}", "{'a':[1]}"},
    };
    CHECK(*state, cases);
}

static void set_element_order_orders(void **state)
{
    static const struct merge_case cases[] = {
        {"{'metadata':{'finalizers':['a','b','c']}}",
         "{'metadata':{'$setElementOrder/finalizers':['c','a','d'],'finalizers':['d']}}",
         "{'metadata':{'finalizers':['b','c','a','d']}}"},
        {"{'metadata':{'finalizers':['a','b','c']}}",
         "{'metadata':{'$setElementOrder/finalizers':['c','b','a']}}",
         "{'metadata':{'finalizers':['c','b','a']}}"},
        {"{'metadata':{'finalizers':['a','b','c']}}",
         "{'metadata':{'$setElementOrder/finalizers':['c','a'],"
         "'$deleteFromPrimitiveList/finalizers':['b']}}",
         "{'metadata':{'finalizers':['c','a']}}"},
        {"{'metadata':{}}", "{'metadata':{'$setElementOrder/finalizers':['a']}}",
         "{'metadata':{}}"},
        {"{'metadata':{'finalizers':[]}}", "{'metadata':{'$setElementOrder/finalizers':[]}}",
         "{'metadata':{'finalizers':[]}}"},
        /* Items that only the server has keep their place among their neighbours. */
        {"{'spec':{'containers':[{'name':'a'},{'name':'s'},{'name':'b'},{'name':'c'}]}}",
         "{'spec':{'$setElementOrder/containers':[{'name':'c'},{'name':'n'},{'name':'a'}],"
         "'containers':[{'name':'c','x':1},{'name':'n'},{'name':'b','$patch':'delete'}]}}",
         "{'spec':{'containers':[{'name':'s'},{'name':'c','x':1},{'name':'n'},{'name':'a'}]}}"},
        {"{'spec':{'containers':[{'name':'a'},{'name':'b'}]}}",
         "{'spec':{'$setElementOrder/containers':[{'name':'b'},{'name':'a'}],"
         "'containers':[{'name':'b','image':'i'}]}}",
         "{'spec':{'containers':[{'name':'b','image':'i'},{'name':'a'}]}}"},
        {"{'spec':{}}",
         "{'spec':{'$setElementOrder/containers':[{'name':'b'},{'name':'a'}],"
         "'containers':[{'name':'b','$patch':'delete'},{'name':'a','x':null}]}}",
         "{'spec':{'containers':[{'name':'a'}]}}"},
    };
    CHECK(*state, cases);
}

static void without_rules_lists_are_replaced(void **state)
{
    struct vd_json *doc = parse(*state, "{'spec':{'containers':[{'name':'a'}],'x':1}}");
    struct vd_json *patch = parse(*state, "{'spec':{'containers':[{'name':'b'}]}}");
    struct vd_error error;
    assert_ok(vd_strategic_merge(*state, doc, patch, NULL, NULL, &error), &error);
    assert_json(doc, "{\"spec\":{\"containers\":[{\"name\":\"b\"}],\"x\":1}}");
}

static void errors_are_kubernetes_own_and_change_nothing(void **state)
{
    static const struct {
        const char *doc, *patch, *says;
    } cases[] = {
        {"{}", "[]", "invalid JSON document"},
        {"[]", "{}", "invalid JSON document"},
        {"{'a':{'b':1}}", "{'a':{'$patch':'bogus'}}",
         "strategic merge patch: a: unknown patch type: bogus in map: {\"$patch\":\"bogus\"}"},
        {"{'a':{'b':1}}", "{'c':1,'a':{'$patch':'merge'}}", "a: unknown patch type: merge"},
        {"{'a':{'b':1}}", "{'a':{'$patch':7}}", "a: unknown patch type: 7 in map"},
        {"{'a':{}}", "{'a':{'$retainKeys':'b'}}", "a: invalid patch format of retainKeys"},
        {"{'a':{}}", "{'a':{'$retainKeys':['b'],'c':1}}", "invalid patch format of retainKeys"},
        {"{'a':{}}", "{'a':{'$retainKeys':[{}]}}", "invalid patch format of retainKeys"},
        {"{}", "{'$deleteFromPrimitiveList':[1]}", "invalid patch format of primitive list"},
        {"{}", "{'$deleteFromPrimitiveListx/a':[1]}", "invalid patch format of primitive list"},
        {"{'a':[{}]}", "{'$deleteFromPrimitiveList/a':[{}]}",
         "a: invalid patch format of primitive list"},
        {"{'a':[1]}", "{'$deleteFromPrimitiveList/a':['x']}",
         "list element types are not identical"},
        {"{}", "{'$setElementOrder':[1]}", "invalid patch format of setElementOrder list"},
        {"{}", "{'$setElementOrder/a':{}}",
         "expected a []interface {}, but received a map[string]interface {}"},
        {"{'a':'x'}", "{'$setElementOrder/a':[]}",
         "a: expected a []interface {}, but received a string"},
        {"{}", "{'$setElementOrder/a':[],'a':null}", "expected a []interface {}"},
        {"{'spec':{'containers':[]}}", "{'spec':{'containers':[{'image':'x'}]}}",
         "spec.containers: map: {\"image\":\"x\"} does not contain declared merge key: name"},
        {"{'spec':{'containers':[{'image':'x'}]}}", "{'spec':{'containers':[{'name':'x'}]}}",
         "does not contain declared merge key: name"},
        {"{'spec':{'containers':[{'name':'x'}]}}", "{'spec':{'containers':[{'$patch':'delete'}]}}",
         "does not contain declared merge key: name"},
        {"{'spec':{'containers':[{'name':'x'}]}}", "{'spec':{'containers':[{'name':null}]}}",
         "does not contain declared merge key: name"},
        {"{'spec':{'containers':[{'name':'x'}]}}",
         "{'spec':{'containers':[{'name':'x','$patch':'merge'}]}}",
         "merging lists cannot yet be specified in the patch"},
        {"{'spec':{'containers':[{'name':'x'}]}}",
         "{'spec':{'containers':[{'name':'x','$patch':'what'}]}}",
         "unknown patch type: what in map: "},
        {"{'spec':{'containers':[{'name':'x'}]}}", "{'spec':{'containers':[{'name':['y']}]}}",
         "expected a string, but received a []interface {}"},
        {"{'spec':{'containers':[{'name':'x'}]}}", "{'spec':{'containers':['x']}}",
         "list element types are not identical"},
        {"{'spec':{'containers':['x']}}", "{'spec':{'containers':['x']}}",
         "expected a map[string]interface {}, but received a string"},
        {"{'spec':{'containers':[['x']]}}", "{'spec':{'containers':[]}}",
         "lists of lists are not supported"},
        {"{'metadata':{'finalizers':[null]}}", "{'metadata':{'finalizers':['a']}}",
         "received a <nil>"},
        {"{'spec':{'keyless':[{}]}}", "{'spec':{'keyless':[{}]}}",
         "cannot merge lists without merge key"},
        {"{'metadata':{'finalizers':['a']}}",
         "{'metadata':{'$setElementOrder/finalizers':['b','a'],'finalizers':['a','b']}}",
         "the order in patch list:\n[\"a\",\"b\"]\n doesn't match $setElementOrder list:\n"
         "[\"b\",\"a\"]"},
        {"{'spec':{'containers':[{'name':'x'}]}}",
         "{'spec':{'$setElementOrder/containers':[{'name':'y'}],'containers':[{'name':'x'}]}}",
         "doesn't match $setElementOrder list"},
        {"{'spec':{'containers':[{'name':'x'}]}}",
         "{'spec':{'$setElementOrder/containers':['x'],'containers':[{'name':'x'}]}}",
         "expected a map[string]interface {}, but received a string"},
        {"{'a':{'b':{'c':{'d':{'e':{'f':{'g':{}}}}}}}}",
         "{'a':{'b':{'c':{'d':{'e':{'f':{'g':{'$patch':1}}}}}}}}",
         "patch: ...b.c.d.e.f.g: unknown patch type"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_error error = {0};
        struct vd_json *doc = parse(*state, cases[i].doc);
        struct vd_json *patch = parse(*state, cases[i].patch);
        int code = vd_strategic_merge(*state, doc, patch, &rules, pod, &error);
        if (code != VD_ERR_INVALID)
            fail_msg("%s + %s: %s", cases[i].doc, cases[i].patch, vd_code_name(code));
        assert_says(&error, cases[i].says);
        assert_true(vd_json_eq(doc, parse(*state, cases[i].doc)));
    }
}

/* Takes a second; with look-ups by walking, more than the alarm allows. */
static void large_lists_merge_quickly(void **state)
{
    enum { COUNT = 50000, DEADLINE_S = 30 };
    struct vd_arena *a = *state;
    struct vd_buf live = {0}, patch = {0}, order = {0};
    alarm(DEADLINE_S);
    for (int i = 0; i < COUNT; i++) {
        vd_buf_addf(&live, "%s{\"name\":\"n%d\"}", i ? "," : "", i);
        vd_buf_addf(&patch, "%s{\"name\":\"n%d\",\"x\":%d}", i ? "," : "", COUNT / 2 + i, i);
        vd_buf_addf(&order, "%s{\"name\":\"n%d\"}", i ? "," : "", COUNT / 2 + i);
    }
    struct vd_buf doc_text = {0}, patch_text = {0};
    vd_buf_addf(&doc_text, "{\"spec\":{\"containers\":[%s]}}", vd_buf_text(&live));
    vd_buf_addf(&patch_text,
                "{\"spec\":{\"containers\":[%s],\"$setElementOrder/containers\":[%s]}}",
                vd_buf_text(&patch), vd_buf_text(&order));
    struct vd_json *doc = json_of(a, vd_buf_text(&doc_text));
    struct vd_error error;
    assert_ok(vd_strategic_merge(a, doc, json_of(a, vd_buf_text(&patch_text)), &rules, pod, &error),
              &error);
    assert_int_equal(vd_json_count(vd_json_dig(doc, "spec", "containers", NULL)),
                     COUNT + COUNT / 2);
    alarm(0);
    vd_buf_release(&live);
    vd_buf_release(&patch);
    vd_buf_release(&order);
    vd_buf_release(&doc_text);
    vd_buf_release(&patch_text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        arena_test(maps_merge_as_in_a_merge_patch),
        arena_test(patch_directives_of_maps),
        arena_test(retain_keys_clears_the_others),
        arena_test(lists_of_maps_merge_by_their_key),
        arena_test(lists_of_scalars_merge_as_sets),
        arena_test(set_element_order_orders),
        arena_test(without_rules_lists_are_replaced),
        arena_test(errors_are_kubernetes_own_and_change_nothing),
        arena_test(large_lists_merge_quickly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
