/* src/api/cascade.c: who may delete a Repository that deletes objects outside its namespace. */
#include "write_setting.h"

#include "api/cascade.h"
#include "kinds/deletion.h"

#define RBAC "\"apiVersion\":\"rbac.authorization.k8s.io/v1\""
#define OWNED(name, owner)                                                                         \
    "{\"metadata\":{\"name\":\"" name                                                              \
    "\",\"annotations\":{\"vedette.dev/git-repository\":\"" owner "\"}}}"
#define REPOSITORY(policy, meta, status)                                                           \
    "{\"metadata\":{\"name\":\"r\"" meta "},\"spec\":{\"deletionPolicy\":\"" policy                \
    "\"},\"status\":{" status "}}"

static void put(struct vd_policy *policy, const char *text)
{
    struct vd_arena arena = {0};
    struct vd_error error;
    assert_ok(vd_policy_put(policy, json_of(&arena, text), &error), &error);
    vd_arena_release(&arena);
}

/* The tester may delete what the rules say: in the namespace room, or everywhere. */
static void allow(const char *groups, const char *resources, const char *names, bool everywhere)
{
    struct vd_policy *policy = vd_policy_new();
    struct vd_buf role = {0};
    vd_buf_addf(&role,
                "{" RBAC ",\"kind\":\"ClusterRole\",\"metadata\":{\"name\":\"x\"},\"rules\":[{"
                "\"apiGroups\":[\"%s\"],\"resources\":[\"%s\"],\"resourceNames\":[%s],"
                "\"verbs\":[\"delete\"]}]}",
                groups, resources, names);
    put(policy, vd_buf_text(&role));
    vd_buf_reset(&role);
    vd_buf_addf(&role,
                "{" RBAC ",\"kind\":\"%s\",\"metadata\":{\"name\":\"x\"%s},\"subjects\":[{"
                "\"kind\":\"User\",\"apiGroup\":\"rbac.authorization.k8s.io\",\"name\":\"tester\""
                "}],\"roleRef\":{\"apiGroup\":\"rbac.authorization.k8s.io\",\"kind\":"
                "\"ClusterRole\",\"name\":\"x\"}}",
                everywhere ? "ClusterRoleBinding" : "RoleBinding",
                everywhere ? "" : ",\"namespace\":\"room\"");
    put(policy, vd_buf_text(&role));
    struct vd_rbac *rules = vd_policy_snapshot(policy);
    vd_gatekeeper_fix(setting.env.gatekeeper, rules);
    vd_rbac_unref(rules);
    vd_policy_free(policy);
    vd_buf_release(&role);
}

/* The Git pipeline writes it. */
static void bring(const char *resource, const char *document)
{
    struct trial t;
    prepare(&t, VD_WRITE_CREATE, resource, "", document);
    t.w.author = VD_AUTHOR_GIT;
    perform(&t);
    expect(&t, VD_WRITE_CREATED);
    release_trial(&t);
}

/* NULL: he may; else what the sentence has in it. */
static void is_refused(const char *repository, const char *text)
{
    struct vd_slice key = vd_slice_of(repository);
    struct vd_error error;
    int code = vd_cascade_check(&setting.env, setting.user, &key, 1, &error);
    assert_int_equal(code, text ? VD_ERR_FORBIDDEN : VD_OK);
    if (text && !strstr(error.text, text))
        fail_msg("%s is not in: %s", text, error.text);
}

static void each_object_elsewhere_needs_the_right(void **state)
{
    (void)state;
    bring("configmaps", OWNED("a", "shop/r"));
    bring("configmaps", OWNED("b", "shop/r"));
    bring("configmaps", OWNED("c", "shop/other"));
    bring("namespaces", OWNED("n", "shop/r"));
    allow("", "secrets", "", true);
    is_refused("shop/r", "Repository shop/r owns configmaps \"a\" of the namespace room");
    is_refused("room/r", NULL);
    is_refused("shop/nothing", NULL);
    allow("", "configmaps", "\"a\"", false);
    is_refused("shop/r", "owns configmaps \"b\" of the namespace room");
    allow("", "configmaps", "", false);
    is_refused("shop/r", "owns namespaces \"n\" of no namespace");
    is_refused("shop/other", NULL);
    allow("", "*", "", false);
    is_refused("shop/r", "owns namespaces \"n\"");
    allow("", "*", "", true);
    is_refused("shop/r", NULL);
}

/* What is in the Repository's own namespace is nobody's business but its own. */
static void its_own_namespace_needs_none(void **state)
{
    (void)state;
    bring("configmaps", OWNED("a", "room/r"));
    allow("", "secrets", "", true);
    is_refused("room/r", NULL);
}

static void most_deletions_need_no_look(void **state)
{
    static const struct {
        const char *resource, *object;
        bool may_all;
        enum vd_cascade want;
    } cases[] = {
        {"configmaps", REPOSITORY("Cascade", "", "\"resources\":1"), false, VD_CASCADE_NONE},
        {"repositories.git.vedette.dev", REPOSITORY("Refuse", "", "\"resources\":1"), false,
         VD_CASCADE_NONE},
        {"repositories.git.vedette.dev", REPOSITORY("Cascade", "", "\"resources\":0"), false,
         VD_CASCADE_NONE},
        {"repositories.git.vedette.dev", REPOSITORY("Cascade", "", "\"resources\":1"), false,
         VD_CASCADE_UNKNOWN},
        {"repositories.git.vedette.dev", REPOSITORY("Cascade", "", "\"resources\":1"), true,
         VD_CASCADE_ALLOWED},
        {"repositories.git.vedette.dev",
         REPOSITORY("Cascade", ",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"",
                    "\"resources\":0"),
         false, VD_CASCADE_UNKNOWN},
        {"repositories.git.vedette.dev",
         REPOSITORY("Cascade", "", "\"resources\":1,\"cascadesElsewhere\":true"), false,
         VD_CASCADE_NONE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        allow(cases[i].may_all ? "*" : "", "*", "", true);
        assert_int_equal(vd_cascade_of(&setting.env, setting.user, vd_slice_of(cases[i].resource),
                                       json_of(*state, cases[i].object)),
                         cases[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        write_test(each_object_elsewhere_needs_the_right),
        write_test(its_own_namespace_needs_none),
        write_test(most_deletions_need_no_look),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
