/* See call_write.h. */
#include "kube/call_write.h"

#include "kinds/object.h"
#include "kinds/object_meta.h"
#include "kinds/uid.h"
#include "kube/decode.h"
#include "kube/offload.h"
#include "kube/query_option.h"
#include "kube/status/refusal.h"
#include "request/audit.h"
#include "request/request_log.h"
#include "json/parse.h"
#include "json/revision_hole.h"
#include "json/write.h"

/* ---- the write ---- */

static void on_gone(struct vd_exchange *x)
{
    struct vd_call *call = x->arg;
    call->x = NULL;
    vd_write_cancel(&call->write);
}

static void on_drained(struct vd_exchange *x)
{
    (void)x;
}

static const struct vd_exchange_ops waiting = {on_drained, on_gone};

static enum vd_write_part part_of(struct vd_slice subresource)
{
    return !subresource.n                       ? VD_PART_OBJECT
           : vd_slice_is(subresource, "status") ? VD_PART_STATUS
           : vd_slice_is(subresource, "scale")  ? VD_PART_SCALE
                                                : VD_PART_FINALIZE;
}

/* What the write needs of the request. */
static void describe(struct vd_call *call, enum vd_write_verb verb, const struct vd_write_ops *ops)
{
    struct vd_write *w = &call->write;
    w->l = call->l->api;
    w->ops = ops;
    w->user = call->user;
    w->account = call->x->account;
    w->kinds = call->kinds;
    w->kind = call->kind;
    w->verb = verb;
    w->part = part_of(call->target.subresource);
    w->namespace = call->target.namespace;
    w->name = call->target.name;
}

void vd_call_write(struct vd_call *call, enum vd_write_verb verb, const struct vd_write_ops *ops)
{
    struct vd_write *w = &call->write;
    describe(call, verb, ops);
    if (verb != VD_WRITE_DELETE) {
        w->len = vd_call_body(call).n;
        w->manager = vd_call_manager(call);
    }
    if (verb == VD_WRITE_APPLY)
        vd_query_flag(&call->query, VD_SLICE("force"), &w->force);
    call->x->ops = &waiting;
    call->x->arg = call;
    vd_write_start(w);
}

void vd_call_write_detach(struct vd_write *w)
{
    vd_call_copy_request(vd_call_of(w));
}

bool vd_call_write_is_alone(struct vd_write *w)
{
    return vd_exchange_is_alone(vd_call_of(w)->x);
}

bool vd_call_refuse(struct vd_call *call, const struct vd_status *status)
{
    struct vd_status *kept = vd_arena_alloc(&call->arena, sizeof *kept);
    struct vd_status_cause *causes = vd_arena_alloc(&call->arena,
                                                    status->causes_n * sizeof *causes);
    for (size_t i = 0; i < status->causes_n; i++)
        causes[i] = (struct vd_status_cause){
            .reason = status->causes[i].reason,
            .message = vd_arena_copy(&call->arena, status->causes[i].message),
            .field = vd_arena_copy(&call->arena, status->causes[i].field),
        };
    *kept = *status;
    kept->causes = causes;
    call->refused = kept;
    return false;
}

/* ---- answers ---- */

/* What was written, with its revision. If that takes too long here a worker does this again, and
 * nothing else of the call. */
static void reply_written(struct vd_call *call)
{
    const struct vd_write *w = &call->write;
    struct vd_buf own = {0}, *object = call->away ? &own : &call->l->written;
    struct vd_template body = w->served.bytes.n ? w->served : w->wish.body;
    call->redo = reply_written;
    vd_buf_reset(object);
    vd_revision_hole_fill(object, body.bytes, body.hole, w->revision);
    /* What was written through a version that is not the one that is stored is shown as it is read
     * from now on. */
    vd_call_reply_object(call, w->result == VD_WRITE_CREATED ? 201 : 200, vd_buf_slice(object),
                         call->kind->storage_version ? VD_WRITTEN_NOW : w->revision);
    vd_scratch_let_go(object);
    vd_buf_release(&own);
}

/* The object that would be created: it has no version. */
static void reply_unwritten(struct vd_call *call)
{
    struct vd_slice body = call->write.wish.body.bytes;
    struct vd_buf text = {0};
    struct vd_json *object = NULL;
    call->redo = reply_unwritten;
    if (vd_call_is_too_long_here(call, body.n)) {
        vd_call_offload(call, reply_unwritten);
        return;
    }
    if (vd_json_parse(&call->arena, body, NULL, &object, NULL)) {
        vd_buf_add_slice(&text, body); /* never: it was written just now */
    } else {
        vd_meta_set_resource_version(&call->arena, object, VD_SLICE(""));
        vd_json_write(&text, object);
    }
    vd_call_reply_object(call, 201, vd_buf_slice(&text), VD_WRITTEN_NOW);
    vd_buf_release(&text);
}

void vd_call_reply_deleted(struct vd_call *call)
{
    struct vd_status_target status_target = vd_call_status_target(call);
    char uid[VD_UID_TEXT_MAX];
    struct vd_status status = vd_status_deleted(&call->arena, &status_target,
                                                vd_uid_format(call->write.wish.expect_uid, uid));
    vd_call_reply_status(call, &status);
}

void vd_call_reply_terminating(struct vd_call *call)
{
    struct vd_status_target status_target = vd_call_status_target(call);
    struct vd_status status = vd_status_kind_terminating(&call->arena, &status_target,
                                                         vd_call_verb(call));
    vd_call_reply_status(call, &status);
}

static void reply_refusal(struct vd_call *call)
{
    enum vd_refusal_reason reason = call->write.refusal.reason;
    if (reason == VD_REFUSED_KIND_NOT_FOUND) {
        vd_call_reply_no_path(call);
    } else if (reason == VD_REFUSED_BY_CALLER) {
        vd_call_reply_status(call, call->refused);
    } else {
        struct vd_status status = vd_status_of_refusal(&call->write, call->target.path,
                                                       vd_call_verb(call));
        vd_call_reply_status(call, &status);
    }
}

void vd_call_write_done(struct vd_write *w)
{
    struct vd_call *call = vd_call_of(w);
    if (w->result == VD_WRITE_CANCELLED) {
        vd_call_free(call);
        return;
    }
    call->x->ops = NULL;
    call->target.name = w->name; /* it may have been made */
    if (w->overridden.n && w->result != VD_WRITE_REFUSED)
        vd_audit_overridden(vd_request_log_audit(call->x), w->overridden);
    if (w->result == VD_WRITE_REFUSED)
        reply_refusal(call);
    else if (w->verb == VD_WRITE_DELETE && w->result == VD_WRITE_DELETED)
        vd_call_reply_deleted(call);
    else if (w->result == VD_WRITE_CREATED && w->dry_run)
        reply_unwritten(call);
    else
        reply_written(call);
}

/* ---- questions ---- */

bool vd_call_read_question(struct vd_call *call, const struct vd_kind *kind, struct vd_json **out)
{
    static const struct vd_write_ops ops = VD_CALL_WRITE_OPS(.read = NULL);
    if (!vd_call_decode(call, false, out)) {
        vd_call_reply_status(call, call->refused);
        return false;
    }
    describe(call, VD_WRITE_CREATE, &ops);
    return vd_write_check_question(&call->write, kind, *out);
}
