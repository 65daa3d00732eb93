/*
 * See violation.h. Texts are put together in a scratch buffer and copied to the
 * list's arena; nothing is allocated while nothing is wrong.
 */
#include "kinds/violation.h"

#include <stdarg.h>

#include "base/limits.h"
#include "watch/excerpt.h"
#include "json/number.h"
#include "json/write.h"

static const struct {
    const char *reason;
    const char *words;
    bool shown;
} types[] = {
#define TYPE_ROW(name, reason, words, shown) [VD_VIOLATION_##name] = {reason, words, shown},
    VD_VIOLATION_TYPES(TYPE_ROW)
#undef TYPE_ROW
};

void vd_violations_release(struct vd_violations *v)
{
    VD_VEC_RELEASE(&v->list);
    VD_VEC_RELEASE(&v->passed);
    vd_arena_release(&v->arena);
    vd_buf_release(&v->scratch);
    v->dropped = 0;
}

const char *vd_violation_reason(enum vd_violation_type type)
{
    return types[type].reason;
}

/* What is no longer kept need not be shown. */
static bool is_full(const struct vd_violations *v)
{
    return v->list.n >= VD_VIOLATIONS_MAX;
}

struct vd_slice vd_bad_value_text(struct vd_violations *v, struct vd_slice text)
{
    return v->hides_values ? VD_SLICE(VD_HIDDEN_VALUE) : vd_bad_value_name(v, text);
}

struct vd_slice vd_bad_value_name(struct vd_violations *v, struct vd_slice text)
{
    if (is_full(v))
        return vd_bad_value_nothing();
    vd_buf_reset(&v->scratch);
    vd_excerpt_add_quoted(&v->scratch, text, VD_VIOLATION_VALUE_LEN_MAX);
    return vd_arena_copy(&v->arena, vd_buf_slice(&v->scratch));
}

/* Go prints a float by its value, so 1e1 is shown as 10; integers as written. */
static struct vd_slice shown_number(struct vd_violations *v, const struct vd_json *value)
{
    struct vd_slice text = vd_json_number_text(value);
    double number;
    char digits[VD_NUMBER_TEXT_MAX];
    if (vd_number_classify(text) == VD_NUMBER_DOUBLE && vd_number_to_double(text, &number))
        text = vd_slice(digits, vd_number_format(number, digits));
    return vd_arena_copy(&v->arena, text);
}

struct vd_slice vd_bad_value_json(struct vd_violations *v, const struct vd_json *value)
{
    if (is_full(v) || v->hides_values || vd_json_is(value, VD_JSON_STRING))
        return vd_bad_value_text(v, vd_json_text(value));
    if (vd_json_is(value, VD_JSON_NUMBER))
        return shown_number(v, value);
    struct vd_buf text = {0};
    vd_buf_reset(&v->scratch);
    vd_json_write(&text, value);
    vd_excerpt_add(&v->scratch, vd_buf_slice(&text), VD_VIOLATION_VALUE_LEN_MAX);
    vd_buf_release(&text);
    return vd_arena_copy(&v->arena, vd_buf_slice(&v->scratch));
}

void vd_violations_add_at(struct vd_violations *v, enum vd_violation_type type,
                          struct vd_slice field, struct vd_slice shown, struct vd_slice detail)
{
    if (is_full(v)) {
        v->dropped++;
        return;
    }
    struct vd_violation *one = VD_VEC_PUSH(&v->list);
    *one = (struct vd_violation){.type = type, .field = vd_arena_copy(&v->arena, field)};
    vd_buf_reset(&v->scratch);
    vd_buf_add_text(&v->scratch, types[type].words);
    if (types[type].shown && shown.p) {
        vd_buf_add_text(&v->scratch, ": ");
        one->value_at = (uint32_t)v->scratch.n;
        one->value_n = (uint32_t)shown.n;
        vd_buf_add_slice(&v->scratch, shown);
    }
    if (detail.n)
        vd_buf_add_text(&v->scratch, ": ");
    one->text_at = (uint32_t)v->scratch.n;
    vd_excerpt_add(&v->scratch, detail, VD_VIOLATION_VALUE_LEN_MAX);
    one->message = vd_arena_copy(&v->arena, vd_buf_slice(&v->scratch));
}

void vd_violations_add(struct vd_violations *v, enum vd_violation_type type,
                       const struct vd_field_path *path, struct vd_slice shown, const char *format,
                       ...)
{
    if (is_full(v)) {
        v->dropped++;
        return;
    }
    struct vd_buf field = {0}, detail = {0};
    vd_field_path_write(&field, path, VD_FIELD_BRACKETS);
    if (field.n == 0)
        vd_buf_add_text(&field, "<nil>");
    va_list arguments;
    va_start(arguments, format);
    vd_buf_vaddf(&detail, format, arguments);
    va_end(arguments);
    vd_violations_add_at(v, type, vd_buf_slice(&field), shown, vd_buf_slice(&detail));
    vd_buf_release(&field);
    vd_buf_release(&detail);
}

bool vd_violations_pass(struct vd_violations *v, size_t from, size_t dropped)
{
    size_t kept = from;
    for (size_t i = from; i < v->list.n; i++) {
        if (v->list.p[i].is_firm)
            v->list.p[kept++] = v->list.p[i];
        else if (v->passed.n < VD_VIOLATIONS_MAX)
            *VD_VEC_PUSH(&v->passed) = v->list.p[i];
    }
    v->list.n = kept;
    v->dropped = dropped;
    return kept == from;
}

static bool has(const struct vd_violations *v, const struct vd_violation *one)
{
    for (size_t i = 0; i < v->list.n; i++) {
        const struct vd_violation *other = &v->list.p[i];
        if (other->type == one->type && vd_slice_eq(other->field, one->field) &&
            vd_slice_eq(other->message, one->message))
            return true;
    }
    return false;
}

void vd_violations_merge(struct vd_violations *v, const struct vd_violations *from)
{
    v->dropped += from->dropped;
    for (size_t i = 0; i < from->list.n; i++) {
        const struct vd_violation *one = &from->list.p[i];
        if (is_full(v)) {
            v->dropped++;
        } else if (!has(v, one)) {
            *VD_VEC_PUSH(&v->list) = (struct vd_violation){
                .type = one->type,
                .field = vd_arena_copy(&v->arena, one->field),
                .message = vd_arena_copy(&v->arena, one->message),
                .value_at = one->value_at,
                .value_n = one->value_n,
                .text_at = one->text_at,
                .is_firm = one->is_firm,
            };
        }
    }
}

void vd_violations_write(struct vd_buf *out, const struct vd_violations *v)
{
    bool several = v->list.n + (v->dropped ? 1 : 0) > 1;
    if (several)
        vd_buf_add_char(out, '[');
    for (size_t i = 0; i < v->list.n; i++) {
        if (i)
            vd_buf_add_text(out, ", ");
        vd_buf_add_slice(out, v->list.p[i].field);
        vd_buf_add_text(out, ": ");
        vd_buf_add_slice(out, v->list.p[i].message);
    }
    if (v->dropped)
        vd_buf_addf(out, ", and %zu more", v->dropped);
    if (several)
        vd_buf_add_char(out, ']');
}
