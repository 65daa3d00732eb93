/* src/kube/protobuf/wire.c: fields are read one by one, and nothing past the end. */
#include "kube/protobuf/wire.h"

#include <stdlib.h>

#include "base/buf.h"
#include "check.h"
#include "protobuf_text.h"

static void fields_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *hex;
        uint32_t number;
        enum vd_wire_type type;
        uint64_t value;
        const char *bytes;
    } cases[] = {
        {"0800", 1, VD_WIRE_VARINT, 0, ""},
        {"38ac02", 7, VD_WIRE_VARINT, 300, ""},
        {"088000", 1, VD_WIRE_VARINT, 0, ""}, /* longer than it need be */
        {"08ffffffffffffffffff01", 1, VD_WIRE_VARINT, UINT64_MAX, ""},
        {"f8ffffff0f01", 536870911, VD_WIRE_VARINT, 1, ""},
        {"0a00", 1, VD_WIRE_BYTES, 0, ""},
        {"0a027631", 1, VD_WIRE_BYTES, 0, "v1"},
        {"a20101"
         "78",
         20, VD_WIRE_BYTES, 0, "x"},
        {"090102030405060708", 1, VD_WIRE_FIXED64, 0x0807060504030201, ""},
        {"0d01020304", 1, VD_WIRE_FIXED32, 0x04030201, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct vd_buf bytes = {0};
        protobuf_add_hex(&bytes, cases[i].hex);
        struct vd_wire wire = vd_wire_of(vd_buf_slice(&bytes));
        struct vd_wire_field field;
        assert_true(vd_wire_next(&wire, &field));
        assert_int_equal(field.number, cases[i].number);
        assert_int_equal(field.type, cases[i].type);
        assert_true(field.value == cases[i].value);
        assert_slice(field.bytes, cases[i].bytes);
        assert_ptr_equal(field.at, bytes.p);
        assert_false(vd_wire_next(&wire, &field));
        assert_null(wire.problem);
        vd_buf_release(&bytes);
    }
}

static void broken_fields_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *hex, *problem;
    } cases[] = {
        {"80", "a number is cut off"},
        {"08", "a number is cut off"},
        {"08ff", "a number is cut off"},
        {"08ffffffffffffffffff02", "a number has more than 64 bits"},
        {"08ffffffffffffffffffff01", "a number has more than 64 bits"},
        {"ffffffffffffffffffff01", "a number has more than 64 bits"},
        {"0901020304050607", "a number is cut off"},
        {"0d010203", "a number is cut off"},
        {"0a", "a number is cut off"},
        {"0a0161"
         "0a02"
         "61",
         "it is longer than what holds it"},
        {"0affffffffffffffffff01", "it is longer than what holds it"},
        {"0000", "its field number is out of range"},
        {"0200", "its field number is out of range"},
        {"808080801000", "its field number is out of range"},
        {"0b0c", "its wire type is a group's"},
        {"0c", "its wire type is a group's"},
        {"0e00", "its wire type is a group's or none"},
        {"0f00", "its wire type is a group's or none"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct vd_buf bytes = {0};
        protobuf_add_hex(&bytes, cases[i].hex);
        /* An exact copy, so that a sanitizer sees a byte too many. */
        char *copy = malloc(bytes.n);
        assert_non_null(copy);
        memcpy(copy, bytes.p, bytes.n);
        struct vd_wire wire = vd_wire_of(vd_slice(copy, bytes.n));
        struct vd_wire_field field;
        while (vd_wire_next(&wire, &field))
            ;
        if (!wire.problem || !strstr(wire.problem, cases[i].problem))
            fail_msg("%s: got \"%s\", want \"%s\"", cases[i].hex,
                     wire.problem ? wire.problem : "nothing", cases[i].problem);
        assert_false(vd_wire_next(&wire, &field));
        assert_non_null(wire.problem);
        free(copy);
        vd_buf_release(&bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_read),
        cmocka_unit_test(broken_fields_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
