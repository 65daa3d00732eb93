/* src/kube/discovery/documents.c: documents ready to send, made once and shared. */
#include "kube/discovery/documents.h"

#include <pthread.h>
#include <stdatomic.h>

#include "json_check.h"
#include "kube/discovery/discovery.h"
#include "kube/openapi/v2.h"
#include "widget_kinds.h"

#define GADGET_YAML                                                                                \
    "spec:\n"                                                                                      \
    "  group: example.org\n"                                                                       \
    "  scope: Cluster\n"                                                                           \
    "  names: {kind: Gadget, plural: gadgets}\n"                                                   \
    "  versions:\n"                                                                                \
    "  - {name: v1, served: true, storage: true}\n"

#define OPENAPI_ACCEPT "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"

struct setting {
    struct vd_kinds *kinds;
    struct vd_kind_set *set;
    struct vd_documents *documents;
};

static struct setting setting_open(void)
{
    struct setting s = {.kinds = widget_kinds(), .documents = vd_documents_new(VD_SLICE("v1.2.3"))};
    s.set = vd_kinds_snapshot(s.kinds);
    return s;
}

static void setting_close(struct setting *s)
{
    vd_documents_free(s->documents);
    vd_kind_set_unref(s->set);
    vd_kinds_free(s->kinds);
}

static struct vd_document *get(struct setting *s, const char *path, enum vd_document_form form)
{
    return vd_documents_get(s->documents, s->set, vd_slice_of(path), form);
}

static void paths_lead_to_documents(void **state)
{
    static const struct {
        const char *path, *kind, *in_body; /* kind: yes, none or no path */
    } cases[] = {
        {"/api", "yes", "APIVersions"},
        {"/api/", "yes", "APIVersions"},
        {"/apis", "yes", "APIGroupList"},
        {"/apis/", "yes", "APIGroupList"},
        {"/api/v1", "yes", "\"groupVersion\":\"v1\""},
        {"/apis/example.com", "yes", "\"APIGroup\""},
        {"/apis/example.com/", "yes", "\"APIGroup\""},
        {"/apis/example.com/v1", "yes", "\"groupVersion\":\"example.com/v1\""},
        {"/openapi/v2", "yes", "\"swagger\":\"2.0\""},
        {"/openapi/v3", "yes", "serverRelativeURL"},
        {"/openapi/v3/api/v1", "yes", "\"version\":\"v1.2.3\""},
        {"/openapi/v3/apis/example.com/v2", "yes", "com.example.v2.Widget"},
        {"/api/v2", "none", NULL},
        {"/apis/example.org", "none", NULL},
        {"/apis/example.com/v3alpha1", "none", NULL},
        {"/openapi/v3/apis/example.com/v9", "none", NULL},
        {"", "no path", NULL},
        {"/", "no path", NULL},
        {"api", "no path", NULL},
        {"//api", "no path", NULL},
        {"/api//v1", "no path", NULL},
        {"/api/v1/configmaps", "no path", NULL},
        {"/apis/example.com/v1/widgets", "no path", NULL},
        {"/openapi", "no path", NULL},
        {"/openapi/v3/apis/example.com", "no path", NULL},
        {"/openapi/v3/api", "no path", NULL},
        {"/openapi/v2/x", "no path", NULL},
        {"/openapi/v3/apis/example.com/v1/x", "no path", NULL},
        {"/version", "no path", NULL},
    };
    (void)state;
    struct setting s = setting_open();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_document *d = get(&s, cases[i].path, VD_DOCUMENT_JSON);
        bool is_path = vd_document_is_path(vd_slice_of(cases[i].path));
        const char *kind = d ? "yes" : is_path ? "none" : "no path";
        if (strcmp(kind, cases[i].kind) != 0)
            fail_msg("%s: got %s, want %s", cases[i].path, kind, cases[i].kind);
        if (d && !memmem(d->body->data, d->body->len, cases[i].in_body, strlen(cases[i].in_body)))
            fail_msg("%s: %.*s", cases[i].path, (int)d->body->len, d->body->data);
        vd_document_unref(d);
    }
    setting_close(&s);
}

static void clients_get_the_form_they_ask_for(void **state)
{
    static const struct {
        const char *path, *accept;
        int form; /* -1: none */
    } cases[] = {
        {"/api", NULL, VD_DOCUMENT_JSON},
        {"/api", "application/json, */*", VD_DOCUMENT_JSON},
        {"/apis", "*/*", VD_DOCUMENT_JSON},
        /* kubectl 1.30 */
        {"/apis", VD_DISCOVERY_V2_TYPE "," VD_DISCOVERY_V2BETA1_TYPE ",application/json",
         VD_DOCUMENT_AGGREGATED},
        /* kubectl 1.27 */
        {"/api", VD_DISCOVERY_V2BETA1_TYPE ",application/json", VD_DOCUMENT_AGGREGATED_V2BETA1},
        {"/api", VD_DISCOVERY_V2_TYPE ";profile=nopeer," VD_DISCOVERY_V2BETA1_TYPE,
         VD_DOCUMENT_AGGREGATED},
        {"/api", "application/json;g=apidiscovery.k8s.io;v=v9;as=APIGroupDiscoveryList", -1},
        {"/api",
         "application/json;g=apidiscovery.k8s.io;v=v9;as=APIGroupDiscoveryList,application/json",
         VD_DOCUMENT_JSON},
        {"/api", "application/json;g=meta.k8s.io;v=v1;as=Table", -1},
        {"/api", "text/html", -1},
        {"/api", "application/json;q=0", -1},
        /* only the two roots are aggregated */
        {"/apis/example.com/v1", "application/json", VD_DOCUMENT_JSON},
        {"/openapi/v2", OPENAPI_ACCEPT, VD_DOCUMENT_PROTOBUF},
        {"/openapi/v2", VD_OPENAPI_V2_PROTOBUF_TYPE, VD_DOCUMENT_PROTOBUF},
        {"/openapi/v2", "application/json", VD_DOCUMENT_JSON},
        {"/openapi/v2", "*/*", VD_DOCUMENT_JSON},
        {"/openapi/v3", OPENAPI_ACCEPT, -1},
        {"/openapi/v3/api/v1", "application/json", VD_DOCUMENT_JSON},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_accept accept;
        struct vd_error error = {0};
        enum vd_document_form form = VD_DOCUMENT_JSON;
        vd_accept_init(&accept);
        if (cases[i].accept)
            assert_ok(vd_accept_add(&accept, vd_slice_of(cases[i].accept), &error), &error);
        bool ok = vd_document_form_of(vd_slice_of(cases[i].path), &accept, *state, &form);
        if ((ok ? (int)form : -1) != cases[i].form)
            fail_msg("%s %s: %d", cases[i].path, cases[i].accept, ok ? (int)form : -1);
    }
}

static void forms_have_their_content_types(void **state)
{
    static const struct {
        const char *path;
        enum vd_document_form form;
        const char *type; /* NULL: no such form */
    } cases[] = {
        {"/api", VD_DOCUMENT_JSON, "application/json"},
        {"/api", VD_DOCUMENT_AGGREGATED,
         "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"},
        {"/apis", VD_DOCUMENT_AGGREGATED_V2BETA1,
         "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"},
        {"/openapi/v2", VD_DOCUMENT_PROTOBUF,
         "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"},
        {"/openapi/v3", VD_DOCUMENT_PROTOBUF, NULL},
        {"/api/v1", VD_DOCUMENT_AGGREGATED, NULL},
    };
    (void)state;
    struct setting s = setting_open();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_document *d = get(&s, cases[i].path, cases[i].form);
        assert_int_equal(d != NULL, cases[i].type != NULL);
        if (d)
            assert_slice(d->content_type, cases[i].type);
        vd_document_unref(d);
    }
    setting_close(&s);
}

static void a_document_is_made_once_until_the_kinds_change(void **state)
{
    (void)state;
    struct setting s = setting_open();
    struct vd_document *first = get(&s, "/apis", VD_DOCUMENT_JSON);
    struct vd_document *again = get(&s, "/apis/", VD_DOCUMENT_JSON);
    assert_ptr_equal(first, again);
    struct vd_kind_set *old = s.set;
    put_kind(s.kinds, GADGET_YAML, false);
    s.set = vd_kinds_snapshot(s.kinds);
    struct vd_document *newer = get(&s, "/apis", VD_DOCUMENT_JSON);
    assert_ptr_not_equal(first, newer);
    assert_false(vd_slice_eq(first->etag, newer->etag));
    assert_non_null(memmem(newer->body->data, newer->body->len, "example.org", 11));
    /* One who still has the old set gets what it says, and disturbs nobody. */
    struct vd_document *late = vd_documents_get(s.documents, old, VD_SLICE("/apis"),
                                                VD_DOCUMENT_JSON);
    assert_true(vd_slice_eq(late->etag, first->etag));
    struct vd_document *still = get(&s, "/apis", VD_DOCUMENT_JSON);
    assert_ptr_equal(still, newer);
    vd_document_unref(first);
    vd_document_unref(again);
    vd_document_unref(newer);
    vd_document_unref(late);
    vd_document_unref(still);
    vd_kind_set_unref(old);
    setting_close(&s);
}

static void a_document_outlives_the_cache(void **state)
{
    (void)state;
    struct setting s = setting_open();
    struct vd_document *d = get(&s, "/api", VD_DOCUMENT_JSON);
    setting_close(&s);
    assert_int_equal(d->body->data[0], '{');
    vd_document_unref(d);
}

static void an_etag_is_the_hash_in_quotes(void **state)
{
    (void)state;
    struct setting s = setting_open();
    struct vd_document *d = get(&s, "/api", VD_DOCUMENT_JSON);
    static const char etag[] =
        "\"42968E0E63410F026396C57F8315165DF03FA5A33B38A193ECFB3A9A070DCF50\"";
    assert_slice(d->etag, etag);
    assert_true(vd_slice_eq(d->hash, vd_slice(etag + 1, VD_DOCUMENT_HASH_LEN)));
    static const struct {
        const char *format;
        bool known;
    } cases[] = {{"%s", true},         {"W/%s", true}, {"\"x\", %s", true}, {"*", true},
                 {" %s ,\"x\"", true}, {"", false},    {"\"x\"", false},    {",", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_buf header = {0};
        const char *at = strstr(cases[i].format, "%s");
        vd_buf_add(&header, cases[i].format,
                   at ? (size_t)(at - cases[i].format) : strlen(cases[i].format));
        if (at)
            vd_buf_addf(&header, "%s%s", etag, at + 2);
        assert_int_equal(vd_document_matches_etag(d, vd_buf_slice(&header)), cases[i].known);
        vd_buf_release(&header);
    }
    assert_false(vd_document_matches_etag(d, vd_slice(NULL, 0)));
    vd_document_unref(d);
    setting_close(&s);
}

static void the_index_leads_to_the_documents(void **state)
{
    struct setting s = setting_open();
    struct vd_document *index = get(&s, "/openapi/v3", VD_DOCUMENT_JSON);
    struct vd_json *json = NULL;
    struct vd_error error = {0};
    assert_ok(
        vd_json_parse(*state, vd_slice(index->body->data, index->body->len), NULL, &json, &error),
        &error);
    assert_int_equal(vd_json_count(vd_json_get(json, VD_SLICE("paths"))), 3);
    VD_JSON_EACH (entry, vd_json_get(json, VD_SLICE("paths"))) {
        struct vd_buf path = {0}, url = {0};
        vd_buf_addf(&path, "/openapi/v3/%.*s", VD_FMT(vd_json_key(entry)));
        struct vd_document *d = get(&s, vd_buf_text(&path), VD_DOCUMENT_JSON);
        assert_non_null(d);
        vd_buf_addf(&url, "%s?hash=%.*s", vd_buf_text(&path), VD_FMT(d->hash));
        assert_slice(vd_json_text(vd_json_dig(entry, "serverRelativeURL", NULL)),
                     vd_buf_text(&url));
        vd_document_unref(d);
        vd_buf_release(&path);
        vd_buf_release(&url);
    }
    vd_document_unref(index);
    setting_close(&s);
}

static void a_wrong_hash_leads_to_the_right_one(void **state)
{
    (void)state;
    struct setting s = setting_open();
    struct vd_slice path = VD_SLICE("/openapi/v3/api/v1");
    struct vd_document *d = get(&s, path.p, VD_DOCUMENT_JSON);
    struct vd_buf location = {0}, want = {0};
    assert_false(vd_document_redirects(d, path, d->hash, &location));
    assert_false(vd_document_redirects(d, path, VD_SLICE(""), &location));
    assert_false(vd_document_redirects(d, VD_SLICE("/openapi/v3"), VD_SLICE("x"), &location));
    assert_int_equal(location.n, 0);
    assert_true(vd_document_redirects(d, path, VD_SLICE("x"), &location));
    vd_buf_addf(&want, "/openapi/v3/api/v1?hash=%.*s", VD_FMT(d->hash));
    assert_slice(vd_buf_slice(&location), vd_buf_text(&want));
    vd_buf_release(&location);
    vd_buf_release(&want);
    vd_document_unref(d);
    setting_close(&s);
}

struct reader {
    struct setting *setting;
    atomic_bool *stop;
};

static void *read_documents(void *argument)
{
    struct reader *r = argument;
    static const char *const paths[] = {"/apis", "/openapi/v3", "/apis/example.com/v1"};
    for (size_t i = 0; i < 30 || !atomic_load(r->stop); i++) {
        struct vd_kind_set *set = vd_kinds_snapshot(r->setting->kinds);
        struct vd_document *d = vd_documents_get(r->setting->documents, set,
                                                 vd_slice_of(paths[i % 3]), VD_DOCUMENT_JSON);
        if (!d || d->body->data[0] != '{')
            abort();
        vd_document_unref(d);
        vd_kind_set_unref(set);
    }
    return NULL;
}

static void loops_share_documents_while_kinds_change(void **state)
{
    (void)state;
    enum { READERS = 3 };
    struct setting s = setting_open();
    atomic_bool stop = false;
    struct reader reader = {&s, &stop};
    pthread_t threads[READERS];
    for (size_t i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_documents, &reader), 0);
    for (size_t i = 0; i < 20; i++) {
        struct vd_error error = {0};
        put_kind(s.kinds, GADGET_YAML, false);
        assert_ok(vd_kinds_remove(s.kinds, VD_SLICE("example.org"), VD_SLICE("gadgets"), &error),
                  &error);
    }
    atomic_store(&stop, true);
    for (size_t i = 0; i < READERS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    setting_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_lead_to_documents),
        arena_test(clients_get_the_form_they_ask_for),
        cmocka_unit_test(forms_have_their_content_types),
        cmocka_unit_test(a_document_is_made_once_until_the_kinds_change),
        cmocka_unit_test(a_document_outlives_the_cache),
        cmocka_unit_test(an_etag_is_the_hash_in_quotes),
        arena_test(the_index_leads_to_the_documents),
        cmocka_unit_test(a_wrong_hash_leads_to_the_right_one),
        cmocka_unit_test(loops_share_documents_while_kinds_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
