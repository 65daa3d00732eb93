/*
 * See informer.h.
 *
 * A turn does one piece of work, which depends on the state:
 *
 *   list due    a list begins
 *   listing     the objects of the next resource are told, as of the list's revision
 *   sweeping    objects that were known before the list and were not in it are told as missed
 *               deletions
 *   following   the next stretch of the log is told
 *
 * An informer that follows only some resources is woken only by commits that change objects of
 * those. If it had read the log to its end before, the log between that end and the first such
 * commit need not be read: `heard_after` is the revision before that commit.
 */
#include "watch/informer.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/container_of.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/metrics.h"

enum {
    PIECE_EVENTS = 256,  /* events that one turn tells */
    REPORTED_MAX = 1024, /* damaged objects that the log names; more are counted only */
};

static struct vd_metric_family damaged_total = VD_COUNTER_FAMILY(
    "vedette_informer_damaged_objects_total",
    "Times that an informer met an object that cannot be read, and skipped it.", "informer");
static struct vd_metric_family lists_total = VD_COUNTER_FAMILY(
    "vedette_informer_lists_total", "Lists that an informer has completed.", "informer");

/* An object that handlers have been told of. */
struct vd_known_object {
    uint64_t list;     /* the number of the last list that it was in, or of the last list before its
                          last change */
    struct vd_key key; /* points into `bytes` */
    size_t len;
    char bytes[]; /* "resource namespace/name" */
};

/* Loops over the handlers that have this function. */
#define EACH_HANDLER(informer, h, function)                                                        \
    for (struct vd_informer_handler *h = (informer)->handlers; h; h = h->next)                     \
        if (h->ops->function)

static bool has_resource(const struct vd_informer_resources *resources, struct vd_slice resource)
{
    bool found = resources->n == 0;
    for (size_t i = 0; !found && i < resources->n; i++)
        found = vd_slice_eq(resources->names[i], resource);
    return found;
}

/* ---- what the writer tells ---- */

static bool concerns(const struct vd_informer *i, const struct vd_commit *commit)
{
    bool found = i->options.followed.n == 0;
    for (size_t at = 0; !found && at < commit->n; at++)
        found = has_resource(&i->options.followed,
                             vd_entry_resource(commit->changes[at].now->entry));
    return found;
}

/* Called by the writer for each commit. */
static void heard(struct vd_subscriber *subscriber, struct vd_commit *commit)
{
    struct vd_informer *i = VD_CONTAINER_OF(subscriber, struct vd_informer, subscriber);
    uint64_t none = 0;
    EACH_HANDLER (i, h, committed)
        h->ops->committed(h, commit);
    if (!concerns(i, commit))
        return;
    /* `heard` is set before `heard_after`: a turn that finds where the commit begins must also find
     * where it ends, or it would take the first piece of the commit for all of it. */
    if (commit->revision > atomic_load(&i->heard)) /* or it was visible before it was told */
        atomic_store(&i->heard, commit->revision);
    if (i->options.followed.n)
        atomic_compare_exchange_strong(&i->heard_after, &none, commit->after);
    i->options.wake(i->options.arg);
}

/* ---- damage ---- */

void vd_informer_report(struct vd_informer *i, const struct vd_error *error)
{
    const char *text = i->options.damage_text;
    struct vd_slice what = vd_slice_of(error->text);
    uint64_t hash = vd_hash_bytes(what.p, what.n);
    vd_counter_add(VD_METRIC(&damaged_total, i->options.name), 1);
    for (size_t at = 0; at < i->reported.n; at++)
        if (i->reported.p[at] == hash)
            return;
    if (i->reported.n == REPORTED_MAX)
        return;
    *VD_VEC_PUSH(&i->reported) = hash;
    vd_log_error(text ? text : "an object cannot be read, and is skipped", VD_F_ERROR(error),
                 VD_F_STR("informer", i->options.name));
}

/* ---- what is known ---- */

static struct vd_slice known_key(const void *item)
{
    const struct vd_known_object *k = item;
    return vd_slice(k->bytes, k->len);
}

static struct vd_known_object *known_new(struct vd_slice resource, struct vd_slice path)
{
    struct vd_known_object *k = vd_calloc(1, sizeof *k + resource.n + 1 + path.n);
    k->len = resource.n + 1 + path.n;
    memcpy(k->bytes, resource.p, resource.n);
    k->bytes[resource.n] = ' ';
    memcpy(k->bytes + resource.n + 1, path.p, path.n);
    struct vd_slice name = vd_slice(k->bytes + resource.n + 1, path.n), namespace;
    vd_slice_cut(&name, '/', &namespace);
    k->key = (struct vd_key){vd_slice(k->bytes, resource.n), namespace, name};
    return k;
}

/* Whether an object exists. For a damaged one nothing changes: it is known if it was known. */
enum presence { THERE, GONE, UNREADABLE };

static void note_known(struct vd_informer *i, struct vd_slice resource, struct vd_slice path,
                       enum presence presence)
{
    if (!i->options.keeps_keys)
        return;
    struct vd_known_object *k = known_new(resource, path),
                           *before = vd_hash_map_get(&i->known, known_key(k));
    if (before && presence != GONE) {
        before->list = i->lists;
    } else if (before) {
        free(vd_hash_map_remove(&i->known, known_key(k)));
    } else if (presence == THERE) {
        k->list = i->lists;
        vd_hash_map_put(&i->known, k);
        return;
    }
    free(k);
}

static void forget_known(struct vd_informer *i)
{
    size_t at = 0;
    for (struct vd_known_object *k; (k = vd_hash_map_next(&i->known, &at));)
        free(k);
    vd_hash_map_release(&i->known);
}

/* ---- telling ---- */

static void tell_change(struct vd_informer *i, const struct vd_change *change)
{
    const struct vd_entry *entry = change->now->entry;
    note_known(i, vd_entry_resource(entry), vd_entry_path(entry),
               vd_event_is_live(change->now) ? THERE : GONE);
    EACH_HANDLER (i, h, changed)
        h->ops->changed(h, change);
}

/* The snapshot has just passed a damaged object. */
static void tell_damaged(struct vd_informer *i, const struct vd_error *error)
{
    struct vd_slice resource = vd_buf_slice(&i->snapshot.resource);
    struct vd_slice name = vd_buf_slice(&i->snapshot.after), namespace;
    note_known(i, resource, name, UNREADABLE);
    vd_slice_cut(&name, '/', &namespace);
    vd_informer_report(i, error);
    EACH_HANDLER (i, h, damaged)
        h->ops->damaged(h, &(struct vd_key){resource, namespace, name});
}

/* ---- listing ---- */

static void close_snapshot(struct vd_informer *i)
{
    if (i->snapshot_open)
        vd_snapshot_release(&i->snapshot);
    i->snapshot_open = false;
}

/* The revision is chosen before the store is asked for its resources: a resource that is new
 * between the two has no objects as of that revision. */
static int begin_list(struct vd_informer *i, struct vd_error *error)
{
    const struct vd_informer_resources *listed = &i->options.listed;
    struct vd_snapshot newest;
    atomic_store(&i->heard_after,
                 0); /* a commit that comes too late for the list will set it again */
    int code = vd_snapshot_open(&newest, i->options.store, VD_SLICE(""), VD_SLICE(""), 0,
                                VD_SLICE(""), error);
    if (code)
        return code;
    i->revision = newest.revision;
    vd_snapshot_release(&newest);
    i->resources.n = i->kind_at = 0;
    for (size_t at = 0; at < listed->n; at++)
        *VD_VEC_PUSH(&i->resources) = listed->names[at];
    if (!listed->n)
        vd_store_resources(i->options.store, &i->resources);
    i->lists++;
    i->state = VD_INFORMER_LISTING;
    EACH_HANDLER (i, h, listing)
        h->ops->listing(h);
    return VD_OK;
}

/* Opens a snapshot of the next resource, as of the list's revision. */
static int open_snapshot(struct vd_informer *i, struct vd_error *error)
{
    int code = vd_snapshot_open(&i->snapshot, i->options.store, i->resources.p[i->kind_at],
                                VD_SLICE(""), i->revision, VD_SLICE(""), error);
    if (code)
        return code;
    i->snapshot_open = true;
    i->kind_at++;
    return VD_OK;
}

static void end_list(struct vd_informer *i)
{
    i->state = VD_INFORMER_FOLLOWING;
    i->retry_ms = 0;
    /* Each commit that it has heard of is in the list, or is after the list's revision and will
     * be read. */
    i->at_end = true;
    vd_counter_add(VD_METRIC(&lists_total, i->options.name), 1);
    EACH_HANDLER (i, h, synced)
        h->ops->synced(h);
    EACH_HANDLER (i, h, passed)
        h->ops->passed(h, i->revision, true);
}

static int list_piece(struct vd_informer *i, struct vd_error *error)
{
    struct vd_event *events[PIECE_EVENTS];
    size_t n = 0;
    int code = VD_OK;
    if (!i->snapshot_open && i->kind_at == i->resources.n) {
        i->sweep_at = 0;
        i->swept = !i->options.keeps_keys;
        i->state = VD_INFORMER_SWEEPING;
        return VD_OK;
    }
    if (!i->snapshot_open)
        code = open_snapshot(i, error);
    if (code)
        return code;
    code = vd_snapshot_next(&i->snapshot, events, PIECE_EVENTS, &n, error);
    if (code == VD_ERR_CORRUPT) { /* the snapshot has passed the damaged object */
        tell_damaged(i, error);
        code = VD_OK;
    }
    for (size_t at = 0; at < n; at++) {
        tell_change(i, &(struct vd_change){events[at], NULL});
        vd_event_unref(events[at]);
    }
    if (!code && i->snapshot.done)
        close_snapshot(i);
    return code;
}

/* First walks over all known objects and collects those that were not in the list, then tells of
 * these: telling removes them from the map, which must not change during the walk. */
static void sweep_piece(struct vd_informer *i)
{
    struct vd_known_object *k = NULL;
    size_t n = 0;
    for (; !i->swept && n < VD_SCAN_STEP_ROWS; n++) {
        k = vd_hash_map_next(&i->known, &i->sweep_at);
        if (k && k->list != i->lists)
            *VD_VEC_PUSH(&i->missed) = k;
        i->swept = !k;
    }
    for (; i->swept && i->missed.n && n < VD_SCAN_STEP_ROWS; n++) {
        k = i->missed.p[--i->missed.n];
        vd_hash_map_remove(&i->known, known_key(k));
        EACH_HANDLER (i, h, deletion_missed)
            h->ops->deletion_missed(h, &k->key);
        free(k);
    }
    if (i->swept && !i->missed.n)
        end_list(i);
}

/* ---- following ---- */

/* Skips a stretch of the log without changes that concern the informer: if it had told everything
 * that it had heard of, nothing lies between its revision and the first commit that it has heard of
 * since. */
static void skip_silence(struct vd_informer *i)
{
    uint64_t after = atomic_exchange(&i->heard_after, 0);
    if (i->at_end && after > i->revision)
        i->revision = after;
}

static int follow_piece(struct vd_informer *i, struct vd_error *error)
{
    skip_silence(i);
    uint64_t known_end = vd_informer_heard(i);
    int code = vd_store_read(i->options.store, VD_SLICE(""), i->revision, PIECE_EVENTS, &i->stretch,
                             error);
    if (code)
        return code;
    for (size_t at = 0; at < i->stretch.changes.n; at++) {
        const struct vd_change *change = &i->stretch.changes.p[at];
        if (has_resource(&i->options.followed, vd_entry_resource(change->now->entry)))
            tell_change(i, change);
    }
    i->revision = i->stretch.upto;
    i->at_end = i->revision >= known_end;
    bool whole = i->stretch.whole;
    vd_stretch_reset(&i->stretch);
    EACH_HANDLER (i, h, passed)
        h->ops->passed(h, i->revision, whole);
    return VD_OK;
}

/* ---- turns ---- */

static uint64_t list_failed(struct vd_informer *i, const struct vd_error *error)
{
    i->retry_ms = i->retry_ms ? 2 * i->retry_ms : VD_INFORMER_RETRY_MS_MIN;
    if (i->retry_ms > VD_INFORMER_RETRY_MS_MAX)
        i->retry_ms = VD_INFORMER_RETRY_MS_MAX;
    close_snapshot(i);
    i->state = VD_INFORMER_LIST_DUE;
    EACH_HANDLER (i, h, failed)
        h->ops->failed(h, error, i->retry_ms);
    return i->retry_ms;
}

uint64_t vd_informer_turn(struct vd_informer *i)
{
    struct vd_error error;
    if (i->state == VD_INFORMER_FOLLOWING) {
        if (follow_piece(i, &error)) { /* the floor has passed it, or a row is damaged */
            vd_log_warn("the log could not be followed; the objects are listed again",
                        VD_F_STR("informer", i->options.name), VD_F_ERROR(&error));
            i->state = VD_INFORMER_LIST_DUE;
            return 0;
        }
        return i->revision < vd_informer_heard(i) ? 0 : VD_INFORMER_IDLE;
    }
    if (i->state == VD_INFORMER_SWEEPING) {
        sweep_piece(i);
        return 0;
    }
    int code = i->state == VD_INFORMER_LIST_DUE ? begin_list(i, &error) : VD_OK;
    if (!code)
        code = list_piece(i, &error);
    return code ? list_failed(i, &error) : 0;
}

/* ---- life cycle ---- */

void vd_informer_init(struct vd_informer *i, const struct vd_informer_options *options)
{
    *i = (struct vd_informer){.options = *options};
    i->handlers_end = &i->handlers;
    vd_hash_map_init(&i->known, known_key);
    i->subscriber.committed = heard;
}

void vd_informer_add_handler(struct vd_informer *i, struct vd_informer_handler *handler)
{
    handler->next = NULL;
    *i->handlers_end = handler;
    i->handlers_end = &handler->next;
}

void vd_informer_start(struct vd_informer *i)
{
    uint64_t before = 0, revision = vd_store_subscribe(i->options.store, &i->subscriber);
    /* Only if it is still 0: the writer may have told of a newer commit by now. */
    atomic_compare_exchange_strong(&i->heard, &before, revision);
}

void vd_informer_start_at(struct vd_informer *i, uint64_t revision)
{
    i->revision = revision;
    i->state = VD_INFORMER_FOLLOWING;
    vd_informer_start(i);
}

void vd_informer_stop(struct vd_informer *i)
{
    vd_store_unsubscribe(i->options.store, &i->subscriber);
    close_snapshot(i);
    vd_stretch_release(&i->stretch);
    forget_known(i);
    VD_VEC_RELEASE(&i->resources);
    VD_VEC_RELEASE(&i->missed);
    VD_VEC_RELEASE(&i->reported);
    i->state = VD_INFORMER_LIST_DUE;
}
