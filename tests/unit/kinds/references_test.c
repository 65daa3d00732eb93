/* src/kinds/references.c: what a definition says of references, and what objects refer to. */
#include "check.h"

#include <string.h>

#include "json_check.h"
#include "kinds/builtin.h"
#include "kinds/kinds.h"
#include "kinds/references.h"

static void a_definition_names_its_fields(void **state)
{
    struct vd_arena *a = *state;
    struct vd_reference_field *fields;
    struct vd_error error;
    size_t n;
    assert_ok(
        vd_reference_fields_parse(
            a,
            VD_SLICE("[{\"path\":\"spec.media[].fileRef\",\"kind\":\"File\"},{\"path\":"
                     "\"spec.up\",\"kind\":\"C\",\"group\":\"x.io\",\"blocksDeletion\":true}]"),
            &fields, &n, &error),
        &error);
    assert_int_equal(n, 2);
    assert_slice(fields[0].path, "spec.media[].fileRef");
    assert_slice(fields[0].group, "");
    assert_slice(fields[1].group, "x.io");
    assert_true(!fields[0].blocks_deletion && fields[1].blocks_deletion);
    assert_ok(vd_reference_fields_parse(a, VD_SLICE(""), &fields, &n, &error), &error);
    assert_int_equal(n, 0);
}

static void bad_ones_are_named(void **state)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"[", "end"},
        {"{}", "must be a JSON list"},
        {"[1]", "[0]: must be an object"},
        {"[{\"path\":\"a\",\"kind\":\"K\"},{\"path\":\"a..b\",\"kind\":\"K\"}]", "[1].path: must"},
        {"[{\"kind\":\"K\"}]", "[0].path: must be the names of fields"},
        {"[{\"path\":\"a.\",\"kind\":\"K\"}]", "[0].path: must"},
        {"[{\"path\":\".a\",\"kind\":\"K\"}]", "[0].path: must"},
        {"[{\"path\":\"a[0]\",\"kind\":\"K\"}]", "[0].path: must"},
        {"[{\"path\":\"[]\",\"kind\":\"K\"}]", "[0].path: must"},
        {"[{\"path\":\"a\"}]", "[0].kind: must be the name of a kind"},
        {"[{\"path\":\"a\",\"kind\":\"K\",\"group\":1}]", "[0].group: must be"},
        {"[{\"path\":\"a\",\"kind\":\"K\",\"blocksDeletion\":\"yes\"}]",
         "[0].blocksDeletion: must"},
        {"[{\"path\":\"a\",\"kind\":\"K\",\"blocks\":true}]", "[0]: has only path, kind"},
    };
    struct vd_arena *a = *state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct vd_reference_field *fields;
        struct vd_error error = {0};
        size_t n;
        assert_int_not_equal(
            vd_reference_fields_parse(a, vd_slice_of(rows[i].text), &fields, &n, &error), VD_OK);
        assert_int_equal(n, 0);
        if (!strstr(error.text, rows[i].want))
            fail_msg("%s\n got %s\nwant %s", rows[i].text, error.text, rows[i].want);
    }
}

static void too_many_fields_are_refused(void **state)
{
    struct vd_arena *a = *state;
    struct vd_reference_field *fields;
    struct vd_error error = {0};
    struct vd_buf text = {0};
    size_t n;
    vd_buf_add_char(&text, '[');
    for (int i = 0; i <= VD_REFERENCE_FIELDS_MAX; i++)
        vd_buf_addf(&text, "%s{\"path\":\"a\",\"kind\":\"K\"}", i ? "," : "");
    vd_buf_add_char(&text, ']');
    assert_int_equal(vd_reference_fields_parse(a, vd_buf_slice(&text), &fields, &n, &error),
                     VD_ERR_INVALID);
    vd_buf_reset(&text);
    vd_buf_add_text(&text, "[{\"path\":\"");
    for (int i = 0; i <= VD_REFERENCE_PATH_LEN_MAX; i++)
        vd_buf_add_char(&text, 'a');
    vd_buf_add_text(&text, "\",\"kind\":\"K\"}]");
    assert_int_equal(vd_reference_fields_parse(a, vd_buf_slice(&text), &fields, &n, &error),
                     VD_ERR_INVALID);
    vd_buf_release(&text);
}

/* "path kind namespace/name flags;" of each. */
static void assert_refers(struct vd_arena *a, const struct vd_kind *kind, const char *object,
                          const char *want)
{
    struct vd_references found = {0};
    struct vd_buf text = {0};
    struct vd_json *document = NULL;
    struct vd_error error;
    assert_ok(vd_json_parse_copy(a, vd_slice_of(object), NULL, &document, &error), &error);
    vd_references_of(kind, document, VD_SLICE("shop"), a, &found);
    for (size_t i = 0; i < found.list.n; i++) {
        const struct vd_reference *r = &found.list.p[i];
        vd_buf_addf(&text, "%.*s %.*s %.*s/%.*s", VD_FMT(r->path), VD_FMT(r->field->kind),
                    VD_FMT(r->namespace), VD_FMT(r->name));
        vd_buf_addf(&text, "%s%s;", r->optional ? " optional" : "",
                    r->field->blocks_deletion ? " blocks" : "");
    }
    assert_false(found.too_many);
    assert_string_equal(vd_buf_text(&text), want);
    vd_buf_release(&text);
    vd_references_release(&found);
}

static void objects_refer(void **state)
{
    static struct vd_reference_field fields[] = {
        {.path = {"spec.media[].fileRef", 20}, .kind = {"File", 4}},
        {.path = {"spec.up", 7}, .kind = {"C", 1}, .blocks_deletion = true},
        {.path = {"spec.names[]", 12}, .kind = {"N", 1}},
    };
    struct vd_kind kind = {.references = fields, .reference_count = 3};
    struct vd_arena *a = *state;
    assert_refers(a, &kind, "{}", "");
    assert_refers(a, &kind, "{\"spec\":[]}", "");
    assert_refers(a, &kind, "{\"spec\":{\"up\":{\"name\":\"x\"}}}", "spec.up C shop/x blocks;");
    assert_refers(a, &kind,
                  "{\"spec\":{\"up\":{\"name\":\"x\",\"namespace\":\"other\",\"optional\":true}}}",
                  "spec.up C other/x optional blocks;");
    assert_refers(a, &kind, "{\"spec\":{\"up\":\"x\",\"names\":[\"a\",\"b\"]}}",
                  "spec.up C shop/x blocks;spec.names[0] N shop/a;spec.names[1] N shop/b;");
    assert_refers(a, &kind,
                  "{\"spec\":{\"media\":[{\"fileRef\":{\"name\":\"a\"}},{},{\"fileRef\":{\"name\":"
                  "\"b\",\"optional\":true}}],\"up\":{\"name\":\"\"}}}",
                  "spec.media[0].fileRef File shop/a;spec.media[2].fileRef File shop/b optional;");
    assert_refers(a, &kind, "{\"spec\":{\"media\":{\"fileRef\":{\"name\":\"a\"}},\"up\":3}}", "");
}

static void there_is_an_end(void **state)
{
    static struct vd_reference_field field = {.path = {"a[]", 3}, .kind = {"N", 1}};
    struct vd_kind kind = {.references = &field, .reference_count = 1};
    struct vd_arena *a = *state;
    struct vd_json *object = vd_json_object(a), *list = vd_json_array(a);
    struct vd_references found = {0};
    for (int i = 0; i <= VD_REFERENCES_MAX; i++)
        vd_json_append(list, vd_json_string_ref(a, VD_SLICE("x")));
    vd_json_add_ref(object, VD_SLICE("a"), list);
    vd_references_of(&kind, object, VD_SLICE("shop"), a, &found);
    assert_int_equal(found.list.n, VD_REFERENCES_MAX);
    assert_true(found.too_many);
    vd_references_release(&found);
}

static void the_catalogue_refers(void **state)
{
    static const struct {
        const char *kind, *object, *want;
    } rows[] = {
        {"Product", "{\"spec\":{\"categoryRef\":{\"name\":\"c\"}}}",
         "spec.categoryRef CategoryTaxonomy shop/c;"},
        {"ProductVariant", "{\"spec\":{\"productRef\":{\"name\":\"p\"}}}",
         "spec.productRef Product shop/p;"},
        {"CategoryTaxonomy", "{\"spec\":{\"parentRef\":{\"name\":\"c\"}}}",
         "spec.parentRef CategoryTaxonomy shop/c blocks;"},
        {"Collection", "{\"spec\":{\"targetRef\":{\"kind\":\"Product\"}}}", ""},
    };
    struct vd_kinds *kinds = vd_kinds_new_builtin();
    struct vd_kind_set *set = vd_kinds_snapshot(kinds);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_refers(*state,
                      vd_kind_set_kind(set, VD_SLICE("catalog.gitstore.dev"), VD_SLICE("v1beta1"),
                                       vd_slice_of(rows[i].kind)),
                      rows[i].object, rows[i].want);
    vd_kind_set_unref(set);
    vd_kinds_free(kinds);
}

#define arena_test(f) cmocka_unit_test_setup_teardown(f, arena_setup, arena_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        arena_test(a_definition_names_its_fields),
        arena_test(bad_ones_are_named),
        arena_test(too_many_fields_are_refused),
        arena_test(objects_refer),
        arena_test(there_is_an_end),
        arena_test(the_catalogue_refers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
