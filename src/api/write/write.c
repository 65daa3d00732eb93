/* See api/write.h. */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#include "api/batch/batch_internal.h"
#include "api/conversion.h"
#include "api/write/write_internal.h"
#include "base/utf8.h"

enum { WARNING_LEN_MAX = 512 }; /* the rest of a warning is cut off */

/* Each failure of an attempt is somebody else's success, so that a crowd on one object needs as
 * many as it has members. What the attempts leave in the arena bounds them, too. */
enum { ATTEMPTS_MIN = 8, ATTEMPTS_MAX = 200, ATTEMPTS_LEN_MAX = 16 << 20 };

enum {
    NAMES_MAX = 8
}; /* made for one object, as in Kubernetes, before the client has to try again */

/* ---- names of things ---- */

struct vd_key vd_write_key(const struct vd_write *w)
{
    return (struct vd_key){w->kind->resource, w->kind->namespaced ? w->namespace : VD_SLICE(""),
                           w->name};
}

struct vd_slice vd_write_subresource(const struct vd_write *w)
{
    static const struct vd_slice names[] = {[VD_PART_OBJECT] = {"", 0},
                                            [VD_PART_STATUS] = {"status", 6},
                                            [VD_PART_SCALE] = {"scale", 5},
                                            [VD_PART_FINALIZE] = {"finalize", 8}};
    return names[w->part];
}

const struct vd_kind *vd_write_stored_kind(const struct vd_write *w)
{
    const struct vd_kind *kind = vd_kind_set_stored(w->kinds, w->kind->resource);
    return kind ? kind : w->kind;
}

/* ---- warnings ---- */

void vd_write_warn(struct vd_write *w, const char *format, ...)
{
    char text[WARNING_LEN_MAX];
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (n < 0 || w->warnings.n >= VD_WRITE_WARNINGS_MAX)
        return;
    struct vd_slice cut = vd_utf8_cut(vd_slice_of(text), sizeof text - 4);
    for (size_t i = 0; i < w->warnings.n; i++)
        if (vd_slice_eq(w->warnings.p[i], cut))
            return;
    *VD_VEC_PUSH(&w->warnings) = vd_arena_copy(w->arena, cut);
}

/* ---- from the start to the end ---- */

/* Nothing of an attempt that was lost counts for the next one, but for the conversion of the
 * version that was read. */
static void reset_attempt(struct vd_write *w)
{
    w->once = w->deletes = w->makes_name = w->applied = w->finishes = w->unchanged = false;
    w->served = (struct vd_template){.hole = 0};
    w->guard_count = 0;
    vd_event_unref(w->before);
    w->before = NULL;
}

static void make_attempt(struct vd_write *w)
{
    static void (*const verbs[])(struct vd_write * w) = {
        [VD_WRITE_CREATE] = vd_write_create, [VD_WRITE_UPDATE] = vd_write_update,
        [VD_WRITE_PATCH] = vd_write_update,  [VD_WRITE_APPLY] = vd_write_apply,
        [VD_WRITE_DELETE] = vd_write_delete, [VD_WRITE_REPLACE] = vd_write_replace,
    };
    reset_attempt(w);
    verbs[w->verb](w);
}

void vd_write_attempt(struct vd_write *w)
{
    w->once = false; /* of a lost attempt: whether a worker may make the next goes by it */
    if (vd_write_is_too_long_here(w, w->len))
        vd_write_job_attempt(w);
    else
        make_attempt(w);
}

void vd_write_start(struct vd_write *w)
{
    static const char *const verbs[] = {
        [VD_WRITE_CREATE] = "create", [VD_WRITE_UPDATE] = "update", [VD_WRITE_PATCH] = "patch",
        [VD_WRITE_APPLY] = "patch",   [VD_WRITE_DELETE] = "delete", [VD_WRITE_REPLACE] = NULL,
    };
    const char *verb = verbs[w->verb]; /* NULL: what is stored decides */
    if (!w->checks_rights || !verb || vd_write_check_rights(w, verb))
        vd_write_attempt(w);
}

void vd_write_finish(struct vd_write *w, enum vd_write_result result)
{
    assert(!w->job);
    w->result = result;
    if (w->member)
        vd_batch_settled(w->member);
    else
        w->ops->done(w);
}

void vd_write_cancel(struct vd_write *w)
{
    w->cancelled = true;
    if (w->conversion) {
        vd_conversion_abandon(w->conversion);
        w->conversion = NULL;
    } else if (!w->job || !vd_write_job_cancel(w)) {
        return; /* the store or a worker has it */
    }
    vd_write_finish(w, VD_WRITE_CANCELLED);
}

void vd_write_release(struct vd_write *w)
{
    VD_VEC_RELEASE(&w->warnings);
    vd_event_unref(w->before);
    vd_body_unref(w->current);
    vd_body_unref(w->stored);
    w->before = NULL;
    w->current = w->stored = NULL;
}

bool vd_write_may_try_again(struct vd_write *w, bool name_taken)
{
    w->attempts++;
    if (name_taken && w->makes_name)
        return w->attempts < NAMES_MAX;
    return w->attempts < ATTEMPTS_MIN ||
           (w->attempts < ATTEMPTS_MAX && w->arena->total < ATTEMPTS_LEN_MAX);
}

void vd_write_try_again(struct vd_write *w)
{
    w->warnings.n = w->yaml_warnings = 0;
    vd_write_attempt(w);
}

/* ---- refusals ---- */

bool vd_write_refuse(struct vd_write *w, const struct vd_refusal *refusal)
{
    w->refusal = *refusal;
    if (!w->job)
        vd_write_finish(w, VD_WRITE_REFUSED);
    return false;
}

bool vd_write_refuse_text(struct vd_write *w, enum vd_refusal_reason reason, struct vd_slice text)
{
    return vd_write_refuse(
        w, &(struct vd_refusal){.reason = reason, .text = vd_arena_copy(w->arena, text)});
}

bool vd_write_refuse_for(struct vd_write *w, enum vd_refusal_reason reason)
{
    return vd_write_refuse(w, &(struct vd_refusal){.reason = reason});
}

struct vd_refusal vd_write_refusal_of_error(struct vd_write *w, int code,
                                            const struct vd_error *error)
{
    static const enum vd_refusal_reason reasons[VD_CODE_COUNT] = {
        [VD_ERR_INVALID] = VD_REFUSED_BAD_REQUEST, [VD_ERR_LIMIT] = VD_REFUSED_TOO_LARGE,
        [VD_ERR_NOT_FOUND] = VD_REFUSED_NOT_FOUND, [VD_ERR_EXISTS] = VD_REFUSED_EXISTS,
        [VD_ERR_CONFLICT] = VD_REFUSED_CONFLICT,   [VD_ERR_EXPIRED] = VD_REFUSED_EXPIRED,
        [VD_ERR_FUTURE] = VD_REFUSED_FUTURE,       [VD_ERR_FULL] = VD_REFUSED_NO_SPACE,
        [VD_ERR_READ_ONLY] = VD_REFUSED_READ_ONLY, [VD_ERR_LOCKED] = VD_REFUSED_UNAVAILABLE,
        [VD_ERR_MEMORY] = VD_REFUSED_UNAVAILABLE,  [VD_ERR_CLOSED] = VD_REFUSED_UNAVAILABLE,
    };
    enum vd_refusal_reason reason = code > 0 && code < VD_CODE_COUNT ? reasons[code]
                                                                     : VD_REFUSED_NONE;
    const char *text = error && error->text[0] ? error->text : vd_code_name(code);
    return (struct vd_refusal){.reason = reason ? reason : VD_REFUSED_FAILED,
                               .text = vd_arena_copy(w->arena, vd_slice_of(text))};
}

bool vd_write_refuse_error(struct vd_write *w, int code, const struct vd_error *error)
{
    struct vd_refusal refusal = vd_write_refusal_of_error(w, code, error);
    return vd_write_refuse(w, &refusal);
}
