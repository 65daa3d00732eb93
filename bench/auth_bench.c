/*
 * How long authentication and authorization take: `auth_bench`.
 *
 * The policy is that of a busy server: the default roles, 1,000 namespaces with
 * two bindings each, and 200 ClusterRoleBindings. The user is in four groups.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "auth/default_roles.h"
#include "auth/rbac.h"
#include "auth/service_account.h"
#include "auth/token.h"
#include "measure.h"
#include "json/parse.h"

enum { SPACES = 1000, CLUSTER_BINDINGS = 200 };

static void put_binding(struct vd_policy *policy, const char *kind, const char *namespace,
                        const char *name, const char *role, const char *user)
{
    struct vd_arena arena = {0};
    struct vd_buf text = {0};
    struct vd_json *object;
    vd_buf_addf(&text, "{\"kind\":\"%s\",\"metadata\":{\"name\":\"%s\"", kind, name);
    if (namespace)
        vd_buf_addf(&text, ",\"namespace\":\"%s\"", namespace);
    vd_buf_addf(&text,
                "},\"roleRef\":{\"kind\":\"ClusterRole\",\"name\":\"%s\"},\"subjects\":[{\"kind\":"
                "\"User\",\"name\":\"%s\"},{\"kind\":\"Group\",\"name\":\"ops\"}]}",
                role, user);
    int code = vd_json_parse(&arena, vd_buf_slice(&text), NULL, &object, NULL);
    if (!code)
        code = vd_policy_put(policy, object, NULL);
    if (code)
        abort();
    vd_buf_release(&text);
    vd_arena_release(&arena);
}

static struct vd_policy *busy_policy(void)
{
    struct vd_policy *policy = vd_policy_new();
    struct vd_arena arena = {0};
    VD_JSON_EACH (document, vd_default_roles(&arena))
        if (vd_policy_put(policy, document, NULL))
            abort();
    for (int i = 0; i < SPACES; i++) {
        char namespace[32], user[32];
        snprintf(namespace, sizeof namespace, "team-%d", i);
        snprintf(user, sizeof user, "user-%d", i % 100);
        put_binding(policy, "RoleBinding", namespace, "editors", "edit", user);
        put_binding(policy, "RoleBinding", namespace, "viewers", "view", "someone");
    }
    for (int i = 0; i < CLUSTER_BINDINGS; i++) {
        char name[32], user[32];
        snprintf(name, sizeof name, "binding-%d", i);
        snprintf(user, sizeof user, "robot-%d", i);
        put_binding(policy, "ClusterRoleBinding", NULL, name, "system:controllers", user);
    }
    vd_arena_release(&arena);
    return policy;
}

/* Nanoseconds of one decision. */
static double decide_ns(const struct vd_rbac *rbac, const struct vd_access *access, bool want)
{
    enum { ROUNDS = 200000 };
    double best = 1e9;
    for (int k = 0; k < 5; k++) {
        double start = measure_now_s();
        for (int i = 0; i < ROUNDS; i++)
            if (vd_rbac_allows(rbac, access) != want)
                abort();
        double ns = (measure_now_s() - start) / ROUNDS * 1e9;
        best = ns < best ? ns : best;
    }
    return best;
}

static void bench_rbac(void)
{
    struct vd_policy *policy = busy_policy();
    double start = measure_now_s();
    struct vd_rbac *rbac = vd_policy_snapshot(policy);
    measure_print("rbac: a snapshot of 2,200 bindings", (measure_now_s() - start) * 1e6, "us", "");
    struct vd_slice groups[] = {VD_SLICE("dev"), VD_SLICE("qa"), VD_SLICE("oncall")};
    struct vd_user *user = vd_user_new(&(struct vd_identity){
        .name = VD_SLICE("user-7"), .groups = groups, .groups_n = 3, .method = VD_AUTH_TOKEN});
    struct vd_access access = {.user = user,
                               .verb = VD_SLICE("get"),
                               .resource = VD_SLICE("configmaps"),
                               .namespace = VD_SLICE("team-507"),
                               .name = VD_SLICE("a")};
    double ns = decide_ns(rbac, &access, true);
    measure_target("rbac: allowed by a RoleBinding", ns, "ns", ns < 1000, "< 1 us");
    access.group = VD_SLICE("coordination.k8s.io");
    access.resource = VD_SLICE("leases");
    ns = decide_ns(rbac, &access, true);
    measure_target("rbac: allowed by its last rule", ns, "ns", ns < 1000, "< 1 us");
    access.resource = VD_SLICE("nothing");
    ns = decide_ns(rbac, &access, false);
    measure_target("rbac: refused", ns, "ns", ns < 1000, "< 1 us");
    vd_user_unref(user);
    vd_rbac_unref(rbac);
    vd_policy_free(policy);
}

static bool yes(void *arg, const struct vd_bound_object *object)
{
    (void)arg, (void)object;
    return true;
}

static void bench_service_account(void)
{
    enum { ROUNDS = 2000 };
    struct vd_signing_key *key = vd_signing_key_generate();
    struct vd_service_accounts *accounts = NULL;
    struct vd_buf token = {0};
    struct vd_user *user;
    int64_t expires_ms;
    struct vd_service_accounts_options options = {.keys = &key, .keys_n = 1, .exists = yes};
    struct vd_token_request request = {.namespace = VD_SLICE("a"),
                                       .name = VD_SLICE("b"),
                                       .uid = VD_SLICE("c"),
                                       .now_ms = 1794735590000};
    if (vd_service_accounts_new(&accounts, &options, NULL) ||
        vd_service_account_issue(accounts, &request, &token, &expires_ms, NULL))
        abort();
    double start = measure_now_s();
    for (int i = 0; i < ROUNDS; i++) {
        if (vd_service_account_authenticate(accounts, vd_buf_slice(&token), NULL, 0, request.now_ms,
                                            &user, NULL))
            abort();
        vd_user_unref(user);
    }
    measure_print("jwt: a ServiceAccount token", (measure_now_s() - start) / ROUNDS * 1e6, "us",
                  "");
    vd_service_accounts_free(accounts);
    vd_signing_key_unref(key);
    vd_buf_release(&token);
}

static void bench_token(void)
{
    enum { ROUNDS = 100000 };
    char *folder = measure_folder_new();
    struct vd_buf token = {0}, id = {0};
    struct vd_token_set *set = NULL;
    struct vd_user *user;
    if (vd_token_create(folder, &(struct vd_token_spec){.user = VD_SLICE("ann")}, vd_clock_system(),
                        &token, &id, NULL) ||
        vd_token_set_load(&set, folder, NULL))
        abort();
    double start = measure_now_s();
    for (int i = 0; i < ROUNDS; i++) {
        if (vd_token_set_authenticate(set, vd_buf_slice(&token), 1, &user, NULL))
            abort();
        vd_user_unref(user);
    }
    measure_print("token: a bearer token", (measure_now_s() - start) / ROUNDS * 1e9, "ns", "");
    vd_token_set_unref(set);
    vd_buf_release(&token);
    vd_buf_release(&id);
    measure_folder_remove(folder);
}

int main(void)
{
    bench_rbac();
    bench_token();
    bench_service_account();
    return 0;
}
