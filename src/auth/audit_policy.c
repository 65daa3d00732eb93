/* See audit_policy.h. */
#include "auth/audit_policy.h"

#include <stdlib.h>

#include "auth/manifest.h"
#include "base/alloc.h"
#include "base/refcount.h"

struct texts {
    const struct vd_slice *p;
    size_t n;
};

/* Resources of one API group. */
struct resources {
    struct vd_slice group;
    struct texts resources, names; /* empty: all */
};

struct rule {
    enum vd_audit_level level;
    struct texts users, groups, verbs, namespaces, paths;
    struct resources *resources;
    size_t resources_n;
    unsigned omit_stages;
    bool omit_managed_fields;
};

struct vd_audit_policy {
    struct vd_refcount count;
    struct rule *rules;
    size_t n;
    struct vd_arena arena;
};

static const char *const levels[] = {"None", "Metadata", "Request", "RequestResponse"};

static const struct {
    const char *name;
    enum vd_audit_stage stage;
} stages[] = {{"RequestReceived", VD_AUDIT_RECEIVED},
              {"ResponseStarted", VD_AUDIT_STARTED},
              {"ResponseComplete", VD_AUDIT_COMPLETE},
              {"Panic", VD_AUDIT_PANIC}};
enum { LEVELS = sizeof levels / sizeof *levels, STAGES = sizeof stages / sizeof *stages };

const char *vd_audit_level_name(enum vd_audit_level level)
{
    return levels[level];
}

const char *vd_audit_stage_name(enum vd_audit_stage stage)
{
    size_t i = 0;
    while (stages[i].stage != stage)
        i++;
    return stages[i].name;
}

/* ---- judging ---- */

static bool has(const struct texts *list, struct vd_slice text)
{
    for (size_t i = 0; i < list->n; i++)
        if (vd_slice_eq(list->p[i], text))
            return true;
    return false;
}

static bool fits_user(const struct rule *rule, const struct vd_user *user)
{
    if (rule->users.n && (!user || !has(&rule->users, user->is.name)))
        return false;
    if (!rule->groups.n)
        return true;
    for (size_t i = 0; user && i < user->is.groups_n; i++)
        if (has(&rule->groups, user->is.groups[i]))
            return true;
    return false;
}

static bool fits_path(const struct rule *rule, const struct vd_access *access)
{
    for (size_t i = 0; !access->resource.n && i < rule->paths.n; i++) {
        struct vd_slice path = rule->paths.p[i];
        bool open = path.n && path.p[path.n - 1] == '*';
        if (open ? vd_slice_starts_with(access->path, vd_slice(path.p, path.n - 1))
                 : vd_slice_eq(access->path, path))
            return true;
    }
    return false;
}

/* "pods", "pods/log", "pods/" and a star (all of pods), a star with "/status", or a star. */
static bool fits_resource(struct vd_slice wanted, const struct vd_access *access)
{
    struct vd_slice sub = wanted, resource;
    if (vd_slice_is(wanted, "*"))
        return true;
    if (!memchr(wanted.p, '/', wanted.n))
        return !access->subresource.n && vd_slice_eq(wanted, access->resource);
    vd_slice_cut(&sub, '/', &resource);
    if (vd_slice_is(resource, "*"))
        return access->subresource.n && vd_slice_eq(sub, access->subresource);
    return vd_slice_eq(resource, access->resource) &&
           (vd_slice_is(sub, "*") || vd_slice_eq(sub, access->subresource));
}

static bool fits_group(const struct resources *r, const struct vd_access *access)
{
    if (!vd_slice_eq(r->group, access->group))
        return false;
    if (!r->resources.n)
        return true;
    if (r->names.n && !has(&r->names, access->name))
        return false;
    for (size_t i = 0; i < r->resources.n; i++)
        if (fits_resource(r->resources.p[i], access))
            return true;
    return false;
}

static bool fits_object(const struct rule *rule, const struct vd_access *access)
{
    if (!access->resource.n || (rule->namespaces.n && !has(&rule->namespaces, access->namespace)))
        return false;
    for (size_t i = 0; i < rule->resources_n; i++)
        if (fits_group(&rule->resources[i], access))
            return true;
    return !rule->resources_n;
}

static bool fits(const struct rule *rule, const struct vd_user *user,
                 const struct vd_access *access)
{
    if (!fits_user(rule, user) || (rule->verbs.n && !has(&rule->verbs, access->verb)))
        return false;
    if (rule->namespaces.n || rule->resources_n)
        return fits_object(rule, access);
    return !rule->paths.n || fits_path(rule, access);
}

struct vd_audit_verdict vd_audit_policy_judge(const struct vd_audit_policy *policy,
                                              const struct vd_user *user,
                                              const struct vd_access *access)
{
    for (size_t i = 0; i < policy->n; i++) {
        const struct rule *rule = &policy->rules[i];
        if (fits(rule, user, access))
            return (struct vd_audit_verdict){rule->level, rule->omit_stages,
                                             rule->omit_managed_fields};
    }
    return (struct vd_audit_verdict){.level = VD_AUDIT_NONE};
}

/* ---- reading ---- */

struct reading {
    struct vd_manifest *m;
    struct vd_arena *arena;
    unsigned omit_stages; /* stages that the whole policy omits */
    bool omit_managed_fields;
};

static struct texts read_texts(struct reading *r, const struct vd_json *object, const char *name)
{
    struct texts list = {0};
    list.p = vd_manifest_texts(r->m, object, name, r->arena, &list.n);
    return list;
}

static unsigned read_stages(struct reading *r, const struct vd_json *object)
{
    unsigned bits = 0;
    VD_JSON_EACH (item, vd_manifest_list(r->m, object, "omitStages")) {
        size_t i = 0;
        while (i < STAGES && !vd_slice_is(vd_json_text(item), stages[i].name))
            i++;
        if (i == STAGES)
            vd_manifest_fail(r->m, item,
                             "omitStages wants RequestReceived, ResponseStarted, "
                             "ResponseComplete or Panic");
        else
            bits |= stages[i].stage;
    }
    return bits;
}

static bool read_omit_fields(struct reading *r, const struct vd_json *object, bool otherwise)
{
    const struct vd_json *value = vd_json_get(object, VD_SLICE("omitManagedFields"));
    if (!value || vd_json_is(value, VD_JSON_NULL))
        return otherwise;
    if (!vd_json_is(value, VD_JSON_BOOL))
        vd_manifest_fail(r->m, value, "omitManagedFields wants true or false");
    return vd_json_truth(value);
}

static enum vd_audit_level read_level(struct reading *r, const struct vd_json *object)
{
    struct vd_slice text = vd_manifest_text(r->m, object, "level");
    size_t i = 0;
    while (i < LEVELS && !vd_slice_is(text, levels[i]))
        i++;
    if (i < LEVELS)
        return (enum vd_audit_level)i;
    vd_manifest_fail(r->m, object, "level wants None, Metadata, Request or RequestResponse");
    return VD_AUDIT_NONE;
}

static void read_resources(struct reading *r, const struct vd_json *object, struct rule *rule)
{
    static const char *const fields[] = {"group", "resources", "resourceNames", NULL};
    const struct vd_json *list = vd_manifest_list(r->m, object, "resources");
    rule->resources = vd_arena_alloc(r->arena, vd_json_count(list) * sizeof *rule->resources);
    VD_JSON_EACH (item, list) {
        struct resources *to = &rule->resources[rule->resources_n++];
        vd_manifest_fields(r->m, item, fields);
        to->group = vd_arena_copy(r->arena, vd_manifest_text(r->m, item, "group"));
        to->resources = read_texts(r, item, "resources");
        to->names = read_texts(r, item, "resourceNames");
        if (memchr(to->group.p, '/', to->group.n))
            vd_manifest_fail(r->m, item, "group wants an API group without its version");
        if (to->names.n && !to->resources.n)
            vd_manifest_fail(r->m, item, "resourceNames wants resources beside it");
    }
}

static void read_paths(struct reading *r, const struct vd_json *object, struct rule *rule)
{
    rule->paths = read_texts(r, object, "nonResourceURLs");
    for (size_t i = 0; i < rule->paths.n; i++) {
        struct vd_slice path = rule->paths.p[i];
        const char *star = path.n ? memchr(path.p, '*', path.n) : NULL;
        bool good = vd_slice_is(path, "*") ||
                    (path.n && path.p[0] == '/' && (!star || star == path.p + path.n - 1));
        if (!good)
            vd_manifest_fail(r->m, vd_json_get(object, VD_SLICE("nonResourceURLs")),
                             "nonResourceURLs wants paths, with a star at the end only, or a star");
    }
    if (rule->paths.n && (rule->resources_n || rule->namespaces.n))
        vd_manifest_fail(r->m, object,
                         "a rule is about resources and namespaces, or about "
                         "nonResourceURLs, not about both");
}

static void read_rule(struct reading *r, const struct vd_json *object, struct rule *rule)
{
    static const char *const fields[] = {
        "level",           "users",      "userGroups",        "verbs", "resources", "namespaces",
        "nonResourceURLs", "omitStages", "omitManagedFields", NULL};
    vd_manifest_fields(r->m, object, fields);
    *rule = (struct rule){
        .level = read_level(r, object),
        .users = read_texts(r, object, "users"),
        .groups = read_texts(r, object, "userGroups"),
        .verbs = read_texts(r, object, "verbs"),
        .namespaces = read_texts(r, object, "namespaces"),
        .omit_stages = r->omit_stages | read_stages(r, object),
        .omit_managed_fields = read_omit_fields(r, object, r->omit_managed_fields)};
    read_resources(r, object, rule);
    read_paths(r, object, rule);
}

static void read_policy(struct reading *r, struct vd_audit_policy *policy)
{
    static const char *const fields[] = {
        "apiVersion", "kind", "metadata", "omitStages", "rules", "omitManagedFields", NULL};
    const struct vd_json *root = r->m->root;
    vd_manifest_expect(r->m, "audit.k8s.io", "Policy");
    vd_manifest_fields(r->m, root, fields);
    r->omit_stages = read_stages(r, root);
    r->omit_managed_fields = read_omit_fields(r, root, false);
    const struct vd_json *rules = vd_manifest_list(r->m, root, "rules");
    policy->rules = vd_arena_alloc(r->arena, vd_json_count(rules) * sizeof *policy->rules);
    VD_JSON_EACH (rule, rules)
        if (!r->m->code)
            read_rule(r, rule, &policy->rules[policy->n++]);
}

static struct vd_audit_policy *policy_new(void)
{
    struct vd_audit_policy *policy = VD_NEW(struct vd_audit_policy);
    vd_refcount_init(&policy->count);
    return policy;
}

static int finish(struct vd_manifest *m, struct vd_audit_policy **out)
{
    struct vd_audit_policy *policy = policy_new();
    if (!m->code)
        read_policy(&(struct reading){.m = m, .arena = &policy->arena}, policy);
    int code = vd_manifest_close(m);
    if (code)
        vd_audit_policy_unref(policy);
    else
        *out = policy;
    return code;
}

int vd_audit_policy_load(struct vd_audit_policy **out, const char *path, struct vd_error *error)
{
    struct vd_manifest m;
    if (vd_manifest_open(&m, path, error)) {
        vd_error_prefix(error, "the audit policy");
        return vd_manifest_close(&m);
    }
    return finish(&m, out);
}

int vd_audit_policy_parse(struct vd_audit_policy **out, const char *name, struct vd_slice text,
                          struct vd_error *error)
{
    struct vd_manifest m;
    if (vd_manifest_parse(&m, name, text, error))
        return vd_manifest_close(&m);
    return finish(&m, out);
}

struct vd_audit_policy *vd_audit_policy_default(void)
{
    struct vd_audit_policy *policy = policy_new();
    policy->rules = vd_arena_alloc(&policy->arena, sizeof *policy->rules);
    policy->rules[policy->n++] = (struct rule){.level = VD_AUDIT_METADATA,
                                               .omit_stages = VD_AUDIT_RECEIVED};
    return policy;
}

struct vd_audit_policy *vd_audit_policy_ref(struct vd_audit_policy *policy)
{
    vd_ref(&policy->count);
    return policy;
}

void vd_audit_policy_unref(struct vd_audit_policy *policy)
{
    if (!policy || !vd_unref(&policy->count))
        return;
    vd_arena_release(&policy->arena);
    free(policy);
}
