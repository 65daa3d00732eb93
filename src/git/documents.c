/* See documents.h. */
#include "git/documents.h"

#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "git/document_marker.h"
#include "json/parse.h"
#include "json/scan.h"
#include "json/yaml_read.h"

void vd_git_documents_open(struct vd_git_documents *d, struct vd_slice path, struct vd_slice text,
                           enum vd_git_syntax syntax, struct vd_yaml_position from)
{
    if (vd_slice_starts_with(text, VD_SLICE("\xEF\xBB\xBF")))
        text = vd_slice_from(text, 3);
    *d = (struct vd_git_documents){.path = path, .rest = text, .syntax = syntax, .at = from};
}

/* --- cutting --- */

/* Cuts `n` bytes off the rest; they are what the source's text is. */
static void take(struct vd_git_documents *d, size_t n, struct vd_git_source *out)
{
    *out = (struct vd_git_source){
        .path = d->path, .text = vd_slice(d->rest.p, n), .syntax = d->syntax, .from = d->at};
    const char *at = d->rest.p, *end = at + n;
    for (const char *feed; at < end && (feed = memchr(at, '\n', (size_t)(end - at)));) {
        d->at = (struct vd_yaml_position){d->at.line + 1, 1};
        at = feed + 1;
    }
    for (; at < end; at++)
        d->at.column += ((unsigned char)*at & 0xc0) != 0x80;
    d->rest = vd_slice_from(d->rest, n);
}

/* Whether the line is only a comment or blank. */
static bool is_comment(struct vd_slice line)
{
    struct vd_slice text = vd_slice_trim(line);
    return !text.n || text.p[0] == '#';
}

/*
 * The bytes of the first YAML document of the rest. It begins with its `---`, if it has one, or
 * with the directives before that, and ends before the next `---` or with its `...`.
 */
static size_t yaml_len(struct vd_slice rest, bool *is_empty)
{
    const char *from = rest.p, *end = rest.p + rest.n;
    struct vd_slice line;
    bool directives = false, content = false;
    *is_empty = false;
    while (vd_document_cut_line(&rest, &line)) {
        bool starts = vd_document_starts(line);
        if (starts && line.p > from && (content || !directives))
            return (size_t)(line.p - from);
        if (vd_document_ends(line)) {
            *is_empty = !content && !directives;
            return (size_t)((rest.n ? rest.p : end) - from);
        }
        directives |= !content && line.n && line.p[0] == '%';
        content |= starts || (!is_comment(line) && line.p[0] != '%');
    }
    return (size_t)(end - from);
}

/* The bytes of the first JSON value of the rest, which begins with it. What is no object or array
 * is taken to be all of the rest: the parser tells what it is. */
static size_t json_len(struct vd_slice rest)
{
    size_t depth = 0;
    bool quoted = false;
    if (rest.p[0] != '{' && rest.p[0] != '[')
        return rest.n;
    for (size_t i = 0; i < rest.n; i++) {
        char c = rest.p[i];
        if (quoted) {
            i += c == '\\';
            quoted = c != '"';
        } else if (c == '"') {
            quoted = true;
        } else if (c == '{' || c == '[') {
            depth++;
        } else if ((c == '}' || c == ']') && --depth == 0) {
            return i + 1;
        }
    }
    return rest.n;
}

/* The next document's place in the file, with an empty text if nothing is in it; false at the end.
 */
static bool cut(struct vd_git_documents *d, struct vd_git_source *out)
{
    bool is_empty = false;
    if (d->syntax == VD_GIT_JSON) {
        const char *end = d->rest.p + d->rest.n;
        take(d, (size_t)(vd_scan_blank(d->rest.p, end) - d->rest.p), out);
    }
    if (!d->rest.n)
        return false;
    take(d, d->syntax == VD_GIT_JSON ? json_len(d->rest) : yaml_len(d->rest, &is_empty), out);
    if (is_empty)
        out->text.n = 0;
    return true;
}

/* --- reading --- */

/* Adds the error to the report without the place that stands before its text. */
static void report_error(const struct vd_git_source *source, struct vd_yaml_position at,
                         const char *place, const struct vd_error *error,
                         struct vd_git_report *report)
{
    struct vd_slice text = vd_slice_of(error->text);
    if (vd_slice_starts_with(text, vd_slice_of(place)))
        text = vd_slice_from(text, strlen(place));
    vd_git_report_add_text(report, VD_GIT_ERROR, source->path, at.line ? at : source->from,
                           VD_SLICE(""), text);
}

static struct vd_json *read_json(const struct vd_git_source *source, struct vd_arena *arena,
                                 struct vd_git_report *report)
{
    struct vd_json_where where = {0};
    struct vd_json_options options = {.duplicates = VD_JSON_DUPLICATES_REJECT, .where = &where};
    struct vd_json *value = NULL;
    struct vd_error error;
    char place[VD_JSON_PATH_MAX + 64];
    if (!vd_json_parse(arena, source->text, &options, &value, &error))
        return value;
    snprintf(place, sizeof place, "JSON line %zu, column %zu%s%s: ", where.line, where.column,
             where.path[0] ? ", at " : "", where.path);
    struct vd_yaml_position at = {(uint32_t)where.line, (uint32_t)where.column};
    if (at.line == 1)
        at.column += source->from.column - 1;
    if (at.line)
        at.line += source->from.line - 1;
    report_error(source, at, place, &error, report);
    return NULL;
}

/* What a YAML reader's duplicate keys are reported to. */
struct duplicates {
    const struct vd_git_source *source;
    struct vd_git_report *report;
    size_t count;
};

static void duplicate_found(void *context, const struct vd_yaml_duplicate *again)
{
    struct duplicates *d = context;
    d->count++;
    vd_git_report_add(d->report, VD_GIT_ERROR, d->source->path, again->at, again->path,
                      "the key is already there; remove one of them");
}

/* Reads the document; NULL if there is nothing in it, or something is wrong. */
static struct vd_json *read_yaml(const struct vd_git_source *source, struct vd_arena *arena,
                                 struct vd_git_report *report)
{
    struct duplicates duplicates = {.source = source, .report = report};
    struct vd_yaml_options options = {.lines_skipped = source->from.line - 1,
                                      .duplicates = VD_YAML_DUPLICATES_REPORT,
                                      .on_duplicate = duplicate_found,
                                      .context = &duplicates};
    struct vd_yaml_reader *r = vd_yaml_reader_new(source->text, &options);
    struct vd_json *value = NULL, *second = NULL;
    struct vd_error error;
    char place[64];
    int code = vd_yaml_reader_next(r, arena, &value, &error);
    if (!code && value)
        code = vd_yaml_reader_next(r, arena, &second, &error);
    if (!code && second)
        code = vd_error_set(
            &error, VD_ERR_INVALID,
            "a document marker stands behind a line separator that is no line feed");
    if (code) {
        struct vd_yaml_position at = vd_yaml_reader_failed_at(r);
        snprintf(place, sizeof place, "line %u, column %u: ", at.line, at.column);
        report_error(source, at, place, &error, report);
    }
    vd_yaml_reader_free(r);
    return code || duplicates.count ? NULL : value;
}

/* --- lists --- */

/* If the document is a list, its items come next. */
static bool open_list(struct vd_git_documents *d, const struct vd_git_source *source,
                      struct vd_json *value)
{
    struct vd_slice kind = vd_json_text(vd_json_get(value, VD_SLICE("kind")));
    struct vd_json *items = vd_json_get(value, VD_SLICE("items"));
    if (!vd_slice_ends_with(kind, VD_SLICE("List")) || !vd_json_is(items, VD_JSON_ARRAY) ||
        vd_json_dig(value, "metadata", "name", NULL))
        return false;
    d->list = *source;
    d->items = items;
    d->item_kind = vd_slice(kind.p, kind.n - 4);
    d->item_api_version = vd_json_text(vd_json_get(value, VD_SLICE("apiVersion")));
    return true;
}

/* The item says what it is, or gets it from its list. */
static void name_item(const struct vd_git_documents *d, struct vd_arena *arena,
                      struct vd_json *item)
{
    if (!vd_json_is(item, VD_JSON_OBJECT) || !d->item_kind.n ||
        vd_json_get(item, VD_SLICE("kind")) || vd_json_get(item, VD_SLICE("apiVersion")))
        return;
    vd_json_add_ref(item, VD_SLICE("apiVersion"), vd_json_string(arena, d->item_api_version));
    vd_json_add_ref(item, VD_SLICE("kind"), vd_json_string(arena, d->item_kind));
}

/* The next item of the open list; false if there is none left. */
static bool next_item(struct vd_git_documents *d, struct vd_arena *arena,
                      struct vd_git_document *out)
{
    struct vd_json *item = d->items ? vd_json_remove_after(d->items, NULL) : NULL;
    if (!item) {
        d->items = NULL;
        return false;
    }
    d->list.item++;
    name_item(d, arena, item);
    *out = (struct vd_git_document){.source = d->list, .value = item};
    return true;
}

/* Whether there may be one more document, be it empty; if not, nothing of the file is left. */
static bool may_count(struct vd_git_documents *d, const struct vd_git_source *source,
                      const struct vd_arena *arena, struct vd_git_report *report)
{
    if (!d->count++)
        d->memory_from = vd_arena_used(arena);
    bool too_large = vd_arena_used(arena) - d->memory_from > VD_GIT_FILE_MEMORY_MAX;
    if (d->count <= VD_GIT_FILE_DOCUMENTS_MAX && !too_large)
        return true;
    if (too_large)
        vd_git_report_add(report, VD_GIT_ERROR, source->path, source->from, VD_SLICE(""),
                          "the documents before this one take more than %d bytes of memory with "
                          "their aliases expanded; split the file",
                          VD_GIT_FILE_MEMORY_MAX);
    else
        vd_git_report_add(report, VD_GIT_ERROR, source->path, source->from, VD_SLICE(""),
                          "the file has more than %d documents; split it",
                          VD_GIT_FILE_DOCUMENTS_MAX);
    d->rest = vd_slice("", 0);
    d->items = NULL;
    return false;
}

bool vd_git_documents_next(struct vd_git_documents *d, struct vd_arena *arena,
                           struct vd_git_document *out, struct vd_git_report *report)
{
    struct vd_git_source source;
    for (;;) {
        if (next_item(d, arena, out))
            return may_count(d, &d->list, arena, report);
        if (!cut(d, &source) || !may_count(d, &source, arena, report))
            return false;
        struct vd_json *value = d->syntax == VD_GIT_JSON ? read_json(&source, arena, report)
                                                         : read_yaml(&source, arena, report);
        if (!value || open_list(d, &source, value))
            continue;
        *out = (struct vd_git_document){.source = source, .value = value};
        return true;
    }
}
