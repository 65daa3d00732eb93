/*
 * See definitions.h. An agent with a job for each definition. The job first sees to
 * the registry, so that a kind is live before its status says so, then to the object.
 *
 * Deleting the objects of a kind is a scan of them as of one revision, in pieces;
 * what has gone since is counted off as the log tells of it, and what has come makes
 * another scan necessary.
 */
#include "server/definitions.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/hash_map.h"
#include "base/log.h"
#include "kinds/approval.h"
#include "kinds/condition.h"
#include "kinds/deletion.h"
#include "kinds/object_meta.h"
#include "server/definition_kind.h"
#include "server/definition_names.h"
#include "json/compare.h"
#include "json/parse.h"

/* Somebody who waits for a definition to be as of a revision. */
struct waiter {
    struct vd_task arrive; /* on the agent's loop */
    struct vd_definitions *definitions;
    struct waiter *next;
    uint64_t revision;
    struct vd_loop *loop; /* of `task` */
    struct vd_task *task;
    size_t name_len;
    char name[];
};

struct definition {
    struct vd_job job;
    struct vd_name_holder names;
    bool conflicted;   /* waits for names that others hold */
    uint64_t revision; /* of the version that was last seen to */
    struct waiter *waiters;
    enum { EMPTY_NOT, EMPTY_SCANNING, EMPTY_WAITING } emptying;
    struct vd_snapshot snapshot;
    uint64_t scan_revision;
    int64_t left; /* objects at scan_revision, as far as scanned, less those deleted since */
    bool again;   /* objects have come, or a deletion was refused */
    size_t name_len;
    char name[];
};

struct vd_definitions {
    struct vd_agent agent;
    struct vd_hash_map all; /* by name */
    struct vd_name_claims claims;
};

static struct vd_definitions *definitions_of(struct vd_agent *agent)
{
    return (struct vd_definitions *)((char *)agent - offsetof(struct vd_definitions, agent));
}

static struct vd_slice definition_name(const void *item)
{
    const struct definition *d = item;
    return vd_slice(d->name, d->name_len);
}

/* A definition's name is plural.group. */
static struct vd_slice definition_group(const struct definition *d)
{
    struct vd_slice rest = definition_name(d), plural;
    vd_slice_cut(&rest, '.', &plural);
    return rest;
}

static int64_t now_ms(const struct vd_definitions *ds)
{
    return vd_clock_wall_ms(ds->agent.options.clock);
}

/* ---- who waits ---- */

static void tell(struct waiter *w)
{
    vd_loop_post(w->loop, w->task);
    free(w);
}

/* Tells those whom this revision is enough for. */
static void tell_waiters(struct definition *d, uint64_t revision)
{
    struct waiter **at = &d->waiters;
    while (*at) {
        struct waiter *w = *at;
        if (w->revision > revision) {
            at = &w->next;
            continue;
        }
        *at = w->next;
        tell(w);
    }
}

/* ---- names ---- */

/* Names have become free: whoever wants some in that group may try again. */
static void reconsider(struct vd_definitions *ds, struct vd_slice group)
{
    size_t at = 0;
    for (struct definition *d; (d = vd_hash_map_next(&ds->all, &at));)
        if (d->conflicted && vd_slice_eq(definition_group(d), group))
            vd_agent_queue(&ds->agent, &d->job);
}

static void hold_names(struct vd_definitions *ds, struct definition *d, const struct vd_json *names)
{
    if (vd_name_claims_hold(&ds->claims, &d->names, definition_group(d), names))
        reconsider(ds, definition_group(d));
}

/* ---- establishing ---- */

static void set_condition(struct vd_definitions *ds, struct vd_arena *a, struct vd_json *object,
                          const char *type, bool status, struct vd_slice reason,
                          struct vd_slice message)
{
    vd_condition_set(a, object,
                     &(struct vd_condition){.type = vd_slice_of(type),
                                            .status = status ? VD_SLICE("True") : VD_SLICE("False"),
                                            .reason = reason,
                                            .message = message},
                     now_ms(ds));
}

/* Whether Kubernetes' community has approved of a definition in its groups. */
static void set_approval(struct vd_definitions *ds, struct vd_arena *a, struct vd_json *object)
{
    static const char type[] = "KubernetesAPIApprovalPolicyConformant";
    struct vd_slice value, reason = VD_SLICE("ApprovedAnnotation");
    struct vd_buf message = {0};
    enum vd_approval state = vd_approval_of(object, &value);
    if (state == VD_APPROVAL_NOT_NEEDED) {
        vd_condition_remove(object, vd_slice_of(type));
        return;
    }
    if (state == VD_APPROVAL_GIVEN) {
        vd_buf_addf(&message, "approved in %.*s", VD_FMT(value));
    } else if (state == VD_APPROVAL_BYPASSED) {
        reason = VD_SLICE("UnapprovedAnnotation");
        vd_buf_addf(&message, "not approved: \"%.*s\"", VD_FMT(value));
    } else {
        reason = state == VD_APPROVAL_MISSING ? VD_SLICE("MissingAnnotation")
                                              : VD_SLICE("InvalidAnnotation");
        vd_buf_add_text(&message, vd_approval_advice(state));
    }
    set_condition(ds, a, object, type, state == VD_APPROVAL_GIVEN, reason, vd_buf_slice(&message));
    vd_buf_release(&message);
}

/* Makes the kinds live, and says in the status what came of it. */
static void set_established(struct vd_definitions *ds, struct vd_arena *a, struct vd_json *object,
                            const struct vd_name_verdict *verdict)
{
    struct vd_error error = {0};
    bool was = vd_condition_is_true(object, VD_SLICE("Established"));
    if (!was && !verdict->accepted) {
        set_condition(ds, a, object, "Established", false, VD_SLICE("NotAccepted"),
                      VD_SLICE("not all names are accepted"));
        return;
    }
    int code = vd_definition_register(ds->agent.options.kinds, object, verdict->names,
                                      vd_store_revision(ds->agent.options.store), &error);
    struct vd_slice why = vd_arena_copy(a, vd_slice_of(error.text));
    if (code == VD_ERR_INVALID) {
        vd_definition_unregister(ds->agent.options.kinds, vd_meta_name(object));
        set_condition(ds, a, object, "NonStructuralSchema", true, VD_SLICE("Violations"), why);
    } else {
        vd_condition_remove(object, VD_SLICE("NonStructuralSchema"));
    }
    if (code)
        set_condition(ds, a, object, "Established", false, VD_SLICE("NotAccepted"), why);
    else if (!was)
        set_condition(ds, a, object, "Established", true, VD_SLICE("InitialNamesAccepted"),
                      VD_SLICE("the initial names have been accepted"));
}

static void establish(struct vd_definitions *ds, struct definition *d, struct vd_errand *errand,
                      const struct vd_event *event, struct vd_json *object)
{
    struct vd_arena *a = vd_errand_arena(errand);
    const struct vd_json *status = vd_json_get(object, VD_SLICE("status"));
    const struct vd_json *before = status ? vd_json_copy(a, status) : NULL;
    struct vd_name_verdict verdict = vd_name_claims_judge(
        &ds->claims, &d->names, definition_group(d), vd_json_dig(object, "spec", "names", NULL),
        vd_json_dig(object, "status", "acceptedNames", NULL), a);
    d->emptying = EMPTY_NOT;
    d->conflicted = !verdict.accepted;
    set_condition(ds, a, object, "NamesAccepted", verdict.accepted, verdict.reason,
                  verdict.message);
    set_established(ds, a, object, &verdict);
    set_approval(ds, a, object);
    vd_json_set(a, vd_json_get(object, VD_SLICE("status")), VD_SLICE("acceptedNames"),
                vd_json_clone(a, verdict.names));
    hold_names(ds, d, verdict.names);
    if (!vd_json_eq(before, vd_json_get(object, VD_SLICE("status"))))
        vd_errand_replace(errand, event, object);
}

/* ---- terminating ---- */

static void end_scan(struct definition *d)
{
    vd_snapshot_release(&d->snapshot);
    d->snapshot = (struct vd_snapshot){.done = true};
}

static int begin_scan(struct vd_definitions *ds, struct definition *d)
{
    end_scan(d);
    d->emptying = EMPTY_SCANNING;
    d->scan_revision = vd_store_revision(ds->agent.options.store);
    d->left = 0;
    d->again = false;
    return vd_snapshot_open(&d->snapshot, ds->agent.options.store, definition_name(d), VD_SLICE(""),
                            d->scan_revision, VD_SLICE(""), NULL);
}

/* Nothing is left: the finalizer goes, and the definition with its last one. */
static void finish(struct definition *d, struct vd_errand *errand, const struct vd_event *event,
                   struct vd_json *object)
{
    d->emptying = EMPTY_WAITING;
    d->left = 1; /* itself: other finalizers may keep it */
    if (vd_meta_remove_finalizer(object, VD_FINALIZER_DEFINITION))
        vd_errand_replace(errand, event, object);
}

/* A piece of the scan. False: it has failed and has to be done again. */
static bool scan(struct definition *d, struct vd_errand *errand)
{
    size_t n = 0;
    int code = vd_errand_delete_next(errand, &d->snapshot, &n, NULL);
    d->left += (int64_t)n;
    if (code == VD_ERR_CORRUPT)
        d->left++; /* somebody has to look at it; it keeps the definition until then */
    return !code || code == VD_ERR_CORRUPT;
}

static void empty(struct vd_definitions *ds, struct definition *d, struct vd_errand *errand,
                  const struct vd_event *event, struct vd_json *object)
{
    d->again |= d->job.code != VD_OK;
    d->job.code = VD_OK;
    if (d->emptying == EMPTY_WAITING && d->left > 0 && !d->again)
        return;
    bool ok = d->emptying == EMPTY_SCANNING || begin_scan(ds, d) == VD_OK;
    if (ok && !d->snapshot.done)
        ok = scan(d, errand);
    if (!ok) {
        d->again = true; /* the window has passed the scan */
        d->emptying = EMPTY_WAITING;
    }
    if (vd_errand_count(errand)) /* runs again when that is done */
        return;
    bool done = ok && d->snapshot.done;
    if (done && d->left == 0 && !d->again) {
        finish(d, errand, event, object);
        return;
    }
    if (done)
        d->emptying = EMPTY_WAITING;
    if (!done || d->left <= 0 || d->again)
        vd_agent_queue(&ds->agent, &d->job);
}

static void terminate(struct vd_definitions *ds, struct definition *d, struct vd_errand *errand,
                      const struct vd_event *event, struct vd_json *object)
{
    struct vd_error error;
    if (vd_condition_is_true(object, VD_SLICE("Established")) &&
        vd_definition_register(ds->agent.options.kinds, object,
                               vd_json_dig(object, "status", "acceptedNames", NULL),
                               vd_store_revision(ds->agent.options.store), &error))
        vd_log_warn("a definition that is being deleted cannot be served", VD_F_ERROR(&error));
    if (vd_meta_has_finalizer(object, VD_FINALIZER_DEFINITION))
        empty(ds, d, errand, event, object);
}

/* ---- the job ---- */

static void definition_free(struct definition *d)
{
    end_scan(d);
    free(d);
}

static void forget(struct vd_definitions *ds, struct definition *d)
{
    vd_definition_unregister(ds->agent.options.kinds, definition_name(d));
    hold_names(ds, d, NULL);
    tell_waiters(d, UINT64_MAX);
    vd_hash_map_remove(&ds->all, definition_name(d));
    definition_free(d);
}

static void run_definition(struct vd_agent *agent, struct vd_job *job)
{
    struct vd_definitions *ds = definitions_of(agent);
    struct definition *d = (struct definition *)((char *)job - offsetof(struct definition, job));
    struct vd_key key = {VD_DEFINITIONS, VD_SLICE(""), definition_name(d)};
    struct vd_errand *errand = vd_errand_new(agent, job);
    struct vd_event *event = NULL;
    struct vd_json *object = NULL;
    int code = vd_agent_read(agent, &key, vd_errand_arena(errand), &event, &object);
    if (!code && vd_meta_is_deleting(object))
        terminate(ds, d, errand, event, object);
    else if (!code)
        establish(ds, d, errand, event, object);
    if (!code) {
        d->revision = event->revision;
        tell_waiters(d, d->revision);
    }
    vd_event_unref(event);
    vd_errand_send(errand);
    if (code == VD_ERR_NOT_FOUND)
        forget(ds, d);
    else if (code)
        vd_log_error("a definition cannot be read", VD_F_SLICE("name", definition_name(d)),
                     VD_F_STR("code", vd_code_name(code)));
}

static struct definition *open_definition(struct vd_definitions *ds, struct vd_slice name)
{
    struct definition *d = vd_hash_map_get(&ds->all, name);
    if (d)
        return d;
    d = vd_calloc(1, sizeof *d + name.n);
    d->job.run = run_definition;
    d->snapshot.done = true;
    d->name_len = name.n;
    memcpy(d->name, name.p, name.n);
    vd_hash_map_put(&ds->all, d);
    return d;
}

/* ---- what the agent is told ---- */

static void loading(struct vd_agent *agent)
{
    (void)agent; /* a definition that is gone finds that out when it is run */
}

/* Names that were accepted before are held before anybody new asks for them. */
static void remember_names(struct vd_definitions *ds, struct definition *d,
                           const struct vd_event *event)
{
    struct vd_arena arena = {0};
    struct vd_json *object = NULL;
    if (event->body && !vd_json_parse(&arena, vd_body_slice(event->body), NULL, &object, NULL))
        vd_name_claims_hold(&ds->claims, &d->names, definition_group(d),
                            vd_json_dig(object, "status", "acceptedNames", NULL));
    vd_arena_release(&arena);
}

static void loaded(struct vd_agent *agent)
{
    struct vd_definitions *ds = definitions_of(agent);
    size_t at = 0;
    for (struct definition *d; (d = vd_hash_map_next(&ds->all, &at));) {
        d->again = true; /* what was counted may have been missed */
        vd_agent_queue(agent, &d->job);
    }
}

static void take(struct vd_agent *agent, const struct vd_change *change)
{
    struct vd_definitions *ds = definitions_of(agent);
    const struct vd_event *now = change->now;
    struct vd_slice kind = vd_entry_kind(now->entry);
    if (vd_slice_eq(kind, VD_DEFINITIONS)) {
        struct definition *d = open_definition(ds, vd_entry_name(now->entry));
        if (!agent->loaded)
            remember_names(ds, d, now);
        vd_agent_queue(agent, &d->job);
        return;
    }
    struct definition *d = vd_hash_map_get(&ds->all, kind);
    if (!d || d->emptying == EMPTY_NOT || now->revision <= d->scan_revision)
        return;
    d->left -= now->type == VD_EVENT_DELETED;
    d->again |= now->type == VD_EVENT_CREATED;
    if (d->emptying == EMPTY_WAITING && (d->left <= 0 || d->again))
        vd_agent_queue(agent, &d->job);
}

/* ---- waiting ---- */

static void arrive(struct vd_task *task)
{
    struct waiter *w = (struct waiter *)((char *)task - offsetof(struct waiter, arrive));
    struct vd_definitions *ds = w->definitions;
    struct vd_slice name = vd_slice(w->name, w->name_len);
    struct definition *d = vd_hash_map_get(&ds->all, name);
    bool passed = d ? d->revision >= w->revision : ds->agent.revision >= w->revision;
    if (passed || ds->agent.stopping) {
        tell(w);
        return;
    }
    d = open_definition(ds, name);
    w->next = d->waiters;
    d->waiters = w;
    vd_agent_queue(&ds->agent, &d->job);
}

void vd_definitions_await(struct vd_definitions *ds, struct vd_slice name, uint64_t revision,
                          struct vd_loop *loop, struct vd_task *task)
{
    struct waiter *w = vd_calloc(1, sizeof *w + name.n);
    w->arrive.run = arrive;
    w->definitions = ds;
    w->revision = revision;
    w->loop = loop;
    w->task = task;
    w->name_len = name.n;
    memcpy(w->name, name.p, name.n);
    vd_loop_post(ds->agent.options.loop, &w->arrive);
}

/* ---- life cycle ---- */

struct vd_definitions *vd_definitions_start(const struct vd_agent_options *given)
{
    static const struct vd_agent_ops ops = {loading, take, loaded};
    struct vd_agent_options options = *given;
    struct vd_definitions *ds = VD_NEW(struct vd_definitions);
    options.load_only = VD_DEFINITIONS;
    vd_hash_map_init(&ds->all, definition_name);
    vd_name_claims_init(&ds->claims);
    vd_agent_start(&ds->agent, &options, &ops);
    return ds;
}

void vd_definitions_stop(struct vd_definitions *ds)
{
    size_t at = 0;
    if (!ds)
        return;
    vd_agent_stop(&ds->agent);
    for (struct definition *d; (d = vd_hash_map_next(&ds->all, &at));) {
        tell_waiters(d, UINT64_MAX);
        vd_name_claims_hold(&ds->claims, &d->names, definition_group(d), NULL);
        definition_free(d);
    }
    vd_hash_map_release(&ds->all);
    vd_name_claims_release(&ds->claims);
    free(ds);
}
