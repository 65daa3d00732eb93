/* Where a new object lives: its namespace, and the definition of its kind. */
#include <stdatomic.h>

#include "api/batch/batch_internal.h"
#include "api/write/write_internal.h"
#include "kinds/deletion.h"
#include "kinds/uid.h"
#include "json/span.h"

/* What is written is written only while this version is the newest. */
static void guard(struct vd_write *w, const struct vd_key *key, const struct vd_event *event)
{
    w->wishes[w->guard_count++] = (struct vd_wish){
        .action = VD_CHECK, .when = VD_WHEN_REVISION, .revision = event->revision, .key = *key};
}

static bool is_deleting(const struct vd_event *event)
{
    static const struct vd_slice path[] = {{"metadata", 8}, {"deletionTimestamp", 17}};
    struct vd_slice time;
    return vd_span_find(vd_body_slice(event->body), path, 2, &time);
}

/* Definitions are large, so that one version is looked into only once. */
static bool is_alive(const struct vd_kind *kind, const struct vd_event *event)
{
    if (atomic_load_explicit(kind->definition_alive, memory_order_relaxed) == event->revision)
        return true;
    if (is_deleting(event))
        return false;
    atomic_store_explicit(kind->definition_alive, event->revision, memory_order_relaxed);
    return true;
}

/* What members of the same batch do with the namespace of the object, and with its kind's
 * definition; NULL: nothing. */
static const struct vd_batch_place *namespace_in_batch(const struct vd_write *w)
{
    return w->member ? w->member->namespace : NULL;
}

static const struct vd_batch_place *definition_in_batch(const struct vd_write *w)
{
    return w->member ? w->member->definition : NULL;
}

/* Whoever puts the definition in the same batch does so on a condition of its own. */
bool vd_write_check_definition(struct vd_write *w)
{
    const struct vd_batch_place *place = definition_in_batch(w);
    struct vd_key key = {VD_DEFINITIONS, VD_SLICE(""), w->kind->resource};
    struct vd_event *event = NULL;
    char uid[VD_UID_TEXT_MAX];
    if (place && place->deleted)
        return vd_write_refuse_for(w, VD_REFUSED_KIND_TERMINATING);
    if (!w->kind->definition_uid.n || place)
        return true;
    bool gone = vd_store_get(w->l->env->store, &key, 0, &event, NULL) ||
                !vd_slice_eq(vd_uid_format(event->uid, uid), w->kind->definition_uid);
    bool alive = !gone && is_alive(w->kind, event);
    if (alive)
        guard(w, &key, event);
    vd_event_unref(event);
    if (!alive)
        vd_write_refuse_for(w, gone ? VD_REFUSED_KIND_NOT_FOUND : VD_REFUSED_KIND_TERMINATING);
    return alive;
}

static bool refuse_namespace(struct vd_write *w, enum vd_refusal_reason reason)
{
    return vd_write_refuse(w, &(struct vd_refusal){.reason = reason, .name = w->namespace});
}

bool vd_write_check_namespace(struct vd_write *w)
{
    struct vd_key key = {VD_SLICE("namespaces"), VD_SLICE(""), w->namespace};
    struct vd_event *event = NULL;
    if (!w->kind->namespaced)
        return true;
    const struct vd_batch_place *place = namespace_in_batch(w);
    if (place && place->deleted)
        return refuse_namespace(w, VD_REFUSED_NAMESPACE_TERMINATING);
    if (vd_store_get(w->l->env->store, &key, 0, &event, NULL))
        return place || refuse_namespace(w, VD_REFUSED_NAMESPACE_NOT_FOUND);
    bool deleting = is_deleting(event);
    guard(w, &key, event);
    vd_event_unref(event);
    return !deleting || refuse_namespace(w, VD_REFUSED_NAMESPACE_TERMINATING);
}

bool vd_write_check_places(struct vd_write *w)
{
    const struct vd_batch_place *namespace = namespace_in_batch(w);
    const struct vd_batch_place *definition = definition_in_batch(w);
    if (namespace && namespace->deleted)
        return refuse_namespace(w, VD_REFUSED_NAMESPACE_TERMINATING);
    return !definition || !definition->deleted ||
           vd_write_refuse_for(w, VD_REFUSED_KIND_TERMINATING);
}
