/*
 * Any object at either door of any other. The input is two JSON texts with a NUL between
 * them: what is stored, and what is written.
 *
 * Through the status door only status comes, through the main one all but it; what has
 * come through the status door has touched nothing else, by the strict boundary's own
 * measure. Times of conditions are kept once and for all, and a verdict is the same each
 * time.
 */
#include <string.h>

#include "fuzz.h"
#include "kinds/condition_rules.h"
#include "kinds/status_subresource.h"
#include "json/compare.h"
#include "json/parse.h"

static const char SCHEMA[] =
    "{\"type\":\"object\",\"properties\":{\"status\":{\"type\":\"object\",\"properties\":{"
    "\"a\":{\"type\":\"array\",\"x-kubernetes-list-type\":\"map\",\"x-kubernetes-list-map-keys\":"
    "[\"k\"],\"items\":{\"type\":\"object\",\"properties\":{\"k\":{\"type\":\"string\"},"
    "\"conditions\":{\"type\":\"array\",\"x-kubernetes-list-type\":\"map\","
    "\"x-kubernetes-list-map-keys\":[\"type\"],\"items\":{\"type\":\"object\",\"properties\":{"
    "\"type\":{\"type\":\"string\"},\"status\":{\"type\":\"string\"},\"lastTransitionTime\":"
    "{\"type\":\"string\"}}}}}}},\"conditions\":{\"type\":\"array\",\"x-kubernetes-list-type\":"
    "\"map\",\"x-kubernetes-list-map-keys\":[\"type\"],\"items\":{\"type\":\"object\","
    "\"properties\":{\"type\":{\"type\":\"string\"},\"status\":{\"type\":\"string\"},"
    "\"observedGeneration\":{\"type\":\"integer\"},\"lastTransitionTime\":{\"type\":\"string\"}"
    "}}}}}}}";

static struct vd_json *without_status(struct vd_arena *a, const struct vd_json *object)
{
    struct vd_json *rest = vd_json_copy(a, object);
    vd_json_remove(rest, VD_SLICE("status"));
    return rest;
}

static size_t touched(const struct vd_json *object, const struct vd_json *old)
{
    struct vd_violations violations = {0};
    bool ok = vd_status_subresource_check(object, old, &violations);
    size_t n = violations.list.n;
    FUZZ_CHECK(ok == (n == 0));
    vd_violations_release(&violations);
    return n;
}

static void check_doors(const struct vd_kind *kind, struct vd_arena *a, const struct vd_json *old,
                        const struct vd_json *object)
{
    struct vd_slice status = VD_SLICE("status");
    struct vd_json *in = vd_status_subresource_merge(kind, a, vd_json_copy(a, object), old, true);
    FUZZ_CHECK(vd_json_eq(without_status(a, in), without_status(a, old)));
    FUZZ_CHECK(vd_json_eq(vd_json_get(in, status), vd_json_get(object, status)));
    FUZZ_CHECK(touched(in, old) == 0);
    FUZZ_CHECK(touched(object, old) == touched(object, old));
    in = vd_status_subresource_merge(kind, a, vd_json_copy(a, object), old, false);
    FUZZ_CHECK(vd_json_eq(without_status(a, in), without_status(a, object)));
    FUZZ_CHECK(vd_json_eq(vd_json_get(in, status), vd_json_get(old, status)));
    struct vd_json *nothing = vd_json_object(a);
    vd_status_subresource_fill(a, nothing, old);
    FUZZ_CHECK(vd_json_eq(nothing, without_status(a, old)));
    FUZZ_CHECK(touched(nothing, old) == 0);
}

static void check_conditions(const struct vd_kind *kind, struct vd_arena *a,
                             const struct vd_json *old, struct vd_json *object)
{
    struct vd_violations first = {0}, second = {0};
    vd_condition_rules_check(kind, object, &first);
    vd_condition_rules_check(kind, object, &second);
    FUZZ_CHECK(first.list.n == second.list.n && first.dropped == second.dropped);
    vd_violations_release(&first);
    vd_violations_release(&second);
    vd_condition_rules_keep_times(kind, a, object, old);
    struct vd_json *once = vd_json_copy(a, object);
    vd_condition_rules_keep_times(kind, a, object, old);
    FUZZ_CHECK(vd_json_eq(once, object));
    /* What was stored is not changed by itself, unless one type is there twice. */
    struct vd_json *same = vd_json_copy(a, old);
    vd_condition_rules_check(kind, old, &first);
    bool twins = vd_violations_any(&first);
    vd_violations_release(&first);
    vd_condition_rules_keep_times(kind, a, same, old);
    FUZZ_CHECK(twins || vd_json_eq(vd_json_dig(same, "status", "conditions", NULL),
                                   vd_json_dig(old, "status", "conditions", NULL)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vd_slice first, second;
    if (!fuzz_split(data, size, &first, &second))
        return 0;
    struct vd_arena a = {0};
    struct vd_json *old = NULL, *object = NULL, *schema = NULL;
    struct vd_kind kind = {.has_status = true};
    FUZZ_CHECK(vd_json_parse(&a, vd_slice_of(SCHEMA), NULL, &schema, NULL) == VD_OK);
    FUZZ_CHECK(vd_schema_new(&kind.schema, schema, NULL, NULL) == VD_OK);
    if (vd_json_parse(&a, first, NULL, &old, NULL) == VD_OK && vd_json_is(old, VD_JSON_OBJECT) &&
        vd_json_parse(&a, second, NULL, &object, NULL) == VD_OK &&
        vd_json_is(object, VD_JSON_OBJECT)) {
        check_doors(&kind, &a, old, object);
        check_conditions(&kind, &a, old, object);
    }
    vd_schema_unref(kind.schema);
    vd_arena_release(&a);
    return 0;
}
