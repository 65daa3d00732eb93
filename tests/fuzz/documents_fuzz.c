/*
 * Fuzzes the split of files into documents: the first byte says whether it is JSON ('j') or YAML,
 * and the rest is the file. Documents come in the order of the file and lie inside it, every field
 * has a place in it, and a YAML file that can be read as one stream gives the same documents as
 * that.
 */
#include "fuzz.h"

#include <string.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "git/documents.h"
#include "json/compare.h"
#include "json/yaml_read.h"

static void check_position(struct vd_git_positions *p, const struct vd_git_source *source,
                           struct vd_buf *field)
{
    struct vd_yaml_position at = vd_git_positions_find(p, vd_buf_slice(field));
    FUZZ_CHECK(at.line >= source->from.line && at.column > 0);
}

/* Every field, by the path that violations would give it. */
static void check_fields(struct vd_git_positions *p, const struct vd_git_source *source,
                         const struct vd_json *v, struct vd_buf *field, size_t *left)
{
    size_t n = field->n, index = 0;
    VD_JSON_EACH (child, v) {
        if (!(*left)--)
            break;
        if (vd_json_is(v, VD_JSON_ARRAY))
            vd_buf_addf(field, "[%zu]", index++);
        else
            vd_buf_addf(field, "%s%.*s", field->n ? "." : "", VD_FMT(vd_json_key(child)));
        check_position(p, source, field);
        check_fields(p, source, child, field, left);
        field->n = n;
        if (!*left)
            break;
    }
}

static void check_document(const struct vd_git_document *document, struct vd_slice file)
{
    const struct vd_git_source *source = &document->source;
    struct vd_git_positions *p = vd_git_positions_new(source);
    struct vd_buf field = {0};
    size_t left = 50;
    FUZZ_CHECK(document->value && vd_json_depth(document->value) <= VD_JSON_DEPTH_MAX);
    FUZZ_CHECK(source->text.p >= file.p && source->text.p + source->text.n <= file.p + file.n);
    check_position(p, source, &field);
    check_fields(p, source, document->value, &field, &left);
    vd_buf_release(&field);
    vd_git_positions_free(p);
}

/* Whether the bytes have nothing that ends a line or a document for the parser alone: it takes
 * directives where YAML does not allow them. */
static bool has_plain_lines(struct vd_slice text)
{
    return !memchr(text.p, '\r', text.n) && !memmem(text.p, text.n, "\n%", 2) &&
           !memmem(text.p, text.n, "\xC2\x85", 2) && !memmem(text.p, text.n, "\xE2\x80\xA8", 3) &&
           !memmem(text.p, text.n, "\xE2\x80\xA9", 3);
}

struct stream {
    struct vd_yaml_reader *reader; /* NULL: not compared */
    struct vd_arena arena;
};

/* Opens the file as one stream, if all of it can be read. */
static void stream_open(struct stream *s, struct vd_slice text)
{
    struct vd_json *document = NULL;
    struct vd_yaml_reader *r = vd_yaml_reader_new(text, NULL);
    int code;
    while (!(code = vd_yaml_reader_next(r, &s->arena, &document, NULL)) && document)
        continue;
    vd_yaml_reader_free(r);
    if (!code && has_plain_lines(text))
        s->reader = vd_yaml_reader_new(text, NULL);
}

/* The next document of the stream; lists are taken apart in the file, so that ends it. */
static void stream_check(struct stream *s, const struct vd_git_document *got)
{
    struct vd_json *want = NULL;
    if (!s->reader)
        return;
    if (!(got && got->source.item))
        FUZZ_CHECK(!vd_yaml_reader_next(s->reader, &s->arena, &want, NULL));
    struct vd_slice kind = vd_json_text(vd_json_get(want, VD_SLICE("kind")));
    if ((got && got->source.item) || vd_slice_ends_with(kind, VD_SLICE("List"))) {
        vd_yaml_reader_free(s->reader);
        s->reader = NULL;
        return;
    }
    FUZZ_CHECK(!got == !want);
    FUZZ_CHECK(!got || vd_json_eq(got->value, want));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size || size > 100000)
        return 0;
    struct vd_slice text = vd_slice(data + 1, size - 1);
    enum vd_git_syntax syntax = data[0] == 'j' ? VD_GIT_JSON : VD_GIT_YAML;
    struct vd_git_documents d;
    struct vd_git_document document;
    struct vd_git_report report = {0};
    struct vd_arena arena = {0};
    struct stream stream = {0};
    uint32_t line = 1;
    if (!vd_utf8_is_valid(text))
        return 0; /* the reader of files has refused it before */
    if (syntax == VD_GIT_YAML)
        stream_open(&stream, text);
    vd_git_documents_open(&d, VD_SLICE("f"), text, syntax, (struct vd_yaml_position){1, 1});
    while (vd_git_documents_next(&d, &arena, &document, &report)) {
        FUZZ_CHECK(document.source.from.line >= line);
        line = document.source.from.line;
        stream_check(&stream, &document);
        check_document(&document, text);
    }
    FUZZ_CHECK(!stream.reader || !vd_git_report_has_errors(&report));
    stream_check(&stream, NULL);
    vd_yaml_reader_free(stream.reader);
    vd_arena_release(&stream.arena);
    vd_git_report_release(&report);
    vd_arena_release(&arena);
    return 0;
}
