/*
 * Fuzzes YAML: the input is a text. Each document that it holds is written,
 * read again and compared; every value has a place in the text; an error has a
 * sentence. An input that is JSON is also written as YAML and read again, which
 * reaches texts that YAML input cannot spell.
 */
#include "fuzz.h"

#include "base/limits.h"
#include "json/compare.h"
#include "json/parse.h"
#include "json/yaml_read.h"
#include "json/yaml_write.h"

static void check_positions(struct vd_yaml_reader *r, const struct vd_json *v)
{
    struct vd_yaml_position at = {0};
    FUZZ_CHECK(vd_yaml_reader_position(r, v, &at));
    FUZZ_CHECK(at.line > 0 && at.column > 0);
    VD_JSON_EACH (item, v)
        check_positions(r, item);
}

static void check_round_trip(const struct vd_json *v)
{
    struct vd_arena arena = {0};
    struct vd_buf text = {0}, again = {0};
    struct vd_error error = {0};
    struct vd_json *back = NULL;
    vd_yaml_write(&text, v);
    int code = vd_yaml_read(&arena, vd_buf_slice(&text), &back, &error);
    if (code)
        fprintf(stderr, "%s\n%s\n", error.text, vd_buf_text(&text));
    FUZZ_CHECK(code == VD_OK);
    FUZZ_CHECK(vd_json_eq(v, back));
    vd_yaml_write(&again, back);
    FUZZ_CHECK(vd_slice_eq(vd_buf_slice(&text), vd_buf_slice(&again)));
    vd_buf_release(&text);
    vd_buf_release(&again);
    vd_arena_release(&arena);
}

static void check_json(struct vd_slice text)
{
    struct vd_arena arena = {0};
    struct vd_json *document;
    if (vd_json_parse(&arena, text, NULL, &document, NULL) == VD_OK)
        check_round_trip(document);
    vd_arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct vd_yaml_options options = {.positions = true};
    struct vd_arena arena = {0};
    struct vd_error error = {0};
    struct vd_json *document = NULL;
    struct vd_yaml_reader *r = vd_yaml_reader_new(vd_slice(data, size), &options);
    int code;
    check_json(vd_slice(data, size));
    while (!(code = vd_yaml_reader_next(r, &arena, &document, &error)) && document) {
        FUZZ_CHECK(vd_json_depth(document) <= VD_JSON_DEPTH_MAX);
        check_positions(r, document);
        check_round_trip(document);
        vd_arena_reset(&arena);
    }
    FUZZ_CHECK(!code || error.text[0]);
    FUZZ_CHECK(!code || (int)error.code == code);
    vd_yaml_reader_free(r);
    vd_arena_release(&arena);
    return 0;
}
