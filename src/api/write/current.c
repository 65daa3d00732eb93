/* What was sent, and what is stored, as the write needs it: decoded, in the kind's version, and in
 * the form that its schema has today. */
#include "api/conversion.h"
#include "api/write/write_internal.h"
#include "kinds/field_tracking.h"

bool vd_write_read_sent(struct vd_write *w, struct vd_json **out)
{
    if (w->ops->read)
        return w->ops->read(w, out) || vd_write_refuse_for(w, VD_REFUSED_BY_CALLER);
    *out = w->document ? vd_json_clone(w->arena, w->document) : NULL;
    return true;
}

static void begin_again(struct vd_write *w, struct vd_body *served)
{
    struct vd_error error;
    w->current = vd_body_ref(served);
    if (vd_write_may_try_again(w, false)) {
        vd_write_try_again(w);
        return;
    }
    vd_error_set(&error, VD_ERR_LOCKED, "the object changes faster than its webhook converts it");
    vd_write_refuse_error(w, VD_ERR_LOCKED, &error);
}

/* The bytes of the object in the version that is wanted. False: the write waits for them. */
static bool find_current(struct vd_write *w, struct vd_event *event, struct vd_slice *out)
{
    *out = vd_body_slice(event->body);
    if (w->as_stored || !vd_conversion_is_needed(w->kind, *out))
        return true;
    if (w->current && w->current_revision == event->revision) {
        *out = vd_body_slice(w->current);
        return true;
    }
    vd_body_unref(w->current);
    w->current = NULL;
    w->current_revision = event->revision;
    vd_write_convert(w, w->kind, *out, event->revision, begin_again);
    return false;
}

/* Brings the object, which was written at the revision, into the form that it is to be read in. */
static int fit(struct vd_write *w, struct vd_json *object, uint64_t revision,
               struct vd_effort *effort, struct vd_error *error)
{
    const struct vd_kind *stored = vd_write_stored_kind(w);
    int code = VD_OK;
    if (w->as_stored)
        return vd_object_must_catch_up(stored, revision)
                   ? vd_object_catch_up(stored, w->arena, object, effort, error)
                   : VD_OK;
    if (vd_object_is_behind(w->kind, revision))
        code = vd_object_catch_up(w->kind, w->arena, object, effort, error);
    if (!code && w->kind->converts)
        vd_object_convert(stored, w->kind, w->arena, object);
    return code;
}

/* Decodes what is stored, in the kind's form of today. An object that is to be deleted is taken as
 * it is when the defaults of today are too much for it. */
static int decode_current(struct vd_write *w, struct vd_slice body, uint64_t revision,
                          struct vd_json **out, struct vd_effort *effort, struct vd_error *error)
{
    for (;;) {
        int code = vd_body_parse(w->arena, body, out, &w->managed, error);
        w->managed_before = w->managed;
        if (!code)
            code = fit(w, *out, revision, effort, error);
        if (!code || effort->on_loop || !effort->over || w->verb != VD_WRITE_DELETE)
            return code;
        revision = VD_WRITTEN_NOW;
        *effort = (struct vd_effort){0};
    }
}

static bool may_be_absent(const struct vd_write *w)
{
    return w->verb == VD_WRITE_REPLACE || (w->verb == VD_WRITE_DELETE && w->may_be_absent);
}

bool vd_write_read_current(struct vd_write *w, struct vd_json **out)
{
    struct vd_event *event = NULL;
    struct vd_slice body = VD_SLICE("");
    struct vd_error error;
    struct vd_effort effort = vd_write_effort(w);
    struct vd_key key = vd_write_key(w);
    int code = vd_store_get(w->l->env->store, &key, 0, &event, &error);
    vd_event_unref(w->before);
    w->before = event;
    w->guard_count = 0;
    w->managed = w->managed_before = VD_SLICE("");
    if (code == VD_ERR_NOT_FOUND && may_be_absent(w)) {
        *out = NULL;
        return true;
    }
    if (!code && !find_current(w, event, &body))
        return false;
    effort.over = !code && vd_write_is_too_long_here(w, body.n);
    if (!code && !effort.over)
        code = decode_current(w, body, event->revision, out, &effort, &error);
    if (effort.on_loop && effort.over) {
        vd_write_job_restart(w);
        return false;
    }
    if (code)
        return vd_write_refuse_error(w, code, &error);
    w->wish = (struct vd_wish){.when = VD_WHEN_REVISION,
                               .revision = event->revision,
                               .expect_uid = event->uid,
                               .key = key};
    return true;
}
