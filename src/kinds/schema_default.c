/*
 * Defaulting: a property that is absent gets its default, if its parent is there.
 *
 * The walk goes from the root down, so a default that is an object is itself
 * filled in. A null counts as absent where the schema does not allow one.
 * Subtrees without any default are not entered.
 *
 * Defaults multiply: a list of twenty thousand empty objects takes twenty thousand copies,
 * and a default that is a list of empty objects is filled in by the defaults of its items.
 * So the compiler notes for each default how many bytes it has when all is filled in
 * (`fallback_len`), bottom up, each default walked once. The effort pays for that length
 * before anything is copied, and nothing below a copy is paid for again.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "kinds/schema_internal.h"
#include "json/key_index.h"
#include "json/write.h"

enum {
    FEW = 32,       /* properties that are missing and found without asking for memory */
    MEMBER_LEN = 4, /* of a member besides key and value: two quotes, a colon, a comma */
};

/* ---- lengths, when a schema is compiled ---- */

/* Sums do not wrap around: lengths are far below this, and so is any limit. */
static uint64_t sum(uint64_t a, uint64_t b)
{
    uint64_t max = UINT64_MAX / 2;
    return a > max - (b < max ? b : max) ? max : a + b;
}

static uint64_t member_len(const struct vd_schema_property *property)
{
    return sum(property->name.n + MEMBER_LEN, property->node->fallback_len);
}

/* The bytes that defaults add to a value that is itself part of a default. */
static uint64_t growth_of(const struct vd_schema_node *node, const struct vd_json *value);

/* All defaults of the node, without those of members that are there. */
static uint64_t growth_of_object(const struct vd_schema_node *node, const struct vd_json *object)
{
    uint64_t below = 0, present = 0;
    VD_JSON_EACH (member, object) {
        const struct vd_schema_property *property = vd_schema_find(node, vd_json_key(member));
        const struct vd_schema_node *child = property ? property->node : node->additional;
        if (property && child && child->fallback)
            present = sum(present, member_len(property));
        if (child)
            below = sum(below, growth_of(child, member));
    }
    uint64_t missing = node->growth > present ? node->growth - present : 0;
    return sum(missing, below);
}

static bool is_bad_null(const struct vd_schema_node *node, const struct vd_json *value)
{
    return vd_json_is(value, VD_JSON_NULL) && !(node->flags & VD_SCHEMA_NULLABLE);
}

static uint64_t growth_of(const struct vd_schema_node *node, const struct vd_json *value)
{
    uint64_t growth = 0;
    if (!(node->flags & VD_SCHEMA_DEFAULTS_BELOW))
        return 0;
    if (node->fallback && is_bad_null(node, value))
        return node->fallback_len;
    if (vd_json_is(value, VD_JSON_OBJECT))
        return growth_of_object(node, value);
    if (vd_json_is(value, VD_JSON_ARRAY) && node->items)
        VD_JSON_EACH (item, value)
            growth = sum(growth, growth_of(node->items, item));
    return growth;
}

void vd_schema_note_defaults(struct vd_arena *arena, struct vd_schema_node *node)
{
    if (!(node->flags & VD_SCHEMA_DEFAULTS_BELOW))
        return;
    for (uint32_t i = 0; i < node->property_count; i++)
        node->defaulted_count += node->properties[i].node && node->properties[i].node->fallback;
    node->defaulted = vd_arena_alloc(arena, node->defaulted_count * sizeof *node->defaulted);
    for (uint32_t i = 0, n = 0; i < node->property_count; i++) {
        if (!node->properties[i].node || !node->properties[i].node->fallback)
            continue;
        node->defaulted[n++] = (uint16_t)i;
        node->growth = sum(node->growth, member_len(&node->properties[i]));
    }
    if (!node->fallback)
        return;
    struct vd_buf text = {0};
    vd_json_write(&text, node->fallback);
    node->fallback_len = sum(text.n, growth_of(node, node->fallback));
    vd_buf_release(&text);
}

/* ---- filling in ---- */

struct filling {
    struct vd_arena *arena;
    struct vd_effort *effort;
    bool paid; /* for all that is below: it is a default that was just copied */
};

static bool pay(struct filling *f, uint64_t bytes)
{
    return f->paid || vd_effort_fill(f->effort, bytes);
}

/* Replaces a null by the node's default, then fills in below. */
static bool fill(struct filling *f, const struct vd_schema_node *node, struct vd_json *value);

/* Adds what is missing. It is found first and added then: the index must not see
 * the object change. */
static bool add_missing(struct filling *f, const struct vd_schema_node *node,
                        struct vd_json *object)
{
    const struct vd_schema_property *few[FEW], **missing = few;
    struct vd_key_index index;
    uint64_t len = 0;
    size_t n = 0;
    if (node->defaulted_count > FEW)
        missing = vd_malloc(node->defaulted_count * sizeof *missing);
    vd_key_index_init(&index, object);
    for (uint32_t i = 0; i < node->defaulted_count; i++) {
        const struct vd_schema_property *property = &node->properties[node->defaulted[i]];
        if (vd_key_index_get(&index, property->name))
            continue;
        missing[n++] = property;
        len = sum(len, member_len(property));
    }
    vd_key_index_release(&index);
    bool ok = n == 0 || pay(f, len);
    for (size_t i = 0; ok && i < n; i++)
        vd_json_add(f->arena, object, missing[i]->name,
                    vd_json_copy(f->arena, missing[i]->node->fallback));
    if (missing != few)
        free(missing);
    return ok;
}

static bool fill_object(struct filling *f, const struct vd_schema_node *node,
                        struct vd_json *object)
{
    bool paid = f->paid, ok = true;
    size_t own = vd_json_count(object), at = 0;
    if (node->defaulted_count && !add_missing(f, node, object))
        return false;
    for (struct vd_json *member = vd_json_first(object); ok && member;
         member = vd_json_next(member)) {
        const struct vd_schema_property *property = vd_schema_find(node, vd_json_key(member));
        const struct vd_schema_node *child = property ? property->node : node->additional;
        f->paid = paid || at++ >= own;
        ok = !child || fill(f, child, member);
    }
    f->paid = paid;
    return ok;
}

static bool fill(struct filling *f, const struct vd_schema_node *node, struct vd_json *value)
{
    bool paid = f->paid, ok = true;
    if (!(node->flags & VD_SCHEMA_DEFAULTS_BELOW))
        return true;
    if (node->fallback && is_bad_null(node, value)) {
        if (!pay(f, node->fallback_len))
            return false;
        vd_json_assign(value, vd_json_copy(f->arena, node->fallback));
        f->paid = true;
    }
    if (vd_json_is(value, VD_JSON_OBJECT)) {
        ok = fill_object(f, node, value);
    } else if (vd_json_is(value, VD_JSON_ARRAY) && node->items) {
        for (struct vd_json *item = vd_json_first(value); ok && item; item = vd_json_next(item))
            ok = fill(f, node->items, item);
    }
    f->paid = paid;
    return ok;
}

bool vd_schema_default(const struct vd_schema *s, struct vd_arena *arena, struct vd_json *object,
                       struct vd_effort *effort)
{
    struct filling f = {.arena = arena, .effort = effort};
    return fill(&f, s->root, object);
}
