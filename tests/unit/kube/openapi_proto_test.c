/* src/kube/openapi/proto.c: the message openapi.v2.Document. */
#include "kube/openapi/proto.h"

#include "json_check.h"
#include "kinds/builtin.h"
#include "kube/openapi/v2.h"
#include "kube/protobuf/wire.h"

/* The message as text: 1:"a" for texts, 2:{..} for what reads as a message by the
 * dotted path of its fields, 3:4 for numbers. Which bytes are messages cannot be
 * seen, so the caller's `messages` lists their numbers' paths. */
static void show(struct vd_buf *out, struct vd_slice bytes, const char *path, const char *messages)
{
    struct vd_wire wire = vd_wire_of(bytes);
    struct vd_wire_field field;
    bool first = true;
    while (vd_wire_next(&wire, &field)) {
        struct vd_buf here = {0};
        vd_buf_addf(&here, "%s.%u ", path, field.number);
        vd_buf_addf(out, "%s%u:", first ? "" : " ", field.number);
        first = false;
        bool message = strstr(messages, vd_buf_text(&here)) != NULL;
        here.p[--here.n] = 0;
        if (field.type != VD_WIRE_BYTES) {
            vd_buf_addf(out, "%llx", (unsigned long long)field.value);
        } else if (message) {
            vd_buf_add_char(out, '{');
            show(out, field.bytes, vd_buf_text(&here), messages);
            vd_buf_add_char(out, '}');
        } else {
            vd_buf_addf(out, "'%.*s'", VD_FMT(field.bytes));
        }
        vd_buf_release(&here);
    }
    assert_null(wire.problem);
}

static void assert_shows(struct vd_arena *a, const char *json, const char *messages,
                         const char *want)
{
    struct vd_buf bytes = {0}, text = {0};
    vd_openapi_proto_write(&bytes, json_of(a, json));
    show(&text, vd_buf_slice(&bytes), "", messages);
    assert_slice(vd_buf_slice(&text), want);
    vd_buf_release(&bytes);
    vd_buf_release(&text);
}

static void a_small_document_is_these_bytes(void **state)
{
    static const char want[] = "\x0a\x03"
                               "2.0"
                               "\x12\x07\x0a\x01T\x12\x02v1"
                               "\x4a\x0e\x0a\x0c\x0a\x01X\x12\x07\xb2\x01\x04\x0a\x02ob";
    struct vd_buf bytes = {0};
    vd_openapi_proto_write(&bytes, json_of(*state, "{\"swagger\":\"2.0\",\"info\":{\"title\":\"T\","
                                                   "\"version\":\"v1\"},\"definitions\":{\"X\":{"
                                                   "\"type\":\"ob\"}}}"));
    assert_int_equal(bytes.n, sizeof want - 1);
    assert_memory_equal(bytes.p, want, sizeof want - 1);
    vd_buf_release(&bytes);
}

#define DEFINITION ".9 .9.1 .9.1.2 "
#define SHOWN(x)   "9:{1:{1:'X' 2:{" x "}}}"

static void schemas_are_written_field_by_field(void **state)
{
    static const struct {
        const char *schema, *messages, *want;
    } cases[] = {
        {"{\"$ref\":\"#/d\",\"description\":\"D\"}", DEFINITION, SHOWN("1:'#/d' 4:'D'")},
        {"{\"type\":\"string\",\"format\":\"byte\",\"pattern\":\"^a\"}", DEFINITION ".9.1.2.22 ",
         SHOWN("22:{1:'string'} 2:'byte' 13:'^a'")},
        {"{\"maxLength\":300,\"minimum\":1,\"exclusiveMinimum\":true,\"uniqueItems\":false}",
         DEFINITION, SHOWN("11:12c 9:3ff0000000000000 10:1")},
        {"{\"required\":[\"a\",\"b\"]}", DEFINITION, SHOWN("19:'a' 19:'b'")},
        {"{\"enum\":[\"a\",1],\"default\":{}}", DEFINITION ".9.1.2.20 .9.1.2.5 ",
         SHOWN("20:{2:'\"a\"\n'} 20:{2:'1\n'} 5:{2:'{}\n'}")},
        {"{\"items\":{\"format\":\"f\"}}", DEFINITION ".9.1.2.23 .9.1.2.23.1 ",
         SHOWN("23:{1:{2:'f'}}")},
        {"{\"additionalProperties\":{\"format\":\"f\"}}", DEFINITION ".9.1.2.21 .9.1.2.21.1 ",
         SHOWN("21:{1:{2:'f'}}")},
        {"{\"additionalProperties\":true}", DEFINITION ".9.1.2.21 ", SHOWN("21:{2:1}")},
        {"{\"properties\":{\"p\":{\"format\":\"f\"}}}",
         DEFINITION ".9.1.2.25 .9.1.2.25.1 .9.1.2.25.1.2 ", SHOWN("25:{1:{1:'p' 2:{2:'f'}}}")},
        {"{\"x-a\":[1],\"unknown\":1}", DEFINITION ".9.1.2.31 .9.1.2.31.2 ",
         SHOWN("31:{1:'x-a' 2:{2:'[1]\n'}}")},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_buf json = {0};
        vd_buf_addf(&json, "{\"definitions\":{\"X\":%s}}", cases[i].schema);
        assert_shows(*state, vd_buf_text(&json), cases[i].messages, cases[i].want);
        vd_arena_reset(*state);
        vd_buf_release(&json);
    }
}

static void operations_are_written_with_their_wrappers(void **state)
{
    assert_shows(
        *state,
        "{\"paths\":{\"/a\":{\"patch\":{\"operationId\":\"o\",\"parameters\":["
        "{\"name\":\"q\",\"in\":\"query\",\"type\":\"string\"},"
        "{\"name\":\"n\",\"in\":\"path\",\"type\":\"string\",\"required\":true},"
        "{\"name\":\"body\",\"in\":\"body\",\"schema\":{\"format\":\"f\"}}],"
        "\"responses\":{\"200\":{\"description\":\"OK\",\"schema\":{\"format\":\"f\"}}},"
        "\"x-k\":{\"v\":1}}}}}",
        " .8 .8.2 .8.2.2 .8.2.2.8 .8.2.2.8.8 .8.2.2.8.8.1 .8.2.2.8.8.1.1 .8.2.2.8.8.1.1.5 "
        ".8.2.2.8.8.1.2 .8.2.2.8.8.1.2.3 .8.2.2.8.8.1.2.4 .8.2.2.8.9 .8.2.2.8.9.1 "
        ".8.2.2.8.9.1.2 .8.2.2.8.9.1.2.1 .8.2.2.8.9.1.2.1.2 .8.2.2.8.9.1.2.1.2.1 .8.2.2.8.13 "
        ".8.2.2.8.13.2 ",
        "8:{2:{1:'/a' 2:{8:{5:'o' "
        "8:{1:{2:{3:{4:'q' 2:'query' 6:'string'}}}} "
        "8:{1:{2:{4:{4:'n' 2:'path' 5:'string' 1:1}}}} "
        "8:{1:{1:{2:'body' 3:'body' 5:{2:'f'}}}} "
        "9:{1:{1:'200' 2:{1:{1:'OK' 2:{1:{2:'f'}}}}}} "
        "13:{1:'x-k' 2:{2:'{\"v\":1}\n'}}}}}}");
}

/* The field `number` of the message, which has one. */
static struct vd_slice field_of(struct vd_slice message, uint32_t number)
{
    struct vd_wire wire = vd_wire_of(message);
    struct vd_wire_field field;
    while (vd_wire_next(&wire, &field)) {
        if (field.number == number)
            return field.bytes;
    }
    fail_msg("no field %u", number);
    return VD_SLICE("");
}

static void all_built_in_definitions_are_in_the_message(void **state)
{
    struct vd_kinds *kinds = vd_kinds_new_builtin();
    struct vd_kind_set *set = vd_kinds_snapshot(kinds);
    struct vd_json *document = vd_openapi_v2(*state, set, VD_SLICE("v1.32.4"));
    struct vd_json *want = vd_json_first(vd_json_get(document, VD_SLICE("definitions")));
    struct vd_buf bytes = {0};
    vd_openapi_proto_write(&bytes, document);
    struct vd_wire wire = vd_wire_of(field_of(vd_buf_slice(&bytes), 9));
    struct vd_wire_field pair;
    for (; vd_wire_next(&wire, &pair); want = vd_json_next(want)) {
        assert_non_null(want);
        assert_true(vd_slice_eq(field_of(pair.bytes, 1), vd_json_key(want)));
    }
    assert_null(wire.problem);
    assert_null(want);
    vd_buf_release(&bytes);
    vd_kind_set_unref(set);
    vd_kinds_free(kinds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        arena_test(a_small_document_is_these_bytes),
        arena_test(schemas_are_written_field_by_field),
        arena_test(operations_are_written_with_their_wrappers),
        arena_test(all_built_in_definitions_are_in_the_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
