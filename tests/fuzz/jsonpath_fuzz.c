/*
 * Any path on any document. The input is two texts with a NUL between them: the
 * path and the document.
 *
 * What compiles compiles again from its own text, finds values of the document,
 * its first result first, and, if it is plain, the same one in the bytes.
 */
#include "fuzz.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "kube/table/jsonpath.h"
#include "json/compare.h"
#include "json/parse.h"
#include "json/write.h"

struct results {
    const struct vd_json *first;
    size_t n;
    size_t stop_at; /* 0: never */
};

static bool collect(void *context, const struct vd_json *value)
{
    struct results *results = context;
    assert(value);
    if (!results->n++)
        results->first = value;
    return results->n != results->stop_at;
}

static void check_bytes(struct vd_arena *arena, const struct vd_jsonpath *path,
                        const struct vd_json *doc, const struct vd_json *want)
{
    struct vd_buf text = {0};
    struct vd_slice value;
    struct vd_json *found = NULL;
    vd_json_write(&text, doc);
    bool there = vd_jsonpath_span(path, vd_buf_slice(&text), &value);
    assert(there == (want != NULL));
    if (there) {
        int code = vd_json_parse_copy(arena, value, NULL, &found, NULL);
        assert(code == VD_OK && vd_json_eq(found, want));
        (void)code;
    }
    vd_buf_release(&text);
}

static void check_results(struct vd_arena *arena, const struct vd_jsonpath *path,
                          const struct vd_json *doc)
{
    struct results all = {0}, two = {.stop_at = 2};
    bool ended = vd_jsonpath_each(path, doc, collect, &all);
    const struct vd_json *first = vd_jsonpath_first(path, doc);
    assert(ended && first == all.first);
    ended = vd_jsonpath_each(path, doc, collect, &two);
    assert(ended == (all.n < 2) && two.n == (all.n < 2 ? all.n : 2));
    if (vd_jsonpath_is_plain(path)) {
        assert(all.n <= 1);
        check_bytes(arena, path, doc, first);
    }
    (void)ended;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vd_slice text, json = VD_SLICE("");
    bool two = fuzz_split(data, size, &text, &json);
    struct vd_arena arena = {0};
    struct vd_error error = {0};
    const struct vd_jsonpath *path = NULL, *again = NULL;
    struct vd_json *doc;
    int code = vd_jsonpath_compile(&arena, text, &path, &error);
    if (code == VD_OK) {
        code = vd_jsonpath_compile(&arena, vd_jsonpath_text(path), &again, NULL);
        assert(code == VD_OK && vd_jsonpath_is_plain(path) == vd_jsonpath_is_plain(again));
        if (two && vd_json_parse(&arena, json, NULL, &doc, NULL) == VD_OK)
            check_results(&arena, path, doc);
    } else {
        assert(error.text[0]);
    }
    vd_arena_release(&arena);
    return 0;
}
