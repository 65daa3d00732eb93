/*
 * Spans over any bytes, and over documents.
 *
 * On garbage nothing is read outside the bytes (the sanitizer watches). On
 * what the writer made, spans see exactly what the parser sees, member by
 * member, and a revision goes into its hole and comes out again.
 */
#include "fuzz.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "json/compare.h"
#include "json/parse.h"
#include "json/revision_hole.h"
#include "json/span.h"
#include "json/write.h"

static void walk_garbage(struct vd_arena *arena, struct vd_slice text, int depth)
{
    struct vd_span_cursor c;
    struct vd_slice key, value, decoded;
    vd_span_open(&c, text);
    while (vd_span_next(&c, &key, &value)) {
        assert(value.p >= text.p && value.p + value.n <= text.p + text.n);
        if (vd_span_decode(arena, key, &decoded))
            assert(decoded.n <= key.n && vd_span_key_is(key, decoded));
        if (vd_span_text(arena, value, &decoded))
            assert(decoded.n + 2 <= value.n);
        if (depth)
            walk_garbage(arena, value, depth - 1);
    }
}

/* The children of `v`, which `text` spells, are its spans. */
static void compare_children(struct vd_arena *arena, struct vd_slice text, const struct vd_json *v)
{
    struct vd_span_cursor c;
    struct vd_slice key, value, decoded, found;
    vd_span_open(&c, text);
    VD_JSON_EACH (child, v) {
        struct vd_json *parsed;
        bool more = vd_span_next(&c, &key, &value);
        assert(more);
        int code = vd_json_parse(arena, value, NULL, &parsed, NULL);
        assert(code == VD_OK && vd_json_eq(child, parsed));
        if (child->type == VD_JSON_STRING) {
            bool text_ok = vd_span_text(arena, value, &decoded);
            assert(text_ok && vd_slice_eq(decoded, vd_json_text(child)));
            (void)text_ok;
        }
        if (v->type == VD_JSON_OBJECT) {
            bool got = vd_span_get(text, vd_json_key(child), &found);
            assert(got && found.p == value.p && found.n == value.n);
            (void)got;
        }
        (void)more;
        (void)code;
    }
    bool more = vd_span_next(&c, &key, &value);
    assert(!more && !c.broken);
    (void)more;
}

static void check_hole(struct vd_arena *arena, struct vd_json *v)
{
    struct vd_buf made = {0}, filled = {0};
    struct vd_json *again, *metadata = vd_json_get(v, VD_SLICE("metadata"));
    size_t hole;
    int code = vd_revision_hole_write(&made, v, &hole, NULL);
    assert((code == VD_OK) == vd_json_is(metadata, VD_JSON_OBJECT));
    if (code == VD_OK) {
        vd_revision_hole_fill(&filled, vd_buf_slice(&made), hole, UINT64_MAX);
        code = vd_json_parse(arena, vd_buf_slice(&filled), NULL, &again, NULL);
        assert(code == VD_OK);
        vd_json_set(arena, metadata, VD_SLICE("resourceVersion"),
                    vd_json_string(arena, VD_SLICE("18446744073709551615")));
        assert(vd_json_eq(v, again));
    }
    vd_buf_release(&made);
    vd_buf_release(&filled);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vd_arena arena = {0};
    struct vd_slice text = vd_slice(data, size);
    struct vd_json *v;
    struct vd_buf written = {0};
    walk_garbage(&arena, text, 4);
    if (vd_json_parse(&arena, text, NULL, &v, NULL) == VD_OK) {
        vd_json_write(&written, v);
        compare_children(&arena, vd_buf_slice(&written), v);
        check_hole(&arena, v);
    }
    vd_buf_release(&written);
    vd_arena_release(&arena);
    return 0;
}
