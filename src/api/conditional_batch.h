/*
 * A conditional batch: what a controller wants changed for one of its items, all or nothing. Each
 * change holds only if the object is still the version that the controller has looked at.
 *
 *     struct vd_conditional_batch *batch = vd_conditional_batch_new(controller, item);
 *     struct vd_arena *arena = vd_conditional_batch_arena(batch);
 *     if (!vd_controller_read(controller, &key, arena, &event, &object))
 *         vd_conditional_batch_delete(batch, event, object, VD_SLICE(""));
 *     vd_conditional_batch_send(batch);
 *
 * On the controller's loop, while the item is reconciled. One batch for each run of an item.
 */
#ifndef VD_API_CONDITIONAL_BATCH_H
#define VD_API_CONDITIONAL_BATCH_H

#include "api/controller.h"
#include "store/snapshot.h"

struct vd_conditional_batch;

struct vd_conditional_batch *vd_conditional_batch_new(struct vd_controller *controller,
                                                      struct vd_controller_item *item) VD_MUST_USE;

/* For documents that are changed on their way. */
struct vd_arena *vd_conditional_batch_arena(struct vd_conditional_batch *batch);

size_t vd_conditional_batch_count(const struct vd_conditional_batch *batch);

/* A new object, which gets a uid and a time. */
void vd_conditional_batch_create(struct vd_conditional_batch *batch, struct vd_slice resource,
                                 struct vd_json *object);

/* The object instead of this version. One that is being deleted and waits for no finalizer any more
 * is deleted. */
void vd_conditional_batch_replace(struct vd_conditional_batch *batch, const struct vd_event *event,
                                  const struct vd_json *object);

/* Deletes this version, or marks it if it has finalizers; `policy` as in
 * struct vd_deletion. One that is marked already is left alone. The object is
 * the version's document and may have been changed. */
void vd_conditional_batch_delete(struct vd_conditional_batch *batch, const struct vd_event *event,
                                 struct vd_json *object, struct vd_slice policy);

/* All holds only while this version is the newest; one at most. */
void vd_conditional_batch_require(struct vd_conditional_batch *batch, const struct vd_event *event);

/* Who is told of objects that stay for their finalizers. */
struct vd_stays {
    void (*tell)(void *arg, struct vd_slice resource, const struct vd_json *object);
    void *arg;
};

/* Deletes the newest versions of the next few objects of the snapshot, as above; *n is
 * how many there were. `stays` may be NULL. The error is the snapshot's. */
int vd_conditional_batch_delete_next(struct vd_conditional_batch *batch,
                                     struct vd_snapshot *snapshot, size_t *n,
                                     const struct vd_stays *stays) VD_MUST_USE;

/* Takes the batch over. One without changes is only freed, and the item is at rest. */
void vd_conditional_batch_send(struct vd_conditional_batch *batch);

#endif
