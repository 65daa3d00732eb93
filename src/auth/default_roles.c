/*
 * See default_roles.h.
 *
 * The tables hold lists as texts with blanks between the words; the core API
 * group, whose name is empty, is written as a dash. admin, edit and view are
 * Kubernetes', reduced to the kinds that exist here; view leaves out Secrets, as
 * there, and edit cannot touch roles. None but cluster-admin has the verb override.
 */
#include "auth/default_roles.h"

#include "auth/issuer_document.h"
#include "auth/role.h"

#define READ  "get list watch"
#define WRITE "create update patch delete deletecollection"

#define GIT       "git.vedette.dev"
#define CATALOG   "catalog.gitstore.dev"
#define CATALOGUE "products productvariants categorytaxonomies collections"

struct rule {
    const char *verbs, *groups, *resources, *paths;
};

enum {
    RULES_MAX = 12, /* rules of a default role */
    GROUPS_MAX = 2, /* groups that a default role is bound to */
};

static const struct role {
    const char *name;
    struct rule rules[RULES_MAX];
} roles[] = {
    {"cluster-admin", {{"*", "*", "*", NULL}, {"*", NULL, NULL, "*"}}},
    {"admin",
     {{READ " " WRITE, "-", "configmaps events secrets serviceaccounts services", NULL},
      {"create", "-", "serviceaccounts/token", NULL},
      {"impersonate", "-", "serviceaccounts", NULL},
      {READ, "-", "namespaces namespaces/status services/status", NULL},
      {READ " " WRITE, "events.k8s.io", "events", NULL},
      {READ " " WRITE, "coordination.k8s.io", "leases", NULL},
      {"create", "authorization.k8s.io", "localsubjectaccessreviews", NULL},
      {READ " " WRITE, GIT, "repositories", NULL},
      {READ, GIT, "repositories/status", NULL},
      {"get update", GIT, "repositories/contents", NULL},
      {READ, CATALOG, CATALOGUE, NULL},
      {READ " " WRITE, VD_RBAC_GROUP, "roles rolebindings", NULL}}},
    {"edit",
     {{READ " " WRITE, "-", "configmaps events secrets serviceaccounts services", NULL},
      {"create", "-", "serviceaccounts/token", NULL},
      {"impersonate", "-", "serviceaccounts", NULL},
      {READ, "-", "namespaces namespaces/status services/status", NULL},
      {READ " " WRITE, "events.k8s.io", "events", NULL},
      {READ " " WRITE, "coordination.k8s.io", "leases", NULL},
      {READ " " WRITE, GIT, "repositories", NULL},
      {READ, GIT, "repositories/status", NULL},
      {"get update", GIT, "repositories/contents", NULL},
      {READ, CATALOG, CATALOGUE, NULL}}},
    {"view",
     {{READ, "-", "configmaps events serviceaccounts services services/status", NULL},
      {READ, "-", "namespaces namespaces/status", NULL},
      {READ, "events.k8s.io", "events", NULL},
      {READ, "coordination.k8s.io", "leases", NULL},
      {READ, GIT, "repositories repositories/status", NULL},
      {"get", GIT, "repositories/contents", NULL},
      {READ, CATALOG, CATALOGUE, NULL}}},
    /* A controller reads the kinds that it may need, never Secrets, and writes status only. */
    {"system:controllers",
     {{READ, "-", "configmaps events namespaces serviceaccounts services", NULL},
      {READ, "events.k8s.io", "events", NULL},
      {READ, CATALOG, "*", NULL},
      {READ, GIT, "repositories", NULL},
      {READ, "apiextensions.k8s.io", "customresourcedefinitions", NULL},
      {"get update patch", "*", "*/status", NULL},
      {"update patch", "*", "*/finalizers", NULL},
      {"create update patch", "- events.k8s.io", "events", NULL},
      {READ " " WRITE, "coordination.k8s.io", "leases", NULL}}},
    {"system:auth-delegator",
     {{"create", "authentication.k8s.io", "tokenreviews", NULL},
      {"create", "authorization.k8s.io", "subjectaccessreviews", NULL}}},
    {"system:basic-user",
     {{"create", "authorization.k8s.io", "selfsubjectaccessreviews selfsubjectrulesreviews", NULL},
      {"create", "authentication.k8s.io", "selfsubjectreviews", NULL}}},
    {"system:discovery",
     {{"get", NULL, NULL,
       "/api /api/* /apis /apis/* /healthz /livez /openapi /openapi/* /readyz /version "
       "/version/"}}},
    {"system:monitoring",
     {{"get", NULL, NULL,
       "/healthz /healthz/* /livez /livez/* /metrics /metrics/slis /readyz /readyz/*"}}},
    {"system:public-info-viewer",
     {{"get", NULL, NULL, "/healthz /livez /readyz /version /version/"}}},
    {"system:service-account-issuer-discovery",
     {{"get", NULL, NULL,
       VD_ISSUER_CONFIGURATION_PATH " " VD_ISSUER_CONFIGURATION_PATH "/ " VD_ISSUER_KEYS_PATH
                                    " " VD_ISSUER_KEYS_PATH "/"}}},
};

static const struct {
    const char *role; /* also the name of the binding */
    const char *groups[GROUPS_MAX];
} bindings[] = {
    {"cluster-admin", {VD_GROUP_MASTERS}},
    {"system:basic-user", {VD_GROUP_AUTHENTICATED}},
    {"system:controllers", {"system:controllers"}},
    {"system:discovery", {VD_GROUP_AUTHENTICATED}},
    {"system:monitoring", {"system:monitoring"}},
    {"system:public-info-viewer", {VD_GROUP_AUTHENTICATED, VD_GROUP_UNAUTHENTICATED}},
    {"system:service-account-issuer-discovery", {"system:serviceaccounts"}},
};

static void add_text(struct vd_arena *a, struct vd_json *object, const char *key, const char *text)
{
    vd_json_add_ref(object, vd_slice_of(key), vd_json_string_ref(a, vd_slice_of(text)));
}

/* The member `key` with the words of the text; none when it is NULL. */
static void add_words(struct vd_arena *a, struct vd_json *object, const char *key, const char *text)
{
    struct vd_slice rest = vd_slice_of(text), word;
    if (!text)
        return;
    struct vd_json *list = vd_json_array(a);
    while (vd_slice_cut(&rest, ' ', &word))
        vd_json_append(list,
                       vd_json_string_ref(a, vd_slice_is(word, "-") ? vd_slice("", 0) : word));
    vd_json_add_ref(object, vd_slice_of(key), list);
}

static struct vd_json *document(struct vd_arena *a, const char *kind, const char *name)
{
    struct vd_json *object = vd_json_object(a), *metadata = vd_json_object(a);
    struct vd_json *annotations = vd_json_object(a), *labels = vd_json_object(a);
    add_text(a, annotations, "rbac.authorization.kubernetes.io/autoupdate", "true");
    add_text(a, labels, "kubernetes.io/bootstrapping", "rbac-defaults");
    add_text(a, metadata, "name", name);
    vd_json_add_ref(metadata, VD_SLICE("annotations"), annotations);
    vd_json_add_ref(metadata, VD_SLICE("labels"), labels);
    add_text(a, object, "apiVersion", VD_RBAC_GROUP "/v1");
    add_text(a, object, "kind", kind);
    vd_json_add_ref(object, VD_SLICE("metadata"), metadata);
    return object;
}

static struct vd_json *role_document(struct vd_arena *a, const struct role *role)
{
    struct vd_json *object = document(a, "ClusterRole", role->name), *rules = vd_json_array(a);
    for (size_t i = 0; i < RULES_MAX && role->rules[i].verbs; i++) {
        const struct rule *from = &role->rules[i];
        struct vd_json *rule = vd_json_object(a);
        add_words(a, rule, "apiGroups", from->groups);
        add_words(a, rule, "resources", from->resources);
        add_words(a, rule, "nonResourceURLs", from->paths);
        add_words(a, rule, "verbs", from->verbs);
        vd_json_append(rules, rule);
    }
    vd_json_add_ref(object, VD_SLICE("rules"), rules);
    return object;
}

static struct vd_json *binding_document(struct vd_arena *a, const char *role,
                                        const char *const groups[GROUPS_MAX])
{
    struct vd_json *object = document(a, "ClusterRoleBinding", role);
    struct vd_json *ref = vd_json_object(a), *subjects = vd_json_array(a);
    add_text(a, ref, "apiGroup", VD_RBAC_GROUP);
    add_text(a, ref, "kind", "ClusterRole");
    add_text(a, ref, "name", role);
    for (size_t i = 0; i < GROUPS_MAX && groups[i]; i++) {
        struct vd_json *subject = vd_json_object(a);
        add_text(a, subject, "apiGroup", VD_RBAC_GROUP);
        add_text(a, subject, "kind", "Group");
        add_text(a, subject, "name", groups[i]);
        vd_json_append(subjects, subject);
    }
    vd_json_add_ref(object, VD_SLICE("roleRef"), ref);
    vd_json_add_ref(object, VD_SLICE("subjects"), subjects);
    return object;
}

struct vd_json *vd_default_roles(struct vd_arena *arena)
{
    struct vd_json *list = vd_json_array(arena);
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        vd_json_append(list, role_document(arena, &roles[i]));
    for (size_t i = 0; i < sizeof bindings / sizeof *bindings; i++)
        vd_json_append(list, binding_document(arena, bindings[i].role, bindings[i].groups));
    return list;
}
