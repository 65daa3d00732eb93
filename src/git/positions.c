/*
 * See positions.h.
 *
 * A field is first looked up in the decoded document, which says at each level the how-manieth
 * child leads to it. YAML's reader knows where its values stand. Of JSON the same children are
 * then followed through the bytes (json/span.h); a document with a key twice is never asked for, so
 * the two have the same children.
 */
#include "git/positions.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/limits.h"
#include "base/vec.h"
#include "json/document.h"
#include "json/parse.h"
#include "json/pointer.h"
#include "json/span.h"
#include "json/yaml_read.h"

/* Whoever sends a large document with many mistakes gets places that are less exact after so many
 * steps: those of parents. They take about a tenth of a second. */
enum { STEPS_MAX = 30000000, STEP_BYTES = 8 };

struct vd_git_positions {
    size_t steps_left; /* children and stretches of text that may still be passed */
    struct vd_git_source source;
    struct vd_arena arena;
    struct vd_json *root;          /* NULL: it cannot be read */
    struct vd_yaml_reader *reader; /* NULL for JSON */
    VD_VEC(size_t) way;            /* the children from the root to the field, for JSON */
};

struct vd_git_positions *vd_git_positions_new(const struct vd_git_source *source)
{
    struct vd_git_positions *p = VD_NEW(struct vd_git_positions);
    struct vd_yaml_options options = {.positions = true,
                                      .lines_skipped = source->from.line - 1,
                                      .duplicates = VD_YAML_DUPLICATES_LAST};
    int code;
    p->source = *source;
    p->steps_left = STEPS_MAX;
    if (source->syntax == VD_GIT_JSON) {
        code = vd_json_parse(&p->arena, source->text, NULL, &p->root, NULL);
    } else {
        p->reader = vd_yaml_reader_new(source->text, &options);
        code = vd_yaml_reader_next(p->reader, &p->arena, &p->root, NULL);
    }
    if (code)
        p->root = NULL;
    return p;
}

void vd_git_positions_free(struct vd_git_positions *p)
{
    if (!p)
        return;
    vd_yaml_reader_free(p->reader);
    VD_VEC_RELEASE(&p->way);
    vd_arena_release(&p->arena);
    free(p);
}

/* --- from a path to a value --- */

/* Whether the rest of a path may go on here with another part. */
static bool is_boundary(struct vd_slice rest, size_t at)
{
    return at == rest.n || rest.p[at] == '.' || rest.p[at] == '[';
}

/* The bytes of the path that a member's key takes up, as `key` or `[key]`; 0 if it is another. */
static size_t key_len(struct vd_slice rest, struct vd_slice key)
{
    bool bracket = rest.p[0] == '[';
    size_t n = key.n + (bracket ? 2 : 0);
    if (!n || n > rest.n || !vd_slice_starts_with(vd_slice_from(rest, bracket), key))
        return 0;
    return (!bracket || rest.p[n - 1] == ']') && is_boundary(rest, n) ? n : 0;
}

/* "[12]" at the beginning of the path; false if there is none. */
static bool read_index(struct vd_slice rest, size_t *index, size_t *len)
{
    const char *end = rest.p[0] == '[' ? memchr(rest.p, ']', rest.n) : NULL;
    if (!end)
        return false;
    *len = (size_t)(end - rest.p) + 1;
    return vd_pointer_index(vd_slice(rest.p + 1, *len - 2), index);
}

/* Whether so many steps may still be made; they are counted. */
static bool may_pass(struct vd_git_positions *p, size_t steps)
{
    if (steps > p->steps_left)
        return false;
    p->steps_left -= steps;
    return true;
}

/* The child that the path leads to next, NULL if it is not there, and how much of it was read. */
static struct vd_json *step(struct vd_git_positions *p, const struct vd_json *v,
                            struct vd_slice rest, size_t *ordinal, size_t *len)
{
    struct vd_json *found = NULL;
    size_t at = 0;
    if (!may_pass(p, vd_json_count(v)))
        return NULL;
    if (vd_json_is(v, VD_JSON_ARRAY))
        return read_index(rest, ordinal, len) ? vd_json_at(v, *ordinal) : NULL;
    *len = 0;
    VD_JSON_EACH (member, v) {
        size_t n = key_len(rest, vd_json_key(member));
        if (n > *len) { /* a key may have dots, so that another is its beginning */
            found = member;
            *ordinal = at;
            *len = n;
        }
        at++;
    }
    return found;
}

/* --- from a value to its place --- */

static struct vd_yaml_position place_of_byte(const struct vd_git_source *source, const char *to)
{
    struct vd_yaml_position at = source->from;
    for (const char *c = source->text.p; c < to; c++) {
        if (*c == '\n') {
            at.line++;
            at.column = 1;
        } else if (((unsigned char)*c & 0xc0) != 0x80) {
            at.column++;
        }
    }
    return at;
}

/* Follows the way through the bytes of a JSON document. */
static struct vd_yaml_position place_in_json(const struct vd_git_positions *p)
{
    struct vd_slice value = p->source.text, key;
    const char *at = vd_slice_trim(value).p;
    for (size_t i = 0; i < p->way.n; i++) {
        struct vd_span_cursor c;
        vd_span_open(&c, vd_slice_trim(value));
        for (size_t n = 0; n <= p->way.p[i]; n++)
            if (!vd_span_next(&c, &key, &value))
                return place_of_byte(&p->source, at);
        at = c.object ? key.p - 1 : value.p;
    }
    return place_of_byte(&p->source, at);
}

static struct vd_yaml_position place_of(struct vd_git_positions *p, const struct vd_json *value)
{
    struct vd_yaml_position at = p->source.from;
    if (!value)
        return at;
    if (!p->reader)
        return may_pass(p, p->source.text.n / STEP_BYTES) ? place_in_json(p) : at;
    return vd_yaml_reader_position(p->reader, value, &at) ? at : p->source.from;
}

/* The document itself: the root, or the item of a list. */
static struct vd_json *begin(struct vd_git_positions *p)
{
    struct vd_json *v = p->root;
    size_t len, index = p->source.item - 1;
    p->way.n = 0;
    if (!v || !p->source.item)
        return v;
    struct vd_json *items = step(p, v, VD_SLICE("items"), VD_VEC_PUSH(&p->way), &len);
    struct vd_json *item = items ? vd_json_at(items, index) : NULL;
    if (item)
        *VD_VEC_PUSH(&p->way) = index;
    return item;
}

struct vd_yaml_position vd_git_positions_find(struct vd_git_positions *p, struct vd_slice field)
{
    struct vd_json *v = begin(p);
    struct vd_slice rest = field;
    while (v && rest.n) {
        size_t ordinal = 0, len = 0;
        struct vd_json *child = step(p, v, rest, &ordinal, &len);
        if (!child)
            break;
        v = child;
        *VD_VEC_PUSH(&p->way) = ordinal;
        rest = vd_slice_from(rest, len);
        if (rest.n && rest.p[0] == '.')
            rest = vd_slice_from(rest, 1);
    }
    return place_of(p, v);
}

/* The how-manieth child of `v` this is. */
static size_t ordinal_of(const struct vd_json *v, const struct vd_json *child)
{
    size_t n = 0;
    VD_JSON_EACH (other, v) {
        if (other == child)
            break;
        n++;
    }
    return n;
}

struct vd_yaml_position vd_git_positions_point(struct vd_git_positions *p, struct vd_slice pointer)
{
    struct vd_json *v = begin(p);
    struct vd_pointer parts = {0};
    if (vd_pointer_parse(&p->arena, pointer, &parts, NULL))
        return place_of(p, v);
    for (size_t i = 0; v && i < parts.n; i++) {
        struct vd_json *child = vd_pointer_step(v, parts.tokens[i]);
        if (!child)
            break;
        *VD_VEC_PUSH(&p->way) = ordinal_of(v, child);
        v = child;
    }
    return place_of(p, v);
}
