/* src/kube/partial.c, list_meta.c: metadata as it stands in the bytes. */
#include "kube/partial.h"

#include "backtick.h"
#include "json_check.h"

#define HEAD "{`kind`:`PartialObjectMetadata`,`apiVersion`:`meta.k8s.io/v1`,`metadata`:"

static void metadata_is_copied_byte_by_byte(void **state)
{
    static const struct {
        const char *body, *metadata;
    } rows[] = {
        {"{`kind`:`ConfigMap`,`metadata`:{`name`:`a`},`data`:{`k`:`v`}}", "{`name`:`a`}"},
        /* metadata last, first, and after a text that looks like it */
        {"{`data`:{`metadata`:{`name`:`wrong`}},`metadata`:{`name`:`a`}}", "{`name`:`a`}"},
        {"{`metadata`:{`name`:`a`},`spec`:{`metadata`:{`name`:`wrong`}}}", "{`name`:`a`}"},
        {"{`x`:`\\`metadata\\`:{`,`metadata`:{`name`:`a`}}", "{`name`:`a`}"},
        /* braces, brackets, quotes and escapes inside texts */
        {"{`metadata`:{`annotations`:{`j`:`{\\`a\\`:[1,{}]}`,`b`:`\\\\`,`c`:`}]\\\\\\``}},`s`:1}",
         "{`annotations`:{`j`:`{\\`a\\`:[1,{}]}`,`b`:`\\\\`,`c`:`}]\\\\\\``}}"},
        {"{`metadata`:{`labels`:{`\\u00e9`:`\\u2028`,`k`:`\xc3\xa9`}}}",
         "{`labels`:{`\\u00e9`:`\\u2028`,`k`:`\xc3\xa9`}}"},
        {"{`spec`:[[{}],`]`],`metadata`:{`a`:[{`b`:[]}],`n`:1.0e3}}", "{`a`:[{`b`:[]}],`n`:1.0e3}"},
        /* a key that is spelt with an escape */
        {"{`meta\\u0064ata`:{`name`:`a`}}", "{`name`:`a`}"},
        /* none, or none that could be one */
        {"{}", "{}"},
        {"{`metadata`:null}", "{}"},
        {"{`metadata`:[1]}", "{}"},
        {"{`metadata`:{`name`:`cut", "{}"},
        {"", "{}"},
        {"[]", "{}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct vd_buf out = {0}, want = {0};
        vd_partial_write(&out, VD_META_V1, vd_slice_of(backtick(*state, rows[i].body)));
        vd_buf_addf(&want, HEAD "%s}", rows[i].metadata);
        assert_slice(vd_buf_slice(&out), backtick(*state, vd_buf_text(&want)));
        vd_buf_release(&out);
        vd_buf_release(&want);
    }
}

static void lists_are_made_in_parts(void **state)
{
    struct vd_list_meta meta = {.resource_version = VD_SLICE("418"),
                                .continue_token = VD_SLICE("abc"),
                                .has_remaining = true,
                                .remaining = 7};
    struct vd_buf head = {0}, rest = {0};
    struct vd_partial_list list;
    vd_partial_list_begin(&list, &head, VD_META_V1BETA1, &meta);
    vd_partial_list_add(&list, &rest,
                        vd_slice_of(backtick(*state, "{`metadata`:{`name`:`a`},`x`:1}")));
    vd_partial_list_add(&list, &rest, vd_slice_of(backtick(*state, "{`metadata`:{`name`:`b`}}")));
    vd_partial_list_end(&list, &rest);
    assert_slice(vd_buf_slice(&head),
                 backtick(*state, "{`kind`:`PartialObjectMetadataList`,`apiVersion`:"
                                  "`meta.k8s.io/v1beta1`,`metadata`:{`resourceVersion`:`418`,"
                                  "`continue`:`abc`,`remainingItemCount`:7},`items`:["));
    assert_slice(vd_buf_slice(&rest),
                 backtick(*state, "{`kind`:`PartialObjectMetadata`,`apiVersion`:"
                                  "`meta.k8s.io/v1beta1`,`metadata`:{`name`:`a`}},"
                                  "{`kind`:`PartialObjectMetadata`,`apiVersion`:"
                                  "`meta.k8s.io/v1beta1`,`metadata`:{`name`:`b`}}]}"));
    vd_buf_release(&head);
    vd_buf_release(&rest);
}

static void an_empty_list_has_items(void **state)
{
    struct vd_list_meta meta = {0};
    struct vd_partial_list list;
    struct vd_buf out = {0};
    vd_partial_list_begin(&list, &out, VD_META_V1, &meta);
    vd_partial_list_end(&list, &out);
    assert_slice(vd_buf_slice(&out), backtick(*state, "{`kind`:`PartialObjectMetadataList`,"
                                                      "`apiVersion`:`meta.k8s.io/v1`,"
                                                      "`metadata`:{},`items`:[]}"));
    vd_buf_release(&out);
}

static void list_metadata_leaves_out_what_is_not_there(void **state)
{
    static const struct {
        struct vd_list_meta meta;
        const char *want;
    } rows[] = {
        {{{0}, {0}, false, 9}, "{}"},
        {{{"1", 1}, {0}, false, 0}, "{`resourceVersion`:`1`}"},
        {{{0}, {"t", 1}, false, 0}, "{`continue`:`t`}"},
        {{{0}, {0}, true, 0}, "{`remainingItemCount`:0}"},
        {{{"1", 1}, {0}, true, 2}, "{`resourceVersion`:`1`,`remainingItemCount`:2}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct vd_buf out = {0};
        vd_list_meta_write(&out, &rows[i].meta);
        assert_slice(vd_buf_slice(&out), backtick(*state, rows[i].want));
        vd_buf_release(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        arena_test(metadata_is_copied_byte_by_byte),
        arena_test(lists_are_made_in_parts),
        arena_test(an_empty_list_has_items),
        arena_test(list_metadata_leaves_out_what_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
