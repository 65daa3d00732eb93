/*
 * The rules of Role, ClusterRole and their bindings.
 */
#include "kinds/name.h"
#include "kinds/rules_internal.h"
#include "json/compare.h"

#define GROUP "rbac.authorization.k8s.io"

static void add_unsupported(struct vd_violations *out, const struct vd_field_path *up,
                            const char *field, struct vd_slice value, const char *supported)
{
    struct vd_field_path path = vd_field_member(up, vd_slice_of(field));
    vd_violations_add(out, VD_VIOLATION_NOT_SUPPORTED, &path, vd_bad_value_text(out, value),
                      "supported values: %s", supported);
}

static size_t count_at(const struct vd_json *rule, const char *field)
{
    return vd_json_count(vd_json_get(rule, vd_slice_of(field)));
}

static void require(struct vd_violations *out, const struct vd_field_path *up, const char *field,
                    const char *detail)
{
    struct vd_field_path path = vd_field_member(up, vd_slice_of(field));
    vd_kind_rule_add(out, VD_VIOLATION_REQUIRED, &path, detail);
}

static void check_url_rule(const struct vd_json *rule, const struct vd_field_path *path,
                           bool namespaced, struct vd_violations *out)
{
    struct vd_field_path at = vd_field_member(path, VD_SLICE("nonResourceURLs"));
    const struct vd_json *urls = vd_json_get(rule, VD_SLICE("nonResourceURLs"));
    if (namespaced)
        vd_violations_add(out, VD_VIOLATION_INVALID, &at, vd_bad_value_json(out, urls), "%s",
                          "namespaced rules cannot apply to non-resource URLs");
    if (count_at(rule, "apiGroups") || count_at(rule, "resources") ||
        count_at(rule, "resourceNames"))
        vd_violations_add(out, VD_VIOLATION_INVALID, &at, vd_bad_value_json(out, urls), "%s",
                          "rules cannot apply to both regular resources and non-resource URLs");
}

static void check_rule(const struct vd_json *rule, const struct vd_field_path *path,
                       bool namespaced, struct vd_violations *out)
{
    if (count_at(rule, "verbs") == 0)
        require(out, path, "verbs", "verbs must contain at least one value");
    if (count_at(rule, "nonResourceURLs")) {
        check_url_rule(rule, path, namespaced, out);
        return;
    }
    if (count_at(rule, "apiGroups") == 0)
        require(out, path, "apiGroups", "resource rules must supply at least one api group");
    if (count_at(rule, "resources") == 0)
        require(out, path, "resources", "resource rules must supply at least one resource");
    if (count_at(rule, "resourceNames") && count_at(rule, "resources") > 1)
        require(out, path, "resourceNames", "resource names cannot apply to multiple resources");
}

static void check_rules(const struct vd_json *object, bool namespaced, struct vd_violations *out)
{
    struct vd_field_path rules = vd_field_member(NULL, VD_SLICE("rules"));
    size_t index = 0;
    VD_JSON_EACH (rule, vd_json_get(object, VD_SLICE("rules"))) {
        struct vd_field_path path = vd_field_element(&rules, index++);
        check_rule(rule, &path, namespaced, out);
    }
}

void vd_rule_role_check(const struct vd_json *object, const struct vd_json *old,
                        struct vd_violations *out)
{
    (void)old;
    check_rules(object, true, out);
}

void vd_rule_cluster_role_check(const struct vd_json *object, const struct vd_json *old,
                                struct vd_violations *out)
{
    (void)old;
    check_rules(object, false, out);
}

static void check_role_ref(const struct vd_json *object, bool namespaced, struct vd_violations *out)
{
    const struct vd_json *ref = vd_json_get(object, VD_SLICE("roleRef"));
    struct vd_field_path path = vd_field_member(NULL, VD_SLICE("roleRef"));
    struct vd_field_path name_path = vd_field_member(&path, VD_SLICE("name"));
    struct vd_slice kind = vd_kind_rule_text(ref, "kind"), name = vd_kind_rule_text(ref, "name");
    struct vd_name_faults faults;
    if (!vd_slice_is(vd_kind_rule_text(ref, "apiGroup"), GROUP))
        add_unsupported(out, &path, "apiGroup", vd_kind_rule_text(ref, "apiGroup"),
                        "\"" GROUP "\"");
    if (!vd_slice_is(kind, "ClusterRole") && !(namespaced && vd_slice_is(kind, "Role")))
        add_unsupported(out, &path, "kind", kind,
                        namespaced ? "\"Role\", \"ClusterRole\"" : "\"ClusterRole\"");
    if (name.n == 0)
        vd_kind_rule_add(out, VD_VIOLATION_REQUIRED, &name_path, "");
    else if (!vd_name_check(VD_NAME_PATH_SEGMENT, name, &faults))
        for (size_t i = 0; i < faults.n; i++)
            vd_violations_add(out, VD_VIOLATION_INVALID, &name_path, vd_bad_value_text(out, name),
                              "%s", faults.p[i]);
}

static void check_account(const struct vd_json *subject, const struct vd_field_path *path,
                          bool namespaced, struct vd_violations *out)
{
    struct vd_field_path name_path = vd_field_member(path, VD_SLICE("name"));
    struct vd_slice name = vd_kind_rule_text(subject, "name");
    struct vd_slice group = vd_kind_rule_text(subject, "apiGroup");
    struct vd_name_faults faults;
    if (name.n && !vd_name_check(VD_NAME_SUBDOMAIN, name, &faults))
        for (size_t i = 0; i < faults.n; i++)
            vd_violations_add(out, VD_VIOLATION_INVALID, &name_path, vd_bad_value_text(out, name),
                              "%s", faults.p[i]);
    if (group.n)
        add_unsupported(out, path, "apiGroup", group, "\"\"");
    if (!namespaced && vd_kind_rule_text(subject, "namespace").n == 0)
        require(out, path, "namespace", "");
}

static void check_subject(const struct vd_json *subject, const struct vd_field_path *path,
                          bool namespaced, struct vd_violations *out)
{
    struct vd_slice kind = vd_kind_rule_text(subject, "kind"),
                    name = vd_kind_rule_text(subject, "name");
    struct vd_slice group = vd_kind_rule_text(subject, "apiGroup");
    struct vd_field_path name_path = vd_field_member(path, VD_SLICE("name"));
    bool user = vd_slice_is(kind, "User");
    if (name.n == 0)
        vd_kind_rule_add(out, VD_VIOLATION_REQUIRED, &name_path, "");
    if (vd_slice_is(kind, "ServiceAccount")) {
        check_account(subject, path, namespaced, out);
    } else if (user || vd_slice_is(kind, "Group")) {
        if (name.n == 0)
            vd_violations_add(out, VD_VIOLATION_INVALID, &name_path, VD_SLICE("\"\""),
                              "%s name cannot be empty", user ? "user" : "group");
        if (!vd_slice_is(group, GROUP))
            add_unsupported(out, path, "apiGroup", group, "\"" GROUP "\"");
    } else {
        add_unsupported(out, path, "kind", kind, "\"ServiceAccount\", \"User\", \"Group\"");
    }
}

static void check_binding(const struct vd_json *object, const struct vd_json *old, bool namespaced,
                          struct vd_violations *out)
{
    struct vd_field_path subjects = vd_field_member(NULL, VD_SLICE("subjects"));
    const struct vd_json *ref = vd_json_get(object, VD_SLICE("roleRef"));
    size_t index = 0;
    check_role_ref(object, namespaced, out);
    VD_JSON_EACH (subject, vd_json_get(object, VD_SLICE("subjects"))) {
        struct vd_field_path path = vd_field_element(&subjects, index++);
        check_subject(subject, &path, namespaced, out);
    }
    if (old && ref && !vd_json_eq(ref, vd_json_get(old, VD_SLICE("roleRef")))) {
        struct vd_field_path path = vd_field_member(NULL, VD_SLICE("roleRef"));
        vd_violations_add(out, VD_VIOLATION_INVALID, &path, vd_bad_value_json(out, ref), "%s",
                          "cannot change roleRef");
    }
}

void vd_rule_binding_check(const struct vd_json *object, const struct vd_json *old,
                           struct vd_violations *out)
{
    check_binding(object, old, true, out);
}

void vd_rule_cluster_binding_check(const struct vd_json *object, const struct vd_json *old,
                                   struct vd_violations *out)
{
    check_binding(object, old, false, out);
}

/* Users and groups are of the RBAC group, said or not. */
void vd_rule_binding_prepare(struct vd_arena *arena, struct vd_json *object, bool create)
{
    (void)create;
    VD_JSON_EACH (subject, vd_json_get(object, VD_SLICE("subjects"))) {
        struct vd_slice kind = vd_kind_rule_text(subject, "kind");
        if ((vd_slice_is(kind, "User") || vd_slice_is(kind, "Group")) &&
            vd_kind_rule_text(subject, "apiGroup").n == 0)
            vd_json_set(arena, subject, VD_SLICE("apiGroup"),
                        vd_json_string_ref(arena, VD_SLICE(GROUP)));
    }
}
