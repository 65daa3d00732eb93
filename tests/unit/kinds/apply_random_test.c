/*
 * Server-side apply against a model: random managers apply and update one object, and
 * after each step the object, everybody's fields and the conflicts are what the model says.
 *
 * The model knows nothing of sets, steps and schemas. It has a table of all places that an
 * object of the test can have; an object is a number for each place, and what a manager
 * owns is a bit for each. The rules of apply are spelled out on those bits.
 */
#include "kinds/object_apply.h"

#include <stdio.h>

#include "apply_schema.h"
#include "json_check.h"
#include "seed.h"

enum shape { MAP, LIST, ITEM, LEAF };

/* A place, under its parent's index. `key` is its step in managedFields; places under a
 * described object are named by the schema, others are items of maps and lists. */
static const struct place {
    const char *key;
    int parent;
    enum shape shape;
    bool named;
} places[] = {
    {"f:metadata", -1, MAP, true},                            /* 0 */
    {"f:spec", -1, MAP, true},                                /* 1 */
    {"f:labels", 0, MAP, true},                               /* 2 */
    {"f:p", 2, LEAF, false},                                  /* 3 */
    {"f:q", 2, LEAF, false},                                  /* 4 */
    {"f:a", 1, LEAF, true},                                   /* 5 */
    {"f:b", 1, LEAF, true},                                   /* 6 */
    {"f:map", 1, MAP, true},                                  /* 7 */
    {"f:x", 7, LEAF, false},                                  /* 8 */
    {"f:y", 7, LEAF, false},                                  /* 9 */
    {"f:deep", 7, ITEM, false},                               /* 10 */
    {"f:z", 10, LEAF, false},                                 /* 11 */
    {"f:set", 1, LIST, true},                                 /* 12 */
    {"v:\"u\"", 12, LEAF, false},                             /* 13 */
    {"v:\"v\"", 12, LEAF, false},                             /* 14 */
    {"v:\"w\"", 12, LEAF, false},                             /* 15 */
    {"f:ports", 1, LIST, true},                               /* 16 */
    {"k:{\"port\":1,\"protocol\":\"TCP\"}", 16, ITEM, false}, /* 17 */
    {"f:port", 17, LEAF, true},                               /* 18 */
    {"f:name", 17, LEAF, true},                               /* 19 */
    {"f:extra", 17, LEAF, true},                              /* 20 */
    {"k:{\"port\":2,\"protocol\":\"TCP\"}", 16, ITEM, false}, /* 21 */
    {"f:port", 21, LEAF, true},                               /* 22 */
    {"f:name", 21, LEAF, true},                               /* 23 */
    {"f:extra", 21, LEAF, true},                              /* 24 */
    {"f:whole", 1, LEAF, true},                               /* 25 */
    {"f:list", 1, LEAF, true},                                /* 26 */
};

enum { PLACES = sizeof places / sizeof *places, METADATA = 0, MANAGERS = 7, PAST = 6, STEPS = 14 };

typedef uint64_t bits;

/* 0: not there. A leaf has a value from 1 on; anything else is 1. */
struct thing {
    int at[PLACES];
};

#define BIT(i) ((bits)1 << (i))

static bool is_below(int i, int of)
{
    for (i = places[i].parent; i >= 0; i = places[i].parent)
        if (i == of)
            return true;
    return false;
}

static bits below(int of)
{
    bits set = 0;
    for (int i = 0; i < PLACES; i++)
        set |= is_below(i, of) ? BIT(i) : 0;
    return set;
}

static bool has_children(const struct thing *t, int of)
{
    for (int i = 0; i < PLACES; i++)
        if (places[i].parent == of && t->at[i])
            return true;
    return false;
}

/* ---- the model: what an object's fields are, and what differs ---- */

static bits fields_of(const struct thing *t)
{
    bits set = 0;
    for (int i = 0; i < PLACES; i++) {
        enum shape shape = places[i].shape;
        bool counts = shape == LEAF || shape == ITEM || (shape == MAP && !has_children(t, i));
        if (t->at[i] && counts && i != METADATA)
            set |= BIT(i);
    }
    return set;
}

static void differ(const struct thing *old, const struct thing *new, bits *taken, bits *removed)
{
    *taken = *removed = 0;
    for (int i = 0; i < PLACES; i++) {
        if (i == METADATA)
            continue;
        if (new->at[i] && new->at[i] != old->at[i])
            *taken |= BIT(i);
        else if (old->at[i] && !new->at[i])
            *removed |= BIT(i);
    }
}

/* Who owns something in a described object or list has a say in it. */
static bits with_named(bits set)
{
    bits all = set;
    for (int i = 0; i < PLACES; i++)
        if (places[i].named && (set & below(i)))
            all |= BIT(i);
    return all;
}

/* ---- the model: applying ---- */

struct model {
    struct thing live;
    bool exists;
    bits owned[MANAGERS]; /* three appliers, three updaters, and the past */
};

struct verdict {
    bool conflict;
    bits lost[MANAGERS];
};

static void take_out(struct thing *t, bits gone)
{
    for (int i = 0; i < PLACES; i++)
        for (int j = 0; j < PLACES; j++)
            if ((gone & BIT(i)) && (i == j || is_below(j, i)))
                t->at[j] = 0;
}

static struct verdict model_apply(struct model *m, int manager, const struct thing *config,
                                  bool force)
{
    struct verdict v = {0};
    struct thing merged, nothing = {{0}};
    bits owned[MANAGERS], taken, removed, everybody = fields_of(config);
    bits any = 0;
    memcpy(owned, m->owned, sizeof owned);
    for (int i = 0; i < MANAGERS; i++)
        any |= owned[i];
    if (m->exists && !any)
        differ(&nothing, &m->live, &owned[PAST], &removed);
    for (int i = 0; i < MANAGERS; i++)
        everybody |= i == manager ? 0 : owned[i];
    for (int i = 0; i < PLACES; i++)
        merged.at[i] = config->at[i] ? config->at[i] : m->live.at[i];
    take_out(&merged, with_named(owned[manager]) & ~with_named(everybody) & ~BIT(METADATA));
    for (int i = 0; i < PLACES; i++) /* an empty list owns nothing, but it is there */
        merged.at[i] = config->at[i] ? config->at[i] : merged.at[i];
    differ(&m->live, &merged, &taken, &removed);
    for (int i = 0; i < MANAGERS; i++) {
        v.lost[i] = i == manager ? 0 : owned[i] & taken;
        v.conflict |= v.lost[i] != 0 && !force;
    }
    if (v.conflict)
        return v;
    for (int i = 0; i < MANAGERS; i++)
        m->owned[i] = i == manager ? fields_of(config) : owned[i] & ~v.lost[i] & ~removed;
    /* What was emptied, and is kept by somebody, is no value that can be stored. */
    for (int i = 0; i < PLACES; i++)
        if (merged.at[i] && places[i].shape != LEAF && has_children(&m->live, i) &&
            !has_children(&merged, i) && !config->at[i])
            merged.at[i] = 0;
    m->live = merged;
    m->exists = true;
    return v;
}

static void model_update(struct model *m, int manager, const struct thing *new)
{
    bits taken, removed, any = 0;
    for (int i = 0; i < MANAGERS; i++)
        any |= m->owned[i];
    differ(&m->live, new, &taken, &removed);
    for (int i = 0; i < MANAGERS && (any || !m->exists); i++)
        m->owned[i] = i == manager ? (m->owned[i] & ~removed) | taken
                                   : m->owned[i] & ~taken & ~removed;
    m->live = *new;
    m->exists = true;
}

/* ---- from the model's things to JSON and back ---- */

static void write_thing(struct vd_buf *out, const struct thing *t, int of)
{
    bool list = of >= 0 && places[of].shape == LIST, first = true;
    vd_buf_add_char(out, list ? '[' : '{');
    for (int i = 0; i < PLACES; i++) {
        if (places[i].parent != of || !t->at[i])
            continue;
        vd_buf_add_text(out, first ? "" : ",");
        first = false;
        if (!list)
            vd_buf_addf(out, "\"%s\":", places[i].key + 2);
        if (places[i].shape != LEAF)
            write_thing(out, t, i);
        else if (places[i].key[0] == 'v')
            vd_buf_add_text(out, places[i].key + 2);
        else if (strcmp(places[i].key, "f:port") == 0)
            vd_buf_addf(out, "%d", i == 18 ? 1 : 2);
        else if (strcmp(places[i].key, "f:whole") == 0)
            vd_buf_addf(out, "{\"n\":%d}", t->at[i]);
        else if (strcmp(places[i].key, "f:list") == 0)
            vd_buf_addf(out, "[%d]", t->at[i]);
        else
            vd_buf_addf(out, "\"%d\"", t->at[i]);
    }
    vd_buf_add_char(out, list ? ']' : '}');
}

static struct vd_json *json_of_thing(struct vd_arena *a, const struct thing *t)
{
    struct vd_buf out = {0};
    struct vd_json *doc = NULL;
    write_thing(&out, t, -1);
    assert_int_equal(vd_json_parse_copy(a, vd_buf_slice(&out), NULL, &doc, NULL), VD_OK);
    vd_buf_release(&out);
    return doc;
}

/* The child at the place, or NULL. */
static const struct vd_json *child_at(const struct vd_json *parent, int i)
{
    const char *key = places[i].key;
    if (key[0] == 'f')
        return vd_json_get(parent, vd_slice_of(key + 2));
    VD_JSON_EACH (item, parent) {
        struct vd_slice text = vd_json_text(item);
        int64_t port = 0;
        if (key[0] == 'v' && text.n == 1 && text.p[0] == key[3])
            return item;
        if (key[0] == 'k' && vd_json_to_i64(vd_json_get(item, VD_SLICE("port")), &port) &&
            port == key[10] - '0')
            return item;
    }
    return NULL;
}

static int value_of(const struct vd_json *v, int i)
{
    int64_t number = 0;
    if (places[i].shape != LEAF || places[i].key[0] == 'v' || strcmp(places[i].key, "f:port") == 0)
        return 1;
    if (vd_json_is(v, VD_JSON_STRING))
        return vd_json_text(v).p[0] - '0';
    assert_true(vd_json_to_i64(vd_json_first(v), &number));
    return (int)number;
}

/* Counts the values, so that nothing beside the places goes unseen. */
static size_t count_values(const struct vd_json *v)
{
    size_t n = 1;
    VD_JSON_EACH (item, v)
        n += count_values(item);
    return n;
}

static struct thing thing_of(const struct vd_json *doc)
{
    struct thing t = {{0}};
    const struct vd_json *found[PLACES] = {0};
    size_t seen = 1;
    for (int i = 0; i < PLACES; i++) {
        const struct vd_json *parent = places[i].parent < 0 ? doc : found[places[i].parent];
        found[i] = parent ? child_at(parent, i) : NULL;
        if (!found[i])
            continue;
        t.at[i] = value_of(found[i], i);
        seen += places[i].shape == LEAF ? count_values(found[i]) : 1;
    }
    assert_int_equal(seen, count_values(doc));
    return t;
}

/* ---- the real one ---- */

struct real {
    struct vd_arena arena;
    const struct vd_schema_node *root;
    struct vd_json *live;
    struct vd_slice managed;
    struct verdict verdict;
};

static const char *const names[MANAGERS] = {
    "a0", "a1", "a2", "u0", "u1", "u2", "before-first-apply"};

static struct vd_managed_who who_of(int manager, unsigned step, char time[32])
{
    snprintf(time, 32, "2026-11-15T00:00:%02uZ", step);
    return (struct vd_managed_who){vd_slice_of(names[manager]), VD_SLICE("v1"), VD_SLICE(""),
                                   vd_slice_of(time)};
}

static void keep(struct real *r, const struct vd_managed *m)
{
    struct vd_buf out = {0};
    vd_managed_write(&out, m);
    r->managed = vd_arena_copy(&r->arena, vd_buf_slice(&out));
    vd_buf_release(&out);
}

/* Takes out nulls, as pruning does before an object is stored. */
static void drop_nulls(struct vd_json *v)
{
    struct vd_json *before = NULL;
    for (struct vd_json *item = vd_json_first(v), *next; item; item = next) {
        next = vd_json_next(item);
        drop_nulls(item);
        if (vd_json_is(item, VD_JSON_NULL))
            vd_json_remove_after(v, before);
        else
            before = item;
    }
}

/* The bits of a place's text in a message, ".spec.ports[port=1,protocol="TCP"].name". */
static bits bit_of_text(struct vd_slice text)
{
    for (int i = 0; i < PLACES; i++) {
        char path[200] = "", step[100], both[300];
        for (int at = i; at >= 0; at = places[at].parent) {
            const char *key = places[at].key;
            if (key[0] == 'f')
                snprintf(step, sizeof step, ".%s", key + 2);
            else if (key[0] == 'v')
                snprintf(step, sizeof step, "[=%s]", key + 2);
            else
                snprintf(step, sizeof step, "[port=%c,protocol=\"TCP\"]", key[10]);
            snprintf(both, sizeof both, "%s%s", step, path);
            snprintf(path, sizeof path, "%s", both);
        }
        if (vd_slice_is(text, path))
            return BIT(i);
    }
    fail_msg("no such place: %.*s", VD_FMT(text));
    return 0;
}

static int manager_of(struct vd_slice shown)
{
    for (int i = 0; i < MANAGERS; i++) {
        char want[64];
        snprintf(want, sizeof want, i < 3 ? "\"%s\"" : "\"%s\" using v1", names[i]);
        if (vd_slice_is(shown, want))
            return i;
    }
    fail_msg("no such manager: %.*s", VD_FMT(shown));
    return 0;
}

static void real_apply(struct real *r, int manager, const struct thing *config, bool force,
                       unsigned step)
{
    struct vd_managed m;
    char time[32];
    vd_managed_read(&m, &r->arena, r->managed);
    struct vd_apply apply = {.root = r->root,
                             .live = r->live,
                             .config = json_of_thing(&r->arena, config),
                             .who = who_of(manager, step, time),
                             .force = force,
                             .managed = &m};
    r->verdict = (struct verdict){0};
    r->verdict.conflict = vd_object_apply(&r->arena, &apply) == VD_ERR_CONFLICT;
    for (size_t i = 0; r->verdict.conflict && i < apply.conflicts_n; i++)
        r->verdict.lost[manager_of(apply.conflicts[i].manager)] |= bit_of_text(
            apply.conflicts[i].path);
    if (r->verdict.conflict)
        return;
    r->live = apply.object;
    drop_nulls(r->live);
    keep(r, &m);
}

static void real_update(struct real *r, int manager, const struct thing *new, unsigned step)
{
    struct vd_managed m;
    char time[32];
    struct vd_managed_who who = who_of(manager, step, time);
    struct vd_json *object = json_of_thing(&r->arena, new);
    struct vd_json *old = r->live ? r->live : vd_json_object(&r->arena);
    vd_managed_read(&m, &r->arena, r->managed);
    struct vd_field_changes c = vd_object_compare(&r->arena, r->root, old, object);
    if (m.n || !r->live)
        vd_managed_update(&m, &who, &c);
    r->live = object;
    keep(r, &m);
}

static bits bits_of_set(const struct vd_field_set *set, int parent)
{
    bits found = 0;
    struct vd_buf key = {0};
    for (size_t n = 0; set && n < set->n; n++) {
        int i = 0;
        vd_buf_reset(&key);
        vd_path_element_write(&key, &set->p[n].at);
        while (i < PLACES &&
               (places[i].parent != parent || !vd_slice_is(vd_buf_slice(&key), places[i].key)))
            i++;
        assert_true(i < PLACES);
        found |= (set->p[n].member ? BIT(i) : 0) | bits_of_set(set->p[n].below, i);
    }
    vd_buf_release(&key);
    return found;
}

static void read_owned(struct real *r, bits owned[MANAGERS])
{
    struct vd_managed m;
    memset(owned, 0, MANAGERS * sizeof *owned);
    vd_managed_read(&m, &r->arena, r->managed);
    for (size_t i = 0; i < m.n; i++) {
        int manager = 0;
        while (!vd_slice_is(m.p[i].manager, names[manager]))
            manager++;
        assert_int_equal(m.p[i].applied, manager < 3);
        owned[manager] = bits_of_set(vd_managed_fields_of(&m, &m.p[i]), -1);
        assert_true(owned[manager] != 0);
    }
}

/* ---- the test ---- */

/* A configuration: each place with some chance, and what is above it. An item of a list
 * has its key. */
static struct thing random_thing(struct seed_rng *rng, unsigned percent)
{
    struct thing t = {{0}};
    for (int i = 0; i < PLACES; i++) {
        if (!seed_percent(rng, percent))
            continue;
        bool constant = places[i].shape != LEAF || places[i].key[0] == 'v' ||
                        strcmp(places[i].key, "f:port") == 0;
        t.at[i] = constant ? 1 : 1 + (int)seed_below(rng, 2);
        for (int at = places[i].parent; at >= 0; at = places[at].parent)
            t.at[at] = 1;
    }
    t.at[18] |= t.at[17];
    t.at[22] |= t.at[21];
    return t;
}

static void compare_step(struct model *m, struct real *r, const struct verdict *want, uint64_t seed,
                         uint64_t run, unsigned step)
{
    bits owned[MANAGERS];
    struct thing is = thing_of(r->live ? r->live : vd_json_object(&r->arena));
    read_owned(r, owned);
    is.at[METADATA] = m->live.at[METADATA]; /* it has a name, and so is always there */
    bool same = memcmp(&is, &m->live, sizeof is) == 0 &&
                memcmp(owned, m->owned, sizeof owned) == 0 &&
                r->verdict.conflict == want->conflict &&
                (!want->conflict || memcmp(r->verdict.lost, want->lost, sizeof want->lost) == 0);
    if (same)
        return;
    struct vd_buf got = {0}, wanted = {0};
    vd_json_write(&got, r->live);
    write_thing(&wanted, &m->live, -1);
    for (int i = 0; i < MANAGERS; i++)
        if (owned[i] != m->owned[i])
            vd_buf_addf(&wanted, "\n%s owns %llx, should %llx", names[i],
                        (unsigned long long)owned[i], (unsigned long long)m->owned[i]);
    fail_msg("VEDETTE_SEED=%llu, run %llu, step %u: conflict %d, should %d\n got %s\nwant %s",
             (unsigned long long)seed, (unsigned long long)run, step, r->verdict.conflict,
             want->conflict, vd_buf_text(&got), vd_buf_text(&wanted));
}

static void run_sequence(struct vd_schema *schema, struct seed_rng *rng, uint64_t seed,
                         uint64_t run)
{
    struct model m = {0};
    struct real r = {.root = vd_schema_root(schema), .managed = VD_SLICE("")};
    for (unsigned step = 0; step < STEPS; step++) {
        struct verdict want = {0};
        struct thing thing = random_thing(rng, seed_percent(rng, 10) ? 0 : 20);
        r.verdict = want;
        if (seed_percent(rng, 70)) {
            int manager = (int)seed_below(rng, 3);
            bool force = seed_percent(rng, 40);
            want = model_apply(&m, manager, &thing, force);
            real_apply(&r, manager, &thing, force, step);
        } else {
            int manager = 3 + (int)seed_below(rng, 3);
            for (int i = 0; i < PLACES; i++) /* mostly what is there */
                if (m.live.at[i] && seed_percent(rng, 80) &&
                    (places[i].parent < 0 || thing.at[places[i].parent]))
                    thing.at[i] = m.live.at[i];
            thing.at[18] |= thing.at[17];
            thing.at[22] |= thing.at[21];
            model_update(&m, manager, &thing);
            real_update(&r, manager, &thing, step);
        }
        compare_step(&m, &r, &want, seed, run, step);
        if (seed_once_in(rng, 40)) { /* somebody wipes the record */
            r.managed = VD_SLICE("");
            memset(m.owned, 0, sizeof m.owned);
        }
    }
    vd_arena_release(&r.arena);
}

static void agrees_with_the_model(void **state)
{
    (void)state;
    uint64_t seed = seed_of_run(), runs = seed_runs("VEDETTE_APPLY_RUNS", 1000);
    struct seed_rng rng = {seed};
    struct vd_schema *schema = apply_schema();
    for (uint64_t run = 0; run < runs; run++)
        run_sequence(schema, &rng, seed, run);
    vd_schema_unref(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(agrees_with_the_model)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
