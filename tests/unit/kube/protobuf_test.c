/* src/kube/protobuf/protobuf.c: the forms that values take, merging, and what is refused.
 * The kinds are tested in protobuf_schema_test.c. */
#include "kube/protobuf/protobuf.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "protobuf_check.h"
#include "json/parse.h"

#define META "'metadata':{'creationTimestamp':null}"

/* A definition whose only version has this schema, as text and as JSON. */
#define CRD_TEXT(schema) "2 {7 {4 {1 {" schema "}}}}"
#define CRD_HEAD                                                                                   \
    "{" META ",'spec':{'group':'','names':{'plural':'','kind':''},'scope':'',"                     \
    "'versions':[{'name':'','served':false,'storage':false,'schema':{'openAPIV3Schema':"
#define CRD_TAIL                                                                                   \
    "}}]},'status':{'conditions':null,'acceptedNames':{'plural':'','kind':''},"                    \
    "'storedVersions':null}}"

static void schemas_become_json(void **state)
{
    (void)state;
    static const struct {
        const char *text, *json;
    } cases[] = {
        {CRD_TEXT(""), "{}"},
        {CRD_TEXT("1 'i' 2 's' 3 'r' 4 'd' 5 't' 6 'f' 7 'n' 8 {1 '{\"a\":1}'}"),
         "{'id':'i','$schema':'s','$ref':'r','description':'d','type':'t','format':'f','title':'n',"
         "'default':{'a':1}}"},
        {CRD_TEXT("9 d10 10 1 11 d-0.5 12 1 13 5 14 0 15 'p' 16 2 17 1 18 1 19 d1e-9"),
         "{'maximum':10,'exclusiveMaximum':true,'minimum':-0.5,'exclusiveMinimum':true,"
         "'maxLength':5,'minLength':0,'pattern':'p','maxItems':2,'minItems':1,'uniqueItems':true,"
         "'multipleOf':1e-9}"},
        {CRD_TEXT("20 {1 '\"a\"'} 20 {1 '1'} 20 {1 'null'} 21 3 22 0 23 'a' 23 'b'"),
         "{'enum':['a',1,null],'maxProperties':3,'minProperties':0,'required':['a','b']}"},
        {CRD_TEXT("24 {1 {5 'x'}}"), "{'items':{'type':'x'}}"},
        {CRD_TEXT("24 {2 {5 'x'} 2 {}}"), "{'items':[{'type':'x'},{}]}"},
        {CRD_TEXT("24 {1 {5 'x'} 2 {5 'y'}}"), "{'items':[{'type':'y'}]}"},
        {CRD_TEXT("24 {}"), "{'items':null}"},
        {CRD_TEXT("25 {5 'a'} 26 {5 'b'} 27 {5 'c'} 28 {5 'd'}"),
         "{'allOf':[{'type':'a'}],'oneOf':[{'type':'b'}],'anyOf':[{'type':'c'}],"
         "'not':{'type':'d'}}"},
        {CRD_TEXT("29 {1 'p' 2 {29 {1 'q' 2 {5 'x'}}}} 31 {1 '^a' 2 {}}"),
         "{'properties':{'p':{'properties':{'q':{'type':'x'}}}},'patternProperties':{'^a':{}}}"},
        {CRD_TEXT("30 {1 0} 33 {1 1}"), "{'additionalProperties':false,'additionalItems':true}"},
        {CRD_TEXT("30 {1 0 2 {5 'x'}} 33 {}"),
         "{'additionalProperties':{'type':'x'},'additionalItems':false}"},
        {CRD_TEXT("32 {1 'a' 2 {2 'x' 2 'y'}} 32 {1 'b' 2 {1 {5 'o'}}} 32 {1 'c'}"),
         "{'dependencies':{'a':['x','y'],'b':{'type':'o'},'c':null}}"},
        {CRD_TEXT("34 {1 'D' 2 {5 'x'}} 35 {1 'd' 2 'u'} 36 {1 '[true]'} 37 1"),
         "{'definitions':{'D':{'type':'x'}},'externalDocs':{'description':'d','url':'u'},"
         "'example':[true],'nullable':true}"},
        {CRD_TEXT("38 0 39 1 40 1 41 'k' 42 'map' 43 'atomic'"),
         "{'x-kubernetes-preserve-unknown-fields':false,'x-kubernetes-embedded-resource':true,"
         "'x-kubernetes-int-or-string':true,'x-kubernetes-list-map-keys':['k'],"
         "'x-kubernetes-list-type':'map','x-kubernetes-map-type':'atomic'}"},
        {CRD_TEXT("44 {1 'self.a' 2 'm' 3 'e' 4 'FieldValueInvalid' 5 '.p' 6 0} 44 {}"),
         "{'x-kubernetes-validations':[{'rule':'self.a','message':'m','messageExpression':'e',"
         "'reason':'FieldValueInvalid','fieldPath':'.p','optionalOldSelf':false},{'rule':''}]}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct vd_buf want = {0};
        vd_buf_addf(&want, "%s%s%s", CRD_HEAD, cases[i].json, CRD_TAIL);
        check_message("apiextensions.k8s.io/v1", "CustomResourceDefinition", cases[i].text,
                      vd_buf_text(&want));
        vd_buf_release(&want);
    }
}

static void times_are_rfc_3339_in_utc(void **state)
{
    (void)state;
    static const struct {
        const char *time, *renew; /* JSON of ObjectMeta's Time and of a MicroTime */
        const char *text;
    } cases[] = {
        {"null", "null", ""},
        {"'1970-01-01T00:00:00Z'", "'1970-01-01T00:00:00.000000Z'", "1 0"},
        {"'1970-01-01T00:00:00Z'", "'1970-01-01T00:00:00.000000Z'", "1 0 2 0"},
        {"'1970-01-01T00:00:00Z'", "'1970-01-01T00:00:00.000001Z'", "2 1999"},
        {"'1969-12-31T23:59:59Z'", "'1969-12-31T23:59:59.999999Z'", "1 -1 2 999999999"},
        {"'2024-02-29T12:34:56Z'", "'2024-02-29T12:34:56.000000Z'", "1 1709210096"},
        {"'9999-12-31T23:59:59Z'", "'9999-12-31T23:59:59.000000Z'", "1 253402300799"},
        {"'0000-01-01T00:00:00Z'", "'0000-01-01T00:00:00.000000Z'", "1 -62167219200"},
        {"null", "null", "1 -62135596800"},
        {"null", "'0001-01-01T00:00:00.000002Z'", "1 -62135596800 2 2000"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct vd_buf text = {0}, want = {0};
        vd_buf_addf(&text, "1 {8 {%s}} 2 {4 {%s}}", cases[i].text, cases[i].text);
        vd_buf_addf(&want, "{'metadata':{'creationTimestamp':%s},'spec':{'renewTime':%s}}",
                    cases[i].time, cases[i].renew);
        check_message("coordination.k8s.io/v1", "Lease", vd_buf_text(&text), vd_buf_text(&want));
        vd_buf_release(&text);
        vd_buf_release(&want);
    }
}

static void fields_combine_as_protobuf_says(void **state)
{
    (void)state;
    static const struct {
        const char *what, *kind, *text, *json;
    } cases[] = {
        {"the last scalar counts", "ConfigMap", "4 0 4 1 1 {1 'a' 7 2 1 'b' 7 0}",
         "{'metadata':{'name':'b','creationTimestamp':null},'immutable':true}"},
        {"a zero takes a value back", "ConfigMap", "1 {1 'a' 1 ''}", "{" META "}"},
        {"messages merge", "ConfigMap",
         "1 {1 'a' 3 'x' 14 'f' 11 {1 'k' 2 'v'}} 2 {1 'd' 2 'e'} 1 {3 'y' 14 'g' 8 {1 1}}"
         "1 {8 {2 7} 11 {1 'j'}}",
         "{'metadata':{'name':'a','namespace':'y','creationTimestamp':'1970-01-01T00:00:01Z',"
         "'labels':{'j':'','k':'v'},'finalizers':['f','g']},'data':{'d':'e'}}"},
        {"maps are sorted and keep the last of a key", "ConfigMap",
         "2 {1 'b' 2 '1'} 2 {1 'a' 2 '2'} 2 {1 'b' 2 '3'} 2 {2 '4'} 2 {1 'a\x7f' 2 ''}",
         "{" META ",'data':{'':'4','a':'2','a\x7f':'','b':'3'}}"},
        {"a key may come twice, or behind its value", "ConfigMap", "2 {2 'v' 1 'x' 1 'k' 2 'w'}",
         "{" META ",'data':{'k':'w'}}"},
        {"any number but 0 is true", "ConfigMap", "4 300", "{" META ",'immutable':true}"},
        {"an int32 is cut to 32 bits", "Event", "8 4294967297 11 {1 -5}",
         "{" META ",'involvedObject':{},'source':{},'firstTimestamp':null,'lastTimestamp':null,"
         "'count':1,'eventTime':null,'series':{'count':-5,'lastObservedTime':null},"
         "'reportingComponent':'','reportingInstance':''}"},
        {"an int64 is not", "DeleteOptions", "1 -9223372036854775808",
         "{'gracePeriodSeconds':-9223372036854775808}"},
        {"text that JSON escapes", "ConfigMap", "2 {1 'k' 2 x0a5c00c3a9}",
         "{" META ",'data':{'k':'\\n\\\\\\u0000\xc3\xa9'}}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        print_message("%s\n", cases[i].what);
        check_message("v1", cases[i].kind, cases[i].text, cases[i].json);
    }
}

/* --- unknown fields --- */

struct unknowns {
    size_t calls;
    struct vd_protobuf_unknown p[VD_PROTOBUF_UNKNOWN_MAX];
};

static void note_unknown(void *context, const struct vd_protobuf_unknown *unknown)
{
    struct unknowns *unknowns = context;
    assert_true(unknowns->calls < VD_PROTOBUF_UNKNOWN_MAX);
    unknowns->p[unknowns->calls++] = *unknown;
}

static void unknown_fields_are_skipped_and_reported(void **state)
{
    (void)state;
    struct vd_buf body = {0}, text = {0};
    /* 23 bytes come before the message. */
    protobuf_text_add_body(&body, "v1", "ConfigMap", "1 {15 7 1 'n'} 2 {1 'a' 3 d1.5} 99 {1 'x'}");
    struct vd_arena arena = {0};
    struct vd_error error = {0};
    struct vd_json *document;
    struct unknowns unknowns = {0};
    size_t count = 77;
    struct vd_protobuf_options options = {
        .unknown_count = &count, .on_unknown = note_unknown, .context = &unknowns};
    assert_ok(vd_protobuf_decode(&arena, vd_buf_slice(&body), &options, &document, &error), &error);
    vd_json_write(&text, document);
    assert_slice(vd_buf_slice(&text), "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{"
                                      "\"name\":\"n\",\"creationTimestamp\":null},"
                                      "\"data\":{\"a\":\"\"}}");
    assert_int_equal(count, 3);
    assert_int_equal(unknowns.calls, 3);
    static const struct vd_protobuf_unknown want[] = {
        {"ConfigMap", 3, 35}, {"ConfigMap", 99, 44}, {"ObjectMeta", 15, 25}};
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(unknowns.p[i].message, want[i].message);
        assert_int_equal(unknowns.p[i].number, want[i].number);
        assert_int_equal(unknowns.p[i].offset, want[i].offset);
    }
    vd_buf_release(&body);
    vd_buf_release(&text);
    vd_arena_release(&arena);
}

static void many_unknown_fields_are_only_counted(void **state)
{
    (void)state;
    struct vd_buf body = {0}, text = {0};
    for (int i = 0; i < VD_PROTOBUF_UNKNOWN_MAX + 5; i++)
        vd_buf_add_text(&text, "77 1 ");
    protobuf_text_add_body(&body, "v1", "ConfigMap", vd_buf_text(&text));
    struct vd_arena arena = {0};
    struct vd_json *document;
    struct unknowns unknowns = {0};
    size_t count = 0;
    struct vd_protobuf_options options = {
        .unknown_count = &count, .on_unknown = note_unknown, .context = &unknowns};
    assert_code(vd_protobuf_decode(&arena, vd_buf_slice(&body), &options, &document, NULL), VD_OK);
    assert_int_equal(count, VD_PROTOBUF_UNKNOWN_MAX + 5);
    assert_int_equal(unknowns.calls, VD_PROTOBUF_UNKNOWN_MAX);
    vd_buf_release(&body);
    vd_buf_release(&text);
    vd_arena_release(&arena);
}

/* --- what is refused --- */

static void malformed_messages_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *kind, *text, *says;
    } cases[] = {
        {"ConfigMap", "1 5", "ConfigMap.metadata, at byte 23: has wire type 0, not 2"},
        {"ConfigMap", "4 'x'", "ConfigMap.immutable, at byte 23: has wire type 2, not 0"},
        {"ConfigMap", "2 7", "ConfigMap.data, at byte 23: has wire type 0, not 2"},
        {"ConfigMap", "1 {1 xff}", "ObjectMeta.name, at byte 25: a string is not valid UTF-8"},
        {"ConfigMap", "1 {14 xc0af}", "ObjectMeta.finalizers, at byte 25: a string is not"},
        {"ConfigMap", "1 {11 {1 xeda080}}", "ObjectMeta.labels, at byte 25: a string is not"},
        {"ConfigMap", "2 {2 x80}", "ConfigMap.data, at byte 23: a string is not valid UTF-8"},
        {"ConfigMap", "2 {1 5}", "ConfigMap.data, at byte 25: the key of an entry has wire type 0"},
        {"ConfigMap", "2 {2 d1}", "the value of an entry has wire type 1, not 2"},
        {"ConfigMap", "2 x0a05", "ConfigMap.data, at byte 25: an entry is broken: it is longer"},
        {"ConfigMap", "1 x0a", "ObjectMeta, at byte 25: a field is broken: a number is cut off"},
        {"ConfigMap", "1 x0b0c", "ObjectMeta, at byte 25: a field is broken: its wire type is a g"},
        {"ConfigMap", "1 {1 'a'} 1 x00", "ObjectMeta, at byte 30: a field is broken: its field n"},
        {"ConfigMap", "1 {17 {7 {1 '{'}}}", "FieldsV1.Raw, at byte 32: "},
        {"ConfigMap", "1 {17 {7 {1 '{} {}'}}}", "FieldsV1.Raw, at byte 32: "},
        {"ConfigMap", "1 {8 {1 253402300800}}", "Time.seconds, at byte 27: is not in the years"},
        {"ConfigMap", "1 {8 {1 -62167219201}}", "Time.seconds, at byte 27: is not in the years"},
        {"ConfigMap", "1 {8 {2 1000000000}}", "Time.nanos, at byte 27: is not 0 to 999999999"},
        {"ConfigMap", "1 {8 {2 -1}}", "Time.nanos, at byte 27: is not 0 to 999999999"},
        {"Service", "2 {1 {4 {1 2}}}", "IntOrString.type, at byte 27: is neither 0 (int) nor 1"},
        {"Service", "2 {1 {4 {1 1 3 xff}}}", "IntOrString.strVal, at byte 29: a string is not"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct vd_buf body = {0};
        protobuf_text_add_body(&body, "v1", cases[i].kind, cases[i].text);
        check_refused(vd_buf_slice(&body), VD_ERR_INVALID, cases[i].says);
        vd_buf_release(&body);
    }
}

static void doubles_that_json_cannot_write_are_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {"9 dinf", "9 d-inf", "19 dnan"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct vd_buf body = {0}, text = {0};
        vd_buf_addf(&text, CRD_TEXT("%s"), texts[i]);
        protobuf_text_add_body(&body, "apiextensions.k8s.io/v1", "CustomResourceDefinition",
                               vd_buf_text(&text));
        check_refused(vd_buf_slice(&body), VD_ERR_INVALID,
                      "JSON has no number for infinity or NaN");
        vd_buf_release(&body);
        vd_buf_release(&text);
    }
}

/* --- limits --- */

/* A definition whose schema nests: `levels` times "not", each an object in the document, and
 * innermost an example of `innermost`. The schema itself is the 6th object around. */
static void nested_body(struct vd_buf *body, size_t levels, const char *innermost)
{
    struct vd_buf schema = {0}, outer = {0}, text = {0}, raw = {0};
    vd_buf_addf(&text, "36 {1 '%s'}", innermost);
    protobuf_text_add(&schema, vd_buf_text(&text));
    for (size_t i = 0; i < levels; i++) {
        vd_buf_reset(&outer);
        protobuf_add_bytes(&outer, 28, vd_buf_slice(&schema));
        struct vd_buf swap = schema;
        schema = outer;
        outer = swap;
    }
    static const unsigned path[] = {1, 4, 7, 2}; /* openAPIV3Schema, schema, versions, spec */
    for (size_t i = 0; i < sizeof path / sizeof path[0]; i++) {
        vd_buf_reset(&outer);
        protobuf_add_bytes(&outer, path[i], vd_buf_slice(&schema));
        struct vd_buf swap = schema;
        schema = outer;
        outer = swap;
    }
    protobuf_text_add_body(&raw, "apiextensions.k8s.io/v1", "CustomResourceDefinition", "");
    vd_buf_add_slice(body, vd_buf_slice(&raw));
    protobuf_add_bytes(body, 2, vd_buf_slice(&schema));
    vd_buf_release(&schema);
    vd_buf_release(&outer);
    vd_buf_release(&text);
    vd_buf_release(&raw);
}

static void depth_is_limited(void **state)
{
    (void)state;
    static const struct {
        size_t levels;
        const char *innermost;
        const char *says; /* NULL: accepted */
    } cases[] = {
        {VD_JSON_DEPTH_MAX - 7, "[]", NULL},
        {VD_JSON_DEPTH_MAX - 7, "[[]]", "deep"},
        {VD_JSON_DEPTH_MAX - 6, "1", NULL},
        {VD_JSON_DEPTH_MAX - 6, "[]", "JSON.raw, at byte"},
        {VD_JSON_DEPTH_MAX - 5, "1", "JSONSchemaProps, at byte"},
        {5000, "1", "nests deeper than 512 levels"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct vd_buf body = {0};
        struct vd_arena arena = {0};
        struct vd_json *document = NULL;
        nested_body(&body, cases[i].levels, cases[i].innermost);
        if (cases[i].says) {
            check_refused(vd_buf_slice(&body), VD_ERR_LIMIT, cases[i].says);
        } else {
            assert_code(vd_protobuf_decode(&arena, vd_buf_slice(&body), NULL, &document, NULL),
                        VD_OK);
            assert_int_equal(vd_json_depth(document), VD_JSON_DEPTH_MAX);
        }
        vd_buf_release(&body);
        vd_arena_release(&arena);
    }
}

/* Two bytes make an event of a dozen values. */
static void values_are_limited(void **state)
{
    (void)state;
    struct vd_buf body = {0}, raw = {0};
    while (raw.n < 400000)
        vd_buf_add(&raw, "\x12", 2);
    protobuf_text_add_body(&body, "events.k8s.io/v1", "EventList", "");
    protobuf_add_bytes(&body, 2, vd_buf_slice(&raw));
    check_refused(vd_buf_slice(&body), VD_ERR_LIMIT, "more than 1000000 values in one document");
    vd_buf_release(&body);
    vd_buf_release(&raw);
}

/* As many keys as fit, all of them twice: not to be compared each with each. */
static void large_maps_are_sorted(void **state)
{
    (void)state;
    enum { KEYS = 150000 };
    struct vd_buf body = {0}, raw = {0};
    for (int i = 0; i < 2 * KEYS; i++) {
        char entry[32];
        int n = snprintf(entry, sizeof entry, "\x12\x08\n\x06%06d", (KEYS - i % KEYS) % 1000000);
        vd_buf_add(&raw, entry, (size_t)n);
    }
    protobuf_text_add_body(&body, "v1", "ConfigMap", "");
    protobuf_add_bytes(&body, 2, vd_buf_slice(&raw));
    struct vd_arena arena = {0};
    struct vd_error error = {0};
    struct vd_json *document;
    assert_ok(vd_protobuf_decode(&arena, vd_buf_slice(&body), NULL, &document, &error), &error);
    const struct vd_json *data = vd_json_dig(document, "data", NULL);
    assert_int_equal(vd_json_count(data), KEYS);
    assert_slice(vd_json_key(vd_json_first(data)), "000001");
    vd_buf_release(&body);
    vd_buf_release(&raw);
    vd_arena_release(&arena);
}

static void length_is_limited(void **state)
{
    (void)state;
    char *bytes = calloc(1, VD_BODY_LEN_MAX + 1);
    assert_non_null(bytes);
    memcpy(bytes, "k8s", 4);
    check_refused(vd_slice(bytes, VD_BODY_LEN_MAX + 1), VD_ERR_LIMIT, "has 3145729 bytes");
    check_refused(vd_slice(bytes, VD_BODY_LEN_MAX), VD_ERR_INVALID, "at byte 4");
    free(bytes);
}

/* --- the envelope --- */

static void bad_envelopes_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *hex, *says;
    } cases[] = {
        {"", "at byte 0: the first bytes are not \"k8s\" and a NUL"},
        {"7b7d", "at byte 0: the first bytes are not"},
        {"6b387300", "has no kind; send both apiVersion and kind"},
        {"6b3873000a04120241420a", "at byte 10: a number is cut off"},
        {"6b3873000800", "at byte 4: a field has a wire type other than 2"},
        {"6b3873000a020800", "at byte 6: a field has a wire type other than 2"},
        {"6b3873000a040a0576", "at byte 4: it is longer than what holds it"},
        {"6b3873000a031201ff", "at byte 8: a string is not valid UTF-8"},
        {"6b3873000a0412024142", "has no apiVersion; send both"},
        {"6b3873001a0178", "has an encoding; send it without one"},
        {"6b387300220178", "is said not to be protobuf"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct vd_buf body = {0};
        protobuf_add_hex(&body, cases[i].hex);
        check_refused(vd_buf_slice(&body), VD_ERR_INVALID, cases[i].says);
        vd_buf_release(&body);
    }
}

static void unknown_kinds_are_not_found(void **state)
{
    (void)state;
    struct vd_buf body = {0};
    protobuf_text_add_body(&body, "apps/v1", "Deploy\nment", "");
    check_refused(vd_buf_slice(&body), VD_ERR_NOT_FOUND,
                  "kind \"Deploy\\nment\" of \"apps/v1\"; send it as JSON or YAML");
    vd_buf_release(&body);
}

/* Behind the envelope's back: a path says what is posted to it. */
static void options_say_what_a_silent_envelope_holds(void **state)
{
    (void)state;
    static const struct {
        const char *type_meta, *json;
    } cases[] = {
        {"", "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\"}"},
        {"1 {1 'x/v2'}", "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"x/v2\"}"},
        {"1 {2 'GetOptions'}", "{\"kind\":\"GetOptions\",\"apiVersion\":\"v1\"}"},
        {"1 {} 4 'application/vnd.kubernetes.protobuf'",
         "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\"}"},
    };
    const struct vd_protobuf_options options = {.api_version = VD_SLICE("v1"),
                                                .kind = VD_SLICE("DeleteOptions")};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct vd_buf body = {0}, text = {0};
        struct vd_arena arena = {0};
        struct vd_error error = {0};
        struct vd_json *document;
        vd_buf_add(&body, "k8s", 4);
        protobuf_text_add(&body, cases[i].type_meta);
        assert_ok(vd_protobuf_decode(&arena, vd_buf_slice(&body), &options, &document, &error),
                  &error);
        vd_json_write(&text, document);
        assert_slice(vd_buf_slice(&text), cases[i].json);
        vd_buf_release(&body);
        vd_buf_release(&text);
        vd_arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schemas_become_json),
        cmocka_unit_test(times_are_rfc_3339_in_utc),
        cmocka_unit_test(fields_combine_as_protobuf_says),
        cmocka_unit_test(unknown_fields_are_skipped_and_reported),
        cmocka_unit_test(many_unknown_fields_are_only_counted),
        cmocka_unit_test(malformed_messages_are_refused),
        cmocka_unit_test(doubles_that_json_cannot_write_are_refused),
        cmocka_unit_test(depth_is_limited),
        cmocka_unit_test(values_are_limited),
        cmocka_unit_test(large_maps_are_sorted),
        cmocka_unit_test(length_is_limited),
        cmocka_unit_test(bad_envelopes_are_refused),
        cmocka_unit_test(unknown_kinds_are_not_found),
        cmocka_unit_test(options_say_what_a_silent_envelope_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
