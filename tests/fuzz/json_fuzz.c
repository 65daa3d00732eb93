/*
 * Any bytes through parser and writer.
 *
 * What is accepted is valid UTF-8, within the limits, and survives every way
 * of writing it: compact, pretty, copied. What is refused is refused in every
 * mode, with an error that points into the text.
 */
#include "fuzz.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "json/compare.h"
#include "json/number.h"
#include "json/parse.h"
#include "json/write.h"

static void count_duplicate(void *context, struct vd_slice path)
{
    size_t *count = context;
    assert(vd_utf8_is_valid(path));
    ++*count;
}

/* Parses `text`, which must be the same document as `want`. */
static void check_same(const struct vd_buf *text, const struct vd_json *want)
{
    struct vd_arena arena = {0};
    struct vd_json *again;
    int code = vd_json_parse_copy(&arena, vd_buf_slice(text), NULL, &again, NULL);
    assert(code == VD_OK);
    assert(vd_json_eq(want, again) && vd_json_eq(again, want));
    assert(vd_json_hash(want) == vd_json_hash(again));
    (void)code;
    vd_arena_release(&arena);
}

/* What a number is said to be worth makes a number that is equal to it. */
static void check_numbers(struct vd_arena *arena, const struct vd_json *v)
{
    int64_t i64;
    uint64_t u64;
    double number, again;
    if (vd_json_to_i64(v, &i64))
        assert(vd_json_eq(v, vd_json_i64(arena, i64)));
    if (vd_json_to_u64(v, &u64))
        assert(vd_json_eq(v, vd_json_u64(arena, u64)));
    if (vd_json_to_double(v, &number))
        assert(vd_json_to_double(vd_json_double(arena, number), &again) && number == again);
    if (vd_json_is(v, VD_JSON_NUMBER))
        assert(vd_number_is_valid(vd_json_number_text(v)));
    VD_JSON_EACH (item, v)
        check_numbers(arena, item);
}

static void check_accepted(struct vd_arena *arena, struct vd_slice text, struct vd_json *v)
{
    struct vd_buf compact = {0}, pretty = {0}, copied = {0};
    assert(vd_utf8_is_valid(text));
    assert(vd_json_depth(v) <= VD_JSON_DEPTH_MAX);
    check_numbers(arena, v);
    vd_json_write(&compact, v);
    vd_json_write_pretty(&pretty, v, 2);
    vd_json_write(&copied, vd_json_copy(arena, v));
    assert(vd_slice_eq(vd_buf_slice(&compact), vd_buf_slice(&copied)));
    check_same(&compact, v);
    check_same(&pretty, v);
    vd_buf_release(&compact);
    vd_buf_release(&pretty);
    vd_buf_release(&copied);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vd_slice text = vd_slice(data, size);
    struct vd_arena arena = {0};
    struct vd_error error = {0};
    struct vd_json_where where = {0};
    size_t duplicates = 0;
    struct vd_json_options options = {.duplicates = VD_JSON_DUPLICATES_REPORT,
                                      .on_duplicate = count_duplicate,
                                      .context = &duplicates,
                                      .where = &where};
    struct vd_json *v = NULL, *other = NULL;
    int code = vd_json_parse(&arena, text, &options, &v, &error);
    int plain = vd_json_parse(&arena, text, NULL, &other, NULL);
    assert(code == plain);
    options.duplicates = VD_JSON_DUPLICATES_REJECT;
    int strict = vd_json_parse(&arena, text, &options, &other, &error);
    if (code == VD_OK) {
        assert((strict == VD_OK) == (duplicates == 0));
        check_accepted(&arena, text, v);
    } else {
        assert(strict != VD_OK && error.text[0]);
        assert(where.offset <= size && where.line >= 1 && where.column >= 1);
    }
    (void)plain;
    (void)strict;
    vd_arena_release(&arena);
    return 0;
}
