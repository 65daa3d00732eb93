/*
 * deletecollection: every object that a list would show is deleted, or marked if it has finalizers
 * (api/delete_collection.h), and the answer is that list. When the objects are more than
 * VD_CLEARED_BYTES_MAX, it is a Status that says how many they were.
 */
#include <stdlib.h>

#include "api/conversion.h"
#include "api/delete_collection.h"
#include "base/alloc.h"
#include "base/container_of.h"
#include "base/limits.h"
#include "base/log.h"
#include "kube/continue_token.h"
#include "kube/delete_options.h"
#include "kube/list_writer.h"
#include "net/account.h"

struct clearing {
    struct vd_delete_collection deletion; /* first: `done` is given it */
    struct vd_call *call;                 /* its exchange is NULL when the client has gone */
};

static void clearing_free(struct clearing *c)
{
    vd_filter_unref(c->deletion.filter);
    vd_delete_collection_release(&c->deletion);
    free(c);
}

/* ---- answers ---- */

static void reply_error(struct clearing *c, int code, const struct vd_error *error)
{
    struct vd_call *call = c->call;
    struct vd_error why = *error;
    call->x->ops = NULL;
    clearing_free(c);
    vd_call_reply_error(call, code, &why);
}

/* Whether a webhook would have to convert what is gone before it could be shown. */
static bool needs_webhook(const struct clearing *c)
{
    for (size_t i = 0; c->call->kind->webhook && i < c->deletion.listed.n; i++)
        if (vd_conversion_is_needed(c->call->kind, vd_body_slice(c->deletion.listed.p[i]->body)))
            return true;
    return false;
}

/* That it has worked, without what it was. */
static void reply_gone(struct clearing *c, struct vd_slice token)
{
    struct vd_call *call = c->call;
    struct vd_status status = {
        .code = 200, .success = true, .continue_token = vd_arena_copy(&call->arena, token)};
    clearing_free(c);
    call->x->ops = NULL;
    vd_call_reply_status(call, &status);
}

/* Where a request with a limit goes on; nothing when all is done. */
static void write_continue(const struct clearing *c, struct vd_buf *token)
{
    if (c->deletion.more)
        vd_continue_token_write(token, c->deletion.revision, vd_buf_slice(&c->deletion.after));
}

/* What cannot be shown, or not in a turn of the loop, is gone all the same: it is listed as it was
 * stored. */
static void add_listed(struct vd_list_writer *writer, struct vd_buf *out,
                       const struct vd_event *event)
{
    struct vd_effort turn = {.on_loop = true}, any = {0};
    struct vd_error error;
    int code = vd_list_writer_add(writer, out, event, &turn, &error);
    writer->as_stored = true;
    if (code && vd_list_writer_add(writer, out, event, &any, &error))
        vd_log_warn("a deleted object is not listed", VD_F_STR("error", error.text));
    writer->as_stored = false;
}

static void reply_list(struct clearing *c)
{
    struct vd_call *call = c->call;
    struct vd_buf out = {0}, token = {0};
    struct vd_list_writer writer;
    char digits[20];
    write_continue(c, &token);
    if (needs_webhook(c)) {
        reply_gone(c, vd_buf_slice(&token));
        vd_buf_release(&token);
        return;
    }
    struct vd_list_meta meta = {
        .resource_version = vd_slice(digits, vd_u64_digits(c->deletion.revision, digits)),
        .continue_token = vd_buf_slice(&token),
    };
    vd_list_writer_init(&writer, call);
    vd_list_writer_head(&writer, &out, &meta);
    for (size_t i = 0; i < c->deletion.listed.n; i++)
        add_listed(&writer, &out, c->deletion.listed.p[i]);
    vd_list_writer_tail(&writer, &out);
    vd_list_writer_release(&writer);
    clearing_free(c);
    call->x->ops = NULL;
    vd_call_reply_json(call, 200, vd_buf_slice(&out));
    vd_buf_release(&out);
    vd_buf_release(&token);
}

/* The objects were too many to be kept for an answer. */
static void reply_count(struct clearing *c)
{
    struct vd_call *call = c->call;
    struct vd_buf message = {0}, token = {0};
    vd_buf_addf(&message,
                "%llu %.*s were deleted, or marked for deletion where they have finalizers; the "
                "list of them is left out because it has more than %d bytes",
                (unsigned long long)c->deletion.count, VD_FMT(call->kind->plural),
                VD_CLEARED_BYTES_MAX);
    write_continue(c, &token);
    struct vd_status status = {
        .code = 200,
        .success = true,
        .message = vd_arena_copy(&call->arena, vd_buf_slice(&message)),
        .continue_token = vd_arena_copy(&call->arena, vd_buf_slice(&token)),
        .has_details = true,
        .group = call->kind->group,
        .kind = call->kind->plural,
    };
    vd_buf_release(&message);
    vd_buf_release(&token);
    clearing_free(c);
    call->x->ops = NULL;
    vd_call_reply_status(call, &status);
}

static void reply(struct clearing *c)
{
    if (c->deletion.listed_bytes > VD_CLEARED_BYTES_MAX)
        reply_count(c);
    else
        reply_list(c);
}

/* ---- the way in ---- */

static void on_drained(struct vd_exchange *x)
{
    (void)x;
}

static void on_gone(struct vd_exchange *x)
{
    struct clearing *c = x->arg;
    c->call->x = NULL;
    c->deletion.cancelled = true;
}

static const struct vd_exchange_ops waiting = {on_drained, on_gone};

static void reply_owned_by_git(struct clearing *c)
{
    struct vd_call *call = c->call;
    struct vd_status_target status_target = vd_call_status_target(call);
    status_target.name = c->deletion.claim.name;
    struct vd_status status = vd_status_owned_by_git(&call->arena, &status_target,
                                                     &c->deletion.claim, call->kind->namespaced);
    call->x->ops = NULL;
    vd_call_reply_status(call, &status);
    clearing_free(c);
}

static void reply_in_use(struct clearing *c)
{
    struct vd_call *call = c->call;
    struct vd_status_target status_target = vd_call_status_target(call);
    struct vd_slice text = vd_arena_copy(&call->arena, vd_slice_of(c->deletion.error.text));
    struct vd_status status = vd_status_conflict(&call->arena, &status_target, text);
    call->x->ops = NULL;
    vd_call_reply_status(call, &status);
    clearing_free(c);
}

static void done(struct vd_delete_collection *d)
{
    struct clearing *c = VD_CONTAINER_OF(d, struct clearing, deletion);
    if (!c->call->x) { /* nobody hears the answer */
        vd_call_free(c->call);
        clearing_free(c);
    } else if (d->result == VD_COLLECTION_DELETED) {
        reply(c);
    } else if (d->result == VD_COLLECTION_OWNED_BY_GIT) {
        reply_owned_by_git(c);
    } else if (d->result == VD_COLLECTION_IN_USE) {
        reply_in_use(c);
    } else {
        reply_error(c, (int)d->error.code, &d->error);
    }
}

static void clear(struct vd_call *call, const struct vd_list_options *o,
                  const struct vd_json *options)
{
    struct clearing *c = VD_NEW(struct clearing);
    struct vd_delete_collection *d = &c->deletion;
    struct vd_error error;
    c->call = call;
    *d = (struct vd_delete_collection){
        .l = call->l->api,
        .done = done,
        .kinds = call->kinds,
        .kind = call->kind,
        .user = call->user,
        .namespace = call->target.namespace,
        .propagation = vd_arena_copy(&call->arena, vd_call_propagation(call, options)),
        .limit = o->limit,
        .dry_run = call->write.dry_run,
    };
    int code = vd_call_filter(call, o, &d->filter, &error);
    if (!code && o->continue_token.n) /* that the window has passed its revision does not matter */
        code = vd_continue_token_read(&call->arena, o->continue_token, vd_call_continue_scope(call),
                                      &d->revision, &d->begin, &error);
    if (code) {
        reply_error(c, code, &error);
        return;
    }
    call->x->ops = &waiting;
    call->x->arg = c;
    vd_delete_collection_start(d);
}

void vd_call_delete_collection(struct vd_call *call)
{
    struct vd_json *options = NULL;
    struct vd_list_options o;
    struct vd_error error;
    if (vd_exchange_is_over(call->x)) { /* the answer is a list, which would add to it */
        vd_account_refuse(call->x->account, VD_LIMIT_USER_QUEUED);
        vd_call_reply_too_many(call);
        return;
    }
    if (!vd_call_delete_options(call, &options))
        return;
    if (vd_json_count(vd_json_get(options, VD_SLICE("preconditions")))) {
        struct vd_status status = vd_status_bad_request(
            &call->arena, VD_SLICE("preconditions are for the deletion of one object: delete the "
                                   "objects one by one, or leave them out"));
        vd_call_reply_status(call, &status);
        return;
    }
    int code = vd_list_options_parse(&o, &call->query, false, &error);
    if (code) {
        vd_call_reply_options(call, code, &error);
        return;
    }
    clear(call, &o, options);
    vd_list_options_release(&o);
}
