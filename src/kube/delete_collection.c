/*
 * deletecollection: every object that a list would show is deleted, or marked if it
 * has finalizers, and the answer is that list.
 *
 * It is done in pieces, each an atomic change; the whole is not atomic. A piece lists on from the
 * last name of the one before, at the newest revision: a snapshot for all of them would be expired
 * by the deletions themselves once there are more of them than the window holds. So whatever was
 * there at the beginning goes, as it is when its piece comes; what was created meanwhile stays, but
 * for what has been changed since; one that is gone, or has been replaced by another of its name,
 * is passed over. When the client leaves, the pieces that were done stay done.
 *
 * A piece is bounded by number and bytes, and so is what is kept for the answer: when the objects
 * are more than VD_CLEARED_BYTES_MAX, the answer is a Status that says how many they were.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/log.h"
#include "kinds/deletion.h"
#include "kinds/object.h"
#include "kinds/object_meta.h"
#include "kube/continue_token.h"
#include "kube/conversion.h"
#include "kube/list_writer.h"
#include "kube/proposal.h"
#include "kube/write.h"
#include "net/account.h"
#include "store/snapshot.h"
#include "json/parse.h"
#include "json/revision_hole.h"

enum {
    PIECE_OBJECTS = 64,
    PIECE_BYTES = 1 << 20, /* of bodies, and one more object */
    ATTEMPTS_MAX = 8,      /* at one piece */
};

struct clearing {
    struct vd_call *call;
    struct vd_filter *filter;
    struct vd_attributes attributes;
    struct vd_buf prefix;
    struct vd_buf after; /* the path that the next piece begins behind */
    uint64_t revision;   /* the newest at the beginning, or that of the continue token */
    bool done;           /* nothing is behind `after` */
    uint64_t left;       /* of the limit; UINT64_MAX: no limit */
    struct vd_slice policy;
    VD_VEC(struct vd_event *) listed; /* references: for the answer, while they are not too many */
    size_t listed_bytes;              /* of their bodies, also when they are no longer kept */
    uint64_t count;                   /* of all that match */
    VD_VEC(struct vd_event *) piece;  /* references */
    struct vd_arena arena;            /* of the piece */
    VD_VEC(struct vd_wish) wishes;
    struct vd_proposal proposal;
    struct vd_task task;
    enum vd_code code;
    struct vd_error error;
    unsigned attempts;
};

static void drop_piece(struct clearing *c)
{
    for (size_t i = 0; i < c->piece.n; i++)
        vd_event_unref(c->piece.p[i]);
    c->piece.n = 0;
}

static void drop_listed(struct clearing *c)
{
    for (size_t i = 0; i < c->listed.n; i++)
        vd_event_unref(c->listed.p[i]);
    VD_VEC_RELEASE(&c->listed);
}

static void clearing_free(struct clearing *c)
{
    drop_piece(c);
    drop_listed(c);
    VD_VEC_RELEASE(&c->piece);
    VD_VEC_RELEASE(&c->wishes);
    vd_arena_release(&c->arena);
    vd_buf_release(&c->prefix);
    vd_buf_release(&c->after);
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

/* Whether a webhook would have to convert what is gone before it could be shown. */
static bool needs_webhook(const struct clearing *c)
{
    for (size_t i = 0; c->call->kind->webhook && i < c->listed.n; i++)
        if (vd_conversion_is_needed(c->call->kind, vd_body_slice(c->listed.p[i]->body)))
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
    if (c->left == 0 && !c->done)
        vd_continue_token_write(token, c->revision, vd_buf_slice(&c->after));
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
    write_continue(c, &token);
    if (needs_webhook(c)) {
        reply_gone(c, vd_buf_slice(&token));
        vd_buf_release(&token);
        return;
    }
    struct vd_list_meta meta = {
        .resource_version = vd_slice(digits, vd_u64_digits(c->revision, digits)),
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

/* The objects were too many to be kept for an answer. */
static void reply_count(struct clearing *c)
{
    struct vd_call *call = c->call;
    struct vd_buf message = {0}, token = {0};
    vd_buf_addf(&message,
                "%llu %.*s were deleted, or marked for deletion where they have finalizers; the "
                "list of them is left out because it has more than %d bytes",
                (unsigned long long)c->count, VD_FMT(call->kind->plural), VD_CLEARED_BYTES_MAX);
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
    if (c->listed_bytes > VD_CLEARED_BYTES_MAX)
        reply_count(c);
    else
        reply_list(c);
}

/* ---- a piece ---- */

/* Takes the reference. */
static void take_match(struct clearing *c, struct vd_event *event)
{
    *VD_VEC_PUSH(&c->piece) = event;
    c->left -= c->left != UINT64_MAX;
    c->count++;
    c->listed_bytes += event->body->len;
    if (c->listed_bytes > VD_CLEARED_BYTES_MAX)
        drop_listed(c);
    else
        *VD_VEC_PUSH(&c->listed) = vd_event_ref(event);
}

/* What is certainly not of the beginning stays; else whoever creates objects in the order of their
 * names could keep this busy for ever. */
static bool is_wanted(struct clearing *c, struct vd_event *event)
{
    if (event->type == VD_EVENT_CREATED && event->revision > c->revision)
        return false;
    vd_attributes_set(&c->attributes, event);
    return vd_filter_matches(c->filter, &c->attributes);
}

/* Sorts the objects that were listed; all references are taken. False: some were left for the
 * next piece, which begins behind the last one that was not. */
static bool take_piece(struct clearing *c, struct vd_event **events, size_t n)
{
    size_t bytes = 0, i = 0;
    for (; i < n && bytes < PIECE_BYTES; i++) {
        bytes += events[i]->body->len;
        vd_buf_reset(&c->after);
        vd_buf_add_slice(&c->after, vd_entry_path(events[i]->entry));
        if (is_wanted(c, events[i]))
            take_match(c, events[i]);
        else
            vd_event_unref(events[i]);
    }
    bool all = i == n;
    for (; i < n; i++)
        vd_event_unref(events[i]);
    return all;
}

/* At the newest revision, which can expire only because there is a newer one by now. */
static int list_on(struct clearing *c, struct vd_snapshot *s, struct vd_event **events, size_t *n,
                   struct vd_error *error)
{
    struct vd_call *call = c->call;
    size_t want = c->left < PIECE_OBJECTS ? (size_t)c->left : PIECE_OBJECTS;
    int code = VD_ERR_EXPIRED;
    for (unsigned i = 0; code == VD_ERR_EXPIRED && i < ATTEMPTS_MAX; i++) {
        vd_snapshot_release(s);
        code = vd_snapshot_open(s, call->kube->store, call->kind->storage_key,
                                vd_buf_slice(&c->prefix), 0, vd_buf_slice(&c->after), error);
        if (!code)
            code = vd_snapshot_next(s, events, want, n, error);
    }
    return code;
}

static int list_piece(struct clearing *c, struct vd_error *error)
{
    struct vd_snapshot s = {0};
    struct vd_event *events[PIECE_OBJECTS];
    size_t n = 0;
    drop_piece(c);
    int code = list_on(c, &s, events, &n, error);
    if (!code && take_piece(c, events, n)) {
        vd_buf_reset(&c->after);
        vd_buf_add_slice(&c->after, vd_buf_slice(&s.after));
        c->done = s.done;
    }
    vd_snapshot_release(&s);
    return code;
}

/* The wish that the object of this event goes, if it is still there. What is read of it is
 * forgotten at once: a piece of large objects would hold many times their size until it is done. */
static int want_gone(struct clearing *c, const struct vd_event *was, struct vd_error *error)
{
    struct vd_key key = {vd_entry_kind(was->entry), vd_entry_space(was->entry),
                         vd_entry_name(was->entry)};
    struct vd_event *now = NULL;
    struct vd_json *object = NULL;
    struct vd_arena scratch = {0};
    int code = vd_store_get(c->call->kube->store, &key, 0, &now, error);
    if (code == VD_ERR_NOT_FOUND)
        return VD_OK;
    if (!code)
        code = vd_json_parse_copy(&scratch, vd_body_slice(now->body), NULL, &object, error);
    struct vd_deletion deletion = {.storage_key = key.kind,
                                   .kind = vd_kind_set_stored(c->call->kinds, key.kind),
                                   .policy = c->policy,
                                   .clock = c->call->kube->clock};
    struct vd_wish wish;
    enum vd_deletion_step step = VD_DELETION_NOTHING;
    if (!code && vd_uid_eq(now->uid, was->uid))
        code = vd_deletion_wish(&deletion, now, object, &scratch, &c->arena, &step, &wish, error);
    if (!code && step != VD_DELETION_NOTHING) {
        wish.key = key; /* of an event that stays as long as the piece */
        *VD_VEC_PUSH(&c->wishes) = wish;
    }
    vd_event_unref(now);
    vd_arena_release(&scratch);
    return code;
}

static int make_wishes(struct clearing *c, struct vd_error *error)
{
    int code = VD_OK;
    vd_arena_reset(&c->arena);
    c->wishes.n = 0;
    for (size_t i = 0; !code && i < c->piece.n; i++)
        code = want_gone(c, c->piece.p[i], error);
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
    struct vd_admitted *admitted = c->wishes.n ? vd_call_admit(call, &c->proposal) : NULL;
    if (c->wishes.n && !admitted)
        clearing_free(c);
    else if (goes_on)
        vd_loop_post(call->l->loop, &c->task);
    else
        vd_store_propose(call->kube->store, admitted);
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
    if (c->done || c->left == 0) {
        reply(c);
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

/* Where it begins. A continue token's path counts, and its revision tells what is new; that the
 * window has passed it does not matter here. */
static int find_beginning(struct clearing *c, const struct vd_list_options *o,
                          struct vd_error *error)
{
    struct vd_call *call = c->call;
    struct vd_slice after = VD_SLICE("");
    int code = VD_OK;
    if (o->continue_token.n)
        code = vd_continue_token_read(&call->arena, o->continue_token, vd_call_continue_scope(call),
                                      &c->revision, &after, error);
    if (!c->revision) /* there is no token, or one that means the newest */
        c->revision = vd_store_revision(call->kube->store);
    if (call->kind->namespaced && call->target.space.n)
        vd_buf_addf(&c->prefix, "%.*s/", VD_FMT(call->target.space));
    vd_buf_add_slice(&c->after, after);
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
        code = find_beginning(c, o, &error);
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
