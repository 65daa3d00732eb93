/* FieldsV1 in and out; see field_set.h. */
#include "kinds/field_set.h"
#include "json/escape.h"
#include "json/span.h"

/* ---- in ---- */

static bool read_level(struct vd_arena *a, struct vd_slice json, const struct vd_field_set **out,
                       bool *member)
{
    struct vd_field_level level = {.arena = a};
    struct vd_span_cursor c;
    struct vd_slice raw, text, value;
    *member = false;
    if (json.n < 2 || json.p[0] != '{')
        return false;
    vd_span_open(&c, json);
    while (vd_span_next(&c, &raw, &value)) {
        struct vd_path_element at;
        const struct vd_field_set *below = NULL;
        bool is_member = false;
        if (vd_span_key_is(raw, VD_SLICE("."))) {
            *member = true;
            continue;
        }
        if (!vd_span_decode(a, raw, &text))
            return false;
        if (!vd_path_element_read(a, text, &at))
            continue;
        if (!read_level(a, value, &below, &is_member))
            return false;
        vd_field_level_add(&level, &at, is_member, below);
    }
    *out = vd_field_level_set(&level);
    *member |= !*out;
    return !c.broken;
}

bool vd_field_set_read(struct vd_arena *a, struct vd_slice json, const struct vd_field_set **out)
{
    bool whole; /* the root has no path, so it is no member */
    return read_level(a, vd_slice_trim(json), out, &whole);
}

/* ---- out ---- */

static void write_level(struct vd_buf *out, struct vd_buf *scratch, const struct vd_field_set *set,
                        bool member)
{
    bool first = true;
    vd_buf_add_char(out, '{');
    if (member && set) {
        vd_buf_add_text(out, "\".\":{}");
        first = false;
    }
    for (size_t i = 0; set && i < set->n; i++) {
        if (!first)
            vd_buf_add_char(out, ',');
        first = false;
        vd_buf_reset(scratch);
        vd_path_element_write(scratch, &set->p[i].at);
        vd_escape_write(out, vd_buf_slice(scratch));
        vd_buf_add_char(out, ':');
        write_level(out, scratch, set->p[i].below, set->p[i].member);
    }
    vd_buf_add_char(out, '}');
}

void vd_field_set_write(struct vd_buf *out, const struct vd_field_set *set)
{
    struct vd_buf scratch = {0};
    write_level(out, &scratch, set, false);
    vd_buf_release(&scratch);
}

/* ---- a look without reading ---- */

/* The bytes from the step's value on. */
static bool find_step(struct vd_slice json, const struct vd_path_element *at, struct vd_slice *rest)
{
    struct vd_buf key = {0};
    vd_path_element_write(&key, at);
    bool found = vd_span_seek(json, vd_buf_slice(&key), rest);
    vd_buf_release(&key);
    return found;
}

/* We write the dot first. */
static bool is_member(struct vd_slice rest)
{
    return vd_slice_starts_with(rest, VD_SLICE("{}")) ||
           vd_slice_starts_with(rest, VD_SLICE("{\".\":"));
}

/* Counts the members of `set` that are there and those that are not. */
static void count(struct vd_slice json, const struct vd_field_set *set, size_t *here,
                  size_t *missing)
{
    for (size_t i = 0; i < set->n; i++) {
        const struct vd_field_node *node = &set->p[i];
        struct vd_slice value = VD_SLICE("{}");
        bool found = find_step(json, &node->at, &value);
        if (node->member)
            ++*(found && is_member(value) ? here : missing);
        if (node->below && found)
            count(value, node->below, here, missing);
        else
            *missing += vd_field_set_count(node->below);
    }
}

enum vd_field_overlap vd_field_set_overlap(struct vd_slice json, const struct vd_field_set *set)
{
    size_t here = 0, missing = 0;
    if (set)
        count(json, set, &here, &missing);
    return !here ? VD_OVERLAP_NONE : missing ? VD_OVERLAP_SOME : VD_OVERLAP_ALL;
}
