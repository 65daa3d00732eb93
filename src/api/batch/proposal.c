/*
 * The one proposal that a batch is, and what its members are told of its outcome.
 *
 * The guards come first, so that they are judged by what was there before the batch. Most members
 * have the same ones: each is proposed once. The wishes follow in the sequence of the members; each
 * but those that are conditions makes one event, so that revisions without a gap between them can
 * be told without a look into the store.
 */
#include "api/batch/batch_internal.h"

#include "api/write/write_internal.h"
#include "base/limits.h"

static void add_wish(struct vd_batch_state *s, const struct vd_wish *wish,
                     struct vd_batch_member *m)
{
    *VD_VEC_PUSH(&s->wishes) = *wish;
    *VD_VEC_PUSH(&s->owners) = m;
    *VD_VEC_PUSH(&s->subjects) = (struct vd_wish_subject){m->write->kind, m->write->before};
}

void vd_batch_add_conditions(struct vd_batch_state *s)
{
    const struct vd_write_batch *b = s->b;
    for (size_t i = 0; i < b->conditions_n; i++)
        add_wish(s,
                 &(struct vd_wish){.action = VD_CHECK,
                                   .when = VD_WHEN_RESOURCE_UNCHANGED,
                                   .revision = b->conditions[i].revision,
                                   .key.resource = b->conditions[i].resource},
                 s->sequence[0]);
}

/* What is guarded: a namespace or a definition, which are in no namespace. */
struct guard {
    struct vd_slice key;
};

static struct vd_slice guard_key(const void *item)
{
    return ((const struct guard *)item)->key;
}

void vd_batch_init_guards(struct vd_batch_state *s)
{
    vd_hash_map_init(&s->guards, guard_key);
}

static bool is_same(const struct vd_wish *a, const struct vd_wish *b)
{
    return vd_slice_eq(a->key.resource, b->key.resource) && vd_slice_eq(a->key.name, b->key.name);
}

/* Members that are made one after the other have mostly the same guards. If the same was seen at
 * two revisions, the first is the older, which the store will refuse. */
static void add_guard(struct vd_batch_state *s, const struct vd_wish *guard,
                      struct vd_batch_member *m)
{
    for (size_t i = s->wishes.n; i > 0 && s->wishes.n - i < VD_WRITE_GUARDS_MAX; i--)
        if (is_same(&s->wishes.p[i - 1], guard))
            return;
    struct guard *known = vd_arena_alloc(&s->scratch, sizeof *known);
    known->key = vd_batch_key(&s->scratch, guard->key.resource, VD_SLICE(""), guard->key.name);
    if (vd_hash_map_get(&s->guards, known->key))
        return;
    vd_hash_map_put(&s->guards, known);
    add_wish(s, guard, m);
}

bool vd_batch_gather_guards(struct vd_batch_state *s)
{
    for (; s->next < s->n && !vd_batch_turn_is_over(s); s->next++) {
        struct vd_batch_member *m = s->sequence[s->next];
        for (size_t i = 0; i < m->write->guard_count; i++)
            add_guard(s, &m->write->wishes[i], m);
    }
    s->guards_n = s->wishes.n;
    return s->next == s->n;
}

bool vd_batch_gather_wishes(struct vd_batch_state *s)
{
    for (; s->next < s->n && !vd_batch_turn_is_over(s); s->next++) {
        struct vd_batch_member *m = s->sequence[s->next];
        s->rows += m->write->wish.action != VD_CHECK;
        add_wish(s, &m->write->wish, m);
    }
    return s->next == s->n;
}

/* ---- the outcome ---- */

/* The revision of an event of this proposal, where they have gaps between them: that of a deletion
 * is not known, but that it is not behind the last. */
static uint64_t look_up(const struct vd_write *w, uint64_t last)
{
    struct vd_event *event = NULL;
    bool found = !vd_store_get(w->l->env->store, &w->wish.key, last, &event, NULL);
    uint64_t revision = found ? event->revision : last;
    vd_event_unref(event);
    return revision;
}

bool vd_batch_tell(struct vd_batch_state *s)
{
    const struct vd_write_batch *b = s->b;
    bool dense = s->rows && b->revision - b->revision_first + 1 == s->rows;
    for (; s->next < s->n && !vd_batch_turn_is_over(s); s->next++) {
        struct vd_write *w = s->sequence[s->next]->write;
        w->result = s->sequence[s->next]->expected;
        if (w->wish.action == VD_CHECK || b->dry_run)
            w->revision = w->wish.revision;
        else
            w->revision = dense ? s->revision++ : look_up(w, b->revision);
    }
    return s->next == s->n;
}
