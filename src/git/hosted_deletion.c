/* See hosted_repository.h: a Repository that is being deleted. */
#include "git/bare_repository.h"
#include "git/hosted_repository.h"
#include "kinds/object_meta.h"

enum { RESCAN_MS = 1000 }; /* before it is looked again whether objects are left */

static void remove_finalizer(struct vd_hosted *h, const struct vd_event *event,
                             struct vd_json *object)
{
    struct vd_conditional_batch *batch = vd_conditional_batch_new(vd_hosted_controller(h),
                                                                  &h->item);
    if (vd_meta_remove_finalizer(object, VD_SLICE(VD_REPOSITORY_FINALIZER)))
        vd_conditional_batch_replace(batch, event, object);
    vd_conditional_batch_send(batch);
}

static void report_owned(struct vd_hosted *h, const struct vd_repository *repository,
                         const struct vd_event *event, const struct vd_json *object)
{
    struct vd_buf text = {0};
    vd_buf_addf(&text, "it is being deleted and still owns %zu objects", h->owned.found);
    vd_buf_add_text(&text, repository->cascades
                               ? ", which wait for their finalizers"
                               : ": delete their manifests, or set spec.deletionPolicy: Cascade");
    vd_hosted_report_failure(h, event, object, "OwnsObjects", vd_buf_text(&text));
    vd_buf_release(&text);
}

/* True: nothing is left. */
static bool empty(struct vd_hosted *h, const struct vd_repository *repository,
                  const struct vd_event *event, const struct vd_json *object)
{
    struct vd_controller *c = vd_hosted_controller(h);
    struct vd_conditional_batch *batch = vd_conditional_batch_new(c, &h->item);
    vd_conditional_batch_require(batch, event); /* the policy may have changed meanwhile */
    enum vd_owned_step step = vd_owned_objects_step(&h->owned, c, vd_hosted_key(h), batch,
                                                    repository->cascades);
    bool sent = vd_conditional_batch_count(batch) > 0;
    vd_conditional_batch_send(batch);
    if (step == VD_OWNED_NONE)
        return true;
    if (sent)
        return false;
    if (step == VD_OWNED_MORE || (repository->cascades && !h->owned.staying)) {
        vd_controller_add(c, &h->item);
        return false;
    }
    report_owned(h, repository, event, object);
    vd_hosted_add_after(h, RESCAN_MS);
    return false;
}

void vd_hosted_delete_step(struct vd_hosted *h, const struct vd_repository *repository,
                           const struct vd_event *event, struct vd_json *object)
{
    vd_hosted_set_ready(h, false);
    if (!vd_meta_has_finalizer(object, VD_SLICE(VD_REPOSITORY_FINALIZER)))
        return;
    if (!h->is_emptied && !empty(h, repository, event, object))
        return;
    h->is_emptied = true;
    if (h->is_removed)
        remove_finalizer(h, event, object);
    else if (!vd_hosted_must_wait(h))
        vd_hosted_remove_folder(h);
}
