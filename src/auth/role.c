/* See role.h. */
#include "auth/role.h"

#include "auth/service_account.h"
#include "base/alloc.h"

/* The namespace and name of an object. */
static int read_name(struct vd_arena *arena, const struct vd_json *object,
                     struct vd_slice *namespace, struct vd_slice *name, struct vd_error *error)
{
    const struct vd_json *metadata = vd_json_get(object, VD_SLICE("metadata"));
    *namespace = vd_arena_copy(arena, vd_json_text(vd_json_get(metadata, VD_SLICE("namespace"))));
    *name = vd_arena_copy(arena, vd_json_text(vd_json_get(metadata, VD_SLICE("name"))));
    return name->n ? VD_OK : vd_error_set(error, VD_ERR_INVALID, "metadata.name is missing");
}

/* A member that is a list, or NULL when it is missing or null. */
static int read_list(const struct vd_json *object, struct vd_slice key, const struct vd_json **out,
                     struct vd_error *error)
{
    const struct vd_json *list = vd_json_get(object, key);
    *out = vd_json_is(list, VD_JSON_ARRAY) ? list : NULL;
    if (*out || !list || vd_json_is(list, VD_JSON_NULL))
        return VD_OK;
    return vd_error_set(error, VD_ERR_INVALID, "%.*s is not a list", VD_FMT(key));
}

/* ---- roles ---- */

static int read_role(struct vd_role *role, const struct vd_json *object, struct vd_error *error)
{
    const struct vd_json *list;
    int code = read_name(&role->arena, object, &role->namespace, &role->name, error);
    if (!code)
        code = read_list(object, VD_SLICE("rules"), &list, error);
    if (code)
        return code;
    struct vd_rule *rules = vd_arena_alloc(&role->arena, vd_json_count(list) * sizeof *rules);
    VD_JSON_EACH (item, list) {
        code = vd_rule_from_json(&rules[role->rules_n], &role->arena, item, error);
        if (code) {
            vd_error_prefix(error, "rules[%zu]", role->rules_n);
            return code;
        }
        role->rules_n++;
    }
    role->rules = rules;
    return VD_OK;
}

int vd_role_from_json(struct vd_role **out, const struct vd_json *object, struct vd_error *error)
{
    struct vd_role *role = VD_NEW(struct vd_role);
    vd_refcount_init(&role->count);
    int code = read_role(role, object, error);
    if (code)
        vd_role_unref(role);
    else
        *out = role;
    return code;
}

struct vd_role *vd_role_ref(struct vd_role *role)
{
    vd_ref(&role->count);
    return role;
}

void vd_role_unref(struct vd_role *role)
{
    if (!role || !vd_unref(&role->count))
        return;
    vd_arena_release(&role->arena);
    free(role);
}

/* ---- bindings ---- */

static const char *const subject_kinds[] = {
    [VD_SUBJECT_USER] = "User",
    [VD_SUBJECT_GROUP] = "Group",
    [VD_SUBJECT_SERVICE_ACCOUNT] = "ServiceAccount",
};
enum { SUBJECT_KINDS = sizeof subject_kinds / sizeof subject_kinds[0] };

/* False for a subject that cannot match any user, as in Kubernetes. */
static bool read_subject(struct vd_subject *out, struct vd_binding *binding,
                         const struct vd_json *json)
{
    struct vd_arena *a = &binding->arena;
    struct vd_slice kind = vd_json_text(vd_json_get(json, VD_SLICE("kind")));
    struct vd_slice namespace = vd_json_text(vd_json_get(json, VD_SLICE("namespace")));
    unsigned number = 0;
    while (number < SUBJECT_KINDS && !vd_slice_is(kind, subject_kinds[number]))
        number++;
    *out = (struct vd_subject){
        .kind = (enum vd_subject_kind)number,
        .name = vd_arena_copy(a, vd_json_text(vd_json_get(json, VD_SLICE("name")))),
        .namespace = namespace.n ? vd_arena_copy(a, namespace) : binding->namespace,
    };
    if (number == SUBJECT_KINDS || !out->name.n)
        return false;
    out->matches = out->name;
    if (out->kind == VD_SUBJECT_SERVICE_ACCOUNT) {
        struct vd_buf user = {0};
        if (!out->namespace.n)
            return false;
        vd_service_account_user_name(&user, out->namespace, out->name);
        out->matches = vd_arena_copy(a, vd_buf_slice(&user));
        vd_buf_release(&user);
    }
    return true;
}

static int read_role_ref(struct vd_binding *binding, const struct vd_json *object,
                         struct vd_error *error)
{
    const struct vd_json *ref = vd_json_get(object, VD_SLICE("roleRef"));
    struct vd_slice kind = vd_json_text(vd_json_get(ref, VD_SLICE("kind")));
    binding->role_name = vd_arena_copy(&binding->arena,
                                       vd_json_text(vd_json_get(ref, VD_SLICE("name"))));
    binding->to_cluster_role = vd_slice_is(kind, "ClusterRole");
    if (!binding->role_name.n || (!binding->to_cluster_role && !vd_slice_is(kind, "Role")))
        return vd_error_set(error, VD_ERR_INVALID,
                            "roleRef names neither a Role nor a ClusterRole");
    if (!binding->to_cluster_role && !binding->namespace.n)
        return vd_error_set(error, VD_ERR_INVALID,
                            "roleRef names a Role, but only a ClusterRole has no namespace");
    return VD_OK;
}

static int read_binding(struct vd_binding *binding, const struct vd_json *object,
                        struct vd_error *error)
{
    const struct vd_json *list = NULL;
    int code = read_name(&binding->arena, object, &binding->namespace, &binding->name, error);
    if (!code)
        code = read_role_ref(binding, object, error);
    if (!code)
        code = read_list(object, VD_SLICE("subjects"), &list, error);
    if (code)
        return code;
    struct vd_subject *subjects = vd_arena_alloc(&binding->arena,
                                                 vd_json_count(list) * sizeof *subjects);
    VD_JSON_EACH (item, list)
        binding->subjects_n += read_subject(&subjects[binding->subjects_n], binding, item);
    binding->subjects = subjects;
    return VD_OK;
}

int vd_binding_from_json(struct vd_binding **out, const struct vd_json *object,
                         struct vd_error *error)
{
    struct vd_binding *binding = VD_NEW(struct vd_binding);
    vd_refcount_init(&binding->count);
    int code = read_binding(binding, object, error);
    if (code)
        vd_binding_unref(binding);
    else
        *out = binding;
    return code;
}

struct vd_binding *vd_binding_ref(struct vd_binding *binding)
{
    vd_ref(&binding->count);
    return binding;
}

void vd_binding_unref(struct vd_binding *binding)
{
    if (!binding || !vd_unref(&binding->count))
        return;
    vd_arena_release(&binding->arena);
    free(binding);
}

/* "name/namespace", or the name alone. */
static void add_name(struct vd_buf *out, struct vd_slice namespace, struct vd_slice name)
{
    struct vd_buf text = {0};
    vd_buf_add_slice(&text, name);
    if (namespace.n) {
        vd_buf_add_char(&text, '/');
        vd_buf_add_slice(&text, namespace);
    }
    vd_quote_add(out, vd_buf_slice(&text));
    vd_buf_release(&text);
}

void vd_binding_add_text(struct vd_buf *out, const struct vd_binding *binding,
                         const struct vd_subject *subject)
{
    bool account = subject->kind == VD_SUBJECT_SERVICE_ACCOUNT;
    vd_buf_add_text(out, binding->namespace.n ? "RoleBinding " : "ClusterRoleBinding ");
    add_name(out, binding->namespace, binding->name);
    vd_buf_addf(out, " of %s ", binding->to_cluster_role ? "ClusterRole" : "Role");
    vd_quote_add(out, binding->role_name);
    vd_buf_addf(out, " to %s ", subject_kinds[subject->kind]);
    add_name(out, account ? subject->namespace : vd_slice("", 0), subject->name);
}
