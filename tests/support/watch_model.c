/* See watch_model.h. */
#include "watch_model.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const resources[MODEL_KINDS] = {"others", "things"};
static const char *const namespaces[MODEL_SPACES] = {"", "a", "ab"};
static const char *const names[MODEL_NAMES] = {"x0", "x1", "x10", "x2", "y"};

static unsigned kind_of(unsigned object)
{
    return object / (MODEL_SPACES * MODEL_NAMES);
}

static unsigned namespace_of(unsigned object)
{
    return object / MODEL_NAMES % MODEL_SPACES;
}

static unsigned name_of(unsigned object)
{
    return object % MODEL_NAMES;
}

struct vd_key watch_model_key(unsigned object)
{
    return test_key(resources[kind_of(object)], namespaces[namespace_of(object)],
                    names[name_of(object)]);
}

struct vd_template watch_model_body(struct vd_buf *room, unsigned object, unsigned app,
                                    unsigned tier, unsigned number)
{
    static const char *const apps[MODEL_APPS] = {"", "\"app\":\"web\"", "\"app\":\"db\""};
    static const char *const tiers[MODEL_TIERS] = {"", "\"tier\":\"1\"", "\"ti\\u0065r\":\"2\""};
    char labels[64], value[48];
    snprintf(labels, sizeof labels, "%s%s%s", apps[app], app && tier ? "," : "", tiers[tier]);
    snprintf(value, sizeof value, "%u%u-%u", app, tier, number);
    return test_body(room, names[name_of(object)], labels, value);
}

/* ---- views ---- */

struct filter_texts view_texts(const struct view *view)
{
    static const char *const labels[MODEL_LABEL_CASES] = {
        NULL,   "app=web", "app!=web", "app in (web,db)", "tier=1,app=web",
        "tier", "!tier",   "tier=2"};
    static const char *const fields[MODEL_FIELD_CASES] = {
        NULL, "metadata.name!=x1", "metadata.namespace=a", "metadata.name=y"};
    return (struct filter_texts){
        .resource = view->resource < 0 ? NULL : resources[view->resource],
        .namespace = view->namespace < 0 ? NULL : namespaces[view->namespace],
        .name = view->name < 0 ? NULL : names[view->name],
        .labels = labels[view->labels],
        .fields = fields[view->fields],
    };
}

static bool labels_match(unsigned label_case, unsigned app, unsigned tier)
{
    switch (label_case) {
    case 1:
        return app == 1;
    case 2:
        return app != 1;
    case 3:
        return app != 0;
    case 4:
        return app == 1 && tier == 1;
    case 5:
        return tier != 0;
    case 6:
        return tier == 0;
    case 7:
        return tier == 2;
    default:
        return true;
    }
}

static bool fields_match(unsigned field_case, unsigned object)
{
    switch (field_case) {
    case 1:
        return name_of(object) != 1;
    case 2:
        return namespace_of(object) == 1;
    case 3:
        return name_of(object) == 4;
    default:
        return true;
    }
}

static bool view_matches(const struct view *v, const struct model_event *e)
{
    unsigned object = e->object;
    bool any_namespace = v->namespace <= 0; /* namespace 0 is "", which selects all */
    return e->live && (v->resource < 0 || (unsigned)v->resource == kind_of(object)) &&
           (any_namespace || (unsigned)v->namespace == namespace_of(object)) &&
           (v->name < 0 || (unsigned)v->name == name_of(object)) &&
           labels_match(v->labels, e->app, e->tier) && fields_match(v->fields, object);
}

/* ---- the log ---- */

static uint64_t hash_add(uint64_t hash, struct vd_slice bytes)
{
    for (size_t i = 0; i < bytes.n; i++)
        hash = (hash ^ (unsigned char)bytes.p[i]) * 1099511628211u;
    return hash * 31;
}

uint64_t mark_hash(const struct vd_entry *entry, struct vd_slice body)
{
    uint64_t hash = hash_add(14695981039346656037u, vd_entry_resource(entry));
    return hash_add(hash_add(hash, vd_entry_path(entry)), body);
}

void watch_model_init(struct watch_model *m)
{
    *m = (struct watch_model){0};
    for (size_t i = 0; i < MODEL_OBJECTS; i++)
        m->newest[i] = -1;
}

void watch_model_release(struct watch_model *m)
{
    for (size_t i = 0; i < MODEL_OBJECTS; i++)
        vd_body_unref(m->bodies[i]);
    VD_VEC_RELEASE(&m->events);
}

static unsigned object_of(const struct vd_entry *entry)
{
    for (unsigned i = 0; i < MODEL_OBJECTS; i++) {
        struct vd_key key = watch_model_key(i);
        if (vd_slice_eq(key.resource, vd_entry_resource(entry)) &&
            vd_slice_eq(key.namespace, vd_entry_namespace(entry)) &&
            vd_slice_eq(key.name, vd_entry_name(entry)))
            return i;
    }
    abort();
}

/* The hash of the old bytes with another revision, which is put in here without src/store. */
static uint64_t hash_restamped(const struct vd_entry *entry, const struct vd_body *body,
                               uint64_t revision)
{
    static const char mark[] = "\"resourceVersion\":\"";
    const char *end = body->bytes + body->len;
    const char *at = memmem(body->bytes, body->len, mark, sizeof mark - 1);
    assert(at);
    at += sizeof mark - 1;
    const char *quote = memchr(at, '"', (size_t)(end - at));
    struct vd_buf bytes = {0};
    vd_buf_add(&bytes, body->bytes, (size_t)(at - body->bytes));
    vd_buf_add_u64(&bytes, revision);
    vd_buf_add(&bytes, quote, (size_t)(end - quote));
    uint64_t hash = mark_hash(entry, vd_buf_slice(&bytes));
    vd_buf_release(&bytes);
    return hash;
}

void watch_model_add(struct watch_model *m, const struct vd_event *event)
{
    unsigned object = object_of(event->entry);
    struct model_event e = {
        .revision = event->revision,
        .more = event->more,
        .live = event->type != VD_EVENT_DELETED,
        .object = object,
        .before = m->newest[object],
    };
    if (e.live) {
        char value[64];
        body_value(event->body, value);
        e.app = (unsigned)(value[0] - '0');
        e.tier = (unsigned)(value[1] - '0');
        e.hash = mark_hash(event->entry, vd_body_slice(event->body));
    }
    if (m->bodies[object])
        e.hash_before = hash_restamped(event->entry, m->bodies[object], e.revision);
    vd_body_unref(m->bodies[object]);
    m->bodies[object] = e.live ? vd_body_ref(event->body) : NULL;
    m->newest[object] = e.live ? (long)m->events.n : -1;
    *VD_VEC_PUSH(&m->events) = e;
}

/* ---- checking ---- */

struct check {
    const struct watch_model *model;
    const struct view *view;
    const char *who;
    uint64_t at;        /* the revision that the stream has passed */
    uint64_t given;     /* the last event's revision */
    bool lives;         /* the stream has begun and not ended */
    size_t next;        /* the first event above `at` */
    VD_VEC(long) items; /* objects of the snapshot that are still to come, in reverse order */
    bool in_snapshot;
    bool ok;
};

static void broken(struct check *c, const char *guarantee, const struct mark *mark,
                   const char *what)
{
    if (c->ok)
        fprintf(stderr, "%s: %s is broken: %s; mark %d at revision %llu, passed %llu\n", c->who,
                guarantee, what, mark->type, (unsigned long long)mark->revision,
                (unsigned long long)c->at);
    c->ok = false;
}

/* What a watcher with this view must be told of an event; false: nothing. */
static bool expected(const struct check *c, size_t i, struct mark *out)
{
    const struct model_event *e = &c->model->events.p[i];
    bool is = view_matches(c->view, e);
    bool was = e->before >= 0 && view_matches(c->view, &c->model->events.p[e->before]);
    *out = (struct mark){.type = MARK_EVENT,
                         .word = (uint8_t)(!was ? VD_ADDED
                                           : is ? VD_MODIFIED
                                                : VD_DELETED),
                         .revision = e->revision,
                         .hash = is ? e->hash : e->hash_before};
    return is || was;
}

/* The first thing that must still be told, up to `upto`. */
static bool next_expected(struct check *c, uint64_t upto, struct mark *out)
{
    const struct watch_model *m = c->model;
    for (; c->next < m->events.n && m->events.p[c->next].revision <= upto; c->next++)
        if (m->events.p[c->next].revision > c->at && expected(c, c->next, out))
            return true;
    return false;
}

static size_t first_after(const struct watch_model *m, uint64_t revision)
{
    size_t low = 0, high = m->events.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (m->events.p[middle].revision <= revision)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_inside_batch(const struct watch_model *m, uint64_t revision)
{
    size_t i = first_after(m, revision);
    return i > 0 && m->events.p[i - 1].revision == revision && m->events.p[i - 1].more;
}

static void check_start(struct check *c, const struct mark *mark)
{
    if (mark->revision < c->given && mark->type == MARK_START)
        broken(c, "Resumable", mark, "the test itself went back");
    c->lives = true;
    c->at = mark->revision;
    c->next = first_after(c->model, c->at);
    c->items.n = 0;
    c->in_snapshot = mark->type == MARK_SNAPSHOT;
    if (!c->in_snapshot)
        return;
    if (is_inside_batch(c->model, mark->revision))
        broken(c, "Atomic", mark, "the snapshot shows half of a batch");
    long newest[MODEL_OBJECTS];
    for (size_t i = 0; i < MODEL_OBJECTS; i++)
        newest[i] = -1;
    for (size_t i = 0; i < c->next; i++)
        newest[c->model->events.p[i].object] = c->model->events.p[i].live ? (long)i : -1;
    for (size_t i = MODEL_OBJECTS; i-- > 0;)
        if (newest[i] >= 0 && view_matches(c->view, &c->model->events.p[newest[i]]))
            *VD_VEC_PUSH(&c->items) = newest[i];
}

static void check_item(struct check *c, const struct mark *mark)
{
    if (!c->in_snapshot || !c->items.n) {
        broken(c, "Filtered", mark, "an object that is not in the snapshot");
        return;
    }
    const struct model_event *e = &c->model->events.p[c->items.p[--c->items.n]];
    if (e->revision != mark->revision || e->hash != mark->hash || mark->word != VD_ADDED)
        broken(c, "Ordered", mark, "another object of the snapshot is next");
}

static void check_event(struct check *c, const struct mark *mark)
{
    struct mark want;
    if (mark->revision == c->given)
        broken(c, "Unique", mark, "an event came twice");
    else if (mark->revision <= c->at)
        broken(c, "Ordered", mark, "an event is not behind what was passed");
    else if (!next_expected(c, mark->revision, &want))
        broken(c, "Filtered", mark, "an event that does not concern the view");
    else if (want.revision < mark->revision)
        broken(c, "Reliable", mark, "an event before it was left out");
    else if (want.word != mark->word || want.hash != mark->hash)
        broken(c, "Filtered", mark, "its type or bytes are others");
    c->at = c->given = mark->revision;
}

/* Checks that everything up to the mark was told, and that a bookmark is not inside a batch. */
static void check_passed(struct check *c, const struct mark *mark, bool bookmark)
{
    struct mark want;
    if (c->in_snapshot)
        broken(c, "Bookmarkable", mark, "a bookmark inside a snapshot");
    if (mark->revision < c->at)
        broken(c, "Bookmarkable", mark, "it goes back");
    if (next_expected(c, mark->revision, &want))
        broken(c, "Bookmarkable", mark, "not everything before it was given");
    if (bookmark && is_inside_batch(c->model, mark->revision))
        broken(c, "Atomic", mark, "a bookmark inside a batch");
    c->at = mark->revision;
}

static void check_mark(struct check *c, const struct mark *mark)
{
    bool begins = mark->type == MARK_START || mark->type == MARK_SNAPSHOT;
    if (!begins && !c->lives && mark->type != MARK_EXPIRED)
        broken(c, "Resumable", mark, "something follows the end");
    switch (mark->type) {
    case MARK_START:
    case MARK_SNAPSHOT:
        check_start(c, mark);
        break;
    case MARK_ITEM:
        check_item(c, mark);
        break;
    case MARK_SNAPSHOT_END:
        if (!c->in_snapshot || c->items.n)
            broken(c, "Reliable", mark, "objects of the snapshot are missing, or it ended before");
        c->in_snapshot = false;
        break;
    case MARK_EVENT:
        check_event(c, mark);
        break;
    case MARK_UPTO:
        check_passed(c, mark, mark->word);
        break;
    case MARK_BOOKMARK:
        check_passed(c, mark, true);
        break;
    case MARK_EXPIRED:
        if (mark->hash < mark->revision)
            broken(c, "Resumable", mark, "expired, though the window had not passed it");
        c->lives = false;
        break;
    default:
        broken(c, "Reliable", mark, vd_code_name(mark->word));
    }
}

bool watch_model_check(const struct watch_model *model, const struct view *view,
                       const struct trace *trace, uint64_t last, const char *who)
{
    struct check c = {.model = model, .view = view, .who = who, .ok = true};
    struct mark end = {.type = MARK_UPTO, .word = true, .revision = last};
    for (size_t i = 0; i < trace->marks.n; i++) {
        const struct mark *mark = &trace->marks.p[i];
        if (i && mark->type == MARK_EXPIRED && trace->marks.p[i - 1].type == MARK_EXPIRED)
            broken(&c, "Resumable", mark, "expired twice");
        check_mark(&c, mark);
    }
    check_passed(&c, &end, true);
    VD_VEC_RELEASE(&c.items);
    return c.ok;
}
