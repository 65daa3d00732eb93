/*
 * What is to be stored: the object's template, in the version that is stored.
 *
 * An object that is written in another version than the stored one goes to the webhook twice: to be
 * stored, and from what is stored back again, for the answer. Both happen before it is proposed, so
 * that a webhook that fails never leaves a write behind of which the client was told that it
 * failed.
 */
#include "api/write/write_internal.h"
#include "kinds/field_tracking.h"
#include "kinds/object.h"
#include "kinds/object_meta.h"
#include "kinds/served_form.h"
#include "json/revision_hole.h"
#include "json/write.h"

enum { LEN_MORE = 512 }; /* of a new object: what the server says of it */

/* How long the object will be, mostly: as it was, and what was sent. */
static size_t likely_len(const struct vd_write *w)
{
    size_t was = w->before ? w->before->body->len : 0;
    return was + w->len + LEN_MORE;
}

/* Makes the wish one that puts the object, which is in the version that is stored, and proposes
 * it. */
static void put(struct vd_write *w, struct vd_json *object)
{
    struct vd_error error;
    size_t hole = 0;
    vd_managed_put_back(w->arena, object, w->managed);
    vd_buf_reset(&w->body);
    vd_buf_reserve(&w->body, likely_len(w));
    int code = vd_revision_hole_write(&w->body, object, &hole, &error);
    if (code) {
        vd_write_refuse_error(w, code, &error);
        return;
    }
    w->wish.action = w->finishes ? VD_DELETE : VD_PUT;
    w->wish.uid = vd_meta_uid(object);
    w->wish.body = (struct vd_template){vd_buf_slice(&w->body), (uint32_t)hole};
    vd_write_propose(w);
}

/* ---- through a webhook ---- */

/* The answer's template. */
static int make_served(struct vd_write *w, struct vd_body *served, struct vd_error *error)
{
    struct vd_json *object = NULL;
    struct vd_slice managed;
    struct vd_buf text = {0};
    size_t hole = 0;
    int code = vd_body_parse(w->arena, vd_body_slice(served), &object, &managed, error);
    if (!code) {
        vd_managed_put_back(w->arena, object, w->managed);
        code = vd_revision_hole_write(&text, object, &hole, error);
    }
    if (!code)
        w->served = (struct vd_template){vd_arena_copy(w->arena, vd_buf_slice(&text)),
                                         (uint32_t)hole};
    vd_buf_release(&text);
    return code;
}

static void put_converted(struct vd_write *w, struct vd_body *served)
{
    struct vd_json *object = NULL;
    struct vd_slice managed;
    struct vd_error error;
    int code = make_served(w, served, &error);
    if (!code)
        code = vd_body_parse(w->arena, vd_body_slice(w->stored), &object, &managed, &error);
    if (code)
        vd_write_refuse_error(w, code, &error);
    else
        put(w, object);
}

static void set_stored(struct vd_write *w, struct vd_body *stored)
{
    vd_body_unref(w->stored);
    w->stored = vd_body_ref(stored);
}

static void convert_back(struct vd_write *w, struct vd_body *stored)
{
    set_stored(w, stored);
    vd_write_convert(w, w->kind, vd_body_slice(stored), 0, put_converted);
}

static void store_converted(struct vd_write *w, const struct vd_kind *stored,
                            const struct vd_json *object)
{
    struct vd_buf body = {0};
    if (w->unchanged && w->current &&
        vd_served_form_is_of_version(stored, vd_body_slice(w->before->body))) {
        set_stored(w, w->before->body);
        put_converted(w, w->current);
        return;
    }
    vd_json_write(&body, object);
    vd_write_convert(w, stored, vd_buf_slice(&body), 0, convert_back);
    vd_buf_release(&body);
}

void vd_write_store(struct vd_write *w, struct vd_json *object)
{
    const struct vd_kind *stored = vd_write_stored_kind(w);
    if (w->kind->webhook && !w->as_stored && stored != w->kind) {
        store_converted(w, stored, object);
        return;
    }
    if (w->kind->converts && !w->as_stored) {
        object = vd_json_clone(w->arena, object);
        vd_object_convert(w->kind, stored, w->arena, object);
        if (stored != w->kind && stored->schemas_differ)
            vd_object_prune(stored, object);
    }
    put(w, object);
}
