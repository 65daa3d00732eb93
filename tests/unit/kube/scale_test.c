/* src/kube/scale.c: a Scale is bounded as a Scale, and what it makes of the object by its schema.
 */
#include "face_check.h"

#include "json_check.h"
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
    "      scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}\n"
    "    schema:\n"
    "      openAPIV3Schema:\n"
    "        type: object\n"
    "        properties:\n"
    "          spec: {type: object, properties: {replicas: {type: integer, maximum: 5}}}\n"
    "          status: {type: object, properties: {replicas: {type: integer}}}\n";
/* clang-format on */

static int open_kinds(void **state)
{
    open_face(state);
    put_kind(face.env.kinds, KIND, false);
    return arena_setup(state);
}

static int close_kinds(void **state)
{
    arena_teardown(state);
    return close_face(state);
}

#define THINGS "/apis/example.com/v1/things"

static void numbers_out_of_bounds_are_named(void **state)
{
    static const struct {
        const char *method, *target, *body;
        unsigned status;
        const char *kind, *field; /* of the refusal */
    } cases[] = {
        {"POST", THINGS, "{\"metadata\":{\"name\":\"o\"},\"spec\":{\"replicas\":1}}", 201, NULL,
         NULL},
        {"PUT", THINGS "/o/scale", "{\"metadata\":{\"name\":\"o\"},\"spec\":{\"replicas\":5}}", 200,
         NULL, NULL},
        {"PUT", THINGS "/o/scale", "{\"metadata\":{\"name\":\"o\"},\"spec\":{\"replicas\":-1}}",
         422, "Scale", "spec.replicas"},
        {"PUT", THINGS "/o/scale", "{\"metadata\":{\"name\":\"o\"},\"spec\":{\"replicas\":6}}", 422,
         "Thing", "spec.replicas"},
        {"POST", THINGS, "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"replicas\":-1}}", 422, "Thing",
         ".spec.replicas"},
        {"POST", THINGS, "{\"metadata\":{\"name\":\"p\"},\"status\":{\"replicas\":-1}}", 422,
         "Thing", ".status.replicas"},
    };
    struct vd_arena *a = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct answer answer = face_ask(cases[i].method, cases[i].target, "", cases[i].body,
                                        cases[i].status);
        struct vd_json *said = json_of(a, vd_buf_text(&answer.body));
        struct vd_json *cause = vd_json_first(vd_json_dig(said, "details", "causes", NULL));
        if (cases[i].field) {
            assert_slice(vd_json_text(vd_json_get(cause, VD_SLICE("field"))), cases[i].field);
            assert_slice(vd_json_text(vd_json_dig(said, "details", "kind", NULL)), cases[i].kind);
        }
        answer_release(&answer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(numbers_out_of_bounds_are_named, open_kinds, close_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
