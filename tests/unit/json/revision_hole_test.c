/* src/json/revision_hole.c: a body without its revision, and with it. */
#include "json/revision_hole.h"

#include "check.h"
#include "json/parse.h"

static struct vd_json *parsed(struct vd_arena *arena, const char *text)
{
    struct vd_json *object = NULL;
    struct vd_error error;
    assert_ok(vd_json_parse(arena, vd_slice_of(text), NULL, &object, &error), &error);
    return object;
}

static void the_hole_is_between_the_quotes(void **state)
{
    (void)state;
    static const struct {
        const char *json, *filled;
    } cases[] = {
        {"{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"17\",\"uid\":\"u\"},\"x\":1}",
         "{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"42\",\"uid\":\"u\"},\"x\":1}"},
        {"{\"metadata\":{\"resourceVersion\":\"\"}}",
         "{\"metadata\":{\"resourceVersion\":\"42\"}}"},
        {"{\"metadata\":{\"resourceVersion\":17}}", "{\"metadata\":{\"resourceVersion\":\"42\"}}"},
        {"{\"metadata\":{\"resourceVersion\":null,\"a\":{}}}",
         "{\"metadata\":{\"resourceVersion\":\"42\",\"a\":{}}}"},
        {"{\"kind\":\"K\",\"metadata\":{\"name\":\"a\"},\"spec\":{}}",
         "{\"kind\":\"K\",\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"42\"},\"spec\":{}}"},
        {"{\"metadata\":{}}", "{\"metadata\":{\"resourceVersion\":\"42\"}}"},
        {"{\"metadata\":{\"labels\":{\"resourceVersion\":\"7\"}}}",
         "{\"metadata\":{\"labels\":{\"resourceVersion\":\"7\"},\"resourceVersion\":\"42\"}}"},
        {"{\"resourceVersion\":\"7\",\"metadata\":{}}",
         "{\"resourceVersion\":\"7\",\"metadata\":{\"resourceVersion\":\"42\"}}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct vd_error error;
        struct vd_arena arena = {0};
        struct vd_buf made = {0}, filled = {0};
        size_t hole = 0;
        vd_buf_add_text(&made, "head"); /* it appends */
        const struct vd_json *object = parsed(&arena, cases[i].json);
        assert_ok(vd_revision_hole_write(&made, object, &hole, &error), &error);
        assert_slice(vd_slice(made.p + hole - 19, 20), "\"resourceVersion\":\"\"");
        vd_revision_hole_fill(&filled, vd_slice_from(vd_buf_slice(&made), 4), hole - 4, 42);
        assert_slice(vd_buf_slice(&filled), cases[i].filled);
        vd_buf_release(&made);
        vd_buf_release(&filled);
        vd_arena_release(&arena);
    }
}

static void a_document_without_metadata_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "1", "{}", "[]", "{\"metadata\":1}", "{\"metadata\":[]}", "{\"metadata\":null}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct vd_error error;
        struct vd_arena arena = {0};
        struct vd_buf made = {0};
        size_t hole = 7;
        assert_code(vd_revision_hole_write(&made, parsed(&arena, bad[i]), &hole, &error),
                    VD_ERR_INVALID);
        assert_says(&error, "no object \"metadata\"");
        assert_int_equal(made.n, 0);
        assert_int_equal(hole, 7);
        vd_buf_release(&made);
        vd_arena_release(&arena);
    }
}

static void the_largest_revision_fits(void **state)
{
    (void)state;
    struct vd_arena arena = {0};
    struct vd_buf made = {0}, filled = {0};
    size_t hole = 0;
    const struct vd_json *object = parsed(&arena, "{\"metadata\":{}}");
    assert_code(vd_revision_hole_write(&made, object, &hole, NULL), VD_OK);
    vd_revision_hole_fill(&filled, vd_buf_slice(&made), hole, UINT64_MAX);
    assert_slice(vd_buf_slice(&filled),
                 "{\"metadata\":{\"resourceVersion\":\"18446744073709551615\"}}");
    vd_buf_release(&made);
    vd_buf_release(&filled);
    vd_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_hole_is_between_the_quotes),
        cmocka_unit_test(a_document_without_metadata_is_refused),
        cmocka_unit_test(the_largest_revision_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
