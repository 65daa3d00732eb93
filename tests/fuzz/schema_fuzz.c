/*
 * Any schema and any instance. The input is two JSON texts with a NUL between them.
 *
 * Nothing crashes; pruning and defaulting are idempotent and do not undo each other;
 * what is pruned is still a document; a verdict is the same each time, and it is
 * "valid" exactly when there is nothing to say. The same holds of rules, and of the
 * schema's own judgement; an update that changes nothing is always valid.
 */
#include <string.h>

#include "fuzz.h"
#include "kinds/schema_rules.h"
#include "kinds/structural.h"
#include "json/compare.h"
#include "json/parse.h"
#include "json/write.h"

static void check_document(const struct vd_json *v)
{
    struct vd_arena arena = {0};
    struct vd_buf text = {0};
    struct vd_json *again = NULL;
    vd_json_write(&text, v);
    FUZZ_CHECK(vd_json_parse(&arena, vd_buf_slice(&text), NULL, &again, NULL) == VD_OK);
    FUZZ_CHECK(vd_json_eq(v, again));
    vd_buf_release(&text);
    vd_arena_release(&arena);
}

static void check_verdict(const struct vd_schema *schema, const struct vd_json *value)
{
    struct vd_violations first = {0}, second = {0};
    struct vd_buf one = {0}, two = {0};
    bool ok = vd_schema_validate(schema, value, &first);
    FUZZ_CHECK(ok == (first.list.n == 0));
    FUZZ_CHECK(ok == vd_schema_validate(schema, value, &second));
    vd_violations_write(&one, &first);
    vd_violations_write(&two, &second);
    FUZZ_CHECK(vd_slice_eq(vd_buf_slice(&one), vd_buf_slice(&two)));
    vd_buf_release(&one);
    vd_buf_release(&two);
    vd_violations_release(&first);
    vd_violations_release(&second);
}

static void check_rules(const struct vd_schema *schema, const struct vd_json *value,
                        const struct vd_json *old)
{
    struct vd_violations first = {0}, second = {0}, unchanged = {0};
    bool ok = vd_schema_check_rules(schema, value, old, &first);
    FUZZ_CHECK(ok == (first.list.n == 0));
    FUZZ_CHECK(ok == vd_schema_check_rules(schema, value, old, &second));
    ok = vd_schema_validate_change(schema, value, value, &unchanged);
    FUZZ_CHECK(ok == (unchanged.list.n == 0));
    for (size_t i = 0; i < unchanged.list.n; i++) /* what was so before is no reason, mostly */
        FUZZ_CHECK(unchanged.list.p[i].is_firm);
    vd_violations_release(&first);
    vd_violations_release(&second);
    vd_violations_release(&unchanged);
}

static void check_instance(struct vd_arena *arena, const struct vd_schema *schema,
                           struct vd_json *value)
{
    struct vd_pruned pruned = {0};
    check_verdict(schema, value);
    vd_schema_prune(schema, value, &pruned);
    check_document(value);
    struct vd_json *once = vd_json_copy(arena, value);
    vd_schema_prune(schema, value, NULL);
    FUZZ_CHECK(vd_json_eq(value, once));
    if (!vd_schema_default(schema, arena, value, &(struct vd_effort){0})) {
        vd_pruned_release(&pruned);
        return;
    }
    check_document(value);
    once = vd_json_copy(arena, value);
    FUZZ_CHECK(vd_schema_default(schema, arena, value, &(struct vd_effort){0}));
    FUZZ_CHECK(vd_json_eq(value, once));
    check_verdict(schema, value);
    check_rules(schema, value, NULL);
    check_rules(schema, value, once);
    vd_pruned_release(&pruned);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vd_slice first, second;
    if (!fuzz_split(data, size, &first, &second))
        return 0;
    struct vd_arena arena = {0};
    struct vd_json *source, *value;
    struct vd_schema *schema = NULL, *resource = NULL;
    struct vd_error error = {0};
    if (vd_json_parse(&arena, first, NULL, &source, NULL) == VD_OK &&
        vd_json_parse(&arena, second, NULL, &value, NULL) == VD_OK) {
        struct vd_violations judgement = {0};
        vd_structural_check(source, NULL, true, &judgement);
        vd_violations_release(&judgement);
        if (vd_schema_new(&schema, source, NULL, &error) == VD_OK) {
            struct vd_schema_options options = {.resource = true, .metadata = schema};
            FUZZ_CHECK(vd_schema_new(&resource, source, &options, &error) == VD_OK);
            check_instance(&arena, resource, vd_json_copy(&arena, value));
            check_instance(&arena, schema, value);
        } else {
            FUZZ_CHECK(error.text[0]);
        }
    }
    vd_schema_unref(schema);
    vd_schema_unref(resource);
    vd_arena_release(&arena);
    return 0;
}
