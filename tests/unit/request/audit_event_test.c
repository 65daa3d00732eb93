/* src/request/audit_event.c: the lines, letter by letter. */
#include "request/audit_event.h"

#include "check.h"

#define TIMES                                                                                      \
    ",\"requestReceivedTimestamp\":\"2026-11-15T09:35:21.042317Z\","                               \
    "\"stageTimestamp\":\"2026-11-15T09:35:21.042999Z\""

static struct vd_audit_event event_of(const struct vd_access *access)
{
    return (struct vd_audit_event){.level = VD_AUDIT_METADATA,
                                   .stage = VD_AUDIT_COMPLETE,
                                   .id = VD_SLICE("7"),
                                   .uri = VD_SLICE("/x"),
                                   .access = access,
                                   .received_us = 1794735321042317,
                                   .stage_us = 1794735321042999};
}

static void assert_line(const struct vd_audit_event *event, const char *line)
{
    struct vd_buf out = {0};
    vd_audit_event_write(&out, event);
    assert_slice(vd_buf_slice(&out), line);
    vd_buf_release(&out);
}

static void test_a_path_and_nobody(void **state)
{
    struct vd_access access = {.verb = VD_SLICE("get"), .path = VD_SLICE("/x")};
    struct vd_audit_event event = event_of(&access);
    (void)state;
    assert_line(&event, "{\"kind\":\"Event\",\"apiVersion\":\"audit.k8s.io/v1\",\"level\":"
                        "\"Metadata\",\"auditID\":\"7\",\"stage\":\"ResponseComplete\","
                        "\"requestURI\":\"/x\",\"verb\":\"get\",\"user\":{}" TIMES "}\n");
}

static void test_everything(void **state)
{
    struct vd_slice group = VD_SLICE("dev"), value = VD_SLICE("v");
    struct vd_user_extra extra = {VD_SLICE("k"), &value, 1};
    struct vd_user *ann = vd_user_new(&(struct vd_identity){.name = VD_SLICE("ann"),
                                                            .uid = VD_SLICE("u"),
                                                            .groups = &group,
                                                            .groups_n = 1,
                                                            .extra = &extra,
                                                            .extra_n = 1,
                                                            .method = VD_AUTH_OIDC});
    struct vd_user *bob = vd_user_new(&(struct vd_identity){
        .name = VD_SLICE("b\"ob"), .impersonator = ann, .method = VD_AUTH_ANONYMOUS});
    struct vd_access access = {.user = bob,
                               .verb = VD_SLICE("create"),
                               .group = VD_SLICE("apps"),
                               .resource = VD_SLICE("deployments"),
                               .subresource = VD_SLICE("status"),
                               .namespace = VD_SLICE("ns")};
    struct vd_audit_event event = event_of(&access);
    (void)state;
    event.level = VD_AUDIT_REQUEST_RESPONSE;
    event.api_version = VD_SLICE("v1");
    event.name = VD_SLICE("d");
    event.source_ips = VD_SLICE("192.0.2.1,::1");
    event.agent = VD_SLICE("a\xff\n");
    event.status = 409;
    event.status_text = VD_SLICE("Failure");
    event.reason = VD_SLICE("Conflict");
    event.message = VD_SLICE("no");
    event.request = VD_SLICE("{\"a\":1}");
    event.response = VD_SLICE("{}");
    event.decision = VD_SLICE("allow");
    event.decision_reason = VD_SLICE("");
    assert_line(&event,
                "{\"kind\":\"Event\",\"apiVersion\":\"audit.k8s.io/v1\",\"level\":"
                "\"RequestResponse\",\"auditID\":\"7\",\"stage\":\"ResponseComplete\","
                "\"requestURI\":\"/x\",\"verb\":\"create\",\"user\":{\"username\":\"ann\","
                "\"uid\":\"u\",\"groups\":[\"dev\",\"system:authenticated\"],\"extra\":{\"k\":"
                "[\"v\"]}},\"impersonatedUser\":{\"username\":\"b\\\"ob\"},\"sourceIPs\":"
                "[\"192.0.2.1\",\"::1\"],\"userAgent\":\"a?\\n\",\"objectRef\":{\"resource\":"
                "\"deployments\",\"namespace\":\"ns\",\"name\":\"d\",\"apiGroup\":\"apps\","
                "\"apiVersion\":\"v1\",\"subresource\":\"status\"},\"responseStatus\":{"
                "\"metadata\":{},\"status\":\"Failure\",\"message\":\"no\",\"reason\":"
                "\"Conflict\",\"code\":409},\"requestObject\":{\"a\":1},\"responseObject\":{}" TIMES
                ",\"annotations\":{\"authorization.k8s.io/decision\":\"allow\","
                "\"authorization.k8s.io/reason\":\"\"}}\n");
    vd_user_unref(bob);
    vd_user_unref(ann);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_path_and_nobody),
        cmocka_unit_test(test_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
