/*
 * Whether an object is valid, asked without holding the loop.
 *
 * What a worker makes anyway (job.c) is checked there. A definition always goes to a worker: its
 * patterns and rules are compiled to be looked at. Another object is checked on the loop, with
 * little effort; what is given up there - a pattern on a long text, a pattern or a rule that nobody
 * has compiled yet - a worker does from the beginning.
 *
 * While a worker has it, the client may go: all that the worker reads is in the write's arena.
 */
#include "api/write/write_internal.h"
#include "kinds/condition_rules.h"
#include "kinds/deletion.h"
#include "kinds/object.h"
#include "kinds/object_meta.h"

/* In the write's arena while a worker validates. */
struct vd_write_validation {
    struct vd_json *object;
    const struct vd_json *old;
    void (*then)(struct vd_write *w, struct vd_json *object);
};

bool vd_write_refuse_invalid(struct vd_write *w, struct vd_slice kind, const struct vd_json *object,
                             const struct vd_violations *violations)
{
    size_t n = violations->list.n;
    struct vd_violation *copies = vd_arena_alloc(w->arena, n * sizeof *copies);
    for (size_t i = 0; i < n; i++) {
        copies[i] = violations->list.p[i];
        copies[i].message = vd_arena_copy(w->arena, copies[i].message);
        copies[i].field = vd_arena_copy(w->arena, copies[i].field);
    }
    return vd_write_refuse(
        w, &(struct vd_refusal){.reason = VD_REFUSED_INVALID,
                                .kind = vd_arena_copy(w->arena, kind),
                                .name = vd_arena_copy(w->arena, vd_meta_name(object)),
                                .violations = copies,
                                .violations_n = n});
}

/* Refuses the write if something is wrong. Releases the violations. */
static bool conclude(struct vd_write *w, const struct vd_kind *kind, const struct vd_json *object,
                     struct vd_violations *violations, bool ok)
{
    for (size_t i = 0; i < violations->passed.n; i++)
        vd_write_warn(w, "%.*s: %.*s", VD_FMT(violations->passed.p[i].field),
                      VD_FMT(violations->passed.p[i].message));
    if (vd_write_is_at_status(w)) {
        vd_condition_rules_check(kind, object, violations);
        ok = ok && !vd_violations_any(violations);
    }
    if (!ok)
        vd_write_refuse_invalid(w, kind->kind, object, violations);
    vd_violations_release(violations);
    return ok;
}

/* ---- by a worker ---- */

static void validate(struct vd_write *w)
{
    struct vd_write_validation *v = w->validated;
    struct vd_violations violations = {0};
    bool ok = vd_object_validate(w->kind, v->object, v->old, &violations);
    (void)conclude(w, w->kind, v->object, &violations, ok);
}

static void go_on(struct vd_write *w)
{
    struct vd_write_validation *v = w->validated;
    v->then(w, v->object);
}

static void let_validate(struct vd_write *w, const struct vd_json *object,
                         const struct vd_json *old,
                         void (*then)(struct vd_write *w, struct vd_json *object))
{
    struct vd_write_validation *v = vd_arena_alloc(w->arena, sizeof *v);
    *v = (struct vd_write_validation){
        .object = vd_json_copy(w->arena, object), /* its texts may be the request's */
        .old = old,
        .then = then,
    };
    w->validated = v;
    vd_write_job_start(w, validate, go_on);
}

/* ---- here ---- */

void vd_write_validate(struct vd_write *w, struct vd_json *object, const struct vd_json *old,
                       void (*then)(struct vd_write *w, struct vd_json *object))
{
    struct vd_violations violations = {.effort = {.on_loop = !w->job}};
    if (!w->job && vd_slice_eq(w->kind->resource, VD_DEFINITIONS)) {
        let_validate(w, object, old, then);
        return;
    }
    bool ok = vd_object_validate(w->kind, object, old, &violations);
    if (violations.effort.over && !w->job) {
        vd_violations_release(&violations);
        let_validate(w, object, old, then);
    } else if (conclude(w, w->kind, object, &violations, ok)) {
        then(w, object);
    }
}

bool vd_write_check_valid(struct vd_write *w, const struct vd_kind *kind,
                          const struct vd_json *object)
{
    struct vd_violations violations = {0};
    bool ok = vd_object_validate(kind, object, NULL, &violations);
    return conclude(w, kind, object, &violations, ok);
}
