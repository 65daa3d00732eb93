/*
 * The fieldPath of a rule: ".spec.replicas" or ".labels['a.b']", checked against the
 * schema that it starts from and brought into the form of field paths, "labels[a.b]".
 */
#include <string.h>

#include "kinds/schema_rules.h"

/* A name up to '.', '[' or the end. */
static struct vd_slice take_name(struct vd_slice *rest)
{
    size_t n = 0;
    while (n < rest->n && rest->p[n] != '.' && rest->p[n] != '[' && rest->p[n] != ']')
        n++;
    struct vd_slice name = vd_slice(rest->p, n);
    *rest = vd_slice_from(*rest, n);
    return name;
}

/* 'text'] behind a '['; escapes are those of a quoted character. */
static bool take_quoted(struct vd_slice *rest, struct vd_buf *out)
{
    static const char names[] = "abfnrtv'\\", means[] = "\a\b\f\n\r\t\v'\\";
    size_t i = 1;
    if (rest->n < 3 || rest->p[0] != '\'')
        return false;
    for (; i < rest->n && rest->p[i] != '\''; i++) {
        char c = rest->p[i];
        if (c == '\\') {
            const char *found = ++i < rest->n && rest->p[i] ? strchr(names, rest->p[i]) : NULL;
            if (!found)
                return false;
            c = means[found - names];
        }
        vd_buf_add_char(out, c);
    }
    if (i + 1 >= rest->n || rest->p[i + 1] != ']')
        return false;
    *rest = vd_slice_from(*rest, i + 2);
    return true;
}

/* The schema one name further, written down; NULL if there is none. */
static const struct vd_json *descend(const struct vd_json *schema, struct vd_slice name,
                                     struct vd_buf *out)
{
    const struct vd_json *properties = vd_json_get(schema, VD_SLICE("properties"));
    const struct vd_json *additional = vd_json_get(schema, VD_SLICE("additionalProperties"));
    if (vd_json_count(properties)) {
        vd_buf_addf(out, "%s%.*s", out->n ? "." : "", VD_FMT(name));
        return vd_json_get(properties, name);
    }
    if (!vd_json_is(additional, VD_JSON_OBJECT))
        return NULL;
    vd_buf_addf(out, "[%.*s]", VD_FMT(name));
    return additional;
}

static bool normalise(const struct vd_json *schema, struct vd_slice rest, struct vd_buf *out)
{
    while (rest.n && schema) {
        char c = rest.p[0];
        struct vd_buf quoted = {0};
        rest = vd_slice_from(rest, 1);
        if (c == '.') {
            struct vd_slice name = take_name(&rest);
            schema = name.n ? descend(schema, name, out) : NULL;
        } else if (c == '[' && take_quoted(&rest, &quoted)) {
            schema = descend(schema, vd_buf_slice(&quoted), out);
        } else {
            schema = NULL;
        }
        vd_buf_release(&quoted);
    }
    return schema != NULL;
}

static enum vd_cel_reason reason_of(struct vd_slice text)
{
    if (vd_slice_is(text, "FieldValueForbidden"))
        return VD_CEL_FORBIDDEN;
    if (vd_slice_is(text, "FieldValueRequired"))
        return VD_CEL_REQUIRED;
    return vd_slice_is(text, "FieldValueDuplicate") ? VD_CEL_DUPLICATE : VD_CEL_INVALID;
}

static struct vd_slice text_of(const struct vd_json *source, const char *key)
{
    struct vd_slice text = vd_json_text(vd_json_get(source, vd_slice_of(key)));
    return text.p ? text : vd_slice("", 0);
}

bool vd_schema_rule_read(struct vd_arena *a, const struct vd_json *schema,
                         const struct vd_json *source, struct vd_cel_rule *out)
{
    *out = (struct vd_cel_rule){
        .text = vd_slice_trim(text_of(source, "rule")),
        .message = vd_slice_trim(text_of(source, "message")),
        .message_expression = text_of(source, "messageExpression"),
        .reason = reason_of(text_of(source, "reason")),
        .optional_old_self = vd_json_truth(vd_json_get(source, VD_SLICE("optionalOldSelf"))),
    };
    struct vd_slice path = text_of(source, "fieldPath");
    struct vd_buf normal = {0};
    bool ok = !path.n || normalise(schema, path, &normal);
    if (ok && path.n)
        out->field_path = vd_arena_copy(a, vd_buf_slice(&normal));
    vd_buf_release(&normal);
    return ok;
}
