/* src/kube/protobuf/envelope.c: what a body says about itself. Bad ones are refused in
 * protobuf_test.c. */
#include "kube/protobuf/envelope.h"

#include "base/buf.h"
#include "check.h"
#include "protobuf_text.h"

static void envelopes_are_read(void **state)
{
    (void)state;
    struct vd_buf body = {0};
    struct vd_error error = {0};
    struct vd_protobuf_envelope e;
    vd_buf_add(&body, "k8s", 4);
    protobuf_text_add(&body, "4 'type' 3 'gzip' 2 'old' 1 {2 'Lease' 1 'g/v1' 9 1} 2 'raw' 12 'x'");
    assert_ok(vd_protobuf_envelope_read(vd_buf_slice(&body), &e, &error), &error);
    assert_slice(e.api_version, "g/v1");
    assert_slice(e.kind, "Lease");
    assert_slice(e.raw, "raw");
    assert_slice(e.content_encoding, "gzip");
    assert_slice(e.content_type, "type");
    vd_buf_reset(&body);
    vd_buf_add(&body, "k8s", 4);
    assert_ok(vd_protobuf_envelope_read(vd_buf_slice(&body), &e, &error), &error);
    assert_slice(e.kind, "");
    assert_slice(e.raw, "");
    vd_buf_release(&body);
}

static void bodies_are_recognised_by_their_first_bytes(void **state)
{
    (void)state;
    assert_true(vd_protobuf_is_kubernetes(vd_slice("k8s", 4)));
    assert_true(vd_protobuf_is_kubernetes(vd_slice("k8s\0\n", 5)));
    assert_false(vd_protobuf_is_kubernetes(vd_slice("k8s", 3)));
    assert_false(vd_protobuf_is_kubernetes(vd_slice("k8t", 4)));
    assert_false(vd_protobuf_is_kubernetes(VD_SLICE("{\"kind\":\"Lease\"}")));
    assert_false(vd_protobuf_is_kubernetes(vd_slice(NULL, 0)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(envelopes_are_read),
        cmocka_unit_test(bodies_are_recognised_by_their_first_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
