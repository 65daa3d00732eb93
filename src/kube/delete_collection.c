/*
 * deletecollection: every object that a list would show is deleted, or marked if it
 * has finalizers, and the answer is that list.
 *
 * The list is taken as of one revision and worked through in pieces, each an atomic
 * change; the whole is not atomic. An object that has been changed since is deleted
 * as it is now; one that is gone, or has been replaced by another of its name, is
 * passed over. When the client leaves, the pieces that were done stay done.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/log.h"
#include "kinds/object.h"
#include "kube/continue_token.h"
#include "kube/deletion.h"
#include "kube/list_writer.h"
#include "kube/object_meta.h"
#include "kube/proposal.h"
#include "kube/write.h"
#include "store/snapshot.h"
#include "json/parse.h"
#include "json/revision_hole.h"

enum {
    PIECE_OBJECTS = 64,
    ATTEMPTS_MAX = 8, /* at one piece */
};

struct clearing {
    struct vd_call *call;
    struct vd_filter *filter;
    struct vd_attributes attributes;
    struct vd_snapshot snapshot;
    uint64_t left; /* of the limit; UINT64_MAX: no limit */
    struct vd_slice policy;
    VD_VEC(struct vd_event *) listed; /* references */
    size_t piece_from;                /* the piece is `listed` from here on */
    struct vd_arena arena;            /* of the piece */
    VD_VEC(struct vd_wish) wishes;
    struct vd_proposal proposal;
    struct vd_task task;
    enum vd_code code;
    struct vd_error error;
    unsigned attempts;
};

static void clearing_free(struct clearing *c)
{
    for (size_t i = 0; i < c->listed.n; i++)
        vd_event_unref(c->listed.p[i]);
    VD_VEC_RELEASE(&c->listed);
    VD_VEC_RELEASE(&c->wishes);
    vd_arena_release(&c->arena);
    vd_snapshot_release(&c->snapshot);
    vd_attributes_release(&c->attributes);
    vd_filter_unref(c->filter);
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

/* What cannot be shown, or not in a turn of the loop, is gone all the same: it is listed as it was
 * stored. */
static void add_listed(struct vd_list_writer *writer, struct vd_buf *out,
                       const struct vd_event *event)
{
    struct vd_effort turn = {.in_turn = true}, any = {0};
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
    if (c->left == 0 && !c->snapshot.done)
        vd_continue_token_write(&token, c->snapshot.revision, vd_buf_slice(&c->snapshot.after));
    struct vd_list_meta meta = {
        .resource_version = vd_slice(digits, vd_u64_digits(c->snapshot.revision, digits)),
        .continue_token = vd_buf_slice(&token),
    };
    vd_list_writer_init(&writer, call);
    vd_list_writer_head(&writer, &out, &meta);
    for (size_t i = 0; i < c->listed.n; i++)
        add_listed(&writer, &out, c->listed.p[i]);
    vd_list_writer_tail(&writer, &out);
    vd_list_writer_release(&writer);
    clearing_free(c);
    call->x->ops = NULL;
    vd_call_reply_json(call, 200, vd_buf_slice(&out));
    vd_buf_release(&out);
    vd_buf_release(&token);
}

/* ---- a piece ---- */

static int list_piece(struct clearing *c, struct vd_error *error)
{
    struct vd_event *events[PIECE_OBJECTS];
    size_t n = 0;
    size_t want = c->left < PIECE_OBJECTS ? (size_t)c->left : PIECE_OBJECTS;
    c->piece_from = c->listed.n;
    int code = vd_snapshot_next(&c->snapshot, events, want, &n, error);
    for (size_t i = 0; !code && i < n; i++) {
        vd_attributes_set(&c->attributes, events[i]);
        if (vd_filter_matches(c->filter, &c->attributes)) {
            *VD_VEC_PUSH(&c->listed) = events[i];
            c->left -= c->left != UINT64_MAX;
        } else {
            vd_event_unref(events[i]);
        }
    }
    return code;
}

/* Makes the wish one that marks the object. */
static int mark(struct clearing *c, struct vd_wish *wish, struct vd_json *object,
                struct vd_error *error)
{
    struct vd_buf body = {0};
    size_t hole = 0;
    const struct vd_kind *kind = vd_kind_set_stored(c->call->kinds, wish->key.kind);
    if (kind && vd_object_must_catch_up(kind, wish->revision))
        vd_object_catch_up_or_stay(kind, &c->arena, object); /* it is as new as its revision now */
    vd_deletion_mark(&c->arena, object, wish->key.kind, vd_clock_wall_ms(c->call->kube->clock));
    int code = vd_revision_hole_write(&body, object, &hole, error);
    wish->action = VD_PUT;
    wish->body = (struct vd_template){vd_arena_copy(&c->arena, vd_buf_slice(&body)),
                                      (uint32_t)hole};
    vd_buf_release(&body);
    return code;
}

/* The wish that the object of this event goes, if it is still there. */
static int want_gone(struct clearing *c, const struct vd_event *was, struct vd_error *error)
{
    struct vd_key key = {vd_entry_kind(was->entry), vd_entry_space(was->entry),
                         vd_entry_name(was->entry)};
    struct vd_event *now = NULL;
    struct vd_json *object = NULL;
    int code = vd_store_get(c->call->kube->store, &key, 0, &now, error);
    if (code == VD_ERR_NOT_FOUND)
        return VD_OK;
    if (!code)
        code = vd_json_parse_copy(&c->arena, vd_body_slice(now->body), NULL, &object, error);
    if (!code && vd_uid_eq(now->uid, was->uid) && !vd_meta_is_deleting(object)) {
        struct vd_wish wish = {.action = VD_DELETE,
                               .when = VD_WHEN_REVISION,
                               .revision = now->revision,
                               .expect_uid = now->uid,
                               .uid = now->uid,
                               .key = key};
        vd_deletion_propagate(&c->arena, object, c->policy);
        if (vd_deletion_waits(object, key.kind))
            code = mark(c, &wish, object, error);
        if (!code)
            *VD_VEC_PUSH(&c->wishes) = wish;
    }
    vd_event_unref(now);
    return code;
}

static int make_wishes(struct clearing *c, struct vd_error *error)
{
    int code = VD_OK;
    vd_arena_reset(&c->arena);
    c->wishes.n = 0;
    for (size_t i = c->piece_from; !code && i < c->listed.n; i++)
        code = want_gone(c, c->listed.p[i], error);
    return code;
}

/* ---- from piece to piece ---- */

static struct clearing *clearing_of(struct vd_task *task)
{
    return (struct clearing *)((char *)task - offsetof(struct clearing, task));
}

static void answered(struct vd_task *task);
static void next_piece(struct vd_task *task);

/* Writer thread: back to the loop. */
static void proposal_done(struct vd_proposal *p, const struct vd_outcome *outcome)
{
    struct clearing *c = p->arg;
    c->code = outcome->code;
    c->error = outcome->error;
    vd_loop_post(c->call->l->loop, &c->task);
}

/* Proposes the piece, or goes on when there is nothing to propose. */
static void do_piece(struct clearing *c)
{
    struct vd_error error;
    int code = make_wishes(c, &error);
    if (code) {
        reply_error(c, code, &error);
        return;
    }
    bool goes_on = c->call->dry_run || c->wishes.n == 0;
    struct vd_call *call = c->call;
    c->task.run = goes_on ? next_piece : answered;
    c->proposal = (struct vd_proposal){c->wishes.p, c->wishes.n, proposal_done, c, NULL};
    if (c->wishes.n && !vd_call_admit(call, &c->proposal))
        clearing_free(c);
    else if (goes_on)
        vd_loop_post(call->l->loop, &c->task);
}

/* The client has gone: nobody hears the rest. True: that is so. */
static bool is_abandoned(struct clearing *c)
{
    if (c->call->x)
        return false;
    vd_call_free(c->call);
    clearing_free(c);
    return true;
}

static void next_piece(struct vd_task *task)
{
    struct clearing *c = clearing_of(task);
    struct vd_error error;
    if (is_abandoned(c))
        return;
    if (c->snapshot.done || c->left == 0) {
        reply_list(c);
        return;
    }
    int code = list_piece(c, &error);
    if (code)
        reply_error(c, code, &error);
    else
        do_piece(c);
}

static void answered(struct vd_task *task)
{
    struct clearing *c = clearing_of(task);
    bool refused = c->code == VD_ERR_CONFLICT || c->code == VD_ERR_NOT_FOUND;
    if (is_abandoned(c))
        return;
    if (refused && ++c->attempts < ATTEMPTS_MAX) {
        do_piece(c);
    } else if (c->code) {
        reply_error(c, (int)c->code, &c->error);
    } else {
        c->attempts = 0;
        next_piece(task);
    }
}

/* ---- the way in ---- */

static void on_drained(struct vd_exchange *x)
{
    (void)x;
}

static void on_gone(struct vd_exchange *x)
{
    ((struct clearing *)x->arg)->call->x = NULL;
}

static const struct vd_exchange_ops waiting = {on_drained, on_gone};

static int open_snapshot(struct clearing *c, const struct vd_list_options *o,
                         struct vd_error *error)
{
    struct vd_call *call = c->call;
    struct vd_buf prefix = {0};
    struct vd_slice after = VD_SLICE("");
    uint64_t revision = 0;
    int code = VD_OK;
    if (o->continue_token.n)
        code = vd_continue_token_read(&call->arena, o->continue_token, &revision, &after, error);
    if (call->kind->namespaced && call->target.space.n)
        vd_buf_addf(&prefix, "%.*s/", VD_FMT(call->target.space));
    if (!code)
        code = vd_snapshot_open(&c->snapshot, call->kube->store, call->kind->storage_key,
                                vd_buf_slice(&prefix), revision, after, error);
    vd_buf_release(&prefix);
    return code;
}

static void clear(struct vd_call *call, const struct vd_list_options *o,
                  const struct vd_json *options)
{
    struct clearing *c = VD_NEW(struct clearing);
    struct vd_error error;
    c->call = call;
    c->left = o->limit ? o->limit : UINT64_MAX;
    c->policy = vd_arena_copy(&call->arena, vd_call_propagation(call, options));
    int code = vd_call_filter(call, o, &c->filter, &error);
    if (!code)
        code = open_snapshot(c, o, &error);
    if (code) {
        reply_error(c, code, &error);
        return;
    }
    call->x->ops = &waiting;
    call->x->arg = c;
    next_piece(&c->task);
}

void vd_call_delete_collection(struct vd_call *call)
{
    struct vd_json *options = NULL;
    struct vd_list_options o;
    struct vd_error error;
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
