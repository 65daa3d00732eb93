/*
 * One YAML node: from libyaml's events to a value. See yaml_read.h.
 *
 * vd_yaml_node_read calls itself for what is inside; VD_JSON_DEPTH_MAX bounds
 * it. Two things are worth knowing:
 *
 * - Every value made, whether written or copied through an alias, is charged
 *   against the document's budget the moment it is made. So a "billion laughs"
 *   stops after VD_YAML_NODES_MAX values, whatever it promises to become.
 * - The members of a map are collected on a stack that all open maps share,
 *   sorted by key when the map closes, and only then linked. Sorting finds
 *   duplicates and settles merges in n log n for any input; a hash would need
 *   a secret.
 *
 * A function that fails leaves r->frame and r->flow as they are: the error has
 * its path by then, and nothing reads on after an error.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "json/number.h"
#include "json/yaml_read_internal.h"
#include "json/yaml_scalar.h"

enum { EXCERPT_LEN_MAX = 64 }; /* bytes of a key or a scalar shown in an error */

/* --- aliases --- */

static int check_depth(struct vd_yaml_reader *r, struct vd_yaml_position at, size_t depth)
{
    if (depth <= VD_JSON_DEPTH_MAX)
        return VD_OK;
    vd_error_set(&r->error, VD_ERR_LIMIT, "the document nests deeper than %d", VD_JSON_DEPTH_MAX);
    return vd_yaml_fail(r, at);
}

/* What an alias stands for. */
static int find_alias(struct vd_yaml_reader *r, const yaml_event_t *event, struct vd_json **out)
{
    const char *name = (const char *)event->data.alias.anchor;
    const struct vd_yaml_anchor *anchor = vd_yaml_anchors_find(&r->anchors, name);
    if (anchor && !anchor->open) {
        *out = anchor->value;
        return VD_OK;
    }
    if (anchor)
        vd_error_set(&r->error, VD_ERR_INVALID, "the alias stands inside its own anchor");
    else
        vd_error_set(&r->error, VD_ERR_INVALID,
                     "the alias has no anchor before it in this document; write the value in "
                     "quotes if it is a text that begins with *");
    return vd_yaml_fail(r, vd_yaml_mark(r, event->start_mark));
}

/* A copy of `v` and all below it inside `depth` containers, on the budget;
 * texts and keys are shared. The copy itself gets no position. */
static int copy_value(struct vd_yaml_reader *r, const struct vd_json *v, size_t depth,
                      struct vd_yaml_position at, struct vd_json **out)
{
    bool container = v->type >= VD_JSON_ARRAY;
    int code = vd_yaml_charge(r, at, 1, container ? v->key_n : v->key_n + v->n);
    if (!code && container)
        code = check_depth(r, at, depth + 1);
    if (code)
        return code;
    if (!container) {
        *out = vd_json_clone(r->arena, v);
        return VD_OK;
    }
    bool map = v->type == VD_JSON_OBJECT;
    struct vd_json *copy = map ? vd_json_object(r->arena) : vd_json_array(r->arena);
    VD_JSON_EACH (item, v) {
        struct vd_json *child;
        code = copy_value(r, item, depth + 1, at, &child);
        if (code)
            return code;
        if (map)
            vd_json_add_ref(copy, vd_json_key(item), child);
        else
            vd_json_append(copy, child);
        if (r->options.positions)
            vd_yaml_positions_add_copy(&r->positions, child, item);
    }
    *out = copy;
    return VD_OK;
}

/* --- scalars --- */

static struct vd_slice event_text(const yaml_event_t *event)
{
    return vd_slice(event->data.scalar.value, event->data.scalar.length);
}

static int resolve(struct vd_yaml_reader *r, const yaml_event_t *event, struct vd_yaml_scalar *out)
{
    struct vd_slice text = event_text(event);
    const char *tag = (const char *)event->data.scalar.tag;
    if (tag && strcmp(tag, "!") != 0) { /* go-yaml takes a lone ! for nothing */
        int code = vd_yaml_scalar_resolve_tagged(vd_slice_of(tag), text, r->arena, out, &r->error);
        return code ? vd_yaml_fail(r, vd_yaml_mark(r, event->start_mark)) : VD_OK;
    }
    if (event->data.scalar.plain_implicit)
        *out = vd_yaml_scalar_resolve(text);
    else
        *out = (struct vd_yaml_scalar){.type = VD_YAML_STRING, .text = text};
    return VD_OK;
}

/* The value of a number; `text` is how it is written. */
static int read_number(struct vd_yaml_reader *r, const struct vd_yaml_scalar *scalar,
                       struct vd_slice text, struct vd_json **out)
{
    if (text.n > VD_JSON_NUMBER_LEN_MAX)
        return vd_error_set(&r->error, VD_ERR_LIMIT,
                            "a number is longer than %d characters; quote it if text is meant",
                            VD_JSON_NUMBER_LEN_MAX);
    if (vd_number_is_valid(text))
        *out = vd_json_number(r->arena, text);
    else if (scalar->type == VD_YAML_INT)
        *out = vd_json_i64(r->arena, scalar->integer);
    else if (scalar->type == VD_YAML_UINT)
        *out = vd_json_u64(r->arena, scalar->natural);
    else if (isfinite(scalar->real))
        *out = vd_json_double(r->arena, scalar->real);
    else
        return vd_error_set(&r->error, VD_ERR_INVALID,
                            "JSON has no such number; quote it if text is meant");
    return VD_OK;
}

static int read_scalar(struct vd_yaml_reader *r, const yaml_event_t *event, struct vd_json **out)
{
    struct vd_yaml_position at = vd_yaml_mark(r, event->start_mark);
    struct vd_slice text = event_text(event);
    struct vd_yaml_scalar scalar;
    struct vd_json *value = NULL;
    int code = resolve(r, event, &scalar);
    if (!code)
        code = vd_yaml_charge(r, at, 1, text.n);
    if (code)
        return code;
    if (scalar.type == VD_YAML_NULL)
        value = vd_json_null(r->arena);
    else if (scalar.type == VD_YAML_BOOL)
        value = vd_json_bool(r->arena, scalar.truth);
    else if (scalar.type == VD_YAML_STRING)
        value = vd_json_string(r->arena, scalar.text);
    else if (read_number(r, &scalar, text, &value))
        return vd_yaml_fail(r, at);
    vd_yaml_anchors_set(&r->anchors, (const char *)event->data.scalar.anchor, value, false);
    *out = value;
    return VD_OK;
}

/* --- containers --- */

/* The next event's value and place; NULL if it is the container's `end`. */
static int read_next(struct vd_yaml_reader *r, yaml_event_type_t end, size_t depth,
                     struct vd_yaml_position *at, struct vd_json **out)
{
    yaml_event_t event;
    int code = vd_yaml_next_event(r, &event);
    if (code)
        return code;
    *at = vd_yaml_mark(r, event.start_mark);
    if (event.type == end)
        *out = NULL;
    else
        code = vd_yaml_node_read(r, &event, depth, out);
    yaml_event_delete(&event);
    return code;
}

static int check_tag(struct vd_yaml_reader *r, const yaml_char_t *tag, const char *expected,
                     struct vd_yaml_position at)
{
    const char *text = (const char *)tag;
    if (!text || strcmp(text, "!") == 0 || strcmp(text, expected) == 0)
        return VD_OK;
    vd_yaml_tag_unknown(&r->error);
    return vd_yaml_fail(r, at);
}

/* Whether a list or map may begin here: its tag, the reader's budget and the depth. */
static int check_begin(struct vd_yaml_reader *r, const yaml_char_t *tag, const char *plain,
                       struct vd_yaml_position at, size_t depth)
{
    int code = check_tag(r, tag, plain, at);
    if (!code)
        code = vd_yaml_charge(r, at, 1, 0);
    if (!code)
        code = check_depth(r, at, depth + 1);
    return code;
}

static int read_sequence(struct vd_yaml_reader *r, const yaml_event_t *event, size_t depth,
                         struct vd_json **out)
{
    struct vd_yaml_position at = vd_yaml_mark(r, event->start_mark);
    struct vd_yaml_frame frame = {.up = r->frame};
    struct vd_json *array = vd_json_array(r->arena), *item;
    bool flow = event->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE;
    int code = check_begin(r, event->data.sequence_start.tag, YAML_SEQ_TAG, at, depth);
    if (code)
        return code;
    vd_yaml_anchors_set(&r->anchors, (const char *)event->data.sequence_start.anchor, array, true);
    r->frame = &frame;
    r->flow += flow;
    for (;; frame.index++) {
        code = read_next(r, YAML_SEQUENCE_END_EVENT, depth + 1, &at, &item);
        if (code || !item)
            break;
        vd_json_append(array, item);
        if (r->options.positions)
            vd_yaml_positions_add(&r->positions, item, at);
    }
    if (code)
        return code;
    r->frame = frame.up;
    r->flow -= flow;
    vd_yaml_anchors_close(&r->anchors, (const char *)event->data.sequence_start.anchor, array);
    *out = array;
    return VD_OK;
}

/* The text of a value that is used as a key through an alias. */
static int key_of_value(struct vd_yaml_reader *r, const struct vd_json *v, struct vd_buf *out)
{
    struct vd_yaml_scalar scalar = {.type = VD_YAML_NULL};
    if (v->type == VD_JSON_NUMBER)
        scalar = vd_yaml_scalar_resolve(vd_json_number_text(v));
    else if (v->type == VD_JSON_BOOL)
        scalar = (struct vd_yaml_scalar){.type = VD_YAML_BOOL, .truth = v->truth};
    else if (v->type == VD_JSON_STRING)
        scalar = (struct vd_yaml_scalar){.type = VD_YAML_STRING, .text = vd_json_text(v)};
    else if (v->type >= VD_JSON_ARRAY)
        return vd_error_set(&r->error, VD_ERR_INVALID, "a key is a scalar, not an %s",
                            vd_json_type_name(v));
    return vd_yaml_scalar_key(&scalar, out, &r->error);
}

/* The text of the key that the event begins, in the arena. */
static int read_key(struct vd_yaml_reader *r, const yaml_event_t *event, struct vd_slice *out)
{
    struct vd_yaml_position at = vd_yaml_mark(r, event->start_mark);
    struct vd_buf text = {0};
    struct vd_yaml_scalar scalar;
    struct vd_json *value;
    int code;
    if (event->type == YAML_SCALAR_EVENT) {
        code = resolve(r, event, &scalar);
        if (!code && event->data.scalar.anchor)
            code = read_scalar(r, event, &value);
        if (code)
            return code;
        code = vd_yaml_scalar_key(&scalar, &text, &r->error);
    } else if (event->type == YAML_ALIAS_EVENT) {
        code = find_alias(r, event, &value);
        if (code)
            return code;
        code = key_of_value(r, value, &text);
    } else {
        code = vd_error_set(&r->error, VD_ERR_INVALID, "a key is a scalar, not a %s; quote it",
                            event->type == YAML_MAPPING_START_EVENT ? "map" : "list");
    }
    if (code)
        code = vd_yaml_fail(r, at);
    else
        *out = vd_arena_copy(r->arena, vd_buf_slice(&text));
    vd_buf_release(&text);
    return code;
}

static bool is_merge(const yaml_event_t *event)
{
    if (event->type != YAML_SCALAR_EVENT || !vd_slice_is(event_text(event), "<<"))
        return false;
    const char *tag = (const char *)event->data.scalar.tag;
    return tag ? strcmp(tag, "tag:yaml.org,2002:merge") == 0 : event->data.scalar.plain_implicit;
}

/* The members of `source` become candidates of the map being read. */
static int merge_map(struct vd_yaml_reader *r, const struct vd_json *source,
                     struct vd_yaml_position at)
{
    if (source->type != VD_JSON_OBJECT) {
        vd_error_set(&r->error, VD_ERR_INVALID, "<< takes a map or a list of maps, not %s %s",
                     source->type == VD_JSON_ARRAY ? "an" : "a", vd_json_type_name(source));
        return vd_yaml_fail(r, at);
    }
    VD_JSON_EACH (item, source) {
        int code = vd_yaml_charge(r, at, 1, 0);
        if (code)
            return code;
        *VD_VEC_PUSH(&r->members) = (struct vd_yaml_member){
            .key = vd_json_key(item), .value = item, .position = at, .merged = true};
    }
    return VD_OK;
}

/* What stands behind `<<`: a map, an alias of one, or a list of these. */
static int read_merge(struct vd_yaml_reader *r, size_t depth)
{
    yaml_event_t event;
    struct vd_json *value;
    int code = vd_yaml_next_event(r, &event);
    if (code)
        return code;
    struct vd_yaml_position at = vd_yaml_mark(r, event.start_mark);
    bool list = event.type == YAML_SEQUENCE_START_EVENT;
    if (event.type == YAML_ALIAS_EVENT)
        code = find_alias(r, &event, &value); /* the map is not copied, only its members */
    else
        code = vd_yaml_node_read(r, &event, depth, &value);
    yaml_event_delete(&event);
    if (code || !list)
        return code ? code : merge_map(r, value, at);
    VD_JSON_EACH (item, value) {
        code = merge_map(r, item, at);
        if (code)
            break;
    }
    return code;
}

static int member_cmp(const void *a, const void *b)
{
    const struct vd_yaml_member *x = *(struct vd_yaml_member *const *)a,
                                *y = *(struct vd_yaml_member *const *)b;
    int c = vd_slice_cmp(x->key, y->key);
    return c ? c : (x > y) - (x < y); /* in the order of the text */
}

/* Tells the caller's function of a key that its map already has. */
static void duplicate_report(struct vd_yaml_reader *r, const struct vd_yaml_member *again)
{
    struct vd_buf path = {0};
    if (!r->options.on_duplicate || r->duplicates++ >= VD_JSON_DUPLICATES_MAX)
        return;
    vd_yaml_path(r, &path);
    vd_buf_addf(&path, "%s%.*s", path.n ? "." : "",
                VD_FMT(vd_utf8_cut(again->key, EXCERPT_LEN_MAX)));
    r->options.on_duplicate(r->options.context,
                            &(struct vd_yaml_duplicate){vd_buf_slice(&path), again->key,
                                                        again->position, again->value_at});
    vd_buf_release(&path);
}

/* `again` has the key of `first`, both in the map itself. */
static int member_repeats(struct vd_yaml_reader *r, struct vd_yaml_member *first,
                          struct vd_yaml_member *again)
{
    if (r->options.duplicates == VD_YAML_DUPLICATES_REJECT) {
        vd_error_set(&r->error, VD_ERR_INVALID,
                     "the key \"%.*s\" is already on line %u; remove one of them",
                     VD_FMT(vd_utf8_cut(again->key, EXCERPT_LEN_MAX)), first->position.line);
        return vd_yaml_fail(r, again->position);
    }
    if (r->options.duplicates == VD_YAML_DUPLICATES_REPORT)
        duplicate_report(r, again);
    first->value = again->value;
    first->position = again->position;
    return VD_OK;
}

/* Decides which one of these members, all of the same key, stays in the map. */
static int members_settle(struct vd_yaml_reader *r, struct vd_yaml_member **same, size_t n)
{
    struct vd_yaml_member *winner = NULL;
    int code = VD_OK;
    for (size_t i = 0; !code && i < n; i++) {
        if (same[i]->merged)
            continue;
        if (winner)
            code = member_repeats(r, winner, same[i]);
        else
            winner = same[i];
    }
    if (!winner)
        winner = same[0];
    for (size_t i = 0; i < n; i++)
        same[i]->dropped = same[i] != winner;
    return code;
}

/* Marks the members from `base` on that do not stay, because their keys repeat. */
static int members_unique(struct vd_yaml_reader *r, size_t base)
{
    r->sorted.n = 0;
    for (size_t i = base; i < r->members.n; i++)
        *VD_VEC_PUSH(&r->sorted) = &r->members.p[i];
    size_t n = r->sorted.n;
    if (n < 2)
        return VD_OK;
    qsort(r->sorted.p, n, sizeof *r->sorted.p, member_cmp);
    for (size_t i = 0, j; i < n; i = j) {
        for (j = i + 1; j < n && vd_slice_eq(r->sorted.p[i]->key, r->sorted.p[j]->key);)
            j++;
        int code = j - i > 1 ? members_settle(r, &r->sorted.p[i], j - i) : VD_OK;
        if (code)
            return code;
    }
    return VD_OK;
}

/* The map has ended: its members, those from `base` on, go into `object`. */
static int members_link(struct vd_yaml_reader *r, size_t base, size_t depth, struct vd_json *object)
{
    int code = members_unique(r, base);
    for (size_t i = base; !code && i < r->members.n; i++) {
        struct vd_yaml_member *m = &r->members.p[i];
        struct vd_json *value = m->value;
        if (m->dropped)
            continue;
        if (m->merged)
            code = copy_value(r, m->value, depth + 1, m->position, &value);
        if (code)
            break;
        vd_json_add_ref(object, m->key, value);
        if (r->options.positions && m->merged)
            vd_yaml_positions_add_copy(&r->positions, value, m->value);
        else if (r->options.positions)
            vd_yaml_positions_add(&r->positions, value, m->position);
    }
    r->members.n = base;
    return code;
}

/* Reads one member, from its key on; false in *more at the end of the map. */
static int read_member(struct vd_yaml_reader *r, struct vd_yaml_frame *frame, size_t depth,
                       bool *more)
{
    yaml_event_t event;
    struct vd_yaml_member member = {0};
    frame->key = vd_slice(NULL, 0);
    int code = vd_yaml_next_event(r, &event);
    if (code)
        return code;
    *more = event.type != YAML_MAPPING_END_EVENT;
    bool merge = is_merge(&event);
    member.position = vd_yaml_mark(r, event.start_mark);
    if (*more && !merge)
        code = read_key(r, &event, &member.key);
    yaml_event_delete(&event);
    if (code || !*more)
        return code;
    frame->key = merge ? VD_SLICE("<<") : member.key;
    if (merge)
        return read_merge(r, depth);
    code = read_next(r, YAML_NO_EVENT, depth, &member.value_at, &member.value);
    if (!code)
        code = vd_yaml_charge(r, member.value_at, 0, member.key.n);
    if (!code)
        *VD_VEC_PUSH(&r->members) = member;
    return code;
}

static int read_mapping(struct vd_yaml_reader *r, const yaml_event_t *event, size_t depth,
                        struct vd_json **out)
{
    struct vd_yaml_position at = vd_yaml_mark(r, event->start_mark);
    struct vd_yaml_frame frame = {.up = r->frame, .in_map = true};
    struct vd_json *object = vd_json_object(r->arena);
    size_t base = r->members.n;
    bool more = true, flow = event->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE;
    int code = check_begin(r, event->data.mapping_start.tag, YAML_MAP_TAG, at, depth);
    if (code)
        return code;
    vd_yaml_anchors_set(&r->anchors, (const char *)event->data.mapping_start.anchor, object, true);
    r->frame = &frame;
    r->flow += flow;
    while (!code && more)
        code = read_member(r, &frame, depth + 1, &more);
    frame.key = vd_slice(NULL, 0);
    if (!code)
        code = members_link(r, base, depth, object);
    if (code)
        return code;
    r->frame = frame.up;
    r->flow -= flow;
    vd_yaml_anchors_close(&r->anchors, (const char *)event->data.mapping_start.anchor, object);
    *out = object;
    return VD_OK;
}

/* The value of the node that the event begins, inside `depth` containers. */
int vd_yaml_node_read(struct vd_yaml_reader *r, const yaml_event_t *event, size_t depth,
                      struct vd_json **out)
{
    struct vd_json *original = NULL;
    int code;
    r->flow_work += r->flow;
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        return read_scalar(r, event, out);
    case YAML_SEQUENCE_START_EVENT:
        return read_sequence(r, event, depth, out);
    case YAML_MAPPING_START_EVENT:
        return read_mapping(r, event, depth, out);
    default:
        assert(event->type == YAML_ALIAS_EVENT); /* libyaml's grammar */
        code = find_alias(r, event, &original);
        if (code)
            return code;
        assert(original);
        return copy_value(r, original, depth, vd_yaml_mark(r, event->start_mark), out);
    }
}
