/* src/auth/escalation.c: nobody gives what he does not have. */
#include "auth/escalation.h"

#include <string.h>

#include "rbac_check.h"

static const char world[] =
    "{kind: ClusterRole, metadata: {name: power},\n"
    " rules: [{apiGroups: [''], resources: [pods, pods/log], verbs: [get, list]},\n"
    "         {apiGroups: [''], resources: [secrets], verbs: [get], resourceNames: [s1, s2]},\n"
    "         {apiGroups: ['*'], resources: ['*/status'], verbs: ['*']},\n"
    "         {nonResourceURLs: [/logs/*], verbs: [get]}]}\n"
    "---\n"
    "{kind: ClusterRole, metadata: {name: escalator},\n"
    " rules: [{apiGroups: [rbac.authorization.k8s.io], resources: [roles, clusterroles],\n"
    "          verbs: [escalate], resourceNames: [r]}]}\n"
    "---\n"
    "{kind: ClusterRole, metadata: {name: escalator-all},\n"
    " rules: [{apiGroups: [rbac.authorization.k8s.io], resources: [roles], verbs: [escalate]}]}\n"
    "---\n"
    "{kind: ClusterRole, metadata: {name: binder},\n"
    " rules: [{apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles],\n"
    "          verbs: [bind], resourceNames: [strong]}]}\n"
    "---\n"
    "{kind: ClusterRole, metadata: {name: strong},\n"
    " rules: [{apiGroups: ['*'], resources: ['*'], verbs: ['*']}]}\n"
    "---\n"
    "{kind: ClusterRole, metadata: {name: weak},\n"
    " rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]}\n"
    "---\n"
    "{kind: ClusterRoleBinding, metadata: {name: power},\n"
    " roleRef: {kind: ClusterRole, name: power}, subjects: [{kind: User, name: pat}]}\n"
    "---\n"
    "{kind: RoleBinding, metadata: {name: power, namespace: ns},\n"
    " roleRef: {kind: ClusterRole, name: power}, subjects: [{kind: User, name: loc}]}\n"
    "---\n"
    "{kind: RoleBinding, metadata: {name: esc, namespace: ns},\n"
    " roleRef: {kind: ClusterRole, name: escalator}, subjects: [{kind: User, name: esc}]}\n"
    "---\n"
    "{kind: RoleBinding, metadata: {name: esc-all, namespace: ns},\n"
    " roleRef: {kind: ClusterRole, name: escalator-all}, subjects: [{kind: User, name: all}]}\n"
    "---\n"
    "{kind: RoleBinding, metadata: {name: binder, namespace: ns},\n"
    " roleRef: {kind: ClusterRole, name: binder}, subjects: [{kind: User, name: bo}]}\n"
    "---\n"
    "{kind: RoleBinding, metadata: {name: strong, namespace: ns},\n"
    " roleRef: {kind: ClusterRole, name: strong}, subjects: [{kind: User, name: sue}]}\n";

static struct vd_json *yaml_of(struct vd_arena *a, const char *yaml)
{
    struct vd_json *document = NULL;
    struct vd_error error = {0};
    assert_ok(vd_yaml_read(a, vd_slice_of(yaml), &document, &error), &error);
    return document;
}

#define HEAD                                                                                       \
    "user \"pat\" (groups=[\"g\" \"system:authenticated\"]) is attempting to grant RBAC "          \
    "permissions not currently held:"

static void a_role_is_checked_right_by_right(void **state)
{
    static const struct {
        const char *rules, *missing; /* NULL: pat may write it */
    } cases[] = {
        {"[]", NULL},
        {"[{apiGroups: [''], resources: [pods], verbs: [get]}]", NULL},
        {"[{apiGroups: [''], resources: [pods, pods/log], verbs: [list, get]}]", NULL},
        {"[{apiGroups: [x.y], resources: [cats/status], verbs: [zap]}]", NULL},
        {"[{apiGroups: [''], resources: [pods, pods/status], verbs: [get]}]", NULL},
        {"[{apiGroups: [''], resources: [secrets], verbs: [get], resourceNames: [s2]}]", NULL},
        {"[{nonResourceURLs: [/logs/a, /logs/b/*], verbs: [get]}]", NULL},
        {"[{apiGroups: [], resources: [nodes], verbs: [get]}]", NULL},
        {"[{apiGroups: [''], resources: [pods], verbs: [get, watch, create]}]",
         "\n{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"watch\" \"create\"]}"},
        {"[{apiGroups: ['', apps], resources: [pods], verbs: [get]}]",
         "\n{APIGroups:[\"apps\"], Resources:[\"pods\"], Verbs:[\"get\"]}"},
        {"[{apiGroups: [''], resources: [secrets], verbs: [get]}]",
         "\n{APIGroups:[\"\"], Resources:[\"secrets\"], Verbs:[\"get\"]}"},
        {"[{apiGroups: [''], resources: [secrets], verbs: [get, list], resourceNames: [s1, s3]}]",
         "\n{APIGroups:[\"\"], Resources:[\"secrets\"], ResourceNames:[\"s1\"], Verbs:[\"list\"]}"
         "\n{APIGroups:[\"\"], Resources:[\"secrets\"], ResourceNames:[\"s3\"], Verbs:[\"get\"]}"
         "\n{APIGroups:[\"\"], Resources:[\"secrets\"], ResourceNames:[\"s3\"], Verbs:[\"list\"]}"},
        {"[{nonResourceURLs: [/logs, /logs/a], verbs: [get]}]",
         "\n{NonResourceURLs:[\"/logs\"], Verbs:[\"get\"]}"},
        {"[{apiGroups: ['*'], resources: ['*'], verbs: ['*']}]",
         "\n{APIGroups:[\"*\"], Resources:[\"*\"], Verbs:[\"*\"]}"},
        {"[{apiGroups: [b], resources: [z], verbs: [get]}, {apiGroups: [a], resources: [x], "
         "verbs: [get]}, {apiGroups: [b], resources: [z], verbs: [list]}]",
         "\n{APIGroups:[\"a\"], Resources:[\"x\"], Verbs:[\"get\"]}"
         "\n{APIGroups:[\"b\"], Resources:[\"z\"], Verbs:[\"get\" \"list\"]}"},
    };
    struct vd_rbac *rbac = rbac_of_yaml(world);
    struct vd_user *pat = user_named("pat", "g");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_buf yaml = {0}, why = {0}, want = {0};
        struct vd_error error = {0};
        struct vd_role *role = NULL;
        vd_buf_addf(&yaml, "{kind: Role, metadata: {name: r, namespace: ns}, rules: %s}",
                    cases[i].rules);
        assert_ok(vd_role_from_json(&role, yaml_of(*state, vd_buf_text(&yaml)), &error), &error);
        enum vd_escalation got = vd_escalation_by_role(rbac, pat, role, true, &why);
        assert_int_equal(got, cases[i].missing ? VD_ESCALATION_REFUSED : VD_ESCALATION_NONE);
        if (cases[i].missing)
            vd_buf_addf(&want, HEAD "%s", cases[i].missing);
        assert_slice(vd_buf_slice(&why), vd_buf_text(&want));
        vd_role_unref(role);
        vd_buf_release(&yaml);
        vd_buf_release(&why);
        vd_buf_release(&want);
    }
    vd_user_unref(pat);
    vd_rbac_unref(rbac);
}

#define ALLOWED VD_ESCALATION_NONE
#define REFUSED VD_ESCALATION_REFUSED

static void who_may_write_which_role(void **state)
{
#define RULES ", rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]}"
    static const struct {
        const char *user, *groups, *metadata;
        bool creating;
        enum vd_escalation want;
    } cases[] = {
        {"pat", "", "{name: r}", true, ALLOWED},
        {"loc", "", "{name: r, namespace: ns}", true, ALLOWED},
        {"loc", "", "{name: r, namespace: ms}", true, REFUSED},
        {"loc", "", "{name: r}", true, REFUSED},
        {"nobody", "", "{name: r, namespace: ns}", true, REFUSED},
        {"nobody", "system:masters", "{name: r}", true, ALLOWED},
        {"esc", "", "{name: r, namespace: ns}", false, ALLOWED},
        {"esc", "", "{name: r, namespace: ns}", true, REFUSED}, /* a create has no name */
        {"esc", "", "{name: q, namespace: ns}", false, REFUSED},
        {"esc", "", "{name: r, namespace: ms}", false, REFUSED},
        {"esc", "", "{name: r}", false, REFUSED},
        {"all", "", "{name: r, namespace: ns}", true, ALLOWED},
        {"all", "", "{name: r}", true, REFUSED},
        {"sue", "", "{name: r, namespace: ns}", true, ALLOWED},
        {"sue", "", "{name: r}", true, REFUSED},
    };
    struct vd_rbac *rbac = rbac_of_yaml(world);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_buf yaml = {0}, why = {0};
        struct vd_error error = {0};
        struct vd_role *role = NULL;
        struct vd_user *user = user_named(cases[i].user, cases[i].groups);
        vd_buf_addf(&yaml, "{metadata: %s" RULES, cases[i].metadata);
        assert_ok(vd_role_from_json(&role, yaml_of(*state, vd_buf_text(&yaml)), &error), &error);
        if (vd_escalation_by_role(rbac, user, role, cases[i].creating, &why) != cases[i].want)
            fail_msg("case %zu: %s", i, vd_buf_text(&why));
        assert_int_equal(why.n > 0, cases[i].want != ALLOWED);
        vd_role_unref(role);
        vd_user_unref(user);
        vd_buf_release(&yaml);
        vd_buf_release(&why);
    }
    vd_rbac_unref(rbac);
}

static void who_may_bind_which_role(void **state)
{
    static const struct {
        const char *user, *metadata, *role;
        enum vd_escalation want;
    } cases[] = {
        {"pat", "{name: b}", "weak", ALLOWED},
        {"pat", "{name: b, namespace: ns}", "weak", ALLOWED},
        {"pat", "{name: b, namespace: ns}", "strong", REFUSED},
        {"pat", "{name: b}", "gone", VD_ESCALATION_NO_ROLE},
        {"loc", "{name: b, namespace: ns}", "weak", ALLOWED},
        {"loc", "{name: b, namespace: ms}", "weak", REFUSED},
        {"loc", "{name: b}", "weak", REFUSED},
        {"bo", "{name: b, namespace: ns}", "strong", ALLOWED},
        {"bo", "{name: b, namespace: ms}", "strong", REFUSED},
        {"bo", "{name: b}", "strong", REFUSED},
        {"bo", "{name: b, namespace: ns}", "weak", REFUSED},
        {"sue", "{name: b, namespace: ns}", "strong", ALLOWED},
        {"sue", "{name: b}", "strong", REFUSED},
    };
    struct vd_rbac *rbac = rbac_of_yaml(world);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_buf yaml = {0}, why = {0};
        struct vd_error error = {0};
        struct vd_binding *binding = NULL;
        struct vd_user *user = user_named(cases[i].user, "");
        vd_buf_addf(&yaml, "{metadata: %s, roleRef: {kind: ClusterRole, name: %s}}",
                    cases[i].metadata, cases[i].role);
        assert_ok(vd_binding_from_json(&binding, yaml_of(*state, vd_buf_text(&yaml)), &error),
                  &error);
        if (vd_escalation_by_binding(rbac, user, binding, &why) != cases[i].want)
            fail_msg("case %zu: %s", i, vd_buf_text(&why));
        if (cases[i].want == VD_ESCALATION_NO_ROLE)
            assert_slice(vd_buf_slice(&why),
                         "clusterroles.rbac.authorization.k8s.io \"gone\" not found");
        vd_binding_unref(binding);
        vd_user_unref(user);
        vd_buf_release(&yaml);
        vd_buf_release(&why);
    }
    vd_rbac_unref(rbac);
}

/* verbs x resources x names: 50 x 50 x `names`. */
static struct vd_role *wide_role(struct vd_arena *a, int names_n)
{
    struct vd_buf json = {0};
    struct vd_error error = {0};
    struct vd_role *role = NULL;
    vd_buf_add_text(&json, "{\"metadata\":{\"name\":\"r\"},\"rules\":[{\"apiGroups\":[\"\"]");
    static const char *const keys[] = {"verbs", "resources", "resourceNames"};
    for (int k = 0; k < 3; k++) {
        vd_buf_addf(&json, ",\"%s\":[\"x\"", keys[k]);
        for (int i = 1; i < (k == 2 ? names_n : 50); i++)
            vd_buf_addf(&json, ",\"x%d\"", i);
        vd_buf_add_text(&json, "]");
    }
    vd_buf_add_text(&json, "}]}");
    struct vd_json *document = NULL;
    assert_ok(vd_json_parse_copy(a, vd_buf_slice(&json), NULL, &document, &error), &error);
    assert_ok(vd_role_from_json(&role, document, &error), &error);
    vd_buf_release(&json);
    return role;
}

static void the_work_is_bounded(void **state)
{
    struct vd_rbac *rbac = rbac_of_yaml(world);
    struct vd_user *pat = user_named("pat", ""), *sue = user_named("sue", "");
    struct vd_buf why = {0};
    struct vd_role *wide = wide_role(*state, 2), *wider = wide_role(*state, 50);
    assert_int_equal(vd_escalation_by_role(rbac, pat, wide, true, &why), REFUSED);
    assert_non_null(strstr(vd_buf_text(&why), "\nand 4900 more"));
    vd_buf_reset(&why);
    assert_int_equal(vd_escalation_by_role(rbac, pat, wider, true, &why), REFUSED);
    assert_non_null(strstr(vd_buf_text(&why), "more than 16384 single rights"));
    vd_role_unref(wide);
    vd_role_unref(wider);
    vd_user_unref(pat);
    vd_user_unref(sue);
    vd_buf_release(&why);
    vd_rbac_unref(rbac);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        arena_test(a_role_is_checked_right_by_right),
        arena_test(who_may_write_which_role),
        arena_test(who_may_bind_which_role),
        arena_test(the_work_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
