/* See managed_fields.h. */
#include "kinds/managed_fields.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "json/escape.h"
#include "json/span.h"
#include "json/write.h"

/* Changes of so many fields are compared with an entry's set; fewer are looked up in its
 * bytes. */
enum { LOOKUPS_MAX = 16 };

/* ---- reading ---- */

static struct vd_managed_entry *push(struct vd_managed *m)
{
    if (m->n == m->cap) {
        size_t cap = m->cap ? m->cap * 2 : 4;
        struct vd_managed_entry *p = vd_arena_alloc(m->arena, cap * sizeof *p);
        if (m->n)
            memcpy(p, m->p, m->n * sizeof *p);
        m->p = p;
        m->cap = cap;
    }
    m->p[m->n] = (struct vd_managed_entry){0};
    return &m->p[m->n++];
}

/* The entry at the front of `json`; gives its length, or 0 if it has no end. */
static size_t read_entry(struct vd_managed *m, struct vd_slice json)
{
    struct vd_managed_entry *e = push(m);
    struct vd_slice operation = VD_SLICE(""), raw, value;
    struct vd_span_cursor c;
    size_t n = 1;
    vd_span_open(&c, json);
    while (vd_span_next(&c, &raw, &value)) {
        struct vd_slice *text = vd_slice_is(raw, "manager")       ? &e->manager
                                : vd_slice_is(raw, "apiVersion")  ? &e->api_version
                                : vd_slice_is(raw, "time")        ? &e->time
                                : vd_slice_is(raw, "subresource") ? &e->subresource
                                : vd_slice_is(raw, "operation")   ? &operation
                                                                  : NULL;
        n = (size_t)(value.p + value.n - json.p);
        if (vd_slice_is(raw, "fieldsV1"))
            e->fields = value;
        else if (text && !vd_span_text(m->arena, value, text))
            *text = VD_SLICE("");
    }
    e->applied = vd_slice_is(operation, "Apply");
    if (n >= json.n || json.p[n] != '}')
        return 0;
    e->whole = vd_slice(json.p, n + 1);
    return n + 1;
}

/* The entries are read through once: each ends behind its last value, for they are written
 * without blanks. */
void vd_managed_read(struct vd_managed *m, struct vd_arena *a, struct vd_slice json)
{
    struct vd_slice rest = vd_slice_from(json, 1);
    *m = (struct vd_managed){.arena = a};
    while (rest.n && rest.p[0] == '{') {
        size_t n = read_entry(m, rest);
        if (n == 0 || n >= rest.n || rest.p[n] != ',')
            break;
        rest = vd_slice_from(rest, n + 1);
    }
}

bool vd_managed_is_same(struct vd_arena *a, struct vd_slice one, struct vd_slice other)
{
    struct vd_managed l, r;
    if (vd_slice_eq(one, other))
        return true;
    vd_managed_read(&l, a, one);
    vd_managed_read(&r, a, other);
    if (l.n != r.n)
        return false;
    for (size_t i = 0; i < l.n; i++) {
        const struct vd_managed_entry *x = &l.p[i], *y = NULL;
        for (size_t j = 0; j < r.n && !y; j++)
            if (r.p[j].applied == x->applied && vd_slice_eq(r.p[j].manager, x->manager) &&
                vd_slice_eq(r.p[j].subresource, x->subresource) &&
                vd_slice_eq(r.p[j].api_version, x->api_version))
                y = &r.p[j];
        if (!y || !vd_slice_eq(x->fields, y->fields))
            return false;
    }
    return true;
}

bool vd_managed_is_reset(const struct vd_json *list)
{
    return vd_json_is(list, VD_JSON_ARRAY) &&
           (vd_json_count(list) == 0 ||
            (vd_json_count(list) == 1 && vd_json_is(vd_json_first(list), VD_JSON_OBJECT) &&
             vd_json_count(vd_json_first(list)) == 0));
}

/* The fields as a set of our own spelling: names in it point into the arena. */
static bool take_fields(struct vd_managed *m, struct vd_managed_entry *e,
                        const struct vd_json *fields)
{
    struct vd_buf json = {0};
    e->is_read = true;
    if (!vd_json_is(fields, VD_JSON_OBJECT))
        return !fields || vd_json_is(fields, VD_JSON_NULL);
    vd_json_write(&json, fields);
    bool ok = vd_field_set_read(m->arena, vd_arena_copy(m->arena, vd_buf_slice(&json)), &e->set);
    vd_buf_release(&json);
    return ok;
}

/* Without the fraction of a second that some clients add to what they were given. */
static struct vd_slice whole_seconds(struct vd_arena *a, struct vd_slice time)
{
    static const size_t seconds_n = sizeof "2006-01-02T15:04:05" - 1;
    if (time.n <= seconds_n || time.p[seconds_n] != '.' || time.p[time.n - 1] != 'Z')
        return time;
    char *copy = vd_arena_alloc(a, seconds_n + 1);
    memcpy(copy, time.p, seconds_n);
    copy[seconds_n] = 'Z';
    return vd_slice(copy, seconds_n + 1);
}

static bool take_entry(struct vd_managed *m, const struct vd_json *item)
{
    struct vd_slice operation = vd_json_text(vd_json_get(item, VD_SLICE("operation")));
    struct vd_slice type = vd_json_text(vd_json_get(item, VD_SLICE("fieldsType")));
    struct vd_managed_who who = {
        .manager = vd_json_text(vd_json_get(item, VD_SLICE("manager"))),
        .api_version = vd_json_text(vd_json_get(item, VD_SLICE("apiVersion"))),
        .subresource = vd_json_text(vd_json_get(item, VD_SLICE("subresource"))),
        .time = whole_seconds(m->arena, vd_json_text(vd_json_get(item, VD_SLICE("time")))),
    };
    bool applied = vd_slice_is(operation, "Apply");
    if ((!applied && !vd_slice_is(operation, "Update")) || !who.api_version.n ||
        !vd_slice_is(type, "FieldsV1"))
        return false;
    /* Two entries of one manager: the last one counts, as in Kubernetes' map. */
    struct vd_managed_entry *e = vd_managed_find(m, &who, applied);
    if (!e)
        e = vd_managed_add(m, &who, applied);
    vd_managed_stamp(m, e, who.time);
    e->api_version = who.api_version;
    return take_fields(m, e, vd_json_get(item, VD_SLICE("fieldsV1")));
}

bool vd_managed_take(struct vd_managed *m, struct vd_arena *a, const struct vd_json *list)
{
    *m = (struct vd_managed){.arena = a};
    if (!vd_json_is(list, VD_JSON_ARRAY) || vd_json_count(list) > VD_MANAGED_ENTRIES_MAX)
        return false;
    VD_JSON_EACH (item, list)
        if (!take_entry(m, item))
            return false;
    m->changed = true;
    vd_managed_tidy(m);
    return m->n > 0;
}

/* ---- writing ---- */

static void write_text(struct vd_buf *out, const char *key, struct vd_slice text)
{
    if (!text.n)
        return;
    vd_buf_add_text(out, key);
    vd_escape_write(out, text);
}

static void write_entry(struct vd_buf *out, const struct vd_managed_entry *e)
{
    if (e->whole.n) {
        vd_buf_add_slice(out, e->whole);
        return;
    }
    vd_buf_add_text(out, "{\"manager\":");
    vd_escape_write(out, e->manager);
    vd_buf_add_text(out, e->applied ? ",\"operation\":\"Apply\"" : ",\"operation\":\"Update\"");
    write_text(out, ",\"apiVersion\":", e->api_version);
    write_text(out, ",\"time\":", e->time);
    vd_buf_add_text(out, ",\"fieldsType\":\"FieldsV1\",\"fieldsV1\":");
    if (e->fields.n)
        vd_buf_add_slice(out, e->fields);
    else
        vd_field_set_write(out, e->set);
    write_text(out, ",\"subresource\":", e->subresource);
    vd_buf_add_char(out, '}');
}

void vd_managed_write(struct vd_buf *out, const struct vd_managed *m)
{
    for (size_t i = 0; i < m->n; i++) {
        vd_buf_add_char(out, i ? ',' : '[');
        write_entry(out, &m->p[i]);
    }
    if (m->n)
        vd_buf_add_char(out, ']');
}

/* ---- entries ---- */

struct vd_managed_entry *vd_managed_find(struct vd_managed *m, const struct vd_managed_who *who,
                                         bool applied)
{
    for (size_t i = 0; i < m->n; i++) {
        struct vd_managed_entry *e = &m->p[i];
        if (e->applied == applied && vd_slice_eq(e->manager, who->manager) &&
            vd_slice_eq(e->subresource, who->subresource) &&
            (applied || vd_slice_eq(e->api_version, who->api_version)))
            return e;
    }
    return NULL;
}

struct vd_managed_entry *vd_managed_add(struct vd_managed *m, const struct vd_managed_who *who,
                                        bool applied)
{
    struct vd_managed_entry *e = push(m);
    e->manager = who->manager;
    e->api_version = who->api_version;
    e->subresource = who->subresource;
    e->time = who->time;
    e->applied = applied;
    e->is_read = true;
    m->changed = true;
    return e;
}

const struct vd_field_set *vd_managed_fields_of(struct vd_managed *m, struct vd_managed_entry *e)
{
    if (!e->is_read && !vd_field_set_read(m->arena, e->fields, &e->set))
        e->set = NULL; /* not ours after all */
    e->is_read = true;
    return e->set;
}

void vd_managed_set(struct vd_managed *m, struct vd_managed_entry *e,
                    const struct vd_field_set *set)
{
    if (e->is_read && e->set == set)
        return;
    e->set = set;
    e->is_read = true;
    e->fields = e->whole = VD_SLICE("");
    m->changed = true;
}

void vd_managed_stamp(struct vd_managed *m, struct vd_managed_entry *e, struct vd_slice time)
{
    if (vd_slice_eq(e->time, time))
        return;
    e->time = time;
    e->whole = VD_SLICE("");
    m->changed = true;
}

static int by_operation(const void *a, const void *b)
{
    const struct vd_managed_entry *x = a, *y = b;
    if (x->applied != y->applied)
        return x->applied ? -1 : 1;
    int c = vd_slice_cmp(x->time, y->time);
    if (!c)
        c = vd_slice_cmp(x->manager, y->manager);
    if (!c)
        c = vd_slice_cmp(x->api_version, y->api_version);
    return c ? c : vd_slice_cmp(x->subresource, y->subresource);
}

void vd_managed_tidy(struct vd_managed *m)
{
    size_t kept = 0;
    bool sorted = true;
    for (size_t i = 0; i < m->n; i++) {
        if (m->p[i].is_read && !m->p[i].set)
            continue;
        m->p[kept++] = m->p[i];
        if (kept > 1 && by_operation(&m->p[kept - 2], &m->p[kept - 1]) > 0)
            sorted = false;
    }
    m->changed |= kept != m->n || !sorted;
    m->n = kept;
    if (!sorted)
        qsort(m->p, m->n, sizeof *m->p, by_operation);
}

/* ---- updating ---- */

static enum vd_field_overlap overlap(struct vd_managed *m, struct vd_managed_entry *e,
                                     const struct vd_field_set *set, size_t count)
{
    if (!set)
        return VD_OVERLAP_NONE;
    if (!e->is_read && count <= LOOKUPS_MAX)
        return vd_field_set_overlap(e->fields, set);
    const struct vd_field_set *both = vd_field_set_intersection(m->arena, set,
                                                                vd_managed_fields_of(m, e));
    return !both ? VD_OVERLAP_NONE : both == set ? VD_OVERLAP_ALL : VD_OVERLAP_SOME;
}

/* The entry loses what the set has of its fields. */
static void take_from(struct vd_managed *m, struct vd_managed_entry *e,
                      const struct vd_field_set *set, size_t count)
{
    if (overlap(m, e, set, count) == VD_OVERLAP_NONE)
        return;
    vd_managed_set(m, e, vd_field_set_difference(m->arena, vd_managed_fields_of(m, e), set));
}

static void give_to(struct vd_managed *m, struct vd_managed_entry *e,
                    const struct vd_field_set *set, size_t count)
{
    if (overlap(m, e, set, count) == VD_OVERLAP_ALL)
        return;
    vd_managed_set(m, e, vd_field_set_union(m->arena, vd_managed_fields_of(m, e), set));
}

/* ---- too many managers ---- */

static struct vd_managed_entry *oldest_of(struct vd_managed *m, struct vd_slice api_version,
                                          const struct vd_managed_entry *but)
{
    for (size_t i = 0; i < m->n; i++)
        if (!m->p[i].applied && &m->p[i] != but && vd_slice_eq(m->p[i].api_version, api_version) &&
            vd_managed_fields_of(m, &m->p[i]))
            return &m->p[i];
    return NULL;
}

static size_t update_count(const struct vd_managed *m)
{
    size_t count = 0;
    for (size_t i = 0; i < m->n; i++)
        count += !m->p[i].applied;
    return count;
}

/*
 * The oldest Updates of a version become one of the manager "ancient-changes", with the
 * time of the newest of them. The entries are in order, oldest first.
 */
static void cap(struct vd_managed *m)
{
    for (size_t i = 0; i < m->n && update_count(m) > VD_UPDATE_MANAGERS_MAX;) {
        struct vd_managed_entry *e = &m->p[i];
        struct vd_managed_who bucket_who = {.manager = VD_SLICE("ancient-changes"),
                                            .api_version = e->api_version};
        struct vd_managed_entry *first = e->applied ? e : oldest_of(m, e->api_version, NULL);
        if (first == e || !first) {
            i++; /* an applier, or the first of its version: there is nothing to join yet */
            continue;
        }
        struct vd_managed_entry *bucket = vd_managed_find(m, &bucket_who, false);
        if (!bucket || bucket == e) {
            first->manager = bucket_who.manager;
            first->subresource = VD_SLICE("");
            bucket = first;
        }
        const struct vd_field_set *set = vd_managed_fields_of(m, e);
        vd_managed_set(m, bucket,
                       vd_field_set_union(m->arena, set, vd_managed_fields_of(m, bucket)));
        bucket->whole = VD_SLICE("");
        vd_managed_stamp(m, bucket, e->time);
        memmove(e, e + 1, (m->n - i - 1) * sizeof *e);
        m->n--;
    }
}

void vd_managed_update(struct vd_managed *m, const struct vd_managed_who *who,
                       const struct vd_field_changes *changes)
{
    struct vd_arena *a = m->arena;
    if (vd_field_changes_none(changes))
        return;
    const struct vd_field_set *taken = vd_field_set_union(a, changes->modified, changes->added);
    const struct vd_field_set *touched = vd_field_set_union(a, taken, changes->removed);
    size_t taken_n = vd_field_set_count(taken), touched_n = vd_field_set_count(touched);
    size_t removed_n = vd_field_set_count(changes->removed);
    struct vd_managed_entry *own = vd_managed_find(m, who, false);
    for (size_t i = 0; i < m->n; i++)
        if (&m->p[i] != own)
            take_from(m, &m->p[i], touched, touched_n);
    if (own)
        take_from(m, own, changes->removed, removed_n);
    if (taken) {
        if (!own)
            own = vd_managed_add(m, who, false);
        give_to(m, own, taken, taken_n);
        vd_managed_stamp(m, own, who->time);
    }
    vd_managed_tidy(m);
    if (update_count(m) > VD_UPDATE_MANAGERS_MAX) {
        cap(m);
        vd_managed_tidy(m);
    }
}
