/* See status_cause.h. */
#include "kube/status/cause.h"

#include "base/buf.h"
#include "watch/excerpt.h"
#include "json/write.h"

/* Bytes of a value that a message shows. */
enum { VALUE_SHOWN_MAX = 1024 };

/* The text as a message takes it: UTF-8 without NULs, in the arena. */
static struct vd_slice kept(struct vd_arena *a, struct vd_slice text)
{
    struct vd_buf clean = {0};
    vd_excerpt_add(&clean, text, SIZE_MAX);
    struct vd_slice copy = vd_arena_copy(a, vd_buf_slice(&clean));
    vd_buf_release(&clean);
    return copy;
}

static struct vd_status_cause cause(struct vd_arena *a, const char *reason, struct vd_slice field,
                                    struct vd_buf *message, struct vd_slice detail)
{
    if (detail.n) {
        vd_buf_add_text(message, ": ");
        vd_buf_add_slice(message, detail);
    }
    struct vd_status_cause made = {vd_slice_of(reason), kept(a, vd_buf_slice(message)),
                                   kept(a, field)};
    vd_buf_release(message);
    return made;
}

static void add_value(struct vd_buf *out, const struct vd_json *value)
{
    struct vd_buf text = {0};
    if (value)
        vd_json_write(&text, value);
    else
        vd_buf_add_text(&text, "null");
    vd_excerpt_add(out, vd_buf_slice(&text), VALUE_SHOWN_MAX);
    vd_buf_release(&text);
}

struct vd_status_cause vd_cause_required(struct vd_arena *a, struct vd_slice field,
                                         struct vd_slice detail)
{
    struct vd_buf message = {0};
    vd_buf_add_text(&message, "Required value");
    return cause(a, "FieldValueRequired", field, &message, detail);
}

struct vd_status_cause vd_cause_forbidden(struct vd_arena *a, struct vd_slice field,
                                          struct vd_slice detail)
{
    struct vd_buf message = {0};
    vd_buf_add_text(&message, "Forbidden");
    return cause(a, "FieldValueForbidden", field, &message, detail);
}

static struct vd_status_cause with_value(struct vd_arena *a, const char *reason, const char *what,
                                         struct vd_slice field, const struct vd_json *value,
                                         struct vd_slice detail)
{
    struct vd_buf message = {0};
    vd_buf_addf(&message, "%s: ", what);
    add_value(&message, value);
    return cause(a, reason, field, &message, detail);
}

struct vd_status_cause vd_cause_invalid(struct vd_arena *a, struct vd_slice field,
                                        const struct vd_json *value, struct vd_slice detail)
{
    return with_value(a, "FieldValueInvalid", "Invalid value", field, value, detail);
}

struct vd_status_cause vd_cause_type_invalid(struct vd_arena *a, struct vd_slice field,
                                             const struct vd_json *value, struct vd_slice detail)
{
    return with_value(a, "FieldValueTypeInvalid", "Invalid value", field, value, detail);
}

struct vd_status_cause vd_cause_duplicate(struct vd_arena *a, struct vd_slice field,
                                          const struct vd_json *value)
{
    return with_value(a, "FieldValueDuplicate", "Duplicate value", field, value, VD_SLICE(""));
}

struct vd_status_cause vd_cause_invalid_text(struct vd_arena *a, struct vd_slice field,
                                             struct vd_slice value, struct vd_slice detail)
{
    struct vd_buf message = {0};
    vd_buf_add_text(&message, "Invalid value: ");
    vd_excerpt_add_quoted(&message, value, VALUE_SHOWN_MAX);
    return cause(a, "FieldValueInvalid", field, &message, detail);
}

struct vd_status_cause vd_cause_too_long(struct vd_arena *a, struct vd_slice field, size_t max)
{
    struct vd_buf message = {0};
    vd_buf_addf(&message, "Too long: may not be more than %zu bytes", max);
    return cause(a, "FieldValueTooLong", field, &message, VD_SLICE(""));
}

struct vd_status_cause vd_cause_unsupported(struct vd_arena *a, struct vd_slice field,
                                            struct vd_slice value, const struct vd_slice *supported,
                                            size_t n)
{
    struct vd_buf message = {0};
    vd_buf_add_text(&message, "Unsupported value: ");
    vd_excerpt_add_quoted(&message, value, VALUE_SHOWN_MAX);
    for (size_t i = 0; i < n; i++) {
        vd_buf_add_text(&message, i ? ", " : ": supported values: ");
        vd_excerpt_add_quoted(&message, supported[i], VALUE_SHOWN_MAX);
    }
    return cause(a, "FieldValueNotSupported", field, &message, VD_SLICE(""));
}
