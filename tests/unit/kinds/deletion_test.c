/* What being deleted does to an object. */
#include "check.h"

#include "json_check.h"
#include "kinds/deletion.h"

static void marking_is_a_new_generation_once(void **state)
{
    (void)state;
    static const struct {
        const char *object, *kind, *want;
    } cases[] = {
        {"{\"metadata\":{\"generation\":3}}", "widgets.example.com",
         "{\"metadata\":{\"generation\":4,\"deletionTimestamp\":\"1970-01-01T00:00:05Z\","
         "\"deletionGracePeriodSeconds\":0}}"},
        /* Kinds that do not count do not begin to. */
        {"{\"metadata\":{}}", "configmaps",
         "{\"metadata\":{\"deletionTimestamp\":\"1970-01-01T00:00:05Z\","
         "\"deletionGracePeriodSeconds\":0}}"},
        {"{\"metadata\":{},\"status\":{\"phase\":\"Active\"}}", "namespaces",
         "{\"metadata\":{\"deletionTimestamp\":\"1970-01-01T00:00:05Z\","
         "\"deletionGracePeriodSeconds\":0},\"status\":{\"phase\":\"Terminating\"}}"},
    };
    struct vd_arena a = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_json *object = json_of(&a, cases[i].object);
        for (int64_t again = 0; again < 2; again++) {
            vd_deletion_mark(&a, object, vd_slice_of(cases[i].kind), 5000 + again * 60000);
            assert_json(object, cases[i].want);
        }
    }
    vd_arena_release(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marking_is_a_new_generation_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
