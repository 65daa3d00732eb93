/*
 * From openAPIV3Schema to nodes: see schema_internal.h for the form.
 *
 * The document is copied into the schema's arena first (or somebody else keeps it),
 * so that nodes can point into it (enum values, defaults, names) and descriptions stay at hand. A
 * keyword of the wrong type is an error; one that is not in the table below is
 * left alone. What takes long, patterns and rules, may wait until it is needed.
 */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash_map.h"
#include "kinds/schema_internal.h"
#include "kinds/schema_rules.h"

/* Bytes of the arena's first chunk: schemas stay, and there may be thousands of small ones. */
enum { FIRST_CHUNK_LEN = 1024 };

struct compiler {
    struct vd_schema *schema;
    struct vd_error *error;
    bool advisory;
    bool resource;
    bool lazy;
    struct vd_hash_map patterns; /* struct vd_schema_pattern by text */
};

static const struct vd_schema_node *compile(struct compiler *c, const struct vd_json *source,
                                            const struct vd_field_path *path);

static void *zeroed(struct compiler *c, size_t size)
{
    void *p = vd_arena_alloc(&c->schema->arena, size);
    memset(p, 0, size);
    return p;
}

/* Says where in the schema the mistake is; gives NULL for `return`. */
static void *refuse(struct compiler *c, const struct vd_field_path *path, const char *what)
{
    struct vd_buf place = {0};
    vd_field_path_write(&place, path, VD_FIELD_DOTTED);
    vd_error_set(c->error, VD_ERR_INVALID, "schema: %s%s%s", vd_buf_text(&place),
                 place.n ? ": " : "", what);
    vd_buf_release(&place);
    return NULL;
}

const struct vd_schema_property *vd_schema_find(const struct vd_schema_node *node,
                                                struct vd_slice name)
{
    if (!node->slots)
        return NULL;
    struct vd_name_words words = vd_name_words(name);
    for (uint32_t at = vd_name_words_hash(words, name.n);; at++) {
        uint16_t slot = node->slots[at & node->slot_mask];
        if (slot == 0)
            return NULL;
        const struct vd_schema_property *property = &node->properties[slot - 1];
        if (property->name.n == name.n && property->words.head == words.head &&
            property->words.tail == words.tail &&
            (name.n <= 16 || vd_slice_eq(property->name, name)))
            return property;
    }
}

/* Room in the slots for `count` properties. */
static void reserve_slots(struct compiler *c, struct vd_schema_node *node, size_t count)
{
    uint32_t slots = 4;
    while (slots < count * 2)
        slots *= 2;
    node->slot_mask = slots - 1;
    node->slots = zeroed(c, slots * sizeof *node->slots);
}

/* A new property; the caller has made room and knows that the name is new. */
static struct vd_schema_property *add_property(struct vd_schema_node *node, struct vd_slice name)
{
    struct vd_schema_property *property = &node->properties[node->property_count++];
    struct vd_name_words words = vd_name_words(name);
    uint32_t at = vd_name_words_hash(words, name.n);
    while (node->slots[at & node->slot_mask])
        at++;
    node->slots[at & node->slot_mask] = (uint16_t)node->property_count;
    property->name = name;
    property->words = words;
    return property;
}

static struct vd_schema_property *property_named(struct vd_schema_node *node, struct vd_slice name)
{
    const struct vd_schema_property *found = vd_schema_find(node, name);
    return found ? &node->properties[found - node->properties] : add_property(node, name);
}

/* `required` after `properties`: it may name what is not described. */
static bool compile_required(struct compiler *c, struct vd_schema_node *node,
                             const struct vd_json *required, const struct vd_field_path *path)
{
    VD_JSON_EACH (name, required) {
        if (!vd_json_is(name, VD_JSON_STRING))
            return refuse(c, path, "required must be a list of strings");
        struct vd_schema_property *property = property_named(node, vd_json_text(name));
        node->required_count += !property->required;
        property->required = true;
    }
    return true;
}

static bool compile_properties(struct compiler *c, struct vd_schema_node *node,
                               const struct vd_json *source, const struct vd_field_path *path)
{
    const struct vd_json *properties = vd_json_get(source, VD_SLICE("properties"));
    const struct vd_json *required = vd_json_get(source, VD_SLICE("required"));
    if (c->advisory && vd_json_is(required, VD_JSON_ARRAY))
        required = NULL;
    size_t count = vd_json_count(properties) + vd_json_count(required);
    if (properties && !vd_json_is(properties, VD_JSON_OBJECT))
        return refuse(c, path, "properties must be an object");
    if (required && !vd_json_is(required, VD_JSON_ARRAY))
        return refuse(c, path, "required must be a list of strings");
    if (count == 0)
        return true;
    if (count >= UINT16_MAX)
        return refuse(c, path, "more than 65534 properties");
    node->properties = zeroed(c, count * sizeof *node->properties);
    reserve_slots(c, node, count);
    VD_JSON_EACH (member, properties) {
        struct vd_field_path at = vd_field_member(path, vd_json_key(member));
        struct vd_schema_property *property = add_property(node, vd_json_key(member));
        property->node = compile(c, member, &at);
        if (!property->node)
            return false;
    }
    return compile_required(c, node, required, path);
}

/* What is only for people, and formats, which may be unknown: texts all the same, or no client that
 * knows their types could read the definition. */
static bool check_texts(struct compiler *c, const struct vd_json *source,
                        const struct vd_field_path *path)
{
    static const struct vd_slice keywords[] = {{"description", 11}, {"title", 5}, {"format", 6}};
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++) {
        const struct vd_json *value = vd_json_get(source, keywords[i]);
        struct vd_field_path at = vd_field_member(path, keywords[i]);
        if (value && !vd_json_is(value, VD_JSON_STRING) && !vd_json_is(value, VD_JSON_NULL))
            return refuse(c, &at, "must be a string");
    }
    return true;
}

static bool compile_types(struct compiler *c, struct vd_schema_node *node,
                          const struct vd_json *source, const struct vd_field_path *path)
{
    static const struct {
        const char *name;
        uint8_t bits;
    } names[] = {
        {"string", VD_TYPE_STRING},   {"integer", VD_TYPE_INTEGER}, {"number", VD_TYPE_NUMBER},
        {"boolean", VD_TYPE_BOOLEAN}, {"array", VD_TYPE_ARRAY},     {"object", VD_TYPE_OBJECT},
    };
    const struct vd_json *type = vd_json_get(source, VD_SLICE("type"));
    if (type && vd_json_text(type).n) {
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (vd_slice_is(vd_json_text(type), names[i].name))
                node->types = names[i].bits;
    }
    if (type && !node->types && !(vd_json_is(type, VD_JSON_STRING) && !vd_json_text(type).n))
        return refuse(c, path,
                      "type must be one of array, boolean, integer, number, object, string");
    if (vd_json_truth(vd_json_get(source, VD_SLICE("x-kubernetes-int-or-string")))) {
        node->types = VD_TYPE_INTEGER | VD_TYPE_STRING;
        node->flags |= VD_SCHEMA_INT_OR_STRING;
    }
    return true;
}

static bool compile_flags(struct compiler *c, struct vd_schema_node *node,
                          const struct vd_json *source, const struct vd_field_path *path)
{
    static const struct {
        const char *keyword;
        uint16_t flags;
    } keywords[] = {
        {"nullable", VD_SCHEMA_NULLABLE},
        {"x-kubernetes-preserve-unknown-fields", VD_SCHEMA_PRESERVE},
        {"x-kubernetes-embedded-resource", VD_SCHEMA_EMBEDDED | VD_SCHEMA_RESOURCE},
        {"uniqueItems", VD_SCHEMA_UNIQUE},
    };
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++) {
        const struct vd_json *value = vd_json_get(source, vd_slice_of(keywords[i].keyword));
        struct vd_field_path at = vd_field_member(path, vd_slice_of(keywords[i].keyword));
        if (value && !vd_json_is(value, VD_JSON_BOOL) && !vd_json_is(value, VD_JSON_NULL))
            return refuse(c, &at, "must be true or false");
        if (vd_json_truth(value))
            node->flags |= keywords[i].flags;
    }
    struct vd_slice list = vd_json_text(vd_json_get(source, VD_SLICE("x-kubernetes-list-type")));
    if (vd_slice_is(list, "set"))
        node->list_type = VD_LIST_SET;
    else if (vd_slice_is(list, "map"))
        node->list_type = VD_LIST_MAP;
    else if (list.n && !vd_slice_is(list, "atomic"))
        return refuse(c, path, "x-kubernetes-list-type must be atomic, set or map");
    node->merge_type = node->list_type;
    if (c->advisory)
        node->list_type = VD_LIST_ATOMIC;
    if (vd_slice_is(vd_json_text(vd_json_get(source, VD_SLICE("x-kubernetes-map-type"))), "atomic"))
        node->flags |= VD_SCHEMA_ATOMIC_MAP;
    node->map_keys = vd_json_get(source, VD_SLICE("x-kubernetes-list-map-keys"));
    VD_JSON_EACH (key, node->map_keys) {
        if (!vd_json_is(key, VD_JSON_STRING))
            return refuse(c, path, "x-kubernetes-list-map-keys must be a list of strings");
    }
    return true;
}

/* One row for each keyword whose value is a number that bounds something. */
static const struct bound_row {
    const char *keyword;
    size_t offset;
    uint32_t bit;
    bool whole; /* a count, not a double */
} bound_rows[] = {
    {"minimum", offsetof(struct vd_schema_bounds, minimum), VD_BOUND_MINIMUM, false},
    {"maximum", offsetof(struct vd_schema_bounds, maximum), VD_BOUND_MAXIMUM, false},
    {"multipleOf", offsetof(struct vd_schema_bounds, multiple_of), VD_BOUND_MULTIPLE_OF, false},
    {"minLength", offsetof(struct vd_schema_bounds, min_length), VD_BOUND_MIN_LENGTH, true},
    {"maxLength", offsetof(struct vd_schema_bounds, max_length), VD_BOUND_MAX_LENGTH, true},
    {"minItems", offsetof(struct vd_schema_bounds, min_items), VD_BOUND_MIN_ITEMS, true},
    {"maxItems", offsetof(struct vd_schema_bounds, max_items), VD_BOUND_MAX_ITEMS, true},
    {"minProperties", offsetof(struct vd_schema_bounds, min_properties), VD_BOUND_MIN_PROPERTIES,
     true},
    {"maxProperties", offsetof(struct vd_schema_bounds, max_properties), VD_BOUND_MAX_PROPERTIES,
     true},
};

static bool compile_bound(struct compiler *c, struct vd_schema_bounds *bounds,
                          const struct bound_row *row, const struct vd_json *value,
                          const struct vd_field_path *path)
{
    struct vd_field_path at = vd_field_member(path, vd_slice_of(row->keyword));
    char *place = (char *)bounds + row->offset;
    if (row->whole) {
        uint64_t count;
        if (!vd_json_to_u64(value, &count))
            return refuse(c, &at, "must be an integer that is not negative");
        memcpy(place, &count, sizeof count);
    } else {
        double number;
        if (!vd_json_to_double(value, &number))
            return refuse(c, &at, "must be a number");
        memcpy(place, &number, sizeof number);
    }
    if (row->bit == VD_BOUND_MULTIPLE_OF && !(bounds->multiple_of > 0))
        return refuse(c, &at, "must be greater than 0");
    bounds->set |= row->bit;
    return true;
}

static struct vd_slice pattern_text(const void *item)
{
    return ((const struct vd_schema_pattern *)item)->text;
}

const struct vd_pattern *vd_schema_pattern_get(struct vd_schema_pattern *pattern,
                                               struct vd_effort *effort)
{
    struct vd_pattern *made = atomic_load_explicit(&pattern->compiled, memory_order_acquire);
    struct vd_pattern *other = NULL;
    char why[1];
    if (made || !vd_effort_may_compile(effort))
        return made;
    made = vd_pattern_new(pattern->text.p, pattern->text.n, why, sizeof why);
    if (!made)
        return NULL;
    vd_effort_spend(effort, VD_EFFORT_COMPILE * (uint64_t)vd_pattern_size(made));
    if (atomic_compare_exchange_strong(&pattern->compiled, &other, made))
        return made;
    vd_pattern_free(made); /* somebody was faster */
    return other;
}

static bool compile_pattern(struct compiler *c, struct vd_schema_bounds *bounds,
                            const struct vd_json *value, const struct vd_field_path *path)
{
    struct vd_slice text = vd_json_text(value);
    struct vd_field_path at = vd_field_member(path, VD_SLICE("pattern"));
    char why[256];
    if (!vd_json_is(value, VD_JSON_STRING))
        return refuse(c, &at, "must be a string");
    if (text.n == 0)
        return true;
    bounds->pattern = vd_hash_map_get(&c->patterns, text);
    if (bounds->pattern)
        return true;
    struct vd_pattern *compiled = c->lazy ? NULL : vd_pattern_new(text.p, text.n, why, sizeof why);
    if (!compiled && !c->lazy)
        return refuse(c, &at, why);
    bounds->pattern = zeroed(c, sizeof *bounds->pattern);
    bounds->pattern->text = text;
    atomic_init(&bounds->pattern->compiled, compiled);
    vd_hash_map_put(&c->patterns, bounds->pattern);
    *VD_VEC_PUSH(&c->schema->patterns) = bounds->pattern;
    return true;
}

static bool compile_bounds(struct compiler *c, struct vd_schema_node *node,
                           const struct vd_json *source, const struct vd_field_path *path)
{
    struct vd_schema_bounds bounds = {0};
    for (size_t i = 0; i < sizeof bound_rows / sizeof *bound_rows; i++) {
        const struct vd_json *value = vd_json_get(source, vd_slice_of(bound_rows[i].keyword));
        if (value && !vd_json_is(value, VD_JSON_NULL) &&
            !compile_bound(c, &bounds, &bound_rows[i], value, path))
            return false;
    }
    bounds.exclusive_minimum = vd_json_truth(vd_json_get(source, VD_SLICE("exclusiveMinimum")));
    bounds.exclusive_maximum = vd_json_truth(vd_json_get(source, VD_SLICE("exclusiveMaximum")));
    const struct vd_json *pattern = vd_json_get(source, VD_SLICE("pattern"));
    if (pattern && !compile_pattern(c, &bounds, pattern, path))
        return false;
    bounds.values = vd_json_get(source, VD_SLICE("enum"));
    if (bounds.values && !vd_json_is(bounds.values, VD_JSON_ARRAY))
        return refuse(c, path, "enum must be a list");
    if (vd_json_count(bounds.values) == 0)
        bounds.values = NULL;
    if (bounds.set || bounds.pattern || bounds.values) {
        struct vd_schema_bounds *kept = zeroed(c, sizeof *kept);
        *kept = bounds;
        node->bounds = kept;
    }
    return true;
}

static bool compile_list(struct compiler *c, struct vd_schema_list *list,
                         const struct vd_json *source, const char *keyword,
                         const struct vd_field_path *path)
{
    const struct vd_json *alternatives = vd_json_get(source, vd_slice_of(keyword));
    struct vd_field_path here = vd_field_member(path, vd_slice_of(keyword));
    if (!alternatives)
        return true;
    if (!vd_json_is(alternatives, VD_JSON_ARRAY))
        return refuse(c, &here, "must be a list of schemas");
    list->p = zeroed(c, (vd_json_count(alternatives) + 1) * sizeof *list->p);
    VD_JSON_EACH (alternative, alternatives) {
        struct vd_field_path at = vd_field_element(&here, list->n);
        list->p[list->n] = compile(c, alternative, &at);
        if (!list->p[list->n])
            return false;
        list->n++;
    }
    return true;
}

static bool compile_compound(struct compiler *c, struct vd_schema_node *node,
                             const struct vd_json *source, const struct vd_field_path *path)
{
    struct vd_schema_compound compound = {0};
    const struct vd_json *not = vd_json_get(source, VD_SLICE("not"));
    if (!compile_list(c, &compound.all_of, source, "allOf", path) ||
        !compile_list(c, &compound.any_of, source, "anyOf", path) ||
        !compile_list(c, &compound.one_of, source, "oneOf", path))
        return false;
    if (not ) {
        struct vd_field_path at = vd_field_member(path, VD_SLICE("not"));
        compound.not = compile(c, not, &at);
        if (!compound.not )
            return false;
    }
    if (compound.not || compound.all_of.n || compound.any_of.n || compound.one_of.n) {
        struct vd_schema_compound *kept = zeroed(c, sizeof *kept);
        *kept = compound;
        node->compound = kept;
    }
    return true;
}

static bool compile_children(struct compiler *c, struct vd_schema_node *node,
                             const struct vd_json *source, const struct vd_field_path *path)
{
    const struct vd_json *items = vd_json_get(source, VD_SLICE("items"));
    const struct vd_json *additional = vd_json_get(source, VD_SLICE("additionalProperties"));
    if (items) {
        struct vd_field_path at = vd_field_member(path, VD_SLICE("items"));
        node->items = compile(c, items, &at);
        if (!node->items)
            return false;
    }
    if (vd_json_is(additional, VD_JSON_BOOL)) {
        node->flags |= vd_json_truth(additional) ? VD_SCHEMA_ANY_ADDITIONAL : VD_SCHEMA_CLOSED;
    } else if (additional) {
        struct vd_field_path at = vd_field_member(path, VD_SLICE("additionalProperties"));
        node->additional = compile(c, additional, &at);
        if (!node->additional)
            return false;
    }
    return compile_properties(c, node, source, path);
}

static bool is_anything(const struct vd_schema_node *node)
{
    return !node || (node->flags & VD_SCHEMA_ANYTHING);
}

static bool has_rules(const struct vd_schema_node *node)
{
    return node && (node->flags & VD_SCHEMA_RULES_BELOW);
}

/* What the walks can skip. */
static void summarise(struct vd_schema_node *node)
{
    bool anything = !node->types && !node->format && !node->bounds && !node->compound &&
                    !node->required_count && node->list_type == VD_LIST_ATOMIC &&
                    !(node->flags & (VD_SCHEMA_CLOSED | VD_SCHEMA_UNIQUE | VD_SCHEMA_RESOURCE)) &&
                    is_anything(node->items) && is_anything(node->additional);
    bool defaults = node->fallback ||
                    (node->items && (node->items->flags & VD_SCHEMA_DEFAULTS_BELOW)) ||
                    (node->additional && (node->additional->flags & VD_SCHEMA_DEFAULTS_BELOW));
    bool rules = node->rules || has_rules(node->items) || has_rules(node->additional);
    for (uint32_t i = 0; i < node->property_count; i++) {
        const struct vd_schema_node *child = node->properties[i].node;
        rules = rules || has_rules(child);
        anything = anything && is_anything(child);
        defaults = defaults || (child && (child->flags & VD_SCHEMA_DEFAULTS_BELOW));
    }
    node->flags |= (uint16_t)(anything ? VD_SCHEMA_ANYTHING : 0);
    node->flags |= (uint16_t)(defaults ? VD_SCHEMA_DEFAULTS_BELOW : 0);
    node->flags |= (uint16_t)(rules ? VD_SCHEMA_RULES_BELOW : 0);
}

/* x-kubernetes-validations. A rule that does not compile says so when it is asked:
 * definitions are judged by structural_rules.c before they come here. */
static void note_rules(struct compiler *c, struct vd_schema_node *node,
                       const struct vd_json *source, const struct vd_field_path *path)
{
    const struct vd_json *rules = vd_json_get(source, VD_SLICE("x-kubernetes-validations"));
    if (!vd_json_is(rules, VD_JSON_ARRAY) || vd_json_count(rules) == 0)
        return;
    bool resource = (node->flags & VD_SCHEMA_EMBEDDED) || (!path && c->resource);
    *VD_VEC_PUSH(&c->schema->ruled) = (struct vd_schema_ruled){source, resource};
    node->rules = (uint32_t)c->schema->ruled.n;
}

/* The default without what ObjectMeta does not have: nobody looks at what a default brings. */
static const struct vd_json *default_metadata(struct compiler *c, const struct vd_json *fallback)
{
    struct vd_json *kept = vd_json_copy(&c->schema->arena, fallback);
    vd_schema_prune(c->schema->metadata, kept, NULL);
    return kept;
}

/* The defaults of an embedded resource and of its metadata. */
static void prune_metadata_defaults(struct compiler *c, struct vd_schema_node *node)
{
    for (uint32_t i = 0; i < node->property_count; i++) {
        struct vd_schema_property *property = &node->properties[i];
        if (!vd_slice_is(property->name, "metadata") || !property->node ||
            !property->node->fallback)
            continue;
        struct vd_schema_node *changed = zeroed(c, sizeof *changed);
        *changed = *property->node;
        changed->fallback = default_metadata(c, changed->fallback);
        property->node = changed;
    }
    const struct vd_json *metadata = vd_json_get(node->fallback, VD_SLICE("metadata"));
    if (!metadata)
        return;
    struct vd_json *whole = vd_json_copy(&c->schema->arena, node->fallback);
    vd_json_set(&c->schema->arena, whole, VD_SLICE("metadata"),
                vd_json_copy(&c->schema->arena, default_metadata(c, metadata)));
    node->fallback = whole;
}

static const struct vd_schema_node *compile(struct compiler *c, const struct vd_json *source,
                                            const struct vd_field_path *path)
{
    static const char *const refused[] = {"$ref",         "definitions",       "$defs",
                                          "dependencies", "patternProperties", "additionalItems"};
    if (!vd_json_is(source, VD_JSON_OBJECT))
        return refuse(c, path, "a schema must be an object");
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct vd_field_path at = vd_field_member(path, vd_slice_of(refused[i]));
        if (vd_json_get(source, vd_slice_of(refused[i])))
            return refuse(c, &at, "is not supported");
    }
    struct vd_schema_node *node = zeroed(c, sizeof *node);
    node->source = source;
    node->format = (uint8_t)vd_format_of(vd_json_text(vd_json_get(source, VD_SLICE("format"))));
    node->fallback = vd_json_get(source, VD_SLICE("default"));
    if (vd_json_is(node->fallback, VD_JSON_NULL))
        node->fallback = NULL;
    if (!check_texts(c, source, path) || !compile_types(c, node, source, path) ||
        !compile_flags(c, node, source, path) || !compile_bounds(c, node, source, path) ||
        !compile_compound(c, node, source, path) || !compile_children(c, node, source, path))
        return NULL;
    if (c->schema->metadata && (node->flags & VD_SCHEMA_EMBEDDED)) {
        node->metadata = c->schema->metadata->root;
        prune_metadata_defaults(c, node);
    }
    note_rules(c, node, source, path);
    summarise(node);
    vd_schema_note_defaults(&c->schema->arena, node);
    return node;
}

int vd_schema_new(struct vd_schema **out, const struct vd_json *openapi,
                  const struct vd_schema_options *options, struct vd_error *error)
{
    struct vd_schema *s = VD_NEW(struct vd_schema);
    struct compiler c = {.schema = s,
                         .error = error,
                         .advisory = options && options->advisory,
                         .resource = options && options->resource,
                         .lazy = options && options->lazy};
    struct vd_effort effort = {0};
    vd_refcount_init(&s->refs);
    vd_arena_reserve(&s->arena, FIRST_CHUNK_LEN);
    vd_hash_map_init(&c.patterns, pattern_text);
    s->book = zeroed(&c, sizeof *s->book);
    atomic_init(s->book, NULL);
    if (options && options->metadata)
        s->metadata = vd_schema_ref(options->metadata);
    if (openapi && !(options && options->borrow))
        openapi = vd_json_copy(&s->arena, openapi);
    const struct vd_schema_node *compiled = compile(&c, openapi, NULL);
    vd_hash_map_release(&c.patterns);
    if (!compiled) {
        vd_schema_unref(s);
        return VD_ERR_INVALID;
    }
    struct vd_schema_node *root = zeroed(&c, sizeof *root);
    *root = *compiled;
    if (options && options->resource) {
        root->flags |= VD_SCHEMA_RESOURCE;
        root->flags &= (uint16_t)~VD_SCHEMA_ANYTHING;
        root->metadata = s->metadata ? s->metadata->root : NULL;
    }
    s->root = root;
    if (!c.lazy && vd_schema_has_rules(s))
        (void)vd_schema_rules_get(s, &effort);
    *out = s;
    return VD_OK;
}

struct vd_schema *vd_schema_ref(struct vd_schema *s)
{
    vd_ref(&s->refs);
    return s;
}

void vd_schema_unref(struct vd_schema *s)
{
    if (!s || !vd_unref(&s->refs))
        return;
    for (size_t i = 0; i < s->patterns.n; i++)
        vd_pattern_free(atomic_load(&s->patterns.p[i]->compiled));
    VD_VEC_RELEASE(&s->patterns);
    vd_rule_book_free(atomic_load(s->book));
    VD_VEC_RELEASE(&s->ruled);
    vd_arena_release(&s->arena);
    vd_schema_unref(s->metadata);
    free(s);
}
