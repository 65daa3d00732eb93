/*
 * Violations: everything that is wrong with an object, each with its field.
 *
 * They become the causes of a Status with reason Invalid. `message` is the text
 * without the field, "Invalid value: 7: must be less than 5"; people read
 * "field: message". The words are Kubernetes', as its clients compare them.
 *
 * Where the values of a kind are hidden (vedette.dev/values: hidden), as those of Secrets are, a
 * message says VD_HIDDEN_VALUE instead: it ends up in logs, in the status of a Repository and on
 * the terminal of whoever pushes.
 *
 * At most VD_VIOLATIONS_MAX are kept and the rest is counted, so that a hostile
 * object cannot make an answer larger than itself.
 */
#ifndef VD_KINDS_VIOLATION_H
#define VD_KINDS_VIOLATION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/attributes.h"
#include "base/buf.h"
#include "base/effort.h"
#include "base/slice.h"
#include "base/vec.h"
#include "kinds/field_path.h"
#include "json/document.h"

/* What stands in a message in place of a value that must not be shown. */
#define VD_HIDDEN_VALUE "(hidden)"

/* clang-format off */
/* name, the reason of a Status cause, the words, whether the value is shown */
#define VD_VIOLATION_TYPES(X)                                                  \
    X(INVALID,       "FieldValueInvalid",      "Invalid value",     true)      \
    X(TYPE_INVALID,  "FieldValueTypeInvalid",  "Invalid value",     true)      \
    X(REQUIRED,      "FieldValueRequired",     "Required value",    false)     \
    X(NOT_SUPPORTED, "FieldValueNotSupported", "Unsupported value", true)      \
    X(DUPLICATE,     "FieldValueDuplicate",    "Duplicate value",   true)      \
    X(FORBIDDEN,     "FieldValueForbidden",    "Forbidden",         false)     \
    X(TOO_LONG,      "FieldValueTooLong",      "Too long",          false)     \
    X(TOO_MANY,      "FieldValueTooMany",      "Too many",          true)
/* clang-format on */

enum vd_violation_type {
#define VD_VIOLATION_ENUM(name, reason, words, shown) VD_VIOLATION_##name,
    VD_VIOLATION_TYPES(VD_VIOLATION_ENUM)
#undef VD_VIOLATION_ENUM
};

struct vd_violation {
    enum vd_violation_type type;
    struct vd_slice field;      /* "<nil>" for the object itself, as Kubernetes says */
    struct vd_slice message;    /* without the field: words, value and text */
    uint32_t value_at, value_n; /* where the value stands in it; 0 bytes: none is shown */
    uint32_t text_at;           /* where the text begins, or the message ends */
    bool is_firm;               /* a reason to refuse the object even if it was so before */
};

/* `= {0}` is none. The texts live as long as the list. One thread. */
struct vd_violations {
    VD_VEC(struct vd_violation) list;
    size_t dropped;                     /* found beyond VD_VIOLATIONS_MAX */
    bool hides_values;                  /* a bad value is shown as VD_HIDDEN_VALUE */
    VD_VEC(struct vd_violation) passed; /* let pass, for a warning: vd_violations_pass */
    struct vd_effort effort;            /* that finding them takes */
    struct vd_arena arena;
    struct vd_buf scratch;
};

/* The value that is wrong, as it is shown: JSON, cut when it is long. Empty where none is. */
static inline struct vd_slice vd_violation_value(const struct vd_violation *v)
{
    return vd_slice(v->message.p + v->value_at, v->value_n);
}

/* What is wrong with it: "must be less than 5". May be empty. */
static inline struct vd_slice vd_violation_text(const struct vd_violation *v)
{
    return vd_slice_from(v->message, v->text_at);
}

void vd_violations_release(struct vd_violations *v);

static inline bool vd_violations_any(const struct vd_violations *v)
{
    return v->list.n > 0;
}

/* "FieldValueInvalid" and so on: the reason of the Status cause. */
const char *vd_violation_reason(enum vd_violation_type type);

/*
 * The value in a message: what vd_bad_value_json and vd_bad_value_text made, or the text
 * of a number. vd_bad_value_nothing() where Kubernetes shows none. A list that hides values shows
 * only what vd_bad_value_name made: the name of a type, a key, or a value that a schema has.
 */
struct vd_slice vd_bad_value_json(struct vd_violations *v, const struct vd_json *value);
struct vd_slice vd_bad_value_text(struct vd_violations *v, struct vd_slice text);
struct vd_slice vd_bad_value_name(struct vd_violations *v, struct vd_slice text);

static inline struct vd_slice vd_bad_value_nothing(void)
{
    return vd_slice(NULL, 0);
}

/* Adds "<words>: <shown>: <detail>"; the shown value only where the type shows
 * one, the detail only if the format gives any text. */
void vd_violations_add(struct vd_violations *v, enum vd_violation_type type,
                       const struct vd_field_path *path, struct vd_slice shown, const char *format,
                       ...) VD_PRINTF(5, 6);

/* The same with a path that is text already. */
void vd_violations_add_at(struct vd_violations *v, enum vd_violation_type type,
                          struct vd_slice field, struct vd_slice shown, struct vd_slice detail);

/* What was added behind the first `from`, with `dropped` as it was then, is no reason to
 * refuse the object: it was so before. It is kept in `passed`. What is firm stays; false if
 * there is any. */
bool vd_violations_pass(struct vd_violations *v, size_t from, size_t dropped);

/* Adds all of `from`, but for those that `v` has already. */
void vd_violations_merge(struct vd_violations *v, const struct vd_violations *from);

/* "field: message", or "[field: message, field: message]" if there are several:
 * what stands behind "is invalid: " in a Status. */
void vd_violations_write(struct vd_buf *out, const struct vd_violations *v);

#endif
