/* src/kube/output.c: what clients send as Accept, and what they get. */
#include "kube/output.h"

#include <stdio.h>

#include "backtick.h"
#include "json_check.h"
#include "kinds/builtin.h"

#define TABLE         "application/json;as=Table;v=v1;g=meta.k8s.io"
#define TABLE_BETA    "application/json;as=Table;v=v1beta1;g=meta.k8s.io"
#define PARTIAL       ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
#define PARTIAL_LIST  ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
#define PROTOBUF      "application/vnd.kubernetes.protobuf"
#define KUBECTL       TABLE "," TABLE_BETA ",application/json"
#define METADATA_GET  PROTOBUF PARTIAL ",application/json" PARTIAL ",application/json"
#define METADATA_LIST PROTOBUF PARTIAL_LIST ",application/json" PARTIAL_LIST ",application/json"
#define BROWSER                                                                                    \
    "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"

enum { OBJECT = VD_OUTPUT_OF_OBJECT, LIST, WATCH, DOCUMENT, CUSTOM = 16 };

/* "json table v1", "406" and so on. */
static void negotiate(struct vd_arena *a, const char *accept_text, const char *agent,
                      const char *query_text, int scope, struct vd_buf *out)
{
    static const char *const forms[] = {"plain", "table", "partial", "partial-list"};
    static const char *const objects[] = {"metadata", "object", "none"};
    struct vd_accept accept;
    struct vd_url_query query;
    struct vd_kube_output output;
    struct vd_error error;
    vd_accept_init(&accept);
    if (accept_text)
        assert_ok(vd_accept_add(&accept, vd_slice_of(accept_text), &error), &error);
    assert_ok(vd_url_query_parse(&query, a, vd_slice_of(query_text ? query_text : ""), &error),
              &error);
    struct vd_kube_output_request request = {.accept = &accept,
                                             .query = &query,
                                             .user_agent = vd_slice_of(agent ? agent : ""),
                                             .scope = (enum vd_output_scope)(scope & ~CUSTOM),
                                             .no_protobuf = (scope & CUSTOM) != 0};
    int code = vd_kube_output_negotiate(&output, &request, a, &error);
    if (code) {
        vd_buf_add_text(out, code == VD_ERR_NOT_FOUND ? "406" : error.text);
        return;
    }
    vd_buf_add_text(out, output.encoding == VD_OUTPUT_YAML ? "yaml " : "json ");
    vd_buf_add_text(out, forms[output.form]);
    if (output.form != VD_OUTPUT_PLAIN)
        vd_buf_add_text(out, output.version == VD_META_V1 ? " v1" : " v1beta1");
    if (output.object != VD_TABLE_METADATA)
        vd_buf_addf(out, " %s", objects[output.object]);
    vd_buf_add_text(out, output.pretty ? " pretty" : "");
}

struct row {
    const char *accept;
    int scope;
    const char *want, *agent, *query;
};

static void check_rows(struct vd_arena *a, const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct vd_buf got = {0};
        negotiate(a, rows[i].accept, rows[i].agent, rows[i].query, rows[i].scope, &got);
        if (!vd_slice_is(vd_buf_slice(&got), rows[i].want))
            fail_msg("row %zu, %s: got %s, want %s", i, rows[i].accept, vd_buf_text(&got),
                     rows[i].want);
        vd_buf_release(&got);
    }
}

static void clients_get_what_they_send_for(void **state)
{
    static const struct row rows[] = {
        /* kubectl get, of names, lists and with -w */
        {KUBECTL, LIST, "json table v1", "kubectl/v1.33.0", NULL},
        {KUBECTL, OBJECT, "json table v1", NULL, NULL},
        {KUBECTL, WATCH, "json table v1", NULL, NULL},
        {KUBECTL, DOCUMENT, "json plain", NULL, NULL},
        {TABLE_BETA ",application/json", LIST, "json table v1beta1", "kubectl/v1.14.0", NULL},
        {KUBECTL, LIST, "json table v1 object", NULL, "limit=500&includeObject=Object"},
        {KUBECTL, LIST, "json table v1 none", NULL, "includeObject=None"},
        {KUBECTL, LIST, "json table v1", NULL, "includeObject=Metadata"},
        {KUBECTL, LIST, "json table v1", NULL, "includeObject="},
        /* client-go: typed, dynamic, with CBOR, before and after protobuf */
        {"application/json, */*", LIST, "json plain", NULL, NULL},
        {"application/json", WATCH, "json plain", NULL, NULL},
        {PROTOBUF ",application/json", WATCH, "json plain", NULL, NULL},
        {PROTOBUF ", application/json", LIST, "json plain", NULL, NULL},
        {PROTOBUF, OBJECT, "json plain", NULL, NULL},
        {PROTOBUF ";stream=watch", WATCH, "json plain", NULL, NULL},
        {"application/json;stream=watch", WATCH, "json plain", NULL, NULL},
        {"application/json;stream=watch", LIST, "json plain", NULL, NULL},
        {"application/json;q=0.9,application/cbor;q=1", OBJECT, "json plain", NULL, NULL},
        {"application/json;q=0.9,application/cbor-seq;q=1", WATCH, "json plain", NULL, NULL},
        /* the metadata client and controller-runtime's OnlyMetadata */
        {METADATA_GET, OBJECT, "json partial v1", NULL, NULL},
        {METADATA_GET, WATCH, "json partial v1", NULL, NULL},
        {METADATA_LIST, LIST, "json partial-list v1", NULL, NULL},
        {PROTOBUF PARTIAL_LIST, LIST, "json partial-list v1", NULL, NULL},
        {"application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1beta1", OBJECT,
         "json partial v1beta1", NULL, NULL},
        /* people */
        {BROWSER, LIST, "json plain pretty", "Mozilla/5.0 (X11; Linux x86_64)", NULL},
        {"*/*", LIST, "json plain pretty", "curl/8.5.0", NULL},
        {"*/*", OBJECT, "json plain pretty", "Wget/1.21", NULL},
        {"*/*", OBJECT, "json plain", "curl/8.5.0", "pretty=false"},
        {"*/*", WATCH, "json plain", "curl/8.5.0", "watch=true"},
        {"application/yaml", LIST, "yaml plain", "curl/8.5.0", NULL},
        {"*/*", LIST, "json plain", "python-requests/2.31", NULL},
        {"*/*", LIST, "json plain pretty", NULL, "pretty=true"},
        {"*/*", LIST, "json plain", NULL, "pretty=yes"},
        {"application/json;pretty=1", LIST, "json plain pretty", NULL, NULL},
        {NULL, LIST, "json plain", NULL, NULL},
        {NULL, WATCH, "json plain", NULL, NULL},
    };
    check_rows(*state, rows, sizeof rows / sizeof *rows);
}

static void ranges_are_tried_best_first(void **state)
{
    static const struct row rows[] = {
        {"application/yaml,application/json", LIST, "yaml plain", NULL, NULL},
        {"application/yaml;q=0.5,application/json", LIST, "json plain", NULL, NULL},
        {"application/yaml,application/json", WATCH, "json plain", NULL, NULL},
        {"application/yaml;as=Table;v=v1;g=meta.k8s.io", LIST, "yaml table v1", NULL, NULL},
        {"APPLICATION/JSON;AS=Table;V=v1;G=meta.k8s.io", LIST, "json table v1", NULL, NULL},
        {"application/*", LIST, "json plain", NULL, NULL},
        {PROTOBUF ",application/yaml", LIST, "yaml plain", NULL, NULL},
        {"application/json;as=Table;v=v2;g=meta.k8s.io,application/json", LIST, "json plain", NULL,
         NULL},
        {"application/json;charset=utf-8", LIST, "json plain", NULL, NULL},
        {"application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json",
         OBJECT, "json plain", NULL, NULL},
    };
    check_rows(*state, rows, sizeof rows / sizeof *rows);
}

static void what_cannot_be_served_is_406(void **state)
{
    static const struct row rows[] = {
        {"text/html", LIST, "406", NULL, NULL},
        {"application/json;q=0", LIST, "406", NULL, NULL},
        {"application/cbor", LIST, "406", NULL, NULL},
        {"application/yaml", WATCH, "406", NULL, NULL},
        {TABLE, DOCUMENT, "406", NULL, NULL},
        {PROTOBUF PARTIAL, DOCUMENT, "406", NULL, NULL},
        {"application/json" PARTIAL, LIST, "406", NULL, NULL},
        {"application/json" PARTIAL_LIST, OBJECT, "406", NULL, NULL},
        {"application/json" PARTIAL_LIST, WATCH, "406", NULL, NULL},
        {"application/json;as=Table", LIST, "406", NULL, NULL},
        {"application/json;as=Table;v=v1;g=example.com", LIST, "406", NULL, NULL},
        {"application/json;as=Chair;v=v1;g=meta.k8s.io", LIST, "406", NULL, NULL},
        {"application/json;stream=other", WATCH, "406", NULL, NULL},
        {"application/vnd.kubernetes.protobuf", LIST | CUSTOM, "406", NULL, NULL},
    };
    check_rows(*state, rows, sizeof rows / sizeof *rows);
    struct vd_kube_output_request list = {.scope = VD_OUTPUT_OF_LIST};
    assert_slice(vd_kube_output_accepted(&list),
                 "application/json, application/yaml, application/vnd.kubernetes.protobuf");
    list.no_protobuf = true;
    assert_slice(vd_kube_output_accepted(&list), "application/json, application/yaml");
}

static void a_wrong_include_object_is_named(void **state)
{
    static const struct row rows[] = {
        {KUBECTL, LIST,
         "Unable to convert to Table as requested: includeObject: Invalid value: \"all\": must be "
         "'Metadata', 'Object', 'None', or empty",
         NULL, "includeObject=all"},
        {"application/json", LIST, "json plain", NULL, "includeObject=all"},
    };
    check_rows(*state, rows, sizeof rows / sizeof *rows);
}

/* --- rendering --- */

static void one_object_comes_in_every_form(void **state)
{
    static const char body[] = "{`kind`:`ConfigMap`,`apiVersion`:`v1`,`metadata`:{`name`:`a`,"
                               "`resourceVersion`:`7`},`data`:{`k`:`true`}}";
    static const struct {
        struct vd_kube_output output;
        const char *want, *type;
    } rows[] = {
        {{.encoding = VD_OUTPUT_JSON}, NULL, "application/json"},
        {{.encoding = VD_OUTPUT_YAML},
         "kind: ConfigMap\napiVersion: v1\nmetadata:\n  name: a\n  resourceVersion: `7`\ndata:\n"
         "  k: `true`\n",
         "application/yaml"},
        {{.pretty = true},
         "{\n  `kind`: `ConfigMap`,\n  `apiVersion`: `v1`,\n  `metadata`: {\n    `name`: `a`,\n"
         "    `resourceVersion`: `7`\n  },\n  `data`: {\n    `k`: `true`\n  }\n}\n",
         "application/json"},
        {{.form = VD_OUTPUT_PARTIAL},
         "{`kind`:`PartialObjectMetadata`,`apiVersion`:`meta.k8s.io/v1`,`metadata`:{`name`:`a`,"
         "`resourceVersion`:`7`}}\n",
         "application/json"},
        {{.encoding = VD_OUTPUT_YAML, .form = VD_OUTPUT_PARTIAL, .version = VD_META_V1BETA1},
         "kind: PartialObjectMetadata\napiVersion: meta.k8s.io/v1beta1\nmetadata:\n  name: a\n"
         "  resourceVersion: `7`\n",
         "application/yaml"},
    };
    struct vd_arena *a = *state;
    struct vd_arena scratch = {0};
    struct vd_kube_output_source source = {0};
    const char *json = backtick(a, body);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct vd_buf out = {0}, whole = {0};
        struct vd_error error;
        vd_buf_addf(&whole, "%s\n", json);
        assert_ok(vd_kube_output_render(&out, &rows[i].output, &source, vd_slice_of(json), &scratch,
                                        &error),
                  &error);
        assert_slice(vd_buf_slice(&out),
                     rows[i].want ? backtick(a, rows[i].want) : vd_buf_text(&whole));
        assert_slice(vd_kube_output_content_type(&rows[i].output), rows[i].type);
        vd_buf_release(&out);
        vd_buf_release(&whole);
    }
    vd_arena_release(&scratch);
}

static void a_table_of_one_can_be_yaml(void **state)
{
    struct vd_kinds *kinds = vd_kinds_new_builtin();
    struct vd_kind_set *set = vd_kinds_snapshot(kinds);
    const struct vd_kind *kind = vd_kind_set_resource(set, VD_SLICE(""), VD_SLICE("v1"),
                                                      VD_SLICE("configmaps"));
    struct vd_table *table = vd_table_new((struct vd_kind *)(uintptr_t)kind);
    struct vd_kube_output_source source = {.table = table};
    struct vd_kube_output output = {
        .encoding = VD_OUTPUT_YAML, .form = VD_OUTPUT_TABLE, .object = VD_TABLE_NONE};
    struct vd_arena scratch = {0};
    struct vd_buf out = {0};
    struct vd_error error;
    const char *body = backtick(*state, "{`metadata`:{`name`:`a`,`resourceVersion`:`7`}}");
    assert_ok(vd_kube_output_render(&out, &output, &source, vd_slice_of(body), &scratch, &error),
              &error);
    assert_true(vd_slice_starts_with(vd_buf_slice(&out), VD_SLICE("kind: Table\n")));
    assert_true(
        vd_slice_ends_with(vd_buf_slice(&out), VD_SLICE("- cells:\n  - a\n  - 0\n  - <unknown>\n"
                                                        "  object: null\n")));
    vd_buf_release(&out);
    vd_arena_release(&scratch);
    vd_table_unref(table);
    vd_kind_set_unref(set);
    vd_kinds_free(kinds);
}

static void broken_bytes_are_an_error_when_they_have_to_be_read(void **state)
{
    struct vd_kube_output output = {.encoding = VD_OUTPUT_YAML};
    struct vd_buf out = {0};
    struct vd_error error;
    assert_code(vd_kube_output_encode(&out, &output, VD_SLICE("{\"a\":"), *state, &error),
                VD_ERR_INVALID);
    assert_int_equal(out.n, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        arena_test(clients_get_what_they_send_for),
        arena_test(ranges_are_tried_best_first),
        arena_test(what_cannot_be_served_is_406),
        arena_test(a_wrong_include_object_is_named),
        arena_test(one_object_comes_in_every_form),
        arena_test(a_table_of_one_can_be_yaml),
        arena_test(broken_bytes_are_an_error_when_they_have_to_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
