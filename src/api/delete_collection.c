/* See delete_collection.h. */
#include "api/delete_collection.h"

#include "api/cascade.h"
#include "api/git_claim.h"
#include "api/write.h"
#include "base/container_of.h"
#include "base/limits.h"
#include "kinds/deletion.h"
#include "store/snapshot.h"
#include "json/parse.h"

enum {
    PIECE_OBJECTS = 64,    /* objects that one step looks at */
    PIECE_BYTES = 1 << 20, /* of bodies, and one more object */
    ATTEMPTS_MAX = 8,      /* at one piece */
};

static void drop_piece(struct vd_delete_collection *d)
{
    for (size_t i = 0; i < d->piece.n; i++)
        vd_event_unref(d->piece.p[i]);
    d->piece.n = 0;
}

static void drop_listed(struct vd_delete_collection *d)
{
    for (size_t i = 0; i < d->listed.n; i++)
        vd_event_unref(d->listed.p[i]);
    VD_VEC_RELEASE(&d->listed);
}

static void finish(struct vd_delete_collection *d, enum vd_delete_collection_result result)
{
    d->result = result;
    d->more = d->left == 0 && !d->ended;
    d->done(d);
}

/* ---- a piece ---- */

/* Takes the reference. */
static void take_match(struct vd_delete_collection *d, struct vd_event *event)
{
    *VD_VEC_PUSH(&d->piece) = event;
    d->left -= d->left != UINT64_MAX;
    d->count++;
    d->listed_bytes += event->body->len;
    if (d->listed_bytes > VD_CLEARED_BYTES_MAX)
        drop_listed(d);
    else
        *VD_VEC_PUSH(&d->listed) = vd_event_ref(event);
}

/* What is certainly not of the beginning stays; else whoever creates objects in the order of their
 * names could keep this busy for ever. */
static bool is_wanted(struct vd_delete_collection *d, struct vd_event *event)
{
    if (event->type == VD_EVENT_CREATED && event->revision > d->revision)
        return false;
    vd_attributes_set(&d->attributes, event);
    return vd_filter_matches(d->filter, &d->attributes);
}

/* Sorts the objects that were listed; all references are taken. False: some were left for the
 * next piece, which begins behind the last one that was not. */
static bool take_piece(struct vd_delete_collection *d, struct vd_event **events, size_t n)
{
    size_t bytes = 0, i = 0;
    for (; i < n && bytes < PIECE_BYTES; i++) {
        bytes += events[i]->body->len;
        vd_buf_reset(&d->after);
        vd_buf_add_slice(&d->after, vd_entry_path(events[i]->entry));
        if (is_wanted(d, events[i]))
            take_match(d, events[i]);
        else
            vd_event_unref(events[i]);
    }
    bool all = i == n;
    for (; i < n; i++)
        vd_event_unref(events[i]);
    return all;
}

/* At the newest revision, which can expire only because there is a newer one by now. */
static int list_on(struct vd_delete_collection *d, struct vd_snapshot *s, struct vd_event **events,
                   size_t *n, struct vd_error *error)
{
    size_t want = d->left < PIECE_OBJECTS ? (size_t)d->left : PIECE_OBJECTS;
    int code = VD_ERR_EXPIRED;
    for (unsigned i = 0; code == VD_ERR_EXPIRED && i < ATTEMPTS_MAX; i++) {
        vd_snapshot_release(s);
        code = vd_snapshot_open(s, d->l->env->store, d->kind->resource, vd_buf_slice(&d->prefix), 0,
                                vd_buf_slice(&d->after), error);
        if (!code)
            code = vd_snapshot_next(s, events, want, n, error);
    }
    return code;
}

static int list_piece(struct vd_delete_collection *d, struct vd_error *error)
{
    struct vd_snapshot s = {0};
    struct vd_event *events[PIECE_OBJECTS];
    size_t n = 0;
    drop_piece(d);
    int code = list_on(d, &s, events, &n, error);
    if (!code && take_piece(d, events, n)) {
        vd_buf_reset(&d->after);
        vd_buf_add_slice(&d->after, vd_buf_slice(&s.after));
        d->ended = s.done;
    }
    vd_snapshot_release(&s);
    return code;
}

static void add_cascade(struct vd_delete_collection *d, const struct vd_key *key)
{
    struct vd_buf text = {0};
    vd_buf_addf(&text, "%.*s/%.*s", VD_FMT(key->namespace), VD_FMT(key->name));
    *VD_VEC_PUSH(&d->cascades) = vd_arena_copy(&d->arena, vd_buf_slice(&text));
    vd_buf_release(&text);
}

/* The wish that the object of this event goes, if it is still there. What is read of it is
 * forgotten at once: a piece of large objects would hold many times their size until it is done. */
static int want_gone(struct vd_delete_collection *d, const struct vd_event *was,
                     struct vd_error *error)
{
    struct vd_key key = {vd_entry_resource(was->entry), vd_entry_namespace(was->entry),
                         vd_entry_name(was->entry)};
    struct vd_event *now = NULL;
    struct vd_json *object = NULL;
    struct vd_arena scratch = {0};
    int code = vd_store_get(d->l->env->store, &key, 0, &now, error);
    if (code == VD_ERR_NOT_FOUND)
        return VD_OK;
    if (!code)
        code = vd_json_parse_copy(&scratch, vd_body_slice(now->body), NULL, &object, error);
    struct vd_deletion deletion = {.resource = key.resource,
                                   .kind = vd_kind_set_stored(d->kinds, key.resource),
                                   .policy = d->propagation,
                                   .clock = d->l->env->clock};
    struct vd_wish wish;
    enum vd_deletion_step step = VD_DELETION_NOTHING;
    bool same = !code && vd_uid_eq(now->uid, was->uid);
    if (same)
        code = vd_deletion_check(object, key.resource, error);
    enum vd_cascade cascade = VD_CASCADE_NONE;
    if (same && !code)
        cascade = vd_cascade_of(d->l->env, d->user, key.resource, object);
    deletion.cascades_elsewhere = cascade != VD_CASCADE_NONE;
    if (same && !code)
        code = vd_deletion_wish(&deletion, now, object, &scratch, &d->arena, &step, &wish, error);
    if (!code && step != VD_DELETION_NOTHING) {
        wish.key = key; /* of an event that stays as long as the piece */
        *VD_VEC_PUSH(&d->wishes) = wish;
        if (cascade == VD_CASCADE_UNKNOWN)
            add_cascade(d, &key);
    }
    vd_event_unref(now);
    vd_arena_release(&scratch);
    return code;
}

static int make_wishes(struct vd_delete_collection *d, struct vd_error *error)
{
    int code = VD_OK;
    vd_arena_reset(&d->arena);
    d->wishes.n = d->cascades.n = 0;
    for (size_t i = 0; !code && i < d->piece.n; i++)
        code = want_gone(d, d->piece.p[i], error);
    return code;
}

/* ---- from piece to piece ---- */

static void answered(struct vd_loop_proposal *p);
static void next_piece(struct vd_task *task);

/* Whether the user may delete the piece; NULL: not, and `claim` says why. */
static struct vd_admitted *admit(struct vd_delete_collection *d)
{
    struct vd_admission admission = {
        .store = d->l->env->store, .author = VD_AUTHOR_API, .subject = {.kind = d->kind}};
    struct vd_admitted *admitted = vd_admission_admit(&admission, &d->proposal.proposal, &d->arena,
                                                      &d->claim);
    d->claim.is_one_of_many = true;
    if (!admitted)
        vd_git_claim_complete(&d->claim, d->l->env, d->user, d->kind,
                              d->wishes.p[d->claim.at].key.namespace, &d->arena);
    return admitted;
}

/* Proposes the piece, or goes on when there is nothing to propose. */
static void propose_piece(struct vd_delete_collection *d)
{
    struct vd_api_loop *l = d->l;
    d->proposal.proposal = (struct vd_proposal){.wishes = d->wishes.p, .n = d->wishes.n};
    d->proposal.done = answered;
    d->task.run = next_piece;
    struct vd_admitted *admitted = NULL;
    if (d->wishes.n) {
        admitted = admit(d);
        if (!admitted) {
            finish(d, VD_COLLECTION_OWNED_BY_GIT);
            return;
        }
    }
    if (d->dry_run || !admitted)
        vd_loop_post(l->loop, &d->task);
    else
        vd_api_loop_propose(l, &d->proposal, admitted, false);
}

/* On a worker's thread. */
static void check_cascades(struct vd_pool_item *item)
{
    struct vd_delete_collection *d = VD_CONTAINER_OF(item, struct vd_delete_collection, checking);
    if (!vd_cascade_check(d->l->env, d->user, d->cascades.p, d->cascades.n, &d->error))
        d->error.code = VD_OK; /* whatever was wrong with an earlier scan */
}

static void on_checked(struct vd_pool_item *item)
{
    struct vd_delete_collection *d = VD_CONTAINER_OF(item, struct vd_delete_collection, checking);
    if (d->cancelled)
        finish(d, VD_COLLECTION_CANCELLED);
    else if (d->error.code)
        finish(d, VD_COLLECTION_FAILED);
    else
        propose_piece(d);
}

static void do_piece(struct vd_delete_collection *d)
{
    int code = make_wishes(d, &d->error);
    if (code) {
        finish(d, code == VD_ERR_CONFLICT ? VD_COLLECTION_IN_USE : VD_COLLECTION_FAILED);
    } else if (d->cascades.n) {
        d->checking.run = check_cascades;
        d->checking.done = on_checked;
        vd_worker_pool_add(&d->l->worker_pool, d->l->loop, &d->l->worker_flow, &d->checking);
    } else {
        propose_piece(d);
    }
}

static void next_piece(struct vd_task *task)
{
    struct vd_delete_collection *d = VD_CONTAINER_OF(task, struct vd_delete_collection, task);
    if (d->cancelled)
        finish(d, VD_COLLECTION_CANCELLED);
    else if (d->ended || d->left == 0)
        finish(d, VD_COLLECTION_DELETED);
    else if (list_piece(d, &d->error))
        finish(d, VD_COLLECTION_FAILED);
    else
        do_piece(d);
}

static void answered(struct vd_loop_proposal *p)
{
    struct vd_delete_collection *d = VD_CONTAINER_OF(p, struct vd_delete_collection, proposal);
    enum vd_code code = p->outcome.code;
    bool refused = code == VD_ERR_CONFLICT || code == VD_ERR_NOT_FOUND;
    if (d->cancelled) {
        finish(d, VD_COLLECTION_CANCELLED);
    } else if (refused && ++d->attempts < ATTEMPTS_MAX) {
        do_piece(d);
    } else if (code) {
        d->error = p->outcome.error;
        finish(d, VD_COLLECTION_FAILED);
    } else {
        d->attempts = 0;
        next_piece(&d->task);
    }
}

/* ---- the beginning and the end ---- */

void vd_delete_collection_start(struct vd_delete_collection *d)
{
    d->left = d->limit ? d->limit : UINT64_MAX;
    if (!d->revision)
        d->revision = vd_store_revision(d->l->env->store);
    if (d->kind->namespaced && d->namespace.n)
        vd_buf_addf(&d->prefix, "%.*s/", VD_FMT(d->namespace));
    vd_buf_add_slice(&d->after, d->begin);
    next_piece(&d->task);
}

void vd_delete_collection_release(struct vd_delete_collection *d)
{
    drop_piece(d);
    drop_listed(d);
    VD_VEC_RELEASE(&d->piece);
    VD_VEC_RELEASE(&d->wishes);
    VD_VEC_RELEASE(&d->cascades);
    vd_arena_release(&d->arena);
    vd_buf_release(&d->prefix);
    vd_buf_release(&d->after);
    vd_attributes_release(&d->attributes);
}
