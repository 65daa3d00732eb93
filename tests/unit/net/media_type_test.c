/* src/net/media_type.c: Content-Type, Accept and Accept-Encoding. */
#include "net/media_type.h"

#include "base/buf.h"
#include "check.h"

static void content_types_are_parsed(void **state)
{
    (void)state;
    static const struct {
        const char *text, *type, *subtype, *params; /* type NULL: refused */
    } cases[] = {
        {"application/json", "application", "json", ""},
        {" application/json\t", "application", "json", ""},
        {"Application/JSON", "Application", "JSON", ""},
        {"application/apply-patch+yaml", "application", "apply-patch+yaml", ""},
        {"application/vnd.kubernetes.protobuf;stream=watch", "application",
         "vnd.kubernetes.protobuf", ";stream=watch"},
        /* kubectl, of OpenAPI */
        {"application/com.github.proto-openapi.spec.v2@v1.0+protobuf", "application",
         "com.github.proto-openapi.spec.v2@v1.0+protobuf", ""},
        {"text/plain; charset=utf-8", "text", "plain", "; charset=utf-8"},
        {"text/plain ; a=\"b;,\\\"c\" ;", "text", "plain", " ; a=\"b;,\\\"c\" ;"},
        {"text/plain;;a=b", "text", "plain", ";;a=b"},
        {"", NULL, NULL, NULL},
        {"json", NULL, NULL, NULL},
        {"application/", NULL, NULL, NULL},
        {"/json", NULL, NULL, NULL},
        {"application@1/json", NULL, NULL, NULL},
        {"application /json", NULL, NULL, NULL},
        {"application/ json", NULL, NULL, NULL},
        {"application/json/x", NULL, NULL, NULL},
        {"application/json x", NULL, NULL, NULL},
        {"application/json,text/plain", NULL, NULL, NULL},
        {"application/json;a", NULL, NULL, NULL},
        {"application/json;a=", NULL, NULL, NULL},
        {"application/json;=b", NULL, NULL, NULL},
        {"application/json;a =b", NULL, NULL, NULL},
        {"application/json;a= b", NULL, NULL, NULL},
        {"application/json;a=b c", NULL, NULL, NULL},
        {"application/json;a=\"b", NULL, NULL, NULL},
        {"application/json;a=\"b\\", NULL, NULL, NULL},
        {"application/json;a=\"b\"c", NULL, NULL, NULL},
        {"application/json;a=\"b\nc\"", NULL, NULL, NULL},
        {"*/*", NULL, NULL, NULL},
        {"text/*", NULL, NULL, NULL},
        {"*", NULL, NULL, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_media_type m;
        struct vd_error error = {0};
        int code = vd_media_type_parse(&m, vd_slice_of(cases[i].text), &error);
        if (code != (cases[i].type ? VD_OK : VD_ERR_INVALID))
            fail_msg("%s: %s", cases[i].text, vd_code_name(code));
        if (!cases[i].type)
            continue;
        assert_slice(m.type, cases[i].type);
        assert_slice(m.subtype, cases[i].subtype);
        assert_slice(m.params, cases[i].params);
        assert_int_equal(m.quality, VD_QUALITY_MAX);
    }
    struct vd_media_type m;
    assert_code(vd_media_type_parse(&m, vd_slice(NULL, 0), NULL), VD_ERR_INVALID);
}

static void parameters_are_found(void **state)
{
    (void)state;
    static const struct {
        const char *text, *name, *value; /* NULL: none */
    } cases[] = {
        {"a/b", "x", NULL},
        {"a/b;x=y", "x", "y"},
        {"a/b;X=y", "x", "y"},
        {"a/b; x=1; x=2", "x", "1"},
        {"a/b;xx=1;x=2", "x", "2"},
        {"a/b;x=\"\"", "x", ""},
        {"a/b;x=\"y z;q=0\"", "x", "y z;q=0"},
        {"a/b;x=\"a\\\"b\\\\c\\d\"", "x", "a\"b\\cd"},
        {"application/json;as=Table;v=v1;g=meta.k8s.io", "as", "Table"},
        {"application/json;as=Table;v=v1;g=meta.k8s.io", "g", "meta.k8s.io"},
        {"application/json;as=Table;v=v1;g=meta.k8s.io", "q", NULL},
    };
    struct vd_arena a = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_media_type m;
        struct vd_slice value = VD_SLICE("untouched");
        struct vd_error error;
        assert_ok(vd_media_type_parse(&m, vd_slice_of(cases[i].text), &error), &error);
        bool found = vd_media_type_param(&m, vd_slice_of(cases[i].name), &a, &value);
        assert_int_equal(found, cases[i].value != NULL);
        assert_slice(value, found ? cases[i].value : "untouched");
    }
    vd_arena_release(&a);
}

static void join(struct vd_buf *out, const struct vd_accept *accept)
{
    for (size_t i = 0; i < accept->n; i++) {
        const struct vd_media_type *m = &accept->ranges[i];
        vd_buf_addf(out, "%s%.*s/%.*s%.*s:%u", i ? " " : "", VD_FMT(m->type), VD_FMT(m->subtype),
                    VD_FMT(m->params), m->quality);
    }
}

static void ranges_come_best_first(void **state)
{
    (void)state;
    static const struct {
        const char *text, *joined;
    } cases[] = {
        {"", ""},
        {"*/*", "*/*:1000"},
        {"application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
         "application/json;as=Table;v=v1;g=meta.k8s.io:1000 application/json:1000"},
        {"application/json;as=Table;v=v1;g=meta.k8s.io,"
         "application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json",
         "application/json;as=Table;v=v1;g=meta.k8s.io:1000 "
         "application/json;as=Table;v=v1beta1;g=meta.k8s.io:1000 application/json:1000"},
        {"application/vnd.kubernetes.protobuf, */*", "application/vnd.kubernetes.protobuf:1000 "
                                                     "*/*:1000"},
        {"a/b;q=0.5, c/d", "c/d:1000 a/b;q=0.5:500"},
        {"a/a;q=0.1,b/b;q=0.9,c/c;q=0.5", "b/b;q=0.9:900 c/c;q=0.5:500 a/a;q=0.1:100"},
        {"a/a;q=0.5,b/b;q=0.5,c/c;q=0.5", "a/a;q=0.5:500 b/b;q=0.5:500 c/c;q=0.5:500"},
        {"*/*,a/*,a/b", "a/b:1000 a/*:1000 */*:1000"},
        {"a/b;q=0, */*;q=0.001", "*/*;q=0.001:1 a/b;q=0:0"},
        {"a/b;Q=1.000;x=y", "a/b;Q=1.000;x=y:1000"},
        {"a/b;x=\"c,d\", e/f", "a/b;x=\"c,d\":1000 e/f:1000"},
        {"a/b;x=\"c\\\",d\", e/f", "a/b;x=\"c\\\",d\":1000 e/f:1000"},
        {", ,a/b,,", "a/b:1000"},
        /* an old Java client */
        {"text/html, image/gif, *; q=.2, */*; q=.2",
         "text/html:1000 image/gif:1000 */*; q=.2:200 */*; q=.2:200"},
        /* what is no range is passed over */
        {"json, a/b;q=2, a/b;q=, a/b;q=1.1, a/b;q=0.1234, a/b;q=x, */b, a/b c, c/d", "c/d:1000"},
        {"a/b;q=., a/b;q=-1, a/b;q=1., a/b;q=0.", "a/b;q=1.:1000 a/b;q=0.:0"},
        {"a/b;x=\"never closed, c/d", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_accept accept;
        struct vd_error error;
        struct vd_buf joined = {0};
        vd_accept_init(&accept);
        assert_ok(vd_accept_add(&accept, vd_slice_of(cases[i].text), &error), &error);
        join(&joined, &accept);
        assert_string_equal(vd_buf_text(&joined), cases[i].joined);
        vd_buf_release(&joined);
    }
}

static void headers_add_up(void **state)
{
    (void)state;
    struct vd_accept accept;
    struct vd_error error;
    struct vd_buf joined = {0};
    vd_accept_init(&accept);
    assert_ok(vd_accept_add(&accept, VD_SLICE("a/b;q=0.3"), &error), &error);
    assert_ok(vd_accept_add(&accept, VD_SLICE("c/d;q=0.4, e/f;q=0.2"), &error), &error);
    join(&joined, &accept);
    assert_string_equal(vd_buf_text(&joined), "c/d;q=0.4:400 a/b;q=0.3:300 e/f;q=0.2:200");
    vd_buf_release(&joined);
}

static void ranges_are_counted(void **state)
{
    (void)state;
    struct vd_accept accept;
    struct vd_error error;
    vd_accept_init(&accept);
    for (int i = 0; i < VD_ACCEPT_RANGES_MAX; i++)
        assert_ok(vd_accept_add(&accept, VD_SLICE("a/b"), &error), &error);
    assert_code(vd_accept_add(&accept, VD_SLICE("a/b"), &error), VD_ERR_LIMIT);
    assert_int_equal(accept.n, VD_ACCEPT_RANGES_MAX);
}

static void the_most_specific_range_decides(void **state)
{
    (void)state;
    static const struct {
        const char *accept;
        unsigned json, yaml;
    } cases[] = {
        {"", 1000, 1000},
        {"*/*", 1000, 1000},
        {"application/json", 1000, 0},
        {"APPLICATION/Json", 1000, 0},
        {"text/html", 0, 0},
        {"application/json;q=0, */*", 0, 1000},
        {"*/*;q=0.9, application/yaml;q=0.1, application/*;q=0.5", 500, 100},
        {"application/*, application/json;q=0", 0, 1000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_accept accept;
        struct vd_error error;
        vd_accept_init(&accept);
        assert_ok(vd_accept_add(&accept, vd_slice_of(cases[i].accept), &error), &error);
        assert_int_equal(vd_accept_quality(&accept, VD_SLICE("application"), VD_SLICE("json")),
                         cases[i].json);
        assert_int_equal(vd_accept_quality(&accept, VD_SLICE("application"), VD_SLICE("yaml")),
                         cases[i].yaml);
    }
}

static void gzip_is_sent_to_those_who_take_it(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool gzip;
    } cases[] = {
        {"gzip", true},
        {"GZip", true},
        {"x-gzip", true},
        {"gzip, deflate, br", true},
        {"deflate,br , gzip;q=0.5", true},
        {"gzip; q=0.001", true},
        {"*", true},
        {"br, *;q=0.1", true},
        {"*;q=0, gzip", true},
        {"", false},
        {"identity", false},
        {"gzipped", false},
        {"gzip;q=0", false},
        {"gzip;q=0.000", false},
        {"gzip;q=0, *", false},
        {"*, gzip;q=0", false},
        {"*;q=0", false},
        {"gzip;q=x", false},
        {"gzip;q", false},
        {"deflate", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (vd_accept_encoding_gzip(vd_slice_of(cases[i].text)) != cases[i].gzip)
            fail_msg("%s: %d", cases[i].text, !cases[i].gzip);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(content_types_are_parsed),
        cmocka_unit_test(parameters_are_found),
        cmocka_unit_test(ranges_come_best_first),
        cmocka_unit_test(headers_add_up),
        cmocka_unit_test(ranges_are_counted),
        cmocka_unit_test(the_most_specific_range_decides),
        cmocka_unit_test(gzip_is_sent_to_those_who_take_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
