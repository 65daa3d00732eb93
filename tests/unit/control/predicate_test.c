/* src/control/predicate.c: which changes a controller runs for. */
#include "check.h"

#include <stdlib.h>

#include "control/predicate.h"
#include "store/collection.h"

#define BEFORE                                                                                     \
    "{\"kind\":\"K\",\"metadata\":{\"name\":\"a\",\"labels\":{\"l\":\"1\"},\"annotations\":{"      \
    "\"a\":"                                                                                       \
    "\"1\"},\"generation\":1,\"resourceVersion\":\"5\"},\"spec\":{\"x\":1},\"status\":{\"y\":1}}"

/* Whether a change of the object from BEFORE to this text counts. */
static bool counts(struct vd_predicate predicate, const char *text)
{
    struct vd_event before = {.type = VD_EVENT_CREATED, .revision = 5},
                    now = {.type = VD_EVENT_UPDATED, .revision = 6};
    before.body = vd_body_new((struct vd_template){vd_slice_of(BEFORE), 0}, 5);
    now.body = vd_body_new((struct vd_template){vd_slice_of(text), 0}, 6);
    bool holds = vd_predicate_holds(&predicate, &(struct vd_change){&now, &before});
    vd_body_unref(before.body);
    vd_body_unref(now.body);
    return holds;
}

/* BEFORE with `from` replaced by `to`. */
static const char *with(const char *from, const char *to)
{
    static char text[1024];
    const char *at = strstr(BEFORE, from);
    assert_non_null(at);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - BEFORE), BEFORE, to, at + strlen(from));
    return text;
}

static void only_what_is_desired_counts(void **state)
{
    struct vd_predicate all = {0};
    (void)state;
    assert_false(counts(all, BEFORE));
    assert_false(counts(all, with("\"5\"", "\"6\"")));
    assert_false(counts(all, with("\"y\":1", "\"y\":2")));
    assert_false(counts(all, with(",\"status\":{\"y\":1}", "")));
    assert_false(counts(all, with("\"resourceVersion\":\"5\"",
                                  "\"resourceVersion\":\"6\",\"managedFields\":[{\"a\":1}]")));
    assert_true(counts(all, with("\"x\":1", "\"x\":2")));
    assert_true(counts(all, with(",\"spec\":{\"x\":1}", "")));
    assert_true(counts(all, with("\"l\":\"1\"", "\"l\":\"2\"")));
    assert_true(counts(all, with("\"a\":\"1\"", "\"b\":\"1\"")));
    assert_true(counts(all, with("\"generation\":1", "\"generation\":2")));
    assert_true(
        counts(all, with("\"generation\":1", "\"generation\":1,\"deletionTimestamp\":\"2026\"")));
    assert_true(counts(all, with("\"generation\":1", "\"finalizers\":[\"f\"],\"generation\":1")));
}

static void a_controller_can_pass_over_more_or_less(void **state)
{
    (void)state;
    struct vd_predicate no_labels = {.ignores_labels = true},
                        no_annotations = {.ignores_annotations = true},
                        status = {.takes_status = true};
    assert_false(counts(no_labels, with("\"l\":\"1\"", "\"l\":\"2\"")));
    assert_true(counts(no_labels, with("\"a\":\"1\"", "\"b\":\"1\"")));
    assert_false(counts(no_annotations, with("\"a\":\"1\"", "\"b\":\"1\"")));
    assert_true(counts(no_annotations, with("\"l\":\"1\"", "\"l\":\"2\"")));
    assert_true(counts(status, with("\"y\":1", "\"y\":2")));
    assert_true(counts(status, with(",\"status\":{\"y\":1}", "")));
}

static void what_is_new_or_gone_counts(void **state)
{
    (void)state;
    struct vd_predicate all = {0};
    struct vd_event now = {.type = VD_EVENT_CREATED};
    assert_true(vd_predicate_holds(&all, &(struct vd_change){&now, NULL}));
    now.type = VD_EVENT_DELETED;
    assert_true(vd_predicate_holds(&all, &(struct vd_change){&now, &now}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_is_desired_counts),
        cmocka_unit_test(a_controller_can_pass_over_more_or_less),
        cmocka_unit_test(what_is_new_or_gone_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
