/*
 * Validation: one walk over the object, side by side with the schema.
 *
 * A walk either collects (out is a list) or probes (out is NULL). Probing stops
 * at the first violation and makes no text; it decides anyOf, oneOf and not.
 * Only when no alternative fits are they walked again to collect, so a nest of
 * alternatives costs its depth, not a power of it.
 *
 * The messages, their order within one value and which checks end a value's
 * examination are those of kube-openapi's validator as the apiextensions server
 * uses it. Members come in the order of the object, missing ones last.
 */
#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "kinds/embedded.h"
#include "kinds/schema_internal.h"
#include "json/compare.h"
#include "json/key_index.h"
#include "json/number.h"

struct walk {
    struct vd_violations *out; /* NULL: probing */
    struct vd_effort *effort;
    size_t matches;            /* checks passed: which alternative came closest */
    const struct vd_json *old; /* what the next value to be checked was before, or NULL */
    struct past *past;         /* of the whole object; NULL: it has none */
};

/* What the whole object was before. */
struct past {
    const struct vd_schema_node *root;
    const struct vd_json *object;
    bool looked, bad_lists; /* whether its lists were wrong: looked for when it matters */
};

static bool check(struct walk *w, const struct vd_schema_node *node, const struct vd_json *value,
                  const struct vd_field_path *path);

/* The same for a value that was `old` before: what has not changed may be wrong. The
 * past is only looked at where something is wrong now. */
static bool check_change(struct walk *w, const struct vd_schema_node *node,
                         const struct vd_json *value, const struct vd_json *old,
                         const struct vd_field_path *path)
{
    size_t before = w->out ? w->out->list.n : 0, dropped = w->out ? w->out->dropped : 0;
    if (check(w, node, value, path))
        return true;
    if (!old || !w->out)
        return false;
    if (vd_schema_same(node, value, old))
        return vd_violations_pass(w->out, before, dropped);
    w->out->list.n = before;
    w->out->dropped = dropped;
    w->old = old;
    return check(w, node, value, path);
}

/* Adds "<path> in body <what>", as kube-openapi words it. False, for `ok &=`. */
static bool complain(struct walk *w, enum vd_violation_type type, const struct vd_field_path *path,
                     struct vd_slice shown, const char *format, ...) VD_PRINTF(5, 6);
static bool complain(struct walk *w, enum vd_violation_type type, const struct vd_field_path *path,
                     struct vd_slice shown, const char *format, ...)
{
    if (w->out->list.n >= VD_VIOLATIONS_MAX) {
        w->out->dropped++;
        return false;
    }
    struct vd_buf field = {0}, detail = {0};
    vd_field_path_write(&field, path, VD_FIELD_DOTTED);
    if (type == VD_VIOLATION_INVALID || type == VD_VIOLATION_TYPE_INVALID)
        vd_buf_addf(&detail, "%s in body ", vd_buf_text(&field));
    va_list arguments;
    va_start(arguments, format);
    vd_buf_vaddf(&detail, format, arguments);
    va_end(arguments);
    if (field.n == 0)
        vd_buf_add_text(&field, "<nil>");
    vd_violations_add_at(w->out, type, vd_buf_slice(&field), shown, vd_buf_slice(&detail));
    vd_buf_release(&field);
    vd_buf_release(&detail);
    return false;
}

/* Whether it is an integer that clients can read: what has 64 bits. */
static bool is_whole(const struct vd_json *value)
{
    int64_t number;
    return vd_json_to_i64(value, &number);
}

/* The type of a value as schemas name it; a number may be of two. */
static uint8_t type_bits(const struct vd_json *value)
{
    switch ((enum vd_json_type)value->type) {
    case VD_JSON_STRING:
        return VD_TYPE_STRING;
    case VD_JSON_BOOL:
        return VD_TYPE_BOOLEAN;
    case VD_JSON_ARRAY:
        return VD_TYPE_ARRAY;
    case VD_JSON_OBJECT:
        return VD_TYPE_OBJECT;
    case VD_JSON_NUMBER:
        return is_whole(value) ? VD_TYPE_NUMBER | VD_TYPE_INTEGER : VD_TYPE_NUMBER;
    case VD_JSON_NULL:
        break;
    }
    return 0;
}

static const char *type_name(const struct vd_json *value)
{
    if (vd_json_is(value, VD_JSON_NUMBER) &&
        vd_number_classify(vd_json_number_text(value)) == VD_NUMBER_I64)
        return "integer";
    return vd_json_type_name(value);
}

static const char *wanted_types(const struct vd_schema_node *node)
{
    if (node->types == (VD_TYPE_INTEGER | VD_TYPE_STRING))
        return "integer,string";
    switch ((enum vd_schema_type)node->types) {
    case VD_TYPE_STRING:
        return "string";
    case VD_TYPE_INTEGER:
        return "integer";
    case VD_TYPE_NUMBER:
        return "number";
    case VD_TYPE_BOOLEAN:
        return "boolean";
    case VD_TYPE_ARRAY:
        return "array";
    case VD_TYPE_OBJECT:
        break;
    }
    return "object";
}

static bool complain_type(struct walk *w, const struct vd_schema_node *node,
                          const struct vd_json *value, const struct vd_field_path *path)
{
    const char *is = type_name(value), *wanted = wanted_types(node);
    struct vd_slice format = vd_json_text(vd_json_get(node->source, VD_SLICE("format")));
    if (!w->out)
        return false;
    /* A format is named instead of the type, and so is that of the value. */
    if (node->format && vd_json_is(value, VD_JSON_NUMBER)) {
        is = vd_slice_is(vd_slice_of(is), "integer") ? "int64" : "float64";
        return complain(w, VD_VIOLATION_TYPE_INVALID, path,
                        vd_bad_value_name(w->out, vd_slice_of(is)), "must be of type %.*s: \"%s\"",
                        VD_FMT(format), is);
    }
    return complain(w, VD_VIOLATION_TYPE_INVALID, path, vd_bad_value_name(w->out, vd_slice_of(is)),
                    "must be of type %s: \"%s\"", wanted, is);
}

static bool check_enum(struct walk *w, const struct vd_json *values, const struct vd_json *value,
                       const struct vd_field_path *path)
{
    VD_JSON_EACH (allowed, values) {
        if (vd_json_eq(allowed, value))
            return true;
    }
    if (!w->out)
        return false;
    struct vd_buf detail = {0};
    const char *lead = "supported values: ";
    VD_JSON_EACH (allowed, values) {
        struct vd_buf text = {0};
        if (!vd_json_is(allowed, VD_JSON_STRING)) {
            struct vd_slice shown = vd_bad_value_json(w->out, allowed);
            vd_buf_add_slice(&text, shown);
        } else {
            vd_buf_add_slice(&text, vd_json_text(allowed));
        }
        vd_buf_add_text(&detail, lead);
        vd_buf_add_slice(&detail, vd_bad_value_name(w->out, vd_buf_slice(&text)));
        vd_buf_release(&text);
        lead = ", ";
    }
    complain(w, VD_VIOLATION_NOT_SUPPORTED, path, vd_bad_value_json(w->out, value), "%s",
             vd_buf_text(&detail));
    vd_buf_release(&detail);
    return false;
}

static size_t count_characters(struct vd_slice text)
{
    size_t count = 0;
    for (size_t i = 0; i < text.n; i++)
        count += ((unsigned char)text.p[i] & 0xc0) != 0x80;
    return count;
}

static bool check_length(struct walk *w, const struct vd_schema_bounds *b, struct vd_slice text,
                         const struct vd_field_path *path)
{
    bool upper = (b->set & VD_BOUND_MAX_LENGTH) && text.n > b->max_length;
    bool lower = (b->set & VD_BOUND_MIN_LENGTH) && text.n / 4 < b->min_length;
    if (!upper && !lower)
        return true;
    size_t characters = count_characters(text);
    if (upper && characters > b->max_length)
        return w->out && complain(w, VD_VIOLATION_TOO_LONG, path, vd_bad_value_nothing(),
                                  "may not be more than %llu byte%s",
                                  (unsigned long long)b->max_length, b->max_length == 1 ? "" : "s");
    if (lower && characters < b->min_length)
        return w->out &&
               complain(w, VD_VIOLATION_INVALID, path, vd_bad_value_text(w->out, text),
                        "should be at least %llu chars long", (unsigned long long)b->min_length);
    return true;
}

static bool check_pattern(struct walk *w, struct vd_schema_pattern *p, struct vd_slice text,
                          const struct vd_field_path *path)
{
    const struct vd_pattern *pattern = vd_schema_pattern_get(p, w->effort);
    bool was_over = w->effort->over;
    if (pattern && vd_effort_match(w->effort, vd_pattern_size(pattern), text.n) &&
        vd_pattern_matches(pattern, text.p, text.n))
        return true;
    if (!w->out || was_over)
        return false;
    if (w->effort->over)
        return complain(w, VD_VIOLATION_INVALID, path, vd_bad_value_text(w->out, text),
                        "is too long to be compared with '%.*s'", VD_FMT(p->text));
    return complain(w, VD_VIOLATION_INVALID, path, vd_bad_value_text(w->out, text),
                    "should match '%.*s'", VD_FMT(p->text));
}

static bool check_string(struct walk *w, const struct vd_schema_node *node,
                         const struct vd_json *value, const struct vd_field_path *path)
{
    struct vd_slice text = vd_json_text(value);
    const struct vd_schema_bounds *b = node->bounds;
    bool ok = true;
    if (b) {
        if (!check_length(w, b, text, path))
            ok = false;
        else if (b->pattern && !check_pattern(w, b->pattern, text, path))
            ok = false;
    }
    if (node->format && !vd_format_matches((enum vd_format)node->format, text)) {
        if (!w->out)
            return false;
        struct vd_slice shown = vd_bad_value_text(w->out, text);
        struct vd_slice format = vd_json_text(vd_json_get(node->source, VD_SLICE("format")));
        ok = complain(w, VD_VIOLATION_TYPE_INVALID, path, shown, "must be of type %.*s: %.*s",
                      VD_FMT(format), VD_FMT(shown));
    }
    return ok;
}

/* Below, at or above the bound: integers exactly, others as doubles. */
static int compare_bound(const struct vd_json *value, double bound)
{
    int64_t whole;
    double number;
    if (vd_json_to_i64(value, &whole) && fabs(bound) < 9.2e18) {
        int64_t floored = (int64_t)floor(bound);
        if (whole != floored)
            return whole < floored ? -1 : 1;
        return bound > (double)floored ? -1 : 0;
    }
    if (!vd_json_to_double(value, &number))
        number = vd_slice_starts_with(vd_json_number_text(value), VD_SLICE("-")) ? -HUGE_VAL
                                                                                 : HUGE_VAL;
    return (number > bound) - (number < bound);
}

static bool is_multiple(const struct vd_json *value, double factor)
{
    int64_t whole;
    double number;
    if (factor == floor(factor) && factor < 9.2e18 && vd_json_to_i64(value, &whole))
        return whole % (int64_t)factor == 0;
    if (!vd_json_to_double(value, &number))
        return false;
    double times = factor < 1 ? 1 / factor * number : number / factor;
    return fabs(times - round(times)) <= 1e-9 * fmax(1, fabs(times));
}

static bool complain_number(struct walk *w, const struct vd_json *value,
                            const struct vd_field_path *path, const char *what, double bound)
{
    if (!w->out)
        return false;
    char text[VD_NUMBER_TEXT_MAX];
    size_t n = vd_number_format(bound, text);
    return complain(w, VD_VIOLATION_INVALID, path, vd_bad_value_json(w->out, value),
                    "should be %s%.*s", what, (int)n, text);
}

static bool check_number(struct walk *w, const struct vd_schema_bounds *b,
                         const struct vd_json *value, const struct vd_field_path *path)
{
    bool ok = true;
    if ((b->set & VD_BOUND_MULTIPLE_OF) && !is_multiple(value, b->multiple_of))
        ok = complain_number(w, value, path, "a multiple of ", b->multiple_of);
    if (b->set & VD_BOUND_MAXIMUM) {
        int order = compare_bound(value, b->maximum);
        if (order > 0 || (order == 0 && b->exclusive_maximum))
            ok = complain_number(w, value, path,
                                 b->exclusive_maximum ? "less than " : "less than or equal to ",
                                 b->maximum);
    }
    if (b->set & VD_BOUND_MINIMUM) {
        int order = compare_bound(value, b->minimum);
        if (order < 0 || (order == 0 && b->exclusive_minimum))
            ok = complain_number(
                w, value, path,
                b->exclusive_minimum ? "greater than " : "greater than or equal to ", b->minimum);
    }
    return ok;
}

/* Too few or too many items or properties: false ends the value's examination. */
static bool check_count(struct walk *w, const struct vd_schema_bounds *b,
                        const struct vd_json *value, const struct vd_field_path *path)
{
    bool array = vd_json_is(value, VD_JSON_ARRAY);
    uint32_t lower = array ? VD_BOUND_MIN_ITEMS : VD_BOUND_MIN_PROPERTIES;
    uint32_t upper = array ? VD_BOUND_MAX_ITEMS : VD_BOUND_MAX_PROPERTIES;
    unsigned long long min = array ? b->min_items : b->min_properties;
    unsigned long long max = array ? b->max_items : b->max_properties;
    size_t count = vd_json_count(value);
    bool few = (b->set & lower) && count < min, many = (b->set & upper) && count > max;
    if (!few && !many)
        return true;
    if (!w->out)
        return false;
    char digits[20];
    struct vd_slice shown = vd_arena_copy(&w->out->arena,
                                          vd_slice(digits, vd_u64_digits(count, digits)));
    if (few)
        return complain(w, VD_VIOLATION_INVALID, path, shown, "should have at least %llu %s", min,
                        array ? "items" : "properties");
    return complain(w, VD_VIOLATION_TOO_MANY, path, shown, "must have at most %llu item%s", max,
                    max == 1 ? "" : "s");
}

static bool check_items(struct walk *w, const struct vd_schema_node *node,
                        const struct vd_json *value, const struct vd_json *old,
                        const struct vd_field_path *path)
{
    bool ok = true;
    size_t index = 0;
    const struct vd_json **olds = NULL; /* items of other lists have no past */
    if (node->list_type == VD_LIST_MAP && vd_json_is(old, VD_JSON_ARRAY))
        olds = vd_schema_correlate(node, value, old);
    VD_JSON_EACH (item, value) {
        struct vd_field_path at = vd_field_element(path, index);
        ok &= check_change(w, node->items, item, olds ? olds[index] : NULL, &at);
        index++;
        if (!ok && !w->out)
            break;
    }
    free(olds);
    return ok;
}

/* An object that had duplicates in some list may have them in all: as in Kubernetes, nothing of
 * the kind is looked at then. */
static bool check_list(struct walk *w, const struct vd_schema_node *node,
                       const struct vd_json *value, const struct vd_field_path *path)
{
    struct past *past = w->past;
    if (!past)
        return vd_schema_check_list(node, value, path, w->out);
    if (vd_schema_check_list(node, value, path, NULL))
        return true;
    if (!past->looked)
        past->bad_lists = vd_schema_has_bad_lists(past->root, past->object);
    past->looked = true;
    return past->bad_lists || vd_schema_check_list(node, value, path, w->out);
}

static bool check_array(struct walk *w, const struct vd_schema_node *node,
                        const struct vd_json *value, const struct vd_json *old,
                        const struct vd_field_path *path)
{
    bool ok = true;
    if (node->bounds && !check_count(w, node->bounds, value, path))
        return false;
    if ((node->flags & VD_SCHEMA_UNIQUE) && vd_schema_has_twins(value))
        return w->out && complain(w, VD_VIOLATION_INVALID, path, VD_SLICE("\"\""),
                                  "shouldn't contain duplicates");
    if (node->items && !(node->items->flags & VD_SCHEMA_ANYTHING))
        ok = check_items(w, node, value, old, path);
    if (!ok && !w->out)
        return false;
    if (node->list_type != VD_LIST_ATOMIC)
        ok &= check_list(w, node, value, path);
    return ok;
}

/* apiVersion and kind of a resource are strings and metadata an object, said or
 * not; an embedded resource has to have them, even if it had none before. */
static bool check_resource(struct walk *w, const struct vd_schema_node *node,
                           const struct vd_json *value, const struct vd_field_path *path)
{
    size_t before = w->out ? w->out->list.n : 0;
    bool ok = true;
    if (node->flags & VD_SCHEMA_EMBEDDED) {
        struct vd_violations found = {0};
        ok = vd_embedded_check(value, path, w->out ? w->out : &found);
        vd_violations_release(&found);
        if (!ok && !w->out)
            return false;
    }
    const struct vd_json *metadata = vd_json_get(value, VD_SLICE("metadata"));
    if (metadata && node->metadata) {
        struct vd_field_path at = vd_field_member(path, VD_SLICE("metadata"));
        ok &= check(w, node->metadata, metadata, &at);
    }
    for (size_t i = before; w->out && i < w->out->list.n; i++)
        w->out->list.p[i].is_firm = node->flags & VD_SCHEMA_EMBEDDED;
    return ok;
}

static bool check_missing(struct walk *w, const struct vd_schema_node *node,
                          const struct vd_json *value, const struct vd_field_path *path)
{
    if (!w->out)
        return false;
    struct vd_key_index index;
    vd_key_index_init(&index, value);
    VD_JSON_EACH (name, vd_json_get(node->source, VD_SLICE("required"))) {
        struct vd_field_path at = vd_field_member(path, vd_json_text(name));
        if (!vd_key_index_get(&index, vd_json_text(name)))
            complain(w, VD_VIOLATION_REQUIRED, &at, vd_bad_value_nothing(), "%s", "");
    }
    vd_key_index_release(&index);
    return false;
}

static bool check_member(struct walk *w, const struct vd_schema_node *node,
                         const struct vd_schema_property *property, const struct vd_json *member,
                         const struct vd_key_index *old, const struct vd_field_path *path)
{
    const struct vd_schema_node *child = property ? property->node : node->additional;
    if (!property && (node->flags & VD_SCHEMA_CLOSED)) {
        if (!w->out)
            return false;
        struct vd_slice key = vd_json_key(member);
        struct vd_buf detail = {0};
        vd_field_path_write(&detail, path, VD_FIELD_DOTTED);
        vd_buf_addf(&detail, ".%.*s in body is a forbidden property", VD_FMT(key));
        vd_violations_add(w->out, VD_VIOLATION_INVALID, path, vd_bad_value_name(w->out, key), "%s",
                          vd_buf_text(&detail));
        vd_buf_release(&detail);
        return false;
    }
    if (!child || (child->flags & VD_SCHEMA_ANYTHING))
        return true;
    struct vd_field_path at = property ? vd_field_member(path, vd_json_key(member))
                                       : vd_field_key(path, vd_json_key(member));
    return check_change(w, child, member, old ? vd_key_index_get(old, vd_json_key(member)) : NULL,
                        &at);
}

static bool check_object(struct walk *w, const struct vd_schema_node *node,
                         const struct vd_json *value, const struct vd_json *old,
                         const struct vd_field_path *path)
{
    bool ok = true, changes = vd_json_is(old, VD_JSON_OBJECT);
    uint32_t required = 0;
    struct vd_key_index olds;
    if (node->bounds && !check_count(w, node->bounds, value, path))
        return false;
    if (changes)
        vd_key_index_init(&olds, old);
    VD_JSON_EACH (member, value) {
        const struct vd_schema_property *property = vd_schema_find(node, vd_json_key(member));
        required += property && property->required;
        ok &= check_member(w, node, property, member, changes ? &olds : NULL, path);
        if (!ok && !w->out)
            break;
    }
    if (changes)
        vd_key_index_release(&olds);
    if (!ok && !w->out)
        return false;
    if (required < node->required_count)
        ok &= check_missing(w, node, value, path);
    if (node->flags & VD_SCHEMA_RESOURCE)
        ok &= check_resource(w, node, value, path);
    return ok;
}

static bool fits(struct walk *w, const struct vd_schema_node *node, const struct vd_json *value)
{
    struct walk probe = {.effort = w->effort};
    return check(&probe, node, value, NULL);
}

/* Adds a sentence about alternatives; Kubernetes gives it no field. */
static bool complain_compound(struct walk *w, const struct vd_field_path *path, const char *what)
{
    if (!w->out)
        return false;
    if (w->out->list.n >= VD_VIOLATIONS_MAX) {
        w->out->dropped++;
        return false;
    }
    struct vd_buf field = {0}, detail = {0};
    vd_field_path_write(&field, path, VD_FIELD_DOTTED);
    vd_buf_add_slice(&detail, vd_bad_value_name(w->out, vd_buf_slice(&field)));
    vd_buf_addf(&detail, " must %s", what);
    vd_violations_add_at(w->out, VD_VIOLATION_INVALID, VD_SLICE("<nil>"), VD_SLICE("\"\""),
                         vd_buf_slice(&detail));
    vd_buf_release(&field);
    vd_buf_release(&detail);
    return false;
}

/* The violations of the alternative that passed most checks. Nobody would read them when there are
 * enough already. */
static void explain_best(struct walk *w, const struct vd_schema_list *list,
                         const struct vd_json *value, const struct vd_field_path *path)
{
    if (w->out && w->out->list.n >= VD_VIOLATIONS_MAX)
        return;
    struct vd_violations best = {0};
    size_t best_matches = 0;
    for (size_t i = 0; w->out && i < list->n; i++) {
        struct vd_violations found = {.hides_values = w->out->hides_values};
        struct walk one = {.out = &found, .effort = w->effort};
        check(&one, list->p[i], value, path);
        if (i == 0 || one.matches > best_matches) {
            struct vd_violations swap = best;
            best = found;
            found = swap;
            best_matches = one.matches;
        }
        vd_violations_release(&found);
    }
    if (w->out)
        vd_violations_merge(w->out, &best);
    vd_violations_release(&best);
}

static bool check_alternatives(struct walk *w, const struct vd_schema_compound *compound,
                               const struct vd_json *value, const struct vd_field_path *path)
{
    bool ok = true, any = compound->any_of.n == 0;
    size_t one = 0;
    for (size_t i = 0; i < compound->any_of.n && !any; i++)
        any = fits(w, compound->any_of.p[i], value);
    if (!any) {
        ok = complain_compound(w, path, "validate at least one schema (anyOf)");
        explain_best(w, &compound->any_of, value, path);
    }
    for (size_t i = 0; i < compound->one_of.n; i++)
        one += fits(w, compound->one_of.p[i], value);
    if (compound->one_of.n && one != 1) {
        char what[96] = "validate one and only one schema (oneOf). Found none valid";
        if (one)
            snprintf(what, sizeof what,
                     "validate one and only one schema (oneOf). Found %zu valid alternatives", one);
        ok = complain_compound(w, path, what);
        if (one == 0)
            explain_best(w, &compound->one_of, value, path);
    }
    return ok;
}

static bool check_compound(struct walk *w, const struct vd_schema_compound *compound,
                           const struct vd_json *value, const struct vd_field_path *path)
{
    bool ok = check_alternatives(w, compound, value, path);
    size_t good = 0;
    for (size_t i = 0; i < compound->all_of.n; i++) {
        if (!w->out) {
            if (!fits(w, compound->all_of.p[i], value))
                return false;
            good++;
            continue;
        }
        struct vd_violations found = {.hides_values = w->out->hides_values};
        struct walk one = {.out = &found, .effort = w->effort};
        good += check(&one, compound->all_of.p[i], value, path);
        w->matches += one.matches;
        vd_violations_merge(w->out, &found);
        vd_violations_release(&found);
    }
    if (good < compound->all_of.n)
        ok = complain_compound(w, path,
                               good ? "validate all the schemas (allOf)"
                                    : "validate all the schemas (allOf). None validated");
    if (compound->not &&fits(w, compound->not, value))
        ok = complain_compound(w, path, "not validate the schema (not)");
    return ok;
}

static bool check_kind_of_value(struct walk *w, const struct vd_schema_node *node,
                                const struct vd_json *value, const struct vd_json *old,
                                const struct vd_field_path *path)
{
    switch ((enum vd_json_type)value->type) {
    case VD_JSON_STRING:
        return node->bounds || node->format ? check_string(w, node, value, path) : true;
    case VD_JSON_NUMBER:
        return node->bounds ? check_number(w, node->bounds, value, path) : true;
    case VD_JSON_ARRAY:
        return check_array(w, node, value, old, path);
    case VD_JSON_OBJECT:
        return check_object(w, node, value, old, path);
    case VD_JSON_NULL:
    case VD_JSON_BOOL:
        break;
    }
    return true;
}

static bool check(struct walk *w, const struct vd_schema_node *node, const struct vd_json *value,
                  const struct vd_field_path *path)
{
    bool null = vd_json_is(value, VD_JSON_NULL), ok = true;
    const struct vd_json *old = w->old;
    w->old = NULL;
    if (null ? node->types && !(node->flags & VD_SCHEMA_NULLABLE)
             : node->types && !(node->types & type_bits(value)))
        ok = complain_type(w, node, value, path);
    else
        w->matches += 2;
    if (!ok && !w->out)
        return false;
    bool typed = ok;
    if (node->compound && !null)
        ok &= check_compound(w, node->compound, value, path);
    if (!ok && !w->out)
        return false;
    if (typed && !null)
        ok &= check_kind_of_value(w, node, value, old, path);
    if (node->bounds && node->bounds->values)
        ok &= check_enum(w, node->bounds->values, value, path);
    w->matches += ok;
    return ok;
}

bool vd_schema_validate(const struct vd_schema *s, const struct vd_json *object,
                        struct vd_violations *out)
{
    assert(out);
    struct walk w = {.out = out, .effort = &out->effort};
    return check(&w, s->root, object, NULL);
}

bool vd_schema_validate_change(const struct vd_schema *s, const struct vd_json *object,
                               const struct vd_json *old, struct vd_violations *out)
{
    assert(out);
    struct past past = {.root = s->root, .object = old};
    struct walk w = {.out = out, .effort = &out->effort, .past = old ? &past : NULL};
    return check_change(&w, s->root, object, old, NULL);
}
