/* See gatekeeper_fixture.h. */
#include "gatekeeper_fixture.h"

#include "check.h"
#include "json/parse.h"

static void put(struct vd_policy *policy, struct vd_slice text)
{
    struct vd_arena arena = {0};
    struct vd_json *object = NULL;
    struct vd_error error;
    assert_ok(vd_json_parse(&arena, text, NULL, &object, &error), &error);
    assert_ok(vd_policy_put(policy, object, &error), &error);
    vd_arena_release(&arena);
}

struct vd_rbac *rules_for_all(const char *verbs)
{
    static const char binding[] =
        "{\"apiVersion\":\"rbac.authorization.k8s.io/v1\",\"kind\":\"ClusterRoleBinding\","
        "\"metadata\":{\"name\":\"all\"},\"subjects\":[{\"kind\":\"Group\",\"apiGroup\":"
        "\"rbac.authorization.k8s.io\",\"name\":\"" VD_GROUP_AUTHENTICATED "\"}],\"roleRef\":"
        "{\"apiGroup\":\"rbac.authorization.k8s.io\",\"kind\":\"ClusterRole\",\"name\":\"all\"}}";
    struct vd_policy *policy = vd_policy_new();
    struct vd_buf role = {0};
    vd_buf_addf(&role,
                "{\"apiVersion\":\"rbac.authorization.k8s.io/v1\",\"kind\":\"ClusterRole\","
                "\"metadata\":{\"name\":\"all\"},\"rules\":[{\"apiGroups\":[\"*\"],\"resources\":"
                "[\"*\"],\"verbs\":[%s]},{\"nonResourceURLs\":[\"*\"],\"verbs\":[%s]}]}",
                verbs, verbs);
    put(policy, vd_buf_slice(&role));
    put(policy, vd_slice_of(binding));
    struct vd_rbac *rules = vd_policy_snapshot(policy);
    vd_policy_free(policy);
    vd_buf_release(&role);
    return rules;
}

struct vd_gatekeeper *gatekeeper_for_all(const char *verbs)
{
    struct vd_rbac *rules = rules_for_all(verbs);
    struct vd_gatekeeper *gatekeeper = vd_gatekeeper_new_fixed(rules, vd_clock_system());
    vd_rbac_unref(rules);
    return gatekeeper;
}
