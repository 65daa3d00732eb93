/* src/auth/rbac.c, policy.c and role.c: bindings, reasons, changes; and the
 * index against an evaluator that reads every binding. */
#include "auth/rbac.h"

#include <string.h>

#include "rbac_check.h"
#include "seed.h"

static const char world[] =
    "{kind: ClusterRole, metadata: {name: reader},\n"
    " rules: [{apiGroups: [''], resources: [configmaps], verbs: [get, list]},\n"
    "         {nonResourceURLs: [/logs], verbs: [get]}]}\n"
    "---\n"
    "{kind: Role, metadata: {name: writer, namespace: a},\n"
    " rules: [{apiGroups: [''], resources: [configmaps], verbs: [update],\n"
    "          resourceNames: [x]}]}\n"
    "---\n"
    "{kind: Role, metadata: {name: reader, namespace: b},\n"
    " rules: [{apiGroups: [''], resources: [secrets], verbs: [get]}]}\n"
    "---\n"
    "{kind: ClusterRoleBinding, metadata: {name: all-readers},\n"
    " roleRef: {kind: ClusterRole, name: reader},\n"
    " subjects: [{kind: Group, name: readers},\n"
    "            {kind: ServiceAccount, name: bot, namespace: a},\n"
    "            {kind: ServiceAccount, name: lost}, {kind: Robot, name: r}]}\n"
    "---\n"
    "{kind: RoleBinding, metadata: {name: a-readers, namespace: a},\n"
    " roleRef: {kind: ClusterRole, name: reader}, subjects: [{kind: User, name: ann}]}\n"
    "---\n"
    "{kind: RoleBinding, metadata: {name: a-writers, namespace: a},\n"
    " roleRef: {kind: Role, name: writer},\n"
    " subjects: [{kind: User, name: ann}, {kind: ServiceAccount, name: local}]}\n"
    "---\n"
    "{kind: RoleBinding, metadata: {name: b-readers, namespace: b},\n"
    " roleRef: {kind: Role, name: reader}, subjects: [{kind: User, name: ann}]}\n"
    "---\n"
    "{kind: RoleBinding, metadata: {name: broken, namespace: b},\n"
    " roleRef: {kind: Role, name: missing}, subjects: [{kind: User, name: ann}]}\n"
    "---\n"
    "{kind: ClusterRoleBinding, metadata: {name: broken},\n"
    " roleRef: {kind: ClusterRole, name: gone}, subjects: [{kind: Group, name: lost}]}\n";

static void bindings_reach_their_subjects(void **state)
{
    (void)state;
#define SA "system:serviceaccount:"
#define BY_GROUP                                                                                   \
    "RBAC: allowed by ClusterRoleBinding \"all-readers\" of ClusterRole \"reader\" to Group "      \
    "\"readers\""
    static const struct {
        const char *user, *groups, *verb, *resource, *namespace, *name;
        const char *reason;
        bool allowed;
    } cases[] = {
        {"bob", "readers", "get", "configmaps", "z", "x", BY_GROUP, true},
        {"bob", "readers", "list", "configmaps", "", "", BY_GROUP, true},
        {"bob", "readers", "update", "configmaps", "a", "x", "", false},
        {"bob", "", "get", "configmaps", "a", "x", "", false},
        {"readers", "", "get", "configmaps", "a", "x", "", false},
        {"root", "system:masters", "zap", "anything", "q", "x", "", true},
        {"ann", "", "get", "configmaps", "a", "x",
         "RBAC: allowed by RoleBinding \"a-readers/a\" of ClusterRole \"reader\" to User \"ann\"",
         true},
        {"ann", "", "get", "configmaps", "", "x", "", false},
        {"ann", "", "get", "configmaps", "aa", "x", "", false},
        {"ann", "", "get", "secrets", "a", "x", "", false},
        {"ann", "", "update", "configmaps", "a", "x",
         "RBAC: allowed by RoleBinding \"a-writers/a\" of Role \"writer\" to User \"ann\"", true},
        {"ann", "", "update", "configmaps", "a", "y", "", false},
        {"ann", "", "update", "configmaps", "a", "", "", false},
        {"ann", "", "get", "secrets", "b", "x",
         "RBAC: allowed by RoleBinding \"b-readers/b\" of Role \"reader\" to User \"ann\"", true},
        {"ann", "", "get", "configmaps", "b", "x",
         "RBAC: role.rbac.authorization.k8s.io \"missing\" not found", false},
        {"ann", "lost", "get", "configmaps", "b", "x",
         "RBAC: [clusterrole.rbac.authorization.k8s.io \"gone\" not found, "
         "role.rbac.authorization.k8s.io \"missing\" not found]",
         false},
        {SA "a:bot", "", "get", "configmaps", "b", "x",
         "RBAC: allowed by ClusterRoleBinding \"all-readers\" of ClusterRole \"reader\" to "
         "ServiceAccount \"bot/a\"",
         true},
        {SA "b:bot", "", "get", "configmaps", "b", "x", "", false},
        {SA ":lost", "", "get", "configmaps", "b", "x", "", false},
        {SA "a:local", "", "update", "configmaps", "a", "x",
         "RBAC: allowed by RoleBinding \"a-writers/a\" of Role \"writer\" to ServiceAccount "
         "\"local/a\"",
         true},
        {SA "b:local", "", "update", "configmaps", "a", "x", "", false},
        {"r", "", "get", "configmaps", "", "", "", false},
    };
    struct vd_rbac *rbac = rbac_of_yaml(world);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_user *user = user_named(cases[i].user, cases[i].groups);
        struct vd_buf reason = {0};
        struct vd_access access = {.user = user,
                                   .verb = vd_slice_of(cases[i].verb),
                                   .resource = vd_slice_of(cases[i].resource),
                                   .namespace = vd_slice_of(cases[i].namespace),
                                   .name = vd_slice_of(cases[i].name)};
        bool allowed = vd_rbac_decide(rbac, &access, &reason);
        if (allowed != cases[i].allowed || !vd_slice_is(vd_buf_slice(&reason), cases[i].reason))
            fail_msg("case %zu: %d, \"%s\"", i, allowed, vd_buf_text(&reason));
        assert_int_equal(vd_rbac_allows(rbac, &access), allowed);
        vd_buf_release(&reason);
        vd_user_unref(user);
    }
    vd_rbac_unref(rbac);
}

static void paths_are_in_no_namespace(void **state)
{
    (void)state;
    struct vd_rbac *rbac = rbac_of_yaml(world);
    struct vd_user *ann = user_named("ann", ""), *bob = user_named("bob", "readers");
    struct vd_access access = {.user = ann,
                               .verb = VD_SLICE("get"),
                               .path = VD_SLICE("/logs"),
                               .namespace = VD_SLICE("a")};
    assert_false(vd_rbac_allows(rbac, &access)); /* a RoleBinding cannot grant a path */
    access.user = bob;
    assert_true(vd_rbac_allows(rbac, &access));
    vd_user_unref(ann);
    vd_user_unref(bob);
    vd_rbac_unref(rbac);
}

static bool may_read(const struct vd_policy *policy, const struct vd_user *user)
{
    struct vd_rbac *rbac = vd_policy_snapshot(policy);
    bool allowed = vd_rbac_allows(rbac, &(struct vd_access){.user = user,
                                                            .verb = VD_SLICE("get"),
                                                            .resource = VD_SLICE("configmaps"),
                                                            .namespace = VD_SLICE("a")});
    vd_rbac_unref(rbac);
    return allowed;
}

static void changes_show_in_the_next_snapshot_only(void **state)
{
    struct vd_policy *policy = vd_policy_new();
    struct vd_user *ann = user_named("ann", "");
    struct vd_error error = {0};
    policy_put_yaml(policy, world);
    struct vd_rbac *before = vd_policy_snapshot(policy);
    assert_true(may_read(policy, ann));
    assert_true(
        vd_policy_remove(policy, VD_SLICE("RoleBinding"), VD_SLICE("a"), VD_SLICE("a-readers")));
    assert_false(
        vd_policy_remove(policy, VD_SLICE("RoleBinding"), VD_SLICE("a"), VD_SLICE("a-readers")));
    assert_false(may_read(policy, ann));
    policy_put_yaml(policy, world);
    assert_true(may_read(policy, ann));
    /* The role loses its rules; then it cannot be read; then it is good again. */
    policy_put_yaml(policy, "{kind: ClusterRole, metadata: {name: reader}}");
    assert_false(may_read(policy, ann));
    policy_put_yaml(policy, world);
    assert_code(vd_policy_put(policy,
                              json_of(*state, "{\"kind\":\"ClusterRole\",\"metadata\":{\"name\":"
                                              "\"reader\"},\"rules\":[{\"verbs\":7}]}"),
                              &error),
                VD_ERR_INVALID);
    assert_says(&error, "ClusterRole reader: rules[0]: verbs is not a list");
    assert_false(may_read(policy, ann));
    vd_policy_free(policy);

    struct vd_access access = {.user = ann,
                               .verb = VD_SLICE("get"),
                               .resource = VD_SLICE("configmaps"),
                               .namespace = VD_SLICE("a")};
    assert_true(vd_rbac_allows(before, &access)); /* a snapshot outlives its policy */
    vd_rbac_unref(vd_rbac_ref(before));
    vd_rbac_unref(before);
    vd_user_unref(ann);
}

static void objects_that_cannot_be_read_are_refused(void **state)
{
    static const char *const texts[] = {
        "{}",
        "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"}}",
        "{\"kind\":\"Role\",\"metadata\":{\"name\":\"a\"}}",
        "{\"kind\":\"ClusterRole\",\"metadata\":{\"name\":\"a\",\"namespace\":\"b\"}}",
        "{\"kind\":\"ClusterRole\",\"metadata\":{}}",
        "{\"kind\":\"ClusterRole\",\"metadata\":{\"name\":\"a\"},\"rules\":{}}",
        "{\"kind\":\"ClusterRoleBinding\",\"metadata\":{\"name\":\"a\"}}",
        "{\"kind\":\"ClusterRoleBinding\",\"metadata\":{\"name\":\"a\"},\"roleRef\":{\"kind\":"
        "\"Role\",\"name\":\"r\"}}",
        "{\"kind\":\"ClusterRoleBinding\",\"metadata\":{\"name\":\"a\"},\"roleRef\":{\"kind\":"
        "\"ClusterRole\",\"name\":\"r\"},\"subjects\":\"all\"}",
    };
    struct vd_policy *policy = vd_policy_new();
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct vd_error error = {0};
        if (vd_policy_put(policy, json_of(*state, texts[i]), &error) != VD_ERR_INVALID)
            fail_msg("%s was accepted", texts[i]);
        assert_true(error.text[0]);
    }
    vd_policy_free(policy);
    vd_policy_free(NULL);
}

static void a_review_lists_the_rules(void **state)
{
    struct vd_rbac *rbac = rbac_of_yaml(world);
    static const struct {
        const char *user, *groups, *namespace, *status;
    } cases[] = {
        {"ann", "", "a",
         "{\"resourceRules\":[{\"verbs\":[\"get\",\"list\"],\"apiGroups\":[\"\"],\"resources\":"
         "[\"configmaps\"]},{\"verbs\":[\"update\"],\"apiGroups\":[\"\"],\"resources\":"
         "[\"configmaps\"],\"resourceNames\":[\"x\"]}],\"nonResourceRules\":[{\"verbs\":[\"get\"],"
         "\"nonResourceURLs\":[\"/logs\"]}],\"incomplete\":false}"},
        {"ann", "", "", "{\"resourceRules\":[],\"nonResourceRules\":[],\"incomplete\":false}"},
        {"ann", "", "b",
         "{\"resourceRules\":[{\"verbs\":[\"get\"],\"apiGroups\":[\"\"],\"resources\":[\"secrets\"]"
         "}],\"nonResourceRules\":[],\"incomplete\":false,\"evaluationError\":"
         "\"role.rbac.authorization.k8s.io \\\"missing\\\" not found\"}"},
        {"root", "system:masters", "b",
         "{\"resourceRules\":[{\"verbs\":[\"*\"],\"apiGroups\":[\"*\"],\"resources\":[\"*\"]}],"
         "\"nonResourceRules\":[{\"verbs\":[\"*\"],\"nonResourceURLs\":[\"*\"]}],"
         "\"incomplete\":false}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_user *user = user_named(cases[i].user, cases[i].groups);
        assert_json(vd_rbac_rules_review(rbac, user, vd_slice_of(cases[i].namespace), *state),
                    cases[i].status);
        vd_user_unref(user);
    }
    vd_rbac_unref(rbac);
}

/* What several roles give is listed once. */
static void a_review_lists_nothing_twice(void **state)
{
    static const char yaml[] =
        "kind: ClusterRole\nmetadata: {name: one}\nrules:\n"
        "- {verbs: [get], apiGroups: [''], resources: [configmaps]}\n"
        "- {verbs: [get], nonResourceURLs: [/livez, /version]}\n"
        "---\nkind: ClusterRole\nmetadata: {name: two}\nrules:\n"
        "- {verbs: [get], apiGroups: [''], resources: [configmaps]}\n"
        "- {verbs: [get], apiGroups: [''], resources: [configmaps], resourceNames: [a]}\n"
        "- {verbs: [get], nonResourceURLs: [/livez]}\n"
        "- {verbs: [get], nonResourceURLs: [/version, /metrics]}\n"
        "- {verbs: [post], nonResourceURLs: [/livez]}\n"
        "---\nkind: ClusterRoleBinding\nmetadata: {name: one}\n"
        "roleRef: {kind: ClusterRole, name: one}\nsubjects: [{kind: User, name: ann}]\n"
        "---\nkind: ClusterRoleBinding\nmetadata: {name: two}\n"
        "roleRef: {kind: ClusterRole, name: two}\nsubjects: [{kind: User, name: ann}]\n";
    struct vd_rbac *rbac = rbac_of_yaml(yaml);
    struct vd_user *user = user_named("ann", "");
    assert_json(vd_rbac_rules_review(rbac, user, VD_SLICE("a"), *state),
                "{\"resourceRules\":[{\"verbs\":[\"get\"],\"apiGroups\":[\"\"],\"resources\":"
                "[\"configmaps\"]},{\"verbs\":[\"get\"],\"apiGroups\":[\"\"],\"resources\":"
                "[\"configmaps\"],\"resourceNames\":[\"a\"]}],\"nonResourceRules\":[{\"verbs\":"
                "[\"get\"],\"nonResourceURLs\":[\"/livez\",\"/version\"]},{\"verbs\":[\"get\"],"
                "\"nonResourceURLs\":[\"/metrics\"]},{\"verbs\":[\"post\"],\"nonResourceURLs\":"
                "[\"/livez\"]}],\"incomplete\":false}");
    vd_user_unref(user);
    vd_rbac_unref(rbac);
}

/* ---- the index against the definition ---- */

enum { POOL = 5, OBJECTS = 40, REQUESTS = 300 };

static const char *const namespaces[POOL] = {"a", "b", "ab", "default", "z"};
static const char *const names[POOL] = {"x", "y", "xy", "reader", "q"};
static const char *const pool_verbs[POOL] = {"get", "list", "watch", "update", "*"};
static const char *const pool_groups[POOL] = {"", "apps", "batch", "example.com", "*"};
static const char *const pool_resources[POOL] = {"pods", "pods/log", "*/log", "jobs", "*"};
static const char *const pool_paths[POOL] = {"/a", "/a/*", "/b", "/*", "*"};

static const char *pick(struct seed_rng *rng, const char *const pool[POOL])
{
    return pool[seed_below(rng, POOL)];
}

static struct vd_json *random_words(struct seed_rng *rng, struct vd_arena *a,
                                    const char *const pool[POOL])
{
    struct vd_json *list = vd_json_array(a);
    for (uint64_t n = seed_below(rng, 3); n; n--)
        vd_json_append(list, vd_json_string(a, vd_slice_of(pick(rng, pool))));
    return list;
}

static void set(struct vd_arena *a, struct vd_json *object, const char *key, const char *text)
{
    vd_json_add(a, object, vd_slice_of(key), vd_json_string(a, vd_slice_of(text)));
}

static struct vd_json *random_rule(struct seed_rng *rng, struct vd_arena *a)
{
    struct vd_json *rule = vd_json_object(a);
    vd_json_add(a, rule, VD_SLICE("verbs"), random_words(rng, a, pool_verbs));
    vd_json_add(a, rule, VD_SLICE("apiGroups"), random_words(rng, a, pool_groups));
    vd_json_add(a, rule, VD_SLICE("resources"), random_words(rng, a, pool_resources));
    if (seed_once_in(rng, 3))
        vd_json_add(a, rule, VD_SLICE("resourceNames"), random_words(rng, a, names));
    if (seed_once_in(rng, 3))
        vd_json_add(a, rule, VD_SLICE("nonResourceURLs"), random_words(rng, a, pool_paths));
    return rule;
}

static struct vd_json *random_subject(struct seed_rng *rng, struct vd_arena *a)
{
    static const char *const kinds[] = {"User", "Group", "ServiceAccount", "Other"};
    struct vd_json *subject = vd_json_object(a);
    set(a, subject, "kind", kinds[seed_below(rng, 4)]);
    set(a, subject, "name", pick(rng, names));
    if (seed_once_in(rng, 2))
        set(a, subject, "namespace", pick(rng, namespaces));
    return subject;
}

/* A role or binding; cluster-wide ones have no namespace. */
static struct vd_json *random_object(struct seed_rng *rng, struct vd_arena *a)
{
    bool cluster = seed_once_in(rng, 2), binding = seed_once_in(rng, 2);
    struct vd_json *object = vd_json_object(a), *metadata = vd_json_object(a);
    struct vd_json *list = vd_json_array(a);
    set(a, object, "kind",
        binding ? (cluster ? "ClusterRoleBinding" : "RoleBinding")
                : (cluster ? "ClusterRole" : "Role"));
    set(a, metadata, "name", pick(rng, names));
    if (!cluster)
        set(a, metadata, "namespace", pick(rng, namespaces));
    vd_json_add(a, object, VD_SLICE("metadata"), metadata);
    for (uint64_t n = seed_below(rng, 4); n; n--)
        vd_json_append(list, binding ? random_subject(rng, a) : random_rule(rng, a));
    vd_json_add(a, object, binding ? VD_SLICE("subjects") : VD_SLICE("rules"), list);
    if (binding) {
        struct vd_json *ref = vd_json_object(a);
        set(a, ref, "kind", cluster || seed_once_in(rng, 2) ? "ClusterRole" : "Role");
        set(a, ref, "name", pick(rng, names));
        vd_json_add(a, object, VD_SLICE("roleRef"), ref);
    }
    return object;
}

static struct vd_slice text_at(const struct vd_json *object, const char *a, const char *b)
{
    struct vd_slice text = vd_json_text(b ? vd_json_dig(object, a, b, NULL)
                                          : vd_json_get(object, vd_slice_of(a)));
    return text.n ? text : vd_slice("", 0);
}

/* The newest object of that kind and name; later ones replace earlier ones. */
static const struct vd_json *find(struct vd_json **objects, const char *kind,
                                  struct vd_slice namespace, struct vd_slice name)
{
    for (size_t i = OBJECTS; i-- > 0;)
        if (vd_slice_is(text_at(objects[i], "kind", NULL), kind) &&
            vd_slice_eq(text_at(objects[i], "metadata", "namespace"), namespace) &&
            vd_slice_eq(text_at(objects[i], "metadata", "name"), name))
            return objects[i];
    return NULL;
}

static bool naive_subject(const struct vd_json *subject, const struct vd_user *user,
                          struct vd_slice binding_namespace)
{
    struct vd_slice kind = text_at(subject, "kind", NULL), name = text_at(subject, "name", NULL);
    struct vd_slice namespace = text_at(subject, "namespace", NULL);
    char account[128];
    if (vd_slice_is(kind, "User"))
        return vd_slice_eq(name, user->is.name);
    if (vd_slice_is(kind, "Group"))
        return vd_user_in_group(user, name);
    if (!vd_slice_is(kind, "ServiceAccount"))
        return false;
    namespace = namespace.n ? namespace : binding_namespace;
    snprintf(account, sizeof account, "system:serviceaccount:%.*s:%.*s", VD_FMT(namespace),
             VD_FMT(name));
    return namespace.n && vd_slice_is(user->is.name, account);
}

static bool list_has(const struct vd_json *list, struct vd_slice word, bool star)
{
    VD_JSON_EACH (item, list)
        if (vd_slice_eq(vd_json_text(item), word) || (star && vd_slice_is(vd_json_text(item), "*")))
            return true;
    return false;
}

static bool naive_path(const struct vd_json *list, struct vd_slice path)
{
    VD_JSON_EACH (item, list) {
        struct vd_slice p = vd_json_text(item);
        if (vd_slice_eq(p, path) ||
            (p.n && p.p[p.n - 1] == '*' && vd_slice_starts_with(path, vd_slice(p.p, p.n - 1))))
            return true;
    }
    return false;
}

static bool naive_rule(const struct vd_json *rule, const struct vd_access *r)
{
    const struct vd_json *resource_names = vd_json_get(rule, VD_SLICE("resourceNames"));
    char whole[64], any[64];
    if (!list_has(vd_json_get(rule, VD_SLICE("verbs")), r->verb, true))
        return false;
    if (!r->resource.n)
        return naive_path(vd_json_get(rule, VD_SLICE("nonResourceURLs")), r->path);
    snprintf(whole, sizeof whole, "%.*s%s%.*s", VD_FMT(r->resource), r->subresource.n ? "/" : "",
             VD_FMT(r->subresource));
    snprintf(any, sizeof any, "*/%.*s", VD_FMT(r->subresource));
    const struct vd_json *resources = vd_json_get(rule, VD_SLICE("resources"));
    return list_has(vd_json_get(rule, VD_SLICE("apiGroups")), r->group, true) &&
           (list_has(resources, vd_slice_of(whole), true) ||
            (r->subresource.n && list_has(resources, vd_slice_of(any), false))) &&
           (!vd_json_count(resource_names) || list_has(resource_names, r->name, false));
}

/* Reads every binding, as the rules are defined. */
static bool naive_allows(struct vd_json **objects, const struct vd_access *r)
{
    for (size_t i = 0; i < OBJECTS; i++) {
        const struct vd_json *binding = objects[i];
        struct vd_slice kind = text_at(binding, "kind", NULL);
        struct vd_slice namespace = text_at(binding, "metadata", "namespace");
        bool applies = vd_slice_is(kind, "ClusterRoleBinding") ||
                       (vd_slice_is(kind, "RoleBinding") && r->resource.n && r->namespace.n &&
                        vd_slice_eq(namespace, r->namespace));
        char kind_text[32];
        snprintf(kind_text, sizeof kind_text, "%.*s", VD_FMT(kind));
        if (!applies ||
            find(objects, kind_text, namespace, text_at(binding, "metadata", "name")) != binding)
            continue;
        bool to_cluster = vd_slice_is(text_at(binding, "roleRef", "kind"), "ClusterRole");
        const struct vd_json *role = find(objects, to_cluster ? "ClusterRole" : "Role",
                                          to_cluster ? vd_slice("", 0) : namespace,
                                          text_at(binding, "roleRef", "name"));
        bool subject = false;
        VD_JSON_EACH (item, vd_json_get(binding, VD_SLICE("subjects")))
            subject |= naive_subject(item, r->user, namespace);
        VD_JSON_EACH (rule, vd_json_get(role, VD_SLICE("rules")))
            if (subject && naive_rule(rule, r))
                return true;
    }
    return false;
}

static struct vd_user *random_user(struct seed_rng *rng)
{
    char name[128];
    if (seed_once_in(rng, 3))
        snprintf(name, sizeof name, "system:serviceaccount:%s:%s", pick(rng, namespaces),
                 pick(rng, names));
    else
        snprintf(name, sizeof name, "%s", pick(rng, names));
    struct vd_slice groups[40];
    size_t n = seed_below(rng, 4);
    for (size_t i = 0; i < n; i++)
        groups[i] = vd_slice_of(pick(rng, names));
    char filler[40][8]; /* more groups than a walk remembers */
    if (seed_once_in(rng, 4))
        for (n = 0; n < 40; n++) {
            snprintf(filler[n], sizeof filler[n], "g%zu", n);
            groups[n] = n < 36 ? vd_slice_of(filler[n]) : vd_slice_of(pick(rng, names));
        }
    return vd_user_new(&(struct vd_identity){
        .name = vd_slice_of(name), .groups = groups, .groups_n = n, .method = VD_AUTH_TOKEN});
}

static struct vd_access random_request(struct seed_rng *rng, const struct vd_user *user)
{
    static const char *const resources[] = {"pods", "jobs", "cats"};
    struct vd_access r = {.user = user, .verb = vd_slice_of(pick(rng, pool_verbs))};
    if (seed_once_in(rng, 5)) {
        static const char *const paths[] = {"/a", "/a/b", "/b", "/c", "/"};
        r.path = vd_slice_of(paths[seed_below(rng, 5)]);
        return r;
    }
    r.group = vd_slice_of(pick(rng, pool_groups));
    r.resource = vd_slice_of(resources[seed_below(rng, 3)]);
    r.subresource = seed_once_in(rng, 3) ? VD_SLICE("log") : vd_slice("", 0);
    r.namespace = seed_once_in(rng, 4) ? vd_slice("", 0) : vd_slice_of(pick(rng, namespaces));
    r.name = seed_once_in(rng, 3) ? vd_slice("", 0) : vd_slice_of(pick(rng, names));
    return r;
}

static void the_index_decides_as_the_definition_does(void **state)
{
    (void)state;
    uint64_t seed = seed_of_run();
    struct seed_rng rng = {seed};
    size_t allowed_n = 0;
    for (uint64_t round = seed_runs("VEDETTE_RBAC_ROUNDS", 60); round; round--) {
        struct vd_arena arena = {0};
        struct vd_json *objects[OBJECTS];
        struct vd_policy *policy = vd_policy_new();
        struct vd_error error = {0};
        for (size_t i = 0; i < OBJECTS; i++) {
            objects[i] = random_object(&rng, &arena);
            assert_ok(vd_policy_put(policy, objects[i], &error), &error);
        }
        struct vd_rbac *rbac = vd_policy_snapshot(policy);
        for (size_t i = 0; i < REQUESTS; i++) {
            struct vd_user *user = random_user(&rng);
            struct vd_access r = random_request(&rng, user);
            bool allowed = vd_rbac_allows(rbac, &r);
            if (allowed != naive_allows(objects, &r))
                fail_msg("seed %llu: %.*s %.*s %.*s", (unsigned long long)seed,
                         VD_FMT(user->is.name), VD_FMT(r.verb), VD_FMT(r.resource));
            allowed_n += allowed;
            vd_user_unref(user);
        }
        vd_rbac_unref(rbac);
        vd_policy_free(policy);
        vd_arena_release(&arena);
    }
    assert_true(allowed_n > 100); /* else the test tests nothing */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bindings_reach_their_subjects),
        cmocka_unit_test(paths_are_in_no_namespace),
        arena_test(changes_show_in_the_next_snapshot_only),
        arena_test(objects_that_cannot_be_read_are_refused),
        arena_test(a_review_lists_the_rules),
        arena_test(a_review_lists_nothing_twice),
        cmocka_unit_test(the_index_decides_as_the_definition_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
