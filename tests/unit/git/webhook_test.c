/* src/git/webhook.c: signatures, replays and how many calls. */
#include "git/webhook.h"

#include <stdio.h>

#include "base/limits.h"
#include "check.h"

/* echo -n 'hello' | openssl dgst -sha256 -hmac key */
#define SIGNATURE "sha256=9307b3b915efb5171ff14d8cb55fbcc798c6c0ef1456d66ded1a6aa723a58b7b"

static enum vd_webhook_result judge(struct vd_webhooks *w, const char *signature, const char *token,
                                    const char *body, uint64_t now_ms)
{
    struct vd_webhook_request r = {.repository = VD_SLICE("uid"),
                                   .body = vd_slice_of(body),
                                   .signature = vd_slice_of(signature),
                                   .token = vd_slice_of(token)};
    return vd_webhook_judge(w, &r, VD_SLICE("key"), now_ms);
}

static void signatures_are_checked(void **state)
{
    struct vd_webhooks w;
    (void)state;
    vd_webhooks_init(&w);
    assert_int_equal(judge(&w, SIGNATURE, "", "hello", 1), VD_WEBHOOK_ACCEPTED);
    assert_int_equal(judge(&w, SIGNATURE, "", "hellO", 1), VD_WEBHOOK_REFUSED);
    assert_int_equal(judge(&w, SIGNATURE "0", "", "hello", 1), VD_WEBHOOK_REFUSED);
    assert_int_equal(judge(&w, "sha256=", "", "hello", 1), VD_WEBHOOK_REFUSED);
    assert_int_equal(judge(&w, "", "", "hello", 1), VD_WEBHOOK_REFUSED);
    assert_int_equal(judge(&w, "", "key", "other", 1), VD_WEBHOOK_ACCEPTED);
    assert_int_equal(judge(&w, "", "ke", "third", 1), VD_WEBHOOK_REFUSED);
    /* A wrong signature is not made good by a token. */
    assert_int_equal(judge(&w, "sha256=", "key", "fourth", 1), VD_WEBHOOK_REFUSED);
    vd_webhooks_release(&w);
}

static void an_empty_secret_opens_nothing(void **state)
{
    struct vd_webhooks w;
    struct vd_webhook_request r = {.body = VD_SLICE("x"), .token = VD_SLICE("")};
    (void)state;
    vd_webhooks_init(&w);
    assert_int_equal(vd_webhook_judge(&w, &r, VD_SLICE(""), 1), VD_WEBHOOK_REFUSED);
    vd_webhooks_release(&w);
}

static void replays_are_refused_for_a_while(void **state)
{
    struct vd_webhooks w;
    struct vd_webhook_request other = {.repository = VD_SLICE("other"),
                                       .body = VD_SLICE("hello"),
                                       .signature = VD_SLICE(SIGNATURE),
                                       .token = VD_SLICE("")};
    (void)state;
    vd_webhooks_init(&w);
    assert_int_equal(judge(&w, SIGNATURE, "", "hello", 1), VD_WEBHOOK_ACCEPTED);
    assert_int_equal(judge(&w, SIGNATURE, "", "hello", 2), VD_WEBHOOK_REPLAYED);
    assert_int_equal(vd_webhook_judge(&w, &other, VD_SLICE("key"), 2), VD_WEBHOOK_ACCEPTED);
    assert_int_equal(judge(&w, SIGNATURE, "", "hello", VD_GIT_WEBHOOK_WINDOW_MS),
                     VD_WEBHOOK_REPLAYED);
    assert_int_equal(judge(&w, SIGNATURE, "", "hello", VD_GIT_WEBHOOK_WINDOW_MS + 2),
                     VD_WEBHOOK_ACCEPTED);
    vd_webhooks_release(&w);
}

static void calls_that_are_accepted_are_counted(void **state)
{
    struct vd_webhooks w;
    char body[16];
    (void)state;
    vd_webhooks_init(&w);
    for (int i = 0; i < VD_GIT_WEBHOOKS_PER_S; i++) {
        snprintf(body, sizeof body, "body %d", i);
        assert_int_equal(judge(&w, "", "wrong", body, 5000), VD_WEBHOOK_REFUSED);
        assert_int_equal(judge(&w, "", "key", body, 5000), VD_WEBHOOK_ACCEPTED);
    }
    assert_int_equal(judge(&w, "", "key", "one more", 5999), VD_WEBHOOK_LIMITED);
    assert_int_equal(judge(&w, "", "key", "one more", 6000), VD_WEBHOOK_ACCEPTED);
    vd_webhooks_release(&w);
}

static void strangers_send_short_ones(void **state)
{
    struct vd_webhooks w;
    struct vd_slice here = VD_SLICE("here"), there = VD_SLICE("over there");
    (void)state;
    vd_webhooks_init(&w);
    for (int sent = 0; sent < VD_GIT_WEBHOOK_REFUSED_LEN; sent += VD_GIT_WEBHOOK_LEN_MAX) {
        assert_true(vd_webhooks_look(&w, here, VD_GIT_WEBHOOK_LEN_MAX, 5000));
        vd_webhooks_refused(&w, here, VD_GIT_WEBHOOK_LEN_MAX, 5000);
    }
    assert_false(vd_webhooks_look(&w, here, VD_GIT_WEBHOOK_LEN_MAX, 5999));
    assert_true(vd_webhooks_look(&w, here, VD_GIT_WEBHOOK_SHORT_LEN, 5999));
    assert_true(vd_webhooks_look(&w, there, VD_GIT_WEBHOOK_LEN_MAX, 5999));
    assert_true(vd_webhooks_look(&w, here, VD_GIT_WEBHOOK_LEN_MAX, 6000));
    vd_webhooks_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signatures_are_checked),
        cmocka_unit_test(an_empty_secret_opens_nothing),
        cmocka_unit_test(replays_are_refused_for_a_while),
        cmocka_unit_test(calls_that_are_accepted_are_counted),
        cmocka_unit_test(strangers_send_short_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
