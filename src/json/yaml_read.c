/*
 * The YAML reader: the stream, its documents, and errors with their place.
 * yaml_node.c turns what is inside a document into values.
 *
 * libyaml does the syntax. What it does not promise is guarded here: it would
 * read UTF-16, it takes quadratic time for many %TAG directives, and for each
 * token it looks at every bracket that is open.
 */
#include "json/yaml_read.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/limits.h"
#include "json/yaml_read_internal.h"

enum { PATH_LEN_MAX = 160 }; /* bytes of a path shown in an error */

/* --- errors --- */

struct vd_yaml_position vd_yaml_mark(const struct vd_yaml_reader *r, yaml_mark_t mark)
{
    return (struct vd_yaml_position){(uint32_t)(mark.line + 1 + r->options.lines_skipped),
                                     (uint32_t)(mark.column + 1)};
}

/* "spec.containers[0].image": keys stand in it as they are. */
static void path_add(struct vd_buf *out, const struct vd_yaml_frame *frame)
{
    if (!frame)
        return;
    path_add(out, frame->up);
    if (!frame->in_map)
        vd_buf_addf(out, "[%zu]", frame->index);
    else if (frame->key.p)
        vd_buf_addf(out, "%s%.*s", out->n ? "." : "", VD_FMT(frame->key));
}

void vd_yaml_path(const struct vd_yaml_reader *r, struct vd_buf *out)
{
    struct vd_buf path = {0};
    path_add(&path, r->frame);
    size_t from = path.n > PATH_LEN_MAX ? path.n - PATH_LEN_MAX : 0;
    while (from && from < path.n && ((unsigned char)path.p[from] & 0xC0) == 0x80)
        from++; /* not into the middle of a character */
    vd_buf_add_text(out, from ? "..." : "");
    vd_buf_add_slice(out, vd_slice_from(vd_buf_slice(&path), from));
    vd_buf_release(&path);
}

int vd_yaml_fail(struct vd_yaml_reader *r, struct vd_yaml_position at)
{
    struct vd_buf path = {0};
    vd_yaml_path(r, &path);
    r->failed_at = at;
    if (path.n)
        vd_error_prefix(&r->error, "%s", vd_buf_text(&path));
    vd_buf_release(&path);
    vd_error_prefix(&r->error, "line %u, column %u", at.line, at.column);
    return (int)r->error.code;
}

/* The place of a byte that libyaml's reader refused: it gives only an offset. */
static struct vd_yaml_position position_of_offset(const struct vd_yaml_reader *r, size_t offset)
{
    yaml_mark_t mark = {0};
    for (size_t i = 0; i < offset && i < r->text.n; i++) {
        if (r->text.p[i] == '\n') {
            mark.line++;
            mark.column = 0;
        } else if (((unsigned char)r->text.p[i] & 0xC0) != 0x80) {
            mark.column++;
        }
    }
    return vd_yaml_mark(r, mark);
}

/* Whether a tab stands at the mark: the mistake that libyaml explains worst. */
static bool is_tab_at(const struct vd_yaml_reader *r, yaml_mark_t mark)
{
    struct vd_slice rest = r->text, line = {0};
    for (size_t i = 0; i <= mark.line; i++)
        if (!vd_slice_cut(&rest, '\n', &line))
            return false;
    return mark.column < line.n && line.p[mark.column] == '\t';
}

/* The sentence for a mistake in the syntax, in libyaml's words. */
static void syntax_error_set(struct vd_yaml_reader *r, const char *problem)
{
    const yaml_parser_t *p = &r->parser;
    if (strstr(problem, "cannot start any token") && is_tab_at(r, p->problem_mark))
        vd_error_set(&r->error, VD_ERR_INVALID, "a tab cannot indent YAML; use spaces");
    else if (!p->context)
        vd_error_set(&r->error, VD_ERR_INVALID, "%s", problem);
    else if (p->context_mark.line == p->problem_mark.line)
        vd_error_set(&r->error, VD_ERR_INVALID, "%s, %s", problem, p->context);
    else
        vd_error_set(&r->error, VD_ERR_INVALID, "%s, %s that began on line %u", problem, p->context,
                     vd_yaml_mark(r, p->context_mark).line);
}

static int parser_failed(struct vd_yaml_reader *r)
{
    const yaml_parser_t *p = &r->parser;
    const char *problem = p->problem ? p->problem : "this is not YAML";
    if (p->error == YAML_MEMORY_ERROR)
        return vd_error_set(&r->error, VD_ERR_LIMIT, "the YAML text has a part too large to parse");
    if (p->error == YAML_READER_ERROR) {
        bool control = strncmp(problem, "control", 7) == 0;
        vd_error_set(&r->error, VD_ERR_INVALID, "%s; %s", problem,
                     control ? "write an escape in double quotes" : "the text must be UTF-8");
        r->frame = NULL; /* libyaml checks bytes ahead: the path would be another's */
        return vd_yaml_fail(r, position_of_offset(r, p->problem_offset));
    }
    syntax_error_set(r, problem);
    return vd_yaml_fail(r, vd_yaml_mark(r, p->problem_mark));
}

int vd_yaml_next_event(struct vd_yaml_reader *r, yaml_event_t *event)
{
    return yaml_parser_parse(&r->parser, event) ? VD_OK : parser_failed(r);
}

/* --- the budget --- */

/* Charges so many values, or candidates for members, and bytes of text to the budget. */
int vd_yaml_charge(struct vd_yaml_reader *r, struct vd_yaml_position at, size_t nodes, size_t bytes)
{
    r->nodes += nodes;
    r->bytes += bytes;
    if (r->nodes > VD_YAML_NODES_MAX)
        vd_error_set(&r->error, VD_ERR_LIMIT,
                     "the document has more than %d values with its aliases expanded",
                     VD_YAML_NODES_MAX);
    else if (r->bytes > VD_JSON_LEN_MAX)
        vd_error_set(&r->error, VD_ERR_LIMIT,
                     "the document has more than %d bytes of text with its aliases expanded",
                     VD_JSON_LEN_MAX);
    else if (r->flow_work > VD_YAML_FLOW_WORK_MAX)
        vd_error_set(&r->error, VD_ERR_LIMIT,
                     "the document has too many values deep inside [] and {}; indent them instead");
    else
        return VD_OK;
    return vd_yaml_fail(r, at);
}

/* --- documents --- */

/* A document that has nothing in it but comments. */
static bool is_empty(const yaml_event_t *event)
{
    return event->type == YAML_SCALAR_EVENT && event->data.scalar.length == 0 &&
           event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && !event->data.scalar.tag &&
           !event->data.scalar.anchor;
}

/* Refuses what libyaml would accept and this reader does not, and what would make libyaml slow. */
static int check_text(struct vd_yaml_reader *r)
{
    const struct vd_slice directive = VD_SLICE("%TAG");
    struct vd_slice rest = r->text, line;
    size_t directives = 0;
    if (r->text.n > VD_JSON_LEN_MAX)
        return vd_error_set(&r->error, VD_ERR_LIMIT, "the YAML text is longer than %d bytes",
                            VD_JSON_LEN_MAX);
    if (vd_slice_starts_with(rest, VD_SLICE("\xFF\xFE")) ||
        vd_slice_starts_with(rest, VD_SLICE("\xFE\xFF")))
        return vd_error_set(&r->error, VD_ERR_INVALID, "the YAML text is UTF-16; save it as UTF-8");
    /* libyaml compares each %TAG directive with all before it. */
    while (vd_slice_cut(&rest, '\n', &line))
        directives += vd_slice_starts_with(line, directive);
    if (directives > VD_YAML_DIRECTIVES_MAX)
        return vd_error_set(&r->error, VD_ERR_LIMIT,
                            "the YAML text has more than %d %%TAG directives",
                            VD_YAML_DIRECTIVES_MAX);
    return VD_OK;
}

static void document_begin(struct vd_yaml_reader *r, struct vd_arena *arena)
{
    vd_yaml_anchors_clear(&r->anchors);
    vd_yaml_positions_clear(&r->positions);
    r->members.n = 0;
    r->frame = NULL;
    r->arena = arena;
    r->nodes = 0;
    r->bytes = 0;
    r->duplicates = 0;
    r->flow = 0;
    r->flow_work = 0;
}

/* The document's root, and the event that ends it; NULL if it is empty. */
static int read_document(struct vd_yaml_reader *r, struct vd_arena *arena, struct vd_json **out)
{
    yaml_event_t event;
    struct vd_json *root = NULL;
    document_begin(r, arena);
    int code = vd_yaml_next_event(r, &event);
    if (code)
        return code;
    struct vd_yaml_position at = vd_yaml_mark(r, event.start_mark);
    if (!is_empty(&event))
        code = vd_yaml_node_read(r, &event, 0, &root);
    yaml_event_delete(&event);
    if (!code)
        code = vd_yaml_next_event(r, &event);
    if (code)
        return code;
    assert(event.type == YAML_DOCUMENT_END_EVENT);
    yaml_event_delete(&event);
    if (root && r->options.positions)
        vd_yaml_positions_add(&r->positions, root, at);
    *out = root;
    return VD_OK;
}

/* Takes events up to a document's content, or the end of the stream. */
static int find_document(struct vd_yaml_reader *r)
{
    int code = r->started ? VD_OK : check_text(r);
    r->started = true;
    for (bool found = false; !code && !found && !r->ended;) {
        yaml_event_t event;
        code = vd_yaml_next_event(r, &event);
        if (code)
            break;
        found = event.type == YAML_DOCUMENT_START_EVENT;
        r->ended = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    return code;
}

struct vd_yaml_reader *vd_yaml_reader_new(struct vd_slice text,
                                          const struct vd_yaml_options *options)
{
    struct vd_yaml_reader *r = VD_NEW(struct vd_yaml_reader);
    r->text = text.p ? text : vd_slice("", 0);
    if (options)
        r->options = *options;
    if (!yaml_parser_initialize(&r->parser))
        abort(); /* out of memory, as in alloc.h */
    yaml_parser_set_input_string(&r->parser, (const unsigned char *)r->text.p, r->text.n);
    return r;
}

void vd_yaml_reader_free(struct vd_yaml_reader *r)
{
    if (!r)
        return;
    yaml_parser_delete(&r->parser);
    vd_yaml_anchors_release(&r->anchors);
    VD_VEC_RELEASE(&r->members);
    VD_VEC_RELEASE(&r->sorted);
    vd_yaml_positions_release(&r->positions);
    free(r);
}

int vd_yaml_reader_next(struct vd_yaml_reader *r, struct vd_arena *arena, struct vd_json **document,
                        struct vd_error *error)
{
    struct vd_json *root = NULL;
    int code = (int)r->error.code;
    while (!code && !root && !r->ended) {
        code = find_document(r);
        if (!code && !r->ended)
            code = read_document(r, arena, &root);
    }
    r->frame = NULL; /* after an error it points into frames that are gone */
    if (code && error)
        *error = r->error;
    if (!code)
        *document = root;
    return code;
}

bool vd_yaml_reader_position(struct vd_yaml_reader *r, const struct vd_json *value,
                             struct vd_yaml_position *out)
{
    return vd_yaml_positions_find(&r->positions, value, out);
}

struct vd_yaml_position vd_yaml_reader_failed_at(const struct vd_yaml_reader *r)
{
    return r->failed_at;
}

int vd_yaml_read_with(struct vd_arena *arena, struct vd_slice text,
                      const struct vd_yaml_options *options, struct vd_json **document,
                      struct vd_error *error)
{
    struct vd_yaml_reader *r = vd_yaml_reader_new(text, options);
    struct vd_json *first = NULL, *second = NULL;
    int code = vd_yaml_reader_next(r, arena, &first, error);
    if (!code && first)
        code = vd_yaml_reader_next(r, arena, &second, error);
    if (!code && !first)
        code = vd_error_set(error, VD_ERR_INVALID, "the YAML text holds no document");
    else if (!code && second)
        code = vd_error_set(error, VD_ERR_INVALID,
                            "the YAML text holds several documents; one is expected");
    if (!code)
        *document = first;
    vd_yaml_reader_free(r);
    return code;
}

int vd_yaml_read(struct vd_arena *arena, struct vd_slice text, struct vd_json **document,
                 struct vd_error *error)
{
    return vd_yaml_read_with(arena, text, NULL, document, error);
}
