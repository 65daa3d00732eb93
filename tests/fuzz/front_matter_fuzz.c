/*
 * Fuzzes front matter: the input is a Markdown file. The parts make up the file again, byte for
 * byte, and where the YAML parser can read the front matter and finds its end, the end is the same.
 * (The parser also ends lines at other characters than line feeds, and documents at directives,
 * which YAML does not allow there; such files are left out.)
 */
#include "fuzz.h"

#include <string.h>
#include <yaml.h>

#include "base/utf8.h"
#include "git/front_matter.h"
#include "git/manifest.h"

/* The place of a character in bytes. */
static size_t offset_of(struct vd_slice text, size_t characters)
{
    size_t i = 0;
    while (characters-- && i < text.n)
        i += vd_utf8_len(text.p + i, text.p + text.n);
    return i;
}

/* Whether only line feeds, maybe with a carriage return before them, end lines, and no line begins
 * with a directive. */
static bool has_plain_lines(struct vd_slice text)
{
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] == '\r' && (i + 1 == text.n || text.p[i + 1] != '\n'))
            return false;
    return !memmem(text.p, text.n, "\n%", 2) && !memmem(text.p, text.n, "\xC2\x85", 2) &&
           !memmem(text.p, text.n, "\xE2\x80\xA8", 3) && !memmem(text.p, text.n, "\xE2\x80\xA9", 3);
}

/* Where the parser says that the first document ends; false if it cannot read it so far. */
static bool yaml_end(struct vd_slice text, size_t *end)
{
    yaml_parser_t parser;
    yaml_event_t event;
    bool ended = false, found = false;
    if (!yaml_parser_initialize(&parser))
        abort();
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text.p, text.n);
    while (!ended && yaml_parser_parse(&parser, &event)) {
        ended = event.type == YAML_STREAM_END_EVENT || event.type == YAML_DOCUMENT_END_EVENT;
        found = event.type == YAML_DOCUMENT_END_EVENT;
        *end = offset_of(text, event.start_mark.index);
        yaml_event_delete(&event);
    }
    if (found && yaml_parser_parse(&parser, &event)) /* else it has ended at a mistake */
        yaml_event_delete(&event);
    else
        found = false;
    yaml_parser_delete(&parser);
    return found;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vd_slice text = size ? vd_slice(data, size) : VD_SLICE("");
    struct vd_slice plain = vd_slice_starts_with(text, VD_SLICE("\xEF\xBB\xBF"))
                                ? vd_slice_from(text, 3)
                                : text;
    struct vd_front_matter f = {0};
    size_t end = 0;
    enum vd_front_matter_result result = vd_front_matter_split(text, &f);
    if (result == VD_FRONT_MATTER_FOUND) {
        FUZZ_CHECK(f.yaml.p == plain.p);
        FUZZ_CHECK(f.body.n == 0 || f.body.p + f.body.n == text.p + text.n);
        struct vd_slice marker = vd_slice(
            f.yaml.p + f.yaml.n, text.n - (size_t)(f.yaml.p - text.p) - f.yaml.n - f.body.n);
        struct vd_slice bare = vd_slice_trim(marker);
        FUZZ_CHECK(vd_slice_is(bare, "---") || vd_slice_is(bare, "..."));
        FUZZ_CHECK(bare.p == marker.p && marker.n <= 5);
        if (has_plain_lines(plain) && vd_utf8_is_valid(plain) && yaml_end(plain, &end))
            FUZZ_CHECK(end == f.yaml.n);
    }
    struct vd_git_file file = {VD_SLICE("a.md"), text};
    struct vd_repository_config config = {0};
    struct vd_git_manifests manifests = {0};
    struct vd_git_report report = {0};
    struct vd_arena arena = {0};
    bool ok = vd_git_file_read(&file, &config, &arena, &manifests, &report);
    FUZZ_CHECK(ok == !vd_git_report_has_errors(&report));
    FUZZ_CHECK(manifests.list.n <= 1);
    FUZZ_CHECK(!manifests.list.n || vd_slice_eq(manifests.list.p[0].body, f.body));
    VD_VEC_RELEASE(&manifests.list);
    vd_git_report_release(&report);
    vd_arena_release(&arena);
    return 0;
}
