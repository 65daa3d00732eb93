/*
 * Any strategic merge patch on any document. The input is two texts with a NUL
 * between them: the document and the patch. The first letter of a field's name
 * gives its rules: l is a list of maps merged by "k", s a list of scalars that is
 * merged, a a map that is replaced; so few bytes reach every branch.
 *
 * A patch applies whole or leaves the document as it was, keeps the depth, never
 * changes, and leaves no directive in a document that had none.
 */
#include "fuzz.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "merge_letters.h"
#include "json/compare.h"
#include "json/parse.h"
#include "json/write.h"

static size_t count_directives(const struct vd_json *v)
{
    size_t n = 0;
    VD_JSON_EACH (item, v) {
        struct vd_slice key = vd_json_key(item);
        n += vd_slice_eq(key, VD_SLICE("$patch")) || vd_slice_eq(key, VD_SLICE("$retainKeys")) ||
             vd_slice_starts_with(key, VD_SLICE("$setElementOrder")) ||
             vd_slice_starts_with(key, VD_SLICE("$deleteFromPrimitiveList"));
        n += count_directives(item);
    }
    return n;
}

/* A changed document is still one: written and parsed it is equal. */
static void check_document(const struct vd_json *v)
{
    struct vd_arena arena = {0};
    struct vd_buf text = {0};
    struct vd_json *again = NULL;
    vd_json_write(&text, v);
    int code = vd_json_parse(&arena, vd_buf_slice(&text), NULL, &again, NULL);
    assert(code == VD_OK && vd_json_eq(v, again));
    (void)code;
    vd_buf_release(&text);
    vd_arena_release(&arena);
}

static void check_merge(struct vd_arena *arena, struct vd_json *doc, struct vd_json *patch,
                        const struct vd_merge_rules *with)
{
    struct vd_error error = {0};
    struct vd_json *before = vd_json_copy(arena, doc), *patch_before = vd_json_copy(arena, patch);
    size_t depth = vd_json_depth(doc), patch_depth = vd_json_depth(patch);
    int code = vd_strategic_merge(arena, doc, patch, with, with ? "any" : NULL, &error);
    assert(vd_json_eq(patch, patch_before));
    if (code != VD_OK) {
        assert(code == VD_ERR_INVALID && error.text[0]);
        assert(vd_json_eq(doc, before));
    }
    assert(vd_json_depth(doc) <= (depth > patch_depth ? depth : patch_depth));
    if (count_directives(before) == 0)
        assert(count_directives(doc) == 0);
    check_document(doc);
    vd_json_assign(doc, before);
    (void)depth;
    (void)patch_depth;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vd_slice first, second;
    if (!fuzz_split(data, size, &first, &second))
        return 0;
    struct vd_arena arena = {0};
    struct vd_json *doc, *patch;
    if (vd_json_parse(&arena, first, NULL, &doc, NULL) == VD_OK &&
        vd_json_parse(&arena, second, NULL, &patch, NULL) == VD_OK) {
        check_merge(&arena, doc, patch, &letter_rules);
        check_merge(&arena, doc, patch, NULL);
    }
    vd_arena_release(&arena);
    return 0;
}
