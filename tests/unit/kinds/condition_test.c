/* src/kinds/condition.c: conditions that come, turn and go. */
#include "kinds/condition.h"

#include "backtick.h"
#include "json_check.h"
#include "json/write.h"

static void assert_text(const struct vd_json *object, struct vd_arena *a, const char *want)
{
    struct vd_buf text = {0};
    vd_json_write(&text, object);
    assert_slice(vd_buf_slice(&text), backtick(a, want));
    vd_buf_release(&text);
}

#define READY(status, reason, time)                                                                \
    "{`type`:`Ready`,`status`:`" status "`,`lastTransitionTime`:`" time "`,`reason`:`" reason      \
    "`,`message`:`m`}"

static void set(struct vd_arena *a, struct vd_json *object, const char *status, const char *reason,
                int64_t ms)
{
    vd_condition_set(a, object,
                     &(struct vd_condition){.type = VD_SLICE("Ready"),
                                            .status = vd_slice_of(status),
                                            .reason = vd_slice_of(reason),
                                            .message = VD_SLICE("m")},
                     ms);
}

static void the_time_is_that_of_the_last_turn(void **state)
{
    struct vd_arena a = {0};
    struct vd_json *object = json_of(&a, "{}");
    (void)state;
    assert_false(vd_condition_is_true(object, VD_SLICE("Ready")));
    assert_false(vd_condition_remove(object, VD_SLICE("Ready")));
    set(&a, object, "True", "A", 0);
    assert_true(vd_condition_is_true(object, VD_SLICE("Ready")));
    set(&a, object, "True", "B", 60000);
    assert_text(object, &a,
                "{`status`:{`conditions`:[" READY("True", "B", "1970-01-01T00:00:00Z") "]}}");
    set(&a, object, "False", "C", 120000);
    assert_text(object, &a,
                "{`status`:{`conditions`:[" READY("False", "C", "1970-01-01T00:02:00Z") "]}}");
    assert_false(vd_condition_is_true(object, VD_SLICE("Ready")));
    assert_true(vd_condition_remove(object, VD_SLICE("Ready")));
    assert_text(object, &a, "{`status`:{`conditions`:[]}}");
    vd_arena_release(&a);
}

static void others_stay(void **state)
{
    struct vd_arena a = {0};
    struct vd_json *object = json_of(
        &a, backtick(&a, "{`status`:{`conditions`:[{`type`:`A`},{`type`:`Ready`},{`type`:`B`}]}}"));
    (void)state;
    assert_true(vd_condition_remove(object, VD_SLICE("Ready")));
    assert_text(object, &a, "{`status`:{`conditions`:[{`type`:`A`},{`type`:`B`}]}}");
    set(&a, object, "True", "A", 0);
    assert_text(object, &a,
                "{`status`:{`conditions`:[{`type`:`A`},{`type`:`B`}," READY(
                    "True", "A", "1970-01-01T00:00:00Z") "]}}");
    vd_arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_time_is_that_of_the_last_turn),
        cmocka_unit_test(others_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
