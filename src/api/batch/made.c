/*
 * What is kept of a member that was made: the wish with its key and its body, or why it was
 * refused. All else that was needed to make it is in the batch's scratch arena, which is the next
 * member's.
 */
#include "api/batch/batch_internal.h"

#include "api/write/write_internal.h"
#include "base/alloc.h"
#include "base/limits.h"
#include "kinds/uid.h"

/* ---- refusals ---- */

static struct vd_slice copy(struct vd_batch_state *s, struct vd_slice text)
{
    if (!text.n)
        return text;
    s->refusals_len += text.n;
    return vd_arena_copy(&s->arena, text);
}

static void copy_violations(struct vd_batch_state *s, struct vd_refusal *r)
{
    struct vd_violation *all = vd_arena_alloc(&s->arena, r->violations_n * sizeof *all);
    for (size_t i = 0; i < r->violations_n; i++) {
        all[i] = r->violations[i];
        all[i].field = copy(s, all[i].field);
        all[i].message = copy(s, all[i].message);
    }
    s->refusals_len += r->violations_n * sizeof *all;
    r->violations = all;
}

static void copy_conflicts(struct vd_batch_state *s, struct vd_refusal *r)
{
    struct vd_apply_conflict *all = vd_arena_alloc(&s->arena, r->conflicts_n * sizeof *all);
    for (size_t i = 0; i < r->conflicts_n; i++)
        all[i] = (struct vd_apply_conflict){copy(s, r->conflicts[i].manager),
                                            copy(s, r->conflicts[i].path)};
    s->refusals_len += r->conflicts_n * sizeof *all;
    r->conflicts = all;
}

/* When too much is wrong with the batch, the rest of its refusals have a reason and a name. */
static void shorten(struct vd_refusal *r)
{
    r->violations_n = r->conflicts_n = 0;
    r->text = VD_SLICE("too much is wrong with the batch to say all of it");
}

static struct vd_refusal copy_refusal(struct vd_batch_state *s, const struct vd_refusal *refusal)
{
    struct vd_refusal r = *refusal;
    if (s->refusals_len > VD_BATCH_REFUSALS_LEN_MAX)
        shorten(&r);
    struct vd_slice *const texts[] = {
        &r.text,         &r.kind,        &r.name,        &r.is,
        &r.wanted,       &r.claim.name,  &r.claim.path,  &r.claim.repository,
        &r.claim.commit, &r.access.verb, &r.access.name, &r.access.path,
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        *texts[i] = copy(s, *texts[i]);
    copy_violations(s, &r);
    copy_conflicts(s, &r);
    return r;
}

/* The arena of a member that is not being made is the batch's. */
static void settle_arena(struct vd_batch_member *m)
{
    struct vd_batch_state *s = m->state;
    struct vd_write *w = m->write;
    w->arena = &s->arena;
    if (s->refusals_len > VD_BATCH_REFUSALS_LEN_MAX)
        w->warnings.n = 0;
    for (size_t i = 0; i < w->warnings.n; i++)
        w->warnings.p[i] = copy(s, w->warnings.p[i]);
    if (w->verb == VD_WRITE_CREATE && w->name.n) /* it was the object's, or was made */
        w->name = vd_arena_copy(&s->arena, w->name);
    w->served = (struct vd_template){.hole = 0};
    vd_body_unref(w->current);
    vd_body_unref(w->stored);
    w->current = w->stored = NULL;
    s->body = w->body;
    w->body = (struct vd_buf){0};
}

static void count(struct vd_batch_member *m, enum vd_write_result result)
{
    size_t *counts = m->state->b->counts;
    if (m->counted)
        counts[m->expected]--;
    counts[result]++;
    m->counted = true;
    m->expected = result;
}

void vd_batch_refuse(struct vd_batch_member *m, const struct vd_refusal *refusal)
{
    struct vd_write *w = m->write;
    m->state->b->refused += w->result != VD_WRITE_REFUSED;
    w->result = VD_WRITE_REFUSED;
    w->refusal = copy_refusal(m->state, refusal);
    count(m, VD_WRITE_REFUSED);
}

void vd_batch_keep_refusal(struct vd_batch_member *m)
{
    struct vd_refusal refusal = m->write->refusal;
    bool refused = m->write->result == VD_WRITE_REFUSED;
    settle_arena(m);
    if (!refused)
        return;
    m->write->result = VD_WRITE_WITHHELD;
    vd_batch_refuse(m, &refusal);
}

/* ---- what is proposed ---- */

/* An object that two members change would be judged by what one of them has read. */
static bool check_repeated(struct vd_batch_member *m)
{
    static const struct vd_refusal refusal = {
        .reason = VD_REFUSED_BAD_REQUEST,
        .text = {"the batch changes this object more than once", 44}};
    struct vd_batch_state *s = m->state;
    const struct vd_key *key = &m->write->wish.key;
    m->key = vd_batch_key(&s->arena, key->resource, key->namespace, key->name);
    struct vd_batch_member *other = vd_hash_map_get(&s->keys, m->key);
    if (!other) {
        vd_hash_map_put(&s->keys, m);
        return true;
    }
    vd_batch_refuse(other, &refusal);
    vd_batch_refuse(m, &refusal);
    return false;
}

/* Whether the store would take it: it tells that of the first member only. */
static bool check_wish(struct vd_batch_member *m)
{
    struct vd_write *w = m->write;
    struct vd_outcome o = {0};
    struct vd_proposal alone = {.wishes = &w->wish, .n = 1};
    o.code = (enum vd_code)vd_proposal_check(&alone, &o.at, &o.error);
    bool exists = !o.code && w->verb == VD_WRITE_CREATE && !w->makes_name && vd_write_exists(w);
    if (!o.code && !exists)
        return true;
    struct vd_refusal refusal = exists ? vd_write_existing(w) : vd_write_refusal_of(w, &o, true);
    vd_batch_refuse(m, &refusal);
    return false;
}

/* What is there already needs no event: that it stays there is a condition. */
static void check_instead(struct vd_write *w)
{
    const struct vd_event *before = w->before;
    bool same = w->wish.action == VD_PUT && w->wish.when == VD_WHEN_REVISION && before &&
                before->revision == w->wish.revision && vd_uid_eq(before->uid, w->wish.uid) &&
                vd_body_is_made_from(before->body, w->wish.body);
    if (!same)
        return;
    w->wish.action = VD_CHECK;
    w->wish.body = (struct vd_template){.hole = 0};
}

static bool refuse_too_large(struct vd_batch_member *m)
{
    struct vd_error error;
    vd_error_set(&error, VD_ERR_LIMIT,
                 "with this object the batch has more than %d bytes: make it smaller",
                 VD_BATCH_BYTES_MAX);
    vd_batch_refuse(
        m, &(struct vd_refusal){.reason = VD_REFUSED_TOO_LARGE, .text = vd_slice_of(error.text)});
    return false;
}

/* Of a body that is put, no byte more than it has. A dry run needs none of it. */
static bool keep_body(struct vd_batch_member *m)
{
    struct vd_batch_state *s = m->state;
    struct vd_write *w = m->write;
    struct vd_slice bytes = w->wish.body.bytes;
    if (w->wish.action != VD_PUT || !bytes.n)
        return true;
    s->bytes += bytes.n;
    if (s->bytes > VD_BATCH_BYTES_MAX)
        return refuse_too_large(m);
    if (s->b->dry_run)
        return true;
    w->body = (struct vd_buf){vd_malloc(bytes.n), bytes.n, bytes.n};
    memcpy(w->body.p, bytes.p, bytes.n);
    w->wish.body.bytes = vd_slice(w->body.p, bytes.n);
    return true;
}

void vd_batch_keep(struct vd_batch_member *m)
{
    struct vd_write *w = m->write;
    settle_arena(m); /* the wish's body is still in s->body */
    w->wish.key = vd_write_key(w);
    w->result = VD_WRITE_WITHHELD; /* until it is not */
    check_instead(w);
    if (!check_repeated(m) || !check_wish(m) || !keep_body(m))
        return;
    m->made = true;
    count(m, vd_write_result_of(w, w->wish.action != VD_CHECK));
}

void vd_batch_drop(struct vd_batch_member *m)
{
    struct vd_batch_state *s = m->state;
    struct vd_write *w = m->write;
    if (m->made && w->wish.action == VD_PUT)
        s->bytes -= w->wish.body.bytes.n;
    if (m->key.n && vd_hash_map_get(&s->keys, m->key) == m)
        vd_hash_map_remove(&s->keys, m->key);
    vd_buf_release(&w->body);
    m->key = VD_SLICE("");
    m->made = false;
}

static bool is_at(const struct vd_write *w, const struct vd_key *key, uint64_t revision)
{
    struct vd_event *event = NULL;
    bool found = !vd_store_get(w->l->env->store, key, 0, &event, NULL);
    bool is = revision ? found && event->revision == revision : !found;
    vd_event_unref(event);
    return is;
}

bool vd_batch_is_stale(const struct vd_batch_member *m)
{
    const struct vd_write *w = m->write;
    bool fresh = is_at(w, &w->wish.key, w->wish.when == VD_WHEN_REVISION ? w->wish.revision : 0);
    for (size_t i = 0; fresh && i < w->guard_count; i++)
        fresh = is_at(w, &w->wishes[i].key, w->wishes[i].revision);
    return !fresh;
}
