/* src/kinds/object.c, rules*.c and metadata.c: good and bad objects of every built-in kind. */
#include "kinds/object.h"

#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "json_check.h"
#include "kinds/builtin.h"
#include "kinds/object_meta.h"

#define META  "\"metadata\":{\"name\":\"n\",\"namespace\":\"d\"}"
#define CMETA "\"metadata\":{\"name\":\"n\"}"
#define RBAC  "rbac.authorization.k8s.io"
#define AUTHZ "authorization.k8s.io"

struct fixture {
    struct vd_arena arena;
    struct vd_kinds *kinds;
    struct vd_kind_set *set;
};

static int setup(void **state)
{
    struct fixture *f = vd_calloc(1, sizeof *f);
    f->kinds = vd_kinds_new_builtin();
    f->set = vd_kinds_snapshot(f->kinds);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    vd_kind_set_unref(f->set);
    vd_kinds_free(f->kinds);
    vd_arena_release(&f->arena);
    free(f);
    return 0;
}

static const struct vd_kind *kind_of(struct fixture *f, const char *group, const char *kind)
{
    const struct vd_kind *found = vd_kind_set_kind(f->set, vd_slice_of(group), VD_SLICE("v1"),
                                                   vd_slice_of(kind));
    if (!found)
        fail_msg("no kind %s in group '%s'", kind, group);
    return found;
}

static void assert_verdict(struct fixture *f, const char *group, const char *kind_name,
                           const char *text, const char *old_text, const char *want)
{
    const struct vd_kind *kind = kind_of(f, group, kind_name);
    struct vd_json *object = json_of(&f->arena, text);
    struct vd_json *old = old_text ? json_of(&f->arena, old_text) : NULL;
    struct vd_violations violations = {0};
    struct vd_buf said = {0};
    assert_int_equal(
        vd_object_prepare(kind, &f->arena, object, !old, NULL, &(struct vd_effort){0}, NULL),
        VD_OK);
    bool ok = vd_object_validate(kind, object, old, &violations);
    vd_violations_write(&said, &violations);
    if (strcmp(vd_buf_text(&said), want) != 0)
        fail_msg("%s %s:\n got %s\nwant %s", kind_name, text, vd_buf_text(&said), want);
    assert_int_equal(ok, want[0] == 0);
    vd_buf_release(&said);
    vd_violations_release(&violations);
}

struct verdict {
    const char *group, *kind, *object, *old, *want;
};

static void assert_verdicts(struct fixture *f, const struct verdict *cases, size_t n)
{
    for (size_t i = 0; i < n; i++)
        assert_verdict(f, cases[i].group, cases[i].kind, cases[i].object, cases[i].old,
                       cases[i].want);
}

#define VERDICTS(state, cases) assert_verdicts(*(state), (cases), sizeof(cases) / sizeof *(cases))

static void config_is_judged(void **state)
{
    static const struct verdict cases[] = {
        {"", "ConfigMap", "{" META ",\"data\":{\"a.B_c-1\":\"x\"},\"binaryData\":{\"b\":\"QQ==\"}}",
         NULL, ""},
        {"", "ConfigMap", "{" META ",\"data\":{\"a b\":\"x\"}}", NULL,
         "data[a b]: Invalid value: \"a b\": a valid config key must consist of alphanumeric "
         "characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used "
         "for validation is '[-._a-zA-Z0-9]+')"},
        {"", "ConfigMap", "{" META ",\"data\":{\"k\":\"x\"},\"binaryData\":{\"k\":\"QQ==\"}}", NULL,
         "[data[k]: Invalid value: \"k\": duplicate of key present in binaryData, "
         "binaryData[k]: Invalid value: \"k\": duplicate of key present in data]"},
        {"", "ConfigMap", "{" META ",\"data\":{\"k\":1}}", NULL,
         "data.k: Invalid value: \"integer\": data.k in body must be of type string: \"integer\""},
        {"", "ConfigMap", "{" META ",\"binaryData\":{\"k\":\"***\"}}", NULL,
         "binaryData.k: Invalid value: \"***\": binaryData.k in body must be of type byte: "
         "\"***\""},
        {"", "ConfigMap", "{" META ",\"data\":{\"k\":\"new\"}}",
         "{" META ",\"data\":{\"k\":\"old\"},\"immutable\":true}",
         "[immutable: Forbidden: field is immutable when `immutable` is set, "
         "data: Forbidden: field is immutable when `immutable` is set]"},
        {"", "ConfigMap", "{" META ",\"immutable\":true,\"data\":{}}",
         "{" META ",\"immutable\":true}", ""},
        {"", "Secret", "{" META ",\"stringData\":{\"a\":\"x\"},\"data\":{\"b\":\"\"}}", NULL, ""},
        {"", "Secret", "{" META ",\"stringData\":{\"a\":1}}", NULL,
         "stringData.a: Invalid value: \"integer\": stringData.a in body must be of type string: "
         "\"integer\""},
        {"", "Secret", "{" META ",\"data\":[],\"stringData\":{\"a\":\"b\"}}", NULL,
         "data: Invalid value: \"array\": data in body must be of type object: \"array\""},
        {"", "Secret", "{" META ",\"type\":\"kubernetes.io/tls\",\"data\":{\"tls.crt\":\"\"}}",
         NULL, "data[tls.key]: Required value"},
        {"", "Secret",
         "{" META ",\"type\":\"kubernetes.io/basic-auth\",\"data\":{\"password\":\"\"}}", NULL, ""},
        {"", "Secret", "{" META ",\"type\":\"kubernetes.io/service-account-token\"}", NULL,
         "metadata.annotations[kubernetes.io/service-account.name]: Required value"},
        {"", "Secret", "{" META ",\"type\":\"a\"}", "{" META ",\"type\":\"b\"}",
         "type: Invalid value: \"a\": field is immutable"},
    };
    VERDICTS(state, cases);
}

static void too_much_data_is_refused(void **state)
{
    enum { LEN = VD_CONFIG_DATA_LEN_MAX + 1 };
    static const char lead[] = "{" META ",\"data\":{\"k\":\"";
    char *text = vd_malloc(sizeof lead + LEN + 8);
    memcpy(text, lead, sizeof lead - 1);
    memset(text + sizeof lead - 1, 'A', LEN);
    memcpy(text + sizeof lead - 1 + LEN, "\"}}", 4);
    assert_verdict(*state, "", "ConfigMap", text, NULL,
                   ": Too long: may not be more than 1048576 bytes");
    free(text);
}

static void roles_are_judged(void **state)
{
    static const struct verdict cases[] = {
        {RBAC, "Role",
         "{\"metadata\":{\"name\":\"system:any thing\",\"namespace\":\"d\"},\"rules\":[{\"verbs\":"
         "[\"get\"],\"apiGroups\":[\"\"],\"resources\":[\"pods\"]}]}",
         NULL, ""},
        {RBAC, "Role", "{" META ",\"rules\":[{}]}", NULL,
         "[rules[0].verbs: Required value: verbs must contain at least one value, "
         "rules[0].apiGroups: Required value: resource rules must supply at least one api group, "
         "rules[0].resources: Required value: resource rules must supply at least one resource]"},
        {RBAC, "Role", "{" META ",\"rules\":[{\"verbs\":[\"get\"],\"nonResourceURLs\":[\"/x\"]}]}",
         NULL,
         "rules[0].nonResourceURLs: Invalid value: [\"/x\"]: namespaced rules cannot apply to "
         "non-resource URLs"},
        {RBAC, "ClusterRole",
         "{" CMETA ",\"rules\":[{\"verbs\":[\"get\"],\"nonResourceURLs\":[\"/x\"]}]}", NULL, ""},
        {RBAC, "ClusterRole",
         "{" CMETA
         ",\"rules\":[{\"verbs\":[\"*\"],\"apiGroups\":[\"\"],\"resources\":[\"a\",\"b\"],"
         "\"resourceNames\":[\"n\"]}]}",
         NULL,
         "rules[0].resourceNames: Required value: resource names cannot apply to multiple "
         "resources"},
        {RBAC, "RoleBinding",
         "{" META
         ",\"roleRef\":{\"kind\":\"Role\",\"name\":\"r\"},\"subjects\":[{\"kind\":\"User\","
         "\"name\":\"u\"},{\"kind\":\"ServiceAccount\",\"name\":\"s\"}]}",
         NULL, ""},
        {RBAC, "RoleBinding", "{" META "}", NULL,
         "[roleRef.apiGroup: Unsupported value: \"\": supported values: "
         "\"rbac.authorization.k8s.io\", roleRef.kind: Unsupported value: \"\": supported values: "
         "\"Role\", \"ClusterRole\", roleRef.name: Required value]"},
        {RBAC, "RoleBinding",
         "{" META ",\"roleRef\":{\"kind\":\"Role\",\"name\":\"r\"},\"subjects\":[{\"kind\":\"Dog\","
         "\"name\":\"u\"},{\"kind\":\"User\"}]}",
         NULL,
         "[subjects[0].kind: Unsupported value: \"Dog\": supported values: \"ServiceAccount\", "
         "\"User\", \"Group\", subjects[1].name: Required value, subjects[1].name: Invalid value: "
         "\"\": user name cannot be empty]"},
        {RBAC, "ClusterRoleBinding",
         "{" CMETA ",\"roleRef\":{\"kind\":\"Role\",\"name\":\"r\"},\"subjects\":[{\"kind\":"
         "\"ServiceAccount\",\"name\":\"s\"}]}",
         NULL,
         "[roleRef.kind: Unsupported value: \"Role\": supported values: \"ClusterRole\", "
         "subjects[0].namespace: Required value]"},
        {RBAC, "ClusterRoleBinding",
         "{" CMETA ",\"roleRef\":{\"kind\":\"ClusterRole\",\"name\":\"b\"}}",
         "{" CMETA ",\"roleRef\":{\"apiGroup\":\"" RBAC
         "\",\"kind\":\"ClusterRole\",\"name\":\"a\"}}",
         "roleRef: Invalid value: {\"kind\":\"ClusterRole\",\"name\":\"b\",\"apiGroup\":\"" RBAC
         "\"}: cannot change roleRef"},
    };
    VERDICTS(state, cases);
}

/* What Go programs can read as a time with microseconds. */
#define MICRO "^[0-9-]+T[0-9:]+\\.[0-9]{6}(Z|[+-][0-9]{2}:[0-9]{2})$"

#define NEW_EVENT(namespace, about)                                                                \
    "{\"metadata\":{\"name\":\"n\",\"namespace\":\"" namespace "\"},\"regarding\":" about          \
                                                               ",\"eventTime\":\"2026-11-15T09:"   \
                                                               "00:00.000001Z\","                  \
                                                               "\"reportingController\":\"c\","    \
                                                               "\"reportingInstance\":\"i\","      \
                                                               "\"action\":\"a\",\"reason\":"      \
                                                               "\"r\",\"type\":\"Normal\"}"

static void other_kinds_are_judged(void **state)
{
    static const struct verdict cases[] = {
        {"", "Namespace", "{" CMETA "}", NULL, ""},
        {"", "Namespace", "{" CMETA ",\"spec\":{\"finalizers\":[\"mine\"]}}", NULL,
         "spec.finalizers: Invalid value: \"mine\": name is neither a standard finalizer name nor "
         "is it fully qualified"},
        {"", "Namespace", "{" CMETA ",\"spec\":\"x\"}", NULL,
         "spec: Invalid value: \"string\": spec in body must be of type object: \"string\""},
        {"", "ServiceAccount", "{" META ",\"secrets\":[{\"name\":\"a\"},{\"name\":\"a\"}]}", NULL,
         ""},
        {"", "Event", "{" META ",\"involvedObject\":{\"namespace\":\"d\"},\"eventTime\":null}",
         NULL, ""},
        {"", "Event", "{" META ",\"involvedObject\":{\"namespace\":\"e\"}}", NULL,
         "involvedObject.namespace: Invalid value: \"e\": does not match event.namespace"},
        {"events.k8s.io", "Event",
         "{" META ",\"regarding\":{\"namespace\":\"d\"},\"eventTime\":"
         "\"2026-11-15T09:00:00.000001Z\",\"reportingController\":\"c\",\"reportingInstance\":"
         "\"i\",\"action\":\"a\",\"reason\":\"r\",\"type\":\"Normal\"}",
         NULL, ""},
        {"events.k8s.io", "Event",
         "{" META ",\"regarding\":{\"namespace\":\"d\"},\"eventTime\":null,\"type\":\"Odd\"}", NULL,
         "[eventTime: Required value, reportingController: Required value, reportingInstance: "
         "Required value, action: Required value, reason: Required value, type: Invalid value: "
         "\"\": has invalid value: Odd]"},
        /* About what has no namespace: in default, and with a time of its own in kube-system. */
        {"", "Event", "{\"metadata\":{\"name\":\"n\",\"namespace\":\"kube-system\"}}", NULL,
         "involvedObject.namespace: Invalid value: \"\": does not match event.namespace"},
        {"events.k8s.io", "Event", NEW_EVENT("kube-system", "{\"kind\":\"Node\"}"), NULL, ""},
        {"events.k8s.io", "Event", NEW_EVENT("default", "{\"kind\":\"Node\"}"), NULL, ""},
        {"events.k8s.io", "Event", NEW_EVENT("other", "{\"kind\":\"Node\"}"), NULL,
         "involvedObject.namespace: Invalid value: \"\": does not match event.namespace"},
        {"events.k8s.io", "Event", NEW_EVENT("other", "{\"namespace\":\"d\"}"), NULL, ""},
        {"", "Service", "{" META ",\"spec\":{\"ports\":[{\"port\":80}]}}", NULL, ""},
        {"", "Service", "{" META ",\"spec\":{}}", NULL, "spec.ports: Required value"},
        {"", "Service", "{" META ",\"spec\":{\"ports\":[{\"port\":0},{\"name\":\"b\"}]}}", NULL,
         "[spec.ports[0].port: Invalid value: 0: spec.ports[0].port in body should be greater than "
         "or equal to 1, spec.ports[0].name: Required value, spec.ports[1].port: Invalid value: 0: "
         "must be between 1 and 65535, inclusive]"},
        {"coordination.k8s.io", "Lease",
         "{" META ",\"spec\":{\"holderIdentity\":\"\",\"leaseDurationSeconds\":1,\"renewTime\":"
         "\"2026-11-15T09:00:00.000000Z\"}}",
         NULL, ""},
        {"", "Service", "{" META ",\"spec\":{\"ports\":[{\"port\":80,\"targetPort\":65536}]}}",
         NULL,
         "spec.ports[0].targetPort: Invalid value: 65536: spec.ports[0].targetPort in body should "
         "be less than or equal to 65535"},
        {"coordination.k8s.io", "Lease",
         "{" META ",\"spec\":{\"renewTime\":\"2026-11-15T09:00:00.000001+01:00\"}}", NULL, ""},
        {"coordination.k8s.io", "Lease",
         "{" META ",\"spec\":{\"renewTime\":\"2026-11-15T09:00:00Z\"}}", NULL,
         "spec.renewTime: Invalid value: \"2026-11-15T09:00:00Z\": spec.renewTime in body should "
         "match '" MICRO "'"},
        {"", "Event",
         "{" META ",\"involvedObject\":{\"namespace\":\"d\"},\"series\":{\"lastObservedTime\":"
         "\"2026-11-15T09:00:00.5Z\"}}",
         NULL,
         "series.lastObservedTime: Invalid value: \"2026-11-15T09:00:00.5Z\": "
         "series.lastObservedTime in body should match '" MICRO "'"},
        {"coordination.k8s.io", "Lease",
         "{" META ",\"spec\":{\"leaseDurationSeconds\":0,\"leaseTransitions\":-1}}", NULL,
         "[spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0, "
         "spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0]"},
        {"coordination.k8s.io", "Lease", "{" META "}", "{" META "}", ""},
        {AUTHZ, "SelfSubjectAccessReview", "{\"spec\":{\"resourceAttributes\":{\"verb\":\"get\"}}}",
         NULL, ""},
        {AUTHZ, "SelfSubjectAccessReview", "{\"spec\":{}}", NULL,
         "spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or "
         "resourceAttributes must be specified"},
        {AUTHZ, "SubjectAccessReview", "{\"spec\":{\"nonResourceAttributes\":{}}}", NULL,
         "spec.user: Invalid value: \"\": at least one of user or group must be specified"},
        {AUTHZ, "LocalSubjectAccessReview",
         "{\"spec\":{\"resourceAttributes\":{},\"groups\":[\"g\"]}}", NULL, ""},
        {AUTHZ, "SelfSubjectRulesReview", "{\"spec\":{\"namespace\":\"d\"}}", NULL, ""},
        {"authentication.k8s.io", "TokenReview", "{}", NULL, "spec: Required value"},
        {"authentication.k8s.io", "TokenReview", "{\"spec\":{\"token\":\"t\"}}", NULL, ""},
        {"authentication.k8s.io", "SelfSubjectReview", "{}", NULL, ""},
        {"authentication.k8s.io", "TokenRequest", "{\"spec\":{}}", NULL, ""},
        {"authentication.k8s.io", "TokenRequest", "{\"spec\":{\"expirationSeconds\":5}}", NULL,
         "spec.expirationSeconds: Invalid value: 5: spec.expirationSeconds in body should be "
         "greater than or equal to 600"},
    };
    VERDICTS(state, cases);
}

static void metadata_is_judged(void **state)
{
    static const struct verdict cases[] = {
        {"", "ConfigMap", "{}", NULL,
         "[metadata.name: Required value: name or generateName is required, "
         "metadata.namespace: Required value]"},
        {"", "ConfigMap", "{\"metadata\":{\"name\":\"A\",\"namespace\":\"d\"}}", NULL,
         "metadata.name: Invalid value: \"A\": a lowercase RFC 1123 subdomain must consist of "
         "lower "
         "case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric "
         "character (e.g. 'example.com', regex used for validation is "
         "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"},
        {"", "Namespace", "{\"metadata\":{\"name\":\"a\",\"namespace\":\"b\"}}", NULL,
         "metadata.namespace: Forbidden: not allowed on this type"},
        {"", "ConfigMap",
         "{\"metadata\":{\"name\":\"a\",\"namespace\":\"d\",\"labels\":{\"-\":\"x\","
         "\"k\":\"a b\"}}}",
         NULL,
         "[metadata.labels: Invalid value: \"-\": name part must consist of alphanumeric "
         "characters, "
         "'-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  "
         "or "
         "'my.name',  or '123-abc', regex used for validation is "
         "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'), "
         "metadata.labels: Invalid value: \"a b\": a valid label must be an empty string or "
         "consist "
         "of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
         "character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
         "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')]"},
        {"", "ConfigMap",
         "{\"metadata\":{\"name\":\"a\",\"namespace\":\"d\",\"annotations\":{"
         "\"Example.COM/Key\":\"any \\u0000 text\"}}}",
         NULL, ""},
        {"", "ConfigMap",
         "{\"metadata\":{\"name\":\"a\",\"namespace\":\"d\",\"labels\":{\"a\":1},"
         "\"finalizers\":[\"orphan\",\"foregroundDeletion\"]}}",
         NULL,
         "[metadata.finalizers: Invalid value: [\"orphan\",\"foregroundDeletion\"]: finalizer "
         "orphan and foregroundDeletion cannot be both set, metadata.labels.a: Invalid value: "
         "\"integer\": metadata.labels.a in body must be of type string: \"integer\"]"},
        {"", "ConfigMap",
         "{\"metadata\":{\"name\":\"a\",\"namespace\":\"d\",\"finalizers\":[\"a.b/c\","
         "\"kubernetes\",\"mine\"]}}",
         NULL,
         "metadata.finalizers[2]: Invalid value: \"mine\": name is neither a standard finalizer "
         "name nor is it fully qualified"},
        {"coordination.k8s.io", "Lease",
         "{\"metadata\":{\"name\":\"a\",\"namespace\":\"d\",\"finalizers\":[\"mine\"]}}", NULL,
         "metadata.finalizers[0]: Invalid value: \"mine\": name is neither a standard finalizer "
         "name nor is it fully qualified"},
        {"", "Event",
         "{\"metadata\":{\"name\":\"a\",\"namespace\":\"default\",\"finalizers\":[\"mine\"]}}",
         NULL, ""},
        {"", "ConfigMap",
         "{\"metadata\":{\"name\":\"a\",\"namespace\":\"d\",\"ownerReferences\":[{"
         "\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"p\"}]}}",
         NULL, "metadata.ownerReferences.uid: Invalid value: \"\": must not be empty"},
        {"", "ConfigMap",
         "{\"metadata\":{\"name\":\"a\",\"namespace\":\"d\",\"uid\":\"2\",\"finalizers\":[\"a.b/"
         "c\","
         "\"d.e/f\"],\"deletionTimestamp\":\"2026-11-15T09:00:00Z\"}}",
         "{\"metadata\":{\"name\":\"a\",\"namespace\":\"d\",\"uid\":\"1\",\"finalizers\":[\"a.b/"
         "c\"],"
         "\"deletionTimestamp\":\"2026-11-15T09:00:00Z\"}}",
         "[metadata.finalizers: Forbidden: no new finalizers can be added if the object is being "
         "deleted, found new finalizers []string{\"d.e/f\"}, "
         "metadata.uid: Invalid value: \"2\": field is immutable]"},
        {"", "ConfigMap",
         "{\"metadata\":{\"name\":\"a\",\"namespace\":\"d\",\"generateName\":\"B-\"}}", NULL,
         "metadata.generateName: Invalid value: \"B-\": a lowercase RFC 1123 subdomain must "
         "consist "
         "of lower case alphanumeric characters, '-' or '.', and must start and end with an "
         "alphanumeric character (e.g. 'example.com', regex used for validation is "
         "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"},
    };
    VERDICTS(state, cases);
}

static void objects_come_into_their_stored_form(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *group, *kind, *object, *want, *pruned;
    } cases[] = {
        {"", "Secret",
         "{" META ",\"data\":{\"a\":\"QQ==\",\"b\":\"\"},\"stringData\":{\"b\":\"hi\","
         "\"c\":\"\xc3\xa4\"}}",
         "{" META ",\"data\":{\"a\":\"QQ==\",\"b\":\"aGk=\",\"c\":\"w6Q=\"},\"type\":\"Opaque\"}",
         NULL},
        {"", "Namespace", "{" CMETA ",\"status\":{}}",
         "{\"metadata\":{\"name\":\"n\",\"labels\":{\"kubernetes.io/metadata.name\":\"n\"}},"
         "\"status\":{\"phase\":\"Active\"},\"spec\":{\"finalizers\":[\"kubernetes\"]}}",
         NULL},
        {RBAC, "RoleBinding",
         "{" META ",\"subjects\":[{\"kind\":\"Group\",\"name\":\"g\"}],"
         "\"roleRef\":{\"kind\":\"Role\",\"name\":\"r\"}}",
         "{" META ",\"subjects\":[{\"kind\":\"Group\",\"name\":\"g\",\"apiGroup\":\"" RBAC
         "\"}],\"roleRef\":{\"kind\":\"Role\",\"name\":\"r\",\"apiGroup\":\"" RBAC "\"}}",
         NULL},
        {"", "ConfigMap",
         "{\"metadata\":{\"name\":\"n\",\"creationTimestamp\":null,\"clusterName\":"
         "\"x\"},\"data\":null,\"extra\":1}",
         "{\"metadata\":{\"name\":\"n\"}}", "metadata.clusterName extra "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct vd_kind *kind = kind_of(f, cases[i].group, cases[i].kind);
        struct vd_json *object = json_of(&f->arena, cases[i].object);
        struct vd_pruned pruned = {0};
        struct vd_buf paths = {0};
        assert_int_equal(
            vd_object_prepare(kind, &f->arena, object, true, &pruned, &(struct vd_effort){0}, NULL),
            VD_OK);
        assert_json(object, cases[i].want);
        for (size_t p = 0; p < pruned.paths.n; p++)
            vd_buf_addf(&paths, "%.*s ", VD_FMT(pruned.paths.p[p]));
        assert_slice(vd_buf_slice(&paths), cases[i].pruned ? cases[i].pruned : "");
        assert_int_equal(
            vd_object_prepare(kind, &f->arena, object, true, NULL, &(struct vd_effort){0}, NULL),
            VD_OK);
        assert_json(object, cases[i].want);
        vd_buf_release(&paths);
        vd_pruned_release(&pruned);
    }
}

static void updates_inherit_what_the_server_set(void **state)
{
    struct fixture *f = *state;
    static const char old[] =
        "{\"metadata\":{\"name\":\"n\",\"uid\":\"1\",\"generation\":7,\"creationTimestamp\":\"t\","
        "\"deletionTimestamp\":\"d\",\"deletionGracePeriodSeconds\":0,\"labels\":{\"a\":\"b\"}}}";
    static const struct {
        const char *object, *want;
    } cases[] = {
        {"{\"metadata\":{\"name\":\"n\"}}",
         "{\"metadata\":{\"name\":\"n\",\"uid\":\"1\",\"deletionGracePeriodSeconds\":0,"
         "\"generation\":7,\"creationTimestamp\":\"t\",\"deletionTimestamp\":\"d\"}}"},
        /* A uid is the client's precondition; times and the generation are not its business. */
        {"{\"metadata\":{\"uid\":\"2\",\"generation\":1,\"creationTimestamp\":\"x\","
         "\"deletionTimestamp\":\"y\",\"deletionGracePeriodSeconds\":5}}",
         "{\"metadata\":{\"uid\":\"2\",\"generation\":7,\"creationTimestamp\":\"t\","
         "\"deletionTimestamp\":\"d\",\"deletionGracePeriodSeconds\":5}}"},
        /* Go clients send what is empty. */
        {"{\"metadata\":{\"uid\":\"\",\"creationTimestamp\":null,"
         "\"deletionGracePeriodSeconds\":null}}",
         "{\"metadata\":{\"uid\":\"1\",\"creationTimestamp\":\"t\","
         "\"deletionGracePeriodSeconds\":0,\"generation\":7,\"deletionTimestamp\":\"d\"}}"},
        {"{}", "{}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_json *object = json_of(&f->arena, cases[i].object);
        vd_meta_inherit(&f->arena, object, json_of(&f->arena, old));
        assert_json(object, cases[i].want);
        vd_meta_inherit(&f->arena, object, json_of(&f->arena, old));
        assert_json(object, cases[i].want);
    }
    struct vd_json *fresh = json_of(&f->arena, "{\"metadata\":{\"deletionTimestamp\":\"y\"}}");
    vd_meta_inherit(&f->arena, fresh, json_of(&f->arena, "{\"metadata\":{}}"));
    assert_json(fresh, "{\"metadata\":{}}");
}

static void events_have_one_storage(void **state)
{
    struct fixture *f = *state;
    const struct vd_kind *core = kind_of(f, "", "Event");
    const struct vd_kind *new = kind_of(f, "events.k8s.io", "Event");
    struct vd_json *event = json_of(
        &f->arena, "{\"apiVersion\":\"events.k8s.io/v1\",\"note\":\"n\",\"regarding\":{},"
                   "\"deprecatedCount\":2,\"reason\":\"r\"}");
    assert_slice(new->resource, "events");
    assert_ptr_equal(vd_kind_set_stored(f->set, VD_SLICE("events")), core);
    vd_object_convert(new, core, &f->arena, event);
    assert_json(event, "{\"apiVersion\":\"v1\",\"reason\":\"r\",\"message\":\"n\","
                       "\"involvedObject\":{},\"count\":2}");
    vd_object_convert(core, new, &f->arena, event);
    assert_json(event, "{\"apiVersion\":\"events.k8s.io/v1\",\"reason\":\"r\",\"note\":\"n\","
                       "\"regarding\":{},\"deprecatedCount\":2}");
}

#define kinds_test(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        kinds_test(config_is_judged),
        kinds_test(too_much_data_is_refused),
        kinds_test(roles_are_judged),
        kinds_test(other_kinds_are_judged),
        kinds_test(metadata_is_judged),
        kinds_test(objects_come_into_their_stored_form),
        kinds_test(updates_inherit_what_the_server_set),
        kinds_test(events_have_one_storage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
