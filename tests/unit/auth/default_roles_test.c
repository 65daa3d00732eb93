/* src/auth/default_roles.c: who may do what on a new server, as one table. */
#include "auth/default_roles.h"

#include <string.h>

#include "rbac_check.h"

static struct vd_rbac *rbac;

/* The default roles, and admin, edit and view bound to ann, ed and vi in "team". */
static int setup(void **state)
{
    (void)state;
    struct vd_arena arena = {0};
    struct vd_error error = {0};
    struct vd_policy *policy = vd_policy_new();
    VD_JSON_EACH (document, vd_default_roles(&arena))
        assert_ok(vd_policy_put(policy, document, &error), &error);
    static const char *const bound[][2] = {{"admin", "ann"}, {"edit", "ed"}, {"view", "vi"}};
    for (size_t i = 0; i < 3; i++) {
        struct vd_buf yaml = {0};
        vd_buf_addf(&yaml,
                    "kind: RoleBinding\nmetadata: {name: %s, namespace: team}\n"
                    "roleRef: {kind: ClusterRole, name: %s}\n"
                    "subjects: [{kind: User, name: %s}]\n",
                    bound[i][0], bound[i][0], bound[i][1]);
        policy_put_yaml(policy, vd_buf_text(&yaml));
        vd_buf_release(&yaml);
    }
    rbac = vd_policy_snapshot(policy);
    vd_policy_free(policy);
    vd_arena_release(&arena);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    vd_rbac_unref(rbac);
    return 0;
}

static const char verbs[][17] = {"get",    "list",  "watch",  "create",
                                 "update", "patch", "delete", "deletecollection"};

/* Each identity's rights to a resource as a text: a letter for each verb above that is
 * allowed (g l w c u p d D), in the namespace "team". */
static const struct {
    const char *group, *resource; /* with its subresource */
    const char *root, *ann, *ed, *vi, *controller, *nobody, *anonymous;
} table[] = {
    {"", "configmaps", "glwcupdD", "glwcupdD", "glwcupdD", "glw", "glw", "", ""},
    {"", "secrets", "glwcupdD", "glwcupdD", "glwcupdD", "", "", "", ""},
    {"", "serviceaccounts", "glwcupdD", "glwcupdD", "glwcupdD", "glw", "glw", "", ""},
    {"", "serviceaccounts/token", "glwcupdD", "c", "c", "", "", "", ""},
    {"", "services", "glwcupdD", "glwcupdD", "glwcupdD", "glw", "glw", "", ""},
    {"", "services/status", "glwcupdD", "glw", "glw", "glw", "gup", "", ""},
    {"", "events", "glwcupdD", "glwcupdD", "glwcupdD", "glw", "glwcup", "", ""},
    {"events.k8s.io", "events", "glwcupdD", "glwcupdD", "glwcupdD", "glw", "glwcup", "", ""},
    {"", "namespaces", "glwcupdD", "glw", "glw", "glw", "glw", "", ""},
    {"coordination.k8s.io", "leases", "glwcupdD", "glwcupdD", "glwcupdD", "glw", "glwcupdD", "",
     ""},
    {"rbac.authorization.k8s.io", "roles", "glwcupdD", "glwcupdD", "", "", "", "", ""},
    {"rbac.authorization.k8s.io", "rolebindings", "glwcupdD", "glwcupdD", "", "", "", "", ""},
    {"rbac.authorization.k8s.io", "clusterroles", "glwcupdD", "", "", "", "", "", ""},
    {"rbac.authorization.k8s.io", "clusterrolebindings", "glwcupdD", "", "", "", "", "", ""},
    {"apiextensions.k8s.io", "customresourcedefinitions", "glwcupdD", "", "", "", "glw", "", ""},
    {"catalog.gitstore.dev", "products", "glwcupdD", "glw", "glw", "glw", "glw", "", ""},
    {"catalog.gitstore.dev", "products/status", "glwcupdD", "", "", "", "glwup", "", ""},
    {"git.vedette.dev", "repositories", "glwcupdD", "glwcupdD", "glwcupdD", "glw", "glw", "", ""},
    {"git.vedette.dev", "repositories/status", "glwcupdD", "glw", "glw", "glw", "gup", "", ""},
    {"git.vedette.dev", "repositories/contents", "glwcupdD", "gu", "gu", "g", "", "", ""},
    {"example.com", "widgets", "glwcupdD", "", "", "", "", "", ""},
    {"example.com", "widgets/status", "glwcupdD", "", "", "", "gup", "", ""},
    {"authorization.k8s.io", "selfsubjectaccessreviews", "glwcupdD", "c", "c", "c", "c", "c", ""},
    {"authorization.k8s.io", "selfsubjectrulesreviews", "glwcupdD", "c", "c", "c", "c", "c", ""},
    {"authentication.k8s.io", "selfsubjectreviews", "glwcupdD", "c", "c", "c", "c", "c", ""},
    {"authorization.k8s.io", "subjectaccessreviews", "glwcupdD", "", "", "", "", "", ""},
    {"authentication.k8s.io", "tokenreviews", "glwcupdD", "", "", "", "", "", ""},
};

/* The letters of what the user may do in the namespace. */
static const char *rights(const struct vd_user *user, const char *group, const char *resource,
                          const char *namespace, char out[9])
{
    static const char letters[] = "glwcupdD";
    const char *slash = strchr(resource, '/');
    size_t n = 0;
    for (size_t v = 0; v < 8; v++) {
        struct vd_access access = {
            .user = user,
            .verb = vd_slice_of(verbs[v]),
            .group = vd_slice_of(group),
            .resource = slash ? vd_slice(resource, (size_t)(slash - resource))
                              : vd_slice_of(resource),
            .subresource = vd_slice_of(slash ? slash + 1 : ""),
            .namespace = vd_slice_of(namespace),
        };
        if (vd_rbac_allows(rbac, &access))
            out[n++] = letters[v];
    }
    out[n] = 0;
    return out;
}

static void every_verb_resource_and_identity(void **state)
{
    (void)state;
    struct vd_user *users[] = {
        user_named("root", "system:masters"),
        user_named("ann", ""),
        user_named("ed", ""),
        user_named("vi", ""),
        user_named("c", "system:controllers"),
        user_named("nobody", ""),
        vd_user_new_anonymous(),
    };
    enum { USERS = sizeof users / sizeof *users };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const char *const want[] = {table[i].root,     table[i].ann,        table[i].ed,
                                    table[i].vi,       table[i].controller, table[i].nobody,
                                    table[i].anonymous};
        for (size_t u = 0; u < USERS; u++) {
            char room[9];
            const char *got = rights(users[u], table[i].group, table[i].resource, "team", room);
            if (strcmp(got, want[u]) != 0)
                fail_msg("%.*s on %s.%s: got \"%s\", want \"%s\"", VD_FMT(users[u]->is.name),
                         table[i].resource, table[i].group, got, want[u]);
            /* Bound in one namespace: what is granted there ends there. */
            bool local = u >= 1 && u <= 3;
            bool everybody = strchr(want[5], 'c') != NULL;
            got = rights(users[u], table[i].group, table[i].resource, "elsewhere", room);
            assert_string_equal(got, !local ? want[u] : everybody ? "c" : "");
        }
    }
    for (size_t u = 0; u < USERS; u++)
        vd_user_unref(users[u]);
}

static void paths(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        bool master, user, anonymous, monitor, account;
    } cases[] = {
        {"/healthz", true, true, true, true, true},
        {"/livez", true, true, true, true, true},
        {"/readyz", true, true, true, true, true},
        {"/version", true, true, true, true, true},
        {"/readyz/etcd", true, false, false, true, false},
        {"/metrics", true, false, false, true, false},
        {"/api", true, true, false, true, true},
        {"/apis/apps", true, true, false, true, true},
        {"/openapi/v3", true, true, false, true, true},
        {"/", true, false, false, false, false},
        {"/debug/pprof", true, false, false, false, false},
        {"/.well-known/openid-configuration", true, false, false, false, true},
        {"/.well-known/openid-configuration/", true, false, false, false, true},
        {"/openid/v1/jwks", true, false, false, false, true},
        {"/openid/v1/jwks/", true, false, false, false, true},
        {"/openid/v1/jwks/x", true, false, false, false, false},
    };
    enum { ASKING = 5 };
    struct vd_user *users[ASKING] = {user_named("root", "system:masters"), user_named("u", ""),
                                     vd_user_new_anonymous(), user_named("m", "system:monitoring"),
                                     user_named("a", "system:serviceaccounts")};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const bool want[ASKING] = {cases[i].master, cases[i].user, cases[i].anonymous,
                                   cases[i].monitor, cases[i].account};
        for (size_t u = 0; u < ASKING; u++) {
            struct vd_access access = {
                .user = users[u], .verb = VD_SLICE("get"), .path = vd_slice_of(cases[i].path)};
            if (vd_rbac_allows(rbac, &access) != want[u])
                fail_msg("%.*s at %s", VD_FMT(users[u]->is.name), cases[i].path);
            access.verb = VD_SLICE("post");
            assert_int_equal(vd_rbac_allows(rbac, &access), u == 0);
        }
    }
    for (size_t u = 0; u < ASKING; u++)
        vd_user_unref(users[u]);
}

static void documents_are_complete(void **state)
{
    (void)state;
    struct vd_arena arena = {0};
    const struct vd_json *list = vd_default_roles(&arena);
    assert_int_equal(vd_json_count(list), 11 + 7);
    assert_json(vd_json_at(list, 0),
                "{\"apiVersion\":\"rbac.authorization.k8s.io/v1\",\"kind\":\"ClusterRole\","
                "\"metadata\":{\"name\":\"cluster-admin\",\"annotations\":{"
                "\"rbac.authorization.kubernetes.io/autoupdate\":\"true\"},\"labels\":{"
                "\"kubernetes.io/bootstrapping\":\"rbac-defaults\"}},\"rules\":[{\"apiGroups\":"
                "[\"*\"],\"resources\":[\"*\"],\"verbs\":[\"*\"]},{\"nonResourceURLs\":[\"*\"],"
                "\"verbs\":[\"*\"]}]}");
    assert_json(
        vd_json_at(list, 11),
        "{\"apiVersion\":\"rbac.authorization.k8s.io/v1\",\"kind\":\"ClusterRoleBinding\","
        "\"metadata\":{\"name\":\"cluster-admin\",\"annotations\":{"
        "\"rbac.authorization.kubernetes.io/autoupdate\":\"true\"},\"labels\":{"
        "\"kubernetes.io/bootstrapping\":\"rbac-defaults\"}},\"roleRef\":{\"apiGroup\":"
        "\"rbac.authorization.k8s.io\",\"kind\":\"ClusterRole\",\"name\":\"cluster-admin\"},"
        "\"subjects\":[{\"apiGroup\":\"rbac.authorization.k8s.io\",\"kind\":\"Group\","
        "\"name\":\"system:masters\"}]}");
    vd_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_verb_resource_and_identity),
        cmocka_unit_test(paths),
        cmocka_unit_test(documents_are_complete),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
