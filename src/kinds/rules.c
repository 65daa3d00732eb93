/*
 * See rules.h: the table, and the rules that are too short for a file of their own.
 */
#include "kinds/rules.h"

#include "kinds/deletion.h"
#include "kinds/object_meta.h"
#include "kinds/rules_internal.h"
#include "watch/label.h"

/* --- Namespace --- */

static bool has_text(const struct vd_json *list, const char *text)
{
    VD_JSON_EACH (item, list) {
        if (vd_slice_is(vd_json_text(item), text))
            return true;
    }
    return false;
}

/* The member, which is made if it is not there; NULL if it is no object, which
 * the schema will say. */
static struct vd_json *object_at(struct vd_arena *arena, struct vd_json *object, const char *key)
{
    struct vd_json *member = vd_json_get(object, vd_slice_of(key));
    if (!member) {
        member = vd_json_object(arena);
        vd_json_add(arena, object, vd_slice_of(key), member);
    }
    return vd_json_is(member, VD_JSON_OBJECT) ? member : NULL;
}

static void add_namespace_finalizer(struct vd_arena *arena, struct vd_json *spec)
{
    struct vd_json *finalizers = vd_json_get(spec, VD_SLICE("finalizers"));
    if (!finalizers) {
        finalizers = vd_json_array(arena);
        vd_json_add(arena, spec, VD_SLICE("finalizers"), finalizers);
    }
    if (vd_json_is(finalizers, VD_JSON_ARRAY) && !has_text(finalizers, "kubernetes"))
        vd_json_append(finalizers, vd_json_string_ref(arena, VD_SLICE("kubernetes")));
}

/* A new namespace is active and waits for the server before it goes; its name is
 * also a label, so that selectors can ask for it. */
static void namespace_prepare(struct vd_arena *arena, struct vd_json *object, bool create)
{
    struct vd_json *metadata = vd_json_get(object, VD_SLICE("metadata"));
    struct vd_slice name = vd_kind_rule_text(metadata, "name");
    struct vd_json *labels = name.n ? object_at(arena, metadata, "labels") : NULL;
    if (labels)
        vd_json_set(arena, labels, VD_SLICE("kubernetes.io/metadata.name"),
                    vd_json_string(arena, name));
    if (!create)
        return;
    struct vd_json *spec = object_at(arena, object, "spec");
    if (spec)
        add_namespace_finalizer(arena, spec);
    struct vd_json *status = vd_json_object(arena);
    vd_json_add(arena, status, VD_SLICE("phase"), vd_json_string_ref(arena, VD_SLICE("Active")));
    vd_json_set(arena, object, VD_SLICE("status"), status);
}

static void namespace_check(const struct vd_json *object, const struct vd_json *old,
                            struct vd_violations *out)
{
    struct vd_field_path spec = vd_field_member(NULL, VD_SLICE("spec"));
    struct vd_field_path path = vd_field_member(&spec, VD_SLICE("finalizers"));
    struct vd_buf why = {0};
    (void)old;
    VD_JSON_EACH (finalizer, vd_json_dig(object, "spec", "finalizers", NULL)) {
        struct vd_slice name = vd_json_text(finalizer);
        vd_buf_reset(&why);
        if (name.p && !vd_label_key_check(name, &why))
            vd_violations_add(out, VD_VIOLATION_INVALID, &path, vd_bad_value_text(out, name), "%s",
                              vd_buf_text(&why));
        else if (name.p && !memchr(name.p, '/', name.n) && !vd_slice_is(name, "kubernetes") &&
                 !vd_slice_is(name, "orphan") && !vd_slice_is(name, "foregroundDeletion"))
            vd_violations_add(out, VD_VIOLATION_INVALID, &path, vd_bad_value_text(out, name), "%s",
                              "name is neither a standard finalizer name nor is it fully "
                              "qualified");
    }
    vd_buf_release(&why);
}

/* --- Repository --- */

/* The server takes a repository's objects and folder away before it goes. */
static void repository_prepare(struct vd_arena *arena, struct vd_json *object, bool create)
{
    if (create && vd_json_is(vd_json_get(object, VD_SLICE("metadata")), VD_JSON_OBJECT))
        vd_meta_add_finalizer(arena, object, VD_FINALIZER_REPOSITORY);
}

/* --- Event --- */

/* An event is in the namespace of what it is about, or in default if that has none; one that says
 * its eventTime, in kube-system as well, and about whatever has a namespace wherever its author
 * likes. The field is called by its name in storage, as Kubernetes does. */
static void check_event_namespace(const struct vd_json *object, const char *reference,
                                  struct vd_violations *out)
{
    struct vd_field_path up = vd_field_member(NULL, VD_SLICE("involvedObject"));
    struct vd_field_path path = vd_field_member(&up, VD_SLICE("namespace"));
    struct vd_slice own = vd_kind_rule_text(vd_json_get(object, VD_SLICE("metadata")), "namespace");
    struct vd_slice other = vd_kind_rule_text(vd_json_get(object, vd_slice_of(reference)),
                                              "namespace");
    bool timed = vd_kind_rule_text(object, "eventTime").n > 0;
    bool ok = other.n ? timed || vd_slice_eq(own, other)
                      : !own.n || vd_slice_is(own, "default") ||
                            (timed && vd_slice_is(own, "kube-system"));
    if (!ok)
        vd_violations_add(out, VD_VIOLATION_INVALID, &path, vd_bad_value_text(out, other), "%s",
                          "does not match event.namespace");
}

static void event_check(const struct vd_json *object, const struct vd_json *old,
                        struct vd_violations *out)
{
    (void)old;
    check_event_namespace(object, "involvedObject", out);
}

/* Events of the new API say more; those that v1 made and this one changes keep
 * what they have. */
static void new_event_check(const struct vd_json *object, const struct vd_json *old,
                            struct vd_violations *out)
{
    static const char *const needed[] = {"eventTime", "reportingController", "reportingInstance",
                                         "action", "reason"};
    struct vd_slice type = vd_kind_rule_text(object, "type");
    check_event_namespace(object, "regarding", out);
    for (size_t i = 0; !old && i < sizeof needed / sizeof *needed; i++) {
        struct vd_field_path path = vd_field_member(NULL, vd_slice_of(needed[i]));
        if (vd_kind_rule_text(object, needed[i]).n == 0)
            vd_kind_rule_add(out, VD_VIOLATION_REQUIRED, &path, "");
    }
    if (!old && !vd_slice_is(type, "Normal") && !vd_slice_is(type, "Warning")) {
        struct vd_field_path path = vd_field_member(NULL, VD_SLICE("type"));
        vd_violations_add(out, VD_VIOLATION_INVALID, &path, VD_SLICE("\"\""),
                          "has invalid value: %.*s", VD_FMT(type));
    }
    if (!old && vd_kind_rule_text(object, "note").n > 1024) {
        struct vd_field_path path = vd_field_member(NULL, VD_SLICE("note"));
        vd_violations_add(out, VD_VIOLATION_INVALID, &path, VD_SLICE("\"\""), "%s",
                          "can have at most 1024 bytes");
    }
}

/* --- Service --- */

static void check_service_port(const struct vd_json *port, const struct vd_field_path *path,
                               bool several, struct vd_violations *out)
{
    struct vd_field_path number = vd_field_member(path, VD_SLICE("port"));
    struct vd_field_path name = vd_field_member(path, VD_SLICE("name"));
    if (several && vd_kind_rule_text(port, "name").n == 0)
        vd_kind_rule_add(out, VD_VIOLATION_REQUIRED, &name, "");
    if (!vd_json_get(port, VD_SLICE("port")))
        vd_violations_add(out, VD_VIOLATION_INVALID, &number, VD_SLICE("0"), "%s",
                          "must be between 1 and 65535, inclusive");
}

static void service_check(const struct vd_json *object, const struct vd_json *old,
                          struct vd_violations *out)
{
    const struct vd_json *spec = vd_json_get(object, VD_SLICE("spec"));
    const struct vd_json *ports = vd_json_get(spec, VD_SLICE("ports"));
    struct vd_field_path up = vd_field_member(NULL, VD_SLICE("spec"));
    struct vd_field_path path = vd_field_member(&up, VD_SLICE("ports"));
    size_t index = 0;
    (void)old;
    if (vd_json_count(ports) == 0 && !vd_slice_is(vd_kind_rule_text(spec, "clusterIP"), "None") &&
        !vd_slice_is(vd_kind_rule_text(spec, "type"), "ExternalName"))
        vd_kind_rule_add(out, VD_VIOLATION_REQUIRED, &path, "");
    VD_JSON_EACH (port, ports) {
        struct vd_field_path at = vd_field_element(&path, index++);
        check_service_port(port, &at, vd_json_count(ports) > 1, out);
    }
}

/* --- Lease --- */

static void lease_check(const struct vd_json *object, const struct vd_json *old,
                        struct vd_violations *out)
{
    static const struct {
        const char *field;
        int64_t min;
        const char *detail;
    } bounds[] = {
        {"leaseDurationSeconds", 1, "must be greater than 0"},
        {"leaseTransitions", 0, "must be greater than or equal to 0"},
    };
    const struct vd_json *spec = vd_json_get(object, VD_SLICE("spec"));
    struct vd_field_path up = vd_field_member(NULL, VD_SLICE("spec"));
    (void)old;
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++) {
        const struct vd_json *value = vd_json_get(spec, vd_slice_of(bounds[i].field));
        struct vd_field_path path = vd_field_member(&up, vd_slice_of(bounds[i].field));
        int64_t number;
        if (vd_json_to_i64(value, &number) && number < bounds[i].min)
            vd_violations_add(out, VD_VIOLATION_INVALID, &path, vd_bad_value_json(out, value), "%s",
                              bounds[i].detail);
    }
    if (vd_kind_rule_text(spec, "preferredHolder").n && !vd_kind_rule_text(spec, "strategy").n) {
        struct vd_field_path path = vd_field_member(&up, VD_SLICE("preferredHolder"));
        vd_kind_rule_add(out, VD_VIOLATION_FORBIDDEN, &path,
                         "may only be specified if `strategy` is defined");
    }
}

/* --- access reviews --- */

static void access_review_check(const struct vd_json *object, const struct vd_json *old,
                                struct vd_violations *out)
{
    static const char detail[] =
        "exactly one of nonResourceAttributes or resourceAttributes must be specified";
    const struct vd_json *spec = vd_json_get(object, VD_SLICE("spec"));
    const struct vd_json *resource = vd_json_get(spec, VD_SLICE("resourceAttributes"));
    const struct vd_json *other = vd_json_get(spec, VD_SLICE("nonResourceAttributes"));
    struct vd_field_path up = vd_field_member(NULL, VD_SLICE("spec"));
    struct vd_field_path path = vd_field_member(&up, VD_SLICE("resourceAttributes"));
    struct vd_field_path other_path = vd_field_member(&up, VD_SLICE("nonResourceAttributes"));
    (void)old;
    if (!spec || (!resource && !other))
        vd_violations_add(out, VD_VIOLATION_INVALID, &path, VD_SLICE("null"), "%s", detail);
    if (resource && other)
        vd_violations_add(out, VD_VIOLATION_INVALID, &other_path, vd_bad_value_json(out, other),
                          "%s", "cannot be specified in combination with resourceAttributes");
}

static void subject_review_check(const struct vd_json *object, const struct vd_json *old,
                                 struct vd_violations *out)
{
    const struct vd_json *spec = vd_json_get(object, VD_SLICE("spec"));
    struct vd_field_path up = vd_field_member(NULL, VD_SLICE("spec"));
    struct vd_field_path path = vd_field_member(&up, VD_SLICE("user"));
    access_review_check(object, old, out);
    if (vd_kind_rule_text(spec, "user").n == 0 &&
        vd_json_count(vd_json_get(spec, VD_SLICE("groups"))) == 0)
        vd_violations_add(out, VD_VIOLATION_INVALID, &path, VD_SLICE("\"\""), "%s",
                          "at least one of user or group must be specified");
}

#define RBAC          "rbac.authorization.k8s.io"
#define AUTHORIZATION "authorization.k8s.io"

static const struct row {
    const char *group, *kind;
    vd_kind_rule_prepare_fn *prepare;
    vd_kind_rule_check_fn *check;
    vd_kind_rule_settle_fn *settle;
} rows[] = {
    {"", "Namespace", namespace_prepare, namespace_check, NULL},
    {"", "ConfigMap", NULL, vd_rule_configmap_check, NULL},
    {"", "Secret", vd_rule_secret_prepare, vd_rule_secret_check, NULL},
    {"", "Event", NULL, event_check, NULL},
    {"", "Service", NULL, service_check, NULL},
    {"events.k8s.io", "Event", NULL, new_event_check, NULL},
    {"coordination.k8s.io", "Lease", NULL, lease_check, NULL},
    {"git.vedette.dev", "Repository", repository_prepare, NULL, NULL},
    {"apiextensions.k8s.io", "CustomResourceDefinition", vd_rule_definition_prepare,
     vd_rule_definition_check, vd_rule_definition_settle},
    {RBAC, "Role", NULL, vd_rule_role_check, NULL},
    {RBAC, "ClusterRole", NULL, vd_rule_cluster_role_check, NULL},
    {RBAC, "RoleBinding", vd_rule_binding_prepare, vd_rule_binding_check, NULL},
    {RBAC, "ClusterRoleBinding", vd_rule_binding_prepare, vd_rule_cluster_binding_check, NULL},
    {AUTHORIZATION, "SelfSubjectAccessReview", NULL, access_review_check, NULL},
    {AUTHORIZATION, "SubjectAccessReview", NULL, subject_review_check, NULL},
    {AUTHORIZATION, "LocalSubjectAccessReview", NULL, subject_review_check, NULL},
};

static const struct row *row_of(const struct vd_kind *kind)
{
    for (size_t i = 0; kind->builtin && i < sizeof rows / sizeof *rows; i++)
        if (vd_slice_is(kind->kind, rows[i].kind) && vd_slice_is(kind->group, rows[i].group))
            return &rows[i];
    return NULL;
}

void vd_kind_rules_prepare(const struct vd_kind *kind, struct vd_arena *arena,
                           struct vd_json *object, bool create)
{
    const struct row *row = row_of(kind);
    if (row && row->prepare)
        row->prepare(arena, object, create);
}

void vd_kind_rules_settle(const struct vd_kind *kind, struct vd_arena *arena,
                          struct vd_json *object)
{
    const struct row *row = row_of(kind);
    if (row && row->settle)
        row->settle(arena, object);
}

void vd_kind_rules_check(const struct vd_kind *kind, const struct vd_json *object,
                         const struct vd_json *old, struct vd_violations *out)
{
    const struct row *row = row_of(kind);
    if (row && row->check)
        row->check(object, old, out);
}
