/*
 * Any patch on any document. The input is two texts with a NUL between them:
 * the document, and a patch that is tried in both formats.
 *
 * A JSON patch applies whole or leaves the document as it was, keeps the
 * limits and never changes the patch. A merge patch applied twice is the same
 * as applied once.
 */
#include "fuzz.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "json/compare.h"
#include "json/merge_patch.h"
#include "json/parse.h"
#include "json/patch.h"
#include "json/pointer.h"
#include "json/write.h"

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

static void check_json_patch(struct vd_arena *arena, struct vd_json *doc, struct vd_json *patch)
{
    struct vd_error error = {0};
    struct vd_json *before = vd_json_copy(arena, doc), *patch_before = vd_json_copy(arena, patch);
    int code = vd_json_patch(arena, doc, patch, &error);
    assert(vd_json_eq(patch, patch_before));
    if (code != VD_OK)
        assert(error.text[0] && vd_json_eq(doc, before));
    check_document(doc);
    vd_json_assign(doc, before);
}

static void check_merge_patch(struct vd_arena *arena, struct vd_json *doc, struct vd_json *patch)
{
    size_t depth = vd_json_depth(doc), patch_depth = vd_json_depth(patch);
    vd_json_merge_patch(arena, doc, patch);
    check_document(doc);
    assert(vd_json_depth(doc) <= (depth > patch_depth ? depth : patch_depth));
    struct vd_json *once = vd_json_copy(arena, doc);
    vd_json_merge_patch(arena, doc, patch);
    assert(vd_json_eq(doc, once));
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
    if (vd_json_parse(&arena, first, NULL, &doc, NULL) == VD_OK) {
        vd_json_point(doc, second);
        if (vd_json_parse(&arena, second, NULL, &patch, NULL) == VD_OK) {
            check_json_patch(&arena, doc, patch);
            check_merge_patch(&arena, doc, patch);
        }
    }
    vd_arena_release(&arena);
    return 0;
}
