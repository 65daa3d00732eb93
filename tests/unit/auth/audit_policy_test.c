/* src/auth/audit_policy.c: which rule decides, and what is no policy. */
#include "auth/audit_policy.h"

#include "check.h"

static struct vd_audit_policy *policy_of(const char *text)
{
    struct vd_audit_policy *policy = NULL;
    struct vd_error error = {0};
    assert_ok(vd_audit_policy_parse(&policy, "p.yaml", vd_slice_of(text), &error), &error);
    return policy;
}

static struct vd_user *make_user(const char *name, const char *group)
{
    struct vd_slice groups[] = {vd_slice_of(group)};
    return vd_user_new(&(struct vd_identity){
        .name = vd_slice_of(name), .groups = groups, .groups_n = 1, .method = VD_AUTH_TOKEN});
}

#define HEAD "apiVersion: audit.k8s.io/v1\nkind: Policy\n"

/* A request, and the level that a policy of one rule "Request" and one "None" gives it. */
struct request {
    const char *rule; /* the fields of the first, in flow style */
    const char *user, *group, *verb, *api_group, *resource, *sub, *namespace, *name, *path;
    bool fits;
};

static const struct request requests[] = {
    {"", "ann", "dev", "get", "", "pods", "", "a", "x", "", true},
    {"users: [ann]", "ann", "dev", "get", "", "pods", "", "a", "x", "", true},
    {"users: [bob]", "ann", "dev", "get", "", "pods", "", "a", "x", "", false},
    {"userGroups: [ops, dev]", "ann", "dev", "get", "", "pods", "", "a", "x", "", true},
    {"userGroups: [ops]", "ann", "dev", "get", "", "pods", "", "a", "x", "", false},
    {"users: [ann], userGroups: [ops]", "ann", "dev", "get", "", "pods", "", "a", "x", "", false},
    {"verbs: [get, list]", "ann", "dev", "list", "", "pods", "", "a", "", "", true},
    {"verbs: [get, list]", "ann", "dev", "watch", "", "pods", "", "a", "", "", false},
    {"namespaces: [a]", "ann", "dev", "get", "", "pods", "", "a", "x", "", true},
    {"namespaces: [a]", "ann", "dev", "get", "", "pods", "", "b", "x", "", false},
    {"namespaces: [\"\"]", "ann", "dev", "get", "", "nodes", "", "", "x", "", true},
    {"namespaces: [a]", "ann", "dev", "get", "", "", "", "", "", "/api", false},
    {"resources: [{group: \"\"}]", "ann", "dev", "get", "", "pods", "log", "a", "x", "", true},
    {"resources: [{group: \"\"}]", "ann", "dev", "get", "apps", "pods", "", "a", "x", "", false},
    {"resources: [{resources: [pods]}]", "ann", "dev", "get", "", "pods", "", "a", "x", "", true},
    {"resources: [{resources: [pods]}]", "ann", "dev", "get", "", "pods", "log", "a", "x", "",
     false},
    {"resources: [{resources: [pods/log]}]", "ann", "dev", "get", "", "pods", "log", "a", "x", "",
     true},
    {"resources: [{resources: [pods/log]}]", "ann", "dev", "get", "", "pods", "", "a", "x", "",
     false},
    {"resources: [{resources: [\"*\"]}]", "ann", "dev", "get", "", "pods", "log", "a", "x", "",
     true},
    {"resources: [{resources: [\"pods/*\"]}]", "ann", "dev", "get", "", "pods", "log", "a", "x", "",
     true},
    {"resources: [{resources: [\"pods/*\"]}]", "ann", "dev", "get", "", "nodes", "log", "a", "x",
     "", false},
    {"resources: [{resources: [\"*/log\"]}]", "ann", "dev", "get", "", "pods", "log", "a", "x", "",
     true},
    {"resources: [{resources: [\"*/log\"]}]", "ann", "dev", "get", "", "pods", "", "a", "x", "",
     false},
    {"resources: [{resources: [pods], resourceNames: [w, x]}]", "ann", "dev", "get", "", "pods", "",
     "a", "x", "", true},
    {"resources: [{resources: [pods], resourceNames: [w]}]", "ann", "dev", "get", "", "pods", "",
     "a", "x", "", false},
    {"resources: [{group: apps}, {group: \"\", resources: [pods]}]", "ann", "dev", "get", "",
     "pods", "", "a", "x", "", true},
    {"nonResourceURLs: [/api]", "ann", "dev", "get", "", "", "", "", "", "/api", true},
    {"nonResourceURLs: [/api]", "ann", "dev", "get", "", "", "", "", "", "/apis", false},
    {"nonResourceURLs: [\"/api*\"]", "ann", "dev", "get", "", "", "", "", "", "/apis/apps", true},
    {"nonResourceURLs: [\"*\"]", "ann", "dev", "get", "", "", "", "", "", "/metrics", true},
    {"nonResourceURLs: [\"*\"]", "ann", "dev", "get", "", "pods", "", "a", "x", "", false},
    {"users: [ann]", NULL, "", "get", "", "pods", "", "a", "x", "", false},
    {"userGroups: [dev]", NULL, "", "get", "", "pods", "", "a", "x", "", false},
    {"verbs: [get]", NULL, "", "get", "", "pods", "", "a", "x", "", true},
};

static void test_the_first_rule_that_fits_decides(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        const struct request *r = &requests[i];
        char text[512];
        snprintf(text, sizeof text, HEAD "rules:\n- {level: Request%s%s}\n- {level: Metadata}\n",
                 r->rule[0] ? ", " : "", r->rule);
        struct vd_audit_policy *policy = policy_of(text);
        struct vd_user *user = r->user ? make_user(r->user, r->group) : NULL;
        struct vd_access access = {.verb = vd_slice_of(r->verb),
                                   .group = vd_slice_of(r->api_group),
                                   .resource = vd_slice_of(r->resource),
                                   .subresource = vd_slice_of(r->sub),
                                   .namespace = vd_slice_of(r->namespace),
                                   .name = vd_slice_of(r->name),
                                   .path = vd_slice_of(r->path)};
        struct vd_audit_verdict verdict = vd_audit_policy_judge(policy, user, &access);
        if ((verdict.level == VD_AUDIT_REQUEST) != r->fits)
            fail_msg("%s: %s", r->rule, vd_audit_level_name(verdict.level));
        vd_user_unref(user);
        vd_audit_policy_unref(policy);
    }
}

static void test_what_no_rule_fits_is_not_audited(void **state)
{
    struct vd_access access = {.verb = VD_SLICE("get"), .path = VD_SLICE("/api")};
    (void)state;
    struct vd_audit_policy *policy = policy_of(HEAD "rules: [{level: Metadata, verbs: [post]}]");
    assert_int_equal(vd_audit_policy_judge(policy, NULL, &access).level, VD_AUDIT_NONE);
    vd_audit_policy_unref(policy);
    policy = policy_of(HEAD);
    assert_int_equal(vd_audit_policy_judge(policy, NULL, &access).level, VD_AUDIT_NONE);
    vd_audit_policy_unref(policy);
    policy = vd_audit_policy_default();
    assert_int_equal(vd_audit_policy_judge(policy, NULL, &access).level, VD_AUDIT_METADATA);
    assert_int_equal(vd_audit_policy_judge(policy, NULL, &access).omit_stages, VD_AUDIT_RECEIVED);
    vd_audit_policy_unref(policy);
}

static void test_stages_add_up_and_managed_fields_are_overruled(void **state)
{
    struct vd_access get = {.verb = VD_SLICE("get"), .path = VD_SLICE("/")};
    struct vd_access put = {.verb = VD_SLICE("put"), .path = VD_SLICE("/")};
    (void)state;
    struct vd_audit_policy *policy = policy_of(
        HEAD "omitStages: [RequestReceived]\nomitManagedFields: true\nrules:\n"
             "- {level: RequestResponse, verbs: [get], omitStages: [ResponseStarted, Panic]}\n"
             "- {level: None, verbs: [put], omitManagedFields: false}\n");
    struct vd_audit_verdict verdict = vd_audit_policy_judge(policy, NULL, &get);
    assert_int_equal(verdict.level, VD_AUDIT_REQUEST_RESPONSE);
    assert_int_equal(verdict.omit_stages, VD_AUDIT_RECEIVED | VD_AUDIT_STARTED | VD_AUDIT_PANIC);
    assert_true(verdict.omit_managed_fields);
    verdict = vd_audit_policy_judge(policy, NULL, &put);
    assert_int_equal(verdict.omit_stages, VD_AUDIT_RECEIVED);
    assert_false(verdict.omit_managed_fields);
    vd_audit_policy_unref(policy);
}

static void test_mistakes_have_their_place(void **state)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "p.yaml: the file must be a map"},
        {"- a", "p.yaml: the file must be a map"},
        {"kind: Policy", "wants apiVersion: audit.k8s.io/v1 and kind: Policy"},
        {"apiVersion: audit.k8s.io/v2\nkind: Policy", "wants apiVersion: audit.k8s.io/v1"},
        {"apiVersion: audit.k8s.io/v1\nkind: Event", "kind: Policy"},
        {HEAD "rule: []", "p.yaml:3:1: there is no field 'rule' (did you mean 'rules'?)"},
        {HEAD "rules: {}", "p.yaml:3:1: rules wants a list, not object"},
        {HEAD "rules: [a]", "p.yaml:3:9: wants a map, not string"},
        {HEAD "rules:\n- verbs: [get]", "p.yaml:4:3: level wants None"},
        {HEAD "rules:\n- level: metadata", "level wants None, Metadata, Request or"},
        {HEAD "rules:\n- level: None\n  user: [a]", "p.yaml:5:3: there is no field 'user'"},
        {HEAD "rules:\n- level: None\n  users: a", "p.yaml:5:3: users wants a list"},
        {HEAD "rules:\n- level: None\n  users: [1]", "users wants texts, not number"},
        {HEAD "omitStages: [Received]\n", "omitStages wants RequestReceived"},
        {HEAD "omitManagedFields: yes please\n", "omitManagedFields wants true or false"},
        {HEAD "rules:\n- {level: None, nonResourceURLs: [api]}", "nonResourceURLs wants paths"},
        {HEAD "rules:\n- {level: None, nonResourceURLs: [/a*b]}", "nonResourceURLs wants paths"},
        {HEAD "rules:\n- {level: None, nonResourceURLs: [/a], namespaces: [b]}", "not about both"},
        {HEAD "rules:\n- {level: None, resources: [{group: apps/v1}]}", "without its version"},
        {HEAD "rules:\n- {level: None, resources: [{resourceNames: [a]}]}", "wants resources"},
        {HEAD "---\n" HEAD, "a second document"},
        {HEAD "rules: [", "p.yaml:"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_audit_policy *policy = NULL;
        struct vd_error error = {0};
        int code = vd_audit_policy_parse(&policy, "p.yaml", vd_slice_of(cases[i].text), &error);
        if (code == VD_OK || !strstr(error.text, cases[i].says))
            fail_msg("%s: %s", cases[i].text, error.text);
        assert_null(policy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_first_rule_that_fits_decides),
        cmocka_unit_test(test_what_no_rule_fits_is_not_audited),
        cmocka_unit_test(test_stages_add_up_and_managed_fields_are_overruled),
        cmocka_unit_test(test_mistakes_have_their_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
