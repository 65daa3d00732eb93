/* src/kinds/scale_bounds.c: what a Scale cannot show is not taken. */
#include "kinds/scale_bounds.h"

#include "json_check.h"
#include "kinds/object.h"
#include "widget_kinds.h"

/* clang-format off */
static const char KIND[] =
    "spec:\n"
    "  group: example.com\n"
    "  scope: Cluster\n"
    "  names: {kind: Thing, plural: things}\n"
    "  versions:\n"
    "  - name: v1\n"
    "    served: true\n"
    "    storage: true\n"
    "    subresources:\n"
    "      status: {}\n"
    "      scale:\n"
    "        specReplicasPath: .spec.n\n"
    "        statusReplicasPath: .status.n\n"
    "        labelSelectorPath: .status.s\n"
    "    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}\n";
/* clang-format on */

#define META "\"apiVersion\":\"example.com/v1\",\"kind\":\"Thing\",\"metadata\":{\"name\":\"n\"}"

static void numbers_are_bounded(void **state)
{
    static const struct {
        const char *object, *old, *wrong;
    } cases[] = {
        {"{" META "}", NULL, ""},
        {"{" META ",\"spec\":{\"n\":0},\"status\":{\"n\":2147483647,\"s\":\"a=b\"}}", NULL, ""},
        {"{" META ",\"spec\":{\"n\":-1},\"status\":{\"n\":2147483648}}", NULL,
         "[.spec.n: Invalid value: -1: should be a non-negative integer, "
         ".status.n: Invalid value: 2147483648: should be less than or equal to 2147483647]"},
        {"{" META ",\"spec\":{\"n\":\"x\"},\"status\":{\"s\":1}}", NULL,
         "[.spec.n: Invalid value: 0: .spec.n accessor error: x is of the type string, expected "
         "int64, .status.s: Invalid value: \"\": .status.s accessor error: 1 is of the type "
         "int64, expected string]"},
        {"{" META ",\"spec\":{\"n\":-1}}", "{" META ",\"spec\":{\"n\":-1}}", ""},
        {"{" META ",\"spec\":{\"n\":-2}}", "{" META ",\"spec\":{\"n\":-1}}",
         ".spec.n: Invalid value: -2: should be a non-negative integer"},
    };
    struct vd_kinds *kinds = vd_kinds_new(NULL);
    put_kind(kinds, KIND, false);
    struct vd_kind_set *set = vd_kinds_snapshot(kinds);
    const struct vd_kind *kind = vd_kind_set_stored(set, VD_SLICE("things.example.com"));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_violations violations = {0};
        struct vd_buf text = {0};
        vd_object_validate(kind, json_of(*state, cases[i].object),
                           cases[i].old ? json_of(*state, cases[i].old) : NULL, &violations);
        vd_violations_write(&text, &violations);
        assert_slice(vd_buf_slice(&text), cases[i].wrong);
        vd_buf_release(&text);
        vd_violations_release(&violations);
    }
    vd_kind_set_unref(set);
    vd_kinds_free(kinds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {arena_test(numbers_are_bounded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
