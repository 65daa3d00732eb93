/*
 * Errands: what an agent's job asks of the store; see agent.h.
 *
 * An errand owns all that its wishes point to. It belongs to the store from when it
 * is sent until it is answered on the writer's thread, which posts it to the loop.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/log.h"
#include "kinds/admission.h"
#include "kinds/deletion.h"
#include "kinds/field_tracking.h"
#include "kinds/object.h"
#include "kinds/object_meta.h"
#include "kinds/uid.h"
#include "server/agent_internal.h"
#include "json/parse.h"
#include "json/revision_hole.h"

enum { SCAN_OBJECTS = 64 }; /* deleted by one errand */

struct vd_errand {
    struct vd_agent *agent;
    struct vd_job *job;
    struct vd_arena arena;
    VD_VEC(struct vd_wish) wishes;
    struct vd_wish guard; /* what else must hold; no key: nothing */
    struct vd_proposal proposal;
    struct vd_task answered;
    enum vd_code code;
};

struct vd_errand *vd_errand_new(struct vd_agent *agent, struct vd_job *job)
{
    struct vd_errand *e = VD_NEW(struct vd_errand);
    e->agent = agent;
    e->job = job;
    return e;
}

static void errand_free(struct vd_errand *e)
{
    VD_VEC_RELEASE(&e->wishes);
    vd_arena_release(&e->arena);
    free(e);
}

struct vd_arena *vd_errand_arena(struct vd_errand *e)
{
    return &e->arena;
}

size_t vd_errand_count(const struct vd_errand *e)
{
    return e->wishes.n;
}

/* Nothing that was stored is no object that can be stored. */
static void cannot_write(const struct vd_wish *wish, const struct vd_error *error)
{
    vd_log_error("an object cannot be written back", VD_F_SLICE("kind", wish->key.kind),
                 VD_F_SLICE("name", wish->key.name), VD_F_STR("error", error->text));
}

/* The object's bytes, in the arena. False when it is no object that can be stored,
 * which nothing that was stored is. */
static bool write_body(struct vd_errand *e, const struct vd_json *object, struct vd_wish *wish)
{
    struct vd_buf body = {0};
    struct vd_error error;
    size_t hole = 0;
    int code = vd_revision_hole_write(&body, object, &hole, &error);
    if (!code)
        wish->body = (struct vd_template){vd_arena_copy(&e->arena, vd_buf_slice(&body)),
                                          (uint32_t)hole};
    else
        cannot_write(wish, &error);
    vd_buf_release(&body);
    return code == VD_OK;
}

/* What is written again is as new as its revision from then on, so that it has to be: see
 * kinds/served_form.h. */
static void catch_up(struct vd_errand *e, const struct vd_event *event, struct vd_json *object)
{
    struct vd_kind_set *set = vd_kinds_snapshot(e->agent->options.kinds);
    const struct vd_kind *kind = vd_kind_set_stored(set, vd_entry_kind(event->entry));
    if (kind && vd_object_must_catch_up(kind, event->revision))
        vd_object_catch_up_or_stay(kind, &e->arena, object);
    vd_kind_set_unref(set);
}

/* The record of what the server does itself: `event` is the version that it replaces, NULL
 * for a new object. */
static void track(struct vd_errand *e, struct vd_slice storage_key, const struct vd_event *event,
                  struct vd_json *object)
{
    struct vd_kind_set *set = vd_kinds_snapshot(e->agent->options.kinds);
    const struct vd_kind *kind = vd_kind_set_stored(set, storage_key);
    struct vd_json *old = NULL;
    if (kind &&
        (!event || !vd_json_parse_copy(&e->arena, vd_body_slice(event->body), NULL, &old, NULL))) {
        if (event && vd_object_must_catch_up(kind, event->revision))
            vd_object_catch_up_or_stay(kind, &e->arena,
                                       old); /* the schema did it, and nobody else */
        vd_field_tracking_server(&e->arena, kind, old, object,
                                 vd_clock_wall_ms(e->agent->options.clock));
    }
    vd_kind_set_unref(set);
}

void vd_errand_create(struct vd_errand *e, struct vd_slice storage_key, struct vd_json *object)
{
    struct vd_arena *a = &e->arena;
    struct vd_wish wish = {
        .action = VD_PUT,
        .when = VD_WHEN_ABSENT,
        .uid = vd_uid_generate(),
        .key = {vd_arena_copy(a, storage_key), vd_arena_copy(a, vd_meta_namespace(object)),
                vd_arena_copy(a, vd_meta_name(object))},
    };
    vd_meta_set_uid(a, object, wish.uid);
    vd_meta_set_creation_timestamp(a, object, vd_clock_wall_ms(e->agent->options.clock));
    track(e, storage_key, NULL, object);
    if (write_body(e, object, &wish))
        *VD_VEC_PUSH(&e->wishes) = wish;
}

/* A wish about this very version; its names are copied, for the event may go. */
static struct vd_wish wish_for(struct vd_errand *e, const struct vd_event *event)
{
    struct vd_arena *a = &e->arena;
    return (struct vd_wish){
        .when = VD_WHEN_REVISION,
        .revision = event->revision,
        .expect_uid = event->uid,
        .uid = event->uid,
        .key = {vd_arena_copy(a, vd_entry_kind(event->entry)),
                vd_arena_copy(a, vd_entry_space(event->entry)),
                vd_arena_copy(a, vd_entry_name(event->entry))},
    };
}

void vd_errand_replace(struct vd_errand *e, const struct vd_event *event,
                       const struct vd_json *object)
{
    struct vd_wish wish = wish_for(e, event);
    bool finished = vd_deletion_is_finished(object, wish.key.kind);
    wish.action = finished ? VD_DELETE : VD_PUT;
    struct vd_json *tracked = vd_json_clone(&e->arena, object);
    if (!finished) {
        catch_up(e, event, tracked);
        track(e, wish.key.kind, event, tracked);
    }
    if (finished || write_body(e, tracked, &wish))
        *VD_VEC_PUSH(&e->wishes) = wish;
}

void vd_errand_delete(struct vd_errand *e, const struct vd_event *event, struct vd_json *object,
                      struct vd_slice policy)
{
    struct vd_kind_set *set = vd_kinds_snapshot(e->agent->options.kinds);
    struct vd_deletion deletion = {.storage_key = vd_entry_kind(event->entry),
                                   .policy = policy,
                                   .clock = e->agent->options.clock};
    deletion.kind = vd_kind_set_stored(set, deletion.storage_key);
    struct vd_wish wish;
    enum vd_deletion_step step = VD_DELETION_NOTHING;
    struct vd_error error;
    int code = vd_deletion_wish(&deletion, event, object, &e->arena, &e->arena, &step, &wish,
                                &error);
    if (code) {
        cannot_write(&wish, &error);
    } else if (step != VD_DELETION_NOTHING) {
        wish.key = wish_for(e, event).key;
        *VD_VEC_PUSH(&e->wishes) = wish;
    }
    vd_kind_set_unref(set);
}

void vd_errand_require(struct vd_errand *e, const struct vd_event *event)
{
    e->guard = wish_for(e, event);
    e->guard.action = VD_CHECK;
}

/* What is deleted is the newest version. */
static void delete_newest(struct vd_errand *e, const struct vd_event *was,
                          struct vd_remains *remains)
{
    struct vd_key key = {vd_entry_kind(was->entry), vd_entry_space(was->entry),
                         vd_entry_name(was->entry)};
    struct vd_event *event = NULL;
    struct vd_json *object = NULL;
    if (vd_agent_read(e->agent, &key, &e->arena, &event, &object))
        return;
    vd_errand_delete(e, event, object, VD_SLICE(""));
    if (remains && vd_meta_is_deleting(object))
        vd_remains_count(remains, key.kind, object);
    vd_event_unref(event);
}

int vd_errand_delete_next(struct vd_errand *e, struct vd_snapshot *snapshot, size_t *n,
                          struct vd_remains *remains)
{
    struct vd_event *events[SCAN_OBJECTS];
    size_t count = 0;
    int code = vd_snapshot_next(snapshot, events, SCAN_OBJECTS, &count, NULL);
    for (size_t i = 0; !code && i < count; i++) {
        delete_newest(e, events[i], remains);
        vd_event_unref(events[i]);
    }
    *n = count;
    return code;
}

static void on_answered(struct vd_task *task)
{
    struct vd_errand *e = (struct vd_errand *)((char *)task - offsetof(struct vd_errand, answered));
    struct vd_agent *agent = e->agent;
    struct vd_job *job = e->job;
    enum vd_code code = e->code;
    errand_free(e);
    vd_agent_job_answered(agent, job, code);
}

/* Writer thread. */
static void proposal_done(struct vd_proposal *p, const struct vd_outcome *outcome)
{
    struct vd_errand *e = p->arg;
    e->code = outcome->code;
    vd_loop_post(e->agent->options.loop, &e->answered);
}

void vd_errand_send(struct vd_errand *e)
{
    if (e->wishes.n == 0) {
        errand_free(e);
        return;
    }
    if (e->guard.key.kind.n)
        *VD_VEC_PUSH(&e->wishes) = e->guard;
    assert(e->job->state == VD_JOB_IDLE);
    e->job->state = VD_JOB_BUSY;
    e->agent->busy++;
    e->answered.run = on_answered;
    e->proposal = (struct vd_proposal){e->wishes.p, e->wishes.n, proposal_done, e, NULL};
    struct vd_admission admission = {.store = e->agent->options.store, .author = VD_AUTHOR_SERVER};
    struct vd_admitted *admitted = vd_admission_admit(&admission, &e->proposal, NULL, NULL);
    assert(admitted);
    vd_store_propose(e->agent->options.store, admitted);
}
