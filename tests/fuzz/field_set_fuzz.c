/*
 * Any FieldsV1. The input is one or two texts with a NUL between them. Each is read as a
 * set whether it is JSON or not; what is read is written in one spelling that reads back
 * as the same set, and the operations on the two obey the laws of sets.
 */
#include "fuzz.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "kinds/field_set.h"
#include "json/parse.h"

/* Bytes come from the store, which holds JSON; of garbage anything may be read, but
 * nothing outside it. */
static const struct vd_field_set *read_set(struct vd_arena *a, struct vd_slice text)
{
    const struct vd_field_set *set = NULL;
    struct vd_json *document = NULL;
    bool is_json = vd_json_parse(a, text, NULL, &document, NULL) == VD_OK;
    bool read = vd_field_set_read(a, text, &set);
    return is_json && read ? set : NULL;
}

static void check_spelling(struct vd_arena *a, const struct vd_field_set *set)
{
    struct vd_buf first = {0}, second = {0};
    const struct vd_field_set *again = NULL;
    struct vd_json *document = NULL;
    vd_field_set_write(&first, set);
    bool ok = vd_json_parse(a, vd_buf_slice(&first), NULL, &document, NULL) == VD_OK;
    assert(ok);
    ok = vd_field_set_read(a, vd_buf_slice(&first), &again);
    assert(ok && vd_field_set_eq(set, again));
    vd_field_set_write(&second, again);
    assert(vd_slice_eq(vd_buf_slice(&first), vd_buf_slice(&second)));
    if (set)
        assert(vd_field_set_overlap(vd_buf_slice(&first), set) == VD_OVERLAP_ALL);
    (void)ok;
    vd_buf_release(&first);
    vd_buf_release(&second);
}

static void check_laws(struct vd_arena *a, const struct vd_field_set *x,
                       const struct vd_field_set *y)
{
    const struct vd_field_set *both = vd_field_set_intersection(a, x, y);
    const struct vd_field_set *only_x = vd_field_set_difference(a, x, y);
    const struct vd_field_set *only_y = vd_field_set_difference(a, y, x);
    const struct vd_field_set *all = vd_field_set_union(a, x, y);
    assert(vd_field_set_eq(all, vd_field_set_union(a, y, x)));
    assert(vd_field_set_eq(both, vd_field_set_intersection(a, y, x)));
    assert(vd_field_set_eq(vd_field_set_union(a, only_x, both), x));
    assert(vd_field_set_eq(vd_field_set_union(a, both, only_y), y));
    assert(!vd_field_set_intersection(a, only_x, y));
    assert(vd_field_set_count(all) ==
           vd_field_set_count(only_x) + vd_field_set_count(both) + vd_field_set_count(only_y));
    assert(vd_field_set_union(a, x, both) == x && vd_field_set_difference(a, x, only_y) == x);
    struct vd_buf json = {0};
    vd_field_set_write(&json, x);
    enum vd_field_overlap overlap = vd_field_set_overlap(vd_buf_slice(&json), y);
    assert((overlap == VD_OVERLAP_NONE) == !both);
    assert((overlap == VD_OVERLAP_ALL) == (both && !only_y));
    (void)overlap;
    vd_buf_release(&json);
    struct vd_field_texts texts = {0};
    vd_field_set_texts(a, all, &texts, SIZE_MAX);
    assert(texts.n == vd_field_set_count(all));
    VD_VEC_RELEASE(&texts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vd_slice first, second = VD_SLICE("{}");
    fuzz_split(data, size, &first, &second);
    struct vd_arena arena = {0};
    const struct vd_field_set *x = read_set(&arena, first), *y = read_set(&arena, second);
    check_spelling(&arena, x);
    check_laws(&arena, x, y);
    vd_arena_release(&arena);
    return 0;
}
