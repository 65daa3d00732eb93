/*
 * Which namespaces and definitions the members of a batch write, which members are in them, and the
 * sequence in which the members are made and their events come: the caller's, but that a place is
 * created before what is in it, and deleted behind it. A namespace and a definition are in no place
 * themselves.
 *
 * A place that a later member creates is moved in front of the first that needs it; a deletion is
 * moved behind the last member that is in the place.
 */
#include "api/batch/batch_internal.h"

#include "kinds/deletion.h"
#include "kinds/object_meta.h"

struct vd_slice vd_batch_key(struct vd_arena *a, struct vd_slice resource,
                             struct vd_slice namespace, struct vd_slice name)
{
    size_t n = resource.n + 1 + namespace.n + 1 + name.n;
    char *p = vd_arena_alloc(a, n), *at = p;
    const struct vd_slice parts[] = {resource, namespace, name};
    for (size_t i = 0; i < 3; i++) {
        if (parts[i].n)
            memcpy(at, parts[i].p, parts[i].n);
        at += parts[i].n;
        if (i < 2)
            *at++ = 0;
    }
    return vd_slice(p, n);
}

struct vd_slice vd_batch_member_name(const struct vd_batch_member *m)
{
    const struct vd_write *w = m->write;
    return w->name.n || !w->document ? w->name : vd_meta_name(w->document);
}

static bool is_definition(const struct vd_write *w)
{
    return vd_slice_eq(w->kind->resource, VD_DEFINITIONS);
}

static bool is_namespace(const struct vd_write *w)
{
    return vd_slice_is(w->kind->resource, "namespaces");
}

/* ---- places ---- */

static void add_place(struct vd_batch_member *m)
{
    struct vd_batch_state *s = m->state;
    struct vd_slice key = vd_batch_key(&s->arena, m->write->kind->resource, VD_SLICE(""),
                                       vd_batch_member_name(m));
    struct vd_batch_place *place = vd_hash_map_get(&s->places, key);
    if (!place) {
        place = vd_arena_alloc(&s->arena, sizeof *place);
        *place = (struct vd_batch_place){.key = key};
        vd_hash_map_put(&s->places, place);
    }
    if (m->write->verb == VD_WRITE_DELETE)
        place->deleted = m;
    else
        place->put = m;
    m->place = place;
}

bool vd_batch_find_places(struct vd_batch_state *s)
{
    while (s->next < s->n && !vd_batch_turn_is_over(s)) {
        struct vd_batch_member *m = &s->members[s->next++];
        bool definition = is_definition(m->write);
        if (definition)
            *VD_VEC_PUSH(&s->definitions) = m;
        if ((definition || is_namespace(m->write)) && m->write->part == VD_PART_OBJECT)
            add_place(m);
        vd_batch_expect_role(m);
    }
    return s->next == s->n;
}

/* The place of this key, in which the member is. */
static struct vd_batch_place *enter(struct vd_batch_member *m, struct vd_slice resource,
                                    struct vd_slice name, struct vd_buf *key)
{
    vd_buf_reset(key);
    vd_buf_add_slice(key, resource);
    vd_buf_add(key, "\0", 2);
    vd_buf_add_slice(key, name);
    struct vd_batch_place *place = vd_hash_map_get(&m->state->places, vd_buf_slice(key));
    if (place)
        place->last = m->at + 1;
    return place;
}

bool vd_batch_link(struct vd_batch_state *s)
{
    struct vd_buf key = {0};
    if (!vd_hash_map_count(&s->places))
        return true;
    while (s->next < s->n && !vd_batch_turn_is_over(s)) {
        struct vd_batch_member *m = &s->members[s->next++];
        const struct vd_write *w = m->write;
        if (w->kind->namespaced)
            m->namespace = enter(m, VD_SLICE("namespaces"), w->namespace, &key);
        if (!w->kind->builtin)
            m->definition = enter(m, VD_DEFINITIONS, w->kind->resource, &key);
    }
    vd_buf_release(&key);
    return s->next == s->n;
}

/* ---- the sequence ---- */

static void append(struct vd_batch_member *m)
{
    if (m->placed)
        return;
    m->placed = true;
    m->state->sequence[m->state->sequence_n++] = m;
}

static void append_creation(const struct vd_batch_place *place)
{
    if (place && place->put)
        append(place->put);
}

/* The deletion that has waited for this member. */
static void append_deletion(const struct vd_batch_place *place, const struct vd_batch_member *m)
{
    if (place && place->deleted && place->last == m->at + 1 && place->deleted->at < m->at)
        append(place->deleted);
}

bool vd_batch_arrange(struct vd_batch_state *s)
{
    while (s->next < s->n && !vd_batch_turn_is_over(s)) {
        struct vd_batch_member *m = &s->members[s->next++];
        bool waits = m->place && m->place->deleted == m && m->place->last > m->at + 1;
        if (m->placed || waits)
            continue;
        append_creation(m->namespace);
        append_creation(m->definition);
        append(m);
        append_deletion(m->namespace, m);
        append_deletion(m->definition, m);
    }
    return s->next == s->n;
}
