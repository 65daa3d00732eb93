/*
 * See conditional_batch.h.
 *
 * A batch owns all that its wishes point to. It belongs to the store from when it is sent until it
 * is answered on the writer's thread, which posts it to the loop.
 */
#include "api/conditional_batch.h"

#include <assert.h>
#include <stdlib.h>

#include "api/loop_proposal.h"
#include "base/alloc.h"
#include "base/container_of.h"
#include "base/log.h"
#include "kinds/admission.h"
#include "kinds/deletion.h"
#include "kinds/field_tracking.h"
#include "kinds/object.h"
#include "kinds/object_meta.h"
#include "kinds/uid.h"
#include "json/parse.h"
#include "json/revision_hole.h"

enum { SCAN_OBJECTS = 64 }; /* deleted by one batch */

struct vd_conditional_batch {
    struct vd_controller *controller;
    struct vd_controller_item *item;
    struct vd_arena arena;
    VD_VEC(struct vd_wish) wishes;
    struct vd_wish guard; /* what else must hold; no key: nothing */
    struct vd_loop_proposal proposal;
};

struct vd_conditional_batch *vd_conditional_batch_new(struct vd_controller *controller,
                                                      struct vd_controller_item *item)
{
    struct vd_conditional_batch *b = VD_NEW(struct vd_conditional_batch);
    b->controller = controller;
    b->item = item;
    return b;
}

static void batch_free(struct vd_conditional_batch *b)
{
    VD_VEC_RELEASE(&b->wishes);
    vd_arena_release(&b->arena);
    free(b);
}

struct vd_arena *vd_conditional_batch_arena(struct vd_conditional_batch *b)
{
    return &b->arena;
}

size_t vd_conditional_batch_count(const struct vd_conditional_batch *b)
{
    return b->wishes.n;
}

/* Nothing that was stored is no object that can be stored. */
static void cannot_write(const struct vd_wish *wish, const struct vd_error *error)
{
    vd_log_error("an object cannot be written back", VD_F_SLICE("kind", wish->key.resource),
                 VD_F_SLICE("name", wish->key.name), VD_F_STR("error", error->text));
}

/* The object's bytes, in the arena. False when it is no object that can be stored,
 * which nothing that was stored is. */
static bool write_body(struct vd_conditional_batch *b, const struct vd_json *object,
                       struct vd_wish *wish)
{
    struct vd_buf body = {0};
    struct vd_error error;
    size_t hole = 0;
    int code = vd_revision_hole_write(&body, object, &hole, &error);
    if (!code)
        wish->body = (struct vd_template){vd_arena_copy(&b->arena, vd_buf_slice(&body)),
                                          (uint32_t)hole};
    else
        cannot_write(wish, &error);
    vd_buf_release(&body);
    return code == VD_OK;
}

/* What is written again is as new as its revision from then on, so that it has to be: see
 * kinds/served_form.h. */
static void catch_up(struct vd_conditional_batch *b, const struct vd_event *event,
                     struct vd_json *object)
{
    struct vd_kind_set *set = vd_kinds_snapshot(b->controller->env.kinds);
    const struct vd_kind *kind = vd_kind_set_stored(set, vd_entry_resource(event->entry));
    if (kind && vd_object_must_catch_up(kind, event->revision))
        vd_object_catch_up_or_stay(kind, &b->arena, object);
    vd_kind_set_unref(set);
}

/* The record of what the server does itself: `event` is the version that it replaces, NULL
 * for a new object. */
static void track(struct vd_conditional_batch *b, struct vd_slice resource,
                  const struct vd_event *event, struct vd_json *object)
{
    struct vd_kind_set *set = vd_kinds_snapshot(b->controller->env.kinds);
    const struct vd_kind *kind = vd_kind_set_stored(set, resource);
    struct vd_json *old = NULL;
    if (kind &&
        (!event || !vd_json_parse_copy(&b->arena, vd_body_slice(event->body), NULL, &old, NULL))) {
        if (event && vd_object_must_catch_up(kind, event->revision))
            vd_object_catch_up_or_stay(kind, &b->arena,
                                       old); /* the schema did it, and nobody else */
        vd_field_tracking_server(&b->arena, kind, old, object,
                                 vd_clock_wall_ms(b->controller->env.clock));
    }
    vd_kind_set_unref(set);
}

void vd_conditional_batch_create(struct vd_conditional_batch *b, struct vd_slice resource,
                                 struct vd_json *object)
{
    struct vd_arena *a = &b->arena;
    struct vd_wish wish = {
        .action = VD_PUT,
        .when = VD_WHEN_ABSENT,
        .uid = vd_uid_generate(),
        .key = {vd_arena_copy(a, resource), vd_arena_copy(a, vd_meta_namespace(object)),
                vd_arena_copy(a, vd_meta_name(object))},
    };
    vd_meta_set_uid(a, object, wish.uid);
    vd_meta_set_creation_timestamp(a, object, vd_clock_wall_ms(b->controller->env.clock));
    track(b, resource, NULL, object);
    if (write_body(b, object, &wish))
        *VD_VEC_PUSH(&b->wishes) = wish;
}

/* A wish about this very version; its names are copied, for the event may go. */
static struct vd_wish wish_for(struct vd_conditional_batch *b, const struct vd_event *event)
{
    struct vd_arena *a = &b->arena;
    return (struct vd_wish){
        .when = VD_WHEN_REVISION,
        .revision = event->revision,
        .expect_uid = event->uid,
        .uid = event->uid,
        .key = {vd_arena_copy(a, vd_entry_resource(event->entry)),
                vd_arena_copy(a, vd_entry_namespace(event->entry)),
                vd_arena_copy(a, vd_entry_name(event->entry))},
    };
}

void vd_conditional_batch_replace(struct vd_conditional_batch *b, const struct vd_event *event,
                                  const struct vd_json *object)
{
    struct vd_wish wish = wish_for(b, event);
    bool finished = vd_deletion_is_finished(object, wish.key.resource);
    wish.action = finished ? VD_DELETE : VD_PUT;
    struct vd_json *tracked = vd_json_clone(&b->arena, object);
    if (!finished) {
        catch_up(b, event, tracked);
        track(b, wish.key.resource, event, tracked);
    }
    if (finished || write_body(b, tracked, &wish))
        *VD_VEC_PUSH(&b->wishes) = wish;
}

void vd_conditional_batch_delete(struct vd_conditional_batch *b, const struct vd_event *event,
                                 struct vd_json *object, struct vd_slice policy)
{
    struct vd_kind_set *set = vd_kinds_snapshot(b->controller->env.kinds);
    struct vd_deletion deletion = {.resource = vd_entry_resource(event->entry),
                                   .policy = policy,
                                   .clock = b->controller->env.clock};
    deletion.kind = vd_kind_set_stored(set, deletion.resource);
    struct vd_wish wish;
    enum vd_deletion_step step = VD_DELETION_NOTHING;
    struct vd_error error;
    int code = vd_deletion_wish(&deletion, event, object, &b->arena, &b->arena, &step, &wish,
                                &error);
    if (code) {
        cannot_write(&wish, &error);
    } else if (step != VD_DELETION_NOTHING) {
        wish.key = wish_for(b, event).key;
        *VD_VEC_PUSH(&b->wishes) = wish;
    }
    vd_kind_set_unref(set);
}

void vd_conditional_batch_require(struct vd_conditional_batch *b, const struct vd_event *event)
{
    b->guard = wish_for(b, event);
    b->guard.action = VD_CHECK;
}

/* What is deleted is the newest version. */
static void delete_newest(struct vd_conditional_batch *b, const struct vd_event *was,
                          const struct vd_stays *stays)
{
    struct vd_key key = {vd_entry_resource(was->entry), vd_entry_namespace(was->entry),
                         vd_entry_name(was->entry)};
    struct vd_event *event = NULL;
    struct vd_json *object = NULL;
    if (vd_controller_read(b->controller, &key, &b->arena, &event, &object))
        return;
    vd_conditional_batch_delete(b, event, object, VD_SLICE(""));
    if (stays && vd_meta_is_deleting(object))
        stays->tell(stays->arg, key.resource, object);
    vd_event_unref(event);
}

int vd_conditional_batch_delete_next(struct vd_conditional_batch *b, struct vd_snapshot *snapshot,
                                     size_t *n, const struct vd_stays *stays)
{
    struct vd_event *events[SCAN_OBJECTS];
    size_t count = 0;
    int code = vd_snapshot_next(snapshot, events, SCAN_OBJECTS, &count, NULL);
    for (size_t i = 0; !code && i < count; i++) {
        delete_newest(b, events[i], stays);
        vd_event_unref(events[i]);
    }
    *n = count;
    return code;
}

static void on_answered(struct vd_loop_proposal *p)
{
    struct vd_conditional_batch *b = VD_CONTAINER_OF(p, struct vd_conditional_batch, proposal);
    struct vd_controller *controller = b->controller;
    struct vd_controller_item *item = b->item;
    enum vd_code code = p->outcome.code;
    batch_free(b);
    vd_controller_answered(controller, item, code);
}

void vd_conditional_batch_send(struct vd_conditional_batch *b)
{
    if (b->wishes.n == 0) {
        batch_free(b);
        return;
    }
    if (b->guard.key.resource.n)
        *VD_VEC_PUSH(&b->wishes) = b->guard;
    vd_controller_sent(b->controller, b->item);
    b->proposal.proposal = (struct vd_proposal){.wishes = b->wishes.p, .n = b->wishes.n};
    b->proposal.done = on_answered;
    vd_loop_proposal_begin(&b->proposal, b->controller->env.loop, NULL);
    struct vd_admission admission = {.store = b->controller->env.store, .author = VD_AUTHOR_SERVER};
    struct vd_admitted *admitted = vd_admission_admit(&admission, &b->proposal.proposal, NULL,
                                                      NULL);
    assert(admitted);
    vd_store_propose(b->controller->env.store, admitted);
}
